// Linkage kinds: __nv_weak, static and anonymous-namespace symbols, templates (.weak), inline functions, C++ name mangling.
// KEEP: 80 rdc=75
// VARIANT: rdc -rdc=true
// FLAGS: --extended-lambda
template <typename T, int N>
struct Vec {
    T v[N];
    __device__ __noinline__ T sum() const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i];
        return s;
    }
};

namespace outer {
namespace {
__device__ int hidden = 4;
__device__ __noinline__ int hide(int x) { return x * hidden; }
}
struct Op {
    __device__ __noinline__ int operator()(int a, long b) const { return a - (int)b; }
    __device__ __noinline__ Op &operator+=(int) { return *this; }
};
}

static __device__ float local_value = 2;
static __device__ __noinline__ float only_here(float x) { return x + local_value; }
__device__ __noinline__ __attribute__((weak)) int replaceable(int x) { return x + 1; }
inline __device__ __noinline__ int many(int x) { return x ^ 5; }
template <typename T> __device__ T shared_template = T(7);
template <int K> __global__ void unrolled(int *o)
{
#pragma unroll
    for (int i = 0; i < K; i++)
        o[i] += i;
}
template __global__ void unrolled<3>(int *);
template <typename... A> __global__ void pack(float *o, A... a) { *o = (float(a) + ...); }
template __global__ void pack<int, char, double>(float *, int, char, double);
extern "C" __device__ __noinline__ int plain_name(int x) { return many(x) + replaceable(x); }

__global__ void use(float *f, int *o, const Vec<int, 5> *a, const Vec<double, 2> *b)
{
    outer::Op op;
    op += 2;
    f[0] = only_here(f[1]) + shared_template<float>;
    o[0] = outer::hide(o[1]) + plain_name(o[2]) + op(3, 4) + a->sum() + (int)b->sum() + shared_template<int>;
    auto lambda = [=](int k) { return k * o[3]; };
    o[4] = lambda(9);
    static int kept = 11;
    o[5] = kept++;
    __shared__ int local[4];
    local[threadIdx.x & 3] = o[6];
    __syncthreads();
    o[7] = local[0];
}

template <typename F> __global__ void apply(F f, int *o, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        o[i] = f(i);
}

void host(int *o, int k)
{
    apply<<<1, 32>>>([=] __device__(int i) { return i * k; }, o, 10);
    auto g = [k] __host__ __device__(int i) { return i + k; };
    apply<<<1, 32>>>(g, o, 10);
}
