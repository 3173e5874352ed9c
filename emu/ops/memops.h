/* emu/ops/memops.h: descriptions of loads and stores, for their handlers. */
#ifndef HEDDLE_EMU_OPS_MEMOPS_H
#define HEDDLE_EMU_OPS_MEMOPS_H

#include "emu/ops/exec.h"
#include "ptx/ptx.h"

struct mem_desc {
    u8 space;      /* enum ptx_space */
    u8 width;      /* bytes of an element: 1, 2, 4, 8 */
    u8 count;      /* adjacent elements of a lane; a 16-byte element counts as two of 8 bytes */
    u8 align;      /* the address must be a multiple of this */
    u8 row_bytes;  /* 2, 4 or 8 */
    bool sign;     /* bytes are sign-extended to the row's element */
    u8 flags;      /* enum emu_access_flag */
    u8 scope;      /* enum emu_scope */
    u8 type;       /* enum ptx_type of an element */
    emu_op *plain; /* of a watched micro-operation: the handler without notification */
    u32 rows[8];
    /* A load that may be late. late_row: the row of its addresses plus one while it is pending; late_steps: the number
     * of accesses that it may pass. */
    bool may_be_late;
    u32 late_row, late_steps;
    /* The micro-operations ld_late of loads that may be pending at this access. */
    u32 pending_count;
    const struct emu_uop *const *pending;
};

/* Whether the sum of a 32-bit register and an offset wraps at 32 bits. nvcc relies on that in shared memory, where the
 * register may be negative. In other spaces the register may be an index from a variable at a high address. */
static inline bool space_wraps(u32 space)
{
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER ||
           space == PTX_SPACE_LOCAL;
}

#endif
