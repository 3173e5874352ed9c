/* Generates docs/reference.md: all commands, options and environment variables. */
#include "cli/command.h"

#include "base/buf.h"
#include "session/settings.h"

#include <string.h>

static void code_end(struct buf *out, bool *code)
{
    if (*code) buf_puts(out, "```\n");
    *code = false;
}

/* `<` would begin a tag, `*` emphasis. */
static void escape(struct buf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr("<*", text[i])) buf_putc(out, '\\');
        buf_putc(out, text[i]);
    }
}

/* Further paragraphs stand at `indent`. */
static void paragraphs(struct buf *out, const char *text, const struct command_option *o,
                       const char *indent)
{
    struct help_line l;
    struct buf whole = {0};
    bool code = false;
    for (bool first = true; help_next_line(&text, &l); first = false) {
        if (!l.verbatim && code) buf_puts(out, indent);
        if (!l.verbatim) code_end(out, &code);
        if (l.verbatim && !code) buf_printf(out, "%s%s```\n", first ? "" : "\n", indent);
        else if (!l.verbatim && !first) buf_printf(out, "\n%s", indent);
        code = l.verbatim;
        whole.size = 0;
        buf_add(&whole, l.text + (code ? 2 : 0), l.length - (code ? 2 : 0));
        if (first && o) help_default(o, &whole);
        if (code) buf_printf(out, "%s%.*s", indent, (int)whole.size, whole.data);
        else escape(out, whole.data, whole.size);
        buf_putc(out, '\n');
    }
    if (code) buf_puts(out, indent);
    code_end(out, &code);
    buf_free(&whole);
}

static void command(const struct command *c, struct buf *out)
{
    struct help_line l;
    buf_printf(out, "\n## heddle %s\n\n%c%s.\n\n```\n", c->name, c->summary[0] - 'a' + 'A',
               c->summary + 1);
    for (const char *usage = c->usage; help_next_line(&usage, &l);)
        buf_printf(out, "heddle %.*s\n", (int)l.length, l.text);
    buf_puts(out, "```\n\n");
    paragraphs(out, c->description, NULL, "");
    for (size_t i = 0; i < c->option_count; i++) {
        const struct command_option o = command_option_full(&c->options[i]);
        if (o.section || !i) buf_putc(out, '\n');
        if (o.section) buf_printf(out, "%s:\n\n", o.section);
        buf_printf(out, "* `--%s%s%s`: ", o.name, o.argument ? " " : "",
                   o.argument ? o.argument : "");
        paragraphs(out, o.help, &c->options[i], "  ");
    }
    if (c->exit_status) {
        buf_puts(out, "\nExit status:\n\n");
        paragraphs(out, c->exit_status, NULL, "");
    }
    if (c->examples) {
        buf_puts(out, "\nExamples:\n\n");
        paragraphs(out, c->examples, NULL, "");
    }
}

static void variables(struct buf *out)
{
    const struct setting *s;
    buf_puts(
        out,
        "\n## Environment\n\n"
        "CUDA programs that run on Heddle's libraries read these variables, with `heddle run` or "
        "without. "
        "They take the\nsame values as the options. An option of the command line takes "
        "precedence.\n\n"
        "| Variable | Option | Value | Default |\n|---|---|---|---|\n");
    for (size_t i = 0; (s = setting_at(i)); i++) {
        if (!(s->where & SETTING_VARIABLE)) continue;
        buf_printf(out, "| `%s` | ", s->variable);
        if (s->where & SETTING_OPTION) buf_printf(out, "`--%s` | `", s->name);
        else buf_printf(out, "none: %s | `", s->help);
        for (const char *p = s->argument; *p; p++)
            buf_puts(out, *p == '|' ? "\\|" : (char[]){*p, 0});
        buf_printf(out, "` | %s |\n", s->standard ? s->standard : "not set");
    }
    buf_puts(out, "\n`heddle run FILE.cu` also reads:\n\n");
    for (const struct help_variable *v = help_variables; v->name; v++) {
        buf_printf(out, "* `%s`: ", v->name);
        escape(out, v->help, strlen(v->help));
        buf_putc(out, '\n');
    }
    buf_puts(out,
             "\nIn a job file (job-files.md), `options` has these keys, with the same values:");
    const char *between = " ";
    for (size_t i = 0; (s = setting_at(i)); i++)
        if (s->where & SETTING_JOB) {
            buf_printf(out, "%s`%s`", between, s->name);
            between = ", ";
        }
    buf_puts(out, ".\n");
}

void help_reference(struct buf *out)
{
    const struct command *c;
    buf_puts(
        out,
        "# Commands, options and variables\n\n"
        "<!-- Made by `make man` from the tables of the commands (cli/, session/settings.def): "
        "do not edit. -->\n\n"
        "The same texts are printed by `heddle COMMAND --help`, and stand in the manual pages "
        "`heddle(1)`, "
        "`heddle-run(1)` and so on.\nA text in brackets, as [HEDDLE_MEMORY], names the variable "
        "of the "
        "[environment](#environment) that says the same.\n\n"
        "| Command | |\n|---|---|\n");
    for (size_t i = 0; (c = command_at(i)); i++) {
        buf_printf(out, "| [heddle %s](#heddle-", c->name);
        for (const char *p = c->name; *p; p++) buf_putc(out, *p == ' ' ? '-' : *p);
        buf_printf(out, ") | %s |\n", c->summary);
    }
    for (size_t i = 0; (c = command_at(i)); i++) command(c, out);
    variables(out);
}
