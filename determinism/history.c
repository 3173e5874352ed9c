/* Events, and the cells that name them. */
#define _GNU_SOURCE
#include "determinism/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

uint32_t events_add(struct events *e, const struct event *event)
{
    if (!e->count) e->count = 1;
    if (e->count >= EVENTS_MOST) return 0;
    if (e->count >= e->cap) {
        e->cap = e->cap ? e->cap * 2 : 1024;
        e->list = realloc(e->list, e->cap * sizeof *e->list);
        if (!e->list) abort();
    }
    e->list[e->count] = *event;
    return e->count++;
}

enum { SMALL = 1 << 20 }; /* bytes of a directory that is simply allocated */

void shadow_begin(struct shadow *s, uint64_t bytes)
{
    *s = (struct shadow){.count = (bytes + PAGE - 1) >> PAGE_BITS, .launch = 1};
    const size_t size = (s->count + 1) * sizeof(struct page *);
    s->mapped = size > SMALL;
    if (s->mapped) {
        s->pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (s->pages == MAP_FAILED) {
            perror("heddle: no room for what a check remembers");
            abort();
        }
    } else s->pages = calloc(1, size);
    if (!s->pages) abort();
}

void shadow_forget(struct shadow *s)
{
    s->launch++;
    s->set_count = 0;
    s->free_set = 0;
}

void shadow_end(struct shadow *s)
{
    for (struct page *p = s->first, *next; p; p = next) {
        next = p->next;
        free(p->cells);
        free(p);
    }
    if (s->mapped) munmap((void *)s->pages, (s->count + 1) * sizeof(struct page *));
    else free((void *)s->pages);
    free(s->sets);
    *s = (struct shadow){0};
}

static struct cell *cells_of(uint32_t shift)
{
    struct cell *c = calloc(PAGE >> shift, sizeof *c);
    if (!c) abort();
    return c;
}

static void copy_half(struct shadow *s, tag *to, tag from)
{
    const tag *list;
    tag one[HISTORY];
    uint32_t n = shadow_tags(s, &from, &list);
    memcpy(one, list, n * sizeof *one);
    shadow_put(s, to, one, n);
}

/* Each byte gets what the four had. */
static void make_fine(struct shadow *s, struct page *p)
{
    struct cell *coarse = p->cells;
    p->cells = cells_of(0);
    for (uint32_t i = 0; i < PAGE; i++) {
        copy_half(s, &p->cells[i].write, coarse[i / 4].write);
        copy_half(s, &p->cells[i].read, coarse[i / 4].read);
    }
    p->shift = 0;
    free(coarse);
}

struct page *shadow_page_slow(struct shadow *s, uint64_t address, bool fine)
{
    struct page **at = &s->pages[address >> PAGE_BITS], *p = *at;
    if (!p) {
        p = *at = calloc(1, sizeof *p);
        if (!p) abort();
        p->shift = fine ? 0 : 2;
        p->cells = cells_of(p->shift);
        p->next = s->first;
        s->first = p;
    } else if (p->launch != s->launch) {
        if (fine && p->shift) {
            free(p->cells);
            p->cells = cells_of(0);
            p->shift = 0;
        } else memset(p->cells, 0, (PAGE >> p->shift) * sizeof *p->cells);
    } else if (fine && p->shift) make_fine(s, p);
    p->launch = s->launch;
    return p;
}

void shadow_put(struct shadow *s, tag *half, const tag *list, uint32_t count)
{
    if (count < 2) {
        if (*half & TAG_SET) { /* the set is free: its first tag says which was before it */
            s->sets[*half & ~TAG_SET].list[0] = s->free_set;
            s->free_set = *half & ~TAG_SET;
        }
        *half = count ? list[0] : 0;
        return;
    }
    if (!(*half & TAG_SET)) {
        uint32_t n = s->free_set;
        if (n) s->free_set = s->sets[n].list[0];
        else {
            if (!s->set_count) s->set_count = 1;
            if (s->set_count >= s->set_cap) {
                s->set_cap = s->set_cap ? s->set_cap * 2 : 256;
                s->sets = realloc(s->sets, s->set_cap * sizeof *s->sets);
                if (!s->sets) abort();
            }
            n = s->set_count++;
        }
        *half = TAG_SET | n;
    }
    struct set *set = &s->sets[*half & ~TAG_SET];
    memmove(set->list, list, count * sizeof *list);
    set->count = (uint8_t)count;
    set->strong = 0;
    set->full_base = 0;
}
