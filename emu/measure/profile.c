/* Lines are kept sorted by file and number; the instructions of a launch are sorted and merged in. */
#include "emu/profile.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct emu_profile {
    struct arena *names;
    struct emu_profile_line *lines, *by_cost;
    size_t count;
};

struct emu_profile *emu_profile_new(void)
{
    struct emu_profile *p = calloc(1, sizeof *p);
    if (!p) abort();
    p->names = arena_new();
    return p;
}

void emu_profile_free(struct emu_profile *p)
{
    if (!p) return;
    arena_free(p->names);
    free(p->lines);
    free(p->by_cost);
    free(p);
}

static int by_place(const void *a, const void *b)
{
    const struct emu_profile_line *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static int by_cost(const void *a, const void *b)
{
    const struct emu_profile_line *x = a, *y = b;
    return x->warp != y->warp ? (x->warp < y->warp) - (x->warp > y->warp) : by_place(a, b);
}

static void add(struct emu_profile_line *to, const struct emu_profile_line *from)
{
    to->warp += from->warp;
    to->thread += from->thread;
    to->divergent += from->divergent;
    to->accesses += from->accesses;
    to->bytes += from->bytes;
    to->sectors += from->sectors;
    to->shared += from->shared;
    to->passes += from->passes;
    to->collisions += from->collisions;
#define CACHE(field, name, text) to->cache.field += from->cache.field;
#include "emu/counts.def"
}

static struct emu_profile_line line_of(const struct emu_instruction *i)
{
    return (struct emu_profile_line){.file = i->file ? i->file : i->module,
                                     .line = i->file ? i->source_line : i->line,
                                     .warp = i->warp,
                                     .thread = i->thread,
                                     .divergent = i->divergent,
                                     .accesses = i->accesses,
                                     .bytes = i->bytes,
                                     .sectors = i->sectors,
                                     .shared = i->shared,
                                     .passes = i->passes,
                                     .collisions = i->collisions,
                                     .cache = i->cache};
}

/* Sorts them. */
static void merge(struct emu_profile *p, struct emu_profile_line *fresh, size_t used)
{
    struct emu_profile_line *all = calloc(p->count + used + 1, sizeof *all);
    if (!all) abort();
    size_t out = 0, at = 0;
    qsort(fresh, used, sizeof *fresh, by_place);
    for (size_t i = 0; i < used || at < p->count;) {
        const bool old = i == used || (at < p->count && by_place(&p->lines[at], &fresh[i]) <= 0);
        const struct emu_profile_line *next = old ? &p->lines[at++] : &fresh[i++];
        if (out && by_place(&all[out - 1], next) == 0) {
            add(&all[out - 1], next);
            continue;
        }
        all[out] = *next;
        if (!old) all[out].file = arena_copy(p->names, next->file, strlen(next->file));
        out++;
    }
    free(p->lines);
    p->lines = all;
    p->count = out;
}

static void add_grid(struct emu_profile *p, const struct emu_counts *c)
{
    struct emu_profile_line *fresh = calloc(c->instruction_count + 1, sizeof *fresh);
    size_t used = 0;
    if (!fresh) abort();
    for (size_t i = 0; i < c->instruction_count; i++)
        if (c->instructions[i].warp) fresh[used++] = line_of(&c->instructions[i]);
    merge(p, fresh, used);
    free(fresh);
}

void emu_profile_add_lines(struct emu_profile *p, const struct emu_profile_line *list, size_t n)
{
    struct emu_profile_line *fresh = calloc(n + 1, sizeof *fresh);
    if (!fresh) abort();
    if (n) memcpy(fresh, list, n * sizeof *list);
    merge(p, fresh, n);
    free(fresh);
}

void emu_profile_add(struct emu_profile *p, const struct emu_counts *c)
{
    for (; c; c = c->next) add_grid(p, c);
}

const struct emu_profile_line *emu_profile_lines(struct emu_profile *p, size_t *count)
{
    free(p->by_cost);
    p->by_cost = calloc(p->count + 1, sizeof *p->by_cost);
    if (!p->by_cost) abort();
    if (p->count) memcpy(p->by_cost, p->lines, p->count * sizeof *p->lines);
    qsort(p->by_cost, p->count, sizeof *p->by_cost, by_cost);
    *count = p->count;
    return p->by_cost;
}
