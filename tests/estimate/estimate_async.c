/* Copies that nobody waits for until later take as long as the loads that they stand for, and for the same reason. */
#include "emu/counts.h"
#include "emu/emu.h"
#include "model/launch_estimate.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define TURNS "16"

/* Each CTA of 128 threads goes through memory, 2 KB at a time. */
#define BEGIN                                                                                      \
    ".reg .u64 %a, %b, %e; .reg .u32 %t, %c, %i, %r<5>, %s, %m, %d; .reg .pred %q, %z;"            \
    ".shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar; .reg .b64 %n;"                     \
    "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %i, 0;"               \
    "mul.wide.u32 %b, %c, 32768; add.u64 %e, %a, %b; mov.u32 %s, s; mov.u32 %m, bar;"              \
    "setp.eq.u32 %z, %t, 0;"
#define OWN "mul.wide.u32 %b, %t, 16; add.u64 %e, %e, %b; shl.b32 %d, %t, 4; add.u32 %s, %s, %d;"
#define NEXT "add.u64 %e, %e, 2048; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, " TURNS "; @%q bra L;"
#define END "ld.shared.u32 %r1, [%s]; st.global.u32 [%a], %r1; ret;"

static const struct {
    size_t like; /* the one with loads */
    const char *what, *body;
} kernels[] = {
    {0, "loads",
     BEGIN OWN "L: ld.global.cg.v4.u32 {%r1, %r2, %r3, %r4}, [%e];"
               "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4};" NEXT END},
    {1, "loads, a barrier",
     BEGIN OWN "L: ld.global.cg.v4.u32 {%r1, %r2, %r3, %r4}, [%e];"
               "st.shared.v4.u32 [%s], {%r1, %r2, %r3, %r4}; bar.sync 0;" NEXT END},
    {0, "cp.async",
     BEGIN OWN "L: cp.async.cg.shared.global [%s], [%e], 16; cp.async.commit_group;"
               "cp.async.wait_group 0;" NEXT END},
    {0, "cp.async, two stages",
     BEGIN OWN "cp.async.cg.shared.global [%s], [%e], 16; cp.async.commit_group;"
               "add.u64 %e, %e, 2048; L: xor.b32 %s, %s, 2048;"
               "cp.async.cg.shared.global [%s], [%e], 16; cp.async.commit_group;"
               "cp.async.wait_group 1;" NEXT "cp.async.wait_all;" END},
    {0, "cp.async, an mbarrier",
     BEGIN OWN "@%z mbarrier.init.shared.b64 [%m], 128; bar.sync 0; L: and.b32 %r2, %i, 1;"
               "cp.async.cg.shared.global [%s], [%e], 16;"
               "cp.async.mbarrier.arrive.noinc.shared.b64 [%m];"
               "W: mbarrier.try_wait.parity.shared.b64 %q, [%m], %r2; @!%q bra W;" NEXT END},
    {1, "bulk copies",
     BEGIN
     "@%z mbarrier.init.shared.b64 [%m], 1; bar.sync 0; L: and.b32 %r2, %i, 1; @!%z bra W;"
     "mbarrier.arrive.expect_tx.shared.b64 %n, [%m], 2048;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%e], 2048, [%m];"
     "W: mbarrier.try_wait.parity.shared.b64 %q, [%m], %r2; @!%q bra W; bar.sync 0;" NEXT END},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static struct launch_estimate time_of(const char *body, const struct emu_gpu *g)
{
    enum { CTAS = 64 };
    const char *ptx = emu_ptx(".param .u64 p", body);
    struct parsed *parsed = parse_text("test.ptx", ptx, strlen(ptx));
    char *why = NULL;
    cr_assert(parsed->ok, "%s", first_error(parsed));
    struct emu *e = emu_new(&(struct emu_config){.trace = true, .memory = 8 << 20, .gpu = g});
    struct emu_image *image = emu_load(e, &parsed->module, 1, &why);
    cr_assert(image, "%s", why ? why : "");
    const uint64_t param = emu_alloc(e, (CTAS + 1) * 32768, "memory");
    const struct emu_launch l = {
        .grid = {CTAS, 1, 1}, .block = {128, 1, 1}, .params = &param, .params_size = sizeof param};
    const struct emu_report *r = emu_launch(e, emu_kernel_at(image, 0), &l);
    struct launch_estimate t;
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    cr_assert(launch_estimate_of(r->counts, &t));
    emu_unload(image);
    emu_free(e);
    parsed_free(parsed);
    return t;
}

/* An H100 with two channels for four SMs: DRAM is what all wait for. */
Test(estimate_async, copies_wait_for_what_loads_wait_for)
{
    struct emu_gpu g = *emu_gpu_find("h100");
    g.name = "own", g.sms = 4, g.dram_channels = 2, g.dram_bus = 256;
    g.l2 = 1280 << 10, g.l2_slices = 4;
    g.dram_bandwidth = g.dram_mhz * g.dram_data_rate * g.dram_bus / 8e3;
    struct launch_estimate times[KERNELS];
    for (size_t k = 0; k < KERNELS; k++) {
        const struct launch_estimate t = times[k] = time_of(kernels[k].body, &g),
                                     *loads = &times[kernels[k].like];
        cr_expect(t.bound == TIMING_DRAM, "%s: %s", kernels[k].what, timing_part_name(t.bound));
        cr_expect(t.cycles > 0.85 * loads->cycles && t.cycles < 1.15 * loads->cycles,
                  "%s: %g cycles, loads take %g", kernels[k].what, t.cycles, loads->cycles);
        cr_expect(t.part[TIMING_DRAM] > 0.7 * loads->part[TIMING_DRAM],
                  "%s: %g cycles of DRAM, loads have %g", kernels[k].what, t.part[TIMING_DRAM],
                  loads->part[TIMING_DRAM]);
    }
}
