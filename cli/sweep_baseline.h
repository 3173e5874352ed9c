/* cli/sweep_baseline.h: compares a sweep with an earlier one (`heddle sweep report --baseline`).
 *
 * Cells correspond if their targets, orders, seeds and GPUs are equal; cells that only one sweep has are ignored. */
#ifndef HEDDLE_CLI_SWEEP_BASELINE_H
#define HEDDLE_CLI_SWEEP_BASELINE_H

#include <stdbool.h>

struct sqlite3;

/* Prints as text or CSV the results that are worse in the database than in DIR/results.sqlite. `slower`: percent by which the
 * cycles of a cell, or the host's seconds of all cells of a target, GPU and order, may grow. Returns EXIT_FINE if no result
 * is worse, EXIT_DIFFERS if one is, EXIT_USAGE after a message. */
int sweep_baseline_print(struct sqlite3 *db, const char *folder, double slower, bool csv);

#endif
