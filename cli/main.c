/* The program: finds the command and runs it. */
#include "cli/command.h"

#include "base/buf.h"

#include <string.h>

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

/* Frees the text. */
static int print(struct buf *text, FILE *to, int status)
{
    fputs(text->data, to);
    buf_free(text);
    return finish_output("help", status);
}

static int run_family(int argc, char **argv)
{
    const bool help = argc > 1 && wants_help(2, argv);
    struct buf text = {0};
    if (argc > 1 && !help) return command_unknown(argv[0], argv[1]);
    help_family(argv[0], &text);
    return print(&text, help ? stdout : stderr, help ? EXIT_FINE : EXIT_USAGE);
}

static int dispatch(int argc, char **argv)
{
    const struct command *c = command_find(argv[0], argv[1]);
    if (!c)
        return command_is_family(argv[0]) ? run_family(argc, argv)
                                          : command_unknown(argv[0], argv[1]);
    const int used = strchr(c->name, ' ') != NULL;
    struct buf text = {0};
    int count = argc - used;
    if (!words_want_help(c, count, argv + used))
        return words_take_colour(c, &count, argv + used) ? c->run(count, argv + used) : EXIT_USAGE;
    help_text(c, &text);
    return print(&text, stdout, EXIT_FINE);
}

int main(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "";
    if (strcmp(first, "--version") == 0) {
        printf("heddle %s\n", heddle_version());
        return finish_output("--version", EXIT_FINE);
    }
    if (strcmp(first, "help") == 0) return help_run(argc - 1, argv + 1);
    if (argc > 1 && strcmp(first, "--help") != 0 && strcmp(first, "-h") != 0)
        return dispatch(argc - 1, argv + 1);
    struct buf text = {0};
    help_overview(&text);
    return argc > 1 ? print(&text, stdout, EXIT_FINE) : print(&text, stderr, EXIT_USAGE);
}
