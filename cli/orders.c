/* heddle orders [NAME]: the memory orders and their options. */
#include "cli/cli.h"

#include "heddle.h"

#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const command = "orders";

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

int cmd_orders(int argc, char **argv)
{
    static const struct option options[] = {{"format", required_argument, NULL, 'f'},
                                            {NULL, 0, NULL, 0}};
    bool json = false;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'f' && !option_format(command, optarg, &json)) return EXIT_USAGE;
        if (c == '?') return bad_option(command, argv[optind - 1], "--format");
    }
    const char *name = optind < argc ? argv[optind] : NULL;
    if (argc - optind > 1) return usage_error(command, "one NAME at most");
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
