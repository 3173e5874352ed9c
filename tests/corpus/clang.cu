// The sources for clang 14, which it compiles without any CUDA headers. A line `// ==== NAME ====` begins each file;
// generate.sh takes them apart.
// ==== clang/aggregates.c ====
// Aggregates passed and returned by value, of every awkward size; vectors, complex numbers and _Bool through the C ABI.
// KEEP: 30 32=60
// VARIANT: 32 --target=nvptx-nvidia-cuda
typedef struct { char c; } S1;
typedef struct { char c[3]; } S3;
typedef struct { short a, b; } S4;
typedef struct { int a; char b; } S8;
typedef struct { float x, y, z; } F3;
typedef struct { double d; int i; } D16;
typedef struct { long long v[5]; char tail; } Big;
typedef struct { F3 a; D16 b; S3 c[2]; } Nest;
typedef float V4 __attribute__((vector_size(16)));
typedef int V2 __attribute__((vector_size(8)));
typedef union { int i; double d; char c[12]; } U;

S1 f1(S1 s) { s.c++; return s; }
S3 f3(S3 s, int k) { s.c[k] ^= 7; return s; }
S4 f4(S4 s) { S4 r = {s.b, s.a}; return r; }
S8 f8(S8 a, S8 b) { a.a += b.b; return a; }
F3 ff(F3 a, float k) { a.x *= k; a.y += k; return a; }
D16 fd(char c, D16 d, short s) { d.d += c; d.i -= s; return d; }
Big fb(Big b, const Big *p) { b.v[2] += p->v[b.tail & 3]; return b; }
Nest fn(Nest n) { n.a = ff(n.a, 2); n.b = fd(1, n.b, 2); n.c[1] = f3(n.c[0], 1); return n; }
V4 fv(V4 a, V4 b) { return a * b + a; }
V2 fi(V2 a) { return a << 1; }
U fu(U u) { u.c[5] = 1; return u; }
float _Complex fc(float _Complex a, float _Complex b) { return a + b; }
double _Complex fz(double _Complex a) { return -a; }
_Bool fbool(_Bool a, unsigned char b, signed char c, unsigned short d) { return a && b > c + d; }
long long fl(long long a, unsigned b) { return a * b; }
void fvoid(void) {}

int use(Nest *n, Big *b, V4 *v, U *u, S8 *s)
{
    *n = fn(*n);
    *b = fb(*b, b + 1);
    *v = fv(*v, v[1]);
    *u = fu(*u);
    s[0] = f8(s[1], s[2]);
    S1 one = {(char)s[0].a};
    fvoid();
    return f1(one).c + (int)__real__ fc(1, 2) + fbool(1, 2, 3, 4) + (int)fl(3, 4);
}
// ==== clang/atomics.cu ====
// Atomics from clang: __nvvm_atom_* builtins and C11-style __atomic/__sync operations that become atom.* and loops.
// ARCH: 30 35 50
#include "device.h"

extern "C" __global__ void builtins(int *p, long long *q, float *f, int *o)
{
    o[0] = __nvvm_atom_add_gen_i(p, 1);
    o[1] = __nvvm_atom_max_gen_i(p, 2);
    o[2] = __nvvm_atom_min_gen_ui((unsigned *)p, 3);
    o[3] = __nvvm_atom_and_gen_i(p, 4);
    o[4] = __nvvm_atom_or_gen_i(p, 5);
    o[5] = __nvvm_atom_xor_gen_i(p, 6);
    o[6] = __nvvm_atom_xchg_gen_i(p, 7);
    o[7] = __nvvm_atom_cas_gen_i(p, 8, 9);
    o[8] = __nvvm_atom_inc_gen_ui((unsigned *)p, 10);
    o[9] = __nvvm_atom_dec_gen_ui((unsigned *)p, 11);
    o[10] = __nvvm_atom_add_gen_f(f, 1.5f);
    o[11] = __nvvm_atom_add_gen_ll(q, 1);
    o[12] = __nvvm_atom_cas_gen_ll(q, 1, 2);
    o[13] = __nvvm_atom_xchg_gen_ll(q, 4);
}

extern "C" __global__ void generic(int *p, unsigned long *q, int *o)
{
    __shared__ int s;
    o[0] = __atomic_fetch_add(p, 3, __ATOMIC_RELAXED);
    o[1] = __atomic_fetch_sub(p, 3, __ATOMIC_RELAXED);
    o[2] = __sync_fetch_and_or(p, 3);
    o[3] = __atomic_exchange_n(q, 9, __ATOMIC_RELAXED);
    o[4] = __sync_val_compare_and_swap(p, 1, 2);
    o[5] = __sync_bool_compare_and_swap(q, 1ul, 2ul);
    o[7] = __sync_fetch_and_add(&s, 1);
    o[8] = __sync_fetch_and_umax((unsigned *)p, 8u);
    __nvvm_membar_gl();
    __nvvm_membar_cta();
    __nvvm_membar_sys();
    o[9] = s;
}
// ==== clang/atomics60.cu ====
// Scoped and double atomics from clang for sm_60 and up: atom.cta/.sys, atom.add.f64.
// ARCH: 60 70 75
#include "device.h"

extern "C" __global__ void scoped(int *p, long long *q, double *d, float *f, int *o, double *e)
{
    o[0] = __nvvm_atom_cta_add_gen_i(p, 1);
    o[1] = __nvvm_atom_sys_add_gen_i(p, 1);
    o[2] = __nvvm_atom_cta_cas_gen_i(p, 1, 2);
    o[3] = __nvvm_atom_sys_max_gen_ll(q, 2);
    o[4] = __nvvm_atom_cta_xchg_gen_ll(q, 2);
    o[5] = __nvvm_atom_sys_inc_gen_ui((unsigned *)p, 2);
    e[0] = __nvvm_atom_add_gen_d(d, 1.5);
    e[1] = __nvvm_atom_cta_add_gen_d(d, 2.5);
    e[2] = __nvvm_atom_sys_add_gen_f(f, 2.5f);
}
// ==== clang/classes.cu ====
// C++ through clang: virtual calls, templates (linkonce), lambdas, static locals, std-call by struct, .visible and .weak symbols.
// ARCH: 20 35 60 70
#include "device.h"

extern "C" __device__ void __cxa_pure_virtual() {}
__device__ inline void *operator new(size_t, void *p) { return p; }

struct Base {
    int id;
    __device__ virtual int f(int x) { return x + id; }
    __device__ virtual double g(double a, char b) = 0;
};
struct Left : Base {
    __device__ int f(int x) override { return x * id; }
    __device__ double g(double a, char b) override { return a + b; }
};
struct Right : Base {
    double extra;
    __device__ double g(double a, char b) override { return a * b + extra; }
};

template <typename T, int N> struct Ring {
    T v[N];
    __device__ __noinline__ T at(int i) const { return v[i % N]; }
};
template <typename T> __device__ __noinline__ T largest(const T *p, int n)
{
    T m = p[0];
    for (int i = 1; i < n; i++)
        m = p[i] > m ? p[i] : m;
    return m;
}
template <typename F> __device__ __noinline__ int twice(F f, int x) { return f(f(x)); }

extern "C" __global__ void virtuals(int *o, double *d, int pick)
{
    alignas(8) char room[sizeof(Right)];
    Base *b = pick ? (Base *)new (room) Left : (Base *)new (room) Right;
    b->id = pick;
    o[0] = b->f(o[1]);
    d[0] = b->g(d[1], 'x');
}

extern "C" __global__ void templates(const float *f, const long *l, int *o, const Ring<short, 6> *r, int k)
{
    o[0] = (int)largest(f, k) + (int)largest(l, k) + r->at(k);
    o[1] = twice([=](int x) { return x * k + 1; }, o[2]);
    static __device__ int calls;
    o[3] = calls++;
}

__device__ __attribute__((weak)) int weak_function(int x) { return x; }
__device__ __attribute__((weak)) int weak_variable = 3;
__device__ static int only_mine = 4;
__device__ int (*volatile callback)(int) = weak_function;
extern "C" __global__ void linkage(int *o) { o[0] = weak_function(o[1]) + weak_variable + only_mine++ + callback(o[2]); }
// ==== clang/debug.c ====
// Debug info by clang (-g): .file/.loc, .section .debug_abbrev/.debug_info/.debug_macinfo with labels and .b8/.b32/.b64 data.
// KEEP: 35 O0=60 lines=30 32=20
// FLAGS: -g -gdwarf-2 -fdebug-compilation-dir=corpus
// VARIANT: O0 -O0
// VARIANT: lines -O1 -gline-tables-only -gdwarf-2
// VARIANT: 32 --target=nvptx-nvidia-cuda
struct Point {
    int x, y;
    struct Point *next;
};
enum Colour { RED, GREEN = 5, BLUE };
static int total;
static const enum Colour favourite = BLUE;

static int distance(const struct Point *p)
{
    int dx = p->x < 0 ? -p->x : p->x;
    int dy = p->y < 0 ? -p->y : p->y;
    return dx + dy;
}

int furthest(const struct Point *p, enum Colour c)
{
    int best = 0;
    for (; p; p = p->next) {
        int d = distance(p);
        if (d > best)
            best = d;
    }
    total += best;
    return c == favourite ? total : best;
}
// ==== clang/device.h ====
// The few CUDA names that the .cu sources here need: clang compiles them without any CUDA headers.
#pragma once

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))

#define tid_x() __nvvm_read_ptx_sreg_tid_x()
#define ntid_x() __nvvm_read_ptx_sreg_ntid_x()
#define ctaid_x() __nvvm_read_ptx_sreg_ctaid_x()
#define barrier() __syncthreads()

typedef unsigned long size_t;

__device__ inline int index() { return ctaid_x() * ntid_x() + tid_x(); }
// ==== clang/halves.c ====
// fp16 and 128-bit integers in clang: __fp16 arithmetic (emulated below sm_53), __int128, wide shifts, carries, bit tricks.
// ARCH: 35 60 70 75
// FLAGS: -Xclang -fnative-half-type -Xclang -fallow-half-arguments-and-returns
typedef __fp16 half;
typedef half H4 __attribute__((vector_size(8)));
typedef half H2 __attribute__((vector_size(4)));

half add(half a, half b) { return a + b; }
half mul_add(half a, half b, half c) { return a * b + c; }
half divide(half a, half b) { return a / b; }
int less(half a, half b) { return a < b; }
float widen(half a) { return a; }
half narrow(double d) { return (half)d; }
half from_int(int i) { return (half)i; }
long long to_long(half h) { return (long long)h; }
void vector2(H2 *p) { p[0] = p[1] * p[2] + p[0]; }
void vector4(H4 *p) { p[0] = p[1] - p[2]; }
half pick(int c, half a, half b) { return c ? a : b; }
half constant(void) { return (half)1.5; }
half absolute(half a) { return a < (half)0 ? -a : a; }

typedef unsigned __int128 u128;
u128 add128(u128 a, u128 b) { return a + b; }
u128 mul128(u128 a, u128 b) { return a * b; }
u128 shift(u128 a, int n) { return a << n; }
__int128 arithmetic(__int128 a, int n) { return a >> n; }
int compare(__int128 a, __int128 b) { return a < b; }
u128 product(unsigned long long a, unsigned long long b) { return (u128)a * b; }
unsigned rotate(unsigned x, int n) { return x << n | x >> (32 - n); }
unsigned long long rotate64(unsigned long long x, int n) { return x << n | x >> (64 - n); }
unsigned field(unsigned x) { return x >> 5 & 0x3f; }
int carry(unsigned a, unsigned b, unsigned *o) { return __builtin_add_overflow(a, b, o); }
int overflow(long a, long b, long *o) { return __builtin_mul_overflow(a, b, o); }
int bits(unsigned x, unsigned long long y) { return __builtin_popcount(x) + __builtin_clzll(y) + __builtin_ctzll(y) + __builtin_ffs(x); }
unsigned swap(unsigned x) { return __builtin_bswap32(x); }
// ==== clang/indirect.c ====
// Indirect calls with .callprototype of many signatures, function tables, recursion, .noreturn-like ends, tail calls.
// KEEP: 70 32=20 O0=35
// VARIANT: 32 --target=nvptx-nvidia-cuda
// VARIANT: O0 -O0
typedef struct { int a[4]; } Four;
typedef int (*Binary)(int, int);
typedef double (*Mixed)(float, char, long long, double *);
typedef Four (*Struct)(Four, short);
typedef void (*Action)(void);
typedef Binary (*Chooser)(int);

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int mul(int a, int b) { return a * b; }
static const Binary operations[] = {add, sub, mul};

Binary choose(int i) { return operations[i % 3]; }
int apply(Binary f, int a, int b) { return f(a, b); }
double mixed(Mixed m, double *p) { return m((float)p[0], 'c', 1LL << 40, p); }
Four structs(Struct s, Four f) { return s(f, 3); }
void actions(Action *a, int n) { for (int i = 0; i < n; i++) a[i](); }
int chain(Chooser c, int k) { return c(k)(k, k + 1); }
int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
int mutual_b(int);
__attribute__((noinline)) int mutual_a(int n) { return n ? mutual_b(n - 1) + 1 : 0; }
__attribute__((noinline)) int mutual_b(int n) { return n ? mutual_a(n - 1) * 2 : 1; }
__attribute__((noreturn, noinline)) void stop(int code) { for (;;) asm volatile("trap;"); }
int checked(int x) { if (x < 0) stop(x); return fact(x) + mutual_a(x); }
extern int elsewhere(int, const char *);
int outside(int x) { return elsewhere(x, "away"); }
// ==== clang/initialisers.c ====
// Global initialisers in C: nested structs, pointers to globals and functions, generic() casts, packed bytes, common symbols.
// KEEP: 35 32=20
// VARIANT: 32 --target=nvptx-nvidia-cuda
struct Leaf {
    char tag;
    short w[3];
    double d;
};
struct Tree {
    const char *name;
    struct Leaf leaf[2];
    const struct Tree *left, *right;
    int (*visit)(int);
    unsigned flags : 5, rest : 27;
};

static int increment(int x) { return x + 1; }
int decrement(int x) { return x - 1; }

const char greeting[] = "hello, \"device\"\n";
const struct Tree only_child = {greeting, {{'o'}}, 0, 0, 0, 0, 9};
const struct Tree other_child = {"other", {{1}}, 0, &only_child, decrement, 0, 1};
const struct Tree kids[2] = {
    {"left", {{'l', {1, 2, 3}, 0.5}, {'m', {-1}, 1e300}}, 0, 0, increment, 3, 4},
    {greeting, {{'r', {7, 8, 9}, -0.0}}, &only_child, 0, decrement, 31, 5},
};
const struct Tree root = {"root", {{0}}, &other_child, &only_child, 0, 1, 2};

int common_symbol;
double zeroes[1000];
int table[3][4] = {{1, 2, 3, 4}, {5}, {9, 10}};
int *into = table[0];
const char zero[] = "zero", one[] = "one";
const char *const names[] = {zero, one, greeting, 0};
int (*const dispatch[])(int) = {increment, decrement};
struct __attribute__((packed)) Odd {
    char a;
    int b;
    long long c;
} odd = {1, 0x01020304, -2};
float infinities[4] = {__builtin_inff(), -__builtin_inff(), 1e-45f, 0x1.8p3f};
_Bool truths[3] = {1, 0, 1};
unsigned long long wide = 0x8000000000000000ull;
union {
    float f;
    int i[2];
} either = {.i = {1, 2}};

int walk(int k)
{
    int s = table[k % 3][k & 3] + *into + odd.b + truths[k % 3] + either.i[1] + common_symbol++;
    for (const struct Tree *t = &root; t; t = k-- > 0 ? t->left : t->right)
        s += t->leaf[k & 1].w[k % 3] + t->name[0] + (t->visit ? t->visit(s) : 0) + t->flags + kids[k & 1].rest;
    s += dispatch[k & 1](s) + names[k & 3][0] + (int)zeroes[k] + (int)infinities[k & 3] + (int)wide;
    return s;
}
// ==== clang/kernels.cu ====
// Plain kernels through clang: saxpy, tiled product, reduction, transpose; .maxntid/.minnctapersm, shared arrays.
// KEEP: 20 35 75
// ARCH: 20 30 35 50 60 70 75
#include "device.h"

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = index();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256, 2) matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = __nvvm_read_ptx_sreg_tid_x(), ty = __nvvm_read_ptx_sreg_tid_y();
    int row = __nvvm_read_ptx_sreg_ctaid_y() * 16 + ty, col = __nvvm_read_ptx_sreg_ctaid_x() * 16 + tx;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + col];
        barrier();
        for (int k = 0; k < 16; k++)
            s += as[ty][k] * bs[k][tx];
        barrier();
    }
    c[row * n + col] = s;
}

extern "C" __global__ void __launch_bounds__(128) reduce(const double *in, double *out, int n)
{
    __shared__ double s[128];
    int t = tid_x();
    double v = 0;
    for (int i = index(); i < n; i += 128 * __nvvm_read_ptx_sreg_nctaid_x())
        v += in[i];
    s[t] = v;
    for (int d = 64; d; d /= 2) {
        barrier();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        out[ctaid_x()] = s[0];
}

extern "C" __global__ void mixed(unsigned char *c, short *s, long *l, bool *b)
{
    int i = index();
    c[i] = c[i] * 3 + (unsigned char)s[i];
    s[i] = s[i] / 7 - s[i + 1] % 5;
    l[i] = l[i] * s[i] + (l[i] >> 3) + l[i] / 10;
    b[i] = c[i] > 5 && l[i] < 3;
}

// ==== clang/loads.cu ====
// ld.global.nc through __nvvm_ldg builtins, vector types, and special function builtins (approx, rounding, cvt).
// ARCH: 35 50 70
#include "device.h"

typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef char c4 __attribute__((ext_vector_type(4)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef double d2 __attribute__((ext_vector_type(2)));

extern "C" __global__ void ldg(const char *c, const short *s, const int *i, const long *l, const float *f, const double *d,
                               const f4 *v, const i2 *w, double *o)
{
    int t = tid_x();
    f4 a = __nvvm_ldg_f4(v + t);
    i2 b = __nvvm_ldg_i2(w + t);
    o[t] = __nvvm_ldg_c(c + t) + __nvvm_ldg_s(s + t) + __nvvm_ldg_i(i + t) + __nvvm_ldg_l(l + t) + __nvvm_ldg_f(f + t) +
           __nvvm_ldg_d(d + t) + __nvvm_ldg_uc((const unsigned char *)c) + a.x * a.w + b.y;
}

extern "C" __global__ void vectors(f4 *a, i2 *b, c4 *c, s2 *s, d2 *d)
{
    int t = tid_x();
    a[t] = a[t] * a[t + 1].wzyx + 1.0f;
    b[t] = (b[t] << 2) ^ b[t + 1];
    c[t] = c[t] + c[t + 1];
    s[t] = s[t] * s[t + 1];
    d[t] = d[t] / d[t + 1];
}

extern "C" __global__ void functions(float *f, double *d, int *i)
{
    float x = f[0];
    f[1] = __nvvm_sin_approx_f(x) + __nvvm_cos_approx_ftz_f(x);
    f[2] = __nvvm_ex2_approx_f(x) * __nvvm_lg2_approx_f(x);
    f[3] = __nvvm_rcp_rz_f(x) + __nvvm_sqrt_rp_f(x) + __nvvm_rsqrt_approx_f(x);
    f[4] = __nvvm_fma_rm_f(x, x, f[5]) + __nvvm_add_rz_ftz_f(x, 3) + __nvvm_mul_rp_f(x, 4);
    f[6] = __nvvm_div_approx_f(x, f[7]) + __nvvm_div_rn_f(f[7], x) + __nvvm_saturate_f(x) + __nvvm_fmin_f(x, 3) + __nvvm_fabs_f(x);
    f[8] = __nvvm_ceil_f(x) + __nvvm_floor_f(x) + __nvvm_trunc_f(x) + __nvvm_round_f(x);
    d[1] = __nvvm_rcp_rn_d(d[0]) + __nvvm_sqrt_rz_d(d[0]) + __nvvm_fma_rp_d(d[0], d[0], 1) + __nvvm_add_rm_d(d[0], 2);
    i[0] = __nvvm_f2i_rm(x) + __nvvm_d2i_rp(d[0]) + __nvvm_f2ui_rn(x) + __nvvm_d2i_lo(d[0]) + __nvvm_mul24_i(i[1], i[2]) + __nvvm_mulhi_i(i[1], i[2]);
    f[9] = __nvvm_i2f_rz(i[3]) + __nvvm_ui2f_rp(i[4]) + __nvvm_ll2f_rm(i[5]);
    d[2] = __nvvm_lohi_i2d(i[1], i[2]) + __nvvm_i2d_rn(i[3]);
    i[6] = __nvvm_prmt(i[1], i[2], 0x3210) + __nvvm_sad_i(i[1], i[2], i[3]);
    i[7] = __builtin_popcountl(i[1]) + __builtin_ctz(i[2]) + __builtin_bswap32(i[3]) + __builtin_bitreverse32(i[4]);
}
// ==== clang/runtime.c ====
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
// ==== clang/shuffles.cu ====
// Warp operations before the .sync forms: shfl.up/down/bfly/idx with predicates, vote, from clang.
// ARCH: 30 35 50 60
// FLAGS: -Xclang -target-feature -Xclang +ptx32
#include "device.h"

extern "C" __global__ void shuffles(int *p, float *f)
{
    int v = p[tid_x()];
    p[0] = __nvvm_shfl_down_i32(v, 1, 0x1f);
    p[1] = __nvvm_shfl_up_i32(v, 2, 0);
    p[2] = __nvvm_shfl_bfly_i32(v, 4, 0x1f);
    p[3] = __nvvm_shfl_idx_i32(v, v, 0x1c1f);
    f[0] = __nvvm_shfl_down_f32(f[1], 1, 0x1f);
    f[2] = __nvvm_shfl_bfly_f32(f[3], v, 0x1f);
}

extern "C" __global__ void sum(const float *in, float *out)
{
    float v = in[index()];
    for (int d = 16; d; d /= 2)
        v += __nvvm_shfl_bfly_f32(v, d, 31);
    out[index()] = v;
}

extern "C" __global__ void votes(int *p)
{
    bool b = p[tid_x()] > 0;
    int r;
    asm volatile("{ .reg .pred %%p, %%q; setp.ne.s32 %%p, %1, 0; vote.all.pred %%q, %%p; selp.s32 %0, 1, 0, %%q; }" : "=r"(r) : "r"((int)b));
    p[0] = r;
    asm volatile("{ .reg .pred %%p; setp.ne.s32 %%p, %1, 0; vote.ballot.b32 %0, %%p; }" : "=r"(r) : "r"((int)b));
    p[1] = r;
    p[2] = __nvvm_bar0_popc(b) + __nvvm_bar0_and(b) + __nvvm_bar0_or(b);
}
// ==== clang/spaces.c ====
// Address spaces by attribute: .global/.shared/.const/.local accesses, addrspacecast in code and in initialisers, volatile.
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#define CONST __attribute__((address_space(4)))

GLOBAL int g = 5;
CONST int c[4] = {1, 2, 3, 4};
SHARED int s[32];
GLOBAL int many[8] = {1, 2};
GLOBAL int *direct = &g;
GLOBAL int *GLOBAL offset = &many[3];
CONST int *CONST past = c + 4;
int *through = (int *)&g;
const int *constant = (const int *)c;
int *volatile GLOBAL both = (int *)&g;

int read(GLOBAL int *p, SHARED int *q, CONST int *r, int *any, int i)
{
    int local[8];
    local[i & 7] = p[i];
    q[i] = r[i] + g;
    s[i] = c[i & 3];
    *(int *)(q + 1) = 4;
    return *any + local[(i + 1) & 7] + *through + *constant + s[i ^ 1] + *offset + past[-1] + *direct;
}

int calls(int *p);
int escape(int i)
{
    int local[16] = {1, 2, 3};
    local[i & 15] = 4;
    return calls(local) + calls((int *)&s[i]) + calls((int *)&g);
}

void widths(volatile char *a, volatile short *b, volatile long *d, volatile float *e, GLOBAL volatile int *f)
{
    a[1] = a[0];
    b[1] = b[0];
    d[1] = d[0];
    e[1] = e[0];
    f[1] = f[0];
}

void copy(char *d, const char *s, unsigned long n)
{
    __builtin_memcpy(d, s, 64);
    __builtin_memset(d + 64, 3, 32);
    for (unsigned long i = 0; i < n; i++)
        d[i] = s[n - i];
}

int vla(int n)
{
    int total = 0;
    char fixed[100];
    for (int i = 0; i < 100; i++)
        fixed[i] = i * n;
    for (int i = 0; i < n; i++)
        total += fixed[(i * 7) % 100];
    return total;
}
// ==== clang/switches.c ====
// Switches and loops at several optimisation levels: compare chains, tables in memory, setp/selp, nested conditions, goto.
// VARIANT: O0 -O0
// VARIANT: O3 -O3 -ffast-math
int dense(int op, int a, int b)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return b ? a / b : 0;
    case 4: return a & b;
    case 5: return a | b;
    case 6: return a ^ b;
    case 7: return a << (b & 31);
    case 8: return a >> (b & 31);
    case 9: return a < b;
    default: return -1;
    }
}
const char *name(int k)
{
    switch (k) {
    case 1: return "one";
    case 2: return "two";
    case 5: return "five";
    case 100: return "hundred";
    case -7: return "minus seven";
    }
    return 0;
}
unsigned classify(unsigned char c)
{
    if (c >= '0' && c <= '9') return 1;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return 2;
    if (c == ' ' || c == '\t' || c == '\n') return 3;
    return 4;
}
long collatz(long n)
{
    long steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        if (++steps > 1000) goto fail;
    }
    return steps;
fail:
    return -1;
}
float polynomial(const float *c, int n, float x)
{
    float r = 0;
    for (int i = n; i-- > 0;)
        r = r * x + c[i];
    return r;
}
double mean(const double *p, int n, int stride)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        if (p[i * stride] == p[i * stride])
            s += p[i * stride];
    return n ? s / n : 0;
}
// ==== clang/sync_shuffles.cu ====
// Warp operations of sm_70: shfl.sync, vote.sync, match, bar.warp.sync, barrier.sync, fns, from clang.
// ARCH: 70 75
// FLAGS: -Xclang -target-feature -Xclang +ptx60
#include "device.h"

extern "C" __global__ void warp(int *p)
{
    int v = p[tid_x()];
    p[0] = __nvvm_shfl_sync_down_i32(~0u, v, 1, 0x1f);
    p[1] = __nvvm_shfl_sync_idx_i32(v, v, v, 0x1f);
    p[2] = __nvvm_vote_all_sync(~0u, v) + __nvvm_vote_any_sync(~0u, v) + __nvvm_vote_uni_sync(~0u, v);
    p[3] = __nvvm_vote_ballot_sync(~0u, v);
    p[4] = __nvvm_match_any_sync_i32(~0u, v);
    int pred;
    p[6] = __nvvm_match_all_sync_i32p(~0u, v, &pred);
    p[7] = pred;
    __nvvm_bar_warp_sync(v);
    __nvvm_barrier_sync(3);
    __nvvm_barrier_sync_cnt(4, 64);
    p[8] = __nvvm_fns(v, 1, 2);
    __nvvm_bar_sync(5);
}
// ==== clang/tensor.cu ====
// wmma builtins of clang: hmma of three shapes, imma, sub-byte and single-bit products.
// ARCH: 75
// FLAGS: -Xclang -target-feature -Xclang +ptx63
#include "device.h"

extern "C" __global__ void halves(const int *a, const int *b, float *c, int *h)
{
    int fa[8], fb[8], hc[4], hd[4];
    float fc[8], fd[8];
    __hmma_m16n16k16_ld_a(fa, a, 16, 0);
    __hmma_m16n16k16_ld_b(fb, b, 16, 1);
    __hmma_m16n16k16_ld_c_f32(fc, c, 16, 0);
    __hmma_m16n16k16_mma_f32f32(fd, fa, fb, fc, 1, 0);
    __hmma_m16n16k16_st_c_f32(c, fd, 16, 0);
    __hmma_m32n8k16_ld_a(fa, a, 16, 1);
    __hmma_m32n8k16_ld_b(fb, b, 16, 0);
    __hmma_m32n8k16_ld_c_f16(hc, h, 16, 0);
    __hmma_m32n8k16_mma_f16f16(hd, fa, fb, hc, 2, 0);
    __hmma_m32n8k16_st_c_f16(h, hd, 16, 1);
    __hmma_m8n32k16_ld_a(fa, a, 16, 0);
    __hmma_m8n32k16_ld_b(fb, b, 16, 0);
    __hmma_m8n32k16_mma_f32f16(fd, fa, fb, hd, 0, 1);
    __hmma_m8n32k16_st_c_f32(c + 256, fd, 32, 1);
}

extern "C" __global__ void integers(const int *a, int *c)
{
    int fa[4], fb[4], fc[8], fd[8];
    __imma_m16n16k16_ld_a_s8(fa, a, 16, 0);
    __imma_m16n16k16_ld_b_s8(fb, a, 16, 0);
    __imma_m16n16k16_ld_c(fc, c, 16, 0);
    __imma_m16n16k16_mma_s8(fd, fa, fb, fc, 1, 1);
    __imma_m16n16k16_st_c_i32(c, fd, 16, 0);
    __imma_m8n8k32_ld_a_u4(fa, a, 32, 0);
    __imma_m8n8k32_ld_b_u4(fb, a, 32, 1);
    __imma_m8n8k32_ld_c(fc, c, 8, 0);
    __imma_m8n8k32_mma_u4(fd, fa, fb, fc, 1, 0);
    __imma_m8n8k32_st_c_i32(c, fd, 8, 0);
    __bmma_m8n8k128_ld_a_b1(fa, a, 128, 0);
    __bmma_m8n8k128_ld_b_b1(fb, a, 128, 1);
    __bmma_m8n8k128_mma_xor_popc_b1(fd, fa, fb, fc, 1);
    __bmma_m8n8k128_st_c_i32(c, fd, 8, 1);
}
