/* Memory accesses one lane at a time, in every state space and with every check: the slow path of loads and stores, and
 * the only path of rare instructions. fault_out_of_bounds() has the text for an access outside of its allocation;
 * emu/sched/fault.c writes the report around it. */
#include "emu/sched/control.h"

#include "emu/atomic.h"
#include "emu/measure/count.h"
#include "emu/ops/memops.h"
#include "emu/sched/combine.h"
#include "emu/sched/notify.h"
#include "emu/speculate/speculation.h"
#include "ptx/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

u32 emu_space_of(const struct emu_group *g, u64 address)
{
    (void)g;
    if (address >= MEM_GLOBAL) return PTX_SPACE_GLOBAL;
    if (address >= MEM_CODE) return PTX_SPACE_REG; /* code: nobody reads it */
    if (address >= MEM_PARAM) return PTX_SPACE_PARAM;
    if (address >= MEM_LOCAL) return PTX_SPACE_LOCAL;
    if (address >= MEM_SHARED) return PTX_SPACE_SHARED;
    return PTX_SPACE_GENERIC;
}

bool emu_find_bound(struct emu_group *g, const struct emu_uop *in, u64 address, bool write,
                    struct emu_bound *out)
{
    const struct mem_desc *v = in->ext;
    if (v->space != PTX_SPACE_GENERIC && v->space != PTX_SPACE_GLOBAL &&
        v->space != PTX_SPACE_CONST)
        return false;
    const struct mem_block *b = mem_find(g->worker->machine->mem, address, 1);
    if (!b || b->host_only || (write && (b->constant || b->read_only))) return false;
    const struct speculation *const s = g->worker->machine->speculation;
    if (s && s->allocation_found) s->allocation_found(g, in, b, write);
    if (g->worker->combine) combine_found(g->worker, in, b);
    *out = (struct emu_bound){b->address, b->address + b->size, b->host};
    return true;
}

static const char *space_name(u32 space)
{
    return space == PTX_SPACE_SHARED_CLUSTER ? "shared" : ptx_space_name((enum ptx_space)space);
}

/* What a lane's access comes to: a host address, or for .local the offset in the frame. */
struct reach {
    u8 *host;
    u32 space; /* where it turned out to be */
    u64 offset;
    bool may_go_on; /* the caller can go on without the access: --on-fault=continue */
    bool goes_on;   /* the access is wrong, which was reported, and the caller is to go on */
};

/* An access is wrong: a fault, or with --on-fault=continue a finding. false, for the caller to return. */
__attribute__((format(printf, 9, 10))) static bool
refuse_access(struct emu_group *g, const struct emu_uop *in, enum emu_fault_kind kind, u32 w,
              u32 lane, u64 address, u32 size, struct reach *r, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    r->goes_on = r->may_go_on && emu_goes_on(g, in, kind, w, lane, address, what);
    if (!r->goes_on) emu_raise(g, in, kind, w, lane, address, size, "%s", what);
    return false;
}

static bool fault_out_of_bounds(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                                u32 space, u64 address, u32 size, bool write, u64 limit,
                                struct reach *r)
{
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC || space == PTX_SPACE_CONST)
        return refuse_access(g, in, EMU_OUT_OF_BOUNDS, w, lane, address, size, r,
                             "%s of %u bytes at 0x%llx", write ? "write" : "read", size,
                             (unsigned long long)address);
    /* Offsets of 32 bits below 0 have wrapped. */
    const i64 offset = address >> 31 == 1 ? (i64)(i32)address : (i64)address;
    g->worker->faults_at_offset = true;
    refuse_access(g, in, EMU_OUT_OF_BOUNDS, w, lane, (u64)offset, size, r,
                  "%s of %u bytes at offset %lld of %llu bytes of .%s memory",
                  write ? "write" : "read", size, (long long)offset, (unsigned long long)limit,
                  space_name(space));
    g->worker->faults_at_offset = false;
    return false;
}

static bool reach_global(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                         u64 address, u32 size, bool write, struct reach *r)
{
    const struct emu_machine *m = g->worker->machine;
    const struct mem_block *b = mem_find(m->mem, address, size);
    if (!b)
        return fault_out_of_bounds(g, in, w, lane, PTX_SPACE_GLOBAL, address, size, write, 0, r);
    if (b->host_only)
        return refuse_access(
            g, in, EMU_OUT_OF_BOUNDS, w, lane, address, size, r,
            "%s of %u bytes at 0x%llx, memory of the host to which the device has no "
            "access",
            write ? "write" : "read", size, (unsigned long long)address);
    if (write && (b->constant || b->read_only)) {
        return refuse_access(g, in, EMU_READ_ONLY, w, lane, address, size, r, "write to %s memory",
                             b->constant ? "constant" : "read-only");
    }
    r->host = b->host + (address - b->address);
    if (m->speculation && m->speculation->allocation_found)
        m->speculation->allocation_found(g, in, b, write);
    if (g->worker->combine) combine_found(g->worker, in, b);
    return true;
}

static bool reach(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                  u64 address, u32 size, bool write, struct reach *r)
{
    const struct emu_machine *m = g->worker->machine;
    u32 align = size & -size;
    if (align > 16) align = 16;
    if (address & (align - 1)) {
        return refuse_access(g, in, EMU_MISALIGNED, w, lane, address, size, r,
                             "%s of %u bytes at 0x%llx, which is no multiple of %u",
                             write ? "write" : "read", size, (unsigned long long)address, align);
    }
    u64 offset = address;
    const bool own_cta = space == PTX_SPACE_SHARED; /* .shared::cta */
    if (space == PTX_SPACE_GENERIC) {
        space = emu_space_of(g, address);
        if (space == PTX_SPACE_LOCAL) offset -= MEM_LOCAL;
        if (space == PTX_SPACE_PARAM) offset -= MEM_PARAM;
        if (space == PTX_SPACE_SHARED) offset -= MEM_SHARED;
    } else if (space == PTX_SPACE_CONST) space = PTX_SPACE_GLOBAL;
    r->space = space;
    r->offset = offset;
    switch (space) {
    case PTX_SPACE_GLOBAL: return reach_global(g, in, w, lane, address, size, write, r);
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER: {
        struct emu_cta *c = g->cta;
        u64 window = offset / MEM_SHARED_WINDOW;
        if (window) { /* of a CTA of the cluster; window 0 is the own CTA's */
            u64 rank = window - 1;
            if (rank >= c->cluster_size)
                return fault_out_of_bounds(g, in, w, lane, space, address, size, write,
                                           c->shared_size, r);
            if (own_cta && rank != c->rank)
                return refuse_access(
                    g, in, EMU_OUT_OF_BOUNDS, w, lane, address, size, r,
                    "%s of %u bytes of the shared memory of CTA %llu of the cluster: .shared is that of the own "
                    "CTA, .shared::cluster that of all",
                    write ? "write" : "read", size, (unsigned long long)rank);
            offset %= MEM_SHARED_WINDOW;
            c = c->cluster[rank];
        }
        if (offset > c->shared_size || c->shared_size - offset < size)
            return fault_out_of_bounds(g, in, w, lane, PTX_SPACE_SHARED, offset, size, write,
                                       c->shared_size, r);
        r->host = c->shared + offset;
        return true;
    }
    case PTX_SPACE_LOCAL: {
        u64 limit = g->files.top_local + g->code->frame.local,
            dynamic = m->program->deepest.local + 16u;
        if (m->program->uses_alloca && offset >= dynamic && offset - dynamic < DYNAMIC_LOCAL)
            limit = dynamic + DYNAMIC_LOCAL;
        if (offset > limit || limit - offset < size)
            return fault_out_of_bounds(g, in, w, lane, space, offset, size, write, limit, r);
        r->host = g->files.bundle_local;
        return true;
    }
    case PTX_SPACE_PARAM:
        if (write) {
            return refuse_access(g, in, EMU_READ_ONLY, w, lane, address, size, r,
                                 "write to the kernel's parameters");
        }
        if (offset > m->params_size || m->params_size - offset < size)
            return fault_out_of_bounds(g, in, w, lane, space, offset, size, write, m->params_size,
                                       r);
        r->host = m->params + offset;
        return true;
    default:
        return fault_out_of_bounds(g, in, w, lane, PTX_SPACE_GENERIC, address, size, write, 0, r);
    }
}

u8 *emu_lane_host(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                  u64 address, u32 size, bool write)
{
    struct reach r = {0};
    if (!reach(g, in, w, lane, space, address, size, write, &r)) return NULL;
    if (r.space == PTX_SPACE_LOCAL) {
        emu_raise(g, in, EMU_WRONG_SPACE, w, lane, address, size,
                  "this instruction does not work on .local memory");
        return NULL;
    }
    return r.host;
}

/* Bytes of a lane's .local memory: word i of all lanes side by side. */
static u8 *local_byte(const struct emu_group *g, u32 w, u32 lane, u64 offset)
{
    return g->files.bundle_local + ((offset / 4) * ROW + w * LANES + lane) * 4 + offset % 4;
}

static bool lane_read(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                      u64 address, u32 size, void *to, struct reach *r)
{
    *r = (struct reach){.may_go_on = true};
    if (!reach(g, in, w, lane, space, address, size, false, r)) {
        if (r->goes_on) memset(to, 0, size);
        return r->goes_on;
    }
    if (r->host && r->space != PTX_SPACE_LOCAL) memcpy(to, r->host, size);
    else
        for (u32 i = 0; i < size; i++) ((u8 *)to)[i] = *local_byte(g, w, lane, r->offset + i);
    return true;
}

bool emu_lane_read(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                   u64 address, u32 size, void *to)
{
    struct reach r;
    return lane_read(g, in, w, lane, space, address, size, to, &r);
}

bool emu_lane_write(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                    u64 address, u32 size, const void *from)
{
    struct reach r = {.may_go_on = true};
    if (!reach(g, in, w, lane, space, address, size, true, &r)) return r.goes_on;
    if (r.host && r.space != PTX_SPACE_LOCAL) memcpy(r.host, from, size);
    else
        for (u32 i = 0; i < size; i++)
            *local_byte(g, w, lane, r.offset + i) = ((const u8 *)from)[i];
    return true;
}

/* ---- watched loads and stores: with an order or observers ------------------------------------------- */

static struct lane_address address_of(const struct emu_uop *in)
{
    return (struct lane_address){((const struct mem_desc *)in->ext)->space, in->x, in->a, in->imm};
}

static void describe(const struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                     u32 w, const u64 *at, u8 kind)
{
    const struct mem_desc *v = in->ext;
    *a = (struct emu_access){.kind = kind,
                             .space = v->space,
                             .flags = v->flags,
                             .scope = v->scope,
                             .type = v->type,
                             .width = v->width,
                             .count = v->count,
                             .lanes = g->exec[w],
                             .address = at,
                             .pc = in->pc};
}

/* A step of EMU_STEP_EVENT, if the order hears of it, whether or not observers are there, too. */
static bool turn(struct emu_group *g, const struct emu_uop *in, unsigned want)
{
    const struct emu_machine *m = g->worker->machine;
    const struct mem_desc *v = in->ext;
    if (m->steps.step != EMU_STEP_EVENT) return true;
    const bool strong = v->flags & EMU_RELAXED,
               any = v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_GENERIC,
               shared = v->space == PTX_SPACE_SHARED || v->space == PTX_SPACE_SHARED_CLUSTER;
    const bool weak_is_asked = (any && m->steps.wants & want) ||
                               (shared && m->steps.wants & EMU_WANT_SHARED);
    if (strong ? !any && !shared : !weak_is_asked) return true;
    return emu_notify_step(g, in);
}

/* The allocation of the warp's first address, for found() from now on. false: there is none to be found. */
static bool find_bound(struct emu_group *g, const struct emu_uop *in, u32 w, u64 first, bool write)
{
    const struct mem_desc *v = in->ext;
    if (!g->worker->machine->steps.blind || !g->exec[w]) return false;
    return (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST ||
            (v->space == PTX_SPACE_GENERIC && first >= MEM_GLOBAL)) &&
           emu_find_bound(g, in, first, write, &g->worker->bounds[in->site]);
}

static void find_for_next_time(struct emu_group *g, const struct emu_uop *in, const u64 *at,
                               bool write)
{
    if (g->exec[0]) find_bound(g, in, 0, at[__builtin_ctz(g->exec[0])], write);
}

/* Whether the whole warp's access surely does not fault, is in one space, and no observer looks at data: then orders
 * and observers are notified once, and the unobserved code carries it out. */
static bool found(struct emu_group *g, const struct emu_uop *in, u8 kind, u32 w,
                  struct emu_lanes *lanes, struct emu_access *a)
{
    const struct mem_desc *v = in->ext;
    const struct lane_address from = address_of(in);
    const struct emu_machine *m = g->worker->machine;
    if (!m->steps.blind || !g->exec[w]) return false;
    const u32 space = m->counting->find_lanes(g, &from, w, (u32)v->width * v->count,
                                              &g->worker->bounds[in->site], lanes);
    if (space == PTX_SPACE_GENERIC) return false;
    describe(g, in, a, w, lanes->at, kind);
    a->contiguous = lanes->run;
    a->common_bits = lanes->alike;
    a->rows = lanes->rows;
    a->low16 = lanes->low;
    a->space = (u8)space;
    return true;
}

/* All of a group's warps, where observers alone take part; else it is split. */
static const struct emu_uop *tell_group(struct emu_group *g, const struct emu_uop *in, u8 kind)
{
    const struct mem_desc *v = in->ext;
    struct emu_lanes lanes[GROUP];
    struct emu_access a[GROUP];
    for (u32 w = 0; w < g->warps; w++)
        if (g->exec[w] && !found(g, in, kind, w, &lanes[w], &a[w]) &&
            !(find_bound(g, in, w, lanes[w].at[__builtin_ctz(g->exec[w])], kind == EMU_STORE) &&
              found(g, in, kind, w, &lanes[w], &a[w]))) {
            emu_notify_single_warp(g, in);
            return NULL;
        }
    for (u32 w = 0; w < g->warps; w++)
        if (g->exec[w]) emu_notify_observers(g, w, &a[w]);
    return v->plain(g, in);
}

/* Values of lanes, one every `stride` bytes, into the rows of a load. */
static void give(struct emu_group *g, const struct mem_desc *v, u32 lanes, const u8 *data,
                 u32 stride)
{
    if (lanes == ~0u && v->count == 1 && stride == v->row_bytes && v->width == stride) {
        memcpy(emu_row(g, stride, v->rows[0]), data, (size_t)LANES * stride);
        return;
    }
    for (u32 m = lanes; m; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        for (u32 k = 0; k < v->count; k++) {
            u64 x = 0;
            memcpy(&x, data + stride * l + k * v->width, v->width);
            if (v->width == 1 && v->sign) x = (u64)(i64)(i8)x;
            emu_put(g, v->row_bytes, v->rows[k], 0, l, x);
        }
    }
}

/* What the lanes store, one every `*stride` bytes: the row itself, or put together in `scratch`. */
static const u8 *take(const struct emu_group *g, const struct mem_desc *v, u32 lanes, u8 *scratch,
                      u32 *stride)
{
    *stride = v->row_bytes;
    if (v->count == 1) return emu_row(g, v->row_bytes, v->rows[0]);
    *stride = (u32)v->width * v->count;
    for (u32 k = 0; k < v->count; k++)
        for (u32 m = lanes; m; m &= m - 1) {
            const u32 l = (u32)__builtin_ctz(m);
            const u64 x = emu_get(g, v->row_bytes, v->rows[k], 0, l);
            memcpy(scratch + *stride * l + k * v->width, &x, v->width);
        }
    return scratch;
}

/* ---- late loads -------------------------------------------------------------------------------------- */

/* A load of these addresses is pending from now on; NULL: none of its lanes is. */
static void set_pending(struct emu_group *g, const struct mem_desc *v, const u64 *at)
{
    u64 *const row = (u64 *)(void *)emu_row(g, 8, v->late_row);
    for (u32 m = g->exec[0]; m; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        row[l] = at ? at[l] + 1 : 0;
    }
}

/* The lanes of a late load that is pending. */
static u32 pending_lanes(const struct emu_group *g, const struct emu_uop *late)
{
    const u64 *const row = (const u64 *)(const void *)emu_row(g, 8, late->a);
    u32 lanes = 0;
    for (u32 l = 0; l < LANES; l++) lanes |= (u32)(row[l] != 0) << l;
    return lanes & g->exec[0];
}

static const struct emu_uop *load_lanes(struct emu_group *g, const struct emu_uop *in);

/* Carries it out. false: a fault. */
static bool load_pending(struct emu_group *g, const struct emu_uop *late, u32 lanes)
{
    const u32 all = g->exec[0];
    g->exec[0] = lanes;
    const bool went_on = load_lanes(g, late);
    if (went_on) set_pending(g, late->ext, NULL);
    g->exec[0] = all;
    return went_on;
}

const struct emu_uop *emu_op_ld_late(struct emu_group *g, const struct emu_uop *in)
{
    const u32 lanes = pending_lanes(g, in);
    if (!lanes) return in + 1;
    return emu_notify_step(g, in) && load_pending(g, in, lanes) ? in + 1 : NULL;
}

/* One address for one byte of shared memory, whichever way it is written. The launch has no clusters. */
static u64 canonical(const struct emu_group *g, u32 space, u64 address)
{
    if (space == PTX_SPACE_GENERIC) space = emu_space_of(g, address);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_SHARED_CLUSTER) return address;
    return MEM_SHARED + (address - (address < MEM_SHARED ? 0 : MEM_SHARED)) % MEM_SHARED_WINDOW;
}

/* Whether some lane of the access has a byte of some lane of the pending load. */
static bool overlaps(const struct emu_group *g, const struct emu_uop *in,
                     const struct emu_uop *late, u32 pending)
{
    const struct mem_desc *const v = in->ext, *const w = late->ext;
    const struct lane_address own = address_of(in), other = address_of(late);
    const u32 size = (u32)v->width * v->count, late_size = (u32)w->width * w->count;
    u64 at[LANES];
    for (u32 m = pending; m; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        at[l] = canonical(g, w->space, lane_address(g, &other, 0, l));
    }
    for (u32 m = g->exec[0]; m; m &= m - 1) {
        const u64 a = canonical(g, v->space, lane_address(g, &own, 0, (u32)__builtin_ctz(m)));
        for (u32 n = pending; n; n &= n - 1) {
            const u64 b = at[__builtin_ctz(n)];
            if (a < b + late_size && b < a + size) return true;
        }
    }
    return false;
}

/* Before an access: carries out the pending loads that have bytes of it. false: a fault. */
static bool load_overlapped(struct emu_group *g, const struct emu_uop *in)
{
    const struct mem_desc *const v = in->ext;
    for (u32 i = 0; i < v->pending_count; i++) {
        const u32 lanes = pending_lanes(g, v->pending[i]);
        if (lanes && overlaps(g, in, v->pending[i], lanes) &&
            !load_pending(g, v->pending[i], lanes))
            return false;
    }
    return true;
}

/* The space of all lanes; GENERIC: of several. */
static u32 common_space(const struct emu_group *g, u32 space, const u64 *at)
{
    if (space != PTX_SPACE_GENERIC || !g->exec[0]) return space;
    const u32 first = emu_space_of(g, at[__builtin_ctz(g->exec[0])]);
    for (u32 m = g->exec[0]; m; m &= m - 1)
        if (emu_space_of(g, at[__builtin_ctz(m)]) != first) return space;
    return first;
}

/* Reports a load that may be late. false: the warp stops; *verdict says what the order answered. */
static bool tell_of_late(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                         u32 space, enum emu_verdict *verdict)
{
    a->space = (u8)space;
    a->may_be_late = true;
    if (!emu_notify_access(g, in, a, verdict)) return false;
    if (*verdict != EMU_LATER) return true;
    const struct mem_desc *const v = in->ext;
    set_pending(g, v, a->address);
    if (g->turn.burst > v->late_steps)
        g->turn.burst = v->late_steps; /* others go on before it is carried out */
    return true;
}

/* The access of the warp's other lanes, after that of these was reported (--on-fault=continue): orders and observers
 * never see an address where there is no memory. */
static const struct emu_uop *without(struct emu_group *g, const struct emu_uop *in, u32 left_out,
                                     const struct emu_uop *(*access)(struct emu_group *,
                                                                     const struct emu_uop *))
{
    const u32 all = g->exec[0];
    const struct emu_uop *next = in + 1;
    g->exec[0] = all & ~left_out;
    if (g->exec[0]) next = access(g, in);
    g->exec[0] = all;
    return next;
}

/* Lane by lane, with what must be raised raised first. */
static const struct emu_uop *load_lanes(struct emu_group *g, const struct emu_uop *in)
{
    const struct mem_desc *v = in->ext;
    const struct lane_address from = address_of(in);
    u64 at[LANES] = {0};
    u8 data[LANES * 64];
    u32 left_out = 0;
    const u32 size = (u32)v->width * v->count;
    for (u32 m = g->exec[0]; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        struct reach r;
        at[l] = lane_address(g, &from, 0, l);
        if (!lane_read(g, in, 0, l, v->space, at[l], size, data + size * l, &r)) return NULL;
        left_out |= (u32)r.goes_on << l;
    }
    if (left_out) {
        if (!without(g, in, left_out, load_lanes)) return NULL;
        give(g, v, left_out, data, size);
        return in + 1;
    }
    find_for_next_time(g, in, at, false);
    struct emu_access a;
    describe(g, in, &a, 0, at, EMU_LOAD);
    a.result = data;
    a.stride = size;
    u32 done, space;
    const bool counts = g->worker->sites && in->id != UOP_ld_late; /* counted when it became late */
    if (in->id != UOP_ld_late && v->may_be_late &&
        (space = common_space(g, v->space, at)) != PTX_SPACE_GENERIC) {
        enum emu_verdict verdict;
        if (!tell_of_late(g, in, &a, space, &verdict)) return NULL;
        done = verdict == EMU_DONE ? a.lanes : 0;
        if (counts) emu_count_lanes(g, in, 0, at, g->exec[0], size, v->space, in->y);
        if (verdict == EMU_LATER) return in + 1;
    } else {
        if (!emu_notify_spaces(g, in, &a, &done)) return NULL;
        if (counts) emu_count_lanes(g, in, 0, at, g->exec[0], size, v->space, in->y);
    }
    /* The order may have let a store go when it was asked: what was read before that is old. */
    const u32 again = g->worker->machine->launch->order ? g->exec[0] & ~done : 0;
    for (u32 m = again; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (!emu_lane_read(g, in, 0, l, v->space, at[l], size, data + size * l)) return NULL;
    }
    give(g, v, g->exec[0], data, size);
    return in + 1;
}

const struct emu_uop *emu_op_ld_watched(struct emu_group *g, const struct emu_uop *in)
{
    const struct mem_desc *v = in->ext;
    struct emu_lanes lanes;
    u8 data[LANES * 64];
    struct emu_access a;
    enum emu_verdict verdict;
    if (g->turn.notified) {
        g->turn.notified = false;
        return v->plain(g, in);
    }
    if (!turn(g, in, EMU_WANT_LOADS)) return NULL;
    if (g->turn.asked) return emu_notify_retry(g, in, EMU_LOAD, v->flags, v->plain);
    if (g->warps > 1) return tell_group(g, in, EMU_LOAD);
    if (v->may_be_late) set_pending(g, v, NULL);
    if (v->pending_count && !load_overlapped(g, in)) return NULL;
    if (!found(g, in, EMU_LOAD, 0, &lanes, &a)) return load_lanes(g, in);
    a.result = data;
    a.stride = (u32)v->width * v->count;
    if (!v->may_be_late) {
        if (!emu_notify_access(g, in, &a, &verdict)) return NULL;
    } else if (!tell_of_late(g, in, &a, a.space, &verdict)) return NULL;
    if (verdict == EMU_PROCEED) return v->plain(g, in);
    if (g->worker->sites) emu_count_lanes(g, in, 0, lanes.at, a.lanes, a.stride, v->space, in->y);
    if (verdict == EMU_LATER) return in + 1;
    give(g, v, a.lanes, data, a.stride);
    return in + 1;
}

static const struct emu_uop *store_lanes(struct emu_group *g, const struct emu_uop *in)
{
    const struct mem_desc *v = in->ext;
    const struct lane_address to = address_of(in);
    u64 at[LANES] = {0};
    u8 scratch[LANES * 64];
    u32 left_out = 0;
    const u32 size = (u32)v->width * v->count;
    for (u32 m = g->exec[0]; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        struct reach r = {.may_go_on = true};
        at[l] = lane_address(g, &to, 0, l);
        if (reach(g, in, 0, l, v->space, at[l], size, true, &r)) continue;
        if (!r.goes_on) return NULL;
        left_out |= 1u << l;
    }
    if (left_out) return without(g, in, left_out, store_lanes);
    find_for_next_time(g, in, at, true);
    struct emu_access a;
    describe(g, in, &a, 0, at, EMU_STORE);
    a.data = take(g, v, g->exec[0], scratch, &a.stride);
    u32 done;
    if (!emu_notify_spaces(g, in, &a, &done)) return NULL;
    if (g->worker->sites) emu_count_lanes(g, in, 0, at, g->exec[0], size, v->space, in->y);
    for (u32 m = g->exec[0] & ~done; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (!emu_lane_write(g, in, 0, l, v->space, at[l], size, a.data + a.stride * l)) return NULL;
    }
    return in + 1;
}

const struct emu_uop *emu_op_st_watched(struct emu_group *g, const struct emu_uop *in)
{
    const struct mem_desc *v = in->ext;
    struct emu_lanes lanes;
    u8 scratch[LANES * 64];
    struct emu_access a;
    enum emu_verdict verdict;
    if (!turn(g, in, EMU_WANT_STORES)) return NULL;
    if (g->turn.asked) return emu_notify_retry(g, in, EMU_STORE, v->flags, v->plain);
    if (g->warps > 1) return tell_group(g, in, EMU_STORE);
    if (v->pending_count && !load_overlapped(g, in)) return NULL;
    if (!found(g, in, EMU_STORE, 0, &lanes, &a)) return store_lanes(g, in);
    if (g->worker->machine->launch->order) a.data = take(g, v, a.lanes, scratch, &a.stride);
    if (!emu_notify_access(g, in, &a, &verdict)) return NULL;
    if (verdict == EMU_PROCEED) return v->plain(g, in);
    if (g->worker->sites)
        emu_count_lanes(g, in, 0, lanes.at, a.lanes, (u32)v->width * v->count, v->space, in->y);
    return in + 1;
}

/* ---- addresses of shared memory ---------------------------------------------------------------------- */

/* Whether a generic address is of a space that has no range of addresses of its own: .global (0), .const (1), .shared of the own
 * CTA (2). */
static bool is_in_space(const struct emu_group *g, u32 asked, u64 a)
{
    if (asked == 2) { /* by the window of the own CTA, or of its rank in the cluster */
        const u64 window = (a - MEM_SHARED) / MEM_SHARED_WINDOW;
        return a >= MEM_SHARED && a < MEM_LOCAL && (!window || window - 1 == g->cta->rank);
    }
    const struct mem_block *b = mem_find(g->worker->machine->mem, a, 1);
    const bool constant = b && b->constant;
    if (asked == 1) return constant;
    /* The window of parameters lies within that of .global; those of the others do not. */
    return (a >= MEM_GLOBAL && !constant) || (a >= MEM_PARAM && a < MEM_CODE);
}

const struct emu_uop *emu_op_space(struct emu_group *g, const struct emu_uop *in)
{
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            u64 a = emu_get(g, in->y, in->a, w, l);
            emu_put(g, 4, in->d, w, l, is_in_space(g, in->x, a) ? ~(u64)0 : 0);
        }
    return in + 1;
}

/* x: 0 .shared address -> generic, 1 back, 2 the same place in CTA b of the cluster, 3 whose it is. */
const struct emu_uop *emu_op_window(struct emu_group *g, const struct emu_uop *in)
{
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            u64 a = emu_get(g, in->y, in->a, w, l), v;
            u64 inside = (in->z ? a - MEM_SHARED : a);
            switch (in->x) {
            case 0: v = MEM_SHARED + a; break;
            case 1: v = a - MEM_SHARED; break;
            case 2: { /* of a rank that no cluster has: a window of nobody */
                u64 rank = emu_get(g, 4, in->b, w, l);
                v = inside % MEM_SHARED_WINDOW + ((rank < 16 ? rank : 16) + 1) * MEM_SHARED_WINDOW;
                if (in->z) v += MEM_SHARED;
                break;
            }
            default: v = inside < MEM_SHARED_WINDOW ? g->cta->rank : inside / MEM_SHARED_WINDOW - 1;
            }
            emu_put(g, in->x == 3 ? 4 : in->y, in->d, w, l, v);
        }
    return in + 1;
}

/* ---- alloca ------------------------------------------------------------------------------------------- */

/* The word behind the frames holds how many bytes of the dynamic part a thread has taken. They are given
 * back by stackrestore, and when the function returns that took them. */
static u32 *taken_by(const struct emu_group *g, u32 w, u32 lane)
{
    return (u32 *)(void *)local_byte(g, w, lane, g->worker->machine->program->deepest.local);
}

void emu_stack_enter(struct emu_group *g)
{
    const u32 word = g->files.top_local + g->code->stack_word;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            memcpy(local_byte(g, w, l, word), taken_by(g, w, l), sizeof(u32));
        }
}

void emu_stack_leave(struct emu_group *g, const u32 mask[GROUP])
{
    const u32 word = g->files.top_local + g->code->stack_word;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = mask[w]; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            memcpy(taken_by(g, w, l), local_byte(g, w, l, word), sizeof(u32));
        }
}

const struct emu_uop *emu_op_alloca(struct emu_group *g, const struct emu_uop *in)
{
    const u64 base = g->worker->machine->program->deepest.local + 16u;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            u32 *taken = taken_by(g, w, l);
            u64 size = in->x ? 0 : emu_get(g, in->y, in->a, w, l),
                at = (base + *taken + in->e - 1) / in->e * in->e - base;
            if (in->x == 0) {
                if (size > DYNAMIC_LOCAL || at + size > DYNAMIC_LOCAL)
                    return emu_raise(g, in, EMU_STACK_OVERFLOW, w, l, 0, 0,
                                     "alloca of %llu bytes: a thread has %d bytes for all of them",
                                     (unsigned long long)size, DYNAMIC_LOCAL);
                *taken = (u32)(at + size);
                if (g->cta->used_dynamic < *taken) g->cta->used_dynamic = *taken;
                emu_put(g, in->y, in->d, w, l, base + at);
            } else if (in->x == 1) {
                emu_put(g, in->y, in->d, w, l, *taken);
            } else {
                u64 old = emu_get(g, in->y, in->a, w, l);
                if (old > *taken)
                    return emu_raise(g, in, EMU_STACK_OVERFLOW, w, l, 0, 0,
                                     "stackrestore of what stacksave did not give");
                *taken = (u32)old;
            }
        }
    return in + 1;
}
