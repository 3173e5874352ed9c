/* calibrate/rows.h: reads measured launches from files.
 *
 *     struct rows rows = {.gpu = g, .arena = a};
 *     if (!rows_read(&rows, &diags)) ...                // the text is the diags' source; once for each file
 *
 * The first line of a file determines its kind:
 *   - Heddle's own: columns named like the members of struct counters, `application` and `kernel`;
 *   - Nsight Compute, `ncu --csv --page raw`: metrics by name, units in the second line; or `ncu --csv --metrics`:
 *     a line for each metric ("Metric Name", "Metric Unit", "Metric Value");
 *   - a table of Nsight Compute's metrics by their titles ("GPU active cycles", ...);
 *   - cycles of programs' launches, without counters: `program`, `args`, `launch` (from 0), `kernel`, `cycles`.
 *   - the output of GPGPU-Sim (`kernel_name = ...`).
 * docs/model.md lists the columns of each kind. Lines that begin with '#' are comments. */
#ifndef HEDDLE_CALIBRATE_ROWS_H
#define HEDDLE_CALIBRATE_ROWS_H

#include "model/counter_model.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct diags;

struct row {
    const char *kernel;
    size_t application; /* index into `applications` */
    const char *file;
    uint32_t line;     /* line of the file, from 1 */
    const char *run;   /* program with arguments, "saxpy 4096", as far as the file has them */
    uint32_t launch;   /* number of the launch in the run, from 0 */
    const char *lacks; /* a missing counter, so that only cycles are known; NULL: none */
    struct counters counters;
};

struct rows {
    const struct emu_gpu *gpu;
    struct arena *arena;
    struct row *list;
    size_t count, cap;
    const char **applications;
    size_t application_count, application_cap;
    const char *column, *value; /* read only lines with this value in the column; NULL: all */
};

/* Adds the rows of a file; false after errors. A value is an error if it is missing, not a finite number, or
 * impossible on the GPU in the measured cycles. */
bool rows_read(struct rows *rows, struct diags *d);

/* Appends the rows in Heddle's own format. */
struct buf;
void rows_write(const struct rows *rows, struct buf *out);

#endif
