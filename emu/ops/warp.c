/* Operations of a warp that are not compiled for each host instruction set. */
#include "emu/ops/warpops.h"

u32 warp_shfl_source(enum shfl_mode mode, u32 lane, u32 b, u32 c, bool *take)
{
    i32 bval = (i32)(b & 31), cval = (i32)(c & 31), seg = (i32)(c >> 8 & 31), own = (i32)lane;
    i32 max = (own & seg) | (cval & ~seg), j;
    switch (mode) {
    case SHFL_UP: j = own - bval; break;
    case SHFL_DOWN: j = own + bval; break;
    case SHFL_BFLY: j = own ^ bval; break;
    default: j = (own & seg) | (bval & ~seg); break;
    }
    *take = mode == SHFL_UP ? j >= max : j <= max;
    return (u32)(*take ? j : own);
}

void warp_note_absent(struct emu_group *g, const struct emu_uop *in, u32 w)
{
    u32 exec = g->exec[w], away = g->alive[w] & ~exec;
    if (!away || in->x == WARP_MASK_NONE) return;
    if (in->x == WARP_MASK_CONST) {
        if ((u32)in->imm & away) emu_note_sync(g, in, w, (u32)in->imm);
        return;
    }
    for (u32 left = exec; left;) { /* each mask once */
        u32 mask = (u32)emu_get(g, 4, (u32)in->imm, w, (u32)__builtin_ctz(left));
        for (u32 m = left; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            if (emu_get(g, 4, (u32)in->imm, w, l) == mask) left &= ~(1u << l);
        }
        if (mask & away) emu_note_sync(g, in, w, mask);
    }
}
