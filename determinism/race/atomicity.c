/* Mixed atomic and plain accesses. The shadow memory (history.h) keeps the first access of each
 * kind: a cell's `write` names the first atomic, its `read` the first plain access. Each mixed cell
 * is a finding; epochs and clocks are not used. */
#include "determinism/race/atomicity.h"

#include "determinism/race/history.h"

#include "emu/atomic.h" /* LANES */
#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

struct atomicity {
    struct emu_observer observer;
    struct emu_machine *machine;
    struct shadow shadow;
    struct events events;
    bool mapped;
    struct atomicity *nested; /* of the grids that a launch waits for; NULL: there were none yet */
};

static void find(const struct atomicity *k, tag atomic, tag plain, uint64_t address)
{
    const struct event *a = &k->events.list[atomic >> 5], *p = &k->events.list[plain >> 5];
    const unsigned long long at = address + MEM_GLOBAL;
    char what[96], first[64], second[64];
    if (emu_machine_is_reported(k->machine, EMU_MIXED, a->pc, p->pc, 1)) return;
    snprintf(what, sizeof what,
             "global memory at 0x%llx is accessed both by atomics and plainly in one kernel", at);
    snprintf(first, sizeof first, "%s of %u bytes", a->kind == EMU_RED ? "reduction" : "atomic",
             a->width);
    snprintf(second, sizeof second, "and %s of %u bytes", p->kind == EMU_LOAD ? "read" : "write",
             p->width);
    emu_machine_report(k->machine, EMU_MIXED, what,
                       &(struct emu_access_site){a->pc, a->cta, a->warp * 32u + atomic % 32, first},
                       &(struct emu_access_site){p->pc, p->cta, p->warp * 32u + plain % 32, second},
                       address + MEM_GLOBAL);
}

static void touch(struct atomicity *k, tag own, bool atomic, uint64_t address, uint32_t size)
{
    const bool fine = (address | size) & 3;
    for (uint32_t o = 0; o < size;) {
        struct page *p = shadow_page(&k->shadow, address + o, fine);
        if (!p) return;
        struct cell *cell = &p->cells[(address + o) % PAGE >> p->shift];
        tag *mine = atomic ? &cell->write : &cell->read;
        if (!*mine) *mine = own;
        if (cell->write && cell->read)
            find(k, atomic ? own : cell->write, atomic ? cell->read : own, address + o);
        o += 1u << p->shift;
    }
}

/* false: the cells already have an access of this kind and none of the other, so nothing
 * changes. */
static bool is_news(struct atomicity *k, bool atomic, uint64_t address, uint32_t size)
{
    const struct page *p = (address | size) & 3 ? NULL : shadow_page(&k->shadow, address, false);
    if (!p || p->shift != 2 || address % PAGE + size > PAGE) return true;
    const struct cell *cell = &p->cells[address % PAGE / 4];
    for (uint32_t i = 0; i < size / 4; i++)
        if (atomic ? !cell[i].write || cell[i].read : !cell[i].read || cell[i].write) return true;
    return false;
}

/* Returns its number; 0: there are EVENTS_MOST. */
static uint32_t event_of(struct atomicity *k, const struct emu_access *a)
{
    const struct event e = {.cta = a->who->cta,
                            .pc = a->pc,
                            .warp = (uint8_t)a->who->warp,
                            .kind = a->kind,
                            .width = a->width};
    const struct event *last = k->events.count > 1 ? &k->events.list[k->events.count - 1] : NULL;
    return last && last->pc == e.pc && last->cta == e.cta && last->warp == e.warp &&
                   last->kind == e.kind
               ? k->events.count - 1
               : events_add(&k->events, &e);
}

/* Fast path: a warp accesses adjacent words of a page; none of them was accessed in the other way,
 * and all or none in this way. false: it is something else. */
static bool touch_run(struct atomicity *k, const struct emu_access *a, bool atomic, uint32_t size)
{
    const uint64_t at = a->address[0] - MEM_GLOBAL;
    const uint32_t words = size / 4, count = LANES * words;
    struct page *p = !a->contiguous || (at | size) & 3 || at % PAGE + LANES * size > PAGE
                         ? NULL
                         : shadow_page(&k->shadow, at, false);
    if (!p || p->shift != 2) return false;
    struct cell *cell = &p->cells[at % PAGE / 4];
    tag others = 0, any = 0;
    uint32_t mine = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tag own = atomic ? cell[i].write : cell[i].read;
        others |= atomic ? cell[i].read : cell[i].write;
        any |= own;
        mine += own != 0;
    }
    if (others || (any && mine < count)) return false;
    const uint32_t number = any ? 0 : event_of(k, a);
    for (uint32_t i = 0; number && i < count; i++)
        *(atomic ? &cell[i].write : &cell[i].read) = tag_of(number, i / words);
    return true;
}

static void atomicity_on_access(void *self, const struct emu_access *a)
{
    struct atomicity *k = self;
    const bool atomic = a->kind == EMU_ATOMIC || a->kind == EMU_RED;
    const uint32_t size = (uint32_t)a->width * a->count;
    uint32_t number = 0;
    if (a->space != PTX_SPACE_GLOBAL || (!atomic && a->flags & EMU_RELAXED)) return;
    if (touch_run(k, a, atomic, size)) return;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[l] - MEM_GLOBAL;
        if (!is_news(k, atomic, at, size)) continue;
        if (!number && !(number = event_of(k, a))) return;
        touch(k, tag_of(number, l), atomic, at, size);
    }
}

static void atomicity_on_begin(void *self, struct emu_machine *m)
{
    struct atomicity *k = self;
    k->machine = m;
    k->events.count = 0;
    if (!k->mapped) shadow_begin(&k->shadow, emu_machine_extent(m).memory, NULL);
    else shadow_forget(&k->shadow);
    k->mapped = true;
}

/* "In one kernel": each grid is one. */
static const struct emu_observer *atomicity_on_nested(void *self)
{
    struct atomicity *k = self;
    if (!k->nested) k->nested = atomicity_new();
    return &k->nested->observer;
}

struct atomicity *atomicity_new(void)
{
    struct atomicity *k = calloc(1, sizeof *k);
    if (!k) abort();
    k->observer = (struct emu_observer){.self = k,
                                        .ignores_data = true,
                                        .skips_conflict_free = true,
                                        .nested = atomicity_on_nested,
                                        .begin = atomicity_on_begin,
                                        .access = atomicity_on_access};
    return k;
}

void atomicity_free(struct atomicity *k)
{
    if (!k) return;
    atomicity_free(k->nested);
    if (k->mapped) shadow_end(&k->shadow);
    events_end(&k->events);
    free(k);
}

const struct emu_observer *atomicity_observer(struct atomicity *k)
{
    return &k->observer;
}
