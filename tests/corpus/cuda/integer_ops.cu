// Integer intrinsics: mul24, mul.hi, sad, brev, clz, ffs, popc, prmt, shf, bfe, abs, min/max, div and rem of all widths.
// KEEP: 80 100
extern "C" __global__ void signed32(const int *a, const int *b, int *o)
{
    int t = threadIdx.x, x = a[t], y = b[t];
    o += t * 32;
    o[0] = __mul24(x, y);
    o[1] = __mulhi(x, y);
    o[2] = __sad(x, y, 7);
    o[3] = __clz(x);
    o[4] = __ffs(x);
    o[5] = abs(x);
    o[6] = min(x, y);
    o[7] = max(x, y);
    o[8] = x / y;
    o[9] = x % y;
    o[10] = x >> (y & 31);
    o[11] = x << (y & 31);
    o[12] = __hadd(x, y);
    o[13] = __rhadd(x, y);
    o[14] = x / 7;
    o[15] = x % 10;
    o[16] = -x;
    o[17] = ~x;
    o[18] = x < y ? x ^ y : x & y;
    o[19] = !x;
    o[20] = x & ~y;
    o[21] = (x & y) | (~x & o[0]);
}

extern "C" __global__ void unsigned32(const unsigned *a, const unsigned *b, unsigned *o)
{
    unsigned t = threadIdx.x, x = a[t], y = b[t];
    o += t * 32;
    o[0] = __umul24(x, y);
    o[1] = __umulhi(x, y);
    o[2] = __usad(x, y, 7u);
    o[3] = __brev(x);
    o[4] = __popc(x);
    o[5] = __byte_perm(x, y, 0x5140);
    o[6] = __byte_perm(x, y, o[0]);
    o[7] = __funnelshift_l(x, y, 5);
    o[8] = __funnelshift_r(x, y, o[1]);
    o[9] = __funnelshift_lc(x, y, o[1]);
    o[10] = __funnelshift_rc(x, y, 40);
    o[11] = x / y;
    o[12] = x % y;
    o[13] = x / 1000003u;
    o[14] = umin(x, y);
    o[15] = umax(x, y);
    o[16] = __uhadd(x, y);
    o[17] = __urhadd(x, y);
    o[18] = x >> 3 & 0x1f;
    o[19] = (x & ~0xff0u) | (y & 0xff) << 4;
    o[20] = x < y;
    o[21] = __fns(x, 4, 2);
}

extern "C" __global__ void wide(const long long *a, const unsigned long long *b, long long *o, int s)
{
    int t = threadIdx.x;
    long long x = a[t];
    unsigned long long y = b[t];
    o += t * 32;
    o[0] = x * (long long)y;
    o[1] = __mul64hi(x, (long long)y);
    o[2] = __umul64hi((unsigned long long)x, y);
    o[3] = __clzll(x);
    o[4] = __ffsll(x);
    o[5] = __popcll(y);
    o[6] = __brevll(y);
    o[7] = llabs(x);
    o[8] = x / (long long)(y | 1);
    o[9] = x % (long long)(y | 1);
    o[10] = y / 10;
    o[11] = y % (unsigned long long)(x | 1);
    o[12] = x >> s;
    o[13] = y >> s;
    o[14] = x << s;
    o[15] = llmin(x, (long long)y);
    o[16] = ullmax(x, y);
    o[17] = (long long)(int)x * (int)y;
    o[18] = (unsigned long long)(unsigned)x * (unsigned)y;
    o[19] = (long long)(int)x * (int)y + x;
    o[20] = x == (long long)y ? ~x : -x;
}

extern "C" __global__ void narrow(const short *a, const unsigned char *b, short *o, signed char *p)
{
    int t = threadIdx.x;
    short x = a[t];
    unsigned char y = b[t];
    o[t] = x * y + (x >> 3);
    o[t + 64] = x / (short)(y | 1);
    o[t + 128] = x < (short)y ? x : -x;
    p[t] = (signed char)x - (signed char)y;
    p[t + 64] = y / 3;
    p[t + 128] = (signed char)y >> 2;
    o[t + 192] = (unsigned short)x >> 5;
    o[t + 256] = x & 0x0ff0;
}
