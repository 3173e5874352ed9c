/* --on-fault=continue: wrong loads give 0 and wrong stores are dropped, under every order and with every check. The expected
 * numbers follow from saxpy, y = a x + y with a = 2, x = 0, 1, 2, ... and y = 1. */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define BEYOND                                                                                     \
    "--grid 4 --block 256 --arg 1024 --arg f32:2 --arg 'x=buf:f32[1000]=iota' "                    \
    "--arg 'y=buf:f32[1000]=const(1)' --expect 'y=iota(1, 2)' "

static const char *const orders[] = {
    "--order native",
    "--order random --seed 3",
    "--order random --seed 4 --speculate off",
    "--order gpudet",
    "--order dab",
    "--check race,init",
    "--order native --threads 2",
    "--order dab --speculate off --check all",
};

/* 24 threads are beyond the buffers: each loads x and y and stores y. */
Test(on_fault, the_other_threads_go_on, .init = program_start_runs, .fini = program_stop)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        cr_expect_eq(sh("cd '%s' && '%s' run suites/ptx/saxpy.ptx " BEYOND "%s --on-fault=continue",
                        here, heddle, orders[i]),
                     3, "%s: %s", orders[i], said.data);
        cr_expect_eq(times("out of bounds: read of 4 bytes at "), 2, "%s: %s", orders[i],
                     said.data);
        cr_expect_eq(times("out of bounds: write of 4 bytes at "), 1, "%s: %s", orders[i],
                     said.data);
        expect_output("1 of 1 expectation met\n");
    }
}

Test(on_fault, otherwise_the_launch_ends, .init = program_start_runs, .fini = program_stop)
{
    cr_expect_eq(
        sh("cd '%s' && '%s' run suites/ptx/saxpy.ptx " BEYOND "--on-fault stop", here, heddle), 3,
        "%s", said.data);
    cr_expect_eq(times("out of bounds: "), 1, "%s", said.data);
    cr_expect_eq(times("expectation met"), 0, "%s", said.data);
    cr_expect_eq(
        sh("cd '%s' && '%s' run suites/ptx/saxpy.ptx " BEYOND "--on-fault=go", here, heddle), 2);
    expect_output("on-fault is stop or continue, not 'go'");
}

/* What is loaded from nowhere is 0, by one load and by a vector of four. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n .shared .align 4 .b8 own[16];\n"
    " .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [out]; mov.u64 %rd2, 16; mov.u32 %r1, 7; mov.u32 %r5, 9;\n"
    " ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;\n"
    " ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2]; st.global.u32 [%rd1+4], %r5;\n"
    " st.shared.u32 [own+200000], %r1; st.global.u32 [%rd1+2], %r1;\n"
    " mov.u32 %r6, 42; st.global.u32 [%rd1+8], %r6; ret;\n}\n";

Test(on_fault, loads_give_zero, .init = program_start_runs, .fini = program_stop)
{
    write_file("k.ptx", ptx, sizeof ptx - 1);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        cr_expect_eq(sh("'%s' run k.ptx --arg 'y=buf:u32[3]=const(5)' --expect 'y=list(0, 0, 42)' "
                        "%s --on-fault=continue",
                        heddle, orders[i]),
                     3, "%s: %s", orders[i], said.data);
        expect_output("1 of 1 expectation met\n");
        cr_expect_eq(times("misaligned: write of 4 bytes"), 1, "%s: %s", orders[i], said.data);
        cr_expect_eq(times("bytes of .shared memory"), 1, "%s: %s", orders[i], said.data);
    }
}

/* As a foreign program with one access out of bounds. */
Test(on_fault, a_launch_is_estimated, .init = program_start_runs, .fini = program_stop)
{
    cr_expect_neq(
        sh("cd '%s' && '%s' estimate suites/ptx/saxpy.ptx " BEYOND "--gpu gv100", here, heddle), 0);
    cr_expect_eq(sh("cd '%s' && '%s' estimate suites/ptx/saxpy.ptx " BEYOND
                    "--gpu gv100 --on-fault=continue",
                    here, heddle),
                 0, "%s", said.data);
    expect_output("wrong loads and stores are estimated as if there were memory\n");
    expect_output("roofline: ");
}
