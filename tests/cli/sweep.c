/* `heddle sweep`: plans and their errors, journal, resuming after kills, cache, results. The environment's HEDDLE names
 * the program; without it, ./heddle. */
#define _GNU_SOURCE
#include "tests/support/command.h"

#include "base/buf.h"
#include "base/rng.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

TestSuite(sweep, .init = command_enter, .fini = command_leave);

static int run(const char *arguments, struct buf *out)
{
    char words[1000];
    snprintf(words, sizeof words, "sweep %s", arguments);
    return command_run(words, out);
}

/* Sanitized cells take several times as long: fewer, and later kills. */
#if SANITIZED
#define SEEDS "1-2"
enum { LAST_SEED = 2, SLOWER = 5 };
#else
#define SEEDS "1-4"
enum { LAST_SEED = 4, SLOWER = 1 };
#endif

static const char plan[] = "sweep: p\ntargets: [suite:sum_atomic, suite:saxpy]\n"
                           "orders: [native, random, 'gpudet:quantum={q}']\nvary: {q: [100, 200]}\n"
                           "seeds: " SEEDS
                           "\ngpus: [gtx480]\nmeasure: [digest, races]\nlimits: {timeout: 120s}\n";
enum { CELLS = 2 * (1 + 3 * LAST_SEED) };

/* Everything but times. */
#define DUMP                                                                                            \
    "query p.sweep 'select id,target,order_name,seed,gpu,state,exit,digest,launches,warp_instructions," \
    "races,cycles from cells order by id'"

static char *dump(void)
{
    struct buf out = {0};
    cr_assert_eq(run(DUMP, &out), 0, "%s", out.data);
    return out.data;
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static char *journal(void)
{
    struct buf text = {0};
    cr_assert(buf_add_file(&text, "p.sweep/journal.ndjson", 1 << 20));
    return text.data;
}

/* Starts the sweep and kills it with all its cells after so many milliseconds. true: it had ended by itself. */
static bool start_and_kill(uint32_t milliseconds)
{
    static char *const words[] = {"heddle", "sweep", "plan.yaml", "--jobs", "3", NULL};
    return command_kill(words, milliseconds);
}

Test(sweep, kills_lose_nothing_and_repeat_nothing, .timeout = 600)
{
    struct buf out = {0};
    uint64_t g = 7;
    unsigned kills = 0;
    const char *most = getenv("HEDDLE_KILLS"); /* `make chaos` */
    const unsigned limit = most ? (unsigned)strtoul(most, NULL, 10) : SANITIZED ? 6 : 30;
    command_write("plan.yaml", plan);
    cr_assert_eq(run("plan.yaml --jobs 1 --quiet", &out), 6, "sum_atomic under random: %s",
                 out.data);
    char *alone = dump();
    cr_expect_eq(lines_of(alone), CELLS + 1);
    cr_assert_eq(rename("p.sweep", "first"), 0);
    while (kills < limit && !start_and_kill(SLOWER * (50 + rng_below(&g, 700)))) kills++;
    cr_expect_gt(kills, 1);
    cr_assert_eq(run("plan.yaml --quiet", &out), 6, "%s", out.data);
    char *killed = dump(), *text = journal();
    cr_expect_str_eq(killed, alone, "the same results after %u kills", kills);
    cr_expect_eq(lines_of(text), CELLS, "a line for each cell, %zu", lines_of(text));
    cr_expect_leq(strlen(text), 200 * CELLS);
    free(killed);
    free(text);
    free(alone);
    buf_free(&out);
}

Test(sweep, damaged_lines_run_again, .timeout = 300)
{
    struct buf out = {0};
    command_write("plan.yaml", plan);
    (void)run("plan.yaml --quiet", &out);
    char *whole = dump(), *text = journal();
    char *digest = strstr(text, "\"digest\":\"") + strlen("\"digest\":\"");
    *digest = *digest == '0' ? '1' : '0'; /* another result */
    text[strlen(text) - 9] = '\0';        /* the last line is cut short */
    command_write("p.sweep/journal.ndjson", text);
    cr_assert_eq(run("plan.yaml", &out), 6);
    cr_expect(strstr(out.data, "2 of 2 cells"), "%s", out.data);
    cr_expect(strstr(out.data, "2 damaged lines"), "%s", out.data);
    char *again = dump();
    cr_expect_str_eq(again, whole);
    free(again);
    free(whole);
    free(text);
    buf_free(&out);
}

Test(sweep, finished_cells_are_not_run_again, .timeout = 300)
{
    struct buf out = {0};
    cr_assert_eq(run("suite:saxpy --order random --seeds 1-3 --gpu gtx480", &out), 0, "%s",
                 out.data);
    cr_expect(strstr(out.data, "3 of 3 cells, 0 failed"), "%s", out.data);
    cr_expect_eq(run("suite:saxpy --order random --seeds 1-3 --gpu gtx480", &out), 0);
    cr_expect(strstr(out.data, "0 of 0 cells"), "%s", out.data);
    cr_expect_eq(run("suite:saxpy --order random --seeds 1-5 --gpu gtx480", &out), 2);
    cr_expect(strstr(out.data, "another plan") && strstr(out.data, "--mix"), "%s", out.data);
    cr_expect_eq(run("suite:saxpy --order random --seeds 1-5 --gpu gtx480 --mix", &out), 0);
    cr_expect(strstr(out.data, "2 of 2 cells"), "%s", out.data);
    cr_expect_eq(run("report sweep.sweep --columns seed", &out), 0);
    cr_expect(strstr(out.data, "suite:saxpy           1           1"), "%s", out.data);
    buf_free(&out);
}

/* A change of the plan's inputs makes cells of kernels stale, and not those of workloads. */
Test(sweep, changed_inputs_run_again, .timeout = 300)
{
    struct buf out = {0};
    command_write("k.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { ret; }\n");
    command_write("plan.yaml", "targets: [k.ptx, suite:saxpy]\ninputs: [data]\n");
    command_write("data", "1\n");
    cr_assert_eq(run("plan.yaml", &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "2 of 2 cells, 0 failed"), "%s", out.data);
    cr_expect_eq(run("plan.yaml", &out), 0);
    cr_expect(strstr(out.data, "0 of 0 cells"), "%s", out.data);
    command_write("data", "2\n");
    cr_expect_eq(run("plan.yaml", &out), 0);
    cr_expect(strstr(out.data, "1 of 1 cells, 0 failed"), "%s", out.data);
    buf_free(&out);
}

Test(sweep, cache_and_merge, .timeout = 300)
{
    struct buf out = {0};
    cr_assert_eq(run("suite:saxpy --order random --seeds 1-3 --output a --cache c", &out), 0, "%s",
                 out.data);
    cr_assert_eq(run("suite:saxpy --order random --seeds 2-5 --output b --cache c", &out), 0, "%s",
                 out.data);
    cr_expect(strstr(out.data, "2 cells from the cache"), "%s", out.data);
    cr_assert_eq(run("suite:saxpy --order random --seeds 1-5 --output d --merge a --merge b", &out),
                 0);
    cr_expect(strstr(out.data, "3 cells from 'a'") && strstr(out.data, "2 cells from 'b'"), "%s",
              out.data);
    cr_expect(strstr(out.data, "0 of 0 cells"), "%s", out.data);
    buf_free(&out);
}

Test(sweep, failed_cells, .timeout = 300)
{
    struct buf out = {0};
    command_write("plan.yaml", "sweep: p\ntargets: [suite:saxpy]\nlimits: {instructions: 10}\n");
    cr_assert_eq(run("plan.yaml --junit j.xml", &out), 3, "%s", out.data);
    cr_expect(strstr(out.data, "1 of 1 cells, 1 failed"), "%s", out.data);
    cr_expect_eq(run("plan.yaml", &out), 3);
    cr_expect(strstr(out.data, "0 of 0 cells"), "%s", out.data);
    cr_expect_eq(run("plan.yaml --retry-failed", &out), 3);
    cr_expect(strstr(out.data, "1 of 1 cells"), "%s", out.data);
    struct buf junit = {0};
    cr_assert(buf_add_file(&junit, "j.xml", 1 << 16));
    cr_expect(strstr(junit.data, "<failure message=\"0 results, 0 racy, 1 failed of 1 cells\"/>"),
              "%s", junit.data);
    buf_free(&junit);
    buf_free(&out);
}

Test(sweep, each_cell_names_its_host, .timeout = 300)
{
    struct buf out = {0};
    char name[256] = "", want[64];
    (void)gethostname(name, sizeof name - 1);
    cr_assert_eq(run("suite:saxpy --output p.sweep --quiet", &out), 0, "%s", out.data);
    cr_assert_eq(run("query p.sweep 'select host from cells'", &out), 0);
    snprintf(want, sizeof want, "host\n%.12s\n", name);
    cr_expect_str_eq(out.data, want);
    char *text = journal(), *host = strstr(text, ",\"h\":");
    cr_assert(host, "%s", text);
    host[6]++; /* the checksum covers it */
    command_write("p.sweep/journal.ndjson", text);
    cr_expect_eq(run("suite:saxpy --output p.sweep", &out), 0);
    cr_expect(strstr(out.data, "1 of 1 cells") && strstr(out.data, "1 damaged lines"), "%s",
              out.data);
    free(text);
    buf_free(&out);
}

/* A line that an earlier version of Heddle wrote: without a host. */
Test(sweep, journals_without_hosts_are_read, .timeout = 300)
{
    struct buf out = {0};
    cr_assert_eq(run("suite:saxpy --output p.sweep --quiet", &out), 0, "%s", out.data);
    char *text = journal(), *host = strstr(text, ",\"h\":");
    cr_assert(host, "%s", text);
    const uLong sum = crc32(crc32(0, (const Bytef *)text, (uInt)(host - text)),
                            (const Bytef *)",\"crc\":\"", 8);
    sprintf(host, ",\"crc\":\"%08lx\"}\n", sum);
    command_write("p.sweep/journal.ndjson", text);
    cr_expect_eq(run("suite:saxpy --output p.sweep", &out), 0);
    cr_expect(strstr(out.data, "0 of 0 cells"), "%s", out.data);
    free(text);
    buf_free(&out);
}

/* The journal's lines with other times, in turn, and the checksums that belong to them. */
static void set_seconds(const char *const *seconds)
{
    struct buf out = {0};
    char *text = journal();
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, seconds++) {
        char *at = strstr(line, ",\"s\":"), *host = strstr(line, ",\"h\":"),
             *crc = strstr(line, ",\"crc\":");
        const size_t from = out.size;
        cr_assert(at && at < end && host && host < end);
        buf_printf(&out, "%.*s,\"s\":%s%.*s,\"crc\":\"", (int)(at - line), line, *seconds,
                   (int)(crc - host), host);
        buf_printf(&out, "%08lx\"}\n",
                   crc32(0, (const Bytef *)out.data + from, (uInt)(out.size - from)));
    }
    command_write("p.sweep/journal.ndjson", out.data);
    free(text);
    buf_free(&out);
}

/* 3 cells of 3 s and 3 of 10 s are left when one of each has run. */
Test(sweep, a_dry_run_says_how_long_it_will_take, .timeout = 300)
{
    static const char words[] = "suite:saxpy suite:sum_atomic --order random --seeds 1-4 --jobs 1 "
                                "--output p.sweep --cache c";
    char line[300];
    struct buf out = {0};
    snprintf(line, sizeof line, "%s --dry-run", words);
    cr_assert_eq(run(line, &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "8 cells, 8 of them to be run\nnot counted: 8 cells"), "%s",
              out.data);
    cr_expect(access("p.sweep", F_OK) != 0); /* it has written nothing */
    snprintf(line, sizeof line, "%s --probe", words);
    cr_expect_eq(run(line, &out), 2);
    snprintf(line, sizeof line, "%s --dry-run --probe", words);
    cr_assert_eq(run(line, &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "2 of 2 cells") && strstr(out.data, "8 cells, 6 of them"), "%s",
              out.data);
    FILE *lock = fopen("p.sweep/lock", "we"); /* as a sweep has it */
    cr_assert(lock && flock(fileno(lock), LOCK_EX) == 0);
    snprintf(line, sizeof line, "%s --dry-run", words);
    cr_expect_eq(run(line, &out), 0, "%s", out.data);
    fclose(lock);
    snprintf(line, sizeof line, "%s --dry-run --probe", words);
    set_seconds((const char *const[]){"3.000", "10.000"});
    cr_assert_eq(run(line, &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "\n8 cells, 6 of them to be run, about 39 s with 1 jobs\n"), "%s",
              out.data);
    cr_expect(strstr(out.data, "suite:sum_atomic  random  seed 2  v100  10.00 s\n"), "%s",
              out.data);
    snprintf(line, sizeof line, "%s --dry-run --jobs 8", words);
    cr_assert_eq(run(line, &out), 0);
    cr_expect(strstr(out.data, "about 10 s with 8 jobs"), "none ends before its longest cell: %s",
              out.data);
    cr_assert_eq(rename("p.sweep", "first"), 0);
    snprintf(line, sizeof line, "%s --dry-run", words);
    cr_assert_eq(run(line, &out), 0);
    cr_expect(strstr(out.data, "2 of these are in the cache") &&
                  strstr(out.data, "counted: 6 cells"),
              "%s", out.data);
    buf_free(&out);
}

Test(sweep, errors_stand_where_they_are, .timeout = 300)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"target: [suite:saxpy]\n", "plan.yaml:1:1: error: a plan has no key 'target'"},
        {"target: [suite:saxpy]\n", "did you mean 'targets'?"},
        {"targets: [suite:saxpi]\n", "plan.yaml:1:17: error: there is no workload 'saxpi'"},
        {"targets: [suite:saxpi]\n", "did you mean 'saxpy'?"},
        {"targets: [suite:saxpy]\norders: [randon]\n",
         "plan.yaml:2:10: error: there is no order 'randon'"},
        {"targets: [suite:saxpy]\norders: ['gpudet:quantun=3']\n", "did you mean 'quantum'"},
        {"targets: [suite:saxpy]\norders: ['gpudet:quantum={p}']\n", "'vary' has no 'p'"},
        {"targets: ['suite:sum_lock:n={m}']\nvary: {n: [4]}\n", "'vary' has no 'm'"},
        {"targets: ['suite:sum_lock:n={n}']\nvary: {n: [4, 0]}\n", "also n=COUNT, not 'n=0'"},
        {"targets: ['suite:sum_lock:n={n}']\nvary: [n]\n", "'vary' is a map"},
        {"targets: [suite:saxpy]\ngpus: [gtx48]\n", "did you mean 'gtx480'?"},
        {"targets: [suite:saxpy]\nmeasure: [digests]\n", "did you mean 'digest'?"},
        {"targets: [suite:saxpy]\nseeds: 5-1\n", "seeds are N or FIRST-LAST"},
        {"targets: [suite:saxpy]\nlimits: {time: 3}\n", "a limit is timeout"},
        {"targets: [/nowhere/app]\n", "cannot read '/nowhere/app'"},
        {"targets: [suite:saxpy]\ninputs: [plan.yaml, nowhere]\n",
         "plan.yaml:2:21: error: cannot read 'nowhere'"},
        {"targets: []\norders: [", "error"},
        {"targets: []\n", "plan.yaml:1:1: error: 'targets' is empty"},
        {"targets: [suite:saxpy]\ngpus: []\n", "plan.yaml:2:1: error: 'gpus' is empty"},
        {"targets: [suite:saxpy]\nseeds: 18446744073709551615\n", "none above 2^63 - 1"},
        {"targets: [suite:saxpy]\norders: ['gpudet:quantum={q}']\nvary: {q: ['{q}']}\n",
         "a value has the name of its own placeholder"},
        {"targets: [suite:saxpy]\norders: ['gpudet:quantum={q}']\nvary: {q: ['{q}{q}{q}']}\n",
         "a value has the name of its own placeholder"},
        {"targets: [suite:saxpy]\nlimits: {memory: 8X}\n", "memory wants bytes up to 16T"},
        {"targets: [suite:saxpy]\nlimits: {instructions: -1}\n", "max-instructions wants a number"},
    };
    struct buf out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        command_write("plan.yaml", rows[i].text);
        cr_expect_eq(run("plan.yaml --check", &out), 1, "%s", rows[i].text);
        cr_expect(strstr(out.data, rows[i].message), "%s: %s", rows[i].text, out.data);
    }
    command_write("plan.yaml", "sweep: ../out\ntargets: [suite:saxpy]\n");
    cr_expect_eq(run("plan.yaml", &out), 2, "%s", out.data);
    command_write("plan.yaml", "targets: [{program: /bin/true}]\n");
    cr_expect_eq(run("plan.yaml --no-programs --check", &out), 1);
    cr_expect(strstr(out.data, "--no-programs is given"), "%s", out.data);
    cr_expect_eq(run("suite:saxpy --jobs 0", &out), 2);
    cr_expect(strstr(out.data, "--jobs wants at least one process"), "%s", out.data);
    buf_free(&out);
}

Test(sweep, plans_that_are_built_in, .timeout = 300)
{
    static const char *const names[] = {"nightly", "thesis-quantum", "dab-buffers", "litmus",
                                        "figure-1.1"};
    struct buf out = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char arguments[80];
        snprintf(arguments, sizeof arguments, "--plan %s --check", names[i]);
        cr_expect_eq(run(arguments, &out), 0, "%s: %s", names[i], out.data);
    }
    cr_expect(strstr(out.data, "100000 cells: 100 targets, 2 orders, 500 seeds"), "%s", out.data);
    cr_expect_eq(run("--plan figure-1.2 --check", &out), 2);
    cr_expect(strstr(out.data, "did you mean 'figure-1.1'?"), "%s", out.data);
    buf_free(&out);
}

/* A database whose numbers the test chooses: seeds 1 to 4 of one target under one order. */
static void alter(const char *folder, const char *sql)
{
    char path[100];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

Test(sweep, baseline, .timeout = 300)
{
    static const struct {
        const char *sql, *row;
    } rows[] = {
        {"update cells set state='failed' where seed=3", "failed,suite:saxpy,random,gtx480,0,1\n"},
        {"update cells set races=2 where seed>2", "racy,suite:saxpy,random,gtx480,0,2\n"},
        {"update cells set digest='ab' where seed=1", "results,suite:saxpy,random,gtx480,1,2\n"},
        {"update cells set cycles=140 where seed<3", "cycles,suite:saxpy,random,gtx480,100,120\n"},
        {"update cells set seconds=2", "seconds,suite:saxpy,random,gtx480,4,8\n"},
        {"update cells set cycles=119, seconds=1.2", ""},      /* less than 20 percent */
        {"update cells set seconds=1.24", ""},                 /* less than a second */
        {"update cells set digest='ab'", ""},                  /* another result, but still one */
        {"update cells set state='missing' where seed=3", ""}, /* it did not run */
        {"insert into cells(id,target,order_name,seed,gpu,state) "
         "values('x','new','random',1,'gtx480','failed')",
         ""}, /* it was not there */
    };
    static const char head[] = "worse,target,order,gpu,was,is\n";
    struct buf out = {0};
    cr_assert_eq(
        run("suite:saxpy --order random --seeds 1-4 --gpu gtx480 --output old --quiet", &out), 0);
    alter("old", "update cells set races=0, cycles=100, seconds=1");
    cr_expect_eq(system("mkdir new"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[200];
        cr_assert_eq(system("cp old/results.sqlite new/"), 0);
        alter("new", rows[i].sql);
        const int margin = strstr(rows[i].row, "cycles") ? 19 : 20; /* 20 percent is not above 20 */
        char words[100];
        snprintf(words, sizeof words, "report new --baseline old --format csv --slower %d", margin);
        cr_expect_eq(run(words, &out), *rows[i].row ? 4 : 0, "%s", rows[i].sql);
        snprintf(want, sizeof want, "%s%s", head, rows[i].row);
        cr_expect_str_eq(out.data, want, "%s: %s", rows[i].sql, out.data);
    }
    cr_expect_eq(run("report new --baseline old", &out), 0);
    cr_expect_str_eq(out.data, "0 worse in 4 cells that ran in both sweeps\n");
    cr_expect_eq(run("report new --baseline nowhere", &out), 2);
    cr_expect(strstr(out.data, "cannot compare with 'nowhere'"), "%s", out.data);
    cr_expect_eq(run("report new --slower 5", &out), 2);
    cr_expect(strstr(out.data, "--slower needs --baseline"), "%s", out.data);
    cr_expect_eq(run("report new --baseline old --rows gpu", &out), 2);
    cr_expect(strstr(out.data, "--baseline prints no pivot"), "%s", out.data);
    alter("new", "delete from cells where target<>'new'");
    cr_expect_eq(run("report new --baseline old", &out), 2);
    cr_expect(strstr(out.data, "no cell ran both here and in 'old'"), "%s", out.data);
    buf_free(&out);
}

/* Cycles of 100 to 400 of four seeds: a bar to 250 on an axis to 400, 220 pixels from 34 on, with a line from 100 to 400. */
Test(sweep, report_draws_maps_and_bars_with_spread, .timeout = 120)
{
    struct buf out = {0};
    cr_assert_eq(
        run("suite:saxpy --order random --order native --seeds 1-4 --gpu gtx480 --output o --quiet",
            &out),
        0, "%s", out.data);
    alter("o", "update cells set cycles=100*seed, target='<a&b>' where order_name='random'");
    alter("o", "update cells set cycles=200, target='<a&b>' where order_name='native'");
    cr_expect_eq(run("report o --value cycles --format svg --chart bars", &out), 0);
    cr_expect(strstr(out.data, " 34.0h6m-3 0V199.0m-3 0h6\""), "%s", out.data);
    cr_expect(strstr(out.data, "y=\"116.5\""), "%s", out.data);
    const char *spread = strstr(out.data, "class=\"spread\"");
    cr_assert(spread, "%s", out.data);
    cr_expect(!strstr(spread + 1, "class=\"spread\""), "one native cell has no spread");
    cr_expect(strstr(out.data, "&lt;a&amp;b&gt;") && !strstr(out.data, "<a&b>"), "%s", out.data);
    cr_expect_eq(run("report o --value cycles --format svg", &out), 0);
    cr_expect(strstr(out.data, ">250</text>") && strstr(out.data, ">200</text>"), "%s", out.data);
    cr_expect(strstr(out.data, "fill=\"rgb(115,115,255)\""), "%s", out.data); /* the greatest */
    cr_expect_eq(run("report o --rows order --columns seed --value results --format html", &out),
                 0);
    cr_expect(strstr(out.data, "<table>") && strstr(out.data, "<svg "), "%s", out.data);
    cr_expect(!strstr(out.data, "class=\"spread\""), "a number of results is no mean");
    cr_expect_eq(run("report o --format svg --chart pie", &out), 2);
    cr_expect(strstr(out.data, "--chart cannot be 'pie'"), "%s", out.data);
    cr_expect_eq(run("report o --format html --chart bars", &out), 2);
    cr_expect(strstr(out.data, "--chart needs --format svg"), "%s", out.data);
    buf_free(&out);
}

/* Two graphs of each number of edges; the test chooses their results: 1 and 3 of edges=24000, 2 and 4 of edges=100000. */
Test(sweep, report_by_a_key_of_targets_and_orders, .timeout = 120)
{
    struct buf out = {0};
    command_write("plan.yaml", "sweep: p\ntargets: ['suite:bfs_sparse:edges={e}:graph={g}']\n"
                               "vary: {e: [100, 50], g: [1, 2], m: [20, 300]}\nseeds: 1-4\n"
                               "orders: ['gpudet:quantum={m}', native]\ngpus: [gtx480]\n");
    cr_assert_eq(run("plan.yaml --quiet", &out), 0, "%s", out.data);
    alter("p.sweep", "update cells set digest=seed where target like '%edges=100:graph=2'");
    alter("p.sweep", "update cells set digest=min(seed,3) where target like '%edges=50:graph=1'");
    cr_expect_eq(run("report p.sweep --rows edges --columns quantum --value mean-results", &out),
                 0);
    cr_expect_str_eq(out.data, "mean-results by edges and quantum\n"
                               "               20         300           -\n"
                               "50              2           2           1\n"
                               "100           2.5         2.5           1\n");
    cr_expect_eq(run("report p.sweep --rows edges --columns quantum --value cells", &out), 0);
    cr_expect(strstr(out.data, "50              8           8           2\n"), "%s", out.data);
    cr_expect_eq(run("report p.sweep --rows edges --columns strategy", &out), 2);
    cr_expect(strstr(out.data, "--columns cannot be 'strategy'"), "%s", out.data);
    cr_expect_eq(run("report p.sweep --rows targt", &out), 2);
    cr_expect(strstr(out.data, "did you mean 'target'?"), "%s", out.data);
    cr_expect_eq(
        run("report p.sweep --rows edges --columns graph --value mean-results --format svg "
            "--chart bars",
            &out),
        0);
    cr_expect(strstr(out.data, "class=\"spread\""), "%s", out.data);
    buf_free(&out);
}

/* The limit of a file's size stands for a full disk: two lines fit, and a part of the third. */
Test(sweep, a_full_disk_keeps_what_has_ended, .timeout = 300)
{
    enum { JUNK = 100000 };
    char words[4200], *text, line[JUNK + 2];
    struct buf out = {0};
    command_write("plan.yaml", plan);
    cr_assert_eq(run("plan.yaml --quiet --output want", &out), 6, "%s", out.data);
    memset(line, 'x', JUNK);
    strcpy(line + JUNK, "\n");
    cr_assert_eq(system("mkdir p.sweep"), 0);
    command_write("p.sweep/journal.ndjson", line);
    snprintf(words, sizeof words,
             "trap '' XFSZ; ulimit -f 196; '%s' sweep plan.yaml --jobs 2 --quiet >said 2>&1",
             command_program()); /* of 512 bytes: 352 are left */
    const int status = system(words);
    cr_expect_eq(WEXITSTATUS(status), 2);
    buf_free(&out);
    cr_assert(buf_add_file(&out, "said", 1 << 20));
    cr_expect(strstr(out.data, "cannot write the journal: No space left on device"), "%s",
              out.data);
    text = journal();
    cr_expect(text[strlen(text) - 1] == '\n', "a part of a line is left");
    const size_t kept = lines_of(text) - 1;
    free(text);
    cr_expect(kept == 2, "%zu", kept);
    cr_assert_eq(run("plan.yaml --quiet", &out), 6, "%s", out.data);
    text = journal();
    cr_expect_eq(lines_of(text), 1 + CELLS, "each cell once");
    free(text);
    char *got = dump();
    cr_assert_eq(system("rm -r p.sweep && mv want p.sweep"), 0);
    char *want = dump();
    cr_expect_str_eq(got, want);
    free(got);
    free(want);
    buf_free(&out);
}

/* A million seeds, 20 GPUs and 90 orders of five targets. */
Test(sweep, too_many_cells_are_refused, .timeout = 120)
{
    struct buf out = {0};
    char words[900] =
        "suite:saxpy suite:aes suite:bank suite:cloth suite:nbody --seeds 0-999999 --gpu "
        "a100,b200,c2050,gtx1080,gtx480,gtx480_thesis,gtx680,gv100,h100,h200,k40,p100,"
        "quadrofx5800,rtx2060,rtx2080ti,rtx3070,rtx4090,titanv,titanx,v100 --check "
        "--order 'gpudet:quantum={1";
    size_t n = strlen(words);
    for (int i = 2; i <= 90; i++) n += (size_t)snprintf(words + n, sizeof words - n, ",%d", i);
    snprintf(words + n, sizeof words - n, "}'");
    cr_expect_eq(run(words, &out), 2, "%s", out.data);
    cr_expect(strstr(out.data, "a sweep has at most 100000000 cells, not 9000000000"), "%s",
              out.data);
    buf_free(&out);
}

Test(sweep, a_query_is_one_statement, .timeout = 120)
{
    struct buf out = {0};
    cr_assert_eq(run("suite:saxpy --output q.sweep --quiet", &out), 0, "%s", out.data);
    cr_expect_eq(run("query q.sweep 'select seed from cells; '", &out), 0, "%s", out.data);
    cr_expect_str_eq(out.data, "seed\n0\n");
    cr_expect_eq(run("query q.sweep 'select seed from cells; select gpu from cells'", &out), 2);
    cr_expect(strstr(out.data, "a query is one statement"), "%s", out.data);
    cr_expect_eq(run("query q.sweep ''", &out), 2);
    cr_expect(strstr(out.data, "there is no statement in this query"), "%s", out.data);
    buf_free(&out);
}
