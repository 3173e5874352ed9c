// y = A x, A in compressed rows.
extern "C" __global__ void spmv_scalar(unsigned rows, const unsigned *row, const unsigned *column,
                                       const float *value, const float *x, float *y)
{
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (unsigned i = row[r]; i < row[r + 1]; i++) sum = fmaf(value[i], x[column[i]], sum);
    y[r] = sum;
}

// Lane l of a row's warp takes elements l, l + 32, ...; the lanes' sums are folded by halves.
extern "C" __global__ void spmv_vector(unsigned rows, const unsigned *row, const unsigned *column,
                                       const float *value, const float *x, float *y)
{
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float sum = 0;
    for (unsigned i = row[r] + lane; i < row[r + 1]; i += 32) sum = fmaf(value[i], x[column[i]], sum);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[r] = sum;
}
