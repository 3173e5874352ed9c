/* WHAT_IF_WIDER: replaces several loads of adjacent words by one vector load.
 *
 * Loads of a block with the same opcode can be one load of 8 or 16 bytes if the words of a lane are in one sector. The
 * first load of the group stays, with its sectors, and computes the results of all; the others are removed from the code.
 * A trace has no addresses of lanes. The words of a lane are assumed to be adjacent if the sectors are the same for all
 * loads of the group in every execution, and have at least as many bytes as the lanes load. So lanes that load one word
 * together (a broadcast) are not considered. The programmer must know whether the address is aligned for a vector load. */
#include "model/what_if_rewrite.h"

#include "model/timing_internal.h"
#include "ptx/isa.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;

enum {
    WIDEST = 16, /* bytes of a load of a lane: v4.b32, v2.b64 (PTX ISA, "ld") */
    MOST = 16    /* loads of a block that are compared with one */
};

/* ---- which loads ------------------------------------------------------------------------------------------------------ */

static bool is_load(const struct trace_inst *i)
{
    const struct ptx_op *op = i->op;
    return op && op->form->effects == PTX_READS && ptx_op_has(op, "global") &&
           op->text_length > 3 && memcmp(op->text, "ld", 2) == 0;
}

static const struct trace_block *block_of(const struct emu_trace *t, u32 inst)
{
    for (u32 b = 0; b < t->block_count; b++)
        if (inst >= t->blocks[b].first && inst < t->blocks[b].first + t->blocks[b].count)
            return &t->blocks[b];
    return NULL;
}

/* The trace's instruction of that number among counts->instructions; inst_count: there is none. */
static u32 inst_of(const struct emu_trace *t, u32 place)
{
    u32 i = 0;
    if (place < t->inst_count && t->insts[place].place == place) return place;
    while (i < t->inst_count && t->insts[i].place != place) i++;
    return i;
}

bool what_if_is_load(const struct emu_counts *c, uint32_t place)
{
    const u32 i = c->trace ? inst_of(c->trace, place) : 0;
    return c->trace && i < c->trace->inst_count && is_load(&c->trace->insts[i]) &&
           c->instructions[place].accesses;
}

/* Loads of the block behind the leader with the same opcode, as long as nothing is stored; the leader is the first. */
static u32 loads_like(const struct emu_counts *c, u32 leader, u32 *found)
{
    const struct emu_trace *t = c->trace;
    const struct trace_block *b = block_of(t, leader);
    const struct trace_inst *load = &t->insts[leader];
    u32 count = 0;
    for (u32 i = leader; b && i < b->first + b->count && count < MOST; i++) {
        const struct trace_inst *x = &t->insts[i];
        const u32 effects = x->op ? x->op->form->effects : (u32)PTX_EFFECT;
        if (effects & (PTX_WRITES | PTX_ATOMIC | PTX_FENCE | PTX_BARRIER | PTX_EFFECT)) break;
        if (x->op == load->op &&
            c->instructions[x->place].thread == c->instructions[load->place].thread)
            found[count++] = i;
    }
    return count;
}

/* Whether one lane's words of both accesses may lie side by side. `bytes`: of both, of a lane. */
static bool same_sectors(const struct trace_cta *c, const u32 *a, const u32 *b, u32 bytes)
{
    u32 sectors = 0;
    if (a[2] != b[2]) return false;
    for (u32 k = 0; k < TRACE_SIZE_N(a[2]); k++) {
        const struct trace_line *x = &c->lines[a[1] + k], *y = &c->lines[b[1] + k];
        if (x->line != y->line || x->sectors != y->sectors) return false;
        sectors += timing_popcount(x->sectors);
    }
    return TRACE_SIZE_LANES(a[2]) * bytes <= sectors * EMU_SECTOR_BYTES;
}

struct search {
    const struct emu_trace *trace;
    u32 found[MOST], count; /* instructions; the first is the leader */
    bool differs[MOST];
    u32 bytes; /* of a lane, of one of them */
};

static void compare_warp(struct search *s, const struct trace_cta *c, const struct trace_warp *w)
{
    const u32 *leader = NULL;
    for (u32 at = 0; at < w->count; at += rewrite_length(w->words + at)) {
        const u32 *words = w->words + at;
        if (rewrite_is_block(words[0])) {
            leader = NULL;
            continue;
        }
        const u32 inst = s->trace->site_inst[words[0] >> 2];
        if (inst < s->found[0] || inst > s->found[s->count - 1]) continue;
        if (inst == s->found[0]) leader = rewrite_is_load(c, words) ? words : NULL;
        for (u32 k = 1; k < s->count; k++)
            if (inst == s->found[k] && (!leader || !rewrite_is_load(c, words) ||
                                        !same_sectors(c, leader, words, 2 * s->bytes)))
                s->differs[k] = true;
    }
}

static void compare(struct search *s, const struct trace_cta *const *list, u32 count)
{
    for (u32 i = 0; i < count; i++)
        for (u32 w = 0; w < list[i]->warp_count; w++) compare_warp(s, list[i], &list[i]->warps[w]);
}

bool what_if_find_wider(const struct emu_counts *c, uint32_t first, uint8_t *changes)
{
    struct search s = {.trace = c->trace};
    const u32 leader = what_if_is_load(c, first) ? inst_of(c->trace, first) : 0;
    if (!what_if_is_load(c, first) || c->trace->insts[leader].op->vec > 1) return false;
    const struct ptx_op *op = c->trace->insts[leader].op;
    s.bytes = op->type_count ? ptx_types[op->type[0]].bits / 8 : 0;
    s.count = s.bytes ? loads_like(c, leader, s.found) : 0;
    if (s.count < 2) return false;
    compare(&s, c->trace->ctas, c->trace->cta_count);
    compare(&s, c->trace->heavy, c->trace->heavy_count);
    u32 group[MOST], count = 0;
    for (u32 k = 0; k < s.count && count < WIDEST / s.bytes; k++)
        if (!s.differs[k]) group[count++] = c->trace->insts[s.found[k]].place;
    while (count & (count - 1)) count &= count - 1; /* 2, 4, 8 or 16 */
    for (u32 k = 0; k < count && count > 1; k++) changes[group[k]] = WHAT_IF_WIDER;
    return count > 1;
}

static bool is_changed(const struct rewrite *r, const u32 *words)
{
    return !rewrite_is_block(words[0]) && r->changes[rewrite_place(r, words[0])] == WHAT_IF_WIDER;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

struct shorter_code *wide_code(const struct emu_counts *c, const uint8_t *changes)
{
    const struct emu_trace *t = c->trace;
    u32 *given = timing_calloc(t->inst_count, sizeof *given), leader = 0;
    bool *dropped = timing_calloc(t->inst_count, sizeof *dropped), led = false;
    for (u32 i = 0; i < t->inst_count; i++) {
        given[i] = i;
        if (changes[t->insts[i].place] != WHAT_IF_WIDER) continue;
        if (led) dropped[i] = true, given[i] = leader;
        else leader = i, led = true;
    }
    struct shorter_code *code = shorter_code_new(t, dropped, given);
    free(given);
    free(dropped);
    return code;
}

void what_if_widen(const struct rewrite *r, struct trace_cta *c)
{
    for (u32 w = 0; w < c->warp_count; w++) {
        struct trace_warp *warp = &c->warps[w];
        struct rewrite_words to = {0};
        bool led = false;
        for (u32 at = 0; at < warp->count;) {
            const u32 *words = warp->words + at, n = rewrite_length(words);
            const bool changed = is_changed(r, words);
            if (rewrite_is_block(words[0])) led = false;
            if (!changed || !led) rewrite_put(&to, words, n);
            r->counted->before += changed;
            r->counted->accesses += changed && !led, r->counted->after += changed && !led;
            led |= changed;
            at += n;
        }
        rewrite_end(warp, &to);
    }
}
