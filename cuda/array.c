/* CUDA arrays: texels in memory that only copies, textures and surfaces access. A level of a mipmapped array
 * is an array that shares the mipmapped array's memory and is destroyed with it. */
#include "cuda/driver.h"
#include "cuda/queue.h"

#include <inttypes.h>

/* What a descriptor comes to. Sizes are those of texture_layout, which are wider than a GPU's. */
static CUresult describe(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels,
                         struct texture_memory *m)
{
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                           CUDA_ARRAY3D_TEXTURE_GATHER;
    if (!d || !texture_format(d->Format, d->NumChannels, m)) return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & ~known) return CUDA_ERROR_NOT_SUPPORTED;
    bool cube = d->Flags & CUDA_ARRAY3D_CUBEMAP, layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    if (d->Width > TEXTURE_MAX_SIZE || d->Height > TEXTURE_MAX_SIZE || d->Depth > TEXTURE_MAX_SIZE)
        return CUDA_ERROR_INVALID_VALUE;
    if (cube && (layered ? d->Depth % 6 : d->Depth != 6)) return CUDA_ERROR_INVALID_VALUE;
    if ((cube || layered) && !d->Depth) return CUDA_ERROR_INVALID_VALUE;
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER && (!d->Height || (d->Depth && !layered && !cube)))
        return CUDA_ERROR_INVALID_VALUE;
    m->width = (uint32_t)d->Width;
    m->height = (uint32_t)d->Height;
    m->depth = cube || layered ? 0 : (uint32_t)d->Depth;
    m->layers = cube || layered ? (uint32_t)d->Depth : 0;
    m->layered = layered;
    m->cube = cube;
    m->levels = levels;
    return texture_layout(m) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult create(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d, enum numbered_call call)
{
    struct CUctx_st *c;
    struct texture_memory m = {0};
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !array) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct call_name made = driver_call(call);
    r = describe(d, 1, &m);
    queue_settle();
    if (r == CUDA_SUCCESS && !(m.address = emu_alloc(driver.emu, m.bytes, made.text)))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUarray_st *a = object_new(OBJECT_ARRAY, sizeof *a);
    a->context = c;
    a->d = *d;
    a->memory = m;
    a->made = made;
    *array = a;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return create(array, d, CALL_ARRAY_3D_CREATE);
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return create(array,
                  &(CUDA_ARRAY3D_DESCRIPTOR){.Width = d->Width,
                                             .Height = d->Height,
                                             .Format = d->Format,
                                             .NumChannels = d->NumChannels},
                  CALL_ARRAY_CREATE);
}

static CUresult begin_array(CUarray array)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    return r == CUDA_SUCCESS && !object_check(array, OBJECT_ARRAY) ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
    CUresult r = begin_array(array);
    if (r == CUDA_SUCCESS && !d) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *d = array->d;
    return driver_end(r);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray array)
{
    CUresult r = begin_array(array);
    if (r == CUDA_SUCCESS && !d) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *d = (CUDA_ARRAY_DESCRIPTOR){array->d.Width, array->d.Height, array->d.Format,
                                     array->d.NumChannels};
    return driver_end(r);
}

static void array_destroy(struct CUarray_st *a, const char *by)
{
    if (!a->whole) emu_release_by(driver.emu, a->memory.address, by);
    object_destroy(&a->object);
}

/* Whatever may still use it is done first, as for cuMemFree. */
CUresult cuArrayDestroy(CUarray array)
{
    CUresult r = begin_array(array);
    if (r == CUDA_SUCCESS && array->whole) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = queue_wait_context(array->context);
    if (r == CUDA_SUCCESS && !object_check(array, OBJECT_ARRAY)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) array_destroy(array, driver_call(CALL_ARRAY_DESTROY).text);
    return driver_end(r);
}

/* ---- mipmaps ------------------------------------------------------------------------------------------ */

static struct CUarray_st *level_new(struct CUmipmappedArray_st *whole, unsigned i)
{
    const struct texture_level *v = &whole->memory.level[i];
    struct CUarray_st *a = object_new(OBJECT_ARRAY, sizeof *a);
    uint64_t layers = whole->memory.layers ? whole->memory.layers : 1;
    a->context = whole->context;
    a->whole = whole;
    a->made = whole->made;
    a->d = whole->d;
    a->d.Width = v->width;
    if (a->d.Height) a->d.Height = v->height;
    if (whole->memory.depth) a->d.Depth = v->depth;
    a->memory = whole->memory;
    a->memory.address += v->at;
    a->memory.bytes = v->layer * layers;
    a->memory.width = v->width;
    if (a->memory.height) a->memory.height = v->height;
    if (a->memory.depth) a->memory.depth = v->depth;
    a->memory.levels = 1;
    memset(a->memory.level, 0, sizeof a->memory.level);
    a->memory.level[0] = *v;
    a->memory.level[0].at = 0;
    return a;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                unsigned levels)
{
    struct CUctx_st *c;
    struct texture_memory m = {0};
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!array || !d)) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct call_name made = driver_call(CALL_MIPMAP_CREATE);
    size_t most = d->Width > d->Height ? d->Width : d->Height, possible = 1;
    if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) && d->Depth > most)
        most = d->Depth;
    while (most >>= 1) possible++; /* down to one texel; more is cut to that */
    if (possible > TEXTURE_LEVELS) possible = TEXTURE_LEVELS;
    if (levels < 1) levels = 1;
    if (levels > possible) levels = (unsigned)possible;
    r = describe(d, levels, &m);
    queue_settle();
    if (r == CUDA_SUCCESS && !(m.address = emu_alloc(driver.emu, m.bytes, made.text)))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUmipmappedArray_st *a = object_new(OBJECT_MIPMAP, sizeof *a);
    a->context = c;
    a->d = *d;
    a->memory = m;
    a->made = made;
    for (unsigned i = 0; i < levels; i++) a->level[i] = level_new(a, i);
    *array = a;
    return driver_end(CUDA_SUCCESS);
}

static CUresult begin_mipmap(CUmipmappedArray array)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    return r == CUDA_SUCCESS && !object_check(array, OBJECT_MIPMAP) ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUresult cuMipmappedArrayGetLevel(CUarray *level, CUmipmappedArray array, unsigned i)
{
    CUresult r = begin_mipmap(array);
    if (r == CUDA_SUCCESS && (!level || i >= array->memory.levels)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *level = array->level[i];
    return driver_end(r);
}

static void mipmap_destroy(struct CUmipmappedArray_st *a, const char *by)
{
    for (unsigned i = 0; i < a->memory.levels; i++) array_destroy(a->level[i], by);
    emu_release_by(driver.emu, a->memory.address, by);
    object_destroy(&a->object);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    CUresult r = begin_mipmap(array);
    if (r == CUDA_SUCCESS) r = queue_wait_context(array->context);
    if (r == CUDA_SUCCESS && !object_check(array, OBJECT_MIPMAP)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) mipmap_destroy(array, driver_call(CALL_MIPMAP_DESTROY).text);
    return driver_end(r);
}

/* ---- what arrays of other kinds have --------------------------------------------------------------------- */

/* Of arrays that are mapped later, that are sparse, or that have planes; there are none of these. */
static CUresult of_no_array(CUarray array, const void *out, CUdevice device)
{
    CUresult r = begin_array(array);
    if (r == CUDA_SUCCESS && !device_ok(device)) r = CUDA_ERROR_INVALID_DEVICE;
    (void)out;
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

static CUresult of_no_mipmap(CUmipmappedArray array, const void *out, CUdevice device)
{
    CUresult r = begin_mipmap(array);
    if (r == CUDA_SUCCESS && !device_ok(device)) r = CUDA_ERROR_INVALID_DEVICE;
    (void)out;
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray array,
                                      CUdevice device)
{
    return of_no_array(array, out, device);
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                               CUmipmappedArray array, CUdevice device)
{
    return of_no_mipmap(array, out, device);
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out, CUarray array)
{
    return of_no_array(array, out, 0);
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out,
                                             CUmipmappedArray array)
{
    return of_no_mipmap(array, out, 0);
}

CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned i)
{
    (void)i;
    return of_no_array(array, plane, 0);
}

/* ---- all of a context's -------------------------------------------------------------------------------- */

/* Calls `each` or `each_mipmap` for what a context has; NULL: for what all have. */
static void for_all(const struct CUctx_st *c, void (*each)(struct CUarray_st *, const char *),
                    void (*each_mipmap)(struct CUmipmappedArray_st *, const char *), const char *by)
{
    for (struct object *o = driver.objects.all[OBJECT_MIPMAP - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUmipmappedArray_st *a = (struct CUmipmappedArray_st *)o;
        if (o->kind == OBJECT_MIPMAP && (!c || a->context == c)) each_mipmap(a, by);
    }
    for (struct object *o = driver.objects.all[OBJECT_ARRAY - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUarray_st *a = (struct CUarray_st *)o;
        if (o->kind == OBJECT_ARRAY && !a->whole && (!c || a->context == c)) each(a, by);
    }
}

void array_drop(struct CUctx_st *c, const char *by)
{
    for_all(c, array_destroy, mipmap_destroy, by);
}

static void say(const struct CUctx_st *c, const struct call_name *made,
                const struct texture_memory *m)
{
    char text[256];
    if (c->broken) return;
    snprintf(text, sizeof text,
             "heddle: leak: '%s', %" PRIu64 " bytes at 0x%" PRIx64 ", was not released\n",
             made->text, m->bytes, m->address);
    driver_find_memory(text);
}
static void say_array(struct CUarray_st *a, const char *by)
{
    (void)by;
    say(a->context, &a->made, &a->memory);
}
static void say_mipmap(struct CUmipmappedArray_st *a, const char *by)
{
    (void)by;
    say(a->context, &a->made, &a->memory);
}

void array_leaks(const struct CUctx_st *c)
{
    for_all(c, say_array, say_mipmap, NULL);
}

static bool inside(size_t at, size_t count, size_t most)
{
    return at <= most && count <= most - at;
}

bool array_ok(const struct texture_memory *m, size_t x, size_t y, size_t z, size_t width,
              size_t height, size_t depth)
{
    size_t texel = m->channels * m->bits / 8u;
    return x % texel == 0 && inside(x, width, m->level[0].width * texel) &&
           inside(y, height, m->level[0].height) &&
           inside(z, depth, m->layers ? m->layers : m->level[0].depth);
}
