// fp64 rounding-mode intrinsics, comparisons, bit access (mov.b64 {lo,hi}) and special constants in hex floats.
// KEEP: 80
#define FOUR(f, i, ...) o[i] = f##_rn(__VA_ARGS__), o[i + 1] = f##_rz(__VA_ARGS__), o[i + 2] = f##_ru(__VA_ARGS__), o[i + 3] = f##_rd(__VA_ARGS__)
extern "C" __global__ void rounded(const double *a, const double *b, const double *c, double *o)
{
    int t = threadIdx.x;
    double x = a[t], y = b[t], z = c[t];
    o += t * 64;
    FOUR(__dadd, 0, x, y);
    FOUR(__dsub, 4, x, y);
    FOUR(__dmul, 8, x, y);
    FOUR(__fma, 12, x, y, z);
    FOUR(__ddiv, 16, x, y);
    FOUR(__drcp, 20, x);
    FOUR(__dsqrt, 24, x);
    o[28] = rsqrt(x);
    o[29] = x / y;
    o[30] = sqrt(x);
    o[31] = fabs(x);
    o[32] = fmin(x, y);
    o[33] = fmax(x, y);
    o[34] = floor(x);
    o[35] = ceil(x);
    o[36] = trunc(x);
    o[37] = rint(x);
    o[38] = round(x);
    o[39] = copysign(x, y);
    o[40] = __hiloint2double(__double2loint(x), __double2hiint(y));
    o[41] = __longlong_as_double(__double_as_longlong(x) ^ 1);
    o[42] = isnan(x) ? 1e308 : isinf(y) ? -0.0 : 4.9e-324;
    o[43] = x <= y ? x : -y;
    o[44] = 0.1;
    o[45] = 1.0 / 0.0;
    o[46] = __longlong_as_double(0x7ff8000000000000ll);
    o[47] = ldexp(x, 3);
    int e;
    o[48] = frexp(x, &e) + e;
    o[49] = modf(x, &o[50]);
    o[51] = logb(x) + ilogb(y);
    o[52] = nextafter(x, y);
    o[53] = signbit(x);
}
