// Warp operations before the .sync forms: shfl.up/down/bfly/idx with predicates, vote, from clang.
// ARCH: 30 35 50 60
// FLAGS: -Xclang -target-feature -Xclang +ptx32
#include "device.h"

extern "C" __global__ void shuffles(int *p, float *f)
{
    int v = p[tid_x()];
    p[0] = __nvvm_shfl_down_i32(v, 1, 0x1f);
    p[1] = __nvvm_shfl_up_i32(v, 2, 0);
    p[2] = __nvvm_shfl_bfly_i32(v, 4, 0x1f);
    p[3] = __nvvm_shfl_idx_i32(v, v, 0x1c1f);
    f[0] = __nvvm_shfl_down_f32(f[1], 1, 0x1f);
    f[2] = __nvvm_shfl_bfly_f32(f[3], v, 0x1f);
}

extern "C" __global__ void sum(const float *in, float *out)
{
    float v = in[index()];
    for (int d = 16; d; d /= 2)
        v += __nvvm_shfl_bfly_f32(v, d, 31);
    out[index()] = v;
}

extern "C" __global__ void votes(int *p)
{
    bool b = p[tid_x()] > 0;
    int r;
    asm volatile("{ .reg .pred %%p, %%q; setp.ne.s32 %%p, %1, 0; vote.all.pred %%q, %%p; selp.s32 %0, 1, 0, %%q; }" : "=r"(r) : "r"((int)b));
    p[0] = r;
    asm volatile("{ .reg .pred %%p; setp.ne.s32 %%p, %1, 0; vote.ballot.b32 %0, %%p; }" : "=r"(r) : "r"((int)b));
    p[1] = r;
    p[2] = __nvvm_bar0_popc(b) + __nvvm_bar0_and(b) + __nvvm_bar0_or(b);
}
