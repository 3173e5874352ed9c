/* emu/ops/textureops.h: what the instructions on textures and on surfaces share. texture.c defines the functions. */
#ifndef HEDDLE_EMU_OPS_TEXTUREOPS_H
#define HEDDLE_EMU_OPS_TEXTUREOPS_H

#include "emu/texture.h"

static inline u32 texture_or_1(u32 n)
{
    return n ? n : 1;
}
static inline u32 texture_texel_bytes(const struct texture_memory *m)
{
    return m->channels * m->bits / 8u;
}
static inline u32 texture_dims(const struct texture_memory *m)
{
    return m->depth ? 3 : m->height ? 2 : 1;
}
/* A fetch gives f32, not integers. */
static inline bool texture_gives_float(const struct texture *t)
{
    return t->memory.kind >= TEXTURE_FLOAT || t->as_float;
}

enum {
    TEXTURE_FAR = 1 << 30
}; /* beyond all texels: coordinates that do not repeat are kept to it */

struct texture_object { /* the last one that lanes named; begins as zeros */
    u64 handle;
    const struct texture *texture;
    const u8 *base;
};

/* The texture or surface that a lane names; NULL: a fault. */
const struct texture *texture_of_lane(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l,
                                      bool surface, struct texture_object *o);

/* Whether the instruction's geometry is the object's; else a fault. A surface of a cube is one of layers. */
bool texture_fits(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, bool surface,
                  const struct texture *t);

/* tex and tld4 of the lanes of warp w that are on, one by one, with their counts. `observed`: observers are notified of the texels.
 * false: a fault. */
bool texture_fetch_lanes(struct emu_group *g, const struct emu_uop *in, u32 w, bool observed,
                         struct texture_object *o);

/* The sampler that an instruction fetches with. */
struct texture_sampler texture_sampler_of(const struct texture_op *v, const struct texture *t);

/* What lies outside of the texture: the border's colour, or zeros of linear memory. */
void texture_outside(const struct texture *t, u32 out[4]);

extern const u32 texture_srgb_to_linear[256]; /* of 8 bits, the bits of an f32 */

#endif
