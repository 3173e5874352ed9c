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
#include "determinism/gpudet/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 3,         /* one of so many runs of a warp's requests is short: */
    SHORT_MOST = 8,    /* at most this */
    SOON = 4,          /* logs that are fetched ahead */
    AHEAD_BYTES = 512, /* of entries: those of a warp mostly lie one behind the other */
    AHEAD =
        16 /* runs that are drawn before they are sent: the host fetches meanwhile what they need */
};

struct gpudet_partition {
    struct z_unit unit; /* with commit=locks its lines are the locks */
    double now, done;   /* cycles of the unit; done: when all requests are */
};

/* ---- Z units ------------------------------------------------------------------------------------------ */

static void arrive_at_unit(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk)
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
static void take_lock(struct gpudet *g, struct gpudet_partition *p, uint64_t chunk)
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
    return (uint32_t)(chunk * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (g->line_room - 1);
}

static struct gpudet_zline *line_of(struct gpudet *g, uint64_t chunk)
{
    uint32_t i = line_hash(g, chunk);
    while (g->lines[i].stamp == g->stamp && g->lines[i].chunk != chunk)
        i = (i + 1) & (g->line_room - 1);
    return &g->lines[i];
}

static void make_room(struct gpudet *g)
{
    struct gpudet_zline *const old = g->lines;
    const uint32_t had = g->line_room;
    if (2 * g->line_count < had) return;
    g->line_room = had ? 4 * had : 1024;
    g->lines = calloc(g->line_room, sizeof *g->lines);
    if (!g->lines) abort();
    for (uint32_t i = 0; i < had; i++)
        if (old[i].stamp == g->stamp) *line_of(g, old[i].chunk) = old[i];
    free(old);
}

static void free_lines(struct gpudet *g)
{
    g->line_count = g->depth_count = 0;
    if (++g->stamp) return;
    memset(g->lines, 0, g->line_room * sizeof *g->lines);
    g->stamp = 1;
}

/* From now on the depth of each byte is kept. */
static void mix(struct gpudet *g, struct gpudet_zline *z)
{
    g->depths = gpudet_grow(g->depths, g->depth_count + 1, &g->depth_room, sizeof *g->depths);
    uint32_t *depth = g->depths[g->depth_count];
    for (uint32_t h = 0; h < 2; h++)
        for (uint64_t m = z->mask[h]; m; m &= m - 1)
            depth[64 * h + (uint32_t)__builtin_ctzll(m)] = z->owner;
    z->owner = GPUDET_MIXED + g->depth_count++;
}

/* Which bytes of the entry pass. */
static void compare(struct gpudet *g, const struct gpudet_entry *e, uint32_t warp, uint64_t pass[2])
{
    struct gpudet_zline *z = line_of(g, e->chunk);
    if (z->stamp != g->stamp) {
        *z = (struct gpudet_zline){
            .chunk = e->chunk, .stamp = g->stamp, .mask = {e->mask[0], e->mask[1]}, .owner = warp};
        g->line_count++;
        make_room(g);
        return;
    }
    if (z->owner < GPUDET_MIXED && z->owner != warp) mix(g, z);
    for (uint32_t h = 0; z->owner >= GPUDET_MIXED && h < 2; h++)
        for (uint64_t m = e->mask[h]; m; m &= m - 1) {
            uint32_t *depth =
                &g->depths[z->owner - GPUDET_MIXED][64 * h + (uint32_t)__builtin_ctzll(m)];
            if (!(m & -m & z->mask[h]) || warp <= *depth) *depth = warp;
            else pass[h] &= ~(m & -m);
        }
    z->mask[0] |= e->mask[0], z->mask[1] |= e->mask[1];
}

static void write_bytes(struct gpudet *g, const struct gpudet_entry *e, uint64_t pass[2])
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

static void send(struct gpudet *g, uint32_t warp, const struct gpudet_entry *e, bool alone)
{
    const uint64_t of_partition = e->chunk / g->options.partitions;
    struct gpudet_partition *p = &g->partitions[e->chunk - of_partition * g->options.partitions];
    uint64_t pass[2] = {e->mask[0], e->mask[1]};
    if (g->options.commit == GPUDET_LOCKS) take_lock(g, p, of_partition);
    else arrive_at_unit(g, p, of_partition);
    if (g->options.depth && !alone) compare(g, e, warp, pass);
    write_bytes(g, e, pass);
}

/* Everybody who has stored; their logs are empty then. */
static void line_up(struct gpudet *g)
{
    for (uint32_t i = 0; i < g->writer_count; i++) {
        const uint32_t warp = g->writers[i];
        struct gpudet_log *l = &g->warps[warp].log;
        g->senders[i] = (struct gpudet_sender){l->oldest, warp, l->count};
        g->n.entries += l->count;
        if (l->count > g->n.longest) g->n.longest = l->count;
        *l = (struct gpudet_log){0};
    }
}

/* Runs of requests that come next, as the adversary draws them. */
static uint32_t draw_runs(struct gpudet *g, struct gpudet_sender *run)
{
    uint32_t count = 0;
    while (g->writer_count && count < AHEAD) {
        struct gpudet_sender *s = &g->senders[gpudet_below(g, g->writer_count)];
        uint32_t n = gpudet_below(g, SHORT) ? s->left : 1 + gpudet_below(g, SHORT_MOST);
        if (n > s->left) n = s->left;
        run[count++] = (struct gpudet_sender){s->next, s->warp, n};
        __builtin_prefetch(s->next);
        s->left -= n;
        if (!s->left) *s = g->senders[--g->writer_count];
        else
            while (n--) s->next = s->next->next;
    }
    return count;
}

static void fetch(const struct gpudet_entry *e)
{
    if (!e) return;
    __builtin_prefetch(e);
    __builtin_prefetch(e->data);
    __builtin_prefetch(e->data + GPUDET_CHUNK / 2);
}

static void write_log(struct gpudet *g, const struct gpudet_log *l)
{
    for (const struct gpudet_entry *e = l->oldest; e; e = e->next) {
        __builtin_prefetch(e->data + AHEAD_BYTES);
        write_bytes(g, e, (uint64_t[2]){e->mask[0], e->mask[1]});
    }
}

/* Whether what the only warp that has stored did is in memory. */
static bool is_there(struct gpudet *g)
{
    return g->writer_count == 1 && g->inside == &g->warps[g->writers[0]];
}

/* As if what has the smallest depth always came last. */
static void commit_sorted(struct gpudet *g)
{
    uint32_t n = 0;
    const bool there = is_there(g);
    if (there) g->inside = NULL;
    gpudet_swap_to(g, NULL);
    for (uint32_t i = 0; i < g->writer_count; i++) gpudet_add(g->storing, g->writers[i]);
    GPUDET_EACH(i, g->storing, g->warp_count)
    {
        gpudet_remove(g->storing, (uint32_t)i);
        g->serving[n++] = (uint32_t)i;
    }
    while (n--) {
        struct gpudet_log *l = &g->warps[g->serving[n]].log;
        if (n >= 2 * SOON) __builtin_prefetch(&g->warps[g->serving[n - 2 * SOON]].log);
        if (g->swaps) {
            if (n >= SOON) __builtin_prefetch(g->warps[g->serving[n - SOON]].log.first);
            if (!there) gpudet_swap_commit(l);
            l->first = l->last = NULL;
            l->count = 0;
            continue;
        }
        if (n >= SOON) fetch(g->warps[g->serving[n - SOON]].log.oldest);
        write_log(g, l);
        *l = (struct gpudet_log){0};
    }
    g->writer_count = 0;
    gpudet_room_clear(&g->room);
}

void gpudet_commit(struct gpudet *g)
{
    if (g->sorted) {
        commit_sorted(g);
        return;
    }
    struct gpudet_sender run[AHEAD];
    const bool alone = g->writer_count == 1;
    line_up(g);
    free_lines(g);
    make_room(g);
    for (uint32_t n; n = draw_runs(g, run), n;) {
        for (uint32_t i = 0; i < n; i++)
            __builtin_prefetch(&g->lines[line_hash(g, run[i].next->chunk)], 1);
        for (uint32_t i = 0; i < n; i++)
            for (struct gpudet_sender *s = &run[i]; s->left; s->left--, s->next = s->next->next) {
                if (s->left > 1)
                    __builtin_prefetch(&g->lines[line_hash(g, s->next->next->chunk)], 1);
                send(g, s->warp, s->next, alone);
            }
    }
    gpudet_room_clear(&g->room);
    for (uint32_t i = 0; i < g->options.partitions; i++) /* it lasts until all are done */
        if (g->partitions[i].now < g->partitions[i].done)
            g->partitions[i].now = g->partitions[i].done;
}

void gpudet_commit_begin(struct gpudet *g)
{
    const uint32_t n = g->options.partitions;
    if (!g->partitions) {
        g->partitions = calloc(n, sizeof *g->partitions);
        if (!g->partitions) abort();
        for (uint32_t i = 0; i < n; i++)
            z_unit_init(&g->partitions[i].unit, g->options.zcache, g->options.ways,
                        g->options.requests, false);
    }
    for (uint32_t i = 0; i < n; i++) {
        z_unit_reset(&g->partitions[i].unit);
        g->partitions[i].now = g->partitions[i].done = 0;
    }
}

void gpudet_commit_free(struct gpudet *g)
{
    for (uint32_t i = 0; g->partitions && i < g->options.partitions; i++)
        z_unit_free(&g->partitions[i].unit);
    free(g->partitions);
    free(g->lines);
    free(g->depths);
}
