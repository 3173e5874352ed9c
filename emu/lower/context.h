/* emu/lower/context.h: the state of lowering, shared by lower.c, operands.c, registers.c, flow.c, live.c and
 * late.c. */
#ifndef HEDDLE_EMU_LOWER_CONTEXT_H
#define HEDDLE_EMU_LOWER_CONTEXT_H

#include "emu/lower/lower.h"
#include "emu/sched/control.h"

enum { LOWER_HASH = 1024, LOWER_PENDING = 8 /* most loads pending at one time */ };

struct lower_reg {
    u32 row;         /* row of its first component */
    u8 bytes, vec;   /* bytes of an element; number of elements */
    bool fixed;      /* its row is filled before the kernel begins */
    u32 alias;       /* 1 + number of the register that shares the row; 0: none */
    u32 first, last; /* statements */
};
struct lower_pool {
    u32 *rows;
    size_t count, cap, used;
};
struct lower_at { /* the state of lowering at a micro-operation */
    u32 stmt;
    u32 temps[4]; /* number of temporaries of each kind that are in use */
};
struct lower_local {
    const struct ptx_sym *sym;
    u32 offset, next;
};
/* A load that may be executed late: before statement `until` at the latest. */
struct lower_late {
    u32 load, until, row;
    u32 steps;           /* accesses between the load and `until` */
    struct emu_uop *uop; /* ld_late; NULL: not emitted yet */
};
enum lower_fix {
    LOWER_FIX_UOP = 1,    /* imm is the index of a micro-operation: target */
    LOWER_FIX_TARGET = 2, /* imm is a block: target */
    LOWER_FIX_JOIN = 4,   /* e is a block: join */
    /* ext's targets are blocks; e is the block where lanes reconverge: target */
    LOWER_FIX_BRX = 8,
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
    /* .local variables of modules, by offset in the thread's local memory */
    struct lower_local *module_locals;
    size_t module_local_count, module_local_cap;
    u64 module_local; /* bytes */
    const char *failed;
};

struct lower_known {                     /* results of ptx/flow.h, by statement */
    const struct ptx_var **shared_bases; /* ptx_flow_shared_bases */
    const uint8_t *influence;            /* ptx_flow_influence; NULL: not computed yet */
    /* the statement has an effect; its result is in a row already */
    bool *needed, *skip;
    u32 *dead, dead_count; /* statements: atomics whose result no instruction reads */
};
struct lower_lates {         /* late.c */
    struct lower_late *list; /* sorted by `until` */
    size_t cap;
    u32 count, next; /* entries before `next` end before the statement that is lowered */
    u32 *of; /* for each statement, 1 + index of its load in the list; NULL: no load is late */
    u32 open[LOWER_PENDING], open_count; /* indices of the loads that may be pending now */
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
struct lower_out { /* the emitted code */
    struct emu_uop *uops;
    struct lower_at *at; /* state at each micro-operation */
    size_t count, cap, at_cap;
    struct lower_fixup *fixes;
    size_t fix_count, fix_cap;
    u32 *block_uop; /* first micro-operation of each block */
    u32 head;       /* first micro-operation of the part that is counted as one block */
};

struct lower { /* a function */
    struct lower_driver *driver;
    struct arena *arena, *scratch; /* freed with the code; freed after lowering */
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
    bool too_large; /* the function needs more rows than the limit */
    /* State of the instruction that is lowered: */
    struct lower_pool temps[4];
    const struct lower_rule *rule;
    const char *refusal;
    bool bad_operand;
    u32 pc, stmt, block;
};

/* Rows. lower_new_rows: `n` new adjacent rows with elements of `bytes`. lower_fill_row: a row that is filled before a
 * kernel begins; equal contents share one row. */
static inline u32 lower_row_size(unsigned bytes)
{
    return ROW * bytes;
}
u32 lower_new_rows(struct lower *L, unsigned bytes, u32 n);
u32 lower_fill_row(struct lower *L, u8 kind, u64 bits, unsigned bytes, bool is_pred);

/* Special registers: enum emu_special of a component, and the component that an operand names. */
int lower_special_of(const struct ptx_sym *s, unsigned component);
unsigned lower_component_of(const struct ptx_opnd *o);

/* Called before the statements are lowered: assign offsets to .local variables (lower_place_module_locals: once for a
 * program) and parameters, and rows to registers. */
void lower_place_module_locals(struct lower_driver *D);
void lower_find_locals(struct lower *L);
void lower_find_registers(struct lower *L);

void lower_fix(struct lower *L, size_t uop, unsigned kind);
/* Begin and end a part of the code that is counted and traced as one block: a basic block, or its part before or after
 * a call. lower_open_block returns the index of the part's first micro-operation. */
u32 lower_open_block(struct lower *L);
void lower_close_block(struct lower *L);
void lower_jump(struct lower *L, u32 block);
u32 lower_local_offset(struct lower *L, const struct ptx_sym *s);

/* Lowers branches, calls, exits and similar instructions, with their guards. false: the instruction is none of
 * these. */
bool lower_flow_inst(struct lower *L, const struct ptx_inst *i);
/* A branch around an instruction for lanes that its guard disables, to a target that is no block of the PTX, and that
 * target. The disabled lanes are on the SIMT stack meanwhile, which is required where the other lanes may wait.
 * lower_meet_behind takes the result of lower_open_skip. */
size_t lower_open_skip(struct lower *L, const struct ptx_inst *i);
void lower_meet_behind(struct lower *L, size_t skip);
/* Determines where the function's parameters and results are. */
void lower_passes(struct lower *L);
/* Computes emu_code.live. The row of a register is live from the register's first to its last statement; a temporary is
 * live from the second micro-operation of its instruction on. */
void lower_live_rows(struct lower *L);
/* lower_find_late finds the loads that may be executed late. lower_late_before emits the loads that must be executed
 * before statement s. */
void lower_find_late(struct lower *L);
void lower_late_before(struct lower *L, u32 s);
/* Called when every function is lowered: resolves calls, and computes properties of the whole program. */
void lower_link_calls(struct lower_driver *D);

#endif
