/* The addresses of a warp's lanes, for orders and observers (notify.h), compiled for each host instruction set. */
#include "emu/ops/lane.h"

#include "emu/atomic.h"
#include "emu/measure/count.h"
#include "ptx/ptx.h"

#include <string.h>

enum { PAGE_BYTES = 4096, ROW_BYTES = 128 }; /* emu_access.rows */

struct lanes { /* that are on */
    const u64 *at;
    u32 mask, size;
    u64 first, differ; /* the first one's address; bits in which another one's is not the same */
    bool run;
};

static inline bool inside(const struct lanes *l, u64 low, u64 high)
{
    if (high - low < l->size) return false;
    const u64 last = high - low - l->size;
    if (l->run) {
        const u64 bytes = (LANES - 1) * (u64)l->size;
        return last >= bytes && l->at[0] - low <= last - bytes && !(l->at[0] & (l->size - 1));
    }
    const u64 any = l->differ ? UINT64_MAX >> __builtin_clzll(l->differ) : 0,
              least = l->first & ~any, most = l->first | any;
    if (!((l->first | l->differ) & (l->size - 1)) && least - low <= last && most - low <= last)
        return true;
    return lanes_inside(l->at, l->mask, low, high, l->size);
}

static u32 space_of(const struct emu_group *g, const struct lanes *l, u32 space, u64 low, u64 high)
{
    const u32 size = g->cta->shared_size;
    if (space == PTX_SPACE_SHARED) return inside(l, 0, size) ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
    if (space == PTX_SPACE_CONST) return inside(l, low, high) ? PTX_SPACE_CONST : PTX_SPACE_GENERIC;
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_GENERIC) return PTX_SPACE_GENERIC;
    if (inside(l, low, high)) return PTX_SPACE_GLOBAL;
    if (space == PTX_SPACE_GENERIC && inside(l, MEM_SHARED, MEM_SHARED + size))
        return PTX_SPACE_SHARED;
    return PTX_SPACE_GENERIC;
}

static u32 row_of(u64 at)
{
    return 1u << at / ROW_BYTES % 32u;
}

/* Of lanes in one page. */
static u32 rows_of(u16 low[LANES], const u64 at[LANES], u32 mask, u64 first, u64 differ)
{
    u32 rows = 0;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) low[l] = (u16)at[l];
    if (differ < ROW_BYTES) return row_of(first);
    if (mask == ~0u) {
        LANE_LOOP for (u32 l = 0; l < LANES; l++) rows |= 1u << (low[l] / ROW_BYTES % 32u);
    } else
        LANE_LOOP for (u32 l = 0; l < LANES; l++) rows |= (mask >> l & 1)
                                                          << (low[l] / ROW_BYTES % 32u);
    return rows;
}

/* The addresses of all lanes; in which bits one is not the next of the lane before it (`off`), or not the first one. */
static inline void whole_warp(const struct emu_group *g, const struct lane_address *from, u32 w,
                              u64 first, u32 bits, u64 *at, u64 *off, u64 *differ)
{
    u64 not_in_a_row = 0, other = 0;
#define LOOK(ADDRESS)                                                                              \
    LANE_LOOP for (u32 l = 0; l < LANES; l++)                                                      \
    {                                                                                              \
        const u64 a = ADDRESS;                                                                     \
        at[l] = a;                                                                                 \
        other |= a ^ first;                                                                        \
        not_in_a_row |= a ^ (first + ((u64)l << bits));                                            \
    }
    const u64 offset = (u64)from->offset;
    if (from->bytes == 8) {
        const u64 *p = (const u64 *)(const void *)(g->r64 + from->row) + w * LANES;
        LOOK(p[l] + offset)
    } else {
        const u32 *p = (const u32 *)(const void *)(g->r32 + from->row) + w * LANES;
        if (space_wraps(from->space)) LOOK((u32)(p[l] + (u32)offset))
        else LOOK(p[l] + offset)
    }
#undef LOOK
    *off = not_in_a_row, *differ = other;
}

emu_find_lanes FIND_LANES;
u32 FIND_LANES(const struct emu_group *g, const struct lane_address *from, u32 w, u32 size,
               const struct emu_bound *bound, struct emu_lanes *to)
{
    u64 *at = to->at;
    const u32 mask = g->exec[w], bits = (u32)__builtin_ctz(size); /* it is a power of two */
    /* Not from `at`, whose stores that would wait for. */
    const u64 first = lane_address(g, from, w, (u32)__builtin_ctz(mask));
    u64 off = 0, differ = 0;
    if (mask == ~0u && from->bytes) whole_warp(g, from, w, first, bits, at, &off, &differ);
    else {
        lane_addresses(g, from, w, at);
        off = mask == ~0u; /* they have one address */
        LANE_LOOP for (u32 l = 0; l < LANES; l++) differ |= (at[l] ^ first) & -(u64)(mask >> l & 1);
    }
    to->run = mask == ~0u && !off;
    to->alike = ~differ;
    to->rows = 0;
    const u64 last_of_run = first + (to->run ? (LANES - 1) * (u64)size : 0);
    if (differ < PAGE_BYTES && !((differ | first) & (size - 1)) && size <= ROW_BYTES)
        to->rows = !differ || to->run ? 2 * row_of(last_of_run) - row_of(first)
                                      : rows_of(to->low, at, mask, first, differ);
    const struct lanes lanes = {at, mask, size, first, differ, to->run};
    return space_of(g, &lanes, from->space, bound->low, bound->high);
}

static inline __attribute__((always_inline)) bool
lanes_side_by_side(const struct emu_group *g, const struct lane_address *a, u32 w, const u32 size)
{
    if (a->bytes == 8) {
        const u64 *p = (const u64 *)(const void *)(g->r64 + a->row) + w * LANES;
        return !any(off_run_64(p, LANES, *p, size));
    }
    const u32 *p = (const u32 *)(const void *)(g->r32 + a->row) + w * LANES;
    return !any(off_run_32(p, LANES, *p, size));
}

emu_side_by_side OP_NAME(side_by_side);
bool OP_NAME(side_by_side)(const struct emu_group *g, const struct lane_address *a, u32 w, u32 size,
                           u64 *first)
{
    *first = lane_address(g, a, w, 0);
    if (a->bytes != 8 &&
        (a->bytes != 4 || (!space_wraps(a->space) && *first > UINT32_MAX - LANES * size)))
        return false;
    switch (size) { /* shifts or constants, not products */
    case 16: return lanes_side_by_side(g, a, w, 16);
    case 8: return lanes_side_by_side(g, a, w, 8);
    case 4: return lanes_side_by_side(g, a, w, 4);
    default: return lanes_side_by_side(g, a, w, size);
    }
}
