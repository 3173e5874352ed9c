// Asynchronous copies to shared memory: cooperative groups, cuda::pipeline, primitives, barriers.
// FLAGS: -arch=compute_80
// NEEDS: 12
// (In CUDA 11.8's libcu++ a pipeline whose threads all produce and consume has no barriers for stages that are free
// again: producer_acquire does not wait, and by_pipeline overwrites a stage that others still read, as --check race says.)
#include "self.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
enum { TILE = 128 };

__global__ void by_groups(const int *in, int *out, int tiles)
{
    __shared__ int tile[TILE];
    const cg::thread_block block = cg::this_thread_block();
    for (int t = 0; t < tiles; t++) {
        cg::memcpy_async(block, tile, in + t * TILE, sizeof tile);
        cg::wait(block);
        out[t * TILE + threadIdx.x] = tile[TILE - 1 - threadIdx.x];
        block.sync();
    }
}

__global__ void by_pipeline(const int *in, int *out, int tiles)
{
    enum { STAGES = 3 };
    __shared__ int room[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int compute = 0, fetch = 0; compute < tiles; compute++) {
        for (; fetch < tiles && fetch < compute + STAGES; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, room[fetch % STAGES], in + fetch * TILE, sizeof room[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[compute * TILE + threadIdx.x] = room[compute % STAGES][(threadIdx.x + 1) % TILE] + compute;
        pipe.consumer_release();
    }
}

__global__ void by_primitives(const int *in, int *out)
{
    __shared__ __align__(16) int tile[2][TILE];
    for (int half = 0; half < 2; half++) {
        if (threadIdx.x < TILE / 4)
            __pipeline_memcpy_async(&tile[half][4 * threadIdx.x], in + half * TILE + 4 * threadIdx.x, 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[threadIdx.x] = tile[0][threadIdx.x ^ 1];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[TILE + threadIdx.x] = tile[1][threadIdx.x ^ 2];
}

__global__ void by_barrier(const int *in, int *out)
{
    __shared__ int tile[TILE];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled;
    if (threadIdx.x == 0) init(&filled, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int), filled);
    filled.arrive_and_wait();
    out[threadIdx.x] = tile[(threadIdx.x + 64) % TILE];
}

int main()
{
    const int tiles = 7, n = tiles * TILE;
    std::vector<int> in(n), want(n);
    for (int i = 0; i < n; i++) in[i] = draw(i);
    room<int> from(in), to(n);
    by_groups<<<1, TILE>>>(from, to, tiles);
    for (int i = 0; i < n; i++) want[i] = in[i / TILE * TILE + TILE - 1 - i % TILE];
    CHECK(to.get() == want);
    by_pipeline<<<1, TILE>>>(from, to, tiles);
    for (int i = 0; i < n; i++) want[i] = in[i / TILE * TILE + (i + 1) % TILE] + i / TILE;
    CHECK(to.get() == want);
    room<int> two(2 * TILE), one(TILE);
    by_primitives<<<1, TILE>>>(from, two);
    for (int i = 0; i < 2 * TILE; i++) CHECK(two.get()[i] == in[i < TILE ? i ^ 1 : i ^ 2]);
    by_barrier<<<1, TILE>>>(from, one);
    for (int i = 0; i < TILE; i++) CHECK(one.get()[i] == in[(i + 64) % TILE]);
    return verdict();
}
