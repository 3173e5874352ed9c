/* What launches count, against numbers worked out by hand, and against slow obvious references. */
#include <criterion/criterion.h>
#include <time.h>

#include "emu/cta_arena.h"
#include "emu/device/device.h"
#include "emu/gpu.h"
#include "emu/measure/cache.h"
#include "emu/measure/count.h"
#include "emu/trace.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one access ------------------------------------------------------------------------------------- */

static uint64_t seed = 1;
static uint32_t random32(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static unsigned distinct(const uint64_t *v, unsigned n)
{
    unsigned d = 0;
    for (unsigned i = 0; i < n; i++) {
        bool seen = false;
        for (unsigned k = 0; k < i; k++) seen |= v[k] == v[i];
        d += !seen;
    }
    return d;
}

/* Blocks of `unit` bytes that the lanes touch. */
static unsigned touched(const uint64_t *at, uint32_t mask, uint32_t size, unsigned unit)
{
    uint64_t list[32 * 64];
    unsigned n = 0;
    for (unsigned l = 0; l < 32; l++)
        for (uint32_t b = 0; mask >> l & 1 && b < size; b++)
            if (b == 0 || (at[l] + b) % unit == 0) list[n++] = (at[l] + b) / unit;
    return distinct(list, n);
}

/* `whole`: all lanes at once, however many words they want. One element for all is broadcast by 32 banks at once. */
static unsigned bank_passes_by(const uint64_t *at, uint32_t mask, uint32_t size, bool atomic,
                               unsigned banks, bool whole)
{
    const bool broadcast = banks == 32 && !atomic && touched(at, mask, 1, size) == 1;
    unsigned words = size < 4 ? 1 : size / 4, total = 0;
    const unsigned lanes = whole || broadcast ? 32 : banks / words;
    for (unsigned first = 0; first < 32; first += lanes) {
        unsigned most = 0;
        for (unsigned bank = 0; bank < banks; bank++) {
            uint64_t list[32 * 8];
            unsigned n = 0;
            for (unsigned l = first; l < first + lanes; l++)
                for (unsigned w = 0; mask >> l & 1 && w < words; w++)
                    if ((at[l] / 4 + w) % banks == bank) list[n++] = at[l] / 4 + w;
            unsigned d = atomic ? n : distinct(list, n);
            if (d > most) most = d;
        }
        total += most;
    }
    return total;
}

static unsigned bank_passes(const uint64_t *at, uint32_t mask, uint32_t size, bool atomic,
                            unsigned banks)
{
    return bank_passes_by(at, mask, size, atomic, banks, false);
}

struct access {
    uint64_t at[32];
    uint32_t mask, size;
};

static struct access random_access(uint64_t base, uint64_t range)
{
    struct access a = {.mask = random32() % 3 ? ~0u : random32() << 1 ^ random32(),
                       .size = 1u << random32() % 5};
    uint64_t stride = (random32() % 3 ? 1 + random32() % 40 : 0) * a.size;
    unsigned kind = random32() % 5;
    uint64_t start = random32() % (range / 2) / a.size * a.size;
    if (!a.mask) a.mask = 1;
    for (unsigned l = 0; l < 32; l++) {
        uint64_t x = kind == 0   ? random32() % range
                     : kind == 1 ? random32() % 256
                     : kind == 2 ? start + (31 - l) * stride
                     : kind == 3 ? start + l / 8 * 1024 + l % 8 * a.size
                                 : start + l * stride;
        a.at[l] = base + x % range / a.size * a.size;
    }
    return a;
}

static struct cache_port noted; /* what count_once noted for the caches */

static bool narrow_banks;           /* of the machine of count_once */
static bool shares_by_warp;         /* likewise: its GPU is one since Hopper */
static struct trace_cta *recording; /* what it goes into; NULL: nothing */

static struct emu_site count_once(const struct emu_counting *c, const struct access *a,
                                  unsigned space, unsigned how)
{
    struct emu_site sites[2] = {0};
    struct emu emu = {.gpu = emu_gpu_find(shares_by_warp ? "h200" : "v100")};
    struct emu_machine machine = {.emu = &emu, .counting = c, .narrow_banks = narrow_banks};
    static uint8_t who[8192 / 4];
    struct emu_worker worker = {
        .machine = &machine, .sites = sites, .port = &noted, .who = who, .trace = recording};
    struct emu_group g = {.worker = &worker};
    struct emu_uop in = {.site = 1};
    noted.count = 0;
    if (how == COUNT_ATOMIC && a->mask == ~0u && (a->size == 4 || a->size == 8)) {
        uint32_t at[32]; /* there is a way of its own for these */
        for (unsigned l = 0; l < 32; l++) at[l] = (uint32_t)a->at[l];
        c->shared_atomics(&g, &in, 0, at, a->size);
        if (random32() % 2) return sites[1];
        sites[1] = (struct emu_site){0};
    }
    emu_count_lanes(&g, &in, 0, a->at, a->mask, a->size, space, how);
    return sites[1];
}

static const enum emu_isa isas[] = {EMU_ISA_PORTABLE, EMU_ISA_AVX2, EMU_ISA_AVX512};
enum { ISAS = sizeof isas / sizeof *isas };

/* NULL: this host, or this build, does not have it, and uses one that stands before it. */
static const struct emu_counting *counting(size_t i)
{
    const struct emu_counting *c = device_handlers(isas[i]).counting;
    for (size_t k = 0; k < i; k++)
        if (device_handlers(isas[k]).counting == c) return NULL;
    return c;
}

Test(emu_counts, sectors_and_lines_of_any_access)
{
    for (size_t i = 0; i < ISAS; i++)
        for (int n = 0; counting(i) && n < 20000; n++) {
            struct access a = random_access(MEM_GLOBAL, 16384);
            struct emu_site s = count_once(counting(i), &a, PTX_SPACE_GLOBAL, COUNT_LOAD);
            unsigned lanes = (unsigned)__builtin_popcount(a.mask);
            cr_assert(s.sectors == touched(a.at, a.mask, a.size, 32) &&
                          s.lines == touched(a.at, a.mask, a.size, 128) && s.warps == 1 &&
                          s.lanes == lanes && s.bytes == lanes * a.size,
                      "way %zu, access %d of %u bytes: %llu sectors, %llu lines", i, n, a.size,
                      (unsigned long long)s.sectors, (unsigned long long)s.lines);
        }
}

/* Each sector once, lane by lane; lanes side by side that want the same line want it together. */
Test(emu_counts, accesses_go_to_the_caches_line_by_line)
{
    for (size_t i = 0; i < ISAS; i++)
        for (int n = 0; counting(i) && n < 20000; n++) {
            struct access a = random_access(MEM_GLOBAL, n % 2 ? 2048 : 16384);
            count_once(counting(i), &a, PTX_SPACE_GLOBAL, COUNT_STORE);
            uint64_t expected[32], seen[32];
            unsigned lanes = 0, lines = 0;
            for (unsigned l = 0; l < 32; l++) {
                const uint64_t sector = (a.at[l] - MEM_GLOBAL) / 32;
                seen[lanes] = sector;
                if (!(a.mask >> l & 1) || distinct(seen, lanes + 1) != lanes + 1) continue;
                if (!lanes++ || CACHE_REQUEST_LINE(expected[lines - 1]) != sector / 4)
                    expected[lines++] = CACHE_REQUEST(1, COUNT_STORE, sector / 4, 0);
                expected[lines - 1] |= 1u << sector % 4;
            }
            cr_assert(noted.count == lines &&
                          memcmp(noted.requests, expected, lines * sizeof *expected) == 0,
                      "way %zu, access %d: %zu lines, not %u", i, n, noted.count, lines);
        }
}

Test(emu_counts, passes_over_banks_of_any_access)
{
    for (size_t i = 0; i < ISAS; i++)
        for (int n = 0; counting(i) && n < 20000; n++) {
            struct access a = random_access(0, 8192);
            bool atomic = random32() % 3 == 0;
            narrow_banks = random32() % 4 == 0;
            shares_by_warp = random32() % 2;
            struct emu_site s = count_once(counting(i), &a, PTX_SPACE_SHARED,
                                           atomic ? COUNT_ATOMIC : COUNT_LOAD);
            uint64_t of[32];
            unsigned lanes = 0;
            for (unsigned l = 0; l < 32; l++)
                if (a.mask >> l & 1) of[lanes++] = a.at[l];
            unsigned expected = bank_passes_by(a.at, a.mask, a.size, atomic, narrow_banks ? 16 : 32,
                                               shares_by_warp && !narrow_banks && !atomic &&
                                                   (a.size == 8 || a.size == 16 || a.size == 32));
            cr_assert(s.bank_conflict_passes == expected && s.shared == 1 &&
                          s.shared_lanes == lanes,
                      "way %zu, access %d of %u bytes: %llu passes, not %u", i, n, a.size,
                      (unsigned long long)s.bank_conflict_passes, expected);
            if (atomic) cr_assert(s.extra == lanes - distinct(of, lanes), "access %d", n);
            narrow_banks = shares_by_warp = false;
        }
}

/* What emu/measure/count.h says of regular accesses is what emu/measure/simd_count.c counts lane by lane. */
Test(emu_counts, passes_of_regular_accesses_by_both_ways)
{
    for (size_t i = 0; i < ISAS; i++)
        for (int n = 0; counting(i) && n < 20000; n++) {
            const bool same = random32() % 2, halves = random32() % 2;
            struct access a = {.mask = ~0u, .size = halves ? 4 : 1u << random32() % 6};
            const uint64_t near = random32() % 2 ? 512 : 8192 - 32 * 32;
            const uint64_t first = random32() % near / a.size * a.size,
                           second = random32() % near / a.size * a.size;
            for (unsigned l = 0; l < 32; l++)
                a.at[l] = !halves ? first + (same ? 0 : l * a.size)
                                  : (l < 16 ? first : second) + (same ? 0 : l % 16 * a.size);
            if (!halves && same && random32() % 2) a.mask = random32() | 1;
            shares_by_warp = random32() % 2;
            const struct emu_site s = count_once(counting(i), &a, PTX_SPACE_SHARED, COUNT_LOAD);
            const unsigned regular = halves ? bank_conflict_passes_of_halves(first, second,
                                                                             same ? 1 : 16)
                                            : bank_conflict_passes_of_run(a.size, same);
            cr_assert(s.bank_conflict_passes == regular,
                      "way %zu, access %d of %u bytes%s%s%s: %llu passes lane by lane, %u", i, n,
                      a.size, halves ? ", halves" : "", same ? ", one element" : "",
                      shares_by_warp ? ", since 9.0" : "",
                      (unsigned long long)s.bank_conflict_passes, regular);
        }
    shares_by_warp = false;
}

Test(emu_counts, a_trace_says_how_many_lanes_want_one_element)
{
    struct cta_arena *arenas = cta_arena_new();
    struct trace_arena arena;
    struct trace_warp warp = {.on = true};
    struct trace_cta cta = {.arena = &arena, .warps = &warp, .warp_count = 1};
    trace_arena_begin(&arena, arenas);
    recording = &cta;
    for (size_t i = 0; i < ISAS; i++)
        for (int n = 0; counting(i) && n < 20000; n++) {
            struct access a = random_access(0, n % 2 ? 64 : 8192);
            const unsigned shift = a.size == 1 ? 0 : a.size == 2 ? 1 : 2;
            unsigned most = 0, of_lane[32] = {0};
            for (unsigned l = 0; l < 32; l++)
                for (unsigned k = 0; a.mask >> l & 1 && k < 32; k++)
                    of_lane[l] += a.mask >> k & 1 && a.at[k] >> shift == a.at[l] >> shift;
            for (unsigned l = 0; l < 32; l++) most = of_lane[l] > most ? of_lane[l] : most;
            warp.count = 0;
            count_once(counting(i), &a, PTX_SPACE_SHARED, COUNT_ATOMIC);
            cr_assert(warp.count && TRACE_SIZE_ROUNDS(warp.words[warp.count - 1]) == most,
                      "way %zu, access %d of %u bytes: not %u rounds", i, n, a.size, most);
        }
    recording = NULL;
    cta_arena_free(arenas);
}

Test(emu_counts, generic_accesses_by_the_space_they_reach)
{
    for (size_t i = 0; i < ISAS; i++) {
        if (!counting(i)) continue;
        struct access a = {.mask = 0xfffffff0, .size = 4};
        for (unsigned l = 0; l < 32; l++)
            a.at[l] = l < 8 ? MEM_SHARED + 128 * l : l < 16 ? MEM_LOCAL + 8 : MEM_GLOBAL + 32 * l;
        struct emu_site s = count_once(counting(i), &a, PTX_SPACE_GENERIC, COUNT_STORE);
        cr_expect(s.shared == 1 && s.shared_lanes == 4 && s.bank_conflict_passes == 4);
        cr_expect(s.local == 1 && s.local_lanes == 8 && s.local_sectors == 4);
        cr_expect(s.sectors == 16 && s.lines == 4 && s.bytes == 64 && s.lanes == 28);
    }
}

/* ---- caches ----------------------------------------------------------------------------------------- */

enum { WAYS = 16, SETS = 4, MOST_LINES = 400000 };
struct naive_cache { /* lines by age, the youngest first */
    struct {
        uint32_t line;
        unsigned valid, dirty;
    } way[SETS][WAYS];
    unsigned used[SETS], ways;
};

static unsigned ones(unsigned x)
{
    return (unsigned)__builtin_popcount(x);
}

/* Brings the line to the front; dirty sectors of one that has to go are added to *written. */
static unsigned naive_find(struct naive_cache *c, uint32_t line, uint64_t *written)
{
    unsigned s = (unsigned)((uint64_t)(line * 0x9e3779b1u) * SETS >> 32), i = 0;
    while (i < c->used[s] && c->way[s][i].line != line) i++;
    bool hit = i < c->used[s];
    if (!hit && c->used[s] == c->ways) *written += ones(c->way[s][--i].dirty);
    if (!hit && c->used[s] < c->ways) c->used[s]++;
    __typeof__(c->way[0][0]) it = c->way[s][i];
    memmove(&c->way[s][1], &c->way[s][0], i * sizeof it);
    if (!hit) it.line = line, it.valid = it.dirty = 0;
    c->way[s][0] = it;
    return s;
}

static void naive_l2(struct naive_cache *c, struct cache_events *e, uint32_t line, unsigned sectors,
                     unsigned how)
{
    unsigned s = naive_find(c, line, &e->dram_writes);
    unsigned had = ones(c->way[s][0].valid & sectors), all = ones(sectors);
    if (how == COUNT_STORE) e->l2_stores += all;
    else if (how == COUNT_ATOMIC) e->l2_atomics += all;
    else e->l2_loads += all, e->l2_load_hits += had;
    if (how != COUNT_STORE) e->dram_reads += all - had;
    c->way[s][0].valid |= sectors;
    if (how == COUNT_STORE || how == COUNT_ATOMIC) c->way[s][0].dirty |= sectors;
}

static void compare_with_a_list_by_age(cache_carry_out *way, unsigned ways)
{
    bool begun[2] = {0};
    struct cache *l1[2] = {0};
    struct cache_events sm[2] = {{0}}, site[3] = {{0}}, expected[2] = {{0}};
    struct caches caches = {.l1_bytes = WAYS * SETS * LINE,
                            .sms = 2,
                            .l1 = l1,
                            .l1_begun = begun,
                            .carry_out = way,
                            .l2 = cache_new(ways * SETS * LINE, ways),
                            .sm = sm,
                            .site = site,
                            .site_count = 3};
    struct naive_cache naive1[2] = {{.ways = WAYS}, {.ways = WAYS}}, naive2 = {.ways = ways};
    struct cta_arena *arenas = cta_arena_new();
    struct trace_arena arena;
    trace_arena_begin(&arena, arenas);
    struct trace_cta traces[2] = {{.arena = &arena}, {.arena = &arena}};
    struct cache_port ports[2] = {{.caches = &caches, .trace = &traces[0]},
                                  {.caches = &caches, .sm = 1, .trace = &traces[1]}};
    struct trace_line *listed[2] = {calloc(MOST_LINES, sizeof **listed),
                                    calloc(MOST_LINES, sizeof **listed)};
    unsigned p = 0, how = 0, traced = 0, count[2] = {0};
    for (int n = 0; n < 200000; n++) {
        if (random32() % 100 == 0) { /* the other one's turn; now and then what it does must wait */
            cache_resolve(&ports[p]);
            p = !p;
            ports[p].now = random32() % 3;
        }
        if (random32() % 3 == 0) how = random32() % 4;
        if (random32() % 100 == 0) traced = random32() % 4;
        if (traced && random32() % 50 == 0) { /* .local memory */
            const unsigned sectors = random32() % 15 + 1;
            *cache_reserve(&ports[p]) = CACHE_REQUEST(1, 0, n, sectors) | CACHE_REQUEST_TRACED |
                                        CACHE_REQUEST_UNCACHED;
            cache_queued(&ports[p], 1);
            listed[p][count[p]++] = (struct trace_line){.line = (uint32_t)n,
                                                        .sectors = (uint8_t)sectors,
                                                        .how = TRACE_UNCACHED,
                                                        .from_l2 = (uint8_t)ones(sectors)};
        }
        uint32_t first = random32() % (n / 20000 * 60 + 40),
                 last = first + (random32() % 4 ? 0 : random32() % 9);
        const size_t lines = cache_run(&ports[p],
                                       CACHE_REQUEST(1 + n / 8 % 2, how, 0, 0) |
                                           (traced ? CACHE_REQUEST_TRACED : 0),
                                       first, last);
        cr_expect(lines == last / 4 - first / 4 + 1);
        for (uint32_t line = first / 4; line <= last / 4; line++) {
            unsigned sectors = 0;
            for (uint32_t x = first; x <= last; x++)
                if (x / 4 == line) sectors |= 1u << x % 4;
            struct cache_events *e = &expected[p], was = *e;
            struct trace_line *t = &listed[p][count[p]];
            if (traced) count[p]++;
            *t = (struct trace_line){
                .line = line, .sectors = (uint8_t)sectors, .how = (uint8_t)how};
            if (how == COUNT_LOAD) {
                uint64_t none = 0;
                unsigned s = naive_find(&naive1[p], line, &none);
                unsigned misses = sectors & ~naive1[p].way[s][0].valid;
                naive1[p].way[s][0].valid |= sectors;
                e->l1 += ones(sectors);
                e->l1_hits += ones(sectors) - ones(misses);
                if (misses) naive_l2(&naive2, e, line, misses, COUNT_LOAD);
                t->from_l2 = (uint8_t)ones(misses);
                t->from_dram = (uint8_t)(e->dram_reads - was.dram_reads);
                continue;
            }
            unsigned s = (unsigned)((uint64_t)(line * 0x9e3779b1u) * SETS >> 32);
            for (unsigned i = 0; how == COUNT_ATOMIC && i < naive1[p].used[s]; i++)
                if (naive1[p].way[s][i].line == line) naive1[p].way[s][i].valid &= ~sectors;
            naive_l2(&naive2, e, line, sectors, how);
            t->from_l2 = how == COUNT_STORE ? 0 : (uint8_t)ones(sectors);
            t->from_dram = (uint8_t)(e->dram_reads - was.dram_reads);
        }
        cr_assert(count[p] < MOST_LINES - 4);
    }
    cache_resolve(&ports[p]);
    for (p = 0; p < 2; p++) {
        cr_expect(memcmp(&sm[p], &expected[p], sizeof sm[p]) == 0,
                  "SM %u: %llu of %llu hits in L1, not %llu of %llu", p,
                  (unsigned long long)sm[p].l1_hits, (unsigned long long)sm[p].l1,
                  (unsigned long long)expected[p].l1_hits, (unsigned long long)expected[p].l1);
        cr_expect(traces[p].resolved == count[p] && count[p] > 10000 &&
                      memcmp(traces[p].lines, listed[p], count[p] * sizeof **listed) == 0,
                  "SM %u: what %u notes came to", p, count[p]);
        free(ports[p].requests);
        free(listed[p]);
        cache_free(l1[p]);
    }
    cr_expect(site[1].l1 + site[2].l1 == sm[0].l1 + sm[1].l1 && site[0].l1 == 0);
    cache_free(caches.l2);
    cta_arena_free(arenas);
}

Test(emu_counts, caches_do_what_a_list_by_age_does)
{
    for (size_t i = 0; i < ISAS; i++)
        for (unsigned ways = 1; counting(i) && ways <= WAYS; ways += 5)
            compare_with_a_list_by_age(counting(i)->carry_out, ways);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

#define EXPECT(name, value)                                                                        \
    cr_expect(emu_counted(&r, name) == (value), "%s: %llu, not %llu", name,                        \
              (unsigned long long)emu_counted(&r, name), (unsigned long long)(value))

/* y[i] = 2 x[i] for i < n: 100 of 128 threads, in two CTAs of two warps. */
Test(emu_counts, a_kernel_with_a_guarded_tail)
{
    float x[100], y[100];
    for (int i = 0; i < 100; i++) x[i] = (float)i;
    struct emu_run r = {.grid = 2, .block = 64, .config = {.count = true, .caches = true}};
    r.ptx = emu_ptx(".param .u64 x, .param .u64 y",
                    ".reg .u64 %d<5>; .reg .u32 %r<5>; .reg .f32 %f<3>; .reg .pred %p1;\n"
                    "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];\n"
                    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 64, %r2;\n"
                    "setp.ge.u32 %p1, %r3, 100; @%p1 bra END;\n"
                    "mul.wide.u32 %d3, %r3, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n"
                    "ld.global.f32 %f1, [%d1]; add.f32 %f2, %f1, %f1; st.global.f32 [%d2], %f2;\n"
                    "END: ret;");
    r.args[0] = emu_in(&r, x, sizeof x);
    r.args[1] = emu_out(&r, y, sizeof y);
    cr_assert(emu_run(&r), "%s", r.fault);
    EXPECT("ctas", 2);
    EXPECT("instructions.warp", 4 * (7 + 6 + 1)); /* the last warp has 4 threads below 100 */
    EXPECT("instructions.thread", 128 * 7 + 100 * 6 + 128);
    EXPECT("instructions.guarded_off", 0); /* a branch is carried out by all lanes */
    EXPECT("branches.warp", 4);
    EXPECT("branches.divergent", 1);
    EXPECT("memory.global.load.warp", 4);
    EXPECT("memory.global.load.thread", 100);
    EXPECT("memory.global.load.bytes", 400);
    EXPECT("memory.global.load.sectors", 3 * 4 + 1);
    EXPECT("memory.global.load.lines", 4);
    EXPECT("memory.global.store.sectors", 13);
    EXPECT("cache.l1.sectors", 13);
    EXPECT("cache.l1.hits", 0);
    EXPECT("cache.l2.load_sectors", 13);
    EXPECT("cache.l2.store_sectors", 13);
    EXPECT("dram.read_sectors", 13);
    EXPECT("instructions.float.warp", 4);
    EXPECT("instructions.float.thread", 100);
    EXPECT("instructions.memory.thread", 2 * 128 + 200); /* ld.param is one, too */
}

/* A warp that loads 16 columns of two rows, or one number of each. */
Test(emu_counts, two_rows_of_a_tile)
{
    static const struct {
        uint32_t start, pitch, step;
    } tiles[] = {{0, 1024, 4}, {16, 1024, 4}, {96, 1024, 4}, {0, 32, 4},  {0, 96, 4},  {0, 128, 4},
                 {64, 64, 4},  {32, 68, 4},   {0, 1024, 0},  {0, 128, 0}, {124, 4, 0}, {0, 32, 0}};
    static uint32_t x[1024], out;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        char body[600];
        sprintf(
            body,
            ".reg .u64 %%d<3>; .reg .u32 %%r<5>;\n"
            "ld.param.u64 %%d1, [x]; mov.u32 %%r1, %%tid.x; and.b32 %%r2, %%r1, 15;\n"
            "shr.u32 %%r1, %%r1, 4; mul.lo.u32 %%r1, %%r1, %u; mad.lo.u32 %%r1, %%r2, %u, %%r1;\n"
            "cvt.u64.u32 %%d2, %%r1; add.u64 %%d1, %%d1, %%d2; ld.global.u32 %%r3, [%%d1+%u];\n"
            "ld.param.u64 %%d1, [out]; st.global.u32 [%%d1], %%r3; ret;",
            tiles[i].pitch, tiles[i].step, tiles[i].start);
        struct emu_run r = {.block = 32, .config = {.count = true, .caches = true}};
        r.ptx = emu_ptx(".param .u64 x, .param .u64 out", body);
        r.args[0] = emu_in(&r, x, sizeof x);
        r.args[1] = emu_out(&r, &out, sizeof out);
        cr_assert(emu_run(&r), "%s", r.fault);
        uint64_t at[32];
        for (uint32_t l = 0; l < 32; l++)
            at[l] = tiles[i].start + l / 16 * tiles[i].pitch + l % 16 * tiles[i].step;
        EXPECT("memory.global.load.bytes", 128);
        EXPECT("memory.global.load.sectors", touched(at, ~0u, 4, 32));
        EXPECT("memory.global.load.lines", touched(at, ~0u, 4, 128));
        EXPECT("cache.l1.sectors", touched(at, ~0u, 4, 32));
    }
}

/* The same in shared memory, where each half may have a bank in common with the other; a Quadro FX 5800 has 16. */
static void two_rows(const char *gpu, unsigned banks)
{
    static const struct {
        uint32_t start, pitch, step; /* elements */
    } tiles[] = {{0, 64, 1}, {3, 16, 1}, {8, 24, 1}, {0, 17, 1}, {1, 33, 1}, {0, 72, 1},
                 {0, 1, 0},  {2, 3, 0},  {0, 32, 0}, {5, 64, 0}, {0, 16, 0}, {7, 128, 0}};
    uint32_t out;
    for (uint32_t size = 1; size <= 8; size *= 2)
        for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
            char body[600];
            sprintf(
                body,
                ".reg .u64 %%d<3>; .reg .u32 %%r<5>; .shared .align 16 .b8 s[2048];\n"
                "mov.u32 %%r1, %%tid.x; and.b32 %%r2, %%r1, 15;\n"
                "shr.u32 %%r1, %%r1, 4; mul.lo.u32 %%r1, %%r1, %u; mad.lo.u32 %%r1, %%r2, %u, %%r1;\n"
                "cvt.u64.u32 %%d2, %%r1; mov.u32 %%r3, s; add.u32 %%r1, %%r1, %%r3;\n"
                "st.shared.u%u [%%r1+%u], %%d2; ld.shared.u%u %%d2, [%%r1+%u];\n"
                "ld.param.u64 %%d1, [out]; st.global.u32 [%%d1], %%d2; ret;",
                tiles[i].pitch * size, tiles[i].step * size, 8 * size, tiles[i].start * size,
                8 * size, tiles[i].start * size);
            struct emu_run r = {.block = 32, .config = {.count = true, .gpu = emu_gpu_find(gpu)}};
            r.ptx = emu_ptx(".param .u64 out", body);
            r.args[0] = emu_out(&r, &out, sizeof out);
            cr_assert(emu_run(&r), "%s", r.fault);
            uint64_t at[32];
            for (uint32_t l = 0; l < 32; l++)
                at[l] = (tiles[i].start + l / 16 * tiles[i].pitch + l % 16 * tiles[i].step) * size;
            EXPECT("memory.shared.store.passes", bank_passes(at, ~0u, size, false, banks));
            EXPECT("memory.shared.load.passes", bank_passes(at, ~0u, size, false, banks));
        }
}

Test(emu_counts, two_rows_of_a_tile_in_shared_memory)
{
    two_rows("v100", 32);
    two_rows("quadrofx5800", 16);
}

/* Lanes copy 4, 8 or 16 bytes each, side by side or not, from the beginning of a line or not. */
Test(emu_counts, copies_by_cp_async_are_loads)
{
    static uint32_t x[1024], y[32];
    static const struct {
        uint32_t size, from, step, mask, late, late_to; /* of lanes from 24 on */
    } copies[] = {
        {16, 0, 16, ~0u, 0, 0},      {16, 16, 16, ~0u, 0, 0}, {8, 24, 8, ~0u, 0, 0},
        {4, 100, 4, ~0u, 0, 0},      {16, 0, 32, ~0u, 0, 0},  {16, 0, 16, 0x7fffffff, 0, 0},
        {4, 4, 4, 0xfffffffe, 0, 0}, {16, 0, 16, ~0u, 32, 0}, {4, 0, 4, ~0u, 0, 64}};
    for (uint32_t i = 0; i < 1024; i++) x[i] = i;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        const uint32_t size = copies[i].size, mask = copies[i].mask;
        char body[1000];
        sprintf(
            body,
            ".reg .u64 %%d<4>; .reg .u32 %%r<8>; .reg .pred %%p<3>;\n"
            ".shared .align 128 .b8 s[2048];\n"
            "ld.param.u64 %%d1, [x]; ld.param.u64 %%d2, [y]; mov.u32 %%r1, %%tid.x;\n"
            "mul.wide.u32 %%d3, %%r1, %u; add.u64 %%d3, %%d3, %%d1;\n"
            "mov.u32 %%r2, s; mad.lo.u32 %%r3, %%r1, %u, %%r2; shr.u32 %%r4, %u, %%r1;\n"
            "and.b32 %%r4, %%r4, 1; setp.ne.u32 %%p1, %%r4, 0; setp.ge.u32 %%p2, %%r1, 24;\n"
            "@%%p2 add.u64 %%d3, %%d3, %u; @%%p2 add.u32 %%r3, %%r3, %u;\n"
            "@%%p1 cp.async.ca.shared.global [%%r3], [%%d3+%u], %u, %u;\n"
            "cp.async.commit_group; cp.async.wait_all; bar.sync 0; mul.wide.u32 %%d3, %%r1, 4;\n"
            "add.u64 %%d3, %%d3, %%d2; ld.shared.u32 %%r5, [%%r3]; st.global.u32 [%%d3], %%r5; ret;",
            copies[i].step, size, mask, copies[i].late, copies[i].late_to, copies[i].from, size,
            size);
        /* the second CTA finds the memory that the first has found */
        struct emu_run r = {.grid = 2, .block = 32, .config = {.count = true, .caches = true}};
        r.ptx = emu_ptx(".param .u64 x, .param .u64 y", body);
        r.args[0] = emu_in(&r, x, sizeof x);
        r.args[1] = emu_out(&r, y, sizeof y);
        cr_assert(emu_run(&r), "%s", r.fault);
        uint64_t at[32];
        uint32_t lanes = 0;
        for (uint32_t l = 0; l < 32; l++) {
            at[l] = copies[i].from + l * copies[i].step + (l < 24 ? 0 : copies[i].late);
            lanes += mask >> l & 1;
            if (mask >> l & 1) cr_assert(y[l] == at[l] / 4, "copy %zu, lane %u: %u", i, l, y[l]);
        }
        EXPECT("memory.global.load.warp", 2);
        EXPECT("memory.global.load.bytes", 2 * lanes * size);
        EXPECT("memory.global.load.sectors", 2 * touched(at, mask, size, 32));
        EXPECT("memory.global.load.lines", 2 * touched(at, mask, size, 128));
        EXPECT("cache.l1.sectors", 2 * touched(at, mask, size, 32));
    }
}

/* Lanes whose source is ignored, or of no bytes, access no global memory (CUDA's copies of what lies outside of a matrix). */
Test(emu_counts, copies_of_zeros_are_no_loads)
{
    static const char *const zeros[] = {", 16, %p2;", ", 16, %r4;"};
    static uint32_t x[128], y[128];
    for (uint32_t i = 0; i < 128; i++) x[i] = i + 1;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        for (uint32_t from = 0; from <= 32; from += 16) { /* lanes from here on read nothing */
            char body[1000];
            sprintf(
                body,
                ".reg .u64 %%d<4>; .reg .u32 %%r<9>; .reg .pred %%p<3>; .shared .align 16 .b8 s[512];\n"
                "ld.param.u64 %%d1, [x]; ld.param.u64 %%d2, [y]; mov.u32 %%r1, %%tid.x;\n"
                "mul.wide.u32 %%d3, %%r1, 16; add.u64 %%d1, %%d1, %%d3; add.u64 %%d2, %%d2, %%d3;\n"
                "mov.u32 %%r2, s; mad.lo.u32 %%r3, %%r1, 16, %%r2; setp.ge.u32 %%p2, %%r1, %u;\n"
                "selp.b32 %%r4, 0, 16, %%p2; cp.async.cg.shared.global [%%r3], [%%d1]%s\n"
                "cp.async.wait_all; ld.shared.v4.u32 {%%r5,%%r6,%%r7,%%r8}, [%%r3];\n"
                "st.global.v4.u32 [%%d2], {%%r5,%%r6,%%r7,%%r8}; ret;",
                from, zeros[i]);
            struct emu_run r = {.grid = 1, .block = 32, .config = {.count = true}};
            r.ptx = emu_ptx(".param .u64 x, .param .u64 y", body);
            r.args[0] = emu_in(&r, x, sizeof x);
            r.args[1] = emu_out(&r, y, sizeof y);
            cr_assert(emu_run(&r), "%s", r.fault);
            for (uint32_t k = 0; k < 128; k++) cr_expect_eq(y[k], k / 4 < from ? x[k] : 0);
            EXPECT("memory.global.load.bytes", from * 16);
            EXPECT("memory.global.load.sectors", from / 2);
        }
}

/* One lane copies 2 KB from global memory to shared, and 1 KB of it back. */
Test(emu_counts, bulk_copies_are_accesses_to_global_memory)
{
    static uint32_t x[512], y[256];
    struct emu_run r = {.block = 32, .config = {.count = true, .caches = true}};
    for (uint32_t i = 0; i < 512; i++) x[i] = i;
    r.ptx = emu_ptx(
        ".param .u64 x, .param .u64 y",
        ".reg .u64 %d<3>; .reg .u32 %r<5>; .reg .pred %p<3>; .reg .b64 %n;\n"
        ".shared .align 128 .b8 s[2048]; .shared .align 8 .b64 bar;\n"
        "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %tid.x;\n"
        "mov.u32 %r2, s; mov.u32 %r3, bar; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n"
        "mbarrier.init.shared.b64 [%r3], 1;\n"
        "mbarrier.arrive.expect_tx.shared.b64 %n, [%r3], 2048;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1],"
        " 2048, [%r3];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0; @!%p2 bra W;\n"
        "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r2], 1024;\n"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END: ret;");
    r.args[0] = emu_in(&r, x, sizeof x);
    r.args[1] = emu_out(&r, y, sizeof y);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 256; i++) cr_assert(y[i] == i);
    EXPECT("memory.global.load.warp", 1);
    EXPECT("memory.global.load.bytes", 2048);
    EXPECT("memory.global.load.sectors", 64);
    EXPECT("memory.global.store.bytes", 1024);
    EXPECT("memory.global.store.sectors", 32);
    EXPECT("cache.l1.sectors", 0);
    EXPECT("cache.l2.load_sectors", 64);
    EXPECT("cache.l2.store_sectors", 32);
}

Test(emu_counts, guards_switch_lanes_off)
{
    uint32_t out[32];
    struct emu_run r = {.block = 32, .config = {.count = true}};
    r.ptx = emu_ptx(".param .u64 out",
                    ".reg .u64 %d<3>; .reg .u32 %r<4>; .reg .pred %p1;\n"
                    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
                    "add.u64 %d1, %d1, %d2; setp.lt.u32 %p1, %r1, 5; mov.u32 %r2, 0;\n"
                    "@%p1 add.u32 %r2, %r1, 7; @!%p1 xor.b32 %r2, %r1, 7;\n"
                    "@%p1 st.global.u32 [%d1], %r2; ret;");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    EXPECT("instructions.warp", 10);
    EXPECT("instructions.thread", 320);
    EXPECT("instructions.guarded_off", 27 + 5 + 27);
    EXPECT("instructions.integer.thread",
           32 * 4 - 27 - 5); /* add, setp; add and xor under guards */
    EXPECT("memory.global.store.thread", 5);
    EXPECT("memory.global.store.sectors", 1);
}

Test(emu_counts, shared_memory_atomics_barriers_and_calls)
{
    uint32_t out[64];
    struct emu_run r = {.block = 64, .config = {.count = true}};
    r.ptx = ".version 8.7\n.target sm_90\n.address_size 64\n"
            ".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }\n"
            ".visible .entry k(.param .u64 out) {\n"
            ".shared .align 4 .b8 s[8192];\n"
            ".reg .u64 %d<4>; .reg .u32 %r<8>;\n"
            "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;\n"
            "mad.lo.u32 %r3, %r1, 8, %r2; st.shared.u32 [%r3], %r1;\n"   /* every second word */
            "mad.lo.u32 %r4, %r1, 128, %r2; ld.shared.u32 %r5, [%r4];\n" /* one bank for all */
            "bar.sync 0;\n"
            "and.b32 %r6, %r1, 3; mad.lo.u32 %r6, %r6, 4, %r2;\n"
            "atom.shared.add.u32 %r7, [%r6], %r1;\n" /* four words for 32 lanes */
            "red.global.max.u32 [%d1], %r1;\n"       /* one word for all */
            "call (%r5), twice, (%r1);\n"
            "mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; bar.sync 0;\n"
            "and.b32 %r7, %r7, 0; add.u32 %r7, %r7, %r5; st.global.u32 [%d3], %r7; ret; }\n";
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    EXPECT("memory.shared.store.warp", 2);
    EXPECT("memory.shared.store.passes", 4);
    EXPECT("memory.shared.load.passes", 64);
    EXPECT("memory.shared.atomic.warp", 2);
    EXPECT("memory.shared.atomic.passes", 2 * 8);
    EXPECT("memory.global.atomic.warp", 2);
    EXPECT("memory.global.atomic.sectors", 2);
    EXPECT("atomics.add.warp", 2);
    EXPECT("atomics.add.collisions", 2 * 28);
    EXPECT("atomics.max.thread", 64);
    EXPECT("atomics.max.collisions", 2 * 31);
    EXPECT("barriers.warp", 4);
    EXPECT("calls.warp", 2);
    cr_expect(strstr(r.counts, "\"shared_bytes\": 8192") != NULL);
}

/* Local memory: a word of a warp's lanes is one line. */
Test(emu_counts, local_memory)
{
    uint32_t out[32];
    struct emu_run r = {.block = 32, .config = {.count = true}};
    r.ptx = emu_ptx(".param .u64 out",
                    ".local .align 8 .b8 a[64];\n"
                    ".reg .u64 %d<8>; .reg .u32 %r<8>;\n"
                    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u64 %d2, a;\n"
                    "and.b32 %r2, %r1, 7; mul.wide.u32 %d3, %r2, 8; add.u64 %d4, %d2, %d3;\n"
                    "cvt.u64.u32 %d5, %r1; st.local.u64 [%d4], %d5;\n"
                    "cvta.local.u64 %d6, %d4; ld.u32 %r3, [%d6];\n"
                    "mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; st.global.u32 [%d1], %r3;\n"
                    "ret;");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 32; i++) cr_expect(out[i] == i);
    EXPECT("memory.local.store.warp", 1);
    EXPECT("memory.local.store.sectors", 8);
    EXPECT("memory.local.load.thread", 32);
    EXPECT("memory.local.load.sectors", 4);
    EXPECT("memory.global.load.warp", 0);
}

/* ---- placing ---------------------------------------------------------------------------------------- */

/* What NVIDIA's occupancy calculator says of a V100 and an A100. */
Test(emu_counts, occupancy)
{
    static const struct {
        const char *gpu;
        uint32_t threads, registers, shared, ctas;
        enum emu_limit limit;
    } cases[] = {
        {"v100", 256, 32, 0, 8, EMU_LIMIT_WARPS},
        {"v100", 256, 64, 0, 4, EMU_LIMIT_REGISTERS},
        {"v100", 256, 40, 0, 6, EMU_LIMIT_REGISTERS},
        {"v100", 32, 16, 0, 32, EMU_LIMIT_CTAS},
        {"v100", 128, 32, 49152, 2, EMU_LIMIT_SHARED},
        {"v100", 1024, 255, 0, 0, EMU_LIMIT_REGISTERS},
        {"a100", 128, 32, 49152, 3, EMU_LIMIT_SHARED},
        {"gtx480", 256, 21, 0, 5, EMU_LIMIT_REGISTERS},
        {"h100", 33, 32, 1024, 32, EMU_LIMIT_CTAS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu_occupancy o = emu_occupancy(emu_gpu_find(cases[i].gpu), cases[i].threads,
                                               cases[i].registers, cases[i].shared);
        cr_expect(o.ctas == cases[i].ctas && o.limit == cases[i].limit, "case %zu: %u CTAs, %s", i,
                  o.ctas, emu_limit_name(o.limit));
    }
    cr_expect(emu_gpu_find("no such") == NULL);
}

/* CTAs on different SMs, with loads that other CTAs of the SM have made before; the harness compares what
 * one host thread counts with what three do. */
Test(emu_counts, caches_do_not_depend_on_host_threads)
{
    enum { N = 4096 };
    static float x[N], y[64 * 256];
    struct emu_run r = {.grid = 64,
                        .block = 256,
                        .config = {.count = true, .caches = true, .sms = 7, .threads = 1}};
    r.ptx = emu_ptx(".param .u64 x, .param .u64 y",
                    ".reg .u64 %d<6>; .reg .u32 %r<8>; .reg .f32 %f<3>; .reg .pred %p1;\n"
                    "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];\n"
                    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2;\n"
                    "mov.u32 %r4, 0; mov.f32 %f1, 0f00000000; mov.u32 %r5, %r3;\n"
                    "LOOP: mul.lo.u32 %r5, %r5, 1664525; add.u32 %r5, %r5, 1013904223;\n"
                    "shr.u32 %r6, %r5, 20; mul.wide.u32 %d3, %r6, 4; add.u64 %d4, %d1, %d3;\n"
                    "ld.global.f32 %f2, [%d4]; add.f32 %f1, %f1, %f2; add.u32 %r4, %r4, 1;\n"
                    "setp.lt.u32 %p1, %r4, 20; @%p1 bra LOOP;\n"
                    "mul.wide.u32 %d3, %r3, 4; add.u64 %d4, %d2, %d3; st.global.f32 [%d4], %f1;\n"
                    "ret;");
    r.args[0] = emu_in(&r, x, sizeof x);
    r.args[1] = emu_out(&r, y, sizeof y);
    cr_assert(emu_run(&r), "%s", r.fault);
    EXPECT("dram.read_sectors", N * 4 / 32);
    cr_expect(emu_counted(&r, "cache.l1.hits") > emu_counted(&r, "cache.l1.sectors") / 2);
}

/* While CTA 0 goes round, a second host thread runs ahead through all the others. That each of them waits for its turn in
 * the caches costs the same, however many there are. */
Test(emu_counts, many_ctas_wait_for_a_late_one)
{
    enum { CTAS = SANITIZED ? 40000 : 400000, ROUNDS = 40 * CTAS };
    double spent[2];
    for (unsigned t = 0; t < 2; t++) {
        struct emu_run r = {.grid = CTAS,
                            .block = 32,
                            .once = true,
                            .config = {.count = true, .caches = true, .threads = t + 1}};
        char body[400];
        snprintf(body, sizeof body,
                 ".reg .u64 %%d1; .reg .u32 %%r<3>; .reg .pred %%p1;\n"
                 "ld.param.u64 %%d1, [x];\n"
                 "mov.u32 %%r1, %%ctaid.x; setp.ne.u32 %%p1, %%r1, 0;\n"
                 "@%%p1 bra END; mov.u32 %%r2, %d;\n"
                 "ROUND: sub.u32 %%r2, %%r2, 1; setp.ne.u32 %%p1, %%r2, 0;\n"
                 "@%%p1 bra ROUND;\n"
                 "END: ld.global.u32 %%r2, [%%d1]; ret;",
                 ROUNDS);
        r.ptx = emu_ptx(".param .u64 x", body);
        r.args[0] = emu_in(&r, spent, sizeof spent);
        const clock_t from = clock();
        cr_assert(emu_run(&r), "%s", r.fault);
        spent[t] = (double)(clock() - from) / CLOCKS_PER_SEC;
        EXPECT("memory.global.load.warp", CTAS);
    }
    cr_expect(spent[1] < 3 * spent[0], "%g s of one host thread, %g s of two", spent[0], spent[1]);
}
