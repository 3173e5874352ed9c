/* tests/support/driver_kernels.h: a module of small kernels, loaded in a context of the driver API.
 *
 *     Test(..., .init = driver_load_kernels, .fini = driver_reset)
 *     CUdeviceptr p = driver_alloc(400);
 *     OK(driver_launch1(driver_kernel("scaled"), 1, 1, (void *[]){&p}));                                     */
#ifndef HEDDLE_TESTS_SUPPORT_DRIVER_KERNELS_H
#define HEDDLE_TESTS_SUPPORT_DRIVER_KERNELS_H

#include "cuda/cuda_api.h"

#include <stddef.h>

/* add, mixed, scaled, astray, trapped, limited, shared */
extern const char driver_ptx[];
extern CUcontext driver_context;
extern CUmodule driver_module;

void driver_quiet(void);        /* a device of one host thread, which prints nothing */
void driver_load_kernels(void); /* likewise, with context and module */
void driver_reset(void);

CUfunction driver_kernel(const char *name); /* of the module */
CUdeviceptr driver_alloc(size_t size);
/* A grid and CTAs of one dimension. */
CUresult driver_launch1(CUfunction f, unsigned grid, unsigned block, void **params);

#endif
