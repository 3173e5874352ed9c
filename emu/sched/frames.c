/* See frames.h. */
#include "emu/sched/launch_context.h"

#include "base/arena.h"
#include "emu/order.h"

#include <string.h>

enum {
    HOT = 64 << 10, /* bytes of all sets, one at least: the host's nearest caches hold them */
    FEW = 2 << 20,  /* so many bytes of rows are near enough as they are */
    SWAPS = 1024,   /* so many show how long turns are: */
    SHORT = 32,     /* instructions of a turn, in the mean */
};

static void list_by_cta(struct frames *f, struct arena *a)
{
    const struct emu_code *const k = f->m->program->codes[0];
    f->by_cta = arena_array(a, const struct emu_fill *, k->fill_count + 1);
    for (u32 i = 0; i < k->fill_count; i++)
        if (slot_fills_by_cta(&k->fills[i])) f->by_cta[f->by_cta_count++] = &k->fills[i];
}

struct frames *frames_new(const struct emu_machine *m, struct arena *a, u32 resident)
{
    const struct emu_program *const p = m->program;
    const struct emu_frame *const frame = &p->deepest;
    if (m->steps.step == EMU_STEP_INSTRUCTION || m->threads.its || m->threads.yields ||
        m->cluster_size > 1 || p->code_count > 1 || p->codes[0]->reads_undefined)
        return NULL;
    const u32 bundles = (m->warps_per_cta + GROUP - 1) / GROUP;
    const size_t bundle = slot_bundle_size(frame), size = bundles * bundle;
    const size_t sets = size < HOT ? HOT / size : 1;
    if (sets >= resident || size * resident <= FEW) return NULL;
    struct frames *const f = arena_alloc(a, sizeof *f);
    f->m = m;
    f->sets = (u32)sets;
    f->bundle = bundle;
    f->sets_at = cta_arena_take(m->cta_arena, size * sets).at;
    f->most_own = resident;
    f->filled = arena_array(a, bool, sets + resident);
    f->owner = arena_array(a, struct emu_group *, (sets + resident) * m->warps_per_cta);
    f->rows64 = frame->r64 / (ROW * 8);
    f->rows32 = frame->r32 / (ROW * 4);
    f->rows16 = frame->r16 / (ROW * 2);
    list_by_cta(f, a);
    for (u32 i = 0; i < p->codes[0]->uop_count; i++) f->all |= p->codes[0]->live[i];
    return f;
}

u8 *frames_bundle(const struct frames *f, u32 set, u32 warp)
{
    const u32 bundles = (f->m->warps_per_cta + GROUP - 1) / GROUP;
    return f->sets_at + ((size_t)set * bundles + warp / GROUP) * f->bundle;
}

static u64 needs(const struct frames *f, const struct emu_group *g)
{
    return host_worker_of(g)->livelock ? f->all /* who looks at them looks at all */
                                       : emu_needed_rows(g);
}

/* Of the `count` rows from number `from` on, 64 at most, those that `rows` has. */
static inline u64 part(u32 from, u32 count, u64 rows)
{
    const u32 by = from % 64;
    const u64 left = by ? rows >> by | rows << (64 - by) : rows;
    return count < 64 ? left & ((UINT64_C(1) << count) - 1) : left;
}

static u32 bytes_of(const struct frames *f, u64 rows)
{
    const u32 from[3] = {0, f->rows64, f->rows64 + f->rows32},
              count[3] = {f->rows64, f->rows32, f->rows16};
    u32 bytes = 0;
    for (u32 k = 0; k < 3; k++)
        for (u32 i = 0; i < count[k]; i += 64)
            bytes += (8u >> k) * LANES *
                     (u32)__builtin_popcountll(part(from[k] + i, count[k] - i, rows));
    return bytes;
}

/* Of the `count` rows from number `from` on, those that `rows` has. */
static inline __attribute__((always_inline)) u8 *move(u8 *row, u8 *aside, u32 from, u32 count,
                                                      const u32 width, u64 rows, bool back)
{
    for (u32 i = 0; i < count; i += 64)
        for (u64 left = part(from + i, count - i, rows); left; left &= left - 1) {
            u8 *const at = row + (size_t)(i + (u32)__builtin_ctzll(left)) * ROW * width;
            if (back) memcpy(at, aside, LANES * width);
            else memcpy(aside, at, LANES * width);
            aside += LANES * width;
        }
    return aside;
}

static inline __attribute__((always_inline)) void move_all(const struct frames *f,
                                                           struct emu_group *g, bool back)
{
    const u64 rows = g->aside.rows;
    u8 *aside = move(g->files.bundle64, g->aside.at, 0, f->rows64, 8, rows, back);
    aside = move(g->files.bundle32, aside, f->rows64, f->rows32, 4, rows, back);
    move(g->files.bundle16, aside, f->rows64 + f->rows32, f->rows16, 2, rows, back);
}

/* Where what is put aside lies side by side, and pages that nobody writes to are not asked for. */
static void make_space(const struct frames *f, struct emu_group *g)
{
    const u32 need = bytes_of(f, g->aside.rows);
    if (need <= g->aside.size) return;
    const struct cta_block block = cta_arena_take(f->m->cta_arena, need);
    g->aside.at = block.at;
    g->aside.size = (u32)(block.end - block.at);
}

void frames_begin(struct frames *f, struct emu_group *g)
{
    if (f->owner[g->frame] == g) f->owner[g->frame] = NULL;
    g->aside.rows = 0;
    g->aside.since = 0;
}

static void put_aside(struct frames *f, struct emu_group *g)
{
    if (g->state == GROUP_DONE) return;
    g->aside.rows = needs(f, g);
    make_space(f, g);
    move_all(f, g, false);
}

static bool turns_are_short(const struct frames *f)
{
    return f->swaps >= SWAPS && f->instructions < SHORT * f->swaps;
}

/* Gives the CTA a set of its own; rows of its warps that are in the shared one are put aside. */
static void give_own_set(struct frames *f, struct emu_cta *c)
{
    const u32 bundles = (f->m->warps_per_cta + GROUP - 1) / GROUP;
    for (u32 w = 0; w < c->warps; w++) {
        struct emu_group *const g = &c->groups[w];
        if (f->owner[g->frame] != g) continue;
        put_aside(f, g);
        f->owner[g->frame] = NULL;
    }
    const u32 set = f->sets + f->own++;
    slot_move_rows(c, f, cta_arena_take(f->m->cta_arena, bundles * f->bundle).at, set);
    f->filled[set] = true;
}

void frames_take(struct frames *f, struct emu_group *g)
{
    if (g->frame < f->sets * f->m->warps_per_cta && turns_are_short(f) && f->own < f->most_own)
        give_own_set(f, g->cta);
    struct emu_group *const before = f->owner[g->frame];
    if (before) {
        f->swaps++;
        f->instructions += before->instructions - before->aside.since;
        put_aside(f, before);
    }
    g->aside.since = g->instructions;
    if (g->aside.rows) move_all(f, g, true);
    for (u32 i = 0; i < f->by_cta_count; i++) slot_fill_warp(g, f->by_cta[i]);
    f->owner[g->frame] = g;
}

void emu_need_rows(struct emu_group *g)
{
    frames_enter(host_worker_of(g)->frames, g);
}
