/* ptx/flow.h: what happens to the registers of one function.
 *
 *     struct ptx_flow *f = ptx_flow_new(arena, ptx_cfg_new(arena, func));
 *     for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++)     // registers of statement s
 *         if (f->uses[u].how & PTX_USE_READ) use(f->uses[u].reg);
 *     struct ptx_live *live = ptx_live_new(arena, f, NULL);          // who is needed how long
 *     struct ptx_uniform *uniform = ptx_uniform_new(arena, f);       // what a warp's lanes share
 *     struct ptx_registers *regs = ptx_registers_estimate(arena, m); // of m->funcs[i]: regs[i]
 *
 * Everything lives in the arena given and is read-only afterwards. Nothing recurses deeper than
 * operands nest. */
#ifndef HEDDLE_PTX_FLOW_H
#define HEDDLE_PTX_FLOW_H

#include "ptx/cfg.h"

struct ptx_module;
struct ptx_sym;

/* ---- which registers a statement reads and writes ---------------------------------------------- */

enum ptx_use_how {
    PTX_USE_READ = 1,
    PTX_USE_WRITE = 2,
    PTX_USE_KILL = 4,    /* a write that leaves nothing of the old value: not under a guard, and not of
                          * one component of a vector register */
    PTX_USE_GUARD = 8,   /* a read: the predicate before the instruction */
    PTX_USE_ADDRESS = 16, /* a read: the base of an address */
};

/* A register in one place of one instruction. Registers are named by their number in the function
 * (ptx_sym.id). The carry flag of add.cc, madc and the like is one more: number reg_count - 1. */
struct ptx_use {
    uint32_t reg;
    uint16_t opnd; /* which operand; of a guard: the operand count */
    uint8_t how;   /* enum ptx_use_how */
    uint8_t sel;   /* enum ptx_sel, which component */
};

struct ptx_flow {
    const struct ptx_func *func;
    const struct ptx_cfg *cfg;
    struct ptx_use *uses;   /* statement by statement: reads, then writes, each in order of the text */
    uint32_t *use_at;       /* of statement s: uses[use_at[s]] .. uses[use_at[s + 1] - 1] */
    uint32_t use_count;
    uint32_t reg_count;     /* registers of the function, and the carry flag */
    uint32_t *params;       /* .reg parameters, written when the function is entered */
    uint32_t *results;      /* .reg results, read when it returns */
    uint32_t param_count, result_count;
};

struct ptx_flow *ptx_flow_new(struct arena *arena, const struct ptx_cfg *cfg);

/* How much room a register takes: 32-bit registers (a 16-bit value takes one, too), or 0 and one
 * predicate. */
struct ptx_pressure {
    uint32_t regs, preds;
};
struct ptx_pressure ptx_flow_room(const struct ptx_flow *f, uint32_t reg);

/* By statement: whether the program's effects need it. False for what is no instruction, and for an
 * instruction that does nothing but write registers which only such instructions read. Where a
 * register is written in several places, all of them count as needed if one is. */
bool *ptx_flow_needed(struct arena *arena, const struct ptx_flow *f);

/* ---- liveness ---------------------------------------------------------------------------------- */

enum ptx_use_fate {
    PTX_FATE_LAST = 1, /* of a read: nothing reads this value again */
    PTX_FATE_DEAD = 2, /* of a write: nothing reads this value */
};

/* A register is live where its value may still be read. Solved for 256 registers at a time, a few words
 * a block, backwards from the reads, only where they are live: time grows with the live ranges, memory
 * with the text. (A bit for each register in each block would be 120 MB for 10^5 registers in 10^4
 * blocks; what is asked of it are counts and the two fates, and they need no more than this.) */
struct ptx_live {
    const struct ptx_flow *flow;
    uint8_t *fate;                /* by use: enum ptx_use_fate */
    struct ptx_pressure *in, *out; /* by block: what is live at its start and end */
    struct ptx_pressure most;     /* at any point that control reaches; each maximum for itself */
    uint32_t most_at;             /* the first statement behind or before which so many registers are
                                   * live; PTX_NONE: the function has none */
};

/* `counts`, by statement, leaves out the instructions for which it is false; NULL: counts them all. */
struct ptx_live *ptx_live_new(struct arena *arena, const struct ptx_flow *f, const bool *counts);

/* The statements that hold an `atom` whose result nobody reads or that writes it to `_`: it might be
 * a `red`. Ascending; returns how many. */
uint32_t ptx_live_dead_atoms(struct arena *arena, const struct ptx_live *live, uint32_t **stmts);

/* ---- registers per thread ---------------------------------------------------------------------- */

/* What `ptxas -v` would print as "Used N registers", from a model: each block's instructions are put
 * in the order a compiler might choose that hides latency while registers are left, and what is live
 * then is counted (live.c says how, and holds the constants). It knows nothing of loops being
 * unrolled, of values moved between blocks, nor of instructions that become several. Measured over
 * the corpus by tests/regs.sh: off by 18 % of the registers in the mean. */
struct ptx_registers {
    uint32_t registers;        /* the estimate: those of the functions it calls included */
    uint32_t own;              /* without them, and without a limit */
    uint32_t limit;            /* what .maxnreg, .maxntid and the like leave; at most 255 */
    struct ptx_pressure live;  /* most values live at once, in the order of the text */
    bool spills;               /* it would need more than the limit */
    bool known;                /* false: its body was not read, all is zero */
};

/* One for each of m->funcs. */
struct ptx_registers *ptx_registers_estimate(struct arena *arena, const struct ptx_module *m);

#endif
