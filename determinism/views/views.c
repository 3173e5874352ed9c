/* Views at loads, stores and atomics (determinism/views/views.h); fences, barriers and exits are in sync.c.
 *
 * views_access() splits an access into sectors. Each has a history of messages (history.h), the stores to it in coherence
 * order:
 *   load     choose_message() takes one that the warp's view allows, of those the newest visible one or a stale one
 *   store    push() adds a message at the end, with the time from which others see it (draw_visible); store_before()
 *            puts it before messages that are not visible yet
 *   atomic   atomic_sector() reads and writes the newest; choose_old() and atomic_before() let it read an older one
 * A strong read adds what it has read to the view (observe). Guest memory holds the last message of each history. */
#include "determinism/views/views.h"

#include "base/rng.h"
#include "determinism/views/internal.h"
#include "emu/atomic.h"
#include "emu/memory.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct views *views_new(void)
{
    struct views *v = calloc(1, sizeof *v);
    if (!v) abort();
    return v;
}

/* What the warps of the last launch have published. */
static void drop_agents(struct views *v)
{
    for (size_t i = 0; i < v->warp_capacity && v->has_fences; i++) {
        if (!v->begun[i]) continue;
        publication_release(&v->histories.pool, v->warps[i].released);
        v->warps[i].released = NULL;
    }
    v->has_fences = false;
}

void views_free(struct views *v)
{
    if (!v) return;
    drop_agents(v);
    histories_free(&v->histories);
    free(v->warps);
    free(v->begun);
    free(v->ctas);
    free(v);
}

void views_begin(struct views *v, struct emu_machine *m, const struct views_settings *settings,
                 uint64_t *state)
{
    v->m = m;
    v->shape = emu_machine_shape(m);
    v->settings = *settings;
    v->state = state;
    v->now = v->access = v->execution = 0;
    v->widened = false;
    view_clear(&v->sc);
    drop_agents(v);
    histories_begin(&v->histories);
    const size_t warps = (size_t)v->shape.slots * v->shape.warps_per_cta;
    if (warps > v->warp_capacity) {
        free(v->warps);
        free(v->begun);
        v->warps = malloc(warps * sizeof *v->warps);
        v->begun = calloc(warps, sizeof *v->begun);
        v->warp_capacity = warps;
    }
    if (v->shape.slots > v->cta_capacity) {
        free(v->ctas);
        v->ctas = malloc(v->shape.slots * sizeof *v->ctas); /* set when a CTA begins */
        v->cta_capacity = v->shape.slots;
    }
    if (!v->warps || !v->begun || !v->ctas) abort();
}

bool views_were_full(const struct views *v)
{
    bool full = v->histories.replaced || v->sc.widened || v->widened;
    const size_t warps = (size_t)v->shape.slots * v->shape.warps_per_cta;
    for (size_t i = 0; i < warps && !full; i++) {
        if (!v->begun[i]) continue;
        const struct warp_views *g = &v->warps[i];
        full |= g->now.widened || g->acquired.widened || g->acquired_wide.widened;
    }
    return full;
}

uint64_t views_execution(const struct views *v)
{
    return v->execution;
}

void views_settle(struct views *v)
{
    histories_drop_all(&v->histories, ++v->now);
}

/* The history's invisible messages give way to what was before them. */
static void lose(struct views *v, uint64_t address, const struct history *h)
{
    uint32_t lost = 0, at = h->count;
    while (at > 1 && h->messages[at - 1].visible > v->access) lost |= h->messages[--at].bytes;
    for (uint32_t i = 0; i < SECTOR_BYTES; i++)
        if (lost >> i & 1)
            emu_machine_store(v->m, (struct emu_issuer){.kind = EMU_STORE}, address + i,
                              h->messages[at - 1].data + i, 1);
}

void views_lose_late_stores(struct views *v)
{
    for (uint32_t i = 0; v->histories.used && i < HISTORY_COUNT; i++)
        if (v->histories.keys[i] && !(v->histories.keys[i] >> 63))
            lose(v, v->histories.keys[i] * SECTOR_BYTES, &v->histories.table[i]);
    views_settle(v);
}

/* ---- one access: its sectors --------------------------------------------------------------------------- */

/* One of two alternatives. */
static bool either(struct views *v)
{
    const struct views_settings *s = &v->settings;
    return s->choose ? s->choose(s->choose_self, 2) : rng_below(v->state, 2);
}

struct touch {
    struct views *v;
    struct warp_views *g;
    const struct emu_access *a;
    uint32_t size; /* bytes of a lane */
    bool strong, wide, acquires, releases, shared;
    bool placed; /* a store has taken its place before a message, and is not written to memory */
    bool fetched;
};
typedef void on_sector(struct touch *t, uint64_t address, uint32_t bytes);

static uint32_t bytes_of(uint64_t address, uint64_t size)
{
    return (uint32_t)(((UINT64_C(1) << size) - 1) << address % SECTOR_BYTES);
}

/* Calls f for each sector; more than once where other lanes' sectors come in between. */
static void each_sector(struct touch *t, on_sector *f)
{
    const struct emu_access *a = t->a;
    const bool is_run = a->contiguous && a->stride == t->size;
    const uint64_t each = is_run ? UINT64_C(32) * t->size : t->size;
    uint64_t sector = UINT64_MAX;
    uint32_t bytes = 0;
    uint64_t last = UINT64_MAX; /* the lane before accessed the same bytes: they are in `bytes` */
    for (uint32_t m = is_run ? 1 : a->lanes; m; m &= m - 1) {
        uint64_t at = a->address[__builtin_ctz(m)];
        if (at == last) continue;
        last = at;
        for (uint64_t left = each; left;) {
            const uint64_t to_end = SECTOR_BYTES - at % SECTOR_BYTES,
                           n = left < to_end ? left : to_end;
            if (at / SECTOR_BYTES != sector && bytes) {
                f(t, sector * SECTOR_BYTES, bytes);
                bytes = 0;
            }
            sector = at / SECTOR_BYTES;
            bytes |= bytes_of(at, n);
            at += n;
            left -= n;
        }
    }
    if (bytes) f(t, sector * SECTOR_BYTES, bytes);
}

/* Of a sector of global memory, or of the CTA's shared memory; never 0. */
static uint64_t key_of(const struct touch *t, uint64_t address)
{
    const uint64_t at = t->shared && address >= MEM_SHARED ? address - MEM_SHARED : address,
                   sector = at / SECTOR_BYTES;
    return t->shared ? UINT64_C(1) << 63 | (uint64_t)t->g->cta << 24 | sector : sector;
}

/* What memory holds of a sector; bytes outside of allocations are 0. */
static void read_memory(const struct touch *t, uint64_t address, uint8_t out[SECTOR_BYTES])
{
    struct emu_machine *m = t->v->m;
    if (t->shared) {
        emu_machine_load_shared(m, t->a->who, address, out, SECTOR_BYTES);
        return;
    }
    if (emu_machine_load(m, address, out, SECTOR_BYTES)) return;
    for (uint32_t i = 0; i < SECTOR_BYTES; i++) emu_machine_load(m, address + i, out + i, 1);
}

/* ---- what is morally strong, and what a read adds to the view ---------------------------------------------- */

static bool covers(const struct warp_views *g, const struct message *m)
{
    return m->writer == g->writer || view_covers(&g->now, m->writer, m->born);
}

static bool is_morally_strong(const struct touch *t, const struct message *m)
{
    if (m->writer == HISTORY_NOBODY || m->writer == t->g->writer) return true;
    return t->strong && m->is_strong && (m->cta == t->g->cta || (t->wide && m->is_wide));
}

/* Joins a view of `by` to a view of the warp, of which `which` (0 to 2) is the number. */
static void join(struct warp_views *g, struct view *to, uint64_t which, const struct published *by,
                 const struct shared_view *from)
{
    if (view_contains_all_until(to, by->newest, by->is_widened)) return;
    const uint64_t name = from->id * 3 + which;
    if (g->joined[name % JOINED] == name) return; /* views only grow */
    g->joined[name % JOINED] = name;
    view_join(to, &from->view);
}

static void acquire(const struct touch *t, const struct publication *p)
{
    struct warp_views *g = t->g;
    if (!p) return;
    const uint64_t id = p->id * 4 + t->acquires * 2u + t->wide;
    if (g->last_acquired == id) return;
    g->last_acquired = id;
    if ((t->acquires || view_contains_all_until(&g->acquired, p->newest, p->is_widened)) &&
        (!t->acquires || view_contains_all_until(&g->now, p->newest, p->is_widened)) &&
        ((t->acquires && t->wide) ||
         view_contains_all_until(&g->acquired_wide, p->newest, p->is_widened)))
        return;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct published *by = &p->by[i];
        if (by->is_anyones || by->cta == g->cta) {
            if (t->acquires) join(g, &g->now, 0, by, by->narrow);
            else join(g, &g->acquired, 1, by, by->narrow);
        } else if (by->wide) {
            if (t->acquires && t->wide) join(g, &g->now, 0, by, by->wide);
            else join(g, &g->acquired_wide, 2, by, by->wide);
        }
    }
}

/* A strong read of these bytes after the message `at`: observation order, and acquire patterns. */
static void observe(const struct touch *t, const struct history *h, uint32_t at, uint32_t bytes)
{
    for (uint32_t i = at + 1; i-- > 0 && bytes;) {
        const struct message *m = &h->messages[i];
        if (!(m->bytes & bytes)) continue;
        bytes &= ~m->bytes;
        if (!is_morally_strong(t, m)) continue;
        if (i && !covers(t->g, m)) view_add_message(&t->g->now, m->born);
        acquire(t, m->published);
    }
}

/* ---- which execution it is (views_execution) ------------------------------------------------------------------ */

/* The messages that bytes come from which are read after the message `at`, those that someone has written: a sum of hashes
 * with `reader`. */
static uint64_t edges(const struct history *h, uint32_t at, uint32_t bytes, uint64_t reader)
{
    uint64_t sum = 0;
    for (uint32_t i = at + 1; i-- > 1 && bytes;) {
        const struct message *m = &h->messages[i];
        if (m->bytes & bytes) sum += rng_mix(((uint64_t)m->writer << 32 | m->order) ^ reader);
        bytes &= ~m->bytes;
    }
    return sum;
}

/* The access has read these bytes after the message `at`. */
static void note_read(struct touch *t, const struct history *h, uint32_t at, uint32_t bytes)
{
    const uint64_t reader = rng_mix((uint64_t)t->g->writer << 32 | t->a->pc),
                   edge = edges(h, at, bytes, reader);
    if (t->g->last_edge != edge) t->v->execution += edge;
    t->g->last_edge = edge;
}

/* What the messages from `at` on have overwritten. */
static uint64_t places(const struct history *h, uint32_t at)
{
    uint64_t sum = 0;
    for (uint32_t i = at; i < h->count; i++) {
        const struct message *m = &h->messages[i];
        sum += edges(h, i - 1, m->bytes, ~rng_mix((uint64_t)m->writer << 32 | m->order));
    }
    return sum;
}

/* ---- loads ------------------------------------------------------------------------------------------------ */

/* Whether a load that may be stale is. Weak loads mostly are: all but one in fresh_one_in. Strong loads mostly are not:
 * one in stale_one_in is. */
static bool is_stale(struct touch *t)
{
    const struct views_settings *s = &t->v->settings;
    if (!s->fresh_one_in) return false;
    if (t->strong) return s->stale_one_in && !rng_below(t->v->state, s->stale_one_in);
    return rng_below(t->v->state, s->fresh_one_in);
}

/* The message that a load of these bytes reads; what is newer does not overlap it, or is not read. */
static uint32_t choose_message(struct touch *t, const struct history *h, uint32_t bytes)
{
    uint32_t may[HISTORY_DEPTH], count = 0,
                                 newest = HISTORY_DEPTH; /* in may[]: the newest that is visible */
    for (uint32_t i = h->count; i-- > 0;) {
        const struct message *m = &h->messages[i];
        if (i && !(m->bytes & bytes)) continue;
        const bool covered = !i || covers(t->g, m);
        if (newest == HISTORY_DEPTH && (covered || m->visible <= t->v->access)) newest = count;
        may[count++] = i;
        if (covered) break;
    }
    assert(newest < count); /* the base is always covered */
    const struct views_settings *s = &t->v->settings;
    if (s->choose && (t->strong ? s->stale_one_in : s->fresh_one_in)) {
        const uint32_t chosen = s->choose(s->choose_self, count);
        assert(chosen < count);
        return may[chosen];
    }
    if (s->choose) return may[newest];
    const uint32_t older = count - 1 - newest;
    return may[older && is_stale(t) ? newest + 1 + rng_below(t->v->state, older) : newest];
}

/* Whether a message behind this one has some of the bytes. */
static bool is_overwritten(const struct history *h, uint32_t at, uint32_t bytes)
{
    for (uint32_t i = at + 1; i < h->count; i++)
        if (h->messages[i].bytes & bytes) return true;
    return false;
}

/* The lanes that load from the sector get these bytes of it. */
static void give(const struct touch *t, uint64_t address, const uint8_t data[SECTOR_BYTES])
{
    const struct emu_access *a = t->a;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint64_t from = a->address[l], to = from + t->size;
        if (from >= address + SECTOR_BYTES || to <= address) continue;
        const uint64_t first = from > address ? from : address,
                       last = to < address + SECTOR_BYTES ? to : address + SECTOR_BYTES;
        memcpy(a->result + (size_t)a->stride * l + (first - from), data + (first - address),
               last - first);
    }
}

/* What memory holds now, for all lanes. */
static void fetch(struct touch *t)
{
    const struct emu_access *a = t->a;
    if (t->fetched) return;
    t->fetched = true;
    if (!t->shared) emu_machine_fetch(t->v->m, a);
    for (uint32_t m = t->shared ? a->lanes : 0; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        emu_machine_load_shared(t->v->m, a->who, a->address[l], a->result + (size_t)a->stride * l,
                                t->size);
    }
}

static void load_sector(struct touch *t, uint64_t address, uint32_t bytes)
{
    const struct history *h = histories_find(&t->v->histories, key_of(t, address));
    if (!h) {
        if (t->acquires) view_add_all(&t->g->now, t->v->histories.lost);
        else if (t->strong) view_add_all(&t->g->acquired, t->v->histories.lost);
        return;
    }
    const uint32_t at = choose_message(t, h, bytes);
    note_read(t, h, at, bytes);
    if (is_overwritten(h, at, bytes)) {
        fetch(t);
        give(t, address, h->messages[at].data);
    }
    if (t->strong) observe(t, h, at, bytes);
}

/* ---- stores ------------------------------------------------------------------------------------------------- */

/* The history of the sector, made if there is none. */
static struct history *history_of(struct touch *t, uint64_t address)
{
    struct histories *all = &t->v->histories;
    struct history *h = histories_find(all, key_of(t, address));
    return h ? h : histories_add(all, key_of(t, address), ++t->v->now);
}

static struct publication *reference(struct publication *p)
{
    if (p) p->refs++;
    return p;
}

static struct publication *with_released(const struct touch *t, struct publication *p)
{
    if (t->g->released) publication_add(&t->v->histories.pool, p, &t->g->released->by[0]);
    return p;
}

/* The release patterns that the message belongs to. An atomic goes on with those of what it read, a strong write with
 * those of the same warp's writes to the place. */
static struct publication *publish(const struct touch *t, const struct history *h, uint32_t at,
                                   uint32_t bytes, bool atomic)
{
    struct publication *p = NULL;
    struct publication_pool *pool = &t->v->histories.pool;
    const struct warp_views *g = t->g;
    bool reads = atomic;
    if (!t->strong) return NULL;
    for (uint32_t i = at; i-- > 0;) {
        const struct message *m = &h->messages[i];
        if (i && !(m->bytes & bytes)) continue;
        const bool goes_on = (reads || !i || m->writer == g->writer) && is_morally_strong(t, m);
        reads &= (m->bytes & bytes) != bytes;
        if (m->published == g->released) continue; /* that is published anyway */
        for (uint32_t k = 0; goes_on && m->published && k < m->published->count; k++) {
            if (!p) p = publication_new(pool);
            publication_add(pool, p, &m->published->by[k]);
        }
    }
    if (!t->releases) return p ? with_released(t, p) : reference(g->released);
    struct shared_view *now = shared_view_new(pool);
    views_of_release(t->v, g, &now->view);
    struct publication *own = publication_new(pool);
    publication_begin(own, (struct published){
                               .cta = g->cta,
                               .narrow = now,
                               .wide = shared_view_reference(t->wide       ? now
                                                             : g->released ? g->released->by[0].wide
                                                                           : NULL)});
    if (!p) return own;
    publication_add(pool, p, &own->by[0]);
    publication_release(pool, own);
    return p;
}

/* The access from which on all threads see the store: this one, or a later one if the store is late. */
static uint64_t draw_visible(struct views *v)
{
    const uint32_t late = v->settings.late_for;
    if (v->settings.choose) return late ? UINT64_MAX : v->access;
    return late && rng_below(v->state, 2) ? v->access + 1 + rng_below(v->state, late) : v->access;
}

static void fill_message(struct touch *t, struct message *m, uint32_t bytes, bool atomic)
{
    struct views *v = t->v;
    m->born = ++v->now;
    m->visible = draw_visible(v);
    m->access = v->access;
    m->writer = t->g->writer;
    m->order = t->g->stores;
    m->cta = t->g->cta;
    m->bytes = bytes;
    m->is_strong = t->strong;
    m->is_wide = t->wide;
    m->is_atomic = atomic;
    m->is_blind = !atomic || (t->a->op == ATOMIC_EXCH && t->a->flags & EMU_DEAD_RESULT);
}

/* Carries the atomic out on a copy of its sector. */
static void apply(const struct touch *t, uint8_t sector[SECTOR_BYTES])
{
    const struct emu_access *a = t->a;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint8_t *operand = a->data + (size_t)a->stride * l;
        const bool cas = a->op == ATOMIC_CAS;
        atomic_apply(a->op, a->type, sector + a->address[l] % SECTOR_BYTES,
                     cas ? operand + 32 : operand, cas ? operand : NULL,
                     a->result ? a->result + (size_t)a->stride * l : NULL);
    }
}

/* Whether the access is an atomic that leaves the sector as it is, such as an addition of zero. */
static bool is_silent(const struct touch *t, const uint8_t before[SECTOR_BYTES])
{
    uint8_t after[SECTOR_BYTES];
    if (t->a->kind <= EMU_STORE) return false;
    memcpy(after, before, SECTOR_BYTES);
    apply(t, after);
    return !memcmp(before, after, SECTOR_BYTES);
}

/* Whether the atomic `at` may read this store or atomic instead of the message before it: its result does not show it, and
 * there is no release pattern that it would have to go on with. */
static bool may_precede(const struct touch *t, const struct history *h, uint32_t at, uint32_t bytes)
{
    if (!t->v->settings.late_atomics || t->releases || t->g->released) return false;
    if (!h->messages[at].is_blind && !is_silent(t, h->messages[at - 1].data)) return false;
    for (uint32_t i = 0; i < at; i++)
        if ((!i || h->messages[i].bytes & bytes) && h->messages[i].published) return false;
    return true;
}

/* Where the store takes its place: behind all messages, or before some that are still invisible, and that have all of its
 * bytes, so that memory need not change. */
static uint32_t place(struct touch *t, const struct history *h, uint32_t bytes)
{
    uint32_t at = h->count;
    if (!t->v->settings.late_for || h->count == HISTORY_DEPTH) return at;
    for (uint32_t i = h->count; i-- > 1;) {
        const struct message *m = &h->messages[i];
        if (bytes & ~m->bytes || m->visible <= t->v->access || covers(t->g, m)) break;
        if (m->is_atomic && is_morally_strong(t, m) &&
            (m->reads_old || !may_precede(t, h, i, bytes)))
            break;
        if (either(t->v)) break;
        at = i;
    }
    return at;
}

static void push(struct touch *t, struct history *h, uint64_t address, uint32_t bytes, bool atomic)
{
    struct message *last = &h->messages[h->count - 1];
    uint8_t memory[SECTOR_BYTES];
    if (h->count > 1 && last->access == t->v->access) { /* other lanes of this instruction */
        t->v->execution -= places(h, h->count - 1);
        last->bytes |= bytes;
        t->v->execution += places(h, h->count - 1);
        return;
    }
    struct publication *p = publish(t, h, h->count, bytes, atomic);
    read_memory(t, address, memory);
    struct message *m = history_push(&t->v->histories, h, memory);
    fill_message(t, m, bytes, atomic);
    m->published = p;
    t->v->execution += places(h, h->count - 1);
}

/* The place of a message before the message `at`. An atomic there that would have returned something else has read the message
 * before. */
static struct message *insert(struct touch *t, struct history *h, uint32_t at, uint32_t bytes,
                              bool atomic)
{
    const struct message *next = &h->messages[at];
    const bool shows = next->is_atomic && !next->is_blind &&
                       !is_silent(t, h->messages[at - 1].data);
    struct message *m = history_insert(h, at);
    if (shows) h->messages[at + 1].reads_old = true;
    fill_message(t, m, bytes, atomic);
    return m;
}

/* The bytes that the lanes store into this sector. */
static void take(const struct touch *t, uint64_t address, uint8_t data[SECTOR_BYTES])
{
    const struct emu_access *a = t->a;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t i = 0; i < t->size; i++) {
            const uint64_t at = a->address[l] + i - address;
            if (at < SECTOR_BYTES) data[at] = a->data[(size_t)a->stride * l + i];
        }
    }
}

static void store_sector(struct touch *t, uint64_t address, uint32_t bytes)
{
    push(t, history_of(t, address), address, bytes, false);
}

/* The first and only sector of a store. true: it has taken its place before a newer message. */
static bool store_before(struct touch *t, uint64_t address, uint32_t bytes)
{
    struct history *h = histories_find(&t->v->histories, key_of(t, address));
    const uint32_t at = h ? place(t, h, bytes) : 0;
    if (!h || at == h->count) return false;
    struct publication *p = publish(t, h, at, bytes, false);
    t->v->execution -= places(h, at);
    struct message *m = insert(t, h, at, bytes, false);
    m->published = p;
    t->v->execution += places(h, at);
    take(t, address, m->data);
    return true;
}

/* ---- atomics ---------------------------------------------------------------------------------------------- */

static void atomic_sector(struct touch *t, uint64_t address, uint32_t bytes)
{
    struct history *h = history_of(t, address);
    if (h->count > 1 && h->messages[h->count - 1].access == t->v->access) {
        push(t, h, address, bytes, true);
        return;
    }
    observe(t, h, h->count - 1, bytes);
    note_read(t, h, h->count - 1, bytes); /* others may read an older one: atomic_on_old */
    push(t, h, address, bytes, true);
}

/* An atomic may read a message behind which only writes are that are not morally strong with it: it is not atomic against
 * them. Returns the message; the newest if there is none, or by chance. */
static uint32_t choose_old(struct touch *t, const struct history *h, uint32_t bytes)
{
    uint32_t at = h->count - 1;
    if (!t->v->settings.fresh_one_in) return at;
    for (; at > 0; at--) {
        const struct message *m = &h->messages[at];
        if (!(m->bytes & bytes)) continue;
        if (covers(t->g, m) || is_morally_strong(t, m) || either(t->v)) break;
    }
    return at;
}

/* An atomic of one element of one sector of global memory that reads an older value. false: it does not. */
static bool atomic_on_old(struct touch *t, uint64_t address, uint32_t bytes)
{
    const struct emu_access *a = t->a;
    struct history *h = histories_find(&t->v->histories, key_of(t, address));
    if (!h || t->shared || a->count != 1 || !a->data) return false;
    const uint32_t at = choose_old(t, h, bytes);
    if (!is_overwritten(h, at, bytes)) return false;
    uint8_t sector[SECTOR_BYTES];
    memcpy(sector, h->messages[at].data, SECTOR_BYTES);
    observe(t, h, at, bytes);
    note_read(t, h, at, bytes);
    apply(t, sector);
    /* Observed at `at`, it takes its place behind all messages. */
    struct publication *p = publish(t, h, at + 1, bytes, true);
    uint8_t memory[SECTOR_BYTES];
    read_memory(t, address, memory);
    struct message *m = history_push(&t->v->histories, h, memory);
    fill_message(t, m, bytes, true);
    m->reads_old = true;
    m->published = p;
    t->v->execution += places(h, h->count - 1);
    for (uint32_t i = 0; i < SECTOR_BYTES; i++)
        if (bytes >> i & 1) emu_machine_store(t->v->m, emu_issuer(a), address + i, sector + i, 1);
    return true;
}

/* The same for one that takes its place before invisible messages, and reads what was there before them. */
static bool atomic_before(struct touch *t, uint64_t address, uint32_t bytes)
{
    const struct emu_access *a = t->a;
    struct history *h = histories_find(&t->v->histories, key_of(t, address));
    if (!h || !t->v->settings.late_atomics || t->shared || a->count != 1 || !a->data ||
        a->op == ATOMIC_CAS)
        return false;
    const uint32_t at = place(t, h, bytes);
    if (at == h->count) return false;
    uint8_t sector[SECTOR_BYTES];
    memcpy(sector, h->messages[at - 1].data, SECTOR_BYTES);
    observe(t, h, at - 1, bytes);
    note_read(t, h, at - 1, bytes);
    apply(t, sector);
    struct publication *p = publish(t, h, at, bytes, true);
    t->v->execution -= places(h, at);
    struct message *m = insert(t, h, at, bytes, true);
    m->published = p;
    memcpy(m->data, sector, SECTOR_BYTES);
    t->v->execution += places(h, at);
    return true;
}

static bool are_equal(const uint8_t *a, const uint8_t *b, uint32_t size)
{
    if (size != 4) return !memcmp(a, b, size);
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x == y;
}

/* Whether no lane's comparand is what memory holds: the compare-and-swap changes nothing, and is a strong load. Warps that wait
 * for one lock do little else: each word is loaded once. */
static bool fails(const struct touch *t)
{
    const struct emu_access *a = t->a;
    if (a->op != ATOMIC_CAS || a->count != 1 || !a->data) return false;
    uint8_t value[SECTOR_BYTES];
    uint64_t loaded = UINT64_MAX;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint64_t address = a->address[l];
        if (address != loaded) {
            if (t->shared) emu_machine_load_shared(t->v->m, a->who, address, value, t->size);
            else emu_machine_load(t->v->m, address, value, t->size);
            loaded = address;
        }
        if (are_equal(value, a->data + (size_t)a->stride * l, t->size)) return false;
    }
    return true;
}

/* A strong load of what memory holds. */
static void load_newest(struct touch *t, uint64_t address, uint32_t bytes)
{
    const struct history *h = histories_find(&t->v->histories, key_of(t, address));
    if (h) {
        observe(t, h, h->count - 1, bytes);
        note_read(t, h, h->count - 1, bytes);
    } else load_sector(t, address, bytes);
}

/* ---- accesses ------------------------------------------------------------------------------------------------ */

static void drop_sector(struct touch *t, uint64_t address, uint32_t bytes)
{
    (void)bytes;
    histories_drop(&t->v->histories, key_of(t, address), t->v->now);
}

/* Whether the access lies in one sector: then *address is that sector, *bytes its bytes. */
static bool is_in_one_sector(const struct touch *t, uint64_t *address, uint32_t *bytes)
{
    const struct emu_access *a = t->a;
    *address = a->address[__builtin_ctz(a->lanes)] / SECTOR_BYTES * SECTOR_BYTES;
    *bytes = 0;
    uint64_t last = UINT64_MAX;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        if (at == last) continue;
        last = at;
        if (at < *address || at + t->size > *address + SECTOR_BYTES) return false;
        *bytes |= bytes_of(at, t->size);
    }
    return true;
}

enum emu_verdict views_access(struct views *v, const struct emu_access *a)
{
    struct touch t = {.v = v,
                      .g = views_of_warp(v, a->who),
                      .a = a,
                      .size = (uint32_t)a->width * a->count,
                      .strong = a->flags & EMU_RELAXED || a->kind > EMU_STORE,
                      .wide = views_is_wide(v, a->scope),
                      .acquires = a->flags & EMU_ACQUIRE,
                      .releases = a->flags & EMU_RELEASE,
                      .shared = a->space == PTX_SPACE_SHARED ||
                                a->space == PTX_SPACE_SHARED_CLUSTER};
    uint64_t address;
    uint32_t bytes;
    v->now++;
    v->access++;
    t.g->stores += a->kind != EMU_LOAD;
    if (a->space != PTX_SPACE_GLOBAL && !(t.shared && v->settings.has_shared)) return EMU_PROCEED;
    if (a->flags & (EMU_ASYNC | EMU_NONCOHERENT)) {
        if (a->kind != EMU_LOAD) each_sector(&t, drop_sector);
        return EMU_PROCEED;
    }
    switch (a->kind) {
    case EMU_LOAD:
        if (!v->histories.used && !t.strong) return EMU_PROCEED;
        each_sector(&t, load_sector);
        return t.fetched ? EMU_DONE : EMU_PROCEED;
    case EMU_STORE:
        if (v->settings.late_for && is_in_one_sector(&t, &address, &bytes) &&
            store_before(&t, address, bytes))
            return EMU_DONE;
        each_sector(&t, store_sector);
        return EMU_PROCEED;
    default:
        if (is_in_one_sector(&t, &address, &bytes) &&
            (atomic_on_old(&t, address, bytes) || atomic_before(&t, address, bytes)))
            return EMU_DONE;
        each_sector(&t, fails(&t) ? load_newest : atomic_sector);
        return EMU_PROCEED;
    }
}
