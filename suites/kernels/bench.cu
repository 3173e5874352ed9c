// The kernels of `make bench`: tests/bench/native.c holds the same algorithms in C.
extern "C" __global__ void saxpy(float *y, const float *x, float a, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void matmul(float *c, const float *a, const float *b, int n)
{
    __shared__ float ta[16][16], tb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int t = 0; t < n / 16; t++) {
        ta[ty][tx] = a[row * n + t * 16 + tx];
        tb[ty][tx] = b[(t * 16 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void mandelbrot(unsigned *out, int width, int height, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height, x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    out[py * width + px] = n;
}

extern "C" __global__ void bfs(unsigned *next, const unsigned *level, const unsigned *first, const unsigned *edges,
                               unsigned n)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    unsigned best = level[v];
    for (unsigned e = first[v]; e < first[v + 1]; e++) {
        unsigned l = level[edges[e]];
        if (l != ~0u && l + 1 < best) best = l + 1;
    }
    next[v] = best;
}

extern "C" __global__ void histogram(unsigned *out, const unsigned char *in, unsigned n)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void crypto(unsigned *data, unsigned n, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = data[i], b = a ^ 0x9e3779b9u, c = i, d = 0x7f4a7c15u;
    for (int r = 0; r < rounds; r++) { // ChaCha's quarter round
        a += b, d ^= a, d = d << 16 | d >> 16;
        c += d, b ^= c, b = b << 12 | b >> 20;
        a += b, d ^= a, d = d << 8 | d >> 24;
        c += d, b ^= c, b = b << 7 | b >> 25;
    }
    data[i] = a ^ b ^ c ^ d;
}

extern "C" __global__ void strided(unsigned *out, unsigned n, unsigned stride)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < 16; k++) out[(i * stride + k) % n] = i + k;
}
