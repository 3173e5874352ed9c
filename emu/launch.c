/* A launch: CTAs on host threads.
 *
 * Native order. CTAs are taken in linear order and each runs to its end, its groups in turn, a group
 * until it waits or has used up its budget. A CTA that does not come to an end waits for another one,
 * perhaps for one that has not begun: then the next is begun beside it, and they take turns.
 *
 * Several host threads take CTAs from one counter. That is only done for programs whose CTAs cannot
 * see each other (emu_program.talks); what they print, and reductions whose order matters, wait in an
 * outbox until all CTAs before them have ended. So results do not depend on the number of threads. */
#define _GNU_SOURCE
#include "emu/launch.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/atomic.h"
#include "emu/cache.h"
#include "emu/check.h"
#include "emu/control.h"
#include "emu/image.h"
#include "emu/watch.h"
#include "ptx/ptx.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    TURN = 1 << 16,     /* warp instructions of a group before the next one */
    TURN_ITS = 1 << 9,  /* likewise with independent thread scheduling */
    PATIENCE = 16,      /* turns of a CTA before the next one is begun beside it */
    PATIENCE_TALKS = 1, /* likewise where CTAs may wait for each other */
    MOST_NOTES = 1 << 22,
    MOST_TIME_OUTS = 1 << 20,
};
#define HAND_ENDED UINT32_MAX

struct red { /* a reduction that waits for its turn */
    u64 address;
    u8 op, type;
    u8 operand[32];
};
struct emu_outbox {
    u32 cta;
    bool complete;
    struct red *reds;
    size_t red_count, red_cap;
    struct buf text;
    struct cache_port port;  /* what it notes of its accesses to memory */
    struct emu_outbox *next; /* by CTA */
};

struct place { /* room for a resident CTA */
    struct emu_cta cta;
    u8 *rows; /* register files and .local of all bundles */
    size_t rows_size, bundle_size;
    struct place *next;
    u32 turns;
    struct cache_port port;
};

struct hand { /* a host thread */
    struct emu_worker worker;
    struct emu_workplace *wp;
    struct emu_site **sites;         /* by SM */
    struct emu_block_count **blocks; /* by SM */
    u64 *ctas;                       /* by SM: how many have ended */
    struct place *resident, *spare;
    u64 stuck_state;     /* of the groups when last the time of their waits ran out, */
    u32 time_outs;       /* how often it did */
    u32 passes;          /* over the resident CTAs while nothing else was to be done */
    atomic_uint stuck;   /* its CTAs can do nothing as memory was in this epoch; 0: they may */
    struct place **last; /* where the next is appended to `resident` */
    u64 instructions;
};

struct emu_workplace {
    struct emu_machine *m;
    struct emu *emu;
    const struct emu_config *config;
    atomic_uint next;    /* CTA (of a cluster: its first) */
    atomic_uint stop_at; /* CTAs from here on need not run */
    atomic_bool give_up;
    atomic_uint epoch;       /* moves when a host thread's CTAs get stuck, or get on again */
    atomic_bool is_deadlock; /* each host thread names the first CTA that it has */
    pthread_mutex_t lock;
    u64 *ended;                  /* a bit for each CTA */
    struct emu_outbox *outboxes; /* not yet delivered, by CTA */
    atomic_uint deliver;         /* the CTA whose turn it is; changed under the lock */
    struct emu_fault fault;
    u32 fault_cta;
    u64 limit;
    atomic_ullong spent;
    double deadline;
    double started, told; /* when config->progress was last called */
    struct hand *hands;
    u32 hand_count;
    struct arena *arena;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct hand *hand_of(const struct emu_group *g)
{
    return (struct hand *)g->worker;
}

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

static struct place *place_new(struct hand *h)
{
    const struct emu_machine *m = h->wp->m;
    const struct emu_frame *f = &m->program->deepest;
    u32 bundles = (m->warps_per_cta + GROUP - 1) / GROUP;
    struct place *p = calloc(1, sizeof *p);
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

static void place_free(struct place *p, const struct emu_machine *m)
{
    for (u32 w = 0; w < m->warps_per_cta * (m->its ? LANES : 1); w++) free(p->cta.groups[w].stack);
    munmap(p->rows, p->rows_size);
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
    g->time_is_up = false;
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

static void cta_start(struct hand *h, struct place *p, u32 linear)
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
    c->sm = linear / m->cluster_size % m->sms;
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
    c->context_count = c->warps;
    c->used = k->frame;
    c->used_dynamic = 0;
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

/* ---- faults ----------------------------------------------------------------------------------------- */

static u32 lowest(atomic_uint *at, u32 value)
{
    u32 old = atomic_load(at);
    while (value < old && !atomic_compare_exchange_weak(at, &old, value)) {
    }
    return old;
}

const struct emu_uop *emu_raise(struct emu_group *g, const struct emu_uop *in,
                                enum emu_fault_kind kind, u32 w, u32 lane, u64 address, u32 size,
                                const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct emu_workplace *wp = hand_of(g)->wp;
    g->state = GROUP_FAULT;
    g->pc = in;
    u32 cta = g->cta->linear;
    lowest(&wp->stop_at, cta);
    pthread_mutex_lock(&wp->lock);
    if (!wp->fault.kind || cta < wp->fault_cta) {
        wp->fault_cta = cta;
        struct emu_fault *f = &wp->fault;
        *f = (struct emu_fault){.kind = kind, .address = address, .size = size};
        for (u32 i = 0; i < 3; i++) {
            f->cta[i] = g->cta->index[i];
            f->thread[i] = (u32)emu_special_value(g, w, lane, SPECIAL_TID_X + i);
        }
        launch_describe_fault(wp->m, in->pc, f, what, wp->arena);
    }
    pthread_mutex_unlock(&wp->lock);
    return NULL;
}

void emu_note_sync(struct emu_group *g, const struct emu_uop *in, u32 w, u32 mask)
{
    struct emu_workplace *wp = hand_of(g)->wp;
    if (!(wp->config->checks & EMU_CHECK_SYNC)) return;
    u32 away = mask & g->alive[w] & ~g->exec[w], thread[3];
    for (u32 i = 0; i < 3; i++)
        thread[i] = (u32)emu_special_value(g, w, (u32)__builtin_ctz(g->exec[w]), SPECIAL_TID_X + i);
    char what[160];
    snprintf(what, sizeof what,
             "lanes 0x%08x of member mask 0x%08x are elsewhere; lanes 0x%08x are here", away, mask,
             g->exec[w]);
    pthread_mutex_lock(&wp->lock);
    check_add(wp->m->check, wp->m, EMU_BAD_LANES, in->pc, g->cta->index, thread, 0, what);
    pthread_mutex_unlock(&wp->lock);
}

void launch_thread_of(const struct emu_machine *m, u32 cta, u32 thread, u32 cta_index[3],
                      u32 thread_index[3])
{
    const u32 *grid = m->launch->grid, *block = m->launch->block;
    cta_index[0] = cta % grid[0], cta_index[1] = cta / grid[0] % grid[1],
    cta_index[2] = cta / grid[0] / grid[1];
    thread_index[0] = thread % block[0], thread_index[1] = thread / block[0] % block[1];
    thread_index[2] = thread / block[0] / block[1];
}

/* ---- what is delivered in the order of CTAs ---------------------------------------------------------- */

static void outbox_free(struct emu_outbox *o)
{
    free(o->reds);
    free(o->port.notes);
    buf_free(&o->text);
    free(o);
}

static struct emu_outbox *outbox_of(struct emu_workplace *wp, struct emu_cta *c)
{
    if (c->outbox) return c->outbox;
    struct emu_outbox *o = calloc(1, sizeof *o);
    if (!o) abort();
    o->cta = c->linear;
    pthread_mutex_lock(&wp->lock);
    struct emu_outbox **at = &wp->outboxes;
    while (*at && (*at)->cta < o->cta) at = &(*at)->next;
    o->next = *at;
    *at = o;
    pthread_mutex_unlock(&wp->lock);
    return c->outbox = o;
}

static void put_text(struct emu_workplace *wp, const char *text, size_t n)
{
    if (wp->config->print) wp->config->print(wp->config->print_self, text, n);
    else fwrite(text, 1, n, stdout);
}

static void pour_out(struct emu_workplace *wp, struct emu_outbox *o)
{
    for (size_t i = 0; i < o->red_count; i++) {
        const struct red *r = &o->reds[i];
        atomic_apply_packed(r->op, r->type, mem_base(wp->m->mem) + (r->address - MEM_GLOBAL),
                            r->operand);
    }
    if (o->text.size) put_text(wp, o->text.data, o->text.size);
    o->red_count = o->text.size = 0;
}

/* It is the turn of the first CTA that has not ended, and where CTAs talk of each. What has waited for it comes
 * before what is to be done now. */
static bool its_turn(struct emu_workplace *wp, const struct emu_cta *c)
{
    if (wp->m->program->talks) return true;
    if (atomic_load(&wp->deliver) != c->linear) return false;
    if (c->outbox) pour_out(wp, c->outbox);
    return true;
}

bool emu_defer_red(struct emu_group *g, const struct emu_uop *in, u64 address, u8 op, u8 type,
                   const void *operand)
{
    (void)in;
    struct emu_workplace *wp = hand_of(g)->wp;
    if (its_turn(wp, g->cta)) return false;
    struct emu_outbox *o = outbox_of(wp, g->cta);
    if (o->red_count == o->red_cap) {
        o->red_cap = o->red_cap ? 2 * o->red_cap : 256;
        o->reds = realloc(o->reds, o->red_cap * sizeof *o->reds);
        if (!o->reds) abort();
    }
    struct red *r = &o->reds[o->red_count++];
    r->address = address;
    r->op = op;
    r->type = type;
    memcpy(r->operand, operand, atomic_packed_bytes(op, type));
    return true;
}

void emu_print(struct emu_group *g, const char *text, size_t length)
{
    struct emu_workplace *wp = hand_of(g)->wp;
    if (its_turn(wp, g->cta)) put_text(wp, text, length);
    else buf_add(&outbox_of(wp, g->cta)->text, text, length);
}

/* A CTA has ended: delivers what may be. */
static void deliver(struct emu_workplace *wp, struct place *p)
{
    const u32 cta = p->cta.linear;
    if (p->port.count) {
        outbox_of(wp, &p->cta)->port = p->port;
        p->port = (struct cache_port){0};
    }
    pthread_mutex_lock(&wp->lock);
    wp->ended[cta / 64] |= (u64)1 << cta % 64;
    while (wp->deliver < wp->m->cta_count && wp->ended[wp->deliver / 64] >> wp->deliver % 64 & 1) {
        struct emu_outbox *o = wp->outboxes;
        if (o && o->cta == wp->deliver) {
            pour_out(wp, o);
            cache_settle(&o->port);
            wp->outboxes = o->next;
            outbox_free(o);
        }
        atomic_fetch_add(&wp->deliver, 1);
    }
    pthread_mutex_unlock(&wp->lock);
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* Whether all CTAs before have gone through the caches. */
static bool caches_are_free(struct emu_workplace *wp, const struct emu_cta *c)
{
    return wp->m->program->talks || c->linear == atomic_load(&wp->deliver);
}

/* What the CTA does from now on is counted where it belongs. */
static void count_for(struct hand *h, struct place *p)
{
    const struct emu_machine *m = h->wp->m;
    const u32 sm = p->cta.sm;
    if (!h->wp->config->count) return;
    if (!h->sites[sm]) {
        h->sites[sm] = calloc(m->program->site_count, sizeof **h->sites);
        h->blocks[sm] = calloc(m->program->block_count, sizeof **h->blocks);
        if (!h->sites[sm] || !h->blocks[sm]) abort();
    }
    h->worker.sites = h->sites[sm];
    h->worker.blocks = h->blocks[sm];
    if (!m->caches) return;
    p->port.caches = m->caches;
    p->port.sm = sm;
    p->port.now = caches_are_free(h->wp, &p->cta);
    if (p->port.now) cache_settle(&p->port);
    h->worker.port = &p->port;
}

/* Notes of a CTA that runs far ahead of its turn take memory: it waits, unless it is this thread that the
 * turn depends on. */
static void wait_for_turn(struct hand *h, struct place *p)
{
    struct emu_workplace *wp = h->wp;
    while (p->port.count > MOST_NOTES && wp->hand_count > 1 && h->resident == p && !p->next &&
           !caches_are_free(wp, &p->cta) && !atomic_load(&wp->give_up) &&
           p->cta.linear <= atomic_load(&wp->stop_at))
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static void tell_cta(struct emu_cta *c, u8 kind)
{
    struct emu_group *g = &c->groups[0];
    struct emu_sync s = {.kind = kind};
    if (g->worker->machine->watched) emu_watch_sync(g, g->code->uops, &s);
}

enum progress { ENDED, RAN, STUCK, FAILED };

static bool late(const struct emu_workplace *wp)
{
    return wp->deadline > 0 && now() > wp->deadline;
}

/* One turn for each group of a CTA. */
static enum progress run_turn(struct hand *h, struct place *p)
{
    struct emu_cta *c = &p->cta;
    bool ran = false;
    wait_for_turn(h, p);
    count_for(h, p);
    for (u32 k = 0; k < c->group_count; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        if (g->state != GROUP_READY && g->state != GROUP_WAIT) continue;
        if (late(h->wp)) return RAN;
        bool waited = g->state == GROUP_WAIT;
        const struct emu_uop *in = g->pc, *from = in;
        g->state = GROUP_READY;
        g->budget = h->wp->m->its ? TURN_ITS : TURN;
        u64 before = g->instructions;
        do in = in->run(g, in);
        while (in);
        h->instructions += g->instructions - before;
        ran |= !(waited && g->state == GROUP_WAIT && g->pc == from && g->instructions == before);
        switch (g->state) {
        case GROUP_FAULT: return FAILED;
        case GROUP_SPLIT:
            emu_group_split(g);
            k--; /* its first warp again */
            break;
        case GROUP_DONE:
            c->running--;
            emu_barrier_check(c);
            break;
        case GROUP_READY:   /* the budget is spent, */
        case GROUP_BARRIER: /* or it waits, perhaps for lanes of its own or for others of the group */
        case GROUP_WAIT:
            if (h->wp->m->its && g->depth) emu_its_part(g);
            if (g->state == GROUP_DONE) { /* none of those that waited was left */
                c->running--;
                emu_barrier_check(c);
                break;
            }
            if (g->warps == 1 || !g->depth || g->state == GROUP_BARRIER) break;
            if (g->state == GROUP_WAIT || p->turns > 2) emu_group_split(g);
            break;
        default: break;
        }
    }
    p->turns++;
    if (!c->running) return ENDED;
    return ran ? RAN : STUCK;
}

/* All groups of the CTA wait at barriers that cannot be completed. */
static void stuck_at_barriers(struct place *p)
{
    struct emu_cta *c = &p->cta;
    for (u32 k = 0; k < c->group_count; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        if (g->state != GROUP_BARRIER) continue;
        struct emu_barrier *b = &c->barriers[g->barrier];
        u32 w = 0;
        while (w + 1 < g->warps && !g->exec[w]) w++;
        emu_raise(g, g->pc, EMU_BARRIER, w, g->exec[w] ? (u32)__builtin_ctz(g->exec[w]) : 0, 0, 0,
                  "barrier %u: %u threads wait, and no other can come%s", g->barrier, b->arrived,
                  g->alive[w] & ~g->exec[w]
                      ? "; lanes of the same warp wait elsewhere (see --divergence=its)"
                      : "");
        return;
    }
    launch_raise_stop(&c->groups[c->group_at[0]], EMU_DEADLOCK, 0);
}

static bool only_barriers(const struct place *p)
{
    for (u32 k = 0; k < p->cta.group_count; k++) {
        u32 s = p->cta.groups[p->cta.group_at[k]].state;
        if (s != GROUP_BARRIER && s != GROUP_DONE) return false;
    }
    return true;
}

/* ---- proof of a deadlock ------------------------------------------------------------------------------
 * A kernel that spins for ever comes back to the state it was in: each group that can run goes round a loop
 * that leaves its registers as they were and stores nothing (an atomic that returns the same each time
 * leaves memory as it was), and all others wait. Then nothing will ever change. */

enum { ROUND = 4096 }; /* blocks that a loop may have */

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

/* Of all that makes up a group's state but for memory. */
static u64 state_of(const struct emu_group *g)
{
    u64 h = mix(g->depth, g->exec, sizeof g->exec);
    for (u32 i = 0; i < g->depth; i++)
        h = mix(h ^ (u64)(uintptr_t)g->stack[i].pc, g->stack[i].mask, sizeof g->stack[i].mask);
    const struct emu_frame *f = &g->code->frame;
    for (u32 w = 0; w < g->warps; w++) {
        for (u32 r = 0; r < g->top64 + f->r64; r += ROW * 8)
            h = mix(h, g->bundle64 + r + w * LANES * 8, LANES * 8);
        for (u32 r = 0; r < g->top32 + f->r32; r += ROW * 4)
            h = mix(h, g->bundle32 + r + w * LANES * 4, LANES * 4);
        for (u32 r = 0; r < g->top16 + f->r16; r += ROW * 2)
            h = mix(h, g->bundle16 + r + w * LANES * 2, LANES * 2);
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

/* Lets a group run up to the next block, or to where it waits. false: it has come to something else. */
static bool step(struct emu_group *g)
{
    const struct emu_uop *in = g->pc;
    g->state = GROUP_READY;
    g->budget = 1;
    u64 before = g->instructions;
    do in = in->run(g, in);
    while (in);
    hand_of(g)->instructions += g->instructions - before;
    return g->state == GROUP_READY || g->state == GROUP_WAIT;
}

static bool goes_round(const struct emu_program *p, struct emu_group *g)
{
    for (u32 n = 0; g->pc->id != UOP_block;
         n++) { /* it stands in the middle of one, where it waited */
        const struct emu_uop *at = g->pc;
        if (n == ROUND || !step(g)) return false;
        if (g->state == GROUP_WAIT && g->pc == at) return true;
    }
    const struct emu_uop *from = g->pc;
    u64 state = state_of(g);
    for (u32 n = 0; n < ROUND; n++) {
        if (g->pc->id == UOP_block && block_changes(p, g->pc)) return false;
        if (!step(g)) return false;
        if (g->pc == from && state_of(g) == state) return true;
    }
    return false;
}

/* What a group that was stepped has come to is seen to as after a turn. */
static void left_behind(struct place *p, struct emu_group *g)
{
    if (g->state == GROUP_SPLIT) emu_group_split(g);
    if (g->state != GROUP_DONE) return;
    p->cta.running--;
    emu_barrier_check(&p->cta);
}

static bool goes_nowhere(struct hand *h)
{
    bool any = false;
    for (struct place *p = h->resident; p; p = p->next) {
        count_for(h, p);
        for (u32 k = 0; k < p->cta.group_count; k++) {
            struct emu_group *g = &p->cta.groups[p->cta.group_at[k]];
            if (g->state != GROUP_READY && g->state != GROUP_WAIT) continue;
            any = true;
            if (!goes_round(h->wp->m->program, g)) {
                left_behind(p, g);
                return false;
            }
        }
    }
    return any;
}

/* Whether all host threads are stuck: each must have looked since the last one got stuck or ended, since
 * what that one stored before may be what another waits for. */
static bool deadlocked(struct hand *h)
{
    struct emu_workplace *wp = h->wp;
    u32 before = atomic_load(&h->stuck), epoch = atomic_load(&wp->epoch);
    bool stuck = goes_nowhere(h);
    atomic_store(&h->stuck, stuck ? epoch : 0);
    if (wp->hand_count == 1) return stuck;
    if (stuck != (before != 0)) atomic_fetch_add(&wp->epoch, 1);
    for (u32 t = 0; t < wp->hand_count; t++) {
        u32 other = atomic_load(&wp->hands[t].stuck);
        if (other != epoch && other != HAND_ENDED) return false;
    }
    return atomic_load(&wp->epoch) == epoch;
}

/* Nobody can go on: the time of every mbarrier.try_wait runs out. false: there is none, or it has done so
 * before, and all is as it was then. */
static bool time_out(struct hand *h)
{
    u64 state = 0;
    bool any = false;
    for (struct place *p = h->resident; p; p = p->next)
        for (u32 k = 0; k < p->cta.group_count; k++) {
            struct emu_group *g = &p->cta.groups[p->cta.group_at[k]];
            if (g->state != GROUP_WAIT || !emu_may_time_out(g->pc)) continue;
            u64 own[2] = {state_of(g), (u64)(uintptr_t)g->pc};
            state = mix(state, own, sizeof own);
            g->time_is_up = any = true;
        }
    if (!any || (h->time_outs && state == h->stuck_state) || h->time_outs == MOST_TIME_OUTS)
        return false;
    h->stuck_state = state;
    h->time_outs++;
    return true;
}

static struct place *admit_one(struct hand *h, u32 linear)
{
    struct place *p = h->spare;
    if (p) h->spare = p->next;
    else p = place_new(h);
    cta_start(h, p, linear);
    p->next = NULL;
    *h->last = p;
    h->last = &p->next;
    return p;
}

/* Begins the next CTA, or the CTAs of the next cluster. false: there is none. */
static bool admit(struct hand *h)
{
    struct emu_workplace *wp = h->wp;
    const struct emu_machine *m = wp->m;
    u32 number = atomic_fetch_add(&wp->next, 1);
    if (number >= m->cta_count / m->cluster_size) return false;
    if (m->cluster_size == 1) {
        if (number > atomic_load(&wp->stop_at)) return false;
        admit_one(h, number);
        return true;
    }
    u32 n[3], at[3];
    for (int i = 0; i < 3; i++) n[i] = m->launch->grid[i] / m->cluster[i];
    at[0] = number % n[0], at[1] = number / n[0] % n[1], at[2] = number / n[0] / n[1];
    struct place *places[16];
    for (u32 r = 0; r < m->cluster_size; r++) {
        u32 x = at[0] * m->cluster[0] + r % m->cluster[0];
        u32 y = at[1] * m->cluster[1] + r / m->cluster[0] % m->cluster[1];
        u32 z = at[2] * m->cluster[2] + r / m->cluster[0] / m->cluster[1];
        places[r] = admit_one(h, x + m->launch->grid[0] * (y + m->launch->grid[1] * z));
        places[r]->cta.rank = r;
        places[r]->cta.sm = number % m->sms;
    }
    for (u32 r = 0; r < m->cluster_size; r++) {
        for (u32 q = 0; q < m->cluster_size; q++) places[r]->cta.cluster[q] = &places[q]->cta;
        for (u32 i = 0; i < m->program->codes[0]->fill_count; i++) {
            const struct emu_fill *f = &m->program->codes[0]->fills[i];
            for (u32 k = 0; f->kind == FILL_SPECIAL && k < places[r]->cta.group_count; k++)
                fill(&places[r]->cta.groups[places[r]->cta.group_at[k]], f, m);
        }
    }
    return true;
}

/* Whether the CTA may be put away: with a cluster, only when all of it has ended. */
static bool whole_cluster_ended(const struct place *p)
{
    for (u32 r = 0; r < p->cta.cluster_size; r++)
        if (p->cta.cluster_size > 1 && p->cta.cluster[r]->running) return false;
    return true;
}

static void remove_place(struct hand *h, struct place **at)
{
    struct place *p = *at;
    *at = p->next;
    if (h->last == &p->next) h->last = at;
    p->next = h->spare;
    h->spare = p;
}

/* A CTA has failed. Those that may wait for it must not fail in its stead: all of its cluster, or all that
 * there are where CTAs may wait for each other (then there is one host thread). */
static void give_up_on(struct hand *h, struct place *p)
{
    for (u32 r = 0; r < p->cta.cluster_size; r++) p->cta.cluster[r]->failed = true;
    if (h->wp->m->program->talks) atomic_store(&h->wp->give_up, true);
}

static void tell_progress(struct emu_workplace *wp, u64 spent)
{
    double t = now();
    if (t - wp->told < 0.2) return;
    wp->told = t;
    wp->config->progress(wp->config->progress_self, spent, t - wp->started);
}

static bool over_limit(struct hand *h)
{
    struct emu_workplace *wp = h->wp;
    u64 spent = atomic_fetch_add(&wp->spent, h->instructions) + h->instructions;
    h->instructions = 0;
    if (wp->config->progress && h == wp->hands) tell_progress(wp, spent);
    return (wp->limit && spent > wp->limit) || late(wp);
}

static void *work(void *arg)
{
    struct hand *h = arg;
    struct emu_workplace *wp = h->wp;
    u32 patience = wp->m->program->talks || wp->m->cluster_size > 1 ? PATIENCE_TALKS : PATIENCE;
    h->last = &h->resident;
    bool more = true;
    while (!atomic_load(&wp->give_up)) {
        if (!h->resident && !(more && (more = admit(h)))) break;
        if (over_limit(h) && h->resident) {
            pthread_mutex_lock(&wp->lock);
            bool first = !atomic_exchange(&wp->give_up, true);
            pthread_mutex_unlock(&wp->lock);
            struct emu_group *g = &h->resident->cta.groups[h->resident->cta.group_at[0]];
            if (first) launch_raise_stop(g, EMU_LIMIT, wp->limit);
            break;
        }
        bool ran = false, impatient = true, removed = false;
        for (struct place **at = &h->resident; *at;) {
            struct place *p = *at;
            if (p->cta.failed ||
                p->cta.linear > atomic_load(&wp->stop_at)) { /* an earlier CTA has failed */
                removed = true;
                remove_place(h, at);
                continue;
            }
            enum progress progress = p->cta.running ? run_turn(h, p) : STUCK;
            if (!p->cta.running) progress = ENDED;
            if (progress == FAILED) {
                give_up_on(h, p);
                remove_place(h, at);
                removed = true;
                continue;
            }
            if (progress == ENDED) {
                if (p->turns != UINT32_MAX) {
                    tell_cta(&p->cta, EMU_SYNC_CTA_EXIT);
                    if (h->ctas) h->ctas[p->cta.sm]++;
                    deliver(wp, p);
                }
                p->turns = UINT32_MAX;
                if (whole_cluster_ended(p)) {
                    ran = removed = true;
                    remove_place(h, at);
                    continue;
                }
                at = &p->next;
                continue;
            }
            if (progress == STUCK && only_barriers(p)) {
                stuck_at_barriers(p);
                remove_place(h, at);
                removed = true;
                continue;
            }
            ran |= progress == RAN;
            impatient &= p->turns >= patience;
            at = &p->next;
        }
        if (removed || !impatient) continue;
        if (more && (more = admit(h))) continue;
        if (ran && h->resident && ++h->passes % 16 == 0 && deadlocked(h) && !time_out(h)) {
            atomic_store(&wp->is_deadlock, true);
            atomic_store(&wp->give_up, true);
            break;
        }
        if (!ran && h->resident && time_out(h)) continue;
        if (!ran && h->resident) { /* nobody can go on, and nobody is left to come */
            struct emu_group *g = &h->resident->cta.groups[h->resident->cta.group_at[0]];
            launch_raise_stop(g, EMU_DEADLOCK, 0);
            break;
        }
    }
    over_limit(h);
    atomic_fetch_add(&wp->epoch, 1);
    atomic_store(&h->stuck, HAND_ENDED);
    if (atomic_load(&wp->is_deadlock) && h->resident)
        launch_raise_stop(&h->resident->cta.groups[h->resident->cta.group_at[0]], EMU_DEADLOCK, 0);
    return NULL;
}

static void gather(struct emu_workplace *wp, struct launch_counts *out)
{
    const struct emu_program *p = wp->m->program;
    out->ctas = arena_array(out->arena, u64, wp->m->sms);
    for (u32 t = 0; t < wp->hand_count; t++)
        for (u32 sm = 0; sm < wp->m->sms; sm++) {
            struct emu_site *s = wp->hands[t].sites ? wp->hands[t].sites[sm] : NULL;
            if (!s) continue;
            launch_counts_add(out, sm, s, wp->hands[t].blocks[sm], p);
            out->ctas[sm] += wp->hands[t].ctas[sm];
            free(s);
            free(wp->hands[t].blocks[sm]);
        }
}

void launch_run(struct emu_machine *m, const struct emu_config *config, struct arena *arena,
                u32 threads, struct emu_fault *fault, struct launch_counts *counts)
{
    struct emu_workplace wp = {
        .m = m, .config = config, .limit = config->max_instructions, .arena = arena};
    pthread_mutex_init(&wp.lock, NULL);
    atomic_init(&wp.stop_at, UINT32_MAX);
    atomic_init(&wp.deliver, 0);
    atomic_init(&wp.epoch, 1);
    wp.deadline = m->deadline;
    atomic_init(&wp.spent, m->spent);
    if (config->progress) wp.started = wp.told = now();
    wp.ended = arena_array(arena, u64, m->cta_count / 64 + 1);
    u32 clusters = m->cta_count / m->cluster_size;
    if (m->program->talks || m->watched || threads < 1) threads = 1;
    if (threads > clusters) threads = clusters;
    wp.hand_count = threads;
    m->parallel = threads > 1;
    m->workplace = &wp;
    wp.hands = arena_array(arena, struct hand, threads);
    pthread_t *ids = arena_array(arena, pthread_t, threads);
    for (u32 t = 0; t < threads; t++) {
        struct hand *h = &wp.hands[t];
        h->wp = &wp;
        h->worker.machine = m;
        h->worker.global = mem_base(m->mem);
        h->worker.bounds = arena_array(arena, struct emu_bound, m->program->site_count);
        if (config->count) {
            h->sites = arena_array(arena, struct emu_site *, m->sms);
            h->blocks = arena_array(arena, struct emu_block_count *, m->sms);
            h->ctas = arena_array(arena, u64, m->sms);
            h->worker.who = arena_alloc(arena, m->shared_size / 4 + 1);
        }
    }
    u32 started = 0; /* beside this thread */
    for (u32 t = 1; t < threads; t++, started++)
        if (pthread_create(&ids[t], NULL, work, &wp.hands[t]) != 0) break;
    work(&wp.hands[0]);
    for (u32 t = 1; t <= started; t++) pthread_join(ids[t], NULL);
    for (u32 t = 0; t < threads; t++) {
        struct hand *h = &wp.hands[t];
        for (struct place *p = h->resident, *next; p; p = next) next = p->next, place_free(p, m);
        for (struct place *p = h->spare, *next; p; p = next) next = p->next, place_free(p, m);
    }
    while (wp.outboxes) { /* of CTAs behind one that failed */
        struct emu_outbox *o = wp.outboxes;
        wp.outboxes = o->next;
        outbox_free(o);
    }
    if (config->count) gather(&wp, counts);
    counts->instructions = atomic_load(&wp.spent) - m->spent;
    *fault = wp.fault;
    pthread_mutex_destroy(&wp.lock);
}
