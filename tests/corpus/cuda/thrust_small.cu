// Thrust called inside a kernel (sequential policy) and one for_each kernel: templates over iterators.
// FLAGS: --extended-lambda
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

extern "C" __global__ void inside(int *p, int n, int *o)
{
    int *mine = p + threadIdx.x * n;
    thrust::sort(thrust::seq, mine, mine + n);
    int *end = thrust::unique(thrust::seq, mine, mine + n);
    o[threadIdx.x] = thrust::reduce(thrust::seq, mine, end, 0);
}

void run(float *p, int n)
{
    thrust::for_each_n(thrust::device, thrust::counting_iterator<int>(0), n, [=] __device__(int i) { p[i] = p[i] * 2 + i; });
}
