/* Memory by the driver API: allocations, copies, fills, pinned and managed memory, mapped addresses, pools, pointers. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "tests/support/driver_calls.h"
#include "tests/support/driver_kernels.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(driver, memory, .init = driver_load_kernels, .fini = driver_reset)
{
    CUdeviceptr p, q, base;
    size_t size, pitch, all, left, left2;
    char text[16] = "hello, device", back[16];
    OK(cuMemGetInfo(&left, &all));
    p = driver_alloc(100);
    cr_expect(p % 256 == 0);
    OK(cuMemGetInfo(&left2, &all));
    cr_expect(all == 64 << 20 && left2 == left - 100, "%zu %zu", left, left2);
    OK(cuMemGetAddressRange(&base, &size, p + 99));
    cr_expect(base == p && size == 100);
    IS(cuMemGetAddressRange(&base, &size, p + 100), CUDA_ERROR_NOT_FOUND);
    q = driver_alloc(16);
    OK(cuMemcpyHtoD(p + 50, text, 16));
    OK(cuMemcpyDtoD(q, p + 50, 16));
    OK(cuMemcpyDtoH(back, q, 16));
    cr_expect(memcmp(text, back, 16) == 0);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, p + 52, 14));
    cr_expect(memcmp(text + 2, back, 14) == 0);
    IS(cuMemcpyHtoD(p + 90, text, 16), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(back, q + 1, 16), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(8, text, 16), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(p, NULL, 0));
    IS(cuMemFree(p + 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(0));
    IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAlloc(&p, (size_t)1 << 40), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAllocPitch(&p, &pitch, 100, 7, 4));
    cr_expect(pitch == 512);
    OK(cuMemGetAddressRange(&base, &size, p));
    cr_expect(size == 7 * 512);
    IS(cuMemAllocPitch(&p, &pitch, 100, 7, 5), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, fills, .init = driver_load_kernels, .fini = driver_reset)
{
    uint8_t got[64], want[64];
    CUdeviceptr p = driver_alloc(64);
    memset(want, 1, 64);
    OK(cuMemsetD8(p, 1, 64));
    for (int i = 0; i < 3; i++) memcpy(want + 8 + 2 * i, "\x34\x12", 2);
    OK(cuMemsetD16(p + 8, 0x1234, 3));
    memcpy(want + 16, "\x78\x56\x34\x12", 4);
    OK(cuMemsetD32Async(p + 16, 0x12345678, 1, CU_STREAM_PER_THREAD));
    for (int y = 0; y < 3; y++) memset(want + 32 + 8 * y, 9, 5);
    OK(cuMemsetD2D8(p + 32, 8, 9, 5, 3));
    OK(cuMemcpyDtoH(got, p, 64));
    cr_expect(memcmp(got, want, 64) == 0);
    IS(cuMemsetD32(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(p, 0, 65), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD2D32(p, 8, 0, 3, 2), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, copies_of_boxes, .init = driver_load_kernels, .fini = driver_reset)
{
    uint8_t host[6 * 10], back[4 * 5 * 2];
    for (unsigned i = 0; i < sizeof host; i++) host[i] = (uint8_t)i;
    CUdeviceptr p = driver_alloc(1000);
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 10,
                        .srcXInBytes = 3,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = p,
                        .dstPitch = 16,
                        .dstXInBytes = 1,
                        .dstY = 2,
                        .WidthInBytes = 4,
                        .Height = 5};
    OK(cuMemcpy2D(&in));
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = p,
                         .srcPitch = 16,
                         .srcHeight = 2, /* a slice is two rows: z walks down the rows */
                         .srcXInBytes = 1,
                         .srcY = 0,
                         .srcZ = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = 4,
                         .dstHeight = 2,
                         .WidthInBytes = 4,
                         .Height = 2,
                         .Depth = 2};
    OK(cuMemcpy3D(&out));
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 4; x++)
            cr_expect(back[y * 4 + x] == (y + 1) * 10 + x + 3, "%u %u: %u", x, y, back[y * 4 + x]);
    in.dstPitch = 4;
    IS(cuMemcpy2D(&in), CUDA_ERROR_INVALID_VALUE);
    in.dstPitch = 16;
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY; /* and no array */
    IS(cuMemcpy2D(&in), CUDA_ERROR_INVALID_HANDLE);
    in.Height = 0;
    OK(cuMemcpy2D(&in));
    IS(cuMemcpy2D(NULL), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, pinned_memory_is_shared_with_kernels, .init = driver_load_kernels,
     .fini = driver_reset)
{
    uint32_t *host, n = 8, k = 1;
    CUdeviceptr device, q;
    unsigned flags, type;
    OK(cuMemHostAlloc((void **)&host, 32, CU_MEMHOSTALLOC_DEVICEMAP));
    for (uint32_t i = 0; i < n; i++) host[i] = i;
    OK(cuMemHostGetDevicePointer(&device, host, 0));
    OK(driver_launch1(driver_kernel("add"), 1, 32, (void *[]){&device, &device, &n, &k}));
    for (uint32_t i = 0; i < n; i++) cr_expect(host[i] == i + 1);
    OK(cuMemHostGetDevicePointer(&q, host + 3, 0));
    cr_expect(q == device + 12);
    OK(cuMemHostGetFlags(&flags, host));
    cr_expect(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)host));
    cr_expect(type == CU_MEMORYTYPE_HOST);
    IS(cuMemFree(device), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(host + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(host));
    IS(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocHost((void **)&host, 10));
    OK(cuMemFreeHost(host));
}

/* in[i] + 10 of 8 numbers */
static void add_10(CUdeviceptr in, CUdeviceptr out)
{
    unsigned n = 8, k = 10;
    OK(driver_launch1(driver_kernel("add"), 1, 32, (void *[]){&in, &out, &n, &k}));
}

static int *host_of(CUdeviceptr p)
{
    return (int *)(uintptr_t)p;
}

Test(driver, managed_memory_has_one_address, .init = driver_load_kernels, .fini = driver_reset)
{
    CUdeviceptr p = 0, q = driver_alloc(32);
    int back[8];
    OK(cuMemAllocManaged(&p, 32, CU_MEM_ATTACH_GLOBAL));
    for (int i = 0; i < 8; i++) host_of(p)[i] = i;
    add_10(p, q);
    add_10(q, p);
    for (int i = 0; i < 8; i++) cr_expect(host_of(p)[i] == i + 20);
    OK(cuMemcpyDtoH(back, p, 32));
    cr_expect(back[7] == 27);
    OK(cuMemcpyHtoD(q, host_of(p), 32)); /* it is the host's as well */
    OK(cuMemsetD32(p, 3, 4));
    cr_expect(host_of(p)[3] == 3 && host_of(p)[4] == 24);
    IS(cuMemcpyHtoD(q, host_of(p + 8), 32), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(host_of(p)), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, 32, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, (size_t)1 << 40, CU_MEM_ATTACH_HOST), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, registered_memory_stays_where_it_is, .init = driver_load_kernels, .fini = driver_reset)
{
    int *mine = malloc(5000), back[8];
    CUdeviceptr p, q;
    unsigned flags, type;
    void *host;
    for (int i = 0; i < 8; i++) mine[i + 1] = i;
    OK(cuMemHostRegister(mine + 1, 4096, CU_MEMHOSTREGISTER_PORTABLE));
    OK(cuMemHostGetDevicePointer(&p, mine + 1, 0));
    OK(cuMemHostGetDevicePointer(&q, mine + 101, 0));
    cr_expect(q == p + 400);
    add_10(p, q);
    for (int i = 0; i < 8; i++) cr_expect(mine[101 + i] == i + 10);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, (CUdeviceptr)(uintptr_t)(mine + 101), 32));
    OK(cuMemsetD32((CUdeviceptr)(uintptr_t)(mine + 102), 5, 1));
    cr_expect(back[7] == 17 && mine[102] == 5 && mine[103] == 12);
    OK(cuMemHostGetFlags(&flags, mine + 9));
    cr_expect(flags == (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)(mine + 9)));
    OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p + 32));
    cr_expect(type == CU_MEMORYTYPE_HOST && host == mine + 9);
    IS(cuMemHostRegister(mine, 5000, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    IS(cuMemHostUnregister(mine + 9), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(mine + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(mine + 1));
    IS(cuMemHostUnregister(mine + 1), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    IS(cuMemcpyDtoH(back, p, 32), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(mine, 0, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(NULL, 9, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister((void *)(uintptr_t)4096, 9, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(mine, 9, 16), CUDA_ERROR_INVALID_VALUE);
    free(mine);
}

/* Pointers that a direction calls the host's, and that are the device's alone. */
Test(driver, swapped_pointers_are_an_error, .init = driver_load_kernels, .fini = driver_reset)
{
    CUdeviceptr p = driver_alloc(64);
    char text[64] = {0};
    IS(cuMemcpyDtoH(host_of(p), p, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(p, host_of(p + 32), 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)text, host_of(p), 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(p, host_of(p + 4096), 4), CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = p,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = host_of(p),
                       .WidthInBytes = 4,
                       .Height = 1};
    IS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c.dstHost = text;
    OK(cuMemcpy2D(&c));
    OK(cuMemFree(p));
    IS(cuMemcpyDtoH(text, p, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpy((CUdeviceptr)(uintptr_t)text, p, 4), CUDA_ERROR_INVALID_VALUE);
}

static int range(CUmem_range_attribute a, CUdeviceptr p, size_t size)
{
    int value = -7;
    OK(cuMemRangeGetAttribute(&value, 4, a, p, size));
    return value;
}

Test(driver, remembers_advice_by_the_page, .init = driver_load_kernels, .fini = driver_reset)
{
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                        host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                        other = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
                        none = {CU_MEM_LOCATION_TYPE_INVALID, 0},
                        node = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 3};
    CUdeviceptr p;
    int by[3];
    OK(cuMemAllocManaged(&p, 5 * 4096, CU_MEM_ATTACH_GLOBAL));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 5 * 4096) == 0);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 9) == CU_DEVICE_INVALID);
    OK(cuMemAdvise(p + 4100, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, none)); /* pages 1 and 2 */
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4096, 8192) == 1);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4095, 8192) == 0);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4096, 8193) == 0);
    OK(cuMemAdvise(p, 5 * 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, 5 * 4096) ==
              CU_MEM_LOCATION_TYPE_HOST_NUMA);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, 5 * 4096) == 3);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1) == CU_DEVICE_INVALID);
    OK(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1) == CU_DEVICE_CPU);
    OK(cuMemAdvise(p, 9000, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    OK(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
    cr_expect(by[0] == 0 && by[1] == CU_DEVICE_CPU && by[2] == CU_DEVICE_INVALID);
    OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4097));
    cr_expect(by[0] == 0 && by[1] == CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync(p, 4096, device, 0, NULL));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4096) == 0);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p, 4097) == 0);
    IS(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_ACCESSED_BY, other), CUDA_ERROR_INVALID_DEVICE);
    IS(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_ACCESSED_BY, none), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAdvise(p, 1, (CUmem_advise)9, host), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAdvise(driver_alloc(9), 1, CU_MEM_ADVISE_SET_READ_MOSTLY, host),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPrefetchAsync(p, 5 * 4096 + 1, device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPrefetchAsync(p, 0, device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPrefetchAsync(p, 1, device, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemRangeGetAttribute(by, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemRangeGetAttribute(by, 5, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 1),
       CUDA_ERROR_INVALID_VALUE);
    CUstream s;
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(NULL, p, 5 * 4096, CU_MEM_ATTACH_HOST));
    IS(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamAttachMemAsync(s, p, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamAttachMemAsync(s, p, 0, 3), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, maps_memory_to_addresses, .init = driver_load_kernels, .fini = driver_reset)
{
    enum { UNIT = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                          none = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemGenericAllocationHandle a, b, again;
    CUdeviceptr at, hint, p;
    size_t granularity;
    unsigned long long flags;
    static unsigned char out[64], in[64];
    OK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    cr_assert(granularity == UNIT);
    OK(cuMemAddressReserve(&at, 4 * UNIT, 0, 0, 0));
    cr_expect(at % UNIT == 0);
    p = driver_alloc(UNIT); /* not there */
    cr_expect(p + UNIT <= at || p >= at + 4 * UNIT);
    OK(cuMemCreate(&a, UNIT, &prop, 0));
    OK(cuMemCreate(&b, 2 * UNIT, &prop, 0));
    OK(cuMemMap(at, UNIT, 0, a, 0));
    OK(cuMemMap(at + UNIT, 2 * UNIT, 0, b, 0));
    IS(cuMemsetD8(at, 1, 4), CUDA_ERROR_INVALID_VALUE); /* it may not be accessed yet */
    OK(cuMemSetAccess(at, 3 * UNIT, &all, 1));
    OK(cuMemGetAccess(&flags, &all.location, at + UNIT + 5));
    cr_expect(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    /* across the border */
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)i;
    OK(cuMemcpyHtoD(at + UNIT - 32, in, 64));
    OK(cuMemcpyDtoH(out, at + UNIT - 32, 64));
    cr_expect(memcmp(in, out, 64) == 0);
    OK(cuMemsetD32(at + UNIT - 16, 7, 8));
    add_10(at + UNIT - 16, at + 64);
    OK(cuMemcpyDtoH(out, at + 64, 32));
    cr_expect(out[0] == 17 && out[28] == 17);
    IS(cuMemsetD8(at + 3 * UNIT - 4, 1, 5), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemUnmap(at, UNIT / 2), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(at, 4 * UNIT), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(at + 2 * UNIT, UNIT, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(at + 3 * UNIT, UNIT, 2 * UNIT, b, 0), CUDA_ERROR_INVALID_VALUE);
    /* the same memory a second time, and another place for it afterwards */
    OK(cuMemMap(at + 3 * UNIT, UNIT, 0, a, 0));
    OK(cuMemSetAccess(at + 3 * UNIT, UNIT, &all, 1));
    OK(cuMemsetD8(at + 3 * UNIT, 5, 1));
    OK(cuMemcpyDtoH(out, at, 1));
    cr_expect(out[0] == 5);
    OK(cuMemRetainAllocationHandle(&again, (void *)host_of(at + 9)));
    cr_expect(again == a);
    OK(cuMemRelease(a));
    OK(cuMemRelease(a));
    IS(cuMemRelease(a), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemSetAccess(at + 3 * UNIT, UNIT, &none, 1));
    IS(cuMemsetD8(at + 3 * UNIT, 5, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(at, 4 * UNIT));
    IS(cuMemUnmap(at, 4 * UNIT), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(at, UNIT, 0, a, 0), CUDA_ERROR_INVALID_VALUE); /* its memory is gone */
    OK(cuMemMap(at + UNIT, 2 * UNIT, 0, b, 0));
    OK(cuMemSetAccess(at + UNIT, 2 * UNIT, &all, 1));
    OK(cuMemcpyDtoH(out, at + UNIT, 4));
    cr_expect(out[0] == 7);
    OK(cuMemUnmap(at + UNIT, 2 * UNIT));
    OK(cuMemAddressFree(at, 4 * UNIT));
    OK(cuMemAddressReserve(&hint, 2 * UNIT, 0, at + 2 * UNIT, 0));
    cr_expect(hint == at + 2 * UNIT);
    IS(cuMemAddressReserve(&hint, UNIT + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressReserve(&hint, (size_t)1 << 40, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    IS(cuMemCreate(&a, UNIT + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    /* a wild access by a kernel to it is reported */
    CUdeviceptr astray = at + 3 * UNIT;
    IS(driver_launch1(driver_kernel("astray"), 1, 1, (void *[]){&astray}),
       CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* As allocators do that grow in place; and the addresses of other memory are not taken by it. */
Test(driver, reserves_more_than_there_is_memory, .init = driver_load_kernels, .fini = driver_reset)
{
    enum { UNIT = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t more = (size_t)72 << 20; /* of 64 MiB */
    CUmemGenericAllocationHandle a;
    CUdeviceptr first, second, none, p;
    unsigned out[4] = {0};
    OK(cuMemAddressReserve(&first, more, 0, 0, 0));
    OK(cuMemAddressReserve(&second, more, 0, 0, 0));
    cr_expect(second >= first + more || first >= second + more);
    IS(cuMemAddressReserve(&none, 4 * more, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemCreate(&a, UNIT, &prop, 0));
    OK(cuMemMap(second + more - UNIT, UNIT, 0, a, 0));
    OK(cuMemSetAccess(second + more - UNIT, UNIT, &all, 1));
    OK(cuMemsetD32(second + more - 16, 5, 4));
    add_10(second + more - UNIT, second + more - 64);
    OK(cuMemcpyDtoH(out, second + more - 64, 4));
    cr_expect(out[0] == 10);
    OK(cuMemcpyDtoH(out, second + more - 4, 4));
    cr_expect(out[0] == 5);
    p = driver_alloc((size_t)48 << 20);
    OK(cuMemFree(p));
    OK(cuMemUnmap(second + more - UNIT, UNIT));
    OK(cuMemAddressFree(first, more));
    OK(cuMemAddressFree(second, more));
    OK(cuMemAddressReserve(&none, 2 * more, 0, 0, 0));
    cr_expect(none == first);
}

/* Kernels and copies read what they may not write, and write it again when they may. */
Test(driver, maps_memory_to_be_read_alone, .init = driver_load_kernels, .fini = driver_reset)
{
    enum { UNIT = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                          read = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUmemGenericAllocationHandle a, b;
    CUdeviceptr at, p = driver_alloc(64);
    unsigned long long flags;
    unsigned out[8] = {0};
    OK(cuMemAddressReserve(&at, 2 * UNIT, 0, 0, 0));
    OK(cuMemCreate(&a, UNIT, &prop, 0));
    OK(cuMemCreate(&b, UNIT, &prop, 0));
    OK(cuMemMap(at, UNIT, 0, a, 0));
    OK(cuMemMap(at + UNIT, UNIT, 0, b, 0));
    OK(cuMemSetAccess(at, 2 * UNIT, &all, 1));
    OK(cuMemsetD32(at + UNIT - 16, 7, 8));
    add_10(at, at + 64); /* its sites know the first mapping */
    OK(cuMemSetAccess(at + UNIT, UNIT, &read, 1));
    OK(cuMemGetAccess(&flags, &all.location, at + UNIT));
    cr_expect(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    add_10(at + UNIT, p);
    OK(cuMemcpyDtoH(out, p, 4));
    cr_expect(out[0] == 17);
    OK(cuMemcpyDtoH(out, at + UNIT - 16, 32));
    cr_expect(out[0] == 7 && out[7] == 7);
    IS(cuMemsetD32(at + UNIT, 1, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(at + UNIT - 16, out, 32), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoD(at + UNIT, p, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(at + UNIT - 16, out, 16));
    OK(cuMemSetAccess(at + UNIT, UNIT, &all, 1));
    add_10(at + UNIT, at + UNIT);
    OK(cuMemcpyDtoH(out, at + UNIT, 4));
    cr_expect(out[0] == 17);
    OK(cuMemSetAccess(at, 2 * UNIT, &read, 1));
    CUdeviceptr astray = at + UNIT;
    IS(driver_launch1(driver_kernel("astray"), 1, 1, (void *[]){&astray}),
       CUDA_ERROR_ILLEGAL_ADDRESS);
}

static uint64_t of_pool(CUmemoryPool pool, CUmemPool_attribute a)
{
    uint64_t value = 99;
    OK(cuMemPoolGetAttribute(pool, a, &value));
    return value;
}

Test(driver, pools_count_what_they_hold, .init = driver_load_kernels, .fini = driver_reset)
{
    const uint64_t MB = 1 << 20;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            .maxSize = 6 << 20};
    CUmemoryPool pool, of;
    CUdeviceptr p, q, r;
    uint64_t threshold = 3 * MB;
    size_t free_before, free_after, total;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemGetInfo(&free_before, &total));
    OK(cuMemAllocFromPoolAsync(&p, MB, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&q, 4 * MB, pool, NULL));
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, q + 5));
    cr_expect(of == pool);
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 5 * MB);
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 6 * MB);
    OK(cuMemGetInfo(&free_after, &total));
    cr_expect(free_before - free_after == 6 * MB);
    IS(cuMemAllocFromPoolAsync(&r, MB + 1, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(q, NULL));
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 6 * MB);
    OK(cuStreamSynchronize(NULL)); /* down to the threshold, in whole units of 2 MiB */
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 4 * MB);
    OK(cuMemPoolTrimTo(pool, 0));
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * MB);
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) == 6 * MB);
    threshold = 0;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &threshold));
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == MB);
    OK(cuMemPoolDestroy(pool)); /* with memory that is in use */
    IS(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD8(p, 1, MB));
    OK(cuMemFree(p));
    OK(cuMemGetInfo(&free_after, &total));
    cr_expect(free_before == free_after);
}

Test(driver, pools_of_the_host_and_wrong_ones, .init = driver_load_kernels, .fini = driver_reset)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_HOST, 0}};
    CUmemLocation host = props.location;
    CUmemoryPool pool, other, device;
    CUmemAccess_flags flags;
    CUdeviceptr p;
    const CUmemAccessDesc granted = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAccess(pool, &granted, 1));
    OK(cuMemAllocFromPoolAsync(&p, 32, pool, NULL));
    host_of(p)[0] = 5;
    add_10(p, p);
    cr_expect(host_of(p)[0] == 15);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemGetDefaultMemPool(&other, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
    OK(cuDeviceGetDefaultMemPool(&device, 0));
    cr_expect(other != pool && other != device);
    IS(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE); /* it is not of the device */
    IS(cuDeviceGetMemPool(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    IS(cuMemPoolDestroy(device), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolGetAccess(&flags, device, &host));
    cr_expect(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    IS(cuMemPoolCreate(&pool, &props), CUDA_ERROR_NOT_SUPPORTED);
    props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    IS(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPoolCreate(NULL, &props), CUDA_ERROR_INVALID_VALUE);
    int fd;
    IS(cuMemPoolExportToShareableHandle(&fd, device, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
       CUDA_ERROR_INVALID_VALUE);
}

Test(driver, pointer_attributes, .init = driver_load_kernels, .fini = driver_reset)
{
    CUdeviceptr p = driver_alloc(64), start_of;
    unsigned type = 9, managed = 9;
    size_t size;
    CUcontext c;
    void *host;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 63));
    cr_expect(type == CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    cr_expect(c == driver_context);
    IS(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&type, (CUpointer_attribute)12345, p), CUDA_ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&type, (CUpointer_attribute)0, p), CUDA_ERROR_INVALID_VALUE);
    host = &type;
    OK(cuMemHostAlloc((void **)&host, 0, 0));
    cr_expect_null(host);
    host = &type;
    OK(cuMemAllocHost((void **)&host, 0));
    cr_expect_null(host);
    CUpointer_attribute a[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                               CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    OK(cuPointerGetAttributes(3, a, (void *[]){&start_of, &size, &managed}, p + 10));
    cr_expect(start_of == p && size == 64 && managed == 0);
    OK(cuPointerGetAttributes(1, (CUpointer_attribute[]){CU_POINTER_ATTRIBUTE_MEMORY_TYPE},
                              (void *[]){&type}, (CUdeviceptr)(uintptr_t)&type));
    cr_expect(type == 0, "unknown memory gives zeros");
}
