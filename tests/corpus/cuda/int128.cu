// 128-bit integers and carry chains: add.cc/addc/subc, mad.hi.cc, 128-bit shifts, division through a call, big numbers.
typedef unsigned __int128 u128;
typedef __int128 i128;

extern "C" __global__ void arithmetic(const u128 *a, const u128 *b, u128 *o, int s)
{
    int t = threadIdx.x;
    u128 x = a[t], y = b[t];
    o += t * 16;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x << s;
    o[4] = x >> s;
    o[5] = (i128)x >> s;
    o[6] = x & y;
    o[7] = x | y;
    o[8] = x ^ y;
    o[9] = x < y ? x : y;
    o[10] = -x;
    o[11] = (i128)x < (i128)y;
    o[12] = (u128)(unsigned long long)x * (unsigned long long)y;
}

extern "C" __global__ void division(const u128 *a, const u128 *b, u128 *o)
{
    int t = threadIdx.x;
    o[4 * t] = a[t] / b[t];
    o[4 * t + 1] = a[t] % b[t];
    o[4 * t + 2] = (i128)a[t] / (i128)b[t];
    o[4 * t + 3] = (i128)a[t] % (i128)b[t];
}

extern "C" __global__ void convert(const double *d, u128 *o, double *e)
{
    int t = threadIdx.x;
    o[t] = (u128)d[t];
    e[t] = (double)(i128)o[t];
}

extern "C" __global__ void add256(const unsigned *a, const unsigned *b, unsigned *o)
{
    unsigned r[8];
    asm("add.cc.u32 %0, %8, %16;\n\t"
        "addc.cc.u32 %1, %9, %17;\n\t"
        "addc.cc.u32 %2, %10, %18;\n\t"
        "addc.cc.u32 %3, %11, %19;\n\t"
        "addc.cc.u32 %4, %12, %20;\n\t"
        "addc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\t"
        "addc.u32 %7, %15, %23;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]),
          "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    for (int i = 0; i < 8; i++)
        o[i] = r[i];
}

extern "C" __global__ void mul64(const unsigned *a, unsigned *o)
{
    unsigned lo, mid, hi, top;
    asm("mul.lo.u32 %0, %4, %6;\n\t"
        "mul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
        "madc.hi.u32 %2, %5, %6, 0;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
        "madc.hi.cc.u32 %2, %4, %7, %2;\n\t"
        "addc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
        "madc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(lo), "=&r"(mid), "=&r"(hi), "=&r"(top)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    o[0] = lo;
    o[1] = mid;
    o[2] = hi;
    o[3] = top;
    unsigned long long d, e;
    unsigned long long p = a[4], q = a[5];
    asm("sub.cc.u64 %0, %2, %3;\n\tsubc.u64 %1, %3, %2;" : "=&l"(d), "=l"(e) : "l"(p), "l"(q));
    o[4] = (unsigned)d;
    o[5] = (unsigned)e;
}
