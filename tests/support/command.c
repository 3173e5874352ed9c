#define _GNU_SOURCE
#include "tests/support/command.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char command_folder[] = "/tmp/heddle-command-XXXXXX";

void command_set_up(void)
{
    cr_assert(mkdtemp(command_folder) != NULL);
}

void command_tear_down(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", command_folder);
    cr_expect(system(command) == 0);
}

char *command_output(const char *words, int *status)
{
    char command[2000], *at = command, *text = NULL;
    const char *program = getenv("HEDDLE");
    size_t size = 0;
    for (const char *w = words; *w; w++) {
        cr_assert(at < command + sizeof command - 300, "%s", words);
        if (*w != '%') *at++ = *w;
        else at += sprintf(at, "%s", *++w == 's' ? command_folder : program ? program : "./heddle");
    }
    *at = '\0';
    FILE *p = popen(command, "r"), *m = open_memstream(&text, &size);
    for (int c; (c = getc(p)) != EOF;) putc(c, m);
    fclose(m);
    const int s = pclose(p);
    *status = WIFEXITED(s) ? WEXITSTATUS(s) : -1;
    return text;
}

char *command_heddle(const char *words, int want)
{
    char command[1000];
    int status;
    cr_assert(snprintf(command, sizeof command, "%%p %s 2>&1", words) < (int)sizeof command);
    char *text = command_output(command, &status);
    cr_assert_eq(status, want, "%s: %d: %s", command, status, text);
    return text;
}

/* ---- tests that work inside the folder ------------------------------------------------------------------- */

static char *program; /* its whole path */

void command_enter(void)
{
    const char *name = getenv("HEDDLE");
    program = realpath(name ? name : "./heddle", NULL);
    cr_assert(program, "the program is not there: build it, or set HEDDLE");
    command_set_up();
    cr_assert_eq(chdir(command_folder), 0);
}

const char *command_program(void)
{
    return program;
}

void command_leave(void)
{
    command_tear_down();
    free(program);
}

void command_write(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

int command_run(const char *words, struct buf *out)
{
    char command[1024], part[4096];
    snprintf(command, sizeof command, "%s %s 2>&1", program, words);
    FILE *f = popen(command, "r");
    cr_assert(f);
    out->size = 0;
    buf_puts(out, "");
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) buf_add(out, part, n);
    const int status = pclose(f);
    cr_assert(WIFEXITED(status), "%s", words);
    return WEXITSTATUS(status);
}

bool command_kill(char *const words[], uint32_t milliseconds)
{
    int status = 0;
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_RDWR);
        (void)dup2(nowhere, 1);
        (void)dup2(nowhere, 2);
        execv(program, words);
        _exit(127);
    }
    (void)nanosleep(&time, NULL);
    (void)kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status);
}
