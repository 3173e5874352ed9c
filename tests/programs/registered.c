/* What nvcc's host code does, by hand: a container of PTX, registered before main, and launches. The first argument is
 * the exit status, the second another kernel to be launched as well, or something else to be done. */
#include "cuda/runtime/runtime_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__asm__(".section .nv_fatbin, \"a\"\n.balign 8\ncontainer:\n.incbin \"" FATBIN "\"\n.previous\n");
extern const char container[];
static struct {
    int magic, version;
    const void *data, *more;
} wrapper = {0x466243b1, 1, container, NULL};

/* Their addresses stand for the kernels. */
static void fill(int *out, unsigned n)
{
    (void)out, (void)n;
}
static void astray(int *out)
{
    (void)out;
}
static void sum(int *out)
{
    (void)out;
}
static void mark(int *out)
{
    (void)out;
}
static void last(int *out)
{
    (void)out;
}
static void spin(int *out)
{
    (void)out;
}
static const struct {
    void (*host)(int *);
    const char *name;
} more[] = {{astray, "astray"}, {sum, "sum"}, {last, "last"}, {mark, "mark"}, {spin, "spin"}};

__attribute__((constructor)) static void register_all(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)fill, (char *)fill, "fill", -1, NULL, NULL, NULL,
                           NULL, NULL);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        __cudaRegisterFunction(handle, (const char *)more[i].host, (char *)more[i].host,
                               more[i].name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

static void wrong_calls(void)
{
    char byte;
    cudaEvent_t event;
    cudaMemcpy(&byte, (void *)0x1234567, 1, cudaMemcpyDeviceToHost);
    cudaStreamSynchronize((cudaStream_t)0x20000000);
    cudaLaunchKernel((const void *)fill, (dim3){1, 1, 1}, (dim3){5000, 1, 1}, (void *[]){NULL}, 0,
                     NULL);
    cudaEventCreate(&event);
    cudaEventQuery(event);
    cudaMalloc(NULL, 4);
}

/* Memory of the host's own, of many sizes and between launches: where it lies goes to the device. */
static void show_heap(void *out, unsigned n)
{
    void *places[100];
    for (size_t i = 0; i < 100; i++) {
        places[i] = malloc((size_t)24 << i % 15);
        if (i % 3 == 0) free(places[i / 2]), places[i / 2] = malloc(1000 * i);
        if (i % 10 == 0)
            cudaLaunchKernel((const void *)fill, (dim3){4, 1, 1}, (dim3){32, 1, 1},
                             (void *[]){&out, &n}, 0, NULL);
        if (i % 40 == 0) cudaDeviceSynchronize();
    }
    cudaMemcpy(out, places, n * sizeof(int), cudaMemcpyHostToDevice);
}

/* It waits for ever, and so does a process that it has started; their numbers are said. */
__attribute__((noreturn)) static void hang(void)
{
    const pid_t child = fork();
    if (child > 0) printf("waits %d %d\n", (int)getpid(), (int)child);
    (void)fflush(stdout);
    for (;;) pause();
}

static void *misuse_memory(void)
{
    static char bytes[500];
    unsigned n = 128;
    void *small, *freed;
    cudaMalloc(&small, 400);
    cudaMalloc(&freed, 400);
    cudaFree(freed);
    cudaMemcpy(small, bytes, 401, cudaMemcpyHostToDevice);
    cudaFree((char *)small + 4);
    cudaMemcpy(freed, bytes, 1, cudaMemcpyHostToDevice);
    cudaLaunchKernel((const void *)fill, (dim3){4, 1, 1}, (dim3){32, 1, 1}, (void *[]){&small, &n},
                     0, NULL);
    return small;
}

int main(int argc, char **argv)
{
    void *out, *more_memory;
    unsigned n = 100;
    int host[100];
    const char *what = argc > 2 ? argv[2] : "";
    const int status = argc > 1 ? atoi(argv[1]) : 0;
    long sum_of_all = 0;
    if (strcmp(what, "nothing") == 0) return status;
    if (strcmp(what, "careless-by-itself") == 0) setenv("HEDDLE_MEMORY", "8X", 1);
    if (cudaMalloc(&out, sizeof host) != cudaSuccess)
        return strncmp(what, "careless", 8) == 0 ? status : 100;
    cudaLaunchKernel((const void *)fill, (dim3){4, 1, 1}, (dim3){32, 1, 1}, (void *[]){&out, &n}, 0,
                     NULL);
    const char *const checks = getenv("HEDDLE_CHECK");
    if (strcmp(what, "hangs") == 0) hang();
    if (strcmp(what, "hangs-when-checked") == 0 && checks && strstr(checks, "race")) hang();
    if (strcmp(what, "pointer") == 0) {
        const void *addresses[] = {host, stdout, argv[0], (void *)main};
        cudaMemcpy(out, addresses, sizeof addresses, cudaMemcpyHostToDevice);
    } else if (strcmp(what, "heap") == 0) {
        show_heap(out, n);
    } else if (strcmp(what, "process") == 0) {
        const pid_t process = getpid();
        cudaMemcpy(out, &process, sizeof process, cudaMemcpyHostToDevice);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(what, more[i].name) == 0)
            cudaLaunchKernel((const void *)more[i].host, (dim3){40, 1, 1}, (dim3){32, 1, 1},
                             (void *[]){&out}, 0, NULL);
    n = 0; /* nothing is written, but all memory is compared behind a launch */
    cudaLaunchKernel((const void *)fill, (dim3){4, 1, 1}, (dim3){32, 1, 1}, (void *[]){&out, &n}, 0,
                     NULL);
    if (strcmp(what, "misuse") == 0) return misuse_memory() == NULL;
    if (strcmp(what, "wrong") == 0) wrong_calls();
    if (strcmp(what, "allocates") == 0) cudaMalloc(&more_memory, 1000);
    const cudaError_t r = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 100 && r == cudaSuccess; i++) sum_of_all += host[i];
    printf("%s %ld\n", cudaGetErrorName(r), sum_of_all);
    if (strcmp(what, "abort") == 0) abort();
    return status;
}
