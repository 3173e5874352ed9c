// __managed__ variables (.attribute(.managed)), zero-copy style pointers and system-scope fences.
__managed__ int counter = 3;
__managed__ float4 points[64];
__device__ __managed__ struct {
    int n;
    double total;
} summary;

extern "C" __global__ void update(int k)
{
    int t = threadIdx.x;
    points[t] = make_float4(t, t * 2, t * 3, k);
    atomicAdd_system(&counter, k);
    __threadfence_system();
    if (t == 0) {
        summary.n = counter;
        summary.total = points[k & 63].x;
    }
}
