/* `heddle check`: verdicts, what the table says, replay. The environment's HEDDLE names the program; without it,
 * ./heddle. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/support.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-check-XXXXXX";
static char *program;

/* twice: y[i] = 2 x[i]; wild: stores far away; last: out[0] = the CTA that stored last; spin: never ends;
 * late: faults if another CTA's store was not seen. */
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(.param .u64 x, .param .u64 y)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n"
    "ld.global.u32 %r2, [%d1];\nadd.u32 %r2, %r2, %r2;\nst.global.u32 [%d2], %r2;\nret;\n}\n"
    ".visible .entry wild(.param .u64 x)\n{\n.reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [x];\nst.global.u32 [%d1+1000000], 1;\nret;\n}\n"
    ".visible .entry spin()\n{\nagain: bra again;\n}\n";

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

static const struct {
    const char *command;
    int status;
    const char *out, *err; /* NULL: nothing */
} calls[] = {
    /* verdicts */
    {"check suite:sum_atomic", 6, "suite:sum_atomic: nondeterministic\n", NULL},
    {"check suite:sum_atomic", 6, "random: stopped, 8 results in 8 runs are enough\n", NULL},
    {"check suite:sum_atomic --stop different", 6, "2 results in 2 runs are enough\n", NULL},
    {"check suite:sum_atomic --stop never --runs 9", 6,
     "random       9        8           8       0\n", NULL},
    {"check suite:histogram_global --runs 3", 0,
     "suite:histogram_global: deterministic (one result under every order tried)\n", NULL},
    {"check suite:histogram_global", 0,
     "random: 20 runs gave one result; another whose probability is above 14% would", NULL},
    {"check suite:bfs_racy --runs 2", 7, "suite:bfs_racy: racy, nondeterministic\n", NULL},
    {"check suite:bfs_racy --runs 2 --no-race", 6, "suite:bfs_racy: nondeterministic\n", NULL},
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
    {"check job.yaml --runs 2", 0, "job.yaml: deterministic", NULL},
    {"check suite:saxpy --order native", 0, "suite:saxpy: deterministic", NULL},
    {"check suite:sum_atomic --order random:strategy=pct,random:strategy=lag --runs 2", 6,
     "random:strategy=lag       2        2", NULL},
    /* wrong calls */
    {"check", 2, NULL, "what is to run?"},
    {"check suite:saxpy --dump x=y", 2, NULL, "--dump is of 'heddle run'"},
    {"check suite:saxpy --run 3", 2, NULL, "did you mean '--runs'?"},
    {"run suite:saxpy --runs 3", 2, NULL, "unknown option '--runs'"},
    {"check suite:saxpy --runs 0", 2, NULL, "--runs wants at least 1"},
    {"check suite:saxpy --jobs many", 2, NULL, "--jobs wants a number"},
    {"check suite:saxpy --stop often", 2, NULL, "--stop is many, different or never, not 'often'"},
    {"check suite:saxpy --format xml", 2, NULL, "--format is text, json or github, not 'xml'"},
    {"check suite:saxpy --order random,rondom", 2, NULL, "did you mean 'random'?"},
    {"check suite:saxpy --order random,random", 2, NULL, "order 'random' is named twice"},
    {"check suite:saxpy --check rice", 2, NULL, "check takes memory"},
    {"check suite:nothing", 2, NULL, "there is no workload 'nothing'"},
    {"check suite:saxpy --grid 3", 2, NULL, "--grid does not go with a workload"},
    {"check nothing.ptx", 2, NULL, "nothing.ptx"},
    {"check k.ptx", 2, NULL, "say which, with --kernel"},
    {"check bad.yaml", 1, NULL, "bad.yaml:"},
};

Test(check, verdicts_and_wrong_calls)
{
    write_file("job.yaml", "heddle: 1\nmodules: k.ptx\nbuffers:\n"
                           "  x: {type: u32, count: 8, fill: iota}\n  y: {type: u32, count: 8}\n"
                           "steps:\n  - launch: twice\n    block: 8\n    args: [x, y]\n"
                           "dump: {y: never.bin}\n");
    write_file("bad.yaml", "heddle: 1\nmodulus: 3\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct result r = heddle(calls[i].command);
        cr_expect(r.status == calls[i].status, "%s: %d\n%s%s", calls[i].command, r.status, r.out,
                  r.err);
        cr_expect(calls[i].out ? strstr(r.out, calls[i].out) != NULL : !*r.out, "%s:\n%s%s",
                  calls[i].command, r.out, r.err);
        cr_expect(calls[i].err ? strstr(r.err, calls[i].err) != NULL : !*r.err, "%s:\n%s",
                  calls[i].command, r.err);
        result_free(&r);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/never.bin", folder);
    cr_expect(access(path, F_OK) != 0, "a check writes no dumps");
}

/* What is printed depends on seeds, not on which run ended first. */
Test(check, jobs_change_nothing)
{
    static const char *const targets[] = {
        "check suite:sum_atomic --runs 30", "check suite:bfs_racy --runs 6",
        "check suite:append --runs 12 --stop never", "check k.ptx --kernel spin --timeout 0.2"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
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
