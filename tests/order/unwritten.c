/* Memory that nothing has written, under `random`: it is drawn from the seed, and digests leave it out (emu_order.unwritten,
 * emu/unwritten.h). */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"

#include <string.h>

enum { WORDS = 128, BYTES = WORDS * 4, LARGE = 1 << 16 };

/* A device with an order, a kernel, and two buffers p and q that nobody has written. */
struct bench {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *m;
    struct orders *orders;
    struct emu *e;
    struct emu_image *im;
    uint64_t at[2];
};

static void set_up(struct bench *b, const char *order, uint64_t seed, bool speculate,
                   const char *body)
{
    char *why = NULL;
    const char *text = emu_ptx(".param .u64 p, .param .u64 q", body);
    *b = (struct bench){.arena = arena_new(), .source = {"test.ptx", text, (uint32_t)strlen(text)}};
    b->diags = (struct diags){.arena = b->arena, .source = &b->source};
    b->m = ptx_module_parse(b->arena, &b->source, &b->diags);
    cr_assert(ptx_module_check(b->m));
    b->orders = orders_new(order, seed, &why);
    cr_assert(!why, "%s", why);
    b->e = emu_new(&(struct emu_config){.max_instructions = 1000000,
                                        .sms = 4,
                                        .no_speculation = !speculate,
                                        .order = orders_get(b->orders)});
    b->im = emu_load(b->e, &b->m, 1, &why);
    cr_assert(b->im, "%s", why);
    for (int i = 0; i < 2; i++) b->at[i] = emu_alloc(b->e, LARGE, "buffer");
}

static void tear_down(struct bench *b)
{
    emu_unload(b->im);
    emu_free(b->e);
    orders_free(b->orders);
    ptx_module_end(b->m);
    arena_free(b->arena);
}

static const struct emu_report *launch_blocks(struct bench *b, uint32_t grid, uint32_t block)
{
    const struct emu_launch l = {
        .grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = b->at, .params_size = 16};
    const struct emu_report *r = emu_launch(b->e, emu_kernel_at(b->im, 0), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    return r;
}

static const struct emu_report *launch(struct bench *b, uint32_t grid)
{
    return launch_blocks(b, grid, WORDS / grid);
}

/* What the kernel leaves in the first words of q, in one CTA. */
static void run(const char *order, uint64_t seed, bool speculate, const char *body,
                uint32_t out[WORDS])
{
    struct bench b;
    set_up(&b, order, seed, speculate, body);
    launch(&b, 1);
    cr_assert(emu_copy_out(b.e, out, b.at[1], BYTES));
    tear_down(&b);
}

/* Thread i's element of p and q in %rd1 and %rd2, i in %r1. */
#define HEAD                                                                                       \
    ".reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .pred %p;\n"                       \
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"                                            \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, " \
    "%r1;\n"                                                                                       \
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"

static const char global[] = HEAD "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd2], %r4;";
static const char shared[] = ".shared .align 4 .b8 s[512];\n" HEAD
                             "mov.u32 %r5, s; mad.lo.u32 %r5, %r1, 4, %r5;\n"
                             "ld.shared.u32 %r4, [%r5]; st.global.u32 [%rd2], %r4;";
static const char local[] = ".local .align 4 .b8 a[16];\n" HEAD
                            "ld.local.u32 %r4, [a+8]; st.global.u32 [%rd2], %r4;";
static const char *const reads[] = {global, shared, local};

static size_t zeros(const uint32_t w[WORDS])
{
    size_t n = 0;
    for (size_t i = 0; i < WORDS; i++) n += !w[i];
    return n;
}

Test(unwritten, is_drawn_from_the_seed)
{
    uint32_t one[WORDS], again[WORDS], other[WORDS];
    for (size_t k = 0; k < sizeof reads / sizeof *reads; k++)
        for (int speculate = 0; speculate < 2; speculate++) {
            run("random", 1, true, reads[k], one);
            run("random", 1, speculate, reads[k], again);
            run("random", 2, speculate, reads[k], other);
            cr_expect(memcmp(one, again, BYTES) == 0, "%zu: a seed gives one result", k);
            cr_expect(memcmp(one, other, BYTES) != 0, "%zu: another seed gives another", k);
            cr_expect(zeros(one) <= 1, "%zu: %zu zeros", k, zeros(one));
        }
}

Test(unwritten, is_zero_without_random)
{
    uint32_t w[WORDS];
    static const char *const orders[] = {"native", "gpudet", "dab", "random:uninitialised=zero"};
    for (size_t k = 0; k < sizeof reads / sizeof *reads; k++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            run(orders[i], 1, true, reads[k], w);
            cr_expect_eq(zeros(w), WORDS, "%zu under %s", k, orders[i]);
        }
}

/* PTX ISA 5.1: variables without an initialiser are zero. */
Test(unwritten, variables_are_zero)
{
    uint32_t w[WORDS];
    run("random", 1, true,
        HEAD ".global .align 4 .b8 v[512]; mov.u64 %rd4, v; add.u64 %rd4, %rd4, %rd3;\n"
             "ld.global.u32 %r4, [%rd4]; st.global.u32 [%rd2], %r4;",
        w);
    cr_expect_eq(zeros(w), WORDS);
}

/* Kernels that write some bytes and leave others: what they leave is not in the digest. */
static const char *const writes[] = {
    HEAD "cvt.u16.u32 %h1, %r1; st.global.u8 [%rd2+1], %h1;",
    HEAD "cvt.u16.u32 %h1, %r1; st.global.u16 [%rd2+2], %h1;",
    HEAD "st.global.u32 [%rd2], %r1;",
    HEAD "mul.wide.u32 %rd4, %r1, 508; add.u64 %rd2, %rd2, %rd4;\n"
         "st.global.v2.u32 [%rd2+24], {%r1, %r1};",
    HEAD "mul.wide.u32 %rd4, %r1, 28; add.u64 %rd2, %rd2, %rd4; st.global.v4.u32 [%rd2], "
         "{%r1, %r1, %r1, %r1};",
    HEAD "setp.lt.u32 %p, %r1, 40; @%p st.global.u32 [%rd2], %r1;",
    HEAD "atom.global.exch.b32 %r4, [%rd2], %r1;",
    HEAD "st.global.u32 [%rd2], 5; red.global.add.u32 [%rd2], %r1;",
    HEAD "st.volatile.global.u32 [%rd2], %r1;",
    HEAD "cvta.global.u64 %rd2, %rd2; st.u32 [%rd2], %r1;",
};

Test(unwritten, is_not_in_the_digest)
{
    for (size_t k = 0; k < sizeof writes / sizeof *writes; k++) {
        struct bench native, b;
        set_up(&native, "native", 0, true, writes[k]);
        launch(&native, 2);
        const uint64_t expected = emu_digest(native.e);
        tear_down(&native);
        for (uint64_t seed = 1; seed <= 4; seed++) {
            set_up(&b, seed == 4 ? "random:model=tso" : "random", seed, seed > 2, writes[k]);
            launch(&b, 2);
            cr_expect(emu_digest(b.e) == expected, "%zu, seed %d", k, (int)seed);
            tear_down(&b);
        }
    }
}

/* The host writes and copies parts, also of bytes that nothing wrote. */
Test(unwritten, copies_keep_what_is_written)
{
    uint64_t digest[3];
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct bench b;
        set_up(&b, seed ? "random" : "native", seed, true, global);
        cr_assert(emu_copy_in(b.e, b.at[0] + 3, "abcdef", 6));
        cr_assert(emu_fill(b.e, b.at[0] + 100, "x", 1, 5));
        cr_assert(emu_copy(b.e, b.at[1] + 1, b.at[0], 200));
        cr_assert(emu_copy(b.e, b.at[1] + 1024, b.at[0], 203));
        digest[seed] = emu_digest(b.e);
        tear_down(&b);
    }
    cr_expect(digest[0] == digest[1] && digest[0] == digest[2]);
}

/* Released memory is new when it is allocated again. */
Test(unwritten, is_filled_again_after_a_release)
{
    struct bench b;
    uint32_t before[WORDS], after[WORDS];
    set_up(&b, "random", 7, true, global);
    const uint64_t digest = emu_digest(b.e), at = b.at[1];
    cr_assert(emu_copy_out(b.e, before, at, BYTES));
    cr_assert(emu_fill(b.e, at, "x", 1, BYTES) && emu_release(b.e, at));
    cr_assert_eq(emu_alloc(b.e, LARGE, "buffer"), at);
    cr_assert(emu_copy_out(b.e, after, at, BYTES));
    cr_expect(memcmp(before, after, BYTES) == 0);
    cr_expect(emu_digest(b.e) == digest);
    tear_down(&b);
}

/* Each thread copies bytes of its CTA's shared memory, or all of its own local memory, to q. */
#define COPY_SHARED 8197
#define COPY_LOCAL 40
static const char all_shared[] =
    ".shared .align 4 .b8 s[8197];\n" HEAD "mov.u32 %r4, %tid.x; ld.param.u64 %rd2, [q];\n"
    "L: mov.u32 %r5, s; add.u32 %r5, %r5, %r4; ld.shared.u8 %h1, [%r5];\n"
    "mad.lo.u32 %r6, %r2, 8197, %r4; cvt.u64.u32 %rd4, %r6; add.u64 %rd4, %rd2, %rd4;\n"
    "st.global.u8 [%rd4], %h1; add.u32 %r4, %r4, %r3; setp.lt.u32 %p, %r4, 8197; @%p bra L;";
static const char all_local[] =
    ".local .align 8 .b8 a[40];\n" HEAD "mov.u32 %r4, 0; mul.wide.u32 %rd3, %r1, 40;\n"
    "ld.param.u64 %rd2, [q]; add.u64 %rd2, %rd2, %rd3; mov.u64 %rd5, a;\n"
    "L: cvt.u64.u32 %rd4, %r4; add.u64 %rd6, %rd5, %rd4; ld.local.u8 %h1, [%rd6];\n"
    "add.u64 %rd4, %rd2, %rd4; st.global.u8 [%rd4], %h1;\n"
    "add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 40; @%p bra L;";

enum { SEEDS = 16 };

/* Of 16 random bytes, one is not zero. */
static void expect_drawn(const uint8_t *joined, size_t size, const char *what)
{
    for (size_t i = 0; i < size; i++)
        cr_assert(joined[i], "byte %zu of %zu of %s memory is zero for each seed", i, size, what);
}

Test(unwritten, every_byte_is_drawn)
{
    static const struct {
        const char *name, *body;
        size_t size;    /* of what it leaves in q */
        uint32_t block; /* threads */
    } cases[] = {{"shared", all_shared, 2 * COPY_SHARED, 64},
                 {"local", all_local, 2 * 512 * COPY_LOCAL, 512}};
    static uint8_t joined[2][LARGE], blocks[LARGE + 5], one[LARGE + 5], again[LARGE];
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t k = 0; k < 2; k++) {
            struct bench b;
            set_up(&b, "random", seed, true, cases[k].body);
            const uint64_t odd = emu_alloc(b.e, LARGE + 5, "odd");
            cr_assert(emu_copy_out(b.e, one, odd, LARGE + 5));
            for (size_t i = 0; i < LARGE + 5; i++) blocks[i] |= one[i];
            launch_blocks(&b, 2, cases[k].block);
            cr_assert(emu_copy_out(b.e, one, b.at[1], cases[k].size));
            launch_blocks(&b, 2, cases[k].block);
            cr_assert(emu_copy_out(b.e, again, b.at[1], cases[k].size));
            for (size_t i = 0; i < cases[k].size; i++) joined[k][i] |= one[i];
            cr_expect(memcmp(one, again, cases[k].size) != 0, "launches have the same bytes");
            if (k == 0) cr_expect(memcmp(one, one + COPY_SHARED, COPY_SHARED) != 0, "so have CTAs");
            for (size_t w = 32; k == 1 && w < 512; w += 32)
                cr_expect(memcmp(one, one + w * COPY_LOCAL, COPY_LOCAL) != 0, "so have warps");
            tear_down(&b);
        }
    for (size_t k = 0; k < 2; k++) expect_drawn(joined[k], cases[k].size, cases[k].name);
    expect_drawn(blocks, LARGE + 5, "global");
}

/* What the order draws is as it was: of accesses that conflict, who comes last. */
Test(unwritten, draws_nothing_from_the_order)
{
    static const char last[] = HEAD "ld.param.u64 %rd4, [q]; st.global.u32 [%rd4], %r1;";
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint32_t one = 0, other = 0;
        struct bench b;
        set_up(&b, "random", seed, true, last);
        launch(&b, 4);
        cr_assert(emu_copy_out(b.e, &one, b.at[1], 4));
        tear_down(&b);
        set_up(&b, "random:uninitialised=zero", seed, true, last);
        launch(&b, 4);
        cr_assert(emu_copy_out(b.e, &other, b.at[1], 4));
        tear_down(&b);
        cr_expect_eq(one, other, "seed %d: %u, %u", (int)seed, one, other);
    }
}
