// sm_100 scalar additions: packed fp32 (add/mul/fma.f32x2), three-input min/max, redux.f32, cvt with stochastic rounding, 256-bit loads.
// ARCH: 100a 103a
extern "C" __global__ void pairs(unsigned long long *p, float *f, unsigned *u)
{
    unsigned long long a = p[0], b = p[1], c = p[2], r;
    asm("add.rn.f32x2 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    p[3] = r;
    asm("mul.rz.ftz.f32x2 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    p[4] = r;
    asm("fma.rn.f32x2 %0, %1, %2, %3;" : "=l"(r) : "l"(a), "l"(b), "l"(c));
    p[5] = r;
    asm("sub.rm.f32x2 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    p[6] = r;
    float x = f[0], y = f[1], z = f[2], s;
    asm("min.f32 %0, %1, %2, %3;" : "=f"(s) : "f"(x), "f"(y), "f"(z));
    f[3] = s;
    asm("max.ftz.NaN.abs.f32 %0, %1, %2, %3;" : "=f"(s) : "f"(x), "f"(y), "f"(z));
    f[4] = s;
    asm volatile("redux.sync.min.f32 %0, %1, 0xffffffff;" : "=f"(s) : "f"(x));
    f[5] = s;
    asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, 0xffffffff;" : "=f"(s) : "f"(x));
    f[6] = s;
    unsigned q;
    asm("cvt.rs.f16x2.f32 %0, %1, %2, %3;" : "=r"(q) : "f"(x), "f"(y), "r"(u[0]));
    u[1] = q;
    asm("cvt.rs.satfinite.e4m3x4.f32 %0, {%1, %2, %3, %1}, %4;" : "=r"(q) : "f"(x), "f"(y), "f"(z), "r"(u[0]));
    u[2] = q;
    asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(q) : "f"(x));
    u[3] = q;
    asm("add.f32.f16 %0, %1, %2;" : "=f"(s) : "h"((short)q), "f"(y));
    f[7] = s;
    asm("fma.rn.f32.bf16 %0, %1, %1, %2;" : "=f"(s) : "h"((short)q), "f"(y));
    f[8] = s;
    asm volatile("ld.global.v8.b32 {%0, _, _, _, _, _, _, %1}, [%2];" : "=r"(u[8]), "=r"(u[9]) : "l"(p));
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}
