/* cuda/graph.h: graphs of operations, what the files of them share.
 *
 * A graph owns its nodes, in the order in which they were added, and a node its operation (cuda/work.h). An executable
 * graph owns a copy: its nodes know by number which ones they are copies of. */
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
    size_t index; /* in its graph */
    unsigned long long id,
        original; /* numbers; original: of the node it was copied from, 0: of none */
    bool disabled;
    struct edges in, out;
    struct work work;
};

struct graph_value { /* that a kernel sets, for conditionals */
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
    unsigned long long id, original; /* numbers, as nodes have */
    bool owned;                      /* by a node: not the program's to destroy */
    unsigned users;                  /* operations that run it; destroyed when there are none */
    bool dropped;
    struct operation *last; /* launch of it: they come one after another */
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
/* Before an executable's graph changes: launches of it that are not done keep theirs, and it gets a copy. */
void graph_detach(struct CUgraphExec_st *x);
void graph_drop(struct CUgraph_st *g);   /* NULL is allowed */
void graph_drop_all(struct CUctx_st *c); /* graphs, executables and user objects of a context */
CUresult graph_check(CUgraph g);

/* Whether a node may be added behind these nodes of the graph, and its handle left there. */
CUresult graph_check_place(CUgraph g, const CUgraphNode *dependencies, size_t count,
                           const CUgraphNode *out);
/* Behind these nodes of the graph; takes the operation. */
CUresult graph_add(struct CUgraph_st *g, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *data, size_t count, struct work *w, CUgraphNode *out);
bool graph_is_behind(const struct CUgraphNode_st *node, const struct CUgraphNode_st *other);
/* By index, which nodes of its graph that is for; the caller's to free. */
bool *graph_before(const struct CUgraphNode_st *node);
/* false: the edges go round in a circle. Children and bodies, too. */
bool graph_is_ordered(const struct CUgraph_st *g);
/* The node that is a copy of that one; NULL: there is none. */
struct CUgraphNode_st *graph_copy_of(const struct CUgraph_st *g, const struct CUgraphNode_st *node);

/* ---- running ------------------------------------------------------------------------------------ */

struct graph_run; /* a launch of a graph that goes on, operation by operation */
void graph_begin(struct CUgraph_st *g); /* values that conditionals start with are set */
struct graph_run *graph_run_new(struct CUgraph_st *g, size_t depth); /* 0: in no other graph */
void graph_run_end(struct graph_run *r);
/* Does one operation that can be done; NOT_READY: there is none yet. */
CUresult graph_run_step(struct graph_run *r);
bool graph_run_done(const struct graph_run *r);

/* ---- memory that nodes allocate: its addresses stay the same for as long as there are such nodes ----- */

CUresult graph_memory_work(struct work *w, struct CUctx_st *c, size_t size, CUdeviceptr *address);
void graph_memory_drop(void); /* all that is left, with the device */
void graph_memory_retain(struct graph_memory *m);
void graph_memory_release(struct graph_memory *m);
CUresult graph_memory_take(struct graph_memory *m);
CUresult graph_memory_give(CUdeviceptr address); /* and of other memory, too */
bool graph_memory_is(CUdeviceptr address);
/* Whether it is allocated when all is done that the program has asked for; an operation is asked for. */
bool graph_memory_is_asked(const struct graph_memory *m);
void graph_memory_ask(const struct work *w);

CUresult event_record(CUevent e);

#endif
