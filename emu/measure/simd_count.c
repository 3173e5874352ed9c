/* Counters of one access of a warp: 32-byte sectors and 128-byte lines of global memory, passes over the banks of
 * shared memory. Compiled for each host instruction set; the numbers are the same. */
#include "emu/ops/lane.h"

#include "emu/atomic.h"
#include "emu/device/device.h"
#include "emu/measure/cache.h"
#include "emu/measure/count.h"
#include "ptx/ptx.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* The lanes whose value no earlier lane has: bit l. Lanes that are off hold values of their own. */
static u32 firsts(const u32 *v)
{
#ifdef __AVX512CD__
    const __m512i a = _mm512_loadu_si512(v), b = _mm512_loadu_si512(v + 16);
    const __m512i before_a = _mm512_alignr_epi32(a, _mm512_set1_epi32(-1), 15),
                  before_b = _mm512_alignr_epi32(b, a, 15);
    if (!(_mm512_cmplt_epu32_mask(b, before_b) |
          (_mm512_cmplt_epu32_mask(a, before_a) & 0xfffe))) /* in order: it differs from the last */
        return (u32)_mm512_cmpneq_epi32_mask(b, before_b) << 16 |
               (u32)_mm512_cmpneq_epi32_mask(a, before_a) | 1;
    u32 seen_a = _mm512_test_epi32_mask(_mm512_conflict_epi32(a), _mm512_set1_epi32(-1));
    u32 seen_b = _mm512_test_epi32_mask(_mm512_conflict_epi32(b), _mm512_set1_epi32(-1));
#define TURN(n) _mm512_cmpeq_epi32_mask(b, _mm512_alignr_epi32(a, a, n))
    seen_b |= TURN(0) | TURN(1) | TURN(2) | TURN(3) | TURN(4) | TURN(5) | TURN(6) | TURN(7) |
              TURN(8) | TURN(9) | TURN(10) | TURN(11) | TURN(12) | TURN(13) | TURN(14) | TURN(15);
#undef TURN
    return ~(seen_b << 16 | seen_a);
#else
    u32 differs = 1, order = 0;
    for (u32 l = 1; l < LANES; l++) {
        differs |= (u32)(v[l] != v[l - 1]) << l;
        order |= v[l] < v[l - 1];
    }
    if (!order) return differs;
    /* Lane l is compared with lane l - r, for all l at once. */
    _Alignas(64) u32 before[2 * LANES], seen[LANES] = {0};
    memset(before, 0xff, LANES * sizeof *before); /* no lane has this value */
    memcpy(before + LANES, v, LANES * sizeof *v);
    for (u32 r = 1; r < LANES; r++) {
        const u32 *p = before + LANES - r;
        LANE_LOOP for (u32 l = 0; l < LANES; l++) seen[l] |= v[l] == p[l];
    }
    u32 m = 0;
    for (u32 l = 0; l < LANES; l++) m |= (u32)!seen[l] << l;
    return m;
#endif
}

/* The most bytes of 32 that are alike. */
static u32 most_alike(const u8 *byte)
{
#ifdef __AVX2__ /* each is compared with the one r before it, for all at once; before the first are none */
    typedef char bytes __attribute__((vector_size(32)));
    const __m256i own = _mm256_load_si256((const __m256i *)(const void *)byte),
                  none = _mm256_set1_epi8(-1), low = _mm256_permute2x128_si256(own, none, 0x02);
#define EQUAL(x) (bytes) _mm256_cmpeq_epi8(own, x)
#define TURN(r)                                                                                    \
    EQUAL(_mm256_alignr_epi8(own, low, 16 - r)) + EQUAL(_mm256_alignr_epi8(low, none, 16 - r))
    const bytes earlier = -(EQUAL(low) + TURN(1) + TURN(2) + TURN(3) + TURN(4) + TURN(5) + TURN(6) +
                            TURN(7) + TURN(8) + TURN(9) + TURN(10) + TURN(11) + TURN(12) +
                            TURN(13) + TURN(14) + TURN(15));
#undef TURN
#undef EQUAL
    __m128i rest = _mm_max_epu8(_mm256_castsi256_si128((__m256i)earlier),
                                _mm256_extracti128_si256((__m256i)earlier, 1));
    rest = _mm_xor_si128(rest, _mm_set1_epi8(-1)); /* the least is to be found */
    rest = _mm_minpos_epu16(_mm_min_epu8(rest, _mm_srli_epi16(rest, 8)));
    return 256 - ((u32)_mm_cvtsi128_si32(rest) & 0xff);
#else
    u8 count[64 + LANES] = {0}, most = 0;
    for (u32 l = 0; l < LANES; l++) {
        const u8 n = ++count[byte[l]];
        most = n > most ? n : most;
    }
    return most;
#endif
}

/* The most lanes of `mask` that want one bank of 32. */
static u32 degree(const u32 *word, u32 mask)
{
    u32 used = 0;
    _Alignas(32) u8 bank[LANES];
    LANE_LOOP for (u32 l = 0; l < LANES; l++)
    {
        const u32 b = word[l] % LANES, on = mask >> l & 1;
        used |= on << b;
        bank[l] = (u8)(on ? b : 64 + l);
    }
    if (emu_lanes_of(used) == emu_lanes_of(mask)) return 1;
    return most_alike(bank);
}

/* Accesses of up to 4 bytes, or of bytes that are no power of two, go to 32 banks of 4 bytes at once; those of 8 or 16 bytes
 * are made by half- and quarter-warps (CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later).
 * Lanes that want the same word share a pass, but for atomics, which take their turns. */
static u32 bank_conflict_passes_32(const u64 *at, u32 mask, bool atomic)
{
    _Alignas(64) u32 word[LANES];
    LANE_LOOP for (u32 l = 0; l < LANES; l++) word[l] = mask >> l & 1 ? (u32)(at[l] / 4)
                                                                      : COUNT_NOBODY + l;
    return mask ? degree(word, atomic ? mask : mask & firsts(word)) : 0;
}

/* Whether the lanes of the mask have one address. */
static bool are_alike(const u64 *at, u32 mask)
{
    u64 differs = 0;
    const u64 first = mask ? at[__builtin_ctz(mask)] : 0;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) differs |= mask >> l & 1 ? at[l] ^ first : 0;
    return !differs;
}

/* The same for aligned accesses of 8, 16 or 32 bytes. So many lanes as fill the 32 banks take part at once, each uses as many
 * banks side by side, and lanes want the same words only if they want the same element: it is enough to look at elements.
 * Elements one behind the other take one pass. One element for all lanes of the warp is a broadcast, which takes one pass
 * at any size: so it does on an H200 (calibrate/data/h200-cycles.csv); for older GPUs this is assumed. */
static u32 bank_conflict_passes_wide(const u64 *at, u32 mask, u32 size, bool atomic)
{
    const u32 lanes = LANES * 4 / size, all = (u32)((1ull << lanes) - 1);
    const u32 shift = size == 8 ? 3 : size == 16 ? 4 : 5;
    u32 total = 0;
    if (!atomic && are_alike(at, mask)) return mask != 0;
    for (u32 first = 0; first < LANES; first += lanes) {
        const u32 on = mask >> first & all;
        const u64 *const a = at + first;
        u64 follow = 0, same = 0;
        if (!on) continue;
        for (u32 l = 1; l < lanes; l++) {
            follow |= a[l] ^ (a[0] + (u64)l * size);
            same |= a[l] ^ a[0];
        }
        if (on == all && !atomic && (!follow || !same)) {
            total++;
            continue;
        }
        u32 banks = 0;
        for (u32 left = on; left; left &= left - 1)
            banks |= 1u << (a[__builtin_ctz(left)] >> shift) % lanes;
        if (emu_lanes_of(banks) == emu_lanes_of(on)) { /* each has its own */
            total++;
            continue;
        }
        u8 count[LANES / 2] = {0}, most = 0;
        for (u32 left = on; left; left &= left - 1) {
            const u32 l = (u32)__builtin_ctz(left);
            const u64 element = a[l] >> shift;
            bool known = false;
            for (u32 before = atomic ? 0 : on & ((1u << l) - 1); before; before &= before - 1)
                known |= a[__builtin_ctz(before)] >> shift == element;
            if (known) continue;
            const u8 n = ++count[element % lanes];
            most = n > most ? n : most;
        }
        total += most;
    }
    return total;
}

/* As measured on an H200 (calibrate/data/h200-cycles.csv: shared_64, shared_128): lanes of the whole warp that want the same
 * element share a pass; without such lanes it is as above. Nothing else is known of GPUs since then. */
static u32 bank_conflict_passes_merged(const u64 *at, u32 mask, u32 size)
{
    const u32 groups = LANES * 4 / size, shift = size == 8 ? 3 : size == 16 ? 4 : 5;
    u8 count[LANES / 2] = {0}, most = 0;
    _Alignas(64) u32 element[LANES];
    LANE_LOOP for (u32 l = 0; l < LANES; l++) element[l] = mask >> l & 1 ? (u32)(at[l] >> shift)
                                                                         : COUNT_NOBODY + l;
    for (u32 left = mask & firsts(element); left; left &= left - 1) {
        const u8 n = ++count[element[__builtin_ctz(left)] % groups];
        most = n > most ? n : most;
    }
    return most;
}

/* Of 16 banks: a half-warp at once, a quarter or an eighth of a warp of 8 or 16 bytes each (the same guide, compute
 * capability 1.x). */
static u32 bank_conflict_passes_16(const u64 *at, u32 mask, u32 size, bool atomic)
{
    enum { BANKS = LANES / 2 };
    const u32 each = size <= 4 ? 1 : size / 4;
    u32 total = 0;
    for (u32 first = 0; first < LANES; first += BANKS / each) {
        u32 word[BANKS], n = 0, of_bank[BANKS] = {0}, most = 0;
        for (u32 l = 0; l < BANKS; l++) {
            const u32 lane = first + l / each, w = (u32)(at[lane] / 4) + l % each;
            bool known = !(mask >> lane & 1);
            for (u32 i = 0; i < n && !atomic; i++) known |= word[i] == w;
            if (known) continue;
            word[n++] = w;
            of_bank[w % BANKS]++;
            most = of_bank[w % BANKS] > most ? of_bank[w % BANKS] : most;
        }
        total += most;
    }
    return total;
}

/* Of any addresses. Regular accesses do not come here: bank_conflict_passes_of_run() and
 * bank_conflict_passes_of_halves() in count.h must give the same (tests/estimate/emu_counts.c). */
static u32 bank_conflict_passes(const struct emu_group *g, const u64 *at, u32 mask, u32 size,
                                bool atomic)
{
    if (g->worker->machine->narrow_banks) return bank_conflict_passes_16(at, mask, size, atomic);
    if (size == 8 || size == 16 || size == 32)
        return !atomic && g->worker->machine->emu->gpu->capability >= 90
                   ? bank_conflict_passes_merged(at, mask, size)
                   : bank_conflict_passes_wide(at, mask, size, atomic);
    return bank_conflict_passes_32(at, mask, atomic);
}

#ifdef __AVX512BW__
static inline __m512i line_at(const u32 *sector)
{
    return _mm512_srli_epi32(_mm512_loadu_si512(sector), 2);
}
static inline __m512i bit_at(const u32 *sector)
{
    return _mm512_sllv_epi32(_mm512_set1_epi32(1),
                             _mm512_and_si512(_mm512_loadu_si512(sector), _mm512_set1_epi32(3)));
}
static inline void put_requests(u64 *to, __m256i line, __m256i bits, __m512i as)
{
    const __m512i above = _mm512_slli_epi64(_mm512_cvtepu32_epi64(line), 32);
    _mm512_storeu_si512(to,
                        _mm512_or_si512(_mm512_or_si512(above, as), _mm512_cvtepu32_epi64(bits)));
}
#endif

/* Notes the sectors of the lanes of a mask, each line once if they stand side by side. Returns how many
 * notes that are; behind them 16 more fit. `as`: a note but for line and sectors. */
static u32 request_lines(const u32 *sector, u32 mask, u64 as, u64 *requests)
{
#ifdef __AVX512BW__
    u32 scratch[16 + LANES + 16], *x = scratch + 16; /* the lanes' sectors, without gaps */
    const u32 low = emu_lanes_of(mask & 0xffff), count = emu_lanes_of(mask),
              all = ~0u >> (LANES - count);
    x[-1] = COUNT_NOBODY;
    _mm512_storeu_si512(x, _mm512_maskz_compress_epi32((__mmask16)mask, _mm512_load_si512(sector)));
    _mm512_storeu_si512(x + low, _mm512_maskz_compress_epi32((__mmask16)(mask >> 16),
                                                             _mm512_load_si512(sector + 16)));
    const u32 first = all & ((u32)_mm512_cmpneq_epi32_mask(line_at(x), line_at(x - 1)) |
                             (u32)_mm512_cmpneq_epi32_mask(line_at(x + 16), line_at(x + 15)) << 16);
    const u32 joined = (all & ~first) >> 1; /* with the next */
    u64 *to = requests;
    for (u32 l = 0; l < count; l += 16) {
        const __mmask16 here = (__mmask16)(first >> l);
        __m512i line = line_at(x + l), bits = bit_at(x + l);
        if (joined) {
            u32 m = joined;
            for (u32 d = 1; d < 4; m &= joined >> d++)
                bits = _mm512_mask_or_epi32(bits, (__mmask16)(m >> l), bits, bit_at(x + l + d));
            line = _mm512_maskz_compress_epi32(here, line);
            bits = _mm512_maskz_compress_epi32(here, bits);
        }
        const __m512i rest = _mm512_set1_epi64((i64)as);
        put_requests(to, _mm512_castsi512_si256(line), _mm512_castsi512_si256(bits), rest);
        put_requests(to + 8, _mm512_extracti64x4_epi64(line, 1), _mm512_extracti64x4_epi64(bits, 1),
                     rest);
        to += emu_lanes_of(here);
    }
    return (u32)(to - requests);
#else
    u32 n = 0, sectors = 0, last = COUNT_NOBODY;
    for (; mask; mask &= mask - 1) {
        const u32 x = sector[__builtin_ctz(mask)], line = x / 4;
        n += line != last;
        sectors = (line != last ? 0 : sectors) | 1u << x % 4;
        requests[n - 1] = as | (u64)line << 32 | sectors;
        last = line;
    }
    return n;
#endif
}

/* The lanes that name this element. */
static inline u32 lanes_with(const u32 *element, u32 x)
{
#ifdef __AVX512F__
    const __m512i want = _mm512_set1_epi32((int)x);
    return (u32)_mm512_cmpeq_epi32_mask(_mm512_load_si512(element), want) |
           (u32)_mm512_cmpeq_epi32_mask(_mm512_load_si512(element + 16), want) << 16;
#else
    u32 m = 0;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) m |= (u32)(element[l] == x) << l;
    return m;
#endif
}

/* The most lanes that name one element; `again`: those whose element another one names, too, but for one of each. */
static u32 most_lanes_of_one_element(const u32 *element, u32 again)
{
    u32 most = 1;
    while (again) {
        const u32 same = again & lanes_with(element, element[__builtin_ctz(again)]),
                  n = emu_lanes_of(same) + 1;
        most = n > most ? n : most;
        again &= ~same;
    }
    return most;
}

/* How many notes that made. */
static u32 count_global(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *at,
                        u32 mask, u32 size, u32 how)
{
    struct emu_site *s = &g->worker->sites[in->site];
    struct cache_port *port = emu_port_of(g, w);
    const u64 as = CACHE_REQUEST(in->site, how, 0, 0) |
                   (emu_is_traced(g, w) ? CACHE_REQUEST_TRACED : 0);
    u32 requests = 0;
    s->bytes += (u64)emu_lanes_of(mask) * size;
    const u32 parts = size > SECTOR ? (size + SECTOR - 1) / SECTOR : 1;
    _Alignas(64) u32 sector[LANES], line[LANES];
    for (u32 k = 0; k < parts; k++) {
        LANE_LOOP for (u32 l = 0; l < LANES; l++)
        {
            const u32 x = (u32)((at[l] - MEM_GLOBAL) / SECTOR) + k;
            sector[l] = mask >> l & 1 ? x : COUNT_NOBODY + l;
            line[l] = mask >> l & 1 ? x / 4 : COUNT_NOBODY + l;
        }
        const u32 own = firsts(sector) & mask;
        s->sectors += emu_lanes_of(own);
        if (k == 0 || parts > 1) s->lines += emu_lanes_of(firsts(line) & mask);
        if (!port || how == COUNT_CONSTANT) continue;
        const u32 n = request_lines(sector, own, as, cache_reserve(port));
        cache_queued(port, n);
        requests += n;
    }
    return requests;
}

/* Lines of .local memory as a trace has them: above those of global memory, a region for each warp. */
static void trace_local(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *offset,
                        u32 mask, u32 size, u32 how)
{
    const u32 words = (size + 3) / 4;
    u32 requests = 0;
    const u32 warp = g->cta->linear * g->cta->warps + g->first + w;
    struct cache_port *port = emu_port_of(g, w);
    for (u32 left = mask, done = 0; left; left &= left - 1) {
        const u64 first = offset[__builtin_ctz(left)];
        if (done & left & -left) continue;
        u32 sectors = 0;
        for (u32 l = 0; l < LANES; l++)
            if (mask >> l & 1 && offset[l] == first) done |= 1u << l, sectors |= 1u << l / 8;
        for (u32 k = 0; k < words; k++, requests++) {
            const u32 line = TRACE_LOCAL_LINES | ((warp << 12) + (u32)(first / 4 + k));
            *cache_reserve(port) = CACHE_REQUEST(in->site, how & 3, line, sectors) |
                                   CACHE_REQUEST_TRACED | CACHE_REQUEST_UNCACHED;
            cache_queued(port, 1);
        }
    }
    emu_trace_access(g, in, w, TRACE_LOCAL, requests, emu_lanes_of(mask),
                     how == COUNT_ATOMIC ? 2 : 1);
}

/* What an access to .local memory adds: word i of a warp's lanes is one line. */
static void count_local(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *offset,
                        u32 mask, u32 size, u32 how)
{
    struct emu_site *s = &g->worker->sites[in->site];
    if (emu_is_traced(g, w)) trace_local(g, in, w, offset, mask, size, how);
    s->local++;
    s->local_lanes += emu_lanes_of(mask);
    s->local_sectors += LINE / SECTOR * ((size + 3) / 4);
}

static u32 element_of(u64 address)
{
    return (u32)((address - MEM_GLOBAL) / 4) & ~TRACE_SWAPPED;
}

/* What the lanes note that poll these addresses. */
static void poll_words(const struct emu_group *g, const u64 *at, u32 mask, u32 *words)
{
    const u32 *published = g->worker->machine->trace->published;
    for (u32 left = mask; left; left &= left - 1) {
        const u32 bucket = trace_poll_bucket(element_of(at[__builtin_ctz(left)])),
                  n = __atomic_load_n(&published[bucket], __ATOMIC_RELAXED);
        *words++ = TRACE_POLL_WORD(bucket, n < TRACE_POLL_MOST ? n : TRACE_POLL_MOST);
    }
}

/* What those note that exchange these elements, or publish there. */
static void element_words(const struct emu_group *g, const u64 *at, u32 mask,
                          enum trace_handoff handoff, u32 *words)
{
    for (u32 left = mask; left; left &= left - 1) {
        const u32 element = element_of(at[__builtin_ctz(left)]);
        *words++ = element;
        if (handoff == TRACE_PUBLISHES)
            __atomic_fetch_add(&g->worker->machine->trace->published[trace_poll_bucket(element)], 1,
                               __ATOMIC_RELAXED);
    }
}

/* An access of global memory that made so many requests. */
static void trace_global(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *at,
                         u32 mask, u32 how, u32 requests, u32 rounds)
{
    const struct emu_machine *m = g->worker->machine;
    const enum trace_handoff handoff = emu_handoff_of(g, in);
    const u32 lanes = emu_lanes_of(mask);
    const bool named = how == COUNT_ATOMIC &&
                       (m->launch->order || m->program->sites[in->site].op == ATOMIC_CAS);
    if (!named && handoff == TRACE_HANDOFF_NONE) {
        emu_trace_access(g, in, w, TRACE_GLOBAL, requests, lanes, rounds);
        return;
    }
    struct trace_cta *t = g->worker->trace;
    struct trace_warp *warp = &t->warps[g->first + w];
    u32 words[LANES];
    if (handoff < TRACE_POLLS_ANY) element_words(g, at, mask, handoff, words);
    else {
        poll_words(g, at, mask, words);
        trace_poll(m->program->traced, warp, in->site, words, lanes);
    }
    emu_trace_access(g, in, w, TRACE_GLOBAL, requests, lanes, rounds | TRACE_ELEMENTS);
    u32 *to = trace_reserve_words(t, warp, LANES);
    for (u32 l = 0; l < lanes; l++) to[l] = words[l];
    warp->count += lanes;
}

static void count_lanes(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *at,
                        u32 mask, u32 size, u32 space, u32 how)
{
    struct emu_site *s = &g->worker->sites[in->site];
    u32 shared = 0, local = 0, rounds = 1;
    u64 base = 0;
    if (space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER) shared = mask;
    else if (space == PTX_SPACE_LOCAL) local = mask;
    else if (space == PTX_SPACE_GENERIC) {
        base = MEM_SHARED;
        LANE_LOOP for (u32 l = 0; l < LANES; l++)
        {
            shared |= (u32)(at[l] >= MEM_SHARED && at[l] < MEM_LOCAL) << l;
            local |= (u32)(at[l] >= MEM_LOCAL && at[l] < MEM_PARAM) << l;
        }
        shared &= mask, local &= mask;
    }
    s->warps++;
    s->lanes += emu_lanes_of(mask);
    if (how == COUNT_ATOMIC) {
        const u32 shift = size == 1 ? 0 : size == 2 ? 1 : 2; /* elements are aligned */
        _Alignas(64) u32 element[LANES];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) element[l] = mask >> l & 1 ? (u32)(at[l] >> shift)
                                                                             : COUNT_NOBODY + l;
        const u32 again = mask & ~firsts(element);
        s->extra += emu_lanes_of(again);
        if (again && emu_is_traced(g, w)) rounds = most_lanes_of_one_element(element, again);
    } else if (how == COUNT_CONSTANT && emu_is_traced(g, w)) {
        _Alignas(64) u32 address[LANES];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) address[l] = mask >> l & 1 ? (u32)at[l]
                                                                             : COUNT_NOBODY + l;
        rounds = emu_lanes_of(firsts(address) & mask);
    }
    if (shared) {
        u64 offset[LANES];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) offset[l] = at[l] - base;
        s->shared++;
        s->shared_lanes += emu_lanes_of(shared);
        const u32 n = bank_conflict_passes(g, offset, shared, size, how == COUNT_ATOMIC);
        s->bank_conflict_passes += n;
        emu_trace_bank_conflict_passes(g, in, w, n, emu_lanes_of(shared), rounds);
    }
    if (local) {
        u64 offset[LANES];
        LANE_LOOP for (u32 l = 0; l < LANES; l++) offset[l] = at[l] - (base ? MEM_LOCAL : 0);
        count_local(g, in, w, offset, local, size, how);
    }
    mask &= ~(shared | local);
    if (!mask) return;
    const u32 requests = count_global(g, in, w, at, mask, size, how);
    if (emu_is_traced(g, w)) trace_global(g, in, w, at, mask, how, requests, rounds);
}

/* The lanes that share an element with a later one are found by writing numbers: each lane writes its own
 * to a place for its element, and sees whether it is still there when all have. */
static u32 shared_with_later(u8 *who, const u32 *element)
{
    u32 m = 0;
    for (u32 l = 0; l < LANES; l++) who[element[l]] = (u8)l;
    for (u32 l = 0; l < LANES; l++) m |= (u32)(who[element[l]] != l) << l;
    return m;
}

static void count_shared_atomics(struct emu_group *g, const struct emu_uop *in, u32 w,
                                 const u32 *at, u32 size)
{
    struct emu_site *s = &g->worker->sites[in->site];
    _Alignas(64) u32 word[LANES];
    u64 wide[LANES];
    LANE_LOOP for (u32 l = 0; l < LANES; l++) word[l] = at[l] / 4;
    LANE_LOOP for (u32 l = 0; l < LANES; l++) wide[l] = at[l];
    s->warps++;
    s->lanes += LANES;
    s->shared++;
    s->shared_lanes += LANES;
    const u32 passes = bank_conflict_passes(g, wide, ~0u, size, true);
    s->bank_conflict_passes += passes;
    const u32 again = shared_with_later(g->worker->who, word);
    s->extra += emu_lanes_of(again);
    if (emu_is_traced(g, w))
        emu_trace_bank_conflict_passes(g, in, w, passes, LANES,
                                       most_lanes_of_one_element(word, again));
}

cache_carry_out CACHE_CARRY_OUT; /* simd_cache.c */
cache_fill CACHE_FILL;
emu_find_lanes FIND_LANES;       /* emu/sched/simd_notify.c */
emu_op OP_NAME(fetch_texels);    /* emu/ops/simd_texture.c */
emu_reach_surface REACH_SURFACE; /* emu/ops/simd_surface.c */
emu_spread_masks SPREAD_MASKS;   /* emu/ops/simd_warp.c */
emu_masks_of OP_NAME(masks_of);  /* emu/ops/simd_row.c */
emu_fill_row OP_NAME(fill_row);
emu_words_differ OP_NAME(words_differ);
emu_side_by_side OP_NAME(side_by_side); /* emu/sched/simd_notify.c */
const struct emu_counting COUNTING = {
    count_lanes,       count_shared_atomics,  CACHE_CARRY_OUT,       CACHE_FILL,
    FIND_LANES,        OP_NAME(fetch_texels), REACH_SURFACE,         SPREAD_MASKS,
    OP_NAME(masks_of), OP_NAME(fill_row),     OP_NAME(words_differ), OP_NAME(side_by_side)};
