// Functions of math.h in single precision, held against the host's in double: within the bounds of the programming guide.
#include "self.cuh"

#define FUNCTIONS(X)                                                                                                   \
    X(sqrtf, 0.01, 50, 1)                                                                                              \
    X(cbrtf, -50, 50, 1)                                                                                               \
    X(rsqrtf, 0.01, 50, 2)                                                                                             \
    X(expf, -20, 20, 2)                                                                                                \
    X(exp2f, -20, 20, 2)                                                                                               \
    X(exp10f, -10, 10, 2)                                                                                              \
    X(expm1f, -5, 5, 1)                                                                                                \
    X(logf, 0.001, 1000, 1)                                                                                            \
    X(log2f, 0.001, 1000, 1)                                                                                           \
    X(log10f, 0.001, 1000, 2)                                                                                          \
    X(log1pf, -0.9, 100, 1)                                                                                            \
    X(sinf, -100, 100, 2)                                                                                              \
    X(cosf, -100, 100, 2)                                                                                              \
    X(tanf, -100, 100, 4)                                                                                              \
    X(asinf, -1, 1, 2)                                                                                                 \
    X(acosf, -1, 1, 2)                                                                                                 \
    X(atanf, -100, 100, 2)                                                                                             \
    X(sinhf, -10, 10, 3)                                                                                               \
    X(coshf, -10, 10, 2)                                                                                               \
    X(tanhf, -10, 10, 2)                                                                                               \
    X(asinhf, -100, 100, 3)                                                                                            \
    X(acoshf, 1, 100, 4)                                                                                               \
    X(atanhf, -0.99, 0.99, 3)                                                                                          \
    X(erff, -3, 3, 2)                                                                                                  \
    X(erfcf, -3, 8, 4)                                                                                                 \
    X(tgammaf, 0.5, 10, 5)                                                                                             \
    X(lgammaf, 3, 50, 6)                                                                                               \
    X(j0f, -5, 5, 9)                                                                                                   \
    X(sinpif, -10, 10, 1)                                                                                              \
    X(floorf, -100, 100, 0)                                                                                            \
    X(rintf, -100, 100, 0)                                                                                             \
    X(roundf, -100, 100, 0)                                                                                            \
    X(truncf, -100, 100, 0)

enum functions {
#define NUMBER(f, from, to, ulp) F_##f,
    FUNCTIONS(NUMBER) COUNT
};
enum { EACH = 256 };

__host__ __device__ static inline float argument(float from, float to, int i) { return from + (to - from) * (i + 0.37f) / EACH; }

__global__ void all(float *out)
{
    const int i = threadIdx.x;
#define CALL(f, from, to, ulp) out[F_##f * EACH + i] = f(argument(from, to, i));
    FUNCTIONS(CALL)
}

static double rsqrt_(double x) { return 1 / std::sqrt(x); }
static double exp10_(double x) { return std::pow(10, x); }
static double sinpi_(double x) { return std::sin(M_PI * std::fmod(x, 2)); }
#define sqrtf_ std::sqrt
#define cbrtf_ std::cbrt
#define rsqrtf_ rsqrt_
#define expf_ std::exp
#define exp2f_ std::exp2
#define exp10f_ exp10_
#define expm1f_ std::expm1
#define logf_ std::log
#define log2f_ std::log2
#define log10f_ std::log10
#define log1pf_ std::log1p
#define sinf_ std::sin
#define cosf_ std::cos
#define tanf_ std::tan
#define asinf_ std::asin
#define acosf_ std::acos
#define atanf_ std::atan
#define sinhf_ std::sinh
#define coshf_ std::cosh
#define tanhf_ std::tanh
#define asinhf_ std::asinh
#define acoshf_ std::acosh
#define atanhf_ std::atanh
#define erff_ std::erf
#define erfcf_ std::erfc
#define tgammaf_ std::tgamma
#define lgammaf_ std::lgamma
#define j0f_ ::j0
#define sinpif_ sinpi_
#define floorf_ std::floor
#define rintf_ std::rint
#define roundf_ std::round
#define truncf_ std::trunc

static double ulps(float got, double want)
{
    const float near = std::fabs((float)want);
    const double unit = std::fmax(std::nextafter(near, INFINITY) - near, 1e-45);
    return std::fabs(got - want) / unit;
}

__global__ void two(const float *a, const float *b, float *out)
{
    const int i = threadIdx.x;
    out[8 * i] = powf(fabsf(a[i]), b[i]);
    out[8 * i + 1] = atan2f(a[i], b[i]);
    out[8 * i + 2] = fmodf(a[i], b[i]);
    out[8 * i + 3] = hypotf(a[i], b[i]);
    out[8 * i + 4] = fmaf(a[i], b[i], 0.1f);
    out[8 * i + 5] = a[i] / b[i];
    out[8 * i + 6] = copysignf(a[i], b[i]) + fmaxf(a[i], b[i]) - fminf(a[i], b[i]);
    out[8 * i + 7] = remainderf(a[i], b[i]);
}

int main()
{
    room<float> out(COUNT * EACH);
    all<<<1, EACH>>>(out);
    const std::vector<float> got = out.get();
#define COMPARE(f, from, to, most)                                                                                     \
    for (int i = 0; i < EACH; i++) {                                                                                   \
        const float x = argument(from, to, i);                                                                         \
        const double u = ulps(got[F_##f * EACH + i], f##_((double)x));                                                 \
        check(u <= (most) + 0.51 || std::fabs(got[F_##f * EACH + i] - f##_((double)x)) < 1e-6 * (F_##f == F_j0f), #f,  \
              i);                                                                                                      \
    }
    FUNCTIONS(COMPARE)
    std::vector<float> a(256), b(256);
    for (int i = 0; i < 256; i++) a[i] = (draw(i) % 2000) / 100.0f - 10 + 0.003f, b[i] = (draw(i + 999) % 600) / 100.0f - 3 + 0.004f;
    room<float> x(a), y(b), both(8 * 256);
    two<<<1, 256>>>(x, y, both);
    const std::vector<float> z = both.get();
    for (int i = 0; i < 256; i++) {
        const double p = a[i], q = b[i];
        CHECK(ulps(z[8 * i], std::pow(std::fabs(p), q)) <= 8.5);
        CHECK(ulps(z[8 * i + 1], std::atan2(p, q)) <= 3.5);
        CHECK(z[8 * i + 2] == (float)std::fmod(p, q));
        CHECK(ulps(z[8 * i + 3], std::hypot(p, q)) <= 3.5);
        CHECK(z[8 * i + 4] == std::fma(a[i], b[i], 0.1f));
        CHECK(z[8 * i + 5] == a[i] / b[i]);
        CHECK(z[8 * i + 6] == std::copysign(a[i], b[i]) + std::fmax(a[i], b[i]) - std::fmin(a[i], b[i]));
        CHECK(z[8 * i + 7] == std::remainder(a[i], b[i]));
    }
    return verdict();
}
