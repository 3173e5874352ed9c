// Templates, variables, dynamic shared memory, structures by value, streams, events, printf: checks itself.
#include <cstdio>
#include <vector>

__constant__ float factor[3] = {1, 2, 3};
__device__ int table[4] = {10, 20, 30, 40};
__device__ unsigned long long hits;
struct big {
    double v[5];
    int n;
};

template <int N> __global__ void compute(int *out, big b, int n)
{
    extern __shared__ int tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i;
    __syncthreads();
    if (i == 5) printf("thread %d of %d\n", i, n);
    if (i >= n) return;
    out[i] = N * tile[blockDim.x - 1 - threadIdx.x] + table[i % 4] + (int)factor[i % 3] + (int)b.v[i % 5] + b.n;
    atomicAdd(&hits, 1ull);
}

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cudaError_t r = (call);                                                                                        \
        if (r != cudaSuccess) {                                                                                        \
            printf("%s: %s\n", #call, cudaGetErrorString(r));                                                          \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main()
{
    const int n = 1000, block = 64;
    const float other[3] = {4, 5, 6};
    const big b = {{1, 2, 3, 4, 5}, 7};
    int *out, bad = 0;
    unsigned long long counted;
    float ms = -1;
    cudaStream_t s;
    cudaEvent_t from, to;
    OK(cudaMalloc(&out, n * sizeof *out));
    OK(cudaMemcpyToSymbol(factor, other, sizeof other));
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from, s));
    compute<3><<<(n + block - 1) / block, block, block * sizeof(int), s>>>(out, b, n);
    OK(cudaGetLastError());
    OK(cudaEventRecord(to, s));
    OK(cudaEventSynchronize(to));
    OK(cudaEventElapsedTime(&ms, from, to));
    std::vector<int> host(n);
    OK(cudaMemcpyAsync(host.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpyFromSymbol(&counted, hits, sizeof counted));
    for (int i = 0; i < n; i++) {
        const int mirrored = i / block * block + block - 1 - i % block;
        bad += host[i] != 3 * mirrored + 10 * (i % 4 + 1) + 4 + i % 3 + i % 5 + 1 + 7;
    }
    OK(cudaFree(out));
    printf("%d wrong, %llu counted, %s\n", bad, counted, ms >= 0 ? "timed" : "not timed");
    return bad || counted != n;
}
