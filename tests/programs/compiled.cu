// NVRTC: the real compiler makes PTX from a text, the driver API loads it.
// FLAGS: -lnvrtc -lcuda
#include "self.cuh"
#include <cuda.h>
#include <nvrtc.h>
#include <string>

static const char source[] = R"(
template <class T> __device__ T poly(T x) { return x * x + T(2) * x + T(1); }
__constant__ float offset = 0.5f;
extern "C" __global__ void plain(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = poly(in[i]) + offset + sinf(0.0f) + FACTOR;
}
template <class T, int N> __global__ void named(T *out) { out[threadIdx.x] = poly(T(threadIdx.x + N)); }
)";

int main()
{
    nvrtcProgram program;
    const char *options[] = {"--gpu-architecture=compute_75", "-DFACTOR=3"};
    CHECK(nvrtcCreateProgram(&program, source, "text.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
    CHECK(nvrtcAddNameExpression(program, "named<int, 5>") == NVRTC_SUCCESS);
    CHECK(nvrtcCompileProgram(program, 2, options) == NVRTC_SUCCESS);
    size_t size = 0;
    CHECK(nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS);
    std::string ptx(size, 0);
    CHECK(nvrtcGetPTX(program, &ptx[0]) == NVRTC_SUCCESS);
    const char *lowered = nullptr;
    CHECK(nvrtcGetLoweredName(program, "named<int, 5>", &lowered) == NVRTC_SUCCESS);

    const int n = 50;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++) in[i] = i;
    room<float> from(in), to(n);
    room<int> ints(32);
    CUmodule module;
    CUfunction plain, named;
    CHECK(cuModuleLoadData(&module, ptx.c_str()) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&plain, module, "plain") == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&named, module, lowered) == CUDA_SUCCESS);
    int many = n;
    void *args[] = {&from.at, &to.at, &many}, *one[] = {&ints.at};
    CHECK(cuLaunchKernel(plain, 2, 1, 1, 32, 1, 1, 0, 0, args, nullptr) == CUDA_SUCCESS);
    CHECK(cuLaunchKernel(named, 1, 1, 1, 32, 1, 1, 0, 0, one, nullptr) == CUDA_SUCCESS);
    for (int i = 0; i < n; i++) CHECK(to.get()[i] == (i + 1) * (i + 1) + 3.5f);
    for (int i = 0; i < 32; i++) CHECK(ints.get()[i] == (i + 6) * (i + 6));
    CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
    CHECK(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
    return verdict();
}
