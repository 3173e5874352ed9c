/* Creates, copies and executes operations of streams and graph nodes (cuda/work.h). */
#include "cuda/work.h"

#include "cuda/graph.h"
#include "cuda/unordered.h"

#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t size)
{
    void *to = malloc(size ? size : 1);
    if (!to) abort();
    if (size) memcpy(to, from, size);
    return to;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

bool work_kernel_is_loaded(const struct work *w)
{
    return function_check(w->kernel.function) && w->kernel.function->id == w->kernel.function_id;
}

void **work_kernel_pointers(struct work *w)
{
    struct work_kernel *k = &w->kernel;
    const struct CUfunc_st *f = k->function;
    if (k->pointers || !work_kernel_is_loaded(w) || !f->param_count) return k->pointers;
    k->pointers = calloc(f->param_count, sizeof *k->pointers);
    if (!k->pointers) abort();
    for (size_t i = 0; i < f->param_count; i++) k->pointers[i] = k->packed + f->params[i].offset;
    return k->pointers;
}

const CUlaunchAttributeValue *work_kernel_attribute(const struct work *w, CUlaunchAttributeID id)
{
    for (unsigned i = w->kernel.attr_count; i-- > 0;)
        if (w->kernel.attrs[i].id == id) return &w->kernel.attrs[i].value;
    return NULL;
}

void work_kernel_set_attribute(struct work *w, CUlaunchAttributeID id,
                               const CUlaunchAttributeValue *value)
{
    struct work_kernel *k = &w->kernel;
    unsigned i = 0;
    while (i < k->attr_count && k->attrs[i].id != id) i++;
    if (i == k->attr_count) {
        k->attrs = realloc(k->attrs, (i + 1) * sizeof *k->attrs);
        if (!k->attrs) abort();
        k->attrs[k->attr_count++] = (CUlaunchAttribute){.id = id};
    }
    k->attrs[i].value = *value;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) k->cooperative = value->cooperative != 0;
}

void work_snapshot_source(struct work *w)
{
    if (w->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        w->source_snapshot = copy_snapshot_source(&w->copy, w->source_now);
}

/* ---- others ----------------------------------------------------------------------------------------- */

CUresult work_copy(struct work *w, struct CUctx_st *c, const CUDA_MEMCPY3D *p)
{
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    const CUresult r = copy_check(p);
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .context = c, .copy = *p};
    return r;
}

CUresult work_fill(struct work *w, struct CUctx_st *c, const CUDA_MEMSET_NODE_PARAMS *p)
{
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    const CUresult r = fill_check(p);
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEMSET, .context = c, .fill = *p};
    return r;
}

CUresult work_host(struct work *w, struct CUctx_st *c, const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p || !p->fn) return CUDA_ERROR_INVALID_VALUE;
    callback_prepare();
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_HOST,
                       .context = c,
                       .host.what = {.function = p->fn, .data = p->userData}};
    return CUDA_SUCCESS;
}

CUresult work_event(struct work *w, struct CUctx_st *c, CUgraphNodeType type, CUevent event)
{
    if (!object_check(event, OBJECT_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
    *w = (struct work){.type = type, .context = c, .event = event};
    return CUDA_SUCCESS;
}

/* ---- values in memory that streams wait for and write ------------------------------------------------ */

static bool is_wide(CUstreamBatchMemOpType t)
{
    return t == CU_STREAM_MEM_OP_WAIT_VALUE_64 || t == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static CUresult check_value(const CUstreamBatchMemOpParams *op)
{
    const unsigned size = is_wide(op->operation) ? 8 : 4;
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        if (op->waitValue.flags & ~(unsigned)(3 | CU_STREAM_WAIT_VALUE_FLUSH))
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        if (op->writeValue.flags > 1) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (op->waitValue.address % size) return CUDA_ERROR_INVALID_VALUE;
    return emu_bytes(driver.emu, op->waitValue.address, size) ? CUDA_SUCCESS
                                                              : CUDA_ERROR_INVALID_VALUE;
}

CUresult work_batch(struct work *w, struct CUctx_st *c, unsigned count,
                    const CUstreamBatchMemOpParams *ops, unsigned flags)
{
    if (!count || count > 256 || !ops || flags) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        const CUresult r = check_value(&ops[i]);
        if (r != CUDA_SUCCESS) return r;
    }
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                       .context = c,
                       .batch = {.count = count, .ops = copy_of(ops, count * sizeof *ops)}};
    return CUDA_SUCCESS;
}

/* Cyclic comparison, as CUDA has it for GEQ: the difference is not negative. */
static bool is_reached(const CUstreamBatchMemOpParams *op, uint64_t now)
{
    const bool wide = is_wide(op->operation);
    const uint64_t want = wide ? op->waitValue.value64 : op->waitValue.value;
    const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    switch (op->waitValue.flags & 3) {
    case CU_STREAM_WAIT_VALUE_EQ: return now == want;
    case CU_STREAM_WAIT_VALUE_AND: return (now & want) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return (~(now | want) & mask) != 0;
    default: return wide ? (int64_t)(now - want) >= 0 : (int32_t)(uint32_t)(now - want) >= 0;
    }
}

static CUresult run_value(const CUstreamBatchMemOpParams *op)
{
    unordered_name("a value in memory");
    const unsigned size = is_wide(op->operation) ? 8 : 4;
    uint64_t now = 0;
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        if (!emu_copy_out(driver.emu, &now, op->waitValue.address, size))
            return CUDA_ERROR_INVALID_VALUE;
        unordered_touch(op->waitValue.address, size, TOUCHED_STRONG_READ);
        return is_reached(op, now) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        unordered_touch(op->writeValue.address, size, TOUCHED_ATOMIC);
        return emu_copy_in(driver.emu, op->writeValue.address, &op->writeValue.value64, size)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_SUCCESS;
    }
}

/* From the first that is not done yet. */
static CUresult run_batch(struct work *w)
{
    while (w->batch.done < w->batch.count) {
        const CUresult r = run_value(&w->batch.ops[w->batch.done]);
        if (r != CUDA_SUCCESS) return r;
        w->batch.done++;
    }
    w->batch.done = 0;
    return CUDA_SUCCESS;
}

/* ---- all -------------------------------------------------------------------------------------------- */

struct work work_clone(const struct work *w)
{
    struct work to = *w;
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        to.kernel.pointers = NULL;
        to.kernel.packed = copy_of(w->kernel.packed, w->kernel.packed_size);
        if (w->kernel.attrs)
            to.kernel.attrs = copy_of(w->kernel.attrs,
                                      w->kernel.attr_count * sizeof *w->kernel.attrs);
        break;
    case CU_GRAPH_NODE_TYPE_HOST: to.host.run = NULL; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        to.batch.ops = copy_of(w->batch.ops, w->batch.count * sizeof *w->batch.ops);
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH: to.graph = graph_copy(w->graph); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: graph_memory_retain(w->alloc.memory); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
        const CUDA_CONDITIONAL_NODE_PARAMS *p = &w->conditional.params;
        CUgraph *bodies = calloc(p->size, sizeof *bodies);
        if (!bodies) abort();
        for (unsigned i = 0; i < p->size; i++) bodies[i] = graph_copy(p->phGraph_out[i]);
        to.conditional.params.phGraph_out = bodies;
        break;
    }
    default: break;
    }
    return to;
}

void work_end(struct work *w)
{
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        free(w->kernel.packed);
        free(w->kernel.attrs);
        free((void *)w->kernel.pointers);
        break;
    case CU_GRAPH_NODE_TYPE_HOST: callback_leave(w->host.run); break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: free(w->batch.ops); break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        if (!w->launched || (--w->graph->users == 0 && w->graph->dropped)) graph_drop(w->graph);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: graph_memory_release(w->alloc.memory); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        for (unsigned i = 0; i < w->conditional.params.size; i++)
            graph_drop(w->conditional.params.phGraph_out[i]);
        free((void *)w->conditional.params.phGraph_out);
        break;
    default: break;
    }
    free(w->source_snapshot);
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
}

CUresult work_execute(struct work *w)
{
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_execute(w);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_execute(&w->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill_execute(&w->fill);
    case CU_GRAPH_NODE_TYPE_HOST: return callback_step(&w->host.run, &w->host.what);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return event_record(w->event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return graph_memory_take(w->alloc.memory);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return graph_memory_give(w->free);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return run_batch(w);
    default: return CUDA_SUCCESS; /* graphs and conditionals: what is in them runs (graph_run.c) */
    }
}
