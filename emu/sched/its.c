/* Independent thread scheduling: every lane makes progress.
 *
 * A warp starts as one context and runs on its SIMT stack as usual, since converged execution is cheap. When a context
 * has used up its turn while some of its lanes wait on its stack, the running lanes may depend on the waiting ones.
 * Then the running lanes become a context of their own (emu_its_part), and the waiting lanes resume where they are.
 * Contexts are scheduled like warps.
 *
 * A .sync instruction requires that the lanes of its member mask execute it together. Contexts wait before such an
 * instruction (meet) until all contexts with lanes of the mask have arrived; then one of them executes the instruction
 * for all, which is possible because they share rows, and each context resumes by itself (met). */
#include "emu/ops/exec.h"
#include "emu/sched/control.h"

#include <stdlib.h>
#include <string.h>

u32 emu_warp_alive(const struct emu_group *g, u32 w)
{
    const struct emu_cta *c = g->cta;
    u32 alive = g->alive[w];
    for (u32 k = 0; g->shares_warp && k < c->group_count; k++) {
        const struct emu_group *o = &c->groups[c->group_at[k]];
        if (o->first == g->first) alive |= o->alive[0];
    }
    return alive;
}

/* A place for another context: one whose lanes have all ended, or a fresh one. NULL: there are as many as
 * a CTA has threads. */
static struct emu_group *new_context(struct emu_group *g)
{
    struct emu_cta *c = g->cta;
    for (u32 k = 0; k < c->group_count; k++) {
        struct emu_group *o = &c->groups[c->group_at[k]];
        if (o->state == GROUP_DONE && o != g &&
            o - c->groups >= c->warps) { /* a warp's first keeps its place */
            c->running++;
            return o;
        }
    }
    if (c->context_count == c->warps * LANES) return NULL;
    c->group_at[c->group_count++] = c->context_count;
    c->running++;
    struct emu_group *const n = &c->groups[c->context_count++];
    if (c->context_count > c->context_high) { /* never used: it has no stack */
        c->context_high = c->context_count;
        n->stack = NULL;
        n->stack_cap = 0;
    }
    return n;
}

void emu_its_part(struct emu_group *g)
{
    u32 run = g->exec[0], wait = g->alive[0] & ~run;
    if (!wait) return;
    struct emu_group *n = new_context(g);
    if (!n) return;
    struct emu_entry *stack = n->stack;
    u32 cap = n->stack_cap;
    *n = *g;
    n->stack = stack;
    n->stack_cap = cap;
    emu_stack_reserve(n, g->depth);
    memcpy(n->stack, g->stack, g->depth * sizeof *n->stack);
    n->turn.queue = 0;
    n->cta->stirred = true;
    n->shares_warp = g->shares_warp = true;
    n->alive[0] = run;
    g->alive[0] = wait;
    n->arrived[0] &= run;
    g->arrived[0] &= wait;
    for (u32 d = 0; d < g->depth; d++) {
        n->stack[d].mask[0] &= run;
        g->stack[d].mask[0] &= wait;
    }
    emu_set_exec(n, n->exec);
    g->turn.notified = g->turn.asked = g->time_is_up = false; /* of what the others wait at */
    g->state = GROUP_READY;
    g->pc = emu_group_resume(g); /* NULL: those that waited have all ended: DONE */
}

/* The member masks of the lanes that execute this UOP_meet. */
static u32 member_mask(const struct emu_group *g, const struct emu_uop *in)
{
    u32 mask = 0;
    for (u32 m = g->exec[0]; m; m &= m - 1)
        mask |= (u32)emu_get(g, 4, in->a, 0, (u32)__builtin_ctz(m));
    return mask;
}

static bool is_bar_warp(const struct emu_uop *meet)
{
    return meet->id == UOP_meet && meet[1].id == UOP_bar_warp;
}

/* Whether a context waits here: at any bar.warp.sync with the same mask (PTX ISA, "bar.warp.sync"), otherwise at this
 * instruction with the same frame. */
static bool stands_here(const struct emu_group *o, const struct emu_group *g,
                        const struct emu_uop *in)
{
    if (o->state != GROUP_WAIT) return false;
    if (is_bar_warp(in) && is_bar_warp(o->pc)) return member_mask(o, o->pc) == member_mask(g, in);
    return o->pc == in && o->files.top32 == g->files.top32 && o->files.top64 == g->files.top64 &&
           o->files.top16 == g->files.top16 && o->files.top_local == g->files.top_local;
}

const struct emu_uop *emu_op_meet(struct emu_group *g, const struct emu_uop *in)
{
    struct emu_cta *c = g->cta;
    const u32 mask = member_mask(g, in);
    g->meeting_exec = g->exec[0];
    if (!c->its) return in + 1; /* on the stack: who is here is who comes */
    if (g->warps > 1) {
        if (!emu_waiting_lanes(g)) return in + 1;
        g->pc = in;
        g->state = GROUP_SPLIT;
        return NULL;
    }
    /* Lanes of its own that wait on its stack can only come as a context. */
    if (mask & g->alive[0] & ~g->exec[0]) {
        g->pc = in;
        g->state = GROUP_WAIT;
        g->budget = 0;
        emu_its_part(g); /* g now is the others: the new context waits here */
        return NULL;
    }
    if (!g->shares_warp) return in + 1;
    u32 here = g->exec[0];
    for (u32 k = 0; k < c->group_count; k++) {
        const struct emu_group *o = &c->groups[c->group_at[k]];
        if (o == g || o->first != g->first || o->state == GROUP_DONE) continue;
        if (stands_here(o, g, in)) here |= o->exec[0];
    }
    const u32 away = mask & emu_warp_alive(g, 0) & ~here;
    if (away) {
        g->pc = in;
        g->state = GROUP_WAIT;
        return NULL;
    }
    u32 all[GROUP] = {here & (mask | g->exec[0])};
    emu_set_exec(g, all);
    return in + 1;
}

const struct emu_uop *emu_op_met(struct emu_group *g, const struct emu_uop *in)
{
    if (!g->shares_warp) return in + 1;
    u32 others = g->exec[0] & ~g->meeting_exec;
    struct emu_cta *c = g->cta;
    for (u32 k = 0; others && k < c->group_count; k++) {
        struct emu_group *o = &c->groups[c->group_at[k]];
        if (o == g || o->first != g->first || o->state != GROUP_WAIT || !(o->exec[0] & others))
            continue;
        if (!(o->exec[0] & ~others)) {            /* all of its lanes took part */
            while (o->pc->id != UOP_met) o->pc++; /* of its own instruction */
            o->pc++;
            o->state = GROUP_READY;
            c->stirred = true;
        }
    }
    u32 own[GROUP] = {g->meeting_exec};
    emu_set_exec(g, own);
    return in + 1;
}
