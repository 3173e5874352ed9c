/* tests/hardware/litmus.h: litmus tests as kernels of many instances, for a GPU.
 *
 *     hardware_litmus_ptx(&text, 7, &t);          // kernel t7, behind the head of a module for sm_90
 *
 * A CTA has 64 instances of each thread of the test that it carries out: lanes of a warp belong to different instances. CTAs
 * come in groups of `ctas`, which carry out the same instances. The parameters:
 *
 *     mem    .u64  location l of instance i is at mem + l * ls + i * is; not of tests in shared memory
 *     ls, is .u64
 *     res    .u64  value k that instance i read goes to word k * n + i; of shared memory the last value of location l to word
 *                  (16 + l) * n + i
 *     n      .u32  instances
 *     mul    .u32  byte k, odd and below 64, mixes the instances that the lanes of thread k have
 *     cnt    .u64  zeros, eight bytes for each group, where warps wait until the others of their instances are there, too
 *     seed   .u32  of the delays before the test; the upper half is a mask of their clocks
 *     warm   .u32  not 0: loads what lies beside the locations first (their distance must be 4 or above 4) */
#ifndef HEDDLE_TESTS_HARDWARE_LITMUS_H
#define HEDDLE_TESTS_HARDWARE_LITMUS_H

#include "determinism/litmus/litmus.h"

enum { HARDWARE_LITMUS_LANES = 64 };
struct hardware_litmus_size {
    uint32_t ctas, slots; /* of a group; the most threads of the test in one CTA */
};
struct hardware_litmus_size hardware_litmus_size(const struct litmus *t);
void hardware_litmus_ptx(struct buf *out, unsigned number, const struct litmus *t);

#endif
