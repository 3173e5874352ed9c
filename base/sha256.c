/* SHA-256, FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void add_block(struct sha256 *s, const uint8_t *b)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)b[4 * i] << 24 | (uint32_t)b[4 * i + 1] << 16 |
               (uint32_t)b[4 * i + 2] << 8 | b[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10) + w[i - 7] +
               (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 16];
    uint32_t va = s->state[0], vb = s->state[1], vc = s->state[2], vd = s->state[3];
    uint32_t ve = s->state[4], vf = s->state[5], vg = s->state[6], vh = s->state[7];
    for (int i = 0; i < 64; i++) {
        const uint32_t t1 = vh + (rotate(ve, 6) ^ rotate(ve, 11) ^ rotate(ve, 25)) +
                            ((ve & vf) ^ (~ve & vg)) + constants[i] + w[i];
        const uint32_t t2 = (rotate(va, 2) ^ rotate(va, 13) ^ rotate(va, 22)) +
                            ((va & vb) ^ (va & vc) ^ (vb & vc));
        vh = vg, vg = vf, vf = ve, ve = vd + t1;
        vd = vc, vc = vb, vb = va, va = t1 + t2;
    }
    const uint32_t v[8] = {va, vb, vc, vd, ve, vf, vg, vh};
    for (int i = 0; i < 8; i++) s->state[i] += v[i];
}

void sha256_begin(struct sha256 *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, first, sizeof first);
    s->length = 0;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
    const uint8_t *from = bytes;
    while (n) {
        const size_t at = s->length % 64, part = n < 64 - at ? n : 64 - at;
        memcpy(s->block + at, from, part);
        s->length += part;
        from += part;
        n -= part;
        if (s->length % 64 == 0) add_block(s, s->block);
    }
}

void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    const uint64_t bits = s->length * 8;
    const size_t at = s->length % 64;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, padding, at < 56 ? 56 - at : 120 - at);
    sha256_add(s, length, sizeof length);
    for (int i = 0; i < SHA256_BYTES; i++)
        digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const uint8_t *digest, unsigned digits, char *text)
{
    for (unsigned i = 0; i < digits; i++)
        text[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
    text[digits] = '\0';
}

bool sha256_file(const char *path, uint8_t digest[SHA256_BYTES])
{
    struct sha256 s;
    uint8_t part[1 << 14];
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    sha256_begin(&s);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) sha256_add(&s, part, n);
    const bool ok = !ferror(f);
    const int error = errno;
    (void)fclose(f);
    errno = error;
    if (ok) sha256_end(&s, digest);
    return ok;
}
