/* The arena of GPUDet's write logs. A quantum allocates from a list of blocks, and frees everything when it is
 * committed. Blocks are kept, so that small quanta reuse the same memory. */
#include "determinism/gpudet/internal.h"

#include <stdlib.h>

enum { BLOCK = 1 << 18 };

static void enter_block(struct gpudet_arena *r, struct gpudet_block *b)
{
    r->now = b;
    r->at = (uint8_t *)b->words;
    r->left = b->size;
}

static struct gpudet_block *new_block(struct gpudet_arena *r, size_t size)
{
    struct gpudet_block **const link = r->now ? &r->now->next : &r->blocks,
                                *b = malloc(sizeof *b + size);
    if (!b) abort();
    *b = (struct gpudet_block){.next = *link, .size = size};
    *link = b;
    return b;
}

void *gpudet_arena_alloc(struct gpudet_arena *r, size_t size)
{
    size = (size + 7) / 8 * 8;
    if (r->left < size) {
        struct gpudet_block *next = r->now ? r->now->next : r->blocks;
        if (!next || next->size < size) next = new_block(r, size < BLOCK ? BLOCK : size);
        enter_block(r, next);
    }
    void *p = r->at;
    r->at += size;
    r->left -= size;
    return p;
}

void gpudet_arena_reset(struct gpudet_arena *r)
{
    if (r->blocks) enter_block(r, r->blocks);
}

void gpudet_arena_free(struct gpudet_arena *r)
{
    for (struct gpudet_block *b = r->blocks, *next; b; b = next) next = b->next, free(b);
}
