/* emu/texture.h: textures and surfaces.
 *
 *     struct texture t = {.memory = {.width = 64, .height = 64, .channels = 1, .bits = 32,
 *                                    .kind = TEXTURE_FLOAT}, .linear_filter = true};
 *     texture_layout(&t.memory);                                         // pitches, levels, bytes
 *     t.memory.address = mem_alloc(mem, t.memory.bytes, 0, "array", false, false);
 *     uint64_t handle = texture_create(mem, &t, &why);                   // what a kernel gets; 0: puts(why)
 *
 * A handle is the device address of a constant block that contains the struct texture. So the device needs no table,
 * and a number that a kernel makes up is not accepted as a handle: each use looks the block up and checks it. A .texref
 * or .surfref variable of a module holds, in its first 8 bytes, the handle of the texture or surface that is bound to
 * it (0: none).
 *
 * Formulas are those of the CUDA programming guide's chapter on texture fetching. Decisions that the guide leaves open:
 *   - A coordinate's fraction is rounded to the nearest multiple of 1/256, halves up, so 1.0 occurs.
 *   - Filtering sums weight * texel over the corners in double precision, x fastest, without those of
 *     weight 0, and rounds once to f32. The level of a mipmap is rounded like a fraction.
 *   - Wrap and mirror are done on the number of the texel: of 2N texels the second N are the first
 *     N in reverse. They need normalised coordinates, else they are clamp (the guide says so).
 *   - A coordinate that is NaN is 0.
 *   - Channels that the format does not have read as 0 (docs/hardware.md).
 *   - The level of tex.grad is log2 of the longer gradient, measured in texels.
 *   - On a cube's edges the face of z has priority over that of y, and that of y over that of x; filtering stays on a
 *     face.
 *   - Coordinates outside of linear memory read as zeros, outside of arrays as the border's colour. */
#ifndef HEDDLE_EMU_TEXTURE_H
#define HEDDLE_EMU_TEXTURE_H

#include "emu/ops/exec.h"

struct mem;

enum texture_kind { TEXTURE_UINT, TEXTURE_SINT, TEXTURE_FLOAT, TEXTURE_UNORM, TEXTURE_SNORM };
enum texture_address {
    TEXTURE_WRAP,
    TEXTURE_CLAMP,
    TEXTURE_MIRROR,
    TEXTURE_BORDER
}; /* as CUDA's */
enum { TEXTURE_LEVELS = 16, TEXTURE_MAX_SIZE = 1 << 28 /* texels in a direction */ };

struct texture_level {
    u64 at;                   /* offset from the beginning of the memory, bytes */
    u64 pitch, slice, layer;  /* bytes from one row, slice of a volume, or layer to the next */
    u32 width, height, depth; /* texels, at least 1 */
    u32 zero;
};

/* Texels in device memory. texture_layout computes the members that name it; the caller sets all others. */
struct texture_memory {
    u64 address;
    u64 bytes;                /* texture_layout */
    u32 width, height, depth; /* texels; height 0: 1d; depth 0: 2d */
    /* layers of a layered array; a cube has 6, an array of cubes 6 for each */
    u32 layers;
    u32 levels;              /* mipmap levels; 0 means 1 */
    u64 pitch;               /* bytes from row to row; 0: texture_layout chooses the pitch */
    u8 channels, bits, kind; /* 1, 2 or 4; 8, 16 or 32; enum texture_kind */
    bool layered, cube;
    bool linear; /* plain memory, not an array: one dimension has no address modes */
    u8 zero[2];
    u32 type_code, order_code; /* results of txq.channel_data_type and txq.channel_order */
    struct texture_level level[TEXTURE_LEVELS]; /* texture_layout */
};

/* Computes level[] and bytes. NULL: success; else an error message. */
const char *texture_layout(struct texture_memory *m);

/* The offset of a texel from m->address, bytes. */
u64 texture_offset(const struct texture_memory *m, u32 level, u32 layer, u32 x, u32 y, u32 z);

struct texture_sampler {
    u8 address[3];      /* enum texture_address, by direction */
    bool linear_filter; /* false: the nearest texel */
    bool linear_levels; /* false: the nearest level */
    bool normalised;    /* coordinates go from 0 to 1 */
    u8 zero[2];
};

struct texture {
    u64 magic; /* texture_create */
    struct texture_memory memory;
    struct texture_sampler sampler;
    bool as_float; /* integers of 8 and 16 bits read as 0 .. 1, -1 .. 1 */
    /* with as_float and 8 unsigned bits: sRGB conversion of the first three channels */
    bool srgb;
    u8 zero[6];
    f32 border[4];
    f32 level_bias, level_min, level_max; /* used by tex.level and tex.grad with mipmaps */
    u32 zero2;
};

/* Returns the handle. 0: failed; `*why` is the reason. The memory must be allocated while kernels use the handle. */
uint64_t texture_create(struct mem *m, const struct texture *t, const char **why);
uint64_t surface_create(struct mem *m, const struct texture_memory *s, const char **why);
/* for both kinds; false: not a valid handle */
bool texture_destroy(struct mem *m, uint64_t handle);
/* NULL: not a valid handle. Of a surface only `memory` is set. Valid until the handle is destroyed. */
const struct texture *texture_find(const struct mem *m, uint64_t handle);
const struct texture *surface_find(const struct mem *m, uint64_t handle);
/* Binds the handle to the .texref or .surfref variable of a module at address `variable`. */
bool texture_bind(struct mem *m, uint64_t variable, uint64_t handle);

/* ---- instructions ------------------------------------------------------------------------------ */

enum texture_mode { TEXTURE_BASE, TEXTURE_AT_LEVEL, TEXTURE_GRADIENT, TEXTURE_GATHER };

struct texture_op { /* uop->ext; all rows are r32, except those that say otherwise */
    u32 handle;     /* row of r64 */
    bool in_params; /* the row has the offset of the handle in the kernel's parameters */
    u8 dims;        /* 1, 2, 3 */
    bool layered, cube;
    /* textures */
    bool integers;           /* coordinates and level are s32; no filtering */
    u8 mode;                 /* enum texture_mode */
    u8 component;            /* TEXTURE_GATHER */
    u8 type;                 /* enum ptx_type of the results: u32 s32 f32 f16 f16x2 */
    bool own_sampler;        /* use `sampler` instead of the texture's sampler */
    bool force_unnormalised; /* coordinates are not normalised, whatever the sampler says */
    struct texture_sampler sampler;
    bool has_offset, wants_resident;
    u32 layer, coord[3], offset[3], level, gradient[2][3];
    u32 result[4]; /* f16: rows of r16. Stores and reductions: their operands */
    u32 resident;  /* a predicate row */
    /* surfaces */
    u8 outside;      /* enum surface_outside */
    bool samples;    /* .p: x counts texels */
    u8 width, count; /* elements: bytes, number */
    u8 op;           /* sured: enum emu_atomic */
    /* txq, suq */
    u8 query; /* enum texture_query */
};

enum surface_outside { SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO };

enum texture_query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_TYPE,
    QUERY_ORDER,
    QUERY_NORMALISED,
    QUERY_ARRAY_SIZE,
    QUERY_LEVELS,
    QUERY_SAMPLES,
    QUERY_FILTER,
    QUERY_ADDRESS_0,
    QUERY_ADDRESS_1,
    QUERY_ADDRESS_2,
    QUERY_FORCE_UNNORMALISED,
    QUERY_LAYOUT
};

/* A fetch, for the handler and for tests: texture_fetch() writes the bits of four results, of the texture's own type,
 * to out[4]. `base`: host address of the texture's memory. */
struct texture_reads { /* offsets of the texels of a fetch in the texture's memory */
    u32 count;
    u64 at[16];
};
struct texture_point {
    struct texture_reads *reads; /* the fetch appends to this list; NULL: no list */
    bool integers;
    i32 at[3]; /* integers */
    f32 coord[3];
    i32 offset[3];
    u32 layer;
    u8 mode;
    f32 level;
    f32 gradient[2][3];
    u8 component;
};
void texture_fetch(const struct texture *t, const struct texture_sampler *s, const u8 *base,
                   const struct texture_point *p, u32 out[4]);

#endif
