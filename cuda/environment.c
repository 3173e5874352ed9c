#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cuda/environment.h"

#include "cuda/driver.h"
#include "cuda/outcome.h"
#include "cuda/recording.h"
#include "cuda/run_events.h"
#include "cuda/watch_points.h"

#include "base/arena.h"
#include "base/buf.h"
#include "determinism/record/run_log.h"
#include "model/estimate_cache.h"
#include "model/timing_file.h"
#include "session/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Settings and what a file says of a GPU are used for as long as the process runs. */
static struct arena *arena;

/* ---- private variables, set by `heddle` ------------------------------------------------------------------ */

static bool read_descriptor(const char *text, int *out)
{
    int end = 0;
    return sscanf(text, "%d%n", out, &end) == 1 && !text[end] && *out > 0;
}

/* The file stays mapped for as long as the process runs. */
static bool open_outcome(const char *text)
{
    int fd;
    if (!read_descriptor(text, &fd)) return false;
    void *at = mmap(NULL, sizeof *driver.outcome, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return false;
    driver.outcome = at;
    return true;
}

static void print(void *self, const char *text, size_t length)
{
    run_log_printed(self, text, length);
    (void)fwrite(text, 1, length, stdout);
}

static bool open_run_log(const char *text)
{
    int out, in, end = 0;
    struct run_log_task task;
    uint64_t *places = NULL;
    const bool ok = sscanf(text, "%d,%d%n", &out, &in, &end) == 2 && !text[end] &&
                    run_log_task_read(in, &task, &places);
    if (ok) driver.run_log = run_log_new(&task, out);
    free(places);
    /* The stream's buffer is of the program's heap, and is there before kernels print, whenever that is. */
    return setvbuf(stdout, NULL, _IOFBF, BUFSIZ) == 0 && ok;
}

static bool open_run_events(const char *text)
{
    return read_descriptor(text, &driver.run_events);
}

static bool begin_profile(const char *text)
{
    driver.profile = emu_profile_new();
    return strcmp(text, "1") == 0;
}

static bool open_estimate(const char *text)
{
    driver.estimate = fopen(text, "w");
    driver.times = estimate_cache_new();
    return driver.estimate != NULL;
}

static bool open_traces(const char *text)
{
    driver.traces = fopen(text, "ab");
    return driver.traces != NULL;
}

/* cuInit is called again after it failed, and after a reset: what is open stays open. */
static bool open_private(struct emu_config *c)
{
    const struct {
        const char *name;
        bool is_open;
        bool (*open)(const char *text);
    } variables[] = {
        {CUDA_OUTCOME, driver.outcome != NULL, open_outcome},
        {CUDA_RUN_LOG, driver.run_log != NULL, open_run_log},
        {CUDA_RUN_EVENTS, driver.run_events != 0, open_run_events},
        {CUDA_PROFILE, driver.profile != NULL, begin_profile},
        {CUDA_ESTIMATE, driver.estimate != NULL, open_estimate},
        {CUDA_TRACES, driver.traces != NULL, open_traces},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i].name);
        if (!text || !*text || variables[i].is_open || variables[i].open(text)) continue;
        driver_say("heddle: %s=%s: only 'heddle' sets this variable\n", variables[i].name, text);
        ok = false;
    }
    c->count |= driver.outcome || driver.run_events || driver.profile;
    c->caches |= driver.profile != NULL;
    c->trace |= driver.estimate || driver.traces;
    if (driver.run_log) c->print = print, c->print_self = driver.run_log;
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
    if (driver.counts_path) return true;
    FILE *f = fopen(arena_printf(arena, "%s.new", path), "w");
    if (!f) return cannot("write", path);
    driver.counts_path = strdup(path);
    if (!driver.counts_path) abort();
    emu_counts_begin(&driver.counts, f);
    return true;
}

static bool apply(const struct settings *s, struct emu_config *c)
{
    c->threads = s->threads;
    c->sms = s->sms;
    c->memory = s->memory;
    c->max_instructions = s->max_instructions;
    c->timeout = s->timeout;
    c->divergence = s->independent_threads ? EMU_ITS : EMU_STACK;
    c->checks = s->checks;
    c->suppress = s->suppress;
    c->gpu = s->gpu;
    driver.order = s->order;
    driver.seed = s->seed;
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
