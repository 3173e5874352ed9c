#include "cli/command.h"
#include "cli/json.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = "ptx stats";

static const struct command_option options[] = {
    {.name = "format",
     .argument = "text|json",
     .standard = "text",
     .help = "json: one document.",
     .id = 'f'},
};

static json_t *function_json(const struct heddle_function *f)
{
    json_t *units = json_object();
    for (size_t u = 0; u < HEDDLE_UNIT_COUNT; u++)
        if (f->by_unit[u])
            json_object_set_new(units, heddle_unit_name(u),
                                json_integer((json_int_t)f->by_unit[u]));
    json_t *o = json_pack("{ss, ss, sb, si, so}", "name", f->name, "kind",
                          f->is_kernel ? "kernel" : "function", "defined", f->is_defined, "line",
                          (int)f->line, "by_unit", units);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"instructions", f->instructions},
                   {"registers", f->registers},
                   {"pressure", f->pressure},
                   {"predicates", f->predicates},
                   {"shared_bytes", f->shared_bytes},
                   {"local_bytes", f->local_bytes},
                   {"param_bytes", f->param_bytes},
                   {"blocks", f->blocks},
                   {"loops", f->loops},
                   {"loop_depth", f->loop_depth},
                   {"branches", f->branches},
                   {"divergent_branches", f->divergent_branches},
                   {"calls", f->calls},
                   {"barriers", f->barriers},
                   {"atomics", f->atomics},
                   {"dead_atomics", f->dead_atomics},
                   {"refused", f->refused}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(o, numbers[i].key, json_integer((json_int_t)numbers[i].value));
    return o;
}

static json_t *module_json(struct heddle_module *m)
{
    json_t *functions = json_array(), *variables = json_array();
    for (size_t i = 0; i < heddle_module_function_count(m); i++) {
        struct heddle_function f = heddle_module_function(m, i);
        json_array_append_new(functions, function_json(&f));
    }
    for (size_t i = 0; i < heddle_module_variable_count(m); i++) {
        struct heddle_variable v = heddle_module_variable(m, i);
        json_array_append_new(
            variables, json_pack("{ss, ss, sI, sI, sb, sb}", "name", v.name, "space", v.space,
                                 "size", (json_int_t)v.size, "align", (json_int_t)v.align, "extern",
                                 v.is_extern, "initialised", v.has_initial_value));
    }
    return json_pack("{so, ss, ss, si, so, so}", "file", json_text(heddle_module_name(m)), "ptx",
                     (char[]){(char)('0' + heddle_module_ptx_version(m) / 10), '.',
                              (char)('0' + heddle_module_ptx_version(m) % 10), '\0'},
                     "target", heddle_module_target(m), "address_size",
                     heddle_module_address_size(m), "functions", functions, "variables", variables);
}

/* "memory 12  integer 30 ...", the largest classes first. */
static void print_units(const struct heddle_function *f)
{
    bool done[HEDDLE_UNIT_COUNT] = {false};
    for (;;) {
        size_t best = HEDDLE_UNIT_COUNT;
        for (size_t u = 0; u < HEDDLE_UNIT_COUNT; u++)
            if (!done[u] && f->by_unit[u] &&
                (best == HEDDLE_UNIT_COUNT || f->by_unit[u] > f->by_unit[best]))
                best = u;
        if (best == HEDDLE_UNIT_COUNT) break;
        done[best] = true;
        printf("  %s %" PRIu64, heddle_unit_name(best), f->by_unit[best]);
    }
    putchar('\n');
}

static void print_function(const struct heddle_function *f)
{
    printf("%s %s (line %u)\n", f->is_kernel ? "kernel" : "function", f->name, f->line);
    if (!f->is_defined) {
        printf("    declared, defined elsewhere\n");
        return;
    }
    printf("    instructions %-6" PRIu64 " registers ~%-4u blocks %-5" PRIu64 " loops %" PRIu64,
           f->instructions, f->registers, f->blocks, f->loops);
    if (f->loops) printf(" (depth %u)", f->loop_depth);
    printf("\n    shared %" PRIu64 " B  local %" PRIu64 " B", f->shared_bytes, f->local_bytes);
    if (f->is_kernel) printf("  parameters %" PRIu64 " B", f->param_bytes);
    if (f->branches)
        printf("  branches %" PRIu64 " (%" PRIu64 " may diverge)", f->branches,
               f->divergent_branches);
    if (f->calls) printf("  calls %" PRIu64, f->calls);
    if (f->barriers) printf("  barriers %" PRIu64, f->barriers);
    if (f->atomics)
        printf("  atomics %" PRIu64 " (%" PRIu64 " reductions)", f->atomics, f->dead_atomics);
    if (f->refused) printf("  refused %" PRIu64, f->refused);
    printf("\n  ");
    print_units(f);
}

static void print_module(struct heddle_module *m)
{
    printf("%s: PTX %d.%d, %s, %d-bit addresses\n", heddle_module_name(m),
           heddle_module_ptx_version(m) / 10, heddle_module_ptx_version(m) % 10,
           heddle_module_target(m), heddle_module_address_size(m));
    uint64_t bytes[3] = {0};
    static const char *const spaces[3] = {"global", "const", "shared"};
    for (size_t i = 0; i < heddle_module_variable_count(m); i++) {
        struct heddle_variable v = heddle_module_variable(m, i);
        for (int k = 0; k < 3; k++)
            if (strcmp(v.space, spaces[k]) == 0) bytes[k] += v.size;
    }
    if (heddle_module_variable_count(m))
        printf("variables: %zu (global %" PRIu64 " B, const %" PRIu64 " B, shared %" PRIu64 " B)\n",
               heddle_module_variable_count(m), bytes[0], bytes[1], bytes[2]);
    for (size_t i = 0; i < heddle_module_function_count(m); i++) {
        struct heddle_function f = heddle_module_function(m, i);
        print_function(&f);
    }
}

static int ptx_stats(int argc, char **argv)
{
    bool json = false;
    struct words w = {.command = &command_ptx_stats, .argc = argc, .argv = argv};
    while (words_next(&w))
        if (!option_format(command, w.value, &json)) return EXIT_USAGE;

    if (w.wrong) return EXIT_USAGE;
    argv++;
    argc = w.operands;
    if (argc == 0) return usage_error(command, "which FILE?");
    json_t *files = json_array();
    int status = EXIT_FINE;
    for (int i = 0; i < argc; i++) {
        int one = EXIT_FINE;
        struct heddle_module *m = load_module(argv[i], &one);
        if (m && json) json_array_append_new(files, module_json(m));
        else if (m) print_module(m);
        heddle_module_free(m);
        if (one > status) status = one;
    }
    if (json && argc == 1 && json_array_size(files) == 1) {
        json_dumpf(json_array_get(files, 0), stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (json) {
        json_dumpf(files, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(files);
    return finish_output(command, status);
}

const struct command command_ptx_stats = {
    .name = "ptx stats",
    .summary = "count instructions, registers, memory, blocks, loops",
    .usage = "ptx stats [--format=text|json] FILE...",
    .description =
        "For each function: instructions by class, an estimate of the registers per thread that "
        "ptxas "
        "would assign, static shared and local memory, basic blocks, loops, calls, barriers and "
        "atomics.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status =
        "  0  success\n  1  a file has errors\n  2  a wrong call, or a file that cannot be read",
    .run = ptx_stats,
};
