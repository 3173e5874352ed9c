/* heddle estimate, and model/launch_estimate.h. */
#define _GNU_SOURCE
#include "emu/gpu.h"
#include "model/launch_estimate.h"
#include "model/machine.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* What the program prints, and its exit code. Free it. */
static char *run(const char *arguments, int *status)
{
    char command[1000], *text = NULL;
    const char *program = getenv("HEDDLE");
    size_t size = 0;
    snprintf(command, sizeof command, "%s %s 2>&1", program ? program : "./heddle", arguments);
    FILE *p = popen(command, "r"), *m = open_memstream(&text, &size);
    cr_assert(p && m);
    for (int c; (c = getc(p)) != EOF;) putc(c, m);
    fclose(m);
    const int s = pclose(p);
    *status = WIFEXITED(s) ? WEXITSTATUS(s) : -1;
    return text;
}

static json_t *document(const char *arguments)
{
    char words[500];
    int status;
    snprintf(words, sizeof words, "estimate --format=json %s", arguments);
    char *text = run(words, &status);
    cr_assert(eq(int, status, 0), "%s", text);
    json_t *d = json_loads(text, 0, NULL);
    cr_assert(d != NULL, "%s", text);
    free(text);
    return d;
}

static double number(json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static json_t *of_gpu(json_t *document, size_t i)
{
    return json_array_get(json_object_get(document, "gpus"), i);
}

/* Launches that are alike are bound by the same, each and together; waiting for the slowest SM is more than any
 * other part here, but not most. */
Test(estimate, all_launches_are_bound_as_each)
{
    json_t *d = document("--gpu=titanv suite:transpose_padded:small"), *g = of_gpu(d, 0), *launch;
    const json_t *total = json_object_get(g, "total");
    const char *all = json_string_value(json_object_get(total, "most"));
    size_t i;
    json_array_foreach(json_object_get(g, "launches"), i, launch)
        cr_expect_str_eq(json_string_value(json_object_get(launch, "most")), all);
    cr_expect_str_neq(all, "imbalance");
    json_decref(d);
}

Test(estimate, parts_sum_to_cycles_and_launches_to_the_total)
{
    json_t *d = document("--gpu=titanv,gtx480,v100 suite:sum_tree");
    double measured = 0;
    for (size_t k = 0; k < 3; k++) {
        json_t *g = of_gpu(d, k), *launch, *part;
        double cycles = 0;
        size_t i;
        const char *name;
        json_array_foreach(json_object_get(g, "launches"), i, launch)
        {
            double sum = 0;
            json_object_foreach(json_object_get(launch, "parts"), name, part)
                sum += json_number_value(part);
            cr_expect(lt(dbl, fabs(sum - number(launch, "cycles")), 1e-6 * sum));
            /* issue, and waiting for units that are taken, by unit */
            json_t *parts = json_object_get(launch, "parts"), *unit;
            double units = 0;
            json_object_foreach(json_object_get(launch, "units"), name, unit)
                units += json_number_value(unit);
            sum = number(parts, "issue") + number(parts, "units");
            cr_expect(lt(dbl, fabs(units - sum), 1e-6 * sum));
            cr_expect(gt(dbl, number(json_object_get(launch, "units"), "memory"), 0));
            cr_expect(gt(dbl, number(json_object_get(launch, "units"), "fp32"), 0));
            cr_expect(eq(dbl, number(json_object_get(launch, "units"), "tensor"), 0));
            cycles += number(launch, "cycles");
        }
        cr_expect(gt(u64, i, 1));
        cr_expect(
            lt(dbl, fabs(cycles - number(json_object_get(g, "total"), "cycles")), 1e-6 * cycles));
        json_t *total = json_object_get(g, "total");
        double instructions = 0;
        json_array_foreach(json_object_get(g, "launches"), i, launch)
            instructions += number(launch, "performance") * number(launch, "cycles");
        cr_expect(lt(dbl, fabs(instructions / cycles - number(total, "performance")), 1e-6));
        cr_expect(le(dbl, number(total, "performance"), number(total, "roof")));
        /* of what was not measured a wider one */
        json_t *interval = json_object_get(total, "interval");
        const double low = json_number_value(json_array_get(interval, 0)),
                     high = json_number_value(json_array_get(interval, 1));
        cr_expect(low < cycles && cycles < high);
        if (k < 2) measured = fmax(measured, high / low);
        else cr_expect(high / low > measured);
    }
    json_decref(d);
}

Test(estimate, is_the_same_for_any_number_of_host_threads)
{
    int status;
    char *one = run("estimate --format=csv --gpu=titanv,a100 --threads=1 suite:spmv_vector",
                    &status);
    char *many = run("estimate --format=csv --gpu=titanv,a100 --threads=3 suite:spmv_vector",
                     &status);
    cr_expect(eq(str, one, many));
    cr_expect(strstr(one, "\na100,0,") != NULL);
    free(one), free(many);
}

/* Cycles of all launches of a call, and the hops of their sectors in the mean. */
struct hops {
    double cycles, hops;
    bool interval;
};
static struct hops hops_of(const char *arguments)
{
    json_t *d = document(arguments), *total = json_object_get(of_gpu(d, 0), "total");
    const struct hops h = {number(total, "cycles"), number(total, "hops"),
                           json_object_get(total, "interval") != NULL};
    json_decref(d);
    return h;
}

/* Archaeopteryx's SAXPY: by hand a CTA has as many sectors in each partition of an interleaved memory, which are 0 to 2 hops away
 * in a mesh of 2 x 2 (1 in the mean), and 2 but for its own in a tree (1.5). In blocks it has all beside it. */
Test(estimate, hops_take_time, .timeout = 120)
{
#define SAXPY(map) "suite:saxpy --gpu=titanv --memory-map=" map
    const struct hops none = hops_of("suite:saxpy --gpu=titanv"),
                      crossbar = hops_of(SAXPY("interleave:256") " --topology=crossbar"),
                      blocks = hops_of(SAXPY("block") " --topology=mesh"),
                      tree = hops_of(SAXPY("interleave:256") " --topology=htree");
    cr_expect(none.hops == 0 && none.interval);
    cr_expect(crossbar.cycles == none.cycles && crossbar.interval);
    cr_expect(eq(dbl, crossbar.hops, 0.75), "%g", crossbar.hops);
    cr_expect(eq(dbl, blocks.hops, 0), "%g", blocks.hops);
    cr_expect(eq(dbl, tree.hops, 1.5), "%g", tree.hops);
    cr_expect(tree.interval == false);
    double last = none.cycles;
    for (int cycles = 0; cycles <= 160; cycles = cycles ? 2 * cycles : 5) {
        char words[200];
        snprintf(words, sizeof words, SAXPY("interleave:256") " --topology=mesh --hop-cycles=%d",
                 cycles);
        const struct hops mesh = hops_of(words);
        cr_expect(eq(dbl, mesh.hops, 1), "%g", mesh.hops);
        cr_expect(cycles ? mesh.cycles > last : mesh.cycles == last, "%d: %g, %g before", cycles,
                  mesh.cycles, last);
        cr_expect(cycles < 5 || blocks.cycles <= mesh.cycles);
        last = mesh.cycles;
    }
}

/* The last of a GPU's rows is that of all launches. */
Test(estimate, csv_has_a_row_of_all)
{
    int status;
    char *text = run("estimate --format=csv --gpu=titanv,gtx480 suite:sum_tree", &status), *save,
         *line = strtok_r(text, "\n", &save);
    double cycles[2] = {0}, all[2] = {0};
    size_t rows = 0;
    cr_assert(eq(int, status, 0));
    cr_expect(strstr(line, ",unit_fp32,") && strstr(line, ",order"), "%s", line);
    for (; (line = strtok_r(NULL, "\n", &save)); rows++) {
        const bool second = strncmp(line, "gtx480,", 7) == 0;
        const char *at = line;
        for (int column = 0; column < 9; column++) at = strchr(at, ',') + 1;
        *(strstr(line, ",,,,,,,,") ? &all[second] : &cycles[second]) += strtod(at, NULL);
        cr_expect(eq(str, strrchr(line, ','), (char *)",native"));
    }
    cr_expect(eq(sz, rows, 6));
    for (int i = 0; i < 2; i++) cr_expect(cycles[i] > 0 && fabs(all[i] - cycles[i]) < 0.2);
    free(text);
}

Test(estimate, refuses_what_it_does_not_know)
{
    static const char *const bad[][2] = {
        {"--gpu=titan suite:sum_tree", "there is no GPU 'titan'; did you mean"},
        {"--gpu=titanv,v100,titanv suite:sum_tree", "--gpu has 'titanv' twice"},
        {"--gpu=v100 --gpu v100 suite:sum_tree", "--gpu has 'v100' twice"},
        {"--format=text suite:sum_tree", "table, json or csv"},
        {"--order randon suite:sum_tree", "randon"},
        {"--order gpudet:quanta=3 suite:sum_tree", "quanta"},
        {"--order gpudet,dab suite:sum_tree", "heddle compare"},
        {"--gpu= suite:sum_tree", "there is no GPU ''"},
        {"--gpu=titanv, suite:sum_tree", "there is no GPU ''"},
        {"--order= suite:sum_tree", "there is no order ''"},
        {"--order dab --order=dab suite:sum_tree", "--order has 'dab' twice"},
        {"--coefficients a --coefficients b suite:sum_tree", "--coefficients is given twice"},
        {"suite:sum_trie", "    1 | heddle estimate suite:sum_trie\n"},
        {"suite:sum_tree --hop-cycles 5", "--hop-cycles needs --topology"},
        {"suite:sum_tree --topology mesh", "it needs --memory-map"},
        {"suite:sum_tree --profile", "--profile is for 'heddle run' alone"},
        {"suite:sum_tree --memory-map block --topology mesh --hop-cycles x", "a number from 0 to"},
        {"--from x.hdt --memory-map=block", "--from runs nothing: it does not take '--memory-map"},
        {"suite:sum_tree --dep x", "Try 'heddle estimate --help'"},
        {"", "    1 | heddle estimate\n      |                ^\n"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char words[200];
        int status;
        snprintf(words, sizeof words, "estimate %s", bad[i][0]);
        char *text = run(words, &status);
        cr_expect(eq(int, status, 2));
        cr_expect(strstr(text, bad[i][1]) != NULL, "%s", text);
        free(text);
    }
}

/* A TITAN V issues 4 instructions in each of 80 SMs, and moves 652.8 GB/s at 1200 MHz: 544 bytes a cycle. */
Test(estimate, the_roof_is_issue_or_dram)
{
    const struct emu_gpu *g = emu_gpu_find("titanv");
    struct roofline r = roofline_of(g, 1000, 0, 10);
    cr_expect(all(eq(dbl, r.roof, 320), eq(dbl, r.performance, 100), eq(dbl, r.intensity, 0)));
    cr_expect(not(r.dram_bound));
    r = roofline_of(g, 1000, 1000, 10);
    cr_expect(all(eq(dbl, r.roof, 320), eq(dbl, r.intensity, 1), not(r.dram_bound)));
    r = roofline_of(g, 1000, 4000, 10);
    cr_expect(all(epsilon_eq(dbl, r.roof, 136, 1e-9), eq(dbl, r.intensity, 0.25)));
    cr_expect(r.dram_bound);
}

Test(estimate, sums_of_launches_follow_from_their_parts)
{
    const struct emu_gpu *g = emu_gpu_find("titanv");
    struct launch_estimate sum = {0},
                           a = {.warp_instructions = 600,
                                .thread_instructions = 19200,
                                .dram_bytes = 3000,
                                .cycles = 20,
                                .seconds = 2,
                                .low = 15,
                                .high = 25,
                                .warnings = LAUNCH_PARTLY},
                           b = {.warp_instructions = 400,
                                .thread_instructions = 12800,
                                .dram_bytes = 1000,
                                .cycles = 30,
                                .seconds = 3,
                                .low = 25,
                                .high = 35,
                                .warnings = LAUNCH_ORDER};
    a.part[TIMING_ISSUE] = 20, b.part[TIMING_DRAM] = 30, b.by_unit[TIMING_UNIT_SFU] = 4;
    launch_estimate_add(&sum, &a, g);
    launch_estimate_add(&sum, &b, g);
    cr_expect(all(eq(dbl, sum.cycles, 50), eq(dbl, sum.seconds, 5)));
    cr_expect(all(eq(dbl, sum.low, 40), eq(dbl, sum.high, 60), eq(dbl, sum.dram_bytes, 4000)));
    cr_expect(all(eq(dbl, sum.part[TIMING_ISSUE], 20), eq(dbl, sum.by_unit[TIMING_UNIT_SFU], 4)));
    cr_expect(all(sum.bound == TIMING_DRAM, sum.warnings == (LAUNCH_PARTLY | LAUNCH_ORDER)));
    cr_expect(all(eq(dbl, sum.ipc, 640), eq(dbl, sum.roofline.performance, 20)));
    cr_expect(all(eq(dbl, sum.roofline.intensity, 0.25), sum.roofline.dram_bound));
    launch_estimate_cut(&a);
    launch_estimate_add(&sum, &a, g);
    launch_estimate_add(&sum, &b, g);
    cr_expect(all(eq(dbl, sum.low, 0), eq(dbl, sum.high, 0))); /* of a part nothing is known */
}

Test(estimate, says_that_there_was_nothing_to_estimate)
{
    int status;
    char *text = run("estimate --check race suite:sum_tree", &status);
    cr_expect(eq(int, status, 1));
    cr_expect(strstr(text, "no launch could be estimated") != NULL, "%s", text);
    free(text);
}

/* A launch of one warp has fewer instructions than any that was measured, which moves nothing. One that waits for matrix
 * instructions, of which none was measured, has a note. */
Test(estimate, notes_are_of_what_moves_the_time)
{
    static const struct {
        const char *inst;
        size_t notes;
    } cases[] = {
        {"add.f32 %f, %f, %f;", 0},
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7},"
         "{%r, %r}, {%r, %r}, {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7};",
         1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/heddle-estimate-XXXXXX", words[300];
        FILE *f = fdopen(mkstemp(path), "w");
        cr_assert(f != NULL);
        fprintf(f,
                ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n"
                "{ .reg .f32 %%f, %%d<8>; .reg .b32 %%r; %s ret; }\n",
                cases[i].inst);
        fclose(f);
        snprintf(words, sizeof words, "%s --grid 1 --block 32", path);
        json_t *d = document(words),
               *notes = json_object_get(json_object_get(of_gpu(d, 0), "total"), "warnings");
        cr_expect(eq(sz, json_array_size(notes), cases[i].notes), "%s", cases[i].inst);
        json_decref(d);
        remove(path);
    }
}

/* Where no lanes diverge, both ways to diverge are the same. */
Test(estimate, independent_threads_take_as_long_where_none_diverge)
{
    json_t *stack = document("suite:sum_tree"), *its = document("--divergence=its suite:sum_tree");
    cr_expect(eq(dbl, number(json_object_get(of_gpu(stack, 0), "total"), "cycles"),
                 number(json_object_get(of_gpu(its, 0), "total"), "cycles")));
    json_decref(stack);
    json_decref(its);
}

/* The lanes of a warp take a lock one after another, which needs independent thread scheduling. Each has a load and two
 * atomics of one word in its turn, and the loads depend on the atomics: 28 cycles at least (model/timing/titanv.yaml,
 * L1), for 32 lanes. */
Test(estimate, lanes_of_a_warp_that_wait_for_each_other_are_estimated)
{
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n"
        "{ .reg .u64 %a; .reg .u32 %v; .reg .pred %p; ld.param.u64 %a, [p];\n"
        "L: atom.global.cas.b32 %v, [%a], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;\n"
        "ld.volatile.global.u32 %v, [%a+4]; add.u32 %v, %v, 1; st.volatile.global.u32 [%a+4], %v;\n"
        "membar.gl; atom.global.exch.b32 %v, [%a], 0; bar.sync 0; ret; }\n";
    char path[] = "/tmp/heddle-estimate-XXXXXX", words[300];
    const int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    cr_assert(f && fputs(ptx, f) >= 0);
    fclose(f);
    snprintf(words, sizeof words,
             "--divergence=its %s --grid 2 --block 64 --arg 'p=buf:u32[2]=const(0)'", path);
    json_t *d = document(words);
    cr_expect(number(json_object_get(of_gpu(d, 0), "total"), "cycles") > 32 * 28);
    json_decref(d);
    remove(path);
}

/* Every GPU that is known gives a machine that can run. */
Test(estimate, machines_are_complete)
{
    for (size_t i = 0; i < emu_gpu_count(); i++) {
        struct timing_machine m;
        const struct emu_gpu *g = emu_gpu_at(i);
        machine_of(g, &m);
        cr_expect(eq(u32, m.sms, g->sms));
        for (int c = 0; c < PTX_COST_COUNT; c++)
            cr_expect(m.latency[c] > 0 && m.interval[c] > 0, "%s: class %d", g->name, c);
        for (int u = 0; u < TIMING_UNITS; u++) cr_expect(gt(u32, m.units[u], 0));
        cr_expect(m.slices >= m.channels && m.channels && m.slices % m.channels == 0, "%s",
                  g->name);
        cr_expect(m.port_sectors > 0 && m.port_requests > 0 && m.l1.sectors > 0 && m.l1.ways > 0);
        cr_expect(m.l2_latency > 0 && m.dram_latency > 0 && m.dram_interval > 0, "%s", g->name);
        cr_expect(m.banks > 0 && m.banks <= 64);
    }
}

/* ---- orders ------------------------------------------------------------------------------------------------- */

Test(estimate, knows_what_orders_add)
{
    json_t *native = document("--gpu=titanv suite:centrality:small"),
           *gpudet = document("--gpu=titanv --order=gpudet suite:centrality:small"),
           *dab = document("--gpu=titanv --order dab:entries=32 suite:centrality:small");
    static const char *const own[][3] = {{"commit", "serial", "quantum"}, {"flush", "full", ""}};
    json_t *totals[] = {json_object_get(of_gpu(native, 0), "total"),
                        json_object_get(of_gpu(gpudet, 0), "total"),
                        json_object_get(of_gpu(dab, 0), "total")};
    for (int k = 0; k < 3; k++) {
        json_t *parts = json_object_get(totals[k], "parts");
        for (int i = 0; i < 3 && *own[0][i]; i++)
            cr_expect(eq(int, number(parts, own[0][i]) > 0, k == 1), "%s", own[0][i]);
        for (int i = 0; i < 2; i++)
            cr_expect(eq(int, number(parts, own[1][i]) > 0, k == 2), "%s", own[1][i]);
        cr_expect(eq(int, json_object_get(totals[k], "interval") != NULL, k == 0));
    }
    cr_expect(gt(dbl, number(totals[1], "cycles"), 2 * number(totals[0], "cycles")));
    cr_expect(lt(dbl, number(totals[2], "cycles"), number(totals[1], "cycles")));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(dab, "order")), "dab:entries=32"));
    json_decref(native), json_decref(gpudet), json_decref(dab);
}

/* Every run reads it. */
Test(estimate, reads_standard_input_once)
{
    static const char *const calls[] = {"compare --order=native,gpudet",
                                        "estimate --gpu=titanv,v100"};
    for (int i = 0; i < 2; i++) {
        char words[200];
        int status;
        snprintf(
            words, sizeof words,
            "%s - --arg 8 --arg f32:1 --arg 'buf:f32[8]' --arg 'buf:f32[8]' <suites/ptx/saxpy.ptx",
            calls[i]);
        char *text = run(words, &status);
        cr_expect(eq(int, status, 0), "%s", text);
        free(text);
    }
}

/* Whoever ends 'heddle estimate' ends its run, too: the shell says whether that is still there. */
Test(estimate, leaves_no_process_behind)
{
    const char *program = getenv("HEDDLE");
    char command[600];
    snprintf(
        command, sizeof command,
        "%s estimate suite:sgemm_16:large >/dev/null 2>&1 & p=$!; c=; "
        "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; read c </proc/$p/task/$p/children; "
        "[ -n \"$c\" ] && break; done; kill $p; wait $p; [ -n \"$c\" ] || exit 2; "
        "for i in 1 2 3 4 5 6 7 8 9; do grep -q 'State:.[^Z]' /proc/$c/status || exit 0; sleep 0.2; done; kill $c; exit 1",
        program ? program : "./heddle");
    cr_expect(eq(int, system(command), 0));
}

/* A job in a folder of its own: a launch that is fine, then `second`. */
static void put_job(char *folder, const char *second)
{
    static const char ptx[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry fine() { ret; }\n"
        ".visible .entry faulty() { .reg .b64 %a; mov.b64 %a, 16; st.global.u32 [%a], 1; ret; }\n"
        ".visible .entry endless() { L: bra L; }\n";
    char path[300];
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/k.ptx", folder);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(ptx, f) >= 0 && fclose(f) == 0);
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    f = fopen(path, "w");
    cr_assert(f != NULL);
    fprintf(f,
            "heddle: 1\nmodules: k.ptx\nsteps:\n"
            "  - {launch: fine, grid: 4, block: 32}\n  - {launch: %s, grid: 1, block: 32}\n",
            second);
    cr_assert(eq(int, fclose(f), 0));
}

static void remove_job(const char *folder)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect(eq(int, system(command), 0));
}

/* The estimates of the launches before a fault are printed in each format, and the exit status is that of the fault. */
Test(estimate, keeps_the_launches_before_a_fault)
{
    static const char *const formats[] = {"table", "csv", "json"};
    char folder[] = "/tmp/heddle-estimate-XXXXXX", words[400];
    put_job(folder, "faulty");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int status;
        snprintf(words, sizeof words, "estimate --format=%s %s/job.yaml", formats[i], folder);
        char *text = run(words, &status);
        cr_expect(eq(int, status, 3), "%s", text); /* docs/run.md: a kernel faulted */
        cr_expect(eq(int, strstr(text, "a launch faulted") != NULL, i != 1), "%s", text);
        cr_expect(strstr(text, i == 1 ? "titanv,0,fine,4," : "fine") != NULL, "%s", text);
        cr_expect(strstr(text, "the target failed") != NULL, "%s", text);
        cr_expect(eq(int, strstr(text, "\"complete\": false") != NULL, i == 2), "%s", text);
        free(text);
    }
    remove_job(folder);
}

/* The row for all launches says that the target ended well. */
Test(estimate, csv_of_a_failed_target_has_no_total)
{
    char folder[] = "/tmp/heddle-estimate-XXXXXX", words[400];
    for (int fails = 0; fails < 2; fails++) {
        int status;
        strcpy(folder, "/tmp/heddle-estimate-XXXXXX");
        put_job(folder, fails ? "faulty" : "fine");
        snprintf(words, sizeof words, "estimate --format=csv %s/job.yaml", folder);
        char *text = run(words, &status);
        cr_expect(eq(int, strstr(text, "\ntitanv,,") != NULL, !fails), "%s", text);
        free(text);
        remove_job(folder);
    }
}

/* A time limit, or the signal that timeout(1) sends, ends the target; what was done before is printed. */
Test(estimate, prints_what_is_done_when_it_is_stopped)
{
    char folder[] = "/tmp/heddle-estimate-XXXXXX", words[400], command[600];
    const char *program = getenv("HEDDLE");
    int status;
    put_job(folder, "endless");
    snprintf(words, sizeof words, "estimate --timeout=1 %s/job.yaml", folder);
    char *text = run(words, &status);
    cr_expect(status != 0 && strstr(text, "\nfine "), "%s", text);
    free(text);
    snprintf(command, sizeof command,
             "timeout 5 %s estimate --format=json %s/job.yaml >%s/out 2>/dev/null; "
             "grep -q '\"complete\": false' %s/out && grep -q '\"kernel\": \"fine\"' %s/out",
             program ? program : "./heddle", folder, folder, folder, folder);
    cr_expect(eq(int, system(command), 0));
    remove_job(folder);
}

/* A row of CSV is there as soon as its launch has been estimated. */
Test(estimate, writes_csv_launch_by_launch)
{
    char folder[] = "/tmp/heddle-estimate-XXXXXX", command[600];
    const char *program = getenv("HEDDLE");
    put_job(folder, "endless");
    snprintf(command, sizeof command,
             "%s estimate --format=csv %s/job.yaml >%s/out 2>/dev/null & p=$!; "
             "for i in $(seq 200); do sleep 0.1; grep -q 'titanv,0,fine' %s/out && break; done; "
             "kill -9 $p; wait $p; grep -q 'titanv,0,fine' %s/out",
             program ? program : "./heddle", folder, folder, folder, folder);
    cr_expect(eq(int, system(command), 0));
    remove_job(folder);
}

/* What stands behind a program, or behind "--", is for the program. */
Test(estimate, help_behind_a_program_is_for_the_program)
{
    static const struct {
        const char *words;
        bool help;
    } calls[] = {{"estimate /bin/echo -h", false},
                 {"estimate --gpu gtx480 -- /bin/echo --help", false},
                 {"run /bin/echo --seed -h", false},
                 {"compare /bin/echo -h", false},
                 {"advise /bin/echo -- -h", false},
                 {"check --runs 1 /bin/echo -h", false},
                 {"estimate --gpu titanv -h", true},
                 {"estimate -h /bin/echo", true},
                 {"gpus --help", true}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int status;
        char *text = run(calls[i].words, &status);
        const bool help = strstr(text, "usage: heddle") != NULL; /* echo has its own */
        cr_expect(eq(int, help, calls[i].help), "%s: %s", calls[i].words, text);
        free(text);
    }
}

/* ---- heddle compare ------------------------------------------------------------------------------------------ */

Test(compare, puts_gpus_and_orders_side_by_side)
{
    int status;
    char *text = run("compare --format=json --gpu=titanv,gtx480 --order native,gpudet:dwp=off "
                     "suite:sum_tree",
                     &status);
    json_t *d = json_loads(text, 0, NULL), *one = document("--gpu=gtx480 suite:sum_tree");
    cr_assert(status == 0 && d, "%s", text);
    json_t *runs = json_object_get(d, "runs"), *run_, *base;
    size_t i;
    cr_assert(eq(u64, json_array_size(runs), 4));
    base = json_object_get(json_array_get(runs, 0), "total");
    cr_expect(eq(dbl, number(base, "time"), 1.0));
    json_array_foreach(runs, i, run_)
    {
        json_t *total = json_object_get(run_, "total"), *mode;
        double sum = 0;
        const char *name;
        json_object_foreach(json_object_get(total, "modes"), name, mode)
            sum += json_number_value(mode);
        cr_expect(lt(dbl, fabs(sum - number(total, "cycles")), 1e-6 * sum));
        cr_expect(lt(
            dbl, fabs(number(total, "time") * number(base, "seconds") - number(total, "seconds")),
            1e-9));
        cr_expect(eq(u64, json_array_size(json_object_get(run_, "kernels")), 1));
    }
    /* what estimate says of each alone */
    cr_expect(lt(dbl,
                 fabs(number(json_object_get(json_array_get(runs, 2), "total"), "cycles") -
                      number(json_object_get(of_gpu(one, 0), "total"), "cycles")),
                 1e-3));
    json_decref(d), json_decref(one);
    free(text);
    text = run("compare suite:sum_tree", &status);
    cr_expect(eq(int, status, 0));
    cr_expect(strstr(text, "titanv     native               |#") != NULL, "%s", text);
    cr_expect(strstr(text, "titanv     gpudet ") && strstr(text, "titanv     dab "), "%s", text);
    free(text);
    text = run("compare --format=csv --order=dab,gpudet suite:sum_tree", &status);
    cr_expect(strstr(text, "\ntitanv,dab,sum_tree,2,") != NULL, "%s", text);
    cr_expect(strstr(text, "\ntitanv,gpudet,,2,") != NULL, "%s", text);
    free(text);
    /* a seed is for the orders that take one */
    text = run("compare --format=csv --order=native,random --seed 3 suite:sum_atomic", &status);
    cr_expect(eq(int, status, 0));
    char *alone = run("estimate --format=csv --order=random --seed 3 --gpu=titanv suite:sum_atomic",
                      &status);
    const char *row = strstr(text, "\ntitanv,random,,"), *all = strstr(alone, "\ntitanv,,");
    cr_assert(row && all, "%s%s", text, alone);
    double cycles = 0, of_all = 0;
    cr_assert(sscanf(row, "\ntitanv,random,,%*[^,],%lf", &cycles) == 1, "%s", row);
    cr_assert(sscanf(all, "\ntitanv,,,,,,,,,%lf", &of_all) == 1, "%s", all);
    cr_expect(lt(dbl, fabs(cycles - of_all), 1), "%g %g", cycles, of_all);
    free(text), free(alone);
    text = run("compare --traces=/nowhere/file suite:sum_tree", &status);
    cr_expect(status == 2 && strstr(text, "--traces is an option of 'heddle estimate'"), "%s",
              text);
    free(text);
    text = run("compare --order=native,gpudet:buffer=no suite:sum_tree", &status);
    cr_expect(eq(int, status, 2));
    free(text);
}
