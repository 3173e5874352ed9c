/* What calls of the CUDA API cost beside the work, and the loading of a large module: `make bench`.
 *
 *     calls
 *
 * Through the runtime and the driver as a program that is linked with both has them. Of each the median of
 * eleven rounds is printed. */
#define _GNU_SOURCE
#include "base/buf.h"
#include "cuda/cuda_api.h"
#include "cuda/runtime/runtime_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 11, CALLS = 20000, LAUNCHES = 500, MODULE = 5 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *memory;
static int word;
static cudaEvent_t event;
static CUfunction empty;

static void copy_in(void)
{
    cudaMemcpy(memory, &word, sizeof word, cudaMemcpyHostToDevice);
}
static void copy_out(void)
{
    cudaMemcpy(&word, memory, sizeof word, cudaMemcpyDeviceToHost);
}
static void allocate_and_free(void)
{
    void *p;
    cudaMalloc(&p, 256);
    cudaFree(p);
}
static void last_error(void)
{
    cudaGetLastError();
}
static void record(void)
{
    cudaEventRecord(event, NULL);
}
static void fill(void)
{
    cudaMemsetAsync(memory, 0, sizeof word, NULL);
}
static void launch(void)
{
    cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static void measure(const char *name, void (*call)(void), int calls)
{
    double took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const double start = now();
        for (int k = 0; k < calls; k++) call();
        took[i] = (now() - start) / calls;
    }
    qsort(took, ROUNDS, sizeof *took, by_size);
    printf("%-28s %10.3f us\n", name, took[ROUNDS / 2] * 1e6);
}

/* Kernels as a compiler writes them, as many as fit into the module; the first does nothing. */
static struct buf large_module(void)
{
    struct buf b = {0};
    buf_puts(
        &b,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty()\n{\n ret;\n}\n");
    for (int i = 0; b.size < MODULE; i++) {
        buf_printf(
            &b,
            ".visible .entry kernel_%d(\n\t.param .u64 kernel_%d_param_0,\n\t.param .u32 "
            "kernel_%d_param_1\n)\n{\n\t.reg .pred \t%%p<2>;\n\t.reg .f32 \t%%f<99>;\n\t.reg .b32 "
            "\t%%r<9>;\n\t.reg .b64 \t%%rd<9>;\n\n\tld.param.u64 \t%%rd1, [kernel_%d_param_0];\n"
            "\tcvta.to.global.u64 \t%%rd2, %%rd1;\n",
            i, i, i, i);
        for (int k = 0; k < 60; k++)
            buf_printf(
                &b,
                "\tld.global.f32 \t%%f%d, [%%rd2+%d];\n\tfma.rn.f32 \t%%f%d, %%f%d, %%f%d, %%f%d;\n",
                k, 4 * k, k + 1, k, k, k);
        buf_puts(&b, "\tst.global.f32 \t[%rd2], %f60;\n\tret;\n\n}\n");
    }
    buf_putc(&b, '\0');
    return b;
}

static void launch_first(CUmodule m, const char *name)
{
    CUfunction f;
    void *none = NULL;
    if (cuModuleGetFunction(&f, m, name) != CUDA_SUCCESS) abort();
    cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&memory, &none}, NULL);
}

/* Functions that nobody launches cost what it takes to read over them: the last is read and made ready, alone. */
static void measure_loading(void)
{
    struct buf b = large_module();
    double load[ROUNDS], first[ROUNDS], reached[ROUNDS];
    unsigned count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        CUmodule m;
        char last[32];
        const double start = now();
        if (cuModuleLoadData(&m, b.data) != CUDA_SUCCESS) abort();
        load[i] = now() - start;
        if (cuModuleGetFunctionCount(&count, m) != CUDA_SUCCESS) abort();
        snprintf(last, sizeof last, "kernel_%u", count - 2);
        const double begin = now();
        launch_first(m, "empty");
        first[i] = now() - begin;
        const double again = now();
        launch_first(m, last);
        reached[i] = now() - again;
        cuModuleUnload(m);
    }
    qsort(load, ROUNDS, sizeof *load, by_size);
    qsort(first, ROUNDS, sizeof *first, by_size);
    qsort(reached, ROUNDS, sizeof *reached, by_size);
    printf("%-28s %10.3f ms\n", "load a module of 5 MiB", load[ROUNDS / 2] * 1e3);
    printf("%-28s %10.3f us\n", "  for each of its functions", load[ROUNDS / 2] / count * 1e6);
    printf("%-28s %10.3f us\n", "  first launch: an empty one", first[ROUNDS / 2] * 1e6);
    printf("%-28s %10.3f us\n", "  first launch of another", reached[ROUNDS / 2] * 1e6);
    buf_free(&b);
}

int main(void)
{
    CUmodule m;
    if (cudaMalloc(&memory, 256) != cudaSuccess || cudaEventCreate(&event) != cudaSuccess) abort();
    if (cuModuleLoadData(&m, ".version 7.0\n.target sm_75\n.address_size 64\n"
                             ".visible .entry empty()\n{\n ret;\n}\n") != CUDA_SUCCESS ||
        cuModuleGetFunction(&empty, m, "empty") != CUDA_SUCCESS)
        abort();
    measure("cudaMemcpy of 4 bytes, in", copy_in, CALLS);
    measure("cudaMemcpy of 4 bytes, out", copy_out, CALLS);
    measure("cudaMalloc and cudaFree", allocate_and_free, CALLS);
    measure("cudaGetLastError", last_error, CALLS);
    measure("cudaEventRecord", record, CALLS);
    measure("cudaMemsetAsync of 4 bytes", fill, CALLS);
    measure("launch of an empty kernel", launch, LAUNCHES);
    measure_loading();
    return cudaGetLastError() != cudaSuccess;
}
