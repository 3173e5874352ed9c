/* The race detector: findings. */
#include "determinism/race/access.h"

#include "emu/emu.h"
#include "emu/memory.h"

#include <stdio.h>

static void name(char *out, size_t size, unsigned kind, const struct event *e, const char *before)
{
    static const char *const kinds[] = {"read", "write", "atomic", "reduction"};
    static const char *const scopes[] = {".cta", ".cluster", ".gpu", ".sys"};
    snprintf(out, size, "%s%s%s of %u bytes%s%s", before,
             e->flags & (EVENT_PENDING | EVENT_MBARRIER) ? "asynchronous " : "", kinds[kind],
             e->width, e->flags & EVENT_STRONG ? ", strong in " : "",
             e->flags & EVENT_STRONG ? scopes[e->scope] : "");
}

static void count_in_report(struct race *r, struct reported_pair *n)
{
    if (n->uncounted) emu_machine_is_reported(r->machine, EMU_RACE, n->pc, n->pc2, n->uncounted);
    n->uncounted = 0;
}

/* A lane of the event that is not its tag's `lane`, if several lanes read the bytes together. */
static uint32_t another_lane(const struct event *e, uint32_t lane)
{
    const uint32_t others = e->flags & EVENT_PENDING ? 0 : e->mask & ~1u;
    return others ? lane + (uint32_t)__builtin_ctz(others) : lane;
}

void race_report(const struct access *k, tag own, tag other, uint32_t lane, uint64_t address,
                 struct reported_pair *n)
{
    const struct event *a = &k->events->list[own >> 5], *b = &k->events->list[other >> 5];
    char what[128], first[128], second[128];
    const unsigned long long at = address + (k->home ? 0 : MEM_GLOBAL);
    count_in_report(k->r, n);
    n->pc = a->pc;
    n->pc2 = b->pc;
    n->known = emu_machine_is_reported(k->r->machine, EMU_RACE, a->pc, b->pc, 1);
    if (n->known) return;
    if (k->noncoherent_read)
        snprintf(
            what, sizeof what,
            "a non-coherent read (.nc, texture, surface) of global memory at 0x%llx, which this "
            "launch has written",
            at);
    else
        snprintf(what, sizeof what, "two unordered accesses to %s memory at 0x%llx",
                 k->home ? "shared" : "global", at);
    const bool same_warp = a->cta == b->cta && a->warp == b->warp;
    uint32_t lane2 = other % LANES;
    if (same_warp && lane2 == lane) lane2 = another_lane(b, lane2);
    if (same_warp && lane2 == lane) lane = another_lane(a, lane);
    name(first, sizeof first, a->kind, a, "");
    name(second, sizeof second, b->kind, b, "and ");
    emu_machine_report(k->r->machine, EMU_RACE, what,
                       &(struct emu_access_site){a->pc, a->cta, a->warp * LANES + lane, first},
                       &(struct emu_access_site){b->pc, b->cta, b->warp * LANES + lane2, second},
                       k->home ? 0 : address + MEM_GLOBAL);
}

void race_count_reports(struct race *r)
{
    for (uint32_t i = 0; i < REPORTED_PAIRS; i++) count_in_report(r, &r->reported[i]);
}

void race_give_up(struct race *r)
{
    char text[256];
    if (r->gave_up) return;
    r->gave_up = true;
    snprintf(text, sizeof text,
             "race: the check stopped after %llu events of this launch: later races are not found\n"
             "  launch fewer CTAs at a time, or less work for each\n",
             (unsigned long long)r->event_count);
    emu_machine_note(r->machine, EMU_RACE, text);
}

void race_shrink_clocks(struct race *r)
{
    const uint64_t most = r->limits.clock_bytes;
    if (r->gave_up) return;
    vclock_condense(&r->vclocks);
    r->condensed++;
    if (r->vclocks.bytes > most - most / 4) race_give_up(r); /* it would soon be as large again */
}
