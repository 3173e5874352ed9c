/* calibrate/rows_add.h: functions that the readers of measured launches share (calibrate/rows.h). */
#ifndef HEDDLE_CALIBRATE_ROWS_ADD_H
#define HEDDLE_CALIBRATE_ROWS_ADD_H

#include "calibrate/rows.h"

struct diags;

enum { ROWS_MOST_ERRORS = 20 };

/* Adds a launch. Values that are impossible on the GPU are an error at offset `at`; returns false then. */
bool rows_add(struct rows *rows, struct diags *d, uint32_t at, const char *application,
              size_t application_length, struct row row);

/* The name of a file without folder and suffix: "saxpy 4096" for "logs/saxpy 4096.log". In the rows' arena. */
const char *rows_stem(const struct rows *rows, const char *file);

/* Reads the output of GPGPU-Sim: a launch for each `kernel_name`. GPGPU-Sim sums some counters over launches; each launch gets
 * the difference. */
void rows_gpgpusim(struct rows *rows, struct diags *d);

#endif
