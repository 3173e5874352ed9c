// Programs with one bug each: what goes wrong on a GPU now and then. tests/broken/broken.def has the launch, the bug, and the
// right result, which each kernel leaves in m[0]. All words of m are 0 at first. tests/generate.sh makes the PTX.

typedef unsigned int word;
#define KERNEL extern "C" __global__ void
#define V(p) (*(volatile word *)&(p)) // a strong, relaxed access
enum { FLAG = 32, DATA = 64, LOCK = 96, TICKET = 128, SERVED = 160, OTHER = 192, TABLE = 1024 };

static __device__ bool first() { return threadIdx.x % 32 == 0; } // one thread of each warp
static __device__ bool is_last(word *m) // of all CTAs; everything before it is visible then
{
    __threadfence();
    const bool last = atomicAdd(&m[OTHER], 1) == gridDim.x - 1;
    __threadfence();
    return last;
}

// ---- read, modify, write -------------------------------------------------------------------------------
KERNEL lost_update(word *m) { if (first()) m[0] = m[0] + 1; }
KERNEL lost_update_volatile(word *m) { if (first()) V(m[0]) = V(m[0]) + 1; }
KERNEL lost_update_shared(word *m)
{
    __shared__ word n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    if (first()) n = n + 1;
    __syncthreads();
    if (threadIdx.x == 0) m[0] = n;
}
KERNEL plain_maximum(word *m) { if (first() && m[0] < blockIdx.x + 1) m[0] = blockIdx.x + 1; }
KERNEL cas_without_retry(word *m)
{
    if (!first()) return;
    const word old = V(m[0]);
    atomicCAS(m, old, old + 1);
}
KERNEL mixed_atomic_plain(word *m)
{
    if (!first()) return;
    if (blockIdx.x) atomicAdd(m, 1);
    else m[0] = m[0] + 1;
}
KERNEL atomic_of_cta(word *m) { if (first()) atomicAdd_block(m, 1); }
KERNEL check_then_act(word *m) { if (first() && V(m[0]) < 4) atomicAdd(m, 1); }
KERNEL histogram_plain(word *m)
{
    __shared__ word bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    if (first()) bins[threadIdx.x / 32 % 4] += 1;
    __syncthreads();
    if (threadIdx.x == 0) m[0] = bins[0] * 1000 + bins[1] * 100 + bins[2] * 10 + bins[3];
}

// ---- barriers ------------------------------------------------------------------------------------------
KERNEL missing_barrier(word *m)
{
    __shared__ word s[64];
    volatile word *v = s;
    v[threadIdx.x] = threadIdx.x + 1;
    if (v[threadIdx.x ^ 32] == (threadIdx.x ^ 32) + 1) atomicAdd(m, 1);
}
KERNEL missing_second_barrier(word *m)
{
    __shared__ word s[64];
    for (word i = 0; i < 4; i++) {
        s[threadIdx.x] = i * 64 + threadIdx.x;
        __syncthreads();
        if (s[63 - threadIdx.x] == i * 64 + 63 - threadIdx.x) atomicAdd(m, 1);
    }
}
KERNEL barrier_of_global_stage(word *m)
{
    m[TABLE + threadIdx.x] = threadIdx.x + 1;
    __threadfence();
    if (V(m[TABLE + (threadIdx.x ^ 32)]) == (threadIdx.x ^ 32) + 1) atomicAdd(m, 1);
}
KERNEL warp_synchronous_reduction(word *m)
{
    __shared__ word s[128];
    volatile word *v = s;
    const word t = threadIdx.x;
    v[t] = 1;
    __syncthreads();
    if (t < 64) v[t] += v[t + 64]; // two warps, and no barrier behind it
    if (t < 32) {
        v[t] += v[t + 32];
        __syncwarp();
        for (word d = 16; d; d /= 2) {
            const word x = t < d ? v[t + d] : 0;
            __syncwarp();
            v[t] += x;
            __syncwarp();
        }
        if (t == 0) m[0] = v[0];
    }
}
KERNEL scan_in_place(word *m)
{
    __shared__ word s[64];
    volatile word *v = s;
    const word t = threadIdx.x;
    v[t] = 1;
    __syncthreads();
    for (word d = 1; d < 64; d *= 2) {
        if (t >= d) v[t] += v[t - d]; // others have not read the old value yet
        __syncthreads();
    }
    if (t == 47) m[0] = v[47];
}
KERNEL leader_not_awaited(word *m)
{
    __shared__ word n;
    if (threadIdx.x == 0) n = 7;
    if (first()) atomicAdd(m, *(volatile word *)&n);
}
KERNEL grid_barrier_without_fence(word *m)
{
    if (threadIdx.x) return;
    m[TABLE + 32 * blockIdx.x] = 1;
    atomicAdd(&m[FLAG], 1);
    while (V(m[FLAG]) < gridDim.x) {}
    atomicAdd(m, V(m[TABLE + 32 * ((blockIdx.x + 1) % gridDim.x)]));
}

// ---- messages ------------------------------------------------------------------------------------------
static __device__ void message(word *m, bool writer, bool reader, bool narrow)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        m[DATA] = 42;
        if (narrow) __threadfence_block();
        else if (writer) __threadfence();
        V(m[FLAG]) = 1;
    } else {
        while (!V(m[FLAG])) {}
        if (reader) __threadfence();
        m[0] = V(m[DATA]);
    }
}
KERNEL missing_fence_of_writer(word *m) { message(m, false, true, false); }
KERNEL missing_fence_of_reader(word *m) { message(m, true, false, false); }
KERNEL fence_of_narrow_scope(word *m) { message(m, true, true, true); }
KERNEL publish_pointer(word *m)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        m[DATA] = 42;
        m[DATA + 32] = 43;
        V(m[FLAG]) = DATA;
        m[0] = 1;
    } else {
        const word p = V(m[FLAG]);
        __threadfence();
        if (p && (V(m[p]) != 42 || V(m[p + 32]) != 43)) m[1] = 1;
    }
    if (is_last(m)) m[0] = 1 - V(m[1]);
}
KERNEL slot_reused(word *m)
{
    if (threadIdx.x) return;
    for (word i = 1; i <= 4; i++) {
        if (blockIdx.x == 0) { // does not wait until the slot has been read
            V(m[DATA]) = i;
            __threadfence();
            V(m[FLAG]) = i;
        } else {
            while (V(m[FLAG]) < i) {}
            __threadfence();
            m[0] += V(m[DATA]);
        }
    }
}
KERNEL queue_count_before_item(word *m)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        const word at = atomicAdd(&m[FLAG], 1);
        __threadfence();
        V(m[TABLE + at]) = 1;
    } else {
        const word n = V(m[FLAG]);
        __threadfence();
        for (word i = 0; i < n; i++)
            if (!V(m[TABLE + i])) m[1] = 1;
    }
    if (is_last(m)) m[0] = 1 - V(m[1]);
}
KERNEL seqlock_without_fence(word *m)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (word i = 1; i <= 4; i++) {
            V(m[FLAG]) = 2 * i - 1;
            V(m[DATA]) = i;
            V(m[DATA + 32]) = i;
            V(m[FLAG]) = 2 * i;
        }
    } else {
        for (word i = 0; i < 4; i++) {
            const word before = V(m[FLAG]), a = V(m[DATA]), b = V(m[DATA + 32]), after = V(m[FLAG]);
            if (before == after && before % 2 == 0 && a != b) m[1] = 1;
        }
    }
    if (is_last(m)) m[0] = 1 - V(m[1]);
}
KERNEL last_block_without_fence(word *m)
{
    if (threadIdx.x) return;
    m[TABLE + 32 * blockIdx.x] = 1;
    if (atomicAdd(&m[FLAG], 1) != gridDim.x - 1) return;
    word sum = 0;
    for (word i = 0; i < gridDim.x; i++) sum += V(m[TABLE + 32 * i]);
    m[0] = sum;
}

// ---- locks ---------------------------------------------------------------------------------------------
static __device__ void increment_locked(word *m, int take, int give)
{
    if (threadIdx.x) return;
    while (atomicCAS(&m[LOCK], 0, 1)) {}
    if (take == 1) __threadfence();
    if (take == 2) __threadfence_block();
    m[0] = m[0] + 1;
    if (give == 1) __threadfence();
    if (give == 2) __threadfence_block();
    atomicExch(&m[LOCK], 0);
}
KERNEL lock_without_fence(word *m) { increment_locked(m, 0, 0); }
KERNEL lock_without_release(word *m) { increment_locked(m, 1, 0); }
KERNEL lock_without_acquire(word *m) { increment_locked(m, 0, 1); }
KERNEL lock_of_narrow_scope(word *m) { increment_locked(m, 2, 2); }
KERNEL lock_seen_free(word *m) // tests, then sets
{
    if (threadIdx.x) return;
    while (V(m[LOCK])) {}
    V(m[LOCK]) = 1;
    __threadfence();
    V(m[0]) = V(m[0]) + 1;
    __threadfence();
    V(m[LOCK]) = 0;
}
KERNEL ticket_without_fence(word *m)
{
    if (threadIdx.x) return;
    const word mine = atomicAdd(&m[TICKET], 1);
    while (V(m[SERVED]) != mine) {}
    m[0] = m[0] + 1;
    V(m[SERVED]) = mine + 1;
}
KERNEL dekker_without_fence(word *m)
{
    if (threadIdx.x) return;
    V(m[FLAG + 32 * blockIdx.x]) = 1;
    if (!V(m[FLAG + 32 * (1 - blockIdx.x)])) atomicAdd(&m[1], 1); // it is the only one
    if (is_last(m)) m[0] = V(m[1]) <= 1;
}
KERNEL peterson_without_fence(word *m)
{
    const word me = blockIdx.x, other = 1 - me;
    if (threadIdx.x) return;
    V(m[FLAG + 32 * me]) = 1;
    V(m[LOCK]) = other;
    while (V(m[FLAG + 32 * other]) && V(m[LOCK]) == other) {}
    V(m[0]) = V(m[0]) + 1;
    V(m[FLAG + 32 * me]) = 0;
}

// ---- initialisation, memory that is used again ------------------------------------------------------------
KERNEL lazy_initialisation(word *m)
{
    if (threadIdx.x) return;
    if (!V(m[FLAG])) {
        V(m[DATA]) = 7;
        V(m[FLAG]) = 1;
    }
    atomicAdd(m, V(m[DATA]));
}
KERNEL initialised_twice(word *m)
{
    if (threadIdx.x || V(m[FLAG])) return;
    V(m[FLAG]) = 1;
    atomicAdd(m, 1);
}
KERNEL double_checked(word *m)
{
    if (threadIdx.x) return;
    if (!V(m[FLAG])) {
        while (atomicCAS(&m[LOCK], 0, 1)) {}
        __threadfence();
        if (!V(m[FLAG])) {
            V(m[DATA]) = 7;
            V(m[FLAG]) = 1; // no fence in front of it
        }
        __threadfence();
        atomicExch(&m[LOCK], 0);
    }
    atomicAdd(m, V(m[DATA]));
}
KERNEL aba_stack(word *m) // the stack 1, 2, 3; m[FLAG] is its head
{
    word *head = &m[FLAG], *next = &m[TABLE];
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        V(next[1]) = 2;
        V(next[2]) = 3;
        __threadfence();
        atomicExch(head, 1);
    }
    while (!V(*head)) {}
    __threadfence();
    if (blockIdx.x == 0) { // pops one
        const word h = V(*head), n = V(next[h]);
        atomicCAS(head, h, n);
    } else { // pops two, pushes the first of them again
        const word a = atomicExch(head, V(next[V(*head)]));
        const word b = atomicExch(head, V(next[V(*head)]));
        V(next[a]) = V(*head);
        __threadfence();
        atomicExch(head, a);
        V(m[DATA]) = b;
    }
    if (is_last(m)) m[0] = V(*head) != V(m[DATA]); // b is not in the stack
}
