/* What one access of a warp comes to: 32-byte sectors and 128-byte lines of global memory, passes over
 * the banks of shared memory. Compiled for each host instruction set; all give the same numbers. */
#include "emu/lane.h"

#include "emu/cache.h"
#include "emu/count.h"
#include "ptx/ptx.h"

#include <string.h>
#ifdef __AVX512CD__
#include <immintrin.h>
#endif

typedef u8 v32u8 __attribute__((vector_size(32)));
typedef u32 v16u32 __attribute__((vector_size(64)));

/* The lanes whose value no earlier lane has: bit l. Lanes that are off hold values of their own. */
static u32 firsts(const u32 *v)
{
#ifdef __AVX512CD__
    const __m512i a = _mm512_loadu_si512(v), b = _mm512_loadu_si512(v + 16);
    const __m512i before_a = _mm512_alignr_epi32(a, _mm512_set1_epi32(-1), 15),
                  before_b = _mm512_alignr_epi32(b, a, 15);
    if (!(_mm512_cmplt_epu32_mask(b, before_b) |
          (_mm512_cmplt_epu32_mask(a, before_a) & 0xfffe))) /* in order: it differs from the last */
        return (u32)_mm512_cmpneq_epi32_mask(b, before_b) << 16 |
               (u32)_mm512_cmpneq_epi32_mask(a, before_a) | 1;
    u32 seen_a = _mm512_test_epi32_mask(_mm512_conflict_epi32(a), _mm512_set1_epi32(-1));
    u32 seen_b = _mm512_test_epi32_mask(_mm512_conflict_epi32(b), _mm512_set1_epi32(-1));
#define TURN(n) seen_b |= _mm512_cmpeq_epi32_mask(b, _mm512_alignr_epi32(a, a, n));
    TURN(0)
    TURN(1)
    TURN(2)
    TURN(3) TURN(4) TURN(5) TURN(6) TURN(7) TURN(8) TURN(9) TURN(10) TURN(11) TURN(12) TURN(13)
        TURN(14) TURN(15)
#undef TURN
            return ~(seen_b << 16 | seen_a);
#else
    u32 differs = 1, order = 0;
    for (u32 l = 1; l < LANES; l++) {
        differs |= (u32)(v[l] != v[l - 1]) << l;
        order |= v[l] < v[l - 1];
    }
    if (!order) return differs;
    /* Lane l is compared with lane l - r, for all l at once. */
    _Alignas(64) u32 before[2 * LANES], seen[LANES] = {0};
    memset(before, 0xff, LANES * sizeof *before); /* no lane has this value */
    memcpy(before + LANES, v, LANES * sizeof *v);
    for (u32 r = 1; r < LANES; r++) {
        const u32 *p = before + LANES - r;
        LANE_LOOP for (u32 l = 0; l < LANES; l++) seen[l] |= v[l] == p[l];
    }
    u32 m = 0;
    for (u32 l = 0; l < LANES; l++) m |= (u32)!seen[l] << l;
    return m;
#endif
}

static bool any(v32u8 v)
{
    u64 part[4];
    memcpy(part, &v, sizeof part);
    return part[0] | part[1] | part[2] | part[3];
}

/* The most lanes of `mask` that want one bank of 32. */
static u32 degree(const u32 *word, u32 mask)
{
    u32 used = 0, most = 1;
    _Alignas(32) u8 bank[2 * LANES];
    memset(bank, 0xff, LANES);
    LANE_LOOP for (u32 l = 0; l < LANES; l++)
    {
        const u32 b = word[l] % LANES, on = mask >> l & 1;
        used |= on << b;
        bank[LANES + l] = (u8)(on ? b : 64 + l);
    }
    if (emu_lanes_of(used) == emu_lanes_of(mask)) return 1;
    v32u8 own, earlier = {0}; /* lanes before that want the same bank */
    memcpy(&own, bank + LANES, LANES);
    for (u32 r = 1; r < LANES; r++) {
        v32u8 other;
        memcpy(&other, bank + LANES - r, LANES);
        earlier -= (v32u8)(own == other); /* true is -1 */
    }
    while (any((v32u8)(earlier >= (u8)most))) most++;
    return most;
}

/* Accesses of 8 or 16 bytes are made by half- and quarter-warps (CUDA C++ Programming Guide, "Shared
 * Memory" of compute capability 5.x and later: 32 banks of 4 bytes). Lanes that want the same word share
 * a pass, but for atomics, which take their turns. */
static inline __attribute__((always_inline)) u32 passes_of(const u64 *at, u32 mask, const u32 each,
                                                           bool atomic)
{
    const u32 lanes = LANES / each, words = (u32)((1ull << each) - 1);
    u32 total = 0;
    for (u32 first = 0; first < LANES; first += lanes) {
        u32 on = each == 1 ? mask : 0;
        _Alignas(64) u32 word[LANES];
        for (u32 l = 0; each > 1 && l < lanes; l++)
            on |= (mask >> (first + l) & 1 ? words : 0) << l * each;
        if (!on) continue;
        LANE_LOOP for (u32 l = 0; l < LANES; l++)
        {
            const u32 w = (u32)(at[first + l / each] / 4) + l % each;
            word[l] = on >> l & 1 ? w : COUNT_NOBODY + l;
        }
        total += degree(word, atomic ? on : on & firsts(word));
    }
    return total;
}

static u32 passes(const u64 *at, u32 mask, u32 size, bool atomic)
{
    switch (size) {
    case 8: return passes_of(at, mask, 2, atomic);
    case 16: return passes_of(at, mask, 4, atomic);
    case 32: return passes_of(at, mask, 8, atomic);
    default: return passes_of(at, mask, 1, atomic);
    }
}

static void count_global(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 mask,
                         u32 size, u32 how)
{
    struct emu_site *s = &g->worker->sites[in->site];
    struct cache_port *port = g->worker->port;
    s->bytes += (u64)emu_lanes_of(mask) * size;
    const u32 parts = size > SECTOR ? (size + SECTOR - 1) / SECTOR : 1;
    _Alignas(64) u32 sector[LANES], line[LANES];
    for (u32 k = 0; k < parts; k++) {
        LANE_LOOP for (u32 l = 0; l < LANES; l++)
        {
            const u32 x = (u32)((at[l] - MEM_GLOBAL) / SECTOR) + k;
            sector[l] = mask >> l & 1 ? x : COUNT_NOBODY + l;
            line[l] = mask >> l & 1 ? x / 4 : COUNT_NOBODY + l;
        }
        const u32 own = firsts(sector) & mask;
        s->sectors += emu_lanes_of(own);
        if (k == 0 || parts > 1) s->lines += emu_lanes_of(firsts(line) & mask);
        if (port && how != COUNT_CONSTANT) cache_sectors(port, in->site, how, sector, own);
    }
}

/* What an access to .local memory adds: word i of a warp's lanes is one line. */
static void count_local(struct emu_group *g, const struct emu_uop *in, u32 mask, u32 size)
{
    struct emu_site *s = &g->worker->sites[in->site];
    s->local++;
    s->local_lanes += emu_lanes_of(mask);
    s->local_sectors += LINE / SECTOR * ((size + 3) / 4);
}

static void count_lanes(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 mask,
                        u32 size, u32 space, u32 how)
{
    struct emu_site *s = &g->worker->sites[in->site];
    u32 shared = 0, local = 0;
    u64 base = 0;
    if (space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER) shared = mask;
    else if (space == PTX_SPACE_LOCAL) local = mask;
    else if (space == PTX_SPACE_GENERIC) {
        base = MEM_SHARED;
        LANE_LOOP for (u32 l = 0; l < LANES; l++)
        {
            shared |= (u32)(at[l] >= MEM_SHARED && at[l] < MEM_LOCAL) << l;
            local |= (u32)(at[l] >= MEM_LOCAL && at[l] < MEM_PARAM) << l;
        }
        shared &= mask, local &= mask;
    }
    s->warps++;
    s->lanes += emu_lanes_of(mask);
    if (how == COUNT_ATOMIC) {
        const u32 shift = size == 1 ? 0 : size == 2 ? 1 : 2; /* elements are aligned */
        _Alignas(64) u32 element[LANES];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) element[l] = mask >> l & 1 ? (u32)(at[l] >> shift)
                                                                             : COUNT_NOBODY + l;
        s->extra += emu_lanes_of(mask & ~firsts(element));
    }
    if (shared) {
        u64 offset[LANES];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) offset[l] = at[l] - base;
        s->shared++;
        s->shared_lanes += emu_lanes_of(shared);
        s->passes += passes(offset, shared, size, how == COUNT_ATOMIC);
    }
    if (local) count_local(g, in, local, size);
    mask &= ~(shared | local);
    if (mask) count_global(g, in, at, mask, size, how);
}

const struct emu_counting COUNTING = {count_lanes};
