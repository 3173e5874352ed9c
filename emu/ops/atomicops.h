/* emu/ops/atomicops.h: the atomic operations with handlers of their own, each as a function. */
#ifndef HEDDLE_EMU_OPS_ATOMICOPS_H
#define HEDDLE_EMU_OPS_ATOMICOPS_H

#include "emu/atomic.h"
#include "emu/ops/fp.h"

static inline f32 add_ftz(f32 m, f32 b)
{
    return fp_ftz32(fp_add32(fp_ftz32(m), fp_ftz32(b), FP_RN));
}

/* OP(name, T, whether it commutes, m op b). `global` says whether m
 * is in global memory: "atom.add.f32 on global memory flushes subnormal inputs and results", elsewhere
 * it does not. */
#define ATOMIC_OPS(OP)                                                                             \
    OP(add_u32, u32, true, m + b)                                                                  \
    OP(add_u64, u64, true, m + b)                                                                  \
    OP(add_f32, f32, false, global ? add_ftz(m, b) : fp_add32(m, b, FP_RN))                        \
    OP(add_f64, f64, false, fp_add64(m, b, FP_RN))                                                 \
    OP(min_u32, u32, true, b < m ? b : m)                                                          \
    OP(min_s32, i32, true, b < m ? b : m)                                                          \
    OP(min_u64, u64, true, b < m ? b : m)                                                          \
    OP(min_s64, i64, true, b < m ? b : m)                                                          \
    OP(max_u32, u32, true, b > m ? b : m)                                                          \
    OP(max_s32, i32, true, b > m ? b : m)                                                          \
    OP(max_u64, u64, true, b > m ? b : m)                                                          \
    OP(max_s64, i64, true, b > m ? b : m)                                                          \
    OP(and_b32, u32, true, m &b)                                                                   \
    OP(and_b64, u64, true, m &b)                                                                   \
    OP(or_b32, u32, true, m | b)                                                                   \
    OP(or_b64, u64, true, m | b)                                                                   \
    OP(xor_b32, u32, true, m ^ b)                                                                  \
    OP(xor_b64, u64, true, m ^ b)                                                                  \
    OP(inc_u32, u32, false, m >= b ? 0 : m + 1)                                                    \
    OP(dec_u32, u32, false, m == 0 || m > b ? b : m - 1)                                           \
    OP(exch_b32, u32, false, b)                                                                    \
    OP(exch_b64, u64, false, b)                                                                    \
    OP(cas_b32, u32, false, m == c ? b : m)                                                        \
    OP(cas_b64, u64, false, m == c ? b : m)

#define ATOMIC_DEFINE(name, T, commutes, ...)                                                      \
    static inline T name##_of(T m, T b, T c, bool global)                                          \
    {                                                                                              \
        (void)m, (void)b, (void)c, (void)global;                                                   \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    enum { name##_commutes = commutes };
ATOMIC_OPS(ATOMIC_DEFINE)

#endif
