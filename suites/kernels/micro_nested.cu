// The kernel of `heddle bench launches` that launches kernels. The device runtime is declared here, so that this file
// compiles without relocatable device code; a driver without CUDA's libcudadevrt does not load it.
#undef __cudaCDP2GetParameterBufferV2 // nvcc removes calls of these without -rdc
#undef __cudaCDP2LaunchDeviceV2
typedef unsigned u32;
extern "C" __device__ void *__cudaCDP2GetParameterBufferV2(void *kernel, dim3 grid, dim3 block,
                                                           unsigned shared);
extern "C" __device__ cudaError_t __cudaCDP2LaunchDeviceV2(void *parameters, cudaStream_t stream);

struct arguments {
    u32 *memory, n, k;
};

// n times k launches: n chains of grids, each of which launches the next, k deep.
extern "C" __global__ void micro_nested(u32 *memory, u32 n, u32 k)
{
    if (threadIdx.x || !k) return;
    for (u32 i = 0; i < n; i++) {
        void *p = __cudaCDP2GetParameterBufferV2((void *)micro_nested, dim3(1), dim3(32), 0);
        if (!p) return;
        *(arguments *)p = {memory, 1, k - 1};
        __cudaCDP2LaunchDeviceV2(p, 0);
    }
}
