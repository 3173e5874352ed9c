// Exclusive prefix sums modulo 2^32.
enum { THREADS = 256, BLOCK = 2 * THREADS };

// Two elements a thread, up and down a tree in shared memory; the block's sum goes to sums.
extern "C" __global__ void scan_block(unsigned n, const unsigned *in, unsigned *out, unsigned *sums)
{
    __shared__ unsigned tree[BLOCK];
    unsigned t = threadIdx.x, from = blockIdx.x * BLOCK;
    tree[t] = from + t < n ? in[from + t] : 0;
    tree[t + THREADS] = from + t + THREADS < n ? in[from + t + THREADS] : 0;
    unsigned step = 1;
    for (unsigned d = THREADS; d > 0; d /= 2, step *= 2) {
        __syncthreads();
        if (t < d) tree[step * (2 * t + 2) - 1] += tree[step * (2 * t + 1) - 1];
    }
    __syncthreads();
    if (t == 0) {
        sums[blockIdx.x] = tree[BLOCK - 1];
        tree[BLOCK - 1] = 0;
    }
    for (unsigned d = 1; d <= THREADS; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            unsigned left = tree[step * (2 * t + 1) - 1];
            tree[step * (2 * t + 1) - 1] = tree[step * (2 * t + 2) - 1];
            tree[step * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    if (from + t < n) out[from + t] = tree[t];
    if (from + t + THREADS < n) out[from + t + THREADS] = tree[t + THREADS];
}

extern "C" __global__ void scan_add(unsigned n, unsigned *out, const unsigned *offsets)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, add = offsets[blockIdx.x];
    if (i < n) out[i] += add;
    if (i + THREADS < n) out[i + THREADS] += add;
}

// One pass: a block takes the next number, publishes the sum of its part, and walks back over the blocks
// before it, adding published sums, until one has published the sum of all up to it. State of block b:
// flag (1 own sum, 2 sum of all) in the upper half of states[b], the sum in the lower.
extern "C" __global__ void scan_lookback(unsigned n, const unsigned *in, unsigned *out,
                                         unsigned *ticket, unsigned long long *states)
{
    __shared__ unsigned warp_sums[THREADS / 32];
    __shared__ unsigned block, before;
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned i = block * THREADS + t, own = i < n ? in[i] : 0, sum = own;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    unsigned of_warps = 0, all = 0;
    for (unsigned w = 0; w < THREADS / 32; w++) {
        if (w < warp) of_warps += warp_sums[w];
        all += warp_sums[w];
    }
    if (t == 0) {
        volatile unsigned long long *s = states;
        unsigned prefix = 0;
        if (block > 0) {
            s[block] = 1ull << 32 | all;
            __threadfence();
            for (unsigned b = block; b-- > 0;) {
                unsigned long long state;
                while ((state = s[b]) >> 32 == 0) {}
                prefix += (unsigned)state;
                if (state >> 32 == 2) break;
            }
        }
        s[block] = 2ull << 32 | (unsigned)(prefix + all);
        __threadfence();
        before = prefix;
    }
    __syncthreads();
    if (i < n) out[i] = before + of_warps + sum - own;
}
