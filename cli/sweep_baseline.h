/* cli/sweep_baseline.h: what is worse in a sweep than in an earlier one (`heddle sweep report --baseline`).
 *
 * Cells are the same if target, order, seed and GPU are; orders, seeds and targets that only one sweep has do not count. */
#ifndef HEDDLE_CLI_SWEEP_BASELINE_H
#define HEDDLE_CLI_SWEEP_BASELINE_H

#include <stdbool.h>

struct sqlite3;

/* Prints as text or CSV what is worse in the database than in DIR/results.sqlite; `slower`: percent by which the cycles of
 * a cell, or the host's seconds of all cells of a target, GPU and order, may grow. Returns EXIT_FINE if nothing is
 * worse, EXIT_DIFFERS if something is, EXIT_USAGE after a message. */
int sweep_baseline_print(struct sqlite3 *db, const char *folder, double slower, bool csv);

#endif
