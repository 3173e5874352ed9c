// Weak, hidden, alias-free and extern symbols, calls to undefined runtime functions, inline asm, memory fences, attributes.
extern int printf_like(const char *, void *);
extern void *malloc(unsigned long);
extern void free(void *);
extern float sinf(float);
extern const int external_table[];
extern __attribute__((weak)) int maybe(int);
__attribute__((weak)) int overridden(int x) { return x; }
__attribute__((weak)) int default_value = 12;
__attribute__((visibility("hidden"))) int hidden(int x) { return x * 3; }
__attribute__((aligned(64))) char buffer[256];
__attribute__((section("custom"))) int placed = 4;
static inline __attribute__((always_inline)) int clock_low(void)
{
    int r;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(r)::"memory");
    return r;
}

struct Args { int a; double b; };
int report(int x, double y)
{
    struct Args args = {x, y};
    return printf_like("%d %f\n", &args);
}
int *make(int n)
{
    int *p = malloc(n * sizeof *p);
    for (int i = 0; p && i < n; i++)
        p[i] = external_table[i] + overridden(i) + default_value;
    return p;
}
void drop(int *p) { free(p); }
float wave(float x) { return sinf(x) * __builtin_fabsf(x) + __builtin_sqrtf(x); }
int timed(int n)
{
    int t = clock_low();
    for (int i = 0; i < n; i++)
        buffer[i & 255] = hidden(i);
    __nvvm_membar_gl();
    asm volatile("bar.sync %0;" ::"n"(0) : "memory");
    return clock_low() - t + placed;
}
void assembly(int *p, float f, long l, short s)
{
    asm("{\n\t.reg .pred %%p;\n\tsetp.gt.s32 %%p, %1, 0;\n\t@%%p add.s32 %0, %1, 7;\n\t}" : "=r"(p[0]) : "r"(p[1]));
    asm volatile("st.global.f32 [%0], %1;" ::"l"(p + 2), "f"(f));
    asm volatile("// %0 %1" ::"l"(l), "h"(s));
    __builtin_trap();
}
