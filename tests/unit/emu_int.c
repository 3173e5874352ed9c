/* Integers, bits, logic, comparison and moves: every spelling of every form of ptx/isa_arith.def on edge values,
 * against plain references on 128-bit integers and the pseudo-code of the PTX ISA. A form that has no
 * reference here makes the test fail. */
#include "tests/support/batch.h"
#include "tests/support/forms.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
typedef __int128 wide;
typedef unsigned __int128 uwide;

/* Edges at 16, 32 and 64 bits at once: also the low parts of most are edges. */
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 5,
                                 31,
                                 32,
                                 33,
                                 64,
                                 0xff,
                                 0x100,
                                 0x7fff,
                                 0x8000,
                                 0x8001,
                                 0xffff,
                                 0x10000,
                                 0x7fffff80,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0x8000000080008000,
                                 0xfffffffffffffffe,
                                 0xffffffffffffffff,
                                 0x0123456789abcdef};

/* An instruction as it was spelled. */
struct spelled {
    char opcode[96];
    unsigned type[4];
    bool has_constant; /* the second source is this constant */
    uint64_t constant;
    int carry; /* -1: word 3 is not 0 */
    batch_ref *ref;
};

static bool has(const struct spelled *s, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = s->opcode; (p = strstr(p, word)); p++)
        if (p > s->opcode && p[-1] == '.' && (p[n] == '.' || !p[n])) return true;
    return false;
}

static bool is_signed(unsigned type)
{
    return ptx_types[type].kind == PTX_SINT;
}
static wide value(unsigned type, uint64_t word)
{
    unsigned bits = ptx_types[type].bits;
    if (bits > 64) bits = 64;
    uint64_t low = bits == 64 ? word : word & (((uint64_t)1 << bits) - 1);
    return is_signed(type) && low >> (bits - 1) & 1 ? (wide)low - ((wide)1 << bits) : (wide)low;
}
static uint64_t cut(unsigned type, wide v)
{
    unsigned bits = ptx_types[type].bits;
    return bits == 64 ? (uint64_t)v : (uint64_t)v & (((uint64_t)1 << bits) - 1);
}
static wide clamp(wide v, wide least, wide most)
{
    return v < least ? least : v > most ? most : v;
}
#define S32(v) (clamp((v), INT32_MIN, INT32_MAX))

/* What a reference begins with: the spelling s, its type t, and the operands as numbers. */
#define REF(name)                                                                                  \
    static uint64_t name(const struct batch_case *c, const uint64_t *in)                           \
    {                                                                                              \
        const struct spelled *s = c->about;                                                        \
        const unsigned t = s->type[0];                                                             \
        const wide x = value(t, in[0]), y = value(t, in[1]), z = value(t, in[2]);                  \
        const uint32_t u = (uint32_t)in[0], v = (uint32_t)in[1], w = (uint32_t)in[2];              \
        (void)t, (void)x, (void)y, (void)z, (void)u, (void)v, (void)w;
#define END }
#define SIMPLE(name, expression)                                                                   \
    REF(name) return cut(t, (expression));                                                         \
    END

static int carry_of(const struct spelled *s, const uint64_t *in)
{
    return s->carry < 0 ? (uint32_t)in[2] != 0 : s->carry;
}

/* ---- arithmetic ------------------------------------------------------------------------------------ */

SIMPLE(add, has(s, "sat") ? S32(x + y) : x + y)
SIMPLE(sub, has(s, "sat") ? S32(x - y) : x - y)
SIMPLE(mul_lo, (wide)((uwide)x *(uwide)y))

/* The product's high half, also of 64-bit numbers, whose product fits 128 bits exactly. */
static wide high(unsigned t, uint64_t a, uint64_t b)
{
    unsigned bits = ptx_types[t].bits;
    if (is_signed(t)) return value(t, a) * value(t, b) >> bits;
    return (wide)((uwide)value(t, a) * (uwide)value(t, b) >> bits);
}
SIMPLE(mul_hi, high(t, in[0], in[1]))
SIMPLE(mad_lo, (wide)((uwide)x *(uwide)y + (uwide)z))
SIMPLE(mad_hi, has(s, "sat") ? S32(high(t, in[0], in[1]) + z) : high(t, in[0], in[1]) + z)
REF(mul_wide)
return ptx_types[t].bits == 16 ? (uint32_t)(x * y) : (uint64_t)(x * y);
END REF(mad_wide) return ptx_types[t].bits == 16 ? (uint32_t)(x * y + w)
                                                 : (uint64_t)(x * y + (wide)in[2]);
END

    /* 24 bits of each operand; .hi is bits 47..16 of the product, .lo bits 31..0. */
    static wide
    product24(unsigned t, uint64_t a, uint64_t b)
{
    wide p = (wide)(a & 0xffffff), q = (wide)(b & 0xffffff);
    if (is_signed(t)) {
        if (p >> 23) p -= 1 << 24;
        if (q >> 23) q -= 1 << 24;
    }
    return p * q;
}
/* bits 47..16 as a number of the type */
static wide high24(unsigned t, uint64_t a, uint64_t b)
{
    return value(t, (uint64_t)(product24(t, a, b) >> 16));
}
SIMPLE(mul24_lo, product24(t, in[0], in[1]))
SIMPLE(mul24_hi, high24(t, in[0], in[1]))
SIMPLE(mad24_lo, product24(t, in[0], in[1]) + z)
SIMPLE(mad24_hi, has(s, "sat") ? S32(high24(t, in[0], in[1]) + z) : high24(t, in[0], in[1]) + z)

static wide element(unsigned type, uint32_t x, unsigned at, unsigned bits)
{
    wide e = x >> at & ((1u << bits) - 1);
    return is_signed(type) && e >> (bits - 1) ? e - ((wide)1 << bits) : e;
}
REF(dp4a)
wide sum = w;
for (unsigned i = 0; i < 32; i += 8) sum += element(t, u, i, 8) * element(s->type[1], v, i, 8);
return (uint32_t)sum;
END REF(dp2a)
wide sum = w;
unsigned from = strncmp(s->opcode, "dp2a.hi", 7) == 0 ? 16 : 0;
for (unsigned i = 0; i < 2; i++)
    sum += element(t, u, 16 * i, 16) * element(s->type[1], v, from + 8 * i, 8);
return (uint32_t)sum;
END

    SIMPLE(sad, z + (x < y ? y - x : x - y))
    /* By zero, which the ISA leaves open, a quotient is all ones, and so is a remainder of 32 bits: ptxas makes the same
     * code of rem.u32 x, y, 0 and mov.u32 x, -1. Other remainders are the dividend. */
    SIMPLE(divide, y == 0 ? -1 : x / y) SIMPLE(rest, y != 0                    ? x % y
                                                     : ptx_types[t].bits == 32 ? -1
                                                                               : x)
        SIMPLE(absolute, x < 0 ? -x : x) SIMPLE(negative, -x)
            SIMPLE(least, has(s, "relu") && (x < y ? x : y) < 0 ? 0
                          : x < y                               ? x
                                  : y) SIMPLE(most, has(s, "relu") && (x > y ? x : y) < 0 ? 0
                                                    : x > y                               ? x
                                                                                          : y)

                REF(pairs) uint32_t r = 0;
unsigned e = t == PTX_s16x2 ? PTX_s16 : PTX_u16;
for (unsigned i = 0; i < 32; i += 16) {
    wide a = element(e, u, i, 16), b = element(e, v, i, 16), d = a + b;
    if (strncmp(s->opcode, "min", 3) == 0) d = a < b ? a : b;
    if (strncmp(s->opcode, "max", 3) == 0) d = a > b ? a : b;
    if (has(s, "relu") && d < 0) d = 0;
    r |= (uint32_t)cut(PTX_u16, d) << i;
}
return r;
END

    /* ---- carry ------------------------------------------------------------------------------------------ */

    /* The result before it is cut, of unsigned operands for the flag. */
    static wide
    chained(const struct spelled *s, const uint64_t *in, bool for_flag)
{
    unsigned t = s->type[0], bits = ptx_types[t].bits;
    const char *p = s->opcode;
    /* addc subc madc; a difference is a + ~b + carry, so that it carries where it does not borrow */
    int carry = p[3] == 'c' ? carry_of(s, in) : p[0] == 's';
#define OPERAND(k) (for_flag ? (wide)cut(t, (wide)in[k]) : value(t, in[k]))
    if (p[0] == 'a') return OPERAND(0) + OPERAND(1) + carry;
    if (p[0] == 's') return OPERAND(0) - OPERAND(1) - !carry;
    wide part = strstr(p, ".hi") ? high(t, in[0], in[1])
                                 : (wide)((uwide)value(t, in[0]) * (uwide)value(t, in[1]));
    if (for_flag) part = (wide)cut(t, part);
    else part = value(t, (uint64_t)part);
    (void)bits;
    return part + OPERAND(2) + carry;
#undef OPERAND
}
REF(with_carry)
wide r = chained(s, in, false);
return cut(t, has(s, "sat") ? S32(r) : r);
END REF(carry_out)
wide r = chained(s, in, true);
return s->opcode[0] == 's' ? r >= 0 : r >> ptx_types[t].bits ? 1 : 0;
END

/* ---- bits -------------------------------------------------------------------------------------------- */

REF(popc)
unsigned n = 0;
for (uint64_t m = cut(t, x); m; m /= 2) n += m % 2;
return n;
END REF(clz)
unsigned n = ptx_types[t].bits;
for (uint64_t m = cut(t, x); m; m /= 2) n--;
return n;
END REF(bfind)
wide a = x < 0 ? ~x : x;
uint32_t d = UINT32_MAX, msb = ptx_types[t].bits - 1;
for (uint32_t i = 0; i <= msb; i++)
    if (a >> i & 1) d = i;
return d != UINT32_MAX && has(s, "shiftamt") ? msb - d : d;
END REF(fns)
int32_t pos = (int32_t)v, offset = (int32_t)w;
if (v > 31) return UINT32_MAX; /* the ISA leaves it open */
if (offset == 0) return u >> pos & 1 ? (uint32_t)pos : UINT32_MAX;
int64_t left = (offset < 0 ? -(int64_t)offset : offset) - 1;
for (; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
    if (u >> pos & 1 && left-- == 0) return (uint32_t)pos;
return UINT32_MAX;
END REF(brev)
uint64_t d = 0;
unsigned bits = ptx_types[t].bits;
for (unsigned i = 0; i < bits; i++) d |= (in[0] >> i & 1) << (bits - 1 - i);
return d;
END REF(bfe)
unsigned msb = ptx_types[t].bits - 1u, pos = in[1] & 0xff, len = in[2] & 0xff;
unsigned at = pos + len - 1 < msb ? pos + len - 1 : msb;
uint64_t sign = is_signed(t) && len ? in[0] >> at & 1 : 0, d = 0;
for (unsigned i = 0; i <= msb; i++)
    d |= (i < len && pos + i <= msb ? in[0] >> (pos + i) & 1 : sign) << i;
return d;
END REF(bfi) /* place and length are bytes of word 3 */
unsigned msb = ptx_types[t].bits - 1u, pos = w & 0xff, len = w >> 8 & 0xff;
uint64_t f = cut(t, y);
for (unsigned i = 0; i < len && pos + i <= msb; i++) {
    f &= ~((uint64_t)1 << (pos + i));
    f |= (in[0] >> i & 1) << (pos + i);
}
return f;
END REF(bmsk)
uint32_t from = u & 31, d = 0;
uint64_t width = v & 31;
if (has(s, "clamp")) {
    if (u >= 32) return 0;
    width = v;
}
for (uint32_t i = from; i < 32 && i < from + width; i++) d |= 1u << i;
return d;
END REF(szext)
uint32_t n = has(s, "wrap") ? v & 31 : v, d = 0;
for (uint32_t i = 0; i < 32; i++)
    d |= (i < n ? u >> i & 1 : t == PTX_s32 && n ? u >> (n - 1) & 1 : 0) << i;
return d;
END

/* ---- logic and shifts ----------------------------------------------------------------------------------- */

SIMPLE(conjunction, x &y) SIMPLE(disjunction, x | y) SIMPLE(difference, x ^ y) SIMPLE(inverse, ~x)
    SIMPLE(cnot, x == 0) SIMPLE(shl, v >= ptx_types[t].bits ? 0 : x << v)
        SIMPLE(shr, x >> (v >= 64 ? 64 : v))

            REF(lop3) uint32_t d = 0;
for (int i = 0; i < 32; i++)
    d |= ((uint32_t)s->constant >> ((u >> i & 1) << 2 | (v >> i & 1) << 1 | (w >> i & 1)) & 1) << i;
return d;
END static bool above_zero(uint32_t w) /* %p1: word 3 as an f32 is greater than 0 */
{
    return w >= 1 && w <= 0x7f800000;
}
REF(lop3_bool)
uint32_t d = (uint32_t)lop3(c, in);
bool p = has(s, "and") ? d != 0 && above_zero(w) : d != 0 || above_zero(w);
return c->out == 'p' ? p : d;
END REF(shf)
uint64_t both = (uint64_t)v << 32 | u;
uint32_t n = has(s, "wrap") ? w & 31 : w > 32 ? 32 : w;
return strncmp(s->opcode, "shf.l", 5) == 0 ? (uint32_t)((uwide)both << n >> 32)
                                           : (uint32_t)(both >> n);
END REF(prmt) static const char modes[][5] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
/* by the low bits of c, the bytes of the result from the highest */
static const char picks[][4][5] = {
    {"3210", "4321", "5432", "6543"}, {"5670", "6701", "7012", "0123"},
    {"0000", "1111", "2222", "3333"}, {"3210", "3211", "3222", "3333"},
    {"0000", "1110", "2210", "3210"}, {"1010", "3232", "1010", "3232"}};
uint8_t bytes[8];
for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((i < 4 ? u : v) >> i % 4 * 8);
uint32_t d = 0;
for (unsigned i = 0; i < 4; i++) {
    uint32_t select = w >> 4 * i & 15, byte = bytes[select & 7];
    if (select & 8) byte = byte & 0x80 ? 0xff : 0;
    for (size_t m = 0; m < COUNT(modes); m++)
        if (has(s, modes[m])) byte = bytes[picks[m][w & 3][3 - i] - '0'];
    d |= byte << 8 * i;
}
return d;
END

    /* ---- comparison ------------------------------------------------------------------------------------------ */

    static bool
    compare(const struct spelled *s, unsigned t, const uint64_t *in)
{
    wide a = value(t, in[0]), b = value(t, in[1]);
    if (has(s, "eq")) return a == b;
    if (has(s, "ne")) return a != b;
    if (has(s, "lt") || has(s, "lo")) return a < b;
    if (has(s, "le") || has(s, "ls")) return a <= b;
    if (has(s, "gt") || has(s, "hi")) return a > b;
    return a >= b;
}
static bool with_predicate(const struct spelled *s, bool t, uint32_t w)
{
    bool p = above_zero(w);
    return has(s, "and") ? t && p : has(s, "or") ? t || p : has(s, "xor") ? t != p : t;
}
REF(setp)
bool holds = compare(s, t, in);
uint64_t p = with_predicate(s, holds, w), q = with_predicate(s, !holds, w);
return c->out == 'q' ? p | q << 32 : p;
END REF(set) if (!with_predicate(s, compare(s, s->type[1], in), w)) return 0;
switch (t) {
case PTX_f32: return 0x3f800000;
case PTX_f16: return 0x3c00;
case PTX_bf16: return 0x3f80;
default: return UINT32_MAX;
}
END
    /* The same of a bit pattern of any type. */
    static uint64_t
    bits_of(unsigned t, uint64_t word)
{
    unsigned bits = ptx_types[t].bits;
    return bits == 64 ? word : word & (((uint64_t)1 << bits) - 1);
}
REF(selp)
return bits_of(t, above_zero(w) ? in[0] : in[1]);
END REF(slct) return bits_of(t, (int32_t)w >= 0 ? in[0] : in[1]);
END REF(slct_f32)
uint32_t magnitude = w & 0x7fffffff;
bool is_nan = magnitude > 0x7f800000, flushed = has(s, "ftz") && magnitude < 0x800000;
bool at_least_0 = !is_nan && (!(w >> 31) || !magnitude || flushed);
return bits_of(t, at_least_0 ? in[0] : in[1]);
END

    /* ---- moves -------------------------------------------------------------------------------------------------- */

    REF(same) return bits_of(t, in[0]);
END REF(predicate) return above_zero(w);
END REF(of_predicates) /* %po was word 1 not 0 */
    bool a = u != 0,
         b = above_zero(w);
return has(s, "pred") && s->opcode[0] == 'a' ? a && b
       : s->opcode[0] == 'o'                 ? a || b
       : s->opcode[0] == 'x'                 ? a != b
                                             : !b;
END

/* x: bits of a part, y: how many; the words taken are 1, 2, 3, 1. */
REF(packed)
uint64_t r = 0;
for (int i = 0; i < c->y; i++) {
    uint64_t part = in[i % 3];
    if (c->x < 64) part &= ((uint64_t)1 << c->x) - 1;
    if (c->x * i < 64) r |= part << c->x * i;
}
return r;
END
        /* x: bits of a part, y: which one is looked at */
        REF(unpacked) return in[0] >>
    c->x * c->y &(((uint64_t)1 << c->x) - 1);
END
/* of a b128 made of words 1 and 2 */
REF(unpacked128)
uint64_t half = in[c->x * c->y / 64];
return c->x == 64 ? half : half >> c->x * c->y % 64 & UINT32_MAX;
END REF(word) return bits_of(t, in[c->y]);
END

    /* ---- the forms ----------------------------------------------------------------------------------------------- */

    /* How operands are written. `=T` is the result and T1 T2 T3 are sources, in a register of word 1, 2, 3; T is the
 * opcode's first type, S its second, W the first at twice its width, u a .u32, p the predicate %p1. */
    static const struct family {
    enum ptx_form form;
    const char *operands;
    batch_ref *ref;
} families[] = {
    {PTX_F_add_int, "=T, T1, T2", add},
    {PTX_F_add_sat, "=T, T1, T2", add},
    {PTX_F_add_x2, "=u, u1, u2", pairs},
    {PTX_F_sub_int, "=T, T1, T2", sub},
    {PTX_F_sub_sat, "=T, T1, T2", sub},
    {PTX_F_mul_hi, "=T, T1, T2", mul_hi},
    {PTX_F_mul_lo, "=T, T1, T2", mul_lo},
    {PTX_F_mul_wide, "=W, T1, T2", mul_wide},
    {PTX_F_mad_hi, "=T, T1, T2, T3", mad_hi},
    {PTX_F_mad_hi_sat, "=T, T1, T2, T3", mad_hi},
    {PTX_F_mad_lo, "=T, T1, T2, T3", mad_lo},
    {PTX_F_mad_wide, "=W, T1, T2, W3", mad_wide},
    {PTX_F_mul24_hi, "=T, T1, T2", mul24_hi},
    {PTX_F_mul24_lo, "=T, T1, T2", mul24_lo},
    {PTX_F_mad24_hi, "=T, T1, T2, T3", mad24_hi},
    {PTX_F_mad24_his, "=T, T1, T2, T3", mad24_hi},
    {PTX_F_mad24_lo, "=T, T1, T2, T3", mad24_lo},
    {PTX_F_dp4a, "=u, u1, u2, u3", dp4a},
    {PTX_F_dp2a_lo, "=u, u1, u2, u3", dp2a},
    {PTX_F_dp2a_hi, "=u, u1, u2, u3", dp2a},
    {PTX_F_add_cc, "=T, T1, T2", with_carry},
    {PTX_F_addc, "=T, T1, T2", with_carry},
    {PTX_F_addc_sat, "=T, T1, T2", with_carry},
    {PTX_F_addc_cc, "=T, T1, T2", with_carry},
    {PTX_F_sub_cc, "=T, T1, T2", with_carry},
    {PTX_F_subc, "=T, T1, T2", with_carry},
    {PTX_F_subc_sat, "=T, T1, T2", with_carry},
    {PTX_F_subc_cc, "=T, T1, T2", with_carry},
    {PTX_F_mad_hi_cc, "=T, T1, T2, T3", with_carry},
    {PTX_F_mad_lo_cc, "=T, T1, T2, T3", with_carry},
    {PTX_F_madc_hi, "=T, T1, T2, T3", with_carry},
    {PTX_F_madc_hi_sat, "=T, T1, T2, T3", with_carry},
    {PTX_F_madc_lo, "=T, T1, T2, T3", with_carry},
    {PTX_F_madc_hi_cc, "=T, T1, T2, T3", with_carry},
    {PTX_F_madc_lo_cc, "=T, T1, T2, T3", with_carry},
    {PTX_F_sad, "=T, T1, T2, T3", sad},
    {PTX_F_div_int, "=T, T1, T2", divide},
    {PTX_F_rem, "=T, T1, T2", rest},
    {PTX_F_abs_int, "=T, T1", absolute},
    {PTX_F_neg_int, "=T, T1", negative},
    {PTX_F_min_int, "=T, T1, T2", least},
    {PTX_F_min_relu, "=T, T1, T2", least},
    {PTX_F_min_x2, "=u, u1, u2", pairs},
    {PTX_F_min_x2_relu, "=u, u1, u2", pairs},
    {PTX_F_max_int, "=T, T1, T2", most},
    {PTX_F_max_relu, "=T, T1, T2", most},
    {PTX_F_max_x2, "=u, u1, u2", pairs},
    {PTX_F_max_x2_relu, "=u, u1, u2", pairs},
    {PTX_F_popc, "=u, T1", popc},
    {PTX_F_clz, "=u, T1", clz},
    {PTX_F_bfind, "=u, T1", bfind},
    {PTX_F_fns, "=T, T1, T2, T3", fns},
    {PTX_F_brev, "=T, T1", brev},
    {PTX_F_bfe, "=T, T1, u2, u3", bfe},
    {PTX_F_bfi, "=T, T1, T2, u3, %len", bfi},
    {PTX_F_bmsk, "=u, u1, u2", bmsk},
    {PTX_F_szext, "=u, u1, u2", szext},
    {PTX_F_and, "=T, T1, T2", conjunction},
    {PTX_F_or, "=T, T1, T2", disjunction},
    {PTX_F_xor, "=T, T1, T2", difference},
    {PTX_F_not, "=T, T1", inverse},
    {PTX_F_cnot, "=T, T1", cnot},
    {PTX_F_lop3, "=u, u1, u2, u3, lut", lop3},
    {PTX_F_lop3_bool, "%ro|%po, u1, u2, u3, lut, %p1", lop3_bool},
    {PTX_F_shf_l, "=u, u1, u2, u3", shf},
    {PTX_F_shf_r, "=u, u1, u2, u3", shf},
    {PTX_F_shl, "=T, T1, u2", shl},
    {PTX_F_shr, "=T, T1, u2", shr},
    {PTX_F_prmt, "=u, u1, u2, u3", prmt},
    {PTX_F_setp_u, "%po, T1, T2", setp},
    {PTX_F_setp_s, "%po, T1, T2", setp},
    {PTX_F_setp_b, "%po, T1, T2", setp},
    {PTX_F_set_u, "=T, S1, S2", set},
    {PTX_F_set_s, "=T, S1, S2", set},
    {PTX_F_set_b, "=T, S1, S2", set},
    {PTX_F_setb_u, "=T, S1, S2", set},
    {PTX_F_setb_s, "=T, S1, S2", set},
    {PTX_F_setb_b, "=T, S1, S2", set},
    {PTX_F_selp, "=T, T1, T2, %p1", selp},
    {PTX_F_slct, "=T, T1, T2, u3", slct},
    {PTX_F_slct_f32, "=T, T1, T2, %f3", slct_f32},
    {PTX_F_mov, "=T, T1", same},
    {PTX_F_mov_f, "=T, T1", same},
    {PTX_F_mov_pred, "%po, %p1", predicate},
    {PTX_F_mov_b128, "b128", unpacked128},
    {PTX_F_pack16, "pack", packed},
    {PTX_F_pack32_2, "pack", packed},
    {PTX_F_pack32_4, "pack", packed},
    {PTX_F_pack64_2, "pack", packed},
    {PTX_F_pack64_4, "pack", packed},
    {PTX_F_pack128_2, "b128", unpacked128},
    {PTX_F_pack128_4, "b128", unpacked128},
    {PTX_F_unpack16, "unpack", unpacked},
    {PTX_F_unpack32_2, "unpack", unpacked},
    {PTX_F_unpack32_4, "unpack", unpacked},
    {PTX_F_unpack64_2, "unpack", unpacked},
    {PTX_F_unpack64_4, "unpack", unpacked},
    {PTX_F_unpack128_2, "b128", unpacked128},
    {PTX_F_unpack128_4, "b128", unpacked128},
    {PTX_F_mov_vec, "vector", word},
    {PTX_F_mov_vec_f, "vector", word},
};

static const struct family *family_of(size_t form)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (families[i].form == (enum ptx_form)form) return &families[i];
    return NULL;
}

Test(emu_int, every_form_has_a_reference)
{
    static const char *const moves[] = {"mov", "pack", "unpack"}; /* not movmatrix */
    for (size_t f = 0; f < PTX_FORM_COUNT; f++) {
        const struct ptx_form_info *i = &ptx_forms[f];
        bool ours = i->unit == PTX_UNIT_IALU || i->unit == PTX_UNIT_IMUL ||
                    i->unit == PTX_UNIT_IDIV;
        for (size_t k = 0; k < COUNT(moves); k++)
            ours |= strncmp(i->id, moves[k], strlen(moves[k])) == 0 && i->id[3] != 'm';
        cr_expect(!ours || i->refused || family_of(f), "%s: '%s%s' is not tested here", i->id,
                  i->name, i->mods);
    }
}

/* The register kind of tests/support/batch.h for a type. */
static char kind_of(unsigned type)
{
    if (type == PTX_f32) return 'f';
    if (type == PTX_f64) return 'd';
    if (type == PTX_pred) return 'p';
    switch (ptx_types[type].bits) {
    case 8: return 'c';
    case 16: return 'h';
    case 64: return 'l';
    default: return 'r';
    }
}
static char wider(char kind)
{
    return kind == 'h' ? 'r' : 'l';
}

/* Operands as the template says; `constant`: what stands for the second source, NULL: its register. Returns the
 * kind of result. */
static char write_operands(char *to, const struct spelled *s, const char *operands,
                           const char *constant)
{
    char out = 'p';
    *to = 0;
    for (const char *p = operands; *p; p++) {
        char k = *p == '=' ? p[1] : *p;
        bool digit = p[1] >= '1' && p[1] <= '3';
        char kind = k == 'T'   ? kind_of(s->type[0])
                    : k == 'S' ? kind_of(s->type[1])
                    : k == 'W' ? wider(kind_of(s->type[0]))
                               : 'r';
        to += strlen(to);
        if (*p == '=') {
            out = kind;
            sprintf(to, "%%%co", kind);
            p++;
        } else if (*p == '%') { /* as it stands */
            while (*p && !strchr(",| ", *p)) *to++ = *p++;
            *to = 0;
            p--;
        } else if (digit) {
            if (p[1] == '2' && constant) sprintf(to, "%s", constant);
            else sprintf(to, "%%%c%c", kind, p[1]);
            p++;
        } else {
            to[0] = *p, to[1] = 0;
        }
    }
    return out;
}

struct building {
    struct batch *batch;
    const struct family *family;
    const char *target;
};

static struct spelled *keep(const struct spelled *s)
{
    struct spelled *k = malloc(sizeof *k);
    *k = *s;
    return k;
}

/* With a constant the word of the row is not what the instruction sees. */
static uint64_t with_constant(const struct batch_case *c, const uint64_t *in)
{
    const struct spelled *s = c->about;
    return s->ref(c, s->has_constant ? (uint64_t[]){in[0], s->constant, in[2]} : in);
}

static void add_text(struct batch *b, char out, const struct spelled *s, int x, int y,
                     const char *before, const char *operands, const char *after)
{
    struct batch_case *c = batch_add(b, out, with_constant, x, y, "%s%s %s%s%s", before, s->opcode,
                                     operands, after, *before == '{' ? ";}" : "");
    cr_assert(strlen(c->text) < sizeof c->text - 1, "%s", c->text);
    c->about = keep(s);
}

/* The case, and the same with the result's register in the place of each source of its kind. */
static void add_case(struct batch *b, char out, const struct spelled *s, int x, int y,
                     const char *before, const char *operands, const char *after)
{
    add_text(b, out, s, x, y, before, operands, after);
    const char *move = NULL;
    switch (operands[1]) {
    case 'h': move = "mov.b16"; break;
    case 'r': move = "mov.b32"; break;
    case 'l': move = "mov.b64"; break;
    default: return;
    }
    for (char k = '1'; k <= '3'; k++) {
        char source[4] = {'%', operands[1], k}, result[4] = {'%', operands[1], 'o'};
        char first[200], with[200];
        size_t n = 0;
        bool is_there = false;
        for (const char *p = operands; *p && n < sizeof with - 4; p++) {
            bool here = strncmp(p, source, 3) == 0;
            is_there |= here;
            n += (size_t)sprintf(with + n, here ? "%s" : "%.1s", here ? result : p);
            p += here ? 2 : 0;
        }
        if (!is_there) continue;
        snprintf(first, sizeof first, "%s%s %s, %s; ", before, move, result, source);
        add_text(b, out, s, x, y, first, with, after);
    }
}

static void add_packed(struct building *w, const struct spelled *s)
{
    const char *id = ptx_forms[w->family->form].id;
    bool to = id[0] == 'p';
    int bits = ptx_types[s->type[0]].bits,
        n = 2 + 2 * (strchr(id, '_') && strchr(id, '_')[1] == '4'), part = bits / n;
    char small = part == 8 ? 'c' : part == 16 ? 'h' : 'r', big = kind_of(s->type[0]);
    for (int look = 0; look < (to ? 1 : n); look++) {
        char list[64] = "", text[100], before[40] = "";
        for (int i = 0; i < n;
             i++) { /* parts that are not looked at go to registers of their own */
            const char *comma = i ? ", " : "";
            if (to) sprintf(list + strlen(list), "%s%%%c%d", comma, small, i % 3 + 1);
            else if (i == look) sprintf(list + strlen(list), "%s%%%co", comma, small);
            else sprintf(list + strlen(list), "%s%%x%d", comma, i);
        }
        if (!to) {
            sprintf(before, "{.reg .b%d %%x<4>; ", part);
            sprintf(text, "{%s}, %%%c1", list, big);
        } else sprintf(text, "%%%co, {%s}", big, list);
        add_case(w->batch, to ? big : small, s, part, to ? n : look, before, text, "");
    }
}

static void add_b128(struct building *w, const struct spelled *s)
{
    const char *id = ptx_forms[w->family->form].id;
    bool four = strchr(id, '_') && strchr(id, '_')[1] == '4', from4 = four && id[0] == 'p',
         to4 = four && id[0] == 'u';
    int n = to4 ? 4 : 2, part = 128 / n;
    for (int look = 0; look < n; look++) {
        char text[256], list[60] = "";
        for (int i = 0; i < n; i++) {
            if (i == look) sprintf(list + strlen(list), "%s%%%co", i ? "," : "", to4 ? 'r' : 'l');
            else sprintf(list + strlen(list), "%s%%%c%d", i ? "," : "", to4 ? 'y' : 'x', i);
        }
        snprintf(text, sizeof text,
                 "{.reg .b128 %%q<2>;.reg .b64 %%x<2>;.reg .b32 %%y<4>;%s%s mov.b128 {%s},%%q%d;}",
                 from4
                     ? "mov.b64 {%y0,%y1},%l1;mov.b64 {%y2,%y3},%l2;mov.b128 %q0,{%y0,%y1,%y2,%y3};"
                     : "mov.b128 %q0,{%l1,%l2};",
                 strcmp(id, "mov_b128") == 0 ? "mov.b128 %q1,%q0;" : "", list,
                 strcmp(id, "mov_b128") == 0 ? 1 : 0);
        struct batch_case *c = batch_add(w->batch, to4 ? 'r' : 'l', with_constant, part, look, "%s",
                                         text);
        cr_assert(strlen(text) < sizeof c->text, "%zu: %s", strlen(text), text);
        c->about = keep(s);
    }
}

static void add_vector(struct building *w, const struct spelled *s)
{
    int n = has(s, "v4") ? 4 : 2;
    char k = kind_of(s->type[0]);
    for (int look = 0; look < n; look++) {
        char before[240], text[100], list[60] = "", from[60] = "";
        for (int i = 0; i < n; i++) {
            if (i == look) sprintf(list + strlen(list), "%s%%%co", i ? ", " : "", k);
            else sprintf(list + strlen(list), "%s%%x%d", i ? ", " : "", i);
            sprintf(from + strlen(from), "%s%%%c%d", i ? ", " : "", k, i % 3 + 1);
        }
        const char *type = ptx_types[s->type[0]].name;
        snprintf(before, sizeof before, "{.reg .%s %%x<4>; .reg .v%d .%s %%v; %s %%v, {%s}; ", type,
                 n, type, s->opcode, from);
        snprintf(text, sizeof text, "{%s}, %%v", list);
        add_case(w->batch, k, s, 0, look % 3, before, text, "");
    }
}

static void spelling(void *self, const struct ptx_op *op)
{
    struct building *w = self;
    struct spelled s = {.carry = 0, .ref = w->family->ref};
    snprintf(s.opcode, sizeof s.opcode, "%.*s", (int)op->text_length, op->text);
    for (unsigned i = 0; i < op->type_count && i < 4; i++) s.type[i] = op->type[i];
    const char *o = w->family->operands;
    if (strcmp(o, "pack") == 0 || strcmp(o, "unpack") == 0) {
        add_packed(w, &s);
        return;
    }
    if (strcmp(o, "b128") == 0) {
        add_b128(w, &s);
        return;
    }
    if (strcmp(o, "vector") == 0) {
        add_vector(w, &s);
        return;
    }
    char text[100];
    if (s.type[0] == PTX_pred && s.ref != predicate) {
        s.ref = of_predicates;
        bool one = strncmp(s.opcode, "not", 3) == 0;
        add_case(w->batch, 'p', &s, 0, 0, "setp.ne.u32 %po, %r1, 0; ",
                 one ? "%po, %p1" : "%po, %po, %p1", "");
        return;
    }
    char out = write_operands(text, &s, o, NULL);
    if (s.ref == with_carry) {
        bool in = s.opcode[3] == 'c', flag = has(&s, "cc");
        for (int carry = in ? -1 : 0; carry < (in ? 2 : 1); carry++) {
            static const char *const set_it[] = {"add.cc.u32 %ro, %r3, 0xffffffff; ",
                                                 "add.cc.u32 %ro, 0, 0; ",
                                                 "add.cc.u32 %ro, -1, 1; "};
            s.carry = carry;
            s.ref = with_carry;
            add_case(w->batch, out, &s, 0, 0, in ? set_it[carry + 1] : "", text, "");
            if (!flag) continue;
            s.ref = carry_out;
            add_case(w->batch, 'r', &s, 0, 0, in ? set_it[carry + 1] : "", text,
                     "; addc.u32 %ro, 0, 0");
        }
        return;
    }
    if (s.ref == lop3 || s.ref == lop3_bool) {
        for (unsigned lut = 0; lut < 256; lut += s.ref == lop3 ? 1 : 37) {
            char with[100];
            char *at = strstr(text, "lut");
            snprintf(with, sizeof with, "%.*s%u%s", (int)(at - text), text, lut, at + 3);
            s.constant = lut;
            add_case(w->batch, 'r', &s, 0, 0, "", with, "");
            if (s.ref == lop3_bool) add_case(w->batch, 'p', &s, 0, 0, "", with, "");
        }
        return;
    }
    if (s.ref == bfi) { /* the length is the second byte of what %r3 holds */
        char with[100];
        snprintf(with, sizeof with, "%.*s%%t", (int)(strstr(text, "%len") - text), text);
        add_case(w->batch, out, &s, 0, 0, "{.reg .b32 %t; shr.u32 %t, %r3, 8; ", with, "");
        return;
    }
    bool boolean = strncmp(s.opcode, "set", 3) == 0 &&
                   (has(&s, "and") || has(&s, "or") || has(&s, "xor"));
    if (boolean) strcat(text, ", %p1");
    add_case(w->batch, out, &s, 0, 0, "", text, "");
    if (s.ref == setp) {
        char both[104];
        snprintf(both, sizeof both, "%%po|%%qo%s", text + 3);
        add_case(w->batch, 'q', &s, 0, 0, "", both, "");
    }
    /* and with a constant in the second place, where one may stand */
    if (!strchr(o, '2') || strstr(ptx_forms[w->family->form].opnds, "$T, $T") ||
        s.type[0] == PTX_f32 || s.type[0] == PTX_f64)
        return;
    bool number = strchr(o, '2')[-1] == 'u';
    s.has_constant = true;
    s.constant = number ? 5 : ~(uint64_t)0;
    write_operands(text, &s, o, number ? "5" : "-1");
    if (boolean) strcat(text, ", %p1");
    add_case(w->batch, out, &s, 0, 0, "", text, "");
}

static void run_families(const char *of, bool triples)
{
    struct batch b = {.target = "sm_90"};
    if (triples) batch_triples(&b, edges, COUNT(edges), 500);
    else {
        batch_rows(&b, edges, COUNT(edges), 500, 64);
        for (size_t i = 0; i < b.row_count; i += 3) b.rows[i][1] = b.rows[i][0];
    }
    size_t n = 0;
    for (size_t i = 0; i < COUNT(families); i++) {
        struct building w = {&b, &families[i], "90"};
        const char *id = ptx_forms[families[i].form].id, *o = families[i].operands;
        bool compares = strncmp(id, "set", 3) == 0,
             moves = !strchr(o, '1') || strncmp(id, "mov", 3) == 0;
        const char *group = compares         ? "compare"
                            : moves          ? "move"
                            : strchr(o, '3') ? "three"
                                             : "two";
        if (strcmp(group, of) != 0) continue;
        n++;
        cr_expect(form_spellings(families[i].form, w.target, spelling, &w) > 0,
                  "%s is spelled in no way", id);
    }
    size_t count = b.count;
    cr_assert(n && count);
    const void **about = malloc(count * sizeof *about);
    for (size_t i = 0; i < count; i++) about[i] = b.cases[i].about;
    batch_run(&b);
    for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)about[i]);
    free(about);
}

Test(emu_int, two_operands)
{
    run_families("two", false);
}
Test(emu_int, three_operands)
{
    run_families("three", true);
}
Test(emu_int, comparison)
{
    run_families("compare", false);
}
Test(emu_int, moves)
{
    run_families("move", false);
}
