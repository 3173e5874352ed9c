/* emu/speculate/deferred.h: launches in which warps have nothing in common but words that all of them only reduce to. What they
 * reduce may depend on no order, only what comes of it does. Such a launch is run natively, and what its warps do that
 * the order would hear of is written down; then the order hears of it, as it would have, and changes memory.
 *
 *     p->log = deferred_log_new(&m, config);   // of an apart (conflict_free.h): who else comes to such a word is seen there
 *     ...                               // simd_ownership.c, emu/sched/barrier.c and emu/sched/notify.c write it
 *     deferred_log_replay(p->log, ctas)          // now and then: the order hears of CTAs that have ended
 *     deferred_log_end(p->log, true)           // the launch has ended: it hears of all
 *
 * There are reductions of a word or two, compare-and-swaps left out, barriers of all threads, fences and the ends of warps.
 * In place of the warps the order has a list of these for each; it is asked for no choice among them (pick), as none
 * may make a difference. */
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

/* m: the launch with its order. In the machine's rooms: it is gone when these are left. NULL: there are too many
 * warps. */
struct deferred_log *deferred_log_new(const struct emu_machine *m, const struct emu_config *config);
/* Room for what a warp of the CTA has done now, to be filled in. `lanes` of so many bytes reduce. NULL: there was too
 * much of it. */
struct deferred_event *deferred_log_add(struct deferred_log *r, const struct emu_cta *c, u32 warp,
                                        u32 lanes, u32 width);
static inline u64 *deferred_addresses(struct deferred_event *e)
{
    return (u64 *)(void *)(e + 1);
}
static inline u8 *deferred_operands(struct deferred_event *e)
{
    return (u8 *)(deferred_addresses(e) + e->count);
}

/* Whether there is so much that the order should hear of it. */
bool deferred_log_is_large(const struct deferred_log *r);
/* The order hears of it, as far as it can go on, and changes memory. The first so many CTAs have ended. */
void deferred_log_replay(struct deferred_log *r, u32 ctas);
/* all: of all that is left. false: then it comes to no end. */
bool deferred_log_end(struct deferred_log *r, bool all);

#endif
