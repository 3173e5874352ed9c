/* Tables of keys for each section. */
#include "model/timing_file.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "model/key_table.h"

#include <string.h>

#define IN(field) offsetof(struct timing_fit, field)
#define MACHINE(field) IN(machine) + offsetof(struct timing_machine, field)
#define EACH(array, i) (IN(array) + (i) * sizeof(double))
static const struct table_key keys[] = {
#define RATE(name, field, least, spread, unit, text)                                               \
    {"machine", #name, KEY_NUMBER, least, 1e6, MACHINE(field), unit ", " text},
#define COUNT(name, field, least, most, text)                                                      \
    {"machine", #name, KEY_COUNT, least, most, MACHINE(field), text},
#define FLAG(name, field, text) {"machine", #name, KEY_FLAG, 0, 1, MACHINE(field), text},
#include "model/timing_numbers.def"
#define COST(id, pipeline, text)                                                                   \
    {"latency", #id, KEY_NUMBER, 0.5, 1e5, MACHINE(latency) + PTX_COST_##id * sizeof(double), text},
#include "ptx/costs.def"
#define COST(id, pipeline, text)                                                                   \
    {"interval", #id, KEY_NUMBER, 0.5, 1e5, MACHINE(interval) + PTX_COST_##id * sizeof(double), ""},
#include "ptx/costs.def"
#define UNIT(id)                                                                                   \
    {                                                                                              \
        "units", #id, KEY_COUNT, 1, 64, MACHINE(units) + TIMING_UNIT_##id * 4, ""                  \
    }
    UNIT(INT),        UNIT(FP32),        UNIT(FP64), UNIT(SFU),    UNIT(TENSOR),      UNIT(MEMORY),
#define ERROR(field)                                                                               \
    {                                                                                              \
        "error", #field, KEY_NUMBER, -1, 1e6, IN(field), ""                                        \
    }
    ERROR(mean),      ERROR(median),     ERROR(p90), ERROR(worst), ERROR(by_program), ERROR(rank),
#define BOUND(field)                                                                               \
    {                                                                                              \
        "interval_80", #field, KEY_NUMBER, 1e-6, 1e6, IN(field), ""                                \
    }
    BOUND(alone_low), BOUND(alone_high),
#define REGIME(id, text)                                                                           \
    {"low_80", #id, KEY_NUMBER, 1e-6, 1e6, IN(low) + REGIME_##id * sizeof(double), text},
#include "model/regimes.def"
#define REGIME(id, text)                                                                           \
    {"high_80", #id, KEY_NUMBER, 1e-6, 1e6, IN(high) + REGIME_##id * sizeof(double), ""},
#include "model/regimes.def"
#define FEATURE(id, text, value)                                                                   \
    {"least", #id, KEY_NUMBER, 0, 1e18, EACH(least, TIMING_FEATURE_##id), text},
#include "model/timing_features.def"
#define FEATURE(id, text, value)                                                                   \
    {"most", #id, KEY_NUMBER, 0, 1e18, EACH(most, TIMING_FEATURE_##id), ""},
#include "model/timing_features.def"
};
enum { KEYS = sizeof keys / sizeof *keys };

struct reader {
    struct key_reader keys; /* its `out` is the fit */
    const struct emu_gpu *g;
    struct timing_fit *fit;
};

static void take_gpu(struct reader *r, struct yaml_piece value)
{
    const char *name = key_table_text(&r->keys, value);
    const struct emu_gpu *g = r->g && strcmp(r->g->name, name) == 0 ? r->g : emu_gpu_find(name);
    r->fit->gpu = name;
    if (g) machine_configured(g, &r->fit->machine);
    else diag_error(r->keys.diags, value.at, value.length, "no GPU is called '%s'", name);
}

/* false: what follows has no meaning without this key. */
static bool take_first(struct reader *r, struct yaml_piece key, struct yaml_piece value)
{
    if (strcmp(key_table_text(&r->keys, key), "gpu") == 0) take_gpu(r, value);
    else diag_error(r->keys.diags, key.at, key.length, "the first key is gpu");
    return r->fit->gpu != NULL;
}

static void take_outer(struct reader *r, struct yaml_piece key, struct yaml_piece value)
{
    if (strcmp(key_table_text(&r->keys, key), "measured") == 0)
        r->fit->measured = key_table_text(&r->keys, value);
    else key_table_section(&r->keys, key, value);
}

bool timing_file_read(struct diags *d, const struct emu_gpu *g, struct timing_fit *out)
{
    bool seen[KEYS] = {0};
    struct reader r = {{.diags = d, .keys = keys, .count = KEYS, .seen = seen, .out = out}, g, out};
    struct yaml_line l;
    *out = (struct timing_fit){0};
    for (uint32_t at = 0; plain_yaml_next(d, &at, &l);)
        if (!out->gpu) {
            if (!take_first(&r, l.key, l.value)) break;
        } else if (l.indent) key_table_value(&r.keys, l.key, l.value);
        else take_outer(&r, l.key, l.value);
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

void timing_file_write(struct buf *out, const struct timing_fit *fit)
{
    buf_printf(out, "gpu: %s\n", fit->gpu);
    if (fit->measured) buf_printf(out, "measured: %s\n", fit->measured);
    key_table_write(out, keys, KEYS, fit);
}
