#define _GNU_SOURCE
/* Asynchronous copies, stores and reductions, mbarriers, hints to caches. */
#include "emu/lower/lower.h"

#include "emu/ops/async.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <string.h>

static struct lane_address address(struct lower *L, const struct ptx_opnd *o, unsigned space)
{
    struct lower_address a = lower_address(L, o, space);
    return (struct lane_address){a.space, a.bytes, a.row, a.offset};
}

static struct async_desc *desc(struct lower *L, const struct ptx_op *op)
{
    struct async_desc *v = lower_alloc(L, sizeof *v);
    v->mbar.space = PTX_SPACE_REG;
    v->relaxed = ptx_op_has(op, "relaxed");
    v->scope = ptx_op_has(op, "cluster") ? EMU_SCOPE_CLUSTER : EMU_SCOPE_CTA;
    return v;
}

static struct emu_uop *emit(struct lower *L, unsigned id, const struct async_desc *v)
{
    const bool stores = id == UOP_bulk_copy && v->to.space == PTX_SPACE_GLOBAL,
               copies = id == UOP_cp_async ||
                        (id == UOP_bulk_copy && v->from.space == PTX_SPACE_GLOBAL);
    u32 site = lower_site(L,
                          stores   ? SITE_STORE
                          : copies ? SITE_COPY
                                   : SITE_OTHER,
                          stores ? PTX_SPACE_GLOBAL : 0);
    struct emu_uop *u = lower_emit(L, id, 0, 0, 0, 0);
    u->ext = v;
    u->site = site;
    return u;
}

/* ---- cp.async ---------------------------------------------------------------------------------- */

static bool lower_copy(struct lower *L, const struct ptx_inst *i)
{
    struct async_desc *v = desc(L, i->op);
    v->to = address(L, &i->opnds[0], PTX_SPACE_SHARED);
    v->from = address(L, &i->opnds[1], PTX_SPACE_GLOBAL);
    v->how = (u8)lower_data(L);
    v->width = (u8)i->opnds[2].bits;
    v->l2 = ptx_op_has(i->op, "cg");
    if (v->how == ASYNC_SOURCE_SIZE) v->size = lower_source(L, &i->opnds[3], PTX_u32);
    if (v->how == ASYNC_IGNORE_SOURCE) v->size = lower_predicate(L, &i->opnds[3]);
    emit(L, UOP_cp_async, v);
    return true;
}

/* Nothing is left to be done: hints, and groups whose copies are complete. */
static bool lower_nothing(struct lower *L, const struct ptx_inst *i)
{
    (void)L, (void)i;
    return true;
}

/* ... but to report a commit or a wait. */
static bool lower_groups(struct lower *L, const struct ptx_inst *i)
{
    if (!lower_watched(L)) return true;
    struct emu_uop *u = lower_emit(L, UOP_async_point, 0, 0, 0, 0);
    u->x = (u8)lower_data(L);
    u->y = ptx_op_has(i->op, "bulk");
    u->z = ptx_op_has(i->op, "read");
    u->e = i->count ? (u32)i->opnds[0].bits : EMU_ALL_PENDING;
    return true;
}

/* A grid begins when those before it have ended, so this only reports griddepcontrol. */
static bool lower_grids(struct lower *L, const struct ptx_inst *i)
{
    (void)i;
    if (!lower_watched(L)) return true;
    struct emu_uop *u = lower_emit(L, UOP_async_point, 0, 0, 0, 0);
    u->x = EMU_SYNC_GRIDS;
    u->z = (u8)lower_data(L);
    return true;
}

/* ---- bulk copies ------------------------------------------------------------------------------- */

enum { LOAD, LOAD_OWN, SEND, STORE };

static bool lower_bulk(struct lower *L, const struct ptx_inst *i)
{
    static const struct {
        u8 to, from;
    } ways[] = {[LOAD] = {PTX_SPACE_SHARED_CLUSTER, PTX_SPACE_GLOBAL},
                [LOAD_OWN] = {PTX_SPACE_SHARED, PTX_SPACE_GLOBAL},
                [SEND] = {PTX_SPACE_SHARED_CLUSTER, PTX_SPACE_SHARED},
                [STORE] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED}};
    const u32 way = lower_data(L);
    struct async_desc *v = desc(L, i->op);
    v->to = address(L, &i->opnds[0], ways[way].to);
    v->from = address(L, &i->opnds[1], ways[way].from);
    v->size = lower_source(L, &i->opnds[2], PTX_u32);
    if (way != STORE) v->mbar = address(L, &i->opnds[3], ways[way].to);
    v->multicast = ptx_op_has(i->op, "multicast::cluster");
    if (v->multicast) v->mask = lower_source(L, &i->opnds[4], PTX_u16);
    emit(L, UOP_bulk_copy, v);
    return true;
}

static bool reduction(struct lower *L, const struct ptx_inst *i, struct async_desc *v)
{
    v->op = (u8)lower_atomic_op(i->op);
    v->type = i->op->type[0];
    v->width = (u8)(ptx_types[v->type].bits / 8);
    v->count = 1;
    return atomic_function(v->op, v->type) || lower_refuse(L, "no such reduction");
}

/* Unlike red, "cp.reduce.async.bulk.add.f32 ... does not flush". */
static bool lower_bulk_reduce(struct lower *L, const struct ptx_inst *i)
{
    const bool send = lower_data(L) == SEND;
    struct async_desc *v = desc(L, i->op);
    if (!reduction(L, i, v)) return false;
    v->to = address(L, &i->opnds[0], send ? PTX_SPACE_SHARED_CLUSTER : PTX_SPACE_GLOBAL);
    v->from = address(L, &i->opnds[1], PTX_SPACE_SHARED);
    v->size = lower_source(L, &i->opnds[2], PTX_u32);
    if (send) v->mbar = address(L, &i->opnds[3], PTX_SPACE_SHARED_CLUSTER);
    emit(L, UOP_bulk_reduce, v);
    return true;
}

/* ---- st.async, red.async ----------------------------------------------------------------------- */

static bool lower_far(struct lower *L, const struct ptx_inst *i)
{
    const bool red = lower_data(L);
    struct async_desc *v = desc(L, i->op);
    const struct ptx_opnd *value = &i->opnds[1];
    const unsigned type = i->op->type[0];
    if (red && !reduction(L, i, v)) return false;
    v->width = (u8)(ptx_types[type].bits / 8);
    v->count = (u8)(value->kind == PTX_OPND_VEC ? value->count : 1);
    if (v->count > 4) return lower_refuse(L, "more than 4 elements");
    const unsigned space = i->op->space ? PTX_SPACE_SHARED_CLUSTER : PTX_SPACE_GENERIC;
    v->to = address(L, &i->opnds[0], space); /* also what ptxas takes by the name .shared */
    v->mbar = address(L, &i->opnds[2], space);
    for (u32 k = 0; k < v->count; k++)
        v->value[k] = lower_source(L, value->kind == PTX_OPND_VEC ? &value->elem[k] : value, type);
    emit(L, red ? UOP_red_async : UOP_st_async, v);
    return true;
}

/* ---- mbarriers --------------------------------------------------------------------------------- */

static bool lower_mbarrier(struct lower *L, const struct ptx_inst *i)
{
    struct async_desc *v = desc(L, i->op);
    v->to = address(L, &i->opnds[0], i->op->space);
    if (i->count > 1) v->size = lower_source(L, &i->opnds[1], PTX_u32);
    emit(L, lower_data(L) ? UOP_mbarrier_init : UOP_mbarrier_inval, v);
    return true;
}

static bool lower_tx(struct lower *L, const struct ptx_inst *i)
{
    struct async_desc *v = desc(L, i->op);
    v->how = (u8)lower_data(L);
    v->to = address(L, &i->opnds[0], i->op->space);
    v->size = lower_source(L, &i->opnds[1], PTX_u32);
    emit(L, UOP_mbarrier_tx, v);
    return true;
}

enum { DROP = 1, NO_COMPLETE = 2, TX = 4 };

static bool lower_arrive(struct lower *L, const struct ptx_inst *i)
{
    const u32 how = lower_data(L);
    struct async_desc *v = desc(L, i->op);
    v->drop = how & DROP;
    v->no_complete = how & NO_COMPLETE;
    v->tx = how & TX;
    v->to = address(L, &i->opnds[1], i->op->space);
    v->size = i->count > 2 ? lower_source(L, &i->opnds[2], PTX_u32) : lower_constant(L, 1, 4);
    v->wanted = i->opnds[0].kind != PTX_OPND_SINK;
    struct lower_dest d = {0};
    if (v->wanted) {
        d = lower_dest(L, &i->opnds[0], PTX_b64);
        v->result = d.row;
    }
    emit(L, UOP_mbarrier_arrive, v);
    if (v->wanted) lower_finish(L, &d);
    return true;
}

/* All copies before it are complete, so their arrival is made at once. Without .noinc it is announced
 * first, and nothing comes of it but an error. */
static bool lower_copy_arrive(struct lower *L, const struct ptx_inst *i)
{
    struct async_desc *v = desc(L, i->op);
    v->add = !ptx_op_has(i->op, "noinc");
    v->copies = true;
    v->to = address(L, &i->opnds[0], i->op->space);
    /* libcu++ gives the 32-bit address in .shared without naming the space; ptxas takes it. */
    if (v->to.space == PTX_SPACE_GENERIC && v->to.bytes == 4) v->to.space = PTX_SPACE_SHARED;
    v->size = lower_constant(L, 1, 4);
    emit(L, UOP_mbarrier_arrive, v);
    return true;
}

enum { TEST_STATE, TEST_PARITY, TRY_STATE, TRY_PARITY };

static bool lower_wait(struct lower *L, const struct ptx_inst *i)
{
    const u32 how = lower_data(L);
    const bool parity = how == TEST_PARITY || how == TRY_PARITY;
    struct async_desc *v = desc(L, i->op);
    v->how = parity ? MBARRIER_PARITY : MBARRIER_STATE;
    v->may_sleep = how == TRY_STATE || how == TRY_PARITY; /* its time limit is not needed */
    v->to = address(L, &i->opnds[1], i->op->space);
    if (parity) v->size = lower_source(L, &i->opnds[2], PTX_u32);
    else v->state = lower_source(L, &i->opnds[2], PTX_b64);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_pred);
    v->result = d.row;
    emit(L, UOP_mbarrier_wait, v);
    lower_finish(L, &d);
    return true;
}

static bool lower_pending(struct lower *L, const struct ptx_inst *i)
{
    u32 state = lower_source(L, &i->opnds[1], PTX_u64);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_u32);
    lower_emit(L, UOP_mbarrier_pending, d.row, state, 0, 0);
    lower_finish(L, &d);
    return true;
}

/* ---- policies ---------------------------------------------------------------------------------- */

/* The sixteenths of a fraction above 0 and up to 1, rounded up; of a register's, which only the hint knows, all. */
static u64 fraction_of(const struct ptx_opnd *o)
{
    double x = 1;
    float f;
    const u32 low = (u32)o->bits;
    memcpy(&f, &low, sizeof f);
    if (o->kind == PTX_OPND_F32) x = (double)f;
    else if (o->kind == PTX_OPND_FLOAT || o->kind == PTX_OPND_F64) memcpy(&x, &o->bits, sizeof x);
    if (!(x > 0) || x >= 1) return 16;
    const u64 n = (u64)(x * 16);
    return (double)n < x * 16 ? n + 1 : n;
}

/* A policy is an opaque number that only hints take. Its bits are those that CUDA's headers spell out: the primary priority
 * in bits 56 to 63, the fraction in sixteenths less one in bits 52 to 55. The other bits, which no header shows, only make
 * policies differ: a second priority, and ranges. */
static u64 policy_bits(const struct ptx_inst *i)
{
    static const struct {
        const char *priority;
        u64 bits;
    } primary[] = {{"L2::evict_normal", 0x16},
                   {"L2::evict_unchanged", 0x10},
                   {"L2::evict_first", 0x12},
                   {"L2::evict_last", 0x14}};
    const bool range = ptx_op_form(i->op) == PTX_F_createpolicy_range;
    const char *first = NULL; /* the primary priority is written first */
    u64 bits = 0, second = 0;
    for (size_t k = 0; k < sizeof primary / sizeof *primary; k++) {
        const char *word = primary[k].priority,
                   *at = memmem(i->op->text, i->op->text_length, word, strlen(word));
        if (!at) continue;
        second = first != NULL;
        if (first && at > first) continue;
        first = at;
        bits = primary[k].bits;
    }
    const u64 sixteenths = !range && i->count > 1 ? fraction_of(&i->opnds[1]) : 16;
    return bits << 56 | (sixteenths - 1) << 52 | (u64)range << 51 | second << 50;
}

static bool lower_policy(struct lower *L, const struct ptx_inst *i)
{
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_b64);
    if (lower_data(L)) { /* createpolicy.cvt */
        u32 a = lower_source(L, &i->opnds[1], PTX_u64);
        lower_emit(L, UOP_copy_u64, d.row, a, 0, 0);
    } else {
        struct emu_uop *u = lower_emit(L, UOP_fill, d.row, 0, 0, 0);
        u->bits = policy_bits(i);
        u->x = 8;
    }
    lower_finish(L, &d);
    return true;
}

#define COPY(id)                                                                                   \
    {PTX_F_cp_async_##id, lower_copy, ASYNC_WHOLE},                                                \
        {PTX_F_cp_async_##id##_fill, lower_copy, ASYNC_SOURCE_SIZE},                               \
    {                                                                                              \
        PTX_F_cp_async_##id##_ignore, lower_copy, ASYNC_IGNORE_SOURCE                              \
    }
#define TX_OF(id, how)                                                                             \
    {PTX_F_mbarrier_##id, lower_tx, how},                                                          \
    {                                                                                              \
        PTX_F_mbarrier_##id##_order, lower_tx, how                                                 \
    }
#define ARRIVE(id, how)                                                                            \
    {PTX_F_mbarrier_##id, lower_arrive, how}, {PTX_F_mbarrier_##id##_release, lower_arrive, how},  \
        {PTX_F_mbarrier_##id##_relaxed, lower_arrive, how},                                        \
        {PTX_F_mbarrier_##id##_far, lower_arrive, how},                                            \
        {PTX_F_mbarrier_##id##_far_release, lower_arrive, how},                                    \
        {PTX_F_mbarrier_##id##_far_relaxed, lower_arrive, how},                                    \
        {PTX_F_mbarrier_##id##_nocomplete, lower_arrive, how | NO_COMPLETE},                       \
        {PTX_F_mbarrier_##id##_nocomplete_release, lower_arrive, how | NO_COMPLETE},               \
        {PTX_F_mbarrier_##id##_tx, lower_arrive, how | TX},                                        \
        {PTX_F_mbarrier_##id##_tx_release, lower_arrive, how | TX},                                \
        {PTX_F_mbarrier_##id##_tx_relaxed, lower_arrive, how | TX},                                \
        {PTX_F_mbarrier_##id##_tx_far, lower_arrive, how | TX},                                    \
        {PTX_F_mbarrier_##id##_tx_far_release, lower_arrive, how | TX},                            \
    {                                                                                              \
        PTX_F_mbarrier_##id##_tx_far_relaxed, lower_arrive, how | TX                               \
    }
#define WAIT(id, how)                                                                              \
    {PTX_F_mbarrier_##id, lower_wait, how}, {PTX_F_mbarrier_##id##_acquire, lower_wait, how},      \
    {                                                                                              \
        PTX_F_mbarrier_##id##_relaxed, lower_wait, how                                             \
    }
#define NOTHING(id)                                                                                \
    {                                                                                              \
        PTX_F_##id, lower_nothing, 0                                                               \
    }
const struct lower_rule lower_async_rules[] = {
    COPY(ca),
    COPY(cg),
    {PTX_F_cp_async_commit, lower_groups, EMU_SYNC_ASYNC_COMMIT},
    {PTX_F_cp_async_wait, lower_groups, EMU_SYNC_ASYNC_WAIT},
    {PTX_F_cp_async_wait_all, lower_groups, EMU_SYNC_ASYNC_WAIT},
    {PTX_F_cp_async_arrive, lower_copy_arrive, 0},
    {PTX_F_bulk_load, lower_bulk, LOAD},
    {PTX_F_bulk_load_own, lower_bulk, LOAD_OWN},
    {PTX_F_bulk_send, lower_bulk, SEND},
    {PTX_F_bulk_store, lower_bulk, STORE},
    NOTHING(bulk_prefetch),
    {PTX_F_bulk_commit, lower_groups, EMU_SYNC_ASYNC_COMMIT},
    {PTX_F_bulk_wait, lower_groups, EMU_SYNC_ASYNC_WAIT},
    {PTX_F_bulk_red_add, lower_bulk_reduce, STORE},
    {PTX_F_bulk_red_half, lower_bulk_reduce, STORE},
    {PTX_F_bulk_red_min, lower_bulk_reduce, STORE},
    {PTX_F_bulk_red_inc, lower_bulk_reduce, STORE},
    {PTX_F_bulk_red_bits, lower_bulk_reduce, STORE},
    {PTX_F_bulk_red_send_add, lower_bulk_reduce, SEND},
    {PTX_F_bulk_red_send_min, lower_bulk_reduce, SEND},
    {PTX_F_bulk_red_send_inc, lower_bulk_reduce, SEND},
    {PTX_F_bulk_red_send_bits, lower_bulk_reduce, SEND},
    {PTX_F_st_async, lower_far, 0},
    {PTX_F_st_async_vec, lower_far, 0},
    {PTX_F_red_async_add, lower_far, 1},
    {PTX_F_red_async_inc, lower_far, 1},
    {PTX_F_red_async_min, lower_far, 1},
    {PTX_F_red_async_bits, lower_far, 1},
    {PTX_F_mbarrier_init, lower_mbarrier, 1},
    {PTX_F_mbarrier_inval, lower_mbarrier, 0},
    TX_OF(expect_tx, MBARRIER_EXPECT),
    TX_OF(complete_tx, MBARRIER_COMPLETE),
    ARRIVE(arrive, 0),
    ARRIVE(arrive_drop, DROP),
    WAIT(test_wait, TEST_STATE),
    WAIT(test_wait_parity, TEST_PARITY),
    WAIT(try_wait, TRY_STATE),
    WAIT(try_wait_parity, TRY_PARITY),
    {PTX_F_mbarrier_pending_count, lower_pending, 0},
    NOTHING(prefetch),
    NOTHING(prefetch_evict),
    NOTHING(prefetch_map),
    NOTHING(prefetchu),
    NOTHING(applypriority),
    NOTHING(discard), /* what is discarded may as well stay */
    {PTX_F_createpolicy_fractional, lower_policy, 0},
    {PTX_F_createpolicy_range, lower_policy, 0},
    {PTX_F_createpolicy_cvt, lower_policy, 1},
    {PTX_F_griddep_launch, lower_grids, EMU_GRIDS_LAUNCH},
    {PTX_F_griddep_wait, lower_grids, EMU_GRIDS_WAIT},
    {0, NULL, 0}};
