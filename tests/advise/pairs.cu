// Pairs of kernels that compute the same: the slow one lacks what `heddle advise` names, the fast one has it
// (tests/cli/advise.c). PTX: tests/generate.sh.

// ---- tiles: C = A B of n x n matrices, blocks of 16 x 16 threads ----

extern "C" __global__ void product_naive(unsigned n, const float *a, const float *b, float *c)
{
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k++) sum = fmaf(a[y * n + k], b[k * n + x], sum);
    c[y * n + x] = sum;
}

extern "C" __global__ void product_tiled(unsigned n, const float *a, const float *b, float *c)
{
    __shared__ float ta[16][16], tb[16][16];
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k += 16) {
        ta[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (unsigned i = 0; i < 16; i++) sum = fmaf(ta[threadIdx.y][i], tb[i][threadIdx.x], sum);
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// ---- the same with four results of each thread, in tiles of 32 x 32 ----

extern "C" __global__ void product_four(unsigned n, const float *a, const float *b, float *c)
{
    __shared__ float ta[32][32], tb[32][32];
    const unsigned tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum[2][2] = {{0, 0}, {0, 0}};
    for (unsigned k = 0; k < n; k += 32) {
        for (unsigned i = 0; i < 32; i += 16)
            for (unsigned j = 0; j < 32; j += 16) {
                ta[ty + i][tx + j] = a[(y + i) * n + k + tx + j];
                tb[ty + i][tx + j] = b[(k + ty + i) * n + x + j];
            }
        __syncthreads();
        for (unsigned i = 0; i < 32; i++)
            for (unsigned p = 0; p < 2; p++)
                for (unsigned q = 0; q < 2; q++)
                    sum[p][q] = fmaf(ta[ty + 16 * p][i], tb[i][tx + 16 * q], sum[p][q]);
        __syncthreads();
    }
    for (unsigned p = 0; p < 2; p++)
        for (unsigned q = 0; q < 2; q++) c[(y + 16 * p) * n + x + 16 * q] = sum[p][q];
}

// ---- wider: sums of four floats in a row, of 32 KB that L1 holds ----

enum { FOURS = 2048 };

extern "C" __global__ void four_loads(unsigned n, const float *in, float *out)
{
    float sum = 0;
    for (unsigned k = 0; k < n; k++) {
        unsigned i = (threadIdx.x + 256 * k) % FOURS * 4;
        sum += in[i] + in[i + 1] + in[i + 2] + in[i + 3];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void one_load(unsigned n, const float4 *in, float *out)
{
    float sum = 0;
    for (unsigned k = 0; k < n; k++) {
        float4 v = in[(threadIdx.x + 256 * k) % FOURS];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- occupancy: a chain of loads, with more shared memory than the block needs ----

template <int BYTES> __device__ void chain(unsigned n, const unsigned *next, unsigned *out)
{
    __shared__ unsigned own[BYTES / 4];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    own[threadIdx.x] = i;
    __syncthreads();
    for (unsigned k = 0; k < n; k++) i = next[i % (1 << 20)];
    out[blockIdx.x * blockDim.x + threadIdx.x] = i + own[threadIdx.x ^ 1];
}

extern "C" __global__ void chain_48k(unsigned n, const unsigned *next, unsigned *out) { chain<49152>(n, next, out); }
extern "C" __global__ void chain_32k(unsigned n, const unsigned *next, unsigned *out) { chain<32768>(n, next, out); }

// ---- divergence: sums of rows of different length, a thread or a warp for each ----

extern "C" __global__ void rows_by_thread(unsigned rows, const unsigned *begin, const float *value, float *out)
{
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (unsigned i = begin[r]; i < begin[r + 1]; i++) sum += value[i];
    out[r] = sum;
}

extern "C" __global__ void rows_by_warp(unsigned rows, const unsigned *begin, const float *value, float *out)
{
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float sum = 0;
    for (unsigned i = begin[r] + lane; i < begin[r + 1]; i += 32) sum += value[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) out[r] = sum;
}
