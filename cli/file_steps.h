/* cli/file_steps.h: a progress line on standard error while a trace file (emu/trace_file.h) is read.
 *
 *     struct trace_file in = {.file = f, .arena = a};
 *     struct file_steps steps;
 *     file_steps_begin(&steps, &in);
 *     while ((c = trace_file_next(&in))) ...          // "\r3 of 10 MB read, 4 s, about 9 s left" (cli/terminal.h)
 *     file_steps_end(&steps);
 *
 * The size is that of the file when reading begins. There is no line for a pipe. */
#ifndef HEDDLE_CLI_FILE_STEPS_H
#define HEDDLE_CLI_FILE_STEPS_H

#include "cli/terminal.h"

#include <stddef.h>

struct trace_file;

struct file_steps {
    struct steps steps;
    size_t all; /* size of the file in MB, rounded up; 0: unknown */
};
void file_steps_begin(struct file_steps *s, struct trace_file *in);
void file_steps_end(struct file_steps *s);

#endif
