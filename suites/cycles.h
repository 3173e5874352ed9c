/* suites/cycles.h: microbenchmarks of a device's cycles: dependent and independent instructions, loads by cache level, bank
 * conflicts, atomics, barriers, bandwidths, launches. They help to write the configuration file of a GPU
 * (docs/model.md).
 *
 *     cycles_csv(stdout);
 *
 * Kernels measure cycles of their SM by %clock64; `us` is the time between two events. */
#ifndef HEDDLE_SUITES_CYCLES_H
#define HEDDLE_SUITES_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cycles_row {
    const char *group, *name;   /* "shared", "32" */
    const char *kernel;         /* name of a kernel in suites/ptx/cycles.ptx */
    unsigned grid, block;       /* number of CTAs; threads of a CTA */
    unsigned n, k, size, steps; /* the kernel's arguments; steps of one of its n iterations */
};
/* The number of rows. Rows without a group are launches that prepare the next row and are not measured. */
size_t cycles_count(void);
const struct cycles_row *cycles_at(size_t i);

/* Runs all rows, or those of `group` if it is not NULL, with their preparing launches, and writes a line for each:
 *   cycles        cycles of a step, mean over CTAs; without steps, cycles of the launch's CTAs
 *   least, most   least and most cycles of a CTA, for all iterations
 *   launch        number of this launch among all launches, from 0
 *   us, first_us  microseconds between two events, of this run and of the row's first run
 * Each row runs three times; the faster one of the last two runs counts. false, with a message on standard error: there is
 * no device, no such group, or a call fails. */
bool cycles_csv(const char *group, FILE *out);

#endif
