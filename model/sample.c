/* Chooses the SMs that the model executes (model/sample.h). The thresholds were tuned on the workloads of suites/: with the
 * chosen SMs, totals differ by 1.7 % in the mean from those with all SMs (docs/estimate.md). */
#include "model/sample.h"

#include "emu/counts.h"
#include "model/timing_internal.h"
#include "ptx/isa.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* Warp instructions to execute: 1/PART of the traced ones, within LEAST and MOST. SMs at least: LEAST_SMS,
 * LEAST_ASKING of those that ask for memory; with LEAST_CHANNELS channels of DRAM at least, since with fewer it
 * depends on chance which rows meet in a bank. */
enum {
    PART = 16,
    LEAST = 1 << 12,
    MOST = 1 << 14,
    LEAST_SMS = 4,
    LEAST_ASKING = 8,
    LEAST_CHANNELS = 2
};
/* Cycles per instruction of a warp that runs alone, to guess which one ends last. */
enum { EACH = 16 };
/* All SMs are executed if the amounts of memory that SMs ask for have a relative standard deviation above this, and
 * are more than a sector for RARELY instructions. */
#define DEVIATION 0.2
enum { RARELY = 32 };

struct load {         /* of the SMs that share a port */
    u64 instructions; /* of warps */
    u64 recorded;     /* that have to be executed */
    u64 busiest;      /* of the scheduler that has most of them */
    u64 asked, dram;  /* sectors: of L2, of DRAM */
    u64 latest;       /* when the warp that ends last may end */
    u32 sms, ctas;    /* SMs that have some */
    bool taken;
};

struct loads {
    const struct emu_trace *trace;
    struct load *of;  /* by SM modulo `total`; those with CTAs come first */
    u32 total, count; /* ports; of which SMs have CTAs */
    u32 sms, ctas;    /* of all */
    u32 share_dram;   /* SMs that do, with those that were not traced */
    u64 instructions, recorded, asked, dram;
    struct timing_slices slices;
    u64 *loads, *writes; /* sectors that are asked of each slice */
    u64 *atomics;        /* rounds of atomics of each of `of` in each slice; NULL: there are none */
    u64 *channels;       /* and of each channel */
    u64 *schedulers;     /* instructions of each */
    bool *seen;          /* by SM: it has CTAs */
};

/* Sectors of L2. */
static u32 asked_by(const struct trace_line *n)
{
    if (n->how == TRACE_UNCACHED) return 0;
    return timing_is_load(n) ? n->from_l2 : timing_popcount(n->sectors);
}

/* What the access at `word` of the CTA's trace asks of L2 and DRAM, so many times. */
static void add_access(struct loads *l, struct load *own, const struct timing_machine *m,
                       const struct trace_cta *c, const u32 *word, u64 times)
{
    const u32 per = m->slices / m->channels, inst = l->trace->site_inst[word[0] >> 2];
    const bool combined = m->scheduled && inst < l->trace->inst_count &&
                          l->trace->insts[inst].combined;
    const u32 rounds = combined ? 1 : TRACE_SIZE_ROUNDS(word[2]);
    for (u32 i = 0; i < TRACE_SIZE_N(word[2]); i++) {
        const struct trace_line *n = &c->lines[word[1] + i];
        const u64 asked = asked_by(n) * times, dram = n->from_dram * times;
        if (!asked && !dram && n->how != COUNT_ATOMIC) continue; /* in L1: of no slice */
        const u32 slice = timing_slice_of(&l->slices, n->line);
        own->asked += asked, own->dram += dram;
        (timing_is_load(n) ? l->loads : l->writes)[slice] += asked;
        if (n->how == COUNT_ATOMIC && l->atomics)
            l->atomics[(own - l->of) * m->slices + slice] += asked + (i ? 0 : rounds - 1) * times;
        if (dram) l->channels[slice / per] += dram;
    }
}

/* What an execution of a block's word stands for. */
static double times_of(u32 word, double rest)
{
    const u32 level = TRACE_LEVEL_OF(word);
    return level && level != TRACE_BARRIER ? (double)(1u << level) * rest : 1;
}

static void add_atomics(double *buckets, const struct trace_cta *c, const struct trace_warp *w)
{
    const double rest = trace_warp_rest(w);
    double times = 1;
    for (u32 at = 0; at < w->count; at++) {
        const u32 *word = w->words + at;
        if ((*word & 3) == TRACE_BLOCK) {
            times = times_of(*word, rest);
            continue;
        }
        at += trace_access_words(word);
        for (u32 i = 0; (*word & 3) == TRACE_GLOBAL && i < TRACE_SIZE_N(word[2]); i++) {
            const struct trace_line *n = &c->lines[word[1] + i];
            if (n->how == COUNT_ATOMIC) buckets[trace_atomic_bucket(n->line)] += times;
        }
    }
}

static void add_accesses(struct loads *l, struct load *own, const struct timing_machine *m,
                         const struct trace_cta *c, const struct trace_warp *w)
{
    const double rest = trace_warp_rest(w);
    u64 times = 1;
    for (u32 at = 0; at < w->count; at++) {
        const u32 word = w->words[at];
        if ((word & 3) == TRACE_BLOCK) {
            times = (u64)(times_of(word, rest) + 0.5);
            continue;
        }
        if ((word & 3) != TRACE_SHARED) add_access(l, own, m, c, w->words + at, times);
        at += trace_access_words(w->words + at);
    }
}

static void add_cta(struct loads *l, const struct timing_machine *m, const struct trace_cta *c,
                    u32 sms, u32 sm)
{
    const u32 before = c->linear / sms * c->warp_count;
    struct load *own = &l->of[sm % l->total];
    for (u32 w = 0; w < c->warp_count; w++) {
        const u64 n = c->warps[w].instructions;
        u64 *scheduler = &l->schedulers[sm * m->schedulers + (before + w) % m->schedulers];
        own->instructions += n, *scheduler += n;
        own->recorded += c->warps[w].recorded;
        if (*scheduler > own->busiest) own->busiest = *scheduler;
        /* Older ones go first. */
        if (*scheduler + (EACH - 1) * n > own->latest) own->latest = *scheduler + (EACH - 1) * n;
        add_accesses(l, own, m, c, &c->warps[w]);
    }
}

static void loads_of(struct loads *l, const struct emu_trace *t, const struct timing_machine *m)
{
    const u32 sms = t->sms ? t->sms : 1, total = (sms - 1) / m->port_sms + 1;
    *l = (struct loads){.trace = t, .total = total, .slices = timing_slices_of(m)};
    l->of = timing_calloc(total, sizeof *l->of);
    l->loads = timing_calloc(m->slices, sizeof *l->loads);
    l->writes = timing_calloc(m->slices, sizeof *l->writes);
    if (t->atomics) l->atomics = timing_calloc((size_t)total * m->slices, sizeof *l->atomics);
    l->channels = timing_calloc(m->channels, sizeof *l->channels);
    l->seen = timing_calloc(sms, sizeof *l->seen);
    l->schedulers = timing_calloc((size_t)sms * m->schedulers, sizeof *l->schedulers);
    for (u32 k = 0; k < t->cta_count; k++) {
        const u32 sm = trace_sm_of(sms, t->recorded_sms, t->ctas[k]->linear);
        struct load *own = &l->of[sm % total];
        if (!l->seen[sm]) own->sms++, l->sms++;
        l->seen[sm] = true;
        own->ctas++, l->ctas++;
        add_cta(l, m, t->ctas[k], sms, sm);
    }
    l->count = l->sms < l->total ? l->sms : l->total;
    l->share_dram = t->sms_traced < t->sms ? t->sms : l->sms;
    for (u32 i = 0; i < l->count; i++) {
        l->instructions += l->of[i].instructions;
        l->recorded += l->of[i].recorded;
        l->asked += l->of[i].asked, l->dram += l->of[i].dram;
    }
}

static void loads_free(struct loads *l)
{
    free(l->of);
    free(l->loads);
    free(l->writes);
    free(l->atomics);
    free(l->channels);
    free(l->schedulers);
    free(l->seen);
}

enum amount { INSTRUCTIONS, ASKED, DRAM };
static double amount_of(const struct load *l, enum amount a)
{
    return (double)(a == INSTRUCTIONS ? l->instructions : a == ASKED ? l->asked : l->dram);
}

/* SMs deviate by more than that part from what they would do if all CTAs were alike. */
static bool deviates(const struct loads *l, enum amount a, double more)
{
    double all = 0, sum = 0;
    for (u32 i = 0; i < l->count; i++) all += amount_of(&l->of[i], a);
    const double mean = all / l->ctas;
    for (u32 i = 0; i < l->count; i++) {
        const double d = amount_of(&l->of[i], a) / l->of[i].ctas - mean;
        sum += d * d * l->of[i].sms;
    }
    return sqrt(sum / l->sms) > more * mean;
}

/* SMs ask for such different amounts of memory that it matters. */
static bool is_irregular(const struct loads *l)
{
    const bool ask = l->asked * RARELY > l->instructions,
               ask_dram = l->dram * RARELY > l->instructions;
    return (ask && deviates(l, ASKED, DEVIATION)) || (ask_dram && deviates(l, DRAM, DEVIATION));
}

/* The timing model gives the SMs of such a trace their part of L2 and DRAM by themselves. */
static bool traced_in_part(const struct emu_counts *c)
{
    return c->trace->sms_traced < c->trace->sms || c->trace->cta_count < c->ctas;
}

/* Times of all depend on all (model/sample.h). */
static bool is_whole(const struct emu_counts *c, const struct timing_machine *m)
{
    const struct emu_trace *t = c->trace;
    if (!m->hashed || timing_follows_polls(t)) return true;
    for (u32 i = 0; i < t->inst_count; i++)
        if (timing_may_take_lock(t, i)) return true;
    return false;
}

/* Those that may end last: the first with the latest warp, and the first with the busiest scheduler. */
static struct load *with_latest(const struct loads *l)
{
    struct load *best = l->of;
    for (struct load *a = l->of; a < l->of + l->count; a++)
        if (a->latest > best->latest) best = a;
    return best;
}
static struct load *with_busiest(const struct loads *l)
{
    struct load *best = l->of;
    for (struct load *a = l->of; a < l->of + l->count; a++)
        if (a->busiest > best->busiest) best = a;
    return best;
}

static u64 within(u64 x, u64 least, u64 most)
{
    return x < least ? least : x > most ? most : x;
}

/* So many ports' SMs are taken. */
static u32 how_many(const struct loads *l, const struct timing_machine *m)
{
    const u64 want = within(l->recorded / PART, LEAST, MOST);
    if (!l->recorded) return l->count;
    u64 n = (want * l->count + l->recorded - 1) / l->recorded;
    u32 sms = l->asked * RARELY > l->instructions ? LEAST_ASKING : LEAST_SMS;
    if (l->dram * RARELY > l->instructions && sms < LEAST_CHANNELS * l->share_dram / m->channels)
        sms = LEAST_CHANNELS * l->share_dram / m->channels;
    if (n * m->port_sms < sms) n = (sms + m->port_sms - 1) / m->port_sms;
    return n < l->count ? (u32)n : l->count;
}

static u64 take(struct load *l)
{
    const u64 more = l->taken ? 0 : l->instructions;
    l->taken = true;
    return more;
}

/* So many side by side, none of which is taken, that have as much to do as is wanted: where the first one is. */
static u32 best_window(const struct loads *l, u32 n, double want)
{
    u32 best = 0;
    double least = HUGE_VAL;
    for (u32 first = 0; first + n <= l->count; first++) {
        double sum = 0;
        for (u32 i = first; i < first + n; i++)
            sum += l->of[i].taken ? HUGE_VAL : (double)l->of[i].instructions;
        if (fabs(sum - want) < least) least = fabs(sum - want), best = first;
    }
    return best;
}

/* Marks them; what they have to do. */
static u64 choose(struct loads *l, u32 n)
{
    u64 done = take(with_latest(l));
    u32 left = n - 1;
    if (left) {
        struct load *busiest = with_busiest(l);
        left -= !busiest->taken;
        done += take(busiest);
    }
    const double want = (double)l->instructions / l->count * n - (double)done;
    for (u32 i = best_window(l, left, want); i < l->count && left; i++)
        if (!l->of[i].taken) done += take(&l->of[i]), left--;
    for (u32 i = 0; left; i++)
        if (!l->of[i].taken) done += take(&l->of[i]), left--;
    return done;
}

/* Of how many of them it is as if all had as much to do as that one of which most is asked, but for chance. */
static double as_many(const u64 *asked, u32 count)
{
    double most = 0, sum = 0;
    for (u32 i = 0; i < count; i++) sum += (double)asked[i], most = fmax(most, (double)asked[i]);
    most -= 2 * sqrt(most);
    return most * count > sum ? sum / most : count;
}

/* Of some slice much more is asked than of the same ones of other channels: there are lines for which many SMs ask.
 * */
static bool is_uneven(const u64 *slices, const struct timing_machine *m)
{
    const u32 per = m->slices / m->channels;
    for (u32 way = 0; way < per; way++) {
        double sum = 0;
        for (u32 i = way; i < m->slices; i += per) sum += (double)slices[i];
        const double mean = sum / m->channels, much = 2 * mean + 8 * sqrt(mean);
        for (u32 i = way; i < m->slices; i += per)
            if ((double)slices[i] > much) return true;
    }
    return false;
}

/* The slice with most atomics is busy with them for longer than a scheduler issues, and SMs make different numbers of
 * them: which SMs are executed is what the time would depend on. */
static bool is_crowded(const struct loads *l, const struct timing_machine *m)
{
    u64 most = 0, issued = 0;
    u32 slice = 0;
    for (u32 i = 0; l->atomics && i < m->slices; i++) {
        u64 sum = 0;
        for (u32 k = 0; k < l->count; k++) sum += l->atomics[(size_t)k * m->slices + i];
        if (sum > most) most = sum, slice = i;
    }
    for (u32 i = 0; i < l->count; i++)
        issued = l->of[i].busiest > issued ? l->of[i].busiest : issued;
    if ((double)most * m->atomic.interval <= (double)issued) return false;
    const double mean = (double)most / l->ctas, much = DEVIATION * mean;
    double sum = 0;
    for (u32 i = 0; i < l->count; i++) {
        const double d = (double)l->atomics[(size_t)i * m->slices + slice] / l->of[i].ctas - mean;
        sum += d * d * l->of[i].sms;
    }
    return sqrt(sum / l->sms) > much;
}

/* Of what all ask the part that those ask that were taken; `otherwise`, if nobody asks. */
static void put_share(struct sample *s, struct loads *l, const struct timing_machine *m,
                      double otherwise)
{
    u64 asked = 0, dram = 0;
    s->share.stand_for_all = true;
    for (u32 i = 0; i < l->count; i++) {
        if (!l->of[i].taken) continue;
        asked += l->of[i].asked, dram += l->of[i].dram;
        s->share.ports++;
    }
    s->share.l2 = asked ? (double)asked / (double)l->asked : otherwise;
    s->share.channels = (dram ? (double)dram / (double)l->dram : s->share.l2) *
                        as_many(l->channels, m->channels);
    s->share.same_loads = is_uneven(l->loads, m), s->share.same_writes = is_uneven(l->writes, m);
    for (u32 i = 0; i < m->slices; i++) /* what the slices in turn take */
        l->loads[i] = (s->share.same_loads ? 0 : l->loads[i]) +
                      (s->share.same_writes ? 0 : l->writes[i]);
    s->share.slices = s->share.l2 * as_many(l->loads, m->slices);
}

static void keep_taken(struct sample *s, const struct loads *l)
{
    const struct emu_trace *t = &s->trace;
    u32 n = 0;
    s->list = timing_calloc(t->cta_count, sizeof(struct trace_cta *));
    for (u32 k = 0; k < t->cta_count; k++) {
        const u32 sm = trace_sm_of(t->sms, t->recorded_sms, t->ctas[k]->linear);
        if (l->of[sm % l->total].taken) s->list[n++] = t->ctas[k];
    }
    s->trace.ctas = s->list;
    s->trace.cta_count = n;
    s->trace.sms_traced = 0;
    for (u32 i = 0; i < l->count; i++) s->trace.sms_traced += l->of[i].taken ? l->of[i].sms : 0;
}

/* Of a large grid: how many times as many atomics come to a line as the run has, in the time of the run. */
static void put_crowds(struct sample *s)
{
    const struct emu_trace *t = &s->trace;
    s->crowds = timing_calloc(TRACE_ATOMIC_BUCKETS, sizeof *s->crowds);
    for (u32 k = 0; k < t->cta_count; k++)
        for (u32 w = 0; w < t->ctas[k]->warp_count; w++)
            add_atomics(s->crowds, t->ctas[k], &t->ctas[k]->warps[w]);
    for (u32 b = 0; b < TRACE_ATOMIC_BUCKETS; b++) {
        const double all = (double)t->atomics[b] / s->scale;
        s->crowds[b] = s->crowds[b] > 0 && all > s->crowds[b] ? all / s->crowds[b] : 1;
    }
    s->share.crowds = s->crowds;
}

void sample_take(const struct emu_counts *c, const struct emu_trace *t, double all,
                 const struct timing_machine *m, bool whole, struct sample *s)
{
    const double traced = (double)t->instructions * t->sms / t->sms_traced;
    struct loads l;
    *s = (struct sample){.trace = *t, .scale = 1, .busy = 1};
    if (!t->instructions) return;
    if ((double)t->instructions < all) s->scale = all / traced;
    const bool takes_all = whole || is_whole(c, m);
    if (traced_in_part(c) && t->atomics && takes_all) put_crowds(s);
    if (takes_all) return;
    loads_of(&l, t, m);
    const bool in_part = traced_in_part(c),
               all_needed = is_irregular(&l) || is_crowded(&l, m) ||
                            (in_part && deviates(&l, INSTRUCTIONS, DEVIATION / 8));
    const u32 taken = all_needed ? l.count : how_many(&l, m);
    if (taken < l.count) {
        const double part = (double)choose(&l, taken) / (double)l.instructions;
        keep_taken(s, &l);
        s->busy = fmin(1, s->trace.sms_traced / (t->sms_traced * part));
        if (!in_part) put_share(s, &l, m, part);
    }
    loads_free(&l);
    if (in_part && t->atomics) put_crowds(s);
}

void sample_free(struct sample *s)
{
    free(s->crowds);
    free(s->list);
}
