// FLAGS: -arch=compute_90 -lineinfo -diag-suppress 20054
// What CUDA C++ has to order threads, each kernel with a twin that has a race: its name ends in _racy.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cstdio>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int threads = 64;
__shared__ int words[4 * threads];
__device__ int message, flag;
__device__ unsigned done;

#define KERNEL extern "C" __global__ void
#define PAIR(name) KERNEL name(int *memory) { name##_<true>(memory); } KERNEL name##_racy(int *memory) { name##_<false>(memory); }
#define BODY template <bool ordered> __device__ void

// ---- groups

BODY tile_(int *memory)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = threadIdx.x;
    words[i] = i;
    if (ordered) tile.sync();
    else tile.shfl(i, 0);
    memory[i] = words[i ^ 1];
}
PAIR(tile)

BODY inside_tile_(int *memory)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int i = threadIdx.x;
    words[i] = i;
    tile.sync();
    memory[i] = words[i ^ (ordered ? 7 : 8)];
}
PAIR(inside_tile)

BODY coalesced_(int *memory)
{
    const int i = threadIdx.x, first = i & ~31;
    if (i % 3) return;
    auto some = cg::coalesced_threads();
    words[first + some.thread_rank()] = i;
    if (ordered) some.sync();
    memory[i] = words[first + (some.thread_rank() + 1) % some.size()];
}
PAIR(coalesced)

BODY labeled_(int *memory)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = threadIdx.x;
    auto like = cg::labeled_partition(warp, i & 1);
    words[i] = i;
    like.sync();
    memory[i] = words[i ^ (ordered ? 2 : 1)];
}
PAIR(labeled)

BODY reduced_(int *memory)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int sum = cg::reduce(warp, (int)threadIdx.x, cg::plus<int>());
    if (!warp.thread_rank()) words[warp.meta_group_rank()] = sum;
    if (ordered) block.sync();
    if (!block.thread_rank()) memory[0] = words[0] + words[1];
}
PAIR(reduced)

BODY grid_(int *memory)
{
    auto grid = cg::this_grid();
    const int i = grid.thread_rank(), n = grid.size();
    memory[i] = i;
    if (ordered) grid.sync();
    else __syncthreads();
    memory[i + n] = memory[n - 1 - i];
}
PAIR(grid)

BODY copied_(int *memory)
{
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, words, memory, sizeof(int) * threads);
    if (ordered) cg::wait(block);
    else block.sync();
    memory[threads + threadIdx.x] = words[threadIdx.x ^ 33];
    cg::wait(block);
}
PAIR(copied)

BODY copied_prior_(int *memory)
{
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, words, memory, sizeof(int) * threads);
    cg::memcpy_async(block, words + threads, memory + threads, sizeof(int) * threads);
    cg::wait_prior<1>(block);
    memory[2 * threads + threadIdx.x] = words[(ordered ? 0 : threads) + (threadIdx.x ^ 33)];
    cg::wait(block);
}
PAIR(copied_prior)

// ---- clusters

BODY cluster_(int *memory)
{
    auto cluster = cg::this_cluster();
    const int i = threadIdx.x;
    words[i] = i;
    if (ordered) cluster.sync();
    else __syncthreads();
    memory[blockIdx.x * threads + i] = cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[i];
    cluster.sync();
}
KERNEL __cluster_dims__(2) cluster(int *memory) { cluster_<true>(memory); }
KERNEL __cluster_dims__(2) cluster_racy(int *memory) { cluster_<false>(memory); }

BODY cluster_split_(int *memory)
{
    auto cluster = cg::this_cluster();
    const int i = threadIdx.x;
    if (ordered) words[i] = i;
    cluster.barrier_arrive();
    if (!ordered) words[i] = i;
    cluster.barrier_wait();
    memory[blockIdx.x * threads + i] = cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[i];
    cluster.sync();
}
KERNEL __cluster_dims__(2) cluster_split(int *memory) { cluster_split_<true>(memory); }
KERNEL __cluster_dims__(2) cluster_split_racy(int *memory) { cluster_split_<false>(memory); }

BODY cluster_counts_(int *memory)
{
    auto cluster = cg::this_cluster();
    const int i = threadIdx.x;
    words[i] = 0;
    if (ordered) cluster.sync();
    else __syncthreads();
    atomicAdd(cluster.map_shared_rank(words, i & 1) + (i & 7), 1);
    cluster.sync();
    memory[blockIdx.x * threads + i] = words[i];
}
KERNEL __cluster_dims__(2) cluster_counts(int *memory) { cluster_counts_<true>(memory); }
KERNEL __cluster_dims__(2) cluster_counts_racy(int *memory) { cluster_counts_<false>(memory); }

// ---- barriers, latches, pipelines

BODY barrier_(int *memory)
{
    __shared__ block_barrier b;
    if (!threadIdx.x) init(&b, threads);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    auto token = b.arrive();
    if (ordered) b.wait(std::move(token));
    memory[threadIdx.x] = words[threadIdx.x ^ 33];
    if (!ordered) b.wait(std::move(token));
}
PAIR(barrier)

BODY barrier_begun_(int *memory)
{
    __shared__ block_barrier b;
    if (!threadIdx.x) init(&b, 32);
    if (ordered) __syncthreads();
    if (threadIdx.x < 32) b.arrive_and_wait();
    memory[threadIdx.x] = 1;
}
PAIR(barrier_begun)

BODY barrier_turns_(int *memory)
{
    __shared__ block_barrier full, empty;
    if (!threadIdx.x) init(&full, threads), init(&empty, threads);
    __syncthreads();
    for (int k = 0; k < 3; k++)
        if (threadIdx.x < 32) {
            if (k) empty.arrive_and_wait();
            words[threadIdx.x] = k;
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            if (!ordered && k < 2) (void)empty.arrive();
            memory[32 * k + threadIdx.x] = words[threadIdx.x - 32];
            if (ordered && k < 2) (void)empty.arrive();
        }
}
PAIR(barrier_turns)

BODY barrier_copied_(int *memory)
{
    __shared__ block_barrier b;
    if (!threadIdx.x) init(&b, threads);
    __syncthreads();
    cuda::memcpy_async(cg::this_thread_block(), words, memory, sizeof(int) * threads, b);
    auto token = b.arrive();
    if (ordered) b.wait(std::move(token));
    memory[threads + threadIdx.x] = words[threadIdx.x ^ 33];
    if (!ordered) b.wait(std::move(token));
}
PAIR(barrier_copied)

BODY barrier_bulk_(int *memory)
{
    __shared__ block_barrier b;
    __shared__ alignas(128) int buffer[threads];
    if (!threadIdx.x) init(&b, threads);
    __syncthreads();
    if (!threadIdx.x)
        cuda::device::memcpy_async_tx(buffer, memory, cuda::aligned_size_t<16>(sizeof buffer), b);
    auto token = threadIdx.x ? b.arrive() : cuda::device::barrier_arrive_tx(b, 1, sizeof buffer);
    if (ordered) b.wait(std::move(token));
    memory[threads + threadIdx.x] = buffer[threadIdx.x];
    if (!ordered) b.wait(std::move(token));
}
PAIR(barrier_bulk)

BODY latch_(int *memory)
{
    using latch_t = cuda::latch<cuda::thread_scope_block>;
    __shared__ alignas(latch_t) char room[sizeof(latch_t)];
    latch_t &l = *(latch_t *)room;
    if (!threadIdx.x) new (room) latch_t(threads);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    if (ordered) l.arrive_and_wait();
    else l.count_down();
    memory[threadIdx.x] = words[threadIdx.x ^ 33];
}
PAIR(latch)

BODY block_pipeline_(int *memory)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto p = cuda::make_pipeline(block, &state);
    for (int k = 0; k < 5; k++) {
        if (k < 4) {
            p.producer_acquire();
            cuda::memcpy_async(block, words + threads * (k & 1), memory + threads * k, sizeof(int) * threads, p);
            p.producer_commit();
        }
        if (!k) continue;
        p.consumer_wait();
        if (!ordered) p.consumer_release();
        memory[1024 + threads * k + threadIdx.x] = words[threads * (k - 1 & 1) + (threadIdx.x ^ 33)];
        if (ordered) p.consumer_release();
    }
}
PAIR(block_pipeline)

BODY thread_pipeline_(int *memory)
{
    auto p = cuda::make_pipeline();
    for (int k = 0; k < 2; k++) {
        p.producer_acquire();
        cuda::memcpy_async(words + threads * k + threadIdx.x, memory + threads * k + threadIdx.x, sizeof(int), p);
        p.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(p);
    __syncthreads();
    memory[1024 + threadIdx.x] = words[(ordered ? 0 : threads) + (threadIdx.x ^ 33)];
    p.consumer_release();
    cuda::pipeline_consumer_wait_prior<0>(p);
}
PAIR(thread_pipeline)

// ---- atomics: block 0 writes, block 1 reads

template <cuda::thread_scope scope> __device__ void pass(int *memory, cuda::memory_order store, cuda::memory_order load)
{
    cuda::atomic_ref<int, scope> f(flag);
    if (threadIdx.x) return;
    if (!blockIdx.x) {
        message = 7;
        f.store(1, store);
    } else {
        while (!f.load(load)) continue;
        memory[0] = message;
    }
}
KERNEL released(int *memory) { pass<cuda::thread_scope_device>(memory, cuda::memory_order_release, cuda::memory_order_acquire); }
KERNEL released_sc(int *memory) { pass<cuda::thread_scope_device>(memory, cuda::memory_order_seq_cst, cuda::memory_order_seq_cst); }
KERNEL relaxed_racy(int *memory) { pass<cuda::thread_scope_device>(memory, cuda::memory_order_relaxed, cuda::memory_order_acquire); }
KERNEL unacquired_racy(int *memory) { pass<cuda::thread_scope_device>(memory, cuda::memory_order_release, cuda::memory_order_relaxed); }
KERNEL block_scope_racy(int *memory) { pass<cuda::thread_scope_block>(memory, cuda::memory_order_release, cuda::memory_order_acquire); }

BODY fenced_(int *memory)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(flag);
    if (threadIdx.x) return;
    if (!blockIdx.x) {
        message = 7;
        if (ordered) cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        f.store(1, cuda::memory_order_relaxed);
    } else {
        while (!f.load(cuda::memory_order_relaxed)) continue;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        memory[0] = message;
    }
}
PAIR(fenced)

BODY notified_(int *memory)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(flag);
    if (threadIdx.x) return;
    if (!blockIdx.x) {
        message = 7;
        f.store(1, cuda::memory_order_release);
        f.notify_all();
    } else {
        f.wait(0, ordered ? cuda::memory_order_acquire : cuda::memory_order_relaxed);
        memory[0] = message;
    }
}
PAIR(notified)

__device__ cuda::binary_semaphore<cuda::thread_scope_device> semaphore{1};
BODY permitted_(int *memory)
{
    if (threadIdx.x) return;
    semaphore.acquire();
    if (ordered) memory[0]++;
    semaphore.release();
    if (!ordered) memory[0]++;
}
PAIR(permitted)

KERNEL count_system(int *memory) { blockIdx.x ? atomicAdd(memory, 1) : atomicAdd_system(memory, 1); }
KERNEL count_block_racy(int *memory) { atomicAdd_block(memory, 1); }
KERNEL count_mixed_racy(int *memory) { blockIdx.x ? atomicAdd(memory, 1) : atomicAdd_block(memory, 1); }

BODY last_block_(int *memory)
{
    __shared__ bool last;
    memory[blockIdx.x * threads + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (!threadIdx.x) {
        if (ordered) __threadfence();
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (int k = 0; k < gridDim.x; k++) sum += memory[k * threads + threadIdx.x];
    memory[1024 + threadIdx.x] = sum;
}
PAIR(last_block)

// ---- warps, buffers

BODY half_warp_(int *memory)
{
    int *own = words + 2 * (threadIdx.x & 32), i = threadIdx.x & 31;
    own[i] = i;
    own[i + 32] = 0;
    for (int k = 16; k; k /= 2) {
        if (ordered) __syncwarp();
        const int more = own[i + k];
        if (ordered) __syncwarp();
        own[i] += more;
    }
    memory[threadIdx.x] = own[i];
}
PAIR(half_warp)

BODY two_buffers_(int *memory)
{
    const int i = threadIdx.x;
    words[i] = memory[i];
    __syncthreads();
    for (int k = 1; k < 5; k++) {
        words[threads * (k & 1) + i] = memory[threads * k + i];
        const int was = words[threads * (k - 1 & 1) + (i ^ 33)];
        if (ordered || k & 1) __syncthreads();
        memory[1024 + threads * k + i] = was;
    }
}
PAIR(two_buffers)

BODY read_only_(int *memory)
{
    const int i = threadIdx.x;
    memory[(ordered ? 2 * threads : 0) + i] = i;
    __syncthreads();
    memory[threads + i] = __ldg(memory + (i ^ 33));
}
PAIR(read_only)

struct kernel {
    const char *name;
    void (*run)(int *);
    int blocks;
};
#define ONE(name, blocks) {#name, name, blocks}
#define BOTH(name, blocks) ONE(name, blocks), ONE(name##_racy, blocks)

int main()
{
    const kernel list[] = {
        BOTH(tile, 1), BOTH(inside_tile, 1), BOTH(coalesced, 1), BOTH(labeled, 1), BOTH(reduced, 1), BOTH(grid, 3),
        BOTH(copied, 1), BOTH(copied_prior, 1), BOTH(cluster, 2), BOTH(cluster_split, 2), BOTH(cluster_counts, 2),
        BOTH(barrier, 1), BOTH(barrier_begun, 1), BOTH(barrier_copied, 1), BOTH(barrier_bulk, 1),
        BOTH(latch, 1), BOTH(block_pipeline, 1), BOTH(thread_pipeline, 1), ONE(released, 2), ONE(released_sc, 2),
        ONE(relaxed_racy, 2), ONE(unacquired_racy, 2), ONE(block_scope_racy, 2), BOTH(fenced, 2), BOTH(notified, 2),
        BOTH(permitted, 4), ONE(count_system, 2), ONE(count_block_racy, 2), ONE(count_mixed_racy, 2),
        BOTH(last_block, 4), BOTH(half_warp, 1), BOTH(two_buffers, 1), BOTH(read_only, 1), BOTH(barrier_turns, 1),
    };
    const int zero = 0;
    int *memory;
    cudaMalloc(&memory, 8192);
    for (const kernel &k : list) {
        void *arguments[] = {&memory};
        cudaMemset(memory, 0, 8192);
        cudaMemcpyToSymbol(flag, &zero, sizeof zero);
        if (k.run == grid || k.run == grid_racy)
            cudaLaunchCooperativeKernel((void *)k.run, k.blocks, threads, arguments, 0, 0);
        else cudaLaunchKernel((void *)k.run, k.blocks, threads, arguments, 0, 0);
        const cudaError_t error = cudaDeviceSynchronize();
        printf("%s: %s\n", k.name, cudaGetErrorName(error));
        if (error) return 1;
    }
    return 0;
}
