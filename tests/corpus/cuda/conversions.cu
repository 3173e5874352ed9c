// cvt between all integer and floating types: widths, signs, rounding (rni/rzi/rmi/rpi, rn/rz/rm/rp), bit casts.
// KEEP: 75 100
template <typename S, typename D>
__device__ void cast(const void *in, void *out, int k)
{
    ((D *)out)[k] = (D)((const S *)in)[threadIdx.x];
}

template <typename S>
__device__ void from(const void *in, char *out)
{
    cast<S, signed char>(in, out, 0);
    cast<S, unsigned char>(in, out + 64, 0);
    cast<S, short>(in, out + 128, 0);
    cast<S, unsigned short>(in, out + 192, 0);
    cast<S, int>(in, out + 256, 0);
    cast<S, unsigned>(in, out + 320, 0);
    cast<S, long long>(in, out + 384, 0);
    cast<S, unsigned long long>(in, out + 448, 0);
    cast<S, float>(in, out + 512, 0);
    cast<S, double>(in, out + 576, 0);
    cast<S, bool>(in, out + 640, 0);
}

extern "C" __global__ void all_types(const void *in, char *out)
{
    from<signed char>(in, out);
    from<unsigned char>(in, out + 1024);
    from<short>(in, out + 2048);
    from<unsigned short>(in, out + 3072);
    from<int>(in, out + 4096);
    from<unsigned>(in, out + 5120);
    from<long long>(in, out + 6144);
    from<unsigned long long>(in, out + 7168);
    from<float>(in, out + 8192);
    from<double>(in, out + 9216);
    from<bool>(in, out + 10240);
}

#define ROUNDS(f, i) o[i] = f##_rn(x), o[i + 1] = f##_rz(x), o[i + 2] = f##_ru(x), o[i + 3] = f##_rd(x)
extern "C" __global__ void to_integers(const float *a, const double *d, long long *o)
{
    {
        float x = a[threadIdx.x];
        ROUNDS(__float2int, 0);
        ROUNDS(__float2uint, 4);
        ROUNDS(__float2ll, 8);
        ROUNDS(__float2ull, 12);
        o[32] = __float_as_int(x);
        o[33] = __float_as_uint(x);
        o[34] = lrintf(x);
        o[35] = llroundf(x);
    }
    {
        double x = d[threadIdx.x];
        ROUNDS(__double2int, 16);
        ROUNDS(__double2uint, 20);
        ROUNDS(__double2ll, 24);
        ROUNDS(__double2ull, 28);
        o[36] = lrint(x);
        o[37] = llround(x);
    }
}

extern "C" __global__ void to_floats(const int *a, const long long *b, float *o, double *p)
{
    {
        int x = a[threadIdx.x];
        ROUNDS(__int2float, 0);
        ROUNDS(__uint2float, 4);
        p[0] = __int2double_rn(x);
        p[1] = __uint2double_rn(x);
        o[20] = __int_as_float(x);
    }
    {
        long long x = b[threadIdx.x];
        ROUNDS(__ll2float, 8);
        ROUNDS(__ull2float, 12);
        p[2] = __ll2double_rn(x), p[3] = __ll2double_rz(x), p[4] = __ll2double_ru(x), p[5] = __ll2double_rd(x);
        p[6] = __ull2double_rn(x), p[7] = __ull2double_rz(x), p[8] = __ull2double_ru(x), p[9] = __ull2double_rd(x);
        double x2 = __longlong_as_double(x);
        o[16] = __double2float_rn(x2), o[17] = __double2float_rz(x2), o[18] = __double2float_ru(x2),
        o[19] = __double2float_rd(x2);
    }
}
