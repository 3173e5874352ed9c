/* Warps, schedulers and memory on a clock. All state is of one run. */
#include "model/clock.h"

#include "emu/count.h"
#include "emu/trace.h"
#include "ptx/isa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

#define NEVER HUGE_VAL
enum {
    REGS = 4096 /* registers of a warp that are told apart */,
    MAP = 1 << 16,
    BANKS = 64,
    FETCHED = 16 /* instructions of a line */
};

/* ---- what instructions are ---------------------------------------------------------------------------- */

static const u8 unit_of_class[CLASSES] = {
#define CLASS(id, unit, text) CLOCK_UNIT_##unit,
#include "model/clock.def"
};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Add, minimum, multiply, multiply-add or divide: classes stand in that order. */
static u32 arithmetic(const char *name, u32 add)
{
    if (begins(name, "min") || begins(name, "max")) return add + 1;
    if (begins(name, "mul")) return add + 2;
    if (begins(name, "fma") || begins(name, "mad") || begins(name, "sad") || begins(name, "dp"))
        return add + 3;
    if (begins(name, "div") || begins(name, "rem") || begins(name, "sqrt") || begins(name, "rcp"))
        return add + 4;
    return add;
}

static u8 class_of(const struct ptx_op *op)
{
    if (!op) return CLASS_ALU;
    const char *name = op->form->name;
    switch (op->form->unit) {
    case PTX_UNIT_IALU:
        if (begins(name, "add") || begins(name, "sub") || begins(name, "min") ||
            begins(name, "max"))
            return (u8)arithmetic(name, CLASS_IADD);
        return CLASS_ALU;
    case PTX_UNIT_IMUL: return (u8)arithmetic(name, CLASS_IADD);
    case PTX_UNIT_IDIV: return CLASS_IDIV;
    case PTX_UNIT_FP16:
    case PTX_UNIT_FP32:
        if (begins(name, "set") || begins(name, "sel") || begins(name, "abs") ||
            begins(name, "neg") || begins(name, "testp") || begins(name, "copysign"))
            return CLASS_ALU;
        if (begins(name, "sqrt") || begins(name, "rcp")) return CLASS_SFU;
        return (u8)arithmetic(name, CLASS_FADD);
    case PTX_UNIT_FP64:
        if (begins(name, "set") || begins(name, "sel")) return CLASS_ALU;
        return (u8)arithmetic(name, CLASS_DADD);
    case PTX_UNIT_SFU: return begins(name, "div") ? CLASS_FDIV : CLASS_SFU;
    case PTX_UNIT_TENSOR:
        return op->form->effects & (PTX_READS | PTX_WRITES) ? CLASS_MEMORY : CLASS_TENSOR;
    case PTX_UNIT_WARP: return CLASS_SHUFFLE;
    case PTX_UNIT_MEM:
    case PTX_UNIT_ATOM:
    case PTX_UNIT_TEX: return CLASS_MEMORY;
    case PTX_UNIT_SYNC:
        if (!(op->form->effects & PTX_BARRIER) || !strncmp(name, "bar.warp", 8))
            return CLASS_CONTROL;
        if (strstr(name, "arrive") || begins(name, "mbarrier")) return CLASS_CONTROL;
        return CLASS_BARRIER;
    case PTX_UNIT_CTRL: return CLASS_CONTROL;
    default: return CLASS_ALU;
    }
}

/* ---- state --------------------------------------------------------------------------------------------- */

struct next { /* of a warp: what its scheduler looks at; a scheduler's stand side by side */
    double
        ready; /* its registers are there, it may issue; NEVER: it waits at a barrier, or has ended */
    u32 age;
    u8 unit; /* enum clock_unit, of the next instruction */
};

struct warp {
    const struct trace_warp *trace;
    const struct trace_cta *cta_trace;
    u32 at;         /* word */
    u32 line;       /* of instructions, that it has last: its number and one */
    u32 inst, left; /* the next instruction, and how many of its block are left with it */
    struct next *next;
    double begun, stored;   /* its first issue; when its stores are done */
    u8 part;                /* enum clock_part: what `ready` waits for */
    u8 class;               /* of the next instruction */
    u32 cta, sm, scheduler; /* slot of its CTA; scheduler of the device */
    bool live;
    double *regs;
    u8 *reg_parts;
};

struct cta { /* a slot of an SM */
    u32 live, arrived;
    double ends;
};

struct scheduler {
    struct next *next; /* of its warps */
    double last;       /* behind the last issue */
    u32 *warps, count; /* slots of warps */
    u32 recent;
    double part[CLOCK_PARTS];
};

struct line {
    u32 tag;
    u8 sectors;
    double used, filled;
};

struct clock {
    const struct emu_trace *t;
    const struct clock_machine *m;
    struct clock_times *out;
    u8 *classes;
    u32 sms, slots, wpc, warps_per_sm, scheduler_count, regs;
    double share; /* of L2 and DRAM */
    struct warp *warps;
    struct next *next;
    struct cta *ctas;
    struct scheduler *schedulers;
    u32 *scheduler_warps;
    double *reg_times;
    u8 *reg_parts;
    double *units[CLOCK_UNITS]; /* when each is free: by SM */
    double *key;                /* a tree of the least: leaves are schedulers */
    u32 leaves;
    u32 next_cta, age;
    double end;
    /* memory */
    double network; /* when the network takes the next request */
    double *load_store, *port_in, *port_out, *slice, *channel, *bank_free;
    u32 *bank_row;
    struct line *l1;
    struct line *fetched; /* lines of instructions that SMs have */
    u32 l1_sets, l1_ways, ports;
    struct event {
        u32 name;
        double when;
    } * fills,
        *swaps; /* lines from DRAM, when they are in L2; elements, when a compare-and-swap was through */
};

/* ---- the tree of schedulers ------------------------------------------------------------------------------ */

static void set_key(struct clock *c, u32 s, double key)
{
    u32 i = c->leaves + s;
    c->key[i] = key;
    for (i /= 2; i; i /= 2) {
        const double a = c->key[2 * i], b = c->key[2 * i + 1];
        c->key[i] = a <= b ? a : b;
    }
}

static u32 first_scheduler(const struct clock *c)
{
    u32 i = 1;
    while (i < c->leaves) i = c->key[2 * i] <= c->key[2 * i + 1] ? 2 * i : 2 * i + 1;
    return i - c->leaves;
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

/* Takes a server that is free at *free from `now` on for `interval`. Returns when it begins. */
static double take(double *free, double now, double interval)
{
    const double at = *free > now ? *free : now;
    *free = at + interval;
    return at;
}

static u32 mix(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static u32 slice_of(const struct clock *c, u32 line)
{
    const u32 chunk = line >> 1, per = c->m->slices / c->m->channels;
    const u32 channel = (c->m->hashed ? mix(chunk) : chunk) % c->m->channels;
    return channel * per + (c->m->hashed ? line : chunk / c->m->channels) % per;
}

/* `sectors` of a line from DRAM: when they are in L2. */
static double from_dram(struct clock *c, u32 slice, u32 line, u32 sectors, double now)
{
    const struct clock_machine *m = c->m;
    const u32 channel = slice / (m->slices / m->channels);
    double begin = now;
    if (m->row_interval > 0) {
        const u32 row = (u32)((double)line * 128 / (m->row_bytes * m->channels)),
                  bank = channel * BANKS + mix(row) % m->banks;
        if (c->bank_row[bank] != row) {
            c->bank_row[bank] = row;
            begin = take(&c->bank_free[bank], now, m->row_interval / c->share);
        }
    }
    const double at = take(&c->channel[channel], begin, sectors * m->dram_interval / c->share);
    return at + sectors * m->dram_interval + m->dram_latency;
}

/* A request of an SM for sectors of a line: when they are back. */
static double through_l2(struct clock *c, u32 sm, const struct trace_note *n, u32 sectors, u32 dram,
                         u32 rounds, bool answers, double now, u8 *part)
{
    const struct clock_machine *m = c->m;
    const u32 port = sm % c->ports, slice = slice_of(c, n->line);
    const bool loads = n->how == COUNT_LOAD || n->how == COUNT_LOAD_L2;
    const bool atomic = n->how == COUNT_ATOMIC;
    const u32 requests = atomic ? rounds : sectors;
    double sent = take(&c->port_out[port], now,
                       (loads && m->l1_whole ? 1 : requests) / m->port_requests);
    if (m->network_requests > 0)
        sent = take(&c->network, sent,
                    (loads && m->l1_whole ? 1 : requests) / (m->network_requests * c->share));
    const double service = atomic ? requests * m->atomic_interval : sectors * m->l2_interval;
    const double begin = take(&c->slice[slice], sent + m->l2_latency / 2, service / c->share);
    double there = begin + service;
    u32 k = mix(n->line) % MAP;
    if (dram) {
        there = from_dram(c, slice, n->line, dram, there);
        c->fills[k].name = n->line, c->fills[k].when = there;
        *part = CLOCK_DRAM;
    } else if (c->fills[k].name == n->line && c->fills[k].when > there) {
        there = c->fills[k].when;
        *part = CLOCK_DRAM;
    }
    if (atomic) there += m->atomic_latency, *part = CLOCK_ATOMIC;
    if (!answers) return there + m->l2_latency / 2;
    const double back = take(&c->port_in[port], there,
                             (atomic ? requests : sectors) / m->port_sectors);
    return back + m->l2_latency / 2;
}

/* The line in L1, or the one that makes room. */
static struct line *l1_find(const struct clock *c, u32 sm, u32 line)
{
    struct line *set = c->l1 + ((size_t)sm * c->l1_sets +
                                (c->m->l1_hashed ? mix(line) : line) % c->l1_sets) *
                                   c->l1_ways;
    struct line *oldest = set;
    for (u32 i = 0; i < c->l1_ways; i++) {
        if (set[i].tag == line) return &set[i];
        if (set[i].used < oldest->used) oldest = &set[i];
    }
    return oldest;
}

static u32 bits(u32 x)
{
    u32 n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

/* One line of a load: when it is there. */
static double load_line(struct clock *c, u32 sm, const struct trace_note *n, double at, u8 *part)
{
    const struct clock_machine *m = c->m;
    const bool local = n->how == TRACE_AROUND;
    u32 want = n->sectors;
    *part = CLOCK_L2;
    if (n->how == COUNT_LOAD_L2 || (!m->l1_global && !local))
        return through_l2(c, sm, n, bits(want), n->from_dram, 1, true, at, part) + m->l1_latency;
    if (m->l1_whole) want = 15;
    struct line *l = l1_find(c, sm, n->line);
    const u32 had = l->tag == n->line ? l->sectors : 0, lacks = want & ~had;
    double there = at;
    if (had & want && l->filled > at) there = l->filled, *part = CLOCK_L2;
    else if (!lacks) *part = CLOCK_L1;
    if (lacks) {
        const u32 lacking = bits(lacks);
        u32 dram = n->from_dram;
        if (dram && m->l1_whole) dram = 4;
        const double filled = through_l2(c, sm, n, lacking, dram < lacking ? dram : lacking, 1,
                                         true, at, part);
        if (l->tag != n->line) l->tag = n->line, l->sectors = 0, l->filled = 0;
        l->sectors |= (u8)lacks;
        if (filled > l->filled) l->filled = filled;
        if (filled > there) there = filled;
    }
    l->used = at;
    return there + m->l1_latency;
}

static double store_line(struct clock *c, u32 sm, const struct trace_note *n, double at)
{
    u8 part;
    if (n->how == TRACE_AROUND && c->m->local_back) {
        struct line *l = l1_find(c, sm, n->line);
        if (l->tag == n->line) {
            l->sectors |= n->sectors;
            l->used = at;
            return at;
        }
    }
    return through_l2(c, sm, n, bits(n->sectors), 0, 1, false, at, &part);
}

struct access { /* of one instruction: what of it is done when */
    double done;
    u8 part;
};

static void at_least(struct access *a, double done, u8 part)
{
    if (done > a->done) a->done = done, a->part = part;
}

static void global_access(struct clock *c, u32 sm, const struct warp *w, const struct trace_inst *i,
                          u32 first, u32 size, double now, struct access *a, double *stored)
{
    const struct clock_machine *m = c->m;
    const u32 count = TRACE_SIZE_N(size), rounds = TRACE_SIZE_ROUNDS(size);
    const struct trace_note *notes = w->cta_trace->notes + first;
    const bool writes = !(i->op->form->effects & PTX_READS) && !(i->op->form->effects & PTX_ATOMIC);
    for (u32 k = 0; k < count; k++) {
        const struct trace_note *n = &notes[k];
        const u32 sectors = bits(n->sectors);
        const double need = m->l1_whole ? 1 : sectors / m->l1_sectors;
        if (n->how == COUNT_ATOMIC) {
            u8 part = CLOCK_ATOMIC;
            const u32 all = sectors + (k == 0 ? rounds - 1 : 0);
            const double at = take(&c->load_store[sm], now, all * m->atomic_issue);
            const double done = through_l2(c, sm, n, sectors, n->from_dram, all, true, at, &part) +
                                (all - 1) * m->atomic_issue;
            at_least(a, done + m->l1_latency, CLOCK_ATOMIC);
            if (done > *stored) *stored = done;
            continue;
        }
        const double at = take(&c->load_store[sm], now, need);
        if (n->how == COUNT_STORE || (n->how == TRACE_AROUND && writes)) {
            const double done = store_line(c, sm, n, at);
            if (done > *stored) *stored = done;
        } else {
            u8 part;
            const double done = load_line(c, sm, n, at, &part);
            at_least(a, done, part);
        }
    }
    if (!count) at_least(a, take(&c->load_store[sm], now, 1) + m->constant_latency, CLOCK_L1);
}

/* How many words an access has behind its first. */
static u32 behind(const u32 *words)
{
    const u32 tag = words[0] & 3;
    return trace_words(tag, words[tag == TRACE_SHARED ? 1 : 2]);
}

/* A compare-and-swap fails, and is tried again, if another one came between it and the load that it followed: on
 * one element they succeed a round trip apart. */
static void swap(struct clock *c, const u32 *elements, u32 lanes, double now, struct access *a)
{
    const double least = c->m->l1_latency + c->m->l2_latency + c->m->atomic_latency,
                 trip = a->done - now < 2 * least ? a->done - now : 2 * least;
    for (u32 l = 0; l < lanes; l++) {
        const u32 k = mix(elements[l]) % MAP;
        if (c->swaps[k].name == elements[l]) at_least(a, c->swaps[k].when + trip, CLOCK_ATOMIC);
    }
    for (u32 l = 0; l < lanes; l++) {
        const u32 k = mix(elements[l]) % MAP;
        c->swaps[k].name = elements[l], c->swaps[k].when = a->done;
    }
}

/* What of the trace belongs to the instruction. */
static struct access access_memory(struct clock *c, struct warp *w, u32 inst, u32 sm, double now,
                                   double *stored)
{
    const struct emu_trace *t = c->t;
    struct access a = {now + c->m->latency[CLASS_MEMORY], CLOCK_L1};
    const u32 *words = w->trace->words;
    while (w->at < w->trace->count) {
        const u32 tag = words[w->at] & 3;
        if (tag == TRACE_BLOCK || t->site_inst[words[w->at] >> 2] != inst) break;
        if (tag == TRACE_SHARED) {
            const u32 size = words[w->at + 1];
            const double passes = TRACE_SIZE_N(size);
            const double at = take(&c->load_store[sm], now, passes);
            at_least(&a, at + passes - 1 + c->m->shared_latency, CLOCK_SHARED);
        } else {
            global_access(c, sm, w, &t->insts[inst], words[w->at + 1], words[w->at + 2], now, &a,
                          stored);
            const u32 size = words[w->at + 2];
            if (size & TRACE_ELEMENTS) swap(c, words + w->at + 3, TRACE_SIZE_LANES(size), now, &a);
        }
        w->at += 1 + behind(words + w->at);
    }
    return a;
}

/* ---- warps ------------------------------------------------------------------------------------------------- */

/* When the next instruction is there, in the SM's cache for them: fully associative, the least recently used line
 * goes. */
static double fetch(struct clock *c, u32 sm, u32 inst, double now)
{
    const u32 line = inst / FETCHED, count = c->m->fetch_lines;
    struct line *all = c->fetched + (size_t)sm * count, *oldest = all;
    for (u32 i = 0; i < count; i++) {
        if (all[i].tag == line) {
            all[i].used = now;
            return all[i].filled;
        }
        if (all[i].used < oldest->used) oldest = &all[i];
    }
    *oldest = (struct line){line, 15, now, now + (c->t->again ? 0 : c->m->fetch_latency)};
    return oldest->filled;
}

/* The next instruction: when its registers are there. false: there is none. */
static bool look_ahead(struct clock *c, struct warp *w, double now, u8 part)
{
    while (!w->left) {
        if (w->at == w->trace->count) return false;
        const u32 word = w->trace->words[w->at++];
        if ((word & 3) != TRACE_BLOCK) { /* of an instruction that nobody named */
            w->at += behind(w->trace->words + w->at - 1);
            continue;
        }
        w->inst = c->t->blocks[word >> 2].first;
        w->left = c->t->blocks[word >> 2].count;
    }
    const struct trace_inst *i = &c->t->insts[w->inst];
    w->next->ready = now;
    w->part = part;
    for (u32 r = 0; r < i->reads + i->writes; r++) {
        const u32 reg = c->t->regs[i->reg + r] % c->regs;
        if (w->regs[reg] > w->next->ready)
            w->next->ready = w->regs[reg], w->part = w->reg_parts[reg];
    }
    w->class = c->classes[w->inst];
    w->next->unit = unit_of_class[w->class];
    if (c->m->fetch_lines && w->line != w->inst / FETCHED + 1) {
        const double there = fetch(c, w->sm, w->inst, now);
        w->line = w->inst / FETCHED + 1;
        if (there > w->next->ready) w->next->ready = there, w->part = CLOCK_FETCH;
    }
    return true;
}

static double *unit_of(const struct clock *c, u32 sm, u32 scheduler, u32 class)
{
    const u32 u = unit_of_class[class], n = c->m->units[u];
    return &c->units[u][sm * n + scheduler % n];
}

static void wake(struct clock *c, u32 scheduler, double when)
{
    if (when < c->key[c->leaves + scheduler]) set_key(c, scheduler, when);
}

/* The next CTA is given to the slot. false: nothing of it was traced. */
static bool place(struct clock *c, u32 slot, double now, u8 part)
{
    const struct trace_cta *trace = c->t->ctas[c->next_cta++];
    struct cta *cta = &c->ctas[slot];
    *cta = (struct cta){.live = 0, .ends = now};
    for (u32 k = 0; k < c->wpc; k++) {
        struct warp *w = &c->warps[slot * c->wpc + k];
        memset(w->regs, 0, c->regs * sizeof *w->regs);
        *w = (struct warp){.trace = &trace->warps[k],
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
        if (!w->live) w->next->ready = NEVER;
        cta->live += w->live;
        if (w->live) wake(c, w->scheduler, now);
    }
    return cta->live;
}

static void place_cta(struct clock *c, u32 slot, double now, u8 part)
{
    while (c->next_cta < c->t->cta_count && !place(c, slot, now, part)) {
    }
}

static void release(struct clock *c, u32 slot, double now)
{
    struct cta *cta = &c->ctas[slot];
    if (!cta->arrived || cta->arrived < cta->live) return;
    cta->arrived = 0;
    for (u32 k = 0; k < c->wpc; k++) {
        struct warp *w = &c->warps[slot * c->wpc + k];
        if (!w->live || w->next->ready != NEVER) continue;
        if (!look_ahead(c, w, now + c->m->barrier_latency, CLOCK_BARRIER)) {
            w->live = false;
            w->next->ready = NEVER;
            cta->live--;
            continue;
        }
        wake(c, w->scheduler, w->next->ready);
    }
}

static void end_warp(struct clock *c, struct warp *w, double now)
{
    struct cta *cta = &c->ctas[w->cta];
    w->live = false;
    w->next->ready = NEVER;
    if (w->stored > now) now = w->stored;
    if (now - w->begun > c->out->chain) c->out->chain = now - w->begun;
    if (now > cta->ends) cta->ends = now;
    cta->live--;
    release(c, w->cta, now);
    if (cta->live) return;
    if (cta->ends > c->end) c->end = cta->ends;
    place_cta(c, w->cta, cta->ends + c->m->cta_start, CLOCK_START);
}

static void issue(struct clock *c, struct scheduler *s, struct warp *w, double now)
{
    const struct clock_machine *m = c->m;
    const u32 inst = w->inst, class = w->class, sm = w->sm;
    const struct trace_inst *i = &c->t->insts[inst];
    struct access done = {now + m->latency[class], CLOCK_LATENCY};
    double after = now + m->next;
    *unit_of(c, sm, w->scheduler % m->schedulers, class) = now + m->interval[class];
    s->part[CLOCK_ISSUE]++;
    c->out->instructions++;
    if (w->begun < 0) w->begun = now;
    w->inst++, w->left--;
    if (class == CLASS_MEMORY) done = access_memory(c, w, inst, sm, now, &w->stored);
    const bool waits = m->atomic_blocks && done.part == CLOCK_ATOMIC;
    if (waits && done.done > after) after = done.done;
    for (u32 r = 0; r < i->writes; r++) {
        const u32 reg = c->t->regs[i->reg + i->reads + r] % c->regs;
        w->regs[reg] = done.done;
        w->reg_parts[reg] = done.part;
    }
    if (class == CLASS_CONTROL) after = now + m->branch;
    if (class == CLASS_BARRIER) {
        w->next->ready = NEVER;
        c->ctas[w->cta].arrived++;
        release(c, w->cta, now);
    } else if (!look_ahead(c, w, after, waits ? CLOCK_ATOMIC : CLOCK_LATENCY))
        end_warp(c, w, now + m->latency[CLASS_ALU]);
}

/* ---- schedulers ---------------------------------------------------------------------------------------------- */

static void step(struct clock *c, u32 number, double now)
{
    struct scheduler *s = &c->schedulers[number];
    const u32 sm = number / c->m->schedulers, own = number % c->m->schedulers;
    double first = NEVER;
    u32 best = UINT32_MAX, best_rank = UINT32_MAX;
    double free[CLOCK_UNITS];
    for (u32 u = 0; u < CLOCK_UNITS; u++) {
        const u32 n = c->m->units[u];
        free[u] = c->units[u][sm * n + own % n];
    }
    for (u32 k = 0; k < s->count; k++) {
        const struct next *w = &s->next[k];
        const double at = w->ready > free[w->unit] ? w->ready : free[w->unit];
        if (at < first) first = at;
        if (at > now) continue;
        const u32 rank = !c->m->oldest    ? (k + s->count - s->recent - 1) % s->count
                         : k == s->recent ? 0
                                          : w->age + 1;
        if (rank < best_rank) best = k, best_rank = rank;
    }
    if (best == UINT32_MAX) {
        set_key(c, number, first);
        return;
    }
    struct warp *w = &c->warps[s->warps[best]];
    const double waited = now - s->last;
    if (waited > 0) {
        s->part[free[w->next->unit] > w->next->ready ? CLOCK_UNIT : w->part] += waited;
    }
    s->last = now + 1;
    s->recent = best;
    set_key(c, number, now + 1);
    issue(c, s, w, now);
}

/* Nobody can go on, as traces end in the middle: whoever waits at a barrier goes on. */
static bool unblock(struct clock *c, double now)
{
    bool any = false;
    for (u32 slot = 0; slot < c->sms * c->slots; slot++) {
        struct cta *cta = &c->ctas[slot];
        if (!cta->live || !cta->arrived) continue;
        cta->arrived = cta->live;
        release(c, slot, now);
        any = true;
    }
    return any;
}

static void *room(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

static void prepare(struct clock *c, u32 l1_bytes)
{
    const struct emu_trace *t = c->t;
    const struct clock_machine *m = c->m;
    c->classes = room(t->inst_count, 1);
    for (u32 i = 0; i < t->inst_count; i++) c->classes[i] = class_of(t->insts[i].op);
    c->regs = t->reg_count < REGS ? t->reg_count + 1 : REGS;
    c->scheduler_count = c->sms * m->schedulers;
    const u32 warps = c->sms * c->warps_per_sm;
    c->warps = room(warps, sizeof *c->warps);
    c->ctas = room((size_t)c->sms * c->slots, sizeof *c->ctas);
    c->schedulers = room(c->scheduler_count, sizeof *c->schedulers);
    c->scheduler_warps = room(warps, sizeof(u32));
    c->next = room(warps, sizeof *c->next);
    c->reg_times = room((size_t)warps * c->regs, sizeof *c->reg_times);
    c->reg_parts = room((size_t)warps * c->regs, 1);
    u32 *list = c->scheduler_warps;
    for (u32 s = 0; s < c->scheduler_count; s++) {
        const u32 sm = s / m->schedulers;
        c->schedulers[s].warps = list;
        c->schedulers[s].next = c->next + (list - c->scheduler_warps);
        for (u32 k = s % m->schedulers; k < c->warps_per_sm; k += m->schedulers) {
            const u32 w = sm * c->warps_per_sm + k;
            c->warps[w].sm = sm;
            c->warps[w].scheduler = s;
            c->warps[w].regs = c->reg_times + (size_t)w * c->regs;
            c->warps[w].reg_parts = c->reg_parts + (size_t)w * c->regs;
            c->warps[w].next = c->next + (list - c->scheduler_warps);
            c->warps[w].next->ready = NEVER;
            *list++ = w;
        }
        c->schedulers[s].count = (u32)(list - c->schedulers[s].warps);
    }
    for (u32 u = 0; u < CLOCK_UNITS; u++)
        c->units[u] = room((size_t)c->sms * m->units[u], sizeof(double));
    for (c->leaves = 1; c->leaves < c->scheduler_count;) c->leaves *= 2;
    c->key = room(2 * (size_t)c->leaves, sizeof *c->key);
    for (u32 i = 0; i < 2 * c->leaves; i++) c->key[i] = NEVER;
    c->ports = (c->sms + m->port_sms - 1) / m->port_sms;
    c->load_store = room(c->sms, sizeof(double));
    c->port_in = room(c->ports, sizeof(double));
    c->port_out = room(c->ports, sizeof(double));
    c->slice = room(m->slices, sizeof(double));
    c->channel = room(m->channels, sizeof(double));
    c->bank_free = room((size_t)m->channels * BANKS, sizeof(double));
    c->bank_row = room((size_t)m->channels * BANKS, sizeof(u32));
    c->l1_ways = m->l1_ways;
    c->l1_sets = l1_bytes / 128 / c->l1_ways ? l1_bytes / 128 / c->l1_ways : 1;
    const size_t lines = (size_t)c->sms * c->l1_sets * c->l1_ways;
    c->l1 = room(lines, sizeof *c->l1);
    for (size_t i = 0; i < lines; i++) c->l1[i].tag = UINT32_MAX;
    const size_t fetched = (size_t)c->sms * m->fetch_lines;
    c->fetched = room(fetched, sizeof *c->fetched);
    for (size_t i = 0; i < fetched; i++)
        c->fetched[i] = (struct line){.tag = UINT32_MAX, .used = -1};
    c->fills = room(MAP, sizeof *c->fills);
    c->swaps = room(MAP, sizeof *c->swaps);
    for (u32 i = 0; i < MAP; i++) c->fills[i].name = c->swaps[i].name = UINT32_MAX;
}

static void clear(struct clock *c)
{
    void *all[] = {c->next,     c->reg_times,  c->reg_parts,       c->classes, c->warps,
                   c->ctas,     c->schedulers, c->scheduler_warps, c->key,     c->load_store,
                   c->port_in,  c->port_out,   c->slice,           c->channel, c->bank_free,
                   c->bank_row, c->l1,         c->fetched,         c->fills,   c->swaps};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    for (u32 u = 0; u < CLOCK_UNITS; u++) free(c->units[u]);
}

static void sum_up(struct clock *c)
{
    struct clock_times *out = c->out;
    out->cycles = c->end;
    for (u32 s = 0; s < c->scheduler_count; s++) {
        struct scheduler *x = &c->schedulers[s];
        if (c->end > x->last) x->part[CLOCK_IDLE] += c->end - x->last;
        for (u32 p = 0; p < CLOCK_PARTS; p++) out->part[p] += x->part[p] / c->scheduler_count;
        if (x->part[CLOCK_ISSUE] > out->issue) out->issue = x->part[CLOCK_ISSUE];
    }
}

void clock_run(const struct emu_trace *t, const struct clock_machine *m, uint32_t slots,
               uint32_t l1_bytes, struct clock_times *out)
{
    *out = (struct clock_times){0};
    if (!t->cta_count) return;
    struct clock c = {.t = t, .m = m, .out = out};
    c.sms = t->sms_traced;
    c.share = (double)t->sms_traced / t->sms;
    c.wpc = t->ctas[0]->warp_count;
    const u32 most = (t->cta_count + c.sms - 1) / c.sms;
    c.slots = slots && slots < most ? slots : most;
    c.warps_per_sm = c.slots * c.wpc;
    prepare(&c, l1_bytes);
    for (u32 k = 0; k < c.slots; k++)
        for (u32 sm = 0; sm < c.sms && c.next_cta < t->cta_count; sm++)
            place_cta(&c, sm * c.slots + k, m->start + k * m->cta_interval, CLOCK_START);
    for (;;) {
        const double now = c.key[1];
        if (now == NEVER) {
            if (!unblock(&c, c.end)) break;
            continue;
        }
        step(&c, first_scheduler(&c), now);
    }
    sum_up(&c);
    clear(&c);
}
