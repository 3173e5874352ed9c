/* Memory of gpudet's logs: what a quantum needs is taken from blocks, one behind the other, and all of it is free
 * when the quantum is committed. Blocks are kept: small quanta use the same memory again and again. */
#include "determinism/gpudet/internal.h"

#include <stdlib.h>

enum { BLOCK = 1 << 18 };

static void enter(struct gpudet_room *r, struct gpudet_block *b)
{
    r->now = b;
    r->at = (uint8_t *)b->words;
    r->left = b->size;
}

static struct gpudet_block *new_block(struct gpudet_room *r, size_t size)
{
    struct gpudet_block **const link = r->now ? &r->now->next : &r->blocks,
                                *b = malloc(sizeof *b + size);
    if (!b) abort();
    *b = (struct gpudet_block){.next = *link, .size = size};
    *link = b;
    return b;
}

void *gpudet_room_take(struct gpudet_room *r, size_t size)
{
    size = (size + 7) / 8 * 8;
    if (r->left < size) {
        struct gpudet_block *next = r->now ? r->now->next : r->blocks;
        if (!next || next->size < size) next = new_block(r, size < BLOCK ? BLOCK : size);
        enter(r, next);
    }
    void *p = r->at;
    r->at += size;
    r->left -= size;
    return p;
}

void gpudet_room_clear(struct gpudet_room *r)
{
    if (r->blocks) enter(r, r->blocks);
}

void gpudet_room_free(struct gpudet_room *r)
{
    for (struct gpudet_block *b = r->blocks, *next; b; b = next) next = b->next, free(b);
}
