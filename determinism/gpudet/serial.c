/* Serial mode of GPUDet (thesis 4.5): the atomics that ended parallel modes are executed, one warp after another.
 *
 * gpudet_on_access() queues an atomic (gpudet_serial_request), and the warp sleeps. gpudet_on_idle() executes all
 * queued atomics (gpudet_serial_run). In the next quantum the warp retries the instruction and gets its results. An
 * instruction that is reported as several accesses has one request for each. Reductions by bulk copies are executed
 * after the warp's atomic. */
#include "determinism/gpudet/internal.h"

#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

enum { PREFETCH = 2 }; /* warps that are fetched ahead */

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

/* The next of a list of `*capacity` requests, of which `*count` are in use. It has space for the access. */
static struct gpudet_request *new_request(struct gpudet_request ***list, uint32_t *count,
                                          uint32_t *capacity, const struct emu_access *a)
{
    const uint32_t size = a->op == ATOMIC_CAS ? 32u + a->width : (uint32_t)a->width * a->count,
                   need = (uint32_t)__builtin_popcount(a->lanes) * (8 + 2 * size), had = *capacity;
    *list = gpudet_grow(*list, *count + 1, capacity, sizeof **list);
    for (uint32_t i = had; i < *capacity; i++) (*list)[i] = NULL;
    struct gpudet_request **r = &(*list)[(*count)++];
    if (!*r || (*r)->capacity < need) {
        free(*r);
        *r = malloc(sizeof **r + need);
        if (!*r) abort();
        (*r)->capacity = need;
    }
    (*r)->size = size;
    return *r;
}

static void fill_request(struct gpudet_request *r, const struct emu_access *a)
{
    r->issue_seq = a->who->serial;
    r->pc = a->pc;
    r->lanes = a->lanes;
    r->kind = a->kind, r->op = a->op, r->type = a->type, r->width = a->width, r->count = a->count;
    r->done = r->taken = r->reported = false;
    r->by = emu_issuer(a);
    uint64_t *address = r->words;
    uint8_t *data = data_of(r);
    for (uint32_t m = a->lanes; m; m &= m - 1, data += r->size) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        *address++ = a->address[l];
        copy(data, a->data + (size_t)a->stride * l, r->size);
    }
}

static void return_results(struct gpudet_request *r, const struct emu_access *a)
{
    const uint8_t *old = old_of(r);
    for (uint32_t m = a->result ? a->lanes : 0; m; m &= m - 1, old += r->size)
        copy(a->result + (size_t)a->stride * (uint32_t)__builtin_ctz(m), old,
             (uint32_t)a->width * a->count);
}

static bool is_same_access(const struct gpudet_request *r, const struct emu_access *a)
{
    return r->pc == a->pc && r->issue_seq == a->who->serial;
}

static bool is_answer(const struct gpudet_request *r, const struct emu_access *a)
{
    return is_same_access(r, a) && r->done && r->lanes == a->lanes;
}

static void mark(struct gpudet *g, const struct gpudet_warp *w)
{
    gpudet_set_add(g->serial.warps, w->number);
    g->serial.any = true;
}

/* A warp whose instruction is reported in pieces sleeps at each of them: requests of earlier pieces are still there,
 * executed. (The first piece may be reported so, and as a whole when the instruction is tried again.) */
enum emu_verdict gpudet_serial_request(struct gpudet *g, struct gpudet_warp *w,
                                       const struct emu_access *a)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->request_count; i++) {
        struct gpudet_request *r = w->requests[i];
        if (is_answer(r, a)) {
            return_results(r, a);
            r->taken = true;
            return r->reported ? EMU_DONE_REPORTED : EMU_DONE;
        }
        if (r->taken && !is_same_access(r, a)) continue; /* of an instruction that is over */
        w->requests[i] = w->requests[kept];
        w->requests[kept++] = r;
    }
    w->request_count = kept;
    mark(g, w);
    if (g->fast.stores_in_place && a->standalone) w->atomic_in_place = true;
    else fill_request(new_request(&w->requests, &w->request_count, &w->request_capacity, a), a);
    return EMU_SLEEP;
}

bool gpudet_serial_has_unreported(const struct gpudet_warp *w)
{
    for (uint32_t i = 0; i < w->request_count; i++) {
        const struct gpudet_request *r = w->requests[i];
        if (r->done && !r->taken && !r->reported) return true;
    }
    return false;
}

void gpudet_serial_report(struct gpudet *g, const struct gpudet_warp *w, const struct emu_access *a)
{
    for (uint32_t i = 0; i < w->request_count; i++) {
        struct gpudet_request *r = w->requests[i];
        if (!is_answer(r, a)) continue;
        return_results(r, a);
        r->reported = true;
        emu_machine_report_access(g->m);
    }
}

void gpudet_serial_defer_reduction(struct gpudet *g, struct gpudet_warp *w,
                                   const struct emu_access *a)
{
    mark(g, w);
    fill_request(new_request(&w->bulk_reductions, &w->bulk_count, &w->bulk_capacity, a), a);
    w->stored = true;
}

static void execute(struct gpudet *g, struct gpudet_request *r)
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

static void run_atomics(struct gpudet *g, struct gpudet_warp *w)
{
    if (w->atomic_in_place) {
        w->atomic_in_place = false;
        emu_machine_complete_atomic(g->m, &w->who);
        g->n.atomics++;
        if (!g->serialised) gpudet_resume(g, w); /* while the host's caches have it */
    }
    for (uint32_t i = 0; i < w->request_count; i++) {
        if (w->requests[i]->done) continue;
        execute(g, w->requests[i]);
        g->n.atomics++;
    }
    for (uint32_t i = 0; i < w->bulk_count; i++) execute(g, w->bulk_reductions[i]);
    g->n.reductions += w->bulk_count;
    w->bulk_count = 0;
}

/* What the next of `count` will look at. */
static void prefetch(const struct gpudet *g, const uint32_t *serial_order, uint32_t count)
{
    if (count > 4 * PREFETCH) __builtin_prefetch(&g->warps[serial_order[4 * PREFETCH]]);
    if (count > 2 * PREFETCH)
        emu_machine_prefetch(g->m, &g->warps[serial_order[2 * PREFETCH]].who, false);
    if (count > PREFETCH) emu_machine_prefetch(g->m, &g->warps[serial_order[PREFETCH]].who, true);
}

/* In hardware's order, which is that of SMs; with serial=any as they arrive. */
void gpudet_serial_run(struct gpudet *g)
{
    uint32_t n = 0, last = UINT32_MAX;
    GPUDET_EACH(i, g->serial.warps, g->warp_count)
    {
        gpudet_set_remove(g->serial.warps, (uint32_t)i);
        g->serial.order[n++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < n && g->options.serial == GPUDET_SERIAL_ANY; i++) {
        const uint32_t k = i + gpudet_below(g, n - i), x = g->serial.order[k];
        g->serial.order[k] = g->serial.order[i];
        g->serial.order[i] = x;
    }
    g->n.serial++;
    g->serial.any = false;
    g->serial.observed_count = g->serial.observed ? n : 0;
    g->serial.observed_next = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct gpudet_warp *w = &g->warps[g->serial.order[i]];
        if (g->fast.stores_in_place) prefetch(g, g->serial.order + i, n - i);
        g->n.rounds += g->options.serial == GPUDET_WARP || w->who.sm != last;
        last = w->who.sm;
        run_atomics(g, w);
    }
}

static void free_list(struct gpudet_request **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) free(list[i]);
    free(list);
}

void gpudet_serial_free(struct gpudet_warp *w)
{
    free_list(w->requests, w->request_capacity);
    free_list(w->bulk_reductions, w->bulk_capacity);
}
