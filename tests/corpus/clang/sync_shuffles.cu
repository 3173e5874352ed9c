// Warp operations of sm_70: shfl.sync, vote.sync, match, bar.warp.sync, barrier.sync, fns, from clang.
// ARCH: 70 75
// FLAGS: -Xclang -target-feature -Xclang +ptx60
#include "device.h"

extern "C" __global__ void warp(int *p)
{
    int v = p[tid_x()];
    p[0] = __nvvm_shfl_sync_down_i32(~0u, v, 1, 0x1f);
    p[1] = __nvvm_shfl_sync_idx_i32(v, v, v, 0x1f);
    p[2] = __nvvm_vote_all_sync(~0u, v) + __nvvm_vote_any_sync(~0u, v) + __nvvm_vote_uni_sync(~0u, v);
    p[3] = __nvvm_vote_ballot_sync(~0u, v);
    p[4] = __nvvm_match_any_sync_i32(~0u, v);
    int pred;
    p[6] = __nvvm_match_all_sync_i32p(~0u, v, &pred);
    p[7] = pred;
    __nvvm_bar_warp_sync(v);
    __nvvm_barrier_sync(3);
    __nvvm_barrier_sync_cnt(4, 64);
    p[8] = __nvvm_fns(v, 1, 2);
    __nvvm_bar_sync(5);
}
