/* cuda/work.h: an operation of a stream or a graph node, as a value.
 *
 *     struct work w;
 *     CUresult r = work_kernel(&w, c, &config, function, params, extra, false);   // checked, arguments copied
 *     if (r == CUDA_SUCCESS) r = stream_submit(c, stream, &w);                    // the stream owns w now
 *
 * The value may execute at once, be pending in a stream, or belong to a node of a graph. Its type is the
 * type of such a node. It owns all its memory: work_clone() copies it, and work_end() frees it. */
#ifndef HEDDLE_CUDA_WORK_H
#define HEDDLE_CUDA_WORK_H

#include "cuda/callback.h"
#include "cuda/driver.h"

struct graph_memory;

struct work {
    CUgraphNodeType type;
    struct CUctx_st *context;
    bool launched;         /* launch of a graph: the executable graph owns `graph` */
    bool source_now;       /* copy: the call also reads source memory that the host shares */
    void *source_snapshot; /* copy: the source bytes at the time of the call; NULL: not read */
    union {
        struct work_kernel {
            struct CUfunc_st *function;
            unsigned long long function_id;
            CUkernel named; /* the handle if the caller named a kernel; NULL: a function */
            unsigned grid[3], block[3], shared;
            bool cooperative;
            unsigned attr_count;
            CUlaunchAttribute *attrs;
            uint32_t packed_size;
            unsigned char *packed; /* the parameters at their offsets, packed_size bytes */
            void **pointers;       /* pointers to the values; NULL: not yet made */
        } kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        struct {
            struct callback what;
            struct callback_run *run; /* the call that is in progress; NULL: none */
        } host;
        struct CUgraph_st *graph; /* the child graph, or the graph that a launch executes */
        CUevent event;
        struct {
            CUDA_MEM_ALLOC_NODE_PARAMS params;
            struct graph_memory *memory;
        } alloc;
        CUdeviceptr free;
        struct {
            unsigned count, done; /* done: number of operations that have executed */
            CUstreamBatchMemOpParams *ops;
        } batch;
        struct {
            CUDA_CONDITIONAL_NODE_PARAMS params; /* phGraph_out: the body graphs */
        } conditional;
    };
};

/* Check the arguments of a call and make the operation; return the error of the call, or CUDA_SUCCESS. */
CUresult work_kernel(struct work *w, struct CUctx_st *c, const CUlaunchConfig *g,
                     CUfunction function, void **params, void **extra, bool cooperative);
CUresult work_copy(struct work *w, struct CUctx_st *c, const CUDA_MEMCPY3D *p);
CUresult work_fill(struct work *w, struct CUctx_st *c, const CUDA_MEMSET_NODE_PARAMS *p);
CUresult work_host(struct work *w, struct CUctx_st *c, const CUDA_HOST_NODE_PARAMS *p);
CUresult work_batch(struct work *w, struct CUctx_st *c, unsigned count,
                    const CUstreamBatchMemOpParams *ops, unsigned flags);
CUresult work_event(struct work *w, struct CUctx_st *c, CUgraphNodeType type, CUevent event);

struct work work_clone(const struct work *w);
void work_end(struct work *w);

/* Executes the operation. The lock is held, except while host functions run. CUDA_ERROR_NOT_READY: the
 * operation waits for a value in memory, or the host function has not returned. */
CUresult work_execute(struct work *w);

/* For an operation that executes after the call returns: reads the source of a copy from pageable memory now,
 * as CUDA does. */
void work_snapshot_source(struct work *w);

bool work_kernel_is_loaded(const struct work *w); /* false: its module was unloaded */
void **work_kernel_pointers(struct work *w);
const CUlaunchAttributeValue *work_kernel_attribute(const struct work *w, CUlaunchAttributeID id);
void work_kernel_set_attribute(struct work *w, CUlaunchAttributeID id,
                               const CUlaunchAttributeValue *value);

/* launch.c, memory.c and fill.c */
CUresult kernel_execute(struct work *w);
CUresult copy_check(const CUDA_MEMCPY3D *p);
CUresult copy_execute(const CUDA_MEMCPY3D *p);
/* Whether the call returns only after the copy is complete: the destination is pageable host memory, or both ends are host
 * memory. */
bool copy_is_synchronous(const CUDA_MEMCPY3D *p);
/* Whether the host shares the memory at this address. A call without Async in its name waits if it writes there. */
bool host_shares(CUdeviceptr address);
/* If the source is pageable memory, or if `shared` and the host shares it: replaces the source of the copy by a snapshot of
 * its bytes, which is returned; the caller frees it. NULL: no snapshot is needed. */
void *copy_snapshot_source(CUDA_MEMCPY3D *p, bool shared);
/* Like cuMemcpyAsync(), but the source is read before the call returns. */
CUresult copy_from_source_now(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult fill_check(const CUDA_MEMSET_NODE_PARAMS *p);
CUresult fill_execute(const CUDA_MEMSET_NODE_PARAMS *p);

#endif
