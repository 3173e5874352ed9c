/* cli/check_search.h: `heddle check --exhaustive`: all choices of the order random for a small target, depth first
 * (determinism/exhaustive.h). One process makes all runs, one after the other. */
#ifndef HEDDLE_CLI_CHECK_SEARCH_H
#define HEDDLE_CLI_CHECK_SEARCH_H

#include "cli/check.h"

struct emu_order;

/* Makes the runs and prints what they came to; the exit status. The target has been found. */
int check_search(const struct check *c);

/* check_child.c: one run of the task in this process, all launches under this order (NULL: the task's), and its events.
 * false: none were asked for. */
bool check_run_here(const struct check *c, const struct check_task *t,
                    const struct emu_order *order);

#endif
