// Bank accounts under spin locks: atomicCAS/atomicExch with __threadfence, ordering, volatile accesses, nanosleep.
struct Account {
    int lock;
    volatile long long balance;
    unsigned transfers;
};

__device__ void acquire(int *lock)
{
    unsigned ns = 8;
    while (atomicCAS(lock, 0, 1) != 0) {
        __nanosleep(ns);
        if (ns < 256)
            ns *= 2;
    }
    __threadfence();
}

__device__ void release(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void transfer(Account *bank, const int2 *orders, const int *amounts, int n, int *refused)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int from = orders[i].x, to = orders[i].y;
    if (from == to)
        return;
    int first = min(from, to), second = max(from, to);
    acquire(&bank[first].lock);
    acquire(&bank[second].lock);
    if (bank[from].balance >= amounts[i]) {
        bank[from].balance -= amounts[i];
        bank[to].balance += amounts[i];
        bank[from].transfers++;
        bank[to].transfers++;
    } else {
        atomicInc((unsigned *)refused, 0xffffffffu);
    }
    release(&bank[second].lock);
    release(&bank[first].lock);
}

extern "C" __global__ void audit(const Account *bank, int n, unsigned long long *total)
{
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += bank[i].balance;
    atomicAdd(total, sum);
    __threadfence_system();
    __threadfence_block();
}
