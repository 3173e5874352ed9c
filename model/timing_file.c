/* Tables of keys for each section. */
#include "model/timing_file.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/text.h"
#include "model/plain_yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NUMBER, KIND_COUNT, KIND_FLAG };

struct key {
    const char *section, *name;
    enum kind kind;
    double least, most;
    size_t offset; /* in struct timing_fit */
    const char *text;
};

#define IN(field) offsetof(struct timing_fit, field)
#define MACHINE(field) IN(machine) + offsetof(struct timing_machine, field)
#define EACH(array, i) (IN(array) + (i) * sizeof(double))
static const struct key keys[] = {
#define RATE(field, least, spread, unit, text)                                                     \
    {"machine", #field, KIND_NUMBER, least, 1e6, MACHINE(field), unit ", " text},
#define COUNT(field, least, most, text)                                                            \
    {"machine", #field, KIND_COUNT, least, most, MACHINE(field), text},
#define FLAG(field, text) {"machine", #field, KIND_FLAG, 0, 1, MACHINE(field), text},
#include "model/timing_numbers.def"
#define CLASS(id, unit, text)                                                                      \
    {"latency", #id, KIND_NUMBER, 0.5, 1e5, MACHINE(latency) + CLASS_##id * sizeof(double), text},
#include "model/timing.def"
#define CLASS(id, unit, text)                                                                      \
    {"interval", #id, KIND_NUMBER, 0.5, 1e5, MACHINE(interval) + CLASS_##id * sizeof(double), ""},
#include "model/timing.def"
#define UNIT(id)                                                                                   \
    {                                                                                              \
        "units", #id, KIND_COUNT, 1, 64, MACHINE(units) + TIMING_UNIT_##id * 4, ""                 \
    }
    UNIT(INT),         UNIT(FP32),    UNIT(FP64),       UNIT(SFU),
    UNIT(TENSOR),      UNIT(MEMORY),
#define ERROR(field)                                                                               \
    {                                                                                              \
        "error", #field, KIND_NUMBER, -1, 1e6, IN(field), ""                                       \
    }
    ERROR(mean),       ERROR(median), ERROR(p90),       ERROR(worst),
    ERROR(by_program), ERROR(rank),
#define BOUND(field)                                                                               \
    {                                                                                              \
        "interval_80", #field, KIND_NUMBER, 1e-6, 1e6, IN(field), ""                               \
    }
    BOUND(low),        BOUND(high),   BOUND(alone_low), BOUND(alone_high),
#define FEATURE(id, text, value)                                                                   \
    {"least", #id, KIND_NUMBER, 0, 1e18, EACH(least, LAUNCH_FEATURE_##id), text},
#include "model/launch_features.def"
#define FEATURE(id, text, value)                                                                   \
    {"most", #id, KIND_NUMBER, 0, 1e18, EACH(most, LAUNCH_FEATURE_##id), ""},
#include "model/launch_features.def"
};
enum { KEYS = sizeof keys / sizeof *keys };

static double value_of(const struct timing_fit *fit, const struct key *k)
{
    const char *at = (const char *)fit + k->offset;
    if (k->kind == KIND_NUMBER) return *(const double *)(const void *)at;
    return k->kind == KIND_COUNT ? *(const uint32_t *)(const void *)at
                                 : *(const bool *)(const void *)at;
}

static void put_value(struct timing_fit *fit, const struct key *k, double value)
{
    char *at = (char *)fit + k->offset;
    if (k->kind == KIND_NUMBER) *(double *)(void *)at = value;
    else if (k->kind == KIND_COUNT) *(uint32_t *)(void *)at = (uint32_t)value;
    else *(bool *)(void *)at = value > 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

struct reader {
    struct diags *d;
    const struct emu_gpu *g;
    struct timing_fit *fit;
    char section[32];
    bool seen[KEYS];
};

static const char *text_of(const struct reader *r, struct yaml_piece p)
{
    return arena_copy(r->d->arena, p.text, p.length);
}

static bool read_value(const struct reader *r, const struct key *k, struct yaml_piece p,
                       double *out)
{
    const char *text = text_of(r, p);
    char *end;
    if (k->kind == KIND_FLAG) {
        *out = strcmp(text, "yes") == 0;
        if (*out > 0 || strcmp(text, "no") == 0) return true;
        diag_error(r->d, p.at, p.length, "%s is yes or no, not '%s'", k->name, text);
        return false;
    }
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out) || strpbrk(text, "xX")) {
        diag_error(r->d, p.at, p.length, "%s is a finite number, not '%s'", k->name, text);
        return false;
    }
    if (*out < k->least || *out > k->most || (k->kind == KIND_COUNT && *out != floor(*out))) {
        diag_error(r->d, p.at, p.length, "%s is %s from %g to %g, not %s", k->name,
                   k->kind == KIND_COUNT ? "a whole number" : "a number", k->least, k->most, text);
        return false;
    }
    return true;
}

static void unknown_key(const struct reader *r, struct yaml_piece p, const char *name)
{
    struct text_nearest n = {.text = name, .length = strlen(name)};
    bool section = false;
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].section, r->section) != 0) continue;
        section = true;
        text_nearest_try(&n, keys[i].name);
    }
    if (!section && !*r->section) diag_error(r->d, p.at, p.length, "'%s' is no key", name);
    else if (!section) diag_error(r->d, p.at, p.length, "'%s' is no section", r->section);
    else diag_error(r->d, p.at, p.length, "'%s' is no key of %s", name, r->section);
    if (n.best) diag_note(r->d, p.at, p.length, "did you mean '%s'?", n.best);
}

static void take_key(struct reader *r, struct yaml_piece key, struct yaml_piece value)
{
    const char *name = text_of(r, key);
    double x;
    int i = 0;
    while (i < KEYS &&
           (strcmp(keys[i].section, r->section) != 0 || strcmp(keys[i].name, name) != 0))
        i++;
    if (i == KEYS) unknown_key(r, key, name);
    else if (r->seen[i]) diag_error(r->d, key.at, key.length, "%s is said twice", name);
    else if (read_value(r, &keys[i], value, &x)) {
        r->seen[i] = true;
        put_value(r->fit, &keys[i], x);
    }
}

static void take_gpu(struct reader *r, struct yaml_piece value)
{
    const char *name = text_of(r, value);
    const struct emu_gpu *g = r->g && strcmp(r->g->name, name) == 0 ? r->g : emu_gpu_find(name);
    r->fit->gpu = name;
    if (g) machine_configured(g, &r->fit->machine);
    else diag_error(r->d, value.at, value.length, "no GPU is called '%s'", name);
}

/* false: what follows has no meaning without this key. */
static bool take_first(struct reader *r, struct yaml_piece key, struct yaml_piece value)
{
    if (strcmp(text_of(r, key), "gpu") == 0) take_gpu(r, value);
    else diag_error(r->d, key.at, key.length, "the first key is gpu");
    return r->fit->gpu != NULL;
}

static void take_top(struct reader *r, struct yaml_piece key, struct yaml_piece value)
{
    const char *name = text_of(r, key);
    r->section[0] = 0;
    if (strcmp(name, "measured") == 0) r->fit->measured = text_of(r, value);
    else if (value.length) unknown_key(r, key, name);
    else if (key.length < sizeof r->section) memcpy(r->section, name, key.length + 1);
    else diag_error(r->d, key.at, key.length, "'%s' is no section", name);
}

bool timing_file_read(struct diags *d, const struct emu_gpu *g, struct timing_fit *out)
{
    struct reader r = {.d = d, .g = g, .fit = out};
    struct yaml_line l;
    *out = (struct timing_fit){0};
    for (uint32_t at = 0; plain_yaml_next(d, &at, &l);)
        if (!out->gpu) {
            if (!take_first(&r, l.key, l.value)) break;
        } else if (l.indent) take_key(&r, l.key, l.value);
        else take_top(&r, l.key, l.value);
    if (!out->gpu && !d->errors) diag_error(d, 0, 0, "there is nothing in this file");
    const struct timing_machine *m = &out->machine;
    if (!d->errors && (!m->channels || m->slices < m->channels || m->slices % m->channels))
        diag_error(d, d->source->length, 0, "%u slices are not as many for each of %u channels",
                   m->slices, m->channels);
    return !d->errors;
}

const struct timing_fit *timing_file_load(const char *path, const struct emu_gpu *g,
                                          struct arena *a, struct buf *why)
{
    const struct source *source = plain_yaml_load(path, a, why);
    if (!source) return NULL;
    struct diags d = {.arena = a, .source = source, .max_errors = 20};
    struct timing_fit *fit = arena_alloc(a, sizeof *fit);
    const bool ok = timing_file_read(&d, g, fit);
    diags_render(&d, why);
    return ok ? fit : NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

void timing_file_write(struct buf *out, const struct timing_fit *fit)
{
    buf_printf(out, "gpu: %s\n", fit->gpu);
    if (fit->measured) buf_printf(out, "measured: %s\n", fit->measured);
    for (int i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        if (!i || strcmp(k->section, keys[i - 1].section) != 0)
            buf_printf(out, "\n%s:\n", k->section);
        const double value = value_of(fit, k);
        if (k->kind == KIND_FLAG) buf_printf(out, "  %s: %s", k->name, value > 0 ? "yes" : "no");
        else buf_printf(out, "  %s: %.5g", k->name, value);
        buf_printf(out, "%s%s\n", *k->text ? " # " : "", k->text);
    }
}
