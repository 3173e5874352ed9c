/* ptx/ptx.h: a PTX module in memory.
 *
 *     struct ptx_module *m = ptx_module_parse(arena, &source, &diags);   // never NULL
 *     ptx_module_check(m);                                                // every body, every rule
 *     for (size_t i = 0; i < m->func_count; i++) use(m->funcs[i]);
 *
 * ptx_module_parse() reads the module level: versions, variables, and the head of every function. It
 * skips function bodies; ptx_func_parse() reads a body when a caller needs it, so a module with a
 * thousand unreached functions costs little. Errors go to `diags`. A module with errors contains the
 * parts that could be read, but callers must not use it further.
 *
 * The arena owns all memory of the module. The module points into the source text, which must live as
 * long as the arena. One thread at a time may parse a module; afterwards the module is read-only. */
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

/* Limits that bound the memory and time of any input. The error message names the limit. */
enum {
    PTX_MAX_TEXT = 1 << 30,     /* bytes of a module */
    PTX_MAX_NAME = 1 << 16,     /* bytes of a name or of an opcode with its modifiers */
    PTX_MAX_NESTING = 256,      /* scopes, initialiser lists, expressions, operands */
    PTX_MAX_PARAMS = 4096,      /* parameters of one function */
    PTX_MAX_DIMS = 64,          /* dimensions of an array */
    PTX_MAX_OPERANDS = 1 << 16, /* elements of an operand in braces, brackets or parentheses */
    PTX_MAX_TARGETS = 1 << 18,  /* entries of one .branchtargets or .calltargets list */
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
const char *ptx_space_name(enum ptx_space space); /* "global"; "generic" for PTX_SPACE_GENERIC */

enum ptx_linkage {
    PTX_LINK_NONE,
    PTX_LINK_EXTERN,
    PTX_LINK_VISIBLE,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
};

/* An identifier. A module has one object for each spelling. */
struct ptx_name {
    const char *text; /* points into the source; predefined names are NUL-terminated constants */
    uint32_t length, hash;
    struct ptx_sym *sym; /* the symbol visible at the current point of the parse; NULL: none */
    union {
        struct ptx_sym *range; /* the visible register range with this prefix: `%r` of %r<100> */
        const void *about;     /* if `noted`: the object passed to ptx_note() */
    };
    struct ptx_sym *numbered; /* symbols named with this name and a number, linked by `sibling` */
    bool section_label;       /* the name is also a label in a debug section */
    bool noted;               /* the name is a key of ptx_note(), not an identifier of the text */
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
    uint8_t type;   /* REG, RANGE, SREG, VAR: enum ptx_type */
    uint8_t vec;    /* REG, SREG, VAR: number of vector elements; 1: a scalar */
    uint8_t space;  /* VAR: enum ptx_space. SREG: the smallest width that may read it, in bits */
    uint32_t at;    /* source offset of the declaration; 0: a predefined name */
    uint32_t scope; /* serial number of the scope that declares it; 0: the module */
    uint32_t id;    /* REG: register number in the function, from 0. LABEL: index of the
                                  * statement behind the label. RANGE: number of registers */
    struct ptx_name *name;
    struct ptx_sym *outer;   /* the symbol of the same name that this one hides; NULL: none */
    struct ptx_sym *next;    /* the previous symbol declared in the same scope; NULL: none */
    struct ptx_sym *sibling; /* the next symbol in the list `numbered` of a name; NULL: none */
    union {
        struct ptx_sym *range; /* REG: the range that contains the register; NULL: none */
        struct ptx_var *var;
        struct ptx_func *func;
        struct ptx_proto *proto;
        struct ptx_targets *targets;
    };
};

/* An initialiser: a tree, because braced lists nest. */
enum ptx_init_kind {
    PTX_INIT_LIST,
    PTX_INIT_INT,
    PTX_INIT_FLOAT,
    PTX_INIT_SYM,
    PTX_INIT_FIELDS, /* { width = 5, ... } of a texture, sampler or surface, stored as text */
};
struct ptx_init {
    uint8_t kind; /* enum ptx_init_kind */
    bool generic; /* SYM: written as generic(symbol) */
    /* SYM: number of the lowest bit of the byte that mask(symbol) selects, plus 1; 0: no mask */
    uint8_t mask;
    uint8_t literal; /* FLOAT: enum ptx_literal, the notation of the literal */
    uint32_t at;
    union {
        uint64_t bits;  /* INT: value. FLOAT: bits of a double, or of an f32 written 0f... */
        int64_t offset; /* SYM: bytes added to the symbol's address */
        struct ptx_init *items; /* LIST: `count` elements */
        const char *text;       /* FIELDS: the text between the braces, `count` bytes */
    };
    union {
        struct ptx_sym *sym; /* SYM */
        size_t count;        /* LIST: number of items. FIELDS: length of the text in bytes */
    };
};

enum ptx_param_role {
    PTX_PARAM_NONE,
    PTX_PARAM_KERNEL,
    PTX_PARAM_INPUT,
    PTX_PARAM_RESULT,
    PTX_PARAM_LOCAL /* declared in a function body, to pass arguments or results of calls */
};

struct ptx_var {
    struct ptx_sym *sym;
    struct ptx_init *init; /* NULL: no initialiser, the variable is zero */
    uint64_t *dims;        /* array dimensions; dims[0] 0: an array without a size */
    uint8_t dim_count;     /* number of dimensions; 0: no array */
    uint8_t linkage;       /* enum ptx_linkage */
    uint8_t ptr_space;     /* .ptr parameter: enum ptx_space of its target; else 0 */
    bool is_ptr, managed, has_unified;
    bool in_reg;         /* the parameter is declared .reg, not .param */
    uint8_t role;        /* .param variable: enum ptx_param_role */
    uint8_t bank;        /* .const[N] of PTX 2.1 and before: N + 1; 0: none */
    uint32_t align;      /* .align in bytes; 0: none, natural alignment */
    uint32_t ptr_align;  /* alignment behind .ptr in bytes; 0: not written */
    uint64_t unified[2]; /* .attribute(.unified(a, b)) */
};

/* Size of a variable in bytes; 0 for arrays without a size. */
uint64_t ptx_var_size(const struct ptx_var *v);
uint32_t ptx_var_align(const struct ptx_var *v);

/* Stride of a subscript in bytes: name[i] is at address name + i * step. The step is the size of the scalar type,
 * also for vectors and for arrays of several dimensions, as in ptxas. */
uint32_t ptx_var_step(const struct ptx_var *v);

/* A directive with numbers or a string: .maxntid 128, 1, 1 or .pragma "nounroll". */
struct ptx_directive {
    struct ptx_directive *next;
    const char *word; /* name of the directive without the dot, NUL-terminated: "maxntid" */
    uint32_t at;
    uint8_t count; /* number of values */
    uint64_t value[3];
    const char *text; /* .pragma: the string without quotes; else NULL */
    uint32_t text_length;
};

struct ptx_proto { /* the prototype of a function: its results and parameters */
    struct ptx_var **rets, **params;
    uint16_t ret_count, param_count;
    bool noreturn;
    struct ptx_directive *directives; /* .callprototype: its directives; else NULL */
};

struct ptx_func {
    struct ptx_sym *sym;
    struct ptx_proto proto;
    bool is_entry, is_defined, has_param_list;
    uint8_t linkage;                  /* enum ptx_linkage */
    struct ptx_directive *directives; /* performance directives and pragmas, in source order */
    uint32_t at, head_end;            /* source range of the head, up to the `{` or `;` */
    uint32_t body_at, body_end;       /* source offsets of `{` and `}`; 0: a declaration */
    bool has_unified;                 /* .attribute(.unified(a, b)) */
    uint64_t unified[2];
    struct ptx_func *definition; /* a declaration: the function object that has the body; NULL:
                                       * this object, or the module has no definition */
    struct ptx_func *alias_of;   /* the function that .alias names; NULL: not an alias */
    struct ptx_body *body;       /* NULL until ptx_func_parse() */
};

enum ptx_opnd_kind {
    PTX_OPND_REG,     /* sym; `sel` may select a vector component or a byte */
    PTX_OPND_SREG,    /* sym */
    PTX_OPND_INT,     /* bits */
    PTX_OPND_FLOAT,   /* a decimal literal: bits of a double */
    PTX_OPND_F32,     /* a literal 0f...: bits of an f32 */
    PTX_OPND_F64,     /* a literal 0d...: bits of an f64 */
    PTX_OPND_SYM,     /* the address or name of a symbol, plus offset */
    PTX_OPND_LABEL,   /* the name of a label: sym (NULL until the end of the scope resolves it) */
    PTX_OPND_ADDR,    /* [elem[0] + offset]; elem[0] is REG, SREG, SYM or INT. `indexed`:
                       * name[register+offset], where elem[0] is the name, elem[1] the register and
                       * the offset counts elements */
    PTX_OPND_BRACKET, /* [a, b, ...]: elem, count */
    PTX_OPND_VEC,     /* {a, b, ...} */
    PTX_OPND_LIST,    /* (a, b, ...) */
    PTX_OPND_PAIR,    /* p|q */
    PTX_OPND_SINK,    /* _ */
};

enum ptx_sel { /* selector behind a register: a vector component, or bytes of the register */
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
               PTX_SEL_H1,   /* halves */
               PTX_SEL_SIMD, /* .h10 or .b3210: the bytes of `offset` are the selector's characters */
               PTX_SEL_BAD
};
_Static_assert(
    PTX_SEL_W == PTX_SEL_X + 3 && PTX_SEL_B0 == PTX_SEL_W + 1 && PTX_SEL_B3 == PTX_SEL_B0 + 3 &&
        PTX_SEL_H0 == PTX_SEL_B3 + 1 && PTX_SEL_H1 == PTX_SEL_H0 + 1,
    "a selector's number is its place from X, B0 or H0 on; parts of registers are those from B0 on");

struct ptx_opnd {
    uint8_t kind; /* enum ptx_opnd_kind */
    uint8_t sel;  /* enum ptx_sel */
    bool negated; /* the operand has `!` before a predicate or `-` before a register */
    bool indexed; /* SYM: the text is name[offset], and the offset counts elements */
    bool unified; /* ADDR: .unified follows the address */
    uint32_t at;
    uint32_t count;  /* VEC, LIST, BRACKET, PAIR: number of elements */
    uint32_t length; /* length of the operand's text in bytes */
    union {
        struct ptx_sym *sym;   /* REG, SREG, SYM; LABEL once it is resolved */
        struct ptx_opnd *elem; /* VEC, LIST, BRACKET, PAIR, ADDR */
        uint64_t bits;         /* INT, FLOAT, F32, F64 */
    };
    union {
        int64_t offset;        /* SYM and ADDR */
        struct ptx_name *name; /* LABEL */
    };
};

/* The operand with the base of an address. (The operand name[3] has no brackets around it.) */
static inline const struct ptx_opnd *ptx_opnd_base(const struct ptx_opnd *o)
{
    return o->kind == PTX_OPND_ADDR ? &o->elem[0] : o;
}

/* Constant offset of an operand in bytes. A subscript is computed modulo 2^32: ptxas compiles g[i] to the same code as
 * shl.b32, cvt.u64.u32 and add.u64. */
int64_t ptx_opnd_offset(const struct ptx_opnd *o);

struct ptx_inst {
    const struct ptx_op *op; /* form, modifiers and types; NULL: the opcode has errors */
    struct ptx_sym *guard;   /* the predicate of @p or @!p; NULL: none */
    struct ptx_opnd *opnds;
    uint32_t at;    /* source offset of the opcode */
    uint16_t count; /* number of operands */
    bool guard_not; /* the guard is @!p */
};

enum ptx_stmt_kind {
    PTX_STMT_INST,
    PTX_STMT_LABEL,   /* sym */
    PTX_STMT_REG,     /* sym: the REG or RANGE that the statement declares */
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

struct ptx_loc { /* .loc: the source line of the instructions that follow */
    uint32_t file, line, column;
    bool inlined;
    uint32_t in_file, in_line, in_column; /* inlined_at: the place of the inlined call */
    const struct ptx_loc *in;  /* the .loc of that place, which may be inlined too; NULL: none */
    struct ptx_name *function; /* function_name; NULL: none */
    uint64_t function_offset;
};

struct ptx_targets {
    bool calls; /* true: .calltargets; false: .branchtargets */
    uint32_t count;
    struct ptx_opnd *labels; /* LABEL or SYM operands */
};

struct ptx_body {
    struct ptx_stmt *stmts;
    size_t count, cap;
    struct ptx_sym **regs; /* indexed by ptx_sym.id */
    size_t reg_count, reg_cap;
    size_t inst_count;
};

/* An item at module level; ptx_module.items has them in source order. */
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
    const char *name; /* without quotes; escape sequences are not decoded */
    uint32_t name_length;
    bool has_time;
    uint64_t time, size;
};

struct ptx_section { /* .section .debug_str { ... }: the parser checks tokens and stores the text */
    const char *name;
    uint32_t name_length;
    uint32_t from, to; /* source range of the text between the braces */
};

struct ptx_alias {
    struct ptx_sym *alias, *aliasee;
};

struct ptx_raw { /* a line that the parser ignores: @@DWARF */
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
    bool is_no_ptx;   /* the text does not begin with .version; an error was reported */
    bool is_too_new;  /* the version is above the newest known one; an error was reported */
    struct ptx_target target;
    uint8_t address_size; /* 32 or 64 */
    bool address_size_given;
    struct ptx_item *items;
    size_t item_count, item_cap;
    struct ptx_func **funcs; /* each function once, in the order of first declaration */
    size_t func_count, func_cap;
    struct ptx_var **vars; /* each module variable once */
    size_t var_count, var_cap;
    struct ptx_parser *parser; /* state that ptx_func_parse() needs; NULL after ptx_module_end() */
};

/* Parses the module level. Never returns NULL; errors go to `diags`. */
struct ptx_module *ptx_module_parse(struct arena *arena, const struct source *source,
                                    struct diags *diags);

/* Parses and checks the body of one function; later calls for the same function do nothing. Returns
 * whether the module has no errors so far. */
bool ptx_func_parse(struct ptx_module *m, struct ptx_func *f);

/* Parses every body and checks the rules that concern the whole module. Returns whether there are no errors. */
bool ptx_module_check(struct ptx_module *m);

/* Frees the parser's memory outside the arena. The module stays usable, but bodies cannot be parsed any more. */
void ptx_module_end(struct ptx_module *m);

/* Whether two prototypes have equal parameters and results. */
bool ptx_proto_equal(const struct ptx_proto *a, const struct ptx_proto *b);

/* The function of that name; NULL: none. */
struct ptx_func *ptx_module_find(const struct ptx_module *m, const char *name);

/* Appends the module as PTX text that parses back to an equal module. */
void ptx_print(const struct ptx_module *m, struct buf *b);

/* Writes the selector of an operand ("x", "b0", "h10"), or "" if it has none. `text` has 8 characters. */
void ptx_selector_text(const struct ptx_opnd *o, char *text);

/* Appends one instruction as text, without a line end. */
void ptx_print_inst(const struct ptx_inst *i, struct buf *b);

/* NULL: the modules are equal, except for source places. Else the first difference as text, in a's arena. */
const char *ptx_module_difference(const struct ptx_module *a, const struct ptx_module *b);

#endif
