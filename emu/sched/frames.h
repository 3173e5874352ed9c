/* emu/sched/frames.h: rows for warps under an order. Thousands of warps are resident at once and run by turns, and most of
 * their rows hold what is the same in all CTAs: constants, parameters, thread indices. So where they are many there are a
 * few sets of rows, each of a CTA's size, which the CTAs of several slots use by turns: a warp that comes to run puts
 * aside what the one that ran there before will need, and takes back its own. Where turns are short, that takes longer than
 * the rows would take to come from a farther cache: then each CTA gets a set of its own when one of its warps next runs.
 *
 *     hand->frames = frames_new(m, arena, ctas);   // NULL: slots have rows of their own
 *     frames_enter(hand->frames, g);               // before the rows of a warp are looked at
 */
#ifndef HEDDLE_EMU_SCHED_FRAMES_H
#define HEDDLE_EMU_SCHED_FRAMES_H

#include "emu/ops/exec.h"

struct arena;

struct frames { /* of a launch */
    const struct emu_machine *m;
    u32 sets, next;           /* next: slot; it uses this number modulo the sets */
    u32 own, most_own;        /* sets behind them that CTAs have for themselves, and can have */
    u64 swaps, instructions;  /* rows put aside so often; what their warps did before that */
    size_t bundle;            /* bytes that the rows of GROUP warps take in a set */
    u8 *sets_at;              /* where they are */
    bool *filled;             /* by set, `own` ones too: with what is the same in all CTAs */
    struct emu_group **owner; /* by set and warp: whose rows there are; NULL: nobody's */
    u32 rows64, rows32, rows16;
    u64 all;                        /* rows that may be put aside, as emu_code.live has them */
    const struct emu_fill **by_cta; /* rows that differ by CTA alone */
    u32 by_cta_count;
};

/* `resident`: CTAs at once at most. */
struct frames *frames_new(const struct emu_machine *m, struct arena *a, u32 resident);
/* Where the rows of a warp, and those beside it, are in a set. */
u8 *frames_bundle(const struct frames *f, u32 set, u32 warp);
/* The warp begins anew: nothing of it has been put aside. */
void frames_begin(struct frames *f, struct emu_group *g);
void frames_take(struct frames *f, struct emu_group *g);

/* From now on the rows are the warp's. f: NULL is allowed. */
static inline void frames_enter(struct frames *f, struct emu_group *g)
{
    if (f && f->owner[g->frame] != g) frames_take(f, g);
}

#endif
