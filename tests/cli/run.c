/* `heddle run`: kernel files, workloads and job files, good and bad. The environment's HEDDLE names the
 * program; without it, ./heddle. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-run-XXXXXX";
static char *program;

/* twice: y[i] = 2 x[i] + 1 (u32); spin: never ends; noisy: printf-less, stores clock-free constants. */
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .align 4 .u32 offset = 1;\n"
    ".visible .entry twice(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n"
    ".reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    "mad.lo.u32 %r2, %r3, %r4, %r2;\nsetp.ge.u32 %p, %r2, %r1;\n@%p ret;\n"
    "mul.wide.u32 %rd3, %r2, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"
    "ld.global.u32 %r5, [%rd1];\nld.global.u32 %r6, [offset];\nmad.lo.u32 %r5, %r5, 2, %r6;\n"
    "st.global.u32 [%rd2], %r5;\nret;\n}\n"
    ".visible .entry spin()\n{\n.reg .b64 %n; .reg .pred %p; mov.u64 %n, 0;\n"
    "again: add.u64 %n, %n, 1; setp.ne.u64 %p, %n, 0; @%p bra again;\nret;\n}\n"
    ".visible .entry bytes(.param .u8 b, .param .align 8 .b8 s[16]) { ret; }\n"
    ".visible .entry limited() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry count_down(.param .u64 flag)\n{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [flag];\nld.global.u32 %r1, [%rd1];\nsub.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";
static const char bad[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tfoo;\n\tret;\n}\n";

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static void write_file(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static void set_up(void)
{
    const char *name = getenv("HEDDLE");
    program = realpath(name ? name : "./heddle", NULL);
    cr_assert(program, "the program is not there: build it, or set HEDDLE");
    cr_assert(mkdtemp(folder));
    write_file("k.ptx", kernels);
    write_file("bad.ptx", bad);
    static const uint32_t four[] = {1, 3, 5, 7};
    write_bytes("four.bin", four, sizeof four);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) perror(command);
    free(program);
}
TestSuite(run, .init = set_up, .fini = tear_down, .timeout = 240);

struct result {
    int status; /* -1: ended by a signal */
    char *out, *err;
};

/* Runs `heddle run` in the folder with the files. `args` is for the shell. */
static struct result run(const char *args)
{
    char command[4096], path[128];
    snprintf(command, sizeof command, "cd %s && { '%s' run %s; } >out 2>err", folder, program,
             args);
    int status = system(command);
    struct result r = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    size_t n;
    snprintf(path, sizeof path, "%s/out", folder);
    r.out = read_file(path, &n);
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

struct call {
    const char *args;
    int status;
    const char *out, *err; /* parts; "": nothing comes; NULL: anything */
};

static bool fits(const char *got, const char *want)
{
    return !want || (*want ? strstr(got, want) != NULL : !*got);
}

static void check_calls(const struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct result r = run(calls[i].args);
        cr_expect(r.status == calls[i].status, "heddle run %s: exit status %d, not %d\n%s%s",
                  calls[i].args, r.status, calls[i].status, r.out, r.err);
        cr_expect(fits(r.out, calls[i].out), "heddle run %s: prints\n%s", calls[i].args, r.out);
        cr_expect(fits(r.err, calls[i].err), "heddle run %s: reports\n%s", calls[i].args, r.err);
        drop(&r);
    }
}
#define CHECK_CALLS(calls) check_calls(calls, sizeof(calls) / sizeof *(calls))

/* ---- kernel files ------------------------------------------------------------------------------- */

#define TWICE "k.ptx --kernel twice --block 32 --arg 'buf:u32[4]=iota' "

#define WATCHED TWICE "--arg 'y=buf:u32[4]' --arg 4 --threads 1 "
static const struct call watch_calls[] = {
    {WATCHED "--watch 'y[2]'", 0,
     "y[2]: 0 -> 5, store by thread (2,0,0) of CTA (0,0,0), launch 1 of kernel 'twice', PTX line 17\n",
     ""},
    {WATCHED "--watch 'y[1..2]' --quiet", 0, "y[1]: 0 -> 3, store by thread (1,0,0)", ""},
    {WATCHED "--watch '3' --quiet", 2, "", "nothing to watch is called '3'"},
    {WATCHED "--watch '2:u8' --quiet", 0, "2[12]: 0 -> 7, store by thread (3,0,0)", ""},
    {WATCHED "--watch 'y[1]:f32' --order random --quiet", 0, "y[1]: 0 -> 4.20389539e-45, store",
     ""},
    {WATCHED "--watch offset", 0, "offset: no write\n", ""},
    {WATCHED "--watch 0x20000000", 0, "0x20000000: no write\n", ""},
    {WATCHED "--watch 0x10", 2, NULL, "nothing was allocated at 0x10 when a kernel ran"},
    {WATCHED "--watch ofset --quiet", 2, "", "did you mean 'offset'?"},
    {WATCHED "--watch 'y[4]'", 2, NULL, "element 4 is not in 'y', which has 4 of type u32"},
    {WATCHED "--watch 'y[2..1]'", 2, NULL, "a range is FIRST..LAST"},
    {WATCHED "--watch 'y[x]'", 2, NULL, "--watch wants a number"},
    {WATCHED "--watch 'y:u9'", 2, NULL, "'u9' is not a type"},
    {WATCHED "--watch '[1]'", 2, "", "--watch wants ADDRESS or NAME"},
    {"suite:append --order random --seed 1 --watch 'cuMemAlloc #9999'", 2, NULL,
     "nothing to watch is called 'cuMemAlloc #9999'"},
};
Test(run, watches_writes)
{
    CHECK_CALLS(watch_calls);
    struct result r = run(WATCHED "--watch 'y[3]' --format=json");
    json_t *o = json_loads(r.out, 0, NULL), *e = json_array_get(json_object_get(o, "writes"), 0);
    cr_assert_eq(json_array_size(json_object_get(o, "writes")), 1, "%s", r.out);
    cr_expect_str_eq(json_string_value(json_object_get(e, "where")), "y[3]");
    cr_expect_str_eq(json_string_value(json_object_get(e, "kind")), "store");
    cr_expect_eq(json_integer_value(json_object_get(e, "before")), 0);
    cr_expect_eq(json_integer_value(json_object_get(e, "after")), 7);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(e, "thread"), 0)), 3);
    cr_expect_eq(json_integer_value(json_object_get(e, "line")), 17);
    json_decref(o);
    drop(&r);
    r = run("suite:bfs_racy --order random --seed 3 --watch 'cuMemAlloc #6[2048]' --quiet");
    cr_expect(strstr(r.out, "cuMemAlloc #6[2048]: ") && strstr(r.out, ", store by thread (") &&
                  !strstr(r.out, "warp") &&
                  strstr(r.out, "PTX line 104 (suites/kernels/bfs.cu:15)"),
              "%s", r.out);
    drop(&r);
}

Test(run, replays_what_was_recorded)
{
#define APPEND "suite:append --format=json "
#define DIGEST(r) strstr((r).out, "read_back_digest")
    struct result was = run(APPEND "--order random --seed 5 --record a.rec"),
                  is = run(APPEND "--replay a.rec"), other = run(APPEND "--order random --seed 6");
    cr_assert(was.status == 0 && is.status == 0 && other.status == 0, "%s%s", was.err, is.err);
    cr_expect_eq(strncmp(DIGEST(was), DIGEST(is), 40), 0);
    cr_expect_neq(strncmp(DIGEST(was), DIGEST(other), 40), 0);
    drop(&was), drop(&is), drop(&other);
    static const struct call calls[] = {
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --order random --seed 2 --record k.rec", 0, NULL, ""},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --replay k.rec", 0, "  y: 1 3 5 7\n", ""},
        {TWICE "--arg 'y=buf:u32[4]' --arg 3 --replay k.rec", 3, "", "its arguments are other"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --replay k.rec --gpu a100", 3, "",
         "its GPU is 'a100'"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --replay a.rec", 3, "", "its kernel is 'twice', not"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --replay four.bin", 1, NULL, "this is no recording"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --replay none.rec", 2, NULL, "cannot read 'none.rec'"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --record no/k.rec --order random", 2, NULL,
         "cannot write 'no/k.rec'"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --record k.rec", 2, NULL, "add --order random"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --record k.rec --order gpudet:dwp=off", 2, NULL,
         "--record is for the order random; gpudet repeats a run given the same --order and --seed"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --record k.rec --order dab", 2, NULL,
         "--record is for the order random; dab repeats"},
        {TWICE "--arg 'y=buf:u32[4]' --arg 4 --replay k.rec --order random", 2, NULL,
         "--order cannot be used with --replay"},
    };
    CHECK_CALLS(calls);
}

static const struct call good_kernel_calls[] = {
    {TWICE "--arg 'buf:u32[4]' --arg 4", 0, "  u32[4]: 1 3 5 7\n", ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4", 0, "  y: 1 3 5 7\n", ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --quiet", 0, "", ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1, 3, 5, 7)'", 0,
     "1 of 1 expectation met", ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=iota(1,2)' --expect 1=iota", 0,
     "2 of 2 expectations met", ""},
    {TWICE "--arg 'buf:u32[4]' --arg 4 --expect '2=file(four.bin)'", 0, "1 of 1", ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1,3,6,7)'", 4, "0 of 1 expectation met",
     "y: 1 of 4 elements is not as expected\n  y[2] is 5, expected 6 (difference -1)\n"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1,3,6,7)' --tolerance abs=1", 0, "1 of 1",
     ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1,3,6,7)' --tolerance rel=0.1,ulp=1", 0,
     "1 of 1", ""},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=digest(0x71ed4cd0a2bdbaf5)'", 4, NULL,
     "expected 0x71ed4cd0a2bdbaf5"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=const(0x80)'", 4, NULL,
     "y: 4 of 4 elements are not as expected"},
    {"k.ptx --kernel twice --block 32 --arg 'buf:u32[]=file(four.bin)' --arg 'y=buf:u32[4]' --arg 4",
     0, "  y: 3 7 11 15\n", ""},
    {"k.ptx --kernel twice --block 32 --arg 'buf:u32[]=list(-1, 0xff, 7)' --arg 'y=buf:u32[3]' --arg 3",
     0, "  y: 4294967295 511 15\n", ""},
    {"k.ptx --kernel=limited --block=64 --cluster=1 --shared=128 --divergence=its --threads=1 "
     "--check=init,sync,memory --memory=64M --max-instructions=100 --timeout=60",
     0, "limited: 1x1x1 CTAs of 64x1x1 threads", ""},
    {"- --kernel limited <k.ptx", 0, "limited", ""},
};

Test(run, kernel_files)
{
    CHECK_CALLS(good_kernel_calls);
}

static const struct call bad_kernel_calls[] = {
    {"", 2, "", "the target is missing"},
    {"k.ptx", 2, "", "the module has 5 kernels: say which, with --kernel"},
    {"k.ptx k.ptx", 2, "", "there is one target at most: unexpected 'k.ptx'"},
    {"-- ./no-program 1 2", 2, "", "note: there is no file './no-program'"},
    {"none.ptx", 2, "", "none.ptx: error: cannot read"},
    {".", 2, "", "cannot read: Is a directory"},
    {"bad.ptx", 1, "", "bad.ptx:6:2: error: unknown instruction 'foo'"},
    {"k.ptx --kernel twyce", 2, "", "did you mean 'twice'?"},
    {"k.ptx --kernal twice", 2, "", "did you mean '--kernel'?"},
    {"k.ptx -x", 2, "", "unknown option '-x'"},
    {"--ordr native", 2, "", "^~~~~~\ncommand line:1:25: error: the target is missing"},
    {"k.ptx --kernel", 2, "", "--kernel wants a value"},
    {"k.ptx --quiet=1", 2, "", "--quiet takes no value"},
    {"k.ptx --block 1 --block 2", 2, "", "--block is given twice"},
    {"k.ptx --data-seed 1", 2, "", "--data-seed cannot be used with a kernel file"},
    {"k.ptx --order gpu", 2, "", "there is no order 'gpu'; there are native, random, gpudet, dab"},
    {"k.ptx --order ''", 2, "", "there is no order ''"},
    {"k.ptx --order randon", 2, "", "did you mean 'random'?"},
    {"k.ptx --order native:x", 2, "", "order native has no option 'x'"},
    {"k.ptx --order random:strategie=pct", 2, "", "did you mean 'strategy'?"},
    {"k.ptx --order random:strategy=x", 2, "",
     "strategy of order random is any, uniform, pct, bursty, lag, farthest or conflicts, not 'x'"},
    {"k.ptx --order random:strategy", 2, "", "not ''"},
    {"k.ptx --order random:strategy=pct:strategy=lag", 2, "", "is given twice"},
    {"k.ptx --kernel twice --seed 3", 2, "", "--seed needs a random order"},
    {"k.ptx --seed -1", 2, "", "seed wants a number"},
    {"k.ptx --format xml", 2, "", "--format is text or json, not 'xml'"},
    {"k.ptx --kernel limited --grid 0", 3, "", "grid"},
    {"k.ptx --kernel limited --grid 1,2,3,4", 2, "", "a size is X, X,Y or X,Y,Z"},
    {"k.ptx --kernel limited --grid -1", 2, "", "not '-1'"},
    {"k.ptx --kernel limited --grid 4294967296", 2, "", "not '4294967296'"},
    {"k.ptx --kernel limited --grid ,", 2, "", "not ','"},
    {"k.ptx --kernel limited --grid ''", 2, "", "not ''"},
    {"k.ptx --kernel limited --block 65", 3, "", "impossible launch"},
    {"k.ptx --kernel limited --block 4096,4096,4096", 3, "", "impossible launch"},
    {"k.ptx --kernel limited --grid 2 --cluster 3", 3, "",
     "impossible launch: clusters of 3 x 1 x 1 CTAs do not fill the grid"},
    {"k.ptx --kernel limited --shared 1048577", 2, "", "--shared wants a number from 0 to 1048576"},
    {"k.ptx --kernel limited --shared 1048576", 3, "", "impossible launch"},
    {"k.ptx --kernel limited --threads x", 2, "", "threads wants a number from 0 to 1024"},
    {"k.ptx --kernel limited --timeout 0", 2, "", "timeout wants seconds"},
    {"k.ptx --kernel limited --timeout nan", 2, "", "timeout wants seconds"},
    {"k.ptx --kernel limited --block 1 --divergence its --order gpudet", 2, "",
     "order gpudet cannot follow lanes that go their own ways: use --divergence=stack"},
    {"k.ptx --kernel limited --block 1 --divergence its --order dab:scheduler=srr", 2, "",
     "order dab cannot follow lanes that go their own ways: use --divergence=stack"},
    {"k.ptx --kernel limited --divergence both", 2, "", "divergence is auto, stack or its"},
    {"k.ptx --kernel limited --speculate maybe", 2, "", "speculate is on or off, not 'maybe'"},
    {"k.ptx --kernel limited --check init,most", 2, "", "not 'most'"},
    {"k.ptx --kernel limited --memory 12X", 2, "", "memory wants bytes"},
    {"k.ptx --kernel limited --memory 99999999T", 2, "", "memory wants bytes"},
    {"k.ptx --kernel limited --tolerance abs=1", 2, "", "--tolerance needs --expect"},
    {"k.ptx --kernel limited --arg 1", 2, "", "kernel 'limited' takes 0 arguments, not 1"},
    {"k.ptx --kernel spin --max-instructions 1000", 5, "", "1000"},
    {"k.ptx --kernel spin --timeout 0.2", 5, "", NULL},
    {"k.ptx --kernel bytes --arg 1 --arg 2", 2, "", "is a struct of 16 bytes"},
    {"k.ptx --kernel bytes --arg 256 --arg 2", 2, "",
     "'256' does not fit parameter 1 of 'bytes' (1 byte)"},
    {"k.ptx --kernel bytes --arg u16:1 --arg 2", 2, "",
     "parameter 1 of 'bytes' has 1 byte, a u16 has 2"},
    {TWICE, 2, "", "takes 3 arguments, not 1"},
    {TWICE "--arg buf:u32[4] --arg buf:u32[4]", 2, "", "the address of a buffer has 8"},
    {TWICE "--arg 1.5 --arg 4", 2, "", "'1.5' is not an integer"},
    {TWICE "--arg f33:1 --arg 4", 2, "", "'f33' is not a type: u8"},
    {TWICE "--arg f64:x --arg 4", 2, "", "'x' is not a valid f64"},
    {TWICE "--arg u64:18446744073709551616 --arg 4", 2, "", "is not a valid u64"},
    {TWICE "--arg s64:-9223372036854775809 --arg 4", 2, "", "is not a valid s64"},
    {TWICE "--arg buf: --arg 4", 2, "", "a buffer is TYPE[COUNT]"},
    {TWICE "--arg 'buf:u32[4' --arg 4", 2, "", "a buffer is TYPE[COUNT]"},
    {TWICE "--arg 'buf:u32]4[' --arg 4", 2, "", "a buffer is TYPE[COUNT]"},
    {TWICE "--arg 'buf:u31[4]' --arg 4", 2, "", "'u31' is not a type"},
    {TWICE "--arg 'y=buf:u31[4]' --arg 'z=buf:u32[4]'", 2, "", "'u31' is not a type"},
    {TWICE "--arg 'buf:u32[0]' --arg 4", 2, "", "a buffer has at least one element"},
    {TWICE "--arg 'buf:u32[-4]' --arg 4", 2, "", "not '-4'"},
    {TWICE "--arg 'buf:u32[]' --arg 4", 2, "", "the number of elements is missing"},
    {TWICE "--arg 'buf:u32[4]=primes' --arg 4", 2, "", "'primes' is not a pattern: zero"},
    {TWICE "--arg 'buf:u32[4]=const' --arg 4", 2, "", "'const' needs a value in parentheses"},
    {TWICE "--arg 'buf:u32[4]=zero(1)' --arg 4", 2, "", "'zero' takes nothing in parentheses"},
    {TWICE "--arg 'buf:u32[4]=const(1' --arg 4", 2, "", "parenthesis of 'const' is not closed"},
    {TWICE "--arg 'buf:u32[4]=const(1.5)' --arg 4", 2, "", "'1.5' is not a valid u32"},
    {TWICE "--arg 'buf:u32[4]=iota(1,2,3)' --arg 4", 2, "", "iota takes a start and a step"},
    {TWICE "--arg 'buf:u32[4]=list(1,,3)' --arg 4", 2, "", "'' is not a valid u32"},
    {TWICE "--arg 'buf:u32[4]=list(1,2,3)' --arg 4", 2, "",
     "the list has 3 elements, the buffer 4"},
    {TWICE "--arg 'buf:u32[5]=file(four.bin)' --arg 4", 2, "",
     "'four.bin' has 16 bytes, 5 of u32 are 20"},
    {TWICE "--arg 'buf:u32[4]=file(none)' --arg 4", 2, "", "cannot read 'none': No such file"},
    {TWICE "--arg 'buf:u32[4]=file(.)' --arg 4", 2, "", "cannot read '.': Is a directory"},
    {TWICE "--arg 'buf:u32[]=file(none)' --arg 4", 2, "", "the file is empty, or not there"},
    {TWICE "--arg 'buf:u32[5]=file(/dev/null)' --arg 4", 2, "", "does not have 20 bytes"},
    {"k.ptx --kernel twice --arg 'y=buf:u32[4]' --arg 'y=buf:u32[4]' --arg 4", 2, "",
     "there are two buffers 'y'"},
    {TWICE "--arg 'buf:u32[1152921504606846975]' --arg 4", 2, "", "out of device memory"},
    {TWICE "--memory 1M --arg 'buf:u32[1000000]' --arg 4", 2, "",
     "out of device memory: 'u32[1000000]' wants 4000000 bytes; the memory setting (8G without one) says"},
    {TWICE "--arg 'y=buf:u32[3]' --arg 4 --expect y=zero", 3, "", "0 bytes behind the end of 'y'"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect z=zero", 2, "", "there is no buffer 'z'"},
    {TWICE "--arg 'yy=buf:u32[4]' --arg 4 --expect yx=zero", 2, "", "did you mean 'yy'?"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect y", 2, "", "--expect wants BUFFER=PATTERN"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1)'", 2, NULL, "the list has 1 elements"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect y=zero --tolerance abs", 2, "",
     "a tolerance is abs=X"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect y=zero --tolerance abs=-1", 2, "",
     "abs wants a number of at least 0"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect y=zero --tolerance rel=nan", 2, "",
     "rel wants a number"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect y=zero --tolerance ulp=1.5", 2, "",
     "ulp wants a whole number"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --dump y=none/x", 2, NULL,
     "cannot write 'none/x': No such file"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 --dump y=/dev/full", 2, NULL,
     "cannot write '/dev/full': No space"},
    {TWICE "--arg 'y=buf:u32[4]' --arg 4 >/dev/full", 2, NULL, "cannot write the output"},
    {TWICE "--arg y=4 --arg 4", 2, "", "only buffers (buf:...) have names"},
};

Test(run, bad_kernel_calls)
{
    CHECK_CALLS(bad_kernel_calls);
}

Test(run, mistakes_are_marked)
{
    struct result r = run("k.ptx --kernel limited --arg f33:1");
    cr_expect_str_eq(
        r.err,
        "command line:1:41: error: 'f33' is not a type: u8, s8, u16, s16, u32, s32, u64, s64, "
        "f16, bf16, f32, f64\n"
        "    1 | heddle run k.ptx --kernel limited --arg f33:1\n"
        "      |                                         ^~~\n"
        "command line:1:41: note: an argument is NUMBER, TYPE:NUMBER or "
        "buf:TYPE[COUNT]=PATTERN\n"
        "    1 | heddle run k.ptx --kernel limited --arg f33:1\n"
        "      |                                         ^~~~~\n"
        "Try 'heddle run --help'.\n");
    drop(&r);
}

static void file_is(const char *name, const void *want, size_t size)
{
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *got = read_file(path, &n);
    cr_expect(n == size && memcmp(got, want, n) == 0, "%s holds %zu other bytes", name, n);
    free(got);
}

/* Dumps are whole or not there, and leave nothing beside them. */
Test(run, dumps)
{
    static const uint32_t want[] = {1, 3, 5, 7};
    struct result r = run(
        TWICE "--arg y=buf:u32[4] --arg 4 --dump y=y.bin --dump 2=z --expect y=zero; ls");
    cr_expect(r.status == 0 && strstr(r.out, "y.bin\nz\n"), "%s%s", r.out, r.err);
    file_is("y.bin", want, sizeof want); /* results that differ are what one wants to see */
    file_is("z", want, sizeof want);
    drop(&r);
    r = run(TWICE "--arg y=buf:u32[3] --arg 4 --dump y=w.bin; ls");
    cr_expect(!strstr(r.out, "w.bin"), "a dump after a fault: %s", r.out);
    drop(&r);
}

/* A dump that cannot be finished leaves nothing, and an old file stays as it was. */
Test(run, dumps_that_fail)
{
    char command[1024];
    write_file("old.bin", "old");
    snprintf(
        command, sizeof command,
        "cd %s && (trap '' XFSZ; ulimit -f 1; '%s' run k.ptx --kernel twice --arg 'buf:u32[100000]' "
        "--arg 0 --arg 0 --dump 1=old.bin >/dev/null 2>&1)",
        folder, program);
    int status = system(command);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2, "status %d", status);
    file_is("old.bin", "old", 3);
    struct result r = run("--help >/dev/null; ls");
    cr_expect_str_eq(r.out, "bad.ptx\nerr\nfour.bin\nk.ptx\nold.bin\nout\n");
    drop(&r);
}

/* ---- patterns and numbers ------------------------------------------------------------------------ */

/* What buffers are filled with, by the bytes. */
Test(run, patterns_by_type)
{
    static const struct {
        const char *buffer;
        unsigned char bytes[16];
        size_t size;
    } rows[] = {
        {"u8[]=list(0, 255, -128)", {0, 255, 128}, 3},
        {"s16[]=list(-1,32767)", {255, 255, 255, 127}, 4},
        {"f16[]=list(1, -2.5, 65504, 65519.9)", {0, 0x3c, 0, 0xc1, 0xff, 0x7b, 0xff, 0x7b}, 8},
        {"f16[]=list(5.9604644775390625e-08, 2.98e-8, 2.99e-8, inf)",
         {1, 0, 0, 0, 1, 0, 0, 0x7c},
         8},
        {"f16[]=list(1.00048828125, 1.00146484375, nan)", {0, 0x3c, 2, 0x3c, 0, 0x7e}, 6},
        {"bf16[]=list(1, 3.140625, -0.0)", {0x80, 0x3f, 0x49, 0x40, 0, 0x80}, 6},
        {"f32[]=list(0.1, 1e-45, -inf)",
         {0xcd, 0xcc, 0xcc, 0x3d, 1, 0, 0, 0, 0, 0, 0x80, 0xff},
         12},
        {"f64[]=list(0.1)", {0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}, 8},
        {"f32[2]=iota(1.5,-0.5)", {0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0x3f}, 8},
        {"u8[4]=iota(254)", {254, 255, 0, 1}, 4},
        {"s16[2]=const(-2)", {254, 255, 254, 255}, 4},
        /* splitmix64 from 1234567, as its author's C code gives it */
        {"u64[2]=random(1234567)",
         {0x85, 0xfc, 0x08, 0xfb, 0x17, 0xd0, 0x9e, 0x59, 0xa5, 0x0f, 0x54, 0x58, 0x84, 0xf0, 0x73,
          0x2c},
         16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char args[512];
        snprintf(args, sizeof args,
                 "k.ptx --kernel twice --arg 'b=buf:%s' --arg 0 --arg 0 --dump b=b.bin",
                 rows[i].buffer);
        struct result r = run(args);
        cr_expect(r.status == 0, "%s: %s", rows[i].buffer, r.err);
        if (r.status == 0 && rows[i].size) file_is("b.bin", rows[i].bytes, rows[i].size);
        drop(&r);
    }
}

Test(run, numbers_that_do_not_fit)
{
    static const char *const rows[] = {"u8[]=list(256)",   "s8[]=list(-129)",   "f16[]=list(65520)",
                                       "f32[]=list(1e39)", "f64[]=list(1e309)", "u32[]=list(010x)",
                                       "u32[]=list(0x)",   "u32[]=list(-)",     "f32[]=list(1.5f)",
                                       "f32[]=list(.)"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char args[256];
        snprintf(args, sizeof args, "k.ptx --kernel twice --arg 'b=buf:%s' --arg 0 --arg 0",
                 rows[i]);
        struct result r = run(args);
        cr_expect(r.status == 2 && strstr(r.err, "' is not a valid "), "%s: %d %s", rows[i],
                  r.status, r.err);
        drop(&r);
    }
}

/* A number in [0, 1), every type below 1 however it is rounded. */
Test(run, random_floats)
{
    struct result r = run(
        "k.ptx --kernel twice --arg 'b=buf:f32[100000]=random(3)' --arg 0 --arg 0 "
        "--dump b=b.bin");
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/b.bin", folder);
    float *x = (float *)(void *)read_file(path, &n);
    double sum = 0;
    cr_assert(n == 400000);
    for (size_t i = 0; i < 100000; i++) {
        cr_assert(x[i] >= 0 && x[i] < 1);
        sum += (double)x[i];
    }
    cr_expect(fabs(sum / 100000 - 0.5) < 0.01, "mean %g", sum / 100000);
    free(x);
    drop(&r);
}

/* Comparisons of floating point, with tolerances at their edge. */
static const struct {
    const char *got, *want, *tolerance;
    bool same;
} comparisons[] = {
    {"f32:1", "1", "", true},
    {"f32:0", "-0.0", "", false},
    {"f32:0", "-0.0", "abs=0", true},
    {"f32:nan", "nan", "", true},
    {"f32:nan", "1", "abs=inf", false},
    {"f32:1", "nan", "abs=inf", false},
    {"f32:1", "1.0000001", "", false},
    {"f32:1", "1.0000001", "ulp=1", true},
    {"f32:1", "1.0000002", "ulp=1", false},
    {"f32:1", "1.0000002", "ulp=2", true},
    {"f32:1e-45", "-1e-45", "ulp=1", false},
    {"f32:1e-45", "-1e-45", "ulp=2", true},
    {"f32:1.5", "1", "abs=0.5", true},
    {"f32:1.5", "1", "abs=0.4999", false},
    {"f32:15", "10", "rel=0.5", true},
    {"f32:10", "15", "rel=0.33", false},
    {"f32:inf", "inf", "", true},
    {"f32:inf", "1e38", "rel=1,abs=1e38", false},
    {"f32:1", "inf", "rel=1", false},
    {"f16:1", "1.0009765625", "ulp=1", true},
    {"f64:1", "1.0000000000000002", "ulp=1", true},
    {"f64:-1", "1", "ulp=18446744073709551615", true},
    {"s32:-2147483648", "2147483647", "abs=4294967294", false},
    {"s32:-2147483648", "2147483647", "abs=4294967295", true},
    {"u64:18446744073709551615", "0", "ulp=18446744073709551614", false},
    {"s8:-3", "-4", "rel=0.25", true},
};

Test(run, tolerances)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        char args[512], type[8];
        snprintf(type, sizeof type, "%.*s", (int)strcspn(comparisons[i].got, ":"),
                 comparisons[i].got);
        snprintf(
            args, sizeof args,
            "k.ptx --kernel twice --arg 'b=buf:%s[]=list(%s)' --arg 0 --arg 0 --expect 'b=const(%s)' %s%s",
            type, strchr(comparisons[i].got, ':') + 1, comparisons[i].want,
            *comparisons[i].tolerance ? "--tolerance " : "", comparisons[i].tolerance);
        struct result r = run(args);
        cr_expect(r.status == (comparisons[i].same ? 0 : 4), "%s: %d %s", args, r.status, r.err);
        drop(&r);
    }
}

/* Larger than the pieces that are moved at a time. */
Test(run, large_buffers)
{
    struct result r = run(
        "k.ptx --kernel twice --grid 400 --block 1024 --arg 'x=buf:u32[400000]=iota' "
        "--arg 'y=buf:u32[400000]=const(7)' --arg 399999 --expect 'y=iota(1,2)'");
    cr_expect(r.status == 4 &&
                  strstr(r.err, "y: 1 of 400000 elements is not as expected\n"
                                "  y[399999] is 7, expected 799999 (difference -799992)\n"),
              "%s", r.err);
    drop(&r);
}

/* ---- job files ---------------------------------------------------------------------------------- */

/* What stands between ``` marks of a language in a document. */
static char *block_of(const char *document, const char *mark)
{
    size_t n;
    char *text = read_file(document, &n), *from = strstr(text, mark);
    cr_assert(from, "%s has no %s", document, mark);
    from += strlen(mark);
    char *to = strstr(from, "```");
    cr_assert(to);
    char *block = strndup(from, (size_t)(to - from));
    free(text);
    return block;
}

/* The example of the documentation does what it says there. */
Test(run, the_documented_job)
{
    char *ptx = block_of("docs/job-files.md", "```ptx\n"),
         *job = block_of("docs/job-files.md", "```yaml\n");
    write_file("halve.ptx", ptx);
    write_file("job.yaml", job);
    struct result r = run("job.yaml");
    cr_expect(r.status == 0 && !*r.err, "%s", r.err);
    cr_expect(strstr(r.out, "halve: 10 launches of 4x1x1 CTAs of 256x1x1 threads, "), "%s", r.out);
    cr_expect(
        strstr(r.out, "  numbers: 1 1 1 1 1 1 1 1 ...\n  before: 1 2 3 4 5 6 7 8 ...\n  flag: 0\n"),
        "%s", r.out);
    cr_expect(strstr(r.out, "3 of 3 expectations met\n"), "%s", r.out);
    drop(&r);
    uint32_t ones[1000];
    for (size_t i = 0; i < 1000; i++) ones[i] = 1;
    file_is("ones.bin", ones, sizeof ones);
    free(ptx);
    free(job);
}

#define HEAD "heddle: 1\nmodules: k.ptx\n"
#define XY "buffers: {x: {type: u32, count: 4, fill: iota}, y: {type: u32, count: 4}}\n"
#define TWICE_XY "{launch: twice, block: 32, args: [x, y, 4]}"

/* Jobs, what they print and report. */
static const struct {
    const char *text;
    int status;
    const char *out, *err; /* parts; "": nothing comes; NULL: anything */
} jobs[] = {
    {HEAD "steps: []\n", 0, "digest", ""},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: 'iota(1,2)', x: [0, 1, 2, 3]}\n", 0, "2 of 2", ""},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: {is: [1, 3, 6, 8], tolerance: {abs: 1}}}\n", 0,
     "1 of 1", ""},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: {is: [1, 3, 6, 9], tolerance: {abs: 1}}}\n", 4,
     "0 of 1", "y: 1 of 4 elements is not as expected\n  y[3] is 7, expected 9 (difference -2)\n"},
    {HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: file(four.bin)}\n", 0, "1 of 1", ""},
    {HEAD XY "steps: []\nexpect: {x: {digest: 0x30d77e22c5da0365}}\n", 0, "1 of 1", ""},
    {HEAD XY "steps: []\nexpect: {x: {digest: 7}}\n", 4, NULL,
     "x: digest is 0x30d77e22c5da0365, expected 0x00"},
    {HEAD XY "steps:\n- repeat: 2\n  steps:\n  - " TWICE_XY
             "\n  - {copy: y, to: x}\nexpect: {x: 'iota(3,4)'}\n",
     0, "twice: 2 launches", ""},
    {HEAD XY "steps:\n- {set: y, at: 1, fill: [7, 8]}\n- {set: x, at: 3, fill: const(5)}\n"
             "- {set: x, count: 2, fill: random(1)}\n- {set: x, count: 2, fill: zero}\n"
             "expect: {y: [0, 7, 8, 0], x: [0, 0, 2, 5]}\n",
     0, "2 of 2", ""},
    {HEAD
     "buffers: {o: {type: u32, variable: offset, fill: [10]}, x: {type: u32, fill: [1]}, y: {type: u32, count: 1}}\n"
     "steps: [{launch: twice, args: [x, y, 1]}]\nexpect: {y: [12]}\n",
     0, "1 of 1", ""},
    {HEAD "buffers: {o: {type: u8, variable: offset}}\nsteps: []\nexpect: {o: [1, 0, 0, 0]}\n", 0,
     "1 of 1", ""},
    {HEAD
     "buffers: {f: {type: u32, fill: [5]}}\nsteps:\n- repeat: 9\n  until: {buffer: f, equals: 2}\n"
     "  steps: [{launch: count_down, args: [f]}]\nexpect: {f: [2]}\n",
     0, "count_down: 3 launches", ""},
    {HEAD
     "buffers: {f: {type: u32, fill: [5]}}\nsteps:\n- repeat: 2\n  until: {buffer: f, equals: 2}\n"
     "  steps: [{launch: count_down, args: [f]}]\n",
     5, NULL,
     "job.yaml:5:11: error: 'f' did not get the value that ends this loop within 2 iterations\n    5 | - repeat: 2\n"},
    {HEAD
     "buffers: {f: {type: u32, fill: [5]}}\nsteps:\n- repeat: 2\n  until: {buffer: f, index: 1, equals: 2}\n"
     "  steps: []\n",
     1, NULL, "there is no element 1 in 'f', which has 1"},
    {HEAD "steps:\n- repeat: 4000000000\n  steps: [{repeat: 4000000000, steps: []}]\n", 5, NULL,
     "a job ends after 10000000 steps"},
    {HEAD "options: {max-instructions: 1000}\nsteps:\n- launch: spin\n", 5, "",
     "job.yaml:5:11: note: launched here\n    5 | - launch: spin\n      |           ^~~~\n"},
    {HEAD
     "options: {check: [init, sync], divergence: its, threads: 2, timeout: 60, memory: 64M}\nsteps: []\n",
     0, NULL, ""},
    {HEAD "buffers: {x: {type: u32, count: 3}, y: {type: u32, count: 4}}\nsteps: [" TWICE_XY
          "]\nexpect: {y: zero}\n",
     3, "", "0 bytes behind the end of 'x'"},
    {"heddle: 1\nmodules: [k.ptx, k2.ptx]\nsteps: [{launch: other}]\n", 0, "other: 1x1x1", ""},

    {"", 1, "", "job.yaml:1:1: error: there is nothing in this file"},
    {"[1", 1, "", "error: no YAML"},
    {"%he=~\xd1", 1, "", "job.yaml:1:1: error: job files have no directives"},
    {"a: b\n%x\n", 1, "", "job.yaml:2:1: error: job files have no directives"},
    {"heddle: 1 # \xc3\xa4 \xe2\x82\xac\nmodules: k.ptx\nsteps: []\n", 0, NULL, ""},
    {"heddle: 1 # \xed\xa0\x80\n", 1, "", "job.yaml:1:13: error: this is no UTF-8"},
    {"heddle: \x01\n", 1, "", "job.yaml:1:9: error: a control character"},
    {"- 1\n", 1, "", "a job is a map, not a list"},
    {"heddle: 2\nmodules: k.ptx\nsteps: []\n", 1, "",
     "job.yaml:1:9: error: this heddle reads job files of version 1"},
    {"modules: k.ptx\nsteps: []\n", 1, "", "a job has no 'heddle'"},
    {HEAD "step: []\n", 1, "",
     "job.yaml:3:1: error: a job has no key 'step'\n    3 | step: []\n      | ^~~~\n"
     "job.yaml:3:1: note: did you mean 'steps'?"},
    {HEAD "steps: []\nsteps: []\n", 1, "", "'steps' is here twice"},
    {HEAD "steps: []\n---\nsteps: []\n", 1, "", "a job file is one"},
    {HEAD "steps: {}\n", 1, "", "steps is a list, not a map"},
    {HEAD "steps: &a [*a]\n", 1, "", "no anchors and aliases"},
    {HEAD "steps: !x []\n", 1, "", "no tags"},
    {HEAD "? [a]\n: 1\nsteps: []\n", 1, "", "a key is a word"},
    {HEAD "steps: [{lunch: twice}]\n", 1, "", "did you mean 'launch'?"},
    {HEAD "steps: [{}]\n", 1, "", "a step is a launch, set, copy or repeat"},
    {HEAD "steps: [3]\n", 1, "", "a step is a map, not a single value"},
    {HEAD "steps: [{launch: twice, repeat: 3}]\n", 1, "", "a launch has no key 'repeat'"},
    {HEAD "steps: [{launch: [twice]}]\n", 1, "", "launch is a single value, not a list"},
    {HEAD "steps: [{repeat: 3}]\n", 1, "", "a loop has no 'steps'"},
    {HEAD "steps: [{repeat: -3, steps: []}]\n", 1, "", "repeat wants a number from 0"},
    {HEAD "steps: [{launch: limited, shared: 4x}]\n", 1, "", "shared wants a number"},
    {HEAD "steps: [{launch: limited, grid: [1, a]}]\n", 1, "", "a size wants a number"},
    {HEAD "steps: [{launch: limited, grid: {x: 1}}]\n", 1, "",
     "a size is X or a list of up to three"},
    {HEAD "steps: [{launch: limited, cooperative: yes}]\n", 1, "",
     "cooperative is true or false, not 'yes'"},
    {HEAD "steps: [{launch: limited, block: 65}]\n", 3, "", "impossible launch"},
    {HEAD "steps: [{launch: limitd}]\n", 1, "", "did you mean 'limited'?"},
    {HEAD "steps: [{launch: limited, args: [1]}]\n", 1, "",
     "kernel 'limited' takes 0 arguments, not 1"},
    {HEAD "steps: [{launch: limited, args: [z]}]\n", 1, "", "there is no buffer 'z'"},
    {HEAD "steps: [{launch: bytes, args: [256, 1]}]\n", 1, "",
     "job.yaml:3:32: error: '256' does not fit parameter 1"},
    {HEAD "steps: [{copy: x, to: y}]\n", 1, "", "there is no buffer 'x'"},
    {HEAD
     "buffers: {x: {type: u32, count: 2}, y: {type: u64, count: 2}}\nsteps: [{copy: x, to: y}]\n",
     1, NULL, "'x' has 8 bytes, 'y' has 16: a copy needs equal sizes"},
    {HEAD "buffers: {x: {type: u32, fill: file(four.bin)}}\nsteps: [{set: x, at: 4, fill: zero}]\n",
     1, NULL, "are not in 'x', which has 4"},
    {HEAD XY "steps: [{set: x, at: 3, fill: [1, 2]}]\n", 1, NULL,
     "elements 3 to 4 are not in 'x', which has 4"},
    {HEAD XY "steps: [{set: x, at: 4, fill: zero}]\n", 1, NULL, "are not in 'x'"},
    {HEAD XY "steps: [{set: x, at: 1, count: 18446744073709551615, fill: zero}]\n", 1, "",
     "count wants a number"},
    {HEAD XY "steps: [{set: x, fill: []}]\n", 1, NULL, "the list has 0 elements"},
    {HEAD "buffers: {x: {count: 4}}\nsteps: []\n", 1, "", "a buffer has no 'type'"},
    {HEAD "buffers: {x: {type: q32, count: 4}}\nsteps: []\n", 1, "", "'q32' is not a type"},
    {HEAD "buffers: {x: {type: u32}}\nsteps: []\n", 1, "",
     "the number of elements is missing: 'x' does not determine it"},
    {HEAD "buffers: {x: {type: u32, count: 0}}\nsteps: []\n", 1, "", "count is at least 1"},
    {HEAD "buffers: {x: {type: u32, count: 4, fill: iota(}}\nsteps: []\n", 1, "",
     "parenthesis of 'iota' is not closed"},
    {HEAD "buffers: {x: {type: u32, count: 4, fill: [1, 2]}}\nsteps: []\n", 1, "",
     "the list has 2 elements, the buffer 4"},
    {HEAD "buffers: {x: {type: u32, fill: [1, b]}}\nsteps: []\n", 1, "",
     "job.yaml:3:36: error: 'b' is not a valid u32"},
    {HEAD "buffers: {x: {type: u32, fill: file(none)}}\nsteps: []\n", 2, "",
     "the file is empty, or not there"},
    {HEAD "buffers: {x: {type: u32, variable: none}}\nsteps: []\n", 1, "",
     "no module has a variable 'none'"},
    {HEAD "buffers: {x: {type: u64, variable: offset}}\nsteps: []\n", 1, "",
     "the variable 'offset' has 4 bytes"},
    {HEAD "buffers: {x: {type: u64, count: 1000000000000000}}\nsteps: []\n", 2, "",
     "out of device memory"},
    {HEAD XY "steps: []\nexpect: {z: zero}\n", 1, "", "there is no buffer 'z'"},
    {HEAD XY "steps: []\nexpect: {x: {tolerance: {abs: 1}}}\n", 1, "",
     "an expectation has either 'is'"},
    {HEAD XY "steps: []\nexpect: {x: {is: zero, digest: 1}}\n", 1, "",
     "an expectation has either 'is'"},
    {HEAD XY "steps: []\nexpect: {x: {is: zero, tolerance: {abs: -1}}}\n", 1, "",
     "abs wants a number of at least 0"},
    {HEAD XY "steps: []\nexpect: {x: {is: zero, tolerance: {apps: 1}}}\n", 1, "",
     "a tolerance is abs, rel or ulp"},
    {HEAD XY "steps: []\ndump: {x: none/x}\n", 2, NULL,
     "job.yaml:5:11: error: cannot write 'none/x'"},
    {HEAD "options: {chek: init}\nsteps: []\n", 1, "", "did you mean 'check'?"},
    {HEAD "options: {check: most}\nsteps: []\n", 1, "",
     "check takes memory, init, sync, bounds, race, atomicity, api and all (the first four), not 'most'"},
    {"heddle: 1\nmodules: none.ptx\nsteps: []\n", 2, "", "none.ptx: error: cannot read"},
    {"heddle: 1\nmodules: bad.ptx\nsteps: []\n", 1, "", "bad.ptx:6:2"},
    {"heddle: 1\nmodules: []\nsteps: []\n", 1, "", "there are no modules"},
    {"heddle: 1\nmodules: [k.ptx, k.ptx]\nsteps: []\n", 1, "", "defined already"},
};

Test(run, jobs)
{
    write_file("k2.ptx",
               ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry other() { ret; }\n");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        write_file("job.yaml", jobs[i].text);
        struct result r = run("job.yaml");
        cr_expect(r.status == jobs[i].status, "%s: exit status %d, not %d\n%s%s", jobs[i].text,
                  r.status, jobs[i].status, r.out, r.err);
        cr_expect(fits(r.out, jobs[i].out), "%s: prints\n%s", jobs[i].text, r.out);
        cr_expect(fits(r.err, jobs[i].err), "%s: reports\n%s", jobs[i].text, r.err);
        drop(&r);
    }
}

/* Job files go with options that add to them, and the command line wins. */
static const struct call job_calls[] = {
    {"job.yml", 5, "", "1000"},
    {"job.yml --max-instructions 2000", 5, "", "2000"},
    {"./job.yml --max-instructions=2000", 5, "", "2000"},
    {"good.yaml --expect 'y=list(1,3,5,7)'", 0, "2 of 2", ""},
    {"good.yaml --expect 'y=list(1,3,5,8)'", 4, "1 of 2", "y[3] is 7, expected 8"},
    {"good.yaml --expect 'y=list(1,3,5)'", 2, NULL,
     "command line:1:33: error: the list has 3 elements, the buffer 4\n    1 | heddle run good.yaml --expect y="},
    {"good.yaml --expect z=zero", 2, "", "command line:1:31: error: there is no buffer 'z'"},
    {"good.yaml --dump y=none/y", 2, NULL, "command line:1:29: error: cannot write 'none/y'"},
    {"good.yaml --dump y=/dev/stdout --quiet | od -An -tu4", 0,
     "1          3          5          7", ""},
    {"good.yaml --grid 3", 2, "", "--grid cannot be used with a job file"},
    {"none.yaml", 2, "", "none.yaml: error: cannot read: No such file"},
    {"folder.yaml", 2, "", "cannot read: Is a directory"},
    {"folder.yaml/good.yaml", 0, "1 of 1", ""},
};

Test(run, job_files_and_options)
{
    char command[256];
    write_file("job.yml", HEAD "options: {max-instructions: 1000}\nsteps: [{launch: spin}]\n");
    write_file("good.yaml", HEAD XY "steps: [" TWICE_XY "]\nexpect: {y: 'iota(1,2)'}\n");
    snprintf(command, sizeof command,
             "mkdir %s/folder.yaml && cp %s/good.yaml %s/k.ptx %s/folder.yaml", folder, folder,
             folder, folder);
    cr_assert(system(command) == 0);
    CHECK_CALLS(job_calls);
}

/* Whatever a job file holds, it is read or refused. */
Test(run, mangled_jobs)
{
    static const char good[] = HEAD XY
        "steps:\n- repeat: 2\n  until: {buffer: x, equals: 1}\n  steps:\n"
        "  - " TWICE_XY "\nexpect: {y: {is: \"iota(1,2)\", tolerance: {abs: 1}}}\n";
    static const char marks[] = "{}[],:-#&*!|>'\"%@`?\n \t\\\0\xff";
    uint64_t seed = 1;
    for (int i = 0; i < 300; i += THINNED) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int k = 0; k < 1 + i % 3; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            text[(seed >> 33) % (sizeof good - 1)] = marks[(seed >> 20) % (sizeof marks - 1)];
        }
        write_bytes("job.yaml", text, sizeof good - 1);
        struct result r = run("job.yaml --timeout 5");
        cr_expect(r.status >= 0 && r.status <= 5, "status %d of\n%s\n%s", r.status, text, r.err);
        cr_expect(r.status == 0 || *r.err, "nothing is said of\n%s", text);
        drop(&r);
    }
}

/* ---- data distribution -------------------------------------------------------------------------- */

/* 8 CTAs copy 4 sectors each from x to y; CTA c is beside partition c modulo 4. x is in partition 1: local to CTAs 1 and 5, 8
 * sectors. Of y, 16 sectors are in partition 2: local to CTA 2 of 0 to 3; 8, the third of 4 equal parts of the whole, too (CTAs 4 and 5);
 * 8 are in partition 0 (CTAs 6 and 7). So 12 of 64. Sectors by link of the mesh 0 1 / 2 3, rows first, are for 0-1: 8 (x) and 8 (y, 1 to
 * 2); 1-3: 16 (x); 2-3: 8 (x), 4 and 4 (y); 0-2: 8, 8, 4, 4 (y). */
Test(run, memory_maps_from_a_file)
{
    write_file(
        "copy.ptx",
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry copy(.param .u64 x, .param .u64 y)\n{\n"
        ".reg .b32 %r<5>; .reg .b64 %d<5>;\nld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %ctaid.x;\n"
        "mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3;\n"
        "add.u64 %d2, %d2, %d3; ld.global.u32 %r3, [%d1]; st.global.u32 [%d2], %r3; ret;\n}\n");
    write_file(
        "copy.yaml",
        "heddle: 1\nmodules: [copy.ptx]\nbuffers:\n  x: {type: u32, count: 256}\n  y: {type: u32, count: 256}\n"
        "steps:\n  - {launch: copy, grid: 8, block: 32, args: [x, y]}\n");
#define COPY "copy.yaml --distribute round-robin --memory-map "
    write_file(
        "map.yaml",
        "default: interleave:32\nallocations:\n  x: 1\n  y: {0-511: 2, 512-767: block, 768-1023: 0}\n");
    struct result r = run(COPY "map.yaml --topology mesh");
    cr_expect(strstr(r.out, "map.yaml, CTAs round-robin: 12 sectors local, 52 remote (81.25 %)"),
              "%s%s", r.out, r.err);
    cr_expect(strstr(r.out, "4 links carry 2304 bytes; most, 768, the link 0-2"), "%s", r.out);
    drop(&r);
    write_file("map.yaml", "default: block\nallocations: {z: 1}\n");
    r = run(COPY "map.yaml");
    cr_expect(strstr(r.out, "no launch accesses an allocation called 'z'"), "%s", r.out);
    drop(&r);
    static const struct {
        const char *map, *why;
    } wrong[] = {
        {"default: block\nallocations:\n  y: {0-511: 2, 480-1023: 3}\n",
         "map.yaml:3:17: error: the bytes overlap with 0-511 of 'y'"},
        {"default: block\nallocations: {x: 4}\n", "a number from 0 to 3, not '4'"},
        {"default: block\nallocations: {x: {3-31: 1}}\n", "begin and end with a sector"},
        {"default: block\nallocations: {x: {-1-31: 1}}\n", "FROM-TO"},
        {"default: block\nallocations: {x: {32-0: 1}}\n", "FROM-TO"},
        {"default: block\nallocations: {x: blocks}\n", "or the number of a partition"},
        {"default: block\nallocations: {x: [1]}\n", "an allocation has a partition"},
        {"default: 1\n", "a memory map is interleave:BYTES"},
        {"allocations: {x: 1}\n", "'default' says where all other bytes are"},
        {"default: block\nother: 1\n", "has the keys 'default', a map, and 'allocations'"},
        {"default: [\n", "no YAML"},
        {"- 1\n", "has the keys 'default' and 'allocations'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file("map.yaml", wrong[i].map);
        r = run(COPY "map.yaml");
        cr_expect(r.status == 2 && strstr(r.err, wrong[i].why), "%s%s", wrong[i].map, r.err);
        drop(&r);
    }
    r = run(COPY "none.yaml");
    cr_expect(r.status == 2 && strstr(r.err, "cannot read 'none.yaml'"), "%s", r.err);
    drop(&r);
}

/* ---- workloads ---------------------------------------------------------------------------------- */

static const struct call suite_calls[] = {
    {"suite:saxpy", 0, "saxpy (small): passed", ""},
    {"suite:saxpy:small --threads 1 --data-seed 3 --quiet", 0, "", ""},
    {"suite:", 2, "", "there is no workload '' ('heddle suite list' names them)"},
    {"suite:saxpie", 2, "", "did you mean 'saxpy'?"},
    {"suite:saxpy:huge", 2, "", "a workload is small, medium or large, not 'huge'"},
    {"suite:saxpy --grid 3", 2, "", "--grid cannot be used with a workload"},
    {"suite:saxpy --data-seed x", 2, "", "--data-seed wants a number"},
    {"suite:saxpy --memory-map block", 0,
     "4 partitions, block, CTAs nearest: 196608 sectors local, 0 remote (0.00 %)", ""},
    {"suite:saxpy --memory-map interleave:256 --format=json", 0, "\"remote_sectors\": 147456", ""},
    {"suite:saxpy --memory-map interleave:128 --partitions 8 --distribute round-robin", 0,
     "24576 sectors local, 172032 remote (87.50 %)", ""},
    {"suite:saxpy --memory-map blocks", 2, "",
     "a memory map is interleave:BYTES, block or blockcyclic:BYTES"},
    {"suite:saxpy --memory-map block --partitions 0", 2, "", "at least one partition"},
    {"suite:saxpy --memory-map block --partitions 1000000", 2, "", "a number from 0 to 1024"},
    {"suite:saxpy --memory-map block --distribute far", 2, "", "nearest or round-robin"},
    {"suite:saxpy --distribute nearest", 2, "", "it needs --memory-map"},
    {"suite:saxpy --order random:strategy=lag --seed 7", 0, "saxpy (small): passed", ""},
    {"suite:saxpy --seed 7", 2, "", "or do you mean --data-seed"},
    {"suite:saxpy --graph none", 2, "", "'saxpy' takes no graph"},
    {"suite:bfs_fixed --graph none", 2, "", "cannot read 'none': No such file or directory"},
    {"suite:saxpy --max-instructions 10", 5, "", "limit"},
    {"suite:saxpy --memory 1K", 4, NULL, "cuMemAlloc"},
};

Test(run, workloads)
{
    CHECK_CALLS(suite_calls);
}

/* ---- progress ----------------------------------------------------------------------------------- */

/* On a terminal a long run says how far it is, and wipes that away; elsewhere it says nothing. */
Test(run, progress)
{
    static const char args[] = "k.ptx --kernel spin --timeout 2";
    struct result r = run(args);
    cr_expect(r.status == 5 && !strstr(r.err, "million/s"), "%s", r.err);
    drop(&r);

    char path[128], text[1 << 14];
    int terminal;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/k.ptx", folder);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    cr_assert(child >= 0);
    if (child == 0) {
        execl(program, program, "run", path, "--kernel", "spin", "--timeout", "2", (char *)NULL);
        _exit(127);
    }
    for (ssize_t k; n < sizeof text - 1 && (k = read(terminal, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)k;
    text[n] = '\0';
    waitpid(child, NULL, 0);
    char *line = strstr(text, " million/s"), *wiped = line ? strstr(line, "\r\033[K") : NULL;
    cr_expect(line && strstr(text, " million warp instructions, ") < line, "%s", text);
    cr_expect(wiped && strstr(wiped, "of kernel 'spin'"), "%s", text);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static json_t *run_json(const char *args, int status)
{
    struct result r = run(args);
    json_error_t error;
    cr_expect(r.status == status, "heddle run %s: exit status %d", args, r.status);
    json_t *j = json_loads(r.out, 0, &error);
    cr_assert(j, "heddle run %s: line %d: %s\n%s", args, error.line, error.text, r.out);
    cr_expect(json_integer_value(json_object_get(j, "exit_status")) == status);
    drop(&r);
    return j;
}

/* The keys of an object in their order. */
static void keys_are(const char *what, json_t *o, const char *want)
{
    char got[512] = "";
    const char *key;
    json_t *v;
    json_object_foreach(o, key, v)
        snprintf(got + strlen(got), sizeof got - strlen(got), " %s", key);
    cr_expect_str_eq(*got ? got + 1 : got, want, "%s", what);
}

static json_t *element(json_t *o, const char *list, size_t i)
{
    return json_array_get(json_object_get(o, list), i);
}

Test(run, json)
{
    json_t *j = run_json(
        "k.ptx --kernel twice --block 32 --arg x=buf:u32[4]=iota --arg y=buf:u32[4] --arg 4 "
        "--expect 'y=list(1,3,6,7)' --format=json",
        4);
    keys_are("document", j,
             "version target status exit_status launches fault buffers expectations memory_digest "
             "read_back_digest note printed messages time");
    keys_are("target", json_object_get(j, "target"), "kind name");
    keys_are(
        "launch", element(j, "launches", 0),
        "kernel grid block cluster shared launches warp_instructions thread_instructions execution "
        "findings suppressed");
    keys_are("buffer", element(j, "buffers", 0), "name type count first digest");
    keys_are("expectation", element(j, "expectations", 0), "buffer met compared mismatches first");
    keys_are("mismatch", element(element(j, "expectations", 0), "first", 0),
             "index got expected difference");
    keys_are("time", json_object_get(j, "time"), "seconds kernel_seconds launch_seconds");
    cr_expect(json_integer_value(json_object_get(j, "version")) == 1);
    cr_expect_str_eq(json_string_value(json_object_get(j, "status")), "differs");
    cr_expect_str_eq(json_string_value(json_object_get(element(j, "buffers", 1), "name")), "y");
    cr_expect(json_integer_value(element(element(j, "buffers", 1), "first", 3)) == 7);
    /* FNV-1a of 00000000 01000000 02000000 03000000, by the lines of Python in docs/run-json.md */
    cr_expect_str_eq(json_string_value(json_object_get(element(j, "buffers", 0), "digest")),
                     "0x30d77e22c5da0365");
    json_decref(j);

    j = run_json("k.ptx --kernel spin --max-instructions 1000 --format=json", 5);
    json_t *f = json_object_get(j, "fault");
    keys_are("fault", f, "kind kernel line text");
    cr_expect_str_eq(json_string_value(json_object_get(f, "kernel")), "spin");
    cr_expect_str_eq(json_string_value(json_object_get(j, "status")), "no end");
    json_decref(j);

    j = run_json("k.ptx --kernel=limited --arg 1 --format=json", 2);
    cr_expect_str_eq(json_string_value(json_object_get(j, "status")), "bad call");
    cr_expect(strstr(json_string_value(json_object_get(j, "messages")), "takes 0 arguments"));
    json_decref(j);

    /* what threads append to a queue, in the order in which they come: a seed is an order */
    static const char *const seeds[] = {"append --order random --seed 1",
                                        "append --order random --seed 2",
                                        "append --order random --seed 1"};
    char digest[3][32];
    for (int i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "suite:%s --format=json", seeds[i]);
        j = run_json(arguments, 0);
        snprintf(digest[i], sizeof digest[i], "%s",
                 json_string_value(json_object_get(j, "read_back_digest")));
        json_decref(j);
    }
    cr_expect_str_neq(digest[0], digest[1]);
    cr_expect_str_eq(digest[0], digest[2]);

    j = run_json("suite:reduce_atomic --format=json", 0);
    cr_expect(json_is_string(json_object_get(j, "note")) &&
              json_is_null(json_object_get(j, "memory_digest")));
    /* of the sum of the 2^20 - 5 numbers, by splitmix64 and those lines of Python */
    cr_expect_str_eq(json_string_value(json_object_get(j, "read_back_digest")),
                     "0x43d18b5ff6747315");
    cr_expect(json_integer_value(
                  json_object_get(element(j, "launches", 0), "thread_instructions")) > 1000000);
    json_decref(j);
}

static json_int_t thread_instructions(const char *arguments)
{
    json_t *j = run_json(arguments, 0);
    const json_int_t n = json_integer_value(
        json_object_get(element(j, "launches", 0), "thread_instructions"));
    json_decref(j);
    return n;
}

/* Also of a launch that begins again, as dab's attempts to do without its order do (nbody's first one). */
Test(run, instructions_are_those_of_the_counts)
{
    const json_int_t counted = thread_instructions(
                         "suite:nbody --counts counts.json --format=json"),
                     native = thread_instructions("suite:nbody --format=json"),
                     dab = thread_instructions("suite:nbody --order dab --format=json");
    cr_expect(counted > 5000000 && native == counted && dab == counted, "%lld, %lld, %lld",
              (long long)counted, (long long)native, (long long)dab);
}

/* The only way in which the launches of a run were carried out; 0 if there are several. */
static int executed(const char *arguments, const char *way)
{
    json_t *j = run_json(arguments, 0);
    json_t *o = json_object_get(element(j, "launches", 0), "execution");
    const json_int_t n = json_integer_value(json_object_get(o, way));
    const int only = json_object_size(o) == 1 && n > 0;
    json_decref(j);
    return only;
}

Test(run, says_how_launches_were_carried_out)
{
    cr_expect(executed("suite:saxpy --format=json", "native"));
    cr_expect(executed("suite:saxpy --order gpudet --format=json", "conflict-free"));
    cr_expect(executed("suite:sum_atomic --order dab --format=json", "deferred reductions"));
    cr_expect(executed("suite:saxpy --order gpudet --speculate off --format=json", "ordered"));
    cr_expect(executed("suite:sum_atomic --order dab --speculate=off --format=json", "ordered"));
    cr_expect(executed("suite:saxpy --order gpudet --counts counts.json --format=json", "ordered"));
}

/* Every key of a document is in docs/run-json.md. */
static void documented(json_t *j, const char *text)
{
    const char *key;
    size_t i;
    json_t *v;
    json_object_foreach(j, key, v)
    {
        char mark[64];
        snprintf(mark, sizeof mark, "`%s`", key);
        cr_expect(strstr(text, mark), "docs/run-json.md does not say what %s is", mark);
        documented(v, text);
    }
    json_array_foreach(j, i, v) documented(v, text);
}

Test(run, json_is_documented)
{
    size_t n;
    char *text = read_file("docs/run-json.md", &n);
    json_t *j = run_json(
        TWICE "--arg y=buf:u32[4] --arg 4 --expect y=zero --expect 'y=digest(1)' --format=json", 4);
    documented(j, text);
    json_decref(j);
    j = run_json("k.ptx --kernel spin --max-instructions 9 --format=json", 5);
    documented(j, text);
    json_decref(j);
    j = run_json("suite:saxpy --profile --format=json", 0);
    documented(j, text);
    json_decref(j);
    free(text);
}

/* All but `time` is the same, bytes and all. */
Test(run, json_is_the_same_again)
{
    static const char *const targets[] = {
        "suite:reduce_atomic", "suite:histogram_shared",
        "k.ptx --kernel twice --grid 99 --block 64 --arg buf:u32[9999]=random --arg buf:u32[9999] --arg 9999"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char args[256], *text[2];
        for (int k = 0; k < 2; k++) {
            snprintf(args, sizeof args, "%s --format=json --threads %d", targets[i], k ? 3 : 1);
            json_t *j = run_json(args, 0);
            json_object_del(j, "time");
            text[k] = json_dumps(j, 0);
            json_decref(j);
        }
        cr_expect_str_eq(text[0], text[1], "%s", targets[i]);
        free(text[0]);
        free(text[1]);
    }
}

/* ---- counts ------------------------------------------------------------------------------------- */

static json_t *read_json(const char *name)
{
    char path[128];
    size_t n;
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_file(path, &n);
    json_t *j = json_loads(text, 0, &error);
    cr_assert(j, "%s: line %d: %s", name, error.line, error.text);
    free(text);
    return j;
}

static json_int_t number(json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

Test(run, counts)
{
    struct result r = run("k.ptx --kernel twice --grid 3 --block 64 --arg buf:u32[128]=random "
                          "--arg buf:u32[128] --arg 128 --counts c.json --gpu a100");
    cr_expect(r.status == 0, "%s", r.err);
    drop(&r);
    json_t *j = read_json("c.json"), *l = element(j, "launches", 0), *p = element(l, "phases", 0);
    json_t *c = json_object_get(p, "counts");
    cr_expect_str_eq(json_string_value(json_object_get(j, "schema")), "heddle-counts");
    cr_expect(number(j, "version") == 1 && json_array_size(json_object_get(j, "launches")) == 1);
    cr_expect_str_eq(json_string_value(json_object_get(l, "gpu")), "a100");
    cr_expect(number(l, "sms") == 108 && number(l, "ctas") == 3 && number(l, "waves") == 1);
    cr_expect(number(c, "memory.global.load.sectors") == 128 * 4 / 32 + 4); /* x, and offset */
    cr_expect(number(c, "memory.global.store.bytes") == 128 * 4);
    cr_expect(json_array_size(json_object_get(p, "sms")) == 3);
    json_int_t sum = 0;
    for (size_t i = 0; i < 3; i++) sum += number(element(p, "sms", i), "instructions.warp");
    cr_expect(sum == number(c, "instructions.warp"));
    json_decref(j);
}

/* A file that was there stays as it was if nothing ran; a fault is no reason not to count. */
Test(run, counts_of_launches_that_go_wrong)
{
    write_file("c.json", "old");
    static const struct call calls[] = {
        {"k.ptx --kernel nope --counts c.json", 2, "", "nope"},
        {"k.ptx --kernel twice --counts no/such/file", 2, "", "cannot write 'no/such/file'"},
        {"suite:saxpy --gpu gtx", 2, "", "there is no GPU 'gtx'"},
        {"suite:saxpy --gpu a10", 2, "", "did you mean 'a100'?"},
    };
    CHECK_CALLS(calls);
    file_is("c.json", "old", 3);
    struct result r = run(
        "k.ptx --kernel twice --block 32 --arg buf:u32[4] --arg buf:u32[4] --arg 9 "
        "--counts c.json");
    cr_expect(r.status == 3, "%s", r.err);
    drop(&r);
    json_t *j = read_json("c.json");
    cr_expect(json_array_size(json_object_get(j, "launches")) == 1);
    json_decref(j);
}

/* Any number of host threads writes the same bytes, caches and all. */
Test(run, counts_are_the_same_again)
{
    static const char *const targets[] = {"suite:bfs_fixed", "suite:spmv_vector",
                                          "suite:hash_probe"};
    for (size_t i = SANITIZED ? 2 : 0; i < sizeof targets / sizeof *targets; i++) {
        char args[128], path[128], *text[2];
        size_t n;
        for (int k = 0; k < 2; k++) {
            snprintf(args, sizeof args, "%s --quiet --counts c.json --threads %d", targets[i],
                     k ? 4 : 1);
            struct result r = run(args);
            cr_expect(r.status == 0, "%s: %s", args, r.err);
            drop(&r);
            snprintf(path, sizeof path, "%s/c.json", folder);
            text[k] = read_file(path, &n);
        }
        cr_expect(strcmp(text[0], text[1]) == 0, "%s", targets[i]);
        free(text[0]);
        free(text[1]);
    }
}

Test(run, profile)
{
    static const struct call calls[] = {
        {TWICE "--arg 'buf:u32[4]' --arg 4 --profile", 0, "k.ptx:", ""},
        {"suite:saxpy --profile", 0, "suites/kernels/saxpy.cu:5", ""},
    };
    CHECK_CALLS(calls);
    json_t *j = run_json("suite:bfs_fixed --profile --format=json", 0),
           *lines = json_object_get(j, "profile");
    json_int_t sum = 0, launched = 0, last = INT64_MAX;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        json_int_t n = number(json_array_get(lines, i), "warp_instructions");
        cr_expect(n <= last);
        sum += last = n;
    }
    for (size_t i = 0; i < json_array_size(json_object_get(j, "launches")); i++)
        launched += number(element(j, "launches", i), "warp_instructions");
    cr_expect(sum == launched && sum > 0, "%lld of %lld", (long long)sum, (long long)launched);
    json_decref(j);
}
