// How many blocks fit on an SM: as NVIDIA's own calculator (cuda_occupancy.h) has it for the device and the kernels'
// attributes, whatever the block size, shared memory, registers and carveout.
// FLAGS: -lcuda
#include "self.cuh"
#include <cuda.h>
#include <cuda_occupancy.h>

template <int N> __global__ void wide(float *a)
{
    float x[N];
    for (int i = 0; i < N; i++) x[i] = a[i * 64 + threadIdx.x];
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++) x[i] = fmaf(x[i], x[(i + k) % N], 1.0f);
    float sum = 0;
    for (int i = 0; i < N; i++) sum += x[i];
    a[threadIdx.x] = sum;
}
__global__ void __launch_bounds__(192) fixed(float *a)
{
    __shared__ float tile[3000];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = tile[threadIdx.x ^ 1];
}
__global__ void roomy(float *a)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = tile[threadIdx.x ^ 1];
}

static cudaOccDeviceProp device;
static cudaOccDeviceState state;
static size_t bytes_of_block(int threads) { return 20 * threads; }

template <class F> static void compare(F *kernel, const char *name, int carveout)
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, kernel));
    cudaOccFuncAttributes function = a;
    state.carveoutConfig = carveout;
    static const size_t shared[] = {0, 1, 1000, 3100, 6272, 6273, 12289, 20000, 33000, 48000, 60000, 100000};
    for (int threads = 1; threads <= 1024; threads += threads < 4 ? 1 : 31)
        for (size_t bytes : shared) {
            cudaOccResult want;
            int got = -1;
            CHECK(cudaOccMaxActiveBlocksPerMultiprocessor(&want, &device, &function, &state, threads, bytes) == 0);
            if (threads > a.maxThreadsPerBlock) want.activeBlocksPerMultiprocessor = 0; // the caller is to see to that
            OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&got, kernel, threads, bytes));
            if (got != want.activeBlocksPerMultiprocessor)
                printf("%s, %d registers, %d threads, %zu bytes, carveout %d: %d, not %d\n", name, a.numRegs, threads,
                       bytes, carveout, got, want.activeBlocksPerMultiprocessor);
            CHECK(got == want.activeBlocksPerMultiprocessor);
        }
    int grid = 0, block = 0, want_grid = 0, want_block = 0;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
    CHECK(cudaOccMaxPotentialOccupancyBlockSize(&want_grid, &want_block, &device, &function, &state, nullptr, 0) == 0);
    CHECK(block == want_block && grid == want_grid);
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, kernel, bytes_of_block));
    CHECK(cudaOccMaxPotentialOccupancyBlockSize(&want_grid, &want_block, &device, &function, &state, bytes_of_block,
                                                0) == 0);
    CHECK(block == want_block && grid == want_grid);
    CUfunction f;
    OK(cudaGetFuncBySymbol(&f, (const void *)kernel));
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, bytes_of_block, 0, 0) == CUDA_SUCCESS);
    CHECK(block == want_block && grid == want_grid);

    // What there is for each of so many blocks lets so many in.
    for (int blocks = 1; blocks <= 4; blocks++) {
        size_t bytes = 0;
        int fit = 0;
        if (cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, blocks, 64) != cudaSuccess) {
            OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 64, 0));
            CHECK(fit < blocks);
            continue;
        }
        OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 64, bytes));
        CHECK(fit >= blocks);
        size_t want = 0; // where the system takes some of it for each block, the header leaves that out
        CHECK(cudaOccAvailableDynamicSMemPerBlock(&want, &device, &function, &state, blocks, 64) == 0);
        CHECK(device.reservedSharedMemPerBlock ? bytes <= want : bytes == want);
        if (bytes == (size_t)a.maxDynamicSharedSizeBytes) continue;
        OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, 64, bytes + 1));
        CHECK(fit < blocks);
    }
    cudaGetLastError();
}

int main()
{
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    device = p;
    if (p.major >= 3) { // it knows none that are older
        compare(wide<2>, "wide<2>", -1);
        compare(wide<12>, "wide<12>", -1);
        compare(wide<28>, "wide<28>", -1);
        compare(wide<45>, "wide<45>", -1);
        compare(wide<100>, "wide<100>", -1);
        compare(wide<160>, "wide<160>", -1);
        compare(fixed, "fixed", -1);
        compare(roomy, "roomy", -1);
        if ((int)p.sharedMemPerBlockOptin > (int)p.sharedMemPerBlock) {
            OK(cudaFuncSetAttribute(roomy, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p.sharedMemPerBlockOptin));
            compare(roomy, "roomy, opted in", -1);
        }
        for (int carveout : {0, 10, 50, 67, 100}) {
            OK(cudaFuncSetAttribute(roomy, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
            compare(roomy, "roomy", carveout);
        }
    }
    return verdict();
}
