// half and bfloat16: arithmetic, comparisons, conversions, functions, pairs, against the host in double.
// FLAGS: -arch=compute_80
#include "self.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { N = 256, EACH = 12 };

template <class T> struct pair_of;
template <> struct pair_of<__half> {
    typedef __half2 type;
};
template <> struct pair_of<__nv_bfloat16> {
    typedef __nv_bfloat162 type;
};

template <class T> __global__ void scalar(const T *a, const T *b, T *out)
{
    const int i = threadIdx.x;
    T *to = out + EACH * i;
    to[0] = a[i] + b[i];
    to[1] = a[i] - b[i];
    to[2] = a[i] * b[i];
    to[3] = a[i] / b[i];
    to[4] = __hfma(a[i], b[i], a[i]);
    to[5] = hsqrt(__habs(a[i]));
    to[6] = __hmax(a[i], b[i]);
    to[7] = __hmin(a[i], b[i]);
    to[8] = hfloor(a[i]);
    to[9] = hrint(a[i]);
    to[10] = -a[i];
    to[11] = a[i] < b[i] ? a[i] : b[i];
}

template <class T> __global__ void paired(const T *a, const T *b, T *out)
{
    typedef typename pair_of<T>::type two;
    const int i = threadIdx.x;
    const two x = ((const two *)a)[i], y = ((const two *)b)[i];
    ((two *)out)[3 * i] = __hadd2(x, y);
    ((two *)out)[3 * i + 1] = __hfma2(x, y, y);
    ((two *)out)[3 * i + 2] = __hmax2(x, y);
}

template <class T> __global__ void narrow(const float *in, T *rn, int *ints)
{
    rn[threadIdx.x] = T(in[threadIdx.x]);
    ints[threadIdx.x] = (int)(float)rn[threadIdx.x];
}

static double value(__half h) { return __half2float(h); }
static double value(__nv_bfloat16 b) { return __bfloat162float(b); }
template <class T> static T of(double v); // rounded once: all sums and products here are exact in double
template <> __half of<__half>(double v) { return __double2half(v); }
template <> __nv_bfloat16 of<__nv_bfloat16>(double v) { return __double2bfloat16(v); }

template <class T> static void run()
{
    std::vector<T> a, b;
    std::vector<float> wide;
    for (int i = 0; i < N; i++) {
        a.push_back(of<T>(((int)(draw(i) % 4096) - 2048) / 64.0));
        b.push_back(of<T>(((int)(draw(i + 5000) % 512) - 256) / 32.0 + 0.01));
        wide.push_back(((int)(draw(i + 9000) % 100000) - 50000) / 37.0f);
    }
    room<T> x(a), y(b), out(N * EACH), pairs(3 * N), small(N);
    room<float> from(wide);
    room<int> ints(N);
    scalar<T><<<1, N>>>(x, y, out);
    paired<T><<<1, N / 2>>>(x, y, pairs);
    narrow<T><<<1, N>>>(from, small, ints);
    const std::vector<T> got = out.get(), two = pairs.get(), n = small.get();
    const std::vector<int> whole = ints.get();
    for (int i = 0; i < N; i++) {
        const double p = value(a[i]), q = value(b[i]);
        const T want[EACH] = {of<T>(p + q),       of<T>(p - q),        of<T>(p * q),         of<T>(p / q),
                              of<T>(p * q + p),   of<T>(std::sqrt(std::fabs(p))), of<T>(std::fmax(p, q)), of<T>(std::fmin(p, q)),
                              of<T>(std::floor(p)), of<T>(std::rint(p)), of<T>(-p),            of<T>(p < q ? p : q)};
        for (int k = 0; k < EACH; k++) check(value(got[EACH * i + k]) == value(want[k]), "scalar", k);
        const int at = i / 2 * 6 + i % 2;
        CHECK(value(two[at]) == value(of<T>(p + q)));
        CHECK(value(two[at + 2]) == value(of<T>(p * q + q)));
        CHECK(value(two[at + 4]) == value(of<T>(std::fmax(p, q))));
        CHECK(value(n[i]) == value(of<T>(wide[i])) && whole[i] == (int)value(n[i]));
    }
}

int main()
{
    run<__half>();
    run<__nv_bfloat16>();
    return verdict();
}
