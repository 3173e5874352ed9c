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
