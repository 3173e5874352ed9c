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
