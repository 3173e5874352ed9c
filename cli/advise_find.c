/* Finds advice about a launch: for each candidate the timing model executes a changed copy of the trace
 * (model/what_if.h), and the difference of the estimates is the saving.
 *
 * Candidates are chosen by the counts of the launch, which needs little time; at most CANDIDATES of each kind are tried. */
#include "cli/advise.h"

#include "base/arena.h"
#include "emu/counts.h"
#include "model/launch_estimate.h"
#include "model/what_if.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 64 };

static const char *file_of(const struct emu_instruction *i)
{
    return i->file && i->source_line ? i->file : i->module;
}

static uint32_t line_of(const struct emu_instruction *i)
{
    return i->file && i->source_line ? i->source_line : i->line;
}

static struct advice *advice_of(struct advices *a, const char *kernel,
                                const struct emu_instruction *i, enum advice_kind kind)
{
    for (size_t k = 0; k < a->count; k++)
        if (a->list[k].kind == kind && a->list[k].line == line_of(i) &&
            strcmp(a->list[k].file, file_of(i)) == 0 && strcmp(a->list[k].kernel, kernel) == 0)
            return &a->list[k];
    a->list = arena_grow(a->arena, a->list, a->count, &a->cap, a->count + 1, sizeof *a->list);
    a->list[a->count] = (struct advice){
        .kernel = kernel, .file = file_of(i), .line = line_of(i), .kind = kind};
    return &a->list[a->count++];
}

static void add(struct advices *a, const struct emu_counts *c, const struct emu_instruction *i,
                enum advice_kind kind, double saved, const struct what_if_counted *n)
{
    struct advice *x = advice_of(a, c->kernel, i, kind);
    x->saved += saved;
    x->accesses += (double)n->accesses;
    x->before += (double)n->before;
    x->after += (double)n->after;
}

/* `then`: cycles of the launch the other way; 0: it cannot be done so. */
static void add_other(struct advice *x, double cycles, double then)
{
    if (then > 0) x->saved_otherwise += cycles - then, x->otherwise = true;
    else x->not_otherwise = true;
}

/* Cycles of the launch with another rewrite for the instructions that are marked in `changes`, which is lost. 0: there
 * is none. */
static double other_cycles(const struct emu_counts *c, enum advice_kind kind, uint8_t *changes)
{
    struct what_if_counted counted;
    if (kind == ADVICE_TILES) return what_if_four_results(c, changes, &counted);
    for (size_t k = 0; k < c->instruction_count; k++)
        if (changes[k]) changes[k] = WHAT_IF_SHUFFLED;
    return what_if_cycles(c, changes, &counted);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------ */

static const enum what_if_change changes_of[ADVICE_KINDS] = {
    [ADVICE_COALESCE] = WHAT_IF_COALESCED, [ADVICE_BANKS] = WHAT_IF_UNBANKED,
    [ADVICE_ATOMICS] = WHAT_IF_SHARED,     [ADVICE_TILES] = WHAT_IF_TILED,
    [ADVICE_WIDER] = WHAT_IF_WIDER,        [ADVICE_DIVERGENCE] = WHAT_IF_PACKED,
};

/* Whether the instruction may gain from that change. */
static bool is_candidate(const struct emu_counts *c, size_t place, enum advice_kind kind)
{
    const struct emu_instruction *i = &c->instructions[place];
    const double least = (double)i->bytes / EMU_SECTOR_BYTES;
    switch (kind) {
    case ADVICE_COALESCE:
        return !i->collisions && i->accesses && (double)i->sectors > 1.25 * least &&
               i->sectors > i->accesses;
    case ADVICE_BANKS:
        return !i->collisions && i->shared && (double)i->passes > 1.25 * (double)i->shared;
    case ADVICE_ATOMICS:
        return (i->collisions || i->thread == i->warp) && what_if_is_reduction(c, (uint32_t)place);
    case ADVICE_TILES: return what_if_is_load(c, (uint32_t)place);
    default: return false;
    }
}

/* The line's instructions of this kind, in `changes`; of atomics, those of all lines, since they wait for each other.
 * false: an earlier instruction had them. */
static bool choose_line(const struct emu_counts *c, size_t first, enum advice_kind kind,
                        uint8_t *changes)
{
    memset(changes, WHAT_IF_SAME, c->instruction_count);
    for (size_t k = 0; k < c->instruction_count; k++) {
        const struct emu_instruction *x = &c->instructions[first], *y = &c->instructions[k];
        const bool line = line_of(x) == line_of(y) && strcmp(file_of(x), file_of(y)) == 0,
                   same = is_candidate(c, k, kind) && (line || kind == ADVICE_ATOMICS);
        if (same && k < first) return false;
        if (same) changes[k] = (uint8_t)changes_of[kind];
    }
    return true;
}

static void advise_lines(struct advices *a, const struct emu_counts *c, enum advice_kind kind,
                         double cycles, uint8_t *changes)
{
    for (size_t i = 0, tried = 0; i < c->instruction_count && tried < CANDIDATES; i++) {
        struct what_if_counted counted;
        if (!is_candidate(c, i, kind) || !choose_line(c, i, kind, changes)) continue;
        const double then = what_if_cycles(c, changes, &counted);
        tried++;
        if (then <= 0) continue;
        add(a, c, &c->instructions[i], kind, cycles - then, &counted);
        if (kind == ADVICE_TILES || kind == ADVICE_ATOMICS)
            add_other(advice_of(a, c->kernel, &c->instructions[i], kind), cycles,
                      other_cycles(c, kind, changes));
    }
}

static void advise_wider(struct advices *a, const struct emu_counts *c, double cycles,
                         uint8_t *changes)
{
    uint8_t *taken = calloc(c->instruction_count + 1, 1);
    if (!taken) abort();
    for (size_t i = 0, tried = 0; i < c->instruction_count && tried < CANDIDATES; i++) {
        struct what_if_counted counted;
        memset(changes, WHAT_IF_SAME, c->instruction_count);
        if (taken[i] || !what_if_find_wider(c, (uint32_t)i, changes)) continue;
        const double then = what_if_cycles(c, changes, &counted);
        tried++;
        if (then <= 0) continue;
        for (size_t k = 0; k < c->instruction_count; k++) taken[k] |= changes[k];
        add(a, c, &c->instructions[i], ADVICE_WIDER, cycles - then, &counted);
    }
    free(taken);
}

/* ---- lanes ----------------------------------------------------------------------------------------------------------- */

/* Lanes that did nothing while the instruction was executed. `full`: lanes of a warp. */
static double idle_lanes(const struct emu_instruction *i, double full)
{
    return (double)i->warp * full - (double)i->thread;
}

static void advise_divergence(struct advices *a, const struct emu_counts *c, double cycles,
                              uint8_t *changes)
{
    const uint32_t threads = c->block[0] * c->block[1] * c->block[2];
    const uint32_t warps = (threads + 31) / 32;
    const double full = (double)threads / (double)warps;
    const struct emu_instruction *most = NULL;
    struct what_if_counted counted;
    memset(changes, WHAT_IF_SAME, c->instruction_count);
    for (size_t k = 0; k < c->instruction_count; k++) {
        const struct emu_instruction *i = &c->instructions[k];
        if (idle_lanes(i, full) <= 0.1 * full * (double)i->warp) continue;
        changes[k] = WHAT_IF_PACKED;
        if (!most || idle_lanes(i, full) > idle_lanes(most, full)) most = i;
    }
    if (!most) return;
    const double then = what_if_cycles(c, changes, &counted);
    if (then > 0) add(a, c, most, ADVICE_DIVERGENCE, cycles - then, &counted);
}

/* ---- the launch -------------------------------------------------------------------------------------------------------- */

/* The kernel's first line. */
static const struct emu_instruction *kernel_of(const struct emu_counts *c)
{
    for (size_t k = 0; k < c->instruction_count; k++)
        if (strcmp(c->instructions[k].function, c->kernel) == 0) return &c->instructions[k];
    return c->instructions;
}

static void advise_grid(struct advices *a, const struct emu_counts *c, double cycles)
{
    const uint32_t parts = c->ctas ? (uint32_t)(c->sms / c->ctas) : 0;
    const double then = parts > 1 ? what_if_spread(c, parts) : 0;
    const struct what_if_counted n = {1, c->ctas, c->ctas * parts};
    if (then > 0) add(a, c, kernel_of(c), ADVICE_GRID, cycles - then, &n);
}

static void advise_occupancy(struct advices *a, const struct emu_counts *c, double cycles)
{
    struct what_if_residence r;
    if (!what_if_resident(c, &r)) return;
    const struct what_if_counted n = {1, c->occupancy.ctas, r.ctas};
    add(a, c, kernel_of(c), ADVICE_OCCUPANCY, cycles - r.cycles, &n);
    struct advice *x = advice_of(a, c->kernel, kernel_of(c), ADVICE_OCCUPANCY);
    x->detail = r.registers
                    ? arena_printf(
                          a->arena,
                          "limited by registers: a thread has %u, %u or fewer allow %u CTAs",
                          c->occupancy.registers, r.registers, r.ctas)
                    : arena_printf(
                          a->arena,
                          "limited by shared memory: a CTA has %u bytes, %u or fewer allow %u CTAs",
                          c->shared, r.shared, r.ctas);
}

void advices_add_launch(struct advices *a, const struct emu_counts *c)
{
    static const enum advice_kind of_lines[] = {ADVICE_COALESCE, ADVICE_BANKS, ADVICE_ATOMICS,
                                                ADVICE_TILES};
    struct launch_estimate t;
    if (!launch_estimate_of(c, &t) || !c->instruction_count) return;
    uint8_t *changes = calloc(c->instruction_count + 1, 1);
    if (!changes) abort();
    a->cycles += t.cycles;
    a->launches++;
    for (size_t k = 0; k < sizeof of_lines / sizeof *of_lines; k++)
        advise_lines(a, c, of_lines[k], t.cycles, changes);
    advise_wider(a, c, t.cycles, changes);
    advise_divergence(a, c, t.cycles, changes);
    advise_grid(a, c, t.cycles);
    advise_occupancy(a, c, t.cycles);
    free(changes);
}

static int most_first(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    if (x->saved != y->saved) return (x->saved < y->saved) - (x->saved > y->saved);
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->kind > y->kind) - (x->kind < y->kind);
}

void advices_sort(struct advices *a)
{
    if (a->count) qsort(a->list, a->count, sizeof *a->list, most_first);
}
