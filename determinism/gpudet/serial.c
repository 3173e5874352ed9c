/* Serial mode of gpudet: the atomics that ended parallel modes, one warp after another. */
#include "determinism/gpudet/internal.h"

#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

enum { SOON = 2 }; /* warps that are fetched ahead */

static uint32_t lane_count(const struct gpudet_request *r)
{
    return (uint32_t)__builtin_popcount(r->lanes);
}
static uint8_t *data_of(struct gpudet_request *r)
{
    return (uint8_t *)(r->words + lane_count(r));
}
static uint8_t *old_of(struct gpudet_request *r)
{
    return data_of(r) + (size_t)lane_count(r) * r->size;
}

static void copy(uint8_t *to, const uint8_t *from, uint32_t size)
{
    if (size == 4) memcpy(to, from, 4);
    else memcpy(to, from, size);
}

/* The next of a list of `room`, of which `*count` are in use. It has room for the access. */
static struct gpudet_request *new_request(struct gpudet_request ***list, uint32_t *count,
                                          uint32_t *room, const struct emu_access *a)
{
    const uint32_t size = a->op == ATOMIC_CAS ? 32u + a->width : (uint32_t)a->width * a->count,
                   need = (uint32_t)__builtin_popcount(a->lanes) * (8 + 2 * size), had = *room;
    *list = gpudet_grow(*list, *count + 1, room, sizeof **list);
    for (uint32_t i = had; i < *room; i++) (*list)[i] = NULL;
    struct gpudet_request **r = &(*list)[(*count)++];
    if (!*r || (*r)->room < need) {
        free(*r);
        *r = malloc(sizeof **r + need);
        if (!*r) abort();
        (*r)->room = need;
    }
    (*r)->size = size;
    return *r;
}

static void take(struct gpudet_request *r, const struct emu_access *a)
{
    r->serial = a->who->serial;
    r->pc = a->pc;
    r->lanes = a->lanes;
    r->kind = a->kind, r->op = a->op, r->type = a->type, r->width = a->width, r->count = a->count;
    r->done = r->taken = false;
    r->by = emu_issuer(a);
    uint64_t *address = r->words;
    uint8_t *data = data_of(r);
    for (uint32_t m = a->lanes; m; m &= m - 1, data += r->size) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        *address++ = a->address[l];
        copy(data, a->data + (size_t)a->stride * l, r->size);
    }
}

static void give(struct gpudet_request *r, const struct emu_access *a)
{
    const uint8_t *old = old_of(r);
    for (uint32_t m = a->result ? a->lanes : 0; m; m &= m - 1, old += r->size)
        copy(a->result + (size_t)a->stride * (uint32_t)__builtin_ctz(m), old,
             (uint32_t)a->width * a->count);
    r->taken = true;
}

static bool is_of(const struct gpudet_request *r, const struct emu_access *a)
{
    return r->pc == a->pc && r->serial == a->who->serial;
}

static void ask(struct gpudet *g, const struct gpudet_warp *w)
{
    gpudet_add(g->askers, w->number);
    g->asks = true;
}

/* One that is told of in pieces sleeps at each of them: earlier ones are still there, done. (The first of a place may
 * be told of so, and whole when it is carried out again.) */
enum emu_verdict gpudet_serial_ask(struct gpudet *g, struct gpudet_warp *w,
                                   const struct emu_access *a)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->asked; i++) {
        struct gpudet_request *r = w->requests[i];
        if (is_of(r, a) && r->done && r->lanes == a->lanes) {
            give(r, a);
            return EMU_DONE;
        }
        if (r->taken && !is_of(r, a)) continue; /* of an instruction that is over */
        w->requests[i] = w->requests[kept];
        w->requests[kept++] = r;
    }
    w->asked = kept;
    ask(g, w);
    if (g->swaps && a->standalone) w->asks = true;
    else take(new_request(&w->requests, &w->asked, &w->request_room, a), a);
    return EMU_SLEEP;
}

void gpudet_serial_later(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a)
{
    ask(g, w);
    take(new_request(&w->later, &w->later_count, &w->later_room, a), a);
    w->stored = true;
}

static void carry_out(struct gpudet *g, struct gpudet_request *r)
{
    uint8_t *const data = data_of(r), *const old = old_of(r);
    struct emu_issuer by = r->by;
    if (r->count == 1)
        emu_machine_reduce_lanes(g->m, by, r->words, r->lanes, r->op, r->type, data, old, r->size);
    uint32_t l = 0;
    for (uint32_t m = r->count > 1 ? r->lanes : 0; m; m &= m - 1, l++) {
        by.lane = (uint8_t)(1 + __builtin_ctz(m));
        for (uint32_t k = 0; k < r->count; k++) {
            const uint32_t o = k * r->width, at = r->size * l + o;
            emu_machine_reduce(g->m, by, r->words[l] + o, r->op, r->type, data + at, old + at);
        }
    }
    r->done = true;
}

static void serve(struct gpudet *g, struct gpudet_warp *w)
{
    if (w->asks) {
        w->asks = false;
        emu_machine_complete_atomic(g->m, &w->who);
        g->n.atomics++;
        if (!g->in_turn) gpudet_go_on(g, w); /* while the host's caches have it */
    }
    for (uint32_t i = 0; i < w->asked; i++) {
        if (w->requests[i]->done) continue;
        carry_out(g, w->requests[i]);
        g->n.atomics++;
    }
    for (uint32_t i = 0; i < w->later_count; i++) carry_out(g, w->later[i]);
    g->n.reductions += w->later_count;
    w->later_count = 0;
}

/* What the next of `count` will look at. */
static void fetch(const struct gpudet *g, const uint32_t *serving, uint32_t count)
{
    if (count > 4 * SOON) __builtin_prefetch(&g->warps[serving[4 * SOON]]);
    if (count > 2 * SOON) emu_machine_prefetch(g->m, &g->warps[serving[2 * SOON]].who, false);
    if (count > SOON) emu_machine_prefetch(g->m, &g->warps[serving[SOON]].who, true);
}

/* In hardware's order, which is that of SMs; with serial=any as they arrive. */
void gpudet_serial_run(struct gpudet *g)
{
    uint32_t n = 0, last = UINT32_MAX;
    GPUDET_EACH(i, g->askers, g->warp_count)
    {
        gpudet_remove(g->askers, (uint32_t)i);
        g->serving[n++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < n && g->options.serial == GPUDET_SERIAL_ANY; i++) {
        const uint32_t k = i + gpudet_below(g, n - i), x = g->serving[k];
        g->serving[k] = g->serving[i];
        g->serving[i] = x;
    }
    g->n.serial++;
    g->asks = false;
    g->served = g->told_in_turn ? n : 0;
    g->shown = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct gpudet_warp *w = &g->warps[g->serving[i]];
        if (g->swaps) fetch(g, g->serving + i, n - i);
        g->n.rounds += g->options.serial == GPUDET_WARP || w->who.sm != last;
        last = w->who.sm;
        serve(g, w);
    }
}

static void free_list(struct gpudet_request **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) free(list[i]);
    free(list);
}

void gpudet_serial_free(struct gpudet_warp *w)
{
    free_list(w->requests, w->request_room);
    free_list(w->later, w->later_room);
}
