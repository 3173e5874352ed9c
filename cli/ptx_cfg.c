#include "cli/cli.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char *const command = "ptx cfg";

int cmd_ptx_cfg(int argc, char **argv)
{
    static const struct option options[] = {{"kernel", required_argument, NULL, 'k'},
                                            {"brief", no_argument, NULL, 'b'},
                                            {NULL, 0, NULL, 0}};
    const char *name = NULL;
    bool brief = false;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'k') name = optarg;
        else if (c == 'b') brief = true;
        else return bad_option(command, argv[optind - 1], "--kernel --brief");
    }
    argv += optind;
    argc -= optind;
    if (argc != 1) return usage_error(command, "which FILE? (one)");
    int status = EXIT_FINE;
    struct heddle_module *m = load_module(argv[0], &status);
    if (!m) return status;
    size_t found = 0, chosen = 0, bodies = 0;
    for (size_t i = 0; i < heddle_module_function_count(m); i++) {
        struct heddle_function f = heddle_module_function(m, i);
        if (!f.is_defined) continue;
        bodies++;
        if (name && strcmp(f.name, name) != 0) continue;
        found++;
        chosen = i;
    }
    if (found != 1) {
        if (name)
            fprintf(stderr, "heddle ptx cfg: %s has no function '%s' with a body\n", argv[0], name);
        else if (!bodies)
            fprintf(stderr, "heddle ptx cfg: %s has no function with a body\n", argv[0]);
        else
            fprintf(stderr, "heddle ptx cfg: %s has %zu functions, choose one with --kernel\n",
                    argv[0], bodies);
        for (size_t i = 0, listed = 0; i < heddle_module_function_count(m) && listed < 20; i++) {
            struct heddle_function f = heddle_module_function(m, i);
            if (!f.is_defined) continue;
            fprintf(stderr, "  %s\n", f.name);
            listed++;
        }
        heddle_module_free(m);
        return EXIT_USAGE;
    }
    char *graph = heddle_function_graph(m, chosen, !brief);
    fputs(graph, stdout);
    free(graph);
    heddle_module_free(m);
    return finish_output(command, status);
}
