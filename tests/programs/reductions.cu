// Reductions by template: of several types and operations, unrolled, and by the block that ends last.
#include "self.cuh"
#include <climits>

struct sum {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a + b; }
    template <class T> __host__ __device__ static T zero() { return 0; }
};
struct most {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; }
    template <class T> __host__ __device__ static T zero() { return (T)-1e9; }
};
struct both {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a ^ b; }
    template <class T> __host__ __device__ static T zero() { return 0; }
};

template <class T, class Op, int BLOCK> __global__ void reduce(const T *in, T *out, int n, Op op)
{
    __shared__ T tile[BLOCK];
    T mine = Op::template zero<T>();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) mine = op(mine, in[i]);
    tile[threadIdx.x] = mine;
    __syncthreads();
#pragma unroll
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) tile[threadIdx.x] = op(tile[threadIdx.x], tile[threadIdx.x + step]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

template <class T, class Op, int BLOCK> static void run(int n)
{
    const Op op;
    std::vector<T> in(n);
    T want = Op::template zero<T>();
    for (int i = 0; i < n; i++) {
        in[i] = (T)((int)(draw(i) % 2000) - 1000);
        want = op(want, in[i]);
    }
    room<T> from(in), parts(16), all(1);
    reduce<T, Op, BLOCK><<<16, BLOCK>>>(from, parts, n, op);
    reduce<T, Op, BLOCK><<<1, BLOCK>>>(parts, all, 16, op);
    CHECK(all.get()[0] == want);
}

__device__ unsigned done;

__global__ void last_adds(const float *in, int n, volatile float *parts, float *out)
{
    __shared__ float tile[64];
    __shared__ bool last;
    float mine = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) mine += in[i];
    tile[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int k = 0; k < 64; k++) all += tile[k];
        parts[blockIdx.x] = all;
        __threadfence();
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float all = 0;
        for (int k = 0; k < gridDim.x; k++) all += parts[k];
        *out = all;
    }
}

int main()
{
    for (int n : {1, 1000, 30000}) {
        run<int, sum, 64>(n);
        run<long long, sum, 256>(n);
        run<float, most, 128>(n);
        run<double, sum, 32>(n);
        run<int, most, 512>(n);
        run<short, both, 64>(n);
        run<unsigned char, sum, 64>(n);
    }
    const int n = 5000;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++) in[i] = draw(i) % 100;
    float want = 0;
    for (float v : in) want += v;
    room<float> from(in), parts(20), out(1);
    for (int again = 0; again < 3; again++) {
        last_adds<<<20, 64>>>(from, n, parts, out);
        CHECK(out.get()[0] == want);
    }
    return verdict();
}
