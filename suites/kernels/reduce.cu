// Sums of n elements; blocks of 256 threads write one partial sum each. A thread first adds up every
// (threads of the grid)-th element; the order of the additions behind that is fixed.
enum { THREADS = 256 };

__device__ float of_thread(unsigned n, const float *in)
{
    float sum = 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += in[i];
    return sum;
}

extern "C" __global__ void reduce_shared(unsigned n, const float *in, float *out)
{
    __shared__ float part[THREADS];
    unsigned t = threadIdx.x;
    part[t] = of_thread(n, in);
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_shuffle(unsigned n, const float *in, float *out)
{
    __shared__ float part[THREADS / 32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = of_thread(n, in);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < THREADS / 32 ? part[lane] : 0;
        for (int d = THREADS / 64; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void reduce_atomic(unsigned n, const unsigned *in, unsigned long long *out)
{
    unsigned long long sum = 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
