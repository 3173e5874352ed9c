/* Sine and cosine of arguments that emu/ops/approx.h does not reduce. */
#include "emu/ops/approx.h"

/* 2/pi, with 32 zeros before its point. */
static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                       0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};

/* Of |x| * 2/pi = m * 2^e * 2/pi, with m a whole number of 24 bits, the bits of 2/pi whose product
 * with m is a multiple of 4 do not matter; of the 96 that follow them the product is exact. */
float fp_trig_far32(float x, unsigned shift)
{
    uint32_t b = fp_bits32(x);
    unsigned from = (b >> 23 & 0xff) - 120; /* 31 + e - 1: where in the table the weight is 2 */
    unsigned word = from / 32, bit = from % 32;
    unsigned __int128 w = 0;
    for (unsigned i = 0; i < 4; i++) w = w << 32 | two_over_pi[word + i];
    w = w >> (32 - bit) & ((((unsigned __int128)1) << 96) - 1);
    unsigned __int128 p = w * ((b & 0x7fffffu) | 0x800000u); /* in units of 2^-94, modulo 4 */
    uint64_t q = ((uint64_t)(p >> 93) + 1) >> 1;             /* nearest */
    __int128 f = (__int128)(p << 34) >> 34;                  /* less that: 94 bits with a sign */
    double r = (double)f * 0x1p-94 * 0x1.921fb54442d18p+0;
    float y = fp_quadrant32(r, q + shift);
    return shift == 0 && b >> 31 ? -y : y;
}
