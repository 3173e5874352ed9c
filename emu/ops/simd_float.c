/* Handlers of single and double precision and of comparison, from uops_float.def. */
#include "emu/ops/lane.h"

#include "emu/ops/approx.h"
#include "emu/ops/fpmod.h"

static inline f32 low_of(u64 pair)
{
    return fp_float32((u32)pair);
}

static inline f32 high_of(u64 pair)
{
    return fp_float32((u32)(pair >> 32));
}

static inline u64 pair_of(f32 low, f32 high)
{
    return (u64)fp_bits32(high) << 32 | fp_bits32(low);
}

/* mad.f32 of sm_1x (9.7.3.7): the product is cut to 24 bits without a limit to its exponent, then c is
 * added; but if c is a zero, it is mul and add. */
static inline f32 mad_1x(f32 a, f32 b, f32 c)
{
    f64 product = fp_float64(fp_bits64((f64)a * (f64)b) & ~(u64)0x1fffffff);
    f32 fused = (f32)fp_add_odd64(product, c), separate = fp_ftz32(a * b) + c;
    return fp_ftz32(fp_canon32(c == 0 ? separate : fused));
}

static inline bool compare_ftz(f32 a, f32 b, enum fp_cmp cmp)
{
    return fp_cmp32(fp_ftz32(a), fp_ftz32(b), cmp);
}

static inline bool compare_f16(u16 a, u16 b, enum fp_cmp cmp)
{
    const u32 nan = (u32)fp_is_nan_f16(a) | (u32)fp_is_nan_f16(b); /* without branches */
    if (cmp == FP_CMP_NUM) return !nan;
    if (cmp == FP_CMP_NAN) return nan;
    return fp_cmp32(fp_f32_from_f16(a), fp_f32_from_f16(b), cmp);
}

static inline bool compare_bf16(u16 a, u16 b, enum fp_cmp cmp)
{
    return fp_cmp32(fp_float32((u32)a << 16), fp_float32((u32)b << 16), cmp);
}

/* Sine and cosine: all lanes as if their arguments were moderate, then again those that are not. */
#define TRIG(name, near, any)                                                                      \
    OP(name)                                                                                       \
    {                                                                                              \
        const f32 *a = LANE_ROW(const f32, in->a);                                                 \
        f32 *d = LANE_ROW(f32, in->d);                                                             \
        const bool ftz = in->x;                                                                    \
        for (u32 w = 0; w < g->warps; w++, a += LANES, d += LANES) {                               \
            if (!g->exec[w]) continue;                                                             \
            f32 x[LANES], y[LANES];                                                                \
            u32 far = 0;                                                                           \
            LANE_LOOP for (int l = 0; l < LANES; l++) x[l] = ftz ? fp_ftz32(a[l]) : a[l];          \
            LANE_LOOP for (int l = 0; l < LANES; l++) y[l] = near(x[l]);                           \
            for (int l = 0; l < LANES; l++) far |= fp_trig_is_far32(x[l]) ? 1u : 0u;               \
            if (far)                                                                               \
                for (int l = 0; l < LANES; l++) y[l] = any(x[l]);                                  \
            const u32 on = g->exec[w];                                                             \
            LANE_LOOP for (int l = 0; l < LANES; l++)                                              \
            {                                                                                      \
                const f32 r = ftz ? fp_ftz32(y[l]) : y[l], old = d[l];                             \
                d[l] = on >> l & 1 ? r : old;                                                      \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }
TRIG(sin_approx_f32, fp_sin_near32, fp_sin_approx32)
TRIG(cos_approx_f32, fp_cos_near32, fp_cos_approx32)

#define LANE1 LANE_HANDLER1
#define LANE2 LANE_HANDLER2
#define LANE3 LANE_HANDLER3
#define FAST(name)
#define WARP(name)
#include "emu/ops/uops_float.def"
