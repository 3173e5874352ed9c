/* Host memory that kernels can access. Pinned allocations have one address for host and device. Registered memory keeps
 * its host address and gets another address for the device (so CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
 * is 0). All of it is mapped for the device, with or without the flag, as on devices with a unified address space. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/queue.h"

#include <sys/mman.h>
#include <unistd.h>

CUresult cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    struct CUctx_st *c;
    struct allocation *a;
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!pointer || flags & ~known)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !size) { /* unlike cuMemAlloc, it may be of none */
        *pointer = NULL;
        return driver_end(CUDA_SUCCESS);
    }
    if (r == CUDA_SUCCESS)
        r = allocation_new(c, ALLOCATION_PINNED, size, NULL, CALL_MEM_HOST_ALLOC, &a);
    if (r != CUDA_SUCCESS) return driver_end(r);
    *pointer = a->host;
    a->flags = flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuMemAllocHost_v2(void **pointer, size_t size)
{
    return cuMemHostAlloc(pointer, size, 0);
}

/* begin, and the allocation whose host side this pointer is in */
static CUresult begin_pinned(const void *pointer, struct allocation **a)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return r;
    *a = allocation_of_host(pointer);
    return *a && (*a)->kind != ALLOCATION_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool begins_at(const struct allocation *a, const void *pointer)
{
    return a && a->host == pointer && a->kind == ALLOCATION_PINNED && !a->pool;
}

CUresult cuMemFreeHost(void *pointer)
{
    struct allocation *a;
    CUresult r = begin_pinned(pointer, &a);
    if (r == CUDA_SUCCESS && begins_at(a, pointer)) {
        (void)queue_wait_context(a->context);
        a = allocation_of_host(pointer); /* what was freed meanwhile has moved it in the table */
    }
    if (r == CUDA_SUCCESS && !begins_at(a, pointer)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) allocation_end(a, driver_call(CALL_MEM_FREE_HOST).text);
    else if (driver.emu) allocation_say_wrong("cuMemFreeHost", (uintptr_t)pointer);
    return driver_end(r);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned flags)
{
    struct allocation *a;
    CUresult r = begin_pinned(pointer, &a);
    if (r == CUDA_SUCCESS && (!address || flags)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *address = a->address + (uint64_t)((const char *)pointer - (const char *)a->host);
    return driver_end(r);
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    struct allocation *a;
    CUresult r = begin_pinned(pointer, &a);
    if (r == CUDA_SUCCESS && !flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *flags = a->flags;
    return driver_end(r);
}

/* ---- registered ----------------------------------------------------------------------------------------- */

static bool is_mapped(const char *from, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), head = (uintptr_t)from % page;
    if ((uintptr_t)from + size < size) return false;
    return msync((void *)(from - head), size + head, MS_ASYNC) == 0;
}

/* Whether pinned memory of any kind has some of these bytes already. */
static bool is_pinned(const char *from, size_t size)
{
    for (size_t i = 0; i < driver.memory.count; i++) {
        const struct allocation *a = &driver.memory.allocations[i];
        if (!a->host) continue;
        const uintptr_t at = (uintptr_t)a->host, p = (uintptr_t)from;
        if (at < p ? p - at < a->size : at - p < size) return true;
    }
    return false;
}

CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags)
{
    struct CUctx_st *c;
    struct allocation *a;
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!pointer || !size || flags & ~known)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags & CU_MEMHOSTREGISTER_IOMEMORY) r = CUDA_ERROR_NOT_PERMITTED;
    if (r == CUDA_SUCCESS && flags & CU_MEMHOSTREGISTER_READ_ONLY) r = CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS && is_pinned(pointer, size))
        r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (r == CUDA_SUCCESS && !is_mapped(pointer, size)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = allocation_new(c, ALLOCATION_REGISTERED, size, pointer, CALL_MEM_HOST_REGISTER, &a);
    if (r == CUDA_SUCCESS) a->flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP;
    return driver_end(r);
}

CUresult cuMemHostUnregister(void *pointer)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !pointer) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct allocation *a = allocation_of_host(pointer);
    if (!a || a->kind != ALLOCATION_REGISTERED)
        return driver_end(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    if (a->host != pointer) return driver_end(CUDA_ERROR_INVALID_VALUE);
    allocation_end(a, driver_call(CALL_MEM_HOST_UNREGISTER).text);
    return driver_end(CUDA_SUCCESS);
}
