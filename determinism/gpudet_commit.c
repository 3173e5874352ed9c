/* Commit mode of gpudet: the entries of all logs become requests to the partitions of memory, where of each byte the
 * store of the smallest depth stays. A warp's own requests stay in order; else the adversary chooses which comes
 * next.
 *
 * Depth is warp - quantum * 2^m: what an earlier quantum left is always deeper, so only the chunks of the quantum
 * that is being committed are remembered, and of these the warp is depth enough.
 *
 * The hardware that does it is modelled for its counts alone: Z units, each with a buffer of requests and a cache of
 * depths whose lines are locked while a request works on them; or locks in memory, as in CoreDet. Time is in
 * cycles of the unit; a request comes in each. */
#include "determinism/gpudet_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 3,
    SHORT_MOST = 8
}; /* one of so many runs of a warp's requests is short: at most this */

struct line { /* of a Z cache */
    uint64_t chunk, used, free_at;
    bool valid;
};
struct gpudet_partition {
    struct line *lines; /* by set and way */
    uint64_t *busy;     /* when the requests in the buffer are done */
    uint64_t now;
};

/* ---- Z units ------------------------------------------------------------------------------------------ */

/* Waits until the buffer has room, and gives the place. */
static uint64_t *room_for(struct gpudet *g, struct gpudet_partition *p)
{
    uint64_t *first = p->busy;
    for (uint32_t i = 1; i < g->options.requests; i++)
        if (p->busy[i] < *first) first = &p->busy[i];
    if (*first > p->now) {
        g->n.z_full++;
        p->now = *first;
    }
    return first;
}

/* The line of the chunk, locked, from when on it can be worked on; *start is when that is. */
static struct line *lock_line(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk,
                              uint64_t *start)
{
    const uint32_t ways = g->options.ways, sets = g->options.zcache / GPUDET_CHUNK / ways;
    struct line *const set = p->lines + chunk / g->options.partitions % sets * ways, *oldest = NULL,
                       *first = set;
    for (uint32_t i = 0; i < ways; i++) {
        struct line *l = &set[i];
        if (l->valid && l->chunk == chunk) {
            g->n.z_hits++;
            if (l->free_at > *start) g->n.z_blocked++, *start = l->free_at;
            return l;
        }
        if (l->free_at < first->free_at) first = l;
        if (l->free_at <= *start && (!oldest || l->used < oldest->used)) oldest = l;
    }
    if (!oldest) { /* all are locked */
        g->n.z_blocked++;
        *start = first->free_at;
        oldest = first;
    }
    g->n.z_misses++;
    g->n.z_evictions += oldest->valid;
    *oldest = (struct line){.chunk = chunk, .valid = true};
    *start += g->options.fetch;
    return oldest;
}

static void arrive_at_unit(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk)
{
    uint64_t *done = room_for(g, p), start = ++p->now;
    struct line *l = lock_line(g, p, chunk, &start);
    l->used = p->now;
    *done = l->free_at = start + 1;
}

/* ---- locks ---------------------------------------------------------------------------------------------- */

/* A chunk's lock is had for a read of the depths and two writes; who finds it locked tries again when the answer has
 * come. Locks lie in the same lines as depths would. */
static void take_lock(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk)
{
    const uint32_t all = g->options.zcache / GPUDET_CHUNK;
    struct line *l = &p->lines[chunk / g->options.partitions % all];
    const uint64_t trip = g->options.fetch ? g->options.fetch : 1;
    uint64_t start = ++p->now;
    if (l->valid && l->chunk == chunk && l->free_at > start) {
        const uint64_t tries = (l->free_at - start + trip - 1) / trip;
        g->n.spins += tries;
        start += tries * trip;
    }
    g->n.locks++;
    *l = (struct line){.chunk = chunk, .valid = true, .free_at = start + 3 * trip};
}

/* ---- depths ----------------------------------------------------------------------------------------------- */

static struct gpudet_zline *line_of(struct gpudet *g, uint64_t chunk)
{
    uint32_t i = (uint32_t)(chunk * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (g->line_room - 1);
    while (g->lines[i].stamp == g->stamp && g->lines[i].chunk != chunk)
        i = (i + 1) & (g->line_room - 1);
    return &g->lines[i];
}

/* Which bytes of the entry pass. */
static void compare(struct gpudet *g, uint64_t chunk, const struct gpudet_entry *e, uint32_t warp,
                    uint64_t pass[2])
{
    struct gpudet_zline *z = line_of(g, chunk);
    pass[0] = e->mask[0], pass[1] = e->mask[1];
    if (z->stamp != g->stamp)
        *z = (struct gpudet_zline){.chunk = chunk, .stamp = g->stamp, .owner = warp};
    if (z->owner != warp && !z->mixed) {
        g->depths = gpudet_grow(g->depths, g->depth_count + 1, &g->depth_room, sizeof *g->depths);
        for (uint32_t b = 0; b < GPUDET_CHUNK; b++)
            g->depths[g->depth_count][b] = z->mask[b / 64] >> b % 64 & 1 ? z->owner : UINT32_MAX;
        z->mixed = ++g->depth_count;
    }
    for (uint32_t h = 0; z->mixed && h < 2; h++)
        for (uint64_t m = e->mask[h]; m; m &= m - 1) {
            uint32_t *depth = &g->depths[z->mixed - 1][64 * h + (uint32_t)__builtin_ctzll(m)];
            if (warp <= *depth) *depth = warp;
            else pass[h] &= ~(m & -m);
        }
    z->mask[0] |= e->mask[0], z->mask[1] |= e->mask[1];
}

static void write_bytes(struct gpudet *g, uint64_t chunk, const struct gpudet_entry *e,
                        const uint64_t pass[2])
{
    const uint64_t at = chunk * GPUDET_CHUNK;
    if (!(~pass[0] | ~pass[1])) {
        emu_machine_store(g->m, e->by, at, e->data, GPUDET_CHUNK);
        return;
    }
    for (uint32_t h = 0; h < 2; h++)
        for (uint64_t m = pass[h]; m;) {
            const uint32_t from = (uint32_t)__builtin_ctzll(m);
            const uint64_t rest = ~(m >> from);
            const uint32_t n = rest ? (uint32_t)__builtin_ctzll(rest) : 64;
            emu_machine_store(g->m, e->by, at + 64 * h + from, e->data + 64 * h + from, n);
            m = from + n >= 64 ? 0 : m >> (from + n) << (from + n);
        }
}

/* ---- all requests ----------------------------------------------------------------------------------------- */

static void send(struct gpudet *g, uint32_t warp, uint32_t i, bool alone)
{
    const struct gpudet_log *l = &g->warps[warp].log;
    const uint64_t chunk = l->chunk[i];
    struct gpudet_partition *p = &g->partitions[chunk % g->options.partitions];
    uint64_t pass[2] = {l->entry[i].mask[0], l->entry[i].mask[1]};
    if (g->options.commit == GPUDET_LOCKS) take_lock(g, p, chunk);
    else arrive_at_unit(g, p, chunk);
    if (g->options.depth && !alone) compare(g, chunk, &l->entry[i], warp, pass);
    write_bytes(g, chunk, &l->entry[i], pass);
}

static void make_room(struct gpudet *g, uint64_t entries)
{
    g->stamp++;
    g->depth_count = 0;
    if (2 * entries <= g->line_room) return;
    while (2 * entries > g->line_room) g->line_room = g->line_room ? 2 * g->line_room : 1024;
    free(g->lines);
    g->lines = calloc(g->line_room, sizeof *g->lines);
    if (!g->lines) abort();
}

void gpudet_commit(struct gpudet *g)
{
    uint64_t entries = 0;
    const bool alone = g->writer_count == 1;
    for (uint32_t i = 0; i < g->writer_count; i++) {
        const struct gpudet_warp *w = &g->warps[g->writers[i]];
        entries += w->log.count;
        if (w->log.count > g->n.longest) g->n.longest = w->log.count;
    }
    g->n.entries += entries;
    if (!alone) make_room(g, entries);
    uint32_t *sent = calloc(g->writer_count + 1, sizeof *sent);
    if (!sent) abort();
    while (g->writer_count) {
        const uint32_t k = gpudet_below(g, g->writer_count), warp = g->writers[k];
        struct gpudet_log *l = &g->warps[warp].log;
        uint32_t n = gpudet_below(g, SHORT) ? l->count - sent[k] : 1 + gpudet_below(g, SHORT_MOST);
        for (; n && sent[k] < l->count; n--) send(g, warp, sent[k]++, alone);
        if (sent[k] < l->count) continue;
        gpudet_log_clear(g, l);
        g->writers[k] = g->writers[--g->writer_count];
        sent[k] = sent[g->writer_count];
    }
    free(sent);
}

void gpudet_commit_begin(struct gpudet *g)
{
    const uint32_t n = g->options.partitions, lines = g->options.zcache / GPUDET_CHUNK;
    if (!g->partitions) {
        g->partitions = calloc(n, sizeof *g->partitions);
        if (!g->partitions) abort();
        for (uint32_t i = 0; i < n; i++) {
            g->partitions[i].lines = calloc(lines, sizeof(struct line));
            g->partitions[i].busy = calloc(g->options.requests, sizeof(uint64_t));
            if (!g->partitions[i].lines || !g->partitions[i].busy) abort();
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        memset(g->partitions[i].lines, 0, lines * sizeof(struct line));
        memset(g->partitions[i].busy, 0, g->options.requests * sizeof(uint64_t));
        g->partitions[i].now = 0;
    }
}

void gpudet_commit_free(struct gpudet *g)
{
    for (uint32_t i = 0; g->partitions && i < g->options.partitions; i++) {
        free(g->partitions[i].lines);
        free(g->partitions[i].busy);
    }
    free(g->partitions);
    free(g->lines);
    free(g->depths);
}
