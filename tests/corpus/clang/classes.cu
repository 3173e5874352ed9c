// C++ through clang: virtual calls, templates (linkonce), lambdas, static locals, std-call by struct, .visible and .weak symbols.
// ARCH: 20 35 60 70
#include "device.h"

extern "C" __device__ void __cxa_pure_virtual() {}
__device__ inline void *operator new(size_t, void *p) { return p; }

struct Base {
    int id;
    __device__ virtual int f(int x) { return x + id; }
    __device__ virtual double g(double a, char b) = 0;
};
struct Left : Base {
    __device__ int f(int x) override { return x * id; }
    __device__ double g(double a, char b) override { return a + b; }
};
struct Right : Base {
    double extra;
    __device__ double g(double a, char b) override { return a * b + extra; }
};

template <typename T, int N> struct Ring {
    T v[N];
    __device__ __noinline__ T at(int i) const { return v[i % N]; }
};
template <typename T> __device__ __noinline__ T largest(const T *p, int n)
{
    T m = p[0];
    for (int i = 1; i < n; i++)
        m = p[i] > m ? p[i] : m;
    return m;
}
template <typename F> __device__ __noinline__ int twice(F f, int x) { return f(f(x)); }

extern "C" __global__ void virtuals(int *o, double *d, int pick)
{
    alignas(8) char room[sizeof(Right)];
    Base *b = pick ? (Base *)new (room) Left : (Base *)new (room) Right;
    b->id = pick;
    o[0] = b->f(o[1]);
    d[0] = b->g(d[1], 'x');
}

extern "C" __global__ void templates(const float *f, const long *l, int *o, const Ring<short, 6> *r, int k)
{
    o[0] = (int)largest(f, k) + (int)largest(l, k) + r->at(k);
    o[1] = twice([=](int x) { return x * k + 1; }, o[2]);
    static __device__ int calls;
    o[3] = calls++;
}

__device__ __attribute__((weak)) int weak_function(int x) { return x; }
__device__ __attribute__((weak)) int weak_variable = 3;
__device__ static int only_mine = 4;
__device__ int (*volatile callback)(int) = weak_function;
extern "C" __global__ void linkage(int *o) { o[0] = weak_function(o[1]) + weak_variable + only_mine++ + callback(o[2]); }
