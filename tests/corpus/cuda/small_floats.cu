// cuda_fp8.h, cuda_fp6.h and cuda_fp4.h conversions: cvt.e4m3x2/e5m2x2/e2m3x2/e3m2x2/e2m1x2/ue8m0x2 where the target has them.
// KEEP: 75 89 100f
// ARCH: 75 80 89 90 100 100a 100f 120a
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void fp8(const float *f, const __half2 *h, const __nv_bfloat162 *b, unsigned *o, float *r)
{
    float x = f[0], y = f[1];
    float2 xy = make_float2(x, y);
    o[0] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    o[1] = __nv_cvt_float_to_fp8(y, __NV_NOSAT, __NV_E5M2);
    o[2] = __nv_cvt_float2_to_fp8x2(xy, __NV_SATFINITE, __NV_E4M3);
    o[3] = __nv_cvt_float2_to_fp8x2(xy, __NV_SATFINITE, __NV_E5M2);
    o[4] = __nv_cvt_halfraw2_to_fp8x2(h[0], __NV_SATFINITE, __NV_E4M3);
    o[5] = __nv_cvt_bfloat16raw2_to_fp8x2(b[0], __NV_SATFINITE, __NV_E5M2);
    o[6] = __nv_cvt_double_to_fp8(r[9], __NV_SATFINITE, __NV_E4M3);
    o[7] = __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
    o[8] = __nv_cvt_float2_to_e8m0x2(xy, __NV_SATFINITE, cudaRoundZero);
    __nv_fp8_e4m3 e(x);
    __nv_fp8_e5m2 g(y);
    __nv_fp8x4_e4m3 four(make_float4(x, y, -x, -y));
    r[0] = float(e);
    r[1] = float(g);
    float4 back = float4(four);
    r[2] = back.x + back.y + back.z + back.w;
    __nv_fp8_e8m0 u(x);
    r[3] = float(u);
    r[4] = float(__half(__nv_cvt_fp8_to_halfraw(o[10], __NV_E5M2)));
    __half2 h2 = __nv_cvt_fp8x2_to_halfraw2(o[11], __NV_E4M3);
    r[5] = __low2float(h2) * __high2float(h2);
}

extern "C" __global__ void fp6(const float2 *f, const __half2 *h, unsigned *o, float *r)
{
    o[0] = __nv_cvt_float2_to_fp6x2(f[0], __NV_E2M3, cudaRoundNearest);
    o[1] = __nv_cvt_float2_to_fp6x2(f[1], __NV_E3M2, cudaRoundNearest);
    o[2] = __nv_cvt_halfraw2_to_fp6x2(h[0], __NV_E2M3, cudaRoundNearest);
    o[3] = __nv_cvt_float_to_fp6(f[2].x, __NV_E3M2, cudaRoundNearest);
    __half2 a = __nv_cvt_fp6x2_to_halfraw2(o[4], __NV_E2M3);
    r[0] = __low2float(a) + __high2float(a);
    __nv_fp6_e3m2 s(r[4]);
    r[1] = float(s);
}

extern "C" __global__ void fp4(const float2 *f, const __half2 *h, unsigned *o, float *r)
{
    o[0] = __nv_cvt_float2_to_fp4x2(f[0], __NV_E2M1, cudaRoundNearest);
    o[1] = __nv_cvt_halfraw2_to_fp4x2(h[0], __NV_E2M1, cudaRoundNearest);
    o[2] = __nv_cvt_float_to_fp4(f[1].x, __NV_E2M1, cudaRoundNearest);
    __half2 a = __nv_cvt_fp4x2_to_halfraw2(o[3], __NV_E2M1);
    r[0] = __low2float(a) - __high2float(a);
    __nv_fp4x4_e2m1 four(make_float4(r[1], r[2], r[3], r[4]));
    float4 back = float4(four);
    r[5] = back.x * back.w;
}
