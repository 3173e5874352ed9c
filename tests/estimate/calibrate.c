/* The form, the fit, the figures and the files that they come from. */
#define _GNU_SOURCE /* popen */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "calibrate/report.h"
#include "model/config.h"
#include "model/counter_fit_file.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_rows(struct rows *rows, const char *text, struct buf *said)
{
    struct source *source = arena_array(rows->arena, struct source, 1);
    *source = (struct source){"rows.csv", text, (uint32_t)strlen(text)};
    struct diags d = {.arena = rows->arena, .source = source};
    bool ok = rows_read(rows, &d);
    if (said) diags_render(&d, said);
    return ok;
}

static struct rows rows_of(const char *gpu)
{
    return (struct rows){.gpu = emu_gpu_find(gpu), .arena = arena_new()};
}

static struct rows shipped(void)
{
    struct rows rows = rows_of("gv100");
    size_t n;
    char *text = read_file("calibrate/data/gv100.csv", &n);
    cr_assert(read_rows(&rows, text, NULL));
    free(text);
    return rows;
}

/* ---- the form ---------------------------------------------------------------------------------------- */

static const struct counters usual = {.share = 0.9,
                                      .warps = 32,
                                      .registers = 40,
                                      .instructions = 4e6,
                                      .load_requests = 4e5,
                                      .load_sectors = 1.6e6,
                                      .store_requests = 1e5,
                                      .store_sectors = 4e5,
                                      .l2_load_sectors = 8e5,
                                      .l2_sectors = 1.2e6,
                                      .dram_sectors = 6e5,
                                      .atomic_sectors = 1e4};

static const double *weights(void)
{
    bool borrowed;
    const struct counter_fit *k = counter_fit_for(emu_gpu_find("gv100"), &borrowed);
    cr_assert(k && !borrowed);
    return k->weight;
}

Test(calibrate, more_work_takes_longer)
{
    const struct emu_gpu *g = emu_gpu_find("gv100");
    static const size_t counts[] = {
        offsetof(struct counters, instructions), offsetof(struct counters, load_requests),
        offsetof(struct counters, store_sectors), offsetof(struct counters, dram_sectors),
        offsetof(struct counters, atomic_sectors)};
    for (int placed = 0; placed < 2; placed++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            double before = 0;
            for (double times = 1; times < 1e6; times *= 3) {
                struct counters c = usual;
                c.placed = placed;
                *(double *)(void *)((char *)&c + counts[i]) *= times;
                double cycles = counter_model_cycles(g, &c, weights(), NULL);
                cr_expect(cycles > before, "count %zu times %g: %g after %g", i, times, cycles,
                          before);
                before = cycles;
            }
        }
}

Test(calibrate, parts_sum_to_the_estimate)
{
    struct terms t;
    for (int placed = 0; placed < 2; placed++) {
        struct counters c = usual;
        c.placed = placed;
        double cycles = counter_model_cycles(emu_gpu_find("gv100"), &c, weights(), &t), sum = 0;
        for (int i = 0; i < TERMS; i++) {
            cr_expect(t.part[i] >= 0);
            sum += t.part[i];
        }
        cr_expect(fabs(sum / cycles - 1) < 1e-9, "%g of %g", sum, cycles);
    }
}

/* Twice the bandwidth, half the time of a launch that DRAM binds, but for its start. */
Test(calibrate, what_dram_binds_follows_its_bandwidth)
{
    struct emu_gpu g = *emu_gpu_find("gv100");
    struct counters c = usual;
    struct terms t;
    c.placed = true;
    c.share = 1;
    c.dram_sectors = c.l2_sectors = c.l2_load_sectors = c.load_sectors = 1e9;
    c.load_requests = 2.5e8;
    c.instructions = 5e8;
    c.warps = 64;
    double slow = counter_model_cycles(&g, &c, weights(), &t);
    cr_assert(t.bottleneck == TERM_DRAM, "%s", term_name(t.bottleneck));
    g.dram_bandwidth *= 2;
    g.dram_mhz *= 2;
    double fast = counter_model_cycles(&g, &c, weights(), NULL);
    cr_expect(fast < 0.75 * slow && fast > 0.5 * slow, "%g, %g", slow, fast);
    g.dram_bandwidth *= 1e6;
    cr_expect(counter_model_cycles(&g, &c, weights(), NULL) > 0.2 * slow);
}

Test(calibrate, one_more_sm_never_hurts)
{
    struct emu_gpu g = *emu_gpu_find("gv100");
    const struct emu_occupancy o = emu_occupancy(&g, 256, 32, 0);
    for (uint64_t ctas = 1; ctas < 3000; ctas = ctas * 5 / 3 + 1) {
        double before = INFINITY;
        for (g.sms = 1; g.sms < 200; g.sms++) {
            struct counters c = usual;
            counter_model_place(&g, ctas, 256, &o, &c);
            double cycles = counter_model_cycles(&g, &c, weights(), NULL);
            cr_expect(cycles <= before * 1.000001, "%lu CTAs, %u SMs: %g after %g",
                      (unsigned long)ctas, g.sms, cycles, before);
            before = cycles;
        }
    }
}

/* A launch whose warps wait takes longer where fewer of them fit: by registers in the steps of occupancy. */
Test(calibrate, occupancy_has_steps)
{
    const struct emu_gpu *g = emu_gpu_find("gv100");
    uint32_t warps = 0;
    double before = 0;
    for (uint32_t registers = 32; registers <= 128; registers++) {
        const struct emu_occupancy o = emu_occupancy(g, 256, registers, 0);
        struct counters c = usual;
        counter_model_place(g, 8000, 256, &o, &c);
        c.registers = 32; /* what the warp itself does is the same */
        double cycles = counter_model_cycles(g, &c, weights(), NULL);
        cr_expect(registers == 32 || (o.warps == warps ? cycles == before : cycles > before),
                  "%u registers: %g after %g", registers, cycles, before);
        warps = o.warps;
        before = cycles;
    }
}

/* ---- the fit ----------------------------------------------------------------------------------------- */

/* Figures that the documentation states; they are of this data. */
static void expect_shipped_figures(const struct rows *rows, const struct fit *fit)
{
    struct figures f;
    figures_of(rows, fit->outside, &f);
    cr_expect(rows->count == 753 && rows->application_count == 21 && !fit->undetermined);
    cr_expect(f.mean < 0.17 && f.by_application < 0.26 && f.median < 0.10 && f.rank > 0.975,
              "mean %g, by application %g, median %g, rank %g", f.mean, f.by_application, f.median,
              f.rank);
    for (int i = 0; i < WEIGHTS; i++)
        cr_expect(fabs(fit->weights[i] / weights()[i] - 1) < 1e-3, "%s: %g, built in %g",
                  weight_infos[i].name, fit->weights[i], weights()[i]);
}

/* Launches made by other weights: they are found again, also where one in twenty is ten times off. */
Test(calibrate, weights_are_found_again, .timeout = 120)
{
    struct rows rows = shipped();
    struct fit fit;
    double truth[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++)
        truth[i] = weight_infos[i].before * exp((i % 2 ? 0.5 : -0.5) * weight_infos[i].spread);
    for (size_t i = 0; i < rows.count; i++) {
        struct counters *c = &rows.list[i].counters;
        c->cycles = counter_model_cycles(rows.gpu, c, truth, NULL) * (i % 20 == 7 ? 10 : 1);
    }
    fit_weights(&rows, &fit);
    for (int i = 0; i < WEIGHTS; i++)
        cr_expect(fabs(log(fit.weights[i] / truth[i])) <
                      0.1 + 0.5 * (1 - fit.known[i]) * weight_infos[i].spread,
                  "%s: %g for %g", weight_infos[i].name, fit.weights[i], truth[i]);
    arena_free(rows.arena);
}

Test(calibrate, data_without_atomics_do_not_determine_them, .timeout = 120)
{
    struct rows rows = shipped();
    struct fit fit;
    for (size_t i = 0; i < rows.count; i++) rows.list[i].counters.atomic_sectors = 0;
    fit_weights(&rows, &fit);
    cr_expect(fit.undetermined == 1u << WEIGHT_atomic, "%x", fit.undetermined);
    cr_expect(fabs(fit.weights[WEIGHT_atomic] / weight_infos[WEIGHT_atomic].before - 1) < 1e-6);
    arena_free(rows.arena);
}

/* Those that are built in are the ones of the data; reports are the same bytes again. */
Test(calibrate, the_shipped_launches_are_estimated_so_well, .timeout = 120)
{
    static const char *const file = "gv100.csv";
    struct buf out[2] = {{0}, {0}}, coefficients[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        struct rows rows = shipped();
        struct fit fit;
        fit_rows(&rows, &fit);
        if (i == 0) expect_shipped_figures(&rows, &fit);
        struct report r = {.rows = &rows, .fit = &fit, .files = &file, .file_count = 1};
        figures_of(&rows, fit.inside, &r.inside);
        figures_of(&rows, fit.outside, &r.outside);
        report_text(&out[i], &r);
        report_counter_fit(&coefficients[i], &r);
        report_plot(&out[i], &rows, fit.outside, "x.svg");
        arena_free(rows.arena);
    }
    size_t size;
    char *built_in = read_file("model/counters/gv100.yaml", &size);
    cr_expect(out[0].size > 1000 && strcmp(out[0].data, out[1].data) == 0);
    cr_expect_str_eq(coefficients[0].data, coefficients[1].data);
    cr_expect_str_eq(coefficients[0].data, built_in, "make weights");
    free(built_in);
    for (int i = 0; i < 2; i++) {
        buf_free(&out[i]);
        buf_free(&coefficients[i]);
    }
}

static bool read_coefficients(struct arena *a, const char *text, struct counter_fit *k,
                              struct buf *said)
{
    struct source *source = arena_array(a, struct source, 1);
    *source = (struct source){"weights.yaml", text, (uint32_t)strlen(text)};
    struct diags d = {.arena = a, .source = source};
    const bool ok = counter_fit_file_read(&d, k);
    if (said) diags_render(&d, said);
    return ok;
}

Test(calibrate, the_built_in_weights_are_those_of_their_file)
{
    cr_assert(counter_fit_count == 1);
    struct arena *a = arena_new();
    const struct counter_fit *built = &counter_fits[0];
    struct counter_fit k;
    size_t size;
    char *text = read_file("model/counters/gv100.yaml", &size);
    cr_assert(read_coefficients(a, text, &k, NULL));
    cr_expect_str_eq(k.gpu, built->gpu);
    cr_expect(memcmp(k.weight, built->weight, sizeof k.weight) == 0);
    cr_expect(memcmp(k.least, built->least, sizeof k.least) == 0);
    cr_expect(memcmp(k.most, built->most, sizeof k.most) == 0);
    cr_expect(k.mean == built->mean && k.rank == built->rank && k.pearson == built->pearson);
    cr_expect(k.low == built->low && k.high == built->high && k.high > 1);
    free(text);
    arena_free(a);
}

Test(calibrate, a_broken_file_of_weights_is_refused_with_place_and_reason)
{
    static const char *const cases[][3] = {
        /* what is replaced, by what, the message */
        {"gpu: gv100", "", "error: there is no gpu"},
        {"  launch:", "  lunch:", "error: 'lunch' is no key of weight"},
        {"  launch:", "  lunch:", "did you mean 'launch'?"},
        {"  issue:", "  launch:", "error: 'launch' is here twice"},
        {"  issue: 1", "  issue: -1", "error: issue is a number from 1e-09 to 1e+09, not -1"},
        {"\nin_sample:", "\nin_sample: 5", "error: 'in_sample' is no key"},
        {"  rank: 0.9806\n", "", "error: there is no rank in error"},
    };
    size_t size;
    char *text = read_file("model/counters/gv100.yaml", &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_new();
        struct buf said = {0}, broken = {0};
        struct counter_fit k;
        const char *at = strstr(text, cases[i][0]);
        cr_assert(at != NULL, "case %zu", i);
        buf_add(&broken, text, (size_t)(at - text));
        buf_puts(&broken, cases[i][1]);
        buf_puts(&broken, at + strlen(cases[i][0]));
        cr_expect(!read_coefficients(a, broken.data, &k, &said), "case %zu", i);
        cr_expect(said.data && strstr(said.data, cases[i][2]), "case %zu: %s", i, said.data);
        buf_free(&said), buf_free(&broken);
        arena_free(a);
    }
    free(text);
}

/* ---- figures ----------------------------------------------------------------------------------------- */

Test(calibrate, figures_by_hand)
{
    struct rows rows = rows_of("gv100");
    const double measured[] = {100, 200, 300, 400}, estimate[] = {110, 180, 300, 800};
    const size_t application[] = {0, 0, 0, 1};
    struct row list[4] = {0};
    for (int i = 0; i < 4; i++) {
        list[i].counters.cycles = measured[i];
        list[i].application = application[i];
    }
    rows.list = list;
    rows.count = 4;
    rows.application_count = 2;
    struct figures f;
    figures_of(&rows, estimate, &f);
    cr_expect(fabs(f.mean - 0.3) < 1e-12 && fabs(f.median - 0.1) < 1e-12 && f.worst == 1);
    cr_expect(fabs(f.by_application - (0.2 / 3 + 1) / 2) < 1e-12 && f.worst_application == 1);
    cr_expect(fabs(f.rank - 1) < 1e-12 && f.pearson < 1 && f.pearson > 0.9);
    cr_expect(f.low == 0.5 && f.high == 200.0 / 180, "%g %g", f.low, f.high);
    cr_expect(figures_worst(&rows, estimate)[0] == 3);
    arena_free(rows.arena);
}

/* ---- estimates --------------------------------------------------------------------------------------- */

Test(calibrate, estimates_say_how_sure_they_are)
{
    const struct emu_gpu *g = emu_gpu_find("gv100"), *h = emu_gpu_find("h100");
    bool borrowed;
    const struct counter_fit *k = counter_fit_for(g, &borrowed);
    struct counter_estimate e, far;
    cr_assert(!borrowed);
    counter_model_estimate(g, k, borrowed, &usual, &e);
    cr_expect(e.low < e.cycles && e.cycles < e.high && !e.outside);
    cr_expect(fabs(e.seconds * g->core_mhz * 1e6 - e.cycles) < 1);
    cr_expect(fabs(e.roofline.intensity - 4e6 / (6e5 * 32)) < 1e-9 && e.roofline.dram_bound &&
              e.roofline.performance < e.roofline.roof);
    struct counters c = usual;
    c.atomic_sectors = 4e6;
    c.warps = 500;
    counter_model_estimate(g, k, borrowed, &c, &far);
    cr_expect(far.outside == (1u << COUNTER_FEATURE_atomics | 1u << COUNTER_FEATURE_warps), "%x",
              far.outside);
    cr_expect(far.high / far.cycles > e.high / e.cycles);
    cr_expect(counter_fit_for(h, &borrowed) != NULL && borrowed);
}

/* ---- files ------------------------------------------------------------------------------------------- */

static const char head[] =
    "application,kernel,cycles,share,warps,registers,instructions,load_requests,"
    "load_sectors,store_requests,store_sectors,l2_load_sectors,l2_sectors,"
    "dram_sectors,atomic_sectors\n";
static const char line[] = "a,k,10000,0.5,16,32,50000,1000,4000,500,2000,3000,5000,4000,0\n";

static const char raw_page[] =
    "\"ID\",\"Process Name\",\"Kernel Name\",\"gpc__cycles_elapsed.max\",\"sm__cycles_active.avg\","
    "\"sm__warps_active.avg.per_cycle_active\",\"launch__registers_per_thread\","
    "\"smsp__inst_executed.sum\",\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\","
    "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\","
    "\"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum\","
    "\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\",\"lts__t_sectors_op_read.sum\","
    "\"lts__t_sectors_op_write.sum\",\"dram__sectors_read.sum\",\"dram__sectors_write.sum\","
    "\"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum\","
    "\"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum\"\n"
    "\"\",\"\",\"\",\"cycle\",\"cycle\",\"warp\",\"register/thread\",\"inst\",\"\",\"sector\",\"\","
    "\"sector\",\"sector\",\"sector\",\"sector\",\"sector\",\"sector\",\"sector\"\n"
    "\"0\",\"app\",\"f(int, float)\",\"10,000\",\"5,000\",\"16.5\",\"32\",\"50,000\",\"1,000\","
    "\"4,000\",\"500\",\"2,000\",\"3,000\",\"2,000\",\"3,000\",\"1,000\",\"7\",\"8\"\n";

static bool are_equal(const struct counters *a, const struct counters *b)
{
    return a->cycles == b->cycles && a->share == b->share && a->placed == b->placed &&
           a->warps == b->warps && a->registers == b->registers &&
           a->instructions == b->instructions && a->load_requests == b->load_requests &&
           a->load_sectors == b->load_sectors && a->store_requests == b->store_requests &&
           a->store_sectors == b->store_sectors && a->l2_load_sectors == b->l2_load_sectors &&
           a->l2_sectors == b->l2_sectors && a->dram_sectors == b->dram_sectors &&
           a->atomic_sectors == b->atomic_sectors;
}

Test(calibrate, ncu_files_are_read)
{
    struct rows rows = rows_of("gv100");
    struct buf said = {0};
    cr_assert(read_rows(&rows, raw_page, &said), "%s", said.data);
    const struct counters *c = &rows.list[0].counters;
    cr_expect(rows.count == 1 && strcmp(rows.list[0].kernel, "f(int, float)") == 0);
    cr_expect(c->cycles == 10000 && c->share == 0.5 && c->warps == 16.5 && c->registers == 32);
    cr_expect(c->l2_sectors == 5000 && c->dram_sectors == 4000 && c->atomic_sectors == 15);
    cr_expect(c->store_sectors == 2000 && c->load_requests == 1000);
    struct buf again = {0};
    rows_write(&rows, &again);
    struct rows copy = rows_of("gv100");
    cr_expect(read_rows(&copy, again.data, NULL) && are_equal(c, &copy.list[0].counters));
    buf_free(&again);
    arena_free(copy.arena);
    arena_free(rows.arena);
}

/* What the program prints stands before ncu's table; editors begin a file with a mark. */
Test(calibrate, what_stands_before_the_columns_is_passed_over)
{
    static const char *const before[] = {
        "==PROF== Connected to process 7\nstep 1, residual 0.5, \"good\"\n\n==PROF== Profiling\n",
        "\xef\xbb\xbf", "\xef\xbb\xbf# by hand\r\n"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        struct rows rows = rows_of("gv100");
        struct buf said = {0}, text = {0};
        buf_puts(&text, before[i]);
        buf_puts(&text, raw_page);
        cr_expect(read_rows(&rows, text.data, &said), "%s", said.data);
        cr_expect(rows.count == 1 && rows.list[0].counters.cycles == 10000);
        buf_free(&said);
        buf_free(&text);
        arena_free(rows.arena);
    }
    struct rows rows = rows_of("gv100");
    struct buf text = {0}, said = {0};
    buf_printf(&text, "\xef\xbb\xbf%s%s", head, line);
    cr_expect(read_rows(&rows, text.data, &said), "%s", said.data);
    cr_expect(!read_rows(&rows, "\xff\xfei", &said) &&
              strstr(said.data, "1:1: error: this is UTF-16: UTF-8 is wanted"));
    buf_free(&said);
    buf_free(&text);
    arena_free(rows.arena);
}

/* Of three digits each, before the point: where the comma is the decimal point, a number is no other one. */
Test(calibrate, commas_separate_thousands_only)
{
    static const struct {
        const char *by;
        double cycles;
    } cases[] = {
        {"\"1,000,000\"", 1e6}, {"\"10,000.25\"", 10000.25}, {"\"10000,5\"", 0}, {"\"10,00\"", 0},
        {"\",100\"", 0},        {"\"1.5,000\"", 0},          {"\"1,0000\"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rows rows = rows_of("gv100");
        struct buf text = {0}, said = {0};
        buf_printf(&text, "%sa,k,%s%s", head, cases[i].by, line + strlen("a,k,10000"));
        cr_expect(read_rows(&rows, text.data, &said) == (cases[i].cycles > 0), "%s: %s",
                  cases[i].by, said.data);
        if (cases[i].cycles > 0)
            cr_expect(rows.count == 1 && rows.list[0].counters.cycles == cases[i].cycles);
        else
            cr_expect(strstr(said.data, "rows.csv:2:6: error: 'cycles' is a finite number"), "%s",
                      said.data);
        buf_free(&said);
        buf_free(&text);
        arena_free(rows.arena);
    }
}

/* ncu --csv --metrics: a line for each metric, what ncu and the program say around them, units with prefixes. */
#define METRIC(id, name, unit, value)                                                              \
    "\"" id "\",\"app\",\"f(int, float)\",\"" name "\",\"" unit "\",\"" value "\"\n"
#define METRICS(id, dram)                                                                          \
    METRIC(id, "sm__cycles_active.avg", "cycle", "5,000")                                          \
    METRIC(id, "gpc__cycles_elapsed.max", "cycle", "10,000")                                       \
    METRIC(id, "sm__warps_active.avg.per_cycle_active", "warp", "16.5")                            \
    METRIC(id, "launch__registers_per_thread", "register/thread", "32")                            \
    METRIC(id, "gpu__time_duration.sum", "usecond", "10")                                          \
    METRIC(id, "smsp__inst_executed.sum", "inst", "50,000")                                        \
    METRIC(id, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", "1,000")                     \
    METRIC(id, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "4,000")                \
    METRIC(id, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", "500")                       \
    METRIC(id, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "2,000")                \
    METRIC(id, "lts__t_sectors_op_read.sum", "Ksector", "3")                                       \
    METRIC(id, "lts__t_sectors_op_write.sum", "sector", "2,000")                                   \
    dram METRIC(id, "dram__sectors_write.sum", "sector", "1,000")                                  \
        METRIC(id, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector", "7")               \
            METRIC(id, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", "8")
#define LONG_HEAD                                                                                  \
    "==PROF== Connected to process 7\n\"ID\",\"Process Name\",\"Kernel Name\",\"Metric Name\","    \
    "\"Metric Unit\",\"Metric Value\"\n"

Test(calibrate, a_line_for_each_metric_is_read)
{
    static const char text[] = LONG_HEAD METRICS(
        "0", METRIC("0", "dram__sectors_read.sum", "sector", "3,000"))
        METRICS("1", METRIC("1", "dram__sectors_read.sum", "Ksector",
                            "2")) "==PROF== Disconnected from process 7\n";
    struct rows rows = rows_of("gv100");
    struct buf said = {0};
    cr_assert(read_rows(&rows, text, &said), "%s", said.data);
    cr_assert(rows.count == 2 && rows.application_count == 1);
    const struct counters *c = &rows.list[0].counters;
    cr_expect(c->cycles == 10000 && c->share == 0.5 && c->warps == 16.5 && c->registers == 32);
    cr_expect(c->l2_load_sectors == 3000 && c->dram_sectors == 4000 && c->atomic_sectors == 15);
    cr_expect(rows.list[1].counters.dram_sectors == 3000);
    cr_expect(rows.list[0].launch == 0 && rows.list[1].launch == 1 && rows.list[1].line == 19);
    arena_free(rows.arena);
}

Test(calibrate, metrics_that_lack_or_are_of_another_kind_are_refused)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {LONG_HEAD METRICS("0", ""),
         "rows.csv:3:1: error: launch 0 of 'f(int, float)' has no metric 'dram__sectors_read.sum'"},
        {LONG_HEAD METRICS("0", METRIC("0", "dram__sectors_read.sum", "Kbyte", "96")),
         "'dram__sectors_read.sum' in 'Kbyte': sectors"},
        {"\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n", "no column 'Metric Unit'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rows rows = rows_of("gv100");
        struct buf said = {0};
        cr_expect(!read_rows(&rows, cases[i].text, &said));
        cr_expect(said.data && strstr(said.data, cases[i].want), "%s", said.data);
        buf_free(&said);
        arena_free(rows.arena);
    }
}

/* ---- GPGPU-Sim ---------------------------------------------------------------------------------------- */

#define LOG_HEAD                                                                                   \
    "        *** GPGPU-Sim Simulator Version 4.2.0  [build 0] ***\n"                               \
    "-gpgpu_n_clusters                      40 # number of processing clusters\n"                  \
    "-gpgpu_n_cores_per_cluster                    2 # number of simd cores per cluster\n"         \
    "GPGPU-Sim PTX: Kernel '_Z1ki' : regs=12, lmem=0, smem=0, cmem=380\n"                          \
    "GPGPU-Sim PTX: pushing kernel '_Z1ki' to stream 0, gridDim= (16,1,1) blockDim = (256,1,1) \n"
#define LOG_LAUNCH(cycles, instructions, loads, sectors, dram)                                     \
    "kernel_name = _Z1ki \nkernel_launch_uid = 1 \ngpu_sim_cycle = " cycles                        \
    "\ngpu_sim_insn = 90112\ngpu_tot_sim_cycle = 9\ngpu_occupancy = 12.5000% \n"                   \
    "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = " sectors                    \
    "\n\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS] = " sectors                  \
    "\ngpgpu_n_tot_w_icount = " instructions "\ngpgpu_n_load_insn  = " loads                       \
    "\ngpgpu_n_store_insn = " loads "\ntotal dram reads = " dram "\ntotal dram writes = 0\n"       \
    "L2_total_cache_accesses = " sectors                                                           \
    "\n\tL2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = " sectors "\n"

Test(calibrate, logs_of_gpgpusim_are_read_launch_by_launch)
{
    struct rows rows = rows_of("titanv");
    struct buf said = {0};
    cr_assert(read_rows(&rows,
                        LOG_HEAD LOG_LAUNCH("1010", "2816", "8192", "1024", "100")
                            LOG_LAUNCH("910", "6816", "9216", "1124", "130"),
                        &said),
              "%s", said.data);
    cr_assert(rows.count == 2);
    const struct row *first = &rows.list[0], *second = &rows.list[1];
    const struct counters *a = &first->counters, *b = &second->counters;
    cr_expect(a->cycles == 1010 && a->instructions == 2816 && a->load_requests == 256);
    cr_expect(a->load_sectors == 1024 && a->dram_sectors == 100 && a->warps == 8);
    cr_expect(a->share == 0.2 && a->placed && a->registers == 12, "16 CTAs on 80 SMs");
    /* what the log sums over launches, by launch */
    cr_expect(b->cycles == 910 && b->instructions == 4000 && b->load_requests == 32);
    cr_expect(b->load_sectors == 100 && b->dram_sectors == 30);
    cr_expect(strcmp(first->run, "rows") == 0 && first->launch == 0 && second->launch == 1);
    cr_expect(strcmp(first->kernel, "_Z1ki") == 0 && !first->lacks);
    arena_free(rows.arena);
}

Test(calibrate, of_a_log_that_lacks_counters_the_cycles_are_known)
{
    struct rows rows = rows_of("titanv");
    cr_assert(read_rows(&rows, LOG_HEAD "kernel_name = k \ngpu_sim_cycle = 77\n", NULL));
    cr_expect(rows.count == 1 && rows.list[0].counters.cycles == 77);
    cr_expect(strcmp(rows.list[0].lacks, "gpu_occupancy") == 0);
    arena_free(rows.arena);
}

Test(calibrate, broken_logs_are_refused_with_place_and_reason)
{
    static const struct {
        const char *gpu, *text, *want;
    } cases[] = {
        {"titanv", LOG_HEAD "kernel_name = k \ngpu_sim_insn = 7\n",
         "rows.csv:6:1: error: the launch of 'k' has no gpu_sim_cycle: did it end?"},
        {"gtx480", LOG_HEAD LOG_LAUNCH("1010", "2816", "8192", "1024", "100"),
         "rows.csv:3:1: error: the log is of 80 SMs, a GeForce GTX 480 has 15"},
        {"titanv",
         LOG_HEAD LOG_LAUNCH("1010", "2816", "8192", "1024", "100")
             LOG_LAUNCH("1010", "2815", "8192", "1024", "100"),
         "gpgpu_n_tot_w_icount is less than after the launch before"},
        {"titanv", LOG_HEAD LOG_LAUNCH("nan", "2816", "8192", "1024", "100"),
         "gpu_sim_cycle is a number that is not negative"},
        {"titanv", LOG_HEAD LOG_LAUNCH("10", "281600000", "8192", "1024", "100"),
         "on a TITAN V this cannot be: more instructions than can be issued"},
        {"titanv", LOG_HEAD, "error: no launch: a log of GPGPU-Sim has"},
        {"titanv", LOG_HEAD "kernel_name = k \ngpu_sim_cycle = 7",
         "rows.csv:7:1: error: the log ends within a line: is there more of it?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rows rows = rows_of(cases[i].gpu);
        struct buf said = {0};
        cr_expect(!read_rows(&rows, cases[i].text, &said), "case %zu", i);
        cr_expect(said.data && strstr(said.data, cases[i].want), "case %zu: %s", i, said.data);
        buf_free(&said);
        arena_free(rows.arena);
    }
}

/* ---- cycles alone ------------------------------------------------------------------------------------- */

Test(calibrate, cycles_of_launches_are_read_of_one_configuration)
{
    static const char text[] = "program,args,config,launch,kernel,cycles\n"
                               "saxpy,4096 8,A,0,saxpy,100\nsaxpy,4096 8,B,0,saxpy,300\n"
                               "chase,,A,2,k,200\n";
    struct rows rows = rows_of("titanv");
    rows.column = "config", rows.value = "A";
    cr_assert(read_rows(&rows, text, NULL));
    cr_assert(rows.count == 2 && rows.application_count == 2);
    cr_expect(strcmp(rows.list[0].run, "saxpy 4096 8") == 0 && rows.list[0].counters.cycles == 100);
    cr_expect(strcmp(rows.list[1].run, "chase") == 0 && rows.list[1].launch == 2);
    cr_expect(rows.list[0].lacks != NULL);
    struct buf said = {0};
    static const char *const launches[] = {"1.5", "4294967296", "1e30"};
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        char wrong[200];
        snprintf(wrong, sizeof wrong, "program,args,config,launch,kernel,cycles\ns,,A,%s,k,100\n",
                 launches[i]);
        cr_expect(!read_rows(&rows, wrong, &said) &&
                      strstr(said.data, "2:1: error: a launch is a whole number from 0"),
                  "%s: %s", launches[i], said.data ? said.data : "read");
        buf_free(&said);
    }
    rows.column = "machine";
    cr_expect(!read_rows(&rows, text, &said));
    cr_expect(strstr(said.data, "rows.csv:1:1: error: no column 'machine'") != NULL, "%s",
              said.data);
    buf_free(&said);
    arena_free(rows.arena);
}

Test(calibrate, broken_files_are_refused_with_place_and_reason)
{
    static const struct {
        const char *what, *by, *want;
    } cases[] = {
        {"0.5", "50", "rows.csv:2:1: error: on a Quadro GV100 this cannot be: SMs were active for"},
        {"10000", "nan", "rows.csv:2:5: error: 'cycles' is a finite number that is not negative"},
        {"10000", "inf", "rows.csv:2:5: error: 'cycles'"},
        {"10000", "-1", "rows.csv:2:5: error: 'cycles'"},
        {"10000", "", "rows.csv:2:5: error: 'cycles'"},
        {"10000", "1e4x", "rows.csv:2:5: error: 'cycles'"},
        {"10000", "10000.00000000000000000000000000000000000000000000000000000000000x",
         "rows.csv:2:5: error: 'cycles'"},
        {"10000", "0", "it took no cycles"},
        {",4000,0", ",4000000,0", "more DRAM sectors than can be moved in its cycles: bytes?"},
        {"50000", "50000000", "by thread, not by warp?"},
        {"16,32", "160,32", "more warps than an SM holds: a percentage?"},
        {"16,32", "16,0", "a thread has 1 to 255 registers"},
        {",1000,4000", ",10,4000", "more than 32 sectors for each request"},
        {",4000,0", "", "a line of 13 values, too few"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rows rows = rows_of("gv100");
        struct buf text = {0}, said = {0};
        const char *at = strstr(line, cases[i].what);
        cr_assert(at, "%s", cases[i].what);
        buf_puts(&text, head);
        buf_add(&text, line, (size_t)(at - line));
        buf_puts(&text, cases[i].by);
        buf_puts(&text, at + strlen(cases[i].what));
        cr_expect(!read_rows(&rows, text.data, &said) && strstr(said.data, cases[i].want), "%s: %s",
                  cases[i].by, said.data ? said.data : "read");
        buf_free(&text);
        buf_free(&said);
        arena_free(rows.arena);
    }
}

Test(calibrate, missing_columns_are_named)
{
    struct rows rows = rows_of("gv100");
    struct buf said = {0};
    cr_expect(!read_rows(&rows, "# c\n\napplication,kernel,cycles\n", &said));
    cr_expect(strstr(said.data, "rows.csv:3:1: error: no column 'share', as Heddle's own CSV has"));
    cr_expect(strstr(said.data, "no column 'atomic_sectors'"));
    buf_free(&said);
    cr_expect(!read_rows(&rows, "x,y\n1,2\n", &said) &&
              strstr(said.data, "no column 'application'"));
    cr_expect(!read_rows(&rows, "", NULL));
    buf_free(&said);
    arena_free(rows.arena);
}

/* ---- the command ------------------------------------------------------------------------------------- */

/* What `heddle calibrate ARGUMENTS` prints on both streams. Free it. */
static char *command(const char *arguments, int *status)
{
    char line[512], *program = getenv("HEDDLE"), *said = calloc(1, 1 << 20);
    snprintf(line, sizeof line, "%s calibrate %s 2>&1", program ? program : "./heddle", arguments);
    FILE *out = popen(line, "r");
    cr_assert(out && said && fread(said, 1, (1 << 20) - 1, out) < (1 << 20) - 1);
    *status = pclose(out) / 256;
    return said;
}

Test(calibrate, the_command_predicts_and_refuses, .timeout = 120)
{
    static const struct {
        const char *arguments, *want;
        int status;
    } cases[] = {
        {"calibrate/data/gv100.csv --gpu gv100 --predict", "rank 0.985", 0},
        {"calibrate/data/gv100.csv --gpu h100 --predict", "weights of gv100, borrowed", 0},
        {"calibrate/data/gv100.csv --gpu gv10 --predict", "did you mean 'gv100'?", 2},
        {"calibrate/data/gv100.csv", "--gpu says what was measured", 2},
        {"--gpu gv100", "which measured launches?", 2},
        {"calibrate/data/gv100.csv --gpu gv100 --gpu v100", "--gpu is given twice", 2},
        {"no/such.csv --gpu gv100", "cannot read 'no/such.csv'", 2},
        {"calibrate/data/gv100.csv --gpu gtx480", "on a GeForce GTX 480 this cannot be", 1},
        {"calibrate/data/gv100.csv --gpu gv100 --sure", "unknown option '--sure'", 2},
        {"calibrate/data/gv100.csv --gpu gv100 --output no/such.yaml",
         "cannot write 'no/such.yaml'", 2},
        {"calibrate/data/gv100.csv --gpu gv100 --plot no/such.svg", "cannot write 'no/such.svg'",
         2},
        {"calibrate/data/gv100.csv --gpu gv100 --csv no/such.csv", "cannot write 'no/such.csv'", 2},
        {"calibrate/data/gv100.csv --gpu gv100 --predict --plot x.svg", "leave out --plot", 2},
        {"README.md --gpu gv100", "error: no column 'application'", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *said = command(cases[i].arguments, &status);
        cr_expect(status == cases[i].status && strstr(said, cases[i].want), "%s: %d, %.300s",
                  cases[i].arguments, status, said);
        free(said);
    }
}

Test(calibrate, a_missing_gnuplot_is_said, .timeout = 120)
{
    int status;
    char *said = command("calibrate/data/gv100.csv --gpu gv100 --plot /tmp/heddle-no.svg", &status);
    cr_expect(status == 0 && (strstr(said, "gnuplot is not installed") ||
                              system("command -v gnuplot >/dev/null") == 0));
    cr_expect(strstr(said, "application left out"));
    free(said);
}
