/* ptx/parser.h: the state of the parser, shared by the files that parse a module.
 *
 *   names.c    tokens, names, scopes, name lookup
 *   const.c    constant expressions
 *   decl.c     variables, registers, parameters, initialisers
 *   parse.c    the module level
 *   function.c directives and the heads of functions
 *   body.c     statements and operands of a function
 *   check.c    checks an instruction's operands against its form
 *   shared_size.c  the shared memory of each kernel
 *
 * Each parse function starts at the current token p->t and leaves p->t at the first token that is not
 * part of its construct. After a syntax error it reports the error and returns false or NULL, and its
 * caller continues behind the next `;`. */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "ptx/lex.h"
#include "ptx/ptx.h"

struct ptx_pending { /* an operand that names a label before the label's definition */
    struct ptx_pending *next;
    struct ptx_opnd *opnd;
    enum ptx_sym_kind kind; /* the required kind of the symbol */
};

struct ptx_spec; /* decl.c */

struct ptx_scope {
    uint32_t serial;
    struct ptx_sym *syms; /* symbols declared in the scope, the last one first */
    struct ptx_pending *pending;
    uint32_t at; /* source offset of the scope's `{` */
};

struct ptx_parser {
    struct ptx_module *m;
    struct arena *arena;
    struct diags *d;
    struct ptx_lexer *lex;
    struct ptx_token t; /* the current token */
    uint32_t last_end;  /* source offset of the end of the previous token */
    uint32_t bad_end;   /* source offset behind the last byte that belongs to no token; 0: none */

    struct ptx_name **names; /* hash table */
    size_t name_count, name_mask;
    struct ptx_isa *isa;

    struct ptx_scope scopes[PTX_MAX_NESTING + 4]; /* [0] is the module */
    unsigned depth;                               /* index of the innermost scope */
    uint32_t serials;

    struct ptx_func *func; /* the function whose body is parsed; NULL at module level */
    struct ptx_body *body;
    unsigned nesting;       /* nesting depth of operands, initialisers or expressions */
    struct ptx_spec *early; /* an .align that stands before the state space; NULL: none */
    bool gave_up;           /* too many errors: each further token is the end of the file */
    bool texmode_unified, has_debug_data;
    bool without_abi;      /* a function of the module has several results */
    unsigned target_since; /* PTX ISA version that introduced the target, times ten */
    uint32_t target_at, target_length;
    bool unclosed;    /* a function body has no closing brace */
    bool ranges_hide; /* a register range of an inner scope may hide a symbol of an outer scope */
    bool in_call;     /* parentheses enclose argument lists, not expressions */

    struct ptx_opnd *stack; /* operands of the instructions and lists that are being parsed */
    size_t stack_count, stack_cap;
};

/* ---- tokens (names.c) */
void ptx_advance(struct ptx_parser *p);
bool ptx_at_punct(const struct ptx_parser *p, char c);
bool ptx_take_punct(struct ptx_parser *p, char c);
/* Advances past c; or reports "expected 'c' WHERE" and returns false. */
bool ptx_expect(struct ptx_parser *p, char c, const char *where);
/* If the first dotted word of the current token is `.word`: its length with the dot; else 0. */
uint32_t ptx_at_dot(const struct ptx_parser *p, const char *word);
/* Advances past that word; the rest of a longer token (.global.align) becomes the current token. */
bool ptx_take_dot(struct ptx_parser *p, const char *word);
/* Length of the first dotted word of the current token, without the dot, and its *text; 0: none. */
uint32_t ptx_dot_word(const struct ptx_parser *p, const char **text);
void ptx_drop_dot(struct ptx_parser *p);
/* Reports the current token as an error: "expected EXPECTED before ...". */
void ptx_unexpected(struct ptx_parser *p, const char *expected);
const char *ptx_text(const struct ptx_parser *p, uint32_t at);
/* Skips to the token behind the next `;`, or to a `}` or the end. Skips pairs of braces as a whole. */
void ptx_resync(struct ptx_parser *p);

/* ---- names (names.c) */
struct ptx_name *ptx_intern(struct ptx_parser *p, const char *text, uint32_t length);
struct ptx_sym *ptx_sym_new(struct ptx_parser *p, enum ptx_sym_kind kind, struct ptx_name *name,
                            uint32_t at);
/* Makes the symbol visible under its name until the scope ends. false: an error, such as a second declaration. */
bool ptx_declare(struct ptx_parser *p, struct ptx_sym *sym);
/* The symbol that is visible under a name; NULL: none. Creates the symbol of a register of a range at its first use. */
struct ptx_sym *ptx_lookup(struct ptx_parser *p, struct ptx_name *name);
/* After an error about an undeclared name: adds a note with the range's limit, if the name is a register number
 * above that of a declared range. */
void ptx_note_range(struct ptx_parser *p, const struct ptx_name *name);
bool ptx_scope_open(struct ptx_parser *p, uint32_t at);
void ptx_scope_close(struct ptx_parser *p);
/* A table of the module: stores `about` under the key of a word and three numbers. Returns false if the key existed
 * already; its value is replaced. */
bool ptx_note(struct ptx_parser *p, const char *word, uint32_t a, uint32_t b, uint32_t c,
              const void *about);
/* The value that ptx_note() stored last under this key; NULL: none. */
const void *ptx_noted(struct ptx_parser *p, const char *word, uint32_t a, uint32_t b, uint32_t c);
void ptx_pend(struct ptx_parser *p, struct ptx_opnd *opnd, enum ptx_sym_kind kind);
void ptx_declare_sregs(struct ptx_parser *p);
/* "register", "label" ... */
const char *ptx_sym_kind_name(const struct ptx_sym *sym);

/* ---- constant expressions (const.c) */
struct ptx_value {
    bool is_float;
    uint8_t kind; /* enum ptx_opnd_kind of a literal: INT, FLOAT, F32, F64 */
    bool is_unsigned;
    uint64_t bits;
};
bool ptx_const_expr(struct ptx_parser *p, struct ptx_value *v);
/* Reads the literal at the current token and advances past it. */
bool ptx_const_literal(struct ptx_parser *p, struct ptx_value *v);
/* Reads a constant expression that must be an integer and not negative; `what` names it in messages. */
bool ptx_const_uint(struct ptx_parser *p, uint64_t *v, const char *what);

/* ---- declarations (decl.c) */
/* Parses the rest of a declaration behind the word of its state space, including the `;`. */
bool ptx_parse_variable(struct ptx_parser *p, enum ptx_space space, enum ptx_linkage linkage,
                        uint32_t at);
bool ptx_parse_early_spec(struct ptx_parser *p);
/* Whether a declaration may use this name: it is no reserved word and has no dots. */
bool ptx_name_allowed(const char *text, uint32_t length);
bool ptx_parse_name(struct ptx_parser *p, struct ptx_name **name, uint32_t *at);
bool ptx_parse_registers(struct ptx_parser *p, uint32_t at);
/* Parses `( param, ... )`; `kernel`: the parameters are those of an .entry. */
bool ptx_parse_param_list(struct ptx_parser *p, bool kernel, struct ptx_var ***list,
                          uint16_t *count);

/* ---- functions */
/* Appends an item to the module (parse.c). */
struct ptx_item *ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, uint32_t at);
/* Parses the rest of a function's head behind .entry or .func, and skips its body. (function.c) */
bool ptx_parse_function(struct ptx_parser *p, bool is_entry, enum ptx_linkage linkage, uint32_t at);
struct ptx_directive *ptx_parse_directive(struct ptx_parser *p); /* a word and its numbers */
bool ptx_parse_pragma(struct ptx_parser *p, struct ptx_directive **out);
/* Whether a .pragma's string is this word, or starts with this word and a blank. */
bool ptx_pragma_is(const struct ptx_directive *d, const char *word);
/* Reports pragmas of the list that PTX allows only inside functions; `where` names the actual place in the message. */
void ptx_check_pragma_scope(struct ptx_parser *p, const struct ptx_directive *list,
                            const char *where);
bool ptx_check_proto(struct ptx_parser *p, const struct ptx_proto *q);
/* Reports parameters and results that are too small for the ABI. For functions of the module: call after all heads. */
bool ptx_check_small(struct ptx_parser *p, const struct ptx_proto *q);
void ptx_parse_body(struct ptx_parser *p, struct ptx_func *f); /* body.c */

/* ---- check.c */
/* Sets inst->op to the op of the list `ops` that fits the operands; reports an error if none does. */
void ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst, const struct ptx_op *ops);
bool ptx_type_is_int(enum ptx_type t); /* .u or .s */
bool ptx_type_fits(enum ptx_type wanted, enum ptx_type reg, bool wide);

/* Reports kernels whose shared variables take more than 48 KiB. (shared_size.c) */
void ptx_check_shared(const struct ptx_module *m);

/* The alignment of an argument or parameter in bytes: at least the natural one. */
uint32_t ptx_param_align(const struct ptx_var *v);
/* Checks results, callee, arguments and prototype of a call. (call.c) */
void ptx_check_call(struct ptx_parser *p, struct ptx_inst *inst);

#endif
