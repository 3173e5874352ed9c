/* library/device.h: what the command line shares with the public interface: how options become a
 * configuration, and a device's last launch as emu reports it. */
#ifndef HEDDLE_LIBRARY_DEVICE_H
#define HEDDLE_LIBRARY_DEVICE_H

#include "session/launch_record.h"

#include <stdio.h>

struct heddle_device;
struct heddle_write;
struct player;
struct recorder;
struct writes;
struct heddle_device_options;

/* All but the order, which somebody must own, as the GPU. */
struct emu_gpu;
struct emu_config device_config(const struct heddle_device_options *o, const struct emu_gpu *gpu);

/* Called around each launch. `before` may add observers; launches of a workload have them, too. */
struct device_watch {
    void *self;
    void (*before)(void *self, struct emu *e, const char *kernel, struct emu_launch *launch);
    void (*after)(void *self, struct emu *e, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report);
    bool discards_files; /* what kernels write to files stays in memory (guest_files_discard) */
};
void device_watch(struct heddle_device *d, const struct device_watch *w); /* copied; NULL: none */
/* Observes all launches from now on; one at most, NULL: none. */
struct emu_observer;
void device_observe(struct heddle_device *d, const struct emu_observer *o);
/* All launches and copies go into the log, from now on. */
struct run_observer;
void device_set_run_observer(struct heddle_device *d, struct run_observer *o);
/* Of all launches from now on, in place of that of the options; NULL: theirs. */
struct emu_order;
void device_set_order(struct heddle_device *d, const struct emu_order *o);
/* That of the options; NULL: native. */
const struct emu_order *device_order(const struct heddle_device *d);
struct emu *device_emu(struct heddle_device *d);

/* The last launch. Its pointers are good until the next one; kernel NULL: there was none. */
const struct launch_record *device_launched(const struct heddle_device *d);

/* Sets what heddle_device_error() returns; `why` is freed by the device. */
void device_set_error(struct heddle_device *d, char *why);

/* ---- between the files of this folder ---------------------------------------------------------------- */

struct device_written { /* heddle_device_watch */
    struct writes *writes;
    void (*written)(void *self, const struct heddle_write *w);
    void *self;
};
struct device_written *device_written(struct heddle_device *d);
void device_written_end(struct device_written *to);

struct device_recording { /* heddle_device_record, heddle_device_replay */
    char *order;
    uint64_t seed;
    FILE *file;
    struct recorder *recorder; /* at most one of these is set */
    struct player *player;
};
struct device_recording *device_recording(struct heddle_device *d);

#endif
