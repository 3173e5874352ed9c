// cuda_fp16.h: scalar and packed arithmetic, comparisons, fma.relu, conversions in all roundings, ex2/tanh approx, atomics.
// KEEP: 75 100
#include <cuda_fp16.h>

extern "C" __global__ void scalar(const __half *a, const __half *b, __half *o, int *p)
{
    int t = threadIdx.x;
    __half x = a[t], y = b[t];
    o += t * 48;
    o[0] = __hadd(x, y);
    o[1] = __hsub(x, y);
    o[2] = __hmul(x, y);
    o[3] = __hdiv(x, y);
    o[4] = __hfma(x, y, o[0]);
    o[5] = __hadd_sat(x, y);
    o[6] = __hmul_sat(x, y);
    o[7] = __hfma_sat(x, y, o[0]);
    o[8] = __hneg(x);
    o[9] = __habs(x);
    o[10] = hsqrt(x);
    o[11] = hrsqrt(x);
    o[12] = hrcp(x);
    o[13] = hexp(x);
    o[14] = hexp2(x);
    o[15] = hlog(x);
    o[16] = hsin(x);
    o[17] = hfloor(x);
    o[18] = hceil(x);
    o[19] = hrint(x);
    o[20] = htrunc(x);
    o[21] = __hmin(x, y);
    o[22] = __hmax(x, y);
    o[23] = __hmax_nan(x, y);
    o[24] = __hfma_relu(x, y, o[1]);
    o[25] = htanh_approx(x);
    o[26] = __shfl_xor_sync(~0u, x, 1);
    o[27] = __ldg(&a[t + 1]);
    p[0] = __heq(x, y);
    p[1] = __hltu(x, y);
    p[2] = __hgt(x, y);
    p[3] = __hisnan(x);
    p[4] = __hisinf(x);
    p[5] = __hge(x, y) && __hneu(x, y);
    atomicAdd(o + 28, x);
}

extern "C" __global__ void packed(const __half2 *a, const __half2 *b, __half2 *o, unsigned *m)
{
    int t = threadIdx.x;
    __half2 x = a[t], y = b[t];
    o += t * 32;
    o[0] = __hadd2(x, y);
    o[1] = __hsub2(x, y);
    o[2] = __hmul2(x, y);
    o[3] = __h2div(x, y);
    o[4] = __hfma2(x, y, o[0]);
    o[5] = __hadd2_sat(x, y);
    o[6] = __hneg2(x);
    o[7] = __habs2(x);
    o[8] = __hmin2(x, y);
    o[9] = __hmax2_nan(x, y);
    o[10] = h2exp2(x);
    o[11] = __heq2(x, y);
    o[12] = __hltu2(x, y);
    o[13] = __lows2half2(x, y);
    o[14] = __highs2half2(x, y);
    o[15] = __lowhigh2highlow(x);
    o[16] = __hfma2_relu(x, y, o[1]);
    o[17] = __hcmadd(x, y, o[2]);
    m[0] = __heq2_mask(x, y);
    m[1] = __hgtu2_mask(x, y);
    m[2] = __hbeq2(x, y) + __hbltu2(x, y);
    atomicAdd(o + 18, x);
}

#define ROUNDS(f, i) o[i] = f##_rn(x), o[i + 1] = f##_rz(x), o[i + 2] = f##_ru(x), o[i + 3] = f##_rd(x)
extern "C" __global__ void convert(const float *f, __half *o, long long *q, const double *d)
{
    {
        float x = f[threadIdx.x];
        ROUNDS(__float2half, 0);
        ((__half2 *)o)[20] = __floats2half2_rn(x, -x);
    }
    {
        int x = (int)q[0];
        ROUNDS(__int2half, 4);
        ROUNDS(__uint2half, 8);
        ROUNDS(__short2half, 12);
        ROUNDS(__ushort2half, 16);
    }
    {
        long long x = q[1];
        ROUNDS(__ll2half, 20);
        ROUNDS(__ull2half, 24);
    }
    o[28] = __double2half(d[0]);
    {
        __half x = o[30];
        long long *o = q + 2;
        ROUNDS(__half2int, 0);
        ROUNDS(__half2uint, 4);
        ROUNDS(__half2short, 8);
        ROUNDS(__half2ll, 12);
        ROUNDS(__half2ull, 16);
        o[20] = __half2float(x) > 1;
        o[21] = __half_as_short(x);
        o[22] = __half2char_rz(x);
    }
}

extern "C" __global__ void hgemv(const __half2 *m, const __half2 *v, __half *out, int n)
{
    __half2 s = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < n; i += 32)
        s = __hfma2(m[blockIdx.x * n + i], v[i], s);
    __half r = __low2half(s) + __high2half(s);
    for (int d = 16; d; d /= 2)
        r += __shfl_down_sync(~0u, r, d);
    if (threadIdx.x == 0)
        out[blockIdx.x] = r;
}
