#include "cli/cli.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char *const command = "ptx print";

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

int cmd_ptx_print(int argc, char **argv)
{
    static const struct option options[] = {{"verify", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
    bool check = false;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c != 'v') return bad_option(command, argv[optind - 1], "--verify");
        check = true;
    }
    argv += optind;
    argc -= optind;
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
