/* Reads the words of a command line: options and their values, and errors in them. */
#include "cli/command.h"
#include "cli/terminal.h"

#include "base/text.h"
#include "session/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int usage_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heddle %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'heddle %s --help'.\n", command);
    va_end(args);
    return EXIT_USAGE;
}

const char *option_value(char **argv, int *i, const char *name)
{
    const size_t n = strlen(name);
    if (!argv[*i] || strncmp(argv[*i], name, n) != 0) return NULL;
    if (argv[*i][n] == '=') return argv[*i] + n + 1;
    const char *next = argv[*i][n] ? NULL : argv[*i + 1];
    if (next) ++*i;
    return next;
}

/* NULL: the command has none of this name. */
static const struct command_option *find(const struct command *c, const char *name, size_t length)
{
    for (size_t i = 0; i < c->option_count; i++) {
        const char *own = c->options[i].name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) return &c->options[i];
    }
    return NULL;
}

struct command_option command_option_full(const struct command_option *o)
{
    struct command_option full = *o;
    const struct setting *s = o->help ? NULL : setting_find(o->name, strlen(o->name));
    if (!s) return full;
    full.argument = s->argument;
    full.standard = s->standard;
    full.help = s->help;
    return full;
}

/* Whether the word is an option whose value is the next word. */
static bool takes_next(const struct command *c, const char *word)
{
    if (strncmp(word, "--", 2) != 0 || strchr(word, '=')) return false;
    const struct command_option *o = find(c, word + 2, strlen(word + 2));
    if (!o && c->also) return takes_next(c->also, word);
    return o && command_option_full(o).argument;
}

bool words_want_help(const struct command *c, int argc, char **argv)
{
    const struct command *base = c->also ? c->also : c;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--") == 0) return false;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return true;
        if (base->is_program && *word != '-' && base->is_program(word)) return false;
        if (takes_next(c, word)) i++;
    }
    return false;
}

bool words_take_colour(const struct command *c, int *argc, char **argv)
{
    const struct command *base = c->also ? c->also : c;
    int kept = 1;
    bool before = find(c, "color", 5); /* the words of a program are its own */
    for (int i = 1; i < *argc; i++) {
        const char *value = before ? option_value(argv, &i, "--color") : NULL;
        if (value) {
            if (terminal_colour_option(value)) continue;
            (void)usage_error(c->name, "--color is auto, always or never, not '%s'", value);
            return false;
        }
        if (strcmp(argv[i], "--") == 0 ||
            (base->is_program && *argv[i] != '-' && base->is_program(argv[i])))
            before = false;
        if (before && takes_next(c, argv[i]) && i + 1 < *argc) argv[kept++] = argv[i++];
        argv[kept++] = argv[i];
    }
    argv[ *argc = kept] = NULL;
    return true;
}

int bad_option(const struct command *c, const char *word)
{
    const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : word;
    struct text_nearest near = {.text = name, .length = strcspn(name, "=")};
    if (name != word && find(c, name, near.length))
        return usage_error(c->name,
                           name[near.length] ? "--%.*s takes no value" : "--%.*s wants a value",
                           (int)near.length, name);
    for (size_t i = 0; i < c->option_count; i++) text_nearest_try(&near, c->options[i].name);
    return usage_error(c->name, "unknown option '%s'%s%s%s", word,
                       near.best ? "; did you mean '--" : "", near.best ? near.best : "",
                       near.best ? "'?" : "");
}

/* An option at argv[at]; its id, 0 after a message. */
static int take(struct words *w)
{
    const char *word = w->argv[w->at];
    const bool is_short = strcmp(word, "-o") == 0; /* --output; no other option has a short name */
    const char *name = is_short ? "output" : word + 2;
    const size_t length = strcspn(name, "=");
    const struct command_option *o = is_short || word[1] == '-' ? find(w->command, name, length)
                                                                : NULL;
    const bool wants = o && command_option_full(o).argument;
    w->value = NULL;
    if (o && wants && name[length]) w->value = name + length + 1;
    else if (o && wants && w->at + 1 < w->argc) w->value = w->argv[++w->at];
    w->at++;
    if (o && (wants ? w->value != NULL : !name[length])) return o->id;
    w->wrong = true;
    bad_option(w->command, word);
    return 0;
}

int words_next(struct words *w)
{
    if (!w->at) w->at = 1;
    while (w->at < w->argc) {
        char *word = w->argv[w->at];
        if (strcmp(word, "--") == 0) {
            for (w->at++; w->at < w->argc; w->at++) w->argv[++w->operands] = w->argv[w->at];
            return 0;
        }
        if (word[0] == '-' && word[1]) return take(w);
        w->argv[++w->operands] = word;
        w->at++;
    }
    return 0;
}

bool option_number(const char *command, const char *option, const char *text, unsigned long most,
                   unsigned long *out)
{
    char *end;
    errno = 0;
    *out = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *out <= most) return true;
    usage_error(command, "%s wants a number from 0 to %lu, not '%s'", option, most, text);
    return false;
}

bool option_format(const char *command, const char *text, bool *json)
{
    *json = strcmp(text, "json") == 0;
    if (*json || strcmp(text, "text") == 0) return true;
    usage_error(command, "--format is text or json, not '%s'", text);
    return false;
}
