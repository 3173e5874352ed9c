/* Texture and surface references of CUDA 11: calls of the driver API. The attributes are those that the host's variables have
 * when memory is bound. */
#include "cuda/runtime/runtime.h"

#if CUDART_VERSION < 13000
static unsigned flags_of(const struct textureReference *host, bool as_float)
{
    return (as_float ? 0u : CU_TRSF_READ_AS_INTEGER) |
           (host->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
           (host->sRGB ? CU_TRSF_SRGB : 0u) |
           (host->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u);
}

static unsigned find_texture(const struct textureReference *host, CUtexref *out, bool *as_float)
{
    struct runtime_reference r;
    const unsigned found = host ? runtime_reference(host, &r) : cudaErrorInvalidTexture;
    if (found != cudaSuccess) return found;
    *as_float = r.as_float;
    return cuModuleGetTexRef(out, r.module, r.name) == CUDA_SUCCESS ? cudaSuccess
                                                                    : cudaErrorInvalidTexture;
}

/* The driver's reference, with the modes that the host's has now. */
static unsigned set_up(const struct textureReference *host, CUtexref *out)
{
    bool as_float;
    unsigned r = find_texture(host, out, &as_float);
    for (int i = 0; r == cudaSuccess && i < 3; i++)
        r = cuTexRefSetAddressMode(*out, i, (CUaddress_mode)host->addressMode[i]);
    if (r == cudaSuccess) r = cuTexRefSetFilterMode(*out, (CUfilter_mode)host->filterMode);
    if (r == cudaSuccess)
        r = cuTexRefSetMipmapFilterMode(*out, (CUfilter_mode)host->mipmapFilterMode);
    if (r == cudaSuccess) r = cuTexRefSetMipmapLevelBias(*out, host->mipmapLevelBias);
    if (r == cudaSuccess)
        r = cuTexRefSetMipmapLevelClamp(*out, host->minMipmapLevelClamp, host->maxMipmapLevelClamp);
    if (r == cudaSuccess) r = cuTexRefSetMaxAnisotropy(*out, host->maxAnisotropy);
    return r == cudaSuccess ? cuTexRefSetFlags(*out, flags_of(host, as_float)) : r;
}

static unsigned set_up_linear(const struct textureReference *host, const void *address,
                              const struct cudaChannelFormatDesc *channels, CUtexref *out,
                              CUarray_format *format, unsigned *count)
{
    if (!address || !channels) return cudaErrorInvalidValue;
    if (!runtime_channels(channels, format, count)) return cudaErrorInvalidChannelDescriptor;
    const unsigned r = set_up(host, out);
    return r == cudaSuccess ? cuTexRefSetFormat(*out, *format, (int)*count) : r;
}

/* No further than its allocation: programs leave the size out, which makes it the largest number. */
static size_t size_within(const void *address, size_t size)
{
    CUdeviceptr base = 0;
    size_t all = 0;
    if (cuMemGetAddressRange(&base, &all, runtime_address(address)) != CUDA_SUCCESS) return size;
    const size_t left = all - (size_t)(runtime_address(address) - base);
    return size < left ? size : left;
}

static unsigned bind_linear(size_t *offset, const struct textureReference *host,
                            const void *address, const struct cudaChannelFormatDesc *channels,
                            size_t size)
{
    CUtexref t;
    CUarray_format format;
    unsigned count;
    const unsigned r = set_up_linear(host, address, channels, &t, &format, &count);
    return r == cudaSuccess
               ? cuTexRefSetAddress(offset, t, runtime_address(address), size_within(address, size))
               : r;
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texture,
                            const void *address, const struct cudaChannelFormatDesc *channels,
                            size_t size)
{
    RUNTIME_CALL(bind_linear(offset, texture, address, channels, size));
}

static unsigned bind_rows(const struct textureReference *host, const void *address,
                          const struct cudaChannelFormatDesc *channels, size_t width, size_t height,
                          size_t pitch)
{
    CUtexref t;
    CUDA_ARRAY_DESCRIPTOR d = {.Width = width, .Height = height};
    const unsigned r = set_up_linear(host, address, channels, &t, &d.Format, &d.NumChannels);
    return r == cudaSuccess ? cuTexRefSetAddress2D(t, &d, runtime_address(address), pitch) : r;
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texture,
                              const void *address, const struct cudaChannelFormatDesc *channels,
                              size_t width, size_t height, size_t pitch)
{
    if (offset) *offset = 0;
    RUNTIME_CALL(bind_rows(texture, address, channels, width, height, pitch));
}

/* Arrays have channels of their own. */
static unsigned bind_array(const struct textureReference *host, cudaArray_t array,
                           cudaMipmappedArray_t mipmap)
{
    CUtexref t;
    const unsigned r = array || mipmap ? set_up(host, &t) : cudaErrorInvalidResourceHandle;
    if (r != cudaSuccess) return r;
    return array ? cuTexRefSetArray(t, array, CU_TRSA_OVERRIDE_FORMAT)
                 : cuTexRefSetMipmappedArray(t, mipmap, CU_TRSA_OVERRIDE_FORMAT);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *texture, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *channels)
{
    if (!channels) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(bind_array(texture, array, NULL));
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *texture,
                                            cudaMipmappedArray_t array,
                                            const struct cudaChannelFormatDesc *channels)
{
    if (!channels) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(bind_array(texture, NULL, array));
}

static unsigned unbind(const struct textureReference *host)
{
    CUtexref t;
    bool as_float;
    const unsigned r = find_texture(host, &t, &as_float);
    return r == cudaSuccess ? cuTexRefSetAddress(NULL, t, 0, 0) : r;
}

cudaError_t cudaUnbindTexture(const struct textureReference *texture)
{
    RUNTIME_CALL(unbind(texture));
}

static unsigned alignment_offset(size_t *offset, const struct textureReference *host)
{
    CUtexref t;
    CUdeviceptr address;
    bool as_float;
    const unsigned r = find_texture(host, &t, &as_float);
    if (r != cudaSuccess) return r;
    if (cuTexRefGetAddress(&address, t) != CUDA_SUCCESS) return cudaErrorInvalidTextureBinding;
    return *offset = 0, cudaSuccess;
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texture)
{
    if (!offset) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(alignment_offset(offset, texture));
}

/* The host's variable is the reference. */
cudaError_t cudaGetTextureReference(const struct textureReference **texture, const void *symbol)
{
    struct runtime_reference r;
    if (!texture) return runtime_done(cudaErrorInvalidValue);
    *texture = symbol;
    RUNTIME_CALL(runtime_reference(symbol, &r));
}

static unsigned find_surface(const void *host, CUsurfref *out)
{
    struct runtime_reference r;
    if (!host || runtime_reference(host, &r) != cudaSuccess) return cudaErrorInvalidSurface;
    return cuModuleGetSurfRef(out, r.module, r.name) == CUDA_SUCCESS ? cudaSuccess
                                                                     : cudaErrorInvalidSurface;
}

static unsigned bind_surface(const void *host, cudaArray_t array)
{
    CUsurfref s;
    const unsigned r = array ? find_surface(host, &s) : cudaErrorInvalidResourceHandle;
    return r == cudaSuccess ? cuSurfRefSetArray(s, array, 0) : r;
}

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surface, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *channels)
{
    if (!channels) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(bind_surface(surface, array));
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surface, const void *symbol)
{
    CUsurfref s;
    if (!surface) return runtime_done(cudaErrorInvalidValue);
    *surface = symbol;
    RUNTIME_CALL(find_surface(symbol, &s));
}
#endif
