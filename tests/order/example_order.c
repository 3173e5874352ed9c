/* A memory order in one file: round-robin. Warps issue one event each in turn, and the stores of a warp become visible
 * when it next loads, synchronises or ends. docs/orders.md builds this file step by step. */
#include "determinism/orders.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 32, STORES = 4096 };

struct round_robin {
    struct emu_order order;
    struct emu_machine *m;
    uint64_t turn; /* the warp that issued last: its CTA * warps of a CTA + its number */
    uint32_t warps, count;
    struct store {
        struct emu_issuer by;
        uint64_t address;
        uint32_t size;
        uint8_t data[64];
    } stores[STORES]; /* buffered, oldest first */
};

static void begin(void *self, struct emu_machine *m)
{
    struct round_robin *r = self;
    r->m = m;
    r->warps = emu_machine_shape(m).warps_per_cta;
    r->turn = UINT64_MAX;
    r->count = 0;
}

/* The ready warp that follows the last one. */
static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct round_robin *r = self;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = (uint64_t)ready[i].cta * r->warps + ready[i].warp,
                       best = (uint64_t)ready[next].cta * r->warps + ready[next].warp;
        if (number - r->turn - 1 < best - r->turn - 1) next = i; /* modulo 2^64 */
    }
    r->turn = (uint64_t)ready[next].cta * r->warps + ready[next].warp;
    *burst = 1;
    return (int)next;
}

/* Writes the buffered stores of a warp to memory; NULL: of all warps. */
static void drain(struct round_robin *r, const struct emu_warp *who)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct store *s = &r->stores[i];
        if (!who || (s->by.cta == who->cta && s->by.warp == who->warp))
            emu_machine_store(r->m, s->by, s->address, s->data, s->size);
        else r->stores[left++] = *s;
    }
    r->count = left;
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct round_robin *r = self;
    if (a->kind != EMU_STORE || a->space != PTX_SPACE_GLOBAL || a->flags) {
        drain(r, a->who);
        return EMU_PROCEED;
    }
    if (r->count > STORES - LANES) drain(r, NULL);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!(a->lanes >> lane & 1)) continue;
        struct store *s = &r->stores[r->count++];
        *s = (struct store){emu_issuer(a), a->address[lane], (uint32_t)a->width * a->count, {0}};
        memcpy(s->data, a->data + (size_t)a->stride * lane, s->size);
    }
    return EMU_DONE;
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    drain(self, s->who);
    return EMU_PROCEED;
}

static struct emu_order *make(const void *options, uint64_t seed)
{
    (void)options, (void)seed;
    struct round_robin *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->order = (struct emu_order){.self = r,
                                  .name = "round-robin",
                                  .stack_only = true,
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                  .step = EMU_STEP_EVENT,
                                  .begin = begin,
                                  .pick = pick,
                                  .access = access,
                                  .sync = sync};
    return &r->order;
}

static void release(struct emu_order *o)
{
    free(o->self);
}

extern const struct order_kind round_robin_kind;
const struct order_kind round_robin_kind = {.name = "round-robin",
                                            .what = "warps in turn, stores visible late",
                                            .stack_only = true,
                                            .make = make,
                                            .free = release};
