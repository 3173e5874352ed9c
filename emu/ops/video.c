/* The video instructions. They are rare, so their code is simple rather than fast. */
#include "emu/ops/video.h"

#include "ptx/ptx.h"

/* A byte, half or the whole of a word, extended. */
static i64 part(u32 x, u32 sel, bool sign)
{
    u32 bits = 32, at = 0;
    if (sel >= PTX_SEL_B0 && sel <= PTX_SEL_B3) bits = 8, at = (sel - PTX_SEL_B0) * 8;
    else if (sel == PTX_SEL_H0 || sel == PTX_SEL_H1) bits = 16, at = (sel - PTX_SEL_H0) * 16;
    u64 field = (x >> at) & (((u64)1 << bits) - 1);
    if (sign && field >> (bits - 1) & 1) field |= ~(u64)0 << bits;
    return (i64)field;
}

typedef __int128 wide; /* products and left shifts fit */

static i64 clamp(wide x, u32 bits, bool sign)
{
    i64 most = sign ? ((i64)1 << (bits - 1)) - 1 : ((i64)1 << bits) - 1,
        least = sign ? -((i64)1 << (bits - 1)) : 0;
    return x > most ? most : x < least ? least : (i64)x;
}

/* What a secondary operation gets: 33 bits with sign. */
static i64 cut33(wide x)
{
    return (i64)((u64)x << 31) >> 31;
}

static bool compare(u32 how, i64 a, i64 b)
{
    switch (how) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    default: return a >= b;
    }
}

static wide combine(const struct video_desc *v, i64 a, i64 b)
{
    switch (v->op) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_ABSDIFF: return a > b ? a - b : b - a;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    case VIDEO_SET: return compare(v->compare, a, b);
    case VIDEO_AVERAGE: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VIDEO_SHL:
    case VIDEO_SHR: {
        u64 n = (u64)b & 0xffffffff;
        n = v->clamp ? n > 32 ? 32 : n : n & 31;
        return v->op == VIDEO_SHL ? (wide)((unsigned __int128)(wide)a << n) : a >> n;
    }
    default: return 0;
    }
}

/* vmad: up to 66 bits before they are cut. */
static u32 multiply_add(const struct video_desc *v, u32 x, u32 y, u32 z)
{
    bool minus = v->minus_a != v->minus_b, final = v->sign_a || v->sign_b || minus || v->minus_c;
    wide tmp = (wide)part(x, v->sel_a, v->sign_a) * part(y, v->sel_b, v->sign_b), one = 0;
    if (v->plus_one) one = 1;
    else if (minus) tmp = ~tmp, one = 1;
    else if (v->minus_c) z = ~z, one = 1;
    tmp += (final ? (wide)(i32)z : (wide)z) + one;
    tmp >>= v->shift;
    return (u32)(v->sat ? (u64)clamp(tmp, 32, final) : (u64)tmp);
}

static u32 scalar(const struct video_desc *v, u32 x, u32 y, u32 c)
{
    if (v->op == VIDEO_MAD) return multiply_add(v, x, y, c);
    wide tmp = combine(v, part(x, v->sel_a, v->sign_a), part(y, v->sel_b, v->sign_b));
    u32 bits = v->sel_d >= PTX_SEL_B0 && v->sel_d <= PTX_SEL_B3 ? 8 : v->sel_d ? 16 : 32;
    if (v->sat) tmp = clamp(tmp, bits, v->sign_d);
    i64 x33 = cut33(tmp), c33 = v->sign_d ? (i64)(i32)c : (i64)c;
    u32 t = (u32)(u64)tmp, at = bits == 8    ? (v->sel_d - PTX_SEL_B0) * 8u
                                : bits == 16 ? (v->sel_d - PTX_SEL_H0) * 16u
                                             : 0;
    switch (v->then) {
    case THEN_ADD: return t + c;
    case THEN_MIN: return x33 < c33 ? t : c;
    case THEN_MAX: return x33 > c33 ? t : c;
    case THEN_MERGE: {
        u32 mask = bits == 32 ? ~0u : ((1u << bits) - 1) << at;
        return (c & ~mask) | (t << at & mask);
    }
    default: return t;
    }
}

static u32 simd(const struct video_desc *v, u32 x, u32 y, u32 c)
{
    u32 bits = v->parts == 2 ? 16 : 8, low = (1u << bits) - 1, d = v->then == THEN_ADD ? c : 0;
    u64 both = (u64)y << 32 | x;
    for (u32 i = 0; i < v->parts; i++) {
        u32 on = v->mask >> i & 1, at = i * bits;
        i64 a = (i64)(both >> v->from_a[i] * bits & low),
            b = (i64)(both >> v->from_b[i] * bits & low);
        if (v->sign_a && a >> (bits - 1) & 1) a -= (i64)low + 1;
        if (v->sign_b && b >> (bits - 1) & 1) b -= (i64)low + 1;
        wide t = combine(v, a, b);
        if (v->sat) t = clamp(t, bits, v->sign_d);
        if (v->then == THEN_ADD) d += on ? (u32)(u64)t : 0;
        else d |= on ? ((u32)(u64)t & low) << at : c & low << at;
    }
    return d;
}

u32 video_apply(const struct video_desc *v, u32 a, u32 b, u32 c)
{
    return v->parts ? simd(v, a, b, c) : scalar(v, a, b, c);
}

const struct emu_uop *emu_op_video(struct emu_group *g, const struct emu_uop *in)
{
    const struct video_desc *v = in->ext;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            emu_put(g, 4, in->d, w, l,
                    video_apply(v, (u32)emu_get(g, 4, in->a, w, l), (u32)emu_get(g, 4, in->b, w, l),
                                (u32)emu_get(g, 4, in->c, w, l)));
        }
    return in + 1;
}
