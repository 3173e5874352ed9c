// The kernels of tests/bench/units.c: instructions of units beside the arithmetic ones. Each thread repeats them, so that
// a launch consists of little else.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

// A convolution of 5 x 5 texels that are read one by one.
extern "C" __global__ void texture_nearest(float *out, cudaTextureObject_t image, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) sum += tex2D<float>(image, x + i + 0.5f, y + j + 0.5f);
    out[y * width + x] = sum;
}

// An image of four 8-bit channels, turned by 30 degrees, with a bilinear filter. Coordinates go from 0 to 1.
extern "C" __global__ void texture_linear(float4 *out, cudaTextureObject_t image, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (float)x / width - 0.5f, v = (float)y / width - 0.5f;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 8; k++) {
        float4 t = tex2D<float4>(image, u * 0.866f - v * 0.5f + 0.5f, v * 0.866f + u * 0.5f + 0.5f);
        sum.x += t.x, sum.y += t.y, sum.z += t.z, sum.w += t.w;
        u += 0.01f;
    }
    out[y * width + x] = sum;
}

// Array elements by tex1Dfetch of linear memory, at random.
extern "C" __global__ void texture_fetch(unsigned *out, cudaTextureObject_t array, unsigned mask)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i, sum = 0;
    for (int k = 0; k < 16; k++) {
        at = at * 1664525u + 1013904223u;
        sum += tex1Dfetch<unsigned>(array, at >> 8 & mask);
    }
    out[i] = sum;
}

// A surface is read and written.
extern "C" __global__ void surface(cudaSurfaceObject_t image, int rounds)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < rounds; k++)
        surf2Dwrite(surf2Dread<unsigned>(image, x * 4, y) + 1, image, x * 4, y);
}

// C = A B of halves, 16 x 16 x 16 at a time; fragments are loaded from global memory.
extern "C" __global__ void wmma_gemm(float *c, const __half *a, const __half *b, int n)
{
    using namespace nvcuda;
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = warp / (n / 16) * 16, col = warp % (n / 16) * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + col, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

// Products of fragments that stay in registers.
extern "C" __global__ void mma(float *out, int rounds)
{
    unsigned a[4], b[2], t = threadIdx.x;
    float c[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) a[i] = 0x3c003800u + t * 3 + i;
    for (int i = 0; i < 2; i++) b[i] = 0x38003c00u + t * 5 + i;
    for (int k = 0; k < rounds; k++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    out[blockIdx.x * blockDim.x + t] = c[0] + c[1] + c[2] + c[3];
}

// 16 bytes a thread, asynchronously to shared memory, and read there.
extern "C" __global__ void copy_async(uint4 *out, const uint4 *in, int rounds)
{
    __shared__ uint4 part[2][256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    uint4 sum = make_uint4(0, 0, 0, 0);
    for (int k = 0; k < rounds; k++) {
        __pipeline_memcpy_async(&part[k & 1][t], &in[(i + k * 256u) & 0xffff], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        uint4 v = part[k & 1][t];
        sum.x += v.x, sum.y ^= v.y, sum.z += v.z, sum.w ^= v.w;
    }
    out[i] = sum;
}

// 16 bytes a thread through registers to shared memory; every round moves them by a thread.
extern "C" __global__ void copy_wide(uint4 *out, const uint4 *in, int rounds)
{
    __shared__ uint4 part[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    uint4 v = in[i & 0xffff];
    for (int k = 0; k < rounds; k++) {
        part[t] = v;
        __syncthreads();
        v = part[(t + 1) & 255];
        __syncthreads();
    }
    out[i] = v;
}

// Waits until the clock has gone on.
extern "C" __global__ void clocks(long long *out, int rounds)
{
    long long from = clock64(), now = from;
    for (int k = 0; k < rounds; k++) now = clock64();
    out[blockIdx.x * blockDim.x + threadIdx.x] = now - from;
}

// tests/bench/units.c launches it to find the device's memory.
extern "C" __global__ void empty(void)
{
}
