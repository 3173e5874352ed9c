/* cli/advise.h: the advice that `heddle advise` gives about a run.
 *
 *     struct advices a = {.arena = arena, .gpu = "titanv"};
 *     advices_add_launch(&a, counts);                 // for each launch, with its trace
 *     advices_sort(&a);
 *     advices_print(&a);
 *
 * An advice is about one line of a kernel, or about the kernel (its first line), summed over its launches. */
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
    double saved; /* upper bound of the saving in cycles */
    /* Counts in the unit of the kind: before and after the change, for `accesses` accesses (docs/formats.md). */
    double accesses, before, after;
    /* ADVICE_OCCUPANCY: the limit, and the change that would allow one more CTA; else NULL. */
    const char *detail;
    /* An alternative change (advice_other_way), if all launches allow it. Its saving may be below `saved`, and below 0. */
    double saved_otherwise;        /* saving of the alternative in cycles */
    bool otherwise, not_otherwise; /* some launch allows the alternative; some launch does not */
};

struct advices {
    struct arena *arena;
    struct advice *list;
    size_t count, cap;
    double cycles; /* sum over all launches */
    size_t launches;
    const char *gpu;
};

void advices_add_launch(struct advices *a, const struct emu_counts *c);
void advices_sort(struct advices *a); /* by saving, the largest first */

void advices_print(const struct advices *a);
void advices_print_json(const struct advices *a);
/* Appends only the list "advice" of the document. */
void advices_put_json(const struct advices *a, struct buf *out);

#endif
