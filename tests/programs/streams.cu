// Streams, events, callbacks, host functions: what order they promise.
#include "self.cuh"

__global__ void add(int *a, int n, int k)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += k;
}

__global__ void multiply(int *a, const int *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= b[i];
}

static int sequence[8], steps;
static void CUDART_CB note(void *data) { sequence[steps++] = *(int *)data; }
static void CUDART_CB called(cudaStream_t, cudaError_t status, void *data)
{
    CHECK(status == cudaSuccess);
    sequence[steps++] = *(int *)data;
}

int main()
{
    const int n = 1000;
    int *host, least, greatest, numbers[] = {1, 2, 3};
    OK(cudaMallocHost(&host, n * sizeof *host));
    for (int i = 0; i < n; i++) host[i] = i;
    room<int> a(n), b(n);
    cudaStream_t first, second, urgent;
    cudaEvent_t filled, from, to, untimed;
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));

    OK(cudaEventRecord(from, first));
    OK(cudaMemcpyAsync(a, host, n * sizeof *host, cudaMemcpyHostToDevice, first));
    add<<<8, 128, 0, first>>>(a, n, 5);
    OK(cudaEventRecord(filled, first));
    OK(cudaMemcpyAsync(b, host, n * sizeof *host, cudaMemcpyHostToDevice, second));
    OK(cudaStreamWaitEvent(second, filled, 0));
    multiply<<<8, 128, 0, second>>>(b, a, n);
    OK(cudaEventRecord(untimed, second));
    OK(cudaStreamWaitEvent(urgent, untimed, 0));
    add<<<8, 128, 0, urgent>>>(b, n, 1);
    OK(cudaMemcpyAsync(host, b, n * sizeof *host, cudaMemcpyDeviceToHost, urgent));
    OK(cudaLaunchHostFunc(urgent, note, &numbers[0]));
    OK(cudaStreamAddCallback(urgent, called, &numbers[1], 0));
    OK(cudaLaunchHostFunc(urgent, note, &numbers[2]));
    OK(cudaStreamSynchronize(urgent));
    OK(cudaStreamQuery(urgent));
    CHECK(steps == 3 && sequence[0] == 1 && sequence[1] == 2 && sequence[2] == 3);
    for (int i = 0; i < n; i++) CHECK(host[i] == i * (i + 5) + 1);

    float ms = -1;
    OK(cudaEventRecord(to, first));
    OK(cudaEventSynchronize(to));
    OK(cudaEventQuery(to));
    OK(cudaEventElapsedTime(&ms, from, to));
    CHECK(ms >= 0 && ms < 1e6);
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, untimed, to));
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);

    unsigned flags = 9;
    int priority = 9;
    OK(cudaStreamGetFlags(second, &flags));
    OK(cudaStreamGetPriority(urgent, &priority));
    CHECK(flags == cudaStreamNonBlocking && priority == greatest && least >= greatest);
    OK(cudaMemsetAsync(a, 0, n * sizeof(int), 0)); // the legacy stream waits for `first`, and first for it
    add<<<8, 128, 0, first>>>(a, n, 7);
    OK(cudaMemcpy(host, a, n * sizeof *host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) CHECK(host[i] == 7);
    add<<<8, 128, 0, cudaStreamPerThread>>>(a, n, 1);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(a.get()[n - 1] == 8);
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
    OK(cudaStreamDestroy(urgent));
    OK(cudaFreeHost(host));
    return verdict();
}
