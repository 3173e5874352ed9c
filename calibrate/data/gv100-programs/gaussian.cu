/* gaussian (Rodinia): elimination of a matrix of 1024 x 1024, two launches for each column: the factors of its rows, then
 * the rows. ./gaussian LAUNCH: column LAUNCH / 2. */
#include "launch.h"

enum { N = 1024 };

__global__ void factors(float *m, const float *a, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N - 1 - t) return;
    m[N * (i + t + 1) + t] = a[N * (i + t + 1) + t] / a[N * t + t];
}

__global__ void rows(float *m, float *a, float *b, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= N - 1 - t || j >= N - t) return;
    a[N * (i + 1 + t) + j + t] -= m[N * (i + 1 + t) + t] * a[N * t + j + t];
    if (j == 0) b[i + 1 + t] -= m[N * (i + 1 + t) + t] * b[t];
}

int main(int argc, char **argv)
{
    float *m = memory<float>(N * N), *a = memory<float>(N * N), *b = memory<float>(N);
    const int launch = launch_of(argc, argv), t = launch / 2;
    if (launch % 2 == 0) factors<<<N / 128, 128>>>(m, a, t);
    else rows<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(m, a, b, t);
    return finish();
}
