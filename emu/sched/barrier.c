/* Barriers of CTAs, warps and clusters.
 *
 * A CTA barrier counts threads. If the instruction has a thread count, a warp whose live lanes all arrive together
 * counts as 32 threads, since the ISA counts warps. Without a thread count the barrier waits for all threads that have
 * not exited. */
#include "emu/sched/control.h"

#include "emu/measure/count.h"
#include "emu/measure/trace_turns.h"
#include "emu/sched/notify.h"
#include "emu/speculate/speculation.h"

#include <stdio.h>
#include <string.h>

static void tell_release(const struct emu_cta *c, u32 id)
{
    const struct emu_group *g = &c->groups[c->group_at[0]];
    struct emu_sync s = {.kind = EMU_SYNC_BARRIER_DONE, .id = id, .count = c->living};
    const struct speculation *const spec = g->worker->machine->speculation;
    if (spec && spec->barrier_complete) spec->barrier_complete(c, id);
    if (g->worker->machine->steps.watched) emu_notify_done(g, 0, g->code->uops, &s);
}

static void release(struct emu_cta *c, u32 id)
{
    struct emu_barrier *b = &c->barriers[id];
    tell_release(c, id);
    for (u32 k = 0; k < c->group_count; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        if (g->state != GROUP_BARRIER || g->barrier != id) continue;
        const struct emu_uop *in = g->pc;
        if (in->x == BAR_POPC || in->x == BAR_AND || in->x == BAR_OR) {
            emu_need_rows(g);
            for (u32 w = 0; w < g->warps; w++)
                for (u32 m = g->exec[w]; m; m &= m - 1)
                    emu_put(g, 4, in->d, w, (u32)__builtin_ctz(m),
                            in->x == BAR_POPC  ? b->value
                            : in->x == BAR_AND ? b->all ? ~0u : 0
                            : b->any           ? ~0u
                                               : 0);
        }
        g->pc = in + 1;
        g->state = GROUP_READY;
    }
    c->stirred = true;
    *b = (struct emu_barrier){0};
    c->awaited &= ~(1u << id);
}

void emu_barrier_check(struct emu_cta *c)
{
    for (u32 left = c->awaited; left; left &= left - 1) {
        const u32 id = (u32)__builtin_ctz(left);
        const struct emu_barrier *b = &c->barriers[id];
        u32 needed = b->needed ? b->needed : c->living;
        if (b->arrived >= needed) release(c, id);
    }
}

/* Whether the row holds the value in all lanes of the group. */
static bool all_hold(const struct emu_group *g, u32 row, u32 value)
{
    const u32 *p = (const u32 *)(const void *)(g->r32 + row);
    return !g->worker->machine->counting->words_differ(p, g->warps * LANES, value);
}

static bool all_lanes_arrive(const struct emu_group *g)
{
    for (u32 w = 0; w < g->warps; w++)
        if (g->exec[w] != g->alive[w]) return false;
    return true;
}

/* true: every lane that executes `in` names barrier `id` for so many threads. */
static bool lanes_agree(struct emu_group *g, const struct emu_uop *in, u32 id, u32 threads)
{
    if (all_hold(g, in->a, id) && (!in->y || all_hold(g, in->b, threads))) return true;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            const u32 l = (u32)__builtin_ctz(m);
            if (emu_get(g, 4, in->a, w, l) != id ||
                (in->y && emu_get(g, 4, in->b, w, l) != threads))
                return false;
        }
    return true;
}

/* The threads that a barrier is for, in whole warps. */
static u32 threads_of(const struct emu_group *g, u32 count)
{
    return count ? count : g->worker->machine->warps_per_cta * LANES;
}

/* The fault of an arrival that the PTX ISA does not allow ("bar", operands), in words; NULL: it is allowed. */
static const char *arrival_fault(const struct emu_group *g, bool counted, u32 id, u32 threads,
                                 char text[static 96])
{
    if (id > 15) snprintf(text, 96, "barrier %u: there are 16", id);
    else if (counted && (threads == 0 || threads % LANES))
        snprintf(text, 96, "barrier %u for %u threads: no multiple of 32", id, threads);
    else if (g->cta->barriers[id].arrivals &&
             threads_of(g, g->cta->barriers[id].needed) != threads_of(g, threads))
        snprintf(text, 96, "barrier %u for %u threads, which others wait at for %u (0: all)", id,
                 threads, g->cta->barriers[id].needed);
    else return NULL;
    return text;
}

/* Adds the warps of a group to a barrier: their threads, and their part of what barrier.red computes. */
static void add_arrivals(struct emu_group *g, const struct emu_uop *in, struct emu_barrier *b)
{
    if (g->worker->turns)
        for (u32 w = 0; w < g->warps; w++)
            if (g->exec[w])
                trace_turns_cut(g->worker->turns, g->first + w, TURN_BARRIER,
                                emu_lanes_of(g->exec[w]), emu_lanes_of(g->alive[w]));
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        /* A count is of whole warps: lanes that have ended, or never were, come with the others. */
        const bool all = b->needed && g->exec[w] == emu_warp_alive(g, w);
        b->arrived += all ? LANES : emu_lanes_of(g->exec[w]);
        b->arrivals++;
        if (in->x >= BAR_POPC) {
            const u32 on = emu_mask_of(g, in->c, w) & g->exec[w];
            b->value += emu_lanes_of(on);
            b->any |= on != 0;
            b->all &= on == g->exec[w];
        }
    }
}

static const struct emu_uop *split_group(struct emu_group *g, const struct emu_uop *in)
{
    g->pc = in;
    g->state = GROUP_SPLIT;
    return NULL;
}

/* The group stays at the barrier until enough have come. Next instruction; NULL: it waits. */
static const struct emu_uop *wait_at_barrier(struct emu_group *g, const struct emu_uop *in, u32 id)
{
    if (in->x != BAR_ARRIVE) {
        g->pc = in;
        g->state = GROUP_BARRIER;
        g->barrier = id;
    }
    emu_barrier_check(g->cta);
    /* Lanes that wait for these on the stack may be what the barrier waits for. */
    if (g->state == GROUP_BARRIER && g->cta->its && g->warps == 1 && g->depth) {
        emu_its_part(g);
        if (g->state != GROUP_READY) return NULL;
    }
    if (in->x == BAR_ARRIVE) return in + 1;
    if (g->state == GROUP_READY && !g->turn.asleep) return g->pc; /* it was the last */
    return NULL;
}

const struct emu_uop *emu_op_bar(struct emu_group *g, const struct emu_uop *in)
{
    const struct emu_machine *const m = g->worker->machine;
    if (g->depth && !g->cta->its)
        emu_end_idle(g); /* as an assembler makes of a branch to the end an exit */
    /* All lanes that live must be here, or other warps of the group could never come. */
    if (g->warps > 1 && !all_lanes_arrive(g)) return split_group(g, in);
    u32 fw = 0;
    while (!g->exec[fw]) fw++;
    const u32 fl = (u32)__builtin_ctz(g->exec[fw]);
    const u32 id = (u32)emu_get(g, 4, in->a, fw, fl),
              threads = in->y ? (u32)emu_get(g, 4, in->b, fw, fl) : 0;
    if (!lanes_agree(g, in, id, threads)) {
        if (g->warps > 1) return split_group(g, in);
        return emu_raise(g, in, EMU_BARRIER, fw, fl, 0, 0,
                         "lanes of a warp name different barriers");
    }
    char text[96];
    if (arrival_fault(g, in->y, id, threads, text))
        return emu_raise(g, in, EMU_BARRIER, fw, fl, 0, 0, "%s", text);
    struct emu_sync s = {.kind = EMU_SYNC_BARRIER,
                         .flags = in->x == BAR_ARRIVE ? EMU_RELEASE : EMU_RELEASE | EMU_ACQUIRE,
                         .id = id,
                         .count = threads};
    if (m->steps.watched && !(emu_notify_step(g, in) && emu_notify_sync(g, in, &s))) return NULL;
    if (m->speculation && m->speculation->barrier_arrival)
        m->speculation->barrier_arrival(g, id, threads, in->x != BAR_ARRIVE);
    struct emu_barrier *b = &g->cta->barriers[id];
    if (!b->arrivals) *b = (struct emu_barrier){.needed = threads, .all = true};
    g->cta->awaited |= 1u << id;
    add_arrivals(g, in, b);
    return wait_at_barrier(g, in, id);
}

/* The member mask of a lane. The lanes of another context, which may be at another bar.warp.sync, have the mask of those
 * that carry it out (emu/sched/its.c). */
static u32 bar_warp_mask(const struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane)
{
    const bool other = g->cta->its && g->warps == 1 && !(g->meeting_exec >> lane & 1);
    return (u32)emu_get(g, 4, in->a, w, other ? (u32)__builtin_ctz(g->meeting_exec) : lane);
}

/* Lanes of a warp that are here are together already. */
const struct emu_uop *emu_op_bar_warp(struct emu_group *g, const struct emu_uop *in)
{
    for (u32 w = 0; g->worker->machine->steps.watched && w < g->warps; w++)
        for (u32 left = g->exec[w], lanes; left; left &= ~lanes) { /* by member mask */
            const u32 mask = bar_warp_mask(g, in, w, (u32)__builtin_ctz(left));
            lanes = left & -left;
            for (u32 m = left; m; m &= m - 1)
                if (bar_warp_mask(g, in, w, (u32)__builtin_ctz(m)) == mask) lanes |= m & -m;
            struct emu_sync s = {.kind = EMU_SYNC_WARP, .lanes = lanes};
            emu_notify_done(g, w, in, &s);
        }
    return in + 1;
}

static void tell_cluster(const struct emu_group *g, const struct emu_uop *in, u8 kind, u32 lanes)
{
    struct emu_sync s = {.kind = kind, .lanes = lanes, .scope = EMU_SCOPE_CLUSTER};
    if (kind == EMU_SYNC_CLUSTER_ARRIVE && !in->x) s.flags = EMU_RELEASE;
    if (kind == EMU_SYNC_CLUSTER_WAIT) s.flags = EMU_ACQUIRE;
    if (g->worker->machine->steps.watched) emu_notify_done(g, 0, in, &s);
}

/* Lanes arrive one by one; the barrier is complete when all that live have: lanes that end, arrived or not,
 * are not waited for. That may become true by an exit, so waiting lanes ask again and again. */
static void check_cluster(const struct emu_group *asks, const struct emu_uop *in)
{
    const struct emu_cta *c = asks->cta;
    bool any = false;
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 r = 0; r < c->cluster_size; r++)
            for (u32 k = 0; k < c->cluster[r]->group_count; k++) {
                struct emu_group *g = &c->cluster[r]->groups[c->cluster[r]->group_at[k]];
                for (u32 w = 0; g->state != GROUP_DONE && w < g->warps; w++) {
                    if (pass) g->arrived[w] = 0;
                    else if (g->alive[w] & ~g->arrived[w]) return;
                    any |= g->arrived[w] != 0;
                }
            }
    if (any) tell_cluster(asks, in, EMU_SYNC_CLUSTER_DONE, 0);
}

const struct emu_uop *emu_op_cluster_arrive(struct emu_group *g, const struct emu_uop *in)
{
    struct emu_sync s = {
        .kind = EMU_SYNC_CLUSTER, .scope = EMU_SCOPE_CLUSTER, .flags = EMU_RELEASE};
    if (!emu_notify_single_warp(g, in)) return NULL;
    if (g->worker->machine->steps.watched && !in->x && !emu_notify_sync(g, in, &s)) return NULL;
    for (u32 w = 0; w < g->warps; w++) g->arrived[w] |= g->exec[w];
    tell_cluster(g, in, EMU_SYNC_CLUSTER_ARRIVE, g->exec[0]);
    check_cluster(g, in);
    return in + 1;
}

const struct emu_uop *emu_op_cluster_wait(struct emu_group *g, const struct emu_uop *in)
{
    if (!emu_notify_single_warp(g, in)) return NULL;
    check_cluster(g, in);
    u32 waiting = 0;
    for (u32 w = 0; w < g->warps; w++) waiting |= g->arrived[w] & g->exec[w];
    if (!waiting) {
        tell_cluster(g, in, EMU_SYNC_CLUSTER_WAIT, g->exec[0]);
        return in + 1;
    }
    g->pc = in;
    g->state = GROUP_WAIT;
    return NULL;
}
