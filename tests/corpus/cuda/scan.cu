// Prefix sums: shfl.sync.up with its predicate, Blelloch tree in shared memory, decoupled look-back with membar.
extern "C" __global__ void scan_warp(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int u = __shfl_up_sync(0xffffffffu, v, d);
        if ((threadIdx.x & 31) >= d)
            v += u;
    }
    if (i < n)
        out[i] = v;
}

extern "C" __global__ void scan_tree(int *data, int n)
{
    extern __shared__ int temp[];
    int t = threadIdx.x, offset = 1;
    temp[2 * t] = data[2 * t];
    temp[2 * t + 1] = data[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (t == 0)
        temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int x = temp[a];
            temp[a] = temp[b];
            temp[b] += x;
        }
    }
    __syncthreads();
    data[2 * t] = temp[2 * t];
    data[2 * t + 1] = temp[2 * t + 1];
}

struct Partial {
    int flag;
    int value;
};

extern "C" __global__ void scan_lookback(const int *in, int *out, volatile Partial *state, unsigned *ticket, int n)
{
    __shared__ unsigned block;
    __shared__ int prefix;
    __shared__ int sums[1024];
    int t = threadIdx.x;
    if (t == 0)
        block = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = block * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        int u = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += u;
        __syncthreads();
    }
    if (t == blockDim.x - 1) {
        int total = sums[t], before = 0;
        state[block].value = total;
        __threadfence();
        state[block].flag = 1;
        for (int b = (int)block - 1; b >= 0;) {
            int flag = state[b].flag;
            if (flag == 0)
                continue;
            __threadfence();
            before += state[b].value;
            if (flag == 2)
                break;
            b--;
        }
        state[block].value = before + total;
        __threadfence();
        state[block].flag = 2;
        prefix = before;
    }
    __syncthreads();
    if (i < n)
        out[i] = sums[t] + prefix;
}
