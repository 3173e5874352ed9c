/* cli/advise.h: what `heddle advise` says about a run.
 *
 *     struct advices a = {.arena = arena, .gpu = "titanv"};
 *     advices_add_launch(&a, counts);                 // for each launch, with its trace
 *     advices_sort(&a);
 *     advices_print(&a);
 *
 * One advice is about one line of a kernel, or about the kernel (its first line), summed over its launches. */
#ifndef HEDDLE_CLI_ADVISE_H
#define HEDDLE_CLI_ADVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct emu_counts;

enum advice_kind {
    ADVICE_COALESCE,
    ADVICE_BANKS,
    ADVICE_ATOMICS,
    ADVICE_TILES,
    ADVICE_WIDER,
    ADVICE_DIVERGENCE,
    ADVICE_GRID,
    ADVICE_OCCUPANCY,
    ADVICE_KINDS
};

struct advice {
    const char *kernel, *file;
    uint32_t line;
    enum advice_kind kind;
    double saved; /* cycles, at most */
    /* What was counted, in the kind's unit: before and after, for `accesses` of them (docs/formats.md). */
    double accesses, before, after;
    const char
        *detail; /* of ADVICE_OCCUPANCY: the limit, and what would allow one CTA more; else NULL */
    /* Another way to do it (advice_other_way), where each launch allows it. May save less than `saved`, and less than 0. */
    double saved_otherwise;        /* cycles */
    bool otherwise, not_otherwise; /* a launch allows it; a launch does not */
};

struct advices {
    struct arena *arena;
    struct advice *list;
    size_t count, cap;
    double cycles; /* of all launches */
    size_t launches;
    const char *gpu;
};

void advices_add_launch(struct advices *a, const struct emu_counts *c);
void advices_sort(struct advices *a); /* the largest saving first */

void advices_print(const struct advices *a);
void advices_print_json(const struct advices *a);
/* The list "advice" of the document alone. */
void advices_put_json(const struct advices *a, struct buf *out);

#endif
