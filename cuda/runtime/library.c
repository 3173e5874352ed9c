/* Libraries, and the driver's entry points by name: calls of the driver API. */
#include "cuda/runtime/runtime.h"

#include <string.h>

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, int *options,
                                void **values, unsigned count, int *library_options,
                                void **library_values, unsigned library_count)
{
    RUNTIME_CALL(cuLibraryLoadData(library, code, (CUjit_option *)options, values, count,
                                   (CUlibraryOption *)library_options, library_values,
                                   library_count));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, int *options,
                                    void **values, unsigned count, int *library_options,
                                    void **library_values, unsigned library_count)
{
    RUNTIME_CALL(cuLibraryLoadFromFile(library, path, (CUjit_option *)options, values, count,
                                       (CUlibraryOption *)library_options, library_values,
                                       library_count));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    RUNTIME_CALL(cuLibraryUnload(library));
}

/* Kernels that no host function stands for are known by themselves. */
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    RUNTIME_CALL(cuLibraryGetKernel(kernel, library, name));
}

typedef CUresult get_variable(CUdeviceptr *at, size_t *size, CUlibrary library, const char *name);

static unsigned variable(get_variable *get, void **address, size_t *size, cudaLibrary_t library,
                         const char *name)
{
    CUdeviceptr at = 0;
    const unsigned r = get(&at, size, library, name);
    if (r == cudaSuccess && address) memcpy(address, &at, sizeof *address);
    return r == CUDA_ERROR_NOT_FOUND ? (unsigned)cudaErrorSymbolNotFound : r;
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *size, cudaLibrary_t library,
                                 const char *name)
{
    RUNTIME_CALL(variable(cuLibraryGetGlobal, address, size, library, name));
}

cudaError_t cudaLibraryGetManaged(void **address, size_t *size, cudaLibrary_t library,
                                  const char *name)
{
    RUNTIME_CALL(variable(cuLibraryGetManaged, address, size, library, name));
}

cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library, const char *name)
{
    RUNTIME_CALL(cuLibraryGetUnifiedFunction(function, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    RUNTIME_CALL(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count,
                                        cudaLibrary_t library)
{
    RUNTIME_CALL(cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute,
                                            int value, int device)
{
    RUNTIME_CALL(cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, int *status)
{
    CUdriverProcAddressQueryResult q = CU_GET_PROC_ADDRESS_SUCCESS;
    unsigned r = runtime_begin();
    if (r == cudaSuccess) r = cuGetProcAddress(name, function, (int)version, flags, &q);
    if (status) *status = (int)q;
    return runtime_done(r);
}

#if CUDART_VERSION >= 12000
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, status);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags)
{
    const cudaError_t r = cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags,
                                                           NULL);
    return r == cudaSuccess && !*function ? runtime_done(cudaErrorSymbolNotFound) : r;
}
#endif
