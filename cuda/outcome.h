/* cuda/outcome.h: variables of the environment between the command line and the CUDA libraries, beside that of the
 * event stream (session/event_stream.h). Nobody sets them by hand. */
#ifndef HEDDLE_CUDA_OUTCOME_H
#define HEDDLE_CUDA_OUTCOME_H

/* Of `heddle estimate`: a file to which each grid is added with its trace (emu/trace_file.h). */
#define CUDA_TRACES "HEDDLE_ESTIMATE_TRACES"

/* Likewise: a file of coefficients to estimate by (model/timing_file.h). */
#define CUDA_COEFFICIENTS "HEDDLE_ESTIMATE_COEFFICIENTS"

#endif
