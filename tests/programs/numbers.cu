// half and bfloat16, atomics of several types, tensor cores through mma.h: checks itself.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void atomics(int *i, unsigned long long *u, float *f, double *d)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], t);
    atomicMax(&i[1], t);
    atomicMin(&i[2], -t);
    atomicXor(&i[3], 1 << t % 32);
    atomicExch(&i[4], 7);
    atomicCAS(&i[5], 0, 9);
    atomicAdd(u, (unsigned long long)t << 32);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}

__global__ void small(float *out)
{
    const int t = threadIdx.x;
    const __half2 h = __hfma2(__floats2half2_rn(t, 2 * t), __float2half2_rn(0.5f), __float2half2_rn(1));
    const __nv_bfloat16 b = __hadd(__float2bfloat16(t), __float2bfloat16(1));
    out[3 * t] = __low2float(h);
    out[3 * t + 1] = __high2float(h);
    out[3 * t + 2] = __bfloat162float(b);
}

__global__ void tensor(const __half *a, const __half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 1.0f);
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}

int main()
{
    int bad = 0, i[6] = {0};
    unsigned long long u = 0;
    float f = 0, s[96], c[256];
    double d = 0;
    char *memory;
    __half a[256], b[256];
    cudaMalloc(&memory, 1 << 16);
    cudaMemset(memory, 0, 1 << 16);
    atomics<<<4, 64>>>((int *)memory, (unsigned long long *)(memory + 64), (float *)(memory + 128),
                       (double *)(memory + 192));
    cudaMemcpy(i, memory, sizeof i, cudaMemcpyDeviceToHost);
    cudaMemcpy(&u, memory + 64, 8, cudaMemcpyDeviceToHost);
    cudaMemcpy(&f, memory + 128, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&d, memory + 192, 8, cudaMemcpyDeviceToHost);
    bad += i[0] != 32640 || i[1] != 255 || i[2] != -255 || i[3] != 0 || i[4] != 7 || i[5] != 9;
    bad += u != 32640ull << 32 || f != 128 || d != 64;
    small<<<1, 32>>>((float *)(memory + 1024));
    cudaMemcpy(s, memory + 1024, sizeof s, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) bad += s[3 * t] != 0.5f * t + 1 || s[3 * t + 1] != t + 1 || s[3 * t + 2] != t + 1;
    for (int k = 0; k < 256; k++) {
        a[k] = __float2half(k % 7 - 3);
        b[k] = __float2half(k % 5 - 2);
    }
    cudaMemcpy(memory + 4096, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(memory + 8192, b, sizeof b, cudaMemcpyHostToDevice);
    tensor<<<1, 32>>>((__half *)(memory + 4096), (__half *)(memory + 8192), (float *)(memory + 16384));
    cudaMemcpy(c, memory + 16384, sizeof c, cudaMemcpyDeviceToHost);
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 16; col++) {
            float want = 1;
            for (int k = 0; k < 16; k++) want += __half2float(a[16 * row + k]) * __half2float(b[16 * col + k]);
            bad += c[16 * row + col] != want;
        }
    printf("%d wrong, %s\n", bad, cudaGetErrorName(cudaGetLastError()));
    return bad;
}
