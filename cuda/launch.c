/* Launches. If a kernel executes and faults before the call returns, the call returns the error, as with
 * CUDA_LAUNCH_BLOCKING=1. After a fault every call on the context returns the error. */
#include "cuda/queue.h"
#include "cuda/unordered.h"
#include "cuda/watch_points.h"
#include "cuda/work.h"

#include "determinism/checks.h"
#include "session/run_log.h"
#include "session/run_observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult result_of(enum emu_fault_kind kind)
{
    switch (kind) {
    case EMU_OK: return CUDA_SUCCESS;
    case EMU_BAD_LAUNCH: return CUDA_ERROR_INVALID_VALUE;
    case EMU_UNSUPPORTED: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case EMU_OUT_OF_BOUNDS:
    case EMU_READ_ONLY:
    case EMU_FREED:
    case EMU_UNINITIALISED: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case EMU_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case EMU_WRONG_SPACE: return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case EMU_ASSERT: return CUDA_ERROR_ASSERT;
    case EMU_BAD_CALL: return CUDA_ERROR_INVALID_PC;
    case EMU_STACK_OVERFLOW: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case EMU_DEADLOCK:
    case EMU_LIMIT: return CUDA_ERROR_LAUNCH_TIMEOUT;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* The parameters packed at their offsets: from one pointer each, or as the caller packed them. */
static CUresult pack(const struct CUfunc_st *f, void **params, void **extra, unsigned char *to)
{
    if (params && extra) return CUDA_ERROR_INVALID_VALUE;
    if (params) {
        for (size_t i = 0; i < f->param_count; i++) {
            if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
            memcpy(to + f->params[i].offset, params[i], f->params[i].size);
        }
        return CUDA_SUCCESS;
    }
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = extra[1];
        else return CUDA_ERROR_INVALID_VALUE;
    }
    if (!f->params_size && !buffer) return CUDA_SUCCESS;
    if (!buffer || !size || *size < f->params_size) return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, buffer, f->params_size);
    return CUDA_SUCCESS;
}

/* What CUDA refuses before anything runs, and emu does not know of. */
static CUresult check_shape(struct CUfunc_st *f, const struct work_kernel *k)
{
    struct emu_kernel_info info;
    const uint64_t block = (uint64_t)k->block[0] * k->block[1] * k->block[2];
    if (!k->grid[0] || !k->grid[1] || !k->grid[2] || !block) return CUDA_ERROR_INVALID_VALUE;
    if (block > 1024 || k->block[0] > 1024 || k->block[1] > 1024 || k->block[2] > 64 ||
        k->grid[0] > INT32_MAX || k->grid[1] > 65535 || k->grid[2] > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_kernel_info(f->kernel, &info)) return CUDA_SUCCESS; /* the launch says why */
    const int most = driver.limits.shared_block - (int)info.shared;
    const int dynamic = f->max_dynamic >= 0 ? f->max_dynamic : most > 0 ? most : 0;
    if (block > info.max_threads || k->shared > (unsigned)dynamic) return CUDA_ERROR_INVALID_VALUE;
    return emu_kernel_lacks_registers(f->kernel, (unsigned)block)
               ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
               : CUDA_SUCCESS;
}

static CUresult check_cooperative(struct CUfunc_st *f, const struct work_kernel *k)
{
    int blocks;
    struct emu_kernel_info info;
    if (!k->cooperative || !emu_kernel_info(f->kernel, &info)) return CUDA_SUCCESS;
    const CUresult r = function_occupancy(f, (int)(k->block[0] * k->block[1] * k->block[2]),
                                          k->shared, &blocks);
    if (r != CUDA_SUCCESS) return r;
    return (uint64_t)k->grid[0] * k->grid[1] * k->grid[2] >
                   (uint64_t)blocks * (uint64_t)driver.limits.sms
               ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
               : CUDA_SUCCESS;
}

static bool fills(const struct work_kernel *k, const uint32_t cluster[3])
{
    return k->grid[0] % cluster[0] == 0 && k->grid[1] % cluster[1] == 0 &&
           k->grid[2] % cluster[2] == 0;
}

static CUresult check_cluster(const struct CUfunc_st *f, const struct work *w)
{
    struct emu_kernel_info info;
    const struct work_kernel *k = &w->kernel;
    const CUlaunchAttributeValue *v = work_kernel_attribute(w,
                                                            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    if (!v)
        return emu_kernel_info(f->kernel, &info) && info.cluster[0] && !fills(k, info.cluster)
                   ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                   : CUDA_SUCCESS;
    const uint32_t size[] = {v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
    const uint32_t most = f->any_cluster ? 16 : 8;
    return !size[0] || !size[1] || !size[2] || size[0] > 16 || size[1] > 16 || size[2] > 16 ||
                   size[0] * size[1] * size[2] > most || !fills(k, size)
               ? CUDA_ERROR_INVALID_CLUSTER_SIZE
               : CUDA_SUCCESS;
}

static CUresult run(struct CUctx_st *c, struct CUfunc_st *f, struct emu_launch *l)
{
    const struct cuda_watch *w = &driver.watch;
    if (w->before) w->before(w->self, f->name, l);
    reference_bind_all();
    struct emu_launch watched = *l;
    l = &watched;
    if (driver.reports.run_log) run_log_begin_launch(driver.reports.run_log, f->name, l);
    checks_join(driver.checks, l);
    unordered_name("kernel '%s'", f->name);
    unordered_join(l);
    watch_points_join(l);
    run_observer_join(driver_run_observer(), l);
    const struct emu_report *report = emu_launch(driver.emu, f->kernel, l);
    (void)fflush(stdout); /* what the kernel printed comes before what the program says next */
    if (w->after) w->after(w->self, f->name, l, report);
    const struct launch_record record = launch_record_of(f->name, l, report);
    driver_report_launch(&record);
    const char *note = checks_note(driver.checks);
    if (note) driver_say("heddle: kernel '%s': %s", f->name, note);
    const CUresult r = result_of(record.fault);
    if (r == CUDA_SUCCESS) return r;
    if (report->fault.kind != EMU_BAD_LAUNCH) c->broken = r;
    return r;
}

static CUresult check_attribute(const CUlaunchAttribute *a)
{
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return (unsigned)a->value.clusterSchedulingPolicyPreference <= 2 ? CUDA_SUCCESS
                                                                         : CUDA_ERROR_INVALID_VALUE;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return (unsigned)a->value.domain <= 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: {
        struct CUevent_st *e = a->value.launchCompletionEvent.event; /* in both the first */
        if (!object_check(e, OBJECT_EVENT)) return CUDA_ERROR_INVALID_HANDLE;
        return e->flags & CU_EVENT_DISABLE_TIMING ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return (unsigned)a->id <= CU_LAUNCH_ATTRIBUTE_LAST ? CUDA_SUCCESS
                                                           : CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult check_attributes(const CUlaunchConfig *g)
{
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < g->numAttrs; i++)
        r = check_attribute(&g->attrs[i]);
    return r;
}

static void set_attributes(struct work *w, const CUlaunchConfig *g)
{
    for (unsigned i = 0; i < g->numAttrs; i++)
        if (g->attrs[i].id != CU_LAUNCH_ATTRIBUTE_IGNORE)
            work_kernel_set_attribute(w, g->attrs[i].id, &g->attrs[i].value);
}

static CUresult make(struct work *w, struct CUctx_st *c, const CUlaunchConfig *g,
                     CUfunction function, void **params, void **extra, bool cooperative)
{
    struct CUfunc_st *f = g ? function_check(function) : NULL;
    if (!g) return CUDA_ERROR_INVALID_VALUE;
    if (!f) return CUDA_ERROR_INVALID_HANDLE;
    if (g->numAttrs && !g->attrs) return CUDA_ERROR_INVALID_VALUE;
    CUresult r = check_attributes(g);
    if (r != CUDA_SUCCESS) return r;
    w->context = c;
    w->kernel = (struct work_kernel){
        .function = f,
        .function_id = f->id,
        .packed_size = f->params_size,
        .grid = {g->gridDimX, g->gridDimY, g->gridDimZ},
        .block = {g->blockDimX, g->blockDimY, g->blockDimZ},
        .shared = g->sharedMemBytes,
        .cooperative = cooperative,
    };
    set_attributes(w, g);
    r = check_shape(f, &w->kernel);
    if (r == CUDA_SUCCESS) r = check_cluster(f, w);
    if (r == CUDA_SUCCESS) r = check_cooperative(f, &w->kernel);
    if (r != CUDA_SUCCESS) return r;
    w->kernel.packed = calloc(1, f->params_size + 1);
    return w->kernel.packed ? pack(f, params, extra, w->kernel.packed) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult work_kernel(struct work *w, struct CUctx_st *c, const CUlaunchConfig *g,
                     CUfunction function, void **params, void **extra, bool cooperative)
{
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_KERNEL};
    const CUresult r = make(w, c, g, function, params, extra, cooperative);
    if (r != CUDA_SUCCESS) work_end(w);
    return r;
}

CUresult kernel_execute(struct work *w)
{
    const struct work_kernel *k = &w->kernel;
    const CUlaunchAttributeValue *v = work_kernel_attribute(w,
                                                            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    const CUlaunchAttributeValue *early = work_kernel_attribute(
        w, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    struct emu_launch l = {.grid = {k->grid[0], k->grid[1], k->grid[2]},
                           .block = {k->block[0], k->block[1], k->block[2]},
                           .shared = k->shared,
                           .params = k->packed,
                           .params_size = k->packed_size,
                           .cooperative = k->cooperative};
    if (!work_kernel_is_loaded(w)) return CUDA_ERROR_INVALID_HANDLE;
    if (v) {
        l.cluster[0] = v->clusterDim.x;
        l.cluster[1] = v->clusterDim.y;
        l.cluster[2] = v->clusterDim.z;
    }
    unordered_kernel(early && early->programmaticStreamSerializationAllowed);
    return run(w->context, k->function, &l);
}

static CUresult launch(const CUlaunchConfig *g, CUfunction function, void **params, void **extra,
                       bool cooperative)
{
    struct CUctx_st *c;
    struct work w;
    CUresult r = driver_begin_on(g ? g->hStream : NULL, &c);
    if (r == CUDA_SUCCESS) r = work_kernel(&w, c, g, function, params, extra, cooperative);
    return stream_call(g ? g->hStream : NULL, r, c, &w, false);
}

/* Events of a launch are recorded when its CTAs have begun, or have said that others may: that all have ended is the
 * latest that both may be. */
static CUresult record_events(const CUlaunchConfig *g)
{
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < g->numAttrs; i++)
        if (g->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
            g->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            r = cuEventRecord(g->attrs[i].value.launchCompletionEvent.event, g->hStream);
    return r;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra)
{
    const CUresult r = launch(config, function, params, extra, false);
    return r == CUDA_SUCCESS ? record_events(config) : r;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **params, void **extra)
{
    CUlaunchConfig g = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, NULL, 0};
    return launch(&g, function, params, extra, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **params)
{
    CUlaunchConfig g = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, NULL, 0};
    return launch(&g, function, params, NULL, true);
}
