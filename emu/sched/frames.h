/* emu/sched/frames.h: rows for warps under an order. Thousands of warps are resident at once and run alternately, and
 * most of their rows have the same contents in all CTAs: constants, parameters, thread indices. So if there are many
 * warps, the CTAs of several slots share a few sets of rows, each of the size of a CTA. Before a warp runs, the live
 * rows of the warp that ran in the same place are saved, and its own are restored. Where turns are short, that takes
 * longer than fetching the rows from a more distant cache of the host: then each CTA gets a set of its own when one of
 * its warps next runs.
 *
 *     worker->frames = frames_new(m, arena, ctas);   // NULL: slots have rows of their own
 *     frames_enter(worker->frames, g);               // before the rows of a warp are used
 */
#ifndef HEDDLE_EMU_SCHED_FRAMES_H
#define HEDDLE_EMU_SCHED_FRAMES_H

#include "emu/ops/exec.h"

struct arena;

struct frames { /* the shared rows of a launch */
    const struct emu_machine *m;
    u32 sets, next;    /* number of sets; next: next slot, which uses set next % sets */
    u32 own, most_own; /* further sets that belong to one CTA each: used, and most */
    /* times that rows were saved; instructions that their warps executed before */
    u64 swaps, instructions;
    size_t bundle; /* bytes of the rows of GROUP warps in a set */
    u8 *sets_at;   /* memory of the sets */
    /* for each set, `own` ones included: rows that are equal in all CTAs are filled */
    bool *filled;
    struct emu_group **owner; /* by set and warp: the group whose rows are there; NULL: none */
    u32 rows64, rows32, rows16;
    /* rows that may have to be saved, numbered as in emu_code.live */
    u64 all;
    const struct emu_fill **by_cta; /* rows whose contents depend only on the CTA */
    u32 by_cta_count;
};

/* `resident`: most CTAs that are resident at once. NULL: rows are not shared. */
struct frames *frames_new(const struct emu_machine *m, struct arena *a, u32 resident);
/* The memory of the rows of GROUP warps in a set, that of `warp` included. */
u8 *frames_bundle(const struct frames *f, u32 set, u32 warp);
/* A CTA begins, and the group is one of its warps: no rows of it are saved. */
void frames_begin(struct frames *f, struct emu_group *g);
void frames_take(struct frames *f, struct emu_group *g);

/* Restores the warp's rows unless they are in place. f: NULL is allowed. */
static inline void frames_enter(struct frames *f, struct emu_group *g)
{
    if (f && f->owner[g->frame] != g) frames_take(f, g);
}

#endif
