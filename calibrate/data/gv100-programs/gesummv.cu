/* gesummv (PolyBench): y = alpha A x + beta B x for 4096 rows, a thread for each, sums in memory. ./gesummv 0 */
#include "launch.h"

enum { N = 4096 };

__global__ void gesummv(float *a, float *b, float *x, float *y, float *t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    for (int j = 0; j < N; j++) {
        t[i] = a[i * N + j] * x[j] + t[i];
        y[i] = b[i * N + j] * x[j] + y[i];
    }
    y[i] = 43532.0f * t[i] + 12313.0f * y[i];
}

int main(void)
{
    gesummv<<<N / 256, 256>>>(memory<float>(N * N), memory<float>(N * N), memory<float>(N),
                              memory<float>(N), memory<float>(N));
    return finish();
}
