/* Memory that graphs allocate. An address stays the same from launch to launch, so it is taken from the device when the
 * node is made, and given back when no node and nobody else has it. Whether it may be used is a matter of its nodes. */
#include "cuda/graph.h"

#include <stdlib.h>

struct graph_memory {
    struct graph_memory *next;
    CUdeviceptr address;
    unsigned nodes;
    bool live; /* allocated by a launch, and not freed since */
};

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
    *m = (struct graph_memory){.next = driver.graph_memory, .address = *address, .nodes = 1};
    driver.graph_memory = m;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                       .context = c,
                       .alloc = {.params = {.bytesize = size, .dptr = *address}, .memory = m}};
    return CUDA_SUCCESS;
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
    m->live = true;
    return CUDA_SUCCESS;
}

bool graph_memory_is(CUdeviceptr address)
{
    return find(address) != NULL;
}

bool graph_memory_is_live(const struct graph_memory *m)
{
    return m->live;
}

CUresult graph_memory_give(CUdeviceptr address)
{
    struct graph_memory *m = find(address);
    if (!m) return memory_free(address, CALL_MEM_FREE_ASYNC);
    if (!m->live) return CUDA_ERROR_INVALID_VALUE;
    m->live = false;
    end(m);
    return CUDA_SUCCESS;
}
