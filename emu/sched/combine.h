/* emu/sched/combine.h: reductions of global memory that a host thread keeps to itself for a while. Many CTAs count in few
 * words (a histogram, a sum), and between host threads each of those would wander for every lane. Where all
 * reductions of a program are of one kind that commutes, and no CTA may look for what others have done
 * (emu_program.combines), a host thread combines those of one address, and takes them to memory
 *
 *  - before it reads or writes the allocation in any other way: sites that have found it before are made to find it again,
 *    and combine_found hears of it. After that, reductions of it go to memory at once;
 *  - when another address wants the place;
 *  - when its CTAs seem to wait for others, and at its end.
 *
 * Where addresses hardly ever come again, it is left alone for some time. What is in memory in the end does not depend
 * on any of this. */
#ifndef HEDDLE_EMU_SCHED_COMBINE_H
#define HEDDLE_EMU_SCHED_COMBINE_H

#include "emu/ops/exec.h"

struct mem_block;

enum {
    COMBINE_PLACES = 4096,
    COMBINE_ALLOCATIONS = 8,
};

struct combine_place {
    u64 address; /* 0: empty */
    u8 *host;    /* of it */
    u64 value;   /* an element at its beginning */
};

struct combine {       /* of a host thread */
    u32 lanes, misses; /* of this sample */
    u32 rest;          /* lanes that go to memory at once before the next one */
    u8 op, type;       /* of all: enum emu_atomic, enum ptx_type */
    u32 allocation_count;
    struct combine_allocation {
        u64 low, high;
        bool shared; /* with other accesses */
    } allocations[COMBINE_ALLOCATIONS];
    struct combine_place places[COMBINE_PLACES];
    u8 padding[64]; /* before what the next host thread changes */
};

/* Where a value that reductions of `width` bytes (4, 8) at the address are combined into lies; NULL: nowhere yet. */
static inline u8 *combine_at(struct combine *c, u64 address, u32 width)
{
    struct combine_place *const p = &c->places[address / width % COMBINE_PLACES];
    return p->address == address ? (u8 *)&p->value : NULL;
}

/* The first of an address, whose bytes are at `host`. false: it is to go to memory at once. */
bool combine_first(struct emu_worker *k, u64 address, u8 *host, u8 op, u8 type,
                   const void *operand);

/* So many lanes reduce. Whether they may be combined. */
bool combine_begins(struct combine *c, u32 lanes);

/* An instruction has found the allocation: it may be about to read or write there. */
void combine_found(struct emu_worker *k, const struct emu_uop *in, const struct mem_block *b);

/* All that is kept goes to memory. c: NULL is allowed. */
void combine_flush(struct combine *c);

#endif
