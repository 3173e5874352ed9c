/* cuda/device.h: the driver API seen from the program that it is linked into.
 *
 *     cuda_device_configure(&(struct emu_config){.threads = 1, .count = true});
 *     cuda_device_watch(&(struct cuda_watch){.after = count_launch, .self = &totals});
 *     suite_run(...);                      // calls cuInit, cuLaunchKernel, ...
 *     cuda_device_reset();
 *
 * There is one device in a process. These functions are not exported by libcuda.so.1. */
#ifndef HEDDLE_CUDA_DEVICE_H
#define HEDDLE_CUDA_DEVICE_H

#include "cuda/cuda_api.h"
#include "emu/emu.h"

/* The device is made with this configuration by the next cuInit. One that exists already is reset. NULL:
 * as the HEDDLE_* variables of the environment say, which is also where a process starts. Where no GPU is
 * named it is an H100: the newest there is, which takes PTX for all of them. */
void cuda_device_configure(const struct emu_config *config);

/* Called around each launch, with the driver's lock held: no driver functions in here. */
struct cuda_watch {
    void *self;
    /* May change the launch (an order, observers). NULL: none. */
    void (*before)(void *self, const char *kernel, struct emu_launch *launch);
    void (*after)(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report);
    /* Lines that would go to stderr: faults, what checks find. NULL: to stderr, unless quiet. */
    void (*say)(void *self, const char *text);
    bool quiet;
    struct run_observer *run_observer; /* of each launch; NULL: none */
};
void cuda_device_watch(const struct cuda_watch *watch); /* copied; NULL: none */
/* checks_note() of the last launch. */
const char *cuda_device_note(void);

/* Everything that the driver API made is gone, and all handles with it; as before cuInit. */
void cuda_device_reset(void);

struct emu *cuda_device_emu(void); /* NULL before cuInit */

#endif
