// Matrix transpose through padded shared tiles of several element sizes: b8/b16/b32/b64/v4 shared accesses.
template <typename T, int TILE, int ROWS>
__device__ void transpose(const T *in, T *out, int w, int h)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose8(const unsigned char *in, unsigned char *out, int w, int h)
{
    transpose<unsigned char, 32, 8>(in, out, w, h);
}
extern "C" __global__ void transpose16(const short *in, short *out, int w, int h)
{
    transpose<short, 32, 8>(in, out, w, h);
}
extern "C" __global__ void transpose32(const float *in, float *out, int w, int h)
{
    transpose<float, 32, 8>(in, out, w, h);
}
extern "C" __global__ void transpose64(const double *in, double *out, int w, int h)
{
    transpose<double, 16, 8>(in, out, w, h);
}
extern "C" __global__ void transpose128(const float4 *in, float4 *out, int w, int h)
{
    transpose<float4, 16, 16>(in, out, w, h);
}
