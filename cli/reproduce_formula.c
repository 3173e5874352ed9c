/* Parses and evaluates formulas of claims and figures in one pass over the text (grammar: cli/reproduce.h). */
#include "cli/reproduce.h"

#include "base/diag.h"
#include "base/text.h"
#include "emu/gpu.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEDS = REPRODUCE_MOST_SEEDS, MOST_NAME = 80, MOST_DEPTH = 40 };

struct formula {
    const struct reproduce *r; /* NULL: it is only checked */
    const struct reproduce_item *item;
    struct piece text;
    uint32_t at, target, seed;
    unsigned depth;
    struct diags *diags; /* of a check */
    bool wrong;
};

static double sum_of(struct formula *f);

static double fail(struct formula *f, uint32_t at, const char *what)
{
    if (!f->wrong && f->diags)
        diag_error(f->diags, f->text.at + at, f->at > at ? f->at - at : 1, "%s", what);
    f->wrong = true;
    f->at = f->text.length;
    return NAN;
}

static char next(struct formula *f)
{
    while (f->at < f->text.length && isspace((unsigned char)f->text.text[f->at])) f->at++;
    return f->at < f->text.length ? f->text.text[f->at] : '\0';
}

static bool take(struct formula *f, char c)
{
    if (next(f) != c) return false;
    f->at++;
    return true;
}

/* A word of letters, digits, '_' and, in `dotted` ones, '.'. */
static bool take_name(struct formula *f, char name[MOST_NAME], bool dotted)
{
    size_t n = 0;
    (void)next(f);
    while (f->at < f->text.length && n + 1 < MOST_NAME) {
        const char c = f->text.text[f->at];
        if (!isalnum((unsigned char)c) && c != '_' && !(dotted && c == '.')) break;
        name[n++] = c;
        f->at++;
    }
    name[n] = '\0';
    return n > 0;
}

/* What is between brackets: [NAME]. */
static bool take_bracket(struct formula *f, char name[MOST_NAME])
{
    size_t n = 0;
    if (!take(f, '[')) return false;
    while (f->at < f->text.length && f->text.text[f->at] != ']' && n + 1 < MOST_NAME)
        name[n++] = f->text.text[f->at++];
    name[n] = '\0';
    return take(f, ']');
}

/* ---- numbers of runs ------------------------------------------------------------------------------ */

/* Whether runs can have a number of this name. One that a run does not have is 0 there. */
static bool is_known(const char *name)
{
    static const char *const whole[] = {"cycles", "seconds", "launches", "results", "ctas"};
    static const char *const groups[] = {"part.",     "gpudet.",  "dab.",   "instructions.",
                                         "memory.",   "atomics.", "cache.", "branches.",
                                         "barriers.", "dram."};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0) return true;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(name, groups[i], strlen(groups[i])) == 0) return true;
    return false;
}

/* A number of the item's GPU: "gpu.sm.warps". false: there is none. */
static bool of_gpu(const struct emu_gpu *g, const char *name, double *out)
{
#define COUNT(section, key, field, least, most, unit, text)                                        \
    if (strcmp(name, "gpu." #section "." #key) == 0) {                                             \
        *out = g->field;                                                                           \
        return true;                                                                               \
    }
#define RATE(section, key, field, least, most, unit, text)                                         \
    COUNT(section, key, field, least, most, unit, text)
#include "emu/gpu.def"
    return false;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double number(const struct formula *f, const char *name, uint32_t target, uint32_t input,
                     uint32_t order, uint64_t seed)
{
    const json_t *x = reproduce_numbers(f->r, f->item, target, input, order, seed);
    return x ? json_number_value(json_object_get(x, name)) : NAN;
}

static double median(const struct formula *f, const char *name, uint32_t target, uint32_t input,
                     uint32_t order)
{
    const struct reproduce_order *o = &f->item->orders[order];
    double all[MOST_SEEDS];
    const size_t n = o->seed_count < MOST_SEEDS ? o->seed_count : MOST_SEEDS;
    if (f->seed != REPRODUCE_MEDIAN && n > 1)
        return number(f, name, target, input, order, o->seeds[f->seed % n]);
    for (size_t i = 0; i < n; i++) {
        all[i] = number(f, name, target, input, order, o->seeds[i]);
        if (isnan(all[i])) return NAN;
    }
    qsort(all, n, sizeof *all, by_value);
    return n % 2 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many different digests the seeds gave. */
static double results(const struct formula *f, uint32_t target, uint32_t input, uint32_t order)
{
    const struct reproduce_order *o = &f->item->orders[order];
    const char *all[MOST_SEEDS];
    const size_t n = o->seed_count < MOST_SEEDS ? o->seed_count : MOST_SEEDS;
    double different = n > 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *x = reproduce_numbers(f->r, f->item, target, input, order, o->seeds[i]);
        all[i] = x ? json_string_value(json_object_get(x, "digest")) : NULL;
        if (!all[i]) return NAN;
    }
    qsort((void *)all, n, sizeof *all, by_text);
    for (size_t i = 1; i < n; i++) different += strcmp(all[i - 1], all[i]) != 0;
    return different;
}

/* A number of a target: the mean over its inputs. */
static double of_target(const struct formula *f, const char *name, uint32_t target, uint32_t order)
{
    const uint32_t n = f->item->targets[target].input_count;
    const bool of_results = strcmp(name, "results") == 0;
    double all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += of_results ? results(f, target, i, order) : median(f, name, target, i, order);
    return all / n;
}

static uint32_t find_order(const struct reproduce_item *i, const char *name)
{
    uint32_t k = 0;
    while (k < i->order_count && strcmp(i->orders[k].name, name) != 0) k++;
    return k;
}

static uint32_t find_target(const struct reproduce_item *i, const char *name)
{
    uint32_t k = 0;
    while (k < i->target_count && strcmp(i->targets[k].name, name) != 0) k++;
    return k;
}

/* NAME@ORDER or NAME@ORDER[TARGET]; the name has been read. */
static double metric(struct formula *f, const char *name, uint32_t from)
{
    char word[MOST_NAME];
    uint32_t target = f->target;
    double of_config;
    if (of_gpu(f->item->config, name, &of_config)) return of_config;
    if (!is_known(name)) return fail(f, from, "no run has such a number");
    if (!take(f, '@') || !take_name(f, word, false))
        return fail(f, from, "a number wants an order: cycles@gpudet");
    const uint32_t order = find_order(f->item, word);
    if (order == f->item->order_count) return fail(f, from, "the item has no such order");
    if (next(f) == '[') {
        if (!take_bracket(f, word) ||
            (target = find_target(f->item, word)) == f->item->target_count)
            return fail(f, from, "the item has no such target");
    }
    if (target == REPRODUCE_NO_TARGET)
        return fail(f, from, "of which target? mean(...) takes all, NAME@ORDER[TARGET] one");
    if (!f->r) return 1;
    return of_target(f, name, target, order);
}

/* ---- functions ------------------------------------------------------------------------------------ */

enum over { MEAN, GEOMEAN, SUM, LEAST, MOST, OVERS };
static const char *const over_names[OVERS] = {"mean", "geomean", "sum", "least", "most"};

static double joined(enum over how, double all, double x)
{
    switch (how) {
    case GEOMEAN: return all + log(x);
    case LEAST: return isnan(all) || isnan(x) ? NAN : fmin(all, x);
    case MOST: return isnan(all) || isnan(x) ? NAN : fmax(all, x);
    default: return all + x;
    }
}

/* The text between the parentheses, once for each target. */
static double over(struct formula *f, enum over how, uint32_t from)
{
    char word[MOST_NAME];
    const struct reproduce_set *set = NULL;
    const uint32_t outside = f->target;
    double all = how == LEAST ? INFINITY : how == MOST ? -INFINITY : 0;
    if (next(f) == '[') {
        if (!take_bracket(f, word)) return fail(f, from, "a set is [NAME]");
        for (size_t i = 0; i < f->item->set_count; i++)
            if (strcmp(f->item->sets[i].name, word) == 0) set = &f->item->sets[i];
        if (!set) return fail(f, from, "the item has no such set");
    }
    if (!take(f, '(')) return fail(f, from, "a '(' is missing");
    const uint32_t begin = f->at;
    const size_t n = set ? set->count : f->item->target_count;
    for (size_t i = 0; i < n && !f->wrong; i++) {
        f->at = begin;
        f->target = set ? set->targets[i] : (uint32_t)i;
        all = joined(how, all, sum_of(f));
    }
    f->target = outside;
    if (!take(f, ')')) return fail(f, from, "a ')' is missing");
    return how == MEAN ? all / (double)n : how == GEOMEAN ? exp(all / (double)n) : all;
}

/* min(a, b, ...), max(a, b, ...) */
static double extreme(struct formula *f, bool least, uint32_t from)
{
    if (!take(f, '(')) return fail(f, from, "a '(' is missing");
    double all = sum_of(f);
    while (take(f, ',')) all = joined(least ? LEAST : MOST, all, sum_of(f));
    return take(f, ')') ? all : fail(f, from, "a ')' is missing");
}

/* three_digits(x): rounded up to three decimal digits, as the toy number format of DAB's figure 1. */
static double three_digits(struct formula *f, uint32_t from)
{
    if (!take(f, '(')) return fail(f, from, "a '(' is missing");
    const double x = sum_of(f);
    if (!take(f, ')')) return fail(f, from, "a ')' is missing");
    if (!(fabs(x) > 0)) return x;
    const double unit = pow(10, floor(log10(fabs(x))) - 2);
    return ceil(x / unit - 1e-6) * unit; /* binary fractions are not exactly decimal ones */
}

static double named(struct formula *f)
{
    char name[MOST_NAME];
    const uint32_t from = f->at;
    if (!take_name(f, name, true)) return fail(f, from, "a number, a name or '(' is missing here");
    for (int i = 0; i < OVERS; i++)
        if (strcmp(name, over_names[i]) == 0) return over(f, (enum over)i, from);
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return extreme(f, name[1] == 'i', from);
    if (strcmp(name, "three_digits") == 0) return three_digits(f, from);
    return metric(f, name, from);
}

/* ---- operators ------------------------------------------------------------------------------------ */

/* 12, 0.5 or 1e-3. */
static double literal(struct formula *f)
{
    char text[MOST_NAME], *end;
    const uint32_t from = f->at, left = f->text.length - from;
    const size_t n = left < sizeof text ? left : sizeof text - 1;
    memcpy(text, f->text.text + from, n);
    text[n] = '\0';
    const double x = strtod(text, &end);
    const bool ends = !isalnum((unsigned char)*end) && *end != '_' && *end != '.';
    f->at += (uint32_t)(end - text);
    while (!ends && f->at < f->text.length && !isspace((unsigned char)f->text.text[f->at])) f->at++;
    return ends && isfinite(x) ? x : fail(f, from, "this is no number");
}

static double primary(struct formula *f)
{
    const char c = next(f);
    if (f->depth == MOST_DEPTH) return fail(f, f->at, "too many parentheses");
    if (isdigit((unsigned char)c)) return literal(f);
    if (!take(f, '(')) return named(f);
    f->depth++;
    const double x = sum_of(f);
    f->depth--;
    return take(f, ')') ? x : fail(f, f->at, "a ')' is missing");
}

static double product(struct formula *f)
{
    double x = primary(f);
    for (;;)
        if (take(f, '*')) x *= primary(f);
        else if (take(f, '/')) x /= primary(f);
        else return x;
}

static double difference(struct formula *f)
{
    double x = product(f);
    for (;;)
        if (take(f, '+')) x += product(f);
        else if (take(f, '-')) x -= product(f);
        else return x;
}

/* Also a comparison: 1 or 0. */
static double sum_of(struct formula *f)
{
    const double x = difference(f);
    const bool less = take(f, '<');
    if (!less && !take(f, '>')) return x;
    const double y = difference(f);
    return isnan(x) || isnan(y) ? NAN : less ? x < y : x > y;
}

bool reproduce_formula_check(const struct reproduce_item *i, struct piece formula, bool one_target,
                             struct diags *d)
{
    struct formula f = {
        .item = i, .text = formula, .target = one_target ? 0 : REPRODUCE_NO_TARGET, .diags = d};
    (void)sum_of(&f);
    if (!f.wrong && next(&f)) (void)fail(&f, f.at, "an operator is missing here");
    return !f.wrong;
}

double reproduce_formula(const struct reproduce *r, const struct reproduce_item *i,
                         struct piece formula, uint32_t target, uint32_t seed)
{
    struct formula f = {.r = r, .item = i, .text = formula, .target = target, .seed = seed};
    const double x = sum_of(&f);
    return isfinite(x) ? x : NAN;
}

void reproduce_text_take(const char **text, struct piece *before, struct piece *formula)
{
    const char *open = strchr(*text, '{'), *close = open ? strchr(open, '}') : NULL;
    const char *end = close ? open : *text + strlen(*text);
    *before = (struct piece){.text = *text, .length = (uint32_t)(end - *text)};
    *formula = (struct piece){.text = end};
    if (close) *formula = (struct piece){.text = open + 1, .length = (uint32_t)(close - open - 1)};
    *text = close ? close + 1 : end;
}
