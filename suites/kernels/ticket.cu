// A sum that every warp adds to under a ticket lock: lock[0] is the next ticket, lock[1] the one being
// served. order and running record who was served when, and what the sum was then.
extern "C" __global__ void ticket(unsigned n, const unsigned *in, unsigned *lock, unsigned *sum,
                                  unsigned *order, unsigned *running)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2) own += __shfl_xor_sync(~0u, own, d);
    if (threadIdx.x % 32 != 0) return;
    volatile unsigned *serving = &lock[1], *total = sum;
    unsigned mine = atomicAdd(&lock[0], 1);
    while (*serving != mine) {}
    __threadfence();
    unsigned now = *total + own;
    *total = now;
    order[mine] = i / 32;
    running[mine] = now;
    __threadfence();
    *serving = mine + 1;
}
