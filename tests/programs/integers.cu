// Integer intrinsics, video instructions, vector types, bit fields, unions, 128-bit integers.
#include "self.cuh"
#include <cstdint>

enum { EACH = 24 };

__global__ void all(const unsigned *a, const unsigned *b, uint64_t *out)
{
    const int i = threadIdx.x;
    const unsigned x = a[i], y = b[i];
    const uint64_t wide = (uint64_t)x << 32 | y;
    const unsigned __int128 square = (unsigned __int128)wide * wide;
    uint64_t *to = out + EACH * i;
    to[0] = __clz(x) | __clzll(wide) << 8;
    to[1] = __popc(x) | __popcll(wide) << 8;
    to[2] = __ffs(x) | __ffsll(wide) << 8;
    to[3] = __brev(x);
    to[4] = __brevll(wide);
    to[5] = __byte_perm(x, y, 0x3715);
    to[6] = __umulhi(x, y);
    to[7] = __umul64hi(wide, ~wide);
    to[8] = __mul24((int)x, (int)y) & 0xffffffff;
    to[9] = __umul24(x, y);
    to[10] = __sad((int)x, (int)y, 5u);
    to[11] = __hadd((int)x, (int)y) & 0xffffffff;
    to[12] = __uhadd(x, y);
    to[13] = __funnelshift_l(x, y, i);
    to[14] = __funnelshift_rc(x, y, i);
    to[15] = __vadd4(x, y);
    to[16] = __vmaxs2(x, y);
    to[17] = __vabsdiffu4(x, y);
    to[18] = __dp4a((int)x, (int)y, 7) & 0xffffffff;
    to[19] = (uint64_t)(square >> 64);
    to[20] = (uint64_t)(square / (y | 1));
    to[21] = wide % (x | 1);
    to[22] = __vcmpgtu4(x, y);
    to[23] = __usad(x, y, 1u);
}

static unsigned bytes(unsigned x, unsigned y, unsigned (*f)(unsigned, unsigned))
{
    unsigned out = 0;
    for (int k = 0; k < 32; k += 8) out |= (f(x >> k & 255, y >> k & 255) & 255) << k;
    return out;
}

struct fields {
    unsigned a : 5, b : 11;
    int c : 7;
    uint64_t d : 33;
};
union both {
    float4 f;
    int i[4];
    double d[2];
};

__global__ void packed(fields *f, both *u, longlong2 *l, char3 *c)
{
    if (threadIdx.x == 0) {
        f->a = 33, f->b = f->a + 2000, f->c = -3, f->d = 1ull << 32 | 7;
        u->f = make_float4(1, 2, 3, 4);
        u->i[2] = 5;
        *l = make_longlong2(-1, 1ll << 40);
    }
    c[threadIdx.x + 1] = make_char3(1, -2, 3);
}

int main()
{
    const int n = 64;
    std::vector<unsigned> a(n), b(n);
    for (int i = 0; i < n; i++) a[i] = draw(i) >> i % 20, b[i] = draw(i + 300);
    a[0] = 0;
    room<unsigned> x(a), y(b);
    room<uint64_t> out(n * EACH);
    all<<<1, n>>>(x, y, out);
    const std::vector<uint64_t> got = out.get();
    for (int i = 0; i < n; i++) {
        const unsigned p = a[i], q = b[i];
        const uint64_t wide = (uint64_t)p << 32 | q, pair = (uint64_t)q << 32 | p;
        const unsigned __int128 square = (unsigned __int128)wide * wide;
        unsigned turned = 0, shuffled = 0, most = 0;
        uint64_t turned64 = 0;
        for (int k = 0; k < 32; k++) turned |= (p >> k & 1) << (31 - k);
        for (int k = 0; k < 64; k++) turned64 |= (wide >> k & 1) << (63 - k);
        for (int k = 0; k < 4; k++) shuffled |= (unsigned)(pair >> (0x3715 >> 4 * k & 7) * 8 & 255) << 8 * k;
        for (int k = 0; k < 32; k += 16) most |= (unsigned)(uint16_t)std::max((int16_t)(p >> k), (int16_t)(q >> k)) << k;
        int dot = 7;
        for (int k = 0; k < 32; k += 8) dot += (int8_t)(p >> k) * (int8_t)(q >> k);
        const auto s24 = [](unsigned v) { return (int)(v << 8) >> 8; };
        const int64_t ps = (int)p, qs = (int)q;
        const uint64_t want[EACH] = {
            (uint64_t)((p ? __builtin_clz(p) : 32) | (wide ? __builtin_clzll(wide) : 64) << 8),
            (uint64_t)(__builtin_popcount(p) | __builtin_popcountll(wide) << 8),
            (uint64_t)(__builtin_ffs(p) | __builtin_ffsll(wide) << 8),
            turned,
            turned64,
            shuffled,
            (uint64_t)p * q >> 32,
            (uint64_t)((unsigned __int128)wide * ~wide >> 64),
            (unsigned)((uint64_t)((int64_t)s24(p) * s24(q))),
            (unsigned)((uint64_t)(p & 0xffffff) * (q & 0xffffff)),
            (unsigned)(std::llabs(ps - qs) + 5),
            (unsigned)((ps + qs) >> 1),
            (unsigned)(((uint64_t)p + q) >> 1),
            (unsigned)((pair << (i & 31)) >> 32),
            i < 32 ? (unsigned)(pair >> i) : q,
            bytes(p, q, [](unsigned u, unsigned v) { return u + v; }),
            most,
            bytes(p, q, [](unsigned u, unsigned v) { return u > v ? u - v : v - u; }),
            (unsigned)dot,
            (uint64_t)(square >> 64),
            (uint64_t)(square / (q | 1)),
            wide % (p | 1),
            bytes(p, q, [](unsigned u, unsigned v) { return u > v ? 255u : 0u; }),
            (p > q ? p - q : q - p) + 1};
        for (int k = 0; k < EACH; k++) check(got[EACH * i + k] == want[k], "integers", k);
    }
    room<fields> f(1);
    room<both> u(1);
    room<longlong2> l(1);
    room<char3> c(3);
    packed<<<1, 2>>>(f, u, l, c);
    const fields g = f.get()[0];
    CHECK(g.a == 1 && g.b == 2001 && g.c == -3 && g.d == (1ull << 32 | 7));
    CHECK(u.get()[0].f.y == 2 && u.get()[0].i[2] == 5 && u.get()[0].f.w == 4);
    CHECK(l.get()[0].x == -1 && l.get()[0].y == 1ll << 40);
    CHECK(c.get()[0].x == 0 && c.get()[2].y == -2 && c.get()[1].z == 3);
    return verdict();
}
