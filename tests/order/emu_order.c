/* The seam of memory orders: who is asked, what is held, who sleeps (emu/order.h). */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "emu/atomic.h"
#include "emu/emu.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 256, MOST = 64 };

/* An order that is a script: each test sets what it needs. */
struct script {
    struct emu_machine *m;
    struct emu_shape shape;
    uint64_t base; /* of the buffer */
    /* stores and reductions of global memory that are held */
    bool hold_stores, hold_reds, sleep_at_atomics;
    struct {
        uint64_t address;
        uint32_t data;
        uint8_t op, type;
        bool red;
    } held[MOST];
    unsigned held_count, asleep_count, idles, exits, starts;
    struct emu_warp asleep[MOST];
    bool awake; /* atomics may go on */
    uint32_t last_slot_first;
    unsigned turn;
    unsigned line;                       /* of the last atomic */
    const struct emu_observer *observer; /* NULL: none */
};

static void begin(void *self, struct emu_machine *m)
{
    struct script *s = self;
    s->m = m;
    s->shape = emu_machine_shape(m);
}

static int pick_in_turn(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    /* the warp that has issued the least; of several the last by number */
    (void)self;
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (ready[i].serial < ready[best].serial ||
            (ready[i].serial == ready[best].serial && ready[i].warp > ready[best].warp))
            best = i;
    *burst = 1;
    return (int)best;
}

static int place_last(void *self, uint32_t cta, const uint32_t *slots, size_t count)
{
    struct script *s = self;
    if (cta == 0) s->last_slot_first = slots[count - 1];
    return (int)count - 1;
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct script *s = self;
    if (a->space != PTX_SPACE_GLOBAL) return EMU_PROCEED;
    if (a->kind == EMU_ATOMIC) s->line = emu_machine_location(s->m, a->pc).line;
    if (a->kind == EMU_ATOMIC && s->sleep_at_atomics && !s->awake) {
        s->asleep[s->asleep_count++] = *a->who;
        return EMU_SLEEP;
    }
    const bool hold = (a->kind == EMU_STORE && s->hold_stores) ||
                      (a->kind == EMU_RED && s->hold_reds);
    if (!hold) return EMU_PROCEED;
    for (unsigned l = 0; l < 32; l++)
        if (a->lanes >> l & 1) {
            cr_assert(a->width == 4 && a->count == 1 && s->held_count < MOST);
            s->held[s->held_count].address = a->address[l];
            s->held[s->held_count].op = a->op;
            s->held[s->held_count].type = a->type;
            s->held[s->held_count].red = a->kind == EMU_RED;
            memcpy(&s->held[s->held_count++].data, a->data + a->stride * l, 4);
        }
    return EMU_DONE;
}

static enum emu_verdict sync(void *self, const struct emu_sync *y)
{
    struct script *s = self;
    s->starts += y->kind == EMU_SYNC_CTA_START;
    s->exits += y->kind == EMU_SYNC_CTA_EXIT;
    return EMU_PROCEED;
}

/* Releases what is held, the last first, then wakes who sleeps. */
static bool idle(void *self)
{
    struct script *s = self;
    s->idles++;
    const bool any = s->held_count || s->asleep_count;
    while (s->held_count) {
        s->held_count--;
        uint32_t old, now, *data = &s->held[s->held_count].data;
        const uint64_t at = s->held[s->held_count].address;
        emu_machine_load(s->m, at, &old, 4);
        if (s->held[s->held_count].red)
            emu_machine_reduce(s->m, (struct emu_issuer){0}, at, s->held[s->held_count].op,
                               s->held[s->held_count].type, data, &now);
        else emu_machine_store(s->m, (struct emu_issuer){0}, at, data, 4);
        if (s->held[s->held_count].red) cr_expect_eq(old, now);
    }
    s->awake = true;
    while (s->asleep_count) emu_machine_wake(s->m, &s->asleep[--s->asleep_count]);
    return any;
}

/* Launches kernel k(buffer) and returns the fault; the buffer is `words`. */
static enum emu_fault_kind launch(const char *body, struct script *s, const struct emu_order *order,
                                  uint32_t grid, uint32_t block, uint32_t cluster, uint32_t *words)
{
    struct arena *arena = arena_new();
    const char *text = emu_ptx(".param .u64 p", body);
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.max_instructions = 1000000, .sms = 4});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    s->base = emu_alloc(e, WORDS * 4, "buffer");
    emu_copy_in(e, s->base, words, WORDS * 4);
    struct emu_launch l = {.grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .cluster = {cluster, cluster ? 1 : 0, cluster ? 1 : 0},
                           .params = &s->base,
                           .params_size = 8,
                           .order = order,
                           .observers = &s->observer,
                           .observer_count = s->observer != NULL};
    const enum emu_fault_kind kind = emu_launch(e, emu_kernel_at(im, 0), &l)->fault.kind;
    emu_copy_out(e, words, s->base, WORDS * 4);
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
    return kind;
}

/* An order that cannot follow lanes that go their own ways is refused before anything is allocated for the launch. */
Test(emu_order, a_refused_launch_allocates_nothing)
{
    struct arena *arena = arena_new();
    const char *text = emu_ptx("", "");
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.divergence = EMU_ITS});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    const struct emu_order order = {.name = "stacks", .stack_only = true};
    const struct emu_launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .cooperative = true, .order = &order};
    const size_t before = emu_allocation_count(e);
    cr_expect_eq(emu_launch(e, emu_kernel_at(im, 0), &l)->fault.kind, EMU_BAD_LAUNCH);
    cr_expect_eq(emu_allocation_count(e), before);
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
}

#define ORDER(s, ...)                                                                              \
    {                                                                                              \
        .self = (s), .wants = EMU_WANT_LOADS | EMU_WANT_STORES, .begin = begin, .access = access,  \
        .sync = sync, .idle = idle, __VA_ARGS__                                                    \
    }

/* Four warps draw tickets, each four; picked in turn, instruction by instruction, the last warp first. */
static const char tickets[] =
    ".reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5;\n"
    "setp.ne.u32 %p1, %r2, 0; @%p1 bra end; mov.u32 %r4, 0;\n"
    "again: atom.global.add.u32 %r5, [%d1], 1; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d2, %d1;\n"
    "st.global.u32 [%d2+4], %r3; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4; @%p2 bra again;\n"
    "end: ret;";

Test(emu_order, picks_every_instruction)
{
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    const struct emu_order order = ORDER(&s, .pick = pick_in_turn);
    cr_assert_eq(launch(tickets, &s, &order, 1, 128, 0, words), EMU_OK);
    cr_expect_eq(words[0], 16);
    for (unsigned i = 0; i < 16; i++) cr_expect_eq(words[1 + i], 3 - i % 4, "ticket %u", i);
    cr_expect_eq(s.line, 9, "line %u", s.line);
    cr_expect(s.starts == 1 && s.exits == 1);
}

/* Without pick, each goes on for long: a warp has its four tickets one after the other. */
Test(emu_order, need_not_pick)
{
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    const struct emu_order order = ORDER(&s);
    cr_assert_eq(launch(tickets, &s, &order, 1, 128, 0, words), EMU_OK);
    for (unsigned i = 0; i < 16; i++) cr_expect_eq(words[1 + i], words[1 + i / 4 * 4], "%u", i);
}

/* Warps that sleep at an atomic go on when they are woken, and only then. */
Test(emu_order, puts_warps_to_sleep)
{
    uint32_t words[WORDS] = {0};
    struct script s = {.sleep_at_atomics = true};
    const struct emu_order order = ORDER(&s);
    cr_assert_eq(launch(tickets, &s, &order, 1, 128, 0, words), EMU_OK);
    cr_expect_eq(s.idles, 2, "%u: all slept, and once at the end", s.idles);
    cr_expect_eq(words[0], 16);
}

Test(emu_order, that_wakes_nobody_is_a_deadlock)
{
    uint32_t words[WORDS] = {0};
    struct script s = {.sleep_at_atomics = true};
    struct emu_order order = ORDER(&s);
    order.idle = NULL;
    cr_expect_eq(launch(tickets, &s, &order, 1, 128, 0, words), EMU_DEADLOCK);
    cr_expect_eq(words[0], 0);
}

/* Each CTA stores its number to word 0 and adds one to word 1, and reads both back: what is held is not seen,
 * and the order says which store comes last. */
Test(emu_order, holds_stores_and_reductions)
{
    static const char body[] =
        ".reg .b64 %d<4>; .reg .b32 %r<9>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; add.u32 %r2, %r1, 100;\n"
        "st.global.u32 [%d1], %r2; red.global.add.u32 [%d1+4], 1;\n"
        "ld.volatile.global.u32 %r3, [%d1]; ld.volatile.global.u32 %r4, [%d1+4];\n"
        "mul.wide.u32 %d2, %r1, 8; add.u64 %d2, %d2, %d1; add.u32 %r3, %r3, %r4;\n"
        "atom.global.exch.b32 %r5, [%d2+8], %r3; ret;";
    uint32_t words[WORDS] = {0};
    struct script s = {.hold_stores = true, .hold_reds = true};
    const struct emu_order order = ORDER(&s);
    cr_assert_eq(launch(body, &s, &order, 8, 1, 0, words), EMU_OK);
    cr_expect_eq(words[0], 100, "%u: the last to arrive is the first CTA's", words[0]);
    cr_expect_eq(words[1], 8);
    for (unsigned i = 0; i < 8; i++) cr_expect_eq(words[2 + 2 * i], 0, "CTA %u", i);
}

/* Observers hear of each CTA's begin and end, also where there is no order. */
static void count_ctas(void *self, const struct emu_sync *y)
{
    (void)sync(self, y);
}
Test(emu_order, tells_observers_of_ctas)
{
    static const char body[] = "bar.sync 0; ret;";
    struct script s = {0};
    const struct emu_observer observer = {.self = &s, .sync = count_ctas};
    const struct emu_order order = {.self = NULL};
    s.observer = &observer;
    uint32_t words[WORDS] = {0};
    for (uint32_t cluster = 0; cluster <= 2; cluster += 2)
        for (int ordered = 0; ordered < 2; ordered++) {
            s.starts = s.exits = 0;
            cr_assert_eq(launch(body, &s, ordered ? &order : NULL, 6, 64, cluster, words), EMU_OK);
            cr_expect(s.starts == 6 && s.exits == 6, "%u, %u", s.starts, s.exits);
        }
}

/* CTAs come to the slots that the order says, as many at a time as there are. */
Test(emu_order, places_ctas)
{
    static const char body[] =
        ".reg .b64 %d<4>; .reg .b32 %r<9>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %smid; add.u32 %r2, %r2, 1;\n"
        "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r2; ret;";
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    const struct emu_order order = ORDER(&s, .place = place_last);
    cr_assert_eq(launch(body, &s, &order, WORDS, 1024, 0, words), EMU_OK);
    cr_expect_eq(s.shape.sms, 4);
    cr_expect_eq(s.shape.slots, 8, "%u: two CTAs of 1024 threads an SM", s.shape.slots);
    cr_expect_eq(s.shape.warps_per_cta, 32);
    cr_expect_eq(s.last_slot_first, 7);
    for (unsigned i = 0; i < 8; i++)
        cr_expect_eq(words[i], 4 - i % 4, "CTA %u on SM %u", i, words[i]);
    for (unsigned i = 0; i < WORDS; i++) cr_expect(words[i] >= 1 && words[i] <= 4);
    cr_expect(s.starts == WORDS && s.exits == WORDS);
}

/* The free slots are reported as they are, ascending, whichever are taken and left. */
enum { SLOTS = 128 };
struct taken {
    struct script script;
    bool is[SLOTS];
    uint32_t by[SLOTS], random, places;
};
static int place_anywhere(void *self, uint32_t cta, const uint32_t *slots, size_t count)
{
    struct taken *t = self;
    size_t n = 0;
    for (uint32_t s = 0; s < SLOTS; s++) {
        if (t->is[s]) continue;
        cr_assert(n < count && slots[n] == s, "place %zu of %zu is slot %u", n, count, s);
        n++;
    }
    cr_assert_eq(n, count);
    t->random = t->random * 1664525 + 1013904223;
    if (count < SLOTS && t->random >> 28 > 2) return -1; /* later: so that more are free */
    const size_t at = t->places++ / 200 % 2 ? (t->random >> 16) % 3 % count
                                            : (t->random >> 16) % count;
    t->is[slots[at]] = true;
    t->by[slots[at]] = cta;
    return (int)at;
}
static int pick_anyone(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct taken *t = self;
    (void)ready;
    *burst = 1000;
    t->random = t->random * 1664525 + 1013904223;
    return (int)((t->random >> 16) % count);
}
static enum emu_verdict leave_slot(void *self, const struct emu_sync *y)
{
    struct taken *t = self;
    if (y->kind != EMU_SYNC_CTA_EXIT) return EMU_PROCEED;
    cr_assert(t->is[y->who->slot] && t->by[y->who->slot] == y->who->cta);
    t->is[y->who->slot] = false;
    return EMU_PROCEED;
}
Test(emu_order, tells_of_the_slots_that_are_free)
{
    uint32_t words[WORDS] = {0};
    struct taken t = {0};
    struct emu_order order = ORDER(&t.script, .pick = pick_anyone, .place = place_anywhere);
    order.sync = leave_slot;
    cr_assert_eq(launch("ret;", &t.script, &order, 1500, 32, 0, words), EMU_OK);
    cr_expect_eq(t.script.shape.slots, SLOTS, "%u slots", t.script.shape.slots);
    cr_expect_eq(t.places, 1500);
}

/* Barriers of CTAs and clusters, and shared memory of the neighbour. */
Test(emu_order, lets_clusters_meet)
{
    static const char body[] =
        ".reg .b64 %d<4>; .reg .b32 %r<9>; .shared .u32 x;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x;\n"
        "mov.u32 %r3, %tid.x; st.shared.u32 [x], %r2; bar.sync 0;\n"
        "barrier.cluster.arrive; barrier.cluster.wait;\n"
        "xor.b32 %r4, %r1, 1; mov.u32 %r5, x; mapa.shared::cluster.u32 %r6, %r5, %r4;\n"
        "ld.shared::cluster.u32 %r7, [%r6]; barrier.cluster.arrive; barrier.cluster.wait;\n"
        "mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r7; ret;";
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    const struct emu_order order = ORDER(&s, .pick = pick_in_turn, .place = place_last);
    cr_assert_eq(launch(body, &s, &order, 64, 96, 2, words), EMU_OK);
    for (unsigned i = 0; i < 64; i++) cr_expect_eq(words[i], i ^ 1, "CTA %u: %u", i, words[i]);
}

/* An order that picks nobody is asked what to do about that. */
static int pick_after_idle(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct script *s = self;
    (void)ready;
    *burst = 1;
    if (s->turn == s->idles) return -1;
    s->turn = s->idles;
    return (int)count - 1;
}
static bool idle_always(void *self)
{
    struct script *s = self;
    return ++s->idles < 1000;
}
Test(emu_order, may_pick_nobody)
{
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    struct emu_order order = ORDER(&s, .pick = pick_after_idle);
    order.idle = idle_always;
    cr_expect_eq(launch(tickets, &s, &order, 1, 128, 0, words), EMU_OK);
    cr_expect_eq(words[0], 16);
    s = (struct script){.idles = 2000, .turn = 2000};
    order.idle = NULL;
    cr_expect_eq(launch(tickets, &s, &order, 1, 128, 0, words), EMU_DEADLOCK);
}

/* A warp that spins is ended by the limit, whatever burst it is given. */
static int pick_for_ever(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    (void)self, (void)ready, (void)count;
    *burst = UINT32_MAX;
    return 0;
}
Test(emu_order, cannot_spin_beyond_the_limit)
{
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    const struct emu_order order = ORDER(&s, .pick = pick_for_ever);
    cr_expect_eq(launch("again: bra again;", &s, &order, 2, 64, 0, words), EMU_LIMIT);
}

/* ---- what an order hears of ------------------------------------------------------------------------- */

struct heard {
    struct emu_machine *m;
    unsigned kinds[4], shared, sum, answered;
    bool answer;
};
static void listen(void *self, struct emu_machine *m)
{
    ((struct heard *)self)->m = m;
}
static enum emu_verdict hear(void *self, const struct emu_access *a)
{
    struct heard *h = self;
    h->kinds[a->kind]++;
    h->shared += a->space == PTX_SPACE_SHARED;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t v = 0;
        if (!(a->lanes >> l & 1) || a->kind == EMU_LOAD) continue;
        memcpy(&v, a->data + a->stride * l, a->width < 4 ? a->width : 4);
        h->sum += v;
    }
    if (a->kind != EMU_LOAD || !h->answer) return EMU_PROCEED;
    emu_machine_fetch(h->m, a);
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; a->lanes >> l & 1 && k < a->count; k++)
            a->result[a->stride * l + k * a->width]++; /* what memory holds, and one */
    h->answered++;
    return EMU_DONE;
}

/* Twice, so that the second time the memory is known; odd lanes do nothing the third time. */
static const char accesses[] =
    ".reg .b64 %d<5>; .reg .b32 %r<12>; .reg .b16 %h<3>; .reg .pred %p<3>; .shared .u32 x[64];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; mov.u32 %r2, 0;\n"
    "add.u64 %d2, %d2, %d1; and.b32 %r7, %r1, 1; setp.eq.u32 %p2, %r7, 0; mov.u32 %r8, 0;\n"
    "mov.u32 %r9, x; mad.lo.u32 %r9, %r1, 4, %r9;\n"
    "again: ld.global.u32 %r3, [%d2]; ld.global.v2.u16 {%h1, %h2}, [%d2+4];\n"
    "st.shared.u32 [%r9], %r3; st.volatile.shared.u32 [%r9], %r3; ld.shared.u32 %r6, [%r9];\n"
    "ld.volatile.global.u32 %r4, [%d2+8]; red.global.add.u32 [%d2+8], 1;\n"
    "atom.shared.add.u32 %r5, [%r9], 1; cvt.u32.u16 %r10, %h1; cvt.u32.u16 %r11, %h2;\n"
    "add.u32 %r3, %r3, %r10; add.u32 %r3, %r3, %r11; add.u32 %r3, %r3, %r4; bar.warp.sync -1;\n"
    "st.global.u8 [%d2+12], %r3; st.global.v2.u16 [%d2], {%h2, %h1};\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2; @%p1 bra again;\n"
    "@%p2 ld.global.u32 %r3, [%d2]; @%p2 st.global.u32 [%d2], %r3; ret;";

static void hear_with(struct heard *h, unsigned wants, uint32_t *words)
{
    struct script s = {0};
    const struct emu_order order = {.self = h, .wants = wants, .begin = listen, .access = hear};
    for (unsigned i = 0; i < WORDS; i++) words[i] = i % 4 == 3 ? 0 : i;
    cr_assert_eq(launch(accesses, &s, &order, 1, 32, 0, words), EMU_OK);
}

Test(emu_order, hears_of_what_it_wants)
{
    uint32_t words[WORDS], same[WORDS];
    struct heard none = {0}, loads = {0}, stores = {0};
    hear_with(&none, 0, same);
    cr_expect_eq(none.kinds[EMU_LOAD], 2, "%u volatile ones", none.kinds[EMU_LOAD]);
    cr_expect_eq(none.kinds[EMU_STORE], 2, "%u volatile ones", none.kinds[EMU_STORE]);
    cr_expect(none.kinds[EMU_RED] + none.kinds[EMU_ATOMIC] == 4 && none.shared == 4, "%u",
              none.shared);
    hear_with(&loads, EMU_WANT_LOADS, words);
    cr_expect_arr_eq(words, same, sizeof words);
    cr_expect(loads.kinds[EMU_LOAD] == 7 && loads.kinds[EMU_STORE] == 2, "%u", loads.kinds[0]);
    hear_with(&stores, EMU_WANT_STORES, words);
    cr_expect_arr_eq(words, same, sizeof words);
    cr_expect(stores.kinds[EMU_LOAD] == 2 && stores.kinds[EMU_STORE] == 7, "%u", stores.kinds[1]);
    cr_expect(stores.shared == 4 && loads.shared == 4);
}

/* The data of stores lie as reported, whatever the element; answers come where they belong. */
Test(emu_order, has_data_and_answers)
{
    uint32_t words[WORDS];
    struct heard h = {.answer = true};
    hear_with(&h, EMU_WANT_LOADS | EMU_WANT_STORES, words);
    cr_expect_eq(h.answered, 7);
    unsigned sum = 0, bad = 0;
    for (unsigned t = 0; t < 32; t++) {
        uint32_t word = 4 * t, pair = 4 * t + 1, at8 = 4 * t + 2, last = 0;
        uint16_t x = 0, y = 0;
        for (int n = 0; n < 2; n++) {
            const uint32_t v = (word & 0xffffff00) | ((word + 1) & 0xff);
            x = (uint16_t)((pair & 0xff00) | ((pair + 1) & 0xff));
            y = (uint16_t)((pair >> 16 & 0xff00) | (((pair >> 16) + 1) & 0xff));
            const uint32_t w = (at8 & 0xffffff00) | ((at8 + 1) & 0xff);
            at8++;
            last = (v + x + y + w) & 0xff;
            word = (uint32_t)y | (uint32_t)x << 16;
            sum += v + 1 + 1 + last + y; /* shared: stored, added; global: added, bytes, pair */
        }
        if (t % 2 == 0) {
            word = (word & 0xffffff00) | ((word + 1) & 0xff);
            sum += word;
        }
        bad += words[4 * t] != word || words[4 * t + 1] != pair || words[4 * t + 2] != at8 ||
               words[4 * t + 3] != last;
    }
    cr_expect_eq(bad, 0, "%u threads", bad);
    cr_expect_eq(h.sum, sum, "%u, not %u", h.sum, sum);
}

/* ---- what bursts are counted in --------------------------------------------------------------------- */

struct steps {
    unsigned picks, events;
    uint32_t last;
    bool twice; /* a warp had two events in one burst */
};
static int pick_one(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct steps *s = self;
    (void)ready;
    s->picks++;
    s->events = 0;
    *burst = 1;
    return (int)(s->picks % count);
}
static enum emu_verdict count_events(void *self, const struct emu_access *a)
{
    struct steps *s = self;
    (void)a;
    s->twice |= ++s->events > 1;
    return EMU_PROCEED;
}
static enum emu_verdict count_sync(void *self, const struct emu_sync *y)
{
    struct steps *s = self;
    if (y->kind == EMU_SYNC_FENCE) s->twice |= ++s->events > 1;
    return EMU_PROCEED;
}

/* Lost updates: each of two warps loads, adds, stores, eight times. */
static unsigned steps_of(uint8_t step, unsigned wants, bool *twice, uint32_t *sum)
{
    static const char body[] =
        ".reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r2, 0;\n"
        "again: ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 1; st.global.u32 [%d1], %r3;\n"
        "membar.gl; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 8; @%p1 bra again; ret;";
    uint32_t words[WORDS] = {0};
    struct script s = {0};
    struct steps steps = {0};
    const struct emu_order order = {.self = &steps,
                                    .wants = wants,
                                    .step = step,
                                    .pick = pick_one,
                                    .access = count_events,
                                    .sync = count_sync};
    cr_assert_eq(launch(body, &s, &order, 1, 64, 0, words), EMU_OK);
    *twice = steps.twice;
    *sum = words[0];
    return steps.picks;
}

Test(emu_order, counts_bursts_in_steps)
{
    const unsigned both = EMU_WANT_LOADS | EMU_WANT_STORES;
    bool twice;
    uint32_t sum;
    unsigned picks = steps_of(EMU_STEP_INSTRUCTION, both, &twice, &sum);
    cr_expect(picks > 2 * 8 * 7 && !twice, "%u", picks);
    picks = steps_of(EMU_STEP_BLOCK, both, &twice, &sum);
    cr_expect(picks > 2 * 8 && picks < 2 * 8 * 2 && twice, "%u", picks);
    cr_expect_eq(sum, 16, "%u: nothing comes between what a block does", sum);
    picks = steps_of(EMU_STEP_EVENT, both, &twice, &sum);
    cr_expect(picks >= 2 * 8 * 3 && picks < 2 * 8 * 4 && !twice, "%u", picks);
    cr_expect(sum < 16, "%u: both load before either stores", sum);
    picks = steps_of(EMU_STEP_EVENT, 0, &twice, &sum);
    cr_expect(picks >= 2 * 8 && picks < 2 * 8 * 2 && !twice, "%u", picks);
}

Test(emu_order, cannot_spin_between_steps)
{
    for (uint8_t step = EMU_STEP_BLOCK; step <= EMU_STEP_EVENT; step++) {
        uint32_t words[WORDS] = {0};
        struct steps s = {0};
        struct script script = {0};
        const struct emu_order order = {.self = &s, .step = step, .pick = pick_one};
        cr_expect_eq(launch("again: bra again;", &script, &order, 2, 64, 0, words), EMU_LIMIT);
        cr_expect_gt(s.picks, 1000);
    }
}

/* ---- what an order may hold up beside accesses ------------------------------------------------------ */

struct held_up { /* each warp sleeps once before it arrives at its cluster */
    struct emu_machine *m;
    struct emu_warp asleep[MOST];
    unsigned count, cluster, exits, exits_at_end;
    bool commutes;
    bool slept[4][2];
};

static enum emu_verdict hold_up(void *self, const struct emu_sync *s)
{
    struct held_up *h = self;
    h->exits += s->kind == EMU_SYNC_WARP_EXIT;
    if (s->kind == EMU_SYNC_CTA_EXIT) h->exits_at_end = h->exits;
    if (s->kind != EMU_SYNC_CLUSTER) return EMU_PROCEED;
    bool *slept = &h->slept[s->who->cta][s->who->warp];
    if (*slept) {
        h->cluster++;
        return EMU_PROCEED;
    }
    *slept = true;
    h->asleep[h->count++] = *s->who;
    return EMU_SLEEP;
}
static bool wake_all(void *self)
{
    struct held_up *h = self;
    const bool any = h->count;
    while (h->count) emu_machine_wake(h->m, &h->asleep[--h->count]);
    return any;
}
static void begin_held_up(void *self, struct emu_machine *m)
{
    struct held_up *h = self;
    h->m = m;
    h->commutes = emu_machine_shape(m).shared_commutes;
}

Test(emu_order, holds_up_clusters)
{
    uint32_t words[WORDS] = {0};
    struct held_up h = {0};
    const struct emu_order order = {
        .self = &h, .begin = begin_held_up, .sync = hold_up, .idle = wake_all};
    struct script s = {0};
    static const char body[] = ".reg .b64 %d<4>; .shared .u32 x;\n"
                               "ld.param.u64 %d1, [p]; red.shared.add.u32 [x], 1;\n"
                               "barrier.cluster.arrive; barrier.cluster.wait;\n"
                               "red.global.add.u32 [%d1], 1; ret;";
    cr_assert_eq(launch(body, &s, &order, 4, 64, 2, words), EMU_OK);
    cr_expect_eq(words[0], 256);
    cr_expect_eq(h.cluster, 8, "%u: once each", h.cluster);
    cr_expect(h.exits == 8 && h.exits_at_end == 8, "%u %u", h.exits, h.exits_at_end);
    cr_expect(h.commutes);
}

/* Whether the order of what an order hears of shared memory matters is known from the program. */
Test(emu_order, knows_when_shared_atomics_commute)
{
    static const struct {
        const char *body;
        bool commutes;
    } rows[] = {
        {"red.shared.add.u32 [x], 1; red.shared.add.u32 [x], 2;", true},
        {"atom.shared.add.u32 %r1, [x], 1;", true},
        {"red.shared.add.u32 [x], 1; red.shared.min.u32 [x], 2;", false},
        {"red.shared.add.f32 [x], 0f3f800000;", false},
        {"atom.shared.add.u32 %r1, [x], 1; st.shared.u32 [x], %r1;", false},
        {"red.shared.add.u32 [x], 1; ld.volatile.shared.u32 %r1, [x];", false},
        {"red.add.u32 [%d1], 1; red.shared.max.u32 [x], 1;", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t words[WORDS] = {0};
        struct held_up h = {0};
        const struct emu_order order = {.self = &h, .begin = begin_held_up};
        struct script s = {0};
        char text[512];
        snprintf(text, sizeof text,
                 ".reg .b64 %%d<2>; .shared .u32 x; .reg .b32 %%r<2>;\n"
                 "ld.param.u64 %%d1, [p]; %s ret;",
                 rows[i].body);
        cr_assert_eq(launch(text, &s, &order, 1, 32, 0, words), EMU_OK);
        cr_expect_eq(h.commutes, rows[i].commutes, "%s", rows[i].body);
    }
}

/* ---- launches that go without an order -------------------------------------------------------------------- */

struct meeting { /* an order that hears of meetings alone */
    uint64_t base;
    unsigned begun;
    uint32_t words[WORDS]; /* when it began */
};

static unsigned want_meetings(void *self, const struct emu_launch_traits *next)
{
    (void)self;
    cr_expect(!next->counted && !next->observed);
    return EMU_SKIP_IF_CONFLICT_FREE;
}
static const struct emu_order_fast fast = {.wants = want_meetings};

static void begin_meeting(void *self, struct emu_machine *m)
{
    struct meeting *h = self;
    h->begun++;
    emu_machine_load(m, h->base, h->words, sizeof h->words);
}

/* Of %r1, the thread; %r2, its word; %d2, that word's address. */
#define OWN                                                                                              \
    ".reg .b64 %d<5>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"                                              \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 64, %r1;\n" \
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1;\n"

/* And %r6, the thread in its CTA; %r7, its warp; %r4, the address of its word of shared memory, and %r5, of one of the
 * other warp's. */
#define SHARED                                                                                     \
    ".shared .align 16 .b8 s[256];\n" OWN                                                          \
    "mov.u32 %r6, %tid.x; shr.u32 %r7, %r6, 5; mov.u32 %r4, s; mad.lo.u32 %r4, %r6, 4, %r4;\n"     \
    "xor.b32 %r5, %r4, 128; setp.ne.u32 %p2, %r6, 0;\n"
#define GENERIC "mov.u64 %d4, s; cvta.shared.u64 %d4, %d4; mad.wide.u32 %d3, %r6, 4, %d4;\n"
#define BARRIER "bar.sync 0;\n"
#define LOAD_OTHER "ld.shared.u32 %r3, [%r5];\n"
#define KEEP "st.global.u32 [%d2], %r3; ret;"

Test(emu_order, is_left_out_where_warps_do_not_conflict)
{
    static const struct {
        const char *body;
        bool meets;
    } rows[] = {
        {OWN "ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1; st.global.u32 [%d2], %r3; ret;",
         false},
        {OWN "st.global.u32 [%d2], %r1; ld.global.u32 %r3, [%d2]; st.global.u32 [%d2], %r3; ret;",
         false},
        {OWN "ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 1; st.global.u32 [%d2+512], %r3; ret;",
         false},
        {OWN "ld.global.u32 %r3, [%d1]; st.global.u32 [%d2], %r3; ret;", true},
        {OWN
         "st.global.u32 [%d2], %r1; ld.global.u32 %r3, [%d1]; st.global.u32 [%d2+512], %r3; ret;",
         true},
        {OWN
         "st.global.u32 [%d2], %r1; ld.global.u32 %r3, [%d2+4]; st.global.u32 [%d2+512], %r3; ret;",
         true},
        {OWN "st.global.u32 [%d2], %r1; st.global.u32 [%d1+900], 7; ret;", true},
        {OWN "st.global.u8 [%d1+900], %r1; ret;", true},
        {OWN "and.b64 %d2, %d2, -8; st.global.v2.u32 [%d2+512], {%r1, %r1}; ret;", false},
        {OWN "and.b32 %r3, %r1, 31; setp.ne.u32 %p1, %r3, 31; @%p1 st.global.u32 [%d2+4], %r1;\n"
             "@%p1 ld.global.u32 %r3, [%d2+4]; ret;",
         false},
        {OWN "ld.const.u32 %r3, [%d1]; st.global.u32 [%d2], %r3; ret;", true},
        {OWN "mov.u32 %r3, %clock; st.global.u32 [%d2], %r3; ret;", true},
        {OWN "mov.u32 %r3, %smid; st.global.u32 [%d2], %r3; ret;", true},
        {OWN "bar.sync 0; st.global.u32 [%d2], %r1; ret;", false},
        /* Strong loads of global memory are for what others store: nobody looks whether they do. */
        {OWN "ld.volatile.global.u32 %r3, [%d2]; st.global.u32 [%d2], %r3; ret;", true},
        {OWN "ld.relaxed.gpu.global.u32 %r3, [%d2]; st.global.u32 [%d2], %r3; ret;", true},
        {OWN "ld.volatile.u32 %r3, [%d2]; st.global.u32 [%d2], %r3; ret;", true},
        {OWN "st.volatile.global.u32 [%d2], %r1; ret;", false},
        {SHARED "st.volatile.shared.u32 [%r4], %r1; ld.volatile.shared.u32 %r3, [%r4];" KEEP,
         false},
        /* Reductions: of one kind, of which nobody wants to know in between. */
        {OWN "red.global.add.u32 [%d2], %r1; ret;", false},
        {OWN "red.global.add.u32 [%d1], %r1; red.global.add.s32 [%d1+4], 1; ret;", false},
        {OWN "red.global.max.s32 [%d1], %r1; atom.global.max.s32 %r3, [%d1], 5; ret;", false},
        {OWN "add.u64 %d2, %d1, 512; red.add.u64 [%d2], 3; atom.xor.b32 %r3, [%d1], %r1; ret;",
         false},
        {OWN "red.global.add.u32 [%d1], 1; red.global.max.u32 [%d1], 7; ret;", true},
        {OWN "red.global.max.u32 [%d1], 1; red.global.max.s32 [%d1], 7; ret;", true},
        {OWN "red.global.add.u32 [%d1], 1; red.global.add.u64 [%d1], 7; ret;", true},
        {OWN "red.global.add.f32 [%d1], 0f3f800000; ret;", true},
        {OWN "red.global.inc.u32 [%d1], 100; ret;", true},
        {OWN "atom.global.add.u32 %r3, [%d1], 1; st.global.u32 [%d2+512], %r3; ret;", true},
        {OWN
         "red.global.add.u32 [%d1], 1; ld.global.u32 %r3, [%d1]; st.global.u32 [%d2+512], %r3; ret;",
         true},
        {OWN "ld.global.u32 %r3, [%d1]; red.global.add.u32 [%d1+900], %r3; ret;", false},
        {OWN "st.global.u32 [%d2], 1; red.global.add.u32 [%d2], 1; ret;", true},
        {OWN "red.global.add.u32 [%d2], 1; st.global.u32 [%d2], 1; ret;", true},
        /* Shared memory: between two barriers of all threads a word is of one warp, or is loaded alone. */
        {SHARED "st.shared.u32 [%r4], %r1;" BARRIER LOAD_OTHER KEEP, false},
        {SHARED "st.shared.u32 [%r4], %r1;" LOAD_OTHER KEEP, true},
        {SHARED "st.shared.u32 [%r4], %r1; ld.shared.u32 %r3, [%r4];" KEEP, false},
        {SHARED LOAD_OTHER BARRIER "st.shared.u32 [%r4], %r1;" KEEP, false},
        {SHARED LOAD_OTHER "st.shared.u32 [%r4], %r1;" KEEP, true},
        {SHARED "st.shared.u32 [%r4], %r1;" BARRIER LOAD_OTHER BARRIER
                "st.shared.u32 [%r4], %r3;" BARRIER LOAD_OTHER KEEP,
         false},
        {SHARED "st.shared.u32 [%r4], %r1;" BARRIER LOAD_OTHER
                "st.shared.u32 [%r4], %r3;" BARRIER LOAD_OTHER KEEP,
         true},
        {SHARED "st.shared.u32 [s], 5; mov.u32 %r3, 1;" KEEP, true},
        {SHARED "setp.eq.u32 %p1, %r6, 7; @%p1 st.shared.u32 [s], 5; mov.u32 %r3, 1;" KEEP, false},
        {SHARED
         "and.b32 %r4, %r4, -8; st.shared.v2.u32 [%r4], {%r1, %r1}; " BARRIER LOAD_OTHER KEEP,
         false},
        {SHARED "st.shared.v4.u32 [s+32], {%r1, %r1, %r1, %r1}; mov.u32 %r3, 1;" KEEP, true},
        {SHARED "setp.eq.u32 %p1, %r6, 33; @!%p1 st.shared.u32 [%r4], 1;\n"
                "@%p1 ld.shared.u32 %r3, [%r5];" KEEP,
         true},
        {SHARED "red.shared.add.u32 [s], %r1; red.shared.max.u32 [s+4], %r1;" BARRIER
                "ld.shared.u32 %r3, [s];" KEEP,
         false},
        {SHARED "atom.shared.add.u32 %r3, [%r5], 1;" BARRIER LOAD_OTHER KEEP, false},
        {SHARED "red.shared.add.u32 [s], %r1; ld.shared.u32 %r3, [s];" KEEP, true},
        {SHARED "red.shared.add.u32 [s], %r1; red.shared.max.u32 [s], %r1; mov.u32 %r3, 1;" KEEP,
         true},
        {SHARED "st.shared.u32 [%r4], 0; red.shared.add.u32 [%r5], %r1; mov.u32 %r3, 1;" KEEP,
         true},
        {SHARED "atom.shared.add.u32 %r3, [s], 1;" KEEP, true},
        {SHARED "st.shared::cluster.u32 [%r4], %r1;" LOAD_OTHER KEEP, true},
        {SHARED "red.shared::cluster.add.u32 [%r4], %r1;" LOAD_OTHER KEEP, true},
        /* by generic addresses, to the same words */
        {SHARED GENERIC "st.u32 [%d3], %r1;" BARRIER LOAD_OTHER KEEP, false},
        {SHARED GENERIC "st.u32 [%d3], %r1;" LOAD_OTHER KEEP, true},
        {SHARED GENERIC LOAD_OTHER "st.u32 [%d3], %r1;" KEEP, true},
        {SHARED GENERIC "st.shared.u32 [%r5], %r1; ld.u32 %r3, [%d3];" KEEP, true},
        {SHARED GENERIC "ld.u32 %r3, [%d3]; st.u32 [%d3], %r1;" KEEP, false},
        /* Barriers of others do not count. */
        {SHARED "st.shared.u32 [%r4], %r1; bar.sync 3, 64;" LOAD_OTHER KEEP, false},
        {SHARED "st.shared.u32 [%r4], %r1; bar.sync %r7, 32;" LOAD_OTHER KEEP, true},
        {SHARED "st.shared.u32 [%r4], %r1; bar.sync 3, 32;" LOAD_OTHER KEEP, true},
        {SHARED "st.shared.u32 [%r4], %r1; bar.warp.sync -1;" LOAD_OTHER KEEP, true},
        {SHARED "setp.eq.u32 %p1, %r7, 0; @!%p1 bra one; bar.arrive 2, 64;\n"
                "st.shared.u32 [%r4], %r1; ret; one: bar.sync 2, 64;" LOAD_OTHER KEEP,
         true},
        {SHARED "setp.eq.u32 %p1, %r7, 0; @!%p1 bra one; st.shared.u32 [%r4], %r1; ret;\n"
                "one: bar.sync 0;" LOAD_OTHER KEEP,
         true},
        {SHARED "setp.eq.u32 %p1, %r7, 0; @%p1 ret; st.shared.u32 [%r4], %r1;" BARRIER
                "ld.shared.u32 %r3, [%r4];" KEEP,
         false},
        {SHARED "and.b32 %r3, %r6, 7; setp.eq.u32 %p1, %r3, 5; @%p1 ret; \n"
                "st.shared.u32 [%r4], %r1;" BARRIER LOAD_OTHER KEEP,
         false},
        {SHARED "st.shared.u32 [%r4], %r1; setp.eq.u32 %p1, %r7, 0; @%p1 bar.arrive 2, 64;\n"
                "@!%p1 bar.sync 2, 64;" LOAD_OTHER KEEP,
         true},
        {SHARED "st.shared.u32 [%r4], %r1; bar.red.popc.u32 %r3, 0, %p2;" LOAD_OTHER KEEP, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t words[WORDS], alone[WORDS], before[WORDS];
        struct script s = {0};
        for (unsigned k = 0; k < WORDS; k++) words[k] = alone[k] = before[k] = 77 * k;
        struct meeting h = {0};
        const struct emu_order order = {.self = &h, .fast = &fast, .begin = begin_meeting};
        cr_assert_eq(launch(rows[i].body, &s, NULL, 2, 64, 0, alone), EMU_OK, "row %zu", i);
        h.base = s.base;
        cr_assert_eq(launch(rows[i].body, &s, &order, 2, 64, 0, words), EMU_OK);
        cr_expect_eq(h.begun, rows[i].meets, "row %zu", i);
        if (!rows[i].meets) cr_expect_arr_eq(words, alone, sizeof words, "row %zu", i);
        if (h.begun) cr_expect_arr_eq(h.words, before, sizeof before, "row %zu", i);
    }
}
