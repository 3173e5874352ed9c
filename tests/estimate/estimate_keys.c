/* Each number of a configuration is there for something: another one changes an estimate, or is refused. */
#include "emu/counts.h"
#include "emu/emu.h"
#include "model/config.h"
#include "model/launch_estimate.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Keys that no other value of changes an estimate, and why. */
static const struct {
    int key;
    const char *why;
} exceptions[] = {
    {CONFIG_boost_mhz, "programs can ask for it; cycles and time are of clock.core"},
    {CONFIG_l1_line, "caches have lines of 128 bytes: others are refused"},
    {CONFIG_l2_line, "likewise"},
    {CONFIG_link_bandwidth, "of copies, not of launches"},
    {CONFIG_link_latency, "likewise"},
    {CONFIG_link_uncached, "of what the host has copied: kernels here write their own"},
};

/* ---- kernels --------------------------------------------------------------------------------------------------- */

#define BEGIN                                                                                          \
    ".reg .u64 %a, %b, %e; .reg .u32 %t, %c, %n, %i, %r<9>, %s, %x; .reg .b32 %h<4>; .reg .f32 %f<9>;" \
    ".reg .f64 %d<3>; .reg .pred %q; ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;"                        \
    "mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %x, %c, %n, %t; mov.u32 %i, 0;"             \
    "mul.wide.u32 %b, %x, 4; add.u64 %e, %a, %b; mov.f32 %f1, 0f3F800000; mov.u32 %r1, %t;"            \
    "mov.u32 %r2, %t; mov.u32 %r3, %t; mov.u32 %r4, %t; mov.f64 %d1, 0d3FF0000000000000; mov.b32 %h1, 0; mov.b32 %h2, 0; mov.b32 %h3, 0;"
/* Loads of which nobody reads the result would not be made. */
#define END                                                                                        \
    "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; st.global.u32 [%a], %r1; ret;"
#define LOOP_OF(before, turns, text)                                                               \
    BEGIN before "L:" text "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, " #turns "; @%q bra L;" END
#define LOOP(turns, text) LOOP_OF("", turns, text)
/* So many KB, a CTA at a time, until it has gone through so many; with some shared memory. */
#define WALK(load, size, all)                                                                      \
    BEGIN SHARED "st.shared.u32 [%s], %t; mov.u32 %r5, 0; L: mul.wide.u32 %b, %r5, 1152;"          \
                 "add.u64 %b, %e, %b; " load " %r1, [%b]; add.u32 %r5, %r5, 1;"                    \
                 "setp.ge.u32 %q, %r5, " size "; @%q mov.u32 %r5, 0; add.u32 %i, %i, 1;"           \
                 "setp.lt.u32 %q, %i, " all "; @%q bra L;" END
#define FOUR(text) text text text text
#define SHARED                                                                                     \
    ".shared .align 16 .b8 s[6200]; mov.u32 %s, s; shl.b32 %r2, %t, 2; add.u32 %s, %s, %r2;"
#define MATRIX(type, result, regs)                                                                 \
    "mma.sync.aligned." type " {" regs "}, {%h1, %h2, %h1, %h2}, {%h1, %h2}, {" regs "};"
#define FLOATS "%f1, %f2, %f3, %f4"
#define ZEROS "mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;"

static const struct {
    const char *body;
    uint32_t grid, block;
} kernels[] = {
    {LOOP_OF("mov.u32 %r5, 0;", 1800,
             "mul.lo.u32 %r2, %r5, %r5; mul.lo.u32 %r2, %r2, 37; mad.lo.u32 %r2, %r5, 11, %r2;"
             "and.b32 %r2, %r2, 32767; mul.wide.u32 %b, %r2, 128; add.u64 %b, %e, %b;"
             "ld.global.cg.u32 %r1, [%b]; add.u32 %r5, %r5, 1; setp.ge.u32 %q, %r5, 900;"
             "@%q mov.u32 %r5, 0;"),
     1, 32}, /* 900 lines of L2 here and there, twice */
    {LOOP(5, FOUR("ld.global.u32 %r1, [%e]; add.u64 %e, %e, 16384;")), 16, 128}, /* DRAM */
    {LOOP(40, "ld.global.u32 %r1, [%a]; cvt.u64.u32 %b, %r1; add.u64 %a, %a, %b;"), 1, 32}, /* L1 */
    {LOOP(40, "ld.global.cg.u32 %r1, [%a]; cvt.u64.u32 %b, %r1; add.u64 %a, %a, %b;"), 1, 32},
    {LOOP(40, "ld.global.u32 %r1, [%a]; cvt.u64.u32 %b, %r1; add.u64 %b, %b, 128;"
              "add.u64 %a, %a, %b;"),
     1, 32},
    {BEGIN "mul.wide.u32 %b, %x, 124; add.u64 %e, %e, %b; L: ld.global.u32 %r1, [%e];"
           "add.u64 %e, %e, 524288; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 4; @%q bra L;" END,
     16, 128},                                        /* a sector of each line */
    {WALK("ld.global.u32", "60", "120"), 2, 256},     /* 60 KB of L1 */
    {WALK("ld.global.cg.u32", "124", "248"), 1, 256}, /* 124 KB of L2 */
    {LOOP(20, FOUR("st.global.u32 [%e], %r1;")), 16, 128},
    {LOOP(20, "red.global.add.u32 [%e], 1;"), 16, 128},
    {LOOP(20, "red.global.add.u32 [%a], 1;"), 32, 32},
    {LOOP(20, "atom.global.add.u32 %r1, [%e], %r1;"), 1, 32},
    {LOOP_OF(SHARED, 4, "ld.shared.u32 %r1, [%s]; bar.sync 0;"), 64, 32},
    {LOOP_OF(SHARED, 20, FOUR("ld.shared.u32 %r1, [%s]; ld.shared.u32 %r3, [%s+64];")), 8, 128},
    {LOOP_OF(SHARED, 20, "ld.shared.u32 %r1, [%s]; and.b32 %r1, %r1, 0; add.u32 %s, %s, %r1;"), 1,
     32},
    {LOOP(20, "bar.sync 0;"), 2, 64},
    {LOOP_OF("mov.u64 %b, table;", 20,
             "ld.const.u32 %r1, [%b]; cvt.u64.u32 %e, %r1; add.u64 %b, %b, %e;"),
     1, 32},
    {LOOP(20, FOUR("add.u32 %r1, %r1, %r1;")), 1, 32},
    {LOOP(20, FOUR("mul.lo.u32 %r1, %r1, %r1;")), 1, 32},
    {LOOP(20, FOUR("div.u32 %r1, %r1, 7;")), 1, 32},
    {LOOP(20, FOUR("fma.rn.f16x2 %h1, %h1, %h1, %h1;")), 1, 32},
    {LOOP(20, FOUR("fma.rn.f32 %f1, %f1, %f1, %f1;")), 1, 32},
    {LOOP(20, FOUR("fma.rn.f64 %d1, %d1, %d1, %d1;")), 1, 32},
    {LOOP(20, FOUR("ex2.approx.f32 %f1, %f1;")), 1, 32},
    {LOOP(20, FOUR("cvt.rn.f32.u32 %f1, %r1; cvt.rzi.u32.f32 %r1, %f1;")), 1, 32},
    {LOOP(20, FOUR("shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffffffff;")), 1, 32},
    {LOOP_OF(ZEROS, 20, MATRIX("m16n8k16.row.col.f32.f16.f16.f32", "f", FLOATS)), 1, 32},
    {LOOP(20, FOUR("add.u32 %r1, %t, 1; add.u32 %r2, %t, 2;")), 8, 256},
    {LOOP(20, FOUR("mul.lo.u32 %r1, %t, %c; mul.lo.u32 %r2, %t, %n;")), 8, 256},
    {LOOP(20, "div.u32 %r1, %t, 7; div.u32 %r2, %t, 9;"), 8, 256},
    {LOOP(20, FOUR("fma.rn.f16x2 %h2, %h1, %h1, %h1; fma.rn.f16x2 %h3, %h1, %h1, %h1;")), 8, 256},
    {LOOP(20, FOUR("fma.rn.f32 %f2, %f1, %f1, %f1; fma.rn.f32 %f3, %f1, %f1, %f1;")), 8, 256},
    {LOOP(20, FOUR("fma.rn.f32 %f2, %f1, %f1, %f1; add.u32 %r1, %t, 1;")), 8, 256},
    {LOOP(20, FOUR("fma.rn.f64 %d2, %d1, %d1, %d1;")), 8, 256},
    {LOOP(20, FOUR("ex2.approx.f32 %f2, %f1;")), 8, 256},
    {LOOP(20, FOUR("cvt.rn.f32.u32 %f2, %t;")), 8, 256},
    {LOOP(20, FOUR("shfl.sync.bfly.b32 %r1, %t, 1, 31, 0xffffffff;")), 8, 256},
    {LOOP(20, MATRIX("m16n8k16.row.col.f32.f16.f16.f32", "f", FLOATS)), 8, 256},
    {LOOP(20, MATRIX("m16n8k16.row.col.f16.f16.f16.f16", "r", "%h1, %h2")), 8, 256},
    {LOOP(20, MATRIX("m16n8k8.row.col.f32.tf32.tf32.f32", "f", FLOATS)), 8, 256},
    {LOOP(20, MATRIX("m16n8k32.row.col.s32.s8.s8.s32", "r", "%r1, %r2, %r3, %r4")), 8, 256},
    {LOOP(20, MATRIX("m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", FLOATS)), 8, 256},
    {LOOP(20,
          "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d1}, {%d1}, {%d1, %d2};"),
     8, 256},
    {LOOP(20, "div.rn.f32 %f1, %f1, %f1;"), 1, 32},
    {LOOP(20, "sqrt.rn.f32 %f1, %f1;"), 1, 32},
    {LOOP(20, "rcp.rn.f32 %f1, %f1;"), 1, 32},
    {LOOP(20, "div.rn.f32 %f2, %f1, %f1;"), 8, 256},
    {LOOP(20, "sqrt.rn.f32 %f2, %f1;"), 8, 256},
    {LOOP(20, "rcp.rn.f32 %f2, %f1;"), 8, 256},
    {LOOP(20, "membar.gl;"), 1, 32},
    {LOOP_OF("setp.ne.u32 %q, %t, 0; @%q ret;",
             4, /* a lock, for which a lane of each warp contends */
             "M: atom.global.cas.b32 %r1, [%a+256], 0, 1; setp.ne.u32 %q, %r1, 0; @%q bra M;"
             "membar.gl; atom.global.exch.b32 %r1, [%a+256], 0;"),
     16, 32},
    {NULL, 28, 128}, /* of many registers */
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Keeps 60 numbers at once. */
static const char *many_registers(void)
{
    static char text[1 << 13];
    int n = sprintf(text, "%s .reg .f32 %%v<60>; mov.f32 %%v0, %%f1;", BEGIN);
    for (int i = 1; i < 60; i++) n += sprintf(text + n, "add.f32 %%v%d, %%v%d, %%f1;", i, i - 1);
    n += sprintf(text + n, "L: fma.rn.f32 %%f1, %%f1, %%f1, %%f1; add.u32 %%i, %%i, 1;"
                           "setp.lt.u32 %%q, %%i, 50; @%%q bra L;");
    for (int i = 0; i < 60; i++) n += sprintf(text + n, "fma.rn.f32 %%f1, %%f1, %%v%d, %%f1;", i);
    sprintf(text + n, "st.global.f32 [%%e], %%f1; ret;");
    return text;
}

/* INFINITY: such a GPU cannot run the kernel. */
static double cycles_of(size_t k, const struct emu_gpu *g)
{
    char ptx[1 << 14];
    snprintf(ptx, sizeof ptx,
             ".version 8.7\n.target sm_90\n.address_size 64\n.const .align 8 .b64 table[4];\n"
             ".visible .entry k(.param .u64 p)\n{\n%s\n}\n",
             kernels[k].body ? kernels[k].body : many_registers());
    struct parsed *parsed = parse_text("test.ptx", ptx, strlen(ptx));
    char *why = NULL;
    cr_assert(parsed->ok, "kernel %zu: %s", k, first_error(parsed));
    struct emu *e = emu_new(&(struct emu_config){.trace = true, .memory = 8 << 20, .gpu = g});
    struct emu_image *image = emu_load(e, &parsed->module, 1, &why);
    cr_assert(image, "kernel %zu: %s", k, why ? why : "");
    uint64_t param = emu_alloc(e, 6 << 20, "memory");
    const struct emu_launch l = {.grid = {kernels[k].grid, 1, 1},
                                 .block = {kernels[k].block, 1, 1},
                                 .params = &param,
                                 .params_size = sizeof param};
    const struct emu_report *r = emu_launch(e, emu_kernel_at(image, 0), &l);
    struct launch_estimate t;
    if (r->fault.kind == EMU_BAD_LAUNCH) t.cycles = INFINITY;
    else {
        cr_assert(r->fault.kind == EMU_OK, "kernel %zu: %s", k, r->fault.text);
        cr_assert(launch_estimate_of(r->counts, &t));
    }
    emu_unload(image);
    emu_free(e);
    parsed_free(parsed);
    return t.cycles;
}

/* ---- configurations -------------------------------------------------------------------------------------------- */

/* Small, so that small kernels come to its limits; of no GPU's name, so that nothing measured stands for it. */
static struct emu_gpu small(const char *of, const char *name)
{
    struct emu_gpu g = *emu_gpu_find(of);
    g.name = name;
    g.sms = 2;
    g.l2 = 128 << 10, g.l2_slices = 4;
    g.dram_channels = 2, g.dram_bus = 64;
    g.dram_bandwidth = g.dram_mhz * g.dram_data_rate * g.dram_bus / 8e3;
    if (g.unified) {
        g.l1 = 64 << 10, g.shared = 32 << 10, g.shared_cta = 16 << 10;
        g.l1_ways = g.l1 / g.l1_line / 4; /* four sets, as in its file */
    }
    return g;
}

static void ignore(void *self, int key, const char *why)
{
    (void)self, (void)key, (void)why;
}

/* With another value, number n of some, and what has to follow from it. false: it cannot be. */
static bool change(struct emu_gpu *g, int key, size_t n)
{
    static const double factors[] = {0.5, 2, 4, 0.25};
    const struct config_key *k = &config_keys[key];
    const double was = config_get(g, key);
    double value = was * factors[n];
    if (k->kind == CONFIG_FLAG) value = !(was > 0);
    else if (!(was > 0)) value = k->most < 4096 ? k->most / 4 : 1024;
    if (key == CONFIG_capability) value = n ? 35 : 80;
    if (!(value >= k->least && value <= k->most)) return false;
    if (k->kind == CONFIG_COUNT) value = floor(value);
    config_put(g, key, value);
    if (key == CONFIG_dram_bandwidth) g->dram_data_rate *= value / was;
    else g->dram_bandwidth = g->dram_mhz * g->dram_data_rate * g->dram_bus / 8e3;
    return g->dram_data_rate >= 1 && config_check(g, ignore, NULL);
}

static double known[2][KERNELS]; /* cycles on the configurations as they are */

static bool has_effect(const struct emu_gpu *base, double *cycles, int key)
{
    for (size_t n = 0; n < 4; n++) {
        struct emu_gpu other = *base;
        if (!change(&other, key, n)) continue;
        for (size_t k = 0; k < KERNELS; k++) {
            if (!(cycles[k] > 0)) {
                cycles[k] = cycles_of(k, base);
                cr_assert(isfinite(cycles[k]), "kernel %zu cannot be launched", k);
            }
            const double now = cycles_of(k, &other);
            if (fabs(now - cycles[k]) > 1e-6 * cycles[k]) return true;
        }
    }
    return false;
}

Test(estimate_keys, each_changes_an_estimate)
{
    const struct emu_gpu bases[] = {small("a100", "own_ampere"), small("c2050", "own_fermi")};
    for (size_t b = 0; b < 2; b++) cr_assert(config_check(&bases[b], ignore, NULL), "%zu", b);
    for (int key = 0; key < CONFIG_KEYS; key++) {
        const char *excepted = NULL;
        if (SANITIZED && key % 4 != 0) continue; /* it takes long */
        for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
            if (exceptions[i].key == key) excepted = exceptions[i].why;
        const bool effect = has_effect(&bases[0], known[0], key) ||
                            has_effect(&bases[1], known[1], key);
        if (!excepted)
            cr_expect(effect, "%s.%s changes nothing", config_keys[key].section,
                      config_keys[key].key);
        else
            cr_expect(!effect, "%s.%s has an effect, though: %s", config_keys[key].section,
                      config_keys[key].key, excepted);
    }
}
