// The atomic intrinsics: all operations and types, _block and _system scopes, results used (atom) and dropped (red).
// KEEP: 75 90
template <typename T>
__device__ void integer(T *p, T v, T *o)
{
    o[0] = atomicAdd(p, v);
    o[1] = atomicExch(p + 1, v);
    o[2] = atomicMin(p + 2, v);
    o[3] = atomicMax(p + 3, v);
    o[4] = atomicAnd(p + 4, v);
    o[5] = atomicOr(p + 5, v);
    o[6] = atomicXor(p + 6, v);
    o[7] = atomicCAS(p + 7, v, v + 1);
    atomicAdd(p + 8, v);
    atomicMin(p + 9, v);
    atomicMax(p + 10, v);
    atomicAnd(p + 11, v);
    atomicOr(p + 12, v);
    atomicXor(p + 13, v);
    o[8] = atomicAdd_block(p, v);
    o[9] = atomicExch_system(p + 1, v);
    o[10] = atomicMin_block(p + 2, v);
    o[11] = atomicCAS_system(p + 7, v, v + 1);
    atomicMax_system(p + 10, v);
    atomicXor_block(p + 13, v);
}

extern "C" __global__ void on_global(int *i, unsigned *u, unsigned long long *l, int v)
{
    integer<int>(i, v, i + 64);
    integer<unsigned>(u, v, u + 64);
    integer<unsigned long long>(l, v, l + 64);
    u[100] = atomicInc(u, 7);
    u[101] = atomicDec(u, 7);
    u[102] = atomicSub(u, 7);
    atomicInc(u + 1, 9);
    atomicDec_system(u + 1, 9);
    long long *s = (long long *)l;
    s[200] = atomicMin(s, -5ll);
    s[201] = atomicMax(s, 5ll);
}

extern "C" __global__ void on_shared(int *out, float *fout)
{
    __shared__ int si[32];
    __shared__ unsigned long long sl[32];
    __shared__ float sf[4];
    __shared__ double sd[4];
    integer<int>(si, threadIdx.x, out);
    integer<unsigned long long>(sl, threadIdx.x, (unsigned long long *)out + 64);
    fout[0] = atomicAdd(sf, 1.5f);
    fout[1] = atomicExch(sf + 1, 2.5f);
    fout[2] = atomicAdd(sd, 1.5);
    atomicAdd(sf + 2, 1.0f);
    atomicAdd(sd + 2, 1.0);
    __syncthreads();
    out[300] = si[3];
}

extern "C" __global__ void floats(float *f, double *d, float *o)
{
    o[0] = atomicAdd(f, 1.0f);
    o[1] = atomicExch(f + 1, 2.0f);
    o[2] = atomicAdd(d, 1.0);
    atomicAdd(f + 2, 3.0f);
    atomicAdd(d + 2, 3.0);
    atomicAdd_system(f + 3, 4.0f);
    atomicAdd_block(d + 3, 4.0);
#if __CUDA_ARCH__ >= 900
    atomicAdd((float2 *)(f + 8), make_float2(1, 2));
    atomicAdd((float4 *)(f + 12), make_float4(1, 2, 3, 4));
    float4 r = atomicAdd((float4 *)(f + 16), make_float4(1, 2, 3, 4));
    o[3] = r.x + r.w;
#endif
}

extern "C" __global__ void on_generic(int *g, int pick, int *o)
{
    __shared__ int s[4];
    int *p = pick ? g : s;
    o[0] = atomicAdd(p, 1);
    atomicMax(p + 1, 2);
    o[1] = atomicCAS((unsigned short *)p + 3, (unsigned short)1, (unsigned short)2);
}

struct __align__(16) Pair { unsigned long long a, b; };

extern "C" __global__ void cas128(Pair *p, Pair *o)
{
#if __CUDA_ARCH__ >= 900
    o[0] = atomicCAS(p, o[1], o[2]);
    o[3] = atomicExch(p + 1, o[4]);
#endif
}
