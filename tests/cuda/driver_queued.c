/* What becomes of operations that wait in their streams while the program goes on: streams are held by a wait for a value.
 * What calls must do then is from CUDA's documentation of each call (cuda.h), and from its section "API synchronization
 * behavior". */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"
#include "tests/support/driver_kernels.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned *gate; /* pinned: a held stream waits until this is 1 */
static CUstream s, t;  /* non-blocking */
static CUdeviceptr cell;

static void start(void)
{
    driver_load_kernels();
    OK(cuMemHostAlloc((void **)&gate, 4, 0));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    cell = driver_alloc(4096);
    OK(cuMemsetD32(cell, 0, 1024));
}

static void hold(CUstream stream)
{
    *gate = 0;
    OK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)gate, 1, CU_STREAM_WAIT_VALUE_EQ));
}

static void let_go(void)
{
    *(volatile unsigned *)gate = 1;
}

static void *open_gate(void *unused)
{
    (void)unused;
    usleep(30000);
    let_go();
    return NULL;
}

/* For calls that have to wait. */
static void let_go_later(void)
{
    pthread_t other;
    cr_assert_eq(pthread_create(&other, NULL, open_gate, NULL), 0);
    pthread_detach(other);
}

static unsigned value_at(CUdeviceptr at)
{
    unsigned v;
    OK(cuMemcpyDtoH(&v, at, 4));
    return v;
}

static CUgraphNode add_fill(CUgraph g, const CUgraphNode *behind, CUdeviceptr at, unsigned value)
{
    CUgraphNode n;
    const CUDA_MEMSET_NODE_PARAMS p = {
        .dst = at, .value = value, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&n, g, behind, behind != NULL, &p, driver_context));
    return n;
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

/* While the call waits, memory is freed that is before it in the table. */
Test(driver_queued, pinned_memory_is_freed_behind_other_memory, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUdeviceptr before[3], at;
    void *one, *other;
    for (int i = 0; i < 3; i++) OK(cuMemAllocAsync(&before[i], 256, s));
    OK(cuMemHostAlloc(&one, 4096, 0));
    OK(cuMemHostAlloc(&other, 4096, 0));
    hold(s);
    for (int i = 0; i < 3; i++) OK(cuMemFreeAsync(before[i], s));
    let_go_later();
    OK(cuMemFreeHost(one));
    IS(cuMemHostGetDevicePointer(&at, one, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostGetDevicePointer(&at, other, 0), CUDA_SUCCESS);
    IS(cuMemFreeHost(other), CUDA_SUCCESS);
}

/* "For transfers from any host memory to any host memory, the function is fully synchronous with respect to the host." */
Test(driver_queued, copies_from_host_to_host_are_done_when_the_call_returns, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    unsigned *from, *to;
    OK(cuMemHostAlloc((void **)&from, 4, 0));
    OK(cuMemHostAlloc((void **)&to, 4, 0));
    *from = 5;
    *to = 0;
    hold(s);
    let_go_later();
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, 4, s));
    cr_expect_eq(*to, 5);
}

/* "The synchronous memset functions are asynchronous with respect to the host except when the target is pinned host
 * memory or a Unified Memory region, in which case they are fully synchronous." */
Test(driver_queued, fills_of_memory_of_the_host_are_done_when_the_call_returns, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    unsigned *pinned;
    CUdeviceptr managed;
    OK(cuMemHostAlloc((void **)&pinned, 64, 0));
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    unsigned *const shared = (unsigned *)(uintptr_t)managed;
    for (int i = 0; i < 16; i++) pinned[i] = shared[i] = 0;
    hold(NULL);
    let_go_later();
    OK(cuMemsetD32((CUdeviceptr)(uintptr_t)pinned, 3, 4));
    cr_expect_eq(pinned[0], 3);
    hold(NULL);
    let_go_later();
    OK(cuMemsetD2D8(managed, 16, 1, 4, 2));
    cr_expect_eq(shared[4], 0x01010101);
    hold(NULL);
    OK(cuMemsetD32(cell, 7, 1)); /* of the device's alone: the host does not wait */
    IS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    let_go();
    cr_expect_eq(value_at(cell), 7);
}

Test(driver_queued, arrays_are_destroyed_behind_their_copies, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUarray a;
    const CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 4, .Height = 0, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    unsigned in[4] = {9, 8, 7, 6};
    OK(cuArrayCreate(&a, &d));
    OK(cuMemcpyHtoA(a, 0, in, sizeof in));
    hold(s);
    OK(cuMemcpy2DAsync(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                        .srcArray = a,
                                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                        .dstDevice = cell,
                                        .WidthInBytes = 16,
                                        .Height = 1},
                       s));
    let_go_later();
    OK(cuArrayDestroy(a));
    OK(cuStreamSynchronize(s));
    cr_expect_eq(value_at(cell), 9);
}

/* CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL: "the accesses must be complete before the API call returns". */
Test(driver_queued, a_source_is_read_during_the_call_where_that_is_asked_for, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    unsigned *pinned;
    OK(cuMemHostAlloc((void **)&pinned, 8, 0));
    CUdeviceptr from[2] = {(CUdeviceptr)(uintptr_t)pinned, (CUdeviceptr)(uintptr_t)(pinned + 1)},
                to[2] = {cell, cell + 4};
    size_t sizes[2] = {4, 4}, indices[2] = {0, 1};
    CUmemcpyAttributes attributes[2] = {
        {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
        {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    pinned[0] = pinned[1] = 1;
    hold(s);
    OK(cuMemcpyBatchAsync(to, from, sizes, 2, attributes, indices, 2, s));
    pinned[0] = pinned[1] = 2;
    let_go();
    OK(cuStreamSynchronize(s));
    cr_expect(value_at(cell) == 1 && value_at(cell + 4) == 2, "%u %u", value_at(cell),
              value_at(cell + 4));
}

/* Whatever may use memory is done before it is freed, in its own context, too. */
Test(driver_queued, memory_of_another_context_is_freed_behind_its_work, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    CUcontext other;
    const CUdeviceptr p = driver_alloc(64);
    hold(s);
    OK(cuMemsetD32Async(p, 1, 16, s));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    let_go_later();
    OK(cuMemFree(p));
    IS(cuStreamQuery(s), CUDA_SUCCESS);
}

/* ---- modules, callbacks ------------------------------------------------------------------------------------ */

Test(driver_queued, modules_are_unloaded_behind_their_launches, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUmodule other;
    CUfunction f;
    OK(cuModuleLoadData(&other, driver_ptx));
    OK(cuModuleGetFunction(&f, other, "scaled"));
    hold(s);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&cell}, NULL));
    let_go_later();
    OK(cuModuleUnload(other));
    OK(cuStreamSynchronize(s));
    cr_expect_eq(value_at(cell), 3);
}

static CUresult callback_status;
static unsigned callbacks, calls;
static void on_stream(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)data;
    callbacks++;
    callback_status = status;
}
static void on_host(void *data)
{
    (void)data;
    calls++;
}

/* "In the event of a device error, all subsequently executed callbacks will receive an appropriate CUresult." Functions of
 * cuLaunchHostFunc are not called then. */
Test(driver_queued, callbacks_hear_of_a_fault_before_them, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUdeviceptr nowhere = 8;
    hold(s);
    OK(cuLaunchKernel(driver_kernel("astray"), 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&nowhere}, NULL));
    OK(cuStreamAddCallback(s, on_stream, NULL, 0));
    OK(cuLaunchHostFunc(s, on_host, NULL));
    let_go();
    IS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_expect(callbacks == 1 && callback_status == CUDA_ERROR_ILLEGAL_ADDRESS && !calls, "%u %d %u",
              callbacks, callback_status, calls);
}

static CUresult answers[2];
static void call_back(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) answers[i] = cuCtxSynchronize();
}
static void hear(void *data, CUlogLevel level, char *text, size_t size)
{
    (void)data, (void)level, (void)text, (void)size;
}

/* A function of the host must not call CUDA, also after a failed call that a callback of the log has received. */
Test(driver_queued, no_call_is_permitted_in_a_host_function, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUlogsCallbackHandle h;
    OK(cuLogsRegisterCallback(hear, NULL, &h));
    OK(cuLaunchHostFunc(s, call_back, NULL));
    OK(cuStreamSynchronize(s));
    IS(answers[0], CUDA_ERROR_NOT_PERMITTED);
    IS(answers[1], CUDA_ERROR_NOT_PERMITTED);
    OK(cuLogsUnregisterCallback(h));
}

/* ---- events and streams ------------------------------------------------------------------------------------ */

Test(driver_queued, a_new_event_is_not_the_destroyed_one, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUevent old, new, recorded;
    float ms;
    OK(cuEventCreate(&recorded, 0));
    OK(cuEventRecord(recorded, t));
    OK(cuEventCreate(&old, 0));
    hold(s);
    OK(cuEventRecord(old, s));
    OK(cuEventDestroy(old));
    OK(cuEventCreate(&new, 0));
    let_go();
    OK(cuStreamSynchronize(s));
    IS(cuEventElapsedTime(&ms, recorded, new), CUDA_ERROR_INVALID_HANDLE);
}

/* "querying it or synchronizing it would query or synchronize the streams" that it waits for (programming guide, on
 * captures). */
Test(driver_queued, the_legacy_stream_is_as_busy_as_those_that_block, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    CUstream blocking;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    hold(blocking);
    IS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    IS(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    let_go();
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamQuery(NULL));
    hold(s);
    OK(cuStreamQuery(NULL));
    let_go();
}

/* cuEventRecord: "hEvent and hStream must be from the same context otherwise CUDA_ERROR_INVALID_HANDLE"; the external flags
 * are "invalid outside of stream capture". */
Test(driver_queued, events_of_other_contexts_and_external_ones, .init = start, .fini = driver_reset)
{
    CUevent here, there;
    CUcontext other;
    OK(cuEventCreate(&here, 0));
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuEventCreate(&there, 0));
    IS(cuEventRecord(there, s), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamWaitEvent(s, there, 0));
    IS(cuEventRecordWithFlags(here, s, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamWaitEvent(s, here, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
}

/* cuStreamIsCapturing: "The blocking stream capture is not invalidated." */
Test(driver_queued, asking_the_legacy_stream_whether_it_captures_spoils_nothing, .init = start,
     .fini = driver_reset)
{
    CUstream blocking;
    CUstreamCaptureStatus status;
    CUgraph g;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamEndCapture(blocking, &g), CUDA_SUCCESS);
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

/* The work that a node waits for is what the event stood for at the launch: what is recorded later may be behind the
 * launch itself. */
Test(driver_queued, a_node_waits_for_what_was_recorded_before_its_launch, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    CUgraph g;
    CUgraphNode wait;
    CUgraphExec x;
    CUevent e, done;
    OK(cuEventCreate(&e, 0));
    OK(cuEventCreate(&done, 0));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddEventWaitNode(&wait, g, NULL, 0, e));
    add_fill(g, &wait, cell, 4);
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuEventRecord(e, t));
    hold(s);
    OK(cuGraphLaunch(x, s));
    OK(cuEventRecord(done, s));
    OK(cuStreamWaitEvent(t, done, 0));
    OK(cuEventRecord(e, t));
    let_go();
    OK(cuStreamSynchronize(s));
    OK(cuStreamSynchronize(t));
    cr_expect_eq(value_at(cell), 4);
    hold(t);
    OK(cuMemsetD32Async(cell + 4, 1, 1, t));
    OK(cuEventRecord(e, t));
    OK(cuMemsetD32(cell, 0, 1));
    OK(cuGraphLaunch(x, s)); /* and that it does wait for */
    IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    cr_expect_eq(value_at(cell), 0);
    let_go();
    OK(cuStreamSynchronize(s));
    cr_expect(value_at(cell) == 4 && value_at(cell + 4) == 1);
}

/* What counts is the order in which the program asks, not what has been done of it by then. */
Test(driver_queued, memory_of_graphs_is_allocated_in_the_order_of_calls, .init = start,
     .fini = driver_reset, .timeout = 60)
{
    CUgraph g;
    CUgraphNode n;
    CUgraphExec x;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = 64};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    hold(s);
    OK(cuMemFreeAsync(p.dptr, s));
    IS(cuGraphLaunch(x, s), CUDA_SUCCESS);             /* it is free by then */
    IS(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_VALUE); /* and that one's is not */
    let_go();
    OK(cuStreamSynchronize(s));
    IS(cuMemFreeAsync(p.dptr, s), CUDA_SUCCESS);
    OK(cuStreamSynchronize(s));
    IS(cuGraphLaunch(x, s), CUDA_SUCCESS);
}

/* "During stream capture, this function results in the creation of an allocation node." */
Test(driver_queued, allocations_of_a_pool_are_captured, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUgraph g;
    CUgraphExec x;
    CUmemoryPool pool;
    CUdeviceptr p;
    size_t count = 0;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocFromPoolAsync(&p, 64, pool, s));
    OK(cuMemsetD32Async(p, 6, 1, s));
    OK(cuMemcpyDtoDAsync(cell, p, 4, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, NULL, &count));
    cr_expect_eq(count, 4);
    OK(cuGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 2; i++) {
        OK(cuMemsetD32(cell, 0, 1));
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        cr_expect_eq(value_at(cell), 6);
    }
}

/* "Already enqueued or running launches of hGraphExec are not affected by this call." Nor are they waited for. */
Test(driver_queued, launches_keep_what_they_were_asked_for, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUgraph g, changed;
    CUgraphNode n;
    CUgraphExec x;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&g, 0));
    n = add_fill(g, NULL, cell, 1);
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphCreate(&changed, 0));
    add_fill(changed, NULL, cell, 3);
    hold(s);
    OK(cuGraphLaunch(x, s));
    OK(cuMemcpyDtoDAsync(cell + 4, cell, 4, s));
    const CUDA_MEMSET_NODE_PARAMS p = {
        .dst = cell, .value = 2, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphExecMemsetNodeSetParams(x, n, &p, driver_context));
    OK(cuGraphLaunch(x, s));
    OK(cuMemcpyDtoDAsync(cell + 8, cell, 4, s));
    OK(cuGraphExecUpdate(x, changed, &info));
    OK(cuGraphLaunch(x, s));
    OK(cuMemcpyDtoDAsync(cell + 12, cell, 4, s));
    OK(cuGraphNodeSetEnabled(x, n, 0));
    OK(cuMemsetD32Async(cell, 9, 1, s));
    OK(cuGraphLaunch(x, s));
    let_go();
    OK(cuStreamSynchronize(s));
    cr_expect(value_at(cell + 4) == 1 && value_at(cell + 8) == 2 && value_at(cell + 12) == 3 &&
              value_at(cell) == 9);
}

/* Parameters are set, attributes stay. */
Test(driver_queued, a_cooperative_node_stays_cooperative, .init = start, .fini = driver_reset)
{
    CUgraph g;
    CUgraphNode n;
    size_t count = 1;
    CUDA_KERNEL_NODE_PARAMS p;
    CUlaunchAttributeValue v;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchCooperativeKernel(driver_kernel("scaled"), 1, 1, 1, 1, 1, 1, 0, s,
                                 (void *[]){&cell}));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, &n, &count));
    OK(cuGraphKernelNodeGetParams(n, &p));
    OK(cuGraphKernelNodeSetParams(n, &p));
    OK(cuGraphKernelNodeGetAttribute(n, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    cr_expect_eq(v.cooperative, 1);
}

/* Its module is gone, and another is where it was. */
Test(driver_queued, a_node_of_an_unloaded_kernel_runs_no_other, .init = start, .fini = driver_reset)
{
    CUmodule other;
    CUfunction f;
    CUgraph g;
    CUgraphNode n;
    CUgraphExec x;
    OK(cuModuleLoadData(&other, driver_ptx));
    OK(cuModuleGetFunction(&f, other, "scaled"));
    const CUDA_KERNEL_NODE_PARAMS p = {.func = f,
                                       .gridDimX = 1,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 1,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .kernelParams = (void *[]){&cell}};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddKernelNode(&n, g, NULL, 0, &p));
    OK(cuModuleUnload(other));
    OK(cuModuleLoadData(&other, driver_ptx));
    OK(cuGraphInstantiate(&x, g, 0));
    IS(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamSynchronize(s));
    cr_expect_eq(value_at(cell), 0);
}

/* A call that fails takes nothing; of a graph with conditions there is one at most ("the graph cannot be cloned"). */
Test(driver_queued, graphs_that_are_not_given_away, .init = start, .fini = driver_reset)
{
    CUgraph g, child, clone;
    CUgraphNode n, wrong;
    CUgraphConditionalHandle handle;
    size_t count = 0;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphCreate(&child, 0));
    wrong = add_fill(child, NULL, cell, 1);
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                           .graph = {.graph = child, .ownership = 1}};
    IS(cuGraphAddNode(&n, g, &wrong, NULL, 1, &p), CUDA_ERROR_INVALID_VALUE);
    IS(cuGraphGetNodes(child, NULL, &count), CUDA_SUCCESS);
    cr_expect_eq(count, 1);
    OK(cuGraphConditionalHandleCreate(&handle, g, driver_context, 0, 0));
    CUgraphNodeParams q = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {
            .handle = handle, .type = CU_GRAPH_COND_TYPE_IF, .size = 1, .ctx = driver_context}};
    OK(cuGraphAddNode(&n, g, NULL, NULL, 0, &q));
    IS(cuGraphClone(&clone, g), CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- several threads --------------------------------------------------------------------------------------- */

static atomic_int begun, passed, destroyed;
static void wait_for(atomic_int *a)
{
    while (!atomic_load(a)) usleep(100);
}
static void slowly(void *unused)
{
    (void)unused;
    atomic_store(&begun, 1);
    wait_for(&passed);
    usleep(100000); /* longer than who asks for it waits */
}
static volatile unsigned *second;
static void *finish_other(void *unused)
{
    (void)unused;
    wait_for(&begun);
    *second = 1;
    OK(cuStreamSynchronize(t));
    atomic_store(&passed, 1);
    return NULL;
}

/* While a function of the host is called, another thread finishes a stream that could have gone on, too. */
Test(driver_queued, another_thread_finishes_a_stream_meanwhile, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    pthread_t other;
    OK(cuMemHostAlloc((void **)&second, 4, 0));
    *second = 0;
    hold(s);
    OK(cuLaunchHostFunc(s, slowly, NULL));
    OK(cuStreamWaitValue32(t, (CUdeviceptr)(uintptr_t)second, 1, CU_STREAM_WAIT_VALUE_EQ));
    cr_assert_eq(pthread_create(&other, NULL, finish_other, NULL), 0);
    let_go();
    OK(cuStreamSynchronize(s));
    pthread_join(other, NULL);
    OK(cuStreamSynchronize(t));
}

static void destroy_slowly(void *unused)
{
    (void)unused;
    atomic_fetch_add(&destroyed, 1);
    atomic_store(&begun, 1);
    wait_for(&passed);
}
static void *ask_meanwhile(void *unused)
{
    (void)unused;
    wait_for(&begun);
    OK(cuCtxSetCurrent(driver_context));
    (void)cuStreamQuery(s);
    (void)cuStreamQuery(t);
    atomic_store(&passed, 1);
    return NULL;
}

/* The last launch of a destroyed graph ends what the graph holds, which is a function of the host. */
Test(driver_queued, another_thread_asks_while_a_launch_ends, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    pthread_t other;
    CUgraph g;
    CUgraphExec x;
    CUuserObject u;
    OK(cuGraphCreate(&g, 0));
    add_fill(g, NULL, cell, 8);
    OK(cuUserObjectCreate(&u, NULL, destroy_slowly, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(g, u, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphInstantiate(&x, g, 0));
    hold(s);
    OK(cuGraphLaunch(x, s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    cr_assert_eq(pthread_create(&other, NULL, ask_meanwhile, NULL), 0);
    let_go();
    OK(cuStreamSynchronize(s));
    pthread_join(other, NULL);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(value_at(cell), 8);
    OK(cuMemsetD32Async(cell, 1, 1, s));
    OK(cuStreamSynchronize(s));
}

static void *fill_meanwhile(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(driver_context));
    wait_for(&begun);
    OK(cuMemsetD32Async(cell + 4, 2, 1, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    atomic_store(&passed, 1);
    return NULL;
}

/* A launch goes on beside its host node that has not returned, while which another thread took a step. */
Test(driver_queued, a_node_waits_though_another_thread_goes_on, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    pthread_t other;
    CUgraph g;
    CUgraphNode host, wait;
    CUgraphExec x;
    CUevent e;
    OK(cuEventCreate(&e, 0));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddHostNode(&host, g, NULL, 0, &(CUDA_HOST_NODE_PARAMS){.fn = slowly}));
    OK(cuGraphAddEventWaitNode(&wait, g, NULL, 0, e));
    add_fill(g, &wait, cell, 4);
    OK(cuGraphInstantiate(&x, g, 0));
    hold(t);
    OK(cuEventRecord(e, t));
    cr_assert_eq(pthread_create(&other, NULL, fill_meanwhile, NULL), 0);
    OK(cuGraphLaunch(x, s));
    pthread_join(other, NULL);
    usleep(150000);
    (void)cuStreamQuery(s);
    cr_expect_eq(value_at(cell), 0);
    let_go();
    OK(cuStreamSynchronize(s));
    cr_expect_eq(value_at(cell), 4);
}

static void *wait_for_other(void *unused)
{
    (void)unused;
    wait_for(&begun);
    OK(cuStreamSynchronize(t));
    atomic_store(&passed, 1);
    return NULL;
}
static void until_passed(void *unused)
{
    (void)unused;
    atomic_store(&begun, 1);
    wait_for(&passed);
}

/* Who waits while another thread calls a function that does not return looks again when that thread goes on. */
Test(driver_queued, who_waits_looks_again_when_nobody_is_at_it, .init = start, .fini = driver_reset,
     .timeout = 30)
{
    pthread_t other;
    OK(cuMemHostAlloc((void **)&second, 4, 0));
    *second = 0;
    OK(cuStreamWaitValue32(t, (CUdeviceptr)(uintptr_t)second, 1, CU_STREAM_WAIT_VALUE_EQ));
    cr_assert_eq(pthread_create(&other, NULL, wait_for_other, NULL), 0);
    OK(cuLaunchHostFunc(s, until_passed, NULL));
    *second = 1;
    pthread_join(other, NULL);
    OK(cuStreamSynchronize(s));
}

/* The end of a program does not wait for what the program alone could do. */
Test(driver_queued, a_program_ends_though_a_stream_waits, .timeout = 30)
{
    int status = -1;
    const pid_t child = fork();
    if (!child) {
        start();
        OK(cuMemsetD32Async(cell, 1, 1, t));
        hold(s);
        exit(0);
    }
    for (int i = 0; i < 100 && waitpid(child, &status, WNOHANG) == 0; i++) usleep(100000);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    if (!WIFEXITED(status)) kill(child, SIGKILL);
}

/* ---- races of streams ---------------------------------------------------------------------------------------- */

static unsigned races;
static void count_races(void *self, const char *text)
{
    (void)self;
    races += strstr(text, "race of ") != NULL;
}

static void start_checked(void)
{
    cuda_device_configure(
        &(struct emu_config){.threads = 1, .memory = 64 << 20, .checks = EMU_CHECK_RACE});
    OK(cuInit(0));
    OK(cuCtxCreate(&driver_context, NULL, 0, 0));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    cell = driver_alloc(4096);
    cuda_device_watch(&(struct cuda_watch){.say = count_races});
}

/* Who has waited for the legacy stream has waited for those that block. */
Test(driver_queued, a_wait_for_the_legacy_stream_orders_what_blocking_ones_did,
     .init = start_checked, .fini = driver_reset)
{
    CUstream blocking;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    for (int i = 0; i < 2; i++) {
        OK(cuMemsetD32Async(cell, 1, 1, blocking));
        if (i) OK(cuStreamQuery(NULL));
        else OK(cuStreamSynchronize(NULL));
        OK(cuMemsetD32Async(cell, 2, 1, s));
        cr_expect_eq(races, 0);
        OK(cuCtxSynchronize());
    }
    OK(cuMemsetD32Async(cell, 1, 1, t));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemsetD32Async(cell, 2, 1, s));
    cr_expect_eq(races, 1, "a non-blocking stream is not waited for");
}

Test(driver_queued, a_node_that_waits_orders_what_it_waits_for, .init = start_checked,
     .fini = driver_reset)
{
    CUgraph g;
    CUgraphNode wait;
    CUgraphExec x;
    CUevent e;
    OK(cuEventCreate(&e, 0));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddEventWaitNode(&wait, g, NULL, 0, e));
    add_fill(g, &wait, cell, 4);
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuMemsetD32Async(cell, 1, 1, t));
    OK(cuEventRecord(e, t));
    OK(cuGraphLaunch(x, s));
    cr_expect_eq(races, 0);
    OK(cuMemsetD32Async(cell, 1, 1, t));
    cr_expect_eq(races, 1, "what comes later is not ordered");
}

/* ---- random ------------------------------------------------------------------------------------------------ */

static void start_random(void)
{
    setenv("HEDDLE_ORDER", "random", 1);
    setenv("HEDDLE_MEMORY", "64M", 1);
    cuda_device_configure(NULL);
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    OK(cuInit(0));
    OK(cuCtxCreate(&driver_context, NULL, 0, 0));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
}
static void stop_random(void)
{
    cuda_device_configure(NULL);
}

/* What the stream has freed is there for what it allocates later. */
Test(driver_queued, memory_that_a_stream_frees_can_be_allocated_again, .init = start_random,
     .fini = stop_random, .timeout = 60)
{
    CUmemoryPool pool;
    CUdeviceptr p;
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  .maxSize = 4 << 20};
    OK(cuMemPoolCreate(&pool, &props));
    for (int i = 0; i < 16; i++) {
        IS(cuMemAllocAsync(&p, 16 << 20, s), CUDA_SUCCESS);
        IS(cuMemFreeAsync(p, s), CUDA_SUCCESS);
        IS(cuMemAllocFromPoolAsync(&p, 4 << 20, pool, s), CUDA_SUCCESS);
        IS(cuMemFreeAsync(p, s), CUDA_SUCCESS);
    }
    IS(cuMemAlloc(&p, 48 << 20), CUDA_SUCCESS);
}
