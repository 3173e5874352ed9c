/* Hops between partitions of a distributed memory: struct timing_hops (model/timing.h). */
#include "model/timing_internal.h"

#include "emu/memory.h"

#include <stdlib.h>

enum { SECTORS = 4, SECTOR = 32 }; /* of a line */

static const struct timing_hops *in_use;

void timing_use_hops(const struct timing_hops *h)
{
    in_use = h;
}

const struct timing_hops *timing_hops_in_use(void)
{
    return in_use;
}

/* The partition of a sector of the line. */
static uint32_t partition_of(const struct timing_hops *h, const struct trace_line *n,
                             uint32_t sector)
{
    return h->partition(h->self, MEM_GLOBAL + ((uint64_t)n->line * SECTORS + sector) * SECTOR);
}

uint32_t timing_partition_of(const struct timing *c, const struct trace_cta *cta)
{
    const struct timing_hops *h = c->mem.hops;
    if (!h) return 0;
    if (!h->nearest) return cta->linear % h->partitions;
    uint64_t *const sectors = timing_calloc(h->partitions, sizeof *sectors);
    for (uint32_t k = 0; k < cta->line_count; k++) {
        const struct trace_line *n = &cta->lines[k];
        for (uint32_t s = 0; s < SECTORS && n->how != TRACE_UNCACHED; s++)
            if (n->sectors >> s & 1) sectors[partition_of(h, n, s)]++;
    }
    uint32_t most = 0;
    for (uint32_t p = 1; p < h->partitions; p++)
        if (sectors[p] > sectors[most]) most = p;
    free(sectors);
    return most;
}

/* The answer is complete when the farthest sector is there. */
void timing_count_hops(struct timing *c, const struct timing_warp *w, const struct trace_line *n)
{
    const struct timing_hops *h = c->mem.hops;
    uint32_t farthest = 0;
    if (n->how == TRACE_UNCACHED) { /* .local memory is beside its SM */
        c->mem.way = 0;
        return;
    }
    for (uint32_t s = 0; s < SECTORS; s++) {
        if (!(n->sectors >> s & 1)) continue;
        const uint32_t hops = h->between(h->self, c->ctas[w->cta].partition, partition_of(h, n, s));
        c->out->hops += hops * c->fold;
        c->out->hop_sectors += c->fold;
        if (hops > farthest) farthest = hops;
    }
    c->mem.way = farthest * c->m->hop * c->fold;
}
