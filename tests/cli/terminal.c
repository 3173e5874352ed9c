/* Colours and progress of commands on a terminal (cli/terminal.h): here a pseudo terminal. In a pipe nothing changes. */
#define _GNU_SOURCE
/* NOLINTBEGIN(bugprone-suspicious-include): no library has them */
#include "cli/terminal.c"
#include "cli/file_steps.c"
/* NOLINTEND(bugprone-suspicious-include) */
#include "base/buf.h"
#include "tests/support/command.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(terminal, .init = command_enter, .fini = command_leave, .timeout = 60);

/* What the command prints to a terminal, on either stream. */
static char *on_terminal(const char *words, const char *no_color)
{
    int end;
    struct buf b = {0};
    char command[500], part[4096];
    snprintf(command, sizeof command, "%s %s", command_program(), words);
    const pid_t child = forkpty(&end, NULL, NULL, NULL);
    cr_assert(child >= 0);
    if (!child) {
        setenv("TERM", "xterm", 1);
        if (no_color) setenv("NO_COLOR", no_color, 1);
        else unsetenv("NO_COLOR");
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    for (ssize_t n; (n = read(end, part, sizeof part)) > 0;) buf_add(&b, part, (size_t)n);
    close(end);
    (void)waitpid(child, NULL, 0);
    return b.data;
}

static char *in_pipe(const char *words, int want)
{
    struct buf b = {0};
    const int status = command_run(words, &b);
    cr_assert(eq(int, status, want), "%s", b.data);
    return b.data;
}

/* Without colours, and with a line feed alone at the end of a line, as a pipe has it. */
static void plain(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (*p == '\033') p += strcspn(p, "m");
        else if (*p != '\r') *to++ = *p;
    }
    *to = '\0';
}

#define COMPARE "compare suite:sum_atomic --order native,gpudet 2>/dev/null"

Test(terminal, bars_of_compare_have_colours_and_the_same_text)
{
    char *piped = in_pipe(COMPARE, 0), *seen = on_terminal(COMPARE, NULL),
         *asked = in_pipe(
             "compare --color=always suite:sum_atomic --order native,gpudet 2>/dev/null", 0),
         *never = on_terminal(
             "compare --color never suite:sum_atomic --order native,gpudet 2>/dev/null", NULL),
         *none = on_terminal(COMPARE, "1");
    cr_expect(strchr(piped, '\033') == NULL);
    cr_expect(strstr(seen, "\033[48;5;25;38;5;231m##") && strstr(seen, "\033[48;5;160;38;5;231mss"),
              "%s", seen);
    cr_expect(strchr(none, '\033') == NULL && strchr(never, '\033') == NULL);
    plain(seen);
    cr_expect(eq(str, seen, piped));
    plain(none);
    cr_expect(eq(str, none, piped));
    cr_expect(strstr(asked, "\033[48;5;25;38;5;231m##") != NULL);
    plain(asked);
    cr_expect(eq(str, asked, piped));
    free(in_pipe("compare --color=blue suite:sum_atomic 2>&1", 2));
    free(piped), free(seen), free(asked), free(never), free(none);
}

/* Atomics on floats: one result natively, under gpudet one, under random several, each with its letter. */
Test(terminal, bars_of_check_have_a_part_for_each_result)
{
    const char *words = "check suite:sum_atomic --order random,gpudet --runs 4 --no-race --no-init";
    char command[200];
    snprintf(command, sizeof command, "%s 2>/dev/null", words);
    char *piped = in_pipe(command, 6), *seen = on_terminal(words, NULL);
    cr_expect(strchr(piped, '\033') == NULL && strstr(piped, "random |") == NULL);
    char *random = strstr(seen, "random |"), *gpudet = strstr(seen, "gpudet |");
    cr_assert(random && gpudet, "%s", seen);
    plain(seen);
    random = strstr(seen, "random |"), gpudet = strstr(seen, "gpudet |");
    int letters[3] = {0};
    for (const char *p = random + 8; *p >= 'a' && *p <= 'f'; p++)
        letters[*p < 'c' ? *p - 'a' : 2]++;
    cr_expect(letters[0] > 0 && letters[1] > 0 && letters[0] + letters[1] + letters[2] == 60, "%s",
              random);
    cr_expect(strspn(gpudet + 8, "a") == 60 && strncmp(gpudet + 68, " 1 result\n", 10) == 0, "%s",
              gpudet);
    free(piped), free(seen);
}

/* Behind the row of a launch is its line over time; a pipe has only the rows. */
Test(terminal, estimate_has_a_line_over_time)
{
    static const char *const marks[] = {"\u2588", "@"};
    const char *command = "estimate suite:reduce_shared:small 2>/dev/null";
    char *piped = in_pipe(command, 0);
    cr_expect(strstr(piped, "over time") == NULL && strchr(piped, '\033') == NULL);
    for (int ascii = 0; ascii < 2; ascii++) {
        setenv("LC_ALL", ascii ? "C" : "C.UTF-8", 1);
        char *seen = on_terminal(command, NULL);
        cr_expect(strstr(seen, marks[ascii]) && !strstr(seen, marks[!ascii]), "%s", seen);
        plain(seen);
        char *line = strstr(seen, "  issue slots used over time |"),
             *end = line ? strchr(line, '\n') : NULL;
        cr_assert(line && end && strstr(line, "| at most "), "%s", seen);
        memmove(line, end + 1, strlen(end + 1) + 1);
        cr_expect(eq(str, seen, piped));
        free(seen);
    }
    unsetenv("LC_ALL");
    free(piped);
}

Test(terminal, what_remains_is_printed)
{
    struct buf b = {0};
    steps_text(&b, "runs", 0, 10, 3);
    cr_expect(eq(str, b.data, (char *)"0 of 10 runs, 3 s"));
    b.size = 0;
    steps_text(&b, "runs", 4, 10, 8);
    cr_expect(eq(str, b.data, (char *)"4 of 10 runs, 8 s, about 12 s left"));
    b.size = 0;
    steps_text(&b, "runs", 10, 10, 20);
    cr_expect(eq(str, b.data, (char *)"10 of 10 runs, 20 s"));
    buf_free(&b);
}

/* After 4 seconds at 3.5 of 10 MB: whole megabytes, and as much time for each of the others. */
Test(terminal, reading_of_a_file_tells_what_remains)
{
    char printed[200] = "";
    struct trace_file in = {.file = tmpfile()};
    struct file_steps s;
    FILE *to = tmpfile();
    cr_assert(in.file && to && ftruncate(fileno(in.file), 9500001) == 0);
    file_steps_begin(&s, &in);
    s.steps.wanted = true;
    in.progress(in.progress_self, 1000000); /* in the first two seconds nothing is printed */
    s.steps.began -= 4;
    const int before = dup(STDERR_FILENO);
    cr_assert(dup2(fileno(to), STDERR_FILENO) >= 0);
    in.progress(in.progress_self, 3500000);
    file_steps_end(&s);
    (void)fflush(stderr);
    cr_assert(dup2(before, STDERR_FILENO) >= 0);
    rewind(to);
    cr_assert(fread(printed, 1, sizeof printed - 1, to) > 0);
    cr_expect(eq(str, printed, (char *)"\r3 of 10 MB read, 4 s, about 9 s left\033[K\r\033[K"));
    (void)fclose(in.file), (void)fclose(to), (void)close(before);
}
