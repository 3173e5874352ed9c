#define _GNU_SOURCE
#include "cuda/fatbin.h"

#include "base/buf.h"
#include "ptx/ptx.h"

#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Layouts, little endian. An entry's header grows with versions: it says how long it is. */
enum {
    HEAD_VERSION = 4,
    HEAD_SIZE = 6,
    HEAD_FILES = 8,
    ENTRY_KIND = 0x00,
    ENTRY_HEADER = 0x04,
    ENTRY_PAYLOAD = 0x08,
    ENTRY_COMPRESSED = 0x10,
    ENTRY_MINOR = 0x18,
    ENTRY_MAJOR = 0x1a,
    ENTRY_SM = 0x1c,
    ENTRY_FLAGS = 0x28,
    ENTRY_WHOLE = 0x38,
    ENTRY_LEAST = 0x40
};

static uint16_t u16_at(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static uint32_t u32_at(const unsigned char *p)
{
    return u16_at(p) | (uint32_t)u16_at(p + 2) << 16;
}
static uint64_t u64_at(const unsigned char *p)
{
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

bool fatbin_refuse(char **why, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *why = strdup(text);
    if (!*why) abort();
    return false;
}

size_t fatbin_size(const void *image)
{
    const unsigned char *p = image;
    if (u32_at(p) != FATBIN_MAGIC) return 0;
    const uint64_t header = u16_at(p + HEAD_SIZE), files = u64_at(p + HEAD_FILES);
    return header < FATBIN_HEADER || files > SIZE_MAX - header ? 0 : header + files;
}

bool fatbin_open(struct fatbin *f, const void *image, size_t size, char **why)
{
    const unsigned char *p = image;
    if (size < FATBIN_HEADER || u32_at(p) != FATBIN_MAGIC)
        return fatbin_refuse(why, "this is no fat binary");
    if (u16_at(p + HEAD_VERSION) != 1)
        return fatbin_refuse(why, "the fat binary is of version %u; 1 is known",
                             u16_at(p + HEAD_VERSION));
    const size_t whole = fatbin_size(p);
    if (!whole || whole > size)
        return fatbin_refuse(why, "the fat binary is cut off: it should have %zu bytes and has %zu",
                             whole, size);
    f->next = p + u16_at(p + HEAD_SIZE);
    f->end = p + whole;
    return true;
}

bool fatbin_next(struct fatbin *f, struct fatbin_entry *e, char **why)
{
    const unsigned char *p = f->next;
    const size_t left = (size_t)(f->end - p);
    if (!left) return false;
    if (left < ENTRY_LEAST) return fatbin_refuse(why, "an entry of the fat binary is cut off");
    const uint32_t header = u32_at(p + ENTRY_HEADER);
    const uint64_t payload = u64_at(p + ENTRY_PAYLOAD);
    if (header < ENTRY_LEAST || header > left || payload > left - header)
        return fatbin_refuse(why, "an entry of the fat binary is longer than what holds it");
    *e = (struct fatbin_entry){.kind = u16_at(p + ENTRY_KIND),
                               .sm = u32_at(p + ENTRY_SM),
                               .major = u16_at(p + ENTRY_MAJOR),
                               .minor = u16_at(p + ENTRY_MINOR),
                               .flags = u64_at(p + ENTRY_FLAGS),
                               .code = p + header,
                               .size = payload};
    if (e->flags & (FATBIN_LZ4 | FATBIN_ZSTD)) {
        e->whole = u64_at(p + ENTRY_WHOLE);
        e->size = u32_at(p + ENTRY_COMPRESSED);
        if (e->size > payload || !e->whole)
            return fatbin_refuse(why, "an entry of the fat binary has contradictory sizes");
    }
    f->next = p + header + payload;
    return true;
}

static void list_code(struct buf *b, const struct fatbin_entry *e)
{
    static const char *const names[] = {
        [FATBIN_PTX] = "PTX", [FATBIN_CUBIN] = "machine code", [FATBIN_LTO] = "LTO-IR"};
    const char *name = e->kind <= FATBIN_LTO ? names[e->kind] : NULL;
    buf_printf(b, "%s%s for sm_%u", b->size ? ", " : "", name ? name : "something", e->sm);
}

static bool is_better(unsigned sm, unsigned than, unsigned device)
{
    return sm <= device && than <= device ? sm > than : sm < than;
}

bool fatbin_choose(const struct fatbin *f, unsigned sm, struct fatbin_entry *e, char **why)
{
    struct fatbin list = *f;
    struct fatbin_entry at = {0}, best = {0};
    struct buf seen = {0};
    bool runs = false; /* there */
    *why = NULL;
    while (fatbin_next(&list, &at, why)) {
        list_code(&seen, &at);
        runs |= at.kind == FATBIN_CUBIN && at.sm / 10 == sm / 10 && at.sm <= sm;
        if (at.kind == FATBIN_PTX && (!best.code || is_better(at.sm, best.sm, sm))) best = at;
    }
    *e = best;
    const bool fits = best.code && (best.sm <= sm || runs);
    if (!fits && !*why && best.code)
        fatbin_refuse(why,
                      "the fat binary has no PTX for sm_%u: %s; compile with "
                      "-gencode arch=compute_%u,code=compute_%u, or for another GPU",
                      sm, seen.data, sm, sm);
    else if (!fits && !*why)
        fatbin_refuse(why, "the fat binary has no PTX: %s; compile with %s",
                      seen.size ? seen.data : "it is empty", FATBIN_PTX_FLAGS);
    buf_free(&seen);
    return fits && !*why;
}

/* Bytes that came out; SIZE_MAX: it is damaged. */
static size_t decompress(const struct fatbin_entry *e, char *to)
{
    if (e->flags & FATBIN_ZSTD) {
        const size_t n = ZSTD_decompress(to, e->whole, e->code, e->size);
        return ZSTD_isError(n) ? SIZE_MAX : n;
    }
    if (e->size > LZ4_MAX_INPUT_SIZE) return SIZE_MAX;
    const int n = LZ4_decompress_safe((const char *)e->code, to, (int)e->size, (int)e->whole);
    return n < 0 ? SIZE_MAX : (size_t)n;
}

char *fatbin_text(const struct fatbin_entry *e, size_t *length, char **why)
{
    size_t n = e->whole ? e->whole : e->size;
    if (n > PTX_MAX_TEXT) {
        fatbin_refuse(why, "an entry of the fat binary would have %zu bytes", n);
        return NULL;
    }
    char *text = malloc(n + 1);
    if (!text) abort();
    if (!e->whole) memcpy(text, e->code, n);
    else if (decompress(e, text) != n) {
        fatbin_refuse(why, "an entry of the fat binary cannot be decompressed (%s)",
                      e->flags & FATBIN_ZSTD ? "zstd" : "LZ4");
        free(text);
        return NULL;
    }
    while (n && !text[n - 1]) n--;
    text[n] = '\0';
    *length = n;
    return text;
}
