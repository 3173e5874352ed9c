/* GPUDet (determinism/gpudet.h): against a slow reference, over seeds, with its mechanisms off, and counts by
 * hand. */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/emu.h"
#include "tests/gpudet_reference.h"
#include "tests/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 256, KERNELS = 200 };

/* A device with one kernel of a buffer, launched again and again. */
struct bench {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *m;
    struct emu *e;
    struct emu_image *im;
    uint64_t at;
    uint32_t grid, block;
};

static void set_up(struct bench *b, const char *body, uint32_t grid, uint32_t block)
{
    const char *text = emu_ptx(".param .u64 p", body);
    *b = (struct bench){.arena = arena_new(),
                        .source = {"test.ptx", text, (uint32_t)strlen(text)},
                        .grid = grid,
                        .block = block};
    b->diags = (struct diags){.arena = b->arena, .source = &b->source};
    b->m = ptx_module_parse(b->arena, &b->source, &b->diags);
    cr_assert(b->m && ptx_module_check(b->m) && !b->diags.errors, "%s", text);
    b->e = emu_new(&(struct emu_config){.max_instructions = 10000000, .sms = 2});
    char *why = NULL;
    b->im = emu_load(b->e, &b->m, 1, &why);
    cr_assert(b->im, "%s", why);
    b->at = emu_alloc(b->e, WORDS * 4, "buffer");
}

static void tear_down(struct bench *b)
{
    emu_unload(b->im);
    emu_free(b->e);
    ptx_module_end(b->m);
    arena_free(b->arena);
}

static void run(struct bench *b, const struct emu_order *order, uint32_t words[WORDS])
{
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i * 0x9e3779b9u >> 16;
    emu_copy_in(b->e, b->at, words, WORDS * 4);
    struct emu_launch l = {.grid = {b->grid, 1, 1},
                           .block = {b->block, 1, 1},
                           .params = &b->at,
                           .params_size = 8,
                           .order = order};
    const struct emu_report *report = emu_launch(b->e, emu_kernel_at(b->im, 0), &l);
    cr_assert_eq(report->fault.kind, EMU_OK, "%s", report->fault.text);
    emu_copy_out(b->e, words, b->at, WORDS * 4);
}

struct numbers {
    struct {
        const char *name;
        uint64_t value;
    } list[64];
    size_t count;
};

static void keep(void *to, const char *name, uint64_t value)
{
    struct numbers *n = to;
    n->list[n->count].name = name;
    n->list[n->count++].value = value;
}

static uint64_t number(const struct numbers *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->list[i].name, name) == 0) return n->list[i].value;
    cr_assert_fail("no count %s", name);
    return 0;
}

static struct numbers run_order(struct bench *b, const char *text, uint64_t seed,
                                uint32_t words[WORDS])
{
    char *why;
    struct numbers n = {.count = 0};
    struct orders *o = orders_new(text, seed, &why);
    cr_assert(o, "%s", why);
    run(b, orders_get(o), words);
    orders_get(o)->numbers(orders_get(o)->self, keep, &n);
    orders_free(o);
    return n;
}

/* ---- random kernels against the reference ----------------------------------------------------------------- */

struct writer { /* of a kernel */
    char text[1 << 15];
    size_t size;
    uint64_t state;
    unsigned labels;
    bool shared, barriers;
};

static uint32_t below(struct writer *w, uint32_t n)
{
    w->state = w->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((w->state >> 33) % n);
}

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    w->size += (size_t)vsnprintf(w->text + w->size, sizeof w->text - w->size, format, list);
    va_end(list);
    cr_assert(w->size < sizeof w->text);
}

/* %r2 = a place in the buffer (or of shared memory) from the thread, the CTA and %r1, which holds what was loaded;
 * as bytes, a multiple of `unit`. */
static void write_address(struct writer *w, unsigned unit, unsigned most)
{
    static const char *const from[] = {"%r10", "%r11", "%r1", "%r12"};
    const unsigned bytes = 64u << below(w, 5);
    put(w, "mad.lo.u32 %%r2, %s, %u, %u; ", from[below(w, 4)], 1 + below(w, 40), below(w, 4096));
    if (below(w, 2)) put(w, "mad.lo.u32 %%r2, %s, %u, %%r2; ", from[below(w, 4)], below(w, 200));
    put(w, "and.b32 %%r2, %%r2, %u; ", ((bytes < most ? bytes : most) - 1) & ~(unit - 1));
}

static void write_global(struct writer *w, unsigned unit)
{
    write_address(w, unit, WORDS * 4);
    put(w, "cvt.u64.u32 %%d2, %%r2; add.u64 %%d2, %%d2, %%d1; ");
}

static void write_simple(struct writer *w)
{
    static const char *const loads[] = {"ld.global.u32", "ld.global.u32", "ld.volatile.global.u32",
                                        "ld.acquire.gpu.global.u32"};
    static const char *const stores[] = {"st.global.u32", "st.global.u32", "st.global.u32",
                                         "st.volatile.global.u32", "st.release.gpu.global.u32"};
    static const char *const atoms[] = {"add.u32", "exch.b32", "max.u32", "xor.b32"};
    const unsigned kind = below(w, w->shared ? 15 : 12);
    switch (kind) {
    case 0:
    case 1:
    case 2:
        write_global(w, 4);
        put(w, "%s %%r3, [%%d2]; xor.b32 %%r1, %%r1, %%r3;\n", loads[below(w, 4)]);
        break;
    case 3:
        write_global(w, 8);
        if (below(w, 2)) put(w, "ld.global.v2.u32 {%%r3,%%r4}, [%%d2]; ");
        else put(w, "ld.global.u8 %%r3, [%%d2+1]; ld.global.u16 %%r4, [%%d2+6]; ");
        put(w, "mad.lo.u32 %%r1, %%r3, 5, %%r4;\n");
        break;
    case 4:
    case 5:
        write_global(w, 4);
        put(w, "%s [%%d2], %%r1;\n", stores[below(w, 5)]);
        break;
    case 6:
        write_global(w, 16);
        if (below(w, 2)) put(w, "st.global.v4.u32 [%%d2], {%%r1,%%r10,%%r11,%%r2};\n");
        else put(w, "st.global.u8 [%%d2+%u], %%r1;\n", below(w, 16));
        break;
    case 7:
        write_global(w, 8);
        if (below(w, 2)) put(w, "st.global.u16 [%%d2+%u], %%r12;\n", 2 * below(w, 4));
        else put(w, "cvt.u64.u32 %%d3, %%r1; st.global.u64 [%%d2], %%d3;\n");
        break;
    case 8:
        write_global(w, 4);
        put(w, "atom.global.%s %%r1, [%%d2], %%r12;\n", atoms[below(w, 4)]);
        break;
    case 9:
        write_global(w, 4);
        put(w, "red.global.add.u32 [%%d2], %%r1;\n");
        break;
    case 10: put(w, below(w, 2) ? "membar.gl;\n" : "fence.acq_rel.gpu;\n"); break;
    case 11: put(w, "mad.lo.u32 %%r1, %%r1, 69069, %%r12; xor.b32 %%r1, %%r1, 77;\n"); break;
    default:
        write_address(w, 4, 256);
        put(w, "mov.u32 %%r5, s; add.u32 %%r2, %%r2, %%r5; ");
        if (kind == 12) put(w, "st.shared.u32 [%%r2], %%r1;\n");
        else if (kind == 13) put(w, "ld.shared.u32 %%r3, [%%r2]; add.u32 %%r1, %%r1, %%r3;\n");
        else put(w, "atom.shared.add.u32 %%r1, [%%r2], 3;\n");
    }
}

static void write_block(struct writer *w, unsigned depth, bool together)
{
    for (unsigned n = 1 + below(w, 5); n; n--) {
        const unsigned kind = below(w, 10), label = w->labels;
        if (kind == 0 && depth < 3) { /* some lanes */
            w->labels++;
            put(w, "and.b32 %%r6, %s, %u; setp.ne.u32 %%p1, %%r6, 0; @%%p1 bra L%u;\n",
                below(w, 2) ? "%r10" : "%r1", 1u << below(w, 6), label);
            write_block(w, depth + 1, false);
            put(w, "L%u:\n", label);
        } else if (kind == 1 && depth < 2) { /* again and again */
            w->labels++;
            put(w, "mov.u32 %%r%u, %u;\nL%u:\n", 20 + depth, 1 + below(w, 4), label);
            write_block(w, depth + 1, together);
            put(w, "sub.u32 %%r%u, %%r%u, 1; setp.ne.u32 %%p2, %%r%u, 0; @%%p2 bra L%u;\n",
                20 + depth, 20 + depth, 20 + depth, label);
        } else if (kind == 2 && together && w->barriers) put(w, "bar.sync 0;\n");
        else write_simple(w);
    }
}

static void write_kernel(struct writer *w)
{
    put(w,
        ".reg .b64 %%d<5>; .reg .b32 %%r<24>; .reg .pred %%p<3>;%s\n"
        "ld.param.u64 %%d1, [p]; mov.u32 %%r10, %%tid.x; mov.u32 %%r11, %%ctaid.x;\n"
        "mad.lo.u32 %%r12, %%r11, 1000, %%r10; mov.u32 %%r1, %%r12;\n",
        w->shared ? " .shared .align 16 .b8 s[40000];" : "");
    for (unsigned n = 1 + below(w, 4); n; n--) {
        write_block(w, 0, true);
        if (!below(w, 4))
            put(w, "and.b32 %%r6, %%r10, %u; setp.eq.u32 %%p1, %%r6, %u; @%%p1 ret;\n",
                32u << below(w, 2), 32 * below(w, 2));
    }
    put(w, "and.b32 %%r2, %%r12, 127; mul.wide.u32 %%d2, %%r2, 4; add.u64 %%d2, %%d2, %%d1;\n"
           "st.global.u32 [%%d2], %%r1; ret;");
}

static void compare(const struct numbers *n, const struct reference_counts *c, const char *text)
{
    const struct {
        const char *name;
        uint64_t want;
    } rows[] = {
        {"gpudet.quanta", c->quanta},
        {"gpudet.end.limit", c->limit},
        {"gpudet.end.atomic", c->atomic},
        {"gpudet.end.fence", c->fence},
        {"gpudet.end.strong", c->strong},
        {"gpudet.end.barrier", c->barrier},
        {"gpudet.end.exit", c->exit},
        {"gpudet.log.entries", c->entries},
        {"gpudet.serial.atomics", c->atomics},
        {"gpudet.bloom.queries", c->queries},
        {"gpudet.barriers.passed", c->passed},
        {"gpudet.barriers.held", c->held},
        {"gpudet.end.wait", 0},
        {"gpudet.end.runtime", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(number(n, rows[i].name), rows[i].want, "%s: %llu, not %llu:\n%s", rows[i].name,
                     (unsigned long long)number(n, rows[i].name), (unsigned long long)rows[i].want,
                     text);
    cr_assert_eq(number(n, "gpudet.bloom.hits") - number(n, "gpudet.bloom.false"), c->hits, "%s",
                 text);
}

Test(gpudet, does_what_the_reference_does, .timeout = 300)
{
    static struct writer w;
    for (unsigned k = 0; k < KERNELS; k++) {
        w = (struct writer){.state = k * 7919u + 1, .shared = k % 3 == 0, .barriers = k % 2 == 0};
        write_kernel(&w);
        const uint32_t block = 1 + below(&w, 160), quantum = 1 + below(&w, 60),
                       grid = 1 + below(&w, w.shared ? 8 : 36);
        const bool bta = below(&w, 2), dwp = below(&w, 2);
        struct bench b;
        uint32_t want[WORDS], got[WORDS];
        set_up(&b, w.text, grid, block);
        struct reference *r = reference_new(quantum, bta, dwp, b.at, WORDS * 4);
        run(&b, reference_order(r), want);
        const struct reference_counts c = reference_counted(r);
        for (unsigned seed = 1; seed <= 3; seed++) {
            char order[200];
            snprintf(order, sizeof order,
                     "gpudet:step=instruction:quantum=%u:bta=%s:dwp=%s:commit=%s:serial=%s%s",
                     quantum, bta ? "on" : "off", dwp ? "on" : "off",
                     seed & 1 ? "locks" : "zbuffer", seed & 1 ? "warp" : "cu",
                     seed == 3 ? ":bloom=32" : "");
            const struct numbers n = run_order(&b, order, k * 10 + seed, got);
            for (unsigned i = 0; i < WORDS; i++)
                cr_assert_eq(got[i], want[i], "kernel %u, %s: word %u is %x, not %x\n%s", k, order,
                             i, got[i], want[i], w.text);
            compare(&n, &c, w.text);
        }
        reference_free(r);
        tear_down(&b);
    }
}

/* ---- off-switches ----------------------------------------------------------------------------------------- */

/* All threads store to the same words, draw tickets, and race in shared memory. */
static const char racy[] =
    ".reg .b64 %d<4>; .reg .b32 %r<9>; .shared .align 16 .b8 s[64];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 100, %r1;\n"
    "and.b32 %r3, %r1, 15; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d2, %d1;\n"
    "shl.b32 %r4, %r3, 2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5;\n"
    "ld.shared.u32 %r6, [%r4]; mad.lo.u32 %r6, %r6, 3, %r1; st.shared.u32 [%r4], %r6;\n"
    "ld.global.u32 %r7, [%d2]; add.u32 %r7, %r7, %r6; st.global.u32 [%d2], %r7;\n"
    "atom.global.exch.b32 %r8, [%d2+64], %r1; st.global.u32 [%d2+128], %r8; ret;";

static unsigned results_of(const char *order)
{
    enum { SEEDS = 40 };
    static uint32_t words[SEEDS][WORDS];
    struct bench b;
    unsigned different = 0;
    set_up(&b, racy, 48, 96);
    for (unsigned s = 0; s < SEEDS; s++) {
        run_order(&b, order, s + 1, words[s]);
        unsigned k = 0;
        while (memcmp(words[k], words[s], sizeof *words) != 0) k++;
        different += k == s;
    }
    tear_down(&b);
    return different;
}

Test(gpudet, gives_one_result_unless_a_mechanism_is_off, .timeout = 60)
{
    static const char *const kept[] = {"gpudet", "gpudet:bta=off:dwp=off", "gpudet:commit=locks",
                                       "gpudet:serial=warp:step=instruction"},
                             *const broken[] = {"gpudet:depth=off", "gpudet:buffer=off",
                                                "gpudet:serial=any", "gpudet:shared=any:quantum=4",
                                                "gpudet:distribution=any"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        cr_expect_eq(results_of(kept[i]), 1, "%s", kept[i]);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        cr_expect(results_of(broken[i]) > 1, "%s", broken[i]);
}

/* Each mechanism is needed by a workload, which has one result with it. */
Test(gpudet, needs_each_of_its_parts, .timeout = 120)
{
    static const struct {
        const char *workload, *off;
    } rows[] = {
        {"scatter_last", "depth=off"},  {"bfs_parent", "depth=off"},
        {"racey_global", "buffer=off"}, {"bfs_racy", "buffer=off"},
        {"sum_atomic", "serial=any"},   {"order_exchange", "serial=any"},
        {"racey_shared", "shared=any"}, {"scatter_last", "distribution=any"},
        {"append", "distribution=any"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char order[64];
        snprintf(order, sizeof order, "gpudet:%s", rows[i].off);
        cr_expect(workload_is_one(rows[i].workload, "gpudet", 3), "%s", rows[i].workload);
        cr_expect(!workload_is_one(rows[i].workload, order, 20), "%s %s", rows[i].workload, order);
    }
}

Test(gpudet, refuses_options_that_exclude_each_other)
{
    static const char *const wrong[] = {
        "gpudet:buffer=off:depth=off", "gpudet:bloom=10:subarrays=4",
        "gpudet:distribution=any:dwp=off", "gpudet:commit=locks:requests=8", "gpudet:zcache=1000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *why = orders_check(wrong[i], NULL);
        cr_expect(why, "%s", wrong[i]);
        free(why);
    }
}
