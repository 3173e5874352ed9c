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

/* CRC-32C (Castagnoli), as in RFC 3720. `before`: the result for the preceding bytes; 0: none. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t size);

void put_number(struct buf *b, uint64_t x);
void put_signed(struct buf *b, int64_t x); /* zig-zag */
void put_real(struct buf *b, double x);    /* the 64 bits of IEEE 754 */
void put_text(struct buf *b, const char *text);

struct cursor {
    const unsigned char *at, *end;
    bool bad; /* a read went past the end, or a number was too large */
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
/* A number of at most `most`; otherwise 0, and `bad` is set. */
uint32_t get_below(struct cursor *c, uint32_t most);
/* The number of following items of at least `least` bytes each; 0, and `bad` is set, if so many bytes are not left. */
uint32_t get_count(struct cursor *c, size_t least);
struct arena;
/* NULL, and `bad` is set, if the text is truncated */
const char *get_text(struct cursor *c, struct arena *a);

/* Writes a frame and frees its plain bytes. false: it could not be written. */
bool frame_write(FILE *to, uint8_t type, struct buf *plain);

/* Writes a frame that is not compressed; it has this type. */
enum { FRAME_RAW = 10 };
bool frame_write_raw(FILE *to, const void *bytes, size_t size);
/* Skips the next frame without reading its bytes. false: the frame is truncated. */
bool frame_skip(FILE *from);
/* Skips the next frame, and copies its first `size` plain bytes, or fewer if it is shorter, to `start`; *got: their
 * number. The checksum is not checked. false: the frame is truncated, or not valid zstd data. */
bool frame_peek(FILE *from, void *start, size_t size, size_t *got);

struct frame {
    uint8_t type;
    unsigned char *plain; /* the caller frees it */
    size_t size;
    uint32_t crc;    /* checksum of the type and the plain bytes */
    uint64_t stored; /* bytes in the file */
};
/* 1: a frame was read; 0: end of the file; -1: the frame is truncated or damaged. */
int frame_read(FILE *from, size_t most, struct frame *out);

#endif
