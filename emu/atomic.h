/* emu/atomic.h: what atomics do to memory, and how an instruction says it.
 *
 *     u32 one = 1, old;
 *     atomic_apply(ATOMIC_ADD, PTX_u32, host, &one, NULL, &old);      // atom.add.u32 old, [host], 1;
 *
 * Lanes of a warp act one after the other, the lowest first. */
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

/* memory = op(memory, operand), and *old what it was; `comparand` is for ATOMIC_CAS alone, `old` may be
 * NULL. Plain accesses of the element that `type` (enum ptx_type) says; nothing needs to be aligned.
 * f16x2 and bf16x2 are one element of two halves. */
typedef void atomic_fn(void *memory, const void *operand, const void *comparand, void *old);
void atomic_apply(unsigned op, unsigned type, void *memory, const void *operand,
                  const void *comparand, void *old);
atomic_fn *atomic_function(unsigned op, unsigned type); /* NULL: there is no such operation */
/* The same of `count` elements one after the other, which may be the same; not for ATOMIC_CAS. */
typedef void atomic_each_fn(void *const *memory, const void *const *operand, u32 count);
atomic_each_fn *atomic_function_each(unsigned op, unsigned type);

/* What emu_defer_red (emu/sched/launch.c) keeps until it is the CTA's turn: the operand; of ATOMIC_CAS the comparand and, behind it, the new value. */
u32 atomic_packed_bytes(unsigned op, unsigned type); /* at most 32 */
void atomic_apply_packed(unsigned op, unsigned type, void *memory, const void *packed);

/* Whether the order of such operations on one element does not matter for what is there in the end. */
bool atomic_commutes(unsigned op, unsigned type);

/* One that commutes, of 4 or 8 bytes, by the host's atomics. */
void atomic_reduce_now(u8 *host, unsigned op, unsigned type, const void *operand);

/* Carries out a reduction of one element at `host`, which is what lies at `address` in global memory
 * (global: CTAs on other host threads may be at it, or it waits until it is the CTA's turn) or elsewhere. */
void atomic_reduce(struct emu_group *g, const struct emu_uop *in, bool global, u64 address,
                   u8 *host, unsigned op, unsigned type, const void *operand,
                   const void *comparand);

/* ---- of an instruction ------------------------------------------------------------------------- */

struct lane_address { /* where a lane's memory lies */
    u8 space;         /* enum ptx_space; the first member, as in struct mem_desc: emu_find_bound */
    u8 bytes;         /* of the row: 4 or 8; 0: there is none */
    u32 row;
    i64 offset; /* to be added */
};

struct atomic_desc { /* uop->ext of atom and red */
    struct lane_address at;
    u8 op;    /* enum emu_atomic; an ATOMIC_ADD of f32 is an ADD_FTZ where it finds global memory */
    u8 type;  /* enum ptx_type of an element */
    u8 width; /* its bytes: 2, 4, 8, 16 */
    u8 count; /* elements of each lane, side by side in memory: 1, 2, 4, 8 */
    u8 flags; /* enum emu_access_flag */
    u8 scope; /* enum emu_scope */
    bool red; /* there is no result. (One that is there and nobody reads: EMU_DEAD_RESULT) */
    emu_op *plain; /* of a watched one: what does it when nobody watches */
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

/* The operation as it is in the space that an address turned out to be in. */
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

/* The addresses of all lanes of a warp, those that are off included. */
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

/* Whether every lane of the mask has `size` bytes, a power of two, at a multiple of that in low .. high. */
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

/* An element of a lane: between its rows and bytes in a row. */
void lane_take(const struct emu_group *g, u32 row, u32 width, u32 w, u32 lane, void *to);
void lane_give(struct emu_group *g, u32 row, u32 width, u32 w, u32 lane, const void *from);

/* Whether an address of this space lies in global memory. */
bool atomic_is_global(const struct emu_group *g, u32 space, u64 address);

#endif
