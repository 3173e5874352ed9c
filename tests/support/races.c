/* Reads the marks of the labelled kernels. */
#include "tests/support/races.h"

#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREE, RACY };

const struct race_case race_cases[] = {
#define CASE(file, kernel, grid, block, launches, verdict, why)                                    \
    {#file, #kernel, grid, block, launches, verdict == RACY, why},
#include "tests/races/races.def"
#undef CASE
};
const size_t race_case_count = sizeof race_cases / sizeof *race_cases;

/* The line holds the mark of a race. */
static void mark(struct race_file *f, char letter, uint32_t line)
{
    size_t i = 0;
    while (i < f->count && f->pairs[i].letter != letter) i++;
    if (i == RACE_PAIRS) {
        f->wrong = true;
    } else if (i == f->count) {
        f->pairs[f->count++] = (struct race_pair){line, line, letter};
    } else {
        f->wrong |= f->pairs[i].first != f->pairs[i].second;
        f->pairs[i].second = line;
    }
}

static void marks(struct race_file *f, const char *line, size_t length, uint32_t number)
{
    static const char word[] = "// race";
    const char *end = line + length, *p = line;
    while (p + sizeof word - 1 <= end && memcmp(p, word, sizeof word - 1) != 0) p++;
    if (p + sizeof word - 1 > end) return;
    p += sizeof word - 1;
    if (p == end) mark(f, 0, number);
    for (; p < end; p += 2) {
        if (p + 2 > end || p[0] != ' ' || p[1] < 'a' || p[1] > 'z') f->wrong = true;
        else mark(f, p[1], number);
    }
}

struct race_file race_file(const struct race_case *c)
{
    struct race_file f = {.wrong = true};
    char head[128];
    snprintf(f.path, sizeof f.path, "tests/races/%s.ptx", c->file);
    f.text = read_file(f.path, &f.length);
    snprintf(head, sizeof head, ".visible .entry %s(", c->kernel);
    uint32_t number = 1;
    bool inside = false;
    for (const char *p = f.text, *next; *p; p = next, number++) {
        size_t length = strcspn(p, "\n");
        next = p + length + (p[length] == '\n');
        if (strncmp(p, head, strlen(head)) == 0) inside = true, f.wrong = false;
        if (inside) marks(&f, p, length, number);
        if (inside && *p == '}') break;
    }
    for (size_t i = 0; i < f.count; i++) f.wrong |= f.count > 1 && !f.pairs[i].letter;
    return f;
}

void race_file_free(struct race_file *f)
{
    free(f->text);
}
