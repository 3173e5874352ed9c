/* Output of `heddle check` for continuous integration: JUnit XML, and annotations of GitHub Actions. */
#include "base/replace.h"
#include "cli/check_difference.h"
#include "cli/cli.h"

#include "base/arena.h"
#include "base/buf.h"

#include <errno.h>
#include <string.h>

enum { LINES = 12 };

/* What is wrong with an order's runs, in words; NULL: nothing. */
static const char *trouble(const struct check *c, const struct check_row *row)
{
    if (row->failed)
        return arena_printf(c->arena, "%zu of %zu runs failed", row->failed, row->ended);
    if (row->class_count > 1)
        return arena_printf(c->arena, "%zu results in %zu runs", row->class_count, row->ended);
    if (row->difference) return "the result is not that of the native run";
    return NULL;
}

static const struct check_run *first_failed(const struct check_row *row)
{
    for (size_t i = 0; i < row->wanted; i++)
        if (check_run_failed(&row->runs[i])) return &row->runs[i];
    return NULL;
}

/* How it can be seen again: a line for each result, or the first failure. */
static void details(const struct check *c, const struct check_row *row, struct buf *b)
{
    const struct check_run *r = first_failed(row);
    if (r) buf_printf(b, "%s\n%s", check_command(c, row, (size_t)(r - row->runs)), r->messages);
    for (size_t k = 0; k < row->class_count && k < LINES && row->class_count > 1; k++)
        buf_printf(b, "%zu x %s\n", row->classes[k].count,
                   check_command(c, row, row->classes[k].first));
    const struct check_difference *p = row->difference;
    if (!p || p->kind != DIFFER_MEMORY) return;
    buf_printf(b, "launch %zu (%s), %llu bytes into '%s'\n", p->launch + 1, p->kernel,
               (unsigned long long)p->offset, p->allocation);
    for (int i = 0; i < 2; i++)
        buf_printf(b, "%s: %s\n", p->side[i].value, check_writer_text(c->arena, p, i));
}

/* ---- JUnit ---------------------------------------------------------------------------------------- */

/* As text or in quotes; characters that XML 1.0 does not allow become '?'. */
static void xml(struct buf *b, const char *text)
{
    for (; *text; text++) {
        const unsigned char ch = (unsigned char)*text;
        if (ch == '<') buf_puts(b, "&lt;");
        else if (ch == '>') buf_puts(b, "&gt;");
        else if (ch == '&') buf_puts(b, "&amp;");
        else if (ch == '"') buf_puts(b, "&quot;");
        else if ((ch < ' ' && ch != '\n' && ch != '\t') || ch > 126) buf_putc(b, '?');
        else buf_putc(b, (char)ch);
    }
}

static void testcase(struct buf *b, const struct check *c, const char *name, const char *wrong,
                     const char *text)
{
    buf_puts(b, "    <testcase classname=\"");
    xml(b, c->request.name);
    buf_puts(b, "\" name=\"");
    xml(b, name);
    if (!wrong) {
        buf_puts(b, "\"/>\n");
        return;
    }
    buf_puts(b, "\">\n      <failure message=\"");
    xml(b, wrong);
    buf_puts(b, "\">");
    xml(b, text);
    buf_puts(b, "</failure>\n    </testcase>\n");
}

bool check_write_junit(const struct check *c)
{
    struct buf cases = {0}, all = {0};
    size_t failures = 0, tests = c->row_count;
    for (size_t i = 0; i < c->row_count; i++) {
        struct buf text = {0};
        const char *wrong = trouble(c, &c->rows[i]);
        details(c, &c->rows[i], &text);
        failures += wrong != NULL;
        testcase(&cases, c, c->rows[i].order, wrong, text.data ? text.data : "");
        buf_free(&text);
    }
    if (!c->request.no_race) {
        struct buf text = {0};
        const struct check_run *lost = check_races_lost(c);
        const char *wrong = lost ? "the run that looks for races failed" : NULL;
        if (c->facts.races) wrong = arena_printf(c->arena, "%zu data races", c->facts.races);
        if (lost) buf_puts(&text, lost->messages);
        for (size_t i = 0; i < c->races.finding_count; i++)
            if (c->races.findings[i].kind == EMU_RACE) buf_puts(&text, c->races.findings[i].text);
        failures += wrong != NULL;
        tests++;
        testcase(&cases, c, "race", wrong, text.data ? text.data : "");
        buf_free(&text);
    }
    if (c->races.init_examined) {
        struct buf text = {0};
        const size_t found = c->races.uninitialised + c->races.misused;
        const char *wrong = found
                                ? arena_printf(c->arena,
                                               "%zu reads of memory that nothing wrote, %zu wrong "
                                               "uses of synchronisation",
                                               c->races.uninitialised, c->races.misused)
                                : NULL;
        for (size_t i = 0; i < c->races.finding_count; i++)
            if (c->races.findings[i].kind != EMU_RACE && c->races.findings[i].kind != EMU_MIXED)
                buf_puts(&text, c->races.findings[i].text);
        failures += wrong != NULL;
        tests++;
        testcase(&cases, c, "init,sync", wrong, text.data ? text.data : "");
        buf_free(&text);
    }
    buf_puts(&all, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    buf_printf(&all, "  <testsuite name=\"heddle check\" tests=\"%zu\" failures=\"%zu\">\n", tests,
               failures);
    buf_puts(&all, cases.data);
    buf_puts(&all, "  </testsuite>\n</testsuites>\n");
    struct replacement file;
    bool ok = replacement_open(&file, c->request.junit) &&
              fwrite(all.data, 1, all.size, file.out) == all.size;
    ok = replacement_close(&file, ok);
    if (!ok)
        fprintf(stderr, "heddle check: cannot write '%s': %s\n", c->request.junit, strerror(errno));
    buf_free(&cases);
    buf_free(&all);
    return ok;
}

/* ---- GitHub --------------------------------------------------------------------------------------- */

/* property: of a command's parameter, where ':' and ',' mean something, too. */
static void escape(struct buf *b, const char *text, bool property)
{
    for (; *text; text++)
        if (*text == '%') buf_puts(b, "%25");
        else if (*text == '\r') buf_puts(b, "%0D");
        else if (*text == '\n') buf_puts(b, "%0A");
        else if (property && *text == ':') buf_puts(b, "%3A");
        else if (property && *text == ',') buf_puts(b, "%2C");
        else buf_putc(b, *text);
}

/* At a place of the source, else of the PTX, if that is a file. */
static void annotate(const struct check *c, const char *level, const char *file, uint32_t line,
                     uint32_t ptx_line, const char *text)
{
    struct buf b = {0};
    const bool ptx = c->request.options->kind == TARGET_PTX && strcmp(c->request.name, "-") != 0;
    if (!file || !*file) {
        file = ptx && ptx_line ? c->request.name : NULL;
        line = ptx_line;
    }
    buf_printf(&b, "::%s", level);
    if (file) {
        buf_puts(&b, " file=");
        escape(&b, file, true);
        buf_printf(&b, ",line=%u", line);
    }
    buf_puts(&b, "::");
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n') n--;
    escape(&b, arena_copy(c->arena, text, n), false);
    printf("%s\n", b.data);
    buf_free(&b);
}

void check_print_github(const struct check *c)
{
    for (size_t i = 0; i < c->races.finding_count; i++) {
        const struct check_finding *f = &c->races.findings[i];
        annotate(c, f->kind == EMU_MIXED ? "warning" : "error", f->source_file, f->source_line,
                 f->line, f->text);
    }
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        const struct check_run *r = first_failed(row);
        const struct check_difference *p = row->difference;
        const char *wrong = trouble(c, row);
        if (!wrong) continue;
        struct buf b = {0};
        buf_printf(&b, "%s, order %s: %s\n", c->request.name, row->order, wrong);
        details(c, row, &b);
        const struct last_writer *w = NULL;
        for (int k = 0; k < 2 && p && !w; k++)
            if (p->side[k].known && p->side[k].writer.launch) w = &p->side[k].writer;
        if (r)
            annotate(c, "error", r->fault.source_file, r->fault.source_line, r->fault.line, b.data);
        else if (w) annotate(c, "error", w->source_file, w->source_line, w->line, b.data);
        else annotate(c, "error", NULL, 0, 0, b.data);
        buf_free(&b);
    }
    printf("%s: %s\n", c->request.name, verdict_name(c->verdict));
}
