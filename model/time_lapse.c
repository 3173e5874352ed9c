/* Records a time lapse (model/time_lapse.h): a row of numbers for each interval; merges pairs of rows when there are too many. */
#include "model/time_lapse.h"

#include "model/timing_internal.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

const char *lapse_mode_name(enum lapse_mode m)
{
    static const char *const names[LAPSE_MODES] = {[LAPSE_PARALLEL] = "parallel",
                                                   [LAPSE_COMMIT] = "commit",
                                                   [LAPSE_SERIAL] = "serial",
                                                   [LAPSE_FLUSH] = "flush"};
    return names[m];
}

static u64 tick(double cycles)
{
    return (u64)(cycles * LAPSE_TICKS + 0.5);
}

static void *grown(void *list, size_t count, size_t size)
{
    void *p = realloc(list, count ? count * size : 1);
    if (!p) abort();
    return p;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static void halve(struct time_lapse *l)
{
    for (u32 i = 0; 2 * i < l->intervals; i++) {
        u64 *to = l->rows + i * l->width;
        const u64 *a = l->rows + 2 * (size_t)i * l->width, *b = a + l->width;
        if (2 * i + 1 < l->intervals)
            for (size_t k = 0; k < l->width; k++) to[k] = a[k] + b[k];
        else if (i) memcpy(to, a, l->width * sizeof *to);
    }
    l->intervals = (l->intervals + 1) / 2;
    l->interval *= 2;
}

static size_t most_rows(const struct time_lapse *l)
{
    if (!l->fixed) return LAPSE_AUTO_INTERVALS;
    const size_t most = LAPSE_MOST_BYTES / (l->width * sizeof *l->rows);
    return most < 2 ? 2 : most;
}

/* at / (ticks of an interval). Those that were not asked for are powers of two. */
static u64 interval_of(const struct time_lapse *l, u64 at)
{
    const u64 each = (u64)(l->interval * LAPSE_TICKS);
    return l->fixed ? at / each : at >> __builtin_ctzll(each);
}

static u32 interval_new(struct time_lapse *l, u64 at)
{
    u64 k;
    while ((k = interval_of(l, at)) >= most_rows(l)) {
        halve(l);
        l->coarser |= l->fixed;
    }
    if (k >= l->row_cap) {
        size_t cap = l->row_cap ? 2 * l->row_cap : 64;
        while (cap <= k) cap *= 2;
        l->rows = grown(l->rows, cap * l->width, sizeof *l->rows);
        l->row_cap = cap;
        l->space = cap * l->width;
    }
    for (; l->intervals <= k; l->intervals++)
        memset(l->rows + l->intervals * l->width, 0, l->width * sizeof *l->rows);
    return (u32)k;
}

/* The number of the interval that has the tick; its row is there. */
static inline u32 interval_at(struct time_lapse *l, u64 at)
{
    const u64 k = interval_of(l, at);
    return k < l->intervals ? (u32)k : interval_new(l, at);
}

static u64 *sm_at(const struct time_lapse *l, u32 interval, u32 sm)
{
    return l->rows + interval * l->width + (size_t)sm * LAPSE_SM_COLUMNS;
}

static u64 *slice_at(const struct time_lapse *l, u32 interval, u32 slice)
{
    return sm_at(l, interval, l->sms) + (size_t)slice * LAPSE_SLICE_COLUMNS;
}

/* Ticks from `from` to `to`, times `times`, to a column of the SM: to each interval its part. */
static void add_span(struct time_lapse *l, u32 sm, u32 column, u64 from, u64 to, u64 times)
{
    if (to <= from) return;
    (void)interval_at(l, to - 1); /* the interval does not change below */
    const u64 each = (u64)(l->interval * LAPSE_TICKS);
    for (u64 k = interval_of(l, from); from < to; k++) {
        const u64 end = (k + 1) * each < to ? (k + 1) * each : to;
        sm_at(l, (u32)k, sm)[column] += (end - from) * times;
        from = end;
    }
}

/* ---- what the timing model reports ------------------------------------------------------------------------------ */

/* An interval that the run most likely needs: merging rows costs more than the run itself. A warp seldom issues more often
 * than in each 16th cycle. */
static double first_interval(const struct emu_trace *t)
{
    enum { CYCLES = 16 };
    u64 most = 0;
    double interval = 1;
    for (u32 i = 0; i < t->cta_count; i++)
        for (u32 w = 0; w < t->ctas[i]->warp_count; w++)
            if (t->ctas[i]->warps[w].recorded > most) most = t->ctas[i]->warps[w].recorded;
    while (2 * interval * LAPSE_AUTO_INTERVALS <= (double)(CYCLES * most)) interval *= 2;
    return interval;
}

void time_lapse_begin(struct timing *c)
{
    struct time_lapse *l = c->lapse;
    const double interval = l->interval, start = l->from_one ? 1 : first_interval(c->t);
    *l = (struct time_lapse){.interval = interval >= 1 ? interval : start,
                             .wants_issues = l->wants_issues,
                             .fixed = interval >= 1,
                             .from_one = l->from_one,
                             .start = start,
                             .sms = c->sms,
                             .schedulers = c->m->schedulers,
                             .slices = c->m->slices,
                             .channels = c->m->channels,
                             .instructions = c->t->inst_count,
                             .rows = l->rows,
                             .space = l->space};
    l->interval = (double)(u64)l->interval;
    l->width = (size_t)l->sms * LAPSE_SM_COLUMNS + (size_t)l->slices * LAPSE_SLICE_COLUMNS +
               l->channels + l->instructions + LAPSE_LANE_BINS;
    l->lanes = c->t->lanes;
    l->row_cap = l->space / l->width;
    l->line_ticks = timing_calloc((size_t)l->instructions * TIMING_PARTS, sizeof *l->line_ticks);
    l->slot_cta = timing_calloc((size_t)c->sms * c->slots, sizeof *l->slot_cta);
    l->sm_names = timing_calloc(c->sms, sizeof *l->sm_names);
    for (u32 sm = 0; sm < c->sms; sm++)
        l->sm_names[sm] = sm < c->t->cta_count
                              ? trace_sm_of(c->t->sms, c->t->recorded_sms, c->t->ctas[sm]->linear)
                              : sm;
}

void time_lapse_part(struct timing *c, u32 scheduler, enum timing_part part, double begin,
                     double end)
{
    if (end > begin)
        add_span(c->lapse, scheduler / c->m->schedulers, (u32)part, tick(begin), tick(end), 1);
}

static void add_issue(struct timing *c, const struct timing_warp *w, double taken, double now)
{
    struct time_lapse *l = c->lapse;
    const u32 cta = l->slot_cta[w->cta];
    if (!cta) return;
    if (l->issue_count == LAPSE_MOST_ISSUES) {
        l->issues_left_out++;
        return;
    }
    if (l->issue_count == l->issue_cap) {
        l->issue_cap = l->issue_cap ? 2 * l->issue_cap : 1024;
        l->issues = grown(l->issues, l->issue_cap, sizeof *l->issues);
    }
    l->issues[l->issue_count++] = (struct lapse_issue){
        .cta = cta - 1,
        .instruction = c->t->insts[w->inst].place,
        .warp = (uint16_t)(w->trace - w->cta_trace->warps),
        .part = w->part,
        .ready = taken > 0 ? now - taken : now,
        .begin = now,
        .end = now + c->issue_cycles * w->fold};
}

void time_lapse_issue(struct timing *c, u32 scheduler, const struct timing_warp *w, double last,
                      double taken, double now)
{
    struct time_lapse *l = c->lapse;
    const double fold = w->fold;
    const u8 part = w->part;
    const u32 sm = scheduler / c->m->schedulers, place = c->t->insts[w->inst].place;
    const u64 from = tick(last), free = tick(taken > 0 ? now - taken : now), issued = tick(now),
              end = tick(now + c->issue_cycles * fold);
    u64 *line = l->line_ticks + (size_t)place * TIMING_PARTS;
    add_span(l, sm, part, from, free, 1);
    add_span(l, sm, TIMING_UNIT, free, issued, 1);
    add_span(l, sm, TIMING_ISSUE, issued, end, 1);
    line[part] += free > from ? free - from : 0;
    line[TIMING_UNIT] += issued - free;
    line[TIMING_ISSUE] += end - issued;
    const u32 k = interval_at(l, issued);
    const u64 times = tick(fold);
    u64 *own = sm_at(l, k, sm), *issues = slice_at(l, k, l->slices) + l->channels;
    own[LAPSE_ISSUED] += times;
    issues[place] += times;
    if (l->lanes) {
        own[LAPSE_THREADS] += times * w->lanes;
        issues[l->instructions + (w->lanes - 1u) / LAPSE_BIN_LANES] += times;
    }
    if (l->wants_issues) add_issue(c, w, taken, now);
}

void time_lapse_l1(struct timing *c, u32 sm, u32 hits, u32 misses, double now)
{
    u64 *to = sm_at(c->lapse, interval_at(c->lapse, tick(now)), sm);
    to[LAPSE_L1_HITS] += hits * tick(c->fold);
    to[LAPSE_L1_MISSES] += misses * tick(c->fold);
}

void time_lapse_l2(struct timing *c, u32 slice, u32 sectors, u32 misses, double sent, double begin)
{
    u64 *to = slice_at(c->lapse, interval_at(c->lapse, tick(begin)), slice);
    to[LAPSE_L2_SECTORS] += sectors * tick(c->fold);
    to[LAPSE_L2_MISSES] += misses * tick(c->fold);
    if (begin > sent) to[LAPSE_L2_WAITED] += tick(begin) - tick(sent);
}

void time_lapse_dram(struct timing *c, u32 channel, u32 sectors, double now)
{
    struct time_lapse *l = c->lapse;
    slice_at(l, interval_at(l, tick(now)), l->slices)[channel] += sectors * tick(c->fold);
}

void time_lapse_cta_begin(struct timing *c, u32 slot, u32 number, double now)
{
    struct time_lapse *l = c->lapse;
    if (l->cta_count == l->cta_cap) {
        l->cta_cap = l->cta_cap ? 2 * l->cta_cap : 256;
        l->ctas = grown(l->ctas, l->cta_cap, sizeof *l->ctas);
    }
    l->ctas[l->cta_count++] = (struct lapse_cta){.linear = c->t->ctas[number]->linear,
                                                 .sm = slot / c->slots,
                                                 .slot = slot % c->slots,
                                                 .warps = c->warps_per_cta,
                                                 .begin = now,
                                                 .end = -1};
    l->slot_cta[slot] = (u32)l->cta_count;
}

void time_lapse_cta_end(struct timing *c, u32 slot, double now)
{
    struct time_lapse *l = c->lapse;
    if (!l->slot_cta[slot]) return;
    struct lapse_cta *cta = &l->ctas[l->slot_cta[slot] - 1];
    l->slot_cta[slot] = 0;
    cta->end = now;
    add_span(l, cta->sm, LAPSE_WARP_TICKS, tick(cta->begin), tick(now), cta->warps);
}

void time_lapse_mode(struct timing *c, enum lapse_mode mode, u32 sm, u32 sms, double begin,
                     double end)
{
    struct time_lapse *l = c->lapse;
    if (end <= begin) return;
    if (l->span_count == LAPSE_MOST_SPANS) {
        l->spans_left_out++;
        return;
    }
    if (l->span_count == l->span_cap) {
        l->span_cap = l->span_cap ? 2 * l->span_cap : 256;
        l->spans = grown(l->spans, l->span_cap, sizeof *l->spans);
    }
    l->spans[l->span_count++] = (struct lapse_span){(u8)mode, sm, sms, begin, end};
}

void time_lapse_end(struct timing *c)
{
    c->lapse->cycles = c->end;
    free(c->lapse->slot_cta);
    c->lapse->slot_cta = NULL;
}

void time_lapse_free(struct time_lapse *l)
{
    time_lapse_clear(l);
    free(l->rows);
    *l = (struct time_lapse){0};
}

void time_lapse_clear(struct time_lapse *l)
{
    free(l->line_ticks);
    free(l->ctas);
    free(l->spans);
    free(l->issues);
    free(l->sm_names);
    *l = (struct time_lapse){.rows = l->rows, .space = l->space};
}
