/* emu/speculate/deferred.h: deferred reductions of a launch whose warps share no memory except words to which all
 * accesses are reductions.
 *
 * The operands of these reductions do not depend on the order of execution; only the results do (floating-point sums).
 * The launch runs natively (conflict_free.h), and its reductions, barriers of all threads, fences and exits go into a
 * log, a list for each warp. The order is then given the log as if the warps ran, and carries out the reductions: the
 * replay.
 *
 *     log = deferred_log_new(&m, config);     // speculation.c
 *     deferred_log_thread(log)                // for each host thread in order of their numbers, before any event is added
 *     deferred_log_add(log, thread, cta, ...) // simd_ownership.c and the hooks of conflict_free.c
 *     deferred_log_replay(log, ctas)          // repeatedly, for CTAs that have ended: bounds the log's size
 *     deferred_log_end(log, true)             // the run has ended: replays the rest
 *
 * Several host threads may add events at once, each for CTAs of its own, while one of them replays the events of CTAs
 * that have ended.
 *
 * Invariants: the order's pick() is not called, because results under the order do not depend on it
 * (EMU_DEFER_REDUCTIONS). Events of one warp keep their order. Not in the log: compare-and-swaps, reductions wider than
 * 8 bytes, barriers of some threads; launches that have these are not deferred. */
#ifndef HEDDLE_EMU_SPECULATE_DEFERRED_H
#define HEDDLE_EMU_SPECULATE_DEFERRED_H

#include "emu/ops/exec.h"

struct emu_config;
struct emu_warp;
struct deferred_log;
struct deferred_block;
struct deferred_replay;

/* An event of a warp. It is followed in memory by the addresses of the reducing lanes, then by their operands. */
struct deferred_event {
    struct deferred_event *next;
    struct deferred_block *of;
    u8 kind;   /* enum deferred_kind */
    u8 count;  /* number of reducing lanes */
    u8 op;     /* enum emu_atomic; of a barrier: its number */
    u8 type;   /* enum ptx_type; */
    u8 width;  /* bytes of an element: 4 or 8 */
    u8 flags;  /* enum emu_access_flag; also for fences */
    u8 scope;  /* enum emu_scope */
    bool dead; /* an atomic without a live result; of a fence: fence.sc */
};
enum deferred_kind { DEFERRED_REDUCE, DEFERRED_BARRIER, DEFERRED_FENCE };

/* m: the launch with its order. The log is in the machine's CTA arena, until that is reset. NULL: too many warps. */
struct deferred_log *deferred_log_new(const struct emu_machine *m, const struct emu_config *config);
/* Registers one more host thread that will add events; the first has number 0. */
void deferred_log_thread(struct deferred_log *r);
/* Appends an event of a warp of the CTA with `lanes` operands of `width` bytes; the host thread that runs the CTA sets
 * its members. NULL: the log is full. */
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
/* Replays the events of the first `ctas` CTAs, which have ended, as far as the order lets warps proceed. */
void deferred_log_replay(struct deferred_log *r, u32 ctas);
/* Ends the replay; all: first replays the rest of the log. false: the order does not let all warps reach their end. */
bool deferred_log_end(struct deferred_log *r, bool all);

#endif
