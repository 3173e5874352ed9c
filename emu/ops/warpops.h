/* emu/ops/warpops.h: what the operations of a warp share: simd_warp.c, warp.c, emu/lower/warp.c. */
#ifndef HEDDLE_EMU_OPS_WARPOPS_H
#define HEDDLE_EMU_OPS_WARPOPS_H

#include "emu/ops/exec.h"

/* uop->x: where the member mask of .sync is. */
enum warp_mask {
    WARP_MASK_NONE,  /* no .sync: whoever is here takes part; imm is ~0 */
    WARP_MASK_CONST, /* imm, the same for every lane */
    WARP_MASK_ROW,   /* a row of r32 at imm */
};

/* shfl whose source lanes are known when it is lowered. */
struct shfl_desc {
    u32 src[LANES];
    pred take[LANES]; /* the source lane is in range */
};

/* Source lane of `lane` for operands b and c of shfl.mode; *take: it is in range. */
enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
u32 warp_shfl_source(enum shfl_mode mode, u32 lane, u32 b, u32 c, bool *take);

/* Notifies the check of warp synchronisation of lanes of warp w that the member masks name and that are
 * alive but elsewhere. To be called where exec differs from alive. */
void warp_note_absent(struct emu_group *g, const struct emu_uop *in, u32 w);

#endif
