// printf, assert, malloc/free, alloca, variadic marshalling through vprintf, __trap, brkpt: calls to the device runtime.
// KEEP: 75 90
#include <cassert>
#include <cstdio>

extern "C" __global__ void report(const double *x, int n)
{
    int i = threadIdx.x;
    assert(i < n && "index in range");
    printf("%d: %f %s %c %lld %p\n", i, x[i], i ? "more" : "first", 'x', (long long)n << 33, x);
    printf("no arguments\n");
}

extern "C" __global__ void heap(int n, int **out)
{
    int *p = (int *)malloc(n * sizeof(int));
    if (!p) {
        __trap();
    }
    for (int i = 0; i < n; i++)
        p[i] = i;
    out[threadIdx.x] = p;
    if (n > 100)
        free(p);
    else if (n > 50)
        __brkpt();
    double *q = new double[n];
    q[0] = 1;
    out[0][0] += (int)q[n - 1];
    delete[] q;
}

extern "C" __global__ void stack(int n, int *out)
{
    char *p = (char *)alloca(n);
    int *q = (int *)__builtin_alloca(n * 4);
    for (int i = 0; i < n; i++) {
        p[i] = (char)i;
        q[i] = i * i;
    }
    out[threadIdx.x] = p[out[0]] + q[out[1]];
}

extern "C" __global__ void ends(int k)
{
    if (k == 0)
        asm volatile("exit;");
    if (k == 1)
        asm volatile("trap;");
    if (k == 2)
        asm volatile("brkpt;");
    if (k == 3)
        __builtin_unreachable();
}
