// Tensor cores through mma.h: half, bfloat16, tf32, int8, double; several shapes and layouts.
// FLAGS: -arch=compute_80
#include "self.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

template <class T> struct kept { // how memory has it
    typedef T type;
};
template <> struct kept<wmma::precision::tf32> {
    typedef float type;
};

template <int M, int N, int K, class T, class LA, class LB, class C>
__global__ void multiply(const typename kept<T>::type *a, const typename kept<T>::type *b, C *c, int lda, int ldb)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> x;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> y;
    wmma::fragment<wmma::accumulator, M, N, K, C> z;
    wmma::load_matrix_sync(z, c, N, wmma::mem_row_major);
    wmma::load_matrix_sync(x, a, lda);
    wmma::load_matrix_sync(y, b, ldb);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++) z.x[i] = z.x[i] + z.x[i];
    wmma::store_matrix_sync(c, z, N, wmma::mem_row_major);
}

static float as_float(__half v) { return __half2float(v); }
static float as_float(__nv_bfloat16 v) { return __bfloat162float(v); }
template <class T> static float as_float(T v) { return (float)v; }
template <class T> static T from_int(int v) { return (T)v; }
template <> __half from_int(int v) { return __float2half((float)v); }
template <> __nv_bfloat16 from_int(int v) { return __float2bfloat16((float)v); }

template <int M, int N, int K, class T, class LA, class LB, class C> static void run(int least)
{
    typedef typename kept<T>::type E;
    const bool rows_a = std::is_same<LA, wmma::row_major>::value, rows_b = std::is_same<LB, wmma::row_major>::value;
    std::vector<E> a, b;
    std::vector<C> c;
    for (int i = 0; i < M * K; i++) a.push_back(from_int<E>((int)(draw(i) % 7) + least));
    for (int i = 0; i < K * N; i++) b.push_back(from_int<E>((int)(draw(i + 500) % 5) + least));
    for (int i = 0; i < M * N; i++) c.push_back(from_int<C>((int)(draw(i + 900) % 9)));
    room<E> x(a), y(b);
    room<C> z(c);
    multiply<M, N, K, T, LA, LB, C><<<1, 32>>>(x, y, z, rows_a ? K : M, rows_b ? N : K);
    const std::vector<C> got = z.get();
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float want = as_float(c[m * N + n]);
            for (int k = 0; k < K; k++)
                want += as_float(a[rows_a ? m * K + k : k * M + m]) * as_float(b[rows_b ? k * N + n : n * K + k]);
            CHECK(as_float(got[m * N + n]) == 2 * want);
        }
}

int main()
{
    typedef wmma::row_major row;
    typedef wmma::col_major col;
    run<16, 16, 16, __half, row, col, float>(-3);
    run<16, 16, 16, __half, col, row, __half>(-3);
    run<32, 8, 16, __half, row, row, float>(-3);
    run<8, 32, 16, __half, col, col, __half>(-3);
    run<16, 16, 16, __nv_bfloat16, row, col, float>(-3);
    run<32, 8, 16, __nv_bfloat16, row, col, float>(-3);
    run<16, 16, 8, wmma::precision::tf32, row, col, float>(-3);
    run<16, 16, 16, signed char, row, col, int>(-3);
    run<32, 8, 16, unsigned char, row, col, int>(0);
    run<8, 8, 4, double, row, col, double>(-3);
    return verdict();
}
