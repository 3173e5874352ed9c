/* emu/measure/count.h: counting while a launch runs: the counters of a site that a warp's access increments.
 *
 * A handler counts only if g->worker->sites is not NULL. emu/counts.h has the counters that launches report. */
#ifndef HEDDLE_EMU_MEASURE_COUNT_H
#define HEDDLE_EMU_MEASURE_COUNT_H

#include "emu/gpu.h"
#include "emu/measure/cache.h"
#include "emu/measure/trace_turns.h"
#include "emu/ops/exec.h"
#include "emu/trace.h"

enum { SECTOR = EMU_SECTOR_BYTES, LINE = EMU_LINE_BYTES };

/* Values from this one on stand for inactive lanes; they are no sector, line or word. Sectors are numbered with 32 bits
 * from the beginning of global memory; on a device with more than 127 GiB, sectors at that distance have equal
 * numbers. */
#define COUNT_NOBODY 0xffffff00u

struct emu_lanes { /* addresses of a warp's lanes; members as in struct emu_access */
    _Alignas(64) u64 at[LANES];
    _Alignas(64) u16 low[LANES];
    u64 alike;
    u32 rows;
    bool run;
};

/* Computes the addresses at which the active lanes of warp w access `size` bytes each, a power of two; `at` is also set
 * for inactive lanes. Returns the state space if all accesses are within memory that was found before (`bound`: global)
 * or within the CTA's shared memory, else GENERIC. (emu/sched/simd_notify.c) */
struct lane_address;
typedef u32 emu_find_lanes(const struct emu_group *g, const struct lane_address *from, u32 w,
                           u32 size, const struct emu_bound *bound, struct emu_lanes *to);

/* Computes the offsets in one surface at which the active lanes of warp w access `size` bytes each; x counts units of
 * `unit` bytes; unit 0 and size 0 mean a texel. LANE_BY_LANE: lanes must be handled one by one; FAULT: a fault was
 * raised. (emu/ops/simd_surface.c) */
enum surface_whole { SURFACE_WHOLE, SURFACE_WHOLE_LANE_BY_LANE, SURFACE_WHOLE_FAULT };
struct surface_lanes {
    u8 *base;
    u64 at[LANES]; /* offset from `base`, bytes; for inactive lanes that of another lane */
};
struct texture_object;
typedef enum surface_whole emu_reach_surface(struct emu_group *g, const struct emu_uop *in, u32 w,
                                             u32 unit, u32 size, bool write,
                                             struct texture_object *o, struct surface_lanes *r);

/* emu_set_exec() (emu/ops/exec.h). (emu/ops/simd_warp.c) */
typedef void emu_spread_masks(struct emu_group *g, const u32 *mask);
/* emu_mask_of() for all warps of a row of predicates. (emu/ops/simd_row.c) */
typedef void emu_masks_of(const u32 *word, u32 warps, u32 *mask);
/* Writes one value, of 2, 4 or 8 bytes, to the active lanes of a row. (emu/ops/simd_row.c) */
typedef void emu_fill_row(struct emu_group *g, unsigned bytes, u32 row, u64 value);
/* Whether one of `count` words, those of whole warps, differs from `value`. (emu/ops/simd_row.c) */
typedef bool emu_words_differ(const u32 *word, u32 count, u32 value);
/* Whether the lanes of warp w, which are all active, have adjacent addresses, `size` bytes each; *first is that of lane
 * 0. (emu/sched/simd_notify.c) */
typedef bool emu_side_by_side(const struct emu_group *g, const struct lane_address *a, u32 w,
                              u32 size, u64 *first);
struct emu_counting { /* compiled for each host instruction set */
    /* Counts an access: the lanes of a mask of the group's warp w access `size` bytes each at at[lane], in a state
     * space (enum ptx_space; addresses in the form that memory.h gives for it). */
    void (*lanes)(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *at, u32 mask,
                  u32 size, u32 space, u32 how);
    /* Counts an atomic of all lanes of warp w on `size` bytes, 4 or 8, of shared memory at these offsets. */
    void (*shared_atomics)(struct emu_group *g, const struct emu_uop *in, u32 w, const u32 *at,
                           u32 size);
    cache_carry_out *carry_out;
    cache_fill *fill;
    /* this and the following functions do not count, but are compiled for each host instruction set, too */
    emu_find_lanes *find_lanes;
    emu_op *fetch_texels; /* likewise: tex (emu/ops/simd_texture.c) */
    emu_reach_surface *reach_surface;
    emu_spread_masks *spread_masks;
    emu_masks_of *masks_of;
    emu_fill_row *fill_row;
    emu_words_differ *words_differ;
    emu_side_by_side *side_by_side;
};
extern const struct emu_counting emu_counting_portable, emu_counting_avx2, emu_counting_avx512;

static inline void emu_count_lanes(struct emu_group *g, const struct emu_uop *in, u32 w,
                                   const u64 *at, u32 mask, u32 size, u32 space, u32 how)
{
    g->worker->machine->counting->lanes(g, in, w, at, mask, size, space, how);
}

static inline u32 emu_sector_of(u64 address)
{
    return (u32)((address - MEM_GLOBAL) / SECTOR);
}

/* Whether warp w of the group is currently recorded in the trace of its CTA. */
static inline bool emu_is_traced(const struct emu_group *g, u32 w)
{
    const struct trace_cta *t = g->worker->trace;
    return t && t->warps[g->first + w].on;
}
/* Whether the site's accesses of global memory publish or poll (emu/trace.h), and the launch is traced. */
static inline enum trace_handoff emu_handoff_of(const struct emu_group *g, const struct emu_uop *in)
{
    const struct trace *t = g->worker->machine->trace;
    return t && t->handoff ? t->handoff[in->site] : TRACE_HANDOFF_NONE;
}
/* The port for the warp's requests; NULL: caches are off. */
static inline struct cache_port *emu_port_of(const struct emu_group *g, u32 w)
{
    return g->worker->turns ? &g->worker->turns->ports[g->first + w] : g->worker->port;
}
/* Traces an access to global or .local memory that made `requests` requests. */
static inline void emu_trace_access(const struct emu_group *g, const struct emu_uop *in, u32 w,
                                    u32 tag, u32 requests, u32 lanes, u32 rounds)
{
    struct trace_cta *t = g->worker->trace;
    struct trace_turns *turns = g->worker->turns;
    struct trace_warp *warp = &t->warps[g->first + w];
    u32 *word = trace_reserve_words(t, warp, 3),
        *first = turns ? &turns->warps[g->first + w].traced : &t->line_count;
    word[0] = in->site << 2 | tag;
    word[1] = *first;
    word[2] = TRACE_SIZE(requests, lanes, rounds);
    warp->count += 3;
    *first += requests;
}
/* The lanes of `swapped` have changed memory in the atomic that was traced last, which has element words. */
static inline void emu_trace_swaps(const struct emu_group *g, u32 w, u32 swapped)
{
    const u32 lanes = emu_lanes_of(g->exec[w]);
    if (!g->worker->sites || !swapped || !emu_is_traced(g, w)) return;
    const struct trace_warp *warp = &g->worker->trace->warps[g->first + w];
    if (warp->count < lanes + 3) return;
    u32 *word = warp->words + warp->count - lanes;
    if ((word[-3] & 3) != TRACE_GLOBAL || !(word[-1] & TRACE_ELEMENTS) ||
        TRACE_SIZE_LANES(word[-1]) != lanes)
        return; /* it was of shared memory */
    for (u32 left = g->exec[w]; left; left &= left - 1, word++)
        if (swapped >> __builtin_ctz(left) & 1) *word |= TRACE_SWAPPED;
}
static inline void emu_trace_bank_conflict_passes(const struct emu_group *g,
                                                  const struct emu_uop *in, u32 w, u32 passes,
                                                  u32 lanes, u32 rounds)
{
    if (!emu_is_traced(g, w)) return;
    struct trace_cta *t = g->worker->trace;
    struct trace_warp *warp = &t->warps[g->first + w];
    u32 *word = trace_reserve_words(t, warp, 2);
    word[0] = in->site << 2 | TRACE_SHARED;
    word[1] = TRACE_SIZE(passes, lanes, rounds);
    warp->count += 2;
}

/* Counts an access of lanes to `bytes_each` bytes each, together one run of `bytes` bytes of global memory, and, if
 * `second` is not 0, another run of as many bytes from there on; the two runs have no line in common. */
static inline void emu_count_run(struct emu_group *g, const struct emu_uop *in, u32 w, u64 from,
                                 u64 second, u64 bytes, u32 lanes, u32 bytes_each, u32 how)
{
    struct emu_site *s = &g->worker->sites[in->site];
    struct cache_port *port = emu_port_of(g, w);
    const bool traced = emu_is_traced(g, w);
    const u64 as = CACHE_REQUEST(in->site, how, 0, 0) | (traced ? CACHE_REQUEST_TRACED : 0);
    size_t requests = 0;
    const u64 addresses = how == COUNT_CONSTANT ? (second ? 2 : 1) * bytes / bytes_each : 1;
    s->warps++;
    s->lanes += lanes;
    s->bytes += (u64)bytes_each * lanes;
    do {
        const u32 first = emu_sector_of(from), last = emu_sector_of(from + bytes - 1);
        s->sectors += last - first + 1;
        s->lines += last / 4 - first / 4 + 1;
        if (port && how != COUNT_CONSTANT) requests += cache_run(port, as, first, last);
        from = second, second = 0;
    } while (from);
    if (traced) emu_trace_access(g, in, w, TRACE_GLOBAL, (u32)requests, lanes, (u32)addresses);
}

/* An access of shared memory takes one or more passes. In one pass each bank serves one word (CUDA C++ Programming
 * Guide, "Shared Memory"). bank_conflict_passes() in simd_count.c counts the passes of any addresses; the two functions
 * here give the same number for regular addresses on 32 banks without examining each lane. */

/* All lanes read one element, or adjacent elements in the order of lanes. */
static inline u32 bank_conflict_passes_of_run(u32 size, bool same)
{
    return same || size <= 4 ? 1 : size / 4;
}

/* Each half of a warp reads one word, or 16 adjacent words: `width`. Two different words conflict at a bank if their
 * numbers are equal modulo 32. */
static inline u32 bank_conflict_passes_of_halves(u64 first, u64 second, u64 width)
{
    const u64 distance = (second > first ? second - first : first - second) / 4,
              modulo = distance % LANES;
    return distance >= width && (modulo < width || LANES - modulo < width) ? 2 : 1;
}

/* Counts an access of one warp to shared memory that takes `passes` passes. */
static inline void emu_count_bank_conflict_passes(struct emu_group *g, const struct emu_uop *in,
                                                  u32 w, u32 lanes, u32 passes)
{
    struct emu_site *s = &g->worker->sites[in->site];
    s->warps++;
    s->lanes += lanes;
    s->shared++;
    s->shared_lanes += lanes;
    s->bank_conflict_passes += passes;
    emu_trace_bank_conflict_passes(g, in, w, passes, lanes, 1);
}

#endif
