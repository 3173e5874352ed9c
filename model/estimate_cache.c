#include "model/estimate_cache.h"

#include "base/buf.h"
#include "base/pages.h"
#include "emu/trace.h"
#include "model/nested_grids.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 128, /* the last ones */
    QUEUED = 8, /* launches that wait or are being computed: each has a copy of its trace, */
    MOST_COPIED = 64 << 20 /* bytes of all, or more for one */
};

struct estimate_cache {
    struct known {
        struct buf key;
        struct launch_estimate time;
        bool failed;     /* there is none, and the key will go */
        uint32_t queued; /* launches of a queue that wait for it: until then it is not replaced */
    } known[KEPT];
    size_t next; /* to be replaced */
};

struct estimate_cache *estimate_cache_new(void)
{
    struct estimate_cache *all = calloc(1, sizeof *all);
    if (!all) abort();
    return all;
}

void estimate_cache_free(struct estimate_cache *all)
{
    for (size_t i = 0; all && i < KEPT; i++) buf_free(&all->known[i].key);
    free(all);
}

static void put(struct buf *key, const void *p, size_t size)
{
    buf_add(key, p, size);
}
static void put_u64(struct buf *key, uint64_t x)
{
    put(key, &x, sizeof x);
}
static void put_text(struct buf *key, const char *s)
{
    put(key, s, strlen(s) + 1);
}
static void put_numbers(struct buf *key, const struct emu_number *n, size_t count)
{
    put_u64(key, count);
    for (size_t i = 0; i < count; i++) put_text(key, n[i].name), put_u64(key, n[i].value);
}

/* Modules may have kernels of one name. */
static void put_code(struct buf *key, const struct emu_trace *t)
{
    for (uint32_t i = 0; i < t->inst_count; i++) {
        const struct trace_inst *in = &t->insts[i];
        if (in->op) put(key, in->op->text, in->op->text_length);
        const size_t regs = in->reads + in->writes; /* if there are none, there may be no list */
        if (regs) put(key, &t->regs[in->reg], regs * sizeof *t->regs);
        put_u64(key, (uint64_t)in->reads << 32 | in->writes);
        put_u64(key, (uint64_t)in->pending << 2 | (uint64_t)in->combined << 1 | in->dead_result);
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many atomics the lines have that have any, wherever they are: on one word all wait for each other. */
static void put_atomics(struct buf *key, const uint64_t *of_line)
{
    uint64_t some[TRACE_ATOMIC_BUCKETS];
    size_t n = 0;
    for (size_t i = 0; of_line && i < TRACE_ATOMIC_BUCKETS; i++)
        if (of_line[i]) some[n++] = of_line[i];
    qsort(some, n, sizeof *some, by_size);
    put_u64(key, n);
    put(key, some, n * sizeof *some);
}

/* The instructions of each SM, or if they are of a file, of each warp that was traced. */
static void put_shares(struct buf *key, const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    for (size_t p = 0; p < c->phase_count; p++) {
        put(key, &c->phases[p].total, sizeof c->phases[p].total);
        for (uint32_t s = 0; c->phases[p].sm && s < c->sms; s++)
            put_u64(key, c->phases[p].sm[s].warp_instructions);
    }
    if (c->phase_count && c->phases[0].sm) return;
    for (uint32_t i = 0; i < t->cta_count + t->heavy_count; i++) {
        const struct trace_cta *x = i < t->cta_count ? t->ctas[i] : t->heavy[i - t->cta_count];
        put_u64(key, x->linear);
        for (uint32_t w = 0; w < x->warp_count; w++) put_u64(key, x->warps[w].instructions);
    }
}

void estimate_cache_key(struct buf *key, const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    put_text(key, c->kernel);
    put_text(key, c->gpu->name);
    put(key, c->grid, sizeof c->grid);
    put(key, c->block, sizeof c->block);
    put(key, c->cluster, sizeof c->cluster);
    put_u64(key, c->shared);
    put_u64(key, c->occupancy.ctas);
    put_text(key, c->order);
    put_numbers(key, c->numbers, c->number_count);
    put_numbers(key, c->options, c->option_count);
    put_shares(key, c);
    put_u64(key, c->instruction_count);
    for (size_t i = 0; i < c->instruction_count; i++)
        put_u64(key, c->instructions[i].warp), put_u64(key, c->instructions[i].thread);
    put_code(key, t);
    put_atomics(key, t->atomics);
    put_u64(key, t->instructions);
    put_u64(key, t->cta_count);
    put_u64(key, (uint64_t)(c->busy_waits != 0) << 2 | (uint64_t)t->cut << 1 | t->again);
}

static bool is_same(const struct buf *a, const struct buf *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static struct known *find(struct estimate_cache *all, const struct buf *key)
{
    for (size_t i = 0; i < KEPT; i++)
        if (is_same(&all->known[i].key, key)) return &all->known[i];
    return NULL;
}

/* The key is the cache's from now on. */
static struct known *add(struct estimate_cache *all, struct buf key)
{
    while (all->known[all->next % KEPT].queued) all->next++; /* QUEUED at most */
    struct known *k = &all->known[all->next++ % KEPT];
    buf_free(&k->key);
    *k = (struct known){.key = key};
    return k;
}

bool estimate_cache_get(struct estimate_cache *all, const struct emu_counts *c,
                        struct launch_estimate *out)
{
    struct buf key = {0};
    if (!c || !c->trace) return false;
    if (timing_hops_in_use()) return launch_estimate_of(c, out); /* they follow from addresses */
    estimate_cache_key(&key, c);
    const struct known *known = find(all, &key);
    if (known) *out = known->time;
    if (known || !launch_estimate_of(c, out)) {
        buf_free(&key);
        return known;
    }
    add(all, key)->time = *out;
    return true;
}

size_t estimate_cache_get_all(struct estimate_cache *all, const struct emu_counts *c,
                              struct launch_estimate **out)
{
    size_t n = 0, count = 0;
    for (const struct emu_counts *l = c; l; l = l->next) n++;
    struct launch_estimate *t = calloc(n + 1, sizeof *t);
    const struct emu_counts **of = calloc(n + 1, sizeof(struct emu_counts *));
    if (!t || !of) abort();
    for (; c; c = c->next)
        if (all ? estimate_cache_get(all, c, &t[count]) : launch_estimate_of(c, &t[count]))
            of[count++] = c;
    nested_estimates(of, t, count);
    free(of);
    *out = t;
    return count;
}

/* ---- on another host thread ----------------------------------------------------------------------------- */

/* What a launch's estimate reads of its counts. The emulator reuses their memory in the next launch, and a module that is
 * unloaded takes its instructions along. The GPU and the order stay. */

struct memory { /* of a copy: reused by the next one, as fresh pages take longer than copying */
    char *at;
    size_t size, used;
};

enum { ALIGNED = 8 };

static void *copy(struct memory *m, const void *from, size_t size)
{
    void *to = m->at + m->used;
    m->used += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (m->used > m->size) abort(); /* size_of() is wrong */
    if (size) memcpy(to, from, size);
    return to;
}
#define COPY(m, from, count) copy((m), (from), (count) * sizeof *(from))

static size_t size_of_ctas(const struct trace_cta **list, uint32_t count)
{
    size_t size = count * (sizeof(struct trace_cta *) + sizeof(struct trace_cta)) + ALIGNED;
    for (uint32_t k = 0; k < count; k++) {
        const struct trace_cta *c = list[k];
        size += c->line_count * sizeof *c->lines;
        for (uint32_t w = 0; w < c->warp_count; w++)
            size += sizeof *c->warps + c->warps[w].count * sizeof(uint32_t) + ALIGNED;
    }
    return size;
}

static uint32_t reg_count(const struct emu_trace *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->inst_count; i++) {
        const struct trace_inst *x = &t->insts[i];
        if (x->reads + x->writes && x->reg + x->reads + x->writes > count)
            count = x->reg + x->reads + x->writes;
    }
    return count;
}

/* At most. */
static size_t size_of(const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    size_t size = sizeof *c + sizeof *c->phases + sizeof *t + strlen(c->kernel) + 1 + 16 * ALIGNED;
    size += size_of_ctas(t->ctas, t->cta_count) + size_of_ctas(t->heavy, t->heavy_count);
    size += t->atomics ? TRACE_ATOMIC_BUCKETS * sizeof *t->atomics : 0;
    for (uint32_t i = 0; i < t->inst_count; i++)
        size += sizeof *t->insts +
                (t->insts[i].op ? sizeof(struct ptx_op) + ALIGNED + t->insts[i].op->text_length
                                : 0);
    return size + (reg_count(t) + t->site_count) * sizeof(uint32_t) +
           t->block_count * sizeof *t->blocks;
}

static const struct trace_cta **copy_ctas(struct memory *m, const struct trace_cta **from,
                                          uint32_t count)
{
    const struct trace_cta **list = COPY(m, from, count);
    for (uint32_t k = 0; k < count; k++) {
        struct trace_cta *c = COPY(m, from[k], 1);
        c->warps = COPY(m, c->warps, c->warp_count);
        c->lines = COPY(m, c->lines, c->line_count);
        for (uint32_t w = 0; w < c->warp_count; w++)
            c->warps[w].words = COPY(m, c->warps[w].words, c->warps[w].count);
        list[k] = c;
    }
    return list;
}

/* Of an instruction's row it has the form, and the text as it was written. */
static const struct ptx_op *copy_op(struct memory *m, const struct ptx_op *from)
{
    struct ptx_op *op = COPY(m, from, 1);
    op->text = COPY(m, op->text, op->text_length);
    op->shapes = NULL, op->next = NULL, op->gate = NULL;
    return op;
}

static void copy_code(struct memory *m, struct emu_trace *t)
{
    const uint32_t regs = reg_count(t);
    struct trace_inst *insts = COPY(m, t->insts, t->inst_count);
    for (uint32_t i = 0; i < t->inst_count; i++)
        if (insts[i].op) insts[i].op = copy_op(m, insts[i].op);
    t->insts = insts;
    t->regs = COPY(m, t->regs, regs);
    t->blocks = COPY(m, t->blocks, t->block_count);
    t->site_inst = COPY(m, t->site_inst, t->site_count);
}

static const struct emu_counts *copy_counts(struct memory *m, const struct emu_counts *from)
{
    const size_t size = size_of(from);
    if (m->size < size) {
        pages_free(m->at, m->size);
        /* for a larger trace, too: the host has no pages where nothing is written */
        m->size = 2 * size;
        m->at = pages_new(m->size, PAGES_DENSE);
    }
    m->used = 0;
    struct emu_counts *c = COPY(m, from, 1);
    struct emu_phase *phase = COPY(m, from->phases, 1);
    struct emu_trace *t = COPY(m, from->trace, 1);
    phase->sm = NULL;
    c->kernel = copy(m, from->kernel, strlen(from->kernel) + 1);
    c->phases = phase, c->phase_count = 1;
    c->trace = t;
    c->instruction_count = c->wait_count = 0;
    t->ctas = copy_ctas(m, t->ctas, t->cta_count);
    t->heavy = copy_ctas(m, t->heavy, t->heavy_count);
    if (t->atomics) t->atomics = COPY(m, t->atomics, TRACE_ATOMIC_BUCKETS);
    copy_code(m, t);
    return c;
}

struct queued {
    enum { QUEUED_WAITS, QUEUED_RUNS, QUEUED_DONE } state;
    bool ended; /* the launch */
    struct known *known;
    struct memory memory; /* of the copy, if it is to be computed */
    const struct emu_counts *counts;
};

struct estimate_queue {
    struct estimate_cache *cache;
    void (*done)(void *self, struct launch_estimate *t, bool ended);
    void *self;
    struct queued ring[QUEUED];
    size_t first, count;
    size_t copied; /* bytes, of those in the ring */
    struct memory
        spare[QUEUED]; /* of copies that are no longer needed; the caller's thread alone */
    size_t spare_count;
    pthread_t thread;
    pthread_mutex_t lock; /* of the states in the ring, first and count, and what follows */
    pthread_cond_t changed;
    bool has_thread, ends;
};

static struct queued *queued_at(struct estimate_queue *q, size_t k)
{
    return &q->ring[(q->first + k) % QUEUED];
}

/* Computes the oldest one that waits. The caller has the lock. false: none does. */
static bool compute_one(struct estimate_queue *q)
{
    struct queued *x = NULL;
    for (size_t k = 0; k < q->count && !x; k++)
        if (queued_at(q, k)->state == QUEUED_WAITS) x = queued_at(q, k);
    if (!x) return false;
    x->state = QUEUED_RUNS;
    pthread_mutex_unlock(&q->lock);
    x->known->failed = !launch_estimate_of(x->counts, &x->known->time);
    pthread_mutex_lock(&q->lock);
    x->state = QUEUED_DONE;
    pthread_cond_broadcast(&q->changed);
    return true;
}

static void *work(void *queue)
{
    struct estimate_queue *q = queue;
    pthread_mutex_lock(&q->lock);
    while (!q->ends)
        if (!compute_one(q)) pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Those that are done before all others leave the queue. The caller has the lock. */
static void take_done(struct estimate_queue *q)
{
    for (struct queued *x; q->count && (x = queued_at(q, 0))->state == QUEUED_DONE;) {
        struct launch_estimate t = x->known->time;
        x->known->queued--;
        if (x->known->failed) buf_free(&x->known->key);
        else q->done(q->self, &t, x->ended);
        if (x->counts) q->spare[q->spare_count++] = x->memory;
        q->copied -= x->memory.used;
        q->first++, q->count--;
    }
}

/* Until at most `left` are in the queue. The caller has the lock. */
static void drain(struct estimate_queue *q, size_t left)
{
    for (take_done(q); q->count > left || q->copied > MOST_COPIED; take_done(q))
        if (!compute_one(q)) pthread_cond_wait(&q->changed, &q->lock);
}

void estimate_queue_settle(struct estimate_queue *q)
{
    pthread_mutex_lock(&q->lock);
    drain(q, 0);
    pthread_mutex_unlock(&q->lock);
}

struct estimate_queue *
estimate_queue_new(struct estimate_cache *all,
                   void (*done)(void *self, struct launch_estimate *t, bool ended), void *self)
{
    struct estimate_queue *q = calloc(1, sizeof *q);
    if (!q) abort();
    *q = (struct estimate_queue){.cache = all, .done = done, .self = self};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    return q;
}

void estimate_queue_free(struct estimate_queue *q)
{
    if (!q) return;
    estimate_queue_settle(q);
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (q->has_thread) pthread_join(q->thread, NULL);
    while (q->spare_count--) pages_free(q->spare[q->spare_count].at, q->spare[q->spare_count].size);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

/* Nothing of what the copy leaves out is asked for. */
static bool is_for_queue(const struct emu_counts *c)
{
    return c->trace && c->trace->cta_count && !c->next && !timing_hops_in_use() &&
           strcmp(c->order, "native") == 0;
}

/* Without a thread, the caller computes what it adds when the queue is full or settled. */
bool estimate_queue_add(struct estimate_queue *q, const struct emu_counts *c, bool ended)
{
    struct queued x = {.state = QUEUED_DONE, .ended = ended};
    struct buf key = {0};
    pthread_mutex_lock(&q->lock);
    drain(q, is_for_queue(c) ? QUEUED - 1 : 0);
    pthread_mutex_unlock(&q->lock);
    if (!is_for_queue(c)) return false;
    estimate_cache_key(&key, c);
    x.known = find(q->cache, &key);
    if (x.known) buf_free(&key);
    else {
        x.known = add(q->cache, key);
        x.state = QUEUED_WAITS;
        if (q->spare_count) x.memory = q->spare[--q->spare_count];
        x.counts = copy_counts(&x.memory, c);
    }
    x.known->queued++;
    pthread_mutex_lock(&q->lock);
    *queued_at(q, q->count++) = x;
    q->copied += x.memory.used;
    if (!q->has_thread) q->has_thread = pthread_create(&q->thread, NULL, work, q) == 0;
    pthread_cond_broadcast(&q->changed);
    take_done(q);
    pthread_mutex_unlock(&q->lock);
    return true;
}
