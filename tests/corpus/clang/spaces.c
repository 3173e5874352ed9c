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
