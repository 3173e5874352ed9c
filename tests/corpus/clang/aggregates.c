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
