// The fp64 math library: elementary functions, Payne-Hanek reduction through a call, pow, gamma and error functions.
// KEEP: 90
#define F(i, e) case i: r = e; break
extern "C" __global__ void math(const int *op, const double *a, const double *b, double *o, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    double x = a[t], y = b[t], r = 0, s, c;
    switch (*op) {
    F(0, sin(x));
    F(1, cos(x));
    F(2, tan(x));
    F(3, asin(x));
    F(4, atan2(x, y));
    F(5, sinh(x));
    F(6, tanh(x));
    F(7, exp(x));
    F(8, exp2(x));
    F(9, exp10(x));
    F(10, log(x));
    F(11, log2(x));
    F(12, log10(x));
    F(13, log1p(x));
    F(14, pow(x, y));
    F(15, cbrt(x));
    F(16, hypot(x, y));
    F(17, erf(x));
    F(18, erfc(x));
    F(19, lgamma(x));
    F(20, tgamma(x));
    F(21, fmod(x, y));
    F(22, remainder(x, y));
    F(23, (sincos(x, &s, &c), s * c));
    F(24, (sincospi(x, &s, &c), s - c));
    F(25, expm1(x));
    F(26, normcdf(x));
    F(27, j0(x));
    }
    o[t] = r;
}
