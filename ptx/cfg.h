/* ptx/cfg.h: the control flow graph of one function, with dominators and loops.
 *
 *     struct ptx_cfg *g = ptx_cfg_new(arena, func);          // func->body was parsed without errors
 *     for (uint32_t b = 0; b < g->code_count; b++)           // the blocks, in the order of the text
 *         for (uint32_t i = 0; i < g->blocks[b].succ_count; i++)
 *             use(b, g->succs[g->blocks[b].succ + i]);
 *     uint32_t at = g->blocks[b].rejoin;                     // where lanes that diverge in b reconverge
 *
 * A basic block is a range of the body's statements. These instructions end a block, with or without a
 * guard: branches, brx.idx, ret, exit, trap and calls of .noreturn functions. A label starts a block if
 * an instruction branches to it. Statements without instructions belong to the block whose last
 * instruction they follow. Other calls do not end a block: a callee's control flow is not part of its
 * caller's.
 *
 * Blocks are numbered 0 .. count - 1. There are three kinds:
 *   0 .. code_count - 1      code, in the order of the text; control enters at block 0
 *   code_count .. exit - 1   hubs, without statements. Compiled code needs none. If brx.idx
 *                            instructions share .branchtargets lists so much that they would have more
 *                            than PTX_CFG_SHARED edges, each further list gets a hub: its brx.idx have
 *                            an edge to the hub, and the hub has edges to the targets. So the number of
 *                            edges stays proportional to the text. Hubs do not change dominance, but a
 *                            loop with a back edge through a hub may count as irreducible.
 *   exit = count - 1         the exit of the function, without statements
 *
 * Time is O(edges * log(blocks)) for any graph (Lengauer and Tarjan, "A fast algorithm for
 * finding dominators in a flowgraph", 1979; Havlak, "Nesting of reducible and irreducible loops",
 * 1997, for the loops). No function recurses. The arena owns the graph. The graph is constant after
 * ptx_cfg_new(), so several threads may read it. */
#ifndef HEDDLE_PTX_CFG_H
#define HEDDLE_PTX_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct ptx_func;
struct ptx_inst;

#define PTX_NONE UINT32_MAX /* no block, statement or loop */

enum { PTX_CFG_SHARED = 1 << 16 };

enum ptx_leave { /* bits: how control can leave the function at the end of a block */
                 PTX_LEAVE_RETURN = 1, /* ret, or the end of the text */
                 PTX_LEAVE_EXIT = 2,   /* exit: the thread ends */
                 PTX_LEAVE_ABORT = 4,  /* trap, or a call that does not return */
};

struct ptx_block {
    uint32_t first, end; /* the block's statements: first <= s < end */
    uint32_t term;       /* the statement that ends the block; PTX_NONE: control falls through */
    /* Successors: g->succs[succ ...], each block once. If a guard may be false, the block that follows in
     * the text is the last one. */
    uint32_t succ, succ_count;
    uint32_t pred, pred_count; /* predecessors: g->preds[pred ...], in ascending order */
    uint32_t rpo;              /* index in g->order; PTX_NONE: the block is unreachable */
    uint32_t loop;             /* the innermost loop that contains the block; PTX_NONE: none */
    uint32_t idom;             /* immediate dominator; PTX_NONE: the entry, or unreachable */
    uint32_t ipdom;            /* immediate post-dominator; PTX_NONE: the exit */
    uint32_t rejoin;           /* block where lanes that diverge at the end reconverge: see below */
    uint32_t dom_in, dom_out;  /* a dominates b: a.dom_in <= b.dom_in && b.dom_in < a.dom_out */
    uint32_t pdom_in, pdom_out; /* the same for post-dominance */
    uint8_t leave;              /* bits of enum ptx_leave; 0: control stays in the function */
    bool endless;               /* no path from this block leaves the function */
    bool irreducible;           /* the block is part of a cycle with several entries */
};

/* A natural loop: the blocks that the header dominates and from which a path leads back to the header
 * through such blocks. Cycles with several entries are not loops here: see `irreducible`. */
struct ptx_loop {
    uint32_t header;
    uint32_t parent; /* the enclosing loop, with a smaller number; PTX_NONE: none */
    uint32_t depth;  /* 1: an outermost loop */
    uint32_t blocks; /* number of code blocks, including those of inner loops */
};

/* Post-dominance. A strongly connected component that control never leaves has no path to the exit. The
 * first block of each such component, in the order of the text, counts as a predecessor of the exit, so that
 * every block has post-dominators. A hub is never an `idom`, `ipdom` or `rejoin`.
 *
 * Reconvergence. Lanes of a warp that diverge at a branch reconverge at its immediate post-dominator. But
 * `@p exit` inside nested ifs makes the exit the post-dominator of all of them, although the lanes
 * that did not exit can reconverge at once. So `rejoin` is the immediate post-dominator over those paths
 * alone that reach the function's return. In a kernel, where ret ends a thread as exit does, the return
 * is the last reachable ret or exit in the text. A block that cannot reach the return has rejoin = ipdom.
 * Neither choice guarantees progress: a lane that busy-waits for a store of another lane of its warp may
 * wait for a lane that already waits at the reconvergence point. */
struct ptx_cfg {
    const struct ptx_func *func;
    struct ptx_block *blocks;
    uint32_t count, code_count, exit;
    uint32_t *succs, *preds;
    uint32_t edge_count;
    uint32_t *order; /* the reachable blocks in reverse postorder; order[0] is 0 */
    uint32_t order_count;
    struct ptx_loop *loops; /* outer loops before their inner loops */
    uint32_t loop_count;
    uint32_t irreducible_count; /* number of outermost cycles with several entries */
};

struct ptx_cfg *ptx_cfg_new(struct arena *arena, const struct ptx_func *func);

/* The block that contains a statement. */
uint32_t ptx_cfg_block_of(const struct ptx_cfg *g, uint32_t stmt);

static inline bool ptx_cfg_reachable(const struct ptx_cfg *g, uint32_t b)
{
    return g->blocks[b].rpo != PTX_NONE;
}

/* Whether a dominates b: every path from the entry to b contains a. True for a = b. Both must be reachable. */
static inline bool ptx_cfg_dominates(const struct ptx_cfg *g, uint32_t a, uint32_t b)
{
    const struct ptx_block *p = &g->blocks[a], *q = &g->blocks[b];
    return p->dom_in <= q->dom_in && q->dom_in < p->dom_out;
}

/* Whether a post-dominates b: every path from b to the exit contains a. */
static inline bool ptx_cfg_post_dominates(const struct ptx_cfg *g, uint32_t a, uint32_t b)
{
    const struct ptx_block *p = &g->blocks[a], *q = &g->blocks[b];
    return p->pdom_in <= q->pdom_in && q->pdom_in < p->pdom_out;
}

/* Whether a loop contains block b (PTX_NONE, the whole function, contains all). The time is proportional to
 * the difference of their nesting depths. */
bool ptx_cfg_in_loop(const struct ptx_cfg *g, uint32_t loop, uint32_t b);

/* The parts of a call: call (results), callee, (arguments), prototype. */
struct ptx_call {
    const struct ptx_opnd *results, *callee, *arguments; /* NULL: not written */
    const struct ptx_proto *proto;
    const struct ptx_func *func; /* the callee, the definition if the module has one; NULL: the
                                  * callee is known only at run time */
    bool listed;                 /* with func NULL: the callee is one of a .calltargets list */
};
bool ptx_inst_is_call(const struct ptx_inst *inst);
struct ptx_call ptx_inst_call(const struct ptx_inst *inst);

/* Any directed graph: the edges of node i are out[out_at[i]] .. out[out_at[i + 1] - 1]. */
struct ptx_graph {
    uint32_t count;
    uint32_t *out_at, *out, *in_at, *in;
};

/* Sets in_at and in of a graph whose count, out_at and out are set. The in-edges of a node are in ascending
 * order of their source nodes. */
void ptx_graph_reverse(struct arena *arena, struct ptx_graph *g);

/* Writes the immediate dominators with respect to `root` to idom[]; PTX_NONE for the root and for nodes that
 * are unreachable from it. `walk` (may be NULL) gets the reachable nodes, each behind its dominators. Returns
 * the number of reachable nodes. */
uint32_t ptx_graph_dominators(struct arena *scratch, const struct ptx_graph *g, uint32_t root,
                              uint32_t *idom, uint32_t *walk);

#endif
