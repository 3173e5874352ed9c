// 2D and 3D stencils: halo tiles in shared memory, __constant__ coefficients, uniform branches, register queues.
__constant__ float weight[9] = {0.0625f, 0.125f, 0.0625f, 0.125f, 0.25f, 0.125f, 0.0625f, 0.125f, 0.0625f};

extern "C" __global__ void blur3x3(const float *in, float *out, int w, int h)
{
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x - 1, y = blockIdx.y * 16 + threadIdx.y - 1;
    int cx = min(max(x, 0), w - 1), cy = min(max(y, 0), h - 1);
    tile[threadIdx.y][threadIdx.x] = in[cy * w + cx];
    __syncthreads();
    if (threadIdx.x == 0 || threadIdx.x == 17 || threadIdx.y == 0 || threadIdx.y == 17 || x >= w || y >= h)
        return;
    float s = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            s += weight[j * 3 + i] * tile[threadIdx.y + j - 1][threadIdx.x + i - 1];
    out[y * w + x] = s;
}

extern "C" __global__ void wave3d(const double *in, const double *old, double *out, int nx, int ny, int nz, double c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 2;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 2;
    if (x >= nx - 2 || y >= ny - 2)
        return;
    size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x + 2 * plane;
    double b2 = in[at - 2 * plane], b1 = in[at - plane], here = in[at], f1 = in[at + plane];
    for (int z = 2; z < nz - 2; z++, at += plane) {
        double f2 = in[at + 2 * plane];
        double lap = -7.5 * here + 4.0 / 3 * (b1 + f1 + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]) -
                     1.0 / 12 * (b2 + f2 + in[at - 2] + in[at + 2] + in[at - 2 * nx] + in[at + 2 * nx]);
        out[at] = 2 * here - old[at] + c * lap;
        b2 = b1;
        b1 = here;
        here = f1;
        f1 = f2;
    }
}

extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i || j)
                n += in[(y + j + h) % h * w + (x + i + w) % w];
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}
