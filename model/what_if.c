/* Changes the accesses of a trace, and estimates the changed trace (model/what_if.h). */
#include "model/what_if.h"

#include "emu/counts.h"
#include "model/launch_estimate.h"
#include "model/timing_internal.h"
#include "model/what_if_rewrite.h"
#include "ptx/isa.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* ---- copies of a trace ------------------------------------------------------------------------------------------ */

void *rewrite_copy(const void *from, size_t size)
{
    void *to = calloc(size ? size : 1, 1);
    if (!to) abort();
    if (size && from) memcpy(to, from, size);
    return to;
}

struct trace_cta *rewrite_cta(const struct trace_cta *c)
{
    struct trace_cta *to = rewrite_copy(c, sizeof *c);
    to->lines = rewrite_copy(c->lines, c->line_count * sizeof *c->lines);
    to->line_cap = c->line_count;
    to->warps = rewrite_copy(c->warps, c->warp_count * sizeof *c->warps);
    for (u32 w = 0; w < c->warp_count; w++)
        to->warps[w].words = rewrite_copy(c->warps[w].words,
                                          c->warps[w].count * sizeof *c->warps[w].words);
    return to;
}

void rewrite_free(const struct trace_cta **list, uint32_t count)
{
    for (u32 i = 0; i < count; i++) {
        if (!list[i]) continue;
        for (u32 w = 0; w < list[i]->warp_count; w++) free(list[i]->warps[w].words);
        free(list[i]->warps);
        free(list[i]->lines);
        free((void *)list[i]);
    }
    free(list);
}

void rewrite_put(struct rewrite_words *to, const uint32_t *words, uint32_t count)
{
    if (!count) return;
    while (to->cap - to->count < count) {
        to->cap = to->cap ? 2 * to->cap : 64;
        to->words = realloc(to->words, to->cap * sizeof *to->words);
        if (!to->words) abort();
    }
    memcpy(to->words + to->count, words, count * sizeof *words);
    to->count += count;
}

void rewrite_end(struct trace_warp *w, struct rewrite_words *to)
{
    free(w->words);
    w->words = to->words;
    w->count = to->count;
    w->cap = to->cap;
}

uint32_t rewrite_add_line(struct trace_cta *c, struct trace_line line)
{
    if (c->line_count == c->line_cap) {
        c->line_cap = c->line_cap ? 2 * c->line_cap : 64;
        c->lines = realloc(c->lines, c->line_cap * sizeof *c->lines);
        if (!c->lines) abort();
    }
    c->lines[c->line_count] = line;
    c->resolved = c->line_count + 1;
    return c->line_count++;
}

/* ---- changes of single accesses ----------------------------------------------------------------------------------- */

/* Bytes that a lane of the instruction asks for. */
static double bytes_of(const struct emu_instruction *i)
{
    return i->thread ? (double)i->bytes / (double)i->thread : 0;
}

/* Sectors that the changed accesses of a CTA ask for by their lanes, and fetch from L2 and DRAM. If consecutive accesses
 * share sectors through L1, they fetch no more than they need, and better addresses save passes of L1 alone. */
struct fetched {
    double asked, l2, dram;
    double l2_left,
        dram_left; /* that an access should have had, but did not have the sectors for */
};

/* As few sectors as the lanes need, in the first lines of the access. */
static void coalesce(const struct rewrite *r, const struct emu_instruction *i, u32 *words,
                     struct trace_line *lines, struct fetched *f)
{
    const u32 n = TRACE_SIZE_N(words[2]), lanes = TRACE_SIZE_LANES(words[2]);
    u32 had = 0, dram = 0, l2 = 0, left = (u32)(lanes * bytes_of(i) / EMU_SECTOR_BYTES + 0.999);
    for (u32 k = 0; k < n; k++) {
        had += timing_popcount(lines[k].sectors);
        dram += lines[k].from_dram, l2 += lines[k].from_l2;
    }
    if (!left) left = 1;
    r->counted->accesses++;
    r->counted->before += had;
    r->counted->after += left < had ? left : had;
    if (left >= had) return;
    f->l2_left += l2 * fmin(1, f->asked / f->l2);
    f->dram_left += dram * fmin(1, f->asked / f->dram);
    u32 kept = 0, l2s = (u32)fmin(left, f->l2_left + 0.5),
        drams = (u32)fmin(l2s, f->dram_left + 0.5);
    f->l2_left -= l2s, f->dram_left -= drams;
    for (; left; kept++) {
        const u32 here = left < 4 ? left : 4;
        lines[kept].sectors = (uint8_t)((1u << here) - 1);
        lines[kept].from_dram = (uint8_t)(drams < here ? drams : here);
        lines[kept].from_l2 = (uint8_t)(l2s < here ? l2s : here);
        drams -= lines[kept].from_dram, l2s -= lines[kept].from_l2;
        left -= here;
    }
    words[2] = TRACE_SIZE(kept, lanes, TRACE_SIZE_ROUNDS(words[2])) | (words[2] & TRACE_ELEMENTS);
}

/* The reduction is done in shared memory; the CTA's last access to a line still adds to global memory, once for each of
 * its addresses: that is what the CTA adds at its end. */
static bool is_shared(const struct rewrite *r, const struct trace_cta *c, const u32 *words)
{
    if ((words[0] & 3) != TRACE_GLOBAL || !TRACE_SIZE_N(words[2]) ||
        c->lines[words[1]].how != COUNT_ATOMIC)
        return false;
    const struct emu_instruction *i = &r->counts->instructions[rewrite_place(r, words[0])];
    return r->changes[rewrite_place(r, words[0])] == WHAT_IF_SHARED &&
           (TRACE_SIZE_ROUNDS(words[2]) > 1 || i->thread == i->warp);
}

/* By trace_atomic_bucket of the first line: where the CTA's last such access is. */
struct last_atomic {
    u32 warp, at;
    bool any;
};

static void find_last(const struct rewrite *r, const struct trace_cta *c, struct last_atomic *last)
{
    for (u32 w = 0; w < c->warp_count; w++) {
        const struct trace_warp *warp = &c->warps[w];
        u32 level = 0;
        for (u32 at = 0; at < warp->count; at += rewrite_length(warp->words + at)) {
            const u32 *words = warp->words + at;
            if (rewrite_is_block(words[0])) level = TRACE_LEVEL_OF(words[0]);
            else if (is_shared(r, c, words)) {
                struct last_atomic *l = &last[trace_atomic_bucket(c->lines[words[1]].line)];
                /* what stands for several is not kept: the CTA would add several times */
                if (!level || !l->any) *l = (struct last_atomic){w, at, !level};
            }
        }
    }
}

static void share(const struct rewrite *r, const struct trace_cta *c,
                  const struct last_atomic *last, u32 w, u32 at)
{
    u32 *words = c->warps[w].words + at;
    const u32 lanes = TRACE_SIZE_LANES(words[2]), rounds = TRACE_SIZE_ROUNDS(words[2]),
              more = words[2] & TRACE_ELEMENTS;
    const struct last_atomic *l = &last[trace_atomic_bucket(c->lines[words[1]].line)];
    const bool is_last = l->warp == w && l->at == at;
    r->counted->accesses++, r->counted->before += rounds;
    r->counted->after += is_last;
    /* without lines an access takes one pass of the load/store unit */
    if (is_last && l->any) words[2] = TRACE_SIZE(TRACE_SIZE_N(words[2]), lanes, 1) | more;
    else words[2] = TRACE_SIZE(0, lanes, rounds) | more;
}

static void change(const struct rewrite *r, u32 *words, struct trace_line *lines, struct fetched *f)
{
    const u32 tag = words[0] & 3, place = rewrite_place(r, words[0]);
    const struct emu_instruction *i = &r->counts->instructions[place];
    u32 *size = &words[tag == TRACE_SHARED ? 1 : 2];
    const u32 n = TRACE_SIZE_N(*size), lanes = TRACE_SIZE_LANES(*size);
    switch (r->changes[place]) {
    case WHAT_IF_COALESCED:
        if (tag == TRACE_GLOBAL && n && lines[words[1]].how != COUNT_ATOMIC)
            coalesce(r, i, words, lines + words[1], f);
        break;
    case WHAT_IF_UNBANKED:
        if (tag != TRACE_SHARED) break;
        r->counted->accesses++, r->counted->before += n, r->counted->after++;
        *size = TRACE_SIZE(1, lanes, TRACE_SIZE_ROUNDS(*size)) | (*size & TRACE_ELEMENTS);
        break;
    default: break;
    }
}

static struct fetched fetched_by(const struct rewrite *r, const struct trace_cta *c)
{
    struct fetched f = {0};
    for (u32 w = 0; w < c->warp_count; w++) {
        const struct trace_warp *warp = &c->warps[w];
        for (u32 at = 0; at < warp->count; at += rewrite_length(warp->words + at)) {
            const u32 *words = warp->words + at;
            if ((words[0] & 3) != TRACE_GLOBAL ||
                r->changes[rewrite_place(r, words[0])] != WHAT_IF_COALESCED)
                continue;
            f.asked += TRACE_SIZE_LANES(words[2]) *
                       bytes_of(&r->counts->instructions[rewrite_place(r, words[0])]) /
                       EMU_SECTOR_BYTES;
            for (u32 k = 0; k < TRACE_SIZE_N(words[2]); k++)
                f.l2 += c->lines[words[1] + k].from_l2, f.dram += c->lines[words[1] + k].from_dram;
        }
    }
    return f;
}

static void change_accesses(const struct rewrite *r, struct trace_cta *c)
{
    struct last_atomic *last = calloc(TRACE_ATOMIC_BUCKETS, sizeof *last);
    struct fetched f = fetched_by(r, c);
    if (!last) abort();
    find_last(r, c, last);
    for (u32 w = 0; w < c->warp_count; w++) {
        struct trace_warp *warp = &c->warps[w];
        for (u32 at = 0; at < warp->count; at += rewrite_length(warp->words + at))
            if (rewrite_is_block(warp->words[at])) continue;
            else if (is_shared(r, c, warp->words + at)) share(r, c, last, w, at);
            else change(r, warp->words + at, c->lines, &f);
    }
    free(last);
}

/* ---- the launch with the changes --------------------------------------------------------------------------------- */

static const struct trace_cta **rewritten(const struct rewrite *r, const bool *has,
                                          const struct trace_cta *const *list, u32 count)
{
    const struct trace_cta **to = rewrite_copy(list, count * sizeof(struct trace_cta *));
    for (u32 i = 0; i < count; i++) {
        struct trace_cta *c = rewrite_cta(list[i]);
        change_accesses(r, c);
        if (has[WHAT_IF_TILED]) what_if_tile(r, c);
        if (has[WHAT_IF_SHUFFLED]) what_if_shuffle(r, c);
        if (has[WHAT_IF_WIDER]) what_if_widen(r, c);
        if (has[WHAT_IF_PACKED]) what_if_pack(r, c);
        to[i] = c;
    }
    return to;
}

/* By bucket: the requests of atomics, as model/sample.c counts them. */
static void add_requests(double *to, const struct trace_cta *c, const struct trace_warp *w)
{
    double times = 1;
    for (u32 at = 0; at < w->count; at += rewrite_length(w->words + at)) {
        const u32 *words = w->words + at;
        if (rewrite_is_block(words[0])) times = exp2(TRACE_LEVEL_OF(words[0]));
        if ((words[0] & 3) != TRACE_GLOBAL) continue;
        for (u32 k = 0; k < TRACE_SIZE_N(words[2]); k++) {
            const struct trace_line *n = &c->lines[words[1] + k];
            if (n->how == COUNT_ATOMIC) to[trace_atomic_bucket(n->line)] += times;
        }
    }
}

/* The atomics of the whole launch, those that are not traced changed as those that are. NULL: it has none. */
static u64 *fewer_atomics(const struct emu_trace *before, const struct emu_trace *after)
{
    static const size_t buckets = TRACE_ATOMIC_BUCKETS;
    if (!before->atomics) return NULL;
    double *had = calloc(2 * buckets, sizeof *had), *have = had + buckets;
    u64 *all = rewrite_copy(before->atomics, buckets * sizeof *all);
    if (!had) abort();
    for (u32 i = 0; i < before->cta_count; i++)
        for (u32 w = 0; w < before->ctas[i]->warp_count; w++) {
            const struct trace_cta *const old = before->ctas[i], *const new = after->ctas[i];
            assert(new);
            add_requests(had, old, &old->warps[w]);
            add_requests(have, new, &new->warps[w]);
        }
    for (size_t b = 0; b < buckets; b++)
        if (had[b] > 0) all[b] = (u64)((double)all[b] * have[b] / had[b] + 0.5);
    free(had);
    return all;
}

bool what_if_is_reduction(const struct emu_counts *c, uint32_t place)
{
    const struct emu_trace *t = c->trace;
    for (u32 i = 0; t && i < t->inst_count; i++) {
        const struct ptx_op *op = t->insts[i].op;
        if (t->insts[i].place == place)
            return op && op->form->effects & PTX_ATOMIC && !ptx_op_has(op, "cas") &&
                   !ptx_op_has(op, "exch");
    }
    return false;
}

double what_if_cycles(const struct emu_counts *c, const uint8_t *changes,
                      struct what_if_counted *counted)
{
    struct launch_estimate t;
    bool has[WHAT_IF_CHANGES] = {false}, ok = true;
    *counted = (struct what_if_counted){0};
    if (!c->trace || !c->instruction_count) return 0;
    for (size_t i = 0; i < c->instruction_count; i++) has[changes[i]] = true;
    const struct rewrite r = {c, changes, counted, c->trace->block_count};
    struct shorter_code *code = has[WHAT_IF_WIDER]      ? wide_code(c, changes)
                                : has[WHAT_IF_TILED]    ? tile_code(c, changes)
                                : has[WHAT_IF_SHUFFLED] ? shuffle_code(c, changes)
                                                        : NULL;
    struct emu_trace other = *c->trace;
    struct emu_counts launch = *c;
    other.ctas = rewritten(&r, has, c->trace->ctas, c->trace->cta_count);
    other.heavy = rewritten(&r, has, c->trace->heavy, c->trace->heavy_count);
    if (code) shorter_code_use(code, &other);
    u64 *const atomics = has[WHAT_IF_SHARED] || has[WHAT_IF_SHUFFLED]
                             ? fewer_atomics(c->trace, &other)
                             : NULL;
    if (atomics) other.atomics = atomics;
    launch.trace = &other;
    ok = counted->after < counted->before && launch_estimate_of(&launch, &t);
    rewrite_free(other.ctas, other.cta_count);
    rewrite_free(other.heavy, other.heavy_count);
    shorter_code_free(code);
    free(atomics);
    return ok ? t.cycles : 0;
}
