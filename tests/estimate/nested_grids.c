/* Grids that kernels launch, beside each other (model/nested_grids.h). The expectations are arithmetic: chains of grids that wait
 * for each other, shares of resources that are full. */
#include "model/nested_grids.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/gpu.h"
#include "model/estimate_cache.h"
#include "model/launch_estimate.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grid of one CTA whose work is `cycles`, an instruction for each. */
static struct nested_grid grid(uint32_t parent, uint64_t at, double cycles)
{
    return (struct nested_grid){.how = {.parent = parent, .at = at},
                                .start = 100,
                                .cycles = cycles,
                                .ctas = 1,
                                .resident = 1000,
                                .longest = (uint64_t)cycles,
                                .use = {0.001, 0.001, 0.001}};
}

static void expect(struct nested_grid *g, size_t n, double want)
{
    const double is = nested_run(g, n);
    cr_expect(fabs(is - want) < 1e-6 * want, "%f, not %f", is, want);
}

Test(nested_grids, a_child_runs_beside_its_parent)
{
    struct nested_grid g[] = {grid(0, 0, 1000), grid(0, 400, 300)};
    g[0].start = 50;
    expect(g, 2, 50 + 1000);
    cr_expect(g[1].launched == 450 && g[1].begins == 550 && g[1].ends == 850);
    g[1].cycles = 2000;
    expect(g, 2, 50 + 400 + 100 + 2000);
}

Test(nested_grids, a_parent_that_waits_goes_on_behind_its_children)
{
    const struct emu_grid_wait wait[] = {{0, 400}};
    struct nested_grid g[] = {grid(0, 0, 1000), grid(0, 200, 300), grid(0, 300, 500)};
    g[0].waits = wait, g[0].wait_count = 1;
    g[1].how.wait = g[2].how.wait = 1;
    g[2].how.stream = 4096; /* both run: the later ends at 100 + 300 + 100 + 500 */
    expect(g, 3, 1000 + 600);
    g[2].how.stream = 0; /* behind the first, which ends at 100 + 200 + 100 + 300 */
    expect(g, 3, 700 + 500 + 600);
    g[1].how.in_order = g[2].how.in_order = true;
    g[2].how.stream = 4096;
    expect(g, 3, 700 + 500 + 600);
    g[2].how.at = 450; /* another warp's: it is waited for, so it was launched before */
    expect(g, 3, 700 + 500 + 600);
}

Test(nested_grids, tail_launches_come_last_and_free_ones_at_once)
{
    struct nested_grid g[] = {grid(0, 0, 1000), grid(0, 0, 3000), grid(0, 0, 10), grid(0, 0, 20),
                              grid(0, 0, 700)};
    g[2].how.is_tail = g[3].how.is_tail = true;
    g[1].how.is_free = g[4].how.is_free = true;
    g[1].how.stream = g[4].how.stream = 4;
    expect(g, 5, 100 + 100 + 3000 + 10 + 20);
    cr_expect(g[4].begins == 200 && g[2].begins == 3200 && g[3].begins == 3210);
}

/* Full resources are shared: two grids that need all of the GPU take twice as long beside each other. */
Test(nested_grids, grids_share_what_is_full)
{
    for (int resource = 0; resource < NESTED_SHARED; resource++) {
        struct nested_grid g[] = {grid(0, 0, 10), grid(0, 0, 1000), grid(0, 0, 1000)};
        g[2].how.stream = 4096;
        g[1].use[resource] = g[2].use[resource] = 1;
        expect(g, 3, 200 + 2000);
        g[1].use[resource] = g[2].use[resource] = 0.5;
        expect(g, 3, 200 + 1000);
        g[1].use[resource] = 0.75, g[2].use[resource] = 1; /* at 4/7 of the pace each */
        expect(g, 3, 200 + 1750);
        g[2].cycles = 500; /* 875 together, then 500 alone */
        expect(g, 3, 200 + 875 + 500);
    }
}

/* CTAs of the second round launch later. */
Test(nested_grids, ctas_launch_in_their_round)
{
    struct nested_grid g[] = {grid(0, 0, 1000), grid(0, 100, 10)};
    g[0].ctas = 20, g[0].resident = 10;
    g[0].longest = 200;
    g[1].how.cta = 3; /* 100 of 200 instructions of a round of 500 cycles */
    (void)nested_run(g, 2);
    cr_expect(fabs(g[1].launched - 350) < 1e-9, "%f", g[1].launched);
    g[1].how.cta = 12;
    (void)nested_run(g, 2);
    cr_expect(fabs(g[1].launched - 850) < 1e-9, "%f", g[1].launched);
}

/* ---- random trees ------------------------------------------------------------------------------------------ */

enum { MOST = 40, WAITS = 4 };
struct tree {
    struct nested_grid g[MOST];
    struct emu_grid_wait waits[MOST][WAITS];
    size_t count;
};

static uint32_t rnd(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* Each grid has one CTA, whose children are in the order in which it launches them; depth first, as they run. */
static void grow(struct tree *t, uint64_t *seed, uint32_t parent, int depth)
{
    const uint32_t me = (uint32_t)t->count++;
    t->g[me] = grid(parent, 0, 100 + rnd(seed, 5000));
    struct nested_grid *g = &t->g[me];
    g->start = rnd(seed, 3000);
    uint64_t at = 0;
    for (uint32_t w = 0; depth && w <= WAITS; w++) {
        const bool waits = w < WAITS && rnd(seed, 2);
        const uint32_t children = rnd(seed, 3);
        if (waits) g->wait_count++;
        for (uint32_t k = 0; k < children && t->count < MOST - 1; k++) {
            const uint32_t child = (uint32_t)t->count;
            at += rnd(seed, (uint32_t)(g->longest - at) + 1);
            grow(t, seed, me, depth - 1);
            struct emu_nesting *how = &t->g[child].how;
            how->at = at;
            how->wait = waits ? (uint32_t)g->wait_count : 0;
            how->stream = rnd(seed, 3) * 4096;
        }
        if (waits) {
            at += rnd(seed, (uint32_t)(g->longest - at) + 1);
            t->waits[me][g->wait_count - 1] = (struct emu_grid_wait){0, at};
        } else break; /* what nobody waits for is launched last */
    }
    g->waits = t->waits[me];
}

/* When grid i has ended, if grids do not hinder each other and it is launched at `launched`, behind one that ends at `free`. By
 * recursion, in the order of the program. */
static double end_of(const struct tree *t, uint32_t i, double launched, double free)
{
    const struct nested_grid *g = &t->g[i];
    double streams[3] = {0}, own = fmax(launched + g->start, free), all = 0, position = 0;
    uint32_t child = i + 1;
    for (uint32_t w = 1; w <= g->wait_count + 1; w++) {
        double waited = 0;
        for (; child < t->count; child++) {
            const struct emu_nesting *how = &t->g[child].how;
            if (how->parent != i) continue;
            if ((how->wait ? how->wait : g->wait_count + 1) != w) break;
            own += (double)how->at - position, position = (double)how->at;
            double *stream = &streams[how->stream / 4096];
            *stream = end_of(t, child, own, *stream);
            waited = fmax(waited, *stream);
        }
        all = fmax(all, waited);
        if (w > g->wait_count) break;
        own += (double)g->waits[w - 1].at - position, position = (double)g->waits[w - 1].at;
        own = fmax(own, waited);
    }
    return fmax(all, own + g->cycles - position);
}

/* Never less than the longest chain, and just that where all are resident at once; never more than all one after the other. */
Test(nested_grids, random_trees_lie_between_chain_and_sum)
{
    unsigned slower = 0, big = 0;
    for (uint64_t k = 1; k <= 3000; k++) {
        static struct tree t;
        uint64_t seed = k * UINT64_C(0x9e3779b97f4a7c15);
        memset(&t, 0, sizeof t);
        grow(&t, &seed, 0, 4);
        double sum = 0;
        for (size_t i = 0; i < t.count; i++) sum += t.g[i].start + t.g[i].cycles;
        const double chain = end_of(&t, 0, 0, 0), is = nested_run(t.g, t.count);
        cr_assert(fabs(is - chain) < 1e-6 * chain, "%llu: %f, not %f", (unsigned long long)k, is,
                  chain);
        for (size_t i = 0; i < t.count; i++)
            for (int r = 0; r < NESTED_SHARED; r++) t.g[i].use[r] = rnd(&seed, 1001) / 1000.0;
        const double crowded = nested_run(t.g, t.count);
        cr_assert(crowded > chain * (1 - 1e-9) && crowded < sum * (1 + 1e-9),
                  "%llu: %f is not from %f to %f", (unsigned long long)k, crowded, chain, sum);
        slower += crowded > chain * 1.01;
        big += t.count > 10;
    }
    cr_expect(slower > 300 && big > 300, "%u, %u", slower, big);
}

/* ---- whole estimates ---------------------------------------------------------------------------------------- */

#define DECLARE                                                                                         \
    ".version 6.0\n.target sm_60\n.address_size 64\n"                                                   \
    ".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], " \
    ".param .align 4 .b8 b[12], .param .b32 s);\n"                                                      \
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);\n"                 \
    ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
#define ENTRY(name)                                                                                \
    ".visible .entry " name "(.param .u64 q)\n{\n .reg .b64 %d<9>; .reg .b32 %r<9>;"               \
    " .reg .pred %p<3>;\n ld.param.u64 %d1, [q];\n"
#define SPIN(name) name ": sub.u64 %d1, %d1, 1; setp.ne.u64 %p1, %d1, 0; @%p1 bra " name ";\n"
#define LAUNCH                                                                                     \
    " { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;"       \
    " .param .b64 u; .param .b64 p; .param .b64 t; .param .b32 e;\n"                               \
    " mov.u64 %d2, child; st.param.b64 [f], %d2; st.param.b32 [g], 1; st.param.b32 [g+4], 1;"      \
    " st.param.b32 [g+8], 1; st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;"   \
    " st.param.b32 [s], 0;\n call (u), cudaGetParameterBufferV2, (f, g, b, s);"                    \
    " ld.param.b64 %d3, [u]; st.u64 [%d3], %d1; st.param.b64 [p], %d3; st.param.b64 [t], 0;\n"     \
    " call (e), cudaLaunchDeviceV2, (p, t); }\n"
#define WAIT " { .param .b32 r; call (r), cudaDeviceSynchronize, (); }\n"

static const char spins[] = DECLARE ENTRY("child") SPIN("a") " ret;\n}\n" ENTRY("beside")
    LAUNCH SPIN("a") " ret;\n}\n" ENTRY("waits") LAUNCH WAIT SPIN("a") " ret;\n}\n";

/* Cycles of the launch, of its two grids alone, and of its child. */
static double total_of(const char *kernel, uint64_t q, double *alone, double *child)
{
    const struct emu_gpu *gpu = emu_gpu_find("titanv");
    struct parsed *p = parse_text("spins.ptx", spins, strlen(spins));
    cr_assert(p->ok, "%s", first_error(p));
    char *why = NULL;
    struct emu *e = emu_new(&(struct emu_config){.trace = true, .gpu = gpu});
    struct emu_image *im = emu_load(e, &p->module, 1, &why);
    cr_assert(im != NULL, "%s", why ? why : "");
    const struct emu_launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &q, .params_size = sizeof q};
    const struct emu_report *r = emu_launch(e, emu_kernel_find(im, kernel), &l);
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    struct launch_estimate *t, sum = {0};
    const size_t n = estimate_cache_get_all(NULL, r->counts, &t);
    cr_assert_eq(n, 2);
    *alone = 0;
    for (size_t i = 0; i < n; i++) {
        double parts = 0;
        launch_estimate_add(&sum, &t[i], gpu);
        *alone += t[i].cycles;
        for (int k = 0; k < TIMING_PARTS; k++) parts += t[i].part[k];
        cr_expect(fabs(parts - t[i].cycles) < 1e-3 * t[i].cycles);
        cr_expect(t[i].warnings & LAUNCH_NESTED && t[i].high == 0);
    }
    *child = t[1].cycles;
    const double begins = t[1].begins;
    cr_expect(begins >= NESTED_LATENCY && begins < NESTED_LATENCY + 2000, "%f", begins);
    free(t);
    emu_unload(im);
    emu_free(e);
    parsed_free(p);
    return sum.cycles;
}

Test(nested_grids, parents_and_children_of_a_program)
{
    double alone, child;
    const double beside = total_of("beside", 10000, &alone, &child);
    const double parent = alone - child;
    cr_expect(child > 20000 && parent > 20000, "%f, %f", child, parent);
    cr_expect(beside > child && beside < child + 3000, "%f: %f, %f", beside, parent, child);
    const double waits = total_of("waits", 10000, &alone, &child);
    cr_expect(waits > 0.999 * alone && waits < 1.001 * alone, "%f, not %f", waits, alone);
}
