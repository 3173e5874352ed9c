/* Notes, one behind the other. */
#include "determinism/notes.h"

#include <stdlib.h>

static size_t size_of(uint32_t count)
{
    const size_t size = sizeof(struct note) + count * sizeof(int32_t), unit = _Alignof(struct note);
    return (size + unit - 1) / unit * unit;
}

struct note *notes_add(struct notes *r, uint32_t count)
{
    const size_t size = size_of(count);
    if (r->size + size > r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1 << 14;
        r->room = realloc(r->room, r->cap);
        if (!r->room) abort();
    }
    struct note *n = (struct note *)(void *)(r->room + r->size);
    r->size += size;
    n->count = count;
    return n;
}

struct note *notes_next(const struct notes *r, const struct note *last)
{
    const size_t at = last ? (size_t)((const unsigned char *)last - r->room) + size_of(last->count)
                           : 0;
    return at < r->size ? (struct note *)(void *)(r->room + at) : NULL;
}

void notes_free(struct notes *r)
{
    free(r->room);
    *r = (struct notes){0};
}
