/* emu/apart.h: launches whose warps have nothing to do with each other: no byte of global memory that one stores to is
 * loaded or stored to by another one. Such a launch leaves the same bytes under every order, and may go without one.
 *
 *     m.apart = apart_new(&m, marked);             // the program is lowered with LOWER_APART
 *     launch_run(&m, ...);
 *     switch (apart_end(m.apart, faulted)) ...
 *
 * It is run natively, and watched: each word that may be both loaded and stored to has a mark that says which warp
 * did, or that several have loaded it. Loads of allocations that nobody stores to need none: such a load is as fast
 * as if nobody watched, until it turns out that somebody stores to what it loaded from. Then the launch is taken back,
 * and begins again with loads of that instruction marked. */
#ifndef HEDDLE_EMU_APART_H
#define HEDDLE_EMU_APART_H

#include "emu/exec.h"

struct apart;
struct mem_block;

enum apart_end {
    APART_DONE,  /* its warps were apart: memory is as every order leaves it */
    APART_AGAIN, /* memory is as it was; `marked` has more in it */
    APART_NOT,   /* memory is as it was */
};
/* marked: by site, which loads are marked from the beginning; it is added to. Ends the launch (EMU_BAD_ORDER) when it
 * is seen not to be apart. */
struct apart *apart_new(const struct emu_machine *m, bool *marked);
/* faulted: the launch did. Frees it. */
enum apart_end apart_end(struct apart *p, bool faulted);

/* A load or store has found the block that its fast way, or a lane, is in. */
void apart_found(const struct emu_group *g, const struct emu_uop *in, const struct mem_block *b,
                 bool write);

#endif
