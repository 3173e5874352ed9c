/* WHAT_IF_TILED: replaces loads of a CTA by loads from a tile in shared memory.
 *
 * The warps of a CTA are assumed to load in lockstep: the n-th load of each warp, then the next one of each. As long as
 * their sectors fit into the shared memory that the CTA can have, they form one tile. Before the block in which
 * a warp first reads a tile, it waits at a barrier, loads its part of the tile's sectors and stores them to shared memory,
 * 128 bytes at a time, and waits at another barrier. Each load of the launch then reads shared memory, in one pass.
 *
 * A CTA whose lanes load less than TIMES the bytes of the sectors loads each word about once, and is not changed. Loads of
 * the same sectors by other CTAs do not count: a tile of a CTA does not save them. */
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
    ACCESS_SECTORS = 4, /* 32 lanes, 4 bytes each */
};
/* Blocks that are added: number 0 is a barrier, number 1 + k copies 2^k accesses: a load and a store for each. A compiler
 * that unrolls the loop over a thread's part of a tile makes such blocks. */
enum { COPY_BLOCKS = 4, MOST_COPIES = 1 << (COPY_BLOCKS - 1) };
/* The load of copy `i` in such a block, among all added instructions; the store is the next. */
static u32 added_load(u32 k, u32 i)
{
    return 1 + 2 * ((1u << k) - 1) + 2 * i;
}

struct load {
    u32 warp, at; /* its words */
    u32 tile;
};
struct tile {
    u32 first, count; /* its lines, in `lines` */
    u32 warps;        /* that load from it */
};
struct tiles {
    const struct rewrite *r;
    struct trace_cta *cta;
    struct load *loads; /* in the order in which they are taken to be done */
    u32 count;
    struct tile *tiles;
    u32 tile_count;
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

/* In step. */
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
            const struct trace_warp *warp = &t->cta->warps[k];
            if (at[k] >= warp->count) continue;
            t->loads[t->count++] = (struct load){.warp = k, .at = at[k]};
            at[k] = next_load(t, warp, at[k] + rewrite_length(warp->words + at[k]));
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

/* The tile of the loads from `load` to `end`, with the lines from `line` on. */
static void end_tile(struct tiles *t, u32 load, u32 end, u32 line)
{
    u8 *seen = timing_calloc(t->cta->warp_count, 1);
    struct tile *x = &t->tiles[t->tile_count];
    *x = (struct tile){.first = line, .count = t->line_count - line};
    for (u32 k = load; k < end; k++) {
        x->warps += !seen[t->loads[k].warp];
        seen[t->loads[k].warp] = 1;
        t->loads[k].tile = t->tile_count;
    }
    t->tile_count++;
    free(seen);
}

static void make_tiles(struct tiles *t)
{
    const u32 most = tile_bytes(t->r->counts) / EMU_SECTOR_BYTES;
    u32 load = 0, line = 0;
    u64 before = 0; /* sectors of the tiles before */
    for (t->slots = 64; t->slots < 2 * (most + 64);) t->slots *= 2;
    t->slot = timing_calloc(t->slots, sizeof *t->slot);
    t->tiles = timing_calloc(t->count, sizeof *t->tiles);
    for (u32 k = 0; k < t->count; k++) {
        if (t->loaded - before + 64 > most && k > load) { /* no load names more than 64 */
            end_tile(t, load, k, line);
            load = k, line = t->line_count, before = t->loaded;
            memset(t->slot, 0, t->slots * sizeof *t->slot);
        }
        take_sectors(t, &t->loads[k]);
    }
    end_tile(t, load, t->count, line);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct load *x = a, *y = b;
    return x->warp != y->warp ? (x->warp > y->warp) - (x->warp < y->warp)
                              : (x->at > y->at) - (x->at < y->at);
}

/* The word of an added block that stands for as many executions as the block with that word. */
static u32 added_block(const struct tiles *t, u32 number, u32 word)
{
    const u32 level = TRACE_LEVEL_OF(word);
    return TRACE_BLOCK_WORD(t->r->added + number, level, 0) | (level ? TRACE_UNSYNCED : 0);
}

/* So many of the lines from `line` on are one access; their sectors. */
static u32 lines_of_access(const struct tiles *t, u32 line, u32 end, u32 *sectors)
{
    const u32 first = line;
    *sectors = 0;
    do *sectors += timing_popcount(t->lines[line++].sectors);
    while (line < end && *sectors + timing_popcount(t->lines[line].sectors) <= ACCESS_SECTORS);
    return line - first;
}

/* The warp copies the lines. */
static void put_copies(struct tiles *t, u32 first, u32 end, u32 word, struct rewrite_words *to)
{
    const struct emu_trace *trace = t->r->counts->trace;
    u32 left = 0, sectors;
    for (u32 line = first; line < end; left++) line += lines_of_access(t, line, end, &sectors);
    for (u32 line = first, k = COPY_BLOCKS - 1; left; left -= 1u << k) {
        while (left < 1u << k) k--;
        const u32 block = added_block(t, 1 + k, word);
        rewrite_put(to, &block, 1);
        for (u32 i = 0; i < 1u << k; i++) {
            const u32 n = lines_of_access(t, line, end, &sectors), at = t->cta->line_count,
                      load = rewrite_added_site(trace, added_load(k, i));
            for (u32 x = 0; x < n; x++) (void)rewrite_add_line(t->cta, t->lines[line++]);
            const u32 words[] = {load << 2 | TRACE_GLOBAL, at, TRACE_SIZE(n, 8 * sectors, 1),
                                 (load + 1) << 2 | TRACE_SHARED, TRACE_SIZE(1, 8 * sectors, 1)};
            rewrite_put(to, words, sizeof words / sizeof *words);
        }
    }
}

/* The warp's part of the tile, number `part` of all parts. `word`: of the block that reads it first. */
static void put_tile(struct tiles *t, const struct tile *x, u32 part, u32 word,
                     struct rewrite_words *to)
{
    const u32 barrier = added_block(t, 0, word);
    const u32 first = (u32)((u64)part * x->count / x->warps),
              last = (u32)((u64)(part + 1) * x->count / x->warps);
    rewrite_put(to, &barrier, 1);
    put_copies(t, x->first + first, x->first + last, word, to);
    rewrite_put(to, &barrier, 1);
}

/* The end of the block's words. */
static u32 end_of_block(const struct trace_warp *w, u32 at)
{
    do at += rewrite_length(w->words + at);
    while (at < w->count && !rewrite_is_block(w->words[at]));
    return at;
}

static void put_block(const struct tiles *t, const struct trace_warp *w, u32 at, u32 end,
                      const struct load *l, struct rewrite_words *to)
{
    while (at < end) {
        const u32 *words = w->words + at, n = rewrite_length(words);
        if (l < t->loads + t->count && &t->cta->warps[l->warp] == w && l->at == at) {
            const u32 shared[] = {(words[0] & ~(u32)3) | TRACE_SHARED,
                                  TRACE_SIZE(1, TRACE_SIZE_LANES(words[2]), 1)};
            rewrite_put(to, shared, 2);
            l++;
        } else rewrite_put(to, words, n);
        at += n;
    }
}

static void write_warps(struct tiles *t)
{
    const struct load *l = t->loads, *past = t->loads + t->count;
    u32 *parts = timing_calloc(t->tile_count, sizeof *parts); /* that warps have */
    qsort(t->loads, t->count, sizeof *t->loads, by_place);
    for (u32 w = 0; w < t->cta->warp_count; w++) {
        struct trace_warp *warp = &t->cta->warps[w];
        struct rewrite_words to = {0};
        u32 next = 0; /* tile */
        for (u32 at = 0; at < warp->count;) {
            const u32 end = end_of_block(warp, at);
            const struct load *first = l;
            for (; l < past && l->warp == w && l->at < end; l++)
                for (; next <= l->tile; next++)
                    if (next == l->tile)
                        put_tile(t, &t->tiles[next], parts[next]++, warp->words[at], &to);
            put_block(t, warp, at, end, first, &to);
            at = end;
        }
        rewrite_end(warp, &to);
    }
    free(parts);
}

struct shorter_code *tile_code(const struct emu_counts *c, const uint8_t *changes)
{
    static const struct rewrite_inst barrier = {.opcode = "bar.sync"};
    struct rewrite_inst copies[2 * MOST_COPIES];
    struct shorter_code *code = code_without_addresses(c, changes, WHAT_IF_TILED);
    for (u32 i = 0; i < MOST_COPIES; i++) {
        copies[2 * i] = (struct rewrite_inst){"ld.global.f32", 0, 1, {(u8)i}};
        copies[2 * i + 1] = (struct rewrite_inst){"st.shared.f32", 1, 0, {(u8)i}};
    }
    (void)shorter_code_add(code, &barrier, 1);
    for (u32 k = 0; k < COPY_BLOCKS; k++) (void)shorter_code_add(code, copies, 2u << k);
    return code;
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
    free(t.tiles);
    free(t.lines);
    free(t.slot);
}
