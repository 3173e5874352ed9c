// sm_90 odds and ends: multimem.ld_reduce/red/st, packed-float reductions, st.async, redux.f32, 128-bit moves and atomics.
// KEEP: 90a
// ARCH: 90a 100a
extern "C" __global__ void multi(float *p, unsigned *u, float *o)
{
    float a, b, c, d;
    unsigned r;
    asm volatile("multimem.ld_reduce.relaxed.gpu.global.add.f32 %0, [%1];" : "=f"(a) : "l"(p) : "memory");
    asm volatile("multimem.ld_reduce.weak.global.add.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p) : "memory");
    asm volatile("multimem.ld_reduce.acquire.sys.global.add.acc::f32.f16x2 %0, [%1];" : "=r"(r) : "l"(u) : "memory");
    asm volatile("multimem.red.release.sys.global.add.v2.bf16x2 [%0], {%1, %1};" ::"l"(u), "r"(r) : "memory");
    asm volatile("multimem.red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"(u), "r"(r) : "memory");
    asm volatile("multimem.st.release.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(a), "f"(b) : "memory");
    o[0] = a + b + c + d + r;
}

extern "C" __global__ void packed(float *p, unsigned *u, float *o)
{
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(1.0f), "f"(2.0f) : "memory");
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(u), "r"(5) : "memory");
    asm volatile("red.global.max.noftz.v8.bf16 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"l"(u), "h"((short)5) : "memory");
    float a, b;
    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%0, %1};" : "=f"(a), "=f"(b) : "l"(p) : "memory");
    unsigned h;
    asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(h) : "l"(u), "r"(7) : "memory");
    o[0] = a + b + h;
    asm volatile("{\n\t.reg .b128 x, y;\n\tmov.b128 x, {%1, %1};\n\tatom.exch.relaxed.gpu.global.b128 y, [%0], x;\n\tst.relaxed.sys.global.b128 [%0+16], y;\n\t}" ::"l"(u), "l"(3ull) : "memory");
}
