/* Notes, one behind the other. */
#include "determinism/notes.h"

#include <stdlib.h>

static size_t size_of(uint32_t count)
{
    const size_t size = sizeof(struct note) + count * sizeof(int32_t), unit = _Alignof(struct note);
    return (size + unit - 1) / unit * unit;
}

struct note *notes_add(struct notes *notes, uint32_t count)
{
    const size_t size = size_of(count);
    if (notes->size + size > notes->cap) {
        notes->cap = notes->cap ? 2 * notes->cap : 1 << 14;
        notes->room = realloc(notes->room, notes->cap);
        if (!notes->room) abort();
    }
    struct note *n = (struct note *)(void *)(notes->room + notes->size);
    notes->size += size;
    n->count = count;
    return n;
}

struct note *notes_next(const struct notes *notes, const struct note *last)
{
    const size_t at = last ? (size_t)((const unsigned char *)last - notes->room) +
                                 size_of(last->count)
                           : 0;
    return at < notes->size ? (struct note *)(void *)(notes->room + at) : NULL;
}

void notes_free(struct notes *notes)
{
    free(notes->room);
    *notes = (struct notes){0};
}
