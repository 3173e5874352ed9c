/* emu/speculate/ownership_tags.h: the ownership tags of words, and what an access does to them.
 *
 * Conflict-free speculation keeps a tag for each word of memory (ownership.h): which warp (or thread) has stored to the
 * word or loaded it in this phase. is_bad() says whether an access conflicts with the tag, after() which tag it leaves,
 * and leave() does both for adjacent words. simd_ownership.c finds the words of a warp's access; all of this is
 * compiled into it, once for each host instruction set. */
#ifndef HEDDLE_EMU_SPECULATE_OWNERSHIP_TAGS_H
#define HEDDLE_EMU_SPECULATE_OWNERSHIP_TAGS_H

#include "emu/ops/lane.h"
#include "emu/speculate/ownership.h"

/* Without optimisation, gcc's intrinsics for these are macros that cause warnings. */
#if defined __AVX512F__ && defined __OPTIMIZE__
#define HAS_GATHER 1
#else
#define HAS_GATHER 0
#endif

enum kind { LOADS, STORES, REDUCES };

struct lanes { /* an access of a warp's lanes */
    struct conflict_free *p;
    const struct emu_cta *cta;
    struct tagged_shared *shared; /* NULL: no shared memory, or the CTA has only one warp */
    u32 site, mask, size;
    u32 step; /* difference between the tags of adjacent lanes */
    enum kind kind;
    u8 flags; /* enum emu_access_flag */
    /* The tag that lane 0 leaves if it stores or reduces, or if it loads a word without a tag: in global memory; in
     * shared memory. */
    u32 own, own_shared;
    _Alignas(64) u64 at[LANES];
};

static inline __attribute__((always_inline)) void gather(u32 to[LANES], const u32 *from,
                                                         const i32 at[LANES])
{
#if HAS_GATHER
    for (u32 h = 0; h < LANES; h += LANES / 2)
        _mm512_storeu_si512(to + h,
                            _mm512_i32gather_epi32(_mm512_loadu_si512(at + h), from, sizeof *to));
#else
    LANE_LOOP for (u32 i = 0; i < LANES; i++) to[i] = from[at[i]];
#endif
}

/* The following functions have no conditional code, which compilers would turn into branches instead of vectors. */

/* The tag without the number of its phase. 0: the tag is of an earlier phase, below `base`. */
static inline __attribute__((always_inline)) u32 since(u32 tag, u32 base)
{
    return (tag - base) & (0 - (u32)(tag >= base));
}

static inline __attribute__((always_inline)) u32 after(u32 was, u32 me, const enum kind kind)
{
    if (kind != LOADS) return me;
    const u32 with = (was | 1) == (me | 1) ? was : TAG_SEVERAL;
    return was ? with : me;
}

/* Not 0: an access with tag `me` conflicts with the tag `was`. */
static inline __attribute__((always_inline)) u32 is_bad(u32 was, u32 me, const enum kind kind)
{
    const u32 differ = (was | (kind != REDUCES)) ^ (me | (kind == LOADS));
    return differ & (kind == LOADS ? 0 - (was & 1) : was ? ~0u : 0);
}

/* Sets the tags of `count` adjacent words. base: first tag of this phase, 0 if there are no phases. own: tag of the
 * first lane. Each lane has 1 << shift words. Whether some word conflicts. */
static inline __attribute__((always_inline)) bool leave(u32 *tag, u32 count, const u32 base,
                                                        const u32 own, const u32 step,
                                                        const u32 shift, const enum kind kind)
{
    u32 bad = 0;
    if (count == LANES && !shift) { /* the usual case, for vectors */
        LANE_LOOP for (u32 i = 0; i < LANES; i++)
        {
            const u32 was = since(tag[i], base), me = own + step * i;
            bad |= is_bad(was, me, kind);
            tag[i] = base + after(was, me, kind);
        }
    } else LANE_LOOP for (u32 i = 0; i < count; i++)
        {
            const u32 was = since(tag[i], base), me = own + step * (i >> shift);
            bad |= is_bad(was, me, kind);
            tag[i] = base + after(was, me, kind);
        }
    return bad;
}

static inline bool tag_range(const struct lanes *l, u32 *tags, u32 count, u32 base, u32 own)
{
    const u32 shift = l->size > TAG_WORD ? (u32)__builtin_ctz(l->size / TAG_WORD) : 0,
              step = l->step;
    if (l->kind == LOADS) return leave(tags, count, base, own, step, shift, LOADS);
    if (l->kind == STORES) return leave(tags, count, base, own, step, shift, STORES);
    return leave(tags, count, base, own, step, shift, REDUCES);
}

#endif
