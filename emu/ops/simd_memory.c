/* Loads and stores. A warp's access has three fast paths, tried in this order: adjacent addresses (one copy of 32
 * elements), one address for all lanes, any addresses in the allocation that the instruction accessed last (a loop over
 * lanes). All other accesses go lane by lane through access.c, which finds the allocation or raises the fault. */
#include "emu/ops/lane.h"

#include "emu/measure/count.h"
#include "emu/ops/memops.h"

#include "ptx/ptx.h"

#include <string.h>

enum way {
    WAY_SLOW,
    WAY_FOLLOW,        /* lane l at start + l * size */
    WAY_SAME,          /* all at one address */
    WAY_HALVES_FOLLOW, /* lanes 0-15 follow each other, and lanes 16-31: rows of a tile */
    WAY_HALVES_SAME,   /* one address for lanes 0-15, one for lanes 16-31 */
    WAY_OFFSETS,
};

/* An address this far on; the sum alone has to lie in memory. */
static inline void *beyond(u8 *host, u64 by)
{
    return (void *)((uintptr_t)host + by);
}

/* How the lanes of mask m reach `size` bytes each; `host` becomes the host address of lane 0's (FOLLOW: as if it
 * took part), of the one (SAME), or what is to be added to an address (OFFSETS). */
static inline __attribute__((always_inline)) enum way
way_by_size(const u64 *at, u32 m, const u32 size, u32 align, u64 low, u64 high, u8 *base, u8 **host)
{
    u32 first = (u32)__builtin_ctz(m);
    u64 a = at[first];
    u64 start = a - (u64)first * size; /* lane 0's, if they follow each other */
    u64 off = 0, same = 0;
    if (m == ~0u) {
        if (!any(off_run_64(at, LANES, a, size))) {
            if (a < low || a > high || high - a < (u64)LANES * size || a & (align - 1))
                return WAY_SLOW;
            *host = base + (a - low);
            return WAY_FOLLOW;
        }
        if (((at[0] | at[1]) & (align - 1)) || high - low < size) return WAY_SLOW;
        if (!any(off_run_64(at, LANES, a, 0))) {
            if (a < low || a > high - size) return WAY_SLOW;
            *host = base + (a - low);
            return WAY_SAME;
        }
        const host64 *v = (const host64 *)(const void *)at;
        const u64 span = high - low - size;
        host64 outside = {0};
        UNROLL for (u32 i = 0; i < LANES / HOST_64; i++)
            outside |= (host64)(v[i] - low > span) | (v[i] & (u64)(align - 1));
        if (any(outside)) return WAY_SLOW;
        *host = beyond(base, -low);
        const u64 *half = at + LANES / 2;
        if (!any(off_run_64(at, LANES / 2, a, size) | off_run_64(half, LANES / 2, *half, size)))
            return WAY_HALVES_FOLLOW;
        if (!any(off_run_64(at, LANES / 2, a, 0) | off_run_64(half, LANES / 2, *half, 0)))
            return WAY_HALVES_SAME;
        return WAY_OFFSETS;
    }
    u64 least = a, most = a, bits = 0;
    LANE_LOOP for (int l = 0; l < LANES; l++)
    {
        u64 on = -(u64)(m >> l & 1), x = (at[l] & on) | (a & ~on);
        off |= (at[l] - start - (u64)l * size) & on;
        same |= x ^ a;
        bits |= x;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    if (least < low || most > high || high - most < size || bits & (align - 1)) return WAY_SLOW;
    if (!off) {
        u32 last = 31 - (u32)__builtin_clz(m);
        /* a whole vector may only be touched if it lies inside */
        if (start >= low && start + (u64)LANES * size <= high &&
            start + (u64)LANES * size > start && last) {
            *host = base + (start - low);
            return WAY_FOLLOW;
        }
    }
    *host = same ? beyond(base, -low) : base + (a - low);
    return same ? WAY_OFFSETS : WAY_SAME;
}

/* The same, compiled for each size: the loops are vector code then. */
#define WAY_OF(n)                                                                                  \
    static __attribute__((noinline)) enum way way_of_##n(const u64 *at, u32 m, u32 align, u64 low, \
                                                         u64 high, u8 *base, u8 **host)            \
    {                                                                                              \
        return way_by_size(at, m, n, align, low, high, base, host);                                \
    }
WAY_OF(1)
WAY_OF(2)
WAY_OF(4)
WAY_OF(8)
WAY_OF(16)
static __attribute__((noinline)) enum way way_of_any(const u64 *at, u32 m, u32 size, u32 align,
                                                     u64 low, u64 high, u8 *base, u8 **host)
{
    return way_by_size(at, m, size, align, low, high, base, host);
}
static inline enum way way_of(const u64 *at, u32 m, u32 size, u32 align, u64 low, u64 high,
                              u8 *base, u8 **host)
{
    switch (size) {
    case 1: return way_of_1(at, m, align, low, high, base, host);
    case 2: return way_of_2(at, m, align, low, high, base, host);
    case 4: return way_of_4(at, m, align, low, high, base, host);
    case 8: return way_of_8(at, m, align, low, high, base, host);
    case 16: return way_of_16(at, m, align, low, high, base, host);
    default: return way_of_any(at, m, size, align, low, high, base, host);
    }
}

/* Which memory the site's instruction reached last; tries again with the first lane's allocation. */
static inline enum way way_in(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 m,
                              u32 size, u32 align, u32 space, bool write, u8 **host)
{
    if (space == PTX_SPACE_SHARED)
        return way_of(at, m, size, align, 0, g->cta->shared_size, g->cta->shared, host);
    struct emu_bound *b = &g->worker->bounds[in->site];
    enum way way = way_of(at, m, size, align, b->low, b->high, b->host, host);
    if (way != WAY_SLOW) return way;
    if (space == PTX_SPACE_GENERIC &&
        ((const struct mem_desc *)in->ext)->space == PTX_SPACE_GENERIC) {
        way = way_of(at, m, size, align, MEM_SHARED, MEM_SHARED + g->cta->shared_size,
                     g->cta->shared, host);
        if (way != WAY_SLOW) return way;
    }
    if (!emu_find_bound(g, in, at[__builtin_ctz(m)], write, b)) return WAY_SLOW;
    return way_of(at, m, size, align, b->low, b->high, b->host, host);
}

/* The same for shared memory, from the row of addresses itself: all lanes are on, the addresses have 32 bits,
 * are regular and inside. Of `at` the elements 0 and 16 are set. WAY_SLOW: look at them one by one. */
static inline __attribute__((always_inline)) enum way way_by_row(const struct emu_group *g,
                                                                 const struct emu_uop *in, u32 w,
                                                                 const u32 size, u32 space, u64 *at,
                                                                 u8 **host)
{
    if (space != PTX_SPACE_SHARED || in->x != 4 || g->exec[w] != ~0u) return WAY_SLOW;
    const u32 *p = (const u32 *)(const void *)(g->r32 + in->a) + w * LANES;
    const u32 *const q = p + LANES / 2, half = LANES / 2 * size;
    const bool follow = !any(off_run_32(p, LANES / 2, *p, size) |
                             off_run_32(q, LANES / 2, *q, size));
    if (!follow && any(off_run_32(p, LANES / 2, *p, 0) | off_run_32(q, LANES / 2, *q, 0)))
        return WAY_SLOW;
    const u64 span = follow ? half : size, limit = g->cta->shared_size;
    const u32 a = p[0] + (u32)in->imm, b = p[LANES / 2] + (u32)in->imm, most = a < b ? b : a;
    if (((a | b) & (size - 1)) || limit < span || most > limit - span) return WAY_SLOW;
    at[0] = a, at[LANES / 2] = b;
    *host = g->cta->shared;
    if (b - a != (follow ? half : 0)) return follow ? WAY_HALVES_FOLLOW : WAY_HALVES_SAME;
    *host += at[0];
    return follow ? WAY_FOLLOW : WAY_SAME;
}

/* Whether two runs of so many bytes are in global memory and have no line in common. */
static inline bool in_other_lines(u64 a, u64 b, u64 bytes)
{
    return a >= MEM_GLOBAL && b >= MEM_GLOBAL &&
           ((a + bytes - 1) / LINE < b / LINE || (b + bytes - 1) / LINE < a / LINE);
}

/* Of two regular halves `at` may hold the first lanes alone: this sets the others. */
static __attribute__((noinline)) void fill_halves(u64 *at, u64 step)
{
    for (u32 l = 0; l < LANES; l++) at[l] = at[l & LANES / 2] + l % (LANES / 2) * step;
}

static __attribute__((noinline)) void fill_run(u64 *at, u64 from, u64 step)
{
    for (u32 l = 0; l < LANES; l++) at[l] = from + l * step;
}

static inline void count_access(struct emu_group *g, const struct emu_uop *in, u32 w, u64 *at,
                                u32 m, u32 size, enum way way, u32 space)
{
    if (!g->worker->sites) return;
    const u32 lanes = emu_lanes_of(m);
    const bool run = way == WAY_SAME || (way == WAY_FOLLOW && m == ~0u),
               banks = space == PTX_SPACE_SHARED && !g->worker->machine->narrow_banks;
    const u64 from = at[__builtin_ctz(m)], bytes = way == WAY_SAME ? size : size * (u64)LANES;
    const bool each = !banks && emu_handoff_of(g, in); /* the trace names each lane's element */
    if (each && run) {
        fill_run(at, from, way == WAY_FOLLOW ? size : 0);
        COUNTING.lanes(g, in, w, at, m, size, space, in->y);
    } else if (run && banks) {
        emu_count_bank_conflict_passes(g, in, w, lanes,
                                       bank_conflict_passes_of_run(size, way == WAY_SAME));
    } else if (run && (space == PTX_SPACE_GLOBAL || from >= MEM_GLOBAL)) {
        emu_count_run(g, in, w, from, 0, bytes, lanes, size, in->y);
    } else if (banks && size == 4 && (way == WAY_HALVES_FOLLOW || way == WAY_HALVES_SAME)) {
        emu_count_bank_conflict_passes(
            g, in, w, lanes,
            bank_conflict_passes_of_halves(at[0], at[LANES / 2],
                                           way == WAY_HALVES_SAME ? 1 : LANES / 2));
    } else if (space != PTX_SPACE_SHARED && !each &&
               (way == WAY_HALVES_FOLLOW || way == WAY_HALVES_SAME) &&
               in_other_lines(at[0], at[LANES / 2], way == WAY_HALVES_SAME ? size : bytes / 2)) {
        emu_count_run(g, in, w, at[0], at[LANES / 2], way == WAY_HALVES_SAME ? size : bytes / 2,
                      lanes, size, in->y);
    } else {
        if (way == WAY_HALVES_FOLLOW || way == WAY_HALVES_SAME)
            fill_halves(at, way == WAY_HALVES_FOLLOW ? size : 0);
        else if (run && space == PTX_SPACE_SHARED) fill_run(at, from, way == WAY_FOLLOW ? size : 0);
        COUNTING.lanes(g, in, w, at, m, size, space, in->y);
    }
}

/* E: the element in memory, D: in its row. */
#define LOAD(name, SPACE, E, D, S)                                                                 \
    OP(ld_##name)                                                                                  \
    {                                                                                              \
        D *d = LANE_ROW(D, in->d);                                                                 \
        for (u32 w = 0; w < g->warps; w++, d += LANES) {                                           \
            u32 m = g->exec[w];                                                                    \
            if (!m) continue;                                                                      \
            _Alignas(64) u64 at[LANES];                                                            \
            u8 *host;                                                                              \
            enum way way = way_by_row(g, in, w, sizeof(E), SPACE, at, &host);                      \
            if (way == WAY_SLOW) {                                                                 \
                uop_addresses(g, in, w, SPACE, at);                                                \
                way = way_in(g, in, at, m, sizeof(E), sizeof(E), SPACE, false, &host);             \
            }                                                                                      \
            count_access(g, in, w, at, m, sizeof(E), way, SPACE);                                  \
            if (way == WAY_FOLLOW) {                                                               \
                const E *p = (const E *)(const void *)host;                                        \
                if (m == ~0u) {                                                                    \
                    LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = (D)(S)p[l];                   \
                } else {                                                                           \
                    LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = m >> l & 1 ? (D)(S)p[l]       \
                                                                                : d[l];            \
                }                                                                                  \
            } else if (way == WAY_SAME) {                                                          \
                const D v = (D)(S) * (const E *)(const void *)host;                                \
                LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = m >> l & 1 ? v : d[l];            \
            } else if (way == WAY_HALVES_FOLLOW) {                                                 \
                for (int h = 0; h < LANES; h += LANES / 2) {                                       \
                    const E *p = (const E *)beyond(host, at[h]);                                   \
                    D *to = d + h;                                                                 \
                    LANE_HALF_LOOP for (int l = 0; l < LANES / 2; l++) to[l] = (D)(S)p[l];         \
                }                                                                                  \
            } else if (way == WAY_HALVES_SAME) {                                                   \
                for (int h = 0; h < LANES; h += LANES / 2) {                                       \
                    const D v = (D)(S) * (const E *)beyond(host, at[h]);                           \
                    D *to = d + h;                                                                 \
                    LANE_HALF_LOOP for (int l = 0; l < LANES / 2; l++) to[l] = v;                  \
                }                                                                                  \
            } else if (way == WAY_OFFSETS) {                                                       \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    d[l] = (D)(S) * (const E *)beyond(host, at[l]);                                \
                }                                                                                  \
            } else                                                                                 \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    E v;                                                                           \
                    if (!emu_lane_read(g, in, w, l, ((const struct mem_desc *)in->ext)->space,     \
                                       at[l], sizeof v, &v))                                       \
                        return NULL;                                                               \
                    d[l] = (D)(S)v;                                                                \
                }                                                                                  \
        }                                                                                          \
        return in + 1;                                                                             \
    }

#define STORE(name, SPACE, E, D)                                                                   \
    OP(st_##name)                                                                                  \
    {                                                                                              \
        const D *d = LANE_ROW(const D, in->d);                                                     \
        for (u32 w = 0; w < g->warps; w++, d += LANES) {                                           \
            u32 m = g->exec[w];                                                                    \
            if (!m) continue;                                                                      \
            _Alignas(64) u64 at[LANES];                                                            \
            u8 *host;                                                                              \
            enum way way = way_by_row(g, in, w, sizeof(E), SPACE, at, &host);                      \
            if (way == WAY_SLOW) {                                                                 \
                uop_addresses(g, in, w, SPACE, at);                                                \
                way = way_in(g, in, at, m, sizeof(E), sizeof(E), SPACE, true, &host);              \
            }                                                                                      \
            count_access(g, in, w, at, m, sizeof(E), way, SPACE);                                  \
            if (way == WAY_FOLLOW) {                                                               \
                E *p = (E *)(void *)host;                                                          \
                if (m == ~0u) {                                                                    \
                    LANE_LOOP for (int l = 0; l < LANES; l++) p[l] = (E)d[l];                      \
                } else                                                                             \
                    for (u32 left = m; left; left &= left - 1) {                                   \
                        u32 l = (u32)__builtin_ctz(left);                                          \
                        p[l] = (E)d[l];                                                            \
                    }                                                                              \
            } else if (way == WAY_SAME) { /* the highest lane wins */                              \
                *(E *)(void *)host = (E)d[31 - __builtin_clz(m)];                                  \
            } else if (way == WAY_HALVES_FOLLOW) {                                                 \
                for (int h = 0; h < LANES; h += LANES / 2) {                                       \
                    E *p = (E *)beyond(host, at[h]);                                               \
                    LANE_HALF_LOOP for (int l = 0; l < LANES / 2; l++) p[l] = (E)d[h + l];         \
                }                                                                                  \
            } else if (way == WAY_HALVES_SAME) {                                                   \
                for (int h = 0; h < LANES; h += LANES / 2)                                         \
                    *(E *)beyond(host, at[h]) = (E)d[h + LANES / 2 - 1];                           \
            } else if (way != WAY_SLOW) {                                                          \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    *(E *)beyond(host, at[l]) = (E)d[l];                                           \
                }                                                                                  \
            } else                                                                                 \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    E v = (E)d[l];                                                                 \
                    if (!emu_lane_write(g, in, w, l, ((const struct mem_desc *)in->ext)->space,    \
                                        at[l], sizeof v, &v))                                      \
                        return NULL;                                                               \
                }                                                                                  \
        }                                                                                          \
        return in + 1;                                                                             \
    }

/* Four words of each lane between their rows and 16 bytes at `base` + at[l], or + 16 l if `at` is NULL. */
static inline __attribute__((always_inline)) u8 *quad_at(u8 *base, const u64 *at, u32 l)
{
    return at ? beyond(base, at[l]) : base + 16 * l;
}
#if defined __AVX2__
#define TURN4(T, a, b, c, d)                                                                       \
    const __m256i t0 = _mm256_unpacklo_epi32(a, b), t1 = _mm256_unpackhi_epi32(a, b),              \
                  t2 = _mm256_unpacklo_epi32(c, d), t3 = _mm256_unpackhi_epi32(c, d);              \
    const __m256i T[4] = {_mm256_unpacklo_epi64(t0, t2), _mm256_unpackhi_epi64(t0, t2),            \
                          _mm256_unpacklo_epi64(t1, t3), _mm256_unpackhi_epi64(t1, t3)};
static inline __m256i quads(u8 *base, const u64 *at, u32 l) /* of lanes l and l + 4 */
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(void *)quad_at(base, at, l))),
        _mm_loadu_si128((const __m128i *)(void *)quad_at(base, at, l + 4)), 1);
}
static inline __attribute__((always_inline)) void load_quads(u8 *base, const u64 *at,
                                                             u32 *const row[4])
{
    for (u32 l = 0; l < LANES; l += 8) {
        TURN4(v, quads(base, at, l), quads(base, at, l + 1), quads(base, at, l + 2),
              quads(base, at, l + 3))
        for (int k = 0; k < 4; k++) _mm256_storeu_si256((__m256i *)(void *)(row[k] + l), v[k]);
    }
}
static inline __attribute__((always_inline)) void store_quads(u8 *base, const u64 *at,
                                                              u32 *const row[4])
{
#define ROW_AT(k) _mm256_loadu_si256((const __m256i *)(const void *)(row[k] + l))
    for (u32 l = 0; l < LANES; l += 8) {
        TURN4(v, ROW_AT(0), ROW_AT(1), ROW_AT(2), ROW_AT(3))
        for (u32 k = 0; k < 4; k++)
            _mm_storeu_si128((__m128i *)(void *)quad_at(base, at, l + k),
                             _mm256_castsi256_si128(v[k]));
        for (u32 k = 0; k < 4; k++)
            _mm_storeu_si128((__m128i *)(void *)quad_at(base, at, l + 4 + k),
                             _mm256_extracti128_si256(v[k], 1));
    }
#undef ROW_AT
}
#undef TURN4
#else
static inline void load_quads(u8 *base, const u64 *at, u32 *const row[4])
{
    for (u32 l = 0; l < LANES; l++) {
        u32 v[4];
        memcpy(v, quad_at(base, at, l), sizeof v);
        row[0][l] = v[0], row[1][l] = v[1], row[2][l] = v[2], row[3][l] = v[3];
    }
}
static inline void store_quads(u8 *base, const u64 *at, u32 *const row[4])
{
    for (u32 l = 0; l < LANES; l++) {
        const u32 v[4] = {row[0][l], row[1][l], row[2][l], row[3][l]};
        memcpy(quad_at(base, at, l), v, sizeof v);
    }
}
#endif

#if defined __AVX512F__
/* The same side by side, 16 lanes at once: words 0 and 1 (2 and 3) of eight lanes in one vector, and halves of two such. */
static inline __m512i two_words(const u32 first)
{
    const int a = (int)first, b = a + 1;
    return _mm512_setr_epi32(a, a + 4, a + 8, a + 12, a + 16, a + 20, a + 24, a + 28, b, b + 4,
                             b + 8, b + 12, b + 16, b + 20, b + 24, b + 28);
}
static inline void load_quad_run(const u8 *from, u32 *const row[4])
{
    const __m512i low = two_words(0), high = two_words(2);
    for (u32 l = 0; l < LANES; l += 16, from += 256) {
        const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64),
                      c = _mm512_loadu_si512(from + 128), d = _mm512_loadu_si512(from + 192);
        const __m512i x = _mm512_permutex2var_epi32(a, low, b),
                      y = _mm512_permutex2var_epi32(c, low, d),
                      z = _mm512_permutex2var_epi32(a, high, b),
                      w = _mm512_permutex2var_epi32(c, high, d);
        _mm512_storeu_si512(row[0] + l, _mm512_shuffle_i64x2(x, y, 0x44));
        _mm512_storeu_si512(row[1] + l, _mm512_shuffle_i64x2(x, y, 0xee));
        _mm512_storeu_si512(row[2] + l, _mm512_shuffle_i64x2(z, w, 0x44));
        _mm512_storeu_si512(row[3] + l, _mm512_shuffle_i64x2(z, w, 0xee));
    }
}
static inline void store_quad_run(u8 *to, u32 *const row[4])
{
    /* of 8 lanes: words of two rows side by side, then pairs of words */
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
                  high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                           31),
                  first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  last = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    for (u32 l = 0; l < LANES; l += 16, to += 256) {
        const __m512i a = _mm512_loadu_si512(row[0] + l), b = _mm512_loadu_si512(row[1] + l),
                      c = _mm512_loadu_si512(row[2] + l), d = _mm512_loadu_si512(row[3] + l);
        const __m512i x = _mm512_permutex2var_epi32(a, low, b),
                      y = _mm512_permutex2var_epi32(c, low, d),
                      z = _mm512_permutex2var_epi32(a, high, b),
                      w = _mm512_permutex2var_epi32(c, high, d);
        _mm512_storeu_si512(to, _mm512_permutex2var_epi64(x, first, y));
        _mm512_storeu_si512(to + 64, _mm512_permutex2var_epi64(x, last, y));
        _mm512_storeu_si512(to + 128, _mm512_permutex2var_epi64(z, first, w));
        _mm512_storeu_si512(to + 192, _mm512_permutex2var_epi64(z, last, w));
    }
}
#else
static inline void load_quad_run(u8 *from, u32 *const row[4])
{
    load_quads(from, NULL, row);
}
static inline void store_quad_run(u8 *to, u32 *const row[4])
{
    store_quads(to, NULL, row);
}
#endif

/* ld.v4 and st.v4 of words by a whole warp of warp w, found as `way`. The rows of a load do not overlap. */
static void move_quads(struct emu_group *g, const struct mem_desc *v, u32 w, enum way way, u8 *host,
                       const u64 *at, bool write)
{
    u32 *row[4];
    for (int k = 0; k < 4; k++) row[k] = LANE_ROW(u32, v->rows[k]) + w * LANES;
    if (way == WAY_FOLLOW) write ? store_quad_run(host, row) : load_quad_run(host, row);
    else write ? store_quads(host, at, row) : load_quads(host, at, row);
}

/* ld.v4 and st.v4 of words in shared memory by the first warps of a group that are whole and whose lanes are side by side.
 * Returns how many warps that are. */
static inline __attribute__((always_inline)) u32 quad_runs(struct emu_group *g,
                                                           const struct emu_uop *in, bool write)
{
    const struct mem_desc *v = in->ext;
    const u32 bytes = LANES * 16, limit = g->cta->shared_size;
    const u32 *p = (const u32 *)(const void *)(g->r32 + in->a);
    u32 *row[4], w = 0;
    if (v->count != 4 || v->align != 16 || in->x != 4 || limit < bytes ||
        (g->worker->sites && g->worker->machine->narrow_banks))
        return 0;
    for (u32 k = 0; k < 4; k++) row[k] = LANE_ROW(u32, v->rows[k]);
    for (; w < g->warps && g->exec[w] == ~0u; w++, p += LANES) {
        const u32 a = *p + (u32)in->imm;
        if (any(off_run_32(p, LANES, *p, 16)) || a & 15 || a > limit - bytes) break;
        if (write) store_quad_run(g->cta->shared + a, row);
        else load_quad_run(g->cta->shared + a, row);
        for (u32 k = 0; k < 4; k++) row[k] += LANES;
    }
    for (u32 i = 0; i < w && g->worker->sites; i++)
        emu_count_bank_conflict_passes(g, in, i, LANES, bank_conflict_passes_of_run(16, false));
    return w;
}
static __attribute__((noinline)) u32 load_quad_runs(struct emu_group *g, const struct emu_uop *in)
{
    return quad_runs(g, in, false);
}
static __attribute__((noinline)) u32 store_quad_runs(struct emu_group *g, const struct emu_uop *in)
{
    return quad_runs(g, in, true);
}

/* Vectors: n elements side by side for each lane. */
#define LOAD_VECTOR(name, SPACE, E, D, S)                                                          \
    OP(ldv_##name)                                                                                 \
    {                                                                                              \
        const struct mem_desc *v = in->ext;                                                        \
        const u32 n = v->count, size = n * (u32)sizeof(E);                                         \
        u32 w = SPACE == PTX_SPACE_SHARED && sizeof(E) == 4 ? load_quad_runs(g, in) : 0;           \
        for (; w < g->warps; w++) {                                                                \
            u32 m = g->exec[w];                                                                    \
            if (!m) continue;                                                                      \
            _Alignas(64) u64 at[LANES];                                                            \
            u8 *host;                                                                              \
            const bool quads = sizeof(E) == 4 && n == 4 && m == ~0u;                               \
            enum way way = quads && v->align == 16 ? way_by_row(g, in, w, 16, SPACE, at, &host)    \
                                                   : WAY_SLOW;                                     \
            if (way == WAY_SLOW) {                                                                 \
                uop_addresses(g, in, w, SPACE, at);                                                \
                way = way_in(g, in, at, m, size, v->align, SPACE, false, &host);                   \
            } else if (way >= WAY_HALVES_FOLLOW)                                                   \
                fill_halves(at, way == WAY_HALVES_FOLLOW ? 16 : 0);                                \
            count_access(g, in, w, at, m, size, way, SPACE);                                       \
            if (quads && way != WAY_SLOW && way != WAY_SAME) {                                     \
                move_quads(g, v, w, way, host, at, false);                                         \
                continue;                                                                          \
            }                                                                                      \
            if (way == WAY_SLOW) {                                                                 \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    E e[8];                                                                        \
                    if (!emu_lane_read(g, in, w, l, v->space, at[l], size, e)) return NULL;        \
                    for (u32 k = 0; k < n; k++)                                                    \
                        LANE_ROW(D, v->rows[k])[w * LANES + l] = (D)(S)e[k];                       \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            if (way == WAY_FOLLOW && m == ~0u) {                                                   \
                const E *p = (const E *)(const void *)host;                                        \
                for (u32 k = 0; k < n; k++) {                                                      \
                    D *d = LANE_ROW(D, v->rows[k]) + w * LANES;                                    \
                    if (n == 2) {                                                                  \
                        LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = (D)(S)p[2 * l + (int)k];  \
                    } else if (n == 4) {                                                           \
                        LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = (D)(S)p[4 * l + (int)k];  \
                    } else                                                                         \
                        for (int l = 0; l < LANES; l++) d[l] = (D)(S)p[8 * l + (int)k];            \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (u32 k = 0; k < n; k++) {                                                          \
                D *d = LANE_ROW(D, v->rows[k]) + w * LANES;                                        \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    const u8 *p = way == WAY_SAME     ? host                                       \
                                  : way == WAY_FOLLOW ? host + l * size                            \
                                                      : beyond(host, at[l]);                       \
                    d[l] = (D)(S)((const E *)(const void *)p)[k];                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }

#define STORE_VECTOR(name, SPACE, E, D)                                                            \
    OP(stv_##name)                                                                                 \
    {                                                                                              \
        const struct mem_desc *v = in->ext;                                                        \
        const u32 n = v->count, size = n * (u32)sizeof(E);                                         \
        u32 w = SPACE == PTX_SPACE_SHARED && sizeof(E) == 4 ? store_quad_runs(g, in) : 0;          \
        for (; w < g->warps; w++) {                                                                \
            u32 m = g->exec[w];                                                                    \
            if (!m) continue;                                                                      \
            _Alignas(64) u64 at[LANES];                                                            \
            u8 *host;                                                                              \
            const bool quads = sizeof(E) == 4 && n == 4 && m == ~0u;                               \
            enum way way = quads && v->align == 16 ? way_by_row(g, in, w, 16, SPACE, at, &host)    \
                                                   : WAY_SLOW;                                     \
            if (way == WAY_SLOW) {                                                                 \
                uop_addresses(g, in, w, SPACE, at);                                                \
                way = way_in(g, in, at, m, size, v->align, SPACE, true, &host);                    \
            } else if (way >= WAY_HALVES_FOLLOW)                                                   \
                fill_halves(at, way == WAY_HALVES_FOLLOW ? 16 : 0);                                \
            count_access(g, in, w, at, m, size, way, SPACE);                                       \
            if (quads && way != WAY_SLOW && way != WAY_SAME) {                                     \
                move_quads(g, v, w, way, host, at, true);                                          \
                continue;                                                                          \
            }                                                                                      \
            if (m == ~0u && way != WAY_SLOW && (n == 2 || n == 4)) { /* in order of lanes */       \
                if (way == WAY_SAME) fill_run(at, (u64)(uintptr_t)host, 0);                        \
                else if (way == WAY_FOLLOW) fill_run(at, (u64)(uintptr_t)host, size);              \
                else LANE_LOOP for (int l = 0; l < LANES; l++) at[l] += (u64)(uintptr_t)host;      \
                const D *const a = LANE_ROW(const D, v->rows[0]) + w * LANES,                      \
                               *const b = LANE_ROW(const D, v->rows[1]) + w * LANES,               \
                               *const c = n == 4 ? LANE_ROW(const D, v->rows[2]) + w * LANES : a,  \
                               *const d = n == 4 ? LANE_ROW(const D, v->rows[3]) + w * LANES : a;  \
                for (u32 l = 0; l < LANES; l++) {                                                  \
                    E *const p = (E *)(uintptr_t)at[l];                                            \
                    const E e[4] = {(E)a[l], (E)b[l], (E)c[l], (E)d[l]};                           \
                    if (n == 4) memcpy(p, e, sizeof e);                                            \
                    else memcpy(p, e, sizeof e / 2);                                               \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (u32 left = m; left; left &= left - 1) {                                           \
                u32 l = (u32)__builtin_ctz(left);                                                  \
                E e[8];                                                                            \
                for (u32 k = 0; k < n; k++) e[k] = (E)LANE_ROW(D, v->rows[k])[w * LANES + l];      \
                if (way == WAY_SLOW) {                                                             \
                    if (!emu_lane_write(g, in, w, l, v->space, at[l], size, e)) return NULL;       \
                    continue;                                                                      \
                }                                                                                  \
                u8 *p = way == WAY_SAME     ? host                                                 \
                        : way == WAY_FOLLOW ? host + l * size                                      \
                                            : beyond(host, at[l]);                                 \
                memcpy(p, e, size);                                                                \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }

/* .local: word i of all lanes lies side by side, so an address that all lanes share is a row. */
static inline bool one_offset(const struct emu_group *g, const u64 *at, u32 m, u32 size, u32 align,
                              u64 *offset)
{
    u64 a = at[__builtin_ctz(m)], differ = 0, limit = g->files.top_local + g->code->frame.local;
    LANE_LOOP for (int l = 0; l < LANES; l++) differ |= (at[l] ^ a) & -(u64)(m >> l & 1);
    *offset = a;
    return !differ && !(a & (align - 1)) && a <= limit && limit - a >= size;
}

#define LOCAL_ROW(offset) ((u32 *)(void *)g->files.bundle_local + (offset) / 4 * ROW + w * LANES)

#define LOAD_LOCAL(name, E, D, S)                                                                  \
    OP(ldv_local_##name)                                                                           \
    {                                                                                              \
        const struct mem_desc *v = in->ext;                                                        \
        const u32 n = v->count, size = n * (u32)sizeof(E);                                         \
        for (u32 w = 0; w < g->warps; w++) {                                                       \
            const u32 m = g->exec[w];                                                              \
            if (!m) continue;                                                                      \
            _Alignas(64) u64 at[LANES];                                                            \
            u64 offset;                                                                            \
            uop_addresses(g, in, w, PTX_SPACE_LOCAL, at);                                          \
            if (g->worker->sites) COUNTING.lanes(g, in, w, at, m, size, PTX_SPACE_LOCAL, in->y);   \
            if (!one_offset(g, at, m, size, v->align, &offset)) {                                  \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    E e[8];                                                                        \
                    if (!emu_lane_read(g, in, w, l, v->space, at[l], size, e)) return NULL;        \
                    for (u32 k = 0; k < n; k++)                                                    \
                        LANE_ROW(D, v->rows[k])[w * LANES + l] = (D)(S)e[k];                       \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (u32 k = 0; k < n; k++, offset += sizeof(E)) {                                     \
                D *d = LANE_ROW(D, v->rows[k]) + w * LANES;                                        \
                const u32 *low = LOCAL_ROW(offset), *high = sizeof(E) == 8 ? low + ROW : low;      \
                const u32 shift = (u32)(offset & 3) * 8;                                           \
                LANE_LOOP for (int l = 0; l < LANES; l++)                                          \
                {                                                                                  \
                    const E e = sizeof(E) == 8 ? (E)(low[l] | (u64)high[l] << 32)                  \
                                               : (E)(low[l] >> shift);                             \
                    d[l] = m >> l & 1 ? (D)(S)e : d[l];                                            \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }

#define STORE_LOCAL(name, E, D)                                                                    \
    OP(stv_local_##name)                                                                           \
    {                                                                                              \
        const struct mem_desc *v = in->ext;                                                        \
        const u32 n = v->count, size = n * (u32)sizeof(E);                                         \
        for (u32 w = 0; w < g->warps; w++) {                                                       \
            const u32 m = g->exec[w];                                                              \
            if (!m) continue;                                                                      \
            _Alignas(64) u64 at[LANES];                                                            \
            u64 offset;                                                                            \
            uop_addresses(g, in, w, PTX_SPACE_LOCAL, at);                                          \
            if (g->worker->sites) COUNTING.lanes(g, in, w, at, m, size, PTX_SPACE_LOCAL, in->y);   \
            if (!one_offset(g, at, m, size, v->align, &offset)) {                                  \
                for (u32 left = m; left; left &= left - 1) {                                       \
                    u32 l = (u32)__builtin_ctz(left);                                              \
                    E e[8];                                                                        \
                    for (u32 k = 0; k < n; k++) e[k] = (E)LANE_ROW(D, v->rows[k])[w * LANES + l];  \
                    if (!emu_lane_write(g, in, w, l, v->space, at[l], size, e)) return NULL;       \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (u32 k = 0; k < n; k++, offset += sizeof(E)) {                                     \
                const D *d = LANE_ROW(const D, v->rows[k]) + w * LANES;                            \
                u32 *low = LOCAL_ROW(offset), *high = low + ROW;                                   \
                const u32 shift = (u32)(offset & 3) * 8;                                           \
                const u32 bits = (sizeof(E) >= 4 ? ~0u : (1u << sizeof(E) % 4 * 8) - 1) << shift;  \
                LANE_LOOP for (int l = 0; l < LANES; l++)                                          \
                {                                                                                  \
                    const u32 x = (u32)(E)d[l] << shift;                                           \
                    low[l] = m >> l & 1 ? (low[l] & ~bits) | (x & bits) : low[l];                  \
                }                                                                                  \
                if (sizeof(E) == 8)                                                                \
                    LANE_LOOP for (int l = 0; l < LANES; l++)                                      \
                        high[l] = m >> l & 1 ? (u32)((u64)d[l] >> 32) : high[l];                   \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }
LOAD_LOCAL(u8, u8, u16, u8)
LOAD_LOCAL(i8, u8, u16, i8)
LOAD_LOCAL(u16, u16, u16, u16)
LOAD_LOCAL(u32, u32, u32, u32)
LOAD_LOCAL(u64, u64, u64, u64)
STORE_LOCAL(u8, u8, u16)
STORE_LOCAL(u16, u16, u16)
STORE_LOCAL(u32, u32, u32)
STORE_LOCAL(u64, u64, u64)

#define SPACE_OPS(name, SPACE)                                                                     \
    LOAD(name##_u8, SPACE, u8, u16, u8)                                                            \
    LOAD(name##_i8, SPACE, u8, u16, i8)                                                            \
    LOAD(name##_u16, SPACE, u16, u16, u16)                                                         \
    LOAD(name##_u32, SPACE, u32, u32, u32)                                                         \
    LOAD(name##_u64, SPACE, u64, u64, u64)                                                         \
    STORE(name##_u8, SPACE, u8, u16)                                                               \
    STORE(name##_u16, SPACE, u16, u16)                                                             \
    STORE(name##_u32, SPACE, u32, u32)                                                             \
    STORE(name##_u64, SPACE, u64, u64)                                                             \
    LOAD_VECTOR(name##_u8, SPACE, u8, u16, u8)                                                     \
    LOAD_VECTOR(name##_i8, SPACE, u8, u16, i8)                                                     \
    LOAD_VECTOR(name##_u16, SPACE, u16, u16, u16)                                                  \
    LOAD_VECTOR(name##_u32, SPACE, u32, u32, u32)                                                  \
    LOAD_VECTOR(name##_u64, SPACE, u64, u64, u64)                                                  \
    STORE_VECTOR(name##_u8, SPACE, u8, u16)                                                        \
    STORE_VECTOR(name##_u16, SPACE, u16, u16)                                                      \
    STORE_VECTOR(name##_u32, SPACE, u32, u32)                                                      \
    STORE_VECTOR(name##_u64, SPACE, u64, u64)
SPACE_OPS(global, PTX_SPACE_GLOBAL)
SPACE_OPS(shared, PTX_SPACE_SHARED)
SPACE_OPS(any, PTX_SPACE_GENERIC)
