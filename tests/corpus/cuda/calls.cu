// Function pointers, recursion, virtual calls, noinline functions with struct arguments and results, variadic calls.
// KEEP: 80 100
struct Big {
    int a[7];
    double b;
    char c;
};

__device__ __noinline__ Big bump(Big x, int k)
{
    x.a[k % 7] += k;
    x.b *= 1.5;
    x.c = (char)k;
    return x;
}

__device__ __noinline__ long long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n != 0 && even(n - 1); }

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual void scale(float) {}
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.14159f * r * r; }
    __device__ void scale(float k) override { r *= k; }
};
struct Rect : Shape {
    float w, h;
    __device__ Rect(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }
};

extern "C" __global__ void shapes(float *o, int kind)
{
    Circle c(o[0]);
    Rect r(o[1], o[2]);
    Shape *s = kind ? (Shape *)&c : (Shape *)&r;
    s->scale(2);
    o[threadIdx.x] = s->area();
    Shape *heap = kind > 2 ? (Shape *)new Circle(1) : (Shape *)new Rect(2, 3);
    o[threadIdx.x + 32] = heap->area();
    delete heap;
}

typedef float (*Fn)(float, int);
__device__ __noinline__ float f0(float x, int k) { return x + k; }
__device__ __noinline__ float f1(float x, int k) { return x * k; }
__device__ __noinline__ float f2(float x, int) { return -x; }

extern "C" __global__ void pointers(float *o, int which, Fn given)
{
    Fn f = which == 0 ? f0 : which == 1 ? f1 : f2;
    o[0] = f(o[1], which);
    o[2] = given(o[3], 7);
}

__device__ __noinline__ void swap_pair(int &a, int &b, short s, unsigned char u, bool p, long long l)
{
    int t = a + s + u + p + (int)l;
    a = b;
    b = t;
}

__device__ __noinline__ float4 vector(float2 a, double2 b, char4 c) { return make_float4(a.x + c.x, a.y, b.x, b.y + c.w); }
__device__ __noinline__ unsigned __int128 wide(unsigned __int128 x) { return x * 3; }
struct One { char c; };
__device__ __noinline__ One one(One o) { return One{(char)(o.c + 1)}; }
struct Three { char c[3]; };
__device__ __noinline__ Three three(Three t) { t.c[0] ^= t.c[2]; return t; }

extern "C" __global__ void values(Big *b, int k, float4 *v, unsigned __int128 *w)
{
    *b = bump(bump(*b, k), k + 1);
    b->a[0] += (int)fib(k) + even(k) + ackermann(2, k & 3);
    int x = b->a[1], y = b->a[2];
    swap_pair(x, y, (short)k, (unsigned char)k, k > 0, k);
    b->a[1] = x;
    b->a[2] = y;
    *v = vector(make_float2(k, 1), make_double2(k, 2), make_char4(1, 2, 3, k));
    *w = wide(*w);
    b->c = one(One{b->c}).c + three(Three{{1, 2, (char)k}}).c[0];
}
