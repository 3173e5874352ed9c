/* emu/sched/notify.h: notifying orders and observers, for handlers of watched launches. Where an order takes part, or an
 * observer that looks at data or at each instruction, groups are of one warp. Else warps run in lockstep here, too, and
 * a handler reports them one after the other, or asks to be alone. */
#ifndef HEDDLE_EMU_SCHED_NOTIFY_H
#define HEDDLE_EMU_SCHED_NOTIFY_H

#include "emu/ops/exec.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"

/* Instructions that the group's warp has issued: up to this one, or where not each one is reported, to the end of
 * the basic block. */
static inline u64 emu_serial(const struct emu_group *g)
{
    return g->worker->machine->steps.issues ? g->issued : g->instructions;
}

/* For handlers that report one warp: false: the group has more and is split, the handler returns NULL. */
static inline bool emu_notify_single_warp(struct emu_group *g, const struct emu_uop *in)
{
    if (g->warps == 1 || !g->worker->machine->steps.watched) return true;
    g->pc = in;
    g->state = GROUP_SPLIT;
    return false;
}
/* Before the first thing that an instruction reports: a step of EMU_STEP_EVENT. false: the burst is over, the
 * handler returns NULL and is called again. */
bool emu_notify_step(struct emu_group *g, const struct emu_uop *in);
/* Reports an access of a group of one before it is carried out; a->result, a->data as order.h says. false: the warp sleeps, the
 * handler returns NULL. Otherwise *verdict is PROCEED or DONE. */
bool emu_notify_access(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                       enum emu_verdict *verdict);
/* Where g->turn.asked: the order hears of the same access in short, and `plain` does it. */
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
/* The same where each lane's generic address says what space it is in (a->space GENERIC; else as above): one
 * space after the other is reported. *done: the lanes whose access the order has done. An order that sleeps is
 * notified of all of them again. */
bool emu_notify_spaces(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                       u32 *done);
/* Notifies observers alone of an access by warp w of the group. */
void emu_notify_observers(const struct emu_group *g, u32 w, struct emu_access *a);
/* Reports the group's warps that have ended. */
void emu_notify_exits(const struct emu_group *g);
/* Reports the start or exit of a CTA: nobody sleeps. */
void emu_notify_cta(const struct emu_machine *m, const struct emu_warp *who, u8 kind);
/* Reports a fence or barrier, of each warp by itself: kind, scope, flags, id and address are set. false: the warp sleeps. */
bool emu_notify_sync(struct emu_group *g, const struct emu_uop *in, struct emu_sync *s);
/* Reports what has happened in warp w of the group, which nobody can hold up; s->lanes is set, too. */
void emu_notify_done(const struct emu_group *g, u32 w, const struct emu_uop *in,
                     struct emu_sync *s);

#endif
