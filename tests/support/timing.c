#include "tests/support/timing.h"

#include "emu/counts.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct device device_new(const char *ptx, struct emu_config config)
{
    struct device d = {.parsed = parse_text("test.ptx", ptx, strlen(ptx))};
    cr_assert(d.parsed->ok, "%s", first_error(d.parsed));
    config.trace = true;
    config.memory = 256 << 20;
    d.emu = emu_new(&config);
    char *why = NULL;
    d.image = emu_load(d.emu, &d.parsed->module, 1, &why);
    cr_assert(d.image != NULL, "%s", why ? why : "");
    d.memory = emu_alloc(d.emu, 64 << 20, "memory");
    return d;
}

void device_free(struct device *d)
{
    emu_unload(d->image);
    emu_free(d->emu);
    parsed_free(d->parsed);
}

const struct emu_counts *counts_of(struct device *d, uint32_t grid, uint32_t block)
{
    const struct emu_launch l = {.grid = {grid, 1, 1},
                                 .block = {block, 1, 1},
                                 .params = &d->memory,
                                 .params_size = sizeof d->memory};
    const struct emu_report *r = emu_launch(d->emu, emu_kernel_at(d->image, 0), &l);
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    cr_assert(r->counts->trace != NULL);
    return r->counts;
}

const struct emu_trace *trace_of(struct device *d, uint32_t grid, uint32_t block)
{
    return counts_of(d, grid, block)->trace;
}

struct timing_machine machine_new(void)
{
    struct timing_machine m = {.sms = 1,
                               .schedulers = 1,
                               .oldest = true,
                               .branch = 1,
                               .next = 1,
                               .shared_latency = 20,
                               .constant_latency = 5,
                               .l1.latency = 30,
                               .l1.sectors = 4,
                               .l1.global = true,
                               .l1.ways = 4,
                               .port_sms = 1,
                               .port_sectors = 1,
                               .port_requests = 1,
                               .slices = 2,
                               .channels = 1,
                               .channel_lines = 2,
                               .atomic.float_times = 1,
                               .l2_latency = 100,
                               .l2_interval = 1,
                               .atomic.interval = 2,
                               .atomic.issue = 1,
                               .dram_latency = 200,
                               .dram_interval = 4,
                               .banks = 1,
                               .row_bytes = 2048};
    for (int i = 0; i < PTX_COST_COUNT; i++) m.latency[i] = 10, m.interval[i] = 2;
    m.interval[PTX_COST_MEMORY] = 1;
    for (int u = 0; u < TIMING_UNITS; u++) m.units[u] = 1;
    return m;
}
