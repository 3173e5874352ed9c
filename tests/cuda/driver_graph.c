/* Graphs and stream capture of the driver API. Layouts and numbers were compared with CUDA 13's cuda.h. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == 72, "ABI");
_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == 40, "ABI");
_Static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS_v2) == 48, "ABI");
_Static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == 16, "ABI");
_Static_assert(sizeof(CUDA_MEMCPY_NODE_PARAMS) == 216, "ABI");
_Static_assert(sizeof(CUDA_CONDITIONAL_NODE_PARAMS) == 32, "ABI");
_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == 120, "ABI");
_Static_assert(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr) == 112, "ABI");
_Static_assert(sizeof(CUstreamBatchMemOpParams) == 48, "ABI");
_Static_assert(sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS) == 32, "ABI");
_Static_assert(sizeof(CUgraphNodeParams) == 256 && offsetof(CUgraphNodeParams, kernel) == 16,
               "ABI");
_Static_assert(offsetof(CUgraphNodeParams, reserved2) == 248, "ABI");
_Static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == 32, "ABI");
_Static_assert(sizeof(CUgraphExecUpdateResultInfo) == 24 && sizeof(CUgraphEdgeData) == 8, "ABI");

/* mad: *at = *at * times + plus, so that the order of several of them shows; count: sets the value while *at is less
 * than `below`, and adds 1. */
static const char ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 a, .param .b32 b);\n"
    ".visible .entry mad(.param .u64 at, .param .u32 times, .param .u32 plus)\n{\n"
    " .reg .b32 %r<5>; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [times]; ld.param.u32 %r2, [plus];\n"
    " ld.global.u32 %r3, [%rd1]; mad.lo.u32 %r4, %r3, %r1, %r2; st.global.u32 [%rd1], %r4; ret;\n}\n"
    ".visible .entry count(.param .u64 at, .param .u64 value, .param .u32 below)\n{\n"
    " .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<3>;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [value]; ld.param.u32 %r1, [below];\n"
    " ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1; st.global.u32 [%rd1], %r3;\n"
    " setp.lt.u32 %p, %r3, %r1; selp.u32 %r4, 1, 0, %p;\n"
    " { .param .b64 p0; st.param.b64 [p0+0], %rd2; .param .b32 p1; st.param.b32 [p1+0], %r4;\n"
    "   call.uni cudaGraphSetConditional, (p0, p1); }\n ret;\n}\n"
    ".visible .entry astray()\n{\n .reg .b64 %rd1; mov.u64 %rd1, 8; st.global.u32 [%rd1], 1; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUdeviceptr cell; /* what kernels change */

static void start(void)
{
    if (!getenv("HEDDLE_ORDER"))
        cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuMemAlloc(&cell, 4096));
    OK(cuMemsetD32(cell, 0, 1024));
}

static void stop(void)
{
    cuda_device_configure(NULL);
}

static void start_random(void)
{
    setenv("HEDDLE_ORDER", "random", 1);
    setenv("HEDDLE_MEMORY", "64M", 1);
    cuda_device_configure(NULL);
    start();
}

static CUfunction kernel(const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static unsigned value_at(CUdeviceptr at)
{
    unsigned v;
    OK(cuMemcpyDtoH(&v, at, 4));
    return v;
}

static unsigned times_, plus_;
static void *mad_args[] = {&cell, &times_, &plus_};

static CUDA_KERNEL_NODE_PARAMS mad(unsigned times, unsigned plus)
{
    times_ = times;
    plus_ = plus;
    return (CUDA_KERNEL_NODE_PARAMS){.func = kernel("mad"),
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = mad_args};
}

static CUgraphNode add_mad(CUgraph g, CUgraphNode behind, unsigned times, unsigned plus)
{
    CUgraphNode n;
    CUDA_KERNEL_NODE_PARAMS p = mad(times, plus);
    OK(cuGraphAddKernelNode(&n, g, behind ? &behind : NULL, behind != NULL, &p));
    return n;
}

static void launch_mad(CUstream s, unsigned times, unsigned plus)
{
    void *args[] = {&cell, &times, &plus};
    OK(cuLaunchKernel(kernel("mad"), 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
}

static void run(CUgraph g)
{
    CUgraphExec x;
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuGraphExecDestroy(x));
}

static void *noted[16];
static size_t notes;
static void note(void *data)
{
    noted[notes++] = data;
}

Test(driver_graph, runs_nodes_behind_those_they_depend_on, .init = start, .fini = stop)
{
    CUgraph g;
    OK(cuGraphCreate(&g, 0));
    /* added last first: the edges say how it runs */
    CUgraphNode last = add_mad(g, NULL, 10, 3), middle = add_mad(g, NULL, 10, 2), set;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = cell, .value = 7, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&set, g, NULL, 0, &fill, context));
    OK(cuGraphAddDependencies(g, (CUgraphNode[]){middle, set}, (CUgraphNode[]){last, middle}, NULL,
                              2));
    run(g);
    cr_expect_eq(value_at(cell), 723);
    OK(cuGraphRemoveDependencies(g, &middle, &last, NULL, 1));
    OK(cuGraphAddDependencies(g, &last, &middle, NULL, 1));
    OK(cuGraphAddDependencies(g, &set, &last, NULL, 1));
    run(g);
    cr_expect_eq(value_at(cell), 732);
    IS(cuGraphAddDependencies(g, &set, &last, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphAddDependencies(g, &middle, &set, NULL, 1)); /* a circle */
    CUgraphExec x;
    IS(cuGraphInstantiate(&x, g, 0), CUDA_ERROR_INVALID_VALUE);
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {0};
    IS(cuGraphInstantiateWithParams(&x, g, &how), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(how.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    OK(cuGraphDestroy(g));
    IS(cuGraphDestroy(g), CUDA_ERROR_INVALID_VALUE);
}

Test(driver_graph, tells_of_nodes_and_edges, .init = start, .fini = stop)
{
    CUgraph g, clone;
    OK(cuGraphCreate(&g, 0));
    CUgraphNode a = add_mad(g, NULL, 1, 1), b = add_mad(g, a, 1, 1), c, got[4], to[4];
    OK(cuGraphAddEmptyNode(&c, g, (CUgraphNode[]){a, b}, 2));
    size_t n;
    OK(cuGraphGetNodes(g, NULL, &n));
    cr_expect_eq(n, 3);
    n = 4;
    OK(cuGraphGetNodes(g, got, &n));
    cr_expect(n == 3 && got[0] == a && got[1] == b && got[2] == c && !got[3]);
    OK(cuGraphGetRootNodes(g, NULL, &n));
    cr_expect_eq(n, 1);
    OK(cuGraphGetEdges(g, NULL, NULL, NULL, &n));
    cr_expect_eq(n, 3);
    n = 4;
    OK(cuGraphGetEdges(g, got, to, NULL, &n));
    cr_expect(n == 3 && got[0] == a && to[0] == b && got[1] == a && to[1] == c && got[2] == b);
    n = 4;
    OK(cuGraphNodeGetDependencies(c, got, NULL, &n));
    cr_expect(n == 2 && got[0] == a && got[1] == b);
    OK(cuGraphNodeGetDependentNodes(a, NULL, NULL, &n));
    cr_expect_eq(n, 2);
    CUgraphNodeType type;
    OK(cuGraphNodeGetType(c, &type));
    cr_expect_eq(type, CU_GRAPH_NODE_TYPE_EMPTY);
    OK(cuGraphClone(&clone, g));
    OK(cuGraphNodeFindInClone(&got[0], b, clone));
    cr_expect(got[0] != b);
    OK(cuGraphNodeGetType(got[0], &type));
    cr_expect_eq(type, CU_GRAPH_NODE_TYPE_KERNEL);
    OK(cuGraphDestroyNode(b));
    IS(cuGraphNodeGetType(b, &type), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphGetEdges(g, NULL, NULL, NULL, &n));
    cr_expect_eq(n, 1);
    OK(cuGraphGetEdges(clone, NULL, NULL, NULL, &n));
    cr_expect_eq(n, 3);
    IS(cuGraphAddEmptyNode(&c, clone, &a, 1), CUDA_ERROR_INVALID_VALUE); /* of another graph */
    IS(cuGraphAddEmptyNode(&c, g, (CUgraphNode[]){a, a}, 2), CUDA_ERROR_INVALID_VALUE);
    CUgraphEdgeData data = {.from_port = 1, .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphNode d = add_mad(g, NULL, 1, 1);
    OK(cuGraphAddDependencies(g, &a, &d, &data, 1));
    n = 4;
    IS(cuGraphNodeGetDependencies(d, got, NULL, &n), CUDA_ERROR_LOSSY_QUERY);
    data = (CUgraphEdgeData){0};
    n = 1;
    OK(cuGraphNodeGetDependencies(d, got, &data, &n));
    cr_expect(data.from_port == 1 && data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
}

Test(driver_graph, has_nodes_of_all_kinds, .init = start, .fini = stop)
{
    CUgraph g, child;
    CUgraphNode n, behind;
    CUevent e;
    unsigned host = 5, got = 0;
    OK(cuGraphCreate(&g, 0));
    CUDA_MEMCPY3D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = &host,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = cell,
                        .WidthInBytes = 4,
                        .Height = 1,
                        .Depth = 1};
    OK(cuGraphAddMemcpyNode(&behind, g, NULL, 0, &in, context));
    OK(cuGraphCreate(&child, 0));
    n = add_mad(child, NULL, 10, 1);
    add_mad(child, n, 10, 2);
    OK(cuGraphAddChildGraphNode(&n, g, &behind, 1, child));
    OK(cuGraphDestroy(child)); /* the node has a copy */
    CUgraph inside;
    OK(cuGraphChildGraphNodeGetGraph(n, &inside));
    IS(cuGraphDestroy(inside), CUDA_ERROR_INVALID_VALUE);
    behind = n;
    CUDA_HOST_NODE_PARAMS call = {note, &host};
    OK(cuGraphAddHostNode(&n, g, &behind, 1, &call));
    OK(cuEventCreate(&e, 0));
    behind = n;
    OK(cuGraphAddEventRecordNode(&n, g, &behind, 1, e));
    behind = n;
    OK(cuGraphAddEventWaitNode(&n, g, &behind, 1, e));
    behind = n;
    CUstreamBatchMemOpParams list[2] = {{.pad = {0}}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS ops = {.count = 2, .paramArray = list};
    ops.paramArray[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops.paramArray[0].waitValue.address = cell;
    ops.paramArray[0].waitValue.value = 500;
    ops.paramArray[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    ops.paramArray[1].writeValue.address = cell + 8;
    ops.paramArray[1].writeValue.value64 = 1ull << 32 | 9;
    OK(cuGraphAddBatchMemOpNode(&n, g, &behind, 1, &ops));
    behind = n;
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = cell,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = &got,
                         .WidthInBytes = 4,
                         .Height = 1,
                         .Depth = 1};
    OK(cuGraphAddMemcpyNode(&n, g, &behind, 1, &out, context));
    run(g);
    cr_expect_eq(got, 512);
    cr_expect(notes == 1 && noted[0] == &host);
    cr_expect(value_at(cell + 8) == 9 && value_at(cell + 12) == 1);
    OK(cuEventQuery(e));
    host = 6;
    run(g);
    cr_expect_eq(got, 612);
}

Test(driver_graph, changes_parameters_of_nodes, .init = start, .fini = stop)
{
    CUgraph g, other;
    CUgraphExec x;
    OK(cuGraphCreate(&g, 0));
    CUgraphNode a = add_mad(g, NULL, 10, 1), b = add_mad(g, a, 10, 2);
    OK(cuGraphInstantiate(&x, g, 0));
    CUDA_KERNEL_NODE_PARAMS p = mad(10, 7), got;
    OK(cuGraphKernelNodeGetParams(b, &got));
    cr_expect(got.func == kernel("mad") && *(unsigned *)got.kernelParams[2] == 2);
    OK(cuGraphKernelNodeSetParams(b, &p)); /* of the graph: the executable stays */
    OK(cuGraphLaunch(x, NULL));
    cr_expect_eq(value_at(cell), 12);
    OK(cuMemsetD32(cell, 0, 1));
    p = mad(10, 5);
    OK(cuGraphExecKernelNodeSetParams(x, a, &p));
    OK(cuGraphLaunch(x, NULL));
    cr_expect_eq(value_at(cell), 52);
    unsigned enabled;
    OK(cuGraphNodeSetEnabled(x, a, 0));
    OK(cuGraphNodeGetEnabled(x, a, &enabled));
    cr_expect_eq(enabled, 0);
    OK(cuGraphLaunch(x, NULL));
    cr_expect_eq(value_at(cell), 522);
    OK(cuGraphNodeSetEnabled(x, a, 1));
    OK(cuMemsetD32(cell, 0, 1));
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphExecUpdate(x, g, &info));
    OK(cuGraphLaunch(x, NULL));
    cr_expect_eq(value_at(cell), 17);
    OK(cuGraphCreate(&other, 0));
    a = add_mad(other, NULL, 1, 1);
    IS(cuGraphExecUpdate(x, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    cr_expect_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphAddEmptyNode(&b, other, &a, 1));
    IS(cuGraphExecUpdate(x, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    cr_expect(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED && info.errorNode == b);
    IS(cuGraphExecKernelNodeSetParams(x, a, &p), CUDA_ERROR_INVALID_VALUE); /* of another */
    CUlaunchAttributeValue v = {.priority = -2}, w;
    OK(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    OK(cuGraphClone(&g, other));
    OK(cuGraphNodeFindInClone(&b, a, g));
    OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &w));
    cr_expect_eq(w.priority, -2);
}

static void check_conditional(CUgraphConditionalNodeType type, unsigned size, unsigned initial,
                              unsigned want)
{
    CUgraph g;
    CUgraphConditionalHandle h;
    CUgraphNode n;
    OK(cuMemsetD32(cell, 0, 1));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphConditionalHandleCreate(&h, g, context, initial, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                           .conditional = {.handle = h, .type = type, .size = size}};
    OK(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    for (unsigned i = 0; i < size; i++)
        if (type == CU_GRAPH_COND_TYPE_WHILE) {
            unsigned below = 5;
            void *args[] = {&cell, &h, &below};
            CUDA_KERNEL_NODE_PARAMS k = mad(0, 0);
            k.func = kernel("count");
            k.kernelParams = args;
            OK(cuGraphAddKernelNode(&n, p.conditional.phGraph_out[i], NULL, 0, &k));
        } else add_mad(p.conditional.phGraph_out[i], NULL, 1, i + 1);
    for (unsigned again = 0; again < 2; again++) {
        OK(cuMemsetD32(cell, 0, 1));
        run(g);
        cr_expect_eq(value_at(cell), want, "type %d from %u: %u", type, initial, value_at(cell));
    }
}

Test(driver_graph, runs_bodies_on_conditions, .init = start, .fini = stop)
{
    check_conditional(CU_GRAPH_COND_TYPE_IF, 1, 1, 1);
    check_conditional(CU_GRAPH_COND_TYPE_IF, 1, 0, 0);
    check_conditional(CU_GRAPH_COND_TYPE_IF, 2, 0, 2);
    check_conditional(CU_GRAPH_COND_TYPE_SWITCH, 3, 2, 3);
    check_conditional(CU_GRAPH_COND_TYPE_SWITCH, 3, 3, 0);
    check_conditional(CU_GRAPH_COND_TYPE_WHILE, 1, 1, 5); /* kernels end it */
}

Test(driver_graph, allocates, .init = start, .fini = stop)
{
    CUgraph g;
    CUgraphNode a, n, f;
    CUgraphExec x;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.bytesize = 64};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemAllocNode(&a, g, NULL, 0, &p));
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = p.dptr, .value = 9, .elementSize = 4, .width = 16, .height = 1};
    OK(cuGraphAddMemsetNode(&n, g, &a, 1, &fill, context));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    cr_expect_eq(value_at(p.dptr + 60), 9);
    IS(cuGraphLaunch(x, NULL), CUDA_ERROR_INVALID_VALUE); /* not freed yet */
    OK(cuMemFreeAsync(p.dptr, NULL));
    IS(cuMemFree(p.dptr), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphLaunch(x, NULL));
    OK(cuGraphExecDestroy(x));
    OK(cuMemFree(p.dptr));
    OK(cuGraphInstantiate(&x, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphLaunch(x, NULL));
    OK(cuGraphLaunch(x, NULL));
    OK(cuMemFree(p.dptr));
    OK(cuGraphAddMemFreeNode(&f, g, &n, 1, p.dptr));
    IS(cuGraphAddMemFreeNode(&f, g, &n, 1, cell), CUDA_ERROR_INVALID_VALUE);
    IS(cuGraphClone(&g, g), CUDA_ERROR_NOT_SUPPORTED);
}

Test(driver_graph, holds_user_objects, .init = start, .fini = stop)
{
    CUgraph g;
    CUgraphExec x;
    CUuserObject u;
    int it;
    IS(cuUserObjectCreate(&u, &it, note, 1, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuUserObjectCreate(&u, &it, note, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphRetainUserObject(g, u, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphDestroy(g));
    cr_expect_eq(notes, 0);
    OK(cuGraphExecDestroy(x));
    cr_expect(notes == 1 && noted[0] == &it);
    IS(cuUserObjectRelease(u, 1), CUDA_ERROR_INVALID_VALUE);
}

Test(driver_graph, prints_itself_for_graphviz, .init = start, .fini = stop)
{
    char path[] = "/tmp/heddle-dot-XXXXXX", text[4096] = "";
    CUgraph g;
    CUgraphNode n;
    OK(cuGraphCreate(&g, 0));
    CUgraphNode a = add_mad(g, NULL, 1, 1);
    add_mad(g, a, 1, 1);
    IS(cuGraphAddChildGraphNode(&n, g, &a, 1, g), CUDA_ERROR_INVALID_VALUE);
    const int fd = mkstemp(path);
    OK(cuGraphDebugDotPrint(g, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    cr_assert(read(fd, text, sizeof text - 1) > 0);
    cr_expect(strncmp(text, "digraph dot {", 13) == 0 && strstr(text, "mad") && strstr(text, "->"));
    int depth = 0;
    for (const char *c = text; *c; c++) depth += (*c == '{') - (*c == '}');
    cr_expect_eq(depth, 0);
    close(fd);
    unlink(path);
}

/* ---- capture ------------------------------------------------------------------------------------------ */

Test(driver_graph, captures_what_streams_are_asked_for, .init = start, .fini = stop)
{
    CUstream s, t;
    CUgraph g;
    CUevent fork, join;
    CUstreamCaptureStatus status;
    unsigned *pinned;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, 0));
    OK(cuEventCreate(&join, 0));
    OK(cuMemHostAlloc((void **)&pinned, 4, 0));
    *pinned = 3;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
    OK(cuMemcpyHtoDAsync(cell, pinned, 4, s));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(cuStreamIsCapturing(t, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    launch_mad(s, 10, 1);
    OK(cuMemsetD32Async(cell + 64, 8, 1, t));
    OK(cuLaunchHostFunc(t, note, &cell));
    OK(cuEventRecord(join, t));
    OK(cuStreamWaitEvent(s, join, 0));
    launch_mad(s, 10, 2);
    size_t n;
    const CUgraphNode *behind;
    uint64_t id;
    CUgraph building;
    OK(cuStreamGetCaptureInfo(s, &status, &id, &building, &behind, NULL, &n));
    cr_expect(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && n == 1 && id);
    OK(cuStreamEndCapture(s, &g));
}

Test(driver_graph, captures_forks_and_joins, .init = start, .fini = stop)
{
    CUstream s, t;
    CUgraph g;
    CUevent fork, join;
    size_t n;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, 0));
    OK(cuEventCreate(&join, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD32Async(cell, 3, 1, s));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    launch_mad(s, 10, 1);
    OK(cuMemsetD32Async(cell + 64, 8, 1, t));
    OK(cuLaunchHostFunc(t, note, &cell));
    OK(cuEventRecord(join, t));
    OK(cuStreamWaitEvent(s, join, 0));
    launch_mad(s, 10, 2);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, NULL, &n));
    cr_expect_eq(n, 5);
    OK(cuGraphGetEdges(g, NULL, NULL, NULL, &n));
    cr_expect_eq(n, 5);
    cr_expect(value_at(cell) == 0 && notes == 0);
    run(g);
    cr_expect(value_at(cell) == 312 && value_at(cell + 64) == 8 && notes == 1);
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(t, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    launch_mad(t, 0, 1); /* at once */
    cr_expect_eq(value_at(cell), 1);
}

static void begin(CUstream *s, CUstreamCaptureMode mode)
{
    OK(cuStreamCreate(s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(*s, mode));
}

Test(driver_graph, invalidates_captures_by_what_they_forbid, .init = start, .fini = stop)
{
    CUstream s, t;
    CUgraph g;
    CUdeviceptr p;
    CUevent e;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuEventCreate(&e, 0));
    begin(&s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuStreamIsCapturing(s, &status));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    IS(cuMemsetD8Async(cell, 0, 1, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    cr_expect_null(g);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);

    begin(&s, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuMemAlloc(&p, 4));
    IS(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(&s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    cr_expect_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuMemAlloc(&p, 4));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuEventRecord(e, s));
    IS(cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    /* the legacy stream would wait for a blocking one */
    OK(cuStreamCreate(&t, CU_STREAM_DEFAULT));
    OK(cuStreamBeginCapture(t, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuMemsetD8Async(cell, 0, 1, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

Test(driver_graph, captures_are_ended_where_they_began, .init = start, .fini = stop)
{
    CUstream s, t, u;
    CUgraph g;
    CUevent e, f;
    OK(cuEventCreate(&e, 0));
    OK(cuEventCreate(&f, 0));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    begin(&s, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuMemsetD8Async(cell, 0, 1, t));
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);

    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(t, e, 0));
    IS(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(e, s));
    begin(&u, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamWaitEvent(u, e, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    IS(cuStreamEndCapture(u, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuEventRecord(f, t));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamWaitEvent(s, f, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    IS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void *end_elsewhere(void *stream)
{
    CUgraph g;
    OK(cuCtxSetCurrent(context));
    IS(cuStreamEndCapture(stream, &g), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 4)); /* a thread-local capture is no business of other threads */
    return NULL;
}

Test(driver_graph, captures_belong_to_threads, .init = start, .fini = stop)
{
    CUstream s;
    CUgraph g;
    pthread_t other;
    begin(&s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cr_assert_eq(pthread_create(&other, NULL, end_elsewhere, s), 0);
    pthread_join(other, NULL);
    OK(cuStreamEndCapture(s, &g));
}

Test(driver_graph, captures_allocations_and_launches_of_graphs, .init = start, .fini = stop)
{
    CUstream s;
    CUgraph g, child;
    CUgraphExec x;
    CUdeviceptr p;
    CUgraphNode nodes[5];
    CUgraphNodeType type;
    OK(cuGraphCreate(&child, 0));
    add_mad(child, NULL, 1, 4);
    OK(cuGraphInstantiate(&x, child, 0));
    begin(&s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuMemAllocAsync(&p, 16, s));
    OK(cuMemsetD32Async(p, 6, 4, s));
    OK(cuMemcpyDtoDAsync(cell, p, 4, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamEndCapture(s, &g));
    size_t n = 5;
    OK(cuGraphGetNodes(g, nodes, &n));
    cr_assert_eq(n, 5);
    OK(cuGraphNodeGetType(nodes[0], &type));
    cr_expect_eq(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    OK(cuGraphNodeGetType(nodes[4], &type));
    cr_expect_eq(type, CU_GRAPH_NODE_TYPE_GRAPH);
    run(g);
    cr_expect_eq(value_at(cell), 10);
    run(g);
    cr_expect_eq(value_at(cell), 10);
}

Test(driver_graph, captures_to_a_graph_that_is_there, .init = start, .fini = stop)
{
    CUstream s;
    CUgraph g, got;
    OK(cuGraphCreate(&g, 0));
    CUgraphNode a = add_mad(g, NULL, 1, 5);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCaptureToGraph(s, g, &a, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch_mad(s, 10, 1);
    OK(cuStreamUpdateCaptureDependencies(s, &a, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cuMemsetD32Async(cell + 64, 2, 1, s));
    OK(cuStreamEndCapture(s, &got));
    cr_expect_eq(got, g);
    size_t n;
    OK(cuGraphNodeGetDependentNodes(a, NULL, NULL, &n));
    cr_expect_eq(n, 2);
    run(g);
    cr_expect(value_at(cell) == 51 && value_at(cell + 64) == 2);
}

Test(driver_graph, a_fault_is_the_launch_s_answer, .init = start, .fini = stop)
{
    CUgraph g;
    CUgraphNode n;
    CUgraphExec x;
    CUDA_KERNEL_NODE_PARAMS p = mad(0, 0);
    OK(cuGraphCreate(&g, 0));
    p.func = kernel("astray");
    p.kernelParams = NULL;
    OK(cuGraphAddKernelNode(&n, g, NULL, 0, &p));
    OK(cuGraphInstantiate(&x, g, 0));
    IS(cuGraphLaunch(x, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* ---- values in memory ------------------------------------------------------------------------------------ */

static void *write_later(void *at)
{
    usleep(20000);
    *(volatile unsigned *)at = 3;
    return NULL;
}

Test(driver_graph, streams_wait_for_values, .init = start, .fini = stop)
{
    CUstream s, t;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(s, cell, 2, CU_STREAM_WAIT_VALUE_EQ));
    launch_mad(s, 10, 1);
    IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    cr_expect_eq(value_at(cell), 0);
    OK(cuStreamWriteValue32(t, cell, 2, 0));
    OK(cuStreamSynchronize(s));
    cr_expect_eq(value_at(cell), 21);
    IS(cuStreamWaitValue32(s, cell + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamWriteValue64(s, 8, 1, 0), CUDA_ERROR_INVALID_VALUE);
    unsigned *host;
    CUdeviceptr flag;
    pthread_t other;
    OK(cuMemHostAlloc((void **)&host, 4, 0));
    *host = 0;
    OK(cuMemHostGetDevicePointer(&flag, host, 0));
    OK(cuStreamWaitValue32(s, flag, 3, CU_STREAM_WAIT_VALUE_GEQ));
    launch_mad(s, 0, 1);
    cr_assert_eq(pthread_create(&other, NULL, write_later, host), 0);
    OK(cuStreamSynchronize(s));
    cr_expect_eq(value_at(cell), 1);
    pthread_join(other, NULL);
}

/* ---- streams by chance ----------------------------------------------------------------------------------- */

/* Two streams, an event between them or not; what is left. */
static unsigned race_of_streams(unsigned seed, bool ordered)
{
    char text[16];
    CUstream s, t;
    CUevent e;
    snprintf(text, sizeof text, "%u", seed);
    setenv("HEDDLE_SEED", text, 1);
    start_random();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, 0));
    OK(cuCtxSynchronize());
    launch_mad(s, 10, 1);
    OK(cuEventRecord(e, s));
    if (ordered) OK(cuStreamWaitEvent(t, e, 0));
    launch_mad(t, 10, 2);
    OK(cuCtxSynchronize());
    const unsigned left = value_at(cell);
    stop();
    return left;
}

Test(driver_graph, chance_interleaves_streams)
{
    unsigned seen[2] = {0};
    for (unsigned seed = 1; seed <= 12; seed++) {
        const unsigned v = race_of_streams(seed, false);
        cr_assert(v == 12 || v == 21, "%u", v);
        seen[v == 21]++;
        cr_expect_eq(race_of_streams(seed, false), v, "a seed names the run");
        cr_expect_eq(race_of_streams(seed, true), 12);
    }
    cr_expect(seen[0] && seen[1]);
}

Test(driver_graph, chance_lets_work_wait, .init = start_random, .fini = stop)
{
    CUstream s;
    CUevent e;
    unsigned *pinned, pageable = 5, late = 0;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&e, 0));
    OK(cuMemHostAlloc((void **)&pinned, 8, 0));
    pinned[0] = 7;
    OK(cuCtxSynchronize());
    OK(cuMemcpyHtoDAsync(cell, &pageable, 4, s));  /* read before the call returns */
    OK(cuMemcpyHtoDAsync(cell + 4, pinned, 4, s)); /* read when it is done */
    pageable = 6;
    pinned[0] = 8;
    OK(cuMemcpyDtoHAsync(pinned + 1, cell + 4, 4, s));
    OK(cuEventRecord(e, s));
    unsigned polls = 0;
    while (cuEventQuery(e) == CUDA_ERROR_NOT_READY) polls++;
    cr_expect(polls > 0 && pinned[1] == 8, "%u %u", polls, pinned[1]);
    launch_mad(s, 10, 1);
    OK(cuMemcpyDtoHAsync(&late, cell, 4, s)); /* the host has it when the call returns */
    cr_expect_eq(late, 51);
    launch_mad(s, 10, 1);
    launch_mad(NULL, 10, 2); /* the legacy stream waits for it */
    launch_mad(s, 10, 3);    /* and is waited for */
    OK(cuStreamDestroy(s));  /* with work to do */
    OK(cuCtxSynchronize());
    cr_expect_eq(value_at(cell), 51123);
    OK(cuMemsetD32Async(cell, 1, 1, CU_STREAM_PER_THREAD));
    launch_mad(CU_STREAM_PER_THREAD, 10, 4);
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    cr_expect_eq(value_at(cell), 14);
}

/* Who looks at memory and calls nothing must see it change sooner or later. */
Test(driver_graph, work_is_done_though_nobody_asks, .init = start_random, .fini = stop,
     .timeout = 60)
{
    CUstream s;
    volatile unsigned *flag;
    CUdeviceptr at;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemHostAlloc((void **)&flag, 4, 0));
    OK(cuMemHostGetDevicePointer(&at, (void *)flag, 0));
    *flag = 0;
    OK(cuMemsetD32Async(at, 5, 1, s));
    while (*flag != 5) usleep(1000);
    OK(cuStreamSynchronize(s));
}

/* ---- missing dependencies ---------------------------------------------------------------------------- */

static char report[8192];
static unsigned race_reports;
static void tell(void *self, const char *text)
{
    (void)self;
    if (strstr(text, "race of ")) race_reports++;
    strncat(report, text, sizeof report - strlen(report) - 1);
}

static void start_checked(void)
{
    cuda_device_configure(
        &(struct emu_config){.threads = 1, .memory = 64 << 20, .checks = EMU_CHECK_RACE});
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuMemAlloc(&cell, 4096));
    OK(cuMemsetD32(cell, 0, 1024));
    OK(cuCtxSynchronize());
    cuda_device_watch(&(struct cuda_watch){.say = tell});
}

/* How many are reported since the last call. */
static unsigned races(void)
{
    const unsigned n = race_reports;
    OK(cuCtxSynchronize());
    race_reports = 0;
    return n;
}

Test(driver_graph, operations_that_nothing_orders_race, .init = start_checked, .fini = stop)
{
    CUstream s, t, blocking;
    CUevent e;
    unsigned *pinned;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&e, 0));
    OK(cuMemHostAlloc((void **)&pinned, 4096, 0));

    launch_mad(s, 10, 1);
    launch_mad(t, 10, 1);
    cr_expect_eq(races(), 1);
    cr_expect(strstr(report, "kernel 'mad' in stream ") && strstr(report, "cuMemAlloc #1"), "%s",
              report);
    launch_mad(s, 10, 1);
    launch_mad(t, 10, 1);
    cr_expect_eq(races(), 0, "once is enough");

    launch_mad(s, 10, 1); /* the event */
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuMemcpyDtoHAsync(pinned, cell, 4, t));
    cr_expect_eq(races(), 0);
    OK(cuEventRecord(e, s)); /* comes before what it should come behind */
    launch_mad(s, 10, 1);
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuMemcpyDtoHAsync(pinned, cell, 4, t));
    cr_expect_eq(races(), 1);
    cr_expect(strstr(report, "copy of 4 bytes in stream "), "%s", report);

    launch_mad(s, 10, 1); /* the host */
    OK(cuStreamSynchronize(s));
    OK(cuMemsetD32Async(cell, 1, 1, t));
    OK(cuEventRecord(e, t));
    OK(cuEventSynchronize(e));
    launch_mad(s, 10, 1);
    cr_expect_eq(races(), 0);

    OK(cuMemsetD32Async(cell, 1, 1, NULL)); /* the default stream orders blocking ones alone */
    launch_mad(blocking, 10, 1);
    OK(cuMemsetD32Async(cell, 1, 1, NULL));
    cr_expect_eq(races(), 0);
    OK(cuMemsetD32Async(cell, 1, 1, NULL));
    launch_mad(t, 10, 1);
    cr_expect_eq(races(), 1);
    cr_expect(strstr(report, "fill of 4 bytes in the default stream writes it"), "%s", report);

    OK(cuMemsetD8Async(cell + 8, 1, 3, s)); /* side by side */
    OK(cuMemsetD8Async(cell + 11, 1, 1, t));
    OK(cuMemcpyDtoHAsync(pinned, cell + 12, 4, s)); /* and both reading */
    OK(cuMemcpyDtoHAsync(pinned + 1, cell + 12, 4, t));
    cr_expect_eq(races(), 0);
    OK(cuMemcpyDtoHAsync(pinned, cell + 12, 4, s));
    OK(cuMemcpyDtoHAsync((char *)pinned + 3, cell + 20, 4, t));
    cr_expect_eq(races(), 1);
    OK(cuMemFreeHost(pinned));
}

Test(driver_graph, nodes_that_no_edges_order_race, .init = start_checked, .fini = stop)
{
    CUgraph g, inner;
    CUgraphNode a, b, end, child;
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = cell, .value = 7, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphCreate(&g, 0));
    a = add_mad(g, NULL, 10, 1);
    b = add_mad(g, a, 10, 2);
    run(g);
    cr_expect_eq(races(), 0);
    OK(cuGraphAddMemsetNode(&end, g, &a, 1, &fill, context)); /* beside b */
    run(g);
    cr_expect_eq(races(), 1);
    cr_expect(strstr(report, "race of graph nodes: ") &&
                  strstr(report, "fill of 4 bytes in node 2 of a graph") &&
                  strstr(report, "kernel 'mad' in node 1 of a graph in the default stream") &&
                  strstr(report, "edges from the one to the other would"),
              "%s", report);
    OK(cuGraphAddDependencies(g, &b, &end, NULL, 1));
    run(g);
    cr_expect_eq(races(), 0);

    OK(cuGraphCreate(&inner, 0)); /* in a child, and beside it */
    add_mad(inner, add_mad(inner, NULL, 1, 1), 1, 2);
    OK(cuGraphAddChildGraphNode(&child, g, &end, 1, inner));
    run(g);
    cr_expect_eq(races(), 0);
    OK(cuGraphRemoveDependencies(g, &end, &child, NULL, 1));
    run(g);
    cr_expect_gt(races(), 0);
    cr_expect(strstr(report, "node 3.0 of a graph"), "%s", report);
    OK(cuGraphAddDependencies(g, &end, &child, NULL, 1));
    add_mad(inner, NULL, 1, 1);
    OK(cuGraphDestroyNode(child));
    OK(cuGraphAddChildGraphNode(&child, g, &end, 1, inner));
    run(g);
    cr_expect_eq(races(), 2); /* of the new node with both others */
}

Test(driver_graph, rounds_of_a_loop_do_not_race, .init = start_checked, .fini = stop)
{
    CUgraph g;
    CUgraphNode n;
    CUgraphConditionalHandle handle;
    unsigned below = 5;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphConditionalHandleCreate(&handle, g, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    p.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = handle, .type = CU_GRAPH_COND_TYPE_WHILE, .size = 1, .ctx = context};
    OK(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    CUDA_KERNEL_NODE_PARAMS k = mad(1, 0);
    void *args[] = {&cell, &handle, &below};
    k.func = kernel("count");
    k.kernelParams = args;
    OK(cuGraphAddKernelNode(&n, p.conditional.phGraph_out[0], NULL, 0, &k));
    add_mad(p.conditional.phGraph_out[0], n, 1, 1);
    run(g);
    cr_expect_eq(value_at(cell), 6); /* 1 and 1, three times */
    cr_expect_eq(races(), 0);
}
