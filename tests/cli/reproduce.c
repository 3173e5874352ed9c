/* `heddle reproduce`: verdicts against arithmetic, errors of lists, the same bytes for any number of jobs and after kills.
 * The environment's HEDDLE names the program; without it, ./heddle. */
#include "tests/support/command.h"

#include "base/buf.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(reproduce, .init = command_enter, .fini = command_leave);

static char *file_text(const char *name)
{
    struct buf text = {0};
    cr_assert(buf_add_file(&text, name, 1 << 20), "%s", name);
    buf_puts(&text, "");
    return text.data;
}

static int run(const char *arguments, struct buf *out)
{
    char words[1000];
    snprintf(words, sizeof words, "reproduce %s", arguments);
    return command_run(words, out);
}

/* Claims over numbers alone, so that each verdict follows from arithmetic. */
#define CLAIM(name, paper, kind, value)                                                            \
    "    " name ": {says: x, paper: '" paper "', kind: " kind ", value: '" value                   \
    "', why: because}\n"
#define HEAD                                                                                       \
    "items:\n- id: numbers\n  gpu: gtx480\n  targets: {A: suite:saxpy, B: suite:reduce_shared}\n"  \
    "  measure: counts\n  sets: {first: [A]}\n  orders: {native: native}\n"

static const char *verdict_of(const char *csv, const char *claim)
{
    static char verdict[20];
    char start[80];
    snprintf(start, sizeof start, "\nnumbers/%s,", claim);
    const char *line = strstr(csv, start);
    cr_assert(line, "%s: %s", claim, csv);
    line++;
    for (int comma = 0; comma < 5; comma++) line = strchr(line, ',') + 1;
    snprintf(verdict, sizeof verdict, "%.*s", (int)strcspn(line, ","), line);
    return verdict;
}

Test(reproduce, verdicts_compare_the_overhead_and_its_sign, .timeout = 120)
{
    static const struct {
        const char *name, *verdict;
    } want[] = {
        {"near", "yes"}, /* overheads of 0.20 and 0.25 */
        {"far", "no"},   /* 0.20 and 0.27: more than a third */
        {"third", "no"}, /* 1.06 is within a third of 1.20, its overhead is not */
        {"wrong-way", "sign"}, {"inside", "yes"},   {"outside", "no"},   {"below", "yes"},
        {"above", "no"},       {"gain", "yes"},     {"lost", "sign"},    {"count", "yes"},
        {"miscount", "no"},    {"same", "yes"},     {"not-same", "no"},  {"no-gain", "sign"},
        {"at-bound", "no"},    {"no-loss", "sign"}, {"no-effect", "no"}, {"slight-loss", "sign"},
    };
    command_write(
        "list.yaml", HEAD
        "  claims:\n" CLAIM("near", "1.20", "ratio", "1.25") CLAIM("far", "1.20", "ratio", "1.27")
            CLAIM("third", "1.20", "ratio", "1.06") CLAIM("wrong-way", "1.19", "ratio", "0.94")
                CLAIM("inside", "2..4", "ratio", "4 - 1.5") CLAIM(
                    "outside", "2..4", "ratio", "2 * 2.1") CLAIM("below", "<1.03", "ratio", "1.01")
                    CLAIM("above", "<1.03", "ratio", "1.04") CLAIM("gain", "0.8", "ratio",
                                                                   "(1 + 0.5) / 2")
                        CLAIM("lost", "0.8", "ratio", "1.1") CLAIM("count", "100", "count", "109")
                            CLAIM("miscount", "100", "count", "111")
                                CLAIM("same", "1", "exact", "2 > 1")
                                    CLAIM("not-same", "1", "exact", "2 < 1") CLAIM("no-gain", ">1",
                                                                                   "ratio", "0.9")
                                        CLAIM("at-bound", ">1", "ratio", "1") CLAIM("no-loss", "<1",
                                                                                    "ratio", "1.02")
                                            CLAIM("no-effect", ">1.01", "ratio", "0.9997")
                                                CLAIM("slight-loss", ">1.01", "ratio", "0.999"));
    struct buf out = {0};
    cr_assert_eq(run("--items list.yaml -o out --quiet", &out), 0, "%s", out.data);
    char *csv = file_text("out/claims.csv");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect_str_eq(verdict_of(csv, want[i].name), want[i].verdict, "%s", want[i].name);
    cr_expect(strstr(csv, "\nnumbers/far,1.20,1.27,,1.06,no,\"because\"\n"), "%s", csv);
    cr_expect(strstr(csv, "\nnumbers/near,1.20,1.25,,1.04,yes,\"\"\n"), "%s", csv);
    free(csv);
    buf_free(&out);
}

Test(reproduce, formulas_read_what_runs_counted, .timeout = 120)
{
    /* small saxpy: 64 CTAs are an input of the suite, not of this test; what must hold is arithmetic between numbers */
    command_write(
        "list.yaml",
        HEAD "  claims:\n" CLAIM("sum", "1", "exact",
                                 "sum(ctas@native) - ctas@native[A] - ctas@native[B] < 0.5")
            CLAIM("mean", "1", "exact", "mean(ctas@native) * 2 - sum(ctas@native) < 0.5")
                CLAIM("set", "1", "exact", "mean[first](ctas@native) - ctas@native[A] < 0.5")
                    CLAIM("extremes", "1", "exact",
                          "most(ctas@native) + least(ctas@native) - sum(ctas@native) < 0.5")
                        CLAIM("threads", "32", "count",
                              "instructions.thread@native[A] / instructions.warp@native[A]")
                            CLAIM("max", "3", "exact", "max(1, 3, 2)")
                                CLAIM("min", "1", "exact", "min(2, 1)")
                                    CLAIM("digits", "1.01", "count",
                                          "three_digits(three_digits(1 + 0.555) - 0.555)")
                                        CLAIM("geomean", "6", "count", "geomean(6)")
                                            CLAIM("gpu", "15", "exact",
                                                  "gpu.device.sms") /* thesis, table 5.2 */
        CLAIM("exponent", "0.25", "exact", "2.5e-1 + 1E2 - 100"));
    struct buf out = {0};
    cr_assert_eq(run("--items list.yaml -o out", &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "11 of 11 claims: yes"), "%s", out.data);
    char *data = file_text("out/data/numbers.csv");
    cr_expect_eq(strncmp(data, "name,target,order,seed,gpu,", 27), 0, "%s", data);
    cr_expect(strstr(data, "\n\"A\",suite:saxpy,native,1,gtx480,"), "%s", data);
    free(data);
    buf_free(&out);
}

/* sum_atomic adds each of n numbers by one reduction: 64 and 256, in the mean 160, and a result for each n. */
Test(reproduce, a_target_of_several_inputs_is_their_mean, .timeout = 120)
{
    static const char list[] =
        "items:\n- id: %s\n  gpu: gtx480\n  measure: %s\n"
        "  targets: {sum: 'suite:sum_atomic:n={64,256}', one: 'suite:sum_atomic:n=64'}\n"
        "  orders: {native: native, gpudet: {order: gpudet, seeds: 1-3}}\n"
        "  figure: {unit: x, series: {a: '%s'}}\n"
        "  claims: {both: {says: x, paper: %s, kind: exact, value: '%s'}}\n";
    char text[1000];
    struct buf out = {0};
    snprintf(text, sizeof text, list, "a", "counts", "atomics.distinct_words@native", "160",
             "memory.global.atomic.thread@native[sum]");
    command_write("list.yaml", text);
    cr_expect_eq(run("--items list.yaml -o out", &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "1 of 1 claims: yes"), "%s", out.data);
    char *data = file_text("out/data/a.csv");
    cr_expect(strstr(data, "\n\"sum\",suite:sum_atomic:n=64,native,1,gtx480,"), "%s", data);
    cr_expect(strstr(data, "\n\"sum\",suite:sum_atomic:n=256,gpudet,3,gtx480,"), "%s", data);
    free(data);
    char *page = file_text("out/claims.md");
    cr_expect(strstr(page, "sum is sum_atomic:n=64 and 1 more, one is sum_atomic:n=64."), "%s",
              page);
    free(page);
    snprintf(text, sizeof text, list, "b", "digest", "results@gpudet", "1", "results@gpudet[sum]");
    command_write("list.yaml", text);
    cr_expect_eq(run("--items list.yaml -o out", &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "1 of 1 claims: yes"), "%s", out.data);
    data = file_text("out/data/b.csv");
    cr_expect(strstr(data, ",digest\n") && strstr(data, ",gtx480,0x"), "%s", data);
    free(data);
    buf_free(&out);
}

Test(reproduce, errors_name_the_place_and_the_nearest, .timeout = 120)
{
    struct buf out = {0};
    cr_expect_eq(run("thesis-6.9", &out), 2);
    cr_expect(strstr(out.data, "there is no item 'thesis-6.9'; did you mean 'thesis-6."), "%s",
              out.data);
    cr_expect_eq(run("thesis-4.2 -o /proc/there", &out), 2);
    cr_expect(strstr(out.data, "cannot make '/proc/there'"), "%s", out.data);
    cr_expect_eq(run("--items there.yaml", &out), 2);
    cr_expect_eq(run("thesis-4.2 -o $(printf './%.0s' $(seq 2030))there", &out), 2);
    cr_expect(strstr(out.data, "the name of the folder is too long"), "%s", out.data);
    static const struct {
        const char *text, *says;
    } lists[] = {
        {"items:\n- id: a\n  gpu: gtx48\n  targets: {A: suite:saxpy}\n  orders: {n: native}\n",
         "gtx480"},
        {"items:\n- id: a\n  gpu: gtx480\n  targets: {A: suite:saxpi}\n  orders: {n: native}\n",
         "did you mean 'saxpy'?"},
        {"items:\n- id: a\n  gpu: gtx480\n  targets: {A: suite:saxpy}\n  orders: {n: nativ}\n",
         "native"},
        {"items:\n- id: a\n  gpus: gtx480\n", "did you mean 'gpu'?"},
        {HEAD "  claims: {c: {paper: 1, value: cycles@gpudet}}\n", "no such order"},
        {HEAD "  claims: {c: {paper: 1, value: mean(cycle@native)}}\n", "no run has such a number"},
        {HEAD "  claims: {c: {paper: 1, value: cycles@native}}\n", "of which target?"},
        {HEAD "  claims: {c: {paper: 1, value: 'mean[all](cycles@native)'}}\n", "no such set"},
        {HEAD "  claims: {c: {paper: 1, value: (1 + 2}}\n", "')' is missing"},
        {HEAD "  claims: {c: {paper: about one, value: '1'}}\n", "2.05, 2..4"},
        {HEAD "  lapse: {m: {target: A, orders: [gpudet], interval: 500}}\n", "no order 'gpudet'"},
        {HEAD "  lapse: {m: {target: C, orders: [native], interval: 500}}\n",
         "a time lapse wants a name"},
        {HEAD "  lapse: {'../m': {target: A, orders: [native], interval: 500}}\n",
         "a time lapse wants a name"},
        {HEAD "  lapse: {m: {target: A, orders: [native], interval: 0}}\n",
         "a time lapse wants a name"},
        {HEAD "  lapse: {m: {target: A, order: native}}\n", "did you mean 'orders'?"},
        {HEAD "  lapse: {m: {target: A, orders: [native], interval: 10k}}\n",
         "interval wants a number"},
        {HEAD "  slow: yes\n", "'slow' is true or false"},
        {HEAD "  claims: {'a,b': {paper: 1, value: '1'}}\n", "the name of a claim has letters"},
        {HEAD "  claims: {c: {paper: 1, value: '1', tolerance: 10 %}}\n",
         "a tolerance is a number that is not negative"},
        {HEAD "  claims: {c: {paper: 1, value: '1', tolerance: -1}}\n",
         "a tolerance is a number that is not negative"},
        {HEAD "  claims: {c: {paper: 1, value: 2cycles}}\n", "this is no number"},
        {HEAD "  claims: {c: {paper: 1, value: 1.2.3}}\n", "this is no number"},
        {"items:\n- id: a\n  gpu: gtx480\n  targets: {A: suite:saxpy}\n"
         "  orders: {n: {order: gpudet, seeds: 1-513}}\n",
         "an order has at most 512 seeds"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        command_write("list.yaml", lists[i].text);
        cr_expect_eq(run("--items list.yaml", &out), 1, "list %zu: %s", i, out.data);
        cr_expect(strstr(out.data, "list.yaml:") && strstr(out.data, lists[i].says), "list %zu: %s",
                  i, out.data);
    }
    buf_free(&out);
}

Test(reproduce, a_worse_verdict_than_recorded_is_an_error, .timeout = 120)
{
    struct buf out = {0};
    command_write("list.yaml", HEAD "  claims:\n" CLAIM("c", "1.20", "ratio", "1.5"));
    command_write("was-yes.csv",
                  "id,paper,ours,spread,ratio,verdict,why\nnumbers/c,1.20,1.2,,1,yes,\n");
    command_write("was-sign.csv",
                  "id,paper,ours,spread,ratio,verdict,why\nnumbers/c,1.20,0.9,,1,sign,\n");
    cr_expect_eq(run("--items list.yaml --recorded was-yes.csv", &out), 4);
    cr_expect(strstr(out.data, "numbers/c: no, was yes"), "%s", out.data);
    cr_expect_eq(run("--items list.yaml --recorded was-sign.csv", &out), 0, "%s", out.data);
    cr_expect_eq(run("--items list.yaml --recorded list.yaml", &out), 2, "%s", out.data);
    cr_expect(strstr(out.data, "'list.yaml' is no claims.csv"), "%s", out.data);
    buf_free(&out);
}

/* Texts and causes have formulas in braces; a wrong one is an error of the list. */
Test(reproduce, texts_have_numbers_of_the_run, .timeout = 120)
{
    struct buf out = {0};
    command_write("list.yaml", HEAD
                  "  text: \"{gpu.device.sms} SMs, half are {gpu.device.sms / 2}.\"\n"
                  "  claims:\n    c: {paper: '2', kind: exact, value: '3', why: 'Twice is {2 * "
                  "(1 + 2)}, thrice {3 * 3} and { is none.'}\n");
    (void)run("--items list.yaml -o out --quiet", &out);
    char *csv = file_text("out/claims.csv"), *text = file_text("out/claims.md");
    char *page = file_text("out/index.html");
    cr_expect(strstr(csv, ",no,\"Twice is 6, thrice 9 and { is none.\"\n"), "%s", csv);
    cr_expect(strstr(text, "\n15 SMs, half are 7.5.\n"), "%s", text);
    cr_expect(strstr(text, "* c: Twice is 6, thrice 9 and { is none.\n"), "%s", text);
    cr_expect(strstr(page, "<p>15 SMs, half are 7.5.</p>"), "%s", page);
    cr_expect(strstr(page, "<td>Twice is 6, thrice 9 and { is none.</td>"), "%s", page);
    free(csv);
    free(text);
    free(page);
    command_write("list.yaml", HEAD "  claims:\n    c: {paper: '2', kind: exact, value: '3', why: "
                                    "'It is {cycles@nobody[A]}.'}\n");
    cr_expect_eq(run("--items list.yaml", &out), 1);
    cr_expect(strstr(out.data, "nobody"), "%s", out.data);
    buf_free(&out);
}

static const char three[] =
    "items:\n"
    "- id: a\n  gpu: gtx480\n  targets: {A: suite:reduce_atomic, B: suite:saxpy}\n"
    "  orders: {nondet: {order: 'random:strategy=uniform', seeds: 1-3}, gpudet: gpudet}\n"
    "  figure: {unit: time, series: {G: cycles@gpudet / cycles@nondet}}\n"
    "  lapse: {map: {target: A, orders: [gpudet], interval: 100}}\n"
    "  claims: {mean: {paper: 1.1, kind: ratio, value: mean(cycles@gpudet / cycles@nondet)}}\n"
    "- id: b\n  gpu: titanv\n  targets: {A: suite:reduce_atomic}\n  measure: digest\n"
    "  orders: {dab: {order: dab, seeds: 1-3}}\n"
    "  claims: {one: {paper: 1, kind: exact, value: 'results@dab[A]'}}\n"
    "- id: c\n  gpu: titanv\n  targets: {A: suite:reduce_atomic}\n  orders: {dab: dab}\n"
    "  claims: {some: {paper: '>0', kind: count, value: 'dab.flushes@dab[A]'}}\n";

static bool start_and_kill(uint32_t milliseconds)
{
    static char *const words[] = {"heddle", "reproduce", "--items", "three.yaml", "-o",
                                  "killed", "--jobs",    "2",       NULL};
    return command_kill(words, milliseconds);
}

/* claims.csv, data and page: the same for one and for 16 jobs, and after kills. */
Test(reproduce, outputs_do_not_depend_on_jobs_or_kills, .timeout = 600)
{
    static const char *const files[] = {"claims.csv",    "claims.md",        "index.html",
                                        "data/a.csv",    "data/b.csv",       "data/c.csv",
                                        "figures/a.svg", "figures/a-map.svg"};
    struct buf out = {0};
    command_write("three.yaml", three);
    cr_assert_eq(run("--items three.yaml -o one --jobs 1", &out), 0, "%s", out.data);
    cr_assert_eq(run("--items three.yaml -o many --jobs 16", &out), 0, "%s", out.data);
    for (uint32_t ms = 60; ms < 2000 && !start_and_kill(ms); ms += SANITIZED ? 1200 : 120) continue;
    cr_assert_eq(run("--items three.yaml -o killed --jobs 2", &out), 0, "%s", out.data);
    cr_expect(strstr(out.data, "0 failed\n"), "%s", out.data);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        static const char *const others[] = {"many", "killed"};
        char name[80];
        snprintf(name, sizeof name, "one/%s", files[i]);
        char *one = file_text(name);
        for (size_t k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s/%s", others[k], files[i]);
            char *other = file_text(name);
            cr_expect_str_eq(other, one, "%s", name);
            free(other);
        }
        free(one);
    }
    /* Nothing is left to run. */
    cr_assert_eq(run("--items three.yaml -o killed", &out), 0, "%s", out.data);
    cr_expect(!strstr(out.data, "of 8 cells"), "%s", out.data);
    buf_free(&out);
}

/* A time lapse has a vertical line for each quantum of its orders, whose number is counted independently. */
Test(reproduce, a_time_lapse_has_a_line_for_each_quantum, .timeout = 120)
{
    command_write("list.yaml",
                  "items:\n- id: lapse\n  gpu: gtx480\n  targets: {A: suite:reduce_shared}\n"
                  "  orders: {base: 'gpudet:bta=off', gpudet: gpudet}\n"
                  "  lapse: {A: {target: A, orders: [base, gpudet], interval: 500}}\n"
                  "  claims: {q: {paper: 1, kind: exact, value: 'gpudet.quanta@base[A] + "
                  "gpudet.quanta@gpudet[A]'}}\n");
    struct buf out = {0};
    cr_assert_eq(run("--items list.yaml -o out --quiet", &out), 0, "%s", out.data);
    char *svg = file_text("out/figures/lapse-A.svg"), *csv = file_text("out/claims.csv");
    char *page = file_text("out/index.html"), *text = file_text("out/claims.md");
    const char *claim = strstr(csv, "lapse/q,1,");
    unsigned long lines = 0;
    for (const char *at = svg; (at = strstr(at, "non-scaling-stroke")); at++) lines++;
    cr_assert(claim, "%s", csv);
    cr_expect_gt(lines, 2);
    cr_expect_eq(lines, strtoul(claim + strlen("lapse/q,1,"), NULL, 10), "%lu: %s", lines, claim);
    cr_expect(strstr(page, svg) != NULL);
    cr_expect(strstr(text, "](figures/lapse-A.svg)"), "%s", text);
    free(svg);
    free(csv);
    free(page);
    free(text);
    buf_free(&out);
}

Test(reproduce, the_built_in_list_names_its_items, .timeout = 60)
{
    struct buf out = {0};
    cr_assert_eq(run("--list", &out), 0, "%s", out.data);
    static const char *const items[] = {"thesis-4.2 ", "thesis-6.1 ", "thesis-6.7 ", "dab-10 "};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        cr_expect(strstr(out.data, items[i]), "%s", items[i]);
    cr_assert_eq(run("dab --list", &out), 0);
    cr_expect(!strstr(out.data, "thesis"), "%s", out.data);
    buf_free(&out);
}

/* Of all claims four in five agree, none has the wrong sign, and a cause that was tried has a number. */
Test(reproduce_recorded, four_in_five_agree_and_others_name_their_cause, .timeout = 60)
{
    unsigned claims = 0, agree = 0;
    char *csv = file_text("cli/reproduce/recorded.csv");
    const char *line = strchr(csv, '\n') + 1;
    for (const char *end; (end = strchr(line, '\n')); line = end + 1, claims++) {
        const int length = (int)(end - line);
        const char *verdict = line, *digit;
        for (int comma = 0; comma < 5; comma++) verdict = strchr(verdict, ',') + 1;
        if (strncmp(verdict, "yes,", 4) == 0) {
            agree++;
            continue;
        }
        cr_expect(strncmp(verdict, "no,", 3) == 0, "%.*s", length, line);
        digit = strpbrk(verdict, "0123456789");
        cr_expect(digit && digit < end, "%.*s", length, line);
    }
    cr_expect(claims >= 100 && 5 * agree >= 4 * claims, "%u of %u", agree, claims);
    free(csv);
}
