#include "calibrate/residuals.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "calibrate/conformal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] = "gpu,program,run,launch,regime,ratio,configuration_ratio";

enum { COLUMNS = 7, MOST_GPUS = 64 };

/* ---- the file ------------------------------------------------------------------------------------------------- */

void residuals_add(struct residuals *r, const struct residual *x)
{
    r->list = arena_grow(r->arena, r->list, r->count, &r->cap, r->count + 1, sizeof *r->list);
    r->list[r->count++] = *x;
}

/* In quotes where it has commas or quotes, which are doubled then. */
static void put_text(struct buf *out, const char *text)
{
    if (!strpbrk(text, ",\"")) {
        buf_printf(out, "%s,", text);
        return;
    }
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"') buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_puts(out, "\",");
}

void residuals_write(const struct residuals *r, struct buf *out)
{
    buf_printf(out, "%s\n", heading);
    for (size_t i = 0; i < r->count; i++) {
        const struct residual *x = &r->list[i];
        put_text(out, x->gpu);
        put_text(out, x->program);
        put_text(out, x->run);
        buf_printf(out, "%" PRIu32 ",%s,%.4f,%.4f\n", x->launch, launch_regime_name(x->regime),
                   x->ratio, x->configuration_ratio);
    }
}

static bool take_regime(const char *name, enum launch_regime *out)
{
    for (int k = 0; k < REGIMES; k++)
        if (strcmp(name, launch_regime_name((enum launch_regime)k)) == 0)
            return *out = (enum launch_regime)k, true;
    return false;
}

static bool take_ratio(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out > 0;
}

static bool take_number(const char *text, uint32_t *out)
{
    char *end;
    const unsigned long x = strtoul(text, &end, 10);
    *out = (uint32_t)x;
    return end != text && !*end && *text >= '0' && *text <= '9' && x < UINT32_MAX;
}

/* Cuts the first column off the line, which is NULL behind the last one. NULL: something follows its quote. */
static char *take_column(char **line)
{
    char *const column = *line, *to = column, *from = column;
    const bool quoted = *from == '"';
    from += quoted;
    while (*from && (quoted || *from != ',')) {
        if (quoted && *from == '"' && *++from != '"') break;
        *to++ = *from++;
    }
    const bool ends = !*from || *from == ',';
    *line = *from == ',' ? from + 1 : NULL;
    *to = 0;
    return ends ? column : NULL;
}

/* A line without its newline, which is split where it is. NULL, or what is wrong. */
static const char *take_line(struct residuals *r, char *line)
{
    char *column[COLUMNS];
    size_t n = 0;
    struct residual x;
    for (char *rest = line; rest;) {
        if (n == COLUMNS) return "there are more than 7 columns";
        if (!(column[n++] = take_column(&rest))) return "a comma is missing behind a quote";
    }
    if (n < COLUMNS) return "there are fewer than 7 columns";
    x.gpu = column[0], x.program = column[1], x.run = column[2];
    if (!take_number(column[3], &x.launch)) return "the launch is a number from 0";
    if (!take_regime(column[4], &x.regime)) return "there is no such regime";
    if (!take_ratio(column[5], &x.ratio) || !take_ratio(column[6], &x.configuration_ratio))
        return "a ratio is a positive number";
    residuals_add(r, &x);
    return NULL;
}

bool residuals_read(struct residuals *r, struct diags *d)
{
    const struct source *s = d->source;
    bool headed = false;
    for (uint32_t at = 0, length; at < s->length; at += length + 1) {
        const char *from = s->text + at, *end = memchr(from, '\n', s->length - at);
        length = end ? (uint32_t)(end - from) : s->length - at;
        if (!length || *from == '#') continue;
        char *line = arena_array(r->arena, char, length + 1);
        memcpy(line, from, length);
        if (strcmp(line, heading) == 0) {
            headed = true;
            continue;
        }
        const char *why = headed ? take_line(r, line) : "the first line names the columns";
        if (why) diag_error(d, at, length, "%s", why);
        if (!headed) break;
    }
    if (!r->count && !d->errors) diag_error(d, s->length, 0, "there are no launches");
    return !d->errors;
}

/* ---- intervals ------------------------------------------------------------------------------------------------ */

/* Items of one GPU: a group for each program. `one`: all of one regime. */
static size_t items_of(const struct residuals *r, const char *gpu, bool alone, bool one,
                       struct conformal_item *items)
{
    size_t n = 0, groups = 0;
    const struct residual **of = arena_array(r->arena, const struct residual *, r->count);
    for (size_t i = 0; i < r->count; i++) {
        const struct residual *x = &r->list[i];
        if (strcmp(x->gpu, gpu) != 0) continue;
        size_t g = 0;
        while (g < groups && strcmp(of[g]->program, x->program) != 0) g++;
        if (g == groups) of[groups++] = x;
        items[n++] = (struct conformal_item){g, g, one ? 0 : (unsigned)x->regime,
                                             log(alone ? x->configuration_ratio : x->ratio)};
    }
    return n;
}

void residuals_intervals(const struct residuals *r, const char *gpu, double low[REGIMES],
                         double high[REGIMES])
{
    struct conformal_item *items = arena_array(r->arena, struct conformal_item, r->count);
    const size_t n = items_of(r, gpu, false, false, items);
    for (unsigned k = 0; k < REGIMES; k++) {
        conformal_interval(r->arena, items, n, CONFORMAL_NONE, k, &low[k], &high[k]);
        low[k] = exp(low[k]), high[k] = exp(high[k]);
    }
}

void residuals_alone(const struct residuals *r, const char *gpu, double *low, double *high)
{
    struct conformal_item *items = arena_array(r->arena, struct conformal_item, r->count);
    const size_t n = items_of(r, gpu, true, true, items);
    conformal_interval(r->arena, items, n, CONFORMAL_NONE, 0, low, high);
    *low = exp(*low), *high = exp(*high);
}

void residuals_cover(const struct residuals *r, const char *gpu, unsigned regime, bool one,
                     struct residual_cover *out)
{
    struct conformal_item *items = arena_array(r->arena, struct conformal_item, r->count),
                          *shown = arena_array(r->arena, struct conformal_item, r->count);
    const size_t n = items_of(r, gpu, false, one, items);
    struct conformal_cover c;
    items_of(r, gpu, false, false, shown);
    conformal_coverage(r->arena, items, n, shown, regime < REGIMES ? regime : CONFORMAL_ALL, &c);
    *out = (struct residual_cover){c.items, c.groups, c.by_item, c.by_group, 0, 0};
    conformal_interval(r->arena, items, n, CONFORMAL_NONE, one || regime >= REGIMES ? 0 : regime,
                       &out->low, &out->high);
    out->low = exp(out->low), out->high = exp(out->high);
}

/* The names of the GPUs, in their order in the file. */
static size_t gpus_of(const struct residuals *r, const char *names[MOST_GPUS])
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        size_t k = 0;
        while (k < n && strcmp(names[k], r->list[i].gpu) != 0) k++;
        if (k == n && n < MOST_GPUS) names[n++] = r->list[i].gpu;
    }
    return n;
}

void residuals_cover_alone(const struct residuals *r, const char *gpu, struct residual_cover *out)
{
    const char *names[MOST_GPUS];
    const size_t gpus = gpus_of(r, names);
    struct conformal_item *items = arena_array(r->arena, struct conformal_item, r->count);
    double low = 0, high = 0;
    for (size_t k = 0; k < gpus; k++) {
        double l, h;
        if (strcmp(names[k], gpu) == 0) continue;
        residuals_alone(r, names[k], &l, &h);
        low += log(l) / (double)(gpus - 1), high += log(h) / (double)(gpus - 1);
    }
    const size_t n = items_of(r, gpu, true, true, items);
    struct conformal_cover c;
    low = fmin(low, 0), high = fmax(high, 0);
    conformal_share(r->arena, items, n, low, high, &c);
    *out = (struct residual_cover){c.items, c.groups, c.by_item, c.by_group, exp(low), exp(high)};
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static void row(struct buf *out, const char *gpu, const char *what, const struct residual_cover *c,
                const struct residual_cover *one, bool interval)
{
    buf_printf(out, "| `%s` | %s | %zu | %zu | %.0f %% | %.0f %% | ", gpu, what, c->programs,
               c->launches, 100 * c->by_program, 100 * c->by_launch);
    if (one) buf_printf(out, "%.0f %% | ", 100 * one->by_program);
    else buf_puts(out, "| ");
    if (interval) buf_printf(out, "%.2f to %.2f |\n", c->low, c->high);
    else buf_puts(out, "|\n");
}

void residuals_table(const struct residuals *r, struct buf *out)
{
    const char *names[MOST_GPUS];
    const size_t gpus = gpus_of(r, names);
    struct residual_cover c, one;
    buf_puts(out,
             "| GPU | launches | programs | launches | held, by program | by launch | with one "
             "interval, by program | measured / estimated |\n"
             "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t g = 0; g < gpus; g++) {
        for (unsigned k = 0; k < REGIMES; k++) {
            residuals_cover(r, names[g], k, false, &c);
            residuals_cover(r, names[g], k, true, &one);
            if (c.launches)
                row(out, names[g], launch_regime_name((enum launch_regime)k), &c, &one, true);
        }
        residuals_cover(r, names[g], REGIMES, false, &c);
        residuals_cover(r, names[g], REGIMES, true, &one);
        row(out, names[g], "all", &c, &one, false);
    }
    for (size_t g = 0; g < gpus && gpus > 1; g++) {
        residuals_cover_alone(r, names[g], &c);
        row(out, names[g], "all, as if it were not measured", &c, NULL, true);
    }
}
