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
    PTX_USE_KILL = 4, /* a write that leaves nothing of the old value: not under a guard, and not of
                          * one component of a vector register */
    PTX_USE_GUARD = 8,    /* a read: the predicate before the instruction */
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
    struct ptx_use
        *uses;        /* statement by statement: reads, then writes, each in order of the text */
    uint32_t *use_at; /* of statement s: uses[use_at[s]] .. uses[use_at[s + 1] - 1] */
    uint32_t use_count;
    uint32_t reg_count; /* registers of the function, and the carry flag */
    uint32_t *params;   /* .reg parameters, written when the function is entered */
    uint32_t *results;  /* .reg results, read when it returns */
    uint32_t param_count, result_count;
};

struct ptx_flow *ptx_flow_new(struct arena *arena, const struct ptx_cfg *cfg);

/* What a register of PTX takes of the register file: 32-bit registers (a 16-bit value takes one, too), or 0 and one
 * predicate. */
struct ptx_pressure {
    uint32_t regs, preds;
};
struct ptx_pressure ptx_flow_width(const struct ptx_flow *f, uint32_t reg);

/* By statement: whether the program's effects need it. False for what is no instruction, and for an
 * instruction that does nothing but write registers which only such instructions read. Where a
 * register is written in several places, all of them count as needed if one is. `loads`: loads are needed, whoever reads
 * what they give, as their addresses are checked; but not those of parameters. */
bool *ptx_flow_needed(struct arena *arena, const struct ptx_flow *f, bool loads);
/* Whether a statement, which is an instruction, does anything but write registers. */
bool ptx_flow_has_effect(const struct ptx_flow *f, size_t s);

/* By statement: the .shared variable whose address the instruction's first address in memory was made from; NULL: none, or
 * it is not known. (shared_base.c) */
const struct ptx_var **ptx_flow_shared_bases(struct arena *arena, const struct ptx_flow *f);

enum ptx_influence {                            /* what a value may decide */
                     PTX_INFLUENCE_CONTROL = 1, /* a guard, the target of a branch or call */
                     PTX_INFLUENCE_ADDRESS = 2, /* an address, or the coordinates of a texture */
                     PTX_INFLUENCE_SYNC =
                         4, /* operands of barriers, lane masks of .sync instructions */
                     PTX_INFLUENCE_MEMORY =
                         8, /* it goes into memory or another function, and is not followed there */
                     PTX_INFLUENCES = 4, /* how many there are */
};
/* By statement: what the values that it writes to registers may decide in this function. More than they do: neither the
 * order of statements nor what a value is matters. (influence.c) */
uint8_t *ptx_flow_influence(struct arena *arena, const struct ptx_flow *f);
const char *ptx_influence_name(unsigned bit); /* of one of them: "control flow" */

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
    uint8_t *fate;                 /* by use: enum ptx_use_fate */
    struct ptx_pressure *in, *out; /* by block: what is live at its start and end */
    struct ptx_pressure most;      /* at any point that control reaches; each maximum for itself */
    uint32_t most_at; /* the first statement behind or before which so many registers are
                                   * live; PTX_NONE: the function has none */
};

/* `counts`, by statement, leaves out the instructions for which it is false; NULL: counts them all. */
struct ptx_live *ptx_live_new(struct arena *arena, const struct ptx_flow *f, const bool *counts);

/* The statements that hold an `atom` whose result nobody reads or that writes it to `_`: it might be
 * a `red`. Ascending; returns how many. */
uint32_t ptx_live_dead_atoms(struct arena *arena, const struct ptx_live *live, uint32_t **stmts);

/* ---- what the lanes of a warp share ------------------------------------------------------------ */

enum ptx_spread { /* how far a value is the same; each says less than the one before it */
                  PTX_SPREAD_GRID, /* in every thread of the launch */
                  PTX_SPREAD_CTA,  /* in every thread of a CTA */
                  PTX_SPREAD_WARP, /* in every lane of a warp */
                  PTX_SPREAD_AFFINE, /* base + stride * lane: a base as WARP, a known stride, modulo 2^width */
                  PTX_SPREAD_VARYING,
};
_Static_assert(PTX_SPREAD_GRID < PTX_SPREAD_CTA && PTX_SPREAD_CTA < PTX_SPREAD_WARP &&
                   PTX_SPREAD_WARP < PTX_SPREAD_AFFINE && PTX_SPREAD_AFFINE < PTX_SPREAD_VARYING,
               "ptx/uniform.c joins two of them by the greater number");

enum ptx_assumes { /* what a CTA or value must be like for a statement to hold */
                   PTX_ASSUMES_ROWS =
                       1, /* the CTA is one row of threads, or each of its rows is whole warps:
                              * ntid.y = ntid.z = 1, or ntid.x is a multiple of 32 */
                   PTX_ASSUMES_NO_WRAP =
                       2, /* a value that is widened does not wrap around within the warp */
};

struct ptx_variation {
    int64_t stride;  /* AFFINE: never 0 */
    uint8_t spread;  /* enum ptx_spread */
    uint8_t assumes; /* enum ptx_assumes */
};

/* Which values the lanes of a warp have in common: for each use of a register, so that a loop's
 * counter can be the same for all lanes inside a loop that they leave one by one, and not behind it.
 *
 * What is said holds for lanes that execute an instruction together. Lanes are together that came the
 * same way; those that parted may be together again from their branch's `rejoin` on, and may be separate for
 * as long as they like. Lanes that have gone round a loop a different number of times are not together
 * inside the loop even if they stand at the same instruction.
 *
 *  - A kernel's parameters, constants, addresses of variables, %ntid and the like are GRID, %ctaid is
 *    CTA, %warpid WARP, %laneid and %tid.x are AFFINE with stride 1 (%tid.x, and %tid.y and %tid.z as
 *    WARP, under PTX_ASSUMES_ROWS unless .reqntid settles it), clocks and lane masks VARYING.
 *  - Arithmetic gives the least that its operands share; add, sub, neg, shl, mul, mad and integer
 *    conversion keep a stride. A write under a guard shares what the guard, the old and the new value
 *    do.
 *  - Where ways meet that a branch separated, a register with different definitions on them shares no
 *    more than the branch's condition does. What is computed in a loop and read behind it shares no
 *    more than the loop's exits do.
 *  - A load from an address that a warp shares gives WARP: one instruction reads once for all lanes.
 *    It gives no more than that, since another warp may come later, unless what it reads does not
 *    change during a launch: .const, kernel parameters, .nc, ldu. It gives VARYING from .local, from
 *    generic addresses in a function that may make generic addresses of .local (or that is not a
 *    kernel), and where .volatile, .mmio or a memory order makes each lane's access its own.
 *  - Votes, match.all, redux and shfl.idx of one lane give WARP if the lanes name one mask, bar.red
 *    gives CTA; atomics, other shuffles, matrices and calls give VARYING.
 *  - A register that was never written counts as GRID, as if it held one value; a .func's parameters
 *    are VARYING.
 *
 * The work is limited: functions whose control flow is too tangled get VARYING everywhere (`coarse`). */
struct ptx_uniform {
    const struct ptx_flow *flow;
    struct ptx_variation *uses; /* by use: the value read, or the value written. Where control never
                                 * comes: GRID */
    uint8_t *branch; /* by block: enum ptx_spread of the decision where to go at its end; GRID
                                 * if there is only one way. Above WARP lanes may part */
    bool coarse;
};
struct ptx_uniform *ptx_uniform_new(struct arena *arena, const struct ptx_flow *f);

/* ---- registers per thread ---------------------------------------------------------------------- */

/* What `ptxas -v` would print as "Used N registers", from a model: each block's instructions are put
 * in the order a compiler might choose that hides latency while registers are left, and what is live
 * then is counted (register_estimate.c says how, and holds the constants). It knows nothing of loops being
 * unrolled, of values moved between blocks, nor of instructions that become several. Measured over
 * the corpus by tests/regs.sh: off by 19 % of the registers in the mean, 15 % in the median. */
struct ptx_registers {
    uint32_t registers;       /* the estimate: those of the functions it calls included */
    uint32_t own;             /* without them, and without a limit */
    uint32_t limit;           /* what .maxnreg, .maxntid and the like leave; at most 255 */
    struct ptx_pressure live; /* most values live at once, in the order of the text */
    bool spills;              /* it would need more than the limit */
    bool known;               /* false: its body was not read, all is zero */
};

/* One for each of m->funcs. */
struct ptx_registers *ptx_registers_estimate(struct arena *arena, const struct ptx_module *m);
/* The same of one function: only it and what it calls are looked at. */
struct ptx_registers ptx_registers_of(const struct ptx_func *func);

#endif
