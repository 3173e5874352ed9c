/* cli/observed_run.h: `heddle run` in a process of its own, for a command that wants what an observer of the run finds
 * (session/run_observer.h): heddle communication, heddle trace record. */
#ifndef HEDDLE_CLI_OBSERVED_RUN_H
#define HEDDLE_CLI_OBSERVED_RUN_H

#include <stdbool.h>

struct event_stream;

/* The words of a command line for `heddle run`. */
struct observed_words {
    char **words; /* of argc + 2 elements */
    int count;
    const char *target; /* NULL: none */
};
/* Begins the list: the command's name and --quiet. */
void observed_words_begin(struct observed_words *w, char **words, const char *command);
/* Adds argv[*i], and behind a program all that follows; *i becomes the last word that was used. */
void observed_words_add(struct observed_words *w, int argc, char **argv, int *i);

/* Runs it. What the target prints goes to standard error. The exit status; EXIT_FAULT if a signal ended it. */
int observed_run(const char *command, const struct observed_words *w, struct event_stream *events);

#endif
