/* emu/lower/lower.h: PTX statements -> micro-operations, for the files that lower a family of instructions.
 *
 * A file has an array of rules. A rule names a form of the instruction table (ptx/isa_*.def), the function that lowers
 * it, and a number for that function, which is mostly the first of the micro-operations that it chooses from
 * (emu/ops/uops.def). This is what emu/lower/int.c does with popc and clz:
 *
 *     static bool count_bits(struct lower *L, const struct ptx_inst *i)
 *     {
 *         unsigned t = i->op->type[0];                              // .b32 or .b64
 *         u32 a = lower_source(L, &i->opnds[1], t);                 // a row that holds the operand as type t
 *         struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_u32);
 *         lower_emit(L, lower_data(L) + (lower_type_bytes(t) == 8), d.row, a, 0, 0);
 *         lower_finish(L, &d);                                      // extends, if the register is wider
 *         return true;
 *     }
 *     FOLLOWS(popc_u64, popc_u32);                                  // asserts the order that "+ 1" relies on
 *     const struct lower_rule lower_int_rules[] = {..., {PTX_F_popc, count_bits, UOP_popc_u32}, ..., {0, NULL, 0}};
 *
 * lower.c walks the blocks, wraps guarded instructions and resolves branches; registers.c lays out registers,
 * operands.c reads operands. A rule sees one instruction only. It returns false (after lower_refuse) if it cannot lower
 * it: the instruction then becomes a fault that names it when it is reached. */
#ifndef HEDDLE_EMU_LOWER_LOWER_H
#define HEDDLE_EMU_LOWER_LOWER_H

#include "emu/ops/exec.h"
#include "ptx/ptx.h"

struct lower; /* the function that is being lowered */

typedef bool lower_fn(struct lower *L, const struct ptx_inst *i);
struct lower_rule {
    u16 form; /* enum ptx_form; a rule {0, NULL, 0} ends the list */
    lower_fn *fn;
    u32 data; /* the rule's own: lower_data(L) */
};
u32 lower_data(const struct lower *L);

/* Rows. Types are enum ptx_type; what counts is the width, and for narrower sources the sign. */
u32 lower_source(struct lower *L, const struct ptx_opnd *o, unsigned type); /* value of a register,
                                        * constant, special register or address of a symbol. A register that is
                                        * wider than the type is cut, so that rows of its low bits result (8-bit types: r16
                                        * rows whose upper byte is the sign or zero extension) */
u32 lower_predicate(struct lower *L,
                    const struct ptx_opnd *o); /* `!p` is inverted into a temporary */
u32 lower_constant(struct lower *L, u64 bits, unsigned bytes); /* in every lane */
u32 lower_temp(struct lower *L,
               unsigned bytes); /* fresh row, until the instruction ends; 16: two r64 */

struct lower_dest {
    u32 row; /* to be written as the type asked for; a sink `_` gives a temporary */
    const struct ptx_opnd *opnd;
    u32 real, type; /* if the register is wider: its row; lower_finish extends into it */
    bool widen;
};
struct lower_dest lower_dest(struct lower *L, const struct ptx_opnd *o, unsigned type);
void lower_finish(struct lower *L, const struct lower_dest *d);

/* Appends a micro-operation; rows as in struct emu_uop. The pointer is good until the next call. */
struct emu_uop *lower_emit(struct lower *L, unsigned id, u32 d, u32 a, u32 b, u32 c);
/* A fresh site of the instruction that is lowered, for uop->site; enum ptx_space. */
u32 lower_site(struct lower *L, enum emu_site_kind kind, unsigned space);
void lower_site_op(struct lower *L, u32 site, unsigned op); /* SITE_ATOMIC: enum emu_atomic */
unsigned lower_atomic_op(const struct ptx_op *op); /* enum emu_atomic; ATOMIC_COUNT: none */
void *lower_alloc(struct lower *L, size_t bytes);  /* zeroed, as long as the code: for uop->ext */

/* [address]: a row of addresses of `bytes` (4 or 8; 0: it is constant) and an offset to be added.
 * `space`: the space that the opcode or the named variable says; GENERIC if none. Addresses are as
 * memory.h says for that space. */
struct lower_address {
    u32 row;
    u8 bytes; /* 0: no register, the address is `offset` */
    u8 space;
    i64 offset;
    bool is_local_param; /* a .param variable of a function or call: space is LOCAL then */
};
struct lower_address lower_address(struct lower *L, const struct ptx_opnd *o, unsigned space);

/* Loads that may be carried out late (late.c). Of the load that is lowered: whether it may, the row of its addresses
 * while it is pending, and the accesses that it may pass. Then, when its micro-operation is there, lower_is_late. */
bool lower_may_be_late(const struct lower *L, u32 *row, u32 *steps);
void lower_is_late(struct lower *L, const struct emu_uop *load, u32 row);
/* Of the access that is lowered: the micro-operations ld_late of the loads that may be pending then. */
const struct emu_uop *const *lower_pending_loads(struct lower *L, u32 *count);

bool lower_is_kernel(const struct lower *L);   /* not a function that is called */
unsigned lower_watched(const struct lower *L); /* enum lower_watch */
emu_op *lower_handler(const struct lower *L, unsigned id);
u32 lower_carry(struct lower *L); /* the row of the carry flag, as a predicate */
/* Whether nobody reads the result of this atomic. */
bool lower_result_dead(const struct lower *L, const struct ptx_inst *i);
void lower_is_timed(struct lower *L); /* emu_program.timed */

bool lower_refuse(struct lower *L, const char *format, ...) __attribute__((format(printf, 2, 3)));

unsigned lower_type_bytes(unsigned type); /* of the row that holds it: 1 -> 2 (r16), pred -> 4 */
static inline bool lower_type_signed(unsigned type)
{
    return ptx_types[type].kind == PTX_SINT;
}

/* The families: lower_NAME_rules is in NAME.c, but for these two. rule_of() in lower.c lists them all. */
extern const struct lower_rule lower_int_rules[], lower_float_rules[], lower_half_rules[],
    lower_cvt_rules[], lower_video_rules[], lower_move_rules[], lower_memory_rules[],
    lower_atomic_rules[], lower_async_rules[], lower_texture_rules[], lower_warp_rules[],
    lower_matrix_rules[];
extern const struct lower_rule lower_sync_rules[], lower_control_rules[]; /* flow.c */

/* ---- the driver ----------------------------------------------------------------------------------- */

struct image;
struct ptx_reach;
/* A kernel's parameters: those of its head, and those that its body declares (PTX before 1.4). */
struct ptx_var **lower_kernel_params(struct arena *a, const struct ptx_func *f, size_t *count);

/* what orders and observers are notified of; 0: there are none */
enum lower_watch {
    LOWER_WATCHED = 1, /* atomics, strong and asynchronous accesses, syncs, */
    LOWER_LOADS = 2,   /* also plain loads and stores of global memory, */
    LOWER_STORES = 4,
    LOWER_NEAR = 8,    /* and of all other spaces, */
    LOWER_ISSUES = 16, /* and of each instruction */
    LOWER_SHARED = 32, /* also plain loads and stores of shared memory */
    LOWER_LATE = 64,   /* with LOADS and STORES: loads may be carried out late */
    /* or of nothing: but what is loaded and stored has tags (emu/speculate/conflict_free.h) */
    LOWER_TAGGED = 128,
    LOWER_WAYS = 129
};

struct emu_program *lower_program(struct arena *a, struct image *im, struct ptx_reach *reach,
                                  emu_op *const *ops, unsigned watched,
                                  enum emu_divergence divergence, char **why);

/* For tests: whether some family knows the form. */
bool lower_knows(unsigned form);

#endif
