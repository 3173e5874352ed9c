// One step of a stencil; the border keeps its values.

// c0 * middle + c1 * (left + right + up + down)
extern "C" __global__ void stencil_2d(int w, int h, float c0, float c1, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[i] = in[i];
        return;
    }
    float sum = in[i - 1] + in[i + 1] + in[i - w] + in[i + w];
    out[i] = fmaf(c1, sum, c0 * in[i]);
}

// Blocks of 32 x 8 threads march along z with the plane in shared memory, its neighbours in registers.
extern "C" __global__ void stencil_3d(int w, int h, int d, float c0, float c1, const float *in, float *out)
{
    enum { BX = 32, BY = 8 };
    __shared__ float plane[BY + 2][BX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    bool here = x < w && y < h;
    bool inside = x > 0 && y > 0 && x < w - 1 && y < h - 1;
    int i = y * w + x, area = w * h;
    float below = 0, middle = here ? in[i] : 0, above = here ? in[i + area] : 0;
    if (here) out[i] = middle;
    for (int z = 1; z < d - 1; z++) {
        i += area;
        below = middle;
        middle = above;
        above = here ? in[i + area] : 0;
        __syncthreads();
        plane[ty][tx] = middle;
        if (here && tx == 1 && x > 0) plane[ty][0] = in[i - 1];
        if (here && tx == BX && x < w - 1) plane[ty][BX + 1] = in[i + 1];
        if (here && ty == 1 && y > 0) plane[0][tx] = in[i - w];
        if (here && ty == BY && y < h - 1) plane[BY + 1][tx] = in[i + w];
        __syncthreads();
        if (inside) {
            float sum = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
            out[i] = fmaf(c1, sum + below + above, c0 * middle);
        } else if (here)
            out[i] = middle;
    }
    if (here) out[i + area] = above;
}

// All steps of the two-dimensional stencil in one launch: a CTA has `rows` rows, and waits at each step for the CTAs above
// and below by flags, the steps that each has done. Step s reads grid s % 2 and writes the other one, which the neighbours
// have read at step s - 1. All CTAs must be resident at once.
extern "C" __global__ void stencil_flags(int w, int h, int rows, int steps, float c0, float c1, float *first,
                                         float *second, volatile unsigned *done)
{
    int from = blockIdx.x * rows, to = min(from + rows, h);
    for (int s = 0; s < steps; s++) {
        const float *in = s % 2 ? second : first;
        float *out = s % 2 ? first : second;
        if (threadIdx.x == 0) {
            if (blockIdx.x > 0)
                while (done[blockIdx.x - 1] < s) {}
            if (blockIdx.x + 1 < gridDim.x)
                while (done[blockIdx.x + 1] < s) {}
            __threadfence();
        }
        __syncthreads();
        for (int y = from; y < to; y++)
            for (int x = threadIdx.x; x < w; x += blockDim.x) {
                int i = y * w + x;
                if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
                    out[i] = in[i];
                    continue;
                }
                float sum = in[i - 1] + in[i + 1] + in[i - w] + in[i + w];
                out[i] = fmaf(c1, sum, c0 * in[i]);
            }
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            done[blockIdx.x] = s + 1;
        }
    }
}
