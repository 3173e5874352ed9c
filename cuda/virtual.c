/* Virtual memory management: reserved address ranges, physical memory without an address, and mappings of the
 * latter to the former.
 *
 * A mapping can be accessed after cuMemSetAccess(); before, its addresses are only reserved. Sizes are multiples of
 * 2 MiB, and calls must name whole mappings. Memory may be mapped several times. */
#define _GNU_SOURCE
#include "cuda/driver.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { UNIT = 2 << 20 };

struct physical { /* memory; its handle is its address */
    struct object object;
    unsigned char *host;
    size_t size;
    unsigned handles, mappings;
    CUmemAllocationProp prop;
};

struct reservation {
    struct reservation *next;
    uint64_t address, size;
};

struct mapping {
    struct mapping *next;
    uint64_t address, size, offset;
    struct physical *memory;
    CUmemAccess_flags access;
};

static bool whole_units(uint64_t n)
{
    return n && n % UNIT == 0;
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr at,
                             unsigned long long flags)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS &&
        (!address || !whole_units(size) || flags || alignment & (alignment - 1)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    const struct call_name name = driver_call(CALL_MEM_ADDRESS_RESERVE);
    const uint64_t got = emu_reserve(driver.emu, size, alignment > UNIT ? alignment : UNIT, at,
                                     name.text);
    struct reservation *v = got ? malloc(sizeof *v) : NULL;
    if (!v) return driver_end(CUDA_ERROR_OUT_OF_MEMORY);
    *v = (struct reservation){driver.memory.reservations, got, size};
    driver.memory.reservations = v;
    *address = got;
    return driver_end(CUDA_SUCCESS);
}

static bool overlaps(const struct mapping *m, uint64_t address, uint64_t size)
{
    return m->address < address + size && address < m->address + m->size;
}

static bool is_mapped(uint64_t address, uint64_t size)
{
    for (const struct mapping *m = driver.memory.mappings; m; m = m->next)
        if (overlaps(m, address, size)) return true;
    return false;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct reservation **at = &driver.memory.reservations, *v;
    while (*at && (*at)->address != address) at = &(*at)->next;
    v = *at;
    if (!v || v->size != size || is_mapped(address, size))
        return driver_end(CUDA_ERROR_INVALID_VALUE);
    *at = v->next;
    emu_unreserve(driver.emu, address);
    free(v);
    return driver_end(CUDA_SUCCESS);
}

static bool is_reserved(uint64_t address, uint64_t size)
{
    for (const struct reservation *v = driver.memory.reservations; v; v = v->next)
        if (address >= v->address && address - v->address < v->size &&
            size <= v->size - (address - v->address))
            return true;
    return false;
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
    return object_check(pointer_of(handle), OBJECT_PHYSICAL);
}

static CUresult check_prop(const CUmemAllocationProp *p)
{
    if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (!device_ok(p->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    return p->requestedHandleTypes ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && (!handle || !whole_units(size) || flags)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = check_prop(prop);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *host = size <= driver_memory() ? mmap(NULL, size, PROT_READ | PROT_WRITE, how, -1, 0)
                                         : MAP_FAILED;
    if (host == MAP_FAILED) return driver_end(CUDA_ERROR_OUT_OF_MEMORY);
    struct physical *p = object_new(OBJECT_PHYSICAL, sizeof *p);
    p->host = host;
    p->size = size;
    p->handles = 1;
    p->prop = *prop;
    *handle = (uintptr_t)p;
    return driver_end(CUDA_SUCCESS);
}

static void drop_unused(struct physical *p)
{
    if (p->handles || p->mappings) return;
    munmap(p->host, p->size);
    object_destroy(&p->object);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult r = driver_begin_without();
    struct physical *p = r == CUDA_SUCCESS ? physical_of(handle) : NULL;
    if (r == CUDA_SUCCESS && (!p || !p->handles)) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    p->handles--;
    drop_unused(p);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    (void)option;
    const CUresult r = granularity ? check_prop(prop) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_refuse(r);
    *granularity = UNIT;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    CUresult r = driver_begin_without();
    const struct physical *p = r == CUDA_SUCCESS ? physical_of(handle) : NULL;
    if (r == CUDA_SUCCESS && (!prop || !p)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *prop = p->prop;
    return driver_end(r);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    CUresult r = driver_begin_without();
    const struct mapping *m = driver.memory.mappings;
    while (m && !overlaps(m, (uintptr_t)address, 1)) m = m->next;
    if (r == CUDA_SUCCESS && (!handle || !m)) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    m->memory->handles++;
    *handle = (uintptr_t)m->memory;
    return driver_end(CUDA_SUCCESS);
}

/* ---- mappings --------------------------------------------------------------------------------------------- */

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CUresult r = driver_begin_without();
    struct physical *p = r == CUDA_SUCCESS ? physical_of(handle) : NULL;
    if (r == CUDA_SUCCESS &&
        (!p || !whole_units(size) || offset % UNIT || address % UNIT || flags || offset > p->size ||
         size > p->size - offset || !is_reserved(address, size) || is_mapped(address, size)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct mapping *m = malloc(sizeof *m);
    if (!m) abort();
    *m = (struct mapping){driver.memory.mappings,       address, size, offset, p,
                          CU_MEM_ACCESS_FLAGS_PROT_NONE};
    driver.memory.mappings = m;
    p->mappings++;
    return driver_end(CUDA_SUCCESS);
}

static void set_access(struct mapping *m, CUmemAccess_flags access, const char *by)
{
    const CUmemAccess_flags none = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (m->access == access) return;
    if (m->access != none) {
        allocation_drop_mapping(m->address);
        emu_unmap(driver.emu, m->address, by);
    }
    m->access = access;
    if (access != none && emu_map(driver.emu, m->address, m->memory->host + m->offset, m->size,
                                  access == CU_MEM_ACCESS_FLAGS_PROT_READ, by))
        allocation_add_mapping(m->address, m->size);
}

/* Whether the range is whole mappings, one behind the other, or with nothing mapped between them. */
static bool are_whole(uint64_t address, uint64_t size, uint64_t *mapped)
{
    *mapped = 0;
    for (const struct mapping *m = driver.memory.mappings; m; m = m->next) {
        if (!overlaps(m, address, size)) continue;
        if (m->address < address || m->address + m->size > address + size) return false;
        *mapped += m->size;
    }
    return true;
}

static CUresult check_access(const CUmemAccessDesc *d)
{
    if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (!device_ok(d->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    return d->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || d->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                   d->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *list, size_t count)
{
    uint64_t mapped = 0;
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS &&
        (!list || !count || !size || !are_whole(address, size, &mapped) || mapped != size))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) r = check_access(&list[i]);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const struct call_name name = driver_call(CALL_MEM_SET_ACCESS);
    for (struct mapping *m = driver.memory.mappings; m; m = m->next)
        if (overlaps(m, address, size)) set_access(m, list[count - 1].flags, name.text);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address)
{
    CUresult r = driver_begin_without();
    const struct mapping *m = driver.memory.mappings;
    while (m && !overlaps(m, address, 1)) m = m->next;
    if (r == CUDA_SUCCESS &&
        (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || !m))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !device_ok(location->id)) r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS) *flags = m->access;
    return driver_end(r);
}

static void unmap(struct mapping **at, const char *by)
{
    struct mapping *m = *at;
    set_access(m, CU_MEM_ACCESS_FLAGS_PROT_NONE, by);
    *at = m->next;
    m->memory->mappings--;
    drop_unused(m->memory);
    free(m);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
    uint64_t mapped = 0;
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && (!size || !are_whole(address, size, &mapped) || !mapped))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    const struct call_name name = driver_call(CALL_MEM_UNMAP);
    for (struct mapping **at = &driver.memory.mappings; *at;)
        if (overlaps(*at, address, size)) unmap(at, name.text);
        else at = &(*at)->next;
    return driver_end(CUDA_SUCCESS);
}

void virtual_drop(void)
{
    while (driver.memory.mappings) unmap(&driver.memory.mappings, NULL);
    for (struct reservation *v = driver.memory.reservations, *next; v; v = next) {
        next = v->next;
        free(v);
    }
    for (struct object *o = driver.objects.all[OBJECT_PHYSICAL - OBJECT_CONTEXT]; o; o = o->next)
        if (o->kind == OBJECT_PHYSICAL)
            munmap(((struct physical *)o)->host, ((struct physical *)o)->size);
}
