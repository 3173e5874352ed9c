/* tests/support/races.h: the labelled kernels of tests/races/races.def, with the lines that race.
 *
 *     for (size_t i = 0; i < race_case_count; i++) {
 *         struct race_file f = race_file(&race_cases[i]);          // the text, and the marks in it
 *         ... launch f.text's kernel race_cases[i].kernel ...
 *         for (size_t k = 0; k < f.count; k++) found(f.pairs[k].first, f.pairs[k].second);
 *         race_file_free(&f);
 *     } */
#ifndef HEDDLE_TESTS_SUPPORT_RACES_H
#define HEDDLE_TESTS_SUPPORT_RACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RACE_MEMORY = 65536, RACE_PAIRS = 8 };

struct race_case {
    const char *file, *kernel;
    uint32_t grid, block, launches;
    bool racy;
    const char *why;
};
extern const struct race_case race_cases[];
extern const size_t race_case_count;

struct race_pair {
    uint32_t first, second; /* lines of the file, first <= second */
    char letter;            /* 0: the only race of its kernel */
};
struct race_file {
    char path[64];
    char *text;
    size_t length;
    size_t count; /* of the kernel's pairs; 0: free of races */
    struct race_pair pairs[RACE_PAIRS];
    bool wrong; /* a mark that is no mark, three lines of one race, no such kernel */
};
struct race_file race_file(const struct race_case *c);
void race_file_free(struct race_file *f);

#endif
