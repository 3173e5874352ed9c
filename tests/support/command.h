/* tests/support/command.h: commands of the shell, with a folder for a test's files.
 *
 *     TestSuite(report, .init = command_set_up, .fini = command_tear_down);
 *     char *text = command_output("%p estimate suite:saxpy --traces %s/a.hdt 2>&1", &status);
 */
#ifndef HEDDLE_TESTS_SUPPORT_COMMAND_H
#define HEDDLE_TESTS_SUPPORT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

extern char command_folder[];

void command_set_up(void);    /* makes the folder */
void command_tear_down(void); /* removes it with all that is in it */

/* What the command prints on its standard output; the caller frees it. %s in it is the folder, %p the program that is
 * tested (HEDDLE in the environment, else ./heddle). *status: its exit status; -1: it ended by a signal. */
char *command_output(const char *words, int *status);

/* What `heddle WORDS` prints, standard error included; the caller frees it. The test ends here if the exit status is not
 * `want`. %s in the words is the folder. */
char *command_heddle(const char *words, int want);

/* ---- tests that work inside the folder ------------------------------------------------------------------- */

void command_enter(void);                               /* makes the folder and goes there */
const char *command_program(void);                      /* the whole path of heddle */
void command_leave(void);                               /* removes it */
void command_write(const char *name, const char *text); /* a file there */
/* What `heddle WORDS` prints, standard error included, in place of what `out` has; its exit status. */
int command_run(const char *words, struct buf *out);
/* Starts heddle with these words (the last is NULL) and kills it after so many milliseconds. true: it had ended. */
bool command_kill(char *const words[], uint32_t milliseconds);

#endif
