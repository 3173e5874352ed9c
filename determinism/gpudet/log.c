/* Store buffers of GPUDet (thesis 4.3): a linear write log for each warp, with one entry for each chunk of 128 bytes
 * that an instruction stores to, and a Bloom filter by which loads know whether to search it
 * (determinism/hardware/write_log.h).
 *
 * gpudet.c calls this file to log stores and to read a load's value. commit.c and fast.c empty the logs. The emulator
 * finds a chunk's newest entry in an index; hardware searches the log, and the entries that it would compare are
 * counted. */
#include "determinism/gpudet/internal.h"

#include <string.h>

static uint64_t *new_bloom(struct gpudet *g)
{
    const size_t bytes = bloom_words(g->options.bloom) * sizeof(uint64_t);
    return memset(gpudet_arena_alloc(&g->arena, bytes), 0, bytes);
}

/* ---- an access, cut at chunks ------------------------------------------------------------------------- */

enum { MOST_PIECES = WRITE_LOG_MOST_CHUNKS, SEEN = 256 };
struct piece { /* bytes of one chunk that lie side by side in the access's data, too */
    uint8_t number, at, size; /* which of the chunks; where in it */
    uint32_t offset;          /* in the data */
};
struct cut {
    uint64_t chunk[MOST_PIECES]; /* each once, in order of lanes */
    struct piece piece[MOST_PIECES];
    uint32_t count, piece_count;
    uint8_t seen[SEEN]; /* by hash: 1 + place in `chunk` */
};

static uint8_t chunk_index(struct cut *c, uint64_t chunk)
{
    uint32_t i = (uint32_t)(chunk * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    for (; c->seen[i]; i = (i + 1) % SEEN)
        if (c->chunk[c->seen[i] - 1] == chunk) return (uint8_t)(c->seen[i] - 1);
    c->chunk[c->count] = chunk;
    c->seen[i] = (uint8_t)++c->count;
    return (uint8_t)(c->count - 1);
}

/* The part of the bytes at the address that lies in its chunk. */
static struct piece piece_at(uint64_t address, uint32_t size, uint32_t offset)
{
    const uint32_t at = (uint32_t)(address % GPUDET_CHUNK), left = GPUDET_CHUNK - at;
    return (struct piece){
        .at = (uint8_t)at, .size = (uint8_t)(size < left ? size : left), .offset = offset};
}

static void cut_run(struct cut *c, uint64_t address, uint32_t size)
{
    for (uint32_t o = 0; o < size; o += c->piece[c->count++].size) {
        c->chunk[c->count] = (address + o) / GPUDET_CHUNK;
        c->piece[c->count] = piece_at(address + o, size - o, o);
        c->piece[c->count].number = (uint8_t)c->count;
    }
    c->piece_count = c->count;
}

static void cut_lanes(struct cut *c, const struct emu_access *a, uint32_t size)
{
    uint64_t last = UINT64_MAX;
    uint8_t number = 0;
    memset(c->seen, 0, sizeof c->seen);
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0; o < size;) {
            const uint64_t address = a->address[lane] + o, chunk = address / GPUDET_CHUNK;
            struct piece *p = &c->piece[c->piece_count++];
            *p = piece_at(address, size - o, a->stride * lane + o);
            if (chunk != last) number = chunk_index(c, chunk);
            last = chunk;
            p->number = number;
            o += p->size;
        }
    }
}

static void cut_access(struct cut *c, const struct emu_access *a)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    c->count = c->piece_count = 0;
    if (a->contiguous && a->stride == size) cut_run(c, a->address[0], GPUDET_LANES * size);
    else cut_lanes(c, a, size);
}

/* The usual sizes at once. */
static void copy(uint8_t *to, const uint8_t *from, uint32_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case GPUDET_CHUNK / 2: memcpy(to, from, GPUDET_CHUNK / 2); break;
    case GPUDET_CHUNK: memcpy(to, from, GPUDET_CHUNK); break;
    default:
        for (uint32_t i = 0; i < size; i++) to[i] = from[i];
    }
}

/* ---- the log ------------------------------------------------------------------------------------------ */

uint32_t gpudet_log_chunks(const struct emu_access *a)
{
    struct cut c;
    cut_access(&c, a);
    return c.count;
}

static struct gpudet_entry *append(struct gpudet *g, struct gpudet_warp *w, uint64_t chunk,
                                   uint32_t first, uint32_t end, const struct emu_issuer *by)
{
    struct gpudet_log *l = &w->log;
    struct gpudet_entry *e = gpudet_arena_alloc(&g->arena, sizeof *e + end - first);
    *e = (struct gpudet_entry){.chunk = chunk, .by = by, .first = first};
    const uint64_t low = chunk * GPUDET_CHUNK, high = low + GPUDET_CHUNK;
    if (!l->count++) {
        l->oldest = e;
        l->low = low, l->high = high;
        if (g->counted) l->bloom = new_bloom(g);
        g->writers[g->writer_count++] = w->number;
    } else l->newest->next = e;
    if (low < l->low) l->low = low;
    if (high > l->high) l->high = high;
    l->newest = e;
    if (l->bloom) bloom_add(&g->bloom, l->bloom, chunk);
    return e;
}

static void set_bytes(uint64_t mask[2], uint32_t from, uint32_t size)
{
    while (size) {
        const uint32_t left = 64 - from % 64, n = size < left ? size : left;
        mask[from / 64] |= (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << from % 64;
        from += n;
        size -= n;
    }
}

void gpudet_log_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a)
{
    struct gpudet_entry *entry[MOST_PIECES];
    uint8_t first[MOST_PIECES], end[MOST_PIECES] = {0};
    struct emu_issuer *by = gpudet_arena_alloc(&g->arena, sizeof *by);
    struct cut c;
    memset(first, GPUDET_CHUNK, sizeof first);
    cut_access(&c, a);
    for (const struct piece *p = c.piece; p < c.piece + c.piece_count; p++) {
        if (p->at < first[p->number]) first[p->number] = p->at;
        if (p->at + p->size > end[p->number]) end[p->number] = (uint8_t)(p->at + p->size);
    }
    *by = emu_issuer(a);
    for (uint32_t i = 0; i < c.count; i++)
        entry[i] = append(g, w, c.chunk[i], first[i], end[i], by);
    for (const struct piece *p = c.piece; p < c.piece + c.piece_count; p++) {
        struct gpudet_entry *e = entry[p->number];
        set_bytes(e->mask, p->at, p->size);
        copy(e->data + (p->at - e->first), a->data + p->offset, p->size);
    }
    w->stored = true;
}

/* ---- loads -------------------------------------------------------------------------------------------- */

/* Where the chunk's newest entry is in the index, or would be. */
static struct gpudet_entry **index_place(const struct gpudet_log *l, uint64_t chunk)
{
    uint32_t i = (uint32_t)(chunk * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (l->index_size - 1);
    while (l->index[i] && l->index[i]->chunk != chunk) i = (i + 1) & (l->index_size - 1);
    return &l->index[i];
}

static void complete_index(struct gpudet *g, struct gpudet_log *l)
{
    if (2 * l->count > l->index_size) {
        l->index_size = 16;
        while (l->index_size < 4 * l->count) l->index_size *= 2;
        const size_t bytes = l->index_size * sizeof *l->index;
        l->index = memset(gpudet_arena_alloc(&g->arena, bytes), 0, bytes);
        l->indexed = NULL;
    }
    for (struct gpudet_entry *e = l->indexed ? l->indexed->next : l->oldest; e; e = e->next) {
        struct gpudet_entry **place = index_place(l, e->chunk);
        struct gpudet_entry *const same = e->same = *place;
        for (uint32_t h = 0; h < 2; h++) e->older[h] = same ? same->mask[h] | same->older[h] : 0;
        *place = l->indexed = e;
    }
}

/* The newest entry of the chunk, or NULL. */
static const struct gpudet_entry *query(struct gpudet *g, const struct gpudet_log *l,
                                        uint64_t chunk)
{
    if (l->bloom && !bloom_may_have(&g->bloom, l->bloom, chunk)) return NULL;
    const struct gpudet_entry *e = *index_place(l, chunk);
    g->n.hits++;
    g->n.walked += l->count;
    g->n.false_hits += !e;
    return e;
}

/* What the entry and those before it have of these bytes of their chunk. */
static void copy_stored_bytes(const struct gpudet_entry *e, const struct piece *p, uint8_t *to)
{
    uint64_t want[2] = {0};
    uint32_t from, n;
    set_bytes(want, p->at, p->size);
    for (; e && want[0] | want[1]; e = e->same) {
        uint64_t have[2] = {want[0] & e->mask[0], want[1] & e->mask[1]};
        want[0] ^= have[0], want[1] ^= have[1];
        while (gpudet_take_run(have, &from, &n))
            copy(to + (from - p->at), e->data + (from - e->first), n);
        want[0] &= e->older[0], want[1] &= e->older[1];
    }
}

/* Whether any lane reads what lies between the first and the last byte of the log. */
static bool overlaps_log(const struct gpudet_log *l, const struct emu_access *a)
{
    const uint64_t size = (uint64_t)a->width * a->count, low = l->low - size, span = l->high - low;
    if (!l->count) return false;
    if (a->contiguous)
        return a->address[0] + GPUDET_LANES * size > l->low && a->address[0] < l->high;
    uint32_t near = 0;
    for (uint32_t i = 0; i < GPUDET_LANES; i++)
        near |= (uint32_t)(a->address[i] - low - 1 < span - 1) << i;
    return near & a->lanes;
}

bool gpudet_log_load(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a)
{
    const struct gpudet_entry *newest[MOST_PIECES];
    struct cut c;
    bool found = false;
    if (!g->counted && !overlaps_log(&w->log, a)) return false;
    cut_access(&c, a);
    g->n.queries += c.count;
    if (!w->log.count) return false;
    complete_index(g, &w->log);
    for (uint32_t i = 0; i < c.count; i++) {
        newest[i] = query(g, &w->log, c.chunk[i]);
        found |= newest[i] != NULL;
    }
    if (!found) return false;
    emu_machine_fetch(g->m, a);
    for (const struct piece *p = c.piece; p < c.piece + c.piece_count; p++)
        copy_stored_bytes(newest[p->number], p, a->result + p->offset);
    return true;
}
