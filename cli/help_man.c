/* Generates the manual pages, in the language of man(7): heddle(1), and one for each command. */
#include "cli/command.h"

#include "base/buf.h"
#include "session/settings.h"

#include <string.h>

/* Text that roff shall print as it stands. */
static void escape(struct buf *out, const char *text, size_t length)
{
    if (length && (*text == '.' || *text == '\'')) buf_puts(out, "\\&");
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\\') buf_puts(out, "\\e");
        else if (text[i] == '-') buf_puts(out, "\\-");
        else if (text[i] == '\'') buf_puts(out, "\\(aq");
        else if (text[i] == '^') buf_puts(out, "\\(ha");
        else if (text[i] == '~') buf_puts(out, "\\(ti");
        else buf_putc(out, text[i]);
}

static void line(struct buf *out, const char *text)
{
    escape(out, text, strlen(text));
    buf_putc(out, '\n');
}

/* Paragraphs; `between` is the request in front of each but the first. */
static void paragraphs(struct buf *out, const char *text, const struct command_option *o,
                       const char *between)
{
    struct help_line l;
    struct buf whole = {0};
    bool verbatim = false;
    for (bool first = true; help_next_line(&text, &l); first = false) {
        if (l.verbatim != verbatim) buf_puts(out, l.verbatim ? ".nf\n" : ".fi\n");
        else if (!first && !verbatim) buf_printf(out, "%s\n", between);
        verbatim = l.verbatim;
        whole.size = 0;
        buf_add(&whole, l.text, l.length);
        if (first && o) help_default(o, &whole);
        escape(out, whole.data, whole.size);
        buf_putc(out, '\n');
    }
    if (verbatim) buf_puts(out, ".fi\n");
    buf_free(&whole);
}

static void variable(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, ".TP\n.B %s\n", name);
    line(out, help);
}

static void variables(struct buf *out)
{
    const struct setting *s;
    buf_puts(
        out,
        ".SH ENVIRONMENT\nThe variables HEDDLE_... are read by CUDA programs that run on Heddle's "
        "libraries. An option of the command line takes precedence.\n");
    for (size_t i = 0; (s = setting_at(i)); i++) {
        buf_printf(out, ".TP\n.B %s\n", s->variable);
        if (s->where & SETTING_OPTION) {
            buf_puts(out, "As \\fB\\-\\-");
            escape(out, s->name, strlen(s->name));
            buf_puts(out, "\\fR.\n");
        } else line(out, s->help);
    }
    for (const struct help_variable *v = help_variables; v->name; v++)
        variable(out, v->name, v->help);
}

/* "heddle\-ptx\-check" */
static void title(struct buf *out, const struct command *c)
{
    buf_puts(out, "heddle");
    if (c) buf_puts(out, "\\-");
    for (const char *p = c ? c->name : ""; *p; p++)
        if (*p == ' ' || *p == '-') buf_puts(out, "\\-");
        else buf_putc(out, *p);
}

static void see_also(struct buf *out, const struct command *but)
{
    const struct command *c;
    buf_puts(out, ".SH SEE ALSO\n");
    if (but) buf_puts(out, ".BR heddle (1)");
    for (size_t i = 0; (c = command_at(i)); i++) {
        if (c == but) continue;
        buf_puts(out, i || but ? ",\n.BR " : ".BR ");
        title(out, c);
        buf_puts(out, " (1)");
    }
    buf_putc(out, '\n');
}

static void head(struct buf *out, const struct command *c, const char *summary)
{
    buf_puts(out, ".\\\" Made by 'make man' from the tables of the commands (cli/, "
                  "session/settings.def).\n.TH ");
    title(out, c);
    buf_printf(out, " 1 \"\" \"Heddle %s\" \"Heddle\"\n.SH NAME\n", heddle_version());
    title(out, c);
    buf_puts(out, " \\- ");
    line(out, summary);
}

static void overview(struct buf *out)
{
    const struct command *c;
    head(out, NULL, "run CUDA programs and PTX kernels without a GPU");
    buf_puts(out, ".SH SYNOPSIS\n.B heddle\n.I COMMAND\n[\\fIoptions\\fR] ...\n.SH DESCRIPTION\n");
    line(out,
         "Heddle runs CUDA programs and PTX kernels without a GPU. It finds memory errors, data "
         "races and "
         "nondeterminism, and estimates how many cycles kernels take on a GPU.");
    buf_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; (c = command_at(i)); i++) {
        buf_printf(out, ".TP\n.B heddle %s\n", c->name);
        line(out, c->summary);
    }
    buf_puts(out, ".TP\n.B heddle help \\fICOMMAND\\fR\nhow to use a command\n");
    variables(out);
    see_also(out, NULL);
}

static void options(struct buf *out, const struct command *c)
{
    if (c->option_count) buf_puts(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < c->option_count; i++) {
        const struct command_option o = command_option_full(&c->options[i]);
        if (o.section) {
            buf_puts(out, ".SS ");
            line(out, o.section);
        }
        buf_puts(out, ".TP\n\\fB\\-\\-");
        escape(out, o.name, strlen(o.name));
        buf_puts(out, "\\fR");
        if (o.argument) {
            buf_puts(out, " \\fI");
            escape(out, o.argument, strlen(o.argument));
            buf_puts(out, "\\fR");
        }
        buf_putc(out, '\n');
        paragraphs(out, o.help, &c->options[i], ".IP");
    }
}

void help_man(const struct command *c, struct buf *out)
{
    struct help_line l;
    if (!c) {
        overview(out);
        return;
    }
    head(out, c, c->summary);
    buf_puts(out, ".SH SYNOPSIS\n.nf\n");
    for (const char *usage = c->usage; help_next_line(&usage, &l);) {
        buf_puts(out, "heddle ");
        escape(out, l.text, l.length);
        buf_putc(out, '\n');
    }
    buf_puts(out, ".fi\n.SH DESCRIPTION\n");
    paragraphs(out, c->description, NULL, ".PP");
    options(out, c);
    if (c->exit_status) {
        buf_puts(out, ".SH EXIT STATUS\n");
        paragraphs(out, c->exit_status, NULL, ".PP");
    }
    if (c == &command_run) variables(out);
    if (c->examples) {
        buf_puts(out, ".SH EXAMPLES\n");
        paragraphs(out, c->examples, NULL, ".PP");
    }
    see_also(out, c);
}
