/* Where a warp's lanes access memory, for those who are told of it (watch.h), compiled for each host instruction
 * set. */
#include "emu/lane.h"

#include "emu/atomic.h"
#include "emu/count.h"
#include "ptx/ptx.h"

static inline bool inside(const u64 *at, u32 m, bool run, u64 low, u64 high, u32 size)
{
    const u64 bytes = LANES * (u64)size;
    if (!run) return lanes_inside(at, m, low, high, size);
    return high - low >= bytes && at[0] - low <= high - low - bytes && !(at[0] & (size - 1));
}

static u32 space_of(const struct emu_group *g, const u64 *at, bool run, u32 space, u32 size,
                    u64 low, u64 high)
{
    const u32 m = g->exec[0], room = g->cta->shared_size;
    if (space == PTX_SPACE_SHARED)
        return inside(at, m, run, 0, room, size) ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_GENERIC) return PTX_SPACE_GENERIC;
    if (inside(at, m, run, low, high, size)) return PTX_SPACE_GLOBAL;
    if (space == PTX_SPACE_GENERIC && inside(at, m, run, MEM_SHARED, MEM_SHARED + room, size))
        return PTX_SPACE_SHARED;
    return PTX_SPACE_GENERIC;
}

emu_find_lanes FIND_LANES;
u32 FIND_LANES(const struct emu_group *g, const struct lane_address *from, u32 size,
               const struct emu_bound *bound, u64 at[LANES], bool *run)
{
    lane_addresses(g, from, 0, at);
    u64 off = 0;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) off |= at[l] ^ (at[0] + l * (u64)size);
    *run = g->exec[0] == ~0u && !off;
    return space_of(g, at, *run, from->space, size, bound->low, bound->high);
}
