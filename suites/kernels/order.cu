// Atomics that do not commute: what is left says in which order they came.

// Each thread puts itself at the head of its key's chain: prev[i] is who was there before, ~0 nobody.
extern "C" __global__ void order_exchange(unsigned n, const unsigned *keys, unsigned *head,
                                          unsigned *prev)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) prev[i] = atomicExch(&head[keys[i]], i);
}

// No result is used. Sums and exclusive ors alternate on the upper 24 bits of a word, the lowest byte has
// the ors alone; laps count to limits that differ; the last to come stays.
extern "C" __global__ void order_mixed(unsigned n, const unsigned *keys, const unsigned *in,
                                       unsigned *words, unsigned *laps, unsigned *last)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = keys[i];
    if (i % 2)
        atomicAdd(&words[k], in[i] & ~255u);
    else
        atomicXor(&words[k], in[i]);
    atomicInc(&laps[k], 50 + in[i] % 50);
    atomicExch(&last[k], i);
}

// Each element that is odd goes to the end of the queue.
extern "C" __global__ void append(unsigned n, const unsigned *in, unsigned *count, unsigned *queue)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2) queue[atomicAdd(count, 1)] = i;
}
