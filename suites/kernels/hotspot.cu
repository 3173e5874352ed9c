// The temperature of a chip: each step of a cell adds power, and heat from its neighbours and the
// sink. A block of 16 x 16 threads does STEPS steps on its tile; the outermost rings of a tile are only
// read, so tiles overlap by 2 * STEPS cells.
enum { B = 16, STEPS = 2 };

extern "C" __global__ void hotspot(int w, int h, float step, float rx, float ry, float rz,
                                   const float *power, const float *in, float *out)
{
    __shared__ float now[B][B], next[B][B];
    const float sink = 80.0f;
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * (B - 2 * STEPS) + tx - STEPS, y = (int)blockIdx.y * (B - 2 * STEPS) + ty - STEPS;
    bool here = x >= 0 && y >= 0 && x < w && y < h;
    float p = 0;
    if (here) {
        now[ty][tx] = in[y * w + x];
        p = power[y * w + x];
    }
    __syncthreads();
    // beyond the chip's edge lies the cell itself
    int west = x > 0 ? tx - 1 : tx, east = x < w - 1 ? tx + 1 : tx;
    int north = y > 0 ? ty - 1 : ty, south = y < h - 1 ? ty + 1 : ty;
    for (int s = 1; s <= STEPS; s++) {
        bool valid = here && tx >= s && tx < B - s && ty >= s && ty < B - s;
        if (valid) {
            float t = now[ty][tx];
            float vertical = (now[south][tx] + now[north][tx] - 2.0f * t) * ry;
            float horizontal = (now[ty][east] + now[ty][west] - 2.0f * t) * rx;
            next[ty][tx] = t + step * (p + vertical + horizontal + (sink - t) * rz);
        }
        __syncthreads();
        if (valid) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (here && tx >= STEPS && tx < B - STEPS && ty >= STEPS && ty < B - STEPS) out[y * w + x] = now[ty][tx];
}
