// The sum of floats into one word: by atomics, by a tree, and under ticket locks where thread i has
// ticket i, so that additions come in the order of the threads.
enum { THREADS = 128 };

extern "C" __global__ void sum_atomic(unsigned n, const float *in, float *sum)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(sum, in[i]);
}

// One level: a block adds up 2 * THREADS elements.
extern "C" __global__ void sum_tree(unsigned n, const float *in, float *out)
{
    __shared__ float part[THREADS];
    unsigned t = threadIdx.x, i = blockIdx.x * 2 * THREADS + t;
    part[t] = (i < n ? in[i] : 0) + (i + THREADS < n ? in[i + THREADS] : 0);
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// The lock holds 2 * ticket while it waits for that ticket's thread, one more while that thread has it.
__device__ bool take(unsigned *lock, unsigned ticket)
{
    return atomicCAS(lock, 2 * ticket, 2 * ticket + 1) == 2 * ticket;
}

__device__ void add(unsigned *lock, unsigned ticket, volatile float *sum, float x)
{
    __threadfence();
    *sum = *sum + x;
    __threadfence();
    atomicExch(lock, 2 * ticket + 2);
}

// Test&Set. In all three a lane gives the lock on before the loop's end, where lanes wait for each other;
// the empty asm keeps nvcc from moving that behind the loop.
extern "C" __global__ void sum_lock(unsigned n, const float *in, unsigned *lock, float *sum)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, todo = 1;
    if (i >= n) return;
    while (todo) {
        if (take(lock, i)) {
            add(lock, i, sum, in[i]);
            todo = 0;
        }
        asm volatile("" : "+r"(todo));
    }
}

// Test&Set that waits twice as long after each failure.
extern "C" __global__ void sum_lock_backoff(unsigned n, const float *in, unsigned *lock, float *sum)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, todo = 1, wait = 1;
    if (i >= n) return;
    while (todo) {
        if (take(lock, i)) {
            add(lock, i, sum, in[i]);
            todo = 0;
        } else {
            for (unsigned k = wait; k > 0; k--) asm volatile("" : "+r"(k));
            if (wait < 64) wait *= 2;
        }
        asm volatile("" : "+r"(todo));
    }
}

// Test&Test&Set: looks before it tries.
extern "C" __global__ void sum_lock_test(unsigned n, const float *in, unsigned *lock, float *sum)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, todo = 1;
    if (i >= n) return;
    volatile unsigned *seen = lock;
    while (todo) {
        if (*seen == 2 * i && take(lock, i)) {
            add(lock, i, sum, in[i]);
            todo = 0;
        }
        asm volatile("" : "+r"(todo));
    }
}
