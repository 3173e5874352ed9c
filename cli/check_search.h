/* cli/check_search.h: `heddle check --exhaustive`: explores all choices of the order `random` for a small target, depth
 * first (determinism/exhaustive.h). One process makes all runs, one after the other. */
#ifndef HEDDLE_CLI_CHECK_SEARCH_H
#define HEDDLE_CLI_CHECK_SEARCH_H

#include "cli/check.h"

struct emu_order;

/* Makes the runs and prints their results; returns the exit status. The target must have been found before. */
int check_search(const struct check *c);

/* Makes one run of the task in this process, with all launches under `order` (NULL: the task's), and writes its events
 * (check_child.c). false: the task asks for no events. */
bool check_run_here(const struct check *c, const struct check_task *t,
                    const struct emu_order *order);

#endif
