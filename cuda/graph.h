/* cuda/graph.h: CUDA graphs: structures and functions that cuda/graph*.c share.
 *
 * A graph owns its nodes, in the order in which they were added. A node owns its operation (cuda/work.h). An executable
 * graph owns a copy of the graph: each node has the number of the node that it is a copy of. */
#ifndef HEDDLE_CUDA_GRAPH_H
#define HEDDLE_CUDA_GRAPH_H

#include "cuda/driver.h"
#include "cuda/work.h"

struct edge {
    struct CUgraphNode_st *node;
    CUgraphEdgeData data;
};
struct edges {
    struct edge *at;
    size_t count, capacity;
};

struct CUgraphNode_st {
    struct object object;
    struct CUgraph_st *graph;
    size_t index;                    /* in its graph */
    unsigned long long id, original; /* unique number; number of the copied node, 0: none */
    bool disabled;
    struct edges in, out;
    struct work work;
};

struct graph_value { /* the value of a conditional handle, which kernels set */
    CUgraphConditionalHandle handle;
    unsigned initial, flags;
};

struct held { /* references to a user object */
    struct CUuserObject_st *object;
    unsigned count;
};

struct CUgraph_st {
    struct object object;
    struct CUctx_st *context;
    struct CUgraphNode_st **nodes;
    size_t count, capacity;
    unsigned long long id, original; /* unique number; number of the copied graph, 0: none */
    bool owned;                      /* a node owns it, so the program must not destroy it */
    unsigned users;                  /* number of operations that execute it */
    bool dropped;                    /* destroyed; its memory is freed when `users` is 0 */
    struct operation *last; /* its last launch; launches of a graph execute one after another */
    struct graph_value *values;
    size_t value_count;
    struct held *held;
    size_t held_count;
};

struct CUgraphExec_st {
    struct object object;
    struct CUgraph_st *graph;
    uint64_t flags;
};

struct CUgraph_st *graph_new(struct CUctx_st *c);
struct CUgraph_st *graph_copy(const struct CUgraph_st *g);
/* To be called before the graph of an executable changes: if launches of it are pending, they keep the graph, and the
 * executable gets a copy. */
void graph_detach(struct CUgraphExec_st *x);
void graph_drop(struct CUgraph_st *g);   /* NULL is allowed */
void graph_drop_all(struct CUctx_st *c); /* all graphs, executables, user objects of a context */
CUresult graph_check(CUgraph g);

/* Checks the arguments of a call that adds a node: the graph, its dependencies, and the place for the new handle. */
CUresult graph_check_place(CUgraph g, const CUgraphNode *dependencies, size_t count,
                           const CUgraphNode *out);
/* Adds a node with these dependencies, and takes the operation. */
CUresult graph_add(struct CUgraph_st *g, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *data, size_t count, struct work *w, CUgraphNode *out);
/* Whether `node` depends on `other`, directly or not. */
bool graph_is_behind(const struct CUgraphNode_st *node, const struct CUgraphNode_st *other);
/* For each node of the graph, by index: whether `node` depends on it. The caller frees the array. */
bool *graph_before(const struct CUgraphNode_st *node);
/* false: the edges of the graph, of a child graph or of a body have a cycle. */
bool graph_is_ordered(const struct CUgraph_st *g);
/* The node of g that is a copy of `node`; NULL: none. */
struct CUgraphNode_st *graph_copy_of(const struct CUgraph_st *g, const struct CUgraphNode_st *node);

/* ---- running ------------------------------------------------------------------------------------ */

struct graph_run; /* the state of a launch of a graph, which executes node by node */
void graph_begin(struct CUgraph_st *g); /* sets the initial values of conditional handles */
struct graph_run *graph_run_new(struct CUgraph_st *g, size_t depth); /* nesting; 0: outermost */
void graph_run_end(struct graph_run *r);
/* Executes one node that is ready; CUDA_ERROR_NOT_READY: none is ready. */
CUresult graph_run_step(struct graph_run *r);
bool graph_run_done(const struct graph_run *r);

/* ---- memory that nodes allocate: its addresses stay the same for as long as there are such nodes ----- */

CUresult graph_memory_work(struct work *w, struct CUctx_st *c, size_t size, CUdeviceptr *address);
void graph_memory_drop(void); /* frees all of it, at the end of the device */
void graph_memory_retain(struct graph_memory *m);
void graph_memory_release(struct graph_memory *m);
CUresult graph_memory_take(struct graph_memory *m);
CUresult graph_memory_give(CUdeviceptr address); /* frees; accepts other memory as well */
bool graph_memory_is(CUdeviceptr address);
/* Whether the memory is allocated once all submitted operations have executed; records a submitted operation. */
bool graph_memory_is_asked(const struct graph_memory *m);
void graph_memory_ask(const struct work *w);

CUresult event_record(CUevent e);

#endif
