/* GPUDet (determinism/gpudet/gpudet.h): against a slow reference, over seeds, with its mechanisms off, and counts by
 * hand. */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/oracles/gpudet_reference.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"
#include "tests/support/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 256, KERNELS = 200 / THINNED };

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
    const struct emu_observer *observer; /* NULL: none */
};

static void begin_device(struct bench *b, bool count)
{
    b->e = emu_new(&(struct emu_config){
        .max_instructions = 10000000, .timeout = 30, .sms = 2, .count = count});
    char *why = NULL;
    b->im = emu_load(b->e, &b->m, 1, &why);
    cr_assert(b->im, "%s", why);
    b->at = emu_alloc(b->e, WORDS * 4, "buffer");
}

static void end_device(struct bench *b)
{
    emu_unload(b->im);
    emu_free(b->e);
}

static void set_up_module(struct bench *b, const char *text, uint32_t grid, uint32_t block)
{
    *b = (struct bench){.arena = arena_new(),
                        .source = {"test.ptx", text, (uint32_t)strlen(text)},
                        .grid = grid,
                        .block = block};
    b->diags = (struct diags){.arena = b->arena, .source = &b->source};
    b->m = ptx_module_parse(b->arena, &b->source, &b->diags);
    cr_assert(b->m && ptx_module_check(b->m) && !b->diags.errors, "%s", text);
    begin_device(b, true);
}

static void set_up(struct bench *b, const char *body, uint32_t grid, uint32_t block)
{
    set_up_module(b, emu_ptx(".param .u64 p", body), grid, block);
}

static void tear_down(struct bench *b)
{
    end_device(b);
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
                           .order = order,
                           .observers = &b->observer,
                           .observer_count = b->observer != NULL};
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
        for (unsigned seed = 1; seed <= 6; seed++) { /* also when nobody counts */
            char order[200];
            if (seed == 4) end_device(&b), begin_device(&b, false);
            snprintf(order, sizeof order,
                     "gpudet:step=instruction:quantum=%u:bta=%s:dwp=%s:commit=%s:serial=%s%s",
                     quantum, bta ? "on" : "off", dwp ? "on" : "off",
                     seed & 1 ? "locks" : "zbuffer", seed & 1 ? "warp" : "cu",
                     seed % 3 == 0 ? ":bloom=32" : "");
            const struct numbers n = run_order(&b, order, k * 10 + seed, got);
            for (unsigned i = 0; i < WORDS; i++)
                cr_assert_eq(got[i], want[i], "kernel %u, %s: word %u is %x, not %x\n%s", k, order,
                             i, got[i], want[i], w.text);
            if (seed <= 3) compare(&n, &c, w.text);
        }
        reference_free(r);
        tear_down(&b);
    }
}

/* Whether buffers that are full end quanta where they do when somebody counts. */
Test(gpudet, does_the_same_when_nobody_counts, .timeout = 300)
{
    static struct writer w;
    for (unsigned k = 0; k < KERNELS; k++) {
        w = (struct writer){.state = k * 104729u + 5, .shared = k % 3 == 0, .barriers = k % 2};
        write_kernel(&w);
        const uint32_t block = 1 + below(&w, 160), grid = 1 + below(&w, 36);
        struct bench b;
        uint32_t want[WORDS], got[WORDS];
        char order[80];
        set_up(&b, w.text, grid, block);
        snprintf(order, sizeof order, "gpudet:quantum=%u:log=%u", 1 + below(&w, 300),
                 64 + below(&w, 200));
        run_order(&b, order, k, want);
        end_device(&b), begin_device(&b, false);
        for (unsigned seed = 1; seed <= 3; seed++) {
            run_order(&b, order, seed, got);
            for (unsigned i = 0; i < WORDS; i++)
                cr_assert_eq(got[i], want[i], "kernel %u, %s: word %u is %x, not %x\n%s", k, order,
                             i, got[i], want[i], w.text);
        }
        tear_down(&b);
    }
}

/* Loads and stores alone, of words that are mostly a thread's own. */
static void write_own(struct writer *w)
{
    put(w, ".reg .b64 %%d<5>; .reg .b32 %%r<24>; .reg .pred %%p<3>; mov.u32 %%r2, %%ctaid.x;\n"
           "ld.param.u64 %%d1, [p]; mov.u32 %%r10, %%tid.x; mov.u32 %%r11, %%ntid.x;\n"
           "mad.lo.u32 %%r12, %%r2, %%r11, %%r10; mov.u32 %%r1, %%r12;\n");
    const unsigned size = 4u << below(w, 2), start = 4 * below(w, 16);
    for (unsigned n = 2 + below(w, 5); n; n--) {
        const unsigned at = below(w, 6) ? start : 4 * below(w, 64), guard = below(w, 4);
        put(w, "mad.lo.u32 %%r2, %%r12, %u, %u; and.b32 %%r2, %%r2, %u;\n", below(w, 9) ? size : 4,
            at, WORDS * 4 - 4);
        put(w,
            "cvt.u64.u32 %%d2, %%r2; add.u64 %%d2, %%d2, %%d1; and.b32 %%r6, %%r10, %u;\n"
            "setp.eq.u32 %%p1, %%r6, 0; %s",
            1u << below(w, 5), guard ? "" : "@%p1 ");
        if (below(w, 2)) put(w, "ld.global.u32 %%r3, [%%d2]; mad.lo.u32 %%r1, %%r1, 5, %%r3;\n");
        else if (below(w, 4)) put(w, "st.global.u32 [%%d2], %%r1;\n");
        else put(w, "st.global.u16 [%%d2+2], %%r1;\n");
    }
    put(w, "ret;");
}

/* Most of these go without the order, unless somebody counts. */
Test(gpudet, does_the_same_where_warps_do_not_conflict, .timeout = 300)
{
    static struct writer w;
    for (unsigned k = 0; k < 4 * KERNELS; k++) {
        w = (struct writer){.state = k * 15485863u + 3};
        write_own(&w);
        const uint32_t block = 1 + below(&w, 100), grid = 1 + below(&w, 4);
        struct bench b;
        uint32_t want[WORDS], got[WORDS];
        set_up(&b, w.text, grid, block);
        run_order(&b, "gpudet", k, want);
        end_device(&b), begin_device(&b, false);
        for (unsigned seed = 1; seed <= 2; seed++) {
            run_order(&b, "gpudet", seed, got);
            for (unsigned i = 0; i < WORDS; i++)
                cr_assert_eq(got[i], want[i], "kernel %u: word %u is %x, not %x\n%s", k, i, got[i],
                             want[i], w.text);
        }
        tear_down(&b);
    }
}

/* ---- counts by hand -------------------------------------------------------------------------------------- */

#define HEAD                                                                                       \
    ".reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .align 8 .b64 m;\n"               \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
#define STORE(chunk) "st.global.u32 [%d1+" chunk "*128], %r1;\n"
#define RED "red.global.add.u32 [%d1], 1;\n"
#define ADD4 "add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;\n"
#define Z "gpudet:partitions=1:zcache=256:ways=2:fetch=10" /* one set of two lines */

/* Two SMs. Counts that a row does not name are 0, but the Z units' where it has no `z`. */
static const struct {
    const char *order, *body;
    uint32_t grid, block;
    bool z;
    struct {
        const char *name;
        uint64_t value;
    } want[12];
} counted[] = {
    /* 2 + 8 + ret: instructions 1-4, 5-8, 9-11 */
    {"gpudet:step=instruction:quantum=4",
     HEAD ADD4 ADD4 "ret;",
     1,
     32,
     true,
     {{"quanta", 3}, {"end.limit", 2}, {"end.exit", 1}}},
    /* the block's end comes after the limit: one quantum */
    {"gpudet:quantum=4", HEAD ADD4 ADD4 "ret;", 1, 32, true, {{"quanta", 1}, {"end.exit", 1}}},
    {"gpudet",
     HEAD RED "ret;",
     1,
     32,
     true,
     {{"quanta", 2},
      {"end.atomic", 1},
      {"end.exit", 1},
      {"serial.quanta", 1},
      {"serial.atomics", 1},
      {"serial.rounds", 1}}},
    {"gpudet",
     HEAD "membar.gl; ret;",
     1,
     32,
     true,
     {{"quanta", 2}, {"end.fence", 1}, {"end.exit", 1}}},
    {"gpudet",
     HEAD "ld.volatile.global.u32 %r2, [%d1]; ret;",
     1,
     32,
     true,
     {{"quanta", 2}, {"end.strong", 1}, {"end.exit", 1}, {"bloom.queries", 1}}},
    /* the second store finds fewer than the 64 entries free that one may need */
    {"gpudet:log=64",
     HEAD STORE("0") STORE("1") "ret;",
     1,
     32,
     false,
     {{"quanta", 2}, {"end.log", 1}, {"end.exit", 1}, {"log.entries", 2}, {"log.longest", 1}}},
    {"gpudet",
     HEAD STORE("0") STORE("1") "ret;",
     1,
     32,
     false,
     {{"quanta", 1}, {"end.exit", 1}, {"log.entries", 2}, {"log.longest", 2}}},
    /* warp 0 waits for 32 arrivals, which warp 1 makes in the quantum behind its atomic */
    {"gpudet",
     HEAD "mov.u32 %r2, m; setp.ge.u32 %p1, %r1, 32; @%p1 bra other;\n"
          "setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [%r2], 32;\n"
          "waits: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0; @!%p3 bra waits; ret;\n"
          "other: " RED "mbarrier.arrive.shared.b64 %d2, [%r2]; ret;",
     1,
     64,
     true,
     {{"quanta", 2},
      {"end.wait", 1},
      {"end.atomic", 1},
      {"end.exit", 2},
      {"serial.quanta", 1},
      {"serial.atomics", 1},
      {"serial.rounds", 1}}},
    /* barriers: of two warps; with it passed, without it both end the quantum there */
    {"gpudet",
     HEAD "bar.sync 0; ret;",
     1,
     64,
     true,
     {{"quanta", 1}, {"end.exit", 2}, {"barriers.passed", 1}}},
    {"gpudet:bta=off",
     HEAD "bar.sync 0; ret;",
     1,
     64,
     true,
     {{"quanta", 2}, {"end.barrier", 2}, {"end.exit", 2}, {"barriers.held", 1}}},
    {"gpudet",
     HEAD "bar.sync 0; bar.sync 0; bar.sync 0; ret;",
     3,
     64,
     true,
     {{"quanta", 1}, {"end.exit", 6}, {"barriers.passed", 9}}},
    {"gpudet:bta=off",
     HEAD "bar.sync 0; bar.sync 0; bar.sync 0; ret;",
     3,
     64,
     true,
     {{"quanta", 4}, {"end.barrier", 18}, {"end.exit", 6}, {"barriers.held", 9}}},
    /* stores before it must be seen behind it */
    {"gpudet",
     HEAD STORE("0") "bar.sync 0; ret;",
     1,
     64,
     false,
     {{"quanta", 2},
      {"end.barrier", 2},
      {"end.exit", 2},
      {"barriers.held", 1},
      {"log.entries", 2},
      {"log.longest", 1}}},
    /* warp 0 is at its limit after 8 of 13 instructions while warp 1 is at the barrier; in the second quantum it
     * comes there with its 5th, and both pass */
    {"gpudet:step=instruction:quantum=8",
     HEAD "setp.ge.u32 %p1, %r1, 32; @%p1 bra there;\n" ADD4 ADD4 "there: bar.sync 0; ret;",
     1,
     64,
     true,
     {{"quanta", 2},
      {"end.limit", 1},
      {"end.barrier", 1},
      {"end.exit", 2},
      {"barriers.passed", 1}}},
    /* 8 warps on two SMs, two atomics each */
    {"gpudet",
     HEAD RED RED "ret;",
     4,
     64,
     true,
     {{"quanta", 3},
      {"end.atomic", 16},
      {"end.exit", 8},
      {"serial.quanta", 2},
      {"serial.atomics", 16},
      {"serial.rounds", 4}}},
    {"gpudet:serial=warp",
     HEAD RED RED "ret;",
     4,
     64,
     true,
     {{"quanta", 3},
      {"end.atomic", 16},
      {"end.exit", 8},
      {"serial.quanta", 2},
      {"serial.atomics", 16},
      {"serial.rounds", 16}}},
    /* 12 CTAs of 32 warps in 4 slots, 11 instructions a warp: with shares a slot's second CTA has 14 left, and its
     * third 3; without them, CTAs begin with quanta */
    {"gpudet:step=instruction:quantum=25",
     HEAD ADD4 ADD4 "ret;",
     12,
     1024,
     true,
     {{"quanta", 2}, {"end.limit", 128}, {"end.exit", 384}}},
    {"gpudet:step=instruction:quantum=25:dwp=off",
     HEAD ADD4 ADD4 "ret;",
     12,
     1024,
     true,
     {{"quanta", 3}, {"end.exit", 384}}},
    {"gpudet:step=instruction:quantum=6:dwp=off",
     HEAD ADD4 ADD4 "ret;",
     12,
     1024,
     true,
     {{"quanta", 6}, {"end.limit", 384}, {"end.exit", 384}}},
    /* lines: a store to 32 words of a chunk is one entry; 4 bytes a lane at 64 bytes from each other, 16 of them */
    {"gpudet",
     HEAD "mul.wide.u32 %d2, %r1, 64; and.b64 %d2, %d2, 1023; add.u64 %d2, %d2, %d1;\n"
          "st.global.u32 [%d2], %r1; ld.global.u32 %r2, [%d2]; ld.global.u32 %r3, [%d1+4];\n"
          "add.u32 %r2, %r2, %r3; st.global.u32 [%d1], %r2; ret;",
     1,
     32,
     false,
     /* 8 chunks, then one; the first load asks for 8, the second for 1; each search goes through 8 entries */
     {{"quanta", 1},
      {"end.exit", 1},
      {"log.entries", 9},
      {"log.longest", 9},
      {"bloom.queries", 9},
      {"bloom.hits", 9},
      {"log.walked", 72}}},
    /* Z unit: chunks A B C A, one request at a time: A at 1 until 12, B at 13 until 24, C at 25 until 36 in place of
     * A, A at 37 in place of B. Three find the buffer full. */
    {Z ":requests=1",
     HEAD STORE("0") STORE("1") STORE("2") STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 1},
      {"end.exit", 1},
      {"log.entries", 4},
      {"log.longest", 4},
      {"zbuffer.misses", 4},
      {"zbuffer.evictions", 2},
      {"zbuffer.full", 3}}},
    /* all at once: C at 3 finds both lines locked, and gets A's at 12; A at 4 gets B's at 13 */
    {Z ":requests=16",
     HEAD STORE("0") STORE("1") STORE("2") STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 1},
      {"end.exit", 1},
      {"log.entries", 4},
      {"log.longest", 4},
      {"zbuffer.misses", 4},
      {"zbuffer.evictions", 2},
      {"zbuffer.blocked", 2}}},
    /* the second at 2 hits the line that is locked until 12; one at a time, it comes at 13 */
    {Z,
     HEAD STORE("0") STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 1},
      {"end.exit", 1},
      {"log.entries", 2},
      {"log.longest", 2},
      {"zbuffer.hits", 1},
      {"zbuffer.misses", 1},
      {"zbuffer.blocked", 1}}},
    {Z ":requests=1",
     HEAD STORE("0") STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 1},
      {"end.exit", 1},
      {"log.entries", 2},
      {"log.longest", 2},
      {"zbuffer.hits", 1},
      {"zbuffer.misses", 1},
      {"zbuffer.full", 1}}},
    /* a commit is over when all its requests are: the next one finds the line there, and free */
    {Z,
     HEAD STORE("0") "membar.gl;\n" STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 2},
      {"end.fence", 1},
      {"end.exit", 1},
      {"log.entries", 2},
      {"log.longest", 1},
      {"zbuffer.hits", 1},
      {"zbuffer.misses", 1}}},
    /* locks: had from 1 to 31; who comes at 2 is in vain at 2, 12, 22, and has it from 32 */
    {"gpudet:partitions=1:fetch=10:commit=locks",
     HEAD STORE("0") STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 1},
      {"end.exit", 1},
      {"log.entries", 2},
      {"log.longest", 2},
      {"locks.taken", 2},
      {"locks.spins", 3}}},
    {"gpudet:partitions=1:fetch=10:commit=locks",
     HEAD STORE("0") "membar.gl;\n" STORE("0") "ret;",
     1,
     32,
     true,
     {{"quanta", 2},
      {"end.fence", 1},
      {"end.exit", 1},
      {"log.entries", 2},
      {"log.longest", 1},
      {"locks.taken", 2}}},
    /* 96 threads add 1 by a loop of compare-and-swap: in each serial mode one of them succeeds, a thread of the first
     * warp that has not ended, and all warps have tried. 32 x (3 + 2 + 1) accesses, and a last quantum that ends. */
    {"gpudet",
     HEAD "mov.u32 %r1, 0;\nagain: add.u32 %r2, %r1, 1; atom.global.cas.b32 %r3, [%d1], %r1, %r2;\n"
          "setp.ne.u32 %p1, %r3, %r1; mov.u32 %r1, %r3; @%p1 bra again; ret;",
     1,
     96,
     false,
     {{"quanta", 97},
      {"end.atomic", 192},
      {"end.exit", 3},
      {"serial.quanta", 96},
      {"serial.atomics", 192},
      {"serial.rounds", 96}}},
};
enum { COUNTED = sizeof counted / sizeof *counted, WANTS = 12 };

static uint64_t wanted(size_t row, const char *name)
{
    for (int i = 0; i < WANTS && counted[row].want[i].name; i++)
        if (strcmp(counted[row].want[i].name, name) == 0) return counted[row].want[i].value;
    return 0;
}

static void compare_row(size_t row, const struct numbers *n)
{
    for (size_t i = 0; i < n->count; i++) {
        const char *name = n->list[i].name + strlen("gpudet.");
        if (!counted[row].z && strncmp(name, "zbuffer.", 8) == 0) continue;
        cr_expect_eq(n->list[i].value, wanted(row, name), "%s: %s is %llu, not %llu:\n%s",
                     counted[row].order, name, (unsigned long long)n->list[i].value,
                     (unsigned long long)wanted(row, name), counted[row].body);
    }
}

Test(gpudet, counts_what_it_does)
{
    uint32_t words[WORDS];
    for (size_t i = 0; i < COUNTED; i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct bench b;
            set_up(&b, counted[i].body, counted[i].grid, counted[i].block);
            const struct numbers n = run_order(&b, counted[i].order, seed, words);
            compare_row(i, &n);
            tear_down(&b);
        }
}

/* The last warp ends while it calls: in the quantum behind the one that the call ended. */
Test(gpudet, ends_quanta_at_calls_of_the_runtime)
{
    static const char text[] =
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<3>; .reg .b32 %r<2>;\n"
        "ld.param.u64 %d1, [p]; { .param .b64 n; .param .b64 r; st.param.b64 [n], 16;\n"
        "call.uni (r), malloc, (n); ld.param.b64 %d2, [r]; }\n"
        "mov.u32 %r1, 42; st.global.u32 [%d1], %r1; ret;\n}\n";
    for (int step = 0; step < 2; step++) {
        struct bench b;
        uint32_t words[WORDS];
        set_up_module(&b, text, 1, 32);
        const struct numbers n = run_order(&b, step ? "gpudet:step=instruction" : "gpudet", 1,
                                           words);
        cr_expect_eq(words[0], 42, "the store behind the call is lost");
        cr_expect_eq(number(&n, "gpudet.quanta"), 2);
        cr_expect_eq(number(&n, "gpudet.end.runtime"), 1);
        cr_expect_eq(number(&n, "gpudet.end.exit"), 1);
        cr_expect_eq(number(&n, "gpudet.log.entries"), 1);
        tear_down(&b);
    }
}

/* A caller that comes to its next call before the quantum begins is a caller of the next one, in its turn. */
Test(gpudet, makes_calls_of_the_runtime_in_order)
{
    static const char text[] =
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
        "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; mov.u32 %r2, 0;\n"
        "again: { .param .b64 n; .param .b64 r; st.param.b64 [n], 16;\n"
        "call.uni (r), malloc, (n); ld.param.b64 %d2, [r]; }\n"
        "cvt.u32.u64 %r3, %d2; st.u32 [%d2], %r3; st.global.u32 [%d1], %r3; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p, %r2, 2; @%p bra again; ret;\n}\n";
    uint32_t first[WORDS], words[WORDS];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bench b;
        set_up_module(&b, text, 1, 64);
        (void)run_order(&b, "gpudet", seed, seed == 1 ? first : words);
        for (size_t i = 0; i < WORDS && seed > 1; i++) cr_assert_eq(words[i], first[i]);
        tear_down(&b);
    }
}

/* CTA i stores to chunk i of 9 and loads from all. Of 9 chunks two share one of 8 bits, whatever the hash. */
Test(gpudet, bloom_filters_let_strangers_pass)
{
    static const char body[] =
        ".reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 128;\n"
        "add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r1; mov.u32 %r2, 0;\n"
        "again: ld.global.u32 %r3, [%d1]; add.u32 %r1, %r1, %r3; add.u64 %d1, %d1, 128; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p, %r2, 9; @%p bra again; st.global.u32 [%d2], %r1; ret;";
    struct bench b;
    uint32_t words[WORDS];
    set_up(&b, body, 9, 32);
    b.at = emu_alloc(b.e, 16 * 128, "chunks");
    struct numbers n = run_order(&b, "gpudet:bloom=8:subarrays=1", 1, words);
    const uint64_t strangers = number(&n, "gpudet.bloom.false");
    cr_expect(strangers >= 2 && strangers % 2 == 0, "%u", (unsigned)strangers);
    cr_expect_eq(number(&n, "gpudet.bloom.queries"), 81);
    cr_expect_eq(number(&n, "gpudet.bloom.hits"), 9 + strangers);
    cr_expect_eq(number(&n, "gpudet.log.walked"), 9 + strangers, "a log has one entry");
    n = run_order(&b, "gpudet:bloom=65536:subarrays=8", 1, words);
    cr_expect_eq(number(&n, "gpudet.bloom.false"), 0);
    cr_expect_eq(number(&n, "gpudet.bloom.hits"), 9);
    tear_down(&b);
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

static unsigned results_of(const char *body, const char *order)
{
    enum { SEEDS = 40 };
    static uint32_t words[SEEDS][WORDS];
    struct bench b;
    unsigned different = 0;
    set_up(&b, body, 48, 96);
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
        cr_expect_eq(results_of(racy, kept[i]), 1, "%s", kept[i]);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        cr_expect(results_of(racy, broken[i]) > 1, "%s", broken[i]);
}

static void hear(void *self, const struct emu_access *a)
{
    *(uint64_t *)self += a->kind == EMU_ATOMIC && a->space == PTX_SPACE_GLOBAL;
}

/* An observer of atomics in the order of their commit hears of each before its warp's next one, and changes nothing. */
static void expect_unchanged(const char *body, uint32_t grid, uint32_t block, const char *order)
{
    uint32_t words[2][WORDS];
    uint64_t heard = 0;
    for (int observed = 0; observed < 2; observed++) {
        const struct emu_observer o = {
            .self = &heard, .ignores_data = true, .in_commit_order = true, .access = hear};
        struct bench b;
        set_up(&b, body, grid, block);
        b.observer = observed ? &o : NULL;
        run_order(&b, order, 1, words[observed]);
        tear_down(&b);
    }
    cr_expect(heard >= grid * ((block + 31) / 32), "each warp's");
    for (size_t k = 0; k < WORDS; k++)
        cr_expect_eq(words[0][k], words[1][k], "%s: word %zu: %u, observed %u", order, k,
                     words[0][k], words[1][k]);
}

Test(gpudet, observers_of_commits_change_nothing)
{
    static const char *const kinds[] = {"gpudet", "gpudet:step=instruction:quantum=5"};
    /* Warps of a CTA draw tickets, and race in shared memory behind that. */
    static const char share[] =
        ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p; .shared .align 4 .b8 s[4];\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 48, %r1;\n"
        "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; mov.u32 %r4, 0;\n"
        "again: atom.global.add.u32 %r5, [%d1], 1; st.shared.u32 [s], %r5; bra next;\n"
        "next: ld.shared.u32 %r6, [s]; st.global.u32 [%d2+16], %r6; add.u32 %r4, %r4, 1;\n"
        "setp.lt.u32 %p, %r4, 2; @%p bra again; ret;";
    /* Every third CTA ends with its first ticket, and more of them wait for slots. */
    static const char end[] =
        ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; and.b32 %r3, %r1, 127; mul.wide.u32 %d2, %r3, 4;\n"
        "add.u64 %d2, %d2, %d1; rem.u32 %r4, %r1, 3;\n"
        "again: atom.global.add.u32 %r5, [%d1], 1; mad.lo.u32 %r5, %r5, 7, %r1; st.global.u32 [%d2+16], %r5;\n"
        "sub.u32 %r4, %r4, 1; setp.gt.s32 %p, %r4, 0; @%p bra again; ret;";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        expect_unchanged(share, 4, 48, kinds[i]);
        expect_unchanged(end, 600, 32, kinds[i]);
    }
}

/* A warp reads the same times, though races decide how long it loops before. */
Test(gpudet, has_clocks_that_the_seed_does_not_move)
{
    static const char clocks[] =
        ".reg .b64 %d<6>; .reg .b32 %r<12>; .reg .pred %p<3>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 96, %r2;\n"
        "and.b32 %r3, %r1, 63; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d2, %d1;\n"
        "ld.volatile.global.u32 %r4, [%d1+256]; st.global.u32 [%d1+256], %r1;\n"
        "atom.global.add.u32 %r5, [%d1+260], 1; add.u32 %r4, %r4, %r5; and.b32 %r4, %r4, 63;\n"
        "more: sub.u32 %r4, %r4, 1; setp.gt.s32 %p1, %r4, 0; @%p1 bra more; bar.sync 0;\n"
        "mov.u32 %r6, %clock; mov.u64 %d3, %clock64; mov.u64 %d4, %globaltimer; mad.lo.u64 %d3, %d3, 3, %d4;\n"
        "cvt.u32.u64 %r7, %d3; mad.lo.u32 %r6, %r6, 5, %r7; atom.global.exch.b32 %r8, [%d2], %r6;\n"
        "st.global.u32 [%d2+512], %r8; ret;";
    static const char *const kept[] = {"gpudet", "gpudet:bta=off:dwp=off:quantum=20",
                                       "gpudet:step=instruction"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        cr_expect_eq(results_of(clocks, kept[i]), 1, "%s", kept[i]);
    cr_expect(results_of(clocks, "gpudet:serial=any") > 1);
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += THINNED) {
        char order[64];
        snprintf(order, sizeof order, "gpudet:%s", rows[i].off);
        cr_expect(workload_is_one(rows[i].workload, "gpudet", 3), "%s", rows[i].workload);
        cr_expect(!workload_is_one(rows[i].workload, order, 20), "%s %s", rows[i].workload, order);
    }
}

Test(gpudet, refuses_options_that_exclude_each_other)
{
    static const struct {
        const char *order, *why;
    } rows[] = {
        {"gpudet:buffer=off:depth=off", "leave out depth"},
        {"gpudet:commit=locks:buffer=off", "leave out commit"},
        {"gpudet:buffer=off:log=64", "leave out log"},
        {"gpudet:buffer=off:bloom=256", "leave out bloom"},
        {"gpudet:fetch=50:buffer=off", "leave out fetch"},
        {"gpudet:bloom=10:subarrays=4", "bloom is divided into subarrays"},
        {"gpudet:distribution=any:dwp=off", "leave out dwp=off"},
        {"gpudet:commit=locks:requests=8", "ways and requests are of Z units"},
        {"gpudet:overlap=4", "overlap and losers are of commit=locks"},
        {"gpudet:zcache=1000", "a multiple of 128 * ways"},
        {"gpudet:", "no option behind 'gpudet:'"},
        {"gpudet:bta=off:", "no option behind 'gpudet:bta=off:'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *why = orders_check(rows[i].order, NULL);
        cr_expect(why && strstr(why, rows[i].why), "%s: %s", rows[i].order, why ? why : "nothing");
        free(why);
    }
    cr_expect_null(orders_check("gpudet:buffer=off:quantum=100:bta=off:serial=any", NULL));
}
