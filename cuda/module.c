/* Modules, libraries, functions, and the occupancy of functions. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/occupancy.h"
#include "cuda/queue.h"

#include "base/arena.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* ---- modules --------------------------------------------------------------------------------------- */

void module_destroy(struct CUmod_st *m)
{
    reference_drop(m);
    allocation_drop_variables(m);
    for (size_t i = 0; i < m->function_count; i++) object_destroy(&m->functions[i]->object);
    emu_unload(m->image);
    for (size_t i = 0; i < m->ptx_module_count; i++) ptx_module_end(m->ptx_modules[i]);
    arena_free(m->arena);
    object_destroy(&m->object);
}

static CUresult begin_module(CUmodule module)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    return r == CUDA_SUCCESS && !object_check(module, OBJECT_MODULE) ? CUDA_ERROR_INVALID_HANDLE
                                                                     : r;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS) r = module_load(module, image, count, options, values);
    if (r == CUDA_SUCCESS) (*module)->context = c;
    return driver_end(r);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS) r = module_load_file(module, path, 0, NULL, NULL);
    if (r == CUDA_SUCCESS) (*module)->context = c;
    return driver_end(r);
}

CUresult cuModuleUnload(CUmodule module)
{
    CUresult r = begin_module(module);
    if (r == CUDA_SUCCESS && !module->context) r = CUDA_ERROR_NOT_PERMITTED; /* a library's */
    if (r == CUDA_SUCCESS) r = queue_wait_context(module->context);          /* its launches */
    if (r == CUDA_SUCCESS && !object_check(module, OBJECT_MODULE)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) module_destroy(module);
    return driver_end(r);
}

static struct CUfunc_st *find(struct CUmod_st *m, const char *name)
{
    for (size_t i = 0; i < m->function_count; i++)
        if (strcmp(m->functions[i]->name, name) == 0) return m->functions[i];
    return NULL;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult r = begin_module(module);
    if (r == CUDA_SUCCESS && (!function || !name || !*name)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !(*function = find(module, name))) r = CUDA_ERROR_NOT_FOUND;
    return driver_end(r);
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    CUresult r = begin_module(module);
    if (r == CUDA_SUCCESS && !count) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *count = (unsigned)module->function_count;
    return driver_end(r);
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module)
{
    CUresult r = begin_module(module);
    if (r == CUDA_SUCCESS && !functions) r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count && i < module->function_count; i++)
        functions[i] = module->functions[i];
    return driver_end(r);
}

static CUresult global(struct CUmod_st *m, const char *name, CUdeviceptr *address, size_t *size)
{
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    uint64_t bytes = 0, at = emu_variable(m->image, name, &bytes);
    if (!at) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = at;
    if (size) *size = bytes;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
{
    CUresult r = begin_module(module);
    if (r == CUDA_SUCCESS) r = global(module, name, address, size);
    return driver_end(r);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    *mode = CU_MODULE_LAZY_LOADING; /* bodies are lowered when they are first launched */
    return CUDA_SUCCESS;
}

/* ---- libraries: modules without a context ------------------------------------------------------------- */

static CUresult library_end(CUlibrary *library, CUresult r, struct CUmod_st *m)
{
    if (r == CUDA_SUCCESS) {
        struct CUlib_st *l = object_new(OBJECT_LIBRARY, sizeof *l);
        l->module = m;
        *library = l;
    }
    return driver_end(r);
}

/* The options of a library say how its code is kept, which changes nothing here. */
CUresult
cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values,
                  unsigned count,
                  CUlibraryOption *library_options, // NOLINT(readability-non-const-parameter)
                  void **library_values, unsigned library_count)
{
    if (library_count && (!library_options || !library_values))
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    struct CUmod_st *m = NULL;
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS)
        r = library ? module_load(&m, image, count, options, values) : CUDA_ERROR_INVALID_VALUE;
    return library_end(library, r, m);
}

CUresult
cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                      unsigned count,
                      CUlibraryOption *library_options, // NOLINT(readability-non-const-parameter)
                      void **library_values, unsigned library_count)
{
    if (library_count && (!library_options || !library_values))
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    struct CUmod_st *m = NULL;
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS)
        r = library ? module_load_file(&m, path, count, options, values) : CUDA_ERROR_INVALID_VALUE;
    return library_end(library, r, m);
}

static CUresult begin_library(CUlibrary library)
{
    CUresult r = driver_begin_without();
    return r == CUDA_SUCCESS && !object_check(library, OBJECT_LIBRARY) ? CUDA_ERROR_INVALID_HANDLE
                                                                       : r;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS) (void)queue_wait_context(NULL); /* its launches */
    if (r == CUDA_SUCCESS && !object_check(library, OBJECT_LIBRARY)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    module_destroy(library->module);
    object_destroy(&library->object);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS && (!kernel || !name)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !(*kernel = (CUkernel)find(library->module, name)))
        r = CUDA_ERROR_NOT_FOUND;
    return driver_end(r);
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS && !count) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *count = (unsigned)library->module->function_count;
    return driver_end(r);
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary library)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS && !kernels) r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count && i < library->module->function_count; i++)
        kernels[i] = (CUkernel)library->module->functions[i];
    return driver_end(r);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS && !module) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *module = library->module;
    return driver_end(r);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS) r = global(library->module, name, address, size);
    return driver_end(r);
}

CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *size, CUlibrary library,
                             const char *name)
{
    CUdeviceptr at = 0;
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS) r = global(library->module, name, &at, size);
    const struct allocation *a = r == CUDA_SUCCESS ? allocation_find(at) : NULL;
    if (r == CUDA_SUCCESS && (!a || a->kind != ALLOCATION_MANAGED)) r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS && address) *address = at;
    return driver_end(r);
}

/* Functions with one address for host and device: the device has none. */
CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *name)
{
    CUresult r = begin_library(library);
    if (r == CUDA_SUCCESS) r = function && name ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

/* ---- functions ------------------------------------------------------------------------------------------ */

struct CUfunc_st *function_check(CUfunction f)
{
    return object_check(f, OBJECT_FUNCTION);
}

static CUresult begin_function(CUfunction f)
{
    CUresult r = driver_begin_without();
    return r == CUDA_SUCCESS && !function_check(f) ? CUDA_ERROR_INVALID_HANDLE : r;
}

/* What emu knows; a kernel that cannot be lowered has no attributes until its launch says why. */
static struct emu_kernel_info info_of(const struct CUfunc_st *f)
{
    struct emu_kernel_info info;
    emu_kernel_info(f->kernel, &info);
    if (info.registers < 1) info.registers = 1;
    if (info.registers > 255) info.registers = 255;
    return info;
}

static int max_dynamic(const struct CUfunc_st *f, const struct emu_kernel_info *info)
{
    int left = driver.limits.shared_block - (int)info->shared;
    if (f->max_dynamic >= 0) return f->max_dynamic;
    return left > 0 ? left : 0;
}

static CUresult get_attribute(int *value, CUfunction_attribute attribute, struct CUfunc_st *f)
{
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    struct emu_kernel_info info = info_of(f);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)info.max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info.shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info.constant; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info.local; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info.registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = info.target; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = driver.limits.major * 10 + driver.limits.minor;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = max_dynamic(f, &info); break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)info.cluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)info.cluster[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)info.cluster[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->any_cluster; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set_attribute(struct CUfunc_st *f, CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > driver.limits.shared_optin - (int)info_of(f).shared)
            return CUDA_ERROR_INVALID_VALUE;
        f->max_dynamic = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        f->any_cluster = value != 0;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE; /* the others may only be read */
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS) r = get_attribute(value, attribute, function);
    return driver_end(r);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS) r = set_attribute(function, attribute, value);
    return driver_end(r);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && !module) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *module = function->module;
    return driver_end(r);
}

/* What is loaded lazily is loaded when it is first asked for; programs see no difference. */
CUresult cuFuncLoad(CUfunction function)
{
    return driver_end(begin_function(function));
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && !state) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return driver_end(r);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && !name) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *name = function->name;
    return driver_end(r);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && (!offset || index >= function->param_count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    *offset = function->params[index].offset;
    if (size) *size = function->params[index].size;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !function_check((CUfunction)kernel)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && !function) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *function = (CUfunction)kernel;
    return driver_end(r);
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    CUresult r = begin_function((CUfunction)kernel);
    if (r == CUDA_SUCCESS && !library) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    r = CUDA_ERROR_INVALID_HANDLE; /* a module's */
    for (struct object *o = driver.objects.all[OBJECT_LIBRARY - OBJECT_CONTEXT]; o; o = o->next)
        if (o->kind == OBJECT_LIBRARY &&
            ((struct CUlib_st *)o)->module == ((CUfunction)kernel)->module) {
            *library = (struct CUlib_st *)o;
            r = CUDA_SUCCESS;
        }
    return driver_end(r);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    if (!device_ok(device)) return driver_refuse(CUDA_ERROR_INVALID_DEVICE);
    return cuFuncSetCacheConfig((CUfunction)kernel, config);
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return cuFuncGetName(name, (CUfunction)kernel);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device)
{
    if (!device_ok(device)) return driver_refuse(CUDA_ERROR_INVALID_DEVICE);
    return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device)
{
    if (!device_ok(device)) return driver_refuse(CUDA_ERROR_INVALID_DEVICE);
    return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    return cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}

/* ---- occupancy -------------------------------------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

CUresult function_occupancy(struct CUfunc_st *f, int block, size_t dynamic_shared, int *blocks)
{
    struct emu_kernel_info info = info_of(f);
    *blocks = 0;
    if (block <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (block > (int)info.max_threads || dynamic_shared > (size_t)max_dynamic(f, &info))
        return CUDA_SUCCESS;
    *blocks = occupancy_blocks(&driver.limits,
                               &(struct occupancy_use){.threads = block,
                                                       .registers = (int)info.registers,
                                                       .shared = info.shared + dynamic_shared,
                                                       .carveout = f->carveout});
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int block_size, size_t dynamic_shared,
                                                              unsigned flags)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && (!blocks || flags > 1)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = function_occupancy(function, block_size, dynamic_shared, blocks);
    return driver_end(r);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_size, size_t dynamic_shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                dynamic_shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block_size,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_of_block,
                                                   size_t dynamic_shared, int limit, unsigned flags)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && (!min_grid || !block_size || limit < 0 || flags > 1))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    int most = (int)info_of(function).max_threads, best = 0, best_blocks = 0;
    if (limit && limit < most) most = limit;
    /* From the largest block down; whole warps, and the largest size itself. */
    for (int size = most; size > 0; size = (size - 1) / 32 * 32) {
        driver_unlock();
        size_t shared = shared_of_block ? shared_of_block(size) : dynamic_shared;
        driver_lock();
        int blocks;
        function_occupancy(function, size, shared, &blocks);
        if (blocks * size > best * best_blocks) {
            best = size;
            best_blocks = blocks;
        }
    }
    *block_size = best;
    *min_grid = best_blocks * driver.limits.sms;
    return driver_end(best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block, size_t dynamic_shared,
                                          int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block_size, function,
                                                     shared_of_block, dynamic_shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                 int block_size)
{
    CUresult r = begin_function(function);
    if (r == CUDA_SUCCESS && (!bytes || blocks <= 0 || block_size <= 0))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct emu_kernel_info info = info_of(function);
    int fit;
    function_occupancy(function, block_size, 0, &fit);
    if (fit < blocks) return driver_end(CUDA_ERROR_INVALID_VALUE);
    const long each = occupancy_shared(&driver.limits, blocks, function->carveout) -
                      (long)info.shared;
    *bytes = (size_t)(each > 0 ? each : 0);
    if (*bytes > (size_t)max_dynamic(function, &info))
        *bytes = (size_t)max_dynamic(function, &info);
    return driver_end(CUDA_SUCCESS);
}

/* ---- clusters ---------------------------------------------------------------------------------------------- */

/* CTAs of a cluster that a launch asks for, or the kernel wants; 1: there are no clusters. */
static unsigned cluster_of(const struct CUfunc_st *f, const CUlaunchConfig *g)
{
    const struct emu_kernel_info info = info_of(f);
    const uint32_t *own = info.cluster;
    unsigned size = own[0] ? own[0] * own[1] * own[2] : 1;
    for (unsigned i = 0; i < g->numAttrs; i++) {
        const CUlaunchAttribute *a = &g->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = a->value.clusterDim.x * a->value.clusterDim.y * a->value.clusterDim.z;
    }
    return size;
}

static CUresult begin_clusters(const int *out, CUfunction f, const CUlaunchConfig *g, int *blocks)
{
    CUresult r = begin_function(f);
    if (r == CUDA_SUCCESS && (!out || !g || (g->numAttrs && !g->attrs)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !device_attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r != CUDA_SUCCESS) return r;
    const uint64_t block = (uint64_t)g->blockDimX * g->blockDimY * g->blockDimZ;
    if (!block || block > 1024) return CUDA_ERROR_INVALID_VALUE;
    return function_occupancy(f, (int)block, g->sharedMemBytes, blocks);
}

/* The CTAs of a cluster may be on any SMs: how SMs are grouped is not known here. */
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *g)
{
    int blocks = 0;
    CUresult r = begin_clusters(clusters, function, g, &blocks);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const unsigned size = cluster_of(function, g), most = function->any_cluster ? 16 : 8;
    if (!size || size > most) return driver_end(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    *clusters = blocks * driver.limits.sms / (int)size;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *g)
{
    int blocks = 0;
    CUresult r = begin_clusters(size, function, g, &blocks);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const struct emu_kernel_info info = info_of(function);
    const uint32_t *own = info.cluster;
    *size = own[0] ? (int)(own[0] * own[1] * own[2]) : function->any_cluster ? 16 : 8;
    *size = least(*size, blocks * driver.limits.sms);
    return driver_end(CUDA_SUCCESS);
}
