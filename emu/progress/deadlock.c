/* Proof of a deadlock.
 *
 * A kernel that spins for ever repeats its state: each group that can run executes a loop that leaves its registers and
 * memory unchanged (an atomic may execute if it leaves memory unchanged), and all other groups wait. Then no state will
 * ever change.
 *
 * A group that reads a clock never repeats its state: CUDA's own waits (cuda::barrier, cuda::atomic, cuda::pipeline)
 * read the clock to pause. If clocks have prevented the proof for long, it is attempted with stopped clocks. A group
 * that repeats its state then waits for a point in time or for ever. Since no other group changes anything, the clocks
 * may be advanced, by larger and larger steps. If no step lets any group proceed, the launch is deadlocked. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "emu/atomic.h"
#include "emu/order.h"
#include "emu/sched/control.h"
#include "ptx/ptx.h"

#include <string.h>

enum {
    ROUND = 4096, /* blocks that a loop may have */
    MOST_TIME_OUTS = 1 << 20,
    LONG = 1 << 25,  /* warp instructions */
    FIRST_LEAP = 20, /* 2^20 cycles, */
    LAST_LEAP = 42,  /* 2^42 */
};

static u64 mix(u64 h, const void *data, size_t n)
{
    const u8 *p = data;
    for (; n >= 8; n -= 8, p += 8) {
        u64 x;
        memcpy(&x, p, 8);
        h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* Both halves of a product: 16 bytes in one multiplication (wyhash: Wang Yi). */
static inline u64 mix_pair(u64 h, const u8 *from)
{
    u64 x[2];
    memcpy(x, from, sizeof x);
    const unsigned __int128 p = (unsigned __int128)(h ^ x[0]) *
                                (x[1] ^ UINT64_C(0xe7037ed1a0b428db));
    return (u64)p ^ (u64)(p >> 64);
}

/* A warp's lanes of a row, of 64 bytes or more: in four hashes, as each multiplication waits for that before it. */
static inline u64 mix_row(u64 h, const u8 *row, size_t n)
{
    enum { HASHES = 4 };
    u64 part[HASHES] = {h, h + UINT64_C(0x9e3779b97f4a7c15), h + UINT64_C(0x3c6ef372fe94f82a),
                        h + UINT64_C(0xdaa66d2c7ddf743f)};
    for (; n; n -= HASHES * 16, row += HASHES * 16)
        for (u32 k = 0; k < HASHES; k++) part[k] = mix_pair(part[k], row + k * 16);
    return mix(h, part, sizeof part);
}

u64 deadlock_state(const struct emu_group *g)
{
    u64 h = mix(g->depth, g->exec, sizeof g->exec);
    for (u32 i = 0; i < g->depth; i++)
        h = mix(h ^ (u64)(uintptr_t)g->stack[i].pc, g->stack[i].mask, sizeof g->stack[i].mask);
    const struct emu_frame *f = &g->code->frame;
    for (u32 w = 0; w < g->warps; w++) {
        for (u32 r = 0; r < g->files.top64 + f->r64; r += ROW * 8)
            h = mix_row(h, g->files.bundle64 + r + w * LANES * 8, LANES * 8);
        for (u32 r = 0; r < g->files.top32 + f->r32; r += ROW * 4)
            h = mix_row(h, g->files.bundle32 + r + w * LANES * 4, LANES * 4);
        for (u32 r = 0; r < g->files.top16 + f->r16; r += ROW * 2)
            h = mix_row(h, g->files.bundle16 + r + w * LANES * 2, LANES * 2);
    }
    return h;
}

u64 deadlock_glance(const struct emu_group *g)
{
    const struct emu_frame *f = &g->code->frame;
    u64 h = g->depth;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        const u32 lane = w * LANES + (u32)__builtin_ctz(g->exec[w]);
        for (u32 r = 0; r < g->files.top64 + f->r64; r += ROW * 8)
            h = mix(h, g->files.bundle64 + r + lane * 8, 8);
        for (u32 r = 0; r < g->files.top32 + f->r32; r += ROW * 4) {
            u32 x;
            memcpy(&x, g->files.bundle32 + r + lane * 4, 4);
            h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        }
    }
    return h;
}

/* Whether the block stores something, or does what cannot be taken back. */
static bool block_changes(const struct emu_program *p, const struct emu_uop *block)
{
    if (!block->imm) return false; /* a meeting point */
    const struct emu_block_mix *mix_of = &p->blocks[block->site];
    for (u32 i = 0; i < mix_of->count; i++) {
        const struct ptx_op *op = p->places[mix_of->first_pc + i].inst->op;
        if (!op) return true;
        u32 effects = op->form->effects;
        if (effects & (PTX_WRITES | PTX_BARRIER)) return true;
        if (effects & PTX_ATOMIC && strncmp(op->form->name, "atom", 4) != 0) return true;
        if (ptx_op_form(op) == PTX_F_call) return true;
    }
    return false;
}

/* ---- what atomics do -------------------------------------------------------------------------------- */

/* NULL: somewhere else than in global memory or the CTA's own shared memory. */
static const u8 *bytes_at(const struct emu_group *g, u32 space, u64 address, u32 size)
{
    const struct mem *mem = g->worker->machine->mem;
    if (space == PTX_SPACE_GENERIC) {
        space = emu_space_of(g, address);
        if (space == PTX_SPACE_SHARED) address -= MEM_SHARED;
    }
    if (space == PTX_SPACE_SHARED)
        return address <= g->cta->shared_size && g->cta->shared_size - address >= size
                   ? g->cta->shared + address
                   : NULL;
    const struct mem_block *b = space == PTX_SPACE_GLOBAL ? mem_find(mem, address, size) : NULL;
    return b ? b->host + (address - b->address) : NULL;
}

bool deadlock_remember(const struct emu_group *g, const struct emu_uop *in,
                       struct deadlock_bytes *b)
{
    const struct atomic_desc *v = in->ext;
    b->count = 0;
    b->size = (u32)v->width * v->count;
    if (v->red || (v->flags & EMU_DEAD_RESULT && !host_worker_of(g)->ctx->at_once)) return false;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            const u8 *p = bytes_at(g, v->at.space,
                                   lane_address(g, &v->at, w, (u32)__builtin_ctz(m)), b->size);
            if (!p || b->size > sizeof b->was[0]) return false;
            memcpy(b->was[b->count], p, b->size);
            b->at[b->count++] = p;
        }
    return true;
}

bool deadlock_as_it_was(const struct deadlock_bytes *b)
{
    for (u32 i = 0; i < b->count; i++)
        if (memcmp(b->at[i], b->was[i], b->size) != 0) return false;
    return true;
}

/* ---- going round ------------------------------------------------------------------------------------ */

/* Lets a group run up to the next block, or to where it waits. false: it has come to something else, an atomic has
 * changed memory, or it looks at a clock. */
static bool step(struct emu_group *g)
{
    const struct emu_uop *in = g->pc;
    bool same = true;
    g->state = GROUP_READY;
    g->budget = 1;
    u64 before = g->instructions;
    while (in) {
        struct deadlock_bytes bytes;
        const bool look = same && atomic_is_uop(in);
        if (look) same = deadlock_remember(g, in, &bytes);
        if (in->id == UOP_special && in->imm >= SPECIAL_CLOCK && !g->worker->clocks_stand) {
            host_worker_of(g)->saw_clock = true;
            same = false;
        }
        in = in->run(g, in);
        if (look && same) same = deadlock_as_it_was(&bytes);
    }
    host_worker_of(g)->instructions += g->instructions - before;
    return same && (g->state == GROUP_READY || g->state == GROUP_WAIT);
}

static bool goes_round(const struct emu_program *p, struct emu_group *g)
{
    const bool stands = g->worker->clocks_stand;
    g->clock_at = emu_clock(g);
    if (g->pc->id !=
        UOP_block) { /* in the middle of one, where it waits, or did: then it gets on */
        const struct emu_uop *at = g->pc;
        return step(g) && g->state == GROUP_WAIT && g->pc == at;
    }
    const struct emu_uop *from = g->pc;
    u64 state = deadlock_state(g);
    for (u32 n = 0, again = 1; n < ROUND; n++) {
        if (g->pc->id == UOP_block && block_changes(p, g->pc)) return false;
        if (!step(g)) return false;
        if (g->pc == from && deadlock_state(g) == state) return true;
        if (stands && n == again) { /* what the clocks showed before led it another way */
            from = g->pc;
            state = deadlock_state(g);
            again *= 2;
        }
    }
    return false;
}

/* What a group that was stepped has come to is seen to as after a turn. */
static void left_behind(struct slot *p, struct emu_group *g)
{
    if (g->state == GROUP_SPLIT) emu_group_split(g);
    if (g->state != GROUP_DONE) return;
    p->cta.running--;
    emu_barrier_check(&p->cta);
}

static bool goes_nowhere(struct host_worker *h)
{
    bool any = false;
    for (struct slot *p = h->resident; p; p = p->next) {
        if (p != h->resident && deliver_is_full(h->ctx)) break; /* it waits for the first */
        deliver_count_for(h, p);
        for (u32 k = 0; k < p->cta.group_count; k++) {
            struct emu_group *g = &p->cta.groups[p->cta.group_at[k]];
            if (g->state != GROUP_READY && g->state != GROUP_WAIT) continue;
            any = true;
            if (!goes_round(h->ctx->m->program, g)) {
                left_behind(p, g);
                return false;
            }
        }
    }
    return any;
}

static u64 instructions_of(const struct host_worker *h)
{
    u64 n = 0;
    for (const struct slot *p = h->resident; p; p = p->next)
        for (u32 k = 0; k < p->cta.group_count; k++)
            n += p->cta.groups[p->cta.group_at[k]].instructions;
    return n;
}

/* A clock keeps it from being said that they go nowhere. Whether no time that it may show lets any of them go on. Only
 * where one host thread has all CTAs: what clocks show must not depend on how many there are. */
static bool waits_for_no_time(struct host_worker *h)
{
    const u64 now = instructions_of(h);
    if (h->ctx->worker_count > 1) return false;
    if (!h->saw_clock || !h->since || now < h->since) h->since = h->saw_clock ? now : 0;
    if (!h->since || now < h->since + LONG) return false;
    h->worker.clocks_stand = true;
    bool stuck = goes_nowhere(h);
    for (u32 leap = FIRST_LEAP; stuck && leap <= LAST_LEAP; leap++) {
        h->worker.clock_ahead += UINT64_C(1) << leap;
        stuck = goes_nowhere(h);
    }
    h->worker.clocks_stand = false;
    if (!stuck) h->since = 0;
    return stuck;
}

/* Whether all host threads are stuck: each must have looked since the last one got stuck or ended, since
 * what that one stored before may be what another waits for. */
bool deadlock_proved(struct host_worker *h)
{
    struct launch_context *ctx = h->ctx;
    u32 before = atomic_load(&h->stuck), epoch = atomic_load(&ctx->epoch);
    h->saw_clock = false;
    const bool stuck = goes_nowhere(h) || waits_for_no_time(h);
    atomic_store(&h->stuck, stuck ? epoch : 0);
    if (ctx->worker_count == 1) return stuck;
    if (stuck != (before != 0)) atomic_fetch_add(&ctx->epoch, 1);
    for (u32 t = 0; t < ctx->worker_count; t++) {
        u32 other = atomic_load(&ctx->workers[t].stuck);
        if (other != epoch && other != WORKER_ENDED) return false;
    }
    return atomic_load(&ctx->epoch) == epoch;
}

/* Nobody can go on: the time of every mbarrier.try_wait runs out. false: there is none, or it has done so
 * before, and all is as it was then. */
bool deadlock_time_out(struct host_worker *h)
{
    u64 state = 0;
    bool any = false;
    for (struct slot *p = h->resident; p; p = p->next)
        for (u32 k = 0; k < p->cta.group_count; k++) {
            struct emu_group *g = &p->cta.groups[p->cta.group_at[k]];
            if (g->state != GROUP_WAIT || !emu_may_time_out(g->pc)) continue;
            u64 own[2] = {deadlock_state(g), (u64)(uintptr_t)g->pc};
            state = mix(state, own, sizeof own);
            g->time_is_up = any = true;
        }
    if (!any || (h->time_outs && state == h->stuck_state) || h->time_outs == MOST_TIME_OUTS)
        return false;
    h->stuck_state = state;
    h->time_outs++;
    return true;
}
