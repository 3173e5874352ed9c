#define _GNU_SOURCE /* mkdtemp */
#include "tests/support/run.h"

#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

char run_folder[] = "/tmp/heddle-run-XXXXXX", *run_program;

/* twice: y[i] = 2 x[i] + offset (u32); spin: never ends; bytes, limited: parameters and a limit; count_down: --flag[0]. */
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

void run_write_bytes(const char *name, const void *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

void run_write(const char *name, const char *text)
{
    run_write_bytes(name, text, strlen(text));
}

void run_file_is(const char *name, const void *want, size_t size)
{
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    char *got = read_file(path, &n);
    cr_expect(n == size && memcmp(got, want, n) == 0, "%s holds %zu other bytes", name, n);
    free(got);
}

void run_set_up(void)
{
    const char *name = getenv("HEDDLE");
    run_program = realpath(name ? name : "./heddle", NULL);
    cr_assert(run_program, "the program is not there: build it, or set HEDDLE");
    cr_assert(mkdtemp(run_folder));
    run_write("k.ptx", kernels);
    run_write("bad.ptx", bad);
    static const uint32_t four[] = {1, 3, 5, 7};
    run_write_bytes("four.bin", four, sizeof four);
}

void run_tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", run_folder);
    if (system(command) != 0) perror(command);
    free(run_program);
}

struct run_result run_heddle(const char *args)
{
    char command[4096], path[128];
    snprintf(command, sizeof command, "cd %s && { '%s' run %s; } >out 2>err", run_folder,
             run_program, args);
    int status = system(command);
    struct run_result r = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    size_t n;
    snprintf(path, sizeof path, "%s/out", run_folder);
    r.out = read_file(path, &n);
    snprintf(path, sizeof path, "%s/err", run_folder);
    r.err = read_file(path, &n);
    if (r.status > 125) r.status = -1; /* the shell's word for a signal */
    return r;
}

void run_drop(struct run_result *r)
{
    free(r->out);
    free(r->err);
}

bool run_fits(const char *got, const char *want)
{
    return !want || (*want ? strstr(got, want) != NULL : !*got);
}

void run_check_calls(const struct run_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct run_result r = run_heddle(calls[i].args);
        cr_expect(r.status == calls[i].status, "heddle run %s: exit status %d, not %d\n%s%s",
                  calls[i].args, r.status, calls[i].status, r.out, r.err);
        cr_expect(run_fits(r.out, calls[i].out), "heddle run %s: prints\n%s", calls[i].args, r.out);
        cr_expect(run_fits(r.err, calls[i].err), "heddle run %s: reports\n%s", calls[i].args,
                  r.err);
        run_drop(&r);
    }
}
