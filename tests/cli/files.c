/* --files: kernels that use heddle/device_io.h (docs/guide/files.cu). What they leave is compared with cmp and with sets of
 * numbers written down here. */
#define _GNU_SOURCE /* realpath */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* These commands need no CUDA libraries. */
static void start(void)
{
    const char *name = getenv("HEDDLE");
    char path[PATH_MAX];
    program_start();
    cr_assert(realpath(name ? name : "heddle", path) && getcwd(here, sizeof here));
    cr_assert((size_t)snprintf(heddle, sizeof heddle, "%s", path) < sizeof heddle);
}

TestSuite(files_cli, .init = start, .fini = program_stop);

static const char *const orders[] = {
    "--order native",
    "--order native --threads 4 --counts c.json",
    "--order native --check race,init",
    "--order random --seed 3",
    "--order random:model=ptx --seed 5 --divergence its",
    "--order gpudet",
    "--order gpudet --check all",
    "--order dab",
};

/* 1,024 threads copy 65,520 bytes in parts of 64: the last thread's part is short. */
Test(files_cli, threads_copy_a_file)
{
    char bytes[65520];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * i >> 3 ^ i);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        cr_assert_eq(sh("rm -rf box && mkdir box"), 0);
        write_file("box/in", bytes, sizeof bytes);
        cr_expect_eq(
            sh("'%s' run '%s'/docs/guide/files.ptx --kernel copy --grid 4 --block 256 --files box "
               "--arg 'failed=buf:s32[1024]' --expect 'failed=const(0)' %s",
               heddle, here, orders[i]),
            0, "%s: %s", orders[i], said.data);
        cr_expect_eq(sh("cmp box/in box/out"), 0, "%s: %s", orders[i], said.data);
    }
}

/* Under one order with all bytes of `log`, which 64 threads have written. */
static void append(const char *order, unsigned log[64])
{
    cr_assert_eq(
        sh("rm -rf box && mkdir box && '%s' run '%s'/docs/guide/files.ptx --kernel append --grid 2 "
           "--block 32 --files box --arg 'result=buf:s32[64]' --expect 'result=const(4)' %s",
           heddle, here, order),
        0, "%s: %s", order, said.data);
    char path[600];
    snprintf(path, sizeof path, "%s/box/log", folder);
    FILE *f = fopen(path, "rb");
    cr_assert(f);
    cr_expect_eq(fread(log, sizeof *log, 65, f), 64, "%s", order);
    (void)fclose(f);
}

Test(files_cli, appends_come_in_the_order_of_printf)
{
    unsigned log[65];
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        unsigned long long seen = 0;
        append(orders[i], log);
        for (int k = 0; k < 64; k++)
            if (log[k] < 64) seen |= 1ull << log[k];
        cr_expect_eq(~seen, 0, "%s", orders[i]);
    }
    append("--order native", log);
    for (unsigned k = 0; k < 64; k++) cr_expect_eq(log[k], k);
}

#define APPENDS                                                                                    \
    "'%s' check '%s'/docs/guide/files.ptx --kernel append --grid 4 --block 32 --files box "        \
    "--arg 'result=buf:s32[128]' --runs 8 "

/* One result under gpudet; several under random, whose difference is named. The folder stays as it was. */
Test(files_cli, check_compares_what_is_written)
{
    cr_assert_eq(sh("mkdir box"), 0);
    cr_expect_eq(sh(APPENDS "--order gpudet", heddle, here), 0, "%s", said.data);
    expect_output("gpudet       8        1");
    cr_expect_eq(sh(APPENDS "--order random", heddle, here), 6, "%s", said.data);
    expect_output("the files that kernels wrote differ");
    expect_output("the order in which threads write to files");
    cr_expect_eq(sh(APPENDS "--order random --format json", heddle, here), 6);
    expect_output("\"kind\": \"files\"");
    cr_expect_eq(sh("ls box | wc -l | grep -x 0"), 0, "%s", said.data);
    /* Threads that write to places of their own leave one file, in any order of the writes. */
    cr_expect_eq(
        sh("seq 5000 > box/in && '%s' check '%s'/docs/guide/files.ptx --kernel copy --grid 8 --block 32 "
           "--files box --arg 'failed=buf:s32[256]' --order random --runs 8",
           heddle, here),
        0, "%s", said.data);
}

Test(files_cli, warps_read_with_one_call)
{
    unsigned words[64];
    for (unsigned i = 0; i < 64; i++) words[i] = 1000 + i;
    cr_assert_eq(sh("mkdir box"), 0);
    write_file("box/in", (const char *)words, sizeof words);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        cr_expect_eq(
            sh("'%s' run '%s'/docs/guide/files.ptx --kernel reverse --grid 2 --block 32 --files box:ro "
               "--arg 'result=buf:u32[64]' --expect 'result=list(1031,1030,1029,1028,1027,1026,1025,1024,"
               "1023,1022,1021,1020,1019,1018,1017,1016,1015,1014,1013,1012,1011,1010,1009,1008,1007,1006,"
               "1005,1004,1003,1002,1001,1000,1063,1062,1061,1060,1059,1058,1057,1056,1055,1054,1053,1052,"
               "1051,1050,1049,1048,1047,1046,1045,1044,1043,1042,1041,1040,1039,1038,1037,1036,1035,1034,"
               "1033,1032)' %s",
               heddle, here, orders[i]),
            0, "%s: %s", orders[i], said.data);
    }
}

/* Kernels that declare the functions themselves: `file` opens, writes and reads with what the host gives it. */
static const char module[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) __heddle_file_open(.param .b64 n, .param .b32 f);\n"
    ".extern .func (.param .b64 r) __heddle_file_write(.param .b32 h, .param .b64 b, .param .b64 s);\n"
    ".extern .func (.param .b64 r) __heddle_file_pread(.param .b32 h, .param .b64 b, .param .b64 s, .param .b64 o);\n"
    ".visible .entry file(.param .u64 name, .param .u32 flags, .param .u64 from, .param .u64 size, .param .u64 at, "
    ".param .u64 out)\n{\n .reg .b32 %r<4>; .reg .b64 %rd<9>;\n"
    " .param .b64 n; .param .b32 f; .param .b32 h; .param .b64 b; .param .b64 s; .param .b64 o; .param .b64 v;\n"
    " ld.param.u64 %rd1, [name]; ld.param.u32 %r1, [flags]; ld.param.u64 %rd2, [from];\n"
    " ld.param.u64 %rd3, [size]; ld.param.u64 %rd4, [at]; ld.param.u64 %rd5, [out];\n"
    " st.param.b64 [n], %rd1; st.param.b32 [f], %r1; call (h), __heddle_file_open, (n, f);\n"
    " ld.param.b32 %r2, [h]; cvt.s64.s32 %rd6, %r2; st.global.u64 [%rd5], %rd6;\n"
    " st.param.b32 [h], %r2; st.param.b64 [b], %rd2; st.param.b64 [s], %rd3; st.param.b64 [o], %rd4;\n"
    " call (v), __heddle_file_write, (h, b, s); ld.param.b64 %rd7, [v]; st.global.u64 [%rd5+8], %rd7;\n"
    " call (v), __heddle_file_pread, (h, b, s, o); ld.param.b64 %rd7, [v]; st.global.u64 [%rd5+16], %rd7;\n"
    " ret;\n}\n";

static void expect_results(const char *files, const char *name, unsigned flags, const char *from,
                           const char *size, const char *at, const char *results, int status)
{
    cr_expect_eq(sh("'%s' run m.ptx %s --arg '%s' --arg %u --arg '%s' --arg '%s' --arg '%s' "
                    "--arg 'out=buf:s64[3]' --expect 'out=list(%s)'",
                    heddle, files, name, flags, from, size, at, results),
                 status, "%s %s: %s", files, name, said.data);
}

#define LETTERS "b=buf:u8[64]=const(65)"

Test(files_cli, kernels_get_errors_as_results)
{
    write_file("m.ptx", module, sizeof module - 1);
    cr_assert_eq(sh("mkdir -p box/sub && ln -s / box/root && echo secret > secret"), 0);
    static const char up[] = "n=buf:u8[10]=list(46,46,47,115,101,99,114,101,116,0)"; /* ../secret */
    static const char log[] = "n=buf:u8[4]=list(108,111,103,0)";
    static const char root[] = "n=buf:u8[8]=list(114,111,111,116,47,120,0,0)"; /* root/x */
    static const char endless[] = "n=buf:u8[5000]=const(97)";
    /* Without --files there is none; -38 is ENOSYS. */
    expect_results("", log, 6, LETTERS, "4", "0", "-38,-38,-38", 0);
    expect_results("--files box", log, 6, LETTERS, "4", "0", "0,4,4", 0);
    cr_expect_eq(sh("printf AAAA | cmp - box/log"), 0);
    expect_results("--files box", up, 6, LETTERS, "4", "0", "-13,-9,-9", 0);
    expect_results("--files box", root, 6, LETTERS, "4", "0", "-40,-9,-9", 0);
    expect_results("--files box", endless, 6, LETTERS, "4", "0", "-36,-9,-9", 0);
    expect_results("--files box:ro", log, 2, LETTERS, "4", "0", "-30,-9,-9", 0);
    expect_results("--files box:ro", log, 0, LETTERS, "9", "1", "0,-9,3", 0);
    /* 2^63 is a negative offset, and so is what Heddle uses for the position. */
    expect_results("--files box", log, 2, LETTERS, "1", "9223372036854775808", "0,1,-22", 0);
    expect_results("--files box", log, 2, LETTERS, "1", "9223372036854775807", "0,1,-27", 0);
    expect_results("--files box --files-bytes 4K", log, 2, LETTERS, "64", "0", "0,64,64", 0);
    expect_results("--files box --files-bytes 4096", log, 10, LETTERS, "64", "0", "0,64,64", 0);
    cr_expect_eq(sh("'%s' run m.ptx --files-bytes 4K", heddle), 2);
    expect_output("--files-bytes limits what kernels write to files: add --files DIR");
    cr_expect_eq(sh("'%s' check m.ptx --files-bytes 4K", heddle), 2);
    expect_output("--files-bytes limits what kernels write to files: add --files DIR");
    static const char limit[] =
        "heddle: 1\nmodules: m.ptx\noptions: {files-bytes: 4K}\nsteps: []\n";
    write_file("limit.yaml", limit, sizeof limit - 1);
    cr_expect_eq(sh("'%s' run limit.yaml", heddle), 1);
    expect_output("limit.yaml:3:11: error: files-bytes limits what kernels write");
    cr_expect_eq(sh("'%s' run limit.yaml --files box", heddle), 0);
    /* A buffer that is not in memory is a fault of the kernel, as any access. */
    expect_results("--files box", log, 2, "12345", "4", "0", "0,0,0", 3);
    expect_output("out of bounds: read of 1 bytes at 0x3039");
    expect_results("--files box", log, 2, LETTERS, "18446744073709551615", "0", "0,0,0", 3);
    expect_output("out of bounds: read of ");
    expect_results("--files box", "7", 2, LETTERS, "4", "0", "0,0,0", 3);
    cr_expect_eq(sh("cat secret"), 0);
    expect_output("secret");
}

Test(files_cli, settings_are_checked)
{
    write_file("m.ptx", module, sizeof module - 1);
    cr_expect_eq(sh("'%s' run m.ptx --files none", heddle), 2);
    expect_output("cannot open folder 'none': No such file or directory");
    cr_expect_eq(sh("'%s' run m.ptx --files m.ptx", heddle), 2);
    expect_output("Not a directory");
    cr_expect_eq(sh("'%s' run m.ptx --files-bytes many", heddle), 2);
    expect_output("files-bytes wants bytes up to 16T, as in 512M or 8G, not 'many'");
}

/* Observers see the accesses: a race of a file's bytes with a store is found, and bytes that nothing wrote. */
Test(files_cli, buffers_are_checked_as_loads_and_stores)
{
    static const char racy[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".extern .func (.param .b32 r) __heddle_file_open(.param .b64 n, .param .b32 f);\n"
        ".extern .func (.param .b64 r) __heddle_file_write(.param .b32 h, .param .b64 b, .param .b64 s);\n"
        ".visible .entry racy(.param .u64 name, .param .u64 data)\n{\n .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;\n"
        " .param .b64 n; .param .b32 f; .param .b32 h; .param .b64 b; .param .b64 s; .param .b64 v;\n"
        " ld.param.u64 %rd1, [name]; ld.param.u64 %rd2, [data]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r1, 0;\n"
        " @%p bra other;\n st.param.b64 [n], %rd1; st.param.b32 [f], 5; call (h), __heddle_file_open, (n, f);\n"
        " st.param.b64 [b], %rd2; st.param.b64 [s], 4; call (v), __heddle_file_write, (h, b, s);\n ret;\n"
        "other: st.global.u32 [%rd2], %r1;\n ret;\n}\n";
    cr_assert_eq(sh("mkdir box"), 0);
    write_file("r.ptx", racy, sizeof racy - 1);
    cr_expect_eq(
        sh("'%s' run r.ptx --grid 2 --files box --arg 'buf:u8[4]=list(108,111,103,0)' --arg 'data=buf:u32[1]' "
           "--check race",
           heddle),
        3, "%s", said.data);
    expect_output("race");
    expect_output("__heddle_file_write");
}
