/* Livelock proof under an order: whether each warp returns to an earlier state while memory has not changed.
 *
 * The instructions that a warp executes depend only on its own state and memory, not on when it is chosen. So if memory
 * does not change and each warp has been in the same state twice, the warps repeat these states for ever, whatever the
 * order chooses. During an attempt warps execute as usual, only slower; livelock_attempt.c decides when attempts begin,
 * and for which warps a proof waits. */
#include "emu/sched/launch_context.h"

#include "emu/atomic.h"
#include "emu/order.h"
#include "emu/sched/control.h"
#include "ptx/ptx.h"

#include <string.h>

/* Something has been done that cannot be taken back: a store, an arrival, a call; or a clock was read, which makes each
 * round another one. What atomics do to memory is looked at by itself. */
static bool changes(const struct emu_group *g, const struct emu_uop *in)
{
    const struct emu_machine *m = g->worker->machine;
    if (in->id == UOP_block || in->id == UOP_issue || in->id == UOP_guard || in->id == UOP_unguard)
        return false;
    if (in->id == UOP_meet) return true;
    if (in->id == UOP_special) return in->imm >= SPECIAL_CLOCK;
    const struct ptx_op *op = m->program->places[in->pc].inst->op;
    if (!op || ptx_op_form(op) == PTX_F_call) return true;
    const u32 effects = op->form->effects;
    if (!(effects & (PTX_WRITES | PTX_BARRIER | PTX_ATOMIC | PTX_FENCE | PTX_EFFECT))) return false;
    const char *name = op->form->name;
    /* copies are done at some time; what alloca has taken is no part of the state */
    if (strncmp(name, "cp.", 3) == 0 || strcmp(name, "alloca") == 0) return true;
    if (effects & PTX_WRITES) return true;
    if (effects & PTX_ATOMIC) return strncmp(name, "atom", 4) != 0;
    return effects & PTX_BARRIER && strcmp(name, "bar.warp.sync") != 0 &&
           strncmp(name, "mbarrier.try_wait", 17) != 0;
}

static void refer(struct livelock_proof *r, struct livelock_probe *at, const struct emu_uop *pc,
                  u64 state)
{
    at->pc = pc;
    at->state = state;
    at->left = at->visits;
    if (r->budget) r->budget--;
}

/* It goes on at `pc`, which heads a block. The state that others are compared with is taken anew after 1, 2, 4, ...
 * blocks: the first ones may be on the way to the round. */
static void visit(struct livelock_proof *r, const struct emu_group *g, struct livelock_probe *at,
                  const struct emu_uop *pc)
{
    at->visits++;
    if (at->done || !r->budget) return;
    if (at->pc == pc && at->state == deadlock_state(g)) at->done = true;
    else if (!at->left--) refer(r, at, pc, deadlock_state(g));
    else if (at->pc == pc) r->budget--;
}

/* An order may keep it for later if nobody reads the result. */
static bool is_kept(const struct emu_uop *in)
{
    const struct atomic_desc *v = in->ext;
    return v->flags & EMU_DEAD_RESULT;
}

void livelock_run(struct livelock_proof *r, struct emu_group *g)
{
    struct livelock_probe *at = &g->probe;
    if (at->number != r->number) *at = (struct livelock_probe){.number = r->number};
    for (const struct emu_uop *in = g->pc, *from = in, *next; in; in = next) {
        struct deadlock_bytes bytes;
        const bool look = !r->changed && atomic_is_uop(in);
        if (look && (is_kept(in) || !deadlock_remember(g, in, &bytes))) r->changed = true;
        next = in->run(g, in);
        if (r->changed) continue;
        const bool stays = !next && g->pc == in && g->state != GROUP_BARRIER;
        const bool waits = stays && g->state == GROUP_WAIT && !g->turn.asleep;
        if (look) r->changed = !deadlock_as_it_was(&bytes);
        if (!stays && changes(g, in)) r->changed = true;
        if (waits && in == from && !emu_may_time_out(in)) at->done = true;
        if (next && in->id == UOP_block) visit(r, g, at, next);
    }
}

void livelock_begin(struct livelock_proof *r, u32 budget)
{
    r->number++;
    r->budget = budget;
    r->changed = false;
}

bool livelock_done(const struct livelock_proof *r, const struct emu_group *g, bool sleepers_stay)
{
    if (g->state == GROUP_DONE || g->state == GROUP_BARRIER) return true;
    /* They will go their own way. (Entries of lanes that have done so stay on the stack: its depth says nothing.) */
    if (g->cta->its && emu_waiting_lanes(g)) return false;
    if (g->probe.number == r->number) return g->probe.done;
    return g->turn.asleep && sleepers_stay;
}
