/* The functions of emu/order.h and emu/order_fast.h by which an order controls warps (wake, sleep, complete an atomic)
 * and queries the launch. */
#define _GNU_SOURCE
#include "emu/sched/ordered.h"

#include "base/diag.h"
#include "emu/atomic.h"
#include "emu/device/image.h"
#include "emu/sched/control.h"
#include "emu/speculate/speculation.h"

#include <assert.h>

enum { FEW = 64 /* ready warps: what they read stays in the host's caches */ };

static __attribute__((noinline)) void carry_out_looked_at(struct livelock_proof *r,
                                                          struct emu_group *g)
{
    const struct emu_uop *in = g->pc;
    const struct atomic_desc *v = in->ext;
    struct deadlock_bytes bytes;
    const bool kept = !r->changed && deadlock_remember(g, in, &bytes);
    g->pc = v->plain(g, in);
    if (!kept || !deadlock_as_it_was(&bytes)) r->changed = true;
}

void emu_machine_complete_atomic(struct emu_machine *m, const struct emu_warp *who)
{
    const struct emu_cta *c = cta_of(m, who);
    struct emu_group *g = &c->groups[who->warp];
    frames_enter(m->ordered->h->frames, g);
    assert(g->turn.asleep && g->pc->id == UOP_atom_watched && c->context_count == c->warps);
    assert(!m->launch->observer_count && !m->ordered->drains_observed && !g->worker->sites);
    if (m->ordered->h->livelock) {
        carry_out_looked_at(m->ordered->h->livelock, g);
        return;
    }
    const struct atomic_desc *v = g->pc->ext;
    g->pc = v->plain(g, g->pc);
}

void emu_machine_wake(struct emu_machine *m, const struct emu_warp *who)
{
    const struct emu_order *order = m->launch->order;
    if (m->replay) {
        m->speculation->wake(m, who);
        return;
    }
    if (order->wrapper) order->wrapper->woken(order->self, who);
    const struct emu_cta *c = cta_of(m, who);
    u32 at = 0;
    for (struct emu_group *g; c && (g = next_context(c, who->warp, &at));) {
        if (!g->turn.asleep) continue;
        g->turn.asleep = false;
        if (g->state == GROUP_WAIT) g->state = GROUP_READY;
        sort_in(m->ordered, g);
        if (m->ordered->queue[READY].count < FEW) prefetch_rows(g);
    }
}

void emu_machine_sleep(struct emu_machine *m, const struct emu_warp *who)
{
    const struct sm_slot *seat = &m->ordered->sm_slots[who->slot];
    if (seat->taken && !seat->slot && seat->linear == who->cta)
        residency_begin_queued(m->ordered, who->slot);
    const struct emu_cta *c = cta_of(m, who);
    u32 at = 0;
    for (struct emu_group *g; c && (g = next_context(c, who->warp, &at));) {
        g->turn.asleep = true;
        sort_in(m->ordered, g);
    }
}

const struct emu_warp *emu_machine_ready(const struct emu_machine *m, size_t *count)
{
    if (m->replay) {
        *count = m->speculation->ready_count(m);
        return NULL;
    }
    *count = m->ordered->queue[READY].count;
    return m->ordered->queue[READY].warp;
}

int emu_machine_ready_place(const struct emu_machine *m, const struct emu_warp *who)
{
    const struct ordered *o = m->ordered;
    const struct sm_slot *seat = &o->sm_slots[who->slot];
    if (!seat->taken || seat->linear != who->cta) return -1;
    if (!seat->slot) return (int)o->queue_at[(size_t)who->slot * m->warps_per_cta + who->warp];
    const struct emu_group *g = &seat->slot->cta.groups[who->warp];
    return g->turn.queue == READY ? (int)g->turn.queue_at : -1;
}

void emu_machine_place_ctas(struct emu_machine *m)
{
    residency_place(m->ordered);
}

bool emu_machine_time_out(struct emu_machine *m, const struct emu_warp *who)
{
    const struct emu_cta *c = cta_of(m, who);
    bool any = false;
    u32 at = 0;
    for (struct emu_group *g; c && (g = next_context(c, who->warp, &at));) {
        if (g->state == GROUP_DONE || !emu_may_time_out(g->pc)) continue;
        g->time_is_up = any = true;
    }
    return any;
}

struct emu_shape emu_machine_shape(const struct emu_machine *m)
{
    return (struct emu_shape){.sms = m->sms,
                              .slots = m->sms * m->slots_per_sm,
                              .schedulers = m->schedulers,
                              .ctas = m->cta_count,
                              .warps_per_cta = m->warps_per_cta,
                              .cluster = m->cluster_size,
                              .shared_commutes = m->program->shared_commutes,
                              .warps_interact = m->shared_size || m->cluster_size > 1 ||
                                                m->program->uses_barriers};
}

bool emu_machine_is_counted(const struct emu_machine *m)
{
    return m->context->config->count;
}

bool emu_machine_drains_observed(const struct emu_machine *m)
{
    const struct emu_launch *l = m->launch;
    bool any = l->order->wrapper != NULL;
    for (size_t i = 0; i < l->observer_count; i++) any |= l->observers[i]->drained != NULL;
    return any;
}

struct emu_location emu_machine_location(const struct emu_machine *m, uint32_t pc)
{
    const struct emu_place_of *p = &m->program->places[pc];
    const struct ptx_module *module = m->image->program->modules[p->code->module];
    return (struct emu_location){p->code->name, p->source_file,
                                 source_place(module->source, p->at).line, p->source_line};
}
