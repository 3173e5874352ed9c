/* emu/cta_arena.h: memory for the CTAs of launches, kept from one launch to the next, of one device or of several that
 * follow each other (emu_config.cta_arena).
 *
 *     struct cta_block b = cta_arena_take(arena, size);  // during a launch, by any of its threads
 *     cta_block_clear(&b, part, bytes);                  // part: somewhere in the block
 *     cta_arena_reset(arena);                            // the launch has ended: all blocks are free
 *
 * Host pages stay mapped, and what earlier launches left in them is only cleared where zeros are needed. */
#ifndef HEDDLE_EMU_CTA_ARENA_H
#define HEDDLE_EMU_CTA_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct cta_arena;

struct cta_block {
    uint8_t *at, *end; /* a multiple of CTA_ARENA_ALIGN; behind the last byte */
    uint8_t *clean;    /* from here on there are zeros: nobody has written there */
};
enum { CTA_ARENA_ALIGN = 128 };

/* Ends the program if the host has no memory. */
struct cta_arena *cta_arena_new(void);
void cta_arena_free(struct cta_arena *r);
/* `size` bytes, until cta_arena_reset. */
struct cta_block cta_arena_take(struct cta_arena *r, size_t size);
/* Writes zeros to part of a block, as far as it is not clean. */
void cta_block_clear(const struct cta_block *r, void *part, size_t size);
/* A second arena for blocks that stay until the next launch; it has a cta_arena_reset of its own. */
struct cta_arena *cta_arena_sibling(struct cta_arena *r);
/* Frees all blocks. Of memory that was written to, the arena keeps 256 MiB at most. */
void cta_arena_reset(struct cta_arena *r);

#endif
