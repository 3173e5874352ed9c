/* emu/progress/busy_wait.h: warps under an order that wait by looking again and again: at an access of global memory that changes
 * nothing, some arithmetic, and back to it. Such a round is written down while the warp goes it. As long as the lanes do
 * not find what ends it, what the warp would do is known, and none of its instructions is carried out: the order
 * hears of the access, and the warp's time goes on.
 *
 *     h->elides_busy_waits = busy_wait_elision_applies(h);            // emu/sched/ordered.c; then it looks at who has run (busy_wait_observe),
 *     if (busy_wait_should_record(g)) busy_wait_record(g);    // emu/sched/launch.c has those run so who came back to where they were,
 *     if (busy_wait_holds(g)) ...                 // and what was written down goes by without being run
 */
#ifndef HEDDLE_EMU_PROGRESS_BUSY_WAIT_H
#define HEDDLE_EMU_PROGRESS_BUSY_WAIT_H

#include "emu/ops/exec.h"

struct host_worker;
struct emu_access;

struct busy_wait { /* a warp's round */
    /* It stands before the access, and its rows are as they were when it was written down. */
    bool good;
    bool asks;        /* then: the order has yet to hear of it. Else it has put the warp to sleep */
    bool unequal;     /* each lane goes on round until it finds its `value`; false: while it does */
    bool one;         /* they all look at the same word */
    u8 count, width;  /* lanes; bytes of a word: 4 or 8 */
    u32 instructions; /* of the warp, */
    u32 thread_instructions;
    i64 budget;   /* it must have more, to get round at once */
    u64 releases; /* of memory, until then */
    u64 value[LANES];
    u32 low[LANES]; /* of words of 4 bytes: the same */
    const u8 *at[LANES];
};

/* Of each operation the lane types' sizes of the rows d, a, b, c; 0: there is none, or nobody knows. */
extern const u8 emu_row_sizes[UOP_COUNT][4];

/* Whether rounds may be left out: in this launch. */
bool busy_wait_elision_applies(const struct host_worker *h);
/* Whether the warp, which has just run, came back to where it began to: the next round may be written down. */
void busy_wait_observe(struct emu_group *g, const struct emu_uop *from);
bool busy_wait_should_record(const struct emu_group *g);
/* In place of running it: it goes on to where it stops, and if that is a round, it is written down. */
void busy_wait_record(struct emu_group *g);
/* Whether it would go the same round now. */
bool busy_wait_holds(const struct emu_group *g);
/* What the order is told of its access. `who` has yet to be filled in. */
struct emu_access busy_wait_access(const struct emu_group *g);

#endif
