/* Store buffers of warps: one array of all stores, oldest first. */
#include "determinism/store_buffers.h"

#include "base/rng.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { STORES = 256, LANES = 32, STORE_BYTES = 32 };

struct store_buffers {
    struct emu_machine *m;
    uint64_t *state;
    uint32_t drain_one_in, count;
    struct store { /* of one lane */
        struct emu_issuer by;
        uint64_t address;
        uint32_t size;
        uint8_t data[STORE_BYTES];
    } stores[STORES];
};

struct store_buffers *store_buffers_new(void)
{
    struct store_buffers *b = calloc(1, sizeof *b);
    if (!b) abort();
    return b;
}

void store_buffers_free(struct store_buffers *b)
{
    free(b);
}

void store_buffers_begin(struct store_buffers *b, struct emu_machine *m, uint32_t drain_one_in,
                         uint64_t *state)
{
    b->m = m;
    b->state = state;
    b->drain_one_in = drain_one_in;
    b->count = 0;
}

static bool is_of(const struct store *s, const struct emu_warp *who)
{
    return s->by.cta == who->cta && s->by.warp == who->warp;
}

static void drain_at(struct store_buffers *b, uint32_t i)
{
    const struct store s = b->stores[i];
    memmove(&b->stores[i], &b->stores[i + 1], (--b->count - i) * sizeof s);
    emu_machine_store(b->m, s.by, s.address, s.data, s.size);
}

static void drain_warp(struct store_buffers *b, const struct emu_warp *who)
{
    for (uint32_t i = 0; i < b->count;)
        if (is_of(&b->stores[i], who)) drain_at(b, i);
        else i++;
}

bool store_buffers_drain(struct store_buffers *b)
{
    const bool any = b->count;
    while (b->count) drain_at(b, 0);
    return any;
}

void store_buffers_lose(struct store_buffers *b)
{
    b->count = 0;
}

/* The oldest store of the warp that some store, chosen by chance, is of. */
void store_buffers_step(struct store_buffers *b)
{
    if (!b->count || rng_below(b->state, b->drain_one_in)) return;
    const struct emu_issuer by = b->stores[rng_below(b->state, b->count)].by;
    const struct emu_warp who = {.cta = by.cta, .warp = by.warp};
    uint32_t i = 0;
    while (!is_of(&b->stores[i], &who)) i++;
    drain_at(b, i);
}

static bool buffer(struct store_buffers *b, const struct emu_access *a)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    if (size > STORE_BYTES) return false;
    while (b->count > STORES - LANES) drain_at(b, 0);
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        struct store *s = &b->stores[b->count++];
        *s = (struct store){.by = emu_issuer(a), .address = a->address[l], .size = size};
        memcpy(s->data, a->data + (size_t)a->stride * l, size);
    }
    return true;
}

/* The bytes of the store that lane l loads. */
static void forward_to(const struct store *s, const struct emu_access *a, uint32_t l)
{
    const uint64_t from = a->address[l], to = from + (uint64_t)a->width * a->count,
                   first = from > s->address ? from : s->address,
                   last = to < s->address + s->size ? to : s->address + s->size;
    if (first < last)
        memcpy(a->result + (size_t)a->stride * l + (first - from), s->data + (first - s->address),
               last - first);
}

static enum emu_verdict load(struct store_buffers *b, const struct emu_access *a)
{
    bool fetched = false;
    for (uint32_t i = 0; i < b->count; i++) {
        if (!is_of(&b->stores[i], a->who)) continue;
        if (!fetched) emu_machine_fetch(b->m, a);
        fetched = true;
        for (uint32_t m = a->lanes; m; m &= m - 1)
            forward_to(&b->stores[i], a, (uint32_t)__builtin_ctz(m));
    }
    return fetched ? EMU_DONE : EMU_PROCEED;
}

enum emu_verdict store_buffers_access(struct store_buffers *b, const struct emu_access *a)
{
    const bool plain = a->space == PTX_SPACE_GLOBAL && !(a->flags & EMU_ASYNC);
    store_buffers_step(b);
    if (a->kind == EMU_LOAD && plain && !(a->flags & EMU_NONCOHERENT)) return load(b, a);
    if (a->kind == EMU_LOAD && !plain && !(a->flags & EMU_ASYNC)) return EMU_PROCEED; /* shared */
    if (a->kind == EMU_STORE && plain && !(a->flags & EMU_NONCOHERENT) && buffer(b, a))
        return EMU_DONE;
    drain_warp(b, a->who);
    return EMU_PROCEED;
}

void store_buffers_sync(struct store_buffers *b, const struct emu_sync *s)
{
    const bool weak_fence = s->kind == EMU_SYNC_FENCE && !s->sc && !s->op;
    const bool ends = s->kind == EMU_SYNC_WARP_EXIT || s->kind == EMU_SYNC_CTA_EXIT;
    if (!weak_fence && !ends && b->count) drain_warp(b, s->who);
}
