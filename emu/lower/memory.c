/* ld, st, ldu: the choice of the handler, and its description. */
#include "emu/lower/lower.h"

#include "emu/measure/count.h"
#include "emu/ops/memops.h"
#include "emu/order.h"

/* The handler by kind, space and element. */
static unsigned handler(bool store, bool vector, unsigned space, unsigned width, bool sign)
{
#define BY_WIDTH(op, name)                                                                         \
    (width == 1   ? UOP_##op##_##name##_u8                                                         \
     : width == 2 ? UOP_##op##_##name##_u16                                                        \
     : width == 4 ? UOP_##op##_##name##_u32                                                        \
                  : UOP_##op##_##name##_u64)
#define BY_KIND(name)                                                                              \
    (store                ? vector ? BY_WIDTH(stv, name) : BY_WIDTH(st, name)                      \
                    : sign && width == 1 ? vector ? UOP_ldv_##name##_i8 : UOP_ld_##name##_i8       \
     : vector             ? BY_WIDTH(ldv, name)                                                    \
                          : BY_WIDTH(ld, name))
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST) return (unsigned)BY_KIND(global);
    if (space == PTX_SPACE_SHARED) return (unsigned)BY_KIND(shared);
    if (space == PTX_SPACE_LOCAL && store) return (unsigned)BY_WIDTH(stv, local);
    if (space == PTX_SPACE_LOCAL)
        return sign && width == 1 ? UOP_ldv_local_i8 : (unsigned)BY_WIDTH(ldv, local);
    return (unsigned)BY_KIND(any);
#undef BY_KIND
#undef BY_WIDTH
}

static u8 flags_of(const struct ptx_op *op)
{
    u8 f = 0;
    if (ptx_op_has(op, "volatile") || ptx_op_has(op, "mmio")) f |= EMU_VOLATILE | EMU_RELAXED;
    if (ptx_op_has(op, "relaxed")) f |= EMU_RELAXED;
    if (ptx_op_has(op, "acquire")) f |= EMU_ACQUIRE | EMU_RELAXED;
    if (ptx_op_has(op, "release")) f |= EMU_RELEASE | EMU_RELAXED;
    if (ptx_op_has(op, "nc") || op->space == PTX_SPACE_CONST) f |= EMU_NONCOHERENT;
    return f;
}

static u8 scope_of(const struct ptx_op *op)
{
    return ptx_op_has(op, "cta")       ? EMU_SCOPE_CTA
           : ptx_op_has(op, "cluster") ? EMU_SCOPE_CLUSTER
           : ptx_op_has(op, "gpu")     ? EMU_SCOPE_GPU
                                       : EMU_SCOPE_SYS;
}

/* Strong loads, and those that ask for it, go around L1. */
static u8 way_through_caches(const struct ptx_op *op, unsigned space, bool store)
{
    static const char *const around[] = {"cg", "cv", "volatile", "mmio", "relaxed", "acquire"};
    if (store) return COUNT_STORE;
    if (space == PTX_SPACE_CONST || space == PTX_SPACE_PARAM) return COUNT_CONSTANT;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if (ptx_op_has(op, around[i])) return COUNT_LOAD_L2;
    return COUNT_LOAD;
}

/* Whether an order or observer is notified of the access. */
static bool is_watched(const struct lower *L, const struct mem_desc *v, bool store)
{
    const unsigned watched = lower_watched(L);
    const bool shared = v->space == PTX_SPACE_SHARED || v->space == PTX_SPACE_SHARED_CLUSTER,
               any = v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_GENERIC;
    if (watched & LOWER_NEAR) return true;
    if (v->flags & EMU_RELAXED) return watched && (any || shared);
    if (shared || v->space == PTX_SPACE_GENERIC)
        if (watched & LOWER_SHARED) return true;
    return any && watched & (store ? LOWER_STORES : LOWER_LOADS);
}

static bool is_marked(const struct lower *L, const struct mem_desc *v)
{
    return lower_watched(L) & LOWER_TAGGED &&
           (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_SHARED ||
            v->space == PTX_SPACE_SHARED_CLUSTER || v->space == PTX_SPACE_GENERIC);
}

static bool lower_access(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    bool store = lower_data(L);
    const struct ptx_opnd *address = &i->opnds[store ? 0 : 1], *value = &i->opnds[store ? 1 : 0];
    unsigned type = op->type[0], width = ptx_types[type].bits / 8;
    u32 count = value->kind == PTX_OPND_VEC ? value->count : 1;
    bool wide = width == 16; /* a pair of 64 bits */
    struct lower_address a = lower_address(L, address, op->space);
    struct mem_desc *v = lower_alloc(L, sizeof *v);
    *v = (struct mem_desc){.space = a.space,
                           .width = (u8)(wide ? 8 : width),
                           .count = (u8)(wide ? 2 : count),
                           .align = (u8)(width * count),
                           .flags = flags_of(op),
                           .scope = scope_of(op),
                           .type = (u8)type,
                           .sign = lower_type_signed(type)};
    if (count > 8 || width * count > 64) return lower_refuse(L, "vectors of more than 64 bytes");
    v->row_bytes = (u8)(v->width <= 2 ? 2 : v->width);
    struct lower_dest d[8];
    u32 site = lower_site(L,
                          a.space == PTX_SPACE_PARAM ? SITE_OTHER
                          : store                    ? SITE_STORE
                                                     : SITE_LOAD,
                          a.space);
    if (wide) {
        if (store) v->rows[0] = lower_source(L, value, type);
        else {
            d[0] = lower_dest(L, value, type);
            v->rows[0] = d[0].row;
        }
        v->rows[1] = v->rows[0] + ROW * 8;
    } else
        for (u32 k = 0; k < count; k++) {
            const struct ptx_opnd *e = value->kind == PTX_OPND_VEC ? &value->elem[k] : value;
            if (store)
                v->rows[k] = e->kind == PTX_OPND_SINK ? lower_temp(L, v->row_bytes)
                                                      : lower_source(L, e, type);
            else {
                d[k] = lower_dest(L, e, type);
                v->rows[k] = d[k].row;
            }
        }
    bool vector = v->count > 1;
    i64 offset = a.offset;
    u32 row = a.row;
    u8 bytes = a.bytes;
    if (a.is_local_param) { /* relative to the function's frame */
        row = lower_temp(L, 8);
        struct emu_uop *u = lower_emit(L, UOP_local_address, row, 0, 0, 0);
        u->imm = a.offset;
        u->x = bytes = 8;
        offset = 0;
    }
    unsigned id = handler(store, vector, v->space, v->width, v->sign);
    v->plain = lower_handler(L, id);
    if (is_marked(L, v)) id = store ? UOP_st_tagged : UOP_ld_tagged;
    else if (is_watched(L, v, store)) id = store ? UOP_st_watched : UOP_ld_watched;
    struct emu_uop *u = lower_emit(L, id, v->rows[0], row, 0, 0);
    u->x = bytes;
    u->y = way_through_caches(op, a.space, store);
    u->imm = offset;
    u->ext = v;
    u->site = site;
    if (id == UOP_ld_watched) v->may_be_late = lower_may_be_late(L, &v->late_row, &v->late_steps);
    if (v->may_be_late) lower_is_late(L, u, v->late_row);
    v->pending = lower_pending_loads(L, &v->pending_count);
    if (!store)
        for (u32 k = 0; k < (wide ? 1 : count); k++) lower_finish(L, &d[k]);
    return true;
}

#define LD(id)                                                                                     \
    {                                                                                              \
        PTX_F_##id, lower_access, 0                                                                \
    }
#define ST(id)                                                                                     \
    {                                                                                              \
        PTX_F_##id, lower_access, 1                                                                \
    }
const struct lower_rule lower_memory_rules[] = {LD(ld),
                                                LD(ld_global),
                                                LD(ld_order),
                                                LD(ld_order_global),
                                                LD(ld_volatile),
                                                LD(ld_volatile_global),
                                                LD(ld_mmio),
                                                LD(ld_nc),
                                                LD(ldu),
                                                ST(st),
                                                ST(st_global),
                                                ST(st_order),
                                                ST(st_order_global),
                                                ST(st_volatile),
                                                ST(st_mmio),
                                                {0, NULL, 0}};
