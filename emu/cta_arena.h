/* emu/cta_arena.h: memory for the CTAs of launches, reused from launch to launch of one device, or of several devices
 * that exist one after another (emu_config.cta_arena).
 *
 *     struct cta_block b = cta_arena_take(arena, size);  // during a launch, by any of its threads
 *     cta_block_clear(&b, part, bytes);                  // part: somewhere in the block
 *     cta_arena_reset(arena);                            // the launch has ended: all blocks are free
 *
 * Host pages stay mapped. Data of earlier launches is cleared only where zeros are needed. */
#ifndef HEDDLE_EMU_CTA_ARENA_H
#define HEDDLE_EMU_CTA_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct cta_arena;

struct cta_block {
    uint8_t *at, *end; /* `at`: a multiple of CTA_ARENA_ALIGN; `end`: one past the last byte */
    uint8_t *clean;    /* bytes from here on were never written and are zeros */
};
enum { CTA_ARENA_ALIGN = 128 };

/* Ends the process if the host's memory is exhausted. */
struct cta_arena *cta_arena_new(void);
void cta_arena_free(struct cta_arena *r);
/* A block of `size` bytes, valid until cta_arena_reset. */
struct cta_block cta_arena_take(struct cta_arena *r, size_t size);
/* Writes zeros to part of a block, except to bytes that are clean. */
void cta_block_clear(const struct cta_block *r, void *part, size_t size);
/* A second arena for blocks that stay until the next launch; it has a cta_arena_reset of its own. */
struct cta_arena *cta_arena_sibling(struct cta_arena *r);
/* Frees all blocks. The arena keeps at most 256 MiB of memory that was written to. */
void cta_arena_reset(struct cta_arena *r);

#endif
