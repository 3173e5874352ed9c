/* determinism/record/accelsim_trace.h: an observer that writes the traces which Accel-Sim reads (Khairy et al., "Accel-Sim",
 * ISCA 2020), from PTX: a folder with kernel-1.traceg, kernel-2.traceg, ... and kernelslist.g.
 *
 *     struct accelsim_trace *t = accelsim_trace_new("traces", first, last);
 *     ... launches with accelsim_trace_observer(t) among their observers
 *     char *why = accelsim_trace_end(t);               // NULL: all is written
 *
 * There is one line for each PTX instruction of each warp, as many as `instructions.warp` counts. Its opcode is the
 * nearest one of Volta (accelsim.def): a trace of a real GPU has SASS instructions, which differ from these and use
 * other registers. The traces say so in their head. Each instruction names one result and four operands at most, as
 * Accel-Sim reads; registers are those of PTX, modulo 255. Instructions that access memory have the mask of the
 * accessing lanes; for others the guard predicate is ignored. Copies between host and device are not listed.
 *
 * A CTA's lines are kept in memory until it ends, since the format has the warps of a CTA one after another. */
#ifndef HEDDLE_DETERMINISM_RECORD_ACCELSIM_TRACE_H
#define HEDDLE_DETERMINISM_RECORD_ACCELSIM_TRACE_H

#include <stdint.h>

struct emu_observer;
struct accelsim_trace;
struct trace_launch;

/* Launches `first` to `last`, numbered from 0 on, are written; kernel-N.traceg is launch N - 1. The folder is created
 * if it does not exist. */
struct accelsim_trace *accelsim_trace_new(const char *folder, uint32_t first, uint32_t last);
void accelsim_trace_stream(struct accelsim_trace *t, uint32_t stream);
const struct emu_observer *accelsim_trace_observer(struct accelsim_trace *t);
/* Begins a launch that was read from a file; the caller then calls the observer's issue, access, sync and end. */
void accelsim_trace_launch(struct accelsim_trace *t, const struct trace_launch *l);
/* Frees the trace. Returns the first error, which the caller frees; NULL: no error. */
char *accelsim_trace_end(struct accelsim_trace *t);

#endif
