/* Arrays, textures and surfaces through the driver API, compared with a reference that samples as the CUDA
 * programming guide's chapter on texture fetching says. Layouts were compared with CUDA 13's cuda.h. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == 24, "ABI");
_Static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40 &&
                   offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags) == 32,
               "ABI");
_Static_assert(sizeof(CUDA_RESOURCE_DESC) == 144 && offsetof(CUDA_RESOURCE_DESC, res) == 8 &&
                   offsetof(CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes) == 40 &&
                   offsetof(CUDA_RESOURCE_DESC, flags) == 136,
               "ABI");
_Static_assert(sizeof(CUDA_TEXTURE_DESC) == 104 && offsetof(CUDA_TEXTURE_DESC, flags) == 16 &&
                   offsetof(CUDA_TEXTURE_DESC, borderColor) == 40,
               "ABI");

#define SAMPLE(name, geometry, texture, coordinates)                                               \
    ".visible .entry " name "(.param .u64 tex, .param .u64 at, .param .u64 out)\n{\n"              \
    " .reg .b64 %d<4>; .reg .b32 %r<3>; .reg .f32 %f<9>;\n"                                        \
    " ld.param.u64 %d1, [tex]; ld.param.u64 %d2, [at]; ld.param.u64 %d3, [out];\n"                 \
    " mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;\n"                \
    " mad.wide.u32 %d2, %r1, 16, %d2; mad.wide.u32 %d3, %r1, 16, %d3;\n"                           \
    " ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%d2];\n"                                                \
    " tex." geometry ".v4.f32.f32 {%f5,%f6,%f7,%f8}, [" texture ", " coordinates "];\n"            \
    " st.global.v4.f32 [%d3], {%f5,%f6,%f7,%f8}; ret;\n}\n"

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.global .texref ref;\n.global .surfref sref;\n" SAMPLE(
        "d1", "1d", "%d1", "{%f1}") SAMPLE("d2", "2d", "%d1", "{%f1,%f2}")
        SAMPLE("d3", "3d", "%d1", "{%f1,%f2,%f3,%f4}") SAMPLE("by_name", "2d", "ref", "{%f1,%f2}")
    /* out[x] of a surface = tid, then what stands one to the left, 0 at the edge */
    ".visible .entry paint(.param .u64 surf, .param .u64 out)\n{\n"
    " .reg .b64 %d<4>; .reg .b32 %r<5>;\n"
    " ld.param.u64 %d1, [surf]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
    " shl.b32 %r3, %r1, 2; mad.lo.u32 %r4, %r2, 8, %r1;\n"
    " sust.b.2d.b32.trap [%d1, {%r3, %r2}], %r4;\n bar.sync 0;\n sub.u32 %r3, %r3, 4;\n"
    " mad.wide.u32 %d2, %r4, 4, %d2; suld.b.2d.b32.zero %r4, [%d1, {%r3, %r2}];\n"
    " st.global.u32 [%d2], %r4; ret;\n}\n"
    ".visible .entry paint_ref(.param .u64 v)\n{\n .reg .b32 %r<3>;\n"
    " mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; sust.b.1d.b32.trap [sref, {%r2}], %r1; ret;\n}\n"
    ".visible .entry level(.param .u64 tex, .param .u64 out)\n{\n"
    " .reg .b64 %d<3>; .reg .f32 %f<7>; .reg .b32 %r;\n"
    " ld.param.u64 %d1, [tex]; ld.param.u64 %d2, [out]; mov.u32 %r, %tid.x;\n"
    " mad.wide.u32 %d2, %r, 4, %d2; cvt.rn.f32.u32 %f1, %r; mul.f32 %f1, %f1, 0f3E800000;\n"
    " mov.f32 %f2, 0f3F000000;\n"
    " tex.level.2d.v4.f32.f32 {%f3,%f4,%f5,%f6}, [%d1, {%f2,%f2}], %f1;\n"
    " st.global.f32 [%d2], %f3; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static char said[4096];
static void say(void *self, const char *text)
{
    (void)self;
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s", text);
}

static void start(void)
{
    cuda_device_configure(&(struct emu_config){.threads = 1, .checks = EMU_CHECK_MEMORY});
    cuda_device_watch(&(struct cuda_watch){.say = say});
    OK(cuInit(0));
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
}
static void stop(void)
{
    cuda_device_reset();
}
TestSuite(driver_texture, .init = start, .fini = stop);

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* ---- the reference ------------------------------------------------------------------------------------ */

struct image {
    int size[3], dims; /* 1 where there is no such direction */
    float *texel;
};
struct sampling {
    int mode[3];
    bool linear, normalised;
    float border;
};

static float texel(const struct image *im, const struct sampling *s, const int i[3])
{
    int at[3] = {0};
    for (int d = 0; d < im->dims; d++) {
        int n = im->size[d], k = i[d];
        if (k < 0 || k >= n) switch (s->mode[d]) {
            case CU_TR_ADDRESS_MODE_WRAP: k = ((k % n) + n) % n; break;
            case CU_TR_ADDRESS_MODE_CLAMP: k = k < 0 ? 0 : n - 1; break;
            case CU_TR_ADDRESS_MODE_MIRROR:
                k = ((k % (2 * n)) + 2 * n) % (2 * n);
                if (k >= n) k = 2 * n - 1 - k;
                break;
            default: return s->border;
            }
        at[d] = k;
    }
    return im->texel[(at[2] * im->size[1] + at[1]) * im->size[0] + at[0]];
}

static double sample(const struct image *im, const struct sampling *s, const float *c)
{
    double sum = 0;
    int low[3] = {0};
    double share[3] = {0};
    for (int d = 0; d < im->dims; d++) {
        double x = s->normalised ? (double)c[d] * im->size[d] : (double)c[d];
        if (s->linear) x -= 0.5;
        low[d] = (int)floor(x);
        share[d] = s->linear ? x - floor(x) : 0;
    }
    for (int k = 0; k < 1 << im->dims; k++) {
        int i[3] = {0};
        double w = 1;
        for (int d = 0; d < im->dims; d++) {
            i[d] = low[d] + (k >> d & 1);
            w *= k >> d & 1 ? share[d] : 1 - share[d];
        }
        if (w > 0) sum += w * (double)texel(im, s, i);
    }
    return sum;
}

static struct image image_new(int dims, int x, int y, int z)
{
    struct image im = {.size = {x, y, z}, .dims = dims};
    im.texel = malloc(sizeof(float) * (size_t)(x * y * z));
    for (int i = 0; i < x * y * z; i++) im.texel[i] = (float)(i * 37 % 101 - 50);
    return im;
}

static CUarray array_of(const struct image *im)
{
    CUarray a;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = (size_t)im->size[0],
                                 .Height = im->dims > 1 ? (size_t)im->size[1] : 0,
                                 .Depth = im->dims > 2 ? (size_t)im->size[2] : 0,
                                 .Format = CU_AD_FORMAT_FLOAT,
                                 .NumChannels = 1};
    OK(cuArray3DCreate(&a, &d));
    OK(cuMemcpy3D(&(CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                   .srcHost = im->texel,
                                   .srcPitch = (size_t)im->size[0] * 4,
                                   .srcHeight = (size_t)im->size[1],
                                   .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                   .dstArray = a,
                                   .WidthInBytes = (size_t)im->size[0] * 4,
                                   .Height = (size_t)im->size[1],
                                   .Depth = (size_t)im->size[2]}));
    return a;
}

enum { SAMPLES = 512 };

/* Runs a kernel on the coordinates and compares; coordinates have fractions that filters hold exactly. */
static void compare(const char *name, CUtexObject t, const struct image *im,
                    const struct sampling *s, const char *what)
{
    static float at[SAMPLES][4], out[SAMPLES][4];
    CUdeviceptr d_at, d_out;
    uint32_t seed = 1;
    for (int i = 0; i < SAMPLES; i++)
        for (int d = 0; d < 4; d++) {
            seed = seed * 1664525 + 1013904223;
            int n = d < 3 ? im->size[d] : 1; /* from 1.5 sizes before to 2.5 behind, in 16ths */
            int k = (int)(seed >> 8) % (4 * n * 16) - 3 * n * 8;
            at[i][d] = (float)k / 16.0f / (s->normalised ? (float)n : 1.0f);
        }
    OK(cuMemAlloc(&d_at, sizeof at));
    OK(cuMemAlloc(&d_out, sizeof out));
    OK(cuMemcpyHtoD(d_at, at, sizeof at));
    OK(cuLaunchKernel(kernel(name), SAMPLES / 256, 1, 1, 256, 1, 1, 0, NULL,
                      (void *[]){&t, &d_at, &d_out}, NULL));
    OK(cuMemcpyDtoH(out, d_out, sizeof out));
    OK(cuMemFree(d_at));
    OK(cuMemFree(d_out));
    for (int i = 0; i < SAMPLES; i++) {
        float want = (float)sample(im, s, at[i]);
        cr_assert(out[i][0] == want, "%s, at %g %g %g: %g, not %g", what, at[i][0], at[i][1],
                  at[i][2], out[i][0], want);
        cr_assert(out[i][1] == 0 && out[i][2] == 0 && out[i][3] == 0, "%s: other channels", what);
    }
}

Test(driver_texture, samples_as_the_guide_says)
{
    static const char *const kernels[] = {"d1", "d2", "d3"};
    for (int dims = 1; dims <= 3; dims++) {
        struct image im = image_new(dims, dims == 1 ? 32 : 8, dims > 1 ? 4 : 1, dims > 2 ? 2 : 1);
        CUarray a = array_of(&im);
        for (int k = 0; k < 16; k++) {
            struct sampling s = {.linear = k & 1, .normalised = k & 2, .border = -3.5f};
            /* repeating needs normalised coordinates; directions differ */
            for (int d = 0; d < 3; d++)
                s.mode[d] = s.normalised ? (k / 4 + d) % 4 : (k / 4 + d) % 2 ? 3 : 1;
            CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
            CUDA_TEXTURE_DESC t = {.filterMode = s.linear,
                                   .flags = s.normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0,
                                   .borderColor = {-3.5f, 0, 0, 1}};
            for (int d = 0; d < 3; d++) t.addressMode[d] = (CUaddress_mode)s.mode[d];
            CUtexObject object;
            char what[100];
            snprintf(what, sizeof what, "%dd, case %d", dims, k);
            OK(cuTexObjectCreate(&object, &r, &t, NULL));
            compare(kernels[dims - 1], object, &im, &s, what);
            OK(cuTexObjectDestroy(object));
        }
        OK(cuArrayDestroy(a));
        free(im.texel);
    }
    cr_expect(!*said, "%s", said);
}

/* Linear memory and pitched memory are read where they lie. */
Test(driver_texture, of_plain_memory)
{
    struct image line = image_new(1, 50, 1, 1), plane = image_new(2, 8, 4, 1);
    CUdeviceptr p;
    size_t pitch;
    CUtexObject object;
    OK(cuMemAlloc(&p, 200));
    OK(cuMemcpyHtoD(p, line.texel, 200));
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR,
                            .res.linear = {p, CU_AD_FORMAT_FLOAT, 1, 200}},
                       got;
    CUDA_TEXTURE_DESC t = {0}, got_t;
    struct sampling s = {.mode = {3, 3, 3}};
    OK(cuTexObjectCreate(&object, &r, &t, NULL)); /* outside are zeros */
    compare("d1", object, &line, &s, "linear");
    OK(cuTexObjectGetResourceDesc(&got, object));
    cr_expect(got.resType == CU_RESOURCE_TYPE_LINEAR && got.res.linear.devPtr == p &&
              got.res.linear.sizeInBytes == 200);
    OK(cuTexObjectGetTextureDesc(&got_t, object));
    cr_expect(got_t.filterMode == t.filterMode && got_t.flags == t.flags);
    OK(cuTexObjectDestroy(object));
    IS(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
    r.res.linear.sizeInBytes = 204;
    IS(cuTexObjectCreate(&object, &r, &t, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(p));
    *said = '\0';

    OK(cuMemAllocPitch(&p, &pitch, 32, 4, 4));
    OK(cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                   .srcHost = plane.texel,
                                   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                   .dstDevice = p,
                                   .dstPitch = pitch,
                                   .WidthInBytes = 32,
                                   .Height = 4}));
    r = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                             .res.pitch2D = {p, CU_AD_FORMAT_FLOAT, 1, 8, 4, pitch}};
    t = (CUDA_TEXTURE_DESC){.filterMode = CU_TR_FILTER_MODE_LINEAR,
                            .addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
    s = (struct sampling){.mode = {1, 1, 1}, .linear = true};
    OK(cuTexObjectCreate(&object, &r, &t, NULL));
    compare("d2", object, &plane, &s, "pitched");
    CUdeviceptr at, out;
    OK(cuMemAlloc(&at, 16));
    OK(cuMemAlloc(&out, 16));
    OK(cuMemFree(p));
    IS(cuLaunchKernel(kernel("d2"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&object, &at, &out},
                      NULL),
       CUDA_ERROR_ILLEGAL_ADDRESS); /* the memory is gone */
    free(line.texel);
    free(plane.texel);
}

Test(driver_texture, integers_become_floats_if_not_forbidden)
{
    const uint8_t texels[8] = {0, 51, 102, 153, 204, 255, 1, 2};
    CUarray a;
    CUtexObject object;
    CUdeviceptr at, out;
    float c[4] = {1.0f}, got[4];
    OK(cuArrayCreate(&a, &(CUDA_ARRAY_DESCRIPTOR){2, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4}));
    OK(cuMemcpyHtoA(a, 0, texels, 8));
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
    CUDA_TEXTURE_DESC t = {.filterMode = CU_TR_FILTER_MODE_LINEAR};
    OK(cuTexObjectCreate(&object, &r, &t, NULL));
    OK(cuMemAlloc(&at, 16));
    OK(cuMemAlloc(&out, 16));
    OK(cuMemcpyHtoD(at, c, 16));
    OK(cuLaunchKernel(kernel("d1"), 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&object, &at, &out},
                      NULL));
    OK(cuMemcpyDtoH(got, out, 16)); /* halfway between the two texels */
    for (int i = 0; i < 4; i++) {
        double want = ((double)(texels[i] / 255.0f) + (double)(texels[4 + i] / 255.0f)) / 2;
        cr_expect(got[i] == (float)want, "%d: %g, not %g", i, got[i], want);
    }
    t.flags = CU_TRSF_READ_AS_INTEGER;
    IS(cuTexObjectCreate(&object, &r, &t, NULL),
       CUDA_ERROR_INVALID_VALUE); /* a filter of integers */
    t.filterMode = CU_TR_FILTER_MODE_POINT;
    OK(cuTexObjectCreate(&object, &r, &t, NULL));
}

Test(driver_texture, mipmaps_have_levels)
{
    CUmipmappedArray m;
    CUarray level, too_far;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUtexObject object;
    CUdeviceptr out;
    float got[16];
    OK(cuMipmappedArrayCreate(&m, &d, 99)); /* 8, 4, 2, 1 */
    IS(cuMipmappedArrayGetLevel(&too_far, m, 4), CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < 4; i++) {
        float texels[64];
        CUDA_ARRAY3D_DESCRIPTOR got_d;
        for (int k = 0; k < 64; k++) texels[k] = (float)(i + 1);
        OK(cuMipmappedArrayGetLevel(&level, m, i));
        OK(cuArray3DGetDescriptor(&got_d, level));
        cr_expect(got_d.Width == 8u >> i && got_d.Height == 8u >> i);
        OK(cuMemcpyHtoA(level, 0, texels, 4 * got_d.Width * got_d.Height));
        IS(cuMemcpyHtoA(level, 0, texels, 4 * got_d.Width * got_d.Height + 1),
           CUDA_ERROR_INVALID_VALUE);
        IS(cuArrayDestroy(level), CUDA_ERROR_INVALID_VALUE);
    }
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                            .res.mipmap.hMipmappedArray = m};
    CUDA_TEXTURE_DESC t = {.filterMode = CU_TR_FILTER_MODE_LINEAR,
                           .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                           .flags = CU_TRSF_NORMALIZED_COORDINATES,
                           .minMipmapLevelClamp = 0.5f,
                           .maxMipmapLevelClamp = 2.75f};
    OK(cuTexObjectCreate(&object, &r, &t, NULL));
    OK(cuMemAlloc(&out, sizeof got));
    OK(cuLaunchKernel(kernel("level"), 1, 1, 1, 16, 1, 1, 0, NULL, (void *[]){&object, &out},
                      NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < 16; i++) {
        float level_of = (float)i / 4;
        level_of = level_of < 0.5f ? 0.5f : level_of > 2.75f ? 2.75f : level_of;
        cr_expect(got[i] == 1 + level_of, "%d: %g", i, got[i]);
    }
    OK(cuTexObjectDestroy(object));
    OK(cuMipmappedArrayDestroy(m));
    IS(cuArray3DGetDescriptor(&d, level), CUDA_ERROR_INVALID_HANDLE);
}

Test(driver_texture, surfaces_are_written_and_read)
{
    CUarray a, plain;
    CUsurfObject object;
    CUdeviceptr out;
    uint32_t texels[4][8], left[4][8];
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 8,
                                 .Height = 4,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                 .NumChannels = 1,
                                 .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    OK(cuArray3DCreate(&a, &d));
    d.Flags = 0;
    OK(cuArray3DCreate(&plain, &d));
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = plain}, got;
    IS(cuSurfObjectCreate(&object, &r), CUDA_ERROR_INVALID_VALUE); /* not made for that */
    r.res.array.hArray = a;
    OK(cuSurfObjectCreate(&object, &r));
    OK(cuSurfObjectGetResourceDesc(&got, object));
    cr_expect(got.res.array.hArray == a);
    IS(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc(&out, sizeof left));
    OK(cuLaunchKernel(kernel("paint"), 1, 1, 1, 8, 4, 1, 0, NULL, (void *[]){&object, &out}, NULL));
    OK(cuMemcpyDtoH(left, out, sizeof left));
    OK(cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                   .srcArray = a,
                                   .dstMemoryType = CU_MEMORYTYPE_HOST,
                                   .dstHost = texels,
                                   .WidthInBytes = 32,
                                   .Height = 4}));
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 8; x++)
            cr_expect(texels[y][x] == y * 8 + x && left[y][x] == (x ? y * 8 + x - 1 : 0));
    OK(cuSurfObjectDestroy(object));
    IS(cuSurfObjectDestroy(object), CUDA_ERROR_INVALID_VALUE);
}

Test(driver_texture, references_are_bound_by_the_next_launch)
{
    struct image im = image_new(2, 8, 4, 1);
    CUarray a = array_of(&im), line;
    CUtexref t, again;
    CUsurfref surface;
    uint32_t texels[8];
    IS(cuModuleGetTexRef(&t, module, "nobody"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetTexRef(&t, module, "sref"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleGetTexRef(&t, module, "ref"));
    OK(cuModuleGetTexRef(&again, module, "ref"));
    cr_expect(t == again);
    OK(cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_LINEAR));
    OK(cuTexRefSetArray(t, a, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefSetFlags(t, CU_TRSF_NORMALIZED_COORDINATES));
    OK(cuTexRefSetAddressMode(t, 0, CU_TR_ADDRESS_MODE_WRAP));
    OK(cuTexRefSetAddressMode(t, 1, CU_TR_ADDRESS_MODE_MIRROR));
    IS(cuTexRefSetAddressMode(t, 3, CU_TR_ADDRESS_MODE_MIRROR), CUDA_ERROR_INVALID_VALUE);
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray_format format;
    CUdeviceptr address;
    unsigned flags;
    int channels;
    OK(cuTexRefGetArray(&line, t));
    OK(cuTexRefGetAddressMode(&mode, t, 1));
    OK(cuTexRefGetFilterMode(&filter, t));
    OK(cuTexRefGetFormat(&format, &channels, t));
    OK(cuTexRefGetFlags(&flags, t));
    cr_expect(line == a && mode == CU_TR_ADDRESS_MODE_MIRROR && filter == CU_TR_FILTER_MODE_LINEAR);
    cr_expect(format == CU_AD_FORMAT_FLOAT && channels == 1);
    cr_expect_eq(flags, CU_TRSF_NORMALIZED_COORDINATES);
    IS(cuTexRefGetAddress(&address, t), CUDA_ERROR_INVALID_VALUE);
    IS(cuTexRefGetAddressMode(&mode, t, 3), CUDA_ERROR_INVALID_VALUE);
    IS(cuSurfRefGetArray(&line, (CUsurfref)t), CUDA_ERROR_INVALID_VALUE);
    struct sampling s = {.mode = {0, 2, 0}, .linear = true, .normalised = true};
    compare("by_name", 0, &im, &s, "by name");
    OK(cuTexRefSetFilterMode(t, CU_TR_FILTER_MODE_POINT));
    s.linear = false;
    compare("by_name", 0, &im, &s, "nearest");

    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 8,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                 .NumChannels = 1,
                                 .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    OK(cuArray3DCreate(&line, &d));
    OK(cuModuleGetSurfRef(&surface, module, "sref"));
    OK(cuSurfRefSetArray(surface, line, 0));
    uint64_t unused = 0;
    OK(cuLaunchKernel(kernel("paint_ref"), 1, 1, 1, 8, 1, 1, 0, NULL, (void *[]){&unused}, NULL));
    OK(cuMemcpyAtoH(texels, line, 0, 32));
    for (uint32_t i = 0; i < 8; i++) cr_expect(texels[i] == i);
    OK(cuModuleUnload(module));
    IS(cuTexRefSetFlags(t, 0), CUDA_ERROR_INVALID_VALUE);
    free(im.texel);
}

Test(driver_texture, arrays_have_bounds_and_names)
{
    CUarray a, b;
    char row[64] = {0};
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 4, .Height = 4, .Depth = 3, .Format = CU_AD_FORMAT_HALF, .NumChannels = 3};
    IS(cuArray3DCreate(&a, &d), CUDA_ERROR_INVALID_VALUE); /* three channels */
    d.NumChannels = 4;
    d.Flags = CUDA_ARRAY3D_CUBEMAP;
    IS(cuArray3DCreate(&a, &d), CUDA_ERROR_INVALID_VALUE); /* three faces */
    d.Flags = CUDA_ARRAY3D_LAYERED;
    OK(cuArray3DCreate(&a, &d));
    CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = row,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = a,
                       .dstXInBytes = 8,
                       .WidthInBytes = 24,
                       .Height = 1,
                       .Depth = 1};
    p.dstY = 3, p.dstZ = 2;
    OK(cuMemcpy3D(&p));
    p.dstZ = 3;
    IS(cuMemcpy3D(&p), CUDA_ERROR_INVALID_VALUE);
    p.dstZ = 0, p.dstXInBytes = 4; /* half a texel */
    IS(cuMemcpy3D(&p), CUDA_ERROR_INVALID_VALUE);
    p.dstXInBytes = 16;
    IS(cuMemcpy3D(&p), CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayDestroy(a));
    IS(cuArrayDestroy(a), CUDA_ERROR_INVALID_HANDLE);
    p.dstXInBytes = 8;
    IS(cuMemcpy3D(&p), CUDA_ERROR_INVALID_HANDLE);
    OK(cuArrayCreate(&b, &(CUDA_ARRAY_DESCRIPTOR){16, 16, CU_AD_FORMAT_FLOAT, 1}));
    *said = '\0';
    OK(cuCtxDestroy(context));
    cr_expect(strstr(said, "leak: 'cuArrayCreate #1', 1024 bytes"), "%s", said);
}
