/* Serial mode of gpudet: the atomics that ended parallel modes, one warp after another. */
#include "determinism/gpudet_parts.h"

#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

static void take(struct gpudet_request *r, const struct emu_access *a)
{
    const uint32_t size = a->op == ATOMIC_CAS ? 32u + a->width : (uint32_t)a->width * a->count;
    r->serial = a->who->serial;
    r->pc = a->pc;
    r->lanes = a->lanes;
    r->kind = a->kind, r->op = a->op, r->type = a->type, r->width = a->width, r->count = a->count;
    r->size = size;
    r->done = r->taken = false;
    r->by = emu_author(a);
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        r->address[l] = a->address[l];
        memcpy(r->data + size * l, a->data + (size_t)a->stride * l, size);
    }
}

static bool is_of(const struct gpudet_request *r, const struct emu_access *a)
{
    return r->pc == a->pc && r->serial == a->who->serial;
}

static struct gpudet_request *new_request(struct gpudet_warp *w)
{
    if (w->asked == w->request_count) {
        w->requests = realloc(w->requests, (w->request_count + 1) * sizeof(void *));
        if (!w->requests) abort();
        w->requests[w->request_count] = malloc(sizeof **w->requests);
        if (!w->requests[w->request_count++]) abort();
    }
    return w->requests[w->asked++];
}

/* One that is told of in pieces sleeps at each of them: earlier ones are still there, done. */
enum emu_verdict gpudet_serial_ask(struct gpudet *g, struct gpudet_warp *w,
                                   const struct emu_access *a)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->asked; i++) {
        struct gpudet_request *r = w->requests[i];
        if (is_of(r, a) && r->done && r->lanes == a->lanes) {
            for (uint32_t m = a->result ? a->lanes : 0; m; m &= m - 1) {
                const uint32_t l = (uint32_t)__builtin_ctz(m);
                memcpy(a->result + (size_t)a->stride * l, r->old + r->size * l, size);
            }
            r->taken = true;
            return EMU_DONE;
        }
        if (r->taken && !is_of(r, a)) continue; /* of an instruction that is over */
        w->requests[i] = w->requests[kept];
        w->requests[kept++] = r;
    }
    w->asked = kept;
    g->askers[g->asker_count++] = (uint32_t)(w - g->warps);
    take(new_request(w), a);
    return EMU_SLEEP;
}

void gpudet_serial_later(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a)
{
    if (!w->later_count) g->askers[g->asker_count++] = (uint32_t)(w - g->warps);
    w->later = gpudet_grow(w->later, w->later_count + 1, &w->later_cap, sizeof *w->later);
    take(&w->later[w->later_count++], a);
    w->stored = true;
}

static void carry_out(struct gpudet *g, struct gpudet_request *r)
{
    for (uint32_t m = r->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t k = 0; k < r->count; k++) {
            const uint32_t o = k * r->width, at = r->size * l + o;
            emu_machine_reduce(g->m, r->by, r->address[l] + o, r->op, r->type, r->data + at,
                               r->old + at);
        }
    }
    r->done = true;
}

static void serve(struct gpudet *g, struct gpudet_warp *w)
{
    for (uint32_t i = 0; i < w->asked; i++) {
        if (w->requests[i]->done) continue;
        carry_out(g, w->requests[i]);
        g->n.atomics++;
    }
    for (uint32_t i = 0; i < w->later_count; i++) carry_out(g, &w->later[i]);
    g->n.reductions += w->later_count;
    w->later_count = 0;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* In hardware's order, which is that of SMs; with serial=any as they arrive. */
void gpudet_serial_run(struct gpudet *g)
{
    const uint32_t n = g->asker_count;
    uint32_t *list = g->askers, last = UINT32_MAX;
    if (!n) return;
    qsort(list, n, sizeof *list, by_number);
    for (uint32_t i = 0; i < n && g->options.serial == GPUDET_SERIAL_ANY; i++) {
        const uint32_t k = i + gpudet_below(g, n - i), x = list[k];
        list[k] = list[i];
        list[i] = x;
    }
    g->n.serial++;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t sm = gpudet_slot_of(g, list[i]) % g->shape.sms;
        if (i && list[i] == list[i - 1]) continue; /* an atomic, and reductions by copies */
        g->n.rounds += g->options.serial == GPUDET_WARP || sm != last;
        last = sm;
        serve(g, &g->warps[list[i]]);
    }
    g->asker_count = 0;
}
