/* determinism/checks.h: the checks of enum emu_check that are observers in this folder (race, atomicity), for the code
 * that launches kernels.
 *
 *     struct checks *c = checks_new(config.checks);
 *     checks_join(c, &launch);        // before each launch
 *     ...checks_note(c)...            // after it
 *     checks_free(c); */
#ifndef HEDDLE_DETERMINISM_CHECKS_H
#define HEDDLE_DETERMINISM_CHECKS_H

struct emu_launch;
struct checks;

struct checks *checks_new(unsigned checks); /* NULL: none of these checks is requested */
void checks_free(struct checks *c);         /* NULL is allowed */
/* Adds the checks to the launch's observers. The list is valid until the next call. */
void checks_join(struct checks *c, struct emu_launch *l);
/* A line about findings that the checks may have missed in the last launch although they examined all of it; NULL:
 * none. The line is no finding. `c` may be NULL. */
const char *checks_note(const struct checks *c);

#endif
