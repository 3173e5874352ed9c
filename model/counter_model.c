/* The formulas of docs/model.md, in the same order. */
#include "model/counter_model.h"

#include "model/config.h"

#include <math.h>

const struct weight_info weight_infos[WEIGHTS] = {
#define WEIGHT(id, before, spread, text) [WEIGHT_##id] = {#id, text, before, spread},
#include "model/counter_weights.def"
};

const char *term_name(enum term t)
{
    static const char *const names[] = {"issue", "dependence", "loads",   "L1",     "stores",
                                        "L2",    "DRAM",       "atomics", "launch", "imbalance"};
    return names[t];
}

/* Part of `all`, 0 .. 1. */
static double part_of(double part, double all)
{
    return all > 0 ? fmin(1, part / all) : 0;
}

/* Cycles that a load of a warp waits, what is behind L1 shared among its sectors. */
static double load_wait(const struct emu_gpu *g, const struct counters *c, const double *w)
{
    const double beyond_l1 = part_of(c->l2_load_sectors, c->load_sectors);
    const double beyond_l2 = beyond_l1 * part_of(c->dram_sectors, c->l2_sectors);
    return w[WEIGHT_load] * fmax(g->l1_latency, 1) +
           w[WEIGHT_load_l2] * (g->l2_latency - g->l1_latency) * beyond_l1 +
           w[WEIGHT_load_dram] * (g->dram_latency - g->l2_latency) * beyond_l2;
}

/* Cycles of an SM by each term, alone; of those that all SMs share, while one is active. */
static void price(const struct emu_gpu *g, const struct counters *c, const double *w, double *t)
{
    const double register_need = log(fmax(c->registers, 32) / 32);
    const double warps = fmax(c->warps, 1);
    const double scattered = fmax(0, c->store_sectors - 4 * c->store_requests);
    const double port = g->sm_bandwidth * g->interconnect_mhz / g->core_mhz / 32;
    const double l1 = g->l1_bandwidth > 0 ? g->l1_bandwidth / 32 : port;
    t[TERM_ISSUE] = w[WEIGHT_issue] * c->instructions / (g->schedulers * g->issue) / g->sms;
    t[TERM_DEPENDENCE] = w[WEIGHT_dependence] * g->int_latency * c->instructions *
                         exp(-w[WEIGHT_parallel] * register_need) / warps / g->sms;
    t[TERM_LOADS] = (c->load_requests * load_wait(g, c, w) *
                         exp(-w[WEIGHT_memory_parallel] * register_need) +
                     w[WEIGHT_replay] * c->load_sectors) /
                    warps / g->sms;
    t[TERM_L1] = w[WEIGHT_l1] * c->load_sectors / l1 / g->sms;
    t[TERM_STORES] = (w[WEIGHT_store] * c->store_sectors + w[WEIGHT_scatter] * scattered) / port /
                     g->sms;
    t[TERM_L2] = w[WEIGHT_l2] * c->l2_sectors / config_l2_rate(g) * c->share;
    t[TERM_DRAM] = w[WEIGHT_dram] * c->dram_sectors / config_dram_rate(g) * c->share;
    t[TERM_ATOMICS] = w[WEIGHT_atomic] * c->atomic_sectors * g->core_mhz / g->l2_mhz * c->share;
}

static double mean(const double *x, size_t n, double power)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    if (!(most > 0)) return 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) sum += exp(power * log(x[i] / most));
    return most * exp(log(sum) / power);
}

static void divide(const double *t, double active, double launch, double cycles, double power,
                   struct terms *out)
{
    double sum = 0;
    const double idle = fmax(0, cycles - launch - active);
    const double scale = cycles / (launch + active + idle);
    for (int i = 0; i < TERM_LAUNCH; i++) sum += t[i] > 0 ? pow(t[i] / active, power) : 0;
    for (int i = 0; i < TERM_LAUNCH; i++)
        out->part[i] = t[i] > 0 ? scale * active * pow(t[i] / active, power) / sum : 0;
    out->part[TERM_LAUNCH] = scale * launch;
    out->part[TERM_IMBALANCE] = scale * idle;
    out->bottleneck = TERM_ISSUE;
    for (int i = 1; i < TERMS; i++)
        if (out->part[i] > out->part[out->bottleneck]) out->bottleneck = (enum term)i;
}

/* Two views of the time: an SM is active for `share` of it; and it is at least that of an SM and the launch.
 * Where SMs are idle for want of work, the first is larger and right. Where only the launch keeps them idle,
 * both say the same, but the first magnifies each error: it counts for a third. */
double counter_model_cycles(const struct emu_gpu *g, const struct counters *c,
                            const double weights[WEIGHTS], struct terms *out)
{
    double t[TERM_LAUNCH];
    price(g, c, weights, t);
    const double active = mean(t, TERM_LAUNCH, weights[WEIGHT_overlap]);
    const double launch = weights[WEIGHT_launch] * g->core_mhz;
    const double by_share = active / fmin(1, fmax(c->share, 1e-6)), by_sum = launch + active;
    const double both = exp((log(fmax(by_share, 1e-9)) + 2 * log(by_sum)) / 3);
    const double measured = mean((double[]){by_share, both}, 2, 8);
    const double cycles = c->placed ? launch + by_share : measured;
    if (out) divide(t, active, launch, cycles, weights[WEIGHT_overlap], out);
    return cycles;
}

void counter_model_place(const struct emu_gpu *g, uint64_t ctas, uint32_t threads,
                         const struct emu_occupancy *o, struct counters *c)
{
    const double most = ceil((double)ctas / g->sms); /* of the busiest SM */
    const double resident = fmin(most, o->ctas ? o->ctas : 1);
    c->warps = resident * ceil(threads / 32.0);
    c->share = ctas ? (double)ctas / (most * g->sms) : 1;
    c->placed = true;
    c->registers = o->registers;
}
