/* emu/lower/lower.h: PTX statements -> micro-operations, for the files that lower a family of instructions.
 *
 * A file has an array of rules. A rule names a form of the instruction table (ptx/isa_*.def), the function that lowers
 * the form, and a number for that function, which is mostly the first of the micro-operations among which the function
 * chooses (emu/ops/uops.def). For example, emu/lower/int.c lowers popc and clz like this:
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
 * operands.c reads operands. A rule's function sees one instruction only. It returns false (after lower_refuse) if it
 * cannot lower the instruction; the emitted code then raises a fault that names the instruction when a warp reaches
 * it. */
#ifndef HEDDLE_EMU_LOWER_LOWER_H
#define HEDDLE_EMU_LOWER_LOWER_H

#include "emu/ops/exec.h"
#include "ptx/ptx.h"

struct lower; /* the function that is being lowered */

typedef bool lower_fn(struct lower *L, const struct ptx_inst *i);
struct lower_rule {
    u16 form; /* enum ptx_form; a rule {0, NULL, 0} ends the list */
    lower_fn *fn;
    u32 data; /* the rule's number: lower_data(L) */
};
u32 lower_data(const struct lower *L);

/* Rows. `type` is an enum ptx_type; only its width matters, and for narrower sources its sign. */
/* Returns a row with the value of a register, constant, special register or address of a symbol. If the register is
 * wider than the type, the row has its low bits (8-bit types: an r16 row whose upper byte is the sign or zero
 * extension). */
u32 lower_source(struct lower *L, const struct ptx_opnd *o, unsigned type);
/* for `!p`: a temporary row with the inverse */
u32 lower_predicate(struct lower *L, const struct ptx_opnd *o);
/* a row with these bits in every lane */
u32 lower_constant(struct lower *L, u64 bits, unsigned bytes);
/* A fresh row, valid until the instruction ends. 16 bytes: two r64 rows. */
u32 lower_temp(struct lower *L, unsigned bytes);

struct lower_dest {
    /* The row to which the micro-operation writes a value of the requested type. For a sink `_` it is a temporary. */
    u32 row;
    const struct ptx_opnd *opnd;
    /* if the register is wider: its row and type; lower_finish extends the value into it */
    u32 real, type;
    bool widen;
};
struct lower_dest lower_dest(struct lower *L, const struct ptx_opnd *o, unsigned type);
void lower_finish(struct lower *L, const struct lower_dest *d);

/* Appends a micro-operation; rows as in struct emu_uop. The pointer is valid until the next call. */
struct emu_uop *lower_emit(struct lower *L, unsigned id, u32 d, u32 a, u32 b, u32 c);
/* Creates a site of the instruction that is lowered, for uop->site. `space`: enum ptx_space. */
u32 lower_site(struct lower *L, enum emu_site_kind kind, unsigned space);
void lower_site_op(struct lower *L, u32 site, unsigned op); /* SITE_ATOMIC: enum emu_atomic */
unsigned lower_atomic_op(const struct ptx_op *op); /* enum emu_atomic; ATOMIC_COUNT: none */
/* zeroed memory that lives as long as the code, for uop->ext */
void *lower_alloc(struct lower *L, size_t bytes);

/* A memory operand [address]: a row of addresses and an offset that is added to them. `space`: the state space of the
 * opcode or the named variable; GENERIC if neither has one. Addresses have the form that memory.h gives for that
 * space. */
struct lower_address {
    u32 row;
    u8 bytes; /* bytes of an address in the row: 4 or 8; 0: no register, the address is `offset` */
    u8 space;
    i64 offset;
    bool is_local_param; /* a .param variable of a function or call; `space` is LOCAL */
};
struct lower_address lower_address(struct lower *L, const struct ptx_opnd *o, unsigned space);

/* Loads that may be executed late (late.c). lower_may_be_late: whether the load that is lowered may be late; *row: row
 * of its addresses while it is pending; *steps: number of accesses that it may pass. After emitting its
 * micro-operation, the caller calls lower_is_late. */
bool lower_may_be_late(const struct lower *L, u32 *row, u32 *steps);
void lower_is_late(struct lower *L, const struct emu_uop *load, u32 row);
/* The micro-operations ld_late of the loads that may be pending when the access that is lowered executes. */
const struct emu_uop *const *lower_pending_loads(struct lower *L, u32 *count);

bool lower_is_kernel(const struct lower *L);   /* false: a device function */
unsigned lower_watched(const struct lower *L); /* enum lower_watch */
emu_op *lower_handler(const struct lower *L, unsigned id);
u32 lower_carry(struct lower *L); /* the row of the carry flag, a predicate row */
/* Whether no instruction reads the result of this atomic. */
bool lower_result_dead(const struct lower *L, const struct ptx_inst *i);
void lower_is_timed(struct lower *L); /* sets emu_program.timed */

bool lower_refuse(struct lower *L, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* bytes of an element of a row of this type: 8-bit types -> 2 (r16), pred -> 4 */
unsigned lower_type_bytes(unsigned type);
static inline bool lower_type_signed(unsigned type)
{
    return ptx_types[type].kind == PTX_SINT;
}

/* The families: lower_NAME_rules is in NAME.c, except the two of flow.c. rule_of() in lower.c lists all of them. */
extern const struct lower_rule lower_int_rules[], lower_float_rules[], lower_half_rules[],
    lower_cvt_rules[], lower_video_rules[], lower_move_rules[], lower_memory_rules[],
    lower_atomic_rules[], lower_async_rules[], lower_texture_rules[], lower_warp_rules[],
    lower_matrix_rules[];
extern const struct lower_rule lower_sync_rules[], lower_control_rules[]; /* flow.c */

/* ---- the driver ----------------------------------------------------------------------------------- */

struct image;
struct ptx_reach;
/* A kernel's parameters: those of its parameter list, and those that its body declares (PTX before 1.4). */
struct ptx_var **lower_kernel_params(struct arena *a, const struct ptx_func *f, size_t *count);

/* Events of which orders and observers are notified, as bits; 0: no order and no observer. */
enum lower_watch {
    LOWER_WATCHED = 1, /* atomics, strong and asynchronous accesses, syncs */
    LOWER_LOADS = 2,   /* also plain loads of global memory */
    LOWER_STORES = 4,
    LOWER_NEAR = 8,    /* also accesses of all other spaces */
    LOWER_ISSUES = 16, /* also each instruction */
    LOWER_SHARED = 32, /* also plain loads and stores of shared memory */
    LOWER_LATE = 64,   /* with LOADS and STORES: loads may be executed late */
    /* Alone, without the other bits: no notification, but loads and stores maintain ownership tags
     * (emu/speculate/conflict_free.h). */
    LOWER_TAGGED = 128,
    LOWER_WAYS = 129
};

struct emu_program *lower_program(struct arena *a, struct image *im, struct ptx_reach *reach,
                                  emu_op *const *ops, unsigned watched,
                                  enum emu_divergence divergence, char **why);

/* For tests: whether some family has a rule for the form. */
bool lower_knows(unsigned form);

#endif
