/* The memory order `random` (determinism/random.h): a seeded adversary that represents a current GPU.
 *
 * The callbacks of struct emu_order are here. random_pick() and random_place() choose the next warp and slot.
 * determinism/views/views.h chooses the values of loads and the times when stores become visible. docs/random.md
 * describes the order for its users.
 *
 * Invariants. All choices of a launch are drawn from one generator, in the order in which its single host thread needs
 * them: the seed and the launch's number determine the run. The contents of unwritten memory are not drawn from it:
 * they are a hash of the seed and the address (emu_order.unwritten). Launches that do not run under the order
 * (EMU_SKIP_IF_CONFLICT_FREE) do not affect the choices of others. Loads never return a value that the memory model
 * does not allow. */
#include "determinism/random.h"

#include "base/rng.h"
#include "determinism/conflicts.h"
#include "determinism/orders.h"
#include "determinism/store_buffers.h"
#include "determinism/views/views.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    PCT_RIVALS = 32, /* PCT: warps that are compared */
    PCT_CHANGES = 3, /* PCT: times that priorities change in PCT_SPAN picks */
    PCT_SPAN = 1 << 12,
    FIRST_WINDOW = 8,       /* CTAs that are resident at first, or 2, 4 or 8 times as many */
    HELD = 64,              /* entries of the table of warps that wait */
    HOLD_TRIES = 8,         /* picks of another warp in place of one that waits */
    WINDOW_PICKS = 1 << 12, /* picks until twice as many CTAs are resident, if none has ended */
};

struct random_order {
    struct random_options options;
    struct emu_order order;
    uint64_t seed, launches, state; /* state: begins anew with each launch */
    uint64_t
        grid_choices; /* so far: they have their own draws, because some launches are speculated */
    uint64_t execution; /* of all launches so far that were run under the order */
    struct views *views;
    struct store_buffers *buffers; /* NULL unless the model is TSO: in place of views */
    struct emu_shape shape;
    uint32_t late_load_one_in;     /* of so many loads that may be late one is; 0: none */
    enum random_strategy strategy; /* of the launch */
    uint32_t lagging_sm;           /* RANDOM_LAG */
    uint32_t window; /* CTAs that may be resident; it grows while none of them exits */
    uint32_t resident;
    uint64_t grow_at; /* picks */
    uint64_t picks;
    uint64_t salt;                /* PCT: priorities are a hash with it, */
    uint64_t change[PCT_CHANGES]; /* which changes at these picks of each PCT_SPAN */
    uint32_t last_cta;            /* RANDOM_FARTHEST: the CTA that was chosen last */
    uint32_t any_warp_one_in;     /* likewise: one of so many picks is uniform */
    uint64_t *
        at_barrier; /* by slot and warp: emu_warp.serial at the warp's last barrier; NULL: another strategy */
    size_t at_barrier_capacity;
    struct conflicts *conflicts; /* RANDOM_CONFLICTS; NULL: another strategy */
    /* Warps that wait behind an access that conflicts, or with a load that takes place late. */
    struct held {
        uint64_t warp;  /* its CTA and number plus one; 0: none */
        uint64_t until; /* it waits until so many picks have been made */
    } held[HELD];
    uint64_t late_until; /* picks until which some warp waits with a late load */
};

static uint64_t draw(struct random_order *r)
{
    return rng_next(&r->state);
}
static uint32_t below(struct random_order *r, uint32_t n)
{
    return rng_below(&r->state, n);
}
static bool one_in(struct random_order *r, uint32_t n)
{
    return n && !below(r, n);
}

/* ---- warps that wait behind an access ------------------------------------------------------------------------------------- */

static uint64_t held_name(const struct emu_warp *w)
{
    return ((uint64_t)w->cta << 16 | w->warp) + 1;
}

/* By chance the warp waits behind its access, for a time of very different lengths. Returns the picks until when. */
static uint64_t hold(struct random_order *r, const struct emu_warp *w)
{
    const uint64_t name = held_name(w);
    if (!below(r, 2)) return 0;
    const uint64_t until = r->picks + (UINT64_C(1) << below(r, 9));
    r->held[name % HELD] = (struct held){name, until};
    return until;
}

static bool is_held(const struct random_order *r, const struct emu_warp *w)
{
    const struct held *h = &r->held[held_name(w) % HELD];
    return h->warp == held_name(w) && r->picks < h->until;
}

/* Whether the load takes place later. It reads what its warp may read then: what has become ordered behind it has been
 * ordered by something that it does not pass (EMU_LATER), so it reads nothing from its own future. */
static bool is_late(struct random_order *r, const struct emu_access *a)
{
    return a->may_be_late && (a->space == PTX_SPACE_GLOBAL || r->shape.cluster == 1) &&
           one_in(r, r->late_load_one_in);
}

static enum emu_verdict random_on_access(void *self, const struct emu_access *a)
{
    struct random_order *r = self;
    if (is_late(r, a)) {
        const uint64_t until = hold(r, a->who);
        if (until > r->late_until) r->late_until = until;
        return EMU_LATER;
    }
    if (r->conflicts && conflicts_note(r->conflicts, a)) hold(r, a->who);
    return r->buffers ? store_buffers_access(r->buffers, a) : views_access(r->views, a);
}

/* ---- RANDOM_FARTHEST ---------------------------------------------------------------------------------------- */

static uint64_t *at_barrier(const struct random_order *r, const struct emu_warp *w)
{
    return &r->at_barrier[(size_t)w->slot * r->shape.warps_per_cta + w->warp];
}

static void note_barrier(struct random_order *r, const struct emu_sync *s)
{
    if (s->kind == EMU_SYNC_BARRIER) *at_barrier(r, s->who) = s->who->serial;
    if (s->kind == EMU_SYNC_CTA_START)
        memset(&r->at_barrier[(size_t)s->who->slot * r->shape.warps_per_cta], 0,
               r->shape.warps_per_cta * sizeof *r->at_barrier);
}

/* Of the CTA behind the last one that was chosen, the warp that has issued least since its last barrier; of several
 * such warps the first from `from` on. */
static uint32_t farthest(struct random_order *r, const struct emu_warp *ready, uint32_t n,
                         uint32_t from)
{
    uint32_t best = from, best_distance = UINT32_MAX;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0, i = from; k < n; k++, i = i + 1 == n ? 0 : i + 1) {
        const uint32_t distance = ready[i].cta - r->last_cta - 1; /* behind it, modulo 2^32 */
        const uint64_t issued = ready[i].serial - *at_barrier(r, &ready[i]);
        if (distance > best_distance || (distance == best_distance && issued >= least)) continue;
        best = i;
        best_distance = distance;
        least = issued;
    }
    r->last_cta = ready[best].cta;
    return best;
}

static void begin_farthest(struct random_order *r)
{
    const size_t n = (size_t)r->shape.slots * r->shape.warps_per_cta;
    if (n > r->at_barrier_capacity) {
        free(r->at_barrier);
        r->at_barrier = malloc(n * sizeof *r->at_barrier);
        if (!r->at_barrier) abort();
        r->at_barrier_capacity = n;
    }
    memset(r->at_barrier, 0, n * sizeof *r->at_barrier);
    static const uint32_t any_warp[] = {2, 4, 16};
    r->any_warp_one_in = any_warp[below(r, 3)];
    r->last_cta = UINT32_MAX;
}

static enum emu_verdict random_on_sync(void *self, const struct emu_sync *s)
{
    struct random_order *r = self;
    if (s->kind == EMU_SYNC_CTA_EXIT) r->resident--;
    if (r->strategy == RANDOM_FARTHEST) note_barrier(r, s);
    if (r->buffers) store_buffers_sync(r->buffers, s);
    else views_sync(r->views, s);
    return EMU_PROCEED;
}

/* ---- which warp goes on ------------------------------------------------------------------------------------ */

static uint64_t priority(const struct random_order *r, const struct emu_warp *w)
{
    uint64_t z = (((uint64_t)w->cta << 32 | w->warp) ^ r->salt) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 29) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 32;
}

/* Of PCT_RIVALS warps from `from` on, the one of the highest priority. */
static uint32_t most_urgent(const struct random_order *r, const struct emu_warp *ready, uint32_t n,
                            uint32_t from)
{
    uint32_t best = from;
    uint64_t most = priority(r, &ready[from]);
    for (uint32_t k = 1, i = from; k < n && k < PCT_RIVALS; k++) {
        if (++i == n) i = 0;
        const uint64_t p = priority(r, &ready[i]);
        if (p <= most) continue;
        most = p;
        best = i;
    }
    return best;
}

static int random_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct random_order *r = self;
    const uint32_t n = (uint32_t)count;
    uint32_t i = below(r, n);
    r->picks++;
    if (r->buffers) store_buffers_step(r->buffers);
    *burst = one_in(r, 2) ? 1 : 1 + below(r, 16);
    switch (r->strategy) {
    case RANDOM_PCT:
        *burst = 32;
        for (int c = 0; c < PCT_CHANGES; c++)
            if (r->picks % PCT_SPAN == r->change[c]) r->salt = draw(r);
        if (one_in(r, 16))
            break; /* else a warp that busy-waits for another one might do so for ever */
        i = most_urgent(r, ready, n, i);
        break;
    case RANDOM_BURSTY: *burst = 1u << below(r, 11); break;
    case RANDOM_LAG:
        if (r->picks % PCT_SPAN == 1) r->lagging_sm = ready[i].sm;
        for (int k = 0; k < 8 && ready[i].sm == r->lagging_sm; k++) i = below(r, n);
        break;
    case RANDOM_FARTHEST:
        if (!one_in(r, r->any_warp_one_in)) i = farthest(r, ready, n, i);
        break;
    case RANDOM_CONFLICTS:
        for (int k = 0; k < HOLD_TRIES && is_held(r, &ready[i]); k++) i = below(r, n);
        if (one_in(r, 2)) *burst = 1;
        break;
    default: break;
    }
    if (r->picks < r->late_until)
        for (int k = 0; k < HOLD_TRIES && is_held(r, &ready[i]); k++) i = below(r, n);
    return (int)i;
}

/* A window of few CTAs at a time runs much faster than all that fit, and its warps interact as often. CTAs that wait for
 * others do not exit: then the window grows. */
static int random_place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct random_order *r = self;
    (void)cta, (void)free_slots;
    if (r->resident >= r->window) {
        if (r->picks < r->grow_at) return -1;
        r->window *= 2;
    }
    r->grow_at = r->picks + WINDOW_PICKS;
    r->resident += r->shape.cluster;
    return (int)below(r, (uint32_t)count);
}

/* A warp may wait for a CTA that is not resident. */
static bool random_on_idle(void *self)
{
    struct random_order *r = self;
    views_settle(r->views);
    const bool drained = r->buffers && store_buffers_drain(r->buffers);
    const bool may_grow = r->grow_at && r->resident >= r->window;
    r->grow_at = 0;
    return may_grow || drained;
}

static void quiesce(void *self)
{
    struct random_order *r = self;
    r->grow_at = 0;
    views_settle(r->views);
    if (r->buffers) (void)store_buffers_drain(r->buffers);
}

static uint32_t choose_grid(void *self, uint32_t count)
{
    struct random_order *r = self;
    uint64_t state = rng_mix(~r->seed + ++r->grid_choices * RNG_STEP);
    return rng_below(&state, count);
}

static unsigned wants_of(void *self, const struct emu_launch_traits *next)
{
    struct random_order *r = self;
    r->launches++;
    const bool loses = next->has_narrow_atomics && r->options.scopes; /* reductions may be lost */
    return r->order.wants |
           (next->counted || next->observed || loses ? 0 : EMU_SKIP_IF_CONFLICT_FREE);
}
static const struct emu_order_fast fast = {.wants = wants_of};

static void begin_views(struct random_order *r, struct emu_machine *m)
{
    static const uint32_t late[] = {8, 32, 128, 512}, fresh[] = {2, 8, 64}, stale[] = {2, 8, 64};
    struct views_settings s = {.late_for = late[below(r, 4)],
                               .fresh_one_in = fresh[below(r, 3)],
                               .stale_one_in = stale[below(r, 3)],
                               .late_atomics = r->options.late_atomics,
                               .ignores_scopes = !r->options.scopes,
                               .has_shared = r->options.shared && r->shape.cluster == 1};
    const bool is_ptx = r->options.model == RANDOM_PTX;
    if (r->buffers) store_buffers_begin(r->buffers, m, 1 + s.late_for / 4, &r->state);
    if (!is_ptx || !r->options.late_stores) s.late_for = 0;
    if (!is_ptx || !r->options.stale_loads) s.fresh_one_in = 0;
    if (!s.fresh_one_in || !r->options.stale_strong) s.stale_one_in = 0;
    /* Not drawn: where no load may be late, seeds keep the runs that they had. */
    r->late_load_one_in = 2u << rng_mix(r->seed ^ r->launches) % 3;
    views_begin(r->views, m, &s, &r->state);
}

static void random_on_begin(void *self, struct emu_machine *m)
{
    struct random_order *r = self;
    r->shape = emu_machine_shape(m);
    r->state = rng_mix(r->seed + r->launches * RNG_STEP);
    r->strategy = (enum random_strategy)r->options.strategy;
    if (r->strategy == RANDOM_ANY)
        r->strategy = (enum random_strategy)(1 + below(r, RANDOM_FARTHEST - 1));
    if (r->strategy == RANDOM_FARTHEST) begin_farthest(r);
    if (r->conflicts) conflicts_begin(r->conflicts);
    memset(r->held, 0, sizeof r->held);
    begin_views(r, m);
    r->salt = draw(r);
    r->picks = r->grow_at = r->late_until = 0;
    r->resident = 0;
    r->window = (uint32_t)FIRST_WINDOW << below(r, 4);
    if (one_in(r, 8)) r->window = 1u << below(r, 6);
    if (one_in(r, 8)) r->window = r->shape.slots;
    if (r->window < r->shape.cluster) r->window = r->shape.cluster;
    for (int c = 0; c < PCT_CHANGES; c++) r->change[c] = below(r, PCT_SPAN);
}

/* A launch that has ended well was idle before. */
static void random_on_end(void *self)
{
    struct random_order *r = self;
    r->execution = rng_mix(r->execution ^ rng_mix(views_execution(r->views) + r->launches));
    if (r->execution <= ORDER_CONFLICT_FREE) r->execution = ORDER_CONFLICT_FREE + 1;
    views_lose_late_stores(r->views);
    if (r->buffers) store_buffers_lose(r->buffers);
}

static bool has_late_loads(const struct random_options *o)
{
    return o->late_loads && o->model == RANDOM_PTX;
}

static const struct emu_order_livelock livelock = {.quiesce = quiesce};

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct random_order *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->options = *(const struct random_options *)options;
    r->seed = rng_mix(seed);
    r->execution = ORDER_CONFLICT_FREE;
    r->views = views_new();
    if (r->options.model == RANDOM_TSO) r->buffers = store_buffers_new();
    if (r->options.strategy == RANDOM_CONFLICTS) r->conflicts = conflicts_new();
    r->order = (struct emu_order){.self = r,
                                  .name = random_kind.name,
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES |
                                           (r->options.shared ? EMU_WANT_SHARED : 0u) |
                                           (has_late_loads(&r->options) ? EMU_WANT_LATE_LOADS : 0u),
                                  .step = EMU_STEP_EVENT,
                                  .unwritten = r->options.uninitialised ? ~r->seed | 1 : 0,
                                  .fast = &fast,
                                  .begin = random_on_begin,
                                  .pick = random_pick,
                                  .place = random_place,
                                  .choose_grid = choose_grid,
                                  .access = random_on_access,
                                  .sync = random_on_sync,
                                  .idle = random_on_idle,
                                  .end = random_on_end,
                                  .livelock = &livelock};
    return &r->order;
}

static uint64_t execution(const struct emu_order *o)
{
    const struct random_order *r = o->self;
    return r->buffers ? ORDER_EXECUTION_UNKNOWN : r->execution;
}

static void release(struct emu_order *o)
{
    struct random_order *r = o->self;
    views_free(r->views);
    store_buffers_free(r->buffers);
    conflicts_free(r->conflicts);
    free(r->at_barrier);
    free(r);
}

static const char *const strategies[] = {"any", "uniform",  "pct",       "bursty",
                                         "lag", "farthest", "conflicts", NULL};
static_assert(sizeof strategies / sizeof *strategies == RANDOM_STRATEGIES + 1, "each has a name");

static const char *const models[] = {"ptx", "sc", "tso", NULL};
static const char *const contents[] = {"zero", "random", NULL};

static const struct order_option option_list[] = {
    {"strategy",
     "which warp goes on: warps alike; by priorities that seldom change; in long runs; one SM far behind; any of "
     "these, by the seed; CTAs in turn, of each the warp farthest from its next barrier; warps alike, but one that "
     "has accessed a word like another warp, one of them writing, waits for a while",
     offsetof(struct random_options, strategy), .words = strategies, .preset = RANDOM_ANY},
    {"model",
     "what memory does: all that PTX allows; sequential consistency, in which no store is late and no load stale; "
     "total store order, as on x86: stores are late, but in order. sc and tso leave late-stores, late-loads and stale-loads "
     "aside",
     offsetof(struct random_options, model), .words = models, .preset = RANDOM_PTX},
    {"late-stores", "stores become visible late, and in another order than they were made",
     offsetof(struct random_options, late_stores), .words = order_off_on, .preset = 1},
    {"late-loads", "loads take place late, behind stores that do not need their results",
     offsetof(struct random_options, late_loads), .words = order_off_on, .preset = 1},
    {"late-atomics",
     "with late-stores: atomics may take place before stores and atomics that are not visible yet, and read what was there before",
     offsetof(struct random_options, late_atomics), .words = order_off_on, .preset = 1},
    {"stale-loads", "loads may read values that have been overwritten",
     offsetof(struct random_options, stale_loads), .words = order_off_on, .preset = 1},
    {"stale-strong", "with stale-loads: volatile, relaxed and acquire loads may, too",
     offsetof(struct random_options, stale_strong), .words = order_off_on, .preset = 1},
    {"scopes", "fences, releases, acquires and atomics of scope .cta order nothing for other CTAs",
     offsetof(struct random_options, scopes), .words = order_off_on, .preset = 1},
    {"shared",
     "warps are switched at loads and stores of shared memory, which may be late and stale, too",
     offsetof(struct random_options, shared), .words = order_off_on, .preset = 1},
    {"uninitialised",
     "what memory holds that nothing has written: bytes drawn from the seed (allocations, shared and local memory), or "
     "zeros, as under every other order",
     offsetof(struct random_options, uninitialised), .words = contents, .preset = 1},
};

const struct order_kind random_kind = {
    .name = "random",
    .what =
        "as a GPU of today may do it: CTAs on SMs, warps, when stores become visible and what loads see "
        "are chosen by chance, within PTX's memory model",
    .options = option_list,
    .option_count = sizeof option_list / sizeof *option_list,
    .size = sizeof(struct random_options),
    .nests = true,
    .recorded = true,
    .make = make,
    .free = release,
    .execution = execution,
};
