// Cooperative groups: tiles, coalesced, labelled and binary partitions, reductions and scans in them.
// FLAGS: -arch=compute_80
#include "self.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int N> __global__ void tiles(const int *in, int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<N> tile = cg::tiled_partition<N>(block);
    const int i = block.thread_rank(), v = in[i];
    int *mine = out + 6 * i;
    mine[0] = tile.meta_group_rank() * 1000 + tile.thread_rank();
    mine[1] = cg::reduce(tile, v, cg::plus<int>());
    mine[2] = cg::reduce(tile, v, cg::greater<int>());
    mine[3] = cg::inclusive_scan(tile, v);
    mine[4] = cg::exclusive_scan(tile, v, cg::bit_or<int>());
    mine[5] = tile.shfl(v, 0) + tile.any(v == 5) * 1000;
}

template <int N> static void run_tiles(const std::vector<int> &in)
{
    room<int> from(in), to(6 * in.size());
    tiles<N><<<1, (int)in.size()>>>(from, to);
    const std::vector<int> got = to.get();
    for (size_t i = 0; i < in.size(); i++) {
        const size_t first = i / N * N;
        int sum = 0, most = -1, before = 0, upto = 0, five = 0;
        for (size_t k = first; k < first + N; k++) {
            sum += in[k];
            most = in[k] > most ? in[k] : most;
            if (k < i) before |= in[k];
            if (k <= i) upto += in[k];
            five |= in[k] == 5;
        }
        const int want[] = {(int)(i / N * 1000 + i % N), sum, most, upto, before, in[first] + five * 1000};
        for (int k = 0; k < 6; k++) CHECK(got[6 * i + k] == want[k]);
    }
}

__global__ void partitions(const int *in, int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int i = block.thread_rank(), v = in[i];
    const cg::coalesced_group same = cg::labeled_partition(warp, v % 3);
    out[4 * i] = cg::reduce(same, v, cg::plus<int>());
    const cg::coalesced_group half = cg::binary_partition(warp, v > 4);
    out[4 * i + 1] = half.size();
    if (v % 2) {
        const cg::coalesced_group odd = cg::coalesced_threads();
        out[4 * i + 2] = cg::reduce(odd, 1, cg::plus<int>());
        out[4 * i + 3] = odd.shfl(v, odd.size() - 1);
    }
}

static void run_partitions(const std::vector<int> &in)
{
    room<int> from(in), to(4 * in.size());
    partitions<<<1, (int)in.size()>>>(from, to);
    const std::vector<int> got = to.get();
    for (size_t i = 0; i < in.size(); i++) {
        const size_t first = i / 32 * 32;
        int sum = 0, large = 0, odd = 0, last = 0;
        for (size_t k = first; k < first + 32; k++) {
            if (in[k] % 3 == in[i] % 3) sum += in[k];
            large += (in[k] > 4) == (in[i] > 4);
            if (in[k] % 2) odd++, last = in[k];
        }
        CHECK(got[4 * i] == sum && got[4 * i + 1] == large);
        CHECK(got[4 * i + 2] == (in[i] % 2 ? odd : 0) && got[4 * i + 3] == (in[i] % 2 ? last : 0));
    }
}

// A tile wider than a warp meets through shared memory.
__global__ void wide(int *out)
{
    __shared__ cg::block_tile_memory<128> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<64>(block);
    out[block.thread_rank()] = cg::reduce(tile, (int)tile.thread_rank() + 1, cg::plus<int>());
}

int main()
{
    std::vector<int> in(96);
    for (int i = 0; i < 96; i++) in[i] = draw(i) % 10;
    run_tiles<1>(in);
    run_tiles<2>(in);
    run_tiles<4>(in);
    run_tiles<8>(in);
    run_tiles<16>(in);
    run_tiles<32>(in);
    run_partitions(in);
    room<int> out(128);
    wide<<<1, 128>>>(out);
    CHECK(out.get() == std::vector<int>(128, 64 * 65 / 2));
    return verdict();
}
