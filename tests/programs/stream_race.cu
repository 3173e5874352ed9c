// Two streams share a buffer. With any argument an event orders them; without, chance does.
#include <cstdio>

__global__ void mad(int *at, int times, int plus)
{
    *at = *at * times + plus;
}

int main(int argc, char **)
{
    int *at, host = -1;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaMalloc(&at, sizeof *at);
    cudaMemset(at, 0, sizeof *at);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    cudaDeviceSynchronize();
    for (int i = 1; i <= 4; i++) {
        mad<<<1, 1, 0, s>>>(at, 3, i);
        cudaEventRecord(e, s);
        if (argc > 1) cudaStreamWaitEvent(t, e, 0);
        mad<<<1, 1, 0, t>>>(at, 5, i);
        cudaEventRecord(e, t);
        if (argc > 1) cudaStreamWaitEvent(s, e, 0);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(&host, at, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %s\n", host, cudaGetErrorName(cudaGetLastError()));
    return 0;
}
