/* tex for 32 lanes at once, if the lanes read one texture in its first level. Results, counts and faults are those of
 * texture.c, bit for bit: the formulas are the same, with one loop over the lanes for each step.
 *
 * Other fetches use texture_fetch_lanes() in texture.c: cubes, more than one level, gathers, several textures,
 * observers, texels more than 2 GB from the beginning of the texture's memory, and offsets larger than the texture at
 * its edge. */
#include "emu/ops/lane.h"

#include "emu/measure/count.h"
#include "emu/ops/fp.h"
#include "emu/ops/textureops.h"
#include "ptx/ptx.h"

#include <string.h>

enum {
    FAR = TEXTURE_FAR,
    MOST_OFFSET = 8,
    STEP = 16, /* texels of a direction that an index with an offset leaves by less than the size */
};

struct direction {
    u32 size, stride; /* texels; bytes from one to the next */
    u8 mode;          /* enum texture_address that applies */
};

struct fetch { /* of one texture by one instruction */
    const struct texture *texture;
    const u8 *base; /* of the texture's first level, on the host */
    struct texture_sampler sampler;
    struct direction direction[3];
    u32 dims, layers, layer_stride;
    u32 outside[4]; /* what lies outside of the texture */
    bool linear, borders;
};

/* Texels of the lanes along one direction: a corner's term of the offset, and whether it lies within (all bits or none). */
struct terms {
    u32 offset[LANES], within[LANES];
};

/* What the instruction fetches by this texture; false: texture.c has to do it. */
static bool plan(const struct texture_op *v, const struct texture *t, const u8 *base,
                 struct fetch *f)
{
    const struct texture_memory *m = &t->memory;
    const struct texture_level *k = &m->level[0];
    const u32 texel = texture_texel_bytes(m);
    const u64 most = (u64)1 << 31;
    f->texture = NULL;
    if (m->cube || v->mode == TEXTURE_GATHER ||
        (v->mode != TEXTURE_BASE && texture_or_1(m->levels) > 1))
        return false;
    f->dims = texture_dims(m), f->layers = texture_or_1(m->layers);
    if (k->at >= most || k->pitch >= most || k->slice >= most || k->layer >= most ||
        m->bytes > most)
        return false;
    u64 end = k->at + (f->layers - 1) * k->layer + (u64)k->width * texel;
    if (f->dims > 1) end += (k->height - 1) * k->pitch;
    if (f->dims > 2) end += (k->depth - 1) * k->slice;
    if (end > m->bytes) return false;
    const u32 size[3] = {k->width, k->height, k->depth},
              stride[3] = {texel, (u32)k->pitch, (u32)k->slice};
    f->sampler = texture_sampler_of(v, t);
    f->linear = f->sampler.linear_filter && !v->integers && texture_gives_float(t);
    f->borders = false;
    for (u32 i = 0; i < f->dims; i++) {
        u8 mode = f->sampler.address[i];
        if (m->linear && f->dims == 1) mode = TEXTURE_BORDER;
        if ((v->integers || !f->sampler.normalised) && mode != TEXTURE_BORDER) mode = TEXTURE_CLAMP;
        if (v->has_offset && mode != TEXTURE_CLAMP && mode != TEXTURE_BORDER && size[i] < STEP)
            return false;
        f->borders |= mode == TEXTURE_BORDER;
        f->direction[i] = (struct direction){.size = size[i], .stride = stride[i], .mode = mode};
    }
    f->layer_stride = (u32)k->layer;
    f->base = base + k->at;
    texture_outside(t, f->outside);
    f->texture = t;
    return true;
}

/* ---- coordinates ------------------------------------------------------------------------------- */

/* Coordinates in texels, as scaled() of texture.c has them. */
static inline void scale(const f32 *restrict c, const struct direction *d, bool normalised,
                         f64 *restrict x)
{
    const f64 n = d->size, by = normalised ? n : 1;
    if (d->mode == TEXTURE_WRAP || d->mode == TEXTURE_MIRROR) {
        const f64 period = d->mode == TEXTURE_WRAP ? 1 : 2, per = d->mode == TEXTURE_WRAP ? 1 : 0.5;
        LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            const f64 a = c[l], part = a * per;
            f64 low = part + 0x1.8p52 - 0x1.8p52; /* the nearest integer */
            low = low > part ? low - 1 : low;
            low = __builtin_fabs(part) < 0x1p51 ? low : part; /* so great ones are integers */
            const f64 within = (a - period * low) * n;
            x[l] = a - a == 0 ? within : 0; /* neither NaN nor infinite */
        }
    } else LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            f64 a = c[l];
            a = a == a ? a : 0;
            a *= by;
            a = a < -FAR ? -FAR : a;
            x[l] = a > FAR ? FAR : a;
        }
}

/* The number of the texel, and with a filter that of the lower one and the weight of the upper one. */
static inline void place(const f64 *restrict x, const struct direction *d, bool linear,
                         i32 *restrict first, i32 *restrict weight)
{
    if (linear) {
        LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            const f64 a = x[l] - 0.5;
            i32 low = (i32)a;
            low -= (f64)low > a;
            first[l] = low;
            weight[l] = (i32)((a - (f64)low) * 256 + 0.5);
        }
        return;
    }
    const i32 n = (i32)d->size, last = d->mode == TEXTURE_WRAP     ? n - 1
                                       : d->mode == TEXTURE_MIRROR ? 2 * n - 1
                                                                   : INT32_MAX;
    LANE_LOOP for (int l = 0; l < LANES; l++)
    {
        i32 low = (i32)x[l];
        low -= (f64)low > x[l];
        first[l] = low < last ? low : last;
    }
}

/* The texels that are `upper` beyond those numbers. */
static inline void terms_of(const i32 *restrict first, i32 upper, const struct direction *d,
                            struct terms *restrict to)
{
    const i32 n = (i32)d->size;
    const u32 stride = d->stride;
    switch (d->mode) {
    case TEXTURE_CLAMP:
        LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            i32 i = first[l] + upper;
            i = i < 0 ? 0 : i;
            i = i < n ? i : n - 1;
            to->offset[l] = (u32)i * stride;
        }
        break;
    case TEXTURE_WRAP:
        LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            i32 i = first[l] + upper;
            i += i < 0 ? n : 0;
            i -= i >= n ? n : 0;
            to->offset[l] = (u32)i * stride;
        }
        break;
    case TEXTURE_MIRROR:
        LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            i32 i = first[l] + upper;
            i += i < 0 ? 2 * n : 0;
            i -= i >= 2 * n ? 2 * n : 0;
            i = i < n ? i : 2 * n - 1 - i;
            to->offset[l] = (u32)i * stride;
        }
        break;
    default:
        LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            const i32 i = first[l] + upper;
            const bool in = i >= 0 && i < n;
            to->offset[l] = in ? (u32)i * stride : 0;
            to->within[l] = in ? ~0u : 0;
        }
        return;
    }
    memset(to->within, 0xff, sizeof to->within);
}

struct coordinates { /* of a warp */
    i32 first[3][LANES], weight[3][LANES];
    i32 offset[3][LANES];
    u32 layer[LANES]; /* bytes */
};

/* The offsets of the lanes that are on. false: one is not allowed. */
static bool read_offsets(const struct emu_group *g, const struct texture_op *v, u32 w, u32 dims,
                         struct coordinates *c)
{
    const u32 exec = g->exec[w];
    u32 beyond = 0;
    memset(c->offset, 0, sizeof c->offset);
    for (u32 i = 0; v->has_offset && i < dims; i++) {
        const i32 *p = (const i32 *)(const void *)(g->r32 + v->offset[i]) + w * LANES;
        for (int l = 0; l < LANES; l++) {
            c->offset[i][l] = exec >> l & 1 ? p[l] : 0;
            beyond |= (u32)(c->offset[i][l] + MOST_OFFSET) >> 4;
        }
    }
    return !beyond;
}

static void coordinates(const struct emu_group *g, const struct texture_op *v, u32 w,
                        const struct fetch *f, bool linear, struct coordinates *c)
{
    for (u32 i = 0; i < f->dims; i++) {
        const struct direction *d = &f->direction[i];
        const void *row = (g->r32 + v->coord[i]) + w * LANES * 4;
        if (v->integers) {
            const i32 *p = row;
            LANE_LOOP for (int l = 0; l < LANES; l++)
            {
                const i32 a = p[l] < -FAR ? -FAR : p[l];
                c->first[i][l] = a > FAR ? FAR : a;
            }
        } else {
            f64 x[LANES];
            scale(row, d, f->sampler.normalised, x);
            place(x, d, linear, c->first[i], c->weight[i]);
        }
        if (v->has_offset)
            LANE_LOOP for (int l = 0; l < LANES; l++) c->first[i][l] += c->offset[i][l];
    }
    if (!v->layered) {
        memset(c->layer, 0, sizeof c->layer);
        return;
    }
    const u32 *p = (const u32 *)(const void *)(g->r32 + v->layer) + w * LANES;
    LANE_LOOP for (int l = 0; l < LANES; l++)
    {
        const u32 layer = p[l] < f->layers ? p[l] : f->layers - 1;
        c->layer[l] = layer * f->layer_stride;
    }
}

/* ---- texels ------------------------------------------------------------------------------------ */

/* The channels of the texels at these offsets, as they are in memory: u32, of which the lower bits count. */
static inline void load_texels(const struct texture_memory *m, const u8 *base, const u32 *at,
                               u32 (*restrict raw)[LANES])
{
    u32 word[LANES];
    u64 pair[LANES];
    switch (m->channels * m->bits / 8) {
    case 1:
        for (int l = 0; l < LANES; l++) raw[0][l] = base[at[l]];
        return;
    case 2:
        for (int l = 0; l < LANES; l++) {
            u16 h;
            memcpy(&h, base + at[l], 2);
            raw[0][l] = h;
            raw[1][l] = h >> 8;
        }
        return;
    case 4:
        for (int l = 0; l < LANES; l++) memcpy(&word[l], base + at[l], 4);
        for (u32 k = 0; k < m->channels; k++)
            LANE_LOOP for (int l = 0; l < LANES; l++) raw[k][l] = word[l] >> k * m->bits;
        return;
    case 8:
        for (int l = 0; l < LANES; l++) memcpy(&pair[l], base + at[l], 8);
        for (u32 k = 0; k < m->channels; k++)
            LANE_LOOP for (int l = 0; l < LANES; l++) raw[k][l] = (u32)(pair[l] >> k * m->bits);
        return;
    default:
        for (int l = 0; l < LANES; l++) {
            u32 four[4];
            memcpy(four, base + at[l], 16);
            raw[0][l] = four[0], raw[1][l] = four[1], raw[2][l] = four[2], raw[3][l] = four[3];
        }
    }
}

/* One channel's values as results of a fetch: channel() of texture.c. */
static inline void convert(const struct texture *t, u32 c, u32 *restrict v)
{
    const u32 bits = t->memory.bits, unused = 32 - bits;
    const bool sign = t->memory.kind == TEXTURE_SINT || t->memory.kind == TEXTURE_SNORM;
    if (t->memory.kind == TEXTURE_FLOAT) {
        if (bits == 16)
            LANE_LOOP for (int l = 0; l < LANES; l++) v[l] = fp_bits32(fp_f32_from_f16((u16)v[l]));
        return;
    }
    if (bits == 32) return;
    if (sign)
        LANE_LOOP for (int l = 0; l < LANES; l++) v[l] = (u32)((i32)(v[l] << unused) >> unused);
    else LANE_LOOP for (int l = 0; l < LANES; l++) v[l] = v[l] << unused >> unused;
    if (!texture_gives_float(t)) return;
    if (t->srgb && bits == 8 && c < 3) {
        for (int l = 0; l < LANES; l++) v[l] = texture_srgb_to_linear[v[l] & 0xff];
        return;
    }
    const f32 most = (f32)((1u << (bits - sign)) - 1);
    if (sign) LANE_LOOP for (int l = 0; l < LANES; l++)
        {
            const f32 x = (f32)(i32)v[l] / most;
            v[l] = fp_bits32(x < -1.0f ? -1.0f : x);
        }
    else LANE_LOOP for (int l = 0; l < LANES; l++) v[l] = fp_bits32((f32)(i32)v[l] / most);
}

/* The texels of one corner, `channels` of them. */
static inline void corner(const struct fetch *f, const u32 *layer, const struct terms *const *of,
                          u32 (*restrict out)[LANES])
{
    const u32 channels = f->texture->memory.channels;
    u32 at[LANES], within[LANES];
    memcpy(at, layer, sizeof at);
    for (u32 i = 0; i < f->dims; i++)
        LANE_LOOP for (int l = 0; l < LANES; l++) at[l] += of[i]->offset[l];
    load_texels(&f->texture->memory, f->base, at, out);
    for (u32 k = 0; k < channels; k++) convert(f->texture, k, out[k]);
    if (!f->borders) return;
    memset(within, 0xff, sizeof within);
    for (u32 i = 0; i < f->dims; i++)
        LANE_LOOP for (int l = 0; l < LANES; l++) within[l] &= of[i]->within[l];
    for (u32 k = 0; k < channels; k++)
        LANE_LOOP for (int l = 0; l < LANES; l++)
            out[k][l] = (out[k][l] & within[l]) | (f->outside[k] & ~within[l]);
}

/* The nearest texels. */
static void nearest(const struct fetch *f, const struct coordinates *c, u32 (*restrict out)[LANES])
{
    struct terms terms[3];
    const struct terms *of[3] = {&terms[0], &terms[1], &terms[2]};
    for (u32 i = 0; i < f->dims; i++) terms_of(c->first[i], 0, &f->direction[i], &terms[i]);
    corner(f, c->layer, of, out);
}

/* Sums of weight * texel over the corners, those of weight 0 left out: add_filtered() of texture.c. */
static void filtered(const struct fetch *f, const struct coordinates *c, u32 (*restrict out)[LANES])
{
    const u32 channels = f->texture->memory.channels;
    struct terms terms[3][2];
    f64 sum[4][LANES] = {{0}}, share[LANES];
    for (u32 i = 0; i < f->dims; i++)
        for (int upper = 0; upper < 2; upper++)
            terms_of(c->first[i], upper, &f->direction[i], &terms[i][upper]);
    for (u32 k = 0; k < 1u << f->dims; k++) {
        const struct terms *of[3] = {&terms[0][k & 1], &terms[1][k >> 1 & 1], &terms[2][k >> 2]};
        i32 weight[LANES];
        u32 texel[4][LANES];
        for (int l = 0; l < LANES; l++) weight[l] = 1 << 8 * (3 - f->dims);
        for (u32 i = 0; i < f->dims; i++) {
            const i32 *p = c->weight[i], upper = k >> i & 1;
            LANE_LOOP for (int l = 0; l < LANES; l++) weight[l] *= upper ? p[l] : 256 - p[l];
        }
        corner(f, c->layer, of, texel);
        LANE_LOOP for (int l = 0; l < LANES; l++) share[l] = (f64)weight[l] * 0x1p-24;
        for (u32 n = 0; n < channels; n++) LANE_LOOP for (int l = 0; l < LANES; l++)
            {
                const f64 more = sum[n][l] + share[l] * (f64)fp_float32(texel[n][l]);
                sum[n][l] = share[l] != 0 ? more : sum[n][l];
            }
    }
    for (u32 n = 0; n < channels; n++)
        LANE_LOOP for (int l = 0; l < LANES; l++) out[n][l] = fp_bits32(fp_canon32((f32)sum[n][l]));
}

/* ---- the instruction --------------------------------------------------------------------------- */

static inline void give(struct emu_group *g, u32 row, u32 w, const u32 *v)
{
    u32 *p = (u32 *)(void *)(g->r32 + row) + w * LANES, exec = g->exec[w];
    if (exec == ~0u) memcpy(p, v, LANES * sizeof *p);
    else
        for (int l = 0; l < LANES; l++) p[l] = exec >> l & 1 ? v[l] : p[l];
}

static void write_texels(struct emu_group *g, const struct texture_op *v, u32 w,
                         const u32 (*out)[LANES])
{
    u16 half[4][LANES];
    if (v->type != PTX_f16 && v->type != PTX_f16x2) {
        for (u32 c = 0; c < 4; c++) give(g, v->result[c], w, out[c]);
        return;
    }
    for (u32 c = 0; c < 4; c++)
        for (u32 l = 0; l < LANES; l++) half[c][l] = fp_f16_from_f32(fp_float32(out[c][l]), FP_RN);
    if (v->type == PTX_f16x2)
        for (u32 c = 0; c < 2; c++) {
            u32 two[LANES];
            for (u32 l = 0; l < LANES; l++) two[l] = half[2 * c][l] | (u32)half[2 * c + 1][l] << 16;
            give(g, v->result[c], w, two);
        }
    else
        for (u32 c = 0; c < 4; c++)
            for (u32 left = g->exec[w]; left; left &= left - 1) {
                const u32 l = (u32)__builtin_ctz(left);
                emu_put(g, 2, v->result[c], w, l, half[c][l]);
            }
}

/* Counts one access of each lane: to the nearest texel, in the first slice. */
static void count(struct emu_group *g, const struct emu_uop *in, u32 w, const struct fetch *f,
                  const struct coordinates *c)
{
    const struct texture_memory *m = &f->texture->memory;
    struct terms terms;
    u64 at[LANES];
    const u64 from = m->address + m->level[0].at;
    LANE_LOOP for (int l = 0; l < LANES; l++) at[l] = from + c->layer[l];
    for (u32 i = 0; i < f->dims && i < 2; i++) {
        terms_of(c->first[i], 0, &f->direction[i], &terms);
        LANE_LOOP for (int l = 0; l < LANES; l++) at[l] += terms.offset[l];
    }
    emu_count_lanes(g, in, w, at, g->exec[w], texture_texel_bytes(m), PTX_SPACE_GLOBAL, COUNT_LOAD);
}

/* Whether the lanes of a warp that are on name one texture. */
static inline bool one_handle(const struct emu_group *g, const struct texture_op *v, u32 w)
{
    const u64 *h = (const u64 *)(const void *)(g->r64 + v->handle) + w * LANES;
    const u32 exec = g->exec[w];
    const u64 first = h[__builtin_ctz(exec)];
    u64 differs = 0;
    for (int l = 0; l < LANES; l++) differs |= exec >> l & 1 ? h[l] ^ first : 0;
    return !differs;
}

/* One warp. false: texture.c has to do it. */
static bool fetch_warp(struct emu_group *g, const struct emu_uop *in, u32 w, const struct fetch *f)
{
    const struct texture_op *v = in->ext;
    struct coordinates c;
    _Alignas(64) u32 out[4][LANES];
    if (!read_offsets(g, v, w, f->dims, &c)) return false;
    coordinates(g, v, w, f, f->linear, &c);
    if (f->linear) filtered(f, &c, out);
    else nearest(f, &c, out);
    for (u32 n = f->texture->memory.channels; n < 4; n++) memset(out[n], 0, sizeof out[n]);
    if (g->worker->sites) {
        if (f->linear) coordinates(g, v, w, f, false, &c);
        count(g, in, w, f, &c); /* before the results, which may go where coordinates are */
    }
    write_texels(g, v, w, (const u32(*)[LANES])out);
    if (v->wants_resident)
        for (u32 left = g->exec[w]; left; left &= left - 1)
            emu_put(g, 4, v->resident, w, (u32)__builtin_ctz(left), ~(u64)0);
    return true;
}

/* tex, and tld4. */
OP(fetch_texels)
{
    const struct texture_op *v = in->ext;
    const struct emu_machine *m = g->worker->machine;
    const bool observed = m->steps.watched && m->launch->observer_count;
    struct texture_object o = {0};
    struct fetch f = {.texture = NULL};
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        if (!observed && one_handle(g, v, w)) {
            const struct texture *before = o.texture;
            const u32 lane = (u32)__builtin_ctz(g->exec[w]);
            const struct texture *t = texture_of_lane(g, in, w, lane, false, &o);
            if (!t || (t != before && !texture_fits(g, in, w, lane, false, t))) return NULL;
            const bool half = v->type == PTX_f16 || v->type == PTX_f16x2;
            if ((!half || texture_gives_float(t)) && (f.texture == t || plan(v, t, o.base, &f)) &&
                fetch_warp(g, in, w, &f))
                continue;
        }
        if (!texture_fetch_lanes(g, in, w, observed, &o)) return NULL;
    }
    return in + 1;
}
