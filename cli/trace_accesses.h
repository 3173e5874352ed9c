/* cli/trace_accesses.h: `heddle trace record --format memtrace1|memtrace3|accelsim` and `--addresses`. */
#ifndef HEDDLE_CLI_TRACE_ACCESSES_H
#define HEDDLE_CLI_TRACE_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access_trace_filter;
struct trace_origin;

/* Runs the target of the command line, without the options that only 'trace record' has, and writes the accesses that pass the
 * filter to `output`, a folder for accelsim (session/run_observer.h). `origin`: the origin that .hdt files contain. Returns the
 * exit status. */
int trace_accesses(const char *format, const struct access_trace_filter *filter, const char *output,
                   const struct trace_origin *origin, int argc, char **argv);

/* Appends an index to a trace file. *launches: the number of its launches. false after a message. */
bool trace_add_index(const char *command, const char *path, size_t *launches);
/* Parses a range "3" or "3-7", from 0. false after a message. */
bool trace_read_range(const char *command, const char *option, const char *text, uint32_t to[2]);

#endif
