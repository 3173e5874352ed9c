// out[x][y] = in[y][x] of an n x n matrix, n a multiple of 32; blocks of 32 x 8 threads, tiles of 32 x 32.
enum { TILE = 32, ROWS = 8 };

extern "C" __global__ void transpose_naive(unsigned n, const float *in, float *out)
{
    unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS) out[x * n + y + j] = in[(y + j) * n + x];
}

template <int PAD> __device__ void through_tile(unsigned n, const float *in, float *out)
{
    __shared__ float tile[TILE][TILE + PAD];
    unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_tiled(unsigned n, const float *in, float *out)
{
    through_tile<0>(n, in, out);
}

extern "C" __global__ void transpose_padded(unsigned n, const float *in, float *out)
{
    through_tile<1>(n, in, out);
}
