#include "tests/support/driver_kernels.h"

#include "cuda/device.h"
#include "tests/support/driver_calls.h"

/* out[i] = in[i] + k; a second kernel with packed parameters of several sizes; one that goes astray */
const char driver_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".visible .global .align 8 .b8 table[24];\n"
    ".visible .entry add(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 k)\n{\n"
    " .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    " ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    " ld.param.u32 %r1, [n]; ld.param.u32 %r2, [k];\n"
    " mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    " mad.lo.u32 %r6, %r3, %r4, %r5; setp.ge.u32 %p, %r6, %r1; @%p ret;\n"
    " mul.wide.u32 %rd3, %r6, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    " ld.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, %r2; st.global.u32 [%rd5], %r7;\n ret;\n}\n"
    ".visible .entry mixed(.param .u8 a, .param .u64 out, .param .u16 b, .param .f64 c)\n{\n"
    " .reg .b16 %h<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f64 %d<2>;\n"
    " ld.param.u8 %h1, [a]; ld.param.u64 %rd1, [out]; ld.param.u16 %h2, [b];\n"
    " ld.param.f64 %d1, [c]; cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2;\n"
    " st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.f64 [%rd1+8], %d1;\n"
    " ret;\n}\n"
    ".visible .entry scaled(.param .u64 out)\n{\n .reg .b32 %r1; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [out]; ld.const.u32 %r1, [factor]; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry astray(.param .u64 at)\n{\n .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [at]; st.global.u32 [%rd1], 1; ret;\n}\n"
    ".visible .entry trapped()\n{\n trap; ret;\n}\n"
    ".visible .entry limited() .maxntid 64, 1, 1\n{\n ret;\n}\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry shared(.param .u64 out, .param .u32 at)\n{\n"
    " .shared .align 4 .b8 fixed[1000]; .reg .b32 %r<4>; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [at]; mov.u32 %r2, dynamic;\n"
    " add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], 77; st.shared.u32 [fixed], 1;\n"
    " ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3; ret;\n}\n";

CUcontext driver_context;
CUmodule driver_module;

void driver_quiet(void)
{
    cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
}

void driver_load_kernels(void)
{
    driver_quiet();
    OK(cuInit(0));
    OK(cuCtxCreate(&driver_context, NULL, 0, 0));
    OK(cuModuleLoadData(&driver_module, driver_ptx));
}

void driver_reset(void)
{
    cuda_device_reset();
}

CUfunction driver_kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, driver_module, name));
    return f;
}

CUdeviceptr driver_alloc(size_t n)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, n));
    return p;
}

CUresult driver_launch1(CUfunction f, unsigned grid, unsigned block, void **params)
{
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, NULL, params, NULL);
}

/* ---- tests/support/driver_calls.h ---------------------------------------------------------------------------------- */

void driver_start(void)
{
    CUcontext c;
    cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    OK(cuInit(0));
    OK(cuCtxCreate(&c, NULL, 0, 0));
}

unsigned driver_stored_by(CUmodule m, const char *kernel)
{
    CUfunction f;
    CUdeviceptr out;
    unsigned value = 0;
    OK(cuModuleGetFunction(&f, m, kernel));
    OK(cuMemAlloc(&out, sizeof value));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuMemcpyDtoH(&value, out, sizeof value));
    OK(cuMemFree(out));
    return value;
}
