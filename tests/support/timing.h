/* tests/support/timing.h: small kernels on a device that traces, and a machine whose times can be reckoned by hand. */
#ifndef HEDDLE_TESTS_SUPPORT_TIMING_H
#define HEDDLE_TESTS_SUPPORT_TIMING_H

#include "emu/emu.h"
#include "model/timing.h"

struct device {
    struct parsed *parsed;
    struct emu *emu;
    struct emu_image *image;
    uint64_t memory; /* 64 MiB */
};

struct device device_new(const char *ptx, struct emu_config config);
void device_free(struct device *d);

/* Of a launch of the first kernel, with the memory as its parameter. Good until the device's next launch. */
const struct emu_counts *counts_of(struct device *d, uint32_t grid, uint32_t block);
const struct emu_trace *trace_of(struct device *d, uint32_t grid, uint32_t block);

/* One SM with one scheduler. Latencies of 10, the unit takes an instruction every other cycle. */
struct timing_machine machine_new(void);

#endif
