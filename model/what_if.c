/* Traces with other accesses. */
#include "model/what_if.h"

#include "emu/counts.h"
#include "model/launch_estimate.h"
#include "model/timing_internal.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

struct rewrite {
    const struct emu_counts *counts;
    const uint8_t *changes;
    struct what_if_counted *counted;
};

static void *copy_of(const void *from, size_t size)
{
    void *to = calloc(size ? size : 1, 1);
    if (!to) abort();
    if (size) memcpy(to, from, size);
    return to;
}

/* Bytes that a lane of the instruction asks for. */
static double bytes_of(const struct emu_instruction *i)
{
    return i->thread ? (double)i->bytes / (double)i->thread : 0;
}

/* As few sectors as the lanes need, in the first lines of the access. Of DRAM there come no more than are left. */
static void coalesce(const struct rewrite *r, const struct emu_instruction *i, u32 *words,
                     struct trace_line *lines)
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
    const double part = (double)left / had;
    u32 kept = 0, drams = (u32)(dram * part + 0.5), l2s = (u32)(l2 * part + 0.5);
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

static void change(const struct rewrite *r, u32 *words, struct trace_line *lines)
{
    const struct emu_trace *t = r->counts->trace;
    const u32 tag = words[0] & 3, place = t->insts[t->site_inst[words[0] >> 2]].place;
    const struct emu_instruction *i = &r->counts->instructions[place];
    u32 *size = &words[tag == TRACE_SHARED ? 1 : 2];
    const u32 n = TRACE_SIZE_N(*size), lanes = TRACE_SIZE_LANES(*size);
    switch (r->changes[place]) {
    case WHAT_IF_COALESCED:
        if (tag == TRACE_GLOBAL && n && lines[words[1]].how != COUNT_ATOMIC)
            coalesce(r, i, words, lines + words[1]);
        break;
    case WHAT_IF_UNBANKED:
        if (tag != TRACE_SHARED) break;
        r->counted->accesses++, r->counted->before += n, r->counted->after++;
        *size = TRACE_SIZE(1, lanes, TRACE_SIZE_ROUNDS(*size)) | (*size & TRACE_ELEMENTS);
        break;
    case WHAT_IF_SHARED: /* without lines an access takes one pass of the load/store unit */
        if (tag != TRACE_GLOBAL || !n || lines[words[1]].how != COUNT_ATOMIC) break;
        r->counted->accesses++, r->counted->before += TRACE_SIZE_ROUNDS(*size);
        *size = TRACE_SIZE(0, lanes, TRACE_SIZE_ROUNDS(*size)) | (*size & TRACE_ELEMENTS);
        break;
    default: break;
    }
}

static struct trace_cta *rewritten(const struct rewrite *r, const struct trace_cta *c)
{
    struct trace_cta *to = copy_of(c, sizeof *c);
    to->lines = copy_of(c->lines, c->line_count * sizeof *c->lines);
    to->warps = copy_of(c->warps, c->warp_count * sizeof *c->warps);
    for (u32 w = 0; w < c->warp_count; w++) {
        struct trace_warp *warp = &to->warps[w];
        warp->words = copy_of(warp->words, warp->count * sizeof *warp->words);
        for (u32 at = 0; at < warp->count;) {
            u32 *words = warp->words + at;
            const bool block = (words[0] & 3) == TRACE_BLOCK;
            if (!block) change(r, words, to->lines);
            at += block ? 1 : 1 + trace_access_words(words);
        }
    }
    return to;
}

static const struct trace_cta **rewritten_list(const struct rewrite *r,
                                               const struct trace_cta *const *list, u32 count)
{
    const struct trace_cta **to = copy_of(list, count * sizeof(struct trace_cta *));
    for (u32 i = 0; i < count; i++) to[i] = rewritten(r, list[i]);
    return to;
}

static void free_list(const struct trace_cta **list, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        for (u32 w = 0; w < list[i]->warp_count; w++) free(list[i]->warps[w].words);
        free(list[i]->warps);
        free(list[i]->lines);
        free((void *)list[i]);
    }
    free(list);
}

double what_if_cycles(const struct emu_counts *c, const uint8_t *changes,
                      struct what_if_counted *counted)
{
    struct launch_estimate t;
    *counted = (struct what_if_counted){0};
    if (!c->trace || !c->instruction_count) return 0;
    const struct rewrite r = {c, changes, counted};
    struct emu_trace other = *c->trace;
    struct emu_counts launch = *c;
    other.ctas = rewritten_list(&r, c->trace->ctas, c->trace->cta_count);
    other.heavy = rewritten_list(&r, c->trace->heavy, c->trace->heavy_count);
    launch.trace = &other;
    const bool ok = launch_estimate_of(&launch, &t);
    free_list(other.ctas, other.cta_count);
    free_list(other.heavy, other.heavy_count);
    return ok ? t.cycles : 0;
}
