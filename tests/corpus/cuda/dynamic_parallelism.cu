// Dynamic parallelism: child launches through cudaGetParameterBuffer/cudaLaunchDevice, tail and fire-and-forget streams.
// KEEP: 75 90
// FLAGS: -rdc=true
__global__ void child(int *data, int depth);

__global__ void quicksort(int *data, int lo, int hi)
{
    if (hi - lo < 2)
        return;
    int pivot = data[(lo + hi) / 2], i = lo, j = hi - 1;
    while (i <= j) {
        while (data[i] < pivot)
            i++;
        while (data[j] > pivot)
            j--;
        if (i <= j) {
            int t = data[i];
            data[i++] = data[j];
            data[j--] = t;
        }
    }
    quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, lo, j + 1);
    quicksort<<<1, 1, 0, cudaStreamTailLaunch>>>(data, i, hi);
}

__global__ void child(int *data, int depth)
{
    data[threadIdx.x] += depth;
    if (depth > 0 && threadIdx.x == 0)
        child<<<dim3(1, 1, 1), dim3(32, 1, 1), 128>>>(data, depth - 1);
}

extern "C" __global__ void parent(int *data)
{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    child<<<1, 32, 0, s>>>(data, 3);
    data[40] = cudaGetLastError();
    cudaMemcpyAsync(data + 64, data, 128, cudaMemcpyDeviceToDevice, s);
    cudaStreamDestroy(s);
}
