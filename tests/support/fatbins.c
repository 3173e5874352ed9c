#include "tests/support/fatbins.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void put(struct buf *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) buf_putc(b, (char)(value >> 8 * i));
}

static size_t pack(const char *code, size_t size, enum packing packing, char *to, size_t capacity)
{
    if (packing == ZSTD) return ZSTD_compress(to, capacity, code, size, 3);
    if (packing == LZ4) return (size_t)LZ4_compress_default(code, to, (int)size, (int)capacity);
    memcpy(to, code, size);
    return size;
}

void fatbin_add(struct buf *b, unsigned kind, unsigned sm, const char *code, size_t size,
                enum packing packing)
{
    static const uint64_t flags[] = {[LZ4] = 0x2000, [ZSTD] = 0x8000};
    const size_t capacity = size + size / 8 + 1024;
    char *packed = malloc(capacity);
    const size_t n = pack(code, size, packing, packed, capacity), padded = (n + 7) / 8 * 8;
    if (!b->size) {
        put(b, 0xba55ed50, 4);
        put(b, 1, 2);
        put(b, 16, 2);
        put(b, 0, 8);
    }
    put(b, kind, 2);
    put(b, 0x101, 2);
    put(b, 0x48, 4); /* longer than what is known of it */
    put(b, padded, 8);
    put(b, packing ? n : 0, 4);
    put(b, 0, 4);
    put(b, 0, 2);
    put(b, 9, 2);
    put(b, sm, 4);
    put(b, 0, 8);
    put(b, 0x11 | flags[packing], 8);
    put(b, 0, 8);
    put(b, packing ? size : 0, 8);
    put(b, 0, 8);
    buf_add(b, packed, n);
    put(b, 0, (unsigned)(padded - n));
    free(packed);
    const uint64_t files = b->size - 16;
    memcpy(b->data + 8, &files, 8);
}
