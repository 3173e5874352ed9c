// The driver's linker: texts that want each other's functions and variables become one image, and its logs.
// FLAGS: -lcuda
#include "self.cuh"
#include <cstdint>
#include <cuda.h>

#define CU(call) check((call) == CUDA_SUCCESS, #call, __LINE__)
#define CU_FAILS(error, call) check((call) == (error), #call, __LINE__)
#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

static const char kernels[] = HEAD R"(
.extern .func (.param .b32 r) change(.param .b32 a);
.extern .global .align 4 .u32 table[4];
.visible .entry fill(.param .u64 out)
{
    .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
    { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %r1; call.uni (y), change, (x); ld.param.b32 %r2, [y]; }
    and.b32 %r3, %r1, 3; mul.wide.u32 %rd2, %r3, 4; mov.u64 %rd3, table; add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r4, [%rd2]; add.u32 %r2, %r2, %r4;
    mul.wide.u32 %rd4, %r1, 4; add.u64 %rd1, %rd1, %rd4; st.global.u32 [%rd1], %r2; ret;
}
)";
static const char square[] = HEAD R"(
.visible .func (.param .b32 r) change(.param .b32 a)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r0, [a]; mul.lo.u32 %r1, %r0, %r0; st.param.b32 [r], %r1; ret;
}
)";
static const char negate[] = HEAD R"(
.visible .func (.param .b32 r) change(.param .b32 a)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r0, [a]; neg.s32 %r1, %r0; st.param.b32 [r], %r1; ret;
}
)";
static const char table[] = HEAD ".visible .global .align 4 .u32 table[4] = {10, 20, 30, 40};\n";

static CUresult add(CUlinkState state, const char *text, const char *name)
{
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, name, 0, nullptr, nullptr);
}

static std::vector<int> filled(const void *image)
{
    CUmodule module;
    CUfunction fill;
    room<int> out(32);
    CU(cuModuleLoadData(&module, image));
    CU(cuModuleGetFunction(&fill, module, "fill"));
    void *args[] = {&out.at};
    CU(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, 0, args, nullptr));
    std::vector<int> got = out.get();
    CU(cuModuleUnload(module));
    return got;
}

int main()
{
    static const char *const changes[] = {square, negate};
    OK(cudaFree(nullptr));
    for (int i = 0; i < 2; i++) {
        CUlinkState state;
        void *image = nullptr;
        size_t size;
        std::vector<int> want(32);
        for (int k = 0; k < 32; k++) want[k] = (i ? -k : k * k) + 10 * (k % 4 + 1);
        CU(cuLinkCreate(0, nullptr, nullptr, &state));
        CU(add(state, kernels, "kernels"));
        CU(add(state, changes[i], "change"));
        CU(add(state, table, nullptr));
        CU(cuLinkComplete(state, &image, &size));
        CHECK(filled(image) == want);
        std::vector<char> kept((char *)image, (char *)image + size); // as programs do that keep images in files
        CU(cuLinkDestroy(state));
        CHECK(filled(kept.data()) == want);
    }

    CUlinkState state;
    void *image = nullptr;
    char error[1000] = "", info[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error, info, (void *)sizeof info};
    CU(cuLinkCreate(4, options, values, &state));
    CU(add(state, kernels, "kernels"));
    CU(add(state, table, "table"));
    CHECK(cuLinkComplete(state, &image, nullptr) != CUDA_SUCCESS);
    CHECK(strstr(error, "change") && (uintptr_t)values[1] == strlen(error));
    CU(cuLinkDestroy(state));
    CU_FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(nullptr));
    CU(cuLinkCreate(4, options, values, &state));
    CU_FAILS(CUDA_ERROR_INVALID_PTX, add(state, "nonsense", "nonsense"));
    CU(cuLinkDestroy(state));
    return verdict();
}
