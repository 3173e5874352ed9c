/* --check=memory: leaks, wrong frees, and what made and released the memory that a report is about. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "heddle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines are counted below. keep: mallocs `bytes` a thread, and stores the pointers to `at`. drop: frees
 * what lies there. touch: loads a word at a pointer and an offset, and stores it again. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".extern .func free(.param .b64 p);\n"
    ".visible .entry keep(.param .u64 at, .param .u64 bytes)\n{\n"
    " .reg .b64 %d<4>; .reg .b32 %r;\n .param .b64 n; .param .b64 r;\n"
    " .loc 1 7 3\n"
    " ld.param.u64 %d1, [bytes]; st.param.b64 [n], %d1;\n"
    " call (r), malloc, (n);\n" /* line 12 */
    " ld.param.b64 %d2, [r]; ld.param.u64 %d1, [at]; mov.u32 %r, %tid.x;\n"
    " mad.wide.u32 %d1, %r, 8, %d1; st.global.u64 [%d1], %d2; ret;\n}\n"
    ".visible .entry drop(.param .u64 at)\n{\n"
    " .reg .b64 %d<3>; .reg .b32 %r;\n .param .b64 p;\n"
    " ld.param.u64 %d1, [at]; mov.u32 %r, %tid.x; mad.wide.u32 %d1, %r, 8, %d1;\n"
    " ld.global.u64 %d2, [%d1]; st.param.b64 [p], %d2;\n"
    " call free, (p);\n" /* line 22 */
    " ret;\n}\n"
    ".visible .entry touch(.param .u64 p, .param .u64 offset)\n{\n"
    " .reg .b64 %d<3>; .reg .b32 %r;\n"
    " ld.param.u64 %d1, [p]; ld.param.u64 %d2, [offset]; add.u64 %d1, %d1, %d2;\n"
    " ld.global.u32 %r, [%d1]; st.global.u32 [%d1], %r; ret;\n}\n"
    ".file 1 \"some.cu\"\n";

static struct heddle_module *module;
static struct heddle_device *device;

static void start_with(bool check)
{
    module = heddle_module_read("m.ptx", ptx, strlen(ptx), NULL);
    cr_assert(heddle_module_ok(module), "%s", heddle_module_messages_text(module));
    device = heddle_device_new(
        &(struct heddle_device_options){.threads = 2, .check_memory = check});
    cr_assert(heddle_device_load(device, &module, 1), "%s", heddle_device_error(device));
}
static void start(void)
{
    start_with(true);
}
static void stop(void)
{
    heddle_device_free(device);
    heddle_module_free(module);
}
TestSuite(check_memory, .init = start, .fini = stop);

static struct heddle_run launch(const char *kernel, uint32_t threads, uint64_t a, uint64_t b)
{
    uint64_t args[] = {a, b};
    return heddle_device_launch(device, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){threads, 1, 1},
                                0, args, strcmp(kernel, "drop") == 0 ? 1 : 2);
}

static void has(const char *text, const char *part)
{
    cr_expect(strstr(text, part), "no '%s' in:\n%s", part, text);
}

Test(check_memory, what_kernels_do_not_free_is_one_leak_a_place)
{
    size_t count;
    uint64_t at = heddle_device_alloc(device, 8 * 40, "pointers"), p[40], zero = 0;
    cr_assert(!launch("keep", 40, at, 24).fault && !launch("keep", 1, at + 8 * 39, 100).fault);
    cr_assert(heddle_device_read(device, p, at, sizeof p) && p[0] && p[39]);
    const char *text = heddle_device_leaks(device, &count);
    cr_expect(count == 2, "%zu:\n%s", count, text);
    has(text, "leak: 'pointers', 320 bytes");
    has(text, "leak: 'malloc', 24 bytes");
    has(text,
        "allocated at m.ptx:12 in keep (some.cu:7) by thread (0,0,0) of CTA (0,0,0) of kernel "
        "'keep'");
    has(text, "... and 40 more from there, 1060 bytes in all");
    cr_assert(heddle_device_write(device, at + 8 * 7, &zero, 8)); /* free of NULL is none */
    cr_expect(!launch("drop", 40, at, 0).findings);
    cr_assert(heddle_device_release(device, at));
    text = heddle_device_leaks(device, &count);
    has(text, "by thread (7,0,0)");
    has(text, "... and 1 more from there, 48 bytes in all"); /* [7], and [39] was overwritten */
    cr_expect(count == 1, "%s", text);
}

Test(check_memory, wrong_frees_are_findings)
{
    uint64_t at = heddle_device_alloc(device, 8 * 32, "pointers"), p[32];
    cr_assert(!launch("keep", 3, at, 24).fault);
    cr_assert(heddle_device_read(device, p, at, sizeof p));
    p[3] = p[1], p[4] = p[1]; /* twice more */
    p[5] = p[0] + 8;          /* not its beginning */
    p[6] = at;                /* not the heap's */
    p[7] = 4096;
    cr_assert(heddle_device_write(device, at, p, sizeof p));
    struct heddle_run r = launch("drop", 8, at, 0);
    cr_expect(!r.fault && r.findings == 2, "%zu\n%s", r.findings, r.text);
    has(r.text, "double free: free of 0x");
    has(r.text, "by thread (3,0,0) of CTA (0,0,0) of kernel 'drop'");
    has(r.text, "0 bytes into 'malloc' (24 bytes at 0x");
    has(r.text, "released by free at m.ptx:22 in drop by thread (1,0,0) of CTA (0,0,0)");
    has(r.text, "... and 1 more of this instruction");
    has(r.text, "invalid free: free of 0x");
    has(r.text, "... and 2 more of this instruction");
    size_t count;
    heddle_device_leaks(device, &count);
    cr_expect(count == 1); /* all three are free but `pointers` */
}

Test(check_memory, without_the_check_a_wrong_free_ends_the_launch)
{
    stop();
    start_with(false);
    uint64_t at = heddle_device_alloc(device, 64, "pointers"), p[2] = {4096, 0};
    cr_assert(heddle_device_write(device, at, p, sizeof p));
    struct heddle_run r = launch("drop", 1, at, 0);
    cr_expect(r.fault);
    has(r.text, "invalid free: free of 0x1000, which malloc did not give");
    cr_assert(!launch("keep", 1, at, 24).fault && heddle_device_read(device, p, at, 8));
    p[1] = p[0];
    cr_assert(heddle_device_write(device, at, p, sizeof p));
    r = launch("drop", 2, at, 0);
    cr_expect(r.fault);
    has(r.text, "double free: free of 0x");
    has(r.text, "by thread (1,0,0)");
}

/* Where a launch goes on, the kind of a finding is the one that its text names. */
Test(check_memory, a_finding_about_freed_memory_has_that_kind)
{
    heddle_device_free(device);
    device = heddle_device_new(&(struct heddle_device_options){.continue_after_faults = true});
    cr_assert(heddle_device_load(device, &module, 1), "%s", heddle_device_error(device));
    uint64_t x = heddle_device_alloc(device, 64, "x");
    cr_assert(heddle_device_release(device, x));
    for (int i = 0; i < 2; i++) {
        cr_expect(!launch("touch", 3, x, 16).fault);
        cr_assert_eq(heddle_device_finding_count(device), 2); /* the load and the store */
        const struct heddle_finding f = heddle_device_finding(device, 0);
        cr_expect_eq(f.kind, HEDDLE_FREED, "%s", f.name);
        cr_expect_eq(f.count, 3);
        has(f.text, "use after free: read of 4 bytes");
    }
}

/* Released memory is found even after much has been allocated since. */
Test(check_memory, use_after_free_names_who_freed)
{
    uint64_t x = heddle_device_alloc(device, 64, "x"), p;
    cr_assert(heddle_device_release(device, x));
    for (int i = 0; i < 20; i++) cr_assert(heddle_device_alloc(device, 64, "later") != x);
    struct heddle_run r = launch("touch", 1, x, 16);
    cr_expect(r.fault);
    has(r.text, "use after free: read of 4 bytes");
    has(r.text, "16 bytes into 'x' (64 bytes at 0x");
    has(r.text, "released by heddle_device_release #1");
    uint64_t at = heddle_device_alloc(device, 8, "pointer");
    cr_assert(!launch("keep", 1, at, 24).fault && heddle_device_read(device, &p, at, 8));
    r = launch("touch", 1, p, 24);
    has(r.text, "out of bounds: read of 4 bytes");
    has(r.text, "0 bytes behind the end of 'malloc' (24 bytes at 0x");
    has(r.text, "allocated at m.ptx:12 in keep (some.cu:7) by thread (0,0,0)");
    cr_assert(!launch("drop", 1, at, 0).fault);
    r = launch("touch", 1, p, 4);
    has(r.text, "use after free: read of 4 bytes");
    has(r.text, "released by free at m.ptx:22 in drop by thread (0,0,0) of CTA (0,0,0) of kernel "
                "'drop'");
    cr_expect(!heddle_device_release(device, x));
    has(heddle_device_error(device), "heddle_device_release #2 of 0x");
    has(heddle_device_error(device), "which was released before");
    has(heddle_device_error(device), "released by heddle_device_release #1");
}

/* When no fresh addresses are left, they are used again. */
Test(check_memory, memory_does_not_run_out_by_the_check)
{
    struct heddle_device *small = heddle_device_new(
        &(struct heddle_device_options){.check_memory = true, .memory = 1 << 20});
    for (int i = 0; i < 100; i++) {
        uint64_t a = heddle_device_alloc(small, 300 << 10, "a");
        cr_assert(a, "round %d", i);
        cr_assert(heddle_device_release(small, a));
    }
    heddle_device_free(small);
}

/* ---- the driver API -------------------------------------------------------------------------------- */

static char said[8192];
static void say(void *self, const char *text)
{
    (void)self;
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s", text);
}

Test(check_memory, driver_calls_are_named_by_number)
{
    CUcontext c, other;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p[3], offset = 4096, q;
    char host[16];
    cuda_device_configure(&(struct emu_config){.threads = 1, .checks = EMU_CHECK_MEMORY});
    cuda_device_watch(&(struct cuda_watch){.say = say});
    cr_assert(cuInit(0) == 0 && cuCtxCreate(&c, NULL, 0, 0) == 0);
    cr_assert(cuModuleLoadData(&m, ptx) == 0 && cuModuleGetFunction(&f, m, "touch") == 0);
    for (int i = 0; i < 3; i++) cr_assert(cuMemAlloc(&p[i], 4096) == 0);
    cr_assert(cuMemFree(p[0]) == 0 && cuMemFree(p[1]) == 0);
    cr_expect(!*said, "%s", said);

    cr_expect(cuMemFree(p[0]) == CUDA_ERROR_INVALID_VALUE);
    has(said, "double free: cuMemFree #3 of 0x");
    has(said, "0 bytes into 'cuMemAlloc #1' (4096 bytes at 0x");
    has(said, "released by cuMemFree #1");
    *said = '\0';
    cr_expect(cuMemFree(p[2] + 8) == CUDA_ERROR_INVALID_VALUE);
    has(said, "invalid free: cuMemFree #4 of 0x");
    has(said, "8 bytes into 'cuMemAlloc #3'");
    *said = '\0';
    cr_expect(cuMemcpyDtoH(host, p[1] + 4, 16) == CUDA_ERROR_INVALID_VALUE);
    has(said, "use after free: read of 16 bytes at 0x");
    has(said, "4 bytes into 'cuMemAlloc #2' (4096 bytes");
    has(said, "released by cuMemFree #2");
    *said = '\0';
    cr_expect(cuMemsetD8(p[2] + 4000, 1, 97) == CUDA_ERROR_INVALID_VALUE);
    has(said, "out of bounds: write of 97 bytes at 0x");
    *said = '\0';

    cr_assert(cuCtxCreate(&other, NULL, 0, 0) == 0 && cuMemAlloc(&q, 100) == 0);
    cr_assert(cuCtxDestroy(other) == 0);
    has(said, "leak: 'cuMemAlloc #4', 100 bytes at 0x");
    cr_expect(!strstr(said, "#3"), "%s", said);
    *said = '\0';
    cr_assert(cuCtxSetCurrent(c) == 0);
    cr_expect(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&q, &offset}, NULL));
    has(said, "out of bounds: read of 4 bytes at 0x");
    *said = '\0';
    cuda_device_reset();
    cr_expect(!*said, "%s", said); /* nothing can be freed in a broken context */

    cr_assert(cuInit(0) == 0 && cuCtxCreate(&c, NULL, 0, 0) == 0);
    cr_assert(cuModuleLoadData(&m, ptx) == 0 && cuModuleGetFunction(&f, m, "keep") == 0);
    cr_assert(cuMemAlloc(&q, 4096) == 0 && (offset = 100));
    cr_assert(cuLaunchKernel(f, 1, 1, 1, 5, 1, 1, 0, NULL, (void *[]){&q, &offset}, NULL) == 0);
    cuda_device_reset();
    has(said, "leak: 'cuMemAlloc #1', 4096 bytes at 0x");
    has(said, "leak: 'malloc', 100 bytes at 0x");
    has(said, "... and 4 more from there, 500 bytes in all");
}
