/* Vector clocks: lists, interned trees and lazy joins. vclock.h describes them. */
#include "determinism/race/vclock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAN = 16,
    FAN_BITS = 4,
    LARGE = 6,
    LIST_MOST = 16,
    EXTENSION_MOST = 3,
    QUICK_CHECK = 4,
    QUICK_QUERY = 64
};
enum kind {
    LIST,      /* of few entries, of any CTAs, sorted by CTA and part */
    TREE,      /* in the table; a leaf has the parts of one CTA, sorted */
    LAZY_JOIN, /* of two clocks; or of one and a few entries of the releasing thread */
};

struct cta_entry {
    uint32_t cta, part, epoch;
};

struct vclock {
    uint32_t refs, hash;
    uint32_t count;      /* entries of a list, a leaf or a lazy join; 0: an inner node */
    uint32_t weight;     /* entries of the whole tree */
    uint8_t kind, size;  /* enum kind, enum size */
    struct vclock *next; /* in the table, or in a free list */
    union {
        struct vclock *child[FAN];
        struct {
            struct vclock *operand[2]; /* [1]: NULL if there are entries */
            uint64_t serial, visited;
            uint32_t cta, warp; /* of the entries; the first one is the thread's own: */
            struct vclock_entry entry[EXTENSION_MOST];
        } lazy;
        struct cta_entry list[1];
        struct vclock_entry entry[1]; /* sorted by part */
    } u;
};

/* Bytes behind the common fields, by size class. */
static const size_t sizes[VCLOCK_SIZES] = {64, sizeof(struct vclock *) * FAN,
                                           LIST_MOST * sizeof(struct cta_entry)};

enum { BLOCK = 256 }; /* clocks of one size that are allocated together */
struct vclock_block {
    struct vclock_block *next;
    size_t used;
};

void vclock_store_begin(struct vclock_store *t, uint32_t ctas)
{
    t->depth = 0;
    for (uint64_t n = 1; n < ctas; n *= FAN) t->depth++;
}

void vclock_store_clear(struct vclock_store *t)
{
    for (uint32_t i = 0; i < t->cap && t->count; i++)
        for (struct vclock *c = t->table[i], *next; c; c = next) {
            next = c->next;
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
    t->live = 0;
}

void vclock_store_end(struct vclock_store *t)
{
    vclock_store_clear(t);
    free((void *)t->table);
    free((void *)t->worklist);
    for (int i = 0; i < VCLOCK_SIZES; i++)
        for (struct vclock_block *b = t->empty[i], *next; b; b = next) {
            next = b->next;
            free(b);
        }
    *t = (struct vclock_store){0};
}

/* ---- the table
 * ---------------------------------------------------------------------------------------- */

static size_t size_of(const struct vclock *c)
{
    return c->count ? c->count * sizeof(struct vclock_entry) : sizeof c->u.child;
}

static uint32_t hash_of(const struct vclock *c)
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

static void grow(struct vclock_store *t)
{
    const uint32_t cap = t->cap ? 2 * t->cap : 1024;
    struct vclock **table = (struct vclock **)calloc(cap, sizeof(struct vclock *));
    if (!table) abort();
    for (uint32_t i = 0; i < t->cap; i++)
        for (struct vclock *c = t->table[i], *next; c; c = next) {
            next = c->next;
            c->next = table[c->hash & (cap - 1)];
            table[c->hash & (cap - 1)] = c;
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

static void free_vclock(struct vclock_store *t, struct vclock *c)
{
    t->live--;
    if (c->size < VCLOCK_SIZES) {
        c->next = t->spare[c->size];
        t->spare[c->size] = c;
    } else free(c); // NOLINT(clang-analyzer-unix.Malloc): none of these is from a block
}

static void drop_tree(struct vclock_store *t, struct vclock *c, unsigned depth)
{
    if (!c || --c->refs) return;
    struct vclock **at = &t->table[c->hash & (t->cap - 1)];
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    t->count--;
    for (unsigned i = 0; depth && i < FAN; i++) drop_tree(t, c->u.child[i], depth - 1);
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
    push(t, &n, c);
    while (n) {
        c = t->worklist[--n];
        if (c->kind == TREE) drop_tree(t, c, t->depth);
        else if (!--c->refs) {
            for (int i = 0; i < 2 && c->kind == LAZY_JOIN; i++)
                if (c->u.lazy.operand[i]) push(t, &n, c->u.lazy.operand[i]);
            free_vclock(t, c);
        }
    }
}

/* Interns the tree: returns the one with the same contents and gives this one up. */
static struct vclock *intern(struct vclock_store *t, struct vclock *c, unsigned depth)
{
    const uint32_t hash = c->hash = hash_of(c);
    c->weight = c->count;
    for (unsigned i = 0; depth && i < FAN; i++)
        if (c->u.child[i]) c->weight += c->u.child[i]->weight;
    for (struct vclock *o = t->cap ? t->table[hash & (t->cap - 1)] : NULL; o; o = o->next)
        if (o->hash == hash && o->count == c->count && memcmp(&o->u, &c->u, size_of(c)) == 0) {
            for (unsigned i = 0; depth && i < FAN; i++) drop_tree(t, c->u.child[i], depth - 1);
            free_vclock(t, c);
            return vclock_ref(o);
        }
    if (t->count >= t->cap) grow(t);
    c->next = t->table[hash & (t->cap - 1)];
    t->table[hash & (t->cap - 1)] = c;
    t->count++;
    return c;
}

/* ---- creation
 * ----------------------------------------------------------------------------------------- */

static struct vclock *take(struct vclock_store *t, unsigned size)
{
    const size_t each = offsetof(struct vclock, u) + sizes[size];
    struct vclock *c = t->spare[size];
    if (c) {
        t->spare[size] = c->next;
        return c;
    }
    struct vclock_block *b = t->blocks[size];
    if (!b || b->used == BLOCK) {
        b = t->empty[size];
        if (b) t->empty[size] = b->next;
        else b = malloc(sizeof *b + BLOCK * each);
        if (!b) abort();
        *b = (struct vclock_block){.next = t->blocks[size]};
        t->blocks[size] = b;
    }
    return (struct vclock *)(void *)((unsigned char *)(b + 1) + b->used++ * each);
}

static struct vclock *allocate(struct vclock_store *t, enum kind kind, size_t room)
{
    uint8_t size = 0;
    while (size < VCLOCK_SIZES && sizes[size] < room) size++;
    struct vclock *c = size < VCLOCK_SIZES ? take(t, size)
                                           : malloc(offsetof(struct vclock, u) + room);
    if (!c) abort();
    t->live++;
    memset(c, 0, offsetof(struct vclock, u));
    c->kind = (uint8_t)kind;
    c->size = size;
    c->refs = 1;
    return c;
}

static struct vclock *new_node(struct vclock_store *t)
{
    struct vclock *c = allocate(t, TREE, sizeof c->u.child);
    memset((void *)c->u.child, 0, sizeof c->u.child);
    return c;
}

static struct vclock *new_leaf(struct vclock_store *t, uint32_t count)
{
    struct vclock *c = allocate(t, TREE, count * sizeof(struct vclock_entry));
    c->count = count;
    return c;
}

/* The tree with this leaf alone; takes over the reference to it. */
static struct vclock *tree_of_leaf(struct vclock_store *t, uint32_t cta, struct vclock *c)
{
    c = intern(t, c, 0);
    for (unsigned level = 0; level < t->depth; level++) {
        struct vclock *above = new_node(t);
        above->u.child[cta >> (FAN_BITS * level) & (FAN - 1)] = c;
        c = intern(t, above, level + 1);
    }
    return c;
}

struct vclock *vclock_of_cta(struct vclock_store *t, uint32_t cta, const struct vclock_entry *list,
                             uint32_t count)
{
    if (count > LIST_MOST) {
        struct vclock *leaf = new_leaf(t, count);
        memcpy(leaf->u.entry, list, count * sizeof *list);
        return tree_of_leaf(t, cta, leaf);
    }
    struct vclock *c = allocate(t, LIST, count * sizeof(struct cta_entry));
    for (uint32_t i = 0; i < count; i++)
        c->u.list[i] = (struct cta_entry){cta, list[i].part, list[i].epoch};
    c->count = c->weight = count;
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
        const struct cta_entry x = a->u.list[i], y = b->u.list[k];
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
    while (i < a->count) to[n++] = a->u.list[i++];
    while (k < b->count) to[n++] = b->u.list[k++];
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
    memcpy(c->u.list, list, n * sizeof *list);
    c->count = c->weight = n;
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
        const struct cta_entry *e = &c->u.list[i];
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
        const struct vclock_entry e = b->u.entry[k];
        while (i < a->count && a->u.entry[i].part < e.part) i++;
        if (i == a->count || a->u.entry[i].part != e.part || a->u.entry[i].epoch < e.epoch)
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
        struct vclock_entry *e = &c->u.entry[n++];
        if (k == b->count || (i < a->count && a->u.entry[i].part < b->u.entry[k].part))
            *e = a->u.entry[i++];
        else if (i == a->count || b->u.entry[k].part < a->u.entry[i].part) *e = b->u.entry[k++];
        else {
            const struct vclock_entry x = a->u.entry[i++], y = b->u.entry[k++];
            *e = x.epoch >= y.epoch ? x : y;
        }
    }
    c->count = n;
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
        c->u.child[i] = join_trees(t, a->u.child[i], b->u.child[i], depth - 1);
        is_a &= c->u.child[i] == a->u.child[i];
        is_b &= c->u.child[i] == b->u.child[i];
    }
    if (!is_a && !is_b) return intern(t, c, depth);
    for (unsigned i = 0; i < FAN; i++) drop_tree(t, c->u.child[i], depth - 1);
    free_vclock(t, c);
    return vclock_ref(is_a ? a : b);
}

static struct vclock *tree_of(struct vclock_store *t, const struct vclock *c)
{
    struct vclock *all = NULL;
    for (uint32_t i = 0, k; i < c->count; i = k) {
        const struct cta_entry *list = &c->u.list[i];
        for (k = i; k < c->count && c->u.list[k].cta == list->cta; k++) {
        }
        struct vclock *leaf = new_leaf(t, k - i);
        for (uint32_t n = 0; n < k - i; n++)
            leaf->u.entry[n] = (struct vclock_entry){list[n].part, list[n].epoch};
        struct vclock *one = tree_of_leaf(t, list->cta, leaf);
        vclock_join(t, &all, one);
        vclock_unref(t, one);
    }
    return all; // NOLINT(clang-analyzer-unix.Malloc): references are counted
}

static bool is_part_of(const struct vclock *c, const struct vclock *part)
{
    return c->kind == LAZY_JOIN && (c->u.lazy.operand[0] == part || c->u.lazy.operand[1] == part);
}

static struct vclock *lazy_join(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    struct vclock *c = allocate(t, LAZY_JOIN, sizeof c->u.lazy);
    c->u.lazy.operand[0] = vclock_ref(a);
    c->u.lazy.operand[1] = vclock_ref(b);
    c->u.lazy.serial = ++t->joins;
    c->u.lazy.visited = 0;
    return c;
}

struct vclock *vclock_extend(struct vclock_store *t, struct vclock *known, uint32_t cta,
                             uint32_t warp, const struct vclock_entry *list, uint32_t count)
{
    if (known && known->kind == LAZY_JOIN && count <= EXTENSION_MOST) {
        struct vclock *c = lazy_join(t, known, NULL);
        c->count = count;
        c->u.lazy.cta = cta;
        c->u.lazy.warp = warp;
        memcpy(c->u.lazy.entry, list, count * sizeof *list);
        return c;
    }
    struct vclock *c = vclock_of_cta(t, cta, list, count);
    vclock_join(t, &c, known);
    return c;
}

static bool covers_within(struct vclock_store *t, struct vclock *c, uint32_t cta, uint32_t part,
                          uint32_t warp, uint32_t epoch, uint64_t since, uint64_t most);

/* Whether a quick search shows that a includes the release that made b, and so all of b: a thread
 * releases all that it knows, each time in another epoch. */
static bool has_extension(struct vclock_store *t, struct vclock *a, const struct vclock *b)
{
    return b->kind == LAZY_JOIN && b->count &&
           covers_within(t, a, b->u.lazy.cta, b->u.lazy.entry->part, b->u.lazy.warp,
                         b->u.lazy.entry->epoch, b->u.lazy.serial - 1, QUICK_CHECK);
}

static struct vclock *join_lazily(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    if (is_part_of(a, b) || has_extension(t, a, b)) return vclock_ref(a);
    if (is_part_of(b, a) || has_extension(t, b, a)) return vclock_ref(b);
    return lazy_join(t, a, b);
}

static struct vclock *join_vclocks(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    if (a == b || !b) return vclock_ref(a);
    if (!a) return vclock_ref(b);
    if (a->kind == LAZY_JOIN || b->kind == LAZY_JOIN) return join_lazily(t, a, b);
    struct vclock *c = a->kind == LIST && b->kind == LIST ? join_lists(t, a, b) : NULL;
    if (c) return c;
    if (a->weight >= LARGE && b->weight >= LARGE) return join_lazily(t, a, b);
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
        if (c->u.entry[middle].part < part) low = middle + 1;
        else high = middle;
    }
    return low < c->count && c->u.entry[low].part == part && c->u.entry[low].epoch >= epoch;
}

static bool tree_covers(const struct vclock_store *t, const struct vclock *c, uint32_t cta,
                        uint32_t part, uint32_t warp, uint32_t epoch)
{
    for (unsigned level = t->depth; c && level-- > 0;)
        c = c->u.child[cta >> (FAN_BITS * level) & (FAN - 1)];
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

/* Searches at most `most` lazy joins, the latest first: the holder of a lock mostly asks about the
 * holder before it. */
static bool covers_within(struct vclock_store *t, struct vclock *c, uint32_t cta, uint32_t part,
                          uint32_t warp, uint32_t epoch, uint64_t since, uint64_t most)
{
    if (c->kind != LAZY_JOIN) return covers_now(t, c, cta, part, warp, epoch);
    uint32_t n = 0;
    t->queries++;
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
    return c &&
           covers_within(t, c, cta, part, warp, epoch, since, t->quick ? QUICK_QUERY : UINT64_MAX);
}
