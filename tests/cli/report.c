/* heddle report: its outputs against each other, against heddle estimate, and each by a reader of its own, written from
 * the published description of the format. */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

TestSuite(report, .init = command_set_up, .fini = command_tear_down, .timeout = 120);

static void make(const char *words)
{
    int status;
    char *said = command_output(words, &status);
    cr_assert(eq(int, status, 0), "%s: %s", words, said);
    free(said);
}

static unsigned char *read_all(const char *name, size_t *size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", command_folder, name);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s is not there", path);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*size + 1);
    cr_assert(eq(sz, fread(bytes, 1, *size, f), *size));
    bytes[*size] = 0;
    fclose(f);
    return bytes;
}

static json_t *document(const char *name)
{
    size_t size;
    char *text = (char *)read_all(name, &size);
    json_error_t e;
    json_t *d = json_loads(text, 0, &e);
    cr_assert(d != NULL, "%s: %s", name, e.text);
    free(text);
    return d;
}

static json_t *at(json_t *o, const char *key)
{
    json_t *x = json_object_get(o, key);
    cr_assert(x != NULL, "no %s", key);
    return x;
}

static double number(json_t *o, const char *key)
{
    return json_number_value(at(o, key));
}

#define ORDERS "--gpu titanv --order native,gpudet,dab"
#define TARGET "suite:sum_atomic"

Test(report, cycles_are_those_of_the_estimate)
{
    make("%p report " TARGET " " ORDERS " --json %s/r.json 2>&1");
    json_t *d = document("r.json"), *run;
    size_t k;
    cr_expect(eq(str, (char *)json_string_value(at(d, "format")), "heddle-report"));
    json_array_foreach(at(d, "runs"), k, run)
    {
        static const char *const orders[] = {"native", "gpudet", "dab"};
        char words[200];
        snprintf(words, sizeof words,
                 "%%p estimate " TARGET " --format=json --order %s 2>&1 >%%s/e.json", orders[k]);
        make(words);
        json_t *e = document("e.json"), *l;
        json_t *list = at(json_array_get(at(e, "gpus"), 0), "launches");
        size_t i;
        cr_assert(eq(sz, json_array_size(at(run, "launches")), json_array_size(list)));
        json_array_foreach(at(run, "launches"), i, l)
        {
            json_t *want = json_array_get(list, i), *lapse = at(l, "lapse");
            cr_expect(eq(dbl, number(l, "cycles"), number(want, "cycles")));
            cr_expect(eq(dbl, number(l, "ipc"), number(want, "ipc")));
            const double model = number(lapse, "cycles") * number(lapse, "scale") +
                                 number(lapse, "drain");
            cr_expect(fabs(model - number(l, "cycles")) < 1e-6 * model);
        }
        json_decref(e);
    }
    json_decref(d);
}

/* This stencil reads two buffers in turn, so that DRAM rows differ: its alike launches have one estimate, that of the
 * first (docs/estimate.md), and one lapse. */
Test(report, alike_launches_share_a_lapse)
{
    make("%p report suite:stencil_2d --json %s/r.json --csv %s/r.csv 2>&1");
    make("%p estimate suite:stencil_2d --format=json 2>&1 >%s/e.json");
    json_t *d = document("r.json"), *e = document("e.json"), *l;
    json_t *list = at(json_array_get(at(e, "gpus"), 0), "launches"),
           *launches = at(json_array_get(at(d, "runs"), 0), "launches");
    size_t i, alike = 0;
    cr_assert(json_array_size(list) == 5 && json_array_size(launches) == 5);
    json_array_foreach(launches, i, l)
    {
        cr_expect(eq(dbl, number(l, "cycles"), number(json_array_get(list, i), "cycles")));
        alike += i && json_equal(at(l, "lapse"), at(json_array_get(launches, i - 1), "lapse"));
    }
    cr_expect(eq(sz, alike, 3)); /* the first is found in no cache */
    json_decref(d), json_decref(e);
}

/* ---- CSV ------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 35, FIRST = 8 /* of numbers */ };
struct row {
    char *words[COLUMNS];
    int64_t ticks[COLUMNS]; /* in 1/1024 */
};

static struct row split(char *line)
{
    struct row r = {0};
    for (int k = 0; k < COLUMNS; k++) {
        r.words[k] = strsep(&line, ",");
        cr_assert(r.words[k] != NULL, "column %d", k);
        r.ticks[k] = (int64_t)(strtod(r.words[k], NULL) * 1024 + 0.5);
    }
    cr_assert(line == NULL);
    return r;
}

Test(report, rows_of_the_csv_sum_to_their_totals)
{
    size_t size, totals = 0;
    make("%p report " TARGET " " ORDERS " --csv %s/r.csv --json %s/r.json 2>&1");
    char *text = (char *)read_all("r.csv", &size), *next = text;
    struct row head = split(strsep(&next, "\n"));
    cr_expect(eq(str, head.words[FIRST], "issue"));
    cr_expect(eq(str, head.words[FIRST + 19], "instructions"));
    json_t *d = document("r.json");
    int64_t sum[COLUMNS] = {0}, issued = 0, bins = 0, threads = 0;
    for (char *line; (line = strsep(&next, "\n")) && *line;) {
        const struct row r = split(line);
        const bool total = strcmp(r.words[FIRST - 1], "all") == 0;
        int64_t parts = 0;
        if (!total)
            for (int k = FIRST; k < COLUMNS; k++) sum[k] += r.ticks[k];
        if (!total) continue;
        for (int k = FIRST; k < COLUMNS; k++)
            cr_expect(eq(i64, sum[k], r.ticks[k]), "column %d", k);
        memset(sum, 0, sizeof sum);
        totals++;
        if (strcmp(r.words[5], "sm") == 0)
            issued += r.ticks[FIRST + 19], threads += r.ticks[FIRST + 20];
        if (strcmp(r.words[5], "lanes") == 0) bins += r.ticks[FIRST + 19];
        if (strcmp(r.words[5], "sm") != 0) continue;
        json_t *run = json_array_get(at(d, "runs"), (size_t)atoi(r.words[0]));
        json_t *lapse = at(json_array_get(at(run, "launches"), (size_t)atoi(r.words[3])), "lapse");
        for (int k = FIRST; k < FIRST + 19; k++) parts += r.ticks[k];
        const double cycles = number(lapse, "cycles") * number(lapse, "schedulers");
        cr_expect(fabs((double)parts / 1024 - cycles) < 0.01, "%g, not %g", parts / 1024.0, cycles);
    }
    cr_expect(gt(sz, totals, 10));
    cr_expect(eq(i64, bins, issued), "each instruction has a number of active lanes");
    cr_expect(eq(i64, threads, 32 * issued), "no warp of this kernel diverges");
    free(text);
    json_decref(d);
}

/* ---- Perfetto: protobuf by its encoding rules, fields by perfetto's .proto files ----------------------------- */

struct message {
    const unsigned char *at, *end;
};
struct field {
    unsigned number, wire;
    uint64_t value;      /* wire type 0, 1 */
    struct message text; /* wire type 2 */
};

static uint64_t varint(struct message *m)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        cr_assert(m->at < m->end);
        x |= (uint64_t)(*m->at & 0x7f) << shift;
        if (!(*m->at++ & 0x80)) return x;
    }
    cr_assert(false, "a varint of more than 64 bits");
    return 0;
}

static bool next(struct message *m, struct field *f)
{
    if (m->at == m->end) return false;
    const uint64_t key = varint(m);
    *f = (struct field){.number = (unsigned)(key >> 3), .wire = key & 7};
    if (f->wire == 0) f->value = varint(m);
    else if (f->wire == 1) {
        cr_assert(m->end - m->at >= 8);
        for (int i = 0; i < 8; i++) f->value |= (uint64_t)*m->at++ << 8 * i;
    } else {
        cr_assert(f->wire == 2);
        const uint64_t n = varint(m);
        cr_assert(n <= (uint64_t)(m->end - m->at));
        f->text = (struct message){m->at, m->at + n};
        m->at += n;
    }
    return true;
}

static bool find(struct message m, unsigned number, struct field *f)
{
    while (next(&m, f))
        if (f->number == number) return true;
    return false;
}

struct track {
    uint64_t uuid, last;
    int depth, slices, counters;
    double sum;
};
static struct track tracks[4096];
static size_t track_count;

static struct track *track_of(uint64_t uuid, bool add)
{
    for (size_t i = 0; i < track_count; i++)
        if (tracks[i].uuid == uuid) return &tracks[i];
    cr_assert(add && track_count < 4096, "an event of an unknown track");
    tracks[track_count] = (struct track){.uuid = uuid};
    return &tracks[track_count++];
}

static void read_event(struct message event, uint64_t when)
{
    struct field type, track, value;
    cr_assert(find(event, 9, &type) && find(event, 11, &track));
    struct track *t = track_of(track.value, false);
    cr_expect(ge(u64, when, t->last));
    t->last = when;
    if (type.value == 1) {
        struct field name;
        cr_expect(find(event, 23, &name) && name.text.at < name.text.end);
        t->depth++, t->slices++;
    } else if (type.value == 2) t->depth--;
    else {
        double x;
        cr_assert(type.value == 4 && find(event, 44, &value) && value.wire == 1);
        memcpy(&x, &value.value, sizeof x);
        cr_expect(x >= 0 && isfinite(x));
        t->counters++, t->sum += x;
    }
    cr_expect(t->depth >= 0 && t->depth <= 1);
}

/* How many slices the Chrome trace has, by an independent JSON reader. */
static int chrome_slices(void)
{
    json_t *d = document("r.trace.json"), *e;
    size_t i;
    int slices = 0;
    json_array_foreach(d, i, e)
    {
        const char *ph = json_string_value(at(e, "ph"));
        cr_expect(strchr("XMC", *ph) != NULL);
        cr_expect(gt(dbl, number(e, "pid"), 0));
        if (*ph != 'X') continue;
        slices++;
        cr_expect(ge(dbl, number(e, "dur"), 0));
        cr_expect(ge(dbl, number(e, "ts"), 0));
    }
    json_decref(d);
    return slices;
}

Test(report, perfetto_and_chrome_have_each_launch_mode_and_cta)
{
    size_t size, k, i;
    int want = 0, got = 0;
    make("%p report " TARGET " " ORDERS " --perfetto %s/r.pftrace --chrome-trace %s/r.trace.json "
         "--json %s/r.json 2>&1");
    unsigned char *bytes = read_all("r.pftrace", &size);
    struct message all = {bytes, bytes + size};
    for (struct field packet; next(&all, &packet);) {
        struct field inside, when, uuid;
        cr_assert(packet.number == 1 && packet.wire == 2);
        cr_expect(find(packet.text, 10, &inside) && inside.value);
        if (find(packet.text, 60, &inside)) {
            cr_assert(find(inside.text, 1, &uuid));
            track_of(uuid.value, true);
        } else {
            cr_assert(find(packet.text, 8, &when) && find(packet.text, 11, &inside));
            read_event(inside.text, when.value);
        }
    }
    for (size_t t = 0; t < track_count; t++) {
        cr_expect(eq(int, tracks[t].depth, 0));
        got += tracks[t].slices;
    }
    json_t *d = document("r.json"), *run, *l;
    json_array_foreach(at(d, "runs"), k, run) json_array_foreach(at(run, "launches"), i, l)
    {
        json_t *lapse = at(l, "lapse");
        want += 1 + (int)number(lapse, "cta_count") + (int)number(lapse, "mode_count");
    }
    cr_expect(gt(int, want, 30));
    cr_expect(eq(int, got, want));
    cr_expect(eq(int, chrome_slices(), want));
    json_decref(d);
    free(bytes);
}

/* Of a program with streams: each slice of a stream is behind the one before, launches stand on the stream's thread when they
 * do on that of launches, and copies twice: on their stream and by direction. Two runs give the same bytes. */
Test(report, chrome_has_the_host_the_streams_and_the_copies)
{
    int status;
    if (SANITIZED) cr_skip_test("sanitized libraries serve sanitized programs alone");
    if (access("build/programs/streams", X_OK) != 0)
        cr_skip_test("no programs: `make programs` builds them");
    free(command_output("%p run --quiet build/programs/streams >%s/said 2>&1", &status));
    if (status == 2) cr_skip_test("no CUDA libraries are beside this heddle");
    make(
        "%p report --gpu gv100 --chrome-trace %s/a.json --perfetto %s/a.pf --json %s/r.json build/programs/streams >%s/said 2>&1");
    make(
        "%p report --gpu gv100 --chrome-trace %s/b.json --perfetto %s/b.pf build/programs/streams >%s/said 2>&1");
    free(command_output("cmp %s/a.json %s/b.json && cmp %s/a.pf %s/b.pf", &status));
    cr_expect(eq(int, status, 0));
    enum { LAUNCHES = 1, HOST = 8, TO_DEVICE, TO_HOST, STREAMS = 1 << 24, MOST = 64 };
    json_t *d = document("a.json"), *x, *report = document("r.json");
    double end[MOST] = {0}, launch_ts[4096];
    size_t i, launches = 0, on_streams = 0, directed = 0, copies = 0, submitted = 0, operations = 0;
    bool host = false;
    json_array_foreach(d, i, x) if (number(x, "tid") == LAUNCHES &&
                                    strcmp(json_string_value(at(x, "ph")), "X") == 0)
    {
        cr_assert(launches < 4096);
        launch_ts[launches++] = number(x, "ts");
    }
    json_array_foreach(d, i, x)
    {
        const int tid = (int)number(x, "tid");
        const char *ph = json_string_value(at(x, "ph")), *name = json_string_value(at(x, "name"));
        host |= tid == HOST && *ph == 'M' &&
                strcmp(json_string_value(at(at(x, "args"), "name")), "host") == 0;
        submitted += tid == HOST && *ph == 'i';
        directed += (tid == TO_DEVICE || tid == TO_HOST) && *ph == 'X';
        if (tid < STREAMS || *ph != 'X') continue;
        operations++;
        const double ts = number(x, "ts");
        cr_assert(tid - STREAMS < MOST);
        cr_expect(ts >= end[tid - STREAMS] - 1e-3, "%s at %g, %g", name, ts, end[tid - STREAMS]);
        end[tid - STREAMS] = ts + number(x, "dur");
        copies += strncmp(name, "copy to", 7) == 0;
        const bool other = strncmp(name, "copy", 4) == 0 || strncmp(name, "fill", 4) == 0;
        if (other) continue;
        bool found = false;
        for (size_t k = 0; k < launches; k++) found |= fabs(launch_ts[k] - ts) < 1e-3;
        cr_expect(found, "%s at %g", name, ts);
        on_streams++;
    }
    cr_expect(host && launches > 0 && copies > 0 && operations == submitted && directed == copies);
    cr_expect(eq(sz, on_streams, launches));
    cr_expect(
        eq(sz, launches, json_array_size(at(json_array_get(at(report, "runs"), 0), "launches"))));
    json_decref(d);
    json_decref(report);
}

/* ---- Konata: its docs/kanata-log-format.md ------------------------------------------------------------------------- */

/* Eight instructions for each warp, with a load that the sixth one waits for. */
static const char eight[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\nadd.u32 %r3, %r2, 1;\n"
    "st.global.u32 [%rd3], %r3;\nret;\n}\n";

enum { KONATA_ROWS = 6 };
struct konata_row {
    bool begun, ended;
    int issues, lines;
    long long waits; /* cycles for memory */
};

static void read_konata(char *text, struct konata_row *rows, long long *cycles)
{
    long long now = 0, since[KONATA_ROWS] = {0};
    bool memory[KONATA_ROWS] = {false};
    char *save, *line = strtok_r(text, "\n", &save);
    cr_assert(strcmp(line, "Kanata\t0004") == 0);
    while ((line = strtok_r(NULL, "\n", &save))) {
        long long a, b, c;
        char stage[32];
        if (sscanf(line, "C=\t%lld", &a) == 1) now = a;
        else if (sscanf(line, "C\t%lld", &a) == 1) {
            cr_expect(gt(i64, a, 0));
            now += a;
        } else {
            cr_assert(sscanf(line, "%*c\t%lld", &a) == 1 && a >= 0 && a < KONATA_ROWS, "%s", line);
            struct konata_row *r = &rows[a];
            cr_expect(eq(int, r->ended, 0), "%s", line);
            if (*line == 'I') {
                cr_expect(eq(int, r->begun, 0));
                r->begun = sscanf(line, "I\t%*d\t%lld\t%lld", &b, &c) == 2;
            }
            cr_expect(r->begun, "%s", line);
            if (sscanf(line, "L\t%*d\t2\tPTX line %lld", &b) == 1) r->lines += b > 5 && b < 16;
            if (sscanf(line, "S\t%*d\t0\t%31s", stage) != 1 && *line != 'R') continue;
            if (memory[a]) r->waits += now - since[a];
            since[a] = now;
            memory[a] = *line == 'S' && (strcmp(stage, "l2") == 0 || strcmp(stage, "dram") == 0);
            r->issues += *line == 'S' && strcmp(stage, "issue") == 0;
            if (*line == 'R') r->ended = sscanf(line, "R\t%*d\t%lld\t%lld", &b, &c) == 2 && c == 0;
        }
    }
    *cycles = now;
}

Test(report, konata_has_each_issue_of_each_warp)
{
    char path[200];
    size_t size;
    struct konata_row rows[KONATA_ROWS] = {0};
    long long cycles;
    snprintf(path, sizeof path, "%s/k.ptx", command_folder);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(eight, f) > 0);
    fclose(f);
    make(
        "%p report %s/k.ptx --grid 3 --block 64 --arg 'buf:u32[64]=zero' --gpu titanv --konata %s/k.log 2>&1");
    char *text = (char *)read_all("k.log", &size);
    read_konata(text, rows, &cycles);
    free(text);
    for (int i = 0; i < KONATA_ROWS; i++) {
        cr_expect(rows[i].ended, "row %d", i);
        cr_expect(eq(int, rows[i].issues, 8));
        cr_expect(eq(int, rows[i].lines, 8));
        cr_expect(gt(i64, rows[i].waits, 100), "a load that misses in L1 takes longer");
        cr_expect(lt(i64, rows[i].waits, cycles));
    }
}

/* ---- AerialVision: lines "name: values", as its lexyacc.py reads them --------------------------------------------- */

Test(report, aerialvision_counts_up_to_the_totals)
{
    char path[200], line[1 << 14];
    long long cycles = 0, instructions = 0, by_sm = 0, by_lanes = 0;
    int intervals = 0;
    make("%p report " TARGET " --gpu titanv --aerialvision %s/r.log.gz --json %s/r.json 2>&1");
    snprintf(path, sizeof path, "%s/r.log.gz", command_folder);
    gzFile f = gzopen(path, "rb");
    while (gzgets(f, line, sizeof line)) {
        char *colon = strchr(line, ':'), *rest = colon + 1;
        cr_assert(colon && strchr(line, '\n'));
        *colon = '\0';
        if (strcmp(line, "shaderwarpinsncount") == 0) {
            by_sm = 0;
            for (char *end;; rest = end) {
                const long long x = strtoll(rest, &end, 10);
                if (end == rest) break;
                by_sm += x;
            }
        }
        if (strcmp(line, "WarpDivergenceBreakdown") == 0) {
            int values = 0;
            for (char *end;; rest = end, values++) {
                const long long x = strtoll(rest, &end, 10);
                if (end == rest) break;
                if (values >= 3) by_lanes += x; /* behind idle, scoreboard, stall */
            }
            cr_expect(eq(int, values, 11));
        }
        if (strcmp(line, "globaltotinsncount") == 0) {
            cr_expect(ge(i64, atoll(rest), instructions));
            instructions = atoll(rest);
            cr_expect(eq(i64, by_sm, instructions));
        }
        if (strcmp(line, "globalcyclecount") == 0) {
            cr_expect(gt(i64, atoll(rest), cycles));
            cycles = atoll(rest);
            intervals++;
        }
    }
    gzclose(f);
    json_t *d = document("r.json"), *x;
    json_t *l = json_array_get(at(json_array_get(at(d, "runs"), 0), "launches"), 0);
    json_t *lapse = at(l, "lapse");
    size_t i;
    long long want = 0;
    json_array_foreach(at(at(lapse, "sums"), "instructions"), i, x)
        want += (long long)json_number_value(x);
    cr_expect(eq(i64, instructions, want));
    cr_expect(eq(i64, by_lanes, want));
    cr_expect(fabs((double)cycles - number(lapse, "cycles")) <= 1);
    cr_expect(eq(int, intervals, (int)number(lapse, "intervals")));
    json_decref(d);
}

/* ---- the page ------------------------------------------------------------------------------------------------------- */

static const char hostile[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".file 1 \"</script><script>document.title='owned'</script>.cu\"\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<2>; .reg .b64 %%rd<2>;\n.loc 1 3 0\n"
    "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, 7;\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n";

static void write_hostile(void)
{
    char path[200];
    snprintf(path, sizeof path, "%s/<script>alert(1)<script>.ptx", command_folder);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL);
    fprintf(f, hostile);
    fclose(f);
}

#define HOSTILE "'%s/<script>alert(1)<script>.ptx' --arg 'p=buf:u32[4]'"

Test(report, no_text_of_a_guest_is_read_as_html)
{
    size_t size;
    write_hostile();
    make("%p report " HOSTILE " --output %s/r.html 2>&1");
    char *text = (char *)read_all("r.html", &size);
    cr_expect(strstr(text, "alert(1)<") == NULL && strstr(text, "owned") == NULL);
    cr_expect(strstr(text, "&lt;script>alert(1)&lt;script>") != NULL);
    cr_expect(strstr(text, "Copyright (c) 2022 Leon Sorokin") != NULL, "uPlot's licence");
    free(text);
}

/* The page as a browser has it once its script has run; NULL: there is no browser. */
static char *rendered(void)
{
    int status;
    char *text = command_output("command -v chromium", &status);
    free(text);
    if (status) return NULL;
    text = command_output(
        "chromium --headless=new --no-sandbox --disable-gpu --user-data-dir=%s/chrome "
        "--virtual-time-budget=10000 --enable-logging=stderr --window-size=1280,2000 "
        "--dump-dom file://%s/r.html 2>%s/said",
        &status);
    size_t size;
    char *said = (char *)read_all("said", &size);
    cr_expect(strstr(said, "CONSOLE") == NULL, "%s", said);
    free(said);
    cr_assert(strstr(text, "data-ready=\"yes\"") != NULL, "the page did not come up: %.2000s",
              text);
    return text;
}

static void with_commas(char *out, double x)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.0f", x);
    const size_t n = strlen(digits);
    for (size_t i = 0; i < n; i++) {
        *out++ = digits[i];
        if ((n - i) % 3 == 1 && i + 1 < n) *out++ = ',';
    }
    *out = '\0';
}

Test(report, the_page_shows_the_numbers_of_the_document)
{
    make("%p report " TARGET " " ORDERS " --races --json %s/r.json --output %s/r.html 2>&1");
    char *dom = rendered();
    if (!dom) cr_skip_test("no chromium here");
    json_t *d = document("r.json"), *run, *l;
    size_t k, i;
    json_array_foreach(at(d, "runs"), k, run) json_array_foreach(at(run, "launches"), i, l)
    {
        char cycles[64], cell[80];
        with_commas(cycles, number(l, "cycles"));
        snprintf(cell, sizeof cell, "<td>%s</td>", cycles);
        cr_expect(strstr(dom, cell) != NULL, "%s is not there", cell);
        with_commas(cycles, number(l, "warp_instructions"));
        snprintf(cell, sizeof cell, "<td>%s</td>", cycles);
        cr_expect(strstr(dom, cell) != NULL, "%s is not there", cell);
    }
    cr_expect(strstr(dom, "none found in this run") != NULL);
    json_t *advice = json_array_get(at(json_array_get(at(d, "runs"), 0), "advice"), 0);
    char saved[64], cell[80];
    with_commas(saved, number(advice, "saved_cycles"));
    snprintf(cell, sizeof cell, "<td>%s</td>", saved);
    cr_expect(strstr(dom, cell) != NULL, "%s is not there", cell);
    cr_expect(strstr(dom, ">sum.cu:8</a>") && strstr(dom, "do one atomic for each CTA"));
    free(dom);
    json_decref(d);
}

/* All lines of a small kernel are hot: what is issued at them is all that is issued, and so are the rows of their map. */
Test(report, hot_lines_sum_to_all_that_is_issued)
{
    make("%p report suite:spmv_vector --gpu titanv --json %s/r.json 2>&1");
    json_t *d = document("r.json"),
           *l = json_array_get(at(json_array_get(at(d, "runs"), 0), "launches"), 0), *x,
           *lapse = at(l, "lapse"), *hot = at(lapse, "hot_lines"),
           *map = at(at(lapse, "maps"), "lines");
    double issued = 0, all = 0;
    long long before = -1;
    size_t i;
    json_array_foreach(hot, i, x)
    {
        issued += number(x, "issued");
        cr_expect(lt(i64, before, (long long)number(x, "line"))); /* one file, in its order */
        before = (long long)number(x, "line");
    }
    json_array_foreach(at(at(lapse, "sums"), "instructions"), i, x) all += json_number_value(x);
    cr_expect(all > 0 && fabs(issued - all) < 1e-6 * all, "%g of %g", issued, all);
    cr_expect(eq(sz, (size_t)number(map, "rows"), json_array_size(hot)));
    cr_expect(json_array_size(hot) > 3 && json_array_size(hot) < 64);
    json_decref(d);
}

/* A race between warps of docs/guide/total.cu: line 9 loads what line 9 of another warp stores. */
Test(report, the_page_marks_races_and_shows_what_launches_read)
{
    make(
        "%p report suite:stencil_2d --gpu titanv --communication --json %s/r.json --output %s/r.html 2>&1");
    char *dom = rendered();
    if (!dom) cr_skip_test("no chromium here");
    json_t *d = document("r.json"), *l, *communication = at(d, "communication");
    double passed = 0;
    size_t i;
    cr_expect(eq(sz, json_array_size(at(communication, "launches")), 5));
    json_array_foreach(at(communication, "launches"), i, l)
    {
        const double all = number(l, "communicated") + number(l, "stays") + number(l, "from_host") +
                           number(l, "initial");
        cr_expect(eq(dbl, all, number(l, "read")));
        passed += number(l, "communicated");
    }
    cr_expect(eq(dbl, passed, number(json_array_get(at(communication, "pairs"), 0), "bytes")));
    cr_expect(strstr(dom, "<td>75.7 KB</td>") &&
              strstr(dom, "<td>303 KB</td>")); /* 75728, 302912 */
    cr_expect(strstr(dom, ">findings of races</option>") == NULL);
    free(dom);
    json_decref(d);
    make("%p report docs/guide/total.ptx --block 256 --arg 'x=buf:f32[256]=const(1)' "
         "--arg 'result=buf:f32[1]' --races --output %s/r.html 2>&1");
    dom = rendered();
    cr_expect(strstr(dom, ">docs/guide/total.cu:9</a>)") != NULL);
    cr_expect(strstr(dom, "racy\" title=\"race: ") && strstr(dom, "● 9</td>"));
    cr_expect(strstr(dom, "● 8</td>") == NULL && strstr(dom, ">findings of races</option>"));
    free(dom);
}

/* What a reader does with the charts over time, as a script at the end of the page, and what the charts then have. */
static const char reader[] =
    "<script>\n"
    "const said = [], say = (...x) => said.push(x.join(' '));\n"
    "const mouse = (at, type, share) => { const u = charts[0].u, r = u.over.getBoundingClientRect();\n"
    "  at.dispatchEvent(new MouseEvent(type, {bubbles:true, clientX:r.left + share * r.width, clientY:r.top + 9, movementX:1})); };\n"
    "const key = k => document.body.dispatchEvent(new KeyboardEvent('keydown', {key:k, bubbles:true}));\n"
    "const rest = () => new Promise(done => setTimeout(done, 50));\n"
    "const area = (u, k) => u.data[0].reduce((s, x, i, xs) => s + (i && u.data[k][i - 1] !== null && u.data[k][i] !== null ? u.data[k][i - 1] * (x - xs[i - 1]) : 0), 0);\n"
    "const scales = () => charts.map(c => c.u.scales.x.min + ' ' + c.u.scales.x.max).join(' ');\n"
    "const areas = name => say(name, charts[0].u.data.slice(1).map((_, k) => area(charts[0].u, k + 1)).join(' '));\n"
    "const reading = async () => {\n"
    "  say('charts', charts.length, document.querySelectorAll('.uplot canvas').length); areas('whole');\n"
    "  for (const c of charts) if (c.o.label === 'schedulers') { const y = c.u.data[1].filter(v => v !== null); say('stack', Math.min(...y), Math.max(...y)); }\n"
    "  const over = charts[0].u.over; mouse(over, 'mouseenter', .25); mouse(over, 'mousemove', .25); await rest();\n"
    "  say('cursors', charts.map(c => c.u.posToVal(c.u.cursor.left, 'x')).join(' ')); say('tip', document.getElementById('tip').textContent.replace(/\\n/g, '|'));\n"
    "  mouse(over, 'mousedown', .25); mouse(over, 'mousemove', .4); mouse(over, 'mousemove', .5); mouse(document, 'mouseup', .5); await rest();\n"
    "  say('dragged', scales()); say('hash', location.hash); areas('half');\n"
    "  key('+'); await rest(); say('closer', scales()); key('ArrowRight'); await rest(); say('later', scales());\n"
    "  key('0'); await rest(); say('back', scales());\n"
    "  mouse(over, 'mousedown', .5); mouse(over, 'mousemove', .6); mouse(over, 'mousemove', .7); mouse(document, 'mouseup', .7); await rest();\n"
    "  mouse(over, 'dblclick', .5); await rest(); say('again', scales());\n"
    "  const metric = document.getElementById('metric'); metric.value = 'lanes'; metric.onchange(); await rest();\n"
    "  const lanes = charts[0].u.data.slice(1).flat().filter(v => v !== null);\n"
    "  say('lanes', charts.length, Math.min(...lanes), Math.max(...lanes));\n"
    "  metric.value = 'instructions'; metric.onchange(); await rest();\n"
    "  document.body.prepend(Object.assign(document.createElement('pre'), {id:'said', textContent:said.join('\\n') + '\\n'}));\n"
    "};\n"
    "const wait = () => document.documentElement.dataset.ready ? reading() : setTimeout(wait, 10);\n"
    "wait();\n"
    "</script>\n";

static void append(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", command_folder, name);
    FILE *f = fopen(path, "a");
    cr_assert(f && fputs(text, f) > 0);
    fclose(f);
}

/* The numbers behind a word at the begin of a line that the script above wrote; how many there are. */
static int numbers(const char *dom, const char *word, double *out, int most)
{
    char line[40];
    snprintf(line, sizeof line, "\n%s ", word);
    const char *at = strstr(dom, line);
    cr_assert(at != NULL, "nothing of %s", word);
    at += strlen(line);
    int n = 0;
    for (char *end; n < most; at = end, n++) {
        out[n] = strtod(at, &end);
        if (end == at || *at == '\n') break;
    }
    return n;
}

static void expect_zoom(const char *dom, const char *word, double from, double to, double within)
{
    double x[32];
    const int n = numbers(dom, word, x, 32);
    cr_expect(eq(int, n, 14), "%s: %d", word, n);
    for (int i = 0; i < n; i++)
        cr_expect(fabs(x[i] - (i & 1 ? to : from)) <= within, "%s: %g, not %g", word, x[i],
                  i & 1 ? to : from);
}

/* Three runs: a chart of lines with one for each, and of each run the map and the areas. */
Test(report, charts_over_time_share_cursor_and_zoom_and_sum_to_the_totals, .timeout = 240)
{
    make("%p report " TARGET " " ORDERS " --json %s/r.json --output %s/r.html 2>&1");
    append("r.html", reader);
    char *dom = rendered();
    if (!dom) cr_skip_test("no chromium here");
    char *from = strstr(dom, "id=\"said\"");
    cr_assert(from != NULL, "the script did not come to its end");
    for (char *c = from; *c; c++)
        if (*c == '>') {
            *c = '\n';
            break;
        }
    double x[32];
    cr_expect(numbers(from, "charts", x, 32) == 2 && x[0] == 7 && x[1] == 7);
    json_t *d = document("r.json"), *run, *v;
    double end = 0, half[3], whole[3];
    size_t k, i;
    cr_assert(eq(int, numbers(from, "whole", whole, 3), 3));
    cr_assert(eq(int, numbers(from, "half", half, 3), 3));
    json_array_foreach(at(d, "runs"), k, run)
    {
        json_t *lapse = at(json_array_get(at(run, "launches"), 0), "lapse");
        const double cycles = number(lapse, "cycles");
        if (cycles > end) end = cycles;
    }
    json_array_foreach(at(d, "runs"), k, run)
    {
        json_t *lapse = at(json_array_get(at(run, "launches"), 0), "lapse");
        const double sms = (double)json_array_size(at(lapse, "sms")),
                     interval = number(lapse, "interval"), cycles = number(lapse, "cycles");
        double all = 0, part = 0;
        json_array_foreach(at(at(lapse, "sums"), "instructions"), i, v)
        {
            const double begin = (double)i * interval, stop = fmin(begin + interval, cycles),
                         n = json_number_value(v);
            all += n;
            part += n * fmax(0, fmin(stop, .5 * end) - fmax(begin, .25 * end)) / (stop - begin);
        }
        cr_expect(fabs(whole[k] * sms - all) < 1e-6 * all, "%g, not %g", whole[k] * sms, all);
        cr_expect(fabs(half[k] * sms - part) < 0.02 * all, "%g, not %g", half[k] * sms, part);
        char text[80];
        snprintf(text, sizeof text, "%s: mean %.3g",
                 k == 0   ? "native"
                 : k == 1 ? "gpudet"
                          : "dab",
                 all / cycles / sms);
        cr_expect(strstr(dom, text) != NULL, "%s is not there", text);
    }
    /* Sums are whole ticks, 1/1024 of a cycle, and what is left for the last interval may be a few cycles. */
    cr_expect(numbers(from, "stack", x, 32) == 2 && fabs(x[0] - 1) < 1e-3 && fabs(x[1] - 1) < 1e-3,
              "the parts are all that schedulers do: %g to %g", x[0], x[1]);
    const int cursors = numbers(from, "cursors", x, 32);
    for (int c = 0; c < cursors; c++) cr_expect(fabs(x[c] - .25 * end) < .002 * end, "%g", x[c]);
    cr_expect(eq(int, cursors, 7));
    cr_expect(strstr(from, "\ntip cycles ") && strstr(from, "|titanv, gpudet: "));
    expect_zoom(from, "dragged", .25 * end, .5 * end, .002 * end);
    expect_zoom(from, "closer", .3125 * end, .4375 * end, .002 * end);
    expect_zoom(from, "later", .34375 * end, .46875 * end, .002 * end);
    expect_zoom(from, "back", 0, end, 1e-6 * end);
    expect_zoom(from, "again", 0, end, 1e-6 * end);
    /* No warp of this kernel diverges. Each run has a chart more: of instructions by their lanes. */
    cr_expect(numbers(from, "lanes", x, 32) == 3 && fabs(x[0] - 10) < .5);
    cr_expect(fabs(x[1] - 32) < 1e-6 && fabs(x[2] - 32) < 1e-6, "%g to %g lanes", x[1], x[2]);
    cr_expect(strstr(from, "\nhash #launch=0&amp;metric=instructions&amp;from=") != NULL);
    free(dom);
    json_decref(d);
}

/* Of runs without an order; under an order nothing is said. */
Test(report, advice_is_that_of_heddle_advise)
{
    make("%p report " TARGET " --gpu titanv --order native,gpudet --json %s/r.json 2>&1");
    make("%p advise " TARGET " --gpu titanv --format=json 2>&1 >%s/a.json");
    json_t *d = document("r.json"), *a = document("a.json"), *runs = at(d, "runs");
    cr_expect(json_array_size(at(a, "advice")) > 0);
    cr_expect(json_equal(at(json_array_get(runs, 0), "advice"), at(a, "advice")));
    cr_expect(json_object_get(json_array_get(runs, 1), "advice") == NULL);
    json_decref(d);
    json_decref(a);
}

Test(report, a_page_of_hostile_names_shows_them_as_text)
{
    write_hostile();
    make("%p report " HOSTILE " --output %s/r.html 2>&1");
    char *dom = rendered();
    if (!dom) cr_skip_test("no chromium here");
    cr_expect(strstr(dom, "<title>heddle report: ") != NULL);
    cr_expect(strstr(dom, "<title>owned") == NULL);
    cr_expect(strstr(dom, "&lt;script&gt;document.title='owned'&lt;/script&gt;.cu") != NULL);
    free(dom);
}

Test(report, wrong_calls_are_refused)
{
    static const char *const calls[] = {"%p report 2>&1",
                                        "%p report --from a.hdt suite:saxpy 2>&1",
                                        "%p report suite:saxpy --interval 0 2>&1",
                                        "%p report suite:saxpy --csv a --csv b 2>&1",
                                        "%p report suite:saxpy --csv %s/none/r.csv 2>&1",
                                        "%p report suite:saxpy --traces a 2>&1"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int status;
        char *said = command_output(calls[i], &status);
        cr_expect(eq(int, status, 2), "%s: %s", calls[i], said);
        cr_expect(strncmp(said, "heddle report: ", 15) == 0, "%s", said);
        free(said);
    }
}

Test(report, traces_of_a_file_give_the_same_document)
{
    make("%p estimate " TARGET " --gpu titanv --traces %s/r.hdt 2>&1");
    make("%p report --from %s/r.hdt,%s/r.hdt --json %s/a.json 2>&1");
    make("%p report " TARGET " --gpu titanv --json %s/b.json 2>&1");
    json_t *a = document("a.json"), *b = document("b.json");
    json_t *want = at(json_array_get(at(b, "runs"), 0), "launches");
    cr_assert(eq(sz, json_array_size(at(a, "runs")), 2));
    for (size_t k = 0; k < 2; k++)
        cr_expect(json_equal(at(json_array_get(at(a, "runs"), k), "launches"), want));
    json_decref(a);
    json_decref(b);
}

/* What is no regular file is written as one: a pipe gets the same bytes, and a full device is no success. */
Test(report, outputs_go_to_pipes_and_devices)
{
    static const char *const options[] = {"--csv",          "--svg",          "--perfetto",
                                          "--chrome-trace", "--aerialvision", "--konata"};
    make("ln -s /dev/full %s/full && ln -s /proc/self/fd/1 %s/out");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char words[600];
        int status;
        snprintf(words, sizeof words,
                 "%%p report suite:saxpy %s %%s/file 2>&1 && "
                 "%%p report suite:saxpy %s %%s/out 2>&1 >%%s/same && cmp %%s/file %%s/same && "
                 "%%p report suite:saxpy %s %%s/out 2>&1 | cat >%%s/piped && "
                 "test $(wc -c <%%s/piped) -ge $(wc -c <%%s/file)",
                 options[i], options[i], options[i]);
        make(words);
        snprintf(words, sizeof words, "%%p report suite:saxpy %s %%s/full 2>&1", options[i]);
        char *said = command_output(words, &status);
        cr_expect(eq(int, status, 2), "%s", options[i]);
        cr_expect(strstr(said, "full': No space left on device") != NULL, "%s: %s", options[i],
                  said);
        free(said);
    }
}
