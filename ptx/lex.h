/* ptx/lex.h: PTX text to tokens.
 *
 * One anchored PCRE2 pattern, JIT-compiled once per process, finds the next token; the mark of the
 * alternative that matched names its kind. Blanks and comments are skipped. Tokens are places in the
 * text, nothing is copied. The lexer never fails: what no token fits comes out as TOK_BAD_... . */
#ifndef HEDDLE_PTX_LEX_H
#define HEDDLE_PTX_LEX_H

#include <stdbool.h>
#include <stdint.h>

struct source;

/* kind, mark (one letter, unique), what a message calls it */
#define PTX_TOKENS(X)                                                                              \
    X(END, 'z', "end of file")                                                                     \
    X(WORD, 'w', "name")            /* ld.global.u32, %r1, $L_1, _, %tid.x: dots belong to it */   \
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
    char c;       /* its first character; for TOK_END 0 */
    uint32_t at, length;
};

struct ptx_lexer;

/* A lexer over a source, from byte `from` on. It holds no more than a few hundred bytes. */
struct ptx_lexer *ptx_lexer_new(const struct source *source, uint32_t from);
void ptx_lexer_free(struct ptx_lexer *l);

struct ptx_token ptx_lex(struct ptx_lexer *l);
/* The kind of the token that ptx_lex would return. */
enum ptx_token_kind ptx_lex_peek(struct ptx_lexer *l);
void ptx_lexer_seek(struct ptx_lexer *l, uint32_t at);

const char *ptx_token_kind_name(enum ptx_token_kind kind);

/* The offset of the `}` that closes the `{` at `open`, or the source's length if none does. Comments
 * and strings are stepped over. This is how a function body is passed without being parsed. */
uint32_t ptx_lex_skip_braces(const struct source *source, uint32_t open);

#endif
