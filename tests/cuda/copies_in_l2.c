/* What copies to the device leave in the L2 of estimates: a kernel that reads what the host has copied in finds all of it
 * there, whatever memory it came from. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "cuda/driver.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/gpu.h"
#include "tests/support/driver_calls.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES = 256 << 10 }; /* far less than the L2 of a TITAN V */

/* Each of 64 x 128 threads loads 32 bytes: a sector. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n"
    "{ .reg .u64 %a, %b; .reg .u32 %t, %c, %n, %v; ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;\n"
    "mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %b, %t, 32;\n"
    "add.u64 %a, %a, %b; ld.global.u32 %v, [%a]; st.global.u32 [%a], %v; ret; }\n";

/* Sectors that the kernel reads from DRAM. */
static uint64_t from_dram(CUdeviceptr p)
{
    char *why = NULL;
    struct parsed *parsed = parse_text("test.ptx", ptx, sizeof ptx - 1);
    struct emu_image *image = emu_load(driver.emu, &parsed->module, 1, &why);
    cr_assert(image != NULL, "%s", why ? why : "");
    const struct emu_launch l = {.grid = {BYTES / 32 / 128, 1, 1},
                                 .block = {128, 1, 1},
                                 .params = &p,
                                 .params_size = sizeof p};
    const struct emu_report *r = emu_launch(driver.emu, emu_kernel_at(image, 0), &l);
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    const uint64_t n = r->counts->phases[0].total.cache.dram_reads;
    emu_unload(image);
    parsed_free(parsed);
    return n;
}

static void start(void)
{
    CUcontext c;
    cuda_device_configure(&(struct emu_config){
        .threads = 1, .memory = 64 << 20, .trace = true, .gpu = emu_gpu_find("titanv")});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    OK(cuInit(0));
    OK(cuCtxCreate(&c, NULL, 0, 0));
}

static void stop(void)
{
    cuda_device_reset();
}

Test(copies_in_l2, from_pageable_and_pinned_memory, .init = start, .fini = stop)
{
    static char pageable[BYTES];
    CUdeviceptr d;
    void *pinned;
    OK(cuMemAlloc(&d, BYTES));
    cr_expect_eq(from_dram(d), BYTES / 32); /* nobody has touched it */
    OK(cuMemAlloc(&d, BYTES));
    OK(cuMemcpyHtoD(d, pageable, BYTES));
    cr_expect_eq(from_dram(d), 0);
    OK(cuMemAlloc(&d, BYTES));
    OK(cuMemHostAlloc(&pinned, BYTES, 0));
    memset(pinned, 1, BYTES);
    OK(cuMemcpyHtoD(d, pinned, BYTES));
    cr_expect_eq(from_dram(d), 0);
}
