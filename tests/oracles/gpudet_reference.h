/* tests/oracles/gpudet_reference.h: GPUDet once more, slow and plain: one warp after another, an instruction at a time, each
 * with a copy of its own of all memory and a map of the bytes that it wrote. For kernels on one buffer, without
 * asynchronous copies, mbarriers, clusters. */
#ifndef HEDDLE_TESTS_ORACLES_GPUDET_REFERENCE_H
#define HEDDLE_TESTS_ORACLES_GPUDET_REFERENCE_H

#include "emu/order.h"

struct reference_counts {
    uint64_t quanta, limit, atomic, fence, strong, barrier, exit, entries, atomics, queries, hits,
        passed, held;
};
struct reference;
struct reference *reference_new(uint32_t quantum, bool bta, bool dwp, uint64_t buffer,
                                uint32_t size);
const struct emu_order *reference_order(struct reference *r);
struct reference_counts reference_counted(const struct reference *r);
void reference_free(struct reference *r);

#endif
