// Histogram with private shared bins: atom.shared.add / red.global.add, byte extraction, v4 loads.
extern "C" __global__ void histogram256(const uchar4 *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 c = in[i];
        atomicAdd(&local[c.x], 1u);
        atomicAdd(&local[c.y], 1u);
        atomicAdd(&local[c.z], 1u);
        atomicAdd(&local[c.w], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i])
            atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void histogram_float(const float *in, unsigned long long *bins, float lo, float width, int count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int b = __float2int_rd((in[i] - lo) / width);
    b = min(max(b, 0), count - 1);
    atomicAdd(&bins[b], 1ull);
}
