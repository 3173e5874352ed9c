/* emu/ops/memops.h: what a load or store is, for its handlers. */
#ifndef HEDDLE_EMU_OPS_MEMOPS_H
#define HEDDLE_EMU_OPS_MEMOPS_H

#include "emu/ops/exec.h"
#include "ptx/ptx.h"

struct mem_desc {
    u8 space;      /* enum ptx_space */
    u8 width;      /* bytes of an element: 1, 2, 4, 8 */
    u8 count;      /* elements, side by side in memory; 16-byte elements are two of 8 */
    u8 align;      /* what the address must be a multiple of */
    u8 row_bytes;  /* 2, 4 or 8 */
    bool sign;     /* bytes are sign-extended to their row */
    u8 flags;      /* enum emu_access_flag */
    u8 scope;      /* enum emu_scope */
    u8 type;       /* enum ptx_type of an element */
    emu_op *plain; /* of a watched one: what does it when nobody watches */
    u32 rows[8];
    /* A load that may be late, with the addresses plus one in late_row, and the accesses that it may pass. */
    bool may_be_late;
    u32 late_row, late_steps;
    /* ld_late of the loads that may be pending when this access is due. */
    u32 pending_count;
    const struct emu_uop *const *pending;
};

/* Whether the sum of a register of 32 bits and an offset is an address of 32 bits: nvcc counts on that in shared
 * memory, where a register may lie below 0. In the others it may be the index of a variable far up. */
static inline bool space_wraps(u32 space)
{
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER ||
           space == PTX_SPACE_LOCAL;
}

#endif
