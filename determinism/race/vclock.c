/* Vector clocks: lists, interned trees and lazy joins. vclock.h describes them. */
#include "determinism/race/vclock.h"

#include "base/pages.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FAN = 16, FAN_BITS = 4, LARGE = 6, LIST_MOST = 16, EXTENSION_MOST = 3, SOME = 64, NEAR = 4 };
enum kind {
    VACANT,
    LIST,      /* of few entries, of any CTAs, sorted by CTA and part */
    TREE,      /* in the table; a leaf has the parts of one CTA, sorted */
    LAZY_JOIN, /* of two clocks; or of one and a few entries of the releasing thread */
};

struct cta_entry {
    uint32_t cta, part, epoch;
};

/* A lazy join fits in one line of the processor's cache: there are millions. */
struct vclock {
    uint32_t refs;
    uint16_t count;     /* entries of a list, a leaf or a lazy join; 0: an inner node */
    uint8_t kind, size; /* enum kind; size class */
    union {
        struct vclock *vacant; /* the next one of a free list */
        struct {
            struct vclock *operand[2]; /* [1]: NULL if there is one */
            uint64_t serial;
            uint32_t visited;
            uint32_t cta; /* of the entries; the first one is the releasing thread's own: */
            struct vclock_entry entry[EXTENSION_MOST];
        } lazy;
        struct {
            uint32_t hash;
            uint32_t weight;     /* entries of the whole list or tree */
            struct vclock *next; /* in the table */
            union {
                struct vclock *child[FAN];
                struct cta_entry list[1];
                struct vclock_entry entry[1]; /* sorted by part */
            } of;
        } node;
    } u;
};
enum { LINE = 64 };
_Static_assert(offsetof(struct vclock, u) + sizeof((struct vclock){0}.u.lazy) == LINE, "");

/* Bytes of a clock, by size class. */
static const size_t sizes[VCLOCK_SIZES] = {
    LINE, offsetof(struct vclock, u.node.of) + sizeof(struct vclock *) * FAN,
    offsetof(struct vclock, u.node.of) + LIST_MOST * sizeof(struct cta_entry)};

enum {
    BLOCK = 256, /* clocks of one size that are allocated together, */
    FIRST =
        1
        << 24 /* but of lazy joins first that many: 1 GiB of addresses, in large pages of the host */
};
struct vclock_block {
    struct vclock_block *next;
    size_t used, most;
    _Alignas(LINE) unsigned char clocks[];
};

static struct vclock *clock_in(struct vclock_block *b, unsigned size, size_t i)
{
    return (struct vclock *)(void *)&b->clocks[i * sizes[size]];
}

static const size_t first_size = sizeof(struct vclock_block) + (size_t)FIRST * LINE;

static struct vclock_block *new_block(struct vclock_store *t, unsigned size)
{
    struct vclock_block *b;
    const bool first = !size && !t->blocks[0];
    if (first) b = pages_new(first_size, PAGES_DENSE);
    else b = aligned_alloc(LINE, sizeof *b + BLOCK * sizes[size]);
    if (!b) abort();
    b->most = first ? FIRST : BLOCK;
    return b;
}

static void free_block(struct vclock_block *b)
{
    if (b->most == FIRST) pages_free(b, first_size);
    else free(b);
}

void vclock_store_begin(struct vclock_store *t, uint32_t ctas, uint32_t threads)
{
    t->ctas = ctas;
    t->threads = threads;
    t->depth = 0;
    for (uint64_t n = 1; n < ctas; n *= FAN) t->depth++;
}

void vclock_store_clear(struct vclock_store *t)
{
    for (uint32_t i = 0; i < t->cap && t->count; i++)
        for (struct vclock *c = t->table[i], *next; c; c = next) {
            next = c->u.node.next;
            t->table[i] = next;
            t->count--;
            if (c->size == VCLOCK_SIZES) free(c);
        }
    for (int i = 0; i < VCLOCK_SIZES; i++) {
        for (struct vclock_block *b = t->blocks[i], *next; b; b = next) {
            next = b->next;
            b->next = t->empty[i];
            t->empty[i] = b;
        }
        t->blocks[i] = NULL;
        t->spare[i] = NULL;
    }
    t->live = t->bytes = t->horizon = 0;
}

void vclock_store_end(struct vclock_store *t)
{
    vclock_store_clear(t);
    free((void *)t->table);
    free((void *)t->worklist);
    for (int i = 0; i < VCLOCK_SIZES; i++)
        for (struct vclock_block *b = t->empty[i], *next; b; b = next) {
            next = b->next;
            free_block(b);
        }
    *t = (struct vclock_store){0};
}

/* ---- the table
 * ---------------------------------------------------------------------------------------- */

static size_t size_of(const struct vclock *c)
{
    return c->count ? c->count * sizeof(struct vclock_entry) : sizeof c->u.node.of.child;
}

static uint32_t hash_of(const struct vclock *c)
{
    const char *p = (const char *)&c->u.node.of;
    uint64_t h = c->count;
    for (size_t i = 0, n = size_of(c); i < n; i += 8) {
        uint64_t x;
        memcpy(&x, p + i, 8);
        h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static void grow(struct vclock_store *t)
{
    const uint32_t cap = t->cap ? 2 * t->cap : 1024;
    struct vclock **table = (struct vclock **)calloc(cap, sizeof(struct vclock *));
    if (!table) abort();
    for (uint32_t i = 0; i < t->cap; i++)
        for (struct vclock *c = t->table[i], *next; c; c = next) {
            next = c->u.node.next;
            c->u.node.next = table[c->u.node.hash & (cap - 1)];
            table[c->u.node.hash & (cap - 1)] = c;
        }
    free((void *)t->table);
    t->table = table;
    t->cap = cap;
}

static void push(struct vclock_store *t, uint32_t *n, struct vclock *c)
{
    if (*n >= t->worklist_cap) {
        t->worklist_cap = t->worklist_cap ? 2 * t->worklist_cap : 64;
        t->worklist = (struct vclock **)realloc((void *)t->worklist,
                                                t->worklist_cap * sizeof *t->worklist);
        if (!t->worklist) abort();
    }
    t->worklist[(*n)++] = c;
}

/* Bytes of a leaf that is too large for the size classes. */
static size_t large_size(uint32_t count)
{
    return offsetof(struct vclock, u.node.of) + count * sizeof(struct vclock_entry);
}

static void free_vclock(struct vclock_store *t, struct vclock *c)
{
    t->live--;
    t->bytes -= c->size < VCLOCK_SIZES ? sizes[c->size] : large_size(c->count);
    if (c->size < VCLOCK_SIZES) {
        c->kind = VACANT;
        c->u.vacant = t->spare[c->size];
        t->spare[c->size] = c;
    } else free(c); // NOLINT(clang-analyzer-unix.Malloc): none of these is from a block
}

static void drop_tree(struct vclock_store *t, struct vclock *c, unsigned depth)
{
    if (!c || --c->refs) return;
    struct vclock **at = &t->table[c->u.node.hash & (t->cap - 1)];
    while (*at != c) at = &(*at)->u.node.next;
    *at = c->u.node.next;
    t->count--;
    for (unsigned i = 0; depth && i < FAN; i++) drop_tree(t, c->u.node.of.child[i], depth - 1);
    free_vclock(t, c);
}

struct vclock *vclock_ref(struct vclock *c)
{
    if (c) c->refs++;
    return c;
}

/* Without recursion over lazy joins: they may form a long chain. */
void vclock_unref_one(struct vclock_store *t, struct vclock *c)
{
    uint32_t n = 0;
    if (c->refs > 1) {
        c->refs--;
        return;
    }
    for (;;) {
        struct vclock *next = NULL;
        if (c->kind == TREE) drop_tree(t, c, t->depth);
        else if (!--c->refs) {
            if (c->kind == LAZY_JOIN) {
                next = c->u.lazy.operand[0];
                if (c->u.lazy.operand[1]) push(t, &n, c->u.lazy.operand[1]);
            }
            free_vclock(t, c);
        }
        if (!next && !n) return;
        c = next ? next : t->worklist[--n];
    }
}

/* Interns the tree: returns the one with the same contents and gives this one up. */
static struct vclock *intern(struct vclock_store *t, struct vclock *c, unsigned depth)
{
    const uint32_t hash = c->u.node.hash = hash_of(c);
    c->u.node.weight = c->count;
    for (unsigned i = 0; depth && i < FAN; i++)
        if (c->u.node.of.child[i]) c->u.node.weight += c->u.node.of.child[i]->u.node.weight;
    for (struct vclock *o = t->cap ? t->table[hash & (t->cap - 1)] : NULL; o; o = o->u.node.next)
        if (o->u.node.hash == hash && o->count == c->count &&
            memcmp(&o->u.node.of, &c->u.node.of, size_of(c)) == 0) {
            for (unsigned i = 0; depth && i < FAN; i++)
                drop_tree(t, c->u.node.of.child[i], depth - 1);
            free_vclock(t, c);
            return vclock_ref(o);
        }
    if (t->count >= t->cap) grow(t);
    c->u.node.next = t->table[hash & (t->cap - 1)];
    t->table[hash & (t->cap - 1)] = c;
    t->count++;
    return c;
}

/* ---- creation
 * ----------------------------------------------------------------------------------------- */

static struct vclock *take(struct vclock_store *t, unsigned size)
{
    struct vclock *c = t->spare[size];
    if (c) {
        t->spare[size] = c->u.vacant;
        return c;
    }
    struct vclock_block *b = t->blocks[size];
    if (!b || b->used == b->most) {
        b = t->empty[size];
        if (b) t->empty[size] = b->next;
        else b = new_block(t, size);
        b->next = t->blocks[size];
        b->used = 0;
        t->blocks[size] = b;
    }
    return clock_in(b, size, b->used++);
}

/* With `extra` bytes behind the fields of a node, or as a lazy join. */
static struct vclock *allocate(struct vclock_store *t, enum kind kind, size_t extra)
{
    const size_t bytes = kind == LAZY_JOIN ? LINE : offsetof(struct vclock, u.node.of) + extra;
    uint8_t size = 0;
    while (size < VCLOCK_SIZES && sizes[size] < bytes) size++;
    struct vclock *c = size < VCLOCK_SIZES ? take(t, size) : malloc(bytes);
    if (!c) abort();
    t->live++;
    t->bytes += size < VCLOCK_SIZES ? sizes[size] : bytes;
    c->refs = 1;
    c->count = 0;
    c->kind = (uint8_t)kind;
    c->size = size;
    return c;
}

static struct vclock *new_node(struct vclock_store *t)
{
    struct vclock *c = allocate(t, TREE, sizeof c->u.node.of.child);
    memset((void *)c->u.node.of.child, 0, sizeof c->u.node.of.child);
    return c;
}

static struct vclock *new_leaf(struct vclock_store *t, uint32_t count)
{
    struct vclock *c = allocate(t, TREE, count * sizeof(struct vclock_entry));
    c->count = (uint16_t)count;
    return c;
}

/* The tree with this leaf alone; takes over the reference to it. */
static struct vclock *tree_of_leaf(struct vclock_store *t, uint32_t cta, struct vclock *c)
{
    c = intern(t, c, 0);
    for (unsigned level = 0; level < t->depth; level++) {
        struct vclock *above = new_node(t);
        above->u.node.of.child[cta >> (FAN_BITS * level) & (FAN - 1)] = c;
        c = intern(t, above, level + 1);
    }
    return c;
}

struct vclock *vclock_of_cta(struct vclock_store *t, uint32_t cta, const struct vclock_entry *list,
                             uint32_t count)
{
    if (count > LIST_MOST) {
        struct vclock *leaf = new_leaf(t, count);
        memcpy(leaf->u.node.of.entry, list, count * sizeof *list);
        return tree_of_leaf(t, cta, leaf);
    }
    struct vclock *c = allocate(t, LIST, count * sizeof(struct cta_entry));
    for (uint32_t i = 0; i < count; i++)
        c->u.node.of.list[i] = (struct cta_entry){cta, list[i].part, list[i].epoch};
    c->count = (uint16_t)count;
    c->u.node.weight = count;
    return c;
}

/* ---- lists
 * -------------------------------------------------------------------------------------------- */

static uint64_t place_of(struct cta_entry e)
{
    return (uint64_t)e.cta << 32 | e.part;
}

/* Merges two lists; returns the number of entries. *a_all, *b_all: that list has all of them. */
static uint32_t merge(const struct vclock *a, const struct vclock *b, struct cta_entry *to,
                      bool *a_all, bool *b_all)
{
    uint32_t i = 0, k = 0, n = 0;
    bool a_lacks = false, b_lacks = false;
    while (i < a->count && k < b->count) {
        const struct cta_entry x = a->u.node.of.list[i], y = b->u.node.of.list[k];
        const uint64_t x_at = place_of(x), y_at = place_of(y);
        const bool take_x = x_at < y_at || (x_at == y_at && x.epoch >= y.epoch);
        a_lacks |= y_at < x_at || (x_at == y_at && x.epoch < y.epoch);
        b_lacks |= x_at < y_at || (x_at == y_at && y.epoch < x.epoch);
        to[n++] = take_x ? x : y;
        i += x_at <= y_at;
        k += y_at <= x_at;
    }
    b_lacks |= i < a->count;
    a_lacks |= k < b->count;
    while (i < a->count) to[n++] = a->u.node.of.list[i++];
    while (k < b->count) to[n++] = b->u.node.of.list[k++];
    *a_all = !a_lacks;
    *b_all = !b_lacks;
    return n;
}

/* NULL: the list would be too long. */
static struct vclock *join_lists(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    struct cta_entry list[2 * LIST_MOST];
    bool a_all, b_all;
    const uint32_t n = merge(a, b, list, &a_all, &b_all);
    if (a_all) return vclock_ref(a);
    if (b_all) return vclock_ref(b);
    if (n > LIST_MOST) return NULL;
    struct vclock *c = allocate(t, LIST, n * sizeof *list);
    memcpy(c->u.node.of.list, list, n * sizeof *list);
    c->count = (uint16_t)n;
    c->u.node.weight = n;
    return c;
}

/* `warp`: as in vclock_covers. */
static inline bool part_covers(uint32_t whole, uint32_t part, uint32_t warp)
{
    return whole == part ||
           (warp != UINT32_MAX && (whole == PART_CTA || whole == PART_WARP + warp));
}

static bool list_covers(const struct vclock *c, uint32_t cta, uint32_t part, uint32_t warp,
                        uint32_t epoch)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct cta_entry *e = &c->u.node.of.list[i];
        if (e->cta == cta && e->epoch >= epoch && part_covers(e->part, part, warp)) return true;
    }
    return false;
}

static bool extension_covers(const struct vclock *c, uint32_t cta, uint32_t part, uint32_t warp,
                             uint32_t epoch)
{
    const struct vclock_entry *entry = c->u.lazy.entry;
    for (uint32_t i = 0; c->u.lazy.cta == cta && i < c->count; i++)
        if (entry[i].epoch >= epoch && part_covers(entry[i].part, part, warp)) return true;
    return false;
}

/* ---- trees
 * -------------------------------------------------------------------------------------------- */

/* Whether leaf a has all that leaf b has. */
static bool leaf_contains(const struct vclock *a, const struct vclock *b)
{
    uint32_t i = 0;
    if (a->count < b->count) return false;
    for (uint32_t k = 0; k < b->count; k++, i++) {
        const struct vclock_entry e = b->u.node.of.entry[k];
        while (i < a->count && a->u.node.of.entry[i].part < e.part) i++;
        if (i == a->count || a->u.node.of.entry[i].part != e.part ||
            a->u.node.of.entry[i].epoch < e.epoch)
            return false;
    }
    return true;
}

static struct vclock *join_leaves(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    if (leaf_contains(a, b)) return vclock_ref(a);
    if (leaf_contains(b, a)) return vclock_ref(b);
    struct vclock *c = new_leaf(t, a->count + b->count);
    uint32_t i = 0, k = 0, n = 0;
    while (i < a->count || k < b->count) {
        struct vclock_entry *e = &c->u.node.of.entry[n++];
        if (k == b->count ||
            (i < a->count && a->u.node.of.entry[i].part < b->u.node.of.entry[k].part))
            *e = a->u.node.of.entry[i++];
        else if (i == a->count || b->u.node.of.entry[k].part < a->u.node.of.entry[i].part)
            *e = b->u.node.of.entry[k++];
        else {
            const struct vclock_entry x = a->u.node.of.entry[i++], y = b->u.node.of.entry[k++];
            *e = x.epoch >= y.epoch ? x : y;
        }
    }
    if (c->size == VCLOCK_SIZES) t->bytes -= (c->count - n) * sizeof(struct vclock_entry);
    c->count = (uint16_t)n;
    return intern(t, c, 0);
}

static struct vclock *join_trees(struct vclock_store *t, struct vclock *a, struct vclock *b,
                                 unsigned depth)
{
    if (a == b || !b) return vclock_ref(a);
    if (!a) return vclock_ref(b);
    if (!depth) return join_leaves(t, a, b);
    struct vclock *c = new_node(t);
    bool is_a = true, is_b = true;
    for (unsigned i = 0; i < FAN; i++) {
        c->u.node.of.child[i] = join_trees(t, a->u.node.of.child[i], b->u.node.of.child[i],
                                           depth - 1);
        is_a &= c->u.node.of.child[i] == a->u.node.of.child[i];
        is_b &= c->u.node.of.child[i] == b->u.node.of.child[i];
    }
    if (!is_a && !is_b) return intern(t, c, depth);
    for (unsigned i = 0; i < FAN; i++) drop_tree(t, c->u.node.of.child[i], depth - 1);
    free_vclock(t, c);
    return vclock_ref(is_a ? a : b);
}

static struct vclock *tree_of(struct vclock_store *t, const struct vclock *c)
{
    struct vclock *all = NULL;
    for (uint32_t i = 0, k; i < c->count; i = k) {
        const struct cta_entry *list = &c->u.node.of.list[i];
        for (k = i; k < c->count && c->u.node.of.list[k].cta == list->cta; k++) {
        }
        struct vclock *leaf = new_leaf(t, k - i);
        for (uint32_t n = 0; n < k - i; n++)
            leaf->u.node.of.entry[n] = (struct vclock_entry){list[n].part, list[n].epoch};
        struct vclock *one = tree_of_leaf(t, list->cta, leaf);
        vclock_join(t, &all, one);
        vclock_unref(t, one);
    }
    return all; // NOLINT(clang-analyzer-unix.Malloc): references are counted
}

static bool is_part_of(const struct vclock *c, const struct vclock *part)
{
    struct vclock *const *operand = c->u.lazy.operand;
    if (c->kind != LAZY_JOIN) return false;
    if (operand[0] == part || operand[1] == part) return true;
    return part->kind == LAZY_JOIN && !part->count && part->u.lazy.serial <= c->u.lazy.serial &&
           operand[0] == part->u.lazy.operand[0] && operand[1] == part->u.lazy.operand[1];
}

static struct vclock *lazy_join(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    struct vclock *c = allocate(t, LAZY_JOIN, 0);
    c->u.lazy.operand[0] = vclock_ref(a);
    c->u.lazy.operand[1] = vclock_ref(b);
    c->u.lazy.serial = ++t->joins;
    c->u.lazy.visited = 0;
    return c;
}

/* Whether entries of one thread, `now`, include those of the lazy join. */
static bool supersedes(const struct vclock_entry *now, uint32_t cta, uint32_t count,
                       const struct vclock *c)
{
    if (c->count && (c->u.lazy.cta != cta || c->count > count)) return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (now[i].part != c->u.lazy.entry[i].part || now[i].epoch < c->u.lazy.entry[i].epoch)
            return false;
    return true;
}

struct vclock *vclock_extend(struct vclock_store *t, struct vclock *known, uint32_t cta,
                             const struct vclock_entry *list, uint32_t count)
{
    const bool large = known && (known->kind != LIST || known->count >= LARGE);
    if (large && count <= EXTENSION_MOST) {
        /* A clock that adds nothing is passed over, so that it can be freed: what thousands of holders of a lock release
         * then takes one clock for each. */
        struct vclock *const *of = known->u.lazy.operand;
        const bool passes = known->kind == LAZY_JOIN && known->u.lazy.serial > t->horizon &&
                            supersedes(list, cta, count, known);
        struct vclock *c = lazy_join(t, passes ? of[0] : known, passes ? of[1] : NULL);
        c->count = (uint16_t)count;
        c->u.lazy.cta = cta;
        memcpy(c->u.lazy.entry, list, count * sizeof *list);
        return c;
    }
    struct vclock *c = vclock_of_cta(t, cta, list, count);
    vclock_join(t, &c, known);
    return c;
}

static bool covers_nearby(const struct vclock_store *t, const struct vclock *c, uint32_t cta,
                          uint32_t part, uint32_t warp, uint32_t epoch, uint64_t since);

/* Whether a quick search shows that a includes the release that made b, and so all of b: a thread
 * releases all that it knows, each time in another epoch. */
static bool has_extension(struct vclock_store *t, struct vclock *a, const struct vclock *b)
{
    return b->kind == LAZY_JOIN && b->count &&
           covers_nearby(t, a, b->u.lazy.cta, b->u.lazy.entry->part, b->u.lazy.entry->part / 32,
                         b->u.lazy.entry->epoch, b->u.lazy.serial - 1);
}

static struct vclock *join_lazily(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    if (is_part_of(a, b) || has_extension(t, a, b)) return vclock_ref(a);
    if (is_part_of(b, a) || has_extension(t, b, a)) return vclock_ref(b);
    return lazy_join(t, a, b);
}

bool vclock_clearly_includes(struct vclock_store *t, struct vclock *a, const struct vclock *b)
{
    return a == b || !b || (a && (is_part_of(a, b) || has_extension(t, a, b)));
}

static struct vclock *join_vclocks(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    if (a == b || !b) return vclock_ref(a);
    if (!a) return vclock_ref(b);
    if (a->kind == LAZY_JOIN || b->kind == LAZY_JOIN) return join_lazily(t, a, b);
    struct vclock *c = a->kind == LIST && b->kind == LIST ? join_lists(t, a, b) : NULL;
    if (c) return c;
    if (a->u.node.weight >= LARGE && b->u.node.weight >= LARGE) return join_lazily(t, a, b);
    if (a->kind == TREE && b->kind == TREE) return join_trees(t, a, b, t->depth);
    struct vclock *tree = tree_of(t, a->kind == LIST ? a : b);
    vclock_join(t, &tree, a->kind == LIST ? b : a);
    return tree;
}

void vclock_join(struct vclock_store *t, struct vclock **a, struct vclock *b)
{
    if (!b || *a == b) return;
    struct vclock *c = join_vclocks(t, *a, b); // NOLINT(clang-analyzer-unix.Malloc): likewise
    vclock_unref(t, *a);
    *a = c;
}

static bool leaf_covers(const struct vclock *c, uint32_t part, uint32_t epoch)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (c->u.node.of.entry[middle].part < part) low = middle + 1;
        else high = middle;
    }
    return low < c->count && c->u.node.of.entry[low].part == part &&
           c->u.node.of.entry[low].epoch >= epoch;
}

static bool tree_covers(const struct vclock_store *t, const struct vclock *c, uint32_t cta,
                        uint32_t part, uint32_t warp, uint32_t epoch)
{
    for (unsigned level = t->depth; c && level-- > 0;)
        c = c->u.node.of.child[cta >> (FAN_BITS * level) & (FAN - 1)];
    if (!c) return false;
    if (leaf_covers(c, part, epoch)) return true;
    return warp != UINT32_MAX &&
           (leaf_covers(c, PART_CTA, epoch) || leaf_covers(c, PART_WARP + warp, epoch));
}

static bool covers_now(const struct vclock_store *t, const struct vclock *c, uint32_t cta,
                       uint32_t part, uint32_t warp, uint32_t epoch)
{
    return c->kind == LIST ? list_covers(c, cta, part, warp, epoch)
                           : tree_covers(t, c, cta, part, warp, epoch);
}

/* Searches the releases that were joined last: the holder of a lock mostly asks about the holder
 * before it. */
static bool covers_nearby(const struct vclock_store *t, const struct vclock *c, uint32_t cta,
                          uint32_t part, uint32_t warp, uint32_t epoch, uint64_t since)
{
    for (int step = 0; c && step < NEAR; step++) {
        if (c->kind != LAZY_JOIN) return covers_now(t, c, cta, part, warp, epoch);
        if (c->u.lazy.serial <= since) return false;
        if (extension_covers(c, cta, part, warp, epoch)) return true;
        if (step && c->count) return false;
        const struct vclock *last = c->u.lazy.operand[1];
        if (last && last->kind != LAZY_JOIN) {
            if (covers_now(t, last, cta, part, warp, epoch)) return true;
        } else if (last && last->u.lazy.serial > since &&
                   extension_covers(last, cta, part, warp, epoch))
            return true;
        c = c->u.lazy.operand[0];
    }
    return false;
}

/* The counter of queries has wrapped. */
static void forget_visits(struct vclock_store *t)
{
    t->queries = 1;
    for (struct vclock_block *b = t->blocks[0]; b; b = b->next)
        for (size_t i = 0; i < b->used; i++) {
            struct vclock *c = clock_in(b, 0, i);
            if (c->kind == LAZY_JOIN) c->u.lazy.visited = 0;
        }
}

/* Searches at most `most` lazy joins, the latest first. */
static bool covers_within(struct vclock_store *t, struct vclock *c, uint32_t cta, uint32_t part,
                          uint32_t warp, uint32_t epoch, uint64_t since, uint64_t most)
{
    if (c->kind != LAZY_JOIN) return covers_now(t, c, cta, part, warp, epoch);
    uint32_t n = 0;
    if (!++t->queries) forget_visits(t);
    push(t, &n, c);
    for (uint32_t i = 0; i < n; i++) {
        c = t->worklist[i];
        if (c->kind != LAZY_JOIN) {
            if (covers_now(t, c, cta, part, warp, epoch)) return true;
        } else if (c->u.lazy.serial > since && c->u.lazy.visited != t->queries) {
            if (!most--) {
                t->cut = true;
                return false;
            }
            c->u.lazy.visited = t->queries;
            if (c->count && extension_covers(c, cta, part, warp, epoch)) return true;
            push(t, &n, c->u.lazy.operand[0]);
            if (c->u.lazy.operand[1]) push(t, &n, c->u.lazy.operand[1]);
        }
    }
    return false;
}

bool vclock_covers(struct vclock_store *t, struct vclock *c, uint32_t cta, uint32_t part,
                   uint32_t warp, uint32_t epoch, uint64_t since)
{
    if (!c) return false;
    if (covers_nearby(t, c, cta, part, warp, epoch, since)) return true;
    if (t->effort == VCLOCK_NEARBY) {
        t->cut = true;
        return false;
    }
    return c->kind == LAZY_JOIN && covers_within(t, c, cta, part, warp, epoch, since,
                                                 t->effort == VCLOCK_SOME ? SOME : UINT64_MAX);
}

/* ---- condensing
 * --------------------------------------------------------------------------------------- */

struct gathered {
    struct cta_entry *list;
    size_t count, cap;
};

static void gather(struct gathered *g, uint32_t cta, const struct vclock_entry *list,
                   uint32_t count)
{
    if (g->count + count > g->cap) {
        g->cap = 2 * g->cap + count + 1024;
        g->list = realloc(g->list, g->cap * sizeof *g->list);
        if (!g->list) abort();
    }
    for (uint32_t i = 0; i < count; i++)
        g->list[g->count++] = (struct cta_entry){cta, list[i].part, list[i].epoch};
}

static void gather_tree(struct gathered *g, const struct vclock *c, unsigned depth, uint32_t cta)
{
    if (!c) return;
    if (!depth) gather(g, cta, c->u.node.of.entry, c->count);
    for (uint32_t i = 0; depth && i < FAN; i++)
        gather_tree(g, c->u.node.of.child[i], depth - 1, cta << FAN_BITS | i);
}

/* Calls `visit` for all lazy joins that are not later than `horizon`. */
static void each_lazy(struct vclock_store *t, uint64_t horizon,
                      void (*visit)(struct vclock_store *t, struct vclock *c, void *to), void *to)
{
    for (struct vclock_block *b = t->blocks[0]; b; b = b->next)
        for (size_t i = 0; i < b->used; i++) {
            struct vclock *c = clock_in(b, 0, i);
            if (c->kind == LAZY_JOIN && c->u.lazy.serial <= horizon) visit(t, c, to);
        }
}

enum { SPANS = 4096 }; /* of serial numbers, for the search of the horizon */

static void count_serial(struct vclock_store *t, struct vclock *c, void *counts)
{
    ((uint32_t *)counts)[c->u.lazy.serial * SPANS / (t->joins + 1)]++;
}

/* The serial number that about half of the lazy joins do not exceed. */
static uint64_t middle_serial(struct vclock_store *t)
{
    uint32_t counts[SPANS] = {0}, i = 0;
    uint64_t all = 0, seen = 0;
    each_lazy(t, UINT64_MAX, count_serial, counts);
    for (uint32_t k = 0; k < SPANS; k++) all += counts[k];
    while (i < SPANS && 2 * (seen + counts[i]) <= all) seen += counts[i++];
    return (i + 1) * (t->joins + 1) / SPANS;
}

struct summary {
    struct gathered entries;
    struct vclock *trees; /* the operands that are trees, joined */
    struct vclock *all;   /* the result */
};

static void gather_lazy(struct vclock_store *t, struct vclock *c, void *to)
{
    struct summary *s = to;
    gather(&s->entries, c->u.lazy.cta, c->u.lazy.entry, c->count);
    for (int i = 0; i < 2; i++) {
        const struct vclock *o = c->u.lazy.operand[i];
        for (uint32_t k = 0; o && o->kind == LIST && k < o->count; k++) {
            const struct cta_entry e = o->u.node.of.list[k];
            gather(&s->entries, e.cta, &(struct vclock_entry){e.part, e.epoch}, 1);
        }
        if (!o || o->kind != TREE) continue;
        struct vclock *joined = join_trees(t, s->trees, c->u.lazy.operand[i], t->depth);
        vclock_unref(t, s->trees);
        s->trees = joined;
    }
}

static int compare_entries(const void *x, const void *y)
{
    const struct cta_entry *a = x, *b = y;
    if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    return (a->epoch > b->epoch) - (a->epoch < b->epoch);
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* What sorted entries of one CTA say, in few: one for the CTA, up to the epoch that all its threads reach, and one for each
 * warp and thread that goes beyond. `to` has space for all threads, warps and mbarriers. Returns their number. */
static uint32_t reduce(const struct vclock_store *t, const struct cta_entry *list, size_t count,
                       struct vclock_entry *to)
{
    uint32_t own[PART_WARP] = {0}, warp[PART_CTA - PART_WARP] = {0}, all = 0, least = UINT32_MAX,
             n = 0;
    for (size_t i = 0; i < count; i++) { /* the last entry of a part is its latest */
        if (list[i].part < PART_WARP) own[list[i].part] = list[i].epoch;
        else if (list[i].part < PART_CTA) warp[list[i].part - PART_WARP] = list[i].epoch;
        else if (list[i].part == PART_CTA) all = list[i].epoch;
    }
    for (uint32_t w = 0; w * 32 < t->threads; w++) {
        uint32_t its = UINT32_MAX;
        for (uint32_t l = w * 32; l < t->threads && l < (w + 1) * 32; l++)
            if (own[l] < its) its = own[l];
        warp[w] = later(later(warp[w], its), all);
        if (warp[w] < least) least = warp[w];
    }
    all = later(all, least);
    for (uint32_t l = 0; l < t->threads; l++)
        if (own[l] > later(warp[l / 32], all)) to[n++] = (struct vclock_entry){l, own[l]};
    for (uint32_t w = 0; w * 32 < t->threads; w++)
        if (warp[w] > all) to[n++] = (struct vclock_entry){PART_WARP + w, warp[w]};
    if (all) to[n++] = (struct vclock_entry){PART_CTA, all};
    for (size_t i = 0; i < count; i++)
        if (list[i].part >= PART_MBARRIER && (i + 1 == count || list[i + 1].part != list[i].part))
            to[n++] = (struct vclock_entry){list[i].part, list[i].epoch};
    return n;
}

/* The tree of all that these entries say. */
static struct vclock *tree_of_entries(struct vclock_store *t, const struct gathered *g)
{
    struct vclock *all = NULL;
    struct vclock_entry *list = malloc((g->count + PART_CTA) * sizeof *list);
    if (!list) abort();
    for (size_t i = 0, k; i < g->count; i = k) {
        for (k = i; k < g->count && g->list[k].cta == g->list[i].cta; k++) {
        }
        const uint32_t n = reduce(t, &g->list[i], k - i, list);
        struct vclock *leaf = new_leaf(t, n);
        memcpy(leaf->u.node.of.entry, list, n * sizeof *list);
        struct vclock *one = tree_of_leaf(t, g->list[i].cta, leaf),
                      *joined = join_trees(t, all, one, t->depth);
        vclock_unref(t, one);
        vclock_unref(t, all);
        all = joined;
    }
    free(list);
    return all; // NOLINT(clang-analyzer-unix.Malloc): join_trees() gave it a reference of its own
}

static void replace_operands(struct vclock_store *t, struct vclock *c, void *to)
{
    const struct summary *s = to;
    struct vclock *a = c->u.lazy.operand[0], *b = c->u.lazy.operand[1];
    c->u.lazy.operand[0] = vclock_ref(s->all);
    c->u.lazy.operand[1] = NULL;
    vclock_unref(t, a);
    vclock_unref(t, b);
}

void vclock_condense(struct vclock_store *t)
{
    struct summary s = {0};
    const uint64_t horizon = middle_serial(t);
    each_lazy(t, horizon, gather_lazy, &s);
    gather_tree(&s.entries, s.trees, t->depth, 0);
    if (s.entries.count) {
        qsort(s.entries.list, s.entries.count, sizeof *s.entries.list, compare_entries);
        s.all = tree_of_entries(t, &s.entries);
        each_lazy(t, horizon, replace_operands, &s);
        if (horizon > t->horizon) t->horizon = horizon;
    }
    free(s.entries.list);
    vclock_unref(t, s.trees);
    vclock_unref(t, s.all);
}
