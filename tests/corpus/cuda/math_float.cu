// The fp32 math library: trigonometric with slow-path reduction, exponentials, special functions, remainders.
// VARIANT: fast -use_fast_math
// KEEP: 80 fast=75
#define F(i, e) case i: r = e; break
extern "C" __global__ void math(const int *op, const float *a, const float *b, float *o, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    float x = a[t], y = b[t], r = 0, s, c;
    int q;
    switch (*op) {
    F(0, sinf(x));
    F(1, cosf(x));
    F(2, tanf(x));
    F(3, asinf(x));
    F(4, acosf(x));
    F(5, atanf(x));
    F(6, atan2f(x, y));
    F(7, sinhf(x));
    F(8, coshf(x));
    F(9, tanhf(x));
    F(10, asinhf(x));
    F(11, acoshf(x));
    F(12, atanhf(x));
    F(13, expf(x));
    F(14, exp2f(x));
    F(15, exp10f(x));
    F(16, expm1f(x));
    F(17, logf(x));
    F(18, log2f(x));
    F(19, log10f(x));
    F(20, log1pf(x));
    F(21, powf(x, y));
    F(22, cbrtf(x));
    F(23, rcbrtf(x));
    F(24, hypotf(x, y));
    F(25, rhypotf(x, y));
    F(26, erff(x));
    F(27, erfcf(x));
    F(28, erfcxf(x));
    F(29, erfinvf(x));
    F(30, erfcinvf(x));
    F(31, normcdff(x));
    F(32, normcdfinvf(x));
    F(33, lgammaf(x));
    F(34, tgammaf(x));
    F(35, j0f(x));
    F(36, y1f(x));
    F(37, jnf(3, x));
    F(38, cyl_bessel_i0f(x));
    F(39, fmodf(x, y));
    F(40, remainderf(x, y));
    F(41, remquof(x, y, &q) + q);
    F(42, sinpif(x));
    F(43, cospif(x));
    F(44, (sincosf(x, &s, &c), s * c));
    F(45, (sincospif(x, &s, &c), s - c));
    F(46, ldexpf(x, 5));
    F(47, scalbnf(x, -5));
    F(48, norm3df(x, y, 1.0f));
    F(49, nextafterf(x, y));
    F(50, fmaf(x, y, 1.5f));
    }
    o[t] = r;
}
