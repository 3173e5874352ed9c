/* emu/cta_arena.h: memory for the CTAs of launches, kept from one launch to the next, of a device or of several that
 * come one after the other (emu_config.rooms).
 *
 *     struct room r = rooms_take(rooms, size);     // during a launch, of several threads one at a time
 *     room_clear(&r, part, bytes);                 // part: somewhere in it
 *     rooms_leave(rooms);                          // the launch has ended: all of it may be taken again
 *
 * Pages that the host has given are not asked for again, and what the launches before left in them is only cleared
 * where somebody needs zeros. */
#ifndef HEDDLE_EMU_CTA_ARENA_H
#define HEDDLE_EMU_CTA_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct rooms;

struct room {
    uint8_t *at, *end; /* a multiple of ROOM_ALIGN; behind the last byte */
    uint8_t *clean;    /* from here on there are zeros: nobody has written there */
};
enum { ROOM_ALIGN = 128 };

/* Ends the program if the host has no memory. */
struct rooms *rooms_new(void);
void rooms_free(struct rooms *r);
/* `size` bytes, until rooms_leave. */
struct room rooms_take(struct rooms *r, size_t size);
/* Makes part of a room zeros, as far as it is not clean. */
void room_clear(const struct room *r, void *part, size_t size);
/* Others beside them, for what stays until the next launch, with a rooms_leave of their own. */
struct rooms *rooms_beside(struct rooms *r);
/* Takes all rooms back. More than 256 MiB that were written to are not kept. */
void rooms_leave(struct rooms *r);

#endif
