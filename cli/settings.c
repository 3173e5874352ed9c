/* Settings of the device, from the command line and from job files. */
#include "cli/run_options.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "emu/suppress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

bool dimensions_read(struct diags *d, struct piece text, uint32_t out[3])
{
    const struct value_type *u32 = value_type_find("u32", 3);
    out[0] = out[1] = out[2] = 1;
    const char *p = text.text, *end = text.text + text.length;
    for (int i = 0; i < 3; i++) {
        const char *stop = p;
        uint64_t n;
        while (stop < end && *stop != ',' && *stop != 'x') stop++;
        if (*p == '-' || !value_read(u32, p, (size_t)(stop - p), &n)) break;
        out[i] = (uint32_t)n;
        if (stop == end) return true;
        p = stop + 1;
    }
    diag_error(d, text.at, text.length, "a size is X, X,Y or X,Y,Z, not '%.*s'", (int)text.length,
               text.text);
    return false;
}

static bool set_threads(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    uint64_t n = 0;
    if (!number_read(d, "threads", v, 1024, &n)) return false;
    o->threads = (unsigned)n;
    return true;
}

static bool set_max_instructions(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    return number_read(d, "max-instructions", v, UINT64_MAX, &o->max_instructions);
}

bool seconds_read(struct diags *d, const char *what, struct piece text, double *out)
{
    const struct value_type *f64 = value_type_find("f64", 3);
    uint64_t bits = 0;
    bool ok = value_read(f64, text.text, text.length, &bits);
    double seconds = value_double(f64, bits);
    if (ok && isfinite(seconds) && seconds > 0) {
        *out = seconds;
        return true;
    }
    diag_error(d, text.at, text.length, "%s wants seconds, not '%.*s'", what, (int)text.length,
               text.text);
    return false;
}

static bool set_timeout(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    return seconds_read(d, "timeout", v, &o->timeout);
}

static bool set_divergence(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    o->independent_threads = is(v, "its");
    if (o->independent_threads || is(v, "stack")) return true;
    diag_error(d, v.at, v.length, "divergence is stack or its, not '%.*s'", (int)v.length, v.text);
    return false;
}

static bool set_check(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    o->check_memory = o->check_init = o->check_sync = o->check_race = o->check_atomicity =
        o->check_api = false;
    for (uint32_t i = 0, n; i <= v.length; i += n + 1) {
        const char *comma = memchr(v.text + i, ',', v.length - i);
        n = comma ? (uint32_t)(comma - v.text) - i : v.length - i;
        struct piece word = {v.text + i, n, v.at + i};
        if (is(word, "memory")) o->check_memory = true;
        else if (is(word, "init")) o->check_init = true;
        else if (is(word, "sync")) o->check_sync = true;
        else if (is(word, "race")) o->check_race = true;
        else if (is(word, "atomicity")) o->check_atomicity = true;
        else if (is(word, "api")) o->check_api = true;
        else if (is(word, "all")) o->check_memory = o->check_init = o->check_sync = true;
        else {
            diag_error(d, word.at, n,
                       "check takes memory, init, sync, race, atomicity, api and all (the first "
                       "three), not '%.*s'",
                       (int)n, word.text);
            return false;
        }
    }
    return true;
}

static bool set_suppress(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    char *why;
    o->suppress = arena_copy(d->arena, v.text, v.length);
    suppressions_free(suppressions_read(o->suppress, &why));
    if (why) diag_error(d, v.at, v.length, "%s", why);
    free(why);
    return !why;
}

static bool set_memory(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    static const char units[] = "KMGT";
    const char *unit = v.length ? strchr(units, v.text[v.length - 1]) : NULL;
    unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t n;
    if (value_read(value_type_find("u64", 3), v.text, v.length - (shift != 0), &n) &&
        *v.text != '-' && n && n <= (UINT64_C(1) << 44) >> shift) {
        o->memory = n << shift;
        return true;
    }
    diag_error(d, v.at, v.length, "memory wants bytes up to 16T, as in 512M or 8G, not '%.*s'",
               (int)v.length, v.text);
    return false;
}

static bool set_gpu_file(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    o->gpu = arena_copy(d->arena, v.text, v.length);
    char *why = heddle_gpu_check(o->gpu);
    if (why) diag_error(d, v.at, v.length, "no GPU of a file:\n%.*s", (int)strlen(why) - 1, why);
    free(why);
    return !why;
}

static bool set_gpu(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    struct text_nearest near = {.text = v.text, .length = v.length};
    if (memchr(v.text, '.', v.length) || memchr(v.text, '/', v.length))
        return set_gpu_file(d, o, v);
    for (size_t i = 0; i < heddle_gpu_count(); i++) {
        const char *name = heddle_gpu(i).name;
        if (is(v, name)) {
            o->gpu = name;
            return true;
        }
        text_nearest_try(&near, name);
    }
    diag_error(d, v.at, v.length, "there is no GPU '%.*s'", (int)v.length, v.text);
    struct buf names = {0};
    for (size_t i = 0; i < heddle_gpu_count(); i++)
        buf_printf(&names, "%s%s", i ? ", " : "", heddle_gpu(i).name);
    diag_note(d, v.at, v.length, "there are %s; a file's name has a '.' or a '/'", names.data);
    if (near.best) diag_note(d, v.at, v.length, "did you mean '%s'?", near.best);
    buf_free(&names);
    return false;
}

static bool set_order(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    o->order = arena_copy(d->arena, v.text, v.length);
    char *why = heddle_order_check(o->order);
    if (why) diag_error(d, v.at, v.length, "%s", why);
    free(why);
    return !why;
}

static bool set_seed(struct diags *d, struct heddle_device_options *o, struct piece v)
{
    return number_read(d, "seed", v, UINT64_MAX, &o->seed);
}

static const struct setting {
    const char *name;
    bool (*set)(struct diags *d, struct heddle_device_options *o, struct piece value);
} settings[] = {
    {"threads", set_threads},       {"max-instructions", set_max_instructions},
    {"timeout", set_timeout},       {"check", set_check},
    {"divergence", set_divergence}, {"suppress", set_suppress},
    {"memory", set_memory},         {"gpu", set_gpu},
    {"order", set_order},           {"seed", set_seed},
};

static const struct setting *find(struct piece name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (is(name, settings[i].name)) return &settings[i];
    return NULL;
}

bool is_device_setting(struct piece name)
{
    return find(name) != NULL;
}

bool device_setting(struct diags *d, struct heddle_device_options *device, struct piece name,
                    struct piece value)
{
    return find(name)->set(d, device, value);
}

bool run_options_settings(struct run_options *o, struct heddle_device_options *device)
{
    bool ok = true;
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].id == OPTION_SETTING)
            ok &= device_setting(&o->diags, device, o->list[i].name, o->list[i].value);
    return ok;
}
