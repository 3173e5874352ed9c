// Block reductions by shared-memory tree and by shuffles: shfl.sync.down/bfly, bar.sync, extern shared memory.
extern __shared__ float dynamic[];

extern "C" __global__ void reduce_tree(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    float v = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n)
        v += in[i + blockDim.x];
    dynamic[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            dynamic[t] += dynamic[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = dynamic[0];
}

template <typename T, typename Op>
__device__ T warp_reduce(T v, Op op)
{
#pragma unroll
    for (int d = 16; d; d >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

template <typename T, typename Op>
__device__ T block_reduce(T v, T identity, Op op)
{
    __shared__ T partial[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_reduce(v, op);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    v = lane < blockDim.x >> 5 ? partial[lane] : identity;
    return warp == 0 ? warp_reduce(v, op) : v;
}

extern "C" __global__ void reduce_sum(const double *in, double *out, int n)
{
    double v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    v = block_reduce(v, 0.0, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0)
        out[blockIdx.x] = v;
}

extern "C" __global__ void reduce_max(const int *in, int *out, int n)
{
    int v = -2147483647 - 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v = max(v, in[i]);
    v = block_reduce(v, -2147483647 - 1, [](int a, int b) { return max(a, b); });
    if (threadIdx.x == 0)
        atomicMax(out, v);
}

extern "C" __global__ void reduce_xor(const unsigned long long *in, unsigned long long *out, int n)
{
    unsigned long long v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v ^= in[i];
    v = block_reduce(v, 0ull, [](unsigned long long a, unsigned long long b) { return a ^ b; });
    if (threadIdx.x == 0)
        atomicXor(out, v);
}
