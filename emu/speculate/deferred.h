/* emu/speculate/deferred.h: deferred reductions of a launch whose warps have nothing in common but words that all of them
 * only reduce.
 *
 * What such warps reduce depends on no order; only the result does (floating-point sums). The launch runs natively
 * (conflict_free.h), and its reductions, barriers of all threads, fences and exits go into a log, a list for each warp. The
 * order is then given the log as if the warps ran, and carries out the reductions: the replay.
 *
 *     log = deferred_log_new(&m, config);     // speculation.c
 *     deferred_log_thread(log)                // for each host thread, in order of their numbers, before any adds
 *     deferred_log_add(log, thread, cta, ...) // simd_ownership.c and the hooks of conflict_free.c
 *     deferred_log_replay(log, ctas)          // now and then, of CTAs that have ended: bounds the log's size
 *     deferred_log_end(log, true)             // the run has ended: the rest
 *
 * Several host threads may add events at once, each of CTAs of its own, while one of them replays those of CTAs that have
 * ended.
 *
 * Invariants: the order's pick() is not called, because the choice makes no difference to it (EMU_DEFER_REDUCTIONS). Events
 * of one warp keep their order. Not in the log: compare-and-swaps, reductions wider than 8 bytes, barriers of some
 * threads; launches that have these are not deferred. */
#ifndef HEDDLE_EMU_SPECULATE_DEFERRED_H
#define HEDDLE_EMU_SPECULATE_DEFERRED_H

#include "emu/ops/exec.h"

struct emu_config;
struct emu_warp;
struct deferred_log;
struct deferred_block;
struct deferred_replay;

/* Of a warp; behind it an address of each lane that reduces, then an operand of each. */
struct deferred_event {
    struct deferred_event *next;
    struct deferred_block *of;
    u8 kind;   /* enum deferred_kind */
    u8 count;  /* lanes */
    u8 op;     /* enum emu_atomic; of a barrier its number */
    u8 type;   /* enum ptx_type; */
    u8 width;  /* its bytes, 4 or 8 */
    u8 flags;  /* enum emu_access_flag; of a fence also */
    u8 scope;  /* enum emu_scope */
    bool dead; /* an atomic whose result nobody reads; of a fence: it is .sc */
};
enum deferred_kind { DEFERRED_REDUCE, DEFERRED_BARRIER, DEFERRED_FENCE };

/* m: the launch with its order. The log lies in the machine's CTA arena, until that is reset. NULL: too many warps. */
struct deferred_log *deferred_log_new(const struct emu_machine *m, const struct emu_config *config);
/* One more host thread will add events; the first is number 0. */
void deferred_log_thread(struct deferred_log *r);
/* Appends an event of a warp of the CTA, to be filled in by the host thread that runs it; `lanes` operands of `width`
 * bytes. NULL: the log is full. */
struct deferred_event *deferred_log_add(struct deferred_log *r, u32 thread, const struct emu_cta *c,
                                        u32 warp, u32 lanes, u32 width);
static inline u64 *deferred_addresses(struct deferred_event *e)
{
    return (u64 *)(void *)(e + 1);
}
static inline u8 *deferred_operands(struct deferred_event *e)
{
    return (u8 *)(deferred_addresses(e) + e->count);
}

/* Whether the log should be replayed as far as possible. */
bool deferred_log_is_large(const struct deferred_log *r);
/* Gives the order the events of the first `ctas` CTAs, which have ended, as far as the order can go on. */
void deferred_log_replay(struct deferred_log *r, u32 ctas);
/* Ends the replay; all: after the rest of the log. false: the order does not get to its end. */
bool deferred_log_end(struct deferred_log *r, bool all);

#endif
