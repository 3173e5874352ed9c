/* Loads, stores and reductions of launches that are asked whether their warps are apart (apart.h), compiled for each
 * host instruction set: each leaves its marks, and is then carried out as always. */
#include "emu/lane.h"

#include "emu/apartops.h"
#include "emu/atomic.h"
#include "emu/memops.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <string.h>

/* One for each kind of reductions that may come in any order: of signed numbers only least and greatest are others. */
static u32 atomic_mark(const struct atomic_desc *v)
{
    const bool sign = (v->op == ATOMIC_MIN || v->op == ATOMIC_MAX) &&
                      (v->type == PTX_s32 || v->type == PTX_s64);
    return APART_REDUCED + 2 * (v->op * 4u + (v->width == 8) * 2u + sign);
}

enum kind { LOADS, STORES, REDUCES };

struct lanes { /* of a warp */
    struct apart *p;
    const struct emu_cta *cta;
    struct apart_shared *shared; /* NULL: there is none, or no other warp that has it */
    u32 site, mask, size;
    u32 shift; /* of each lane 1 << shift words */
    enum kind kind;
    bool alike; /* all lanes leave the same mark */
    _Alignas(64) u64 at[LANES];
    /* By lane, the mark that it leaves if it stores or reduces; if it loads, if nobody else was there: in global
     * memory, in shared */
    u32 own[LANES], own_shared[LANES];
};

/* What follows has no choices, of which compilers would make branches in place of vectors. */

/* A mark as it is from `base` on: of this phase. */
static inline __attribute__((always_inline)) u32 since(u32 mark, u32 base)
{
    return (mark - base) & (0 - (u32)(mark >= base));
}

static inline __attribute__((always_inline)) u32 after(u32 was, u32 me, const enum kind kind)
{
    if (kind != LOADS) return me;
    const u32 with = (was | 1) == (me | 1) ? was : APART_SEVERAL;
    return was ? with : me;
}

/* 0: it is not. */
static inline __attribute__((always_inline)) u32 is_bad(u32 was, u32 me, const enum kind kind)
{
    const u32 differ = (was | (kind != REDUCES)) ^ (me | (kind == LOADS));
    return differ & (kind == LOADS ? 0 - (was & 1) : was ? ~0u : 0);
}

/* Marks of this phase: those from `base` on, which is 0 if there are no phases; `own` as in struct lanes, from the
 * words' first lane on. Whether somebody else is in the way. *fresh: something may change there for the first time. */
static inline __attribute__((always_inline)) bool leave(u32 *mark, u32 count, const u32 base,
                                                        const u32 *own, const u32 shift,
                                                        const enum kind kind, bool *fresh)
{
    u32 bad = 0, is_new = 0;
    if (count == LANES && !shift) { /* the usual case, for vectors */
        LANE_LOOP for (int i = 0; i < LANES; i++)
        {
            const u32 was = since(mark[i], base);
            bad |= is_bad(was, own[i], kind);
            is_new |= was ^ own[i];
            mark[i] = base + after(was, own[i], kind);
        }
    } else LANE_LOOP for (u32 i = 0; i < count; i++)
        {
            const u32 was = since(mark[i], base), me = own[i >> shift];
            bad |= is_bad(was, me, kind);
            is_new |= was ^ me;
            mark[i] = base + after(was, me, kind);
        }
    *fresh |= is_new != 0;
    return bad;
}

static inline __attribute__((always_inline)) bool mark(const struct lanes *l, u32 *marks, u32 count,
                                                       u32 base, const u32 *own, bool *fresh)
{
    if (l->kind == LOADS) return leave(marks, count, base, own, l->shift, LOADS, fresh);
    if (l->kind == STORES) return leave(marks, count, base, own, l->shift, STORES, fresh);
    return leave(marks, count, base, own, l->shift, REDUCES, fresh);
}

/* The words of a chunk get marks of their own: that of threads is the first lane's, who has the first word. */
static inline void divide(const struct lanes *l, struct apart_allocation *b, u64 chunk)
{
    const u32 all = b->of_chunk[chunk],
              step = l->p->by_thread && all >= APART_FIRST ? APART_NEXT : 0;
    if (all == APART_BY_WORDS) return;
    b->of_chunk[chunk] = APART_BY_WORDS;
    for (u32 i = 0; i < LANES; i++) b->marks[chunk * LANES + i] = all + step * i;
}

/* Bytes from an offset on, of lanes from that of `own` on. Whether somebody else is in the way. */
static bool mark_bytes(const struct lanes *l, struct apart_allocation *b, u64 offset, u32 size,
                       const u32 *own, bool *fresh)
{
    const bool by_chunks = !l->p->by_thread || l->size == APART_WORD;
    bool bad = false;
    for (u32 n; size; size -= n, offset += n) {
        const u64 chunk = offset / APART_CHUNK, at = offset % APART_CHUNK;
        n = size < APART_CHUNK - at ? size : (u32)(APART_CHUNK - at);
        const u64 first = offset / APART_WORD, last = (offset + n - 1) / APART_WORD;
        if (n == APART_CHUNK && by_chunks && b->of_chunk[chunk] != APART_BY_WORDS)
            bad |= mark(l, &b->of_chunk[chunk], 1, 0, own, fresh);
        else {
            divide(l, b, chunk);
            bad |= mark(l, b->marks + first, (u32)(last - first + 1), 0, own, fresh);
        }
        own += n / l->size;
    }
    return bad;
}

static void tell(const struct lanes *l, u64 address, u32 size)
{
    static const u8 kinds[] = {[LOADS] = EMU_LOAD, [STORES] = EMU_STORE, [REDUCES] = EMU_RED};
    const struct emu_observer *const o = l->p->observer;
    if (o) o->bytes(o->self, address, size, kinds[l->kind]);
}

/* Bytes side by side, of lanes from the first one on. Whether they could be loaded without a mark. */
static bool touch(const struct lanes *l, u64 address, u32 size, u32 first_lane)
{
    struct apart *const p = l->p;
    tell(l, address, size);
    struct apart_allocation *const b = apart_find(p, l->site, address, size, l->kind != LOADS);
    bool fresh = false;
    if (!b) return p->failed = true;
    if (l->kind == LOADS && !b->stored && !p->marked[l->site]) {
        apart_load_free(p, b, l->site);
        return !p->observer;
    }
    if (!b->marks) apart_make_marks(p, b);
    const u64 offset = address - b->low;
    p->failed |= mark_bytes(l, b, offset, size, l->own + first_lane, &fresh);
    if (l->kind == LOADS) return false;
    if (!b->stored) apart_change(p, b);
    if (!fresh) return false; /* it is kept already */
    const u64 first = offset & -(u64)APART_WORD, room = b->high - b->low,
              end = (offset + size + APART_WORD - 1) & -(u64)APART_WORD;
    apart_keep(p, b, first, (u32)((end < room ? end : room) - first));
    return false;
}

/* Whether all lanes' words, or pairs of them, lie between these. */
static bool all_inside(const struct lanes *l, u64 low, u64 room)
{
    if (l->size != APART_WORD && l->size != 2 * APART_WORD) return false;
    if (room < l->size) return false;
    const u64 last = room - l->size;
    u64 bad = 0;
    LANE_LOOP for (int i = 0; i < LANES; i++)
    {
        const u64 o = l->at[i] - low, x = (o & (l->size - 1)) | (o > last ? 1 : 0);
        bad |= l->mask >> i & 1 ? x : 0;
    }
    return !bad;
}

/* Of each lane its word, or two. Lanes that may change something for the first time are in *fresh. Whether somebody
 * else is in the way. */
static inline __attribute__((always_inline)) bool
leave_words(const struct lanes *l, struct apart_allocation *b, const enum kind kind, u32 *fresh)
{
    const u32 words = l->size / APART_WORD;
    bool bad = false;
    for (u32 left = l->mask; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const u64 o = l->at[i] - b->low;
        divide(l, b, o / APART_CHUNK);
        for (u32 k = 0; k < words; k++) {
            u32 *const to = &b->marks[o / APART_WORD + k];
            const u32 was = *to, me = l->own[i];
            if (was == me) continue;
            bad |= is_bad(was, me, kind);
            *fresh |= 1u << i;
            *to = after(was, me, kind);
        }
    }
    return bad;
}

/* The same for vectors: one word each, from the allocation's beginning, all of which have marks of their own. A lane
 * that is off does as the first one that is on. alike: all leave the same mark. */
static inline __attribute__((always_inline)) bool leave_each(const i32 word[LANES], u32 *marks,
                                                             const u32 base, const u32 own[LANES],
                                                             const enum kind kind, const bool alike,
                                                             bool *fresh)
{
    const u32 all = own[0];
    u32 bad = 0, differ = 0, lost = 0;
    _Alignas(64) u32 mark[LANES];
    LANE_LOOP for (int i = 0; i < LANES; i++)
    {
        const u32 had = marks[word[i]], was = since(had, base), me = alike ? all : own[i];
        bad |= is_bad(was, me, kind);
        mark[i] = base + after(was, me, kind);
        differ |= mark[i] ^ had;
    }
    *fresh = differ;
    if (!differ) return bad;
    LANE_LOOP for (int i = 0; i < LANES; i++) marks[word[i]] = mark[i];
    if (alike) return bad;
    LANE_LOOP for (int i = 0; i < LANES; i++) lost |= marks[word[i]] ^ mark[i];
    for (u32 i = 0; lost && i < LANES; i++) { /* threads at one word */
        u32 *const to = &marks[word[i]];
        bad |= is_bad(*to - base, own[i], kind);
        *to = base + after(*to - base, own[i], kind);
    }
    return bad;
}

static inline bool mark_each(const struct lanes *l, const i32 word[LANES], u32 *marks, u32 base,
                             const u32 own[LANES], bool *fresh)
{
    if (l->alike) {
        if (l->kind == LOADS) return leave_each(word, marks, base, own, LOADS, true, fresh);
        if (l->kind == STORES) return leave_each(word, marks, base, own, STORES, true, fresh);
        return leave_each(word, marks, base, own, REDUCES, true, fresh);
    }
    if (l->kind == LOADS) return leave_each(word, marks, base, own, LOADS, false, fresh);
    return leave_each(word, marks, base, own, STORES, false, fresh);
}

/* For mark_each(): of each lane the word that it has, if all of them lie between these; false: they do not. Those
 * that are off have the first one's that is on. */
static inline __attribute__((always_inline)) bool words_of(const struct lanes *l, u64 low, u64 room,
                                                           i32 word[LANES])
{
    const u64 any = l->at[__builtin_ctz(l->mask)] - low, last = room - APART_WORD;
    u64 bad = 0;
    if (l->size != APART_WORD || room < APART_WORD || room / APART_WORD > INT32_MAX) return false;
    LANE_LOOP for (int i = 0; i < LANES; i++)
    {
        const u64 o = l->mask >> i & 1 ? l->at[i] - low : any;
        bad |= (o & (APART_WORD - 1)) | (o > last);
        word[i] = (i32)(o / APART_WORD);
    }
    return !bad;
}

/* Likewise the marks that they leave. */
static inline const u32 *marks_of(const struct lanes *l, const u32 lanes_own[LANES], u32 own[LANES])
{
    const u32 first = lanes_own[__builtin_ctz(l->mask)];
    if (l->alike || l->mask == ~0u) return lanes_own;
    LANE_LOOP for (int i = 0; i < LANES; i++) own[i] = l->mask >> i & 1 ? lanes_own[i] : first;
    return own;
}

static inline bool mark_words(const struct lanes *l, struct apart_allocation *b, u32 *fresh)
{
    if (l->kind == LOADS) return leave_words(l, b, LOADS, fresh);
    if (l->kind == STORES) return leave_words(l, b, STORES, fresh);
    return leave_words(l, b, REDUCES, fresh);
}

static void touch_each(const struct lanes *l, struct apart_allocation *b, const i32 word[LANES])
{
    _Alignas(64) u32 own[LANES];
    u32 whole = 0;
    bool fresh;
    LANE_LOOP for (int i = 0; i < LANES; i++)
        whole |= b->of_chunk[word[i] / LANES] ^ APART_BY_WORDS;
    for (u32 i = 0; whole && i < LANES; i++) divide(l, b, (u32)word[i] / LANES);
    l->p->failed |= mark_each(l, word, b->marks, 0, marks_of(l, l->own, own), &fresh);
    if (l->kind == LOADS || !fresh) return;
    u8 **const to = (u8 **)(void *)apart_keep_lanes(l->p, LANES, APART_WORD);
    u32 *const bytes = (u32 *)(void *)(to + LANES), *const from = (u32 *)(void *)b->host;
    for (int i = 0; i < LANES; i++) to[i] = (u8 *)(from + word[i]);
    for (int i = 0; i < LANES; i++) bytes[i] = from[word[i]];
}

/* Some lanes' words in one allocation, which has been changed before. false: they are not. */
static bool touch_words(const struct lanes *l)
{
    struct apart *const p = l->p;
    struct apart_allocation *const b = p->of_site[l->site];
    if (!b || !b->stored) return false;
    _Alignas(64) i32 word[LANES];
    const bool by_words = words_of(l, b->low, b->high - b->low, word);
    if (!by_words && !all_inside(l, b->low, b->high - b->low)) return false;
    for (u32 left = p->observer ? l->mask : 0; left; left &= left - 1)
        tell(l, l->at[__builtin_ctz(left)], l->size);
    if (by_words) {
        touch_each(l, b, word);
        return true;
    }
    u32 fresh = 0;
    p->failed |= mark_words(l, b, &fresh);
    if (l->kind == LOADS || !fresh) return true;
    const u32 count = emu_lanes_of(fresh), size = l->size;
    u8 *to = apart_keep_lanes(p, count, size), *bytes = to + count * sizeof(u8 *);
    for (u32 left = fresh; left; left &= left - 1, to += sizeof(u8 *), bytes += size) {
        u8 *const from = b->host + (l->at[__builtin_ctz(left)] - b->low);
        memcpy(to, &from, sizeof from);
        if (size == APART_WORD) memcpy(bytes, from, APART_WORD);
        else memcpy(bytes, from, 2 * APART_WORD);
    }
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
    if (l->p->by_thread && l->size < APART_WORD) return 0;
    if (z == start + ((u64)last << step) && last - from + 1 == count && are_at(l, start, step))
        return 1;
    if (z == a && l->alike && are_at(l, a, LANES)) {
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

/* Bytes side by side of shared memory. What is outside faults, and needs no marks. */
static inline __attribute__((always_inline)) void touch_shared(const struct lanes *l, u64 offset,
                                                               u32 size, u32 first_lane)
{
    const u32 room = l->cta->shared_size;
    bool fresh = false;
    if (offset > room || size > room - offset) return;
    const u64 first = offset / APART_WORD, last = (offset + size - 1) / APART_WORD;
    l->p->failed |= mark(l, l->shared->marks + first, (u32)(last - first + 1),
                         l->shared->phase << APART_BITS, l->own_shared + first_lane, &fresh);
}

/* All loads of shared memory are marked, or none: then nobody may change it before the next barrier. Whether this one
 * is. */
static bool enter_shared(const struct lanes *l, const struct emu_group *g)
{
    struct apart_shared *const s = l->shared;
    for (u32 w = 0; w < g->warps; w++) s->here |= (u32)(g->exec[w] != 0) << (g->first + w);
    const bool marked = l->p->marked[l->p->m->program->site_count];
    if (l->kind == LOADS) s->loaded |= !marked;
    else s->stored = true;
    if (s->loaded && s->stored) apart_mark_shared(l->p);
    return marked || l->kind != LOADS;
}

/* leave() for a run of words, of the lanes that are on: that of the first of them is `mark`. Others stay; those of lanes
 * that are off are looked at all the same. */
static inline __attribute__((always_inline)) bool leave_run(const struct lanes *l, u32 *mark,
                                                            const enum kind kind)
{
    const u32 m = l->mask, base = l->shared->phase << APART_BITS;
    u32 *const row = mark - __builtin_ctz(m);
    const u32 *const own = l->own_shared;
    u32 bad = 0;
    LANE_LOOP for (int i = 0; i < LANES; i++)
    {
        const u32 on = m >> i & 1, had = row[i], was = since(had, base), me = own[i];
        bad |= is_bad(was, me, kind) & (0 - on);
        row[i] = on ? base + after(was, me, kind) : had;
    }
    return bad;
}

static inline __attribute__((always_inline)) void touch_lanes_shared(const struct lanes *l)
{
    u32 first[2], bytes;
    const u32 runs = cut(l, first, &bytes);
    const u64 at = l->at[first[0]];
    _Alignas(64) i32 word[LANES];
    if (runs == 1 && bytes > APART_WORD && l->size == APART_WORD && at % APART_WORD == 0 &&
        at <= l->cta->shared_size && bytes <= l->cta->shared_size - at) {
        u32 *const mark = l->shared->marks + at / APART_WORD;
        l->p->failed |= l->kind == LOADS    ? leave_run(l, mark, LOADS)
                        : l->kind == STORES ? leave_run(l, mark, STORES)
                                            : leave_run(l, mark, REDUCES);
        return;
    }
    for (u32 i = 0; i < runs; i++) touch_shared(l, l->at[first[i]], bytes, first[i]);
    if (runs) return;
    if (words_of(l, 0, l->cta->shared_size, word)) {
        _Alignas(64) u32 own[LANES];
        bool fresh;
        l->p->failed |= mark_each(l, word, l->shared->marks, l->shared->phase << APART_BITS,
                                  marks_of(l, l->own_shared, own), &fresh);
    } else
        for (u32 left = l->mask; left; left &= left - 1) {
            const u32 i = (u32)__builtin_ctz(left);
            touch_shared(l, l->at[i], l->size, i);
        }
}

/* Whether all could be loaded without marks. */
static bool touch_lanes(const struct lanes *l, const struct emu_group *g, bool generic)
{
    u32 first[2], bytes;
    const u32 runs = cut(l, first, &bytes);
    bool free = l->kind == LOADS;
    if (runs && l->at[first[0]] >= MEM_GLOBAL && l->at[first[runs - 1]] >= MEM_GLOBAL) {
        for (u32 i = 0; i < runs; i++) free &= touch(l, l->at[first[i]], bytes, first[i]);
        return free;
    }
    if (touch_words(l)) return false;
    for (u32 left = l->mask; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const u64 address = l->at[i];
        if (address >= MEM_GLOBAL) {
            free &= touch(l, address, l->size, i);
            continue;
        }
        free = false; /* shared memory, a thread's own, parameters */
        if (!generic || !l->shared || address < MEM_SHARED || address >= MEM_LOCAL) continue;
        enter_shared(l, g);
        touch_shared(l, address - MEM_SHARED, l->size, i);
    }
    return free;
}

/* What the warps of the group do. `mark`: of a reduction. Whether all could be loaded without marks. */
static bool touch_all(struct emu_group *g, const struct emu_uop *in, u32 space, u32 size,
                      enum kind kind, u32 mark)
{
    struct apart *const p = g->worker->machine->apart;
    const u32 of_cta = p->by_thread ? p->m->threads_per_cta : p->m->warps_per_cta,
              step = p->by_thread ? APART_NEXT : 0, per_warp = p->by_thread ? LANES : 1;
    struct lanes l;
    l.p = p;
    l.cta = g->cta;
    l.site = in->site;
    l.size = size;
    l.shift = 0;
    l.kind = kind;
    l.alike = !p->by_thread || kind == REDUCES;
    l.shared = NULL;
    bool free = true;
    p->failed |= space == PTX_SPACE_SHARED_CLUSTER; /* by windows */
    while (size >> l.shift > APART_WORD) l.shift++;
    if (p->m->shared_size && of_cta > 1 && space != PTX_SPACE_GLOBAL)
        l.shared = apart_shared_of(p, g->cta);
    if (space == PTX_SPACE_SHARED && (!l.shared || !enter_shared(&l, g))) return true;
    for (u32 w = 0; w < g->warps; w++) {
        l.mask = g->exec[w];
        if (!l.mask) continue;
        const u32 warps = g->cta->linear * p->m->warps_per_cta, warp = g->first + w,
                  shared = APART_FIRST + APART_NEXT * per_warp * warp + (kind == STORES),
                  global = shared + APART_NEXT * per_warp * warps;
        for (u32 i = 0; i < LANES; i++) l.own[i] = kind == REDUCES ? mark : global + step * i;
        if (l.shared)
            for (u32 i = 0; i < LANES; i++)
                l.own_shared[i] = kind == REDUCES ? mark : shared + step * i;
        uop_addresses(g, in, w, space, l.at);
        if (space == PTX_SPACE_SHARED) touch_lanes_shared(&l);
        else free &= touch_lanes(&l, g, space == PTX_SPACE_GENERIC);
    }
    return free && !l.shared;
}

static const struct emu_uop *refuse(struct emu_group *g, const struct emu_uop *in)
{
    u32 w = 0;
    while (!g->exec[w]) w++;
    return emu_raise(g, in, EMU_BAD_ORDER, w, (u32)__builtin_ctz(g->exec[w]), 0, 0, "not apart");
}

OP(ld_apart)
{
    struct apart *const p = g->worker->machine->apart;
    const struct mem_desc *const v = in->ext;
    if (!p->is_free[in->site]) {
        const struct apart_allocation *const before = p->of_site[in->site];
        const bool free = touch_all(g, in, v->space, (u32)v->width * v->count, LOADS, 0) &&
                          v->space != PTX_SPACE_SHARED && before == p->of_site[in->site];
        if (free) {
            p->is_free[in->site] = true;
            g->worker->bounds[in->site] = (struct emu_bound){0};
        }
    }
    return p->failed ? refuse(g, in) : v->plain(g, in);
}

OP(st_apart)
{
    const struct mem_desc *const v = in->ext;
    touch_all(g, in, v->space, (u32)v->width * v->count, STORES, 0);
    return g->worker->machine->apart->failed ? refuse(g, in) : v->plain(g, in);
}

OP(red_apart)
{
    const struct atomic_desc *const v = in->ext;
    /* Those of other CTAs are not atomic to it. */
    g->worker->machine->apart->failed |= g->worker->machine->apart->by_thread &&
                                         v->scope < EMU_SCOPE_GPU &&
                                         v->at.space != PTX_SPACE_SHARED;
    touch_all(g, in, v->at.space, v->width, REDUCES, atomic_mark(v));
    return g->worker->machine->apart->failed ? refuse(g, in) : v->plain(g, in);
}
