/* The race detector: the log of strong accesses. strong_log.h describes it. */
#include "determinism/race/strong_log.h"

#include <stdlib.h>
#include <string.h>

void strong_log_begin(struct strong_log *g, uint32_t size)
{
    *g = (struct strong_log){.size = size, .first = 1};
}

void strong_log_start(struct strong_log *g)
{
    g->list = malloc(g->size * sizeof *g->list);
    g->buckets = calloc(STRONG_BUCKETS, sizeof *g->buckets);
    g->reads = calloc(STRONG_READS, sizeof *g->reads);
    if (!g->list || !g->buckets || !g->reads) abort();
}

void strong_log_forget(struct strong_log *g)
{
    g->first = g->count + 1;
    if (g->count < UINT32_MAX / 2 || !g->buckets) return;
    memset(g->buckets, 0, STRONG_BUCKETS * sizeof *g->buckets);
    memset(g->reads, 0, STRONG_READS * sizeof *g->reads);
    g->count = 0;
    g->first = 1;
}

void strong_log_end(struct strong_log *g)
{
    free(g->list);
    free(g->buckets);
    free(g->reads);
    *g = (struct strong_log){0};
}
