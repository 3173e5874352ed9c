// Lambdas of the device: captured by value, as arguments of templates, generic ones.
// FLAGS: --extended-lambda
#include "self.cuh"

template <class F> __global__ void each(int n, F f)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}

template <class F> static void on_device(int n, F f)
{
    each<<<(n + 63) / 64, 64>>>(n, f);
    OK(cudaGetLastError());
}

template <class T, class F> struct mapped {
    T *at;
    F f;
    __device__ auto operator[](int i) const { return f(at[i]); }
};
template <class T, class F> mapped<T, F> map(T *at, F f) { return {at, f}; }

struct held {
    float a[4];
    short b;
};
struct square {
    template <class T> __host__ __device__ T operator()(T x) const { return x * x; }
};

int main()
{
    const int n = 1000, k = 3;
    const held captured = {{1, 2, 3, 4}, 5};
    room<float> out(n);
    float *to = out;
    on_device(n, [=] __device__(int i) { to[i] = captured.a[i % 4] * k + captured.b; });
    const std::vector<float> got = out.get();
    for (int i = 0; i < n; i++) CHECK(got[i] == captured.a[i % 4] * k + captured.b);

    const square square;
    room<int> ints(n);
    int *where = ints;
    on_device(n, [=] __device__(int i) {
        const auto twice = [&](auto v) { return v + v; };
        where[i] = twice(square(i)) + (int)square(0.5f * (i % 2));
    });
    const std::vector<int> whole = ints.get();
    for (int i = 0; i < n; i++) CHECK(whole[i] == 2 * square(i) + (int)square(0.5f * (i % 2)));

    auto lazy = map(where, [] __device__(int v) { return v + 1; });
    room<int> third(n);
    int *last = third;
    on_device(n, [=] __device__(int i) { last[i] = lazy[n - 1 - i]; });
    const std::vector<int> end = third.get();
    for (int i = 0; i < n; i++) CHECK(end[i] == whole[n - 1 - i] + 1);
    return verdict();
}
