/* Notes, one behind the other. */
#include "determinism/race/deferred_list.h"

#include "base/pages.h"

#include <stdlib.h>

enum { RESERVED = NOTES_MOST + (1 << 20) };

void notes_reserve(struct notes *notes)
{
    notes->room = pages_new(RESERVED, PAGES_DENSE);
    notes->cap = RESERVED;
    notes->reserved = true;
}

struct note *notes_add_slow(struct notes *notes, enum note_how how)
{
    if (notes->reserved) abort(); /* whoever adds to them looks at NOTES_MOST */
    notes->cap = notes->cap ? 2 * notes->cap : 1 << 14;
    notes->room = realloc(notes->room, notes->cap);
    if (!notes->room) abort();
    return notes_add(notes, how);
}

struct note *notes_next(const struct notes *notes, const struct note *last)
{
    const size_t at = last ? (size_t)((const unsigned char *)last - notes->room) +
                                 note_size(last->how)
                           : 0;
    return at < notes->size ? (struct note *)(void *)(notes->room + at) : NULL;
}

void notes_free(struct notes *notes)
{
    if (notes->reserved) pages_free(notes->room, notes->cap);
    else free(notes->room);
    *notes = (struct notes){0};
}
