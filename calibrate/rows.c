/* A table of columns for each kind of file; what they come to; what cannot be. */
#include "calibrate/rows.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "model/config.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 512, MOST_ERRORS = 20 };

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

static const struct dialect {
    const char *what, *application, *kernel;
    size_t count;
    const char *const *names;
    bool units; /* the second line has them */
    void (*counters)(const struct emu_gpu *g, const double *v, struct counters *c);
} dialects[] = {
    {"Heddle's own CSV", "application", "kernel", OWN_COLUMNS, own_names, false, own},
    {"ncu --csv --page raw", "Process Name", "Kernel Name", sizeof ncu_names / sizeof *ncu_names,
     ncu_names, true, ncu},
    {"a sheet of Nsight Compute", "app", "Kernel ID", sizeof sheet_names / sizeof *sheet_names,
     sheet_names, false, sheet},
};
enum { DIALECTS = sizeof dialects / sizeof *dialects };

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
    size_t application, kernel, column[MOST_NUMBERS];
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

/* The next line that is neither empty nor a comment. */
static bool next_line(struct reader *r)
{
    const struct source *s = r->diags->source;
    struct line *l = &r->line;
    for (; r->at < s->length; r->at++) {
        const char c = s->text[r->at];
        r->number++;
        if (c != '#' && c != '\n' && c != '\r') break;
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

static bool choose_dialect(struct reader *r)
{
    const struct line *l = &r->line;
    for (size_t i = 0; i < DIALECTS && !r->dialect; i++)
        if (find(l, dialects[i].application) < l->count) r->dialect = &dialects[i];
    if (!r->dialect) {
        diag_error(r->diags, l->at, 0, "no column 'application', 'Process Name' or 'app'");
        return false;
    }
    const struct dialect *d = r->dialect;
    r->application = find(l, d->application);
    r->kernel = find(l, d->kernel);
    if (r->kernel == l->count)
        diag_error(r->diags, l->at, 0, "no column '%s', as %s has", d->kernel, d->what);
    for (size_t i = 0; i < d->count; i++) {
        r->column[i] = find(l, d->names[i]);
        if (r->column[i] == l->count)
            diag_error(r->diags, l->at, 0, "no column '%s', as %s has", d->names[i], d->what);
    }
    return !r->diags->errors;
}

/* "1,234.5" has separators of thousands in ncu's files. */
static bool read_number(struct reader *r, struct cell c, const char *name, double *out)
{
    char text[64], *end;
    size_t n = 0;
    for (uint32_t i = 0; i < c.length && n < sizeof text - 1; i++)
        if (c.text[i] != ',') text[n++] = c.text[i];
    text[n] = 0;
    *out = strtod(text, &end);
    if (end != text && !*end && isfinite(*out) && *out >= 0 && !strpbrk(text, "xX")) return true;
    diag_error(r->diags, c.at, c.length, "'%s' is a finite number that is not negative, not '%.*s'",
               name, (int)c.length, c.text);
    return false;
}

static size_t application_of(struct rows *rows, struct cell c)
{
    for (size_t i = 0; i < rows->application_count; i++)
        if (is(c, rows->applications[i])) return i;
    rows->applications = arena_grow(rows->arena, rows->applications, rows->application_count,
                                    &rows->application_cap, rows->application_count + 1,
                                    sizeof(char *));
    rows->applications[rows->application_count] = arena_copy(rows->arena, c.text, c.length);
    return rows->application_count++;
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

static void take_row(struct reader *r)
{
    const struct dialect *d = r->dialect;
    struct rows *rows = r->rows;
    double v[MOST_NUMBERS];
    struct row row = {.file = r->diags->source->name, .line = r->line.number};
    size_t last = r->application > r->kernel ? r->application : r->kernel;
    for (size_t i = 0; i < d->count; i++) last = r->column[i] > last ? r->column[i] : last;
    if (last >= r->line.count) {
        diag_error(r->diags, r->line.at, 0, "a line of %zu values, too few", r->line.count);
        return;
    }
    for (size_t i = 0; i < d->count; i++)
        if (!read_number(r, r->line.cell[r->column[i]], d->names[i], &v[i])) return;
    d->counters(rows->gpu, v, &row.counters);
    const char *why = impossible(rows->gpu, &row.counters);
    if (why) {
        diag_error(r->diags, r->line.at, 0, "on a %s this cannot be: %s", rows->gpu->title, why);
        return;
    }
    row.counters.share = fmin(1, row.counters.share);
    const struct cell kernel = r->line.cell[r->kernel];
    row.kernel = arena_copy(rows->arena, kernel.text, kernel.length);
    row.application = application_of(rows, r->line.cell[r->application]);
    rows->list = arena_grow(rows->arena, rows->list, rows->count, &rows->cap, rows->count + 1,
                            sizeof *rows->list);
    rows->list[rows->count++] = row;
}

bool rows_read(struct rows *rows, struct diags *d)
{
    struct reader *r = arena_array(rows->arena, struct reader, 1);
    r->rows = rows;
    r->diags = d;
    if (!next_line(r)) diag_error(d, 0, 0, "there is nothing in this file");
    else if (choose_dialect(r)) {
        if (r->dialect->units) next_line(r);
        while (next_line(r) && d->errors < MOST_ERRORS) take_row(r);
    }
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
