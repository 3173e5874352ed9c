/* Traces that have a record for each access of a lane (trace_accesses.h). */
#include "cli/trace_accesses.h"

#include "cli/cli.h"
#include "cli/observed_run.h"

#include "base/arena.h"
#include "session/event_stream.h"
#include "session/run_observer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int run(const char *format, const char *output, const struct observed_words *words)
{
    struct event_stream *events = event_stream_new();
    if (!events) return usage_error("trace record", "no memory: %s", strerror(errno));
    int status = EXIT_FINE;
    FILE *f = fopen(output, "wb"); /* an error is known before the run */
    if (!f || fclose(f) != 0)
        status = usage_error("trace record", "cannot write '%s': %s", output, strerror(errno));
    if (status == EXIT_FINE && !run_observer_want_accesses(events, format, output))
        status = usage_error("trace record", "--format is hdt, memtrace1 or memtrace3, not '%s'",
                             format);
    if (status == EXIT_FINE) status = observed_run("trace record", words, events);
    const struct event_totals *totals = event_stream_totals(events);
    if (status == EXIT_FINE && totals->bad_recording) status = EXIT_INPUT;
    if (status == EXIT_FINE && !totals->access_traces) {
        fprintf(stderr, "heddle trace record: there was no launch: '%s' is empty\n", output);
        status = EXIT_INPUT;
    }
    event_stream_close(events);
    return status;
}

int trace_accesses(const char *format, const char *output, int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct observed_words words;
    observed_words_begin(&words, arena_array(arena, char *, (size_t)argc + 2), "trace record");
    for (int i = 1; i < argc && argv[i]; i++) {
        const char *own = option_value(argv, &i, "--format");
        if (!own && argv[i]) own = option_value(argv, &i, "--output");
        if (!own && argv[i]) own = option_value(argv, &i, "-o");
        if (!own && argv[i]) observed_words_add(&words, argc, argv, &i);
    }
    const int status = run(format, output, &words);
    arena_free(arena);
    return status;
}
