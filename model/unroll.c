#include "model/unroll.h"

#include "model/schedule.h"
#include "model/timing_internal.h"
#include "ptx/isa.h"
#include "ptx/unroll.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

enum { MOST_ROUNDS = 64 };

struct copy {  /* a block of several rounds */
    u32 block; /* and one; 0: it was not made yet */
    u32 sites; /* of its first round; those of the others follow */
};

struct loop {
    u32 rounds; /* of a group */
    u32 most;   /* rounds that are put in order together */
    u8 rest;    /* enum ptx_unroll_rest */
    u32 sites;  /* that its instructions have */
    u32 test;   /* the comparison, which only the branch needs: in the block, from 1 on */
    struct copy copy[MOST_ROUNDS];
};

struct list { /* that grows */
    void *of;
    u32 count, capacity;
};

struct rewriting {
    const struct emu_trace *t;
    bool keeps;                             /* each instruction is there as often as before */
    struct loop **loops;                    /* by block; NULL: it is none */
    struct list insts, regs, blocks, sites; /* what the new trace has */
    u32 *site_number;                       /* by site: its number among those of its block */
    u32 *name;                              /* by register: what it is called now */
    u32 names, most_names;                  /* given in this block; in any */
};

static void *grow(struct list *l, u32 more, size_t size)
{
    if (l->capacity - l->count < more) {
        l->capacity = 2 * (l->count + more);
        l->of = realloc(l->of, l->capacity * size);
        if (!l->of) abort();
    }
    l->count += more;
    return (char *)l->of + (l->count - more) * size;
}

static void begin_list(struct list *l, const void *of, u32 count, size_t size)
{
    void *to = grow(l, count, size);
    if (count) memcpy(to, of, count * size);
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

static const struct trace_inst *last_of(const struct emu_trace *t, u32 block)
{
    return &t->insts[t->blocks[block].first + t->blocks[block].count - 1];
}

static bool is_branch(const struct trace_inst *i)
{
    return i->op && ptx_op_form(i->op) == PTX_F_bra;
}

/* How many rounds of the block fit into the scheduler, and into registers. */
static u32 most_rounds(const struct emu_trace *t, const struct trace_block *b)
{
    u32 loads = 0;
    for (u32 k = 0; k < b->count; k++) {
        const struct trace_inst *i = &t->insts[b->first + k];
        loads += i->op && i->op->form->effects & PTX_READS && i->writes;
    }
    const u32 by_loads = loads ? UNROLL_LOADS / loads : UNROLL_LOADS,
              by_window = SCHEDULE_WINDOW / b->count;
    return by_loads < by_window ? by_loads : by_window;
}

static bool names(const struct emu_trace *t, const struct trace_inst *i, u32 from, u32 to, u32 reg)
{
    for (u32 k = from; k < to; k++)
        if (t->regs[i->reg + k] == reg) return true;
    return false;
}

/* struct loop.test; 0: there is none. */
static u32 find_test(const struct emu_trace *t, const struct trace_block *b)
{
    const struct trace_inst *branch = &t->insts[b->first + b->count - 1];
    u32 test = 0;
    if (branch->reads != 1) return 0;
    const u32 guard = t->regs[branch->reg];
    for (u32 k = 0; k + 1 < b->count; k++) {
        const struct trace_inst *i = &t->insts[b->first + k];
        if (names(t, i, 0, i->reads, guard)) return 0;
        if (names(t, i, i->reads, i->reads + i->writes, guard)) test = i->writes == 1 ? k + 1 : 0;
    }
    return test;
}

/* false: there is none. */
static bool find_loops(struct rewriting *r)
{
    const struct emu_trace *t = r->t;
    bool any = false;
    for (u32 b = 0; b < t->block_count; b++) {
        if (t->blocks[b].count < 2 || !is_branch(last_of(t, b)) || !last_of(t, b)->pending)
            continue;
        const u8 unrolled = last_of(t, b)->pending;
        const u32 most = most_rounds(t, &t->blocks[b]);
        if (most < 2 || PTX_UNROLL_ROUNDS(unrolled) < 2 || !find_test(t, &t->blocks[b])) continue;
        if (!any) r->loops = timing_calloc(t->block_count, sizeof *r->loops);
        r->loops[b] = timing_calloc(1, sizeof **r->loops);
        *r->loops[b] = (struct loop){PTX_UNROLL_ROUNDS(unrolled), most,
                                     PTX_UNROLL_REST(unrolled),   0,
                                     find_test(t, &t->blocks[b]), {{0}}};
        any = true;
    }
    return any;
}

static void number_sites(struct rewriting *r)
{
    const struct emu_trace *t = r->t;
    u32 *block_of = timing_calloc(t->inst_count, sizeof *block_of);
    r->site_number = timing_calloc(t->site_count, sizeof *r->site_number);
    for (u32 b = 0; b < t->block_count; b++)
        for (u32 k = 0; r->loops[b] && k < t->blocks[b].count; k++)
            block_of[t->blocks[b].first + k] = b + 1;
    for (u32 s = 0; s < t->site_count; s++) {
        const u32 b = t->site_inst[s] < t->inst_count ? block_of[t->site_inst[s]] : 0;
        if (b) r->site_number[s] = r->loops[b - 1]->sites++;
    }
    free(block_of);
}

/* ---- a block of several rounds ---------------------------------------------------------------------------------- */

static u32 new_name(struct rewriting *r)
{
    if (++r->names > r->most_names) r->most_names = r->names;
    return r->t->reg_count + r->names - 1;
}

/* The instruction in a round. What it writes is called as before in the last round, since the code behind the loop reads it
 * there. */
static void put_inst(struct rewriting *r, const struct trace_inst *from, u32 *written, u32 round,
                     bool last)
{
    const u32 *regs = r->t->regs + from->reg, all = from->reads + from->writes;
    u32 *to = grow(&r->regs, all, sizeof *to);
    struct trace_inst *i = grow(&r->insts, 1, sizeof *i);
    *i = *from;
    i->reg = r->regs.count - all;
    for (u32 k = 0; k < from->reads; k++) to[k] = r->name[regs[k]];
    for (u32 k = from->reads; k < all; k++) {
        if (written[regs[k]] != round + 1) r->name[regs[k]] = last ? regs[k] : new_name(r);
        written[regs[k]] = round + 1;
        to[k] = r->name[regs[k]];
    }
}

/* Instead of a branch that machine code does not have: another comparison, which holds up nothing. */
static void put_no_branch(struct rewriting *r, const struct trace_inst *branch,
                          const struct trace_inst *test, u32 *written, u32 round)
{
    put_inst(r, branch, written, round, false);
    struct trace_inst *i = &((struct trace_inst *)r->insts.of)[r->insts.count - 1];
    i->op = test->op, i->pending = 0;
}

/* The instructions of a round. */
static void put_round(struct rewriting *r, u32 b, u32 *written, u32 round, bool last, u32 *place)
{
    const struct trace_block *block = &r->t->blocks[b];
    const struct trace_inst *insts = r->t->insts + block->first;
    const u32 test = r->loops[b]->test;
    for (u32 k = 0; k < block->count; k++) {
        const bool branch = k + 1 == block->count;
        place[k] = r->insts.count;
        if (r->keeps && branch && !last)
            put_no_branch(r, &insts[k], &insts[test - 1], written, round);
        else if (last || r->keeps || !(branch || k + 1 == test))
            put_inst(r, &insts[k], written, round, last);
    }
}

static void make_copy(struct rewriting *r, u32 b, u32 rounds)
{
    const struct emu_trace *t = r->t;
    const struct trace_block *block = &t->blocks[b];
    struct copy *c = &r->loops[b]->copy[rounds - 1];
    u32 *written = timing_calloc(t->reg_count, sizeof *written);
    const u32 at = r->insts.count;
    r->names = 0;
    for (u32 i = 0; i < t->reg_count; i++) r->name[i] = i;
    c->sites = r->sites.count;
    u32 *sites = grow(&r->sites, rounds * r->loops[b]->sites, sizeof *sites),
        *place = timing_calloc(block->count, sizeof *place);
    for (u32 round = 0; round < rounds; round++) {
        put_round(r, b, written, round, round == rounds - 1, place);
        for (u32 s = 0; s < t->site_count; s++)
            if (t->site_inst[s] - block->first < block->count)
                sites[round * r->loops[b]->sites + r->site_number[s]] =
                    place[t->site_inst[s] - block->first];
    }
    c->block = r->blocks.count + 1;
    *(struct trace_block *)grow(&r->blocks, 1, sizeof(struct trace_block)) = (struct trace_block){
        at, r->insts.count - at};
    free(place);
    free(written);
}

/* ---- warps ------------------------------------------------------------------------------------------------------ */

struct run { /* rounds of a loop, one after the other */
    u32 block, count;
    const u32 *words; /* of the first */
    u32 length;       /* of all */
    u32 left
        [2]; /* bits: lanes left it after a number of rounds that is odd; after one of which 2 is a part */
    u32 most_left; /* of lanes that left: the most rounds beyond a multiple of the loop's */
};

/* The words of a block's visit. 0: among them is what another block does. */
static u32 visit(const struct emu_trace *t, const struct trace_block *block, const u32 *words,
                 u32 left)
{
    u32 at = 1;
    for (; at < left && (words[at] & 3) != TRACE_BLOCK; at += 1 + trace_access_words(words + at)) {
        const u32 inst = t->site_inst[words[at] >> 2];
        if (inst < block->first || inst - block->first >= block->count) return 0;
    }
    return at;
}

static void note_left(struct run *run, u32 rounds, u32 of_group)
{
    const u32 rest = rounds % of_group;
    run->left[0] |= rest & 1, run->left[1] |= rest >> 1 & 1;
    if (rest > run->most_left) run->most_left = rest;
}

/* The rounds that begin with the warp's word at `at`. */
static struct run find_run(const struct rewriting *r, const struct trace_warp *w, u32 at)
{
    const u32 head = w->words[at], block = TRACE_BLOCK_OF(head);
    const u32 rounds = r->loops[block]->rounds;
    struct run run = {.block = block, .words = w->words + at};
    u32 idle = TRACE_IDLE_OF(head);
    while (at < w->count && TRACE_BLOCK_OF(w->words[at]) == block &&
           (w->words[at] & 3) == TRACE_BLOCK &&
           TRACE_LEVEL_OF(w->words[at]) == TRACE_LEVEL_OF(head)) {
        const u32 size = visit(r->t, &r->t->blocks[block], w->words + at, w->count - at);
        if (!size) break;
        if (!TRACE_LEVEL_OF(head) && TRACE_IDLE_OF(w->words[at]) > idle)
            note_left(&run, run.count, rounds);
        idle = TRACE_IDLE_OF(w->words[at]);
        run.count++, run.length += size, at += size;
    }
    note_left(&run, run.count, rounds);
    return run;
}

enum { MOST_TAIL = 16 };
struct groups {          /* of a run */
    u32 full;            /* first so many, each of all rounds of a group */
    u32 tail[MOST_TAIL]; /* rounds of those behind them */
    u32 count;
};

/* Puts `rounds` into so many groups. */
static void split(struct groups *g, u32 rounds, u32 into)
{
    for (; into; into--) {
        const u32 size = (rounds + into - 1) / into;
        g->tail[g->count++] = size;
        rounds -= size;
    }
}

/* Lanes that left the loop earlier have what they had left with the others' rest: more groups than that has. The trace has
 * their rounds in the last full group, of which there are more pieces then. */
static struct groups groups_of(const struct loop *l, const struct run *run)
{
    const u32 rest = run->count % l->rounds;
    struct groups g = {.full = run->count / l->rounds};
    const u32 own = l->rest == PTX_UNROLL_WHOLE  ? rest > 0
                    : l->rest == PTX_UNROLL_ONES ? rest
                                                 : (rest >> 1) + (rest & 1);
    const u32 wanted = l->rest == PTX_UNROLL_WHOLE  ? own
                       : l->rest == PTX_UNROLL_ONES ? run->most_left
                                                    : run->left[0] + run->left[1];
    const u32 more = wanted > own ? wanted - own : 0;
    if (more && g.full) g.full--, split(&g, l->rounds, more + 1);
    if (more && !g.full && !g.count) split(&g, rest, rest < wanted ? rest : wanted);
    else if (l->rest == PTX_UNROLL_HALVES) {
        if (rest > 1) g.tail[g.count++] = rest & ~1u;
        if (rest & 1) g.tail[g.count++] = 1;
    } else split(&g, rest, own);
    return g;
}

/* Writes a group, whose rounds begin at `from`. Returns the words that it has there. */
static u32 put_group(struct rewriting *r, u32 b, u32 rounds, const u32 *from, u32 left, u32 *to,
                     u32 *count)
{
    const struct trace_block *block = &r->t->blocks[b];
    const struct loop *l = r->loops[b];
    u32 at = 0, idle = 0, *const head = to + (*count)++;
    assert(rounds);
    if (rounds > 1 && !l->copy[rounds - 1].block) make_copy(r, b, rounds);
    const struct copy *c = &l->copy[rounds - 1];
    for (u32 round = 0; round < rounds; round++) {
        const u32 end = at + visit(r->t, block, from + at, left - at);
        idle += TRACE_IDLE_OF(from[at++]);
        while (at < end) {
            const u32 size = 1 + trace_access_words(from + at), word = from[at];
            memcpy(to + *count, from + at, size * sizeof *to);
            if (rounds > 1)
                to[*count] = (c->sites + round * l->sites + r->site_number[word >> 2]) << 2 |
                             (word & 3);
            *count += size, at += size;
        }
    }
    *head = rounds == 1 ? from[0]
                        : TRACE_BLOCK_WORD(c->block - 1, TRACE_LEVEL_OF(from[0]), idle / rounds) |
                              (from[0] & TRACE_UNSYNCED);
    return at;
}

/* Rewrites a warp's words. Returns how many there are then. */
static u32 put_warp(void *self, const struct trace_warp *w, u32 *to)
{
    struct rewriting *r = self;
    u32 count = 0;
    for (u32 at = 0; at < w->count;) {
        const u32 word = w->words[at];
        const bool begins = (word & 3) == TRACE_BLOCK && TRACE_LEVEL_OF(word) != TRACE_BARRIER &&
                            r->loops[TRACE_BLOCK_OF(word)];
        const struct run run = begins ? find_run(r, w, at) : (struct run){0};
        if (run.count < 2) {
            const u32 size = (word & 3) == TRACE_BLOCK ? 1 : 1 + trace_access_words(w->words + at);
            memcpy(to + count, w->words + at, size * sizeof *to);
            count += size, at += size;
            continue;
        }
        const struct groups g = groups_of(r->loops[run.block], &run);
        const u32 rounds = r->loops[run.block]->rounds, most = r->loops[run.block]->most,
                  end = at + run.length;
        for (u32 k = 0; k < g.full + g.count; k++) {
            u32 left = k < g.full ? rounds : g.tail[k - g.full];
            for (u32 pieces = (left + most - 1) / most; pieces; pieces--) {
                const u32 here = (left + pieces - 1) / pieces;
                at += put_group(r, run.block, here, w->words + at, end - at, to, &count);
                left -= here;
            }
        }
    }
    return count;
}

void unroll_take(const struct emu_trace *t, bool keeps, struct unroll *u)
{
    struct rewriting r = {.t = t, .keeps = keeps};
    *u = (struct unroll){.trace = *t};
    if (!find_loops(&r)) return;
    number_sites(&r);
    r.name = timing_calloc(t->reg_count, sizeof *r.name);
    u32 regs = 0;
    for (u32 i = 0; i < t->inst_count; i++) {
        const struct trace_inst *x = &t->insts[i];
        if (x->reg + x->reads + x->writes > regs) regs = x->reg + x->reads + x->writes;
    }
    begin_list(&r.insts, t->insts, t->inst_count, sizeof *t->insts);
    begin_list(&r.regs, t->regs, regs, sizeof *t->regs);
    begin_list(&r.blocks, t->blocks, t->block_count, sizeof *t->blocks);
    begin_list(&r.sites, t->site_inst, t->site_count, sizeof *t->site_inst);
    schedule_rewrite(&u->trace, u->owned, put_warp, &r);
    u->owned[4] = r.insts.of, u->owned[5] = r.regs.of, u->owned[6] = r.blocks.of,
    u->owned[7] = r.sites.of;
    u->trace.insts = r.insts.of, u->trace.inst_count = r.insts.count;
    u->trace.regs = r.regs.of, u->trace.reg_count = t->reg_count + r.most_names;
    u->trace.blocks = r.blocks.of, u->trace.block_count = r.blocks.count;
    u->trace.site_inst = r.sites.of, u->trace.site_count = r.sites.count;
    for (u32 b = 0; b < t->block_count; b++) free(r.loops[b]);
    free(r.loops);
    free(r.site_number);
    free(r.name);
}

void unroll_free(struct unroll *u)
{
    for (size_t i = 0; i < sizeof u->owned / sizeof *u->owned; i++) free(u->owned[i]);
}
