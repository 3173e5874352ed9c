#include "cli/chart.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 62, TOP = 34, HEIGHT = 220, BOTTOM = 64, BAR = 14, GAP = 14, LEAST_WIDTH = 360 };

struct drawing {
    const struct chart *chart;
    double low, high; /* of the axis; logarithms where it is logarithmic */
    double group;     /* pixels of a group */
};

const char *chart_colour(size_t series)
{
    static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc3311", "#56b4e9",
                                          "#882255", "#999933", "#bbbbbb", "#44aa99"};
    return colours[series % (sizeof colours / sizeof *colours)];
}

void chart_escape(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '&') buf_puts(b, "&amp;");
        else if (*text == '<') buf_puts(b, "&lt;");
        else if (*text == '>') buf_puts(b, "&gt;");
        else if (*text == '"') buf_puts(b, "&quot;");
        else buf_putc(b, *text);
    }
}

static void put_text(struct buf *b, double x, double y, const char *how, const char *text)
{
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
    chart_escape(b, text);
    buf_puts(b, "</text>\n");
}

static double value(const struct drawing *c, size_t group, size_t series)
{
    return c->chart->values[group * c->chart->series_count + series];
}

/* The next larger of 1, 2 and 5 times a power of ten. */
static double round_up(double x)
{
    const double unit = pow(10, floor(log10(x)));
    const double n = x / unit;
    return (n <= 1 ? 1 : n <= 2 ? 2 : n <= 5 ? 5 : 10) * unit;
}

static void find_axis(struct drawing *c)
{
    double most = 0, least = INFINITY;
    for (size_t t = 0; t < c->chart->group_count; t++) {
        double sum = 0;
        for (size_t s = 0; s < c->chart->series_count; s++) {
            const double x = value(c, t, s);
            if (isnan(x)) continue;
            sum += x;
            most = fmax(most, c->chart->stacked ? sum : x);
            if (c->chart->most) most = fmax(most, c->chart->most[t * c->chart->series_count + s]);
            if (x > 0) least = fmin(least, x);
        }
    }
    if (!(most > 0)) most = 1;
    c->low = 0;
    c->high = round_up(most / 5) * ceil(most / round_up(most / 5));
    if (!c->chart->logarithmic) return;
    c->low = floor(log10(isfinite(least) ? least : 1));
    c->high = ceil(log10(most));
    if (c->high <= c->low) c->high = c->low + 1;
}

static double y_of(const struct drawing *c, double x)
{
    if (c->chart->logarithmic) x = x > 0 ? log10(x) : c->low;
    return TOP + HEIGHT * (1 - (x - c->low) / (c->high - c->low));
}

static void put_axis(const struct drawing *c, double width, struct buf *b)
{
    char text[32];
    const double step = c->chart->logarithmic ? 1 : round_up(c->high / 5);
    const int lines = (int)((c->high - c->low) / step + 1.001);
    for (int i = 0; i < lines; i++) {
        const double at = c->low + i * step;
        const double x = c->chart->logarithmic ? pow(10, at) : at, y = y_of(c, x);
        buf_printf(b, "<path d=\"M%d %.1fH%.1f\" stroke=\"#ddd\"/>\n", LEFT, y, width - 10);
        snprintf(text, sizeof text, "%.6g", x);
        put_text(b, LEFT - 6, y + 4, "text-anchor=\"end\"", text);
    }
    snprintf(text, sizeof text, "rotate(-90 14 %d)", TOP + HEIGHT / 2);
    buf_printf(b, "<g transform=\"%s\">", text);
    put_text(b, 14, TOP + HEIGHT / 2.0, "text-anchor=\"middle\"", c->chart->unit);
    buf_puts(b, "</g>\n");
}

static void put_bar(const struct drawing *c, size_t t, size_t s, double x, double from, double to,
                    struct buf *b)
{
    const double top = y_of(c, to), bottom = from > 0 ? y_of(c, from) : TOP + HEIGHT;
    buf_printf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>", x,
               top, BAR, bottom > top ? bottom - top : 0, chart_colour(s));
    chart_escape(b, c->chart->groups[t]);
    buf_printf(b, ": %.4g</title></rect>\n", value(c, t, s));
}

/* From the least to the most, through the middle of the bar. */
static void put_spread(const struct drawing *c, size_t t, size_t s, double x, struct buf *b)
{
    const size_t i = t * c->chart->series_count + s;
    if (!c->chart->least || !(c->chart->least[i] < c->chart->most[i])) return;
    const double top = y_of(c, c->chart->most[i]), bottom = y_of(c, c->chart->least[i]);
    buf_printf(b,
               "<path class=\"spread\" d=\"M%.1f %.1fh6m-3 0V%.1fm-3 0h6\" stroke=\"#333\" "
               "fill=\"none\"/>\n",
               x + BAR / 2.0 - 3, top, bottom);
}

static void put_bars(const struct drawing *c, struct buf *b)
{
    for (size_t t = 0; t < c->chart->group_count; t++) {
        double left = LEFT + c->group * (double)t + GAP / 2.0, sum = 0;
        const double middle = LEFT + c->group * ((double)t + 0.5);
        char how[80];
        for (size_t s = 0; s < c->chart->series_count; s++) {
            const double x = value(c, t, s);
            if (!isnan(x)) put_bar(c, t, s, left, sum, sum + x, b);
            if (!isnan(x)) put_spread(c, t, s, left, b);
            if (!c->chart->stacked) left += BAR;
            else if (!isnan(x)) sum += x;
        }
        snprintf(how, sizeof how, "text-anchor=\"end\" transform=\"rotate(-40 %.1f %d)\"", middle,
                 TOP + HEIGHT + 14);
        put_text(b, middle, TOP + HEIGHT + 14, how, c->chart->groups[t]);
    }
}

static void put_legend(const struct chart *c, struct buf *b)
{
    double x = LEFT;
    for (size_t s = 0; s < c->series_count; s++) {
        buf_printf(b, "<rect x=\"%.1f\" y=\"10\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
                   chart_colour(s));
        put_text(b, x + 14, 19, "", c->series[s]);
        x += 30 + 7.0 * (double)strlen(c->series[s]);
    }
}

void chart_svg(const struct chart *c, struct buf *out)
{
    struct drawing d = {.chart = c};
    double legend = LEFT;
    if (!c->group_count || !c->series_count) return;
    find_axis(&d);
    d.group = GAP + BAR * (c->stacked ? 1.0 : (double)c->series_count);
    if (d.group < 34) d.group = 34;
    for (size_t s = 0; s < c->series_count; s++) legend += 30 + 7.0 * (double)strlen(c->series[s]);
    const double width = fmax(fmax(LEAST_WIDTH, legend + 10),
                              LEFT + d.group * (double)c->group_count + 10);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               width, TOP + HEIGHT + BOTTOM);
    put_axis(&d, width, out);
    put_bars(&d, out);
    put_legend(c, out);
    buf_puts(out, "</svg>\n");
}
