/* The runtime API as the host code that nvcc makes calls it. Layouts and numbers were compared with CUDA 13's
 * headers. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "cuda/runtime/runtime_api.h"
#include "tests/support/fatbins.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "ABI");
_Static_assert(offsetof(struct cudaDeviceProp, totalGlobalMem) == 288, "ABI");
_Static_assert(offsetof(struct cudaDeviceProp, multiProcessorCount) == 384, "ABI");
_Static_assert(offsetof(struct cudaDeviceProp, surfaceAlignment) == 552, "ABI");
_Static_assert(offsetof(struct cudaDeviceProp, sharedMemPerMultiprocessor) == 624, "ABI");
_Static_assert(offsetof(struct cudaDeviceProp, clusterLaunch) == 748, "ABI");
_Static_assert(sizeof(struct cudaFuncAttributes) == 144, "ABI");
_Static_assert(sizeof(struct cudaPointerAttributes) == 88, "ABI");
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "ABI");
_Static_assert(sizeof(cudaLaunchConfig_t) == 56 && offsetof(cudaLaunchConfig_t, stream) == 32,
               "ABI");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == 112, "ABI");
_Static_assert(sizeof(struct cudaMemcpyAttributes) == 24, "ABI");
_Static_assert(sizeof(struct cudaMemcpy3DPeerParms) == 168, "ABI");
_Static_assert(sizeof(struct cudaResourceDesc) == 144, "ABI");
_Static_assert(sizeof(struct cudaTextureDesc) == 72, "ABI");
_Static_assert(offsetof(struct cudaTextureDesc, maxAnisotropy) == 44, "ABI");
_Static_assert(offsetof(struct cudaResourceDesc, res.pitch2D.pitchInBytes) == 56, "ABI");
_Static_assert(sizeof(dim3) == 12 && sizeof(struct cudaPitchedPtr) == 32, "ABI");

#define OK(call)                                                                                   \
    do {                                                                                           \
        const cudaError_t ok_r = (call);                                                           \
        cr_assert(ok_r == cudaSuccess, "%s: %s", #call, cudaGetErrorName(ok_r));                   \
    } while (0)
#define IS(call, want)                                                                             \
    do {                                                                                           \
        const cudaError_t is_r = (call);                                                           \
        cr_expect(is_r == (want), "%s: %s, not %s", #call, cudaGetErrorName(is_r), #want);         \
    } while (0)

/* out[i] = i * factor + added, of n; what host code would be compiled to is below. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".visible .global .align 4 .b8 added[8] = {0, 0, 0, 0, 9, 0, 0, 0};\n"
    ".visible .entry fill(.param .u64 out, .param .u32 n)\n{\n"
    " .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    " mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %p, %r5, %r1; @%p ret;\n"
    " ld.const.u32 %r6, [factor]; ld.global.u32 %r7, [added+4]; mad.lo.u32 %r8, %r5, %r6, %r7;\n"
    " mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r8; ret;\n}\n"
    ".visible .entry astray()\n{\n .reg .b64 %rd1; mov.u64 %rd1, 8; st.global.u32 [%rd1], 1; ret;\n}\n";

static struct buf image;
static struct fatbin_wrapper wrapper;
static void **handle;
static char fill_stub, astray_stub, missing_stub, factor, added[2]; /* addresses that name things */

static void start(void)
{
    cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    fatbin_add(&image, FATBIN_CUBIN, 75, "\177ELF", 4, STORED);
    fatbin_add(&image, FATBIN_PTX, 75, ptx, sizeof ptx, ZSTD);
    wrapper = (struct fatbin_wrapper){FATBIN_WRAPPER_MAGIC, 1, image.data, NULL};
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &fill_stub, &fill_stub, "fill", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFunction(handle, &astray_stub, &astray_stub, "astray", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFunction(handle, &missing_stub, &missing_stub, "missing", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterVar(handle, &factor, &factor, "factor", 0, 4, 1, 0);
    __cudaRegisterVar(handle, added, added, "added", 0, 8, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static void stop(void)
{
    __cudaUnregisterFatBinary(handle);
    buf_free(&image);
    cuda_device_reset();
}

/* fill<<<grid, block>>>(out, n), as nvcc 13 compiles it. */
static void fill(dim3 grid, dim3 block, int *out, unsigned n)
{
    dim3 g, b;
    size_t shared;
    cudaStream_t stream;
    cudaKernel_t kernel;
    if (__cudaPushCallConfiguration(grid, block, 0, NULL)) return;
    OK(__cudaGetKernel(&kernel, &fill_stub));
    OK(__cudaPopCallConfiguration(&g, &b, &shared, &stream));
    (void)__cudaLaunchKernel(kernel, g, b, (void *[]){&out, &n}, shared, stream);
}

static int sum_of(const int *device, int n)
{
    int *host = malloc((size_t)n * sizeof *host), sum = 0;
    OK(cudaMemcpy(host, device, (size_t)n * sizeof *host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) sum += host[i];
    free(host);
    return sum;
}

Test(runtime, launches_what_was_registered, .init = start, .fini = stop)
{
    void *out;
    OK(cudaMalloc(&out, 400));
    fill((dim3){4, 1, 1}, (dim3){32, 1, 1}, out, 100);
    OK(cudaGetLastError());
    cr_expect_eq(sum_of(out, 100), 3 * 4950 + 900);
    OK(cudaMemset(out, 0, 400)); /* nvcc 11 and 12 */
    unsigned n = 10;
    OK(cudaLaunchKernel(&fill_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, (void *[]){&out, &n}, 0,
                        NULL));
    cr_expect_eq(sum_of(out, 100), 3 * 45 + 90);
    OK(cudaFree(out));
    OK(cudaFree(NULL));
    IS(cudaFree(out), cudaErrorInvalidValue);
}

static bool is_documented(cudaError_t e)
{
    static const cudaError_t of_images[] = {
        cudaSuccess,           cudaErrorInvalidKernelImage,    cudaErrorNoKernelImageForDevice,
        cudaErrorInvalidPtx,   cudaErrorUnsupportedPtxVersion, cudaErrorInvalidDeviceFunction,
        cudaErrorInvalidValue, cudaErrorSymbolNotFound};
    for (size_t i = 0; i < sizeof of_images / sizeof *of_images; i++)
        if (e == of_images[i]) return true;
    return false;
}

/* One bit after the other: the program goes on, and its launch says what CUDA would. */
Test(runtime, survives_damaged_images, .init = start, .fini = stop, .timeout = 120)
{
    enum { CONTAINER_BYTES = 1 << 17 }; /* a header may say that it has 65,535 bytes */
    static char stub,
        container
            [CONTAINER_BYTES]; /* behind a container there is something else of the program's */
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry fill()\n{\n ret;\n}\n";
    struct buf whole = {0};
    unsigned refused = 0;
    fatbin_add(&whole, FATBIN_PTX, 75, text, sizeof text, LZ4);
    cr_assert(whole.size < CONTAINER_BYTES);
    for (size_t at = 0; at < whole.size; at++)
        for (unsigned bit = 0; bit < 8; bit += 1 + at % 3) {
            memcpy(container, whole.data, whole.size);
            container[at] = (char)(container[at] ^ 1 << bit);
            struct fatbin_wrapper damaged = {FATBIN_WRAPPER_MAGIC, 1, container, NULL};
            void **own = __cudaRegisterFatBinary(&damaged);
            __cudaRegisterFunction(own, &stub, &stub, "fill", -1, NULL, NULL, NULL, NULL, NULL);
            __cudaRegisterFatBinaryEnd(own);
            const cudaError_t r = cudaLaunchKernel(&stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0,
                                                   NULL);
            cr_expect(is_documented(r), "byte %zu, bit %u: %s", at, bit, cudaGetErrorName(r));
            refused += r != cudaSuccess;
            __cudaUnregisterFatBinary(own);
        }
    cr_expect(refused > whole.size, "%u of %zu bytes", refused, whole.size);
    buf_free(&whole);
}

/* As a plugin is that is closed and opened again, at the same addresses. */
Test(runtime, registers_again_what_was_closed, .init = start, .fini = stop)
{
    void *out;
    unsigned n = 100, *address;
    OK(cudaMalloc(&out, 400));
    for (int i = 0; i < 3; i++) {
        OK(cudaMemset(out, 0, 400));
        fill((dim3){4, 1, 1}, (dim3){32, 1, 1}, out, n);
        OK(cudaGetLastError());
        OK(cudaGetSymbolAddress((void **)&address, &factor));
        cr_expect_eq(sum_of(out, 100), 3 * 4950 + 900);
        __cudaUnregisterFatBinary(handle);
        IS(cudaLaunchKernel(&fill_stub, (dim3){4, 1, 1}, (dim3){32, 1, 1}, (void *[]){&out, &n}, 0,
                            NULL),
           cudaErrorCudartUnloading);
        (void)cudaGetLastError();
        handle = __cudaRegisterFatBinary(&wrapper);
        __cudaRegisterFunction(handle, &fill_stub, &fill_stub, "fill", -1, NULL, NULL, NULL, NULL,
                               NULL);
        __cudaRegisterVar(handle, &factor, &factor, "factor", 0, 4, 1, 0);
        __cudaRegisterFatBinaryEnd(handle);
    }
}

Test(runtime, launches_nothing_that_is_not_there, .init = start, .fini = stop)
{
    cudaKernel_t kernel;
    char stranger = 0;
    const dim3 one = {1, 1, 1};
    IS(cudaLaunchKernel(&stranger, one, one, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    IS(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    IS(cudaLaunchKernel(&missing_stub, one, one, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    IS(__cudaGetKernel(&kernel, &stranger), cudaErrorInvalidDeviceFunction);
    __cudaRegisterFunction(handle, &stranger, &stranger, "astray", -1, NULL, NULL, NULL, NULL,
                           NULL); /* as of a library that is loaded later */
    OK(__cudaGetKernel(&kernel, &stranger));
    OK(cudaDeviceSynchronize());
}

Test(runtime, refuses_wrong_sizes, .init = start, .fini = stop)
{
    void *p, *q;
    char host[512];
    size_t pitch;
    const dim3 one = {1, 1, 1};
    OK(cudaMalloc(&p, 256));
    IS(cudaMalloc(&q, SIZE_MAX), cudaErrorMemoryAllocation);
    IS(cudaMallocPitch(&q, &pitch, SIZE_MAX / 2, 4), cudaErrorMemoryAllocation);
    IS(cudaMallocHost(&q, (size_t)1 << 50), cudaErrorMemoryAllocation);
    IS(cudaMallocManaged(&q, 0, 1), cudaErrorInvalidValue);
    IS(cudaMemcpy(p, host, 257, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpy(host, p, SIZE_MAX, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    IS(cudaMemcpy((char *)p + 255, host, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemset(p, 0, 257), cudaErrorInvalidValue);
    IS(cudaMemcpy2D(p, 16, host, 8, 16, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    IS(cudaMemcpy2D(p, 16, host, 16, 16, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpyToSymbol(&factor, host, 5, 0, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpyToSymbol(&factor, host, 4, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaLaunchKernel(&fill_stub, (dim3){0, 1, 1}, one, (void *[]){&p, &p}, 0, NULL),
       cudaErrorInvalidConfiguration);
    IS(cudaLaunchKernel(&fill_stub, one, (dim3){1, 1, 65}, (void *[]){&p, &p}, 0, NULL),
       cudaErrorInvalidConfiguration);
    IS(cudaLaunchKernel(&fill_stub, (dim3){1, 65536, 1}, one, (void *[]){&p, &p}, 0, NULL),
       cudaErrorInvalidConfiguration);
    IS(cudaLaunchKernel(&fill_stub, one, one, (void *[]){&p, &p}, (size_t)1 << 30, NULL),
       cudaErrorInvalidValue);
    OK(cudaMemset(p, 0, 256)); /* nothing of this is lasting */
    OK(cudaFree(p));
}

Test(runtime, variables_have_values_addresses_and_sizes, .init = start, .fini = stop)
{
    void *out, *at;
    size_t size;
    int value = 5, back = 0;
    OK(cudaMalloc(&out, 40));
    OK(cudaMemcpyToSymbol(&factor, &value, 4, 0, cudaMemcpyHostToDevice));
    value = 1000;
    OK(cudaMemcpyToSymbol(added, &value, 4, 4, cudaMemcpyHostToDevice));
    fill((dim3){1, 1, 1}, (dim3){32, 1, 1}, out, 10);
    cr_expect_eq(sum_of(out, 10), 5 * 45 + 10000);
    OK(cudaMemcpyFromSymbol(&back, added, 4, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(back, 1000);
    OK(cudaGetSymbolSize(&size, added));
    OK(cudaGetSymbolAddress(&at, added));
    cr_expect_eq(size, 8);
    OK(cudaMemcpy(&back, (char *)at + 4, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(back, 1000);
    IS(cudaMemcpyToSymbol(added, &value, 4, 5, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpyToSymbol(added, &value, 4, 0, cudaMemcpyDeviceToHost),
       cudaErrorInvalidMemcpyDirection);
    IS(cudaGetSymbolSize(&size, &value), cudaErrorInvalidSymbol);
    IS(cudaGetSymbolSize(&size, &fill_stub), cudaErrorInvalidSymbol);
}

Test(runtime, remembers_the_last_error_of_each_thread, .init = start, .fini = stop)
{
    void *out;
    OK(cudaMalloc(&out, 4));
    IS(cudaMemcpy(out, &out, 4, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    OK(cudaFree(out)); /* what goes well changes nothing */
    IS(cudaPeekAtLastError(), cudaErrorInvalidMemcpyDirection);
    IS(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
    IS(cudaGetLastError(), cudaSuccess);
    fill((dim3){1, 1, 1}, (dim3){2048, 1, 1}, out, 1);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    fill((dim3){0, 1, 1}, (dim3){32, 1, 1}, out, 1);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    IS(cudaLaunchKernel(&factor, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
       cudaErrorInvalidDeviceFunction);
    IS(cudaLaunchKernel(&missing_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
       cudaErrorInvalidDeviceFunction);
}

Test(runtime, what_a_kernel_did_stays, .init = start, .fini = stop)
{
    void *out;
    OK(cudaMalloc(&out, 4));
    IS(cudaLaunchKernel(&astray_stub, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
       cudaErrorIllegalAddress);
    IS(cudaGetLastError(), cudaErrorIllegalAddress);
    IS(cudaGetLastError(), cudaErrorIllegalAddress);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    IS(cudaFree(out), cudaErrorIllegalAddress);
    OK(cudaDeviceReset()); /* another beginning: modules are loaded again */
    OK(cudaMalloc(&out, 400));
    fill((dim3){1, 1, 1}, (dim3){32, 1, 1}, out, 2);
    OK(cudaDeviceSynchronize());
    cr_expect_eq(sum_of(out, 2), 3 + 18);
}

Test(runtime, copies_boxes, .init = start, .fini = stop)
{
    struct cudaPitchedPtr box;
    char from[3 * 5 * 7], to[3 * 5 * 7] = {0};
    for (int i = 0; i < 105; i++) from[i] = (char)i;
    OK(cudaMalloc3D(&box, (struct cudaExtent){7, 5, 3}));
    cr_expect(box.pitch >= 7 && box.pitch % 32 == 0 && box.xsize == 7 && box.ysize == 5);
    struct cudaMemcpy3DParms p = {.srcPtr = {from, 7, 7, 5},
                                  .dstPtr = box,
                                  .extent = {7, 5, 3},
                                  .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&p));
    OK(cudaMemcpy2D(to, 7, (char *)box.ptr + 5 * box.pitch, box.pitch, 7, 5,
                    cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(to, from + 35, 35); /* the second slice */
    OK(cudaMemset2D(box.ptr, box.pitch, 1, 7, 15));
    OK(cudaMemcpy2D(to, 7, box.ptr, box.pitch, 7, 15, cudaMemcpyDefault));
    for (int i = 0; i < 105; i++) cr_expect_eq(to[i], 1);
    IS(cudaMemcpy2D(to, 6, box.ptr, box.pitch, 7, 5, cudaMemcpyDeviceToHost),
       cudaErrorInvalidPitchValue);
}

Test(runtime, fills_boxes_within_boxes, .init = start, .fini = stop)
{
    struct cudaPitchedPtr box;
    char to[4 * 6 * 8];
    OK(cudaMalloc3D(&box, (struct cudaExtent){8, 6, 4}));
    OK(cudaMemset3D(box, 1, (struct cudaExtent){8, 6, 4}));
    OK(cudaMemset3DAsync(box, 2, (struct cudaExtent){5, 3, 2}, NULL));
    OK(cudaMemset3D(box, 3, (struct cudaExtent){5, 0, 2}));
    struct cudaMemcpy3DParms p = {.srcPtr = box,
                                  .dstPtr = {to, 8, 8, 6},
                                  .extent = {8, 6, 4},
                                  .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&p));
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 8; x++)
                cr_expect_eq(to[48 * z + 8 * y + x], x < 5 && y < 3 && z < 2 ? 2 : 1);
    IS(cudaMemset3D(box, 3, (struct cudaExtent){8, 7, 4}), cudaErrorInvalidValue);
    IS(cudaMemset3D(box, 3, (struct cudaExtent){box.pitch + 1, 2, 1}), cudaErrorInvalidPitchValue);
}

Test(runtime, copies_many_at_once, .init = start, .fini = stop)
{
    int a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {0};
    void *device;
    struct cudaMemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t first = 0;
    OK(cudaMalloc(&device, 64));
    void *to[] = {device, (char *)device + 32, b};
    const void *from[] = {a, a + 4, (char *)device + 32};
    const size_t sizes[] = {16, 16, 12};
    OK(cudaMemcpyBatchAsync(to, from, sizes, 3, &how, &first, 1, NULL));
    cr_expect(b[0] == 5 && b[2] == 7 && b[3] == 0);
    IS(cudaMemcpyBatchAsync(to, from, sizes, 3, &how, &first, 0, NULL), cudaErrorInvalidValue);
    how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    IS(cudaMemcpyBatchAsync(to, from, sizes, 3, &how, &first, 1, NULL), cudaErrorInvalidValue);
    first = 1;
    how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    IS(cudaMemcpyBatchAsync(to, from, sizes, 3, &how, &first, 1, NULL), cudaErrorInvalidValue);

    struct cudaChannelFormatDesc d = cudaCreateChannelDesc(32, 0, 0, 0,
                                                           cudaChannelFormatKindSigned);
    cudaArray_t array;
    OK(cudaMallocArray(&array, &d, 4, 3, 0));
    struct cudaMemcpy3DBatchOp ops[] = {
        {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                 .op.ptr = {.ptr = (uintptr_t)a, .rowLength = 4}},
         .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.array = {array, {1, 1, 0}}},
         .extent = {3, 2, 1},
         .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
        {.src = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.array = {array, {2, 2, 0}}},
         .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = (uintptr_t)b}},
         .extent = {2, 1, 1},
         .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    OK(cudaMemcpy3DBatchAsync(2, ops, 0, NULL));
    cr_expect(b[0] == 6 && b[1] == 7 && b[2] == 7);
    ops[1].extent.width = 3;
    IS(cudaMemcpy3DBatchAsync(2, ops, 0, NULL), cudaErrorInvalidValue);
    struct cudaMemcpy3DPeerParms p = {
        .srcArray = array, .srcPos = {1, 1, 0}, .dstPtr = {b, 32, 8, 1}, .extent = {2, 1, 1}};
    OK(cudaMemcpy3DPeer(&p));
    cr_expect(b[0] == 1 && b[1] == 2);
    p.dstDevice = 1;
    IS(cudaMemcpy3DPeer(&p), cudaErrorInvalidDevice);
}

Test(runtime, copies_runs_of_arrays, .init = start, .fini = stop)
{
    struct cudaChannelFormatDesc d = cudaCreateChannelDesc(8, 0, 0, 0,
                                                           cudaChannelFormatKindUnsigned);
    cudaArray_t a, b;
    char from[30], to[30] = {0};
    void *device;
    for (int i = 0; i < 30; i++) from[i] = (char)i;
    OK(cudaMallocArray(&a, &d, 10, 3, 0));
    OK(cudaMallocArray(&b, &d, 10, 3, 0));
    OK(cudaMalloc(&device, 30));
    OK(cudaMemcpyToArray(a, 0, 0, from, 30, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(to, a, 8, 0, 4, cudaMemcpyDeviceToHost)); /* over the end of a row */
    cr_expect(to[0] == 8 && to[3] == 11 && to[4] == 0);
    OK(cudaMemcpyFromArray(device, a, 5, 1, 15, cudaMemcpyDefault));
    OK(cudaMemcpyToArray(b, 0, 0, device, 15, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyArrayToArray(b, 0, 2, b, 3, 0, 10, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(to, 10, b, 0, 0, 10, 3, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 10; i++) cr_expect(to[i] == 15 + i && to[20 + i] == 18 + i);
    cr_expect(to[14] == 29 && to[15] == 0);
    OK(cudaMemcpy2DArrayToArray(b, 7, 0, a, 0, 1, 3, 2, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(to, 10, b, 0, 0, 10, 3, cudaMemcpyDeviceToHost));
    cr_expect(to[6] == 21 && to[7] == 10 && to[9] == 12 && to[17] == 20);
    IS(cudaMemcpyToArray(a, 1, 0, from, 30, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    OK(cudaFreeArray(a));
    IS(cudaMemcpyToArray(a, 0, 0, from, 30, cudaMemcpyHostToDevice),
       cudaErrorInvalidResourceHandle);
}

Test(runtime, arrays_have_channels_and_rows, .init = start, .fini = stop)
{
    struct cudaChannelFormatDesc d = cudaCreateChannelDesc(16, 16, 0, 0,
                                                           cudaChannelFormatKindFloat),
                                 asked;
    struct cudaExtent e;
    unsigned flags;
    cudaArray_t a;
    char from[3 * 40], to[3 * 40] = {0}, box[40] = {0};
    for (int i = 0; i < 120; i++) from[i] = (char)i;
    OK(cudaMallocArray(&a, &d, 10, 3, 2)); /* texels of 4 bytes; for surfaces */
    OK(cudaArrayGetInfo(&asked, &e, &flags, a));
    cr_expect(memcmp(&asked, &d, sizeof d) == 0 && flags == 2);
    cr_expect(e.width == 10 && e.height == 3 && e.depth == 0);
    OK(cudaMemcpy2DToArray(a, 0, 0, from, 40, 40, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(to, 12, a, 8, 1, 12, 2, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 24; i++) cr_expect_eq(to[i], 40 * (1 + i / 12) + 8 + i % 12);
    struct cudaMemcpy3DParms p = {.srcArray = a, /* in texels */
                                  .srcPos = {2, 2, 0},
                                  .dstPtr = {box, 40, 40, 1},
                                  .extent = {5, 1, 1},
                                  .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&p));
    for (int i = 0; i < 40; i++) cr_expect_eq(box[i], i < 20 ? 88 + i : 0);
    IS(cudaMemcpy2DToArray(a, 0, 1, from, 40, 40, 3, cudaMemcpyHostToDevice),
       cudaErrorInvalidValue);
    d.y = 8;
    IS(cudaMallocArray(&a, &d, 10, 3, 0), cudaErrorInvalidChannelDescriptor);
    d = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    IS(cudaMallocArray(&a, &d, 10, 3, 0), cudaErrorInvalidChannelDescriptor);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(NULL));
    IS(cudaFreeArray(a), cudaErrorInvalidResourceHandle);
}

Test(runtime, tells_what_textures_were_made_of, .init = start, .fini = stop)
{
    struct cudaResourceDesc r = {.resType = cudaResourceTypePitch2D}, asked;
    struct cudaTextureDesc d = {.addressMode = {1, 3, 0},
                                .filterMode = 1,
                                .readMode = 1,
                                .normalizedCoords = 1,
                                .borderColor = {0.5f, 1, 2, 3},
                                .maxMipmapLevelClamp = 7},
                           back;
    cudaTextureObject_t t;
    cudaSurfaceObject_t s;
    cudaArray_t array;
    void *memory;
    size_t width;
    OK(cudaMalloc(&memory, 4096));
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = cudaCreateChannelDesc(8, 8, 0, 0, cudaChannelFormatKindUnsigned);
    r.res.pitch2D.width = 20;
    r.res.pitch2D.height = 3;
    r.res.pitch2D.pitchInBytes = 512;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaGetTextureObjectResourceDesc(&asked, t));
    cr_expect(asked.resType == r.resType && asked.res.pitch2D.devPtr == memory);
    cr_expect(!memcmp(&asked.res.pitch2D.desc, &r.res.pitch2D.desc, sizeof r.res.pitch2D.desc));
    cr_expect(asked.res.pitch2D.width == 20 && asked.res.pitch2D.pitchInBytes == 512);
    OK(cudaGetTextureObjectTextureDesc(&back, t));
    cr_expect(memcmp(&back, &d, sizeof d) == 0);
    IS(cudaGetTextureObjectResourceViewDesc((void *)&back, t), cudaErrorInvalidValue);
    OK(cudaDestroyTextureObject(t));
    IS(cudaGetTextureObjectTextureDesc(&back, t), cudaErrorInvalidValue);
    struct cudaChannelFormatDesc word = cudaCreateChannelDesc(32, 0, 0, 0,
                                                              cudaChannelFormatKindFloat);
    OK(cudaMallocArray(&array, &word, 8, 8, 2));
    struct cudaResourceDesc of = {.resType = cudaResourceTypeArray, .res.array.array = array};
    OK(cudaCreateSurfaceObject(&s, &of));
    OK(cudaGetSurfaceObjectResourceDesc(&asked, s));
    cr_expect(asked.resType == cudaResourceTypeArray && asked.res.array.array == array);
    OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &word, 0));
    cr_expect(width == (size_t)1 << 27);
    IS(cudaArrayGetPlane(&array, array, 0), cudaErrorInvalidValue);
    IS(cudaArrayGetMemoryRequirements(NULL, array, 0), cudaErrorInvalidValue);
    IS(cudaArrayGetSparseProperties(NULL, NULL), cudaErrorInvalidResourceHandle);
}

Test(runtime, counts_clusters, .init = start, .fini = stop)
{
    struct CUlaunchAttribute_st four = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                        .value.clusterDim = {2, 2, 1}};
    cudaLaunchConfig_t g = {
        .gridDim = {64, 2, 1}, .blockDim = {1024, 1, 1}, .attrs = &four, .numAttrs = 1};
    int n, value;
    OK(cudaOccupancyMaxActiveClusters(&n, &fill_stub, &g));
    cr_expect_eq(n, 132 * 2 / 4); /* two blocks of 1024 threads on an SM */
    OK(cudaOccupancyMaxPotentialClusterSize(&n, &fill_stub, &g));
    cr_expect_eq(n, 8);
    four.value.clusterDim.x = 8;
    IS(cudaOccupancyMaxActiveClusters(&n, &fill_stub, &g), cudaErrorInvalidClusterSize);
    g.blockDim.x = 0;
    IS(cudaOccupancyMaxActiveClusters(&n, &fill_stub, &g), cudaErrorInvalidValue);
    IS(cudaOccupancyMaxActiveClusters(&n, &factor, &g), cudaErrorInvalidDeviceFunction);
    IS(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 0),
       cudaErrorInvalidDevice);
    IS(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrPerformanceRank, 0, 1),
       cudaErrorInvalidDevice);
    OK(cudaCtxResetPersistingL2Cache());
}

Test(runtime, tells_what_pointers_kernels_and_the_device_are, .init = start, .fini = stop)
{
    void *device, *pinned;
    struct cudaPointerAttributes a;
    struct cudaFuncAttributes f;
    struct cudaDeviceProp p;
    int blocks, value;
    OK(cudaMalloc(&device, 16));
    OK(cudaMallocHost(&pinned, 16));
    OK(cudaPointerGetAttributes(&a, device));
    cr_expect(a.type == cudaMemoryTypeDevice && a.devicePointer == device && a.device == 0);
    OK(cudaPointerGetAttributes(&a, pinned));
    cr_expect(a.type == cudaMemoryTypeHost && a.hostPointer == pinned && a.devicePointer);
    OK(cudaPointerGetAttributes(&a, &a));
    cr_expect(a.type == cudaMemoryTypeUnregistered && !a.devicePointer);
    OK(cudaFuncGetAttributes(&f, &fill_stub));
    cr_expect(f.maxThreadsPerBlock == 1024 && f.numRegs > 0 && f.ptxVersion == 75);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &fill_stub, 1024, 0));
    cr_expect_eq(blocks, 2);
    OK(cudaGetDeviceProperties(&p, 0));
    OK(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)16, 0));
    cr_expect_str_eq(p.name, "Heddle H100 SXM5");
    cr_expect(p.warpSize == 32 && p.multiProcessorCount == value && p.maxThreadsPerBlock == 1024);
    cr_expect(p.sharedMemPerBlock == 49152 && p.maxThreadsDim[2] == 64 && p.major >= 9);
    IS(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
    IS(cudaSetDevice(1), cudaErrorInvalidDevice);
    OK(cudaSetDevice(0));
    OK(cudaFreeHost(pinned));
}

static void count_call(cudaStream_t stream, cudaError_t status, void *data)
{
    (void)stream;
    *(int *)data += status == cudaSuccess;
}

Test(runtime, streams_and_events, .init = start, .fini = stop)
{
    cudaStream_t s;
    cudaEvent_t from, to;
    float ms = -1;
    int called = 0;
    OK(cudaStreamCreateWithFlags(&s, 1));
    OK(cudaEventCreate(&from));
    OK(cudaEventCreateWithFlags(&to, 0));
    OK(cudaEventRecord(from, s));
    OK(cudaStreamAddCallback(s, count_call, &called, 0));
    OK(cudaEventRecord(to, s));
    OK(cudaStreamWaitEvent(NULL, to, 0));
    OK(cudaEventSynchronize(to));
    OK(cudaEventElapsedTime(&ms, from, to));
    OK(cudaStreamQuery(s));
    cr_expect(ms >= 0 && called == 1);
    OK(cudaEventDestroy(from));
    IS(cudaEventRecord(from, s), cudaErrorInvalidResourceHandle);
    OK(cudaStreamDestroy(s));
    IS(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
}

/* "This call will bind the primary context of the specified device to the calling thread." */
Test(runtime, setting_the_device_makes_its_primary_context_current, .init = start, .fini = stop)
{
    CUcontext own, primary, now;
    void *p;
    OK(cudaFree(NULL));
    cr_assert_eq(cuCtxGetCurrent(&primary), CUDA_SUCCESS);
    cr_assert_eq(cuCtxCreate(&own, NULL, 0, 0), CUDA_SUCCESS);
    OK(cudaMalloc(&p, 4)); /* other calls leave it */
    cr_assert_eq(cuCtxGetCurrent(&now), CUDA_SUCCESS);
    cr_expect_eq(now, own);
    IS(cudaSetDevice(1), cudaErrorInvalidDevice);
    OK(cudaSetDevice(0));
    cr_assert_eq(cuCtxGetCurrent(&now), CUDA_SUCCESS);
    cr_expect_eq(now, primary);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, int mode);
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaMallocFromPoolAsync_ptsz(void **out, size_t size, cudaMemPool_t pool,
                                         cudaStream_t stream);

/* The stream that is left out is the thread's. */
Test(runtime, a_thread_captures_allocations_of_a_pool, .init = start, .fini = stop)
{
    cudaMemPool_t pool;
    cudaGraph_t g;
    void *p;
    size_t count = 0;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaStreamBeginCapture_ptsz(NULL, 0));
    OK(cudaMallocFromPoolAsync_ptsz(&p, 64, pool, NULL));
    OK(cudaStreamEndCapture_ptsz(NULL, &g));
    OK(cudaGraphGetNodes(g, NULL, &count));
    cr_expect_eq(count, 1);
}

/* A copy between an array and memory of the device is its stream's: it comes behind what the stream waits for. */
Test(runtime, copies_runs_of_arrays_in_their_streams, .init = start, .fini = stop, .timeout = 60)
{
    const struct cudaChannelFormatDesc words = cudaCreateChannelDesc(32, 0, 0, 0,
                                                                     cudaChannelFormatKindUnsigned);
    cudaStream_t s;
    cudaArray_t a;
    void *memory, *flag;
    unsigned back[6] = {0};
    OK(cudaStreamCreateWithFlags(&s, 1));
    OK(cudaMallocArray(&a, &words, 4, 4, 0));
    OK(cudaMalloc(&memory, 64));
    OK(cudaHostAlloc(&flag, 4, 0));
    *(volatile unsigned *)flag = 0;
    OK(cudaMemset(memory, 0, 64));
    OK(cudaDeviceSynchronize());
    cr_assert_eq(cuStreamWaitValue32(s, (CUdeviceptr)(uintptr_t)flag, 1, CU_STREAM_WAIT_VALUE_EQ),
                 CUDA_SUCCESS);
    OK(cudaMemsetAsync(memory, 1, 32, s));
    OK(cudaMemcpyToArrayAsync(a, 8, 1, memory, 24, cudaMemcpyDeviceToDevice,
                              s)); /* half a row, and a row */
    OK(cudaMemsetAsync(memory, 0, 64, s));
    OK(cudaMemcpyFromArrayAsync(memory, a, 8, 1, 24, cudaMemcpyDeviceToDevice, s));
    *(volatile unsigned *)flag = 1;
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++) cr_expect_eq(back[i], 0x01010101, "%d: %x", i, back[i]);
}

Test(runtime, says_after_the_end_that_it_is_too_late, .init = start)
{
    size_t size;
    __cudaUnregisterFatBinary(handle);
    IS(cudaGetSymbolSize(&size, added), cudaErrorCudartUnloading);
}

cudaError_t cudaImportExternalMemory(void **memory, const void *d); /* as CUDA's header has it */

Test(runtime, names_what_is_not_there, .init = start, .fini = stop)
{
    IS(cudaImportExternalMemory(NULL, NULL), cudaErrorNotSupported);
    IS(cudaGetLastError(), cudaErrorNotSupported);
    cr_expect_str_eq(cudaGetErrorString(cudaErrorNotSupported), "operation not supported");
    cr_expect_str_eq(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}

static void *launch_many(void *out)
{
    for (int i = 0; i < 50; i++) fill((dim3){1, 1, 1}, (dim3){32, 1, 1}, out, 32);
    return cudaGetLastError() == cudaSuccess ? out : NULL;
}

Test(runtime, threads_launch_at_the_same_time, .init = start, .fini = stop)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    void *out[THREADS], *ended;
    for (int i = 0; i < THREADS; i++) {
        OK(cudaMalloc(&out[i], 128));
        cr_assert(pthread_create(&thread[i], NULL, launch_many, out[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        cr_assert(pthread_join(thread[i], &ended) == 0);
        cr_expect_eq(ended, out[i]);
        cr_expect_eq(sum_of(out[i], 32), 3 * 496 + 288);
    }
}
