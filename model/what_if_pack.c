/* WHAT_IF_PACKED: executions of a block with idle lanes, packed into fewer ones with all lanes.
 *
 * A warp executes a block as often as its slowest lane does. If it executes one n times with l1, l2, ... ln active
 * lanes, then (l1 + ... + ln) / 32 executions with all lanes do the same work: a warp for each row of a matrix instead of
 * a lane, or other lanes taking over the remaining iterations. Consecutive executions are merged to one, with the lines and
 * lanes of all of them, at the first one's place in the trace.
 *
 * The active lanes of an execution are those of its accesses to memory; the trace has no others. Blocks without
 * accesses are assumed to have the mean of the launch. Blocks with atomics, barriers, fences or shuffles are not changed,
 * and no execution is moved across a barrier. Dependences between iterations are ignored. */
#include "model/what_if_rewrite.h"

#include "model/timing_internal.h"
#include "ptx/isa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;

enum { FIXED = PTX_ATOMIC | PTX_FENCE | PTX_BARRIER | PTX_LANES | PTX_EFFECT };

struct execution {  /* of a block */
    u32 at, end;    /* its words */
    u32 next, last; /* of the same group, the next one; of a group's first, the last one. 0: none */
    bool joins;     /* a group that an earlier one begins */
};
struct group { /* of executions of a block, that is open */
    u32 first; /* + 1; 0: none */
    /* Lanes that executed the block so far, and those that the first ones of groups can have. An execution in a window
     * counts as often as it stands for. */
    double lanes, kept;
};

static bool is_packed(const struct rewrite *r, u32 block)
{
    const struct emu_trace *t = r->counts->trace;
    const struct trace_block *b = &t->blocks[block];
    bool any = false;
    for (u32 i = b->first; i < b->first + b->count; i++) {
        const struct ptx_op *op = t->insts[i].op;
        if (op && op->form->effects & FIXED) return false;
        any |= r->changes[t->insts[i].place] == WHAT_IF_PACKED;
    }
    return any;
}

static bool has_barrier(const struct rewrite *r, u32 block)
{
    const struct emu_trace *t = r->counts->trace;
    const struct trace_block *b = &t->blocks[block];
    for (u32 i = b->first; i < b->first + b->count; i++)
        if (t->insts[i].op && t->insts[i].op->form->effects & PTX_BARRIER) return true;
    return false;
}

/* Active lanes of the block in the launch, in the mean. */
static double mean_lanes(const struct rewrite *r, u32 block)
{
    const struct trace_block *b = &r->counts->trace->blocks[block];
    double most = 0;
    for (u32 i = b->first; i < b->first + b->count; i++) {
        const struct emu_instruction *x =
            &r->counts->instructions[r->counts->trace->insts[i].place];
        if (x->warp) most = fmax(most, (double)x->thread / (double)x->warp);
    }
    return most;
}

static double lanes_of(const struct rewrite *r, const struct trace_warp *w,
                       const struct execution *x)
{
    u32 lanes = 0;
    for (u32 at = x->at + 1; at < x->end; at += rewrite_length(w->words + at)) {
        const u32 *words = w->words + at,
                  here = TRACE_SIZE_LANES(words[(words[0] & 3) == TRACE_SHARED ? 1 : 2]);
        if (here > lanes) lanes = here;
    }
    return lanes ? lanes : mean_lanes(r, TRACE_BLOCK_OF(w->words[x->at]));
}

/* Whether the lanes so far need one execution more, of `each` lanes. In a window it is one that is nearest, since it
 * stands for many. */
static bool needs_more(const struct group *g, bool window, double each)
{
    const double missing = g->lanes - g->kept;
    return !g->first || (window ? missing >= each / 2 : missing > 1e-9 * each);
}

/* Decides which executions of the warp become one. `full`: its lanes. */
static void group_up(const struct rewrite *r, const struct trace_warp *w, struct execution *list,
                     u32 count, u32 full)
{
    const u32 blocks = r->counts->trace->block_count;
    struct group *open = timing_calloc(blocks + 1, sizeof *open);
    for (u32 i = 0; i < count; i++) {
        const u32 word = w->words[list[i].at], block = TRACE_BLOCK_OF(word),
                  level = TRACE_LEVEL_OF(word), size = r->counts->trace->blocks[block].count;
        if (has_barrier(r, block)) memset(open, 0, blocks * sizeof *open);
        if (level == TRACE_BARRIER || !is_packed(r, block)) continue;
        struct group *g = &open[block];
        const double times = (double)(1u << level);
        g->lanes += lanes_of(r, w, &list[i]) * times;
        r->counted->accesses += size;
        r->counted->before += size;
        if (!needs_more(g, level, full * times)) {
            struct execution *first = &list[g->first - 1];
            list[i].joins = true;
            list[first->last ? first->last : g->first - 1].next = i;
            first->last = i;
            continue;
        }
        r->counted->after += size;
        g->kept += full * times;
        g->first = i + 1;
    }
    free(open);
}

/* ---- writing a group as one execution ------------------------------------------------------------------------------ */

struct gathered { /* accesses of a group */
    u32 *at;      /* where in the warp's words */
    u32 count, cap;
};

static void gather(struct gathered *g, const struct trace_warp *w, const struct execution *x)
{
    for (u32 at = x->at + 1; at < x->end; at += rewrite_length(w->words + at)) {
        if (g->count == g->cap) {
            g->cap = g->cap ? 2 * g->cap : 64;
            g->at = realloc(g->at, g->cap * sizeof *g->at);
            if (!g->at) abort();
        }
        g->at[g->count++] = at;
    }
}

static void add_line(struct trace_cta *c, u32 first, struct trace_line line)
{
    for (u32 i = first; i < c->line_count; i++) {
        struct trace_line *own = &c->lines[i];
        if (own->line != line.line || own->how != line.how) continue;
        own->sectors |= line.sectors;
        const u32 most = timing_popcount(own->sectors), l2 = own->from_l2 + line.from_l2,
                  dram = own->from_dram + line.from_dram;
        own->from_l2 = (uint8_t)(l2 < most ? l2 : most);
        own->from_dram = (uint8_t)(dram < most ? dram : most);
        return;
    }
    (void)rewrite_add_line(c, line);
}

/* Of those that are left, the access whose instruction comes first. */
static u32 first_of(const struct rewrite *r, const struct trace_warp *w, const struct gathered *g)
{
    u32 best = 0;
    for (u32 i = 1; i < g->count; i++)
        if (rewrite_inst(r, w->words[g->at[i]]) < rewrite_inst(r, w->words[g->at[best]])) best = i;
    return w->words[g->at[best]];
}

/* One access of the site for those of the group, which are no longer in `g` then. */
static void put_access(struct trace_cta *c, const struct trace_warp *w, struct gathered *g,
                       u32 site, u32 full, struct rewrite_words *to)
{
    const bool shared = (site & 3) == TRACE_SHARED;
    const u32 first = c->line_count;
    u32 lanes = 0, passes = 0, left = 0;
    for (u32 i = 0; i < g->count; i++) {
        const u32 *other = w->words + g->at[i];
        if (other[0] != site) {
            g->at[left++] = g->at[i];
            continue;
        }
        const u32 size = other[shared ? 1 : 2];
        lanes += TRACE_SIZE_LANES(size);
        if (TRACE_SIZE_N(size) > passes) passes = TRACE_SIZE_N(size);
        for (u32 k = 0; !shared && k < TRACE_SIZE_N(size); k++)
            add_line(c, first, c->lines[other[1] + k]);
    }
    g->count = left;
    if (lanes > full) lanes = full;
    if (shared) rewrite_put(to, (const u32[]){site, TRACE_SIZE(passes, lanes, 1)}, 2);
    else {
        const u32 all[] = {site, first, TRACE_SIZE(c->line_count - first, lanes, 1)};
        rewrite_put(to, all, 3);
    }
}

static void put_group(const struct rewrite *r, struct trace_cta *c, const struct trace_warp *w,
                      const struct execution *list, const struct execution *x, u32 full,
                      struct rewrite_words *to)
{
    struct gathered g = {0};
    rewrite_put(to, w->words + x->at, 1);
    for (const struct execution *k = x;; k = &list[k->next]) {
        gather(&g, w, k);
        if (!k->next) break;
    }
    while (g.count) put_access(c, w, &g, first_of(r, w, &g), full, to);
    free(g.at);
}

static u32 executions_of(const struct trace_warp *w, struct execution *list)
{
    u32 count = 0;
    for (u32 at = 0; at < w->count; at += rewrite_length(w->words + at)) {
        if (rewrite_is_block(w->words[at])) list[count++] = (struct execution){.at = at};
        if (count) list[count - 1].end = at + rewrite_length(w->words + at);
    }
    return count;
}

void what_if_pack(const struct rewrite *r, struct trace_cta *c)
{
    const u32 *block = r->counts->block, threads = block[0] * block[1] * block[2];
    for (u32 w = 0; w < c->warp_count; w++) {
        struct trace_warp *warp = &c->warps[w];
        const u32 full = threads - 32 * w < 32 ? threads - 32 * w : 32;
        struct execution *list = timing_calloc(warp->count + 1, sizeof *list);
        const u32 count = executions_of(warp, list);
        struct rewrite_words to = {0};
        group_up(r, warp, list, count, full);
        if (count) rewrite_put(&to, warp->words, list[0].at);
        for (u32 i = 0; i < count; i++) {
            const struct execution *x = &list[i];
            if (x->joins) continue;
            if (x->next) put_group(r, c, warp, list, x, full, &to);
            else rewrite_put(&to, warp->words + x->at, x->end - x->at);
        }
        rewrite_end(warp, &to);
        free(list);
    }
}
