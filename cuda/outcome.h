/* cuda/outcome.h: private environment variables that the command line sets for the CUDA libraries, besides that of the
 * event stream (session/event_stream.h). */
#ifndef HEDDLE_CUDA_OUTCOME_H
#define HEDDLE_CUDA_OUTCOME_H

/* For `heddle estimate`: the file to which each grid is added with its trace (emu/trace_file.h). */
#define CUDA_TRACES "HEDDLE_ESTIMATE_TRACES"

/* For `heddle estimate`: the file of coefficients of the timing model (model/timing_file.h). */
#define CUDA_COEFFICIENTS "HEDDLE_ESTIMATE_COEFFICIENTS"

#endif
