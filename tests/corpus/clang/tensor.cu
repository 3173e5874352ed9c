// wmma builtins of clang: hmma of three shapes, imma, sub-byte and single-bit products.
// ARCH: 75
// FLAGS: -Xclang -target-feature -Xclang +ptx63
#include "device.h"

extern "C" __global__ void halves(const int *a, const int *b, float *c, int *h)
{
    int fa[8], fb[8], hc[4], hd[4];
    float fc[8], fd[8];
    __hmma_m16n16k16_ld_a(fa, a, 16, 0);
    __hmma_m16n16k16_ld_b(fb, b, 16, 1);
    __hmma_m16n16k16_ld_c_f32(fc, c, 16, 0);
    __hmma_m16n16k16_mma_f32f32(fd, fa, fb, fc, 1, 0);
    __hmma_m16n16k16_st_c_f32(c, fd, 16, 0);
    __hmma_m32n8k16_ld_a(fa, a, 16, 1);
    __hmma_m32n8k16_ld_b(fb, b, 16, 0);
    __hmma_m32n8k16_ld_c_f16(hc, h, 16, 0);
    __hmma_m32n8k16_mma_f16f16(hd, fa, fb, hc, 2, 0);
    __hmma_m32n8k16_st_c_f16(h, hd, 16, 1);
    __hmma_m8n32k16_ld_a(fa, a, 16, 0);
    __hmma_m8n32k16_ld_b(fb, b, 16, 0);
    __hmma_m8n32k16_mma_f32f16(fd, fa, fb, hd, 0, 1);
    __hmma_m8n32k16_st_c_f32(c + 256, fd, 32, 1);
}

extern "C" __global__ void integers(const int *a, int *c)
{
    int fa[4], fb[4], fc[8], fd[8];
    __imma_m16n16k16_ld_a_s8(fa, a, 16, 0);
    __imma_m16n16k16_ld_b_s8(fb, a, 16, 0);
    __imma_m16n16k16_ld_c(fc, c, 16, 0);
    __imma_m16n16k16_mma_s8(fd, fa, fb, fc, 1, 1);
    __imma_m16n16k16_st_c_i32(c, fd, 16, 0);
    __imma_m8n8k32_ld_a_u4(fa, a, 32, 0);
    __imma_m8n8k32_ld_b_u4(fb, a, 32, 1);
    __imma_m8n8k32_ld_c(fc, c, 8, 0);
    __imma_m8n8k32_mma_u4(fd, fa, fb, fc, 1, 0);
    __imma_m8n8k32_st_c_i32(c, fd, 8, 0);
    __bmma_m8n8k128_ld_a_b1(fa, a, 128, 0);
    __bmma_m8n8k128_ld_b_b1(fb, a, 128, 1);
    __bmma_m8n8k128_mma_xor_popc_b1(fd, fa, fb, fc, 1);
    __bmma_m8n8k128_st_c_i32(c, fd, 8, 1);
}
