/* Memory: the table of allocations, device memory, copies, attributes of pointers.
 *
 * There is a unified address space: device addresses are in the emulator's range of addresses, where the host
 * has no mappings of its own. Memory that the host shares (managed, pinned) has the same address on the host
 * as on the device; registered memory keeps its host address and has another device address. Calls accept
 * both: cuMemcpy() and CU_MEMORYTYPE_UNIFIED determine the kind of each pointer; calls whose direction names
 * the kinds return an error if a pointer is of another kind. */
#include "cuda/capture.h"
#include "cuda/graph.h"
#include "cuda/queue.h"
#include "cuda/unordered.h"
#include "cuda/unwritten.h"
#include "cuda/work.h"

#include "session/run_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of allocations ---------------------------------------------------------------------- */

/* The index of the first allocation behind an address; host pointers rise with device addresses. */
static size_t behind(uint64_t address)
{
    size_t from = 0, to = driver.memory.count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (driver.memory.allocations[mid].address <= address) from = mid + 1;
        else to = mid;
    }
    return from;
}

struct allocation *allocation_find(uint64_t address)
{
    size_t i = behind(address);
    struct allocation *a = i ? &driver.memory.allocations[i - 1] : NULL;
    return a && address - a->address < a->size ? a : NULL;
}

struct allocation *allocation_of_host(const void *pointer)
{
    struct allocation *a = allocation_find((uintptr_t)pointer);
    if (a && a->host) return a;
    for (size_t i = 0; driver.memory.registered && i < driver.memory.count; i++) {
        a = &driver.memory.allocations[i];
        if (a->kind != ALLOCATION_REGISTERED) continue;
        if ((uintptr_t)pointer - (uintptr_t)a->host < a->size) return a;
    }
    return NULL;
}

uint64_t allocation_device_address(uint64_t pointer)
{
    if (!driver.memory.registered || allocation_find(pointer)) return pointer;
    const struct allocation *a = allocation_of_host(pointer_of(pointer));
    return a ? a->address + (pointer - (uintptr_t)a->host) : pointer;
}

/* Puts one into the table. */
static struct allocation *add(struct allocation what)
{
    if (driver.memory.count == driver.memory.cap) {
        driver.memory.cap = driver.memory.cap ? 2 * driver.memory.cap : 16;
        driver.memory.allocations = realloc(driver.memory.allocations,
                                            driver.memory.cap * sizeof *driver.memory.allocations);
        if (!driver.memory.allocations) abort();
    }
    size_t i = behind(what.address);
    struct allocation *a = &driver.memory.allocations[i];
    memmove(a + 1, a, (driver.memory.count++ - i) * sizeof *a);
    *a = what;
    a->serial = ++driver.serial;
    driver.memory.registered += a->kind == ALLOCATION_REGISTERED;
    return a;
}

static void take_out(struct allocation *a)
{
    size_t i = (size_t)(a - driver.memory.allocations);
    driver.memory.registered -= a->kind == ALLOCATION_REGISTERED;
    advice_free(a->advice);
    if (a->pool) pool_give_back(a->pool, a->size);
    memmove(a, a + 1, (--driver.memory.count - i) * sizeof *a);
}

/* Its address; 0: device memory is full. */
static uint64_t place(const struct allocation *a, const char *name)
{
    if (a->kind == ALLOCATION_DEVICE) return emu_alloc(driver.emu, a->size, name);
    return a->host ? emu_adopt(driver.emu, a->host, a->size, name)
                   : emu_alloc_shared(driver.emu, a->size, name);
}

CUresult allocation_new(struct CUctx_st *c, enum allocation_kind kind, size_t size, void *host,
                        enum numbered_call call, struct allocation **out)
{
    const struct call_name name = driver_call(call);
    struct allocation a = {.size = size, .kind = kind, .context = c, .host = host};
    if (!size) return CUDA_ERROR_INVALID_VALUE;
    if (call != CALL_MEM_ALLOC_ASYNC && call != CALL_MEM_ALLOC_FROM_POOL &&
        capture_unsafe() != CUDA_SUCCESS)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    queue_settle();
    a.address = place(&a, name.text);
    if (!a.address && driver.queues.busy_count) { /* some may be freed in the queues */
        queue_do_all();
        a.address = place(&a, name.text);
    }
    if (!a.address) return CUDA_ERROR_OUT_OF_MEMORY;
    if (kind != ALLOCATION_DEVICE) a.host = emu_bytes(driver.emu, a.address, size);
    if (kind == ALLOCATION_MANAGED && (uintptr_t)a.host != a.address) {
        driver_say("heddle: %s: the host has something else at 0x%" PRIx64 "\n", name.text,
                   a.address);
        emu_release(driver.emu, a.address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = add(a);
    return CUDA_SUCCESS;
}

void allocation_end(struct allocation *a, const char *by)
{
    emu_release_by(driver.emu, a->address, by);
    take_out(a);
}

void allocation_add_variables(struct CUmod_st *m)
{
    const size_t n = emu_variable_count(m->image);
    for (size_t i = 0; i < n; i++) {
        const struct emu_variable v = emu_variable_at(m->image, i);
        struct allocation *a = add((struct allocation){
            .address = v.address,
            .size = v.size,
            .kind = v.managed ? ALLOCATION_MANAGED : ALLOCATION_DEVICE,
            .context = m->context,
            .module = m,
        });
        if (v.managed) a->host = emu_bytes(driver.emu, v.address, v.size);
    }
}

void allocation_add_mapping(uint64_t address, uint64_t size)
{
    add((struct allocation){.address = address, .size = size, .mapping = true});
}

void allocation_drop_mapping(uint64_t address)
{
    struct allocation *a = allocation_find(address);
    if (a && a->mapping) take_out(a);
}

void allocation_drop_variables(const struct CUmod_st *m)
{
    for (size_t i = driver.memory.count; i-- > 0;)
        if (driver.memory.allocations[i].module == m) take_out(&driver.memory.allocations[i]);
}

/* What was allocated at one place and not released. */
struct leaks {
    unsigned site; /* driver_call_site(); 0: unknown */
    struct emu_allocation first;
    uint64_t count, bytes;
};

static bool is_leak(const struct allocation *a, const struct CUctx_st *c)
{
    return !a->module && !a->mapping && (!c || a->context == c) &&
           !a->context->broken; /* nothing can be freed then */
}

static size_t find_leaks(struct leaks *list, const struct CUctx_st *c)
{
    size_t n = 0, last = 0; /* last: most allocations of a place lie behind each other */
    for (size_t i = 0; i < driver.memory.count; i++) {
        const struct allocation *a = &driver.memory.allocations[i];
        struct emu_allocation known;
        if (!is_leak(a, c) || !emu_allocation_near(driver.emu, a->address, &known)) continue;
        const unsigned site = driver_call_site(known.name);
        size_t k = site && last < n && list[last].site == site ? last : 0;
        while (k < n && (!site || list[k].site != site)) k++;
        if (k == n) list[n++] = (struct leaks){.site = site, .first = known};
        list[k].count++;
        list[k].bytes += known.size;
        last = k;
    }
    return n;
}

void allocation_leaks(const struct CUctx_st *c)
{
    char text[1024];
    struct leaks *list = calloc(driver.memory.count + 1, sizeof *list);
    if (!list) abort();
    const size_t n = find_leaks(list, c);
    for (size_t i = 0; i < n; i++) {
        const struct leaks *l = &list[i];
        int size = snprintf(text, sizeof text,
                            "heddle: leak: '%s', %" PRIu64 " bytes at 0x%" PRIx64
                            ", was not released\n",
                            l->first.name, l->first.size, l->first.address);
        if (l->count > 1 && size > 0 && (size_t)size < sizeof text)
            snprintf(text + size, sizeof text - (size_t)size,
                     "  ... and %" PRIu64 " more from there, %" PRIu64 " bytes in all\n",
                     l->count - 1, l->bytes);
        driver_find_memory(text);
    }
    free(list);
}

void allocation_drop(struct CUctx_st *c, const char *by)
{
    for (size_t i = driver.memory.count; i-- > 0;)
        if (driver.memory.allocations[i].context == c && !driver.memory.allocations[i].module)
            allocation_end(&driver.memory.allocations[i], by);
}

/* ---- allocation -------------------------------------------------------------------------------------- */

static CUresult device_allocate(CUdeviceptr *address, size_t size, enum numbered_call call)
{
    struct CUctx_st *c;
    struct allocation *a;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !address) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = allocation_new(c, ALLOCATION_DEVICE, size, NULL, call, &a);
    if (r == CUDA_SUCCESS) *address = a->address;
    return driver_end(r);
}

CUresult memory_allocate(struct CUctx_st *c, size_t size, CUdeviceptr *address)
{
    struct allocation *a;
    const CUresult r = !address ? CUDA_ERROR_INVALID_VALUE
                                : allocation_new(c, ALLOCATION_DEVICE, size, NULL,
                                                 CALL_MEM_ALLOC_ASYNC, &a);
    if (r == CUDA_SUCCESS) *address = a->address;
    return r;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    return device_allocate(address, size, CALL_MEM_ALLOC);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element_size)
{
    if (!pitch || !width || !height || width > SIZE_MAX / 2)
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    if (element_size != 4 && element_size != 8 && element_size != 16)
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    size_t row = (width + 511) / 512 * 512;
    if (row > SIZE_MAX / height) return driver_refuse(CUDA_ERROR_OUT_OF_MEMORY);
    CUresult r = device_allocate(address, row * height, CALL_MEM_ALLOC_PITCH);
    if (r == CUDA_SUCCESS) *pitch = row;
    return r;
}

/* By an operation that is being done, or by this very call. */
static void find_here(const char *text)
{
    const unsigned site = driver.site;
    if (!site) driver.site = driver_site();
    driver_find_memory(text);
    driver.site = site;
}

void allocation_say_wrong(const char *call, uint64_t address)
{
    struct emu_allocation near;
    char where[1024], text[2048];
    if (!(driver.config.checks & EMU_CHECK_MEMORY)) return;
    bool any = emu_allocation_near(driver.emu, address, &near);
    const char *what = any && !near.live && near.address == address ? "double free"
                                                                    : "invalid free";
    emu_describe(driver.emu, address, where, sizeof where);
    snprintf(text, sizeof text, "heddle: %s: %s of 0x%" PRIx64 "\n%s", what, call, address, where);
    find_here(text);
}

CUresult memory_free(CUdeviceptr address, enum numbered_call call)
{
    struct call_name name = driver_call(call);
    struct allocation *a = allocation_find(address);
    const bool whole = a && a->address == address && !a->module && !a->mapping;
    if (whole && (a->kind == ALLOCATION_DEVICE || a->kind == ALLOCATION_MANAGED || a->pool)) {
        unordered_name("%s", name.text);
        unordered_touch(a->address, a->size, TOUCHED_WRITE);
        allocation_end(a, name.text);
        return CUDA_SUCCESS;
    }
    allocation_say_wrong(name.text, address);
    return CUDA_ERROR_INVALID_VALUE;
}

/* Whatever may still use it is done first. 0 may be freed. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !address) return driver_end(r);
    if (r == CUDA_SUCCESS) r = capture_unsafe();
    const struct allocation *a = r == CUDA_SUCCESS ? allocation_find(address) : NULL;
    if (a && a->context && a->context != c) (void)queue_wait_context(a->context);
    if (r == CUDA_SUCCESS) r = queue_wait_context(c);
    if (r == CUDA_SUCCESS)
        graph_memory_ask(&(struct work){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = address});
    if (r == CUDA_SUCCESS)
        r = graph_memory_is(address) ? graph_memory_give(address)
                                     : memory_free(address, CALL_MEM_FREE);
    return driver_end(r);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = driver_begin_on(stream, &c);
    struct work w = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = address};
    if (r == CUDA_SUCCESS && !address) r = CUDA_ERROR_INVALID_VALUE;
    w.context = r == CUDA_SUCCESS ? c : NULL;
    return stream_call(stream, r, c, &w, false);
}

/* ---- what a pointer is -------------------------------------------------------------------------------- */

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct allocation *a = allocation_find(allocation_device_address(address));
    if (!a) return driver_end(CUDA_ERROR_NOT_FOUND);
    if (base) *base = a->address;
    if (size) *size = a->size;
    return driver_end(CUDA_SUCCESS);
}

static CUresult pointer_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct allocation *a = allocation_find(address);
    uint64_t offset = a ? address - a->address : 0;
    if (!a && (a = allocation_of_host(pointer_of(address))))
        offset = (uintptr_t)address - (uintptr_t)a->host;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!a) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = a->context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = a->host && a->kind != ALLOCATION_MANAGED ? CU_MEMORYTYPE_HOST
                                                                      : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)value = a->address + offset; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!a->host) return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = (char *)a->host + offset;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)value = a->serial; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)value = a->kind == ALLOCATION_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)value = a->address; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)value = a->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned char *)value = 1; break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned *)value = 1; break; /* it cannot be off */
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(unsigned char *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)value = 0; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)value = a->pool; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *(size_t *)value = a->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *(CUdeviceptr *)value = a->address; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: *(unsigned long long *)value = a->serial; break;
    default: /* 5: the tokens of GPUDirect peers; of other numbers there is no attribute */
        return (int)attribute == 5 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS) r = pointer_attribute(value, attribute, address);
    return driver_end(r);
}

/* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS has no effect: calls that CUDA documents as synchronous wait anyway. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                              !allocation_find(allocation_device_address(address))))
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

/* Several at once; of memory that CUDA does not know, it gives zeros instead of an error. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!attributes || !values)) r = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++) {
        if (pointer_attribute(values[i], attributes[i], address) == CUDA_SUCCESS) continue;
        if (!values[i]) r = CUDA_ERROR_INVALID_VALUE;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)values[i] = -2;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED) *(unsigned char *)values[i] = 0;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                 attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
            *(unsigned *)values[i] = 0;
        else *(void **)values[i] = NULL;
    }
    return driver_end(r);
}

/* ---- copies --------------------------------------------------------------------------------------------- */

struct end { /* of a copy: host memory if host is set */
    char *host;
    uint64_t device;
    bool wrong; /* called the host's, and is the device's alone */
};

static struct end in_device(CUdeviceptr address)
{
    return (struct end){.device = allocation_device_address(address)};
}

/* Of the host: what it shares is better found among the device's, where its bounds are known. Without unified
 * addresses both may have memory at this one: then it is the host's. */
static struct end in_host(const void *pointer)
{
    const uint64_t address = (uintptr_t)pointer;
    const struct allocation *a = allocation_find(address);
    if (a && (driver.unified || a->host == pointer_of(a->address)))
        return (struct end){.device = address, .wrong = !a->host};
    if (driver.unified && emu_in_range(driver.emu, address))
        return (struct end){.device = address, .wrong = true};
    return (struct end){.host = pointer_of(address)};
}

static struct end either(CUdeviceptr address)
{
    if (allocation_find(address)) return in_device(address);
    const struct end e = in_host(pointer_of(address));
    return e.host ? e : in_device(address);
}

void allocation_say_outside(const char *what, uint64_t address, size_t size)
{
    struct emu_allocation near;
    char where[1024], text[2048];
    if (!(driver.config.checks & EMU_CHECK_MEMORY) || emu_bytes(driver.emu, address, size)) return;
    bool any = emu_allocation_near(driver.emu, address, &near);
    emu_describe(driver.emu, address, where, sizeof where);
    snprintf(text, sizeof text, "heddle: %s: %s of %zu bytes at 0x%" PRIx64 " by the host\n%s",
             any && !near.live ? "use after free" : "out of bounds", what, size, address, where);
    find_here(text);
}

/* Whether the address is of pinned host memory. */
static bool is_pinned(uint64_t address)
{
    const struct allocation *a = allocation_find(address);
    return a && (a->kind == ALLOCATION_PINNED || a->kind == ALLOCATION_REGISTERED);
}

static CUresult copy(struct end to, struct end from, size_t size)
{
    bool ok = !to.wrong && !from.wrong;
    if (!size) return CUDA_SUCCESS;
    if (!ok) return CUDA_ERROR_INVALID_VALUE;
    if (to.host && from.host) memmove(to.host, from.host, size);
    else if (to.host) ok = emu_copy_out(driver.emu, to.host, from.device, size);
    else if (from.host) ok = emu_copy_in(driver.emu, to.device, from.host, size);
    else ok = emu_copy(driver.emu, to.device, from.device, size);
    if (ok && !to.host && !from.host && is_pinned(from.device) && !is_pinned(to.device))
        emu_in_l2(driver.emu, to.device, size);
    if (ok && !to.host) unordered_touch(to.device, size, TOUCHED_WRITE);
    if (ok && !from.host) unordered_touch(from.device, size, TOUCHED_READ);
    if (ok && to.host && !from.host && driver.reports.run_log)
        run_log_copied(driver.reports.run_log, to.host, size);
    if (ok) return CUDA_SUCCESS;
    if (to.device) allocation_say_outside("write", to.device, size);
    if (from.device) allocation_say_outside("read", from.device, size);
    return CUDA_ERROR_INVALID_VALUE;
}

/* A copy of bytes side by side; of UNIFIED memory both ends are found by their addresses. */
static CUDA_MEMCPY3D linear(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type,
                            CUdeviceptr from, size_t size)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = from_type,
                           .srcHost = pointer_of(from),
                           .srcDevice = from,
                           .dstMemoryType = to_type,
                           .dstHost = pointer_of(to),
                           .dstDevice = to,
                           .WidthInBytes = size,
                           .Height = 1,
                           .Depth = 1};
}

bool host_shares(CUdeviceptr address)
{
    const struct allocation *a = allocation_find(allocation_device_address(address));
    return a && a->host;
}

/* A stream's copy. */
static CUresult copy_in_stream(const CUDA_MEMCPY3D *p, CUstream stream, bool synchronous)
{
    struct CUctx_st *c;
    struct work w;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS) r = work_copy(&w, c, p);
    return stream_call(stream, r, c, &w, synchronous);
}

static CUresult copy_linear(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type,
                            CUdeviceptr from, size_t size, CUstream stream, bool synchronous)
{
    const CUDA_MEMCPY3D p = linear(to_type, to, from_type, from, size);
    if (size && (!to || !from)) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_in_stream(&p, stream, synchronous);
}

static CUdeviceptr number_of(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_linear(CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, size, stream, false);
}

CUresult copy_from_source_now(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    struct CUctx_st *c;
    struct work w;
    const CUDA_MEMCPY3D p = linear(CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, size);
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS && (!to || !from)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = work_copy(&w, c, &p);
    if (r == CUDA_SUCCESS) w.source_now = true;
    return stream_call(stream, r, c, &w, false);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return copy_linear(CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, size, NULL, true);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    return copy_linear(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST, number_of(from), size, stream,
                       false);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_linear(CU_MEMORYTYPE_HOST, number_of(to), CU_MEMORYTYPE_DEVICE, from, size, stream,
                       false);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_linear(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, size, stream, false);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    return copy_linear(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST, number_of(from), size, NULL,
                       true);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    return copy_linear(CU_MEMORYTYPE_HOST, number_of(to), CU_MEMORYTYPE_DEVICE, from, size, NULL,
                       true);
}

/* The host does not wait for copies between memory that the device alone has. */
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    struct CUctx_st *c;
    struct work w;
    const CUDA_MEMCPY3D p = linear(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, size);
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && size && (!to || !from)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = work_copy(&w, c, &p);
    return stream_call(NULL, r, c, &w, host_shares(to) || host_shares(from));
}

struct box { /* one side of a 3D copy */
    struct end start;
    size_t pitch, slice;
};

static CUresult box_of(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
                       size_t x, size_t y, size_t z, size_t pitch, size_t rows,
                       const CUDA_MEMCPY3D *p, struct box *b)
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        if (!object_check(array, OBJECT_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
        const struct texture_memory *m = &array->memory;
        if (!array_ok(m, x, y, z, p->WidthInBytes, p->Height, p->Depth))
            return CUDA_ERROR_INVALID_VALUE;
        const struct texture_level *v = &m->level[0];
        *b = (struct box){.pitch = v->pitch, .slice = m->layers ? v->layer : v->slice};
        b->start = (struct end){.device = m->address + z * b->slice + y * b->pitch + x};
        return CUDA_SUCCESS;
    }
    if (!pitch) pitch = p->WidthInBytes + x;
    if (!rows) rows = p->Height + y;
    if (pitch < p->WidthInBytes + x && (p->Height > 1 || p->Depth > 1))
        return CUDA_ERROR_INVALID_VALUE;
    if (rows < p->Height + y && p->Depth > 1) return CUDA_ERROR_INVALID_VALUE;
    switch (type) {
    case CU_MEMORYTYPE_HOST: b->start = in_host(host); break;
    case CU_MEMORYTYPE_DEVICE: b->start = in_device(device); break;
    case CU_MEMORYTYPE_UNIFIED: b->start = either(device); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (type == CU_MEMORYTYPE_HOST && !host) return CUDA_ERROR_INVALID_VALUE;
    b->pitch = pitch;
    b->slice = pitch * rows;
    size_t offset = z * b->slice + y * pitch + x;
    if (b->start.host) b->start.host += offset;
    else b->start.device += offset;
    return CUDA_SUCCESS;
}

static struct end row_of(const struct box *b, size_t y, size_t z)
{
    size_t offset = z * b->slice + y * b->pitch;
    struct end e = b->start;
    if (e.host) e.host += offset;
    else e.device += offset;
    return e;
}

/* Where both ends are; nothing is copied where a size is 0. */
static CUresult boxes_of(const CUDA_MEMCPY3D *p, struct box *to, struct box *from)
{
    const CUresult r = box_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
                              p->srcXInBytes, p->srcY, p->srcZ, p->srcPitch, p->srcHeight, p, from);
    if (r != CUDA_SUCCESS) return r;
    return box_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstY,
                  p->dstZ, p->dstPitch, p->dstHeight, p, to);
}

static bool is_nothing(const CUDA_MEMCPY3D *p)
{
    return !p->WidthInBytes || !p->Height || !p->Depth;
}

static bool is_inside(const struct box *b, const CUDA_MEMCPY3D *p, const char *what)
{
    if (b->start.wrong) return false;
    for (size_t z = 0; !b->start.host && z < p->Depth; z++)
        for (size_t y = 0; y < p->Height; y++) {
            const uint64_t row = row_of(b, y, z).device;
            if (emu_has(driver.emu, row, p->WidthInBytes)) continue;
            allocation_say_outside(what, row, p->WidthInBytes);
            return false;
        }
    return true;
}

CUresult copy_check(const CUDA_MEMCPY3D *p)
{
    struct box to, from;
    if (is_nothing(p)) return CUDA_SUCCESS;
    const CUresult r = boxes_of(p, &to, &from);
    if (r != CUDA_SUCCESS) return r;
    return is_inside(&to, p, "write") && is_inside(&from, p, "read") ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_VALUE;
}

/* Whether the bytes are in the host's memory: pageable, pinned or registered. */
static bool is_in_host(CUmemorytype type, const struct end *e)
{
    const struct allocation *a = e->host ? NULL : allocation_find(e->device);
    return type != CU_MEMORYTYPE_ARRAY &&
           (e->host || (a && (a->kind == ALLOCATION_PINNED || a->kind == ALLOCATION_REGISTERED)));
}

/* Copies from host to host take no time of the device. */
static void time_copy(const CUDA_MEMCPY3D *p, const struct box *to, const struct box *from)
{
    const uint64_t bytes = (uint64_t)p->WidthInBytes * p->Height * p->Depth;
    const bool down = is_in_host(p->srcMemoryType, &from->start),
               up = is_in_host(p->dstMemoryType, &to->start);
    if (!driver.reports.estimates || (down && up)) return;
    timeline_copy(&driver.reports.timeline, driver.config.gpu, down || up ? bytes : 2 * bytes,
                  down ? TIMELINE_TO_DEVICE
                  : up ? TIMELINE_TO_HOST
                       : TIMELINE_SMS);
}

CUresult copy_execute(const CUDA_MEMCPY3D *p)
{
    struct box to, from;
    struct unwritten u = {0};
    if (is_nothing(p)) return CUDA_SUCCESS;
    CUresult r = boxes_of(p, &to, &from);
    unordered_name("copy of %zu bytes", p->WidthInBytes * p->Height * p->Depth);
    for (size_t z = 0; r == CUDA_SUCCESS && z < p->Depth; z++)
        for (size_t y = 0; r == CUDA_SUCCESS && y < p->Height; y++) {
            const struct end row = row_of(&from, y, z);
            if (to.start.host && !row.host) unwritten_add(&u, row.device, p->WidthInBytes);
            r = copy(row_of(&to, y, z), row, p->WidthInBytes);
        }
    unwritten_say(&u);
    if (r == CUDA_SUCCESS) time_copy(p, &to, &from);
    return r;
}

/* Host memory that the device cannot reach. */
static bool is_pageable(CUmemorytype type, const void *host, CUdeviceptr device)
{
    if (type == CU_MEMORYTYPE_HOST) return !allocation_of_host(host);
    return type == CU_MEMORYTYPE_UNIFIED && either(device).host &&
           !allocation_of_host(pointer_of(device));
}

bool copy_is_synchronous(const CUDA_MEMCPY3D *p)
{
    struct box to, from;
    if (is_nothing(p)) return false;
    if (is_pageable(p->dstMemoryType, p->dstHost, p->dstDevice)) return true;
    return boxes_of(p, &to, &from) == CUDA_SUCCESS && is_in_host(p->srcMemoryType, &from.start) &&
           is_in_host(p->dstMemoryType, &to.start);
}

static bool copy_out(void *to, struct end from, size_t size)
{
    if (!from.host) return emu_copy_out(driver.emu, to, from.device, size);
    memcpy(to, from.host, size);
    return true;
}

/* Rows side by side. */
void *copy_snapshot_source(CUDA_MEMCPY3D *p, bool shared)
{
    struct box to, from;
    if (is_nothing(p) || boxes_of(p, &to, &from) != CUDA_SUCCESS) return NULL;
    const bool pageable = from.start.host &&
                          is_pageable(p->srcMemoryType, p->srcHost, p->srcDevice);
    if (!pageable && !(shared && !from.start.host && host_shares(from.start.device))) return NULL;
    char *bytes = malloc(p->WidthInBytes * p->Height * p->Depth), *end = bytes;
    if (!bytes) abort();
    for (size_t z = 0; z < p->Depth; z++)
        for (size_t y = 0; y < p->Height; y++, end += p->WidthInBytes)
            (void)copy_out(end, row_of(&from, y, z), p->WidthInBytes);
    p->srcMemoryType = CU_MEMORYTYPE_HOST;
    p->srcHost = bytes;
    p->srcPitch = p->WidthInBytes;
    p->srcHeight = p->Height;
    p->srcXInBytes = p->srcY = p->srcZ = 0;
    return bytes;
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream stream)
{
    return copy_in_stream(p, stream, false);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *p)
{
    return copy_in_stream(p, NULL, true);
}

static CUDA_MEMCPY3D plane(const CUDA_MEMCPY2D *p)
{
    return (CUDA_MEMCPY3D){.srcXInBytes = p->srcXInBytes,
                           .srcY = p->srcY,
                           .srcMemoryType = p->srcMemoryType,
                           .srcHost = p->srcHost,
                           .srcDevice = p->srcDevice,
                           .srcArray = p->srcArray,
                           .srcPitch = p->srcPitch,
                           .dstXInBytes = p->dstXInBytes,
                           .dstY = p->dstY,
                           .dstMemoryType = p->dstMemoryType,
                           .dstHost = p->dstHost,
                           .dstDevice = p->dstDevice,
                           .dstArray = p->dstArray,
                           .dstPitch = p->dstPitch,
                           .WidthInBytes = p->WidthInBytes,
                           .Height = p->Height,
                           .Depth = 1};
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    const CUDA_MEMCPY3D q = plane(p);
    return copy_in_stream(&q, stream, false);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    const CUDA_MEMCPY3D q = plane(p);
    return copy_in_stream(&q, NULL, true);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p)
{
    return cuMemcpy2D_v2(p);
}

/* ---- copies of a part of an array, row after row ------------------------------------------------------- */

struct contiguous_span { /* bytes of an array from an offset on, row after row, or plain memory */
    CUarray array;
    size_t at;
    CUmemorytype type;
    CUdeviceptr memory;
};

static size_t row_bytes(CUarray a)
{
    return a->memory.level[0].width * (a->memory.channels * a->memory.bits / 8u);
}

/* How many bytes from `done` on lie side by side; 0: there are none. */
static size_t contiguous_bytes(const struct contiguous_span *r, size_t done)
{
    if (!r->array) return SIZE_MAX;
    const struct texture_memory *m = &r->array->memory;
    const size_t row = row_bytes(r->array), at = r->at + done;
    return m->layers || m->depth || at / row >= m->level[0].height ? 0 : row - at % row;
}

static CUDA_MEMCPY3D part_of_span(const struct contiguous_span *to,
                                  const struct contiguous_span *from, size_t done, size_t size)
{
    CUDA_MEMCPY3D p = linear(to->type, to->memory + done, from->type, from->memory + done, size);
    if (to->array) {
        p.dstArray = to->array;
        p.dstXInBytes = (to->at + done) % row_bytes(to->array);
        p.dstY = (to->at + done) / row_bytes(to->array);
    }
    if (from->array) {
        p.srcArray = from->array;
        p.srcXInBytes = (from->at + done) % row_bytes(from->array);
        p.srcY = (from->at + done) / row_bytes(from->array);
    }
    return p;
}

static CUresult copy_span(struct CUctx_st *c, const struct contiguous_span *to,
                          const struct contiguous_span *from, size_t size, CUstream stream,
                          bool synchronous)
{
    if ((to->array && !object_check(to->array, OBJECT_ARRAY)) ||
        (from->array && !object_check(from->array, OBJECT_ARRAY)))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult r = CUDA_SUCCESS;
    for (size_t done = 0, n; r == CUDA_SUCCESS && done < size; done += n) {
        struct work w;
        const size_t a = contiguous_bytes(to, done), b = contiguous_bytes(from, done);
        n = a < b ? a : b;
        if (n > size - done) n = size - done;
        if (!n) return CUDA_ERROR_INVALID_VALUE;
        const CUDA_MEMCPY3D p = part_of_span(to, from, done, n);
        r = work_copy(&w, c, &p);
        if (r == CUDA_SUCCESS)
            r = (synchronous ? stream_submit_and_wait : stream_submit)(c, stream, &w);
    }
    return r;
}

static CUresult copy_span_in_stream(struct contiguous_span to, struct contiguous_span from,
                                    size_t size, CUstream stream, bool synchronous)
{
    struct CUctx_st *c;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) r = copy_span(c, &to, &from, size, stream, synchronous);
    return driver_end(r);
}

static struct contiguous_span span_in_array(CUarray array, size_t at)
{
    return (struct contiguous_span){.array = array, .at = at, .type = CU_MEMORYTYPE_ARRAY};
}
static struct contiguous_span span_in_host(const void *p)
{
    return (struct contiguous_span){.type = CU_MEMORYTYPE_HOST, .memory = number_of(p)};
}
static struct contiguous_span span_in_device(CUdeviceptr p)
{
    return (struct contiguous_span){.type = CU_MEMORYTYPE_DEVICE, .memory = p};
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t size,
                              CUstream stream)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_array(to, offset), span_in_host(from), size, stream, false);
}

CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t size, CUstream stream)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_host(to), span_in_array(from, offset), size, stream, false);
}

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t size)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_array(to, offset), span_in_host(from), size, NULL, true);
}

CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t size)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_host(to), span_in_array(from, offset), size, NULL, true);
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_array(to, offset), span_in_device(from), size, NULL, false);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_device(to), span_in_array(from, offset), size, NULL, false);
}

CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                         size_t size)
{
    if (!to || !from) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return copy_span_in_stream(span_in_array(to, to_offset), span_in_array(from, from_offset), size,
                               NULL, false);
}
