/* cli/sweep_pivot.h: a pivot table of a sweep's results, and its figures. */
#ifndef HEDDLE_CLI_SWEEP_PIVOT_H
#define HEDDLE_CLI_SWEEP_PIVOT_H

#include <stddef.h>

struct buf;

struct sweep_pivot {
    const char *rows, *columns, *value; /* their meanings: "target", "order", "cycles" */
    char **row, **column;               /* names of the rows and columns */
    size_t row_count, column_count;
    double *cells; /* for each row, for each column; below 0: no value */
    /* The range of the sweep's cells whose mean the value is, indexed like `cells`; below 0: the value is no mean. */
    double *least, *most;
    double greatest; /* maximum of cells */
};

/* Appends a heat map, white to blue, with the numbers. */
void sweep_pivot_map(const struct sweep_pivot *p, struct buf *out);
/* Appends a bar chart: a group for each row, a bar for each column; an error line shows the range of a mean. */
void sweep_pivot_bars(const struct sweep_pivot *p, struct buf *out);
/* Appends a page with a table, coloured as the heat map, and the bar chart. */
void sweep_pivot_page(const struct sweep_pivot *p, struct buf *out);

#endif
