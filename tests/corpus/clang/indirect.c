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
