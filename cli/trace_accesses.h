/* cli/trace_accesses.h: `heddle trace record --format memtrace1|memtrace3|accelsim` and `--addresses`. */
#ifndef HEDDLE_CLI_TRACE_ACCESSES_H
#define HEDDLE_CLI_TRACE_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access_trace_filter;
struct trace_origin;

/* Runs the target of the command line, whose origin a .hdt file says, without the options of 'trace record' alone, and writes what the filter chooses to
 * `output`, of accelsim a folder (session/run_observer.h). The exit status. */
int trace_accesses(const char *format, const struct access_trace_filter *filter, const char *output,
                   const struct trace_origin *origin, int argc, char **argv);

/* Adds an index to the end of a trace file. *launches: how many it has. false: it was said why not. */
bool trace_add_index(const char *command, const char *path, size_t *launches);
/* "3" or "3-7", from 0. false: it is wrong, which has been said. */
bool trace_read_range(const char *command, const char *option, const char *text, uint32_t to[2]);

#endif
