/* Executes `heddle run` in a child process (cli/observed_run.h). */
#define _GNU_SOURCE
#include "cli/observed_run.h"

#include "cli/cli.h"
#include "cli/run.h"
#include "cli/run_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number of the words behind the command that nobody typed. */
enum { ADDED_WORDS = 1 };

void observed_words_begin(struct observed_words *w, char **words, const char *command)
{
    *w = (struct observed_words){.words = words, .count = 1 + ADDED_WORDS};
    words[0] = (char *)command;
    words[1] = (char *)"--quiet";
}

void observed_words_add(struct observed_words *w, int argc, char **argv, int *i)
{
    char *const word = argv[*i];
    if (strcmp(word, "--quiet") == 0) return;
    if (*word != '-' && !w->target) w->target = word;
    w->words[w->count++] = word;
    const struct piece piece = {word, (uint32_t)strlen(word), 0};
    if (*word == '-' || run_target_kind(piece) != TARGET_PROGRAM) return;
    while (++*i < argc) w->words[w->count++] = argv[*i];
}

static int run_target_of(const struct observed_words *w, struct event_stream *events)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    const int status = run_command(w->count, w->words, ADDED_WORDS, events);
    (void)fflush(NULL);
    return status;
}

int observed_run(const char *command, const struct observed_words *w, struct event_stream *events)
{
    int status = 0;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(run_target_of(w, events));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0) return usage_error(command, "cannot start another process");
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAULT;
}
