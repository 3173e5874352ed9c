/* heddle sweep report --baseline: prints results that are worse than in an earlier sweep. */
#include "cli/sweep_baseline.h"

#include "cli/cli.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* Cells that ran in both sweeps: n is this one, b the earlier one. */
#define BOTH                                                                                       \
    " FROM main.cells n JOIN old.cells b USING(target, order_name, gpu, seed)"                     \
    " WHERE n.state IN ('ok','failed') AND b.state IN ('ok','failed')"
#define GROUPS " GROUP BY target, order_name, gpu"
#define ROW(what, value)                                                                           \
    "SELECT '" what                                                                                \
    "' what, target, order_name, gpu, " value("b") " was, " value("n") " is_now" BOTH

/* Numbers of a group of cells; `x` is n or b. */
#define FAILED(x) "sum(" x ".state='failed')"
#define RACY(x) "sum(" x ".races>0)"
#define RESULTS(x) "count(DISTINCT CASE WHEN " x ".state='ok' THEN " x ".digest END)"
#define CYCLES(x) "avg(" x ".cycles)"
#define SECONDS(x) "sum(" x ".seconds)"

/* ?1: by how much a number may grow. Host times of less than a second more say nothing. */
static const char worse[] = "SELECT * FROM (" ROW("failed", FAILED) GROUPS
    ") WHERE is_now > was"
    " UNION ALL SELECT * FROM (" ROW(
        "racy",
        RACY) " AND n.races IS NOT NULL AND b.races IS NOT NULL" GROUPS ") WHERE is_now > was"
              " UNION ALL SELECT * FROM (" ROW(
                  "results",
                  RESULTS) " AND n.state='ok' AND b.state='ok'" GROUPS ") WHERE is_now > was"
                           " UNION ALL SELECT * FROM (" ROW(
                               "cycles",
                               CYCLES) " AND n.cycles IS NOT NULL AND b.cycles IS NOT NULL" GROUPS
                                       ") WHERE is_now > was * ?1"
                                       " UNION ALL SELECT * FROM (" ROW(
                                           "seconds",
                                           SECONDS) " AND n.state='ok' AND b.state='ok'" GROUPS
                                                    ") WHERE is_now > was * ?1 AND is_now > was + 1";

static int say(sqlite3 *db, const char *folder)
{
    return usage_error("sweep report", "cannot compare with '%s': %s", folder, sqlite3_errmsg(db));
}

static bool attach(sqlite3 *db, const char *folder)
{
    char path[4096];
    sqlite3_stmt *s = NULL;
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    bool ok = sqlite3_prepare_v2(db, "ATTACH ? AS old", -1, &s, NULL) == SQLITE_OK &&
              sqlite3_bind_text(s, 1, path, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
              sqlite3_step(s) == SQLITE_DONE;
    if (!ok) (void)say(db, folder);
    sqlite3_finalize(s);
    return ok;
}

/* Cells that ran in both; below 0: after a message. */
static long long common(sqlite3 *db, const char *folder)
{
    long long n = -1;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT count(*)" BOTH, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        n = sqlite3_column_int64(s, 0);
    else (void)say(db, folder);
    sqlite3_finalize(s);
    if (n == 0) usage_error("sweep report", "no cell ran both here and in '%s'", folder);
    return n > 0 ? n : -1;
}

/* RFC 4180. */
static void put_field(const char *text)
{
    const bool quoted = text[strcspn(text, ",\"\n")] != '\0';
    if (quoted) putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    if (quoted) putchar('"');
}

static void put_row(sqlite3_stmt *s, bool csv)
{
    const char *text[4];
    const double was = sqlite3_column_double(s, 4), now = sqlite3_column_double(s, 5);
    for (int i = 0; i < 4; i++) text[i] = (const char *)sqlite3_column_text(s, i);
    if (!csv) {
        printf("%-8s %-32s %-28s %-12s %12.6g %12.6g\n", text[0], text[1], text[2], text[3], was,
               now);
        return;
    }
    for (int i = 0; i < 4; i++) {
        put_field(text[i]);
        putchar(',');
    }
    printf("%.10g,%.10g\n", was, now);
}

int sweep_baseline_print(sqlite3 *db, const char *folder, double slower, bool csv)
{
    sqlite3_stmt *s = NULL;
    size_t rows = 0;
    int step = SQLITE_ERROR;
    if (!attach(db, folder)) return EXIT_USAGE;
    const long long cells = common(db, folder);
    if (cells < 0) return EXIT_USAGE;
    if (sqlite3_prepare_v2(db, worse, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_bind_double(s, 1, 1 + slower / 100) == SQLITE_OK)
        while ((step = sqlite3_step(s)) == SQLITE_ROW) {
            if (rows++ == 0 && !csv)
                printf("%-8s %-32s %-28s %-12s %12s %12s\n", "worse", "target", "order", "gpu",
                       "was", "is");
            if (rows == 1 && csv) printf("worse,target,order,gpu,was,is\n");
            put_row(s, csv);
        }
    const int status = step == SQLITE_DONE ? (rows ? EXIT_DIFFERS : EXIT_FINE) : say(db, folder);
    sqlite3_finalize(s);
    if (rows == 0 && csv && step == SQLITE_DONE) printf("worse,target,order,gpu,was,is\n");
    if (!csv && step == SQLITE_DONE)
        printf("%zu worse in %lld cells that ran in both sweeps\n", rows, cells);
    return status;
}
