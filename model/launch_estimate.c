#include "model/launch_estimate.h"

#include "emu/trace.h"
#include "model/config.h"
#include "model/heavy.h"
#include "model/machine.h"
#include "model/sample.h"
#include "model/schedule.h"
#include "model/shared_stores.h"
#include "model/time_lapse.h"
#include "model/timing_order.h"
#include "model/unroll.h"

#include <math.h>
#include <string.h>

const char *timing_part_name(enum timing_part p)
{
    static const char *const names[TIMING_PARTS] = {
        [TIMING_ISSUE] = "issue",   [TIMING_UNIT] = "units",      [TIMING_LATENCY] = "latency",
        [TIMING_L1] = "l1",         [TIMING_L2] = "l2",           [TIMING_DRAM] = "dram",
        [TIMING_SHARED] = "shared", [TIMING_ATOMIC] = "atomics",  [TIMING_BARRIER] = "barriers",
        [TIMING_FETCH] = "fetch",   [TIMING_IDLE] = "imbalance",  [TIMING_START] = "launch",
        [TIMING_LOG] = "log",       [TIMING_QUANTUM] = "quantum", [TIMING_COMMIT] = "commit",
        [TIMING_SERIAL] = "serial", [TIMING_TURN] = "turns",      [TIMING_FULL] = "full",
        [TIMING_FLUSH] = "flush"};
    return names[p];
}

const char *timing_unit_name(enum timing_unit u)
{
    static const char *const names[TIMING_UNITS] = {
        [TIMING_UNIT_INT] = "int",       [TIMING_UNIT_FP32] = "fp32",
        [TIMING_UNIT_FP64] = "fp64",     [TIMING_UNIT_SFU] = "sfu",
        [TIMING_UNIT_TENSOR] = "tensor", [TIMING_UNIT_MEMORY] = "memory"};
    return names[u];
}

const char *launch_warning_text(unsigned bit)
{
    switch (bit) {
    case LAUNCH_UNMEASURED:
        return "no cycles of this GPU were measured: latencies and bandwidths are those of its "
               "configuration, the interval that of the others by theirs";
    case LAUNCH_PARTLY: return "a part of the launch was traced, the rest is taken to be alike";
    case LAUNCH_ORDER:
        return "the order's times are those of its paper's mechanism: no GPU has it, and no interval "
               "is known";
    case LAUNCH_CHANGED:
        return "the configuration differs from that of the GPU of this name: what was measured "
               "of it is changed as the configuration is, and no interval is known";
    case LAUNCH_TWIN:
        return "cycles of another board with this chip were measured: they are changed as the "
               "configurations differ, and the interval is squared";
    case LAUNCH_WAITS:
        return "warps wait for each other in loops, or for locks: how long depends on times that the trace "
               "does not have, and the interval is wide";
    case LAUNCH_NESTED:
        return "kernels launched grids: these run beside their parents, 5000 cycles (assumed) behind their launch, so "
               "cycles overlap; no interval is known";
    case LAUNCH_SHARED_STORES:
        return "SMs store to the same sectors without atomics, which took up to 12 times as long on an H200: the "
               "interval is wide";
    case LAUNCH_HOPS:
        return "the time of a hop between partitions is what --hop-cycles says, and links have no limit: no GPU has this "
               "network, and no interval is known";
    case LAUNCH_CUT:
        return "a launch faulted or was stopped: its cycles are of what was executed before, and no interval "
               "is known";
#define FEATURE(id, text, value)                                                                   \
    case LAUNCH_OUTSIDE << TIMING_FEATURE_##id:                                                    \
        return "outside of what was measured: " text;
#include "model/timing_features.def"
    default: return "";
    }
}

enum timing_part launch_bound(const struct launch_estimate *t)
{
    if (t->part[TIMING_IDLE] > t->cycles / 2) return TIMING_IDLE;
    enum timing_part most = TIMING_ISSUE;
    for (int p = 0; p < TIMING_PARTS; p++)
        if (p != TIMING_IDLE && t->part[p] > t->part[most]) most = (enum timing_part)p;
    return most;
}

struct machine_code { /* of a trace, as an assembler makes it, if the machine has one */
    struct unroll unrolled;
    struct schedule in_order;
};

static const struct emu_trace *assemble(const struct emu_trace *t, const struct timing_machine *m,
                                        bool native, struct machine_code *c)
{
    *c = (struct machine_code){.in_order = {.trace = *t}};
    if (!m->scheduled) return t;
    unroll_take(t, !native, &c->unrolled);
    schedule_take(&c->unrolled.trace, &c->in_order);
    return &c->in_order.trace;
}

static void free_code(struct machine_code *c)
{
    schedule_free(&c->in_order);
    unroll_free(&c->unrolled);
}

/* The heavy CTAs of a large grid end last: the rest of the launch waits for them. */
static void wait_for_heavy(const struct emu_counts *c, const struct timing_machine *m,
                           const struct heavy *h, uint32_t slots, uint32_t l1_bytes,
                           struct timing_result *t)
{
    struct timing_result alone;
    if (!h->trace.cta_count) return;
    struct machine_code code;
    timing_run(assemble(&h->trace, m, true, &code), m, slots, l1_bytes, &alone);
    free_code(&code);
    const double cycles = heavy_begin(h, c, t->cycles - m->start) + alone.cycles;
    if (cycles <= t->cycles) return;
    t->part[TIMING_IDLE] += cycles - t->cycles;
    t->cycles = cycles;
}

/* Of some SMs to all. */
static void scale_to_all(const struct sample *s, const struct timing_machine *m,
                         struct timing_result *t)
{
    const double begun = t->part[TIMING_START],
                 whole = m->start + (t->cycles - m->start) * s->scale,
                 scale = t->cycles > begun ? (whole - begun) / (t->cycles - begun) : 1;
    t->cycles = begun + (t->cycles - begun) * scale;
    double busy = 0;
    for (int p = 0; p < TIMING_PARTS; p++)
        if (p != TIMING_START) t->part[p] *= scale * (p == TIMING_IDLE ? 1 : s->busy);
    for (int u = 0; u < TIMING_UNITS; u++) t->by_unit[u] *= scale * s->busy;
    for (int p = 0; p < TIMING_PARTS; p++) busy += p == TIMING_IDLE ? 0 : t->part[p];
    if (s->busy != 1) t->part[TIMING_IDLE] = t->cycles - busy;
}

/* `modelled`: cycles before the heavy CTAs are waited for. */
static double cycles_over_time(const struct emu_counts *c, const struct timing_machine *m, bool all,
                               struct time_lapse *lapse, double *modelled, struct timing_result *t)
{
    struct timing_result own;
    struct timing_order o = {.kind = TIMING_NATIVE};
    if (!t) t = &own;
    (void)timing_order_of(c, &o);
    const uint64_t each = (c->ctas + c->sms - 1) / c->sms; /* CTAs that an SM is given */
    const uint32_t slots = c->occupancy.ctas ? c->occupancy.ctas : 1,
                   here = each < slots ? (uint32_t)each : slots,
                   l1_bytes = machine_l1_bytes(c->gpu, here, c->shared);
    struct sample s;
    struct heavy h;
    heavy_take(c, &h);
    sample_take(c, &h.rest, h.rest_instructions, m, all || o.kind != TIMING_NATIVE, &s);
    struct machine_code code;
    timing_run_lapse(assemble(&s.trace, m, o.kind == TIMING_NATIVE, &code), m, &o, &s.share, slots,
                     l1_bytes, lapse, t);
    free_code(&code);
    scale_to_all(&s, m, t);
    *modelled = t->cycles;
    sample_free(&s);
    wait_for_heavy(c, m, &h, slots, l1_bytes, t);
    heavy_free(&h);
    return t->cycles;
}

double launch_cycles(const struct emu_counts *c, const struct timing_machine *m, bool all,
                     struct timing_result *t)
{
    double modelled;
    return cycles_over_time(c, m, all, NULL, &modelled, t);
}

/* The timing model does not write dirty sectors back: a store is done when L2 has it. But no launch ends before DRAM
 * has moved all sectors that the caches of the launch asked of it. The difference counts as waiting for DRAM. */
static void wait_for_dram(const struct emu_counts *c, const struct timing_machine *m,
                          struct launch_estimate *out)
{
    const struct emu_events *e = &c->phases[0].total;
    const double least = m->start + (double)(e->cache.dram_reads + e->cache.dram_writes) /
                                        config_dram_rate(c->gpu);
    if (out->cycles >= least) return;
    out->part[TIMING_DRAM] += least - out->cycles;
    out->cycles = least;
}

/* Whether what the feature stands for takes a tenth of the launch's time. Numbers of instructions alone move no time. */
static bool matters(enum timing_feature f, const struct launch_estimate *t)
{
    const double *part = t->part, memory = part[TIMING_L1] + part[TIMING_L2] + part[TIMING_DRAM];
    double share = 0;
    switch (f) {
    case TIMING_FEATURE_instructions: return false;
    case TIMING_FEATURE_loads:
    case TIMING_FEATURE_stores:
    case TIMING_FEATURE_local:
    case TIMING_FEATURE_l2: share = memory; break;
    case TIMING_FEATURE_dram: share = part[TIMING_DRAM]; break;
    case TIMING_FEATURE_atomics: share = part[TIMING_ATOMIC] + memory; break;
    case TIMING_FEATURE_shared: share = part[TIMING_SHARED]; break;
    case TIMING_FEATURE_fp64: share = t->by_unit[TIMING_UNIT_FP64] + part[TIMING_LATENCY]; break;
    case TIMING_FEATURE_special: share = t->by_unit[TIMING_UNIT_SFU] + part[TIMING_LATENCY]; break;
    case TIMING_FEATURE_barriers: share = part[TIMING_BARRIER]; break;
    default: return true; /* textures and matrix instructions: nothing is known of them */
    }
    return share > 0.1 * t->cycles;
}

static unsigned outside(const struct timing_fit *fit, const struct emu_events *e,
                        const struct launch_estimate *t)
{
    unsigned bits = 0;
    for (unsigned f = 0; f < TIMING_FEATURES; f++) {
        const double x = timing_feature_of((enum timing_feature)f, e);
        if ((x < 0.8 * fit->least[f] || x > 1.25 * fit->most[f]) &&
            matters((enum timing_feature)f, t))
            bits |= (unsigned)LAUNCH_OUTSIDE << f;
    }
    return bits;
}

/* Of a GPU of which nothing was measured: outside of all that was. */
static unsigned outside_all(const struct emu_events *e, const struct launch_estimate *t)
{
    unsigned bits = timing_fit_count ? ~0u : 0;
    for (size_t i = 0; i < timing_fit_count; i++) bits &= outside(&timing_fits[i], e, t);
    return bits;
}

static bool is_changed(const struct emu_gpu *g)
{
    struct timing_machine unused = {0};
    return machine_follow(emu_gpu_find(g->name), g, &unused);
}

/* What waits do to the interval. Loops that poll have the rounds that they have in the emulator's order, which may be
 * none: such programs took 6 to 17 times their estimate. Locks are modelled (model/timing_lock.c), and so are loops that one
 * value alone ends (model/timing_poll.c), but who has a lock next is not known. */
static const double sampling_error =
    0.1; /* of a logarithm: what a sample changed at worst (docs/estimate.md) */
enum { WAITS_LOW = 2, LOCKS_HIGH = 4, POLLS_HIGH = 16 };

enum waits { WAITS_NOT, WAITS_LOCKS, WAITS_POLLS };
static enum waits waits_of(const struct emu_counts *c, const struct timing_result *t)
{
    if ((c->busy_waits || c->trace->polls) && !t->polls) return WAITS_POLLS;
    return t->locks || t->polls ? WAITS_LOCKS : WAITS_NOT;
}

/* Cycles that stores to sectors which several SMs store to may take, if these are more than the estimate; 0. */
static double shared_store_time(const struct emu_counts *c, double cycles)
{
    const double stores = (double)c->phases[0].total.cache.l2_stores;
    if (stores * shared_store_cycles <= cycles) return 0;
    const double shared = shared_stores(c);
    return shared * shared_store_cycles > cycles ? shared * shared_store_cycles_most : 0;
}

/* Cycles of the SMs' clock that a hop takes; 0: no time. */
static double hop_of(const struct emu_gpu *g)
{
    const struct timing_hops *h = timing_hops_in_use();
    return h ? h->cycles * g->core_mhz / g->interconnect_mhz : 0;
}

/* The interval, and what to be careful about. */
static void judge(const struct emu_counts *c, const struct timing_fit *fit, bool native,
                  enum waits waits, struct launch_estimate *out)
{
    const struct emu_events *e = &c->phases[0].total;
    double low, high;
    machine_alone(&low, &high);
    if (!fit || !fit->measured) out->warnings |= LAUNCH_UNMEASURED | outside_all(e, out);
    else {
        const enum launch_regime r = launch_regime_of(out);
        low = fit->low[r], high = fit->high[r];
        out->warnings |= outside(fit, e, out);
        if (strcmp(fit->gpu, c->gpu->name) != 0) out->warnings |= LAUNCH_TWIN;
    }
    const bool wider = out->warnings >= LAUNCH_TWIN, changed = fit && is_changed(c->gpu);
    if (c->trace->instructions < e->warp_instructions || c->trace->cut)
        out->warnings |= LAUNCH_PARTLY;
    if (changed) out->warnings |= LAUNCH_CHANGED;
    if (!native) out->warnings |= LAUNCH_ORDER;
    if (hop_of(c->gpu) > 0) out->warnings |= LAUNCH_HOPS;
    if (waits) out->warnings |= LAUNCH_WAITS;
    const double shared = shared_store_time(c, out->cycles);
    if (shared > 0) out->warnings |= LAUNCH_SHARED_STORES;
    if (changed || !native || out->warnings & LAUNCH_HOPS) return;
    const double part = out->warnings & LAUNCH_PARTLY ? sampling_error : 0;
    out->low = out->cycles * exp(-hypot(log(fmin(1, wider ? low * low : low)), part));
    out->high = out->cycles * exp(hypot(log(fmax(1, wider ? high * high : high)), part));
    if (shared > 0) out->high = fmax(out->high, out->cycles + shared);
    if (waits) out->low /= WAITS_LOW, out->high *= waits == WAITS_POLLS ? POLLS_HIGH : LOCKS_HIGH;
}

/* What follows from the cycles. */
static void derive(const struct emu_counts *c, struct launch_estimate *out)
{
    out->seconds = config_seconds(c->gpu, out->cycles);
    out->bound = launch_bound(out);
    out->ipc = (double)out->thread_instructions / out->cycles;
    out->roofline = roofline_of(c->gpu, (double)out->warp_instructions, out->dram_bytes,
                                out->cycles);
}

/* All but the interval and the warnings. `modelled`: cycles of the model's run, before heavy CTAs and DRAM are waited
 * for. */
static bool estimate_on(const struct emu_counts *c, const struct timing_machine *m, bool all,
                        struct time_lapse *lapse, double *modelled, struct timing_result *t,
                        struct launch_estimate *out)
{
    struct timing_order o;
    if (!c || !c->trace || !c->trace->cta_count || !timing_order_of(c, &o)) return false;
    const struct emu_events *e = &c->phases[0].total; /* traces are made without phases */
    *out = (struct launch_estimate){
        .ctas = c->occupancy.ctas,
        .warps = c->occupancy.warps,
        .cycles = cycles_over_time(c, m, all, lapse, modelled, t),
        .warp_instructions = e->warp_instructions,
        .thread_instructions = e->thread_instructions,
        .dram_bytes = 32.0 * (double)(e->cache.dram_reads + e->cache.dram_writes)};
    snprintf(out->kernel, sizeof out->kernel, "%s", c->kernel);
    snprintf(out->gpu, sizeof out->gpu, "%s", c->gpu->name);
    memcpy(out->grid, c->grid, sizeof out->grid);
    memcpy(out->block, c->block, sizeof out->block);
    memcpy(out->part, t->part, sizeof out->part);
    memcpy(out->by_unit, t->by_unit, sizeof out->by_unit);
    memcpy(out->issue_share, t->issue_share, sizeof out->issue_share);
    out->hop_sectors = t->hop_sectors, out->hops = t->hops;
    if (out->cycles <= 0) return false;
    wait_for_dram(c, m, out);
    derive(c, out);
    return true;
}

/* The launch takes `by` times as long. */
static void take_times(const struct emu_counts *c, double by, double *modelled,
                       struct launch_estimate *out)
{
    out->cycles *= by, *modelled *= by;
    for (int p = 0; p < TIMING_PARTS; p++) out->part[p] *= by;
    for (int u = 0; u < TIMING_UNITS; u++) out->by_unit[u] *= by;
    derive(c, out);
}

/* Schedulers and caches that serve what comes first can do better on a slower machine (Graham, "Bounds on Multiprocessing Timing
 * Anomalies", 1969; with L1: Rogers et al., "Cache-Conscious Wavefront Scheduling", MICRO 2012): other warps come first. But
 * what the slower one does the faster one could do, too. So a changed configuration that is nowhere faster than the GPU of
 * its name takes no less than that, one that is nowhere slower no more. The parts keep their proportions. */
static void compare_with_original(const struct emu_counts *c, bool all, double *modelled,
                                  struct launch_estimate *out)
{
    struct timing_machine m;
    struct timing_result t;
    struct launch_estimate original;
    struct emu_counts counts = *c;
    double unused;
    counts.gpu = emu_gpu_find(c->gpu->name);
    if (!counts.gpu || !is_changed(c->gpu)) return;
    const bool slower = machine_is_slower(c->gpu, counts.gpu),
               faster = machine_is_slower(counts.gpu, c->gpu);
    if (slower == faster) return;
    (void)machine_of(counts.gpu, &m);
    m.hop = hop_of(counts.gpu);
    if (!estimate_on(&counts, &m, all, NULL, &unused, &t, &original)) return;
    const double by = original.cycles / out->cycles;
    if (slower ? by > 1 : by < 1) take_times(c, by, modelled, out);
}

/* For the same reason: hops take no less time than none. `with`: the machine that has them. */
static void compare_without_hops(const struct emu_counts *c, const struct timing_machine *with,
                                 double *modelled, struct launch_estimate *out)
{
    struct timing_machine m = *with;
    struct timing_result t;
    struct launch_estimate original;
    double unused;
    m.hop = 0;
    if (with->hop > 0 && estimate_on(c, &m, false, NULL, &unused, &t, &original) &&
        original.cycles > out->cycles)
        take_times(c, original.cycles / out->cycles, modelled, out);
}

/* Which sets of L1 the lines of CTAs share depends on which CTAs run on an SM at once, and on where their memory lies: with other
 * CTAs, or other addresses, a launch may use all ways of all sets, or half of them. Hashed sets are used evenly. */
static void widen_by_sets(const struct emu_counts *c, const struct timing_machine *m, bool all,
                          struct launch_estimate *out)
{
    struct timing_machine other = *m;
    struct timing_result t;
    struct launch_estimate x;
    double unused;
    if (!m->l1.fermi || !(out->high > 0) || c->ctas <= c->sms) return;
    if (!c->phases[0].total.cache.l1_hits) return;
    other.l1.half = true;
    if (estimate_on(c, &other, all, NULL, &unused, &t, &x)) out->high = fmax(out->high, x.cycles);
    other.l1.half = false, other.l1.ways = UINT32_MAX; /* one set of all lines */
    if (estimate_on(c, &other, all, NULL, &unused, &t, &x)) out->low = fmin(out->low, x.cycles);
}

bool launch_estimate_on(const struct emu_counts *c, const struct timing_machine *m,
                        struct launch_estimate *out)
{
    struct timing_result t;
    double modelled;
    return estimate_on(c, m, false, NULL, &modelled, &t, out);
}

static bool estimate(const struct emu_counts *c, bool all, struct time_lapse *lapse,
                     double *modelled, struct launch_estimate *out)
{
    struct timing_machine m;
    struct timing_result t;
    struct timing_order o;
    if (!c || !timing_order_of(c, &o)) return false;
    const struct timing_fit *fit = machine_of(c->gpu, &m);
    m.hop = hop_of(c->gpu);
    all |= m.hop > 0; /* SMs have other ways, and do not stand for each other */
    if (!estimate_on(c, &m, all, lapse, modelled, &t, out)) return false;
    compare_without_hops(c, &m, modelled, out);
    compare_with_original(c, all, modelled, out);
    judge(c, fit, o.kind == TIMING_NATIVE, waits_of(c, &t), out);
    widen_by_sets(c, &m, all, out);
    return true;
}

bool launch_estimate_of(const struct emu_counts *c, struct launch_estimate *out)
{
    double modelled;
    return estimate(c, false, NULL, &modelled, out);
}

bool launch_estimate_lapse(const struct emu_counts *c, bool all, struct time_lapse *lapse,
                           struct lapse_whole *whole, struct launch_estimate *out)
{
    double modelled;
    if (!estimate(c, all, lapse, &modelled, out)) return false;
    *whole = (struct lapse_whole){.scale = lapse->cycles > 0 ? modelled / lapse->cycles : 1,
                                  .drain = out->cycles - modelled,
                                  .sms = c->sms,
                                  .ran = lapse->sms};
    return true;
}

void launch_estimate_cut(struct launch_estimate *t)
{
    t->warnings |= LAUNCH_CUT;
    t->low = t->high = 0;
}

void launch_estimate_add(struct launch_estimate *sum, const struct launch_estimate *t,
                         const struct emu_gpu *g)
{
    const double part = t->cycles > 0 ? (t->cycles - t->overlap) / t->cycles : 1;
    sum->cycles += t->cycles * part, sum->seconds += t->seconds * part;
    sum->low += t->low, sum->high += t->high;
    sum->warp_instructions += t->warp_instructions;
    sum->thread_instructions += t->thread_instructions;
    sum->dram_bytes += t->dram_bytes;
    sum->hop_sectors += t->hop_sectors, sum->hops += t->hops;
    sum->warnings |= t->warnings;
    if (sum->warnings & (LAUNCH_CUT | LAUNCH_NESTED)) sum->low = sum->high = 0;
    for (int p = 0; p < TIMING_PARTS; p++) sum->part[p] += t->part[p] * part;
    for (int u = 0; u < TIMING_UNITS; u++) sum->by_unit[u] += t->by_unit[u] * part;
    sum->bound = launch_bound(sum);
    sum->ipc = (double)sum->thread_instructions / sum->cycles;
    sum->roofline = roofline_of(g, (double)sum->warp_instructions, sum->dram_bytes, sum->cycles);
}
