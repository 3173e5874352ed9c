/* 3DConvolution (PolyBench): 3 x 3 x 3 points, 11 of which count, of one plane of 256 x 256. ./3DConvolution LAUNCH: 0 to 99,
 * plane LAUNCH + 1. */
#include "launch.h"

enum { N = 256 };

__device__ float at(const float *a, int i, int j, int k)
{
    return a[(i * N + j) * N + k];
}

__global__ void convolve(const float *a, float *b, int i)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < 1 || j >= N - 1 || k < 1 || k >= N - 1) return;
    b[(i * N + j) * N + k] = -1 * at(a, i - 1, j - 1, k - 1) + 21 * at(a, i + 1, j - 1, k - 1) -
                             3 * at(a, i, j - 1, k) + 6 * at(a, i, j, k) - 9 * at(a, i, j + 1, k) +
                             2 * at(a, i - 1, j - 1, k + 1) + 4 * at(a, i + 1, j - 1, k + 1) +
                             5 * at(a, i - 1, j, k + 1) + 7 * at(a, i + 1, j, k + 1) -
                             8 * at(a, i - 1, j + 1, k + 1) + 10 * at(a, i + 1, j + 1, k + 1);
}

int main(int argc, char **argv)
{
    convolve<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(
        memory<float>(N * N * N), memory<float>(N * N * N), launch_of(argc, argv) + 1);
    return finish();
}
