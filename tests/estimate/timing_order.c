/* Traces under an order, and GPUDet and DAB in the timing model: against what the orders count, and times by hand. */
#include "model/timing_order.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/trace.h"
#include "tests/support/emu.h"
#include "tests/support/timing.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ordered { /* a launch under an order */
    struct orders *order;
    struct device device;
    const struct emu_counts *counts;
};

static struct ordered launch(const char *order, const char *body, uint32_t sms, uint32_t grid,
                             uint32_t block)
{
    char *why = NULL;
    struct ordered o = {.order = orders_new(order, 1, &why)};
    cr_assert(why == NULL, "%s", why);
    o.device = device_new(
        emu_ptx(".param .u64 p", body),
        (struct emu_config){.sms = sms, .threads = 1, .order = orders_get(o.order)});
    o.counts = counts_of(&o.device, grid, block);
    return o;
}

static void ordered_free(struct ordered *o)
{
    device_free(&o->device);
    orders_free(o->order);
}

static uint64_t counted(const struct ordered *o, const char *name)
{
    for (size_t i = 0; i < o->counts->number_count; i++)
        if (strcmp(o->counts->numbers[i].name, name) == 0) return o->counts->numbers[i].value;
    cr_assert(false, "no number is called %s", name);
    return 0;
}

#define ELEMENT                                                                                    \
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %r<9>; .reg .f32 %f; .reg .pred %q;"                  \
    "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;"         \
    "mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b;"

/* ---- traces ------------------------------------------------------------------------------------------------ */

static void expect_same_words(const struct emu_trace *a, const struct emu_trace *b)
{
    cr_assert(eq(u32, a->cta_count, b->cta_count));
    cr_expect(eq(u64, a->instructions, b->instructions));
    for (uint32_t k = 0; k < a->cta_count; k++)
        for (uint32_t w = 0; w < a->ctas[k]->warp_count; w++) {
            const struct trace_warp *x = &a->ctas[k]->warps[w], *y = &b->ctas[k]->warps[w];
            uint32_t blocks = 0, lines = 0;
            cr_assert(eq(u32, x->count, y->count));
            for (uint32_t i = 0; i < x->count; i++) {
                const uint32_t tag = x->words[i] & 3;
                cr_expect(eq(u32, x->words[i], y->words[i]));
                blocks += tag == TRACE_BLOCK;
                if (tag != TRACE_GLOBAL) continue;
                cr_expect(eq(u32, a->ctas[k]->lines[x->words[i + 1]].line,
                             b->ctas[k]->lines[y->words[i + 1]].line));
                lines++;
                i += 2; /* where notes stand depends on which warp came first */
            }
            cr_expect(blocks > 0 && lines == 2);
        }
}

Test(timing_order, warps_that_do_not_meet_leave_the_same_trace_under_every_order)
{
    const char *body = ELEMENT "ld.global.u32 %r1, [%b]; add.u32 %r1, %r1, 1; bar.sync 0;"
                               "st.global.u32 [%b+4194304], %r1; ret;";
    static const char *const orders[] = {"gpudet", "gpudet:bta=off:dwp=off:quantum=5", "dab",
                                         "dab:scheduler=srr"};
    struct ordered native = launch("native", body, 4, 40, 96);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct ordered o = launch(orders[i], body, 4, 40, 96);
        expect_same_words(native.counts->trace, o.counts->trace);
        ordered_free(&o);
    }
    ordered_free(&native);
}

Test(timing_order, atomics_name_their_elements_under_an_order)
{
    struct ordered o = launch("dab", ELEMENT "red.global.add.u32 [%b], 1; ret;", 1, 1, 32);
    const struct trace_warp *w = &o.counts->trace->ctas[0]->warps[0];
    uint32_t i = 0;
    while (i < w->count && (w->words[i] & 3) != TRACE_GLOBAL) i++;
    cr_assert(i + 3 + 32 <= w->count);
    cr_expect(ne(u32, w->words[i + 2] & TRACE_ELEMENTS, 0));
    for (uint32_t l = 1; l < 32; l++) cr_expect(eq(u32, w->words[i + 3 + l], w->words[i + 3] + l));
    ordered_free(&o);
}

Test(timing_order, a_launch_tells_its_orders_options)
{
    struct ordered o = launch("gpudet:quantum=77:bta=off", "ret;", 1, 1, 32);
    uint64_t quantum = 0, bta = 1, dwp = 0;
    for (size_t i = 0; i < o.counts->option_count; i++) {
        const struct emu_number *n = &o.counts->options[i];
        if (strcmp(n->name, "quantum") == 0) quantum = n->value;
        if (strcmp(n->name, "bta") == 0) bta = n->value;
        if (strcmp(n->name, "dwp") == 0) dwp = n->value;
    }
    cr_expect(quantum == 77 && bta == 0 && dwp == 1);
    ordered_free(&o);
}

Test(timing_order, options_are_those_of_the_launch)
{
    struct ordered o = launch("gpudet:quantum=77:bta=off", "ret;", 1, 1, 32);
    struct timing_order c;
    cr_assert(timing_order_of(o.counts, &c));
    cr_expect(eq(int, c.kind, TIMING_GPUDET));
    cr_expect(eq(u32, c.gpudet.quantum, 77));
    cr_expect(eq(int, c.gpudet.bta, 0));
    cr_expect(eq(int, c.gpudet.dwp, 1));
    ordered_free(&o);
    o = launch("gpudet:buffer=off", "ret;", 1, 1, 32);
    cr_expect(not(timing_order_of(o.counts, &c)));
    ordered_free(&o);
    o = launch("random", "ret;", 1, 1, 32);
    cr_assert(timing_order_of(o.counts, &c));
    cr_expect(eq(int, c.kind, TIMING_NATIVE));
    ordered_free(&o);
}

/* ---- times -------------------------------------------------------------------------------------------------- */

static struct timing_result times_under(const char *order, const char *body, uint32_t grid,
                                        uint32_t block, const struct timing_machine *m,
                                        uint32_t slots, uint64_t *quanta)
{
    struct ordered o = launch(order, body, m->sms, grid, block);
    struct timing_order c;
    struct timing_result t;
    cr_assert(timing_order_of(o.counts, &c));
    c.z_interval = 2;
    timing_run_launch(o.counts->trace, m, &c, NULL, slots, 16384, &t);
    if (quanta) *quanta = counted(&o, "gpudet.quanta");
    ordered_free(&o);
    double sum = 0;
    for (int p = 0; p < TIMING_PARTS; p++) {
        sum += t.part[p];
        cr_expect(ge(dbl, t.part[p], 0.0), "part %d", p);
    }
    cr_expect(sum > t.cycles - 1e-6 * sum && sum < t.cycles + 1e-6 * sum,
              "%s: the parts of %g come to %g", order, t.cycles, sum);
    return t;
}

static struct timing_result times_of(const char *order, const char *body, uint32_t grid,
                                     uint32_t block, const struct timing_machine *m)
{
    return times_under(order, body, grid, block, m, 2, NULL);
}

/* ---- GPUDet -------------------------------------------------------------------------------------------------- */

#define LOOP(n, what)                                                                              \
    "mov.u32 %r1, 0; L: " what " add.u32 %r1, %r1, 1; setp.lt.u32 %q, %r1, " #n "; @%q bra L;"

/* The order has counted them while the launch ran, in its own way. */
Test(timing_gpudet, there_are_as_many_quanta_as_the_order_had)
{
    static const char *const bodies[] = {
        ELEMENT LOOP(100, "mad.lo.u32 %r2, %r2, %r1, %t;") "st.global.u32 [%b], %r2; ret;",
        ELEMENT LOOP(9, "atom.global.add.u32 %r2, [%a], 1; st.global.u32 [%b], %r2;") "ret;",
        ELEMENT LOOP(20, "bar.sync 0; add.u32 %r2, %r2, %r1;") "st.global.u32 [%b], %r2; ret;",
        ELEMENT LOOP(20, "st.global.u32 [%b], %r1; bar.sync 0;") "ret;",
        ELEMENT LOOP(
            5, "st.global.u32 [%b], %r1; membar.gl; ld.volatile.global.u32 %r2, [%b];") "ret;",
        ELEMENT "and.b32 %r1, %c, 7; mul.lo.u32 %r3, %r1, 20; mov.u32 %r1, 0;"
                "L: add.u32 %r1, %r1, 1; setp.le.u32 %q, %r1, %r3; @%q bra L;"
                "red.global.add.u32 [%a], 1; ret;"};
    static const char *const orders[] = {"gpudet", "gpudet:quantum=30", "gpudet:bta=off",
                                         "gpudet:dwp=off", "gpudet:bta=off:dwp=off:quantum=50"};
    struct timing_machine m = machine_new();
    m.sms = 4;
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
            struct ordered l = launch(orders[o], bodies[b], m.sms, 200, 64);
            struct timing_order c;
            struct timing_result t;
            cr_assert(timing_order_of(l.counts, &c));
            timing_run_launch(l.counts->trace, &m, &c, NULL, l.counts->occupancy.ctas, 16384, &t);
            cr_expect(eq(u64, t.quanta, counted(&l, "gpudet.quanta")), "body %zu, %s", b,
                      orders[o]);
            ordered_free(&l);
        }
}

Test(timing_gpudet, what_stores_nothing_and_ends_within_a_quantum_takes_as_long_as_without)
{
    const char *body = ELEMENT "ld.global.u32 %r1, [%b]; add.u32 %r1, %r1, %r1; ret;";
    const struct timing_machine m = machine_new();
    const struct timing_result without = times_of("native", body, 4, 64, &m),
                               with = times_of("gpudet", body, 4, 64, &m);
    cr_expect(eq(dbl, with.part[TIMING_COMMIT] + with.part[TIMING_SERIAL], 0.0));
    cr_expect(lt(dbl, with.cycles - without.cycles, 1.0));
}

/* One entry: read from L1 (2 cycles of the load unit come one behind the other: the first, then its latency of 30),
 * a request of 4 sectors and one more, L2 50 cycles away; the unit's turn; depths from DRAM as the chunk is new: 4
 * sectors of 4 cycles and 200, against 100 cycles of the unit, of 2 each; compared in one of these; 4 sectors are
 * written; 50 cycles back. */
Test(timing_gpudet, a_commit_of_one_entry_takes_what_its_steps_do)
{
    const char *body = ELEMENT "st.global.u32 [%b], %t; ret;";
    const struct timing_machine m = machine_new();
    const struct timing_result t = times_of("gpudet", body, 1, 32, &m);
    cr_expect(eq(dbl, t.part[TIMING_COMMIT], 30 + 50 + (4 * 4 + 200.0) + 2 + 4 + 50));
    cr_expect(eq(u64, t.quanta, 1));
}

Test(timing_gpudet, sms_take_turns_in_serial_mode)
{
    const char *body = ELEMENT "atom.global.add.u32 %r1, [%b], 1; ret;";
    struct timing_machine m = machine_new();
    m.sms = 4;
    /* 4 sectors: 100 to L2 and back, 2 cycles each there, 1 each on the way back, 3 until the last is sent, L1 */
    const double trip = 100 + 4 * 2 + 3 + 30,
                 one = times_of("gpudet", body, 1, 32, &m).part[TIMING_SERIAL],
                 four = times_of("gpudet", body, 4, 32, &m).part[TIMING_SERIAL],
                 warps = times_of("gpudet", body, 4, 256, &m).part[TIMING_SERIAL],
                 alone = times_of("gpudet:serial=warp", body, 4, 256, &m).part[TIMING_SERIAL];
    cr_expect(ge(dbl, one, trip));
    cr_expect(eq(dbl, four, 4 * one));
    cr_expect(eq(dbl, alone, 8 * four));
    cr_expect(lt(dbl, warps, 2 * four + 4 * 8 * 4 * 2));
}

Test(timing_gpudet, loads_of_what_a_warp_has_stored_search_its_log)
{
    const char *other = ELEMENT "st.global.u32 [%b], %t; st.global.u32 [%b+4096], %t;"
                                "ld.global.u32 %r1, [%b+8192]; st.global.u32 [%b], %r1; ret;",
               *own = ELEMENT "st.global.u32 [%b], %t; st.global.u32 [%b+4096], %t;"
                              "ld.global.u32 %r1, [%b]; st.global.u32 [%b], %r1; ret;";
    const struct timing_machine m = machine_new();
    cr_expect(eq(dbl, times_of("gpudet", other, 1, 32, &m).part[TIMING_LOG], 0.0));
    /* behind the two cycles that are left of the stores: two entries, and L1; less the cycle in which it issues */
    cr_expect(eq(dbl, times_of("gpudet", own, 1, 32, &m).part[TIMING_LOG], 2 + 2 + 30 - 1.0));
}

Test(timing_gpudet, locks_of_one_chunk_take_longer_than_z_units_and_larger_caches_do_not)
{
    const char *one = ELEMENT LOOP(8, "st.global.u32 [%a], %r1;") "ret;",
               *many = ELEMENT LOOP(8, "st.global.u32 [%b], %r1; add.u64 %b, %b, 65536;") "ret;";
    struct timing_machine m = machine_new();
    m.sms = 4;
    cr_expect(gt(dbl, times_of("gpudet:commit=locks", one, 64, 128, &m).part[TIMING_COMMIT],
                 5 * times_of("gpudet", one, 64, 128, &m).part[TIMING_COMMIT]));
    cr_expect(le(dbl, times_of("gpudet:zcache=131072", many, 64, 128, &m).part[TIMING_COMMIT],
                 times_of("gpudet", many, 64, 128, &m).part[TIMING_COMMIT]));
}

/* A warp with 8 entries: one after another they take 8 times as long as one; all at a time, the requests behind each other.
 * Stores by many warps to one word take a lock each; skipped, few of them do, and those to other words all. */
Test(timing_gpudet, entries_overlap_under_locks_and_covered_ones_are_skipped)
{
    const char *eight = ELEMENT LOOP(8, "st.global.u32 [%b], %r1; add.u64 %b, %b, 65536;") "ret;",
               *single = ELEMENT "st.global.u32 [%b], %t; ret;",
               *same = ELEMENT "st.global.u32 [%a], %t; ret;";
    struct timing_machine m = machine_new();
    const char *locks = "gpudet:commit=locks", *skip = "gpudet:commit=locks:losers=skip";
    const double one = times_of(locks, single, 1, 32, &m).part[TIMING_COMMIT],
                 each = times_of(locks, eight, 1, 32, &m).part[TIMING_COMMIT],
                 all = times_of("gpudet:commit=locks:overlap=8", eight, 1, 32, &m)
                           .part[TIMING_COMMIT];
    cr_expect(gt(dbl, each, 6 * one)); /* of which the first fetches code */
    cr_expect(le(dbl, all, 2 * one));
    cr_expect(ge(dbl, all, one));
    cr_expect(eq(dbl, times_of(skip, eight, 1, 32, &m).part[TIMING_COMMIT], each));
    m.sms = 4;
    cr_expect(lt(dbl, times_of(skip, same, 64, 128, &m).part[TIMING_COMMIT],
                 times_of(locks, same, 64, 128, &m).part[TIMING_COMMIT] / 3));
    cr_expect(eq(dbl, times_of(skip, single, 64, 128, &m).part[TIMING_COMMIT],
                 times_of(locks, single, 64, 128, &m).part[TIMING_COMMIT]));
}

/* Without atomics a quantum has parallel and commit mode; with some, serial mode, too: the last of these has none. */
Test(timing_gpudet, each_mode_ends_at_a_barrier)
{
    const char *plain = ELEMENT LOOP(100, "add.u32 %r2, %r2, %t;") "ret;",
               *atomics = ELEMENT LOOP(9, "atom.global.add.u32 %r2, [%a], 1;") "ret;";
    const struct timing_machine m = machine_new();
    const struct timing_result none = times_of("gpudet", plain, 1, 32, &m),
                               some = times_of("gpudet:barrier=70", plain, 1, 32, &m),
                               without = times_of("gpudet", atomics, 1, 32, &m),
                               with = times_of("gpudet:barrier=70", atomics, 1, 32, &m);
    cr_expect(eq(u64, some.quanta, 3)); /* 400 instructions and some more */
    /* the cycle behind the branch at which a quantum ends goes by meanwhile */
    cr_expect(eq(dbl, some.cycles - none.cycles, 3 * 2 * 70.0 - 2 * 1));
    cr_expect(eq(u64, with.quanta, 10));
    cr_expect(eq(dbl, with.cycles - without.cycles, (10 * 2 + 9) * 70.0));
    cr_expect(eq(dbl, with.part[TIMING_QUANTUM] - without.part[TIMING_QUANTUM], 10 * 70.0));
    cr_expect(eq(dbl, with.part[TIMING_COMMIT] - without.part[TIMING_COMMIT], 10 * 70.0));
    cr_expect(eq(dbl, with.part[TIMING_SERIAL] - without.part[TIMING_SERIAL], 9 * 70.0));
}

Test(timing_gpudet, the_longest_quantum_is_waited_for)
{
    /* the first CTA's warp goes on for 2000 cycles longer than the other SM's */
    const char *body = ELEMENT "setp.ne.u32 %q, %c, 0; @%q bra E;" LOOP(
        66, "add.u32 %r2, %r2, 1;") "E: red.global.add.u32 [%a], 1; ret;";
    struct timing_machine m = machine_new();
    m.sms = 2;
    const struct timing_result t = times_of("gpudet:quantum=1000", body, 2, 32, &m);
    cr_expect(gt(dbl, t.part[TIMING_QUANTUM], 0.4 * (t.cycles - t.part[TIMING_SERIAL])));
    cr_expect(lt(dbl, t.part[TIMING_QUANTUM], 0.6 * (t.cycles - t.part[TIMING_SERIAL])));
}

/* ---- DAB ------------------------------------------------------------------------------------------------------- */

Test(timing_dab, what_reduces_nothing_takes_as_long_as_without)
{
    const char *body = ELEMENT LOOP(
        20, "ld.global.u32 %r2, [%b]; bar.sync 0;") "st.global.u32 [%b], %r2; ret;";
    const struct timing_machine m = machine_new();
    cr_expect(eq(dbl, times_of("dab", body, 4, 64, &m).cycles,
                 times_of("native", body, 4, 64, &m).cycles));
}

/* Each of the 2 slices gets the announcement, then comes the one transaction: 50 cycles to L2, 2 there, 50 back; and it was in
 * DRAM: 4 and 200. */
Test(timing_dab, a_flush_takes_what_its_steps_do)
{
    const char *body = ELEMENT "red.global.add.u32 [%a], 1; ret;";
    const struct timing_machine m = machine_new();
    const struct timing_result t = times_of("dab", body, 1, 32, &m);
    cr_expect(eq(u64, t.flushes, 1));
    cr_expect(eq(dbl, t.part[TIMING_FLUSH], 2 + 50 + 2 + 4 + 200.0 + 50));
    /* each entry by itself, in one sector: a round for each */
    const struct timing_result separate = times_of("dab:fusion=off", body, 1, 32, &m);
    cr_expect(eq(dbl, separate.part[TIMING_FLUSH] - t.part[TIMING_FLUSH], 31 * 2.0));
    const struct timing_result early = times_of("dab:reorder=off", body, 1, 32, &m);
    cr_expect(eq(dbl, t.part[TIMING_FLUSH] - early.part[TIMING_FLUSH], 2.0));
}

/* SM 0 sends two entries to the first slice, SM 1 four to the second one and then one to the first, which is before SM 0's
 * second there: that one has come 3 cycles too early. The slice writes and reads it; the line that goes takes DRAM's time. */
Test(timing_dab, what_comes_too_early_may_wait_in_l2)
{
    const char *body = ELEMENT "setp.ne.u32 %q, %c, 0; @%q bra B;"
                               "red.global.add.u32 [%a], 1; red.global.add.u32 [%a+32], 1; ret;"
                               "B: red.global.add.u32 [%a+256], 1; red.global.add.u32 [%a+288], 1;"
                               "red.global.add.u32 [%a+320], 1; red.global.add.u32 [%a+352], 1;"
                               "red.global.add.u32 [%a+64], 1; ret;";
    struct timing_machine m = machine_new();
    m.sms = 2;
    for (int k = 0; k < 2; k++) {
        m.dram_interval = 4 * k;
        const double own = times_of("dab", body, 2, 32, &m).part[TIMING_FLUSH],
                     l2 = times_of("dab:queue=l2", body, 2, 32, &m).part[TIMING_FLUSH];
        if (!k) cr_expect(eq(dbl, l2 - own, 2 * 1.0));
        else cr_expect(gt(dbl, l2 - own, 2 * 1.0));
    }
}

/* Of 2,048 warps of 3,000 instructions, and of 5,120 warps. */
Test(timing_dab, atomics_at_the_end_of_long_warps_and_of_large_grids_are_flushed)
{
    const char *body = ELEMENT LOOP(1000,
                                    "add.u32 %r2, %r2, 1;") "red.global.add.u32 [%b], 1; ret;",
               *brief = ELEMENT "red.global.add.u32 [%b], 1; ret;";
    struct timing_machine m = machine_new();
    m.sms = 2, m.schedulers = 4; /* as the device has */
    for (int u = 0; u < TIMING_UNITS; u++) m.units[u] = 4;
    struct ordered l = launch("dab", body, m.sms, 128, 512);
    struct timing_order c;
    struct timing_result t;
    cr_assert(timing_order_of(l.counts, &c));
    timing_run_launch(l.counts->trace, &m, &c, NULL, l.counts->occupancy.ctas, 16384, &t);
    cr_expect(
        eq(u64, t.flushes, counted(&l, "dab.flushes.full") + counted(&l, "dab.flushes.exit")));
    cr_expect(gt(dbl, t.part[TIMING_FLUSH], 0));
    ordered_free(&l);
    l = launch("dab", brief, m.sms, 320, 512);
    cr_expect(eq(u32, l.counts->trace->cta_count, 320));
    ordered_free(&l);
}

Test(timing_dab, there_are_as_many_flushes_as_the_order_had)
{
    const char *body = ELEMENT LOOP(16,
                                    "red.global.add.u32 [%b], 1; add.u64 %b, %b, 65536;") "ret;";
    static const char *const orders[] = {"dab",
                                         "dab:entries=32",
                                         "dab:scheduler=gtar",
                                         "dab:scheduler=srr",
                                         "dab:scheduler=gtrr",
                                         "dab:level=warp",
                                         "dab:fusion=off:coalescing=off"};
    struct timing_machine m = machine_new();
    m.sms = 2, m.schedulers = 4; /* as the device has */
    for (int u = 0; u < TIMING_UNITS; u++) m.units[u] = 4;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct ordered l = launch(orders[i], body, m.sms, 4, 256);
        static const char *const reasons[] = {"full", "atom", "fence", "barrier", "exit"};
        struct timing_order c;
        struct timing_result t;
        uint64_t flushes = 0;
        for (size_t k = 0; k < 5; k++) {
            char name[40];
            snprintf(name, sizeof name, "dab.flushes.%s", reasons[k]);
            flushes += counted(&l, name);
        }
        cr_assert(timing_order_of(l.counts, &c));
        timing_run_launch(l.counts->trace, &m, &c, NULL, l.counts->occupancy.ctas, 16384, &t);
        cr_expect(eq(u64, t.flushes, flushes), "%s", orders[i]);
        cr_expect(gt(u64, flushes, 1));
        ordered_free(&l);
    }
}

/* Figure 7 of the paper: while one warp waits for its load, others are kept from going on. */
Test(timing_dab, rules_leave_less_free_than_none)
{
    const char *body = ELEMENT
        "shr.u32 %r3, %t, 5; and.b32 %r3, %r3, 3; mul.wide.u32 %b, %r3, 1048576; add.u64 %b, %a, %b;"
        "mov.u32 %r4, 0; O: ld.global.u32 %r2, [%b]; add.u32 %r2, %r2, %r2; add.u64 %b, %b, 8192;"
        "red.global.add.u32 [%a], %r2; add.u32 %r4, %r4, 1; setp.lt.u32 %q, %r4, 6; @%q bra O; ret;";
    static const char *const orders[] = {"dab:scheduler=gwat", "dab:scheduler=gtar",
                                         "dab:scheduler=gtrr", "dab:scheduler=srr"};
    const struct timing_machine m = machine_new();
    const double any = times_of("dab:scheduler=any", body, 1, 128, &m).cycles,
                 srr = times_of(orders[3], body, 1, 128, &m).cycles;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const double cycles = times_of(orders[i], body, 1, 128, &m).cycles;
        cr_expect(ge(dbl, cycles, any), "%s", orders[i]);
        cr_expect(le(dbl, cycles, srr), "%s", orders[i]);
    }
    cr_expect(gt(dbl, srr, any + 100));
}

/* The answers of two warps' are read: the second begins when the first has come back. */
Test(timing_dab, atomics_that_answer_come_one_after_another)
{
    const char *body = ELEMENT "atom.global.add.u32 %r1, [%b], 1; st.global.u32 [%b], %r1; ret;",
               *silent = ELEMENT "red.global.add.u32 [%b], 1; ret;";
    const struct timing_machine m = machine_new();
    const double one = times_of("dab", body, 1, 32, &m).part[TIMING_SERIAL],
                 four = times_of("dab", body, 1, 128, &m).part[TIMING_SERIAL];
    cr_expect(gt(dbl, one, 100.0)); /* to L2 and back */
    cr_expect(gt(dbl, four, 3 * one));
    cr_expect(eq(dbl, times_of("dab", silent, 1, 128, &m).part[TIMING_SERIAL], 0.0));
}

/* A buffer that is full waits for that of the other SM, whose warp comes late. */
Test(timing_dab, full_buffers_wait_for_the_others)
{
    const char *body = ELEMENT "setp.eq.u32 %q, %c, 0; @%q bra F;" LOOP(
        200,
        "add.u32 %r2, %r2, 1;") "ret;"
                                "F: red.global.add.u32 [%b], 1; red.global.add.u32 [%b+4096], 1;"
                                "red.global.add.u32 [%b+8192], 1; ret;";
    struct timing_machine m = machine_new();
    m.sms = 2;
    const struct timing_result t = times_of("dab", body, 2, 32, &m),
                               alone = times_of("dab:reorder=off:independent=on", body, 2, 32, &m);
    cr_expect(gt(dbl, t.part[TIMING_FULL], 0.3 * t.cycles));
    cr_expect(lt(dbl, alone.cycles, t.cycles));
    /* both SMs are one cluster, which flushes when one of its buffers is full, whatever the other SM does */
    const struct timing_result separate = times_of("dab:reorder=off:independent=on:overlap=on",
                                                   body, 2, 32, &m);
    cr_expect(eq(dbl, separate.part[TIMING_FULL], 0.0));
    cr_expect(gt(u32, separate.flushes, t.flushes - 1));
}

/* The buffers of 4 SMs have 32 sectors of the first slice, then 32 of the second. A slice takes one transaction a cycle. If
 * all SMs begin with the first slice, its 128 are before those of the second, whose 128 take 2 cycles each: 128 + 256. If
 * two begin with the second, both slices are busy from the start: 256. In the order of a flush a slice waits for the SMs that
 * began with the other one, for 64 cycles. (The first SM is some cycles ahead of the last.) One SM has no others to wait for. */
Test(timing_dab, what_is_for_a_busy_slice_holds_up_what_is_behind_it)
{
    const char *body = ELEMENT
        "mov.u32 %t, %tid.x; shr.u32 %r1, %t, 3; and.b32 %r2, %t, 7; mul.lo.u32 %r1, %r1, 512;"
        "mad.lo.u32 %r1, %r2, 32, %r1; cvt.u64.u32 %b, %r1; add.u64 %b, %a, %b;"
        "red.global.add.u32 [%b], 1; red.global.add.u32 [%b+256], 1; ret;";
    static const char *const orders[][2] = {{"dab:reorder=off", "dab:reorder=off:offset=on"},
                                            {"dab", "dab:offset=on"}};
    static const double gains[] = {128, 128 - 64};
    for (int k = 0; k < 2; k++) {
        struct timing_machine m = machine_new();
        m.dram_interval = 0;
        const double one = times_of(orders[k][0], body, 1, 32, &m).part[TIMING_FLUSH];
        cr_expect(eq(dbl, one, times_of(orders[k][1], body, 1, 32, &m).part[TIMING_FLUSH]));
        m.sms = 4;
        const double same = times_of(orders[k][0], body, 4, 32, &m).part[TIMING_FLUSH],
                     offset = times_of(orders[k][1], body, 4, 32, &m).part[TIMING_FLUSH];
        cr_expect(le(dbl, fabs(same - offset - gains[k]), 8.0), "%g and %g", same, offset);
    }
}
