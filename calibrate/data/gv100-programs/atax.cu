/* atax (PolyBench): t = A x, then y = A' t, for 4096 columns and rows, a thread for an element of the result, which is in
 * memory all the time. ./atax LAUNCH: 0 or 1. */
#include "launch.h"

enum { N = 4096 };

__global__ void rows(const float *a, const float *x, float *t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int j = 0; j < N; j++) t[i] += a[i * N + j] * x[j];
}

__global__ void columns(const float *a, const float *t, float *y)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N)
        for (int i = 0; i < N; i++) y[j] += a[i * N + j] * t[i];
}

int main(int argc, char **argv)
{
    float *a = memory<float>(N * N), *x = memory<float>(N), *y = memory<float>(N);
    if (launch_of(argc, argv) == 0) rows<<<N / 256, 256>>>(a, x, y);
    else columns<<<N / 256, 256>>>(a, x, y);
    return finish();
}
