/* Memory pools and stream-ordered allocation.
 *
 * Memory is allocated at the call, and freed when its stream executes the free operation. A pool counts the bytes that its
 * allocations use, and the bytes that it would reserve from the device: whole units, which stay reserved above the
 * threshold until the host waits. Reserved but unused bytes are only counted; other pools can use that memory.
 *
 * There are three places: the device, the host, and managed memory, each with a default pool and a current
 * one. Pools are not shared between processes: no handle type is supported. */
#include "cuda/capture.h"
#include "cuda/graph.h"
#include "cuda/queue.h"

enum { UNIT = 2 << 20 };

struct CUmemPoolHandle_st {
    struct object object;
    enum pool_place place;
    uint64_t used, used_high, held, held_high, threshold;
    uint64_t most;            /* of `used` */
    int reuse[3];             /* CU_MEMPOOL_ATTR_REUSE_...: there is nothing that they change */
    CUmemAccess_flags device; /* what the device may do with it, as cuMemPoolGetAccess reports it */
    bool is_default, ended;
};

static uint64_t units(uint64_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct CUmemPoolHandle_st *pool_new(enum pool_place place)
{
    struct CUmemPoolHandle_st *p = object_new(OBJECT_POOL, sizeof *p);
    p->place = place;
    p->most = UINT64_MAX;
    p->device = place == POOL_HOST ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                                   : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < 3; i++) p->reuse[i] = 1;
    return p;
}

static struct CUmemPoolHandle_st *default_pool(enum pool_place place)
{
    struct CUmemPoolHandle_st **p = &driver.memory.default_pools[place];
    if (!*p) (*p = pool_new(place))->is_default = true;
    return *p;
}

static struct CUmemPoolHandle_st *current_pool(enum pool_place place)
{
    struct CUmemPoolHandle_st *p = driver.memory.current_pools[place];
    return p ? p : default_pool(place);
}

static void hold(struct CUmemPoolHandle_st *p, uint64_t bytes)
{
    driver.memory.pools_idle -= p->held - p->used;
    p->held = bytes;
    p->held_high = higher(p->held_high, bytes);
    driver.memory.pools_idle += p->held - p->used;
}

static void use(struct CUmemPoolHandle_st *p, uint64_t bytes)
{
    driver.memory.pools_idle += p->used;
    p->used = bytes;
    p->used_high = higher(p->used_high, bytes);
    driver.memory.pools_idle -= p->used;
}

static void trim(struct CUmemPoolHandle_st *p, uint64_t keep)
{
    if (p->held > keep)
        hold(p, higher(units(p->used), units(keep) < p->held ? units(keep) : p->held));
}

void pool_give_back(struct CUmemPoolHandle_st *p, uint64_t size)
{
    use(p, p->used - size);
    if (!p->ended || p->used) return;
    hold(p, 0);
    object_destroy(&p->object);
}

void pools_synchronise(void)
{
    if (!driver.memory.pools_idle) return;
    for (struct object *o = driver.objects.all[OBJECT_POOL - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUmemPoolHandle_st *p = (struct CUmemPoolHandle_st *)o;
        if (o->kind == OBJECT_POOL) trim(p, p->threshold);
    }
}

/* ---- allocation ----------------------------------------------------------------------------------------- */

static CUresult take(struct CUctx_st *c, struct CUmemPoolHandle_st *p, size_t size,
                     enum numbered_call call, CUdeviceptr *address)
{
    static const enum allocation_kind kinds[] = {[POOL_DEVICE] = ALLOCATION_DEVICE,
                                                 [POOL_HOST] = ALLOCATION_PINNED,
                                                 [POOL_MANAGED] = ALLOCATION_MANAGED};
    struct allocation *a;
    if (size > p->most - p->used) queue_do_all(); /* some of it may be freed there */
    if (size > p->most - p->used) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = allocation_new(c, kinds[p->place], size, NULL, call, &a);
    if (r != CUDA_SUCCESS) return r;
    a->pool = p;
    emu_set_access(driver.emu, a->address, p->device != CU_MEM_ACCESS_FLAGS_PROT_NONE);
    *address = a->address;
    if (units(p->used + size) > p->held) hold(p, units(p->used + size));
    use(p, p->used + size);
    return CUDA_SUCCESS;
}

static CUresult begin_alloc(struct CUctx_st **c, const CUdeviceptr *address, CUstream stream)
{
    CUresult r = driver_begin_on(stream, c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS && !address ? CUDA_ERROR_INVALID_VALUE : r;
}

/* Of a capture it becomes a node, and the memory is the graph's. */
static CUresult allocate(struct CUctx_st *c, CUstream stream, struct CUmemPoolHandle_st *p,
                         size_t size, enum numbered_call call, CUdeviceptr *address)
{
    struct work w;
    struct CUstream_st *s = stream_of(c, stream);
    CUresult r = capture_use(s, false);
    if (r != CUDA_SUCCESS) return r;
    if (!s->capture) return take(c, p, size, call, address);
    if (p->place != POOL_DEVICE) {
        capture_invalidate(s->capture);
        return heddle_absent(
            "cuMemAllocFromPoolAsync in a capture, of a pool that is not the device's");
    }
    r = graph_memory_work(&w, c, size, address);
    return r == CUDA_SUCCESS ? capture_add(s, &w) : r;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = begin_alloc(&c, address, stream);
    if (r == CUDA_SUCCESS)
        r = allocate(c, stream, current_pool(POOL_DEVICE), size, CALL_MEM_ALLOC_ASYNC, address);
    return driver_end(r);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                                 CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = begin_alloc(&c, address, stream);
    if (r == CUDA_SUCCESS && !object_check(pool, OBJECT_POOL)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = allocate(c, stream, pool, size, CALL_MEM_ALLOC_FROM_POOL, address);
    return driver_end(r);
}

/* ---- pools ------------------------------------------------------------------------------------------------ */

static CUresult place_of(const CUmemLocation *l, CUmemAllocationType type, enum pool_place *place)
{
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return *place = POOL_MANAGED, CUDA_SUCCESS;
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    switch (l->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        *place = POOL_DEVICE;
        return device_ok(l->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: *place = POOL_HOST; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    enum pool_place place = POOL_DEVICE;
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && (!pool || !props)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = place_of(&props->location, props->allocType, &place);
    if (r == CUDA_SUCCESS && props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r != CUDA_SUCCESS) return driver_end(r);
    *pool = pool_new(place);
    if (props->maxSize) (*pool)->most = props->maxSize;
    return driver_end(CUDA_SUCCESS);
}

static CUresult begin_pool(CUmemoryPool pool)
{
    CUresult r = driver_begin_without();
    return r == CUDA_SUCCESS && !object_check(pool, OBJECT_POOL) ? CUDA_ERROR_INVALID_VALUE : r;
}

/* What is allocated of it stays, and the pool with it. */
CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult r = begin_pool(pool);
    if (r == CUDA_SUCCESS && pool->is_default) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (driver.memory.current_pools[pool->place] == pool)
        driver.memory.current_pools[pool->place] = NULL;
    pool->ended = true;
    pool->object.kind = OBJECT_NONE;
    pool_give_back(pool, 0);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    CUresult r = begin_pool(pool);
    if (r == CUDA_SUCCESS) trim(pool, keep);
    return driver_end(r);
}

static CUresult set(struct CUmemPoolHandle_st *p, CUmemPool_attribute attribute, const void *value)
{
    uint64_t number = 0;
    int flag = 0;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        memcpy(&flag, value, sizeof flag);
        p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = flag != 0;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        memcpy(&p->threshold, value, sizeof p->threshold);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        memcpy(&number, value, sizeof number);
        if (number) return CUDA_ERROR_INVALID_VALUE; /* it can only begin again */
        if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) p->used_high = p->used;
        else p->held_high = p->held;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    CUresult r = begin_pool(pool);
    if (r == CUDA_SUCCESS) r = value ? set(pool, attribute, value) : CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

static CUresult get(const struct CUmemPoolHandle_st *p, CUmemPool_attribute attribute, void *value)
{
    uint64_t number;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        memcpy(value, &p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES],
               sizeof(int));
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: number = p->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: number = p->held; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: number = p->held_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: number = p->used; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: number = p->used_high; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    CUresult r = begin_pool(pool);
    if (r == CUDA_SUCCESS) r = value ? get(pool, attribute, value) : CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

/* ---- who may use it ----------------------------------------------------------------------------------------- */

/* The host may use its pools and managed memory, always; a pool of the device is the device's alone. */
static CUmemAccess_flags host_access(const struct CUmemPoolHandle_st *p)
{
    return p->place == POOL_DEVICE ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                                   : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static bool of_host(const CUmemLocation *l)
{
    return l->type == CU_MEM_LOCATION_TYPE_HOST || l->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           l->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* Only the access of the device to a pool of the host can be granted and revoked. */
static CUresult check_access(const struct CUmemPoolHandle_st *p, const CUmemAccessDesc *d)
{
    const bool all = d->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!all && d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) return CUDA_ERROR_INVALID_VALUE;
    if (of_host(&d->location))
        return d->flags == host_access(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (!device_ok(d->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    return all || p->place == POOL_HOST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    CUresult r = begin_pool(pool);
    if (r == CUDA_SUCCESS && !list && count) r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) r = check_access(pool, &list[i]);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (!of_host(&list[i].location)) pool->device = list[i].flags;
    if (r == CUDA_SUCCESS && pool->place == POOL_HOST) {
        queue_settle();
        for (size_t i = 0; i < driver.memory.count; i++)
            if (driver.memory.allocations[i].pool == pool)
                emu_set_access(driver.emu, driver.memory.allocations[i].address,
                               pool->device != CU_MEM_ACCESS_FLAGS_PROT_NONE);
    }
    return driver_end(r);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    CUresult r = begin_pool(pool);
    if (r == CUDA_SUCCESS && (!flags || !location)) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE && !device_ok(location->id))
        return driver_end(CUDA_ERROR_INVALID_DEVICE);
    *flags = location->type == CU_MEM_LOCATION_TYPE_DEVICE ? pool->device : host_access(pool);
    return driver_end(CUDA_SUCCESS);
}

/* ---- default and current pools ------------------------------------------------------------------------------ */

static CUresult begin_place(const CUmemLocation *l, CUmemAllocationType type, const void *out,
                            enum pool_place *place)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && (!l || !out)) r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? place_of(l, type, place) : r;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                CUmemAllocationType type)
{
    enum pool_place place = POOL_DEVICE;
    CUresult r = begin_place(location, type, pool, &place);
    if (r == CUDA_SUCCESS) *pool = default_pool(place);
    return driver_end(r);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    enum pool_place place = POOL_DEVICE;
    CUresult r = begin_place(location, type, pool, &place);
    if (r == CUDA_SUCCESS) *pool = current_pool(place);
    return driver_end(r);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    enum pool_place place = POOL_DEVICE;
    CUresult r = begin_place(location, type, pool, &place);
    if (r == CUDA_SUCCESS && (!object_check(pool, OBJECT_POOL) || pool->place != place))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) driver.memory.current_pools[place] = pool;
    return driver_end(r);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return cuMemGetDefaultMemPool(pool, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return cuMemGetMemPool(pool, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    CUmemLocation l = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, pool);
}

/* ---- between processes --------------------------------------------------------------------------------------- */

/* No pool was made for a type of handle, so none can be exported, and no handle is one. */
CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    (void)handle, (void)type, (void)flags;
    CUresult r = begin_pool(pool);
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    (void)pool, (void)handle, (void)type, (void)flags;
    CUresult r = driver_begin_without();
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address)
{
    (void)data, (void)address;
    CUresult r = driver_begin_without();
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *address, // NOLINT(readability-non-const-parameter)
                                CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
    (void)address, (void)data;
    CUresult r = begin_pool(pool);
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}
