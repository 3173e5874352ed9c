/* emu/lower/context.h: the state of lowering, shared by lower.c, operands.c, registers.c, flow.c, live.c and
 * late.c. */
#ifndef HEDDLE_EMU_LOWER_CONTEXT_H
#define HEDDLE_EMU_LOWER_CONTEXT_H

#include "emu/lower/lower.h"
#include "emu/sched/control.h"

enum { LOWER_HASH = 1024, LOWER_PENDING = 8 /* loads at one time */ };

struct lower_reg {
    u32 row;         /* of its first component */
    u8 bytes, vec;   /* of an element; elements */
    bool fixed;      /* its row is a fill */
    u32 alias;       /* another register's number + 1 */
    u32 first, last; /* statements */
};
struct lower_pool {
    u32 *rows;
    size_t count, cap, used;
};
struct lower_at { /* of a micro-operation */
    u32 stmt;
    u32 temps[4]; /* so many temporaries of each kind are in use */
};
struct lower_local {
    const struct ptx_sym *sym;
    u32 offset, next;
};
/* A load that may be carried out late: before statement `until` at the latest. */
struct lower_late {
    u32 load, until, row;
    u32 steps;           /* accesses in between */
    struct emu_uop *uop; /* ld_late; NULL: the load is not there yet */
};
enum lower_fix {
    LOWER_FIX_UOP = 1,       /* imm is the index of a micro-operation: target */
    LOWER_FIX_TARGET = 2,    /* imm is a block: target */
    LOWER_FIX_JOIN = 4,      /* e is a block: join */
    LOWER_FIX_BRX = 8,       /* ext's targets are blocks, e is the block where they meet: target */
    LOWER_FIX_CALL = 16,     /* ext is a call_desc whose `back` is the index of a micro-operation */
    LOWER_FIX_JOIN_UOP = 32, /* e is the index of a micro-operation: join */
};
struct lower_fixup {
    size_t uop;
    unsigned kind;
};

struct lower_driver { /* a program */
    struct arena *arena;
    struct image *image;
    struct image_shared *layout;
    struct emu_program *program;
    emu_op *const *ops;
    u8 watched; /* enum lower_watch */
    bool its;
    struct emu_place_of *places;
    struct emu_block_mix *blocks;
    size_t place_cap, block_cap, site_cap;
    struct emu_site_of *sites;
    struct lower_local
        *module_locals; /* .local variables of modules: offsets from the thread's beginning */
    size_t module_local_count, module_local_cap;
    u64 module_local; /* bytes */
    const char *failed;
};

struct lower_known {                     /* what ptx/flow.h says of the function, by statement */
    const struct ptx_var **shared_bases; /* ptx_flow_shared_bases */
    const uint8_t *influence;            /* ptx_flow_influence; NULL: not asked for yet */
    bool *needed, *skip;                 /* it does something; its result is a row already */
    u32 *dead, dead_count;               /* statements: atomics whose result nobody reads */
};
struct lower_lates {         /* late.c */
    struct lower_late *list; /* in the order of `until` */
    size_t cap;
    u32 count, next; /* those before `next` are behind what is lowered */
    u32 *of; /* by statement: the number of its load in the list, plus one. NULL: none is late */
    u32 open[LOWER_PENDING], open_count; /* in the list: that may be pending now */
};
struct lower_fills { /* rows that are filled before a kernel begins: lower_fill_row */
    struct emu_fill *list;
    size_t cap, next_cap;
    u32 count, *head, *next; /* a hash table */
};
struct lower_locals { /* .local variables and parameters, by a hash table */
    struct lower_local *list;
    size_t count, cap;
    u32 *head;
};
struct lower_out { /* what has been emitted */
    struct emu_uop *uops;
    struct lower_at *at; /* by micro-operation */
    size_t count, cap, at_cap;
    struct lower_fixup *fixes;
    size_t fix_count, fix_cap;
    u32 *block_uop; /* by block: its first micro-operation */
    u32 head;       /* the micro-operation that begins what is counted as one block */
};

struct lower { /* a function */
    struct lower_driver *driver;
    struct arena *arena, *scratch; /* as long as the code; as long as the lowering */
    struct image *image;
    struct image_shared *layout;
    struct emu_program *program;
    struct emu_code *code;
    const struct ptx_func *func;
    const struct ptx_body *body;
    struct ptx_cfg *cfg;
    struct ptx_flow *flow;
    emu_op *const *ops;
    u8 watched; /* enum lower_watch */
    bool its;
    struct lower_known known;
    struct lower_lates late;
    struct lower_fills fills;
    struct lower_locals locals;
    struct lower_out out;
    struct lower_reg *regs;
    u32 params_size;
    bool too_large; /* it needs more rows than there may be */
    /* Of the instruction that is lowered: */
    struct lower_pool temps[4];
    const struct lower_rule *rule;
    const char *refusal;
    bool bad_operand;
    u32 pc, stmt, block;
};

/* Rows: `n` new ones of `bytes` each side by side; one that is filled before a kernel begins, the same for the same content. */
static inline u32 lower_row_size(unsigned bytes)
{
    return ROW * bytes;
}
u32 lower_new_rows(struct lower *L, unsigned bytes, u32 n);
u32 lower_fill_row(struct lower *L, u8 kind, u64 bits, unsigned bytes, bool is_pred);

/* A special register: enum emu_special of one of its components; which component an operand names. */
int lower_special_of(const struct ptx_sym *s, unsigned component);
unsigned lower_component_of(const struct ptx_opnd *o);

/* Before the text: where .local variables and parameters are (of modules: once for a program), and registers' rows. */
void lower_place_module_locals(struct lower_driver *D);
void lower_find_locals(struct lower *L);
void lower_find_registers(struct lower *L);

void lower_fix(struct lower *L, size_t uop, unsigned kind);
/* What is counted and traced as one: a block of the text, or what it has up to a call or behind one. The first returns the
 * index of its micro-operation. */
u32 lower_open_block(struct lower *L);
void lower_close_block(struct lower *L);
void lower_jump(struct lower *L, u32 block);
u32 lower_local_offset(struct lower *L, const struct ptx_sym *s);

/* Branches, calls, exits and the like, with their guards: false: it is none. */
bool lower_flow_inst(struct lower *L, const struct ptx_inst *i);
/* A branch around what a guard switches off, to a place that is no block of the text, and that place. So
 * lanes that are off stand on the stack meanwhile, as they must where the others may wait. The first
 * returns what the second takes. */
size_t lower_open_skip(struct lower *L, const struct ptx_inst *i);
void lower_meet_behind(struct lower *L, size_t skip);
/* Where the function's parameters and results are. */
void lower_passes(struct lower *L);
/* Fills emu_code.live: what registers hold is needed from the first to the last statement of theirs; temporaries, from the
 * second micro-operation of an instruction on. */
void lower_live_rows(struct lower *L);
/* Which loads may be carried out late; what must be carried out before statement s. */
void lower_find_late(struct lower *L);
void lower_late_before(struct lower *L, u32 s);
/* When every function is lowered: calls get their callees; what the program does as a whole. */
void lower_link_calls(struct lower_driver *D);

#endif
