/* emu/measure/trace_combined.h: atomics that machine code makes once for a warp.
 *
 *     bool *combined = trace_combined(scratch, flow);
 *     inst->combined = combined && combined[statement] && (is_add || nobody_reads_the_result);
 *
 * Where all lanes of a warp name one word, and the assembler can see that, it adds up what they add (or takes the minimum,
 * the maximum, and, or, exclusive or, if no instruction reads the result), and one lane makes the atomic; each lane computes
 * from the result what it would have read. ptxas of CUDA 13 does so for sm_75 and sm_90, of global and shared memory, for
 * 32-bit numbers and for additions of a literal to 64-bit ones. It does not for floating-point types, exch, inc, dec and
 * cas. */
#ifndef HEDDLE_EMU_MEASURE_TRACE_COMBINED_H
#define HEDDLE_EMU_MEASURE_TRACE_COMBINED_H

#include <stdbool.h>

struct arena;
struct ptx_flow;

/* By statement of the function: an atomic for which one lane may speak for all. NULL: none is. The caller has to see to it
 * that the result of others than additions is dead. */
bool *trace_combined(struct arena *scratch, const struct ptx_flow *f);

#endif
