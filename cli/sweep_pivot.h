/* cli/sweep_pivot.h: a pivot of a sweep's results, and its figures. */
#ifndef HEDDLE_CLI_SWEEP_PIVOT_H
#define HEDDLE_CLI_SWEEP_PIVOT_H

#include <stddef.h>

struct buf;

struct sweep_pivot {
    const char *rows, *columns, *value; /* what they are: "target", "order", "cycles" */
    char **row, **column;               /* names */
    size_t row_count, column_count;
    double *cells; /* by row, column; below 0: nothing */
    double *least,
        *most; /* likewise, of the cells of the sweep that a number is the mean of; below 0: it is no mean */
    double greatest; /* of cells */
};

/* A heat map: white to blue, with the numbers. */
void sweep_pivot_map(const struct sweep_pivot *p, struct buf *out);
/* A group of bars for each row, a bar for each column; a line through a mean reaches from the least to the most. */
void sweep_pivot_bars(const struct sweep_pivot *p, struct buf *out);
/* A page with a table, coloured as the heat map, and the bars. */
void sweep_pivot_page(const struct sweep_pivot *p, struct buf *out);

#endif
