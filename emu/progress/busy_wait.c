/* Busy-wait elision: warps under an order that poll.
 *
 * A warp polls by an access of global memory that changes nothing, some arithmetic, and a branch back to the access.
 * One iteration of such a loop is recorded while the warp runs it (record). As long as the polled words do not have the
 * value that ends the loop (holds), the effect of an iteration is known, and none of its instructions is executed: the
 * order is asked about the access, and the warp's instruction count advances (elide).
 *
 * An iteration ends in the state that it began in if all rows that are needed there are unchanged and the lanes' stack
 * is the same. The next iteration is equal to the recorded one if its only operations compute rows from rows or branch,
 * and if the access returns the same value. If the value is only compared for equality and differs, any other value
 * that differs gives an equal iteration, too.
 *
 * Attached by emu/sched/ordered.c through struct speculation. Invariant: the order is asked the same questions, and
 * instruction counts are the same, as if the warp had run. Not applied: with observers, when events are counted, with
 * independent thread scheduling, in programs with calls, and under orders without EMU_BRIEF_RETRIES. */
#define _GNU_SOURCE

#include "emu/atomic.h"
#include "emu/sched/control.h"
#include "emu/sched/launch_context.h"
#include "emu/sched/notify.h"
#include "emu/speculate/speculation.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <string.h>

enum {
    MOST_ENTRIES = 4, /* of the warp's stack */
    MOST_ROWS = 12,   /* that are written in a round, and needed where it begins */
    MOST_WAIT = 64,   /* times that it comes back until the next look, after looks in vain */
};

struct busy_wait { /* one iteration of a warp's polling loop, as recorded */
    bool
        asks; /* the order has yet to be asked about the access. Else it has put the warp to sleep */
    bool unequal;     /* each lane polls until it finds its `value`; false: as long as it does */
    bool one;         /* all lanes poll the same word */
    u8 count, width;  /* lanes; bytes of a word: 4 or 8 */
    u32 instructions; /* of the warp, */
    u32 thread_instructions;
    i64 budget;   /* the warp needs more than this to get through the iteration in one burst */
    u64 releases; /* memory released until then: mem_releases */
    u64 value[LANES];
    u32 low[LANES]; /* of words of 4 bytes: the same */
    const u8 *at[LANES];
};

struct row {
    u32 at, bytes; /* its place in the file of its width; that width */
};
struct kept {
    struct row row;
    u8 was[LANES * 8];
};
struct writer {
    struct emu_group *g;
    struct busy_wait s;
    const struct emu_uop *from;
    struct row result; /* of the access */
    bool holds;        /* what it gave is still there */
    bool compared;     /* value[] is what lanes look for */
    bool cas;
    u64 needed; /* rows, as emu_code.live has them */
    u32 exec, guarded, depth;
    const struct emu_uop *join;
    struct emu_entry stack[MOST_ENTRIES];
    struct kept kept[MOST_ROWS];
    u32 kept_count;
};

static bool applies(const struct host_worker *h)
{
    const struct emu_machine *m = h->ctx->m;
    const struct emu_program *p = m->program;
    return m->steps.wants & EMU_BRIEF_RETRIES && m->steps.step == EMU_STEP_EVENT &&
           !m->threads.its && !m->threads.yields && !m->launch->observer_count &&
           !h->ctx->config->count && p->code_count == 1 && !p->codes[0]->reads_undefined;
}

/* A load, or an atomic whose result is read, of a word for each lane that fills an element of a row. */
static bool describe(const struct emu_uop *in, struct lane_address *at, struct row *result,
                     u8 *width)
{
    const struct atomic_desc *const v = in->ext;
    const struct mem_desc *const k = in->ext;
    if (in->id == UOP_atom_watched) {
        *at = v->at;
        *width = v->width;
        *result = (struct row){v->result[0], v->width};
        if (v->red || v->flags & EMU_DEAD_RESULT || v->count != 1) return false;
    } else if (in->id == UOP_ld_watched) {
        *at = (struct lane_address){k->space, in->x, in->a, in->imm};
        *width = k->width;
        *result = (struct row){k->rows[0], k->row_bytes};
        if (!(k->flags & EMU_RELAXED) || k->count != 1 || k->row_bytes != k->width) return false;
    } else return false;
    return (*width == 4 || *width == 8) &&
           (at->space == PTX_SPACE_GLOBAL || at->space == PTX_SPACE_GENERIC);
}

static void stopped(struct emu_group *g, const struct emu_uop *from)
{
    g->polling.returned = g->turn.asleep && g->pc == from &&
                          (from->id == UOP_atom_watched || from->id == UOP_ld_watched);
    if (g->polling.returned && g->polling.record_delay) g->polling.record_delay--;
}

static bool should_record(const struct emu_group *g)
{
    return !g->polling.record_delay;
}

static bool is_row(const struct row *r, u32 at, u32 bytes)
{
    return r->at == at && r->bytes == bytes;
}

static u64 value_of(const struct emu_group *g, const struct row *r, u32 lane)
{
    return emu_get(g, r->bytes, r->at, 0, lane);
}

static u64 value_at(const u8 *p, u32 width)
{
    u64 x = 0;
    if (width == 4) memcpy(&x, p, 4);
    else memcpy(&x, p, 8);
    return x;
}

/* ---- writing it down --------------------------------------------------------------------------------- */

/* Where the lanes' words are on the host. */
static bool find_words(struct writer *w, const struct lane_address *from)
{
    const struct emu_group *g = w->g;
    const struct mem *const mem = g->worker->machine->mem;
    const u32 width = w->s.width;
    const struct mem_block *b = NULL;
    w->s.count = 0;
    w->s.one = true;
    for (u32 left = w->exec; left; left &= left - 1) {
        const u64 at = lane_address(g, from, 0, (u32)__builtin_ctz(left));
        if (at < MEM_GLOBAL || at % width) return false;
        if (!b || at < b->address || at - b->address > b->size - width)
            b = mem_find(mem, at, width);
        if (!b) return false;
        w->s.at[w->s.count++] = b->host + (at - b->address);
        w->s.one &= w->s.at[w->s.count - 1] == w->s.at[0];
    }
    w->s.releases = mem_releases(mem);
    return true;
}

/* The rows that the access itself reads must be others than its result. */
static bool cannot_overlap(const struct writer *w, const struct lane_address *at)
{
    if (is_row(&w->result, at->row, at->bytes)) return false;
    if (w->from->id != UOP_atom_watched) return true;
    const struct atomic_desc *const v = w->from->ext;
    return !is_row(&w->result, v->operand[0], v->width) &&
           !(w->cas && is_row(&w->result, v->comparand[0], v->width));
}

static bool begin(struct writer *w, struct emu_group *g)
{
    struct lane_address at;
    w->g = g;
    w->from = g->pc;
    w->exec = g->exec[0];
    w->guarded = g->guard_saved[0];
    w->depth = g->depth;
    w->join = g->join;
    w->compared = false;
    w->holds = true;
    w->kept_count = 0;
    w->needed = emu_needed_rows(g);
    if (!describe(w->from, &at, &w->result, &w->s.width) || w->depth > MOST_ENTRIES) return false;
    const struct atomic_desc *const v = w->from->ext;
    w->cas = w->from->id == UOP_atom_watched && v->op == ATOMIC_CAS;
    w->s.unequal = w->cas || w->from->id == UOP_ld_watched;
    w->s.budget = 0;
    memcpy(w->stack, g->stack, w->depth * sizeof *g->stack);
    return cannot_overlap(w, &at) && find_words(w, &at);
}

/* Lanes look for what is in this row. */
static void look_for(struct writer *w, const struct row *r)
{
    u32 i = 0;
    for (u32 left = w->exec; left && w->s.unequal; left &= left - 1, i++) {
        const u32 l = (u32)__builtin_ctz(left);
        const u64 x = value_of(w->g, r, l);
        if (x == value_of(w->g, &w->result, l) || (w->compared && x != w->s.value[i]))
            w->s.unequal = false;
        w->s.value[i] = x;
    }
    w->compared = true;
}

/* The access has been carried out. */
static bool look_at_access(struct writer *w)
{
    u32 i = 0;
    for (u32 left = w->exec; left; left &= left - 1, i++)
        if (value_at(w->s.at[i], w->s.width) !=
            value_of(w->g, &w->result, (u32)__builtin_ctz(left)))
            return false;
    const struct atomic_desc *const v = w->from->ext;
    if (w->cas) look_for(w, &(struct row){v->comparand[0], v->width});
    return true;
}

static bool compares_words(const struct emu_uop *in)
{
    return in->id == UOP_seteq_u32 || in->id == UOP_seteq_s32 || in->id == UOP_seteq_u64 ||
           in->id == UOP_seteq_s64 || in->id == UOP_setne_u32 || in->id == UOP_setne_s32 ||
           in->id == UOP_setne_u64 || in->id == UOP_setne_s64;
}

/* What comes of the access is looked at, or made something else of; or something else takes its place (no
 * operation goes by what that held before: emu/ops/uops.def). */
static void look_at_use(struct writer *w, const struct emu_uop *in)
{
    const u8 *const sizes = emu_row_sizes[in->id];
    const bool a = is_row(&w->result, in->a, sizes[1]), b = is_row(&w->result, in->b, sizes[2]),
               c = is_row(&w->result, in->c, sizes[3]), all = w->g->exec[0] == w->exec;
    if (!w->holds) return;
    if (compares_words(in) && a != b && all)
        look_for(w, &(struct row){a ? in->b : in->a, sizes[1]});
    else if (a || b || c) w->s.unequal = false;
    if (is_row(&w->result, in->d, sizes[0]) && all) w->holds = false;
}

static bool is_kept(const struct writer *w, const struct row *r)
{
    for (u32 i = 0; i < w->kept_count; i++)
        if (is_row(&w->kept[i].row, r->at, r->bytes)) return true;
    return false;
}

/* A row is about to be written. */
static bool keep(struct writer *w, const struct row *r)
{
    if (is_row(&w->result, r->at, r->bytes) ||
        !(w->needed & emu_row_bit(&w->g->code->frame, r->bytes, r->at)) || is_kept(w, r))
        return true;
    if (w->kept_count == MOST_ROWS) return false;
    struct kept *const k = &w->kept[w->kept_count++];
    k->row = *r;
    memcpy(k->was, emu_row(w->g, r->bytes, r->at), (size_t)LANES * r->bytes);
    return true;
}

/* An operation behind the access, before it is carried out. false: then nobody knows what the next round will be. */
static bool look_at(struct writer *w, const struct emu_uop *in, i64 spent)
{
    const u8 *const sizes = emu_row_sizes[in->id];
    switch (in->id) {
    case UOP_block: w->s.budget = spent; return true;
    case UOP_jump:
    case UOP_unguard: return true;
    case UOP_branch:
    case UOP_branch_if_not:
    case UOP_guard: return !w->holds || !is_row(&w->result, in->a, 4);
    default: break;
    }
    if (!sizes[0]) return false;
    look_at_use(w, in);
    return keep(w, &(struct row){in->d, sizes[0]});
}

static bool is_same(const struct emu_entry *a, const struct emu_entry *b)
{
    return memcmp(a->mask, b->mask, sizeof a->mask) == 0 && a->pc == b->pc && a->join == b->join &&
           a->kind == b->kind;
}

/* It stands before the access again. */
static bool is_back(const struct writer *w)
{
    const struct emu_group *const g = w->g;
    if (g->exec[0] != w->exec || g->guard_saved[0] != w->guarded) return false;
    if (g->depth != w->depth || g->join != w->join) return false;
    for (u32 i = 0; i < w->depth; i++)
        if (!is_same(&g->stack[i], &w->stack[i])) return false;
    for (u32 i = 0; i < w->kept_count; i++) {
        const struct kept *const k = &w->kept[i];
        if (memcmp(k->was, emu_row(g, k->row.bytes, k->row.at), (size_t)LANES * k->row.bytes) != 0)
            return false;
    }
    return true;
}

static void write_down(struct writer *w)
{
    struct emu_group *const g = w->g;
    if (!w->compared) w->s.unequal = false;
    for (u32 i = 0; i < w->s.count && !w->s.unequal; i++)
        w->s.value[i] = value_at(w->s.at[i], w->s.width);
    for (u32 i = 0; i < w->s.count; i++) w->s.low[i] = (u32)w->s.value[i];
    if (!g->polling.busy_wait)
        g->polling.busy_wait = (struct busy_wait *)(void *)cta_arena_take(
                                   g->worker->machine->cta_arena, sizeof *g->polling.busy_wait)
                                   .at;
    w->s.asks = !g->turn.asleep;
    *g->polling.busy_wait = w->s;
    g->polling.known = true;
    g->polling.record_failures = 0;
}

static bool record(struct emu_group *g)
{
    struct writer w;
    if (!should_record(g)) return false;
    const i64 budget = g->budget;
    const u64 before = g->instructions, threads = g->worker->thread_instructions;
    bool round = begin(&w, g);
    const struct emu_uop *in = w.from->run(g, w.from);
    round = round && in == w.from + 1 && look_at_access(&w);
    while (round && in && in != w.from) {
        round = look_at(&w, in, budget - g->budget);
        in = in->run(g, in);
    }
    round = round && in && is_back(&w);
    w.s.instructions = (u32)(g->instructions - before);
    w.s.thread_instructions = (u32)(g->worker->thread_instructions - threads);
    if (in) in = in->run(g, in);
    if (round && !in && g->pc == w.from && (g->turn.asleep || g->state == GROUP_READY)) {
        write_down(&w);
        return true;
    }
    while (in) in = in->run(g, in);
    if (g->polling.record_failures < MOST_WAIT) g->polling.record_failures++;
    g->polling.record_delay = g->polling.record_failures;
    return true;
}

/* ---- going it ---------------------------------------------------------------------------------------- */

static u32 count_equal(const u32 *values, u32 count, u32 x)
{
    u32 equal = 0;
    for (u32 i = 0; i < count; i++) equal += values[i] == x;
    return equal;
}

static bool holds(const struct emu_group *g)
{
    const struct busy_wait *const s = g->polling.busy_wait;
    u32 equal = 0;
    if (s->releases != mem_releases(g->worker->machine->mem)) return false;
    if (s->one && s->width == 4) equal = count_equal(s->low, s->count, (u32)value_at(s->at[0], 4));
    else if (s->width == 4)
        for (u32 i = 0; i < s->count; i++) equal += value_at(s->at[i], 4) == s->low[i];
    else
        for (u32 i = 0; i < s->count; i++) equal += value_at(s->at[i], 8) == s->value[i];
    return equal == (s->unequal ? 0 : s->count);
}

static struct emu_access access_of(const struct emu_group *g)
{
    const struct emu_uop *const in = g->pc;
    if (in->id == UOP_ld_watched)
        return emu_retried_access(g, in, EMU_LOAD, ((const struct mem_desc *)in->ext)->flags);
    return emu_retried_access(g, in, EMU_ATOMIC, ((const struct atomic_desc *)in->ext)->flags);
}

/* Asks the order about the access that the iteration begins with. Whether the warp may carry it out now. */
static bool ask(const struct emu_group *g)
{
    const struct emu_order *const o = g->worker->machine->launch->order;
    const struct emu_warp who = {g->cta->linear, g->first, g->cta->sm, g->cta->slot,
                                 emu_serial(g),  false,    0};
    struct emu_access a = access_of(g);
    a.who = &who;
    return o->access(o->self, &a) == EMU_PROCEED;
}

static enum elided elide(struct host_worker *h, struct emu_group *g, u32 burst)
{
    struct busy_wait *const s = g->polling.busy_wait;
    g->polling.known = false;
    if (h->livelock) return ELIDED_NOT; /* the proof looks at every instruction */
    if (!s->asks) {
        if (INSTRUCTIONS_PER_EVENT * (i64)burst <= s->budget || !holds(g)) return ELIDED_NOT;
        const bool may = ask(g);
        assert(may);
        g->instructions += s->instructions;
        h->instructions += s->instructions;
        h->worker.thread_instructions += s->thread_instructions;
        g->turn.asked = false;
        burst--;
    }
    g->polling.known = true;
    s->asks = !burst;
    if (s->asks) return ELIDED_READY;
    const bool may = ask(g);
    assert(!may);
    g->state = GROUP_WAIT;
    g->turn.asleep = true;
    return ELIDED_ASLEEP;
}

static void group_begins(struct emu_group *g)
{
    g->polling.known = g->polling.returned = false;
    g->polling.record_delay = g->polling.record_failures = 0;
}

static void prefetch(const struct emu_group *g)
{
    const u8 *const at = (const u8 *)g->polling.busy_wait;
    for (u32 i = 0; i < sizeof *g->polling.busy_wait; i += 64) __builtin_prefetch(at + i);
}

const struct speculation busy_wait_speculation = {.name = "busy-wait elision",
                                                  .group_begins = group_begins,
                                                  .elide = elide,
                                                  .run = record,
                                                  .stopped = stopped,
                                                  .prefetch = prefetch};

void speculation_attach(struct host_worker *h)
{
    h->elides_busy_waits = applies(h);
    if (h->elides_busy_waits) h->ctx->m->speculation = &busy_wait_speculation;
}

void speculation_detach(struct host_worker *h)
{
    h->elides_busy_waits = false;
    h->ctx->m->speculation = NULL;
}
