/* CTAs: the rows and the shared memory that one is given, and how it begins. */
#define _GNU_SOURCE
#include "emu/workplace.h"

#include "emu/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- special registers and rows ------------------------------------------------------------------- */

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
    case SPECIAL_TOTAL_SMEM:
    case SPECIAL_AGGR_SMEM: return m->shared_size;
    case SPECIAL_DYNAMIC_SMEM: return l->shared;
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

/* Rows of one value are most of what a CTA that begins is given: whole vectors at once. */
static void fill_row(struct emu_group *g, u32 width, u32 row, u64 bits)
{
    u8 *to = emu_row(g, width, row);
    u64 lane = bits; /* as often as 8 bytes hold it */
    if (width == 4) lane = (u32)bits * UINT64_C(0x100000001);
    else if (width == 2) lane = (u16)bits * UINT64_C(0x1000100010001);
    for (u32 w = 0; w < g->warps; w++, to += LANES * width)
        for (u32 i = 0; i < LANES * width; i += 64)
            for (u32 k = 0; k < 64; k += 8) memcpy(to + i + k, &lane, sizeof lane);
}

static void fill(struct emu_group *g, const struct emu_fill *f, const struct emu_machine *m)
{
    if (f->kind == FILL_SPECIAL && !changes_by_cta((u32)f->bits)) {
        for (u32 w = 0; w < g->warps; w++)
            for (u32 l = 0; l < LANES; l++)
                emu_put(g, f->width, f->row, w, l, emu_special_value(g, w, l, (u32)f->bits));
        return;
    }
    u64 bits = f->bits;
    if (f->kind == FILL_PARAM) {
        bits = 0;
        memcpy(&bits, m->params + f->bits, f->width);
    }
    if (f->kind == FILL_SPECIAL) bits = emu_special_value(g, 0, 0, (u32)f->bits);
    fill_row(g, f->width, f->row, bits);
}

/* ---- CTAs ------------------------------------------------------------------------------------------- */

static size_t up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

struct slot *slot_new(struct hand *h)
{
    const struct emu_machine *m = h->wp->m;
    const struct emu_frame *f = &m->program->deepest;
    u32 bundles = (m->warps_per_cta + GROUP - 1) / GROUP;
    struct slot *p = calloc(1, sizeof *p);
    if (!p) abort();
    size_t local = up(((size_t)f->local + (m->program->uses_alloca ? 16 + DYNAMIC_LOCAL : 0)) * ROW,
                      4096);
    p->bundle_size = up(f->r16, 64) + up(f->r32, 64) + up(f->r64, 64) + local + 4096;
    p->rows_size = p->bundle_size * bundles;
    p->rows = mmap(NULL, p->rows_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->rows == MAP_FAILED) {
        perror("heddle: no memory for registers");
        abort();
    }
    struct emu_cta *c = &p->cta;
    c->shared_size = m->shared_size;
    c->shared = aligned_alloc(128, up(m->shared_size + 128, 128));
    u32 contexts = m->warps_per_cta * (m->its ? LANES : 1) + 1;
    c->groups = calloc(contexts, sizeof *c->groups);
    c->group_at = calloc(contexts, sizeof *c->group_at);
    c->cluster = calloc(m->cluster_size + 1u, sizeof *c->cluster);
    if (!c->shared || !c->groups || !c->group_at || !c->cluster) abort();
    for (u32 w = 0; w < m->warps_per_cta; w++) {
        struct emu_group *g = &c->groups[w];
        u8 *base = p->rows + p->bundle_size * (w / GROUP) + 64 * (w / GROUP % 8);
        u32 column = w % GROUP * LANES;
        g->bundle64 = base + column * 8;
        base += up(f->r64, 64);
        g->bundle32 = base + column * 4;
        base += up(f->r32, 64);
        g->bundle16 = base + column * 2;
        base += up(f->r16, 64);
        g->bundle_local = base + column * 4;
        g->worker = &h->worker;
        g->cta = c;
        g->first = w;
    }
    return p;
}

void slot_free(struct slot *p, const struct emu_machine *m)
{
    for (u32 w = 0; w < m->warps_per_cta * (m->its ? LANES : 1); w++) free(p->cta.groups[w].stack);
    munmap(p->rows, p->rows_size);
    if (p->port.now) cache_settle(&p->port);
    free(p->port.notes);
    free(p->cta.shared);
    free(p->cta.groups);
    free(p->cta.group_at);
    free(p->cta.cluster);
    free(p->cta.runtime);
    free(p);
}

static void group_start(struct emu_group *g, u32 warps, const struct emu_machine *m)
{
    const struct emu_code *k = m->program->codes[0];
    g->warps = warps;
    g->r16 = g->bundle16, g->r32 = g->bundle32, g->r64 = g->bundle64, g->local = g->bundle_local;
    g->top16 = g->top32 = g->top64 = g->top_local = 0;
    g->depth = 0;
    g->join = NULL;
    g->pc = k->uops;
    g->code = k;
    g->state = GROUP_READY;
    g->instructions = 0;
    memset(g->arrived, 0, sizeof g->arrived);
    g->time_is_up = g->asleep = false;
    g->issued = 0;
    g->queue = 0;
    g->tries = 0;
    g->apart = false;
    for (u32 w = 0; w < warps; w++) {
        u32 at = (g->first + w) * LANES, n = m->threads_per_cta - at;
        g->alive[w] = g->exist[w] = n >= LANES ? ~0u : (1u << n) - 1;
    }
    emu_set_exec(g, g->alive);
}

/* Clears what the CTA that was here before may have left in the rows and .local memory of a bundle. */
static void forget(const struct emu_group *first, const struct emu_machine *m)
{
    const struct emu_code *k = m->program->codes[0];
    const struct emu_frame *used = &first->cta->used,
                           from = k->reads_undefined ? (struct emu_frame){0} : k->frame;
    memset(first->bundle64 + from.r64, 0, used->r64 - from.r64);
    memset(first->bundle32 + from.r32, 0, used->r32 - from.r32);
    memset(first->bundle16 + from.r16, 0, used->r16 - from.r16);
    memset(first->bundle_local, 0, (size_t)used->local * ROW);
    if (m->program->uses_alloca) /* also how much is taken */
        memset(first->bundle_local + (size_t)m->program->deepest.local * ROW, 0,
               (16 + (size_t)first->cta->used_dynamic) * ROW);
}

void slot_begin(struct hand *h, struct slot *p, u32 linear, u32 sm)
{
    const struct emu_machine *m = h->wp->m;
    const struct emu_launch *l = m->launch;
    const struct emu_code *k = m->program->codes[0];
    struct emu_cta *c = &p->cta;
    bool fresh = !c->live;
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
    c->outbox = NULL;
    p->port.count = 0;
    memset(c->barriers, 0, sizeof c->barriers);
    c->awaited = 0;
    if (c->runtime) memset(c->runtime, 0, c->threads * sizeof(u32));
    memset(c->shared, 0, c->shared_size);
    p->turns = 0;
    c->group_count = 0;
    u32 width = m->group_warps;
    for (u32 w = 0; w < c->warps; w += width) {
        struct emu_group *g = &c->groups[w];
        c->group_at[c->group_count++] = w;
        if (!fresh && w % GROUP == 0) forget(g, m);
        group_start(g, c->warps - w < width ? c->warps - w : width, m);
        for (u32 i = 0; i < k->fill_count; i++) {
            const struct emu_fill *f = &k->fills[i];
            if (fresh || k->reads_undefined ||
                (f->kind == FILL_SPECIAL && changes_by_cta((u32)f->bits)))
                fill(g, f, m);
        }
    }
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
            for (u32 k = 0; f->kind == FILL_SPECIAL && k < c->group_count; k++)
                fill(&c->groups[c->group_at[k]], f, m);
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
        u8 *b16 = s->bundle16, *b32 = s->bundle32, *b64 = s->bundle64, *bl = s->bundle_local;
        *s = whole;
        s->first = whole.first + w;
        s->bundle16 = b16, s->bundle32 = b32, s->bundle64 = b64, s->bundle_local = bl;
        s->r16 = b16 + s->top16, s->r32 = b32 + s->top32, s->r64 = b64 + s->top64;
        s->local = bl + (size_t)s->top_local * ROW;
        if (w > 0) { /* the first keeps its stack */
            s->stack = stack, s->stack_cap = cap;
            if (s->stack_cap < whole.depth) {
                s->stack_cap = whole.depth;
                s->stack = realloc(s->stack, s->stack_cap * sizeof *s->stack);
                if (!s->stack) abort();
            }
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
        }
    }
}
