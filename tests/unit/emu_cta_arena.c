/* Memory that launches leave to those after them: emu/cta_arena.h. */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/cta_arena.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

static size_t first_not_zero(const uint8_t *p, size_t size)
{
    size_t i = 0;
    while (i < size && !p[i]) i++;
    return i;
}

/* Launches take cta_arena of any size and write all of them; what is clean or cleared holds zeros. Each block's bytes are
 * its own. */
Test(emu_cta_arena, are_clean_where_they_say)
{
    enum { LAUNCHES = 12, MOST = 60 };
    struct cta_arena *r = cta_arena_new();
    uint32_t random = 1;
    for (unsigned n = 0; n < LAUNCHES; n++) {
        struct cta_block taken[MOST];
        const unsigned count = 1 + n * 5;
        for (unsigned i = 0; i < count; i++) {
            random = random * 1664525 + 1013904223;
            size_t size = 1 + (random >> 8) % (n % 4 == 3 ? 6 << 20 : 200 << 10);
            if (n == 6 && i == 7)
                size = 80 << 20; /* larger than what addresses are asked for at once */
            const struct cta_block block = taken[i] = cta_arena_take(r, size);
            cr_assert_eq((uintptr_t)block.at % CTA_ARENA_ALIGN, 0);
            cr_assert(block.end >= block.at + size);
            uint8_t *const clean = block.clean > block.at ? block.clean : block.at;
            if (clean < block.end) {
                const size_t rest = (size_t)(block.end - clean);
                cr_assert_eq(first_not_zero(clean, rest), rest, "launch %u, block %u", n, i);
            }
            const size_t from = (random >> 4) % size, part = (size - from) / (1 + random % 2);
            cta_block_clear(&block, block.at + from, part);
            cr_assert_eq(first_not_zero(block.at + from, part), part, "launch %u, block %u", n, i);
            memset(block.at, (int)(1 + i), (size_t)(block.end - block.at));
        }
        for (unsigned i = 0; i < count; i++)
            for (const uint8_t *p = taken[i].at; p < taken[i].end; p += 61)
                cr_assert_eq(*p, 1 + i, "launch %u, block %u", n, i);
        cta_arena_reset(r);
    }
    cta_arena_free(r);
}

/* Two kernels by turns: one fills what it has with ones, the other reads what it never wrote. */
static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.reg .b32 %o) deep(.reg .b32 %i) {\n"
    " .local .b32 a[8]; .reg .b64 %d<9>; .reg .b32 %r<9>;\n"
    " mov.u64 %d1, a; ld.local.u32 %r1, [%d1]; ld.local.u32 %r2, [%d1+28]; or.b32 %r3, %r1, %r2;\n"
    " or.b32 %r3, %r3, %r4; cvt.u32.u64 %r5, %d2; or.b32 %o, %r3, %r5;\n"
    " st.local.u32 [%d1], %i; st.local.u32 [%d1+28], %i; mov.u32 %r4, %i; cvt.s64.s32 %d2, %i; ret; }\n"
    ".visible .entry dirty(.param .u64 p) {\n"
    " .reg .b64 %d<40>; .reg .b32 %r<40>; .reg .b16 %h<40>; .local .b32 a[40]; .shared .b32 s[64];\n"
    " .reg .pred %p; mov.u32 %r1, %tid.x; or.b32 %r1, %r1, -1; mov.u64 %d1, a; mov.u64 %d2, s;\n"
    " mov.u32 %r2, 0;\nmore: cvt.u64.u32 %d3, %r2; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;\n"
    " st.local.u32 [%d4], %r1; st.shared.u32 [%d5], %r1; add.u32 %r2, %r2, 4;\n"
    " setp.lt.u32 %p, %r2, 160; @%p bra more;\n"
    " cvt.s64.s32 %d6, %r1; cvt.u16.u32 %h1, %r1; cvt.s64.s32 %d7, %r1; cvt.u16.u32 %h2, %r1;\n"
    " and.b64 %d8, %d6, %d7; and.b16 %h3, %h1, %h2; cvt.s32.s16 %r3, %h3; cvt.u32.u64 %r4, %d8;\n"
    " and.b32 %r5, %r3, %r4; call (%r6), deep, (%r5); or.b32 %r6, %r6, %r1;\n"
    " ld.param.u64 %d9, [p]; st.global.u32 [%d9+4], %r6; ret; }\n"
    ".visible .entry look(.param .u64 p) {\n"
    " .reg .b64 %d<9>; .reg .b32 %r<20>; .reg .b16 %h<9>; .local .b32 a[60]; .shared .b32 s[32];\n"
    " ld.local.u32 %r1, [a]; ld.local.u32 %r2, [a+100]; ld.local.u32 %r3, [a+236];\n"
    " ld.shared.u32 %r4, [s]; ld.shared.u32 %r5, [s+124]; mov.u32 %r13, 0;\n"
    " call (%r12), deep, (%r13);\n"
    " or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5;\n"
    " or.b32 %r1, %r1, %r6; cvt.u32.u64 %r7, %d5; or.b32 %r1, %r1, %r7; cvt.u32.u16 %r8, %h5;\n"
    " or.b32 %r1, %r1, %r8; or.b32 %r1, %r1, %r12;\n"
    " ld.param.u64 %d1, [p]; red.global.or.b32 [%d1], %r1; ret; }\n";

/* Anyone, for a step: so all CTAs that there is block for begin before most of them end. */
static int pick_anyone(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    uint32_t *random = self;
    (void)ready;
    *burst = 1;
    *random = *random * 1664525 + 1013904223;
    return (int)((*random >> 8) % count);
}

static struct emu_image *load(struct emu *e, struct ptx_module *m)
{
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    return im;
}

/* The n-th launch: larger and larger ones, of the two kernels by turns. */
static void launch(struct emu *e, struct emu_image *im, unsigned n, const struct emu_order *order)
{
    const uint64_t words = emu_alloc(e, 8, "words");
    struct emu_kernel *k = emu_kernel_find(im, n % 2 ? "look" : "dirty");
    const struct emu_launch l = {.grid = {5 + 20 * n, 1, 1},
                                 .block = {70 + 60 * (n / 2), 1, 1},
                                 .params = &words,
                                 .params_size = 8,
                                 .order = order};
    const struct emu_report *report = emu_launch(e, k, &l);
    cr_assert_eq(report->fault.kind, EMU_OK, "%s", report->fault.text);
    uint32_t out[2];
    emu_copy_out(e, out, words, sizeof out);
    cr_expect_eq(out[0], 0, "launch %u: %x", n, out[0]);
    cr_expect_eq(out[1], n % 2 ? 0 : ~0u, "launch %u: %x", n, out[1]);
}

Test(emu_cta_arena, show_nothing_of_the_launch_before)
{
    uint32_t random = 7;
    const struct emu_order order = {.self = &random, .pick = pick_anyone};
    struct arena *arena = arena_new();
    struct source source = {"test.ptx", kernels, (uint32_t)strlen(kernels)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    for (unsigned way = 0; way < 3; way++) { /* natively, with threads, under an order */
        struct emu *e = emu_new(&(struct emu_config){.sms = 4, .threads = way == 1 ? 3 : 1});
        struct emu_image *im = load(e, m);
        for (unsigned n = 0; n < 8; n++) launch(e, im, n, way == 2 ? &order : NULL);
        emu_unload(im);
        emu_free(e);
    }
    struct cta_arena *cta_arena = cta_arena_new();
    for (unsigned n = 0; n < 16; n++) { /* each on a device of its own */
        struct emu *e = emu_new(
            &(struct emu_config){.sms = 4, .threads = 1, .cta_arena = cta_arena});
        struct emu_image *im = load(e, m);
        launch(e, im, n % 8, n < 8 ? &order : NULL);
        emu_unload(im);
        emu_free(e);
    }
    cta_arena_free(cta_arena);
    ptx_module_end(m);
    arena_free(arena);
}

/* Warps that have rows by turns (emu/sched/frames.h) wait at an atomic with what they need behind it. */
enum { NUMBERS = 40 };
static void write_turns(struct buf *b)
{
    buf_puts(b, kernels);
    buf_puts(b, ".visible .entry turns(.param .u64 p) { .reg .b64 %d<44>; .reg .b32 %r<9>;\n"
                " ld.param.u64 %d40, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;\n");
    for (int i = 0; i < NUMBERS; i++) buf_printf(b, " mul.wide.u32 %%d%d, %%r1, %d;\n", i, i + 1);
    buf_puts(b, " atom.global.add.u32 %r3, [%d40], 1; shr.u32 %r3, %r3, 30; mov.u64 %d41, 0;\n");
    for (int i = 0; i < NUMBERS; i++) buf_printf(b, " add.u64 %%d41, %%d41, %%d%d;\n", i);
    buf_printf(b,
               " cvt.u32.u64 %%r4, %%d41; mul.lo.u32 %%r5, %%r1, %d; xor.b32 %%r4, %%r4, %%r5;\n"
               " or.b32 %%r4, %%r4, %%r3; red.global.or.b32 [%%d40+4], %%r4; ret; }\n",
               NUMBERS * (NUMBERS + 1) / 2);
}

Test(emu_cta_arena, show_warps_that_take_turns_nothing_of_it)
{
    enum { CTAS = 160, THREADS = 128 };
    uint32_t random = 7;
    const struct emu_order order = {.self = &random, .step = EMU_STEP_EVENT, .pick = pick_anyone};
    struct arena *arena = arena_new();
    struct buf text = {0};
    write_turns(&text);
    struct source source = {"test.ptx", text.data, (uint32_t)text.size};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.sms = 16, .threads = 1});
    struct emu_image *im = load(e, m);
    for (unsigned n = 0; n < 3; n++) {
        launch(e, im, 2 * n, &order); /* leaves ones */
        const uint64_t words = emu_alloc(e, 8, "words");
        const struct emu_report *report = emu_launch(e, emu_kernel_find(im, "turns"),
                                                     &(struct emu_launch){.grid = {CTAS, 1, 1},
                                                                          .block = {THREADS, 1, 1},
                                                                          .params = &words,
                                                                          .params_size = 8,
                                                                          .order = &order});
        cr_assert_eq(report->fault.kind, EMU_OK, "%s", report->fault.text);
        uint32_t out[2];
        emu_copy_out(e, out, words, sizeof out);
        cr_expect_eq(out[0], CTAS * THREADS);
        cr_expect_eq(out[1], 0, "launch %u: %x", n, out[1]);
    }
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    buf_free(&text);
    arena_free(arena);
}
