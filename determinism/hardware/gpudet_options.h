/* determinism/hardware/gpudet_options.h: the options of GPUDet (Jooybar, UBC thesis 2013).
 *
 * The order (determinism/gpudet/) uses them to run and count. The timing model reads them from the counts of a launch
 * to compute cycles. determinism/gpudet/options.c has their ranges, presets and descriptions; sizes and times are those
 * of the thesis (section 5.2) unless that file says otherwise. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_GPUDET_OPTIONS_H
#define HEDDLE_DETERMINISM_HARDWARE_GPUDET_OPTIONS_H

#include <stdint.h>

enum gpudet_step { GPUDET_BLOCK, GPUDET_INSTRUCTION };
enum gpudet_commit_mechanism { GPUDET_ZBUFFER, GPUDET_LOCKS };
enum gpudet_serialisation { GPUDET_CU, GPUDET_WARP, GPUDET_SERIAL_ANY };
enum gpudet_losers {
    GPUDET_TAKE_LOCK,
    GPUDET_SKIP
}; /* entries that a store of a smaller depth covers */
enum gpudet_choice { GPUDET_FIXED, GPUDET_ANY }; /* of `shared` and `distribution` */

/* X(field); an option has the name of its field. */
#define GPUDET_OPTION_FIELDS(X)                                                                    \
    X(quantum)      /* instructions of a warp in parallel mode (4.2) */                            \
    X(step)         /* enum gpudet_step: where the limit is looked at */                           \
    X(bta)          /* barrier termination avoidance (4.2.1) */                                    \
    X(dwp)          /* deterministic workgroup distribution (4.2.2) */                             \
    X(buffer)       /* store buffers (4.3) */                                                      \
    X(log)          /* entries of a write log */                                                   \
    X(bloom)        /* bits of a Bloom filter */                                                   \
    X(subarrays)    /* of the Bloom filter */                                                      \
    X(commit)       /* enum gpudet_commit_mechanism (4.4; 6.2.2) */                                \
    X(overlap)      /* commit=locks: entries of a warp at a time (6.2.2); of estimates alone */    \
    X(losers)       /* commit=locks: enum gpudet_losers; of estimates alone */                     \
    X(depth)        /* the Z unit compares depths (4.4.2) */                                       \
    X(partitions)   /* of memory, each with a Z unit */                                            \
    X(zcache)       /* bytes of a Z cache (4.4.3) */                                               \
    X(ways)         /* of a Z cache */                                                             \
    X(requests)     /* entries of a Z unit's request buffer (4.4.3) */                             \
    X(fetch)        /* cycles of the Z unit until depths are there, or a lock's atomic is done */  \
    X(barrier)      /* cycles of the SM for a barrier between modes (6.3.4); of estimates alone */ \
    X(serial)       /* enum gpudet_serialisation (4.5) */                                          \
    X(shared)       /* enum gpudet_choice: shared memory (4.6) */                                  \
    X(distribution) /* enum gpudet_choice: slots of CTAs */

struct gpudet_options {
#define FIELD(name) uint32_t name;
    GPUDET_OPTION_FIELDS(FIELD)
#undef FIELD
};
enum { GPUDET_OPTIONS = sizeof(struct gpudet_options) / sizeof(uint32_t) };

#endif
