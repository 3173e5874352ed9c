// Tiled matrix product: static shared arrays, bar.sync, unrolled fma chains, predicated edges.
// KEEP: 75 100
constexpr int TILE = 16;

template <typename T>
__device__ void product(const T *a, const T *b, T *c, int m, int n, int k)
{
    __shared__ T as[TILE][TILE];
    __shared__ T bs[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    T sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        int ac = t * TILE + tx, br = t * TILE + ty;
        as[ty][tx] = row < m && ac < k ? a[row * k + ac] : T(0);
        bs[ty][tx] = br < k && col < n ? b[br * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

extern "C" __global__ void dgemm(const double *a, const double *b, double *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

extern "C" __global__ void igemm(const int *a, const int *b, int *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}
