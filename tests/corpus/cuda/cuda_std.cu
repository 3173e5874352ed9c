// cuda::std types in device code: complex, optional, variant, tuple, array, span, bit, mdspan, chrono, charconv-like loops.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

namespace cs = cuda::std;

extern "C" __global__ void complexes(cs::complex<float> *f, cs::complex<double> *d)
{
    int t = threadIdx.x;
    f[t] = f[t] * f[t + 1] + f[t] / f[t + 2];
    d[t] = d[t] * d[t + 1] - cs::conj(d[t + 2]);
    f[t + 3].real(cs::abs(f[t]));
}

__device__ __noinline__ cs::optional<int> find(cs::span<const int> s, int v)
{
    for (size_t i = 0; i < s.size(); i++)
        if (s[i] == v)
            return (int)i;
    return cs::nullopt;
}

using Shape = cs::variant<int, float, double>;
__device__ __noinline__ double value(const Shape &s)
{
    return cs::visit([](auto x) { return (double)x * 2; }, s);
}

extern "C" __global__ void types(const int *p, int n, double *o)
{
    auto at = find({p, (size_t)n}, 7);
    Shape s = at ? Shape(*at) : Shape(2.5f);
    if (n > 5)
        s = 1.25;
    o[0] = value(s);
    cs::array<int, 4> a = {p[0], p[1], p[2], p[3]};
    auto [x, y] = cs::make_tuple(a[n & 3], cs::popcount((unsigned)a[1]));
    o[1] = x + y + cs::countl_zero((unsigned)a[2]) + cs::bit_ceil((unsigned)a[3]) + cs::rotl((unsigned)a[0], 3);
    cs::mdspan<double, cs::extents<int, cs::dynamic_extent, 8>> m(o + 8, n);
    for (int i = 0; i < m.extent(0); i++)
        for (int j = 0; j < m.extent(1); j++)
            m(i, j) = i * j;
    o[2] = cs::bit_cast<long long>(o[3]) + cs::hypot(o[4], o[5]);
    auto begin = cs::chrono::system_clock::now();
    o[3] = (double)begin.time_since_epoch().count();
}
