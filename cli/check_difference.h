/* cli/check_difference.h: where the results of two runs first differ, and the last writer of that memory.
 *
 * Both runs are made again up to that launch, with all memory written to a file; then once more, watched by
 * determinism/record/last_writers.h. Native runs may come out otherwise when they are watched: then nobody is named. */
#ifndef HEDDLE_CLI_CHECK_DIFFERENCE_H
#define HEDDLE_CLI_CHECK_DIFFERENCE_H

#include "cli/check.h"
#include "determinism/record/last_writers.h"

enum { MOST_WORDS = 4096 }; /* that are looked at */

enum parting_kind {
    DIFFER_MEMORY,
    DIFFER_ALLOCATIONS, /* there are not the same ones */
    DIFFER_PRINTED,
    DIFFER_FILES,    /* what kernels wrote to files (--files) */
    DIFFER_LAUNCHES, /* one run has more of them */
    DIFFER_BACK,     /* what was copied back */
    DIFFER_UNKNOWN,  /* a run could not be made again */
};

struct part_word {             /* that differs */
    uint64_t address;          /* multiple of LAST_WRITERS_WORD */
    unsigned char bytes[2][8]; /* from the multiple of 8 below on, in each run */
    uint64_t adds[2], others[2];
    double size[2];
};

struct float_difference {   /* of the words, as elements of the type */
    uint64_t elements, ulp; /* ulp, relative: the most; UINT64_MAX: of a NaN */
    double relative;
    bool order_only; /* they may differ by the order of additions alone */
};

struct check_difference {
    enum parting_kind kind;
    struct {
        const struct check_row *row;
        size_t run;
        bool known; /* the last writer is looked for and there was no contradiction */
        struct last_writer writer; /* of the first byte; launch 0: no kernel */
        const char *value, *printed;
    } side[2];
    size_t launch; /* from 0 */
    const char *kernel;
    uint64_t address, offset, size; /* address: of the element with the first byte that differs */
    const char *allocation;
    const struct value_type *type; /* NULL: not known */
    bool guessed;                  /* the type is that of the last access */
    uint64_t differing;            /* bytes */
    struct part_word *words;
    size_t word_count;
    bool more_words;
    bool has_floats;
    struct float_difference floats;
};

/* Finds out for each row where its results first differ, or its result differs from the reference's. */
void check_find_differences(struct check *c);

struct check_cause {
    const char *name;   /* "order of additions": of the JSON document */
    const char *what;   /* in words, to go on after "likely cause: " */
    const char *remedy; /* the usual one */
};
/* The likely cause (cli/check_cause.c), after check_judge(). NULL: unknown, because races were not looked for in all
 * launches, some are suppressed, or the runs could not be made again. */
const struct check_cause *check_cause(const struct check *c, const struct check_difference *p);

/* Who wrote it in one of the runs, in words. */
char *check_writer_text(struct arena *a, const struct check_difference *p, int side);

/* What differs; false: nothing does. Fills in all but the writers. */
struct snapshot;
bool part_compare(struct arena *a, const struct snapshot *const both[2], const int files[2],
                  struct check_difference *p);

#endif
