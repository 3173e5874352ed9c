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

#include "lock.h"

// The same as published for GPUs with transactional memory (Fung et al., MICRO 2011): an account's lock lies beside its
// balance, each of a fixed number of threads makes transfers one after another, and balances are accessed plainly.
struct account {
    unsigned lock;
    int balance;
};

extern "C" __global__ void bank_published(unsigned n, const transfer *transfers, account *accounts)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const transfer t = transfers[i];
        account *low = &accounts[min(t.from, t.to)], *high = &accounts[max(t.from, t.to)];
        unsigned todo = 1;
        while (todo) {
            if (lock_try(&low->lock)) {
                if (lock_try(&high->lock)) {
                    accounts[t.from].balance -= t.amount;
                    accounts[t.to].balance += t.amount;
                    lock_give_back(&high->lock);
                    todo = 0;
                }
                lock_give_back(&low->lock);
            }
            asm volatile("" : "+r"(todo));
        }
    }
}
