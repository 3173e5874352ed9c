/* SMs of the timing model: warps, CTAs and their barriers, schedulers, the instruction cache.
 *
 * A warp's state is what it executes next, from when that may issue, and a time for each register. A scheduler has
 * the warps w of its SM with w % schedulers equal to its number. It issues from the warp it issued from last, if that
 * can go on, and else from the oldest that can (greedy then oldest: Rogers et al., MICRO 2012), or in turn, as the
 * machine says. A cycle without an issue is charged to the reason why the warp that issues next had to wait (enum
 * timing_part).
 *
 * Each scheduler knows the next cycle in which one of its warps may issue. A tournament tree has the SM with the
 * least of these, and that SM runs on until its next step could affect another SM. */
#include "model/timing_internal.h"

#include "emu/trace.h"
#include "ptx/isa.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum { FETCHED = 16 /* instructions of a line of the instruction cache: 128 bytes of 8 */ };

/* ---- the tree of SMs ------------------------------------------------------------------------------------- */

static void set_key(struct timing *c, u32 sm, double key)
{
    u32 i = c->leaves + sm;
    c->key[i].when = key;
    for (i /= 2; i; i /= 2) {
        const struct timing_sm_key *pair = &c->key[2 * i];
        c->key[i] = pair[pair[1].when < pair[0].when];
    }
}

/* ---- warps ------------------------------------------------------------------------------------------------- */

/* Cycles until a line of instructions that the SM's cache lacks is there. Caches keep code from launch to launch: that of a
 * kernel which the device has run before is in the SM's cache, if all of it fits, and else in L2. */
static double fetch_miss(const struct timing *c)
{
    const struct timing_machine *m = c->m;
    if (!c->t->again) return m->fetch_latency;
    if ((c->t->inst_count + FETCHED - 1) / FETCHED <= m->fetch_lines) return 0;
    return fmin(m->fetch_latency, m->l1.latency + m->l2_latency);
}

/* When the instruction is in the SM's instruction cache, which is fully associative and replaces the least recently
 * used line. */
static double fetch(struct timing *c, u32 sm, u32 inst, double now)
{
    const u32 line = inst / FETCHED, count = c->m->fetch_lines;
    struct timing_line *all = c->fetched + (size_t)sm * count, *oldest = all;
    for (u32 i = 0; i < count; i++) {
        if (all[i].tag == line) {
            all[i].used = now;
            return all[i].filled;
        }
        if (all[i].used < oldest->used) oldest = &all[i];
    }
    *oldest = (struct timing_line){line, 15, now, now + fetch_miss(c)};
    return oldest->filled;
}

/* The word of a block that the warp enters. */
static void enter_block(const struct timing *c, struct timing_warp *w, u32 word)
{
    const struct trace_block *b = &c->t->blocks[TRACE_BLOCK_OF(word)];
    const u32 level = TRACE_LEVEL_OF(word);
    w->inst = b->first;
    w->left = w->entered = b->count;
    w->unsynced = word & TRACE_UNSYNCED;
    w->lanes = (u8)(32 - TRACE_IDLE_OF(word));
    w->fold = level && level != TRACE_BARRIER ? (double)(1u << level) * w->rest : 1;
    if (level != TRACE_BARRIER) return;
    while (w->left > 1 && c->code.insts[w->inst].class != PTX_COST_BARRIER) w->inst++, w->left--;
    w->left = 1;
}

/* Times are not negative: they compare as their bits do. */
static u64 bits_of(double time)
{
    u64 bits;
    memcpy(&bits, &time, sizeof bits);
    return bits;
}
static double time_of(u64 bits)
{
    double time;
    memcpy(&time, &bits, sizeof time);
    return time;
}

/* The next instruction: when its registers are there. false: there is none. */
static bool look_ahead(struct timing *c, struct timing_warp *w, double now, u32 part)
{
    w->entered = 0;
    while (!w->left) {
        if (w->at == w->trace->count) return false;
        const u32 word = w->trace->words[w->at++];
        if ((word & 3) != TRACE_BLOCK) { /* of an instruction that nobody named */
            w->at += trace_access_words(w->trace->words + w->at - 1);
            continue;
        }
        enter_block(c, w, word);
    }
    const struct timing_inst *i = &c->code.insts[w->inst];
    u64 most = bits_of(now); /* which register comes last cannot be predicted: no branches */
    for (u32 r = 0; r < 4; r++) {
        const u64 there = bits_of(w->regs[i->four[r]]);
        const u32 later = 0 - (u32)(there > most);
        part ^= (part ^ w->reg_parts[i->four[r]]) & later;
        most = there > most ? there : most;
    }
    double ready = time_of(most);
    for (u32 r = 4; r < i->all; r++) {
        const u32 reg = c->code.reg_of[i->reg + r];
        if (w->regs[reg] > ready) ready = w->regs[reg], part = w->reg_parts[reg];
    }
    w->class = i->class, c->next.unit[w->place] = i->unit;
    if (c->m->fetch_lines && w->line != w->inst / FETCHED + 1) {
        const double there = fetch(c, w->sm, w->inst, now);
        w->line = w->inst / FETCHED + 1;
        if (there > ready) ready = there, part = TIMING_FETCH;
    }
    *w->ready = ready, w->part = (u8)part;
    if (c->hooks) c->hooks->look(c, w, now);
    return true;
}

static void wake(struct timing *c, u32 scheduler, double when)
{
    const u32 sm = scheduler / c->m->schedulers;
    c->schedulers[scheduler].planned = false;
    if (scheduler == c->stepping) c->woken = when < c->woken ? when : c->woken;
    else if (when < c->turns[scheduler]) {
        c->turns[scheduler] = when;
        c->choices[sm].made = false; /* it was made of those that could issue before */
        if (sm != c->running && when < c->key[c->leaves + sm].when) set_key(c, sm, when);
    }
}

void timing_release_warp(struct timing *c, struct timing_warp *w, double ready, double when,
                         enum timing_part part)
{
    *w->ready = ready > when ? ready : when;
    if (when > ready) w->part = (u8)part;
    wake(c, w->scheduler, *w->ready);
}

/* Starts a CTA in the slot. false: none of its instructions was traced. */
static bool place(struct timing *c, u32 slot, u32 number, double now, u8 part)
{
    const struct trace_cta *trace = c->t->ctas[number];
    struct timing_cta *cta = &c->ctas[slot];
    *cta = (struct timing_cta){.ends = now, .partition = timing_partition_of(c, trace)};
    if (c->hooks) c->hooks->placed(c, slot);
    if (c->lapse) time_lapse_cta_begin(c, slot, number, now);
    if (c->code.steps) timing_async_place(c, slot);
    for (u32 k = 0; k < c->warps_per_cta; k++) {
        struct timing_warp *w = &c->warps[slot * c->warps_per_cta + k];
        memset(w->regs, 0, c->code.regs * sizeof *w->regs);
        *w = (struct timing_warp){.trace = &trace->warps[k],
                                  .cta_trace = trace,
                                  .cta = slot,
                                  .sm = w->sm,
                                  .scheduler = w->scheduler,
                                  .ready = w->ready,
                                  .place = w->place,
                                  .begun = -1,
                                  .fold = 1,
                                  .rest = trace_warp_rest(&trace->warps[k]),
                                  .regs = w->regs,
                                  .reg_parts = w->reg_parts};
        c->next.age[w->place] = c->age++;
        w->live = look_ahead(c, w, now, part);
        if (!w->live) *w->ready = TIMING_NEVER;
        cta->live += w->live;
        if (w->live) wake(c, w->scheduler, now);
    }
    return cta->live;
}

static bool deal(struct timing *c, u32 slot, u32 *number)
{
    if (c->hooks) return c->hooks->deal(c, slot, number);
    *number = c->next_cta;
    return c->next_cta < c->t->cta_count && ++c->next_cta;
}

void timing_place_cta(struct timing *c, u32 slot, double now, enum timing_part part)
{
    u32 number;
    while (deal(c, slot, &number) && !place(c, slot, number, now, (u8)part)) {
    }
}

/* The next CTA of an SM starts when the GPU has started those that came to their turn before. The SMs of the run have their
 * part of what it can start. */
static double next_cta_starts(struct timing *c, double ends)
{
    const double at = ends + c->m->cta_start;
    const bool any = c->hooks || c->next_cta < c->t->cta_count;
    if (c->m->cta_launch <= 0 || !any) return at;
    return timing_reserve(&c->dispatcher, at, c->m->cta_launch * c->t->sms / c->sms);
}

/* The last warp of the CTA has ended: the slot gets the next CTA. */
static void end_cta(struct timing *c, u32 slot)
{
    const double ends = c->ctas[slot].ends;
    if (c->lapse) time_lapse_cta_end(c, slot, ends);
    if (ends > c->end) c->end = ends;
    timing_place_cta(c, slot, next_cta_starts(c, ends), TIMING_START);
}

static void leave(struct timing *c, struct timing_warp *w, double now)
{
    struct timing_cta *cta = &c->ctas[w->cta];
    w->live = false;
    *w->ready = TIMING_NEVER;
    if (w->over > now) now = w->over;
    if (w->holds) timing_lock_ended(c, w, now);
    if (now - w->begun > c->out->chain) c->out->chain = now - w->begun;
    if (now > cta->ends) cta->ends = now;
    cta->live--;
    if (c->hooks) c->hooks->ended(c, w, now);
}

/* Releases the barrier of a CTA if all its warps have arrived. Traces that were cut may end there. */
static void release(struct timing *c, u32 slot, double now)
{
    struct timing_cta *cta = &c->ctas[slot];
    if (!cta->arrived || cta->arrived < cta->live) return;
    cta->arrived = 0;
    if (c->hooks && c->hooks->barrier) c->hooks->barrier(c, slot);
    for (u32 k = 0; k < c->warps_per_cta; k++) {
        struct timing_warp *w = &c->warps[slot * c->warps_per_cta + k];
        if (!w->live || !w->waits) continue;
        w->waits = false;
        if (!look_ahead(c, w, now + c->m->barrier_latency, TIMING_BARRIER)) leave(c, w, now);
        else if (*w->ready != TIMING_NEVER) wake(c, w->scheduler, *w->ready);
    }
    if (!cta->live) end_cta(c, slot);
}

static void end_warp(struct timing *c, struct timing_warp *w, double now)
{
    leave(c, w, now);
    if (!c->ctas[w->cta].live) end_cta(c, w->cta);
    else release(c, w->cta, now);
}

/* The unit that the scheduler issues to is free then. Schedulers share a unit if an SM has fewer of them: each n-th does.
 * What another one plans is for a time at which the unit is free, or it plans anew. */
static inline void set_unit(struct timing *c, u32 scheduler, u32 unit, double free)
{
    const u32 all = c->m->schedulers, n = c->m->units[unit];
    if (n >= all) {
        c->schedulers[scheduler].unit[unit] = free;
        return;
    }
    for (u32 k = scheduler % all % n; k < all; k += n) {
        const u32 other = scheduler - scheduler % all + k;
        c->schedulers[other].unit[unit] = free;
        if (c->turns[other] < free) c->schedulers[other].planned = false;
    }
}

/* The instruction occupies its unit. Some GPUs have lanes that serve either integers or f32 (int_fp32); branches and
 * shuffles need none of them. */
static void take_unit(struct timing *c, u32 scheduler, const struct timing_inst *i, double now,
                      double interval, double fold)
{
    const double *units = c->schedulers[scheduler].unit;
    const u32 unit = i->unit, class = i->class;
    const double both = now + c->m->int_fp32 * fold;
    const bool ints = unit == TIMING_UNIT_INT && class != PTX_COST_SHUFFLE &&
                      class != PTX_COST_CONTROL && class != PTX_COST_BARRIER;
    set_unit(c, scheduler, unit, now + interval);
    if (ints && units[TIMING_UNIT_FP32] < both) set_unit(c, scheduler, TIMING_UNIT_FP32, both);
    if (unit == TIMING_UNIT_FP32 && units[TIMING_UNIT_INT] < both)
        set_unit(c, scheduler, TIMING_UNIT_INT, both);
}

/* Whether the warp's next instruction polls for a store that is not in L2: it is issued when that is. */
static bool polls_again(struct timing *c, struct timing_scheduler *s, struct timing_warp *w,
                        double now)
{
    double when;
    const bool waits = timing_poll_waits(c, w, now, &when);
    if (!waits && when <= now) return false;
    s->part[TIMING_L2] += c->issue_cycles * w->fold;
    *w->ready = TIMING_NEVER;
    if (!waits) timing_release_warp(c, w, when, when, TIMING_L2);
    return true;
}

/* When a fence that the warp comes to is done. */
static double fenced(const struct timing *c, const struct timing_warp *w,
                     const struct timing_inst *i, double now)
{
    const struct timing_machine *m = c->m;
    const double own = i->system && m->fence_system > 0 ? m->fence_system : m->fence_latency;
    const double trip = own > 0 ? now + own * w->fold + timing_lock_queues(c, w) : now;
    return w->over > trip ? w->over : trip;
}

/* When an access begins: one that releases is behind a fence. */
static double released(const struct timing *c, const struct timing_warp *w,
                       const struct timing_inst *i, double now)
{
    return i->release && !c->hooks ? fenced(c, w, i, now) : now;
}

static void issue(struct timing *c, struct timing_scheduler *s, struct timing_warp *w, double now)
{
    const struct timing_machine *m = c->m;
    const u32 inst = w->inst, class = w->class;
    const struct timing_inst *i = &c->code.insts[inst];
    const double fold = w->fold;
    if (class == PTX_COST_MEMORY && i->locks && timing_lock_waits(c, w)) {
        s->part[TIMING_ATOMIC] += c->issue_cycles * fold;
        *w->ready = TIMING_NEVER;
        return;
    }
    if (class == PTX_COST_MEMORY && c->mem.polled && polls_again(c, s, w, now)) return;
    struct timing_access done = {now + m->latency[class] * fold, TIMING_LATENCY};
    double after = now + m->next * fold;
    double interval = m->interval[class] * fold;
    if (class == PTX_COST_TENSOR) {
        interval *= c->code.matrices[inst];
        if (interval > m->interval[class] * fold) done.done += interval - m->interval[class] * fold;
    }
    take_unit(c, w->scheduler, i, now, interval, fold);
    s->part[TIMING_ISSUE] += c->issue_cycles * fold;
    s->by_unit[i->unit] += c->issue_cycles * fold;
    c->out->instructions++;
    if (w->begun < 0) w->begun = now;
    w->inst++, w->left--;
    if (class == PTX_COST_MEMORY) {
        const double begin = released(c, w, i, now);
        if (begin > after) after = begin;
        c->fold = fold;
        done = timing_access_memory(c, w, inst, begin);
        c->fold = 1;
    }
    const bool waits = m->atomic.blocks && done.part == TIMING_ATOMIC;
    u8 part = waits ? TIMING_ATOMIC : TIMING_LATENCY;
    if (waits && done.done > after) after = done.done;
    for (u32 r = i->reads; r < i->all; r++) {
        const u32 reg = c->code.reg_of[i->reg + r];
        w->regs[reg] = done.done;
        w->reg_parts[reg] = done.part;
    }
    if (i->sequence) after = done.done;
    if (class == PTX_COST_CONTROL) after = now + m->branch * fold;
    const double fence = i->fence && !c->hooks ? fenced(c, w, i, now) : now;
    if (fence > after) after = fence, part = TIMING_L2;
    const bool async = c->code.steps && c->code.steps[inst];
    if (async) {
        const struct timing_access there = timing_async(c, w, inst, done);
        if (there.done > after) after = there.done, part = there.part;
    }
    if (class == PTX_COST_BARRIER && !w->unsynced) {
        *w->ready = TIMING_NEVER;
        w->waits = true;
        c->ctas[w->cta].arrived++;
        release(c, w->cta, now);
    } else if (!look_ahead(c, w, after, part)) end_warp(c, w, now + m->latency[PTX_COST_ALU]);
    else if (async) timing_async_sleep(c, w, inst);
}

/* Strict round robin: the warp whose turn it is, past those that have ended or wait at a barrier. */
static u32 turn_of(const struct timing *c, struct timing_scheduler *s)
{
    for (u32 k = 0; k < s->count; k++, s->turn = (s->turn + 1) % s->count) {
        const struct timing_warp *w = &c->warps[s->warps[s->turn]];
        if (w->live && !w->waits) break;
    }
    return s->turn;
}

/* ---- schedulers ---------------------------------------------------------------------------------------------- */

/* When the warp at that place of the scheduler may issue. */
static double issues_at(const struct timing *c, const struct timing_scheduler *s, u32 k)
{
    const double ready = c->next.ready[s->first + k], free = s->unit[c->next.unit[s->first + k]];
    return ready > free ? ready : free;
}

/* After an issue from w: the earliest cycle in which a warp of the scheduler may issue; for the others it is `later`.
 * */
static double next_turn(const struct timing *c, const struct timing_scheduler *s,
                        const struct timing_warp *w, double later)
{
    const double own = issues_at(c, s, w->place - s->first);
    if (own < later) later = own;
    if (later < s->last || c->hooks) later = s->last; /* an order may change what others can do */
    return later < c->woken ? later : c->woken;
}

/* When warps may issue: c->issues[k], the soonest, and the soonest of the others. It is without branches: which warp is
 * ready cannot be predicted. */
static inline void find_soonest(const struct timing *c, const struct timing_scheduler *s,
                                double soonest[2])
{
    const double *ready = c->next.ready + s->first, *free = s->unit;
    const u8 *unit = c->next.unit + s->first;
    double *issues = c->issues;
#ifdef __SSE2__
    __m128d first = _mm_set1_pd(TIMING_NEVER), second = first;
    for (u32 k = 0; k < s->count; k += 2) {
        const __m128d units = _mm_loadh_pd(_mm_load_sd(&free[unit[k]]), &free[unit[k + 1]]),
                      at = _mm_max_pd(_mm_loadu_pd(&ready[k]), units);
        _mm_storeu_pd(&issues[k], at);
        second = _mm_min_pd(second, _mm_max_pd(first, at));
        first = _mm_min_pd(first, at);
    }
    const __m128d high = _mm_unpackhi_pd(first, first);
    second = _mm_min_sd(_mm_min_sd(second, _mm_unpackhi_pd(second, second)),
                        _mm_max_sd(first, high));
    soonest[0] = _mm_cvtsd_f64(_mm_min_sd(first, high)), soonest[1] = _mm_cvtsd_f64(second);
#else
    soonest[0] = soonest[1] = TIMING_NEVER;
    for (u32 k = 0; k < s->count; k++) {
        const double at = fmax(ready[k], free[unit[k]]);
        issues[k] = at;
        soonest[1] = fmin(soonest[1], fmax(soonest[0], at));
        soonest[0] = fmin(soonest[0], at);
    }
#endif
}

/* By warp of 64 of the scheduler, from the k-th on: it may issue until `when`. */
static u64 issuable(const struct timing *c, const struct timing_scheduler *s, u32 k, double when)
{
    const u32 end = s->count < k + 64 ? s->count : k + 64;
    u64 mask = 0;
#ifdef __SSE2__
    const __m128d until = _mm_set1_pd(when);
    for (u32 i = 0; k + i < end; i += 2)
        mask |= (u64)_mm_movemask_pd(_mm_cmple_pd(_mm_loadu_pd(&c->issues[k + i]), until)) << i;
#else
    for (u32 i = 0; k + i < end; i++) mask |= (u64)(c->issues[k + i] <= when) << i;
#endif
    return mask;
}

/* The warp that goes first of those that may issue until `when`. */
static u32 first_until(const struct timing *c, const struct timing_scheduler *s, double when)
{
    u32 best = UINT32_MAX, best_rank = UINT32_MAX;
    for (u32 from = 0; from < s->count; from += 64)
        for (u64 left = issuable(c, s, from, when); left; left &= left - 1) {
            const u32 k = from + (u32)__builtin_ctzll(left);
            const u32 rank = c->m->oldest    ? c->next.age[s->first + k]
                             : k > s->recent ? k - s->recent - 1
                                             : k + s->count - s->recent - 1;
            if (rank < best_rank) best = k, best_rank = rank;
        }
    return best;
}

/* Of a scheduler that is strict: only one warp can. */
static bool choose_strictly(struct timing *c, u32 number, struct timing_choice *choice)
{
    struct timing_scheduler *s = &c->schedulers[number];
    const u32 only = turn_of(c, s);
    const double at = s->count ? issues_at(c, s, only) : TIMING_NEVER;
    *choice = (struct timing_choice){at <= c->turns[number], number, only, TIMING_NEVER};
    if (!choice->made) c->turns[number] = at;
    return choice->made;
}

/* Chooses a warp that can issue now. false: none can, and the scheduler has another turn. */
static bool choose(struct timing *c, u32 number, struct timing_choice *choice)
{
    struct timing_scheduler *s = &c->schedulers[number];
    double soonest[2];
    if (c->turns[number] < s->last) { /* one that was woken in the cycle of another's issue */
        c->turns[number] = s->last;
        return false;
    }
    if (s->planned) {
        *choice = (struct timing_choice){true, number, s->plan, s->plan_later};
        s->planned = false;
        return true;
    }
    if (s->strict) return choose_strictly(c, number, choice);
    const double now = c->turns[number];
    const bool keeps = c->m->oldest && s->recent < s->count; /* the last warp goes first */
    *choice = (struct timing_choice){true, number, s->recent, now};
    if (keeps && issues_at(c, s, s->recent) <= now) return true;
    find_soonest(c, s, soonest);
    choice->made = soonest[0] <= now;
    const double when = choice->made ? now : soonest[0];
    c->turns[number] = when;
    if (when == TIMING_NEVER) return false;
    choice->warp = first_until(c, s, when);
    choice->later = soonest[1] > when ? soonest[1] : when;
    if (choice->made) return true;
    s->planned = !c->hooks;
    s->plan = keeps && c->issues[s->recent] <= when ? s->recent : choice->warp;
    s->plan_later = s->plan == s->recent && keeps ? when : choice->later;
    return false;
}

/* The same beforehand: when the scheduler issues next, and from which warp. */
static void foresee(struct timing *c, u32 number)
{
    struct timing_scheduler *s = &c->schedulers[number];
    const bool keeps = c->m->oldest && s->recent < s->count;
    double soonest[2], when = s->last;
    u32 warp = s->recent;
    if (!keeps || issues_at(c, s, warp) > when) {
        find_soonest(c, s, soonest);
        when = soonest[0] > when ? soonest[0] : when;
        if (!keeps || c->issues[warp] > when)
            warp = when < TIMING_NEVER ? first_until(c, s, when) : UINT32_MAX;
    }
    c->turns[number] = when;
    s->planned = when < TIMING_NEVER;
    s->plan = warp, s->plan_later = when;
}

static void step(struct timing *c, struct timing_choice *choice)
{
    struct timing_scheduler *s = &c->schedulers[choice->scheduler];
    struct timing_warp *w = &c->warps[s->warps[choice->warp]];
    const double now = c->turns[choice->scheduler], since = now - s->last,
                 waited = since > 0 ? since : 0;
    const double ready = *w->ready > s->last ? *w->ready : s->last, over = now - ready,
                 taken = over > 0 ? over : 0; /* the unit, from when the warp could */
    s->part[w->part] += waited - taken;
    s->part[TIMING_UNIT] += taken;
    s->by_unit[c->next.unit[w->place]] += taken;
    if (c->lapse) time_lapse_issue(c, choice->scheduler, w, s->last, taken, now);
    s->last = now + c->issue_cycles * w->fold;
    issue_bins_add(&c->issued, now, s->last);
    s->recent = choice->warp;
    if (s->strict) s->turn = (choice->warp + 1) % s->count;
    c->stepping = choice->scheduler, c->woken = TIMING_NEVER;
    choice->made = false;
    issue(c, s, w, now);
    c->stepping = UINT32_MAX;
    if (c->foresees) foresee(c, choice->scheduler);
    else c->turns[choice->scheduler] = next_turn(c, s, w, choice->later);
}

/* Whether the warp has instructions after the next one. */
static bool goes_on(const struct timing_warp *w)
{
    const u32 *words = w->trace->words;
    u32 at = w->at;
    if (w->left > 1) return true;
    while (at < w->trace->count && (words[at] & 3) != TRACE_BLOCK)
        at += 1 + trace_access_words(words + at);
    return at < w->trace->count;
}

/* Whether the warp's next instruction cannot affect other SMs: it sends nothing to L2 and does not end the warp. */
static bool is_own(const struct timing *c, const struct timing_warp *w)
{
    const u32 *words = w->trace->words;
    if (c->hooks || !goes_on(w)) return false;
    if (w->class != PTX_COST_MEMORY) return true;
    for (u32 at = w->at; at < w->trace->count && timing_is_access_of(c->t, words[at], w->inst);
         at += 1 + trace_access_words(words + at))
        if ((words[at] & 3) != TRACE_SHARED) return false;
    return true;
}

/* The scheduler of the SM whose turn is next, of several the first. */
static inline u32 next_scheduler(const struct timing *c, u32 first)
{
    const double *turn = c->turns + first;
    u32 next = 0;
    if (c->m->schedulers == 4) { /* of most GPUs; without branches */
        const u32 low = turn[1] < turn[0], high = 2 + (turn[3] < turn[2]);
        return first + low + (high - low) * (turn[high] < turn[low]);
    }
    for (u32 s = 1; s < c->m->schedulers; s++)
        if (turn[s] < turn[next]) next = s;
    return first + next;
}

void timing_run_sm(struct timing *c, u32 sm, double now)
{
    struct timing_choice *choice = &c->choices[sm];
    const u32 first = sm * c->m->schedulers;
    u32 next = next_scheduler(c, first);
    c->running = sm;
    for (bool done = false; !done; next = next_scheduler(c, first)) {
        if (c->turns[next] == TIMING_NEVER) break;
        if (!choice->made && c->foresees && !c->schedulers[next].planned) {
            foresee(c, next);
            continue;
        }
        if (!choice->made && !choose(c, next, choice)) continue;
        const struct timing_scheduler *s = &c->schedulers[choice->scheduler];
        if (c->turns[choice->scheduler] > now && !is_own(c, &c->warps[s->warps[choice->warp]]))
            break;
        step(c, choice);
        done = c->hooks != NULL; /* other SMs may have heard of it */
    }
    c->running = UINT32_MAX;
    set_key(c, sm, c->turns[next]);
}

bool timing_unblock(struct timing *c, double now)
{
    bool any = c->mem.lock_waiters && timing_lock_unblock(c, now);
    any |= c->mem.poll_waiters && timing_poll_unblock(c, now);
    for (u32 slot = 0; slot < c->sms * c->slots; slot++) {
        struct timing_cta *cta = &c->ctas[slot];
        if (cta->live && c->copies) any |= timing_async_wake(c, slot, now);
        if (!cta->live || !cta->arrived) continue;
        cta->arrived = cta->live;
        release(c, slot, now);
        any = true;
    }
    return any;
}

/* ---- the beginning of a run ---------------------------------------------------------------------------------- */

/* A scheduler has each schedulers-th warp of its SM, and its warps' candidates side by side. */
static void lay_out_warps(struct timing *c)
{
    u32 *list = c->scheduler_warps;
    for (size_t k = 0; k < (size_t)c->scheduler_count * c->next.each; k++)
        c->next.ready[k] = TIMING_NEVER;
    for (u32 s = 0; s < c->scheduler_count; s++) {
        const u32 sm = s / c->m->schedulers;
        c->turns[s] = TIMING_NEVER;
        c->schedulers[s].warps = list;
        c->schedulers[s].first = s * c->next.each;
        for (u32 k = s % c->m->schedulers; k < c->warps_per_sm; k += c->m->schedulers) {
            const u32 w = sm * c->warps_per_sm + k;
            c->warps[w].sm = sm;
            c->warps[w].scheduler = s;
            c->warps[w].regs = c->reg_times + (size_t)w * c->code.regs;
            c->warps[w].reg_parts = c->reg_parts + (size_t)w * c->code.regs;
            c->warps[w].place = s * c->next.each + k / c->m->schedulers;
            c->warps[w].ready = c->next.ready + c->warps[w].place;
            *list++ = w;
        }
        c->schedulers[s].count = (u32)(list - c->schedulers[s].warps);
    }
}

void timing_prepare_sms(struct timing *c)
{
    struct timing_storage *st = &c->storage;
    const u32 warps = c->sms * c->warps_per_sm;
    const size_t fetched = (size_t)c->sms * c->m->fetch_lines;
    c->scheduler_count = c->sms * c->m->schedulers;
    c->warps = timing_take(st, warps, sizeof *c->warps);
    c->ctas = timing_take(st, (size_t)c->sms * c->slots, sizeof *c->ctas);
    c->schedulers = timing_take(st, c->scheduler_count, sizeof *c->schedulers);
    c->scheduler_warps = timing_take(st, warps, sizeof(u32));
    c->next.each = ((c->warps_per_sm - 1) / c->m->schedulers + 2) & ~1u;
    c->next.ready = timing_take_raw(st, (size_t)c->scheduler_count * c->next.each, sizeof(double));
    c->next.age = timing_take(st, (size_t)c->scheduler_count * c->next.each, sizeof(u32));
    c->next.unit = timing_take(st, (size_t)c->scheduler_count * c->next.each, 1);
    c->issues = timing_take_raw(st, c->next.each, sizeof *c->issues);
    c->turns = timing_take_raw(st, c->scheduler_count, sizeof *c->turns);
    c->reg_times = timing_take_raw(st, (size_t)warps * c->code.regs, sizeof *c->reg_times);
    c->reg_parts = timing_take_raw(st, (size_t)warps * c->code.regs, 1);
    lay_out_warps(c);
    for (c->leaves = 1; c->leaves < c->sms;) c->leaves *= 2;
    c->key = timing_take(st, 2 * (size_t)c->leaves, sizeof *c->key);
    c->choices = timing_take(st, c->sms, sizeof *c->choices);
    for (u32 i = 0; i < 2 * c->leaves; i++)
        c->key[i] = (struct timing_sm_key){TIMING_NEVER, i < c->leaves ? 0 : i - c->leaves};
    c->fetched = timing_take(st, fetched, sizeof *c->fetched);
    for (size_t i = 0; i < fetched; i++)
        c->fetched[i] = (struct timing_line){.tag = UINT32_MAX, .used = -1};
}
