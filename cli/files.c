/* Opens files that commands read, and checks that their output was written (cli/cli.h). */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

bool can_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    const bool can = getc(f) != EOF || !ferror(f);
    const int why = errno;
    (void)fclose(f);
    errno = why;
    return can;
}

struct heddle_module *load_module(const char *path, int *status)
{
    struct heddle_module *m = heddle_module_read_file(path, NULL);
    if (heddle_module_ok(m)) return m;
    fputs(heddle_module_messages_text(m), stderr);
    *status = heddle_module_unreadable(m) ? EXIT_USAGE : EXIT_INPUT;
    heddle_module_free(m);
    return NULL;
}

int finish_output(const char *command, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "heddle %s: cannot write the output: %s\n", command, strerror(errno));
    return EXIT_USAGE;
}
