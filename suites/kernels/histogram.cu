// How often each byte value occurs; four bytes a load.
enum { BINS = 256 };

extern "C" __global__ void histogram_shared(unsigned words, const unsigned *in, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * BINS + threadIdx.x; i < words; i += gridDim.x * BINS) {
        unsigned w = in[i];
        atomicAdd(&own[w & 255], 1);
        atomicAdd(&own[w >> 8 & 255], 1);
        atomicAdd(&own[w >> 16 & 255], 1);
        atomicAdd(&own[w >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void histogram_global(unsigned words, const unsigned *in, unsigned *bins)
{
    for (unsigned i = blockIdx.x * BINS + threadIdx.x; i < words; i += gridDim.x * BINS) {
        unsigned w = in[i];
        atomicAdd(&bins[w & 255], 1);
        atomicAdd(&bins[w >> 8 & 255], 1);
        atomicAdd(&bins[w >> 16 & 255], 1);
        atomicAdd(&bins[w >> 24], 1);
    }
}
