/* tests/support/trace_bytes.h: numbers of trace files, read as docs/formats.md describes them; for readers that are
 * independent of Heddle's. */
#ifndef HEDDLE_TESTS_SUPPORT_TRACE_BYTES_H
#define HEDDLE_TESTS_SUPPORT_TRACE_BYTES_H

#include <criterion/criterion.h>
#include <stdint.h>

struct bytes { /* what is not read yet */
    const unsigned char *at, *end;
};

/* A varint: seven bits in a byte, the low ones first; a byte of 128 or more is not the last one. */
static inline uint64_t bytes_number(struct bytes *b)
{
    uint64_t x = 0, factor = 1;
    for (;; factor *= 128) {
        cr_assert(b->at < b->end);
        const unsigned byte = *b->at++;
        x += byte % 128 * factor;
        if (byte < 128) return x;
    }
}

/* 0, 1, 2, 3, ... stand for 0, -1, 1, -2, ... */
static inline int64_t zigzag(uint64_t x)
{
    return x % 2 ? -(int64_t)(x / 2) - 1 : (int64_t)(x / 2);
}

#endif
