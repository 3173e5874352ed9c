/* determinism/exhaustive.h: all that the order `random` may do to a small program, one run after the other.
 *
 *     struct exhaustive *x = exhaustive_new();
 *     do {
 *         ... the launches of a run with exhaustive_order(x), on the same memory each time ...
 *     } while (exhaustive_next(x) && runs < limit);
 *     if (!exhaustive_missing(x)) ...         // there are no other results under `random`
 *
 * Each run records its choices: which warp goes on, which write a load reads, which place in the coherence order a store
 * takes (determinism/views/views.h). Loads are as late as they may be, as what a late load may read includes all that an earlier
 * one may. The next run repeats them but for the last one that has another alternative: a search
 * depth first, as in P. Godefroid, "Model checking for programming languages using VeriSoft", POPL 1997. Another warp may go
 * on only behind an access to a sector that several warps access, one of them writing, and behind a fence.sc: what lies
 * between commutes. Such sectors are found while the kernel runs; when one is found, the search begins anew. (Sectors, not
 * words, because a view's history is that of a sector.)
 *
 * The search is of `random`, not of all that PTX allows (docs/random.md, Limitations), and the places of CTAs are not varied.
 * So it is not complete, and says why, where a launch depends on more: where it reads a clock or the number of its SM, prints,
 * allocates, launches grids, copies asynchronously, uses clusters or mbarriers, or has more CTAs than fit on the GPU; where
 * the bounded sizes of views are exceeded; and where a run makes very many choices, as in a loop that waits: such a run goes
 * on without recording, the warps in turn. */
#ifndef HEDDLE_DETERMINISM_EXHAUSTIVE_H
#define HEDDLE_DETERMINISM_EXHAUSTIVE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_order;
struct exhaustive;

struct exhaustive *exhaustive_new(void);
void exhaustive_free(struct exhaustive *x); /* NULL is allowed */
const struct emu_order *exhaustive_order(struct exhaustive *x);
/* After a run: whether another one would make other choices. Then the next run makes them. */
bool exhaustive_next(struct exhaustive *x);
/* Of the search so far, or since it began anew. */
uint64_t exhaustive_runs(const struct exhaustive *x);
/* After exhaustive_next(): why not all choices have been made, a literal; NULL: they have. */
const char *exhaustive_missing(const struct exhaustive *x);

#endif
