/* determinism/race/atomicity.h: an observer that finds bytes of global memory that one kernel
 * accesses both by atomics and by plain loads or stores, ordered or not. DAB (Chou et al., MICRO
 * 2020) guarantees determinism only for kernels without such accesses: a plain load does not see
 * atomics that are still in a buffer. Strong loads and stores (.relaxed, .volatile ...) are not
 * plain.
 *
 * Findings (EMU_MIXED) are in the launch's report. */
#ifndef HEDDLE_DETERMINISM_RACE_ATOMICITY_H
#define HEDDLE_DETERMINISM_RACE_ATOMICITY_H

struct emu_observer;
struct atomicity;

struct atomicity *atomicity_new(void);
void atomicity_free(struct atomicity *k); /* NULL is allowed */
const struct emu_observer *atomicity_observer(struct atomicity *k);

#endif
