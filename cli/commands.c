/* The list of commands. */
#include "cli/command.h"

#include "base/text.h"

#include <string.h>

static const struct command *const commands[] = {
    &command_run,         &command_check,        &command_estimate,      &command_compare,
    &command_report,      &command_advise,       &command_communication, &command_sweep,
    &command_sweep_query, &command_sweep_report, &command_reproduce,     &command_trace_record,
    &command_trace_info,  &command_trace_check,  &command_trace_dump,    &command_trace_convert,
    &command_suite_list,  &command_suite_run,    &command_ptx_check,     &command_ptx_print,
    &command_ptx_stats,   &command_ptx_cfg,      &command_bench,         &command_isa,
    &command_orders,      &command_area,         &command_gpus,          &command_measure,
    &command_calibrate,
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

const struct command *command_at(size_t i)
{
    return i < COMMAND_COUNT ? commands[i] : NULL;
}

/* The length of the name's first word. */
static size_t first_word(const struct command *c)
{
    return strcspn(c->name, " ");
}

static bool begins(const struct command *c, const char *name)
{
    return strlen(name) == first_word(c) && strncmp(c->name, name, first_word(c)) == 0;
}

/* A name of two words comes before its first word alone: "sweep query" before "sweep". */
const struct command *command_find(const char *name, const char *word)
{
    const struct command *alone = NULL;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (!begins(commands[i], name)) continue;
        const char *second = commands[i]->name + first_word(commands[i]);
        if (!*second) alone = commands[i];
        else if (word && strcmp(word, second + 1) == 0) return commands[i];
    }
    return alone;
}

bool command_is_family(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (begins(commands[i], name) && commands[i]->name[first_word(commands[i])]) return true;
    return false;
}

int command_unknown(const char *name, const char *word)
{
    char given[80];
    const bool both = word && command_is_family(name);
    snprintf(given, sizeof given, "%s%s%s", name, both ? " " : "", both ? word : "");
    struct text_nearest near = {.text = given, .length = strlen(given)};
    for (size_t i = 0; i < COMMAND_COUNT; i++) text_nearest_try(&near, commands[i]->name);
    fprintf(stderr, "heddle: there is no command '%s'", given);
    if (near.best) fprintf(stderr, "; did you mean '%s'?", near.best);
    fprintf(stderr, "\nTry 'heddle --help'.\n");
    return EXIT_USAGE;
}
