/* Predicts the time of a sweep from the times of cells that have ended. */
#include "cli/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct times { /* of cells that have ended */
    double seconds;
    size_t count;
};

struct known {
    const struct sweep_plan *plan;
    struct times *groups; /* by target, order and GPU */
    struct times *targets;
};

static size_t group_of(const struct sweep_plan *p, const struct sweep_cell *c)
{
    return (c->target * p->gpu_count + c->gpu) * p->order_count + c->order;
}

static void add(struct times *t, double seconds)
{
    t->seconds += seconds;
    t->count++;
}

static struct known learn(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count)
{
    struct known k = {.plan = p};
    k.groups = calloc(p->target_count * p->gpu_count * p->order_count + 1, sizeof *k.groups);
    k.targets = calloc(p->target_count + 1, sizeof *k.targets);
    if (!k.groups || !k.targets) abort();
    for (size_t i = 0; i < count; i++) {
        const struct sweep_cell *c = &cells[i];
        if (!c->record) continue;
        add(&k.groups[group_of(p, c)], c->record->seconds);
        add(&k.targets[c->target], c->record->seconds);
    }
    return k;
}

static void forget(struct known *k)
{
    free(k->groups);
    free(k->targets);
}

/* Seconds that the cell will take; -1: no cell of its target has ended. */
static double predict(const struct known *k, const struct sweep_cell *c)
{
    const struct times *t = &k->groups[group_of(k->plan, c)];
    if (!t->count) t = &k->targets[c->target];
    return t->count ? t->seconds / (double)t->count : -1;
}

size_t sweep_keep_probes(const struct sweep_plan *p, struct sweep_cell *cells, size_t count)
{
    struct known k = learn(p, cells, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (cells[i].state != SWEEP_MISSING) continue;
        struct times *t = &k.groups[group_of(p, &cells[i])];
        if (t->count++) cells[i].state = SWEEP_STALE;
        else kept++;
    }
    forget(&k);
    return kept;
}

void sweep_print_cells(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count,
                       unsigned jobs, const char *cache)
{
    struct known k = learn(p, cells, count);
    struct sweep_record cached;
    double sum = 0, longest = 0, saved = 0;
    size_t left = 0, unknown = 0, from_cache = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sweep_cell *c = &cells[i];
        if (c->state != SWEEP_MISSING) continue;
        left++;
        const bool has = sweep_cached(cache, p, c, &cached);
        const double seconds = has ? 0 : predict(&k, c);
        if (has) from_cache++, saved += cached.seconds;
        else if (seconds < 0) unknown++;
        else sum += seconds;
        if (seconds > longest) longest = seconds;
        printf("%.12s  %s  %s  seed %" PRIu64 "  %s", c->id, p->targets[c->target].name,
               p->orders[c->order], c->seed, p->gpus[c->gpu]);
        if (has) printf("  in the cache\n");
        else if (seconds < 0) printf("\n");
        else printf("  %.2f s\n", seconds);
    }
    printf("%zu cells, %zu of them to be run", count, left);
    if (left > unknown + from_cache) {
        const double spread = sum / (double)jobs, seconds = spread > longest ? spread : longest;
        printf(", about %.*f s with %u jobs", seconds < 9.95, seconds, jobs);
    }
    printf("\n");
    if (from_cache)
        printf("%zu of these are in the cache, which saves %.1f s\n", from_cache, saved);
    if (unknown)
        printf(
            "not counted: %zu cells of targets of which no cell has ended; --probe runs one of each\n",
            unknown);
    forget(&k);
}
