/* Instructions on surfaces: loads, stores, reductions. Lanes of a warp that access one surface within its bounds are
 * loaded and stored together; other lanes are handled one by one, which also applies the rule for coordinates out of
 * bounds. */
#include "emu/texture.h"

#include "emu/atomic.h"
#include "emu/measure/count.h"
#include "emu/ops/fp.h"
#include "emu/ops/textureops.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <string.h>

enum reach { REACH_FAULT, REACH_THERE, REACH_NOWHERE };

/* Where `size` bytes of a lane's coordinates lie, whose x counts units of `unit` bytes. */
static enum reach reach(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l,
                        const struct texture *t, u32 unit, u32 size, bool write, u8 **host,
                        u64 *address)
{
    const struct texture_op *v = in->ext;
    const struct texture_memory *m = &t->memory;
    const i64 row = (i64)m->level[0].width * texture_texel_bytes(m);
    i64 at[4] = {0}, most[4] = {0};
    if (row < size) { /* nothing of that size is there */
        emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, 0, size,
                  "%u bytes of a surface with rows of %lld", size, (long long)row);
        return REACH_FAULT;
    }
    for (u32 i = 0; i < v->dims; i++) at[i] = (i32)(u32)emu_get(g, 4, v->coord[i], w, l);
    at[0] *= unit;
    most[0] = row - size;
    most[1] = (i64)m->level[0].height - 1;
    most[2] = (i64)m->level[0].depth - 1;
    if (v->layered) {
        at[3] = (i64)emu_get(g, 4, v->layer, w, l);
        most[3] = (i64)texture_or_1(m->layers) - 1;
    }
    bool outside = false;
    for (u32 i = 0; i < 4; i++) {
        if (at[i] >= 0 && at[i] <= most[i]) continue;
        outside = true;
        if (v->outside == SURFACE_CLAMP)
            at[i] = at[i] < 0 ? 0 : i ? most[i] : most[0] / size * size;
    }
    if (outside && v->outside == SURFACE_ZERO) return REACH_NOWHERE;
    if (outside && v->outside == SURFACE_TRAP) {
        emu_raise(
            g, in, EMU_OUT_OF_BOUNDS, w, l, (u64)at[0], size,
            "%s of %u bytes at x = %lld, y = %lld, z = %lld, layer %lld of a surface of %u x %u x %u",
            write ? "write" : "read", size, (long long)at[0], (long long)at[1], (long long)at[2],
            (long long)at[3], m->level[0].width, m->level[0].height, m->level[0].depth);
        return REACH_FAULT;
    }
    if (at[0] % size) {
        emu_raise(g, in, EMU_MISALIGNED, w, l, (u64)at[0], size,
                  "%s of %u bytes of a surface at byte %lld of a row", write ? "write" : "read",
                  size, (long long)at[0]);
        return REACH_FAULT;
    }
    const u64 offset = texture_offset(m, 0, (u32)at[3], 0, (u32)at[1], (u32)at[2]) + (u64)at[0];
    if (offset > m->bytes || m->bytes - offset < size) { /* not with what surface_create took */
        emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, offset, size, "outside of the surface's memory");
        return REACH_FAULT;
    }
    *address = m->address + offset;
    *host = emu_lane_host(g, in, w, l, PTX_SPACE_GLOBAL, *address, size, write);
    return *host ? REACH_THERE : REACH_FAULT;
}

/* For each lane of warp w: its surface `t`, `address` and `p`, that on the host, and `there`. */
#define EACH_REACHED(unit, size, write)                                                            \
    const struct texture *t = NULL;                                                                \
    u64 address = 0;                                                                               \
    u8 *p = NULL;                                                                                  \
    enum reach there = REACH_FAULT;                                                                \
    for (u32 left = g->exec[w], l = 0; left && (l = (u32)__builtin_ctz(left), true);               \
         left &= left - 1)                                                                         \
        if ((t = texture_of_lane(g, in, w, l, true, object)) == NULL ||                            \
            !texture_fits(g, in, w, l, true, t) ||                                                 \
            (there = reach(g, in, w, l, t, unit, size, write, &p, &address)) == REACH_FAULT)       \
            return NULL;                                                                           \
        else

#define LOAD_LANES(T, BYTES, D)                                                                    \
    {                                                                                              \
        D *d = (D *)(void *)emu_row(g, BYTES, row) + w * LANES;                                    \
        for (u32 l = 0; l < LANES; l++) {                                                          \
            T x;                                                                                   \
            memcpy(&x, r->base + r->at[l] + from, sizeof x);                                       \
            d[l] = exec >> l & 1 ? x : d[l];                                                       \
        }                                                                                          \
    }
#define STORE_LANES(T, BYTES, D)                                                                   \
    {                                                                                              \
        const D *d = (const D *)(const void *)emu_row(g, BYTES, row) + w * LANES;                  \
        for (u32 left = exec; left; left &= left - 1) {                                            \
            const u32 l = (u32)__builtin_ctz(left);                                                \
            const T x = (T)d[l];                                                                   \
            memcpy(r->base + r->at[l] + to, &x, sizeof x);                                         \
        }                                                                                          \
    }

#define BY_WIDTH(MOVE)                                                                             \
    switch (width) {                                                                               \
    case 1: MOVE(u8, 2, u16) break;                                                                \
    case 2: MOVE(u16, 2, u16) break;                                                               \
    case 4: MOVE(u32, 4, u32) break;                                                               \
    default: MOVE(u64, 8, u64)                                                                     \
    }

/* An element of `width` bytes, up to 8, of each lane, which lies `from` bytes on, to a row of registers. */
static void load_lanes(struct emu_group *g, u32 w, u32 width, const struct surface_lanes *r,
                       u32 from, u32 row)
{
    const u32 exec = g->exec[w];
    BY_WIDTH(LOAD_LANES)
}

/* And back, in the order of lanes. */
static void store_lanes(struct emu_group *g, u32 w, u32 width, const struct surface_lanes *r,
                        u32 to, u32 row)
{
    const u32 exec = g->exec[w];
    BY_WIDTH(STORE_LANES)
}

/* Notifies orders and observers of one lane's access; false: the warp sleeps, and begins again. PTX's memory model leaves
 * surfaces out. CUDA's guide says that what a launch has written is undefined where it reads it by a texture or a
 * surface; writes are taken for weak ones, and reductions for what red is. */
static bool notify(struct emu_group *g, const struct emu_uop *in, u32 l, u8 kind, unsigned type,
                   u64 address, u32 size, u8 *data, enum emu_verdict *verdict)
{
    const struct texture_op *v = in->ext;
    *verdict = EMU_PROCEED;
    if (!g->worker->machine->steps.watched) return true;
    u64 at[LANES] = {0};
    u8 bytes[LANES * 64] = {0};
    at[l] = address;
    memcpy(bytes + 64 * l, data, size);
    struct emu_access a = {.kind = kind,
                           .space = PTX_SPACE_GLOBAL,
                           .flags = kind == EMU_LOAD  ? EMU_NONCOHERENT
                                    : kind == EMU_RED ? EMU_RELAXED
                                                      : 0,
                           .scope = EMU_SCOPE_GPU,
                           .op = v->op,
                           .type = (u8)type,
                           .width = (u8)size,
                           .count = 1,
                           .lanes = 1u << l,
                           .address = at,
                           .stride = 64,
                           .pc = in->pc};
    if (kind == EMU_LOAD) a.result = bytes;
    else a.data = bytes;
    if (!emu_notify_access(g, in, &a, verdict)) return false;
    memcpy(data, bytes + 64 * l, size);
    return true;
}

static void count_lanes(struct emu_group *g, const struct emu_uop *in)
{
    struct emu_site *s = g->worker->sites;
    if (!s) return;
    s[in->site].warps += g->warp_count;
    s[in->site].lanes += g->lane_count;
}

/* One by one. false: a fault, or the warp sleeps. */
static bool lane_elements(struct emu_group *g, const struct emu_uop *in, u32 w,
                          struct texture_object *object, bool write)
{
    const struct texture_op *v = in->ext;
    const u32 size = v->width * v->count;
    EACH_REACHED(1, size, write)
    {
        if (write && there == REACH_NOWHERE) continue;
        u8 data[32] = {0};
        enum emu_verdict verdict = EMU_PROCEED;
        for (u32 k = 0; write && k < v->count; k++)
            lane_take(g, v->result[k], v->width, w, l, data + k * v->width);
        if (!write && there == REACH_THERE) memcpy(data, p, size);
        if (there == REACH_THERE &&
            !notify(g, in, l, write ? EMU_STORE : EMU_LOAD, v->type, address, size, data, &verdict))
            return false;
        if (write && verdict != EMU_DONE) memcpy(p, data, size);
        for (u32 k = 0; !write && k < v->count; k++)
            lane_give(g, v->result[k], v->width, w, l, data + k * v->width);
    }
    return true;
}

/* suld and sust.b: elements as they are. */
static const struct emu_uop *elements(struct emu_group *g, const struct emu_uop *in, bool write)
{
    const struct texture_op *v = in->ext;
    struct texture_object o = {0};
    struct surface_lanes r;
    if (!emu_notify_single_warp(g, in)) return NULL;
    count_lanes(g, in);
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        const enum surface_whole whole = v->width > 8
                                             ? SURFACE_WHOLE_LANE_BY_LANE
                                             : g->worker->machine->counting->reach_surface(
                                                   g, in, w, 1, v->width * v->count, write, &o, &r);
        if (whole == SURFACE_WHOLE_FAULT) return NULL;
        if (whole == SURFACE_WHOLE_LANE_BY_LANE) {
            if (!lane_elements(g, in, w, &o, write)) return NULL;
            continue;
        }
        for (u32 k = 0; k < v->count; k++)
            if (write) store_lanes(g, w, v->width, &r, k * v->width, v->result[k]);
            else load_lanes(g, w, v->width, &r, k * v->width, v->result[k]);
    }
    return in + 1;
}

const struct emu_uop *emu_op_suld(struct emu_group *g, const struct emu_uop *in)
{
    return elements(g, in, false);
}

const struct emu_uop *emu_op_sust(struct emu_group *g, const struct emu_uop *in)
{
    return elements(g, in, true);
}

/* A 32-bit value in the format of a channel: integers and fractions are kept to what it can hold. */
static u32 to_channel(const struct texture_memory *m, u32 value)
{
    const u32 bits = m->bits, most = bits == 32 ? ~0u : (1u << bits) - 1;
    switch (m->kind) {
    case TEXTURE_FLOAT: return bits == 16 ? fp_f16_from_f32(fp_float32(value), FP_RN) : value;
    case TEXTURE_UINT: return value < most ? value : most;
    case TEXTURE_SINT: {
        i32 top = (i32)(most >> 1), v = (i32)value;
        return (u32)(v > top ? top : v < -top - 1 ? -top - 1 : v);
    }
    default: {
        const bool sign = m->kind == TEXTURE_SNORM;
        f32 x = fp_float32(value);
        f32 least = sign ? -1.0f : 0.0f;
        if (x != x) x = 0;
        x = x < least ? least : x > 1.0f ? 1.0f : x;
        return (u32)(i32)fp_rint64((f64)x * (sign ? most >> 1 : most), FP_RN);
    }
    }
}

/* A texel has all its channels written: those that the instruction has no value for as 0. */
static void to_texel(struct emu_group *g, const struct texture_op *v, u32 w, u32 l,
                     const struct texture_memory *m, u8 data[16])
{
    for (u32 c = 0; c < m->channels; c++) {
        u32 value = c < v->count ? to_channel(m, (u32)emu_get(g, 4, v->result[c], w, l)) : 0;
        for (u32 k = 0; k < m->bits / 8u; k++) data[c * m->bits / 8 + k] = (u8)(value >> 8 * k);
    }
}

static bool store_samples_by_lane(struct emu_group *g, const struct emu_uop *in, u32 w,
                                  struct texture_object *object)
{
    const struct texture_op *v = in->ext;
    EACH_REACHED(texture_texel_bytes(&t->memory), texture_texel_bytes(&t->memory), true)
    {
        if (there == REACH_NOWHERE) continue;
        const u32 size = texture_texel_bytes(&t->memory);
        u8 data[16];
        enum emu_verdict verdict;
        to_texel(g, v, w, l, &t->memory, data);
        if (!notify(g, in, l, EMU_STORE, v->type, address, size, data, &verdict)) return false;
        if (verdict != EMU_DONE) memcpy(p, data, size);
    }
    return true;
}

const struct emu_uop *emu_op_sust_samples(struct emu_group *g, const struct emu_uop *in)
{
    const struct texture_op *v = in->ext;
    struct texture_object o = {0};
    struct surface_lanes r;
    if (!emu_notify_single_warp(g, in)) return NULL;
    count_lanes(g, in);
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        const enum surface_whole whole = g->worker->machine->counting->reach_surface(g, in, w, 0, 0,
                                                                                     true, &o, &r);
        if (whole == SURFACE_WHOLE_FAULT) return NULL;
        if (whole == SURFACE_WHOLE_LANE_BY_LANE) {
            if (!store_samples_by_lane(g, in, w, &o)) return NULL;
            continue;
        }
        const struct texture_memory *m = &o.texture->memory;
        if (m->bits == 32 && m->kind <= TEXTURE_FLOAT && m->channels <= v->count) {
            for (u32 c = 0; c < m->channels; c++) store_lanes(g, w, 4, &r, c * 4, v->result[c]);
            continue;
        }
        for (u32 left = g->exec[w]; left; left &= left - 1) {
            const u32 l = (u32)__builtin_ctz(left);
            u8 data[16];
            to_texel(g, v, w, l, m, data);
            memcpy(r.base + r.at[l], data, texture_texel_bytes(m));
        }
    }
    return in + 1;
}

static bool reduce(struct emu_group *g, const struct emu_uop *in, u32 w,
                   struct texture_object *object)
{
    const struct texture_op *v = in->ext;
    const u32 unit = v->samples ? v->width : 1;
    EACH_REACHED(unit, v->width, true)
    {
        if (there == REACH_NOWHERE) continue;
        u8 b[8];
        unsigned type = v->type;
        if (v->samples) { /* the format says whether they are signed */
            const unsigned kind = t->memory.kind;
            if (kind != TEXTURE_UINT && kind != TEXTURE_SINT)
                return emu_raise(g, in, EMU_UNSUPPORTED, w, l, address, v->width,
                                 "sured.p on a surface that does not hold integers") != NULL;
            bool sign = kind == TEXTURE_SINT;
            type = v->width == 8 ? sign ? PTX_s64 : PTX_u64 : sign ? PTX_s32 : PTX_u32;
        }
        lane_take(g, v->result[0], v->width, w, l, b);
        enum emu_verdict verdict;
        if (!notify(g, in, l, EMU_RED, type, address, v->width, b, &verdict)) return false;
        if (verdict == EMU_PROCEED) atomic_reduce(g, in, true, address, p, v->op, type, b, NULL);
    }
    return true;
}

const struct emu_uop *emu_op_sured(struct emu_group *g, const struct emu_uop *in)
{
    struct texture_object o = {0};
    if (!emu_notify_single_warp(g, in)) return NULL;
    count_lanes(g, in);
    for (u32 w = 0; w < g->warps; w++)
        if (!reduce(g, in, w, &o)) return NULL;
    return in + 1;
}
