/* 3mm (PolyBench): a product of matrices of 512 x 512, a thread for an element, the sum in memory. ./3mm LAUNCH: 0 to 2,
 * which are alike. */
#include "launch.h"

enum { N = 512 };

__global__ void product(const float *a, const float *b, float *c)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N)
        for (int k = 0; k < N; k++) c[i * N + j] += a[i * N + k] * b[k * N + j];
}

int main(void)
{
    product<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(memory<float>(N * N), memory<float>(N * N),
                                                  memory<float>(N * N));
    return finish();
}
