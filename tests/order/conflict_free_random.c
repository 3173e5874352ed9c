/* Random kernels: whether warps, or threads, are seen to be free of conflicts (emu/speculate/conflict_free.h), held against a plain list of who was at
 * which word, which forgets nothing.
 *
 * A kernel is a list of loads, stores and reductions, of which lanes that a range of threads names go to affine
 * addresses in the buffer or in shared memory, and of barriers. Mostly each thread keeps to its own words; now and then
 * something is off by a little.
 *
 *     HEDDLE_PROGRAMS=100000 build/gcc-release/tests/run -f conflict_free_random     more of them
 *     HEDDLE_SEED=123 ...                                                    this one alone */
#include "base/buf.h"
#include "base/rng.h"
#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order_fast.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRAMS = 1500, /* without HEDDLE_PROGRAMS */
    MOST_OPS = 10,
    MOST_THREADS = 512,
    AREA =
        8192, /* bytes of an allocation, that one kind of accesses keeps to: loads, own words, reductions, results */
    AREA_BYTES = AREA -
                 MEM_GAP, /* of which it has so many: the next one begins where the area ends */
    AREAS = 4,
    WORDS = AREAS * AREA / 4,
    SHARED = 4096, /* bytes; the same kinds keep to a quarter each */
    HISTORY = 64,  /* accesses of a word by others that the plain list holds */
};

enum kind { LOAD, STORE, ADD, MAX, BARRIER };
struct op {
    enum kind kind;
    bool shared, generic, back; /* back: CTAs count from the last one */
    uint32_t size;              /* bytes of a lane: 1, 2, 4, 8, 16 */
    uint32_t base, tid,
        cta;       /* the address: a sum, the number of the thread and of the CTA times so much */
    uint32_t fold; /* bits of the thread's number that count as 0 there */
    uint32_t from, to, every; /* threads that take part, every so many */
};
struct kernel {
    uint32_t grid, block, count;
    bool reduces; /* all that it does with the buffer */
    struct op ops[MOST_OPS];
};

/* ---- kernels by chance -------------------------------------------------------------------------------- */

static uint32_t one_of(uint64_t *rng, uint32_t count, const uint32_t *list)
{
    return list[rng_below(rng, count)];
}
#define ONE_OF(rng, ...)                                                                           \
    one_of(rng, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

/* Whether each CTA's lanes have what they access, aligned, in one allocation. */
static bool fits(const struct kernel *k, const struct op *o)
{
    const uint32_t span = o->tid * (k->block - 1) + o->size;
    if ((o->base | o->tid | o->cta) & (o->size - 1)) return false;
    if (o->shared) return o->base + span <= SHARED;
    for (uint32_t c = 0; c < k->grid; c++) {
        const uint64_t from = o->base + (uint64_t)o->cta * c;
        if (from % AREA + span > AREA_BYTES || from + span > WORDS * 4) return false;
    }
    return true;
}

static struct op make_op(uint64_t *rng, const struct kernel *k)
{
    struct op o = {.kind = (enum kind)ONE_OF(rng, LOAD, LOAD, STORE, STORE, ADD, MAX, BARRIER),
                   .shared = rng_below(rng, 2),
                   .generic = !rng_below(rng, 4),
                   .back = rng_below(rng, 2),
                   .to = k->block,
                   .every = 1};
    if (k->reduces && !o.shared && o.kind != BARRIER) o.kind = MAX;
    if (o.kind == MAX && rng_below(rng, 2)) o.kind = ADD;
    const uint32_t area = o.shared ? SHARED / AREAS : AREA,
                   at = rng_below(rng, 3) ? (o.kind < ADD ? o.kind : 2) * area : area;
    do {
        o.size = o.kind >= ADD ? 4 : ONE_OF(rng, 1, 2, 4, 4, 4, 4, 4, 8, 16);
        o.base = at;
        o.tid = o.kind >= ADD ? ONE_OF(rng, 0, 4, 4, 16) : o.size;
        if (!rng_below(rng, 4)) /* columns, or gaps in between */
            o.tid = ONE_OF(rng, 0, o.size, 4, 16, 32, 36, 64);
        o.cta = o.size * k->block;
        if (o.tid != o.size || !rng_below(rng, 6)) o.cta = ONE_OF(rng, o.size, 4, 64, o.cta, AREA);
        if (!rng_below(rng, 3)) o.base += ONE_OF(rng, 4, 8, 60, 64, 128);
        if (!rng_below(rng, 12)) o.base += o.size;
        if (!o.shared && !rng_below(rng, 8)) /* as far up as it goes */
            o.base = at + AREA_BYTES - o.size - o.tid * (k->block - 1) -
                     o.cta % AREA * (k->grid - 1);
    } while (!fits(k, &o));
    if (!rng_below(rng, 3)) {
        o.from = rng_below(rng, k->block);
        o.to = o.from + 1 + rng_below(rng, k->block - o.from);
    }
    if (!rng_below(rng, 6)) o.every = 2;
    if (!rng_below(rng, 8)) o.fold = ONE_OF(rng, 1, 2, 3, 16);
    return o;
}

static struct kernel make_kernel(uint64_t *rng)
{
    struct kernel k = {.grid = 1 + rng_below(rng, 3),
                       .block = ONE_OF(rng, 20, 32, 64, 64, 100, 128, 128, 160)};
    k.reduces = !rng_below(rng, 6);
    k.count = 1 + rng_below(rng, MOST_OPS);
    for (uint32_t i = 0; i < k.count; i++) k.ops[i] = make_op(rng, &k);
    return k;
}

static void write_op(struct buf *b, const struct kernel *k, const struct op *o)
{
    static const char *const types[] = {"u8", "u16", "u32", "u64", "v4.u32"};
    if (o->kind == BARRIER) {
        buf_printf(b, "bar.sync 0;\n");
        return;
    }
    const char *type = types[__builtin_ctz(o->size)], *space = o->shared ? "shared" : "global";
    const uint32_t wide = o->size == 16;
    buf_printf(b, "setp.ge.u32 %%p1, %%r1, %u; setp.lt.and.u32 %%p1, %%r1, %u, %%p1;\n", o->from,
               o->to);
    buf_printf(b, "and.b32 %%r3, %%r1, %u; setp.eq.and.u32 %%p1, %%r3, 0, %%p1;\n", o->every - 1);
    buf_printf(b, "and.b32 %%r3, %%r1, %u; mad.lo.u32 %%r3, %%r3, %u, %u;\n", ~o->fold, o->tid,
               o->base);
    if (!o->shared && o->back)
        buf_printf(b, "sub.u32 %%r4, %u, %%r2; mad.lo.u32 %%r3, %%r4, %u, %%r3;\n", k->grid - 1,
                   o->cta);
    else if (!o->shared) buf_printf(b, "mad.lo.u32 %%r3, %%r2, %u, %%r3;\n", o->cta);
    else buf_printf(b, "mov.u32 %%r4, s; add.u32 %%r3, %%r3, %%r4;\n");
    buf_printf(b, "cvt.u64.u32 %%d2, %%r3; %s\n",
               !o->shared   ? "add.u64 %d2, %d2, %d1;"
               : o->generic ? "cvta.shared.u64 %d2, %d2;"
                            : "");
    const char *at = o->shared && !o->generic ? "%r3" : "%d2", *where = o->generic ? "" : space,
               *dot = o->generic ? "" : ".";
    if (o->kind == LOAD && wide)
        buf_printf(b, "@%%p1 ld%s%s.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%s];\n", dot, where, at);
    else if (o->kind == LOAD)
        buf_printf(b, "@%%p1 ld%s%s.%s %s, [%s];\n", dot, where, type, o->size == 8 ? "%d3" : "%r4",
                   at);
    else if (o->kind == STORE && wide)
        buf_printf(b, "@%%p1 st%s%s.v4.u32 [%s], {%%r1, %%r8, %%r1, %%r8};\n", dot, where, at);
    else if (o->kind == STORE)
        buf_printf(b, "@%%p1 st%s%s.%s [%s], %s;\n", dot, where, type, at,
                   o->size == 8 ? "%d4" : "%r8");
    else
        buf_printf(b, "@%%p1 red%s%s.%s.u32 [%s], %%r1;\n", dot, where,
                   o->kind == ADD ? "add" : "max", at);
    if (o->kind == LOAD && o->size == 8) buf_printf(b, "@%%p1 cvt.u32.u64 %%r4, %%d3;\n");
    if (o->kind == LOAD) buf_printf(b, "@%%p1 mad.lo.u32 %%r8, %%r8, 5, %%r4;\n");
}

/* What was loaded goes to words of the thread's own at the end of the buffer's first half. */
static void write_kernel(struct buf *b, const struct kernel *k)
{
    buf_printf(b,
               ".shared .align 16 .b8 s[%u]; .reg .b64 %%d<5>; .reg .b32 %%r<9>;\n"
               ".reg .pred %%p<2>; ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x;\n"
               "mov.u32 %%r2, %%ctaid.x; mad.lo.u32 %%r8, %%r2, 512, %%r1; mov.u64 %%d4, 7;\n",
               SHARED);
    for (uint32_t i = 0; i < k->count; i++) write_op(b, k, &k->ops[i]);
    if (k->reduces) buf_printf(b, "ret;");
    else
        buf_printf(b,
                   "mad.lo.u32 %%r3, %%r2, %u, %%r1; mad.wide.u32 %%d2, %%r3, 4, %%d1;\n"
                   "st.global.u32 [%%d2+%u], %%r8; ret;",
                   k->block, 3 * AREA);
}

struct seen {
    uint64_t base;
    unsigned begun;
    uint32_t words[WORDS]; /* when it began; in the end: afterwards */
};

/* ---- the plain list ------------------------------------------------------------------------------------- */

struct past {
    uint32_t owner, phase;
    enum kind kind;
};
/* The counts alone are cleared for each kernel. */
struct history {
    uint32_t *count;
    struct past (*list)[HISTORY];
};

/* One who loads and stores is alone there; loads may meet, and reductions of a kind, also of one owner. */
static bool meet(const struct past *a, const struct past *b)
{
    if (a->phase != b->phase || (a->kind == LOAD && b->kind == LOAD)) return false;
    if (a->kind >= ADD || b->kind >= ADD) return a->kind != b->kind;
    return a->owner != b->owner;
}

static bool visit(const struct history *h, uint32_t word, struct past now)
{
    uint32_t *const count = &h->count[word];
    struct past *const list = h->list[word];
    if (*count && list[0].phase != now.phase) *count = 0; /* phases do not come back */
    for (uint32_t i = 0; i < *count; i++) {
        const struct past *p = &list[i];
        if (meet(p, &now)) return true;
        if (p->owner == now.owner && p->kind == now.kind && p->phase == now.phase) return false;
    }
    if (*count < HISTORY) list[(*count)++] = now; /* else: loads of many */
    return false;
}

/* Of the buffer's bytes, who was there: a bit for each kind (emu_access.kind). */
static uint8_t touched[WORDS * 4], reported[WORDS * 4];

static void note_bytes(void *self, uint64_t address, uint64_t size, uint8_t kind, uint8_t flags)
{
    const struct seen *s = self;
    (void)flags;
    cr_assert(address >= s->base && address + size <= s->base + sizeof reported);
    for (uint64_t i = address - s->base; size--; i++) reported[i] |= (uint8_t)(1u << kind);
}

static bool do_meet(const struct kernel *k, bool by_thread)
{
    static const uint8_t kinds[] = {
        [LOAD] = EMU_LOAD, [STORE] = EMU_STORE, [ADD] = EMU_RED, [MAX] = EMU_RED};
    static struct past global_list[WORDS][HISTORY], shared_list[SHARED / 4][HISTORY];
    static uint32_t global_count[WORDS], shared_count[SHARED / 4];
    const struct history global = {global_count, global_list}, shared = {shared_count, shared_list};
    bool meets = false;
    struct kernel all = *k;
    struct op last = {.kind = STORE, .size = 4, .base = 3 * AREA, .tid = 4, .every = 1};
    last.cta = 4 * k->block;
    last.to = k->block;
    memset(global_count, 0, sizeof global_count);
    memset(touched, 0, sizeof touched);
    for (uint32_t cta = 0; cta < k->grid; cta++) {
        uint32_t phase = 0;
        memset(shared_count, 0, sizeof shared_count);
        for (uint32_t i = 0; i < all.count + !k->reduces; i++) {
            const struct op *o = i < all.count ? &all.ops[i] : &last;
            const uint32_t number = o->back ? k->grid - 1 - cta : cta;
            phase += o->kind == BARRIER;
            if (o->shared && !by_thread && k->block <= 32) continue; /* nobody else has it */
            for (uint32_t t = o->from; o->kind != BARRIER && t < o->to; t++) {
                if (t & (o->every - 1)) continue;
                const uint32_t at = o->base + o->tid * (t & ~o->fold) +
                                    (o->shared ? 0 : o->cta * number),
                               thread = cta * MOST_THREADS + t;
                const struct past now = {by_thread ? thread : thread / 32, o->shared ? phase : 0,
                                         o->kind};
                for (uint32_t i = 0; !o->shared && i < o->size; i++)
                    touched[at + i] |= (uint8_t)(1u << kinds[o->kind]);
                for (uint32_t w = at / 4; w <= (at + o->size - 1) / 4; w++)
                    meets |= visit(o->shared ? &shared : &global, w, now);
            }
        }
    }
    return meets;
}

/* ---- what the emulator says ------------------------------------------------------------------------------ */

static unsigned want_meetings(void *self, const struct emu_launch_traits *next)
{
    (void)self, (void)next;
    return EMU_SKIP_IF_CONFLICT_FREE;
}
static const struct emu_order_fast fast = {.wants = want_meetings};
static void begin(void *self, struct emu_machine *m)
{
    struct seen *s = self;
    s->begun++;
    for (uint32_t i = 0; i < AREAS; i++)
        emu_machine_load(m, s->base + i * AREA, &s->words[i * AREA / 4], AREA_BYTES);
}

enum who { NOBODY, ORDER, OBSERVER, FOOTPRINT };
static void launch(const char *body, const struct kernel *k, enum who who, unsigned group,
                   unsigned threads, struct seen *s, uint32_t *words)
{
    struct arena *arena = arena_new();
    const char *text = emu_ptx(".param .u64 p", body);
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m), "%s", text);
    struct emu *e = emu_new(
        &(struct emu_config){.sms = 4, .group_warps = group, .threads = threads});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    s->base = emu_alloc(e, AREA_BYTES, "loads");
    for (uint32_t i = 1; i < AREAS; i++) /* side by side */
        cr_assert_eq(emu_alloc(e, AREA_BYTES, "an area"), s->base + i * AREA);
    for (uint32_t i = 0; i < WORDS; i++) words[i] = 77 * i;
    const struct emu_order order = {.self = s, .fast = &fast, .begin = begin};
    const struct emu_observer observer = {.self = s,
                                          .ignores_data = true,
                                          .skips_conflict_free = true,
                                          .begin = begin,
                                          .footprint = who == FOOTPRINT ? note_bytes : NULL};
    const struct emu_observer *list[] = {&observer};
    struct emu_launch l = {.grid = {k->grid, 1, 1},
                           .block = {k->block, 1, 1},
                           .params = &s->base,
                           .params_size = 8,
                           .order = who == ORDER ? &order : NULL,
                           .observers = list,
                           .observer_count = who >= OBSERVER};
    /* Also as it has been learnt to be marked. */
    for (int n = 0; n < 2; n++) {
        for (uint32_t i = 0; i < AREAS; i++)
            cr_assert(emu_copy_in(e, s->base + i * AREA, &words[i * AREA / 4], AREA_BYTES));
        const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &l);
        cr_assert_eq(r->fault.kind, EMU_OK, "%s\n%s", r->fault.text, text);
    }
    for (uint32_t i = 0; i < AREAS; i++)
        cr_assert(emu_copy_out(e, &words[i * AREA / 4], s->base + i * AREA, AREA_BYTES));
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
}

static uint32_t words[WORDS], alone[WORDS], before[WORDS];

/* Whether warps or threads meet, on so many host threads. */
static bool compare(const struct kernel *kernel, unsigned group, unsigned threads, uint64_t seed)
{
    static struct seen s;
    const struct kernel k = *kernel;
    struct buf b = {0};
    write_kernel(&b, &k);
    bool ok = true, any = false;
    for (uint32_t i = 0; i < WORDS; i++) before[i] = 77 * i;
    launch(b.data, &k, NOBODY, group, 1, &s, alone);
    for (enum who who = ORDER; who <= FOOTPRINT; who++) {
        const bool meets = do_meet(&k, who >= OBSERVER);
        s.begun = 0;
        memcpy(s.words, before, sizeof before);
        memset(reported, 0, sizeof reported);
        launch(b.data, &k, who, group, threads, &s, words);
        any |= meets;
        ok &= s.begun == 2 * meets;
        if (s.begun != 2 * meets)
            cr_expect_fail(
                "HEDDLE_SEED=%llu, %u host threads: %s, %u of 2 launches are seen to meet, %s\n"
                "%u x %u\n%s",
                (unsigned long long)seed, threads, who == ORDER ? "warps" : "threads", s.begun,
                meets ? "and do" : "and do not", k.grid, k.block, b.data);
        if (!meets) ok &= !memcmp(words, alone, sizeof words);
        if (!meets && who == FOOTPRINT) ok &= !memcmp(reported, touched, sizeof reported);
        if (s.begun) ok &= !memcmp(s.words, before, sizeof before);
        cr_expect(ok, "HEDDLE_SEED=%llu: memory", (unsigned long long)seed);
    }
    buf_free(&b);
    return any;
}

static bool compare_random(uint64_t seed)
{
    uint64_t rng = seed;
    const struct kernel k = make_kernel(&rng);
    const unsigned group = ONE_OF(&rng, 0, 0, 0, 1, 2);
    return compare(&k, group, ONE_OF(&rng, 1, 1, 2, 3), seed);
}

Test(conflict_free_random, meets_where_a_plain_list_says, .timeout = 3000)
{
    const char *more = getenv("HEDDLE_PROGRAMS"), *one = getenv("HEDDLE_SEED");
    const uint64_t count = one ? 1 : more ? strtoull(more, NULL, 10) : PROGRAMS / THINNED;
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t meet = 0;
    for (uint64_t i = first; i < first + count; i++) meet += compare_random(i);
    if (!one)
        cr_expect(meet > count / 5 && meet < count * 4 / 5, "%llu of %llu meet",
                  (unsigned long long)meet, (unsigned long long)count);
}

/* What chance seldom comes to. */
Test(conflict_free_random, meets_where_a_plain_list_says_by_little)
{
#define OF_ALL .to = 32, .every = 1
#define STORES_TO(at, ...)                                                                         \
    {                                                                                              \
        STORE, .size = 4, .base = AREA + (at), __VA_ARGS__                                         \
    }
/* so that what comes next is not the first store to the allocation; words of lines that all CTAs have a part in */
#define BEGIN STORES_TO(4096, .tid = 4, .cta = 128, OF_ALL)
#define COLUMNS STORES_TO(0, .tid = 64, .cta = 4, OF_ALL)
    static const struct kernel rows[] = {
        /* rows that have half of them in common */
        {2, 32, 1, false, {{STORE, .size = 4, .base = AREA, .tid = 4, .cta = 64, OF_ALL}}},
        {2,
         32,
         1,
         false,
         {{STORE, .size = 4, .base = AREA, .tid = 4, .cta = 64, .back = true, OF_ALL}}},
        /* one word, of rows that are off whole chunks */
        {2, 32, 1, false, {{STORE, .size = 4, .base = AREA + 4, .tid = 4, .cta = 124, OF_ALL}}},
        {2, 32, 1, false, {{STORE, .size = 4, .base = AREA + 4, .tid = 4, .cta = 128, OF_ALL}}},
        /* a byte */
        {2, 32, 1, false, {{STORE, .size = 1, .base = AREA, .tid = 1, .cta = 31, OF_ALL}}},
        /* a load that needed no marks twice, where others have reduced */
        {2,
         256,
         2,
         false,
         {{ADD, .size = 4, .base = 2 * AREA, OF_ALL},
          {LOAD, .size = 4, .tid = 4, .cta = 2 * AREA, .to = 256, .every = 1}}},
        /* and the other way round */
        {2,
         32,
         2,
         false,
         {{LOAD, .size = 4, .tid = 4, .base = 2 * AREA, OF_ALL},
          {ADD, .size = 4, .cta = 2 * AREA, OF_ALL}}},
        /* reductions of two kinds, each in an allocation of its own, and in one */
        {2, 32, 2, true, {{ADD, .size = 4, OF_ALL}, {MAX, .size = 4, .base = AREA, OF_ALL}}},
        {2, 32, 2, true, {{ADD, .size = 4, OF_ALL}, {MAX, .size = 4, .cta = AREA, OF_ALL}}},
        /* words of lines, once, */
        {2, 32, 2, false, {BEGIN, COLUMNS}},
        {2, 32, 2, false, {BEGIN, STORES_TO(0, .tid = 64, OF_ALL)}},
        /* again, */
        {2, 32, 3, false, {BEGIN, COLUMNS, COLUMNS}},
        {2, 32, 3, false, {BEGIN, COLUMNS, STORES_TO(4, .tid = 64, OF_ALL)}},
        {2, 32, 3, false, {BEGIN, COLUMNS, STORES_TO(4, .tid = 4, .cta = 2048, OF_ALL)}},
        {2, 32, 3, false, {BEGIN, COLUMNS, STORES_TO(8, .tid = 4, .to = 14, .every = 1)}},
        /* where lines were stored to, */
        {2,
         64,
         3,
         false,
         {BEGIN, STORES_TO(0, .tid = 4, .to = 64, .every = 1, .cta = 256), COLUMNS}},
        {2,
         64,
         3,
         false,
         {BEGIN, STORES_TO(0, .tid = 4, .cta = 2048, OF_ALL),
          STORES_TO(0, .tid = 64, .cta = 2048, .to = 2, .every = 1)}},
        {1,
         512,
         3,
         false,
         {STORES_TO(0, .tid = 4, .to = 512, .every = 1),
          {BARRIER, .every = 1},
          STORES_TO(36, .tid = 64, OF_ALL)}},
        /* several lanes to each */
        {2,
         32,
         3,
         false,
         {BEGIN, STORES_TO(0, .tid = 16, .cta = 2048, OF_ALL),
          STORES_TO(0, .tid = 64, .cta = 1024, .back = true, .to = 8, .every = 1)}},
        /* and loaded, which finds what was stored or not */
        {2,
         32,
         4,
         false,
         {BEGIN, COLUMNS, COLUMNS, {LOAD, .size = 4, .base = AREA, .tid = 64, .cta = 4, OF_ALL}}},
        {2, 32, 3, false, {BEGIN, COLUMNS, {LOAD, .size = 4, .base = AREA + 8, .tid = 64, OF_ALL}}},
        {2, 32, 3, false, {BEGIN, COLUMNS, {LOAD, .size = 4, .base = AREA + 4, .tid = 64, OF_ALL}}},
        /* lanes at one word, as well */
        {2, 32, 2, false, {BEGIN, STORES_TO(0, .tid = 64, .fold = 1, .cta = 4, OF_ALL)}},
        {2, 32, 2, false, {BEGIN, STORES_TO(0, .tid = 64, .fold = 1, .to = 29, .every = 1)}},
        /* rows of which lanes are off */
        {2, 32, 2, false, {BEGIN, STORES_TO(0, .tid = 4, .cta = 96, .to = 24, .every = 1)}},
        {2, 32, 2, false, {BEGIN, STORES_TO(0, .tid = 4, .cta = 96, .to = 25, .every = 1)}},
        {2, 32, 2, false, {BEGIN, STORES_TO(0, .tid = 4, .cta = 4, .to = 32, .every = 2)}},
    };
    static const bool meets[] = {true,  true,  true,  false, true,  true, true,  false, true,
                                 false, true,  false, true,  true,  true, true,  false, true,
                                 true,  false, false, true,  false, true, false, true,  false};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned threads = 1; threads < 4; threads++) compare(&rows[i], 0, threads, i);
        cr_expect_eq(do_meet(&rows[i], false), meets[i], "row %zu", i);
    }
}
