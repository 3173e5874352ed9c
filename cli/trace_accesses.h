/* cli/trace_accesses.h: `heddle trace record --format memtrace1|memtrace3`. */
#ifndef HEDDLE_CLI_TRACE_ACCESSES_H
#define HEDDLE_CLI_TRACE_ACCESSES_H

/* Runs the target of the command line, without its --format and --output, and writes each access of global memory to
 * `output` (session/run_observer.h). The exit status. */
int trace_accesses(const char *format, const char *output, int argc, char **argv);

#endif
