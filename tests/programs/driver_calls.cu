// The driver API beside the runtime: one context, modules and libraries of PTX, packed parameters, memory of both.
// FLAGS: -lcuda
// NEEDS: 12
#include "self.cuh"
#include <cuda.h>

#define CU(call) check((call) == CUDA_SUCCESS, #call, __LINE__)
#define CU_FAILS(error, call) check((call) == (error), #call, __LINE__)

static const char ptx[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .const .align 4 .f32 factor = 0f40000000;
.visible .global .align 4 .b8 table[16];
.visible .entry scale(.param .u64 data, .param .u32 n, .param .f32 add)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [add];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4; setp.ge.u32 %p, %r2, %r1; @%p ret;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
    ld.global.f32 %f2, [%rd1]; ld.const.f32 %f3, [factor];
    fma.rn.f32 %f2, %f2, %f3, %f1; st.global.f32 [%rd1], %f2; ret;
}
)";

__global__ void twice(float *a) { a[threadIdx.x] *= 2; }

int main()
{
    const int n = 100;
    CUdevice device;
    CUcontext context = nullptr, primary = nullptr;
    CUmodule module;
    CUfunction scale, none;
    CUdeviceptr data, factor;
    size_t size;
    int count = 0;
    char name[64];
    std::vector<float> host(n, 1.0f);
    room<float> mine(host); // the runtime makes the primary context current
    CU(cuInit(0));
    CU(cuDeviceGetCount(&count));
    CHECK(count == 1);
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetName(name, sizeof name, device));
    CU(cuCtxGetCurrent(&context));
    CU(cuDevicePrimaryCtxRetain(&primary, device));
    CHECK(context == primary && context != nullptr);
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&scale, module, "scale"));
    CU_FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module, "none"));
    CU(cuModuleGetGlobal(&factor, &size, module, "factor"));
    CHECK(size == 4);
    CU(cuModuleGetGlobal(&data, &size, module, "table"));
    CHECK(size == 16);
    CU(cuMemAlloc(&data, n * sizeof(float)));
    CU(cuMemcpyHtoD(data, host.data(), n * sizeof(float)));
    int many = n;
    float add = 0.5f;
    void *args[] = {&data, &many, &add};
    CU(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, args, nullptr));
    twice<<<1, n>>>((float *)data);
    OK(cudaGetLastError());
    struct {
        CUdeviceptr data;
        int n;
        float add;
    } packed = {(CUdeviceptr)mine.at, n, 3};
    size_t bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    const float three = 3;
    CU(cuMemcpyHtoD(factor, &three, 4));
    CU(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, 0, nullptr, extra));
    CHECK(mine.get() == std::vector<float>(n, 6));
    OK(cudaMemcpy(host.data(), (void *)data, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(host == std::vector<float>(n, 5));

    CUlibrary library;
    CUkernel kernel;
    CU(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CU(cuLibraryGetKernel(&kernel, library, "scale"));
    CU(cuLaunchKernel((CUfunction)kernel, 4, 1, 1, 32, 1, 1, 0, 0, args, nullptr));
    CU(cuMemcpyDtoH(host.data(), data, n * sizeof(float)));
    CHECK(host == std::vector<float>(n, 10.5f));
    CU(cuLibraryUnload(library));

    CUfunction function;
    int value = 0;
    OK(cudaGetFuncBySymbol(&function, (const void *)twice));
    CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    CHECK(value == 1024);
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    twice<<<1, n, 0, stream>>>((float *)data);
    CU(cuStreamSynchronize(stream));
    CU(cuStreamDestroy(stream));
    cudaPointerAttributes where;
    OK(cudaPointerGetAttributes(&where, (void *)data));
    CHECK(where.type == cudaMemoryTypeDevice && where.device == 0);
    CU_FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(data + 4));
    CU(cuMemFree(data));
    CU(cuModuleUnload(module));
    const char *text = nullptr;
    CU(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
    CHECK(strcmp(text, "CUDA_ERROR_INVALID_PTX") == 0);
    // With a buffer for the errors a program tries a module: without one, `heddle run` takes the rejection for a failure.
    char log[256];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CU_FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadDataEx(&module, "no PTX at all", 2, options, values));
    CU(cuDevicePrimaryCtxRelease(device));
    return verdict();
}
