/* cuda/outcome.h: what becomes of a program that `heddle run` or `heddle check` has started, told while it runs, so
 * that it is there however the program ends. */
#ifndef HEDDLE_CUDA_OUTCOME_H
#define HEDDLE_CUDA_OUTCOME_H

#include <stdint.h>

/* Of `heddle check`: the variable of the environment that holds the numbers of two file descriptors, with a comma
 * between them: the run log is written to the first and its task is read from the second
 * (determinism/record/run_log.h). */
#define CUDA_RUN_LOG "HEDDLE_RUN_LOG"

/* Of `heddle run`: the number of a file descriptor, which is to be mapped. */
#define CUDA_OUTCOME "HEDDLE_OUTCOME"

/* Of `heddle estimate`: a file that gets a line of launch_estimate_write for each grid. */
#define CUDA_ESTIMATE "HEDDLE_ESTIMATE"

/* Likewise: a file to which each grid is added with its trace (emu/trace_file.h). */
#define CUDA_TRACES "HEDDLE_ESTIMATE_TRACES"

/* Likewise: a file of coefficients to estimate by (model/timing_file.h). */
#define CUDA_COEFFICIENTS "HEDDLE_ESTIMATE_COEFFICIENTS"

/* The status of a run log (run_log_status) whose program got no device: the exit status of a wrong call. */
enum { CUDA_NO_DEVICE = 2 };

struct cuda_outcome {
    uint64_t launches, faults, findings, suppressed;
    uint64_t warp_instructions, thread_instructions;
    uint64_t nanoseconds;   /* of launches */
    uint64_t no_device;     /* the device could not be created: the program has computed nothing */
    uint64_t bad_watch;     /* what was to be watched was not there */
    uint64_t bad_recording; /* a recording was not played to its end, or could not be written */
};

#endif
