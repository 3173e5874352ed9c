/* Prefetches into the host's caches the data that a warp reads first when it runs. Under an order there may be
 * thousands of warps, and the rows of a warp that slept have mostly been evicted. Affects only speed. */
#define _GNU_SOURCE
#include "emu/sched/ordered.h"

#include "emu/atomic.h"
#include "emu/ops/memops.h"
#include "emu/speculate/speculation.h"

enum {
    LINE = 64,  /* bytes of a line of the host's caches */
    AHEAD = 12, /* operations whose rows are prefetched */
};

static void fetch(const u8 *row, u32 bytes)
{
    for (u32 i = 0; i < bytes * LANES; i += LINE) __builtin_prefetch(row + i);
}

/* The rows of a warp that stands before an access that the order made wait: mostly others have had the host's
 * caches since. */
static bool fetch_operands(const struct emu_group *g, const struct emu_uop *in)
{
    const bool atomic = in->id == UOP_atom_watched;
    if (!atomic && in->id != UOP_ld_watched && in->id != UOP_st_watched) return false;
    if (in->x == 8) fetch(g->r64 + in->a, 8);
    else if (in->x == 4) fetch(g->r32 + in->a, 4);
    if (!atomic) return true;
    const u8 width = ((const struct atomic_desc *)in->ext)->width;
    if (width != 4) return true;
    fetch(g->r32 + in->b, 4);
    fetch(g->r32 + in->c, 4);
    return true;
}

/* The rows that the warp has put aside. false: they are where they belong. */
static bool fetch_aside(const struct emu_group *g)
{
    const struct frames *const f = host_worker_of(g)->frames;
    if (!f || f->owner[g->frame] == g) return false;
    const u32 rows = (u32)__builtin_popcountll(g->aside.rows);
    for (u32 i = 0; i < rows * LANES * 4; i += LINE) __builtin_prefetch(g->aside.at + i);
    return true;
}

void prefetch_rows(const struct emu_group *g)
{
    if (g->polling.known) g->worker->machine->speculation->prefetch(g);
    else if (!fetch_aside(g)) fetch_operands(g, g->pc);
}

/* The rows of what stands behind that access, up to the next one. */
static void fetch_ahead(const struct emu_group *g)
{
    const struct emu_uop *const end = g->code->uops + g->code->uop_count;
    if (host_worker_of(g)->frames || g->polling.known) return;
    for (const struct emu_uop *in = g->pc + 1; in < end && in <= g->pc + AHEAD; in++) {
        const u8 *const sizes = emu_row_sizes[in->id];
        const u32 row[4] = {in->d, in->a, in->b, in->c};
        if (fetch_operands(g, in)) return;
        for (u32 i = 0; i < 4 && sizes[i]; i++)
            fetch((sizes[i] == 8 ? g->r64 : sizes[i] == 4 ? g->r32 : g->r16) + row[i], sizes[i]);
    }
}

static void fetch_group(const struct emu_group *g)
{
    __builtin_prefetch(&g->r64);
    __builtin_prefetch(&g->pc);
    __builtin_prefetch(&g->turn.asleep, 1);
}

void emu_machine_prefetch(const struct emu_machine *m, const struct emu_warp *who, bool next)
{
    const struct emu_cta *c = cta_of(m, who);
    if (!c || c->context_count != c->warps) return;
    const struct emu_group *g = &c->groups[who->warp];
    if (next) {
        prefetch_rows(g);
        fetch_ahead(g);
        return;
    }
    fetch_group(g);
}

void emu_machine_prefetch_ready(const struct emu_machine *m, size_t i, bool next)
{
    const struct emu_group *g = m->ordered->queue[READY].group[i];
    if (!g) return;
    if (next) prefetch_rows(g);
    else fetch_group(g);
}
