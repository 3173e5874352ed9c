// SIMD-in-word video intrinsics: __vadd4, __vabsdiff2, __vset..., __vsad..., saturating and averaging forms.
// KEEP: 75
#define BOTH(op, i) o[i] = __v##op##2(x, y), o[i + 1] = __v##op##4(x, y)
#define ONE(op, i) o[i] = __v##op##2(x), o[i + 1] = __v##op##4(x)
extern "C" __global__ void simd(const unsigned *a, const unsigned *b, unsigned *o)
{
    int t = threadIdx.x;
    unsigned x = a[t], y = b[t];
    o += t * 96;
    BOTH(add, 0);
    BOTH(addss, 2);
    BOTH(addus, 4);
    BOTH(sub, 6);
    BOTH(subss, 8);
    BOTH(subus, 10);
    BOTH(absdiffu, 12);
    BOTH(absdiffs, 14);
    BOTH(avgu, 16);
    BOTH(avgs, 18);
    BOTH(haddu, 20);
    BOTH(maxu, 22);
    BOTH(maxs, 24);
    BOTH(minu, 26);
    BOTH(mins, 28);
    BOTH(seteq, 30);
    BOTH(setges, 32);
    BOTH(setgtu, 34);
    BOTH(setleu, 36);
    BOTH(setlts, 38);
    BOTH(setne, 40);
    BOTH(cmpeq, 42);
    BOTH(cmpges, 44);
    BOTH(cmpgtu, 46);
    BOTH(cmplts, 48);
    BOTH(cmpne, 50);
    BOTH(sads, 52);
    BOTH(sadu, 54);
    ONE(abs, 56);
    ONE(absss, 58);
    ONE(neg, 60);
    ONE(negss, 62);
}
