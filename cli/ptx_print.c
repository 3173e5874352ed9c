#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "ptx print";

static const struct command_option options[] = {
    {.name = "verify",
     .help = "Print nothing; read the printed text again and compare. Takes several FILEs.",
     .id = 'v'},
};

static int verify(struct heddle_module *m, const char *text)
{
    struct heddle_module *again = heddle_module_read("printed text", text, strlen(text), NULL);
    int status = EXIT_FINE;
    if (!heddle_module_ok(again)) {
        fputs(heddle_module_messages_text(again), stderr);
        status = EXIT_INPUT;
    } else {
        const char *difference = heddle_module_difference(m, again);
        if (difference) {
            fprintf(stderr, "%s: the printed text differs: %s\n", heddle_module_name(m),
                    difference);
            status = EXIT_INPUT;
        }
    }
    heddle_module_free(again);
    return status;
}

static int ptx_print(int argc, char **argv)
{
    bool check = false;
    struct words w = {.command = &command_ptx_print, .argc = argc, .argv = argv};
    while (words_next(&w)) check = true; /* it has one option */
    if (w.wrong) return EXIT_USAGE;
    argv++;
    argc = w.operands;
    if (argc == 0 || (argc > 1 && !check)) return usage_error(command, "which FILE? (one)");
    int status = EXIT_FINE;
    for (int i = 0; i < argc; i++) {
        int one = EXIT_FINE;
        struct heddle_module *m = load_module(argv[i], &one);
        if (m) {
            char *text = heddle_module_print(m);
            if (check) one = verify(m, text);
            else fputs(text, stdout);
            free(text);
            heddle_module_free(m);
        }
        if (one > status) status = one;
    }
    return finish_output(command, status);
}

const struct command command_ptx_print = {
    .name = "ptx print",
    .summary = "print a module as normalised PTX",
    .usage = "ptx print FILE\nptx print --verify FILE...",
    .description =
        "Prints text that reads back to an equal module: without comments, constant expressions "
        "computed, "
        "one declaration a line.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n  1  the file has errors, or the text read back differs\n"
                   "  2  a wrong call, or a file that cannot be read",
    .run = ptx_print,
};
