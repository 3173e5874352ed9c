/* Handlers of conversions, from uops_cvt.def. */
#include "emu/ops/lane.h"

#include "emu/ops/fpmod.h"

static inline u32 tf32_of(f32 a, enum fp_rnd rnd, unsigned mods)
{
    u32 b = fp_tf32_from_f32(a, rnd);
    b = mods & FP_MOD_SATFINITE ? fp_satfinite_tf32(b) : b;
    return mods & FP_MOD_RELU ? fp_bits32(fp_relu32(fp_float32(b))) : b;
}

/* Two integers saturated to `bits` bits, a above b. */
static inline u32 pack(i32 a, i32 b, unsigned bits, bool sign)
{
    const u32 mask = (1u << bits) - 1;
    const i32 max = (i32)(sign ? mask >> 1 : mask), min = sign ? -max - 1 : 0;
    const i32 x = a < min ? min : a > max ? max : a, y = b < min ? min : b > max ? max : b;
    return ((u32)x & mask) << bits | ((u32)y & mask);
}

#define LANE1 LANE_HANDLER1
#define LANE2 LANE_HANDLER2
#define LANE3 LANE_HANDLER3
#define FAST(name)
#define WARP(name)
#include "emu/ops/uops_cvt.def"
