// Functions of math.h in double precision, integers and conversions, held against the host's.
#include "self.cuh"
#include <cstdint>

enum { EACH = 200 };

__global__ void all(const double *x, double *out)
{
    const int i = threadIdx.x;
    const double v = x[i], p = fabs(v) + 0.01;
    double *to = out + 16 * i;
    to[0] = sqrt(p);
    to[1] = exp(v / 10);
    to[2] = log(p);
    to[3] = sin(v);
    to[4] = cos(v);
    to[5] = atan2(v, 3.0);
    to[6] = pow(p, 1.7);
    to[7] = tanh(v);
    to[8] = erf(v / 10);
    to[9] = cbrt(v);
    to[10] = fmod(v, 0.7);
    to[11] = fma(v, v, -1.0);
    to[12] = v / p;
    to[13] = lgamma(p + 3);
    to[14] = tgamma(p / 5 + 1);
    to[15] = log1p(p) + expm1(v / 20);
}

__global__ void bits(const double *x, int64_t *out)
{
    const int i = threadIdx.x;
    const double v = x[i] * 1000;
    int exponent;
    const double m = frexp(v, &exponent);
    int64_t *to = out + 8 * i;
    to[0] = llrint(v);
    to[1] = (int64_t)v;
    to[2] = __double2int_rd(v);
    to[3] = exponent;
    to[4] = __double_as_longlong(ldexp(m, exponent)) == __double_as_longlong(v);
    to[5] = ilogb(v + 0.5);
    to[6] = (unsigned)(int)v % 17u;
    to[7] = (int64_t)v / 13 * 1000 + (int64_t)v % 13;
}

int main()
{
    std::vector<double> in(EACH);
    for (int i = 0; i < EACH; i++) in[i] = (int)(draw(i) % 40000) / 1000.0 - 20.0005;
    room<double> x(in), out(16 * EACH);
    room<int64_t> whole(8 * EACH);
    all<<<1, EACH>>>(x, out);
    bits<<<1, EACH>>>(x, whole);
    const std::vector<double> got = out.get();
    const std::vector<int64_t> n = whole.get();
    for (int i = 0; i < EACH; i++) {
        const double v = in[i], p = std::fabs(v) + 0.01;
        const double want[16] = {std::sqrt(p),      std::exp(v / 10),   std::log(p),         std::sin(v),
                                 std::cos(v),       std::atan2(v, 3.0), std::pow(p, 1.7),    std::tanh(v),
                                 std::erf(v / 10),  std::cbrt(v),       std::fmod(v, 0.7),   std::fma(v, v, -1.0),
                                 v / p,             std::lgamma(p + 3), std::tgamma(p / 5 + 1), std::log1p(p) + std::expm1(v / 20)};
        for (int k = 0; k < 16; k++) {
            const bool exact = k == 0 || (k >= 10 && k <= 12);
            const double error = std::fabs(got[16 * i + k] - want[k]);
            check(exact ? error == 0 : error <= 1e-14 * std::fmax(std::fabs(want[k]), 0.01), "math", k);
        }
        const double w = v * 1000;
        int exponent;
        (void)std::frexp(w, &exponent);
        const int64_t all[8] = {std::llrint(w),          (int64_t)w,
                                (int64_t)std::floor(w),  exponent,
                                1,                       std::ilogb(w + 0.5),
                                (unsigned)(int)w % 17u,  (int64_t)w / 13 * 1000 + (int64_t)w % 13};
        for (int k = 0; k < 8; k++) check(n[8 * i + k] == all[k], "bits", k);
    }
    return verdict();
}
