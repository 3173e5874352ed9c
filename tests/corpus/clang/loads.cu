// ld.global.nc through __nvvm_ldg builtins, vector types, and special function builtins (approx, rounding, cvt).
// ARCH: 35 50 70
#include "device.h"

typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef char c4 __attribute__((ext_vector_type(4)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef double d2 __attribute__((ext_vector_type(2)));

extern "C" __global__ void ldg(const char *c, const short *s, const int *i, const long *l, const float *f, const double *d,
                               const f4 *v, const i2 *w, double *o)
{
    int t = tid_x();
    f4 a = __nvvm_ldg_f4(v + t);
    i2 b = __nvvm_ldg_i2(w + t);
    o[t] = __nvvm_ldg_c(c + t) + __nvvm_ldg_s(s + t) + __nvvm_ldg_i(i + t) + __nvvm_ldg_l(l + t) + __nvvm_ldg_f(f + t) +
           __nvvm_ldg_d(d + t) + __nvvm_ldg_uc((const unsigned char *)c) + a.x * a.w + b.y;
}

extern "C" __global__ void vectors(f4 *a, i2 *b, c4 *c, s2 *s, d2 *d)
{
    int t = tid_x();
    a[t] = a[t] * a[t + 1].wzyx + 1.0f;
    b[t] = (b[t] << 2) ^ b[t + 1];
    c[t] = c[t] + c[t + 1];
    s[t] = s[t] * s[t + 1];
    d[t] = d[t] / d[t + 1];
}

extern "C" __global__ void functions(float *f, double *d, int *i)
{
    float x = f[0];
    f[1] = __nvvm_sin_approx_f(x) + __nvvm_cos_approx_ftz_f(x);
    f[2] = __nvvm_ex2_approx_f(x) * __nvvm_lg2_approx_f(x);
    f[3] = __nvvm_rcp_rz_f(x) + __nvvm_sqrt_rp_f(x) + __nvvm_rsqrt_approx_f(x);
    f[4] = __nvvm_fma_rm_f(x, x, f[5]) + __nvvm_add_rz_ftz_f(x, 3) + __nvvm_mul_rp_f(x, 4);
    f[6] = __nvvm_div_approx_f(x, f[7]) + __nvvm_div_rn_f(f[7], x) + __nvvm_saturate_f(x) + __nvvm_fmin_f(x, 3) + __nvvm_fabs_f(x);
    f[8] = __nvvm_ceil_f(x) + __nvvm_floor_f(x) + __nvvm_trunc_f(x) + __nvvm_round_f(x);
    d[1] = __nvvm_rcp_rn_d(d[0]) + __nvvm_sqrt_rz_d(d[0]) + __nvvm_fma_rp_d(d[0], d[0], 1) + __nvvm_add_rm_d(d[0], 2);
    i[0] = __nvvm_f2i_rm(x) + __nvvm_d2i_rp(d[0]) + __nvvm_f2ui_rn(x) + __nvvm_d2i_lo(d[0]) + __nvvm_mul24_i(i[1], i[2]) + __nvvm_mulhi_i(i[1], i[2]);
    f[9] = __nvvm_i2f_rz(i[3]) + __nvvm_ui2f_rp(i[4]) + __nvvm_ll2f_rm(i[5]);
    d[2] = __nvvm_lohi_i2d(i[1], i[2]) + __nvvm_i2d_rn(i[3]);
    i[6] = __nvvm_prmt(i[1], i[2], 0x3210) + __nvvm_sad_i(i[1], i[2], i[3]);
    i[7] = __builtin_popcountl(i[1]) + __builtin_ctz(i[2]) + __builtin_bswap32(i[3]) + __builtin_bitreverse32(i[4]);
}
