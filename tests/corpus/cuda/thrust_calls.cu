// Thrust from the host side: transform, reduce, unique, partition: the CUDA back end's kernels.
// KEEP: 75
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

struct Square {
    __device__ float operator()(float x) const { return x * x; }
};

float run(float *p, float *q, int n)
{
    thrust::transform(thrust::device, p, p + n, q, Square());
    thrust::inclusive_scan(thrust::device, q, q + n, p);
    float *end = thrust::unique(thrust::device, p, p + n);
    return thrust::reduce(thrust::device, p, end);
}
