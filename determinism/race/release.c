/* The race detector: tables of flags, the addresses at which a thread has released something
 * (detector.h). A CTA has few flags in shared memory: a hash table. In global memory there may be
 * as many as words: a line of shadow memory has the flags of its words beside each other in a pool. */
#include "determinism/race/detector.h"

#include "base/pages.h"
#include "emu/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = LEVELS - 1 }; /* the level that all flags have */

static uint32_t new_narrow_levels(struct narrow_pool *p)
{
    const uint32_t again = p->vacant;
    if (again) {
        p->vacant = p->list[again].vacant;
        p->list[again] = (struct narrow_levels){0};
        return again;
    }
    if (!p->list) p->list = pages_new((size_t)FLAGS_MOST * sizeof *p->list, PAGES_DENSE);
    if (!p->count) p->count = 1;
    if (p->count >= FLAGS_MOST) abort();
    p->list[p->count] = (struct narrow_levels){0};
    return p->count++;
}

/* The flag becomes unused. */
static void empty_flag(struct race *r, struct flag *f)
{
    struct narrow_pool *p = &r->narrow_pool;
    vclock_unref(&r->vclocks, f->released);
    if (r->lowest_level < WIDE && f->narrow) {
        for (uint32_t i = 0; i < WIDE; i++)
            vclock_unref(&r->vclocks, p->list[f->narrow].released[i]);
        p->list[f->narrow].vacant = p->vacant;
        p->vacant = f->narrow;
    }
    *f = (struct flag){0};
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
        if (f->list[i].address == address) return &f->list[i].flag;
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
    f->list[i] = (struct placed_flag){.address = address};
    f->count++;
    return &f->list[i].flag;
}

static void remove_flag(struct race *r, struct flags *f, struct flag *flag)
{
    struct placed_flag *placed = (struct placed_flag *)(void *)((char *)flag -
                                                                offsetof(struct placed_flag, flag));
    empty_flag(r, flag);
    placed->address = 0;
    f->count--;
    uint32_t hole = (uint32_t)(placed - f->list); /* later entries of the run move up */
    for (uint32_t i = (hole + 1) & (f->cap - 1); f->list[i].address; i = (i + 1) & (f->cap - 1)) {
        const uint32_t home = slot_of(f, f->list[i].address);
        if (((i - home) & (f->cap - 1)) < ((i - hole) & (f->cap - 1))) continue;
        f->list[hole] = f->list[i];
        f->list[i] = (struct placed_flag){0};
        hole = i;
    }
}

void race_flags_clear(struct race *r, struct flags *f)
{
    for (uint32_t i = 0; i < f->cap && f->count; i++) {
        if (!f->list[i].address) continue;
        empty_flag(r, &f->list[i].flag);
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
    r->narrow_pool.count = r->narrow_pool.vacant = 0;
}

/* ---- of global memory
 * --------------------------------------------------------------------------------- */

static struct page *page_of(struct race *r, uint64_t address)
{
    return shadow_page(&r->global, address - MEM_GLOBAL, false);
}

/* The number of the first of so many unused flags beside each other. 0: there are none. */
static uint32_t new_flags(struct flag_pool *p, uint32_t count)
{
    if (!p->count) p->count = LINE_WORDS; /* number 0: none */
    if (!p->list) p->list = pages_new((size_t)FLAGS_MOST * sizeof *p->list, PAGES_DENSE);
    if (count > FLAGS_MOST - p->count) return 0;
    memset((void *)&p->list[p->count], 0, count * sizeof *p->list);
    p->count += count;
    return p->count - count;
}

static bool mark_flags(struct race *r, struct page *p, uint32_t line)
{
    if (p->flagged >> line & 1) return true;
    const uint32_t first = new_flags(&r->flag_pool, LINE_WORDS);
    r->global.words = r->flag_pool.list;
    if (first) shadow_mark_flags(&r->global, p, line, first);
    return first;
}

/* An unused flag that is linked behind the first one of the word. NULL: there is no memory. */
static struct flag *link_flag(struct flag_pool *p, struct flag *first)
{
    uint32_t number = p->vacant;
    if (number) p->vacant = p->list[number].flag.next;
    else number = new_flags(p, 1);
    if (!number) return NULL;
    p->list[number].flag = (struct flag){.next = first->next};
    first->next = number;
    return &p->list[number].flag;
}

static struct flag *add_global_flag(struct race *r, uint64_t address)
{
    struct page *p = page_of(r, address);
    if (!p) return NULL;
    struct flag *flag = NULL;
    if (mark_flags(r, p, (uint32_t)(address % PAGE) / 4 / LINE_WORDS)) {
        flag = &shadow_word(&r->global, p, address)->flag;
        if (flag->byte) flag = link_flag(&r->flag_pool, flag);
    }
    if (flag) flag->byte = (uint8_t)(1 + address % 4);
    else race_give_up(r);
    return flag;
}

static void remove_global_flag(struct race *r, struct flag *flag, uint64_t address)
{
    struct flag_pool *p = &r->flag_pool;
    struct flag *first = &shadow_word(&r->global, page_of(r, address), address)->flag,
                *before = first;
    const uint32_t next = flag->next;
    uint32_t unused = next;
    empty_flag(r, flag);
    if (flag == first && !next) return;
    if (flag == first) *flag = p->list[next].flag; /* takes its place */
    else {
        while (&p->list[before->next].flag != flag) before = &p->list[before->next].flag;
        unused = before->next;
        before->next = next;
    }
    p->list[unused].flag = (struct flag){.next = p->vacant};
    p->vacant = unused;
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
    if (flag && r->lowest_level < WIDE) flag->narrow = new_narrow_levels(&r->narrow_pool);
    for (uint32_t i = r->lowest_level; flag && i < LEVELS; i++)
        *race_chain(r, flag, i) = ++r->chains;
    return flag;
}

void race_remove_flag(struct race *r, struct cta *home, struct flag *f, uint64_t address)
{
    if (home) remove_flag(r, &home->flags, f);
    else remove_global_flag(r, f, address);
}

void race_clear_flag(struct race *r, struct cta *home, uint64_t address)
{
    struct flag *flag = race_flag_at(r, home, address);
    if (flag) race_remove_flag(r, home, flag, address);
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

struct flag race_copy_flag(struct race *r, const struct flag *f)
{
    struct flag copy = *f;
    vclock_ref(copy.released);
    copy.next = copy.byte = 0;
    if (r->lowest_level == WIDE) return copy;
    copy.narrow = new_narrow_levels(&r->narrow_pool);
    struct narrow_levels *levels = &r->narrow_pool.list[copy.narrow];
    *levels = r->narrow_pool.list[f->narrow];
    for (uint32_t i = 0; i < WIDE; i++) vclock_ref(levels->released[i]);
    return copy;
}

void race_save_flag(struct race *r, const struct flag *was, uint64_t address)
{
    *add_flag(&r->before_buffered, address) = *was;
}

void race_drained(void *self, const struct emu_drained *s)
{
    struct race *r = self;
    for (uint32_t i = 0; r->before_buffered.count && i < s->size; i++) {
        struct flag *f = find_flag(&r->before_buffered, s->address + i);
        if (f) remove_flag(r, &r->before_buffered, f);
    }
}
