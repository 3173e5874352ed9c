#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "ptx cfg";

static const struct command_option options[] = {
    {.name = "kernel",
     .argument = "NAME",
     .help = "The kernel or function. Needed if the module has several.",
     .id = 'k'},
    {.name = "brief", .help = "Leave out the instructions.", .id = 'b'},
};

static int ptx_cfg(int argc, char **argv)
{
    const char *name = NULL;
    bool brief = false;
    struct words w = {.command = &command_ptx_cfg, .argc = argc, .argv = argv};
    for (int id; (id = words_next(&w));) {
        if (id == 'k') name = w.value;
        else if (id == 'b') brief = true;
    }
    if (w.wrong) return EXIT_USAGE;
    argv++;
    argc = w.operands;
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

const struct command command_ptx_cfg = {
    .name = "ptx cfg",
    .summary = "draw a function's control-flow graph (Graphviz)",
    .usage = "ptx cfg FILE --kernel NAME",
    .description =
        "Prints the control-flow graph for dot(1): basic blocks with their instructions, solid "
        "edges for "
        "jumps, dashed edges to the reconvergence points of a warp. Loop headers are shaded, "
        "branches that "
        "may diverge are red.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status =
        "  0  success\n  1  the file has errors\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle ptx cfg k.ptx --kernel saxpy | dot -Tsvg > k.svg",
    .run = ptx_cfg,
};
