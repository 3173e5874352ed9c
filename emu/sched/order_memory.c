/* The functions of emu/order.h and emu/order_fast.h by which an order accesses global memory: emu_machine_store, _load,
 * _reduce...
 *
 * Drained accesses are reported to observers and to a wrapping order before memory changes; a livelock proof is
 * informed if memory changes. During a replay (emu/speculate/deferred.c) the machine has no struct ordered. */
#define _GNU_SOURCE
#include "emu/sched/ordered.h"

#include "emu/atomic.h"
#include "emu/speculate/speculation.h"

#include <assert.h>

static u8 *host_bytes(struct emu_machine *m, u64 address, u64 size)
{
    if (m->replay) return m->speculation->host_bytes(m, address, size);
    if (!m->ordered) { /* a native launch that is watched */
        const struct mem_block *b = mem_find(m->mem, address, size);
        return b ? b->host + (address - b->address) : NULL;
    }
    struct emu_bound *last = &m->ordered->last_bound;
    const u64 releases = mem_releases(m->mem);
    if (m->ordered->releases != releases || address < last->low || address > last->high ||
        last->high - address < size) {
        const struct mem_block *b = mem_find(m->mem, address, size);
        if (!b) return NULL;
        *last = (struct emu_bound){b->address, b->address + b->size, b->host};
        m->ordered->releases = releases;
    }
    return last->host + (address - last->low);
}

static void report_drained(const struct emu_machine *m, const struct emu_drained *s)
{
    const struct emu_launch *l = m->launch;
    if (l->order->wrapper) l->order->wrapper->drained(l->order->self, s);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->drained) l->observers[i]->drained(l->observers[i]->self, s);
}

void emu_machine_store(struct emu_machine *m, struct emu_issuer by, uint64_t address,
                       const void *data, uint32_t size)
{
    u8 *p = host_bytes(m, address, size);
    if (!p) return;
    struct ordered *o = m->ordered;
    if (o->drains_observed)
        report_drained(
            m,
            &(struct emu_drained){
                .by = by, .address = address, .size = size, .data = data, .now = m->steps.asked});
    if (o->h->livelock && memcmp(p, data, size) != 0) o->livelock.changed = true;
    memcpy(p, data, size);
}

bool emu_machine_load(struct emu_machine *m, uint64_t address, void *data, uint64_t size)
{
    const u8 *p = host_bytes(m, address, size);
    if (p) memcpy(data, p, size);
    else memset(data, 0, size);
    return p != NULL;
}

void emu_machine_load_shared(struct emu_machine *m, const struct emu_warp *who, uint64_t address,
                             void *data, uint64_t size)
{
    const struct slot *p = m->ordered->sm_slots[who->slot].slot;
    const u64 at = address < MEM_SHARED ? address : address - MEM_SHARED;
    u64 n = p && at < p->cta.shared_size ? p->cta.shared_size - at : 0;
    if (n > size) n = size;
    if (n) memcpy(data, p->cta.shared + at, n);
    memset((u8 *)data + n, 0, size - n);
}

void emu_machine_fetch(struct emu_machine *m, const struct emu_access *a)
{
    const u32 size = (u32)a->width * a->count;
    const u8 *const base = mem_is_plain(m->mem) ? mem_base(m->mem) : NULL;
    if (a->stride == size && a->contiguous) {
        memcpy(a->result, mem_bytes(m->mem, a->address[0]), (size_t)LANES * size);
        return;
    }
    for (u32 left = a->lanes; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        u8 *to = a->result + a->stride * l;
        const u8 *from = base ? base + (a->address[l] - MEM_GLOBAL)
                              : mem_bytes(m->mem, a->address[l]);
        if (size == 4) memcpy(to, from, 4);
        else memcpy(to, from, size);
    }
}

void emu_machine_lane_pointers(struct emu_machine *m, const struct emu_access *a,
                               uint8_t *at[LANES])
{
    u8 *const base = mem_is_plain(m->mem) ? mem_base(m->mem) : NULL;
    u32 n = 0;
    for (u32 left = a->contiguous ? 1 : a->lanes; left; left &= left - 1) {
        const u64 address = a->address[__builtin_ctz(left)];
        at[n++] = base ? base + (address - MEM_GLOBAL) : mem_bytes(m->mem, address);
    }
}

bool emu_machine_allocation(struct emu_machine *m, uint64_t address, uint64_t size,
                            struct emu_host_range *out)
{
    const struct mem_block *b = mem_find(m->mem, address, size);
    if (b) *out = (struct emu_host_range){b->address, b->size, b->host};
    return b;
}

bool emu_machine_is_deferred(const struct emu_machine *m)
{
    return m->replay;
}

void emu_machine_reduce(struct emu_machine *m, struct emu_issuer by, uint64_t address, uint8_t op,
                        uint8_t type, const void *operand, void *old)
{
    const u8 *b = operand;
    const bool cas = op == ATOMIC_CAS;
    const u32 size = ptx_types[type].bits / 8u;
    u8 *p = host_bytes(m, address, size);
    if (!p) return;
    if (m->ordered && m->ordered->drains_observed)
        report_drained(m, &(struct emu_drained){.by = by,
                                                .address = address,
                                                .size = size,
                                                .reduces = true,
                                                .op = op,
                                                .type = type,
                                                .data = operand,
                                                .now = m->steps.asked});
    struct livelock_proof *const looked_at = livelock_proof_of(m);
    u8 was[16];
    if (looked_at) memcpy(was, p, size);
    atomic_apply(op, type, p, cas ? b + 32 : b, cas ? b : NULL, old);
    if (looked_at && memcmp(was, p, size) != 0) looked_at->changed = true;
}

/* Some that are of one kind. */
struct alike {
    u8 op, type;
    u32 count;
    void *memory[LANES];
    const void *operand[LANES];
};

static void carry_out(struct alike *k)
{
    if (k->count) atomic_function_each(k->op, k->type)(k->memory, k->operand, k->count);
    k->count = 0;
}

static void add(struct emu_machine *m, struct alike *k, u64 address, const void *operand, u32 size)
{
    u8 *const p = host_bytes(m, address, size);
    if (!p) return;
    if (k->count == LANES) carry_out(k);
    __builtin_prefetch(p, 1);
    k->memory[k->count] = p;
    k->operand[k->count++] = operand;
}

void emu_machine_reduce_all(struct emu_machine *m, const struct emu_reduction *list, size_t count)
{
    struct alike some = {0};
    assert(!m->ordered || !m->ordered->drains_observed);
    for (size_t i = 0; i < count; i++) {
        const struct emu_reduction *r = &list[i];
        const u32 size = ptx_types[r->type].bits / 8u;
        if (livelock_proof_of(m)) {
            emu_machine_reduce(m, (struct emu_issuer){0}, r->address, r->op, r->type, r->operand,
                               NULL);
            continue;
        }
        if (some.op != r->op || some.type != r->type || r->op == ATOMIC_CAS) carry_out(&some);
        some.op = r->op;
        some.type = r->type;
        if (r->op != ATOMIC_CAS) {
            add(m, &some, r->address, r->operand, size);
            continue;
        }
        const u8 *const b = r->operand;
        u8 *const p = host_bytes(m, r->address, size);
        if (p) atomic_function(r->op, r->type)(p, b + 32, b, NULL);
    }
    carry_out(&some);
}

void emu_machine_reduce_each(struct emu_machine *m, uint8_t op, uint8_t type,
                             const uint64_t *address, const void *operand, size_t stride,
                             size_t count)
{
    const u32 size = ptx_types[type].bits / 8u;
    struct alike some = {.op = op, .type = type};
    assert(!m->ordered || !m->ordered->drains_observed);
    for (size_t i = 0; i < count; i++) {
        const u64 *const a = (const u64 *)(const void *)((const u8 *)address + stride * i);
        const u8 *const b = (const u8 *)operand + stride * i;
        if (livelock_proof_of(m))
            emu_machine_reduce(m, (struct emu_issuer){0}, *a, op, type, b, NULL);
        else add(m, &some, *a, b, size);
    }
    carry_out(&some);
}

void emu_machine_reduce_lanes(struct emu_machine *m, struct emu_issuer by, const uint64_t *address,
                              uint32_t lanes, uint8_t op, uint8_t type, const uint8_t *operands,
                              uint8_t *old, uint32_t stride)
{
    const bool cas = op == ATOMIC_CAS,
               watched = m->ordered->drains_observed || m->ordered->h->livelock;
    const u32 size = ptx_types[type].bits / 8u;
    atomic_fn *const apply = atomic_function(op, type);
    for (u32 i = 0; lanes; i++, lanes &= lanes - 1) {
        const u8 *b = operands + (size_t)stride * i;
        u8 *const was = old + (size_t)stride * i;
        if (watched) {
            by.lane = (uint8_t)(1 + __builtin_ctz(lanes));
            emu_machine_reduce(m, by, address[i], op, type, b, was);
            continue;
        }
        u8 *p = host_bytes(m, address[i], size);
        if (p) apply(p, cas ? b + 32 : b, cas ? b : NULL, was);
    }
}
