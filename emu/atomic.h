/* emu/atomic.h: the operations of atomics and reductions, and their descriptions in micro-operations.
 *
 *     u32 one = 1, old;
 *     atomic_apply(ATOMIC_ADD, PTX_u32, host, &one, NULL, &old);      // atom.add.u32 old, [host], 1;
 *
 * The lanes of a warp execute one after another, the lowest lane first. */
#ifndef HEDDLE_EMU_ATOMIC_H
#define HEDDLE_EMU_ATOMIC_H

#include "emu/ops/exec.h"
#include "emu/ops/memops.h"
#include "ptx/isa.h"

enum emu_atomic {
    ATOMIC_ADD,
    ATOMIC_ADD_FTZ, /* f32 in global memory: subnormal inputs and results become zeros */
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_INC, /* m >= b ? 0 : m + 1 */
    ATOMIC_DEC, /* m == 0 || m > b ? b : m - 1 */
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS, /* m == comparand ? operand : m */
    ATOMIC_COUNT
};

/* memory = op(memory, operand); *old is the previous value. `comparand` is only used by ATOMIC_CAS, `old` may be NULL.
 * The function makes plain host accesses to one element of `type` (enum ptx_type); no pointer needs to be aligned.
 * f16x2 and bf16x2 are one element of two halves. */
typedef void atomic_fn(void *memory, const void *operand, const void *comparand, void *old);
void atomic_apply(unsigned op, unsigned type, void *memory, const void *operand,
                  const void *comparand, void *old);
atomic_fn *atomic_function(unsigned op, unsigned type); /* NULL: there is no such operation */
/* Applies the operation to `count` elements in sequence; several may be the same element. Not for ATOMIC_CAS. */
typedef void atomic_each_fn(void *const *memory, const void *const *operand, u32 count);
atomic_each_fn *atomic_function_each(unsigned op, unsigned type);

/* Packed operands, as emu_defer_red (emu/sched/launch.c) stores them until the CTA's turn: the operand; for ATOMIC_CAS
 * the comparand followed by the new value. */
u32 atomic_packed_bytes(unsigned op, unsigned type); /* at most 32 */
void atomic_apply_packed(unsigned op, unsigned type, void *memory, const void *packed);

/* Whether the final value of an element does not depend on the order of such operations. */
bool atomic_commutes(unsigned op, unsigned type);

/* Executes a commutative reduction of 4 or 8 bytes by an atomic operation of the host. */
void atomic_reduce_now(u8 *host, unsigned op, unsigned type, const void *operand);

/* Executes a reduction of one element at `host`, the host address of `address`. global: the element is in global
 * memory, so CTAs on other host threads may access it, or the reduction is deferred until the CTA's turn. */
void atomic_reduce(struct emu_group *g, const struct emu_uop *in, bool global, u64 address,
                   u8 *host, unsigned op, unsigned type, const void *operand,
                   const void *comparand);

/* ---- descriptions ------------------------------------------------------------------------------- */

struct lane_address { /* the address of a lane */
    u8 space;         /* enum ptx_space; the first member, as in struct mem_desc: emu_find_bound */
    /* bytes of an element of the row: 4 or 8; 0: no row, the address is `offset` */
    u8 bytes;
    u32 row;
    i64 offset; /* added to the row's value */
};

struct atomic_desc { /* uop->ext of atom and red */
    struct lane_address at;
    /* enum emu_atomic. An ATOMIC_ADD of f32 becomes ATOMIC_ADD_FTZ if its address is in global memory. */
    u8 op;
    u8 type;  /* enum ptx_type of an element */
    u8 width; /* bytes of an element: 2, 4, 8, 16 */
    u8 count; /* elements of each lane, side by side in memory: 1, 2, 4, 8 */
    u8 flags; /* enum emu_access_flag */
    u8 scope; /* enum emu_scope */
    /* The instruction has no result. (A result that no instruction reads: flag EMU_DEAD_RESULT.) */
    bool red;
    emu_op *plain; /* of a watched micro-operation: the handler without notification */
    u32 result[8], operand[8], comparand[1]; /* rows; 16-byte elements: two rows of 8 */
};

/* Whether an operation is an atomic or a reduction, of any space; asynchronous ones are not. */
static inline bool atomic_is_uop(const struct emu_uop *in)
{
    return in->id >= UOP_atom_shared_add_u32 && in->id <= UOP_atom_watched;
}
_Static_assert(
    (int)UOP_atom == (int)UOP_atom_cas_b64 + 1 && (int)UOP_atom_watched == (int)UOP_atom + 1 &&
        (int)UOP_red_tagged == (int)UOP_atom_watched + 1,
    "emu/ops/uops_atomic.def: from atom_shared_add_u32 to atom_watched are all atomics, and no others");

/* The operation for an address in global memory, or elsewhere. */
static inline unsigned atomic_op_in(const struct atomic_desc *v, bool global)
{
    return v->op == ATOMIC_ADD && v->type == PTX_f32 && global ? (unsigned)ATOMIC_ADD_FTZ : v->op;
}

static inline u64 lane_address(const struct emu_group *g, const struct lane_address *a, u32 w,
                               u32 lane)
{
    const u64 sum = (a->bytes ? emu_get(g, a->bytes, a->row, w, lane) : 0) + (u64)a->offset;
    return a->bytes == 4 && space_wraps(a->space) ? (u32)sum : sum;
}

/* The addresses of all lanes of a warp, inactive lanes included. */
static inline void lane_addresses(const struct emu_group *g, const struct lane_address *a, u32 w,
                                  u64 at[LANES])
{
    const u64 offset = (u64)a->offset;
    if (a->bytes == 8) {
        const u64 *p = (const u64 *)(const void *)(g->r64 + a->row) + w * LANES;
        for (int l = 0; l < LANES; l++) at[l] = p[l] + offset;
    } else if (a->bytes == 4) {
        const u32 *p = (const u32 *)(const void *)(g->r32 + a->row) + w * LANES;
        if (space_wraps(a->space))
            for (int l = 0; l < LANES; l++) at[l] = p[l] + (u32)offset;
        else
            for (int l = 0; l < LANES; l++) at[l] = p[l] + offset;
    } else
        for (int l = 0; l < LANES; l++) at[l] = offset;
}

static inline bool element_inside(u64 a, u64 low, u64 high, u32 size)
{
    return a >= low && a < high && high - a >= size && !(a & (size - 1));
}

/* Whether the `size` bytes of every lane of the mask lie in low .. high - 1 and are aligned to `size`, a power of
 * two. */
static inline bool lanes_inside(const u64 at[LANES], u32 mask, u64 low, u64 high, u32 size)
{
    if (high - low < size) return false;
    const u64 last = high - low - size;
    u64 bad = 0;
    if (mask == ~0u)
        for (int l = 0; l < LANES; l++) bad |= (at[l] - low > last) | (at[l] & (size - 1));
    else
        for (u32 left = mask; left; left &= left - 1) {
            const u64 a = at[__builtin_ctz(left)];
            bad |= (a - low > last) | (a & (size - 1));
        }
    return !bad;
}

/* Copy an element of `width` bytes from a lane of its row or rows to memory (take), or from memory to the lane
 * (give). */
void lane_take(const struct emu_group *g, u32 row, u32 width, u32 w, u32 lane, void *to);
void lane_give(struct emu_group *g, u32 row, u32 width, u32 w, u32 lane, const void *from);

/* Whether an address of this space lies in global memory. */
bool atomic_is_global(const struct emu_group *g, u32 space, u64 address);

#endif
