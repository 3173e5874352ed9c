// First half of a two-file program: calls functions and reads variables that link_library.cu defines (.extern).
// KEEP: 75 90
// FLAGS: -rdc=true
struct Pair {
    int a;
    double b;
};

extern __device__ int shared_counter;
extern __constant__ float shared_scale[4];
extern __device__ float library_scale(float x, int i);
extern __device__ Pair make_pair(int a, double b);
extern __device__ int (*chosen)(int);
__device__ int helper(int x) { return x * 2 + 1; }
__device__ int main_value = 17;
static __device__ int private_value = 3;
__device__ __noinline__ static int twice(int x) { return x + x + private_value; }
extern __shared__ int common_shared[];

extern "C" __global__ void start(float *f, Pair *p, int *o)
{
    common_shared[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    f[0] = library_scale(f[1], o[0] & 3) * shared_scale[1];
    *p = make_pair(o[1], f[2]);
    atomicAdd(&shared_counter, twice(o[2]));
    o[3] = chosen(o[4]) + common_shared[0];
}
