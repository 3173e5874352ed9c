/* The race detector: tables of flags, the addresses at which a thread has released something
 * (detector.h). A CTA has few flags in shared memory: a hash table. In global memory there may be
 * as many as words: the shadow pages have the numbers of their flags in a pool. */
#include "determinism/race/detector.h"

#include "base/pages.h"
#include "emu/memory.h"

#include <stdlib.h>
#include <string.h>

static void empty_flag(struct race *r, struct flag *f)
{
    for (uint32_t i = 0; i < LEVELS; i++) {
        vclock_unref(&r->vclocks, f->released[i]);
        f->released[i] = NULL;
    }
}

/* ---- by address
 * --------------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct flags *f, uint64_t address)
{
    /* Mixed twice: the flags of several arrays would otherwise collide as runs of adjacent
     * slots. */
    uint64_t h = address * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32) & (f->cap - 1);
}

static struct flag *find_flag(const struct flags *f, uint64_t address)
{
    for (uint32_t i = f->count ? slot_of(f, address) : 0; f->count; i = (i + 1) & (f->cap - 1)) {
        if (f->list[i].address == address) return &f->list[i];
        if (!f->list[i].address) break;
    }
    return NULL;
}

static struct flag *add_flag(struct flags *f, uint64_t address)
{
    if (2 * (f->count + 1) > f->cap) {
        struct flags bigger = {.cap = f->cap ? 2 * f->cap : 16, .count = f->count};
        bigger.list = calloc(bigger.cap, sizeof *bigger.list);
        if (!bigger.list) abort();
        for (uint32_t i = 0; i < f->cap; i++) {
            if (!f->list[i].address) continue;
            uint32_t k = slot_of(&bigger, f->list[i].address);
            while (bigger.list[k].address) k = (k + 1) & (bigger.cap - 1);
            bigger.list[k] = f->list[i];
        }
        free(f->list);
        *f = bigger;
    }
    uint32_t i = slot_of(f, address);
    while (f->list[i].address) i = (i + 1) & (f->cap - 1);
    f->list[i] = (struct flag){.address = address};
    f->count++;
    return &f->list[i];
}

static void remove_flag(struct race *r, struct flags *f, struct flag *flag)
{
    empty_flag(r, flag);
    flag->address = 0;
    f->count--;
    uint32_t hole = (uint32_t)(flag - f->list); /* later entries of the run move up */
    for (uint32_t i = (hole + 1) & (f->cap - 1); f->list[i].address; i = (i + 1) & (f->cap - 1)) {
        const uint32_t home = slot_of(f, f->list[i].address);
        if (((i - home) & (f->cap - 1)) < ((i - hole) & (f->cap - 1))) continue;
        f->list[hole] = f->list[i];
        f->list[i] = (struct flag){0};
        hole = i;
    }
}

void race_flags_clear(struct race *r, struct flags *f)
{
    for (uint32_t i = 0; i < f->cap && f->count; i++) {
        if (!f->list[i].address) continue;
        empty_flag(r, &f->list[i]);
        f->list[i].address = 0;
        f->count--;
    }
}

void race_flags_forget(struct race *r)
{
    if (r->before_buffered.count)
        memset(r->before_buffered.list, 0,
               r->before_buffered.cap * sizeof *r->before_buffered.list);
    r->before_buffered.count = 0;
    r->flag_pool.count = r->flag_pool.vacant = 0;
}

/* ---- of global memory
 * --------------------------------------------------------------------------------- */

static struct page *page_of(struct race *r, uint64_t address)
{
    return shadow_page(&r->global, address - MEM_GLOBAL, false);
}

static uint32_t new_global_flag(struct flag_pool *p)
{
    const uint32_t again = p->vacant;
    if (again) {
        p->vacant = p->list[again].next;
        return again;
    }
    if (!p->count) p->count = 1; /* number 0: none */
    if (!p->list) p->list = pages_new((size_t)FLAGS_MOST * sizeof *p->list, PAGES_DENSE);
    if (p->count >= FLAGS_MOST) return 0;
    return p->count++;
}

static struct flag *add_global_flag(struct race *r, uint64_t address)
{
    struct page *p = page_of(r, address);
    if (!p) return NULL;
    const uint32_t line = (uint32_t)(address % PAGE) / 4 / LINE_WORDS;
    if (!(p->flagged >> line & 1)) shadow_mark_flags(&r->global, p, line);
    const uint32_t place = new_global_flag(&r->flag_pool);
    if (!place) {
        race_give_up(r);
        return NULL;
    }
    struct flag *flag = &r->flag_pool.list[place];
    *flag = (struct flag){.address = address, .next = *shadow_flag(p, address)};
    *shadow_flag(p, address) = place;
    return flag;
}

static void remove_global_flag(struct race *r, struct flag *flag)
{
    struct flag_pool *p = &r->flag_pool;
    const uint32_t place = (uint32_t)(flag - p->list);
    uint32_t *at = shadow_flag(page_of(r, flag->address), flag->address);
    while (*at != place) at = &p->list[*at].next;
    *at = flag->next;
    empty_flag(r, flag);
    flag->next = p->vacant;
    p->vacant = place;
}

/* ---- of either
 * ---------------------------------------------------------------------------------------- */

struct flag *race_flag_at(struct race *r, const struct cta *home, uint64_t address)
{
    if (home) return find_flag(&home->flags, address);
    const struct page *p = page_of(r, address);
    return p ? race_flag_in(r, p, address) : NULL;
}

struct flag *race_add_flag(struct race *r, struct cta *home, uint64_t address)
{
    struct flag *flag = home ? add_flag(&home->flags, address) : add_global_flag(r, address);
    for (uint32_t i = r->lowest_level; flag && i < LEVELS; i++) flag->chain[i] = ++r->chains;
    return flag;
}

void race_remove_flag(struct race *r, struct cta *home, struct flag *f)
{
    if (home) remove_flag(r, &home->flags, f);
    else remove_global_flag(r, f);
}

void race_clear_flag(struct race *r, struct cta *home, uint64_t address)
{
    struct flag *flag = race_flag_at(r, home, address);
    if (flag) race_remove_flag(r, home, flag);
}

/* ---- what a thread released
 * ------------------------------------------------------------------------------------------ */

static struct own_release *own_release_slot(const struct own_releases *o, uint64_t address,
                                            uint32_t home, uint32_t thread)
{
    uint64_t h = address * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32 ^ thread ^ (uint64_t)home << 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = (uint32_t)(h >> 32);; i++) {
        struct own_release *own = &o->list[i & (o->cap - 1)];
        if (!own->address ||
            (own->address == address && own->thread == thread && own->home == home))
            return own;
    }
}

const struct own_release *race_own_release(const struct own_releases *o, uint64_t address,
                                           uint32_t home, uint32_t thread)
{
    const struct own_release *own = o->count ? own_release_slot(o, address, home, thread) : NULL;
    return own && own->address ? own : NULL;
}

void race_keep_release(struct race *r, struct own_releases *o, uint64_t address, uint32_t home,
                       uint32_t thread, struct vclock *released, uint32_t level)
{
    if (2 * (o->count + 1) > o->cap) {
        struct own_releases bigger = {.cap = o->cap ? 2 * o->cap : 16, .count = o->count};
        bigger.list = calloc(bigger.cap, sizeof *bigger.list);
        if (!bigger.list) abort();
        for (uint32_t i = 0; i < o->cap; i++) {
            const struct own_release *own = &o->list[i];
            if (own->address)
                *own_release_slot(&bigger, own->address, own->home, own->thread) = *own;
        }
        free(o->list);
        *o = bigger;
    }
    struct own_release *own = own_release_slot(o, address, home, thread);
    o->count += !own->address;
    own->address = address;
    own->home = home;
    own->thread = thread;
    for (uint32_t i = r->lowest_level; i <= level; i++) {
        vclock_unref(&r->vclocks, own->released[i]);
        own->released[i] = vclock_ref(released);
    }
}

void race_clear_releases(struct race *r, struct own_releases *o)
{
    for (uint32_t i = 0; i < o->cap && o->count; i++) {
        if (!o->list[i].address) continue;
        for (uint32_t k = 0; k < LEVELS; k++) vclock_unref(&r->vclocks, o->list[i].released[k]);
        o->list[i] = (struct own_release){0};
        o->count--;
    }
}

/* ---- flags before buffered stores
 * ---------------------------------------------------------------- */

const struct flag *race_flag_before_buffered(const struct race *r, uint64_t address)
{
    return find_flag(&r->before_buffered, address);
}

void race_save_flag(struct race *r, const struct flag *was)
{
    *add_flag(&r->before_buffered, was->address) = *was;
}

void race_drained(void *self, const struct emu_drained *s)
{
    struct race *r = self;
    for (uint32_t i = 0; r->before_buffered.count && i < s->size; i++) {
        struct flag *f = find_flag(&r->before_buffered, s->address + i);
        if (f) remove_flag(r, &r->before_buffered, f);
    }
}
