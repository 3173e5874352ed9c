#include "tests/support/driver_calls.h"

#include "cuda/device.h"

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
