/* Compares the output of programs between runs (cli/check_output.h). */
#define _GNU_SOURCE
#include "cli/check_output.h"
#include "cli/check_program.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/memory_file.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 256 << 10, MOST_LINE = 4096 };

/* Lines with a time or a rate: "elapsed 1.2 ms", "3.1 GB/s", "Time: 0.5". */
static const char *const measured[] = {
    "[0-9] *[[(]?(ns|us|ms|s|nsec|usec|msec|secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|"
    "[kmgt]i?b(ytes)?/s(ec)?|[kmgt]?(fl)?ops?(/s)?|[kmgt]hz|fps)([^a-z0-9]|$)",
    "(elapsed|time|timing|took|duration|latency|throughput|bandwidth|speed-?up|perf(ormance)?)([^a-z].*)?[0-9]",
};
enum { MEASURED = sizeof measured / sizeof *measured };

struct output_filter {
    regex_t *list;
    size_t count;
};

static bool add(struct output_filter *f, const char *pattern, int flags)
{
    if (regcomp(&f->list[f->count], pattern, REG_EXTENDED | REG_NOSUB | flags) != 0) return false;
    f->count++;
    return true;
}

bool check_output_options(struct check *c)
{
    const struct run_options *o = c->request.options;
    struct output_filter *f = arena_array(c->arena, struct output_filter, 1);
    bool ok = true;
    f->list = arena_array(c->arena, regex_t, MEASURED + o->count);
    for (size_t i = 0; i < MEASURED; i++)
        if (!add(f, measured[i], REG_ICASE)) abort();
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        if (x->id != OPTION_IGNORE_OUTPUT) continue;
        if (add(f, arena_copy(c->arena, x->value.text, x->value.length), 0)) continue;
        diag_error(&c->request.options->diags, x->value.at, x->value.length,
                   "--ignore-output wants an extended regular expression, not '%.*s'",
                   (int)x->value.length, x->value.text);
        ok = false;
    }
    c->request.ignored_output = f;
    return ok;
}

void check_output_free(struct check *c)
{
    const struct output_filter *f = c->request.ignored_output;
    for (size_t i = 0; f && i < f->count; i++) regfree(&f->list[i]);
    c->request.ignored_output = NULL;
}

static bool is_ignored(const struct output_filter *f, const char *line, size_t length)
{
    char text[MOST_LINE];
    snprintf(text, sizeof text, "%.*s", (int)(length < MOST_LINE ? length : MOST_LINE - 1), line);
    for (size_t i = 0; i < f->count; i++)
        if (regexec(&f->list[i], text, 0, NULL, 0) == 0) return true;
    return false;
}

void check_output_read(const struct check *c, int file, struct check_run *r)
{
    size_t size;
    struct buf kept = {0};
    const char *all = memory_file_read(c->arena, file, 0, &size);
    r->output = 1;
    for (size_t i = 0; i < size;) {
        const char *end = memchr(all + i, '\n', size - i);
        const size_t n = end ? (size_t)(end - all) - i : size - i;
        if (!is_ignored(c->request.ignored_output, all + i, n)) {
            for (size_t k = 0; k < n; k++)
                r->output = (r->output ^ (unsigned char)all[i + k]) * UINT64_C(0x100000001b3);
            r->output = run_log_mix_digest(r->output, n);
            if (kept.size + n < MOST_TEXT) buf_printf(&kept, "%.*s\n", (int)n, all + i);
        }
        i += n + 1;
    }
    r->output_text = arena_copy(c->arena, kept.data ? kept.data : "", kept.size);
    buf_free(&kept);
}

static bool counts(const struct check_run *r)
{
    return r->state == RUN_ENDED && !check_run_failed(r) && r->output_text;
}

/* The first run of the row whose output is not the wanted one; SIZE_MAX: there is none. */
static size_t other_output(const struct check_row *row, uint64_t wanted)
{
    for (size_t i = 0; i < row->wanted; i++)
        if (counts(&row->runs[i]) && row->runs[i].output != wanted) return i;
    return SIZE_MAX;
}

/* The first line that differs, from 1, and where it begins in both. */
static size_t line_of(const char *x, const char *y, size_t *at)
{
    size_t line = 1;
    *at = 0;
    for (size_t i = 0; x[i] && x[i] == y[i]; i++)
        if (x[i] == '\n') line++, *at = i + 1;
    return line;
}

void check_output_compare(struct check *c)
{
    const struct check_row *reference = &c->rows[0];
    struct check_output *o = &c->output;
    *o = (struct check_output){.kind = OUTPUT_NOT_COMPARED};
    if (!check_of_program(c) || !counts(&reference->runs[0])) return;
    o->first = &reference->runs[0];
    o->kind = OUTPUT_SAME;
    for (size_t i = 0; i < c->row_count && o->kind == OUTPUT_SAME; i++) {
        const struct check_row *row = &c->rows[i];
        const size_t k = other_output(row, o->first->output);
        if (k == SIZE_MAX) continue;
        o->kind = row->reference ? OUTPUT_VARIES : OUTPUT_DIFFERS;
        o->row = row;
        o->run = k;
    }
    for (size_t i = 1; i < c->row_count && o->kind == OUTPUT_DIFFERS; i++) {
        const struct check_row *row = &c->rows[i];
        size_t k = 0;
        while (k < row->wanted && !counts(&row->runs[k])) k++;
        if (row->promise != ORDER_NO_PROMISE && k < row->wanted)
            o->breaks_guarantee |= other_output(row, row->runs[k].output) != SIZE_MAX;
    }
}

void check_output_print(const struct check *c, bool details)
{
    const struct check_output *o = &c->output;
    size_t at;
    if (o->kind < OUTPUT_VARIES) return;
    const char *x = o->first->output_text, *y = o->row->runs[o->run].output_text;
    const size_t line = line_of(x, y, &at);
    if (!details) {
        if (o->kind == OUTPUT_VARIES)
            printf(
                "output: not compared, native runs print different lines %zu (--ignore-output REGEX leaves lines "
                "out)\n",
                line);
        else printf("output: what the program prints differs between runs\n");
        return;
    }
    if (o->kind == OUTPUT_VARIES) return;
    printf(
        "\nnative and %s seed %llu differ in what the program prints, line %zu of what is compared:\n",
        o->row->order, (unsigned long long)check_seed(c, o->run), line);
    printf("    native: %.*s\n", (int)strcspn(x + at, "\n"), x + at);
    printf("    %s seed %llu: %.*s\n", o->row->order, (unsigned long long)check_seed(c, o->run),
           (int)strcspn(y + at, "\n"), y + at);
    printf("  %s\n", check_command(c, o->row, o->run));
}
