/* tests/support/gpu_rows.h: launches of workloads that were measured on a GPU, row by row, each beside Heddle's own launch.
 *
 *     gpu_rows_open(&rows, "calibrate/data/h200.csv", &config, GPU_ROWS_CYCLES);
 *     while (gpu_rows_next(&rows, is_left_out)) check(rows.workload, rows.launch, rows.column[6]);
 *     gpu_rows_close(&rows);
 *
 * A row is words with commas in between. Rows of other sizes and targets are passed over. A workload runs when its first row comes, and rows.see hears of each of its
 * launches; row after row may then ask for one of them. */
#ifndef HEDDLE_TESTS_SUPPORT_GPU_ROWS_H
#define HEDDLE_TESTS_SUPPORT_GPU_ROWS_H

#include "emu/emu.h"

#include <stdbool.h>
#include <stdio.h>

enum gpu_rows_format {
    GPU_ROWS_COUNTS, /* NAME,launch,kernel,... as in h200-counts.csv */
    GPU_ROWS_CYCLES, /* suite:NAME:small,arguments,launch,kernel,... as in h200.csv */
};
enum { GPU_ROWS_COLUMNS = 16, GPU_ROWS_LAUNCHES = 64 /* of a workload, at most */ };

struct gpu_rows {
    void (*see)(void *self, unsigned launch, const struct emu_report *r); /* set by the caller */
    void *self;
    const char *workload; /* of this row */
    unsigned launch;
    const char *column[GPU_ROWS_COLUMNS]; /* those that are not there: "" */
    /* private */
    FILE *file;
    enum gpu_rows_format format;
    unsigned launches;
    char text[512], ran[64];
};

/* Asserts that the file is there. */
void gpu_rows_open(struct gpu_rows *rows, const char *path, const struct emu_config *config,
                   enum gpu_rows_format format);
/* false: there are no more. Rows of workloads that are left out are passed over; NULL: none are. */
bool gpu_rows_next(struct gpu_rows *rows, bool (*is_left_out)(const char *workload));
void gpu_rows_close(struct gpu_rows *rows);

#endif
