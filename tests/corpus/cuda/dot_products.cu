// dp4a and dp2a in every signedness, with and without accumulation chains.
extern "C" __global__ void dots(const int *a, const int *b, int *o)
{
    int t = threadIdx.x, x = a[t], y = b[t];
    unsigned ux = x, uy = y;
    o += t * 16;
    o[0] = __dp4a(x, y, 1);
    o[1] = __dp4a(ux, uy, 1u);
    o[2] = __dp2a_lo(x, y, 2);
    o[3] = __dp2a_hi(x, y, 2);
    o[4] = __dp2a_lo(ux, uy, 2u);
    o[5] = __dp2a_hi(ux, uy, 2u);
    char4 c = *(char4 *)&x, d = *(char4 *)&y;
    o[6] = __dp4a(c, d, o[0]);
    uchar4 uc = *(uchar4 *)&x, ud = *(uchar4 *)&y;
    o[7] = __dp4a(uc, ud, (unsigned)o[1]);
    short2 s = *(short2 *)&x;
    o[8] = __dp2a_lo(s, d, o[2]);
    int m;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(m) : "r"(x), "r"(uy), "r"(3));
    o[9] = m;
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(m) : "r"(ux), "r"(y), "r"(-3));
    o[10] = m;
}

extern "C" __global__ void conv1d(const char4 *in, const char4 *kernel, int *out, int taps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i + taps > n)
        return;
#pragma unroll 8
    for (int k = 0; k < taps; k++)
        sum = __dp4a(in[i + k], kernel[k], sum);
    out[i] = sum;
}
