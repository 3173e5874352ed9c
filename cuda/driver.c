/* The state of the driver API: its start, configuration, handles, devices and contexts. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/caller.h"
#include "cuda/capture.h"
#include "cuda/environment.h"
#include "cuda/graph.h"
#include "cuda/launch_log.h"
#include "cuda/logs.h"
#include "cuda/queue.h"
#include "cuda/recording.h"
#include "cuda/repeats.h"
#include "cuda/report.h"
#include "cuda/unordered.h"
#include "cuda/watch_points.h"

#include "determinism/checks.h"
#include "determinism/orders.h"
#include "emu/cta_arena.h"
#include "emu/gpu.h"
#include "model/estimate_cache.h"
#include "session/event_stream.h"
#include "session/run_log.h"
#include "session/run_observer.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct driver driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static _Thread_local bool in_host_function;

enum { STACK = 64 };
static _Thread_local struct {
    struct CUctx_st *at[STACK];
    unsigned depth, generation;
} stack;

/* ---- the lock, and what every call checks -------------------------------------------------------- */

void driver_lock(void)
{
    pthread_mutex_lock(&lock);
    unordered_enter();
}

void driver_unlock(void)
{
    if (!in_host_function) unordered_exit();
    pthread_mutex_unlock(&lock);
}

static unsigned sleepers;

void driver_sleep(void)
{
    sleepers++;
    pthread_cond_wait(&progress, &lock);
    unordered_enter(); /* another thread may have left the driver meanwhile */
    sleepers--;
}

bool driver_sleep_until(const struct timespec *time)
{
    sleepers++;
    const bool woken = pthread_cond_timedwait(&progress, &lock, time) == 0;
    unordered_enter();
    sleepers--;
    return woken;
}

void driver_wait(pthread_cond_t *c)
{
    pthread_cond_wait(c, &lock);
    unordered_enter();
}

void driver_wake(void)
{
    if (sleepers) pthread_cond_broadcast(&progress);
}

void driver_host_function(bool in_it)
{
    in_host_function = in_it;
}

bool driver_is_host_function(void)
{
    return in_host_function;
}

unsigned long long driver_thread(void)
{
    static unsigned long long threads; /* the lock is held */
    static _Thread_local unsigned long long number;
    if (!number) number = ++threads;
    return number;
}

static struct CUctx_st *current_context(void)
{
    if (stack.generation != driver.generation) {
        stack.depth = 0;
        stack.generation = driver.generation;
    }
    return stack.depth ? stack.at[stack.depth - 1] : NULL;
}

CUresult driver_begin_without(void)
{
    driver_lock();
    return driver.initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* `of`: the context of a handle that the call was given; NULL: the current one. */
static CUresult begin(struct CUctx_st *of, struct CUctx_st **context)
{
    if (in_host_function) return CUDA_ERROR_NOT_PERMITTED;
    driver.begun++;
    *context = of ? of : current_context();
    if (!*context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!object_check(*context, OBJECT_CONTEXT)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return (*context)->broken;
}

CUresult driver_begin(struct CUctx_st **context)
{
    const CUresult r = driver_begin_without();
    return r == CUDA_SUCCESS ? begin(NULL, context) : r;
}

CUresult driver_begin_on(CUstream stream, struct CUctx_st **context)
{
    const CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return r;
    const struct CUstream_st *s = object_check(stream, OBJECT_STREAM);
    return begin(s ? s->context : NULL, context);
}

CUresult driver_begin_event(CUevent event, struct CUctx_st **context)
{
    const CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return r;
    const struct CUevent_st *e = object_check(event, OBJECT_EVENT);
    const CUresult begun = begin(e ? e->context : NULL, context);
    return begun == CUDA_SUCCESS && !e ? CUDA_ERROR_INVALID_HANDLE : begun;
}

/* A call has failed: that goes to the log, and with the check to the user. A fault of a launch is reported once by its
 * context. CUDA_ERROR_NOT_READY is no failure. */
static void say_failed(CUresult result, const char *name, bool of_runtime)
{
    struct caller c;
    struct CUctx_st *now = current_context();
    const bool lasting = object_check(now, OBJECT_CONTEXT) && now->broken == result;
    if (lasting || result == CUDA_ERROR_NOT_READY) return;
    caller_name(&c);
    if (c.from_runtime && !of_runtime) return; /* which reports the result */
    logs_add("%s: %s", *c.call ? c.call : "a call", name);
    if (!(driver.config.checks & EMU_CHECK_API)) return;
    caller_find(&c);
    driver_find("heddle: %s failed: %s\n%s", *c.call ? c.call : "a call", name,
                c.stack ? c.stack : "");
    caller_free(&c);
}

CUresult driver_end(CUresult result)
{
    const char *name = "an unknown error";
    if (result != CUDA_SUCCESS) {
        (void)cuGetErrorName(result, &name);
        say_failed(result, name, false);
    }
    driver_unlock();
    return result;
}

CUresult driver_refuse(CUresult result)
{
    driver_lock();
    return driver_end(result);
}

void heddle_call_failed(unsigned result, const char *name)
{
    driver_lock();
    if (driver.initialised) say_failed((CUresult)result, name, true);
    driver_unlock();
}

/* ---- objects --------------------------------------------------------------------------------------- */

/* All objects there are, by address: a handle that is none is found out before it is looked into. */
static size_t place_of(const void *object)
{
    size_t i = ((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) & (driver.objects.cap - 1);
    while (driver.objects.table[i] && driver.objects.table[i] != object)
        i = (i + 1) & (driver.objects.cap - 1);
    return i;
}

static void know(void *object)
{
    if (driver.objects.count * 2 >= driver.objects.cap) {
        void **old = driver.objects.table;
        const size_t n = driver.objects.cap;
        driver.objects.cap = n ? 2 * n : 64;
        driver.objects.table = calloc(driver.objects.cap, sizeof *driver.objects.table);
        if (!driver.objects.table) abort();
        for (size_t i = 0; i < n; i++)
            if (old[i]) driver.objects.table[place_of(old[i])] = old[i];
        free(old);
    }
    driver.objects.table[place_of(object)] = object;
    driver.objects.count++;
}

static unsigned list_of(unsigned kind)
{
    return kind - OBJECT_CONTEXT;
}

void *object_new(enum object_kind kind, size_t size)
{
    struct object *o = driver.objects.unused[list_of(kind)];
    struct object *next = NULL;
    if (o) {
        driver.objects.unused[list_of(kind)] = o->next_free;
        next = o->next;
        memset(o, 0, size);
    } else {
        o = calloc(1, size);
        if (!o) abort();
        next = driver.objects.all[list_of(kind)];
        driver.objects.all[list_of(kind)] = o;
        know(o);
    }
    o->kind = o->was = kind;
    o->next = next;
    return o;
}

void object_destroy(struct object *o)
{
    o->kind = OBJECT_NONE;
    object_reuse(o);
}

void object_reuse(struct object *o)
{
    o->next_free = driver.objects.unused[list_of(o->was)];
    driver.objects.unused[list_of(o->was)] = o;
}

void *object_check(void *handle, enum object_kind kind)
{
    struct object *o = driver.objects.count ? driver.objects.table[place_of(handle)] : NULL;
    return o && handle && o->kind == (unsigned)kind ? o : NULL;
}

/* ---- start and end --------------------------------------------------------------------------------- */

const char *const driver_call_names[CALL_COUNT] = {
    [CALL_MEM_ALLOC] = "cuMemAlloc",
    [CALL_MEM_ALLOC_ASYNC] = "cuMemAllocAsync",
    [CALL_MEM_ALLOC_FROM_POOL] = "cuMemAllocFromPoolAsync",
    [CALL_MEM_ALLOC_PITCH] = "cuMemAllocPitch",
    [CALL_MEM_ALLOC_MANAGED] = "cuMemAllocManaged",
    [CALL_MEM_HOST_REGISTER] = "cuMemHostRegister",
    [CALL_MEM_HOST_UNREGISTER] = "cuMemHostUnregister",
    [CALL_MEM_HOST_ALLOC] = "cuMemHostAlloc",
    [CALL_MEM_FREE] = "cuMemFree",
    [CALL_MEM_FREE_ASYNC] = "cuMemFreeAsync",
    [CALL_MEM_FREE_HOST] = "cuMemFreeHost",
    [CALL_MEM_ADDRESS_RESERVE] = "cuMemAddressReserve",
    [CALL_MEM_SET_ACCESS] = "cuMemSetAccess",
    [CALL_MEM_UNMAP] = "cuMemUnmap",
    [CALL_ARRAY_CREATE] = "cuArrayCreate",
    [CALL_ARRAY_3D_CREATE] = "cuArray3DCreate",
    [CALL_MIPMAP_CREATE] = "cuMipmappedArrayCreate",
    [CALL_ARRAY_DESTROY] = "cuArrayDestroy",
    [CALL_MIPMAP_DESTROY] = "cuMipmappedArrayDestroy",
    [CALL_CONTEXT_DESTROY] = "cuCtxDestroy",
};

unsigned driver_site(void)
{
    return driver.config.checks & (EMU_CHECK_MEMORY | EMU_CHECK_INIT | EMU_CHECK_SYNC)
               ? caller_note()
               : 0;
}

static void note_site(struct calls *c)
{
    if (!(driver.config.checks & EMU_CHECK_MEMORY)) return;
    if (c->count >= c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->sites = realloc(c->sites, c->capacity * sizeof *c->sites);
        if (!c->sites) abort();
    }
    c->sites[c->count] = driver.site ? driver.site : caller_note();
}

struct call_name driver_call(enum numbered_call call)
{
    struct call_name n;
    struct calls *c = &driver.calls[call];
    note_site(c);
    snprintf(n.text, sizeof n.text, "%s #%llu", driver_call_names[call], ++c->count);
    return n;
}

static pid_t process; /* that has made the device */

/* A process that the program made by fork() has copies of what is open and queued. They are not its own. */
static void at_exit(void)
{
    if (process != getpid()) {
        driver_recording_of_parent();
        if (driver.reports.counts_path) __fpurge(driver.reports.counts_file.out);
        return;
    }
    driver_lock();
    if (!queue_end())
        driver_say(
            "heddle: a stream waits for a value that nobody has written (cuStreamWaitValue): what is behind it is not done\n");
    driver_report_end();
    driver_unlock();
}

/* Whoever started the program learns that it computed nothing, whatever its exit status. */
static void no_device(void)
{
    driver_say("heddle: the device could not be created\n");
    event_stream_totals(driver.reports.events)->no_device++;
}

CUresult cuInit(unsigned flags)
{
    static bool registered;
    if (flags) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    if (driver.initialised) return driver_end(CUDA_SUCCESS);
    if (!driver.configured && !environment_read(&driver.config)) {
        no_device();
        return driver_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (!driver.config.gpu) driver.config.gpu = emu_gpu_find("h100");
    if (!driver.config.order) {
        char *why; /* NULL: environment_read() has checked the order */
        driver.orders = orders_new(driver.order, driver.seed, &why);
        char name[1024];
        snprintf(name, sizeof name, "%s, seed %llu", driver.order ? driver.order : "native",
                 (unsigned long long)driver.seed);
        driver.config.order = driver_recorded_order(orders_get(driver.orders), name);
    }
    if (!driver.cta_arena) driver.cta_arena = cta_arena_new();
    if (!driver.config.cta_arena) driver.config.cta_arena = driver.cta_arena;
    driver.emu = emu_new(&driver.config);
    run_observer_device(driver_run_observer(), driver.emu);
    driver.checks = checks_new(driver.config.checks);
    driver.unified = emu_unify(driver.emu);
    driver.limits = limits_of(driver.config.gpu);
    driver.queues.adversary = driver.order && strncmp(driver.order, "random", 6) == 0;
    driver.queues.choices = driver.seed;
    if (driver.reports.estimates &&
        driver.limits.major < 9) /* of whatever the program has PTX for */
        driver.limits.major = 9, driver.limits.minor = 0;
    if (driver.config.sms) driver.limits.sms = (int)driver.config.sms;
    driver.initialised = true;
    event_stream_totals(driver.reports.events)->devices++;
    process = getpid();
    if (!registered) registered = atexit(at_exit) == 0;
    return driver_end(CUDA_SUCCESS);
}

static void reset(void)
{
    if (!driver.initialised) return;
    queue_drop();
    for (struct object *o = driver.objects.all[list_of(OBJECT_STREAM)]; o; o = o->next)
        unordered_leave((struct CUstream_st *)o);
    launch_log_drop();
    repeats_say();
    unordered_end();
    capture_drop_all();
    graph_drop_all(NULL);
    for (struct object *o = driver.objects.all[list_of(OBJECT_EVENT)]; o; o = o->next)
        if (o->kind == OBJECT_EVENT) event_destroy((struct CUevent_st *)o);
    if (driver.configured) driver_report_leaks();
    driver_write_counts();
    for (struct object *o = driver.objects.all[list_of(OBJECT_MODULE)]; o; o = o->next)
        if (o->kind == OBJECT_MODULE) module_destroy((struct CUmod_st *)o);
    for (struct object *o = driver.objects.all[list_of(OBJECT_LINK)]; o; o = o->next)
        if (o->kind == OBJECT_LINK) link_destroy((struct CUlinkState_st *)o);
    virtual_drop();
    for (unsigned i = 0; i < OBJECT_KINDS; i++)
        for (struct object *o = driver.objects.all[i], *next; o; o = next) {
            next = o->next;
            free(o);
        }
    for (size_t i = 0; i < driver.memory.count; i++)
        advice_free(driver.memory.allocations[i].advice);
    for (size_t i = 0; i < CALL_COUNT; i++) free(driver.calls[i].sites);
    caller_drop_notes();
    emu_profile_free(driver.reports.profile);
    emu_fidelity_free(driver.reports.fidelity);
    estimate_cache_free(driver.reports.estimates);
    graph_memory_drop();
    free(driver.memory.allocations);
    free(driver.objects.table);
    free((void *)driver.queues.busy);
    emu_free(driver.emu);
    checks_free(driver.checks);
    if (driver.orders) driver.config.order = NULL;
    orders_free(driver.orders);
    driver = (struct driver){.configured = driver.configured,
                             .config = driver.config,
                             .cta_arena = driver.cta_arena,
                             .watch = driver.watch,
                             .generation = driver.generation + 1};
}

void cuda_device_reset(void)
{
    driver_lock();
    reset();
    driver_unlock();
}

void cuda_device_configure(const struct emu_config *config)
{
    driver_lock();
    reset();
    driver.configured = config != NULL;
    driver.config = config ? *config : (struct emu_config){0};
    driver_unlock();
}

const char *cuda_device_note(void)
{
    return checks_note(driver.checks);
}

void cuda_device_watch(const struct cuda_watch *watch)
{
    driver_lock();
    driver.watch = watch ? *watch : (struct cuda_watch){0};
    driver_unlock();
}

struct run_observer *driver_run_observer(void)
{
    struct run_observer *own = driver.reports.run_observer;
    return own ? own : driver.watch.run_observer;
}

struct emu *cuda_device_emu(void)
{
    return driver.emu;
}

/* ---- contexts -------------------------------------------------------------------------------------- */

bool device_ok(CUdevice device)
{
    return device == 0;
}

static struct CUctx_st *context_new(unsigned flags, unsigned api_version)
{
    struct CUctx_st *c = object_new(OBJECT_CONTEXT, sizeof *c);
    c->flags = flags;
    c->api_version = api_version;
    c->id = ++driver.serial;
    c->limits[CU_LIMIT_STACK_SIZE] = 1024;
    c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = (size_t)1 << 20;
    c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = driver.config.heap ? driver.config.heap
                                                              : (size_t)8 << 20;
    c->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    c->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    c->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    return c;
}

/* What its streams have still to do is done. */
static void finish_streams(struct CUctx_st *c)
{
    for (struct object *o = driver.objects.all[list_of(OBJECT_STREAM)]; o; o = o->next)
        if (o->kind == OBJECT_STREAM && ((struct CUstream_st *)o)->context == c)
            capture_leave((struct CUstream_st *)o);
    (void)queue_wait_context(c);
}

/* Memory, modules, streams and events of it; `by` names the call. */
static void release_all(struct CUctx_st *c, const char *by)
{
    finish_streams(c);
    graph_drop_all(c);
    if (driver.config.checks & EMU_CHECK_MEMORY) {
        allocation_leaks(c);
        array_leaks(c);
    }
    texture_drop(c);
    allocation_drop(c, by);
    array_drop(c, by);
    for (struct object *o = driver.objects.all[list_of(OBJECT_MODULE)]; o; o = o->next)
        if (o->kind == OBJECT_MODULE && ((struct CUmod_st *)o)->context == c)
            module_destroy((struct CUmod_st *)o);
    for (struct object *o = driver.objects.all[list_of(OBJECT_STREAM)]; o; o = o->next)
        if (o->kind == OBJECT_STREAM && ((struct CUstream_st *)o)->context == c) {
            unordered_leave((struct CUstream_st *)o);
            object_destroy(o);
        }
    c->legacy = NULL;
    for (struct object *o = driver.objects.all[list_of(OBJECT_EVENT)]; o; o = o->next)
        if (o->kind == OBJECT_EVENT && ((struct CUevent_st *)o)->context == c)
            event_destroy((struct CUevent_st *)o);
}

static CUresult push(struct CUctx_st *c)
{
    current_context();
    if (stack.depth == STACK) return CUDA_ERROR_INVALID_VALUE;
    stack.at[stack.depth++] = c;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *context, unsigned flags, CUdevice device, unsigned api_version)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!context || flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return driver_end(CUDA_ERROR_INVALID_VALUE);
    if (!device_ok(device)) return driver_end(CUDA_ERROR_INVALID_DEVICE);
    struct CUctx_st *c = context_new(flags, api_version);
    *context = c;
    return driver_end(push(c));
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    return create(context, flags, device, 3020);
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *params, int count, unsigned flags,
                        CUdevice device)
{
    if (params || count) return driver_refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    return create(context, flags, device, 11040);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags,
                        CUdevice device)
{
    if (params && params->numExecAffinityParams)
        return driver_refuse(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    if (params && params->cigParams) {
        heddle_absent("cuCtxCreate with CUctxCreateParams.cigParams");
        return driver_refuse(CUDA_ERROR_NOT_SUPPORTED);
    }
    return create(context, flags, device, 12050);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUctx_st *c = object_check(context, OBJECT_CONTEXT);
    if (!c || c->primary) return driver_end(CUDA_ERROR_INVALID_CONTEXT);
    if (current_context() == c) stack.depth--;
    release_all(c, driver_call(CALL_CONTEXT_DESTROY).text);
    object_destroy(&c->object);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS)
        r = object_check(context, OBJECT_CONTEXT) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
    return driver_end(r);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUctx_st *c = current_context();
    if (!c) return driver_end(CUDA_ERROR_INVALID_CONTEXT);
    stack.depth--;
    if (context) *context = c;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (context && !object_check(context, OBJECT_CONTEXT))
        return driver_end(CUDA_ERROR_INVALID_CONTEXT);
    if (current_context()) stack.depth--;
    return driver_end(context ? push(context) : CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && !context) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *context = current_context();
    return driver_end(r);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !device) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *device = 0;
    return driver_end(r);
}

/* NULL: the current one. */
static CUresult begin_context(CUcontext context, struct CUctx_st **c)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return r;
    *c = context ? context : current_context();
    return object_check(*c, OBJECT_CONTEXT) ? (*c)->broken : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    struct CUctx_st *c;
    CUresult r = begin_context(context, &c);
    if (r == CUDA_SUCCESS && !device) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *device = 0;
    return driver_end(r);
}

CUresult cuCtxSetFlags(unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && flags & ~(unsigned)CU_CTX_FLAGS_MASK) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) c->flags = flags;
    return driver_end(r);
}

/* There is one device, and none is its own peer. */
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = object_check(peer, OBJECT_CONTEXT) ? CUDA_ERROR_INVALID_DEVICE
                                               : CUDA_ERROR_INVALID_CONTEXT;
    return driver_end(r);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS)
        r = object_check(peer, OBJECT_CONTEXT) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
                                               : CUDA_ERROR_INVALID_CONTEXT;
    return driver_end(r);
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *flags = c->flags;
    return driver_end(r);
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUctx_st *c = context ? context : current_context();
    if (!object_check(c, OBJECT_CONTEXT)) return driver_end(CUDA_ERROR_INVALID_CONTEXT);
    if (!id) return driver_end(CUDA_ERROR_INVALID_VALUE);
    *id = c->id;
    return driver_end(CUDA_SUCCESS);
}

static CUresult synchronise(CUresult begun, const struct CUctx_st *c)
{
    CUresult r = begun == CUDA_SUCCESS ? capture_unsafe() : begun;
    if (r == CUDA_SUCCESS) r = queue_wait_context(c);
    if (r == CUDA_SUCCESS) pools_synchronise();
    return driver_end(r);
}

CUresult cuCtxSynchronize(void)
{
    struct CUctx_st *c = NULL;
    const CUresult r = driver_begin(&c);
    return synchronise(r, c);
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
    struct CUctx_st *c = NULL;
    const CUresult r = begin_context(context, &c);
    return synchronise(r, c);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    if ((unsigned)limit >= sizeof c->limits / sizeof *c->limits)
        return driver_end(CUDA_ERROR_UNSUPPORTED_LIMIT);
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE && !emu_heap_limit(driver.emu, value))
        return driver_end(CUDA_ERROR_OUT_OF_MEMORY);
    c->limits[limit] = value;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!value) return driver_end(CUDA_ERROR_INVALID_VALUE);
    if ((unsigned)limit >= sizeof c->limits / sizeof *c->limits)
        return driver_end(CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = c->limits[limit];
    return driver_end(CUDA_SUCCESS);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !config) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *config = c->cache;
    return driver_end(r);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) c->cache = config;
    return driver_end(r);
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !config) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return driver_end(r);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r); /* a hint that no device since 3.5 heeds */
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUctx_st *c = context ? context : current_context();
    if (!object_check(c, OBJECT_CONTEXT)) return driver_end(CUDA_ERROR_INVALID_CONTEXT);
    if (!version) return driver_end(CUDA_ERROR_INVALID_VALUE);
    *version = c->api_version;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return driver_end(CUDA_SUCCESS);
}

/* ---- the primary context ------------------------------------------------------------------------------ */

static CUresult begin_device(CUdevice device)
{
    CUresult r = driver_begin_without();
    return r == CUDA_SUCCESS && !device_ok(device) ? CUDA_ERROR_INVALID_DEVICE : r;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult r = begin_device(device);
    if (r == CUDA_SUCCESS && !context) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!driver.primary) {
        driver.primary = context_new(driver.primary_flags, 3020);
        driver.primary->primary = true;
    }
    driver.primary->retained++;
    *context = driver.primary;
    return driver_end(CUDA_SUCCESS);
}

static void drop_primary(void)
{
    release_all(driver.primary, "cuDevicePrimaryCtxRelease");
    object_destroy(&driver.primary->object);
    driver.primary = NULL;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult r = begin_device(device);
    if (r == CUDA_SUCCESS && !driver.primary) r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && --driver.primary->retained == 0) drop_primary();
    return driver_end(r);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUresult r = begin_device(device);
    if (r != CUDA_SUCCESS || !driver.primary) return driver_end(r);
    struct CUctx_st *c = driver.primary; /* its handle stays good, all it held is gone */
    release_all(c, "cuDevicePrimaryCtxReset");
    c->broken = CUDA_SUCCESS;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    CUresult r = begin_device(device);
    if (r == CUDA_SUCCESS && flags & ~(unsigned)CU_CTX_FLAGS_MASK) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    driver.primary_flags = flags;
    if (driver.primary) driver.primary->flags = flags;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    CUresult r = begin_device(device);
    if (r == CUDA_SUCCESS && (!flags || !active)) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    *flags = driver.primary_flags;
    *active = driver.primary != NULL;
    return driver_end(CUDA_SUCCESS);
}
