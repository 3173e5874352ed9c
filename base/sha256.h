/* base/sha256.h: SHA-256 (FIPS 180-4), for names derived from contents.
 *
 *     struct sha256 s;
 *     sha256_begin(&s);
 *     sha256_add(&s, text, length);
 *     sha256_end(&s, digest);                                                                    */
#ifndef HEDDLE_BASE_SHA256_H
#define HEDDLE_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes added so far */
    uint8_t block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES]);

/* The first `digits` hexadecimal digits of a digest, at most all 64, and a '\0'. */
void sha256_hex(const uint8_t *digest, unsigned digits, char *text);

/* The digest of a file's contents. false: the file cannot be read, and errno has the error. */
bool sha256_file(const char *path, uint8_t digest[SHA256_BYTES]);

#endif
