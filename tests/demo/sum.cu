// Adds numbers up with atomics: which of them comes first decides how the sum is rounded.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void sum(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(y, x[i]);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 4096;
    std::vector<float> numbers(n);
    float *x, *y, result;
    for (float &number : numbers) number = rand() / 1e6f;
    cudaMalloc(&x, n * sizeof *x);
    cudaMalloc(&y, sizeof *y);
    cudaMemcpy(x, numbers.data(), n * sizeof *x, cudaMemcpyHostToDevice);
    cudaMemset(y, 0, sizeof *y);
    sum<<<(n + 255) / 256, 256>>>(x, y, n);
    cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost);
    printf("%.9g\n", result);
    cudaFree(x);
    cudaFree(y);
}
