/* A launch with a quarter of the CTAs, in which each thread computes the results of four threads: of 2 x 2 neighbours, or of
 * 4 neighbours in a row if the grid has one row (Volkov, "Better Performance at Lower Occupancy", GTC 2010).
 *
 * A warp of a merged CTA executes the instructions of the warps with its number in the four CTAs. Loads that access the same
 * lines in two of the four execute once, and so do instructions that use only their results, and instructions that only
 * count iterations or compute addresses. All others execute for each of the four, in separate registers and so independently.
 *
 * CTAs are not merged if their warps take different paths, or if not all CTAs were traced. The additional registers of the
 * code are not modelled. */
#include "model/timing_internal.h"
#include "model/what_if_rewrite.h"
#include "ptx/isa.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum { FOUR = 4 };

/* Which of the four do the same: those with one number do. */
struct alike {
    u8 as[FOUR]; /* the first of the four that does the same */
};

struct merge {
    const struct emu_trace *from;
    u32 columns, rows;      /* of the CTAs that become one */
    struct alike *of_inst;  /* by instruction */
    struct emu_trace trace; /* the merged one */
    struct emu_counts counts;
    struct emu_phase phase;
};

static const struct alike all_alike;

/* Those that are alike in both. */
static struct alike both(struct alike a, struct alike b)
{
    struct alike to;
    for (u32 k = 0; k < FOUR; k++)
        for (to.as[k] = 0; a.as[to.as[k]] != a.as[k] || b.as[to.as[k]] != b.as[k];) to.as[k]++;
    return to;
}

static bool equal(struct alike a, struct alike b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- the four CTAs ---------------------------------------------------------------------------------------------- */

/* CTA number `k` of the four that become number `merged`. */
static const struct trace_cta *one_of(const struct merge *m, const u32 *grid, u32 merged, u32 k)
{
    const u32 wide = grid[0] / m->columns, x = merged % wide * m->columns + k % m->columns,
              y = merged / wide * m->rows + k / m->columns;
    return m->from->ctas[y * grid[0] + x];
}

static bool same_lines(const struct trace_cta *a, const u32 *x, const struct trace_cta *b,
                       const u32 *y)
{
    if (x[2] != y[2]) return false;
    for (u32 i = 0; i < TRACE_SIZE_N(x[2]); i++) {
        const struct trace_line *p = &a->lines[x[1] + i], *q = &b->lines[y[1] + i];
        if (p->line != q->line || p->sectors != q->sectors) return false;
    }
    return true;
}

/* Whether the warps take one path; loads that differ are marked so. */
static bool compare_warps(struct merge *m, const struct trace_cta *const *four, u32 warp)
{
    const struct trace_warp *a = &four[0]->warps[warp];
    for (u32 k = 1; k < FOUR; k++)
        if (four[k]->warps[warp].count != a->count) return false;
    for (u32 at = 0; at < a->count; at += rewrite_length(a->words + at)) {
        const u32 *x = a->words + at;
        struct alike here = all_alike;
        for (u32 k = 0; k < FOUR; k++) {
            const u32 *y = four[k]->warps[warp].words + at;
            if (x[0] != y[0] || rewrite_length(x) != rewrite_length(y)) return false;
            if (rewrite_is_block(x[0])) continue;
            here.as[k] = (u8)k;
            for (u8 j = 0; j < k && here.as[k] == k; j++)
                if (rewrite_is_load(four[j], four[j]->warps[warp].words + at) &&
                    same_lines(four[j], four[j]->warps[warp].words + at, four[k], y))
                    here.as[k] = here.as[j];
        }
        if (rewrite_is_block(x[0])) continue;
        struct alike *inst = &m->of_inst[m->from->site_inst[x[0] >> 2]];
        *inst = both(*inst, here);
    }
    return true;
}

/* An instruction differs where something that it reads does. */
static void follow_registers(struct merge *m)
{
    const struct emu_trace *t = m->from;
    struct alike *of = timing_calloc((size_t)t->reg_count + 1, sizeof *of);
    for (bool again = true; again;) {
        again = false;
        for (u32 i = 0; i < t->inst_count; i++) {
            const struct trace_inst *x = &t->insts[i];
            struct alike now = m->of_inst[i];
            for (u32 k = 0; k < x->reads; k++) now = both(now, of[t->regs[x->reg + k]]);
            again |= !equal(now, m->of_inst[i]);
            m->of_inst[i] = now;
            for (u32 k = x->reads; k < x->reads + x->writes; k++) {
                struct alike *r = &of[t->regs[x->reg + k]];
                const struct alike more = both(*r, now);
                again |= !equal(more, *r);
                *r = more;
            }
        }
    }
    free(of);
}

/* ---- the code ------------------------------------------------------------------------------------------------------ */

struct step { /* an instruction of the merged code */
    u32 inst;
    u8 copy;
};
struct order {
    struct merge *m;
    struct step *steps; /* of the merged code, in order */
    u32 count;
    u32 *step_of; /* by instruction and copy: its step, and one; 0: it has none yet */
    u32 *loads;   /* instructions of the block that are deferred until something uses them */
    u32 load_count;
};

static void put_step(struct order *o, u32 inst, u32 copy)
{
    if (o->step_of[FOUR * inst + copy]) return;
    o->steps[o->count++] = (struct step){inst, (u8)copy};
    o->step_of[FOUR * inst + copy] = o->count;
}

/* All deferred loads. */
static void put_loads(struct order *o)
{
    for (u32 i = 0; i < o->load_count; i++)
        for (u32 k = 0; k < FOUR; k++)
            if (o->m->of_inst[o->loads[i]].as[k] == k) put_step(o, o->loads[i], k);
    o->load_count = 0;
}

static bool writes(const struct emu_trace *t, u32 inst, u32 reg)
{
    const struct trace_inst *x = &t->insts[inst];
    for (u32 n = 0; n < x->writes; n++)
        if (t->regs[x->reg + x->reads + n] == reg) return true;
    return false;
}

/* The deferred loads whose results the copy reads. */
static void put_operands(struct order *o, u32 inst, u32 copy)
{
    const struct emu_trace *t = o->m->from;
    const struct trace_inst *x = &t->insts[inst];
    for (u32 k = 0; k < x->reads; k++)
        for (u32 i = o->load_count; i-- > 0;) {
            if (!writes(t, o->loads[i], t->regs[x->reg + k])) continue;
            put_step(o, o->loads[i], o->m->of_inst[o->loads[i]].as[copy]);
            break;
        }
}

/* As compilers write a loop over the four results: one after another, each with the loads that those before it lack, right
 * before they are used. A machine that is not `scheduled` (model/timing.h) executes them in this order. */
static void put_block_code(struct order *o, u32 begin, u32 end)
{
    const struct emu_trace *t = o->m->from;
    for (u32 i = begin; i < end; i++) {
        const struct ptx_op *op = t->insts[i].op;
        const struct alike of = o->m->of_inst[i];
        const u32 effects = op ? op->form->effects : PTX_EFFECT;
        if (effects == PTX_READS && !equal(of, all_alike)) {
            o->loads[o->load_count++] = i;
            continue;
        }
        if (effects) put_loads(o);
        for (u32 k = 0; k < FOUR; k++) {
            if (of.as[k] != k) continue;
            put_operands(o, i, k);
            put_step(o, i, k);
        }
    }
    put_loads(o);
}

/* By register: in which of the four it has the same value. */
static struct alike *alike_registers(const struct merge *m)
{
    const struct emu_trace *t = m->from;
    struct alike *of = timing_calloc((size_t)t->reg_count + 1, sizeof *of);
    for (u32 i = 0; i < t->inst_count; i++)
        for (u32 k = 0; k < t->insts[i].writes; k++) {
            struct alike *r = &of[t->regs[t->insts[i].reg + t->insts[i].reads + k]];
            *r = both(*r, m->of_inst[i]);
        }
    return of;
}

/* Copy k of an instruction uses the registers k * reg_count further on, as far as the values in them differ. */
static void write_steps(struct merge *m, const struct order *o)
{
    const struct emu_trace *t = m->from;
    struct alike *of = alike_registers(m);
    u32 end = 0, reg = 0;
    for (u32 i = 0; i < o->count; i++)
        end += t->insts[o->steps[i].inst].reads + t->insts[o->steps[i].inst].writes;
    struct trace_inst *insts = timing_calloc((size_t)o->count + 1, sizeof *insts);
    u32 *regs = timing_calloc((size_t)end + 1, sizeof *regs);
    for (u32 i = 0; i < o->count; i++) {
        struct trace_inst x = t->insts[o->steps[i].inst];
        for (u32 r = 0; r < (u32)x.reads + x.writes; r++) {
            const u32 old = t->regs[x.reg + r];
            regs[reg + r] = old + of[old].as[o->steps[i].copy] * t->reg_count;
        }
        x.reg = reg;
        reg += x.reads + x.writes;
        insts[i] = x;
    }
    free(of);
    m->trace.insts = insts, m->trace.inst_count = o->count;
    m->trace.regs = regs, m->trace.reg_count = FOUR * t->reg_count;
}

static void copy_code(struct merge *m)
{
    const struct emu_trace *t = m->from;
    const size_t most = (size_t)FOUR * t->inst_count + 1;
    struct order o = {.m = m};
    struct trace_block *blocks = rewrite_copy(t->blocks, t->block_count * sizeof *blocks);
    u32 *sites = timing_calloc((size_t)FOUR * t->site_count + 1, sizeof *sites), next = 0;
    o.steps = timing_calloc(most, sizeof *o.steps);
    o.step_of = timing_calloc(most, sizeof *o.step_of);
    o.loads = timing_calloc((size_t)t->inst_count + 1, sizeof *o.loads);
    for (u32 b = 0; b < t->block_count; b++) { /* in the order of their instructions */
        const u32 first = t->blocks[b].first, past = first + t->blocks[b].count;
        put_block_code(&o, next, first);
        blocks[b].first = o.count;
        put_block_code(&o, first, past);
        blocks[b].count = o.count - blocks[b].first;
        next = past;
    }
    put_block_code(&o, next, t->inst_count);
    write_steps(m, &o);
    for (u32 k = 0; k < FOUR; k++)
        for (u32 s = 0; s < t->site_count; s++) {
            const u32 step = o.step_of[FOUR * t->site_inst[s] + k];
            sites[s + k * t->site_count] = step ? step - 1 : o.count;
        }
    m->trace.site_inst = sites, m->trace.site_count = FOUR * t->site_count;
    m->trace.blocks = blocks;
    free(o.steps);
    free(o.step_of);
    free(o.loads);
}

/* ---- the merged CTAs ------------------------------------------------------------------------------------------------- */

static void put_access(const struct merge *m, const struct trace_cta *from, const u32 *words, u32 k,
                       struct trace_cta *to, struct rewrite_words *out)
{
    const u32 n = rewrite_length(words), tag = words[0] & 3;
    u32 *own = rewrite_copy(words, n * sizeof *own);
    own[0] = ((words[0] >> 2) + k * m->from->site_count) << 2 | tag;
    if (tag != TRACE_SHARED) {
        own[1] = to->line_count;
        for (u32 i = 0; i < TRACE_SIZE_N(words[2]); i++)
            (void)rewrite_add_line(to, from->lines[words[1] + i]);
    }
    rewrite_put(out, own, n);
    free(own);
}

struct own_access { /* of the merged warp, in a block */
    u32 step, at;   /* where it is in the four warps */
    u8 copy;
};

static int by_step(const void *a, const void *b)
{
    const struct own_access *x = a, *y = b;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step)
                              : (x->at > y->at) - (x->at < y->at);
}

/* The accesses of a block, in the order of its instructions. */
static void put_accesses(const struct merge *m, const struct trace_cta *const *four, u32 warp,
                         struct own_access *list, u32 count, struct trace_cta *to,
                         struct rewrite_words *out)
{
    if (count) qsort(list, count, sizeof *list, by_step);
    for (u32 i = 0; i < count; i++)
        put_access(m, four[list[i].copy], four[list[i].copy]->warps[warp].words + list[i].at,
                   list[i].copy, to, out);
}

static void put_warp(const struct merge *m, const struct trace_cta *const *four, u32 warp,
                     struct trace_cta *to)
{
    const struct trace_warp *a = &four[0]->warps[warp];
    struct own_access *list = timing_calloc((size_t)FOUR * a->count + 1, sizeof *list);
    struct rewrite_words out = {0};
    u32 count = 0;
    for (u32 at = 0; at < a->count; at += rewrite_length(a->words + at)) {
        const u32 word = a->words[at];
        if (rewrite_is_block(word)) {
            put_accesses(m, four, warp, list, count, to, &out);
            rewrite_put(&out, &word, 1);
            count = 0;
            continue;
        }
        const struct alike of = m->of_inst[m->from->site_inst[word >> 2]];
        for (u32 k = 0; k < FOUR; k++) {
            const u32 step = m->trace.site_inst[(word >> 2) + k * m->from->site_count];
            if (of.as[k] == k) list[count++] = (struct own_access){step, at, (u8)k};
        }
    }
    put_accesses(m, four, warp, list, count, to, &out);
    rewrite_end(&to->warps[warp], &out);
    free(list);
}

static bool take_four(const struct merge *m, const u32 *grid, u32 merged,
                      const struct trace_cta **four)
{
    for (u32 k = 0; k < FOUR; k++) {
        four[k] = one_of(m, grid, merged, k);
        if (four[k]->warp_count != four[0]->warp_count) return false;
    }
    return true;
}

/* Two by two, or four in a row. false: the grid cannot be divided so. */
static bool choose_shape(struct merge *m, const struct emu_counts *c)
{
    m->columns = c->grid[1] > 1 ? 2 : 4, m->rows = FOUR / m->columns;
    return c->grid[2] == 1 && c->grid[0] % m->columns == 0 && c->grid[1] % m->rows == 0;
}

static bool is_whole(const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    if (!t || t->cta_count != c->ctas || t->heavy_count) return false;
    for (u32 i = 0; i < t->cta_count; i++)
        if (t->ctas[i]->linear != i) return false;
    for (u32 s = 0; s < t->site_count; s++)
        if (t->site_inst[s] >= t->inst_count) return false;
    return true;
}

static void merge_free(struct merge *m)
{
    if (m->trace.ctas) rewrite_free(m->trace.ctas, m->trace.cta_count);
    free((void *)m->trace.insts);
    free((void *)m->trace.blocks);
    free((void *)m->trace.regs);
    free((void *)m->trace.site_inst);
    free(m->of_inst);
}

static bool merge(struct merge *m, const struct emu_counts *c)
{
    const struct trace_cta *four[FOUR];
    const u32 count = m->from->cta_count / FOUR;
    m->of_inst = timing_calloc((size_t)m->from->inst_count + 1, sizeof *m->of_inst);
    for (u32 i = 0; i < count; i++) {
        if (!take_four(m, c->grid, i, four)) return false;
        for (u32 w = 0; w < four[0]->warp_count; w++)
            if (!compare_warps(m, four, w)) return false;
    }
    follow_registers(m);
    m->trace = *m->from;
    m->trace.ctas = NULL;
    copy_code(m);
    m->trace.ctas = timing_calloc(count + 1, sizeof *m->trace.ctas);
    m->trace.cta_count = count, m->trace.instructions = 0;
    for (u32 i = 0; i < count; i++) {
        (void)take_four(m, c->grid, i, four);
        struct trace_cta *to = rewrite_cta(four[0]);
        to->linear = i;
        m->trace.ctas[i] = to;
        for (u32 w = 0; w < to->warp_count; w++) {
            put_warp(m, four, w, to);
            m->trace.instructions += to->warps[w].instructions;
        }
    }
    m->phase = c->phases[0];
    m->phase.total.warp_instructions = m->trace.instructions;
    m->counts = *c;
    m->counts.trace = &m->trace, m->counts.phases = &m->phase, m->counts.phase_count = 1;
    m->counts.ctas = count;
    m->counts.grid[0] /= m->columns, m->counts.grid[1] /= m->rows;
    return true;
}

double what_if_four_results(const struct emu_counts *c, const uint8_t *changes,
                            struct what_if_counted *counted)
{
    struct merge m = {.from = c->trace};
    double cycles = 0;
    *counted = (struct what_if_counted){0};
    if (!is_whole(c) || !choose_shape(&m, c)) return 0;
    if (merge(&m, c)) cycles = what_if_cycles(&m.counts, changes, counted);
    merge_free(&m);
    return cycles;
}
