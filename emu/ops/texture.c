/* Texture fetches, and texture and surface objects: texture.h describes them, and the decisions that the guide leaves
 * open. */
#include "emu/texture.h"

#include "emu/measure/count.h"
#include "emu/ops/approx.h"
#include "emu/ops/fp.h"
#include "emu/ops/textureops.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <string.h>

#define TEXTURE_MAGIC UINT64_C(0x6572757478657474)
#define SURFACE_MAGIC UINT64_C(0x6563616672757373)

/* ---- objects ----------------------------------------------------------------------------------- */

const char *texture_layout(struct texture_memory *m)
{
    const u32 levels = texture_or_1(m->levels), layers = texture_or_1(m->layers),
              texel = texture_texel_bytes(m);
    if (!m->width || m->width > TEXTURE_MAX_SIZE || m->height > TEXTURE_MAX_SIZE ||
        m->depth > TEXTURE_MAX_SIZE || layers > 1 << 16)
        return "a width, height, depth or number of layers that no texture has";
    if (m->depth && !m->height) return "a depth without a height";
    if ((m->channels != 1 && m->channels != 2 && m->channels != 4) ||
        (m->bits != 8 && m->bits != 16 && m->bits != 32) || m->kind > TEXTURE_SNORM ||
        (m->kind == TEXTURE_FLOAT && m->bits == 8) || (m->kind > TEXTURE_FLOAT && m->bits == 32))
        return "a texel format that no texture has";
    if (m->cube && (m->width != m->height || m->depth || !m->layers || m->layers % 6))
        return "a cube's faces are squares, six of them";
    if ((m->layered || m->cube) != (m->layers != 0)) return "layers of a texture that has none";
    if (levels > TEXTURE_LEVELS) return "too many levels of a mipmap";
    if (m->pitch && (levels > 1 || m->pitch < (u64)m->width * texel || m->pitch > UINT32_MAX))
        return "a pitch that does not fit";
    if (m->linear && (levels > 1 || m->layers || m->depth)) return "linear memory of that shape";
    u64 at = 0;
    memset(m->level, 0, sizeof m->level);
    for (u32 i = 0; i < levels; i++) {
        struct texture_level *v = &m->level[i];
        v->width = texture_or_1(m->width >> i);
        v->height = texture_or_1(m->height >> i);
        v->depth = texture_or_1(m->depth >> i);
        u64 row = (u64)v->width * texel, size;
        v->at = at;
        v->pitch = m->pitch ? m->pitch : m->linear ? row : (row + 15) / 16 * 16;
        if (__builtin_mul_overflow(v->pitch, (u64)v->height, &v->slice) ||
            __builtin_mul_overflow(v->slice, (u64)v->depth, &v->layer) ||
            __builtin_mul_overflow(v->layer, (u64)layers, &size) || size > (u64)1 << 44)
            return "a texture of more memory than there is";
        if (m->pitch || m->linear)
            size = v->pitch * (v->height - 1) + row; /* its last row ends there */
        at += size;
    }
    m->bytes = at;
    return NULL;
}

u64 texture_offset(const struct texture_memory *m, u32 level, u32 layer, u32 x, u32 y, u32 z)
{
    const struct texture_level *v = &m->level[level];
    return v->at + layer * v->layer + z * v->slice + y * v->pitch + (u64)x * texture_texel_bytes(m);
}

static uint64_t put_object(struct mem *m, const struct texture *t, u64 magic, const char *name,
                           const char **why)
{
    if (!mem_find(m, t->memory.address, t->memory.bytes)) {
        *why = "its memory is not there";
        return 0;
    }
    u64 at = mem_alloc(m, sizeof *t, MEM_ALIGN, name, true, false);
    if (!at) {
        *why = "device memory is exhausted";
        return 0;
    }
    struct texture *to = (struct texture *)(void *)mem_bytes(m, at);
    *to = *t;
    to->magic = magic;
    to->memory.levels = t->memory.levels;
    if (mem_written_bits(m)) mem_mark_written(m, at, sizeof *t);
    return at;
}

uint64_t texture_create(struct mem *m, const struct texture *t, const char **why)
{
    const struct texture_memory *k = &t->memory;
    *why = NULL;
    if (!k->bytes) *why = "texture_layout was not called";
    for (int i = 0; i < 3; i++)
        if (t->sampler.address[i] > TEXTURE_BORDER) *why = "an address mode that there is not";
    if (t->as_float && (k->kind > TEXTURE_SINT || k->bits > 16))
        *why = "only integers of 8 and 16 bits can be read as normalised floats";
    if (t->srgb &&
        (k->bits != 8 || !(k->kind == TEXTURE_UNORM || (k->kind == TEXTURE_UINT && t->as_float))))
        *why = "sRGB is for 8-bit unsigned texels that are read as normalised floats";
    if ((t->sampler.linear_filter || t->sampler.linear_levels) && !texture_gives_float(t))
        *why = "integers cannot be filtered";
    return *why ? 0 : put_object(m, t, TEXTURE_MAGIC, "texture object", why);
}

uint64_t surface_create(struct mem *m, const struct texture_memory *s, const char **why)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory = *s;
    *why = s->bytes ? NULL : "texture_layout was not called";
    return *why ? 0 : put_object(m, &t, SURFACE_MAGIC, "surface object", why);
}

static const struct texture *find_object(const struct mem *m, uint64_t handle, u64 magic)
{
    const struct mem_block *b = mem_find(m, handle, sizeof(struct texture));
    if (!b || b->address != handle || !b->constant || b->variable || !b->live) return NULL;
    const struct texture *t = (const struct texture *)(const void *)b->host;
    return t->magic == magic ? t : NULL;
}

const struct texture *texture_find(const struct mem *m, uint64_t handle)
{
    return find_object(m, handle, TEXTURE_MAGIC);
}

const struct texture *surface_find(const struct mem *m, uint64_t handle)
{
    return find_object(m, handle, SURFACE_MAGIC);
}

bool texture_destroy(struct mem *m, uint64_t handle)
{
    if (!texture_find(m, handle) && !surface_find(m, handle)) return false;
    memset(mem_bytes(m, handle), 0, sizeof(struct texture));
    return mem_release(m, handle);
}

bool texture_bind(struct mem *m, uint64_t variable, uint64_t handle)
{
    const struct mem_block *b = mem_find(m, variable, sizeof handle);
    if (!b || !b->variable || !b->constant) return false;
    if (handle && !texture_find(m, handle) && !surface_find(m, handle)) return false;
    memcpy(b->host + (variable - b->address), &handle, sizeof handle);
    return true;
}

/* The blocks are the host's, who may have written anything there. What is wrong with sizes only comes to
 * wrong offsets, and those are checked. */
static bool sound(const struct texture *t)
{
    const struct texture_memory *m = &t->memory;
    if (m->levels > TEXTURE_LEVELS || m->kind > TEXTURE_SNORM || m->bytes > (u64)1 << 44)
        return false;
    if (m->channels != 1 && m->channels != 2 && m->channels != 4) return false;
    if (m->bits != 8 && m->bits != 16 && m->bits != 32) return false;
    for (u32 i = 0; i < texture_or_1(m->levels); i++) {
        const struct texture_level *v = &m->level[i];
        if (!v->width || !v->height || !v->depth || v->width > TEXTURE_MAX_SIZE ||
            v->height > TEXTURE_MAX_SIZE || v->depth > TEXTURE_MAX_SIZE)
            return false;
    }
    return true;
}

/* ---- texels ------------------------------------------------------------------------------------ */

/* 8-bit sRGB as linear intensity: c / 12.92 up to 0.04045, else ((c + 0.055) / 1.055) ^ 2.4, rounded to
 * the nearest f32 (computed with 60 digits). */
const u32 texture_srgb_to_linear[256] = {
    0x00000000, 0x399f22b4, 0x3a1f22b4, 0x3a6eb40e, 0x3a9f22b4, 0x3ac6eb61, 0x3aeeb40e, 0x3b0b3e5d,
    0x3b1f22b4, 0x3b33070a, 0x3b46eb61, 0x3b5b518e, 0x3b70f18f, 0x3b83e1c6, 0x3b8fe616, 0x3b9c87fd,
    0x3ba9c9b6, 0x3bb7ad6f, 0x3bc6354a, 0x3bd56360, 0x3be539c1, 0x3bf5ba71, 0x3c0373b6, 0x3c0c6153,
    0x3c15a705, 0x3c1f45be, 0x3c293e6b, 0x3c3391f7, 0x3c3e4149, 0x3c494d44, 0x3c54b6c9, 0x3c607eb4,
    0x3c6ca5df, 0x3c792d22, 0x3c830aa9, 0x3c89af9f, 0x3c9085dc, 0x3c978dc6, 0x3c9ec7c2, 0x3ca63433,
    0x3cadd37d, 0x3cb5a602, 0x3cbdac21, 0x3cc5e63a, 0x3cce54ac, 0x3cd6f7d5, 0x3cdfd010, 0x3ce8ddba,
    0x3cf2212d, 0x3cfb9ac3, 0x3d02a56a, 0x3d0798dd, 0x3d0ca7e6, 0x3d11d2af, 0x3d171964, 0x3d1c7c30,
    0x3d21fb3c, 0x3d2796b2, 0x3d2d4ebb, 0x3d332381, 0x3d39152b, 0x3d3f23e4, 0x3d454fd2, 0x3d4b991d,
    0x3d51ffec, 0x3d588468, 0x3d5f26b6, 0x3d65e6fd, 0x3d6cc563, 0x3d73c20e, 0x3d7add24, 0x3d810b65,
    0x3d84b793, 0x3d88732e, 0x3d8c3e48, 0x3d9018f4, 0x3d940344, 0x3d97fd49, 0x3d9c0715, 0x3da020ba,
    0x3da44a4a, 0x3da883d6, 0x3daccd6f, 0x3db12727, 0x3db5910f, 0x3dba0b38, 0x3dbe95b3, 0x3dc33090,
    0x3dc7dbe0, 0x3dcc97b4, 0x3dd1641d, 0x3dd6412b, 0x3ddb2eee, 0x3de02d76, 0x3de53cd4, 0x3dea5d18,
    0x3def8e51, 0x3df4d090, 0x3dfa23e5, 0x3dff885e, 0x3e027f06, 0x3e05427f, 0x3e080ea2, 0x3e0ae377,
    0x3e0dc104, 0x3e10a753, 0x3e13966a, 0x3e168e51, 0x3e198f0f, 0x3e1c98ac, 0x3e1fab30, 0x3e22c6a1,
    0x3e25eb07, 0x3e29186a, 0x3e2c4ed0, 0x3e2f8e42, 0x3e32d6c5, 0x3e362862, 0x3e39831f, 0x3e3ce703,
    0x3e405417, 0x3e43ca60, 0x3e4749e6, 0x3e4ad2af, 0x3e4e64c3, 0x3e520029, 0x3e55a4e7, 0x3e595305,
    0x3e5d0a89, 0x3e60cb7a, 0x3e6495df, 0x3e6869be, 0x3e6c471f, 0x3e702e07, 0x3e741e7e, 0x3e78188b,
    0x3e7c1c33, 0x3e8014bf, 0x3e822039, 0x3e84308b, 0x3e8645b8, 0x3e885fc3, 0x3e8a7eb0, 0x3e8ca281,
    0x3e8ecb3b, 0x3e90f8df, 0x3e932b72, 0x3e9562f6, 0x3e979f6f, 0x3e99e0e0, 0x3e9c274c, 0x3e9e72b6,
    0x3ea0c321, 0x3ea31890, 0x3ea57307, 0x3ea7d288, 0x3eaa3716, 0x3eaca0b6, 0x3eaf0f68, 0x3eb18332,
    0x3eb3fc15, 0x3eb67a14, 0x3eb8fd34, 0x3ebb8576, 0x3ebe12de, 0x3ec0a56e, 0x3ec33d2a, 0x3ec5da14,
    0x3ec87c30, 0x3ecb2380, 0x3ecdd008, 0x3ed081ca, 0x3ed338c9, 0x3ed5f508, 0x3ed8b68a, 0x3edb7d52,
    0x3ede4963, 0x3ee11abf, 0x3ee3f169, 0x3ee6cd65, 0x3ee9aeb5, 0x3eec955b, 0x3eef815c, 0x3ef272b8,
    0x3ef56974, 0x3ef86593, 0x3efb6716, 0x3efe6e00, 0x3f00bd2b, 0x3f02460c, 0x3f03d1a5, 0x3f055ff7,
    0x3f06f104, 0x3f0884cd, 0x3f0a1b54, 0x3f0bb499, 0x3f0d509f, 0x3f0eef65, 0x3f1090ef, 0x3f12353d,
    0x3f13dc50, 0x3f15862a, 0x3f1732cc, 0x3f18e237, 0x3f1a946e, 0x3f1c4970, 0x3f1e0140, 0x3f1fbbde,
    0x3f21794d, 0x3f23398c, 0x3f24fc9f, 0x3f26c285, 0x3f288b41, 0x3f2a56d2, 0x3f2c253c, 0x3f2df67f,
    0x3f2fca9c, 0x3f31a194, 0x3f337b6a, 0x3f35581d, 0x3f3737b0, 0x3f391a24, 0x3f3aff7a, 0x3f3ce7b2,
    0x3f3ed2cf, 0x3f40c0d2, 0x3f42b1bc, 0x3f44a58e, 0x3f469c49, 0x3f4895ef, 0x3f4a9280, 0x3f4c91ff,
    0x3f4e946c, 0x3f5099c9, 0x3f52a216, 0x3f54ad56, 0x3f56bb88, 0x3f58ccaf, 0x3f5ae0cc, 0x3f5cf7df,
    0x3f5f11ea, 0x3f612eef, 0x3f634eee, 0x3f6571e9, 0x3f6797e0, 0x3f69c0d5, 0x3f6becca, 0x3f6e1bbf,
    0x3f704db5, 0x3f7282ae, 0x3f74baab, 0x3f76f5ae, 0x3f7933b6, 0x3f7b74c6, 0x3f7db8de, 0x3f800000,
};

/* One channel as the result of a fetch. */
static u32 channel(const struct texture *t, u32 raw, u32 c)
{
    const u32 bits = t->memory.bits, most = bits == 32 ? ~0u : (1u << bits) - 1;
    const i32 low = bits == 8 ? (i8)(u8)raw : bits == 16 ? (i16)(u16)raw : (i32)raw;
    bool sign = t->memory.kind == TEXTURE_SINT || t->memory.kind == TEXTURE_SNORM;
    if (t->memory.kind == TEXTURE_FLOAT)
        return bits == 16 ? fp_bits32(fp_f32_from_f16((u16)raw)) : raw;
    if (!texture_gives_float(t) || bits == 32) return sign ? (u32)low : raw;
    if (t->srgb && bits == 8 && c < 3) return texture_srgb_to_linear[raw & 0xff];
    if (!sign) return fp_bits32((f32)raw / (f32)most);
    f32 x = (f32)low / (f32)(most >> 1);
    return fp_bits32(x < -1.0f ? -1.0f : x);
}

static void read_texel(const struct texture *t, const u8 *base, u32 level, u32 layer, u32 x, u32 y,
                       u32 z, u32 out[4])
{
    const struct texture_memory *m = &t->memory;
    const u32 bytes = m->bits / 8u, size = texture_texel_bytes(m);
    const u64 at = texture_offset(m, level, layer, x, y, z);
    memset(out, 0, 4 * sizeof *out); /* channels that are not there, too */
    if (at > m->bytes || m->bytes - at < size) return;
    for (u32 c = 0; c < m->channels; c++) {
        u32 raw = 0;
        const u8 *p = base + at + c * bytes;
        for (u32 k = 0; k < bytes; k++) raw |= (u32)p[k] << 8 * k;
        out[c] = channel(t, raw, c);
    }
}

void texture_outside(const struct texture *t, u32 out[4])
{
    memset(out, 0, 4 * sizeof *out); /* channels that are not there, too */
    for (u32 c = 0; c < t->memory.channels && c < 4; c++) {
        const f32 b = t->memory.linear && texture_dims(&t->memory) == 1 ? 0.0f : t->border[c];
        if (texture_gives_float(t)) out[c] = fp_bits32(b);
        else {
            i64 v = fp_s64_from_f32(b, FP_RZ);
            bool sign = t->memory.kind == TEXTURE_SINT;
            i64 most = ((i64)1 << (t->memory.bits - (sign ? 1 : 0))) - 1,
                least = sign ? -most - 1 : 0;
            out[c] = (u32)(v < least ? least : v > most ? most : v);
        }
    }
}

/* ---- coordinates ------------------------------------------------------------------------------- */

struct axis { /* one direction of a fetch */
    u32 size;
    u8 mode;    /* enum texture_address that works */
    i64 first;  /* number of the texel, and with a filter that of the lower one */
    u32 weight; /* of the upper one, of 256; of the lower one 256 - weight */
};

static f64 floor64(f64 x)
{
    if (!(x > -0x1p52 && x < 0x1p52)) return x; /* an integer, infinite or NaN */
    f64 cut = (f64)(i64)x;
    return cut > x ? cut - 1 : cut;
}

/* A coordinate in texels, brought near if it repeats. */
static f64 scaled(f32 c, const struct axis *a, bool normalised)
{
    f64 x = c;
    const f64 n = a->size;
    if (x != x) return 0;
    if (a->mode == TEXTURE_WRAP || a->mode == TEXTURE_MIRROR) { /* normalised, then */
        const f64 period = a->mode == TEXTURE_WRAP ? 1 : 2, per = a->mode == TEXTURE_WRAP ? 1 : 0.5;
        if (x - x != 0) return 0; /* infinite */
        x -= period * floor64(x * per);
        return x * n;
    }
    if (normalised) x *= n;
    return x < -TEXTURE_FAR ? -TEXTURE_FAR : x > TEXTURE_FAR ? TEXTURE_FAR : x;
}

static struct axis axis_at(f32 c, u32 size, u8 mode, bool normalised, i32 offset, bool linear)
{
    struct axis a = {.size = size, .mode = mode};
    if (!normalised && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR)) a.mode = TEXTURE_CLAMP;
    f64 x = scaled(c, &a, normalised);
    if (linear) x -= 0.5;
    f64 low = floor64(x);
    a.first = (i64)low;
    if (linear) a.weight = (u32)floor64((x - low) * 256 + 0.5);
    else if (a.mode == TEXTURE_WRAP && a.first >= size) a.first = (i64)size - 1; /* rounding of x */
    else if (a.mode == TEXTURE_MIRROR && a.first >= 2 * (i64)size) a.first = 2 * (i64)size - 1;
    a.first += offset;
    return a;
}

static struct axis axis_of_integer(i32 c, u32 size, u8 mode, i32 offset)
{
    if (mode != TEXTURE_BORDER) mode = TEXTURE_CLAMP;
    return (struct axis){.size = size, .mode = mode, .first = (i64)c + offset};
}

/* The texel that number i of a direction comes to; false: it is outside. */
static bool texel_of(const struct axis *a, i64 i, u32 *out)
{
    const i64 n = a->size;
    if (i >= 0 && i < n) {
        *out = (u32)i;
        return true;
    }
    switch (a->mode) {
    case TEXTURE_WRAP: i = (i % n + n) % n; break;
    case TEXTURE_MIRROR:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        if (i >= n) i = 2 * n - 1 - i;
        break;
    case TEXTURE_CLAMP: i = i < 0 ? 0 : n - 1; break;
    default: return false;
    }
    *out = (u32)i;
    return true;
}

/* ---- fetching ---------------------------------------------------------------------------------- */

struct fetch_point { /* of a fetch, in one level */
    struct texture_reads *reads;
    u32 level, layer;
    struct axis axis[3];
};

static void corner(const struct texture *t, const u8 *base, const struct fetch_point *p,
                   u32 corner_bits, u32 out[4])
{
    u32 at[3];
    for (u32 i = 0; i < 3; i++)
        if (!texel_of(&p->axis[i], p->axis[i].first + (corner_bits >> i & 1), &at[i])) {
            texture_outside(t, out);
            return;
        }
    read_texel(t, base, p->level, p->layer, at[0], at[1], at[2], out);
    if (p->reads)
        p->reads->at[p->reads->count++] = texture_offset(&t->memory, p->level, p->layer, at[0],
                                                         at[1], at[2]);
}

/* Adds share * the filtered texels. */
static void add_filtered(const struct texture *t, const u8 *base, const struct fetch_point *p,
                         f64 share, f64 sum[4])
{
    for (u32 k = 0; k < 8; k++) {
        u64 weight = 1;
        for (u32 i = 0; i < 3; i++)
            weight *= k >> i & 1 ? p->axis[i].weight : 256 - p->axis[i].weight;
        if (!weight) continue;
        u32 texel[4];
        corner(t, base, p, k, texel);
        const f64 w = (f64)weight * 0x1p-24 * share;
        for (int c = 0; c < 4; c++) sum[c] += w * (f64)fp_float32(texel[c]);
    }
}

/* Which face of a cube a direction hits, and where, from 0 to 1. */
static u32 cube_face(const f32 v[3], f32 st[2])
{
    const f32 x = v[0], y = v[1], z = v[2], ax = fp_abs32(x), ay = fp_abs32(y), az = fp_abs32(z);
    f64 s, t, m;
    u32 face;
    if (az >= ax && az >= ay) {
        face = z < 0 ? 5 : 4;
        m = az, s = z < 0 ? -x : x, t = -y;
    } else if (ay >= ax) {
        face = y < 0 ? 3 : 2;
        m = ay, s = x, t = y < 0 ? -z : z;
    } else {
        face = x < 0 ? 1 : 0;
        m = ax, s = x < 0 ? z : -z, t = -y;
    }
    st[0] = (f32)((s / m + 1) / 2);
    st[1] = (f32)((t / m + 1) / 2);
    return face;
}

static struct fetch_point fetch_point_of(const struct texture *t, const struct texture_sampler *s,
                                         const struct texture_point *p, u32 level, bool linear)
{
    const struct texture_memory *m = &t->memory;
    const struct texture_level *v = &m->level[level];
    const u32 size[3] = {v->width, v->height, v->depth}, dims = texture_dims(m);
    const u32 layers = texture_or_1(m->layers);
    struct fetch_point out = {.reads = p->reads, .level = level};
    for (u32 i = 0; i < 3; i++) out.axis[i] = (struct axis){.size = 1, .mode = TEXTURE_CLAMP};
    if (m->cube) {
        f32 st[2];
        u32 face = cube_face(p->coord, st), cubes = layers / 6;
        out.layer = (p->layer < cubes ? p->layer : cubes - 1) * 6 + face;
        for (u32 i = 0; i < 2; i++)
            out.axis[i] = axis_at(st[i], size[i], TEXTURE_CLAMP, true, 0, linear);
        return out;
    }
    out.layer = p->layer < layers ? p->layer : layers - 1;
    for (u32 i = 0; i < dims; i++) {
        u8 mode = s->address[i];
        if (m->linear && dims == 1) mode = TEXTURE_BORDER;
        out.axis[i] = p->integers ? axis_of_integer(p->at[i], size[i], mode, p->offset[i])
                                  : axis_at(p->coord[i], size[i], mode, s->normalised, p->offset[i],
                                            linear);
    }
    return out;
}

/* The level that a gradient asks for, before bias and limits. */
static f32 level_of_gradient(const struct texture *t, const struct texture_sampler *s,
                             const struct texture_point *p)
{
    const struct texture_level *v = &t->memory.level[0];
    const u32 size[3] = {v->width, v->height, v->depth};
    const u32 dims = t->memory.cube ? 3 : texture_dims(&t->memory);
    f64 most = 0;
    for (int d = 0; d < 2; d++) {
        f64 sum = 0;
        for (u32 i = 0; i < dims; i++) {
            f64 g = p->gradient[d][i];
            if (t->memory.cube) g *= v->width / 2.0; /* its directions go from -1 to 1 */
            else if (s->normalised) g *= size[i];
            sum += g * g;
        }
        if (!(sum <= most)) most = sum;
    }
    if (most != most) return 0;
    return 0.5f * fp_lg2_approx32(fp_f32_from_f64(most, FP_RN));
}

/* Levels i and i + 1, the second with a weight of 256. */
static u32 choose_level(const struct texture *t, const struct texture_sampler *s,
                        const struct texture_point *p, u32 *weight)
{
    const u32 levels = texture_or_1(t->memory.levels);
    *weight = 0;
    if (levels == 1 || p->mode == TEXTURE_BASE || p->mode == TEXTURE_GATHER) return 0;
    const f32 last = (f32)(levels - 1);
    if (p->integers) return p->level <= 0 ? 0 : p->level >= last ? levels - 1 : (u32)p->level;
    f32 x = p->mode == TEXTURE_GRADIENT ? level_of_gradient(t, s, p) : p->level;
    x += t->level_bias;
    if (!(x >= t->level_min)) x = t->level_min; /* NaN, too */
    if (!(x <= t->level_max)) x = t->level_max;
    if (!(x > 0)) x = 0;
    if (x > last) x = last;
    const u32 fixed = (u32)floor64((f64)x * 256 + 0.5);
    if (!s->linear_levels) return (fixed + 128) >> 8;
    *weight = fixed & 255;
    return fixed >> 8;
}

void texture_fetch(const struct texture *t, const struct texture_sampler *s, const u8 *base,
                   const struct texture_point *p, u32 out[4])
{
    if (p->mode == TEXTURE_GATHER) {
        static const u8 order[4] = {2, 3, 1, 0}; /* (0,1) (1,1) (1,0) (0,0) */
        struct fetch_point q = fetch_point_of(t, s, p, 0, true);
        for (u32 k = 0; k < 4; k++) {
            u32 texel[4];
            corner(t, base, &q, order[k], texel);
            out[k] = texel[p->component & 3];
        }
        return;
    }
    const bool linear = s->linear_filter && !p->integers && texture_gives_float(t);
    u32 weight, level = choose_level(t, s, p, &weight);
    struct fetch_point q = fetch_point_of(t, s, p, level, linear);
    if (!texture_gives_float(t)) weight = 0;
    if (!linear && !weight) { /* as it is there */
        corner(t, base, &q, 0, out);
        return;
    }
    f64 sum[4] = {0};
    if (linear) add_filtered(t, base, &q, (256 - weight) / 256.0, sum);
    else {
        for (int i = 0; i < 3; i++) q.axis[i].weight = 0;
        add_filtered(t, base, &q, (256 - weight) / 256.0, sum);
    }
    if (weight) {
        q = fetch_point_of(t, s, p, level + 1, linear);
        add_filtered(t, base, &q, weight / 256.0, sum);
    }
    for (int c = 0; c < 4; c++) out[c] = fp_bits32(fp_canon32(fp_f32_from_f64(sum[c], FP_RN)));
}

/* ---- what an instruction names ----------------------------------------------------------------- */

const struct texture *texture_of_lane(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l,
                                      bool surface, struct texture_object *o)
{
    const struct texture_op *v = in->ext;
    const struct emu_machine *m = g->worker->machine;
    const char *what = surface ? "surface" : "texture";
    u64 h = emu_get(g, 8, v->handle, w, l);
    if (v->in_params) {
        const u64 at = h;
        h = 0;
        if (at <= MEM_MAX_PARAMS - 8) memcpy(&h, m->params + at, 8);
    }
    if (o->texture && o->handle == h) return o->texture;
    u64 handle = h;
    const struct mem_block *b = mem_find(m->mem, h, 8);
    if (b && b->variable) { /* a .texref: what is bound to it */
        memcpy(&handle, b->host + (h - b->address), 8);
        if (!handle) {
            emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, h, 8, "nothing is bound to %s reference '%s'",
                      what, b->name ? b->name : "");
            return NULL;
        }
    }
    const struct texture *t = surface ? surface_find(m->mem, handle) : texture_find(m->mem, handle);
    if (!t || !sound(t)) {
        emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, handle, 8, "0x%llx is no %s object",
                  (unsigned long long)handle, what);
        return NULL;
    }
    b = mem_find(m->mem, t->memory.address, t->memory.bytes);
    if (!b) {
        emu_raise(g, in, EMU_FREED, w, l, t->memory.address, (u32)t->memory.bytes,
                  "the memory of the %s is not there any more", what);
        return NULL;
    }
    o->handle = h;
    o->texture = t;
    o->base = b->host + (t->memory.address - b->address);
    return t;
}

bool texture_fits(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, bool surface,
                  const struct texture *t)
{
    const struct texture_op *v = in->ext;
    const struct texture_memory *m = &t->memory;
    bool ok = surface   ? v->dims == texture_dims(m) && v->layered == (m->layered || m->cube)
              : v->cube ? m->cube && v->layered == m->layered
                        : !m->cube && v->dims == texture_dims(m) && v->layered == m->layered;
    if (ok) return true;
    emu_raise(g, in, EMU_WRONG_SPACE, w, l, 0, 0,
              "a %s of %u dimensions%s%s, used as one of another shape",
              surface ? "surface" : "texture", texture_dims(m), m->layered ? ", layered" : "",
              m->cube ? ", a cube" : "");
    return false;
}

/* ---- tex, tld4 --------------------------------------------------------------------------------- */

static void read_point(const struct emu_group *g, const struct texture_op *v, u32 w, u32 l,
                       struct texture_point *p)
{
    const u32 coords = v->cube ? 3 : v->dims;
    *p = (struct texture_point){
        .integers = v->integers, .mode = v->mode, .component = v->component};
    if (v->layered) p->layer = (u32)emu_get(g, 4, v->layer, w, l);
    for (u32 i = 0; i < coords; i++) {
        u32 bits = (u32)emu_get(g, 4, v->coord[i], w, l);
        if (v->integers) p->at[i] = (i32)bits;
        else p->coord[i] = fp_float32(bits);
        if (v->has_offset && !v->cube) p->offset[i] = (i32)(u32)emu_get(g, 4, v->offset[i], w, l);
    }
    if (v->mode == TEXTURE_AT_LEVEL) {
        u32 bits = (u32)emu_get(g, 4, v->level, w, l);
        p->level = v->integers ? (f32)(i32)bits : fp_float32(bits);
    }
    for (u32 i = 0; v->mode == TEXTURE_GRADIENT && i < coords; i++)
        for (int d = 0; d < 2; d++)
            p->gradient[d][i] = fp_float32((u32)emu_get(g, 4, v->gradient[d][i], w, l));
}

static void write_texel(struct emu_group *g, const struct texture_op *v, u32 w, u32 l,
                        const u32 out[4])
{
    if (v->type == PTX_f16 || v->type == PTX_f16x2) {
        u16 h[4];
        for (int c = 0; c < 4; c++) h[c] = fp_f16_from_f32(fp_float32(out[c]), FP_RN);
        if (v->type == PTX_f16)
            for (u32 c = 0; c < 4; c++) emu_put(g, 2, v->result[c], w, l, h[c]);
        else
            for (u32 c = 0; c < 2; c++)
                emu_put(g, 4, v->result[c], w, l, h[2 * c] | (u32)h[2 * c + 1] << 16);
        return;
    }
    for (u32 c = 0; c < 4; c++) emu_put(g, 4, v->result[c], w, l, out[c]);
}

/* Notifies observers of a warp's texels, those of each lane one after the other. Orders keep no stores from fetches: what
 * the launch has written is undefined there. */
static void tell_fetch(const struct emu_group *g, const struct emu_uop *in, u32 w,
                       const struct texture *const t[LANES],
                       const struct texture_reads reads[LANES])
{
    enum { MOST = 16 }; /* bytes of a texel */
    for (u32 lane = 0; lane < LANES; lane++) {
        const struct mem *m = g->worker->machine->mem;
        const u32 size = t[lane] ? texture_texel_bytes(&t[lane]->memory) : 0;
        for (u32 k = 0; t[lane] && k < reads[lane].count; k++) {
            u64 at[LANES] = {0};
            u8 bytes[LANES * MOST] = {0};
            at[lane] = t[lane]->memory.address + reads[lane].at[k];
            memcpy(bytes + MOST * lane, mem_bytes(m, at[lane]), size);
            emu_notify_observers(g, w,
                                 &(struct emu_access){.kind = EMU_LOAD,
                                                      .space = PTX_SPACE_GLOBAL,
                                                      .flags = EMU_NONCOHERENT,
                                                      .type = PTX_b32,
                                                      .width = (u8)size,
                                                      .count = 1,
                                                      .lanes = 1u << lane,
                                                      .address = at,
                                                      .result = bytes,
                                                      .stride = MOST,
                                                      .pc = in->pc});
        }
    }
}

struct texture_sampler texture_sampler_of(const struct texture_op *v, const struct texture *t)
{
    struct texture_sampler s = v->own_sampler ? v->sampler : t->sampler;
    if (v->own_sampler) s.normalised = t->sampler.normalised && !v->force_unnormalised;
    return s;
}

bool texture_fetch_lanes(struct emu_group *g, const struct emu_uop *in, u32 w, bool observed,
                         struct texture_object *o)
{
    const struct texture_op *v = in->ext;
    u64 at[LANES] = {0};
    struct texture_reads reads[LANES];
    const struct texture *of[LANES] = {NULL};
    for (u32 left = g->exec[w]; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        const struct texture *before = o->texture;
        const struct texture *t = texture_of_lane(g, in, w, l, false, o);
        if (!t) return false;
        if (t != before && !texture_fits(g, in, w, l, false, t)) return false;
        if ((v->type == PTX_f16 || v->type == PTX_f16x2) && !texture_gives_float(t)) {
            emu_raise(g, in, EMU_UNSUPPORTED, w, l, 0, 0,
                      "a texture of integers that is read as f16");
            return false;
        }
        struct texture_sampler s = texture_sampler_of(v, t);
        struct texture_point p;
        read_point(g, v, w, l, &p);
        for (int i = 0; i < 3; i++)
            if (p.offset[i] < -8 || p.offset[i] > 7) {
                emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, 0, 0,
                          "an offset of %d texels; it lies between -8 and 7", p.offset[i]);
                return false;
            }
        u32 out[4];
        if (observed) {
            of[l] = t;
            p.reads = &reads[l];
            reads[l].count = 0;
        }
        texture_fetch(t, &s, o->base, &p, out);
        write_texel(g, v, w, l, out);
        if (v->wants_resident) emu_put(g, 4, v->resident, w, l, ~(u64)0);
        if (!g->worker->sites) continue;
        struct fetch_point q = fetch_point_of(t, &s, &p, 0, false);
        u32 x = 0, y = 0;
        texel_of(&q.axis[0], q.axis[0].first, &x);
        texel_of(&q.axis[1], q.axis[1].first, &y);
        at[l] = t->memory.address + texture_offset(&t->memory, 0, q.layer, x, y, 0);
    }
    if (observed) tell_fetch(g, in, w, of, reads);
    if (g->worker->sites && g->exec[w] && o->texture)
        emu_count_lanes(g, in, w, at, g->exec[w], texture_texel_bytes(&o->texture->memory),
                        PTX_SPACE_GLOBAL, COUNT_LOAD);
    return true;
}

const struct emu_uop *emu_op_tex(struct emu_group *g, const struct emu_uop *in)
{
    return g->worker->machine->counting->fetch_texels(g, in);
}

/* ---- txq, suq ---------------------------------------------------------------------------------- */

/* OpenCL's numbers, which the ISA's section 5.3.3 lists. */
static u32 type_code(const struct texture_memory *m)
{
    const u32 by_width = m->bits == 8 ? 0 : m->bits == 16 ? 1 : 2;
    if (m->type_code) return m->type_code;
    switch (m->kind) {
    case TEXTURE_SNORM: return 0x10d0 + by_width;
    case TEXTURE_UNORM: return 0x10d2 + by_width;
    case TEXTURE_SINT: return 0x10d7 + by_width;
    case TEXTURE_UINT: return 0x10da + by_width;
    default: return m->bits == 16 ? 0x10dd : 0x10de;
    }
}

static u32 order_code(const struct texture_memory *m)
{
    return m->order_code      ? m->order_code
           : m->channels == 1 ? 0x10b0
           : m->channels == 2 ? 0x10b2
                              : 0x10b5;
}

static u32 answer(const struct texture *t, const struct texture_op *v, u32 level)
{
    static const u8 modes[] = {
        [TEXTURE_WRAP] = 0,
        [TEXTURE_MIRROR] = 1,
        [TEXTURE_CLAMP] = 3,
        [TEXTURE_BORDER] = 4}; /* wrap, mirror, clamp_ogl, to_edge, to_border */
    const struct texture_memory *m = &t->memory;
    const u32 last = texture_or_1(m->levels) - 1;
    const struct texture_level *k = &m->level[level < last ? level : last];
    switch (v->query) {
    case QUERY_WIDTH: return k->width;
    case QUERY_HEIGHT: return m->height ? k->height : 0;
    case QUERY_DEPTH: return m->depth ? k->depth : 0;
    case QUERY_TYPE: return type_code(m);
    case QUERY_ORDER: return order_code(m);
    case QUERY_NORMALISED: return t->sampler.normalised;
    case QUERY_ARRAY_SIZE: return !m->layered ? 0 : m->cube ? m->layers / 6 : m->layers;
    case QUERY_LEVELS: return m->levels;
    case QUERY_FILTER: return t->sampler.linear_filter;
    case QUERY_ADDRESS_0:
    case QUERY_ADDRESS_1:
    case QUERY_ADDRESS_2: return modes[t->sampler.address[v->query - QUERY_ADDRESS_0] & 3];
    case QUERY_LAYOUT: return m->linear;
    default: return 0; /* no texture has samples */
    }
}

const struct emu_uop *emu_op_txq(struct emu_group *g, const struct emu_uop *in)
{
    const struct texture_op *v = in->ext;
    struct texture_object o = {0};
    for (u32 w = 0; w < g->warps; w++)
        for (u32 left = g->exec[w]; left; left &= left - 1) {
            const u32 l = (u32)__builtin_ctz(left);
            const struct texture *t = texture_of_lane(g, in, w, l, in->x, &o);
            if (!t) return NULL;
            u32 level = in->y ? (u32)emu_get(g, 4, v->level, w, l) : 0;
            emu_put(g, 4, v->result[0], w, l, answer(t, v, level));
        }
    return in + 1;
}
