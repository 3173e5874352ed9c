/* Texture and surface references: variables of a module that the host binds to memory. Settings take effect at the
 * next launch, so their calls may come in any order. Operations that were submitted before execute before. */
#include "cuda/driver.h"
#include "cuda/queue.h"

#include "ptx/ptx.h"

#include <stdlib.h>

struct CUtexref_st { /* a surface reference as well */
    struct object object;
    struct CUmod_st *module;
    uint64_t variable, handle;
    bool surface, bound, changed;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC d;
    CUarray_format format; /* of linear memory */
    unsigned channels;
};

static bool is_reference(const struct ptx_var *v, bool surface)
{
    if (surface) return v->sym->type == PTX_surfref;
    return v->sym->type == PTX_texref || v->sym->space == PTX_SPACE_TEX;
}

static bool declares(const struct ptx_module *m, const char *name, bool surface)
{
    for (size_t i = 0; i < m->var_count; i++) {
        const struct ptx_var *v = m->vars[i];
        if (is_reference(v, surface) && v->sym->name->length == strlen(name) &&
            memcmp(v->sym->name->text, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

static CUresult get(void **out, CUmodule module, const char *name, bool surface)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !object_check(module, OBJECT_MODULE)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (!out || !name)) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    bool found = false;
    for (size_t i = 0; i < module->ptx_module_count && !found; i++)
        found = declares(module->ptx_modules[i], name, surface);
    uint64_t at = found ? emu_variable(module->image, name, NULL) : 0;
    if (!at) return driver_end(CUDA_ERROR_NOT_FOUND);
    struct CUtexref_st *t = NULL;
    for (struct object *o = driver.objects.all[OBJECT_REFERENCE - OBJECT_CONTEXT]; o; o = o->next)
        if (o->kind == OBJECT_REFERENCE && ((struct CUtexref_st *)o)->variable == at)
            t = (struct CUtexref_st *)o;
    if (!t) {
        t = object_new(OBJECT_REFERENCE, sizeof *t);
        t->module = module;
        t->variable = at;
        t->surface = surface;
        t->format = CU_AD_FORMAT_FLOAT;
        t->channels = 1;
        for (int i = 0; i < 3; i++) t->d.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
        t->d.maxMipmapLevelClamp = TEXTURE_LEVELS;
    }
    *out = t;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name)
{
    return get((void **)texture, module, name, false);
}

CUresult cuModuleGetSurfRef(CUsurfref *surface, CUmodule module, const char *name)
{
    return get((void **)surface, module, name, true);
}

static void unbind(struct CUtexref_st *t)
{
    texture_bind(emu_memory(driver.emu), t->variable, 0);
    if (t->handle) texture_destroy(emu_memory(driver.emu), t->handle);
    t->handle = 0;
}

void reference_drop(struct CUmod_st *m)
{
    for (struct object *o = driver.objects.all[OBJECT_REFERENCE - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUtexref_st *t = (struct CUtexref_st *)o;
        if (o->kind != OBJECT_REFERENCE || t->module != m) continue;
        unbind(t);
        object_destroy(o);
    }
}

/* What cannot be bound stays unbound: the fetch of a kernel that uses it is a fault that says so. */
static void bind(struct CUtexref_st *t)
{
    struct texture_memory m;
    struct mem *mem = emu_memory(driver.emu);
    const char *why = "its memory or array is gone";
    t->changed = false;
    unbind(t);
    if (!t->bound) return;
    if (texture_memory_of(&t->resource, &m) == CUDA_SUCCESS) {
        struct texture texture = texture_of(&m, &t->d);
        t->handle = t->surface ? surface_create(mem, &m, &why)
                               : texture_create(mem, &texture, &why);
    }
    if (t->handle) texture_bind(mem, t->variable, t->handle);
    else
        driver_say("heddle: a %s reference cannot be bound: %s\n",
                   t->surface ? "surface" : "texture", why);
}

void reference_bind_all(void)
{
    for (struct object *o = driver.objects.all[OBJECT_REFERENCE - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUtexref_st *t = (struct CUtexref_st *)o;
        if (o->kind == OBJECT_REFERENCE && t->changed) bind(t);
    }
}

/* ---- what is set ---------------------------------------------------------------------------------------- */

static CUresult begin_set(void *reference, bool surface)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    struct CUtexref_st *t = object_check(reference, OBJECT_REFERENCE);
    if (r != CUDA_SUCCESS) return r;
    if (!t || t->surface != surface) return CUDA_ERROR_INVALID_VALUE;
    queue_do_all();
    t->changed = true;
    return CUDA_SUCCESS;
}

static CUresult set_array(void *reference, bool surface, CUarray array, unsigned flags,
                          unsigned wanted)
{
    struct CUtexref_st *t = reference;
    CUresult r = begin_set(reference, surface);
    if (r == CUDA_SUCCESS && array && (flags != wanted || !object_check(array, OBJECT_ARRAY)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && surface && array && !(array->d.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    t->bound = array != NULL;
    memset(&t->resource, 0, sizeof t->resource);
    t->resource.resType = CU_RESOURCE_TYPE_ARRAY;
    t->resource.res.array.hArray = array;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefSetArray(CUtexref texture, CUarray array, unsigned flags)
{
    return set_array(texture, false, array, flags, CU_TRSA_OVERRIDE_FORMAT);
}

CUresult cuSurfRefSetArray(CUsurfref surface, CUarray array, unsigned flags)
{
    return set_array(surface, true, array, flags, 0);
}

CUresult cuTexRefSetMipmappedArray(CUtexref texture, CUmipmappedArray array, unsigned flags)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS && array &&
        (flags != CU_TRSA_OVERRIDE_FORMAT || !object_check(array, OBJECT_MIPMAP)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    texture->bound = array != NULL;
    memset(&texture->resource, 0, sizeof texture->resource);
    texture->resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    texture->resource.res.mipmap.hMipmappedArray = array;
    return driver_end(CUDA_SUCCESS);
}

/* Linear memory may begin anywhere, so the offset that the caller has to add is 0. */
CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref texture, CUdeviceptr address, size_t size)
{
    CUresult r = begin_set(texture, false);
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (offset) *offset = 0;
    texture->bound = address != 0;
    memset(&texture->resource, 0, sizeof texture->resource);
    texture->resource.resType = CU_RESOURCE_TYPE_LINEAR;
    texture->resource.res.linear.devPtr = address;
    texture->resource.res.linear.sizeInBytes = size;
    texture->resource.res.linear.format = texture->format;
    texture->resource.res.linear.numChannels = texture->channels;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref texture, const CUDA_ARRAY_DESCRIPTOR *d,
                                 CUdeviceptr address, size_t pitch)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS && !d) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    texture->bound = address != 0;
    memset(&texture->resource, 0, sizeof texture->resource);
    texture->resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    texture->resource.res.pitch2D.devPtr = address;
    texture->resource.res.pitch2D.format = d->Format;
    texture->resource.res.pitch2D.numChannels = d->NumChannels;
    texture->resource.res.pitch2D.width = d->Width;
    texture->resource.res.pitch2D.height = d->Height;
    texture->resource.res.pitch2D.pitchInBytes = pitch;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefSetFormat(CUtexref texture, CUarray_format format, int channels)
{
    struct texture_memory m;
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS && (channels < 0 || !texture_format(format, (unsigned)channels, &m)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    texture->format = format;
    texture->channels = (unsigned)channels;
    if (texture->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        texture->resource.res.linear.format = format;
        texture->resource.res.linear.numChannels = texture->channels;
    }
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefSetAddressMode(CUtexref texture, int direction, CUaddress_mode mode)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS &&
        (direction < 0 || direction > 2 || (unsigned)mode > CU_TR_ADDRESS_MODE_BORDER))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) texture->d.addressMode[direction] = mode;
    return driver_end(r);
}

CUresult cuTexRefSetFilterMode(CUtexref texture, CUfilter_mode mode)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS && (unsigned)mode > CU_TR_FILTER_MODE_LINEAR)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) texture->d.filterMode = mode;
    return driver_end(r);
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref texture, CUfilter_mode mode)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS && (unsigned)mode > CU_TR_FILTER_MODE_LINEAR)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) texture->d.mipmapFilterMode = mode;
    return driver_end(r);
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref texture, float bias)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS) texture->d.mipmapLevelBias = bias;
    return driver_end(r);
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref texture, float least, float most)
{
    CUresult r = begin_set(texture, false);
    if (r != CUDA_SUCCESS) return driver_end(r);
    texture->d.minMipmapLevelClamp = least;
    texture->d.maxMipmapLevelClamp = most;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefSetBorderColor(CUtexref texture, float *colour)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS && !colour) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) memcpy(texture->d.borderColor, colour, sizeof texture->d.borderColor);
    return driver_end(r);
}

CUresult cuTexRefSetFlags(CUtexref texture, unsigned flags)
{
    CUresult r = begin_set(texture, false);
    const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                           CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    if (r == CUDA_SUCCESS && flags & ~known) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) texture->d.flags = flags;
    return driver_end(r);
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref texture, unsigned most)
{
    CUresult r = begin_set(texture, false);
    if (r == CUDA_SUCCESS) texture->d.maxAnisotropy = most;
    return driver_end(r);
}

/* ---- what was set --------------------------------------------------------------------------------------- */

static CUresult begin_get(void *reference, bool surface, const void *out)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    const struct CUtexref_st *t = r == CUDA_SUCCESS ? object_check(reference, OBJECT_REFERENCE)
                                                    : NULL;
    if (r == CUDA_SUCCESS && (!t || t->surface != surface || !out)) r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

static CUresult get_array(CUarray *array, void *reference, bool surface)
{
    const struct CUtexref_st *t = reference;
    CUresult r = begin_get(reference, surface, array);
    if (r == CUDA_SUCCESS && (!t->bound || t->resource.resType != CU_RESOURCE_TYPE_ARRAY))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *array = t->resource.res.array.hArray;
    return driver_end(r);
}

CUresult cuTexRefGetArray(CUarray *array, CUtexref texture)
{
    return get_array(array, texture, false);
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref surface)
{
    return get_array(array, surface, true);
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *array, CUtexref texture)
{
    CUresult r = begin_get(texture, false, array);
    if (r == CUDA_SUCCESS &&
        (!texture->bound || texture->resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *array = texture->resource.res.mipmap.hMipmappedArray;
    return driver_end(r);
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref texture)
{
    CUresult r = begin_get(texture, false, address);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const CUDA_RESOURCE_DESC *d = &texture->resource;
    const bool line = d->resType == CU_RESOURCE_TYPE_LINEAR;
    if (!texture->bound || (!line && d->resType != CU_RESOURCE_TYPE_PITCH2D))
        return driver_end(CUDA_ERROR_INVALID_VALUE);
    *address = line ? d->res.linear.devPtr : d->res.pitch2D.devPtr;
    return driver_end(CUDA_SUCCESS);
}

/* Of an array, its own. */
CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref texture)
{
    CUresult r = begin_get(texture, false, format || channels ? (const void *)texture : NULL);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const CUDA_RESOURCE_DESC *d = &texture->resource;
    const struct CUarray_st *a = texture->bound && d->resType == CU_RESOURCE_TYPE_ARRAY
                                     ? object_check(d->res.array.hArray, OBJECT_ARRAY)
                                     : NULL;
    if (format) *format = a ? a->d.Format : texture->format;
    if (channels) *channels = (int)(a ? a->d.NumChannels : texture->channels);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref texture, int direction)
{
    CUresult r = begin_get(texture, false, direction >= 0 && direction < 3 ? mode : NULL);
    if (r == CUDA_SUCCESS) *mode = texture->d.addressMode[direction];
    return driver_end(r);
}

CUresult cuTexRefGetFilterMode(CUfilter_mode *mode, CUtexref texture)
{
    CUresult r = begin_get(texture, false, mode);
    if (r == CUDA_SUCCESS) *mode = texture->d.filterMode;
    return driver_end(r);
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *mode, CUtexref texture)
{
    CUresult r = begin_get(texture, false, mode);
    if (r == CUDA_SUCCESS) *mode = texture->d.mipmapFilterMode;
    return driver_end(r);
}

CUresult cuTexRefGetMipmapLevelBias(float *bias, CUtexref texture)
{
    CUresult r = begin_get(texture, false, bias);
    if (r == CUDA_SUCCESS) *bias = texture->d.mipmapLevelBias;
    return driver_end(r);
}

CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref texture)
{
    CUresult r = begin_get(texture, false, least && most ? least : NULL);
    if (r != CUDA_SUCCESS) return driver_end(r);
    *least = texture->d.minMipmapLevelClamp;
    *most = texture->d.maxMipmapLevelClamp;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuTexRefGetMaxAnisotropy(int *most, CUtexref texture)
{
    CUresult r = begin_get(texture, false, most);
    if (r == CUDA_SUCCESS) *most = (int)texture->d.maxAnisotropy;
    return driver_end(r);
}

CUresult cuTexRefGetBorderColor(float *colour, CUtexref texture)
{
    CUresult r = begin_get(texture, false, colour);
    if (r == CUDA_SUCCESS) memcpy(colour, texture->d.borderColor, sizeof texture->d.borderColor);
    return driver_end(r);
}

CUresult cuTexRefGetFlags(unsigned *flags, CUtexref texture)
{
    CUresult r = begin_get(texture, false, flags);
    if (r == CUDA_SUCCESS) *flags = texture->d.flags;
    return driver_end(r);
}
