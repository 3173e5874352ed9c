/* EMU_CHECK_BOUNDS: accesses outside of the __shared__ variable from whose address they were computed.
 *
 * The bounds of the CTA's whole shared memory are always checked. An index past the end of one variable accesses the
 * next variable without a fault. Lowering determines the variable of most accesses (ptx/shared_base.c) and stores its
 * range with the instruction's position; this observer compares addresses with that range. Accesses of dynamic shared
 * memory, and accesses whose variable is unknown, are not checked. */
#include "emu/device/check.h"

#include "base/arena.h"
#include "emu/memory.h"
#include "emu/sched/launch.h"
#include "ptx/ptx.h"

#include <stdio.h>

struct check_bounds {
    struct check *check;
    struct emu_machine *machine;
    struct emu_observer observer;
    struct arena *arena;
    const struct emu_observer *nested; /* NULL: there was no need of one yet */
};

static void report(const struct check_bounds *k, const struct emu_access *a,
                   const struct emu_place_of *p, u32 lane, u64 at, u32 size)
{
    char what[300];
    u32 cta[3], thread[3];
    snprintf(what, sizeof what,
             "%s of %u bytes at offset %lld of %u bytes of the shared variable '%.*s'",
             a->kind == EMU_LOAD    ? "read"
             : a->kind == EMU_STORE ? "write"
                                    : "atomic",
             size, (long long)at - (long long)p->shared_at, p->shared_size,
             p->shared_name_length < 120 ? (int)p->shared_name_length : 120, p->shared_name);
    launch_thread_of(k->machine, a->who->cta, a->who->warp * LANES + lane, cta, thread);
    check_add(k->check, k->machine, EMU_OUT_OF_BOUNDS, a->pc, cta, thread, 0, what);
}

static void check_shared_on_access(void *self, const struct emu_access *a)
{
    const struct check_bounds *k = self;
    const struct emu_place_of *p = &k->machine->program->places[a->pc];
    if (!p->shared_size || (a->space != PTX_SPACE_SHARED && a->space != PTX_SPACE_SHARED_CLUSTER))
        return;
    const u32 size = (u32)a->width * a->count;
    for (u32 m = a->lanes; m; m &= m - 1) {
        const u32 lane = (u32)__builtin_ctz(m);
        u64 at = a->address[lane];
        if (at >= MEM_SHARED) at -= MEM_SHARED;
        at %= MEM_SHARED_WINDOW; /* of whichever CTA of the cluster */
        if (at < p->shared_at || at + size > (u64)p->shared_at + p->shared_size)
            report(k, a, p, lane, at, size);
    }
}

static void check_shared_on_begin(void *self, struct emu_machine *m)
{
    ((struct check_bounds *)self)->machine = m;
}

static const struct emu_observer *check_shared_on_nested(void *self)
{
    struct check_bounds *k = self;
    if (!k->nested) k->nested = check_bounds_observer(k->arena, k->check);
    return k->nested;
}

const struct emu_observer *check_bounds_observer(struct arena *arena, struct check *c)
{
    struct check_bounds *k = arena_alloc(arena, sizeof *k);
    k->arena = arena;
    k->check = c;
    k->observer = (struct emu_observer){.ignores_data = true,
                                        .self = k,
                                        .nested = check_shared_on_nested,
                                        .begin = check_shared_on_begin,
                                        .access = check_shared_on_access};
    return &k->observer;
}
