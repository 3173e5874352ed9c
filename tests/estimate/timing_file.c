/* model/timing_file.h: the timing model's numbers as files; fits of them. */
#define _GNU_SOURCE
#include "model/timing_file.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "calibrate/fit_timing.h"
#include "calibrate/traces.h"
#include "emu/counts.h"
#include "model/launch_estimate.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_text(struct arena *a, const char *text, struct timing_fit *fit, struct buf *said)
{
    struct source *source = arena_array(a, struct source, 1);
    *source = (struct source){"numbers.yaml", text, (uint32_t)strlen(text)};
    struct diags d = {.arena = a, .source = source};
    const bool ok = timing_file_read(&d, NULL, fit);
    if (said) diags_render(&d, said);
    return ok;
}

Test(timing_file, what_is_left_out_is_as_the_configuration_says)
{
    struct arena *a = arena_new();
    struct timing_fit fit;
    struct timing_machine alone;
    machine_configured(emu_gpu_find("v100"), &alone);
    cr_assert(
        read_text(a, "# a comment\ngpu: v100\nmachine:\n  l2_latency: 200 # cycles\n", &fit, NULL));
    cr_expect(eq(dbl, fit.machine.l2_latency, 200));
    cr_expect(eq(dbl, fit.machine.dram_latency, alone.dram_latency));
    cr_expect(eq(dbl, fit.machine.latency[PTX_COST_IMAD], alone.latency[PTX_COST_IMAD]));
    cr_expect(fit.measured == NULL);
    arena_free(a);
}

Test(timing_file, what_is_written_reads_back)
{
    for (size_t i = 0; i < timing_fit_count; i++) {
        struct arena *a = arena_new();
        struct buf text = {0}, again = {0};
        struct timing_fit fit;
        timing_file_write(&text, &timing_fits[i]);
        cr_assert(read_text(a, text.data, &fit, NULL), "%s", timing_fits[i].gpu);
        timing_file_write(&again, &fit);
        cr_expect(eq(str, text.data, again.data));
        cr_expect(eq(dbl, fit.machine.dram_interval, timing_fits[i].machine.dram_interval));
        cr_expect(fit.machine.hashed == timing_fits[i].machine.hashed);
        buf_free(&text), buf_free(&again);
        arena_free(a);
    }
}

/* The table that is built in is made from these files by tools/compile_gpus.c. */
Test(timing_file, files_say_what_is_built_in)
{
    cr_assert(timing_fit_count >= 2);
    for (size_t i = 0; i < timing_fit_count; i++) {
        struct arena *a = arena_new();
        struct buf why = {0}, own = {0}, built = {0};
        char path[100];
        snprintf(path, sizeof path, "model/timing/%s.yaml", timing_fits[i].gpu);
        const struct timing_fit *fit = timing_file_load(path, NULL, a, &why);
        cr_assert(fit != NULL, "%s", why.data);
        timing_file_write(&own, fit);
        timing_file_write(&built, &timing_fits[i]);
        cr_expect(eq(str, own.data, built.data));
        for (int k = 0; k < REGIMES; k++)
            cr_expect(fit->low[k] > 0 && fit->low[k] < 1 && fit->high[k] > 1);
        /* by the configuration alone nearly all may be too fast, as on titanv */
        cr_expect(fit->alone_low > 0 && fit->alone_low < fit->alone_high && fit->alone_high > 1);
        for (int f = 0; f < TIMING_FEATURES; f++) cr_expect(fit->least[f] <= fit->most[f]);
        buf_free(&own), buf_free(&built);
        arena_free(a);
    }
}

/* What the model promises of programs that were left out of the fit: 15 % in the mean, 60 % at worst, ranks of 0.97; in the
 * mean by program 15 % of a simulator's 48, 20 % of the 10 that a GPU ran. An interval of the configuration alone has the
 * estimate in it. */
Test(timing_file, fits_that_are_built_in_are_as_good_as_promised)
{
    double low, high;
    for (size_t i = 0; i < timing_fit_count; i++) {
        const struct timing_fit *f = &timing_fits[i];
        cr_expect(f->mean > 0 && f->mean <= 0.15, "%s: %g", f->gpu, f->mean);
        cr_expect(f->by_program > 0 && f->by_program <= (strcmp(f->gpu, "gv100") ? 0.15 : 0.2),
                  "%s: %g", f->gpu, f->by_program);
        cr_expect(f->median > 0 && f->median < f->p90 && f->p90 < f->worst, "%s", f->gpu);
        cr_expect(f->worst <= 0.6, "%s: %g", f->gpu, f->worst);
        cr_expect(f->rank >= 0.97 && f->rank < 1, "%s: %g", f->gpu, f->rank);
    }
    machine_alone(&low, &high);
    cr_expect(low > 0 && low < 1 && high > 1, "%g to %g", low, high);
}

Test(timing_file, broken_files_are_refused_with_place_and_reason)
{
    static const char *const cases[][2] = {
        {"", "numbers.yaml:1:1: error: there is nothing in this file"},
        {"machine:\n  branch: 5\n", "numbers.yaml:1:1: error: the first key is gpu"},
        {"gpu: titan\n", "numbers.yaml:1:6: error: no GPU is called 'titan'"},
        {"gpu: v100\nmachine:\n  l2_latenzy: 5\n",
         "numbers.yaml:3:3: error: 'l2_latenzy' is no key of machine"},
        {"gpu: v100\nmachine:\n  l2_latenzy: 5\n", "did you mean 'l2_latency'?"},
        {"gpu: v100\nmachines:\n  branch: 5\n",
         "numbers.yaml:3:3: error: 'machines' is no section"},
        {"gpu: v100\nmachine:\n  l2_latency: nan\n",
         "numbers.yaml:3:15: error: l2_latency is a finite number, not 'nan'"},
        {"gpu: v100\nmachine:\n  l2_latency: 0\n",
         "numbers.yaml:3:15: error: l2_latency is a number from 1 to 1e+06, not 0"},
        {"gpu: v100\nmachine:\n  banks: 1.5\n",
         "error: banks is a whole number from 1 to 64, not 1.5"},
        {"gpu: v100\nmachine:\n  hashed: 1\n", "error: hashed is yes or no, not '1'"},
        {"gpu: v100\nmachine:\n  branch: 1\n  branch: 1\n",
         "numbers.yaml:4:3: error: 'branch' is here twice"},
        {"gpu: v100\nmachine:\n  branch\n", "numbers.yaml:3:3: error: a line is 'key: value'"},
        {"gpu: v100\nmachine:\n  slices: 7\n  channels: 2\n",
         "7 slices are not as many for each of 2 channels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_new();
        struct buf said = {0};
        struct timing_fit fit;
        cr_expect(not(read_text(a, cases[i][0], &fit, &said)), "case %zu", i);
        cr_expect(said.data && strstr(said.data, cases[i][1]), "case %zu: %s", i, said.data);
        buf_free(&said);
        arena_free(a);
    }
}

/* A V100 has the GV100's chip: what was measured, at its own clocks. */
Test(timing_file, a_v100_goes_by_the_gv100)
{
    const struct emu_gpu *v100 = emu_gpu_find("v100"), *gv100 = emu_gpu_find("gv100");
    struct timing_machine v, g;
    const struct timing_fit *fit = machine_of(v100, &v);
    cr_assert(fit && machine_of(gv100, &g) == fit && strcmp(fit->gpu, "gv100") == 0);
    const double bytes = v100->core_mhz / v100->dram_bandwidth /
                         (gv100->core_mhz / gv100->dram_bandwidth);
    cr_expect(fabs(v.dram_interval / g.dram_interval / bytes - 1) < 1e-9);
    cr_expect(fabs(v.start / g.start - v100->core_mhz / gv100->core_mhz) < 1e-9);
    cr_expect(v.latency[PTX_COST_FADD] <= g.latency[PTX_COST_FADD]);
    cr_expect(v.latency[PTX_COST_FADD] >= g.latency[PTX_COST_FADD]);
    cr_expect(machine_of(emu_gpu_find("p100"), &v) == NULL);
}

/* ---- fits ------------------------------------------------------------------------------------------------ */

/* The launches of a run of the program, added to the file of traces. */
static void trace_runs(const char *file, const char *const *runs, size_t count)
{
    const char *program = getenv("HEDDLE");
    for (size_t i = 0; i < count; i++) {
        char command[400];
        snprintf(command, sizeof command,
                 "%s estimate --gpu=titanv --format=csv --traces=%s %s >/dev/null 2>&1",
                 program ? program : "./heddle", file, runs[i]);
        cr_assert(eq(int, system(command), 0), "%s", command);
    }
}

/* Launches as they would be measured on another machine than the fit starts from: what it is, comes out. */
Test(timing_fit, finds_the_machine_that_was_measured, .timeout = 300)
{
    static const char *const runs[] = {"suite:sum_tree:small",  "suite:litmus_grid:small",
                                       "suite:index_add:small", "suite:ticket:small",
                                       "suite:append:small",    "suite:histogram_shared:small"};
    enum { RUNS = sizeof runs / sizeof *runs };
    char file[] = "/tmp/heddle-traces-XXXXXX";
    struct traces traces = {.arena = arena_new()};
    struct rows rows = {.gpu = emu_gpu_find("titanv"), .arena = traces.arena};
    cr_assert(mkstemp(file) >= 0);
    trace_runs(file, runs, RUNS);
    cr_assert(traces_read(&traces, file) == NULL);
    (void)remove(file);
    struct timing_machine start, truth;
    machine_configured(rows.gpu, &start);
    start.start = 0; /* what a launch costs is not looked for */
    truth = start;
    truth.l2_latency *= 1.3;
    truth.branch *= 1.5;
    truth.latency[PTX_COST_ALU] *= 1.2;
    for (int c = 0; c < PTX_COST_COUNT; c++)
        if (c != PTX_COST_ALU) truth.latency[c] += 2;
    rows.count = traces.count;
    rows.list = arena_array(rows.arena, struct row, rows.count);
    rows.application_count = RUNS;
    rows.applications = arena_array(rows.arena, const char *, RUNS);
    for (size_t i = 0; i < RUNS; i++) rows.applications[i] = runs[i];
    for (size_t i = 0; i < rows.count; i++) {
        struct row *row = &rows.list[i];
        *row = (struct row){.run = traces.list[i].run, .launch = traces.list[i].launch};
        while (strcmp(runs[row->application], row->run) != 0) row->application++;
    }
    const struct emu_counts **launch = arena_array(rows.arena, const struct emu_counts *,
                                                   rows.count);
    struct buf said = {0};
    cr_assert(traces_match(&traces, &rows, launch, &said) && !said.data, "%s", said.data);
    cr_assert(rows.count == traces.count && rows.application_count == RUNS);
    const struct timing_data d = {.rows = &rows, .launch = launch};
    double *cycles = arena_array(rows.arena, double, rows.count), before = 0, inside = 0,
           outside = 0;
    timing_cycles(&d, &truth, cycles);
    for (size_t i = 0; i < rows.count; i++) rows.list[i].counters.cycles = cycles[i];
    struct timing_fitting f;
    fit_timing(&d, &start, &f);
    for (size_t i = 0; i < rows.count; i++) {
        before += fabs(f.before[i] / cycles[i] - 1) / (double)rows.count;
        inside += fabs(f.inside[i] / cycles[i] - 1) / (double)rows.count;
        outside += fabs(f.outside[i] / cycles[i] - 1) / (double)rows.count;
    }
    cr_expect(before > 0.08, "%g", before);
    cr_expect(inside < before / 4, "%g before, %g in the fit", before, inside);
    cr_expect(outside < before / 2, "%g before, %g left out", before, outside);
    cr_expect(fabs(f.machine.l2_latency / truth.l2_latency - 1) < 0.1, "%g for %g",
              f.machine.l2_latency, truth.l2_latency);
    arena_free(traces.arena);
}

/* Text that is no number, a machine without the program: what heddle calibrate and heddle estimate say. */
Test(timing_fit, files_that_do_not_fit_are_named)
{
    static const char *const cases[][2] = {
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv",
         "cycles without the counters: a fit of the weights wants all counters"},
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv --predict",
         "cycles without the counters: an estimate by the weights wants all counters"},
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv --csv /dev/null --predict",
         "cycles without the counters: Heddle's own CSV has all counters"},
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv --traces Makefile",
         "'Makefile': it is no file of traces"},
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv --traces /nowhere",
         "cannot read '/nowhere': No such file"},
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv --traces /dev/null --where config",
         "--where is COLUMN=VALUE"},
        {"calibrate calibrate/data/detailed-sim.csv --gpu titanv --traces /dev/null",
         "no trace of launch 0 of 'fma_chain 16 128 128' on titanv"},
        {"calibrate calibrate/data/gv100.csv --gpu gv100 --start model/timing/titanv.yaml",
         "--start is for a fit of the timing model"},
        {"estimate --gpu=gtx480 --coefficients=model/timing/titanv.yaml suite:saxpy:small",
         "'model/timing/titanv.yaml' is of titanv, which is not among --gpu"},
        {"estimate --gpu=titanv --coefficients=model/gpus/titanv.yaml suite:saxpy:small",
         "titanv.yaml:18:1: error: the first key is gpu"},
        {"estimate --gpu=titanv --coefficients=Makefile suite:saxpy:small",
         "error: a line is 'key: value' or 'section:'"},
    };
    const char *program = getenv("HEDDLE");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[300], said[4096];
        snprintf(command, sizeof command, "%s %s 2>&1", program ? program : "./heddle",
                 cases[i][0]);
        FILE *p = popen(command, "r");
        cr_assert(p != NULL);
        said[fread(said, 1, sizeof said - 1, p)] = 0;
        cr_expect(pclose(p) != 0, "%s", command);
        cr_expect(strstr(said, cases[i][1]) != NULL, "%s: %s", command, said);
    }
}
