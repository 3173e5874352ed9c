/* emu/ops/warpops.h: descriptions of warp operations, shared by simd_warp.c, warp.c and emu/lower/warp.c. */
#ifndef HEDDLE_EMU_OPS_WARPOPS_H
#define HEDDLE_EMU_OPS_WARPOPS_H

#include "emu/ops/exec.h"

/* uop->x: the location of the member mask of .sync. */
enum warp_mask {
    WARP_MASK_NONE,  /* no .sync: all active lanes take part; imm is ~0 */
    WARP_MASK_CONST, /* imm, the same for every lane */
    WARP_MASK_ROW,   /* a row of r32 at imm */
};

/* A shfl whose source lanes are known when the instruction is lowered. */
struct shfl_desc {
    u32 src[LANES];
    pred take[LANES]; /* the source lane is in range */
};

/* The source lane of `lane` for operands b and c of shfl.mode; *take: it is in range. */
enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
u32 warp_shfl_source(enum shfl_mode mode, u32 lane, u32 b, u32 c, bool *take);

/* Records a finding for live lanes of warp w that the member masks name, but that do not execute the instruction
 * (EMU_CHECK_SYNC). To be called if exec differs from alive. */
void warp_note_absent(struct emu_group *g, const struct emu_uop *in, u32 w);

#endif
