/* Instructions on textures and surfaces. */
#include "emu/lower/lower.h"

#include "emu/atomic.h"
#include "emu/device/image.h"
#include "emu/lower/context.h"
#include "emu/texture.h"
#include "ptx/ptx.h"

#include <string.h>

static u32 element(struct lower *L, const struct ptx_opnd *o, u32 k, unsigned type)
{
    if (o->kind != PTX_OPND_VEC) return k ? lower_constant(L, 0, 4) : lower_source(L, o, type);
    return k < o->count ? lower_source(L, &o->elem[k], type) : lower_constant(L, 0, 4);
}

/* The texture or surface: a register that holds a handle or a reference's address, or a name. */
static void lower_handle(struct lower *L, const struct ptx_opnd *o, struct texture_op *v)
{
    v->in_params = o->kind == PTX_OPND_SYM && o->sym->space == PTX_SPACE_PARAM;
    v->handle = lower_source(L, o, PTX_u64);
}

/* ---- samplers, which are constants of the module ----------------------------------------------- */

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* `name = value, ...` */
static bool sampler_field(struct texture_op *v, const char *name, size_t n, const char *value,
                          size_t m)
{
    static const struct {
        const char *word;
        u8 mode;
    } modes[] = {{"wrap", TEXTURE_WRAP},
                 {"mirror", TEXTURE_MIRROR},
                 {"clamp_ogl", TEXTURE_CLAMP},
                 {"clamp_to_edge", TEXTURE_CLAMP},
                 {"clamp_to_border", TEXTURE_BORDER}};
    if (is(name, n, "filter_mode")) {
        v->sampler.linear_filter = is(value, m, "linear");
        return v->sampler.linear_filter || is(value, m, "nearest");
    }
    if (is(name, n, "force_unnormalized_coords")) {
        v->force_unnormalised = is(value, m, "1");
        return v->force_unnormalised || is(value, m, "0");
    }
    if (n == 11 && memcmp(name, "addr_mode_", 10) == 0 && name[10] >= '0' && name[10] <= '2')
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            if (is(value, m, modes[i].word)) {
                v->sampler.address[name[10] - '0'] = modes[i].mode;
                return true;
            }
    return false;
}

static bool lower_sampler(struct lower *L, const struct ptx_opnd *o, struct texture_op *v)
{
    const struct image_var *var = o->kind == PTX_OPND_SYM && o->sym->type == PTX_samplerref &&
                                          o->sym->space != PTX_SPACE_PARAM
                                      ? image_var(L->image, L->code->module, o->sym)
                                      : NULL;
    if (!var) return lower_refuse(L, "a sampler that is not a variable of the module");
    size_t left;
    const char *p = image_var_fields(var, 0, &left);
    memset(v->sampler.address, TEXTURE_CLAMP, sizeof v->sampler.address);
    v->own_sampler = true;
    while (p && left) {
        const char *word[2] = {NULL, NULL};
        size_t length[2] = {0, 0};
        for (int i = 0; i < 2; i++) { /* a name, then a value */
            while (left && !(*p == '_' || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z')))
                p++, left--;
            word[i] = p;
            while (left && (*p == '_' || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z')))
                p++, left--;
            length[i] = (size_t)(p - word[i]);
        }
        if (!length[0]) break;
        if (!sampler_field(v, word[0], length[0], word[1], length[1]))
            return lower_refuse(L, "the sampler's field '%.*s'",
                                (int)(length[0] < 40 ? length[0] : 40), word[0]);
    }
    return true;
}

/* ---- tex, tld4 --------------------------------------------------------------------------------- */

static struct texture_op *geometry(struct lower *L, const struct ptx_op *op)
{
    static const struct {
        const char *word;
        u8 dims;
        bool layered, cube;
    } words[] = {{"1d", 1, false, false}, {"2d", 2, false, false}, {"3d", 3, false, false},
                 {"a1d", 1, true, false}, {"a2d", 2, true, false}, {"cube", 2, false, true},
                 {"acube", 2, true, true}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!ptx_op_has(op, words[i].word)) continue;
        struct texture_op *v = lower_alloc(L, sizeof *v);
        *v = (struct texture_op){
            .dims = words[i].dims, .layered = words[i].layered, .cube = words[i].cube};
        return v;
    }
    return NULL;
}

/* {layer, x, y, z}, as far as they are there; what follows is ignored. */
static void lower_coordinates(struct lower *L, const struct ptx_opnd *o, struct texture_op *v,
                              unsigned type)
{
    if (v->layered) v->layer = element(L, o, 0, PTX_u32);
    for (u32 k = 0; k < (v->cube ? 3u : v->dims); k++)
        v->coord[k] = element(L, o, k + v->layered, type);
}

/* Behind the coordinates stand offsets, a vector or an s32 for one dimension, and what depths are
 * compared with, an f32; each may be left out. */
static bool is_offset(const struct ptx_opnd *o, const struct texture_op *v)
{
    if (v->cube) return false;
    if (o->kind == PTX_OPND_VEC) return true;
    if (v->dims > 1) return false;
    return o->kind == PTX_OPND_REG ? ptx_types[o->sym->type].kind != PTX_FLOAT
                                   : o->kind == PTX_OPND_INT || o->kind == PTX_OPND_SREG;
}

static bool lower_tex(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    struct texture_op *v = geometry(L, op);
    if (!v) return lower_refuse(L, "a texture of that shape");
    v->mode = (u8)lower_data(L);
    v->type = op->type[0];
    const unsigned type = op->type[1];
    v->integers = type == PTX_s32;
    const struct ptx_opnd *to = &i->opnds[0], *from = &i->opnds[1];
    u32 next = 2;
    const struct ptx_opnd *result = to->kind == PTX_OPND_PAIR ? &to->elem[0] : to;
    lower_handle(L, &from->elem[0], v);
    if (from->count > 2 && !lower_sampler(L, &from->elem[1], v)) return false;
    lower_coordinates(L, &from->elem[from->count - 1], v, type);
    if (v->mode == TEXTURE_AT_LEVEL) v->level = lower_source(L, &i->opnds[next++], type);
    if (v->mode == TEXTURE_GRADIENT)
        for (u32 d = 0; d < 2; d++, next++)
            for (u32 k = 0; k < (v->cube ? 3u : v->dims); k++)
                v->gradient[d][k] = element(L, &i->opnds[next], k, PTX_f32);
    for (u8 c = 0; v->mode == TEXTURE_GATHER && c < 4; c++) {
        static const char *const names[] = {"r", "g", "b", "a"};
        if (ptx_op_has(op, names[c])) v->component = c;
    }
    for (; next < i->count; next++) {
        const struct ptx_opnd *o = &i->opnds[next];
        if (!is_offset(o, v))
            return lower_refuse(L, "textures of depths, to be compared with, are not modelled");
        v->has_offset = true;
        for (u32 k = 0; k < v->dims; k++) v->offset[k] = element(L, o, k, PTX_s32);
    }
    const bool pair = v->type == PTX_f16x2;
    struct lower_dest d[4];
    for (u32 k = 0; k < (pair ? 2 : 4); k++) {
        const struct ptx_opnd *e = result->kind == PTX_OPND_VEC ? &result->elem[k] : result;
        d[k] = lower_dest(L, e, v->type);
        v->result[k] = d[k].row;
    }
    v->wants_resident = to->kind == PTX_OPND_PAIR && to->elem[1].kind == PTX_OPND_REG;
    struct lower_dest resident = {0};
    if (v->wants_resident) {
        resident = lower_dest(L, &to->elem[1], PTX_pred);
        v->resident = resident.row;
    }
    u32 site = lower_site(L, SITE_LOAD, PTX_SPACE_TEX);
    struct emu_uop *u = lower_emit(L, UOP_tex, 0, 0, 0, 0);
    u->ext = v;
    u->site = site;
    for (u32 k = 0; k < (pair ? 2 : 4); k++) lower_finish(L, &d[k]);
    if (v->wants_resident) lower_finish(L, &resident);
    return true;
}

/* ---- txq, suq ---------------------------------------------------------------------------------- */

enum { TEXTURE, LEVEL, SAMPLER, SURFACE };

static bool lower_query(struct lower *L, const struct ptx_inst *i)
{
    static const struct {
        const char *word;
        u8 query;
    } words[] = {
        {"width", QUERY_WIDTH},           {"height", QUERY_HEIGHT},
        {"depth", QUERY_DEPTH},           {"channel_data_type", QUERY_TYPE},
        {"channel_order", QUERY_ORDER},   {"normalized_coords", QUERY_NORMALISED},
        {"array_size", QUERY_ARRAY_SIZE}, {"num_mipmap_levels", QUERY_LEVELS},
        {"num_samples", QUERY_SAMPLES},   {"filter_mode", QUERY_FILTER},
        {"addr_mode_0", QUERY_ADDRESS_0}, {"addr_mode_1", QUERY_ADDRESS_1},
        {"addr_mode_2", QUERY_ADDRESS_2}, {"force_unnormalized_coords", QUERY_FORCE_UNNORMALISED},
        {"memory_layout", QUERY_LAYOUT}};
    const u32 kind = lower_data(L);
    struct texture_op *v = lower_alloc(L, sizeof *v);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (ptx_op_has(i->op, words[k].word)) v->query = words[k].query;
    const struct ptx_opnd *o = &i->opnds[1].elem[0];
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_b32);
    v->result[0] = d.row;
    if (kind == SAMPLER && o->kind == PTX_OPND_SYM && o->sym->type == PTX_samplerref) {
        static const u8 modes[] = {
            [TEXTURE_WRAP] = 0, [TEXTURE_MIRROR] = 1, [TEXTURE_CLAMP] = 3, [TEXTURE_BORDER] = 4};
        if (!lower_sampler(L, o, v)) return false;
        struct emu_uop *u = lower_emit(L, UOP_fill, d.row, 0, 0, 0);
        u->x = 4;
        u->bits = v->query == QUERY_FILTER ? v->sampler.linear_filter
                  : v->query == QUERY_FORCE_UNNORMALISED
                      ? v->force_unnormalised
                      : modes[v->sampler.address[v->query - QUERY_ADDRESS_0]];
        lower_finish(L, &d);
        return true;
    }
    lower_handle(L, o, v);
    if (kind == LEVEL) v->level = lower_source(L, &i->opnds[2], PTX_u32);
    struct emu_uop *u = lower_emit(L, UOP_txq, 0, 0, 0, 0);
    u->ext = v;
    u->x = kind == SURFACE;
    u->y = kind == LEVEL;
    lower_finish(L, &d);
    return true;
}

/* ---- surfaces ---------------------------------------------------------------------------------- */

enum { LOAD, STORE, STORE_SAMPLES, REDUCE, REDUCE_SAMPLES };

static bool lower_surface(struct lower *L, const struct ptx_inst *i)
{
    static const u16 handlers[] = {[LOAD] = UOP_suld,
                                   [STORE] = UOP_sust,
                                   [STORE_SAMPLES] = UOP_sust_samples,
                                   [REDUCE] = UOP_sured,
                                   [REDUCE_SAMPLES] = UOP_sured};
    const struct ptx_op *op = i->op;
    const u32 what = lower_data(L);
    struct texture_op *v = geometry(L, op);
    if (!v) return lower_refuse(L, "a surface of that shape");
    const struct ptx_opnd *value = &i->opnds[what == LOAD ? 0 : 1],
                          *at = &i->opnds[what == LOAD ? 1 : 0];
    v->outside = ptx_op_has(op, "clamp")  ? SURFACE_CLAMP
                 : ptx_op_has(op, "zero") ? SURFACE_ZERO
                                          : SURFACE_TRAP;
    v->samples = what == STORE_SAMPLES || what == REDUCE_SAMPLES;
    v->type = op->type[0];
    v->width = (u8)(ptx_types[v->type].bits / 8);
    v->count = (u8)(value->kind == PTX_OPND_VEC ? value->count : 1);
    if (v->count > 4) return lower_refuse(L, "more than 4 elements");
    if (what >= REDUCE) v->op = (u8)lower_atomic_op(op);
    lower_handle(L, &at->elem[0], v);
    lower_coordinates(L, &at->elem[at->count - 1], v, PTX_s32);
    struct lower_dest d[4];
    for (u32 k = 0; k < v->count; k++) {
        const struct ptx_opnd *e = value->kind == PTX_OPND_VEC ? &value->elem[k] : value;
        if (what == LOAD) {
            d[k] = lower_dest(L, e, v->type);
            v->result[k] = d[k].row;
        } else v->result[k] = lower_source(L, e, v->type);
    }
    u32 site = lower_site(L,
                          what == LOAD     ? SITE_LOAD
                          : what >= REDUCE ? SITE_ATOMIC
                                           : SITE_STORE,
                          PTX_SPACE_TEX);
    struct emu_uop *u = lower_emit(L, handlers[what], 0, 0, 0, 0);
    u->ext = v;
    u->site = site;
    for (u32 k = 0; what == LOAD && k < v->count; k++) lower_finish(L, &d[k]);
    return true;
}

#define TEX(id, mode)                                                                              \
    {PTX_F_##id##_f, lower_tex, mode}, {PTX_F_##id##_f3, lower_tex, mode},                         \
        {PTX_F_##id##_cube, lower_tex, mode}, {PTX_F_##id##_pair_f, lower_tex, mode},              \
        {PTX_F_##id##_pair_f3, lower_tex, mode},                                                   \
    {                                                                                              \
        PTX_F_##id##_pair_cube, lower_tex, mode                                                    \
    }
#define TEX_S(id, mode)                                                                            \
    {PTX_F_##id##_s, lower_tex, mode},                                                             \
    {                                                                                              \
        PTX_F_##id##_pair_s, lower_tex, mode                                                       \
    }
const struct lower_rule lower_texture_rules[] = {TEX(tex, TEXTURE_BASE),
                                                 TEX_S(tex, TEXTURE_BASE),
                                                 TEX(tex_base, TEXTURE_BASE),
                                                 TEX_S(tex_base, TEXTURE_BASE),
                                                 TEX(tex_level, TEXTURE_AT_LEVEL),
                                                 TEX_S(tex_level, TEXTURE_AT_LEVEL),
                                                 TEX(tex_grad, TEXTURE_GRADIENT),
                                                 {PTX_F_tld4, lower_tex, TEXTURE_GATHER},
                                                 {PTX_F_tld4_cube, lower_tex, TEXTURE_GATHER},
                                                 {PTX_F_txq, lower_query, TEXTURE},
                                                 {PTX_F_txq_level, lower_query, LEVEL},
                                                 {PTX_F_txq_sampler, lower_query, SAMPLER},
                                                 {PTX_F_suq, lower_query, SURFACE},
                                                 {PTX_F_suld, lower_surface, LOAD},
                                                 {PTX_F_sust, lower_surface, STORE},
                                                 {PTX_F_sust_p, lower_surface, STORE_SAMPLES},
                                                 {PTX_F_sured_add, lower_surface, REDUCE},
                                                 {PTX_F_sured_min, lower_surface, REDUCE},
                                                 {PTX_F_sured_min64, lower_surface, REDUCE},
                                                 {PTX_F_sured_bits, lower_surface, REDUCE},
                                                 {PTX_F_sured_p, lower_surface, REDUCE_SAMPLES},
                                                 {PTX_F_sured_p64, lower_surface, REDUCE_SAMPLES},
                                                 {0, NULL, 0}};
