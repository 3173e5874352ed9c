/* Scales a fitted machine to another configuration of its GPU: each number by the ratio of the configured ones. */
#include "model/machine.h"

#include <string.h>

static void scale(double *x, double before, double after)
{
    if (before > 0 && after > 0) *x *= after / before;
}

/* One that is 0 in the configuration of the fit is taken as it is. */
static void scale_or_take(double *x, double before, double after)
{
    if (*x > 0 && before > 0) *x *= after / before;
    else if (after > 0) *x = after;
}

static void replace(uint32_t *x, uint32_t before, uint32_t after)
{
    if (before != after) *x = after;
}

static bool same(const struct emu_gpu *a, const struct emu_gpu *b)
{
#define COUNT(section, key, field, ...)                                                            \
    if (a->field != b->field) return false;
#define RATE(section, key, field, ...)                                                             \
    if (a->field < b->field || a->field > b->field) return false;
#define FLAG COUNT
#define EMU_GPU_WITHOUT_LINK
#include "emu/gpu.def"
    return true;
}

bool machine_follow(const struct emu_gpu *measured, const struct emu_gpu *g,
                    struct timing_machine *m)
{
#define FOLLOW(field) scale(&m->field, a.field, b.field)
    struct timing_machine a, b;
    if (!measured || same(measured, g)) return false;
    machine_configured(measured, &a);
    machine_configured(g, &b);
    for (int c = 0; c < PTX_COST_COUNT; c++) {
        scale(&m->latency[c], a.latency[c], b.latency[c]);
        scale(&m->interval[c], a.interval[c], b.interval[c]);
    }
    for (int u = 0; u < TIMING_UNITS; u++) replace(&m->units[u], a.units[u], b.units[u]);
    if (a.slices != b.slices || a.channels != b.channels) {
        m->dram_interval *= (double)b.channels / m->channels; /* the same for the whole device */
        m->l2_interval *= (double)b.slices / m->slices;
        a.dram_interval *= (double)b.channels / a.channels;
        a.l2_interval *= (double)b.slices / a.slices;
        m->channels = b.channels, m->slices = b.slices;
    }
    replace(&m->banks, a.banks, b.banks);
    replace(&m->dram_least, a.dram_least, b.dram_least);
    m->issue = b.issue;
    memcpy(m->matrix, b.matrix, sizeof m->matrix);
    if (m->int_fp32 > 0) FOLLOW(int_fp32);
    else if (a.int_fp32 < b.int_fp32 || a.int_fp32 > b.int_fp32) m->int_fp32 = b.int_fp32;
    if (m->atomic.lanes > 0) FOLLOW(atomic.lanes);
    else if (measured->l2_atomics < g->l2_atomics || measured->l2_atomics > g->l2_atomics)
        m->atomic.lanes = b.atomic.lanes;
    scale_or_take(&m->fence_latency, a.fence_latency, b.fence_latency);
    scale_or_take(&m->fence_system, a.fence_system, b.fence_system);
    scale_or_take(&m->atomic.attempt, a.atomic.attempt, b.atomic.attempt);
    replace(&m->l1.ways, a.l1.ways, b.l1.ways);
    /* The configuration has no limit of all ports together: it is one of the network, as the ports' own are. */
    scale(&m->network_requests, a.port_requests, b.port_requests);
    FOLLOW(start), FOLLOW(branch), FOLLOW(shared_latency), FOLLOW(barrier_latency),
        FOLLOW(constant_latency);
    FOLLOW(l1.latency), FOLLOW(l1.sectors), FOLLOW(port_sectors), FOLLOW(port_requests);
    FOLLOW(l2_latency), FOLLOW(l2_interval), FOLLOW(atomic.interval), FOLLOW(atomic.latency);
    FOLLOW(dram_latency), FOLLOW(dram_interval), FOLLOW(row_interval);
    return true;
}

bool machine_is_slower(const struct emu_gpu *a, const struct emu_gpu *b)
{
    struct emu_gpu x = *b; /* what is not compared has to be the same */
    const double rows = a->dram_row_cycle / a->dram_mhz,
                 rows_of_b = b->dram_row_cycle / b->dram_mhz;
#define NO_MORE(field)                                                                             \
    if (a->field > b->field) return false;                                                         \
    x.field = a->field;
#define NO_LESS(field)                                                                             \
    if (a->field < b->field) return false;                                                         \
    x.field = a->field;
    /* A throughput of 0 says that another one counts. */
#define OF_throughput(field)                                                                       \
    if (!(a->field > 0) && b->field > 0) return false;                                             \
    NO_MORE(field)
#define OF_latency(field) NO_LESS(field)
#define OF_clock(field)
#define OF_l1(field)
#define OF_l2(field)
#define OF_interconnect(field)
#define OF_dram(field)
#define RATE(section, key, field, ...) OF_##section(field)
    /* One of 0 follows from others. */
#define OPTIONAL(section, key, field, ...)                                                         \
    if ((a->field > 0) != (b->field > 0)) return false;                                            \
    OF_##section(field)
#define EMU_GPU_WITHOUT_LINK
#include "emu/gpu.def"
    NO_MORE(l1_bandwidth)
    NO_MORE(l2_bandwidth)
    NO_MORE(l2_mhz)
    NO_MORE(sm_bandwidth)
    NO_MORE(interconnect_mhz)
    NO_MORE(dram_bandwidth)
    if (rows < rows_of_b * (1 - 1e-9)) return false;
    x.dram_mhz = a->dram_mhz, x.dram_row_cycle = a->dram_row_cycle;
    x.dram_data_rate = a->dram_data_rate, x.boost_mhz = a->boost_mhz;
    return same(&x, a);
}
