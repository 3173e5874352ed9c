#include "cli/command.h"
#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "ptx check";

static const struct command_option options[] = {
    {.name = "format",
     .argument = "text|json",
     .standard = "text",
     .help = "json: one document with all messages, on standard output.",
     .id = 'f'},
    {.name = "max-errors",
     .argument = "N",
     .standard = "50",
     .help = "Errors reported for one file. 0: all.",
     .id = 'm'},
    {.name = "link",
     .help = "The FILEs are one program (nvcc -rdc): also resolve names between them, and report "
             "what is missing or "
             "does not fit together.",
     .id = 'l'},
    {.name = "simt-deadlock",
     .help = "Also warn of loops in which lanes of a warp may wait for each other for ever: a spin "
             "lock whose release is behind the loop. GPUs before Volta, and --divergence=stack, "
             "hang there. Such a warning does not change the exit status.",
     .id = 's'},
    {.name = "quiet", .help = "Print no summary.", .id = 'q'},
};

static json_t *messages_json(struct heddle_module *m)
{
    static const char *const severity[] = {"error", "warning", "note"};
    json_t *list = json_array();
    for (size_t i = 0; i < heddle_module_message_count(m); i++) {
        struct heddle_message g = heddle_module_message(m, i);
        json_array_append_new(list,
                              json_pack("{ss, si, si, si, so}", "severity", severity[g.severity],
                                        "line", (int)g.line, "column", (int)g.column, "length",
                                        (int)g.length, "text", json_text(g.text)));
    }
    return list;
}

static json_t *module_json(struct heddle_module *m)
{
    return json_pack("{so, sb, si, si, so}", "file", json_text(heddle_module_name(m)), "ok",
                     heddle_module_ok(m), "errors", (int)heddle_module_error_count(m), "warnings",
                     (int)heddle_module_warning_count(m), "messages", messages_json(m));
}

static int ptx_check(int argc, char **argv)
{
    bool json = false, link = false, quiet = false, deadlock = false;
    unsigned long max_errors = 50;
    struct words w = {.command = &command_ptx_check, .argc = argc, .argv = argv};
    for (int id; (id = words_next(&w));) {
        switch (id) {
        case 'f':
            if (!option_format(command, w.value, &json)) return EXIT_USAGE;
            break;
        case 'm':
            if (!option_number(command, "--max-errors", w.value, 1000000000, &max_errors))
                return EXIT_USAGE;
            break;
        case 'l': link = true; break;
        case 's': deadlock = true; break;
        case 'q': quiet = true; break;
        }
    }
    if (w.wrong) return EXIT_USAGE;
    argv++;
    argc = w.operands;
    if (argc == 0) return usage_error(command, "which FILE?");
    struct heddle_options how = {.max_errors = (unsigned)max_errors, .simt_deadlock = deadlock};
    struct heddle_module **modules = calloc((size_t)argc, sizeof *modules);
    int status = EXIT_FINE;
    unsigned long errors = 0, warnings = 0;
    for (int i = 0; i < argc; i++) {
        modules[i] = heddle_module_read_file(argv[i], &how);
        if (!heddle_module_ok(modules[i]) && status < EXIT_INPUT) status = EXIT_INPUT;
        if (heddle_module_unreadable(modules[i])) status = EXIT_USAGE;
    }
    if (link && status == EXIT_FINE) {
        struct heddle_program *p = heddle_program_link(modules, (size_t)argc);
        if (!heddle_program_ok(p)) status = EXIT_INPUT;
        heddle_program_free(p);
    }
    json_t *files = json_array();
    for (int i = 0; i < argc; i++) {
        errors += heddle_module_error_count(modules[i]);
        warnings += heddle_module_warning_count(modules[i]);
        if (json) json_array_append_new(files, module_json(modules[i]));
        else fputs(heddle_module_messages_text(modules[i]), stderr);
        heddle_module_free(modules[i]);
    }
    free(modules);
    if (json) {
        json_t *all = json_pack("{si, sO}", "version", 1, "files", files);
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(all);
    } else if (!quiet) {
        printf("%d file%s, %lu error%s, %lu warning%s\n", argc, argc == 1 ? "" : "s", errors,
               errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
    }
    json_decref(files);
    return finish_output(command, status);
}

const struct command command_ptx_check = {
    .name = "ptx check",
    .summary = "report errors in PTX files",
    .usage = "ptx check [options] FILE...",
    .description =
        "Reads every function of every FILE ('-': standard input) and reports errors as a "
        "compiler does, "
        "with line, column and a caret.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  no errors\n  1  errors\n  2  a wrong call, or a file that cannot be read",
    .run = ptx_check,
};
