/* Reads the environment of a CUDA program into the configuration of its device (cuda/environment.h).
 *
 * cuInit calls environment_read(). It opens the files that private variables of `heddle` name (the event stream, traces) and
 * reads the settings (settings_from_environment). apply() copies the settings: those that emu_new() takes to struct
 * emu_config, those of the driver itself (order, seed, files, recordings, watches) to `driver`. A later cuInit does not open
 * these files again. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cuda/environment.h"

#include "cuda/driver.h"
#include "cuda/outcome.h"
#include "cuda/recording.h"
#include "cuda/watch_points.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/replace.h"
#include "emu/files.h"
#include "model/estimate_cache.h"
#include "model/timing_file.h"
#include "session/event_stream.h"
#include "session/run_log.h"
#include "session/run_observer.h"
#include "session/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings and what a file says of a GPU are used for as long as the process runs. */
static struct arena *arena;

/* ---- private variables, set by `heddle` ------------------------------------------------------------------ */

static void log_operation(const struct event_operation *o)
{
    event_write(driver.reports.events, &(struct event){.kind = EVENT_OPERATION, .operation = *o});
}

static bool open_events(const char *text)
{
    struct driver_reports *const r = &driver.reports;
    r->events = event_stream_open(text);
    if (event_stream_wants(r->events, EVENTS_PROFILE)) r->profile = emu_profile_new();
    if (event_stream_wants(r->events, EVENTS_FIDELITY)) r->fidelity = emu_fidelity_new();
    if (event_stream_wants(r->events, EVENTS_ESTIMATES)) r->estimates = estimate_cache_new();
    if (event_stream_wants(r->events, EVENTS_OPERATIONS)) r->timeline.log = log_operation;
    r->run_log = run_log_open(r->events);
    r->run_observer = run_observer_open(r->events);
    /* The stream's buffer is of the program's heap, and is there before kernels print, whenever that is. */
    return r->events && (!r->run_log || setvbuf(stdout, NULL, _IOFBF, BUFSIZ) == 0);
}

static void print(void *self, const char *text, size_t length)
{
    run_log_printed(self, text, length);
    (void)fwrite(text, 1, length, stdout);
}

static bool open_traces(const char *text)
{
    driver.reports.traces.file = fopen(text, "ab");
    return driver.reports.traces.file != NULL;
}

/* cuInit is called again after it failed, and after a reset: what is open stays open. */
static bool open_private(struct emu_config *c)
{
    const struct driver_reports *const r = &driver.reports;
    const struct {
        const char *name;
        bool is_open;
        bool (*open)(const char *text);
    } variables[] = {
        {EVENT_STREAM_VARIABLE, r->events != NULL, open_events},
        {CUDA_TRACES, r->traces.file != NULL, open_traces},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i].name);
        if (!text || !*text || variables[i].is_open || variables[i].open(text)) continue;
        driver_say("heddle: %s=%s: only 'heddle' sets this variable\n", variables[i].name, text);
        ok = false;
    }
    c->count |= event_stream_wants(r->events, EVENTS_TOTALS | EVENTS_LAUNCHES | EVENTS_PROFILE |
                                                  EVENTS_FIDELITY);
    c->caches |= r->profile != NULL;
    c->trace |= r->estimates || r->traces.file;
    if (r->run_log) c->print = print, c->print_self = r->run_log;
    return ok;
}

/* Of `heddle estimate --coefficients`. */
static bool load_coefficients(const struct emu_gpu *gpu)
{
    const char *path = getenv(CUDA_COEFFICIENTS);
    struct buf why = {0};
    if (!path || !*path) return true;
    const struct timing_fit *fit = timing_file_load(path, gpu, arena, &why);
    if (why.data) driver_say("%s", why.data);
    buf_free(&why);
    machine_use(fit);
    return fit != NULL;
}

/* ---- settings -------------------------------------------------------------------------------------------- */

static bool cannot(const char *what, const char *path)
{
    driver_say("heddle: cannot %s '%s': %s\n", what, path, strerror(errno));
    return false;
}

/* The document is written under another name, and gets its own when the program ends. */
static bool begin_counts(const char *path, struct emu_config *c)
{
    c->count = c->caches = c->phases = true;
    struct driver_reports *const r = &driver.reports;
    if (r->counts_path) return true;
    if (!replacement_open(&r->counts_file, path)) {
        (void)replacement_close(&r->counts_file, false);
        return cannot("write", path);
    }
    r->counts_path = strdup(path);
    if (!r->counts_path) abort();
    emu_counts_begin(&r->counts, r->counts_file.out);
    return true;
}

/* The folder stays open until the process ends, whatever is reset. `heddle check` makes many runs: none changes it. */
static bool open_files(const struct settings *s, struct emu_config *c)
{
    static struct guest_files *files;
    char *why = NULL;
    if (!s->files) return true;
    if (!files) {
        files = guest_files_open(s->files, s->files_bytes, &why);
        if (files && driver.reports.run_log) guest_files_discard(files);
    }
    if (why) driver_say("heddle: %s\n", why);
    free(why);
    c->files = files;
    return files != NULL;
}

static bool apply(const struct settings *s, struct emu_config *c)
{
    c->threads = s->threads;
    c->sms = s->sms;
    c->memory = s->memory;
    c->max_instructions = s->max_instructions;
    c->timeout = s->timeout;
    c->divergence = s->independent_threads ? EMU_ITS : s->strict_stack ? EMU_STACK : EMU_YIELD;
    c->no_speculation = s->no_speculation;
    c->continue_after_faults = s->continue_after_faults;
    c->checks = s->checks;
    c->count |= s->checks != 0; /* for the last line of the run */
    c->suppress = s->suppress;
    c->gpu = s->gpu;
    driver.order = s->order;
    driver.seed = s->seed;
    if (!open_files(s, c)) return false;
    if (s->counts && !begin_counts(s->counts, c)) return false;
    if (s->record && !driver_record_to(s->record)) return cannot("write", s->record);
    if (s->replay && !driver_replay_from(s->replay)) return false;
    return !s->watch || watch_points_read(s->watch);
}

bool environment_read(struct emu_config *c)
{
    struct settings s = {0};
    struct buf messages = {0};
    if (!arena) arena = arena_new();
    *c = (struct emu_config){0};
    bool ok = open_private(c);
    ok &= settings_from_environment(&s, arena, &messages);
    if (messages.data) driver_say("%s", messages.data);
    buf_free(&messages);
    return ok && apply(&s, c) && load_coefficients(c->gpu);
}
