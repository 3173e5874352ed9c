/* Vector clocks: with counted references; trees are in a table by what they hold. */
#include "determinism/race/vclock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FAN = 16, FAN_BITS = 4, LARGE = 6, LIST_MOST = 16, OWN_MOST = 3, GLANCE = 4 };
enum kind {
    LIST,  /* of few entries, of any CTAs, by CTA and part */
    TREE,  /* in the table; a leaf is of one CTA, by part */
    LATER, /* a join that was put off, or what a thread released that knew of such */
};

struct known {
    uint32_t cta, part, when;
};

struct clock {
    uint32_t refs, hash;
    uint32_t count;     /* entries of a list or leaf, or own ones; 0: a node */
    uint32_t weight;    /* entries in all of it */
    uint8_t kind, size; /* enum kind, enum size */
    struct clock *next; /* in the table, or of those that are spare */
    union {
        struct clock *child[FAN];
        struct {
            struct clock *both[2]; /* [1]: NULL if there are own entries */
            uint64_t time, asked;
            uint32_t cta, warp; /* of those, the first of which is a thread's: */
            struct clock_entry own[OWN_MOST];
        } later;
        struct known list[1];
        struct clock_entry entry[1]; /* by part */
    } u;
};

/* Room behind the head. */
static const size_t sizes[CLOCK_SIZES] = {64, sizeof(struct clock *) * FAN,
                                          LIST_MOST * sizeof(struct known)};

enum { BLOCK = 256 }; /* clocks of one size, made at once */
struct clock_block {
    struct clock_block *next;
    size_t used;
};

void clock_tree_begin(struct clock_tree *t, uint32_t ctas)
{
    t->depth = 0;
    for (uint64_t n = 1; n < ctas; n *= FAN) t->depth++;
}

void clock_tree_clear(struct clock_tree *t)
{
    for (uint32_t i = 0; i < t->cap && t->count; i++)
        for (struct clock *c = t->table[i], *next; c; c = next) {
            next = c->next;
            t->table[i] = next;
            t->count--;
            if (c->size == CLOCK_SIZES) free(c);
        }
    for (int i = 0; i < CLOCK_SIZES; i++) {
        for (struct clock_block *b = t->blocks[i], *next; b; b = next) {
            next = b->next;
            b->next = t->empty[i];
            t->empty[i] = b;
        }
        t->blocks[i] = NULL;
        t->spare[i] = NULL;
    }
    t->clocks = 0;
}

void clock_tree_end(struct clock_tree *t)
{
    clock_tree_clear(t);
    free((void *)t->table);
    free((void *)t->todo);
    for (int i = 0; i < CLOCK_SIZES; i++)
        for (struct clock_block *b = t->empty[i], *next; b; b = next) {
            next = b->next;
            free(b);
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

static void let_go(struct clock_tree *t, struct clock *c)
{
    t->clocks--;
    if (c->size < CLOCK_SIZES) {
        c->next = t->spare[c->size];
        t->spare[c->size] = c;
    } else free(c); // NOLINT(clang-analyzer-unix.Malloc): none of these is from a block
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
void clock_drop_one(struct clock_tree *t, struct clock *c)
{
    uint32_t n = 0;
    if (c->refs > 1) {
        c->refs--;
        return;
    }
    push(t, &n, c);
    while (n) {
        c = t->todo[--n];
        if (c->kind == TREE) drop_tree(t, c, t->depth);
        else if (!--c->refs) {
            for (int i = 0; i < 2 && c->kind == LATER; i++)
                if (c->u.later.both[i]) push(t, &n, c->u.later.both[i]);
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

/* ---- making them ---------------------------------------------------------------------------------------- */

static struct clock *take(struct clock_tree *t, unsigned size)
{
    const size_t each = offsetof(struct clock, u) + sizes[size];
    struct clock *c = t->spare[size];
    if (c) {
        t->spare[size] = c->next;
        return c;
    }
    struct clock_block *b = t->blocks[size];
    if (!b || b->used == BLOCK) {
        b = t->empty[size];
        if (b) t->empty[size] = b->next;
        else b = malloc(sizeof *b + BLOCK * each);
        if (!b) abort();
        *b = (struct clock_block){.next = t->blocks[size]};
        t->blocks[size] = b;
    }
    return (struct clock *)(void *)((unsigned char *)(b + 1) + b->used++ * each);
}

static struct clock *allocate(struct clock_tree *t, enum kind kind, size_t room)
{
    uint8_t size = 0;
    while (size < CLOCK_SIZES && sizes[size] < room) size++;
    struct clock *c = size < CLOCK_SIZES ? take(t, size) : malloc(offsetof(struct clock, u) + room);
    if (!c) abort();
    t->clocks++;
    memset(c, 0, offsetof(struct clock, u));
    c->kind = (uint8_t)kind;
    c->size = size;
    c->refs = 1;
    return c;
}

static struct clock *new_node(struct clock_tree *t)
{
    struct clock *c = allocate(t, TREE, sizeof c->u.child);
    memset((void *)c->u.child, 0, sizeof c->u.child);
    return c;
}

static struct clock *new_leaf(struct clock_tree *t, uint32_t count)
{
    struct clock *c = allocate(t, TREE, count * sizeof(struct clock_entry));
    c->count = count;
    return c;
}

/* The tree that has this leaf, which is given up. */
static struct clock *tree_of_leaf(struct clock_tree *t, uint32_t cta, struct clock *c)
{
    c = unique(t, c, 0);
    for (unsigned level = 0; level < t->depth; level++) {
        struct clock *above = new_node(t);
        above->u.child[cta >> (FAN_BITS * level) & (FAN - 1)] = c;
        c = unique(t, above, level + 1);
    }
    return c;
}

struct clock *clock_of(struct clock_tree *t, uint32_t cta, const struct clock_entry *list,
                       uint32_t count)
{
    if (count > LIST_MOST) {
        struct clock *leaf = new_leaf(t, count);
        memcpy(leaf->u.entry, list, count * sizeof *list);
        return tree_of_leaf(t, cta, leaf);
    }
    struct clock *c = allocate(t, LIST, count * sizeof(struct known));
    for (uint32_t i = 0; i < count; i++)
        c->u.list[i] = (struct known){cta, list[i].part, list[i].when};
    c->count = c->weight = count;
    return c;
}

/* ---- lists -------------------------------------------------------------------------------------------- */

static uint64_t place_of(struct known e)
{
    return (uint64_t)e.cta << 32 | e.part;
}

/* Joins what two lists have; returns how many there are. *a_all, *b_all: the one has all of it. */
static uint32_t merge(const struct clock *a, const struct clock *b, struct known *to, bool *a_all,
                      bool *b_all)
{
    uint32_t i = 0, k = 0, n = 0;
    bool a_lacks = false, b_lacks = false;
    while (i < a->count && k < b->count) {
        const struct known x = a->u.list[i], y = b->u.list[k];
        const uint64_t x_at = place_of(x), y_at = place_of(y);
        const bool take_x = x_at < y_at || (x_at == y_at && x.when >= y.when);
        a_lacks |= y_at < x_at || (x_at == y_at && x.when < y.when);
        b_lacks |= x_at < y_at || (x_at == y_at && y.when < x.when);
        to[n++] = take_x ? x : y;
        i += x_at <= y_at;
        k += y_at <= x_at;
    }
    b_lacks |= i < a->count;
    a_lacks |= k < b->count;
    while (i < a->count) to[n++] = a->u.list[i++];
    while (k < b->count) to[n++] = b->u.list[k++];
    *a_all = !a_lacks;
    *b_all = !b_lacks;
    return n;
}

/* NULL: it would be too long. */
static struct clock *join_lists(struct clock_tree *t, struct clock *a, struct clock *b)
{
    struct known list[2 * LIST_MOST];
    bool a_all, b_all;
    const uint32_t n = merge(a, b, list, &a_all, &b_all);
    if (a_all) return clock_keep(a);
    if (b_all) return clock_keep(b);
    if (n > LIST_MOST) return NULL;
    struct clock *c = allocate(t, LIST, n * sizeof *list);
    memcpy(c->u.list, list, n * sizeof *list);
    c->count = c->weight = n;
    return c;
}

/* `warp` as of clock_covers. */
static inline bool part_covers(uint32_t whole, uint32_t part, uint32_t warp)
{
    return whole == part ||
           (warp != UINT32_MAX && (whole == PART_CTA || whole == PART_WARP + warp));
}

static bool list_covers(const struct clock *c, uint32_t cta, uint32_t part, uint32_t warp,
                        uint32_t when)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct known *e = &c->u.list[i];
        if (e->cta == cta && e->when >= when && part_covers(e->part, part, warp)) return true;
    }
    return false;
}

static bool own_covers(const struct clock *c, uint32_t cta, uint32_t part, uint32_t warp,
                       uint32_t when)
{
    const struct clock_entry *own = c->u.later.own;
    for (uint32_t i = 0; c->u.later.cta == cta && i < c->count; i++)
        if (own[i].when >= when && part_covers(own[i].part, part, warp)) return true;
    return false;
}

/* ---- trees -------------------------------------------------------------------------------------------- */

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
    struct clock *c = new_leaf(t, a->count + b->count);
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
    struct clock *c = new_node(t);
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

static struct clock *tree_of(struct clock_tree *t, const struct clock *c)
{
    struct clock *all = NULL;
    for (uint32_t i = 0, k; i < c->count; i = k) {
        const struct known *list = &c->u.list[i];
        for (k = i; k < c->count && c->u.list[k].cta == list->cta; k++) {
        }
        struct clock *leaf = new_leaf(t, k - i);
        for (uint32_t n = 0; n < k - i; n++)
            leaf->u.entry[n] = (struct clock_entry){list[n].part, list[n].when};
        struct clock *one = tree_of_leaf(t, list->cta, leaf);
        clock_learn(t, &all, one);
        clock_drop(t, one);
    }
    return all; // NOLINT(clang-analyzer-unix.Malloc): references are counted
}

static bool is_part_of(const struct clock *c, const struct clock *part)
{
    return c->kind == LATER && (c->u.later.both[0] == part || c->u.later.both[1] == part);
}

static struct clock *later(struct clock_tree *t, struct clock *a, struct clock *b)
{
    struct clock *c = allocate(t, LATER, sizeof c->u.later);
    c->u.later.both[0] = clock_keep(a);
    c->u.later.both[1] = clock_keep(b);
    c->u.later.time = ++t->time;
    c->u.later.asked = 0;
    return c;
}

struct clock *clock_after(struct clock_tree *t, struct clock *known, uint32_t cta, uint32_t warp,
                          const struct clock_entry *list, uint32_t count)
{
    if (known && known->kind == LATER && count <= OWN_MOST) {
        struct clock *c = later(t, known, NULL);
        c->count = count;
        c->u.later.cta = cta;
        c->u.later.warp = warp;
        memcpy(c->u.later.own, list, count * sizeof *list);
        return c;
    }
    struct clock *c = clock_of(t, cta, list, count);
    clock_learn(t, &c, known);
    return c;
}

static bool covers_soon(struct clock_tree *t, struct clock *c, uint32_t cta, uint32_t part,
                        uint32_t warp, uint32_t when, uint64_t since, uint64_t most);

/* Whether it is soon seen that a knows what b's thread let be known, and with that all of b: a thread releases all that
 * it knows, each time at another time. */
static bool knows_release(struct clock_tree *t, struct clock *a, const struct clock *b)
{
    return b->kind == LATER && b->count &&
           covers_soon(t, a, b->u.later.cta, b->u.later.own->part, b->u.later.warp,
                       b->u.later.own->when, b->u.later.time - 1, GLANCE);
}

static struct clock *put_off(struct clock_tree *t, struct clock *a, struct clock *b)
{
    if (is_part_of(a, b) || knows_release(t, a, b)) return clock_keep(a);
    if (is_part_of(b, a) || knows_release(t, b, a)) return clock_keep(b);
    return later(t, a, b);
}

static struct clock *join_clocks(struct clock_tree *t, struct clock *a, struct clock *b)
{
    if (a == b || !b) return clock_keep(a);
    if (!a) return clock_keep(b);
    if (a->kind == LATER || b->kind == LATER) return put_off(t, a, b);
    struct clock *c = a->kind == LIST && b->kind == LIST ? join_lists(t, a, b) : NULL;
    if (c) return c;
    if (a->weight >= LARGE && b->weight >= LARGE) return put_off(t, a, b);
    if (a->kind == TREE && b->kind == TREE) return join_trees(t, a, b, t->depth);
    struct clock *tree = tree_of(t, a->kind == LIST ? a : b);
    clock_learn(t, &tree, a->kind == LIST ? b : a);
    return tree;
}

void clock_learn(struct clock_tree *t, struct clock **a, struct clock *b)
{
    if (!b || *a == b) return;
    struct clock *c = join_clocks(t, *a, b); // NOLINT(clang-analyzer-unix.Malloc): likewise
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

static bool covers_at_once(const struct clock_tree *t, const struct clock *c, uint32_t cta,
                           uint32_t part, uint32_t warp, uint32_t when)
{
    return c->kind == LIST ? list_covers(c, cta, part, warp, when)
                           : tree_covers(t, c, cta, part, warp, when);
}

/* Looks at as many of those that were put off, what was put off last first: who holds a lock asks about what the one
 * before it did. */
static bool covers_soon(struct clock_tree *t, struct clock *c, uint32_t cta, uint32_t part,
                        uint32_t warp, uint32_t when, uint64_t since, uint64_t most)
{
    if (c->kind != LATER) return covers_at_once(t, c, cta, part, warp, when);
    uint32_t n = 0;
    t->asked++;
    push(t, &n, c);
    for (uint32_t i = 0; i < n; i++) {
        c = t->todo[i];
        if (c->kind != LATER) {
            if (covers_at_once(t, c, cta, part, warp, when)) return true;
        } else if (c->u.later.time > since && c->u.later.asked != t->asked) {
            if (!most--) return false;
            c->u.later.asked = t->asked;
            if (c->count && own_covers(c, cta, part, warp, when)) return true;
            push(t, &n, c->u.later.both[0]);
            if (c->u.later.both[1]) push(t, &n, c->u.later.both[1]);
        }
    }
    return false;
}

bool clock_covers(struct clock_tree *t, struct clock *c, uint32_t cta, uint32_t part, uint32_t warp,
                  uint32_t when, uint64_t since)
{
    return c && covers_soon(t, c, cta, part, warp, when, since, UINT64_MAX);
}
