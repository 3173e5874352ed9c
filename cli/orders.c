/* heddle orders [NAME]: prints the memory orders and their options. */
#include "cli/command.h"

#include "heddle.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "orders";

static const struct command_option options[] = {
    {.name = "format",
     .argument = "text|json",
     .standard = "text",
     .help = "json: one document.",
     .id = 'f'},
};

static void print_order(size_t i)
{
    const struct heddle_order o = heddle_order(i);
    printf("%-10s  %s\n", o.name, o.what);
    for (size_t k = 0; k < o.option_count; k++) {
        const struct heddle_order_option p = heddle_order_option(i, k);
        printf("  :%s=%s  (%s)\n      %s\n", p.name, p.preset, p.values, p.what);
    }
}

static json_t *order_json(size_t i)
{
    const struct heddle_order o = heddle_order(i);
    json_t *list = json_array();
    for (size_t k = 0; k < o.option_count; k++) {
        const struct heddle_order_option p = heddle_order_option(i, k);
        json_array_append_new(list, json_pack("{ss, ss, ss, ss}", "name", p.name, "preset",
                                              p.preset, "values", p.values, "what", p.what));
    }
    return json_pack("{ss, ss, so}", "name", o.name, "what", o.what, "options", list);
}

static int orders(int argc, char **argv)
{
    bool json = false;
    struct words w = {.command = &command_orders, .argc = argc, .argv = argv};
    for (int id; (id = words_next(&w));) {
        if (id == 'f' && !option_format(command, w.value, &json)) return EXIT_USAGE;
    }
    if (w.wrong) return EXIT_USAGE;
    const char *name = w.operands ? argv[1] : NULL;
    if (w.operands > 1) return usage_error(command, "one NAME at most");
    json_t *list = json_array();
    size_t shown = 0;
    for (size_t i = 0; i < heddle_order_count(); i++) {
        if (name && strcmp(name, heddle_order(i).name) != 0) continue;
        if (json) json_array_append_new(list, order_json(i));
        else print_order(i);
        shown++;
    }
    if (json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(list);
    if (!shown) {
        char *why = heddle_order_check(name); /* NULL: it has options, too */
        const int status = usage_error(command, "%s", why ? why : "NAME is without options");
        free(why);
        return status;
    }
    return finish_output(command, EXIT_FINE);
}

const struct command command_orders = {
    .name = "orders",
    .summary = "list the memory orders and their options",
    .usage = "orders [options] [NAME]",
    .description =
        "Each memory order (with NAME: only that one) with its options, their defaults and "
        "values. On the "
        "command line, options follow the name, each behind a colon: "
        "random:strategy=pct:late-stores=off.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n  2  a wrong call",
    .run = orders,
};
