/* cuda/occupancy.h: how many blocks of a kernel can be resident on one SM, as CUDA's occupancy calculator computes it. */
#ifndef HEDDLE_CUDA_OCCUPANCY_H
#define HEDDLE_CUDA_OCCUPANCY_H

#include <stddef.h>

struct device_limits;

struct occupancy_use {      /* the resources that a block needs */
    int threads, registers; /* registers: for each thread */
    size_t shared;          /* bytes, static and dynamic */
    int carveout;           /* preferred shared memory in percent of the maximum; -1: not set */
};
int occupancy_blocks(const struct device_limits *l, const struct occupancy_use *u);
/* Bytes of shared memory, static and dynamic, that each block may have if `blocks` of them are to be resident on an SM;
 * negative: so many blocks do not fit. */
long occupancy_shared(const struct device_limits *l, int blocks, int carveout);

#endif
