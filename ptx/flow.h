/* ptx/flow.h: data-flow analyses of the registers of one function: liveness, uniformity, register pressure.
 *
 *     struct ptx_flow *f = ptx_flow_new(arena, ptx_cfg_new(arena, func));
 *     for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++)     // registers of statement s
 *         if (f->uses[u].how & PTX_USE_READ) use(f->uses[u].reg);
 *     struct ptx_live *live = ptx_live_new(arena, f, NULL);          // live ranges
 *     struct ptx_uniform *uniform = ptx_uniform_new(arena, f);       // values that lanes of a warp share
 *     struct ptx_registers *regs = ptx_registers_estimate(arena, m); // regs[i] is that of m->funcs[i]
 *
 * The arena owns the results, which are read-only. The depth of recursion is bounded by the nesting of
 * operands. */
#ifndef HEDDLE_PTX_FLOW_H
#define HEDDLE_PTX_FLOW_H

#include "ptx/cfg.h"

struct ptx_module;
struct ptx_sym;

/* ---- which registers a statement reads and writes ---------------------------------------------- */

enum ptx_use_how {
    PTX_USE_READ = 1,
    PTX_USE_WRITE = 2,
    PTX_USE_KILL = 4,  /* a write that replaces the whole old value: without a guard, and not of one
                          * component of a vector register */
    PTX_USE_GUARD = 8, /* a read: the predicate before the instruction */
    PTX_USE_ADDRESS = 16, /* a read: the base of an address */
};

/* One use of a register by one instruction. Registers have their numbers in the function (ptx_sym.id). The
 * carry flag of add.cc, madc and the like is a further register: number reg_count - 1. */
struct ptx_use {
    uint32_t reg;
    uint16_t opnd; /* index of the operand; of a guard: the number of operands */
    uint8_t how;   /* bits of enum ptx_use_how */
    uint8_t sel;   /* enum ptx_sel: the component that is used */
};

struct ptx_flow {
    const struct ptx_func *func;
    const struct ptx_cfg *cfg;
    struct ptx_use *uses; /* for each statement its reads, then its writes, in order of the text */
    uint32_t *use_at;     /* uses of statement s: uses[use_at[s]] .. uses[use_at[s + 1] - 1] */
    uint32_t use_count;
    uint32_t reg_count; /* number of registers of the function, plus one for the carry flag */
    uint32_t *params;   /* .reg parameters: written at the entry of the function */
    uint32_t *results;  /* .reg results: read at the return */
    uint32_t param_count, result_count;
};

struct ptx_flow *ptx_flow_new(struct arena *arena, const struct ptx_cfg *cfg);

/* Hardware registers that a PTX register occupies: 32-bit registers (one for a 16-bit value as well), or one predicate
 * register. */
struct ptx_pressure {
    uint32_t regs, preds;
};
struct ptx_pressure ptx_flow_width(const struct ptx_flow *f, uint32_t reg);

/* For each statement: whether an effect of the program depends on it. False for statements without an instruction, and
 * for dead code: instructions whose only effect is to write registers that only dead code reads. If one write of a register
 * is needed, all writes of that register count as needed. `loads`: all loads except those of parameters are needed, even
 * with dead results, because Heddle checks their addresses. */
bool *ptx_flow_needed(struct arena *arena, const struct ptx_flow *f, bool loads);
/* Whether the instruction at statement s has an effect besides writing registers. */
bool ptx_flow_has_effect(const struct ptx_flow *f, size_t s);

/* For each statement: the .shared variable from whose address the instruction's first memory address was computed; NULL:
 * none, or unknown. (shared_base.c) */
const struct ptx_var **ptx_flow_shared_bases(struct arena *arena, const struct ptx_flow *f);

enum ptx_influence {                            /* bits: what a value may influence */
                     PTX_INFLUENCE_CONTROL = 1, /* a guard, the target of a branch or call */
                     PTX_INFLUENCE_ADDRESS = 2, /* an address, or the coordinates of a texture */
                     PTX_INFLUENCE_SYNC =
                         4, /* operands of barriers, lane masks of .sync instructions */
                     PTX_INFLUENCE_MEMORY =
                         8, /* memory, or a called function: the analysis does not follow the value there */
                     PTX_INFLUENCES = 4, /* number of bits */
};
/* For each statement: bits of enum ptx_influence, what the values that it writes to registers may influence in this
 * function. An over-approximation: the order of statements and the values are ignored. (influence.c) */
uint8_t *ptx_flow_influence(struct arena *arena, const struct ptx_flow *f);
const char *ptx_influence_name(unsigned bit); /* name of one bit: "control flow" */

/* ---- liveness ---------------------------------------------------------------------------------- */

enum ptx_use_fate {
    PTX_FATE_LAST = 1, /* a read: no later instruction reads this value */
    PTX_FATE_DEAD = 2, /* a write: no instruction reads this value */
};

/* Liveness. A register is live where its value may still be read. The analysis handles 256 registers at a
 * time, with a few words for each block, and walks backwards from the reads through the live ranges. So time
 * grows with the live ranges, and memory with the text. (A bit for each register in each block would take
 * 120 MB for 10^5 registers and 10^4 blocks. Callers need only counts and the two fates.) */
struct ptx_live {
    const struct ptx_flow *flow;
    uint8_t *fate; /* for each use: enum ptx_use_fate; 0: neither */
    struct ptx_pressure *in,
        *out;                 /* for each block: registers that are live at its start and end */
    struct ptx_pressure most; /* maximum over reachable points, of each member by itself */
    uint32_t most_at; /* the first statement with most.regs live registers before or behind it;
                                   * PTX_NONE: the function has no registers */
};

/* The analysis ignores instructions whose element of `counts` (for each statement) is false; NULL: none. */
struct ptx_live *ptx_live_new(struct arena *arena, const struct ptx_flow *f, const bool *counts);

/* The statements with an `atom` whose result is dead or the sink `_`, so that a `red` could replace it.
 * *stmts is in ascending order and in the arena. Returns their number. */
uint32_t ptx_live_dead_atoms(struct arena *arena, const struct ptx_live *live, uint32_t **stmts);

/* ---- uniformity --------------------------------------------------------------------------------- */

enum ptx_spread { /* among which threads a value is equal, from the strongest property to the weakest */
                  PTX_SPREAD_GRID, /* equal in all threads of the launch */
                  PTX_SPREAD_CTA,  /* equal in all threads of a CTA */
                  PTX_SPREAD_WARP, /* equal in all lanes of a warp */
                  PTX_SPREAD_AFFINE, /* base + stride * lane modulo 2^width: base as WARP, stride a constant */
                  PTX_SPREAD_VARYING,
};
_Static_assert(PTX_SPREAD_GRID < PTX_SPREAD_CTA && PTX_SPREAD_CTA < PTX_SPREAD_WARP &&
                   PTX_SPREAD_WARP < PTX_SPREAD_AFFINE && PTX_SPREAD_AFFINE < PTX_SPREAD_VARYING,
               "ptx/uniform.c joins two of them by the greater number");

enum ptx_assumes { /* bits: conditions under which a struct ptx_variation holds */
                   PTX_ASSUMES_ROWS =
                       1, /* the CTA is one row of threads, or its rows are whole warps:
                              * ntid.y = ntid.z = 1, or ntid.x is a multiple of 32 */
                   PTX_ASSUMES_NO_WRAP =
                       2, /* a value that is widened does not wrap around between lanes of a warp */
};

struct ptx_variation {
    int64_t stride;  /* AFFINE: never 0 */
    uint8_t spread;  /* enum ptx_spread */
    uint8_t assumes; /* bits of enum ptx_assumes */
};

/* Uniformity: which values the lanes of a warp share. The result is for each use of a register, because a
 * loop's counter may be uniform inside a loop that lanes leave one by one, and not behind the loop.
 *
 * The result holds for lanes that execute an instruction together. Converged lanes have taken the same path.
 * Lanes that diverged at a branch may reconverge at its `rejoin` or at any later point. Lanes that have
 * executed different numbers of iterations of a loop are not converged inside the loop, even if they are
 * at the same instruction.
 *
 *  - A kernel's parameters, constants, addresses of variables, %ntid and the like are GRID, %ctaid is
 *    CTA, %warpid WARP, %laneid and %tid.x are AFFINE with stride 1 (%tid.x, and %tid.y and %tid.z as
 *    WARP, under PTX_ASSUMES_ROWS unless .reqntid settles it), clocks and lane masks VARYING.
 *  - The result of arithmetic has the weakest property of its operands; add, sub, neg, shl, mul, mad and
 *    integer conversion keep a stride. A write under a guard has the weakest property of the guard, the
 *    old and the new value.
 *  - Where the paths of a branch join, a register with different definitions on them is no more uniform
 *    than the branch's condition. A value that is computed in a loop and read behind the loop is no more
 *    uniform than the loop's exit conditions.
 *  - A load from an address that is uniform in a warp gives WARP: one instruction reads once for all
 *    lanes. It does not give more, since another warp may load later, unless the memory is constant during
 *    a launch: .const, kernel parameters, .nc, ldu. Loads give VARYING from .local, from
 *    generic addresses in a function that may make generic addresses of .local (or that is not a
 *    kernel), and with .volatile, .mmio or a memory order, where each lane has an access of its own.
 *  - Votes, match.all, redux and shfl.idx of one lane give WARP if the mask is uniform, bar.red
 *    gives CTA; atomics, other shuffles, matrices and calls give VARYING.
 *  - A register that was never written counts as GRID; a .func's parameters are VARYING.
 *
 * The work is bounded: if the control flow of a function is too complex, everything is VARYING (`coarse`). */
struct ptx_uniform {
    const struct ptx_flow *flow;
    struct ptx_variation *uses; /* for each use: the value that is read or written; GRID in
                                 * unreachable code */
    uint8_t *branch; /* for each block: enum ptx_spread of the condition of its last branch; GRID
                                 * without a branch. Lanes may diverge if it is above WARP */
    bool coarse;     /* the work was cut off: all is VARYING */
};
struct ptx_uniform *ptx_uniform_new(struct arena *arena, const struct ptx_flow *f);

/* ---- registers per thread ---------------------------------------------------------------------- */

/* An estimate of "Used N registers" of `ptxas -v`. The model orders the instructions of each block as a
 * compiler may that hides latency while registers are free, and counts live registers in that order
 * (register_estimate.c has the algorithm and its constants). It does not model loop unrolling, code motion
 * between blocks, or instructions that become several. Error over the corpus, by tests/regs.sh: 19 % of the
 * registers in the mean, 15 % in the median. */
struct ptx_registers {
    uint32_t registers;       /* the estimate, including called functions */
    uint32_t own;             /* without called functions, and without the limit */
    uint32_t limit;           /* the limit by .maxnreg, .maxntid and the like; at most 255 */
    struct ptx_pressure live; /* the most registers live at once, in the order of the text */
    bool spills;              /* the function needs more registers than the limit */
    bool known;               /* false: the body was not parsed, and all members are zero */
};

/* An array with one element for each of m->funcs. */
struct ptx_registers *ptx_registers_estimate(struct arena *arena, const struct ptx_module *m);
/* The same for one function: analyses only that function and the functions that it calls. */
struct ptx_registers ptx_registers_of(const struct ptx_func *func);

#endif
