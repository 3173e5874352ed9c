/* emu/gpu.h: the GPU that a launch is placed on: what its SMs have room for, and its caches.
 *
 * Nothing here changes what a kernel computes. It decides how many CTAs an SM holds (occupancy, waves)
 * and what the caches of emu/cache.h look like. emu/gpus.def has the known ones, with sources. */
#ifndef HEDDLE_EMU_GPU_H
#define HEDDLE_EMU_GPU_H

#include <stddef.h>
#include <stdint.h>

struct emu_gpu {
    const char *name, *title; /* "v100", "Tesla V100 SXM2" */
    uint32_t capability;      /* compute capability times ten: 70 */
    uint32_t sms;
    /* of an SM */
    uint32_t schedulers;    /* warp schedulers */
    uint32_t warps, ctas;   /* resident at most */
    uint32_t registers;     /* of 32 bits */
    uint32_t register_unit; /* registers are given to a warp in multiples of this */
    uint32_t shared;        /* bytes of shared memory for all CTAs, */
    uint32_t shared_cta;    /* for one, */
    uint32_t shared_unit;   /* given in multiples of this, */
    uint32_t shared_system; /* and so many bytes more for each CTA */
    uint32_t l1;            /* bytes of L1; if unified, shared memory in use is taken from it */
    uint32_t unified;
    /* of the device */
    uint32_t l2; /* bytes */
};

/* The GPU of that name; NULL: none. NULL as name: the default, "v100". */
const struct emu_gpu *emu_gpu_find(const char *name);
size_t emu_gpu_count(void);
const struct emu_gpu *emu_gpu_at(size_t i);

enum emu_limit { EMU_LIMIT_CTAS, EMU_LIMIT_WARPS, EMU_LIMIT_REGISTERS, EMU_LIMIT_SHARED };
const char *emu_limit_name(enum emu_limit limit); /* "registers" */

struct emu_occupancy {
    uint32_t ctas, warps; /* resident on one SM; 0: not even one CTA fits */
    uint32_t registers;   /* of a thread */
    enum emu_limit limit; /* what there is no more of */
};
/* CTAs of `threads` threads with `registers` registers each and `shared` bytes together. (CUDA Occupancy
 * Calculator: registers are given to whole warps.) */
struct emu_occupancy emu_occupancy(const struct emu_gpu *g, uint32_t threads, uint32_t registers,
                                   uint32_t shared);

#endif
