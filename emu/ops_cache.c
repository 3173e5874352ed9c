/* What an access does to the tags of L1 and L2. Compiled for each host instruction set; all do the same.
 *
 * Whether a line hits, and which it drives out, cannot be foreseen. So a line is looked up without a
 * branch, and the host works on several at once: first on all of an access in L1, then on what that
 * lacked in L2. */
#include "emu/lane.h"

#include "emu/cache.h"
#include "emu/count.h"

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

/* Loads of one site, from L1. What it lacks is put at *lacking. Returns the first note of another site or
 * kind, as the next functions do. */
static inline const u64 *load_l1(const struct cache l1, const struct cache l2, const u64 *note,
                                 u64 **lacking, struct sums *sum)
{
    const u64 first = *note;
    const u32 all = all_ways(&l1);
    u64 *out = *lacking;
    do {
        const u32 line = CACHE_NOTE_LINE(*note), sectors = CACHE_NOTE_SECTORS(*note);
        u32 had, gone;
        u8 *state = find(set_of(&l1, line), all, line, &had, &gone);
        *state = (u8)(had | sectors);
        prefetch(set_of(&l2, line));
        *out = *note & ~(u64)had;
        out += CACHE_NOTE_SECTORS(*out) != 0;
        sum->all += count4(sectors);
        sum->hits += count4(sectors & had);
    } while (alike(*++note, first));
    *lacking = out;
    return note;
}

/* Atomics are done in L2: what L1 has is old. */
static inline void forget_l1(const struct cache *l1, u64 note)
{
    struct cache_set *s = set_of(l1, CACHE_NOTE_LINE(note));
    const u32 way = ways_of(s, CACHE_NOTE_LINE(note));
    if (way) s->state[__builtin_ctz(way)] &= (u8)~CACHE_NOTE_SECTORS(note);
}

static inline const u64 *access_l2(const struct cache l2, const u64 *note, bool writes,
                                   struct sums *sum)
{
    const u64 first = *note;
    const u32 all = all_ways(&l2);
    do {
        const u32 line = CACHE_NOTE_LINE(*note), sectors = CACHE_NOTE_SECTORS(*note);
        u32 had, gone;
        u8 *state = find(set_of(&l2, line), all, line, &had, &gone);
        *state = (u8)(had | sectors | (writes ? sectors << 4 : 0));
        sum->all += count4(sectors);
        sum->hits += count4(sectors & had);
        sum->gone += count4(gone);
    } while (alike(*++note, first));
    return note;
}

/* Both go on to a note that is like no other. */
static u64 *through_l1(struct caches *c, u32 sm, const u64 *note, const u64 *end, u64 *lacking)
{
    const struct cache l1 = *c->l1[sm];
    while (note < end) {
        const u32 how = CACHE_NOTE_HOW(*note);
        if (how == COUNT_LOAD) {
            struct cache_events *of_sm = &c->sm[sm], *of_site = &c->site[CACHE_NOTE_SITE(*note)];
            struct sums sum = {0};
            note = load_l1(l1, *c->l2, note, &lacking, &sum);
            of_sm->l1 += sum.all, of_site->l1 += sum.all;
            of_sm->l1_hits += sum.hits, of_site->l1_hits += sum.hits;
        } else {
            if (how == COUNT_ATOMIC) forget_l1(&l1, *note);
            *lacking++ = *note++;
        }
    }
    return lacking;
}

static void through_l2(struct caches *c, u32 sm, const u64 *note, const u64 *end)
{
    const struct cache l2 = *c->l2;
    while (note < end) {
        struct cache_events *of_sm = &c->sm[sm], *of_site = &c->site[CACHE_NOTE_SITE(*note)];
        const u32 how = CACHE_NOTE_HOW(*note);
        const bool loads = how == COUNT_LOAD || how == COUNT_LOAD_L2;
        struct sums sum = {0};
        note = loads ? access_l2(l2, note, false, &sum) : access_l2(l2, note, true, &sum);
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

cache_carry_out CACHE_CARRY_OUT;
void CACHE_CARRY_OUT(struct caches *c, u32 sm, u64 *notes, size_t count)
{
    enum { MOST = 2 * CACHE_BATCH };
    u64 lacking[MOST + 1];
    if (!c->l1_begun[sm]) cache_begin_l1(c, sm);
    for (size_t n; count; notes += n, count -= n) {
        n = count < MOST ? count : MOST;
        const u64 behind = notes[n];
        u64 *from = notes, *end = notes + n, around = ~(u64)0;
        LANE_LOOP for (size_t i = 0; i < n; i++) around &= notes[i] ^ notes[i] >> 1;
        *end = ~end[-1];          /* unlike the last */
        if (!(around >> 4 & 1)) { /* some are loads or atomics */
            end = through_l1(c, sm, from, end, lacking);
            from = lacking;
            *end = end > from ? ~end[-1] : 0;
        }
        through_l2(c, sm, from, end);
        notes[n] = behind;
    }
}

cache_fill CACHE_FILL;
void CACHE_FILL(struct cache *l2, u32 first, u32 last)
{
    const u32 room = 2 * l2->sets * CACHE_WAYS; /* what is before that many lines will be gone */
    u32 line = last / 4 - first / 4 > room ? last / 4 - room : first / 4;
    for (; line <= last / 4; line++) {
        u32 sectors = 15, had, gone;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        u8 *state = find(set_of(l2, line), all_ways(l2), line, &had, &gone);
        *state = (u8)(had | sectors);
    }
}
