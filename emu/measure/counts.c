/* Computes the counts of a launch (emu/counts.h) from the counters of its blocks and sites. */
#include "emu/counts.h"

#include "base/arena.h"
#include "base/diag.h"
#include "emu/atomic.h"
#include "emu/device/image.h"
#include "emu/measure/report.h"
#include "emu/order.h"
#include "emu/sched/launch.h"
#include "ptx/accuracy.h"
#include "ptx/link.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <string.h>

/* ---- gathering -------------------------------------------------------------------------------------- */

void launch_counts_add(struct launch_counts *out, u32 sm, const struct emu_site *sites,
                       const struct emu_block_count *blocks, const struct emu_program *p)
{
    if (!out->sites) {
        out->sites = arena_array(out->arena, struct emu_site *, out->sms);
        out->blocks = arena_array(out->arena, struct emu_block_count *, out->sms);
    }
    if (!out->sites[sm]) {
        out->sites[sm] = arena_array(out->arena, struct emu_site, p->site_count);
        out->blocks[sm] = arena_array(out->arena, struct emu_block_count, p->block_count);
    }
    static_assert(sizeof(struct emu_site) % sizeof(u64) == 0, "a site is numbers alone");
    u64 *to = (u64 *)(void *)out->sites[sm];
    const u64 *from = (const u64 *)(const void *)sites;
    for (size_t i = 0; i < p->site_count * (sizeof *sites / sizeof(u64)); i++) to[i] += from[i];
    for (u32 i = 0; i < p->block_count; i++) {
        out->blocks[sm][i].warps += blocks[i].warps;
        out->blocks[sm][i].lanes += blocks[i].lanes;
    }
}

/* ---- one SM ------------------------------------------------------------------------------------------ */

struct launch_mix {
    u16 unit[PTX_UNIT_COUNT], calls, barriers, fences;
};

static void add_to_mix(struct launch_mix *m, const struct ptx_inst *i)
{
    if (!i || !i->op) return;
    const struct ptx_form_info *f = i->op->form;
    m->unit[f->unit]++;
    if (ptx_op_form(i->op) == PTX_F_call) m->calls++;
    if (f->effects & PTX_BARRIER) m->barriers++;
    else if (f->effects & PTX_FENCE && f->unit == PTX_UNIT_SYNC) m->fences++;
}

static void add_access(struct emu_events *e, unsigned space, unsigned kind, u64 warp, u64 thread)
{
    e->access[space][kind].warp += warp;
    e->access[space][kind].thread += thread;
}

static void add_site(struct emu_events *e, const struct emu_program *p, u32 i,
                     const struct emu_site *s, const struct emu_block_count *blocks)
{
    const struct emu_site_of *of = &p->sites[i];
    const struct emu_place_of *place = &p->places[of->pc];
    const u64 rest = s->warps - s->shared - s->local,
              rest_lanes = s->lanes - s->shared_lanes - s->local_lanes;
    unsigned kind = EMU_LOADS, space = EMU_GLOBAL;
    switch (of->kind) {
    case SITE_GUARD: {
        const u64 off = blocks[place->block].lanes - s->lanes;
        e->guarded_off += off;
        if (place->inst->op) e->unit_thread[place->inst->op->form->unit] -= off;
        return;
    }
    case SITE_BRANCH:
        e->branches += s->warps;
        e->divergent += s->extra;
        return;
    case SITE_LOAD:
    case SITE_COPY: break;
    case SITE_STORE: kind = EMU_STORES; break;
    case SITE_ATOMIC: {
        const u32 op = of->op == ATOMIC_ADD_FTZ ? ATOMIC_ADD : of->op;
        kind = EMU_ATOMICS;
        e->atomic_warp[op] += s->warps;
        e->atomic_thread[op] += s->lanes;
        e->atomic_collisions[op] += s->extra;
        break;
    }
    default: return;
    }
    if (of->space == PTX_SPACE_CONST) space = EMU_CONSTANT;
    if (of->space == PTX_SPACE_TEX) space = EMU_TEXTURE;
    struct emu_access_counts *a = &e->access[space][kind];
    add_access(e, space, kind, rest, rest_lanes);
    a->bytes += s->bytes;
    a->sectors += s->sectors;
    a->lines += s->lines;
    add_access(e, EMU_SHARED, kind, s->shared, s->shared_lanes);
    e->access[EMU_SHARED][kind].passes += s->bank_conflict_passes;
    add_access(e, EMU_LOCAL, kind, s->local, s->local_lanes);
    e->access[EMU_LOCAL][kind].sectors += s->local_sectors;
}

void launch_add_sm(struct emu_events *e, const struct emu_program *p,
                   const struct launch_mix *mixes, const struct emu_site *sites,
                   const struct emu_block_count *blocks)
{
    for (u32 b = 0; b < p->block_count; b++) {
        const u64 warps = blocks[b].warps, lanes = blocks[b].lanes;
        if (!warps) continue;
        const struct launch_mix *m = &mixes[b];
        e->warp_instructions += warps * p->blocks[b].count;
        e->thread_instructions += lanes * p->blocks[b].count;
        for (u32 u = 0; u < PTX_UNIT_COUNT; u++) {
            e->unit_warp[u] += warps * m->unit[u];
            e->unit_thread[u] += lanes * m->unit[u];
        }
        e->calls += warps * m->calls;
        e->barriers += warps * m->barriers;
        e->fences += warps * m->fences;
    }
    for (u32 i = 1; i < p->site_count; i++)
        if (sites[i].warps || p->sites[i].kind == SITE_GUARD) add_site(e, p, i, &sites[i], blocks);
}

/* Field by field: all of struct emu_events are u64. */
void emu_events_add(struct emu_events *to, const struct emu_events *from)
{
    static_assert(sizeof *to % sizeof(u64) == 0, "events are numbers alone");
    for (size_t i = 0; i < sizeof *to / sizeof(u64); i++)
        ((u64 *)(void *)to)[i] += ((const u64 *)(const void *)from)[i];
}

struct launch_mix *launch_mixes(struct arena *a, const struct emu_program *p)
{
    struct launch_mix *mixes = arena_array(a, struct launch_mix, p->block_count);
    for (u32 b = 0; b < p->block_count; b++)
        for (u32 i = 0; i < p->blocks[b].count; i++)
            add_to_mix(&mixes[b], p->places[p->blocks[b].first_pc + i].inst);
    return mixes;
}

/* The instructions' lines, which stay: mostly each is behind the last, from which it is counted on. */
static void find_lines(const struct emu_machine *m)
{
    const struct emu_program *p = m->program;
    const struct source *source = NULL;
    u32 line = 1, at = 0;
    for (u32 pc = 0; pc < p->place_count; pc++) {
        struct emu_place_of *q = &p->places[pc];
        const struct source *s = m->image->program->modules[q->code->module]->source;
        if (q->line) continue;
        if (s != source || q->at < at) source = s, line = 1, at = 0;
        line += source_newlines(s, at, q->at);
        q->line = line;
        at = q->at;
    }
}

/* ---- by instruction ----------------------------------------------------------------------------------- */

static struct emu_instruction *instructions(struct arena *a, const struct emu_machine *m,
                                            const struct launch_counts *c)
{
    const struct emu_program *p = m->program;
    struct emu_instruction *list = arena_array(a, struct emu_instruction, p->place_count);
    struct emu_block_count *blocks = arena_array(a, struct emu_block_count, p->block_count);
    for (u32 sm = 0; c->blocks && sm < c->sms; sm++)
        for (u32 b = 0; c->blocks[sm] && b < p->block_count; b++) {
            blocks[b].warps += c->blocks[sm][b].warps;
            blocks[b].lanes += c->blocks[sm][b].lanes;
        }
    find_lines(m);
    for (u32 pc = 0; pc < p->place_count; pc++) {
        const struct emu_place_of *q = &p->places[pc];
        const struct source *text = m->image->program->modules[q->code->module]->source;
        list[pc] = (struct emu_instruction){.function = q->code->name,
                                            .module = text->name,
                                            .file = q->source_file,
                                            .line = q->line,
                                            .source_line = q->source_line,
                                            .warp = blocks[q->block].warps,
                                            .thread = blocks[q->block].lanes};
        const struct ptx_accuracy of = ptx_inst_accuracy(q->inst);
        if (of.kind == PTX_EXACT || !list[pc].warp) continue;
        list[pc].accuracy = (uint8_t)of.kind;
        list[pc].influence = q->influence;
        list[pc].inexact = arena_copy(a, of.name, of.name_length);
        list[pc].left_open = of.text;
    }
    for (u32 i = 1; i < p->site_count; i++) {
        struct emu_instruction *to = &list[p->sites[i].pc];
        struct emu_site s = {0};
        for (u32 sm = 0; c->sites && sm < c->sms; sm++)
            for (size_t k = 0; c->sites[sm] && k < sizeof s / sizeof(u64); k++)
                ((u64 *)(void *)&s)[k] += ((const u64 *)(const void *)&c->sites[sm][i])[k];
        switch (p->sites[i].kind) {
        case SITE_GUARD:
            to->off += to->thread - s.lanes;
            to->thread = s.lanes;
            break;
        case SITE_BRANCH: to->divergent += s.extra; break;
        case SITE_ATOMIC: to->collisions += s.extra; /* fall through */
        default:
            to->accesses += s.warps - s.shared - s.local;
            to->bytes += s.bytes;
            to->sectors += s.sectors;
            to->shared += s.shared;
            to->passes += s.bank_conflict_passes;
        }
        if (!m->caches) continue;
        static_assert(sizeof to->cache % sizeof(u64) == 0, "numbers alone");
        for (size_t k = 0; k < sizeof to->cache / sizeof(u64); k++)
            ((u64 *)(void *)&to->cache)[k] += ((const u64 *)(const void *)&m->caches->site[i])[k];
    }
    return list;
}

/* ---- the report ---------------------------------------------------------------------------------------- */

struct numbers {
    struct arena *arena;
    struct emu_number *list;
    size_t count, cap;
};
static void keep_number(void *to, const char *name, uint64_t value)
{
    struct numbers *n = to;
    n->list = arena_grow(n->arena, n->list, n->count, &n->cap, n->count + 1, sizeof *n->list);
    n->list[n->count++] = (struct emu_number){arena_copy(n->arena, name, strlen(name)), value};
}

struct emu_counts *emu_counts_make(struct arena *a, const struct emu_machine *m,
                                   const struct emu_gpu *gpu, const struct emu_occupancy *occupancy,
                                   const struct launch_counts *c)
{
    const struct emu_program *p = m->program;
    struct emu_counts *out = arena_alloc(a, sizeof *out);
    struct emu_phase *phase = arena_alloc(a, sizeof *phase);
    const struct emu_order *order = m->launch->order;
    struct numbers numbers = {.arena = a};
    if (order && order->numbers) order->numbers(order->self, keep_number, &numbers);
    struct numbers options = {.arena = a};
    for (size_t i = 0; order && i < order->option_count; i++)
        keep_number(&options, order->options[i].name, order->options[i].value);
    const struct launch_mix *mixes = launch_mixes(a, p);
    phase->name = order && order->name ? order->name : "native";
    phase->sm = arena_array(a, struct emu_events, c->sms);
    for (u32 sm = 0; sm < c->sms; sm++) {
        struct emu_events *e = &phase->sm[sm];
        if (!c->blocks || !c->blocks[sm]) continue;
        launch_add_sm(e, p, mixes, c->sites[sm], c->blocks[sm]);
        e->ctas = c->ctas[sm];
        if (m->caches) e->cache = m->caches->sm[sm];
        emu_events_add(&phase->total, e);
    }
    phase->times = 1;
    size_t phases = 1;
    struct emu_phase *list = m->phases ? launch_phases_list(m->phases, phase->sm, &phases) : NULL;
    *out = (struct emu_counts){.kernel = p->codes[0]->name,
                               .shared = m->shared_size,
                               .gpu = gpu,
                               .sms = c->sms,
                               .occupancy = *occupancy,
                               .ctas = m->cta_count,
                               .caches = m->caches != NULL,
                               .order = phase->name,
                               .number_count = numbers.count,
                               .numbers = numbers.list,
                               .option_count = options.count,
                               .options = options.list,
                               .phase_count = phases,
                               .phases = list ? list : phase,
                               .busy_waits = c->busy_waits,
                               .instruction_count = p->place_count,
                               .instructions = instructions(a, m, c)};
    const u64 together = (u64)occupancy->ctas * c->sms;
    out->waves = together ? (m->cta_count + together - 1) / together : 0;
    for (int i = 0; i < 3; i++) {
        out->grid[i] = m->launch->grid[i];
        out->block[i] = m->launch->block[i];
        out->cluster[i] = m->cluster[i];
    }
    return out;
}
