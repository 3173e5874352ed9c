// Cooperative groups: tiles, coalesced and labelled groups, reduce, scan, invoke_one, memcpy_async, multi-warp tiles.
// KEEP: 75 90
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    auto dynamic = cg::tiled_partition(block, 16);
    int v = in[block.thread_rank()];
    out[0] = warp.shfl(v, 3) + warp.shfl_up(v, 1) + quad.shfl_xor(v, 2) + quad.shfl_down(v, 1);
    out[1] = quad.any(v) + quad.all(v) + quad.ballot(v) + warp.match_any(v);
    out[2] = dynamic.thread_rank() + quad.meta_group_rank() + quad.meta_group_size();
    dynamic.sync();
    quad.sync();
    block.sync();
    int pred;
    out[3] = warp.match_all(v, pred) + pred;
    double d = quad.shfl(v * 0.5, 0);
    out[4] = (int)d;
    cg::invoke_one(warp, [&] { out[5] = v; });
}

extern "C" __global__ void coalesced(int *counter, int *slots, const int *in)
{
    int v = in[threadIdx.x];
    if (v > 3) {
        cg::coalesced_group g = cg::coalesced_threads();
        int base;
        if (g.thread_rank() == 0)
            base = atomicAdd(counter, g.size());
        base = g.shfl(base, 0);
        slots[base + g.thread_rank()] = v;
        auto same = cg::labeled_partition(g, v);
        slots[0] = cg::reduce(same, v, cg::plus<int>());
        auto two = cg::binary_partition(g, v & 1);
        slots[1] = two.size();
        slots[2] = cg::exclusive_scan(g, v);
    }
}

extern "C" __global__ void collectives(const int *in, int *out, float *f)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int v = in[threadIdx.x];
    out[0] = cg::reduce(warp, v, cg::plus<int>());
    out[1] = cg::reduce(warp, v, cg::less<int>());
    out[2] = cg::reduce(warp, (unsigned)v, cg::bit_xor<unsigned>());
    f[0] = cg::reduce(warp, v * 0.5f, cg::greater<float>());
    out[3] = cg::inclusive_scan(warp, v);
    out[4] = cg::exclusive_scan(warp, v, cg::bit_or<int>());
    out[5] = cg::inclusive_scan(warp, v, [](int a, int b) { return a > b ? a : b; });
    cg::reduce_update_async(warp, *(cuda::atomic<int, cuda::thread_scope_device> *)(out + 6), v, cg::plus<int>());
}

extern "C" __global__ void copies(const int *in, int *out)
{
    __shared__ int local[512];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, local, in, sizeof local);
    cg::wait(block);
    out[block.thread_rank()] = local[511 - block.thread_rank()];
    cg::memcpy_async(block, local, in + 512, cuda::aligned_size_t<16>(1024));
    cg::wait_prior<0>(block);
    out[block.thread_rank()] += local[block.thread_rank()];
}

extern "C" __global__ void split_barrier(int *out)
{
    auto block = cg::this_thread_block();
    auto token = block.barrier_arrive();
    out[block.thread_index().x] = block.group_dim().x + block.dim_threads().y;
    block.barrier_wait(std::move(token));
}

extern "C" __global__ void whole_grid(int *data)
{
    auto grid = cg::this_grid();
    for (int i = 0; i < 3; i++) {
        data[grid.thread_rank()] = data[grid.size() - 1 - grid.thread_rank()] + i;
        grid.sync();
    }
    data[0] = grid.num_blocks() + grid.block_rank();
}
