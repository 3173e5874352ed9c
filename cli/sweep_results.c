/* Writes the results of a sweep: a database, the verdict, JUnit XML. */
#include "cli/sweep.h"

#include "base/replace.h"
#include "cli/cli.h"

#include "base/buf.h"
#include "determinism/orders.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const states[] = {"missing", "ok", "failed", "stale"};

/* ---- the database ----------------------------------------------------------------------------- */

/* docs/sweep.md describes these tables; a change of them is a new version there. */
static const char schema[] =
    "CREATE TABLE sweep(version INTEGER, name TEXT, heddle TEXT);"
    "CREATE TABLE cells(id TEXT PRIMARY KEY, target TEXT, order_name TEXT, seed INTEGER, gpu TEXT,"
    " state TEXT, exit INTEGER, digest TEXT, launches INTEGER, warp_instructions INTEGER, races INTEGER,"
    " cycles REAL, seconds REAL, host TEXT);";

static bool put_cell(sqlite3_stmt *s, const struct sweep_plan *p, const struct sweep_cell *c)
{
    const struct sweep_record *r = c->record;
    sqlite3_bind_text(s, 1, c->id, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, p->targets[c->target].name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, p->orders[c->order], -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, (sqlite3_int64)c->seed);
    sqlite3_bind_text(s, 5, p->gpus[c->gpu], -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, states[c->state], -1, SQLITE_STATIC);
    if (r) {
        sqlite3_bind_int(s, 7, r->exit);
        if (*r->digest) sqlite3_bind_text(s, 8, r->digest, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 9, (sqlite3_int64)r->launches);
        sqlite3_bind_int64(s, 10, (sqlite3_int64)r->warp_instructions);
        if (p->measure & SWEEP_RACES) sqlite3_bind_int64(s, 11, (sqlite3_int64)r->races);
        if (r->cycles > 0) sqlite3_bind_double(s, 12, r->cycles);
        sqlite3_bind_double(s, 13, r->seconds);
        if (*r->host) sqlite3_bind_text(s, 14, r->host, -1, SQLITE_STATIC);
    }
    const bool ok = sqlite3_step(s) == SQLITE_DONE;
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return ok;
}

static bool put_all(sqlite3 *db, const struct sweep_plan *p, const struct sweep_cell *cells,
                    size_t count)
{
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "INSERT INTO sweep VALUES(2, ?, ?)", -1, &s, NULL) ==
                  SQLITE_OK;
    if (ok) {
        sqlite3_bind_text(s, 1, p->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, heddle_version(), -1, SQLITE_STATIC);
        ok = sqlite3_step(s) == SQLITE_DONE;
    }
    sqlite3_finalize(s);
    ok = ok &&
         sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO cells VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                            -1, &s, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < count; i++) ok = put_cell(s, p, &cells[i]);
    if (ok) sqlite3_finalize(s);
    return ok && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

bool sweep_results_write(const char *folder, const struct sweep_plan *p,
                         const struct sweep_cell *cells, size_t count)
{
    char path[4096], temporary[4200];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    (void)unlink(temporary);
    bool ok = sqlite3_open(temporary, &db) == SQLITE_OK &&
              sqlite3_exec(db, "PRAGMA journal_mode=OFF", NULL, NULL, NULL) == SQLITE_OK;
    ok = ok && put_all(db, p, cells, count);
    if (!ok)
        usage_error("sweep", "cannot write '%s': %s", temporary,
                    db ? sqlite3_errmsg(db) : "no memory");
    sqlite3_close(db);
    if (ok && rename(temporary, path) == 0) return true;
    if (ok) usage_error("sweep", "cannot write '%s': %s", path, strerror(errno));
    (void)unlink(temporary);
    return false;
}

/* ---- the verdict ------------------------------------------------------------------------------ */

struct tally { /* of one target on one GPU under one order */
    size_t cells, ok, failed, left, racy;
    size_t results;
};

static int by_text(const void *x, const void *y)
{
    const char *const *a = x, *const *b = y;
    return strcmp(*a, *b);
}

/* The cells of one target, GPU and order stand side by side. */
static struct tally tally_of(const struct sweep_cell *c, size_t n)
{
    struct tally t = {.cells = n};
    const char **seen = calloc(n + 1, sizeof *seen);
    size_t digests = 0;
    if (!seen) abort();
    for (size_t i = 0; i < n; i++) {
        t.ok += c[i].state == SWEEP_OK;
        t.failed += c[i].state == SWEEP_FAILED;
        t.left += c[i].state == SWEEP_MISSING || c[i].state == SWEEP_STALE;
        if (c[i].state != SWEEP_OK) continue;
        t.racy += c[i].record->races > 0;
        if (*c[i].record->digest) seen[digests++] = c[i].record->digest;
    }
    if (digests) qsort((void *)seen, digests, sizeof *seen, by_text);
    for (size_t i = 0; i < digests; i++) t.results += !i || strcmp(seen[i - 1], seen[i]) != 0;
    free((void *)seen);
    return t;
}

static size_t group_at(const struct sweep_cell *cells, size_t i, size_t count)
{
    size_t n = 1;
    while (i + n < count && cells[i + n].target == cells[i].target &&
           cells[i + n].gpu == cells[i].gpu && cells[i + n].order == cells[i].order)
        n++;
    return n;
}

/* As `heddle check`: 8, 7, 6; then what failed. DAB guarantees one result to programs without races alone, so that
 * several say nothing of the order: they are 6. */
static int status_of(const struct tally *t, const char *order)
{
    const bool promised = orders_promise(order) == ORDER_STRONG;
    if (t->results > 1 && promised) return EXIT_BROKEN_PROMISE;
    if (t->racy) return EXIT_RACY;
    if (t->results > 1) return EXIT_NONDETERMINISTIC;
    return t->failed ? EXIT_FAULT : EXIT_FINE;
}

int sweep_results_verdict(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count,
                          bool quiet)
{
    int status = EXIT_FINE;
    if (!quiet)
        printf("%-32s %-28s %-12s %7s %7s %7s %7s %7s\n", "target", "order", "gpu", "cells",
               "results", "racy", "failed", "left");
    for (size_t i = 0, n; i < count; i += n) {
        n = group_at(cells, i, count);
        const struct tally t = tally_of(&cells[i], n);
        const char *order = p->orders[cells[i].order];
        const int own = status_of(&t, order);
        if (own > status) status = own;
        if (!quiet)
            printf("%-32.32s %-28.28s %-12.12s %7zu %7zu %7zu %7zu %7zu\n",
                   p->targets[cells[i].target].name, order, p->gpus[cells[i].gpu], t.cells,
                   t.results, t.racy, t.failed, t.left);
    }
    return status;
}

/* ---- JUnit ------------------------------------------------------------------------------------ */

static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '&') fputs("&amp;", f);
        else if (*text == '<') fputs("&lt;", f);
        else if (*text == '"') fputs("&quot;", f);
        else fputc((unsigned char)*text < ' ' ? '?' : *text, f);
    }
}

static void put_case(FILE *f, const struct sweep_plan *p, const struct sweep_cell *c,
                     const struct tally *t)
{
    const int status = status_of(t, p->orders[c->order]);
    fputs("    <testcase classname=\"", f);
    put_escaped(f, p->targets[c->target].name);
    fputs("\" name=\"", f);
    put_escaped(f, p->orders[c->order]);
    fputs(" on ", f);
    put_escaped(f, p->gpus[c->gpu]);
    fputs("\">", f);
    if (t->left)
        fprintf(f, "<skipped message=\"%zu of %zu cells have not run\"/>", t->left, t->cells);
    else if (status)
        fprintf(f, "<failure message=\"%zu results, %zu racy, %zu failed of %zu cells\"/>",
                t->results, t->racy, t->failed, t->cells);
    fputs("</testcase>\n", f);
}

bool sweep_results_junit(const char *path, const struct sweep_plan *p,
                         const struct sweep_cell *cells, size_t count)
{
    struct replacement f;
    bool ok = replacement_open(&f, path);
    if (ok) {
        fprintf(f.out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
        put_escaped(f.out, p->name);
        fputs("\">\n", f.out);
        for (size_t i = 0, n; i < count; i += n) {
            n = group_at(cells, i, count);
            const struct tally t = tally_of(&cells[i], n);
            put_case(f.out, p, &cells[i], &t);
        }
        fputs("  </testsuite>\n</testsuites>\n", f.out);
        ok = !ferror(f.out);
    }
    if (replacement_close(&f, ok)) return true;
    usage_error("sweep", "cannot write '%s': %s", path, strerror(errno));
    return false;
}
