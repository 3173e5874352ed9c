/* Asynchronous copies and mbarriers, as described in async.h. */
#include "emu/ops/async.h"

#include "emu/measure/count.h"
#include "emu/sched/control.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <string.h>

/* ---- mbarriers --------------------------------------------------------------------------------- */

struct mbarrier { /* unpacked */
    u32 pending, expected, phase;
    i32 tx;
    bool valid;
};

static struct mbarrier unpack(u64 m)
{
    u32 tx = (u32)(m >> 40) & 0x1fffff;
    return (struct mbarrier){.pending = (u32)m & MBARRIER_MAX,
                             .expected = (u32)(m >> 20) & MBARRIER_MAX,
                             .tx = (i32)(tx ^ 0x100000) - 0x100000,
                             .phase = (u32)(m >> 61) & 3,
                             .valid = m >> 63};
}

static u64 pack(const struct mbarrier *b)
{
    return (u64)b->pending | (u64)b->expected << 20 | (u64)((u32)b->tx & 0x1fffff) << 40 |
           (u64)(b->phase & 3) << 61 | (u64)b->valid << 63;
}

/* What mbarrier.inval leaves, so that a later operation can be explained. It is no valid mbarrier. */
#define INVALIDATED ((u64)MBARRIER_MAX)

/* Why there is no mbarrier in these bits. */
static const char *not_there(u64 m)
{
    return m == INVALIDATED ? "the mbarrier was invalidated (mbarrier.inval), and not initialised "
                              "again: PTX leaves open what operations on it do"
                            : "there is no mbarrier: mbarrier.init has not been here";
}

static void end_phase(struct mbarrier *b)
{
    if (b->pending || b->tx) return;
    b->phase++;
    b->pending = b->expected;
}

const char *mbarrier_init(u64 *m, u32 count)
{
    if (!count || count > MBARRIER_MAX) return "an mbarrier's count lies between 1 and 1048575";
    *m = pack(&(struct mbarrier){.pending = count, .expected = count, .valid = true});
    return NULL;
}

const char *mbarrier_inval(u64 *m)
{
    if (!unpack(*m).valid) return not_there(*m);
    *m = INVALIDATED;
    return NULL;
}

static const char *change_tx(u64 *m, i64 by)
{
    struct mbarrier b = unpack(*m);
    if (!b.valid) return not_there(*m);
    if (b.tx + by > MBARRIER_MAX || b.tx + by < -MBARRIER_MAX)
        return "the mbarrier's tx-count goes beyond 1048575";
    b.tx += (i32)by;
    end_phase(&b);
    *m = pack(&b);
    return NULL;
}

const char *mbarrier_expect(u64 *m, u32 tx)
{
    return change_tx(m, tx);
}

const char *mbarrier_complete(u64 *m, u32 tx)
{
    return change_tx(m, -(i64)tx);
}

const char *mbarrier_arrive(u64 *m, u32 count, bool drop, bool no_complete, bool add)
{
    struct mbarrier b = unpack(*m);
    if (!b.valid) return not_there(*m);
    if (add) {
        if (b.pending == MBARRIER_MAX) return "more than 1048575 arrivals are pending";
        b.pending++;
    }
    if (!count) return "an arrival that counts zero";
    if (count > b.pending) return "more arrivals than the mbarrier's phase waits for";
    if (drop) {
        if (count > b.expected) return "more arrivals are dropped than the mbarrier expects";
        b.expected -= count;
    }
    b.pending -= count;
    if (no_complete && !b.pending && !b.tx) return "an arrival with .noComplete ends the phase";
    end_phase(&b);
    *m = pack(&b);
    return NULL;
}

const char *mbarrier_test(const u64 *m, u64 state, bool *complete)
{
    struct mbarrier b = unpack(*m), s = unpack(state);
    if (!b.valid) return not_there(*m);
    *complete = s.phase != b.phase;
    if (!s.valid || (*complete && ((s.phase + 1) & 3) != b.phase))
        return "a state that is not of the mbarrier's current phase nor of the one before";
    return NULL;
}

const char *mbarrier_test_parity(const u64 *m, u32 parity, bool *complete)
{
    struct mbarrier b = unpack(*m);
    if (!b.valid) return not_there(*m);
    *complete = (b.phase & 1) != (parity & 1);
    return NULL;
}

u32 mbarrier_pending(u64 state)
{
    return unpack(state).pending;
}

static bool watched(const struct emu_group *g)
{
    return g->worker->machine->steps.watched;
}

/* Notifies observers of what a lane has done with an mbarrier, which was `before`. */
static void tell_done(const struct emu_group *g, const struct emu_uop *in, u32 l, u64 address,
                      u8 op, u64 before, u64 after)
{
    const struct async_desc *v = in->ext;
    if (!watched(g)) return;
    const bool waits = op == EMU_MBARRIER_PASSED || op == EMU_MBARRIER_PENDING;
    struct emu_sync s = {.kind = EMU_SYNC_MBARRIER_DONE,
                         .scope = v->scope,
                         .flags = v->relaxed ? 0
                                  : waits    ? EMU_ACQUIRE
                                             : EMU_RELEASE,
                         .op = op,
                         .lanes = 1u << l,
                         .phase = {(u8)unpack(before).phase, (u8)unpack(after).phase},
                         .address = address >= MEM_SHARED ? address - MEM_SHARED : address};
    emu_notify_done(g, 0, in, &s);
}

/* The mbarrier that a lane names; NULL: a fault. */
static u64 *mbarrier_at(struct emu_group *g, const struct emu_uop *in,
                        const struct lane_address *at, u32 w, u32 lane)
{
    u64 a = lane_address(g, at, w, lane);
    if (at->space == PTX_SPACE_GENERIC && emu_space_of(g, a) != PTX_SPACE_SHARED) {
        emu_raise(g, in, EMU_WRONG_SPACE, w, lane, a, 8,
                  "an mbarrier at 0x%llx, which is not in shared memory", (unsigned long long)a);
        return NULL;
    }
    return (u64 *)(void *)emu_lane_host(g, in, w, lane, at->space, a, 8, true);
}

/* `what` is wrong, if it is not NULL; returns whether it is. */
static bool wrong(struct emu_group *g, const struct emu_uop *in, const struct lane_address *at,
                  u32 w, u32 lane, const char *what)
{
    if (!what) return false;
    emu_raise(g, in, EMU_BARRIER, w, lane, lane_address(g, at, w, lane), 8, "%s", what);
    return true;
}

/* ---- notifying orders and observers -------------------------------------------------------------- */

/* Of an operation on mbarriers. false: the warp sleeps. */
static bool tell_sync(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!emu_notify_single_warp(g, in)) return false;
    if (!watched(g) || !g->exec[0]) return true;
    struct emu_sync s = {.kind = EMU_SYNC_MBARRIER,
                         .address = lane_address(g, &v->to, 0, (u32)__builtin_ctz(g->exec[0]))};
    return emu_notify_step(g, in) && emu_notify_sync(g, in, &s);
}

static bool is_bulk(const struct emu_uop *in)
{
    return in->id == UOP_bulk_copy || in->id == UOP_bulk_reduce;
}

/* Of an access by the lanes of `mask`, each with 64 bytes of data. false: the warp sleeps. */
static bool tell_access(struct emu_group *g, const struct emu_uop *in, u8 kind, u32 space,
                        u32 width, u32 count, u32 mask, const u64 *at, u8 *data,
                        enum emu_verdict *verdict)
{
    const struct async_desc *v = in->ext;
    u64 mbar = 0; /* whose lanes are reported as one access each */
    if (mask && v->mbar.space != PTX_SPACE_REG) {
        mbar = lane_address(g, &v->mbar, 0, (u32)__builtin_ctz(mask));
        if (mbar < MEM_SHARED) mbar += MEM_SHARED;
        if (v->multicast && kind == EMU_STORE) /* that of the CTA that is written to */
            mbar = MEM_SHARED + (mbar - MEM_SHARED) % MEM_SHARED_WINDOW +
                   at[__builtin_ctz(mask)] / MEM_SHARED_WINDOW * MEM_SHARED_WINDOW;
    }
    struct emu_access a = {.kind = kind,
                           .space = (u8)space,
                           .flags = (u8)(EMU_ASYNC | (is_bulk(in) ? EMU_BULK : 0)),
                           .scope = is_bulk(in) ? EMU_SCOPE_GPU : EMU_SCOPE_CLUSTER,
                           .op = v->op,
                           .type = v->type,
                           .width = (u8)width,
                           .count = (u8)count,
                           .lanes = mask,
                           .address = at,
                           .stride = 64,
                           .mbarrier = mbar,
                           .pc = in->pc};
    if (kind == EMU_LOAD) a.result = data;
    else a.data = data;
    *verdict = EMU_PROCEED;
    return !mask || emu_notify_access(g, in, &a, verdict);
}

#define EACH_LANE                                                                                  \
    for (u32 w = 0; w < g->warps; w++)                                                             \
        for (u32 left = g->exec[w], l = 0; left && (l = (u32)__builtin_ctz(left), true);           \
             left &= left - 1)

const struct emu_uop *emu_op_mbarrier_init(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!tell_sync(g, in)) return NULL;
    EACH_LANE
    {
        u64 *m = mbarrier_at(g, in, &v->to, w, l);
        if (!m || wrong(g, in, &v->to, w, l, mbarrier_init(m, (u32)emu_get(g, 4, v->size, w, l))))
            return NULL;
        tell_done(g, in, l, lane_address(g, &v->to, w, l), EMU_MBARRIER_INIT, 0, *m);
    }
    return in + 1;
}

const struct emu_uop *emu_op_mbarrier_inval(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!tell_sync(g, in)) return NULL;
    EACH_LANE
    {
        u64 *m = mbarrier_at(g, in, &v->to, w, l);
        if (m && *m == INVALIDATED) { /* destructors of libcu++ do that twice; it changes nothing */
            emu_note_undefined(g, in, EMU_CHECK_SYNC, EMU_BARRIER, w, l,
                               lane_address(g, &v->to, w, l), not_there(*m));
            continue;
        }
        if (!m || wrong(g, in, &v->to, w, l, mbarrier_inval(m))) return NULL;
        tell_done(g, in, l, lane_address(g, &v->to, w, l), EMU_MBARRIER_INVALIDATE, 0, 0);
    }
    return in + 1;
}

const struct emu_uop *emu_op_mbarrier_tx(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!tell_sync(g, in)) return NULL;
    EACH_LANE
    {
        u64 *m = mbarrier_at(g, in, &v->to, w, l);
        u32 tx = (u32)emu_get(g, 4, v->size, w, l);
        const u64 before = m ? *m : 0;
        if (!m ||
            wrong(g, in, &v->to, w, l,
                  v->how == MBARRIER_EXPECT ? mbarrier_expect(m, tx) : mbarrier_complete(m, tx)))
            return NULL;
        tell_done(g, in, l, lane_address(g, &v->to, w, l), EMU_MBARRIER_TX, before, *m);
    }
    return in + 1;
}

const struct emu_uop *emu_op_mbarrier_arrive(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!tell_sync(g, in)) return NULL;
    EACH_LANE
    {
        u64 *m = mbarrier_at(g, in, &v->to, w, l);
        if (!m) return NULL;
        const u64 before = *m;
        const u32 size = (u32)emu_get(g, 4, v->size, w, l);
        if (v->tx) { /* one arrival is still to come, so the phase does not end with this */
            struct mbarrier b = unpack(*m);
            if (b.valid && !b.pending) {
                wrong(g, in, &v->to, w, l, "more arrivals than the mbarrier's phase waits for");
                return NULL;
            }
            if (wrong(g, in, &v->to, w, l, mbarrier_expect(m, size))) return NULL;
        }
        if (wrong(g, in, &v->to, w, l,
                  mbarrier_arrive(m, v->tx ? 1 : size, v->drop, v->no_complete, v->add)))
            return NULL;
        tell_done(g, in, l, lane_address(g, &v->to, w, l),
                  v->copies ? EMU_MBARRIER_ARRIVE_ASYNC : EMU_MBARRIER_ARRIVE, before, *m);
        if (v->wanted) emu_put(g, 8, v->result, w, l, before);
    }
    return in + 1;
}

/* test_wait says what is; try_wait stays until all its lanes can go on, or until nobody else can (emu/sched/launch.c):
 * only then its time runs out. But
 * what a lane waits for may be done by a warp that is in lockstep with it, and could not while this one
 * waits or goes round: such groups are split. */
const struct emu_uop *emu_op_mbarrier_wait(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    bool all = true, none = true, here = true;
    if (!tell_sync(g, in)) return NULL;
    for (u32 w = 0; w < g->warps; w++) here &= g->exec[w] == g->alive[w];
    EACH_LANE
    {
        u64 *m = mbarrier_at(g, in, &v->to, w, l);
        bool complete = false;
        if (!m) return NULL;
        const char *what = v->how == MBARRIER_PARITY
                               ? mbarrier_test_parity(m, (u32)emu_get(g, 4, v->size, w, l),
                                                      &complete)
                               : mbarrier_test(m, emu_get(g, 8, v->state, w, l), &complete);
        if (wrong(g, in, &v->to, w, l, what)) return NULL;
        tell_done(g, in, l, lane_address(g, &v->to, w, l),
                  complete ? EMU_MBARRIER_PASSED : EMU_MBARRIER_PENDING, *m, *m);
        emu_put(g, 4, v->result, w, l, complete ? ~(u64)0 : 0);
        all &= complete;
        none &= !complete;
    }
    if (all) return in + 1;
    if (g->warps > 1 && !(none && here)) {
        g->pc = in; /* the same once more, now one warp at a time */
        g->state = GROUP_SPLIT;
        return NULL;
    }
    if (!v->may_sleep || g->time_is_up) {
        g->time_is_up = false;
        g->budget = 0; /* it goes on up to the next block */
        return in + 1;
    }
    g->pc = in; /* suspended: it asks again when the others have had their turn */
    g->state = GROUP_WAIT;
    return NULL;
}

bool emu_may_time_out(const struct emu_uop *in)
{
    return in && in->id == UOP_mbarrier_wait && ((const struct async_desc *)in->ext)->may_sleep;
}

/* cp.async groups and griddepcontrol, where an order or observers take part. */
const struct emu_uop *emu_op_async_point(struct emu_group *g, const struct emu_uop *in)
{
    struct emu_sync s = {.kind = in->x, .flags = in->y ? EMU_BULK : 0, .op = in->z, .count = in->e};
    return emu_notify_sync(g, in, &s) ? in + 1 : NULL;
}

const struct emu_uop *emu_op_mbarrier_pending(struct emu_group *g, const struct emu_uop *in)
{
    EACH_LANE emu_put(g, 4, in->d, w, l, mbarrier_pending(emu_get(g, 8, in->a, w, l)));
    return in + 1;
}

/* ---- copies by each thread ------------------------------------------------------------------- */

static inline bool inside(u64 a, u64 low, u64 high, u32 size)
{
    return a >= low && a < high && high - a >= size;
}

/* Whether a lane's source is, as the whole copy has to be; else a fault is raised. */
static bool source_is_aligned(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u64 from,
                              u32 size)
{
    if (from & (size - 1)) {
        emu_raise(g, in, EMU_MISALIGNED, w, l, from, size,
                  "cp.async of %u bytes from 0x%llx, which is no multiple of %u", size,
                  (unsigned long long)from, size);
        return false;
    }
    return true;
}

/* One lane's copy of `size` bytes, of which `n` are read; false: a fault. */
static bool copy_lane(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u64 to, u64 from,
                      u32 size, u32 n)
{
    const struct emu_cta *c = g->cta;
    struct emu_bound *b = &g->worker->bounds[in->site];
    u8 *d = c->shared;
    const u8 *s = NULL;
    if (inside(to, 0, c->shared_size, size) && !(to & (size - 1))) d += to;
    else d = emu_lane_host(g, in, w, l, PTX_SPACE_SHARED, to, size, true);
    if (!d) return false;
    if (n == 0) {
        memset(d, 0, size);
        return true;
    }
    if (!source_is_aligned(g, in, w, l, from, size)) return false;
    if (inside(from, b->low, b->high, n)) s = b->host + (from - b->low);
    else {
        emu_find_bound(g, in, from, false, b);
        s = emu_lane_host(g, in, w, l, PTX_SPACE_GLOBAL, from, n, false);
    }
    if (!s) return false;
    if (n == 16) memcpy(d, s, 16);
    else if (n == size) memcpy(d, s, size);
    else {
        memcpy(d, s, n);
        memset(d + n, 0, size - n);
    }
    return true;
}

/* All lanes at once, from the allocation that the instruction read last; false: not so. */
static bool copy_whole(struct emu_group *g, const struct emu_uop *in, u32 mask, const u64 *to,
                       const u64 *from, u32 size)
{
    const struct emu_bound *b = &g->worker->bounds[in->site];
    u8 *const d = g->cta->shared;
    if (watched(g)) return false;
    if (!lanes_inside(to, mask, 0, g->cta->shared_size, size) ||
        !lanes_inside(from, mask, b->low, b->high, size))
        return false;
#define COPY(n)                                                                                    \
    for (u32 left = mask; left; left &= left - 1) {                                                \
        const u32 l = (u32)__builtin_ctz(left);                                                    \
        memcpy(d + to[l], b->host + (from[l] - b->low), n);                                        \
    }
    if (size == 16) COPY(16)
    else if (size == 8) COPY(8)
    else COPY(4)
#undef COPY
    return true;
}

/* How much of the source a lane reads. */
static u32 source_size(const struct emu_group *g, const struct async_desc *v, u32 w, u32 l)
{
    if (v->how == ASYNC_SOURCE_SIZE) return (u32)emu_get(g, 4, v->size, w, l);
    return v->how == ASYNC_IGNORE_SOURCE && emu_get(g, 4, v->size, w, l) ? 0 : v->width;
}

/* The lanes that read anything: the others write zeros alone. */
static u32 reading(const struct emu_group *g, const struct async_desc *v, u32 w)
{
    u32 lanes = 0;
    for (u32 left = g->exec[w]; left; left &= left - 1)
        if (source_size(g, v, w, (u32)__builtin_ctz(left))) lanes |= left & -left;
    return lanes;
}

/* Whether the lanes that are on read all they write. CUDA's headers always name the source's size. */
static bool reads_all(const struct emu_group *g, const struct async_desc *v, u32 w)
{
    if (v->how != ASYNC_SOURCE_SIZE) return v->how == ASYNC_WHOLE;
    const u32 *n = (const u32 *)(const void *)(g->r32 + v->size) + w * LANES, all = v->width;
    if (!g->worker->machine->counting->words_differ(n, LANES, all)) return true;
    u32 differs = 0;
    for (u32 left = g->exec[w]; left; left &= left - 1) differs |= n[__builtin_ctz(left)] ^ all;
    return !differs;
}

/* Notifies the order of what the lanes of `reads` read of their sources, n bytes each, whose bytes are in `data`:
 * whole sources at once, of others no more than is read, in pieces. false: the warp sleeps. */
static bool notify_sources(struct emu_group *g, const struct emu_uop *in, u32 reads,
                           const u64 *from, const u32 *n, u8 *data)
{
    const struct async_desc *v = in->ext;
    enum emu_verdict verdict;
    for (u32 width = v->width; width; width /= 2) {
        u64 at[LANES] = {0};
        u8 piece[LANES * 64];
        u32 mask = 0;
        for (u32 left = reads; left; left &= left - 1) {
            const u32 l = (u32)__builtin_ctz(left), before = n[l] & ~(2 * width - 1);
            if (!(n[l] & width)) continue;
            mask |= 1u << l;
            at[l] = from[l] + before;
            memcpy(piece + 64 * l, data + 64 * l + before, width);
        }
        if (!tell_access(g, in, EMU_LOAD, PTX_SPACE_GLOBAL, width, 1, mask, at, piece, &verdict))
            return false;
        for (u32 left = mask; left; left &= left - 1) { /* as an order has answered */
            const u32 l = (u32)__builtin_ctz(left);
            memcpy(data + 64 * l + (at[l] - from[l]), piece + 64 * l, width);
        }
    }
    return true;
}

/* The same by way of the order: a load, then a store. */
static const struct emu_uop *cp_async_watched(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    const u32 size = v->width;
    u64 to[LANES] = {0}, from[LANES] = {0};
    u8 data[LANES * 64] = {0}, *host[LANES];
    u32 reads = 0, n[LANES];
    for (u32 left = g->exec[0]; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        n[l] = source_size(g, v, 0, l);
        to[l] = lane_address(g, &v->to, 0, l);
        from[l] = lane_address(g, &v->from, 0, l);
        if (!(host[l] = emu_lane_host(g, in, 0, l, PTX_SPACE_SHARED, to[l], size, true)))
            return NULL;
        if (!n[l]) continue;
        reads |= 1u << l;
        if (!source_is_aligned(g, in, 0, l, from[l], size)) return NULL;
        const u8 *s = emu_lane_host(g, in, 0, l, PTX_SPACE_GLOBAL, from[l], n[l], false);
        if (!s) return NULL;
        memcpy(data + 64 * l, s, n[l]);
    }
    enum emu_verdict verdict;
    if (!notify_sources(g, in, reads, from, n, data)) return NULL;
    if (!tell_access(g, in, EMU_STORE, PTX_SPACE_SHARED, size, 1, g->exec[0], to, data, &verdict))
        return NULL;
    for (u32 left = verdict == EMU_DONE ? 0 : g->exec[0]; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        memcpy(host[l], data + 64 * l, size);
    }
    return in + 1;
}

/* All lanes of warp w copy from side by side to side by side, from the allocation that the instruction read last: one copy, and
 * one run to count. false: it has to be looked at more closely. */
static bool copy_run(struct emu_group *g, const struct emu_uop *in, u32 w)
{
    const struct async_desc *v = in->ext;
    const struct emu_counting *c = g->worker->machine->counting;
    const struct emu_bound *b = &g->worker->bounds[in->site];
    const u32 size = v->width, bytes = LANES * size;
    u64 from, to;
    if (g->exec[w] != ~0u || watched(g) || !reads_all(g, v, w)) return false;
    if (!c->side_by_side(g, &v->from, w, size, &from) || !inside(from, b->low, b->high, bytes) ||
        !c->side_by_side(g, &v->to, w, size, &to) || !inside(to, 0, g->cta->shared_size, bytes) ||
        ((from | to) & (size - 1)))
        return false;
    if (g->worker->sites)
        emu_count_run(g, in, w, from, 0, bytes, LANES, size, v->l2 ? COUNT_LOAD_L2 : COUNT_LOAD);
    memcpy(g->cta->shared + to, b->host + (from - b->low), bytes);
    return true;
}

const struct emu_uop *emu_op_cp_async(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    const u32 size = v->width;
    if (!emu_notify_single_warp(g, in)) return NULL;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w] || copy_run(g, in, w)) continue;
        u64 from[LANES], to[LANES];
        lane_addresses(g, &v->from, w, from);
        lane_addresses(g, &v->to, w, to);
        const bool whole = reads_all(g, v, w);
        const u32 reads = whole ? g->exec[w] : reading(g, v, w);
        if (g->worker->sites && reads)
            emu_count_lanes(g, in, w, from, reads, size, PTX_SPACE_GLOBAL,
                            v->l2 ? COUNT_LOAD_L2 : COUNT_LOAD);
        if (whole && copy_whole(g, in, g->exec[w], to, from, size)) continue;
        for (u32 left = g->exec[w]; left; left &= left - 1) {
            const u32 l = (u32)__builtin_ctz(left);
            const u32 n = source_size(g, v, w, l);
            if (n > size)
                return emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, from[l], n,
                                 "cp.async of %u bytes with a source of %u", size, n);
            if (watched(g)) continue;
            if (!copy_lane(g, in, w, l, to[l], from[l], size, n)) return NULL;
        }
    }
    return watched(g) ? cp_async_watched(g, in) : in + 1;
}

/* ---- bulk copies ------------------------------------------------------------------------------- */

/* `size` bytes of shared memory at an offset of a CTA of the cluster; NULL: a fault. */
static u8 *shared_of(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u32 rank,
                     u64 offset, u32 size)
{
    const struct emu_cta *c = g->cta->cluster[rank];
    if (offset <= c->shared_size && c->shared_size - offset >= size) return c->shared + offset;
    emu_raise(
        g, in, EMU_OUT_OF_BOUNDS, w, l, offset, size,
        "write of %u bytes at offset %llu of %u bytes of .shared memory of CTA %u of the cluster",
        size, (unsigned long long)offset, c->shared_size, rank);
    return NULL;
}

/* A bulk operand: a multiple of 16 bytes at a multiple of 16; size 0 needs no memory. false: a fault. */
static bool bulk_operand(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u32 space,
                         u64 a, u32 size, bool write, u8 **host)
{
    if (size % 16 || a % 16) {
        emu_raise(g, in, EMU_MISALIGNED, w, l, a, size,
                  "a bulk copy of %u bytes at 0x%llx: not multiples of 16", size,
                  (unsigned long long)a);
        return false;
    }
    *host = NULL;
    if (!size) return true;
    *host = emu_lane_host(g, in, w, l, space, a, size, write);
    return *host != NULL;
}

static bool tell_mbarrier(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u32 bytes)
{
    const struct async_desc *v = in->ext;
    if (v->mbar.space == PTX_SPACE_REG) return true;
    u64 *m = mbarrier_at(g, in, &v->mbar, w, l);
    const u64 before = m ? *m : 0;
    if (!m || wrong(g, in, &v->mbar, w, l, mbarrier_complete(m, bytes))) return false;
    tell_done(g, in, l, lane_address(g, &v->mbar, w, l), EMU_MBARRIER_TX, before, *m);
    return true;
}

/* To the same offset in the shared memory of several CTAs, whose mbarriers lie at the same offset. */
static bool multicast(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, const u8 *from,
                      u64 to, u32 size)
{
    const struct async_desc *v = in->ext;
    const u32 mask = (u32)emu_get(g, 2, v->mask, w, l);
    const u64 bar = lane_address(g, &v->mbar, w, l);
    for (u32 rank = 0; rank < 16; rank++) {
        if (!(mask >> rank & 1)) continue;
        if (rank >= g->cta->cluster_size) {
            emu_raise(g, in, EMU_OUT_OF_BOUNDS, w, l, to, size,
                      "multicast to CTA %u of a cluster of %u", rank, g->cta->cluster_size);
            return false;
        }
        u8 *d = shared_of(g, in, w, l, rank, to % MEM_SHARED_WINDOW, size);
        if (!d) return false;
        if (size) memmove(d, from, size);
        if (bar % 8) {
            emu_raise(g, in, EMU_MISALIGNED, w, l, bar, 8, "an mbarrier at 0x%llx",
                      (unsigned long long)bar);
            return false;
        }
        u64 *m = (u64 *)(void *)shared_of(g, in, w, l, rank, bar % MEM_SHARED_WINDOW, 8);
        const u64 before = m ? *m : 0;
        if (!m || wrong(g, in, &v->mbar, w, l, mbarrier_complete(m, size))) return false;
        tell_done(g, in, l, (rank + 1) * MEM_SHARED_WINDOW + bar % MEM_SHARED_WINDOW,
                  EMU_MBARRIER_TX, before, *m);
    }
    return true;
}

/* Reports one lane's copy, 16 bytes at a time, or reduction, an element at a time. A load is not for an
 * order to answer: between the stores of a warp and bulk copies of them lies a fence of the proxies.
 * false: the warp sleeps, and begins again. *done: the order holds what is stored. */
static bool tell_bulk(struct emu_group *g, const struct emu_uop *in, u32 l, u8 kind, u64 to,
                      u64 from, const u8 *s, u32 size, u32 step, bool *done)
{
    const struct async_desc *v = in->ext;
    for (u32 o = 0; o < size; o += step) {
        u8 data[LANES * 64], *mine = data + 64 * l;
        u64 at[LANES] = {0};
        enum emu_verdict verdict;
        memcpy(mine, s + o, step);
        at[l] = from + o;
        if (!tell_access(g, in, EMU_LOAD, v->from.space, step, 1, 1u << l, at, data, &verdict))
            return false;
        memcpy(mine, s + o, step);
        at[l] = to + o;
        if (!tell_access(g, in, kind, v->to.space, step, 1, 1u << l, at, data, &verdict))
            return false;
        *done = verdict == EMU_DONE;
    }
    return true;
}

/* By L2, not L1, whose lines hold what loads asked for. */
static void count_bulk(struct emu_group *g, const struct emu_uop *in, u32 w,
                       const struct async_desc *v, u64 from, u64 to, u32 size)
{
    if (!g->worker->sites || !size) return;
    if (v->from.space == PTX_SPACE_GLOBAL)
        emu_count_run(g, in, w, from, 0, size, 1, size, COUNT_LOAD_L2);
    else if (v->to.space == PTX_SPACE_GLOBAL)
        emu_count_run(g, in, w, to, 0, size, 1, size, COUNT_STORE);
}

const struct emu_uop *emu_op_bulk_copy(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!emu_notify_single_warp(g, in)) return NULL;
    EACH_LANE
    {
        const u32 size = (u32)emu_get(g, 4, v->size, w, l);
        const u64 to = lane_address(g, &v->to, w, l), from = lane_address(g, &v->from, w, l);
        u8 *d, *s;
        if (!bulk_operand(g, in, w, l, v->from.space, from, size, false, &s)) return NULL;
        emu_charge(g, size / 16);
        count_bulk(g, in, w, v, from, to, size);
        bool done = false;
        if (watched(g) && !v->multicast &&
            !tell_bulk(g, in, l, EMU_STORE, to, from, s, size, 16, &done))
            return NULL;
        if (v->multicast) {
            for (u32 r = 0, mask = (u32)emu_get(g, 2, v->mask, w, l);
                 watched(g) && r < g->cta->cluster_size; r++)
                if (mask >> r & 1 &&
                    !tell_bulk(g, in, l, EMU_STORE,
                               (r + 1) * MEM_SHARED_WINDOW + to % MEM_SHARED_WINDOW, from, s, size,
                               16, &done))
                    return NULL;
            if (to % 16)
                return emu_raise(g, in, EMU_MISALIGNED, w, l, to, size,
                                 "a bulk copy to 0x%llx: not a multiple of 16",
                                 (unsigned long long)to);
            if (!multicast(g, in, w, l, s, to, size)) return NULL;
            continue;
        }
        if (!bulk_operand(g, in, w, l, v->to.space, to, size, true, &d)) return NULL;
        if (size && !done) memmove(d, s, size);
        if (!tell_mbarrier(g, in, w, l, size)) return NULL;
    }
    return in + 1;
}

const struct emu_uop *emu_op_bulk_reduce(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    const bool global = v->to.space == PTX_SPACE_GLOBAL;
    if (!emu_notify_single_warp(g, in)) return NULL;
    EACH_LANE
    {
        const u32 size = (u32)emu_get(g, 4, v->size, w, l);
        const u64 to = lane_address(g, &v->to, w, l), from = lane_address(g, &v->from, w, l);
        u8 *d, *s;
        if (!bulk_operand(g, in, w, l, v->from.space, from, size, false, &s)) return NULL;
        emu_charge(g, size / 16);
        if (!bulk_operand(g, in, w, l, v->to.space, to, size, true, &d)) return NULL;
        bool done = false;
        if (watched(g) && !tell_bulk(g, in, l, EMU_RED, to, from, s, size, v->width, &done))
            return NULL;
        for (u32 k = 0; k < size && !done; k += v->width)
            atomic_reduce(g, in, global, to + k, d + k, v->op, v->type, s + k, NULL);
        if (!tell_mbarrier(g, in, w, l, size)) return NULL;
    }
    return in + 1;
}

/* ---- stores and reductions that an mbarrier hears of ------------------------------------------- */

static u8 *far_memory(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u32 size)
{
    const struct async_desc *v = in->ext;
    const u64 a = lane_address(g, &v->to, w, l);
    if (v->to.space == PTX_SPACE_GENERIC && emu_space_of(g, a) != PTX_SPACE_SHARED) {
        emu_raise(g, in, EMU_WRONG_SPACE, w, l, a, size, "0x%llx is not in shared memory",
                  (unsigned long long)a);
        return NULL;
    }
    return emu_lane_host(g, in, w, l, v->to.space, a, size, true);
}

/* Reports what the warp stores or adds; false: it sleeps. Shared memory is not for an order to hold. */
static bool tell_far(struct emu_group *g, const struct emu_uop *in, u8 kind)
{
    const struct async_desc *v = in->ext;
    if (!emu_notify_single_warp(g, in)) return false;
    if (!watched(g)) return true;
    u64 at[LANES] = {0};
    u8 data[LANES * 64];
    for (u32 left = g->exec[0]; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        at[l] = lane_address(g, &v->to, 0, l);
        for (u32 k = 0; k < v->count; k++)
            lane_take(g, v->value[k], v->width, 0, l, data + 64 * l + k * v->width);
    }
    enum emu_verdict verdict;
    return tell_access(g, in, kind, PTX_SPACE_SHARED_CLUSTER, v->width, v->count, g->exec[0], at,
                       data, &verdict);
}

const struct emu_uop *emu_op_st_async(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    const u32 size = v->width * v->count;
    if (!tell_far(g, in, EMU_STORE)) return NULL;
    EACH_LANE
    {
        u8 *d = far_memory(g, in, w, l, size);
        if (!d) return NULL;
        for (u32 k = 0; k < v->count; k++)
            lane_take(g, v->value[k], v->width, w, l, d + k * v->width);
        if (!tell_mbarrier(g, in, w, l, size)) return NULL;
    }
    return in + 1;
}

const struct emu_uop *emu_op_red_async(struct emu_group *g, const struct emu_uop *in)
{
    const struct async_desc *v = in->ext;
    if (!tell_far(g, in, EMU_RED)) return NULL;
    EACH_LANE
    {
        u8 b[16], *d = far_memory(g, in, w, l, v->width);
        if (!d) return NULL;
        lane_take(g, v->value[0], v->width, w, l, b);
        atomic_apply(v->op, v->type, d, b, NULL, NULL);
        if (!tell_mbarrier(g, in, w, l, v->width)) return NULL;
    }
    return in + 1;
}
