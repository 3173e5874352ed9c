// cuda_bf16.h: arithmetic, packed pairs, conversions, min/max with NaN, relu, atomics; emulated before sm_80/sm_90.
// KEEP: 75 80 90
#include <cuda_bf16.h>

#if __CUDA_ARCH__ < 800
#define __hfma(x, y, z) __hadd(__hmul(x, y), z)
#define __hfma2(x, y, z) __hadd2(__hmul2(x, y), z)
#define __hfma_relu(x, y, z) __hmax(__hfma(x, y, z), y)
#define __hfma2_relu(x, y, z) __hmax2(__hfma2(x, y, z), y)
#endif

extern "C" __global__ void scalar(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *o, int *p)
{
    int t = threadIdx.x;
    __nv_bfloat16 x = a[t], y = b[t];
    o += t * 32;
    o[0] = __hadd(x, y);
    o[1] = __hsub(x, y);
    o[2] = __hmul(x, y);
    o[3] = __hdiv(x, y);
    o[4] = __hfma(x, y, o[0]);
    o[5] = __hadd_sat(x, y);
    o[6] = __hneg(x);
    o[7] = __habs(x);
    o[8] = hsqrt(x);
    o[9] = hexp2(x);
    o[10] = htanh(x);
    o[11] = hfloor(x);
    o[12] = __hmin(x, y);
    o[13] = __hmax_nan(x, y);
    o[14] = __hfma_relu(x, y, o[1]);
    o[15] = __float2bfloat16_rz(__bfloat162float(x) + 1);
    o[16] = __float2bfloat16_ru(__bfloat162float(y) + 1);
    o[17] = __int2bfloat16_rn(p[8]);
    o[18] = __ull2bfloat16_rd(p[9]);
    o[19] = __double2bfloat16(p[10] * 0.3);
    p[0] = __heq(x, y);
    p[1] = __hltu(x, y);
    p[2] = __bfloat162int_rd(x);
    p[3] = __bfloat162ushort_rz(x);
    p[4] = (int)__bfloat162ll_ru(x);
    p[5] = __hisnan(x) + __hisinf(y);
    atomicAdd(o + 20, x);
}

extern "C" __global__ void packed(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *o, unsigned *m)
{
    int t = threadIdx.x;
    __nv_bfloat162 x = a[t], y = b[t];
    o += t * 16;
    o[0] = __hadd2(x, y);
    o[1] = __hmul2(x, y);
    o[2] = __hfma2(x, y, o[0]);
    o[3] = __hmin2(x, y);
    o[4] = __hmax2_nan(x, y);
    o[5] = __habs2(x);
    o[6] = __hfma2_relu(x, y, o[1]);
    o[7] = __floats2bfloat162_rn(m[4] * 0.5f, m[5] * 0.25f);
    o[8] = h2log(x);
    o[9] = __heq2(x, y);
    m[0] = __hgtu2_mask(x, y);
    m[1] = __hbgt2(x, y);
    float2 f = __bfloat1622float2(x);
    m[2] = f.x > f.y;
    atomicAdd(o + 10, x);
    o[11] = __shfl_down_sync(~0u, x, 4);
}

extern "C" __global__ void mixed(const uint4 *in, float4 *out)
{
    uint4 w = in[threadIdx.x];
    const __nv_bfloat162 *p = (const __nv_bfloat162 *)&w;
    float2 a = __bfloat1622float2(p[0]), b = __bfloat1622float2(p[1]);
    float2 c = __bfloat1622float2(p[2]), d = __bfloat1622float2(p[3]);
    out[threadIdx.x] = make_float4(a.x + c.x, a.y * c.y, b.x - d.x, b.y / d.y);
}
