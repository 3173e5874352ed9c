/* Loads that `random` carries out late: when others can tell, and what the thread itself must not notice. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "determinism/record/record.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1024 };

struct kernel {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *m;
    struct emu *e;
    struct emu_image *im;
    uint64_t at;
};

static void set_up_sms(struct kernel *k, const char *body, bool its, uint32_t sms)
{
    const char *text = emu_ptx(".param .u64 p", body);
    char *why = NULL;
    *k = (struct kernel){.arena = arena_new(),
                         .source = {"test.ptx", text, (uint32_t)strlen(text)}};
    k->diags = (struct diags){.arena = k->arena, .source = &k->source};
    k->m = ptx_module_parse(k->arena, &k->source, &k->diags);
    cr_assert(ptx_module_check(k->m), "%s", body);
    k->e = emu_new(&(struct emu_config){.sms = sms,
                                        .max_instructions = 1000000,
                                        .divergence = its ? EMU_ITS : EMU_STACK,
                                        .no_speculation = true});
    k->im = emu_load(k->e, &k->m, 1, &why);
    cr_assert(k->im, "%s", why);
    k->at = emu_alloc(k->e, WORDS * 4, "buffer");
}

static void set_up(struct kernel *k, const char *body, bool its)
{
    set_up_sms(k, body, its, 4);
}

static void tear_down(struct kernel *k)
{
    emu_unload(k->im);
    emu_free(k->e);
    ptx_module_end(k->m);
    arena_free(k->arena);
}

/* What is in the buffer after a launch, if word i had i before. */
static void launch_grid(struct kernel *k, const struct emu_order *o, uint32_t grid, uint32_t block,
                        uint32_t words[WORDS])
{
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i;
    emu_copy_in(k->e, k->at, words, WORDS * 4);
    const struct emu_report *r = emu_launch(k->e, emu_kernel_at(k->im, 0),
                                            &(struct emu_launch){.grid = {grid, 1, 1},
                                                                 .block = {block, 1, 1},
                                                                 .params = &k->at,
                                                                 .params_size = 8,
                                                                 .order = o});
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    emu_copy_out(k->e, words, k->at, WORDS * 4);
}

static void launch(struct kernel *k, const struct emu_order *o, uint32_t block,
                   uint32_t words[WORDS])
{
    launch_grid(k, o, 1, block, words);
}

/* ---- what others see ------------------------------------------------------------------------------------- */

/* Load buffering: each thread loads from its place, then stores 1000 to the other's. Both see it. */
#define BUFFERING(BETWEEN, REGISTER, LOAD, STORE)                                                        \
    ".reg .b64 %d<6>; .reg .b32 %r<9>; .reg .b16 %h<4>; .reg .pred %p<2>; .shared .b32 s[64];\n"         \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; shl.b32 %r2, %r1, 7;\n"                               \
    "mov.u32 %r3, %tid.x; shr.u32 %r4, %r3, 5; shl.b32 %r4, %r4, 7; add.u32 %r2, %r2, %r4;\n"            \
    "and.b32 %r3, %r3, 31; setp.ne.u32 %p1, %r3, 0; @%p1 ret; cvt.u64.u32 %d2, %r2;\n"                   \
    "add.u64 %d2, %d2, %d1; xor.b32 %r3, %r2, 128; cvt.u64.u32 %d3, %r3; add.u64 %d3, %d3, %d1;\n"       \
    "mov.u32 %r5, s; add.u32 %r6, %r5, %r3; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], 0;\n"            \
    "st.global.u32 [%d2], 0; bar.sync 0; mov.u64 %d4, 1000; mov.u32 %r7, 1000; mov.u16 %h2, 100;\n" LOAD \
    "\n" BETWEEN "\n" STORE "\n"                                                                         \
    "st.global." REGISTER " [%d2+64], "

static bool is_weak(const uint32_t *words, uint32_t value)
{
    return words[16] == value && words[48] == value;
}

/* Of the first seeds, how many have both threads see the other's store. */
static unsigned both(const char *body, const char *order, uint32_t value, uint32_t launches)
{
    struct kernel k;
    unsigned count = 0;
    set_up(&k, body, false);
    for (uint64_t seed = 1; seed <= launches; seed++) {
        char *why = NULL;
        uint32_t words[WORDS];
        struct orders *o = orders_new(order, seed, &why);
        cr_assert(o, "%s", why);
        launch(&k, orders_get(o), 64, words);
        count += is_weak(words, value);
        orders_free(o);
    }
    tear_down(&k);
    return count;
}

Test(late_loads, show_load_buffering_in_all_forms)
{
    static const struct {
        const char *body;
        uint32_t value;
    } forms[] = {
        {BUFFERING("", "u32", "ld.relaxed.gpu.global.u32 %r8, [%d2];",
                   "st.relaxed.gpu.global.u32 [%d3], %r7;") "%r8; ret;",
         1000},
        {BUFFERING("", "u32", "ld.volatile.global.u32 %r8, [%d2];",
                   "st.volatile.global.u32 [%d3], %r7;") "%r8; ret;",
         1000},
        {BUFFERING("", "u32", "ld.global.u32 %r8, [%d2];", "st.global.u32 [%d3], %r7;") "%r8; ret;",
         1000},
        {BUFFERING("add.u64 %d2, %d2, 4; add.u64 %d2, %d2, -4;", "u32",
                   "ld.relaxed.gpu.u32 %r8, [%d2];", "st.relaxed.gpu.u32 [%d3], %r7;") "%r8; ret;",
         1000},
        {BUFFERING("", "u32", "ld.relaxed.cta.shared.u32 %r8, [%r5];",
                   "st.relaxed.cta.shared.u32 [%r6], %r7;") "%r8; ret;",
         1000},
        {BUFFERING("", "u16", "ld.relaxed.gpu.global.u8 %h1, [%d2];",
                   "st.relaxed.gpu.global.u8 [%d3], %h2;") "%h1; ret;",
         100},
        {BUFFERING("", "u64", "ld.relaxed.gpu.global.u64 %d5, [%d2];",
                   "st.relaxed.gpu.global.u64 [%d3], %d4;") "%d5; ret;",
         1000},
        {BUFFERING("", "v2.u32", "ld.relaxed.gpu.global.v2.u32 {%r8, %r4}, [%d2];",
                   "st.relaxed.gpu.global.v2.u32 [%d3], {%r7, %r7};") "{%r8, %r4}; ret;",
         1000},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        cr_expect_gt(both(forms[i].body, "random", forms[i].value, 1500), 0, "%zu", i);
        cr_expect_eq(both(forms[i].body, "random:late-loads=off", forms[i].value, 300), 0, "%zu",
                     i);
    }
}

/* What orders the load and the store, or makes the store depend on it. */
Test(late_loads, stay_before_what_is_ordered_behind_them)
{
#define STRONG(BETWEEN, STORE)                                                                     \
    BUFFERING(BETWEEN, "u32", "ld.relaxed.gpu.global.u32 %r8, [%d2];", STORE) "%r8; ret;"
    static const char *const bodies[] = {
        STRONG("fence.acq_rel.gpu;", "st.relaxed.gpu.global.u32 [%d3], %r7;"),
        STRONG("membar.gl;", "st.relaxed.gpu.global.u32 [%d3], %r7;"),
        STRONG("", "st.release.gpu.global.u32 [%d3], %r7;"),
        STRONG("mov.u32 %r7, %r8; and.b32 %r7, %r7, 0; add.u32 %r7, %r7, 1000;",
               "st.relaxed.gpu.global.u32 [%d3], %r7;"),
        STRONG("setp.eq.u32 %p1, %r8, 77; @%p1 bra other;",
               "st.relaxed.gpu.global.u32 [%d3], %r7; other:"),
        STRONG("bar.warp.sync 1;", "st.relaxed.gpu.global.u32 [%d3], %r7;"),
        BUFFERING("", "u32", "ld.acquire.gpu.global.u32 %r8, [%d2];",
                  "st.relaxed.gpu.global.u32 [%d3], %r7;") "%r8; ret;",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        cr_expect_eq(both(bodies[i], "random", 1000, 1000 / THINNED), 0, "%zu", i);
}

/* ---- what the thread itself must not notice ---------------------------------------------------------------- */

/* %d2: the lane's place in the buffer, words 0 to 31 of it; %d3: where its results go, from word 256 on; %r5: the lane's
 * place in shared memory, which has its number. */
#define ALONE(BODY)                                                                                \
    ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b16 %h<4>; .reg .pred %p<2>; .shared .b32 s[64];\n"   \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; cvt.u64.u32 %d2, %r2;\n"     \
    "add.u64 %d2, %d2, %d1; add.u64 %d3, %d2, 1024; mov.u32 %r5, s; add.u32 %r5, %r5, %r2;\n"      \
    "st.shared.u32 [%r5], %r1; st.shared.u32 [%r5+128], %r1; mov.u32 %r7, 7; mov.u16 %h1, 7;\n"    \
    "bar.sync 0;\n" BODY " ret;"
static const char *const alone[] = {
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2], %r7; st.global.u32 [%d3], %r8;"),
    ALONE("ld.relaxed.gpu.global.u32 %r8, [%d2]; st.relaxed.gpu.global.u32 [%d2], %r7;\n"
          "st.global.u32 [%d3], %r8;"),
    /* a byte of it; a neighbour's word */
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u8 [%d2+3], %h1; st.global.u32 [%d3], %r8;"),
    ALONE("ld.global.u32 %r8, [%d2+4]; st.global.u32 [%d2], %r7; st.global.u32 [%d3], %r8;"),
    ALONE("ld.shared.u32 %r8, [%r5+4]; st.shared.u32 [%r5], %r7; st.global.u32 [%d3], %r8;"),
    /* the address is overwritten; another address, then the same */
    ALONE("ld.global.u32 %r8, [%d2]; mov.u64 %d4, %d2; add.u64 %d2, %d2, 512;\n"
          "st.global.u32 [%d2], %r7; st.global.u32 [%d4], %r7; st.global.u32 [%d3], %r8;"),
    /* one of shared memory by a generic address, and the other way round */
    ALONE(
        "cvta.shared.u64 %d4, s; cvt.u64.u32 %d5, %r2; add.u64 %d4, %d4, %d5; ld.u32 %r8, [%d4];\n"
        "st.global.u32 [%d3+512], %r7; st.shared.u32 [%r5], %r7; st.global.u32 [%d3], %r8;"),
    ALONE("cvta.shared.u64 %d4, s; cvt.u64.u32 %d5, %r2; add.u64 %d4, %d4, %d5;\n"
          "ld.shared.u32 %r8, [%r5]; st.u32 [%d4], %r7; st.global.u32 [%d3], %r8;"),
    /* several at one time; one that nothing reads; one that is overwritten without having been read */
    ALONE("ld.global.u32 %r8, [%d2]; ld.global.u32 %r3, [%d2+128]; ld.global.u32 %r4, [%d2+256];\n"
          "st.global.u32 [%d2+128], %r7; st.global.u32 [%d2], %r7; st.global.u32 [%d2+256], %r7;\n"
          "add.u32 %r8, %r8, %r3; add.u32 %r8, %r8, %r4; st.global.u32 [%d3], %r8;"),
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; mul.lo.u32 %r3, %r1, 3;\n"
          "st.global.u32 [%d2+640], %r7; st.global.u32 [%d3], %r3;"),
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; mov.u32 %r8, 3;\n"
          "st.global.u32 [%d2], %r7; st.global.u32 [%d3], %r8;"),
    /* one that nothing reads, and whose register's row others may have before it is carried out */
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; mul.lo.u32 %r3, %r1, 3;\n"
          "add.u32 %r4, %r1, 5; xor.b32 %r6, %r1, 9; membar.gl; add.u32 %r3, %r3, %r4;\n"
          "mad.lo.u32 %r3, %r3, 7, %r6; st.global.u32 [%d3], %r3;"),
    /* another name of the result; a vector; a load behind it of the same place; a guard */
    ALONE("ld.global.u32 %r8, [%d2]; mov.u32 %r6, %r8; st.global.u32 [%d2], %r7;\n"
          "st.global.u32 [%d3], %r6;"),
    ALONE("and.b64 %d4, %d2, -16; ld.global.v4.u32 {%r3, %r4, %r6, %r8}, [%d4];\n"
          "st.global.u32 [%d4+4], %r7; add.u32 %r3, %r3, %r4; st.global.u32 [%d3], %r3;"),
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; ld.global.u32 %r3, [%d2];\n"
          "st.global.u32 [%d2], %r7; add.u32 %r3, %r3, %r8; st.global.u32 [%d3], %r3;"),
    ALONE("setp.gt.u32 %p1, %r1, 7; ld.global.u32 %r8, [%d2+4]; @%p1 st.global.u32 [%d2], %r7;\n"
          "st.global.u32 [%d3], %r8;"),
    /* lanes part behind it, and an atomic comes */
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; setp.gt.u32 %p1, %r1, 7;\n"
          "@%p1 bra other; st.global.u32 [%d2], %r7; other: st.global.u32 [%d3], %r8;"),
    ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; red.global.add.u32 [%d2], 5;\n"
          "st.global.u32 [%d3], %r8;"),
};

Test(late_loads, are_not_seen_by_the_thread_itself)
{
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        for (int its = 0; its < 2; its++) {
            struct kernel k;
            uint32_t native[WORDS], words[WORDS];
            char *why = NULL;
            set_up(&k, alone[i], its);
            launch(&k, NULL, 32, native);
            for (uint64_t seed = 1; seed <= 60; seed++) {
                struct orders *o = orders_new("random", seed, &why);
                launch(&k, orders_get(o), 32, words);
                cr_expect_arr_eq(words, native, sizeof words, "kernel %zu, seed %d", i, (int)seed);
                orders_free(o);
            }
            tear_down(&k);
            /* In lockstep a warp's loads come before its stores: each lane reads its neighbour's number. */
            for (uint32_t l = 0; l < 31 && (i == 3 || i == 4); l++)
                cr_expect_eq(native[256 + l], l + 1, "lane %u", l);
        }
}

/* Many warps are resident, so that each keeps only the rows that it needs while others run. */
Test(late_loads, are_pending_while_other_warps_run)
{
    struct kernel k;
    uint32_t words[WORDS];
    char *why = NULL;
    set_up_sms(&k,
               ALONE("ld.global.u32 %r8, [%d2]; st.global.u32 [%d2+512], %r7; mov.u64 %d4, %d2;\n"
                     "st.global.u32 [%d2+640], %r7; st.global.u32 [%d3], %r8;\n"
                     "ld.global.u32 %r8, [%d4]; st.global.u32 [%d4+512], %r7;\n"
                     "st.global.u32 [%d4+768], %r8;"),
               false, 128);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct orders *o = orders_new("random", seed, &why);
        launch_grid(&k, orders_get(o), 400, 32, words);
        for (uint32_t l = 0; l < 32; l++)
            cr_expect(words[256 + l] == l && words[192 + l] == l, "lane %u: %u, %u", l,
                      words[256 + l], words[192 + l]);
        orders_free(o);
    }
    tear_down(&k);
}

/* ---- recordings ------------------------------------------------------------------------------------------ */

Test(late_loads, are_replayed)
{
    static const char body[] = STRONG("", "st.relaxed.gpu.global.u32 [%d3], %r7;");
    unsigned weak = 0;
    struct kernel k;
    set_up(&k, body, false);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        char *why = NULL, *data = NULL;
        size_t size = 0;
        uint32_t was[WORDS], is[WORDS];
        FILE *out = open_memstream(&data, &size);
        struct orders *o = orders_new("random", seed, &why);
        struct recorder *r = recorder_new(orders_get(o), "random", out);
        launch(&k, recorder_order(r), 64, was);
        cr_assert(recorder_end(r));
        (void)fclose(out);
        orders_free(o);
        FILE *in = fmemopen(data, size, "rb");
        struct player *p = player_new(in, &why);
        cr_assert(p, "%s", why);
        launch(&k, player_order(p), 64, is);
        cr_expect_null(player_end(p), "%s", player_end(p));
        cr_expect_arr_eq(was, is, sizeof was, "seed %d", (int)seed);
        weak += is_weak(was, 1000);
        player_free(p);
        (void)fclose(in);
        free(data);
    }
    tear_down(&k);
    cr_expect_gt(weak, 0);
}
