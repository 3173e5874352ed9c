/* A search over all choices of a launch, depth first. */
#include "determinism/exhaustive.h"

#include "determinism/views/views.h"
#include "emu/order.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES = 1024, SECTORS = 1024, SECTOR = 32 };
enum {
    ALONE = 100000
}; /* the longest time that a warp goes on without an access to a shared sector, in turns */

struct exhaustive {
    struct emu_order order;
    struct views *views;
    struct emu_machine *m;
    uint64_t no_chance;
    struct choice {
        uint32_t chosen, count;
    } choices[CHOICES];
    uint32_t depth, at; /* choices of the run so far; those that are repeated come first */
    uint32_t turn;      /* of a run that is cut short */
    const char *cut;    /* why some run was; NULL: none was */
    bool ended;
    uint64_t runs;
    bool may_switch; /* another warp may go on now */
    uint64_t last;   /* the warp that goes on */
    uint32_t alone;  /* for so many turns */
    struct sector {  /* that has been accessed in some run */
        uint64_t key, warp;
        bool is_written, is_common, is_shared; /* by several warps; and written */
    } sectors[SECTORS];
    uint32_t sector_count;
    bool any_shared; /* else all accesses commute: warps go on in any order */
    bool found;      /* a sector is shared that was not before: begin anew */
};

static uint32_t choose(void *self, uint32_t count)
{
    struct exhaustive *x = self;
    if (count < 2) return 0;
    if (x->at == CHOICES) {
        x->cut = "a run made more than 1024 choices";
        return x->turn++ % count;
    }
    if (x->at == x->depth) x->choices[x->depth++] = (struct choice){0, count};
    return x->choices[x->at++].chosen;
}

/* ---- sectors that several warps access -------------------------------------------------------------------- */

static uint64_t name_of(const struct emu_warp *w)
{
    return ((uint64_t)w->cta << 32 | w->warp) + 1;
}

static struct sector *find_sector(struct exhaustive *x, uint64_t key)
{
    for (uint32_t i = 0; i < x->sector_count; i++)
        if (x->sectors[i].key == key) return &x->sectors[i];
    if (x->sector_count == SECTORS) return NULL;
    x->sectors[x->sector_count] = (struct sector){.key = key};
    return &x->sectors[x->sector_count++];
}

/* Whether the sector is shared. Too many sectors: all of them are. */
static bool note_sector(struct exhaustive *x, uint64_t key, uint64_t warp, bool writes)
{
    struct sector *w = find_sector(x, key);
    if (!w) {
        x->found |= !x->any_shared;
        x->any_shared = true;
        return true;
    }
    if (!w->warp) w->warp = warp;
    w->is_common |= w->warp != warp;
    w->is_written |= writes;
    if (w->is_shared || !w->is_common || !w->is_written) return w->is_shared;
    return w->is_shared = x->any_shared = x->found = true;
}

static enum emu_verdict exhaustive_on_access(void *self, const struct emu_access *a)
{
    struct exhaustive *x = self;
    const bool shared = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER;
    const uint64_t of = shared ? UINT64_C(1) << 63 | (uint64_t)a->who->cta << 40 : 0;
    const uint32_t size = (uint32_t)a->width * a->count;
    bool is_shared = false;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        for (uint64_t k = at / SECTOR; k <= (at + size - 1) / SECTOR; k++)
            is_shared |= note_sector(x, k ^ of, name_of(a->who), a->kind != EMU_LOAD);
    }
    /* No choice: later it may read all that it may read now, and what has been written since. */
    if (a->may_be_late && is_shared) return EMU_LATER;
    x->may_switch |= is_shared;
    if (a->flags & EMU_ASYNC) x->cut = "the order of asynchronous copies is not varied";
    return views_access(x->views, a);
}

static enum emu_verdict exhaustive_on_sync(void *self, const struct emu_sync *s)
{
    struct exhaustive *x = self;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        x->may_switch |= s->sc;
        if (s->op) x->cut = "fences between proxies are not searched";
        break;
    case EMU_SYNC_BARRIER:
    case EMU_SYNC_BARRIER_DONE:
    case EMU_SYNC_WARP:
    case EMU_SYNC_WARP_EXIT:
    case EMU_SYNC_CTA_START:
    case EMU_SYNC_CTA_EXIT: break;
    case EMU_SYNC_RUNTIME:
        x->cut = "the order of prints, allocations and launches by kernels is not varied";
        break;
    default: x->cut = "the order of asynchronous copies, mbarriers and clusters is not varied";
    }
    views_sync(x->views, s);
    return EMU_PROCEED;
}

/* ---- runs -------------------------------------------------------------------------------------------------- */

/* The warp that went on, as long as nobody else can see what it does; -1: another one may. */
static int go_on(struct exhaustive *x, const struct emu_warp *ready, size_t count)
{
    if (x->may_switch) return -1;
    if (++x->alone > ALONE) {
        x->cut = "a warp ran for 100,000 turns without an access that others see";
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (name_of(&ready[i]) == x->last) return (int)i;
    return -1;
}

static int exhaustive_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct exhaustive *x = self;
    *burst = 1;
    const int same = go_on(x, ready, count);
    if (same >= 0) return same;
    const bool in_turn = x->alone > ALONE;
    x->may_switch = false;
    x->alone = 0;
    const uint32_t i = in_turn         ? x->turn++ % (uint32_t)count
                       : x->any_shared ? choose(x, (uint32_t)count)
                                       : 0;
    x->last = name_of(&ready[i]);
    return (int)i;
}

static bool exhaustive_on_idle(void *self)
{
    views_settle(((struct exhaustive *)self)->views);
    return false;
}

static void settle(void *self)
{
    views_settle(((struct exhaustive *)self)->views);
}

static void exhaustive_on_end(void *self)
{
    struct exhaustive *x = self;
    if (views_were_full(x->views)) x->cut = "views of bounded size were full";
    views_settle(x->views);
}

static void exhaustive_on_begin(void *self, struct emu_machine *m)
{
    struct exhaustive *x = self;
    const struct emu_shape shape = emu_machine_shape(m);
    x->m = m;
    x->last = 0;
    x->alone = 0;
    x->may_switch = true;
    if (emu_machine_reads_clock(m)) x->cut = "the kernel reads a clock or the number of its SM";
    if (shape.cluster > 1) x->cut = "clusters are not searched";
    if (shape.ctas > shape.slots)
        x->cut =
            "there are more CTAs than fit on the GPU: the order in which they begin is not varied";
    views_begin(x->views, m,
                &(struct views_settings){.late_for = 1,
                                         .late_atomics = true,
                                         .fresh_one_in = 1,
                                         .stale_one_in = 1,
                                         .has_shared = shape.cluster == 1,
                                         .choose = choose,
                                         .choose_self = x},
                &x->no_chance);
}

bool exhaustive_next(struct exhaustive *x)
{
    x->at = 0;
    if (x->found) { /* what was searched so far had too few choices */
        x->found = false;
        x->cut = NULL;
        x->depth = 0;
        x->runs = 0;
        return true;
    }
    x->runs++;
    while (x->depth && x->choices[x->depth - 1].chosen + 1 == x->choices[x->depth - 1].count)
        x->depth--;
    x->ended = !x->depth;
    if (x->depth) x->choices[x->depth - 1].chosen++;
    return !x->ended;
}

uint64_t exhaustive_runs(const struct exhaustive *x)
{
    return x->runs;
}

const char *exhaustive_missing(const struct exhaustive *x)
{
    return !x->ended ? "not all choices were made" : x->cut;
}

static const struct emu_order_livelock livelock = {.quiesce = settle};

struct exhaustive *exhaustive_new(void)
{
    struct exhaustive *x = calloc(1, sizeof *x);
    if (!x) abort();
    x->views = views_new();
    x->order = (struct emu_order){.self = x,
                                  .name = "exhaustive",
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES | EMU_WANT_SHARED |
                                           EMU_WANT_LATE_LOADS,
                                  .step = EMU_STEP_EVENT,
                                  .begin = exhaustive_on_begin,
                                  .pick = exhaustive_pick,
                                  .access = exhaustive_on_access,
                                  .sync = exhaustive_on_sync,
                                  .idle = exhaustive_on_idle,
                                  .end = exhaustive_on_end,
                                  .livelock = &livelock};
    return x;
}

void exhaustive_free(struct exhaustive *x)
{
    if (!x) return;
    views_free(x->views);
    free(x);
}

const struct emu_order *exhaustive_order(struct exhaustive *x)
{
    return &x->order;
}
