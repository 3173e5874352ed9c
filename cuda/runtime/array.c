/* Arrays, textures and surfaces: calls of the driver API, with channel descriptors instead of formats. */
#include "cuda/runtime/runtime.h"

#include <string.h>

/* ---- channels ------------------------------------------------------------------------------------------- */

static const struct {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
} formats[] = {
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};
enum { FORMATS = sizeof formats / sizeof *formats };

size_t runtime_texel(CUarray_format format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].format == format) return (size_t)formats[i].bits / 8;
    return 1;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* From x on. */
bool runtime_channels(const struct cudaChannelFormatDesc *d, CUarray_format *format,
                      unsigned *count)
{
    const int bits[] = {d->x, d->y, d->z, d->w};
    unsigned n = 0;
    while (n < 4 && bits[n]) n++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < n ? d->x : 0)) return false;
    *count = n;
    for (size_t i = 0; i < FORMATS; i++) {
        *format = formats[i].format;
        if (formats[i].kind == d->f && formats[i].bits == d->x) return n == 1 || n == 2 || n == 4;
    }
    return false;
}

static struct cudaChannelFormatDesc channels_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    struct cudaChannelFormatDesc out = {.f = cudaChannelFormatKindNone};
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i].format != d->Format) continue;
        const int bits = formats[i].bits;
        const unsigned n = d->NumChannels;
        out = (struct cudaChannelFormatDesc){bits, n > 1 ? bits : 0, n > 2 ? bits : 0,
                                             n > 3 ? bits : 0, formats[i].kind};
    }
    return out;
}

/* ---- arrays ----------------------------------------------------------------------------------------------- */

static bool describe(const struct cudaChannelFormatDesc *channels, struct cudaExtent e,
                     unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *d)
{
    *d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = e.width, .Height = e.height, .Depth = e.depth, .Flags = flags};
    return channels && runtime_channels(channels, &d->Format, &d->NumChannels);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!out) return runtime_done(cudaErrorInvalidValue);
    if (!describe(desc, extent, flags, &d)) return runtime_done(cudaErrorInvalidChannelDescriptor);
    RUNTIME_CALL(cuArray3DCreate(out, &d));
}

cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned flags)
{
    return cudaMalloc3DArray(out, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out,
                                     const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!out) return runtime_done(cudaErrorInvalidValue);
    if (!describe(desc, extent, flags, &d)) return runtime_done(cudaErrorInvalidChannelDescriptor);
    RUNTIME_CALL(cuMipmappedArrayCreate(out, &d, levels));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_t array, unsigned level)
{
    RUNTIME_CALL(cuMipmappedArrayGetLevel(out, array, level));
}

/* NULL may be freed. */
cudaError_t cudaFreeArray(cudaArray_t array)
{
    RUNTIME_CALL(array ? cuArrayDestroy(array) : CUDA_SUCCESS);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    RUNTIME_CALL(array ? cuMipmappedArrayDestroy(array) : CUDA_SUCCESS);
}

static CUresult info(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                     cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    const CUresult r = cuArray3DGetDescriptor(&d, array);
    if (r != CUDA_SUCCESS) return r;
    if (desc) *desc = channels_of(&d);
    if (extent) *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags) *flags = d.Flags;
    return r;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t array)
{
    RUNTIME_CALL(info(desc, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_t array)
{
    if (!desc) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(info(desc, NULL, NULL, array));
}

cudaError_t cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *out,
                                           cudaArray_t array, int device)
{
    RUNTIME_CALL(cuArrayGetMemoryRequirements(out, array, device));
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *out,
                                                    cudaMipmappedArray_t array, int device)
{
    RUNTIME_CALL(cuMipmappedArrayGetMemoryRequirements(out, array, device));
}

cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *out, cudaArray_t array)
{
    RUNTIME_CALL(cuArrayGetSparseProperties(out, array));
}

cudaError_t cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *out,
                                                  cudaMipmappedArray_t array)
{
    RUNTIME_CALL(cuMipmappedArrayGetSparseProperties(out, array));
}

cudaError_t cudaArrayGetPlane(cudaArray_t *plane, cudaArray_t array, unsigned i)
{
    RUNTIME_CALL(cuArrayGetPlane(plane, array, i));
}

static unsigned linear_width(size_t *texels, const struct cudaChannelFormatDesc *d, int device)
{
    CUarray_format format;
    unsigned channels;
    if (!d || !runtime_channels(d, &format, &channels)) return cudaErrorInvalidValue;
    return cuDeviceGetTexture1DLinearMaxWidth(texels, format, channels, device);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *texels,
                                                 const struct cudaChannelFormatDesc *d, int device)
{
    RUNTIME_CALL(linear_width(texels, d, device));
}

/* ---- textures and surfaces ---------------------------------------------------------------------------------- */

static unsigned read_resource(const struct cudaResourceDesc *r, CUDA_RESOURCE_DESC *out)
{
    bool ok = true;
    *out = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)r->resType};
    switch (r->resType) {
    case cudaResourceTypeArray: out->res.array.hArray = r->res.array.array; break;
    case cudaResourceTypeMipmappedArray:
        out->res.mipmap.hMipmappedArray = r->res.mipmap.mipmap;
        break;
    case cudaResourceTypeLinear:
        out->res.linear.devPtr = runtime_address(r->res.linear.devPtr);
        out->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        ok = runtime_channels(&r->res.linear.desc, &out->res.linear.format,
                              &out->res.linear.numChannels);
        break;
    case cudaResourceTypePitch2D:
        out->res.pitch2D.devPtr = runtime_address(r->res.pitch2D.devPtr);
        out->res.pitch2D.width = r->res.pitch2D.width;
        out->res.pitch2D.height = r->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
        ok = runtime_channels(&r->res.pitch2D.desc, &out->res.pitch2D.format,
                              &out->res.pitch2D.numChannels);
        break;
    default: return cudaErrorInvalidValue;
    }
    return ok ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

static CUDA_TEXTURE_DESC read_texture(const struct cudaTextureDesc *d)
{
    CUDA_TEXTURE_DESC out = {.filterMode = (CUfilter_mode)d->filterMode,
                             .maxAnisotropy = d->maxAnisotropy,
                             .mipmapFilterMode = (CUfilter_mode)d->mipmapFilterMode,
                             .mipmapLevelBias = d->mipmapLevelBias,
                             .minMipmapLevelClamp = d->minMipmapLevelClamp,
                             .maxMipmapLevelClamp = d->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++) out.addressMode[i] = (CUaddress_mode)d->addressMode[i];
    memcpy(out.borderColor, d->borderColor, sizeof out.borderColor);
    if (!d->readMode) out.flags |= CU_TRSF_READ_AS_INTEGER;
    if (d->normalizedCoords) out.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (d->sRGB) out.flags |= CU_TRSF_SRGB;
    if (d->disableTrilinearOptimization) out.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
#if CUDART_VERSION >= 12000
    if (d->seamlessCubemap) out.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
#endif
    return out;
}

static unsigned create_texture(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                               const struct cudaTextureDesc *d)
{
    CUDA_RESOURCE_DESC resource;
    if (!out || !r || !d) return cudaErrorInvalidValue;
    const unsigned error = read_resource(r, &resource);
    if (error != cudaSuccess) return error;
    const CUDA_TEXTURE_DESC texture = read_texture(d);
    return cuTexObjectCreate(out, &resource, &texture, NULL);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *d,
                                    const struct cudaResourceViewDesc *view)
{
    if (view) return runtime_done(cudaErrorNotSupported);
    RUNTIME_CALL(create_texture(out, r, d));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    RUNTIME_CALL(cuTexObjectDestroy(texture));
}

static void write_resource(const CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *out)
{
    const CUDA_ARRAY3D_DESCRIPTOR linear = {.Format = r->res.linear.format,
                                            .NumChannels = r->res.linear.numChannels},
                                  rows = {.Format = r->res.pitch2D.format,
                                          .NumChannels = r->res.pitch2D.numChannels};
    memset(out, 0, sizeof *out);
    out->resType = (enum cudaResourceType)r->resType;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY: out->res.array.array = r->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out->res.mipmap.mipmap = r->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        runtime_give(CUDA_SUCCESS, &r->res.linear.devPtr, &out->res.linear.devPtr);
        out->res.linear.desc = channels_of(&linear);
        out->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        runtime_give(CUDA_SUCCESS, &r->res.pitch2D.devPtr, &out->res.pitch2D.devPtr);
        out->res.pitch2D.desc = channels_of(&rows);
        out->res.pitch2D.width = r->res.pitch2D.width;
        out->res.pitch2D.height = r->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
        break;
    }
}

static CUresult resource_of(struct cudaResourceDesc *out, unsigned long long object,
                            CUresult (*ask)(CUDA_RESOURCE_DESC *, unsigned long long))
{
    CUDA_RESOURCE_DESC r;
    const CUresult result = ask(&r, object);
    if (result == CUDA_SUCCESS) write_resource(&r, out);
    return result;
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out,
                                             cudaTextureObject_t texture)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(resource_of(out, texture, cuTexObjectGetResourceDesc));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out,
                                             cudaSurfaceObject_t surface)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(resource_of(out, surface, cuSurfObjectGetResourceDesc));
}

static CUresult texture_of(struct cudaTextureDesc *out, cudaTextureObject_t texture)
{
    CUDA_TEXTURE_DESC d;
    const CUresult r = cuTexObjectGetTextureDesc(&d, texture);
    if (r != CUDA_SUCCESS) return r;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 3; i++) out->addressMode[i] = (int)d.addressMode[i];
    memcpy(out->borderColor, d.borderColor, sizeof out->borderColor);
    out->filterMode = (int)d.filterMode;
    out->readMode = !(d.flags & CU_TRSF_READ_AS_INTEGER);
    out->sRGB = (d.flags & CU_TRSF_SRGB) != 0;
    out->normalizedCoords = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    out->maxAnisotropy = d.maxAnisotropy;
    out->mipmapFilterMode = (int)d.mipmapFilterMode;
    out->mipmapLevelBias = d.mipmapLevelBias;
    out->minMipmapLevelClamp = d.minMipmapLevelClamp;
    out->maxMipmapLevelClamp = d.maxMipmapLevelClamp;
    out->disableTrilinearOptimization = (d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
#if CUDART_VERSION >= 12000
    out->seamlessCubemap = (d.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
#endif
    return r;
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out,
                                            cudaTextureObject_t texture)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(texture_of(out, texture));
}

cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *out,
                                                 cudaTextureObject_t texture)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(cuTexObjectGetResourceViewDesc(NULL, texture));
}

static unsigned create_surface(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r)
{
    CUDA_RESOURCE_DESC resource;
    if (!out || !r) return cudaErrorInvalidValue;
    const unsigned error = read_resource(r, &resource);
    return error != cudaSuccess ? error : cuSurfObjectCreate(out, &resource);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r)
{
    RUNTIME_CALL(create_surface(out, r));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    RUNTIME_CALL(cuSurfObjectDestroy(surface));
}
