/* emu/ops/textureops.h: functions for instructions on textures and on surfaces; texture.c defines them. */
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
/* Whether a fetch returns f32 instead of integers. */
static inline bool texture_gives_float(const struct texture *t)
{
    return t->memory.kind >= TEXTURE_FLOAT || t->as_float;
}

enum {
    TEXTURE_FAR = 1 << 30
}; /* larger than all coordinates of texels: coordinates that do not repeat are clamped to it */

struct texture_object { /* the object that a lane named last; initialised with zeros */
    u64 handle;
    const struct texture *texture;
    const u8 *base;
};

/* The texture or surface that a lane names; NULL: a fault. */
const struct texture *texture_of_lane(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l,
                                      bool surface, struct texture_object *o);

/* Whether the instruction's geometry is that of the object; if not, raises a fault. A surface of a cube counts as
 * layered. */
bool texture_fits(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, bool surface,
                  const struct texture *t);

/* Executes and counts tex or tld4 for the active lanes of warp w, one by one. `observed`: observers are notified of the
 * texels. false: a fault was raised. */
bool texture_fetch_lanes(struct emu_group *g, const struct emu_uop *in, u32 w, bool observed,
                         struct texture_object *o);

/* The sampler that an instruction uses. */
struct texture_sampler texture_sampler_of(const struct texture_op *v, const struct texture *t);

/* The value of a texel outside of the texture: the border's colour, or zeros for linear memory. */
void texture_outside(const struct texture *t, u32 out[4]);

extern const u32 texture_srgb_to_linear[256]; /* of 8 bits, the bits of an f32 */

#endif
