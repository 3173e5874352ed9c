/* Memory that graphs allocate. Its address is the same in all launches, so it is allocated from the device when the node
 * is created, and freed when no node and no other owner refers to it. Allocation and free nodes determine when a program may
 * use it.
 *
 * The footprint that cuDeviceGetGraphMemAttribute() reports is that of a device which backs the addresses with memory when a
 * launch allocates, reuses the memory for later allocations, and keeps it until cuDeviceGraphMemTrim(). */
#include "cuda/graph.h"

#include <stdlib.h>

struct graph_memory {
    struct graph_memory *next;
    CUdeviceptr address;
    size_t size;
    unsigned nodes;
    bool live;  /* allocated by a launch, and not freed since */
    bool asked; /* likewise, when all is done that the program has asked for */
};

static void set(struct graph_memory_count *c, uint64_t now)
{
    c->now = now;
    if (c->now > c->most) c->most = c->now;
}

static struct graph_memory *find(CUdeviceptr address)
{
    struct graph_memory *m = driver.graph_memory;
    while (m && m->address != address) m = m->next;
    return m;
}

static void end(struct graph_memory *m)
{
    struct graph_memory **at = &driver.graph_memory;
    if (m->nodes || m->live) return;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    if (allocation_find(m->address)) (void)memory_free(m->address, CALL_MEM_FREE_ASYNC);
    free(m);
}

CUresult graph_memory_work(struct work *w, struct CUctx_st *c, size_t size, CUdeviceptr *address)
{
    const CUresult r = memory_allocate(c, size, address);
    if (r != CUDA_SUCCESS) return r;
    struct graph_memory *m = calloc(1, sizeof *m);
    if (!m) abort();
    *m = (struct graph_memory){
        .next = driver.graph_memory, .address = *address, .size = size, .nodes = 1};
    driver.graph_memory = m;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                       .context = c,
                       .alloc = {.params = {.bytesize = size, .dptr = *address}, .memory = m}};
    return CUDA_SUCCESS;
}

void graph_memory_drop(void)
{
    for (struct graph_memory *m = driver.graph_memory, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    driver.graph_memory = NULL;
}

void graph_memory_retain(struct graph_memory *m)
{
    m->nodes++;
}

void graph_memory_release(struct graph_memory *m)
{
    m->nodes--;
    end(m);
}

CUresult graph_memory_take(struct graph_memory *m)
{
    struct driver_memory *d = &driver.memory;
    if (!m->live) set(&d->graphs_used, d->graphs_used.now + m->size);
    if (d->graphs_used.now > d->graphs_held.now) set(&d->graphs_held, d->graphs_used.now);
    m->live = true;
    return CUDA_SUCCESS;
}

bool graph_memory_is(CUdeviceptr address)
{
    return find(address) != NULL;
}

bool graph_memory_is_asked(const struct graph_memory *m)
{
    return m->asked;
}

/* In the order of edges: memory that a graph allocates and frees is free behind it. */
void graph_memory_ask(const struct work *w)
{
    struct graph_memory *m = w->type == CU_GRAPH_NODE_TYPE_MEM_FREE ? find(w->free) : NULL;
    if (m) m->asked = false;
    if (w->type != CU_GRAPH_NODE_TYPE_GRAPH) return;
    const struct CUgraph_st *g = w->graph;
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            g->nodes[i]->work.alloc.memory->asked = true;
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->work.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            graph_memory_ask(&g->nodes[i]->work);
}

CUresult graph_memory_give(CUdeviceptr address)
{
    struct graph_memory *m = find(address);
    if (!m) return memory_free(address, CALL_MEM_FREE_ASYNC);
    if (!m->live) return CUDA_ERROR_INVALID_VALUE;
    m->live = false;
    driver.memory.graphs_used.now -= m->size;
    end(m);
    return CUDA_SUCCESS;
}

/* ---- what there is of it ----------------------------------------------------------------------------- */

static uint64_t *counter_of(CUgraphMem_attribute attribute)
{
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: return &driver.memory.graphs_used.now;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: return &driver.memory.graphs_used.most;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: return &driver.memory.graphs_held.now;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: return &driver.memory.graphs_held.most;
    }
    return NULL;
}

static CUresult begin_counter(CUdevice device, CUgraphMem_attribute attribute, const void *value)
{
    const CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return r;
    if (!value || !counter_of(attribute)) return CUDA_ERROR_INVALID_VALUE;
    return device_ok(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    const CUresult r = begin_counter(device, attribute, value);
    if (r == CUDA_SUCCESS) memcpy(value, counter_of(attribute), sizeof(uint64_t));
    return driver_end(r);
}

/* A maximum may be set back, which is done by setting it to 0. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    uint64_t zero = 0;
    CUresult r = begin_counter(device, attribute, value);
    if (r == CUDA_SUCCESS) memcpy(&zero, value, sizeof zero);
    if (r == CUDA_SUCCESS && (zero || (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
                                       attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *counter_of(attribute) = *counter_of((CUgraphMem_attribute)(attribute - 1));
    return driver_end(r);
}

/* What is allocated stays. */
CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && !device_ok(device)) r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS) driver.memory.graphs_held.now = driver.memory.graphs_used.now;
    return driver_end(r);
}
