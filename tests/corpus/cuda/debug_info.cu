// Debug builds: -G (.section .debug_*, unoptimised code), -lineinfo (.loc with inlined_at), and --source-in-ptx.
// VARIANT: full -G
// VARIANT: lines -lineinfo
// VARIANT: source -lineinfo --source-in-ptx
// KEEP: 75 full=no lines=80 source=90
struct Point {
    float x, y;
    __device__ float dot(const Point &o) const { return x * o.x + y * o.y; }
};

__device__ Point origin = {1, 2};

__device__ inline float inner(const Point &p, int k)
{
    float s = 0;
    for (int i = 0; i < k; i++)
        s += p.dot(origin) * i;
    return s;
}

__device__ __noinline__ float outer(Point p, int k) { return inner(p, k) + inner(Point{p.y, p.x}, k + 1); }

extern "C" __global__ void kernel(const Point *in, float *out, int n)
{
    __shared__ float total;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (i < n) {
        float v = outer(in[i], 3);
        switch (i & 3) {
        case 0: v += 1; break;
        case 1: v *= 2; break;
        case 2: v = -v; break;
        default: v = sqrtf(v);
        }
        atomicAdd(&total, v);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}
