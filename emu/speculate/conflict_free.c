/* The bookkeeping of a conflict-free run: allocations and their tags, the undo log, barriers of shared memory.
 * speculation_run() begins and ends it. Before a chunk's first store undo_log_save() saves its bytes. If two warps
 * conflicted, conflict_free_end() restores the bytes (roll_back()), and the launch runs again under its order. */
#include "emu/speculate/ownership.h"

#include "emu/cta_arena.h"
#include "emu/ops/memops.h"
#include "emu/order.h"
#include "emu/speculate/deferred.h"
#include "emu/speculate/speculation.h"
#include "ptx/ptx.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNDO_BLOCK = 1 << 20,
    MOST_UNDO = 256 << 20,
    SMALL = 64 << 10,
    SAVED_CHUNKS = 32 /* of an element of allocation_record.saved */
};
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

struct conflict_free_run *conflict_free_new(const struct emu_machine *m, u8 *tagged, bool by_thread,
                                            const struct emu_observer *observer,
                                            struct deferred_log *log)
{
    struct conflict_free_run *run = zeros(1, sizeof *run);
    run->m = m;
    run->tagged = tagged;
    run->by_thread = by_thread;
    run->observer = observer;
    run->log = log;
    pthread_mutex_init(&run->lock, NULL);
    pthread_mutex_init(&run->replay, NULL);
    return run;
}

static void thread_begins(struct emu_worker *k)
{
    struct conflict_free_run *const run = k->machine->conflict_free;
    struct conflict_free *const p = k->conflict_free = zeros(1, sizeof *p);
    const size_t sites = run->m->program->site_count, tagged = sites + TAG_KINDS;
    run->threads = realloc(run->threads, (run->thread_count + 1) * sizeof(struct conflict_free *));
    if (!run->threads) abort();
    p->thread = run->thread_count;
    run->threads[run->thread_count++] = p;
    p->run = run;
    p->m = run->m;
    p->tagged = memcpy(zeros(tagged, 1), run->tagged, tagged);
    p->by_thread = run->by_thread;
    p->observer = run->observer;
    p->log = run->log;
    if (p->log) deferred_log_thread(p->log);
    p->once = !p->by_thread && !p->tagged[sites + TAG_STORES];
    p->of_site = zeros(sites, sizeof(struct tagged_allocation *));
    p->is_free = zeros(sites, sizeof *p->is_free);
    if (p->observer) p->footprints = zeros(sites, sizeof *p->footprints);
}

static size_t shared_tags_size(const struct emu_cta *c)
{
    return (c->shared_size + TAG_WORD - 1) / TAG_WORD * sizeof(u32);
}

/* ---- the undo log ---------------------------------------------------------------------------------------- */

/* The bytes that a record's data take: rounded up, so that the record behind them is aligned. */
static size_t kept_bytes(u64 size)
{
    return (size + sizeof(struct stored) - 1) / sizeof(struct stored) * sizeof(struct stored);
}

static void save(struct conflict_free *p, const struct allocation_record *b, u64 offset, u64 size)
{
    const struct stored s = {b->host + offset, size};
    struct undo_block *u = p->undo;
    const size_t data = kept_bytes(s.size), need = data + sizeof s;
    if (!u || u->size - u->used < need) {
        u = (struct undo_block *)(void *)cta_arena_take(p->m->cta_arena, UNDO_BLOCK).at;
        *u = (struct undo_block){.before = p->undo, .size = UNDO_BLOCK - sizeof *u};
        p->undo = u;
        p->failed |= atomic_fetch_add(&p->run->undo_bytes, UNDO_BLOCK) >= MOST_UNDO;
    }
    u8 *const to = u->bytes + u->used;
    memcpy(to, s.at, s.size);
    memcpy(to + data, &s, sizeof s);
    u->used += need;
}

/* Chunks of one element of b->saved, a bit each: saves those that no host thread has undertaken to save, and waits for the
 * others. */
static void save_chunks(struct conflict_free *p, const struct allocation_record *b, u64 element,
                        u64 chunks)
{
    _Atomic u64 *const saved = &b->saved[element];
    u64 fresh = chunks & ~atomic_fetch_or(saved, chunks);
    const u64 mine = fresh;
    while (fresh) {
        const u32 from = (u32)__builtin_ctzll(fresh) / 2;
        u32 n = 0;
        for (; from + n < SAVED_CHUNKS && fresh >> 2 * (from + n) & 1; n++)
            fresh &= ~((u64)1 << 2 * (from + n));
        const u64 offset = (element * SAVED_CHUNKS + from) * TAG_CHUNK,
                  left = b->high - b->low - offset, size = (u64)n * TAG_CHUNK;
        save(p, b, offset, size < left ? size : left);
    }
    if (mine) atomic_fetch_or(saved, mine << 1);
    while (~(atomic_load(saved) >> 1) & chunks) sched_yield();
}

void undo_log_save(struct conflict_free *p, const struct allocation_record *b, u64 offset, u32 size)
{
    const u64 every = UINT64_C(0x5555555555555555), most = b->high - b->low - offset;
    if (size > most) size = (u32)most;
    if (!b->saved) {
        save(p, b, offset, size);
        return;
    }
    u64 at = offset / TAG_CHUNK;
    for (const u64 end = (offset + size - 1) / TAG_CHUNK + 1; at < end;) {
        const u64 first = at % SAVED_CHUNKS,
                  n = end - at < SAVED_CHUNKS - first ? end - at : SAVED_CHUNKS - first;
        save_chunks(p, b, at / SAVED_CHUNKS, every >> 2 * (SAVED_CHUNKS - n) << 2 * first);
        at += n;
    }
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

static void thread_free(struct conflict_free *p)
{
    for (u32 i = 0; i < p->count; i++) {
        free(p->list[i]->of_chunk);
        free(p->list[i]->loaded_by);
        free(p->list[i]);
    }
    for (struct tagged_shared *q = p->shared, *next; q; q = next) {
        next = q->next;
        free(q->tags_memory);
        free(q->seen);
        free(q);
    }
    free(p->tagged);
    free(p->of_site);
    free(p->is_free);
    free(p->footprints);
    free(p);
}

static void run_free(struct conflict_free_run *run)
{
    for (u32 t = 0; t < run->thread_count; t++) thread_free(run->threads[t]);
    for (u32 i = 0; i < run->count; i++) {
        free(run->list[i]->saved);
        free(run->list[i]);
    }
    free(run->threads);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->replay);
    free(run);
}

enum conflict_free_result conflict_free_end(struct conflict_free_run *run, bool faulted)
{
    const u32 sites = run->m->program->site_count;
    bool failed = faulted, learnt = false, doubt = false;
    for (u32 t = 0; t < run->thread_count; t++) {
        failed |= run->threads[t]->failed;
        learnt |= run->threads[t]->learnt;
        doubt |= run->threads[t]->failed && run->threads[t]->doubt;
    }
    failed = tags_conflict(run, failed);
    if (doubt) run->tagged[sites + TAG_STORES] = learnt = true;
    const enum conflict_free_result end = !failed  ? CONFLICT_FREE_COMMITTED
                                          : learnt ? CONFLICT_FREE_RETRY
                                                   : CONFLICT_FREE_FAILED;
    for (u32 t = 0; t < run->thread_count; t++) {
        struct conflict_free *const p = run->threads[t];
        if (failed) roll_back(p);
        for (u32 i = 0; p->footprints && !failed && i < sites; i++)
            footprint_report(p, &p->footprints[i]);
    }
    run_free(run);
    return end;
}

/* ---- allocations ------------------------------------------------------------------------------------------ */

/* The record of an allocation; NULL: there are too many. */
static struct allocation_record *record_of(struct conflict_free_run *run, const struct mem_block *m)
{
    struct allocation_record *r = NULL;
    pthread_mutex_lock(&run->lock);
    for (u32 i = 0; i < run->count && !r; i++)
        if (run->list[i]->low == m->address) r = run->list[i];
    if (!r && run->count < TAG_ALLOCATIONS) {
        r = run->list[run->count++] = zeros(1, sizeof *r);
        r->low = m->address;
        r->high = m->address + m->size;
        r->host = m->host;
        atomic_init(&r->uses, 0);
        if (run->thread_count > 1)
            r->saved = zeros(m->size / (TAG_CHUNK * SAVED_CHUNKS) + 1, sizeof *r->saved);
    }
    pthread_mutex_unlock(&run->lock);
    return r;
}

static struct tagged_allocation *allocation_of(struct conflict_free *p, const struct mem_block *m)
{
    for (u32 i = 0; i < p->count; i++)
        if (p->list[i]->low == m->address) return p->list[i];
    struct allocation_record *const r = record_of(p->run, m);
    if (!r) return NULL;
    struct tagged_allocation *b = p->list[p->count++] = zeros(1, sizeof *b);
    b->record = r;
    b->low = r->low;
    b->high = r->high;
    b->host = r->host;
    b->loaded_by = zeros(p->m->program->site_count, sizeof *b->loaded_by);
    return b;
}

/* This thread uses the allocation in a way that is new to it. Of two threads at once the later one sees both uses. */
static void note_use(struct conflict_free *p, const struct tagged_allocation *b, u32 use)
{
    if (p->run->thread_count == 1) return;
    const u32 was = atomic_fetch_or(&b->record->uses, use), reduced = was >> USE_BITS;
    if (!uses_conflict(was | use) && !(use >> USE_BITS && reduced && reduced != use >> USE_BITS))
        return;
    p->learnt = p->failed = true;
}

void tagged_log(struct tagged_allocation *b)
{
    b->logged = true;
    atomic_fetch_or(&b->record->uses, USE_LOGGED);
}

struct tagged_allocation *tagged_find(struct conflict_free *p, u32 site, u64 address, u32 size,
                                      bool write)
{
    struct tagged_allocation *b = p->of_site[site];
    if (b && address >= b->low && address <= b->high - size) return b;
    const struct mem_block *m = mem_find(p->m->mem, address, size);
    if (!m || m->host_only || (write && (m->constant || m->read_only))) return NULL;
    return p->of_site[site] = allocation_of(p, m);
}

void tagged_load_free(struct conflict_free *p, struct tagged_allocation *b, u32 site)
{
    b->loaded = b->loaded_by[site] = true;
    note_use(p, b, USE_LOADED);
    if (b->reduced) tagged_change(p, b);
    if (!b->stored) return;
    p->tagged[site] = 1;
    p->learnt = p->failed = true;
}

void tagged_make_tags(struct conflict_free *p, struct tagged_allocation *b)
{
    const size_t chunks = (b->high - b->low) / TAG_CHUNK + 1;
    b->tags = (u32 *)(void *)cta_arena_take(p->m->cta_arena, chunks * TAG_CHUNK).at;
    b->of_chunk = zeros(chunks, sizeof *b->of_chunk);
    note_use(p, b, USE_TAGGED);
}

void tagged_only_reduce(struct conflict_free *p, struct tagged_allocation *b, u32 tag)
{
    if (p->observer || b->of_chunk || b->loaded) return;
    if (!p->log) {
        if (b->high - b->low > SMALL) return;
        undo_log_save(p, b->record, 0, (u32)(b->high - b->low));
    }
    b->reduced = tag;
    note_use(p, b, USE_REDUCED | tag << USE_BITS);
}

void tagged_change(struct conflict_free *p, struct tagged_allocation *b)
{
    b->stored = true;
    note_use(p, b, USE_STORED);
    if (!b->loaded && !b->reduced) return;
    for (u32 i = 0; i < p->m->program->site_count; i++) p->tagged[i] |= b->loaded_by[i];
    p->learnt = p->failed = true;
}

static void allocation_found(const struct emu_group *g, const struct emu_uop *in,
                             const struct mem_block *b, bool write)
{
    struct conflict_free *p = g->worker->conflict_free;
    const struct mem_desc *v = in->ext;
    p->failed |= v->space == PTX_SPACE_CONST && !b->constant; /* nobody looks at these */
    if (write || !p->is_free[in->site]) return;               /* it has been tagged */
    struct tagged_allocation *of = allocation_of(p, b);
    if (of) tagged_load_free(p, of, in->site);
    else p->failed = true;
}

/* The order is given the log of CTAs that have ended. What it changes is kept before it does. One host thread is at it at
 * any time; the others go on with their CTAs. */
static void ctas_ended(const struct emu_worker *k, u32 ctas)
{
    enum { PIECE = 1 << 16 };
    struct conflict_free *const p = k->conflict_free;
    struct conflict_free_run *const run = p->run;
    if (!p->log || p->failed || !deferred_log_is_large(p->log)) return;
    if (pthread_mutex_trylock(&run->replay) != 0) return;
    if (ctas > run->replayed) run->replayed = ctas;
    pthread_mutex_lock(&run->lock);
    const u32 count = run->count;
    pthread_mutex_unlock(&run->lock);
    for (u32 i = 0; i < count; i++) {
        struct allocation_record *const b = run->list[i];
        if (!(atomic_load(&b->uses) & USE_LOGGED) || b->kept) continue;
        b->kept = true;
        p->failed |= b->high - b->low > MOST_UNDO;
        for (u64 o = 0; !p->failed && o < b->high - b->low; o += PIECE)
            undo_log_save(p, b, o, PIECE);
    }
    if (!p->failed) deferred_log_replay(p->log, run->replayed);
    pthread_mutex_unlock(&run->replay);
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
    memset(s->tags, 0, shared_tags_size(c));
    memset(s->seen, 0, c->groups->worker->machine->program->site_count * sizeof *s->seen);
    s->phase = 1;
}

struct tagged_shared *tagged_shared_of(struct conflict_free *p, struct emu_cta *c)
{
    struct tagged_shared *s = c->tags;
    if (!s) {
        s = c->tags = zeros(1, sizeof *s);
        s->tags_memory = zeros(1, shared_tags_size(c) + 2 * LANES * sizeof *s->tags);
        s->tags = s->tags_memory + LANES;
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
    struct conflict_free *const p = g->worker->conflict_free;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        struct deferred_event *e = deferred_log_add(p->log, p->thread, g->cta, g->first + w, 0, 0);
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
    struct conflict_free *const p = g->worker->conflict_free;
    p->failed |= !waits || (threads && threads < g->cta->living);
    for (u32 w = 0; p->log && w < g->warps; w++) p->failed |= g->exec[w] != g->alive[w];
    if (p->log)
        note(g, &(struct deferred_event){
                    .kind = DEFERRED_BARRIER, .op = (u8)id, .flags = EMU_RELEASE | EMU_ACQUIRE});
}

static void fence(const struct emu_group *g, const struct emu_uop *in)
{
    if (g->worker->conflict_free->log && !in->n)
        note(g, &(struct deferred_event){
                    .kind = DEFERRED_FENCE, .flags = in->y, .scope = in->x, .dead = in->z});
}

/* Threads that wait for all others, and whom all others wait for, know of each other. Not those that have ended: they
 * may have been there in this phase. */
static void barrier_complete(const struct emu_cta *c, u32 id)
{
    struct tagged_shared *const s = c->tags;
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

/* A few times only those loads are tagged that were without in this phase, then all. */
void tagged_shared_used(struct conflict_free *p, const struct tagged_shared *s)
{
    const u32 had = s->had, sites = p->m->program->site_count;
    u8 *const tagged = p->tagged + sites;
    if (had & TAG_LOADED && had & (TAG_CHANGED | TAG_ADDED)) {
        for (u32 i = 0; i < sites; i++) p->tagged[i] |= s->seen[i] == s->phase;
        if (tagged[TAG_LOADS] < TAG_ALL) tagged[TAG_LOADS]++;
        p->learnt = p->failed = true;
    }
    if (had & TAG_ADDED && had & ~(u32)TAG_ADDED) {
        tagged[TAG_REDUCTIONS] = 1;
        p->learnt = p->failed = true;
    }
}

const struct speculation conflict_free_speculation = {.name = "conflict-free",
                                                      .thread_begins = thread_begins,
                                                      .allocation_found = allocation_found,
                                                      .fence = fence,
                                                      .barrier_arrival = barrier_arrival,
                                                      .barrier_complete = barrier_complete,
                                                      .ctas_ended = ctas_ended};
