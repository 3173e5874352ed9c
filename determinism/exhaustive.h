/* determinism/exhaustive.h: all executions of a small program that the order `random` may choose, one run after
 * another.
 *
 *     struct exhaustive *x = exhaustive_new();
 *     do {
 *         ... the launches of a run with exhaustive_order(x), on the same memory each time ...
 *     } while (exhaustive_next(x) && runs < limit);
 *     if (!exhaustive_missing(x)) ...         // there are no other results under `random`
 *
 * Each run records its choices: the next warp, the write that a load reads, the place of a store in the coherence order
 * (determinism/views/views.h). Loads are as late as possible, since a late load may read each value that an earlier
 * load may read. The next run repeats these choices up to the last one with another alternative, and takes that
 * alternative: a depth-first search, as in P. Godefroid, "Model checking for programming languages using VeriSoft",
 * POPL 1997. Warps are switched only after an access to a sector that several warps access, one of them writing, and
 * after a fence.sc: all other instructions commute. Such sectors are found while the kernel runs; when one is found,
 * the search begins anew. (Sectors, not words, because a view's history is that of a sector.)
 *
 * The search covers `random`, not all executions that PTX allows (docs/random.md, Limitations), and does not vary the
 * slots of CTAs. It is incomplete, and exhaustive_missing() says why, if a launch depends on more choices: if it reads
 * a clock or %smid, prints, allocates, launches grids, copies asynchronously, uses clusters or mbarriers, or has more
 * CTAs than fit on the GPU; if the bounded sizes of views are exceeded; and if a run makes very many choices, as in a
 * loop that waits: such a run continues without recording, with round-robin warps. */
#ifndef HEDDLE_DETERMINISM_EXHAUSTIVE_H
#define HEDDLE_DETERMINISM_EXHAUSTIVE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_order;
struct exhaustive;

struct exhaustive *exhaustive_new(void);
void exhaustive_free(struct exhaustive *x); /* NULL is allowed */
const struct emu_order *exhaustive_order(struct exhaustive *x);
/* To be called after a run: whether there are choices left. The next run then makes other choices. */
bool exhaustive_next(struct exhaustive *x);
/* The number of runs of the search, or since it began anew. */
uint64_t exhaustive_runs(const struct exhaustive *x);
/* After exhaustive_next(): a literal that says why the search is incomplete. NULL: it is complete. */
const char *exhaustive_missing(const struct exhaustive *x);

#endif
