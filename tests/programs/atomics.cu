// Atomics of all types, operations and scopes.
// FLAGS: -arch=compute_80
#include "self.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { THREADS = 4 * 96 };

template <class T> __global__ void integers(T *to)
{
    const T i = (T)(blockIdx.x * blockDim.x + threadIdx.x + 1);
    atomicAdd(&to[0], i);
    atomicMax(&to[1], i);
    atomicMin(&to[2], i);
    atomicAnd(&to[3], (T)~((T)1 << (i % 31)));
    atomicOr(&to[4], (T)1 << (i % 31));
    atomicXor(&to[5], i);
    atomicExch(&to[6], (T)7);
    atomicAdd_system(&to[7], i);
    atomicMax_system(&to[8], i);
    T old = to[9], seen;
    do {
        seen = old;
        old = atomicCAS(&to[9], seen, seen + i);
    } while (old != seen);
    atomicAdd_block(&to[10 + blockIdx.x], i); // atomic among the threads of a block only
}

template <class T> static void run_integers(T every)
{
    std::vector<T> start(14, 0);
    start[2] = (T)1000;
    start[3] = every;
    room<T> to(start);
    integers<T><<<4, 96>>>(to);
    const std::vector<T> got = to.get();
    T sum = 0, max = 0, min = 1000, all = every, any = 0, odd = 0, of_block[4] = {};
    for (T i = 1; i <= THREADS; i++) {
        sum += i;
        of_block[((int)i - 1) / 96] += i;
        max = i;
        min = min < i ? min : i;
        all &= (T)~((T)1 << (i % 31));
        any |= (T)1 << (i % 31);
        odd ^= i;
    }
    const T want[] = {sum, max, min, all, any, odd, 7, sum, max, sum};
    for (int k = 0; k < 10; k++) CHECK(got[k] == want[k]);
    for (int k = 0; k < 4; k++) CHECK(got[10 + k] == of_block[k]);
}

__global__ void wrapping(unsigned *to, int *below)
{
    atomicInc(&to[0], 9);
    atomicDec(&to[1], 6);
    atomicSub(&to[2], 3);
    atomicMin(&below[0], (int)threadIdx.x - 50);
    atomicMax(&below[1], 50 - (int)threadIdx.x);
}

__global__ void floats(float *f, double *d, __half *h, __half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2)
{
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(h, __float2half(0.5f));
    atomicAdd(h2, __floats2half2_rn(0.5f, 0.25f));
    atomicAdd(b, __float2bfloat16(1));
    atomicAdd(b2, __floats2bfloat162_rn(1, 2));
    atomicExch(f + 1, 2.5f);
}

__global__ void narrow(unsigned short *to)
{
    unsigned short old = *to, seen;
    do {
        seen = old;
        old = atomicCAS(to, seen, (unsigned short)(seen + 1));
    } while (old != seen);
}

// Who comes first gets the lower ticket: together they are all there.
__global__ void tickets(unsigned *next, unsigned *taken, unsigned long long *wide)
{
    taken[atomicAdd(next, 1u)] = 1;
    __shared__ unsigned long long mine;
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    atomicAdd(&mine, 1ull << 33);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(wide, mine);
}

int main()
{
    run_integers<int>(-1);
    run_integers<unsigned>(~0u);
    run_integers<unsigned long long>(~0ull);

    room<unsigned> wrapped(std::vector<unsigned>{0, 0, 100});
    room<int> below(2);
    wrapping<<<1, 64>>>(wrapped, below);
    CHECK(wrapped.get() == (std::vector<unsigned>{64 % 10, (7 - 64 % 7) % 7, 100u - 192}));
    CHECK(below.get() == (std::vector<int>{-50, 50}));

    room<float> f(2);
    room<double> d(1);
    room<__half> h(1);
    room<__half2> h2(1);
    room<__nv_bfloat16> b(1);
    room<__nv_bfloat162> b2(1);
    floats<<<2, 64>>>(f, d, h, h2, b, b2);
    CHECK(f.get()[0] == 64 && f.get()[1] == 2.5f && d.get()[0] == 32);
    CHECK(__half2float(h.get()[0]) == 64);
    CHECK(__low2float(h2.get()[0]) == 64 && __high2float(h2.get()[0]) == 32);
    CHECK(__bfloat162float(b.get()[0]) == 128);
    CHECK(__low2float(b2.get()[0]) == 128 && __high2float(b2.get()[0]) == 256);

    room<unsigned short> small(2);
    narrow<<<2, 64>>>(small);
    CHECK(small.get()[0] == 128 && small.get()[1] == 0);

    room<unsigned> next(1), taken(256);
    room<unsigned long long> wide(1);
    tickets<<<4, 64>>>(next, taken, wide);
    CHECK(next.get()[0] == 256 && taken.get() == std::vector<unsigned>(256, 1));
    CHECK(wide.get()[0] == 256ull << 33);
    return verdict();
}
