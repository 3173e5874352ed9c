/* The program as a user calls it: arguments, exit status, what goes to which stream, JSON, graphs.
 * The environment's HEDDLE names the program; without it, ./heddle. */
#define _GNU_SOURCE /* mkdtemp, memmem */
#include "heddle.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-cli-XXXXXX";
static const char *program;

static const char good[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f();\n.global .align 8 .u32 g[4];\n"
    ".visible .entry first(.param .u64 p)\n{\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [p];\nloop:\nld.global.u32 %r1, [%rd1];\nsetp.lt.u32 %p, %r1, 7;\n@%p bra loop;\n"
    "atom.global.add.u32 %r2, [g], 1;\nbar.sync 0;\nret;\n}\n"
    ".visible .entry second() { .reg .b32 x<2>; .reg .b64 y; mov.b64 {x0, x1}, y; ret; }\n";
static const char library[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n";
static const char caller[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f();\n.entry k() { call f; ret; }\n";
static const char bad[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tfoo;\n\tbar;\n\tbaz;\n\tret;\n}\n";
static const char leak[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".entry k()\n{\n.param .b64 n; .param .b64 r;\nst.param.b64 [n], 24;\ncall (r), malloc, (n);\n"
    "ret;\n}\n";

static void write_file(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(text, 1, strlen(text), f) == strlen(text) && fclose(f) == 0);
}

static void set_up(void)
{
    program = getenv("HEDDLE");
    if (!program) program = "./heddle";
    cr_assert(access(program, X_OK) == 0, "%s is not there: build it, or set HEDDLE", program);
    cr_assert(mkdtemp(folder));
    write_file("good.ptx", ".version 8.0\n"); /* so that a short write shows */
    write_file("good.ptx", good);
    write_file("library.ptx", library);
    write_file("caller.ptx", caller);
    write_file("bad.ptx", bad);
    write_file("empty.ptx", "");
    write_file("leak.ptx", leak);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) perror(command);
}
TestSuite(cli, .init = set_up, .fini = tear_down, .timeout = 120);

struct result {
    int status; /* -1: ended by a signal */
    char *out, *err;
    size_t out_size;
};

/* Runs the program in the folder with the files. `args` is for the shell. */
static struct result run(const char *args)
{
    char command[2048], path[64], *whole = realpath(program, NULL);
    snprintf(command, sizeof command, "cd %s && { '%s' %s; } >out 2>err", folder, whole, args);
    int status = system(command);
    free(whole);
    struct result r = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    size_t n;
    snprintf(path, sizeof path, "%s/out", folder);
    r.out = read_file(path, &r.out_size);
    snprintf(path, sizeof path, "%s/err", folder);
    r.err = read_file(path, &n);
    if (r.status > 125) r.status = -1; /* the shell's word for a signal */
    return r;
}

static void drop(struct result *r)
{
    free(r->out);
    free(r->err);
}

/* ---- status and streams ------------------------------------------------------------------------ */

static const struct call {
    const char *args;
    int status;
    const char *out, *err; /* parts; "": nothing comes; NULL: anything */
} calls[] = {
    {"", 2, "", "usage: heddle COMMAND"},
    {"--help", 0, "usage: heddle COMMAND", ""},
    {"-h", 0, "usage: heddle COMMAND", ""},
    {"help", 0, "usage: heddle COMMAND", ""},
    {"--version", 0, "heddle ", ""},
    {"weave", 2, "", "no command 'weave'"},
    {"--weave", 2, "", "no command '--weave'"},
    {"help run", 0, "Exit status:\nThe first of these that applies:\n  0  success\n", ""},
    {"help --man run", 0, ".SH EXIT STATUS", ""},
    {"help --man weave", 2, "", "no command 'weave'"},
    {"help --weave", 2, "", "unknown option '--weave'"},
    {"help ptx check", 0, "usage: heddle ptx check", ""},
    {"help ptx weave", 2, "", "no command 'ptx weave'"},
    {"help weave", 2, "", "no command 'weave'\nTry 'heddle --help'"},
    {"help ptx", 0, "usage: heddle ptx COMMAND", ""},
    {"help suite", 0, "heddle suite list", ""},
    {"ptx", 2, "", "usage: heddle ptx COMMAND"},
    {"ptx weave", 2, "", "no command 'ptx weave'"},
    {"ptx chekc good.ptx", 2, "", "no command 'ptx chekc'; did you mean 'ptx check'?"},
    {"estmate", 2, "", "no command 'estmate'; did you mean 'estimate'?"},
    {"ptx --help", 0, "heddle ptx check", ""},
    {"suite -h", 0, "heddle suite run", ""},
    {"ptx check --help", 0, "usage: heddle ptx check", ""},
    {"ptx check -h", 0, "usage: heddle ptx check", ""},
    {"ptx check good.ptx --help", 0, "usage: heddle ptx check", ""},
    {"ptx print --help", 0, "usage: heddle ptx print", ""},
    {"ptx stats --help", 0, "usage: heddle ptx stats", ""},
    {"ptx cfg --help", 0, "usage: heddle ptx cfg", ""},
    {"isa --help", 0, "usage: heddle isa", ""},
    {"isa --support", 0, "form\toperands\tsince\ttarget\tstatus\ttested\n", ""},
    {"isa --support redux", 0,
     "\nredux.sync(.and|.or|.xor).b32\t=u32, u32, u32\t7.0\tsm_80\texecuted\tread, checked and executed\n"
     "redux.sync(.min|.max){.abs}{.NaN}.f32\t=f32, f32, u32\t8.6\tsm_100f\trefused\tread and checked\n",
     ""},
    {"isa --support sin", 0, "\tapproximate\tread, checked and executed\n", ""},
    {"isa --support --format=json", 2, "", "--support is a format of its own"},

    {"run leak.ptx --check memory", 3, "k: 1x1x1", "leak: 'malloc', 24 bytes at 0x"},
    {"run leak.ptx", 0, "k: 1x1x1", ""},
    {"run leak.ptx --check all", 3, "k: 1x1x1", "leak: 'malloc', 24 bytes at 0x"},
    {"run leak.ptx --check leaks", 2, "",
     "check takes memory, init, sync, bounds, race, atomicity, api and all (the first four), not 'leaks'"},

    {"ptx check", 2, "", "which FILE?"},
    {"ptx check good.ptx", 0, "1 file, 0 errors, 0 warnings\n", ""},
    {"ptx check --quiet good.ptx", 0, "", ""},
    {"ptx check good.ptx library.ptx", 0, "2 files, 0 errors", ""},
    {"ptx check bad.ptx", 1, "1 file, 3 errors", "bad.ptx:6:2: error: unknown instruction 'foo'"},
    {"ptx check --quiet bad.ptx", 1, "", "bad.ptx:7:2: error: "},
    {"ptx check bad.ptx good.ptx", 1, "2 files, 3 errors", "bad.ptx:6:2"},
    {"ptx check good.ptx bad.ptx", 1, "2 files, 3 errors", "bad.ptx:6:2"},
    {"ptx check empty.ptx", 1, "1 file, 1 error,", "empty.ptx:1:1: error: expected .version"},
    {"ptx check none.ptx", 2, NULL, "none.ptx: error: cannot read: No such file or directory"},
    {"ptx check none.ptx bad.ptx", 2, NULL, "bad.ptx:6:2"},
    {"ptx check bad.ptx none.ptx", 2, NULL, "none.ptx: error: cannot read"},
    {"ptx check .", 2, NULL, ".: error: cannot read: Is a directory"},
    {"ptx check good.ptx/x", 2, NULL, "cannot read: Not a directory"},
    {"ptx check - <good.ptx", 0, "1 file, 0 errors", ""},
    {"ptx check - <bad.ptx", 1, "1 file, 3 errors", "standard input:6:2: error"},
    {"ptx check <good.ptx", 2, "", "which FILE?"},
    {"ptx check -- good.ptx", 0, "1 file, 0 errors", ""},
    {"ptx check --max-errors=1 bad.ptx", 1, NULL, "bad.ptx: stopped after 1 errors"},
    {"ptx check --max-errors 2 bad.ptx", 1, NULL, "bad.ptx:7:2"},
    {"ptx check --max-errors=0 bad.ptx", 1, "3 errors", "bad.ptx:8:2"},
    {"ptx check --max-errors=x bad.ptx", 2, "",
     "--max-errors wants a number from 0 to 1000000000, not 'x'"},
    {"ptx check --max-errors=-1 bad.ptx", 2, "", "not '-1'"},
    {"ptx check --max-errors= bad.ptx", 2, "", "not ''"},
    {"ptx check --max-errors=1x bad.ptx", 2, "", "not '1x'"},
    {"ptx check --max-errors=99999999999999999999 bad.ptx", 2, "", "not '99999999999999999999'"},
    {"ptx check bad.ptx --max-errors", 2, "", "--max-errors wants a value"},
    {"ptx check --weave good.ptx", 2, "", "unknown option '--weave'\nTry"},
    {"ptx check --lnik good.ptx", 2, "", "unknown option '--lnik'; did you mean '--link'?\n"},
    {"ptx check --link=x good.ptx", 2, "", "--link takes no value"},
    {"isa --refuse=x", 2, "", "unknown option '--refuse=x'; did you mean '--refused'?"},
    {"isa fmaa", 1, "", "no instruction is called 'fmaa'; did you mean 'fma'?"},
    {"isa fma --refused", 0, "", "no form of 'fma' is refused"},
    {"orders gpudte", 2, "",
     "there is no order 'gpudte'; there are native, random, gpudet, dab; did you mean 'gpudet'?"},
    {"orders gpudet:depth=off", 2, "", "NAME is without options"},
    {"orders --format", 2, "", "--format wants a value"},
    {"gpus ./", 2, "", "heddle gpus: cannot read './': Is a directory"},
    {"estimate --coefficients none suite:saxpy", 2, "",
     "heddle estimate: cannot read 'none': No such file"},
    {"estimate --coefficients good.ptx suite:saxpy", 1, "", "good.ptx:1:1: error"},
    {"gpus --format json", 2, "", "unknown option '--format'"},
    {"suite run --sise small", 2, "", "unknown option '--sise'; did you mean '--size'?"},
    {"suite run sxapy", 2, "",
     "there is no workload 'sxapy' ('heddle suite list' names them); did you mean 'saxpy'?"},
    {"suite run saxpy --graph good.ptx", 2, "", "'saxpy' takes no graph"},
    {"run suite:bfs_racy --graph good.ptx", 2, "", "heddle run: good.ptx:1: no graph begins with"},
    {"suite run --graph none", 2, "", "cannot read 'none': No such file or directory"},
    {"suite run --size", 2, "", "--size wants a value"},
    {"suite run saxpy --order random --seed 0x10", 0, "1 of 1 passed", ""},
    {"suite run saxpy --order random --seed x", 2, "", "--seed wants a number from 0 to"},
    {"measure --ouput x", 2, "", "unknown option '--ouput'; did you mean '--output'?"},
    {"calibrate x.csv --predit", 2, "", "unknown option '--predit'; did you mean '--predict'?"},
    {"ptx check --format=xml good.ptx", 2, "", "--format is text or json, not 'xml'"},
    {"ptx check --format=text good.ptx", 0, "1 file, 0 errors", ""},
    {"ptx check caller.ptx", 0, "0 errors", ""},
    {"ptx check --link caller.ptx", 1, "1 error,", "caller.ptx:5:19: error: no module defines 'f'"},
    {"ptx check --link caller.ptx library.ptx", 0, "2 files, 0 errors", ""},
    {"ptx check --link library.ptx caller.ptx", 0, "2 files, 0 errors", ""},
    {"ptx check --link library.ptx library.ptx", 1, "2 files, 1 error,",
     "'f' is defined already in library.ptx"},
    {"ptx check --link bad.ptx caller.ptx", 1, "3 errors", "bad.ptx:6:2"},
    {"ptx check --link caller.ptx none.ptx", 2, NULL, "cannot read"},

    {"ptx print", 2, "", "FILE"},
    {"ptx print good.ptx", 0, "ld.global.u32 %r1, [%rd1];", ""},
    {"ptx print - <good.ptx", 0, ".visible .entry second", ""},
    {"ptx print bad.ptx", 1, "", "bad.ptx:6:2"},
    {"ptx print none.ptx", 2, "", "cannot read"},
    {"ptx print good.ptx --weave", 2, "", "--weave"},
    {"ptx print --verify good.ptx", 0, "", ""},
    {"ptx print --verify good.ptx library.ptx", 0, "", ""},
    {"ptx print --verify bad.ptx", 1, "", "bad.ptx:6:2"},
    {"ptx print good.ptx | ./again", 0, "", ""},

    {"ptx stats", 2, "", "which FILE?"},
    {"ptx stats good.ptx", 0, "kernel first (line 6)", ""},
    {"ptx stats good.ptx library.ptx", 0, "function f (line 4)", ""},
    {"ptx stats bad.ptx", 1, "", "bad.ptx:6:2"},
    {"ptx stats bad.ptx good.ptx", 1, "kernel first", "bad.ptx:6:2"},
    {"ptx stats none.ptx good.ptx bad.ptx", 2, "kernel first", "cannot read"},
    {"ptx stats --weave good.ptx", 2, "", "--weave"},
    {"ptx stats --format=xml good.ptx", 2, "", "'xml'"},

    {"ptx cfg", 2, "", "which FILE?"},
    {"ptx cfg good.ptx library.ptx", 2, "", "which FILE?"},
    {"ptx cfg good.ptx", 2, "",
     "good.ptx has 2 functions, choose one with --kernel\n  first\n  second\n"},
    {"ptx cfg good.ptx --kernel third", 2, "",
     "good.ptx has no function 'third' with a body\n  first\n"},
    {"ptx cfg good.ptx --kernel f", 2, "", "no function 'f' with a body"},
    {"ptx cfg good.ptx --kernel", 2, "", "--kernel wants a value"},
    {"ptx cfg good.ptx --kernel first", 0, "digraph \"first\" {", ""},
    {"ptx cfg --kernel=second good.ptx", 0, "digraph \"second\" {", ""},
    {"ptx cfg library.ptx", 0, "digraph \"f\" {", ""},
    {"ptx cfg bad.ptx", 1, "", "bad.ptx:6:2"},
    {"ptx cfg none.ptx", 2, "", "cannot read"},

    {"isa", 0, " refused\n", ""},
    {"isa add", 0, "add", ""},
    {"isa mul", 0, "mul.wide", ""},
    {"isa nothing", 1, "", "no instruction is called 'nothing'"},
    {"isa add sub", 2, "", "one NAME at most"},
    {"isa --refused", 0, "refused: ", ""},
    {"isa --weave", 2, "", "--weave"},
    {"isa --format=xml", 2, "", "'xml'"},

    {"isa >/dev/full", 2, NULL, NULL},
    {"ptx print good.ptx >/dev/full", 2, NULL, NULL},
};

static bool fits(const char *got, const char *want)
{
    return !want || (*want ? strstr(got, want) != NULL : !*got);
}

Test(cli, status_and_streams)
{
    write_file("again", "#!/bin/sh\nexec \"$HEDDLE_PROGRAM\" ptx check --quiet -\n");
    char *whole = realpath(program, NULL);
    setenv("HEDDLE_PROGRAM", whole, 1);
    free(whole);
    char command[64];
    snprintf(command, sizeof command, "chmod +x %s/again", folder);
    cr_assert(system(command) == 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct result r = run(calls[i].args);
        cr_expect(r.status == calls[i].status, "heddle %s: exit status %d, not %d\n%s%s",
                  calls[i].args, r.status, calls[i].status, r.out, r.err);
        cr_expect(fits(r.out, calls[i].out), "heddle %s: prints\n%s", calls[i].args, r.out);
        cr_expect(fits(r.err, calls[i].err), "heddle %s: reports\n%s", calls[i].args, r.err);
        drop(&r);
    }
}

Test(cli, version_is_the_librarys)
{
    struct result r = run("--version");
    cr_expect(strncmp(r.out, "heddle ", 7) == 0 &&
              strncmp(r.out + 7, heddle_version(), strlen(heddle_version())) == 0);
    drop(&r);
}

/* ---- texts made from the tables ------------------------------------------------------------------ */

/* Every option in the help of a command is one it takes: it complains about the value or the target, not about the
 * option. */
Test(cli, takes_the_options_that_its_help_names)
{
    static const char *const commands[] = {"run",       "check",     "suite run", "ptx check",
                                           "ptx print", "ptx stats", "ptx cfg",   "isa",
                                           "orders",    "calibrate", "measure"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char args[200], option[40];
        snprintf(args, sizeof args, "%s --help", commands[i]);
        struct result help = run(args);
        size_t count = 0;
        for (const char *p = help.out; (p = strstr(p, "\n  --")); p++, count++) {
            snprintf(option, sizeof option, "%.*s", (int)strcspn(p + 3, " \n"), p + 3);
            snprintf(args, sizeof args, "%s %s=nonsense:/ none.ptx", commands[i], option);
            struct result r = run(args);
            cr_expect(!strstr(r.err, "unknown option"), "%s: %s", args, r.err);
            cr_expect_neq(r.status, 0, "%s", args);
            drop(&r);
        }
        cr_expect(count, "%s: no options in its help", commands[i]);
        cr_expect(!strstr(help.out, "(null)"), "%s", help.out);
        for (const char *line = help.out; *line; line += strcspn(line, "\n") + 1)
            cr_expect(strcspn(line, "\n") <= 100, "%s: too long: %.120s", commands[i], line);
        drop(&help);
    }
}

/* All settings, with the variable of each; those of the environment alone as well. */
Test(cli, help_names_the_variables_of_the_environment)
{
    static const char *const variables[] = {
        "GPU",     "MEMORY",     "SMS",    "THREADS",  "ORDER",
        "SEED",    "DIVERGENCE", "CHECK",  "SUPPRESS", "MAX_INSTRUCTIONS",
        "TIMEOUT", "COUNTS",     "RECORD", "REPLAY",   "WATCH"};
    static const char *const texts[] = {"run --help", "help --man", "help --man run",
                                        "help --reference"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct result r = run(texts[k]);
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
            char name[40];
            snprintf(name, sizeof name, "HEDDLE_%s", variables[i]);
            cr_expect(strstr(r.out, name), "heddle %s: no %s", texts[k], name);
        }
        drop(&r);
    }
}

/* `make man` writes them. */
Test(cli, completion_and_reference_are_current_and_pages_are_written)
{
    char command[400];
    struct result r = run("help --write .");
    cr_assert_eq(r.status, 0, "%s", r.err);
    drop(&r);
    snprintf(command, sizeof command,
             "cd %s/docs/man && grep -q '^.TH' heddle.1 && grep -q 'speculate' heddle-run.1 && "
             "cd - && diff %s/docs/reference.md docs/reference.md && "
             "diff %s/completion/heddle.bash completion/heddle.bash",
             folder, folder, folder);
    cr_expect_eq(system(command), 0, "run 'make man'");
    r = run("help --write /dev/null");
    cr_expect_neq(r.status, 0);
    drop(&r);
}

/* The words that bash would offer, one blank between two. */
static void complete(const char *words, char *out, size_t size)
{
    char command[1000];
    snprintf(command, sizeof command,
             "cd %s && bash -c 'source %s/heddle.bash; COMP_WORDS=(%s); "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _heddle; echo \"${COMPREPLY[*]}\"'",
             folder, folder, words);
    FILE *f = popen(command, "r");
    cr_assert(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    cr_expect_eq(pclose(f), 0, "%s", command);
}

Test(cli, bash_completes)
{
    static const struct {
        const char *words, *want;
    } cases[] = {
        {"heddle est", "estimate\n"},
        {"heddle ptx c", "check cfg\n"},
        {"heddle run --memo", "--memory --memory-map\n"},
        {"heddle run --divergence \"\"", "auto stack its\n"},
        {"heddle run --divergence = i", "its\n"},
        {"heddle run --gpu titan", "titanv titanx\n"},
        {"heddle check --order gpu", "gpudet\n"},
        {"heddle check --repl", "\n"},
        {"heddle check --max", "--max-instructions\n"},
        {"heddle run --counts good", "good.ptx\n"},
        {"heddle run good", "good.ptx\n"},
        {"heddle run suite : sax", "saxpy\n"},
        {"heddle suite run sax", "saxpy\n"},
        {"heddle ptx check --form", "--format\n"},
        {"heddle ptx check --format js", "json\n"},
        {"heddle help ptx st", "stats\n"},
        {"heddle help estim", "estimate\n"},
        {"heddle swe", "sweep\n"},
        {"heddle sweep rep", "report\n"},
    };
    char out[4000];
    struct result r = run("help --completion >heddle.bash");
    cr_assert_eq(r.status, 0);
    drop(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        complete(cases[i].words, out, sizeof out);
        cr_expect_str_eq(out, cases[i].want, "%s: %s", cases[i].words, out);
    }
}

/* A command comes before those of two words that begin with its name, and help finds each by its own name. */
Test(cli, overview_lists_a_command_before_its_subcommands)
{
    struct result r = run("--help");
    const char *sweep = strstr(r.out, "\n  heddle sweep  "),
               *query = strstr(r.out, "\n  heddle sweep query ");
    cr_expect(sweep && query && sweep < query, "%s", r.out);
    drop(&r);
    r = run("sweep query --help");
    cr_expect(strncmp(r.out, "usage: heddle sweep query DIR", 29) == 0, "%s", r.out);
    drop(&r);
    r = run("sweep --help");
    cr_expect(strncmp(r.out, "usage: heddle sweep PLAN", 24) == 0, "%s", r.out);
    drop(&r);
}

/* The orders that there are, in words and as a document. */
Test(cli, orders)
{
    struct result r = run("orders random");
    cr_expect(
        r.status == 0 &&
            strstr(r.out, ":strategy=any  (any, uniform, pct, bursty, lag, farthest, conflicts)"),
        "%s", r.out);
    cr_expect(!strstr(r.out, "native"), "%s", r.out);
    drop(&r);
    r = run("orders nothing");
    cr_expect(r.status == 2 && strstr(r.err, "there is no order 'nothing'"), "%s", r.err);
    drop(&r);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *run_json(const char *args, int status)
{
    struct result r = run(args);
    json_error_t error;
    cr_expect(r.status == status, "heddle %s: exit status %d", args, r.status);
    json_t *j = json_loads(r.out, 0, &error);
    cr_assert(j, "heddle %s: line %d: %s\n%s", args, error.line, error.text, r.out);
    drop(&r);
    return j;
}

/* Whether an object has exactly these fields: "name:s count:i ok:b list:a sub:o"; `?`: it may be null. */
static void has_fields(const char *what, const json_t *o, const char *fields)
{
    cr_assert(json_is_object(o), "%s is no object", what);
    size_t count = 0;
    for (const char *p = fields; *p; p += strspn(p, " ")) {
        char name[32];
        size_t n = strcspn(p, ":");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        char type = p[n + 1];
        p += n + 2;
        bool may_be_null = *p == '?';
        p += may_be_null;
        const json_t *v = json_object_get(o, name);
        count += v != NULL;
        cr_expect(v, "%s has no %s", what, name);
        if (!v || (may_be_null && json_is_null(v))) continue;
        bool is = type == 's'   ? json_is_string(v)
                  : type == 'i' ? json_is_integer(v)
                  : type == 'b' ? json_is_boolean(v)
                  : type == 'a' ? json_is_array(v)
                                : json_is_object(v);
        cr_expect(is, "%s: %s is not of kind %c", what, name, type);
    }
    cr_expect(count == json_object_size(o), "%s has other fields than %s", what, fields);
}

static long long number(const json_t *o, const char *name)
{
    return (long long)json_integer_value(json_object_get(o, name));
}

static const char *string(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));
    return s ? s : "";
}

Test(cli, check_json)
{
    json_t *j = run_json("ptx check --format=json good.ptx bad.ptx", 1);
    has_fields("the document", j, "version:i files:a");
    json_t *files = json_object_get(j, "files");
    cr_assert(json_array_size(files) == 2);
    for (size_t i = 0; i < 2; i++)
        has_fields("a file", json_array_get(files, i),
                   "file:s ok:b errors:i warnings:i messages:a");
    json_t *f = json_array_get(files, 0);
    cr_expect(strcmp(string(f, "file"), "good.ptx") == 0 && json_is_true(json_object_get(f, "ok")));
    cr_expect(number(f, "errors") == 0 && json_array_size(json_object_get(f, "messages")) == 0);
    f = json_array_get(files, 1);
    cr_expect(json_is_false(json_object_get(f, "ok")) && number(f, "errors") == 3);
    size_t i, errors = 0;
    json_t *m;
    json_array_foreach(json_object_get(f, "messages"), i, m)
    {
        has_fields("a message", m, "severity:s line:i column:i length:i text:s");
        errors += strcmp(string(m, "severity"), "error") == 0;
    }
    cr_expect(errors == 3);
    m = json_array_get(json_object_get(f, "messages"), 0);
    cr_expect(number(m, "line") == 6 && number(m, "column") == 2 && number(m, "length") == 3);
    cr_expect(strcmp(string(m, "text"), "unknown instruction 'foo'") == 0, "%s", string(m, "text"));
    json_decref(j);
}

/* Names and text of the input reach JSON as UTF-8, whatever their bytes. */
Test(cli, json_of_odd_bytes)
{
    write_file(
        "odd.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { \xff\xfe \"\xc3\" x\x80; ret; }\n");
    write_file("caf\xc3\xa9.ptx", good);
    write_file("\xff.ptx", bad);
    static const char *const args[] = {
        "ptx check --format=json odd.ptx", "ptx check --format=json caf\xc3\xa9.ptx",
        "ptx check --format=json \xff.ptx", "ptx stats --format=json caf\xc3\xa9.ptx"};
    static const int status[] = {1, 0, 1, 0};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        json_t *j = run_json(args[i], status[i]), *files = json_object_get(j, "files");
        cr_expect(!files || json_is_object(json_array_get(files, 0)),
                  "heddle %s: the file is missing", args[i]);
        json_decref(j);
    }
}

Test(cli, unreadable_json)
{
    json_t *j = run_json("ptx check --format=json none.ptx", 2);
    json_t *f = json_array_get(json_object_get(j, "files"), 0);
    json_t *m = json_array_get(json_object_get(f, "messages"), 0);
    cr_expect(number(f, "errors") == 1 && number(m, "line") == 0 && number(m, "column") == 0);
    cr_expect(strstr(string(m, "text"), "cannot read"));
    json_decref(j);
}

Test(cli, stats_json)
{
    static const char function_fields[] =
        "name:s kind:s defined:b line:i by_unit:o instructions:i registers:i pressure:i predicates:i "
        "shared_bytes:i local_bytes:i param_bytes:i blocks:i loops:i loop_depth:i branches:i "
        "divergent_branches:i calls:i barriers:i atomics:i dead_atomics:i refused:i";
    json_t *j = run_json("ptx stats --format=json good.ptx", 0);
    has_fields("the module", j, "file:s ptx:s target:s address_size:i functions:a variables:a");
    cr_expect(strcmp(string(j, "ptx"), "8.0") == 0 && strcmp(string(j, "target"), "sm_80") == 0);
    json_t *functions = json_object_get(j, "functions"),
           *variables = json_object_get(j, "variables");
    cr_assert(json_array_size(functions) == 3 && json_array_size(variables) == 1);
    static const char *const names[] = {"f", "first", "second"};
    for (size_t i = 0; i < 3; i++) {
        json_t *f = json_array_get(functions, i);
        has_fields(names[i], f, function_fields);
        cr_expect(strcmp(string(f, "name"), names[i]) == 0);
        cr_expect(json_is_true(json_object_get(f, "defined")) == (i > 0));
        long long sum = 0;
        const char *unit;
        json_t *n;
        json_object_foreach(json_object_get(f, "by_unit"), unit, n)
            sum += (long long)json_integer_value(n);
        cr_expect(sum == number(f, "instructions"), "%s: units add up to %lld", names[i], sum);
        cr_expect(number(f, "registers") > 0 || i == 0, "%s: no registers", names[i]);
    }
    json_t *f = json_array_get(functions, 1);
    static const struct {
        const char *field;
        long long value;
    } first[] = {{"line", 6},       {"instructions", 7}, {"blocks", 3},   {"loops", 1},
                 {"loop_depth", 1}, {"branches", 1},     {"barriers", 1}, {"atomics", 1},
                 {"calls", 0},      {"param_bytes", 8},  {"refused", 0},  {"dead_atomics", 1},
                 {"predicates", 1}, {"local_bytes", 0}};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        cr_expect(number(f, first[i].field) == first[i].value, "%s is %lld", first[i].field,
                  number(f, first[i].field));
    json_t *v = json_array_get(variables, 0);
    has_fields("the variable", v, "name:s space:s size:i align:i extern:b initialised:b");
    cr_expect(number(v, "size") == 16 && number(v, "align") == 8 &&
              strcmp(string(v, "space"), "global") == 0);
    json_decref(j);

    j = run_json("ptx stats --format=json good.ptx library.ptx", 0);
    cr_expect(json_is_array(j) && json_array_size(j) == 2, "several files are a list");
    json_decref(j);
}

Test(cli, isa_json)
{
    json_t *j = run_json("isa --format=json", 0), *f;
    cr_assert(json_is_array(j));
    cr_expect(json_array_size(j) == heddle_form_count());
    size_t i, refused = 0;
    json_array_foreach(j, i, f)
    {
        has_fields("a form", f,
                   "name:s modifiers:s operands:s since:i target:s unit:s refused:s? inexact:s?");
        refused += json_is_string(json_object_get(f, "refused"));
    }
    json_decref(j);
    j = run_json("isa --format=json --refused", 0);
    cr_expect(refused > 0 && json_array_size(j) == refused);
    json_decref(j);
    j = run_json("isa --format=json add", 0);
    json_array_foreach(j, i, f)
        cr_expect(strcmp(string(f, "name"), "add") == 0, "%s", string(f, "name"));
    cr_expect(json_array_size(j) > 5);
    json_decref(j);
}

/* ---- graphs ------------------------------------------------------------------------------------ */

/* Counts braces outside strings, and nodes that edges name but no line defines. */
static void is_graph(const char *what, const char *text)
{
    int depth = 0;
    bool quoted = false;
    for (const char *p = text; *p; p++) {
        if (*p == '\\' && quoted && p[1]) p++;
        else if (*p == '"') quoted = !quoted;
        else if (!quoted && *p == '{') depth++;
        else if (!quoted && *p == '}') cr_expect(--depth >= 0, "%s: braces close too early", what);
        cr_expect(!quoted || *p != '\n', "%s: a string over several lines", what);
    }
    cr_expect(depth == 0 && !quoted, "%s: braces or quotes do not match\n%s", what, text);
    for (const char *p = text; (p = strstr(p, " -> b")); p++) {
        char node[32];
        size_t n = strspn(p + 5, "0123456789");
        snprintf(node, sizeof node, "    b%.*s [", (int)n, p + 5);
        cr_expect(strstr(text, node), "%s: an edge to%s", what, node);
    }
}

static void draw(const char *path, void *count)
{
    if ((*(size_t *)count)++ % 16 != 0) return;
    size_t length;
    char *text = read_file(path, &length), *whole = realpath(path, NULL);
    struct heddle_module *m = heddle_module_read(path, text, length, NULL);
    for (size_t i = 0; i < heddle_module_function_count(m) && i < 40; i++) {
        if (!heddle_module_function(m, i).is_defined) continue;
        for (int instructions = 0; instructions < 2; instructions++) {
            char *graph = heddle_function_graph(m, i, instructions);
            is_graph(path, graph);
            free(graph);
        }
    }
    heddle_module_free(m);
    free(text);
    free(whole);
}

Test(cli, graphs)
{
    size_t count = 0;
    each_file("build/corpus", ".ptx", draw, &count);
    count = 0;
    each_file("tests/corpus/hand", ".ptx", draw, &count);
    static const char *const args[] = {"ptx cfg good.ptx --kernel first",
                                       "ptx cfg good.ptx --kernel first --brief",
                                       "ptx cfg good.ptx --kernel second"};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        struct result r = run(args[i]);
        is_graph(args[i], r.out);
        cr_expect(!strstr(r.out, "ld.global") == (i > 0), "%s:\n%s", args[i], r.out);
        cr_expect(!strstr(r.out, "mov.b64 \\{x0, x1\\}") == (i < 2), "%s:\n%s", args[i], r.out);
        drop(&r);
        if (system("command -v dot >/dev/null") != 0) continue;
        char piped[128];
        snprintf(piped, sizeof piped, "%s | dot -Tcanon", args[i]);
        r = run(piped);
        cr_expect(r.status == 0 && !*r.err && *r.out, "%s: %s", piped, r.err);
        drop(&r);
    }
}

/* ---- bench ------------------------------------------------------------------------------------- */

Test(cli, bench_compares_with_a_file)
{
    write_file("rates.csv",
               "# device X\ngroup,name,unit,rate,message\nlaunches,host,launches,1,\"\"\n");
    char line[200];
    snprintf(line, sizeof line, "bench launches.host --json --beside %s/rates.csv 2>/dev/null",
             folder);
    json_t *j = run_json(line, 0), *rate = json_array_get(json_object_get(j, "rates"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(j, "format")), "heddle-bench");
    cr_expect_eq(json_array_size(json_object_get(j, "rates")), 1);
    cr_expect(json_real_value(json_object_get(rate, "per_second")) > 1);
    cr_expect_float_eq(json_real_value(json_object_get(rate, "beside_per_second")), 1, 1e-9);
    cr_expect_eq(json_integer_value(json_object_get(rate, "thread_instructions")), 32); /* ret */
    json_decref(j);
    snprintf(line, sizeof line, "bench launches.host --beside %s/rates.csv", folder);
    struct result r = run(line);
    cr_expect(strstr(r.err, "launches.host") && strstr(r.err, "percent of"), "%s", r.err);
    drop(&r);
}

Test(cli, bench_refuses)
{
    const struct {
        const char *args, *why;
    } cases[] = {
        {"bench nothing", "there is no rate 'nothing'"},
        {"bench memory.none", "there is no rate 'memory.none'"},
        {"bench --mode fast", "--mode is plain, counts, caches, random, gpudet, dab or race"},
        {"bench --threads 0", "--threads is at least 1"},
        {"bench --format xml", "--format is text, csv or json"},
        {"bench --beside /nowhere", "cannot read '/nowhere'"},
        {"bench --beside %s/good.ptx", "has no line 'group,name,unit,rate'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char args[120];
        snprintf(args, sizeof args, cases[i].args, folder);
        struct result r = run(args);
        cr_expect(r.status == 2 && strstr(r.err, cases[i].why), "%s: %s", args, r.err);
        drop(&r);
    }
}
