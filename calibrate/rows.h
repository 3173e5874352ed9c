/* calibrate/rows.h: launches that were measured, from CSV files.
 *
 *     struct rows rows = {.gpu = g, .arena = a};
 *     if (!rows_read(&rows, &diags)) ...                // the text is the diags' source; once for each file
 *
 * Which of these a file is, its first line says:
 *   - Heddle's own: columns named like the members of struct counters, `application` and `kernel`;
 *   - Nsight Compute, `ncu --csv --page raw`: metrics by name, units in the second line; or `ncu --csv --metrics`:
 *     a line for each metric ("Metric Name", "Metric Unit", "Metric Value");
 *   - a sheet of Nsight Compute's metrics by their titles ("GPU active cycles", ...);
 *   - cycles of programs' launches, without counters: `program`, `args`, `launch` (from 0), `kernel`, `cycles`.
 *   - what GPGPU-Sim prints while it runs (`kernel_name = ...`).
 * docs/model.md has the columns of each. Lines that begin with '#' are comments. */
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
    uint32_t line;   /* of the file, from 1 */
    const char *run; /* "saxpy 4096": the program with its arguments, as far as the file says */
    uint32_t launch; /* which of the run, from 0 */
    const char
        *lacks; /* which counter is not there, so that only cycles are known; NULL: all are */
    struct counters counters;
};

struct rows {
    const struct emu_gpu *gpu;
    struct arena *arena;
    struct row *list;
    size_t count, cap;
    const char **applications;
    size_t application_count, application_cap;
    const char *column, *value; /* only lines that have this value there; NULL: all */
};

/* Adds the rows of a file; false after errors. A value that is missing, no finite number, or that the GPU
 * cannot have done in the cycles measured, is an error at its place. */
bool rows_read(struct rows *rows, struct diags *d);

/* Heddle's own format. Appends to `out`. */
struct buf;
void rows_write(const struct rows *rows, struct buf *out);

#endif
