// fp32 rounding-mode intrinsics, approximate functions and saturation; built plain, fast and with single options.
// KEEP: 75 100 ftz=90 fast=80 nofma=75
// VARIANT: ftz -ftz=true
// VARIANT: fast -use_fast_math
// VARIANT: nofma -fmad=false -prec-div=false -prec-sqrt=false
#define FOUR(f, i, ...) o[i] = f##_rn(__VA_ARGS__), o[i + 1] = f##_rz(__VA_ARGS__), o[i + 2] = f##_ru(__VA_ARGS__), o[i + 3] = f##_rd(__VA_ARGS__)
extern "C" __global__ void rounded(const float *a, const float *b, const float *c, float *o)
{
    int t = threadIdx.x;
    float x = a[t], y = b[t], z = c[t];
    o += t * 64;
    FOUR(__fadd, 0, x, y);
    FOUR(__fsub, 4, x, y);
    FOUR(__fmul, 8, x, y);
    FOUR(__fmaf, 12, x, y, z);
    FOUR(__fdiv, 16, x, y);
    FOUR(__frcp, 20, x);
    FOUR(__fsqrt, 24, x);
    o[28] = __frsqrt_rn(x);
    o[29] = __saturatef(x);
    o[30] = __fdividef(x, y);
    o[31] = __expf(x);
    o[32] = __exp10f(x);
    o[33] = __logf(x);
    o[34] = __log2f(x);
    o[35] = __log10f(x);
    o[36] = __sinf(x);
    o[37] = __cosf(x);
    o[38] = __tanf(x);
    o[39] = __powf(x, y);
    __sincosf(x, &o[40], &o[41]);
    o[42] = fmaf(x, y, -z);
    o[43] = __saturatef(x + y);
    o[44] = __saturatef(x * y + z);
    FOUR(__fmaf_ieee, 45, x, y, z);
    o[49] = __tanhf(x);
}

extern "C" __global__ void plain(const float *a, const float *b, float *o)
{
    int t = threadIdx.x;
    float x = a[t], y = b[t];
    o += t * 32;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = 1.0f / y;
    o[5] = sqrtf(x);
    o[6] = rsqrtf(x);
    o[7] = fabsf(x);
    o[8] = -x;
    o[9] = fminf(x, y);
    o[10] = fmaxf(x, y);
    o[11] = floorf(x);
    o[12] = ceilf(x);
    o[13] = truncf(x);
    o[14] = rintf(x);
    o[15] = roundf(x);
    o[16] = copysignf(x, y);
    o[17] = x < y;
    o[18] = isnan(x);
    o[19] = isinf(x);
    o[20] = isfinite(x);
    o[21] = signbit(x);
    o[22] = x * y + 1.0f;
    o[23] = exp2f(x);
    o[24] = !(x >= y) ? 1.0f : 2.0f;
    o[25] = x != y ? x : 0.0f;
    o[26] = fdimf(x, y);
    o[27] = nearbyintf(x);
}
