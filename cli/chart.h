/* cli/chart.h: bar charts as SVG: groups of bars, side by side or stacked.
 *
 *     struct chart c = {.unit = "cycles", .groups = names, .group_count = 2, .series = orders, .series_count = 3,
 *                       .values = means, .least = least, .most = most};
 *     chart_svg(&c, &out);
 *
 * Figures of `heddle reproduce` and `heddle sweep report`. */
#ifndef HEDDLE_CLI_CHART_H
#define HEDDLE_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct chart {
    const char *unit;                          /* unit of the axis */
    const char *const *groups, *const *series; /* names of groups and of series */
    size_t group_count, series_count;
    bool stacked, logarithmic;
    const double *values; /* for each group, for each series; NAN: none */
    /* Ends of an error line through each bar, indexed like `values`; NULL: no error lines. */
    const double *least, *most;
};

/* Appends the chart; nothing without groups or series. */
void chart_svg(const struct chart *c, struct buf *out);
/* The colour of a series as "#rrggbb". */
const char *chart_colour(size_t series);
/* Appends text with the characters escaped that are special in HTML and SVG. */
void chart_escape(struct buf *b, const char *text);

#endif
