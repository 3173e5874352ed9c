/* suites/cycles.h: how many cycles a device takes for single things: instructions in a chain and side by side, loads by
 * the level that has them, bank conflicts, atomics, barriers, bandwidths, launches. For those who write a file of a GPU
 * (docs/model.md).
 *
 *     cycles_csv(stdout);
 *
 * Kernels say what they took by %clock64, which counts cycles of their SM; `us` is what lies between two events. */
#ifndef HEDDLE_SUITES_CYCLES_H
#define HEDDLE_SUITES_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cycles_row {
    const char *group, *name;   /* "shared", "32" */
    const char *kernel;         /* of suites/ptx/cycles.ptx */
    unsigned grid, block;       /* CTAs, and threads of each */
    unsigned n, k, size, steps; /* the kernel's arguments; steps of one of its n rounds */
};
size_t
cycles_count(void); /* rows; those without a group are launches before the next one, not measured */
const struct cycles_row *cycles_at(size_t i);

/* Runs all rows, or those of `group` if it is not NULL, with what they need before them, and writes a line for each:
 *   cycles        of a step, mean over CTAs; of the launch's CTAs if the row has no steps
 *   least, most   cycles of the CTAs, for all rounds
 *   launch        which of all launches of kernels this one was, from 0
 *   us, first_us  between two events, of this run and of the row's first
 * Each row is run three times; of the last two the faster one counts. False, with a message on standard error: there is no
 * device, no such group, or a call fails. */
bool cycles_csv(const char *group, FILE *out);

#endif
