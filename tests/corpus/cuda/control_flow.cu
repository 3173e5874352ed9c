// Control flow: deep loop nests, breaks and continues across levels, goto, irreducible loops, divergent barriers, early exits.
extern "C" __global__ void nest(int *o, int a, int b, int c, int d)
{
    int s = 0;
    for (int i = 0; i < a; i++) {
        if (i % 7 == 3)
            continue;
        for (int j = i; j < b; j += 2) {
            for (int k = b; k > 0; k /= 2) {
                int m = k;
                while (m != 1) {
                    m = m & 1 ? 3 * m + 1 : m / 2;
                    if (++s > 100000)
                        goto out;
                }
                if ((s & 1023) == 77)
                    break;
                do {
                    s += o[m & 63];
                } while (++m < c);
            }
            if (s == d)
                return;
        }
    }
out:
    o[threadIdx.x] = s;
}

extern "C" __global__ void irreducible(int *o, int n)
{
    int i = 0, s = 0;
    if (n & 1)
        goto middle;
top:
    s += o[i];
    if (s > 1000)
        goto end;
middle:
    s ^= o[i + 1];
    i += 2;
    if (i < n)
        goto top;
    if (s & 1) {
        i = 1;
        s++;
        goto middle;
    }
end:
    o[0] = s;
}

extern "C" __global__ void divergent(int *o, const int *in)
{
    int v = in[threadIdx.x];
    if (v & 1) {
        if (v & 2)
            o[0] = v;
        else if (v & 4)
            o[1] = v;
        __syncwarp();
    } else {
        if (v > 10 && (v < 20 || in[v] > 3) && !(in[v + 1] == 5))
            return;
        o[2] = v > 0 ? v < 100 ? v : 100 : 0;
    }
    o[3] = __shfl_sync(~0u, v, 0);
}

extern "C" __global__ void named_barriers(float *x)
{
    __shared__ float s[128];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = x[threadIdx.x];
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        asm volatile("barrier.sync 2, 128;" ::: "memory");
        x[threadIdx.x] = s[threadIdx.x + 64];
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        s[threadIdx.x] = s[threadIdx.x - 64] * 2;
        asm volatile("barrier.arrive 2, 128;" ::: "memory");
    }
    int r;
    asm volatile("{ .reg .pred p, q; setp.gt.f32 p, %1, 0f00000000; barrier.red.or.pred q, 3, p; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "f"(x[0]) : "memory");
    asm volatile("{ .reg .pred p; setp.gt.f32 p, %1, 0f00000000; barrier.red.popc.aligned.u32 %0, 4, 128, p; }" : "=r"(r) : "f"(x[r]) : "memory");
    x[1] = r;
    asm volatile("barrier.cta.sync.aligned %0;" ::"r"(r & 7) : "memory");
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
