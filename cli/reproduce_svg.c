/* Figures of `heddle reproduce`: bars beside each other or stacked, one group for each target. */
#include "cli/reproduce.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 62, TOP = 34, HEIGHT = 220, BOTTOM = 64, BAR = 14, GAP = 14, LEAST_WIDTH = 360 };

struct chart {
    const struct reproduce_item *item;
    double *values;   /* of each target, of each series; NAN: none */
    double low, high; /* of the axis; logarithms where it is logarithmic */
    double group;     /* pixels of a target */
};

static const char *colour(size_t i)
{
    static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc3311", "#56b4e9",
                                          "#882255", "#999933", "#bbbbbb", "#44aa99"};
    return colours[i % (sizeof colours / sizeof *colours)];
}

static void put_text(struct buf *b, double x, double y, const char *how, const char *text)
{
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
    reproduce_escape(b, text);
    buf_puts(b, "</text>\n");
}

static double value(const struct chart *c, size_t target, size_t series)
{
    return c->values[target * c->item->series_count + series];
}

/* The next larger of 1, 2 and 5 times a power of ten. */
static double round_up(double x)
{
    const double unit = pow(10, floor(log10(x)));
    const double n = x / unit;
    return (n <= 1 ? 1 : n <= 2 ? 2 : n <= 5 ? 5 : 10) * unit;
}

static void find_axis(struct chart *c)
{
    double most = 0, least = INFINITY;
    for (size_t t = 0; t < c->item->target_count; t++) {
        double sum = 0;
        for (size_t s = 0; s < c->item->series_count; s++) {
            const double x = value(c, t, s);
            if (isnan(x)) continue;
            sum += x;
            most = fmax(most, c->item->stacked ? sum : x);
            if (x > 0) least = fmin(least, x);
        }
    }
    if (!(most > 0)) most = 1;
    c->low = 0;
    c->high = round_up(most / 5) * ceil(most / round_up(most / 5));
    if (!c->item->logarithmic) return;
    c->low = floor(log10(isfinite(least) ? least : 1));
    c->high = ceil(log10(most));
    if (c->high <= c->low) c->high = c->low + 1;
}

static double y_of(const struct chart *c, double x)
{
    if (c->item->logarithmic) x = x > 0 ? log10(x) : c->low;
    return TOP + HEIGHT * (1 - (x - c->low) / (c->high - c->low));
}

static void put_axis(const struct chart *c, double width, struct buf *b)
{
    char text[32];
    const double step = c->item->logarithmic ? 1 : round_up(c->high / 5);
    const int lines = (int)((c->high - c->low) / step + 1.001);
    for (int i = 0; i < lines; i++) {
        const double at = c->low + i * step;
        const double x = c->item->logarithmic ? pow(10, at) : at, y = y_of(c, x);
        buf_printf(b, "<path d=\"M%d %.1fH%.1f\" stroke=\"#ddd\"/>\n", LEFT, y, width - 10);
        snprintf(text, sizeof text, "%.6g", x);
        put_text(b, LEFT - 6, y + 4, "text-anchor=\"end\"", text);
    }
    snprintf(text, sizeof text, "rotate(-90 14 %d)", TOP + HEIGHT / 2);
    buf_printf(b, "<g transform=\"%s\">", text);
    put_text(b, 14, TOP + HEIGHT / 2.0, "text-anchor=\"middle\"", c->item->unit);
    buf_puts(b, "</g>\n");
}

static void put_bar(const struct chart *c, size_t t, size_t s, double x, double from, double to,
                    struct buf *b)
{
    const double top = y_of(c, to), bottom = from > 0 ? y_of(c, from) : TOP + HEIGHT;
    buf_printf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>", x,
               top, BAR, bottom > top ? bottom - top : 0, colour(s));
    reproduce_escape(b, c->item->targets[t].name);
    buf_printf(b, ": %.4g</title></rect>\n", value(c, t, s));
}

static void put_bars(const struct chart *c, struct buf *b)
{
    for (size_t t = 0; t < c->item->target_count; t++) {
        double left = LEFT + c->group * (double)t + GAP / 2.0, sum = 0;
        const double middle = LEFT + c->group * ((double)t + 0.5);
        char how[80];
        for (size_t s = 0; s < c->item->series_count; s++) {
            const double x = value(c, t, s);
            if (!isnan(x)) put_bar(c, t, s, left, sum, sum + x, b);
            if (!c->item->stacked) left += BAR;
            else if (!isnan(x)) sum += x;
        }
        snprintf(how, sizeof how, "text-anchor=\"end\" transform=\"rotate(-40 %.1f %d)\"", middle,
                 TOP + HEIGHT + 14);
        put_text(b, middle, TOP + HEIGHT + 14, how, c->item->targets[t].name);
    }
}

static void put_legend(const struct reproduce_item *i, struct buf *b)
{
    double x = LEFT;
    for (size_t s = 0; s < i->series_count; s++) {
        buf_printf(b, "<rect x=\"%.1f\" y=\"10\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
                   colour(s));
        put_text(b, x + 14, 19, "", i->series[s].name);
        x += 30 + 7.0 * (double)strlen(i->series[s].name);
    }
}

void reproduce_svg(const struct reproduce *r, const struct reproduce_item *i, struct buf *out)
{
    struct chart c = {.item = i};
    double legend = LEFT;
    if (!i->series_count) return;
    c.values = calloc(i->target_count * i->series_count + 1, sizeof *c.values);
    if (!c.values) abort();
    for (uint32_t t = 0; t < i->target_count; t++)
        for (size_t s = 0; s < i->series_count; s++)
            c.values[t * i->series_count + s] = reproduce_formula(r, i, i->series[s].formula, t,
                                                                  REPRODUCE_MEDIAN);
    find_axis(&c);
    c.group = GAP + BAR * (i->stacked ? 1.0 : (double)i->series_count);
    if (c.group < 34) c.group = 34;
    for (size_t s = 0; s < i->series_count; s++)
        legend += 30 + 7.0 * (double)strlen(i->series[s].name);
    const double width = fmax(fmax(LEAST_WIDTH, legend + 10),
                              LEFT + c.group * (double)i->target_count + 10);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               width, TOP + HEIGHT + BOTTOM);
    put_axis(&c, width, out);
    put_bars(&c, out);
    put_legend(i, out);
    buf_puts(out, "</svg>\n");
    free(c.values);
}
