// One block adds up 256 numbers by a tree in shared memory. The kernel has a bug: docs/guide.md finds it.
extern "C" __global__ void total(const float *x, float *result)
{
    __shared__ float part[256];
    unsigned t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (unsigned step = 128; step > 0; step /= 2)
        if (t < step) part[t] += part[t + step];
    if (t == 0) *result = part[0];
}
