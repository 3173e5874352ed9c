// __nv_atomic_* builtins: every memory order and thread scope, so ld/st/atom/fence with .relaxed/.acquire/.release/.acq_rel.
// KEEP: 75 90
#define SCOPES(f) f(__NV_THREAD_SCOPE_BLOCK) f(__NV_THREAD_SCOPE_DEVICE) f(__NV_THREAD_SCOPE_SYSTEM)

extern "C" __global__ void loads(int *p, long long *q, short *h, unsigned char *c, int *o)
{
#define LOAD(s)                                                                                                        \
    o[0] += __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED, s);                                                             \
    o[1] += __nv_atomic_load_n(p + 1, __NV_ATOMIC_ACQUIRE, s);                                                         \
    o[2] += __nv_atomic_load_n(q, __NV_ATOMIC_SEQ_CST, s);                                                             \
    o[3] += __nv_atomic_load_n(h, __NV_ATOMIC_ACQUIRE, s);                                                             \
    o[4] += __nv_atomic_load_n(c, __NV_ATOMIC_RELAXED, s);
    SCOPES(LOAD)
}

extern "C" __global__ void stores(int *p, long long *q, short *h, unsigned char *c, int v)
{
#define STORE(s)                                                                                                       \
    __nv_atomic_store_n(p, v, __NV_ATOMIC_RELAXED, s);                                                                 \
    __nv_atomic_store_n(p + 1, v, __NV_ATOMIC_RELEASE, s);                                                             \
    __nv_atomic_store_n(q, v, __NV_ATOMIC_SEQ_CST, s);                                                                 \
    __nv_atomic_store_n(h, v, __NV_ATOMIC_RELEASE, s);                                                                 \
    __nv_atomic_store_n(c, v, __NV_ATOMIC_RELAXED, s);
    SCOPES(STORE)
}

extern "C" __global__ void updates(int *p, unsigned long long *q, float *f, int v, int *o)
{
#define UPDATE(s)                                                                                                      \
    o[0] += __nv_atomic_fetch_add(p, v, __NV_ATOMIC_RELAXED, s);                                                       \
    o[1] += __nv_atomic_fetch_sub(p, v, __NV_ATOMIC_ACQUIRE, s);                                                       \
    o[2] += __nv_atomic_fetch_and(p, v, __NV_ATOMIC_RELEASE, s);                                                       \
    o[3] += __nv_atomic_fetch_or(p, v, __NV_ATOMIC_ACQ_REL, s);                                                        \
    o[4] += __nv_atomic_fetch_xor(q, (unsigned long long)v, __NV_ATOMIC_SEQ_CST, s);                                   \
    o[5] += __nv_atomic_fetch_min(p, v, __NV_ATOMIC_RELAXED, s);                                                       \
    o[6] += __nv_atomic_fetch_max(q, (unsigned long long)v, __NV_ATOMIC_ACQ_REL, s);                                   \
    o[7] += __nv_atomic_exchange_n(p, v, __NV_ATOMIC_ACQUIRE, s);                                                      \
    o[8] += __nv_atomic_fetch_add(f, 1.0f, __NV_ATOMIC_RELEASE, s);                                                    \
    {                                                                                                                  \
        int e = v;                                                                                                     \
        o[9] += __nv_atomic_compare_exchange_n(p, &e, 2, 0, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE, s);              \
        o[10] += e;                                                                                                    \
    }                                                                                                                  \
    __nv_atomic_add(p, v, __NV_ATOMIC_RELAXED, s);                                                                     \
    __nv_atomic_or(p, v, __NV_ATOMIC_RELEASE, s);                                                                      \
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, s);                                                                  \
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, s);
    SCOPES(UPDATE)
}

extern "C" __global__ void subword(short *h, unsigned char *c, int *o)
{
    short e = 1;
    o[0] = __nv_atomic_compare_exchange_n(h, &e, (short)2, 0, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    o[1] = e;
}

extern "C" __global__ void wide(unsigned __int128 *p)
{
#if __CUDA_ARCH__ >= 900
    p[1] = __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store_n(p + 2, p[3], __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    p[4] = __nv_atomic_exchange_n(p + 5, p[6], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#endif
}
