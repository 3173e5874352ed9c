/* Prints a graph in the DOT language of Graphviz. */
#include "cuda/graph.h"

#include <stdio.h>

static const char *name_of(CUgraphNodeType type)
{
    static const char *const names[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = "kernel",
        [CU_GRAPH_NODE_TYPE_MEMCPY] = "memcpy",
        [CU_GRAPH_NODE_TYPE_MEMSET] = "memset",
        [CU_GRAPH_NODE_TYPE_HOST] = "host",
        [CU_GRAPH_NODE_TYPE_GRAPH] = "child graph",
        [CU_GRAPH_NODE_TYPE_EMPTY] = "empty",
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "wait for event",
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "record event",
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = "signal semaphores",
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = "wait for semaphores",
        [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "allocate",
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = "free",
        [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "memory operations",
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "conditional",
    };
    return names[type];
}

static void put_details(FILE *f, const struct work *w, unsigned flags)
{
    const bool all = (flags & CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE) != 0;
    if (w->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const struct work_kernel *k = &w->kernel;
        fprintf(f, "\\n%s", k->function->name);
        if (all || flags & CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)
            fprintf(f, "\\ngrid %u,%u,%u block %u,%u,%u shared %u", k->grid[0], k->grid[1],
                    k->grid[2], k->block[0], k->block[1], k->block[2], k->shared);
    }
    if (w->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        (all || flags & CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(f, "\\n%zu x %zu x %zu bytes", w->copy.WidthInBytes, w->copy.Height, w->copy.Depth);
    if (w->type == CU_GRAPH_NODE_TYPE_MEMSET &&
        (all || flags & CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(f, "\\n%zu x %zu of %u bytes: %u", w->fill.width, w->fill.height,
                w->fill.elementSize, w->fill.value);
}

static void put_graph(FILE *f, const struct CUgraph_st *g, unsigned flags, unsigned depth);

static void put_inside(FILE *f, const struct work *w, unsigned flags, unsigned depth)
{
    if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) put_graph(f, w->graph, flags, depth);
    if (w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        for (unsigned i = 0; i < w->conditional.params.size; i++)
            put_graph(f, w->conditional.params.phGraph_out[i], flags, depth);
}

static void put_graph(FILE *f, const struct CUgraph_st *g, unsigned flags, unsigned depth)
{
    fprintf(f, "%*ssubgraph cluster_%llu {\n", (int)(2 * depth), "", g->id);
    fprintf(f, "%*slabel=\"graph %llu\";\n", (int)(2 * depth + 2), "", g->id);
    for (size_t i = 0; i < g->count; i++) {
        const struct CUgraphNode_st *n = g->nodes[i];
        fprintf(f, "%*snode_%llu [shape=box, label=\"%zu: %s", (int)(2 * depth + 2), "", n->id, i,
                name_of(n->work.type));
        put_details(f, &n->work, flags);
        if (flags & (CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE))
            fprintf(f, "\\n%p", (const void *)n);
        fprintf(f, "\"];\n");
        put_inside(f, &n->work, flags, depth + 1);
    }
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->nodes[i]->out.count; k++)
            fprintf(f, "%*snode_%llu -> node_%llu;\n", (int)(2 * depth + 2), "", g->nodes[i]->id,
                    g->nodes[i]->out.at[k].node->id);
    fprintf(f, "%*s}\n", (int)(2 * depth), "");
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS) r = graph_check(graph);
    if (r == CUDA_SUCCESS && !path) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    FILE *f = fopen(path, "w");
    if (!f) return driver_end(CUDA_ERROR_OPERATING_SYSTEM);
    fprintf(f, "digraph dot {\n");
    put_graph(f, graph, flags, 1);
    fprintf(f, "}\n");
    return driver_end(fclose(f) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM);
}
