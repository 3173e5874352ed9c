/* Who wrote what, and when others could see it (determinism/record/writes.h). */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "determinism/record/last_writers.h"
#include "determinism/record/writes.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 64, MOST = 4096 };

struct seen {
    uint64_t element;
    uint32_t before, after, cta, thread, line;
    enum write_kind kind;
    char op[8];
    bool known;
};
struct list {
    struct seen list[MOST];
    size_t count;
};

static void tell(void *self, const struct write *w)
{
    struct list *l = self;
    cr_assert_lt(l->count, MOST);
    struct seen *s = &l->list[l->count++];
    *s = (struct seen){.element = w->element,
                       .cta = w->cta[0],
                       .thread = w->thread[0],
                       .line = w->where.line,
                       .kind = w->kind,
                       .known = w->thread_known};
    memcpy(&s->before, w->before, w->width);
    memcpy(&s->after, w->after, w->width);
    snprintf(s->op, sizeof s->op, "%s", w->op ? w->op : "");
}

/* Who wrote each word last is the last one reported in that launch. */
static void hold_against_last(struct last_writers *last, uint64_t first, const struct list *l)
{
    for (size_t i = l->count, done = 0; i-- && l->list[i].kind != WRITE_BY_HOST;) {
        const struct seen *s = &l->list[i];
        if (done >> s->element & 1) continue;
        done |= (size_t)1 << s->element;
        const struct last_writer *w = last_writers_of_byte(last, first + 4 * s->element);
        cr_expect(w->launch == 2 && w->thread_known && w->cta[0] == s->cta &&
                      w->thread[0] == s->thread && w->line == s->line,
                  "element %u: thread %u of CTA %u, not %u of %u", (unsigned)s->element,
                  w->thread[0], w->cta[0], s->thread, s->cta);
    }
}

/* Launches k(buffer) twice, with the first word set to 5 between the two, and holds what was reported against the
 * words that came of it. `order` NULL: native. Watched are `count` elements of `width` bytes from byte `from` on. */
static void run(const char *body, const char *order, uint64_t seed, uint32_t grid, uint32_t block,
                uint32_t from, uint32_t width, uint32_t count, struct list *l)
{
    struct arena *arena = arena_new();
    const char *text = emu_ptx(".param .u64 p", body);
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    uint64_t digest[2][2];
    for (int watched = 0; watched < 2; watched++) {
        char *why = NULL;
        struct orders *o = orders_new(order, seed, &why);
        cr_assert(!why, "%s", why);
        struct emu *e = emu_new(&(struct emu_config){.max_instructions = 1000000, .sms = 4});
        struct emu_image *im = emu_load(e, &m, 1, &why);
        uint64_t at = emu_alloc(e, WORDS * 4, "buffer");
        struct writes *w = writes_new(tell, l);
        cr_assert(writes_add(w, at + from, width, count));
        uint64_t words[WORDS];
        for (uint32_t i = 0; i < WORDS; i++) words[i] = at + 4 * i;
        struct last_writers *last = last_writers_new(words, WORDS);
        const struct emu_observer *observers[] = {writes_observer(w), last_writers_observer(last)};
        uint32_t five = 5;
        for (int i = 0; i < 2; i++) {
            if (i) emu_copy_in(e, at, &five, 4);
            struct emu_launch launch = {.grid = {grid, 1, 1},
                                        .block = {block, 1, 1},
                                        .params = &at,
                                        .params_size = 8,
                                        .order = orders_get(o),
                                        .observers = observers,
                                        .observer_count = watched ? 2 : 0};
            const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &launch);
            cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
            digest[watched][i] = emu_digest(e);
        }
        cr_expect_eq(writes_missed(w), 0, "%s: memory is as reported", order ? order : "native");
        if (watched && width == 4) hold_against_last(last, at + from, l);
        writes_free(w);
        last_writers_free(last);
        emu_unload(im);
        emu_free(e);
        orders_free(o);
    }
    cr_expect_eq(digest[0][0], digest[1][0], "watching changes nothing");
    cr_expect_eq(digest[0][1], digest[1][1]);
    ptx_module_end(m);
    arena_free(arena);
}

static const char *const orders[] = {NULL, "random:strategy=uniform", "random:strategy=pct",
                                     "random:strategy=bursty"};

/* Each thread stores its number to word 0, and adds one to word 1. */
static const char all[] =
    ".reg .b64 %d<2>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 64, %r2;\n"
    "st.global.u32 [%d1], %r1;\n"
    "red.global.add.u32 [%d1+4], 1;\n"
    "atom.global.max.u32 %r3, [%d1+8], %r1; ret;";

Test(writes, are_reported_with_their_threads)
{
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (uint64_t seed = 0; seed < (orders[o] ? 20 : 1); seed++) {
            static struct list l;
            unsigned by_thread[3][256] = {0};
            uint32_t value[3] = {0};
            l.count = 0;
            run(all, orders[o], seed, 4, 64, 0, 4, 3, &l);
            for (size_t i = 0; i < l.count; i++) {
                const struct seen *s = &l.list[i];
                cr_assert(s->element < 3);
                cr_expect_eq(s->before, value[s->element], "each goes on from the last");
                value[s->element] = s->after;
                if (s->kind == WRITE_BY_HOST) {
                    cr_expect(s->element == 0 && s->after == 5);
                    continue;
                }
                cr_assert(s->known && s->cta < 4 && s->thread < 64);
                by_thread[s->element][s->cta * 64 + s->thread]++;
                static const enum write_kind kinds[] = {WRITE_STORE, WRITE_RED, WRITE_ATOMIC};
                static const char *const ops[] = {"", "add", "max"};
                cr_expect_eq(s->kind, kinds[s->element]);
                cr_expect_str_eq(s->op, ops[s->element]);
                cr_expect_eq(s->line, 8 + s->element, "line %u", s->line);
                if (s->element == 0) cr_expect_eq(s->after, s->cta * 64 + s->thread);
            }
            /* random may put a plain store before a newer one into the coherence order: it never changes memory. */
            for (unsigned t = 0; t < 256; t++) {
                cr_expect(orders[o] ? by_thread[0][t] <= 2 : by_thread[0][t] == 2, "%u", t);
                for (int k = 1; k < 3; k++) cr_expect_eq(by_thread[k][t], 2, "%d %u", k, t);
            }
            cr_expect_eq(value[1], 512);
            cr_expect_eq(value[2], 255);
        }
}

/* In serial mode gpudet carries out a warp's atomics before their warp goes on, and others come before it does so. */
Test(writes, of_serial_mode_have_their_threads)
{
    static const char *const kinds[] = {"gpudet", "gpudet:serial=warp", "gpudet:serial=any"};
    for (size_t o = 0; o < sizeof kinds / sizeof *kinds; o++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            static struct list l;
            unsigned by_thread[3][256] = {0};
            l.count = 0;
            run(all, kinds[o], seed, 4, 64, 0, 4, 3, &l);
            for (size_t i = 0; i < l.count; i++) {
                const struct seen *s = &l.list[i];
                cr_expect(s->kind == WRITE_BY_HOST || s->known);
                if (s->element == 0) continue;
                cr_expect_eq(s->kind, s->element == 1 ? WRITE_RED : WRITE_ATOMIC);
                by_thread[s->element][s->cta * 64 + s->thread]++;
            }
            for (unsigned t = 0; t < 256; t++)
                for (int k = 1; k < 3; k++) cr_expect_eq(by_thread[k][t], 2, "%d %u", k, t);
        }
}

/* A vector store is one write of each element; bytes of an element are shown as the whole element. A compare-and-swap
 * writes only where it succeeds. */
Test(writes, are_of_whole_elements)
{
    static const char body[] = ".reg .b64 %d<2>; .reg .b32 %r<4>;\n"
                               "ld.param.u64 %d1, [p]; st.global.v2.u32 [%d1+8], {1, 2};\n"
                               "st.global.u8 [%d1+17], 3;\n"
                               "atom.global.cas.b32 %r1, [%d1+24], 7, 9;\n"
                               "atom.global.cas.b32 %r1, [%d1+28], 0, 9; ret;";
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        static struct list l;
        l.count = 0;
        run(body, orders[o], 1, 1, 1, 8, 8, 3, &l);
        unsigned first = 0, of[3] = {0};
        for (size_t i = 0; i < l.count; i++) {
            of[l.list[i].element]++;
            first += l.list[i].element == 0 && l.list[i].after == 1;
            if (l.list[i].element == 1) cr_expect_eq(l.list[i].after, 0x300);
        }
        cr_expect(of[0] == 2 && of[1] == 2 && of[2] == 1, "%u %u %u", of[0], of[1], of[2]);
        cr_expect_eq(first, 2);
    }
}

/* A store is reported before another thread can see it: what the atomic behind a flag saw stands before. Late stores are
 * loads of other threads that still see the older value (docs/random.md). */
Test(writes, come_when_they_are_seen)
{
    static const char body[] =
        ".reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r1, 0; @%p bra other;\n"
        "st.global.u32 [%d1+4], 1; st.global.u32 [%d1+8], 1; ret;\n"
        "other: ld.volatile.global.u32 %r2, [%d1+8]; ld.volatile.global.u32 %r3, [%d1+4];\n"
        "shl.b32 %r2, %r2, 1; or.b32 %r2, %r2, %r3; atom.global.exch.b32 %r1, [%d1+12], %r2; ret;";
    for (uint64_t seed = 0; seed < 200; seed++) {
        static struct list l;
        l.count = 0;
        run(body, "random", seed, 2, 1, 0, 4, 4, &l);
        uint32_t value[4] = {0}, ever[4] = {0};
        for (size_t i = 0; i < l.count && l.list[i].kind != WRITE_BY_HOST; i++) {
            const struct seen *s = &l.list[i];
            if (s->element == 3)
                cr_expect(!(s->after & 2) || value[2], "it saw what was not yet reported");
            value[s->element] = s->after;
            ever[s->element]++;
        }
        cr_expect(ever[1] == 1 && ever[2] == 1 && ever[3] == 1);
    }
}

/* Lane l adds l + 1 to word l as f32, then l + 1, l + 2, l + 3 and l + 4 to four words of its own by one instruction. */
static const char floats[] =
    ".reg .b64 %d<4>; .reg .b32 %r<3>; .reg .f32 %f<5>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; cvt.rn.f32.u32 %f1, %r2;\n"
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; mul.wide.u32 %d3, %r1, 16; add.u64 %d3, %d1, %d3;\n"
    "red.global.add.f32 [%d2], %f1;\n"
    "add.f32 %f2, %f1, 0f3F800000; add.f32 %f3, %f2, 0f3F800000; add.f32 %f4, %f3, 0f3F800000;\n"
    "red.global.v4.f32.add [%d3+128], {%f1, %f2, %f3, %f4}; ret;";

Test(writes, of_additions_have_the_size_of_each_lanes_operand)
{
    static const char *const under[] = {NULL, "random", "gpudet", "dab"};
    struct arena *arena = arena_new();
    const char *text = emu_ptx(".param .u64 p", floats);
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    for (size_t k = 0; k < sizeof under / sizeof *under; k++) {
        enum { LANES = 32, ALL = 5 * LANES };
        char *why = NULL;
        struct orders *o = orders_new(under[k], 1, &why);
        struct emu *e = emu_new(&(struct emu_config){.max_instructions = 1000000});
        struct emu_image *im = emu_load(e, &m, 1, &why);
        const uint64_t at = emu_alloc(e, ALL * 4, "buffer");
        uint64_t words[ALL];
        for (uint32_t i = 0; i < ALL; i++) words[i] = at + 4 * i;
        struct last_writers *last = last_writers_new(words, ALL);
        const struct emu_observer *observers[] = {last_writers_observer(last)};
        struct emu_launch launch = {.grid = {1, 1, 1},
                                    .block = {LANES, 1, 1},
                                    .params = &at,
                                    .params_size = 8,
                                    .order = orders_get(o),
                                    .observers = observers,
                                    .observer_count = 1};
        const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &launch);
        cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
        for (uint32_t i = 0; i < ALL; i++) {
            const struct word_writes *w = &last_writers_words(last)[i];
            const uint32_t lane = i < LANES ? i : (i - LANES) / 4, of = i < LANES ? 0 : i % 4;
            cr_expect(w->adds == 1 && !w->others && w->size == 1 + lane + of,
                      "%s: word %u: %u additions of %g", under[k] ? under[k] : "native", i,
                      (unsigned)w->adds, w->size);
        }
        last_writers_free(last);
        emu_unload(im);
        emu_free(e);
        orders_free(o);
    }
    ptx_module_end(m);
    arena_free(arena);
}

Test(writes, refuse_what_is_too_much)
{
    struct writes *w = writes_new(tell, NULL);
    cr_expect_not(writes_add(w, 0x20000000, 4, 0));
    cr_expect_not(writes_add(w, 0x20000000, 0, 4));
    cr_expect_not(writes_add(w, 0x20000000, 17, 1));
    cr_expect_not(writes_add(w, UINT64_MAX - 64, 4, 4));
    cr_expect_not(writes_add(w, 0x20000000, 1, WRITES_MOST_BYTES + UINT64_C(1)));
    cr_expect(writes_add(w, 0x20000000, 1, WRITES_MOST_BYTES));
    cr_expect_not(writes_add(w, 0x20000000, 1, 1));
    writes_free(w);
}
