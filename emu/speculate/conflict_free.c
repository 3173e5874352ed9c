/* The bookkeeping of a conflict-free run: allocations and their tags, the undo log, barriers of shared memory. */
#include "emu/speculate/ownership.h"

#include "emu/cta_arena.h"
#include "emu/ops/memops.h"
#include "emu/order.h"
#include "emu/speculate/deferred.h"
#include "emu/speculate/speculation.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { UNDO_BLOCK = 1 << 20, MOST_UNDO = 256 << 20, SMALL = 64 << 10 };
/* What was in memory: bytes, and behind them where and how many they were. */
struct undo_block {
    struct undo_block *before;
    size_t used, size;
    u8 bytes[];
};
struct stored {
    u8 *at;
    u64 size;
};

static void *zeros(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) abort();
    return p;
}

struct conflict_free *conflict_free_new(const struct emu_machine *m, u8 *marked, bool by_thread,
                                        const struct emu_observer *observer,
                                        struct deferred_log *log)
{
    struct conflict_free *p = zeros(1, sizeof *p);
    const size_t sites = m->program->site_count;
    p->m = m;
    p->marked = marked;
    p->by_thread = by_thread;
    p->observer = observer;
    p->log = log;
    p->once = !by_thread && !marked[sites + TAG_STORES];
    p->of_site = zeros(sites, sizeof(struct tagged_allocation *));
    p->is_free = zeros(sites, sizeof *p->is_free);
    if (observer) p->told = zeros(sites, sizeof *p->told);
    return p;
}

static size_t shared_marks_size(const struct emu_cta *c)
{
    return (c->shared_size + TAG_WORD - 1) / TAG_WORD * sizeof(u32);
}

/* ---- the undo log ---------------------------------------------------------------------------------------- */

static size_t kept_bytes(u64 size) /* a multiple of what a record's address is */
{
    return (size + sizeof(struct stored) - 1) / sizeof(struct stored) * sizeof(struct stored);
}

void undo_log_save(struct conflict_free *p, const struct tagged_allocation *b, u64 offset, u32 size)
{
    const u64 room = b->high - b->low - offset;
    const struct stored s = {b->host + offset, size < room ? size : room};
    struct undo_block *u = p->undo;
    const size_t data = kept_bytes(s.size), need = data + sizeof s;
    if (!u || u->size - u->used < need) {
        u = (struct undo_block *)(void *)cta_arena_take(p->m->cta_arena, UNDO_BLOCK).at;
        *u = (struct undo_block){.before = p->undo, .size = UNDO_BLOCK - sizeof *u};
        p->undo = u;
        p->undo_bytes += UNDO_BLOCK;
        p->failed |= p->undo_bytes > MOST_UNDO;
    }
    u8 *const to = u->bytes + u->used;
    memcpy(to, s.at, s.size);
    memcpy(to + data, &s, sizeof s);
    u->used += need;
}

/* The last ones first. */
static void roll_back(struct conflict_free *p)
{
    for (struct undo_block *u = p->undo; u; u = u->before)
        while (u->used) {
            struct stored s;
            memcpy(&s, u->bytes + u->used - sizeof s, sizeof s);
            u->used -= sizeof s + kept_bytes(s.size);
            memcpy(s.at, u->bytes + u->used, s.size);
        }
}

void footprint_report(const struct conflict_free *p, const struct footprint_run *t)
{
    if (t->to > t->from)
        p->observer->footprint(p->observer->self, t->from, t->to - t->from, t->kind, t->flags);
}

enum conflict_free_result conflict_free_end(struct conflict_free *p, bool faulted)
{
    if (p->failed && p->doubt) {
        p->marked[p->m->program->site_count + TAG_STORES] = 1;
        p->learnt = true;
    }
    const enum conflict_free_result end = !faulted && !p->failed ? CONFLICT_FREE_COMMITTED
                                          : p->learnt            ? CONFLICT_FREE_RETRY
                                                                 : CONFLICT_FREE_FAILED;
    if (end != CONFLICT_FREE_COMMITTED) roll_back(p);
    for (u32 i = 0; p->told && end == CONFLICT_FREE_COMMITTED && i < p->m->program->site_count; i++)
        footprint_report(p, &p->told[i]);
    for (u32 i = 0; i < p->count; i++) {
        free(p->list[i]->of_chunk);
        free(p->list[i]->loaded_by);
        free(p->list[i]);
    }
    for (struct tagged_shared *q = p->shared, *next; q; q = next) {
        next = q->next;
        free(q->room);
        free(q->seen);
        free(q);
    }
    free(p->of_site);
    free(p->is_free);
    free(p->told);
    free(p);
    return end;
}

/* ---- allocations ------------------------------------------------------------------------------------------ */

static struct tagged_allocation *allocation_of(struct conflict_free *p, const struct mem_block *m)
{
    for (u32 i = 0; i < p->count; i++)
        if (p->list[i]->low == m->address) return p->list[i];
    if (p->count == sizeof p->list / sizeof *p->list) return NULL;
    struct tagged_allocation *b = p->list[p->count++] = zeros(1, sizeof *b);
    b->low = m->address;
    b->high = m->address + m->size;
    b->host = m->host;
    b->loaded_by = zeros(p->m->program->site_count, sizeof *b->loaded_by);
    return b;
}

struct tagged_allocation *tagged_find(struct conflict_free *p, u32 site, u64 address, u32 size,
                                      bool write)
{
    struct tagged_allocation *b = p->of_site[site];
    if (b && address >= b->low && address <= b->high - size) return b;
    const struct mem_block *m = mem_find(p->m->mem, address, size);
    if (!m || (write && (m->constant || m->read_only))) return NULL;
    return p->of_site[site] = allocation_of(p, m);
}

void tagged_load_free(struct conflict_free *p, struct tagged_allocation *b, u32 site)
{
    b->loaded = b->loaded_by[site] = true;
    if (b->reduced) tagged_change(p, b);
    if (!b->stored) return;
    p->marked[site] = 1;
    p->learnt = p->failed = true;
}

void tagged_make_tags(struct conflict_free *p, struct tagged_allocation *b)
{
    const size_t chunks = (b->high - b->low) / TAG_CHUNK + 1;
    b->marks = (u32 *)(void *)cta_arena_take(p->m->cta_arena, chunks * TAG_CHUNK).at;
    b->of_chunk = zeros(chunks, sizeof *b->of_chunk);
}

void tagged_only_reduce(struct conflict_free *p, struct tagged_allocation *b, u32 mark)
{
    if (p->observer || b->of_chunk || b->loaded) return;
    if (!p->log) {
        if (b->high - b->low > SMALL) return;
        undo_log_save(p, b, 0, (u32)(b->high - b->low));
    }
    b->reduced = mark;
}

void tagged_change(struct conflict_free *p, struct tagged_allocation *b)
{
    b->stored = true;
    if (!b->loaded && !b->reduced) return;
    for (u32 i = 0; i < p->m->program->site_count; i++) p->marked[i] |= b->loaded_by[i];
    p->learnt = p->failed = true;
}

static void allocation_found(const struct emu_group *g, const struct emu_uop *in,
                             const struct mem_block *b, bool write)
{
    struct conflict_free *p = g->worker->machine->conflict_free;
    const struct mem_desc *v = in->ext;
    p->failed |= v->space == PTX_SPACE_CONST && !b->constant; /* nobody looks at these */
    if (write || !p->is_free[in->site]) return;               /* it has been marked */
    struct tagged_allocation *of = allocation_of(p, b);
    if (of) tagged_load_free(p, of, in->site);
    else p->failed = true;
}

/* What the order changes is kept before it does. */
static void ctas_ended(const struct emu_machine *m, u32 ctas)
{
    enum { PIECE = 1 << 16 };
    struct conflict_free *const p = m->conflict_free;
    if (!p->log || p->failed || !deferred_log_is_large(p->log)) return;
    for (u32 i = 0; i < p->count; i++) {
        struct tagged_allocation *const b = p->list[i];
        if (!b->logged || b->kept) continue;
        b->kept = true;
        p->failed |= b->high - b->low > MOST_UNDO;
        for (u64 o = 0; !p->failed && o < b->high - b->low; o += PIECE)
            undo_log_save(p, b, o, PIECE);
    }
    if (!p->failed) deferred_log_replay(p->log, ctas);
}

/* ---- shared memory ---------------------------------------------------------------------------------------- */

static void begin_phase(struct tagged_shared *s, const struct emu_cta *c)
{
    s->had = 0;
    s->here = 0;
    for (u32 k = 0; k < c->group_count; k++) {
        const struct emu_group *g = &c->groups[c->group_at[k]];
        for (u32 w = 0; w < g->warps; w++)
            s->alive[g->first + w] = g->state == GROUP_DONE ? 0 : g->alive[w];
    }
    if (++s->phase < TAG_PHASES) return;
    memset(s->marks, 0, shared_marks_size(c));
    memset(s->seen, 0, c->groups->worker->machine->program->site_count * sizeof *s->seen);
    s->phase = 1;
}

struct tagged_shared *tagged_shared_of(struct conflict_free *p, struct emu_cta *c)
{
    struct tagged_shared *s = c->marks;
    if (!s) {
        s = c->marks = zeros(1, sizeof *s);
        s->room = zeros(1, shared_marks_size(c) + 2 * LANES * sizeof *s->marks);
        s->marks = s->room + LANES;
        s->seen = zeros(p->m->program->site_count, sizeof *s->seen);
        s->cta = UINT32_MAX;
        s->next = p->shared;
        p->shared = s;
    }
    if (s->cta != c->linear) {
        s->cta = c->linear;
        begin_phase(s, c);
    }
    return s;
}

/* Into the log, for all warps that are there. */
static void note(const struct emu_group *g, const struct deferred_event *of)
{
    struct conflict_free *const p = g->worker->machine->conflict_free;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        struct deferred_event *e = deferred_log_add(p->log, g->cta, g->first + w, 0, 0);
        p->failed |= !e;
        if (!e) continue;
        e->kind = of->kind;
        e->op = of->op;
        e->flags = of->flags;
        e->scope = of->scope;
        e->dead = of->dead;
    }
}

static void barrier_arrival(const struct emu_group *g, u32 id, u32 threads, bool waits)
{
    struct conflict_free *const p = g->worker->machine->conflict_free;
    p->failed |= !waits || (threads && threads < g->cta->living);
    for (u32 w = 0; p->log && w < g->warps; w++) p->failed |= g->exec[w] != g->alive[w];
    if (p->log)
        note(g, &(struct deferred_event){
                    .kind = DEFERRED_BARRIER, .op = (u8)id, .flags = EMU_RELEASE | EMU_ACQUIRE});
}

static void fence(const struct emu_group *g, const struct emu_uop *in)
{
    if (g->worker->machine->conflict_free->log && !in->n)
        note(g, &(struct deferred_event){
                    .kind = DEFERRED_FENCE, .flags = in->y, .scope = in->x, .dead = in->z});
}

/* Threads that wait for all others, and whom all others wait for, know of each other. Not those that have ended: they
 * may have been there in this phase. */
static void barrier_complete(const struct emu_cta *c, u32 id)
{
    struct tagged_shared *const s = c->marks;
    if (!s || s->cta != c->linear) return;
    for (u32 k = 0; k < c->group_count; k++) {
        const struct emu_group *g = &c->groups[c->group_at[k]];
        const bool done = g->state == GROUP_DONE;
        if (!done && (g->state != GROUP_BARRIER || g->barrier != id)) return;
        for (u32 w = 0; w < g->warps; w++)
            if (s->here >> (g->first + w) & 1 && s->alive[g->first + w] & ~(done ? 0 : g->alive[w]))
                return;
    }
    begin_phase(s, c);
}

/* A few times only those loads are marked that were without in this phase, then all. */
void tagged_shared_used(struct conflict_free *p, const struct tagged_shared *s)
{
    const u32 had = s->had, sites = p->m->program->site_count;
    u8 *const marked = p->marked + sites;
    if (had & TAG_LOADED && had & (TAG_CHANGED | TAG_ADDED)) {
        for (u32 i = 0; i < sites; i++) p->marked[i] |= s->seen[i] == s->phase;
        if (marked[TAG_LOADS] < TAG_ALL) marked[TAG_LOADS]++;
        p->learnt = p->failed = true;
    }
    if (had & TAG_ADDED && had & ~(u32)TAG_ADDED) {
        marked[TAG_REDUCTIONS] = 1;
        p->learnt = p->failed = true;
    }
}

const struct speculation conflict_free_speculation = {.name = "conflict-free",
                                                      .allocation_found = allocation_found,
                                                      .fence = fence,
                                                      .barrier_arrival = barrier_arrival,
                                                      .barrier_complete = barrier_complete,
                                                      .ctas_ended = ctas_ended};
