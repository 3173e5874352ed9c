/* Loads, stores and reductions of a conflict-free run (conflict_free.h), compiled for each host instruction set.
 *
 * Each handler checks and sets the ownership tags of its words, saves the bytes that it overwrites in the undo log, and
 * then executes the access as in a native launch. A conflict sets conflict_free.failed. */
#include "emu/ops/lane.h"

#include "emu/atomic.h"
#include "emu/ops/memops.h"
#include "emu/order.h"
#include "emu/speculate/deferred.h"
#include "emu/speculate/ownership.h"
#include "emu/speculate/ownership_tags.h"
#include "emu/unwritten.h"
#include "ptx/ptx.h"

#include <string.h>

/* One for each kind of reductions that may come in any order: of signed numbers only least and greatest are others. */
static u32 atomic_mark(const struct atomic_desc *v)
{
    const bool sign = (v->op == ATOMIC_MIN || v->op == ATOMIC_MAX) &&
                      (v->type == PTX_s32 || v->type == PTX_s64);
    return TAG_REDUCED + 2 * (v->op * 4u + (v->width == 8) * 2u + sign);
}

/* Of those that wait in a log, whatever they do. No other has it: compare-and-swaps do not commute. */
enum { LOGGED = TAG_REDUCED + 2 * (4 * ATOMIC_CAS) };

/* Whether a chunk's words may be stored to once each. */
static inline __attribute__((always_inline)) bool is_once(u32 of_chunk)
{
    return !of_chunk || (of_chunk >= TAG_ONCE && of_chunk < TAG_BY_WORDS);
}

/* Words of it, a bit each, are stored to. Whether they were before. */
static inline bool store_once(struct conflict_free *p, struct tagged_allocation *b, u64 chunk,
                              u32 words)
{
    u32 *const of = b->of_chunk + chunk, had = *of, bits = words << 1;
    if (!had) undo_log_save(p, b->record, chunk * TAG_CHUNK, TAG_CHUNK);
    *of = TAG_ONCE | had | bits;
    return had & bits;
}

/* Words from an offset on, a bit each. false: it is not to be done so. */
static bool store_side_by_side(struct conflict_free *p, struct tagged_allocation *b, u64 offset,
                               u32 words)
{
    const u64 all = (u64)words << offset / TAG_WORD % TAG_WORDS, first = offset / TAG_CHUNK;
    bool bad = false;
    for (u32 c = 0; all >> c * TAG_WORDS; c++)
        if (!is_once(b->of_chunk[first + c])) return false;
    for (u32 c = 0; all >> c * TAG_WORDS; c++) {
        const u32 part = all >> c * TAG_WORDS & ((1u << TAG_WORDS) - 1);
        if (part) bad |= store_once(p, b, first + c, part);
    }
    p->doubt |= bad;
    p->failed |= bad;
    return true;
}

/* The words of a chunk get tags of their own: that of threads is the first lane's, who has the first word. What the
 * chunk holds is kept before it changes. */
static inline void divide(struct conflict_free *p, struct tagged_allocation *b, u64 chunk,
                          u32 changes)
{
    const u32 all = b->of_chunk[chunk], step = p->by_thread && all >= TAG_FIRST ? TAG_NEXT : 0;
    u32 *const tags = b->tags + chunk * TAG_WORDS;
    if (all < TAG_ONCE)
        for (u32 i = 0; i < TAG_WORDS; i++) tags[i] = all + step * i;
    else if (all < TAG_BY_WORDS) {
        for (u32 i = 0; i < TAG_WORDS; i++) tags[i] = all >> (i + 1) & 1 ? TAG_SOMEBODY : 0;
        p->doubt = true;
    }
    if (changes & ~all) undo_log_save(p, b->record, chunk * TAG_CHUNK, TAG_CHUNK);
    b->of_chunk[chunk] = TAG_BY_WORDS | (all & 1) | changes;
}

/* Whole chunks. false: of some the words have tags. */
static inline __attribute__((always_inline)) bool tag_chunks(const struct lanes *l,
                                                             struct tagged_allocation *b,
                                                             u64 offset, u32 size, u32 own,
                                                             const enum kind kind)
{
    u32 *const of = b->of_chunk + offset / TAG_CHUNK, bad = 0, most = 0, kept = 1;
    const u32 count = size / TAG_CHUNK, step = l->step * TAG_WORDS;
    for (u32 i = 0; i < count; i++) {
        most = of[i] > most ? of[i] : most;
        kept &= of[i];
    }
    if (most >= TAG_ONCE) return false;
    if (kind != LOADS && !kept) undo_log_save(l->p, b->record, offset, size);
    for (u32 i = 0; i < count; i++) {
        const u32 was = of[i], me = own + step * i;
        bad |= is_bad(was, me, kind);
        of[i] = after(was, me, kind);
    }
    l->p->failed |= bad != 0;
    return true;
}

static bool tag_whole(const struct lanes *l, struct tagged_allocation *b, u64 offset, u32 size,
                      u32 own)
{
    if ((offset | size) % TAG_CHUNK || (l->step && l->size != TAG_WORD)) return false;
    if (l->kind == LOADS) return tag_chunks(l, b, offset, size, own, LOADS);
    if (l->kind == STORES) return tag_chunks(l, b, offset, size, own, STORES);
    return tag_chunks(l, b, offset, size, own, REDUCES);
}

/* Bytes from an offset on, of lanes from that of `own` on. */
static void tag_bytes(const struct lanes *l, struct tagged_allocation *b, u64 offset, u32 size,
                      u32 own)
{
    const u32 shift = (u32)__builtin_ctz(l->size);
    if (tag_whole(l, b, offset, size, own)) return;
    for (u32 n; size; size -= n, offset += n, own += l->step * (n >> shift)) {
        const u32 at = offset % TAG_CHUNK;
        n = size < TAG_CHUNK - at ? size : TAG_CHUNK - at;
        if (tag_whole(l, b, offset, n, own)) continue;
        if (l->kind == STORES && l->p->once && (offset | n) % TAG_WORD == 0 &&
            store_side_by_side(l->p, b, offset, ~0u >> (LANES - n / TAG_WORD)))
            continue;
        const u64 first = offset / TAG_WORD, last = (offset + n - 1) / TAG_WORD;
        divide(l->p, b, offset / TAG_CHUNK, l->kind != LOADS);
        l->p->failed |= tag_range(l, b->tags + first, (u32)(last - first + 1), 0, own);
    }
}

static inline void report_bytes_of(struct conflict_free *p, u32 site, u64 address, u32 size,
                                   enum kind kind, u8 flags)
{
    static const u8 kinds[] = {[LOADS] = EMU_LOAD, [STORES] = EMU_STORE, [REDUCES] = EMU_RED};
    struct footprint_run *const t = &p->footprints[site];
    if (address == t->to) t->to += size;
    else if (address < t->from || address + size > t->to) {
        footprint_report(p, t);
        *t = (struct footprint_run){address, address + size, kinds[kind], flags};
    }
}

static void report_bytes(const struct lanes *l, u64 address, u32 size)
{
    if (l->p->observer) report_bytes_of(l->p, l->site, address, size, l->kind, l->flags);
}

/* Makes ready for tags. false: what is there may be loaded without any. */
static inline bool needs_tags(const struct lanes *l, struct tagged_allocation *b)
{
    struct conflict_free *const p = l->p;
    if (l->kind == REDUCES && l->own == LOGGED && !b->logged) tagged_log(b);
    if (l->kind == REDUCES && !b->reduced && !p->tagged[l->site]) tagged_only_reduce(p, b, l->own);
    if (b->reduced) {
        b->loaded_by[l->site] = true;
        if (l->kind != REDUCES || b->reduced != l->own) tagged_change(p, b);
        return false;
    }
    if (l->kind == LOADS && !b->stored && !p->tagged[l->site]) {
        if (!b->loaded_by[l->site]) tagged_load_free(p, b, l->site);
        return false;
    }
    if (!b->of_chunk) tagged_make_tags(p, b);
    if (l->kind != LOADS && !b->stored) tagged_change(p, b);
    return true;
}

/* Bytes side by side, of lanes from the first one on. Whether they could be loaded without a tag. */
static bool touch(const struct lanes *l, u64 address, u32 size, u32 first_lane)
{
    struct conflict_free *const p = l->p;
    report_bytes(l, address, size);
    struct tagged_allocation *const b = tagged_find(p, l->site, address, size, l->kind != LOADS);
    if (!b) return p->failed = true;
    if (!needs_tags(l, b)) return !p->observer;
    tag_bytes(l, b, address - b->low, size, l->own + l->step * first_lane);
    return false;
}

/* Of each lane a word, all of which have tags of their own. A lane that is off does as the first one that is on. alike:
 * all leave the same tag. */
static inline __attribute__((always_inline)) bool leave_each(const i32 word[LANES], u32 *tags,
                                                             const u32 base, const u32 own[LANES],
                                                             const enum kind kind, const bool alike)
{
    const u32 all = own[0];
    u32 bad = 0, differ = 0, lost = 0;
    _Alignas(64) u32 had[LANES], tag[LANES];
    gather(had, tags, word);
    LANE_LOOP for (int i = 0; i < LANES; i++)
    {
        const u32 was = since(had[i], base), me = alike ? all : own[i];
        bad |= is_bad(was, me, kind);
        tag[i] = base + after(was, me, kind);
        differ |= tag[i] ^ had[i];
    }
    if (!differ) return bad;
    LANE_LOOP for (int i = 0; i < LANES; i++) tags[word[i]] = tag[i];
    if (alike) return bad;
    LANE_LOOP for (int i = 0; i < LANES; i++) lost |= tags[word[i]] ^ tag[i];
    for (u32 i = 0; lost && i < LANES; i++) { /* threads at one word */
        u32 *const to = &tags[word[i]];
        bad |= is_bad(*to - base, own[i], kind);
        *to = base + after(*to - base, own[i], kind);
    }
    return bad;
}

/* `first`: the tag of lane 0. */
static bool tag_each(const struct lanes *l, const i32 word[LANES], u32 *tags, u32 base, u32 first)
{
    _Alignas(64) u32 own[LANES];
    const u32 one = first + l->step * (u32)__builtin_ctz(l->mask);
    LANE_LOOP for (u32 i = 0; i < LANES; i++) own[i] = l->mask >> i & 1 ? first + l->step * i : one;
    if (!l->step) {
        if (l->kind == LOADS) return leave_each(word, tags, base, own, LOADS, true);
        if (l->kind == STORES) return leave_each(word, tags, base, own, STORES, true);
        return leave_each(word, tags, base, own, REDUCES, true);
    }
    if (l->kind == LOADS) return leave_each(word, tags, base, own, LOADS, false);
    return leave_each(word, tags, base, own, STORES, false);
}

/* For tag_each(): of each lane its first word, if all of them lie between these; false: they do not. Those that are
 * off have the first one's that is on. */
static inline __attribute__((always_inline)) bool words_of(const struct lanes *l, u64 low,
                                                           u64 extent, i32 word[LANES])
{
    const u64 any = l->at[__builtin_ctz(l->mask)] - low, last = extent - l->size, odd = l->size - 1;
    u64 bad = 0;
    if (extent < l->size || extent / TAG_WORD > INT32_MAX) return false;
    LANE_LOOP for (int i = 0; i < LANES; i++)
    {
        const u64 o = l->mask >> i & 1 ? l->at[i] - low : any;
        bad |= (o & odd) | (o > last);
        word[i] = (i32)(o / TAG_WORD);
    }
    return !bad;
}

/* One after the other, as each lane may have several. */
static bool tag_all_words(const struct lanes *l, const i32 word[LANES], u32 *tags, u32 base,
                          u32 first)
{
    bool bad = tag_each(l, word, tags, base, first);
    for (u32 k = TAG_WORD; k < l->size; k += TAG_WORD)
        bad |= tag_each(l, word, tags + k / TAG_WORD, base, first);
    return bad;
}

/* Of lanes at one word the last one's stays. */
static inline void put_words(u32 *to, const i32 word[LANES], const u32 *d, u32 m)
{
#if HAS_GATHER
    for (u32 h = 0; h < LANES; h += LANES / 2)
        _mm512_mask_i32scatter_epi32(to, (__mmask16)(m >> h), _mm512_load_si512(word + h),
                                     _mm512_loadu_si512(d + h), sizeof *to);
#else
    for (u32 left = m; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        to[word[i]] = d[i];
    }
#endif
}

/* Lanes may be at one word. false: it is not to be done so. */
static bool store_words_singly(struct conflict_free *p, struct tagged_allocation *b,
                               const i32 word[LANES], const u32 had[LANES], u32 m)
{
    bool bad = false;
    for (u32 i = 0; i < LANES; i++) {
        if (!is_once(had[i])) return false;
        bad |= had[i] >> ((u32)word[i] % TAG_WORDS + 1) & had[i] & 1;
    }
    for (u32 left = m; left; left &= left - 1) {
        const u32 at = (u32)word[__builtin_ctz(left)];
        store_once(p, b, at / TAG_WORDS, 1u << at % TAG_WORDS);
    }
    p->doubt |= bad;
    p->failed |= bad;
    return true;
}

static inline bool store_words_once(struct conflict_free *p, struct tagged_allocation *b,
                                    const i32 word[LANES], u32 m)
{
    _Alignas(64) i32 chunk[LANES + 1];
    _Alignas(64) u32 had[LANES], tag[LANES];
    u32 odd = ~m, first = 0;
    LANE_LOOP for (u32 i = 0; i < LANES; i++) chunk[i] = (i32)((u32)word[i] / TAG_WORDS);
    chunk[LANES] = INT32_MAX;
    gather(had, b->of_chunk, chunk);
    LANE_LOOP for (u32 i = 0; i < LANES; i++)
    {
        const u32 bit = 2u << (u32)word[i] % TAG_WORDS, by_words = had[i] >= TAG_BY_WORDS,
                  one = had[i] < TAG_ONCE, none = had[i] == 0, meets = chunk[i + 1] <= chunk[i];
        tag[i] = had[i] | bit | TAG_ONCE;
        odd |= by_words | (one & ~none) | (had[i] & bit) | meets;
        first |= none;
    }
    if (odd) return store_words_singly(p, b, word, had, m);
    for (u32 i = 0; first && i < LANES; i++)
        if (!had[i]) undo_log_save(p, b->record, (u64)chunk[i] * TAG_CHUNK, TAG_CHUNK);
    put_words(b->of_chunk, chunk, tag, m);
    return true;
}

/* The lanes' words if they are all in one allocation. false: they are not. *free: whether they could be loaded without
 * tags. */
static bool touch_words(const struct lanes *l, bool *free)
{
    struct conflict_free *const p = l->p;
    const u64 any = l->at[__builtin_ctz(l->mask)];
    struct tagged_allocation *const b = any < MEM_GLOBAL ? NULL
                                                         : tagged_find(p, l->site, any, l->size,
                                                                       l->kind != LOADS);
    _Alignas(64) i32 word[LANES];
    if (!b || !words_of(l, b->low, b->high - b->low, word)) return false;
    const bool tags = needs_tags(l, b);
    const u32 *const of = b->of_chunk, may_stay = l->kind == LOADS;
    u32 whole = 0, differ = 0;
    if (tags)
        LANE_LOOP for (int i = 0; i < LANES; i++)
            whole |= (of[(u32)word[i] / TAG_WORDS] | may_stay) ^ (TAG_BY_WORDS | 1);
    *free &= !tags && !p->observer;
    if (tags && !whole && l->kind == REDUCES && l->size == TAG_WORD) {
        LANE_LOOP for (int i = 0; i < LANES; i++) differ |= b->tags[word[i]] ^ l->own;
        if (!differ) return true; /* all of it has been so before */
    }
    for (u32 left = p->observer ? l->mask : 0; left; left &= left - 1)
        report_bytes(l, l->at[__builtin_ctz(left)], l->size);
    if (!tags) return true;
    if (l->kind == STORES && l->size == TAG_WORD && p->once &&
        store_words_once(p, b, word, l->mask))
        return true;
    for (u32 i = 0; whole && i < LANES; i++)
        divide(p, b, (u32)word[i] / TAG_WORDS, l->kind != LOADS);
    p->failed |= tag_all_words(l, word, b->tags, 0, l->own);
    return true;
}

/* Whether each lane that is on has its bytes at lane << step behind `start`; or (LANES) at `start`. */
static inline __attribute__((always_inline)) bool are_at(const struct lanes *l, u64 start, u32 step)
{
    const u32 m = l->mask;
    u64 off = 0;
    if (m == ~0u) { /* the usual case */
        LANE_LOOP for (int i = 0; i < LANES; i++)
            off |= l->at[i] ^ (start + (step == LANES ? 0 : (u64)i << step));
    } else LANE_LOOP for (int i = 0; i < LANES; i++)
        {
            const u64 x = l->at[i] ^ (start + (step == LANES ? 0 : (u64)i << step));
            off |= m >> i & 1 ? x : 0;
        }
    return !off;
}

/* Cuts the lanes that are on into runs, in which lane and bytes follow those before: the first lanes and the sizes of
 * the runs' bytes. Lanes at one place are one run, unless they differ. 0: they are many runs, it is quicker to look at
 * lane by lane. */
static inline __attribute__((always_inline)) u32 cut(const struct lanes *l, u32 first[2],
                                                     u32 *bytes)
{
    const u32 m = l->mask, from = (u32)__builtin_ctz(m), last = 31 - (u32)__builtin_clz(m),
              count = emu_lanes_of(m), step = (u32)__builtin_ctz(l->size);
    const u64 a = l->at[from], start = a - ((u64)from << step), z = l->at[last];
    first[0] = from;
    *bytes = count << step;
    if (l->p->by_thread && l->size < TAG_WORD) return 0;
    if (z == start + ((u64)last << step) && last - from + 1 == count && are_at(l, start, step))
        return 1;
    if (z == a && !l->step && are_at(l, a, LANES)) {
        *bytes = l->size;
        return 1;
    }
    const u64 half = (u64)(LANES / 2 - 1) << step, b = l->at[LANES / 2];
    if (m != ~0u || l->at[LANES / 2 - 1] != a + half || z != b + half) return 0;
    u64 off = 0;
    LANE_HALF_LOOP for (int i = 0; i < LANES / 2; i++)
        off |= (l->at[i] ^ (a + ((u64)i << step))) |
               (l->at[LANES / 2 + i] ^ (b + ((u64)i << step)));
    first[1] = LANES / 2;
    *bytes = (u32)LANES / 2 << step;
    return off ? 0 : 2;
}

/* Bytes side by side of shared memory. What is outside faults, and needs no tags. */
static void touch_shared(const struct lanes *l, u64 offset, u32 size, u32 first_lane)
{
    const u32 extent = l->cta->shared_size;
    if (offset > extent || size > extent - offset) return;
    const u64 first = offset / TAG_WORD, last = (offset + size - 1) / TAG_WORD;
    l->p->failed |= tag_range(l, l->shared->tags + first, (u32)(last - first + 1),
                              l->shared->phase << TAG_BITS, l->own_shared + l->step * first_lane);
}

static inline void note_shared(struct conflict_free *p, struct tagged_shared *s,
                               const struct emu_group *g, u32 what)
{
    for (u32 w = 0; w < g->warps; w++) s->here |= (u32)(g->exec[w] != 0) << (g->first + w);
    if (!(what & ~s->had)) return;
    s->had |= what;
    tagged_shared_used(p, s);
}

/* What a site does in a phase may need no tags: loads, if nobody changes anything before the next barrier; reductions, if
 * all are of one kind and nobody does anything else. Else the launch begins again, and they are tagged. Whether this
 * one is. `tag`: of reductions. */
static inline bool enter_shared(struct conflict_free *p, struct tagged_shared *s,
                                const struct emu_group *g, u32 site, enum kind kind, u32 tag)
{
    const u8 *const tagged = p->tagged + p->m->program->site_count;
    if (kind == LOADS && !p->tagged[site] && tagged[TAG_LOADS] < TAG_ALL) {
        s->seen[site] = s->phase;
        note_shared(p, s, g, TAG_LOADED);
        return false;
    }
    if (kind == REDUCES && !tagged[TAG_REDUCTIONS]) {
        const bool other = s->had & TAG_ADDED && s->kind != tag;
        s->kind = tag;
        note_shared(p, s, g, TAG_ADDED | (other ? TAG_CHANGED : 0));
        return false;
    }
    note_shared(p, s, g, kind == LOADS ? TAG_LOOKED : TAG_CHANGED);
    return true;
}

/* leave() for words side by side, those of the lanes that are on; those of the others are looked at all the same. `bad`
 * is added to. */
static inline __attribute__((always_inline)) void leave_row(u32 *row, u32 m, const u32 base,
                                                            const u32 own, const u32 step,
                                                            const enum kind kind, u32 bad[LANES])
{
    if (m == ~0u) {
        LANE_LOOP for (u32 i = 0; i < LANES; i++)
        {
            const u32 was = since(row[i], base), me = own + step * i;
            bad[i] |= is_bad(was, me, kind);
            row[i] = base + after(was, me, kind);
        }
        return;
    }
    LANE_LOOP for (u32 i = 0; i < LANES; i++)
    {
        const u32 on = m >> i & 1, had = row[i], was = since(had, base), me = own + step * i;
        bad[i] |= is_bad(was, me, kind) & (0 - on);
        row[i] = on ? base + after(was, me, kind) : had;
    }
}

static inline bool any_word(const u32 words[LANES])
{
    return any(off_run_32(words, LANES, 0, 0));
}

static void touch_lanes_shared(const struct lanes *l)
{
    u32 first[2], bytes;
    const u32 runs = cut(l, first, &bytes), base = l->shared->phase << TAG_BITS;
    const u64 at = l->at[first[0]];
    _Alignas(64) i32 word[LANES];
    if (runs == 1 && bytes > TAG_WORD && l->size == TAG_WORD && at % TAG_WORD == 0 &&
        at <= l->cta->shared_size && bytes <= l->cta->shared_size - at) {
        u32 *const row = l->shared->tags + at / TAG_WORD - first[0];
        const u32 m = l->mask, own = l->own_shared;
        _Alignas(64) u32 bad[LANES] = {0};
        if (l->kind == LOADS) leave_row(row, m, base, own, l->step, LOADS, bad);
        else if (l->kind == STORES) leave_row(row, m, base, own, l->step, STORES, bad);
        else leave_row(row, m, base, own, l->step, REDUCES, bad);
        l->p->failed |= any_word(bad);
        return;
    }
    for (u32 i = 0; i < runs; i++) touch_shared(l, l->at[first[i]], bytes, first[i]);
    if (runs) return;
    if (words_of(l, 0, l->cta->shared_size, word)) {
        l->p->failed |= tag_all_words(l, word, l->shared->tags, base, l->own_shared);
        return;
    }
    for (u32 left = l->mask; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        touch_shared(l, l->at[i], l->size, i);
    }
}

/* Whether all could be loaded without tags. */
static bool touch_lanes(const struct lanes *l, const struct emu_group *g, bool generic)
{
    u32 first[2], bytes;
    const u32 runs = cut(l, first, &bytes);
    bool free = l->kind == LOADS;
    if (runs && l->at[first[0]] >= MEM_GLOBAL && l->at[first[runs - 1]] >= MEM_GLOBAL) {
        for (u32 i = 0; i < runs; i++) free &= touch(l, l->at[first[i]], bytes, first[i]);
        return free;
    }
    if (touch_words(l, &free)) return free;
    for (u32 left = l->mask; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const u64 address = l->at[i];
        if (address >= MEM_GLOBAL) {
            free &= touch(l, address, l->size, i);
            continue;
        }
        free = false; /* shared memory, a thread's own, parameters */
        if (!generic || !l->shared || address < MEM_SHARED || address >= MEM_LOCAL) continue;
        note_shared(l->p, l->shared, g, l->kind == LOADS ? TAG_LOOKED : TAG_CHANGED);
        touch_shared(l, address - MEM_SHARED, l->size, i);
    }
    return free;
}

/* Whether a row of addresses is of bytes side by side, 1 << shift of each lane. */
static inline __attribute__((always_inline)) bool follow_64(const u64 *at, u32 shift)
{
    return !any(off_run_64(at, LANES, *at, 1ull << shift));
}
static inline __attribute__((always_inline)) bool follow_words(const u32 *at)
{
    return !any(off_run_32(at, LANES, *at, TAG_WORD));
}

/* Whether all could be loaded without tags. */
static inline bool touch_warp(struct lanes *l, const struct emu_group *g, const struct emu_uop *in,
                              u32 w, u32 space)
{
    if (l->mask == ~0u && in->x == 8 && space != PTX_SPACE_SHARED) {
        const u64 *const p = (const u64 *)(const void *)(g->r64 + in->a) + w * LANES;
        const u64 at = *p + (u64)in->imm;
        const u32 shift = (u32)__builtin_ctz(l->size);
        const bool singly = l->step && l->size < TAG_WORD;
        if (at >= MEM_GLOBAL && !singly && follow_64(p, shift))
            return touch(l, at, (u32)LANES << shift, 0);
    }
    uop_addresses(g, in, w, space, l->at);
    if (space != PTX_SPACE_SHARED) return touch_lanes(l, g, space == PTX_SPACE_GENERIC);
    touch_lanes_shared(l);
    return false;
}

/* Of a CTA whether there is anybody else. */
static inline bool several(const struct conflict_free *p)
{
    return (p->by_thread ? p->m->threads_per_cta : p->m->warps_per_cta) > 1;
}

/* The even tag of a warp's first lane, by the warp's number in its CTA; and how many come before those of the CTA. */
static inline u32 per_warp(const struct conflict_free *p)
{
    return p->by_thread ? LANES * TAG_NEXT : TAG_NEXT;
}
static inline u32 own_of(const struct conflict_free *p, u32 warp)
{
    return TAG_FIRST + per_warp(p) * warp;
}
static inline u32 before_cta(const struct conflict_free *p, const struct emu_cta *c)
{
    return per_warp(p) * (c->linear * p->m->warps_per_cta);
}

/* What the warps of the group do. `tag`: of a reduction. Whether all could be loaded without tags. */
static bool touch_all(struct emu_group *g, const struct emu_uop *in, u32 space, u32 size,
                      enum kind kind, u32 tag)
{
    struct conflict_free *const p = g->worker->conflict_free;
    struct lanes l;
    l.p = p;
    l.cta = g->cta;
    l.site = in->site;
    l.size = size;
    l.kind = kind;
    l.flags = kind == REDUCES ? 0 : ((const struct mem_desc *)in->ext)->flags;
    l.step = p->by_thread && kind != REDUCES ? TAG_NEXT : 0;
    l.shared = NULL;
    l.own = l.own_shared = tag;
    bool free = true;
    p->failed |= space == PTX_SPACE_SHARED_CLUSTER; /* by windows */
    if (p->m->shared_size && several(p) && space != PTX_SPACE_GLOBAL)
        l.shared = tagged_shared_of(p, g->cta);
    if (space == PTX_SPACE_SHARED &&
        (!l.shared || !enter_shared(p, l.shared, g, in->site, kind, tag)))
        return true;
    for (u32 w = 0; w < g->warps; w++) {
        l.mask = g->exec[w];
        if (!l.mask) continue;
        if (kind != REDUCES) {
            l.own_shared = own_of(p, g->first + w) + (kind == STORES);
            l.own = l.own_shared + before_cta(p, g->cta);
        }
        free &= touch_warp(&l, g, in, w, space);
    }
    return free && !l.shared;
}

static const struct emu_uop *refuse(struct emu_group *g, const struct emu_uop *in)
{
    u32 w = 0;
    while (!g->exec[w]) w++;
    return emu_raise(g, in, EMU_BAD_ORDER, w, (u32)__builtin_ctz(g->exec[w]), 0, 0,
                     "warps conflict");
}

/* ---- the usual cases: all warps' words side by side, looked at as one ------------------------------------ */

enum { ROW_BYTES = LANES * TAG_WORD };

/* A row that is not of whole chunks, or of which lanes are off. Whether somebody else is in the way. */
static __attribute__((noinline)) bool tag_row(struct conflict_free *p, struct tagged_allocation *b,
                                              u64 offset, u32 m, u32 me, enum kind kind)
{
    const u32 step = p->by_thread ? TAG_NEXT : 0;
    u32 *const row = b->tags + offset / TAG_WORD;
    if (kind == STORES && p->once && store_side_by_side(p, b, offset, m)) return false;
    for (u64 c = offset / TAG_CHUNK; c <= (offset + ROW_BYTES - 1) / TAG_CHUNK; c++)
        divide(p, b, c, kind != LOADS);
    _Alignas(64) u32 bad[LANES] = {0};
    if (kind == LOADS) leave_row(row, m, 0, me, step, LOADS, bad);
    else leave_row(row, m, 0, me, step, STORES, bad);
    return any_word(bad);
}

enum done {
    LOOK, /* closer; what has been tagged will be as if it were once, or begins again */
    MARKED,
    CARRIED_OUT
};

/* Of each warp the words that its lanes load or store, counted from some address. */
struct words {
    u32 rows; /* a bit for each warp, whose words are side by side: word[0] alone is set, */
    _Alignas(64) i32 word[GROUP][LANES];
};

static inline void get_words(u32 *d, const u32 *from, const i32 word[LANES], u32 m)
{
    _Alignas(64) u32 got[LANES];
    gather(got, from, word);
    LANE_LOOP for (u32 i = 0; i < LANES; i++) d[i] = m >> i & 1 ? got[i] : d[i];
}

/* What belongs to lanes that are off is left as it is. */
static inline void copy_row(u32 *to, const u32 *from, u32 m)
{
    if (m == ~0u) {
        memcpy(to, from, ROW_BYTES);
        return;
    }
    LANE_LOOP for (u32 i = 0; i < LANES; i++)
    {
        if (m >> i & 1) to[i] = from[i];
    }
}

static inline __attribute__((always_inline)) void carry_out(struct emu_group *g,
                                                            const struct emu_uop *in,
                                                            const struct words *a, u8 *host,
                                                            const enum kind kind)
{
    u32 *d = LANE_ROW(u32, in->d), *const base = (u32 *)(void *)host;
    for (u32 w = 0; w < g->warps; w++, d += LANES) {
        const u32 m = g->exec[w];
        const i32 *const word = a->word[w];
        if (!m) continue;
        if (!(a->rows >> w & 1)) {
            if (kind == STORES) put_words(base, word, d, m);
            else get_words(d, base, word, m);
        } else if (kind == STORES) copy_row(base + *word, d, m);
        else copy_row(d, base + *word, m);
    }
}

/* A warp's lanes, each of which has a word. */
static inline struct lanes lanes_of(struct conflict_free *p, u32 mask, enum kind kind)
{
    struct lanes l;
    l.p = p;
    l.mask = mask;
    l.size = TAG_WORD;
    l.step = p->by_thread ? TAG_NEXT : 0;
    l.kind = kind;
    return l;
}

/* Words anyhow of an allocation that has been changed before, by addresses less the first word's. false: not all are
 * such words. */
static __attribute__((noinline)) bool tag_words(struct conflict_free *p,
                                                struct tagged_allocation *b, const u64 *at,
                                                u64 from, u32 m, u32 me, enum kind kind,
                                                i32 word[LANES])
{
    struct lanes l = lanes_of(p, m, kind);
    const u32 *const of = b->of_chunk, may_stay = kind == LOADS;
    u32 whole = 0;
    LANE_LOOP for (int i = 0; i < LANES; i++) l.at[i] = at[i] + from;
    if (!words_of(&l, 0, b->high - b->low, word)) return false;
    if (kind == STORES && p->once && store_words_once(p, b, word, m)) return true;
    LANE_LOOP for (int i = 0; i < LANES; i++)
        whole |= (of[(u32)word[i] / TAG_WORDS] | may_stay) ^ (TAG_BY_WORDS | 1);
    for (u32 i = 0; whole && i < LANES; i++) divide(p, b, (u32)word[i] / TAG_WORDS, kind != LOADS);
    p->failed |= tag_each(&l, word, b->tags, 0, me);
    return true;
}

/* Of an allocation that has been changed before. */
static inline __attribute__((always_inline)) enum done
do_rows(struct emu_group *g, const struct emu_uop *in, const enum kind kind)
{
    struct conflict_free *const p = g->worker->conflict_free;
    struct tagged_allocation *const b = p->of_site[in->site];
    const struct mem_desc *const v = in->ext;
    if (in->x != 8 || !b || !b->stored || v->width != TAG_WORD || v->count != 1 ||
        (b->high - b->low) / TAG_WORD > INT32_MAX)
        return LOOK;
    const u64 *at = (const u64 *)(const void *)(g->r64 + in->a);
    const u64 size = b->high - b->low, from = (u64)in->imm - b->low;
    const u32 next = per_warp(p), half = p->by_thread ? TAG_WORDS * TAG_NEXT : 0;
    u32 me = own_of(p, g->first) + before_cta(p, g->cta) + (kind == STORES), bad = 0;
    u64 keep = 0, keep_to = 0;
    struct words a;
    bool looks = false;
    a.rows = 0;
    for (u32 w = 0; w < g->warps && !looks; w++, at += LANES, me += next) {
        const u32 m = g->exec[w];
        const u64 first = *at, o = first + from;
        if (!m) continue;
        if (!follow_64(at, 2) || o % TAG_WORD || o > size - ROW_BYTES || size < ROW_BYTES) {
            looks = p->observer || !tag_words(p, b, at, from, m, me, kind, a.word[w]);
            continue;
        }
        looks = p->observer && m != ~0u;
        if (looks) break;
        if (p->observer) report_bytes_of(p, in->site, b->low + o, ROW_BYTES, kind, v->flags);
        a.rows |= 1u << w;
        a.word[w][0] = (i32)(o / TAG_WORD);
        u32 *const of = b->of_chunk + o / TAG_CHUNK;
        if (m == ~0u && o % TAG_CHUNK == 0 && of[0] < TAG_ONCE && of[1] < TAG_ONCE) {
            if (kind == STORES && !(of[0] & of[1] & 1)) {
                if (o != keep_to) {
                    if (keep_to > keep) undo_log_save(p, b->record, keep, (u32)(keep_to - keep));
                    keep = o;
                }
                keep_to = o + ROW_BYTES;
            }
            bad |= is_bad(of[0], me, kind) | is_bad(of[1], me + half, kind);
            of[0] = after(of[0], me, kind);
            of[1] = after(of[1], me + half, kind);
        } else bad |= tag_row(p, b, o, m, me, kind);
    }
    if (keep_to > keep) undo_log_save(p, b->record, keep, (u32)(keep_to - keep));
    p->failed |= bad != 0;
    if (looks || p->failed) return LOOK;
    if (g->worker->sites) return MARKED;
    carry_out(g, in, &a, b->host, kind);
    return CARRIED_OUT;
}

/* Loads that need no tags, but are reported. false: it has to be looked at more closely. */
static bool report_rows(const struct emu_group *g, const struct emu_uop *in)
{
    struct conflict_free *const p = g->worker->conflict_free;
    const struct tagged_allocation *const b = p->of_site[in->site];
    const struct mem_desc *const v = in->ext;
    if (!p->observer || !g->whole || in->x != 8 || !b || b->stored || !b->loaded_by[in->site] ||
        p->tagged[in->site] || v->space == PTX_SPACE_SHARED)
        return false;
    const u64 *at = (const u64 *)(const void *)(g->r64 + in->a);
    const u32 size = (u32)v->width * v->count, shift = (u32)__builtin_ctz(size),
              bytes = (u32)LANES << shift;
    const u64 extent = b->high - b->low;
    for (u32 w = 0; w < g->warps; w++, at += LANES) {
        const u64 first = *at + (u64)in->imm;
        if (bytes > extent || first - b->low > extent - bytes || !follow_64(at, shift))
            return false;
        report_bytes_of(p, in->site, first, bytes, LOADS, v->flags);
    }
    return true;
}

/* The same of words of shared memory. */
static inline __attribute__((always_inline)) enum done
do_shared_rows(struct emu_group *g, const struct emu_uop *in, const enum kind kind, const u32 step)
{
    struct conflict_free *const p = g->worker->conflict_free;
    struct tagged_shared *const s = g->cta->tags;
    const u32 extent = g->cta->shared_size, base = s->phase << TAG_BITS, next = per_warp(p);
    const u32 *at = (const u32 *)(const void *)(g->r32 + in->a);
    u32 me = own_of(p, g->first) + (kind == STORES);
    _Alignas(64) u32 bad[LANES] = {0};
    struct words a;
    a.rows = 0;
    for (u32 w = 0; w < g->warps; w++, at += LANES, me += next) {
        const u32 m = g->exec[w], start = *at + (u32)in->imm;
        if (!m) continue;
        const u32 one = (u32)__builtin_ctz(m), first = start + one * TAG_WORD,
                  bytes = (LANES - (u32)__builtin_clz(m) - one) * TAG_WORD;
        if (first % TAG_WORD == 0 && bytes <= extent && first <= extent - bytes &&
            follow_words(at)) {
            a.rows |= 1u << w;
            a.word[w][0] = (i32)(first / TAG_WORD) - (i32)one;
            leave_row(s->tags + a.word[w][0], m, base, me, step, kind, bad);
            continue;
        }
        struct lanes l = lanes_of(p, m, kind);
        LANE_LOOP for (u32 i = 0; i < LANES; i++) l.at[i] = at[i] + (u32)in->imm;
        if (!words_of(&l, 0, extent, a.word[w])) return LOOK;
        p->failed |= tag_each(&l, a.word[w], s->tags, base, me);
    }
    p->failed |= any_word(bad);
    if (p->failed || g->worker->sites) return MARKED;
    carry_out(g, in, &a, g->cta->shared, kind);
    return CARRIED_OUT;
}

static enum done do_shared_loads(struct emu_group *g, const struct emu_uop *in)
{
    return g->worker->conflict_free->by_thread ? do_shared_rows(g, in, LOADS, TAG_NEXT)
                                               : do_shared_rows(g, in, LOADS, 0);
}
static enum done do_shared_stores(struct emu_group *g, const struct emu_uop *in)
{
    return g->worker->conflict_free->by_thread ? do_shared_rows(g, in, STORES, TAG_NEXT)
                                               : do_shared_rows(g, in, STORES, 0);
}

static inline enum done do_shared(struct emu_group *g, const struct emu_uop *in, enum kind kind)
{
    struct conflict_free *const p = g->worker->conflict_free;
    const struct mem_desc *const v = in->ext;
    if (!p->m->shared_size || !several(p)) return LOOK;
    struct tagged_shared *const s = tagged_shared_of(p, g->cta);
    const u32 here = s->here >> g->first & ((1u << g->warps) - 1);
    if (kind == LOADS && s->seen[in->site] == s->phase && here == (1u << g->warps) - 1)
        return MARKED;
    if (!enter_shared(p, s, g, in->site, kind, 0)) return MARKED;
    if (in->x != 4 || v->width != TAG_WORD || v->count != 1) return LOOK;
    return kind == LOADS ? do_shared_loads(g, in) : do_shared_stores(g, in);
}

OP(ld_tagged)
{
    struct conflict_free *const p = g->worker->conflict_free;
    const struct mem_desc *const v = in->ext;
    if (p->is_free[in->site]) return p->failed ? refuse(g, in) : v->plain(g, in);
    const bool shared = v->space == PTX_SPACE_SHARED;
    const enum done done = shared ? do_shared(g, in, LOADS) : do_rows(g, in, LOADS);
    if (done == CARRIED_OUT) return in + 1;
    if (shared && done == LOOK) touch_all(g, in, v->space, (u32)v->width * v->count, LOADS, 0);
    if (shared || done == MARKED || report_rows(g, in))
        return p->failed ? refuse(g, in) : v->plain(g, in);
    const struct tagged_allocation *const before = p->of_site[in->site];
    if (touch_all(g, in, v->space, (u32)v->width * v->count, LOADS, 0) &&
        before == p->of_site[in->site]) {
        p->is_free[in->site] = true;
        g->worker->bounds[in->site] = (struct emu_bound){0};
    }
    return p->failed ? refuse(g, in) : v->plain(g, in);
}

/* The bytes that a store or reduction writes, for memory that is filled where nothing wrote (emu_order.unwritten). */
static void mark_written(const struct emu_group *g, const struct emu_uop *in, u32 space, u32 size)
{
    const struct emu_machine *m = g->worker->machine;
    u64 at[LANES];
    if (!mem_fills(m->mem) || space == PTX_SPACE_SHARED) return;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        uop_addresses(g, in, w, space, at);
        mem_mark_lanes(m->mem, at, g->exec[w], size);
    }
}

OP(st_tagged)
{
    struct conflict_free *const p = g->worker->conflict_free;
    const struct mem_desc *const v = in->ext;
    mark_written(g, in, v->space, (u32)v->width * v->count);
    const enum done done = v->space == PTX_SPACE_SHARED ? do_shared(g, in, STORES)
                                                        : do_rows(g, in, STORES);
    if (done == CARRIED_OUT) return in + 1;
    if (done == LOOK) touch_all(g, in, v->space, (u32)v->width * v->count, STORES, 0);
    return p->failed ? refuse(g, in) : v->plain(g, in);
}

/* ---- reductions that wait (deferred.h) ------------------------------------------------------------------------ */

/* The lanes' addresses and operands, side by side. */
static void write_down(struct deferred_event *e, const u64 *at, const u8 *operand, u32 mask)
{
    const u32 width = e->width;
    u64 *const address = deferred_addresses(e);
    u8 *const data = deferred_operands(e);
    if (mask == ~0u) {
        memcpy(address, at, LANES * sizeof *at);
        memcpy(data, operand, (size_t)LANES * width);
        return;
    }
    for (u32 n = 0; mask; mask &= mask - 1, n++) {
        const u32 i = (u32)__builtin_ctz(mask);
        address[n] = at[i];
        if (width == 4) memcpy(data + 4 * n, operand + 4 * i, 4);
        else memcpy(data + 8 * n, operand + 8 * i, 8);
    }
}

/* Whether each lane that is on has an element at a multiple of its size between these. */
static inline __attribute__((always_inline)) bool lie_in(const struct lanes *l, u64 low, u64 high)
{
    const u64 last = high - low - l->size, odd = l->size - 1;
    u64 bad = 0;
    if (high - low < l->size) return false;
    if (l->mask == ~0u) {
        LANE_LOOP for (int i = 0; i < LANES; i++)
            bad |= (u64)(l->at[i] - low > last) | (l->at[i] & odd);
    } else LANE_LOOP for (int i = 0; i < LANES; i++)
        {
            const u64 wrong = (u64)(l->at[i] - low > last) | (l->at[i] & odd);
            bad |= l->mask >> i & 1 ? wrong : 0;
        }
    return !bad;
}

/* A warp's tags, and whether all of it lies in global memory. */
static bool tag_logged(struct lanes *l, const struct emu_group *g)
{
    const struct tagged_allocation *const b = l->p->of_site[l->site];
    if (b && b->reduced == LOGGED && b->loaded_by[l->site] && lie_in(l, b->low, b->high))
        return true;
    for (u32 left = l->mask; left; left &= left - 1) {
        const u64 at = l->at[__builtin_ctz(left)];
        if (at < MEM_GLOBAL || at & (l->size - 1)) return false;
    }
    touch_lanes(l, g, false);
    return true;
}

static const struct emu_uop *log_all(struct emu_group *g, const struct emu_uop *in)
{
    struct conflict_free *const p = g->worker->conflict_free;
    const struct atomic_desc *const v = in->ext;
    struct lanes l = {.p = p,
                      .cta = g->cta,
                      .site = in->site,
                      .size = v->width,
                      .kind = REDUCES,
                      .own = LOGGED,
                      .own_shared = LOGGED};
    const u8 *operand = emu_row(g, v->width, v->operand[0]);
    for (u32 w = 0; w < g->warps; w++, operand += (size_t)LANES * v->width) {
        l.mask = g->exec[w];
        if (!l.mask) continue;
        uop_addresses(g, in, w, v->at.space, l.at);
        struct deferred_event *const e = deferred_log_add(p->log, p->thread, g->cta, g->first + w,
                                                          emu_lanes_of(l.mask), v->width);
        p->failed |= !e || !tag_logged(&l, g);
        if (p->failed) return refuse(g, in);
        e->kind = DEFERRED_REDUCE;
        e->op = (u8)atomic_op_in(v, true);
        e->type = v->type;
        e->flags = v->flags;
        e->scope = v->scope;
        e->dead = !v->red;
        write_down(e, l.at, operand, l.mask);
    }
    return in + 1;
}

OP(red_tagged)
{
    const struct atomic_desc *const v = in->ext;
    struct conflict_free *const p = g->worker->conflict_free;
    mark_written(g, in, v->at.space, v->width);
    if (p->log && v->at.space != PTX_SPACE_SHARED) return log_all(g, in);
    /* There the order has turns, too. */
    p->failed |= p->log && !p->m->program->shared_commutes && p->m->warps_per_cta > 1;
    /* Those of other CTAs are not atomic to it. */
    g->worker->conflict_free->failed |= g->worker->conflict_free->by_thread &&
                                        v->scope < EMU_SCOPE_GPU && v->at.space != PTX_SPACE_SHARED;
    touch_all(g, in, v->at.space, v->width, REDUCES, atomic_mark(v));
    return g->worker->conflict_free->failed ? refuse(g, in) : v->plain(g, in);
}
