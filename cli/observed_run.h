/* cli/observed_run.h: `heddle run` in a child process, for commands that need the results of an observer
 * (session/run_observer.h): heddle communication, heddle trace record. */
#ifndef HEDDLE_CLI_OBSERVED_RUN_H
#define HEDDLE_CLI_OBSERVED_RUN_H

#include <stdbool.h>

struct event_stream;

/* The words of a `heddle run` command. */
struct observed_words {
    char **words; /* argc + 2 elements */
    int count;
    const char *target; /* NULL: none */
};
/* Begins the list: the command's name and --quiet. */
void observed_words_begin(struct observed_words *w, char **words, const char *command);
/* Adds argv[*i], and for a program all later words; *i becomes the index of the last word that was added. */
void observed_words_add(struct observed_words *w, int argc, char **argv, int *i);

/* Runs the command; the target's output goes to standard error. Returns the exit status; EXIT_FAULT if a signal ended the process. */
int observed_run(const char *command, const struct observed_words *w, struct event_stream *events);

#endif
