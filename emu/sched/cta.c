/* CTAs: their rows and shared memory, and their initial state. slot_new() takes both from the CTA arena once for each
 * slot of an SM; slot_begin() makes the slot ready for the next CTA: it clears shared memory, or fills it from the seed
 * (fill_shared()). cta_arena_reset() frees all at the end of the launch. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "emu/device/device.h"
#include "emu/sched/control.h"
#include "emu/sched/notify.h"
#include "emu/speculate/speculation.h"
#include "emu/unwritten.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUNDLE_STEPS =
        8, /* so many different offsets of bundles, so that they are in different sets of the host's caches */
    OWN_STACK =
        4, /* entries of a warp's stack that are in the CTA's memory block; a longer one is allocated */
    STACK = 16, /* entries of an allocated one, at first */
};

/* ---- special registers and rows ------------------------------------------------------------------- */

/* Shared memory as the GPU gives it to a CTA, without the system's. */
static u64 shared_total(const struct emu_machine *m)
{
    const u64 unit = m->emu->gpu->shared_unit;
    return (m->shared_own + unit - 1) / unit * unit;
}

u64 emu_special_value(const struct emu_group *g, u32 w, u32 lane, u32 s)
{
    const struct emu_cta *c = g->cta;
    const struct emu_machine *m = g->worker->machine;
    const struct emu_launch *l = m->launch;
    u32 thread = (g->first + w) * LANES + lane, nx = l->block[0], ny = l->block[1];
    u32 bit = 1u << lane;
    switch (s) {
    case SPECIAL_TID_X: return thread % nx;
    case SPECIAL_TID_Y: return thread / nx % ny;
    case SPECIAL_TID_Z: return thread / nx / ny;
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z: return l->block[s - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z: return c->index[s - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z: return l->grid[s - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return g->first + w;
    case SPECIAL_NWARPID: return m->warps_per_cta;
    case SPECIAL_SMID: return c->sm;
    case SPECIAL_NSMID: return m->sms;
    case SPECIAL_GRIDID: return m->grid_id;
    case SPECIAL_LANEMASK_EQ: return bit;
    case SPECIAL_LANEMASK_LE: return bit | (bit - 1);
    case SPECIAL_LANEMASK_LT: return bit - 1;
    case SPECIAL_LANEMASK_GE: return ~(bit - 1);
    case SPECIAL_LANEMASK_GT: return ~(bit | (bit - 1));
    case SPECIAL_CLUSTERID_X:
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z:
        return c->index[s - SPECIAL_CLUSTERID_X] / m->cluster[s - SPECIAL_CLUSTERID_X];
    case SPECIAL_NCLUSTERID_X:
    case SPECIAL_NCLUSTERID_Y:
    case SPECIAL_NCLUSTERID_Z:
        return l->grid[s - SPECIAL_NCLUSTERID_X] / m->cluster[s - SPECIAL_NCLUSTERID_X];
    case SPECIAL_CLUSTER_CTAID_X:
    case SPECIAL_CLUSTER_CTAID_Y:
    case SPECIAL_CLUSTER_CTAID_Z:
        return c->index[s - SPECIAL_CLUSTER_CTAID_X] % m->cluster[s - SPECIAL_CLUSTER_CTAID_X];
    case SPECIAL_CLUSTER_NCTAID_X:
    case SPECIAL_CLUSTER_NCTAID_Y:
    case SPECIAL_CLUSTER_NCTAID_Z: return m->cluster[s - SPECIAL_CLUSTER_NCTAID_X];
    case SPECIAL_CLUSTER_CTARANK: return c->rank;
    case SPECIAL_CLUSTER_NCTARANK: return m->cluster_size;
    case SPECIAL_EXPLICIT_CLUSTER: return m->explicit_cluster ? ~(u64)0 : 0;
    case SPECIAL_TOTAL_SMEM: return shared_total(m);
    case SPECIAL_AGGR_SMEM: return shared_total(m) + MEM_RESERVED_SHARED;
    case SPECIAL_DYNAMIC_SMEM: return l->shared;
    case SPECIAL_RESERVED_SMEM_BEGIN:
    case SPECIAL_RESERVED_SMEM_0: return m->shared_size - MEM_RESERVED_SHARED;
    case SPECIAL_RESERVED_SMEM_1: return m->shared_size - MEM_RESERVED_SHARED / 2;
    case SPECIAL_RESERVED_SMEM_END: return m->shared_size;
    case SPECIAL_RESERVED_SMEM_CAP: return MEM_RESERVED_SHARED;
    case SPECIAL_ENVREG + 1: return m->grid_workspace >> 32;
    case SPECIAL_ENVREG + 2: return (u32)m->grid_workspace;
    default: return 0;
    }
}

static bool changes_by_cta(u32 s)
{
    return (s >= SPECIAL_CTAID_X && s <= SPECIAL_CTAID_Z) || s == SPECIAL_SMID ||
           (s >= SPECIAL_CLUSTERID_X && s <= SPECIAL_CLUSTERID_Z) ||
           (s >= SPECIAL_CLUSTER_CTAID_X && s <= SPECIAL_CLUSTER_CTAID_Z) ||
           s == SPECIAL_CLUSTER_CTARANK;
}

static u8 *row_of_bundle(const struct emu_group *first, const struct emu_fill *f)
{
    return (f->width == 8   ? first->files.bundle64
            : f->width == 4 ? first->files.bundle32
                            : first->files.bundle16) +
           f->row;
}

/* Rows of one value are most of what a CTA that begins is given: whole vectors at once. */
static void fill_row(u8 *to, u32 warps, u32 width, u64 bits)
{
    u64 lane = bits; /* as often as 8 bytes hold it */
    if (width == 4) lane = (u32)bits * UINT64_C(0x100000001);
    else if (width == 2) lane = (u16)bits * UINT64_C(0x1000100010001);
    for (u32 i = 0; i < warps * LANES * width; i += 64)
        for (u32 k = 0; k < 64; k += 8) memcpy(to + i + k, &lane, sizeof lane);
}

/* What differs by thread. */
static void fill_threads(u8 *to, u32 warps, const struct emu_group *first, const struct emu_fill *f)
{
    for (u32 w = 0; w < warps; w++)
        for (u32 l = 0; l < LANES; l++, to += f->width) {
            const u64 value = emu_special_value(first, w, l, (u32)f->bits);
            memcpy(to, &value, f->width);
        }
}

/* The row in all warps. `model`: a CTA of the launch that has it, or NULL. */
static void fill(struct emu_cta *c, const struct emu_fill *f, const struct emu_machine *m,
                 const struct emu_cta *model)
{
    const bool by_thread = f->kind == FILL_SPECIAL && !changes_by_cta((u32)f->bits);
    u64 bits = f->bits;
    if (f->kind == FILL_PARAM) {
        bits = 0;
        memcpy(&bits, m->params + f->bits, f->width);
    }
    if (f->kind == FILL_SPECIAL && !by_thread)
        bits = emu_special_value(&c->groups[0], 0, 0, (u32)f->bits);
    for (u32 w = 0; w < c->warps; w += GROUP) {
        const struct emu_group *first = &c->groups[w];
        u8 *const to = row_of_bundle(first, f);
        const u32 warps = c->warps - w < GROUP ? c->warps - w : GROUP;
        if (!by_thread) fill_row(to, warps, f->width, bits);
        else if (model)
            memcpy(to, row_of_bundle(&model->groups[w], f), (size_t)warps * LANES * f->width);
        else fill_threads(to, warps, first, f);
    }
}

bool slot_fills_by_cta(const struct emu_fill *f)
{
    return f->kind == FILL_SPECIAL && changes_by_cta((u32)f->bits);
}

void slot_fill_warp(struct emu_group *g, const struct emu_fill *f)
{
    fill_row(row_of_bundle(g, f), 1, f->width, emu_special_value(g, 0, 0, (u32)f->bits));
}

/* ---- CTAs ------------------------------------------------------------------------------------------- */

static size_t up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* The offsets of the parts of a slot's memory block, and how large a bundle's part of the rows is. */
struct plan {
    size_t groups, group_at, cluster, stacks, shared, rows, bundle, size;
    u32 contexts;
};

static size_t take(size_t *at, size_t size)
{
    const size_t from = *at;
    *at += up(size, CTA_ARENA_ALIGN);
    return from;
}

size_t slot_bundle_size(const struct emu_frame *f)
{
    return up(f->r16, 64) + up(f->r32, 64) + up(f->r64, 64) + 64 * BUNDLE_STEPS;
}

static struct plan plan_of(const struct emu_machine *m, const struct frames *frames)
{
    const struct emu_frame *f = &m->program->deepest;
    const u32 bundles = (m->warps_per_cta + GROUP - 1) / GROUP;
    struct plan p = {.contexts = m->warps_per_cta *
                                 (m->threads.its || m->threads.yields ? LANES : 1)};
    const size_t local = (size_t)f->local + (m->program->uses_alloca ? 16 + DYNAMIC_LOCAL : 0);
    p.bundle = (frames ? 0 : slot_bundle_size(f)) + up(local * ROW, 64);
    take(&p.size, sizeof(struct slot));
    p.groups = take(&p.size, p.contexts * sizeof(struct emu_group));
    p.group_at = take(&p.size, p.contexts * sizeof(u32));
    p.cluster = take(&p.size, (m->cluster_size + 1u) * sizeof(struct emu_cta *));
    p.stacks = take(&p.size, (size_t)m->warps_per_cta * OWN_STACK * sizeof(struct emu_entry));
    p.shared = take(&p.size, (size_t)m->shared_size + CTA_ARENA_ALIGN);
    p.rows = take(&p.size, p.bundle * bundles);
    return p;
}

/* ---- memory that nothing wrote -------------------------------------------------------------------------- */

enum { PLACE_SHARED = 1, PLACE_LOCAL = 2 }; /* for mem_unwritten_bytes: below all addresses */

static u64 place_of(const struct emu_machine *m, u32 what, u32 which)
{
    return (u64)m->grid_id << 34 | (u64)which << 2 | what;
}

/* The system's part begins as zeros. */
static void fill_shared(const struct emu_machine *m, const struct emu_cta *c)
{
    const u32 own = m->shared_own < c->shared_size ? m->shared_own : c->shared_size;
    if (mem_fills(m->mem) && own)
        mem_unwritten_bytes(m->mem, place_of(m, PLACE_SHARED, c->linear), c->shared, own);
}

/* The kernel's frame; those of functions that it calls begin as zeros, because they may be very large. The same for all
 * CTAs: what one of them did not write is not filled again. */
static void fill_local(const struct emu_group *first, u32 size)
{
    const struct emu_machine *m = first->worker->machine;
    const u32 own = m->program->codes[0]->frame.local;
    if (size > own) size = own;
    if (mem_fills(m->mem) && size)
        mem_unwritten_bytes(m->mem, place_of(m, PLACE_LOCAL, first->first / GROUP),
                            first->files.bundle_local, (size_t)size * ROW);
}

/* Clears rows and .local memory of a bundle, as far as `to` says; what is below `from` will be written before it is
 * read. */
static void clear_bundle(const struct emu_group *first, const struct cta_block *block,
                         const struct emu_frame *from, const struct emu_frame *to, u32 dynamic)
{
    const struct emu_program *p = first->worker->machine->program;
    cta_block_clear(block, first->files.bundle64 + from->r64, to->r64 - from->r64);
    cta_block_clear(block, first->files.bundle32 + from->r32, to->r32 - from->r32);
    cta_block_clear(block, first->files.bundle16 + from->r16, to->r16 - from->r16);
    cta_block_clear(block, first->files.bundle_local, (size_t)to->local * ROW);
    fill_local(first, to->local);
    if (p->uses_alloca) /* also how much is taken */
        cta_block_clear(block, first->files.bundle_local + (size_t)p->deepest.local * ROW,
                        (16 + (size_t)dynamic) * ROW);
}

/* The rows of the kernel that need not be cleared. */
static struct emu_frame written_first(const struct emu_machine *m)
{
    const struct emu_code *k = m->program->codes[0];
    return k->reads_undefined ? (struct emu_frame){0} : k->frame;
}

/* What begins as zeros in a slot's memory block: of a group neither its lanes, which are good only once they are set, nor its stack.
 * Contexts behind the groups of the warps are set when they are first used (emu/sched/its.c). */
static void clear_block(const struct cta_block *block, const struct plan *plan, u32 warps)
{
    struct emu_group *const groups = (struct emu_group *)(void *)(block->at + plan->groups);
    cta_block_clear(block, block->at, sizeof(struct slot));
    for (u32 i = 0; i < warps; i++)
        cta_block_clear(block, &groups[i], offsetof(struct emu_group, lane));
}

/* Sets where the rows of the group are: in a bundle that begins at `base`. Returns the end of its rows. */
static u8 *place_rows(struct emu_group *g, u8 *base, const struct emu_frame *f)
{
    const u32 column = g->first % GROUP * LANES;
    base += 64 * (g->first / GROUP % BUNDLE_STEPS);
    g->files.bundle64 = base + column * 8;
    base += up(f->r64, 64);
    g->files.bundle32 = base + column * 4;
    base += up(f->r32, 64);
    g->files.bundle16 = base + column * 2;
    return base + up(f->r16, 64);
}

void slot_move_rows(struct emu_cta *c, const struct frames *f, u8 *rows, u32 set)
{
    const struct emu_code *k = f->m->program->codes[0];
    for (u32 w = 0; w < c->warps; w++) {
        struct emu_group *g = &c->groups[w];
        (void)place_rows(g, rows + w / GROUP * f->bundle, &f->m->program->deepest);
        g->r16 = g->files.bundle16, g->r32 = g->files.bundle32, g->r64 = g->files.bundle64;
        g->frame = set * f->m->warps_per_cta + w;
    }
    for (u32 i = 0; i < k->fill_count; i++) fill(c, &k->fills[i], f->m, NULL);
}

struct slot *slot_new(struct host_worker *h)
{
    const struct emu_machine *m = h->ctx->m;
    const struct emu_frame *f = &m->program->deepest, from = written_first(m);
    struct frames *const frames = h->frames;
    const struct plan plan = plan_of(m, frames);
    const u32 set = frames ? frames->next++ % frames->sets : 0;
    const struct cta_block block = cta_arena_take(m->cta_arena, plan.size);
    clear_block(&block, &plan, m->warps_per_cta);
    struct slot *p = (struct slot *)(void *)block.at;
    p->block = block;
    struct emu_cta *c = &p->cta;
    c->shared_size = m->shared_size;
    c->shared = block.at + plan.shared;
    c->groups = (struct emu_group *)(void *)(block.at + plan.groups);
    c->context_high = m->warps_per_cta;
    c->group_at = (u32 *)(void *)(block.at + plan.group_at);
    c->cluster = (struct emu_cta **)(void *)(block.at + plan.cluster);
    for (u32 w = 0; w < m->warps_per_cta; w++) {
        struct emu_group *g = &c->groups[w];
        u8 *const own = block.at + plan.rows + plan.bundle * (w / GROUP);
        g->worker = &h->worker;
        g->cta = c;
        g->first = w;
        u8 *const end = place_rows(g, frames ? frames_bundle(frames, set, w) : own, f);
        g->files.bundle_local = (frames ? own : end) + w % GROUP * LANES * 4;
        g->frame = set * m->warps_per_cta + w;
        g->stack = (struct emu_entry *)(void *)(block.at + plan.stacks) + (size_t)w * OWN_STACK;
        g->stack_cap = OWN_STACK;
        if (w % GROUP == 0) clear_bundle(g, &block, &from, f, DYNAMIC_LOCAL);
    }
    return p;
}

void slot_destroy(struct slot *p)
{
    for (u32 w = 0; w < p->cta.context_high; w++)
        if (p->cta.groups[w].stack_cap > OWN_STACK) free(p->cta.groups[w].stack);
    if (p->port.now) cache_resolve(&p->port);
    trace_turns_free(&p->turns_of);
    free(p->port.requests);
    free(p->cta.runtime);
}

void emu_stack_reserve(struct emu_group *g, u32 need)
{
    const u32 cap = g->stack_cap;
    if (need <= cap) return;
    while (g->stack_cap < need) g->stack_cap = g->stack_cap < STACK ? STACK : 2 * g->stack_cap;
    const size_t size = g->stack_cap * sizeof *g->stack;
    struct emu_entry *const own = cap > OWN_STACK ? NULL : g->stack;
    g->stack = realloc(own ? NULL : g->stack, size);
    if (!g->stack) abort();
    if (own) memcpy(g->stack, own, cap * sizeof *own);
}

static void group_start(struct emu_group *g, u32 warps, const struct emu_machine *m)
{
    const struct emu_code *k = m->program->codes[0];
    g->warps = warps;
    g->r16 = g->files.bundle16, g->r32 = g->files.bundle32, g->r64 = g->files.bundle64,
    g->local = g->files.bundle_local;
    g->files.top16 = g->files.top32 = g->files.top64 = g->files.top_local = 0;
    g->depth = 0;
    g->join = NULL;
    g->pc = k->uops;
    g->code = k;
    g->state = GROUP_READY;
    g->instructions = 0;
    memset(g->arrived, 0, sizeof g->arrived);
    g->time_is_up = g->turn.asleep = g->turn.notified = g->turn.asked = false;
    g->issued = 0;
    g->turn.queue = 0;
    g->turn.tries = 0;
    g->shares_warp = false;
    g->stays.count = 0;
    if (m->speculation && m->speculation->group_begins) m->speculation->group_begins(g);
    for (u32 w = 0; w < warps; w++) {
        u32 at = (g->first + w) * LANES, n = m->threads_per_cta - at;
        g->alive[w] = g->exist[w] = n >= LANES ? ~0u : (1u << n) - 1;
    }
    emu_set_exec(g, g->alive);
}

void slot_begin(struct host_worker *h, struct slot *p, u32 linear, u32 sm)
{
    const struct emu_machine *m = h->ctx->m;
    const struct emu_launch *l = m->launch;
    const struct emu_code *k = m->program->codes[0];
    struct emu_cta *c = &p->cta;
    const bool fresh = !c->live;
    bool *const filled = h->frames ? &h->frames->filled[c->groups->frame / m->warps_per_cta] : NULL;
    if (!fresh) p->block.clean = p->block.end; /* as far as `used` says */
    c->linear = linear;
    c->index[0] = linear % l->grid[0];
    c->index[1] = linear / l->grid[0] % l->grid[1];
    c->index[2] = linear / l->grid[0] / l->grid[1];
    c->sm = sm;
    c->threads = m->threads_per_cta;
    c->warps = m->warps_per_cta;
    c->cluster_size = m->cluster_size;
    c->cluster[0] = c;
    c->failed = false;
    c->live = true;
    c->its = m->threads.its;
    c->outbox = NULL;
    p->port.count = 0;
    memset(c->barriers, 0, sizeof c->barriers);
    c->awaited = 0;
    if (c->runtime) memset(c->runtime, 0, c->threads * sizeof(u32));
    memset(c->shared, 0, c->shared_size);
    fill_shared(m, c);
    p->turns = 0;
    c->group_count = 0;
    const bool traced = p->trace && !p->trace->late,
               in_turns = traced && m->group_warps > 1 && c->warps > 1 && m->program->traced &&
                          m->program->traced->lockstep;
    trace_turns_drop(&p->turns_of);
    if (in_turns) trace_turns_begin(&p->turns_of, p->trace, c->threads);
    const u32 width = traced && !in_turns ? 1 : m->group_warps;
    const struct emu_frame from = written_first(m);
    for (u32 w = 0; w < c->warps; w += width) {
        struct emu_group *g = &c->groups[w];
        c->group_at[c->group_count++] = w;
        if (!fresh && w % GROUP == 0) clear_bundle(g, &p->block, &from, &c->used, c->used_dynamic);
        group_start(g, c->warps - w < width ? c->warps - w : width, m);
        if (filled) frames_begin(h->frames, g);
    }
    for (u32 i = 0; i < k->fill_count && !(filled && *filled); i++) {
        const struct emu_fill *f = &k->fills[i];
        if (fresh || k->reads_undefined ||
            (f->kind == FILL_SPECIAL && changes_by_cta((u32)f->bits)))
            fill(c, f, m, h->model == c ? NULL : h->model);
    }
    if (filled) *filled = true;
    if (!h->model) h->model = c;
    c->running = c->group_count;
    c->living = c->threads;
    c->context_count = c->warps;
    c->used = k->frame;
    c->used_dynamic = 0;
}

u32 slot_of_cluster(const struct emu_machine *m, u32 cluster, u32 rank)
{
    if (m->cluster_size == 1) return cluster;
    const u32 *size = m->cluster, *grid = m->launch->grid, across = grid[0] / size[0],
              down = grid[1] / size[1];
    const u32 x = cluster % across * size[0] + rank % size[0];
    const u32 y = cluster / across % down * size[1] + rank / size[0] % size[1];
    const u32 z = cluster / across / down * size[2] + rank / size[0] / size[1];
    return x + grid[0] * (y + grid[1] * z);
}

void slot_join_cluster(struct slot *const *slots, const struct emu_machine *m)
{
    const struct emu_code *code = m->program->codes[0];
    for (u32 r = 0; r < m->cluster_size; r++) {
        struct emu_cta *c = &slots[r]->cta;
        c->rank = r;
        for (u32 q = 0; q < m->cluster_size; q++) c->cluster[q] = &slots[q]->cta;
        for (u32 i = 0; i < code->fill_count; i++) {
            const struct emu_fill *f = &code->fills[i];
            if (f->kind == FILL_SPECIAL) fill(c, f, m, NULL);
        }
    }
}

void emu_group_split(struct emu_group *g)
{
    struct emu_cta *c = g->cta;
    u32 warps = g->warps, k = 0;
    while (c->group_at[k] != g->first) k++;
    memmove(&c->group_at[k + warps], &c->group_at[k + 1],
            (c->group_count - k - 1) * sizeof *c->group_at);
    c->group_count += warps - 1;
    c->running += warps - 1;
    struct emu_group whole = *g;
    for (u32 w = 0; w < warps; w++) {
        struct emu_group *s = &c->groups[whole.first + w];
        struct emu_entry *stack = s->stack;
        u32 cap = s->stack_cap;
        u8 *b16 = s->files.bundle16, *b32 = s->files.bundle32, *b64 = s->files.bundle64,
           *bl = s->files.bundle_local;
        *s = whole;
        s->first = whole.first + w;
        s->files.bundle16 = b16, s->files.bundle32 = b32, s->files.bundle64 = b64,
        s->files.bundle_local = bl;
        s->r16 = b16 + s->files.top16, s->r32 = b32 + s->files.top32, s->r64 = b64 + s->files.top64;
        s->local = bl + (size_t)s->files.top_local * ROW;
        if (w > 0) { /* the first keeps its stack */
            s->stack = stack, s->stack_cap = cap;
            emu_stack_reserve(s, whole.depth);
            if (whole.depth) memcpy(s->stack, whole.stack, whole.depth * sizeof *s->stack);
        }
        c->group_at[k + w] = s->first;
    }
    for (u32 w = 0; w < warps; w++) {
        struct emu_group *s = &c->groups[whole.first + w];
        s->warps = 1;
        u32 exec[GROUP] = {whole.exec[w]};
        s->alive[0] = whole.alive[w];
        s->exist[0] = whole.exist[w];
        s->guard_saved[0] = whole.guard_saved[w];
        s->arrived[0] = whole.arrived[w];
        for (u32 d = 0; d < s->depth; d++) {
            u32 m = s->stack[d].mask[w];
            memset(s->stack[d].mask, 0, sizeof s->stack[d].mask);
            s->stack[d].mask[0] = m;
        }
        emu_set_exec(s, exec);
        s->state = GROUP_READY;
        if (!exec[0]) { /* its lanes stand further down its stack */
            const struct emu_uop *pc = emu_group_resume(s);
            s->pc = pc;
            if (!pc) c->running--;
            if (!pc) emu_notify_exits(s);
        }
    }
}
