/* ptx/isa_rows.h: compiled rows of the instruction table, for the files that work on them.
 *
 *   isa.c          compiles rows, finds the rows that an opcode's words fit
 *   isa_operands.c reads a row's operands for an opcode's types
 *   isa_explain.c  says what is wrong with an opcode that fits no row */
#ifndef HEDDLE_PTX_ISA_ROWS_H
#define HEDDLE_PTX_ISA_ROWS_H

#include "ptx/isa.h"
#include "ptx/ptx.h"

struct group { /* of words, words.def */
    const char *name, *what, *words;
};

enum { MAX_WORDS = 32, MAX_SLOTS = 24, MAX_SHAPES = 16 };

struct slice {
    const char *text;
    size_t length;
};

struct gate {
    uint16_t since;
    struct slice sm;
};

enum order { ANY_PLACE, SPACE_ORDER, LAYOUT_ORDER };

struct choice { /* one word of a slot */
    struct slice word;
    struct gate gate;
    uint8_t type;  /* enum ptx_type, if the word is one */
    uint8_t order; /* words of one kind that must stand in the order of their slots */
};

struct slot {
    struct choice *choices;
    size_t count;
    const struct group *group; /* the one it is spelled with, if any */
    bool optional, is_type;
};

struct row { /* a compiled ptx_form_info */
    size_t slot_count;
    struct slot slots[MAX_SLOTS];
};

struct entry { /* of the map from opcode text to ops */
    const char *text;
    uint32_t length, hash;
    const struct ptx_op *ops;
};

struct ptx_isa {
    struct arena *arena;
    uint16_t version, sm;
    char suffix;
    struct entry *entries;
    size_t entry_count, entry_mask;
};

struct words {
    struct slice at[MAX_WORDS];
    size_t count;
};

struct fit { /* how the words behind a name fill a row's slots */
    const struct choice *choice[MAX_SLOTS];
    uint8_t word[MAX_SLOTS]; /* which word */
    size_t bad_word;         /* the first word no slot takes; MAX_WORDS: none */
    const struct slot *missing;
    size_t taken;
};

/* What does not depend on a module: made once in a process, then only read. */
struct isa_table {
    struct arena *arena;
    struct row rows[PTX_FORM_COUNT];
    uint16_t next[PTX_FORM_COUNT];    /* the next row of the same name, plus 1 */
    const char *mods[PTX_FORM_COUNT]; /* as in the manual: ptx_form_modifiers() */
    uint16_t *names;                  /* hash of name -> first row, plus 1 */
    size_t name_mask;
};
extern struct isa_table isa_table;

bool isa_same_text(struct slice a, const char *b);
/* PTX_SPACE_COUNT: the word names no state space. */
enum ptx_space isa_space_find(const char *text, size_t n);
/* Reads ":70/80"; nothing, if no colon stands there. */
struct gate isa_take_gate(const char **p);
/* Why the module may not use `what`; NULL: it may. */
const char *isa_gate_text(const struct ptx_isa *isa, struct gate g, const char *what);

/* The words of an opcode, at its dots; false: malformed. */
bool isa_split(const char *text, uint32_t length, struct words *w);
/* The first `count` words as one text. */
struct slice isa_name_of(const struct words *w, size_t count);
/* The first row of a name, plus 1; 0: none. */
size_t isa_first_row(struct slice name);
/* The choice that a word is; NULL: the slot does not have it. */
const struct choice *isa_choice_of(const struct slot *s, struct slice word);
/* Fills a row's slots with the words from `from` on. */
bool isa_fit_row(const struct row *row, const struct words *w, size_t from, struct fit *fit);

/* Fills the op's shapes. NULL: done; else what is wrong with the row. `fits` becomes false if the opcode's types do
 * not fit the operands. */
const char *isa_read_operands(const struct ptx_isa *isa, struct ptx_op *op, bool *fits);

#endif
