/* A table of columns for each kind of file, the counters computed from them, and checks for impossible values. */
#include "calibrate/rows.h"
#include "calibrate/rows_add.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "model/config.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 512 };

/* Heddle's own columns: numbers of struct counters. */
#define COLUMNS(X)                                                                                 \
    X(cycles)                                                                                      \
    X(share)                                                                                       \
    X(warps)                                                                                       \
    X(registers)                                                                                   \
    X(instructions)                                                                                \
    X(load_requests)                                                                               \
    X(load_sectors)                                                                                \
    X(store_requests)                                                                              \
    X(store_sectors)                                                                               \
    X(l2_load_sectors)                                                                             \
    X(l2_sectors)                                                                                  \
    X(dram_sectors)                                                                                \
    X(atomic_sectors)

enum { OWN_COLUMNS = 13, MOST_NUMBERS = 20 };
static const char *const own_names[] = {
#define X(field) #field,
    COLUMNS(X)
#undef X
};
static_assert(sizeof own_names / sizeof *own_names == OWN_COLUMNS, "one for each");

static void own(const struct emu_gpu *g, const double *v, struct counters *c)
{
    (void)g;
#define X(field) c->field = *v++;
    COLUMNS(X)
#undef X
}

static const char *const sheet_names[] = {"GPU active cycles",
                                          "SM active cycles",
                                          "achieved active warps per SM",
                                          "theoretical max active warps per SM",
                                          "Thread block Limit SM",
                                          "Thread block limit registers",
                                          "Thread block limit shared memory",
                                          "Thread block limit warps",
                                          "Warp instructions executed",
                                          "GMEM read requests",
                                          "GMEM read transactions",
                                          "GMEM write requests",
                                          "GMEM write transactions",
                                          "L2 read transactions",
                                          "L2 total transactions",
                                          "DRAM total transactions",
                                          "Global memory atomic and reduction transactions"};

static void sheet(const struct emu_gpu *g, const double *v, struct counters *c)
{
    const double limit = fmin(fmin(v[4], v[5]), fmin(v[6], v[7])), warps_of_cta = v[3] / limit;
    *c = (struct counters){.cycles = v[0],
                           .share = v[1] / v[0],
                           .warps = v[2],
                           .registers = fmin(255, g->registers / (v[5] * warps_of_cta * 32)),
                           .instructions = v[8],
                           .load_requests = v[9],
                           .load_sectors = v[10],
                           .store_requests = v[11],
                           .store_sectors = v[12],
                           .l2_load_sectors = v[13],
                           .l2_sectors = v[14],
                           .dram_sectors = v[15],
                           .atomic_sectors = v[16]};
}

static const char *const ncu_names[] = {"gpc__cycles_elapsed.max",
                                        "sm__cycles_active.avg",
                                        "sm__warps_active.avg.per_cycle_active",
                                        "launch__registers_per_thread",
                                        "smsp__inst_executed.sum",
                                        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                        "lts__t_sectors_op_read.sum",
                                        "lts__t_sectors_op_write.sum",
                                        "dram__sectors_read.sum",
                                        "dram__sectors_write.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
                                        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"};

static void ncu(const struct emu_gpu *g, const double *v, struct counters *c)
{
    (void)g;
    *c = (struct counters){.cycles = v[0],
                           .share = v[1] / v[0],
                           .warps = v[2],
                           .registers = v[3],
                           .instructions = v[4],
                           .load_requests = v[5],
                           .load_sectors = v[6],
                           .store_requests = v[7],
                           .store_sectors = v[8],
                           .l2_load_sectors = v[9],
                           .l2_sectors = v[9] + v[10],
                           .dram_sectors = v[11] + v[12],
                           .atomic_sectors = v[13] + v[14]};
}

static const char *const launch_names[] = {"cycles", "launch"};

static void launch(const struct emu_gpu *g, const double *v, struct counters *c)
{
    (void)g;
    *c = (struct counters){.cycles = v[0]};
}

static const struct dialect {
    const char *what, *application, *kernel;
    size_t count;
    const char *const *names;
    bool units; /* the second line has them */
    void (*counters)(const struct emu_gpu *g, const double *v, struct counters *c);
    const char *arguments; /* a column: cycles of a run's launches, no counters; NULL: it is none */
} dialects[] = {
    {"Heddle's own CSV", "application", "kernel", OWN_COLUMNS, own_names, false, own, NULL},
    {"ncu --csv --page raw", "Process Name", "Kernel Name", sizeof ncu_names / sizeof *ncu_names,
     ncu_names, true, ncu, NULL},
    {"a sheet of Nsight Compute", "app", "Kernel ID", sizeof sheet_names / sizeof *sheet_names,
     sheet_names, false, sheet, NULL},
    {"cycles of launches", "program", "kernel", sizeof launch_names / sizeof *launch_names,
     launch_names, false, launch, "args"},
};
enum { NCU = 1, DIALECTS = sizeof dialects / sizeof *dialects };

struct cell {
    const char *text; /* without quotes */
    uint32_t at, length;
};

struct line {
    uint32_t at, number;
    size_t count;
    struct cell cell[MOST_COLUMNS];
};

struct reader {
    struct rows *rows;
    struct diags *diags;
    uint32_t at, number;
    const struct dialect *dialect;
    size_t application, kernel, arguments, only, column[MOST_NUMBERS];
    struct cell units[MOST_NUMBERS];
    struct line line;
};

static struct cell next_cell(struct reader *r)
{
    const struct source *s = r->diags->source;
    const bool quoted = r->at < s->length && s->text[r->at] == '"';
    uint32_t from = r->at += quoted, end;
    while (r->at < s->length && s->text[r->at] != '\n' &&
           (quoted ? s->text[r->at] != '"' : s->text[r->at] != ','))
        r->at++;
    end = r->at;
    if (quoted)
        while (r->at < s->length && s->text[r->at] != ',' && s->text[r->at] != '\n') r->at++;
    else
        while (end > from && isspace((unsigned char)s->text[end - 1])) end--;
    return (struct cell){s->text + from, from, end - from};
}

/* The next line that is neither empty nor a comment, nor what ncu says while it runs. */
static bool next_line(struct reader *r)
{
    const struct source *s = r->diags->source;
    struct line *l = &r->line;
    for (; r->at < s->length; r->at++) {
        const char c = s->text[r->at];
        r->number++;
        const bool said = c == '=' && r->at + 1 < s->length && s->text[r->at + 1] == '=';
        if (c != '#' && c != '\n' && c != '\r' && !said) break;
        while (r->at < s->length && s->text[r->at] != '\n') r->at++;
    }
    if (r->at >= s->length) return false;
    l->at = r->at;
    l->number = r->number;
    l->count = 0;
    for (bool more = true; more;) {
        struct cell c = next_cell(r);
        if (l->count < MOST_COLUMNS) l->cell[l->count++] = c;
        more = r->at < s->length && s->text[r->at] == ',';
        r->at += r->at < s->length;
    }
    return true;
}

static bool is(struct cell c, const char *name)
{
    return c.length == strlen(name) && memcmp(c.text, name, c.length) == 0;
}

static size_t find(const struct line *l, const char *name)
{
    size_t i = 0;
    while (i < l->count && !is(l->cell[i], name)) i++;
    return i;
}

static const struct dialect *dialect_of(const struct line *header)
{
    for (size_t i = 0; i < DIALECTS; i++)
        if (find(header, dialects[i].application) < header->count) return &dialects[i];
    return NULL;
}

static bool choose_dialect(struct reader *r)
{
    const struct line *l = &r->line;
    r->dialect = dialect_of(l);
    if (!r->dialect) {
        diag_error(r->diags, l->at, 0,
                   "no column 'application', 'Process Name', 'app' or 'program'");
        return false;
    }
    const struct dialect *d = r->dialect;
    r->application = find(l, d->application);
    r->kernel = find(l, d->kernel);
    r->arguments = d->arguments ? find(l, d->arguments) : 0;
    r->only = r->rows->column ? find(l, r->rows->column) : 0;
    if (r->arguments == l->count)
        diag_error(r->diags, l->at, 0, "no column '%s', as %s has", d->arguments, d->what);
    if (r->only == l->count) diag_error(r->diags, l->at, 0, "no column '%s'", r->rows->column);
    if (r->kernel == l->count)
        diag_error(r->diags, l->at, 0, "no column '%s', as %s has", d->kernel, d->what);
    for (size_t i = 0; i < d->count; i++) {
        r->column[i] = find(l, d->names[i]);
        if (r->column[i] == l->count)
            diag_error(r->diags, l->at, 0, "no column '%s', as %s has", d->names[i], d->what);
    }
    return !r->diags->errors;
}

/* "1,234.5" has separators of thousands in ncu's files: three digits are behind each. "1234,5" is another decimal
 * point, and no number here. */
static bool separates(struct cell c, uint32_t i)
{
    uint32_t digits = 0;
    for (uint32_t k = 0; k < i; k++)
        if (c.text[k] == '.') return false;
    while (i + 1 + digits < c.length && isdigit((unsigned char)c.text[i + 1 + digits])) digits++;
    return i > 0 && isdigit((unsigned char)c.text[i - 1]) && digits == 3;
}

static bool read_number(struct reader *r, struct cell c, const char *name, double *out)
{
    char text[64], *end;
    size_t n = 0;
    for (uint32_t i = 0; i < c.length && n < sizeof text - 1; i++)
        if (c.text[i] != ',' || !separates(c, i)) text[n++] = c.text[i];
    text[n] = 0;
    *out = strtod(text, &end);
    if (c.length < sizeof text && end != text && !*end && isfinite(*out) && *out >= 0 &&
        !strpbrk(text, "xX"))
        return true;
    diag_error(r->diags, c.at, c.length, "'%s' is a finite number that is not negative, not '%.*s'",
               name, (int)c.length, c.text);
    return false;
}

static size_t application_of(struct rows *rows, const char *text, size_t length)
{
    for (size_t i = 0; i < rows->application_count; i++)
        if (strlen(rows->applications[i]) == length &&
            memcmp(text, rows->applications[i], length) == 0)
            return i;
    rows->applications = arena_grow(rows->arena, rows->applications, rows->application_count,
                                    &rows->application_cap, rows->application_count + 1,
                                    sizeof(char *));
    rows->applications[rows->application_count] = arena_copy(rows->arena, text, length);
    return rows->application_count++;
}

/* ncu's units: of sectors, "sector" or nothing, with a prefix of 1000 or more. Bytes and percentages are none of what is
 * asked for. */
static bool scale(struct reader *r, struct cell value, struct cell unit, const char *name,
                  double *x)
{
    static const struct {
        char prefix;
        double factor;
    } prefixes[] = {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}};
    static const char *const units[] = {"sector", "request", "inst", "cycle", "warp", "register"};
    struct cell rest = unit;
    double factor = 1;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (rest.length && *rest.text == prefixes[i].prefix) {
            factor = prefixes[i].factor;
            rest.text++, rest.length--;
            break;
        }
    bool known = !unit.length;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        known |= rest.length >= n && memcmp(rest.text, units[i], n) == 0;
    }
    *x *= factor;
    if (!known)
        diag_error(r->diags, value.at, value.length,
                   "'%s' in '%.*s': sectors, requests, "
                   "instructions, cycles, warps or registers are wanted",
                   name, (int)unit.length, unit.text);
    return known;
}

/* What no GPU can have done. The slack is for counters taken in several passes. */
static const char *impossible(const struct emu_gpu *g, const struct counters *c)
{
    const double slack = 1.1 * c->cycles;
    if (!(c->cycles >= 1)) return "it took no cycles";
    if (!(c->share > 0)) return "SMs were never active";
    if (c->share > 1.05) return "SMs were active for more than all the time: a percentage?";
    if (!(c->warps > 0.5)) return "no warp was active on an active SM";
    if (c->warps > 1.05 * g->warps) return "more warps than an SM holds: a percentage?";
    if (!(c->registers >= 1 && c->registers <= 256)) return "a thread has 1 to 255 registers";
    if (!(c->instructions > 0)) return "it issued no instruction";
    if (c->instructions > slack * g->sms * g->schedulers * g->issue)
        return "more instructions than can be issued in its cycles: by thread, not by warp?";
    if (c->dram_sectors > slack * config_dram_rate(g))
        return "more DRAM sectors than can be moved in its cycles: bytes?";
    if (c->l2_sectors > slack * 2 * config_l2_rate(g))
        return "more L2 sectors than can be moved in its cycles: bytes?";
    if (c->load_sectors > 33 * c->load_requests || c->store_sectors > 33 * c->store_requests)
        return "more than 32 sectors for each request";
    return NULL;
}

bool rows_add(struct rows *rows, struct diags *d, uint32_t at, const char *application,
              size_t application_length, struct row row)
{
    struct counters *c = &row.counters;
    const char *why = !row.lacks      ? impossible(rows->gpu, c)
                      : c->cycles < 1 ? "it took no cycles"
                                      : NULL;
    if (why) {
        diag_error(d, at, 0, "on a %s this cannot be: %s", rows->gpu->title, why);
        return false;
    }
    c->share = fmin(1, c->share);
    row.application = application_of(rows, application, application_length);
    rows->list = arena_grow(rows->arena, rows->list, rows->count, &rows->cap, rows->count + 1,
                            sizeof *rows->list);
    rows->list[rows->count++] = row;
    return true;
}

const char *rows_stem(const struct rows *rows, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file,
               *dot = strrchr(name, '.');
    return arena_copy(rows->arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static const char *copy_of(const struct reader *r, struct cell c)
{
    return arena_copy(r->rows->arena, c.text, c.length);
}

/* Of the application, in this file, so far. */
static uint32_t launches_of(const struct reader *r, const char *application)
{
    uint32_t n = 0;
    for (size_t i = 0; i < r->rows->count; i++) {
        const struct row *row = &r->rows->list[i];
        n += row->file == r->diags->source->name && strcmp(row->run, application) == 0;
    }
    return n;
}

/* A launch of the values of the dialect's columns. */
static void take_values(struct reader *r, const double *v, uint32_t at, uint32_t number,
                        const char *application, const char *kernel)
{
    const struct dialect *d = r->dialect;
    struct row row = {.file = r->diags->source->name,
                      .line = number,
                      .kernel = kernel,
                      .run = application,
                      .launch = launches_of(r, application)};
    d->counters(r->rows->gpu, v, &row.counters);
    if (d->arguments && !(v[1] < UINT32_MAX && v[1] == floor(v[1]))) {
        diag_error(r->diags, at, 0, "a launch is a whole number from 0, not %g", v[1]);
        return;
    }
    if (d->arguments) {
        const char *args = copy_of(r, r->line.cell[r->arguments]);
        row.lacks = "the counters";
        row.launch = (uint32_t)v[1];
        row.run = arena_printf(r->rows->arena, "%s%s%s", application, *args ? " " : "", args);
    }
    (void)rows_add(r->rows, r->diags, at, application, strlen(application), row);
}

/* Whether it has all columns that are asked for. */
static bool complete(struct reader *r, size_t last)
{
    if (last < r->line.count) return true;
    diag_error(r->diags, r->line.at, 0, "a line of %zu values, too few", r->line.count);
    return false;
}

static void take_row(struct reader *r)
{
    const struct dialect *d = r->dialect;
    double v[MOST_NUMBERS];
    size_t last = r->application > r->kernel ? r->application : r->kernel;
    last = r->arguments > last ? r->arguments : last;
    last = r->only > last ? r->only : last;
    for (size_t i = 0; i < d->count; i++) last = r->column[i] > last ? r->column[i] : last;
    if (!complete(r, last)) return;
    if (r->rows->column && !is(r->line.cell[r->only], r->rows->value)) return;
    for (size_t i = 0; i < d->count; i++) {
        const struct cell c = r->line.cell[r->column[i]];
        if (!read_number(r, c, d->names[i], &v[i])) return;
        if (d->units && !scale(r, c, r->units[i], d->names[i], &v[i])) return;
    }
    take_values(r, v, r->line.at, r->line.number, copy_of(r, r->line.cell[r->application]),
                copy_of(r, r->line.cell[r->kernel]));
}

/* ---- a line for each metric ------------------------------------------------------------------------------ */

struct pivot { /* the launch whose metrics are being read */
    uint32_t at, number;
    const char *id, *application, *kernel;
    bool has[MOST_NUMBERS];
    double value[MOST_NUMBERS];
};

static void end_pivot(struct reader *r, struct pivot *p)
{
    if (!p->id) return;
    for (size_t i = 0; i < r->dialect->count; i++)
        if (!p->has[i]) {
            diag_error(r->diags, p->at, 0, "launch %s of '%s' has no metric '%s'", p->id, p->kernel,
                       r->dialect->names[i]);
            return;
        }
    take_values(r, p->value, p->at, p->number, p->application, p->kernel);
}

static void take_metric(struct reader *r, struct pivot *p, const size_t *column)
{
    const struct line *l = &r->line;
    const struct cell id = l->cell[column[0]], name = l->cell[column[2]];
    if (!p->id || !is(id, p->id)) {
        end_pivot(r, p);
        *p = (struct pivot){.at = l->at,
                            .number = l->number,
                            .id = copy_of(r, id),
                            .kernel = copy_of(r, l->cell[column[1]]),
                            .application = r->application < l->count
                                               ? copy_of(r, l->cell[r->application])
                                               : rows_stem(r->rows, r->diags->source->name)};
    }
    for (size_t i = 0; i < r->dialect->count; i++) {
        const char *want = r->dialect->names[i];
        const struct cell value = l->cell[column[4]];
        if (!is(name, want) || !read_number(r, value, want, &p->value[i])) continue;
        p->has[i] = scale(r, value, l->cell[column[3]], want, &p->value[i]);
    }
}

/* `ncu --csv --metrics ...` */
static void take_metrics(struct reader *r)
{
    static const char *const names[] = {"ID", "Kernel Name", "Metric Name", "Metric Unit",
                                        "Metric Value"};
    struct pivot p = {0};
    size_t column[5], last = 0;
    r->dialect = &dialects[NCU];
    r->application = find(&r->line, r->dialect->application);
    for (int i = 0; i < 5; i++) {
        column[i] = find(&r->line, names[i]);
        last = column[i] > last ? column[i] : last;
        if (column[i] == r->line.count)
            diag_error(r->diags, r->line.at, 0, "no column '%s', as ncu --csv has", names[i]);
    }
    if (r->diags->errors) return;
    while (next_line(r) && r->diags->errors < ROWS_MOST_ERRORS)
        if (complete(r, last)) take_metric(r, &p, column);
    if (r->diags->errors < ROWS_MOST_ERRORS) end_pivot(r, &p);
}

/* ---- files ------------------------------------------------------------------------------------------------- */

static bool has(const struct source *s, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = s->text, *end = s->text + s->length;
         (at = memchr(at, *word, (size_t)(end - at))) && (size_t)(end - at) >= n; at++)
        if (memcmp(at, word, n) == 0) return true;
    return false;
}

static void read_table(struct reader *r)
{
    if (!choose_dialect(r)) return;
    if (r->dialect->units) {
        if (!next_line(r)) return;
        for (size_t i = 0; i < r->dialect->count; i++)
            if (r->column[i] < r->line.count) r->units[i] = r->line.cell[r->column[i]];
    }
    while (next_line(r) && r->diags->errors < ROWS_MOST_ERRORS) take_row(r);
}

/* The first line, or ncu's: what the program says stands before. */
static bool find_header(struct reader *r)
{
    const uint32_t at = r->at, number = r->number;
    if (!next_line(r)) return false;
    if (find(&r->line, "Metric Name") < r->line.count || dialect_of(&r->line)) return true;
    while (next_line(r))
        if (find(&r->line, "ID") < r->line.count && find(&r->line, "Kernel Name") < r->line.count)
            return true;
    r->at = at, r->number = number;
    return next_line(r);
}

static bool begins(const struct source *s, const char *with)
{
    const size_t n = strlen(with);
    return s->length >= n && memcmp(s->text, with, n) == 0;
}

bool rows_read(struct rows *rows, struct diags *d)
{
    if (begins(d->source, "\xff\xfe") || begins(d->source, "\xfe\xff")) {
        diag_error(d, 0, 0, "this is UTF-16: UTF-8 is wanted");
        return false;
    }
    if (has(d->source, "gpu_sim_cycle") || has(d->source, "GPGPU-Sim PTX:")) {
        rows_gpgpusim(rows, d);
        return !d->errors;
    }
    struct reader *r = arena_array(rows->arena, struct reader, 1);
    r->rows = rows;
    r->diags = d;
    if (begins(d->source, "\xef\xbb\xbf")) r->at = 3; /* a byte order mark */
    if (!find_header(r)) diag_error(d, 0, 0, "there is nothing in this file");
    else if (find(&r->line, "Metric Name") < r->line.count) take_metrics(r);
    else read_table(r);
    return !d->errors;
}

void rows_write(const struct rows *rows, struct buf *out)
{
    buf_puts(out, "application,kernel");
    for (size_t i = 0; i < OWN_COLUMNS; i++) buf_printf(out, ",%s", own_names[i]);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        const struct counters *c = &row->counters;
        buf_printf(out, "\n\"%s\",\"%s\"", rows->applications[row->application], row->kernel);
#define X(field) buf_printf(out, ",%.6g", c->field);
        COLUMNS(X)
#undef X
    }
    buf_puts(out, "\n");
}
