/* Store buffers of gpudet: a linear log for each warp, an entry for each chunk of 128 bytes that an instruction
 * stores to, and a Bloom filter that tells loads whether to search it. */
#include "determinism/gpudet_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Bloom filter: sub-arrays, with one hash function each ------------------------------------------- */

static uint32_t bit_of(const struct gpudet *g, uint64_t chunk, uint32_t k)
{
    static const uint64_t factors[] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f),
                                       UINT64_C(0x165667b19e3779f9), UINT64_C(0xd6e8feb86659fd93),
                                       UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53),
                                       UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db)};
    const uint32_t size = g->options.bloom / g->options.subarrays;
    return k * size + (uint32_t)((chunk * factors[k] >> 32) * size >> 32);
}

static void bloom_add(const struct gpudet *g, uint64_t *bloom, uint64_t chunk)
{
    for (uint32_t k = 0; k < g->options.subarrays; k++) {
        const uint32_t b = bit_of(g, chunk, k);
        bloom[b / 64] |= UINT64_C(1) << b % 64;
    }
}

static bool bloom_has(const struct gpudet *g, const uint64_t *bloom, uint64_t chunk)
{
    for (uint32_t k = 0; k < g->options.subarrays; k++) {
        const uint32_t b = bit_of(g, chunk, k);
        if (!(bloom[b / 64] >> b % 64 & 1)) return false;
    }
    return true;
}

static size_t bloom_bytes(const struct gpudet *g)
{
    return (g->options.bloom + 63) / 64 * sizeof(uint64_t);
}

/* ---- the log ------------------------------------------------------------------------------------------ */

bool gpudet_log_fits(const struct gpudet *g, const struct gpudet_log *l)
{
    return !l->count || l->count + 2 * GPUDET_LANES <= g->options.log;
}

void gpudet_log_clear(const struct gpudet *g, struct gpudet_log *l)
{
    if (l->count) memset(l->bloom, 0, bloom_bytes(g));
    l->count = 0;
}

static void append(struct gpudet *g, struct gpudet_warp *w, uint64_t chunk,
                   const struct emu_access *a)
{
    struct gpudet_log *l = &w->log;
    if (!l->count) g->writers[g->writer_count++] = (uint32_t)(w - g->warps);
    if (l->count == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 8;
        l->chunk = realloc(l->chunk, l->cap * sizeof *l->chunk);
        l->entry = realloc(l->entry, l->cap * sizeof *l->entry);
        if (!l->bloom) l->bloom = calloc(1, bloom_bytes(g));
        if (!l->chunk || !l->entry || !l->bloom) abort();
    }
    bloom_add(g, l->bloom, chunk);
    l->chunk[l->count] = chunk;
    struct gpudet_entry *e = &l->entry[l->count++];
    e->mask[0] = e->mask[1] = 0;
    e->by = emu_author(a);
}

static void set_bytes(uint64_t mask[2], uint32_t from, uint32_t size)
{
    while (size) {
        const uint32_t room = 64 - from % 64, n = size < room ? size : room;
        mask[from / 64] |= (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << from % 64;
        from += n;
        size -= n;
    }
}

/* All lanes fill one chunk in order. */
static bool is_whole(const struct emu_access *a, uint32_t size)
{
    const uint64_t first = a->address[0];
    if (a->lanes != ~0u || size != 4 || a->stride != 4 || first % GPUDET_CHUNK) return false;
    uint64_t differ = 0;
    for (uint32_t l = 0; l < GPUDET_LANES; l++) differ |= a->address[l] ^ (first + 4 * l);
    return !differ;
}

void gpudet_log_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a)
{
    const uint32_t size = (uint32_t)a->width * a->count, from = w->log.count;
    struct gpudet_log *const l = &w->log;
    w->stored = true;
    if (is_whole(a, size)) {
        append(g, w, a->address[0] / GPUDET_CHUNK, a);
        struct gpudet_entry *e = &l->entry[from];
        e->mask[0] = e->mask[1] = ~UINT64_C(0);
        memcpy(e->data, a->data, GPUDET_CHUNK);
        return;
    }
    uint32_t at = from; /* the entry of the last lane */
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0, n; o < size; o += n) {
            const uint64_t address = a->address[lane] + o, chunk = address / GPUDET_CHUNK;
            const uint32_t inside = (uint32_t)(address % GPUDET_CHUNK);
            n = size - o < GPUDET_CHUNK - inside ? size - o : GPUDET_CHUNK - inside;
            if (at == l->count || l->chunk[at] != chunk) {
                for (at = from; at < l->count && l->chunk[at] != chunk;) at++;
                if (at == l->count) append(g, w, chunk, a);
            }
            set_bytes(l->entry[at].mask, inside, n);
            memcpy(l->entry[at].data + inside, a->data + (size_t)a->stride * lane + o, n);
        }
    }
}

/* The bytes of an entry over what lanes have loaded. */
static void lay_over(const struct gpudet_entry *e, uint64_t chunk, const struct emu_access *a,
                     uint32_t size)
{
    const uint64_t first = chunk * GPUDET_CHUNK;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint8_t *to = a->result + (size_t)a->stride * lane;
        for (uint32_t o = 0; o < size; o++) {
            const uint64_t at = a->address[lane] + o - first;
            if (at < GPUDET_CHUNK && e->mask[at / 64] >> at % 64 & 1) to[o] = e->data[at];
        }
    }
}

struct chunks { /* of an access, each once */
    uint64_t list[2 * GPUDET_LANES];
    uint32_t count;
};

static void add_chunk(struct chunks *c, uint64_t chunk)
{
    for (uint32_t i = c->count; i-- > 0;)
        if (c->list[i] == chunk) return;
    c->list[c->count++] = chunk;
}

static void find_chunks(const struct emu_access *a, uint32_t size, struct chunks *c)
{
    const uint32_t one = (uint32_t)__builtin_ctz(a->lanes);
    uint64_t differ = 0;
    c->count = 1;
    c->list[0] = a->address[one] / GPUDET_CHUNK;
    if (a->lanes == ~0u)
        for (uint32_t l = 0; l < GPUDET_LANES; l++)
            differ |= (a->address[l] / GPUDET_CHUNK ^ c->list[0]) |
                      ((a->address[l] + size - 1) / GPUDET_CHUNK ^ c->list[0]);
    else differ = 1;
    if (!differ) return;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        add_chunk(c, a->address[l] / GPUDET_CHUNK);
        add_chunk(c, (a->address[l] + size - 1) / GPUDET_CHUNK);
    }
}

bool gpudet_log_load(struct gpudet *g, const struct gpudet_warp *w, const struct emu_access *a)
{
    const struct gpudet_log *const l = &w->log;
    const uint32_t size = (uint32_t)a->width * a->count;
    struct chunks c;
    bool found = false;
    find_chunks(a, size, &c);
    g->n.queries += c.count;
    for (uint32_t i = 0; l->count && i < c.count; i++) {
        bool here = false;
        if (!bloom_has(g, l->bloom, c.list[i])) continue;
        g->n.hits++;
        g->n.walked += l->count;
        for (uint32_t k = 0; k < l->count; k++) {
            if (l->chunk[k] != c.list[i]) continue;
            if (!found) emu_machine_fetch(g->m, a);
            found = here = true;
            lay_over(&l->entry[k], c.list[i], a, size);
        }
        g->n.false_hits += !here;
    }
    return found;
}
