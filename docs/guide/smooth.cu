// Each element becomes the mean of itself and the two behind it. The kernel has a bug: docs/guide.md finds it.
extern "C" __global__ void smooth(const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (x[i] + x[i + 1] + x[i + 2]) / 3;
}
