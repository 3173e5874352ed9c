/* Which part of a launch is traced, and the code of a trace. */
#include "emu/trace.h"

#include "base/arena.h"
#include "emu/cta_arena.h"
#include "emu/gpu.h"
#include "emu/measure/trace_combined.h"
#include "emu/measure/trace_turns.h"
#include "emu/ops/exec.h"
#include "ptx/flow.h"
#include "ptx/form.h"
#include "ptx/polling.h"
#include "ptx/ptx.h"
#include "ptx/unroll.h"

#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 4096,           /* warps of a grid that is traced whole */
    WARPS = 1024,           /* about so many are traced of a larger one, */
    UNHASHED_WARPS = 4096,  /* and of one on a GPU that does not hash addresses, */
    UNHASHED_PART = 2,      /* where one in so many SMs is traced at least */
    ROUNDS = 3,             /* of full occupancy that are traced at least */
    INSTRUCTIONS = 1 << 20, /* warp instructions that are traced at most, about */
    LEAST = 512,            /* of a warp, however many there are */
    /* Under an order there are no windows, and what comes last matters: a kernel may make all its atomics at its end. */
    ORDER_WHOLE = 1 << 16,        /* as WHOLE */
    ORDER_INSTRUCTIONS = 1 << 25, /* as INSTRUCTIONS */
};

/* How many SMs of a larger grid are traced, and about how many warps. Where channels take lines in turn, the traced SMs have
 * all channels at a lower speed (model/timing_memory.c), so that requests that one SM makes in a row wait as if all SMs
 * made theirs at once. With one of the 15 SMs of a GTX 480 the cycles of 40 random kernels differed from those with all SMs by
 * 9.2 % in the mean, 98 % at worst, with seven by 1.2 and 7.2 % (docs/estimate.md). */
static u32 sms_of_larger(const struct emu_machine *m, const struct emu_gpu *g, u64 warps,
                         u64 *traced)
{
    const bool hashed = emu_gpu_hashes_channels(g);
    const u64 least = hashed ? 1 : m->sms / UNHASHED_PART, sms = (u64)m->sms * WARPS / warps;
    *traced = hashed ? WARPS : UNHASHED_WARPS;
    return sms > least ? (u32)sms : least ? (u32)least : 1;
}

void trace_plan(struct trace *t, struct trace_arena *a, const struct emu_machine *m,
                const struct emu_gpu *g)
{
    const bool order = m->launch->order;
    const u64 warps = (u64)m->cta_count * m->warps_per_cta, whole = order ? ORDER_WHOLE : WHOLE;
    *t = (struct trace){.arena = a,
                        .sms_traced = m->sms,
                        .ctas_traced = m->cta_count,
                        .windows = !order,
                        .barriers = m->program->traced->barriers};
    if (!order && m->program->traced->handoff) {
        t->handoff = m->program->traced->handoff;
        t->published =
            (u32 *)(void *)cta_arena_take(a->cta_arena, TRACE_POLL_BUCKETS * sizeof(u32)).at;
        memset(t->published, 0, TRACE_POLL_BUCKETS * sizeof(u32));
    }
    if (warps > whole) {
        u64 some;
        t->sms_traced = sms_of_larger(m, g, warps, &some);
        const u64 rounds = (u64)m->slots_per_sm * ROUNDS,
                  own = some / (m->warps_per_cta * t->sms_traced),
                  last = (rounds > own ? rounds : own) * m->sms;
        if (last < m->cta_count) t->ctas_traced = (u32)last;
    }
    const u64 traced = (u64)t->ctas_traced * m->warps_per_cta * t->sms_traced / m->sms + 1,
              most = (order ? ORDER_INSTRUCTIONS : INSTRUCTIONS) / traced;
    t->most = most > LEAST ? (u32)most : LEAST;
}

static u32 common_divisor(u32 a, u32 b)
{
    while (b) {
        const u32 rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* In so many rounds as it takes until each place of a round was a traced SM's, all are once, in an order that has no
 * regular steps: multiples of about 5/8 of them. Then that begins again elsewhere, by a hash ("lowbias32": Wellons,
 * "Prospecting for Hash Functions", 2018). */
u32 trace_sm_of(u32 sms, u32 sms_traced, u32 linear)
{
    const u32 round = linear / sms, all = sms / (sms_traced ? sms_traced : sms);
    if (!sms_traced || sms_traced >= sms) return linear % sms;
    u32 step = all * 5 / 8 + 1, x = round / all;
    while (common_divisor(step, all) != 1) step++;
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
    return (linear % sms + round % all * step % all * sms_traced + x % sms) % sms;
}

void trace_arena_begin(struct trace_arena *a, struct cta_arena *cta_arena)
{
    *a = (struct trace_arena){.cta_arena = cta_arena};
    pthread_mutex_init(&a->lock, NULL);
}

void trace_arena_reset(struct trace_arena *a)
{
    cta_arena_reset(a->cta_arena);
    memset(a->free, 0, sizeof a->free);
}

enum { LEAST_PIECE = 8 }; /* its n */

/* At least `size` bytes: how many. What is in them is anything. */
static void *take(struct trace_arena *a, size_t *size)
{
    u32 n = LEAST_PIECE;
    while ((size_t)1 << n < *size) n++;
    *size = (size_t)1 << n;
    void *p = a->free[n];
    if (p) memcpy(&a->free[n], p, sizeof p);
    else p = cta_arena_take(a->cta_arena, *size).at;
    return p;
}

static void give_back(struct trace_arena *r, void *p, size_t size)
{
    const u32 n = (u32)__builtin_ctzll(size);
    memcpy(p, &r->free[n], sizeof p);
    r->free[n] = p;
}

/* So many elements at least. */
static void *grow(struct trace_arena *r, void *from, u32 *cap, u32 least, size_t each)
{
    size_t size = least * each;
    pthread_mutex_lock(&r->lock);
    void *to = take(r, &size);
    pthread_mutex_unlock(&r->lock);
    if (*cap) {
        memcpy(
            to, from,
            *cap *
                each); /* to pages that the host may have to give first: others do not wait for that */
        pthread_mutex_lock(&r->lock);
        give_back(r, from, *cap * each);
        pthread_mutex_unlock(&r->lock);
    }
    *cap = (u32)(size / each);
    return to;
}

void trace_grow_words(struct trace_cta *c, struct trace_warp *w)
{
    w->words = grow(c->arena, w->words, &w->cap, w->cap ? 2 * w->cap : 64, sizeof *w->words);
}

void trace_reserve_lines(struct trace_cta *c, uint32_t count)
{
    if (count < 256) count = 256;
    if (count > c->line_cap)
        c->lines = grow(c->arena, c->lines, &c->line_cap, count, sizeof *c->lines);
}

struct trace_cta *trace_begin(struct trace *t, const struct emu_machine *m, uint32_t linear)
{
    const bool late = linear >= t->ctas_traced ||
                      trace_sm_of(m->sms, t->sms_traced, linear) >= t->sms_traced;
    if ((late && !t->windows) || m->program->block_count > TRACE_BLOCKS) return NULL;
    const size_t warps = m->warps_per_cta * sizeof(struct trace_warp);
    size_t size = sizeof(struct trace_cta) + warps;
    pthread_mutex_lock(&t->arena->lock);
    struct trace_cta *c = take(t->arena, &size);
    pthread_mutex_unlock(&t->arena->lock);
    *c = (struct trace_cta){.linear = linear,
                            .warp_count = m->warps_per_cta,
                            .arena = t->arena,
                            .warps = (struct trace_warp *)(c + 1),
                            .late = late};
    trace_windows_begin(t, c);
    if (late) return c;
    pthread_mutex_lock(&t->arena->lock);
    c->next = t->first;
    t->first = c;
    pthread_mutex_unlock(&t->arena->lock);
    return c;
}

/* ---- heavy CTAs --------------------------------------------------------------------------------------- */

uint64_t trace_longest(const struct trace_cta *c)
{
    u64 most = 0;
    for (u32 w = 0; w < c->warp_count; w++)
        if (c->warps[w].instructions > most) most = c->warps[w].instructions;
    return most;
}

static void drop(struct trace_arena *a, struct trace_cta *c)
{
    size_t size = (size_t)1 << LEAST_PIECE;
    while (size < sizeof *c + c->warp_count * sizeof *c->warps) size *= 2;
    for (u32 w = 0; w < c->warp_count; w++)
        if (c->warps[w].cap)
            give_back(a, c->warps[w].words, c->warps[w].cap * sizeof *c->warps->words);
    if (c->line_cap) give_back(a, c->lines, c->line_cap * sizeof *c->lines);
    give_back(a, c, size);
}

/* Of CTAs with equally long warps the first one is heavier, so that the order in which they end has no effect. */
static bool is_lighter(const struct trace_cta *a, const struct trace_cta *b)
{
    const u64 x = trace_longest(a), y = trace_longest(b);
    return x < y || (x == y && a->linear > b->linear);
}

static void sift_down(struct trace *t)
{
    for (u32 i = 0, least;; i = least) {
        least = i;
        for (u32 k = 2 * i + 1; k <= 2 * i + 2 && k < t->heavy_count; k++)
            if (is_lighter(t->heavy[k], t->heavy[least])) least = k;
        if (least == i) return;
        struct trace_cta *other = t->heavy[i];
        t->heavy[i] = t->heavy[least];
        t->heavy[least] = other;
    }
}

static void sift_up(struct trace *t, u32 i)
{
    for (u32 up; i && (up = (i - 1) / 2, is_lighter(t->heavy[i], t->heavy[up])); i = up) {
        struct trace_cta *other = t->heavy[i];
        t->heavy[i] = t->heavy[up];
        t->heavy[up] = other;
    }
}

void trace_late_ended(struct trace *t, struct trace_cta *c)
{
    bool any = false;
    if (!c->late) return;
    for (u32 w = 0; w < c->warp_count; w++) any |= c->warps[w].windows || c->warps[w].length;
    pthread_mutex_lock(&t->arena->lock);
    if (any && t->heavy_count < TRACE_HEAVY) {
        t->heavy[t->heavy_count++] = c;
        sift_up(t, t->heavy_count - 1);
    } else if (any && is_lighter(t->heavy[0], c)) {
        drop(t->arena, t->heavy[0]);
        t->heavy[0] = c;
        sift_down(t);
    } else drop(t->arena, c);
    pthread_mutex_unlock(&t->arena->lock);
}

/* ---- the code ----------------------------------------------------------------------------------------- */

struct code { /* what is being put together */
    struct arena *arena;
    struct trace_inst *insts;
    u32 *regs;
    size_t reg_count, reg_cap;
    u32 numbers; /* of registers that were given */
    bool polls;
};

static u32 put_regs(struct code *k, const struct ptx_flow *f, u32 stmt, u32 how)
{
    u32 n = 0;
    for (u32 u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++) {
        if (!(f->uses[u].how & how)) continue;
        k->regs = arena_grow(k->arena, k->regs, k->reg_count, &k->reg_cap, k->reg_count + 1,
                             sizeof *k->regs);
        k->regs[k->reg_count++] = k->numbers + f->uses[u].reg;
        n++;
    }
    return n;
}

static u8 groups_of(const struct ptx_inst *wait)
{
    const u64 n = wait->opnds[0].bits;
    return n < UINT8_MAX ? (u8)n : UINT8_MAX;
}

/* Of global or generic memory: what another thread may wait for, or waits for. */
static enum trace_handoff handoff_of(const struct ptx_op *op, enum ptx_poll poll)
{
    const unsigned effects = op ? op->form->effects : 0;
    if (!op || ptx_op_has(op, "shared") || ptx_op_has(op, "shared::cta") ||
        ptx_op_has(op, "shared::cluster"))
        return TRACE_HANDOFF_NONE;
    if (effects & PTX_ATOMIC) return TRACE_PUBLISHES;
    if (op->form->unit != PTX_UNIT_MEM || !ptx_op_is_strong(op)) return TRACE_HANDOFF_NONE;
    static const enum trace_handoff polls[] = {[PTX_POLL_MOVING] = TRACE_POLLS_MOVING,
                                               [PTX_POLL_ANY] = TRACE_POLLS_ANY,
                                               [PTX_POLL_VALUE] = TRACE_POLLS_VALUE};
    if (poll) return polls[poll];
    return effects & PTX_READS ? TRACE_HANDOFF_NONE : TRACE_PUBLISHES;
}

/* The places of a function stand side by side, in the order of its statements. */
static void put_function(struct code *k, const struct emu_program *p, const struct emu_code *c)
{
    struct arena *scratch = arena_new();
    const struct ptx_flow *f = ptx_flow_new(scratch, ptx_cfg_new(scratch, c->func));
    const struct ptx_body *body = c->func->body;
    const bool *combined = trace_combined(scratch, f);
    const u8 *polls = ptx_find_polls(scratch, f);
    const bool *waits = polls ? ptx_find_polling_loops(scratch, f, polls) : NULL;
    const u8 *unrolled = ptx_find_unrolled(scratch, f);
    size_t s = 0;
    for (u32 pc = 0; pc < p->place_count; pc++) {
        if (p->places[pc].code != c) continue;
        struct trace_inst *i = &k->insts[pc];
        i->op = p->places[pc].inst->op;
        i->dead_result = p->places[pc].dead_result;
        if (ptx_op_form(i->op) == PTX_F_cp_async_wait) i->pending = groups_of(p->places[pc].inst);
        while (s < body->count &&
               !(body->stmts[s].kind == PTX_STMT_INST && body->stmts[s].inst == p->places[pc].inst))
            s++;
        if (s == body->count) break;
        if (unrolled && unrolled[s]) i->pending = unrolled[s];
        i->reg = (u32)k->reg_count;
        i->reads = put_regs(k, f, (u32)s, PTX_USE_READ);
        i->writes = put_regs(k, f, (u32)s, PTX_USE_WRITE);
        i->combined = combined && combined[s] &&
                      (i->dead_result || !i->writes || ptx_op_has(i->op, "add"));
        i->waits = waits && waits[s];
        i->handoff = (u8)handoff_of(i->op, polls ? polls[s] : PTX_POLL_NONE);
    }
    k->numbers += f->reg_count;
    k->polls |= polls != NULL;
    arena_free(scratch);
}

const struct trace_code *trace_code_new(struct arena *a, const struct emu_program *p)
{
    struct trace_code *out = arena_alloc(a, sizeof *out);
    struct code k = {.arena = a, .insts = arena_array(a, struct trace_inst, p->place_count)};
    for (u32 c = 0; c < p->code_count; c++) put_function(&k, p, p->codes[c]);
    for (u32 i = 0; i < p->place_count; i++) k.insts[i].place = i;
    struct trace_block *blocks = arena_array(a, struct trace_block, p->block_count);
    for (u32 b = 0; b < p->block_count; b++)
        blocks[b] = (struct trace_block){p->blocks[b].first_pc, p->blocks[b].count};
    u8 *barriers = arena_array(a, u8, p->block_count);
    for (u32 b = 0; b < p->block_count; b++)
        for (u32 i = 0; i < p->blocks[b].count && barriers[b] < UINT8_MAX; i++) {
            const struct ptx_op *op = k.insts[p->blocks[b].first_pc + i].op;
            if (!op || op->form->cost != PTX_COST_BARRIER) continue;
            barriers[b]++;
            out->barriers = barriers;
        }
    u32 *sites = arena_array(a, u32, p->site_count);
    for (u32 s = 1; s < p->site_count; s++) sites[s] = p->sites[s].pc;
    u8 *handoff = k.polls ? arena_array(a, u8, p->site_count) : NULL;
    for (u32 s = 1; handoff && s < p->site_count; s++)
        if (k.insts[sites[s]].handoff != TRACE_POLLS_MOVING) handoff[s] = k.insts[sites[s]].handoff;
    out->handoff = handoff;
    out->insts = k.insts, out->inst_count = p->place_count;
    out->regs = k.regs, out->reg_count = k.numbers;
    out->blocks = blocks, out->block_count = p->block_count;
    out->site_inst = sites, out->site_count = p->site_count;
    out->polls = k.polls;
    out->lockstep = trace_turns_fit(p);
    return out;
}

static int by_linear(const void *a, const void *b)
{
    const struct trace_cta *x = *(struct trace_cta *const *)a, *y = *(struct trace_cta *const *)b;
    return (x->linear > y->linear) - (x->linear < y->linear);
}

/* Ends the recording of a CTA. */
static void end_cta(struct trace_cta *c)
{
    trace_windows_end(c);
    if (c->resolved == c->line_count) return; /* else the launch has failed */
    trace_reserve_lines(c, c->line_count);
    memset(&c->lines[c->resolved], 0, (c->line_count - c->resolved) * sizeof *c->lines);
}

static void put_heavy(struct arena *a, struct trace *t, struct emu_trace *out)
{
    const struct trace_cta **list = arena_array(a, const struct trace_cta *, t->heavy_count);
    for (u32 k = 0; k < t->heavy_count; k++) {
        end_cta(t->heavy[k]);
        list[k] = t->heavy[k];
    }
    if (t->heavy_count) qsort(list, t->heavy_count, sizeof *list, by_linear);
    out->heavy = list;
    out->heavy_count = t->heavy_count;
}

struct emu_trace *trace_end(struct arena *a, struct trace *t, const struct emu_machine *m)
{
    struct emu_trace *out = arena_alloc(a, sizeof *out);
    u32 count = 0;
    for (const struct trace_cta *c = t->first; c; c = c->next) count++;
    const struct trace_cta **list = arena_array(a, const struct trace_cta *, count);
    count = 0;
    for (struct trace_cta *c = t->first; c; c = c->next) {
        list[count++] = c;
        end_cta(c);
        for (u32 w = 0; w < c->warp_count; w++) {
            out->instructions += c->warps[w].instructions;
            out->recorded += c->warps[w].recorded;
            out->cut |= c->warps[w].cut;
        }
    }
    if (count) qsort(list, count, sizeof(struct trace_cta *), by_linear);
    put_heavy(a, t, out);
    out->atomics = m->caches ? m->caches->atomics : NULL;
    out->polls = m->program->traced->polls;
    out->lanes = true;
    out->sms = m->sms;
    out->sms_traced = t->sms_traced;
    out->recorded_sms = t->sms_traced;
    out->cta_count = count;
    out->ctas = list;
    const struct trace_code *code = m->program->traced;
    out->insts = code->insts, out->inst_count = code->inst_count;
    out->regs = code->regs, out->reg_count = code->reg_count;
    out->blocks = code->blocks, out->block_count = code->block_count;
    out->site_inst = code->site_inst, out->site_count = code->site_count;
    return out;
}
