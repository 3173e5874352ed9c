/* Recordings of kernels that read memory which nothing has written: the bytes that `random` fills it with are part of
 * the run, and come again with `--replay`. Recordings from before version 4 had zeros there. */
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(unwritten_replay, .init = command_set_up, .fini = command_tear_down);

/* A word of shared memory and one of local memory of each thread. */
static const char kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %d<3>;\n.shared .align 4 .b32 s[64];\n.local .align 4 .b32 l[4];\n"
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 8;\n"
    "add.u64 %d1, %d1, %d2;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.u32 %r3, %r3, %r2;\n"
    "ld.shared.u32 %r4, [%r3];\nld.local.u32 %r5, [l];\nst.global.v2.u32 [%d1], {%r4, %r5};\nret;\n}\n";

static FILE *open_file(const char *name, const char *mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", command_folder, name);
    FILE *f = fopen(path, mode);
    cr_assert(f, "%s", path);
    return f;
}

static void write_kernel(void)
{
    FILE *f = open_file("k.ptx", "w");
    cr_assert(fputs(kernel, f) >= 0 && fclose(f) == 0);
}

/* The words that the run wrote. */
static void run(const char *options, uint32_t words[64])
{
    char command[512];
    int status;
    snprintf(command, sizeof command,
             "%%p run %%s/k.ptx --block 32 --arg 'out=buf:u32[64]' --dump out=%s/out %s",
             command_folder, options);
    char *text = command_output(command, &status);
    cr_assert_eq(status, 0, "%s", text);
    free(text);
    FILE *f = open_file("out", "rb");
    cr_assert_eq(fread(words, sizeof *words, 64, f), 64);
    (void)fclose(f);
}

static void run_with_file(const char *options, const char *file, uint32_t words[64])
{
    char text[320];
    snprintf(text, sizeof text, "%s %s/%s", options, command_folder, file);
    run(text, words);
}

static size_t zeros(const uint32_t words[64])
{
    size_t n = 0;
    for (size_t i = 0; i < 64; i++) n += words[i] == 0;
    return n;
}

Test(unwritten_replay, bytes_come_again)
{
    uint32_t was[64], is[64], other[64], off[64];
    write_kernel();
    run_with_file("--order random --seed 7 --record", "a.rec", was);
    run_with_file("--replay", "a.rec", is);
    run("--order random --seed 8", other);
    run_with_file("--order random:uninitialised=zero --seed 7 --record", "zero.rec", off);
    cr_expect_eq(zeros(was), 0, "a word of 64 would be zero once in 2^26 seeds");
    cr_expect_arr_eq(is, was, sizeof was);
    cr_expect_arr_neq(other, was, sizeof was);
    cr_expect_eq(zeros(off), 64);
    run_with_file("--replay", "zero.rec", off);
    cr_expect_eq(zeros(off), 64);
}

/* The content of a recording without its frame: blocks of a length, bytes and a hash. */
static size_t content(FILE *f, uint8_t *to, size_t most)
{
    uint8_t head[8];
    size_t n = 0;
    cr_assert(fread(head, 1, 8, f) == 8 && memcmp(head, "HEDDLREC", 8) == 0);
    for (;;) {
        cr_assert_eq(fread(head, 1, 4, f), 4);
        const size_t size = head[0] | head[1] << 8 | head[2] << 16;
        if (!size) return n;
        cr_assert(n + size <= most && fread(to + n, 1, size, f) == size &&
                  fread(head, 1, 8, f) == 8);
        n += size;
    }
}

static void put(FILE *f, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) (void)fputc((int)(number >> 8 * i & 0xff), f);
}

Test(unwritten_replay, an_older_recording_has_zeros)
{
    static uint8_t bytes[1 << 16];
    uint32_t words[64];
    write_kernel();
    run_with_file("--order random:uninitialised=zero:late-loads=off --seed 7 --record", "zero.rec",
                  words);
    FILE *f = open_file("zero.rec", "rb");
    size_t n = content(f, bytes, sizeof bytes);
    (void)fclose(f);
    /* Version, length of the name, name, wants, step, seed of unwritten memory (0: zeros), which is new in
     * version 4. Version 5 has late loads besides, which this order leaves out, version 6 grids that kernels launch. */
    cr_assert_eq(bytes[0], 6);
    bytes[0] = 3;
    const size_t at = 2 + (size_t)bytes[1] + 2;
    cr_assert_eq(bytes[at], 0);
    memmove(bytes + at, bytes + at + 1, n - at - 1);
    n--;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    f = open_file("old.rec", "wb");
    (void)fputs("HEDDLREC", f);
    put(f, n, 4);
    cr_assert_eq(fwrite(bytes, 1, n, f), n);
    put(f, hash, 8);
    put(f, 0, 4);
    cr_assert_eq(fclose(f), 0);
    run_with_file("--replay", "old.rec", words);
    cr_expect_eq(zeros(words), 64);
}
