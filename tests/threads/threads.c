/* A program of eight threads that launch, copy, record, capture and allocate at the same time, by the driver API and by
 * the runtime API, to be run under ThreadSanitizer: nothing is lost, and nothing races inside the libraries. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/fatbin.h"
#include "cuda/runtime/runtime_api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 60, N = 256 };

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .entry mad(.param .u64 at, .param .u32 times, .param .u32 plus)\n{\n"
    " .reg .b32 %r<6>; .reg .b64 %rd<5>;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [times]; ld.param.u32 %r2, [plus];\n"
    " mov.u32 %r3, %tid.x; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;\n"
    " ld.global.u32 %r4, [%rd3]; mad.lo.u32 %r5, %r4, %r1, %r2; st.global.u32 [%rd3], %r5;\n"
    " mov.u64 %rd4, total; red.global.add.u32 [%rd4], 1; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUevent shared_event;
static CUstream shared_stream;
static unsigned called;
static char mad_stub;

#define OK(call)                                                                                   \
    do {                                                                                           \
        const int ok_r = (int)(call);                                                              \
        if (ok_r != 0) {                                                                           \
            fprintf(stderr, "%d: %s: %d\n", __LINE__, #call, ok_r);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define SO(that)                                                                                   \
    do {                                                                                           \
        if (!(that)) {                                                                             \
            fprintf(stderr, "%d: not so: %s\n", __LINE__, #that);                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void count(void *data)
{
    __atomic_fetch_add((unsigned *)data, 1, __ATOMIC_RELAXED);
}

/* Both kernels: 0, then 3, then 11. */
static void check_result(const unsigned *got)
{
    for (unsigned i = 0; i < N; i++) SO(got[i] == 11);
}

static void by_driver(void)
{
    CUstream s;
    CUevent e;
    CUfunction f;
    CUdeviceptr p;
    unsigned got[N], times = 2, plus = 3;
    void *args[] = {&p, &times, &plus};
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, 0));
    OK(cuMemAlloc(&p, sizeof got));
    OK(cuModuleGetFunction(&f, module, "mad"));
    OK(cuMemsetD32Async(p, 0, N, s));
    OK(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, s, args, NULL));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(shared_stream, e, 0));
    OK(cuEventRecord(shared_event, shared_stream));
    plus = 5;
    OK(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, s, args, NULL));
    OK(cuLaunchHostFunc(s, count, &called));
    OK(cuMemcpyDtoHAsync(got, p, sizeof got, s));
    OK(cuStreamSynchronize(s));
    check_result(got);
    (void)cuEventQuery(shared_event);
    (void)cuStreamQuery(shared_stream);
    OK(cuMemFree(p));
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(s));
}

static void by_runtime(void)
{
    cudaStream_t s;
    unsigned *p, got[N], times = 2, plus = 3;
    void *args[] = {&p, &times, &plus};
    OK(cudaStreamCreateWithFlags(&s, CU_STREAM_NON_BLOCKING));
    OK(cudaMallocAsync((void **)&p, sizeof got, s));
    OK(cudaMemsetAsync(p, 0, sizeof got, s));
    OK(cudaLaunchKernel(&mad_stub, (dim3){1, 1, 1}, (dim3){N, 1, 1}, args, 0, s));
    plus = 5;
    OK(cudaLaunchKernel(&mad_stub, (dim3){1, 1, 1}, (dim3){N, 1, 1}, args, 0, s));
    OK(cudaMemcpyAsync(got, p, sizeof got, cudaMemcpyDeviceToHost, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamSynchronize(s));
    check_result(got);
    OK(cudaGetLastError());
    OK(cudaStreamDestroy(s));
}

static void by_graph(void)
{
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction f;
    CUdeviceptr p;
    unsigned got[N], times = 2, plus = 3;
    void *args[] = {&p, &times, &plus};
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, sizeof got));
    OK(cuModuleGetFunction(&f, module, "mad"));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD32Async(p, 0, N, s));
    OK(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, s, args, NULL));
    plus = 5;
    OK(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, s, args, NULL));
    OK(cuLaunchHostFunc(s, count, &called));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphDestroy(g));
    OK(cuGraphLaunch(x, s));
    OK(cuMemcpyDtoHAsync(got, p, sizeof got, s));
    OK(cuStreamSynchronize(s));
    check_result(got);
    OK(cuGraphExecDestroy(x));
    OK(cuMemFree(p));
    OK(cuStreamDestroy(s));
}

static void *run(void *number)
{
    OK(cuCtxSetCurrent(context));
    for (unsigned i = 0; i < ROUNDS; i++) switch ((*(unsigned *)number + i) % 3) {
        case 0: by_driver(); break;
        case 1: by_runtime(); break;
        default: by_graph(); break;
        }
    return NULL;
}

static void register_kernel(void)
{
    static struct {
        struct {
            unsigned magic;
            unsigned short version, header_size;
            unsigned long long size;
        } header;
        struct {
            unsigned short kind, version;
            unsigned header_size;
            unsigned long long payload;
            unsigned compressed, options;
            unsigned short minor, major;
            unsigned sm, name, name_length;
            unsigned long long flags, zero, uncompressed;
        } entry;
        char text[(sizeof ptx + 7) / 8 * 8];
    } image = {.header = {0xba55ed50, 1, 16, sizeof image - 16},
               .entry = {.kind = 1,
                         .version = 0x101,
                         .header_size = sizeof image.entry,
                         .payload = sizeof image.text,
                         .major = 7,
                         .sm = 75,
                         .flags = 0x11}};
    static struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, &image, NULL};
    memcpy(image.text, ptx, sizeof ptx);
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &mad_stub, &mad_stub, "mad", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned numbers[THREADS], total = 0, total_runtime = 0;
    CUdeviceptr at;
    register_kernel();
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuEventCreate(&shared_event, 0));
    OK(cuStreamCreate(&shared_stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        OK(pthread_create(&threads[i], NULL, run, &numbers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) OK(pthread_join(threads[i], NULL));
    OK(cuCtxSynchronize());
    OK(cuModuleGetGlobal(&at, NULL, module, "total"));
    OK(cuMemcpyDtoH(&total, at, sizeof total));
    /* a third of the rounds went through the runtime's own copy of the module */
    total_runtime = THREADS * ROUNDS / 3;
    SO(total == 2 * N * (THREADS * ROUNDS - total_runtime));
    SO(called == THREADS * ROUNDS - total_runtime);
    printf("%d threads: fine\n", THREADS);
    return 0;
}
