/* Warps of DAB that cannot run: why they sleep, and how they are woken.
 *
 * dab.c puts warps to sleep, and wakes those that waited for a flush or for their turn at shared memory. schedulers.c
 * wakes warps whose turn it is to reduce. */
#include "determinism/dab/internal.h"

struct emu_warp dab_identity(const struct dab_warp *w)
{
    return (struct emu_warp){.cta = w->cta, .warp = w->warp, .sm = w->sm, .slot = w->slot};
}

static void wake(struct dab *d, const struct dab_warp *w)
{
    const struct emu_warp who = dab_identity(w);
    emu_machine_wake(d->m, &who);
}

uint32_t dab_next_sleeping(const struct dab *d, uint32_t at)
{
    while (at < d->warp_count) {
        const uint64_t rest = d->waits.sleeping[at / 64] >> at % 64;
        if (rest) return at + (uint32_t)__builtin_ctzll(rest);
        at = (at | 63) + 1;
    }
    return d->warp_count;
}

void dab_set_full(struct dab *d, struct dab_warp *w)
{
    dab_mark_sleeping(d, w);
    d->waits.full += !w->is_full;
    w->is_full = true;
}

void dab_set_pending(struct dab *d, struct dab_warp *w, uint8_t why, bool ordered)
{
    dab_mark_sleeping(d, w);
    d->any_waited = true;
    d->waits.pending += !w->pending;
    d->waits.pending_for[why]++;
    if (w->pending) d->waits.pending_for[w->why]--;
    w->pending = true;
    w->why = why;
    w->ordered = ordered;
}

void dab_wake(struct dab *d, struct dab_warp *w)
{
    const size_t at = (size_t)(w - d->warps);
    dab_unstick(d, w->sched);
    d->waits.full -= w->is_full;
    d->waits.smem_waiters -= w->waits_for_smem_turn;
    d->waits.mbarrier_waiters -= w->tests_mbarrier;
    d->waits.sleeping[at / 64] &= ~(UINT64_C(1) << at % 64);
    if (w->pending) {
        d->waits.pending--;
        d->waits.pending_for[w->why]--;
        dab_touch(d, &d->scheds[w->sched]);
    }
    w->wants = w->is_full = w->waits_for_smem_turn = w->pending = w->tests_mbarrier = w->chained =
        false;
    if (w == d->waits.going_to_sleep) d->waits.going_to_sleep = NULL;
    else wake(d, w);
}
