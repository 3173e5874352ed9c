/* Memory of a run of the timing model: pieces of one block, which the next run takes over.
 *
 * A run takes some forty arrays and frees them all at its end, and short launches are estimated by the thousand. So a
 * run takes them from one block; what does not fit gets blocks of its own. At the end the run leaves one block of the
 * size that it needed, if that is not much, in slots that all host threads share. timing_calloc is for what an order
 * keeps, and for the preparation of traces. */
#include "model/timing_internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 16 << 20, /* bytes */
    /* Of the first block: pages that a run does not use are none of the host's. */
    FIRST = 8 << 20,
    SPARE = 2 /* blocks: estimates are computed by two host threads (model/estimate_cache.h) */
};

void *timing_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

struct timing_block {
    struct timing_block *next;
    size_t size, used;
    _Alignas(max_align_t) char data[];
};
static _Atomic(struct timing_block *) spare_blocks[SPARE];

static struct timing_block *block_new(size_t size)
{
    struct timing_block *b = malloc(sizeof *b + size);
    if (!b) abort();
    b->next = NULL, b->size = size, b->used = 0;
    return b;
}

struct timing_storage timing_storage(void)
{
    struct timing_block *b = NULL;
    for (int i = 0; i < SPARE && !b; i++) b = atomic_exchange(&spare_blocks[i], NULL);
    return (struct timing_storage){.blocks = b ? b : block_new(FIRST)};
}

void *timing_take_raw(struct timing_storage *s, size_t count, size_t size)
{
    const size_t n = (count * size + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
                     sizeof(max_align_t);
    struct timing_block *b = s->blocks;
    s->taken += n;
    if (!b || b->size - b->used < n) {
        b = block_new(n);
        b->next = s->blocks ? s->blocks->next : NULL;
        if (s->blocks) s->blocks->next = b;
        else s->blocks = b;
    }
    void *p = b->data + b->used;
    b->used += n;
    return p;
}

void *timing_take(struct timing_storage *s, size_t count, size_t size)
{
    return memset(timing_take_raw(s, count, size), 0, count * size);
}

void timing_give_back(struct timing_storage *s)
{
    struct timing_block *first = s->blocks;
    const bool fits = first && first->size >= s->taken;
    for (struct timing_block *b = fits ? first->next : first, *next; b; b = next)
        next = b->next, free(b);
    if (s->taken > KEPT) {
        if (fits) free(first);
        return;
    }
    if (!fits) first = block_new(s->taken);
    first->next = NULL, first->used = 0;
    for (int i = 0; i < SPARE && first; i++) first = atomic_exchange(&spare_blocks[i], first);
    free(first);
}
