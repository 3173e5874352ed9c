/* Random kernels: the race detector against a plain one that forgets nothing.
 *
 * The plain one gives every thread a full vector clock, and every byte all accesses that it ever had. A kernel is
 * a list of statements, one a line: accesses of all widths, to own words and to those of others, barriers, fences,
 * flags. Every race that the detector reports must be one; and the first one of every byte must be reported.
 *
 *     HEDDLE_PROGRAMS=20000 build/gcc-release/tests/run -f race_random     more of them
 *     HEDDLE_SEED=123 ...                                                 this one alone */
#include "base/buf.h"
#include "base/rng.h"
#include "determinism/orders.h"
#include "determinism/race/race.h"
#include "emu/atomic.h"
#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRAMS = 1000, /* without HEDDLE_PROGRAMS */
    BLOCK = 64,
    CTAS = 3,
    THREADS = CTAS * BLOCK,
    SHARED_BYTES = 2048, /* bytes of shared memory */
    GLOBAL = 8192,       /* of global memory */
    BYTES = GLOBAL + CTAS * SHARED_BYTES,
    LINES = 64,
    CROWD =
        12, /* events that touch a byte, and readers of a write, of which the detector remembers all */
    IDS = 16,
};

/* ---- the plain detector ----------------------------------------------------------------------------- */

struct vector {
    uint32_t of[THREADS];
};

struct reader { /* who has read a write strongly, and when */
    uint32_t thread, time;
};
struct past { /* an access of a byte */
    uint32_t thread, time, line, warp_time;
    bool strong, write, reads, changes; /* changes: a read-modify-write */
    uint8_t scope, width;
    struct reader *readers; /* of a write: PTX, "observation order" */
    size_t reader_count, reader_cap;
};
struct pasts {
    struct past *list;
    size_t count, cap;
    uint32_t events; /* of warps, those of strong accesses and writes by lane */
    size_t chain;    /* the first of the last writes that only read-modify-writes have continued */
    bool raced;
};

struct release { /* what a place lets be known to who reads it there */
    struct vector known;
    uint8_t scope;       /* the narrowest on the way */
    uint32_t cta;        /* of the last write on the way */
    uint8_t first_scope; /* of the release itself */
    uint32_t first_cta;
};
struct releases {
    struct release *list;
    size_t count, cap;
};

struct duty { /* the first race of a byte */
    uint32_t line;
    uint64_t others; /* lines, any of which will do */
};

struct plain {
    struct emu_observer observer;
    struct emu_machine *machine;
    struct arena *arena;
    uint64_t memory; /* where global memory begins */
    uint32_t first_line;
    struct vector known[THREADS];
    struct releases seen[THREADS], fenced[THREADS]; /* read, not acquired; by release fences */
    struct releases flags[BYTES / 4];
    struct releases *own[BYTES / 4]; /* by thread: its release operations here */
    struct pasts bytes[BYTES];
    struct vector barriers[CTAS][IDS];
    bool waiting[THREADS][IDS];
    uint32_t turns; /* of warp instructions */
    bool races[LINES][LINES];
    struct duty *duties;
    size_t duty_count, duty_cap;
};

static void join(struct vector *to, const struct vector *from)
{
    for (uint32_t i = 0; i < THREADS; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

static void add_release(struct plain *p, struct releases *r, const struct release *one)
{
    r->list = arena_grow(p->arena, r->list, r->count, &r->cap, r->count + 1, sizeof *r->list);
    r->list[r->count++] = *one;
}

static bool reaches(uint32_t scope, uint32_t from, uint32_t to)
{
    return from == to || scope >= EMU_SCOPE_GPU;
}

/* A release synchronizes with an acquire only if the release itself and the acquire are morally strong, however many
 * read-modify-writes of other CTAs pass it on (PTX ISA, "Synchronizes"). */
static bool synchronizes(const struct release *r, uint8_t scope, uint32_t cta)
{
    return reaches(r->first_scope, r->first_cta, cta) && reaches(scope, r->first_cta, cta);
}
static uint8_t narrower(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* Reads what was released. What it may not acquire now, a fence may later. */
static void read_flag(struct plain *p, uint32_t word, uint32_t thread, const struct emu_access *a)
{
    const uint32_t cta = thread / BLOCK;
    const struct releases *f = &p->flags[word];
    for (size_t i = 0; i < f->count; i++) {
        struct release e = f->list[i];
        if (!reaches(e.scope, e.cta, cta) || !reaches(a->scope, e.cta, cta)) continue;
        if (a->flags & EMU_ACQUIRE && synchronizes(&e, a->scope, cta))
            join(&p->known[thread], &e.known);
        e.scope = narrower(e.scope, a->scope);
        add_release(p, &p->seen[thread], &e);
    }
}

/* Only a read-modify-write passes on what was released before. */
static void write_flag(struct plain *p, uint32_t word, uint32_t thread, const struct emu_access *a)
{
    const uint32_t cta = thread / BLOCK;
    struct releases *f = &p->flags[word], now = {0};
    for (size_t i = 0; i < f->count && a->kind != EMU_STORE; i++) {
        struct release e = f->list[i];
        if (!reaches(e.scope, e.cta, cta) || !reaches(a->scope, e.cta, cta)) continue;
        e.scope = narrower(e.scope, a->scope);
        e.cta = cta;
        add_release(p, &now, &e);
    }
    if (!p->own[word]) p->own[word] = arena_array(p->arena, struct releases, THREADS);
    if (a->flags & EMU_RELEASE)
        add_release(p, &p->own[word][thread],
                    &(struct release){p->known[thread], a->scope, cta, a->scope, cta});
    for (size_t i = 0; i < p->own[word][thread].count; i++) {
        struct release e = p->own[word][thread].list[i];
        e.scope = narrower(e.scope, a->scope);
        add_release(p, &now, &e);
    }
    for (size_t i = 0; i < p->fenced[thread].count; i++) {
        struct release e = p->fenced[thread].list[i];
        e.scope = narrower(e.scope, a->scope);
        add_release(p, &now, &e);
    }
    *f = now;
}

/* Whether both are strong, each in the scope of the other, of one size; or of one thread. */
static bool morally_strong(const struct past *a, const struct past *b)
{
    const uint32_t x = a->thread / BLOCK, y = b->thread / BLOCK;
    return a->width == b->width &&
           (a->thread == b->thread ||
            (a->strong && b->strong && reaches(a->scope, x, y) && reaches(b->scope, x, y)));
}

static bool is_read_before(const struct plain *p, const struct past *write, uint32_t thread)
{
    for (size_t i = 0; i < write->reader_count; i++)
        if (p->known[thread].of[write->readers[i].thread] >= write->readers[i].time) return true;
    return false;
}

/* The access reads the last write, and through read-modify-writes those before it. */
static void observe(struct plain *p, struct pasts *b, const struct past *now)
{
    size_t last = b->count;
    while (last && !b->list[last - 1].write) last--;
    const bool reads = now->strong && last && morally_strong(&b->list[last - 1], now);
    for (size_t i = b->chain; reads && now->reads && i < last; i++) {
        struct past *e = &b->list[i];
        if (!e->write) continue;
        e->readers = arena_grow(p->arena, e->readers, e->reader_count, &e->reader_cap,
                                e->reader_count + 1, sizeof *e->readers);
        e->readers[e->reader_count++] = (struct reader){now->thread, now->time};
    }
    if (now->write && !(now->changes && reads)) b->chain = b->count;
}

static void touch_byte(struct plain *p, uint32_t at, const struct past *now)
{
    struct pasts *b = &p->bytes[at];
    const uint32_t cta = now->thread / BLOCK;
    struct duty duty = {.line = now->line};
    for (size_t i = 0; i < b->count; i++) {
        const struct past *e = &b->list[i];
        const uint32_t other = e->thread / BLOCK;
        if (!e->write && !now->write) continue;
        if (p->known[now->thread].of[e->thread] >= e->time) continue;
        if (e->strong && now->strong && e->width == now->width && reaches(e->scope, other, cta) &&
            reaches(now->scope, other, cta))
            continue;
        const bool read_before = e->write && is_read_before(p, e, now->thread);
        if (read_before && e->reader_count <= CROWD) continue;
        p->races[e->line][now->line] = p->races[now->line][e->line] = true;
        if (!read_before) duty.others |= UINT64_C(1) << e->line;
    }
    if (duty.others && !b->raced && b->events <= CROWD) {
        p->duties = arena_grow(p->arena, p->duties, p->duty_count, &p->duty_cap, p->duty_count + 1,
                               sizeof *p->duties);
        p->duties[p->duty_count++] = duty;
    }
    b->raced |= duty.others != 0;
    if (now->write || now->strong || !b->count || b->list[b->count - 1].warp_time != p->turns)
        b->events++;
    observe(p, b, now);
    b->list = arena_grow(p->arena, b->list, b->count, &b->cap, b->count + 1, sizeof *b->list);
    b->list[b->count++] = *now;
}

static uint32_t byte_of(const struct plain *p, const struct emu_access *a, uint64_t at)
{
    if (a->space == PTX_SPACE_GLOBAL) return (uint32_t)(at - p->memory);
    return (uint32_t)(GLOBAL + a->who->cta * SHARED_BYTES +
                      (at >= MEM_SHARED ? at - MEM_SHARED : at));
}

/* Whether the lane's compare-and-swap of a word fails: it writes nothing then. Lanes are carried out in order; a word that an
 * earlier one has changed holds that one's value. */
static bool fails(const struct emu_access *a, uint32_t lane)
{
    uint32_t holds = 0;
    bool failed = false;
    if (a->kind != EMU_ATOMIC || a->op != ATOMIC_CAS) return false;
    memcpy(&holds, a->result + a->stride * lane, 4);
    for (uint32_t l = 0; l <= lane; l++) {
        uint32_t comparand, value;
        if (!(a->lanes >> l & 1) || a->address[l] != a->address[lane]) continue;
        memcpy(&comparand, a->data + a->stride * l, 4);
        memcpy(&value, a->data + a->stride * l + 32, 4);
        failed = holds != comparand;
        if (!failed) holds = value;
    }
    return failed;
}

static void plain_access(void *self, const struct emu_access *a)
{
    struct plain *p = self;
    if (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_SHARED) return;
    p->turns++;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint32_t thread = a->who->cta * BLOCK + a->who->warp * LANES + lane;
        const uint32_t at = byte_of(p, a, a->address[lane]);
        const bool writes = a->kind != EMU_LOAD && !fails(a, lane);
        const struct past now = {
            .thread = thread,
            .time = ++p->known[thread].of[thread],
            .line = emu_machine_location(p->machine, a->pc).line - p->first_line,
            .warp_time = p->turns,
            .strong = a->flags & EMU_RELAXED,
            .write = writes,
            .reads = a->kind == EMU_LOAD || a->kind == EMU_ATOMIC,
            .changes = writes && a->kind != EMU_STORE,
            .scope = a->scope,
            .width = a->width,
        };
        cr_assert(at + a->width * a->count <= BYTES && now.line < LINES);
        if (now.strong && now.reads) read_flag(p, at / 4, thread, a);
        for (uint32_t i = 0; i < (uint32_t)a->width * a->count; i++) touch_byte(p, at + i, &now);
        if (now.strong && now.write) write_flag(p, at / 4, thread, a);
        for (uint32_t i = 0; !now.strong && now.write && i < (uint32_t)a->width * a->count; i++)
            p->flags[(at + i) / 4] = (struct releases){0};
    }
}

static void plain_fence(struct plain *p, uint32_t thread, const struct emu_sync *s)
{
    const uint32_t cta = thread / BLOCK;
    const struct releases *seen = &p->seen[thread];
    for (size_t i = 0; i < seen->count && s->flags & EMU_ACQUIRE; i++)
        if (reaches(s->scope, seen->list[i].cta, cta) &&
            synchronizes(&seen->list[i], s->scope, cta))
            join(&p->known[thread], &seen->list[i].known);
    if (s->flags & EMU_RELEASE)
        add_release(p, &p->fenced[thread],
                    &(struct release){p->known[thread], s->scope, cta, s->scope, cta});
}

static void plain_barrier_done(struct plain *p, uint32_t cta, uint32_t id)
{
    struct vector all = p->barriers[cta][id];
    memset(&p->barriers[cta][id], 0, sizeof all);
    for (uint32_t t = cta * BLOCK; t < (cta + 1) * BLOCK; t++) {
        if (p->waiting[t][id]) join(&p->known[t], &all);
        p->waiting[t][id] = false;
    }
}

static void plain_sync(void *self, const struct emu_sync *s)
{
    struct plain *p = self;
    const uint32_t first = s->who->cta * BLOCK + s->who->warp * LANES;
    struct vector all = {{0}};
    if (s->kind == EMU_SYNC_BARRIER_DONE) plain_barrier_done(p, s->who->cta, s->id);
    for (uint32_t m = s->lanes; m; m &= m - 1) {
        const uint32_t thread = first + (uint32_t)__builtin_ctz(m);
        if (s->kind == EMU_SYNC_FENCE) plain_fence(p, thread, s);
        if (s->kind == EMU_SYNC_WARP) join(&all, &p->known[thread]);
        if (s->kind != EMU_SYNC_BARRIER) continue;
        join(&p->barriers[s->who->cta][s->id], &p->known[thread]);
        p->waiting[thread][s->id] = s->flags & EMU_ACQUIRE;
    }
    for (uint32_t m = s->kind == EMU_SYNC_WARP ? s->lanes : 0; m; m &= m - 1)
        join(&p->known[first + (uint32_t)__builtin_ctz(m)], &all);
}

static void plain_begin(void *self, struct emu_machine *m)
{
    struct plain *p = self;
    p->machine = m;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static const char head[] =
    ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory)\n{\n"
    ".shared .align 16 .b8 area[2048];\n"
    ".reg .b32 %t, %c, %s, %r<40>; .reg .b64 %m, %d<10>; .reg .pred %p<12>; .reg .b16 %h<4>;\n"
    "ld.param.u64 %m, [memory]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %s, area;\n"
    "setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %t, 33; setp.lt.u32 %p2, %t, 32; setp.eq.u32 %p3, %c, 0;\n"
    "and.b32 %r1, %t, 1; setp.eq.u32 %p4, %r1, 0; setp.eq.and.u32 %p5, %t, 7, %p3; setp.lt.u32 %p6, %t, 40;\n";
enum { HEAD_LINES = 11 };

static const char *const guards[] = {"",      "",       "",       "",      "@%p0 ",
                                     "@%p1 ", "@%p2 ",  "@!%p2 ", "@%p3 ", "@!%p3 ",
                                     "@%p4 ", "@!%p4 ", "@%p5 ",  "@%p6 "};
/* Which element of 64, or one of 96 where lanes lie beside the rows. */
static const char *const places[] = {
    "mov.u32 %r2, %t;",
    "mov.u32 %r2, %t;",
    "mov.u32 %r2, %t;",
    "xor.b32 %r2, %t, 1;",
    "xor.b32 %r2, %t, 32;",
    "sub.u32 %r2, 63, %t;",
    "add.u32 %r2, %t, 1;",
    "and.b32 %r2, %t, 15;",
    "shr.u32 %r2, %t, 4;",
    "shr.u32 %r2, %t, 1;",
    "mov.u32 %r2, 5;",
    "and.b32 %r2, %t, 31;",
    "mul.lo.u32 %r2, %t, 7; and.b32 %r2, %r2, 63;",
    "add.u32 %r2, %t, 16;",
};
static const struct {
    const char *type, *value, *more;
    unsigned bytes;
} widths[] = {{"u32", "%r4", "", 4},           {"u32", "%r4", "", 4},
              {"u32", "%r4", "", 4},           {"u8", "%r4", "", 1},
              {"u16", "%h1", "", 2},           {"u64", "%d4", "", 8},
              {"v2.u32", "{%r4, %r5}", "", 8}, {"v4.u32", "{%r4, %r5, %r6, %r7}", "", 16}};
#define PICK(state, array) ((array)[rng_below((state), sizeof(array) / sizeof *(array))])

/* The address of a place in %d1 (global) or %r3 (shared). */
static void print_place(struct buf *b, uint64_t *s, bool shared, unsigned bytes)
{
    buf_printf(b, "%s mul.lo.u32 %%r3, %%r2, %u; ", PICK(s, places), bytes);
    if (shared) buf_puts(b, "add.u32 %r3, %r3, %s; ");
    else {
        const unsigned whose = rng_below(s, 4); /* mostly the CTA's own */
        if (whose == 3) buf_puts(b, "add.u32 %r8, %c, 1; ");
        else if (whose == 2) buf_puts(b, "mov.u32 %r8, 0; ");
        else buf_puts(b, "mov.u32 %r8, %c; ");
        buf_puts(b, "mad.lo.u32 %r3, %r8, 1536, %r3; cvt.u64.u32 %d1, %r3; add.u64 %d1, %d1, %m; ");
    }
}

static void print_access(struct buf *b, uint64_t *s, bool shared, unsigned width, bool store)
{
    print_place(b, s, shared, widths[width].bytes);
    const char *guard = PICK(s, guards), *space = shared ? "shared" : "global",
               *at = shared ? "%r3" : "%d1";
    if (store)
        buf_printf(b, "%sst.%s.%s [%s], %s;", guard, space, widths[width].type, at,
                   widths[width].value);
    else
        buf_printf(b, "%sld.%s.%s %s, [%s];", guard, space, widths[width].type, widths[width].value,
                   at);
}

static void print_flag(struct buf *b, uint64_t *s, bool shared)
{
    static const char *const ops[] = {
        "st.release.%s.%s.u32 [%s+%u], %%r4;",
        "st.relaxed.%s.%s.u32 [%s+%u], %%r4;",
        "ld.acquire.%s.%s.u32 %%r4, [%s+%u];",
        "ld.relaxed.%s.%s.u32 %%r4, [%s+%u];",
        "atom.acq_rel.%s.%s.add.u32 %%r4, [%s+%u], 1;",
        "atom.relaxed.%s.%s.add.u32 %%r4, [%s+%u], 1;",
        "atom.acquire.%s.%s.exch.b32 %%r4, [%s+%u], 1;",
        "red.relaxed.%s.%s.add.u32 [%s+%u], 1;",
        "red.release.%s.%s.add.u32 [%s+%u], 1;",
    };
    static const char *const few[] = {"@%p0 ", "@%p1 ", "@%p5 ", "@%p0 ", "@%p1 ", ""};
    buf_puts(b, PICK(s, few));
    buf_printf(b, PICK(s, ops), rng_below(s, 4) ? "gpu" : "cta", shared ? "shared" : "global",
               shared ? "%s" : "%m", (shared ? 1800 : 7000) + 4 * rng_below(s, 2));
}

/* A weak access of a flag. */
static void print_weak_flag(struct buf *b, uint64_t *s, bool shared)
{
    static const char *const ops[] = {"ld.%s.u32 %%r4, [%s+%u];", "st.%s.u32 [%s+%u], %%r4;"};
    static const char *const few[] = {"@%p0 ", "@%p1 ", "@%p5 ", "@%p0 ", "@%p1 ", ""};
    buf_puts(b, PICK(s, few));
    buf_printf(b, PICK(s, ops), shared ? "shared" : "global", shared ? "%s" : "%m",
               (shared ? 1800 : 7000) + 4 * rng_below(s, 2));
}

static void print_sync(struct buf *b, uint64_t *s)
{
    static const char *const syncs[] = {
        "bar.sync 0;",
        "bar.sync 0;",
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "bar.warp.sync -1;",
        "fence.acq_rel.gpu;",
        "fence.acq_rel.gpu;",
        "fence.acq_rel.cta;",
        "@%p2 bar.sync 1, 32;",
        "@%p2 bar.arrive 2, 64; @!%p2 bar.sync 2, 64;",
        "@%p4 bar.warp.sync 0x55555555;",
        "@%p1 exit;",
    };
    buf_puts(b, PICK(s, syncs));
}

/* All scopes become .gpu: the detector judges such kernels in a shorter way. */
static void widen_scopes(char *text)
{
    for (char *at = text; (at = strstr(at, ".cta")); at++)
        if (at[4] == '.' || at[4] == ';') memcpy(at, ".gpu", 4);
}

/* Kernels whose threads try to take locks, four times in a loop: each that gets one accesses its data, or now and then
 * others, and gives it back. Some leave out a fence. */
static const uint64_t with_locks = UINT64_C(1) << 32; /* added to the seed */

static char *lock_kernel(uint64_t seed)
{
    static const char *const locks[] = {"%t", "%t", "%r30", "%r31", "%c"};
    static const unsigned masks[] = {31, 31, 15,
                                     3}; /* with 31 no two lanes of a warp want the same lock */
    static const char *const accesses[] = {
        "ld.relaxed.gpu.global.u32 %%r4, [%%d2+%u];",
        "st.relaxed.gpu.global.u32 [%%d2+%u], %%r4;",
        "ld.volatile.global.u32 %%r4, [%%d2+%u];",
        "st.volatile.global.u32 [%%d2+%u], %%r4;",
        "ld.relaxed.gpu.global.u32 %%r4, [%%d2+%u];",
        "st.relaxed.gpu.global.u32 [%%d2+%u], %%r4;",
        "atom.relaxed.gpu.global.add.u32 %%r4, [%%d2+%u], 1;",
        "ld.global.u32 %%r4, [%%d2+%u];",
        "st.global.u32 [%%d2+%u], %%r4;",
    };
    uint64_t s = seed;
    struct buf b = {0};
    const bool weak = rng_below(&s, 4), careless = rng_below(&s, 2), strays = rng_below(&s, 2);
    buf_puts(&b, head);
    buf_puts(
        &b,
        "mov.u32 %r32, 0; shr.u32 %r31, %t, 3; mad.lo.u32 %r30, %c, 5, %t; mov.u32 %r4, 7; AGAIN:\n");
    for (unsigned section = 1 + rng_below(&s, 2); section; section--) {
        buf_printf(
            &b,
            "add.u32 %%r33, %s, %%r32; and.b32 %%r33, %%r33, %u; mul.wide.u32 %%d2, %%r33, 4; add.u64 %%d2, %%d2, %%m; ",
            PICK(&s, locks), masks[rng_below(&s, 4)]);
        buf_puts(
            &b,
            "atom.relaxed.gpu.global.cas.b32 %r34, [%d2+7000], 0, 1; setp.eq.u32 %p8, %r34, 0;\n");
        if (!careless || rng_below(&s, 3)) buf_puts(&b, "@%p8 fence.acq_rel.gpu;\n");
        for (unsigned i = 1 + rng_below(&s, 4); i; i--) {
            const unsigned stray = strays && rng_below(&s, 6) == 0 ? 4 : 0;
            buf_puts(&b, "@%p8 ");
            buf_printf(&b, accesses[rng_below(&s, weak ? 9 : 7)],
                       6000 + 128 * rng_below(&s, 2) + stray);
            buf_puts(&b, "\n");
        }
        if (!careless || rng_below(&s, 3)) buf_puts(&b, "@%p8 fence.acq_rel.gpu;\n");
        buf_puts(&b, rng_below(&s, 2)
                         ? "@%p8 atom.relaxed.gpu.global.exch.b32 %r34, [%d2+7000], 0;\n"
                         : "@%p8 st.relaxed.gpu.global.u32 [%d2+7000], 0;\n");
    }
    buf_puts(&b, "add.u32 %r32, %r32, 1; setp.lt.u32 %p9, %r32, 4; @%p9 bra AGAIN; ret;\n}\n");
    return b.data;
}

static char *kernel(uint64_t seed)
{
    uint64_t s = seed;
    if (seed & with_locks) return lock_kernel(seed);
    struct buf b = {0};
    const unsigned statements = 2 + rng_below(&s, 14), syncs = 20 + rng_below(&s, 50),
                   flags = rng_below(&s, 2) * rng_below(&s, 50), usual = rng_below(&s, 8),
                   stores = 10 + rng_below(&s, 60);
    const bool shared = rng_below(&s, 2), mixed = seed % 5 == 4;
    buf_puts(&b, head);
    for (unsigned i = 0; i < statements; i++) {
        const bool here = rng_below(&s, 8) ? shared : !shared;
        if (rng_below(&s, 100) < syncs) print_sync(&b, &s);
        else if (mixed && rng_below(&s, 100) < 20) print_weak_flag(&b, &s, here);
        else if (rng_below(&s, 100) < (mixed ? 70 : flags)) print_flag(&b, &s, here);
        else
            print_access(&b, &s, here, rng_below(&s, 5) ? usual : rng_below(&s, 8),
                         rng_below(&s, 100) < stores);
        buf_puts(&b, "\n");
    }
    buf_puts(&b, "ret;\n}\n");
    if (seed % 10 == 4 || seed % 10 == 8) widen_scopes(b.data);
    return b.data;
}

/* ---- both ------------------------------------------------------------------------------------------- */

static bool is_reported(const struct emu_report *r, uint32_t first, uint64_t others)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const uint32_t a = r->findings[i].line - HEAD_LINES, b = r->findings[i].line2 - HEAD_LINES;
        if ((a == first && others >> b & 1) || (b == first && others >> a & 1)) return true;
    }
    return false;
}

static bool agree(const struct plain *p, const struct emu_report *r, uint64_t seed)
{
    bool fine = true;
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct emu_finding *f = &r->findings[i];
        if (p->races[f->line - HEAD_LINES][f->line2 - HEAD_LINES]) continue;
        fprintf(stderr, "HEDDLE_SEED=%llu: lines %u and %u do not race:\n%s",
                (unsigned long long)seed, f->line, f->line2, f->text);
        fine = false;
    }
    for (size_t i = 0; i < p->duty_count && fine; i++)
        if (!is_reported(r, p->duties[i].line, p->duties[i].others)) {
            fprintf(stderr, "HEDDLE_SEED=%llu: no race of line %u\n", (unsigned long long)seed,
                    p->duties[i].line + HEAD_LINES);
            fine = false;
        }
    return fine;
}

struct stand { /* a random kernel on a device of its own */
    char *text;
    struct parsed *parsed;
    struct emu *e;
    struct emu_image *im;
    struct orders *orders;
    uint64_t memory;
};

static struct stand set_up(uint64_t seed, const char *order, enum emu_divergence divergence)
{
    char *why = NULL;
    struct stand s = {.text = kernel(seed)};
    s.parsed = parse_text("random.ptx", s.text, strlen(s.text));
    cr_assert(s.parsed->ok, "HEDDLE_SEED=%llu: %s\n%s", (unsigned long long)seed,
              first_error(s.parsed), s.text);
    s.e = emu_new(&(struct emu_config){.threads = 1, .divergence = divergence, .timeout = 60});
    s.im = emu_load(s.e, &s.parsed->module, 1, &why);
    cr_assert(s.im, "%s", why);
    s.orders = order ? orders_new(order, seed, &why) : NULL;
    s.memory = emu_alloc(s.e, GLOBAL, "buffer");
    return s;
}

static const struct emu_report *launch(const struct stand *s, const struct emu_observer **list,
                                       size_t count)
{
    const struct emu_launch l = {.grid = {CTAS, 1, 1},
                                 .block = {BLOCK, 1, 1},
                                 .params = &s->memory,
                                 .params_size = 8,
                                 .order = orders_get(s->orders),
                                 .observers = list,
                                 .observer_count = count};
    return emu_launch(s->e, emu_kernel_at(s->im, 0), &l);
}

static void tear_down(struct stand *s)
{
    orders_free(s->orders);
    emu_unload(s->im);
    emu_free(s->e);
    parsed_free(s->parsed);
    free(s->text);
}

/* Whether both say the same of the kernel; *races: how many the detector found. */
static bool compare(uint64_t seed, size_t *races)
{
    struct stand s = set_up(seed, seed % 4 ? "random" : NULL, seed % 3 ? EMU_STACK : EMU_ITS);
    struct arena *arena = arena_new();
    struct plain *p = arena_alloc(arena, sizeof *p);
    struct race *race = race_new();
    const struct emu_observer *list[] = {race_observer(race), &p->observer};
    p->observer = (struct emu_observer){.self = p,
                                        .ignores_data = true,
                                        .begin = plain_begin,
                                        .access = plain_access,
                                        .sync = plain_sync};
    p->arena = arena;
    p->memory = s.memory;
    p->first_line = HEAD_LINES;
    const struct emu_report *r = launch(&s, list, 2);
    const bool stuck = r->fault.kind == EMU_BARRIER; /* an arrival was for the barrier before */
    cr_expect(!r->fault.kind || stuck, "HEDDLE_SEED=%llu: %s\n%s", (unsigned long long)seed,
              r->fault.text, s.text);
    const bool fine = agree(p, r, seed);
    if (!fine) fprintf(stderr, "%s", s.text);
    *races = r->finding_count;
    race_free(race);
    tear_down(&s);
    arena_free(arena);
    return fine;
}

/* `usual`: so many kernels without HEDDLE_PROGRAMS. */
static void compare_all(uint64_t kind, uint64_t usual)
{
    const char *more = getenv("HEDDLE_PROGRAMS"), *one = getenv("HEDDLE_SEED");
    const uint64_t count = one ? 1 : more ? strtoull(more, NULL, 10) : usual;
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t racy = 0;
    for (uint64_t i = first; i < first + count; i++) {
        size_t races = 0;
        cr_expect(compare(i | kind, &races));
        racy += races > 0;
    }
    if (!one)
        cr_expect(racy > count / 12 && racy < count * 7 / 8, "%llu of %llu race",
                  (unsigned long long)racy, (unsigned long long)count);
}

Test(race_random, kernels_race_where_a_plain_detector_says, .timeout = 3000)
{
    compare_all(0, PROGRAMS);
}

Test(race_random, locks_race_where_a_plain_detector_says, .timeout = 3000)
{
    compare_all(with_locks, PROGRAMS / 20);
}

/* ---- launches that are left out ----------------------------------------------------------------------- */

struct
    looked { /* what a launch came to, under an order or none, with the race detector or without */
    enum emu_fault_kind fault;
    bool begun; /* an observer got the launch */
    uint64_t digest;
    size_t races;
    uint32_t lines[LINES][2];
};

static void note_begin(void *self, struct emu_machine *m)
{
    (void)m;
    ((struct looked *)self)->begun = true;
}

/* `meetings`: who looks need not hear of launches whose threads do not conflict. */
static struct looked look(uint64_t seed, const char *order, bool detector, bool looks,
                          bool meetings)
{
    struct looked out = {0};
    struct stand s = set_up(seed, order, EMU_STACK);
    struct race *race = race_new();
    const struct emu_observer observer = {
        .self = &out, .ignores_data = true, .skips_conflict_free = meetings, .begin = note_begin};
    const struct emu_observer *list[2];
    size_t count = 0;
    if (detector) list[count++] = race_observer(race);
    if (looks) list[count++] = &observer;
    const struct emu_report *r = launch(&s, list, count);
    out.fault = r->fault.kind;
    out.digest = emu_digest(s.e);
    out.races = r->finding_count;
    for (size_t i = 0; i < out.races && i < LINES; i++) {
        out.lines[i][0] = r->findings[i].line;
        out.lines[i][1] = r->findings[i].line2;
    }
    race_free(race);
    tear_down(&s);
    return out;
}

/* A launch without the detector has the same races, none, and leaves what any order leaves. One without its order
 * leaves what it would have. */
Test(race_random, kernels_are_the_same_without_observers, .timeout = 3000)
{
    const char *more = getenv("HEDDLE_PROGRAMS"), *one = getenv("HEDDLE_SEED");
    const uint64_t count = one ? 1 : more ? strtoull(more, NULL, 10) : PROGRAMS;
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t left_out = 0;
    for (uint64_t i = first; i < first + count; i++) {
        const unsigned seed = (unsigned)i;
        const struct looked all = look(i, NULL, true, true, false),
                            some = look(i, NULL, true, true, true);
        cr_expect_eq(all.fault, some.fault, "HEDDLE_SEED=%u", seed);
        cr_expect_eq(all.races, some.races, "HEDDLE_SEED=%u: %zu, %zu races", seed, all.races,
                     some.races);
        cr_expect_arr_eq(all.lines, some.lines, sizeof all.lines, "HEDDLE_SEED=%u", seed);
        cr_expect_eq(all.digest, some.digest, "HEDDLE_SEED=%u", seed);
        if (all.fault) continue;
        if (!some.begun) {
            left_out++;
            cr_expect_eq(all.races, 0, "HEDDLE_SEED=%u", seed);
            cr_expect_eq(look(i, "random", false, true, false).digest, all.digest,
                         "HEDDLE_SEED=%u: random", seed);
        }
        const struct looked order = look(i, "gpudet", false, true, false),
                            none = look(i, "gpudet", false, false, false);
        cr_expect_eq(order.fault, none.fault, "HEDDLE_SEED=%u: gpudet", seed);
        cr_expect_eq(order.digest, none.digest, "HEDDLE_SEED=%u: gpudet", seed);
    }
    if (!one)
        cr_expect(left_out > count / 16, "%llu of %llu are left out", (unsigned long long)left_out,
                  (unsigned long long)count);
}

/* Found by running many: 23310, a word that lanes at two times read in turns; 8665, lanes that release at a word in
 * turns, and then write it relaxed in turns. */
Test(race_random, kernels_that_once_were_judged_wrongly)
{
    static const uint64_t seeds[] = {23310, 8665};
    size_t races;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) cr_expect(compare(seeds[i], &races));
}
