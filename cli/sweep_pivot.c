#include "cli/sweep_pivot.h"

#include "cli/chart.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 26, LETTER = 7, LEAST_COLUMN = 70, TOP = 56 };

static double number(const struct sweep_pivot *p, size_t r, size_t c)
{
    return p->cells[r * p->column_count + c];
}

/* How far red and green are below 255. */
static int shade(const struct sweep_pivot *p, double v)
{
    return p->greatest > 0 && v > 0 ? (int)(v / p->greatest * 140) : 0;
}

static void put_text(struct buf *b, double x, double y, const char *anchor, const char *text)
{
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    chart_escape(b, text);
    buf_puts(b, "</text>\n");
}

static void put_row(const struct sweep_pivot *p, size_t r, double left, const double *at,
                    struct buf *b)
{
    const double y = TOP + ROW * (double)r;
    put_text(b, left - 8, y + 17, "end", p->row[r]);
    for (size_t c = 0; c < p->column_count; c++) {
        const double v = number(p, r, c);
        const int s = shade(p, v);
        char text[32] = "-";
        if (v >= 0) snprintf(text, sizeof text, "%.6g", v);
        buf_printf(b,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
                   "fill=\"rgb(%d,%d,255)\" stroke=\"white\"/>\n",
                   at[c], y, at[c + 1] - at[c], ROW, 255 - s, 255 - s);
        put_text(b, (at[c] + at[c + 1]) / 2, y + 17, "middle", text);
    }
}

void sweep_pivot_map(const struct sweep_pivot *p, struct buf *out)
{
    double *at = calloc(p->column_count + 1, sizeof *at), left = 20;
    if (!at) abort();
    for (size_t r = 0; r < p->row_count; r++)
        left = fmax(left, 20 + LETTER * (double)strlen(p->row[r]));
    at[0] = left;
    for (size_t c = 0; c < p->column_count; c++)
        at[c + 1] = at[c] + fmax(LEAST_COLUMN, 12 + LETTER * (double)strlen(p->column[c]));
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               at[p->column_count] + 10, TOP + ROW * (double)p->row_count + 10);
    buf_printf(out, "<text x=\"10\" y=\"18\">%s by %s and %s</text>\n", p->value, p->rows,
               p->columns);
    for (size_t c = 0; c < p->column_count; c++)
        put_text(out, (at[c] + at[c + 1]) / 2, TOP - 8, "middle", p->column[c]);
    for (size_t r = 0; r < p->row_count; r++) put_row(p, r, left, at, out);
    buf_puts(out, "</svg>\n");
    free(at);
}

/* What is missing, -1, as NAN; for free(). */
static double *without_missing(const struct sweep_pivot *p, const double *from)
{
    const size_t n = p->row_count * p->column_count;
    double *to = calloc(n + 1, sizeof *to);
    if (!to) abort();
    for (size_t i = 0; i < n; i++) to[i] = from[i] < 0 ? NAN : from[i];
    return to;
}

void sweep_pivot_bars(const struct sweep_pivot *p, struct buf *out)
{
    double *values = without_missing(p, p->cells), *least = without_missing(p, p->least),
           *most = without_missing(p, p->most);
    const struct chart c = {.unit = p->value,
                            .groups = (const char *const *)p->row,
                            .series = (const char *const *)p->column,
                            .group_count = p->row_count,
                            .series_count = p->column_count,
                            .values = values,
                            .least = least,
                            .most = most};
    chart_svg(&c, out);
    free(values);
    free(least);
    free(most);
}

void sweep_pivot_page(const struct sweep_pivot *p, struct buf *out)
{
    buf_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n"
        "<style>body{font-family:sans-serif}td,th{padding:.3em .8em;text-align:right}"
        "th{background:#eee}</style></head><body>\n<h1>%s by %s and %s</h1>\n<table><tr><th></th>",
        p->value, p->value, p->rows, p->columns);
    for (size_t c = 0; c < p->column_count; c++) {
        buf_puts(out, "<th>");
        chart_escape(out, p->column[c]);
        buf_puts(out, "</th>");
    }
    buf_puts(out, "</tr>\n");
    for (size_t r = 0; r < p->row_count; r++) {
        buf_puts(out, "<tr><th>");
        chart_escape(out, p->row[r]);
        buf_puts(out, "</th>");
        for (size_t c = 0; c < p->column_count; c++) {
            const double v = number(p, r, c);
            const int s = shade(p, v);
            if (v < 0) buf_puts(out, "<td>-</td>");
            else
                buf_printf(out, "<td style=\"background:rgb(%d,%d,255)\">%.6g</td>", 255 - s,
                           255 - s, v);
        }
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</table>\n");
    sweep_pivot_bars(p, out);
    buf_puts(out, "</body></html>\n");
}
