/* Launches with more CTAs, or with more of them on an SM (model/what_if.h). */
#include "model/launch_estimate.h"
#include "model/timing_internal.h"
#include "model/what_if_rewrite.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* ---- more CTAs ---------------------------------------------------------------------------------------------------- */

/* Part `part` of `parts` has the executions of each block whose number falls into it. What a warp executes less than
 * `parts` times is in several parts: all have at least one of them. */
static bool is_in_part(u32 number, u32 count, u32 part, u32 parts)
{
    if (count >= parts) return (u64)number * parts / count == part;
    return number == (u64)part * count / parts;
}

static void keep_part(const struct emu_trace *t, struct trace_cta *c, u32 part, u32 parts)
{
    u32 *count = timing_calloc(2 * (size_t)t->block_count, sizeof *count),
        *number = count + t->block_count;
    for (u32 w = 0; w < c->warp_count; w++) {
        struct trace_warp *warp = &c->warps[w];
        struct rewrite_words to = {0};
        bool kept = true;
        memset(count, 0, 2 * (size_t)t->block_count * sizeof *count);
        for (u32 at = 0; at < warp->count; at += rewrite_length(warp->words + at))
            if (rewrite_is_block(warp->words[at])) count[TRACE_BLOCK_OF(warp->words[at])]++;
        for (u32 at = 0; at < warp->count;) {
            const u32 word = warp->words[at], n = rewrite_length(warp->words + at),
                      b = TRACE_BLOCK_OF(word);
            if (rewrite_is_block(word)) kept = is_in_part(number[b]++, count[b], part, parts);
            if (kept) rewrite_put(&to, warp->words + at, n);
            at += n;
        }
        rewrite_end(warp, &to);
    }
    free(count);
}

static const struct trace_cta **in_parts(const struct emu_trace *t,
                                         const struct trace_cta *const *list, u32 count, u32 parts)
{
    const struct trace_cta **to = timing_calloc((size_t)count * parts, sizeof *to);
    for (u32 i = 0; i < count * parts; i++) {
        struct trace_cta *c = rewrite_cta(list[i / parts]);
        c->linear = list[i / parts]->linear * parts + i % parts;
        keep_part(t, c, i % parts, parts);
        to[i] = c;
    }
    return to;
}

double what_if_spread(const struct emu_counts *c, uint32_t parts)
{
    struct launch_estimate e;
    if (!c->trace || parts < 2 || c->trace->cta_count < c->ctas) return 0;
    struct emu_trace other = *c->trace;
    struct emu_counts launch = *c;
    struct emu_phase phase = c->phases[0];
    other.cta_count *= parts, other.instructions *= parts;
    phase.total.warp_instructions *= parts;
    other.ctas = in_parts(c->trace, c->trace->ctas, c->trace->cta_count, parts);
    other.heavy = NULL, other.heavy_count = 0;
    launch.trace = &other, launch.phases = &phase, launch.phase_count = 1, launch.ctas *= parts;
    const bool ok = launch_estimate_of(&launch, &e);
    rewrite_free(other.ctas, other.cta_count);
    return ok ? e.cycles : 0;
}

/* ---- more resident CTAs --------------------------------------------------------------------------------------------- */

/* The most that allow so many CTAs on an SM. 0: none do. */
static u32 registers_for(const struct emu_counts *c, u32 threads, u32 ctas)
{
    for (u32 n = c->occupancy.registers; n > 0; n--)
        if (emu_occupancy(c->gpu, threads, n, c->shared).ctas >= ctas) return n;
    return 0;
}

static u32 shared_for(const struct emu_counts *c, u32 threads, u32 ctas)
{
    const u32 unit = c->gpu->shared_unit;
    for (u32 n = c->shared; n > 0; n = n > unit ? n - unit : 0)
        if (emu_occupancy(c->gpu, threads, c->occupancy.registers, n).ctas >= ctas) return n;
    return 0;
}

bool what_if_resident(const struct emu_counts *c, struct what_if_residence *out)
{
    const u32 threads = c->block[0] * c->block[1] * c->block[2], ctas = c->occupancy.ctas + 1;
    struct launch_estimate e;
    *out = (struct what_if_residence){.ctas = ctas};
    if (!c->trace || !c->occupancy.ctas || c->ctas <= (u64)c->occupancy.ctas * c->sms) return false;
    struct emu_counts launch = *c;
    if (c->occupancy.limit == EMU_LIMIT_REGISTERS) {
        out->registers = registers_for(c, threads, ctas);
        if (!out->registers) return false;
    } else if (c->occupancy.limit == EMU_LIMIT_SHARED) {
        out->shared = shared_for(c, threads, ctas);
        if (!out->shared) return false;
        launch.shared = out->shared;
    } else return false;
    launch.occupancy.ctas = ctas;
    launch.occupancy.warps = ctas * ((threads + 31) / 32);
    if (!launch_estimate_of(&launch, &e)) return false;
    out->cycles = e.cycles;
    return true;
}
