/* Concurrent execution of the grids of one launch (model/nested_grids.h).
 *
 * A strand is a unit of progress: a CTA that launches or waits, or all other CTAs of a grid together. All running strands
 * are slowed down by the same factor, so there is a common clock of work, `done`, which advances by the pace in each cycle.
 * The next event of a running strand is a point on that clock; the end of a latency is a point in time. Each kind of event
 * has a heap. */
#include "model/nested_grids.h"

#include "emu/trace.h"
#include "model/config.h"
#include "model/launch_estimate.h"
#include "model/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

#define NONE UINT32_MAX

struct point { /* of a heap */
    double when;
    u32 what;
};
struct heap {
    struct point *of;
    size_t count;
};

struct step {  /* of a strand */
    double at; /* work since the strand began */
    u32 grid, cta;
    u32 child; /* it launches the grid at that place; NONE: it waits, */
    u32 left;  /* for so many grids that have not ended */
    u64 rank;  /* in the program of the CTA */
};

struct strand {
    u32 grid;
    bool is_rest;
    double begins, length; /* work since the grid began; its own */
    double share;          /* of what the grid uses, while it runs */
    struct step *next, *end;
    struct step *waits; /* NULL: it does not */
};

struct grid {
    u32 before,
        behind;        /* the grids that must end before it begins, that it must end before; NONE */
    u32 tail;          /* of those that it makes the one that is next; NONE */
    struct step *wait; /* of its parent's CTA, for it; NULL */
    size_t first, count; /* strands */
    size_t running;      /* those that have not ended */
    size_t children;     /* grids that it makes and that have not ended, but for tail launches */
    bool is_launched, is_ready, has_begun, has_ended;
};

struct run {
    struct nested_grid *g;
    struct grid *s;
    size_t count, step_count, strand_count;
    struct strand *strands;
    struct step *steps; /* by grid and CTA, in the order of its program */
    struct heap work, times;
    double now, done, asked[NESTED_SHARED];
    size_t going; /* strands that run */
};

static void *must(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

static bool is_before(struct point a, struct point b)
{
    return a.when < b.when || (a.when == b.when && a.what < b.what);
}

/* Heaps are as large as all that may be in them. */
static void heap_add(struct heap *h, double when, u32 what)
{
    size_t i = h->count++;
    const struct point p = {when, what};
    for (; i && is_before(p, h->of[(i - 1) / 2]); i = (i - 1) / 2) h->of[i] = h->of[(i - 1) / 2];
    h->of[i] = p;
}

static u32 heap_take(struct heap *h)
{
    const u32 what = h->of[0].what;
    const struct point p = h->of[--h->count];
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < h->count; i = k) {
        if (k + 1 < h->count && is_before(h->of[k + 1], h->of[k])) k++;
        if (!is_before(h->of[k], p)) break;
        h->of[i] = h->of[k];
    }
    h->of[i] = p;
    return what;
}

/* ---- what happens ---------------------------------------------------------------------------------------- */

static void set_going(struct run *r, const struct strand *x, bool going)
{
    for (int i = 0; i < NESTED_SHARED; i++)
        r->asked[i] += (going ? x->share : -x->share) * r->g[x->grid].use[i];
    r->going = going ? r->going + 1 : r->going - 1;
    if (!r->going) memset(r->asked, 0, sizeof r->asked);
}

static double pace_of(const struct run *r)
{
    double most = 1;
    for (int i = 0; i < NESTED_SHARED; i++) most = fmax(most, r->asked[i]);
    return 1 / most;
}

static void launch_grid(struct run *r, u32 grid)
{
    r->s[grid].is_launched = true;
    r->g[grid].launched = r->now;
    heap_add(&r->times, r->now + r->g[grid].start, grid);
}

static void begin_if_it_can(struct run *r, u32 grid)
{
    struct grid *s = &r->s[grid];
    const struct nested_grid *g = &r->g[grid];
    const struct grid *parent = &r->s[g->how.parent];
    if (!s->is_ready || s->has_begun || (s->behind != NONE && !r->s[s->behind].has_ended)) return;
    if (grid && g->how.is_tail && (parent->running || parent->children)) return;
    s->has_begun = true;
    r->g[grid].begins = r->now;
    for (size_t i = s->first; i < s->first + s->count; i++)
        heap_add(&r->work, r->done + r->strands[i].begins, (u32)i);
}

/* The next step of the strand, or its end, is so much work away. */
static void go_on(struct run *r, struct strand *x, double from)
{
    const double to = x->next < x->end ? x->next->at : x->length;
    heap_add(&r->work, r->done + fmax(0, to - from), (u32)(x - r->strands));
}

static void go_on_behind(struct run *r, struct step *wait)
{
    struct grid *s = &r->s[wait->grid];
    for (size_t i = s->first; i < s->first + s->count; i++)
        if (r->strands[i].waits == wait) {
            struct strand *x = &r->strands[i];
            x->waits = NULL;
            set_going(r, x, true);
            go_on(r, x, wait->at);
        }
}

/* All strands of the grid have ended, or a grid that it has launched: it may have ended, and with it its parent. */
static void end_if_it_can(struct run *r, u32 grid)
{
    for (;;) {
        struct grid *s = &r->s[grid];
        if (!s->has_begun || s->has_ended || s->running || s->children) return;
        if (s->tail != NONE) {
            begin_if_it_can(r, s->tail);
            return;
        }
        s->has_ended = true;
        r->g[grid].ends = r->now;
        if (!grid) return;
        const u32 parent = r->g[grid].how.parent;
        if (r->g[grid].how.is_tail) r->s[parent].tail = s->before;
        else r->s[parent].children--;
        if (s->wait && !--s->wait->left) go_on_behind(r, s->wait);
        if (s->before != NONE) begin_if_it_can(r, s->before);
        grid = parent;
    }
}

/* The strand is at a point where it begins, does something, or ends. */
static void advance(struct run *r, struct strand *x, bool begins)
{
    double at = 0;
    if (begins) set_going(r, x, true);
    else if (x->next < x->end) {
        struct step *step = x->next++;
        at = step->at;
        if (step->child != NONE) launch_grid(r, step->child);
        else if (step->left) {
            x->waits = step;
            set_going(r, x, false);
            return;
        }
    } else {
        set_going(r, x, false);
        r->s[x->grid].running--;
        end_if_it_can(r, x->grid);
        return;
    }
    go_on(r, x, at);
}

static void carry_out(struct run *r)
{
    bool *begun = must(r->strand_count, sizeof *begun);
    while (r->work.count || r->times.count) {
        const double pace = pace_of(r);
        const double at = r->work.count ? r->now + (r->work.of[0].when - r->done) / pace : HUGE_VAL;
        if (r->times.count && r->times.of[0].when < at) {
            r->done += (r->times.of[0].when - r->now) * pace;
            r->now = r->times.of[0].when;
            const u32 grid = heap_take(&r->times);
            r->s[grid].is_ready = true;
            begin_if_it_can(r, grid);
            continue;
        }
        r->now = at;
        r->done = r->work.of[0].when;
        const u32 strand = heap_take(&r->work);
        advance(r, &r->strands[strand], !begun[strand]);
        begun[strand] = true;
    }
    free(begun);
}

/* ---- strands --------------------------------------------------------------------------------------------- */

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->grid != y->grid) return x->grid < y->grid ? -1 : 1;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    if (x->at < y->at || x->at > y->at) return x->at < y->at ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Work for so many instructions. */
static double work_of(const struct nested_grid *g, u64 instructions)
{
    const double rounds = ceil((double)g->ctas / (double)g->resident);
    const double part = g->longest ? (double)instructions / (double)g->longest : 1;
    return g->cycles / rounds * fmin(1, part);
}

/* Steps of all CTAs: launches and waits, in the order of the program. What a CTA waits for was launched before by one of its
 * warps, whose number of instructions may be greater. */
static void make_steps(struct run *r)
{
    size_t n = 0;
    for (u32 i = 0; i < r->count; i++) r->step_count += r->g[i].wait_count + 1;
    r->steps = must(r->step_count, sizeof *r->steps);
    for (u32 i = 0; i < r->count; i++) {
        const struct nested_grid *g = &r->g[i];
        const struct nested_grid *parent = &r->g[g->how.parent];
        for (u32 k = 0; k < g->wait_count; k++)
            r->steps[n++] = (struct step){.grid = i,
                                          .cta = g->waits[k].cta,
                                          .at = work_of(g, g->waits[k].at),
                                          .child = NONE,
                                          .rank = 2 * (u64)k + 1};
        if (!i) continue;
        u64 at = g->how.at;
        const u32 wait = g->how.wait <= parent->wait_count ? g->how.wait : 0;
        if (wait && parent->waits[wait - 1].at < at) at = parent->waits[wait - 1].at;
        r->steps[n++] = (struct step){.grid = g->how.parent,
                                      .cta = g->how.cta,
                                      .at = work_of(parent, at),
                                      .child = i,
                                      .rank = wait ? 2 * (u64)(wait - 1) : UINT64_MAX};
    }
    r->step_count = n;
    qsort(r->steps, n, sizeof *r->steps, compare_steps);
}

/* What waits of grid i are for: the children say it by the number of the wait. */
static void join_waits(struct run *r)
{
    size_t *first = must(r->count + 1, sizeof *first);
    for (u32 i = 0; i < r->count; i++) first[i + 1] = first[i] + r->g[i].wait_count;
    struct step **wait = must(first[r->count], sizeof(struct step *));
    for (size_t i = 0; i < r->step_count; i++) {
        struct step *x = &r->steps[i];
        if (x->child == NONE) wait[first[x->grid] + x->rank / 2] = x;
    }
    for (u32 i = 1; i < r->count; i++) {
        const struct nested_grid *g = &r->g[i];
        if (!g->how.wait || g->how.wait > r->g[g->how.parent].wait_count) continue;
        r->s[i].wait = wait[first[g->how.parent] + g->how.wait - 1];
        r->s[i].wait->left++;
    }
    free(wait);
    free(first);
}

static void add_strand(struct run *r, u32 grid, struct step *from, struct step *to)
{
    struct strand *x = &r->strands[r->strand_count++];
    const struct nested_grid *g = &r->g[grid];
    const u32 cta = from->cta;
    const double rounds = fmax(1, (double)g->ctas / (double)g->resident);
    const u64 length = g->length ? g->length(g->of, cta) : 0;
    *x = (struct strand){.grid = grid,
                         .begins = floor((double)cta / (double)g->resident) *
                                   work_of(g, g->longest),
                         .length = work_of(g, length ? length : g->longest),
                         .share = rounds / (double)g->ctas,
                         .next = from,
                         .end = to};
    if (to > from) x->length = fmax(x->length, to[-1].at);
}

/* A strand for each CTA that has steps, and one for all others, which lasts as long as the grid does alone. */
static void make_strands(struct run *r)
{
    struct step *at = r->steps, *const end = r->steps + r->step_count;
    r->strands = must(r->step_count + r->count, sizeof *r->strands);
    for (u32 i = 0; i < r->count; i++) {
        struct grid *s = &r->s[i];
        s->first = r->strand_count;
        while (at < end && at->grid == i) {
            struct step *next = at;
            while (next < end && next->grid == i && next->cta == at->cta) next++;
            add_strand(r, i, at, next);
            at = next;
        }
        const double ctas = (double)r->g[i].ctas, some = (double)(r->strand_count - s->first);
        r->strands[r->strand_count++] = (struct strand){.grid = i,
                                                        .is_rest = true,
                                                        .length = r->g[i].cycles,
                                                        .share = fmax(0, ctas - some) / ctas};
        s->count = s->running = r->strand_count - s->first;
    }
}

/* ---- streams --------------------------------------------------------------------------------------------- */

struct link {
    u32 parent, cta, place;
    u64 stream;
    bool tail;
};

static int compare_links(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    if (x->tail != y->tail) return x->tail ? 1 : -1;
    if (x->cta != y->cta) return x->cta < y->cta ? -1 : 1;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void put_behind(struct run *r, u32 first, u32 second)
{
    r->s[first].before = second;
    r->s[second].behind = first;
}

/* Which grid is behind which: of one stream in one CTA, of tail launches of one parent; all of a parent whose streams wait. */
static void make_links(struct run *r)
{
    struct link *of = must(r->count, sizeof *of);
    for (u32 i = 0; i < r->count; i++) {
        const struct emu_nesting *how = &r->g[i].how;
        r->s[i].before = r->s[i].behind = r->s[i].tail = NONE;
        const bool alone = how->is_tail || how->in_order;
        of[i] = (struct link){.parent = how->parent,
                              .cta = alone ? 0 : how->cta,
                              .place = i,
                              .stream = alone ? 0 : how->stream,
                              .tail = how->is_tail};
    }
    qsort(of, r->count, sizeof *of, compare_links);
    for (u32 i = 0; i < r->count; i++) {
        const struct link *x = &of[i], *y = i ? &of[i - 1] : NULL;
        if (!x->place) continue;
        const struct emu_nesting *how = &r->g[x->place].how;
        const bool same = y && y->place && y->parent == x->parent && y->tail == x->tail &&
                          y->cta == x->cta && y->stream == x->stream;
        if (same && (!how->is_free || how->in_order || how->is_tail))
            put_behind(r, y->place, x->place);
        else if (x->tail) r->s[x->parent].tail = x->place;
        if (!x->tail) r->s[x->parent].children++;
    }
    free(of);
}

double nested_run(struct nested_grid *grids, size_t count)
{
    struct run r = {.g = grids, .s = must(count, sizeof *r.s), .count = count};
    double end = 0;
    make_steps(&r);
    join_waits(&r);
    make_strands(&r);
    make_links(&r);
    r.work.of = must(r.strand_count, sizeof *r.work.of);
    r.times.of = must(count, sizeof *r.times.of);
    launch_grid(&r, 0);
    carry_out(&r);
    for (u32 i = 0; i < count; i++) {
        /* Nothing in a program leads here: what a faulty list of grids leaves over comes behind the rest. */
        if (!r.s[i].has_ended) {
            grids[i].begins = fmax(grids[i].begins, r.now);
            grids[i].ends = r.now = grids[i].begins + grids[i].cycles;
        }
        end = fmax(end, grids[i].ends);
    }
    free(r.work.of);
    free(r.times.of);
    free(r.strands);
    free(r.steps);
    free(r.s);
    return end;
}

/* ---- estimates ------------------------------------------------------------------------------------------- */

static u64 longest_of(const struct trace_cta *c)
{
    u64 most = 0;
    for (u32 w = 0; w < c->warp_count; w++)
        if (c->warps[w].instructions > most) most = c->warps[w].instructions;
    return most;
}

/* nested_grid.length, of an emu_trace: both lists are in the order of the CTAs' linear index. */
static u64 length_of(const void *of, u32 cta)
{
    const struct emu_trace *t = of;
    const struct trace_cta **lists[] = {t->ctas, t->heavy};
    const u32 counts[] = {t->cta_count, t->heavy_count};
    for (int k = 0; k < 2; k++) {
        u32 low = 0, high = counts[k];
        while (low < high) {
            const u32 middle = low + (high - low) / 2;
            if (lists[k][middle]->linear < cta) low = middle + 1;
            else high = middle;
        }
        if (low < counts[k] && lists[k][low]->linear == cta) return longest_of(lists[k][low]);
    }
    return 0;
}

static struct nested_grid grid_of(const struct emu_counts *c, const struct launch_estimate *t,
                                  bool by_host)
{
    struct timing_machine m;
    (void)machine_of(c->gpu, &m);
    const struct emu_events *e = &c->phases[0].total;
    const double start = fmin(m.start, t->cycles), cycles = t->cycles - start,
                 sectors = (double)(e->cache.dram_reads + e->cache.dram_writes),
                 issues = (double)c->sms * c->gpu->schedulers * c->gpu->issue;
    const u64 resident = (u64)c->sms * (c->occupancy.ctas ? c->occupancy.ctas : 1);
    struct nested_grid g = {.how = c->nesting,
                            .wait_count = c->wait_count,
                            .waits = c->waits,
                            .start = by_host ? start : NESTED_LATENCY,
                            .cycles = cycles,
                            .ctas = c->ctas,
                            .resident = resident,
                            .length = length_of,
                            .of = c->trace};
    g.use[NESTED_SLOTS] = fmin(1, (double)c->ctas / (double)resident);
    if (cycles > 0) {
        g.use[NESTED_ISSUE] = fmin(1, (double)e->warp_instructions / (cycles * issues));
        g.use[NESTED_DRAM] = fmin(1, sectors / (cycles * config_dram_rate(c->gpu)));
    }
    for (u32 i = 0; i < c->trace->cta_count; i++) {
        const u64 n = longest_of(c->trace->ctas[i]);
        if (n > g.longest) g.longest = n;
    }
    for (u32 i = 0; i < c->trace->heavy_count; i++) {
        const u64 n = longest_of(c->trace->heavy[i]);
        if (n > g.longest) g.longest = n;
    }
    return g;
}

struct numbered {
    u32 number, place;
};

static int compare_numbers(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Parents by place: `number` is by the order in which the grids began. That of a parent which is not there, the host's. */
static void find_parents(struct nested_grid *g, size_t count)
{
    struct numbered *of = must(count, sizeof *of);
    for (size_t i = 0; i < count; i++) of[i] = (struct numbered){g[i].how.number, (u32)i};
    qsort(of, count, sizeof *of, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (of[middle].number < g[i].how.parent) low = middle + 1;
            else high = middle;
        }
        const bool known = low < count && of[low].number == g[i].how.parent && of[low].place < i;
        g[i].how.parent = known ? of[low].place : 0;
    }
    free(of);
}

void nested_estimates(const struct emu_counts *const *c, struct launch_estimate *t, size_t count)
{
    if (count < 2) return;
    struct nested_grid *g = must(count, sizeof *g);
    double one_by_one = 0;
    for (size_t i = 0; i < count; i++) g[i] = grid_of(c[i], &t[i], i == 0);
    find_parents(g, count);
    const double all = nested_run(g, count);
    for (size_t i = 0; i < count; i++) {
        const double more = g[i].start + g[i].cycles - t[i].cycles; /* than a launch by the host */
        t[i].part[more < 0 ? TIMING_IDLE : TIMING_START] += more;
        t[i].cycles += more;
        one_by_one += t[i].cycles;
    }
    for (size_t i = 0; i < count; i++) {
        t[i].begins = g[i].begins;
        t[i].overlap = t[i].cycles * (1 - all / one_by_one);
        t[i].seconds = config_seconds(c[i]->gpu, t[i].cycles);
        t[i].ipc = (double)t[i].thread_instructions / t[i].cycles;
        t[i].bound = launch_bound(&t[i]);
        t[i].low = t[i].high = 0;
        t[i].warnings |= LAUNCH_NESTED;
    }
    free(g);
}
