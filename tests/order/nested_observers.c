/* Observers of kernels that wait for the grids that they launch (emu_observer.nested). Expectations are derived by hand: while a
 * CTA waits, the grids that it has launched run, and then it goes on. */
#define _GNU_SOURCE /* mkdtemp */
#include <criterion/criterion.h>

#include "determinism/communication/communication.h"
#include "determinism/locks/locks.h"
#include "determinism/orders.h"
#include "determinism/placement/placement.h"
#include "determinism/record/access_trace.h"
#include "determinism/record/last_writers.h"
#include "determinism/record/writes.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "tests/support/nested_ptx.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 64 };

struct bench {
    struct parsed *p;
    struct emu *emu;
    struct emu_image *image;
    uint64_t at; /* WORDS words, zeros */
};

static struct bench open_bench(const char *text)
{
    struct bench b = {.p = parse_text("nested.ptx", text, strlen(text))};
    char *why = NULL;
    cr_assert(b.p->ok, "%s", first_error(b.p));
    b.emu = emu_new(&(struct emu_config){.max_instructions = 1000000, .sms = 4});
    b.image = emu_load(b.emu, &b.p->module, 1, &why);
    cr_assert(b.image, "%s", why);
    b.at = emu_alloc(b.emu, WORDS * 4, "buffer");
    const uint32_t zeros[WORDS] = {0};
    emu_copy_in(b.emu, b.at, zeros, sizeof zeros);
    return b;
}

static void close_bench(struct bench *b)
{
    emu_unload(b->image);
    emu_free(b->emu);
    parsed_free(b->p);
}

/* Runs kernel(buffer, v) on so many CTAs of one thread. */
static void launch(struct bench *b, const char *kernel, uint32_t ctas, uint32_t v,
                   const char *order, const struct emu_observer *observer)
{
    char *why = NULL;
    struct orders *o = orders_new(order, 1, &why);
    cr_assert(!why, "%s", why);
    const uint64_t params[] = {b->at, v};
    const struct emu_launch l = {.grid = {ctas, 1, 1},
                                 .block = {1, 1, 1},
                                 .params = params,
                                 .params_size = 12,
                                 .order = orders_get(o),
                                 .observers = &observer,
                                 .observer_count = 1};
    const struct emu_report *r = emu_launch(b->emu, emu_kernel_find(b->image, kernel), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    orders_free(o);
}

static const char *const orders[] = {NULL, "random", "gpudet", "dab"};

/* ---- watches ------------------------------------------------------------------------------------ */

/* inner stores v to word 0; middle stores v + 1, waits for inner(v), stores v + 3; outer stores 1, waits for middle(10), and
 * stores 2. */
static const char writers[] = DECLARE START ENTRY("inner") " st.global.u32 [%d1], %r1; ret;\n}\n" ENTRY(
    "middle") " add.u32 %r5, %r1, 1; st.global.u32 [%d1], %r5; mov.u64 %d3, inner;\n" LAUNCH("%d3",
                                                                                             "1",
                                                                                             "1",
                                                                                             "0",
                                                                                             "%d1",
                                                                                             "%r1")
    WAIT " add.u32 %r5, %r1, 3; st.global.u32 [%d1], %r5; ret;\n}\n" ENTRY(
        "outer") " st.global.u32 [%d1], 1; mov.u64 %d3, middle;\n" LAUNCH("%d3", "1", "1", "0",
                                                                          "%d1", "10") WAIT
    " st.global.u32 [%d1], 2; st.global.u32 [%d1+4], 7; ret;\n}\n";

struct seen_writes {
    char text[1000];
    size_t length;
};

static void note(void *self, const struct write *w)
{
    struct seen_writes *t = self;
    uint32_t before, after;
    memcpy(&before, w->before, 4);
    memcpy(&after, w->after, 4);
    t->length += (size_t)snprintf(t->text + t->length, sizeof t->text - t->length,
                                  "%s %u.%u: %u to %u\n", w->where.function, (unsigned)w->launch,
                                  (unsigned)w->element, before, after);
}

Test(nested_observers, a_watch_sees_the_writes_of_both_in_their_order)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct bench b = open_bench(writers);
        struct seen_writes t = {.length = 0};
        struct writes *w = writes_new(note, &t);
        cr_assert(writes_add(w, b.at, 4, WORDS));
        launch(&b, "outer", 1, 0, orders[i], writes_observer(w));
        cr_expect_str_eq(t.text,
                         "outer 1.0: 0 to 1\nmiddle 2.0: 1 to 11\ninner 3.0: 11 to 10\n"
                         "middle 2.0: 10 to 13\nouter 1.0: 13 to 2\nouter 1.1: 0 to 7\n",
                         "%s: %s", orders[i] ? orders[i] : "native", t.text);
        cr_expect_eq(writes_missed(w), 0);
        writes_free(w);
        close_bench(&b);
    }
}

/* Word 0 is outer's at last, word 1 middle's, whose launch is the second one. */
Test(nested_observers, the_last_writer_is_of_the_grid_that_wrote)
{
    static const char text[] = DECLARE START
        ENTRY("middle") " st.global.u32 [%d1], 4; st.global.u32 [%d1+4], 5; ret;\n}\n" ENTRY(
            "outer") " st.global.u32 [%d1+8], 1; mov.u64 %d3, middle;\n" LAUNCH("%d3", "1", "1",
                                                                                "0", "%d1", "10")
            WAIT " st.global.u32 [%d1], 2; ret;\n}\n";
    static const char *const wrote[] = {"outer", "middle", "outer"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct bench b = open_bench(text);
        const uint64_t words[] = {b.at, b.at + 4, b.at + 8};
        struct last_writers *w = last_writers_new(words, 3);
        launch(&b, "outer", 1, 0, orders[i], last_writers_observer(w));
        for (size_t k = 0; k < 3; k++) {
            const struct last_writer *l = last_writers_of_byte(w, words[k]);
            cr_expect(l->function && strcmp(l->function, wrote[k]) == 0, "word %zu: %s", k,
                      l->function);
            cr_expect_eq(l->launch, k == 1 ? 2 : 1, "word %zu: %u", k, l->launch);
        }
        last_writers_free(w);
        close_bench(&b);
    }
}

/* ---- locks -------------------------------------------------------------------------------------- */

#define TRY(word) " atom.global.cas.b32 %r4, [%d1+" word "], 0, 1; st.global.u32 [%d1+32], %r4;\n"
#define GIVE_BACK(word)                                                                            \
    " atom.global.exch.b32 %r4, [%d1+" word "], 0; st.global.u32 [%d1+32], %r4;\n"

/* The parent takes locks 0 and 1. The child fails at lock 0, gives lock 1 back, and takes lock 2 and gives it back. Then the parent
 * gives lock 1 back, which is no release, takes it again, and gives both back. */
static const char lockers[] = DECLARE START ENTRY("child") TRY("0") GIVE_BACK("4") TRY("8")
    GIVE_BACK("8") " ret;\n}\n" ENTRY("parent") TRY("0")
        TRY("4") " mov.u64 %d3, child;\n" LAUNCH("%d3", "1", "1", "0", "%d1", "0") WAIT
    " st.global.u32 [%d1+4], 0;\n" TRY("4") GIVE_BACK("4") GIVE_BACK("0") " ret;\n}\n";

Test(nested_observers, locks_have_rows_of_both_kernels)
{
    static const struct {
        const char *kernel;
        uint64_t offset, attempts, failures, releases;
    } want[] = {{"child", 0, 1, 1, 0},
                {"parent", 4, 2, 0, 1},
                {"parent", 0, 1, 0, 1},
                {"child", 8, 1, 0, 1}};
    struct bench b = open_bench(lockers);
    struct locks *k = locks_new();
    size_t n, found = 0;
    locks_device(k, b.emu);
    launch(&b, "parent", 1, 0, NULL, locks_observer(k));
    const struct lock_row *rows = locks_rows(k, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizeof want / sizeof *want; j++) {
            if (rows[i].offset != want[j].offset || strcmp(rows[i].kernel, want[j].kernel) != 0)
                continue;
            found++;
            cr_expect(rows[i].attempts == want[j].attempts &&
                          rows[i].failures == want[j].failures &&
                          rows[i].releases == want[j].releases,
                      "%s %u: %u attempts, %u failures, %u releases", rows[i].kernel,
                      (unsigned)rows[i].offset, (unsigned)rows[i].attempts,
                      (unsigned)rows[i].failures, (unsigned)rows[i].releases);
        }
    cr_expect_eq(found, 4);
    locks_free(k);
    close_bench(&b);
}

/* The instructions of all grids are those that a launch of them counts: so spin shares are of the whole. */
Test(nested_observers, locks_count_the_instructions_of_all_grids)
{
    struct bench b = open_bench(writers);
    struct locks *all = locks_new(), *inner = locks_new(), *middle = locks_new();
    launch(&b, "outer", 1, 0, NULL, locks_observer(all));
    launch(&b, "middle", 1, 10, NULL, locks_observer(middle));
    launch(&b, "inner", 1, 10, NULL, locks_observer(inner));
    /* outer has one instruction more than middle for its second store, two fewer for its sums. */
    const uint64_t i = locks_thread_instructions(inner), m = locks_thread_instructions(middle) - i;
    cr_expect_eq(locks_thread_instructions(all), i + m + (m - 1), "%u: %u, %u",
                 (unsigned)locks_thread_instructions(all), (unsigned)i, (unsigned)m);
    locks_free(all);
    locks_free(inner);
    locks_free(middle);
    close_bench(&b);
}

/* ---- data distribution -------------------------------------------------------------------------- */

/* 4 CTAs of the parent touch a sector each of the buffer's 8, the one of their own number; each child, a grid of one CTA, the one
 * behind it: block distribution to 4 partitions of 2 sectors. Round robin: CTA c is at home in partition c, children in 0. So of the
 * parent CTA 0's sector 0 (partition 0) is local, sectors 1, 2, 3 (0, 1, 1) of CTAs 1, 2, 3 are not; of the children, sectors 1,
 * 2, 3, 4 of partitions 0, 1, 1, 2, one is local. A launch writes its parameters twice, to a buffer in partition 0. */
Test(nested_observers, sectors_of_both_are_local_or_remote)
{
    static const char text[] = DECLARE START
        ENTRY("child") " mul.wide.u32 %d3, %r1, 32; add.u64 %d3, %d3, %d1; st.global.u32 [%d3], 1; ret;\n}\n" ENTRY(
            "parent") " mul.wide.u32 %d3, %r3, 32; add.u64 %d4, %d3, %d1; add.u32 %r5, %r3, 1; mov.u64 %d3, child;\n" LAUNCH("%d3",
                                                                                                                             "1",
                                                                                                                             "1",
                                                                                                                             "0",
                                                                                                                             "%d1",
                                                                                                                             "%r5")
            WAIT " st.global.u32 [%d4], 1; ret;\n}\n";
    struct bench b = open_bench(text);
    struct placement_options o = {.partitions = 4};
    cr_assert(!placement_read_map("block", &o));
    struct placement *p = placement_new(&o);
    placement_device(p, b.emu);
    launch(&b, "parent", 4, 0, NULL, placement_observer(p));
    cr_expect_eq(placement_counts(p)->local, 2 + 2, "%u", (unsigned)placement_counts(p)->local);
    cr_expect_eq(placement_counts(p)->remote, 6 + 6, "%u", (unsigned)placement_counts(p)->remote);
    placement_free(p);
    close_bench(&b);
}

/* ---- communication ------------------------------------------------------------------------------ */

/* CTA c of the child reads word c and writes word 4 + c; CTA 1 also adds to word 20. */
#define CHILD                                                                                      \
    ENTRY("child")                                                                                 \
    " mul.wide.u32 %d3, %r3, 4; add.u64 %d3, %d3, %d1; ld.global.u32 %r4, [%d3];\n"                \
    " st.global.u32 [%d3+16], %r4; setp.eq.u32 %p1, %r3, 1; @%p1 red.global.add.u32 [%d1+80], 1; ret;\n}\n"
#define STEP                                                                                       \
    " st.global.u32 [%d1], 1; st.global.u32 [%d1+4], 2; red.global.add.u32 [%d1+80], 1;\n"         \
    " ld.global.u32 %r4, [%d1+40]; mov.u64 %d3, child;\n" LAUNCH("%d3", "2", "1", "0", "%d1", "0") \
        WAIT                                                                                       \
        " ld.global.u32 %r4, [%d1+16]; ld.global.u32 %r4, [%d1+20]; ld.global.u32 %r4, [%d1+40];\n"

/* Twice. Of what the parent (superstep 0) reads, words 10 and 20 are from the host at first; words 4 and 5 of both children (1, 2)
 * count, of CTA 0 as what stays; and word 20 as CTA 1 of the first child left it. A child reads words 0, 1 and 20 of the
 * parent. */
Test(nested_observers, communication_goes_both_ways)
{
    static const struct communication_edge want[] = {
        {1, 0, 0, 0, 4, 0}, {1, 1, 0, 0, 8, 2}, {2, 0, 0, 0, 4, 0}, {2, 1, 0, 0, 4, 1},
        {0, 0, 1, 0, 4, 0}, {0, 0, 1, 1, 8, 2}, {0, 0, 2, 0, 4, 0}, {0, 0, 2, 1, 8, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct bench b = open_bench(DECLARE START CHILD ENTRY("parent") STEP STEP " ret;\n}\n");
        struct communication *c = communication_new(COMMUNICATION_CTA);
        emu_observe_memory(b.emu, communication_memory_observer(c));
        emu_copy_in(b.emu, b.at, (const uint32_t[WORDS]){0}, 4 * WORDS);
        launch(&b, "parent", 1, 0, orders[i], communication_observer(c));
        const struct communication_result *r = communication_result(c);
        cr_assert_eq(r->launch_count, 3);
        for (size_t k = 0; k < 3; k++) {
            const struct communication_launch *l = &r->launches[k];
            cr_expect(l->from_host == (k ? 0 : 8) && l->stays == (k ? 4 : 8) &&
                          l->communicated == (k ? 8 : 12) && l->inside == 0 && l->initial == 0 &&
                          l->read == l->from_host + l->stays + l->communicated,
                      "%s, %zu: %u from host, %u stays, %u others, %u inside",
                      orders[i] ? orders[i] : "native", k, (unsigned)l->from_host,
                      (unsigned)l->stays, (unsigned)l->communicated, (unsigned)l->inside);
        }
        cr_assert_eq(r->edge_count, 8);
        for (size_t k = 0; k < 8; k++)
            cr_expect(memcmp(&r->edges[k], &want[k], sizeof *want) == 0,
                      "%zu: %u.%u to %u.%u: %u bytes, %u transfers", k, r->edges[k].from_launch,
                      r->edges[k].from, r->edges[k].to_launch, r->edges[k].to,
                      (unsigned)r->edges[k].bytes, (unsigned)r->edges[k].transfers);
        /* Left by the parent: words 0 and 1 of its last step, and parameters; by the second child: words 4, 5 and 20. The first child's were read,
         * and its sum was overwritten by a kernel that runs on. */
        cr_expect(r->launches[0].written == 8 + 12 && r->launches[2].written == 12, "%u, %u",
                  (unsigned)r->launches[0].written, (unsigned)r->launches[2].written);
        cr_expect(r->launches[0].never_read == 12 && r->launches[2].never_read == 4, "%u, %u",
                  (unsigned)r->launches[0].never_read, (unsigned)r->launches[2].never_read);
        emu_observe_memory(b.emu, NULL);
        communication_free(c);
        close_bench(&b);
    }
}

/* A tree of 63 grids of one thread: what one has written its parent reads. */
Test(nested_observers, communication_is_conserved_in_a_tree)
{
    static const char text[] = DECLARE START ENTRY(
        "tree") " mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d3, %d1; mov.u32 %r4, 1; st.global.u32 [%d3], %r4;\n"
                " setp.ge.u32 %p1, %r1, 32; @%p1 ret; shl.b32 %r5, %r1, 1; add.u32 %r6, %r5, 1; mov.u64 %d4, tree;\n" LAUNCH(
                    "%d4", "1", "1", "0", "%d1", "%r5") LAUNCH("%d4", "1", "1", "0", "%d1", "%r6")
                    WAIT
        " mul.wide.u32 %d5, %r5, 4; add.u64 %d5, %d5, %d1; ld.global.u32 %r4, [%d5]; ld.global.u32 %r8, [%d5+4];\n"
        " add.u32 %r4, %r4, %r8; st.global.u32 [%d3], %r4; ret;\n}\n";
    static const enum communication_unit units[] = {COMMUNICATION_KERNEL, COMMUNICATION_CTA,
                                                    COMMUNICATION_WARP, COMMUNICATION_THREAD};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct bench b = open_bench(text);
        struct communication *c = communication_new(units[i]);
        uint64_t bytes = 0, in_edges = 0;
        launch(&b, "tree", 1, 1, NULL, communication_observer(c));
        const struct communication_result *r = communication_result(c);
        cr_assert_eq(r->launch_count, 63);
        for (size_t k = 0; k < 63; k++) {
            const struct communication_launch *l = &r->launches[k];
            cr_expect_eq(l->read, l->communicated + l->stays + l->from_host + l->initial);
            bytes += l->communicated + l->stays;
        }
        cr_expect_eq(bytes, 62 * 4); /* each node but the root is read by its parent */
        for (size_t k = 0; k < r->edge_count; k++) in_edges += r->edges[k].bytes;
        cr_expect_eq(in_edges, units[i] == COMMUNICATION_KERNEL ? 62 * 4 : 0); /* else all stays */
        communication_free(c);
        close_bench(&b);
    }
}

/* Random kernels k0, k1, k2 of loads and stores whose words depend on the CTA, and of launches of the next one that are waited for,
 * against a simulation that keeps the writer of each word and what each CTA has read. */
enum { LEVELS = 3, OPS = 8, LAUNCHES = 64, CTAS = 3 };

struct op {
    enum { LOAD, STORE, RUN } what;
    uint32_t a, b; /* word (a + b * CTA) modulo 32; RUN: so many CTAs */
};

struct frame {             /* a launch that runs, or stands still */
    uint32_t launch, seen; /* seen: words that its CTA has read */
    struct frame *outer;
};

struct simulation {
    struct op ops[LEVELS][OPS];
    uint32_t count[LEVELS], launches;
    struct {
        uint32_t launch, node; /* launch + 1; 0: the host */
    } writer[32];
    struct communication_launch sums[LAUNCHES];
    uint32_t edges[LAUNCHES][CTAS][LAUNCHES][CTAS]; /* bytes */
};

static void simulate(struct simulation *s, uint32_t level, uint32_t ctas, struct frame *outer)
{
    struct frame f = {s->launches++, 0, outer};
    struct communication_launch *sum = &s->sums[f.launch];
    for (uint32_t c = 0; c < ctas; c++) {
        f.seen = 0;
        for (uint32_t i = 0; i < s->count[level]; i++) {
            const struct op *op = &s->ops[level][i];
            const uint32_t w = (op->a + op->b * c) % 32, bit = 1u << w;
            const uint32_t from = s->writer[w].launch, node = s->writer[w].node;
            switch (op->what) {
            case LOAD:
                if (f.seen & bit) break;
                f.seen |= bit;
                if (from == f.launch + 1) sum->inside += node != c ? 4 : 0;
                else if (!from) sum->from_host += 4;
                else if (node == c) sum->stays += 4;
                else {
                    sum->communicated += 4;
                    s->edges[from - 1][node][f.launch][c] += 4;
                }
                break;
            case STORE:
                s->writer[w].launch = f.launch + 1;
                s->writer[w].node = c;
                for (struct frame *o = outer; o; o = o->outer) o->seen &= ~bit;
                break;
            case RUN: simulate(s, level + 1, op->a, &f);
            }
        }
    }
}

static void make_kernels(struct simulation *s, uint64_t *seed, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", DECLARE START);
    for (uint32_t level = LEVELS; level--;) {
        n += (size_t)snprintf(
            text + n, size - n,
            ".visible .entry k%u(.param .u64 out, .param .u32 v)\n{\n"
            " .reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .b32 %%e; ld.param.u64 %%d1, [out]; mov.u32 %%r3, %%ctaid.x;\n",
            level);
        s->count[level] = OPS;
        for (uint32_t i = 0, runs = 0; i < OPS; i++) {
            struct op *op = &s->ops[level][i];
            *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            const uint32_t x = (uint32_t)(*seed >> 33);
            op->what = x % 5 < 2 ? LOAD : x % 5 < 4 ? STORE : RUN;
            if (op->what == RUN && (level == LEVELS - 1 || runs++ > 1)) op->what = LOAD;
            op->a = op->what == RUN ? 1 + x / 5 % CTAS : x / 5 % 6;
            op->b = x / 64 % 3;
            if (op->what == RUN) {
                static const char *const ctas[] = {
                    "",
                    LAUNCH("%d4", "1", "1", "0", "%d1", "0") WAIT,
                    LAUNCH("%d4", "2", "1", "0", "%d1", "0") WAIT,
                    LAUNCH("%d4", "3", "1", "0", "%d1", "0") WAIT,
                };
                n += (size_t)snprintf(text + n, size - n, " mov.u64 %%d4, k%u;\n%s", level + 1,
                                      ctas[op->a]);
                continue;
            }
            n += (size_t)snprintf(
                text + n, size - n,
                " mul.lo.u32 %%r5, %%r3, %u; add.u32 %%r5, %%r5, %u; and.b32 %%r5, %%r5, 31;"
                " mul.wide.u32 %%d3, %%r5, 4; add.u64 %%d3, %%d3, %%d1; %s\n",
                op->b, op->a,
                op->what == LOAD ? "ld.volatile.global.u32 %r6, [%d3];"
                                 : "st.volatile.global.u32 [%d3], %r3;");
        }
        n += (size_t)snprintf(text + n, size - n, " ret;\n}\n");
    }
    cr_assert_lt(n, size);
}

Test(nested_observers, communication_is_that_of_a_simulation)
{
    static struct simulation s;
    static char text[1 << 16];
    uint64_t seed = 1, communicated = 0, nested = 0;
    for (int run = 0; run < 200 / THINNED; run++) {
        s = (struct simulation){0};
        make_kernels(&s, &seed, text, sizeof text);
        const uint32_t ctas = 1 + (uint32_t)run % 2;
        simulate(&s, 0, ctas, NULL);
        struct bench b = open_bench(text);
        struct communication *c = communication_new(COMMUNICATION_CTA);
        emu_observe_memory(b.emu, communication_memory_observer(c));
        emu_copy_in(b.emu, b.at, (const uint32_t[WORDS]){0}, 4 * WORDS);
        launch(&b, "k0", ctas, 0, NULL, communication_observer(c));
        const struct communication_result *r = communication_result(c);
        cr_assert_eq(r->launch_count, s.launches);
        for (uint32_t i = 0; i < s.launches; i++) {
            const struct communication_launch *is = &r->launches[i], *want = &s.sums[i];
            cr_assert(
                is->communicated == want->communicated && is->stays == want->stays &&
                    is->from_host == want->from_host && is->inside == want->inside,
                "run %d, launch %u: others %u, not %u; stays %u, not %u; host %u, not %u; inside %u, not %u\n%s",
                run, i, (unsigned)is->communicated, (unsigned)want->communicated,
                (unsigned)is->stays, (unsigned)want->stays, (unsigned)is->from_host,
                (unsigned)want->from_host, (unsigned)is->inside, (unsigned)want->inside, text);
            communicated += is->communicated;
        }
        for (size_t i = 0; i < r->edge_count; i++) {
            const struct communication_edge *e = &r->edges[i];
            if (e->from == e->to) continue;
            uint32_t *left = &s.edges[e->from_launch][e->from][e->to_launch][e->to];
            cr_assert_eq(e->bytes, *left);
            *left = 0;
            nested += e->from_launch > e->to_launch;
        }
        const uint32_t *left = &s.edges[0][0][0][0];
        for (size_t i = 0; i < sizeof s.edges / sizeof *left; i++) cr_assert_eq(left[i], 0);
        emu_observe_memory(b.emu, NULL);
        communication_free(c);
        close_bench(&b);
    }
    cr_expect(communicated > 5000 / THINNED && nested > 100 / THINNED, "%u bytes, %u edges back",
              (unsigned)communicated, (unsigned)nested);
}

/* ---- traces ------------------------------------------------------------------------------------- */

/* A kernel's name stands in front of each part: 5 of them in the tree of watches. */
Test(nested_observers, traces_of_accesses_have_parts)
{
    static const char *const names[] = {"outer", "middle", "inner", "middle", "outer"};
    static const unsigned records[] = {3, 3, 1, 1, 2}; /* 2 to the parameters of a launch */
    char path[] = "/tmp/heddle-nested-XXXXXX";
    const int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    struct bench b = open_bench(writers);
    struct access_trace *t = access_trace_new(path, ACCESS_TRACE_THESIS, &access_trace_all);
    launch(&b, "outer", 1, 0, NULL, access_trace_observer(t));
    cr_assert_null(access_trace_end(t));
    size_t size, at = 2;
    char *bytes = read_file(path, &size);
    for (size_t i = 0; i < 5; i++) { /* name, line end, records of 24 bytes, one of zeros */
        const size_t n = strlen(names[i]);
        cr_assert(at + n + 1 <= size && memcmp(bytes + at, names[i], n) == 0 &&
                      bytes[at + n] == '\n',
                  "%zu", i);
        at += n + 1 + 24 * (records[i] + 1);
    }
    cr_expect_eq(at, size, "%zu of %zu", at, size);
    free(bytes);
    unlink(path);
    close_bench(&b);
}

/* A file of whole launches, one after the other, cannot have them: the fault says so. */
Test(nested_observers, traces_of_whole_launches_are_refused_with_the_reason)
{
    static const enum access_trace_format formats[] = {ACCESS_TRACE_EVENTS, ACCESS_TRACE_ACCELSIM};
    static const char *const reasons[] = {"it holds one launch after the other", "for Accel-Sim"};
    for (size_t i = 0; i < 2; i++) {
        char path[] = "/tmp/heddle-nested-XXXXXX";
        cr_assert(mkdtemp(path));
        char name[64];
        snprintf(name, sizeof name, "%s/t", path);
        struct bench b = open_bench(writers);
        struct access_trace *t = access_trace_new(name, formats[i], &access_trace_all);
        const struct emu_observer *observer = access_trace_observer(t);
        const struct {
            uint64_t at;
            uint32_t v;
        } params = {b.at, 0};
        const struct emu_launch l = {.grid = {1, 1, 1},
                                     .block = {1, 1, 1},
                                     .params = &params,
                                     .params_size = 12,
                                     .observers = &observer,
                                     .observer_count = 1};
        const struct emu_report *r = emu_launch(b.emu, emu_kernel_find(b.image, "outer"), &l);
        cr_expect(r->fault.kind == EMU_UNSUPPORTED && strstr(r->fault.text, reasons[i]), "%s",
                  r->fault.text);
        (void)access_trace_end(t);
        close_bench(&b);
        char command[128];
        snprintf(command, sizeof command, "rm -r %s", path);
        cr_expect_eq(system(command), 0);
    }
}
