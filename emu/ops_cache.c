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

/* Gives a way (its bit, its number) to the line, and makes it the last used one. */
static inline void use(struct cache_set *s, u32 bit, u32 way, u32 line)
{
#ifdef __AVX512BW__
    const __m512i tags = _mm512_load_si512(s->tag);
    __m256i *o = (__m256i *)(void *)s->older;
    const __m256i rows = _mm256_mask_blend_epi16((__mmask16)bit, _mm256_load_si256(o),
                                                 _mm256_set1_epi16(-1));
    _mm512_store_si512(s->tag,
                       _mm512_mask_blend_epi32((__mmask16)bit, tags, _mm512_set1_epi32((int)line)));
    _mm256_store_si256(o, _mm256_andnot_si256(_mm256_set1_epi16((short)bit), rows));
    (void)way;
#else /* all of them are written: a vector is read faster if it was written as one */
    LANE_LOOP for (u32 i = 0; i < CACHE_WAYS; i++) s->tag[i] = i == way ? line : s->tag[i];
    LANE_LOOP for (u16 i = 0; i < CACHE_WAYS; i++)
        s->older[i] = (u16)((i == way ? 0xffff : s->older[i]) & ~bit);
#endif
}

/* The state of the line: it gets a way if it has none, and then *gone are the dirty sectors that had to
 * go. */
static inline u8 *find(struct cache_set *s, u32 line, u32 *state, u32 *gone)
{
    const u32 is = ways_of(s, line), missed = (is - 1) >> CACHE_WAYS, /* all ones, or 0 */
        bit = is | (oldest(s) & missed), way = (u32)__builtin_ctz(bit);
    use(s, bit, way, line);
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
    u32 lines;           /* that L1 lacks sectors of */
};

/* What L1 lacks is put into `lacking`. */
static inline struct sums load_l1(const struct cache l1, const u64 *lines, u32 n, u64 *lacking)
{
    struct sums sum = {0};
    for (u32 i = 0; i < n; i++) {
        const u32 line = (u32)lines[i], sectors = (u32)(lines[i] >> 32);
        u32 had, gone;
        u8 *state = find(set_of(&l1, line), line, &had, &gone);
        const u32 lacks = sectors & ~had;
        *state = (u8)(had | sectors);
        lacking[sum.lines] = CACHE_LINE(line, lacks);
        sum.lines += lacks != 0;
        sum.all += count4(sectors);
        sum.hits += count4(sectors & had);
    }
    return sum;
}

/* Atomics are done in L2: what L1 has is old. */
static inline void forget_l1(const struct cache l1, const u64 *lines, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        struct cache_set *s = set_of(&l1, (u32)lines[i]);
        const u32 hit = ways_of(s, (u32)lines[i]);
        if (hit) s->state[__builtin_ctz(hit)] &= (u8) ~(lines[i] >> 32);
    }
}

static inline struct sums access_l2(const struct cache l2, const u64 *lines, u32 n, bool writes)
{
    struct sums sum = {0};
    for (u32 i = 0; i < n; i++) {
        const u32 line = (u32)lines[i], sectors = (u32)(lines[i] >> 32);
        u32 had, gone;
        u8 *state = find(set_of(&l2, line), line, &had, &gone);
        *state = (u8)(had | sectors | (writes ? sectors << 4 : 0));
        sum.all += count4(sectors);
        sum.hits += count4(sectors & had);
        sum.gone += count4(gone);
    }
    return sum;
}

cache_lines CACHE_LINES;
void CACHE_LINES(struct caches *c, u32 sm, u32 site, u32 how, const u64 *lines, u32 n)
{
    struct cache_events *of_sm = &c->sm[sm], *of_site = &c->site[site];
    u64 lacking[CACHE_BATCH];
    if (how == COUNT_LOAD || how == COUNT_ATOMIC) {
        if (!c->l1_begun[sm]) cache_begin_l1(c, sm);
        if (how == COUNT_ATOMIC) forget_l1(*c->l1[sm], lines, n);
        else {
            struct sums l1 = load_l1(*c->l1[sm], lines, n, lacking);
            of_sm->l1 += l1.all, of_site->l1 += l1.all;
            of_sm->l1_hits += l1.hits, of_site->l1_hits += l1.hits;
            lines = lacking, n = l1.lines;
            if (!n) return;
        }
    }
    const bool loads = how == COUNT_LOAD || how == COUNT_LOAD_L2;
    const struct sums l2 = loads ? access_l2(*c->l2, lines, n, false)
                                 : access_l2(*c->l2, lines, n, true);
    of_sm->dram_writes += l2.gone; /* not to be laid to the instruction that drives a line out */
    if (how == COUNT_STORE) {
        of_sm->l2_stores += l2.all, of_site->l2_stores += l2.all;
        return;
    }
    of_sm->dram_reads += l2.all - l2.hits, of_site->dram_reads += l2.all - l2.hits;
    if (loads) {
        of_sm->l2_loads += l2.all, of_site->l2_loads += l2.all;
        of_sm->l2_load_hits += l2.hits, of_site->l2_load_hits += l2.hits;
    } else of_sm->l2_atomics += l2.all, of_site->l2_atomics += l2.all;
}
