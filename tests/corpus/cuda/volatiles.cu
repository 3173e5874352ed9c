// volatile accesses of every width and space, vector loads and stores of every legal type, unaligned structs (byte pieces).
// KEEP: 80 100
extern "C" __global__ void widths(volatile char *c, volatile short *s, volatile int *i, volatile long long *l, volatile float *f, volatile double *d)
{
    __shared__ volatile int vs[4];
    volatile int local[4];
    c[1] = c[0];
    s[1] = s[0];
    i[1] = i[0];
    l[1] = l[0];
    f[1] = f[0];
    d[1] = d[0];
    ((volatile unsigned char *)c)[3] = ((volatile unsigned char *)c)[2] + 1;
    ((volatile unsigned short *)s)[3] = ((volatile unsigned short *)s)[2] >> 1;
    vs[i[2] & 3] = i[3];
    local[i[4] & 3] = vs[i[5] & 3];
    i[6] = local[i[7] & 3];
    volatile int4 *v = (volatile int4 *)i;
    v[3].x = v[2].y;
}

template <typename T>
__device__ void move(const void *p, void *q, int k)
{
    T t = ((const T *)p)[threadIdx.x];
    ((T *)q)[threadIdx.x + k] = t;
    __shared__ T s[32];
    s[threadIdx.x] = t;
    __syncthreads();
    ((T *)q)[threadIdx.x] = s[31 - threadIdx.x];
}

extern "C" __global__ void vectors(const void *p, void *q, int k)
{
#define V(t) move<t>(p, q, k);
    V(char1) V(char2) V(char3) V(char4) V(uchar2) V(uchar4) V(short2) V(short3) V(short4) V(ushort4) V(int2) V(int3) V(int4) V(uint2)
    V(longlong2) V(ulonglong2) V(float2) V(float3) V(float4) V(double2) V(double3) V(double4_16a) V(longlong4_32a)
}

struct __attribute__((packed)) Odd {
    char a;
    int b;
    double c;
    short d;
};

extern "C" __global__ void packed(Odd *o, int k)
{
    o[k].b += o[k].a;
    o[k].c *= 2;
    o[k].d = (short)o[k + 1].b;
}

struct __align__(8) Eight { short a, b, c, d; };
struct __align__(16) Sixteen { double a; int b; char c[4]; };
struct Fields { unsigned a : 3, b : 9, c : 20; int d : 5; long long e : 40; };
extern "C" __global__ void structs(Eight *e, Sixteen *s, Fields *f, int k)
{
    e[k] = e[k + 1];
    s[k] = s[k + 1];
    s[k].c[1] = 3;
    f[k].a = k;
    f[k].b += f[k].c;
    f[k].d = f[k + 1].d - 1;
    f[k].e = f[k + 1].e * 3;
}
