// Warp intrinsics: shfl of all widths and modes, vote, ballot, match, redux, activemask, syncwarp, lane masks.
// KEEP: 75 80
extern "C" __global__ void shuffles(const int *in, int *o, double *d, long long *l)
{
    int t = threadIdx.x, v = in[t];
    o += t * 16;
    o[0] = __shfl_sync(~0u, v, 3);
    o[1] = __shfl_sync(~0u, v, t + 1, 8);
    o[2] = __shfl_up_sync(~0u, v, 2);
    o[3] = __shfl_up_sync(0xffff, v, 1, 16);
    o[4] = __shfl_down_sync(~0u, v, 4, 4);
    o[5] = __shfl_xor_sync(~0u, v, 1);
    o[6] = __shfl_xor_sync(__activemask(), v, v & 31);
    d[t] = __shfl_sync(~0u, d[t], v);
    l[t] = __shfl_down_sync(~0u, l[t], 1);
    o[7] = __float_as_int(__shfl_sync(~0u, __int_as_float(v), 5));
}

extern "C" __global__ void votes(const int *in, unsigned *o)
{
    int t = threadIdx.x, v = in[t];
    o += t * 16;
    o[0] = __all_sync(~0u, v > 0);
    o[1] = __any_sync(~0u, v < 0);
    o[2] = __uni_sync(~0u, v == 1);
    o[3] = __ballot_sync(~0u, v & 1);
    o[4] = __activemask();
    o[5] = __match_any_sync(~0u, v);
    int pred;
    o[6] = __match_all_sync(~0u, v, &pred);
    o[7] = pred;
    o[8] = __match_any_sync(~0u, (long long)v << 20);
    o[9] = __match_all_sync(~0u, (unsigned long long)v * 3, &pred) + pred;
    if (v & 1) {
        o[10] = __ballot_sync(__activemask(), 1);
        __syncwarp(__activemask());
    }
    __syncwarp();
    o[11] = __ballot_sync(v, v == 5);
    o[12] = __popc(o[3] & ((1u << (t & 31)) - 1));
}

extern "C" __global__ void reduces(const int *in, unsigned *o)
{
#if __CUDA_ARCH__ >= 800
    int t = threadIdx.x, v = in[t];
    o += t * 8;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_add_sync(~0u, (unsigned)v);
    o[2] = __reduce_min_sync(~0u, v);
    o[3] = __reduce_max_sync(~0u, v);
    o[4] = __reduce_min_sync(~0u, (unsigned)v);
    o[5] = __reduce_and_sync(~0u, (unsigned)v);
    o[6] = __reduce_or_sync(__activemask(), (unsigned)v);
    o[7] = __reduce_xor_sync(~0u, (unsigned)v);
#endif
}

extern "C" __global__ void barriers(int *o, const int *in)
{
    int v = in[threadIdx.x];
    o[0] = __syncthreads_count(v);
    o[1] = __syncthreads_and(v);
    o[2] = __syncthreads_or(v);
    __nanosleep(100);
    __nanosleep(v);
}
