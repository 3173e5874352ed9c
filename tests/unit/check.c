/* `heddle check`: verdicts, what the table says, replay. The environment's HEDDLE names the program; without it,
 * ./heddle. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-check-XXXXXX";
static char *program;

/* path: CTA 1 stores where CTA 0 does, but only if it is the first to add; twice: y[i] = 2 x[i]; both: each CTA stores 7; wild: stores far away; last: out[0] = the CTA that stored last; spin: never ends;
 * late: faults if another CTA's store was not seen; unset: reads shared memory that nothing wrote; absent: lanes of a shuffle
 * are elsewhere; infinite: CTA 0 stores an infinity, CTA 1 stores 1. */
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(.param .u64 x, .param .u64 y)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n"
    "ld.global.u32 %r2, [%d1];\nadd.u32 %r2, %r2, %r2;\nst.global.u32 [%d2], %r2;\nret;\n}\n"
    ".visible .entry both(.param .u64 x)\n{\n.reg .b64 %d<2>;\nld.param.u64 %d1, [x];\n"
    "st.global.u32 [%d1], 7;\nret;\n}\n"
    ".visible .entry path(.param .u64 x)\n{\n.reg .b32 %r<3>; .reg .b64 %d<2>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d1, [x];\nmov.u32 %r1, %ctaid.x;\natom.global.add.u32 %r2, [%d1], 1;\n"
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra go;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra end;\n"
    "go: st.global.u32 [%d1+64], 7; // path\nend: ret;\n}\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[4] = {37, 100, 10, 0};\n"
    ".visible .entry prints()\n{\n.local .align 8 .b32 v[2];\n.reg .b32 %r; .reg .b64 %d<3>;\n"
    "mov.u32 %r, %ctaid.x;\nmov.u64 %d1, v;\nst.local.u32 [%d1], %r;\ncvta.local.u64 %d1, %d1;\n"
    "mov.u64 %d2, text;\ncvta.global.u64 %d2, %d2;\n"
    "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d2; st.param.b64 [a], %d1;\n"
    "call.uni (r), vprintf, (f, a); }\nret;\n}\n"
    ".visible .entry wild(.param .u64 x)\n{\n.reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [x];\nst.global.u32 [%d1+1000000], 1;\nret;\n}\n"
    ".visible .entry spin()\n{\n.reg .b64 %n; .reg .pred %p; mov.u64 %n, 0;\n"
    "again: add.u64 %n, %n, 1; setp.ne.u64 %p, %n, 0; @%p bra again;\nret;\n}\n"
    ".visible .entry last(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %ctaid.x;\nst.global.u32 [%d1+8], 5;\n"
    "st.global.u32 [%d1+12], %r1; // last\nret;\n}\n"
    ".visible .entry unset(.param .u64 out)\n{\n.shared .align 4 .b32 s[32];\n"
    ".reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\n"
    "mad.lo.u32 %r2, %r1, 4, %r2;\nld.shared.u32 %r3, [%r2]; // unset\n"
    "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r3;\nret;\n}\n"
    ".visible .entry absent(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nsetp.ge.u32 %p, %r1, 16;\n@%p bra end;\n"
    "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff; // absent\n"
    "setp.ne.u32 %p, %r1, 0;\n@%p bra end;\nst.global.u32 [%d1], %r2;\nend:\n"
    "add.u64 %d1, %d1, 4;\nred.global.add.u32 [%d1], 1;\nret;\n}\n"
    ".visible .entry infinite(.param .u64 out)\n{\n.reg .b32 %r; .reg .f32 %f; .reg .b64 %d; .reg .pred %p;\n"
    "ld.param.u64 %d, [out];\nmov.u32 %r, %ctaid.x;\nsetp.eq.u32 %p, %r, 0;\n"
    "selp.f32 %f, 0f7f800000, 0f3f800000, %p;\nst.global.f32 [%d], %f;\nret;\n}\n";

/* The line of the kernels' text that holds a mark. */
static unsigned line_of(const char *mark)
{
    unsigned line = 1;
    const char *at = strstr(kernels, mark);
    cr_assert(at);
    for (const char *p = kernels; p < at; p++) line += *p == '\n';
    return line;
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void set_up(void)
{
    const char *name = getenv("HEDDLE");
    program = realpath(name ? name : "./heddle", NULL);
    cr_assert(program, "the program is not there: build it, or set HEDDLE");
    cr_assert(mkdtemp(folder));
    write_file("k.ptx", kernels);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) perror(command);
    free(program);
}
TestSuite(check, .init = set_up, .fini = tear_down, .timeout = 240);

struct result {
    int status; /* -1: ended by a signal */
    char *out, *err;
};

/* Runs `heddle COMMAND` in the folder with the files. `command` is for the shell. */
static struct result heddle(const char *command)
{
    char line[4096], path[128];
    size_t length;
    snprintf(line, sizeof line, "cd %s && '%s' %s >out.txt 2>err.txt </dev/null", folder, program,
             command);
    int status = system(line);
    struct result r = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    snprintf(path, sizeof path, "%s/out.txt", folder);
    r.out = read_file(path, &length);
    snprintf(path, sizeof path, "%s/err.txt", folder);
    r.err = read_file(path, &length);
    return r;
}

static void result_free(struct result *r)
{
    free(r->out);
    free(r->err);
}

struct call {
    const char *command;
    int status;
    const char *out, *err; /* NULL: nothing */
};

/* Long ones, which take the ways of others: not with sanitizers. */
static const struct call long_calls[] = {
    {"check suite:sum_atomic --order random", 6, "suite:sum_atomic: nondeterministic\n", NULL},
    {"check suite:sum_atomic --stop never --runs 9", 6, "random       9 ", NULL},
    {"check suite:histogram_global", 0,
     "random: 20 runs gave one result; all launches were free of conflicts, so that for this input",
     NULL},
    {"check suite:scatter_last --runs 2 --no-race", 6, "suite:scatter_last: nondeterministic\n",
     NULL},
};

static const struct call calls[] = {
    /* verdicts */
    {"check suite:sum_atomic", 6, "suite:sum_atomic: deterministic under gpudet, dab only\n", NULL},
    {"check suite:sum_atomic", 6, "random: stopped, 8 results in ", NULL},
    {"check suite:sum_atomic --stop different", 6, "2 results in 2 runs are enough\n", NULL},
    {"check suite:histogram_global --runs 3", 0,
     "suite:histogram_global: deterministic (one result under every order tried)\n", NULL},
    /* two stores of one word: one before the other, or the other way round */
    {"check k.ptx --kernel both --grid 2 --arg 'buf:u32[1]' --order random --runs 40 --no-race", 0,
     "random: 40 runs gave one result in 2 different executions; another whose probability is "
     "above 78% would",
     NULL},
    {"check suite:scatter_last --runs 2", 7, "suite:scatter_last: racy, nondeterministic\n", NULL},
    {"check k.ptx --kernel twice --block 8 --arg 'buf:u32[8]=iota' --arg 'y=buf:u32[8]' "
     "--expect 'y=iota(0,2)' --runs 2",
     0, "k.ptx: deterministic", NULL},
    {"check k.ptx --kernel twice --block 8 --arg 'buf:u32[8]=iota' --arg 'y=buf:u32[8]' "
     "--expect 'y=iota(0,3)'",
     4, "heddle run k.ptx --kernel=twice --block=8 '--arg=buf:u32[8]=iota'", NULL},
    {"check k.ptx --kernel wild --arg 'buf:u32[1]'", 3, "k.ptx: failed\n", NULL},
    {"check k.ptx --kernel wild --arg 'buf:u32[1]'", 3, "random: stopped, all of 3 runs failed\n",
     NULL},
    {"check k.ptx --kernel wild --arg 'buf:u32[1]'", 3, "out of bounds: write of 4 bytes", NULL},
    {"check k.ptx --kernel spin --max-instructions 1000", 5, "k.ptx: failed\n", NULL},
    {"check k.ptx --kernel spin --run-timeout 0.3 --runs 2 --no-race --order native", 5,
     "the run was ended after 0.3 s (--run-timeout): kernel 'spin' was running; none had ended\n",
     NULL},
    {"check job.yaml --runs 2", 0, "job.yaml: deterministic", NULL},
    {"check suite:saxpy --order native", 0, "suite:saxpy: deterministic", NULL},
    {"check suite:sum_atomic --order random:strategy=pct,random:strategy=lag --runs 2", 6,
     "random:strategy=lag       2 ", NULL},
    /* wrong calls */
    {"check", 2, NULL, "the target is missing"},
    {"check suite:saxpy --dump x=y", 2, NULL, "--dump is an option of 'heddle run'"},
    {"check suite:saxpy --run 3", 2, NULL, "did you mean '--runs'?"},
    {"run suite:saxpy --runs 3", 2, NULL, "unknown option '--runs'"},
    {"check suite:saxpy --no-race --race-runs 9", 2, NULL, "--no-race makes no runs that look"},
    {"check suite:saxpy --no-race --check memory,race", 2, NULL,
     "--no-race makes no runs that look"},
    {"check suite:saxpy --runs 0", 2, NULL, "--runs wants at least 1"},
    {"check suite:saxpy --chance 0", 2, NULL,
     "--chance wants a percentage above 0 and below 100, not '0'"},
    {"check suite:saxpy --confidence 100%", 2, NULL, "above 0 and below 100, not '100%'"},
    {"check suite:saxpy --chance 1 --runs 3", 2, NULL, "--runs and --chance are two ways"},
    {"check suite:saxpy --chance 1e-9", 2, NULL, "--chance 1e-9 takes 299573227354 runs"},
    {"check k.ptx --kernel both --grid 2 --arg 'buf:u32[1]' --order random:model=tso,gpudet "
     "--chance 20% --confidence 80% --no-race",
     0,
     "random:model=tso: 8 runs gave one result; another whose probability is above 18% would have "
     "shown with 80% confidence\ngpudet: 20 runs",
     NULL},
    {"check suite:saxpy --jobs many", 2, NULL, "--jobs wants a number"},
    {"check suite:saxpy --run-timeout soon", 2, NULL, "--run-timeout wants seconds, not 'soon'"},
    {"check suite:saxpy --run-timeout 0", 2, NULL, "--run-timeout wants seconds, not '0'"},
    {"run suite:saxpy --run-timeout 1", 2, NULL, "unknown option '--run-timeout'"},
    {"check suite:saxpy --stop often", 2, NULL, "--stop is many, different or never, not 'often'"},
    {"check suite:saxpy --format xml", 2, NULL, "--format is text, json or github, not 'xml'"},
    {"check suite:saxpy --order random,rondom", 2, NULL, "did you mean 'random'?"},
    {"check suite:saxpy --order random,random", 2, NULL, "order 'random' is named twice"},
    {"check suite:saxpy --check rice", 2, NULL, "check takes memory"},
    {"check suite:nothing", 2, NULL, "there is no workload 'nothing'"},
    {"check suite:saxpy --grid 3", 2, NULL, "--grid cannot be used with a workload"},
    {"check nothing.ptx", 2, NULL, "nothing.ptx"},
    {"check k.ptx", 2, NULL, "say which, with --kernel"},
    {"check bad.yaml", 1, NULL, "bad.yaml:"},
};

static void expect_calls(const struct call *call, size_t count)
{
    struct result r = {0};
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(call[i].command, call[i - 1].command) != 0) {
            result_free(&r);
            r = heddle(call[i].command);
        }
        cr_expect(r.status == call[i].status, "%s: %d\n%s%s", call[i].command, r.status, r.out,
                  r.err);
        cr_expect(call[i].out ? strstr(r.out, call[i].out) != NULL : !*r.out, "%s:\n%s%s",
                  call[i].command, r.out, r.err);
        cr_expect(call[i].err ? strstr(r.err, call[i].err) != NULL : !*r.err, "%s:\n%s",
                  call[i].command, r.err);
    }
    result_free(&r);
}

Test(check, verdicts_and_wrong_calls)
{
    write_file("job.yaml", "heddle: 1\nmodules: k.ptx\nbuffers:\n"
                           "  x: {type: u32, count: 8, fill: iota}\n  y: {type: u32, count: 8}\n"
                           "steps:\n  - launch: twice\n    block: 8\n    args: [x, y]\n"
                           "dump: {y: never.bin}\n");
    write_file("bad.yaml", "heddle: 1\nmodulus: 3\n");
    expect_calls(calls, sizeof calls / sizeof *calls);
    if (!SANITIZED) expect_calls(long_calls, sizeof long_calls / sizeof *long_calls);
    char path[128];
    snprintf(path, sizeof path, "%s/never.bin", folder);
    cr_expect(access(path, F_OK) != 0, "a check writes no dumps");
}

/* A job of two launches: the first gives one result, in the second the CTA that stores last decides on one word. */
static const char two_launches[] =
    "heddle: 1\nmodules: k.ptx\nbuffers:\n"
    "  x: {type: u32, count: 8, fill: iota}\n  out: {type: u32, count: 8}\n"
    "steps:\n  - launch: twice\n    block: 8\n    args: [x, out]\n"
    "  - launch: last\n    grid: 40\n    args: [out]\n";

Test(check, first_launch_address_and_writers_are_known)
{
    write_file("two.yaml", two_launches);
    struct result r = heddle("check two.yaml --no-race --runs 12");
    cr_expect(r.status == 6, "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, " differ in launch 2 (last)\n"), "%s", r.out);
    cr_expect(strstr(r.out, "element 3 (u32, as it was last written) 12 bytes into 'out', is the "
                            "first that differs"),
              "%s", r.out);
    const char *at = strstr(r.out, "is the first that differs:\n");
    unsigned seed[2], value[2], cta[2], line[2];
    cr_assert(at);
    cr_assert(sscanf(at,
                     "is the first that differs: random seed %u: %u last written by store.u32, "
                     "thread (0,0,0) of CTA (%u,0,0), last line %u random seed %u: %u last written "
                     "by store.u32, thread (0,0,0) of CTA (%u,0,0), last line %u",
                     &seed[0], &value[0], &cta[0], &line[0], &seed[1], &value[1], &cta[1],
                     &line[1]) == 8,
              "%s", r.out);
    cr_expect(strstr(at, "\n  1 byte of memory differs\n"), "%s", r.out);
    for (int i = 0; i < 2; i++) {
        char command[128], want[32];
        cr_expect(value[i] == cta[i] && line[i] == line_of("// last"), "%s", r.out);
        snprintf(command, sizeof command, "run two.yaml --order random --seed %u", seed[i]);
        struct result again = heddle(command);
        snprintf(want, sizeof want, "  out: 0 2 5 %u 8", value[i]);
        cr_expect(strstr(again.out, want), "%s: %s", want, again.out);
        result_free(&again);
    }
    cr_expect(value[0] != value[1]);
    result_free(&r);
}

/* All workloads at once under an order: each as it runs alone. */
Test(check, suites_run_under_an_order)
{
    struct result r = heddle("suite run sum_atomic saxpy --order random --seed 3");
    struct result one = heddle("run suite:sum_atomic --order random --seed 3");
    const char *sum = strstr(one.out, "passed: ");
    cr_assert(sum && r.status == 0, "%s%s%s", one.out, r.out, r.err);
    char value[64] = "";
    cr_expect(sscanf(sum, "passed: %63[^,]", value) == 1);
    cr_expect(strstr(r.out, value), "%s in %s", value, r.out);
    cr_expect(strstr(r.out, "2 of 2 passed"), "%s", r.out);
    result_free(&r);
    result_free(&one);
    r = heddle("suite run sum_atomic --order=rondom");
    cr_expect(r.status == 2 && strstr(r.err, "did you mean 'random'"), "%s", r.err);
    result_free(&r);
    r = heddle("suite run sum_atomic --seed 3");
    cr_expect(r.status == 2 && strstr(r.err, "--data-seed"), "%s", r.err);
    result_free(&r);
}

/* Sums of floats in another order, and stores of others. */
Test(check, says_what_order_can_explain)
{
    struct result r = heddle("check suite:sum_atomic --no-race");
    cr_expect(strstr(r.out, " ulp, ") &&
                  strstr(r.out, "consistent with another order of additions"),
              "%s", r.out);
    cr_expect(strstr(r.out, "last written by atomic add.f32, thread "), "%s", r.out);
    result_free(&r);
    write_file("two.yaml", two_launches);
    r = heddle("check two.yaml --no-race --float out=f32");
    cr_expect(strstr(r.out, "element 3 (f32) 12 bytes") && strstr(r.out, " ulp, ") &&
                  !strstr(r.out, "consistent with"),
              "%s", r.out);
    result_free(&r);
    r = heddle("check two.yaml --float out=u32");
    cr_expect(r.status == 2 && strstr(r.err, "--float wants"), "%s", r.err);
    result_free(&r);
}

static json_t *check_json(const char *command, int status)
{
    char line[512];
    json_error_t why;
    snprintf(line, sizeof line, "%s --format json", command);
    struct result r = heddle(line);
    cr_expect(r.status == status && !*r.err, "%s: %d %s", command, r.status, r.err);
    json_t *o = json_loads(r.out, 0, &why);
    cr_assert(o, "%s: %s\n%s", command, why.text, r.out);
    result_free(&r);
    return o;
}

static const char *text_at(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* Each result's command gives that result again. */
static void replay(const char *command, const char *digest, int status)
{
    json_t *o = check_json(command, status);
    size_t i, k, several = 0;
    const json_t *order, *result;
    json_array_foreach(json_object_get(o, "orders"), i, order)
        json_array_foreach(json_object_get(order, "results"), k, result)
    {
        char again[1024];
        json_error_t why;
        cr_assert(strncmp(text_at(result, "replay"), "heddle run ", 11) == 0);
        snprintf(again, sizeof again, "%s --format json", text_at(result, "replay") + 7);
        struct result r = heddle(again);
        json_t *run = json_loads(r.out, 0, &why);
        cr_assert(run, "%s: %s", again, why.text);
        cr_expect_str_eq(text_at(run, digest), text_at(result, digest), "%s", again);
        cr_expect(*text_at(run, digest), "%s", again);
        several += k;
        json_decref(run);
        result_free(&r);
    }
    cr_expect(several, "%s", command);
    json_decref(o);
}

Test(check, results_are_replayed_by_what_it_prints)
{
    write_file("two.yaml", two_launches);
    write_file("it's k.ptx", kernels);
    replay("check two.yaml --no-race --runs 6", "memory_digest", 6);
    replay("check suite:racey_global --no-race --runs 3", "read_back_digest", 6);
    replay(
        "check \"it's k.ptx\" --no-race --kernel last --grid 40 --arg 'buf:u32[4]=list(1, 2, 3, 4)' "
        "--runs 4 --divergence its",
        "memory_digest", 6);
}

Test(check, json_has_what_the_page_says)
{
    write_file("two.yaml", two_launches);
    json_t *o = check_json("check two.yaml --runs 12 --check memory", 7), *order, *p, *w;
    cr_expect(json_integer_value(json_object_get(o, "version")) == 7);
    cr_expect_str_eq(text_at(o, "verdict"), "racy");
    cr_expect(json_integer_value(json_object_get(o, "exit_status")) == 7);
    cr_expect(json_is_false(json_object_get(o, "interrupted")));
    cr_expect(json_is_true(json_object_get(o, "races_looked_for")));
    cr_expect(json_integer_value(json_object_get(o, "races")) == 2); /* of two stores */
    cr_expect_str_eq(text_at(json_object_get(o, "target"), "kind"), "job");
    w = json_array_get(json_object_get(o, "findings"), 0);
    cr_expect_str_eq(text_at(w, "kind"), "race");
    w = json_array_get(json_object_get(w, "places"), 0);
    cr_expect(json_integer_value(json_object_get(w, "line")) == line_of("// last") - 1);
    order = json_array_get(json_object_get(o, "orders"), 0);
    cr_expect_str_eq(text_at(order, "order"), "native");
    cr_expect_str_eq(text_at(order, "guarantee"), "strong");
    cr_expect(json_is_true(json_object_get(order, "reference")));
    order = json_array_get(json_object_get(o, "orders"), 1);
    cr_expect_str_eq(text_at(order, "order"), "random");
    cr_expect_str_eq(text_at(order, "guarantee"), "none");
    cr_expect(json_is_null(json_object_get(order, "unseen_probability")));
    p = json_object_get(order, "first_difference");
    cr_expect_str_eq(text_at(p, "kind"), "memory");
    cr_expect_str_eq(text_at(p, "kernel"), "last");
    cr_expect_str_eq(text_at(p, "allocation"), "out");
    cr_expect_str_eq(text_at(p, "type"), "u32");
    cr_expect(json_integer_value(json_object_get(p, "launch")) == 2);
    cr_expect(json_integer_value(json_object_get(p, "index")) == 3);
    cr_expect(json_integer_value(json_object_get(p, "bytes")) == 1);
    for (size_t i = 0; i < 2; i++) {
        json_t *side = json_array_get(json_object_get(p, "runs"), i);
        w = json_object_get(side, "writer");
        json_t *cta = json_array_get(json_object_get(w, "cta"), 0);
        cr_expect(json_integer_value(cta) == atoi(text_at(side, "value")));
        cr_expect(json_integer_value(json_object_get(w, "line")) == line_of("// last"));
        cr_expect(json_integer_value(json_object_get(w, "launch")) == 2);
    }
    json_decref(o);
    o = check_json("check k.ptx --kernel wild --arg 'buf:u32[1]' --no-race", 3);
    order = json_array_get(json_object_get(o, "orders"), 1);
    p = json_array_get(json_object_get(order, "failed"), 0);
    cr_expect_str_eq(text_at(p, "fault"), "out of bounds");
    cr_expect_str_eq(text_at(p, "kernel"), "wild");
    cr_expect(json_integer_value(json_object_get(p, "seed")) == 1);
    cr_expect(json_array_size(json_object_get(order, "failed")) == 3);
    cr_expect(*text_at(order, "stopped"));
    json_decref(o);
    o = check_json("check suite:saxpy --no-race --runs 5 --seed 70", 0);
    order = json_array_get(json_object_get(o, "orders"), 1);
    double unseen = json_real_value(json_object_get(order, "unseen_probability"));
    cr_expect(unseen > 0.4507 && unseen < 0.4508, "%g", unseen); /* 1 - 0.05^(1/5) */
    p = json_array_get(json_object_get(order, "results"), 0);
    cr_expect(json_integer_value(json_array_get(json_object_get(p, "seeds"), 4)) == 74);
    json_decref(o);
}

/* JSON has no infinity: the ratio of a difference to one is no number. */
Test(check, json_has_no_ratio_to_an_infinity)
{
    json_t *o = check_json("check k.ptx --kernel infinite --grid 2 --arg 'buf:f32[1]' --no-race",
                           6);
    json_t *p = json_object_get(json_array_get(json_object_get(o, "orders"), 1),
                                "first_difference");
    p = json_object_get(p, "floats");
    cr_expect(json_integer_value(json_object_get(p, "elements")) == 1);
    cr_expect(json_integer_value(json_object_get(p, "max_ulp")) == 0x7f800000 - 0x3f800000);
    cr_expect(json_is_null(json_object_get(p, "max_relative")));
    json_decref(o);
}

/* One race in two launches, in the other order in the second; and one at the same lines of another module. */
Test(check, races_are_merged_by_their_places)
{
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry %s(.param .u64 p, .param .u32 who)\n{\n"
        "\t.reg .b64 %%d;\n\t.reg .b32 %%r<4>;\n\t.reg .pred %%p<3>;\n"
        "\tld.param.u64 %%d, [p];\n\tld.param.u32 %%r1, [who];\n\tmov.u32 %%r2, %%tid.x;\n"
        "\tsetp.eq.u32 %%p1, %%r2, %%r1;\n\txor.b32 %%r1, %%r1, 32;\n\tsetp.eq.u32 %%p2, %%r2, %%r1;\n"
        "\t@%%p1 st.global.u32 [%%d], %%r2;\n\t@%%p2 ld.global.u32 %%r3, [%%d];\n\t@%%p2 st.global.u32 [%%d+4], %%r3;\n\tret;\n}\n";
    char module[1024];
    for (int i = 0; i < 2; i++) {
        snprintf(module, sizeof module, text, i ? "other" : "one");
        write_file(i ? "b.ptx" : "a.ptx", module);
    }
    write_file("turned.yaml",
               "heddle: 1\nmodules: [a.ptx, b.ptx]\nbuffers:\n  x: {type: u32, count: 8}\n"
               "steps:\n  - launch: one\n    block: 64\n    args: [x, 0]\n"
               "  - launch: one\n    block: 64\n    args: [x, 32]\n"
               "  - launch: other\n    block: 64\n    args: [x, 0]\n");
    json_t *o = check_json("check turned.yaml --runs 1", 7),
           *findings = json_object_get(o, "findings");
    cr_expect_eq(json_integer_value(json_object_get(o, "races")), 2);
    cr_assert_eq(json_array_size(findings), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *f = json_array_get(findings, i);
        cr_expect_eq(json_integer_value(json_object_get(f, "count")), i ? 1 : 2);
        cr_expect(strstr(text_at(f, "text"), i ? " in other" : " in one"), "%s",
                  text_at(f, "text"));
    }
    json_decref(o);
}

/* Names and messages are of any bytes, and XML allows few. */
static json_int_t number_at(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* What is suppressed is counted; and dab, which promises one result where there are no races, has broken nothing. */
Test(check, suppressed_findings_are_counted)
{
    write_file("list", "race:last\ninit:wild\ninit:unset\n");
    static const char last[] = "check k.ptx --kernel last --grid 40 --arg 'buf:u32[4]' --runs 6 "
                               "--suppress list";
    json_t *o = check_json(last, 6);
    cr_expect_eq(number_at(o, "suppressed"), 2); /* of two stores */
    cr_expect_eq(number_at(o, "races"), 0);
    cr_expect_eq(number_at(json_array_get(json_object_get(o, "orders"), 1), "suppressed"), 0);
    json_decref(o);
    struct result r = heddle(last);
    cr_expect(strstr(r.out, "\nraces and such accesses: 2 findings suppressed\n"), "%s", r.out);
    cr_expect(
        strstr(r.out, "accesses of the same memory: this program has some, which are suppressed\n"),
        "%s", r.out);
    result_free(&r);
    static const char unset[] = "check k.ptx --kernel unset --block 8 --arg 'buf:u32[8]' --runs 3 "
                                "--order gpudet --check init --suppress list";
    o = check_json(unset, 0);
    cr_expect_eq(number_at(o, "suppressed"), 2); /* in the run that looks for races, too */
    cr_expect_eq(number_at(json_array_get(json_object_get(o, "orders"), 0), "suppressed"), 1);
    cr_expect_eq(number_at(json_array_get(json_object_get(o, "orders"), 1), "suppressed"), 3);
    json_decref(o);
    r = heddle("run k.ptx --kernel last --grid 40 --arg 'buf:u32[4]' --check race --suppress list "
               "--format json");
    o = json_loads(r.out, 0, NULL);
    cr_assert(o, "%s", r.err);
    const json_t *launch = json_array_get(json_object_get(o, "launches"), 0);
    cr_expect_eq(number_at(launch, "findings"), 0);
    cr_expect_eq(number_at(launch, "suppressed"), 2);
    json_decref(o);
    result_free(&r);
}

Test(check, junit_is_xml)
{
    write_file("<&\">.ptx", kernels);
    struct result r = heddle(
        "check '<&\">.ptx' --kernel last --grid 40 --arg 'buf:u32[4]' --runs 3 "
        "--junit a.xml --quiet");
    cr_expect(r.status == 7, "%s", r.err);
    result_free(&r);
    char path[128], line[256];
    size_t length;
    snprintf(path, sizeof path, "%s/a.xml", folder);
    char *text = read_file(path, &length);
    cr_expect(strstr(text, "tests=\"6\" failures=\"4\""), "%s", text);
    cr_expect(strstr(text, "<testcase classname=\"&lt;&amp;&quot;&gt;.ptx\" name=\"native\"/>"),
              "%s", text);
    cr_expect(strstr(text, "name=\"random\">\n      <failure message=\""), "%s", text);
    cr_expect(strstr(text, "name=\"race\">\n      <failure message=\"2 data races\">race: "), "%s",
              text);
    snprintf(line, sizeof line, "if command -v xmllint >/dev/null; then xmllint --noout '%s'; fi",
             path);
    cr_expect(system(line) == 0);
    free(text);
    r = heddle("check suite:saxpy --runs 1 --no-race --junit /nowhere/a.xml");
    cr_expect(r.status == 2 && strstr(r.err, "cannot write '/nowhere/a.xml'"), "%s", r.err);
    cr_expect_eq(*r.out, 0, "ran before it said so: %s", r.out);
    result_free(&r);
}

Test(check, github_reads_places)
{
    struct result r = heddle("check suite:scatter_last --runs 2 --format github");
    cr_expect(r.status == 7, "%s", r.err);
    cr_expect(strncmp(r.out, "::error file=suites/kernels/scatter.cu,line=", 44) == 0, "%s", r.out);
    cr_expect(strstr(r.out, "::race: two unordered accesses to global memory at "), "%s", r.out);
    cr_expect(strstr(r.out, "%0A"), "%s", r.out);
    result_free(&r);
    r = heddle("check k.ptx --kernel wild --arg 'buf:u32[1]' --format github --no-race");
    cr_expect(r.status == 3 && strncmp(r.out, "::error file=k.ptx,line=", 24) == 0, "%s", r.out);
    result_free(&r);
}

/* The program in a process that can be sent signals, with its first child's id; that is 0 if it has none. */
static pid_t start(pid_t *child)
{
    pid_t pid = fork();
    if (pid == 0) {
        char out[128];
        snprintf(out, sizeof out, "%s/out.txt", folder);
        if (chdir(folder) != 0 || !freopen(out, "w", stdout)) _exit(99);
        execl(program, program, "check", "k.ptx", "--kernel", "spin", "--timeout", "5", "--jobs",
              "1", "--no-race", "--runs", "1", "--order", "native", (char *)NULL);
        _exit(99);
    }
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    *child = 0;
    for (int tries = 0; tries < 500 && !*child; tries++) {
        FILE *f = fopen(path, "r");
        if (f && fgets(line, sizeof line, f)) *child = atoi(line);
        if (f) fclose(f);
        usleep(10000);
    }
    return pid;
}

Test(check, a_killed_run_is_a_failed_one)
{
    pid_t child, pid = start(&child);
    int status;
    size_t length;
    char path[128];
    cr_assert(child && kill(child, SIGKILL) == 0);
    cr_assert(waitpid(pid, &status, 0) == pid);
    snprintf(path, sizeof path, "%s/out.txt", folder);
    char *text = read_file(path, &length);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%s", text);
    cr_expect(strstr(text, "native: 1 of 1 runs failed"), "%s", text);
    cr_expect(strstr(text, "the process of the run ended: Killed"), "%s", text);
    free(text);
}

/* The native run, where CTA 0 is the first, has no race. */
Test(check, a_race_on_another_path_is_found)
{
    static const char path[] =
        "check k.ptx --kernel path --grid 2 --arg 'buf:u32[32]' --order native";
    char command[200];
    snprintf(command, sizeof command, "%s --race-runs 0", path);
    json_t *o = check_json(command, 0);
    cr_expect_str_eq(text_at(o, "verdict"), "deterministic");
    cr_expect(json_integer_value(json_object_get(o, "race_runs")) == 1);
    json_decref(o);
    o = check_json(path, 7);
    const json_t *f = json_array_get(json_object_get(o, "findings"), 0);
    cr_expect_str_eq(text_at(o, "verdict"), "racy");
    cr_expect(json_integer_value(json_object_get(o, "races")) == 1);
    cr_expect(json_integer_value(json_object_get(o, "race_runs")) > 1);
    cr_expect(json_integer_value(json_object_get(json_array_get(json_object_get(f, "places"), 0),
                                                 "line")) == line_of("// path"));
    struct result r = heddle(text_at(f, "replay") + strlen("heddle "));
    cr_expect(strstr(r.err, "race: "), "%d %s", r.status, r.err);
    result_free(&r);
    json_decref(o);
}

/* The native run with init and sync; its findings are a verdict of their own. */
Test(check, undefined_behaviour_is_found)
{
    static const struct {
        const char *kernel, *count, *kind, *mark, *text;
    } cases[] = {
        {"unset", "uninitialised", "uninitialised", "// unset",
         "it reads memory that nothing wrote"},
        {"absent", "misused_synchronisation", "synchronisation", "// absent",
         "it misuses synchronisation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[200];
        snprintf(command, sizeof command,
                 "check k.ptx --kernel %s --block 32 --arg 'buf:u32[32]' --runs 3 --order gpudet",
                 cases[i].kernel);
        json_t *o = check_json(command, 9);
        const json_t *f = json_array_get(json_object_get(o, "findings"), 0),
                     *place = json_array_get(json_object_get(f, "places"), 0);
        cr_expect_str_eq(text_at(o, "verdict"), "undefined behaviour");
        cr_expect(json_is_true(json_object_get(o, "init_sync_looked_for")));
        cr_expect_eq(number_at(o, cases[i].count), 1, "%s", cases[i].kernel);
        cr_expect_eq(json_array_size(json_object_get(o, "findings")), 1);
        cr_expect_str_eq(text_at(f, "kind"), cases[i].kind);
        cr_expect_eq(number_at(place, "line"), line_of(cases[i].mark));
        struct result r = heddle(text_at(f, "replay") + strlen("heddle "));
        cr_expect(r.status == 3 && strstr(r.err, cases[i].kernel), "%d %s", r.status, r.err);
        result_free(&r);
        json_decref(o);
        r = heddle(command);
        cr_expect(strstr(r.out, cases[i].text), "%s", r.out);
        result_free(&r);
        strcat(command, " --no-init");
        o = check_json(command, 0);
        cr_expect(json_is_false(json_object_get(o, "init_sync_looked_for")));
        json_decref(o);
    }
}

/* With one process at a time, too, and without any run that looks for races or undefined behaviour beside the first. */
Test(check, one_process_makes_all_runs)
{
    json_t *o = check_json(
        "check suite:append --order random --runs 3 --jobs 1 --race-runs 0 --no-init", 6);
    cr_expect_eq(number_at(json_array_get(json_object_get(o, "orders"), 1), "runs"), 3);
    json_decref(o);
}

/* The suite says of these workloads what their results depend on. */
Test(check, names_the_likely_cause)
{
    static const struct {
        const char *command, *cause;
        int status;
    } cases[] = {
        {"check suite:sum_atomic --order random --runs 3", "order of additions", 6},
        {"check suite:append --order random --runs 3", "order of atomics", 6},
        {"check suite:scatter_last --order random --runs 3", "race", 7},
        {"check k.ptx --kernel prints --grid 9 --order random --runs 3", "order of prints", 6},
        {"check suite:append --order random --runs 3 --no-race", NULL, 6},
        {"check k.ptx --kernel unset --block 8 --arg 'buf:u32[8]' --order random --runs 3",
         "uninitialised memory", 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *o = check_json(cases[i].command, cases[i].status);
        const json_t *cause = json_object_get(
            json_object_get(json_array_get(json_object_get(o, "orders"), 1), "first_difference"),
            "cause");
        if (cases[i].cause)
            cr_expect_str_eq(json_string_value(cause) ? json_string_value(cause) : "",
                             cases[i].cause, "%s", cases[i].command);
        else cr_expect(json_is_null(cause), "%s", cases[i].command);
        json_decref(o);
    }
    struct result r = heddle("check suite:append --order random --runs 3");
    cr_expect(strstr(r.out, "  likely cause: the order in which atomics"), "%s", r.out);
    cr_expect(strstr(r.out, "  usual remedy: take the place"), "%s", r.out);
    result_free(&r);
}

/* In all formats. */
Test(check, a_late_run_is_a_failed_one)
{
    const char *const spin = "check k.ptx --kernel spin --run-timeout 0.3 --runs 1 --order native";
    char command[200], path[128];
    snprintf(command, sizeof command, "%s --junit a.xml --format json", spin);
    struct result r = heddle(command);
    cr_expect(r.status == 5, "%s", r.out);
    json_t *o = json_loads(r.out, 0, NULL);
    cr_assert(o, "%s", r.out);
    const json_t *failed = json_array_get(
        json_object_get(json_array_get(json_object_get(o, "orders"), 0), "failed"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(failed, "fault")), "timeout");
    cr_expect_str_eq(json_string_value(json_object_get(failed, "kernel")), "spin");
    cr_expect(json_is_null(json_object_get(failed, "exit_status")));
    cr_expect(strstr(json_string_value(json_object_get(o, "search_failed")), "(--run-timeout)"));
    cr_expect(json_is_false(json_object_get(o, "races_looked_for")));
    json_decref(o);
    result_free(&r);
    size_t length;
    snprintf(path, sizeof path, "%s/a.xml", folder);
    char *text = read_file(path, &length);
    cr_expect(strstr(text, "<failure message=\"1 of 1 runs failed\">heddle run k.ptx"), "%s", text);
    cr_expect(strstr(text, "the run was ended after 0.3 s (--run-timeout)"), "%s", text);
    cr_expect(strstr(text, "<failure message=\"the run that looks for races failed\">"), "%s",
              text);
    free(text);
    snprintf(command, sizeof command, "%s --format github", spin);
    r = heddle(command);
    cr_expect(strstr(r.out, "::error::k.ptx, order native: 1 of 1 runs failed%0A"), "%s", r.out);
    cr_expect(strstr(r.out, "(--run-timeout)"), "%s", r.out);
    result_free(&r);
}

Test(check, an_interrupt_ends_all)
{
    pid_t child, pid = start(&child);
    int status;
    size_t length;
    char path[128];
    cr_assert(child && kill(pid, SIGINT) == 0);
    cr_assert(waitpid(pid, &status, 0) == pid);
    snprintf(path, sizeof path, "%s/out.txt", folder);
    char *text = read_file(path, &length);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%s", text);
    cr_expect(strstr(text, "interrupted: not all runs were made"), "%s", text);
    cr_expect(strstr(text, "k.ptx: unknown\n"), "%s", text);
    cr_expect(kill(child, 0) != 0);
    free(text);
}

/* What is printed depends on seeds, not on which run ended first. */
Test(check, jobs_change_nothing)
{
    static const char *const targets[] = {
        SANITIZED ? "check suite:sum_atomic --runs 6" : "check suite:sum_atomic --runs 30",
        "check suite:scatter_last --runs 6", "check suite:append --runs 12 --stop never",
        "check k.ptx --kernel spin --max-instructions 5000"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i += SANITIZED ? 3 : 1) {
        char one[256], four[256];
        snprintf(one, sizeof one, "%s --jobs 1", targets[i]);
        snprintf(four, sizeof four, "%s --jobs 4", targets[i]);
        struct result a = heddle(one), b = heddle(four);
        cr_expect(a.status == b.status && strcmp(a.out, b.out) == 0, "%s:\n%s\n%s", targets[i],
                  a.out, b.out);
        result_free(&a);
        result_free(&b);
    }
}
