/* Fast paths of GPUDet: the same results, with less work of the host.
 *
 * The thesis's mechanism makes results independent of the interleaving of warps and of the arrival of commit requests.
 * If these are not observable (nothing is counted, no observer follows stores, all mechanisms are on), the order makes
 * choices that are fast on the host in seven launches of eight (UNBIASED_ONE_IN). In the eighth the adversary chooses
 * freely, so that runs under many seeds still test the mechanism.
 *
 *  - Windows: CTAs begin a few at a time, so that the host's caches hold their memory.
 *  - Bias: mostly the last of the ready warps runs, since warps that became ready together are near each other in
 *    memory.
 *  - Commit: logs are written in descending order of depth, so that no depth is compared.
 *  - In-place stores (in_place.c), if all accesses of the kernel are accesses of lanes.
 *
 * Conflict-free launches do not use these paths: emu/speculate/ runs them without the order. */
#include "determinism/gpudet/internal.h"

enum {
    MOST_BIAS_DRAWS = 64, /* choices until the bias is drawn anew */
    WINDOW_WARPS = 16,    /* no CTA begins while so many warps are ready */
    UNBIASED_ONE_IN = 8,  /* one in so many launches begins CTAs however many warps are ready */
    PREFETCH_LOGS = 4,    /* logs that are prefetched */
    PREFETCH_BYTES = 512, /* of entries: those of a warp mostly lie one behind the other */
};

unsigned gpudet_fast_wants(void *self, const struct emu_launch_traits *next)
{
    struct gpudet *g = self;
    const bool strong = gpudet_promise(&g->options) == ORDER_STRONG,
               alone = strong && !next->counted && !next->observed;
    g->fast.windowed = strong && g->fast.launches++ % UNBIASED_ONE_IN;
    g->fast.speculates = next->speculates;
    g->fast.stores_in_place = g->fast.windowed && alone && next->lane_accesses_only &&
                              next->speculates;
    return (g->fast.stores_in_place ? EMU_WANT_STORES : g->order.wants) |
           (alone ? EMU_SKIP_IF_CONFLICT_FREE : 0);
}

void gpudet_fast_begin(struct gpudet *g)
{
    g->fast.order_unobservable = g->fast.windowed && g->fast.speculates && !g->counted &&
                                 !emu_machine_drains_observed(g->m);
    g->fast.bias_draws = 0;
}

bool gpudet_fast_window_is_full(const struct gpudet *g)
{
    size_t ready;
    emu_machine_ready(g->m, &ready);
    return g->fast.windowed && ready >= WINDOW_WARPS;
}

uint32_t gpudet_fast_choose(struct gpudet *g, uint32_t count)
{
    if (!g->fast.bias_draws--) {
        g->fast.bias_draws = gpudet_below(g, MOST_BIAS_DRAWS);
        g->fast.bias = gpudet_below(g, 4) ? 0 : rng_next(&g->random) >> 32;
    }
    return count - 1 - (uint32_t)(g->fast.bias * count >> 32);
}

void gpudet_fast_prefetch(const struct gpudet *g, const struct emu_warp *ready, uint32_t i)
{
    if (i < 2) return;
    __builtin_prefetch(&gpudet_warp_at(g, ready[i - 2].slot, ready[i - 2].warp)->who, 1);
    __builtin_prefetch(&gpudet_warp_at(g, ready[i - 2].slot, ready[i - 2].warp)->issue_seq, 1);
    emu_machine_prefetch_ready(g->m, i - 2, false);
    emu_machine_prefetch_ready(g->m, i - 1, true);
}

/* ---- commit ------------------------------------------------------------------------------------------- */

static void prefetch(const struct gpudet_entry *e)
{
    if (!e) return;
    __builtin_prefetch(e);
    __builtin_prefetch(e->data);
    __builtin_prefetch(e->data + GPUDET_CHUNK / 2);
}

static void write_log(struct gpudet *g, const struct gpudet_log *l)
{
    for (const struct gpudet_entry *e = l->oldest; e; e = e->next) {
        __builtin_prefetch(e->data + PREFETCH_BYTES);
        gpudet_commit_bytes(g, e, (uint64_t[2]){e->mask[0], e->mask[1]});
    }
}

/* Whether what the only warp that has stored did is in memory. */
static bool is_in_memory(struct gpudet *g)
{
    return g->writer_count == 1 && g->fast.in_memory == &g->warps[g->writers[0]];
}

/* As if the requests of the smallest depth always arrived last: then no depth needs to be compared. */
void gpudet_fast_commit(struct gpudet *g)
{
    uint32_t n = 0;
    const bool there = is_in_memory(g);
    if (there) g->fast.in_memory = NULL;
    gpudet_in_place_switch(g, NULL);
    for (uint32_t i = 0; i < g->writer_count; i++) gpudet_set_add(g->fast.storing, g->writers[i]);
    GPUDET_EACH(i, g->fast.storing, g->warp_count)
    {
        gpudet_set_remove(g->fast.storing, (uint32_t)i);
        g->serial.order[n++] = (uint32_t)i;
    }
    while (n--) {
        struct gpudet_log *l = &g->warps[g->serial.order[n]].log;
        if (n >= 2 * PREFETCH_LOGS)
            __builtin_prefetch(&g->warps[g->serial.order[n - 2 * PREFETCH_LOGS]].log);
        if (g->fast.stores_in_place) {
            if (n >= PREFETCH_LOGS)
                __builtin_prefetch(g->warps[g->serial.order[n - PREFETCH_LOGS]].log.first);
            if (!there) gpudet_in_place_commit(l);
            l->first = l->last = NULL;
            l->count = 0;
            continue;
        }
        if (n >= PREFETCH_LOGS) prefetch(g->warps[g->serial.order[n - PREFETCH_LOGS]].log.oldest);
        write_log(g, l);
        *l = (struct gpudet_log){0};
    }
    g->writer_count = 0;
    gpudet_arena_reset(&g->arena);
}
