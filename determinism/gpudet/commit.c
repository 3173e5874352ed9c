/* Commit mode of GPUDet (thesis 4.4): the entries of all write logs become requests to the partitions of memory.
 *
 * Each byte gets the store with the smallest depth, independent of the order in which requests arrive. A warp's own
 * requests keep their order; otherwise the adversary chooses which request arrives next. Depth is warp - quantum * 2^m
 * (4.4.2): stores of earlier quanta always have larger depths. So only the chunks of this commit are stored, and the
 * warp number suffices as depth.
 *
 * The hardware is modelled only for its counts: Z units (determinism/hardware/z_unit.h), or locks in memory as in
 * CoreDet (6.2.2). Time is in cycles of the unit; one request arrives in each cycle.
 *
 * gpudet.c calls gpudet_commit() at the end of parallel mode, unless fast.c commits the logs. */
#include "determinism/gpudet/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_ONE_IN = 3, /* one of so many runs of a warp's requests is short: */
    SHORT_MOST = 8,   /* at most this */
    PREFETCH_RUNS =
        16 /* runs that are drawn before they are sent: the host fetches meanwhile what they need */
};

struct gpudet_partition {
    struct z_unit unit; /* with commit=locks its lines are the locks */
    double now, done;   /* cycles of the unit; done: when all requests are */
};

/* ---- Z units ------------------------------------------------------------------------------------------ */

static void request_z_unit(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk)
{
    const double admitted = z_unit_admit(&p->unit, p->now);
    g->n.z_full += admitted > p->now;
    p->now = admitted + 1;
    const struct z_lookup z = z_unit_lookup(&p->unit, chunk, p->now);
    g->n.z_hits += z.hit;
    g->n.z_misses += !z.hit;
    g->n.z_blocked += z.blocked;
    g->n.z_evictions += z.evicted;
    const double done = z.start + (z.hit ? 0 : g->options.fetch) + 1;
    z_unit_complete(&p->unit, z.line, p->now, done);
    if (done > p->done) p->done = done;
}

/* ---- locks ---------------------------------------------------------------------------------------------- */

/* A chunk's lock is had for a read of the depths and two writes; who finds it locked tries again when the answer has
 * come. Locks lie in the same lines as depths would. */
static void lock_chunk(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk)
{
    const uint32_t all = g->options.zcache / GPUDET_CHUNK;
    struct zcache_line *l = &p->unit.lines[chunk % all];
    const uint64_t trip = g->options.fetch ? g->options.fetch : 1;
    double start = ++p->now;
    if (l->valid && l->chunk == chunk && l->free_at > start) {
        const uint64_t tries = ((uint64_t)(l->free_at - start) + trip - 1) / trip;
        g->n.spins += tries;
        start += (double)(tries * trip);
    }
    g->n.locks++;
    *l = (struct zcache_line){.chunk = chunk, .valid = true, .free_at = start + (double)(3 * trip)};
    if (l->free_at > p->done) p->done = l->free_at;
}

/* ---- depths ----------------------------------------------------------------------------------------------- */

static uint32_t line_hash(const struct gpudet *g, uint64_t chunk)
{
    return (uint32_t)(chunk * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (g->commit.line_capacity - 1);
}

static struct gpudet_depth_line *depth_line_of(struct gpudet *g, uint64_t chunk)
{
    uint32_t i = line_hash(g, chunk);
    while (g->commit.lines[i].stamp == g->commit.stamp && g->commit.lines[i].chunk != chunk)
        i = (i + 1) & (g->commit.line_capacity - 1);
    return &g->commit.lines[i];
}

static void grow_depth_table(struct gpudet *g)
{
    struct gpudet_depth_line *const old = g->commit.lines;
    const uint32_t had = g->commit.line_capacity;
    if (2 * g->commit.line_count < had) return;
    g->commit.line_capacity = had ? 4 * had : 1024;
    g->commit.lines = calloc(g->commit.line_capacity, sizeof *g->commit.lines);
    if (!g->commit.lines) abort();
    for (uint32_t i = 0; i < had; i++)
        if (old[i].stamp == g->commit.stamp) *depth_line_of(g, old[i].chunk) = old[i];
    free(old);
}

static void forget_depths(struct gpudet *g)
{
    g->commit.line_count = g->commit.depth_count = 0;
    if (++g->commit.stamp) return;
    memset(g->commit.lines, 0, g->commit.line_capacity * sizeof *g->commit.lines);
    g->commit.stamp = 1;
}

static bool has_several_writers(const struct gpudet_depth_line *z)
{
    return z->writer >= GPUDET_SEVERAL;
}

/* The depth of each byte of a chunk that several warps have stored to. */
static uint32_t *depths_of(struct gpudet *g, const struct gpudet_depth_line *z)
{
    return g->commit.depths[z->writer - GPUDET_SEVERAL];
}

/* A second warp stores: from now on the depth of each byte is kept. */
static void add_depths(struct gpudet *g, struct gpudet_depth_line *z)
{
    g->commit.depths = gpudet_grow(g->commit.depths, g->commit.depth_count + 1,
                                   &g->commit.depth_capacity, sizeof *g->commit.depths);
    uint32_t *depth = g->commit.depths[g->commit.depth_count];
    for (uint32_t h = 0; h < 2; h++)
        for (uint64_t m = z->mask[h]; m; m &= m - 1)
            depth[64 * h + (uint32_t)__builtin_ctzll(m)] = z->writer;
    z->writer = GPUDET_SEVERAL + g->commit.depth_count++;
}

/* Which bytes of the entry pass. */
static void compare_depths(struct gpudet *g, const struct gpudet_entry *e, uint32_t warp,
                           uint64_t pass[2])
{
    struct gpudet_depth_line *z = depth_line_of(g, e->chunk);
    if (z->stamp != g->commit.stamp) {
        *z = (struct gpudet_depth_line){.chunk = e->chunk,
                                        .stamp = g->commit.stamp,
                                        .mask = {e->mask[0], e->mask[1]},
                                        .writer = warp};
        g->commit.line_count++;
        grow_depth_table(g);
        return;
    }
    if (!has_several_writers(z) && z->writer != warp) add_depths(g, z);
    for (uint32_t h = 0; has_several_writers(z) && h < 2; h++)
        for (uint64_t m = e->mask[h]; m; m &= m - 1) {
            uint32_t *depth = &depths_of(g, z)[64 * h + (uint32_t)__builtin_ctzll(m)];
            if (!(m & -m & z->mask[h]) || warp <= *depth) *depth = warp;
            else pass[h] &= ~(m & -m);
        }
    z->mask[0] |= e->mask[0], z->mask[1] |= e->mask[1];
}

void gpudet_commit_bytes(struct gpudet *g, const struct gpudet_entry *e, uint64_t pass[2])
{
    const uint64_t at = e->chunk * GPUDET_CHUNK;
    uint32_t from, n;
    if (!(~pass[0] | ~pass[1])) {
        emu_machine_store(g->m, *e->by, at, e->data, GPUDET_CHUNK);
        return;
    }
    while (gpudet_take_run(pass, &from, &n))
        emu_machine_store(g->m, *e->by, at + from, e->data + (from - e->first), n);
}

/* ---- all requests ----------------------------------------------------------------------------------------- */

static void process_request(struct gpudet *g, uint32_t warp, const struct gpudet_entry *e,
                            bool alone)
{
    const uint64_t of_partition = e->chunk / g->options.partitions;
    struct gpudet_partition *p =
        &g->commit.partitions[e->chunk - of_partition * g->options.partitions];
    uint64_t pass[2] = {e->mask[0], e->mask[1]};
    if (g->options.commit == GPUDET_LOCKS) lock_chunk(g, p, of_partition);
    else request_z_unit(g, p, of_partition);
    if (g->options.depth && !alone) compare_depths(g, e, warp, pass);
    gpudet_commit_bytes(g, e, pass);
}

/* Everybody who has stored; their logs are empty then. */
static void queue_logs(struct gpudet *g)
{
    for (uint32_t i = 0; i < g->writer_count; i++) {
        const uint32_t warp = g->writers[i];
        struct gpudet_log *l = &g->warps[warp].log;
        g->commit.senders[i] = (struct gpudet_sender){l->oldest, warp, l->count};
        g->n.entries += l->count;
        if (l->count > g->n.longest) g->n.longest = l->count;
        *l = (struct gpudet_log){0};
    }
}

/* Runs of requests that come next, as the adversary draws them. */
static uint32_t draw_runs(struct gpudet *g, struct gpudet_sender *run)
{
    uint32_t count = 0;
    while (g->writer_count && count < PREFETCH_RUNS) {
        struct gpudet_sender *s = &g->commit.senders[gpudet_below(g, g->writer_count)];
        uint32_t n = gpudet_below(g, SHORT_ONE_IN) ? s->left : 1 + gpudet_below(g, SHORT_MOST);
        if (n > s->left) n = s->left;
        run[count++] = (struct gpudet_sender){s->next, s->warp, n};
        __builtin_prefetch(s->next);
        s->left -= n;
        if (!s->left) *s = g->commit.senders[--g->writer_count];
        else
            while (n--) s->next = s->next->next;
    }
    return count;
}

void gpudet_commit(struct gpudet *g)
{
    struct gpudet_sender run[PREFETCH_RUNS];
    const bool alone = g->writer_count == 1;
    queue_logs(g);
    forget_depths(g);
    grow_depth_table(g);
    for (uint32_t n; n = draw_runs(g, run), n;) {
        for (uint32_t i = 0; i < n; i++)
            __builtin_prefetch(&g->commit.lines[line_hash(g, run[i].next->chunk)], 1);
        for (uint32_t i = 0; i < n; i++)
            for (struct gpudet_sender *s = &run[i]; s->left; s->left--, s->next = s->next->next) {
                if (s->left > 1)
                    __builtin_prefetch(&g->commit.lines[line_hash(g, s->next->next->chunk)], 1);
                process_request(g, s->warp, s->next, alone);
            }
    }
    gpudet_arena_reset(&g->arena);
    for (uint32_t i = 0; i < g->options.partitions; i++) /* it lasts until all are done */
        if (g->commit.partitions[i].now < g->commit.partitions[i].done)
            g->commit.partitions[i].now = g->commit.partitions[i].done;
}

void gpudet_commit_begin(struct gpudet *g)
{
    const uint32_t n = g->options.partitions;
    if (!g->commit.partitions) {
        g->commit.partitions = calloc(n, sizeof *g->commit.partitions);
        if (!g->commit.partitions) abort();
        for (uint32_t i = 0; i < n; i++)
            z_unit_init(&g->commit.partitions[i].unit, g->options.zcache, g->options.ways,
                        g->options.requests, false);
    }
    for (uint32_t i = 0; i < n; i++) {
        z_unit_reset(&g->commit.partitions[i].unit);
        g->commit.partitions[i].now = g->commit.partitions[i].done = 0;
    }
}

void gpudet_commit_free(struct gpudet *g)
{
    for (uint32_t i = 0; g->commit.partitions && i < g->options.partitions; i++)
        z_unit_free(&g->commit.partitions[i].unit);
    free(g->commit.partitions);
    free(g->commit.lines);
    free(g->commit.depths);
}
