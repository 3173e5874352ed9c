/* emu/sched/notify.h: notification of orders and observers, for handlers of watched launches. In launches with an
 * order, or with an observer that reads data or observes each instruction, groups have one warp. In other watched
 * launches warps run in lockstep; a handler reports the warps of a group one after another, or has the group split
 * (emu_notify_single_warp). */
#ifndef HEDDLE_EMU_SCHED_NOTIFY_H
#define HEDDLE_EMU_SCHED_NOTIFY_H

#include "emu/ops/exec.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"

/* The number of instructions that the group's warp has issued: up to this one, or, if not every instruction is
 * reported, up to the end of the basic block. */
static inline u64 emu_serial(const struct emu_group *g)
{
    return g->worker->machine->steps.issues ? g->issued : g->instructions;
}

/* For handlers that report one warp. false: the group has several warps and will be split; the handler must return
 * NULL. */
static inline bool emu_notify_single_warp(struct emu_group *g, const struct emu_uop *in)
{
    if (g->warps == 1 || !g->worker->machine->steps.watched) return true;
    g->pc = in;
    g->state = GROUP_SPLIT;
    return false;
}
/* To be called before the first notification of an instruction: counts a step of EMU_STEP_EVENT. false: the burst is
 * over; the handler must return NULL, and is called again later. */
bool emu_notify_step(struct emu_group *g, const struct emu_uop *in);
/* Reports an access of a group of one warp before it is executed; a->result and a->data as in order.h. false: the warp
 * sleeps; the handler must return NULL. Otherwise *verdict is PROCEED, DONE or LATER. */
bool emu_notify_access(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                       enum emu_verdict *verdict);
/* If g->turn.asked: reports a brief retry of the access to the order, then executes it with the handler `plain`. */
const struct emu_uop *emu_notify_retry(struct emu_group *g, const struct emu_uop *in, u8 kind,
                                       u8 flags, emu_op *plain);
static inline struct emu_access emu_retried_access(const struct emu_group *g,
                                                   const struct emu_uop *in, u8 kind, u8 flags)
{
    return (struct emu_access){.kind = kind,
                               .space = PTX_SPACE_GLOBAL,
                               .flags = flags,
                               .lanes = g->exec[0],
                               .retry = true,
                               .pc = in->pc};
}
/* As emu_notify_access, for generic addresses (a->space GENERIC): reports one access for each state space of the lanes'
 * addresses. *done: lanes whose access the order has executed. If the order answers SLEEP, all of the accesses are
 * reported again at the retry. */
bool emu_notify_spaces(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                       u32 *done);
/* Notifies observers alone of an access by warp w of the group. */
void emu_notify_observers(const struct emu_group *g, u32 w, struct emu_access *a);
/* Reports the group's warps that have ended. */
void emu_notify_exits(const struct emu_group *g);
/* Reports the start or exit of a CTA; the order's verdict is ignored. */
void emu_notify_cta(const struct emu_machine *m, const struct emu_warp *who, u8 kind);
/* Reports a fence or barrier of each warp of the group. The caller has set kind, scope, flags, id and address. false:
 * the warp sleeps. */
bool emu_notify_sync(struct emu_group *g, const struct emu_uop *in, struct emu_sync *s);
/* Reports an event of warp w of the group that has already happened, so the verdict is ignored. The caller has set
 * s->lanes, too. */
void emu_notify_done(const struct emu_group *g, u32 w, const struct emu_uop *in,
                     struct emu_sync *s);

#endif
