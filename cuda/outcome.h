/* cuda/outcome.h: variables of the environment between the command line and the CUDA libraries, beside that of the
 * event stream (session/event_stream.h). Nobody sets them by hand. */
#ifndef HEDDLE_CUDA_OUTCOME_H
#define HEDDLE_CUDA_OUTCOME_H

/* Of `heddle check`: the variable of the environment that holds the numbers of two file descriptors, with a comma
 * between them: the run log is written to the first and its task is read from the second
 * (determinism/record/run_log.h). */
#define CUDA_RUN_LOG "HEDDLE_RUN_LOG"

/* Of `heddle estimate`: a file to which each grid is added with its trace (emu/trace_file.h). */
#define CUDA_TRACES "HEDDLE_ESTIMATE_TRACES"

/* Likewise: a file of coefficients to estimate by (model/timing_file.h). */
#define CUDA_COEFFICIENTS "HEDDLE_ESTIMATE_COEFFICIENTS"

/* The status of a run log (run_log_status) whose program got no device: the exit status of a wrong call. */
enum { CUDA_NO_DEVICE = 2 };

#endif
