/* emu/measure/trace_combined.h: atomics that machine code executes once for a warp.
 *
 *     bool *combined = trace_combined(scratch, flow);
 *     inst->combined = combined && combined[statement] && (is_add || nobody_reads_the_result);
 *
 * If the assembler can prove that all lanes of a warp access one word, the code first combines their operands by
 * addition (or, if no instruction reads the result, by minimum, maximum, and, or, exclusive or). Then one lane executes
 * the atomic, and each lane computes its own result from that lane's result. ptxas of CUDA 13 does so for sm_75 and
 * sm_90, of global and shared memory, for 32-bit numbers and for additions of a literal to 64-bit ones. It does not for
 * floating-point types, exch, inc, dec and cas. */
#ifndef HEDDLE_EMU_MEASURE_TRACE_COMBINED_H
#define HEDDLE_EMU_MEASURE_TRACE_COMBINED_H

#include <stdbool.h>

struct arena;
struct ptx_flow;

/* For each statement of the function: whether it is an atomic that one lane may execute for all. NULL: no statement is.
 * The caller must check that results of operations other than additions are dead. */
bool *trace_combined(struct arena *scratch, const struct ptx_flow *f);

#endif
