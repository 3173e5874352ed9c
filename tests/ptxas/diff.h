/* tests/ptxas/diff.h: the parts of ptxas-diff, in order of use. Everything lives in one arena. */
#ifndef HEDDLE_TESTS_PTXAS_DIFF_H
#define HEDDLE_TESTS_PTXAS_DIFF_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct source;

enum {
    MODULE_MAX = 6000, /* bytes of a module that is handed to ptxas */
    WHOLE_MAX = 3200,  /* bytes of a function or file that is taken whole */
    OPERANDS_MAX = 40, /* of an instruction; more are not looked at */
    JOBS_MAX = 64,
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- text.c: files, words, and a module as a row of tokens ---- */

void diff_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
uint64_t diff_mix(uint64_t x); /* splitmix64 */
uint64_t diff_digest(const char *text, size_t n, uint64_t h);
char *diff_read_file(struct arena *a, const char *path, size_t *size);
void diff_make_dirs(const char *path);

/* Strings, each once, numbered from 0. */
struct words {
    char **v;
    size_t n, cap;
    uint32_t *slot; /* index + 1; 0: empty */
    size_t slot_n;
};
size_t words_find(const struct words *w, const char *text, size_t n); /* SIZE_MAX: not there */
bool words_add(struct arena *a, struct words *w, const char *text,
               size_t n); /* whether it is new */
void diff_list_files(struct arena *a, const char *path,
                     struct words *out); /* of a directory: *.ptx */

struct piece {
    const char *text;
    uint32_t length;
    uint8_t kind; /* enum ptx_token_kind */
    char c;       /* its first character */
    char lead;    /* what stands before it: '\n', ' ' or 0 */
};

struct pieces {
    struct piece *v;
    size_t n, cap;
};
void pieces_lex(struct arena *a, const struct source *s, struct pieces *out);
void pieces_render(const struct piece *p, size_t n, struct buf *out);
/* The first piece from i on at depth 0 that is the character c; n if none. */
size_t pieces_find(const struct piece *p, size_t n, size_t i, char c);
/* The bracket that closes the one at i; n if none. */
size_t pieces_closing(const struct piece *p, size_t n, size_t i);
bool piece_is(const struct piece *p, char c);
bool piece_is_text(const struct piece *p, const char *text);
bool piece_is_one_of(const struct piece *p, const char *const *list, size_t n);
bool piece_opens(const struct piece *p);
bool piece_closes(const struct piece *p);
uint32_t piece_stem(const struct piece *p); /* bytes before the first dot */

enum stmt_kind {
    ST_HEADER, /* .version .target .address_size */
    ST_VAR,    /* a variable of the module */
    ST_HEAD,   /* of a function, up to the brace or semicolon */
    ST_DECL,   /* .reg or a variable in a function */
    ST_LABEL,
    ST_INST,
    ST_OPEN,
    ST_CLOSE,
    ST_LINE,  /* .file .loc @@DWARF .section */
    ST_OTHER, /* .pragma .alias .callprototype ... */
};

struct span {
    size_t from, to;
};

struct stmt {
    uint8_t kind;    /* enum stmt_kind */
    size_t from, to; /* pieces; to is one past */
    size_t op;       /* INST: the opcode; HEAD: the name or 0 */
    size_t operands;
    struct span operand[OPERANDS_MAX];
};

struct stmts {
    struct stmt *v;
    size_t n, cap;
};

/* Words that open a declaration. */
extern const char *const piece_spaces[14];

/* One statement of a function's body; one thing at module level, of a function the head alone. Both
 * return where the next one starts. */
size_t stmt_read(const struct piece *p, size_t n, size_t i, struct stmt *s);
size_t stmt_read_item(const struct piece *p, size_t n, size_t i, struct stmt *s);
void stmts_read(struct arena *a, const struct pieces *p, struct stmts *out); /* a whole module */

/* ---- cut.c: small modules out of large ones ---- */

struct base {
    const char *text, *origin;
    const char *focus; /* an opcode that mutators prefer; NULL: none */
    bool drawn, bad;
};

struct corpus {
    struct arena *arena;
    struct base *bases;
    size_t base_n, base_cap;
    struct words texts;     /* of the bases */
    struct words seen;      /* opcodes with the kinds of their operands */
    struct words forms;     /* opcodes with all modifiers */
    struct words ops;       /* opcodes alone */
    struct words mods;      /* modifiers and types, without the dot */
    struct words tokens;    /* short ones of every kind */
    struct words functions; /* names of those taken whole */
};

void corpus_add_file(struct corpus *c, const char *path);

/* ---- judge.c: the two judges ---- */

enum opinion { UNKNOWN, ACCEPTS, REJECTS, CRASHES, UNJUDGED };

struct trial {
    const char *text;
    const char *kind; /* the mutator's name; NULL: unmutated */
    const struct base *base;
    uint8_t heddle, ptxas; /* enum opinion */
    const char *heddle_says, *ptxas_says;
    uint32_t heddle_line, ptxas_line;
};

struct trials {
    struct trial *v;
    size_t n;
};

void heddle_judge(struct arena *a, struct trials *t);

struct ptxas {
    struct arena *arena;
    char *version;
    char *dir, *cache;  /* where its inputs go; the file of verdicts */
    struct words known; /* digests */
    char **verdict;     /* by index of the digest: "opinion line text" */
    size_t verdict_cap;
    int jobs;
    regex_t aside;
    size_t runs;
};

bool ptxas_start(struct ptxas *x, struct arena *a, const char *cache, int jobs); /* false: none */
void ptxas_judge(struct ptxas *x, struct trials *t);
void ptxas_end(struct ptxas *x);

/* ---- mutate.c ---- */

extern const size_t mutator_count;
const char *mutator_name(size_t i);

/* Mutates a base once, by the mutator of that name or (NULL) by any; t->kind stays NULL if none of
 * those tried was possible. */
void mutant_make(struct arena *a, const struct corpus *c, const char *kind, const struct base *b,
                 uint64_t seed, struct trial *t);

#endif
