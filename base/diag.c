#define _GNU_SOURCE /* memrchr */
#include "base/diag.h"

#include "base/arena.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SHOWN_MAX = 160 }; /* a longer source line is cut around the caret */

static void add(struct diags *d, enum diag_kind kind, uint32_t at, uint32_t length,
                const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    d->list = arena_grow(d->arena, d->list, d->count, &d->cap, d->count + 1, sizeof *d->list);
    d->list[d->count++] = (struct diag){
        .kind = kind,
        .at = at,
        .length = length,
        .serial = d->errors + d->warnings,
        .text = arena_copy(d->arena, text, strlen(text)),
    };
    d->sorted = false;
}

bool diags_full(const struct diags *d)
{
    return d->max_errors && d->errors >= d->max_errors;
}

void diag_error(struct diags *d, uint32_t at, uint32_t length, const char *format, ...)
{
    bool kept = !d->max_errors || d->errors < d->max_errors;
    d->errors++;
    if (!kept) return;
    va_list args;
    va_start(args, format);
    add(d, DIAG_ERROR, at, length, format, args);
    va_end(args);
}

void diag_warning(struct diags *d, uint32_t at, uint32_t length, const char *format, ...)
{
    d->warnings++;
    if (diags_full(d)) return;
    va_list args;
    va_start(args, format);
    add(d, DIAG_WARNING, at, length, format, args);
    va_end(args);
}

void diag_note(struct diags *d, uint32_t at, uint32_t length, const char *format, ...)
{
    if (d->max_errors && d->errors > d->max_errors) return; /* its error was not kept */
    va_list args;
    va_start(args, format);
    add(d, DIAG_NOTE, at, length, format, args);
    va_end(args);
}

/* Notes must follow their error whatever their own place is: sort groups by the place of their head. */
struct group {
    uint32_t at, serial;
    size_t first, n;
};

static int by_place(const void *x, const void *y)
{
    const struct group *a = x, *b = y;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void diags_sort(struct diags *d)
{
    if (d->sorted || d->count == 0) return;
    struct group *groups = arena_array(d->arena, struct group, d->count);
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++) {
        if (n && groups[n - 1].serial == d->list[i].serial && d->list[i].kind == DIAG_NOTE)
            groups[n - 1].n++;
        else groups[n++] = (struct group){d->list[i].at, d->list[i].serial, i, 1};
    }
    qsort(groups, n, sizeof *groups, by_place);
    struct diag *sorted = arena_array(d->arena, struct diag, d->count);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < groups[i].n; j++) sorted[k++] = d->list[groups[i].first + j];
    d->list = sorted;
    d->cap = d->count;
    d->sorted = true;
}

static uint32_t line_start(const struct source *s, uint32_t at)
{
    const char *nl = at ? memrchr(s->text, '\n', at) : NULL;
    return nl ? (uint32_t)(nl - s->text) + 1 : 0;
}

uint32_t source_newlines(const struct source *s, uint32_t from, uint32_t to)
{
    if (to > s->length) to = s->length;
    const char *p = s->text + from, *end = s->text + to;
    uint32_t n = 0;
    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++) n++;
    return n;
}

struct place source_place(const struct source *s, uint32_t at)
{
    if (at > s->length) at = s->length;
    return (struct place){source_newlines(s, 0, at) + 1, at - line_start(s, at) + 1};
}

/* The line with the place, tabs kept so that the caret below can copy them; other control bytes and
 * bytes that are no UTF-8 text would garble a terminal and become '?'. */
static void render_line(const struct source *s, uint32_t at, uint32_t length, unsigned line,
                        struct buf *out)
{
    uint32_t from = line_start(s, at), to = at;
    while (to < s->length && s->text[to] != '\n' && to - from < 100000) to++;
    if (to > from && s->text[to - 1] == '\r') to--;
    bool cut_left = false, cut_right = false;
    if (to - from > LINE_SHOWN_MAX) {
        if (at - from > LINE_SHOWN_MAX / 2) {
            from = at - LINE_SHOWN_MAX / 2;
            cut_left = true;
        }
        if (to - from > LINE_SHOWN_MAX) {
            to = from + LINE_SHOWN_MAX;
            cut_right = true;
        }
    }
    buf_printf(out, "%5u | %s", line, cut_left ? "..." : "");
    for (uint32_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)s->text[i];
        buf_putc(out, (c >= ' ' && c < 127) || c == '\t' ? (char)c : '?');
    }
    buf_printf(out, "%s\n      | %s", cut_right ? "..." : "", cut_left ? "   " : "");
    for (uint32_t i = from; i < at && i < to; i++) buf_putc(out, s->text[i] == '\t' ? '\t' : ' ');
    buf_putc(out, '^');
    for (uint32_t i = at + 1; i < at + length && i < to; i++) buf_putc(out, '~');
    buf_putc(out, '\n');
}

void diags_render(struct diags *d, struct buf *out)
{
    static const char *const kind[] = {"error", "warning", "note"};
    diags_sort(d);
    struct place p = {1, 1};
    uint32_t seen = 0; /* reports are sorted, so lines are counted once */
    for (size_t i = 0; i < d->count; i++) {
        const struct diag *g = &d->list[i];
        uint32_t at = g->at < d->source->length ? g->at : d->source->length;
        if (at < seen) {
            seen = 0;
            p.line = 1;
        }
        for (const char *nl; seen < at && (nl = memchr(d->source->text + seen, '\n', at - seen));
             seen = (uint32_t)(nl - d->source->text) + 1)
            p.line++;
        p.column = at - line_start(d->source, at) + 1;
        buf_printf(out, "%s:%u:%u: %s: %s\n", d->source->name, p.line, p.column, kind[g->kind],
                   g->text);
        render_line(d->source, at, g->length, p.line, out);
    }
}
