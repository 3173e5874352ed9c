/* ptx/lex.h: PTX text to tokens.
 *
 * One anchored PCRE2 pattern, JIT-compiled once per process, finds the next token; the mark of the
 * alternative that matched names the kind of the token. The lexer skips blanks and comments. Tokens are
 * ranges of the text; nothing is copied. The lexer never fails: it returns invalid text as TOK_BAD_... . */
#ifndef HEDDLE_PTX_LEX_H
#define HEDDLE_PTX_LEX_H

#include <stdbool.h>
#include <stdint.h>

struct source;

/* kind, mark (a unique letter), name of the kind in messages */
#define PTX_TOKENS(X)                                                                              \
    X(END, 'z', "end of file")                                                                     \
    X(WORD, 'w', "name")            /* ld.global.u32, %r1, $L_1, _, %tid.x, with their dots */     \
    X(DOTS, 'd', "directive")       /* .reg, .L1::evict_last, .global.align */                     \
    X(INT, 'i', "integer")          /* 10, 0x1fU, 0b1, 017 */                                      \
    X(FLOAT, 'f', "number")         /* 1.5, 1e10; also the 7.0 of .version */                      \
    X(HEX_F32, 's', "f32 constant") /* 0f3f800000 */                                               \
    X(HEX_F64, 'q', "f64 constant") /* 0d3ff0000000000000 */                                       \
    X(STRING, 't', "string")                                                                       \
    X(PUNCT, 'p', "punctuation") /* one character: the token's `c` */                              \
    X(OPERATOR, 'o', "operator") /* two characters: << >> <= >= == != && || */                     \
    X(BAD_COMMENT, 'c', "comment that does not end")                                               \
    X(BAD_STRING, 'u', "string that does not end")                                                 \
    X(BAD_NUMBER, 'n', "malformed number")                                                         \
    X(BAD_BYTE, 'x', "byte that PTX does not use")

enum ptx_token_kind {
#define X(name, mark, text) TOK_##name,
    PTX_TOKENS(X)
#undef X
};

struct ptx_token {
    uint8_t kind; /* enum ptx_token_kind */
    char c;       /* the first character; TOK_END: 0 */
    uint32_t at, length;
};

struct ptx_lexer;

/* A lexer of a source, from byte offset `from` on. It takes a few hundred bytes of memory. */
struct ptx_lexer *ptx_lexer_new(const struct source *source, uint32_t from);
void ptx_lexer_free(struct ptx_lexer *l);

struct ptx_token ptx_lex(struct ptx_lexer *l);
/* The kind of the token that ptx_lex() would return next. */
enum ptx_token_kind ptx_lex_peek(struct ptx_lexer *l);
void ptx_lexer_seek(struct ptx_lexer *l, uint32_t at);

const char *ptx_token_kind_name(enum ptx_token_kind kind);

/* The offset of the `}` that closes the `{` at `open`; the source's length: none. Braces in comments and
 * strings do not count. The parser skips function bodies with this function. */
uint32_t ptx_lex_skip_braces(const struct source *source, uint32_t open);

#endif
