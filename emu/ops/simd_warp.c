/* Shuffles, votes, matches and reductions of a warp.
 *
 * The participating lanes are the active lanes (exec) that the lane's own member mask names. So lanes with different
 * masks form separate groups. Lanes that have exited are not waited for, as the ISA says. Live lanes that are named but
 * not active take no part (an error of the guest on the SIMT stack: emu_note_sync). Cases that the ISA leaves
 * undefined:
 *   shfl from an inactive lane: the result is the lane's own value, and the predicate is as for an active lane
 *   a lane that its own mask does not name: its result is that of the active lanes that the mask names */
#include "emu/ops/lane.h"

#include "emu/measure/count.h"
#include "emu/ops/warpops.h"

#include <string.h>

#if defined __AVX2__
#include <immintrin.h>
#endif

static const u32 lane_bit[LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* A word for each lane that is on. */
static inline void spread_masks(struct emu_group *g)
{
#if defined __AVX2__
    for (u32 w = 0; w < g->warps; w++) {
        const u32 on = g->exec[w];
        u32 *to = g->lane + w * LANES;
        LANE_LOOP for (u32 l = 0; l < LANES; l++) to[l] = -(on >> l & 1);
    }
#else /* there is no shift by a different number in each lane */
#define N(a, b, c, d)                                                                              \
    {                                                                                              \
        a * ~0u, b * ~0u, c * ~0u, d * ~0u                                                         \
    }
    static const u32 four[16][4] = {N(0, 0, 0, 0), N(1, 0, 0, 0), N(0, 1, 0, 0), N(1, 1, 0, 0),
                                    N(0, 0, 1, 0), N(1, 0, 1, 0), N(0, 1, 1, 0), N(1, 1, 1, 0),
                                    N(0, 0, 0, 1), N(1, 0, 0, 1), N(0, 1, 0, 1), N(1, 1, 0, 1),
                                    N(0, 0, 1, 1), N(1, 0, 1, 1), N(0, 1, 1, 1), N(1, 1, 1, 1)};
#undef N
    for (u32 w = 0; w < g->warps; w++)
        for (u32 l = 0; l < LANES; l += 4)
            memcpy(g->lane + w * LANES + l, four[g->exec[w] >> l & 15], sizeof four[0]);
#endif
}

emu_spread_masks SPREAD_MASKS;
void SPREAD_MASKS(struct emu_group *g, const u32 *mask)
{
    u32 lanes = 0, warps = 0, missing = 0, off = 0;
    for (u32 w = 0; w < g->warps; w++) {
        const u32 m = mask[w];
        g->exec[w] = m;
        missing |= m ^ g->exist[w];
        off |= ~m;
        lanes += emu_lanes_of(m);
        warps += m != 0;
    }
    g->full = !missing;
    g->whole = !off;
    g->lane_count = lanes;
    g->warp_count = warps;
    if (missing) spread_masks(g);
}

/* The warp's part of a row of r32. */
static inline u32 *warp_row(const struct emu_group *g, u32 row, u32 w)
{
    return (u32 *)(void *)(g->r32 + row) + w * LANES;
}

static inline void put(const struct emu_group *g, u32 row, u32 w, const u32 *v)
{
    u32 *d = warp_row(g, row, w);
    if (g->full) {
        LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = v[l];
        return;
    }
    const u32 *on = g->lane + w * LANES;
    LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = on[l] ? v[l] : d[l];
}

static inline void put_all(const struct emu_group *g, u32 row, u32 w, u32 v)
{
    u32 *d = warp_row(g, row, w);
    if (g->full) {
        LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = v;
        return;
    }
    const u32 *on = g->lane + w * LANES;
    LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = on[l] ? v : d[l];
}

static inline u32 ballot_of(const pred *p)
{
    u32 m = 0;
    LANE_LOOP for (int l = 0; l < LANES; l++) m |= p[l] & lane_bit[l];
    return m;
}

/* Lanes whose value is v. */
static inline u32 equal_to(const u32 *a, u32 v)
{
    u32 m = 0;
    LANE_LOOP for (int l = 0; l < LANES; l++) m |= a[l] == v ? lane_bit[l] : 0;
    return m;
}

static inline u32 equal_to64(const u64 *a, u64 v)
{
    u32 m = 0;
    LANE_LOOP for (int l = 0; l < LANES; l++) m |= a[l] == v ? lane_bit[l] : 0;
    return m;
}

/* The head of every loop over warps. */
#define WARPS(w)                                                                                   \
    for (u32 w = 0, exec; w < g->warps; w++)                                                       \
        if ((exec = g->exec[w]) != 0 && (exec == g->alive[w] || (warp_note_absent(g, in, w), true)))

/* ---- shuffles ----------------------------------------------------------------------------------- */

/* v[l] = a of lane src[l], which is below 32. */
static inline void gather_all(const u32 *a, const u32 *src, u32 *v)
{
#if defined __AVX512F__
    const __m512i low = _mm512_loadu_si512(a), high = _mm512_loadu_si512(a + 16);
    for (int l = 0; l < LANES; l += 16)
        _mm512_storeu_si512(v + l,
                            _mm512_permutex2var_epi32(low, _mm512_loadu_si512(src + l), high));
#elif defined __AVX2__
    __m256i x[4];
    for (int i = 0; i < 4; i++)
        x[i] = _mm256_loadu_si256((const __m256i *)(const void *)(a + 8 * i));
    for (int l = 0; l < LANES; l += 8) {
        const __m256i s = _mm256_loadu_si256((const __m256i *)(const void *)(src + l));
        const __m256 bit3 = _mm256_castsi256_ps(_mm256_slli_epi32(s, 28)); /* as a sign */
        const __m256 bit4 = _mm256_castsi256_ps(_mm256_slli_epi32(s, 27));
        __m256 y[4];
        for (int i = 0; i < 4; i++)
            y[i] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(x[i], s));
        y[0] = _mm256_blendv_ps(y[0], y[1], bit3);
        y[2] = _mm256_blendv_ps(y[2], y[3], bit3);
        _mm256_storeu_ps((f32 *)(void *)(v + l), _mm256_blendv_ps(y[0], y[2], bit4));
    }
#else
    for (int l = 0; l < LANES; l++) v[l] = a[src[l]];
#endif
}

static inline void gather(u32 exec, const u32 *a, const u32 *src, u32 *v)
{
    gather_all(a, src, v);
    if (exec == ~0u) return;
    for (int l = 0; l < LANES; l++) v[l] = exec >> src[l] & 1 ? v[l] : a[l];
}

OP(shfl)
{
    const struct shfl_desc *s = in->ext;
    WARPS(w)
    {
        u32 v[LANES];
        gather(exec, warp_row(g, in->a, w), s->src, v);
        put(g, in->d, w, v);
        if (in->n) put(g, in->e, w, s->take);
    }
    return in + 1;
}

/* Distances or lanes from registers. */
#define SHFL(name, J, IN_RANGE)                                                                    \
    OP(shfl_##name)                                                                                \
    {                                                                                              \
        WARPS(w)                                                                                   \
        {                                                                                          \
            const u32 *b = warp_row(g, in->b, w), *c = warp_row(g, in->c, w);                      \
            u32 src[LANES], v[LANES];                                                              \
            pred take[LANES];                                                                      \
            LANE_LOOP for (int l = 0; l < LANES; l++)                                              \
            {                                                                                      \
                const i32 bval = (i32)(b[l] & 31), seg = (i32)(c[l] >> 8 & 31);                    \
                const i32 max = (l & seg) | ((i32)(c[l] & 31) & ~seg), j = J;                      \
                take[l] = IN_RANGE ? ~0u : 0;                                                      \
                src[l] = (u32)(IN_RANGE ? j : l);                                                  \
            }                                                                                      \
            gather(exec, warp_row(g, in->a, w), src, v);                                           \
            put(g, in->d, w, v);                                                                   \
            if (in->n) put(g, in->e, w, take);                                                     \
        }                                                                                          \
        return in + 1;                                                                             \
    }
SHFL(up, l - bval, j >= max)
SHFL(down, l + bval, j <= max)
SHFL(bfly, l ^ bval, j <= max)
SHFL(idx, (l & seg) | (bval & ~seg), j <= max)

/* ---- votes -------------------------------------------------------------------------------------- */

/* `yes`: lanes whose predicate is true and that take part. */
#define VOTE(name, ...)                                                                            \
    OP(name)                                                                                       \
    {                                                                                              \
        WARPS(w)                                                                                   \
        {                                                                                          \
            const u32 here = ballot_of(warp_row(g, in->a, w)) & exec;                              \
            if (in->x != WARP_MASK_ROW) {                                                          \
                const u32 part = (u32)in->imm & exec, yes = here & part;                           \
                put_all(g, in->d, w, (__VA_ARGS__));                                               \
                continue;                                                                          \
            }                                                                                      \
            const u32 *mask = warp_row(g, (u32)in->imm, w);                                        \
            u32 v[LANES];                                                                          \
            for (int l = 0; l < LANES; l++) {                                                      \
                const u32 part = mask[l] & exec, yes = here & part;                                \
                v[l] = (__VA_ARGS__);                                                              \
            }                                                                                      \
            put(g, in->d, w, v);                                                                   \
        }                                                                                          \
        return in + 1;                                                                             \
    }
VOTE(vote_all, yes == part ? ~0u : 0u)
VOTE(vote_any, (void)part, yes ? ~0u : 0u)
VOTE(vote_uni, yes == part || !yes ? ~0u : 0u)
VOTE(ballot, (void)part, yes)

OP(activemask)
{
    for (u32 w = 0; w < g->warps; w++)
        if (g->exec[w]) put_all(g, in->d, w, g->exec[w]);
    return in + 1;
}

/* The lowest lane that takes part. */
OP(elect)
{
    WARPS(w)
    {
        u32 v[LANES];
        pred is[LANES];
        for (u32 l = 0; l < LANES; l++) {
            u32 mask = in->x == WARP_MASK_ROW ? warp_row(g, (u32)in->imm, w)[l] : (u32)in->imm;
            u32 part = mask & exec;
            v[l] = part ? (u32)__builtin_ctz(part) : l;
            is[l] = part && v[l] == l ? ~0u : 0;
        }
        put(g, in->d, w, v);
        put(g, in->e, w, is);
    }
    return in + 1;
}

/* ---- reductions --------------------------------------------------------------------------------- */

#define REDUX(name, T, NONE, ...)                                                                  \
    OP(redux_##name)                                                                               \
    {                                                                                              \
        WARPS(w)                                                                                   \
        {                                                                                          \
            const T *a = (const T *)(const void *)warp_row(g, in->a, w);                           \
            const u32 *mask = warp_row(g, in->x == WARP_MASK_ROW ? (u32)in->imm : 0, w);           \
            u32 v[LANES] = {0};                                                                    \
            for (u32 left = exec; left;) { /* a group of lanes with one mask */                    \
                u32 group = exec, part = (u32)in->imm & exec;                                      \
                if (in->x == WARP_MASK_ROW) {                                                      \
                    u32 m = mask[__builtin_ctz(left)];                                             \
                    group = equal_to(mask, m) & left;                                              \
                    part = m & exec;                                                               \
                }                                                                                  \
                T r = (NONE);                                                                      \
                for (int l = 0; l < LANES; l++) {                                                  \
                    const T x = r, y = part & lane_bit[l] ? a[l] : (NONE);                         \
                    r = (T)(__VA_ARGS__);                                                          \
                }                                                                                  \
                if (group == exec) {                                                               \
                    put_all(g, in->d, w, (u32)r);                                                  \
                    break;                                                                         \
                }                                                                                  \
                for (int l = 0; l < LANES; l++) v[l] = group & lane_bit[l] ? (u32)r : v[l];        \
                left &= ~group;                                                                    \
                if (!left) put(g, in->d, w, v);                                                    \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }
REDUX(add, u32, 0, x + y)
REDUX(and, u32, ~0u, x &y)
REDUX(or, u32, 0, x | y)
REDUX(xor, u32, 0, x ^ y)
REDUX(min_u32, u32, ~0u, x < y ? x : y)
REDUX(max_u32, u32, 0, x > y ? x : y)
REDUX(min_i32, i32, INT32_MAX, x < y ? x : y)
REDUX(max_i32, i32, INT32_MIN, x > y ? x : y)

/* ---- matches ------------------------------------------------------------------------------------ */

/* For each value: the lanes that have it. */
#define MATCH(T, EQUAL)                                                                            \
    const T *a = (const T *)(const void *)((sizeof(T) == 8 ? g->r64 : g->r32) + in->a) +           \
                 w * LANES;                                                                        \
    u32 same[LANES] = {0}, mask[LANES];                                                            \
    for (u32 left = exec; left;) {                                                                 \
        u32 with = EQUAL(a, a[__builtin_ctz(left)]) & exec;                                        \
        for (int l = 0; l < LANES; l++) same[l] = with & lane_bit[l] ? with : same[l];             \
        left &= ~with;                                                                             \
    }                                                                                              \
    for (int l = 0; l < LANES; l++) mask[l] = (u32)in->imm;                                        \
    if (in->x == WARP_MASK_ROW) {                                                                  \
        const u32 *row = warp_row(g, (u32)in->imm, w);                                             \
        for (int l = 0; l < LANES; l++) mask[l] = row[l];                                          \
    }

#define MATCH_ANY(T, EQUAL)                                                                        \
    WARPS(w)                                                                                       \
    {                                                                                              \
        MATCH(T, EQUAL)                                                                            \
        for (int l = 0; l < LANES; l++) same[l] &= mask[l];                                        \
        put(g, in->d, w, same);                                                                    \
    }                                                                                              \
    return in + 1;

#define MATCH_ALL(T, EQUAL)                                                                        \
    WARPS(w)                                                                                       \
    {                                                                                              \
        MATCH(T, EQUAL)                                                                            \
        pred all[LANES];                                                                           \
        for (int l = 0; l < LANES; l++) {                                                          \
            u32 part = mask[l] & exec;                                                             \
            all[l] = (same[l] & part) == part ? ~0u : 0;                                           \
            same[l] = part & all[l];                                                               \
        }                                                                                          \
        put(g, in->d, w, same);                                                                    \
        if (in->n) put(g, in->e, w, all);                                                          \
    }                                                                                              \
    return in + 1;

OP(match_any_u32){MATCH_ANY(u32, equal_to)} OP(match_any_u64){
    MATCH_ANY(u64, equal_to64)} OP(match_all_u32){MATCH_ALL(u32, equal_to)} OP(match_all_u64)
{
    MATCH_ALL(u64, equal_to64)
}
