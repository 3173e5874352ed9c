/* Random kernels whose warps have nothing in common but words that all of them reduce: what dab leaves where it hears of
 * them later (emu/speculate/deferred.h) is what it leaves where it hears of all as it comes, which it does where somebody counts.
 *
 *     HEDDLE_PROGRAMS=100000 build/gcc-release/tests/run -f dab_later        more of them
 *     HEDDLE_SEED=123 ...                                                    this one alone */
#include "base/buf.h"
#include "base/rng.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRAMS = 400, /* without HEDDLE_PROGRAMS */
    MOST_OPS = 8,
    SUMS = 64, /* words that are reduced */
    OWN = 1 << 16,
    INPUTS = 64,
    WORDS = SUMS + OWN, /* and one of each thread's own; words that nobody changes */
};

/* At %d3, a multiple of 8; %r5, %f1, %d5 and %g1 are the thread's own. */
static const char *const reductions[] = {
    "red.global.add.f32 [%d3], %f1;\n",        "red.global.add.f32 [%d3+4], %f1;\n",
    "atom.global.add.f32 %f2, [%d3], %f1;\n",  "red.add.f32 [%d3], %f1;\n",
    "red.global.add.f64 [%d3], %g1;\n",        "red.global.add.noftz.f16x2 [%d3], %r5;\n",
    "red.global.inc.u32 [%d3], 77;\n",         "atom.global.exch.b32 %r6, [%d3+4], %r5;\n",
    "atom.global.exch.b64 %d6, [%d3], %d5;\n", "red.global.add.u32 [%d3], %r5;\n",
    "red.global.xor.b32 [%d3+4], %r5;\n",      "red.global.max.s32 [%d3], %r5;\n",
    "red.global.add.u64 [%d3], %d5;\n",        "red.relaxed.gpu.global.add.f32 [%d3], %f1;\n",
};
/* With these it hears of all as it comes. */
static const char *const others[] = {
    "ld.global.u32 %r6, [%d3]; st.global.u32 [%d2], %r6;\n",
    "st.global.u32 [%d3], %r5;\n",
    "ld.volatile.global.u32 %r6, [%d4]; add.u32 %r5, %r5, %r6;\n",
    "atom.global.cas.b32 %r6, [%d3], 0, %r5;\n",
    "red.global.add.noftz.f16 [%d3], %h1;\n",
    "red.global.add.f32 [%d2], %f1; ld.global.u32 %r6, [%d2]; add.u32 %r5, %r5, %r6;\n",
    "atom.global.add.u32 %r6, [%d3], %r5; add.u32 %r5, %r5, %r6;\n",
    "red.shared.add.u32 [tile], 1; red.shared.max.u32 [tile+4], %r5;\n",
    "st.shared.u32 [tile], %r5; ld.shared.u32 %r6, [tile]; st.global.u32 [%d2], %r6;\n",
};
enum {
    REDUCTIONS = sizeof reductions / sizeof *reductions,
    OTHERS = sizeof others / sizeof *others
};

/* Which word it reduces next. */
static void put_place(struct buf *b, uint64_t *rng)
{
    buf_printf(b,
               "mad.lo.u32 %%r5, %%r4, %u, %u; shr.u32 %%r6, %%r5, %u; and.b32 %%r6, %%r6, %u;\n"
               "mul.wide.u32 %%d3, %%r6, 4; add.u64 %%d3, %%d1, %%d3;\n",
               2 * rng_below(rng, 500) + 1, rng_below(rng, 99), rng_below(rng, 8),
               rng_below(rng, 3) ? SUMS - 2 : 6);
}

static void put_op(struct buf *b, uint64_t *rng, unsigned number)
{
    const char *const one = reductions[rng_below(rng, REDUCTIONS)],
                      *const two = reductions[rng_below(rng, REDUCTIONS)];
    const uint32_t mask = 1u << rng_below(rng, 8);
    put_place(b, rng);
    switch (rng_below(rng, 9)) {
    case 0: /* lanes, or warps, that part */
        buf_printf(b,
                   "and.b32 %%r6, %%r1, %u; setp.eq.u32 %%p1, %%r6, 0; @%%p1 bra one%u;\n%sbra "
                   "join%u;\none%u:\n%sjoin%u:\n",
                   mask, number, one, number, number, two, number);
        break;
    case 1: /* some go round more often */
        buf_printf(b,
                   "and.b32 %%r7, %%r1, %u; shr.u32 %%r7, %%r7, %u;\nloop%u:\n%s"
                   "setp.eq.u32 %%p1, %%r7, 0; sub.u32 %%r7, %%r7, 1; @!%%p1 bra loop%u;\n",
                   mask * 3, (unsigned)__builtin_ctz(mask), number, one, number);
        break;
    case 2: buf_printf(b, "%sbar.sync 0;\n%s", one, two); break;
    case 3: buf_printf(b, "bar.sync 1;\n%s", one); break;
    case 4: buf_printf(b, "membar.gl;\n%s", one); break;
    case 5: buf_printf(b, "ld.global.u32 %%r6, [%%d4]; add.u32 %%r5, %%r5, %%r6;\n%s", one); break;
    case 6:
        buf_printf(b, "st.global.u32 [%%d2], %%r5;\n%sld.global.u32 %%r6, [%%d2];\n", one);
        break;
    case 7:
        buf_printf(b, "and.b32 %%r6, %%r1, %u; setp.eq.u32 %%p1, %%r6, 0; @%%p1 %s", mask, one);
        break;
    default: buf_printf(b, "%s%s", one, two);
    }
    if (!rng_below(rng, 12)) /* lanes, or warps, end */
        buf_printf(b, "and.b32 %%r6, %%r1, %u; setp.eq.u32 %%p1, %%r6, 0; @%%p1 ret;\n", mask);
}

/* Whether dab may hear of it later. */
static bool write_kernel(struct buf *b, uint64_t *rng)
{
    const uint32_t count = 1 + rng_below(rng, MOST_OPS),
                   bad = rng_below(rng, 4) ? UINT32_MAX : rng_below(rng, count);
    buf_printf(
        b,
        ".reg .b64 %%d<7>; .reg .b32 %%r<9>; .reg .f32 %%f<4>; .reg .f64 %%g<2>; .reg .b16 %%h<2>;\n"
        ".reg .pred %%p<4>; .shared .b32 tile[4];\n"
        "ld.param.u64 %%d1, [p]; ld.param.u64 %%d4, [q]; mov.u32 %%r1, %%tid.x;\n"
        "mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x; mad.lo.u32 %%r4, %%r2, %%r3, %%r1;\n"
        "mul.wide.u32 %%d2, %%r4, 4; add.u64 %%d2, %%d2, %%d1; add.u64 %%d2, %%d2, %u;\n"
        "and.b32 %%r5, %%r4, %u; mul.wide.u32 %%d5, %%r5, 4; add.u64 %%d4, %%d4, %%d5;\n"
        "mov.u32 %%r8, %%nctaid.x; sub.u32 %%r8, %%r8, 1;\n"
        "mul.lo.u32 %%r5, %%r4, 7919; cvt.u64.u32 %%d5, %%r5; cvt.rn.f32.u32 %%f1, %%r5;\n"
        "mul.f32 %%f1, %%f1, 0f3dcccccd; cvt.f64.f32 %%g1, %%f1; cvt.u16.u32 %%h1, %%r1;\n",
        SUMS * 4, INPUTS - 1);
    bool later = true;
    for (uint32_t i = 0; i < count; i++) {
        put_op(b, rng, i);
        if (i != bad) continue;
        put_place(b, rng);
        if (rng_below(rng, 2)) /* when the order has heard of others */
            buf_printf(b, "setp.lt.u32 %%p3, %%r2, %%r8; @%%p3 bra other%u;\n", i);
        buf_printf(b, "%sother%u:\n", others[rng_below(rng, OTHERS)], i);
        later = false;
    }
    buf_printf(b, "ret;");
    return later;
}

/* dab, but that it tells how often it picked. */
static const struct emu_order *real;
static unsigned picks;
static int count_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    picks++;
    return real->pick(self, ready, count, burst);
}

struct kind {
    const char *order;
    bool later;
};

/* What two launches leave. */
static void launch(const char *body, const char *name, uint64_t seed, bool counted, uint32_t grid,
                   uint32_t block, unsigned group, unsigned threads, uint32_t *words)
{
    const char *text = emu_ptx(".param .u64 p, .param .u64 q", body);
    char *why = NULL;
    struct parsed *parsed = parse_text("test.ptx", text, strlen(text));
    cr_assert(parsed->ok, "%s\n%s", first_error(parsed), body);
    struct orders *orders = orders_new(name, seed, &why);
    cr_assert(orders, "%s", why);
    struct emu *e = emu_new(
        &(struct emu_config){.sms = 3, .group_warps = group, .threads = threads, .count = counted});
    struct emu_image *im = emu_load(e, &parsed->module, 1, &why);
    cr_assert(im, "%s", why);
    uint32_t inputs[INPUTS];
    for (uint32_t i = 0; i < INPUTS; i++) inputs[i] = i * i;
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i < SUMS ? 0x40000000 + 7 * i : 0;
    const uint64_t args[2] = {emu_alloc(e, WORDS * 4, "words"), emu_alloc(e, INPUTS * 4, "inputs")};
    cr_assert(emu_copy_in(e, args[0], words, WORDS * 4));
    cr_assert(emu_copy_in(e, args[1], inputs, sizeof inputs));
    real = orders_get(orders);
    struct emu_order order = *real;
    order.pick = count_pick;
    picks = 0;
    for (int n = 0; n < 2; n++) {
        const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0),
                                                &(struct emu_launch){.grid = {grid, 1, 1},
                                                                     .block = {block, 1, 1},
                                                                     .params = args,
                                                                     .params_size = sizeof args,
                                                                     .order = &order});
        cr_assert_eq(r->fault.kind, EMU_OK, "%s: %s\n%s", name, r->fault.text, body);
    }
    cr_assert(emu_copy_out(e, words, args[0], WORDS * 4));
    emu_unload(im);
    emu_free(e);
    orders_free(orders);
    parsed_free(parsed);
}

/* Whether some of its reductions do not commute. */
static bool counts_order(const char *body)
{
    static const char *const ones[] = {"add.f", "noftz", "inc", "exch"};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (strstr(body, ones[i])) return true;
    return false;
}

static bool compare(uint64_t seed)
{
    static const struct kind kinds[] = {
        {"dab", true},
        {"dab:fusion=off", true},
        {"dab:entries=9", true},
        {"dab:entries=150", true},
        {"dab:fusion=off:entries=70", true},
        {"dab:coalescing=off:entries=40", true},
        {"dab:offset=on:entries=50", true},
        {"dab:sms=2:partitions=3", true},
        {"dab:scheduler=gtar", true},
        {"dab:scheduler=gtar:fusion=off:entries=33", true},
        {"dab:level=warp", true},
        {"dab:level=warp:entries=48:fusion=off", true},
        {"dab:scheduler=gtrr", false},
        {"dab:scheduler=srr", false},
        {"dab:scheduler=any", false},
        {"dab:reorder=off", false},
        {"dab:distribution=any", false},
    };
    static uint32_t want[WORDS], got[WORDS];
    static const unsigned groups[] = {0, 0, 2, 1};
    uint64_t rng = seed;
    struct buf b = {0};
    const struct kind *k = &kinds[rng_below(&rng, sizeof kinds / sizeof *kinds)];
    const uint32_t block = 1 + rng_below(&rng, rng_below(&rng, 2) ? 40 : 300),
                   many = rng_below(&rng, 16) ? 60
                                              : 800, /* so that it hears of some before the end */
        most = OWN / block < many ? OWN / block : many, grid = 1 + rng_below(&rng, most);
    const unsigned group = groups[rng_below(&rng, 4)];
    const bool may = write_kernel(&b, &rng);
    const unsigned threads = 1 + rng_below(&rng, 4);
    launch(b.data, k->order, seed, true, grid, block, 1, 1, want);
    launch(b.data, k->order, seed, false, grid, block, group, threads, got);
    const bool later = !picks;
    for (uint32_t i = 0; i < WORDS; i++)
        if (want[i] != got[i]) {
            cr_expect_fail(
                "HEDDLE_SEED=%llu: %s, %u x %u on %u host threads: word %u is %x, not %x\n%s",
                (unsigned long long)seed, k->order, grid, block, threads, i, got[i], want[i],
                b.data);
            break;
        }
    /* Others are left out of all orders if they do not conflict (emu/speculate). */
    const bool counts = counts_order(b.data);
    if (counts && (may || !k->later)) /* of others nobody may come to what is in the way */
        cr_expect_eq(later, k->later, "HEDDLE_SEED=%llu: %s\n%s", (unsigned long long)seed,
                     k->order, b.data);
    buf_free(&b);
    return later && counts;
}

Test(dab_later, leaves_what_it_would_have_left, .timeout = 3000)
{
    const char *more = getenv("HEDDLE_PROGRAMS"), *one = getenv("HEDDLE_SEED");
    const uint64_t count = one ? 1 : more ? strtoull(more, NULL, 10) : PROGRAMS / THINNED;
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t later = 0;
    for (uint64_t i = first; i < first + count; i++) later += compare(i);
    if (!one)
        cr_expect(later > count / 3 && later < count * 4 / 5, "%llu of %llu are heard of later",
                  (unsigned long long)later, (unsigned long long)count);
}
