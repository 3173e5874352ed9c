/* cuda/outcome.h: what became of a program that was started by `heddle run`, told while it runs: memory that both
 * share, so that it is there however the program ends. */
#ifndef HEDDLE_CUDA_OUTCOME_H
#define HEDDLE_CUDA_OUTCOME_H

#include <stdint.h>

/* The variable of the environment that holds the number of a file descriptor, which is to be mapped. */
#define CUDA_OUTCOME "HEDDLE_OUTCOME"

struct cuda_outcome {
    uint64_t launches, faults, findings;
    uint64_t warp_instructions, thread_instructions;
    uint64_t nanoseconds; /* of launches */
};

#endif
