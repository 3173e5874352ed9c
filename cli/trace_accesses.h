/* cli/trace_accesses.h: `heddle trace record --format memtrace1|memtrace3|accelsim`. */
#ifndef HEDDLE_CLI_TRACE_ACCESSES_H
#define HEDDLE_CLI_TRACE_ACCESSES_H

struct access_trace_filter;

/* Runs the target of the command line, without the options of 'trace record' alone, and writes what the filter chooses to
 * `output`, of accelsim a folder (session/run_observer.h). The exit status. */
int trace_accesses(const char *format, const struct access_trace_filter *filter, const char *output,
                   int argc, char **argv);

#endif
