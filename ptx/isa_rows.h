/* ptx/isa_rows.h: compiled rows of the instruction table, shared by three files.
 *
 *   isa.c          compiles rows; finds the rows that the words of an opcode fit
 *   isa_operands.c reads a row's operands for an opcode's types
 *   isa_explain.c  makes the error message for an opcode that fits no row */
#ifndef HEDDLE_PTX_ISA_ROWS_H
#define HEDDLE_PTX_ISA_ROWS_H

#include "ptx/isa.h"
#include "ptx/ptx.h"

struct group { /* a group of modifier words in words.def */
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

struct choice { /* one of the words that a slot allows */
    struct slice word;
    struct gate gate;
    uint8_t type;  /* enum ptx_type of the word; PTX_NO_TYPE: no type */
    uint8_t order; /* enum order: words of an order (not ANY_PLACE) stand in slot order */
};

struct slot {
    struct choice *choices;
    size_t count;
    const struct group *group; /* the group that the row names for the slot; NULL: none */
    bool optional, is_type;
};

struct row { /* a compiled ptx_form_info */
    size_t slot_count;
    struct slot slots[MAX_SLOTS];
};

struct entry { /* an entry of the hash table from opcode text to ops */
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

struct fit { /* an assignment of the words behind a name to the slots of a row */
    const struct choice *choice[MAX_SLOTS];
    uint8_t word[MAX_SLOTS]; /* the index of the word in struct words */
    size_t bad_word;         /* index of the first word that no slot takes; MAX_WORDS: none */
    const struct slot *missing;
    size_t taken;
};

/* The part of the table that does not depend on a module. A process makes it once; then it is read-only. */
struct isa_table {
    struct arena *arena;
    struct row rows[PTX_FORM_COUNT];
    uint16_t next[PTX_FORM_COUNT];    /* index of the next row of the same name, plus 1; 0: none */
    const char *mods[PTX_FORM_COUNT]; /* modifiers in the manual's notation: ptx_form_modifiers() */
    uint16_t *names; /* hash table from name to the index of its first row, plus 1 */
    size_t name_mask;
};
extern struct isa_table isa_table;

bool isa_same_text(struct slice a, const char *b);
/* The state space that a word names; PTX_SPACE_COUNT: none. */
enum ptx_space isa_space_find(const char *text, size_t n);
/* Reads a gate ":70/80" at *p and advances *p; without a colon there, an empty gate. */
struct gate isa_take_gate(const char **p);
/* The message why the module's version or target does not allow `what`; NULL: allowed. */
const char *isa_gate_text(const struct ptx_isa *isa, struct gate g, const char *what);

/* Splits an opcode at its dots; false: malformed. */
bool isa_split(const char *text, uint32_t length, struct words *w);
/* The first `count` words as one text. */
struct slice isa_name_of(const struct words *w, size_t count);
/* The index of the first row of a name, plus 1; 0: none. */
size_t isa_first_row(struct slice name);
/* The slot's choice with this word; NULL: none. */
const struct choice *isa_choice_of(const struct slot *s, struct slice word);
/* Assigns the words from index `from` on to a row's slots. Returns whether all words fit and no required slot is empty. */
bool isa_fit_row(const struct row *row, const struct words *w, size_t from, struct fit *fit);

/* Sets op->shapes. Returns NULL, or the error in the row. *fits becomes false if the opcode's types do not fit the
 * operands. */
const char *isa_read_operands(const struct ptx_isa *isa, struct ptx_op *op, bool *fits);

#endif
