/* ptx/cfg.h: the flow of control in one function.
 *
 *     struct ptx_cfg *g = ptx_cfg_new(arena, func);          // func->body was read, without errors
 *     for (uint32_t b = 0; b < g->code_count; b++)           // the blocks, in the order of the text
 *         for (uint32_t i = 0; i < g->blocks[b].succ_count; i++)
 *             use(b, g->succs[g->blocks[b].succ + i]);
 *     uint32_t meet = g->blocks[b].rejoin;                   // where lanes that parted in b meet
 *
 * A block is a range of the body's statements. A branch ends one, and so do brx.idx, ret, exit, trap
 * and a call of a .noreturn function, each with or without a guard; a label starts one if something
 * branches to it. Statements that are no instructions and stand behind a block's last instruction
 * belong to it. Other calls end nothing: what a callee does is not part of its caller's flow.
 *
 * Blocks are numbered 0 .. count - 1 and come in three sorts:
 *   0 .. code_count - 1      code, in the order of the text; control enters at block 0
 *   code_count .. exit - 1   hubs, without statements, which real code has none of. Where brx.idx
 *                            share .branchtargets lists so much that their edges would number more
 *                            than PTX_CFG_SHARED, further lists get a hub: their brx.idx lead to it,
 *                            and it leads to the targets. So the number of edges stays in
 *                            proportion to the text. Dominance does not suffer from it, but a loop
 *                            whose way back leads through a hub may count as irreducible.
 *   exit = count - 1         where control goes when it leaves the function, without statements
 *
 * Time is O(edges * log(blocks)) whatever the shape (Lengauer and Tarjan, "A fast algorithm for
 * finding dominators in a flowgraph", 1979; Havlak, "Nesting of reducible and irreducible loops",
 * 1997, for the loops); nothing recurses. Everything lives in the arena given. The graph is not
 * changed afterwards and may be read by several threads. */
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

enum ptx_leave { /* how control can leave the function at the end of a block */
                 PTX_LEAVE_RETURN = 1, /* ret, or the end of the text */
                 PTX_LEAVE_EXIT = 2,   /* exit: the thread ends */
                 PTX_LEAVE_ABORT = 4,  /* trap, or a call that does not return */
};

struct ptx_block {
    uint32_t first, end; /* its statements: first <= s < end */
    uint32_t term;       /* the statement that ends it; PTX_NONE: control falls into the next */
    uint32_t succ,
        succ_count; /* g->succs[succ ...]: no block twice; where a guard may be false, the
                                * block that follows in the text is the last */
    uint32_t pred, pred_count;  /* g->preds[pred ...]: in ascending order */
    uint32_t rpo;               /* place in g->order; PTX_NONE: control never comes here */
    uint32_t loop;              /* the innermost loop around it; PTX_NONE: none */
    uint32_t idom;              /* immediate dominator; PTX_NONE: the entry, or unreachable */
    uint32_t ipdom;             /* immediate post-dominator; PTX_NONE: the exit */
    uint32_t rejoin;            /* where lanes rejoin that part at its end: see below */
    uint32_t dom_in, dom_out;   /* a dominates b: a.dom_in <= b.dom_in && b.dom_in < a.dom_out */
    uint32_t pdom_in, pdom_out; /* likewise for post-dominance */
    uint8_t leave;              /* enum ptx_leave; 0: it only goes to other blocks */
    bool endless;               /* no way from here leaves the function */
    bool irreducible;           /* part of a cycle that can be entered in several places */
};

/* A natural loop: the blocks from which control can go back to the header without leaving the part
 * that the header dominates. Cycles with several entries are not loops here: see `irreducible`. */
struct ptx_loop {
    uint32_t header;
    uint32_t parent; /* the loop around it; PTX_NONE: none. parent < its own number */
    uint32_t depth;  /* 1: an outermost loop */
    uint32_t blocks; /* of code, those of inner loops included */
};

/* Post-dominance. Where code runs in circles for ever, the first block in the text of each set of
 * blocks that control goes round in counts as a predecessor of the exit, so that every block has
 * post-dominators. A hub never is an `idom`, `ipdom` or `rejoin`.
 *
 * Rejoining. Lanes of a warp that part at a branch meet again at its immediate post-dominator. But
 * `@p exit` inside nested ifs makes the exit the post-dominator of all of them, although the lanes
 * that did not exit can meet at once. So `rejoin` leaves out what never comes back: it is the
 * immediate post-dominator with only those ways considered that reach the function's return. In a
 * kernel, where ret ends a thread as exit does, that is the last ret or exit in the text that can be
 * reached. A block that cannot reach it has rejoin = ipdom. Waiting there costs least. It is no
 * promise of progress: a lane that spins until a lane of its own warp stores something may wait for
 * one that already waits at their meeting point, with either choice. */
struct ptx_cfg {
    const struct ptx_func *func;
    struct ptx_block *blocks;
    uint32_t count, code_count, exit;
    uint32_t *succs, *preds;
    uint32_t edge_count;
    uint32_t *order; /* the blocks that can be reached, in reverse postorder: order[0] is 0 */
    uint32_t order_count;
    struct ptx_loop *loops; /* an outer loop stands before its inner ones */
    uint32_t loop_count;
    uint32_t irreducible_count; /* cycles with several entries, those inside others not counted */
};

struct ptx_cfg *ptx_cfg_new(struct arena *arena, const struct ptx_func *func);

/* The block that a statement belongs to. */
uint32_t ptx_cfg_block_of(const struct ptx_cfg *g, uint32_t stmt);

static inline bool ptx_cfg_reachable(const struct ptx_cfg *g, uint32_t b)
{
    return g->blocks[b].rpo != PTX_NONE;
}

/* Whether every way from the entry to b passes a (a itself does). Both must be reachable. */
static inline bool ptx_cfg_dominates(const struct ptx_cfg *g, uint32_t a, uint32_t b)
{
    const struct ptx_block *p = &g->blocks[a], *q = &g->blocks[b];
    return p->dom_in <= q->dom_in && q->dom_in < p->dom_out;
}

/* Whether every way from b to the exit passes a. */
static inline bool ptx_cfg_post_dominates(const struct ptx_cfg *g, uint32_t a, uint32_t b)
{
    const struct ptx_block *p = &g->blocks[a], *q = &g->blocks[b];
    return p->pdom_in <= q->pdom_in && q->pdom_in < p->pdom_out;
}

/* Whether block b belongs to a loop (PTX_NONE: the whole function). Takes as many steps as b is
 * deeper than the loop. */
bool ptx_cfg_in_loop(const struct ptx_cfg *g, uint32_t loop, uint32_t b);

/* The parts of a call: call (results), callee, (arguments), prototype. */
struct ptx_call {
    const struct ptx_opnd *results, *callee, *arguments; /* lists may be NULL */
    const struct ptx_proto *proto;
    const struct ptx_func *func; /* what is called, the head with the body if there is one; NULL: it
                                  * is known only at run time */
    bool listed;                 /* then it is one of a list (.calltargets) */
};
bool ptx_inst_is_call(const struct ptx_inst *inst);
struct ptx_call ptx_inst_call(const struct ptx_inst *inst);

/* Any directed graph: the edges of node i are out[out_at[i]] .. out[out_at[i + 1] - 1]. */
struct ptx_graph {
    uint32_t count;
    uint32_t *out_at, *out, *in_at, *in;
};

/* Fills the rest of a graph whose count, out_at and out are set. In-edges come in ascending order of
 * the node they leave. */
void ptx_graph_reverse(struct arena *arena, struct ptx_graph *g);

/* Immediate dominators from `root`; PTX_NONE for the root and for what it does not reach. `walk`, if
 * not NULL, gets the nodes reached in an order that has every node behind its dominators; returns
 * how many there are. */
uint32_t ptx_graph_dominators(struct arena *scratch, const struct ptx_graph *g, uint32_t root,
                              uint32_t *idom, uint32_t *walk);

#endif
