/* Which instructions of a warp, and which CTAs of a large grid, are traced.
 *
 * The first `most` instructions of a warp are traced. The following instructions are divided into stretches of LENGTH
 * << level instructions, each with a window of LENGTH instructions at a random position. The level grows by one after
 * WINDOWS windows. The positions are hashes of the window's number, so warps that execute the same code have windows of
 * the same code, and contend for the same units in the timing model.
 *
 * Of a CTA outside of the sample (struct trace_cta, `late`) the first stretch has LATE instructions and its window at
 * the end: a CTA whose warps execute less costs nothing. */
#include "emu/trace.h"

#include "base/arena.h"

typedef uint32_t u32;
typedef uint64_t u64;

enum {
    LENGTH = 32, /* instructions of a window */
    WINDOWS = 8, /* of a level */
    LEVELS = 24,
    LATE = 1 << 11,
    LATE_LEVEL = 6, /* LATE / LENGTH = 2^6 */
    BARRIERS = 64,  /* of a CTA that are all recorded, at least */
};

/* "lowbias32" (Wellons, "Prospecting for Hash Functions", 2018) */
static u32 hash(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static void end_window(struct trace_warp *w)
{
    w->recorded += w->length;
    if (w->level) w->folded += (u64)w->length << w->level;
    else w->plain += w->length;
    w->covered += (u64)w->length << w->level;
    w->length = 0;
}

void trace_next_window(const struct trace_cta *c, struct trace_warp *w)
{
    end_window(w);
    w->on = false;
    w->cut = true;
    w->next = UINT64_MAX;
    if (!c->windows) return;
    w->windows++;
    if ((!w->level || w->windows % WINDOWS == 0) && w->level < LEVELS) w->level++;
    w->most = LENGTH;
    const u64 first = w->covered > w->instructions ? w->covered : w->instructions,
              stretch = (u64)LENGTH << w->level;
    w->next = first + (u64)hash(w->windows) % (stretch - LENGTH + 1);
}

/* Barrier number n is recorded if n is a multiple of 2^l, with l = 0 for the first `all` ones, 1 for as many again, 2
 * for twice as many, ... */
static bool is_recorded(u32 n, u32 all)
{
    u32 level = 0;
    for (u32 k = n / all; k; k /= 2) level++;
    return n % (1u << level) == 0;
}

void trace_barriers(struct trace_cta *c, struct trace_warp *w, uint32_t block, uint32_t count,
                    uint32_t idle, bool recorded)
{
    const bool wanted = is_recorded(w->barriers, c->barriers_all);
    w->barriers += count;
    if (recorded && !wanted) w->words[w->count - 1] |= TRACE_UNSYNCED;
    for (u32 k = 0; k < count && wanted && !recorded && w->cut; k++) {
        *trace_reserve_words(c, w, 1) = TRACE_BLOCK_WORD(block, TRACE_BARRIER, idle);
        w->count++;
        w->recorded++;
    }
}

void trace_windows_end(struct trace_cta *c)
{
    for (u32 k = 0; k < c->warp_count; k++) {
        struct trace_warp *w = &c->warps[k];
        end_window(w);
        if (!c->windows) w->instructions = w->recorded;
    }
}

void trace_windows_begin(const struct trace *t, struct trace_cta *c)
{
    c->windows = t->windows;
    c->barriers = t->windows ? t->barriers : NULL;
    c->barriers_all = c->late || t->most / 4 < BARRIERS ? BARRIERS : t->most / 4;
    for (u32 w = 0; w < c->warp_count; w++) {
        c->warps[w] = (struct trace_warp){.most = t->most};
        if (!c->late) continue;
        c->warps[w].most = LENGTH;
        c->warps[w].level = LATE_LEVEL;
        c->warps[w].next = LATE - LENGTH;
        c->warps[w].cut = true;
    }
}
