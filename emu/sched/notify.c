/* Orders and observers: notification of the events of watched launches (emu/order.h). */
#include "emu/sched/notify.h"

#include "emu/device/device.h"
#include "emu/sched/launch.h"
#include "emu/speculate/speculation.h"
#include "emu/unwritten.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <string.h>

static struct emu_warp warp_of(const struct emu_group *g, u32 w)
{
    return (struct emu_warp){g->cta->linear, g->first + w, g->cta->sm, g->cta->slot,
                             emu_serial(g),  false,        0};
}

static bool is_shared(u8 space)
{
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER;
}

static bool is_wanted(const struct emu_machine *m, const struct emu_access *a)
{
    const bool global = a->space == PTX_SPACE_GLOBAL;
    if (a->flags & EMU_ASYNC || a->kind == EMU_ATOMIC || a->kind == EMU_RED ||
        a->flags & EMU_RELAXED)
        return global || is_shared(a->space);
    if (is_shared(a->space)) return m->steps.wants & EMU_WANT_SHARED;
    return global && m->steps.wants & (a->kind == EMU_LOAD ? EMU_WANT_LOADS : EMU_WANT_STORES);
}

static enum emu_verdict ask(struct emu_group *g, const struct emu_uop *in, struct emu_access *a)
{
    struct emu_machine *m = g->worker->machine;
    const struct emu_order *o = m->launch->order;
    a->buffered = a->reported = false;
    if (a->kind != EMU_LOAD && a->space == PTX_SPACE_GLOBAL)
        mem_mark_lanes(m->mem, a->address, a->lanes, (u32)a->width * a->count);
    if (!o || !o->access || !is_wanted(m, a)) return EMU_PROCEED;
    m->steps.asked = a;
    enum emu_verdict verdict = o->access(o->self, a);
    m->steps.asked = NULL;
    if (verdict == EMU_SLEEP_ONCE) {
        g->turn.notified = true;
        verdict = EMU_SLEEP;
    }
    a->reported = verdict == EMU_DONE_REPORTED;
    if (a->reported) verdict = EMU_DONE;
    a->buffered = verdict == EMU_DONE;
    if (verdict == EMU_SLEEP) {
        g->pc = in;
        g->state = GROUP_WAIT;
        g->turn.asleep = true;
    }
    return verdict;
}

static void notify_observers(const struct emu_launch *l, const struct emu_access *a)
{
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->access) l->observers[i]->access(l->observers[i]->self, a);
}

static void notify_all(const struct emu_group *g, const struct emu_access *a)
{
    if (!a->reported) notify_observers(g->worker->machine->launch, a);
}

void emu_machine_report_access(const struct emu_machine *m)
{
    struct emu_access a = *m->steps.asked;
    a.buffered = true;
    notify_observers(m->launch, &a);
}

/* Whether the order looks at no more of it than emu_access.retry says, and the handler knows. */
static bool is_heard_in_short(const struct emu_group *g, const struct emu_uop *in,
                              const struct emu_access *a)
{
    const bool knows = in->id == UOP_atom_watched || in->id == UOP_ld_watched ||
                       in->id == UOP_st_watched;
    return knows && g->worker->machine->steps.wants & EMU_BRIEF_RETRIES &&
           a->space == PTX_SPACE_GLOBAL && a->kind != EMU_RED && !(a->flags & EMU_DEAD_RESULT);
}

bool emu_notify_access(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                       enum emu_verdict *verdict)
{
    struct emu_warp who = warp_of(g, 0);
    a->who = &who;
    *verdict = ask(g, in, a);
    assert(*verdict != EMU_LATER || a->may_be_late);
    if (*verdict == EMU_SLEEP) g->turn.asked = is_heard_in_short(g, in, a);
    else if (*verdict != EMU_LATER) notify_all(g, a);
    a->who = NULL;
    return *verdict != EMU_SLEEP;
}

const struct emu_uop *emu_notify_retry(struct emu_group *g, const struct emu_uop *in, u8 kind,
                                       u8 flags, emu_op *plain)
{
    struct emu_access a = emu_retried_access(g, in, kind, flags);
    enum emu_verdict verdict;
    g->turn.asked = false;
    if (!emu_notify_access(g, in, &a, &verdict)) return NULL;
    assert(verdict == EMU_PROCEED);
    return plain(g, in);
}

bool emu_notify_step(struct emu_group *g, const struct emu_uop *in)
{
    if (g->worker->machine->steps.step != EMU_STEP_EVENT) return true;
    if (g->turn.burst) {
        g->turn.burst--;
        return true;
    }
    g->pc = in;
    g->state = GROUP_READY;
    return false;
}

void emu_notify_observers(const struct emu_group *g, u32 w, struct emu_access *a)
{
    struct emu_warp who = warp_of(g, w);
    a->who = &who;
    notify_all(g, a);
    a->who = NULL;
}

bool emu_notify_spaces(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                       u32 *done)
{
    enum { SPACES = PTX_SPACE_COUNT };
    u32 lanes[SPACES] = {0};
    struct emu_warp who = warp_of(g, 0);
    *done = 0;
    for (u32 m = a->lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        lanes[a->space == PTX_SPACE_GENERIC ? emu_space_of(g, a->address[l]) : a->space] |= 1u << l;
    }
    struct emu_access part = *a;
    u32 reported = 0;
    part.who = &who;
    part.split = lanes[PTX_SPACE_GLOBAL] &&
                 lanes[PTX_SPACE_SHARED] | lanes[PTX_SPACE_SHARED_CLUSTER];
    for (int reports = 0; reports < 2; reports++) /* the order about all of them first */
        for (u32 s = 0; s < SPACES; s++) {
            part.space = (u8)s;
            part.lanes = lanes[s];
            if (!lanes[s]) continue;
            if (reports) {
                part.buffered = *done & lanes[s];
                part.reported = reported & lanes[s];
                notify_all(g, &part);
                continue;
            }
            enum emu_verdict v = ask(g, in, &part);
            if (v == EMU_SLEEP) return false;
            if (v == EMU_DONE) *done |= lanes[s];
            if (part.reported) reported |= lanes[s];
        }
    return true;
}

static void tell_sync(const struct emu_launch *l, const struct emu_sync *s)
{
    for (size_t i = 0; s->lanes && i < l->observer_count; i++)
        if (l->observers[i]->sync) l->observers[i]->sync(l->observers[i]->self, s);
}

bool emu_notify_sync(struct emu_group *g, const struct emu_uop *in, struct emu_sync *s)
{
    const struct emu_launch *l = g->worker->machine->launch;
    struct emu_warp who = warp_of(g, 0);
    s->who = &who;
    s->pc = in->pc;
    s->lanes = g->exec[0];
    if (l->order && l->order->sync && l->order->sync(l->order->self, s) == EMU_SLEEP) {
        s->who = NULL;
        g->pc = in;
        g->state = GROUP_WAIT;
        g->turn.asleep = true;
        return false;
    }
    tell_sync(l, s);
    for (u32 w = 1; w < g->warps; w++) {
        who = warp_of(g, w);
        s->lanes = g->exec[w];
        tell_sync(l, s);
    }
    s->who = NULL;
    return true;
}

void emu_notify_done(const struct emu_group *g, u32 w, const struct emu_uop *in, struct emu_sync *s)
{
    const struct emu_launch *l = g->worker->machine->launch;
    struct emu_warp who = warp_of(g, w);
    s->who = &who;
    s->pc = in->pc;
    if (l->order && l->order->sync) l->order->sync(l->order->self, s);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->sync) l->observers[i]->sync(l->observers[i]->self, s);
    s->who = NULL;
}

void emu_notify_exits(const struct emu_group *g)
{
    for (u32 w = 0; g->worker->machine->steps.watched && w < g->warps; w++)
        if (!emu_warp_alive(g, w))
            emu_notify_done(g, w, g->code->uops, &(struct emu_sync){.kind = EMU_SYNC_WARP_EXIT});
}

void emu_notify_cta(const struct emu_machine *m, const struct emu_warp *who, u8 kind)
{
    const struct emu_launch *l = m->launch;
    const u32 first = m->threads_per_cta >= LANES ? ~0u : (1u << m->threads_per_cta) - 1;
    const struct emu_sync s = {.kind = kind,
                               .who = who,
                               .pc = m->program->codes[0]->uops->pc,
                               .lanes = kind == EMU_SYNC_CTA_START ? first : 0};
    if (l->order && l->order->sync) l->order->sync(l->order->self, &s);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->sync) l->observers[i]->sync(l->observers[i]->self, &s);
}

const struct emu_uop *emu_op_issue(struct emu_group *g, const struct emu_uop *in)
{
    const struct emu_launch *l = g->worker->machine->launch;
    if (g->worker->machine->steps.step == EMU_STEP_INSTRUCTION) {
        if (!g->turn.burst) {
            g->pc = in;
            g->state = GROUP_READY;
            return NULL;
        }
        g->turn.burst--;
    }
    g->issued++;
    struct emu_warp who = warp_of(g, 0);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->issue)
            l->observers[i]->issue(l->observers[i]->self, &who, in->pc, g->exec[0]);
    return in + 1;
}

const struct emu_uop *emu_op_fence(struct emu_group *g, const struct emu_uop *in)
{
    /* In native order what a warp stored is in memory already. */
    struct emu_sync s = {
        .kind = EMU_SYNC_FENCE, .scope = in->x, .flags = in->y, .sc = in->z, .op = in->n};
    const struct speculation *const spec = g->worker->machine->speculation;
    if (spec && spec->fence) spec->fence(g, in);
    if (!g->worker->machine->steps.watched) return in + 1;
    return emu_notify_step(g, in) && emu_notify_sync(g, in, &s) ? in + 1 : NULL;
}

/* ---- what observers ask ----------------------------------------------------------------------------- */

const char *emu_machine_kernel(const struct emu_machine *m)
{
    return m->program->codes[0]->name;
}

bool emu_machine_commits_observed(const struct emu_machine *m)
{
    for (size_t i = 0; i < m->launch->observer_count; i++)
        if (m->launch->observers[i]->in_commit_order) return true;
    return false;
}

bool emu_machine_reads_clock(const struct emu_machine *m)
{
    return emu_kernel_reads_clock(m->program);
}

bool emu_machine_copies(const struct emu_machine *m)
{
    for (u32 i = 0; i < m->program->place_count; i++) {
        const struct ptx_op *op = m->program->places[i].inst->op;
        if (op && strstr(op->form->name, "async")) return true;
    }
    return false;
}

bool emu_machine_has_narrow_scopes(const struct emu_machine *m)
{
    for (u32 i = 0; i < m->program->place_count; i++) {
        const struct ptx_op *op = m->program->places[i].inst->op;
        if (op && (ptx_op_has(op, "cta") || ptx_op_has(op, "cluster"))) return true;
    }
    return false;
}

uint32_t emu_machine_location_count(const struct emu_machine *m)
{
    return m->program->place_count;
}

void emu_machine_thread(const struct emu_machine *m, uint32_t cta, uint32_t thread,
                        uint32_t cta_index[3], uint32_t thread_index[3])
{
    launch_thread_of(m, cta, thread, cta_index, thread_index);
}

struct emu_extent emu_machine_extent(const struct emu_machine *m)
{
    return (struct emu_extent){.ctas = m->cta_count,
                               .threads = m->threads_per_cta,
                               .cluster = m->cluster_size,
                               .shared = m->shared_size,
                               .memory = mem_space(m->mem)};
}

static void where(const struct emu_machine *m, u32 cta, u32 at[3], u32 inside[3])
{
    const u32 *grid = m->launch->grid;
    at[0] = cta % grid[0], at[1] = cta / grid[0] % grid[1], at[2] = cta / grid[0] / grid[1];
    for (int i = 0; i < 3; i++) inside[i] = at[i] % m->cluster[i];
}

u32 emu_machine_rank(const struct emu_machine *m, u32 cta)
{
    u32 at[3], in[3];
    where(m, cta, at, in);
    return in[0] + m->cluster[0] * (in[1] + m->cluster[1] * in[2]);
}

u32 emu_machine_cluster_cta(const struct emu_machine *m, u32 cta, u32 rank)
{
    const u32 *grid = m->launch->grid;
    u32 at[3], in[3];
    where(m, cta, at, in);
    at[0] += rank % m->cluster[0] - in[0];
    at[1] += rank / m->cluster[0] % m->cluster[1] - in[1];
    at[2] += rank / m->cluster[0] / m->cluster[1] - in[2];
    return at[0] + grid[0] * (at[1] + grid[1] * at[2]);
}
