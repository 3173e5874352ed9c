// A scan in one pass: blocks look back at what those before them have published.
#include "self.cuh"

enum { BLOCK = 128, EACH = 4, TILE = BLOCK * EACH };
enum { NOTHING, SUM, TOTAL };

__device__ unsigned long long pack(unsigned state, unsigned value) { return (unsigned long long)state << 32 | value; }

__device__ unsigned look_back(volatile unsigned long long *published, int tile)
{
    unsigned before = 0;
    for (int at = tile - 1; at >= 0;) {
        const unsigned long long word = atomicAdd((unsigned long long *)&published[at], 0ull);
        const unsigned state = word >> 32;
        if (state == NOTHING) continue;
        before += (unsigned)word;
        if (state == TOTAL) break;
        at--;
    }
    return before;
}

__global__ void scan(const unsigned *in, unsigned *out, int n, unsigned long long *published, unsigned *next)
{
    __shared__ unsigned sums[BLOCK / 32], start, tile;
    if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
    __syncthreads();
    const int first = tile * TILE + threadIdx.x * EACH, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned mine[EACH], sum = 0;
    for (int k = 0; k < EACH; k++) {
        mine[k] = first + k < n ? in[first + k] : 0;
        sum += mine[k];
    }
    unsigned upto = sum;
    for (int step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(~0u, upto, step);
        if (lane >= step) upto += other;
    }
    if (lane == 31) sums[warp] = upto;
    __syncthreads();
    unsigned before = upto - sum, all = 0;
    for (int w = 0; w < BLOCK / 32; w++) {
        if (w < warp) before += sums[w];
        all += sums[w];
    }
    if (threadIdx.x == 0) {
        atomicExch(&published[tile], pack(tile ? SUM : TOTAL, all));
        start = tile ? look_back(published, tile) : 0;
        if (tile) atomicExch(&published[tile], pack(TOTAL, start + all));
    }
    __syncthreads();
    unsigned so_far = start + before;
    for (int k = 0; k < EACH; k++) {
        if (first + k < n) out[first + k] = so_far;
        so_far += mine[k];
    }
}

int main()
{
    for (int n : {1, 511, 512, 513, 20000}) {
        std::vector<unsigned> in(n), want(n);
        unsigned sum = 0;
        for (int i = 0; i < n; i++) {
            in[i] = draw(i) % 1000;
            want[i] = sum;
            sum += in[i];
        }
        const int tiles = (n + TILE - 1) / TILE;
        room<unsigned> from(in), to(n), next(1);
        room<unsigned long long> published(tiles);
        scan<<<tiles, BLOCK>>>(from, to, n, published, next);
        CHECK(to.get() == want);
    }
    return verdict();
}
