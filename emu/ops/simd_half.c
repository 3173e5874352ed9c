/* Handlers of half precision, from uops_half.def. */
#include "emu/ops/lane.h"

/* The compiler would call these, which are large, where a loop needs them inside. */
#define INSIDE static inline __attribute__((always_inline)) u16
INSIDE fp_fma_f16(u16 a, u16 b, u16 c);
INSIDE fp_add_f16(u16 a, u16 b);
INSIDE fp_sub_f16(u16 a, u16 b);
INSIDE fp_mul_f16(u16 a, u16 b);

#include "emu/ops/approx.h"
#include "emu/ops/fpmod.h"

static inline u16 fma_mods_f16(u16 a, u16 b, u16 c, unsigned mods)
{
    u16 r = fp_out_f16(fp_fma_f16(fp_in_f16(a, mods), fp_in_f16(b, mods), fp_in_f16(c, mods)),
                       mods);
    return mods & FP_MOD_OOB && fp_oob16(a, b) ? 0 : r;
}

static inline u16 fma_mods_bf16(u16 a, u16 b, u16 c, unsigned mods)
{
    u16 r = fp_out_bf16(fp_fma_bf16(a, b, c, FP_RN), mods);
    return mods & FP_MOD_OOB && fp_oob16(a, b) ? 0 : r;
}

static inline u16 ex2_ftz_bf16(u16 a)
{
    return fp_ftz_bf16(fp_ex2_approx_bf16(fp_ftz_bf16(a)));
}

#define LANE1 LANE_HANDLER1
#define LANE2 LANE_HANDLER2
#define LANE3 LANE_HANDLER3
#define FAST(name)
#define WARP(name)
#include "emu/ops/uops_half.def"
