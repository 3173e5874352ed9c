/* cuda/run_log.h: what an account (determinism/record/run_log.h) is told of launches.
 *
 * Runs of a program are compared by what memory holds after each launch. That is a question only where the program
 * leaves no choice: where everything else is before the launch or behind it. Of other launches nothing is told but their
 * names; when the host next waits for all there is, memory is told of once more. Launches are told in the order in
 * which they were asked for, so that two runs can be compared that did them in different orders. */
#ifndef HEDDLE_CUDA_RUN_LOG_H
#define HEDDLE_CUDA_RUN_LOG_H

#include "cuda/unordered.h"
#include "cuda/work.h"

struct ledger_entry;

/* An operation has been submitted. NULL: it is no launch, or nobody keeps an account. */
struct ledger_entry *ledger_submit(const struct work *w, struct stamp *stamp);
void ledger_done(struct ledger_entry *e); /* NULL is allowed */
/* The host has waited for something. */
void ledger_wait(void);
void ledger_drop(void); /* with the device */

#endif
