// libcu++ atomics: cuda::atomic_ref of many types, orders and scopes, wait/notify, fences, sub-word CAS loops.
// KEEP: 75 90
#include <cuda/atomic>

using cuda::atomic;
using cuda::atomic_ref;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
using cuda::thread_scope;
using cuda::thread_scope_block;
using cuda::thread_scope_device;
using cuda::thread_scope_system;

template <typename T, thread_scope S>
__device__ T all(T *p, T v)
{
    atomic_ref<T, S> a(*p);
    T r = a.load(memory_order_acquire);
    a.store(v, memory_order_release);
    r += a.exchange(v, memory_order_acq_rel);
    T expected = v;
    if (a.compare_exchange_strong(expected, v + 1, memory_order_acq_rel, memory_order_relaxed))
        r++;
    a.compare_exchange_weak(expected, v + 2);
    r += a.fetch_add(v, memory_order_relaxed);
    r -= a.fetch_sub(v);
    r += a.fetch_min(v, memory_order_relaxed);
    r += a.fetch_max(v, memory_order_release);
    return r;
}

extern "C" __global__ void types(char *c, short *s, int *i, long long *l, float *f, double *d)
{
    *c = all<char, thread_scope_device>(c, 1);
    *s = all<short, thread_scope_block>(s, 2);
    *i = all<int, thread_scope_system>(i, 3);
    *l = all<long long, thread_scope_device>(l, 4);
    *f = all<float, thread_scope_device>(f, 5);
    *d = all<double, thread_scope_block>(d, 6);
}

extern "C" __global__ void bits(unsigned *u, unsigned char *c)
{
    atomic_ref<unsigned, thread_scope_device> a(*u);
    u[1] = a.fetch_and(7) + a.fetch_or(9, memory_order_relaxed) + a.fetch_xor(3, memory_order_seq_cst);
    atomic_ref<unsigned char, thread_scope_system> b(*c);
    c[1] = b.fetch_or(0x80) ^ b.fetch_and(0x7f, memory_order_acquire);
    u[2] = ++a + a++;
}

__device__ atomic<int, thread_scope_device> flag{0};

extern "C" __global__ void message(int *data)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        cuda::atomic_thread_fence(memory_order_seq_cst, thread_scope_device);
        flag.store(1, memory_order_release);
        flag.notify_all();
    } else {
        flag.wait(0, memory_order_acquire);
        data[threadIdx.x + 32] = data[threadIdx.x];
    }
}

extern "C" __global__ void pointers(int **p, int *q)
{
    atomic_ref<int *, thread_scope_device> a(*p);
    int *old = a.fetch_add(4);
    *old = 5;
    a.store(q, memory_order_relaxed);
}
