#include "model/heavy.h"

#include "emu/counts.h"
#include "model/timing_internal.h"

#include <stdlib.h>

typedef uint32_t u32;
typedef uint64_t u64;

enum { TIMES = 8 };

static u64 work_of(const struct trace_cta *c)
{
    u64 sum = 0;
    for (u32 w = 0; w < c->warp_count; w++) sum += c->warps[w].instructions;
    return sum;
}

/* Instructions of a warp that make its CTA a heavy one. */
static double bound_of(const struct emu_counts *c)
{
    const double warps = (double)c->ctas * c->trace->ctas[0]->warp_count;
    return TIMES * (double)c->phases[0].total.warp_instructions / warps;
}

static void put(struct heavy *h, const struct trace_cta *c)
{
    struct emu_trace *t = &h->trace;
    h->lists[0][t->cta_count++] = c;
    t->instructions += work_of(c);
}

static int longest_first(const void *a, const void *b)
{
    const struct trace_cta *x = *(const struct trace_cta *const *)a,
                           *y = *(const struct trace_cta *const *)b;
    const u64 m = trace_longest(x), n = trace_longest(y);
    if (m != n) return m < n ? 1 : -1;
    return (x->linear > y->linear) - (x->linear < y->linear);
}

void heavy_take(const struct emu_counts *c, struct heavy *h)
{
    const struct emu_trace *t = c->trace;
    const bool in_part = t->cta_count < c->ctas;
    *h = (struct heavy){.rest = *t, .trace = *t};
    h->rest_instructions = (double)c->phases[0].total.warp_instructions;
    h->trace.cta_count = 0, h->trace.instructions = 0;
    if (!in_part || !t->cta_count) return;
    const double bound = bound_of(c);
    h->lists[0] = timing_calloc(t->heavy_count + t->cta_count, sizeof **h->lists);
    h->lists[1] = timing_calloc(t->cta_count, sizeof **h->lists);
    h->rest.cta_count = 0, h->rest.instructions = 0;
    for (u32 k = 0; k < t->heavy_count; k++)
        if ((double)trace_longest(t->heavy[k]) > bound) put(h, t->heavy[k]);
    for (u32 k = 0; k < t->cta_count; k++)
        if ((double)trace_longest(t->ctas[k]) > bound) put(h, t->ctas[k]);
        else {
            h->lists[1][h->rest.cta_count++] = t->ctas[k];
            h->rest.instructions += work_of(t->ctas[k]);
        }
    if (!h->rest.cta_count || !h->trace.cta_count) { /* all are alike */
        h->rest = *t;
        h->trace.cta_count = 0;
        return;
    }
    qsort(h->lists[0], h->trace.cta_count, sizeof **h->lists, longest_first);
    h->longest = h->lists[0][0]->linear;
    h->rest_instructions -= (double)h->trace.instructions;
    h->trace.ctas = h->lists[0], h->rest.ctas = h->lists[1];
    if (h->trace.cta_count < h->trace.sms) h->trace.sms = h->trace.cta_count;
    h->trace.sms_traced = h->trace.sms;
}

double heavy_begin(const struct heavy *h, const struct emu_counts *c, double ordinary)
{
    const u64 at_once = (u64)c->occupancy.ctas * c->sms;
    if (h->longest < at_once) return 0;
    return ordinary * (double)(h->longest + 1 - at_once) / (double)c->ctas;
}

void heavy_free(struct heavy *h)
{
    for (size_t i = 0; i < sizeof h->lists / sizeof *h->lists; i++) free(h->lists[i]);
}
