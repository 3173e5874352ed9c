/* emu/ops/async.h: mbarriers, and descriptions of asynchronous copies, stores and reductions.
 *
 * Asynchronous operations are executed when they are issued, which the ISA allows. So groups of copies are complete
 * when they are committed, and waiting for them has no effect; the tx-count of an mbarrier is updated when the copy is
 * issued. */
#ifndef HEDDLE_EMU_OPS_ASYNC_H
#define HEDDLE_EMU_OPS_ASYNC_H

#include "emu/atomic.h"

/* ---- mbarriers --------------------------------------------------------------------------------- The ISA does not
 * define the contents of the 64 bits of an mbarrier in shared memory. Here:
 *     0..19   arrivals that the current phase waits for
 *     20..39  arrivals that later phases wait for
 *     40..60  tx-count, two's complement
 *     61..62  the current phase, modulo 4; its parity is bit 61
 *     63      set: mbarrier.init was here
 * A phase ends when no more arrivals are pending and the tx-count is zero. The state that an arrival returns is the
 * mbarrier's value before the arrival. */
/* largest count, and largest absolute value of the tx-count */
enum { MBARRIER_MAX = (1 << 20) - 1 };

/* Each returns NULL, or a text about undefined behaviour, in which case it has no effect. `add`: increments the pending
 * count first, for cp.async.mbarrier.arrive without .noinc. */
const char *mbarrier_init(u64 *m, u32 count);
const char *mbarrier_inval(u64 *m);
const char *mbarrier_expect(u64 *m, u32 tx);
const char *mbarrier_complete(u64 *m, u32 tx);
const char *mbarrier_arrive(u64 *m, u32 count, bool drop, bool no_complete, bool add);
const char *mbarrier_test(const u64 *m, u64 state, bool *complete);
const char *mbarrier_test_parity(const u64 *m, u32 parity, bool *complete);
u32 mbarrier_pending(u64 state);

/* ---- instructions ------------------------------------------------------------------------------ */

enum { /* struct async_desc.how */
       /* cp_async: the source's size */
       ASYNC_WHOLE,
       ASYNC_SOURCE_SIZE,   /* a row of r32 */
       ASYNC_IGNORE_SOURCE, /* a row of predicates */
       /* mbarrier_tx */
       MBARRIER_EXPECT = 0,
       MBARRIER_COMPLETE,
       /* mbarrier_wait */
       MBARRIER_STATE = 0,
       MBARRIER_PARITY,
};

struct async_desc { /* uop->ext; an operation uses the members whose comments name it */
    /* cp_async, bulk_copy, bulk_reduce. Must be the first member: emu_find_bound */
    struct lane_address from;
    struct lane_address to; /* destination; of mbarrier operations: address of the mbarrier */
    /* bulk_copy, bulk_reduce, st_async, red_async: the mbarrier; space REG: none */
    struct lane_address mbar;
    u8 how;
    u8 op, type;     /* bulk_reduce, red_async: as in struct atomic_desc */
    u8 width, count; /* cp_async: width bytes; st_async, red_async: count elements of width bytes */
    bool l2;         /* cp_async: .cg, bypasses L1 */
    bool tx;         /* mbarrier_arrive: expect `size` first, and count one arrival */
    bool drop, no_complete, add; /* mbarrier_arrive */
    bool copies;                 /* mbarrier_arrive: cp.async.mbarrier.arrive */
    bool may_sleep;              /* mbarrier_wait: try_wait */
    bool relaxed;                /* mbarrier operations: neither acquire nor release */
    u8 scope;                    /* enum emu_scope, likewise */
    bool multicast;              /* bulk_copy */
    /* row of r32: bytes, size of the source, number of arrivals, tx-count or parity */
    u32 size;
    u32 state;    /* row of r64 */
    u32 mask;     /* row of r16: mask of CTAs */
    u32 result;   /* row of a state (r64) or a predicate */
    bool wanted;  /* there is a result */
    u32 value[4]; /* rows of elements */
};

#endif
