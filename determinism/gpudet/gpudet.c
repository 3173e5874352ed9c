/* Quanta of gpudet: who runs, where parallel mode ends, which CTA begins where. */
#include "determinism/gpudet/internal.h"

#include "determinism/orders.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    STRONG = EMU_VOLATILE | EMU_ACQUIRE | EMU_RELEASE | EMU_RELAXED,
    SHORT = 4,        /* one of so many bursts is short: */
    SHORT_MOST = 16,  /* at most this */
    MOST_STAY = 64,   /* draws between two choices */
    MOST_WAITED = 64, /* quanta of an mbarrier.try_wait: then its time is up */
    CROWD = 16,       /* ready warps, beside which no CTA need begin, */
    WIDE = 8,         /* but in one of so many launches */
};

void *gpudet_grow(void *list, uint32_t need, uint32_t *room, size_t size)
{
    if (need <= *room) return list;
    while (*room < need) *room = *room ? 2 * *room : 16;
    list = realloc(list, *room * size);
    if (!list) abort();
    return list;
}

/* What is of a quantum, if it is of an earlier one. */
static void refresh(const struct gpudet *g, struct gpudet_warp *w)
{
    if (w->quantum == g->quantum) return;
    w->quantum = g->quantum;
    w->used = 0;
    w->start = w->serial;
    w->stored = false;
}

static struct gpudet_warp *warp_of(const struct gpudet *g, const struct emu_warp *who)
{
    struct gpudet_warp *w = gpudet_warp_at(g, who->slot, who->warp);
    refresh(g, w);
    return w;
}

static void rest(struct gpudet *g, const struct gpudet_warp *w)
{
    emu_machine_sleep(g->m, &w->who);
}

static void wake(struct gpudet *g, const struct gpudet_warp *w)
{
    emu_machine_wake(g->m, &w->who);
}

/* ---- where parallel mode ends for a warp -------------------------------------------------------------- */

static void count_used(struct gpudet_warp *w, uint64_t serial)
{
    if (w->fresh) w->start = serial;
    w->fresh = false;
    w->serial = serial;
    w->used += serial > w->start ? serial - w->start : 0;
    w->start = serial;
}

/* The warp that has its turn goes on no more: the next one has it. */
static void pass_on(struct gpudet *g, struct gpudet_warp *w)
{
    if (!g->in_turn || !g->open) return;
    struct gpudet_unit *u = gpudet_unit_of(g, w);
    u->moves++;
    gpudet_unit_next(g, u);
}

static void finish(struct gpudet *g, struct gpudet_warp *w, enum gpudet_end why)
{
    g->n.end[why]++;
    g->moved = true;
    gpudet_become(g, w, why == GPUDET_END_EXIT ? GPUDET_NONE : GPUDET_ENDED);
    if (why != GPUDET_END_EXIT) gpudet_add(g->stopped, w->number);
    pass_on(g, w);
}

/* At an instruction, at which it goes on in the next quantum. */
static enum emu_verdict stop_at(struct gpudet *g, struct gpudet_warp *w, enum gpudet_end why,
                                uint32_t pc, uint64_t serial)
{
    w->passes = true;
    w->pass_pc = pc;
    w->pass_serial = serial;
    count_used(w, serial);
    finish(g, w, why);
    return EMU_SLEEP;
}

static bool passes(const struct gpudet_warp *w, uint32_t pc, uint64_t serial)
{
    return w->passes && w->pass_pc == pc && w->pass_serial == serial;
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

static enum emu_verdict access_async(struct gpudet *g, struct gpudet_warp *w,
                                     const struct emu_access *a)
{
    const bool global = a->space == PTX_SPACE_GLOBAL;
    if (w->stored && !passes(w, a->pc, a->who->serial))
        return stop_at(g, w, GPUDET_END_FENCE, a->pc, a->who->serial);
    w->passes = true; /* its other pieces, too */
    w->pass_pc = a->pc;
    w->pass_serial = a->who->serial;
    if (!global || a->kind == EMU_LOAD || !g->options.buffer) return EMU_PROCEED;
    if (a->kind == EMU_STORE) gpudet_log_store(g, w, a);
    else gpudet_serial_later(g, w, a);
    return EMU_DONE;
}

static enum emu_verdict access_global(struct gpudet *g, struct gpudet_warp *w,
                                      const struct emu_access *a)
{
    const uint64_t serial = a->who->serial;
    if (w->later_count && !passes(w, a->pc, serial))
        return stop_at(g, w, GPUDET_END_FENCE, a->pc, serial);
    if (a->kind == EMU_ATOMIC || a->kind == EMU_RED) {
        if (gpudet_serial_ask(g, w, a) == EMU_DONE) return EMU_DONE;
        return stop_at(g, w, GPUDET_END_ATOMIC, a->pc, serial);
    }
    if (a->flags & STRONG && !passes(w, a->pc, serial)) {
        stop_at(g, w, GPUDET_END_STRONG, a->pc, serial);
        return g->swaps && a->kind == EMU_LOAD ? EMU_SLEEP_ONCE : EMU_SLEEP;
    }
    if (!g->options.buffer) return EMU_PROCEED;
    if (a->kind == EMU_LOAD) {
        const bool found = !g->swaps && gpudet_log_load(g, w, a);
        return found ? EMU_DONE : EMU_PROCEED;
    }
    if (!gpudet_log_fits(g, &w->log) && !passes(w, a->pc, serial))
        return stop_at(g, w, GPUDET_END_LOG, a->pc, serial);
    if (g->swaps) {
        gpudet_swap_keep(g, w, a);
        return EMU_PROCEED;
    }
    gpudet_log_store(g, w, a);
    return EMU_DONE;
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct gpudet *g = self;
    struct gpudet_warp *w = warp_of(g, a->who);
    if (a->flags & EMU_ASYNC) return access_async(g, w, a);
    if (a->space == PTX_SPACE_GLOBAL) return access_global(g, w, a);
    if (a->flags & EMU_RELEASE && w->stored && !passes(w, a->pc, a->who->serial))
        return stop_at(g, w, GPUDET_END_FENCE, a->pc, a->who->serial);
    return EMU_PROCEED;
}

/* ---- barriers, fences, beginnings and ends -------------------------------------------------------------- */

/* All who waited there may go on, or could if nobody had stored. */
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
    g->moved = true;
    for (uint32_t i = 0; i < n; i++) {
        struct gpudet_warp *w = &first[i];
        if (w->state != GPUDET_BARRIER || w->barrier != s->id) continue;
        gpudet_become(g, w, GPUDET_RUNS);
        gpudet_add(g->stopped, w->number); /* if a caller came last, it goes on when all do */
        if (g->options.bta && !stored) continue;
        gpudet_become(g, w, GPUDET_ENDED);
        g->n.end[GPUDET_END_BARRIER]++;
        rest(g, w);
    }
    if (!g->in_turn || !g->open) return;
    struct gpudet_unit *u = gpudet_unit_of(g, first);
    u->moves++;
    if (!u->running || gpudet_unit_now(g, u)->state == GPUDET_ENDED) gpudet_unit_next(g, u);
}

static void start_cta(struct gpudet *g, const struct emu_warp *who)
{
    struct gpudet_slot *s = &g->slots[who->slot];
    const uint32_t rank = g->shape.cluster > 1 ? emu_machine_rank(g->m, who->cta) : 0;
    s->live = true;
    g->moved = g->reseated = true;
    if (!rank) {
        g->units[who->slot] = (struct gpudet_unit){0};
        s->unit = who->slot;
    } else s->unit = g->last_unit;
    g->last_unit = s->unit;
    struct gpudet_unit *u = &g->units[s->unit];
    u->slots[u->slot_count++] = who->slot;
    for (uint32_t i = 0; i < g->shape.warps_per_cta; i++) {
        struct gpudet_warp *w = gpudet_warp_at(g, who->slot, i);
        refresh(g, w); /* what has been used of the quantum stays used */
        w->who = (struct emu_warp){.cta = who->cta, .warp = i, .sm = who->sm, .slot = who->slot};
        w->number = s->first + i;
        w->state = GPUDET_RUNS;
        g->in_state[GPUDET_RUNS]++;
        w->fresh = true;
        w->stored = w->passes = w->calls = w->asks = false;
        w->asked = w->waited = 0;
        w->serial = w->start = w->turn = 0;
        w->waits_at = UINT32_MAX;
        if (g->in_turn) rest(g, w);
    }
    if (g->in_turn && !rank) gpudet_unit_begin(g, u);
}

static void end_warp(struct gpudet *g, const struct emu_sync *s)
{
    struct gpudet_warp *w = warp_of(g, s->who);
    count_used(w, s->who->serial);
    finish(g, w, GPUDET_END_EXIT);
}

/* The slot is free. */
static void feed(struct gpudet *g, uint32_t slot)
{
    if (g->slots[slot].share < g->pending_count) gpudet_add(g->hungry, slot);
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct gpudet *g = self;
    struct gpudet_warp *w = warp_of(g, s->who);
    const uint64_t serial = s->who->serial;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (!passes(w, s->pc, serial)) return stop_at(g, w, GPUDET_END_FENCE, s->pc, serial);
        break;
    case EMU_SYNC_BARRIER:
        if (w->later_count && !passes(w, s->pc, serial))
            return stop_at(g, w, GPUDET_END_FENCE, s->pc, serial);
        g->moved = true;
        if (!(s->flags & EMU_ACQUIRE)) break; /* it arrives and goes on */
        count_used(w, serial);
        gpudet_become(g, w, GPUDET_BARRIER);
        w->barrier = (uint8_t)s->id;
        break;
    case EMU_SYNC_MBARRIER:
    case EMU_SYNC_CLUSTER:
    case EMU_SYNC_ASYNC_WAIT:
        if (w->stored && !passes(w, s->pc, serial))
            return stop_at(g, w, GPUDET_END_FENCE, s->pc, serial);
        break;
    case EMU_SYNC_RUNTIME:
        if (passes(w, s->pc, serial)) break;
        g->callers[g->caller_count++] = w->number;
        return stop_at(g, w, GPUDET_END_RUNTIME, s->pc, serial);
    case EMU_SYNC_BARRIER_DONE: barrier_done(g, s); break;
    case EMU_SYNC_CTA_START: start_cta(g, s->who); break;
    case EMU_SYNC_WARP_EXIT: end_warp(g, s); break;
    case EMU_SYNC_CTA_EXIT:
        g->slots[s->who->slot].live = false;
        g->reseated = true;
        feed(g, s->who->slot);
        break;
    default: break;
    }
    return EMU_PROCEED;
}

/* ---- who goes on ------------------------------------------------------------------------------------------ */

/* The warp that was picked last may have come to a barrier. */
static void look_at_last(struct gpudet *g)
{
    struct gpudet_warp *w = g->last;
    g->last = NULL;
    if (!w || !g->in_turn || w->state != GPUDET_BARRIER) return;
    rest(g, w);
    pass_on(g, w);
}

/* It has been tried, and can do nothing. */
static void let_wait(struct gpudet *g, struct gpudet_warp *w, const struct emu_warp *who)
{
    /* A block may wait several times, and is counted when it begins. */
    const bool moved = who->serial != w->turn || who->waits_at != w->waits_at;
    count_used(w, who->serial);
    g->moved |= moved;
    if (moved) w->waited = 0;
    w->turn = who->serial;
    w->waits_at = who->waits_at;
    gpudet_become(g, w, GPUDET_WAITS);
    gpudet_add(g->stopped, w->number);
    rest(g, w);
    if (!g->in_turn || !g->open) return;
    struct gpudet_unit *u = gpudet_unit_of(g, w);
    u->moves += moved;
    w->tried = u->moves;
    gpudet_unit_next(g, u);
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
        gpudet_add(g->stopped, w->number);
        rest(g, w);
    }
    return -1;
}

/* One of `count`. Where nobody can tell it is mostly the last for a while: warps that came together go on one after
 * the other, near each other in memory, which the host's caches have. */
static uint32_t draw(struct gpudet *g, uint32_t count)
{
    if (!g->sorted) return gpudet_below(g, count);
    if (!g->stay--) {
        g->stay = gpudet_below(g, MOST_STAY);
        g->favourite = gpudet_below(g, 4) ? 0 : rng_next(&g->random) >> 32;
    }
    return count - 1 - (uint32_t)(g->favourite * count >> 32);
}

/* What those before the i-th will look at, who are mostly next. */
static void fetch_next(const struct gpudet *g, const struct emu_warp *ready, uint32_t i)
{
    if (i < 2) return;
    __builtin_prefetch(&gpudet_warp_at(g, ready[i - 2].slot, ready[i - 2].warp)->who, 1);
    __builtin_prefetch(&gpudet_warp_at(g, ready[i - 2].slot, ready[i - 2].warp)->serial, 1);
    emu_machine_prefetch_ready(g->m, i - 2, false);
    emu_machine_prefetch_ready(g->m, i - 1, true);
}

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct gpudet *g = self;
    g->begins = false;
    look_at_last(g);
    if (!g->open) return pick_caller(g, burst);
    while (ready = emu_machine_ready(g->m, &count), count) {
        const uint32_t i = draw(g, (uint32_t)count);
        const struct emu_warp *who = &ready[i];
        struct gpudet_warp *w = warp_of(g, who);
        if (w->state != GPUDET_RUNS) {
            rest(g, w);
            continue;
        }
        if (w->fresh) w->start = w->turn = who->serial;
        w->fresh = false;
        if (who->waits) {
            let_wait(g, w, who);
            continue;
        }
        const uint64_t used = w->used + (who->serial > w->start ? who->serial - w->start : 0);
        if (used >= g->options.quantum) {
            count_used(w, who->serial);
            rest(g, w);
            finish(g, w, GPUDET_END_LIMIT);
            continue;
        }
        *burst = (uint32_t)(g->options.quantum - used);
        if (!g->sorted && !gpudet_below(g, SHORT)) {
            const uint32_t some = 1 + gpudet_below(g, SHORT_MOST);
            if (some < *burst) *burst = some;
        }
        g->last = w;
        if (g->sorted) fetch_next(g, ready, i);
        if (g->swaps) gpudet_swap_to(g, w);
        return (int)i;
    }
    return -1;
}

/* ---- CTAs ------------------------------------------------------------------------------------------------- */

/* Pending ones to slots in turn: first the free ones, then those that may become free. */
static void deal_shares(struct gpudet *g)
{
    uint32_t n = 0, rank = 0;
    if (!g->taken && !g->reseated) return;
    for (uint32_t i = 0; g->taken && i < g->pending_count; i++)
        if (g->pending[i] != GPUDET_TAKEN) g->pending[n++] = g->pending[i];
    if (g->taken) g->pending_count = n;
    g->taken = g->first = 0;
    g->stride = g->shape.slots;
    g->reseated = false;
    memset(g->hungry, 0, (g->shape.slots + 63) / 64 * sizeof *g->hungry);
    if (!g->pending_count) return;
    for (uint32_t busy = 0; busy < 2; busy++)
        for (uint32_t s = 0; s < g->shape.slots; s++) {
            if (g->slots[s].live != busy) continue;
            g->slots[s].share = rank++;
            if (!busy) feed(g, s);
        }
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Where nobody can tell, a few CTAs go on until they stop, then the next begin: these are in the same memory, which
 * the host's caches have. */
static bool is_crowded(const struct gpudet *g)
{
    size_t ready;
    emu_machine_ready(g->m, &ready);
    return g->windowed && ready >= CROWD;
}

static int deal(void *self, const uint32_t *free_slots, size_t count, uint32_t *cluster)
{
    struct gpudet *g = self;
    const bool any = g->options.distribution == GPUDET_ANY;
    if (g->taken == g->pending_count || (!g->open && !g->begins)) return -1;
    if (any || !g->options.dwp || g->shape.cluster > 1) {
        if (!any && !g->begins) return -1;
        while (g->pending[g->first] == GPUDET_TAKEN) g->first++;
        *cluster = g->pending[g->first];
        g->pending[g->first] = GPUDET_TAKEN;
        g->taken++;
        return any ? (int)gpudet_below(g, (uint32_t)count) : 0;
    }
    if (is_crowded(g)) return -1;
    GPUDET_EACH(i, g->hungry, g->shape.slots)
    {
        const uint32_t slot = (uint32_t)i,
                       *at = bsearch(&slot, free_slots, count, sizeof slot, by_number);
        struct gpudet_slot *s = &g->slots[slot];
        *cluster = g->pending[s->share];
        g->pending[s->share] = GPUDET_TAKEN;
        g->taken++;
        s->share += g->stride;
        gpudet_remove(g->hungry, slot);
        return (int)(at - free_slots);
    }
    return -1;
}

/* ---- quanta ----------------------------------------------------------------------------------------------- */

/* Everybody may go on who has stopped, in hardware's order; a unit by its slot. */
static void let_go(struct gpudet *g)
{
    GPUDET_EACH(i, g->stopped, g->warp_count)
    {
        const struct gpudet_warp *w = &g->warps[i];
        if (w->state == GPUDET_ENDED) continue; /* since the quantum began: a caller */
        gpudet_remove(g->stopped, (uint32_t)i);
        if (w->state != GPUDET_RUNS) continue;
        if (g->in_turn) gpudet_add(g->turns, g->slots[w->who.slot].unit);
        else wake(g, w);
    }
    if (!g->in_turn) return;
    GPUDET_EACH(s, g->turns, g->shape.slots)
    {
        gpudet_remove(g->turns, (uint32_t)s);
        gpudet_unit_begin(g, &g->units[s]);
    }
}

static void open_quantum(struct gpudet *g)
{
    g->open = g->begins = true;
    g->caller_count -= g->called; /* some have come to their next call in the meantime */
    memmove(g->callers, g->callers + g->called, g->caller_count * sizeof *g->callers);
    let_go(g);
    deal_shares(g);
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

/* Whose turn it is before the quantum begins: those whose atomics were carried out, then callers. */
static bool next_caller(struct gpudet *g)
{
    while (g->shown < g->served || g->calling < g->called) {
        const uint32_t number = g->shown < g->served ? g->serving[g->shown++]
                                                     : g->callers[g->calling++];
        struct gpudet_warp *w = &g->warps[number];
        if (w->state != GPUDET_RUNS) continue;
        w->calls = true;
        wake(g, w);
        return true;
    }
    return false;
}

static void begin_quantum(struct gpudet *g)
{
    g->moved = false;
    g->quantum++;
    GPUDET_EACH(i, g->stopped, g->warp_count)
    {
        struct gpudet_warp *w = &g->warps[i];
        if (w->state == GPUDET_WAITS && w->waited++ == MOST_WAITED) time_out(g, w);
        if (w->state == GPUDET_ENDED || w->state == GPUDET_WAITS) gpudet_become(g, w, GPUDET_RUNS);
    }
    g->open = false;
    qsort(g->callers, g->caller_count, sizeof *g->callers, by_number);
    g->calling = 0;
    g->called = g->caller_count;
    if (!next_caller(g)) open_quantum(g);
}

/* Logs are empty when a quantum begins, and what has been stored since is not held for long. */
static void quiesce(void *self)
{
    (void)self;
}

static bool idle(void *self)
{
    struct gpudet *g = self;
    size_t ready;
    look_at_last(g);
    emu_machine_ready(g->m, &ready);
    if (!ready && !g->open) {
        if (!next_caller(g)) open_quantum(g);
        emu_machine_ready(g->m, &ready);
    }
    if (ready) return true;
    g->n.end[GPUDET_END_BARRIER] += g->in_state[GPUDET_BARRIER];
    g->n.end[GPUDET_END_WAIT] += g->in_state[GPUDET_WAITS];
    if (!g->moved) return time_out_all(g) ? begin_quantum(g), true : false;
    g->n.quanta++;
    emu_machine_phase(g->m, "parallel");
    gpudet_commit(g);
    emu_machine_phase(g->m, "commit");
    if (g->asks) {
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

static void make_warps(struct gpudet *g)
{
    const uint32_t had = g->warp_room;
    if (g->warp_count <= had) return;
    const size_t n = g->warp_room = g->warp_count > 2 * had ? g->warp_count : 2 * had;
    struct gpudet_warp *const warps = aligned_alloc(_Alignof(struct gpudet_warp),
                                                    n * sizeof *warps);
    if (!warps) abort();
    if (had) memcpy(warps, g->warps, had * sizeof *warps);
    memset(warps + had, 0, (n - had) * sizeof *warps);
    free(g->warps);
    g->warps = warps;
    g->writers = realloc(g->writers, n * sizeof *g->writers);
    g->callers = realloc(g->callers, 2 * n * sizeof *g->callers);
    g->serving = realloc(g->serving, n * sizeof *g->serving);
    g->senders = realloc(g->senders, n * sizeof *g->senders);
    if (!g->writers || !g->callers || !g->serving || !g->senders) abort();
    g->askers = new_set(g->askers, g->warp_room);
    g->stopped = new_set(g->stopped, g->warp_room);
    g->storing = new_set(g->storing, g->warp_room);
}

static void make_slots(struct gpudet *g)
{
    const uint32_t had = g->slot_room, sms = g->shape.sms;
    g->slots = gpudet_grow(g->slots, g->shape.slots, &g->slot_room, sizeof *g->slots);
    if (g->slot_room > had) {
        g->units = realloc(g->units, g->slot_room * sizeof *g->units);
        if (!g->units) abort();
        g->turns = new_set(g->turns, g->slot_room);
        g->hungry = new_set(g->hungry, g->slot_room);
    }
    for (uint32_t sm = 0, first = 0; sm < sms; sm++)
        for (uint32_t s = sm; s < g->shape.slots; s += sms, first += g->shape.warps_per_cta)
            g->slots[s] = (struct gpudet_slot){.first = first};
}

static unsigned wants_of(void *self, const struct emu_launch_traits *next)
{
    struct gpudet *g = self;
    const bool strong = gpudet_promise(&g->options) == ORDER_STRONG,
               alone = strong && !next->counted && !next->observed;
    g->windowed = strong && g->launches++ % WIDE;
    g->speculates = next->speculates;
    g->swaps = g->windowed && alone && next->lane_accesses_only && next->speculates;
    return (g->swaps ? EMU_WANT_STORES : g->order.wants) | (alone ? EMU_SKIP_IF_CONFLICT_FREE : 0);
}
static const struct emu_order_fast fast = {.wants = wants_of};

static void begin(void *self, struct emu_machine *m)
{
    struct gpudet *g = self;
    g->m = m;
    g->shape = emu_machine_shape(m);
    g->warp_count = g->shape.slots * g->shape.warps_per_cta;
    g->in_turn = g->shape.warps_interact && g->options.shared == GPUDET_FIXED;
    g->counted = emu_machine_is_counted(m);
    g->sorted = g->windowed && g->speculates && !g->counted && !emu_machine_drains_observed(m);
    g->told_in_turn = emu_machine_commits_observed(m);
    g->bloom = bloom_of(g->options.bloom, g->options.subarrays, BLOOM_HASH_CHUNK);
    g->n = (struct gpudet_counts){0};
    make_warps(g);
    make_slots(g);
    if (!g->sorted) gpudet_commit_begin(g);
    const uint32_t clusters = g->shape.ctas / g->shape.cluster;
    g->pending = gpudet_grow(g->pending, clusters, &g->pending_room, sizeof *g->pending);
    for (uint32_t i = 0; i < clusters; i++) g->pending[i] = i;
    g->pending_count = clusters;
    g->taken = g->first = 0;
    g->open = g->begins = g->reseated = true;
    g->moved = false;
    g->quantum++;
    g->stay = 0;
    memset(g->in_state, 0, sizeof g->in_state);
    deal_shares(g);
}

/* It may have failed in the middle of a quantum. */
static void end(void *self)
{
    struct gpudet *g = self;
    gpudet_swap_to(g, NULL);
    g->swaps = false;
    for (uint32_t i = 0; i < g->writer_count; i++)
        g->warps[g->writers[i]].log = (struct gpudet_log){0};
    gpudet_room_clear(&g->room);
    GPUDET_EACH(i, g->askers, g->warp_count)
    {
        g->warps[i].later_count = 0;
        gpudet_remove(g->askers, (uint32_t)i);
    }
    GPUDET_EACH(i, g->stopped, g->warp_count) gpudet_remove(g->stopped, (uint32_t)i);
    g->writer_count = g->caller_count = g->calling = g->called = 0;
    g->served = g->shown = 0;
    g->asks = false;
    g->last = NULL;
}

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct gpudet *g = calloc(1, sizeof *g);
    if (!g) abort();
    g->options = *(const struct gpudet_options *)options;
    g->random = seed * UINT64_C(0xd1342543de82ef95) + 1;
    g->launches = seed;
    g->order = (struct emu_order){.self = g,
                                  .name = gpudet_kind.name,
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                  .step = g->options.step == GPUDET_BLOCK ? EMU_STEP_BLOCK
                                                                          : EMU_STEP_INSTRUCTION,
                                  .fast = &fast,
                                  .begin = begin,
                                  .pick = pick,
                                  .place_any = deal,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle,
                                  .end = end,
                                  .quiesce = quiesce,
                                  .in_phases = true,
                                  .numbers = gpudet_numbers};
    return &g->order;
}

static void release(struct emu_order *o)
{
    struct gpudet *g = o->self;
    for (uint32_t i = 0; i < g->warp_room; i++) gpudet_serial_free(&g->warps[i]);
    gpudet_commit_free(g);
    free(g->warps);
    free(g->slots);
    free(g->units);
    free(g->writers);
    free(g->senders);
    gpudet_room_free(&g->room);
    free(g->callers);
    free(g->askers);
    free(g->serving);
    free(g->stopped);
    free(g->storing);
    free(g->turns);
    free(g->hungry);
    free(g->pending);
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
    .conflict = gpudet_conflict,
    .promise = gpudet_promise,
    .make = make,
    .free = release,
};
