// Plain kernels through clang: saxpy, tiled product, reduction, transpose; .maxntid/.minnctapersm, shared arrays.
// KEEP: 20 35 75
// ARCH: 20 30 35 50 60 70 75
#include "device.h"

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = index();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256, 2) matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = __nvvm_read_ptx_sreg_tid_x(), ty = __nvvm_read_ptx_sreg_tid_y();
    int row = __nvvm_read_ptx_sreg_ctaid_y() * 16 + ty, col = __nvvm_read_ptx_sreg_ctaid_x() * 16 + tx;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + col];
        barrier();
        for (int k = 0; k < 16; k++)
            s += as[ty][k] * bs[k][tx];
        barrier();
    }
    c[row * n + col] = s;
}

extern "C" __global__ void __launch_bounds__(128) reduce(const double *in, double *out, int n)
{
    __shared__ double s[128];
    int t = tid_x();
    double v = 0;
    for (int i = index(); i < n; i += 128 * __nvvm_read_ptx_sreg_nctaid_x())
        v += in[i];
    s[t] = v;
    for (int d = 64; d; d /= 2) {
        barrier();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        out[ctaid_x()] = s[0];
}

extern "C" __global__ void mixed(unsigned char *c, short *s, long *l, bool *b)
{
    int i = index();
    c[i] = c[i] * 3 + (unsigned char)s[i];
    s[i] = s[i] / 7 - s[i + 1] % 5;
    l[i] = l[i] * s[i] + (l[i] >> 3) + l[i] / 10;
    b[i] = c[i] > 5 && l[i] < 3;
}

