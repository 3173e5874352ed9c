// isspacep predicates, cvta to and from each space, generic pointers that may be any space, grid-constant parameters.
struct Table {
    int v[20];
    double w;
};

__device__ int global_value;
__constant__ int constant_value[8] = {3, 1, 4, 1, 5, 9, 2, 6};

__device__ __noinline__ int classify(const void *p)
{
    return __isGlobal(p) | __isShared(p) << 1 | __isConstant(p) << 2 | __isLocal(p) << 3 | __isGridConstant(p) << 4;
}

extern "C" __global__ void predicates(const __grid_constant__ Table t, int *o, int i)
{
    __shared__ int s[8];
    int l[8];
    l[i & 7] = i;
    s[i & 7] = i;
    o[0] = classify(&global_value);
    o[1] = classify(&constant_value[i]);
    o[2] = classify(&s[i]);
    o[3] = classify(&l[i]);
    o[4] = classify(&t.v[i]);
    o[5] = l[(i + 1) & 7] + t.v[i];
}

extern "C" __global__ void conversions(void *p, long long *o)
{
    o[0] = __cvta_generic_to_global(p);
    o[1] = __cvta_generic_to_shared(p);
    o[2] = __cvta_generic_to_local(p);
    o[3] = __cvta_generic_to_constant(p);
    o[4] = (long long)__cvta_global_to_generic(o[0]);
    o[5] = (long long)__cvta_shared_to_generic(o[1]);
    o[6] = (long long)__cvta_local_to_generic(o[2]);
    o[7] = (long long)__cvta_constant_to_generic(o[3]);
}

extern "C" __global__ void mixed(int *g, int k, double *d)
{
    __shared__ int s[64];
    int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = i * k;
    s[threadIdx.x] = k;
    __syncthreads();
    int *p = k == 0 ? g : k == 1 ? s : k == 2 ? local : &global_value;
    *p += 5;
    const int *q = k > 5 ? constant_value : p;
    g[1] = *q + local[k & 15];
    memcpy(d, local, sizeof local);
    memset(s, 0x55, sizeof s);
    *(char *)(s + 3) = 7;
}
