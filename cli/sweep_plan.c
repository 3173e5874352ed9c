/* Reads the plan of a sweep from YAML or options: targets, orders, seeds and GPUs (docs/sweep.md). */
#define _GNU_SOURCE
#include "cli/sweep.h"

#include "cli/job_file.h"
#include "cli/run_options.h"
#include "cli/run_suite.h"
#include "cli/yaml.h"

#include "base/buf.h"
#include "base/sha256.h"
#include "base/text.h"
#include "determinism/orders.h"
#include "model/gpu_file.h"
#include "session/settings.h"
#include "suites/suite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIANTS = 4096, MOST_SEEDS = 1000000, MOST_TARGETS = 4096, MOST_PLACEHOLDERS = 8 };
enum { MOST_NESTED = 32, MOST_EXPANDED = 4096 }; /* placeholders of a text, and its bytes */

static const char *hex_of_file(struct arena *a, const char *path)
{
    uint8_t digest[SHA256_BYTES];
    char text[2 * SHA256_BYTES + 1];
    if (!sha256_file(path, digest)) return NULL;
    sha256_hex(digest, 2 * SHA256_BYTES, text);
    return arena_copy(a, text, sizeof text - 1);
}

/* ---- targets ---------------------------------------------------------------------------------- */

static bool check_workload(struct diags *d, struct piece t)
{
    const struct piece name = {t.text + 6, t.length - 6, t.at + 6};
    const char *colon = memchr(name.text, ':', name.length);
    const uint32_t n = colon ? (uint32_t)(colon - name.text) : name.length;
    const char *word = arena_copy(d->arena, name.text, n);
    struct suite_options options = {0};
    const struct suite_workload *w = suite_find(word);
    if (!w) {
        const char *near = workload_nearest(word);
        diag_error(d, name.at, n, "there is no workload '%s'", word);
        if (near) diag_note(d, name.at, n, "did you mean '%s'?", near);
        return false;
    }
    const char *size = colon ? arena_copy(d->arena, colon + 1, name.length - n - 1) : "small";
    if (!suite_input_read(w, size, &options)) {
        char *what = workload_inputs(w);
        diag_error(d, name.at + n + 1, name.length - n - 1, "%s, not '%s'", what, size);
        free(what);
        return false;
    }
    return true;
}

bool sweep_plan_add(struct sweep_plan *p, const struct sweep_target *t)
{
    const size_t n = p->target_count;
    if (n == MOST_TARGETS) return false;
    if (!(n & (n - 1))) { /* 0 or a power of two: it is full */
        struct sweep_target *more = arena_array(p->arena, struct sweep_target, n ? 2 * n : 1);
        if (n) memcpy(more, p->targets, n * sizeof *more);
        p->targets = more;
    }
    p->targets[p->target_count++] = *t;
    return true;
}

static bool add_target(struct sweep_plan *p, struct diags *d, struct piece first, char **words,
                       size_t count, bool programs)
{
    const enum run_target kind = run_target_kind(first);
    struct buf name = {0};
    struct sweep_target t = {.words = words, .is_program = kind == TARGET_PROGRAM, .digest = ""};
    t.can_be_cached = kind == TARGET_SUITE || kind == TARGET_PTX;
    if (kind == TARGET_SUITE && !check_workload(d, first)) return false;
    if (kind != TARGET_SUITE && !(t.digest = hex_of_file(p->arena, words[0]))) {
        diag_error(d, first.at, first.length, "cannot read '%s'", words[0]);
        return false;
    }
    if (kind == TARGET_PROGRAM && !programs) {
        diag_error(d, first.at, first.length, "'%s' is a program, and --no-programs is given",
                   words[0]);
        return false;
    }
    for (size_t i = 0; i < count; i++) buf_printf(&name, "%s%s", i ? " " : "", words[i]);
    t.name = arena_copy(p->arena, name.data, name.size);
    buf_free(&name);
    if (sweep_plan_add(p, &t)) return true;
    diag_error(d, first.at, first.length, "a plan has at most %d targets", MOST_TARGETS);
    return false;
}

static bool add_name(struct sweep_plan *p, struct diags *d, struct piece text, bool programs)
{
    char **words = arena_array(p->arena, char *, 2);
    words[0] = arena_copy(p->arena, text.text, text.length);
    return add_target(p, d, text, words, 1, programs);
}

/* {program: ./app, args: [...]} or {kernel: k.ptx, options: [...]} */
static bool read_target_map(struct sweep_plan *p, struct diags *d, const struct yaml *map,
                            bool programs)
{
    const struct yaml *file = NULL, *list = NULL;
    for (const struct yaml *v = map->first; v; v = v->next) {
        const bool is_file = piece_is(v->key, "program") || piece_is(v->key, "kernel");
        const bool is_list = piece_is(v->key, "args") || piece_is(v->key, "options");
        if (is_file && v->kind == YAML_SCALAR) file = v;
        else if (is_list && v->kind == YAML_LIST) list = v;
        else {
            diag_error(
                d, v->key.at, v->key.length,
                "a target is a name, {program: FILE, args: [...]} or {kernel: FILE, options: [...]}");
            return false;
        }
    }
    if (!file) {
        diag_error(d, map->text.at, 1, "this target names neither a program nor a kernel");
        return false;
    }
    char **words = arena_array(p->arena, char *, (list ? list->count : 0) + 2);
    size_t n = 0;
    words[n++] = arena_copy(p->arena, file->text.text, file->text.length);
    for (const struct yaml *v = list ? list->first : NULL; v; v = v->next)
        words[n++] = arena_copy(p->arena, v->text.text, v->text.length);
    return add_target(p, d, file->text, words, n, programs);
}

/* ---- orders ----------------------------------------------------------------------------------- */

struct placeholder {
    struct piece name;
    const char **values;
    size_t count;
};

struct placeholders {
    struct placeholder list[MOST_PLACEHOLDERS];
    size_t count;
};

static bool add_order(struct sweep_plan *p, struct diags *d, const char *text, struct piece where)
{
    char *why = orders_check(text, NULL);
    if (why) diag_error(d, where.at, where.length, "%s", why);
    else if (p->order_count == MOST_VARIANTS)
        diag_error(d, where.at, where.length, "a plan has at most %d orders", MOST_VARIANTS);
    const bool ok = !why && p->order_count < MOST_VARIANTS;
    free(why);
    if (!ok) return false;
    if (!p->orders) p->orders = arena_array(p->arena, const char *, MOST_VARIANTS);
    p->orders[p->order_count++] = text;
    return true;
}

/* Takes a text without placeholders. */
typedef bool taker(struct sweep_plan *p, struct diags *d, const char *text, struct piece where);

static const char *replaced(struct sweep_plan *p, const char *text, const char *from,
                            const char *to, const char *by)
{
    return arena_printf(p->arena, "%.*s%s%s", (int)(from - text), text, by, to);
}

/* Replaces the first placeholder by each of its values: {name} of `vary`, or {a,b,c}. left: so many may follow. */
static bool expand(struct sweep_plan *p, struct diags *d, const char *text,
                   const struct placeholders *all, struct piece where, taker *take, unsigned left)
{
    const char *from = strchr(text, '{'), *to = from ? strchr(from, '}') : NULL;
    if (!from || !to) return take(p, d, text, where);
    if (!left || strlen(text) > MOST_EXPANDED) {
        diag_error(d, where.at, where.length,
                   "too many placeholders, or a value has the name of its own placeholder");
        return false;
    }
    const struct piece name = {from + 1, (uint32_t)(to - from - 1), where.at};
    for (size_t i = 0; all && i < all->count; i++) {
        const struct placeholder *x = &all->list[i];
        if (x->name.length != name.length || memcmp(x->name.text, name.text, name.length) != 0)
            continue;
        bool ok = true;
        for (size_t k = 0; ok && k < x->count; k++)
            ok = expand(p, d, replaced(p, text, from, to + 1, x->values[k]), all, where, take,
                        left - 1);
        return ok;
    }
    if (!memchr(name.text, ',', name.length)) {
        struct text_nearest near = {.text = name.text, .length = name.length};
        for (size_t i = 0; all && i < all->count; i++)
            text_nearest_try(
                &near, arena_copy(p->arena, all->list[i].name.text, all->list[i].name.length));
        diag_error(d, where.at, where.length, "'vary' has no '%.*s'", (int)name.length, name.text);
        if (near.best) diag_note(d, where.at, where.length, "did you mean '%s'?", near.best);
        return false;
    }
    for (const char *at = from + 1; at <= to; at++) {
        const size_t n = strcspn(at, ",}");
        const char *value = arena_copy(p->arena, at, n);
        if (!expand(p, d, replaced(p, text, from, to + 1, value), all, where, take, left - 1))
            return false;
        at += n;
    }
    return true;
}

bool sweep_plan_orders(struct sweep_plan *p, struct diags *d, struct piece text)
{
    return expand(p, d, arena_copy(p->arena, text.text, text.length), NULL, text, add_order,
                  MOST_NESTED);
}

/* A workload without placeholders; errors stand where the text of the plan does. */
static bool add_workload(struct sweep_plan *p, struct diags *d, const char *text,
                         struct piece where)
{
    return add_name(p, d, (struct piece){text, (uint32_t)strlen(text), where.at}, true);
}

bool sweep_plan_target(struct sweep_plan *p, struct diags *d, struct piece text, bool programs)
{
    if (run_target_kind(text) != TARGET_SUITE) return add_name(p, d, text, programs);
    return expand(p, d, arena_copy(p->arena, text.text, text.length), NULL, text, add_workload,
                  MOST_NESTED);
}

/* ---- seeds and GPUs --------------------------------------------------------------------------- */

bool sweep_plan_seeds(struct sweep_plan *p, struct diags *d, struct piece text)
{
    unsigned long long first = 0, last = 0;
    int used = 0;
    const char *t = arena_copy(p->arena, text.text, text.length);
    if (sscanf(t, "%llu-%llu%n", &first, &last, &used) != 2) {
        used = 0;
        if (sscanf(t, "%llu%n", &first, &used) == 1) last = first;
    }
    if (!isdigit((unsigned char)*t) || t[used] || last < first || last - first >= MOST_SEEDS ||
        last > INT64_MAX) { /* as SQLite has numbers */
        diag_error(d, text.at, text.length,
                   "seeds are N or FIRST-LAST, at most %d, none above 2^63 - 1, not '%s'",
                   MOST_SEEDS, t);
        return false;
    }
    uint64_t *more = arena_array(p->arena, uint64_t, p->seed_count + last - first + 1);
    if (p->seed_count) memcpy(more, p->seeds, p->seed_count * sizeof *more);
    p->seeds = more;
    for (unsigned long long s = first; s <= last; s++) p->seeds[p->seed_count++] = s;
    return true;
}

static bool add_gpu(struct sweep_plan *p, struct diags *d, struct piece text)
{
    enum { MOST = 256 };
    struct buf why = {0};
    const char *name = arena_copy(p->arena, text.text, text.length);
    const struct emu_gpu *g = gpu_find(name, p->arena, &why);
    if (!g)
        diag_error(d, text.at, text.length, "%.*s", why.data ? (int)strcspn(why.data, "\n") : 0,
                   why.data ? why.data : "");
    buf_free(&why);
    if (!g || p->gpu_count == MOST) return false;
    if (!p->gpus) {
        p->gpus = arena_array(p->arena, const char *, MOST);
        p->gpu_digests = arena_array(p->arena, const char *, MOST);
    }
    const char *digest = gpu_is_file(name) ? hex_of_file(p->arena, name) : NULL;
    p->gpu_digests[p->gpu_count] = digest ? digest : "";
    p->gpus[p->gpu_count++] = name;
    return true;
}

bool sweep_plan_gpus(struct sweep_plan *p, struct diags *d, struct piece text)
{
    for (uint32_t at = 0, n; at <= text.length; at += n + 1) {
        for (n = 0; at + n < text.length && text.text[at + n] != ',';) n++;
        if (!add_gpu(p, d, (struct piece){text.text + at, n, text.at + at})) return false;
    }
    return true;
}

/* ---- YAML ------------------------------------------------------------------------------------- */

/* A scalar as a list of one. */
static const struct yaml *items(const struct yaml *v)
{
    return v->kind == YAML_LIST ? v->first : v;
}

static bool read_placeholders(struct sweep_plan *p, struct diags *d, const struct yaml *vary,
                              struct placeholders *all)
{
    for (const struct yaml *v = vary->first; v; v = v->next) {
        if (all->count == MOST_PLACEHOLDERS || vary->kind != YAML_MAP) {
            diag_error(d, vary->text.at, 1, "'vary' is a map of at most %d names to lists",
                       MOST_PLACEHOLDERS);
            return false;
        }
        struct placeholder *x = &all->list[all->count++];
        x->name = v->key;
        x->values = arena_array(p->arena, const char *, v->count + 1);
        for (const struct yaml *i = items(v); i; i = v->kind == YAML_LIST ? i->next : NULL)
            x->values[x->count++] = arena_copy(p->arena, i->text.text, i->text.length);
    }
    return true;
}

static bool read_orders(struct sweep_plan *p, struct diags *d, const struct yaml *orders,
                        const struct placeholders *all)
{
    for (const struct yaml *v = items(orders); v; v = orders->kind == YAML_LIST ? v->next : NULL)
        if (!expand(p, d, arena_copy(p->arena, v->text.text, v->text.length), all, v->text,
                    add_order, MOST_NESTED))
            return false;
    return true;
}

static bool read_measures(struct sweep_plan *p, struct diags *d, const struct yaml *list)
{
    static const char *const names[] = {"digest", "estimate", "races"};
    p->measure = 0;
    for (const struct yaml *v = items(list); v; v = list->kind == YAML_LIST ? v->next : NULL) {
        struct text_nearest near = {.text = v->text.text, .length = v->text.length};
        unsigned found = 0;
        for (unsigned i = 0; i < 3; i++) {
            if (piece_is(v->text, names[i])) found = 1u << i;
            text_nearest_try(&near, names[i]);
        }
        p->measure |= found;
        if (found) continue;
        diag_error(d, v->text.at, v->text.length,
                   "a measurement is digest, estimate or races, not '%.*s'", (int)v->text.length,
                   v->text.text);
        if (near.best) diag_note(d, v->text.at, v->text.length, "did you mean '%s'?", near.best);
        return false;
    }
    return true;
}

/* A limit that each cell gets as an option of `heddle run`. */
static bool is_setting(struct diags *d, const char *name, struct piece value)
{
    struct settings read = {0};
    return setting_read(setting_find(name, strlen(name)), d, value, &read);
}

static bool read_limits(struct sweep_plan *p, struct diags *d, const struct yaml *map)
{
    for (const struct yaml *v = map->first; v; v = v->next) {
        char *end = NULL;
        const char *text = arena_copy(p->arena, v->text.text, v->text.length);
        if (piece_is(v->key, "memory")) {
            p->memory = text;
            if (!is_setting(d, "memory", v->text)) return false;
        } else if (piece_is(v->key, "instructions")) {
            p->instructions = text;
            if (!is_setting(d, "max-instructions", v->text)) return false;
        } else if (piece_is(v->key, "timeout")) {
            p->timeout = strtod(text, &end);
            if (*end == 's') end++;
            if (p->timeout > 0 && !*end) continue;
            diag_error(d, v->text.at, v->text.length, "a time is seconds, as in 120s, not '%s'",
                       text);
            return false;
        } else {
            diag_error(d, v->key.at, v->key.length,
                       "a limit is timeout, memory or instructions, not '%.*s'", (int)v->key.length,
                       v->key.text);
            return false;
        }
    }
    return true;
}

/* Placeholders stand in workloads alone: names of files may have braces. */
static bool read_target(struct sweep_plan *p, struct diags *d, const struct yaml *v,
                        const struct placeholders *all, bool programs)
{
    if (v->kind == YAML_MAP) return read_target_map(p, d, v, programs);
    if (run_target_kind(v->text) != TARGET_SUITE) return add_name(p, d, v->text, programs);
    return expand(p, d, arena_copy(p->arena, v->text.text, v->text.length), all, v->text,
                  add_workload, MOST_NESTED);
}

static bool read_targets(struct sweep_plan *p, struct diags *d, const struct yaml *list,
                         const struct placeholders *all, bool programs)
{
    bool ok = true;
    for (const struct yaml *v = items(list); v; v = list->kind == YAML_LIST ? v->next : NULL)
        ok &= read_target(p, d, v, all, programs);
    return ok;
}

static bool read_seeds(struct sweep_plan *p, struct diags *d, const struct yaml *list)
{
    bool ok = true;
    for (const struct yaml *v = items(list); v; v = list->kind == YAML_LIST ? v->next : NULL)
        ok &= sweep_plan_seeds(p, d, v->text);
    return ok;
}

static bool read_gpus(struct sweep_plan *p, struct diags *d, const struct yaml *list)
{
    bool ok = true;
    for (const struct yaml *v = items(list); v; v = list->kind == YAML_LIST ? v->next : NULL)
        ok &= sweep_plan_gpus(p, d, v->text);
    return ok;
}

/* Files, whose contents count as those of each target that is not a workload. */
static bool read_inputs(struct sweep_plan *p, struct diags *d, const struct yaml *list)
{
    struct buf digests = {0};
    bool ok = true;
    p->inputs = arena_array(p->arena, const char *, list->count + 1);
    for (const struct yaml *v = items(list); v; v = list->kind == YAML_LIST ? v->next : NULL) {
        const char *path = arena_copy(p->arena, v->text.text, v->text.length);
        const char *digest = hex_of_file(p->arena, path);
        if (!digest) {
            diag_error(d, v->text.at, v->text.length, "cannot read '%s'", path);
            ok = false;
        }
        p->inputs[p->input_count++] = path;
        buf_printf(&digests, " %s", digest ? digest : "");
    }
    for (size_t i = 0; i < p->target_count; i++) {
        struct sweep_target *t = &p->targets[i];
        if (*t->digest && digests.size)
            t->digest = arena_printf(p->arena, "%s%s", t->digest, digests.data);
    }
    buf_free(&digests);
    return ok;
}

static bool read_repeats(struct sweep_plan *p, struct diags *d, const struct yaml *v)
{
    const char *text = arena_copy(p->arena, v->text.text, v->text.length);
    char *end;
    p->repeat_failed = (unsigned)strtoul(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && p->repeat_failed <= 10) return true;
    diag_error(d, v->text.at, v->text.length, "'repeat_failed' is a number from 0 to 10");
    return false;
}

bool sweep_plan_read(struct sweep_plan *p, struct diags *d, bool programs)
{
    enum { NAME, TARGETS, ORDERS, VARY, SEEDS, GPUS, MEASURE, LIMITS, REPEAT, INPUTS, KEYS };
    static const char *const keys[KEYS] = {"sweep", "targets", "orders", "vary",          "seeds",
                                           "gpus",  "measure", "limits", "repeat_failed", "inputs"};
    const struct yaml *root = yaml_read(d), *at[KEYS] = {NULL};
    struct placeholders all = {0};
    if (!root) return false;
    if (root->kind != YAML_MAP) {
        diag_error(d, 0, 0, "a plan is a map with the key 'targets'");
        return false;
    }
    for (const struct yaml *v = root->first; v; v = v->next) {
        struct text_nearest near = {.text = v->key.text, .length = v->key.length};
        int k = KEYS;
        for (int i = 0; i < KEYS; i++) {
            if (piece_is(v->key, keys[i])) k = i;
            text_nearest_try(&near, keys[i]);
        }
        if (k < KEYS) at[k] = v;
        else {
            diag_error(d, v->key.at, v->key.length, "a plan has no key '%.*s'", (int)v->key.length,
                       v->key.text);
            if (near.best) diag_note(d, v->key.at, v->key.length, "did you mean '%s'?", near.best);
        }
    }
    for (int i = 0; i < KEYS; i++)
        if (at[i] && at[i]->kind == YAML_LIST && !at[i]->count && i != INPUTS)
            diag_error(d, at[i]->key.at, at[i]->key.length, "'%s' is empty", keys[i]);
    if (at[NAME]) p->name = arena_copy(p->arena, at[NAME]->text.text, at[NAME]->text.length);
    if (at[VARY] && !read_placeholders(p, d, at[VARY], &all)) return false;
    if (!at[TARGETS]) diag_error(d, 0, 0, "the plan has no targets");
    else (void)read_targets(p, d, at[TARGETS], &all, programs);
    if (at[ORDERS]) (void)read_orders(p, d, at[ORDERS], &all);
    if (at[SEEDS]) (void)read_seeds(p, d, at[SEEDS]);
    if (at[GPUS]) (void)read_gpus(p, d, at[GPUS]);
    if (at[MEASURE]) (void)read_measures(p, d, at[MEASURE]);
    if (at[LIMITS]) (void)read_limits(p, d, at[LIMITS]);
    if (at[REPEAT]) (void)read_repeats(p, d, at[REPEAT]);
    if (at[INPUTS]) (void)read_inputs(p, d, at[INPUTS]);
    return !d->errors;
}

/* ---- plans that are built in ------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} plans[] = {
    {"nightly",
     "sweep: nightly\n"
     "targets: [suite:sum_atomic, suite:histogram_global, suite:bfs_parent, suite:hash_chain, suite:pagerank]\n"
     "orders: [native, random, gpudet, dab]\nseeds: 1-50\nmeasure: [digest, races]\n"
     "limits: {timeout: 120s}\n"},
    {"thesis-quantum",
     "sweep: thesis-quantum\n"
     "targets: [suite:aes, suite:bfs_racy, suite:hash_chain, suite:hotspot, suite:bank, suite:sum_atomic]\n"
     "orders: ['gpudet:quantum={q}']\nvary: {q: [100, 200, 400, 600, 1000, 2000]}\nseeds: 1\n"
     "gpus: [gtx480]\nmeasure: [digest, estimate]\n"},
    {"dab-buffers",
     "sweep: dab-buffers\n"
     "targets: [suite:centrality, suite:pagerank, suite:sum_atomic, suite:conv_gradient]\n"
     "orders: ['dab:level={level}:entries={c}']\nvary: {level: [warp, scheduler], c: [32, 64, 128, 256]}\nseeds: 1\n"
     "gpus: [titanv]\nmeasure: [digest, estimate]\n"},
    {"litmus",
     "sweep: litmus\ntargets: [suite:litmus_block, suite:litmus_grid]\n"
     "orders: [random, 'random:strategy=pct', gpudet, dab]\nseeds: 1-100\nmeasure: [digest]\n"},
    {"figure-1.1", /* of the GPUDet thesis: 100,000 cells */
     "sweep: figure-1-1\ntargets: ['suite:bfs_sparse:edges={edges}:graph={graph}']\n"
     "vary: {edges: [24000, 26000, 28000, 30000, 32000, 34000, 36000, 38000, 40000, 42000],\n"
     "  graph: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
     "orders: ['random:strategy=uniform:model=sc', gpudet]\nseeds: 1-500\ngpus: [gtx480]\nmeasure: [digest]\n"},
};

const char *sweep_plan_built_in(const char *name, const char **near)
{
    struct text_nearest nearest = {.text = name, .length = strlen(name)};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        if (strcmp(plans[i].name, name) == 0) return plans[i].text;
        text_nearest_try(&nearest, plans[i].name);
    }
    *near = nearest.best;
    return NULL;
}
