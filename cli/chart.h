/* cli/chart.h: bars as SVG, beside each other or stacked, one group for each name.
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
    const char *unit;                          /* of the axis */
    const char *const *groups, *const *series; /* names */
    size_t group_count, series_count;
    bool stacked, logarithmic;
    const double *values; /* of each group, of each series; NAN: none */
    const double *least,
        *most; /* likewise, the ends of a line through the bar; NULL: no bar has one */
};

/* Nothing without groups or series. */
void chart_svg(const struct chart *c, struct buf *out);
/* A colour of a series, as "#rrggbb". */
const char *chart_colour(size_t series);
/* Text of HTML and SVG: with what its syntax needs escaped. */
void chart_escape(struct buf *b, const char *text);

#endif
