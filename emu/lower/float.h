/* emu/lower/float.h: modifiers of floating-point instructions and their defaults, for the rules of these
 * instructions. */
#ifndef HEDDLE_EMU_LOWER_FLOAT_H
#define HEDDLE_EMU_LOWER_FLOAT_H

#include "emu/device/image.h"
#include "emu/lower/context.h"
#include "emu/ops/fpmod.h"

static inline const struct ptx_module *lower_module(const struct lower *L)
{
    return L->image->program->modules[L->code->module];
}

/* On sm_1x every f32 instruction flushes subnormals, with or without .ftz. */
static inline bool lower_flushes(const struct lower *L, const struct ptx_op *op)
{
    return ptx_op_has(op, "ftz") || lower_module(L)->target.sm < 20;
}

/* .rn .rz .rm .rp, .rni ... and .rna; to nearest without any. */
static inline u8 lower_rounding(const struct ptx_op *op)
{
    if (ptx_op_has(op, "rz") || ptx_op_has(op, "rzi")) return FP_RZ;
    if (ptx_op_has(op, "rm") || ptx_op_has(op, "rmi")) return FP_RM;
    if (ptx_op_has(op, "rp") || ptx_op_has(op, "rpi")) return FP_RP;
    return ptx_op_has(op, "rna") ? FP_RNA : FP_RN;
}

/* All bits of enum fp_mod but FP_MOD_FTZ. */
static inline u8 lower_clamps(const struct ptx_op *op)
{
    return (u8)((ptx_op_has(op, "sat") ? FP_MOD_SAT : 0) |
                (ptx_op_has(op, "relu") ? FP_MOD_RELU : 0) |
                (ptx_op_has(op, "satfinite") ? FP_MOD_SATFINITE : 0) |
                (ptx_op_has(op, "oob") ? FP_MOD_OOB : 0));
}

/* Below sm_13 there is no f64: ptxas computes with f32 instead. */
static inline bool lower_has_f64(struct lower *L, const struct ptx_op *op)
{
    if (lower_module(L)->target.sm >= 13) return true;
    return lower_refuse(L, "'%.*s' is not executed: f64 below sm_13 would be f32",
                        (int)op->text_length, op->text);
}

#endif
