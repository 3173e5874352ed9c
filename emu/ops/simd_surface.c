/* The offsets of a warp's lanes in one surface, for surface.c. Compiled for each host instruction set. */
#include "emu/ops/lane.h"

#include "emu/measure/count.h"
#include "emu/ops/textureops.h"
#include "ptx/ptx.h"

emu_reach_surface REACH_SURFACE;

enum surface_whole REACH_SURFACE(struct emu_group *g, const struct emu_uop *in, u32 w, u32 unit,
                                 u32 size, bool write, struct texture_object *o,
                                 struct surface_lanes *r)
{
    const struct texture_op *v = in->ext;
    const u32 exec = g->exec[w], first = (u32)__builtin_ctz(exec);
    const u64 *handle = (const u64 *)(const void *)emu_row(g, 8, v->handle) + w * LANES;
    const u64 own = handle[first];
    u64 differs = 0;
    u32 on[LANES], bad = 0;
    if (g->worker->machine->steps.watched) return SURFACE_WHOLE_LANE_BY_LANE;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) on[l] = -(exec >> l & 1);
    LANE_LOOP for (u32 l = 0; l < LANES; l++) differs |= (handle[l] ^ own) & (u64)(i64)(i32)on[l];
    if (differs) return SURFACE_WHOLE_LANE_BY_LANE;
    const struct texture *t = texture_of_lane(g, in, w, first, true, o);
    if (!t || !texture_fits(g, in, w, first, true, t)) return SURFACE_WHOLE_FAULT;
    const struct texture_memory *m = &t->memory;
    const struct texture_level *level = &m->level[0];
    const u64 row = (u64)level->width * texture_texel_bytes(m);
    if (!unit) unit = size = texture_texel_bytes(m);
    if (row < size || row - size >= ~0u || m->bytes < size) return SURFACE_WHOLE_LANE_BY_LANE;
    const u64 step[4] = {unit, level->pitch, level->slice, level->layer}, end = m->bytes - size,
              low = size - 1;
    const u32 most[4] = {(u32)(row - size) / unit, level->height - 1, level->depth - 1,
                         texture_or_1(m->layers) - 1};
    u64 *restrict at = r->at;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) at[l] = level->at;
    for (u32 i = 0; i < 4; i++) {
        if (i < 3 ? i >= v->dims : !v->layered) continue;
        const u32 *restrict c = (const u32 *)(const void *)emu_row(g, 4,
                                                                   i < 3 ? v->coord[i] : v->layer) +
                                w * LANES;
        const u32 limit = most[i];
        const u64 by = step[i];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) bad |= (c[l] > limit) & on[l];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) at[l] += c[l] * by;
    }
    u64 wrong = 0;
    LANE_LOOP for (u32 l = 0; l < LANES; l++)
        wrong |= ((at[l] > end) | ((at[l] & low) != 0)) & (u64)on[l];
    if (bad | wrong) return SURFACE_WHOLE_LANE_BY_LANE;
    const u64 one = at[first];
    u8 *p = emu_lane_host(g, in, w, first, PTX_SPACE_GLOBAL, m->address + one, size, write);
    if (!p) return SURFACE_WHOLE_FAULT;
    r->base = p - one;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) at[l] = on[l] ? at[l] : one;
    return SURFACE_WHOLE;
}
