#include "emu/measure/trace_codec.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 3 };

/* Half a byte at a time: entry i is i divided by the polynomial 0x82f63b78 (bits reversed). */
static uint32_t crc_of_any_host(uint32_t crc, const unsigned char *at, size_t size)
{
    static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
                                       0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
                                       0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#ifdef __x86_64__
/* The same by the instruction that SSE4.2 has for it. */
__attribute__((target("sse4.2"))) static uint32_t crc_of_sse(uint32_t crc, const unsigned char *at,
                                                             size_t size)
{
    uint64_t all = crc;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t x;
        memcpy(&x, at, sizeof x);
        all = __builtin_ia32_crc32di(all, x);
    }
    crc = (uint32_t)all;
    for (; size; size--) crc = __builtin_ia32_crc32qi(crc, *at++);
    return crc;
}
#endif

uint32_t crc32c(uint32_t before, const void *bytes, size_t size)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2")) return ~crc_of_sse(~before, bytes, size);
#endif
    return ~crc_of_any_host(~before, bytes, size);
}

/* ---- numbers -------------------------------------------------------------------------------- */

void put_number(struct buf *b, uint64_t x)
{
    char bytes[10], *to = bytes;
    const bool fits = b->cap - b->size > sizeof bytes; /* as most do: a trace is millions of them */
    if (fits) to = b->data + b->size;
    size_t n = 0;
    for (; x >= 128; x >>= 7) to[n++] = (char)(x | 128);
    to[n++] = (char)x;
    if (fits) b->size += n, to[n] = '\0';
    else buf_add(b, bytes, n);
}

void put_signed(struct buf *b, int64_t x)
{
    put_number(b, (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0));
}

void put_real(struct buf *b, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int i = 0; i < 8; i++) buf_putc(b, (char)(bits >> 8 * i));
}

void put_text(struct buf *b, const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    put_number(b, n);
    buf_add(b, text ? text : "", n);
}

uint64_t get_long_number(struct cursor *c)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        const unsigned char byte = *c->at++;
        x |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return x;
    }
    c->bad = true;
    return 0;
}

int64_t get_signed(struct cursor *c)
{
    const uint64_t x = get_number(c);
    return (int64_t)(x >> 1 ^ (x & 1 ? UINT64_MAX : 0));
}

double get_real(struct cursor *c)
{
    uint64_t bits = 0;
    double x;
    if (c->end - c->at < 8) {
        c->bad = true;
        return 0;
    }
    for (int i = 0; i < 8; i++) bits |= (uint64_t)*c->at++ << 8 * i;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint32_t get_below(struct cursor *c, uint32_t most)
{
    const uint64_t x = get_number(c);
    if (x <= most) return (uint32_t)x;
    c->bad = true;
    return 0;
}

uint32_t get_count(struct cursor *c, size_t least)
{
    const size_t left = (size_t)(c->end - c->at) / least;
    return get_below(c, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
}

const char *get_text(struct cursor *c, struct arena *a)
{
    const uint32_t n = get_count(c, 1);
    if (c->bad || (size_t)(c->end - c->at) < n || memchr(c->at, 0, n)) {
        c->bad = true;
        return NULL;
    }
    c->at += n;
    return arena_copy(a, (const char *)c->at - n, n);
}

/* ---- frames --------------------------------------------------------------------------------- */

/* What zstd works in, of this thread. To make one takes longer than to compress a frame of some kilobytes. */
struct contexts {
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
};
static pthread_key_t contexts_key; /* for its destructor, when a thread ends */
static pthread_once_t contexts_made = PTHREAD_ONCE_INIT;

static void contexts_free(void *self)
{
    struct contexts *c = self;
    (void)ZSTD_freeCCtx(c->pack);
    (void)ZSTD_freeDCtx(c->unpack);
    free(c);
}

static void make_contexts_key(void)
{
    if (pthread_key_create(&contexts_key, contexts_free) != 0) abort();
}

static const struct contexts *contexts(void)
{
    static _Thread_local struct contexts *own;
    if (own) return own;
    own = calloc(1, sizeof *own);
    if (!own) abort();
    own->pack = ZSTD_createCCtx();
    own->unpack = ZSTD_createDCtx();
    if (!own->pack || !own->unpack) abort();
    pthread_once(&contexts_made, make_contexts_key);
    if (pthread_setspecific(contexts_key, own) != 0) abort();
    return own;
}

bool frame_write(FILE *to, uint8_t type, struct buf *plain)
{
    const size_t bound = ZSTD_compressBound(plain->size);
    char *packed = malloc(bound);
    const uint32_t crc = crc32c(crc32c(0, &type, 1), plain->data, plain->size);
    struct buf head = {0}, tail = {0};
    if (!packed) abort();
    const size_t n = ZSTD_compressCCtx(contexts()->pack, packed, bound, plain->data, plain->size,
                                       LEVEL);
    buf_putc(&head, (char)type);
    put_number(&head, n);
    for (int i = 0; i < 4; i++) buf_putc(&tail, (char)(crc >> 8 * i));
    const bool ok = !ZSTD_isError(n) && fwrite(head.data, 1, head.size, to) == head.size &&
                    fwrite(packed, 1, n, to) == n &&
                    fwrite(tail.data, 1, tail.size, to) == tail.size;
    free(packed);
    buf_free(&head);
    buf_free(&tail);
    buf_free(plain);
    return ok;
}

bool frame_write_raw(FILE *to, const void *bytes, size_t size)
{
    const uint8_t type = FRAME_RAW;
    const uint32_t crc = crc32c(crc32c(0, &type, 1), bytes, size);
    struct buf b = {0};
    buf_putc(&b, (char)type);
    put_number(&b, size);
    buf_add(&b, bytes, size);
    for (int i = 0; i < 4; i++) buf_putc(&b, (char)(crc >> 8 * i));
    const bool ok = fwrite(b.data, 1, b.size, to) == b.size;
    buf_free(&b);
    return ok;
}

/* The length in front of a frame; UINT64_MAX: it is not whole. */
static uint64_t read_length(FILE *from, uint64_t *stored)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        const int byte = getc(from);
        if (byte == EOF) break;
        ++*stored;
        x |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return x;
    }
    return UINT64_MAX;
}

/* `size` bytes, in steps, so that a wrong length costs no more memory than the file has. */
static bool read_bytes(FILE *from, uint64_t size, struct buf *b)
{
    char piece[1 << 14];
    while (size) {
        const size_t want = size < sizeof piece ? (size_t)size : sizeof piece,
                     n = fread(piece, 1, want, from);
        buf_add(b, piece, n);
        if (n < want) return false;
        size -= n;
    }
    return true;
}

static bool unpack(const struct buf *packed, size_t most, struct frame *out)
{
    if (out->type == FRAME_RAW) {
        out->size = packed->size;
        out->plain = malloc(out->size + 1);
        if (!out->plain) abort();
        memcpy(out->plain, packed->data, out->size);
        return true;
    }
    const unsigned long long size = ZSTD_getFrameContentSize(packed->data, packed->size);
    if (size > most || ZSTD_findFrameCompressedSize(packed->data, packed->size) != packed->size)
        return false;
    out->size = (size_t)size;
    out->plain = malloc(out->size + 1);
    if (!out->plain) abort();
    return ZSTD_decompressDCtx(contexts()->unpack, out->plain, out->size, packed->data,
                               packed->size) == out->size;
}

int frame_read(FILE *from, size_t most, struct frame *out)
{
    struct buf packed = {0};
    unsigned char tail[4];
    const int type = getc(from);
    *out = (struct frame){.type = (uint8_t)type, .stored = 1 + sizeof tail};
    if (type == EOF) return ferror(from) ? -1 : 0;
    const uint64_t n = read_length(from, &out->stored);
    bool ok = n <= ZSTD_COMPRESSBOUND(most) && read_bytes(from, n, &packed) &&
              fread(tail, 1, sizeof tail, from) == sizeof tail && packed.size &&
              unpack(&packed, most, out);
    out->stored += n;
    if (ok) {
        out->crc = crc32c(crc32c(0, &out->type, 1), out->plain, out->size);
        for (int i = 0; i < 4; i++) ok &= tail[i] == (unsigned char)(out->crc >> 8 * i);
    }
    buf_free(&packed);
    if (ok) return 1;
    free(out->plain);
    out->plain = NULL;
    return -1;
}

bool frame_peek(FILE *from, void *start, size_t size, size_t *got)
{
    struct buf packed = {0};
    uint64_t stored = 0;
    if (getc(from) == EOF) return false;
    const uint64_t n = read_length(from, &stored);
    bool ok = n <= INT32_MAX && read_bytes(from, n, &packed);
    ZSTD_outBuffer out = {start, size, 0};
    ZSTD_inBuffer in = {packed.data, packed.size, 0};
    if (ok) (void)ZSTD_DCtx_reset(contexts()->unpack, ZSTD_reset_session_only);
    for (size_t left = 1; ok && left && out.pos < size;) {
        const size_t at = in.pos, before = out.pos;
        left = ZSTD_decompressStream(contexts()->unpack, &out, &in);
        ok = !ZSTD_isError(left) && (in.pos > at || out.pos > before || !left);
    }
    if (packed.data) (void)ZSTD_DCtx_reset(contexts()->unpack, ZSTD_reset_session_only);
    buf_free(&packed);
    *got = out.pos;
    return ok && fseek(from, 4, SEEK_CUR) == 0;
}

bool frame_skip(FILE *from)
{
    uint64_t stored = 0;
    if (getc(from) == EOF) return false;
    const uint64_t n = read_length(from, &stored);
    return n <= INT32_MAX && fseek(from, (long)n + 4, SEEK_CUR) == 0;
}
