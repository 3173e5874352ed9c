// C = A B of n x n matrices; each sum runs over k upwards with fused multiply-adds.

extern "C" __global__ void sgemm_16(unsigned n, const float *a, const float *b, float *c)
{
    enum { T = 16 };
    __shared__ float ta[T][T], tb[T][T];
    unsigned x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k += T) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (unsigned i = 0; i < T; i++) sum = fmaf(ta[threadIdx.y][i], tb[i][threadIdx.x], sum);
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// Blocks of 32 x 8 threads make tiles of 32 x 32.
extern "C" __global__ void sgemm_32(unsigned n, const float *a, const float *b, float *c)
{
    enum { T = 32, ROWS = 8, EACH = T / ROWS };
    __shared__ float ta[T][T], tb[T][T];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned x = blockIdx.x * T + tx, y = blockIdx.y * T + ty;
    float sum[EACH] = {0, 0, 0, 0};
    for (unsigned k = 0; k < n; k += T) {
        for (unsigned j = 0; j < EACH; j++) {
            ta[ty + j * ROWS][tx] = a[(y + j * ROWS) * n + k + tx];
            tb[ty + j * ROWS][tx] = b[(k + ty + j * ROWS) * n + x];
        }
        __syncthreads();
        for (unsigned i = 0; i < T; i++) {
            float q = tb[i][tx];
            for (unsigned j = 0; j < EACH; j++) sum[j] = fmaf(ta[ty + j * ROWS][i], q, sum[j]);
        }
        __syncthreads();
    }
    for (unsigned j = 0; j < EACH; j++) c[(y + j * ROWS) * n + x] = sum[j];
}

// A thread for each element, straight from global memory.
extern "C" __global__ void sgemm_naive(unsigned n, const float *a, const float *b, float *c)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k++) sum = fmaf(a[y * n + k], b[k * n + x], sum);
    c[y * n + x] = sum;
}
