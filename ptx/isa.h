/* ptx/isa.h: the instruction table, and how an opcode's text finds its row.
 *
 * isa.def has one row for each form of a PTX instruction, in isa_arith.def, isa_memory.def and isa_warp.def:
 *
 *     FORM(add_f32, "add", "{.RND}{.ftz}{.sat}.f32", "=T, T, T", 10, "", FP32, FADD, 0)
 *           id      name    modifiers and types        operands  PTX sm  unit  cost  effects
 *
 * name       the words that come first and in this order ("add", "mul.wide", "cp.async.bulk").
 * modifiers  the words after the name. A lower-case word stands for itself, an UPPER-CASE word for
 *            any one word of that group in words.def; braces make it optional; `{.A|.B}` is one slot
 *            with several choices. A slot may say since when it exists: `{.relu:70/80}` needs PTX
 *            ISA 7.0 and sm_80 (either part may be left out: `{.x:78}`, `{.y:/90}`).
 *            Words that are types (types.def) fill type slots from left to right: the first is T,
 *            the second T2, and so on. Other words may stand in any order, each slot is filled at
 *            most once. (That is what ptxas accepts.)
 * operands   separated by commas; each is  FLAGS BASE COUNT ?
 *              FLAGS  `=` written          `#` constant only       `$` register only
 *                     `~` register may be wider than the type (ld, st, cvt)
 *                     `%` a special register may stand here        `_` result may be dropped with _
 *                     `!` a predicate that may be negated (always on for pred sources)
 *                     `-` a register that may carry a minus sign (video instructions)
 *                     `&` the address or name of a variable, function or label may stand here
 *                     `.` a register may carry a byte or half selector .b0-.b3, .h0, .h1
 *                     `..` a SIMD selector of the 2 halves or 4 bytes that the name's last digit says:
 *                     on a source .hXY, X and Y 0-3, or .bWXYZ, each 0-7; on a result, which lanes
 *                     it writes, highest first: .h0 .h1 .h10, .b0 ... .b3210
 *              BASE   T T2 T3 T4   the opcode's types            W  T at twice the width
 *                     a type's name (u32, f16x2, pred ...)
 *                     P P2 P3 P4  a register holding a piece of a matrix of T (T2 ...): f16 fits .b32
 *                                 and .f16x2; bf16 and tf32 fit .b32; integer and 8-bit float
 *                                 elements any 32-bit register; f32, s32 and f64 as usual
 *                     [SPACE]     an address; SPACE is a state space or several joined by |, empty:
 *                                 the space the opcode names, else generic; `[]u`: .unified may follow
 *                     [tex C] [surf C] [map C]   texture, surface or tensor map, and a coordinate
 *                                 vector C written as BASE COUNT (`[tex T2*1|2|4]`); with `u32+` in
 *                                 front its first element is a u32 array index
 *                     [texref] [samplerref] [surfref]   such a reference alone
 *                     _           nothing but the sink
 *                     [tmem]      a tensor-memory address
 *                     label       a branch target         targets   name of a .branchtargets list
 *                     call        the rest of a call statement
 *                     `(lo:hi)` after a base: a constant must lie in this range, with `(lo:hi/step)`
 *                                 on a multiple of step, with `(lo:hi^)` be a power of two; `(4|8|16)`:
 *                                 be one of these
 *              COUNT  `*4` a vector of four; `*2|4` of two or four, `*1|2` of one (braces or not) or
 *                     two; `*V` as the opcode's .v2/.v4/.v8 says, at most 128 bits, a plain operand if
 *                     it says nothing; `*X` as its word x1 ... x128 says (`*2X`, `*4X`: times that);
 *                     `*mn` `*mk` `*nk`: as many registers as one thread of a warp (of 128 threads,
 *                     where M is 64) holds of a matrix of that shape, M, N and K from the opcode's
 *                     mMnNkK word (`*mk/2`: half of it); `*L` as .v4/.v8 says, 256 bits exactly;
 *                     by the opcode's geometry word (1d ... acube): `*G` coordinates, `*O` offsets,
 *                     `*D` gradients of textures, `*N` coordinates and `*I` im2col offsets of tensors
 *              @word  the operand is there exactly when the opcode has this word
 *              ?      may be left out
 *              :      `:71/60` at the end: since when the operand may be there
 *              p|q    `=pred|pred`: the second result, after |, is optional; `||pred`: it must be
 *                     there; `|_pred`: it may be _
 * PTX, sm    the PTX ISA version times ten and the target that the form needs. sm is "" for any,
 *            "70" for sm_70 and above, "90a" for exactly sm_90a, "100a 100f 110a" for any of these.
 *            "<20": below sm_20. `UNTIL(10, 13)` in the PTX column, 10 | 13 << 8: from PTX ISA 1.0 to
 *            1.3, no longer in 1.4.
 * unit       the kind of instruction (enum ptx_unit), for the statistics.
 * cost       the cost class (costs.def), for the timing model. Every type of a form costs the same; the
 *            timing model scales matrix instructions by their shape.
 * effects    bits of enum ptx_effect: what the form does beyond its results.
 *
 * REFUSED(...) rows have one more column: why Heddle does not execute the form. They are parsed and
 * checked like any other.
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
    uint16_t bits;    /* width of a value */
    uint8_t kind;     /* enum ptx_type_kind */
};
extern const struct ptx_type_info ptx_types[PTX_TYPE_COUNT];

/* PTX_NO_TYPE if no type is spelled like this. */
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

enum ptx_cost { /* instructions of one class take the same time */
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
    PTX_EFFECT = 128, /* any other effect: must not be removed, even if the result is dead */
};

/* A row as it is written in isa.def. */
struct ptx_form_info {
    const char *id, *name, *mods, *opnds;
    const char *sm;
    const char *refused; /* why Heddle does not execute it; NULL: it does */
    uint16_t since;      /* PTX ISA version times ten; the last one that has it in the high byte */
    uint16_t effects;    /* enum ptx_effect */
    uint8_t unit;        /* enum ptx_unit */
    uint8_t cost;        /* enum ptx_cost */
};

enum ptx_form {
#define FORM(id, name, mods, opnds, since, sm, unit, cost, effects) PTX_F_##id,
#include "ptx/isa.def"
    PTX_FORM_COUNT
};
extern const struct ptx_form_info ptx_forms[PTX_FORM_COUNT];
const char *ptx_unit_name(enum ptx_unit unit);

/* What an operand may be. */
enum ptx_base {
    PTX_BASE_VALUE, /* a register or constant of `type` */
    PTX_BASE_ADDR,  /* [address] in one of `spaces` */
    PTX_BASE_LABEL,
    PTX_BASE_CALL,    /* the rest of a call */
    PTX_BASE_TARGETS, /* the name of a list of branch targets */
    PTX_BASE_TEX,     /* [texture, {coordinates}] or [texture, sampler, {coordinates}] */
    PTX_BASE_SURF,    /* [surface, {coordinates}] */
    PTX_BASE_MAP,     /* [tensor map, {coordinates}] */
    PTX_BASE_REF,     /* [texture, sampler or surface], `type` says which */
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
    PTX_SECOND = 2048,           /* p|q: a second result may follow */
    PTX_RANGE = 4096,            /* constants must lie in low .. high */
    PTX_PIECE = 8192,            /* a register with a piece of a matrix */
    PTX_UNIFIED = 16384,         /* an address that .unified may follow */
    PTX_LEADING_U32 = 1 << 15,   /* coordinates: the first is a u32 array index */
    PTX_SECOND_NEEDED = 1 << 16, /* p|q: the second result must be there */
    PTX_SECOND_SINK = 1 << 17,   /* p|q: the second may be _ */
    PTX_FIXED = 1 << 19,         /* the type is the form's own, not one that the opcode names */
    PTX_SIMD = 1 << 18,          /* a selector of several bytes or halves may follow */
};

/* One operand of one resolved opcode: nothing in it depends on the opcode's types any more. */
struct ptx_shape {
    uint32_t flags;          /* enum ptx_opnd_flag */
    uint8_t base;            /* enum ptx_base */
    uint8_t type;            /* enum ptx_type of a value, coordinate or matrix piece */
    uint8_t count_n;         /* how many entries of `counts` hold; 0: a plain operand */
    uint8_t value_n;         /* constants must be one of `values` */
    uint16_t counts[4];      /* vector lengths that are allowed; 0 stands for a plain operand */
    uint16_t spaces;         /* ADDR: bits 1 << enum ptx_space; 0: the opcode's space */
    int64_t low, high, step; /* RANGE; step 0: powers of two */
    int16_t values[6];
    const char *gate,
        *second_gate; /* why this module may not have the operand, or the result behind |;
                                     * NULL: it may */
};

/* An opcode with its modifiers and types, resolved against one row. Instructions that are spelled
 * alike share it. */
struct ptx_op {
    const struct ptx_form_info *form;
    const char *text; /* as it was first written, without blanks: "ld.global.u32" */
    uint32_t text_length;
    uint8_t type[8]; /* T, T2, ...: enum ptx_type */
    uint8_t type_count;
    uint8_t vec;                    /* 1, 2, 4 or 8 */
    uint8_t space;                  /* enum ptx_space that the opcode names */
    uint8_t shape_count, shape_min; /* operands: at most, at least */
    const struct ptx_shape *shapes;
    const struct ptx_op *next; /* another row with the same spelling, for other operands */
    const char *gate;          /* not NULL: why this module's version or target may not use it */
};

enum ptx_form ptx_op_form(const struct ptx_op *op);

/* Whether the opcode was written with this word ("ftz", "shared::cta"). */
bool ptx_op_has(const struct ptx_op *op, const char *word);

/* The numbers of its mMnNkK word; 0, and false, if it has none. */
bool ptx_op_matrix(const struct ptx_op *op, unsigned *m, unsigned *n, unsigned *k);

/* The instruction table as one module uses it. */
struct ptx_isa *ptx_isa_new(struct arena *arena, uint16_t version, uint16_t sm, char suffix);

/* The rows that an opcode's text fits, first the preferred one, or NULL. On NULL, and on ops whose
 * `gate` is set, ptx_isa_explain says what is wrong: the part of the text it is about and a message;
 * `note` may become a hint on what would fit. */
const struct ptx_op *ptx_isa_find(struct ptx_isa *isa, const char *text, uint32_t length);
struct ptx_explanation {
    uint32_t from, length; /* in the text */
    const char *message, *note;
};
struct ptx_explanation ptx_isa_explain(struct ptx_isa *isa, const char *text, uint32_t length);

/* Whether some row's name starts with these bytes up to a dot: "ld", "mul". */
bool ptx_isa_is_name(const char *text, uint32_t length);

/* A form's modifiers as a reader of the manual would write them: {} may be left out, () is a choice. */
const char *ptx_form_modifiers(enum ptx_form form);

/* Compiles every row and returns what is wrong with the table itself, NULL if nothing is: for the
 * tests, which call it with every version and target. */
const char *ptx_isa_self_check(struct arena *arena);

#endif
