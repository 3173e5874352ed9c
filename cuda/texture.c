/* Texture and surface objects. The handle that a kernel gets is that of the emulator (emu/texture.h); the object
 * here has the descriptors that the program may query. */
#include "cuda/driver.h"

#include <stdlib.h>

struct texture_object {
    struct object object;
    struct CUctx_st *context;
    uint64_t handle;
    bool surface;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC d;
};

bool texture_format(CUarray_format format, unsigned channels, struct texture_memory *out)
{
    static const struct {
        unsigned format;
        uint8_t bits, kind;
    } formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, 8, TEXTURE_UINT},
        {CU_AD_FORMAT_UNSIGNED_INT16, 16, TEXTURE_UINT},
        {CU_AD_FORMAT_UNSIGNED_INT32, 32, TEXTURE_UINT},
        {CU_AD_FORMAT_SIGNED_INT8, 8, TEXTURE_SINT},
        {CU_AD_FORMAT_SIGNED_INT16, 16, TEXTURE_SINT},
        {CU_AD_FORMAT_SIGNED_INT32, 32, TEXTURE_SINT},
        {CU_AD_FORMAT_HALF, 16, TEXTURE_FLOAT},
        {CU_AD_FORMAT_FLOAT, 32, TEXTURE_FLOAT},
        {CU_AD_FORMAT_UNORM_INT8X1, 8, TEXTURE_UNORM},
        {CU_AD_FORMAT_UNORM_INT16X1, 16, TEXTURE_UNORM},
        {CU_AD_FORMAT_SNORM_INT8X1, 8, TEXTURE_SNORM},
        {CU_AD_FORMAT_SNORM_INT16X1, 16, TEXTURE_SNORM},
    };
    if (channels != 1 && channels != 2 && channels != 4) return false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        unsigned f = formats[i].format;
        if (f >= CU_AD_FORMAT_UNORM_INT8X1) f += channels == 4 ? 2 : channels - 1;
        if (f != (unsigned)format) continue;
        out->channels = (uint8_t)channels;
        out->bits = formats[i].bits;
        out->kind = formats[i].kind;
        return true;
    }
    return false;
}

CUresult texture_memory_of(const CUDA_RESOURCE_DESC *r, struct texture_memory *out)
{
    memset(out, 0, sizeof *out);
    if (r->flags) return CUDA_ERROR_INVALID_VALUE;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        if (!object_check(r->res.array.hArray, OBJECT_ARRAY)) return CUDA_ERROR_INVALID_HANDLE;
        *out = r->res.array.hArray->memory;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        if (!object_check(r->res.mipmap.hMipmappedArray, OBJECT_MIPMAP))
            return CUDA_ERROR_INVALID_HANDLE;
        *out = r->res.mipmap.hMipmappedArray->memory;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR: {
        if (!texture_format(r->res.linear.format, r->res.linear.numChannels, out))
            return CUDA_ERROR_INVALID_VALUE;
        size_t texels = r->res.linear.sizeInBytes / (out->channels * out->bits / 8u);
        if (!texels || texels > TEXTURE_MAX_SIZE) return CUDA_ERROR_INVALID_VALUE;
        out->address = r->res.linear.devPtr;
        out->width = (uint32_t)texels;
        break;
    }
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!texture_format(r->res.pitch2D.format, r->res.pitch2D.numChannels, out) ||
            r->res.pitch2D.width > TEXTURE_MAX_SIZE || r->res.pitch2D.height > TEXTURE_MAX_SIZE ||
            !r->res.pitch2D.height || !r->res.pitch2D.pitchInBytes)
            return CUDA_ERROR_INVALID_VALUE;
        out->address = r->res.pitch2D.devPtr;
        out->width = (uint32_t)r->res.pitch2D.width;
        out->height = (uint32_t)r->res.pitch2D.height;
        out->pitch = r->res.pitch2D.pitchInBytes;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    out->linear = true;
    return texture_layout(out) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

struct texture texture_of(const struct texture_memory *m, const CUDA_TEXTURE_DESC *d)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory = *m;
    for (int i = 0; i < 3; i++) t.sampler.address[i] = (uint8_t)(d->addressMode[i] & 0xff);
    t.sampler.linear_filter = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    t.sampler.linear_levels = d->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR && m->levels > 1;
    t.sampler.normalised = d->flags & CU_TRSF_NORMALIZED_COORDINATES;
    t.as_float = !(d->flags & CU_TRSF_READ_AS_INTEGER) && m->kind <= TEXTURE_SINT && m->bits <= 16;
    t.srgb = d->flags & CU_TRSF_SRGB;
    memcpy(t.border, d->borderColor, sizeof t.border);
    t.level_bias = d->mipmapLevelBias;
    t.level_min = d->minMipmapLevelClamp;
    t.level_max = d->maxMipmapLevelClamp;
    return t;
}

static bool modes_ok(const CUDA_TEXTURE_DESC *d)
{
    const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                           CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
    for (int i = 0; i < 3; i++)
        if ((unsigned)d->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER) return false;
    return (unsigned)d->filterMode <= CU_TR_FILTER_MODE_LINEAR &&
           (unsigned)d->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR && !(d->flags & ~known);
}

/* Begins, and finds what both kinds of objects are made of. */
static CUresult begin_create(struct CUctx_st **c, const uint64_t *out,
                             const CUDA_RESOURCE_DESC *resource, struct texture_memory *m)
{
    CUresult r = driver_begin(c);
    if (r == CUDA_SUCCESS && (!out || !resource)) r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? texture_memory_of(resource, m) : r;
}

static CUresult add(struct CUctx_st *c, uint64_t handle, const CUDA_RESOURCE_DESC *resource,
                    const CUDA_TEXTURE_DESC *d, const char *why)
{
    if (!handle) {
        if (driver.config.checks & EMU_CHECK_MEMORY)
            driver_say("heddle: %s: %s\n", d ? "cuTexObjectCreate" : "cuSurfObjectCreate", why);
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct texture_object *o = object_new(OBJECT_TEXTURE, sizeof *o);
    o->context = c;
    o->handle = handle;
    o->surface = !d;
    o->resource = *resource;
    if (d) o->d = *d;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *d, const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct CUctx_st *c;
    struct texture_memory m;
    const char *why = "";
    uint64_t handle = 0;
    CUresult r = begin_create(&c, &handle, resource, &m);
    if (r == CUDA_SUCCESS && (!texture || !d || !modes_ok(d))) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && view)
        r = CUDA_ERROR_NOT_SUPPORTED; /* other formats, parts of mipmaps */
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct texture t = texture_of(&m, d);
    handle = texture_create(emu_memory(driver.emu), &t, &why);
    r = add(c, handle, resource, d, why);
    if (r == CUDA_SUCCESS) *texture = handle;
    return driver_end(r);
}

CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    struct CUctx_st *c;
    struct texture_memory m;
    const char *why = "";
    uint64_t handle = 0;
    CUresult r = begin_create(&c, &handle, resource, &m);
    if (r == CUDA_SUCCESS && (!surface || resource->resType != CU_RESOURCE_TYPE_ARRAY ||
                              !(resource->res.array.hArray->d.Flags & CUDA_ARRAY3D_SURFACE_LDST)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    handle = surface_create(emu_memory(driver.emu), &m, &why);
    r = add(c, handle, resource, NULL, why);
    if (r == CUDA_SUCCESS) *surface = handle;
    return driver_end(r);
}

/* Begins, and finds an object. */
static CUresult begin_object(uint64_t handle, bool surface, struct texture_object **out)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return r;
    for (struct object *o = driver.objects.all[OBJECT_TEXTURE - OBJECT_CONTEXT]; o; o = o->next) {
        *out = (struct texture_object *)o;
        if (o->kind == OBJECT_TEXTURE && (*out)->handle == handle && (*out)->surface == surface)
            return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static void destroy(struct texture_object *o)
{
    texture_destroy(emu_memory(driver.emu), o->handle);
    object_destroy(&o->object);
}

void texture_drop(struct CUctx_st *c)
{
    for (struct object *o = driver.objects.all[OBJECT_TEXTURE - OBJECT_CONTEXT]; o; o = o->next)
        if (o->kind == OBJECT_TEXTURE && ((struct texture_object *)o)->context == c)
            destroy((struct texture_object *)o);
}

CUresult cuTexObjectDestroy(CUtexObject texture)
{
    struct texture_object *o;
    CUresult r = begin_object(texture, false, &o);
    if (r == CUDA_SUCCESS) destroy(o);
    return driver_end(r);
}

CUresult cuSurfObjectDestroy(CUsurfObject surface)
{
    struct texture_object *o;
    CUresult r = begin_object(surface, true, &o);
    if (r == CUDA_SUCCESS) destroy(o);
    return driver_end(r);
}

static CUresult get_resource(CUDA_RESOURCE_DESC *resource, uint64_t handle, bool surface)
{
    struct texture_object *o;
    CUresult r = begin_object(handle, surface, &o);
    if (r == CUDA_SUCCESS && !resource) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *resource = o->resource;
    return driver_end(r);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject texture)
{
    return get_resource(resource, texture, false);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject surface)
{
    return get_resource(resource, surface, true);
}

/* None has a view. */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject texture)
{
    struct texture_object *o;
    CUresult r = begin_object(texture, false, &o);
    (void)view;
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *d, CUtexObject texture)
{
    struct texture_object *o;
    CUresult r = begin_object(texture, false, &o);
    if (r == CUDA_SUCCESS && !d) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *d = o->d;
    return driver_end(r);
}
