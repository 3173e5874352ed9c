/* aes: the key and the first block are those of FIPS-197, appendix C.1. The host's AES is the one of the
 * standard's text, byte by byte. */
#include "suites/suite.h"

#include <string.h>

enum { ROUNDS = 10, KEYS = 16 * (ROUNDS + 1) };

static uint8_t twice(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

static uint8_t multiply(uint8_t a, uint8_t b)
{
    uint8_t p = 0;
    for (; b; b >>= 1, a = twice(a))
        if (b & 1) p ^= a;
    return p;
}

/* The inverse in GF(2^8), then an affine map. */
static void make_sbox(uint8_t *sbox)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned inverse = 0;
        for (unsigned k = 1; i && k < 256; k++)
            if (multiply((uint8_t)i, (uint8_t)k) == 1) inverse = k;
        unsigned twofold = inverse << 8 | inverse;
        sbox[i] = (uint8_t)(inverse ^ twofold >> 4 ^ twofold >> 5 ^ twofold >> 6 ^ twofold >> 7 ^
                            0x63);
    }
}

static void expand(const uint8_t *sbox, const uint8_t *key, uint8_t *keys)
{
    uint8_t constant = 1;
    memcpy(keys, key, 16);
    for (unsigned i = 16; i < KEYS; i += 4) {
        uint8_t t[4];
        memcpy(t, keys + i - 4, 4);
        if (i % 16 == 0) {
            uint8_t first = t[0];
            t[0] = sbox[t[1]] ^ constant;
            t[1] = sbox[t[2]];
            t[2] = sbox[t[3]];
            t[3] = sbox[first];
            constant = twice(constant);
        }
        for (unsigned k = 0; k < 4; k++) keys[i + k] = keys[i + k - 16] ^ t[k];
    }
}

static void encipher(const uint8_t *sbox, const uint8_t *keys, const uint8_t *in, uint8_t *s)
{
    uint8_t t[16];
    for (unsigned i = 0; i < 16; i++) s[i] = in[i] ^ keys[i];
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < 16; i++) t[i] = sbox[s[(i + 4 * (i % 4)) % 16]];
        for (unsigned c = 0; c < 16 && round < ROUNDS; c += 4) {
            uint8_t a0 = t[c], a1 = t[c + 1], a2 = t[c + 2], a3 = t[c + 3];
            uint8_t all = a0 ^ a1 ^ a2 ^ a3;
            t[c] ^= all ^ twice(a0 ^ a1);
            t[c + 1] ^= all ^ twice(a1 ^ a2);
            t[c + 2] ^= all ^ twice(a2 ^ a3);
            t[c + 3] ^= all ^ twice(a3 ^ a0);
        }
        for (unsigned i = 0; i < 16; i++) s[i] = t[i] ^ keys[16 * round + i];
    }
}

static uint32_t word(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void run(struct suite_context *ctx, const char *kernel, unsigned blocks_of_cta)
{
    static const uint8_t cipher[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                       0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    const size_t named = suite_number(ctx, "blocks");
    if (named > 1 << 24) suite_fail(ctx, "at most %d blocks, not %zu", 1 << 24, named);
    uint32_t blocks = (uint32_t)(named ? named : suite_pick(ctx, 10001, 1 << 20, 1 << 20));
    size_t bytes = (size_t)blocks * 16, launches = suite_pick(ctx, 1, 1, 10);
    uint8_t key[16], sbox[256], keys[KEYS];
    uint32_t te[256], wide[256], round_keys[KEYS / 4];
    struct suite_random r = suite_random(ctx->seed);
    uint8_t *in = suite_host(ctx, uint8_t, bytes), *out = suite_host(ctx, uint8_t, bytes);
    for (size_t i = 0; i < bytes; i++)
        in[i] = i < 16 ? (uint8_t)(i * 0x11) : (uint8_t)suite_random_u64(&r);
    for (unsigned i = 0; i < 16; i++) key[i] = (uint8_t)i;
    make_sbox(sbox);
    expand(sbox, key, keys);
    for (unsigned i = 0; i < 256; i++) {
        uint32_t s = sbox[i], s2 = twice(sbox[i]);
        te[i] = s2 | s << 8 | s << 16 | (s ^ s2) << 24;
        wide[i] = s;
    }
    for (unsigned i = 0; i < KEYS / 4; i++) round_keys[i] = word(keys + 4 * (size_t)i);
    CUdeviceptr dt = suite_upload(ctx, te, sizeof te), ds = suite_upload(ctx, wide, sizeof wide);
    CUdeviceptr from = suite_upload(ctx, in, bytes), to = suite_alloc(ctx, bytes);
    suite_constant(ctx, "round_keys", round_keys, sizeof round_keys);
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, suite_kernel(ctx, kernel),
                     suite_1d((unsigned)suite_blocks(blocks, blocks_of_cta)), suite_1d(256), 0,
                     &blocks, &dt, &ds, &from, &to);
    suite_read(ctx, out, to, bytes);
    if (memcmp(out, cipher, 16) != 0) suite_fail(ctx, "block 0 is not that of FIPS-197, C.1");
    for (size_t i = 0; i < blocks; i++) {
        uint8_t want[16];
        encipher(sbox, keys, in + 16 * i, want);
        if (memcmp(out + 16 * i, want, 16) != 0) suite_fail(ctx, "block %zu is wrong", i);
    }
}

void suite_run_aes(struct suite_context *ctx)
{
    run(ctx, "aes", 256);
}

void suite_run_aes_columns(struct suite_context *ctx)
{
    run(ctx, "aes_columns", 64);
}
