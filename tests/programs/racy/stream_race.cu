// Two streams share a number. As `ordered` events order them, as `apart` each has its own; otherwise chance does.
#include <cstdio>
#include <cstring>

__global__ void mad(int *at, int times, int plus)
{
    *at = *at * times + plus;
}

int main(int argc, char **argv)
{
    const bool ordered = argc > 1 && strcmp(argv[1], "ordered") == 0, apart = argc > 1 && !ordered;
    int *at, host = -1;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaMalloc(&at, 2 * sizeof *at);
    cudaMemset(at, 0, 2 * sizeof *at);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    cudaDeviceSynchronize();
    for (int i = 1; i <= 4; i++) {
        mad<<<1, 1, 0, s>>>(at, 3, i);
        cudaEventRecord(e, s);
        if (ordered) cudaStreamWaitEvent(t, e, 0);
        mad<<<1, 1, 0, t>>>(at + apart, 5, i);
        cudaEventRecord(e, t);
        if (ordered) cudaStreamWaitEvent(s, e, 0);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(&host, at, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %s\n", host, cudaGetErrorName(cudaGetLastError()));
    return 0;
}
