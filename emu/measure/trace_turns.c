/* Sorts the events of warps that ran in lockstep into the order in which emu/sched/launch.c would run the warps
 * alone. */
#include "emu/measure/trace_turns.h"

#include "emu/sched/control.h"

#include <stdlib.h>
#include <string.h>

bool trace_turns_fit(const struct emu_program *p)
{
    if (p->talks || !p->shared_commutes || p->launches) return false;
    for (u32 c = 0; c < p->code_count; c++)
        for (u32 i = 0; i < p->codes[c]->uop_count; i++) {
            const struct emu_uop *u = &p->codes[c]->uops[i];
            switch (u->id) {
            case UOP_bar:
                if (u->y || u->x == BAR_ARRIVE) return false;
                break;
            case UOP_special: /* clocks */
            case UOP_call_runtime:
            case UOP_cluster_arrive:
            case UOP_cluster_wait:
            case UOP_bulk_copy:
            case UOP_bulk_reduce:
            case UOP_st_async:
            case UOP_red_async:
            case UOP_mbarrier_init:
            case UOP_mbarrier_wait: return false;
            default: break;
            }
        }
    return true;
}

static void *more(void *p, size_t size)
{
    p = realloc(p, size);
    if (!p) abort();
    return p;
}

void trace_turns_begin(struct trace_turns *t, struct trace_cta *c, u32 threads)
{
    const u32 warps = c->warp_count;
    if (warps > t->cap) {
        t->ports = more(t->ports, warps * sizeof *t->ports);
        t->warps = more(t->warps, warps * sizeof *t->warps);
        memset(t->ports + t->cap, 0, (warps - t->cap) * sizeof *t->ports);
        memset(t->warps + t->cap, 0, (warps - t->cap) * sizeof *t->warps);
        t->cap = warps;
    }
    for (u32 w = 0; w < warps; w++) {
        const u32 lanes = threads - w * LANES < LANES ? threads - w * LANES : LANES;
        struct turns_warp *const x = &t->warps[w];
        *x = (struct turns_warp){
            .left = TURN_LENGTH, .alive = lanes, .pieces = x->pieces, .cap = x->cap};
        t->ports[w].count = 0;
    }
    t->cta = c;
    t->count = warps;
    t->at = t->arrived = 0;
    t->living = threads;
}

void trace_turns_cut(struct trace_turns *t, u32 warp, enum trace_turn end, u32 arrive, u32 alive)
{
    struct turns_warp *w = &t->warps[warp];
    if (w->over) return;
    if (w->count == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 4;
        w->pieces = more(w->pieces, w->cap * sizeof *w->pieces);
    }
    w->pieces[w->count++] = (struct trace_piece){.requests = t->ports[warp].count,
                                                 .words = t->cta->warps[warp].count,
                                                 .traced = w->traced,
                                                 .ended = w->alive - alive,
                                                 .arrive = arrive,
                                                 .end = (u8)end};
    w->traced = 0;
    w->alive = alive;
    w->left = TURN_LENGTH;
    w->over = end == TURN_EXIT;
}

void trace_turns_look(struct trace_turns *t, const struct emu_group *g)
{
    for (u32 w = 0; w < g->warps; w++)
        if (!g->alive[w]) trace_turns_cut(t, g->first + w, TURN_EXIT, 0, 0);
}

/* Accesses say where their notes begin in the piece: now it is known where the piece does. */
static const struct trace_piece *put(struct trace_turns *t, u32 warp, struct cache_port *to)
{
    struct turns_warp *w = &t->warps[warp];
    struct cache_port *from = &t->ports[warp];
    const struct trace_piece *p = &w->pieces[w->done++];
    for (u32 *words = t->cta->warps[warp].words; w->words_done < p->words;) {
        u32 *word = &words[w->words_done++];
        if ((*word & 3) == TRACE_BLOCK) continue;
        w->words_done += trace_access_words(word);
        if ((*word & 3) != TRACE_SHARED) word[1] += t->cta->line_count;
    }
    t->cta->line_count += p->traced;
    if (to && p->requests > w->requests_done)
        cache_append(to, from->requests + w->requests_done, p->requests - w->requests_done);
    w->requests_done = p->requests;
    if (w->done < w->count) return p;
    w->done = w->count = 0; /* p stays */
    if (p->requests == from->count) from->count = w->requests_done = 0;
    return p;
}

void trace_turns_go(struct trace_turns *t, struct cache_port *to)
{
    for (u32 idle = 0; t->cta && idle < t->count;) {
        struct turns_warp *w = &t->warps[t->at];
        if (w->waits || w->in_order) idle++;
        else {
            if (w->done == w->count) return;
            const struct trace_piece *p = put(t, t->at, to);
            idle = 0;
            t->living -= p->ended;
            t->arrived += p->arrive;
            w->waits = p->end == TURN_BARRIER;
            w->in_order = p->end == TURN_EXIT;
            if (p->end != TURN_OVER && t->arrived && t->arrived >= t->living) {
                for (u32 k = 0; k < t->count; k++) t->warps[k].waits = false;
                t->arrived = 0;
                if (p->end == TURN_BARRIER) continue; /* it was the last, and goes on */
            }
        }
        t->at = t->at + 1 == t->count ? 0 : t->at + 1;
    }
    if (!t->living) t->cta = NULL;
}

void trace_turns_drop(struct trace_turns *t)
{
    for (u32 w = 0; t->cta && w < t->count; w++) {
        trace_turns_cut(t, w, TURN_EXIT, 0, 0);
        while (t->warps[w].done < t->warps[w].count) put(t, w, NULL);
    }
    t->cta = NULL;
}

void trace_turns_free(struct trace_turns *t)
{
    trace_turns_drop(t);
    for (u32 w = 0; w < t->cap; w++) {
        free(t->ports[w].requests);
        free(t->warps[w].pieces);
    }
    free(t->ports);
    free(t->warps);
}
