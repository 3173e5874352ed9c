/* WHAT_IF_SHUFFLED: replaces atomics that every warp of a CTA executes once, on one line, by a reduction of the CTA.
 *
 * Before the block of its atomic a warp adds the values of its lanes, if several lanes have one, by a shuffle and an
 * addition for each halving of the lanes; it stores the sum to shared memory and waits at a barrier. The first warp loads
 * all sums, adds them in the same way, and executes the atomic of the CTA. (Luitjens, "Faster Parallel Reductions
 * on Kepler", 2014.) */
#include "model/what_if_rewrite.h"
#include "ptx/isa.h"

#include <stdlib.h>

typedef uint32_t u32;

/* Blocks that are added, by number behind the first; the instructions of the first three have these numbers. */
enum { STORE, BARRIER, LOAD, HALVE };

/* Who uses what an atomic returns needs the sums of those before, too. */
static bool is_sum(const struct rewrite *r, u32 word)
{
    const struct trace_inst *i = &r->counts->trace->insts[rewrite_inst(r, word)];
    return !i->writes || i->dead_result;
}

static bool is_shuffled(const struct rewrite *r, const struct trace_cta *c, const u32 *words)
{
    return !rewrite_is_block(words[0]) && (words[0] & 3) == TRACE_GLOBAL &&
           TRACE_SIZE_N(words[2]) && c->lines[words[1]].how == COUNT_ATOMIC &&
           r->changes[rewrite_place(r, words[0])] == WHAT_IF_SHUFFLED;
}

struct found {     /* in a warp */
    u32 block, at; /* the block's word; the atomic */
};

/* The warp's only atomic. false: it has none, or several, or lanes that name different elements. */
static bool find(const struct rewrite *r, const struct trace_cta *c, const struct trace_warp *w,
                 struct found *out)
{
    u32 block = 0, count = 0;
    for (u32 at = 0; at < w->count; at += rewrite_length(w->words + at)) {
        const u32 *words = w->words + at;
        if (rewrite_is_block(words[0])) block = at;
        if (!is_shuffled(r, c, words)) continue;
        if (rewrite_is_block(w->words[block]) && TRACE_LEVEL_OF(w->words[block])) return false;
        if (!is_sum(r, words[0]) || TRACE_SIZE_N(words[2]) != 1 ||
            TRACE_SIZE_ROUNDS(words[2]) != TRACE_SIZE_LANES(words[2]))
            return false;
        *out = (struct found){block, at};
        count++;
    }
    return count == 1 && rewrite_is_block(w->words[block]);
}

static void put_added(const struct rewrite *r, u32 block, struct rewrite_words *to)
{
    const u32 word = TRACE_BLOCK_WORD(r->added + block, 0, 0);
    rewrite_put(to, &word, 1);
}

/* STORE or LOAD, which have one instruction. */
static void put_shared(const struct rewrite *r, u32 block, u32 lanes, struct rewrite_words *to)
{
    const u32 words[] = {rewrite_added_site(r->counts->trace, block) << 2 | TRACE_SHARED,
                         TRACE_SIZE(1, lanes, 1)};
    put_added(r, block, to);
    rewrite_put(to, words, 2);
}

/* The sum of so many values, one for each lane. */
static void put_sum(const struct rewrite *r, u32 values, struct rewrite_words *to)
{
    for (u32 n = 1; n < values; n *= 2) put_added(r, HALVE, to);
}

static void rewrite_warp(const struct rewrite *r, const struct trace_cta *c, u32 w,
                         const struct found *f)
{
    struct trace_warp *warp = &c->warps[w];
    struct rewrite_words to = {0};
    const u32 size = warp->words[f->at + 2], past = f->at + rewrite_length(warp->words + f->at);
    rewrite_put(&to, warp->words, f->block);
    put_sum(r, TRACE_SIZE_LANES(size), &to);
    put_shared(r, STORE, 1, &to);
    put_added(r, BARRIER, &to);
    if (!w) {
        put_shared(r, LOAD, c->warp_count, &to);
        put_sum(r, c->warp_count, &to);
    }
    rewrite_put(&to, warp->words + f->block, f->at - f->block);
    if (!w) {
        const u32 one[] = {warp->words[f->at], warp->words[f->at + 1], TRACE_SIZE(1, 1, 1)};
        rewrite_put(&to, one, 3);
    }
    rewrite_put(&to, warp->words + past, warp->count - past);
    rewrite_end(warp, &to);
}

void what_if_shuffle(const struct rewrite *r, struct trace_cta *c)
{
    struct found *found = rewrite_copy(NULL, c->warp_count * sizeof *found);
    bool all = c->warp_count > 1 && c->warp_count <= 32;
    for (u32 w = 0; w < c->warp_count && all; w++) {
        all = find(r, c, &c->warps[w], &found[w]);
        const u32 *words = c->warps[w].words + found[w].at,
                  *first = c->warps[0].words + found[0].at;
        all = all && c->lines[words[1]].line == c->lines[first[1]].line;
    }
    for (u32 w = 0; w < c->warp_count && all; w++) {
        r->counted->accesses++, r->counted->after += !w;
        r->counted->before += TRACE_SIZE_ROUNDS(c->warps[w].words[found[w].at + 2]);
        rewrite_warp(r, c, w, &found[w]);
    }
    free(found);
}

/* The type of the first changed atomic. */
static enum ptx_type type_of(const struct emu_counts *c, const uint8_t *changes)
{
    const struct emu_trace *t = c->trace;
    for (u32 i = 0; i < t->inst_count; i++)
        if (t->insts[i].op && t->insts[i].op->type_count &&
            t->insts[i].op->form->effects & PTX_ATOMIC &&
            changes[t->insts[i].place] == WHAT_IF_SHUFFLED)
            return t->insts[i].op->type[0];
    return PTX_u32;
}

struct shorter_code *shuffle_code(const struct emu_counts *c, const uint8_t *changes)
{
    static const struct rewrite_inst store = {"st.shared.b32", 1, 0, {0}},
                                     barrier = {.opcode = "bar.sync"},
                                     load = {"ld.shared.b32", 0, 1, {0}};
    const enum ptx_type type = type_of(c, changes);
    const bool wide = ptx_types[type].bits == 64, real = ptx_types[type].kind == PTX_FLOAT;
    /* a shuffle moves 32 bits */
    const struct rewrite_inst halve[] = {
        {"shfl.sync.down.b32", 1, 1, {0, 1}},
        {"shfl.sync.down.b32", 1, 1, {0, 2}},
        {wide ? (real ? "add.f64" : "add.s64") : (real ? "add.f32" : "add.s32"), 2, 1, {1, 2, 0}}};
    const struct rewrite_inst narrow[] = {halve[0], {halve[2].opcode, 2, 1, {0, 1, 0}}};
    bool *dropped = rewrite_copy(NULL, c->trace->inst_count * sizeof *dropped);
    struct shorter_code *code = shorter_code_new(c->trace, dropped, NULL);
    free(dropped);
    (void)shorter_code_add(code, &store, 1);
    (void)shorter_code_add(code, &barrier, 1);
    (void)shorter_code_add(code, &load, 1);
    (void)(wide ? shorter_code_add(code, halve, 3) : shorter_code_add(code, narrow, 2));
    return code;
}
