/* Vector clocks: persistent trees with counted references. */
#include "determinism/clock.h"

#include <stdlib.h>
#include <string.h>

enum { FAN = 16, FAN_BITS = 4 };

struct clock {
    uint32_t refs, count; /* count: of a leaf */
    union {
        struct clock *child[FAN];
        struct clock_entry entry[1]; /* by part */
    } u;
};

void clock_tree_begin(struct clock_tree *t, uint32_t ctas)
{
    t->depth = 0;
    for (uint64_t n = 1; n < ctas; n *= FAN) t->depth++;
}

static struct clock *allocate(size_t bytes)
{
    struct clock *c = malloc(bytes);
    if (!c) abort();
    c->refs = 1;
    c->count = 0;
    return c;
}

static struct clock *node(void)
{
    struct clock *c = allocate(sizeof *c);
    memset(c->u.child, 0, sizeof c->u.child);
    return c;
}

static struct clock *leaf(uint32_t entries)
{
    const size_t own = sizeof(struct clock_entry) * entries + 2 * sizeof(uint32_t);
    return allocate(own < sizeof(struct clock) ? sizeof(struct clock) : own);
}

struct clock *clock_keep(struct clock *c)
{
    if (c) c->refs++;
    return c;
}

static void drop(struct clock *c, unsigned depth)
{
    if (!c || --c->refs) return;
    for (unsigned i = 0; depth && i < FAN; i++) drop(c->u.child[i], depth - 1);
    free(c);
}

void clock_drop(const struct clock_tree *t, struct clock *c)
{
    drop(c, t->depth);
}

struct clock *clock_of(const struct clock_tree *t, uint32_t cta, const struct clock_entry *list,
                       uint32_t count)
{
    struct clock *c = leaf(count);
    c->count = count;
    memcpy(c->u.entry, list, count * sizeof *list);
    for (unsigned level = 0; level < t->depth; level++) {
        struct clock *above = node();
        above->u.child[cta >> (FAN_BITS * level) & (FAN - 1)] = c;
        c = above;
    }
    return c;
}

static struct clock *join_leaves(struct clock *a, struct clock *b)
{
    struct clock *c = leaf(a->count + b->count);
    bool is_a = true, is_b = true;
    uint32_t i = 0, k = 0, n = 0;
    while (i < a->count || k < b->count) {
        struct clock_entry *e = &c->u.entry[n++];
        if (k == b->count || (i < a->count && a->u.entry[i].part < b->u.entry[k].part)) {
            *e = a->u.entry[i++];
            is_b = false;
        } else if (i == a->count || b->u.entry[k].part < a->u.entry[i].part) {
            *e = b->u.entry[k++];
            is_a = false;
        } else {
            const struct clock_entry x = a->u.entry[i++], y = b->u.entry[k++];
            *e = x.when >= y.when ? x : y;
            is_a &= x.when >= y.when;
            is_b &= y.when >= x.when;
        }
    }
    c->count = n;
    if (!is_a && !is_b) return c;
    free(c);
    return clock_keep(is_a ? a : b);
}

static struct clock *join(struct clock *a, struct clock *b, unsigned depth)
{
    if (a == b || !b) return clock_keep(a);
    if (!a) return clock_keep(b);
    if (!depth) return join_leaves(a, b);
    struct clock *c = node();
    bool is_a = true, is_b = true;
    for (unsigned i = 0; i < FAN; i++) {
        c->u.child[i] = join(a->u.child[i], b->u.child[i], depth - 1);
        is_a &= c->u.child[i] == a->u.child[i];
        is_b &= c->u.child[i] == b->u.child[i];
    }
    if (!is_a && !is_b) return c;
    drop(c, depth);
    return clock_keep(is_a ? a : b);
}

struct clock *clock_join(const struct clock_tree *t, struct clock *a, struct clock *b)
{
    return join(a, b, t->depth);
}

void clock_learn(const struct clock_tree *t, struct clock **a, struct clock *b)
{
    if (!b || *a == b) return;
    struct clock *c = join(*a, b, t->depth);
    drop(*a, t->depth);
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

bool clock_covers(const struct clock_tree *t, const struct clock *c, uint32_t cta, uint32_t part,
                  uint32_t warp, uint32_t when)
{
    for (unsigned level = t->depth; c && level-- > 0;)
        c = c->u.child[cta >> (FAN_BITS * level) & (FAN - 1)];
    if (!c) return false;
    if (has(c, part, when)) return true;
    return warp != UINT32_MAX && (has(c, PART_CTA, when) || has(c, PART_WARP + warp, when));
}
