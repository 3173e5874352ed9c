/* emu/ops/fpmod.h: modifiers of floating-point instructions that a handler tests while it runs, for forms that are too
 * rare for handlers of their own. uop->y holds the bits, uop->x an enum fp_rnd. */
#ifndef HEDDLE_EMU_OPS_FPMOD_H
#define HEDDLE_EMU_OPS_FPMOD_H

#include "emu/ops/fp.h"

enum fp_mod {
    FP_MOD_FTZ = 1,
    FP_MOD_SAT = 2,
    FP_MOD_RELU = 4,
    FP_MOD_SATFINITE = 8,
    FP_MOD_OOB = 16,
};

/* The modifiers of operands (fp_in), and of rounded results (fp_out). */
static inline float fp_in32(float x, unsigned mods)
{
    return mods & FP_MOD_FTZ ? fp_ftz32(x) : x;
}

static inline float fp_out32(float x, unsigned mods)
{
    float y = mods & FP_MOD_FTZ ? fp_ftz32(x) : x;
    return mods & FP_MOD_SAT ? fp_sat32(y) : y;
}

static inline uint16_t fp_in_f16(uint16_t h, unsigned mods)
{
    return mods & FP_MOD_FTZ ? fp_ftz_f16(h) : h;
}

static inline uint16_t fp_out_f16(uint16_t h, unsigned mods)
{
    uint16_t y = mods & FP_MOD_FTZ ? fp_ftz_f16(h) : h;
    y = mods & FP_MOD_SATFINITE ? fp_satfinite_f16(y) : y;
    y = mods & FP_MOD_SAT ? fp_sat_f16(y) : y;
    return mods & FP_MOD_RELU ? fp_relu_f16(y) : y;
}

static inline uint16_t fp_out_bf16(uint16_t h, unsigned mods)
{
    uint16_t y = mods & FP_MOD_SATFINITE ? fp_satfinite_bf16(h) : h;
    return mods & FP_MOD_RELU ? fp_relu_bf16(y) : y;
}

#endif
