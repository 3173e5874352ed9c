/* Warps, schedulers and memory on a clock. All state is of one run. */
#include "model/timing_internal.h"

#include "emu/measure/count.h"
#include "emu/trace.h"
#include "ptx/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum {
    REGS = 4096 /* registers of a warp that are told apart */,
    MAP = 1 << 16,
    PIECE = 64, /* events */
    BANKS = 64,
    FETCHED = 16,   /* instructions of a line */
    KEPT = 16 << 20 /* bytes */
};

/* ---- what instructions are ---------------------------------------------------------------------------- */

static const u8 unit_of_class[PTX_COST_COUNT] = {
#define COST(id, pipeline, text) TIMING_UNIT_##pipeline,
#include "ptx/costs.def"
};

/* A trace's entry without an instruction costs as a move does. */
static u8 cost_class(const struct ptx_op *op)
{
    return op ? op->form->cost : PTX_COST_ALU;
}

/* Multiply-adds of a matrix instruction, times what takes as long of f16: with half of A left out, half of them; of
 * small integers, more at once. */
static double matrix_work(const struct ptx_op *op, const struct timing_machine *m)
{
    unsigned rows, columns, depth;
    if (!ptx_op_matrix(op, &rows, &columns, &depth)) return 0;
    const u8 result = op->type[0], a = op->type_count > 2 ? op->type[1] : PTX_f16,
             bits = (u8)ptx_types[a].bits;
    const bool f16 = result == PTX_f16;
    const bool quads = rows == 8 && depth == 4 && a == PTX_f16; /* four of them */
    const enum timing_matrix kind = a == PTX_f64        ? TIMING_MATRIX_FP64
                                    : a == PTX_tf32     ? TIMING_MATRIX_TF32
                                    : result == PTX_s32 ? TIMING_MATRIX_INT8
                                    : bits == 8         ? TIMING_MATRIX_FP8
                                    : f16               ? TIMING_MATRIX_F16
                                                        : TIMING_MATRIX_F32;
    double work = (double)rows * columns * depth * (quads ? 4 : 1);
    if (ptx_op_has(op, "sp") || ptx_op_has(op, "sp::ordered_metadata")) work /= 2;
    if (kind == TIMING_MATRIX_INT8) work /= bits == 1 ? 8 : bits == 4 ? 2 : 1;
    if (kind == TIMING_MATRIX_FP8 && f16) work *= m->matrix[TIMING_MATRIX_F16];
    return m->matrix[kind] > 0 ? work * m->matrix[kind] : work;
}

/* ---- the tree of SMs ------------------------------------------------------------------------------------- */

static void set_key(struct timing *c, u32 sm, double key)
{
    u32 i = c->leaves + sm;
    c->key[i].when = key;
    for (i /= 2; i; i /= 2) {
        const struct timing_sm_key *a = &c->key[2 * i], *b = a + 1;
        const bool first = a->when <= b->when;
        const double when = first ? a->when : b->when;
        c->key[i].sm = first ? a->sm : b->sm, c->key[i].when = when;
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

struct timing_slices timing_slices_of(const struct timing_machine *m)
{
    return (struct timing_slices){timing_divisor(m->channels),
                                  timing_divisor(m->slices / m->channels), m->hashed};
}

static u32 channel_of(const struct timing *c, u32 slice, u32 line)
{
    return c->channels < c->m->channels ? timing_hash(line >> 1) % c->channels
                                        : slice / (c->m->slices / c->m->channels);
}

/* When the row of a line is open in its bank. Requests that come while others wait for the bank are carried out with
 * those for the same row, if that is still to be opened (first ready, first come, first served). */
static double row_open(struct timing *c, u32 channel, u32 line, double now)
{
    const struct timing_machine *m = c->m;
    const u32 row = (u32)(line * 128.0 / c->row_span);
    struct timing_bank *b = &c->banks[channel * BANKS + timing_hash(row) % m->banks];
    for (u32 i = 0; i < BANK_ROWS; i++)
        if (b->row[i] == row && (i == b->last || b->opened[i] > now))
            return b->opened[i] > now ? b->opened[i] : now;
    b->last = (b->last + 1) % BANK_ROWS;
    b->row[b->last] = row;
    return b->opened[b->last] = timing_reserve(&b->free, now, m->row_interval / c->channel_rate);
}

/* `sectors` of a line from DRAM: when they are in L2. */
double timing_from_dram(struct timing *c, u32 slice, u32 line, u32 sectors, double now)
{
    const struct timing_machine *m = c->m;
    const u32 channel = channel_of(c, slice, line);
    if (m->dram_least > 1) sectors = (sectors + m->dram_least - 1) / m->dram_least * m->dram_least;
    const double begin = m->row_interval > 0 ? row_open(c, channel, line, now) : now;
    const double at = timing_reserve(&c->channel[channel], begin,
                                     sectors * m->dram_interval / c->channel_rate);
    return at + sectors * m->dram_interval + m->dram_latency;
}

double timing_send(struct timing *c, uint32_t sm, double sectors, double now)
{
    const struct timing_machine *m = c->m;
    double sent = timing_reserve(&c->port_out[sm % c->ports], now, sectors / m->port_requests);
    if (m->network_requests > 0)
        sent = timing_reserve(&c->network, sent, sectors / (m->network_requests * c->share));
    return sent + m->l2_latency / 2;
}

/* When a slice begins with a request. If SMs stand for all, each slice in turn: of how many of them that is like, it was
 * found from what is asked of each (model/sample.h). What all SMs ask of one takes as long as if all were there. */
static double take_slice(struct timing *c, u32 slice, const struct trace_note *n, double now,
                         double service)
{
    if (!c->some) return timing_reserve(&c->slice[slice % c->slices], now, service / c->slice_rate);
    if (timing_is_load(n) ? c->some->same_loads : c->some->same_writes)
        return timing_reserve(&c->all_slices[slice], now, service / c->share);
    return timing_reserve(&c->slice[c->next_slice++ % c->slices], now, service / c->slice_rate);
}

/* Where what is known of the name is. Pieces are cleared when they are asked for: few are, of short launches. */
static struct timing_event *event_of(const struct timing *c, const struct timing_events *e,
                                     u32 name)
{
    const u32 k = timing_hash(name) & (c->map - 1), piece = k / PIECE;
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

/* A request of an SM for sectors of a line: when they are back. */
static double through_l2(struct timing *c, u32 sm, const struct trace_note *n, u32 sectors,
                         u32 dram, u32 rounds, double lanes, bool answers, double now, u8 *part)
{
    const struct timing_machine *m = c->m;
    const u32 port = sm % c->ports, slice = timing_slice_of(&c->all_of_l2, n->line);
    const bool loads = timing_is_load(n);
    const bool atomic = n->how == COUNT_ATOMIC;
    const u32 requests = atomic ? rounds : sectors;
    const double sent = timing_send(c, sm, loads && m->l1_whole ? 1 : requests, now);
    double service = atomic ? requests * m->atomic_interval : sectors * m->l2_interval;
    if (m->atomic_lanes > 0 && lanes / m->atomic_lanes > service) service = lanes / m->atomic_lanes;
    const double begin = take_slice(c, slice, n, sent, service);
    double there = begin + service;
    struct timing_event *fill = event_of(c, &c->fills, n->line);
    if (dram) {
        there = timing_from_dram(c, slice, n->line, dram, there);
        set_event(fill, n->line, there);
        *part = TIMING_DRAM;
    } else if (fill->name == n->line + 1 && fill->when > there) {
        there = fill->when;
        *part = TIMING_DRAM;
    }
    if (atomic) there += m->atomic_latency, *part = TIMING_ATOMIC;
    if (!answers) return there + m->l2_latency / 2;
    const double back = timing_reserve(&c->port_in[port], there,
                                       (atomic ? requests : sectors) / m->port_sectors);
    return back + m->l2_latency / 2;
}

/* The line in L1, or the one that makes room. */
static struct timing_line *l1_find(const struct timing *c, u32 sm, u32 line)
{
    const size_t k = (size_t)sm * c->l1_sets +
                     timing_remainder(c->m->l1_hashed ? timing_hash(line) : line,
                                      c->l1_sets_divisor);
    struct timing_line *set = c->l1 + k * c->l1_ways;
    if (!c->l1_seen[k]) {
        for (u32 i = 0; i < c->l1_ways; i++) set[i] = (struct timing_line){.tag = UINT32_MAX};
        c->l1_seen[k] = true;
    }
    struct timing_line *oldest = set;
    for (u32 i = 0; i < c->l1_ways; i++) {
        if (set[i].tag == line) return &set[i];
        if (set[i].used < oldest->used) oldest = &set[i];
    }
    return oldest;
}

/* One line of a load: when it is there. */
static double load_line(struct timing *c, u32 sm, const struct trace_note *n, double at, u8 *part)
{
    const struct timing_machine *m = c->m;
    const bool local = n->how == TRACE_AROUND;
    u32 want = n->sectors;
    *part = TIMING_L2;
    if (n->how == COUNT_LOAD_L2 || (!m->l1_global && !local))
        return through_l2(c, sm, n, timing_popcount(want), n->from_dram, 1, 0, true, at, part) +
               m->l1_latency;
    if (m->l1_whole) want = 15;
    struct timing_line *l = l1_find(c, sm, n->line);
    const u32 had = l->tag == n->line ? l->sectors : 0, lacks = want & ~had;
    double there = at;
    if (had & want && l->filled > at) there = l->filled, *part = TIMING_L2;
    else if (!lacks) *part = TIMING_L1;
    if (lacks) {
        const u32 lacking = timing_popcount(lacks);
        u32 dram = n->from_dram;
        if (dram && m->l1_whole) dram = 4;
        const double filled = through_l2(c, sm, n, lacking, dram < lacking ? dram : lacking, 1, 0,
                                         true, at, part);
        if (l->tag != n->line) l->tag = n->line, l->sectors = 0, l->filled = 0;
        l->sectors |= (u8)lacks;
        if (filled > l->filled) l->filled = filled;
        if (filled > there) there = filled;
    }
    l->used = at;
    return there + m->l1_latency;
}

void timing_fill_l1(const struct timing *c, uint32_t sm, uint32_t line, double now)
{
    struct timing_line *l = l1_find(c, sm, line);
    *l = (struct timing_line){line, 15, now, now};
}

void timing_empty_l1(struct timing *c)
{
    memset(c->l1_seen, 0, (size_t)c->sms * c->l1_sets);
}

static double store_line(struct timing *c, u32 sm, const struct trace_note *n, double at)
{
    u8 part;
    if (n->how == TRACE_AROUND && c->m->local_back) {
        struct timing_line *l = l1_find(c, sm, n->line);
        if (l->tag == n->line) {
            l->sectors |= n->sectors;
            l->used = at;
            return at;
        }
    }
    return through_l2(c, sm, n, timing_popcount(n->sectors), 0, 1, 0, false, at, &part);
}

static void at_least(struct timing_access *a, double done, u8 part)
{
    if (done > a->done) a->done = done, a->part = part;
}

static void global_access(struct timing *c, u32 sm, const struct timing_warp *w,
                          const struct trace_inst *i, u32 first, u32 size, double now,
                          struct timing_access *a, double *stored)
{
    const struct timing_machine *m = c->m;
    const u32 count = TRACE_SIZE_N(size), rounds = TRACE_SIZE_ROUNDS(size);
    const struct trace_note *notes = count ? w->cta_trace->notes + first : NULL;
    const double lanes = (double)TRACE_SIZE_LANES(size) / count; /* of a line, on average */
    const bool writes = !(i->op->form->effects & PTX_READS) && !(i->op->form->effects & PTX_ATOMIC);
    for (u32 k = 0; k < count; k++) {
        const struct trace_note *n = &notes[k];
        const u32 sectors = timing_popcount(n->sectors);
        const double need = m->l1_whole ? 1 : sectors / m->l1_sectors;
        if (n->how == COUNT_ATOMIC) {
            u8 part = TIMING_ATOMIC;
            const u32 all = sectors + (k == 0 ? rounds - 1 : 0);
            const double at = timing_reserve(&c->load_store[sm], now, all * m->atomic_issue);
            const double done = through_l2(c, sm, n, sectors, n->from_dram, all, lanes, true, at,
                                           &part) +
                                (all - 1) * m->atomic_issue;
            at_least(a, done + m->l1_latency, TIMING_ATOMIC);
            if (done > *stored) *stored = done;
            continue;
        }
        const double at = timing_reserve(&c->load_store[sm], now, need);
        if (n->how == COUNT_STORE || (n->how == TRACE_AROUND && writes)) {
            const double done = store_line(c, sm, n, at);
            if (done > *stored) *stored = done;
        } else {
            u8 part;
            const double done = load_line(c, sm, n, at, &part);
            at_least(a, done, part);
        }
    }
    if (!count)
        at_least(a, timing_reserve(&c->load_store[sm], now, 1) + m->constant_latency, TIMING_L1);
}

/* A compare-and-swap fails, and is tried again, if another one came between it and the load that it followed: on
 * one element they succeed a round trip apart. */
static void swap(struct timing *c, const u32 *elements, u32 lanes, double now,
                 struct timing_access *a)
{
    const double least = c->m->l1_latency + c->m->l2_latency + c->m->atomic_latency,
                 trip = a->done - now < 2 * least ? a->done - now : 2 * least;
    for (u32 l = 0; l < lanes; l++) {
        const struct timing_event *last = event_of(c, &c->swaps, elements[l]);
        if (last->name == elements[l] + 1) at_least(a, last->when + trip, TIMING_ATOMIC);
    }
    for (u32 l = 0; l < lanes; l++)
        set_event(event_of(c, &c->swaps, elements[l]), elements[l], a->done);
}

static bool is_of(const struct emu_trace *t, uint32_t word, u32 inst)
{
    return (word & 3) != TRACE_BLOCK && t->site_inst[word >> 2] == inst;
}

static void one_access(struct timing *c, struct timing_warp *w, u32 inst, double now,
                       struct timing_access *a)
{
    const u32 *words = w->trace->words + w->at;
    if ((words[0] & 3) == TRACE_SHARED) {
        const double passes = TRACE_SIZE_N(words[1]);
        const double at = timing_reserve(&c->load_store[w->sm], now, passes);
        at_least(a, at + passes - 1 + c->m->shared_latency, TIMING_SHARED);
        return;
    }
    if (c->rules && (words[0] & 3) == TRACE_GLOBAL && c->rules->access(c, w, inst, now, a)) return;
    const struct trace_inst *i = &c->t->insts[inst];
    global_access(c, w->sm, w, i, words[1], words[2], now, a, &w->over);
    if (!c->rules && words[2] & TRACE_ELEMENTS && ptx_op_has(i->op, "cas"))
        swap(c, words + 3, TRACE_SIZE_LANES(words[2]), now, a);
}

static struct timing_access access_memory(struct timing *c, struct timing_warp *w, u32 inst,
                                          double now)
{
    struct timing_access a = {now + c->m->latency[PTX_COST_MEMORY], TIMING_L1};
    while (w->at < w->trace->count && is_of(c->t, w->trace->words[w->at], inst)) {
        one_access(c, w, inst, now, &a);
        w->at += 1 + trace_behind(w->trace->words + w->at);
    }
    if (a.done > w->over) w->over = a.done;
    return a;
}

struct timing_access timing_access_memory(struct timing *c, struct timing_warp *w, double now)
{
    return access_memory(c, w, w->inst, now);
}

const uint32_t *timing_global_words(const struct timing *c, const struct timing_warp *w)
{
    const u32 *words = w->trace->words;
    for (u32 at = w->at; at < w->trace->count && is_of(c->t, words[at], w->inst);
         at += 1 + trace_behind(words + at))
        if ((words[at] & 3) == TRACE_GLOBAL) return words + at;
    return NULL;
}

/* ---- warps ------------------------------------------------------------------------------------------------- */

/* When the next instruction is there, in the SM's cache for them: fully associative, the least recently used line
 * goes. */
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
    *oldest = (struct timing_line){line, 15, now, now + (c->t->again ? 0 : c->m->fetch_latency)};
    return oldest->filled;
}

/* The next instruction: when its registers are there. false: there is none. */
static bool look_ahead(struct timing *c, struct timing_warp *w, double now, u8 part)
{
    w->entered = 0;
    while (!w->left) {
        if (w->at == w->trace->count) return false;
        const u32 word = w->trace->words[w->at++];
        if ((word & 3) != TRACE_BLOCK) { /* of an instruction that nobody named */
            w->at += trace_behind(w->trace->words + w->at - 1);
            continue;
        }
        w->inst = c->t->blocks[word >> 2].first;
        w->left = w->entered = c->t->blocks[word >> 2].count;
    }
    const struct timing_inst *i = &c->insts[w->inst];
    const u32 *of = c->reg_of + i->reg;
    double ready = now;
    for (u32 r = 0; r < i->all; r++)
        if (w->regs[of[r]] > ready) ready = w->regs[of[r]], part = w->reg_parts[of[r]];
    w->class = i->class, w->next->unit = i->unit;
    if (c->m->fetch_lines && w->line != w->inst / FETCHED + 1) {
        const double there = fetch(c, w->sm, w->inst, now);
        w->line = w->inst / FETCHED + 1;
        if (there > ready) ready = there, part = TIMING_FETCH;
    }
    w->next->ready = ready, w->part = part;
    if (c->rules) c->rules->look(c, w, now);
    return true;
}

static void wake(struct timing *c, u32 scheduler, double when)
{
    struct timing_scheduler *s = &c->schedulers[scheduler];
    const u32 sm = scheduler / c->m->schedulers;
    if (scheduler == c->stepping) c->woken = when < c->woken ? when : c->woken;
    else if (when < s->at) {
        s->at = when;
        if (sm != c->running && when < c->key[c->leaves + sm].when) set_key(c, sm, when);
    }
}

void timing_release_warp(struct timing *c, struct timing_warp *w, double ready, double when,
                         enum timing_part part)
{
    w->next->ready = ready > when ? ready : when;
    if (when > ready) w->part = (u8)part;
    wake(c, w->scheduler, w->next->ready);
}

/* A CTA is given to the slot. false: nothing of it was traced. */
static bool place(struct timing *c, u32 slot, u32 number, double now, u8 part)
{
    const struct trace_cta *trace = c->t->ctas[number];
    struct timing_cta *cta = &c->ctas[slot];
    *cta = (struct timing_cta){.live = 0, .ends = now};
    if (c->rules) c->rules->placed(c, slot);
    if (c->steps) timing_async_place(c, slot);
    for (u32 k = 0; k < c->wpc; k++) {
        struct timing_warp *w = &c->warps[slot * c->wpc + k];
        memset(w->regs, 0, c->regs * sizeof *w->regs);
        *w = (struct timing_warp){.trace = &trace->warps[k],
                                  .cta_trace = trace,
                                  .cta = slot,
                                  .sm = w->sm,
                                  .scheduler = w->scheduler,
                                  .next = w->next,
                                  .begun = -1,
                                  .regs = w->regs,
                                  .reg_parts = w->reg_parts};
        w->next->age = c->age++;
        w->live = look_ahead(c, w, now, part);
        if (!w->live) w->next->ready = TIMING_NEVER;
        cta->live += w->live;
        if (w->live) wake(c, w->scheduler, now);
    }
    return cta->live;
}

static bool deal(struct timing *c, u32 slot, u32 *number)
{
    if (c->rules) return c->rules->deal(c, slot, number);
    *number = c->next_cta;
    return c->next_cta < c->t->cta_count && ++c->next_cta;
}

void timing_place_cta(struct timing *c, u32 slot, double now, enum timing_part part)
{
    u32 number;
    while (deal(c, slot, &number) && !place(c, slot, number, now, (u8)part)) {
    }
}

/* The last of its warps has ended: the next one comes. */
static void end_cta(struct timing *c, u32 slot)
{
    const double ends = c->ctas[slot].ends;
    if (ends > c->end) c->end = ends;
    timing_place_cta(c, slot, ends + c->m->cta_start, TIMING_START);
}

static void leave(struct timing *c, struct timing_warp *w, double now)
{
    struct timing_cta *cta = &c->ctas[w->cta];
    w->live = false;
    w->next->ready = TIMING_NEVER;
    if (w->over > now) now = w->over;
    if (now - w->begun > c->out->chain) c->out->chain = now - w->begun;
    if (now > cta->ends) cta->ends = now;
    cta->live--;
    if (c->rules) c->rules->ended(c, w, now);
}

/* If all have come to the barrier, they go on. Traces that were cut may end there. */
static void release(struct timing *c, u32 slot, double now)
{
    struct timing_cta *cta = &c->ctas[slot];
    if (!cta->arrived || cta->arrived < cta->live) return;
    cta->arrived = 0;
    if (c->rules && c->rules->barrier) c->rules->barrier(c, slot);
    for (u32 k = 0; k < c->wpc; k++) {
        struct timing_warp *w = &c->warps[slot * c->wpc + k];
        if (!w->live || !w->waits) continue;
        w->waits = false;
        if (!look_ahead(c, w, now + c->m->barrier_latency, TIMING_BARRIER)) leave(c, w, now);
        else if (w->next->ready != TIMING_NEVER) wake(c, w->scheduler, w->next->ready);
    }
    if (!cta->live) end_cta(c, slot);
}

static void end_warp(struct timing *c, struct timing_warp *w, double now)
{
    leave(c, w, now);
    if (!c->ctas[w->cta].live) end_cta(c, w->cta);
    else release(c, w->cta, now);
}

/* Some GPUs have lanes for either integers or f32. Branches and shuffles need none of them. */
static void take_unit(const struct timing *c, struct timing_scheduler *s, u32 class, double now,
                      double interval)
{
    const double both = now + c->m->int_fp32;
    const u32 unit = unit_of_class[class];
    const bool ints = unit == TIMING_UNIT_INT && class != PTX_COST_SHUFFLE &&
                      class != PTX_COST_CONTROL && class != PTX_COST_BARRIER;
    *s->unit[unit] = now + interval;
    if (ints && *s->unit[TIMING_UNIT_FP32] < both) *s->unit[TIMING_UNIT_FP32] = both;
    if (unit == TIMING_UNIT_FP32 && *s->unit[TIMING_UNIT_INT] < both)
        *s->unit[TIMING_UNIT_INT] = both;
}

static void issue(struct timing *c, struct timing_scheduler *s, struct timing_warp *w, double now)
{
    const struct timing_machine *m = c->m;
    const u32 inst = w->inst, class = w->class;
    const struct timing_inst *i = &c->insts[inst];
    struct timing_access done = {now + m->latency[class], TIMING_LATENCY};
    double after = now + m->next;
    double interval = m->interval[class];
    if (class == PTX_COST_TENSOR) {
        interval *= c->matrices[inst];
        if (interval > m->interval[class]) done.done += interval - m->interval[class];
    }
    take_unit(c, s, class, now, interval);
    s->part[TIMING_ISSUE] += c->slot;
    s->by_unit[unit_of_class[class]] += c->slot;
    c->out->instructions++;
    if (w->begun < 0) w->begun = now;
    w->inst++, w->left--;
    if (class == PTX_COST_MEMORY) done = access_memory(c, w, inst, now);
    const bool waits = m->atomic_blocks && done.part == TIMING_ATOMIC;
    u8 part = waits ? TIMING_ATOMIC : TIMING_LATENCY;
    if (waits && done.done > after) after = done.done;
    for (u32 r = i->reads; r < i->all; r++) {
        const u32 reg = c->reg_of[i->reg + r];
        w->regs[reg] = done.done;
        w->reg_parts[reg] = done.part;
    }
    if (class == PTX_COST_CONTROL) after = now + m->branch;
    const bool async = c->steps && c->steps[inst];
    if (async) {
        const struct timing_access there = timing_async(c, w, inst, done);
        if (there.done > after) after = there.done, part = there.part;
    }
    if (class == PTX_COST_BARRIER) {
        w->next->ready = TIMING_NEVER;
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

static double issues_at(const struct timing_candidate *w, double unit_free)
{
    return w->ready > unit_free ? w->ready : unit_free;
}

/* After w has issued: when a warp of the scheduler may be able to at the earliest, the others `later`. */
static double next_turn(const struct timing *c, const struct timing_scheduler *s,
                        const struct timing_warp *w, double later)
{
    const double own = issues_at(w->next, *s->unit[w->next->unit]);
    if (own < later) later = own;
    if (later < s->last || c->rules) later = s->last; /* an order may change what others can do */
    return later < c->woken ? later : c->woken;
}

/* Of the warps that can issue now the one to choose. false: none can. */
static bool choose(struct timing *c, u32 number, struct timing_choice *choice)
{
    struct timing_scheduler *s = &c->schedulers[number];
    if (s->at < s->last) { /* one that was woken in the cycle of another's issue */
        s->at = s->last;
        return false;
    }
    const double now = s->at;
    double later = TIMING_NEVER, free[TIMING_UNITS];
    u32 best = UINT32_MAX, best_rank = UINT32_MAX;
    for (u32 u = 0; u < TIMING_UNITS; u++) free[u] = *s->unit[u];
    *choice = (struct timing_choice){true, number, s->recent, now};
    if (c->m->oldest && !s->strict && s->recent < s->count &&
        issues_at(&s->next[s->recent], free[s->next[s->recent].unit]) <= now)
        return true;
    const u32 only = s->strict ? turn_of(c, s) : UINT32_MAX;
    for (u32 k = 0; k < s->count; k++) {
        if (s->strict && k != only) continue;
        const double at = issues_at(&s->next[k], free[s->next[k].unit]);
        if (at > now) {
            if (at < later) later = at;
            continue;
        }
        if (best != UINT32_MAX) later = now;
        const u32 rank = c->m->oldest    ? s->next[k].age
                         : k > s->recent ? k - s->recent - 1
                                         : k + s->count - s->recent - 1;
        if (rank < best_rank) best = k, best_rank = rank;
    }
    choice->made = best != UINT32_MAX;
    choice->warp = best, choice->later = later;
    if (!choice->made) s->at = later;
    return choice->made;
}

static void step(struct timing *c, struct timing_choice *choice)
{
    struct timing_scheduler *s = &c->schedulers[choice->scheduler];
    struct timing_warp *w = &c->warps[s->warps[choice->warp]];
    const double now = s->at, waited = now - s->last;
    const double ready = w->next->ready > s->last ? w->next->ready : s->last,
                 taken = now > ready ? now - ready : 0; /* the unit, from when the warp could */
    if (waited > 0) s->part[w->part] += waited - taken;
    if (taken > 0) s->part[TIMING_UNIT] += taken, s->by_unit[w->next->unit] += taken;
    s->last = now + c->slot;
    s->recent = choice->warp;
    if (s->strict) s->turn = (choice->warp + 1) % s->count;
    c->stepping = choice->scheduler, c->woken = TIMING_NEVER;
    choice->made = false;
    issue(c, s, w, now);
    c->stepping = UINT32_MAX;
    s->at = next_turn(c, s, w, choice->later);
}

/* The warp has instructions behind the next one. */
static bool goes_on(const struct timing_warp *w)
{
    const u32 *words = w->trace->words;
    u32 at = w->at;
    if (w->left > 1) return true;
    while (at < w->trace->count && (words[at] & 3) != TRACE_BLOCK)
        at += 1 + trace_behind(words + at);
    return at < w->trace->count;
}

/* Whether the warp's next instruction is nothing to other SMs: it asks nothing of L2, and makes no room for a CTA. */
static bool is_own(const struct timing *c, const struct timing_warp *w)
{
    const u32 *words = w->trace->words;
    if (c->rules || !goes_on(w)) return false;
    if (w->class != PTX_COST_MEMORY) return true;
    for (u32 at = w->at; at < w->trace->count && is_of(c->t, words[at], w->inst);
         at += 1 + trace_behind(words + at))
        if ((words[at] & 3) != TRACE_SHARED) return false;
    return true;
}

/* The SM whose event is the device's next one: that one, and what follows as far as other SMs have no part in it. */
static void run_sm(struct timing *c, u32 sm, double now)
{
    struct timing_choice *choice = &c->choices[sm];
    const u32 first = sm * c->m->schedulers, end = first + c->m->schedulers;
    u32 least;
    c->running = sm;
    for (bool done = false; !done;) {
        least = first;
        for (u32 s = first + 1; s < end; s++)
            if (c->schedulers[s].at < c->schedulers[least].at) least = s;
        if (c->schedulers[least].at == TIMING_NEVER) break;
        if (!choice->made && !choose(c, least, choice)) continue;
        const struct timing_scheduler *s = &c->schedulers[choice->scheduler];
        if (s->at > now && !is_own(c, &c->warps[s->warps[choice->warp]])) break;
        step(c, choice);
        done = c->rules != NULL; /* other SMs may have heard of it */
    }
    c->running = UINT32_MAX;
    for (u32 s = least = first; s < end; s++)
        if (c->schedulers[s].at < c->schedulers[least].at) least = s;
    set_key(c, sm, c->schedulers[least].at);
}

/* Nobody can go on, as traces end in the middle: whoever waits at a barrier goes on. */
static bool unblock(struct timing *c, double now)
{
    bool any = false;
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

void *timing_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

/* Of one run: pieces of the block that the last run left, as far as it goes. */
struct timing_block {
    struct timing_block *next;
    size_t size, used;
    _Alignas(max_align_t) char data[];
};
static _Atomic(struct timing_block *) spare_block;

static struct timing_block *block_new(size_t size)
{
    struct timing_block *b = malloc(sizeof *b + size);
    if (!b) abort();
    b->next = NULL, b->size = size, b->used = 0;
    return b;
}

/* Anything may be in it. */
static void *take_room(struct timing *c, size_t count, size_t size)
{
    const size_t n = (count * size + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
                     sizeof(max_align_t);
    struct timing_block *b = c->blocks;
    c->taken += n;
    if (!b || b->size - b->used < n) {
        b = block_new(n);
        b->next = c->blocks ? c->blocks->next : NULL;
        if (c->blocks) c->blocks->next = b;
        else c->blocks = b;
    }
    void *p = b->data + b->used;
    b->used += n;
    return p;
}

/* Zeros. */
static void *take(struct timing *c, size_t count, size_t size)
{
    return memset(take_room(c, count, size), 0, count * size);
}

/* One block of all that was taken stays for the next run, if that is not much. */
static void give_back(struct timing *c)
{
    struct timing_block *first = c->blocks;
    const bool fits = first && first->size >= c->taken;
    for (struct timing_block *b = fits ? first->next : first, *next; b; b = next)
        next = b->next, free(b);
    if (c->taken > KEPT) {
        if (fits) free(first);
        return;
    }
    if (!fits) first = block_new(c->taken);
    first->next = NULL, first->used = 0;
    free(atomic_exchange(&spare_block, first));
}

static struct timing_events take_events(struct timing *c)
{
    return (struct timing_events){take_room(c, c->map, sizeof(struct timing_event)),
                                  take(c, c->map / PIECE, 1)};
}

static void prepare_copies(struct timing *c)
{
    size_t of_cta, of_warp = timing_async_size(&of_cta);
    u8 *steps = take(c, c->t->inst_count, 1);
    if (!timing_async_steps(c->t, steps)) return;
    c->steps = steps;
    c->copies = take(c, (size_t)c->sms * c->warps_per_sm, of_warp);
    c->batches = take(c, (size_t)c->sms * c->slots, of_cta);
}

static void prepare_matrices(struct timing *c)
{
    const struct emu_trace *t = c->t;
    for (u32 i = 0; i < t->inst_count; i++) {
        if (c->insts[i].class != PTX_COST_TENSOR) continue;
        if (!c->matrices) c->matrices = take(c, t->inst_count, sizeof *c->matrices);
        c->matrices[i] = matrix_work(t->insts[i].op, c->m) / 2048;
    }
}

static void prepare_registers(struct timing *c)
{
    const struct emu_trace *t = c->t;
    u32 count = 0;
    c->regs = t->reg_count < REGS ? t->reg_count + 1 : REGS;
    c->reg_of = t->regs;
    if (t->reg_count < c->regs) return;
    for (u32 i = 0; i < t->inst_count; i++) {
        const struct trace_inst *x = &t->insts[i];
        if (x->reg + x->reads + x->writes > count) count = x->reg + x->reads + x->writes;
    }
    c->reg_of = c->folded = take(c, count, sizeof(u32));
    for (u32 i = 0; i < count; i++) c->folded[i] = t->regs[i] % c->regs;
}

/* Room for the lines of the trace without many on one place. */
static u32 map_size(const struct emu_trace *t)
{
    u64 notes = 0;
    u32 size = 256;
    for (u32 k = 0; k < t->cta_count; k++) notes += t->ctas[k]->note_count;
    while (size < MAP && size < 4 * notes) size *= 2;
    return size;
}

static void prepare_instructions(struct timing *c)
{
    c->insts = take(c, c->t->inst_count, sizeof *c->insts);
    for (u32 k = 0; k < c->t->inst_count; k++) {
        const struct trace_inst *i = &c->t->insts[k];
        const u8 class = cost_class(i->op);
        c->insts[k] = (struct timing_inst){i->reg, (uint16_t)i->reads,
                                           (uint16_t)(i->reads + i->writes), class,
                                           unit_of_class[class]};
    }
}

static void prepare(struct timing *c, u32 l1_bytes)
{
    const struct timing_machine *m = c->m;
    prepare_instructions(c);
    prepare_matrices(c);
    prepare_copies(c);
    prepare_registers(c);
    c->all_of_l2 = timing_slices_of(m);
    c->scheduler_count = c->sms * m->schedulers;
    const u32 warps = c->sms * c->warps_per_sm;
    c->warps = take(c, warps, sizeof *c->warps);
    c->ctas = take(c, (size_t)c->sms * c->slots, sizeof *c->ctas);
    c->schedulers = take(c, c->scheduler_count, sizeof *c->schedulers);
    c->scheduler_warps = take(c, warps, sizeof(u32));
    c->next = take(c, warps, sizeof *c->next);
    c->reg_times = take_room(c, (size_t)warps * c->regs, sizeof *c->reg_times);
    c->reg_parts = take_room(c, (size_t)warps * c->regs, 1);
    u32 *list = c->scheduler_warps;
    for (u32 s = 0; s < c->scheduler_count; s++) {
        const u32 sm = s / m->schedulers;
        c->schedulers[s].at = TIMING_NEVER;
        c->schedulers[s].warps = list;
        c->schedulers[s].next = c->next + (list - c->scheduler_warps);
        for (u32 k = s % m->schedulers; k < c->warps_per_sm; k += m->schedulers) {
            const u32 w = sm * c->warps_per_sm + k;
            c->warps[w].sm = sm;
            c->warps[w].scheduler = s;
            c->warps[w].regs = c->reg_times + (size_t)w * c->regs;
            c->warps[w].reg_parts = c->reg_parts + (size_t)w * c->regs;
            c->warps[w].next = c->next + (list - c->scheduler_warps);
            c->warps[w].next->ready = TIMING_NEVER;
            *list++ = w;
        }
        c->schedulers[s].count = (u32)(list - c->schedulers[s].warps);
    }
    for (u32 u = 0; u < TIMING_UNITS; u++) {
        const u32 n = m->units[u];
        c->units[u] = take(c, (size_t)c->sms * n, sizeof(double));
        for (u32 s = 0; s < c->scheduler_count; s++)
            c->schedulers[s].unit[u] = &c->units[u][s / m->schedulers * n + s % m->schedulers % n];
    }
    for (c->leaves = 1; c->leaves < c->sms;) c->leaves *= 2;
    c->key = take(c, 2 * (size_t)c->leaves, sizeof *c->key);
    c->choices = take(c, c->sms, sizeof *c->choices);
    for (u32 i = 0; i < 2 * c->leaves; i++)
        c->key[i] = (struct timing_sm_key){TIMING_NEVER, i < c->leaves ? 0 : i - c->leaves};
    c->load_store = take(c, c->sms, sizeof(double));
    c->port_in = take(c, c->ports, sizeof(double));
    c->port_out = take(c, c->ports, sizeof(double));
    c->slice = take(c, m->slices, sizeof(double));
    c->channel = take(c, m->channels, sizeof(double));
    c->banks = take(c, (size_t)m->channels * BANKS, sizeof *c->banks);
    c->l1_ways = m->l1_ways;
    c->l1_sets = l1_bytes / 128 / c->l1_ways ? l1_bytes / 128 / c->l1_ways : 1;
    c->l1_sets_divisor = timing_divisor(c->l1_sets);
    c->l1 = take_room(c, (size_t)c->sms * c->l1_sets * c->l1_ways, sizeof *c->l1);
    c->l1_seen = take(c, (size_t)c->sms * c->l1_sets, 1);
    const size_t fetched = (size_t)c->sms * m->fetch_lines;
    c->fetched = take(c, fetched, sizeof *c->fetched);
    for (size_t i = 0; i < fetched; i++)
        c->fetched[i] = (struct timing_line){.tag = UINT32_MAX, .used = -1};
    c->map = c->some ? map_size(c->t) : MAP;
    c->fills = take_events(c);
    c->swaps = take_events(c);
}

/* As many servers, a whole number of them, each of which does `rate` of what one does. */
static u32 whole(double servers, double *rate)
{
    const u32 n = servers < 1.5 ? 1 : (u32)(servers + 0.5);
    *rate = servers / n;
    return n;
}

/* What of the GPU the SMs have. If they stand for all: fewer slices and channels, since in slower ones each request
 * would be in the way of more. Of a part of a grid likewise, and its SMs share rows of DRAM with the others; but with
 * orders, and where addresses are not hashed, all slices and channels, slower. */
static void divide(struct timing *c)
{
    const struct timing_machine *m = c->m;
    c->ports = (c->sms + m->port_sms - 1) / m->port_sms;
    c->slices = m->slices, c->channels = m->channels;
    c->share = c->slice_rate = c->channel_rate = (double)c->t->sms_traced / c->t->sms;
    c->row_span = m->row_bytes * m->channels;
    if (!c->some) {
        if (!m->hashed || c->rules) return;
        c->channels = whole(m->channels * c->share, &c->channel_rate);
        c->slices = c->channels * (m->slices / m->channels), c->slice_rate = c->channel_rate;
        return;
    }
    c->ports = c->some->ports;
    c->share = c->some->l2;
    c->slices = whole(c->some->slices, &c->slice_rate);
    c->channels = whole(c->some->channels, &c->channel_rate);
    c->row_span = m->row_bytes * c->channels;
    c->all_slices = take(c, m->slices, sizeof(double));
}

static void sum_up(struct timing *c)
{
    struct timing_result *out = c->out;
    out->cycles = c->end;
    for (u32 s = 0; s < c->scheduler_count; s++) {
        struct timing_scheduler *x = &c->schedulers[s];
        if (c->end > x->last) x->part[TIMING_IDLE] += c->end - x->last;
        for (u32 p = 0; p < TIMING_PARTS; p++) out->part[p] += x->part[p] / c->scheduler_count;
        for (u32 u = 0; u < TIMING_UNITS; u++)
            out->by_unit[u] += x->by_unit[u] / c->scheduler_count;
    }
}

void timing_run_ordered(const struct emu_trace *t, const struct timing_machine *m,
                        const struct timing_order *o, const struct timing_share *share,
                        uint32_t slots, uint32_t l1_bytes, struct timing_result *out)
{
    static const struct timing_order_hooks *const rules[] = {NULL, &timing_gpudet_hooks,
                                                             &timing_dab_hooks};
    *out = (struct timing_result){0};
    if (!t->cta_count) return;
    struct timing c = {.t = t, .m = m, .out = out, .running = UINT32_MAX, .stepping = UINT32_MAX};
    c.sms = t->sms_traced;
    c.slot = 1.0 / (m->issue ? m->issue : 1);
    c.some = share;
    c.wpc = t->ctas[0]->warp_count;
    const u32 most = (t->cta_count + c.sms - 1) / c.sms;
    c.slots = slots && slots < most ? slots : most;
    c.warps_per_sm = c.slots * c.wpc;
    c.rules = rules[o->kind];
    c.blocks = atomic_exchange(&spare_block, NULL);
    divide(&c);
    prepare(&c, l1_bytes);
    if (c.rules) c.rules->begin(&c, o);
    for (u32 k = 0; k < c.slots; k++)
        for (u32 sm = 0; sm < c.sms; sm++)
            timing_place_cta(&c, sm * c.slots + k, m->start + k * m->cta_interval, TIMING_START);
    for (;;) {
        const double now = c.key[1].when;
        if (now == TIMING_NEVER) {
            if (!(c.rules && c.rules->idle(&c)) && !unblock(&c, c.end)) break;
            continue;
        }
        run_sm(&c, c.key[1].sm, now);
    }
    sum_up(&c);
    if (c.rules) c.rules->end(&c);
    give_back(&c);
}

void timing_run(const struct emu_trace *t, const struct timing_machine *m, uint32_t slots,
                uint32_t l1_bytes, struct timing_result *out)
{
    timing_run_ordered(t, m, &(struct timing_order){.kind = TIMING_NATIVE}, NULL, slots, l1_bytes,
                       out);
}
