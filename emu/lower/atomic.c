/* atom, red and fences: the choice of the handler, and its description. */
#include "emu/lower/lower.h"

#include "emu/atomic.h"
#include "emu/order.h"
#include "ptx/ptx.h"

unsigned lower_atomic_op(const struct ptx_op *op)
{
    static const struct {
        const char *word;
        u8 op;
    } words[] = {{"add", ATOMIC_ADD}, {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX},
                 {"inc", ATOMIC_INC}, {"dec", ATOMIC_DEC}, {"and", ATOMIC_AND},
                 {"or", ATOMIC_OR},   {"xor", ATOMIC_XOR}, {"exch", ATOMIC_EXCH},
                 {"cas", ATOMIC_CAS}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_op_has(op, words[i].word)) return words[i].op;
    return ATOMIC_COUNT;
}

/* The handler of its own that an operation on one element of 32 or 64 bits has: that for shared
 * memory; the one behind it is for the rest. 0: none. */
static unsigned fast(unsigned op, unsigned type)
{
    const bool wide = ptx_types[type].bits == 64, sign = lower_type_signed(type);
    if (type == PTX_f32) return op == ATOMIC_ADD ? UOP_atom_shared_add_f32 : 0;
    if (type == PTX_f64) return op == ATOMIC_ADD ? UOP_atom_shared_add_f64 : 0;
    if (ptx_types[type].kind == PTX_FLOAT || ptx_types[type].kind == PTX_PACK) return 0;
    if (ptx_types[type].bits != 32 && ptx_types[type].bits != 64) return 0;
#define BY_WIDTH(name, narrow, broad)                                                              \
    (wide ? UOP_atom_shared_##name##_##broad : UOP_atom_shared_##name##_##narrow)
    switch (op) {
    case ATOMIC_ADD: return BY_WIDTH(add, u32, u64);
    case ATOMIC_MIN: return sign ? BY_WIDTH(min, s32, s64) : BY_WIDTH(min, u32, u64);
    case ATOMIC_MAX: return sign ? BY_WIDTH(max, s32, s64) : BY_WIDTH(max, u32, u64);
    case ATOMIC_INC: return UOP_atom_shared_inc_u32;
    case ATOMIC_DEC: return UOP_atom_shared_dec_u32;
    case ATOMIC_AND: return BY_WIDTH(and, b32, b64);
    case ATOMIC_OR: return BY_WIDTH(or, b32, b64);
    case ATOMIC_XOR: return BY_WIDTH(xor, b32, b64);
    case ATOMIC_EXCH: return BY_WIDTH(exch, b32, b64);
    case ATOMIC_CAS: return BY_WIDTH(cas, b32, b64);
    default: return 0;
    }
#undef BY_WIDTH
}
_Static_assert((int)UOP_atom_add_u32 == (int)UOP_atom_shared_add_u32 + 1 &&
                   (int)UOP_atom_cas_b64 == (int)UOP_atom_shared_cas_b64 + 1,
               "fast() expects the one for global memory behind the one for shared memory");

static u8 flags_of(const struct ptx_op *op)
{
    u8 f = EMU_RELAXED; /* "If the .sem qualifier is absent, .relaxed is assumed" */
    if (ptx_op_has(op, "acquire") || ptx_op_has(op, "acq_rel")) f |= EMU_ACQUIRE;
    if (ptx_op_has(op, "release") || ptx_op_has(op, "acq_rel")) f |= EMU_RELEASE;
    return f;
}

static u8 scope_of(const struct ptx_op *op)
{
    return ptx_op_has(op, "cta")       ? EMU_SCOPE_CTA
           : ptx_op_has(op, "cluster") ? EMU_SCOPE_CLUSTER
           : ptx_op_has(op, "sys")     ? EMU_SCOPE_SYS
                                       : EMU_SCOPE_GPU;
}

static const struct ptx_opnd *element(const struct ptx_opnd *o, u32 k)
{
    return o->kind == PTX_OPND_VEC ? &o->elem[k] : o;
}

enum { ATOM, RED };

/* The micro-operation without an order or observers. */
static unsigned plain_atomic_uop(const struct atomic_desc *v, unsigned type, u8 space)
{
    const unsigned id = v->count == 1 ? fast(v->op, type) : 0;
    if (id && space == PTX_SPACE_SHARED) return id;
    if (id && (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC)) return id + 1;
    return UOP_atom;
}

/* Only adds to memory: nobody reads its result, and it may be deferred (emu/speculate/deferred.h) or commutes. */
static bool is_reduction(const struct atomic_desc *v, unsigned type, u8 space)
{
    const bool may_wait = space != PTX_SPACE_SHARED && space != PTX_SPACE_SHARED_CLUSTER &&
                          v->op != ATOMIC_CAS && (v->width == 4 || v->width == 8);
    return (v->red || v->flags & EMU_DEAD_RESULT) && v->count == 1 &&
           (may_wait || atomic_commutes(v->op, type));
}

static bool lower_atomic(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    const bool red = lower_data(L) == RED;
    const struct ptx_opnd *result = red ? NULL : &i->opnds[0], *address = &i->opnds[red ? 0 : 1];
    const struct ptx_opnd *b = address + 1;
    const unsigned type = op->type[0], width = ptx_types[type].bits / 8;
    struct atomic_desc *v = lower_alloc(L, sizeof *v);
    *v = (struct atomic_desc){.op = (u8)lower_atomic_op(op),
                              .type = (u8)type,
                              .width = (u8)width,
                              .count = op->vec > 1 ? op->vec : 1,
                              .flags = flags_of(op),
                              .scope = scope_of(op),
                              .red = red};
    const bool cas = v->op == ATOMIC_CAS;
    if (!atomic_function(v->op, type)) return lower_refuse(L, "no such atomic operation");
    if (!red && lower_result_dead(L, i)) v->flags |= EMU_DEAD_RESULT;
    struct lower_address a = lower_address(L, address, op->space);
    v->at = (struct lane_address){a.space, a.bytes, a.row, a.offset};
    if (cas) v->comparand[0] = lower_source(L, b, type);
    for (u32 k = 0; k < v->count; k++)
        v->operand[k] = lower_source(L, element(cas ? b + 1 : b, k), type);
    struct lower_dest d[8];
    for (u32 k = 0; !red && k < v->count; k++) {
        d[k] = lower_dest(L, element(result, k), type);
        v->result[k] = d[k].row;
    }
    const u32 site = lower_site(L, SITE_ATOMIC, a.space);
    lower_site_op(L, site, v->op);
    unsigned id = plain_atomic_uop(v, type, a.space);
    const bool reduces = is_reduction(v, type, a.space);
    if (!reduces) lower_is_timed(L);
    if (lower_watched(L)) {
        v->plain = lower_handler(L, id);
        id = lower_watched(L) & LOWER_TAGGED && reduces ? UOP_red_tagged : UOP_atom_watched;
    }
    struct emu_uop *u = lower_emit(L, id, v->result[0], a.row, v->operand[0], v->comparand[0]);
    u->x = a.bytes;
    u->y = !red && !(v->flags & EMU_DEAD_RESULT);
    u->imm = a.offset;
    u->ext = v;
    u->site = site;
    for (u32 k = 0; u->y && k < v->count; k++) lower_finish(L, &d[k]);
    return true;
}

/* Native order needs no fences: what a warp has done is there. x: enum emu_scope, y: EMU_ACQUIRE and
 * EMU_RELEASE, z: it is .sc, n: of proxies. A fence between proxies without either is one of both: what was stored must
 * be in memory before the other proxy looks. */
enum { FENCE, OLD_FENCE };

static bool lower_fence(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    const bool sc = lower_data(L) == OLD_FENCE || ptx_op_has(op, "sc");
    const bool acquire = ptx_op_has(op, "acquire"), release = ptx_op_has(op, "release");
    const bool both = acquire == release; /* .acq_rel is the default */
    struct emu_uop *u = lower_emit(L, UOP_fence, 0, 0, 0, 0);
    u->x = scope_of(op);
    u->y = (u8)((both || acquire ? EMU_ACQUIRE : 0) | (both || release ? EMU_RELEASE : 0));
    u->z = sc;
    u->n = ptx_op_has(op, "proxy");
    return true;
}

#define BOTH(id, data)                                                                             \
    {PTX_F_##id, lower_atomic, data},                                                              \
    {                                                                                              \
        PTX_F_##id##_global, lower_atomic, data                                                    \
    }
const struct lower_rule lower_atomic_rules[] = {
    BOTH(atom_add, ATOM),
    BOTH(atom_half, ATOM),
    BOTH(atom_inc, ATOM),
    BOTH(atom_min, ATOM),
    BOTH(atom_bits, ATOM),
    BOTH(atom_exch, ATOM),
    {PTX_F_atom_cas, lower_atomic, ATOM},
    {PTX_F_atom_vec, lower_atomic, ATOM},
    {PTX_F_atom_vec_half, lower_atomic, ATOM},
    BOTH(red_add, RED),
    BOTH(red_half, RED),
    BOTH(red_inc, RED),
    BOTH(red_min, RED),
    BOTH(red_bits, RED),
    {PTX_F_red_vec, lower_atomic, RED},
    {PTX_F_red_vec_half, lower_atomic, RED},
    {PTX_F_membar, lower_fence, OLD_FENCE},
    {PTX_F_membar_proxy, lower_fence, FENCE},
    {PTX_F_fence, lower_fence, FENCE},
    {PTX_F_fence_acquire_restrict, lower_fence, FENCE},
    {PTX_F_fence_release_restrict, lower_fence, FENCE},
    {PTX_F_fence_mbarrier_init, lower_fence, FENCE},
    {PTX_F_fence_proxy, lower_fence, FENCE},
    {PTX_F_fence_proxy_async, lower_fence, FENCE},
    {PTX_F_fence_proxy_release, lower_fence, FENCE},
    {PTX_F_fence_proxy_acquire, lower_fence, FENCE},
    {PTX_F_fence_proxy_acquire_restrict, lower_fence, FENCE},
    {PTX_F_fence_proxy_release_restrict, lower_fence, FENCE},
    {0, NULL, 0}};
#undef BOTH
