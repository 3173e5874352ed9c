/* heddle help, and `--help`: prints the tables of commands as text for a terminal. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "base/buf.h"
#include "session/settings.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { WIDTH = 98, COLUMN = 26 };

const struct help_variable help_variables[] = {
    {"NVCC",
     "The nvcc that compiles a source FILE.cu. Default: nvcc in PATH, then in CUDA_HOME/bin and "
     "/usr/local/cuda/bin."},
    {"NVCC_APPEND_FLAGS", "More options for that nvcc, which reads them itself."},
    {"TMPDIR", "The folder for programs that are compiled from a source. Default: /tmp."},
    {NULL, NULL},
};

/* ---- pieces of texts ------------------------------------------------------------------------------------- */

bool help_next_line(const char **text, struct help_line *out)
{
    if (!*text || !**text) return false;
    const size_t n = strcspn(*text, "\n");
    *out = (struct help_line){*text, n, n > 1 && strncmp(*text, "  ", 2) == 0};
    *text += n + ((*text)[n] == '\n');
    return true;
}

void help_default(const struct command_option *o, struct buf *out)
{
    const struct setting *s = o->help ? NULL : setting_find(o->name, strlen(o->name));
    const char *standard = command_option_full(o).standard;
    if (standard) buf_printf(out, " (default: %s)", standard);
    if (s && s->where & SETTING_VARIABLE) buf_printf(out, " [%s]", s->variable);
}

/* Words from column `at` on, at `indent` in further lines. */
static void wrap(struct buf *out, const char *text, size_t length, size_t at, size_t indent)
{
    const char *end = text + length;
    bool first = true;
    while (text < end) {
        size_t n = 0;
        while (text + n < end && text[n] != ' ') n++;
        if (!first && at + 1 + n > WIDTH) {
            buf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            buf_putc(out, ' ');
            at++;
        }
        buf_add(out, text, n);
        at += n;
        first = false;
        text += n + (text + n < end);
    }
    buf_putc(out, '\n');
}

static void paragraphs(struct buf *out, const char *text, const char *between)
{
    struct help_line line;
    bool verbatim = false;
    for (bool first = true; help_next_line(&text, &line); first = false) {
        if (!first && !(verbatim && line.verbatim)) buf_puts(out, between);
        verbatim = line.verbatim;
        if (verbatim) buf_printf(out, "%.*s\n", (int)line.length, line.text);
        else wrap(out, line.text, line.length, 0, 0);
    }
}

/* ---- one command ----------------------------------------------------------------------------------------- */

static void option_text(const struct command_option *given, struct buf *out)
{
    const struct command_option o = command_option_full(given);
    struct help_line line;
    struct buf first = {0};
    const size_t begin = out->size;
    buf_printf(out, "  --%s%s%s", o.name, o.argument ? " " : "", o.argument ? o.argument : "");
    if (out->size - begin + 2 > COLUMN) buf_printf(out, "\n%*s", COLUMN, "");
    else buf_printf(out, "%*s", (int)(COLUMN - (out->size - begin)), "");
    const char *text = o.help;
    for (bool more = false; help_next_line(&text, &line); more = true) {
        first.size = 0;
        buf_add(&first, line.text, line.length);
        if (!more) help_default(given, &first);
        if (more) buf_printf(out, "%*s", COLUMN, "");
        if (line.verbatim) buf_printf(out, "%.*s\n", (int)line.length - 2, line.text + 2);
        else wrap(out, first.data, first.size, COLUMN, COLUMN);
    }
    buf_free(&first);
}

static void variables_text(struct buf *out)
{
    const struct setting *s;
    buf_puts(out, "\nVariables of the environment:\n");
    for (size_t i = 0; (s = setting_at(i)); i++)
        if (s->where == SETTING_VARIABLE) {
            buf_printf(out, "  %-*s", COLUMN - 2, s->variable);
            wrap(out, s->help, strlen(s->help), COLUMN, COLUMN);
        }
    for (const struct help_variable *v = help_variables; v->name; v++) {
        buf_printf(out, "  %-*s", COLUMN - 2, v->name);
        wrap(out, v->help, strlen(v->help), COLUMN, COLUMN);
    }
}

void help_text(const struct command *c, struct buf *out)
{
    struct help_line line;
    const char *usage = c->usage;
    for (bool first = true; help_next_line(&usage, &line); first = false)
        buf_printf(out, "%s heddle %.*s\n", first ? "usage:" : "      ", (int)line.length,
                   line.text);
    buf_putc(out, '\n');
    paragraphs(out, c->description, "\n");
    if (c->option_count && !c->options[0].section) buf_putc(out, '\n');
    for (size_t i = 0; i < c->option_count; i++) {
        if (c->options[i].section) buf_printf(out, "\n%s:\n", c->options[i].section);
        option_text(&c->options[i], out);
    }
    if (c == &command_run) variables_text(out);
    if (c->exit_status) {
        buf_puts(out, "\nExit status:\n");
        paragraphs(out, c->exit_status, "");
    }
    if (c->examples) {
        buf_puts(out, "\nExamples:\n");
        paragraphs(out, c->examples, "");
    }
}

/* ---- lists of commands ----------------------------------------------------------------------------------- */

static void list(struct buf *out, const char *family)
{
    const size_t n = family ? strlen(family) : 0;
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)); i++)
        if (!family || (strncmp(c->name, family, n) == 0 && c->name[n] == ' '))
            buf_printf(out, "  heddle %-13s %s\n", c->name, c->summary);
}

void help_overview(struct buf *out)
{
    buf_puts(
        out,
        "usage: heddle COMMAND [options] ...\n"
        "\n"
        "Heddle runs CUDA programs and PTX kernels without a GPU. It finds memory errors, data "
        "races\n"
        "and nondeterminism, and estimates how many cycles kernels take on a GPU.\n"
        "\n");
    list(out, NULL);
    buf_puts(out, "\n"
                  "  heddle help COMMAND      how to use a command (also: heddle COMMAND --help)\n"
                  "  heddle --version\n");
}

void help_family(const char *family, struct buf *out)
{
    buf_printf(out, "usage: heddle %s COMMAND [options] ...\n\n", family);
    list(out, family);
    buf_printf(out, "\n  heddle %s COMMAND --help   how to use a command\n", family);
}

/* ---- heddle help ----------------------------------------------------------------------------------------- */

static bool write_text(const char *folder, const char *name, const struct buf *text)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
    FILE *f = fopen(path, "w");
    if (!f) return false;
    const bool ok = fwrite(text->data, 1, text->size, f) == text->size;
    return fclose(f) == 0 && ok;
}

static bool write_page(const char *folder, const struct command *c)
{
    char name[80];
    struct buf text = {0};
    snprintf(name, sizeof name, "docs/man/heddle%s%s.1", c ? "-" : "", c ? c->name : "");
    for (char *p = name; *p; p++)
        if (*p == ' ') *p = '-';
    help_man(c, &text);
    const bool ok = write_text(folder, name, &text);
    buf_free(&text);
    return ok;
}

static bool make_folder(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* All files that are made from the tables, below a folder. */
static int write_all(const char *folder)
{
    struct buf text = {0};
    bool ok = make_folder(folder, "docs") && make_folder(folder, "docs/man") &&
              make_folder(folder, "completion") && write_page(folder, NULL);
    for (size_t i = 0; ok && command_at(i); i++) ok = write_page(folder, command_at(i));
    help_completion(&text);
    ok = ok && write_text(folder, "completion/heddle.bash", &text);
    text.size = 0;
    help_reference(&text);
    ok = ok && write_text(folder, "docs/reference.md", &text);
    buf_free(&text);
    if (ok) return EXIT_FINE;
    return usage_error("help", "cannot write below '%s': %s", folder, strerror(errno));
}

/* Prints the text in one of its forms; argv ends with NULL. */
static int print_form(char **argv)
{
    struct buf text = {0};
    const struct command *c = NULL;
    const bool man = strcmp(argv[0], "--man") == 0;
    if (man && argv[1] && !(c = command_find(argv[1], argv[2])))
        return command_unknown(argv[1], argv[2]);
    if (man) help_man(c, &text);
    else if (strcmp(argv[0], "--completion") == 0) help_completion(&text);
    else if (strcmp(argv[0], "--reference") == 0) help_reference(&text);
    else return usage_error("help", "unknown option '%s'", argv[0]);
    fputs(text.data, stdout);
    buf_free(&text);
    return finish_output("help", EXIT_FINE);
}

int help_run(int argc, char **argv)
{
    struct buf text = {0};
    const char *name = argc > 1 ? argv[1] : "", *word = argc > 2 ? argv[2] : NULL;
    const struct command *c = command_find(name, word);
    if (strcmp(name, "--write") == 0 && word) return write_all(word);
    if (*name == '-' && strcmp(name, "--help") != 0 && strcmp(name, "-h") != 0)
        return print_form(argv + 1);
    if (c) help_text(c, &text);
    else if (!*name || *name == '-') help_overview(&text);
    else if (command_is_family(name) && !word) help_family(name, &text);
    else return command_unknown(name, word);
    fputs(text.data, stdout);
    buf_free(&text);
    return finish_output("help", EXIT_FINE);
}
