// Host threads that launch at the same time, each with a stream and memory of its own, and one sum together.
#include "self.cuh"
#include <atomic>
#include <thread>

__device__ unsigned long long total;

__global__ void work(int *a, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i] = a[i] * 3 + k;
    atomicAdd(&total, (unsigned long long)k);
}

static std::atomic<int> bad;

static void host_thread(int k)
{
    const int n = 500, rounds = 20;
    int *a, *b = new int[n];
    cudaStream_t stream;
    bad += cudaSetDevice(0) != cudaSuccess;
    bad += cudaStreamCreate(&stream) != cudaSuccess;
    bad += cudaMalloc(&a, n * sizeof *a) != cudaSuccess;
    bad += cudaMemsetAsync(a, 0, n * sizeof *a, stream) != cudaSuccess;
    for (int r = 0; r < rounds; r++) {
        work<<<5, 100, 0, stream>>>(a, n, k);
        bad += cudaGetLastError() != cudaSuccess;
        if (r % 5 == 0) {
            work<<<1, 2000, 0, stream>>>(a, n, k); // an error of this thread alone
            bad += cudaGetLastError() != cudaErrorInvalidConfiguration;
        }
    }
    bad += cudaMemcpyAsync(b, a, n * sizeof *a, cudaMemcpyDeviceToHost, stream) != cudaSuccess;
    bad += cudaStreamSynchronize(stream) != cudaSuccess;
    int want = 0;
    for (int r = 0; r < rounds; r++) want = (int)((unsigned)want * 3u + (unsigned)k);
    for (int i = 0; i < n; i++) bad += b[i] != want;
    bad += cudaFree(a) != cudaSuccess;
    bad += cudaStreamDestroy(stream) != cudaSuccess;
    delete[] b;
}

int main()
{
    std::vector<std::thread> threads;
    for (int k = 1; k <= 6; k++) threads.emplace_back(host_thread, k);
    for (std::thread &t : threads) t.join();
    unsigned long long sum = 0;
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CHECK(sum == 500ull * 20 * (1 + 2 + 3 + 4 + 5 + 6));
    CHECK(bad == 0);
    return verdict();
}
