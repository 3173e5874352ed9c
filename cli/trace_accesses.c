/* Records traces with a record for each access of a lane (cli/trace_accesses.h). */
#include "cli/trace_accesses.h"

#include "cli/cli.h"
#include "cli/observed_run.h"

#include "base/arena.h"
#include "base/replace.h"
#include "emu/trace_file.h"
#include "session/event_stream.h"
#include "session/run_observer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool trace_add_index(const char *command, const char *path, size_t *launches)
{
    FILE *f = fopen(path, "r+b");
    const bool added = f && trace_index_add(f, launches), ok = f && fclose(f) == 0 && added;
    if (!ok)
        fprintf(stderr, "heddle %s: '%s' has no index: %s\n", command, path,
                f ? "it could not be written whole" : strerror(errno));
    return ok;
}

/* The head, and the name of the run. */
static bool begin_events(const char *output, const struct trace_origin *origin)
{
    FILE *f = fopen(output, "wb");
    struct trace_writer w = {.file = f, .promises = true};
    const bool named = f && trace_file_origin(&w, origin);
    return f && fclose(f) == 0 && named;
}

static int run(const char *format, const struct access_trace_filter *filter, const char *output,
               const struct trace_origin *origin, const struct observed_words *words)
{
    struct event_stream *events = event_stream_new();
    if (!events) return usage_error("trace record", "no memory: %s", strerror(errno));
    int status = EXIT_FINE;
    const bool folder = strcmp(format, "accelsim") == 0, events_file = strcmp(format, "hdt") == 0;
    FILE *f = folder ? NULL : fopen(output, "wb"); /* an error is known before the run */
    if (!folder && (!f || fclose(f) != 0))
        status = usage_error("trace record", "cannot write '%s': %s", output, strerror(errno));
    if (status == EXIT_FINE && events_file && !begin_events(output, origin))
        status = usage_error("trace record", "cannot write '%s': %s", output, strerror(errno));
    char *path = path_absolute(output); /* the target may go to another folder */
    if (status == EXIT_FINE &&
        !run_observer_want_accesses(events, format, filter, path ? path : output))
        status = usage_error("trace record",
                             "--format is hdt, memtrace1, memtrace3 or accelsim, not '%s'", format);
    free(path);
    if (status == EXIT_FINE) status = observed_run("trace record", words, events);
    const struct event_totals *totals = event_stream_totals(events);
    if (status == EXIT_FINE && totals->bad_recording) status = EXIT_INPUT;
    if (status == EXIT_FINE && !totals->access_traces) {
        fprintf(stderr, "heddle trace record: there was no launch: '%s' is empty\n", output);
        status = EXIT_INPUT;
    }
    size_t launches = 0;
    event_stream_close(events);
    if (events_file && status != EXIT_USAGE &&
        !trace_add_index("trace record", output, &launches) && status == EXIT_FINE)
        status = EXIT_INPUT;
    return status;
}

int trace_accesses(const char *format, const struct access_trace_filter *filter, const char *output,
                   const struct trace_origin *origin, int argc, char **argv)
{
    static const char *const own_options[] = {"--format", "--output", "-o",
                                              "--launch", "--cta",    "--space"};
    struct arena *arena = arena_new();
    struct observed_words words;
    observed_words_begin(&words, arena_array(arena, char *, (size_t)argc + 2), "trace record");
    for (int i = 1; i < argc && argv[i]; i++) {
        const char *own = NULL;
        for (size_t k = 0; !own && argv[i] && k < sizeof own_options / sizeof *own_options; k++)
            own = option_value(argv, &i, own_options[k]);
        if (!own && argv[i] && strcmp(argv[i], "--addresses") == 0) continue;
        if (!own && argv[i]) observed_words_add(&words, argc, argv, &i);
    }
    const int status = run(format, filter, output, origin, &words);
    arena_free(arena);
    return status;
}
