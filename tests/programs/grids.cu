// Grids that kernels launch (dynamic parallelism), device code linked from parts.
// FLAGS: -rdc=true -lcudadevrt
// NEEDS: 12
#include "self.cuh"

extern __device__ int shared_count;
__device__ int shared_count = 3;
__device__ int helper(int x);
__device__ int helper(int x) { return x * shared_count; }

__global__ void child(int *out, int base)
{
    out[base + threadIdx.x] = helper(base + threadIdx.x);
}

__global__ void parent(int *out, int n)
{
    const int i = threadIdx.x;
    if (i * 16 < n) child<<<1, 16>>>(out, i * 16);
}

__global__ void halves(int *data, int n, int depth)
{
    if (depth == 0 || n < 2) {
        for (int i = 0; i < n; i++) data[i] += n;
        return;
    }
    halves<<<1, 1>>>(data, n / 2, depth - 1);
    halves<<<1, 1>>>(data + n / 2, n - n / 2, depth - 1);
}

__global__ void then(int *out) { out[0] = out[1] + out[2]; }
__global__ void chain(int *out)
{
    out[1] = 5;
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 2);
    then<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
}

int main()
{
    const int n = 128;
    room<int> out(n), data(100), three(3);
    parent<<<1, 32>>>(out, n);
    for (int i = 0; i < n; i++) CHECK(out.get()[i] == 3 * i);
    halves<<<1, 1>>>(data, 100, 3);
    const std::vector<int> got = data.get();
    int total = 0;
    for (int v : got) total += v;
    CHECK(total == 4 * 12 * 12 + 4 * 13 * 13);
    chain<<<1, 1>>>(three);
    CHECK(three.get() == (std::vector<int>{11, 5, 6}));
    return verdict();
}
