/* Draws the figures of `heddle reproduce`: bar charts with a group for each target (cli/chart.h). */
#include "cli/chart.h"
#include "cli/reproduce.h"

void reproduce_svg(const struct reproduce *r, const struct reproduce_item *i, struct buf *out)
{
    const size_t n = i->series_count;
    const char **groups = arena_array(r->arena, const char *, i->target_count + 1);
    const char **series = arena_array(r->arena, const char *, n + 1);
    double *values = arena_array(r->arena, double, i->target_count *n + 1);
    for (size_t s = 0; s < n; s++) series[s] = i->series[s].name;
    for (uint32_t t = 0; t < i->target_count; t++) {
        groups[t] = i->targets[t].name;
        for (size_t s = 0; s < n; s++)
            values[t * n + s] = reproduce_formula(r, i, i->series[s].formula, t, REPRODUCE_MEDIAN);
    }
    const struct chart c = {.unit = i->unit,
                            .groups = groups,
                            .series = series,
                            .group_count = i->target_count,
                            .series_count = n,
                            .stacked = i->stacked,
                            .logarithmic = i->logarithmic,
                            .values = values};
    chart_svg(&c, out);
}
