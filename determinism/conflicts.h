/* determinism/conflicts.h: detects accesses that conflict with an access of another warp, for
 * `random:strategy=conflicts`, which lets other warps run between such an access and the warp's next one.
 *
 * After K. Sen, "Race Directed Random Testing of Concurrent Programs", PLDI 2008: threads are preempted at pairs of
 * instructions that may race. Here the pairs are found while the kernel runs: for each word the last writer and the
 * last reader are recorded, with their instructions. If two warps access a word and one of them writes, both
 * instructions are marked. Marks stay for later launches of the same order.
 *
 *     if (conflicts_note(c, a)) ...      // of emu_order.access: the instruction is marked
 *
 * Words and instructions share the entries of tables of a fixed size, so marks may be lost or wrong. A wrong mark only
 * costs time. */
#ifndef HEDDLE_DETERMINISM_CONFLICTS_H
#define HEDDLE_DETERMINISM_CONFLICTS_H

#include "emu/order.h"

struct conflicts;

struct conflicts *conflicts_new(void);
void conflicts_free(struct conflicts *c); /* NULL is allowed */
/* A launch begins: no warp has accessed anything yet. */
void conflicts_begin(struct conflicts *c);
/* Records the access. Whether its instruction is now marked. */
bool conflicts_note(struct conflicts *c, const struct emu_access *a);

#endif
