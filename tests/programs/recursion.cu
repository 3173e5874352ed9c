// Recursion, calls by address, virtual functions over several bases, deep stacks.
#include "self.cuh"

__device__ __noinline__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ void quicksort(int *a, int n)
{
    if (n < 2) return;
    const int pivot = a[n / 2];
    int i = 0, k = n - 1;
    while (i <= k) {
        while (a[i] < pivot) i++;
        while (a[k] > pivot) k--;
        if (i > k) break;
        const int t = a[i];
        a[i++] = a[k];
        a[k--] = t;
    }
    quicksort(a, k + 1);
    quicksort(a + i, n - i);
}

__device__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }

typedef int (*operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ operation chosen = plus;
__constant__ operation table[3] = {plus, times, minus};

struct named {
    __device__ virtual int id() const { return 1; }
};
struct sized {
    int n = 3;
    __device__ virtual int size() const { return n; }
};
struct thing : named, sized {
    __device__ int id() const override { return 20; }
    __device__ int size() const override { return n * 100; }
};
__device__ __noinline__ int measure(const sized &s) { return s.size(); }
__device__ __noinline__ int name(const named &x) { return x.id(); }

__global__ void all(int *sorted, int n, int *out)
{
    const int i = threadIdx.x;
    quicksort(sorted + i * n, n);
    int *to = out + 6 * i;
    to[0] = ackermann(2, i % 5);
    to[1] = even(i);
    to[2] = chosen(i, 3);
    to[3] = table[i % 3](i, 5);
    const thing t;
    const sized plain;
    to[4] = measure(t) + name(t) + measure(plain);
    int (sized::*const member)() const = &sized::size;
    to[5] = ((i % 2 ? (const sized &)t : plain).*member)();
}

__global__ void address(operation *out) { *out = minus; }

int main()
{
    const int n = 30, threads = 64;
    std::vector<int> data(n * threads);
    for (size_t i = 0; i < data.size(); i++) data[i] = draw(i) % 500;
    room<int> sorted(data), out(6 * threads);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    all<<<1, threads>>>(sorted, n, out);
    const std::vector<int> s = sorted.get(), got = out.get();
    for (int i = 0; i < threads; i++) {
        for (int k = 1; k < n; k++) CHECK(s[i * n + k - 1] <= s[i * n + k]);
        const int by[] = {i + 5, i * 5, i - 5};
        const int want[] = {2 * (i % 5) + 3, i % 2 == 0, i + 3, by[i % 3], 300 + 20 + 3, i % 2 ? 300 : 3};
        for (int k = 0; k < 6; k++) check(got[6 * i + k] == want[k], "calls", k);
    }
    room<operation> where(1);
    address<<<1, 1>>>(where);
    const operation other = where.get()[0];
    OK(cudaMemcpyToSymbol(chosen, &other, sizeof other));
    all<<<1, threads>>>(sorted, n, out);
    CHECK(out.get()[6 * 10 + 2] == 10 - 3);
    return verdict();
}
