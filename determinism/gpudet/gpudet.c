/* GPUDet's quanta (Jooybar's thesis, chapter 4): which warp runs, where parallel mode ends, and the slots of CTAs.
 *
 * The callbacks of struct emu_order are here. gpudet_on_access() and gpudet_on_sync() end a warp's parallel mode (4.2);
 * when no warp can run, gpudet_on_idle() commits the write logs (commit.c, 4.4), executes atomics (serial.c, 4.5) and
 * begins the next quantum. gpudet_pick() lets the adversary choose among the ready warps. place_cta() assigns CTAs to
 * slots (4.2.2). If warps share memory, serialised.c determines which of them is awake. determinism/gpudet/gpudet.h is
 * an overview.
 *
 * Invariants. Between two calls of gpudet_on_idle() a warp's execution does not depend on other warps, except on those
 * of its group (serialised.c). A warp that has ended its parallel mode sleeps, and is in `stopped`. Logs are empty when
 * a quantum begins.
 *
 * Faster paths with the same results are in fast.c and in_place.c. Paths whose effects are observable are off if events
 * are counted or observed, and with --speculate=off. */
#include "determinism/gpudet/internal.h"

#include "determinism/orders.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    STRONG = EMU_VOLATILE | EMU_ACQUIRE | EMU_RELEASE | EMU_RELAXED,
    SHORT_ONE_IN = 4, /* one of so many bursts is short: */
    SHORT_MOST = 16,  /* at most this */
    MOST_WAITED = 64, /* quanta of an mbarrier.try_wait: then its time is up */
};

/* What is of a quantum, if it is of an earlier one. */
static void refresh(const struct gpudet *g, struct gpudet_warp *w)
{
    if (w->quantum == g->quantum) return;
    w->quantum = g->quantum;
    w->used = 0;
    w->start = w->issue_seq;
    w->stored = false;
}

static struct gpudet_warp *warp_of(const struct gpudet *g, const struct emu_warp *who)
{
    struct gpudet_warp *w = gpudet_warp_at(g, who->slot, who->warp);
    refresh(g, w);
    return w;
}

static void put_to_sleep(struct gpudet *g, const struct gpudet_warp *w)
{
    emu_machine_sleep(g->m, &w->who);
}

static void wake(struct gpudet *g, const struct gpudet_warp *w)
{
    emu_machine_wake(g->m, &w->who);
}

/* ---- where parallel mode ends for a warp -------------------------------------------------------------- */

static void count_used(struct gpudet_warp *w, uint64_t issue_seq)
{
    if (w->just_started) w->start = issue_seq;
    w->just_started = false;
    w->issue_seq = issue_seq;
    w->used += issue_seq > w->start ? issue_seq - w->start : 0;
    w->start = issue_seq;
}

/* The warp that has its turn goes on no more: the next one has it. */
static void pass_turn(struct gpudet *g, struct gpudet_warp *w)
{
    if (!g->serialised || !g->open) return;
    struct gpudet_group *u = gpudet_group_of(g, w);
    u->advances++;
    gpudet_group_next(g, u);
}

static void end_parallel_mode(struct gpudet *g, struct gpudet_warp *w, enum gpudet_end why)
{
    g->n.end[why]++;
    g->progress = true;
    gpudet_set_state(g, w, why == GPUDET_END_EXIT ? GPUDET_NONE : GPUDET_ENDED);
    if (why != GPUDET_END_EXIT) gpudet_set_add(g->stopped, w->number);
    pass_turn(g, w);
}

/* At an instruction, at which it goes on in the next quantum. */
static enum emu_verdict end_parallel_mode_at(struct gpudet *g, struct gpudet_warp *w,
                                             enum gpudet_end why, uint32_t pc, uint64_t issue_seq)
{
    w->resumes = true;
    w->resume_pc = pc;
    w->resume_seq = issue_seq;
    count_used(w, issue_seq);
    end_parallel_mode(g, w, why);
    return EMU_SLEEP;
}

static bool resumes(const struct gpudet_warp *w, uint32_t pc, uint64_t issue_seq)
{
    return w->resumes && w->resume_pc == pc && w->resume_seq == issue_seq;
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

/* In place the number of entries is an upper bound at first. */
static bool log_is_full(const struct gpudet *g, struct gpudet_log *l)
{
    if (!write_log_is_full(l->count, g->options.log)) return false;
    return !g->fast.stores_in_place ||
           write_log_is_full(gpudet_in_place_entries(l), g->options.log);
}

static enum emu_verdict access_async(struct gpudet *g, struct gpudet_warp *w,
                                     const struct emu_access *a)
{
    const bool global = a->space == PTX_SPACE_GLOBAL;
    if (w->stored && !resumes(w, a->pc, a->who->serial))
        return end_parallel_mode_at(g, w, GPUDET_END_FENCE, a->pc, a->who->serial);
    w->resumes = true; /* its other pieces, too */
    w->resume_pc = a->pc;
    w->resume_seq = a->who->serial;
    if (!global || a->kind == EMU_LOAD || !g->options.buffer) return EMU_PROCEED;
    if (a->kind == EMU_STORE) gpudet_log_store(g, w, a);
    else gpudet_serial_defer_reduction(g, w, a);
    return EMU_DONE;
}

static enum emu_verdict access_global(struct gpudet *g, struct gpudet_warp *w,
                                      const struct emu_access *a)
{
    const uint64_t issue_seq = a->who->serial;
    if (w->bulk_count && !resumes(w, a->pc, issue_seq))
        return end_parallel_mode_at(g, w, GPUDET_END_FENCE, a->pc, issue_seq);
    if (a->kind == EMU_ATOMIC || a->kind == EMU_RED) {
        if (w->reports) {
            w->reports = false;
            gpudet_serial_report(g, w, a);
            return EMU_SLEEP;
        }
        const enum emu_verdict v = gpudet_serial_request(g, w, a);
        return v == EMU_SLEEP ? end_parallel_mode_at(g, w, GPUDET_END_ATOMIC, a->pc, issue_seq) : v;
    }
    if (a->flags & STRONG && !resumes(w, a->pc, issue_seq)) {
        end_parallel_mode_at(g, w, GPUDET_END_STRONG, a->pc, issue_seq);
        return g->fast.stores_in_place && a->kind == EMU_LOAD ? EMU_SLEEP_ONCE : EMU_SLEEP;
    }
    if (!g->options.buffer) return EMU_PROCEED;
    if (a->kind == EMU_LOAD) {
        const bool found = !g->fast.stores_in_place && gpudet_log_load(g, w, a);
        return found ? EMU_DONE : EMU_PROCEED;
    }
    if (log_is_full(g, &w->log) && !resumes(w, a->pc, issue_seq))
        return end_parallel_mode_at(g, w, GPUDET_END_LOG, a->pc, issue_seq);
    if (g->fast.stores_in_place) {
        gpudet_in_place_store(g, w, a);
        return EMU_PROCEED;
    }
    gpudet_log_store(g, w, a);
    return EMU_DONE;
}

static enum emu_verdict gpudet_on_access(void *self, const struct emu_access *a)
{
    struct gpudet *g = self;
    struct gpudet_warp *w = warp_of(g, a->who);
    if (a->flags & EMU_ASYNC) return access_async(g, w, a);
    if (a->space == PTX_SPACE_GLOBAL) return access_global(g, w, a);
    if (a->flags & EMU_RELEASE && w->stored && !resumes(w, a->pc, a->who->serial))
        return end_parallel_mode_at(g, w, GPUDET_END_FENCE, a->pc, a->who->serial);
    return EMU_PROCEED;
}

/* ---- barriers, fences, beginnings and ends -------------------------------------------------------------- */

/* All warps have come to the barrier. They go on in this quantum unless one of them has stored (4.2.1). */
static void barrier_done(struct gpudet *g, const struct emu_sync *s)
{
    bool stored = false;
    struct gpudet_warp *const first = gpudet_warp_at(g, s->who->slot, 0);
    const uint32_t n = g->shape.warps_per_cta;
    for (uint32_t i = 0; i < n; i++) {
        refresh(g, &first[i]);
        stored |= first[i].stored;
    }
    if (g->options.bta && !stored) g->n.passed++;
    else g->n.held++;
    g->progress = true;
    for (uint32_t i = 0; i < n; i++) {
        struct gpudet_warp *w = &first[i];
        if (w->state != GPUDET_BARRIER || w->barrier != s->id) continue;
        gpudet_set_state(g, w, GPUDET_RUNS);
        gpudet_set_add(g->stopped, w->number); /* if a caller came last, it goes on when all do */
        if (g->options.bta && !stored) continue;
        gpudet_set_state(g, w, GPUDET_ENDED);
        g->n.end[GPUDET_END_BARRIER]++;
        put_to_sleep(g, w);
    }
    if (!g->serialised || !g->open) return;
    struct gpudet_group *u = gpudet_group_of(g, first);
    u->advances++;
    if (!u->running || gpudet_group_current(g, u)->state == GPUDET_ENDED) gpudet_group_next(g, u);
}

static void start_cta(struct gpudet *g, const struct emu_warp *who)
{
    struct gpudet_slot *s = &g->slots[who->slot];
    const uint32_t rank = g->shape.cluster > 1 ? emu_machine_rank(g->m, who->cta) : 0;
    s->live = true;
    g->progress = g->ctas.slots_changed = true;
    if (!rank) {
        g->groups[who->slot] = (struct gpudet_group){0};
        s->group = who->slot;
    } else s->group = g->last_group;
    g->last_group = s->group;
    struct gpudet_group *u = &g->groups[s->group];
    u->slots[u->slot_count++] = who->slot;
    for (uint32_t i = 0; i < g->shape.warps_per_cta; i++) {
        struct gpudet_warp *w = gpudet_warp_at(g, who->slot, i);
        refresh(g, w); /* what has been used of the quantum stays used */
        w->who = (struct emu_warp){.cta = who->cta, .warp = i, .sm = who->sm, .slot = who->slot};
        w->number = s->first + i;
        w->state = GPUDET_RUNS;
        g->in_state[GPUDET_RUNS]++;
        w->just_started = true;
        w->stored = w->resumes = w->calls = w->reports = w->atomic_in_place = false;
        w->request_count = w->waited = 0;
        w->issue_seq = w->start = w->turn = 0;
        w->waits_at = UINT32_MAX;
        if (g->serialised) put_to_sleep(g, w);
    }
    if (g->serialised && !rank) gpudet_group_begin(g, u);
}

static void end_warp(struct gpudet *g, const struct emu_sync *s)
{
    struct gpudet_warp *w = warp_of(g, s->who);
    count_used(w, s->who->serial);
    end_parallel_mode(g, w, GPUDET_END_EXIT);
}

/* The slot is free. */
static void mark_free(struct gpudet *g, uint32_t slot)
{
    if (g->slots[slot].share < g->ctas.pending_count) gpudet_set_add(g->ctas.free_slots, slot);
}

static enum emu_verdict gpudet_on_sync(void *self, const struct emu_sync *s)
{
    struct gpudet *g = self;
    struct gpudet_warp *w = warp_of(g, s->who);
    const uint64_t issue_seq = s->who->serial;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (!resumes(w, s->pc, issue_seq))
            return end_parallel_mode_at(g, w, GPUDET_END_FENCE, s->pc, issue_seq);
        break;
    case EMU_SYNC_BARRIER:
        if (w->bulk_count && !resumes(w, s->pc, issue_seq))
            return end_parallel_mode_at(g, w, GPUDET_END_FENCE, s->pc, issue_seq);
        g->progress = true;
        if (!(s->flags & EMU_ACQUIRE)) break; /* it arrives and goes on */
        count_used(w, issue_seq);
        gpudet_set_state(g, w, GPUDET_BARRIER);
        w->barrier = (uint8_t)s->id;
        break;
    case EMU_SYNC_MBARRIER:
    case EMU_SYNC_CLUSTER:
    case EMU_SYNC_ASYNC_WAIT:
        if (w->stored && !resumes(w, s->pc, issue_seq))
            return end_parallel_mode_at(g, w, GPUDET_END_FENCE, s->pc, issue_seq);
        break;
    case EMU_SYNC_RUNTIME:
        if (resumes(w, s->pc, issue_seq)) break;
        g->runtime_callers[g->runtime_caller_count++] = w->number;
        return end_parallel_mode_at(g, w, GPUDET_END_RUNTIME, s->pc, issue_seq);
    case EMU_SYNC_BARRIER_DONE: barrier_done(g, s); break;
    case EMU_SYNC_CTA_START: start_cta(g, s->who); break;
    case EMU_SYNC_WARP_EXIT: end_warp(g, s); break;
    case EMU_SYNC_CTA_EXIT:
        g->slots[s->who->slot].live = false;
        g->ctas.slots_changed = true;
        mark_free(g, s->who->slot);
        break;
    default: break;
    }
    return EMU_PROCEED;
}

/* ---- who goes on ------------------------------------------------------------------------------------------ */

/* The warp that was picked last may have come to a barrier. */
static void check_last(struct gpudet *g)
{
    struct gpudet_warp *w = g->last;
    g->last = NULL;
    if (!w || !g->serialised || w->state != GPUDET_BARRIER) return;
    put_to_sleep(g, w);
    pass_turn(g, w);
}

/* It has been tried, and can do nothing. */
static void set_waiting(struct gpudet *g, struct gpudet_warp *w, const struct emu_warp *who)
{
    /* A block may wait several times, and is counted when it begins. */
    const bool progress = who->serial != w->turn || who->waits_at != w->waits_at;
    count_used(w, who->serial);
    g->progress |= progress;
    if (progress) w->waited = 0;
    w->turn = who->serial;
    w->waits_at = who->waits_at;
    gpudet_set_state(g, w, GPUDET_WAITS);
    gpudet_set_add(g->stopped, w->number);
    put_to_sleep(g, w);
    if (!g->serialised || !g->open) return;
    struct gpudet_group *u = gpudet_group_of(g, w);
    u->advances += progress;
    w->tried = u->advances;
    gpudet_group_next(g, u);
}

/* Callers of the device runtime, one after the other, before all else. */
static int pick_caller(struct gpudet *g, uint32_t *burst)
{
    size_t n;
    for (const struct emu_warp *ready; ready = emu_machine_ready(g->m, &n), n;) {
        struct gpudet_warp *w = warp_of(g, ready);
        if (w->calls && !ready->waits) {
            w->calls = false;
            g->last = w;
            *burst = 1;
            return 0;
        }
        w->calls = false;
        gpudet_set_add(g->stopped, w->number);
        put_to_sleep(g, w);
    }
    return -1;
}

static int gpudet_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct gpudet *g = self;
    g->begins = false;
    check_last(g);
    if (!g->open) return pick_caller(g, burst);
    while (ready = emu_machine_ready(g->m, &count), count) {
        const uint32_t n = (uint32_t)count, i = g->fast.order_unobservable
                                                    ? gpudet_fast_choose(g, n)
                                                    : gpudet_below(g, n);
        const struct emu_warp *who = &ready[i];
        struct gpudet_warp *w = warp_of(g, who);
        if (w->state != GPUDET_RUNS) {
            put_to_sleep(g, w);
            continue;
        }
        if (w->just_started) w->start = w->turn = who->serial;
        w->just_started = false;
        if (who->waits) {
            set_waiting(g, w, who);
            continue;
        }
        const uint64_t used = w->used + (who->serial > w->start ? who->serial - w->start : 0);
        if (used >= g->options.quantum) {
            count_used(w, who->serial);
            put_to_sleep(g, w);
            end_parallel_mode(g, w, GPUDET_END_LIMIT);
            continue;
        }
        *burst = (uint32_t)(g->options.quantum - used);
        if (!g->fast.order_unobservable && !gpudet_below(g, SHORT_ONE_IN)) {
            const uint32_t some = 1 + gpudet_below(g, SHORT_MOST);
            if (some < *burst) *burst = some;
        }
        g->last = w;
        if (g->fast.order_unobservable) gpudet_fast_prefetch(g, ready, i);
        if (g->fast.stores_in_place) gpudet_in_place_switch(g, w);
        return (int)i;
    }
    return -1;
}

/* ---- CTAs ------------------------------------------------------------------------------------------------- */

/* Pending ones to slots in turn: first the free ones, then those that may become free. */
static void distribute_ctas(struct gpudet *g)
{
    uint32_t n = 0, rank = 0;
    if (!g->ctas.taken && !g->ctas.slots_changed) return;
    for (uint32_t i = 0; g->ctas.taken && i < g->ctas.pending_count; i++)
        if (g->ctas.pending[i] != GPUDET_TAKEN) g->ctas.pending[n++] = g->ctas.pending[i];
    if (g->ctas.taken) g->ctas.pending_count = n;
    g->ctas.taken = g->ctas.first = 0;
    g->ctas.stride = g->shape.slots;
    g->ctas.slots_changed = false;
    memset(g->ctas.free_slots, 0, (g->shape.slots + 63) / 64 * sizeof *g->ctas.free_slots);
    if (!g->ctas.pending_count) return;
    for (uint32_t busy = 0; busy < 2; busy++)
        for (uint32_t s = 0; s < g->shape.slots; s++) {
            if (g->slots[s].live != busy) continue;
            g->slots[s].share = rank++;
            if (!busy) mark_free(g, s);
        }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int place_cta(void *self, const uint32_t *free_slots, size_t count, uint32_t *cluster)
{
    struct gpudet *g = self;
    const bool any = g->options.distribution == GPUDET_ANY;
    if (g->ctas.taken == g->ctas.pending_count || (!g->open && !g->begins)) return -1;
    if (any || !g->options.dwp || g->shape.cluster > 1) {
        if (!any && !g->begins) return -1;
        while (g->ctas.pending[g->ctas.first] == GPUDET_TAKEN) g->ctas.first++;
        *cluster = g->ctas.pending[g->ctas.first];
        g->ctas.pending[g->ctas.first] = GPUDET_TAKEN;
        g->ctas.taken++;
        return any ? (int)gpudet_below(g, (uint32_t)count) : 0;
    }
    if (gpudet_fast_window_is_full(g)) return -1;
    GPUDET_EACH(i, g->ctas.free_slots, g->shape.slots)
    {
        const uint32_t slot = (uint32_t)i,
                       *at = bsearch(&slot, free_slots, count, sizeof slot, by_number);
        struct gpudet_slot *s = &g->slots[slot];
        *cluster = g->ctas.pending[s->share];
        g->ctas.pending[s->share] = GPUDET_TAKEN;
        g->ctas.taken++;
        s->share += g->ctas.stride;
        gpudet_set_remove(g->ctas.free_slots, slot);
        return (int)(at - free_slots);
    }
    return -1;
}

/* ---- quanta ----------------------------------------------------------------------------------------------- */

/* Resumes all stopped warps in the order of their numbers in hardware; a group of warps by its slot. */
static void resume_warps(struct gpudet *g)
{
    GPUDET_EACH(i, g->stopped, g->warp_count)
    {
        const struct gpudet_warp *w = &g->warps[i];
        if (w->state == GPUDET_ENDED) continue; /* since the quantum began: a caller */
        gpudet_set_remove(g->stopped, (uint32_t)i);
        if (w->state != GPUDET_RUNS) continue;
        if (g->serialised) gpudet_set_add(g->turns, g->slots[w->who.slot].group);
        else wake(g, w);
    }
    if (!g->serialised) return;
    GPUDET_EACH(s, g->turns, g->shape.slots)
    {
        gpudet_set_remove(g->turns, (uint32_t)s);
        gpudet_group_begin(g, &g->groups[s]);
    }
}

static void begin_parallel_mode(struct gpudet *g)
{
    g->open = g->begins = true;
    g->runtime_caller_count -= g->called; /* some have come to their next call in the meantime */
    memmove(g->runtime_callers, g->runtime_callers + g->called,
            g->runtime_caller_count * sizeof *g->runtime_callers);
    resume_warps(g);
    distribute_ctas(g);
    emu_machine_place_ctas(g->m);
    g->begins = false;
}

static bool time_out(struct gpudet *g, const struct gpudet_warp *w)
{
    return emu_machine_time_out(g->m, &w->who);
}

/* Nothing has happened in a whole quantum. */
static bool time_out_all(struct gpudet *g)
{
    bool any = false;
    GPUDET_EACH(i, g->stopped, g->warp_count)
    {
        const struct gpudet_warp *w = &g->warps[i];
        if (w->state == GPUDET_WAITS) any |= time_out(g, w);
    }
    return any;
}

/* Wakes the next warp that runs before the quantum begins: first those whose atomics an observer is to see in order, then
 * those that call the device runtime. */
static bool next_caller(struct gpudet *g)
{
    while (g->serial.observed_next < g->serial.observed_count || g->calling < g->called) {
        const bool reports = g->serial.observed_next < g->serial.observed_count;
        const uint32_t number = reports ? g->serial.order[g->serial.observed_next++]
                                        : g->runtime_callers[g->calling++];
        struct gpudet_warp *w = &g->warps[number];
        if (w->state != GPUDET_RUNS || (reports && !gpudet_serial_has_unreported(w))) continue;
        w->calls = true;
        w->reports = reports;
        wake(g, w);
        return true;
    }
    return false;
}

static void begin_quantum(struct gpudet *g)
{
    g->progress = false;
    g->quantum++;
    GPUDET_EACH(i, g->stopped, g->warp_count)
    {
        struct gpudet_warp *w = &g->warps[i];
        if (w->state == GPUDET_WAITS && w->waited++ == MOST_WAITED) time_out(g, w);
        if (w->state == GPUDET_ENDED || w->state == GPUDET_WAITS)
            gpudet_set_state(g, w, GPUDET_RUNS);
    }
    g->open = false;
    qsort(g->runtime_callers, g->runtime_caller_count, sizeof *g->runtime_callers, by_number);
    g->calling = 0;
    g->called = g->runtime_caller_count;
    if (!next_caller(g)) begin_parallel_mode(g);
}

/* Logs are empty when a quantum begins, and what has been stored since is not held for long. */
static void quiesce(void *self)
{
    (void)self;
}

static bool gpudet_on_idle(void *self)
{
    struct gpudet *g = self;
    size_t ready;
    check_last(g);
    emu_machine_ready(g->m, &ready);
    if (!ready && !g->open) {
        if (!next_caller(g)) begin_parallel_mode(g);
        emu_machine_ready(g->m, &ready);
    }
    if (ready) return true;
    g->n.end[GPUDET_END_BARRIER] += g->in_state[GPUDET_BARRIER];
    g->n.end[GPUDET_END_WAIT] += g->in_state[GPUDET_WAITS];
    if (!g->progress) return time_out_all(g) ? begin_quantum(g), true : false;
    g->n.quanta++;
    emu_machine_phase(g->m, "parallel");
    if (g->fast.order_unobservable) gpudet_fast_commit(g);
    else gpudet_commit(g);
    emu_machine_phase(g->m, "commit");
    if (g->serial.any) {
        gpudet_serial_run(g);
        emu_machine_phase(g->m, "serial");
    }
    begin_quantum(g);
    return true;
}

/* ---- launches --------------------------------------------------------------------------------------------- */

static uint64_t *new_set(uint64_t *old, uint32_t count)
{
    free(old);
    uint64_t *set = calloc((count + 63) / 64, sizeof *set);
    if (!set) abort();
    return set;
}

static void alloc_warps(struct gpudet *g)
{
    const uint32_t had = g->warp_capacity;
    if (g->warp_count <= had) return;
    const size_t n = g->warp_capacity = g->warp_count > 2 * had ? g->warp_count : 2 * had;
    struct gpudet_warp *const warps = aligned_alloc(_Alignof(struct gpudet_warp),
                                                    n * sizeof *warps);
    if (!warps) abort();
    if (had) memcpy(warps, g->warps, had * sizeof *warps);
    memset(warps + had, 0, (n - had) * sizeof *warps);
    free(g->warps);
    g->warps = warps;
    g->writers = realloc(g->writers, n * sizeof *g->writers);
    g->runtime_callers = realloc(g->runtime_callers, 2 * n * sizeof *g->runtime_callers);
    g->serial.order = realloc(g->serial.order, n * sizeof *g->serial.order);
    g->commit.senders = realloc(g->commit.senders, n * sizeof *g->commit.senders);
    if (!g->writers || !g->runtime_callers || !g->serial.order || !g->commit.senders) abort();
    g->serial.warps = new_set(g->serial.warps, g->warp_capacity);
    g->stopped = new_set(g->stopped, g->warp_capacity);
    g->fast.storing = new_set(g->fast.storing, g->warp_capacity);
}

static void alloc_slots(struct gpudet *g)
{
    const uint32_t had = g->slot_capacity, sms = g->shape.sms;
    g->slots = gpudet_grow(g->slots, g->shape.slots, &g->slot_capacity, sizeof *g->slots);
    if (g->slot_capacity > had) {
        g->groups = realloc(g->groups, g->slot_capacity * sizeof *g->groups);
        if (!g->groups) abort();
        g->turns = new_set(g->turns, g->slot_capacity);
        g->ctas.free_slots = new_set(g->ctas.free_slots, g->slot_capacity);
    }
    for (uint32_t sm = 0, first = 0; sm < sms; sm++)
        for (uint32_t s = sm; s < g->shape.slots; s += sms, first += g->shape.warps_per_cta)
            g->slots[s] = (struct gpudet_slot){.first = first};
}

static const struct emu_order_fast fast = {.wants = gpudet_fast_wants};

static void gpudet_on_begin(void *self, struct emu_machine *m)
{
    struct gpudet *g = self;
    g->m = m;
    g->shape = emu_machine_shape(m);
    g->warp_count = g->shape.slots * g->shape.warps_per_cta;
    g->serialised = g->shape.warps_interact && g->options.shared == GPUDET_FIXED;
    g->counted = emu_machine_is_counted(m);
    gpudet_fast_begin(g);
    g->serial.observed = emu_machine_commits_observed(m);
    g->bloom = bloom_of(g->options.bloom, g->options.subarrays, BLOOM_HASH_CHUNK);
    g->n = (struct gpudet_counts){0};
    alloc_warps(g);
    alloc_slots(g);
    if (!g->fast.order_unobservable) gpudet_commit_begin(g);
    const uint32_t clusters = g->shape.ctas / g->shape.cluster;
    g->ctas.pending = gpudet_grow(g->ctas.pending, clusters, &g->ctas.pending_capacity,
                                  sizeof *g->ctas.pending);
    for (uint32_t i = 0; i < clusters; i++) g->ctas.pending[i] = i;
    g->ctas.pending_count = clusters;
    g->ctas.taken = g->ctas.first = 0;
    g->open = g->begins = g->ctas.slots_changed = true;
    g->progress = false;
    g->quantum++;
    memset(g->in_state, 0, sizeof g->in_state);
    distribute_ctas(g);
}

/* It may have failed in the middle of a quantum. */
static void gpudet_on_end(void *self)
{
    struct gpudet *g = self;
    gpudet_in_place_switch(g, NULL);
    g->fast.stores_in_place = false;
    for (uint32_t i = 0; i < g->writer_count; i++)
        g->warps[g->writers[i]].log = (struct gpudet_log){0};
    gpudet_arena_reset(&g->arena);
    GPUDET_EACH(i, g->serial.warps, g->warp_count)
    {
        g->warps[i].bulk_count = 0;
        gpudet_set_remove(g->serial.warps, (uint32_t)i);
    }
    GPUDET_EACH(i, g->stopped, g->warp_count) gpudet_set_remove(g->stopped, (uint32_t)i);
    g->writer_count = g->runtime_caller_count = g->calling = g->called = 0;
    g->serial.observed_count = g->serial.observed_next = 0;
    g->serial.any = false;
    g->last = NULL;
}

static const struct emu_order_livelock livelock = {.quiesce = quiesce, .in_phases = true};

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct gpudet *g = calloc(1, sizeof *g);
    if (!g) abort();
    g->options = *(const struct gpudet_options *)options;
    g->random = seed * UINT64_C(0xd1342543de82ef95) + 1;
    g->fast.launches = seed + 1; /* the first launch under seed 0 is a fast one */
    g->order = (struct emu_order){.self = g,
                                  .name = gpudet_kind.name,
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                  .step = g->options.step == GPUDET_BLOCK ? EMU_STEP_BLOCK
                                                                          : EMU_STEP_INSTRUCTION,
                                  .fast = &fast,
                                  .begin = gpudet_on_begin,
                                  .pick = gpudet_pick,
                                  .place_any = place_cta,
                                  .access = gpudet_on_access,
                                  .sync = gpudet_on_sync,
                                  .idle = gpudet_on_idle,
                                  .end = gpudet_on_end,
                                  .livelock = &livelock,
                                  .numbers = gpudet_numbers};
    return &g->order;
}

static void release(struct emu_order *o)
{
    struct gpudet *g = o->self;
    for (uint32_t i = 0; i < g->warp_capacity; i++) gpudet_serial_free(&g->warps[i]);
    gpudet_commit_free(g);
    free(g->warps);
    free(g->slots);
    free(g->groups);
    free(g->writers);
    free(g->commit.senders);
    gpudet_arena_free(&g->arena);
    free(g->runtime_callers);
    free(g->serial.warps);
    free(g->serial.order);
    free(g->stopped);
    free(g->fast.storing);
    free(g->turns);
    free(g->ctas.free_slots);
    free(g->ctas.pending);
    free(g);
}

const struct order_kind gpudet_kind = {
    .name = "gpudet",
    .what =
        "GPUDet: quanta of parallel, commit and serial mode; the same bits for every seed, races "
        "included",
    .options = gpudet_option_list,
    .size = sizeof(struct gpudet_options),
    .option_count = GPUDET_OPTIONS,
    .stack_only = true,
    .nests = true,
    .conflict = gpudet_conflict,
    .promise = gpudet_promise,
    .storage = gpudet_storage,
    .make = make,
    .free = release,
};
