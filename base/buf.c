#include "base/buf.h"

#include "base/decimal.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct buf *b, size_t n)
{
    assert(n < SIZE_MAX / 4 - b->size);
    size_t need = b->size + n + 1;
    if (need <= b->cap) return;
    b->cap = need < 2 * b->cap ? 2 * b->cap : need + 64;
    b->data = realloc(b->data, b->cap);
    if (!b->data) {
        fprintf(stderr, "heddle: out of memory (%zu bytes)\n", b->cap);
        abort();
    }
}

void buf_add(struct buf *b, const char *text, size_t n)
{
    reserve(b, n);
    if (n) memcpy(b->data + b->size, text, n);
    b->size += n;
    b->data[b->size] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    if (b->size + 1 >= b->cap) reserve(b, 1);
    b->data[b->size++] = c;
    b->data[b->size] = '\0';
}

void buf_printf(struct buf *b, const char *format, ...)
{
    void *const before = decimal_begin();
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(n >= 0);
    reserve(b, (size_t)n);
    vsnprintf(b->data + b->size, (size_t)n + 1, format, again);
    va_end(again);
    decimal_end(before);
    b->size += (size_t)n;
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

bool buf_add_file(struct buf *b, const char *path, size_t most)
{
    char part[1 << 14];
    size_t n, size = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    while (size <= most && (n = fread(part, 1, sizeof part, f)) > 0) {
        buf_add(b, part, n);
        size += n;
    }
    const int why = ferror(f) ? errno : size > most ? EFBIG : 0;
    (void)fclose(f);
    errno = why;
    return !why;
}
