/* How many blocks fit on an SM. The numbers were worked out by hand, by the rules of CUDA's occupancy calculator: each row's
 * comment says what limits it. */
#define _GNU_SOURCE
#include "cuda/occupancy.h"
#include "cuda/driver.h"
#include "emu/gpu.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *gpu;
    int threads, registers;
    size_t shared;
    int want;
} rows[] = {
    /* 64 warps, 32 blocks; 4 parts of 16384 registers in units of 256; 228 KiB in units of 128, and 1 KiB of each */
    {"h100", 256, 32, 0, 8},  /* 64 warps / 8; registers: 16384 / 1024 = 16, of 4 parts 64 warps */
    {"h100", 32, 16, 0, 32},  /* blocks */
    {"h100", 128, 40, 0, 12}, /* 1280 of a warp: 12 in each part, 48 / 4 */
    {"h100", 96, 40, 0, 16},  /* 48 / 3; registers that no part divides would do for 17 */
    {"h100", 1024, 64, 0, 1}, /* 2048: 8, 32 warps */
    {"h100", 1024, 65, 0, 0}, /* 2304: 7, 28 warps */
    {"h100", 160, 200, 0, 1}, /* 6400: 2, 8 / 5 */
    {"h100", 64, 32, 41000, 5},    /* 42024, rounded up 42112; 233472 / 42112 */
    {"h100", 64, 32, 0, 32},       /* 32 KiB are taken */
    {"h100", 64, 32, 6272, 32},    /* 7296 x 32 is all of it */
    {"h100", 64, 32, 6273, 31},    /* 7424 x 31 */
    {"h100", 1, 32, 227 << 10, 1}, /* all that a block may have */
    {"h100", 1, 32, (227 << 10) + 1, 0},
    /* the same, but for 164 KiB */
    {"a100", 256, 32, 48 << 10, 3}, /* 50176: 167936 / 50176 = 3.3 */
    {"a100", 64, 255, 0, 4},        /* 8192: 2, 8 / 2 */
    /* 48 warps, 16 blocks, 100 KiB */
    {"rtx3070", 32, 32, 0, 16},
    {"rtx3070", 1024, 32, 0, 1},
    {"rtx3070", 768, 32, 0, 2},
    {"rtx3070", 256, 32, 16 << 10, 5}, /* 17408: 5.9; warps would do for 6 */
    /* likewise, with 24 blocks */
    {"rtx4090", 32, 32, 0, 24},
    {"rtx4090", 128, 42, 0, 10}, /* 1344 is 1536: 10, 40 / 4 = 10 */
    /* 64 warps, 32 blocks, 96 KiB in units of 256 */
    {"v100", 128, 32, 12 << 10, 8},
    {"v100", 128, 32, (12 << 10) + 1, 7}, /* 12544: 7.8 */
    {"v100", 160, 40, 0, 9},              /* 48 / 5 */
    {"titanv", 512, 128, 0, 1},           /* 4096: 4, 16 / 16 */
    /* 32 warps, 16 blocks, 64 KiB */
    {"rtx2080ti", 64, 32, 0, 16},
    {"rtx2080ti", 256, 33, 0, 4}, /* warps; 1056 is 1280: 48 */
    {"rtx2080ti", 64, 32, 5 << 10, 12},
    /* 64 warps, 32 blocks; 2 parts; 64 KiB */
    {"p100", 160, 40, 0, 10}, /* 32768 / 1280 = 25, 50 / 5 */
    {"p100", 544, 104, 0, 0}, /* 3328: 9, 18 / 17, but with 4 parts 16 */
    {"p100", 512, 104, 0, 1},
    {"gtx1080", 544, 104, 0, 0},
    {"gtx1080", 1024, 32, 40 << 10, 2}, /* 2.4; warps, too */
    /* 64 warps, 16 blocks, 48 KiB */
    {"k40", 192, 63, 0, 5}, /* 2016 is 2048: 8, 32 / 6 */
    {"k40", 32, 32, 0, 16},
    {"k40", 128, 32, 12 << 10, 4},
    /* 48 warps, 8 blocks; 2 parts of 16384 registers in units of 64; 48 KiB in units of 128 */
    {"gtx480", 192, 20, 0, 8},    /* 640: 25, 50 / 6 */
    {"gtx480", 192, 21, 0, 7},    /* 672 is 704: 23, 46 / 6 */
    {"gtx480", 192, 33, 0, 5},    /* 1056 is 1088: 15, 30 / 6 */
    {"gtx480", 800, 39, 0, 0},    /* 1248 is 1280: 12, 24 / 25 */
    {"gtx480", 256, 20, 9000, 5}, /* 9088: 5.4 */
    /* 32 warps, 8 blocks; 16384 registers to blocks of an even number of warps, in units of 512; 16 KiB in units of 512 */
    {"quadrofx5800", 96, 17, 0, 6}, /* 4 x 32 x 17 = 2176 is 2560: 6.4 */
    {"quadrofx5800", 256, 16, 0, 4},
    {"quadrofx5800", 64, 10, 3 << 10, 5},
};

Test(occupancy, is_that_of_cuda_s_calculator)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct device_limits l = limits_of(emu_gpu_find(rows[i].gpu));
        const int got = occupancy_blocks(
            &l, &(struct occupancy_use){rows[i].threads, rows[i].registers, rows[i].shared, -1});
        const struct emu_occupancy counted = emu_occupancy(
            emu_gpu_find(rows[i].gpu), (uint32_t)rows[i].threads, (uint32_t)rows[i].registers,
            (uint32_t)rows[i].shared);
        cr_expect(counted.ctas == (uint32_t)rows[i].want,
                  "%s, %d threads of %d registers: %u counted", rows[i].gpu, rows[i].threads,
                  rows[i].registers, counted.ctas);
        cr_expect(got == rows[i].want, "%s, %d threads of %d registers, %zu bytes: %d, not %d",
                  rows[i].gpu, rows[i].threads, rows[i].registers, rows[i].shared, got,
                  rows[i].want);
    }
}

/* What a kernel would rather have as L1 is not shared memory. */
Test(occupancy, heeds_the_carveout)
{
    static const struct {
        const char *gpu;
        size_t shared;
        int carveout, want;
    } some[] = {
        {"a100", 7 << 10, -1, 20},                               /* 8192 each: 164 / 8 = 20 */
        {"a100", 7 << 10, 100, 20},   {"a100", 7 << 10, 50, 12}, /* 82 KiB is 100: 12.5 */
        {"a100", 7 << 10, 10, 4},                                /* 16.4 is 32 */
        {"a100", 7 << 10, 0, 1},   /* 0, but one block has what it needs: 8 */
        {"a100", 40 << 10, 10, 1}, /* 41 is 64 */
        {"v100", 16 << 10, 66, 4}, /* 63.4 is 64 */
        {"v100", 16 << 10, 67, 6}, /* 64.3 is 96 */
        {"rtx2080ti", 8 << 10, 0, 4}, {"rtx2080ti", 8 << 10, 51, 8},
        {"h100", 15 << 10, 80, 12}, /* 182.4 is 196: 12.3 of 16 */
        {"gtx1080", 8 << 10, 10, 12},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const struct device_limits l = limits_of(emu_gpu_find(some[i].gpu));
        const int got = occupancy_blocks(
            &l, &(struct occupancy_use){64, 16, some[i].shared, some[i].carveout});
        cr_expect(got == some[i].want, "%s, %zu bytes, carveout %d: %d, not %d", some[i].gpu,
                  some[i].shared, some[i].carveout, got, some[i].want);
    }
}

/* Of so much shared memory each, so many blocks fit, and of a unit more they do not. */
Test(occupancy, shared_memory_is_what_lets_so_many_in)
{
    for (size_t g = 0; g < emu_gpu_count(); g++) {
        const struct device_limits l = limits_of(emu_gpu_at(g));
        for (int blocks = 2; blocks <= l.blocks; blocks++) {
            struct occupancy_use u = {32, 16, (size_t)occupancy_shared(&l, blocks, -1), -1};
            cr_expect(occupancy_blocks(&l, &u) >= blocks, "%s, %d blocks", emu_gpu_at(g)->name,
                      blocks);
            u.shared++;
            const int less = occupancy_blocks(&l, &u);
            cr_expect(less < blocks, "%s, %d blocks: %d", emu_gpu_at(g)->name, blocks, less);
        }
    }
}

/* A kernel that loads 206 words and adds them up behind a barrier: all are live there. (ptxas 13.0 for sm_75: 210
 * registers.) */
static char *many_registers(const char *bound)
{
    enum { LIVE = 206 };
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);
    fprintf(f,
            ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 p)%s\n"
            "{ .reg .u64 %%a; .reg .u32 %%v<%d>; ld.param.u64 %%a, [p];\n",
            bound, LIVE);
    for (int i = 0; i < LIVE; i++)
        fprintf(f, "ld.volatile.global.u32 %%v%d, [%%a+%d];\n", i, 4 * i);
    fprintf(f, "bar.sync 0;\n");
    for (int i = 1; i < LIVE; i++)
        fprintf(f, "mad.lo.u32 %%v0, %%v0, %%v%d, %%v%d;\n", i, LIVE - i);
    fprintf(f, "st.global.u32 [%%a], %%v0; ret; }\n");
    fclose(f);
    return text;
}

/* The result of a launch of that kernel on a TITAN V: 65536 registers of an SM. */
static CUresult launch_with(int threads, const char *bound)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    char *text = many_registers(bound);
    driver_start();
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&f, module, "k"));
    OK(cuMemAlloc(&p, 4096));
    const CUresult r = cuLaunchKernel(f, 1, 1, 1, (unsigned)threads, 1, 1, 0, NULL, (void *[]){&p},
                                      NULL);
    cuda_device_reset();
    free(text);
    return r;
}

/* CUDA 13, "cudaErrorLaunchOutOfResources": "the launch may not fit ... too many registers". 206 x 1024 are more than
 * 65536, 206 x 256 are not; with launch bounds the compiler spills. */
Test(occupancy, launches_that_lack_registers_are_refused)
{
    cr_expect(launch_with(1024, "") == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    cr_expect(launch_with(512, "") == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    cr_expect(launch_with(256, "") == CUDA_SUCCESS);
    cr_expect(launch_with(1024, ".maxntid 1024, 1, 1") == CUDA_SUCCESS);
    cr_expect(launch_with(1024, ".maxnreg 64") == CUDA_SUCCESS);
}
