// Second half of the two-file program of link_main.cu: defines what that uses and uses what that defines.
// KEEP: 75 90
// FLAGS: -rdc=true
struct Pair {
    int a;
    double b;
};

extern __device__ int helper(int x);
extern __device__ int main_value;
__device__ int shared_counter = 5;
__constant__ float shared_scale[4] = {1, 2, 3, 4};
static __device__ int private_value = 4;
static __device__ __noinline__ int twice(int x) { return helper(x) - private_value; }
__device__ int (*chosen)(int) = helper;
extern __shared__ int common_shared[];

__device__ float library_scale(float x, int i) { return x * shared_scale[i] + main_value; }
__device__ Pair make_pair(int a, double b) { return Pair{twice(a), b * common_shared[1]}; }
__device__ __attribute__((weak)) int optional(int x) { return x; }
extern "C" __global__ void second(int *o) { o[0] = optional(helper(o[1])) + main_value; }
