#include "cli/command.h"

#include "base/text.h"

#include <jansson.h>
#include <string.h>

static const char command[] = "isa";

static const struct command_option options[] = {
    {.name = "format",
     .argument = "text|json",
     .standard = "text",
     .help = "json: one document.",
     .id = 'f'},
    {.name = "refused", .help = "Only forms that are refused, each with the reason.", .id = 'r'},
    {.name = "inexact",
     .help = "Only forms whose result PTX leaves to the hardware, each with the bound.",
     .id = 'i'},
    {.name = "support",
     .help = "A line for each form, with tabs: form, operands, PTX version, target, status "
             "(executed, approximate or refused), and how it is tested.",
     .id = 's'},
};

/* "mul" chooses mul, mul.lo, mul.wide ..., not mul24. */
static bool chosen(const struct heddle_form *f, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return !name || (strncmp(f->name, name, n) == 0 && (f->name[n] == '\0' || f->name[n] == '.'));
}

static void print_form(const struct heddle_form *f)
{
    char version[16], target[80] = "any";
    snprintf(version, sizeof version, "%d.%d", f->since / 10, f->since % 10);
    if (f->target[0]) snprintf(target, sizeof target, "sm_%s", f->target);
    printf("%s%s\n    operands %s\n    PTX %s  target %s  %s  %s%s\n", f->name, f->modifiers,
           f->operands[0] ? f->operands : "none", version, target, f->unit,
           f->refused ? "refused: " : "accepted", f->refused ? f->refused : "");
    if (f->inexact) printf("    PTX allows: %s\n", f->inexact);
}

/* Forms of which PTX leaves the result open are approximate. The tests fail if they execute an accepted form nowhere
 * (tests/support/executed_forms.h), or read a row of the table nowhere (tests/unit/isa.c). */
static void print_support(const struct heddle_form *f)
{
    printf("%s%s\t%s\t%d.%d\t%s%s\t%s\t%s\n", f->name, f->modifiers, f->operands, f->since / 10,
           f->since % 10, f->target[0] ? "sm_" : "any", f->target,
           f->refused   ? "refused"
           : f->inexact ? "approximate"
                        : "executed",
           f->refused ? "read and checked" : "read, checked and executed");
}

/* No form was shown of what is called so. */
static int none(const char *name, bool refused, bool inexact)
{
    struct text_nearest near = {.text = name, .length = strlen(name)};
    bool known = false;
    for (size_t i = 0; i < heddle_form_count(); i++) {
        const struct heddle_form f = heddle_form(i);
        known |= chosen(&f, name);
        text_nearest_try(&near, f.name);
    }
    if (known)
        fprintf(stderr, "heddle isa: no form of '%s' is %s\n", name,
                refused && inexact ? "refused and inexact"
                : refused          ? "refused"
                                   : "inexact");
    else
        fprintf(stderr, "heddle isa: no instruction is called '%s'%s%s%s\n", name,
                near.best ? "; did you mean '" : "", near.best ? near.best : "",
                near.best ? "'?" : "");
    return known ? EXIT_FINE : EXIT_INPUT;
}

static int isa(int argc, char **argv)
{
    bool json = false, refused = false, inexact = false, support = false;
    struct words w = {.command = &command_isa, .argc = argc, .argv = argv};
    for (int id; (id = words_next(&w));) {
        if (id == 'f' && !option_format(command, w.value, &json)) return EXIT_USAGE;
        if (id == 'r') refused = true;
        if (id == 'i') inexact = true;
        if (id == 's') support = true;
    }
    if (w.wrong) return EXIT_USAGE;
    argv++;
    argc = w.operands;
    if (argc > 1) return usage_error(command, "one NAME at most");
    if (json && support) return usage_error(command, "--support is a format of its own");
    const char *name = argc ? argv[0] : NULL;
    if (support) puts("form\toperands\tsince\ttarget\tstatus\ttested");
    json_t *list = json_array();
    size_t shown = 0, rejected = 0;
    for (size_t i = 0; i < heddle_form_count(); i++) {
        struct heddle_form f = heddle_form(i);
        if (!chosen(&f, name) || (refused && !f.refused) || (inexact && !f.inexact)) continue;
        shown++;
        rejected += f.refused != NULL;
        if (json)
            json_array_append_new(list,
                                  json_pack("{ss, ss, ss, si, ss, ss, ss?, ss?}", "name", f.name,
                                            "modifiers", f.modifiers, "operands", f.operands,
                                            "since", f.since, "target", f.target, "unit", f.unit,
                                            "refused", f.refused, "inexact", f.inexact));
        else if (support) print_support(&f);
        else print_form(&f);
    }
    if (json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (shown && !support) {
        printf("%zu forms, %zu accepted, %zu refused\n", shown, shown - rejected, rejected);
    }
    json_decref(list);
    if (!shown && name) return none(name, refused, inexact);
    return finish_output(command, EXIT_FINE);
}

const struct command command_isa = {
    .name = "isa",
    .summary = "list the PTX instructions that are executed or refused",
    .usage = "isa [options] [NAME]",
    .description =
        "The coverage table: every form of every PTX instruction with its modifiers and types, "
        "the PTX "
        "version and target that it needs, and whether Heddle executes it (accepted) or refuses "
        "it by name. "
        "Both kinds are read and checked. With NAME, only the forms of that instruction ('heddle "
        "isa mma').",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n  1  there is no instruction NAME\n  2  a wrong call",
    .run = isa,
};
