/* ptx/isa.h: the instruction table, and the lookup of rows by the text of an opcode.
 *
 * The table has one row for each form of a PTX instruction, in isa_arith.def, isa_memory.def and isa_warp.def:
 *
 *     FORM(add_f32, "add", "{.RND}{.ftz}{.sat}.f32", "=T, T, T", 10, "", FP32, FADD, 0)
 *           id      name    modifiers and types        operands  PTX sm  unit  cost  effects
 *
 * name       the first words of the opcode, in this order ("add", "mul.wide", "cp.async.bulk").
 * modifiers  the words after the name. A lower-case word stands for itself, an UPPER-CASE word for
 *            any one word of that group in words.def; braces make a word optional; `{.A|.B}` is one
 *            slot with several choices. A slot may name the versions that introduced it: `{.relu:70/80}`
 *            needs PTX ISA 7.0 and sm_80 (one of them may be missing: `{.x:78}`, `{.y:/90}`).
 *            Words that are types (types.def) fill type slots from left to right: the first is T,
 *            the second T2, and so on. Other words may stand in any order, and each slot is filled
 *            at most once, as in ptxas.
 * operands   separated by commas; each is  FLAGS BASE COUNT ?
 *              FLAGS  `=` the instruction writes the operand
 *                     `#` constant only                            `$` register only
 *                     `~` the register may be wider than the type (ld, st, cvt)
 *                     `%` a special register is allowed            `_` the result may be the sink _
 *                     `!` the predicate may be negated (always allowed for pred sources)
 *                     `-` the register may have a minus sign (video instructions)
 *                     `&` the address or name of a variable, function or label is allowed
 *                     `.` the register may have a byte or half selector .b0-.b3, .h0, .h1
 *                     `..` a SIMD selector of 2 halves or 4 bytes (the last digit of the name): on a
 *                     source .hXY, X and Y 0-3, or .bWXYZ, each 0-7; on a result the lanes that the
 *                     instruction writes, highest first: .h0 .h1 .h10, .b0 ... .b3210
 *              BASE   T T2 T3 T4   the opcode's types            W  T at twice the width
 *                     a type's name (u32, f16x2, pred ...)
 *                     P P2 P3 P4  a register with a fragment of a matrix of T (T2 ...): f16 fits .b32
 *                                 and .f16x2; bf16 and tf32 fit .b32; integer and 8-bit float
 *                                 elements fit any 32-bit register; f32, s32 and f64 as usual
 *                     [SPACE]     an address; SPACE is one state space or several joined by |; empty:
 *                                 the space that the opcode names, else generic; `[]u`: .unified may
 *                                 follow
 *                     [tex C] [surf C] [map C]   texture, surface or tensor map, and a coordinate
 *                                 vector C written as BASE COUNT (`[tex T2*1|2|4]`); `u32+` before C:
 *                                 the first element is a u32 array index
 *                     [texref] [samplerref] [surfref]   a texture, sampler or surface reference alone
 *                     _           the sink only
 *                     [tmem]      a tensor-memory address
 *                     label       a branch target         targets   name of a .branchtargets list
 *                     call        the rest of a call statement
 *                     `(lo:hi)` after a base: the range of a constant; `(lo:hi/step)`: multiples of
 *                                 step in that range; `(lo:hi^)`: powers of two in that range;
 *                                 `(4|8|16)`: the constant is one of these
 *              COUNT  `*4` a vector of four; `*2|4` a vector of two or four; `*1|2` of one (with or
 *                     without braces) or two; `*V` the opcode's .v2/.v4/.v8, at most 128 bits, a
 *                     scalar if the opcode has none; `*X` the opcode's word x1 ... x128 (`*2X`, `*4X`:
 *                     twice, four times that); `*mn` `*mk` `*nk`: the number of registers that one
 *                     thread of a warp (of 128 threads, where M is 64) has of a matrix of that shape,
 *                     with M, N and K from the opcode's mMnNkK word (`*mk/2`: half of them); `*L` the
 *                     opcode's .v4/.v8, exactly 256 bits; by the opcode's geometry word (1d ... acube):
 *                     `*G` coordinates, `*O` offsets, `*D` gradients of textures, `*N` coordinates and
 *                     `*I` im2col offsets of tensors
 *              @word  the operand exists if and only if the opcode has this word
 *              ?      the operand is optional
 *              :      `:71/60` at the end: PTX ISA version and target that introduced the operand
 *              p|q    `=pred|pred`: the second result, after |, is optional; `||pred`: it is required;
 *                     `|_pred`: it may be _
 * PTX, sm    the PTX ISA version times ten and the target that the form needs. sm is "" for any,
 *            "70" for sm_70 and above, "90a" for exactly sm_90a, "100a 100f 110a" for any of these,
 *            "<20" for targets below sm_20. `UNTIL(10, 13)` in the PTX column, 10 | 13 << 8: PTX ISA
 *            1.0 to 1.3 have the form, 1.4 does not.
 * unit       the kind of instruction (enum ptx_unit), for statistics.
 * cost       the cost class (costs.def), for the timing model. All types of a form have one class; the
 *            timing model scales matrix instructions by their shape.
 * effects    bits of enum ptx_effect: what the form does besides computing its results.
 *
 * REFUSED(...) rows have one more column: the reason why Heddle does not execute the form. The parser
 * reads and checks such instructions like any others.
 */
#ifndef HEDDLE_PTX_ISA_H
#define HEDDLE_PTX_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum ptx_type {
    PTX_NO_TYPE,
#define TYPE(id, bits, kind) PTX_##id,
#include "ptx/types.def"
    PTX_TYPE_COUNT
};

enum ptx_type_kind { PTX_UINT, PTX_SINT, PTX_BITS, PTX_FLOAT, PTX_PRED, PTX_OPAQUE, PTX_PACK };

struct ptx_type_info {
    const char *name; /* without the dot */
    uint16_t bits;    /* width of a value in bits */
    uint8_t kind;     /* enum ptx_type_kind */
};
extern const struct ptx_type_info ptx_types[PTX_TYPE_COUNT];

/* The type with this name (without the dot); PTX_NO_TYPE: none. */
enum ptx_type ptx_type_find(const char *text, size_t length);

enum ptx_unit {
    PTX_UNIT_IALU, /* integer add, logic, shift, compare, select */
    PTX_UNIT_IMUL, /* integer multiply and multiply-add, dot products */
    PTX_UNIT_IDIV, /* integer division, a sequence on hardware */
    PTX_UNIT_FP16, /* f16, bf16 and their pairs */
    PTX_UNIT_FP32,
    PTX_UNIT_FP64,
    PTX_UNIT_SFU,    /* special functions, approximations */
    PTX_UNIT_CVT,    /* conversions */
    PTX_UNIT_MOVE,   /* register moves, address conversions, special registers */
    PTX_UNIT_VIDEO,  /* video instructions */
    PTX_UNIT_MEM,    /* loads, stores, prefetches, asynchronous copies */
    PTX_UNIT_ATOM,   /* atomics and reductions on memory */
    PTX_UNIT_TEX,    /* textures and surfaces */
    PTX_UNIT_TENSOR, /* matrix multiply and its loads and stores */
    PTX_UNIT_WARP,   /* shuffles, votes, warp reductions */
    PTX_UNIT_SYNC,   /* barriers, fences, mbarrier */
    PTX_UNIT_CTRL,   /* branches, calls, returns, traps */
    PTX_UNIT_MISC,   /* the rest */
    PTX_UNIT_COUNT
};

enum ptx_cost { /* cost classes: the timing model gives all instructions of a class the same latency and interval */
#define COST(id, pipeline, text) PTX_COST_##id,
#include "ptx/costs.def"
                PTX_COST_COUNT
};

enum ptx_effect {
    PTX_READS = 1,    /* reads memory */
    PTX_WRITES = 2,   /* writes memory */
    PTX_ATOMIC = 4,   /* reads and writes memory in one step */
    PTX_FENCE = 8,    /* orders memory accesses */
    PTX_BARRIER = 16, /* waits for other threads */
    PTX_FLOW = 32,    /* may change the flow of control */
    PTX_LANES = 64,   /* a lane's result depends on other lanes of the warp */
    PTX_EFFECT = 128, /* any other effect: the instruction is needed even if its results are dead */
};

/* A row of the table, as the .def files have it. */
struct ptx_form_info {
    const char *id, *name, *mods, *opnds;
    const char *sm;
    const char *refused; /* why Heddle does not execute the form; NULL: Heddle executes it */
    uint16_t since;   /* low byte: first PTX ISA version, times ten; high byte: the last; 0: none */
    uint16_t effects; /* enum ptx_effect */
    uint8_t unit;     /* enum ptx_unit */
    uint8_t cost;     /* enum ptx_cost */
};

enum ptx_form {
#define FORM(id, name, mods, opnds, since, sm, unit, cost, effects) PTX_F_##id,
#include "ptx/isa.def"
    PTX_FORM_COUNT
};
extern const struct ptx_form_info ptx_forms[PTX_FORM_COUNT];
const char *ptx_unit_name(enum ptx_unit unit);

/* Kinds of operands. */
enum ptx_base {
    PTX_BASE_VALUE, /* a register or constant of `type` */
    PTX_BASE_ADDR,  /* [address] in one of `spaces` */
    PTX_BASE_LABEL,
    PTX_BASE_CALL,    /* results, callee, arguments and prototype of a call */
    PTX_BASE_TARGETS, /* the name of a list of branch targets */
    PTX_BASE_TEX,     /* [texture, {coordinates}] or [texture, sampler, {coordinates}] */
    PTX_BASE_SURF,    /* [surface, {coordinates}] */
    PTX_BASE_MAP,     /* [tensor map, {coordinates}] */
    PTX_BASE_REF,     /* [texture, sampler or surface reference], by `type` */
    PTX_BASE_TMEM,    /* [tensor memory address] */
    PTX_BASE_SINK,    /* _ */
};

enum ptx_opnd_flag {
    PTX_WRITTEN = 1,
    PTX_CONSTANT = 2,
    PTX_REGISTER = 4,
    PTX_WIDE = 8,
    PTX_SPECIAL = 16,
    PTX_SINKABLE = 32,
    PTX_NEGATABLE = 64,
    PTX_MINUS = 128,
    PTX_NAMED = 256,
    PTX_SELECTABLE = 512,
    PTX_OPTIONAL = 1024,
    PTX_SECOND = 2048,           /* p|q: a second result is allowed */
    PTX_RANGE = 4096,            /* constants must be in low .. high */
    PTX_PIECE = 8192,            /* a register with a fragment of a matrix */
    PTX_UNIFIED = 16384,         /* an address; .unified may follow */
    PTX_LEADING_U32 = 1 << 15,   /* coordinates: the first element is a u32 array index */
    PTX_SECOND_NEEDED = 1 << 16, /* p|q: the second result is required */
    PTX_SECOND_SINK = 1 << 17,   /* p|q: the second result may be _ */
    PTX_FIXED = 1 << 19,         /* the row fixes the type; the opcode does not name it */
    PTX_SIMD = 1 << 18,          /* a selector of several bytes or halves is allowed */
};

/* One operand of a resolved opcode. Types and counts are those of the opcode, not those of the row. */
struct ptx_shape {
    uint32_t flags;     /* enum ptx_opnd_flag */
    uint8_t base;       /* enum ptx_base */
    uint8_t type;       /* enum ptx_type of a value, coordinate or matrix fragment */
    uint8_t count_n;    /* number of entries in `counts`; 0: a scalar operand */
    uint8_t value_n;    /* number of entries in `values`; not 0: constants must be one of them */
    uint16_t counts[4]; /* the allowed vector lengths; 0: a scalar operand */
    uint16_t spaces;    /* ADDR: a bit 1 << enum ptx_space for each; 0: the opcode's space */
    int64_t low, high, step; /* PTX_RANGE: bounds, inclusive; step 0: powers of two */
    int16_t values[6];
    /* Why the module's version or target does not allow the operand, and the result behind |. NULL: allowed. */
    const char *gate, *second_gate;
};

/* An opcode with its modifiers and types, resolved against one row. All instructions with the same opcode
 * text share one object. */
struct ptx_op {
    const struct ptx_form_info *form;
    const char *text; /* the opcode, without blanks: "ld.global.u32"; not NUL-terminated */
    uint32_t text_length;
    uint8_t type[8]; /* enum ptx_type of T, T2, ... */
    uint8_t type_count;
    uint8_t vec;                    /* vector length: 1, 2, 4 or 8 */
    uint8_t space;                  /* enum ptx_space that the opcode names */
    uint8_t shape_count, shape_min; /* the most and the fewest operands */
    const struct ptx_shape *shapes;
    const struct ptx_op *next; /* the same text resolved against another row; NULL: none */
    const char *gate; /* why the module's version or target does not allow it; NULL: allowed */
};

enum ptx_form ptx_op_form(const struct ptx_op *op);

/* Whether the text of the opcode has this word ("ftz", "shared::cta"). */
bool ptx_op_has(const struct ptx_op *op, const char *word);

/* M, N and K of the opcode's mMnNkK word. false: the opcode has no such word, and the numbers are 0. */
bool ptx_op_matrix(const struct ptx_op *op, unsigned *m, unsigned *n, unsigned *k);

/* The instruction table for one module. version: PTX ISA times ten; sm and suffix: the target (90, 'a'). */
struct ptx_isa *ptx_isa_new(struct arena *arena, uint16_t version, uint16_t sm, char suffix);

/* The rows that the text of an opcode fits, linked by `next`, the preferred one first. NULL: none. For
 * NULL, and for ops whose `gate` is set, ptx_isa_explain() returns the wrong part of the text and a message;
 * `note` is a hint at what would fit, or NULL. */
const struct ptx_op *ptx_isa_find(struct ptx_isa *isa, const char *text, uint32_t length);
struct ptx_explanation {
    uint32_t from, length; /* range in the text, in bytes */
    const char *message, *note;
};
struct ptx_explanation ptx_isa_explain(struct ptx_isa *isa, const char *text, uint32_t length);

/* Whether these bytes are the name of a row, or its first words up to a dot: "ld", "mul". */
bool ptx_isa_is_name(const char *text, uint32_t length);

/* A form's modifiers in the notation of the PTX manual: {} is optional, () is a choice. */
const char *ptx_form_modifiers(enum ptx_form form);

/* Compiles every row and returns the errors in the table itself, a line for each wrong row; NULL: none. For
 * the tests. */
const char *ptx_isa_self_check(struct arena *arena);

#endif
