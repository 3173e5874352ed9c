/* Vector clocks: trees with counted references, each of them in a table by what it holds. */
#include "determinism/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FAN = 16, FAN_BITS = 4, LARGE = 32, PUT_OFF = 1 << 30 };

struct clock {
    uint32_t refs, hash;
    uint32_t count;     /* entries of a leaf; 0: a node */
    uint32_t room;      /* for entries */
    uint32_t weight;    /* entries in all of it; PUT_OFF: `later` */
    struct clock *next; /* in the table */
    union {
        struct clock *child[FAN];
        struct {
            struct clock *both[2];
            uint64_t time, asked;
        } later;
        struct clock_entry entry[1]; /* by part */
    } u;
};

void clock_tree_begin(struct clock_tree *t, uint32_t ctas)
{
    t->depth = 0;
    for (uint64_t n = 1; n < ctas; n *= FAN) t->depth++;
}

void clock_tree_end(struct clock_tree *t)
{
    free((void *)t->table);
    free((void *)t->todo);
    for (struct clock *c = t->spare, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *t = (struct clock_tree){0};
}

/* ---- the table ---------------------------------------------------------------------------------------- */

static size_t size_of(const struct clock *c)
{
    return c->count ? c->count * sizeof(struct clock_entry) : sizeof c->u.child;
}

static uint32_t hash_of(const struct clock *c)
{
    const char *p = (const char *)&c->u;
    uint64_t h = c->count;
    for (size_t i = 0, n = size_of(c); i < n; i += 8) {
        uint64_t x;
        memcpy(&x, p + i, 8);
        h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static void grow(struct clock_tree *t)
{
    const uint32_t cap = t->cap ? 2 * t->cap : 1024;
    struct clock **table = (struct clock **)calloc(cap, sizeof(struct clock *));
    if (!table) abort();
    for (uint32_t i = 0; i < t->cap; i++)
        for (struct clock *c = t->table[i], *next; c; c = next) {
            next = c->next;
            c->next = table[c->hash & (cap - 1)];
            table[c->hash & (cap - 1)] = c;
        }
    free((void *)t->table);
    t->table = table;
    t->cap = cap;
}

static void push(struct clock_tree *t, uint32_t *n, struct clock *c)
{
    if (*n >= t->todo_cap) {
        t->todo_cap = t->todo_cap ? 2 * t->todo_cap : 64;
        t->todo = (struct clock **)realloc((void *)t->todo, t->todo_cap * sizeof *t->todo);
        if (!t->todo) abort();
    }
    t->todo[(*n)++] = c;
}

static bool is_least(uint32_t entries)
{
    return entries * sizeof(struct clock_entry) <= sizeof(struct clock *) * FAN;
}

static void let_go(struct clock_tree *t, struct clock *c)
{
    t->clocks--;
    if (is_least(c->room)) {
        c->next = t->spare;
        t->spare = c;
    } else free(c);
}

static void drop_tree(struct clock_tree *t, struct clock *c, unsigned depth)
{
    if (!c || --c->refs) return;
    struct clock **at = &t->table[c->hash & (t->cap - 1)];
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    t->count--;
    for (unsigned i = 0; depth && i < FAN; i++) drop_tree(t, c->u.child[i], depth - 1);
    let_go(t, c);
}

struct clock *clock_keep(struct clock *c)
{
    if (c) c->refs++;
    return c;
}

/* What was put off may be a long chain. */
void clock_drop(struct clock_tree *t, struct clock *c)
{
    uint32_t n = 0;
    if (c) push(t, &n, c);
    while (n) {
        c = t->todo[--n];
        if (c->weight != PUT_OFF) drop_tree(t, c, t->depth);
        else if (!--c->refs) {
            push(t, &n, c->u.later.both[0]);
            push(t, &n, c->u.later.both[1]);
            let_go(t, c);
        }
    }
}

/* The one tree that holds what this one does, which is given up. */
static struct clock *unique(struct clock_tree *t, struct clock *c, unsigned depth)
{
    const uint32_t hash = c->hash = hash_of(c);
    c->weight = c->count;
    for (unsigned i = 0; depth && i < FAN; i++)
        if (c->u.child[i]) c->weight += c->u.child[i]->weight;
    for (struct clock *o = t->cap ? t->table[hash & (t->cap - 1)] : NULL; o; o = o->next)
        if (o->hash == hash && o->count == c->count && memcmp(&o->u, &c->u, size_of(c)) == 0) {
            for (unsigned i = 0; depth && i < FAN; i++) drop_tree(t, c->u.child[i], depth - 1);
            let_go(t, c);
            return clock_keep(o);
        }
    if (t->count >= t->cap) grow(t);
    c->next = t->table[hash & (t->cap - 1)];
    t->table[hash & (t->cap - 1)] = c;
    t->count++;
    return c;
}

/* ---- trees -------------------------------------------------------------------------------------------- */

static struct clock *allocate(struct clock_tree *t, uint32_t entries)
{
    struct clock *c = is_least(entries) ? t->spare : NULL;
    if (c) {
        t->spare = c->next;
        memset(c, 0, sizeof *c);
    } else {
        const size_t own = entries * sizeof(struct clock_entry);
        c = calloc(1, is_least(entries) ? sizeof *c : offsetof(struct clock, u) + own);
    }
    if (!c) abort();
    t->clocks++;
    c->refs = 1;
    c->room = entries;
    c->count = entries;
    return c;
}

struct clock *clock_of(struct clock_tree *t, uint32_t cta, const struct clock_entry *list,
                       uint32_t count)
{
    struct clock *c = allocate(t, count);
    memcpy(c->u.entry, list, count * sizeof *list);
    c = unique(t, c, 0);
    for (unsigned level = 0; level < t->depth; level++) {
        struct clock *above = allocate(t, 0);
        above->u.child[cta >> (FAN_BITS * level) & (FAN - 1)] = c;
        c = unique(t, above, level + 1);
    }
    return c;
}

/* Whether a knows all that b does. */
static bool contains(const struct clock *a, const struct clock *b)
{
    uint32_t i = 0;
    if (a->count < b->count) return false;
    for (uint32_t k = 0; k < b->count; k++, i++) {
        const struct clock_entry e = b->u.entry[k];
        while (i < a->count && a->u.entry[i].part < e.part) i++;
        if (i == a->count || a->u.entry[i].part != e.part || a->u.entry[i].when < e.when)
            return false;
    }
    return true;
}

static struct clock *join_leaves(struct clock_tree *t, struct clock *a, struct clock *b)
{
    if (contains(a, b)) return clock_keep(a);
    if (contains(b, a)) return clock_keep(b);
    struct clock *c = allocate(t, a->count + b->count);
    uint32_t i = 0, k = 0, n = 0;
    while (i < a->count || k < b->count) {
        struct clock_entry *e = &c->u.entry[n++];
        if (k == b->count || (i < a->count && a->u.entry[i].part < b->u.entry[k].part))
            *e = a->u.entry[i++];
        else if (i == a->count || b->u.entry[k].part < a->u.entry[i].part) *e = b->u.entry[k++];
        else {
            const struct clock_entry x = a->u.entry[i++], y = b->u.entry[k++];
            *e = x.when >= y.when ? x : y;
        }
    }
    c->count = n;
    return unique(t, c, 0);
}

static struct clock *join_trees(struct clock_tree *t, struct clock *a, struct clock *b,
                                unsigned depth)
{
    if (a == b || !b) return clock_keep(a);
    if (!a) return clock_keep(b);
    if (!depth) return join_leaves(t, a, b);
    struct clock *c = allocate(t, 0);
    bool is_a = true, is_b = true;
    for (unsigned i = 0; i < FAN; i++) {
        c->u.child[i] = join_trees(t, a->u.child[i], b->u.child[i], depth - 1);
        is_a &= c->u.child[i] == a->u.child[i];
        is_b &= c->u.child[i] == b->u.child[i];
    }
    if (!is_a && !is_b) return unique(t, c, depth);
    for (unsigned i = 0; i < FAN; i++) drop_tree(t, c->u.child[i], depth - 1);
    let_go(t, c);
    return clock_keep(is_a ? a : b);
}

static bool is_part_of(const struct clock *c, const struct clock *part)
{
    return c->weight == PUT_OFF && (c->u.later.both[0] == part || c->u.later.both[1] == part);
}

struct clock *clock_join(struct clock_tree *t, struct clock *a, struct clock *b)
{
    if (a == b || !b) return clock_keep(a);
    if (!a) return clock_keep(b);
    const bool put_off = a->weight == PUT_OFF || b->weight == PUT_OFF;
    if (!put_off && (a->weight < LARGE || b->weight < LARGE)) return join_trees(t, a, b, t->depth);
    if (is_part_of(a, b)) return clock_keep(a);
    if (is_part_of(b, a)) return clock_keep(b);
    struct clock *c = allocate(t, 0);
    c->weight = PUT_OFF;
    c->u.later.both[0] = clock_keep(a);
    c->u.later.both[1] = clock_keep(b);
    c->u.later.time = ++t->time;
    c->u.later.asked = 0;
    return c;
}

void clock_learn(struct clock_tree *t, struct clock **a, struct clock *b)
{
    if (!b || *a == b) return;
    struct clock *c = clock_join(t, *a, b);
    clock_drop(t, *a);
    *a = c;
}

static bool has(const struct clock *c, uint32_t part, uint32_t when)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (c->u.entry[middle].part < part) low = middle + 1;
        else high = middle;
    }
    return low < c->count && c->u.entry[low].part == part && c->u.entry[low].when >= when;
}

static bool tree_covers(const struct clock_tree *t, const struct clock *c, uint32_t cta,
                        uint32_t part, uint32_t warp, uint32_t when)
{
    for (unsigned level = t->depth; c && level-- > 0;)
        c = c->u.child[cta >> (FAN_BITS * level) & (FAN - 1)];
    if (!c) return false;
    if (has(c, part, when)) return true;
    return warp != UINT32_MAX && (has(c, PART_CTA, when) || has(c, PART_WARP + warp, when));
}

bool clock_covers(struct clock_tree *t, struct clock *c, uint32_t cta, uint32_t part, uint32_t warp,
                  uint32_t when, uint64_t since)
{
    if (!c || c->weight != PUT_OFF) return tree_covers(t, c, cta, part, warp, when);
    uint32_t n = 0;
    t->asked++;
    push(t, &n, c);
    while (n) {
        c = t->todo[--n];
        if (c->weight != PUT_OFF) {
            if (tree_covers(t, c, cta, part, warp, when)) return true;
        } else if (c->u.later.time > since && c->u.later.asked != t->asked) {
            c->u.later.asked = t->asked;
            push(t, &n, c->u.later.both[0]);
            push(t, &n, c->u.later.both[1]);
        }
    }
    return false;
}
