// mma.h fragments of every shape and element type: wmma.load/mma/store with row/col layouts, shared and global tiles.
// KEEP: 75 80
// ARCH: 75 80 90 100
#include <mma.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using namespace nvcuda;

template <int M, int N, int K, typename A, typename C, typename LA, typename LB>
__device__ void one(const A *a, const A *b, C *c, wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, M, N, K, A, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, A, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fill_fragment(fc, C(0));
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::load_matrix_sync(fc, c, N, layout);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, layout);
}

using row = wmma::row_major;
using col = wmma::col_major;

extern "C" __global__ void halves(const half *a, const half *b, half *c, float *d)
{
    one<16, 16, 16, half, half, row, col>(a, b, c, wmma::mem_row_major);
    one<16, 16, 16, half, float, row, row>(a, b, d, wmma::mem_col_major);
    one<32, 8, 16, half, half, col, row>(a, b, c, wmma::mem_row_major);
    one<32, 8, 16, half, float, col, col>(a, b, d, wmma::mem_row_major);
    one<8, 32, 16, half, half, row, col>(a, b, c, wmma::mem_col_major);
    one<8, 32, 16, half, float, row, row>(a, b, d, wmma::mem_row_major);
}

extern "C" __global__ void integers(const signed char *a, const unsigned char *b, int *c)
{
    one<16, 16, 16, signed char, int, row, col>(a, a, c, wmma::mem_row_major);
    one<16, 16, 16, unsigned char, int, col, row>(b, b, c, wmma::mem_col_major);
    one<32, 8, 16, signed char, int, row, col>(a, a, c, wmma::mem_row_major);
    one<8, 32, 16, unsigned char, int, row, col>(b, b, c, wmma::mem_row_major);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
extern "C" __global__ void tiny(const void *a, int *c)
{
    namespace x = wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, x::precision::s4, row> sa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, x::precision::s4, col> sb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sc;
    wmma::load_matrix_sync(sa, a, 32);
    wmma::load_matrix_sync(sb, a, 32);
    wmma::fill_fragment(sc, 0);
    wmma::mma_sync(sc, sa, sb, sc);
    wmma::store_matrix_sync(c, sc, 8, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 8, 8, 128, x::precision::b1, row> ba;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, x::precision::b1, col> bb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> bc;
    wmma::load_matrix_sync(ba, a, 128);
    wmma::load_matrix_sync(bb, a, 128);
    wmma::fill_fragment(bc, 0);
    wmma::bmma_sync(bc, ba, bb, bc, x::bmmaBitOpXOR, x::bmmaAccumulateOpPOPC);
    wmma::store_matrix_sync(c + 64, bc, 8, wmma::mem_col_major);
}
#endif

extern "C" __global__ void newer(const __nv_bfloat16 *b, const float *f, const double *d, float *o, double *q)
{
#if __CUDA_ARCH__ >= 800
    one<16, 16, 16, __nv_bfloat16, float, row, col>(b, b, o, wmma::mem_row_major);
    one<32, 8, 16, __nv_bfloat16, float, col, row>(b, b, o, wmma::mem_row_major);
    one<8, 32, 16, __nv_bfloat16, float, row, row>(b, b, o, wmma::mem_col_major);
    one<8, 8, 4, double, double, row, col>(d, d, q, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, row> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, col> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::load_matrix_sync(fa, f, 8);
    wmma::load_matrix_sync(fb, f, 8);
    for (int i = 0; i < fa.num_elements; i++)
        fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    wmma::fill_fragment(fc, 0.0f);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(o, fc, 16, wmma::mem_row_major);
#endif
}

extern "C" __global__ void shared_gemm(const half *a, const half *b, float *c, int k)
{
    __shared__ half sa[16 * 16], sb[16 * 16];
    __shared__ float sc[16 * 16];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        for (int j = threadIdx.x; j < 256; j += 32) {
            sa[j] = a[j / 16 * k + i + j % 16];
            sb[j] = b[(i + j / 16) * 16 + j % 16];
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, row> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, row> fb;
        wmma::load_matrix_sync(fa, sa, 16);
        wmma::load_matrix_sync(fb, sb, 16);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(sc, acc, 16, wmma::mem_row_major);
    for (int j = threadIdx.x; j < 256; j += 32)
        c[j] = sc[j];
}
