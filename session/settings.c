/* The table of settings (session/settings.def) and the parsers of their values.
 *
 * The parsers come first, one for each row: a parser checks a value and sets a member of struct settings. Two functions call
 * them: setting_read() for the command line (run_options_settings in cli/settings.c) and for job files, and
 * settings_from_environment() for CUDA programs (cuda/environment.c). Error messages quote the source of the value, through
 * the caller's diags. */
#include "session/settings.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "emu/files.h"
#include "emu/suppress.h"
#include "model/gpu_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

/* ---- the parsers ----------------------------------------------------------------------------------------- */

static bool read_threads(struct diags *d, struct piece v, struct settings *s)
{
    uint64_t n = 0;
    if (!number_read(d, "threads", v, 1024, &n)) return false;
    s->threads = (unsigned)n;
    return true;
}

static bool read_sms(struct diags *d, struct piece v, struct settings *s)
{
    uint64_t n = 0;
    if (!number_read(d, "sms", v, 65536, &n)) return false;
    s->sms = (unsigned)n;
    return true;
}

static bool read_max_instructions(struct diags *d, struct piece v, struct settings *s)
{
    return number_read(d, "max-instructions", v, UINT64_MAX, &s->max_instructions);
}

bool seconds_read(struct diags *d, const char *what, struct piece text, double *out)
{
    const struct value_type *f64 = value_type_find("f64", 3);
    uint64_t bits = 0;
    const bool ok = value_read(f64, text.text, text.length, &bits);
    const double seconds = value_double(f64, bits);
    if (ok && isfinite(seconds) && seconds > 0) {
        *out = seconds;
        return true;
    }
    diag_error(d, text.at, text.length, "%s wants seconds, not '%.*s'", what, (int)text.length,
               text.text);
    return false;
}

static bool read_timeout(struct diags *d, struct piece v, struct settings *s)
{
    return seconds_read(d, "timeout", v, &s->timeout);
}

static bool read_divergence(struct diags *d, struct piece v, struct settings *s)
{
    s->independent_threads = is(v, "its");
    s->strict_stack = is(v, "stack");
    if (s->independent_threads || s->strict_stack || is(v, "auto")) return true;
    diag_error(d, v.at, v.length, "divergence is auto, stack or its, not '%.*s'", (int)v.length,
               v.text);
    return false;
}

static bool read_speculate(struct diags *d, struct piece v, struct settings *s)
{
    s->no_speculation = is(v, "off");
    if (s->no_speculation || is(v, "on")) return true;
    diag_error(d, v.at, v.length, "speculate is on or off, not '%.*s'", (int)v.length, v.text);
    return false;
}

static bool read_on_fault(struct diags *d, struct piece v, struct settings *s)
{
    s->continue_after_faults = is(v, "continue");
    if (s->continue_after_faults || is(v, "stop")) return true;
    diag_error(d, v.at, v.length, "on-fault is stop or continue, not '%.*s'", (int)v.length,
               v.text);
    return false;
}

static unsigned check_bits(struct piece word)
{
    static const struct {
        const char *word;
        unsigned bits;
    } words[] = {
        {"memory", EMU_CHECK_MEMORY},
        {"init", EMU_CHECK_INIT},
        {"sync", EMU_CHECK_SYNC},
        {"race", EMU_CHECK_RACE},
        {"atomicity", EMU_CHECK_ATOMICITY},
        {"api", EMU_CHECK_API},
        {"bounds", EMU_CHECK_BOUNDS},
        {"all", EMU_CHECK_MEMORY | EMU_CHECK_INIT | EMU_CHECK_SYNC | EMU_CHECK_BOUNDS},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(word, words[i].word)) return words[i].bits;
    return 0;
}

static bool read_check(struct diags *d, struct piece v, struct settings *s)
{
    s->checks = 0;
    for (uint32_t i = 0, n; i <= v.length; i += n + 1) {
        const char *comma = memchr(v.text + i, ',', v.length - i);
        n = comma ? (uint32_t)(comma - v.text) - i : v.length - i;
        const struct piece word = {v.text + i, n, v.at + i};
        const unsigned bits = check_bits(word);
        s->checks |= bits;
        if (bits) continue;
        diag_error(
            d, word.at, n,
            "check takes memory, init, sync, bounds, race, atomicity, api and all (the first "
            "four), not '%.*s'",
            (int)n, word.text);
        return false;
    }
    return true;
}

static bool read_suppress(struct diags *d, struct piece v, struct settings *s)
{
    char *why;
    s->suppress = arena_copy(d->arena, v.text, v.length);
    suppressions_free(suppressions_read(s->suppress, &why));
    if (why) diag_error(d, v.at, v.length, "%s", why);
    free(why);
    return !why;
}

/* Bytes, with a unit behind them or none. */
static bool read_bytes(struct diags *d, const char *what, struct piece v, uint64_t *out)
{
    static const char units[] = "KMGT";
    const char *unit = v.length ? strchr(units, v.text[v.length - 1]) : NULL;
    const unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t n;
    if (value_read(value_type_find("u64", 3), v.text, v.length - (shift != 0), &n) &&
        *v.text != '-' && n && n <= (UINT64_C(1) << 44) >> shift) {
        *out = n << shift;
        return true;
    }
    diag_error(d, v.at, v.length, "%s wants bytes up to 16T, as in 512M or 8G, not '%.*s'", what,
               (int)v.length, v.text);
    return false;
}

static bool read_memory(struct diags *d, struct piece v, struct settings *s)
{
    return read_bytes(d, "memory", v, &s->memory);
}

static bool read_files_bytes(struct diags *d, struct piece v, struct settings *s)
{
    return read_bytes(d, "files-bytes", v, &s->files_bytes);
}

static bool read_files(struct diags *d, struct piece v, struct settings *s)
{
    char *why = NULL;
    s->files = arena_copy(d->arena, v.text, v.length);
    guest_files_close(guest_files_open(s->files, 0, &why));
    if (why) diag_error(d, v.at, v.length, "%s", why);
    free(why);
    return !why;
}

static void say_gpu_names(struct diags *d, struct piece v)
{
    struct text_nearest near = {.text = v.text, .length = v.length};
    struct buf names = {0};
    for (size_t i = 0; i < emu_gpu_count(); i++) {
        text_nearest_try(&near, emu_gpu_at(i)->name);
        buf_printf(&names, "%s%s", i ? ", " : "", emu_gpu_at(i)->name);
    }
    diag_error(d, v.at, v.length, "there is no GPU '%.*s'", (int)v.length, v.text);
    diag_note(d, v.at, v.length, "there are %s; a file's name has a '.' or a '/'", names.data);
    if (near.best) diag_note(d, v.at, v.length, "did you mean '%s'?", near.best);
    buf_free(&names);
}

static bool read_gpu(struct diags *d, struct piece v, struct settings *s)
{
    struct buf why = {0};
    s->gpu_name = arena_copy(d->arena, v.text, v.length);
    const bool file = gpu_is_file(s->gpu_name);
    s->gpu = file ? gpu_find(s->gpu_name, d->arena, &why) : emu_gpu_find(s->gpu_name);
    if (!s->gpu && file)
        diag_error(d, v.at, v.length, "cannot read a GPU from this file:\n%.*s", (int)why.size - 1,
                   why.data);
    else if (!s->gpu) say_gpu_names(d, v);
    buf_free(&why);
    return s->gpu != NULL;
}

static bool read_order(struct diags *d, struct piece v, struct settings *s)
{
    s->order = arena_copy(d->arena, v.text, v.length);
    char *why = orders_check(s->order, NULL);
    if (why) diag_error(d, v.at, v.length, "%s", why);
    free(why);
    return !why;
}

static bool read_seed(struct diags *d, struct piece v, struct settings *s)
{
    return number_read(d, "seed", v, UINT64_MAX, &s->seed);
}

/* Whoever uses the file opens it. */
static bool read_counts(struct diags *d, struct piece v, struct settings *s)
{
    s->counts = arena_copy(d->arena, v.text, v.length);
    return true;
}

static bool read_record(struct diags *d, struct piece v, struct settings *s)
{
    s->record = arena_copy(d->arena, v.text, v.length);
    return true;
}

static bool read_replay(struct diags *d, struct piece v, struct settings *s)
{
    s->replay = arena_copy(d->arena, v.text, v.length);
    return true;
}

static bool read_watch(struct diags *d, struct piece v, struct settings *s)
{
    s->watch = arena_copy(d->arena, v.text, v.length);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------------------- */

enum {
    EVERYWHERE = SETTING_OPTION | SETTING_JOB | SETTING_VARIABLE,
    NOT_IN_JOBS = SETTING_OPTION | SETTING_VARIABLE,
};

static const struct setting settings[] = {
#define SETTING(name, variable, where, argument, standard, read, help)                             \
    {name, "HEDDLE_" variable, where, argument, standard, help, read},
#include "session/settings.def"
};
enum { SETTING_COUNT = sizeof settings / sizeof *settings };

const struct setting *setting_at(size_t i)
{
    return i < SETTING_COUNT ? &settings[i] : NULL;
}

const struct setting *setting_find(const char *name, size_t length)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (strlen(settings[i].name) == length && memcmp(settings[i].name, name, length) == 0)
            return &settings[i];
    return NULL;
}

bool setting_read(const struct setting *s, struct diags *d, struct piece value,
                  struct settings *out)
{
    return s->read(d, value, out);
}

/* ---- the environment ------------------------------------------------------------------------------------- */

/* Messages quote the variable as a shell sets it: HEDDLE_MEMORY=8X. */
static bool read_variable(const struct setting *s, const char *text, struct arena *a,
                          struct settings *out, struct buf *messages)
{
    const char *line = arena_printf(a, "%s=%s", s->variable, text);
    const uint32_t length = (uint32_t)strlen(text), at = (uint32_t)strlen(s->variable) + 1;
    struct source source = {"environment", line, at + length};
    struct diags diags = {.arena = a, .source = &source};
    const bool ok = s->read(&diags, (struct piece){line + at, length, at}, out);
    if (!ok) diags_render(&diags, messages);
    return ok;
}

bool settings_from_environment(struct settings *out, struct arena *a, struct buf *messages)
{
    bool ok = true;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *text = getenv(settings[i].variable);
        if (text && *text) ok &= read_variable(&settings[i], text, a, out, messages);
    }
    return ok;
}
