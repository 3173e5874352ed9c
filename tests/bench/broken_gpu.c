/* How often each broken program gives a wrong result on a GPU: the record that the table of docs/orders.md quotes.
 *
 *     broken-gpu [LAUNCHES [PTX [KERNEL]]]      tab-separated on standard output; LAUNCHES of each program (100000), or of KERNEL
 *
 * Links with the driver's libcuda.so.1 alone. Each program has a process of its own, as a launch that does not end cannot be
 * stopped otherwise. Launches are counted twice: alone, and beside a kernel that keeps the rest of the GPU and its memory
 * busy. Each launch has 64 KiB of zeros of its own. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 65536, BATCH = 512, MOST_PTX = 1 << 20, WAIT_SECONDS = 5, STRESS_WORDS = 1 << 24 };

static const struct {
    const char *kernel;
    unsigned grid, block;
    uint32_t right;
} programs[] = {
#define BROKEN(kernel, grid, block, right, bug) {#kernel, grid, block, right},
#include "tests/broken/broken.def"
#undef BROKEN
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* Each thread adds to words in lines far from each other, `turns` times. */
static const char stress[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".visible .entry stress(.param .u64 words, .param .u32 mask, .param .u32 turns)\n{\n"
    ".reg .pred %p; .reg .u32 %i, %n, %m, %x, %t, %b; .reg .u64 %w, %a;\n"
    "ld.param.u64 %w, [words]; ld.param.u32 %m, [mask]; ld.param.u32 %n, [turns];\n"
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %x, %b, 7919, %t; mov.u32 %i, 0;\n"
    "L: mad.lo.u32 %x, %x, 1664525, 1013904223; and.b32 %t, %x, %m;\n"
    "mad.wide.u32 %a, %t, 4, %w; ld.global.u32 %b, [%a]; add.u32 %b, %b, 1; st.global.u32 [%a], %b;\n"
    "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L; ret;\n}\n";

struct gpu {
    CUcontext context;
    CUmodule module, stress_module;
    CUfunction stress;
    CUstream stream, beside;
    CUdeviceptr memory, words;
};

static void must(CUresult r, const char *what)
{
    const char *text = NULL;
    if (r == CUDA_SUCCESS) return;
    if (cuGetErrorString(r, &text) != CUDA_SUCCESS) text = NULL;
    fprintf(stderr, "broken-gpu: %s: %s\n", what, text ? text : "?");
    exit(1);
}
#define MUST(call) must((call), #call)

static void open_gpu(struct gpu *g, const char *ptx)
{
    CUdevice device;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&g->context, device));
    MUST(cuCtxSetCurrent(g->context));
    MUST(cuModuleLoadData(&g->module, ptx));
    MUST(cuModuleLoadData(&g->stress_module, stress));
    MUST(cuModuleGetFunction(&g->stress, g->stress_module, "stress"));
    MUST(cuStreamCreate(&g->stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&g->beside, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&g->memory, (size_t)BATCH * BYTES));
    MUST(cuMemAlloc(&g->words, (size_t)STRESS_WORDS * 4));
    MUST(cuMemsetD32(g->words, 0, STRESS_WORDS));
}

/* false: the stream's work has not ended in WAIT_SECONDS. */
static bool ends(CUstream stream)
{
    const time_t until = time(NULL) + WAIT_SECONDS + 1;
    CUresult r;
    while ((r = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
        if (time(NULL) >= until) return false;
    must(r, "cuStreamQuery");
    return true;
}

/* How many of `launches` are wrong; -1: one does not end. */
static long count_wrong(struct gpu *g, size_t i, unsigned long launches, bool is_beside)
{
    static uint32_t result[BATCH];
    CUfunction f;
    long wrong = 0;
    uint32_t mask = STRESS_WORDS - 1, turns = 2000;
    MUST(cuModuleGetFunction(&f, g->module, programs[i].kernel));
    for (unsigned long done = 0; done < launches; done += BATCH) {
        MUST(cuMemsetD32(g->memory, 0, (size_t)BATCH * BYTES / 4));
        MUST(cuCtxSynchronize());
        if (is_beside)
            MUST(cuLaunchKernel(g->stress, 200, 1, 1, 256, 1, 1, 0, g->beside,
                                (void *[]){&g->words, &mask, &turns}, NULL));
        for (unsigned k = 0; k < BATCH; k++) {
            CUdeviceptr at = g->memory + (CUdeviceptr)k * BYTES;
            MUST(cuLaunchKernel(f, programs[i].grid, 1, 1, programs[i].block, 1, 1, 0, g->stream,
                                (void *[]){&at}, NULL));
        }
        if (!ends(g->stream)) return -1;
        MUST(cuCtxSynchronize());
        CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = g->memory,
                              .srcPitch = BYTES,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = result,
                              .dstPitch = 4,
                              .WidthInBytes = 4,
                              .Height = BATCH};
        MUST(cuMemcpy2D(&copy));
        for (unsigned k = 0; k < BATCH; k++) wrong += result[k] != programs[i].right;
    }
    return wrong;
}

/* In a process of its own: "alone<tab>beside", or "hangs". */
static void try_program(size_t i, unsigned long launches, const char *ptx)
{
    struct gpu g = {0};
    open_gpu(&g, ptx);
    for (int beside = 0; beside < 2; beside++) {
        const long wrong = count_wrong(&g, i, launches, beside);
        if (wrong < 0) printf("\thangs");
        else printf("\t%ld", wrong);
        fflush(stdout);
        if (wrong < 0) _exit(0);
    }
    _exit(0);
}

static void print_device(void)
{
    char name[256] = "?";
    CUdevice device;
    int version = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        MUST(cuInit(0));
        MUST(cuDeviceGet(&device, 0));
        MUST(cuDeviceGetName(name, sizeof name, device));
        MUST(cuDriverGetVersion(&version));
        printf("# %s, driver API %d.%d\n", name, version / 1000, version % 1000 / 10);
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    static char ptx[MOST_PTX];
    const unsigned long launches = ((argc > 1 ? strtoul(argv[1], NULL, 10) : 100000) + BATCH - 1) /
                                   BATCH * BATCH;
    FILE *f = fopen(argc > 2 ? argv[2] : "tests/broken/broken.ptx", "r");
    if (!f || fread(ptx, 1, sizeof ptx - 1, f) == 0) {
        perror("broken-gpu: the PTX file");
        return 1;
    }
    fclose(f);
    print_device();
    printf("# %lu launches of each, alone and beside a kernel that keeps memory busy\n", launches);
    printf("program\twrong alone\twrong beside\n");
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (argc > 3 && strcmp(argv[3], programs[i].kernel) != 0) continue;
        printf("%s", programs[i].kernel);
        fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) try_program(i, launches, ptx);
        waitpid(pid, NULL, 0);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
