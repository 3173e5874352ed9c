/* emu/ops/bits.h: integer functions of one lane, defined for any operands, written so that compilers can vectorise
 * loops over them where that is possible. */
#ifndef HEDDLE_EMU_OPS_BITS_H
#define HEDDLE_EMU_OPS_BITS_H

#include "emu/ops/exec.h"

static inline u32 bits_popc32(u32 a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    return ((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
static inline u32 bits_popc64(u64 a)
{
    return bits_popc32((u32)a) + bits_popc32((u32)(a >> 32));
}
/* Sets every bit below the highest one. */
static inline u32 bits_smear32(u32 a)
{
    a |= a >> 1, a |= a >> 2, a |= a >> 4, a |= a >> 8, a |= a >> 16;
    return a;
}
static inline u32 bits_clz32(u32 a)
{
    return 32 - bits_popc32(bits_smear32(a));
}
static inline u32 bits_clz64(u64 a)
{
    u32 high = (u32)(a >> 32), n = bits_clz32(high), low = bits_clz32((u32)a);
    return high ? n : 32 + low;
}
/* The position of the highest set bit, ~0 if there is none. `shift`: return the left shift that moves this bit to the
 * top instead. (bfind of a negative number takes the inverted number.) */
static inline u32 bits_find32(u32 a, u32 shift)
{
    u32 n = bits_clz32(a);
    return a ? shift ? n : 31 - n : ~0u;
}
static inline u32 bits_find64(u64 a, u32 shift)
{
    u32 n = bits_clz64(a);
    return a ? shift ? n : 63 - n : ~0u;
}
static inline u32 bits_brev32(u32 a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
    return a >> 16 | a << 16;
}
static inline u64 bits_brev64(u64 a)
{
    return (u64)bits_brev32((u32)a) << 32 | bits_brev32((u32)(a >> 32));
}

static inline u32 bits_mulhi_u32(u32 a, u32 b)
{
    return (u32)((u64)a * b >> 32);
}
static inline u32 bits_mulhi_s32(i32 a, i32 b)
{
    return (u32)((u64)((i64)a * b) >> 32);
}
static inline u64 bits_mulhi_u64(u64 a, u64 b)
{
    u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    u64 mid = al * bh, low = al * bl, mid2 = ah * bl + (low >> 32) + (u32)mid;
    return ah * bh + (mid >> 32) + (mid2 >> 32);
}
static inline u64 bits_mulhi_s64(i64 a, i64 b)
{
    return bits_mulhi_u64((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0);
}
static inline i32 bits_sat32(i64 x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (i32)x;
}

/* Division. The ISA does not define division by zero. Here the quotient is all ones, and so is the 32-bit remainder:
 * ptxas folds rem.u32 and rem.s32 by zero to 0xffffffff. ptxas does not fold other remainders, which are the dividend
 * here. Quotients of 32 bits are exact in double precision. */
static inline u32 bits_div_u32(u32 a, u32 b)
{
    u32 d = b ? b : 1, q = (u32)(i64)((f64)a / (f64)d);
    return b ? q : ~0u;
}
static inline u32 bits_rem_u32(u32 a, u32 b)
{
    return b ? a - bits_div_u32(a, b) * b : ~0u;
}
static inline u32 bits_div_s32(i32 a, i32 b)
{
    i32 d = b ? b : 1;
    u32 q = (u32)(i64)((f64)a / (f64)d);
    return b ? q : ~0u;
}
static inline u32 bits_rem_s32(i32 a, i32 b)
{
    return b ? (u32)a - bits_div_s32(a, b) * (u32)b : ~0u;
}
static inline u64 bits_div_u64(u64 a, u64 b)
{
    return b ? a / b : ~(u64)0;
}
static inline u64 bits_rem_u64(u64 a, u64 b)
{
    return b ? a % b : a;
}
static inline u64 bits_div_s64(i64 a, i64 b)
{
    return !b ? ~(u64)0 : b == -1 ? -(u64)a : (u64)(a / b);
}
static inline u64 bits_rem_s64(i64 a, i64 b)
{
    return !b ? (u64)a : b == -1 ? 0 : (u64)(a % b);
}
static inline u16 bits_div_u16(u16 a, u16 b)
{
    return (u16)(b ? a / b : 0xffff);
}
static inline u16 bits_div_s16(i16 a, i16 b)
{
    return (u16)(b ? a / b : 0xffff);
}

/* bfe, bfi: position and length are the low bytes of their operands. For bits beyond the register bfe copies the
 * field's sign: the field's highest bit, or the register's highest bit if the field extends beyond the register. */
static inline u64 bits_bfe(u64 a, u32 pos, u32 len, u32 bits, bool sign)
{
    pos &= 0xff, len &= 0xff;
    u32 at = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1,
        have = pos < bits ? bits - pos : 0;
    if (len < have) have = len;
    u64 mask = have >= 64 ? ~(u64)0 : ((u64)1 << have) - 1, field = (a >> (pos & 63)) & mask;
    u64 s = sign && len ? a >> (at & 63) & 1 : 0;
    return s ? field | ~mask : field;
}
static inline u64 bits_bfi(u64 a, u64 b, u32 pos, u32 len, u32 bits)
{
    pos &= 0xff, len &= 0xff;
    u64 mask = pos < bits ? (len >= 64 ? ~(u64)0 : ((u64)1 << len) - 1) << (pos & 63) : 0;
    return (b & ~mask) | (a << (pos & 63) & mask);
}

/* The position of the n-th set bit from `base` on, upwards (offset n > 0) or downwards; offset 0: the bit at `base`
 * itself. */
static inline u32 bits_fns(u32 mask, u32 base, i32 offset)
{
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    u32 count = (offset > 0 ? (u32)offset : -(u32)offset) - 1, found = 0;
    for (u32 pos = base; pos<32; pos += offset> 0 ? 1 : ~0u)
        if (mask >> pos & 1) {
            if (found == count) return pos;
            found++;
        }
    return ~0u;
}
static inline u32 bits_bmsk(u32 a, u32 b, bool clamp)
{
    if (clamp && (a >= 32 || !b)) return 0;
    u32 from = a & 31;
    u64 to = clamp ? (u64)from + b : from + (b & 31);
    return ~0u << from & ~(to >= 32 ? 0 : ~0u << to);
}
static inline u32 bits_szext(u32 a, u32 b, bool clamp, bool sign)
{
    if (!clamp) b &= 31;
    if (b >= 32) return a;
    if (b == 0) return 0;
    u32 mask = (1u << b) - 1;
    return sign && a >> (b - 1) & 1 ? a | ~mask : a & mask;
}
static inline u32 bits_lop3(u32 a, u32 b, u32 c, u32 lut)
{
    u32 r = 0;
    r |= -(lut >> 0 & 1) & ~a & ~b & ~c;
    r |= -(lut >> 1 & 1) & ~a & ~b & c;
    r |= -(lut >> 2 & 1) & ~a & b & ~c;
    r |= -(lut >> 3 & 1) & ~a & b & c;
    r |= -(lut >> 4 & 1) & a & ~b & ~c;
    r |= -(lut >> 5 & 1) & a & ~b & c;
    r |= -(lut >> 6 & 1) & a & b & ~c;
    r |= -(lut >> 7 & 1) & a & b & c;
    return r;
}
/* One byte of a prmt: the selector's low three bits choose a byte of b:a, the fourth bit replicates its sign. */
static inline u32 bits_prmt1(u64 ba, u32 selector)
{
    u32 byte = (u32)(ba >> (selector & 7) * 8) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xffu : 0) : byte;
}
static inline u32 bits_prmt(u32 a, u32 b, u32 c)
{
    u64 ba = (u64)b << 32 | a;
    return bits_prmt1(ba, c) | bits_prmt1(ba, c >> 4) << 8 | bits_prmt1(ba, c >> 8) << 16 |
           bits_prmt1(ba, c >> 12) << 24;
}
/* The selector for a mode and the low two bits of c. */
static inline u32 bits_prmt_mode(u32 mode, u32 c)
{
    static const u16 table[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    return table[mode][c & 3];
}
static inline u32 bits_dp4a(u32 a, u32 b, u32 c, bool sa, bool sb)
{
    for (u32 i = 0; i < 32; i += 8) {
        i32 x = (i32)(a >> i & 0xff), y = (i32)(b >> i & 0xff);
        if (sa && x > 127) x -= 256;
        if (sb && y > 127) y -= 256;
        c += (u32)(x * y);
    }
    return c;
}
static inline u32 bits_dp2a(u32 a, u32 b, u32 c, bool sa, bool sb, bool high)
{
    b = high ? b >> 16 : b;
    for (u32 i = 0; i < 2; i++) {
        i32 x = (i32)(a >> 16 * i & 0xffff), y = (i32)(b >> 8 * i & 0xff);
        if (sa && x > 32767) x -= 65536;
        if (sb && y > 127) y -= 256;
        c += (u32)(x * y);
    }
    return c;
}

/* Two halves at once. */
#define BITS_HALVES(name, T, expr)                                                                 \
    static inline u32 bits_##name(u32 p, u32 q)                                                    \
    {                                                                                              \
        u32 r = 0;                                                                                 \
        for (u32 i = 0; i < 32; i += 16) {                                                         \
            const T a = (T)(u16)(p >> i & 0xffff), b = (T)(u16)(q >> i & 0xffff);                  \
            r |= (u32)(u16)(expr) << i;                                                            \
        }                                                                                          \
        return r;                                                                                  \
    }
BITS_HALVES(add_x2, u16, a + b)
BITS_HALVES(min_u16x2, u16, a < b ? a : b)
BITS_HALVES(max_u16x2, u16, a > b ? a : b)
BITS_HALVES(min_s16x2, i16, a < b ? a : b)
BITS_HALVES(max_s16x2, i16, a > b ? a : b)
BITS_HALVES(min_relu_s16x2, i16, a < b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
BITS_HALVES(max_relu_s16x2, i16, a > b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
#undef BITS_HALVES

#endif
