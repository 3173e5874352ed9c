/* See gpudet_reference.h. Where warps can meet, those of a CTA run in turn, each up to where it stops. */
#include "tests/oracles/gpudet_reference.h"

#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 256, MOST_WARPS = 32, MOST_CTAS = 1024 };
enum { NOBODY, RUNS, AT_BARRIER, ENDED };

struct warp {
    int state;
    unsigned used; /* in this quantum */
    bool seen;     /* it has issued: last_serial says how many */
    uint64_t last_serial;
    bool stored, once;       /* once: goes on where it ended the quantum */
    bool results;            /* of an atomic are there */
    uint8_t *memory, *wrote; /* its own copy, and which bytes it stored */
    struct emu_access atomic;
    uint64_t address[32];
    uint8_t data[32 * 64], old[32 * 64];
    struct emu_warp who;
};
struct reference {
    struct emu_order order;
    uint32_t quantum, size;
    uint64_t buffer;
    bool bta, dwp;
    struct emu_machine *m;
    struct emu_shape shape;
    struct reference_counts n;
    struct warp *warps[MOST_SLOTS]; /* by slot */
    bool live[MOST_SLOTS];
    unsigned turn[MOST_SLOTS]; /* whose it is */
    bool begun[MOST_CTAS], starts, moved;
    unsigned share[MOST_CTAS]; /* the slot that it is dealt to */
};

static struct warp *warp_of(struct reference *r, const struct emu_warp *who)
{
    return &r->warps[who->slot][who->warp];
}

/* The slots in the order of hardware: SM by SM. */
static uint32_t nth_slot(const struct reference *r, uint32_t n)
{
    const uint32_t per_sm = r->shape.slots / r->shape.sms;
    return n / per_sm + n % per_sm * r->shape.sms;
}

static enum emu_verdict stop(struct reference *r, struct warp *w, uint64_t *why)
{
    ++*why;
    r->moved = true;
    w->state = ENDED;
    w->once = true;
    return EMU_SLEEP;
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

static unsigned chunks_of(const struct reference *r, const struct emu_access *a, unsigned size)
{
    bool hit[1024] = {false};
    unsigned n = 0;
    for (unsigned l = 0; l < 32; l++)
        for (unsigned b = 0; a->lanes >> l & 1 && b < size; b++) {
            bool *h = &hit[(a->address[l] + b) / 128 - r->buffer / 128];
            n += !*h;
            *h = true;
        }
    return n;
}

static unsigned own_chunks(const struct reference *r, const struct warp *w,
                           const struct emu_access *a, unsigned size)
{
    bool hit[1024] = {false};
    unsigned n = 0;
    for (unsigned l = 0; l < 32; l++)
        for (unsigned b = 0; a->lanes >> l & 1 && b < size; b++)
            hit[(a->address[l] + b) / 128 - r->buffer / 128] = true;
    for (unsigned c = 0; c < 1024; c++) {
        bool any = false;
        for (unsigned b = 0; hit[c] && b < 128; b++) {
            const uint64_t at = (r->buffer / 128 + c) * 128 + b - r->buffer;
            any |= at < r->size && w->wrote[at];
        }
        n += any;
    }
    return n;
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct reference *r = self;
    struct warp *w = warp_of(r, a->who);
    const unsigned size = (unsigned)a->width * a->count;
    if (a->space != PTX_SPACE_GLOBAL) return EMU_PROCEED;
    if (a->kind == EMU_ATOMIC || a->kind == EMU_RED) {
        if (w->results) {
            for (unsigned l = 0; a->result && l < 32; l++)
                if (a->lanes >> l & 1) memcpy(a->result + a->stride * l, w->old + 64 * l, size);
            w->results = w->once = false;
            return EMU_DONE;
        }
        w->atomic = *a;
        memcpy(w->address, a->address, sizeof w->address);
        for (unsigned l = 0; l < 32; l++)
            if (a->lanes >> l & 1) memcpy(w->data + 64 * l, a->data + a->stride * l, a->stride);
        return stop(r, w, &r->n.atomic);
    }
    const bool strong = a->flags & (EMU_VOLATILE | EMU_ACQUIRE | EMU_RELEASE | EMU_RELAXED);
    if (strong && !w->once) return stop(r, w, &r->n.strong);
    if (strong) w->once = false;
    if (a->kind == EMU_STORE) r->n.entries += chunks_of(r, a, size);
    else {
        r->n.queries += chunks_of(r, a, size);
        r->n.hits += own_chunks(r, w, a, size);
    }
    for (unsigned l = 0; l < 32; l++)
        for (unsigned b = 0; a->lanes >> l & 1 && b < size; b++) {
            const uint64_t at = a->address[l] + b - r->buffer;
            if (at >= r->size) abort();
            if (a->kind == EMU_LOAD) a->result[a->stride * l + b] = w->memory[at];
            else {
                w->memory[at] = a->data[a->stride * l + b];
                w->wrote[at] = 1;
                w->stored = true;
            }
        }
    return EMU_DONE;
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct reference *r = self;
    struct warp *w = warp_of(r, s->who), *cta = r->warps[s->who->slot];
    const unsigned n = r->shape.warps_per_cta;
    bool stored = false;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (!w->once) return stop(r, w, &r->n.fence);
        w->once = false;
        break;
    case EMU_SYNC_BARRIER:
        r->moved = true;
        w->state = AT_BARRIER;
        break;
    case EMU_SYNC_BARRIER_DONE:
        for (unsigned i = 0; i < n; i++) stored |= cta[i].stored;
        if (r->bta && !stored) r->n.passed++;
        else r->n.held++;
        for (unsigned i = 0; i < n; i++)
            if (cta[i].state == AT_BARRIER) {
                cta[i].state = r->bta && !stored ? RUNS : ENDED;
                r->n.barrier += cta[i].state == ENDED;
            }
        break;
    case EMU_SYNC_CTA_START:
        r->live[s->who->slot] = r->moved = true;
        r->turn[s->who->slot] = 0;
        for (unsigned i = 0; i < n; i++) {
            cta[i].state = RUNS;
            cta[i].seen = cta[i].stored = cta[i].once = false;
            cta[i].who = *s->who;
            cta[i].who.warp = i;
        }
        break;
    case EMU_SYNC_CTA_EXIT: r->live[s->who->slot] = false; break;
    case EMU_SYNC_WARP_EXIT:
        w->used += (unsigned)(s->who->serial - w->last_serial);
        w->state = NOBODY;
        r->n.exit++;
        r->moved = true;
        break;
    default: break;
    }
    return EMU_PROCEED;
}

/* ---- who goes on ---------------------------------------------------------------------------------------- */

/* One of the CTA that may: where warps meet, the one whose turn it is or comes next. */
static struct warp *next_of(struct reference *r, uint32_t slot)
{
    const unsigned n = r->shape.warps_per_cta;
    for (unsigned k = 0; k < n; k++) {
        const unsigned i = (r->turn[slot] + k) % n;
        if (r->warps[slot][i].state != RUNS) continue;
        r->turn[slot] = i;
        return &r->warps[slot][i];
    }
    return NULL;
}

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct reference *r = self;
    *burst = 1;
    r->starts = false;
    for (uint32_t k = 0; k < r->shape.slots; k++) {
        const uint32_t slot = nth_slot(r, k);
        for (struct warp *w; r->live[slot] && (w = next_of(r, slot)) != NULL;) {
            size_t i = 0;
            while (i < count && (ready[i].slot != slot || ready[i].warp != w->who.warp)) i++;
            if (i == count) abort();
            if (w->seen) w->used += (unsigned)(ready[i].serial - w->last_serial);
            w->last_serial = ready[i].serial;
            w->seen = true;
            if (w->used < r->quantum) return (int)i;
            w->state = ENDED;
            r->n.limit++;
            r->moved = true;
        }
    }
    return -1;
}

static int deal(void *self, const uint32_t *free_slots, size_t count, uint32_t *cta)
{
    struct reference *r = self;
    if (!r->dwp && !r->starts) return -1;
    for (size_t i = 0; i < (r->dwp ? count : 1); i++)
        for (uint32_t c = 0; c < r->shape.ctas; c++)
            if (!r->begun[c] && (!r->dwp || r->share[c] == free_slots[i])) {
                r->begun[c] = true;
                *cta = c;
                return (int)i;
            }
    return -1;
}

/* The n-th slot in the order in which CTAs are dealt: the free ones, then the others. */
static uint32_t dealt_to(const struct reference *r, uint32_t n)
{
    for (int live = 0; live < 2; live++)
        for (uint32_t s = 0; s < r->shape.slots; s++)
            if (r->live[s] == (bool)live && !n--) return s;
    abort();
}

static void share_out(struct reference *r)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < r->shape.ctas; c++)
        if (!r->begun[c]) r->share[c] = dealt_to(r, n++ % r->shape.slots);
}

#define EACH_WARP(r, w)                                                                            \
    for (uint32_t k_ = 0; k_ < (r)->shape.slots; k_++)                                             \
        for (struct warp *w = (r)->warps[nth_slot((r), k_)], *e_ = w + (r)->shape.warps_per_cta;   \
             w < e_; w++)

static bool idle(void *self)
{
    struct reference *r = self;
    EACH_WARP(r, w) r->n.barrier += w->state == AT_BARRIER;
    if (!r->moved) return false;
    r->n.quanta++;
    for (uint32_t b = 0; b < r->size; b++) { /* the first warp that wrote the byte */
        bool done = false;
        EACH_WARP(r, w)
        {
            if (w->wrote[b] && !done)
                emu_machine_store(r->m, (struct emu_issuer){0}, r->buffer + b, w->memory + b, 1);
            done |= w->wrote[b];
        }
    }
    EACH_WARP(r, w)
    {
        const struct emu_access *a = &w->atomic;
        if (!a->lanes) continue;
        r->n.atomics++;
        for (unsigned l = 0; l < 32; l++)
            if (a->lanes >> l & 1)
                emu_machine_reduce(r->m, (struct emu_issuer){0}, w->address[l], a->op, a->type,
                                   w->data + 64 * l, w->old + 64 * l);
        w->atomic.lanes = 0;
        w->results = true;
    }
    EACH_WARP(r, w)
    {
        emu_machine_load(r->m, r->buffer, w->memory, r->size);
        memset(w->wrote, 0, r->size);
        w->used = 0;
        w->seen = w->stored = false;
        if (w->state == ENDED) {
            w->state = RUNS;
            emu_machine_wake(r->m, &w->who);
        }
    }
    for (uint32_t s = 0; s < r->shape.slots; s++) r->turn[s] = 0;
    share_out(r);
    r->moved = false;
    r->starts = true;
    emu_machine_place_ctas(r->m);
    r->starts = false;
    return true;
}

static void begin(void *self, struct emu_machine *m)
{
    struct reference *r = self;
    r->m = m;
    r->shape = emu_machine_shape(m);
    if (r->shape.slots > MOST_SLOTS || r->shape.ctas > MOST_CTAS) abort();
    r->starts = true;
    for (uint32_t s = 0; s < r->shape.slots; s++) {
        r->warps[s] = calloc(r->shape.warps_per_cta, sizeof(struct warp));
        for (uint32_t i = 0; i < r->shape.warps_per_cta; i++) {
            r->warps[s][i].memory = malloc(r->size);
            r->warps[s][i].wrote = calloc(1, r->size);
            emu_machine_load(m, r->buffer, r->warps[s][i].memory, r->size);
        }
    }
    share_out(r);
}

struct reference *reference_new(uint32_t quantum, bool bta, bool dwp, uint64_t buffer,
                                uint32_t size)
{
    struct reference *r = calloc(1, sizeof *r);
    r->quantum = quantum;
    r->bta = bta;
    r->dwp = dwp;
    r->buffer = buffer;
    r->size = size;
    r->order = (struct emu_order){.self = r,
                                  .name = "reference",
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                  .step = EMU_STEP_INSTRUCTION,
                                  .begin = begin,
                                  .pick = pick,
                                  .place_any = deal,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle};
    return r;
}

const struct emu_order *reference_order(struct reference *r)
{
    return &r->order;
}

struct reference_counts reference_counted(const struct reference *r)
{
    return r->n;
}

void reference_free(struct reference *r)
{
    for (uint32_t s = 0; s < r->shape.slots; s++) {
        for (uint32_t i = 0; i < r->shape.warps_per_cta; i++) {
            free(r->warps[s][i].memory);
            free(r->warps[s][i].wrote);
        }
        free(r->warps[s]);
    }
    free(r);
}
