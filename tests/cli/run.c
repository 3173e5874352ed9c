/* `heddle run`: kernel files and workloads, good and bad. */
#include "tests/support/run.h"
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

TestSuite(run, .init = run_set_up, .fini = run_tear_down, .timeout = 240);

/* ---- kernel files ------------------------------------------------------------------------------- */

#define WATCHED TWICE "--arg 'y=buf:u32[4]' --arg 4 --threads 1 "
static const struct run_call watch_calls[] = {
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
    struct run_result r = run_heddle(WATCHED "--watch 'y[3]' --format=json");
    json_t *o = json_loads(r.out, 0, NULL), *e = json_array_get(json_object_get(o, "writes"), 0);
    cr_assert_eq(json_array_size(json_object_get(o, "writes")), 1, "%s", r.out);
    cr_expect_str_eq(json_string_value(json_object_get(e, "where")), "y[3]");
    cr_expect_str_eq(json_string_value(json_object_get(e, "kind")), "store");
    cr_expect_eq(json_integer_value(json_object_get(e, "before")), 0);
    cr_expect_eq(json_integer_value(json_object_get(e, "after")), 7);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(e, "thread"), 0)), 3);
    cr_expect_eq(json_integer_value(json_object_get(e, "line")), 17);
    json_decref(o);
    run_drop(&r);
    r = run_heddle("suite:bfs_racy --order random --seed 3 --watch 'cuMemAlloc #6[2048]' --quiet");
    cr_expect(strstr(r.out, "cuMemAlloc #6[2048]: ") && strstr(r.out, ", store by thread (") &&
                  !strstr(r.out, "warp") &&
                  strstr(r.out, "PTX line 104 (suites/kernels/bfs.cu:15)"),
              "%s", r.out);
    run_drop(&r);
}

Test(run, replays_what_was_recorded)
{
#define APPEND "suite:append --format=json "
#define DIGEST(r) strstr((r).out, "read_back_digest")
    struct run_result was = run_heddle(APPEND "--order random --seed 5 --record a.rec"),
                      is = run_heddle(APPEND "--replay a.rec"),
                      other = run_heddle(APPEND "--order random --seed 6");
    cr_assert(was.status == 0 && is.status == 0 && other.status == 0, "%s%s", was.err, is.err);
    cr_expect_eq(strncmp(DIGEST(was), DIGEST(is), 40), 0);
    cr_expect_neq(strncmp(DIGEST(was), DIGEST(other), 40), 0);
    run_drop(&was), run_drop(&is), run_drop(&other);
    static const struct run_call calls[] = {
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

static const struct run_call good_kernel_calls[] = {
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

static const struct run_call bad_kernel_calls[] = {
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

/* The list is too short for the buffer: no expectation is met. */
Test(run, what_cannot_be_compared_meets_nothing)
{
    struct run_result r = run_heddle(TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1)'");
    cr_expect(!strstr(r.out, "met"), "%s", r.out);
    run_drop(&r);
    r = run_heddle(TWICE "--arg 'y=buf:u32[4]' --arg 4 --expect 'y=list(1)' --format json");
    cr_expect(r.status == 2 && strstr(r.out, "\"expectations\": [],"), "%s", r.out);
    run_drop(&r);
}

Test(run, mistakes_are_marked)
{
    struct run_result r = run_heddle("k.ptx --kernel limited --arg f33:1");
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
    run_drop(&r);
}

/* Dumps are whole or not there, and leave nothing beside them. */
Test(run, dumps)
{
    static const uint32_t want[] = {1, 3, 5, 7};
    struct run_result r = run_heddle(
        TWICE "--arg y=buf:u32[4] --arg 4 --dump y=y.bin --dump 2=z --expect y=zero; ls");
    cr_expect(r.status == 0 && strstr(r.out, "y.bin\nz\n"), "%s%s", r.out, r.err);
    run_file_is("y.bin", want, sizeof want); /* results that differ are what one wants to see */
    run_file_is("z", want, sizeof want);
    run_drop(&r);
    r = run_heddle(TWICE "--arg y=buf:u32[3] --arg 4 --dump y=w.bin; ls");
    cr_expect(!strstr(r.out, "w.bin"), "a dump after a fault: %s", r.out);
    run_drop(&r);
}

/* A dump that cannot be finished leaves nothing, and an old file stays as it was. */
Test(run, dumps_that_fail)
{
    char command[1024];
    run_write("old.bin", "old");
    snprintf(
        command, sizeof command,
        "cd %s && (trap '' XFSZ; ulimit -f 1; '%s' run k.ptx --kernel twice --arg 'buf:u32[100000]' "
        "--arg 0 --arg 0 --dump 1=old.bin >/dev/null 2>&1)",
        run_folder, run_program);
    int status = system(command);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2, "status %d", status);
    run_file_is("old.bin", "old", 3);
    struct run_result r = run_heddle("--help >/dev/null; ls");
    cr_expect_str_eq(r.out, "bad.ptx\nerr\nfour.bin\nk.ptx\nold.bin\nout\n");
    run_drop(&r);
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
        struct run_result r = run_heddle(args);
        cr_expect(r.status == 0, "%s: %s", rows[i].buffer, r.err);
        if (r.status == 0 && rows[i].size) run_file_is("b.bin", rows[i].bytes, rows[i].size);
        run_drop(&r);
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
        struct run_result r = run_heddle(args);
        cr_expect(r.status == 2 && strstr(r.err, "' is not a valid "), "%s: %d %s", rows[i],
                  r.status, r.err);
        run_drop(&r);
    }
}

/* A number in [0, 1), every type below 1 however it is rounded. */
Test(run, random_floats)
{
    struct run_result r = run_heddle(
        "k.ptx --kernel twice --arg 'b=buf:f32[100000]=random(3)' --arg 0 --arg 0 "
        "--dump b=b.bin");
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/b.bin", run_folder);
    float *x = (float *)(void *)read_file(path, &n);
    double sum = 0;
    cr_assert(n == 400000);
    for (size_t i = 0; i < 100000; i++) {
        cr_assert(x[i] >= 0 && x[i] < 1);
        sum += (double)x[i];
    }
    cr_expect(fabs(sum / 100000 - 0.5) < 0.01, "mean %g", sum / 100000);
    free(x);
    run_drop(&r);
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
        struct run_result r = run_heddle(args);
        cr_expect(r.status == (comparisons[i].same ? 0 : 4), "%s: %d %s", args, r.status, r.err);
        run_drop(&r);
    }
}

/* Larger than the pieces that are moved at a time. */
Test(run, large_buffers)
{
    struct run_result r = run_heddle(
        "k.ptx --kernel twice --grid 400 --block 1024 --arg 'x=buf:u32[400000]=iota' "
        "--arg 'y=buf:u32[400000]=const(7)' --arg 399999 --expect 'y=iota(1,2)'");
    cr_expect(r.status == 4 &&
                  strstr(r.err, "y: 1 of 400000 elements is not as expected\n"
                                "  y[399999] is 7, expected 799999 (difference -799992)\n"),
              "%s", r.err);
    run_drop(&r);
}

/* ---- workloads ---------------------------------------------------------------------------------- */

static const struct run_call suite_calls[] = {
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
    struct run_result r = run_heddle(args);
    cr_expect(r.status == 5 && !strstr(r.err, "million/s"), "%s", r.err);
    run_drop(&r);

    char path[128], text[1 << 14];
    int terminal;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/k.ptx", run_folder);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    cr_assert(child >= 0);
    if (child == 0) {
        execl(run_program, run_program, "run", path, "--kernel", "spin", "--timeout", "2",
              (char *)NULL);
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
