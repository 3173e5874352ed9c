/* ptx/ptx.h: a PTX module in memory.
 *
 *     struct ptx_module *m = ptx_module_parse(arena, &source, &diags);   // never NULL
 *     ptx_module_check(m);                                                // every body, every rule
 *     for (size_t i = 0; i < m->func_count; i++) use(m->funcs[i]);
 *
 * ptx_module_parse reads the module level: versions, variables, and the head of every function. A
 * function's body is only stepped over; ptx_func_parse reads it when somebody needs it, so a module
 * with a thousand unreached functions costs little. Errors go to the diags given; what could be
 * read is there, but only a module without errors may be used further.
 *
 * Everything is owned by the arena given and holds pointers into the source text, which must live as
 * long. A module belongs to one thread while it is being parsed; afterwards it is read-only. */
#ifndef HEDDLE_PTX_PTX_H
#define HEDDLE_PTX_PTX_H

#include "ptx/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct diags;
struct source;

/* Limits, so that no input takes memory or time without bound. Each is said in the message. */
enum {
    PTX_MAX_TEXT = 1 << 30,     /* bytes of a module */
    PTX_MAX_NAME = 1 << 16,     /* bytes of a name or of an opcode with its modifiers */
    PTX_MAX_NESTING = 256,      /* scopes, initialiser lists, expressions, operands */
    PTX_MAX_PARAMS = 4096,      /* parameters of one function */
    PTX_MAX_DIMS = 64,          /* dimensions of an array */
    PTX_MAX_OPERANDS = 1 << 16, /* elements of an operand in braces, brackets or parentheses */
    PTX_MAX_TARGETS = 1 << 18,  /* of .branchtargets and .calltargets */
};

enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_REG,
    PTX_SPACE_SREG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED, /* .shared and .shared::cta */
    PTX_SPACE_SHARED_CLUSTER,
    PTX_SPACE_TEX,
    PTX_SPACE_COUNT
};
_Static_assert(PTX_SPACE_COUNT <= 16, "struct ptx_shape has a bit for each in 16");
const char *ptx_space_name(enum ptx_space space); /* "global"; "generic" for no space */

enum ptx_linkage {
    PTX_LINK_NONE,
    PTX_LINK_EXTERN,
    PTX_LINK_VISIBLE,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
};

/* A name as it is spelled; one object per spelling and module. */
struct ptx_name {
    const char *text; /* in the source (or NUL-terminated for predefined names) */
    uint32_t length, hash;
    struct ptx_sym *sym; /* what it means at the point that is being parsed */
    union {
        struct ptx_sym *range; /* likewise, as the prefix of a register range: `%r` of %r<100> */
        const void *about;     /* noted: what the fact is about */
    };
    struct ptx_sym *numbered; /* single registers and variables that are this name and a number */
    bool section_label;       /* it is also a label in a debug section */
    bool noted;               /* it stands for a fact: ptx_note */
};

enum ptx_sym_kind {
    PTX_SYM_REG,
    PTX_SYM_RANGE, /* %r<100>; its members become PTX_SYM_REG when they are first used */
    PTX_SYM_VAR,   /* variable or parameter in memory */
    PTX_SYM_FUNC,
    PTX_SYM_LABEL,
    PTX_SYM_PROTO,   /* label: .callprototype */
    PTX_SYM_TARGETS, /* label: .branchtargets or .calltargets */
    PTX_SYM_SREG,    /* special register */
};

struct ptx_sym {
    uint8_t kind;   /* enum ptx_sym_kind */
    uint8_t type;   /* enum ptx_type, of a REG, RANGE, SREG or VAR */
    uint8_t vec;    /* elements of a vector register, special register or variable; 1: a scalar */
    uint8_t space;  /* enum ptx_space, of a VAR; of a SREG the fewest bits it may be read as */
    uint32_t at;    /* place of its declaration; 0 for predefined names */
    uint32_t scope; /* serial of the scope it was declared in; 0: the module */
    uint32_t id;    /* REG: its number in the function, from 0. LABEL: the index of the
                                  * statement it stands before. RANGE: how many registers */
    struct ptx_name *name;
    struct ptx_sym *outer;   /* the meaning it hides until its scope ends */
    struct ptx_sym *next;    /* the symbol declared before it in the same scope */
    struct ptx_sym *sibling; /* another of name->numbered */
    union {
        struct ptx_sym *range; /* REG: the range it is a member of, or NULL */
        struct ptx_var *var;
        struct ptx_func *func;
        struct ptx_proto *proto;
        struct ptx_targets *targets;
    };
};

/* An initialiser: a tree, because braces nest. */
enum ptx_init_kind {
    PTX_INIT_LIST,
    PTX_INIT_INT,
    PTX_INIT_FLOAT,
    PTX_INIT_SYM,
    PTX_INIT_FIELDS, /* { width = 5, ... } of a texture, sampler or surface: kept as text */
};
struct ptx_init {
    uint8_t kind; /* enum ptx_init_kind */
    bool generic; /* SYM: generic(symbol) */
    uint8_t
        mask; /* SYM: which byte of mask(symbol) as its lowest bit's number, plus 1; 0: no mask */
    uint8_t literal; /* FLOAT: enum ptx_literal, how it was written */
    uint32_t at;
    union {
        uint64_t bits;          /* INT: value; FLOAT: a double's bits, or those of 0f */
        int64_t offset;         /* SYM: bytes behind the symbol */
        struct ptx_init *items; /* LIST */
        const char *text;       /* FIELDS: between the braces */
    };
    union {
        struct ptx_sym *sym; /* SYM */
        size_t count;        /* LIST; of FIELDS the bytes of its text */
    };
};

enum ptx_param_role {
    PTX_PARAM_NONE,
    PTX_PARAM_KERNEL,
    PTX_PARAM_INPUT,
    PTX_PARAM_RESULT,
    PTX_PARAM_LOCAL /* declared in a body, for calls */
};

struct ptx_var {
    struct ptx_sym *sym;
    struct ptx_init *init; /* NULL: none (zero) */
    uint64_t *dims;        /* array dimensions; dims[0] may be 0: unsized */
    uint8_t dim_count;     /* 0: no array */
    uint8_t linkage;       /* enum ptx_linkage */
    uint8_t ptr_space;     /* a .ptr parameter: enum ptx_space of what it points to, else 0 */
    bool is_ptr, managed, has_unified;
    bool in_reg;         /* a .reg parameter */
    uint8_t role;        /* enum ptx_param_role, in .param */
    uint8_t bank;        /* .const[N] of PTX 2.1 and before: N + 1; 0: none */
    uint32_t align;      /* bytes, as written; 0: natural */
    uint32_t ptr_align;  /* bytes; 0: as written nowhere */
    uint64_t unified[2]; /* .attribute(.unified(a, b)) */
};

/* Bytes that a variable takes. Unsized arrays: 0. */
uint64_t ptx_var_size(const struct ptx_var *v);
uint32_t ptx_var_align(const struct ptx_var *v);

/* Bytes of an element as subscripts count them: name[i] lies i times that behind the name. ptxas takes the scalar
 * type, whatever the dimensions and vectors are. */
uint32_t ptx_var_step(const struct ptx_var *v);

/* A directive of words and numbers, kept as written: .maxntid 128, 1, 1 or .pragma "nounroll". */
struct ptx_directive {
    struct ptx_directive *next;
    const char *word; /* "maxntid", NUL-terminated */
    uint32_t at;
    uint8_t count; /* numbers */
    uint64_t value[3];
    const char *text; /* of .pragma: the string without quotes, else NULL */
    uint32_t text_length;
};

struct ptx_proto { /* what a call needs to know of its callee */
    struct ptx_var **rets, **params;
    uint16_t ret_count, param_count;
    bool noreturn;
    struct ptx_directive *directives; /* of a .callprototype */
};

struct ptx_func {
    struct ptx_sym *sym;
    struct ptx_proto proto;
    bool is_entry, is_defined, has_param_list;
    uint8_t linkage;                  /* enum ptx_linkage */
    struct ptx_directive *directives; /* performance directives and pragmas, in order */
    uint32_t at, head_end;            /* the text from its first token to the `{` or `;` */
    uint32_t body_at, body_end;       /* the places of `{` and `}`; 0: a declaration */
    bool has_unified;                 /* .attribute(.unified(a, b)) */
    uint64_t unified[2];
    struct ptx_func *definition; /* of a function that was declared before: the head with the
                                       * body; NULL: this one */
    struct ptx_func *alias_of;   /* what .alias makes it stand for */
    struct ptx_body *body;       /* NULL until ptx_func_parse */
};

enum ptx_opnd_kind {
    PTX_OPND_REG,     /* sym; `sel` may pick a component or byte */
    PTX_OPND_SREG,    /* sym */
    PTX_OPND_INT,     /* bits */
    PTX_OPND_FLOAT,   /* bits of a double, a decimal literal */
    PTX_OPND_F32,     /* bits, 0f... */
    PTX_OPND_F64,     /* bits, 0d... */
    PTX_OPND_SYM,     /* address or name of a symbol, + offset */
    PTX_OPND_LABEL,   /* a name that only labels may resolve: sym (NULL until the scope ends) */
    PTX_OPND_ADDR,    /* [elem[0]]; elem[0] is REG, SREG, SYM or INT; offset. `indexed`: written
                       * name[register+offset], elem[0] the name, elem[1] the register; the offset
                       * counts elements */
    PTX_OPND_BRACKET, /* [a, b, ...]: elem, count */
    PTX_OPND_VEC,     /* {a, b, ...} */
    PTX_OPND_LIST,    /* (a, b, ...) */
    PTX_OPND_PAIR,    /* p|q */
    PTX_OPND_SINK,    /* _ */
};

enum ptx_sel { /* component or part of a register, as written behind the dot; 0: none */
               PTX_SEL_NONE,
               PTX_SEL_X,
               PTX_SEL_Y,
               PTX_SEL_Z,
               PTX_SEL_W, /* also .r .g .b .a */
               PTX_SEL_B0,
               PTX_SEL_B1,
               PTX_SEL_B2,
               PTX_SEL_B3, /* bytes */
               PTX_SEL_H0,
               PTX_SEL_H1, /* halves */
               PTX_SEL_SIMD, /* several of them, .h10 or .b3210: their letters are the bytes of `offset` */
               PTX_SEL_BAD
};
_Static_assert(
    PTX_SEL_W == PTX_SEL_X + 3 && PTX_SEL_B0 == PTX_SEL_W + 1 && PTX_SEL_B3 == PTX_SEL_B0 + 3 &&
        PTX_SEL_H0 == PTX_SEL_B3 + 1 && PTX_SEL_H1 == PTX_SEL_H0 + 1,
    "a selector's number is its place from X, B0 or H0 on; parts of registers are those from B0 on");

struct ptx_opnd {
    uint8_t kind; /* enum ptx_opnd_kind */
    uint8_t sel;  /* enum ptx_sel */
    bool negated; /* ! before a predicate, - before a register */
    bool indexed; /* SYM: written name[offset]; the offset counts elements */
    bool unified; /* ADDR: .unified follows */
    uint32_t at;
    uint32_t count;  /* elements of VEC, LIST, BRACKET, PAIR */
    uint32_t length; /* bytes of its text */
    union {
        struct ptx_sym *sym;   /* REG, SREG, SYM; LABEL once it is known */
        struct ptx_opnd *elem; /* VEC, LIST, BRACKET, PAIR, ADDR */
        uint64_t bits;         /* INT, FLOAT, F32, F64 */
    };
    union {
        int64_t offset;        /* SYM and ADDR */
        struct ptx_name *name; /* LABEL */
    };
};

/* The name or register of an address: name[3] is written without brackets. */
static inline const struct ptx_opnd *ptx_opnd_base(const struct ptx_opnd *o)
{
    return o->kind == PTX_OPND_ADDR ? &o->elem[0] : o;
}

/* Bytes that a constant offset adds to a name. A subscript is a 32-bit unsigned number, and wraps as one: ptxas makes
 * the same code of g[i] and of shl.b32, cvt.u64.u32 and add.u64. */
int64_t ptx_opnd_offset(const struct ptx_opnd *o);

struct ptx_inst {
    const struct ptx_op *op; /* its form, modifiers and types; NULL: not understood */
    struct ptx_sym *guard;   /* NULL: none */
    struct ptx_opnd *opnds;
    uint32_t at;    /* place of the opcode */
    uint16_t count; /* operands */
    bool guard_not; /* @!p */
};

enum ptx_stmt_kind {
    PTX_STMT_INST,
    PTX_STMT_LABEL, /* sym */
    PTX_STMT_REG, /* sym: a REG or RANGE that is declared; `more`: same directive as the one before */
    PTX_STMT_VAR,     /* var */
    PTX_STMT_OPEN,    /* { */
    PTX_STMT_CLOSE,   /* } */
    PTX_STMT_LOC,     /* loc */
    PTX_STMT_PRAGMA,  /* directive */
    PTX_STMT_PROTO,   /* sym */
    PTX_STMT_TARGETS, /* sym */
};

struct ptx_stmt {
    uint8_t kind; /* enum ptx_stmt_kind */
    uint32_t at;
    union {
        struct ptx_inst *inst;
        struct ptx_sym *sym;
        struct ptx_var *var;
        struct ptx_loc *loc;
        struct ptx_directive *directive;
    };
};

struct ptx_loc { /* .loc: where the following instructions come from */
    uint32_t file, line, column;
    bool inlined;
    uint32_t in_file, in_line, in_column; /* inlined_at */
    const struct ptx_loc *in;  /* likewise, which may be inlined itself; NULL: it is not inlined */
    struct ptx_name *function; /* function_name, NULL: none */
    uint64_t function_offset;
};

struct ptx_targets {
    bool calls; /* .calltargets, else .branchtargets */
    uint32_t count;
    struct ptx_opnd *labels; /* LABEL or SYM operands */
};

struct ptx_body {
    struct ptx_stmt *stmts;
    size_t count, cap;
    struct ptx_sym **regs; /* by id */
    size_t reg_count, reg_cap;
    size_t inst_count;
};

/* Everything at module level, in the order of the text. */
enum ptx_item_kind {
    PTX_ITEM_VAR,
    PTX_ITEM_FUNC,
    PTX_ITEM_FILE,
    PTX_ITEM_SECTION,
    PTX_ITEM_PRAGMA,
    PTX_ITEM_ALIAS,
    PTX_ITEM_RAW
};
struct ptx_item {
    uint8_t kind; /* enum ptx_item_kind */
    uint32_t at;
    union {
        struct ptx_var *var;
        struct ptx_func *func;
        struct ptx_file *file;
        struct ptx_section *section;
        struct ptx_directive *pragma;
        struct ptx_alias *alias;
        struct ptx_raw *raw;
    };
};

struct ptx_file { /* .file 1 "x.cu", 1234, 56 */
    uint32_t index;
    const char *name; /* without quotes, escapes as written */
    uint32_t name_length;
    bool has_time;
    uint64_t time, size;
};

struct ptx_section { /* .section .debug_str { ... }: tokens are checked, the data kept as text */
    const char *name;
    uint32_t name_length;
    uint32_t from, to; /* the text between the braces */
};

struct ptx_alias {
    struct ptx_sym *alias, *aliasee;
};

struct ptx_raw { /* a line that carries no meaning: @@DWARF */
    uint32_t from, to;
};

struct ptx_target {
    uint16_t sm; /* 90 */
    char suffix; /* 'a', 'f' or 0 */
    bool texmode_independent, debug, map_f64_to_f32;
};

struct ptx_module {
    struct arena *arena;
    const struct source *source;
    struct diags *diags;
    uint16_t version; /* PTX ISA version times ten: 90 for 9.0 */
    bool is_no_ptx;   /* it does not begin with .version: an error was reported */
    bool is_too_new;  /* its version is above the newest known: likewise */
    struct ptx_target target;
    uint8_t address_size; /* 32 or 64 */
    bool address_size_given;
    struct ptx_item *items;
    size_t item_count, item_cap;
    struct ptx_func **funcs; /* every function once, in order of first declaration */
    size_t func_count, func_cap;
    struct ptx_var **vars; /* every module variable once */
    size_t var_count, var_cap;
    struct ptx_parser *parser; /* the state that ptx_func_parse goes on with */
};

/* Reads the module level. */
struct ptx_module *ptx_module_parse(struct arena *arena, const struct source *source,
                                    struct diags *diags);

/* Reads and checks one function's body (once; later calls do nothing). Returns whether the module
 * is free of errors so far. */
bool ptx_func_parse(struct ptx_module *m, struct ptx_func *f);

/* Reads every body and applies the rules that need the whole module. */
bool ptx_module_check(struct ptx_module *m);

/* Releases what the parser holds outside the arena. The module stays usable. */
void ptx_module_end(struct ptx_module *m);

/* Whether two prototypes take and return the same. */
bool ptx_proto_equal(const struct ptx_proto *a, const struct ptx_proto *b);

/* NULL if there is none. */
struct ptx_func *ptx_module_find(const struct ptx_module *m, const char *name);

/* Appends the module as PTX text that parses back to an equal module. */
void ptx_print(const struct ptx_module *m, struct buf *b);

/* "x", "b0", "h10": the selector of an operand, "" if it has none. `text` holds 8 characters. */
void ptx_selector_text(const struct ptx_opnd *o, char *text);

/* Appends one instruction as text, without a line end. */
void ptx_print_inst(const struct ptx_inst *i, struct buf *b);

/* NULL if both say the same; else where they part (in the arena of a). */
const char *ptx_module_difference(const struct ptx_module *a, const struct ptx_module *b);

#endif
