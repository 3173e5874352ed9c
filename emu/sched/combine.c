/* See combine.h. */
#include "emu/sched/combine.h"

#include "emu/atomic.h"
#include "emu/memory.h"
#include "ptx/ptx.h"

#include <string.h>

enum {
    SAMPLE = 1 << 12, /* lanes */
    REST = 1 << 16,   /* lanes, after a sample in which more than half had no place */
};

bool combine_begins(struct combine *c, u32 lanes)
{
    if (c->rest) {
        c->rest -= c->rest < lanes ? c->rest : lanes;
        return false;
    }
    c->lanes += lanes;
    if (c->lanes < SAMPLE) return true;
    if (c->misses > c->lanes / 2) c->rest = REST;
    c->lanes = c->misses = 0;
    return true;
}

static void take_to_memory(const struct combine *c, struct combine_place *p)
{
    if (p->address) atomic_reduce_now(p->host, c->op, c->type, &p->value);
    p->address = 0;
}

void combine_flush(struct combine *c)
{
    for (u32 i = 0; c && i < COMBINE_PLACES; i++) take_to_memory(c, &c->places[i]);
}

static struct combine_allocation *allocation_of(struct combine *c, u64 address)
{
    for (u32 i = 0; i < c->allocation_count; i++) {
        struct combine_allocation *const a = &c->allocations[i];
        if (a->low <= address && address < a->high) return a;
    }
    return NULL;
}

/* From now on other instructions have to find it anew. NULL: there are too many. */
static struct combine_allocation *begin(struct emu_worker *k, u64 address)
{
    struct combine *const c = k->combine;
    const struct emu_machine *const m = k->machine;
    const struct mem_block *const b = mem_find(m->mem, address, 1);
    if (!b || c->allocation_count == COMBINE_ALLOCATIONS) return NULL;
    struct combine_allocation *const a = &c->allocations[c->allocation_count++];
    *a = (struct combine_allocation){.low = b->address, .high = b->address + b->size};
    for (u32 i = 0; i < m->program->site_count; i++)
        if (k->bounds[i].low == a->low) k->bounds[i] = (struct emu_bound){0};
    return a;
}

bool combine_first(struct emu_worker *k, u64 address, u8 *host, u8 op, u8 type, const void *operand)
{
    struct combine *const c = k->combine;
    const u32 width = ptx_types[type].bits / 8u;
    struct combine_place *const p = &c->places[address / width % COMBINE_PLACES];
    c->misses++;
    const struct combine_allocation *a = allocation_of(c, address);
    if (!a) a = begin(k, address);
    if (!a || a->shared) return false;
    take_to_memory(c, p);
    c->op = op;
    c->type = type;
    p->address = address;
    p->host = host;
    memcpy(&p->value, operand, width);
    return true;
}

void combine_found(struct emu_worker *k, const struct emu_uop *in, const struct mem_block *b)
{
    struct combine *const c = k->combine;
    if (atomic_is_uop(in)) return;
    struct combine_allocation *const a = allocation_of(c, b->address);
    if (!a || a->shared) return;
    combine_flush(c);
    a->shared = true;
}
