/* See apart.h. */
#include "emu/apart.h"

#include "base/pages.h"
#include "emu/memops.h"
#include "emu/rooms.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, CHUNK = LANES * WORD, UNDO_BLOCK = 1 << 20, MOST_UNDO = 256 << 20 };
/* Marks: 0; of warp w 2 * (w + 1) if it has loaded the word, one more if it has stored to it; or */
#define BY_SEVERAL (UINT32_MAX - 1) /* loaded by several */
/* Of a chunk, where all of it was loaded or stored to at once each time; else */
#define BY_WORDS UINT32_MAX /* its words have marks */

struct allocation {
    u64 low, high;
    u8 *host;
    u32 *marks;              /* by word; NULL: there are none yet */
    u32 *of_chunk;           /* by chunk */
    bool stored, *loaded_by; /* loaded_by: sites whose loads were not marked */
    bool loaded;             /* by any of these */
};
/* What was in memory: of each store its places, the bytes that were there, and how many. */
struct undo {
    struct undo *before;
    size_t used, size;
    u8 bytes[];
};
struct stored {
    u32 count, size;
};
struct apart {
    const struct emu_machine *m;
    bool *marked;                /* by site */
    struct allocation **of_site; /* which it has been in last */
    bool *is_free;               /* by site: a load that needs no marks */
    struct allocation *list[64];
    u32 count;
    bool failed, learnt;
    struct undo *undo;
    size_t undo_bytes;
};

static void *zeros(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) abort();
    return p;
}

struct apart *apart_new(const struct emu_machine *m, bool *marked)
{
    struct apart *p = zeros(1, sizeof *p);
    const size_t sites = m->program->site_count;
    p->m = m;
    p->marked = marked;
    p->of_site = zeros(sites, sizeof(struct allocation *));
    p->is_free = zeros(sites, sizeof *p->is_free);
    return p;
}

static size_t marks_size(const struct allocation *b)
{
    return (b->high - b->low + WORD - 1) / WORD * sizeof *b->marks;
}

/* ---- taking back ---------------------------------------------------------------------------------------- */

/* Room for a store's places and bytes. */
static u8 *remember(struct apart *p, u32 count, u32 size)
{
    const struct stored s = {count, size};
    struct undo *u = p->undo;
    const size_t data = count * (sizeof(u8 *) + size), need = data + sizeof s;
    if (!u || u->size - u->used < need) {
        u = (struct undo *)(void *)rooms_take(p->m->rooms, UNDO_BLOCK).at;
        *u = (struct undo){.before = p->undo, .size = UNDO_BLOCK - sizeof *u};
        p->undo = u;
        p->undo_bytes += UNDO_BLOCK;
        p->failed |= p->undo_bytes > MOST_UNDO;
    }
    u8 *to = u->bytes + u->used;
    memcpy(to + data, &s, sizeof s);
    u->used += need;
    return to;
}

/* The last store first; of one, the last lane's bytes are as they were before any. */
static void take_back(struct apart *p)
{
    for (struct undo *u = p->undo; u; u = u->before)
        while (u->used) {
            struct stored s;
            memcpy(&s, u->bytes + u->used - sizeof s, sizeof s);
            u->used -= sizeof s + s.count * (sizeof(u8 *) + s.size);
            const u8 *from = u->bytes + u->used, *bytes = from + s.count * sizeof(u8 *);
            for (u32 i = 0; i < s.count; i++) {
                u8 *at;
                memcpy(&at, from + i * sizeof at, sizeof at);
                memcpy(at, bytes + (size_t)i * s.size, s.size);
            }
        }
}

enum apart_end apart_end(struct apart *p, bool faulted)
{
    const enum apart_end end = !faulted && !p->failed ? APART_DONE
                               : p->learnt            ? APART_AGAIN
                                                      : APART_NOT;
    if (end != APART_DONE) take_back(p);
    for (u32 i = 0; i < p->count; i++) {
        if (p->list[i]->marks) pages_free(p->list[i]->marks, marks_size(p->list[i]));
        free(p->list[i]->of_chunk);
        free(p->list[i]->loaded_by);
        free(p->list[i]);
    }
    free(p->of_site);
    free(p->is_free);
    free(p);
    return end;
}

/* ---- allocations ------------------------------------------------------------------------------------------ */

static struct allocation *allocation_of(struct apart *p, const struct mem_block *m)
{
    for (u32 i = 0; i < p->count; i++)
        if (p->list[i]->low == m->address) return p->list[i];
    if (p->count == sizeof p->list / sizeof *p->list) return NULL;
    struct allocation *b = p->list[p->count++] = zeros(1, sizeof *b);
    b->low = m->address;
    b->high = m->address + m->size;
    b->host = m->host;
    b->loaded_by = zeros(p->m->program->site_count, sizeof *b->loaded_by);
    return b;
}

/* Where the bytes are; NULL: not all of them are in one that may be accessed so. */
static struct allocation *find(struct apart *p, u32 site, u64 address, u32 size, bool write)
{
    struct allocation *b = p->of_site[site];
    if (b && address >= b->low && address <= b->high - size) return b;
    const struct mem_block *m = mem_find(p->m->mem, address, size);
    if (!m || (write && (m->constant || m->read_only))) return NULL;
    return p->of_site[site] = allocation_of(p, m);
}

static void load_free(struct apart *p, struct allocation *b, u32 site)
{
    b->loaded = b->loaded_by[site] = true;
    if (!b->stored) return;
    p->marked[site] = p->learnt = p->failed = true;
}

static void store_to(struct apart *p, struct allocation *b)
{
    b->stored = true;
    for (u32 i = 0; b->loaded && i < p->m->program->site_count; i++)
        if (b->loaded_by[i]) p->marked[i] = p->learnt = p->failed = true;
}

void apart_found(const struct emu_group *g, const struct emu_uop *in, const struct mem_block *b,
                 bool write)
{
    struct apart *p = g->worker->machine->apart;
    const struct mem_desc *v = in->ext;
    p->failed |= v->space == PTX_SPACE_CONST && !b->constant; /* nobody looks at these */
    if (write || !p->is_free[in->site]) return;               /* it has been marked */
    struct allocation *of = allocation_of(p, b);
    if (of) load_free(p, of, in->site);
    else p->failed = true;
}

/* ---- marks -------------------------------------------------------------------------------------------------- */

/* Both: whether another warp is in the way. */
static bool mark_loads(u32 *mark, u32 count, u32 me)
{
    u32 bad = 0;
    for (; count >= LANES; count -= LANES, mark += LANES) /* the usual case, for vectors */
        for (u32 i = 0; i < LANES; i++) {
            const u32 was = mark[i], mine = (was | 1) == (me | 1);
            bad |= was & 1 & !mine;
            mark[i] = !was ? me : mine ? was : BY_SEVERAL;
        }
    for (u32 i = 0; i < count; i++) {
        const u32 was = mark[i], mine = (was | 1) == (me | 1);
        bad |= was & 1 & !mine;
        mark[i] = !was ? me : mine ? was : BY_SEVERAL;
    }
    return bad;
}

static bool mark_stores(u32 *mark, u32 count, u32 me)
{
    u32 bad = 0;
    for (; count >= LANES; count -= LANES, mark += LANES)
        for (u32 i = 0; i < LANES; i++) {
            bad |= (mark[i] != 0) & ((mark[i] | 1) != (me | 1));
            mark[i] = me | 1;
        }
    for (u32 i = 0; i < count; i++) {
        bad |= mark[i] && (mark[i] | 1) != (me | 1);
        mark[i] = me | 1;
    }
    return bad;
}

static void make_marks(struct allocation *b)
{
    if (b->marks) return;
    b->marks = pages_new(marks_size(b), PAGES_DENSE);
    b->of_chunk = zeros((b->high - b->low) / CHUNK + 1, sizeof *b->of_chunk);
}

/* The words of a chunk get marks of their own. */
static inline void divide(struct allocation *b, u64 chunk)
{
    const u32 all = b->of_chunk[chunk];
    if (all == BY_WORDS) return;
    b->of_chunk[chunk] = BY_WORDS;
    for (u32 i = 0; all && i < LANES; i++) b->marks[chunk * LANES + i] = all;
}

/* Bytes from an offset on. Whether another warp is in the way. */
static bool mark(struct allocation *b, u64 offset, u32 size, u32 me, bool write)
{
    bool (*const marks)(u32 *, u32, u32) = write ? mark_stores : mark_loads;
    bool bad = false;
    for (u32 n; size; size -= n, offset += n) {
        const u64 chunk = offset / CHUNK, at = offset % CHUNK;
        n = size < CHUNK - at ? size : (u32)(CHUNK - at);
        if (n == CHUNK && b->of_chunk[chunk] != BY_WORDS) {
            bad |= marks(&b->of_chunk[chunk], 1, me);
            continue;
        }
        divide(b, chunk);
        const u64 first = offset / WORD, last = (offset + n - 1) / WORD;
        bad |= marks(b->marks + first, (u32)(last - first + 1), me);
    }
    return bad;
}

/* Bytes side by side. Whether they could be loaded without a mark. */
static bool touch(struct apart *p, u32 site, u64 address, u32 size, u32 me, bool write)
{
    struct allocation *b = find(p, site, address, size, write);
    if (!b) return p->failed = true;
    if (!write && !b->stored && !p->marked[site]) {
        load_free(p, b, site);
        return true;
    }
    make_marks(b);
    p->failed |= mark(b, address - b->low, size, me, write);
    if (!write) return false;
    if (!b->stored) store_to(p, b);
    u8 *const at = b->host + (address - b->low), *const to = remember(p, 1, size);
    memcpy(to, &at, sizeof at);
    memcpy(to + sizeof at, at, size);
    return false;
}

/* Stores of some lanes to words or pairs of them in one allocation, which has been stored to before. false: they are
 * not. */
static inline __attribute__((always_inline)) bool touch_words(struct apart *p, const u64 at[LANES],
                                                              u32 mask, const u32 size, u32 me,
                                                              struct allocation *b)
{
    if (!b || !b->marks || !b->stored) return false;
    const u64 room = b->high - b->low;
    u64 bad = 0;
    for (u32 left = mask; left; left &= left - 1) {
        const u64 o = at[__builtin_ctz(left)] - b->low;
        bad |= (o & (size - 1)) | (o > room - size);
    }
    if (bad || room < size) return false;
    const u32 count = (u32)__builtin_popcount(mask);
    u8 *to = remember(p, count, size), *bytes = to + count * sizeof(u8 *);
    for (u32 left = mask; left; left &= left - 1, to += sizeof(u8 *), bytes += size) {
        const u64 o = at[__builtin_ctz(left)] - b->low;
        u8 *const from = b->host + o;
        memcpy(to, &from, sizeof from);
        memcpy(bytes, from, size);
        divide(b, o / CHUNK);
        for (u32 k = 0; k < size / WORD; k++) {
            u32 *mark = &b->marks[o / WORD + k];
            bad |= *mark && (*mark | 1) != (me | 1);
            *mark = me | 1;
        }
    }
    p->failed |= bad;
    return true;
}

static void addresses(const struct emu_group *g, const struct emu_uop *in, u32 w, u64 at[LANES])
{
    const u64 *p64 = (const u64 *)(const void *)(g->r64 + in->a) + w * LANES;
    const u32 *p32 = (const u32 *)(const void *)(g->r32 + in->a) + w * LANES;
    for (u32 l = 0; l < LANES; l++)
        at[l] = (u64)in->imm + (in->x == 8 ? p64[l] : in->x == 4 ? p32[l] : 0);
}

static bool follow(const u64 at[LANES], u32 size)
{
    u64 off = 0;
    for (u32 l = 0; l < LANES; l++) off |= at[l] ^ (at[0] + l * (u64)size);
    return !off;
}

/* Of one warp. Whether all could be loaded without marks. */
static bool touch_lanes(struct apart *p, const struct emu_group *g, const struct emu_uop *in, u32 w,
                        bool write)
{
    const struct mem_desc *v = in->ext;
    const u32 size = (u32)v->width * v->count,
              me = 2 * (g->cta->linear * p->m->warps_per_cta + g->first + w + 1);
    u64 at[LANES];
    bool free = !write;
    addresses(g, in, w, at);
    if (g->exec[w] == ~0u && at[0] >= MEM_GLOBAL && follow(at, size))
        return touch(p, in->site, at[0], LANES * size, me, write);
    struct allocation *const b = p->of_site[in->site];
    if (write && size == WORD && touch_words(p, at, g->exec[w], WORD, me, b)) return false;
    if (write && size == 2 * WORD && touch_words(p, at, g->exec[w], 2 * WORD, me, b)) return false;
    for (u32 left = g->exec[w]; left; left &= left - 1) {
        const u64 address = at[__builtin_ctz(left)];
        if (address < MEM_GLOBAL) free = false; /* a thread's own, or parameters */
        else free &= touch(p, in->site, address, size, me, write);
    }
    return free;
}

static const struct emu_uop *access(struct emu_group *g, const struct emu_uop *in, bool write)
{
    struct apart *p = g->worker->machine->apart;
    const struct mem_desc *v = in->ext;
    bool free = !write;
    u32 w = 0;
    if (!p->is_free[in->site]) {
        const struct allocation *before = p->of_site[in->site];
        for (w = 0; w < g->warps; w++)
            if (g->exec[w]) free &= touch_lanes(p, g, in, w, write);
        p->is_free[in->site] = free && before == p->of_site[in->site];
        if (p->is_free[in->site]) g->worker->bounds[in->site] = (struct emu_bound){0};
    }
    if (!p->failed) return v->plain(g, in);
    for (w = 0; !g->exec[w];) w++;
    return emu_raise(g, in, EMU_BAD_ORDER, w, (u32)__builtin_ctz(g->exec[w]), 0, 0, "not apart");
}

const struct emu_uop *emu_op_ld_apart(struct emu_group *g, const struct emu_uop *in)
{
    return access(g, in, false);
}

const struct emu_uop *emu_op_st_apart(struct emu_group *g, const struct emu_uop *in)
{
    return access(g, in, true);
}
