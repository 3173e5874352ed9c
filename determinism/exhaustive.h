/* determinism/exhaustive.h: all that the order `random` may do to a small kernel, one launch after the other.
 *
 *     struct exhaustive *x = exhaustive_new();
 *     do {
 *         ... launch with exhaustive_order(x), on the same memory each time ...
 *     } while (exhaustive_next(x) && runs < limit);
 *     if (exhaustive_is_complete(x)) ...      // there are no other results under `random`
 *
 * Each launch records its choices: which warp goes on, which write a load reads, which place in the coherence order a store
 * takes (determinism/views/views.h). The next launch repeats them but for the last one that has another alternative: a search
 * depth first, as in P. Godefroid, "Model checking for programming languages using VeriSoft", POPL 1997. Another warp may go
 * on only behind an access to a word that several warps access, one of them writing, and behind a fence.sc: what lies between
 * commutes. Such words are found while the kernel runs; when one is found, the search begins anew.
 *
 * What it leaves out: views have a bounded size (view.h), places of CTAs, clusters and asynchronous copies are not varied, and
 * what `random` never shows (docs/random.md, Limitations) is not shown here either. A run of very many choices (a loop that
 * waits) goes on without recording: then the search is not complete. */
#ifndef HEDDLE_DETERMINISM_EXHAUSTIVE_H
#define HEDDLE_DETERMINISM_EXHAUSTIVE_H

#include <stdbool.h>

struct emu_order;
struct exhaustive;

struct exhaustive *exhaustive_new(void);
void exhaustive_free(struct exhaustive *x); /* NULL is allowed */
const struct emu_order *exhaustive_order(struct exhaustive *x);
/* After a launch: whether another one would make other choices. Then the next launch makes them. */
bool exhaustive_next(struct exhaustive *x);
/* Whether all choices have been made: exhaustive_next has returned false, and no run was cut short. */
bool exhaustive_is_complete(const struct exhaustive *x);

#endif
