/* Blocks double from ARENA_BLOCK to 1 MiB; a request larger than a block gets its own. */
#include "base/arena.h"

#include "base/decimal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARENA_BLOCK
#define ARENA_BLOCK 16384
#endif
enum { ARENA_BLOCK_MAX = 1 << 20, ARENA_ALIGN = 16 };

struct block {
    struct block *next;
    size_t size; /* bytes behind this header */
    _Alignas(ARENA_ALIGN) char data[];
};

struct arena {
    struct block *blocks; /* the newest first; memory is handed out from the first */
    char *free;           /* the next free byte in it */
    size_t left;          /* bytes behind `free` */
    size_t footprint;
};

static void abort_without(size_t n)
{
    fprintf(stderr, "heddle: out of memory (%zu bytes)\n", n);
    abort();
}

static void *take_from_host(size_t n)
{
    void *p = calloc(1, n);
    if (!p) abort_without(n);
    return p;
}

struct arena *arena_new(void)
{
    return take_from_host(sizeof(struct arena));
}

void arena_free(struct arena *a)
{
    if (!a) return;
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static void add_block(struct arena *a, size_t need)
{
    size_t size = a->blocks ? a->blocks->size * 2 : ARENA_BLOCK;
    if (size > ARENA_BLOCK_MAX) size = ARENA_BLOCK_MAX;
    if (size < need) size = need;
    struct block *b = take_from_host(sizeof *b + size);
    b->size = size;
    b->next = a->blocks;
    a->blocks = b;
    a->free = b->data;
    a->left = size;
    a->footprint += sizeof *b + size;
}

void *arena_alloc(struct arena *a, size_t n)
{
    assert(n <= SIZE_MAX / 2);
    n = (n + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (n == 0) n = ARENA_ALIGN;
    if (n > a->left) add_block(a, n);
    void *p = a->free;
    a->free += n;
    a->left -= n;
    return p;
}

void *arena_alloc_n(struct arena *a, size_t n, size_t size)
{
    assert(size == 0 || n <= SIZE_MAX / 2 / size);
    return arena_alloc(a, n * size);
}

size_t arena_footprint(const struct arena *a)
{
    return a->footprint;
}

char *arena_copy(struct arena *a, const char *text, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    if (n) memcpy(copy, text, n);
    return copy;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    void *const before = decimal_begin();
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    decimal_end(before);
    return text;
}

void *arena_grow(struct arena *a, void *array, size_t used, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) return array;
    size_t wanted = *cap > 4096 ? *cap + *cap / 2 : *cap ? *cap * 2 : 8;
    if (wanted < need) wanted = need;
    /* The last thing taken grows where it is. */
    size_t have = (*cap * size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (array && (char *)array + have == a->free && wanted <= SIZE_MAX / 4 / size) {
        size_t more = (wanted * size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN - have;
        if (more <= a->left) {
            a->free += more;
            a->left -= more;
            *cap = wanted;
            return array;
        }
    }
    /* The only thing in its block moves with the block. */
    if (array && a->blocks && (char *)array == a->blocks->data && (char *)array + have == a->free &&
        wanted <= SIZE_MAX / 4 / size) {
        struct block *b = a->blocks;
        size_t bytes = (wanted * size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
        a->footprint += bytes - b->size;
        b = realloc(b, sizeof *b + bytes);
        if (!b) abort_without(bytes);
        memset(b->data + have, 0, bytes - have);
        b->size = bytes;
        a->blocks = b;
        a->free = b->data + bytes;
        a->left = 0;
        *cap = wanted;
        return b->data;
    }
    void *grown = arena_alloc_n(a, wanted, size);
    if (array && used) memcpy(grown, array, used * size);
    *cap = wanted;
    return grown;
}
