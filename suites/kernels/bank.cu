// Transfers between accounts, each under the locks of both, the lower one first. A lane that does not
// get its second lock gives back the first before it tries again, so lanes of a warp cannot block each
// other; the empty asm keeps nvcc from moving what the locks protect behind the loop.
struct transfer {
    unsigned from, to;
    int amount;
};

extern "C" __global__ void bank(unsigned n, const transfer *transfers, unsigned *locks, int *balance)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    transfer t = transfers[i];
    unsigned low = min(t.from, t.to), high = max(t.from, t.to);
    volatile int *b = balance;
    unsigned todo = 1;
    while (todo) {
        if (atomicCAS(&locks[low], 0, 1) == 0) {
            if (atomicCAS(&locks[high], 0, 1) == 0) {
                __threadfence();
                b[t.from] = b[t.from] - t.amount;
                b[t.to] = b[t.to] + t.amount;
                __threadfence();
                atomicExch(&locks[high], 0);
                todo = 0;
            }
            atomicExch(&locks[low], 0);
        }
        asm volatile("" : "+r"(todo));
    }
}
