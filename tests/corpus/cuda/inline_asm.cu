// Inline asm of many operand kinds: 8/16/32/64-bit, f32/f64, predicates, immediates, memory clobbers, labels, vectors.
// KEEP: 75 90
extern "C" __global__ void operands(int *o, long long *l, float *f, double *d, short *h)
{
    int a = o[0], b = o[1], r;
    asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    asm volatile("{ .reg .s32 t; mul.lo.s32 t, %1, %1; add.s32 %0, t, %2; }" : "=r"(r) : "r"(r), "n"(42));
    o[2] = r;
    short s;
    asm("add.s16 %0, %1, 5;" : "=h"(s) : "h"(h[0]));
    h[1] = s;
    asm("fma.rn.f32 %0, %1, %1, 0f3F800000;" : "=f"(f[1]) : "f"(f[0]));
    asm("fma.rn.f64 %0, %1, %1, 0d3FF0000000000000;" : "=d"(d[1]) : "d"(d[0]));
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l[1]) : "r"(a), "r"(b), "l"(l[0]));
    asm("{ .reg .pred p, q; setp.lt.s32 p|q, %1, %2; @p mov.s32 %0, 1; @q mov.s32 %0, 2; @!p bra done_%=; add.s32 %0, %0, %1; done_%=: }"
        : "=r"(r) : "r"(a), "r"(b));
    o[3] = r;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(o[4]), "=r"(o[5]) : "l"(l[0]));
    asm("mov.b64 %0, {%1, %2};" : "=l"(l[2]) : "r"(a), "r"(b));
    asm("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"(h[0]), "h"(s));
    o[6] = r;
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2+8];" : "=r"(o[7]), "=r"(o[8]) : "l"(o) : "memory");
}

extern "C" __global__ void bits(unsigned *o)
{
    unsigned x = o[0], y = o[1], z = o[2], r;
#define OP3(i, text) asm(text " %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); o[i] = r;
#define OP2(i, text) asm(text " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); o[i] = r;
#define OP1(i, text) asm(text " %0, %1;" : "=r"(r) : "r"(x)); o[i] = r;
    OP3(3, "bfe.u32") OP3(4, "bfe.s32") OP3(5, "shf.l.wrap.b32") OP3(6, "shf.r.clamp.b32") OP3(7, "prmt.b32")
    OP3(8, "prmt.b32.f4e") OP3(9, "prmt.b32.b4e") OP3(10, "prmt.b32.rc8") OP3(11, "prmt.b32.ecl") OP3(12, "prmt.b32.ecr") OP3(13, "prmt.b32.rc16")
    OP3(14, "mad24.lo.u32") OP3(15, "mad24.hi.s32") OP3(16, "mad.hi.u32") OP3(17, "mad.lo.s32") OP3(18, "sad.u32") OP3(19, "mad.hi.sat.s32")
    OP2(20, "mul24.hi.s32") OP2(21, "add.sat.s32") OP2(22, "sub.sat.s32") OP2(23, "shl.b32") OP2(24, "bmsk.clamp.b32") OP2(25, "bmsk.wrap.b32")
    OP2(26, "szext.clamp.u32") OP2(27, "szext.wrap.s32") 
    OP1(29, "bfind.u32") OP1(30, "bfind.shiftamt.s32") OP1(31, "not.b32") OP1(32, "cnot.b32") OP1(33, "brev.b32") OP1(34, "popc.b32") OP1(35, "clz.b32")
    asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(r) : "r"(x), "r"(y));
    o[36] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[37] = r;
    asm("{ .reg .pred p, q; setp.eq.u32 q, %1, 0; lop3.or.b32 %0|p, %1, %2, %3, 0x96, q; @p add.u32 %0, %0, 1; }" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[38] = r;
    asm("fns.b32 %0, %1, %2, 3;" : "=r"(r) : "r"(x), "r"(y));
    o[39] = r;
    asm("{ .reg .pred p; setp.eq.u32 p, %2, 0; setp.ne.and.u32 p, %1, %2, !p; selp.b32 %0, %1, %2, p; }" : "=r"(r) : "r"(x), "r"(y));
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[40] = r;
    asm("set.lt.and.u32.s32 %0, %1, %2, 1;" : "=r"(r) : "r"(x), "r"(y));
    asm("set.gt.u32.f32 %0, %1, %2;" : "=r"(r) : "f"((float)x), "f"((float)y));
    o[41] = r;
}

extern "C" __global__ void floats(float *f, double *d, unsigned *o)
{
    float x = f[0], y = f[1], r;
    unsigned u;
#define F2(i, text) asm(text " %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); f[i] = r;
#define F1(i, text) asm(text " %0, %1;" : "=f"(r) : "f"(x)); f[i] = r;
    F2(2, "add.rz.ftz.sat.f32") F2(3, "sub.f32") F2(4, "mul.rm.f32") F2(5, "div.approx.f32") F2(6, "div.full.ftz.f32") F2(7, "div.rp.f32")
    F2(8, "min.f32") F2(9, "max.ftz.f32") F2(10, "copysign.f32")
    F1(11, "rcp.approx.ftz.f32") F1(12, "rcp.rz.f32") F1(13, "sqrt.approx.f32") F1(14, "sqrt.rp.ftz.f32") F1(15, "rsqrt.approx.f32")
    F1(16, "sin.approx.f32") F1(17, "cos.approx.ftz.f32") F1(18, "lg2.approx.f32") F1(19, "ex2.approx.ftz.f32") F1(20, "tanh.approx.f32")
    F1(21, "abs.ftz.f32") F1(22, "neg.f32") F1(23, "cvt.rni.ftz.f32.f32") F1(24, "cvt.rpi.sat.f32.f32")
#if __CUDA_ARCH__ >= 860
    F2(25, "min.NaN.f32") F2(26, "max.ftz.NaN.xorsign.abs.f32")
#endif
#define TEST(i, k) asm("{ .reg .pred p; testp." #k ".f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "f"(x)); o[i] = u;
    TEST(0, finite) TEST(1, infinite) TEST(2, number) TEST(3, notanumber) TEST(4, normal) TEST(5, subnormal)
    double p = d[0], q;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(q) : "d"(p));
    d[1] = q;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(q) : "d"(p));
    d[2] = q;
    asm("rsqrt.approx.f64 %0, %1;" : "=d"(q) : "d"(p));
    d[3] = q;
#define CMP(i, k) asm("{ .reg .pred p; setp." #k ".ftz.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "f"(x), "f"(y)); o[i] = u;
    CMP(6, eq) CMP(7, ne) CMP(8, lt) CMP(9, le) CMP(10, gt) CMP(11, ge) CMP(12, equ) CMP(13, neu) CMP(14, ltu) CMP(15, leu) CMP(16, gtu)
    CMP(17, geu) CMP(18, num) CMP(19, nan)
}

extern "C" __global__ void repeated(float *f, int n)
{
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int j = 0; j < 5; j++)
            asm volatile("{\n\t.reg .pred p;\n\t.reg .f32 t;\n\tsetp.gt.f32 p, %0, 0f00000000;\n\t@p bra skip_%=;\n\tneg.f32 t, %0;\n\tmov.f32 %0, t;\nskip_%=:\n\t}" : "+f"(f[j]));
#pragma unroll 1
        for (int j = 0; j < 5; j++)
            asm volatile("// a comment in asm\n\tst.global.wt.f32 [%0], %1; /* and another */" ::"l"(f + j), "f"(1.0f) : "memory");
    }
}
