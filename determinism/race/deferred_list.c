/* The list: entries of varying size, adjacent. */
#include "determinism/race/deferred_list.h"

#include "base/pages.h"

#include <stdlib.h>

enum { RESERVED = DEFERRED_MOST + (1 << 20) };

void deferred_reserve(struct deferred_list *deferred)
{
    deferred->bytes = pages_new(RESERVED, PAGES_DENSE);
    deferred->cap = RESERVED;
    deferred->reserved = true;
}

struct deferred_access *deferred_add_slow(struct deferred_list *deferred,
                                          enum deferred_layout layout)
{
    /* Callers compare the size with DEFERRED_MOST before they add. */
    if (deferred->reserved) abort();
    deferred->cap = deferred->cap ? 2 * deferred->cap : 1 << 14;
    deferred->bytes = realloc(deferred->bytes, deferred->cap);
    if (!deferred->bytes) abort();
    return deferred_add(deferred, layout);
}

struct deferred_access *deferred_next(const struct deferred_list *deferred,
                                      const struct deferred_access *last)
{
    const size_t at = last ? (size_t)((const unsigned char *)last - deferred->bytes) +
                                 deferred_size(last->layout)
                           : 0;
    return at < deferred->size ? (struct deferred_access *)(void *)(deferred->bytes + at) : NULL;
}

void deferred_free(struct deferred_list *deferred)
{
    if (deferred->reserved) pages_free(deferred->bytes, deferred->cap);
    else free(deferred->bytes);
    *deferred = (struct deferred_list){0};
}
