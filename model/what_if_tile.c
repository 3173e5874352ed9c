/* WHAT_IF_TILED: loads of a CTA that go through a tile in shared memory.
 *
 * The warps of a CTA are taken to load in step: the n-th load of each warp, then the next one of each. As long as the
 * sectors that they name fit into the shared memory that the CTA can have, these are one tile. Each sector of a tile is
 * loaded once, by accesses of whole lines that are spread evenly over the loads of the tile. Every load also reads its
 * words from shared memory, in one pass.
 *
 * A CTA whose lanes ask for less than TIMES the bytes of the sectors loads each word about once, and stays as it is. The
 * same sectors loaded by other CTAs are not looked at: a tile of a CTA does not save them. The stores to the tile and
 * the barriers are not counted. */
#include "model/what_if_rewrite.h"

#include "model/timing_internal.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum {
    TIMES = 2,
    TILE_AT_MOST = 48 << 10, /* bytes, without opting in to more */
    TILE_AT_LEAST = 2 << 10,
};

struct load {
    u32 warp, at;     /* its words */
    u32 first, count; /* the lines of the tile that it loads, in `lines` */
};
struct tiles {
    const struct rewrite *r;
    struct trace_cta *cta;
    struct load *loads; /* in the order in which they are taken to be done */
    u32 count;
    struct trace_line *lines; /* of the tiles */
    u32 line_count, line_cap;
    u32 *slot, slots;  /* a hash table from line to index in `lines`, + 1; a power of two */
    double asked;      /* bytes, by lanes */
    u64 named, loaded; /* sectors */
};

static u32 tile_bytes(const struct emu_counts *c)
{
    const u32 ctas = c->occupancy.ctas ? c->occupancy.ctas : 1, each = c->gpu->shared / ctas,
              most = each < TILE_AT_MOST ? each : TILE_AT_MOST;
    return most > c->shared ? most - c->shared : 0;
}

/* ---- the loads of a CTA --------------------------------------------------------------------------------------------- */

static bool is_tiled(const struct tiles *t, const u32 *words)
{
    return !rewrite_is_block(words[0]) && rewrite_is_load(t->cta, words) &&
           t->r->changes[rewrite_place(t->r, words[0])] == WHAT_IF_TILED;
}

/* Where the warp's next load is, from `at` on; its end if there is none. */
static u32 next_load(const struct tiles *t, const struct trace_warp *w, u32 at)
{
    while (at < w->count && !is_tiled(t, w->words + at)) at += rewrite_length(w->words + at);
    return at;
}

/* In step, each time beginning with another warp: so none of them gets all lines of the tiles. */
static void find_loads(struct tiles *t)
{
    const u32 warps = t->cta->warp_count;
    u32 *at = timing_calloc(warps, sizeof *at), most = 0;
    for (u32 w = 0; w < warps; w++) most += t->cta->warps[w].count / 3 + 1;
    t->loads = timing_calloc(most, sizeof *t->loads);
    for (u32 w = 0; w < warps; w++) at[w] = next_load(t, &t->cta->warps[w], 0);
    for (u32 step = 0, before = 1; before != t->count || !step; step++) {
        before = t->count;
        for (u32 k = 0; k < warps; k++) {
            const u32 w = (k + step) % warps;
            const struct trace_warp *warp = &t->cta->warps[w];
            if (at[w] >= warp->count) continue;
            t->loads[t->count++] = (struct load){.warp = w, .at = at[w]};
            at[w] = next_load(t, warp, at[w] + rewrite_length(warp->words + at[w]));
        }
    }
    free(at);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------------ */

static struct trace_line *line_of(struct tiles *t, u32 line, u8 how)
{
    u32 i = timing_hash(line) & (t->slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->slots - 1))
        if (t->lines[t->slot[i] - 1].line == line) return &t->lines[t->slot[i] - 1];
    t->slot[i] = t->line_count + 1;
    if (t->line_count == t->line_cap) {
        t->line_cap = t->line_cap ? 2 * t->line_cap : 256;
        t->lines = realloc(t->lines, t->line_cap * sizeof *t->lines);
        if (!t->lines) abort();
    }
    t->lines[t->line_count] = (struct trace_line){.line = line, .how = how};
    return &t->lines[t->line_count++];
}

/* The load's sectors that the tile lacks are loaded from where the load had them. */
static void take_sectors(struct tiles *t, const struct load *l)
{
    const u32 *words = t->cta->warps[l->warp].words + l->at;
    const struct emu_instruction *i = &t->r->counts->instructions[rewrite_place(t->r, words[0])];
    t->asked += TRACE_SIZE_LANES(words[2]) * (i->thread ? (double)i->bytes / (double)i->thread : 0);
    for (u32 k = 0; k < TRACE_SIZE_N(words[2]); k++) {
        const struct trace_line *from = &t->cta->lines[words[1] + k];
        struct trace_line *own = line_of(t, from->line, from->how);
        const u8 more = (u8)(from->sectors & ~own->sectors);
        const u32 n = timing_popcount(more);
        t->named += timing_popcount(from->sectors), t->loaded += n;
        own->sectors |= more;
        own->from_l2 = (u8)(own->from_l2 + (from->from_l2 < n ? from->from_l2 : n));
        own->from_dram = (u8)(own->from_dram + (from->from_dram < n ? from->from_dram : n));
    }
}

/* The lines from `line` on, spread over the loads from `load` on. */
static void spread(struct tiles *t, u32 load, u32 end, u32 line)
{
    const u64 loads = end - load, lines = t->line_count - line;
    for (u64 k = 0; k < loads; k++) {
        const u64 first = k * lines / loads, last = (k + 1) * lines / loads;
        t->loads[load + k].first = line + (u32)first;
        t->loads[load + k].count = (u32)(last - first);
    }
}

static void make_tiles(struct tiles *t)
{
    const u32 most = tile_bytes(t->r->counts) / EMU_SECTOR_BYTES;
    u32 load = 0, line = 0;
    u64 before = 0; /* sectors of the tiles before */
    for (t->slots = 64; t->slots < 2 * (most + 64);) t->slots *= 2;
    t->slot = timing_calloc(t->slots, sizeof *t->slot);
    for (u32 k = 0; k < t->count; k++) {
        if (t->loaded - before + 64 > most) { /* no load names more than 64 */
            spread(t, load, k, line);
            load = k, line = t->line_count, before = t->loaded;
            memset(t->slot, 0, t->slots * sizeof *t->slot);
        }
        take_sectors(t, &t->loads[k]);
    }
    spread(t, load, t->count, line);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct load *x = a, *y = b;
    return x->warp != y->warp ? (x->warp > y->warp) - (x->warp < y->warp)
                              : (x->at > y->at) - (x->at < y->at);
}

static void put_load(struct tiles *t, const struct load *l, const u32 *words,
                     struct rewrite_words *to)
{
    const u32 lanes = TRACE_SIZE_LANES(words[2]), first = t->cta->line_count,
              site = words[0] & ~(u32)3;
    for (u32 k = 0; k < l->count; k++) (void)rewrite_add_line(t->cta, t->lines[l->first + k]);
    if (l->count) {
        const u32 global[] = {site | TRACE_GLOBAL, first, TRACE_SIZE(l->count, 32, 1)};
        rewrite_put(to, global, 3);
    }
    const u32 shared[] = {site | TRACE_SHARED, TRACE_SIZE(1, lanes, 1)};
    rewrite_put(to, shared, 2);
}

static void write_warps(struct tiles *t)
{
    const struct load *l = t->loads;
    qsort(t->loads, t->count, sizeof *t->loads, by_place);
    for (u32 w = 0; w < t->cta->warp_count; w++) {
        struct trace_warp *warp = &t->cta->warps[w];
        struct rewrite_words to = {0};
        for (u32 at = 0; at < warp->count;) {
            const u32 n = rewrite_length(warp->words + at);
            if (l < t->loads + t->count && l->warp == w && l->at == at)
                put_load(t, l++, warp->words + at, &to);
            else rewrite_put(&to, warp->words + at, n);
            at += n;
        }
        rewrite_end(warp, &to);
    }
}

void what_if_tile(const struct rewrite *r, struct trace_cta *c)
{
    struct tiles t = {.r = r, .cta = c};
    find_loads(&t);
    if (t.count && tile_bytes(r->counts) >= TILE_AT_LEAST) {
        make_tiles(&t);
        const bool again = t.asked >= TIMES * (double)(t.loaded * EMU_SECTOR_BYTES);
        r->counted->accesses += t.count;
        r->counted->before += t.named;
        r->counted->after += again ? t.loaded : t.named;
        if (again) write_warps(&t);
    }
    free(t.loads);
    free(t.lines);
    free(t.slot);
}
