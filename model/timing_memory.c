/* The memory system of the timing model: shared memory, L1, network, L2, DRAM and atomics.
 *
 * An access begins at the load/store unit of its SM. Shared memory takes a cycle for each pass (bank conflicts). Of
 * global and local memory the trace has the lines of 128 bytes, and of each how many of its sectors of 32 bytes L2 or
 * DRAM had to deliver, by the functional caches (emu/measure/cache.h). L1 is modelled again here, with the times at
 * which lines are filled, since a load that follows a miss of the same line waits for it (a hit on a miss). L2 is
 * not: whether a sector comes from DRAM is what the trace says.
 *
 * A request goes through the SM's port of the network to the slice of its line, from there to a DRAM channel if the
 * trace says so, and back through the port. Each of these is free again after an interval (timing_reserve), so
 * bandwidth and queueing come out of the requests themselves. A DRAM bank serves requests for an open row before it
 * opens another one (FR-FCFS: Rixner et al., "Memory Access Scheduling", ISCA 2000).
 *
 * Slices and channels: on GPUs that hash addresses, some lines side by side are in a channel by a hash of their
 * number, and in its slices in turn; NVIDIA's function is not published: timing_hash() spreads lines evenly, and is not that function. */
#include "model/timing_internal.h"

#include "emu/trace.h"
#include "ptx/isa.h"

#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum {
    MOST_EVENT_SLOTS = 1 << 16,
    PIECE = 64, /* events that are cleared together */
    BANKS = 64
};

/* ---- network, L2 and DRAM ------------------------------------------------------------------------------------- */

struct timing_slices timing_slices_of(const struct timing_machine *m)
{
    u32 chunk = 0;
    while (chunk < 5 && 2u << chunk <= m->channel_lines) chunk++;
    return (struct timing_slices){chunk, timing_divisor(m->channels),
                                  timing_divisor(m->slices / m->channels), m->hashed};
}

static u32 channel_of(const struct timing *c, u32 slice, u32 line)
{
    return c->mem.channels < c->m->channels
               ? timing_hash(line >> c->mem.l2_map.chunk) % c->mem.channels
               : slice / (c->m->slices / c->m->channels);
}

/* When the row of a line is open in its bank. A request that comes while others wait for the bank is served with
 * those for the same row, if that row is still to be opened (FR-FCFS). */
static double row_open(struct timing *c, u32 channel, u32 line, double now)
{
    const struct timing_machine *m = c->m;
    const u32 row = (u32)(line * 128.0 / c->mem.row_span);
    struct timing_bank *b = &c->mem.banks[channel * BANKS + timing_hash(row) % m->banks];
    for (u32 i = 0; i < BANK_ROWS; i++)
        if (b->row[i] == row && (i == b->last || b->opened[i] > now))
            return b->opened[i] > now ? b->opened[i] : now;
    b->last = (b->last + 1) % BANK_ROWS;
    b->row[b->last] = row;
    return b->opened[b->last] = timing_reserve(&b->free, now,
                                               m->row_interval * c->fold / c->mem.channel_rate);
}

/* `sectors` of a line from DRAM: when they are in L2. */
double timing_from_dram(struct timing *c, u32 slice, u32 line, u32 sectors, double now)
{
    const struct timing_machine *m = c->m;
    const u32 channel = channel_of(c, slice, line);
    if (m->dram_least > 1) sectors = (sectors + m->dram_least - 1) / m->dram_least * m->dram_least;
    const double begin = m->row_interval > 0 ? row_open(c, channel, line, now) : now;
    const double moved = sectors * m->dram_interval * c->fold;
    const double at = timing_reserve(&c->mem.channel[channel], begin, moved / c->mem.channel_rate);
    if (c->lapse) time_lapse_dram(c, channel, sectors, at);
    return at + moved + m->dram_latency * c->fold;
}

/* k % n. Mostly k is less, and a division takes longer than the test. */
static u32 wrap(u32 k, u32 n)
{
    return k < n ? k : k % n;
}

double timing_send(struct timing *c, uint32_t sm, double sectors, double now)
{
    const struct timing_machine *m = c->m;
    sectors *= c->fold;
    double sent = timing_reserve(&c->mem.port_out[wrap(sm, c->mem.ports)], now,
                                 sectors / m->port_requests);
    if (m->network_requests > 0)
        sent = timing_reserve(&c->mem.network, sent,
                              sectors / (m->network_requests * c->mem.fraction));
    return sent + m->l2_latency / 2 * c->fold;
}

/* When a slice begins with a request. If the SMs stand for all, the slices take requests in turn: their number was
 * found from the requests of each slice (model/sample.h). Lines that all SMs ask for take as long as if all SMs were
 * there. */
static double take_slice(struct timing *c, u32 slice, const struct trace_line *n, double now,
                         double service)
{
    if (!c->mem.sampled)
        return timing_reserve(&c->mem.slice[wrap(slice, c->mem.slices)], now,
                              service / c->mem.slice_rate);
    if (timing_is_load(n) ? c->mem.sampled->same_loads : c->mem.sampled->same_writes)
        return timing_reserve(&c->mem.all_slices[slice], now, service / c->mem.fraction);
    return timing_reserve(&c->mem.slice[c->mem.next_slice++ % c->mem.slices], now,
                          service / c->mem.slice_rate);
}

/* Atomics on the lines of one slice wait for each other, also those of SMs that are not executed. */
static double take_crowded(struct timing *c, u32 slice, const struct trace_line *n, double now,
                           double service)
{
    if (n->how != COUNT_ATOMIC || !c->mem.crowds) return now;
    return timing_reserve(&c->mem.crowded[slice], now,
                          service * c->mem.crowds[trace_atomic_bucket(n->line)]);
}

/* The slot of a name. Pieces of the table are cleared at their first use: short launches use few. */
static struct timing_event *event_of(const struct timing *c, const struct timing_events *e,
                                     u32 name)
{
    const u32 k = timing_hash(name) & (c->mem.event_slots - 1), piece = k / PIECE;
    if (!e->seen[piece]) {
        memset(e->of + piece * PIECE, 0, PIECE * sizeof *e->of);
        e->seen[piece] = true;
    }
    return &e->of[k];
}

static void set_event(struct timing_event *e, u32 name, double when)
{
    *e = (struct timing_event){name + 1, when};
}

/* What an atomic asks of the slice of one of its lines. */
struct atomic {
    u32 requests; /* sectors, and rounds of lanes that name one word beyond the first */
    double busy;  /* how long the slice takes for them: in units of a request on integers */
    double lanes;
};

/* Rounds on one word of a floating-point type are longer; sectors of words that lanes have for themselves are not. */
static struct atomic atomic_of(const struct timing_machine *m, u32 sectors, u32 rounds, bool floats,
                               double lanes)
{
    const double integers = sectors + rounds - 1, each = floats ? m->atomic.float_times : 1;
    return (struct atomic){sectors + rounds - 1, fmax(integers, rounds * each), lanes};
}

/* A request of an SM for sectors of a line: when the answer is back at the SM. `dram`: sectors that come from DRAM; `a`:
 * of an atomic. */
static double through_l2(struct timing *c, u32 sm, const struct trace_line *n, u32 sectors,
                         u32 dram, const struct atomic *a, bool answers, double now, u8 *part)
{
    const struct timing_machine *m = c->m;
    const u32 port = wrap(sm, c->mem.ports), slice = timing_slice_of(&c->mem.l2_map, n->line);
    const bool loads = timing_is_load(n);
    const u32 requests = a ? a->requests : sectors;
    const double sent = timing_send(c, sm, loads && m->l1.whole ? 1 : requests, now) + c->mem.way;
    double service = a ? a->busy * m->atomic.interval : sectors * m->l2_interval;
    if (a && m->atomic.lanes > 0 && a->lanes / m->atomic.lanes > service)
        service = a->lanes / m->atomic.lanes;
    service *= c->fold;
    const double begin = take_crowded(c, slice, n, take_slice(c, slice, n, sent, service), service);
    if (c->lapse) time_lapse_l2(c, slice, requests, dram, sent, begin);
    double there = begin + service;
    if (c->mem.holder) there += timing_lock_queue(c, c->mem.holder, slice);
    struct timing_event *fill = event_of(c, &c->mem.fills, n->line);
    if (dram) {
        there = timing_from_dram(c, slice, n->line, dram, there);
        set_event(fill, n->line, there);
        *part = TIMING_DRAM;
    } else if (fill->name == n->line + 1 && fill->when > there) {
        there = fill->when;
        *part = TIMING_DRAM;
    }
    if (a) there += m->atomic.latency * c->fold, *part = TIMING_ATOMIC;
    there += c->mem.way;
    if (!answers) return there + m->l2_latency / 2 * c->fold;
    const double back = timing_reserve(&c->mem.port_in[port], there,
                                       requests * c->fold / m->port_sectors);
    return back + m->l2_latency / 2 * c->fold;
}

/* When one line of a load has arrived. */
static double load_line(struct timing *c, u32 sm, const struct trace_line *n, double at, u8 *part)
{
    const struct timing_machine *m = c->m;
    const bool local = n->how == TRACE_UNCACHED;
    u32 want = n->sectors;
    *part = TIMING_L2;
    if (n->how == COUNT_LOAD_L2 || (!m->l1.global && !local))
        return through_l2(c, sm, n, timing_popcount(want), n->from_dram, NULL, true, at, part) +
               m->l1.latency * c->fold;
    if (m->l1.whole) want = 15;
    struct timing_line *l = timing_l1_find(c, sm, n->line);
    const u32 had = l ? l->sectors : 0;
    /* In a window, L1 may lack what instructions before it have loaded; the functional caches know. */
    const u32 lacks = c->fold > 1 && !n->from_l2 && !local ? 0 : want & ~had;
    double there = at;
    if (had & want && l->filled > at) there = l->filled, *part = TIMING_L2;
    else if (!lacks) *part = TIMING_L1;
    if (c->lapse) time_lapse_l1(c, sm, timing_popcount(want & had), timing_popcount(lacks), at);
    if (lacks) {
        const u32 lacking = timing_popcount(lacks);
        u32 dram = n->from_dram;
        if (dram && m->l1.whole) dram = 4;
        const double filled = through_l2(c, sm, n, lacking, dram < lacking ? dram : lacking, NULL,
                                         true, at, part);
        if (!l) l = timing_l1_take(c, sm, n->line);
        l->sectors |= (u8)lacks;
        if (filled > l->filled) l->filled = filled;
        if (filled > there) there = filled;
    }
    return there + m->l1.latency * c->fold;
}

static double store_line(struct timing *c, u32 sm, const struct trace_line *n, double at)
{
    u8 part;
    if (n->how == TRACE_UNCACHED && c->m->l1.local_back) {
        struct timing_line *l = timing_l1_find(c, sm, n->line);
        if (l) {
            l->sectors |= n->sectors;
            return at;
        }
    }
    return through_l2(c, sm, n, timing_popcount(n->sectors), 0, NULL, false, at, &part);
}

static void at_least(struct timing_access *a, double done, u8 part)
{
    if (done > a->done) a->done = done, a->part = part;
}

/* From the answer to the lane that spoke for all until each of them has its own. */
static double shared_out(const struct timing *c, u32 inst)
{
    const struct trace_inst *i = &c->t->insts[inst];
    if (!c->code.insts[inst].combined || i->dead_result || !i->writes) return 0;
    return c->m->latency[PTX_COST_SHUFFLE] * c->fold;
}

/* A pass of L1 gives a sector of each of its four banks: sectors of a line are in one each. What a line adds to the passes of
 * those before it; `banks`: sectors of each so far. */
static u32 more_passes(u32 banks[4], u32 sectors)
{
    u32 before = 0, after = 0;
    for (u32 b = 0; b < 4; b++) {
        if (banks[b] > before) before = banks[b];
        banks[b] += sectors >> b & 1;
        if (banks[b] > after) after = banks[b];
    }
    return after - before;
}

/* Atomics are done in L2: what L1 has is old. */
static void forget_l1(const struct timing *c, u32 sm, const struct trace_line *n)
{
    struct timing_line *l = timing_l1_find(c, sm, n->line);
    if (l) l->sectors &= (u8)~n->sectors;
}

/* A load of constants is split into as many requests as there are addresses (CUDA C++ Programming Guide, "Constant Memory"). */
static double load_constants(struct timing *c, u32 sm, u32 addresses, double now)
{
    const struct timing_machine *m = c->m;
    double begin = timing_reserve(&c->mem.load_store[sm], now, c->fold);
    const double more = addresses > 1 && m->constants.latency > 0 ? addresses - 1 : 0;
    if (more > 0)
        begin = timing_reserve(&c->mem.constants[sm], begin,
                               more * m->constants.interval * c->fold);
    return begin + (m->constant_latency + more * m->constants.latency) * c->fold;
}

static void global_access(struct timing *c, u32 sm, const struct timing_warp *w, u32 inst,
                          u32 first, u32 size, double now, struct timing_access *a, double *stored)
{
    const struct timing_machine *m = c->m;
    const bool combined = c->code.insts[inst].combined;
    const u32 count = TRACE_SIZE_N(size), rounds = combined ? 1 : TRACE_SIZE_ROUNDS(size);
    const struct trace_line *notes = count ? w->cta_trace->lines + first : NULL;
    const double lanes = combined
                             ? 1
                             : (double)TRACE_SIZE_LANES(size) / count; /* of a line, on average */
    const struct trace_inst *i = &c->t->insts[inst];
    const bool writes = !(i->op->form->effects & PTX_READS) && !(i->op->form->effects & PTX_ATOMIC);
    u32 banks[4] = {0};
    for (u32 k = 0; k < count; k++) {
        const struct trace_line *n = &notes[k];
        const u32 sectors = timing_popcount(n->sectors);
        if (c->mem.hops) timing_count_hops(c, w, n);
        const double asked = m->l1.banked ? 4 * more_passes(banks, n->sectors) : sectors;
        const double need = (m->l1.whole ? 1 : asked / m->l1.sectors) * c->fold;
        if (n->how == COUNT_ATOMIC) {
            u8 part = TIMING_ATOMIC;
            if (m->scheduled) forget_l1(c, sm, n);
            const struct atomic atomic = atomic_of(m, sectors, k == 0 ? rounds : 1,
                                                   c->code.insts[inst].floats, lanes);
            const u32 all = atomic.requests;
            const double issue = m->atomic.issue * c->fold;
            const double at = timing_reserve(&c->mem.load_store[sm], now, all * issue);
            const double done = through_l2(c, sm, n, sectors, n->from_dram, &atomic,
                                           !c->code.insts[inst].reduces, at, &part) +
                                (all - 1) * issue;
            at_least(a, done + m->l1.latency * c->fold + shared_out(c, inst), TIMING_ATOMIC);
            if (done > *stored) *stored = done;
            continue;
        }
        const double at = timing_reserve(&c->mem.load_store[sm], now, need);
        if (n->how == COUNT_STORE || (n->how == TRACE_UNCACHED && writes)) {
            const double done = store_line(c, sm, n, at);
            if (done > *stored) *stored = done;
        } else {
            u8 part;
            const double done = load_line(c, sm, n, at, &part);
            at_least(a, done, part);
        }
    }
    if (!count) at_least(a, load_constants(c, sm, TRACE_SIZE_ROUNDS(size), now), TIMING_L1);
}

/* A compare-and-swap fails, and is tried again, if another one came between it and the load before it: on one element
 * they succeed once each round trip. One that fails waits for nobody. */
static void swap(struct timing *c, const u32 *elements, u32 lanes, double now,
                 struct timing_access *a)
{
    const double least = (c->m->l1.latency + c->m->l2_latency + c->m->atomic.latency) * c->fold,
                 trip = a->done - now < 2 * least ? a->done - now : 2 * least;
    for (u32 l = 0; l < lanes; l++) {
        if (!(elements[l] & TRACE_SWAPPED)) continue;
        const struct timing_event *last = event_of(c, &c->mem.swaps, elements[l]);
        if (last->name == elements[l] + 1) at_least(a, last->when + trip, TIMING_ATOMIC);
    }
    for (u32 l = 0; l < lanes; l++)
        if (elements[l] & TRACE_SWAPPED)
            set_event(event_of(c, &c->mem.swaps, elements[l]), elements[l], a->done);
}

static void one_access(struct timing *c, struct timing_warp *w, u32 inst, double now,
                       struct timing_access *a)
{
    const u32 *words = w->trace->words + w->at;
    if ((words[0] & 3) == TRACE_SHARED) {
        const bool combined = c->code.insts[inst].combined;
        const double passes = combined ? 1 : TRACE_SIZE_N(words[1]);
        const double at = timing_reserve(&c->mem.load_store[w->sm], now, passes * c->fold);
        at_least(a, at + (passes - 1 + c->m->shared_latency) * c->fold + shared_out(c, inst),
                 TIMING_SHARED);
        return;
    }
    if (c->hooks && (words[0] & 3) == TRACE_GLOBAL && c->hooks->access(c, w, inst, now, a)) return;
    double stored = 0;
    c->mem.holder = w->holds && c->mem.attempts ? w : NULL;
    global_access(c, w->sm, w, inst, words[1], words[2], now, a, &stored);
    if (stored > w->over) w->over = stored;
    if (w->holds) timing_lock_written(c, w, words, stored);
    if (c->mem.polled) timing_publish(c, w, inst, stored);
    if (!c->hooks && words[2] & TRACE_ELEMENTS && c->code.insts[inst].swaps)
        swap(c, words + 3, TRACE_SIZE_LANES(words[2]), now, a);
}

struct timing_access timing_access_memory(struct timing *c, struct timing_warp *w, u32 inst,
                                          double now)
{
    struct timing_access a = {now + c->m->latency[PTX_COST_MEMORY] * c->fold, TIMING_L1};
    while (w->at < w->trace->count && timing_is_access_of(c->t, w->trace->words[w->at], inst)) {
        one_access(c, w, inst, now, &a);
        w->at += 1 + trace_access_words(w->trace->words + w->at);
    }
    if (a.done > w->over) w->over = a.done;
    return a;
}

const uint32_t *timing_global_words(const struct timing *c, const struct timing_warp *w)
{
    const u32 *words = w->trace->words;
    for (u32 at = w->at; at < w->trace->count && timing_is_access_of(c->t, words[at], w->inst);
         at += 1 + trace_access_words(words + at))
        if ((words[at] & 3) == TRACE_GLOBAL) return words + at;
    return NULL;
}

/* ---- the beginning of a run ---------------------------------------------------------------------------------- */

static struct timing_events take_events(struct timing *c)
{
    const size_t n = c->mem.event_slots;
    return (struct timing_events){timing_take_raw(&c->storage, n, sizeof(struct timing_event)),
                                  timing_take(&c->storage, n / PIECE, 1)};
}

/* Slots for the lines of the trace, so that few share one. */
static u32 map_size(const struct emu_trace *t)
{
    u64 notes = 0;
    u32 size = 256;
    for (u32 k = 0; k < t->cta_count; k++) notes += t->ctas[k]->line_count;
    while (size < MOST_EVENT_SLOTS && size < 4 * notes) size *= 2;
    return size;
}

/* A whole number of servers, each with `rate` of the speed of one, that do as much as `servers`. */
static u32 whole(double servers, double *rate)
{
    const u32 n = servers < 1.5 ? 1 : (u32)(servers + 0.5);
    *rate = servers / n;
    return n;
}

/* The part of the memory system that the SMs have. If they stand for all, or the trace has a part of the grid: fewer
 * slices and channels of full speed, since a request would delay more others in slower ones. Under an order, and
 * where addresses are not hashed: all slices and channels, at a lower speed. */
static void divide(struct timing *c)
{
    const struct timing_machine *m = c->m;
    struct timing_memory *mem = &c->mem;
    mem->ports = (c->sms + m->port_sms - 1) / m->port_sms;
    mem->slices = m->slices, mem->channels = m->channels;
    mem->fraction = mem->slice_rate = mem->channel_rate = (double)c->t->sms_traced / c->t->sms;
    mem->row_span = m->row_bytes * m->channels;
    if (!mem->sampled) {
        if (!m->hashed || c->hooks) return;
        mem->channels = whole(m->channels * mem->fraction, &mem->channel_rate);
        mem->slices = mem->channels * (m->slices / m->channels),
        mem->slice_rate = mem->channel_rate;
        return;
    }
    mem->ports = mem->sampled->ports;
    mem->fraction = mem->sampled->l2;
    mem->slices = whole(mem->sampled->slices, &mem->slice_rate);
    mem->channels = whole(mem->sampled->channels, &mem->channel_rate);
    mem->row_span = m->row_bytes * mem->channels;
    mem->all_slices = timing_take(&c->storage, m->slices, sizeof(double));
}

void timing_prepare_memory(struct timing *c, const struct timing_share *share, uint32_t l1_bytes)
{
    const struct timing_machine *m = c->m;
    struct timing_memory *mem = &c->mem;
    mem->sampled = share && share->stand_for_all ? share : NULL;
    mem->crowds = share ? share->crowds : NULL;
    if (mem->crowds) mem->crowded = timing_take(&c->storage, m->slices, sizeof(double));
    mem->l2_map = timing_slices_of(m);
    divide(c);
    mem->load_store = timing_take(&c->storage, c->sms, sizeof(double));
    mem->constants = timing_take(&c->storage, c->sms, sizeof(double));
    mem->port_in = timing_take(&c->storage, mem->ports, sizeof(double));
    mem->port_out = timing_take(&c->storage, mem->ports, sizeof(double));
    mem->slice = timing_take(&c->storage, m->slices, sizeof(double));
    mem->channel = timing_take(&c->storage, m->channels, sizeof(double));
    mem->banks = timing_take(&c->storage, (size_t)m->channels * BANKS, sizeof *mem->banks);
    timing_l1_prepare(c, l1_bytes);
    mem->hops = timing_hops_in_use();
    mem->event_slots = mem->sampled ? map_size(c->t) : MOST_EVENT_SLOTS;
    mem->fills = take_events(c);
    mem->swaps = take_events(c);
}
