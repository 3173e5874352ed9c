/* emu/sched/combine.h: reductions of global memory that a host thread combines before it executes them. Many CTAs count
 * in few words (a histogram, a sum), and the cache line of such a word would move between host cores at each lane's
 * reduction. Where all reductions of a program are of one commutative kind, and no CTA may depend on the progress of
 * others (emu_program.combines), a host thread combines the reductions of one address, and executes the combined
 * reduction
 *
 *  - before it reads or writes the allocation in any other way: sites that have found the allocation before must find
 *    it again, which calls combine_found. After that, reductions of the allocation go to memory at once;
 *  - when another address needs the same entry of the table;
 *  - when its CTAs seem to wait for others, and when the host thread ends.
 *
 * Where addresses hardly ever repeat, the host thread stops combining for some time. The final contents of memory do
 * not depend on combining. */
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
    u8 *host;    /* host address of the element */
    u64 value;   /* the combined operand, at its beginning */
};

struct combine {       /* the combined reductions of a host thread */
    u32 lanes, misses; /* reducing lanes in this sample; those without an entry */
    /* lanes whose reductions go to memory at once until the next sample begins */
    u32 rest;
    u8 op, type; /* kind of all reductions: enum emu_atomic, enum ptx_type */
    u32 allocation_count;
    struct combine_allocation {
        u64 low, high;
        bool shared; /* the allocation also has other accesses: no combining */
    } allocations[COMBINE_ALLOCATIONS];
    struct combine_place places[COMBINE_PLACES];
    u8 padding[64]; /* separates the data of the next host thread */
};

/* The combined operand of reductions of `width` bytes (4, 8) at the address. NULL: the address has no entry. */
static inline u8 *combine_at(struct combine *c, u64 address, u32 width)
{
    struct combine_place *const p = &c->places[address / width % COMBINE_PLACES];
    return p->address == address ? (u8 *)&p->value : NULL;
}

/* Creates the entry for the first reduction of an address; `host`: its host address. false: the caller must execute the
 * reduction at once. */
bool combine_first(struct emu_worker *k, u64 address, u8 *host, u8 op, u8 type,
                   const void *operand);

/* `lanes` lanes are about to reduce. Whether their reductions may be combined. */
bool combine_begins(struct combine *c, u32 lanes);

/* An instruction has found the allocation and may be about to read or write it. */
void combine_found(struct emu_worker *k, const struct emu_uop *in, const struct mem_block *b);

/* Executes all combined reductions. c: NULL is allowed. */
void combine_flush(struct combine *c);

#endif
