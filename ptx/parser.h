/* ptx/parser.h: the state of reading a module, shared by the files that read it.
 *
 *   names.c    names, scopes, what a name means at a point of the text
 *   const.c    constant expressions
 *   decl.c     variables, registers, parameters, initialisers
 *   parse.c    the module level
 *   function.c directives and the heads of functions
 *   body.c     statements and operands of a function
 *   check.c    an instruction's operands against its form
 *   shared_size.c  the shared memory of each kernel
 *
 * Every reader starts with the current token in p->t and leaves the first token it does not
 * understand there. A reader that finds something wrong reports it and returns false or NULL; its
 * caller goes on behind the next `;`. */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "ptx/lex.h"
#include "ptx/ptx.h"

struct ptx_pending { /* a label that is used before it is known */
    struct ptx_pending *next;
    struct ptx_opnd *opnd;
    enum ptx_sym_kind kind; /* what it must turn out to be */
};

struct ptx_spec; /* decl.c */

struct ptx_scope {
    uint32_t serial;
    struct ptx_sym *syms; /* declared in it, the newest first */
    struct ptx_pending *pending;
    uint32_t at; /* place of its `{` */
};

struct ptx_parser {
    struct ptx_module *m;
    struct arena *arena;
    struct diags *d;
    struct ptx_lexer *lex;
    struct ptx_token t; /* the current token */
    uint32_t last_end;  /* the end of the token before it */
    uint32_t bad_end;   /* the end of the last byte that belongs to no token; 0: none */

    struct ptx_name **names; /* hash table */
    size_t name_count, name_mask;
    struct ptx_isa *isa;

    struct ptx_scope scopes[PTX_MAX_NESTING + 4]; /* [0] is the module */
    unsigned depth;                               /* of the innermost */
    uint32_t serials;

    struct ptx_func *func; /* being read; NULL at module level */
    struct ptx_body *body;
    unsigned nesting;       /* of operands, initialisers or expressions */
    struct ptx_spec *early; /* .align before a state space */
    bool gave_up;           /* too many errors: everything reads as the end of the file */
    bool texmode_unified, has_debug_data;
    bool without_abi;      /* a function has several results */
    unsigned target_since; /* the PTX ISA version the target came with, times ten */
    uint32_t target_at, target_length;
    bool unclosed;    /* a body never ends */
    bool ranges_hide; /* a range in some inner scope may hide what a name meant outside */
    bool in_call;     /* parentheses are lists of arguments, not expressions */

    struct ptx_opnd *stack; /* operands on their way into an instruction or list */
    size_t stack_count, stack_cap;
};

/* ---- tokens (names.c) */
void ptx_advance(struct ptx_parser *p);
bool ptx_at_punct(const struct ptx_parser *p, char c);
bool ptx_take_punct(struct ptx_parser *p, char c);
/* Takes c, or reports "expected 'c' WHERE". */
bool ptx_expect(struct ptx_parser *p, char c, const char *where);
/* If the current token starts with the word `.word`: its length with the dot, else 0. */
uint32_t ptx_at_dot(const struct ptx_parser *p, const char *word);
/* Takes that word; the rest of a longer token (.global.align) stays current. */
bool ptx_take_dot(struct ptx_parser *p, const char *word);
/* The first dotted word of the current token, without the dot; length 0: no such token. */
uint32_t ptx_dot_word(const struct ptx_parser *p, const char **text);
void ptx_drop_dot(struct ptx_parser *p);
/* Reports what stands here instead of what was expected. */
void ptx_unexpected(struct ptx_parser *p, const char *expected);
const char *ptx_text(const struct ptx_parser *p, uint32_t at);
/* Skips to behind the next `;`, or up to a `}` or the end. Braces in between are stepped over. */
void ptx_resync(struct ptx_parser *p);

/* ---- names (names.c) */
struct ptx_name *ptx_intern(struct ptx_parser *p, const char *text, uint32_t length);
struct ptx_sym *ptx_sym_new(struct ptx_parser *p, enum ptx_sym_kind kind, struct ptx_name *name,
                            uint32_t at);
/* Makes the symbol what its name means until the scope ends. Reports a second declaration. */
bool ptx_declare(struct ptx_parser *p, struct ptx_sym *sym);
/* What a name means here: NULL if nothing. Members of ranges come into being here. */
struct ptx_sym *ptx_lookup(struct ptx_parser *p, struct ptx_name *name);
/* After an error about an undeclared name: if it only is too high a member of a register range, says
 * how far that goes. */
void ptx_note_range(struct ptx_parser *p, const struct ptx_name *name);
bool ptx_scope_open(struct ptx_parser *p, uint32_t at);
void ptx_scope_close(struct ptx_parser *p);
/* Remembers a word with three numbers for the module, and what it is about; false if it was remembered before, of
 * something else. */
bool ptx_note(struct ptx_parser *p, const char *word, uint32_t a, uint32_t b, uint32_t c,
              const void *about);
/* What it was about when it was remembered last; NULL: it was not. */
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
/* Takes the literal that is the current token. */
bool ptx_const_literal(struct ptx_parser *p, struct ptx_value *v);
/* An integer expression of at least `least`; `what` names it in messages. */
bool ptx_const_uint(struct ptx_parser *p, uint64_t *v, const char *what);

/* ---- declarations (decl.c) */
/* Reads one declaration statement behind its space word, up to and with its `;`. */
bool ptx_parse_variable(struct ptx_parser *p, enum ptx_space space, enum ptx_linkage linkage,
                        uint32_t at);
bool ptx_parse_early_spec(struct ptx_parser *p);
/* A name to declare something under: no reserved word, no dots. */
bool ptx_name_allowed(const char *text, uint32_t length);
bool ptx_parse_name(struct ptx_parser *p, struct ptx_name **name, uint32_t *at);
bool ptx_parse_registers(struct ptx_parser *p, uint32_t at);
/* `( param, ... )`; `kernel`: of an .entry. */
bool ptx_parse_param_list(struct ptx_parser *p, bool kernel, struct ptx_var ***list,
                          uint16_t *count);

/* ---- functions */
/* Appends an item to the module (parse.c). */
struct ptx_item *ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, uint32_t at);
/* The rest of a function behind .entry or .func. (function.c) */
bool ptx_parse_function(struct ptx_parser *p, bool is_entry, enum ptx_linkage linkage, uint32_t at);
struct ptx_directive *ptx_parse_directive(struct ptx_parser *p); /* word and numbers */
bool ptx_parse_pragma(struct ptx_parser *p, struct ptx_directive **out);
/* Whether a .pragma's string is this word, or starts with it and a blank. */
bool ptx_pragma_is(const struct ptx_directive *d, const char *word);
/* Reports pragmas of the list that stand only inside a function; `where` says where they stand. */
void ptx_check_pragma_scope(struct ptx_parser *p, const struct ptx_directive *list,
                            const char *where);
bool ptx_check_proto(struct ptx_parser *p, const struct ptx_proto *q);
/* Reports values that are too small for the ABI. Of the module's functions: when all heads are read. */
bool ptx_check_small(struct ptx_parser *p, const struct ptx_proto *q);
void ptx_parse_body(struct ptx_parser *p, struct ptx_func *f); /* body.c */

/* ---- check.c */
/* Chooses among the ops that are spelled as the instruction is; reports if none fits. */
void ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst, const struct ptx_op *ops);
bool ptx_type_is_int(enum ptx_type t); /* .u or .s */
bool ptx_type_fits(enum ptx_type wanted, enum ptx_type reg, bool wide);

/* Reports kernels whose shared variables take more than 48 KiB. (shared_size.c) */
void ptx_check_shared(const struct ptx_module *m);

/* The alignment of an argument or parameter: at least the natural one. */
uint32_t ptx_param_align(const struct ptx_var *v);
/* call.c: results, callee, arguments and prototype of a call. */
void ptx_check_call(struct ptx_parser *p, struct ptx_inst *inst);

#endif
