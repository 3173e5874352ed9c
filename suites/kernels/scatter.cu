// Indices that occur more than once.

// The last writer of an index wins, whoever that is.
extern "C" __global__ void scatter_last(unsigned n, const unsigned *index, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = i;
}

// out[index[row]] += in[row], rows of 32 elements, a warp a row.
extern "C" __global__ void index_add(unsigned rows, const unsigned *index, const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 32 < rows) atomicAdd(&out[index[i / 32] * 32 + i % 32], in[i]);
}

// sums[segment[i]] += in[i], the segments in no order.
extern "C" __global__ void segment_sum(unsigned n, const unsigned *segment, const float *in, float *sums)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sums[segment[i]], in[i]);
}
