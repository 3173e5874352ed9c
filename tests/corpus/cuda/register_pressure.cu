// Large straight-line kernels: a fully unrolled 8x8 DCT, a 12x12 register-tiled product and a long hash: many live values.
// KEEP: 80
constexpr int T = 8;
extern "C" __global__ void dct8x8(const float *in, float *out)
{
    float b[T][T];
    const float *p = in + blockIdx.x * T * T;
#pragma unroll
    for (int i = 0; i < T * T; i++)
        b[i / T][i % T] = p[i];
    constexpr float c[8] = {0.35355339f, 0.49039264f, 0.46193977f, 0.41573481f, 0.35355339f, 0.27778512f, 0.19134172f, 0.09754516f};
#pragma unroll
    for (int pass = 0; pass < 2; pass++)
#pragma unroll
        for (int r = 0; r < T; r++) {
            float v[T];
#pragma unroll
            for (int k = 0; k < T; k++) {
                v[k] = 0;
#pragma unroll
                for (int x = 0; x < T; x++) {
                    int angle = (2 * x + 1) * k & 31, a = angle & 15;
                    float w = a <= 8 ? (a == 8 ? 0.0f : c[a]) : -c[16 - a];
                    v[k] += (pass ? b[x][r] : b[r][x]) * (angle & 16 ? -w : w);
                }
            }
#pragma unroll
            for (int k = 0; k < T; k++)
                (pass ? b[k][r] : b[r][k]) = v[k];
        }
#pragma unroll
    for (int i = 0; i < T * T; i++)
        out[blockIdx.x * T * T + i] = b[i / T][i % T];
}

extern "C" __global__ void tile12(const float *a, const float *b, float *c, int k)
{
    float acc[12][12] = {};
    for (int i = 0; i < k; i++) {
        float x[12], y[12];
#pragma unroll
        for (int j = 0; j < 12; j++) {
            x[j] = a[i * 12 + j];
            y[j] = b[i * 12 + j];
        }
#pragma unroll
        for (int r = 0; r < 12; r++)
#pragma unroll
            for (int s = 0; s < 12; s++)
                acc[r][s] = fmaf(x[r], y[s], acc[r][s]);
    }
#pragma unroll
    for (int i = 0; i < 144; i++)
        c[threadIdx.x * 144 + i] = acc[i / 12][i % 12];
}

extern "C" __global__ void digest(const unsigned *in, unsigned *out)
{
    unsigned w[64], s[8];
#pragma unroll
    for (int i = 0; i < 16; i++)
        w[i] = in[i];
#pragma unroll
    for (int i = 16; i < 64; i++) {
        unsigned x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (__funnelshift_r(x, x, 7) ^ __funnelshift_r(x, x, 18) ^ x >> 3) +
               (__funnelshift_r(y, y, 17) ^ __funnelshift_r(y, y, 19) ^ y >> 10);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        s[i] = out[i];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        unsigned e = s[4], a = s[0];
        unsigned t = s[7] + (__funnelshift_r(e, e, 6) ^ __funnelshift_r(e, e, 11) ^ __funnelshift_r(e, e, 25)) + ((e & s[5]) ^ (~e & s[6])) + w[i] + i * 0x9e3779b9u;
        unsigned u = (__funnelshift_r(a, a, 2) ^ __funnelshift_r(a, a, 13) ^ __funnelshift_r(a, a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = a, s[0] = t + u;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] += s[i];
}
