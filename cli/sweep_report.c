/* heddle sweep query, heddle sweep report: the database of a sweep. */
#include "cli/sweep_baseline.h"

#include "cli/command.h"

#include "base/buf.h"
#include "base/text.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* NULL after a message. */
static sqlite3 *open_results(const char *command, const char *folder)
{
    char path[4096];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "SELECT 1 FROM cells LIMIT 1", NULL, NULL, NULL) == SQLITE_OK)
        return db;
    usage_error(command, "cannot read '%s': %s", path, db ? sqlite3_errmsg(db) : "no memory");
    sqlite3_close(db);
    return NULL;
}

static void put_csv(const char *text)
{
    if (!text) return;
    if (!text[strcspn(text, ",\"\n")]) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    putchar('"');
}

/* As CSV, with a line of names above. */
static int print_query(const char *command, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || !s) {
        const int status = usage_error(command, "%s", s ? "no statement" : sqlite3_errmsg(db));
        sqlite3_finalize(s);
        return status;
    }
    const int columns = sqlite3_column_count(s);
    int step;
    for (int i = 0; i < columns; i++) {
        put_csv(sqlite3_column_name(s, i));
        putchar(i + 1 < columns ? ',' : '\n');
    }
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        for (int i = 0; i < columns; i++) {
            put_csv((const char *)sqlite3_column_text(s, i));
            putchar(i + 1 < columns ? ',' : '\n');
        }
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? EXIT_FINE : usage_error(command, "%s", sqlite3_errmsg(db));
}

static int query(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == '-') return bad_option(&command_sweep_query, argv[1]);
    if (argc != 2 && argc != 3)
        return usage_error("sweep query", "the folder of a sweep, and an SQL query, are wanted");
    sqlite3 *db = open_results("sweep query", argv[1]);
    if (!db) return EXIT_USAGE;
    const int status = print_query(
        "sweep query", db,
        argc > 2 ? argv[2] : "SELECT * FROM cells ORDER BY target, gpu, order_name, seed");
    sqlite3_close(db);
    return finish_output("sweep query", status);
}

const struct command command_sweep_query = {
    .name = "sweep query",
    .summary = "ask the database of a sweep",
    .usage = "sweep query DIR [SQL]",
    .description =
        "Prints as CSV what the SQL query selects from DIR/results.sqlite, whose tables docs/sweep.md "
        "describes; without a query, all cells. The database is only read.",
    .exit_status = "  0  success\n  2  there is no database, or the query is wrong",
    .examples =
        "  heddle sweep query out 'select order_name, count(distinct digest) from cells group by 1'",
    .run = query,
};

/* ---- pivots ----------------------------------------------------------------------------------- */

static const struct command_option options[] = {
    {.name = "rows",
     .argument = "target|order|seed|gpu",
     .standard = "target",
     .help = "What has a row.",
     .id = 'r'},
    {.name = "columns",
     .argument = "target|order|seed|gpu",
     .standard = "order",
     .help = "What has a column.",
     .id = 'c'},
    {.name = "value",
     .argument = "results|cells|failed|racy|cycles|seconds",
     .standard = "results",
     .help =
         "What a cell of the table has: the number of different results, of cells, of failed and of racy ones; "
         "the mean of estimated cycles; the seconds that the runs took in all.",
     .id = 'v'},
    {.name = "baseline",
     .argument = "DIR",
     .help =
         "Instead of a pivot, print what is worse than in this earlier sweep: more cells that fail or race, more "
         "results of an order, estimated cycles or host times that grew. Only cells that ran in both sweeps count.",
     .id = 'b'},
    {.name = "slower",
     .argument = "PERCENT",
     .standard = "20",
     .help =
         "With --baseline: a growth of the estimated cycles or of the host's time (by a second, too) above this "
         "counts.",
     .id = 's'},
    {.name = "format",
     .argument = "text|csv|html",
     .standard = "text",
     .help = "html: a page with a heat map.",
     .id = 'f'},
};

struct axis {
    const char *name, *sql;
};
static const struct axis axes[] = {
    {"target", "target"}, {"order", "order_name"}, {"seed", "seed"}, {"gpu", "gpu"}};
static const struct axis values[] = {{"results", "count(distinct digest)"},
                                     {"cells", "count(*)"},
                                     {"failed", "sum(state='failed')"},
                                     {"racy", "sum(races>0)"},
                                     {"cycles", "avg(cycles)"},
                                     {"seconds", "sum(seconds)"}};

/* NULL after a message. */
static const struct axis *find(const struct axis *list, size_t count, const char *option,
                               const char *text)
{
    struct text_nearest near = {.text = text, .length = strlen(text)};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, text) == 0) return &list[i];
        text_nearest_try(&near, list[i].name);
    }
    usage_error("sweep report", "--%s cannot be '%s'%s%s%s", option, text,
                near.best ? "; did you mean '" : "", near.best ? near.best : "",
                near.best ? "'?" : "");
    return NULL;
}

struct pivot {
    const struct axis *rows, *columns, *value;
    const char *baseline; /* NULL: none */
    double slower;        /* percent */
    char **row, **column; /* names */
    size_t row_count, column_count;
    double *cells; /* by row, column; below 0: nothing */
    double most;
};

static size_t read_names(sqlite3 *db, const struct axis *a, char ***out)
{
    char sql[200];
    sqlite3_stmt *s = NULL;
    size_t n = 0, cap = 0;
    snprintf(sql, sizeof sql, "SELECT DISTINCT %s FROM cells ORDER BY 1", a->sql);
    *out = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return 0;
    while (sqlite3_step(s) == SQLITE_ROW) {
        if (n == cap) {
            cap = cap ? 2 * cap : 16;
            *out = realloc((void *)*out, cap * sizeof **out);
            if (!*out) abort();
        }
        const char *text = (const char *)sqlite3_column_text(s, 0);
        const size_t size = strlen(text ? text : "") + 1;
        char *copy = malloc(size);
        if (!copy) abort();
        memcpy(copy, text ? text : "", size);
        (*out)[n++] = copy;
    }
    sqlite3_finalize(s);
    return n;
}

static size_t index_of(char **names, size_t count, const unsigned char *text)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], text ? (const char *)text : "") != 0) i++;
    return i;
}

static void read_pivot(sqlite3 *db, struct pivot *p)
{
    char sql[400];
    sqlite3_stmt *s = NULL;
    p->row_count = read_names(db, p->rows, &p->row);
    p->column_count = read_names(db, p->columns, &p->column);
    p->cells = calloc(p->row_count * p->column_count + 1, sizeof *p->cells);
    if (!p->cells) abort();
    for (size_t i = 0; i < p->row_count * p->column_count; i++) p->cells[i] = -1;
    snprintf(sql, sizeof sql,
             "SELECT %s, %s, %s FROM cells WHERE state IN ('ok', 'failed') GROUP BY 1, 2",
             p->rows->sql, p->columns->sql, p->value->sql);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return;
    while (sqlite3_step(s) == SQLITE_ROW) {
        const size_t r = index_of(p->row, p->row_count, sqlite3_column_text(s, 0)),
                     c = index_of(p->column, p->column_count, sqlite3_column_text(s, 1));
        if (r == p->row_count || c == p->column_count || sqlite3_column_type(s, 2) == SQLITE_NULL)
            continue;
        const double v = sqlite3_column_double(s, 2);
        p->cells[r * p->column_count + c] = v;
        if (v > p->most) p->most = v;
    }
    sqlite3_finalize(s);
}

static void print_text(const struct pivot *p)
{
    size_t width = strlen(p->rows->name);
    for (size_t r = 0; r < p->row_count; r++)
        if (strlen(p->row[r]) > width) width = strlen(p->row[r]);
    printf("%s by %s and %s\n%-*s", p->value->name, p->rows->name, p->columns->name, (int)width,
           "");
    for (size_t c = 0; c < p->column_count; c++) printf("  %10s", p->column[c]);
    printf("\n");
    for (size_t r = 0; r < p->row_count; r++) {
        printf("%-*s", (int)width, p->row[r]);
        for (size_t c = 0; c < p->column_count; c++) {
            const double v = p->cells[r * p->column_count + c];
            const size_t n = strlen(p->column[c]);
            if (v < 0) printf("  %*s", n > 10 ? (int)n : 10, "-");
            else printf("  %*.6g", n > 10 ? (int)n : 10, v);
        }
        printf("\n");
    }
}

static void print_csv(const struct pivot *p)
{
    put_csv(p->rows->name);
    for (size_t c = 0; c < p->column_count; c++) {
        putchar(',');
        put_csv(p->column[c]);
    }
    printf("\n");
    for (size_t r = 0; r < p->row_count; r++) {
        put_csv(p->row[r]);
        for (size_t c = 0; c < p->column_count; c++) {
            const double v = p->cells[r * p->column_count + c];
            putchar(',');
            if (v >= 0) printf("%.10g", v);
        }
        printf("\n");
    }
}

static void put_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '&') fputs("&amp;", stdout);
        else if (*text == '<') fputs("&lt;", stdout);
        else putchar(*text);
    }
}

/* A cell's colour goes from white to blue. */
static void print_html(const struct pivot *p)
{
    printf(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n"
        "<style>body{font-family:sans-serif}td,th{padding:.3em .8em;text-align:right}"
        "th{background:#eee}</style></head><body>\n<h1>%s by %s and %s</h1>\n<table><tr><th></th>",
        p->value->name, p->value->name, p->rows->name, p->columns->name);
    for (size_t c = 0; c < p->column_count; c++) {
        printf("<th>");
        put_escaped(p->column[c]);
        printf("</th>");
    }
    printf("</tr>\n");
    for (size_t r = 0; r < p->row_count; r++) {
        printf("<tr><th>");
        put_escaped(p->row[r]);
        printf("</th>");
        for (size_t c = 0; c < p->column_count; c++) {
            const double v = p->cells[r * p->column_count + c];
            const int shade = p->most > 0 && v > 0 ? (int)(v / p->most * 140) : 0;
            if (v < 0) printf("<td>-</td>");
            else
                printf("<td style=\"background:rgb(%d,%d,255)\">%.6g</td>", 255 - shade,
                       255 - shade, v);
        }
        printf("</tr>\n");
    }
    printf("</table></body></html>\n");
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++) free(names[i]);
    free((void *)names);
}

static bool read_options(struct words *w, struct pivot *p, const char **format)
{
    bool has_margin = false, of_pivot = false;
    enum { AXES = sizeof axes / sizeof *axes, VALUES = sizeof values / sizeof *values };
    for (int id; (id = words_next(w));) {
        of_pivot |= id == 'r' || id == 'c' || id == 'v';
        if (id == 'r') p->rows = find(axes, AXES, "rows", w->value);
        else if (id == 'c') p->columns = find(axes, AXES, "columns", w->value);
        else if (id == 'v') p->value = find(values, VALUES, "value", w->value);
        else if (id == 'b') p->baseline = w->value;
        else if (id == 's') {
            unsigned long percent;
            if (!option_number("sweep report", "--slower", w->value, 1000000, &percent))
                return false;
            p->slower = (double)percent;
            has_margin = true;
        } else *format = w->value;
        if (!p->rows || !p->columns || !p->value) return false;
    }
    if (w->wrong) return false;
    if (strcmp(*format, "text") != 0 && strcmp(*format, "csv") != 0 &&
        strcmp(*format, "html") != 0) {
        usage_error("sweep report", "--format is text, csv or html, not '%s'", *format);
        return false;
    }
    if (p->baseline && **format == 'h') {
        usage_error("sweep report", "--baseline prints text or csv");
        return false;
    }
    if (p->baseline && of_pivot) {
        usage_error("sweep report",
                    "--baseline prints no pivot: leave out --rows, --columns and --value");
        return false;
    }
    if (has_margin && !p->baseline) {
        usage_error("sweep report", "--slower needs --baseline");
        return false;
    }
    if (w->operands == 1) return true;
    usage_error("sweep report", "one folder of a sweep is wanted");
    return false;
}

static int report(int argc, char **argv)
{
    struct words w = {.command = &command_sweep_report, .argc = argc, .argv = argv};
    struct pivot p = {.rows = &axes[0], .columns = &axes[1], .value = &values[0], .slower = 20};
    const char *format = "text";
    if (!read_options(&w, &p, &format)) return EXIT_USAGE;
    sqlite3 *db = open_results("sweep report", argv[1]);
    if (!db) return EXIT_USAGE;
    if (p.baseline) {
        const int status = sweep_baseline_print(db, p.baseline, p.slower, *format == 'c');
        sqlite3_close(db);
        return finish_output("sweep report", status);
    }
    read_pivot(db, &p);
    sqlite3_close(db);
    if (*format == 't') print_text(&p);
    else if (*format == 'c') print_csv(&p);
    else print_html(&p);
    free_names(p.row, p.row_count);
    free_names(p.column, p.column_count);
    free(p.cells);
    return finish_output("sweep report", EXIT_FINE);
}

const struct command command_sweep_report = {
    .name = "sweep report",
    .summary = "a table of a sweep over any two of target, order, seed and GPU",
    .usage = "sweep report DIR [options]",
    .description =
        "Prints a pivot of DIR/results.sqlite. Cells that have not run, or are stale, do not count.\n"
        "--baseline DIR compares with an earlier sweep instead, and has a status of its own.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status =
        "  0  success; with --baseline: nothing is worse\n  2  a wrong call, or there is no database\n"
        "  4  with --baseline: something is worse",
    .examples =
        "  heddle sweep report out --baseline last-week\n"
        "  heddle sweep report out --rows target --columns order --value cycles --format html",
    .run = report,
};
