/* Memory: the table of allocations, device memory, copies, fills, what a pointer is.
 *
 * There is a unified address space: device addresses are numbers in the emulator's range, and the host has
 * nothing of its own there. Memory that the host shares (managed, pinned) it finds at the device's address;
 * registered memory stays where the host has it, and the device has another address for it. Calls take
 * both: cuMemcpy and CU_MEMORYTYPE_UNIFIED find out what a pointer is, and where a direction says what it
 * is they return an error if that is not so. */
#include "cuda/driver.h"

#include "determinism/account.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of allocations ---------------------------------------------------------------------- */

/* The index of the first allocation behind an address; host pointers rise with device addresses. */
static size_t behind(uint64_t address)
{
    size_t from = 0, to = driver.allocation_count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (driver.allocations[mid].address <= address) from = mid + 1;
        else to = mid;
    }
    return from;
}

struct allocation *allocation_find(uint64_t address)
{
    size_t i = behind(address);
    struct allocation *a = i ? &driver.allocations[i - 1] : NULL;
    return a && address - a->address < a->size ? a : NULL;
}

struct allocation *allocation_of_host(const void *pointer)
{
    struct allocation *a = allocation_find((uintptr_t)pointer);
    if (a && a->host) return a;
    for (size_t i = 0; driver.registered_count && i < driver.allocation_count; i++) {
        a = &driver.allocations[i];
        if (a->kind != ALLOCATION_REGISTERED) continue;
        if ((uintptr_t)pointer - (uintptr_t)a->host < a->size) return a;
    }
    return NULL;
}

uint64_t allocation_address(uint64_t pointer)
{
    if (!driver.registered_count || allocation_find(pointer)) return pointer;
    const struct allocation *a = allocation_of_host(pointer_of(pointer));
    return a ? a->address + (pointer - (uintptr_t)a->host) : pointer;
}

/* Puts one into the table. */
static struct allocation *add(struct allocation what)
{
    if (driver.allocation_count == driver.allocation_cap) {
        driver.allocation_cap = driver.allocation_cap ? 2 * driver.allocation_cap : 16;
        driver.allocations = realloc(driver.allocations,
                                     driver.allocation_cap * sizeof *driver.allocations);
        if (!driver.allocations) abort();
    }
    size_t i = behind(what.address);
    struct allocation *a = &driver.allocations[i];
    memmove(a + 1, a, (driver.allocation_count++ - i) * sizeof *a);
    *a = what;
    a->serial = ++driver.serial;
    driver.registered_count += a->kind == ALLOCATION_REGISTERED;
    return a;
}

static void take_out(struct allocation *a)
{
    size_t i = (size_t)(a - driver.allocations);
    driver.registered_count -= a->kind == ALLOCATION_REGISTERED;
    advice_free(a->advice);
    if (a->pool) pool_give_back(a->pool, a->size);
    memmove(a, a + 1, (--driver.allocation_count - i) * sizeof *a);
}

CUresult allocation_new(struct CUctx_st *c, enum allocation_kind kind, size_t size, void *host,
                        enum numbered_call call, struct allocation **out)
{
    const struct call_name name = driver_call(call);
    struct allocation a = {.size = size, .kind = kind, .context = c, .host = host};
    if (!size) return CUDA_ERROR_INVALID_VALUE;
    if (kind == ALLOCATION_DEVICE) a.address = emu_alloc(driver.emu, size, name.text);
    else if (host) a.address = emu_adopt(driver.emu, host, size, name.text);
    else a.address = emu_alloc_shared(driver.emu, size, name.text);
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

void allocation_drop_variables(const struct CUmod_st *m)
{
    for (size_t i = driver.allocation_count; i-- > 0;)
        if (driver.allocations[i].module == m) take_out(&driver.allocations[i]);
}

void allocation_leaks(const struct CUctx_st *c)
{
    for (size_t i = 0; i < driver.allocation_count; i++) {
        const struct allocation *a = &driver.allocations[i];
        struct emu_allocation known;
        if (a->module || (c && a->context != c)) continue;
        if (a->context->broken) continue; /* nothing can be freed then */
        if (!emu_allocation_near(driver.emu, a->address, &known)) continue;
        driver_find("heddle: leak: '%s', %" PRIu64 " bytes at 0x%" PRIx64 ", was not released\n",
                    known.name, known.size, known.address);
    }
}

void allocation_drop(struct CUctx_st *c, const char *by)
{
    for (size_t i = driver.allocation_count; i-- > 0;)
        if (driver.allocations[i].context == c && !driver.allocations[i].module)
            allocation_end(&driver.allocations[i], by);
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

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    return device_allocate(address, size, CALL_MEM_ALLOC);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element_size)
{
    if (!pitch || !width || !height || width > SIZE_MAX / 2) return CUDA_ERROR_INVALID_VALUE;
    if (element_size != 4 && element_size != 8 && element_size != 16)
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = (width + 511) / 512 * 512;
    if (row > SIZE_MAX / height) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = device_allocate(address, row * height, CALL_MEM_ALLOC_PITCH);
    if (r == CUDA_SUCCESS) *pitch = row;
    return r;
}

void allocation_say_wrong(const char *call, uint64_t address)
{
    struct emu_allocation near;
    char where[1024];
    if (!(driver.config.checks & EMU_CHECK_MEMORY)) return;
    bool any = emu_allocation_near(driver.emu, address, &near);
    const char *what = any && !near.live && near.address == address ? "double free"
                                                                    : "invalid free";
    emu_describe(driver.emu, address, where, sizeof where);
    driver_find("heddle: %s: %s of 0x%" PRIx64 "\n%s", what, call, address, where);
}

static CUresult release(CUdeviceptr address, enum numbered_call call)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct call_name name = driver_call(call);
    if (!address) return driver_end(r); /* 0 may be freed */
    struct allocation *a = allocation_find(address);
    const bool whole = a && a->address == address && !a->module;
    if (whole && (a->kind == ALLOCATION_DEVICE || a->kind == ALLOCATION_MANAGED || a->pool)) {
        allocation_end(a, name.text);
        return driver_end(CUDA_SUCCESS);
    }
    allocation_say_wrong(name.text, address);
    return driver_end(CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    return release(address, CALL_MEM_FREE);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    return stream_ok(stream) ? release(address, CALL_MEM_FREE_ASYNC) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- what a pointer is -------------------------------------------------------------------------------- */

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct allocation *a = allocation_find(allocation_address(address));
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
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned *)value = 1; break; /* all of them are */
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
    default: return CUDA_ERROR_NOT_SUPPORTED;
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

/* Copies and fills are synchronous in any case. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                              !allocation_find(allocation_address(address))))
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

/* Several at once; of memory that CUDA does not know, it tells zeros instead of an error. */
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
    return (struct end){.device = allocation_address(address)};
}

/* Of the host: what it shares is better found among the device's, where its bounds are known. */
static struct end in_host(const void *pointer)
{
    const uint64_t address = (uintptr_t)pointer;
    const struct allocation *a = allocation_find(address);
    if (a) return (struct end){.device = address, .wrong = !a->host};
    if (driver.unified && emu_in_range(driver.emu, address))
        return (struct end){.device = address, .wrong = true};
    return (struct end){.host = pointer_of(address)};
}

static struct end either(CUdeviceptr address)
{
    const struct end e = in_host(pointer_of(address));
    return e.host ? e : in_device(address);
}

/* With the check: a copy or fill that does not stay inside one allocation. */
static void say_outside(const char *what, uint64_t address, size_t size)
{
    struct emu_allocation near;
    char where[1024];
    if (!(driver.config.checks & EMU_CHECK_MEMORY) || emu_bytes(driver.emu, address, size)) return;
    bool any = emu_allocation_near(driver.emu, address, &near);
    emu_describe(driver.emu, address, where, sizeof where);
    driver_find("heddle: %s: %s of %zu bytes at 0x%" PRIx64 " by the host\n%s",
                any && !near.live ? "use after free" : "out of bounds", what, size, address, where);
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
    if (ok && to.host && !from.host && driver.account)
        account_copied(driver.account, to.host, size);
    if (ok) return CUDA_SUCCESS;
    if (to.device) say_outside("write", to.device, size);
    if (from.device) say_outside("read", from.device, size);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_linear(const void *to_host, const void *from_host, CUdeviceptr to,
                            CUdeviceptr from, size_t size, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        r = copy(to_host ? in_host(to_host) : in_device(to),
                 from_host ? in_host(from_host) : in_device(from), size);
    return driver_end(r);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && size && (!to || !from)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = copy(either(to), either(from), size);
    return driver_end(r);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return cuMemcpyAsync(to, from, size, NULL);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    if (!from && size) return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(NULL, from, to, 0, size, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    if (!to && size) return CUDA_ERROR_INVALID_VALUE;
    return copy_linear(to, NULL, 0, from, size, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_linear(NULL, NULL, to, from, size, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    return cuMemcpyHtoDAsync_v2(to, from, size, NULL);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    return cuMemcpyDtoHAsync_v2(to, from, size, NULL);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return cuMemcpyDtoDAsync_v2(to, from, size, NULL);
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

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream stream)
{
    struct CUctx_st *c;
    struct box to, from;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && !p) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!p->WidthInBytes || !p->Height || !p->Depth) return driver_end(CUDA_SUCCESS);
    r = box_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes, p->srcY,
               p->srcZ, p->srcPitch, p->srcHeight, p, &from);
    if (r == CUDA_SUCCESS)
        r = box_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstY,
                   p->dstZ, p->dstPitch, p->dstHeight, p, &to);
    for (size_t z = 0; r == CUDA_SUCCESS && z < p->Depth; z++)
        for (size_t y = 0; r == CUDA_SUCCESS && y < p->Height; y++)
            r = copy(row_of(&to, y, z), row_of(&from, y, z), p->WidthInBytes);
    return driver_end(r);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *p)
{
    return cuMemcpy3DAsync_v2(p, NULL);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream)
{
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D q = {.srcXInBytes = p->srcXInBytes,
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
    return cuMemcpy3DAsync_v2(&q, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p)
{
    return cuMemcpy2DAsync_v2(p, NULL);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p)
{
    return cuMemcpy2DAsync_v2(p, NULL);
}

/* ---- copies of a part of an array, row after row ------------------------------------------------------- */

struct run { /* one side: an array's bytes from an offset on, or plain memory */
    CUarray array;
    size_t at;
    bool host;
    uint64_t address;
};

/* Where the bytes from `done` on lie, and how many lie side by side; 0: there are none. */
static size_t run_at(const struct run *r, size_t done, struct end *out)
{
    if (!r->array) {
        *out = r->host ? in_host(pointer_of(r->address)) : in_device(r->address);
        if (out->host) out->host += done;
        else out->device += done;
        return SIZE_MAX;
    }
    const struct texture_memory *m = &r->array->memory;
    size_t row = m->level[0].width * (m->channels * m->bits / 8u), at = r->at + done;
    if (m->layers || m->depth || at / row >= m->level[0].height) return 0;
    *out = (struct end){.device = m->address + at / row * m->level[0].pitch + at % row};
    return row - at % row;
}

static CUresult copy_run(struct run to, struct run from, size_t size, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && ((to.array && !object_check(to.array, OBJECT_ARRAY)) ||
                              (from.array && !object_check(from.array, OBJECT_ARRAY))))
        r = CUDA_ERROR_INVALID_HANDLE;
    for (size_t done = 0, n; r == CUDA_SUCCESS && done < size; done += n) {
        struct end t, f;
        size_t a = run_at(&to, done, &t), b = run_at(&from, done, &f);
        n = a < b ? a : b;
        if (n > size - done) n = size - done;
        r = n ? copy(t, f, n) : CUDA_ERROR_INVALID_VALUE;
    }
    return driver_end(r);
}

static struct run run_in_array(CUarray array, size_t at)
{
    return (struct run){.array = array, .at = at};
}
static struct run run_in_host(const void *p)
{
    return (struct run){.host = true, .address = (uintptr_t)p};
}
static struct run run_in_device(CUdeviceptr p)
{
    return (struct run){.address = p};
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t size,
                              CUstream stream)
{
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    return copy_run(run_in_array(to, offset), run_in_host(from), size, stream);
}

CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t size, CUstream stream)
{
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    return copy_run(run_in_host(to), run_in_array(from, offset), size, stream);
}

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t size)
{
    return cuMemcpyHtoAAsync_v2(to, offset, from, size, NULL);
}

CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t size)
{
    return cuMemcpyAtoHAsync_v2(to, from, offset, size, NULL);
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size)
{
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    return copy_run(run_in_array(to, offset), run_in_device(from), size, NULL);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size)
{
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    return copy_run(run_in_device(to), run_in_array(from, offset), size, NULL);
}

CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                         size_t size)
{
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    return copy_run(run_in_array(to, to_offset), run_in_array(from, from_offset), size, NULL);
}

/* ---- fills ------------------------------------------------------------------------------------------------ */

static CUresult fill(CUdeviceptr to, size_t pitch, const void *value, unsigned width, size_t count,
                     size_t rows, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    to = allocation_address(to);
    if (r == CUDA_SUCCESS && (to % width || (rows > 1 && (pitch % width || pitch / width < count))))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; r == CUDA_SUCCESS && y < rows; y++)
        if (!emu_fill(driver.emu, to + y * pitch, value, width, count)) {
            say_outside("write", to + y * pitch, count * width);
            r = CUDA_ERROR_INVALID_VALUE;
        }
    return driver_end(r);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return fill(to, pitch, &value, 1, width, height, stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return fill(to, pitch, &value, 2, width, height, stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream)
{
    return fill(to, pitch, &value, 4, width, height, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return fill(to, 0, &value, 1, count, 1, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return fill(to, 0, &value, 2, count, 1, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return fill(to, 0, &value, 4, count, 1, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return cuMemsetD8Async(to, value, count, NULL);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count)
{
    return cuMemsetD16Async(to, value, count, NULL);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count)
{
    return cuMemsetD32Async(to, value, count, NULL);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return cuMemsetD2D8Async(to, pitch, value, width, height, NULL);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return cuMemsetD2D16Async(to, pitch, value, width, height, NULL);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return cuMemsetD2D32Async(to, pitch, value, width, height, NULL);
}
