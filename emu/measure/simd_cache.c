/* Look-up and replacement of lines in L1 and L2. Compiled for each host instruction set; the results are the same.
 *
 * The host cannot predict whether a line hits and which line is evicted. So the look-up has no branch, and the host
 * processes several lines at once: first all lines of an access in L1, then those that missed in L2. */
#include "emu/ops/lane.h"

#include "emu/measure/cache.h"
#include "emu/measure/count.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

static struct cache_set *set_of(const struct cache *c, u32 line)
{
    return &c->set[(u64)(line * 0x9e3779b1u) * c->sets >> 32];
}

/* The ways with that tag: a bit each; there is one at most. */
static inline u32 ways_of(const struct cache_set *s, u32 line)
{
#if defined __AVX512F__
    return _mm512_cmpeq_epi32_mask(_mm512_load_si512(s->tag), _mm512_set1_epi32((int)line));
#elif defined __SSE2__
    const __m128i want = _mm_set1_epi32((int)line), *t = (const __m128i *)(const void *)s->tag;
    const __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(t[0], want), _mm_cmpeq_epi32(t[1], want)),
                  b = _mm_packs_epi32(_mm_cmpeq_epi32(t[2], want), _mm_cmpeq_epi32(t[3], want));
    return (u32)_mm_movemask_epi8(_mm_packs_epi16(a, b));
#else
    u32 m = 0;
    for (u32 i = 0; i < CACHE_WAYS; i++) m |= (u32)(s->tag[i] == line) << i;
    return m;
#endif
}

/* The way that none was used before: its bit. */
static inline u32 oldest(const struct cache_set *s)
{
#if defined __AVX512BW__
    const __m256i o = _mm256_load_si256((const __m256i *)(const void *)s->older);
    return _mm256_testn_epi16_mask(o, o);
#elif defined __SSE2__
    const __m128i *o = (const __m128i *)(const void *)s->older, none = _mm_setzero_si128();
    return (u32)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_cmpeq_epi16(o[0], none), _mm_cmpeq_epi16(o[1], none)));
#else
    u32 m = 0;
    for (u32 i = 0; i < CACHE_WAYS; i++) m |= (u32)!s->older[i] << i;
    return m;
#endif
}

typedef u16 rows __attribute__((vector_size(16)));

/* The ways that a set has: a bit each. */
static inline u32 all_ways(const struct cache *c)
{
    return (1u << c->ways) - 1;
}

/* Gives a way (its bit, its number) to the line, and makes it the last used one of all. */
static inline void use(struct cache_set *s, u32 bit, u32 way, u32 line, u32 all)
{
#ifdef __AVX512BW__
    const __mmask16 here = (__mmask16)bit;
    const __m512i tags = _mm512_load_si512(s->tag);
    __m256i *older = (__m256i *)(void *)s->older;
    const __m256i row = _mm256_mask_blend_epi16(here, *older, _mm256_set1_epi16((short)all));
    _mm512_store_si512(s->tag, _mm512_mask_blend_epi32(here, tags, _mm512_set1_epi32((int)line)));
    *older = _mm256_andnot_si256(_mm256_set1_epi16((short)bit), row);
    (void)way;
#else
    s->tag[way] = line;
    for (u16 i = 0; i < CACHE_WAYS; i += 8) {
        const u16 n = (u16)(way - i);
        rows *older = (rows *)(void *)&s->older[i];
        *older = (*older | ((rows)((rows){0, 1, 2, 3, 4, 5, 6, 7} == n) & (u16)all)) & (u16)~bit;
    }
#endif
}

/* The state of the line: it gets a way if it has none, and then *gone are the dirty sectors that had to
 * go. */
static inline u8 *find(struct cache_set *s, u32 all, u32 line, u32 *state, u32 *gone)
{
    const u32 is = ways_of(s, line), missed = (is - 1) >> CACHE_WAYS, /* all ones, or 0 */
        bit = is | (oldest(s) & missed), way = (u32)__builtin_ctz(bit);
    use(s, bit, way, line, all);
    u8 *at = &s->state[way];
    *state = *at & ~missed;
    *gone = *at >> 4 & missed;
    return at;
}

static inline u32 count4(u32 sectors)
{
#ifdef __POPCNT__
    return (u32)__builtin_popcount(sectors);
#else
    return (u32)(0x4332322132212110 >> sectors * 4) & 7;
#endif
}

struct sums {
    u32 all, hits, gone; /* sectors */
};

static inline void prefetch(const struct cache_set *s)
{
    __builtin_prefetch(s);
    __builtin_prefetch(s->older);
}

/* Whether two notes are of one site and kind. */
static inline bool alike(u64 a, u64 b)
{
    return (u32)(a ^ b) < 16;
}

enum { MOST = 2 * CACHE_BATCH }; /* notes that are carried out together */

/* What L1 lacks, or need not be asked for. */
struct lacking {
    u64 request[MOST + 1];
    u8 of[MOST + 1]; /* which note that is a part of; if somebody asks */
    u32 count;
};

/* Writes to the trace of a note how many sectors were wanted of L2. */
static inline __attribute__((always_inline)) void trace_request(struct trace_line *to, u64 request,
                                                                u32 from_l2)
{
    *to = (struct trace_line){.line = CACHE_REQUEST_LINE(request),
                              .sectors = (u8)CACHE_REQUEST_SECTORS(request),
                              .how = (u8)CACHE_REQUEST_HOW(request),
                              .from_l2 = (u8)from_l2};
}

/* Loads of one site, from L1. What it lacks is put at *lacking. `number`: of the first of them. Returns the first note of
 * another site or kind, as the next functions do. */
static inline __attribute__((always_inline)) const u64 *
load_l1(const struct cache l1, const struct cache l2, const u64 *request, u32 number,
        struct lacking *lacking, struct sums *sum, struct trace_line *traced)
{
    const u64 first = *request;
    const u32 all = all_ways(&l1);
    u32 out = lacking->count;
    do {
        const u32 line = CACHE_REQUEST_LINE(*request), sectors = CACHE_REQUEST_SECTORS(*request);
        u32 had, gone;
        u8 *state = find(set_of(&l1, line), all, line, &had, &gone);
        *state = (u8)(had | sectors);
        prefetch(set_of(&l2, line));
        lacking->request[out] = *request & ~(u64)had;
        const u32 hits = count4(sectors & had), wanted = count4(sectors);
        if (traced) {
            trace_request(traced++, *request, wanted - hits);
            lacking->of[out] = (u8)number++;
        }
        out += CACHE_REQUEST_SECTORS(lacking->request[out]) != 0;
        sum->all += wanted;
        sum->hits += hits;
    } while (alike(*++request, first));
    lacking->count = out;
    return request;
}

/* Atomics are done in L2: what L1 has is old. */
static inline void forget_l1(const struct cache *l1, u64 request)
{
    struct cache_set *s = set_of(l1, CACHE_REQUEST_LINE(request));
    const u32 way = ways_of(s, CACHE_REQUEST_LINE(request));
    if (way) s->state[__builtin_ctz(way)] &= (u8)~CACHE_REQUEST_SECTORS(request);
}

/* `traced`: of all notes; `of`: which of them these are. */
static inline __attribute__((always_inline)) const u64 *
access_l2(const struct cache l2, const u64 *request, bool writes, struct sums *sum,
          struct trace_line *traced, const u8 *of)
{
    const u64 first = *request;
    const u32 all = all_ways(&l2);
    do {
        const u32 line = CACHE_REQUEST_LINE(*request), sectors = CACHE_REQUEST_SECTORS(*request);
        u32 had, gone;
        u8 *state = find(set_of(&l2, line), all, line, &had, &gone);
        *state = (u8)(had | sectors | (writes ? sectors << 4 : 0));
        const u32 hits = count4(sectors & had), wanted = count4(sectors);
        if (traced) traced[*of++].from_dram = (u8)(wanted - hits);
        sum->all += wanted;
        sum->hits += hits;
        sum->gone += count4(gone);
    } while (alike(*++request, first));
    return request;
}

/* Both go on to a note that is like no other. */
static inline __attribute__((always_inline)) void through_l1(struct caches *c, u32 sm,
                                                             const u64 *requests, const u64 *end,
                                                             struct lacking *lacking,
                                                             struct trace_line *traced)
{
    const struct cache l1 = *c->l1[sm];
    lacking->count = 0;
    for (const u64 *request = requests; request < end;) {
        const u32 how = CACHE_REQUEST_HOW(*request), number = (u32)(request - requests);
        if (how == COUNT_LOAD) {
            struct cache_events *of_sm = &c->sm[sm],
                                *of_site = &c->site[CACHE_REQUEST_SITE(*request)];
            struct sums sum = {0};
            request = load_l1(l1, *c->l2, request, number, lacking, &sum,
                              traced ? traced + number : NULL);
            of_sm->l1 += sum.all, of_site->l1 += sum.all;
            of_sm->l1_hits += sum.hits, of_site->l1_hits += sum.hits;
        } else {
            if (how == COUNT_ATOMIC) {
                forget_l1(&l1, *request);
                if (c->atomics) c->atomics[trace_atomic_bucket(CACHE_REQUEST_LINE(*request))]++;
            }
            if (traced) {
                trace_request(traced + number, *request,
                              how == COUNT_STORE ? 0 : count4(CACHE_REQUEST_SECTORS(*request)));
                lacking->of[lacking->count] = (u8)number;
            }
            lacking->request[lacking->count++] = *request++;
        }
    }
}

static inline __attribute__((always_inline)) void through_l2(struct caches *c, u32 sm,
                                                             const u64 *requests, const u64 *end,
                                                             struct trace_line *traced,
                                                             const u8 *of)
{
    const struct cache l2 = *c->l2;
    for (const u64 *request = requests; request < end;) {
        struct cache_events *of_sm = &c->sm[sm], *of_site = &c->site[CACHE_REQUEST_SITE(*request)];
        const u32 how = CACHE_REQUEST_HOW(*request);
        const bool loads = how == COUNT_LOAD || how == COUNT_LOAD_L2;
        struct sums sum = {0};
        struct trace_line *const to = how == COUNT_STORE ? NULL : traced;
        const u8 *const these = of + (request - requests);
        request = loads ? access_l2(l2, request, false, &sum, to, these)
                        : access_l2(l2, request, true, &sum, to, these);
        const u32 read = how == COUNT_STORE ? 0 : sum.all - sum.hits;
        of_sm->dram_reads += read, of_site->dram_reads += read;
        of_sm->dram_writes += sum.gone; /* not to be laid to what drives a line out */
        if (loads) {
            of_sm->l2_loads += sum.all, of_site->l2_loads += sum.all;
            of_sm->l2_load_hits += sum.hits, of_site->l2_load_hits += sum.hits;
        } else if (how == COUNT_ATOMIC)
            of_sm->l2_atomics += sum.all, of_site->l2_atomics += sum.all;
        else of_sm->l2_stores += sum.all, of_site->l2_stores += sum.all;
    }
}

static inline __attribute__((always_inline)) void go(struct caches *c, u32 sm, u64 *requests,
                                                     size_t count, struct trace_line *traced)
{
    struct lacking lacking;
    if (!c->l1_begun[sm]) cache_begin_l1(c, sm);
    for (size_t n; count; requests += n, count -= n, traced = traced ? traced + n : NULL) {
        n = count < MOST ? count : MOST;
        const u64 behind = requests[n];
        u64 *from = requests, *end = requests + n, around = ~(u64)0;
        LANE_LOOP for (size_t i = 0; i < n; i++) around &= requests[i] ^ requests[i] >> 1;
        *end = ~end[-1];                    /* unlike the last */
        if (!(around >> 4 & 1) || traced) { /* some are loads or atomics */
            through_l1(c, sm, from, end, &lacking, traced);
            from = lacking.request, end = from + lacking.count;
            *end = end > from ? ~end[-1] : 0;
        }
        through_l2(c, sm, from, end, traced, lacking.of);
        requests[n] = behind;
    }
}

cache_carry_out CACHE_CARRY_OUT;
void CACHE_CARRY_OUT(struct caches *c, u32 sm, u64 *requests, size_t count,
                     struct trace_line *traced)
{
    if (traced) go(c, sm, requests, count, traced);
    else go(c, sm, requests, count, NULL);
}

cache_fill CACHE_FILL;
void CACHE_FILL(struct cache *l2, u32 first, u32 last)
{
    const u32 capacity = 2 * l2->sets *
                         CACHE_WAYS; /* what is before that many lines will be gone */
    u32 line = last / 4 - first / 4 > capacity ? last / 4 - capacity : first / 4;
    for (; line <= last / 4; line++) {
        u32 sectors = 15, had, gone;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        u8 *state = find(set_of(l2, line), all_ways(l2), line, &had, &gone);
        *state = (u8)(had | sectors);
    }
}
