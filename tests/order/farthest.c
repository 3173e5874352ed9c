/* The strategy `farthest` of the order random: which warp it prefers, and that it finds no fewer of the known errors than
 * the strategy `uniform`. */
#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "determinism/race/race.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"
#include "tests/support/races.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SEEDS = 100 };

struct found {        /* in the kernels of tests/races, under one strategy */
    unsigned racy;    /* racy kernels in which the detector found a race */
    unsigned differ;  /* racy kernels with several results in SEEDS runs */
    unsigned results; /* of racy kernels, distinct ones, all kernels together */
    unsigned wrong;   /* kernels without races, in which one was found */
};

struct program {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *m;
    struct emu *e;
    struct emu_image *im;
    uint64_t memory;
};

static void set_up(struct program *p, const char *path, const char *text)
{
    *p = (struct program){.arena = arena_new(), .source = {path, text, (uint32_t)strlen(text)}};
    p->diags = (struct diags){.arena = p->arena, .source = &p->source};
    p->m = ptx_module_parse(p->arena, &p->source, &p->diags);
    cr_assert(ptx_module_check(p->m));
    p->e = emu_new(&(struct emu_config){.max_instructions = 1000000, .sms = 4});
    char *why = NULL;
    p->im = emu_load(p->e, &p->m, 1, &why);
    cr_assert(p->im, "%s", why);
    p->memory = emu_alloc(p->e, RACE_MEMORY, "memory");
}

static void tear_down(struct program *p)
{
    emu_unload(p->im);
    emu_free(p->e);
    ptx_module_end(p->m);
    arena_free(p->arena);
}

/* One run of all launches on zeroed memory; the digest of what they leave. *race: whether one was found. */
static uint64_t once(struct program *p, const struct race_case *c, const char *order, uint64_t seed,
                     bool detect, bool *race)
{
    char *why = NULL;
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(o, "%s", why);
    struct race *r = detect ? race_new() : NULL;
    const struct emu_observer *list[] = {r ? race_observer(r) : NULL};
    const uint32_t zero = 0;
    emu_fill(p->e, p->memory, &zero, 4, RACE_MEMORY / 4);
    for (uint32_t k = 0; k < c->launches; k++) {
        struct emu_launch l = {.grid = {c->grid, 1, 1},
                               .block = {c->block, 1, 1},
                               .params = &p->memory,
                               .params_size = 8,
                               .order = orders_get(o),
                               .observers = list,
                               .observer_count = detect};
        const struct emu_report *report = emu_launch(p->e, emu_kernel_find(p->im, c->kernel), &l);
        cr_assert(!report->fault.kind, "%s, seed %u: %s", c->kernel, (unsigned)seed,
                  report->fault.text);
        for (size_t i = 0; i < report->finding_count; i++)
            *race |= report->findings[i].kind == EMU_RACE;
    }
    race_free(r);
    orders_free(o);
    return emu_digest(p->e);
}

static struct found search(const char *order)
{
    struct found f = {0};
    for (size_t i = 0; i < race_case_count; i++) {
        const struct race_case *c = &race_cases[i];
        struct race_file file = race_file(c);
        struct program p;
        uint64_t seen[SEEDS];
        unsigned distinct = 0;
        bool race = false;
        set_up(&p, file.path, file.text);
        for (uint64_t seed = 1; c->racy && seed <= SEEDS; seed++) {
            const uint64_t digest = once(&p, c, order, seed, false, &race);
            unsigned k = 0;
            while (k < distinct && seen[k] != digest) k++;
            if (k == distinct) seen[distinct++] = digest;
        }
        for (uint64_t seed = 1; seed <= 2; seed++) (void)once(&p, c, order, seed, true, &race);
        if (c->racy) {
            f.racy += race;
            f.differ += distinct > 1;
            f.results += distinct;
        } else f.wrong += race;
        tear_down(&p);
        race_file_free(&file);
    }
    return f;
}

/* Many seeds, which would take minutes with sanitizers; other tests run the same code under them. */
Test(farthest, finds_no_fewer_errors_than_uniform, .timeout = 300, .disabled = SANITIZED)
{
    const struct found uniform = search("random:strategy=uniform"),
                       farthest = search("random:strategy=farthest");
    cr_log_info("uniform: %u racy, %u with several results, %u results; farthest: %u, %u, %u",
                uniform.racy, uniform.differ, uniform.results, farthest.racy, farthest.differ,
                farthest.results);
    cr_expect_geq(farthest.racy, uniform.racy);
    cr_expect_geq(farthest.differ, uniform.differ);
    cr_expect_geq(farthest.results, uniform.results);
    cr_expect_eq(farthest.wrong, 0);
}

/* Two warps of one CTA add 1 to a word each, 64 times, and the first records the largest difference of the words. The one
 * that is behind is preferred, so they stay closer than with long runs of one warp. */
Test(farthest, prefers_the_warp_that_has_issued_least_since_its_barrier)
{
    static const char body[] =
        ".reg .u64 %d<4>; .reg .u32 %r<12>; .reg .pred %p<4>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;\n"
        "and.b32 %r3, %r1, 31; setp.ne.u32 %p1, %r3, 0; @%p1 bra done;\n"
        "mov.u32 %r4, 0;\n"
        "turn: setp.ge.u32 %p2, %r4, 64; @%p2 bra done;\n"
        "setp.eq.u32 %p3, %r2, 0; @%p3 bra first;\n"
        "atom.global.add.u32 %r5, [%d1+4], 1; bra next;\n"
        "first: atom.global.add.u32 %r5, [%d1], 1;\n"
        "ld.volatile.global.u32 %r6, [%d1+4]; sub.s32 %r7, %r6, %r5; abs.s32 %r7, %r7;\n"
        "atom.global.max.u32 %r8, [%d1+8], %r7;\n"
        "next: add.u32 %r4, %r4, 1; bra turn;\n"
        "done: bar.sync 0; ret;";
    uint32_t difference[2] = {0};
    static const char *const orders[] = {"random:strategy=bursty", "random:strategy=farthest"};
    struct program p;
    set_up(&p, "test.ptx", emu_ptx(".param .u64 p", body));
    const struct race_case c = {.kernel = "k", .grid = 1, .block = 64, .launches = 1};
    for (int i = 0; i < 2; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            uint32_t most;
            bool race = false;
            (void)once(&p, &c, orders[i], seed, false, &race);
            emu_copy_out(p.e, &most, p.memory + 8, 4);
            difference[i] += most;
        }
    cr_expect(difference[1] * 2 < difference[0], "%u difference in all runs, %u with long runs",
              difference[1], difference[0]);
    tear_down(&p);
}
