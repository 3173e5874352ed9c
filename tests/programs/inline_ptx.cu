// PTX in asm statements: arithmetic, carries, predicates, special registers, matrices, volatile order.
// FLAGS: -arch=compute_80
#include "self.cuh"

__global__ void words(const unsigned *a, const unsigned *b, unsigned *out)
{
    const int i = threadIdx.x;
    unsigned *to = out + 10 * i, lo, hi, d;
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;" : "=r"(lo), "=r"(hi) : "r"(a[i]), "r"(b[i]));
    to[0] = lo, to[1] = hi;
    asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.u32 %0, 1, 2, p; }" : "=r"(d) : "r"(a[i]), "r"(b[i]));
    to[2] = d;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(a[i]), "r"(b[i]), "r"(0x0f0f0f0fu));
    to[3] = d;
    asm("bfe.u32 %0, %1, 5, 7;" : "=r"(d) : "r"(a[i]));
    to[4] = d;
    asm("prmt.b32 %0, %1, %2, 0x5140;" : "=r"(d) : "r"(a[i]), "r"(b[i]));
    to[5] = d;
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a[i]), "r"(b[i]), "r"(5u));
    to[6] = d;
    asm("mov.u32 %0, %%laneid;" : "=r"(d));
    to[7] = d;
    asm volatile("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a[i]), "r"(b[i]), "r"(1u));
    to[8] = d;
    asm("shf.l.wrap.b32 %0, %1, %2, 9;" : "=r"(d) : "r"(a[i]), "r"(b[i]));
    to[9] = d;
}

__global__ void memory(int *at, int *out)
{
    int v, old;
    asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(v) : "l"(at + threadIdx.x) : "memory");
    asm volatile("st.global.wt.s32 [%0], %1;" ::"l"(at + threadIdx.x), "r"(v * 2) : "memory");
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(at + threadIdx.x) : "memory");
    asm volatile("atom.global.add.s32 %0, [%1], 1;" : "=r"(old) : "l"(at + threadIdx.x) : "memory");
    out[threadIdx.x] = v * 1000 + old;
}

/* D = A B of m16n8k8, tf32: fragments as the PTX ISA lays them out. */
__global__ void matrix(const float *a, const float *b, float *d)
{
    const int lane = threadIdx.x, row = lane / 4, col = lane % 4;
    unsigned x[4], y[2];
    float z[4] = {0, 0, 0, 0};
    x[0] = __float_as_uint(a[row * 8 + col]);
    x[1] = __float_as_uint(a[(row + 8) * 8 + col]);
    x[2] = __float_as_uint(a[row * 8 + col + 4]);
    x[3] = __float_as_uint(a[(row + 8) * 8 + col + 4]);
    y[0] = __float_as_uint(b[col * 8 + row]);
    y[1] = __float_as_uint(b[(col + 4) * 8 + row]);
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int k = 0; k < 4; k++) d[(row + k / 2 * 8) * 8 + 2 * col + k % 2] = z[k];
}

int main()
{
    std::vector<unsigned> a(64), b(64);
    for (int i = 0; i < 64; i++) a[i] = draw(i), b[i] = draw(i + 100);
    room<unsigned> x(a), y(b), out(640);
    words<<<1, 64>>>(x, y, out);
    const std::vector<unsigned> got = out.get();
    for (int i = 0; i < 64; i++) {
        const unsigned p = a[i], q = b[i], *to = &got[10 * i];
        unsigned dot = 1;
        for (int k = 0; k < 32; k += 8) dot += (p >> k & 255) * (q >> k & 255);
        CHECK(to[0] == p + q && to[1] == (p + q < p));
        CHECK(to[2] == ((int)p < (int)q ? 1u : 2u) && to[3] == (p ^ q ^ 0x0f0f0f0fu));
        CHECK(to[4] == (p >> 5 & 127));
        CHECK(to[5] == ((p & 255) | (q & 255) << 8 | (p >> 8 & 255) << 16 | (q >> 8 & 255) << 24));
        CHECK(to[6] == (unsigned)((unsigned long long)p * q >> 32) + 5 && to[7] == i % 32u);
        CHECK(to[8] == dot && to[9] == (q << 9 | p >> 23));
    }
    std::vector<int> start(32);
    for (int i = 0; i < 32; i++) start[i] = i;
    room<int> at(start), seen(32);
    memory<<<1, 32>>>(at, seen);
    for (int i = 0; i < 32; i++) CHECK(seen.get()[i] == 2 * i * 1000 + 2 * i && at.get()[i] == 2 * i + 1);
    std::vector<float> m(128), n(64);
    for (int i = 0; i < 128; i++) m[i] = (int)(draw(i) % 9) - 4;
    for (int i = 0; i < 64; i++) n[i] = (int)(draw(i + 300) % 9) - 4;
    room<float> ma(m), mb(n), md(128);
    matrix<<<1, 32>>>(ma, mb, md);
    for (int r = 0; r < 16; r++)
        for (int c = 0; c < 8; c++) {
            float want = 0;
            for (int k = 0; k < 8; k++) want += m[r * 8 + k] * n[k * 8 + c];
            CHECK(md.get()[r * 8 + c] == want);
        }
    return verdict();
}
