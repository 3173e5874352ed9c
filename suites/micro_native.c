/* The native twins of `heddle bench`. The first five are compiled for the vector instructions of the host (AVX2 and
 * AVX-512 where it has them), because the emulator's handlers are, too. */
#include "suites/micro_native.h"

#include <math.h>
#include <string.h>

enum { MASK = (1 << 22) - 1, WIDTH = 16 }; /* WIDTH: threads side by side, as a vector has lanes */

/* BODY(out, threads, n, k) for the best instruction set that the host has. */
#if defined __x86_64__
#define FOR_EACH_HOST(name)                                                                        \
    __attribute__((target("avx2,fma"))) static void name##_avx2(unsigned *out, unsigned threads,   \
                                                                unsigned n, unsigned k)            \
    {                                                                                              \
        name##_body(out, threads, n, k);                                                           \
    }                                                                                              \
    __attribute__((target("avx512f,avx512dq,fma"))) static void name##_avx512(                     \
        unsigned *out, unsigned threads, unsigned n, unsigned k)                                   \
    {                                                                                              \
        name##_body(out, threads, n, k);                                                           \
    }                                                                                              \
    void native_##name(unsigned *out, unsigned threads, unsigned n, unsigned k)                    \
    {                                                                                              \
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))               \
            name##_avx512(out, threads, n, k);                                                     \
        else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                  \
            name##_avx2(out, threads, n, k);                                                       \
        else name##_body(out, threads, n, k);                                                      \
    }
#else
#define FOR_EACH_HOST(name)                                                                        \
    void native_##name(unsigned *out, unsigned threads, unsigned n, unsigned k)                    \
    {                                                                                              \
        name##_body(out, threads, n, k);                                                           \
    }
#endif

/* Eight chains of `step` in each thread. */
#define CHAINS(name, type, start, factor, step)                                                    \
    static inline __attribute__((always_inline)) void name##_body(unsigned *out, unsigned threads, \
                                                                  unsigned n, unsigned k)          \
    {                                                                                              \
        const type a = (factor);                                                                   \
        for (unsigned t = 0; t < threads; t += WIDTH) {                                            \
            type x[8][WIDTH], sum[WIDTH] = {0};                                                    \
            for (unsigned c = 0; c < 8; c++)                                                       \
                for (unsigned v = 0; v < WIDTH; v++) x[c][v] = (type)(start);                      \
            for (unsigned i = 0; i < n; i++)                                                       \
                for (unsigned c = 0; c < 8; c++)                                                   \
                    for (unsigned v = 0; v < WIDTH; v++) x[c][v] = (step);                         \
            for (unsigned c = 0; c < 8; c++)                                                       \
                for (unsigned v = 0; v < WIDTH; v++) sum[v] += x[c][v];                            \
            memcpy(out + (t & MASK), sum, WIDTH * sizeof *out);                                    \
        }                                                                                          \
    }                                                                                              \
    FOR_EACH_HOST(name)

CHAINS(int, unsigned, t + v + c, k * 2 + 1, x[c][v] * a + x[c][v])
CHAINS(fma, float, t + v + c, 0.5F + 1.0F / (float)(k + 4), x[c][v] * a + a)
CHAINS(f64, double, t + v + c, 0.5 + 1.0 / (double)(k + 4), x[c][v] * a + a)
CHAINS(convert, unsigned, (t + v + c + k) & 0xffff, 0,
       (unsigned)(int)((float)(int)x[c][v] + (float)(int)a))

void native_sfu(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++) {
        float x[8], sum = 0;
        for (unsigned c = 0; c < 8; c++) x[c] = (float)((t + c + k) & 255) * 0.01F;
        for (unsigned i = 0; i < n; i++)
            for (unsigned c = 0; c < 8; c++) x[c] = sinf(x[c]);
        for (unsigned c = 0; c < 8; c++) sum += x[c];
        memcpy(out + (t & MASK), &sum, sizeof sum);
    }
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

#define OPAQUE(x)                                                                                  \
    __asm__ volatile("" : "+r"(x)) /* the compiler cannot know the value from here on */

static __attribute__((noinline)) unsigned add_one(unsigned x)
{
    OPAQUE(x);
    return x + 1;
}
static __attribute__((noinline)) unsigned add_two(unsigned x)
{
    OPAQUE(x);
    return x + 2;
}
// NOLINTNEXTLINE(misc-no-recursion): recursion is what is measured
static __attribute__((noinline)) unsigned depth(unsigned left)
{
    unsigned below = left > 1 ? depth(left - 1) : 0;
    OPAQUE(below);
    return below + 1;
}

void native_call_direct(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    (void)k;
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = t;
        for (unsigned i = 0; i < n; i++) x = add_one(x);
        out[t & MASK] = x;
    }
}

void native_call_indirect(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    unsigned (*volatile table[2])(unsigned) = {add_one, add_two};
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = t;
        for (unsigned i = 0; i < n; i++) x = table[(i + k) & 1](x);
        out[t & MASK] = x;
    }
}

void native_call_recursive(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = 0;
        for (unsigned i = 0; i < n; i++) x += depth(k);
        out[t & MASK] = x;
    }
}

/* ---- branches -------------------------------------------------------------------------------------------- */

void native_branch(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = t;
        for (unsigned i = 0; i < n; i++)
            if (!((i + k + t) & 1)) {
                OPAQUE(x);
                x = (x + 1) ^ 5;
            }
        out[t & MASK] = x;
    }
}

void native_switch(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    (void)k;
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = t;
        for (unsigned i = 0; i < n; i++) {
            x += (t + i) & 31; /* a compiler makes this of the 32 sides */
            OPAQUE(x);
        }
        out[t & MASK] = x;
    }
}

void native_nested(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = t;
        for (unsigned i = 0; i < n; i++) {
            const unsigned side = t + i * 2 * k;
            if (side & 1) continue;
            if (!(side & 2)) {
                if (!(side & 4)) {
                    x += 1;
                    OPAQUE(x);
                }
                x += 2;
                OPAQUE(x);
            }
            x += 3;
            OPAQUE(x);
        }
        out[t & MASK] = x;
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

void native_coalesced(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    unsigned sum[WIDTH];
    (void)k;
    for (unsigned t = 0; t < threads; t += WIDTH) {
        memset(sum, 0, sizeof sum);
        for (unsigned i = 0; i < n; i++)
            for (unsigned v = 0; v < WIDTH; v++) sum[v] ^= out[(t + v + i * 1024) & MASK];
        memcpy(out + (t & MASK), sum, sizeof sum);
    }
}

void native_strided(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = 0;
        for (unsigned i = 0; i < n; i++) x ^= out[(t * k + i) & MASK];
        out[t & MASK] = x;
    }
}

void native_random(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = 0, at = t + k;
        for (unsigned i = 0; i < n; i++) {
            at = at * 1664525 + 1013904223;
            x ^= out[at >> 10];
        }
        out[t & MASK] = x;
    }
}

void native_shared(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    static unsigned words[1024];
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = 0;
        words[t & 1023] = t;
        for (unsigned i = 0; i < n; i++) x ^= words[(t * k + i) & 1023];
        out[t & MASK] = x;
    }
}

void native_constant(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    static const unsigned words[1024] = {1};
    for (unsigned t = 0; t < threads; t++) {
        unsigned x = 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned at = (i + k) & 1023;
            OPAQUE(at);
            x ^= words[at & 1023];
        }
        out[t & MASK] = x;
    }
}

// NOLINTNEXTLINE(readability-non-const-parameter): the atomics write it
void native_atomic(unsigned *out, unsigned threads, unsigned n, unsigned k)
{
    for (unsigned t = 0; t < threads; t++)
        for (unsigned i = 0; i < n; i++)
            __atomic_fetch_add(&out[k ? t & MASK : 0], i, __ATOMIC_RELAXED);
}
