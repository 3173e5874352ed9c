/* A fast path of GPUDet: in-place stores with an undo log, for launches in which write logs are not observable.
 *
 * The stores of the running warp are in memory, so that its loads need no search. The undo log has the previous bytes.
 * When another warp runs, the stores are undone, and the log has the stored bytes instead; when the first warp runs
 * again, its stores are redone. Each store is exchanged by itself, oldest first to redo and newest first to undo, so
 * stores to the same bytes may follow each other.
 *
 * gpudet.c and fast.c call these functions. The entries of the write log are counted only as far as its capacity
 * requires. */
#include "determinism/gpudet/internal.h"

#include <string.h>

struct gpudet_undo {                    /* its pieces: bytes that lie side by side */
    struct gpudet_undo *before, *after; /* of the warp */
    uint32_t count, size;               /* pieces, bytes of each */
    uint32_t chunks;                    /* that it goes to, */
    bool exact;                         /* or at most so many */
    uint8_t *at[];                      /* each piece on the host; behind them their bytes */
};

static uint8_t *bytes_of(struct gpudet_undo *s)
{
    return (uint8_t *)(s->at + s->count);
}

/* The usual sizes at once. */
static void copy(uint8_t *to, const uint8_t *from, uint32_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case GPUDET_CHUNK: memcpy(to, from, GPUDET_CHUNK); break;
    default: memcpy(to, from, size);
    }
}

static void exchange(uint8_t *a, uint8_t *b, uint32_t size)
{
    uint8_t was[GPUDET_CHUNK];
    for (uint32_t n; size; size -= n, a += n, b += n) {
        n = size < GPUDET_CHUNK ? size : GPUDET_CHUNK;
        copy(was, a, n);
        copy(a, b, n);
        copy(b, was, n);
    }
}

/* ---- stores ------------------------------------------------------------------------------------------- */

/* How many chunks lanes store to: none lies across two if it is as large as its alignment is. */
static uint32_t most_chunks(const struct gpudet_undo *s)
{
    uint64_t low = s->size - 1, bits = s->size & low ? 1 : 0;
    for (uint32_t i = 0; i < s->count; i++) bits |= (uintptr_t)s->at[i] & low;
    return bits ? 2 * s->count : s->count;
}

void gpudet_in_place_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a)
{
    struct gpudet_log *l = &w->log;
    const uint32_t lane = (uint32_t)a->width * a->count,
                   lanes = (uint32_t)__builtin_popcount(a->lanes),
                   count = a->contiguous ? 1 : lanes;
    struct gpudet_undo *s = gpudet_arena_alloc(&g->arena, sizeof *s + count * sizeof *s->at +
                                                              (size_t)lanes * lane);
    *s = (struct gpudet_undo){.before = l->last,
                              .count = count,
                              .size = a->contiguous ? lanes * lane : lane,
                              .exact = a->contiguous};
    emu_machine_lane_pointers(g->m, a, s->at);
    uint8_t *to = bytes_of(s);
    if (s->size == 4)
        for (uint32_t i = 0; i < count; i++, to += 4) memcpy(to, s->at[i], 4);
    else
        for (uint32_t i = 0; i < count; i++, to += s->size) copy(to, s->at[i], s->size);
    const uintptr_t first = (uintptr_t)s->at[0];
    s->chunks = a->contiguous
                    ? (uint32_t)((first + s->size - 1) / GPUDET_CHUNK - first / GPUDET_CHUNK + 1)
                    : most_chunks(s);
    if (l->last) l->last->after = s;
    else {
        l->first = s;
        g->writers[g->writer_count++] = w->number;
    }
    l->last = s;
    l->count += s->chunks;
    w->stored = true;
}

/* The host has chunks where the device has them: its pages are the device's. */
static uint32_t exact_chunks(const struct gpudet_undo *s)
{
    uint64_t address[GPUDET_LANES];
    for (uint32_t i = 0; i < s->count; i++) address[i] = (uintptr_t)s->at[i];
    return gpudet_log_chunks(
        &(struct emu_access){.width = (uint8_t)s->size,
                             .count = 1,
                             .stride = s->size,
                             .lanes = (uint32_t)((UINT64_C(1) << s->count) - 1),
                             .address = address});
}

uint32_t gpudet_in_place_entries(struct gpudet_log *l)
{
    for (struct gpudet_undo *s = l->last; s; s = s->before) {
        if (s->exact) continue;
        const uint32_t chunks = exact_chunks(s);
        l->count -= s->chunks - chunks;
        s->chunks = chunks;
        s->exact = true;
    }
    return l->count;
}

/* ---- whose stores are in memory ------------------------------------------------------------------------- */

/* Lanes' words, or pairs of them. */
static inline __attribute__((always_inline)) void exchange_one(uint8_t *a, uint8_t *b,
                                                               const uint32_t size)
{
    uint64_t was = 0, is = 0;
    memcpy(&was, a, size);
    memcpy(&is, b, size);
    memcpy(a, &is, size);
    memcpy(b, &was, size);
}

static void undo(struct gpudet_log *l)
{
    for (struct gpudet_undo *s = l->last; s; s = s->before) {
        uint8_t *bytes = bytes_of(s) + (size_t)s->count * s->size;
        if (s->before) __builtin_prefetch(s->before);
        if (s->size == 4)
            for (uint32_t i = s->count; i--;) exchange_one(s->at[i], bytes -= 4, 4);
        else if (s->size == 8)
            for (uint32_t i = s->count; i--;) exchange_one(s->at[i], bytes -= 8, 8);
        else
            for (uint32_t i = s->count; i--;) exchange(s->at[i], bytes -= s->size, s->size);
    }
}

static void redo(struct gpudet_log *l)
{
    for (struct gpudet_undo *s = l->first; s; s = s->after) {
        uint8_t *bytes = bytes_of(s);
        if (s->size == 4)
            for (uint32_t i = 0; i < s->count; i++, bytes += 4) exchange_one(s->at[i], bytes, 4);
        else if (s->size == 8)
            for (uint32_t i = 0; i < s->count; i++, bytes += 8) exchange_one(s->at[i], bytes, 8);
        else
            for (uint32_t i = 0; i < s->count; i++, bytes += s->size)
                exchange(s->at[i], bytes, s->size);
    }
}

void gpudet_in_place_switch(struct gpudet *g, struct gpudet_warp *w)
{
    if (g->fast.in_memory == w) return;
    if (g->fast.in_memory) undo(&g->fast.in_memory->log);
    g->fast.in_memory = w;
    if (w) redo(&w->log);
}

void gpudet_in_place_commit(const struct gpudet_log *l)
{
    for (struct gpudet_undo *s = l->first; s; s = s->after) {
        const uint8_t *bytes = bytes_of(s);
        if (s->size == 4)
            for (uint32_t i = 0; i < s->count; i++, bytes += 4) memcpy(s->at[i], bytes, 4);
        else if (s->size == 8)
            for (uint32_t i = 0; i < s->count; i++, bytes += 8) memcpy(s->at[i], bytes, 8);
        else
            for (uint32_t i = 0; i < s->count; i++, bytes += s->size)
                copy(s->at[i], bytes, s->size);
    }
}
