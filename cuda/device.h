/* cuda/device.h: controls the driver API from the program that it is linked into.
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

/* Sets the configuration of the device that the next cuInit() creates. Resets an existing device. NULL: the
 * HEDDLE_* environment variables, as at the start of a process. The default GPU is an H100: the newest one,
 * which accepts PTX for all GPUs. */
void cuda_device_configure(const struct emu_config *config);

/* Callbacks around each launch. The driver's lock is held, so they must not call driver functions. */
struct cuda_watch {
    void *self;
    /* May change the launch (an order, observers). NULL: none. */
    void (*before)(void *self, const char *kernel, struct emu_launch *launch);
    void (*after)(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report);
    /* Gets the lines about faults and findings of checks. NULL: they go to stderr, unless `quiet`. */
    void (*say)(void *self, const char *text);
    bool quiet;
    struct run_observer *run_observer; /* observes each launch; NULL: none */
};
void cuda_device_watch(const struct cuda_watch *watch); /* copied; NULL: none */
/* The text of checks_note() about the last launch. */
const char *cuda_device_note(void);

/* Destroys the device and all objects of the driver API, as before cuInit(). All handles become invalid. */
void cuda_device_reset(void);

struct emu *cuda_device_emu(void); /* NULL before cuInit */

#endif
