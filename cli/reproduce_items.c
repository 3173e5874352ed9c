/* Reads a list of items from YAML to struct reproduce_item (cli/reproduce/items.yaml), and checks its formulas. */
#define _GNU_SOURCE
#include "cli/reproduce.h"

#include "cli/job_file.h"
#include "cli/yaml.h"

#include "base/buf.h"
#include "base/text.h"
#include "model/gpu_file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 256 };

static const char *text_of(struct reproduce *r, const struct yaml *v)
{
    return arena_copy(r->arena, v->text.text, v->text.length);
}

static const char *key_of(struct reproduce *r, const struct yaml *v)
{
    return arena_copy(r->arena, v->key.text, v->key.length);
}

static bool wants(struct diags *d, const struct yaml *v, enum yaml_kind kind, const char *what)
{
    if (v->kind == kind) return true;
    diag_error(d, v->text.at, 1, "%s", what);
    return false;
}

static bool read_switch(struct diags *d, const struct yaml *v, bool *out)
{
    *out = piece_is(v->text, "true");
    if (*out || piece_is(v->text, "false")) return true;
    diag_error(d, v->text.at, v->text.length, "'%.*s' is true or false", (int)v->key.length,
               v->key.text);
    return false;
}

/* The number of the key among some, `count` after an error. */
static int key_among(struct diags *d, const struct yaml *v, const char *const *keys, int count,
                     const char *where)
{
    struct text_nearest near = {.text = v->key.text, .length = v->key.length};
    for (int i = 0; i < count; i++) {
        if (piece_is(v->key, keys[i])) return i;
        text_nearest_try(&near, keys[i]);
    }
    diag_error(d, v->key.at, v->key.length, "%s has no key '%.*s'", where, (int)v->key.length,
               v->key.text);
    if (near.best) diag_note(d, v->key.at, v->key.length, "did you mean '%s'?", near.best);
    return count;
}

/* ---- what runs -------------------------------------------------------------------------------------- */

/* Adds the targets of a text, of which the plan has each once, to those of an item's target. */
static bool plan_targets(struct reproduce *r, struct diags *d, struct piece text,
                         struct reproduce_target *t)
{
    struct sweep_plan more = {.arena = r->arena};
    if (!sweep_plan_target(&more, d, text, false)) return false;
    uint32_t *inputs = arena_array(r->arena, uint32_t, t->input_count + more.target_count);
    if (t->input_count) memcpy(inputs, t->inputs, t->input_count * sizeof *inputs);
    t->inputs = inputs;
    for (size_t i = 0; i < more.target_count; i++) {
        struct sweep_plan *p = &r->plan;
        uint32_t k = 0;
        while (k < p->target_count && strcmp(p->targets[k].name, more.targets[i].name) != 0) k++;
        if (k == p->target_count && !sweep_plan_add(p, &more.targets[i])) {
            diag_error(d, text.at, text.length, "the list has too many targets");
            return false;
        }
        inputs[t->input_count++] = k;
    }
    return true;
}

static bool plan_order(struct reproduce *r, struct diags *d, struct piece text, uint32_t *out)
{
    struct sweep_plan *p = &r->plan;
    const char *name = arena_copy(r->arena, text.text, text.length);
    for (*out = 0; *out < p->order_count; ++*out)
        if (strcmp(p->orders[*out], name) == 0) return true;
    return sweep_plan_orders(p, d, text);
}

static bool plan_gpu(struct reproduce *r, struct diags *d, struct piece text, uint32_t *out)
{
    struct sweep_plan *p = &r->plan;
    const char *name = arena_copy(r->arena, text.text, text.length);
    for (*out = 0; *out < p->gpu_count; ++*out)
        if (strcmp(p->gpus[*out], name) == 0) return true;
    return sweep_plan_gpus(p, d, text);
}

static bool read_gpu(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                     struct piece text)
{
    struct buf why = {0}; /* nothing: the plan has read it */
    if (!plan_gpu(r, d, text, &item->gpu)) return false;
    item->config = gpu_find(r->plan.gpus[item->gpu], r->arena, &why);
    buf_free(&why);
    return item->config != NULL;
}

static bool read_targets(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                         const struct yaml *map)
{
    if (!wants(d, map, YAML_MAP, "'targets' is a map: NAME: suite:WORKLOAD")) return false;
    item->targets = arena_array(r->arena, struct reproduce_target, map->count + 1);
    for (const struct yaml *v = map->first; v; v = v->next) {
        struct reproduce_target *t = &item->targets[item->target_count++];
        t->name = key_of(r, v);
        if (!wants(d, v, YAML_SCALAR, "a target is suite:WORKLOAD") ||
            !plan_targets(r, d, v->text, t))
            return false;
    }
    return true;
}

/* TEXT, or {order: TEXT, seeds: FIRST-LAST}. */
static bool read_order(struct reproduce *r, struct diags *d, struct reproduce_order *o,
                       const struct yaml *v)
{
    static const char *const keys[] = {"order", "seeds"};
    static const uint64_t one[] = {1};
    struct piece text = v->text;
    o->name = key_of(r, v);
    o->seeds = one;
    o->seed_count = 1;
    for (const struct yaml *x = v->kind == YAML_MAP ? v->first : NULL; x; x = x->next) {
        const int k = key_among(d, x, keys, 2, "an order");
        if (k == 0) text = x->text;
        if (k == 1) {
            struct sweep_plan seeds = {.arena = r->arena};
            if (!sweep_plan_seeds(&seeds, d, x->text)) return false;
            if (seeds.seed_count > REPRODUCE_MOST_SEEDS) {
                diag_error(d, x->text.at, x->text.length, "an order has at most %d seeds",
                           REPRODUCE_MOST_SEEDS);
                return false;
            }
            o->seeds = seeds.seeds;
            o->seed_count = seeds.seed_count;
        }
    }
    return plan_order(r, d, text, &o->order);
}

static bool read_orders(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                        const struct yaml *map)
{
    if (!wants(d, map, YAML_MAP, "'orders' is a map: NAME: ORDER")) return false;
    item->orders = arena_array(r->arena, struct reproduce_order, map->count + 1);
    for (const struct yaml *v = map->first; v; v = v->next)
        if (!read_order(r, d, &item->orders[item->order_count++], v)) return false;
    return true;
}

static bool read_sets(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                      const struct yaml *map)
{
    if (!wants(d, map, YAML_MAP, "'sets' is a map: NAME: [TARGET, ...]")) return false;
    item->sets = arena_array(r->arena, struct reproduce_set, map->count + 1);
    for (const struct yaml *v = map->first; v; v = v->next) {
        struct reproduce_set *s = &item->sets[item->set_count++];
        uint32_t *targets = arena_array(r->arena, uint32_t, v->count + 1);
        s->name = key_of(r, v);
        s->targets = targets;
        for (const struct yaml *x = v->first; x; x = x->next) {
            uint32_t t = 0;
            while (t < item->target_count && !piece_is(x->text, item->targets[t].name)) t++;
            if (t == item->target_count) {
                diag_error(d, x->text.at, x->text.length, "the item has no target '%.*s'",
                           (int)x->text.length, x->text.text);
                return false;
            }
            targets[s->count++] = t;
        }
    }
    return true;
}

/* A name of files and of a field of claims.csv. */
static bool is_id(const char *id)
{
    for (const char *c = id; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c)) return false;
    return *id && *id != '.';
}

/* ---- claims and figures ----------------------------------------------------------------------------- */

static bool read_kind(struct diags *d, const struct yaml *v, struct reproduce_claim *c)
{
    static const char *const kinds[] = {"ratio", "count", "exact"};
    static const double tolerances[] = {1.0 / 3, 0.1, 0};
    for (int i = 0; i < 3; i++)
        if (piece_is(v->text, kinds[i])) {
            c->kind = (enum reproduce_kind)i;
            c->tolerance = tolerances[i];
            return true;
        }
    diag_error(d, v->text.at, v->text.length, "a kind is ratio, count or exact");
    return false;
}

static bool read_tolerance(struct diags *d, const struct yaml *v, double *out)
{
    const struct value_type *f64 = value_type_find("f64", 3);
    uint64_t bits = 0;
    const bool ok = value_read(f64, v->text.text, v->text.length, &bits);
    *out = value_double(f64, bits);
    if (ok && isfinite(*out) && *out >= 0) return true;
    diag_error(d, v->text.at, v->text.length,
               "a tolerance is a number that is not negative: 0.1 are 10 %%");
    return false;
}

/* The formulas in braces of a text. */
static bool check_text(struct diags *d, const struct reproduce_item *item, const struct yaml *v,
                       const char *text)
{
    for (struct piece before, formula; *text;) {
        reproduce_text_take(&text, &before, &formula);
        formula.at = v->text.at; /* a folded text is not where it stands in the list */
        if (!formula.length) continue;
        if (!reproduce_formula_check(item, formula, false, d)) return false;
    }
    return true;
}

static bool read_claim(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                       const struct yaml *map)
{
    enum { SAYS, PAPER, KIND, TOLERANCE, VALUE, WHY, KEYS };
    static const char *const keys[] = {"says", "paper", "kind", "tolerance", "value", "why"};
    struct reproduce_claim *c = &item->claims[item->claim_count++];
    double tolerance = -1;
    *c = (struct reproduce_claim){.says = "", .why = "", .paper = "", .tolerance = 1.0 / 3};
    c->name = key_of(r, map);
    if (!wants(d, map, YAML_MAP, "a claim is a map")) return false;
    if (!is_id(c->name)) {
        diag_error(d, map->key.at, map->key.length,
                   "the name of a claim has letters, digits, '-', '_' and '.'");
        return false;
    }
    for (const struct yaml *v = map->first; v; v = v->next)
        switch (key_among(d, v, keys, KEYS, "a claim")) {
        case SAYS: c->says = text_of(r, v); break;
        case PAPER: c->paper = text_of(r, v); break;
        case KIND:
            if (!read_kind(d, v, c)) return false;
            break;
        case TOLERANCE:
            if (!read_tolerance(d, v, &tolerance)) return false;
            break;
        case VALUE: c->formula = v->text; break;
        case WHY:
            c->why = text_of(r, v);
            if (!check_text(d, item, v, c->why)) return false;
            break;
        default: return false;
        }
    if (tolerance >= 0) c->tolerance = tolerance;
    if (!c->formula.length || !reproduce_paper_read(c)) {
        diag_error(d, map->key.at, map->key.length,
                   "a claim wants 'value', a formula, and 'paper': 2.05, 2..4, <1.03 or >0.5");
        return false;
    }
    return reproduce_formula_check(item, c->formula, false, d);
}

static bool read_claims(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                        const struct yaml *map)
{
    bool ok = true;
    if (!wants(d, map, YAML_MAP, "'claims' is a map: NAME: {says, paper, kind, value}"))
        return false;
    item->claims = arena_array(r->arena, struct reproduce_claim, map->count + 1);
    for (const struct yaml *v = map->first; v; v = v->next) ok &= read_claim(r, d, item, v);
    return ok;
}

static bool read_series(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                        const struct yaml *map)
{
    bool ok = wants(d, map, YAML_MAP, "'series' is a map: NAME: FORMULA");
    item->series = arena_array(r->arena, struct reproduce_series, map->count + 1);
    for (const struct yaml *v = map->first; v && ok; v = v->next) {
        struct reproduce_series *s = &item->series[item->series_count++];
        *s = (struct reproduce_series){key_of(r, v), v->text};
        ok = reproduce_formula_check(item, s->formula, true, d);
    }
    return ok;
}

static bool read_figure(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                        const struct yaml *map)
{
    enum { UNIT, STACKED, LOGARITHMIC, SERIES, KEYS };
    static const char *const keys[] = {"unit", "stacked", "logarithmic", "series"};
    bool ok = wants(d, map, YAML_MAP, "'figure' is a map with 'series'");
    for (const struct yaml *v = map->first; v && ok; v = v->next)
        switch (key_among(d, v, keys, KEYS, "a figure")) {
        case UNIT: item->unit = text_of(r, v); break;
        case STACKED: ok = read_switch(d, v, &item->stacked); break;
        case LOGARITHMIC: ok = read_switch(d, v, &item->logarithmic); break;
        case SERIES: ok = read_series(r, d, item, v); break;
        default: ok = false;
        }
    return ok;
}

static bool read_lapse_orders(struct reproduce *r, struct diags *d,
                              const struct reproduce_item *item, const struct yaml *list,
                              struct reproduce_lapse *l)
{
    if (!wants(d, list, YAML_LIST, "'orders' is a list: [NAME, ...]")) return false;
    l->orders = arena_array(r->arena, uint32_t, list->count + 1);
    for (const struct yaml *v = list->first; v; v = v->next) {
        uint32_t o = 0;
        while (o < item->order_count && !piece_is(v->text, item->orders[o].name)) o++;
        if (o == item->order_count) {
            diag_error(d, v->text.at, v->text.length, "the item has no order '%.*s'",
                       (int)v->text.length, v->text.text);
            return false;
        }
        l->orders[l->order_count++] = o;
    }
    return true;
}

static bool read_lapse(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                       const struct yaml *map)
{
    enum { TARGET, LAPSE_ORDERS, INTERVAL, LAPSE_KEYS };
    static const char *const keys[] = {"target", "orders", "interval"};
    struct reproduce_lapse *l = &item->lapses[item->lapse_count++];
    *l = (struct reproduce_lapse){.name = key_of(r, map), .target = REPRODUCE_NO_TARGET};
    if (!wants(d, map, YAML_MAP, "a time lapse is a map")) return false;
    for (const struct yaml *v = map->first; v; v = v->next)
        switch (key_among(d, v, keys, LAPSE_KEYS, "a time lapse")) {
        case TARGET:
            for (uint32_t t = 0; t < item->target_count; t++)
                if (piece_is(v->text, item->targets[t].name)) l->target = t;
            break;
        case LAPSE_ORDERS:
            if (!read_lapse_orders(r, d, item, v, l)) return false;
            break;
        case INTERVAL: {
            uint64_t cycles = 0;
            if (!number_read(d, "interval", v->text, UINT32_MAX, &cycles)) return false;
            l->interval = (uint32_t)cycles;
            break;
        }
        default: return false;
        }
    if (is_id(l->name) && l->target != REPRODUCE_NO_TARGET && l->order_count && l->interval)
        return true;
    diag_error(d, map->key.at, map->key.length,
               "a time lapse wants a name of letters and digits, 'target', a target of the item, "
               "'orders' and 'interval', cycles");
    return false;
}

static bool read_lapses(struct reproduce *r, struct diags *d, struct reproduce_item *item,
                        const struct yaml *map)
{
    bool ok = wants(d, map, YAML_MAP, "'lapse' is a map: NAME: {target, orders, interval}");
    item->lapses = arena_array(r->arena, struct reproduce_lapse, map->count + 1);
    for (const struct yaml *v = map->first; v && ok; v = v->next) ok = read_lapse(r, d, item, v);
    return ok;
}

static bool read_measure(struct diags *d, const struct yaml *v, struct reproduce_item *item)
{
    static const char *const names[REPRODUCE_MEASURES] = {"estimate", "counts", "digest"};
    for (int i = 0; i < REPRODUCE_MEASURES; i++)
        if (piece_is(v->text, names[i])) {
            item->measure = (enum reproduce_measure)i;
            return true;
        }
    diag_error(d, v->text.at, v->text.length, "a measurement is estimate, counts or digest");
    return false;
}

/* ---- items ------------------------------------------------------------------------------------------ */

enum item_key {
    ID,
    PLACE,
    TITLE,
    TEXT,
    SLOW,
    MEASURE,
    GPU,
    TARGETS,
    ORDERS,
    SETS,
    FIGURE,
    LAPSE,
    CLAIMS,
    KEYS
};
static const char *const item_keys[KEYS] = {"id",      "place", "title",   "text",   "slow",
                                            "measure", "gpu",   "targets", "orders", "sets",
                                            "figure",  "lapse", "claims"};

static bool read_key(struct reproduce *r, struct diags *d, struct reproduce_item *item, int key,
                     const struct yaml *v)
{
    switch (key) {
    case ID: item->id = text_of(r, v); return true;
    case PLACE: item->place = text_of(r, v); return true;
    case TITLE: item->title = text_of(r, v); return true;
    case TEXT: item->text = text_of(r, v); return true;
    case SLOW: return read_switch(d, v, &item->slow);
    case MEASURE: return read_measure(d, v, item);
    case GPU: return read_gpu(r, d, item, v->text);
    case TARGETS: return read_targets(r, d, item, v);
    case ORDERS: return read_orders(r, d, item, v);
    case SETS: return read_sets(r, d, item, v);
    case FIGURE: return read_figure(r, d, item, v);
    case LAPSE: return read_lapses(r, d, item, v);
    default: return read_claims(r, d, item, v);
    }
}

static bool read_item(struct reproduce *r, struct diags *d, const struct yaml *map)
{
    const struct yaml *at[KEYS] = {NULL};
    struct reproduce_item *item = &r->items[r->count];
    *item = (struct reproduce_item){.id = "", .place = "", .title = "", .text = "", .unit = ""};
    if (!wants(d, map, YAML_MAP, "an item is a map")) return false;
    for (const struct yaml *v = map->first; v; v = v->next) {
        const int k = key_among(d, v, item_keys, KEYS, "an item");
        if (k == KEYS) return false;
        at[k] = v;
    }
    if (!at[ID] || !at[GPU] || !at[TARGETS] != !at[ORDERS]) {
        diag_error(d, map->text.at, 1,
                   "an item wants id, gpu, and both targets and orders or none");
        return false;
    }
    bool ok = true; /* formulas name targets, orders and sets, which come first here */
    for (int k = 0; k < KEYS && ok; k++)
        if (at[k]) ok = read_key(r, d, item, k, at[k]);
    if (ok && at[TEXT]) ok = check_text(d, item, at[TEXT], item->text);
    for (size_t i = 0; i < r->count && ok; i++)
        if (strcmp(r->items[i].id, item->id) == 0) ok = false;
    if (ok && is_id(item->id)) {
        r->count++;
        return true;
    }
    if (!d->errors)
        diag_error(d, at[ID]->text.at, at[ID]->text.length,
                   "an id is letters, digits, '-', '_' and '.', and each item has its own");
    return false;
}

bool reproduce_items_read(struct reproduce *r, struct diags *d)
{
    const struct yaml *root = yaml_read(d);
    if (!root) return false;
    const struct yaml *list = root->kind == YAML_MAP ? root->first : NULL;
    if (!list || list->next || !piece_is(list->key, "items") || list->kind != YAML_LIST) {
        diag_error(d, 0, 0, "the list is a map with the key 'items', a list");
        return false;
    }
    if (list->count > MOST_ITEMS) {
        diag_error(d, list->text.at, 1, "at most %d items", MOST_ITEMS);
        return false;
    }
    r->items = arena_array(r->arena, struct reproduce_item, list->count + 1);
    for (const struct yaml *v = list->first; v; v = v->next) (void)read_item(r, d, v);
    return !d->errors;
}
