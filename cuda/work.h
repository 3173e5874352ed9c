/* cuda/work.h: what an asynchronous call asks for, as a value.
 *
 *     struct work w;
 *     CUresult r = work_kernel(&w, c, &config, function, params, extra, false);   // checked, arguments copied
 *     if (r == CUDA_SUCCESS) r = stream_submit(c, stream, &w);                    // w is the stream's now
 *
 * The same value runs at once, waits in a stream, or is what a node of a graph stands for. Its type
 * is that of such a node. Nothing in it belongs to the caller: it may be copied with work_clone,
 * and ends with work_end. */
#ifndef HEDDLE_CUDA_WORK_H
#define HEDDLE_CUDA_WORK_H

#include "cuda/callback.h"
#include "cuda/driver.h"

struct graph_memory;

struct work {
    CUgraphNodeType type;
    struct CUctx_st *context;
    bool launched;         /* of a graph: it is an executable's, not the operation's */
    bool source_now;       /* of a copy: memory that the host shares is read by the call, too */
    void *source_snapshot; /* what a copy from pageable memory has read of it; NULL: nothing */
    union {
        struct work_kernel {
            struct CUfunc_st *function;
            unsigned long long function_id;
            CUkernel named; /* as what the caller named it; NULL: a function */
            unsigned grid[3], block[3], shared;
            bool cooperative;
            unsigned attr_count;
            CUlaunchAttribute *attrs;
            uint32_t packed_size;
            unsigned char *packed; /* parameters at their offsets */
            void **pointers;       /* one to each of them; NULL: nobody has asked */
        } kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        struct {
            struct callback what;
            struct callback_run *run; /* it is being called; NULL: it is not */
        } host;
        struct CUgraph_st *graph; /* a child's, or what a launch of a graph runs */
        CUevent event;
        struct {
            CUDA_MEM_ALLOC_NODE_PARAMS params;
            struct graph_memory *memory;
        } alloc;
        CUdeviceptr free;
        struct {
            unsigned count, done; /* those before have been carried out */
            CUstreamBatchMemOpParams *ops;
        } batch;
        struct {
            CUDA_CONDITIONAL_NODE_PARAMS params; /* phGraph_out: bodies */
        } conditional;
    };
};

/* What the call that asks for it is to be answered, if it cannot be carried out. */
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

/* Executes the operation. The lock is held, except while functions of the host run. NOT_READY: the
 * operation waits for a value, or such a function has not returned. */
CUresult work_execute(struct work *w);

/* For an operation that is executed after the call returns: a copy from pageable memory reads it
 * now, as CUDA does. */
void work_snapshot_source(struct work *w);

bool work_kernel_is_loaded(const struct work *w); /* false: its module is gone */
void **work_kernel_pointers(struct work *w);
const CUlaunchAttributeValue *work_kernel_attribute(const struct work *w, CUlaunchAttributeID id);
void work_kernel_set_attribute(struct work *w, CUlaunchAttributeID id,
                               const CUlaunchAttributeValue *value);

/* launch.c, memory.c and fill.c */
CUresult kernel_execute(struct work *w);
CUresult copy_check(const CUDA_MEMCPY3D *p);
CUresult copy_execute(const CUDA_MEMCPY3D *p);
/* The call returns when the copy is done: the target is host memory that the device cannot reach, or both ends are host
 * memory. */
bool copy_is_synchronous(const CUDA_MEMCPY3D *p);
/* Whether the host has the memory at this address, too: a call that is not named Async waits where it writes there. */
bool host_shares(CUdeviceptr address);
/* If the source is such memory, or `shared` and the host shares it: its bytes now, which the copy reads instead; the caller
 * frees them. NULL: it is not. */
void *copy_snapshot_source(CUDA_MEMCPY3D *p, bool shared);
/* Like cuMemcpyAsync, but the source is read before the call returns. */
CUresult copy_from_source_now(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult fill_check(const CUDA_MEMSET_NODE_PARAMS *p);
CUresult fill_execute(const CUDA_MEMSET_NODE_PARAMS *p);

#endif
