#include "model/estimate_cache.h"

#include "base/buf.h"
#include "emu/trace.h"
#include "model/nested_grids.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 128 }; /* the last ones */

struct estimate_cache {
    struct known {
        struct buf key;
        struct launch_estimate time;
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

bool estimate_cache_get(struct estimate_cache *all, const struct emu_counts *c,
                        struct launch_estimate *out)
{
    struct buf key = {0};
    if (!c || !c->trace) return false;
    if (timing_hops_in_use()) return launch_estimate_of(c, out); /* they follow from addresses */
    estimate_cache_key(&key, c);
    for (size_t i = 0; i < KEPT; i++)
        if (is_same(&all->known[i].key, &key)) {
            *out = all->known[i].time;
            buf_free(&key);
            return true;
        }
    if (!launch_estimate_of(c, out)) {
        buf_free(&key);
        return false;
    }
    struct known *k = &all->known[all->next++ % KEPT];
    buf_free(&k->key);
    *k = (struct known){key, *out};
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
