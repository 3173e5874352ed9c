/* emu/measure/trace_codec.h: numbers and frames of `.hdt` files (emu/trace_file.h).
 *
 *     struct buf b = {0};
 *     put_number(&b, 300);                       // LEB128
 *     frame_write(file, TRACE_FRAME_RUN, &b);    // zstd, CRC-32C
 *
 *     struct cursor c = {bytes, bytes + size, false};
 *     n = get_number(&c);                        // 0, and c.bad, behind the end
 *
 * All numbers are little-endian; nothing depends on the host. */
#ifndef HEDDLE_EMU_MEASURE_TRACE_CODEC_H
#define HEDDLE_EMU_MEASURE_TRACE_CODEC_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* CRC-32C (Castagnoli), as in RFC 3720, of what gave `before` (0: nothing) and these bytes. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t size);

void put_number(struct buf *b, uint64_t x);
void put_signed(struct buf *b, int64_t x); /* zig-zag */
void put_real(struct buf *b, double x);    /* the 64 bits of IEEE 754 */
void put_text(struct buf *b, const char *text);

struct cursor {
    const unsigned char *at, *end;
    bool bad; /* something was read behind the end, or was too large */
};
uint64_t get_long_number(struct cursor *c); /* get_number() of any length */
static inline uint64_t get_number(struct cursor *c)
{
    if (c->end - c->at < 2 || (c->at[0] >= 128 && c->at[1] >= 128)) return get_long_number(c);
    const uint64_t low = *c->at++;
    return low < 128 ? low : (low & 127) | (uint64_t)*c->at++ << 7;
}
int64_t get_signed(struct cursor *c);
double get_real(struct cursor *c);
/* A number of at most `most`; else 0, and bad. */
uint32_t get_below(struct cursor *c, uint32_t most);
/* How many things follow, each of at least so many bytes; 0, and bad, if the bytes are not there. */
uint32_t get_count(struct cursor *c, size_t least);
struct arena;
const char *get_text(struct cursor *c, struct arena *a); /* NULL, and bad, if it is not whole */

/* false: it could not be written. The frame's plain bytes are freed. */
bool frame_write(FILE *to, uint8_t type, struct buf *plain);

/* Likewise of a frame that is not compressed: of this type alone. */
enum { FRAME_RAW = 10 };
bool frame_write_raw(FILE *to, const void *bytes, size_t size);
/* Passes the frame that begins here without reading its bytes. false: it is cut off. */
bool frame_skip(FILE *from);
/* Passes it, too; its first `size` plain bytes, fewer if it has no more, are in `start`. Its checksum is not read. *got: how
 * many. false: it is cut off, or not what zstd writes. */
bool frame_peek(FILE *from, void *start, size_t size, size_t *got);

struct frame {
    uint8_t type;
    unsigned char *plain; /* to be freed */
    size_t size;
    uint32_t crc;    /* of the type and the plain bytes */
    uint64_t stored; /* bytes in the file */
};
/* 1: a frame; 0: the end of the file, before a frame begins; -1: it is not whole or damaged. */
int frame_read(FILE *from, size_t most, struct frame *out);

#endif
