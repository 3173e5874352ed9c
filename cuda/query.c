/* Queries: versions, error texts, entry points, properties of the device. */
#include "cuda/driver.h"
#include "cuda/per_thread.h"
#include "emu/gpu.h"

#include <stdio.h>
#include <string.h>

#define DRIVER_VERSION CUDA_VERSION
#define TEXTURE_1D_LINEAR_WIDTH ((CUdevice_attribute)69)

CUresult cuDriverGetVersion(int *version)
{
    if (!version) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    *version = DRIVER_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define ERROR(code, value, text) {code, #code, text},
#include "cuda/errors.def"
};

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors && !*name; i++)
        if (errors[i].code == error) *name = errors[i].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors && !*text; i++)
        if (errors[i].code == error) *text = errors[i].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuProfilerStart(void)
{
    struct CUctx_st *c;
    return driver_end(driver_begin(&c));
}

CUresult cuProfilerStop(void)
{
    struct CUctx_st *c;
    return driver_end(driver_begin(&c));
}

/* Files of a profiler that there is not. */
CUresult cuProfilerInitialize(const char *config, const char *output, int mode)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!config || !output || (unsigned)mode > 1))
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

/* ---- entry points ------------------------------------------------------------------------------------ */

static const struct {
    entry_point *function;
    const char *name;
    int since;
} api[] = {
#include "cuda/exact_names.h"
#define API(symbol, name, since) {(entry_point *)(symbol), name, since},
#include "cuda/api.def"
};

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    if (!name || !function || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    int best = -1;
    bool known = false;
    for (size_t i = 0; i < sizeof api / sizeof *api; i++) {
        if (strcmp(api[i].name, name) != 0) continue;
        known = true;
        if (api[i].since <= version && (best < 0 || api[i].since > api[best].since)) best = (int)i;
    }
    const bool own = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    /* A driver has the functions that Heddle does not have: programs call them without a look at the address. */
    entry_point *f = best < 0 ? (known ? NULL : absent_entry_point(name))
                     : own    ? per_thread_of(api[best].function)
                              : api[best].function;
    const CUdriverProcAddressQueryResult s = f       ? CU_GET_PROC_ADDRESS_SUCCESS
                                             : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (status) *status = s;
    if (f) memcpy(function, &f, sizeof *function);
    else *function = NULL;
    /* with a place for the status, that is where the answer is */
    return f || status ? CUDA_SUCCESS : driver_refuse(CUDA_ERROR_NOT_FOUND);
}

CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

/* ---- the device -------------------------------------------------------------------------------------- */

static CUresult begin_device(CUdevice device, const void *out)
{
    CUresult r = driver_begin_without();
    if (r != CUDA_SUCCESS) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    return device_ok(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult r = begin_device(ordinal, device);
    if (r == CUDA_SUCCESS) *device = ordinal;
    return driver_end(r);
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult r = begin_device(0, count);
    if (r == CUDA_SUCCESS) *count = 1;
    return driver_end(r);
}

static CUresult text_out(char *to, int length, CUdevice device, const char *text)
{
    CUresult r = begin_device(device, to);
    if (r == CUDA_SUCCESS && length <= 0) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) snprintf(to, (size_t)length, "%s", text);
    return driver_end(r);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    char text[64] = "";
    if (driver.initialised) snprintf(text, sizeof text, "Heddle %s", driver.config.gpu->title);
    return text_out(name, length, device, text);
}

static const char bus[] = "0000:00:00.0";

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    return text_out(id, length, device, bus);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    CUresult r = begin_device(0, id ? device : NULL);
    if (r == CUDA_SUCCESS && strcmp(id, bus) != 0) r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS) *device = 0;
    return driver_end(r);
}

CUresult cuDeviceGetProperties(CUdevprop *out, CUdevice device)
{
    static const unsigned char attributes[] = {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,
        CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        CU_DEVICE_ATTRIBUTE_MAX_PITCH,
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT,
    };
    enum { COUNT = sizeof attributes };
    static_assert(sizeof(CUdevprop) == COUNT * sizeof(int), "one number each, in this order");
    int values[COUNT];
    CUresult r = begin_device(device, out);
    if (r != CUDA_SUCCESS) return driver_end(r);
    for (int i = 0; i < COUNT; i++) values[i] = device_attribute((CUdevice_attribute)attributes[i]);
    memcpy(out, values, sizeof values);
    return driver_end(CUDA_SUCCESS);
}

/* Contexts have all SMs. */
CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device)
{
    CUresult r = begin_device(device, supported);
    if (r == CUDA_SUCCESS && (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *supported = 0;
    return driver_end(r);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    static const CUuuid own = {"Heddle device 0"};
    CUresult r = begin_device(device, uuid);
    if (r == CUDA_SUCCESS) *uuid = own;
    return driver_end(r);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

size_t driver_memory(void)
{
    return driver.config.memory ? driver.config.memory : (size_t)8 << 30;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult r = begin_device(device, bytes);
    if (r == CUDA_SUCCESS) *bytes = driver_memory();
    return driver_end(r);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult r = begin_device(device, major && minor ? major : NULL);
    if (r != CUDA_SUCCESS) return driver_end(r);
    *major = driver.limits.major;
    *minor = driver.limits.minor;
    return driver_end(r);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult r = begin_device(device, can);
    if (r == CUDA_SUCCESS && !device_ok(peer)) r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS) *can = 0;
    return driver_end(r);
}

/* Of two devices; there is one. */
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to)
{
    CUresult r = begin_device(from, value);
    if (r == CUDA_SUCCESS && (attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
                              attribute > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (!device_ok(to) || from == to)) r = CUDA_ERROR_INVALID_DEVICE;
    return driver_end(r);
}

enum { ATOMIC_OPERATIONS = 13 }; /* CUatomicOperation */

static CUresult check_operations(CUresult begun, const unsigned *operations, unsigned count)
{
    if (begun != CUDA_SUCCESS) return begun;
    if (!operations || !count) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (operations[i] >= ATOMIC_OPERATIONS) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* None, as CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED says: the link to the host is PCIe. */
CUresult cuDeviceGetHostAtomicCapabilities(unsigned *out, const unsigned *operations,
                                           unsigned count, CUdevice device)
{
    const CUresult r = check_operations(begin_device(device, out), operations, count);
    if (r == CUDA_SUCCESS) memset(out, 0, count * sizeof *out);
    return driver_end(r);
}

/* Of two devices; there is one. */
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *out, const unsigned *operations, unsigned count,
                                          CUdevice from, CUdevice to)
{
    CUresult r = check_operations(begin_device(from, out), operations, count);
    if (r == CUDA_SUCCESS && (!device_ok(to) || from == to)) r = CUDA_ERROR_INVALID_DEVICE;
    return driver_end(r);
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *texels, CUarray_format format,
                                            unsigned channels, CUdevice device)
{
    struct texture_memory m;
    CUresult r = begin_device(device, texels);
    if (r == CUDA_SUCCESS && !texture_format(format, channels, &m)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *texels = (size_t)device_attribute(TEXTURE_1D_LINEAR_WIDTH);
    return driver_end(r);
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    struct CUctx_st *c;
    return driver_end(driver_begin(&c)); /* nothing persists there */
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice device)
{
    CUresult r = begin_device(device, value);
    if (r == CUDA_SUCCESS && ((int)a < 1 || a >= CU_DEVICE_ATTRIBUTE_MAX))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *value = device_attribute(a);
    return driver_end(r);
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    size_t used = emu_memory_used(driver.emu) + driver.memory.pools_idle, all = driver_memory();
    if (total) *total = all;
    if (free) *free = used < all ? all - used : 0;
    return driver_end(CUDA_SUCCESS);
}
