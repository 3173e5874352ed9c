/* cuda/occupancy.h: how many blocks of a kernel are on one SM at the same time, as CUDA's occupancy calculator has it. */
#ifndef HEDDLE_CUDA_OCCUPANCY_H
#define HEDDLE_CUDA_OCCUPANCY_H

#include <stddef.h>

struct device_limits;

struct occupancy_use {      /* of a block */
    int threads, registers; /* registers: of a thread */
    size_t shared;          /* bytes, static and dynamic */
    int carveout; /* percent of what can be shared memory that is to be; -1: nobody said */
};
int occupancy_blocks(const struct device_limits *l, const struct occupancy_use *u);
/* Bytes of shared memory, static and dynamic, that each of so many blocks may have; negative: none of them fits. */
long occupancy_shared(const struct device_limits *l, int blocks, int carveout);

#endif
