/* What nvcc's host code does, by hand: a container of PTX, registered before main, and launches. The first argument is
 * the exit status; "astray" launches a kernel that faults. */
#include "cuda/runtime/runtime_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__asm__(".section .nv_fatbin, \"a\"\n.balign 8\ncontainer:\n.incbin \"" FATBIN "\"\n.previous\n");
extern const char container[];
static struct {
    int magic, version;
    const void *data, *more;
} wrapper = {0x466243b1, 1, container, NULL};

static void fill(int *out, unsigned n)
{
    (void)out, (void)n; /* its address stands for the kernel */
}
static void astray(void)
{
}

__attribute__((constructor)) static void register_all(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)fill, (char *)fill, "fill", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(handle, (const char *)astray, (char *)astray, "astray", -1, NULL, NULL,
                           NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

int main(int argc, char **argv)
{
    void *out;
    unsigned n = 100;
    int host[100];
    long sum = 0;
    if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 100;
    cudaLaunchKernel((const void *)fill, (dim3){4, 1, 1}, (dim3){32, 1, 1}, (void *[]){&out, &n}, 0,
                     NULL);
    if (argc > 2 && strcmp(argv[2], "astray") == 0)
        cudaLaunchKernel((const void *)astray, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL);
    const cudaError_t r = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 100 && r == cudaSuccess; i++) sum += host[i];
    printf("%s %ld\n", cudaGetErrorName(r), sum);
    return argc > 1 ? atoi(argv[1]) : 0;
}
