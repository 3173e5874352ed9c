#define _GNU_SOURCE
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

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
