/* Launches. A kernel runs to its end before the call returns, so a fault is the launch's own answer, as
 * with CUDA_LAUNCH_BLOCKING=1; afterwards the context answers every call with it. */
#include "cuda/driver.h"

#include "determinism/account.h"
#include "determinism/checks.h"

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

static bool fills(const CUlaunchConfig *g, const uint32_t cluster[3])
{
    return g->gridDimX % cluster[0] == 0 && g->gridDimY % cluster[1] == 0 &&
           g->gridDimZ % cluster[2] == 0;
}

/* What CUDA refuses before anything runs, and emu does not know of. */
static CUresult check(struct CUfunc_st *f, const CUlaunchConfig *g, bool cooperative,
                      bool in_clusters)
{
    int dynamic, most, blocks;
    uint64_t block = (uint64_t)g->blockDimX * g->blockDimY * g->blockDimZ;
    struct emu_kernel_info info;
    if (!g->gridDimX || !g->gridDimY || !g->gridDimZ || !block) return CUDA_ERROR_INVALID_VALUE;
    if (block > 1024 || g->blockDimX > 1024 || g->blockDimY > 1024 || g->blockDimZ > 64 ||
        g->gridDimX > INT32_MAX || g->gridDimY > 65535 || g->gridDimZ > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_kernel_info(f->kernel, &info)) return CUDA_SUCCESS; /* the launch says why */
    most = driver.limits.shared_block - (int)info.shared;
    dynamic = f->max_dynamic >= 0 ? f->max_dynamic : most > 0 ? most : 0;
    if (block > info.max_threads) return CUDA_ERROR_INVALID_VALUE;
    if (info.cluster[0] && !in_clusters && !fills(g, info.cluster))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (g->sharedMemBytes > (unsigned)dynamic) return CUDA_ERROR_INVALID_VALUE;
    if (!cooperative) return CUDA_SUCCESS;
    CUresult r = function_occupancy(f, (int)block, g->sharedMemBytes, &blocks);
    if (r != CUDA_SUCCESS) return r;
    if ((uint64_t)g->gridDimX * g->gridDimY * g->gridDimZ >
        (uint64_t)blocks * (uint64_t)driver.limits.sms)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return CUDA_SUCCESS;
}

static void add_to_outcome(const struct emu_report *r)
{
    struct cuda_outcome *const o = driver.outcome;
    o->launches++;
    o->faults += r->fault.kind != EMU_OK;
    o->warp_instructions += r->warp_instructions;
    o->thread_instructions += r->thread_instructions;
    o->nanoseconds += (uint64_t)(r->seconds * 1e9);
}

static CUresult run(struct CUctx_st *c, struct CUfunc_st *f, struct emu_launch *l)
{
    const struct cuda_watch *w = &driver.watch;
    if (w->before) w->before(w->self, f->name, l);
    reference_bind_all();
    struct emu_launch watched = *l;
    l = &watched;
    if (driver.account) account_before(driver.account, l);
    checks_join(driver.checks, l);
    const struct emu_report *report = emu_launch(driver.emu, f->kernel, l);
    (void)fflush(stdout); /* what the kernel printed comes before what the program says next */
    if (w->after) w->after(w->self, f->name, l, report);
    if (driver.outcome) add_to_outcome(report);
    if (driver.account) account_after(driver.account, driver.emu, f->name, report);
    if (driver.counts_path) emu_counts_add(&driver.counts, report->counts);
    for (size_t i = 0; i < report->finding_count; i++) {
        driver_find("heddle: kernel '%s': %s", f->name, report->findings[i].text);
        if (report->findings[i].count > 1)
            driver_say("  ... and %llu more of this instruction\n",
                       (unsigned long long)report->findings[i].count - 1);
    }
    CUresult r = result_of(report->fault.kind);
    if (r == CUDA_SUCCESS) return r;
    const char *text = report->fault.text ? report->fault.text : "";
    size_t n = strlen(text);
    driver_say("heddle: kernel '%s': %s%s", f->name, text, n && text[n - 1] == '\n' ? "" : "\n");
    if (report->fault.kind != EMU_BAD_LAUNCH) c->broken = r;
    return r;
}

static CUresult launch(const CUlaunchConfig *g, CUfunction function, void **params, void **extra,
                       bool cooperative)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!g) return driver_end(CUDA_ERROR_INVALID_VALUE);
    struct CUfunc_st *f = function_check(function);
    if (!f || !stream_ok(g->hStream)) return driver_end(CUDA_ERROR_INVALID_HANDLE);
    struct emu_launch l = {.grid = {g->gridDimX, g->gridDimY, g->gridDimZ},
                           .block = {g->blockDimX, g->blockDimY, g->blockDimZ},
                           .shared = g->sharedMemBytes};
    if (g->numAttrs && !g->attrs) return driver_end(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < g->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &g->attrs[i].value;
        if (g->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = v->cooperative != 0;
        if (g->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
        unsigned size = v->clusterDim.x * v->clusterDim.y * v->clusterDim.z;
        if (!size || v->clusterDim.x > 16 || v->clusterDim.y > 16 || v->clusterDim.z > 16 ||
            size > (f->any_cluster ? 16 : 8) ||
            !fills(g, (uint32_t[]){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z}))
            return driver_end(CUDA_ERROR_INVALID_CLUSTER_SIZE);
        l.cluster[0] = v->clusterDim.x;
        l.cluster[1] = v->clusterDim.y;
        l.cluster[2] = v->clusterDim.z;
    }
    l.cooperative = cooperative;
    r = check(f, g, cooperative, l.cluster[0]);
    if (r != CUDA_SUCCESS) return driver_end(r);
    unsigned char *packed = calloc(1, f->params_size + 1);
    if (!packed) return driver_end(CUDA_ERROR_OUT_OF_MEMORY);
    r = pack(f, params, extra, packed);
    l.params = packed;
    l.params_size = f->params_size;
    if (r == CUDA_SUCCESS) r = run(c, f, &l);
    free(packed);
    return driver_end(r);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra)
{
    return launch(config, function, params, extra, false);
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
