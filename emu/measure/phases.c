/* Counts by phase, for orders that work in phases. */
#include "base/arena.h"
#include "emu/measure/report.h"
#include "emu/order.h"
#include "emu/sched/launch_context.h"

#include <assert.h>
#include <string.h>

enum { NAMES = 8 };

struct launch_phases {
    struct arena *arena;
    const struct emu_program *program;
    const struct launch_mix *mixes;
    u32 sms;
    struct emu_events *attributed; /* by SM: what phases that are over had */
    struct emu_phase list[NAMES], *last;
    size_t count;
};

struct launch_phases *launch_phases_new(struct arena *a, const struct emu_program *p, u32 sms)
{
    struct launch_phases *ph = arena_alloc(a, sizeof *ph);
    ph->arena = a;
    ph->program = p;
    ph->mixes = launch_mixes(a, p);
    ph->sms = sms;
    ph->attributed = arena_array(a, struct emu_events, sms);
    return ph;
}

static struct emu_phase *find(struct launch_phases *ph, const char *name)
{
    for (size_t i = 0; i < ph->count; i++)
        if (strcmp(ph->list[i].name, name) == 0) return &ph->list[i];
    assert(ph->count < NAMES);
    struct emu_phase *p = &ph->list[ph->count++];
    p->name = name;
    p->sm = arena_array(ph->arena, struct emu_events, ph->sms);
    return p;
}

/* To the phase: what is in `now` and belongs to no phase yet. All of struct emu_events are u64. */
static void add_rest(struct launch_phases *ph, struct emu_phase *p, u32 sm,
                     const struct emu_events *now)
{
    struct emu_events rest = *now;
    u64 *r = (u64 *)(void *)&rest;
    const u64 *t = (const u64 *)(const void *)&ph->attributed[sm];
    for (size_t i = 0; i < sizeof rest / sizeof(u64); i++) r[i] -= r[i] < t[i] ? r[i] : t[i];
    emu_events_add(&p->total, &rest);
    emu_events_add(&p->sm[sm], &rest);
    emu_events_add(&ph->attributed[sm], &rest);
}

/* In the middle of a block, lanes whose guards are still to come seem to be switched off: phases may have got
  * too many. */
static void take_back(struct launch_phases *ph, u32 sm, const struct emu_events *all)
{
    const u64 *a = (const u64 *)(const void *)all,
              *t = (const u64 *)(const void *)&ph->attributed[sm];
    for (size_t i = 0; i < sizeof *all / sizeof(u64); i++) {
        u64 rest = t[i] - a[i];
        for (size_t k = ph->count; rest && k-- > 0;) {
            u64 *of_sm = (u64 *)(void *)&ph->list[k].sm[sm] + i, n = rest < *of_sm ? rest : *of_sm;
            *of_sm -= n;
            ((u64 *)(void *)&ph->list[k].total)[i] -= n;
            rest -= n;
        }
    }
}

void emu_machine_phase(struct emu_machine *m, const char *name)
{
    struct launch_phases *ph = m->phases;
    if (!ph) return;
    const struct host_worker *h = &m->context->workers[0];
    struct emu_phase *p = ph->last = find(ph, name);
    p->times++;
    for (u32 sm = 0; sm < ph->sms; sm++) {
        if (!h->sites[sm]) continue;
        struct emu_events now = {.ctas = h->ctas[sm]};
        launch_add_sm(&now, ph->program, ph->mixes, h->sites[sm], h->blocks[sm]);
        if (m->caches) now.cache = m->caches->sm[sm];
        add_rest(ph, p, sm, &now);
    }
}

struct emu_phase *launch_phases_list(struct launch_phases *ph, const struct emu_events *sm,
                                     size_t *count)
{
    if (!ph->last) return NULL;
    for (u32 s = 0; s < ph->sms; s++) {
        add_rest(ph, ph->last, s, &sm[s]);
        take_back(ph, s, &sm[s]);
    }
    *count = ph->count;
    return ph->list;
}
