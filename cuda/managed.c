/* Managed memory: advice (cuMemAdvise) and prefetches.
 *
 * Host and device access the same memory, so advice and prefetches move nothing. They are stored only for queries, by
 * page: an allocation has a list of ranges, and a range begins where an attribute changes. */
#include "cuda/driver.h"

#include <stdlib.h>

enum { PAGE = 4096 };

/* From an offset to the next one's; the first is of offset 0, the last ends the list. */
struct advice {
    uint64_t from;
    struct advice *next;
    CUmemLocation preferred, prefetched;
    bool read_mostly, by_device, by_host;
};

void advice_free(struct advice *a)
{
    for (struct advice *next; a; a = next) {
        next = a->next;
        free(a);
    }
}

static struct advice *new_advice(const struct advice *like, uint64_t from)
{
    struct advice *a = calloc(1, sizeof *a);
    if (!a) abort();
    if (like) *a = *like;
    a->from = from;
    return a;
}

/* The range that begins at an offset, cut off from the one that it is in. */
static struct advice *cut(struct allocation *m, uint64_t from)
{
    struct advice *a = m->advice;
    while (a->next && a->next->from <= from) a = a->next;
    if (a->from == from) return a;
    struct advice *rest = new_advice(a, from);
    a->next = rest;
    return rest;
}

struct part { /* pages of a managed allocation, by offset */
    struct allocation *of;
    uint64_t from, to;
};

static bool part_of(CUdeviceptr address, size_t size, struct part *p)
{
    struct allocation *a = allocation_find(address);
    if (!size || !a || a->kind != ALLOCATION_MANAGED || size > a->size - (address - a->address))
        return false;
    p->of = a;
    p->from = (address - a->address) / PAGE * PAGE;
    p->to = (address - a->address + size + PAGE - 1) / PAGE * PAGE;
    if (!a->advice) a->advice = new_advice(NULL, 0);
    return true;
}

#define EACH_RANGE(a, p)                                                                           \
    for (struct advice * (a) = cut((p)->of, (p)->from), *end_of_part = cut((p)->of, (p)->to);      \
         (a) != end_of_part; (a) = (a)->next)

/* CUDA_SUCCESS, or what is wrong with a location. */
static CUresult check_location(const CUmemLocation *l)
{
    switch (l->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return device_ok(l->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return l->id >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags)
{
    struct CUctx_st *c;
    struct allocation *a;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS &&
        (!address || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = allocation_new(c, ALLOCATION_MANAGED, size, NULL, CALL_MEM_ALLOC_MANAGED, &a);
    if (r != CUDA_SUCCESS) return driver_end(r);
    a->flags = flags;
    *address = a->address;
    return driver_end(CUDA_SUCCESS);
}

/* To one stream alone, or to no device: the host waits for kernels in any case. */
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t length, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    const bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                       flags == CU_MEM_ATTACH_SINGLE;
    struct allocation *a = allocation_find(address);
    if (!known || (flags == CU_MEM_ATTACH_SINGLE && (!stream || stream == CU_STREAM_LEGACY)) ||
        !a || a->kind != ALLOCATION_MANAGED || a->address != address ||
        (length && length != a->size))
        return driver_end(CUDA_ERROR_INVALID_VALUE);
    a->flags = flags;
    return driver_end(CUDA_SUCCESS);
}

/* ---- advice --------------------------------------------------------------------------------------------- */

static void advise(struct advice *a, CUmem_advise advice, const CUmemLocation *l)
{
    static const CUmemLocation nowhere = {CU_MEM_LOCATION_TYPE_INVALID, 0};
    const bool device = l->type == CU_MEM_LOCATION_TYPE_DEVICE;
    bool *by = device ? &a->by_device : &a->by_host;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: a->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: a->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: a->preferred = *l; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: a->preferred = nowhere; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: *by = true; break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: *by = false; break;
    }
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice,
                        CUmemLocation location)
{
    struct CUctx_st *c;
    struct part p;
    CUresult r = driver_begin(&c);
    const bool placed = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                        advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                        advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (r == CUDA_SUCCESS &&
        (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && placed) r = check_location(&location);
    if (r == CUDA_SUCCESS && !part_of(address, size, &p)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) EACH_RANGE(a, &p) advise(a, advice, &location);
    return driver_end(r);
}

/* Of CUDA 8 to 12: a device's number, or -1 for the host. */
static CUmemLocation location_of(CUdevice device)
{
    if (device == CU_DEVICE_CPU) return (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0};
    return (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

#undef cuMemAdvise
CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device)
{
    return cuMemAdvise_v2(address, size, advice, location_of(device));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location,
                               unsigned flags, CUstream stream)
{
    struct CUctx_st *c;
    struct part p;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = check_location(&location);
    if (r == CUDA_SUCCESS && !part_of(address, size, &p)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) EACH_RANGE(a, &p) a->prefetched = location;
    return driver_end(r);
}

#undef cuMemPrefetchAsync
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync_v2(address, size, location_of(device), 0, stream);
}

/* ---- several ranges at once ------------------------------------------------------------------------------ */

/* Which of the locations a range has: they hold from an index on. */
static CUresult location_at(size_t i, const CUmemLocation *locations, const size_t *from, size_t n,
                            CUmemLocation *out)
{
    if (!locations || !from || !n || from[0]) return CUDA_ERROR_INVALID_VALUE;
    size_t k = 0;
    while (k + 1 < n && from[k + 1] <= i) k++;
    *out = locations[k];
    return CUDA_SUCCESS;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                 CUmemLocation *locations, size_t *from, size_t n,
                                 unsigned long long flags, CUstream stream)
{
    if (!addresses || !sizes || !count || flags) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        CUmemLocation l = {CU_MEM_LOCATION_TYPE_INVALID, 0};
        r = location_at(i, locations, from, n, &l);
        if (r == CUDA_SUCCESS) r = cuMemPrefetchAsync_v2(addresses[i], sizes[i], l, 0, stream);
    }
    return r;
}

/* What is discarded may hold anything from then on: it keeps what it has. */
CUresult cuMemDiscardBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                unsigned long long flags, CUstream stream)
{
    struct CUctx_st *c;
    struct part p;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (!addresses || !sizes || !count || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (!part_of(addresses[i], sizes[i], &p)) r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
                                           CUmemLocation *locations, size_t *from, size_t n,
                                           unsigned long long flags, CUstream stream)
{
    const CUresult r = cuMemDiscardBatchAsync(addresses, sizes, count, flags, stream);
    if (r != CUDA_SUCCESS) return r;
    return cuMemPrefetchBatchAsync(addresses, sizes, count, locations, from, n, flags, stream);
}

/* ---- what was advised ------------------------------------------------------------------------------------ */

/* As CUDA 8 to 12 have it. */
static int number_of(const CUmemLocation *l)
{
    if (l->type == CU_MEM_LOCATION_TYPE_DEVICE) return l->id;
    return l->type == CU_MEM_LOCATION_TYPE_HOST ? CU_DEVICE_CPU : CU_DEVICE_INVALID;
}

static int value_of(const struct advice *a, CUmem_range_attribute attribute)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: return a->read_mostly;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: return number_of(&a->preferred);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: return number_of(&a->prefetched);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: return (int)a->preferred.type;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return a->preferred.id;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: return (int)a->prefetched.type;
    default: return a->prefetched.id;
    }
}

/* The answer where the pages of a range differ. */
static int unlike(CUmem_range_attribute attribute)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: return CU_DEVICE_INVALID;
    default: return 0; /* not read mostly; CU_MEM_LOCATION_TYPE_INVALID */
    }
}

/* Those that were said of all pages; the rest of the list is CU_DEVICE_INVALID. */
static void accessed_by(const struct part *p, int *list, size_t n)
{
    bool device = true, host = true;
    size_t k = 0;
    EACH_RANGE(a, p)
    {
        device &= a->by_device;
        host &= a->by_host;
    }
    if (device && k < n) list[k++] = 0;
    if (host && k < n) list[k++] = CU_DEVICE_CPU;
    while (k < n) list[k++] = CU_DEVICE_INVALID;
}

static CUresult range_attribute(void *out, size_t size, CUmem_range_attribute attribute,
                                const struct part *p)
{
    if (!out || attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return CUDA_ERROR_INVALID_VALUE;
    int *to = out;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        if (!size || size % sizeof *to) return CUDA_ERROR_INVALID_VALUE;
        return accessed_by(p, to, size / sizeof *to), CUDA_SUCCESS;
    }
    if (size != sizeof *to) return CUDA_ERROR_INVALID_VALUE;
    const struct advice *first = NULL;
    EACH_RANGE(a, p)
    {
        if (!first) *to = value_of(first = a, attribute);
        else if (value_of(a, attribute) != *to) return *to = unlike(attribute), CUDA_SUCCESS;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **out, size_t *sizes, CUmem_range_attribute *attributes,
                                 size_t count, CUdeviceptr address, size_t size)
{
    struct CUctx_st *c;
    struct part p;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!out || !sizes || !attributes || !count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !part_of(address, size, &p)) r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = range_attribute(out[i], sizes[i], attributes[i], &p);
    return driver_end(r);
}

CUresult cuMemRangeGetAttribute(void *out, size_t size, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t count)
{
    return cuMemRangeGetAttributes(&out, &size, &attribute, 1, address, count);
}
