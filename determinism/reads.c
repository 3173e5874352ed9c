/* Notes of reads, one behind the other. */
#include "determinism/reads.h"

#include <stdlib.h>

static size_t size_of(uint32_t count)
{
    const size_t size = sizeof(struct read) + count * sizeof(int32_t), unit = _Alignof(struct read);
    return (size + unit - 1) / unit * unit;
}

struct read *reads_add(struct reads *r, uint32_t count)
{
    const size_t size = size_of(count);
    if (r->size + size > r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1 << 14;
        r->room = realloc(r->room, r->cap);
        if (!r->room) abort();
    }
    struct read *n = (struct read *)(void *)(r->room + r->size);
    r->size += size;
    n->count = count;
    return n;
}

struct read *reads_next(const struct reads *r, const struct read *last)
{
    const size_t at = last ? (size_t)((const unsigned char *)last - r->room) + size_of(last->count)
                           : 0;
    return at < r->size ? (struct read *)(void *)(r->room + at) : NULL;
}

void reads_free(struct reads *r)
{
    free(r->room);
    *r = (struct reads){0};
}
