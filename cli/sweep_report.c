/* heddle sweep query, heddle sweep report: query the database of a sweep. */
#include "cli/sweep_baseline.h"
#include "cli/sweep_pivot.h"

#include "cli/command.h"

#include "base/buf.h"
#include "base/text.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* The value behind "KEY=" of a target or order, up to the next ':'; NULL: it has none. */
static const char *value_of(const char *text, const char *key, int *length)
{
    const size_t n = strlen(key);
    for (; text; text = strchr(text, ':')) {
        text += *text == ':';
        if (strncmp(text, key, n) != 0 || text[n] != '=') continue;
        *length = (int)strcspn(text + n + 1, ":");
        return text + n + 1;
    }
    return NULL;
}

/* parameter(KEY, target, order): a number, a text, or '-': neither has the key. */
static void parameter(sqlite3_context *c, int count, sqlite3_value **v)
{
    const char *key = (const char *)sqlite3_value_text(v[0]), *value = NULL;
    int n = 0;
    for (int i = 1; i < count && !value && key; i++)
        value = value_of((const char *)sqlite3_value_text(v[i]), key, &n);
    if (!value) sqlite3_result_text(c, "-", 1, SQLITE_STATIC);
    else if (n && n < 18 && (int)strspn(value, "0123456789") >= n)
        sqlite3_result_int64(c, strtoll(value, NULL, 10));
    else sqlite3_result_text(c, value, n, SQLITE_TRANSIENT);
}

/* NULL after a message. */
static sqlite3 *open_results(const char *command, const char *folder)
{
    char path[4096];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "SELECT 1 FROM cells LIMIT 1", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_create_function(db, "parameter", 3, SQLITE_UTF8, NULL, parameter, NULL, NULL) ==
            SQLITE_OK)
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
    sqlite3_stmt *s = NULL, *next = NULL;
    const char *rest = "";
    const bool good = sqlite3_prepare_v2(db, sql, -1, &s, &rest) == SQLITE_OK;
    const bool one = good && s && sqlite3_prepare_v2(db, rest, -1, &next, NULL) == SQLITE_OK &&
                     !next;
    if (!one) {
        const int status = usage_error(command, "%s",
                                       !good ? sqlite3_errmsg(db)
                                       : !s  ? "there is no statement in this query"
                                             : "a query is one statement");
        sqlite3_finalize(s);
        sqlite3_finalize(next);
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
     .argument = "target|order|seed|gpu|KEY",
     .standard = "target",
     .help = "What has a row. KEY: the value of KEY=VALUE in the target or the order.",
     .id = 'r'},
    {.name = "columns",
     .argument = "target|order|seed|gpu|KEY",
     .standard = "order",
     .help = "What has a column.",
     .id = 'c'},
    {.name = "value",
     .argument = "results|mean-results|cells|failed|racy|cycles|seconds",
     .standard = "results",
     .help =
         "What a cell of the table has: the number of different results; the mean of that number over each target, order "
         "and GPU; the number of cells, of failed and of racy ones; the mean of estimated cycles; the seconds that the "
         "runs took in all.",
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
     .argument = "text|csv|html|svg",
     .standard = "text",
     .help = "html: a page with the table as a heat map, and bars. svg: a figure.",
     .id = 'f'},
    {.name = "chart",
     .argument = "map|bars",
     .standard = "map",
     .help =
         "With --format svg: a heat map, or bars. A bar of 'cycles' or 'mean-results' is a mean; a line through it reaches "
         "from the least to the most.",
     .id = 'C'},
};

struct axis {
    const char *name;
    const char *sql;    /* NULL: a key of targets and orders (parameter()) */
    const char *spread; /* of what the value is the mean; NULL: it is no mean */
};
static const struct axis axes[] = {{"target", "target", NULL},
                                   {"order", "order_name", NULL},
                                   {"seed", "seed", NULL},
                                   {"gpu", "gpu", NULL}};
static const struct axis values[] = {{"results", "count(distinct digest)", NULL},
                                     {"mean-results", "avg(n)", "n"},
                                     {"cells", "count(*)", NULL},
                                     {"failed", "sum(state='failed')", NULL},
                                     {"racy", "sum(races>0)", NULL},
                                     {"cycles", "avg(cycles)", "cycles"},
                                     {"seconds", "sum(seconds)", NULL}};

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

static const struct axis *find_axis(const char *option, const char *text, struct axis *key)
{
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (strcmp(axes[i].name, text) == 0) return &axes[i];
    if (!*text || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-")])
        return find(axes, sizeof axes / sizeof *axes, option, text);
    *key = (struct axis){text, NULL, NULL};
    return key;
}

struct request {
    struct axis row_key, column_key; /* if rows or columns are a key */
    const struct axis *rows, *columns, *value;
    const char *baseline;       /* NULL: none */
    double slower;              /* percent */
    const char *format, *chart; /* chart: NULL: not asked for */
};

enum { MOST_SQL = 160 };

static const char *sql_of(const struct axis *a, char text[MOST_SQL])
{
    if (a->sql) return a->sql;
    snprintf(text, MOST_SQL, "parameter('%.100s', target, order_name)", a->name);
    return text;
}

static size_t read_names(sqlite3 *db, const struct axis *a, char ***out)
{
    char sql[300], axis[MOST_SQL];
    sqlite3_stmt *s = NULL;
    size_t n = 0, cap = 0;
    snprintf(sql, sizeof sql, "SELECT DISTINCT %s FROM cells ORDER BY 1", sql_of(a, axis));
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

/* `n` numbers of "nothing". */
static double *nothing(size_t n)
{
    double *all = calloc(n + 1, sizeof *all);
    if (!all) abort();
    for (size_t i = 0; i < n; i++) all[i] = -1;
    return all;
}

static double column_or_nothing(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? -1 : sqlite3_column_double(s, column);
}

static void read_pivot(sqlite3 *db, const struct request *q, struct sweep_pivot *p)
{
    char sql[800], spread[80] = "NULL, NULL", rows[MOST_SQL], columns[MOST_SQL];
    const bool of_groups = strcmp(q->value->name, "mean-results") == 0;
    sqlite3_stmt *s = NULL;
    *p = (struct sweep_pivot){
        .rows = q->rows->name, .columns = q->columns->name, .value = q->value->name};
    p->row_count = read_names(db, q->rows, &p->row);
    p->column_count = read_names(db, q->columns, &p->column);
    p->cells = nothing(p->row_count * p->column_count);
    p->least = nothing(p->row_count * p->column_count);
    p->most = nothing(p->row_count * p->column_count);
    if (q->value->spread)
        snprintf(spread, sizeof spread, "min(%s), max(%s)", q->value->spread, q->value->spread);
    snprintf(sql, sizeof sql,
             of_groups ? "SELECT r, c, %3$s, %4$s FROM (SELECT %1$s AS r, %2$s AS c, "
                         "count(DISTINCT digest) AS n FROM cells WHERE state IN ('ok', 'failed') "
                         "GROUP BY 1, 2, target, order_name, gpu) GROUP BY 1, 2"
                       : "SELECT %s, %s, %s, %s FROM cells WHERE state IN ('ok', 'failed') "
                         "GROUP BY 1, 2",
             sql_of(q->rows, rows), sql_of(q->columns, columns), q->value->sql, spread);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return;
    while (sqlite3_step(s) == SQLITE_ROW) {
        const size_t r = index_of(p->row, p->row_count, sqlite3_column_text(s, 0)),
                     c = index_of(p->column, p->column_count, sqlite3_column_text(s, 1)),
                     i = r * p->column_count + c;
        if (r == p->row_count || c == p->column_count) continue;
        p->cells[i] = column_or_nothing(s, 2);
        p->least[i] = column_or_nothing(s, 3);
        p->most[i] = column_or_nothing(s, 4);
        if (p->cells[i] > p->greatest) p->greatest = p->cells[i];
    }
    sqlite3_finalize(s);
}

static void print_text(const struct sweep_pivot *p)
{
    size_t width = strlen(p->rows);
    for (size_t r = 0; r < p->row_count; r++)
        if (strlen(p->row[r]) > width) width = strlen(p->row[r]);
    printf("%s by %s and %s\n%-*s", p->value, p->rows, p->columns, (int)width, "");
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

static void print_csv(const struct sweep_pivot *p)
{
    put_csv(p->rows);
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

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++) free(names[i]);
    free((void *)names);
}

static bool is_one_of(const char *option, const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0) return true;
    usage_error("sweep report", "--%s cannot be '%s' (heddle sweep report --help)", option, text);
    return false;
}

static bool check_formats(const struct request *q)
{
    static const char *const formats[] = {"text", "csv", "html", "svg"};
    static const char *const charts[] = {"map", "bars"};
    if (!is_one_of("format", q->format, formats, 4)) return false;
    if (q->chart && !is_one_of("chart", q->chart, charts, 2)) return false;
    if (!q->chart || *q->format == 's') return true;
    usage_error("sweep report", "--chart needs --format svg");
    return false;
}

static bool read_options(struct words *w, struct request *q)
{
    bool has_margin = false, of_pivot = false;
    enum { VALUES = sizeof values / sizeof *values };
    for (int id; (id = words_next(w));) {
        of_pivot |= id == 'r' || id == 'c' || id == 'v';
        if (id == 'r') q->rows = find_axis("rows", w->value, &q->row_key);
        else if (id == 'c') q->columns = find_axis("columns", w->value, &q->column_key);
        else if (id == 'v') q->value = find(values, VALUES, "value", w->value);
        else if (id == 'b') q->baseline = w->value;
        else if (id == 'C') q->chart = w->value;
        else if (id == 's') {
            unsigned long percent;
            if (!option_number("sweep report", "--slower", w->value, 1000000, &percent))
                return false;
            q->slower = (double)percent;
            has_margin = true;
        } else q->format = w->value;
        if (!q->rows || !q->columns || !q->value) return false;
    }
    if (w->wrong || !check_formats(q)) return false;
    if (q->baseline && (*q->format == 'h' || *q->format == 's')) {
        usage_error("sweep report", "--baseline prints text or csv");
        return false;
    }
    if (q->baseline && of_pivot) {
        usage_error("sweep report",
                    "--baseline prints no pivot: leave out --rows, --columns and --value");
        return false;
    }
    if (has_margin && !q->baseline) {
        usage_error("sweep report", "--slower needs --baseline");
        return false;
    }
    if (w->operands == 1) return true;
    usage_error("sweep report", "one folder of a sweep is wanted");
    return false;
}

/* Whether any target or order has the key. */
static bool has_key(sqlite3 *db, const char *option, const struct axis *a)
{
    char sql[300], axis[MOST_SQL];
    sqlite3_stmt *s = NULL;
    if (a->sql) return true;
    snprintf(sql, sizeof sql, "SELECT 1 FROM cells WHERE %s <> '-' LIMIT 1", sql_of(a, axis));
    const bool found = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
                       sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    if (!found) (void)find(axes, sizeof axes / sizeof *axes, option, a->name);
    return found;
}

static void print(const struct request *q, const struct sweep_pivot *p)
{
    struct buf out = {0};
    switch (*q->format) {
    case 't': print_text(p); break;
    case 'c': print_csv(p); break;
    case 'h': sweep_pivot_page(p, &out); break;
    default:
        if (q->chart && *q->chart == 'b') sweep_pivot_bars(p, &out);
        else sweep_pivot_map(p, &out);
    }
    if (out.size) (void)fwrite(out.data, 1, out.size, stdout);
    buf_free(&out);
}

static int report(int argc, char **argv)
{
    struct words w = {.command = &command_sweep_report, .argc = argc, .argv = argv};
    struct request q = {
        .rows = &axes[0], .columns = &axes[1], .value = &values[0], .slower = 20, .format = "text"};
    struct sweep_pivot p;
    if (!read_options(&w, &q)) return EXIT_USAGE;
    sqlite3 *db = open_results("sweep report", argv[1]);
    if (!db) return EXIT_USAGE;
    if (q.baseline) {
        const int status = sweep_baseline_print(db, q.baseline, q.slower, *q.format == 'c');
        sqlite3_close(db);
        return finish_output("sweep report", status);
    }
    if (!has_key(db, "rows", q.rows) || !has_key(db, "columns", q.columns)) {
        sqlite3_close(db);
        return EXIT_USAGE;
    }
    read_pivot(db, &q, &p);
    sqlite3_close(db);
    print(&q, &p);
    free_names(p.row, p.row_count);
    free_names(p.column, p.column_count);
    free(p.cells);
    free(p.least);
    free(p.most);
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
        "  heddle sweep report out --rows target --columns order --value cycles --format html\n"
        "  heddle sweep report out --rows quantum --columns target --value cycles\n"
        "  heddle sweep report out --value cycles --format svg --chart bars >cycles.svg",
    .run = report,
};
