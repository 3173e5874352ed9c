/* calibrate/rows_add.h: what readers of files of measured launches share (rows.h). */
#ifndef HEDDLE_CALIBRATE_ROWS_ADD_H
#define HEDDLE_CALIBRATE_ROWS_ADD_H

#include "calibrate/rows.h"

struct diags;

enum { ROWS_MOST_ERRORS = 20 };

/* Adds the launch. What cannot be on the GPU is an error at `at`; false then. */
bool rows_add(struct rows *rows, struct diags *d, uint32_t at, const char *application,
              size_t application_length, struct row row);

/* "saxpy 4096" of "logs/saxpy 4096.log". In the rows' arena. */
const char *rows_stem(const struct rows *rows, const char *file);

/* What GPGPU-Sim prints: a launch for each `kernel_name`. Of counters that it sums over launches each launch has its own part. */
void rows_gpgpusim(struct rows *rows, struct diags *d);

#endif
