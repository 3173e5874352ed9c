/* Vector clocks: lists, interned trees and lazy joins. vclock.h describes them. */
#include "determinism/race/vclock.h"

#include "base/pages.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FAN = 16, FAN_BITS = 4, LARGE = 6, LIST_MOST = 16, SOME = 64, NEAR = 4 };
enum kind {
    VACANT,
    LIST,      /* of few entries, of any CTAs, sorted by CTA and part */
    TREE,      /* in the table; a leaf has the parts of one CTA, sorted */
    LAZY_JOIN, /* of one or two clocks, and what one thread has released that knew them */
};

struct cta_entry {
    uint32_t cta, part, epoch;
};

/* What a clock points to. A lazy join fits in one line of the processor's cache: there are millions. One thread, its owner, may
 * release several times without acquiring anything in between: all these clocks are one node. `struct vclock *` then
 * points to a byte of it: byte 0 is the join alone, byte k the join with what the owner did up to epoch `epoch` + k - 1
 * and with `warp_epoch` and `cta_epoch`. */
struct node {
    uint32_t refs;
    uint16_t count;     /* entries of a list or a leaf; 0: an inner node */
    uint8_t kind, size; /* enum kind; size class */
    union {
        struct node *vacant; /* the next one of a free list */
        struct {
            struct vclock *operand[2]; /* [1]: NULL if there is one */
            uint64_t first, last;      /* serial numbers: of the join, of its last release */
            uint32_t visited;
            uint32_t cta, epoch;            /* of the owner; its epoch at byte 1 */
            uint32_t warp_epoch, cta_epoch; /* as in struct vclock_release */
            uint16_t thread;                /* the owner, in its CTA */
            uint8_t releases; /* the last byte that a clock points to; 0: there is no owner */
        } lazy;
        struct {
            uint32_t hash;
            uint32_t weight;   /* entries of the whole list or tree */
            struct node *next; /* in the table */
            union {
                struct node *child[FAN];
                struct cta_entry list[1];
                struct vclock_entry entry[1]; /* sorted by part */
            } of;
        } node;
    } u;
};
enum { LINE = VCLOCK_NODE, RELEASES_MOST = LINE - 1 };
_Static_assert(offsetof(struct node, refs) == 0, "vclock_refs()");
_Static_assert(offsetof(struct node, u) + sizeof((struct node){0}.u.lazy) == LINE, "");

static struct node *node_of(const struct vclock *c)
{
    const char *byte = (const char *)c;
    return c ? (struct node *)(uintptr_t)(byte - (uintptr_t)byte % LINE) : NULL;
}

/* How many releases of its node the clock includes. */
static uint32_t releases_of(const struct vclock *c)
{
    return (uint32_t)((uintptr_t)c % LINE);
}

static struct vclock *clock_of(struct node *n, uint32_t releases)
{
    return n ? (struct vclock *)(void *)((char *)n + releases) : NULL;
}

static size_t in_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Bytes of a node, by size class. */
static const size_t sizes[VCLOCK_SIZES] = {
    LINE, (offsetof(struct node, u.node.of) + sizeof(struct node *) * FAN + LINE - 1) / LINE *LINE,
    (offsetof(struct node, u.node.of) + LIST_MOST * sizeof(struct cta_entry) + LINE - 1) /
        LINE *LINE};

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

static struct node *node_in(struct vclock_block *b, unsigned size, size_t i)
{
    return (struct node *)(void *)&b->clocks[i * sizes[size]];
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
        for (struct node *c = t->table[i], *next; c; c = next) {
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

static size_t size_of(const struct node *c)
{
    return c->count ? c->count * sizeof(struct vclock_entry) : sizeof c->u.node.of.child;
}

static uint32_t hash_of(const struct node *c)
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
    struct node **table = (struct node **)calloc(cap, sizeof(struct node *));
    if (!table) abort();
    for (uint32_t i = 0; i < t->cap; i++)
        for (struct node *c = t->table[i], *next; c; c = next) {
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
    return offsetof(struct node, u.node.of) + count * sizeof(struct vclock_entry);
}

static void free_vclock(struct vclock_store *t, struct node *c)
{
    t->live--;
    t->bytes -= c->size < VCLOCK_SIZES ? sizes[c->size] : large_size(c->count);
    if (c->size < VCLOCK_SIZES) {
        c->kind = VACANT;
        c->u.vacant = t->spare[c->size];
        t->spare[c->size] = c;
    } else free(c); // NOLINT(clang-analyzer-unix.Malloc): none of these is from a block
}

static void drop_tree(struct vclock_store *t, struct node *c, unsigned depth)
{
    if (!c || --c->refs) return;
    struct node **at = &t->table[c->u.node.hash & (t->cap - 1)];
    while (*at != c) at = &(*at)->u.node.next;
    *at = c->u.node.next;
    t->count--;
    for (unsigned i = 0; depth && i < FAN; i++) drop_tree(t, c->u.node.of.child[i], depth - 1);
    free_vclock(t, c);
}

static struct node *ref(struct node *n)
{
    if (n) n->refs++;
    return n;
}

/* Without recursion over lazy joins: they may form a long chain. */
void vclock_unref_one(struct vclock_store *t, struct vclock *c)
{
    uint32_t n = 0;
    for (;;) {
        struct node *of = node_of(c);
        c = NULL;
        if (of->kind == TREE) drop_tree(t, of, t->depth);
        else if (!--of->refs) {
            if (of->kind == LAZY_JOIN) {
                c = of->u.lazy.operand[0];
                if (of->u.lazy.operand[1]) push(t, &n, of->u.lazy.operand[1]);
            }
            free_vclock(t, of);
        }
        if (!c && !n) return;
        if (!c) c = t->worklist[--n];
    }
}

static void unref(struct vclock_store *t, struct node *n)
{
    vclock_unref(t, clock_of(n, 0));
}

/* Interns the tree: returns the one with the same contents and gives this one up. */
static struct node *intern(struct vclock_store *t, struct node *c, unsigned depth)
{
    const uint32_t hash = c->u.node.hash = hash_of(c);
    c->u.node.weight = c->count;
    for (unsigned i = 0; depth && i < FAN; i++)
        if (c->u.node.of.child[i]) c->u.node.weight += c->u.node.of.child[i]->u.node.weight;
    for (struct node *o = t->cap ? t->table[hash & (t->cap - 1)] : NULL; o; o = o->u.node.next)
        if (o->u.node.hash == hash && o->count == c->count &&
            memcmp(&o->u.node.of, &c->u.node.of, size_of(c)) == 0) {
            for (unsigned i = 0; depth && i < FAN; i++)
                drop_tree(t, c->u.node.of.child[i], depth - 1);
            free_vclock(t, c);
            return ref(o);
        }
    if (t->count >= t->cap) grow(t);
    c->u.node.next = t->table[hash & (t->cap - 1)];
    t->table[hash & (t->cap - 1)] = c;
    t->count++;
    return c;
}

/* ---- creation
 * ----------------------------------------------------------------------------------------- */

static struct node *take(struct vclock_store *t, unsigned size)
{
    struct node *c = t->spare[size];
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
    return node_in(b, size, b->used++);
}

/* With `extra` bytes behind the fields of a node, or as a lazy join. */
static struct node *allocate(struct vclock_store *t, enum kind kind, size_t extra)
{
    const size_t bytes = kind == LAZY_JOIN ? LINE : offsetof(struct node, u.node.of) + extra;
    uint8_t size = 0;
    while (size < VCLOCK_SIZES && sizes[size] < bytes) size++;
    struct node *c = size < VCLOCK_SIZES ? take(t, size) : aligned_alloc(LINE, in_lines(bytes));
    if (!c) abort();
    t->live++;
    t->bytes += size < VCLOCK_SIZES ? sizes[size] : bytes;
    c->refs = 1;
    c->count = 0;
    c->kind = (uint8_t)kind;
    c->size = size;
    return c;
}

static struct node *new_node(struct vclock_store *t)
{
    struct node *c = allocate(t, TREE, sizeof c->u.node.of.child);
    memset((void *)c->u.node.of.child, 0, sizeof c->u.node.of.child);
    return c;
}

static struct node *new_leaf(struct vclock_store *t, uint32_t count)
{
    struct node *c = allocate(t, TREE, count * sizeof(struct vclock_entry));
    c->count = (uint16_t)count;
    return c;
}

/* The tree with this leaf alone; takes over the reference to it. */
static struct node *tree_of_leaf(struct vclock_store *t, uint32_t cta, struct node *c)
{
    c = intern(t, c, 0);
    for (unsigned level = 0; level < t->depth; level++) {
        struct node *above = new_node(t);
        above->u.node.of.child[cta >> (FAN_BITS * level) & (FAN - 1)] = c;
        c = intern(t, above, level + 1);
    }
    return c;
}

struct vclock *vclock_of_cta(struct vclock_store *t, uint32_t cta, const struct vclock_entry *list,
                             uint32_t count)
{
    if (count > LIST_MOST) {
        struct node *leaf = new_leaf(t, count);
        memcpy(leaf->u.node.of.entry, list, count * sizeof *list);
        return clock_of(tree_of_leaf(t, cta, leaf), 0);
    }
    struct node *c = allocate(t, LIST, count * sizeof(struct cta_entry));
    for (uint32_t i = 0; i < count; i++)
        c->u.node.of.list[i] = (struct cta_entry){cta, list[i].part, list[i].epoch};
    c->count = (uint16_t)count;
    c->u.node.weight = count;
    return clock_of(c, 0);
}

/* ---- lists
 * -------------------------------------------------------------------------------------------- */

static uint64_t place_of(struct cta_entry e)
{
    return (uint64_t)e.cta << 32 | e.part;
}

/* Merges two lists; returns the number of entries. *a_all, *b_all: that list has all of them. */
static uint32_t merge(const struct node *a, const struct node *b, struct cta_entry *to, bool *a_all,
                      bool *b_all)
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
static struct node *join_lists(struct vclock_store *t, struct node *a, struct node *b)
{
    struct cta_entry list[2 * LIST_MOST];
    bool a_all, b_all;
    const uint32_t n = merge(a, b, list, &a_all, &b_all);
    if (a_all) return ref(a);
    if (b_all) return ref(b);
    if (n > LIST_MOST) return NULL;
    struct node *c = allocate(t, LIST, n * sizeof *list);
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

static bool list_covers(const struct node *c, uint32_t cta, uint32_t part, uint32_t warp,
                        uint32_t epoch)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct cta_entry *e = &c->u.node.of.list[i];
        if (e->cta == cta && e->epoch >= epoch && part_covers(e->part, part, warp)) return true;
    }
    return false;
}

/* Whether it is in what the owner of a lazy join has released, up to this release. */
static inline bool release_covers(const struct node *c, uint32_t releases, uint32_t cta,
                                  uint32_t part, uint32_t warp, uint32_t epoch)
{
    if (!releases || c->u.lazy.cta != cta) return false;
    if (part == c->u.lazy.thread && epoch < c->u.lazy.epoch + releases) return true;
    return warp != UINT32_MAX && (epoch <= c->u.lazy.cta_epoch ||
                                  (warp == c->u.lazy.thread / 32 && epoch <= c->u.lazy.warp_epoch));
}

/* ---- trees
 * -------------------------------------------------------------------------------------------- */

/* Whether leaf a has all that leaf b has. */
static bool leaf_contains(const struct node *a, const struct node *b)
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

static struct node *join_leaves(struct vclock_store *t, struct node *a, struct node *b)
{
    if (leaf_contains(a, b)) return ref(a);
    if (leaf_contains(b, a)) return ref(b);
    struct node *c = new_leaf(t, a->count + b->count);
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

static struct node *join_trees(struct vclock_store *t, struct node *a, struct node *b,
                               unsigned depth)
{
    if (a == b || !b) return ref(a);
    if (!a) return ref(b);
    if (!depth) return join_leaves(t, a, b);
    struct node *c = new_node(t);
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
    return ref(is_a ? a : b);
}

static struct node *tree_of(struct vclock_store *t, const struct node *c)
{
    struct node *all = NULL;
    for (uint32_t i = 0, k; i < c->count; i = k) {
        const struct cta_entry *list = &c->u.node.of.list[i];
        for (k = i; k < c->count && c->u.node.of.list[k].cta == list->cta; k++) {
        }
        struct node *leaf = new_leaf(t, k - i);
        for (uint32_t n = 0; n < k - i; n++)
            leaf->u.node.of.entry[n] = (struct vclock_entry){list[n].part, list[n].epoch};
        struct node *one = tree_of_leaf(t, list->cta, leaf),
                    *joined = join_trees(t, all, one, t->depth);
        unref(t, one);
        unref(t, all);
        all = joined;
    }
    return all; // NOLINT(clang-analyzer-unix.Malloc): references are counted
}

/* Whether a's node or an operand of it shows that a includes b. */
static bool is_part_of(const struct vclock *a, const struct vclock *b)
{
    const struct node *of = node_of(a), *part = node_of(b);
    if (of->kind != LAZY_JOIN) return false;
    if (of == part) return releases_of(b) <= releases_of(a);
    for (int i = 0; i < 2; i++)
        if (node_of(of->u.lazy.operand[i]) == part &&
            releases_of(b) <= releases_of(of->u.lazy.operand[i]))
            return true;
    return part->kind == LAZY_JOIN && !releases_of(b) && part->u.lazy.first <= of->u.lazy.first &&
           of->u.lazy.operand[0] == part->u.lazy.operand[0] &&
           of->u.lazy.operand[1] == part->u.lazy.operand[1];
}

static struct node *lazy_join(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    struct node *c = allocate(t, LAZY_JOIN, 0);
    c->u.lazy.operand[0] = vclock_ref(a);
    c->u.lazy.operand[1] = vclock_ref(b);
    c->u.lazy.first = c->u.lazy.last = ++t->joins;
    c->u.lazy.visited = 0;
    c->u.lazy.releases = 0;
    return c;
}

/* The clock of the owner's release with the node's operands, without a reference of its own; NULL: another thread owns it, or it has no byte for the
 * release. */
static struct vclock *release_from(struct vclock_store *t, struct node *of,
                                   const struct vclock_release *now)
{
    if (!of->u.lazy.releases) {
        of->u.lazy.cta = now->cta;
        of->u.lazy.thread = (uint16_t)now->thread;
        of->u.lazy.epoch = now->epoch;
        of->u.lazy.warp_epoch = now->warp_epoch;
        of->u.lazy.cta_epoch = now->cta_epoch;
    }
    const uint32_t before = now->epoch - of->u.lazy.epoch;
    if (of->u.lazy.cta != now->cta || of->u.lazy.thread != now->thread ||
        of->u.lazy.warp_epoch != now->warp_epoch || of->u.lazy.cta_epoch != now->cta_epoch ||
        before >= RELEASES_MOST)
        return NULL;
    if (before >= of->u.lazy.releases) of->u.lazy.releases = (uint8_t)(before + 1);
    of->u.lazy.last = ++t->joins;
    return clock_of(of, before + 1);
}

/* Whether the thread's release includes all that the clock says beyond its operands. */
static bool supersedes(const struct vclock_release *now, const struct vclock *c)
{
    const struct node *of = node_of(c);
    if (!releases_of(c)) return true;
    return of->u.lazy.cta == now->cta && of->u.lazy.thread == now->thread &&
           of->u.lazy.epoch + releases_of(c) <= now->epoch + 1 &&
           of->u.lazy.warp_epoch <= now->warp_epoch && of->u.lazy.cta_epoch <= now->cta_epoch;
}

/* As a clock of its own. */
static struct vclock *list_of_release(struct vclock_store *t, const struct vclock_release *now)
{
    struct vclock_entry list[3] = {{now->thread, now->epoch}};
    uint32_t n = 1;
    if (now->warp_epoch > now->cta_epoch)
        list[n++] = (struct vclock_entry){PART_WARP + now->thread / 32, now->warp_epoch};
    if (now->cta_epoch) list[n++] = (struct vclock_entry){PART_CTA, now->cta_epoch};
    return vclock_of_cta(t, now->cta, list, n);
}

struct vclock *vclock_extend(struct vclock_store *t, struct vclock *known,
                             const struct vclock_release *now)
{
    struct node *of = node_of(known);
    if (!of || (of->kind == LIST && of->count < LARGE)) {
        struct vclock *c = list_of_release(t, now);
        vclock_join(t, &c, known);
        return c;
    }
    /* A clock that adds nothing is passed over, so that it can be freed: what thousands of holders of a lock release
     * then takes one node for each. */
    const bool passes = of->kind == LAZY_JOIN && supersedes(now, known);
    struct vclock *c = passes ? release_from(t, of, now) : NULL;
    if (c) return vclock_ref(c);
    const bool skips = passes && of->u.lazy.first > t->horizon;
    return release_from(
        t,
        lazy_join(t, skips ? of->u.lazy.operand[0] : known, skips ? of->u.lazy.operand[1] : NULL),
        now);
}

static bool covers_nearby(const struct vclock_store *t, const struct vclock *c, uint32_t cta,
                          uint32_t part, uint32_t warp, uint32_t epoch, uint64_t since);

/* Whether a quick search shows that a includes the release that made b, and so all of b: a thread
 * releases all that it knows, each time in another epoch. What is older than b's node is not searched: condensed, it may
 * seem to include releases that are later than itself, which queries then do not find. */
static bool has_release(struct vclock_store *t, struct vclock *a, const struct vclock *b)
{
    const struct node *of = node_of(b);
    return of->kind == LAZY_JOIN && releases_of(b) &&
           covers_nearby(t, a, of->u.lazy.cta, of->u.lazy.thread, of->u.lazy.thread / 32,
                         of->u.lazy.epoch + releases_of(b) - 1, of->u.lazy.last - 1);
}

static struct vclock *join_lazily(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    if (is_part_of(a, b) || has_release(t, a, b)) return vclock_ref(a);
    if (is_part_of(b, a) || has_release(t, b, a)) return vclock_ref(b);
    return clock_of(lazy_join(t, a, b), 0);
}

bool vclock_clearly_includes(struct vclock_store *t, struct vclock *a, const struct vclock *b)
{
    return a == b || !b || (a && (is_part_of(a, b) || has_release(t, a, b)));
}

void vclock_prefetch(const struct vclock *c)
{
    const struct node *of = node_of(c);
    if (!of || of->kind != LAZY_JOIN) return;
    __builtin_prefetch(of->u.lazy.operand[0]);
    __builtin_prefetch(of->u.lazy.operand[1]);
}

bool vclock_follows(const struct vclock *a, const struct vclock *released, uint32_t later)
{
    const struct node *of = node_of(a), *releaser = node_of(released);
    const uint32_t least = releases_of(released) + later;
    if (!of || of->kind != LAZY_JOIN || !releases_of(released)) return false;
    if (of == releaser) return releases_of(a) >= least;
    for (int i = 0; i < 2; i++)
        if (node_of(of->u.lazy.operand[i]) == releaser &&
            releases_of(of->u.lazy.operand[i]) >= least)
            return true;
    return false;
}

static struct vclock *join_vclocks(struct vclock_store *t, struct vclock *a, struct vclock *b)
{
    struct node *x = node_of(a), *y = node_of(b);
    if (a == b || !b) return vclock_ref(a);
    if (!a) return vclock_ref(b);
    if (x->kind == LAZY_JOIN || y->kind == LAZY_JOIN) return join_lazily(t, a, b);
    struct node *c = x->kind == LIST && y->kind == LIST ? join_lists(t, x, y) : NULL;
    if (c) return clock_of(c, 0);
    if (x->u.node.weight >= LARGE && y->u.node.weight >= LARGE) return join_lazily(t, a, b);
    if (x->kind == TREE && y->kind == TREE) return clock_of(join_trees(t, x, y, t->depth), 0);
    struct vclock *tree = clock_of(tree_of(t, x->kind == LIST ? x : y), 0);
    vclock_join(t, &tree, x->kind == LIST ? b : a);
    return tree;
}

void vclock_join(struct vclock_store *t, struct vclock **a, struct vclock *b)
{
    if (!b || *a == b) return;
    struct vclock *c = join_vclocks(t, *a, b); // NOLINT(clang-analyzer-unix.Malloc): likewise
    vclock_unref(t, *a);
    *a = c;
}

static bool leaf_covers(const struct node *c, uint32_t part, uint32_t epoch)
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

static bool tree_covers(const struct vclock_store *t, const struct node *c, uint32_t cta,
                        uint32_t part, uint32_t warp, uint32_t epoch)
{
    for (unsigned level = t->depth; c && level-- > 0;)
        c = c->u.node.of.child[cta >> (FAN_BITS * level) & (FAN - 1)];
    if (!c) return false;
    if (leaf_covers(c, part, epoch)) return true;
    return warp != UINT32_MAX &&
           (leaf_covers(c, PART_CTA, epoch) || leaf_covers(c, PART_WARP + warp, epoch));
}

static bool covers_now(const struct vclock_store *t, const struct node *c, uint32_t cta,
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
        const struct node *n = node_of(c), *last;
        if (n->kind != LAZY_JOIN) return covers_now(t, n, cta, part, warp, epoch);
        if (n->u.lazy.last <= since) return false;
        if (release_covers(n, releases_of(c), cta, part, warp, epoch)) return true;
        if (n->u.lazy.first <= since || (step && releases_of(c))) return false;
        last = node_of(n->u.lazy.operand[1]);
        if (last && last->kind != LAZY_JOIN) {
            if (covers_now(t, last, cta, part, warp, epoch)) return true;
        } else if (last && last->u.lazy.last > since &&
                   release_covers(last, releases_of(n->u.lazy.operand[1]), cta, part, warp, epoch))
            return true;
        c = n->u.lazy.operand[0];
    }
    return false;
}

/* The counter of queries has wrapped. */
static void forget_visits(struct vclock_store *t)
{
    t->queries = 1;
    for (struct vclock_block *b = t->blocks[0]; b; b = b->next)
        for (size_t i = 0; i < b->used; i++) {
            struct node *c = node_in(b, 0, i);
            if (c->kind == LAZY_JOIN) c->u.lazy.visited = 0;
        }
}

/* Searches at most `most` lazy joins, the latest first. */
static bool covers_within(struct vclock_store *t, struct vclock *c, uint32_t cta, uint32_t part,
                          uint32_t warp, uint32_t epoch, uint64_t since, uint64_t most)
{
    uint32_t n = 0;
    if (!++t->queries) forget_visits(t);
    push(t, &n, c);
    for (uint32_t i = 0; i < n; i++) {
        struct node *of = node_of(t->worklist[i]);
        if (of->kind != LAZY_JOIN) {
            if (covers_now(t, of, cta, part, warp, epoch)) return true;
            continue;
        }
        if (of->u.lazy.last <= since) continue;
        if (release_covers(of, releases_of(t->worklist[i]), cta, part, warp, epoch)) return true;
        if (of->u.lazy.visited == t->queries) continue;
        if (!most--) {
            t->cut = true;
            return false;
        }
        of->u.lazy.visited = t->queries;
        if (of->u.lazy.first <= since) continue; /* its operands are older */
        push(t, &n, of->u.lazy.operand[0]);
        if (of->u.lazy.operand[1]) push(t, &n, of->u.lazy.operand[1]);
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
    return node_of(c)->kind == LAZY_JOIN &&
           covers_within(t, c, cta, part, warp, epoch, since,
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

static void gather_tree(struct gathered *g, const struct node *c, unsigned depth, uint32_t cta)
{
    if (!c) return;
    if (!depth) gather(g, cta, c->u.node.of.entry, c->count);
    for (uint32_t i = 0; depth && i < FAN; i++)
        gather_tree(g, c->u.node.of.child[i], depth - 1, cta << FAN_BITS | i);
}

/* Calls `visit` for all lazy joins that are not later than `horizon`. */
static void each_lazy(struct vclock_store *t, uint64_t horizon,
                      void (*visit)(struct vclock_store *t, struct node *c, void *to), void *to)
{
    for (struct vclock_block *b = t->blocks[0]; b; b = b->next)
        for (size_t i = 0; i < b->used; i++) {
            struct node *c = node_in(b, 0, i);
            if (c->kind == LAZY_JOIN && c->u.lazy.first <= horizon) visit(t, c, to);
        }
}

enum { SPANS = 4096 }; /* of serial numbers, for the search of the horizon */

static void count_serial(struct vclock_store *t, struct node *c, void *counts)
{
    ((uint32_t *)counts)[c->u.lazy.first * SPANS / (t->joins + 1)]++;
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
    struct node *trees; /* the operands that are trees, joined */
    struct node *all;   /* the result */
};

static void gather_lazy(struct vclock_store *t, struct node *c, void *to)
{
    struct summary *s = to;
    if (c->u.lazy.releases) {
        const struct vclock_entry list[3] = {
            {c->u.lazy.thread, c->u.lazy.epoch + c->u.lazy.releases - 1},
            {PART_WARP + c->u.lazy.thread / 32, c->u.lazy.warp_epoch},
            {PART_CTA, c->u.lazy.cta_epoch}};
        gather(&s->entries, c->u.lazy.cta, list, 3);
    }
    for (int i = 0; i < 2; i++) {
        struct node *o = node_of(c->u.lazy.operand[i]);
        for (uint32_t k = 0; o && o->kind == LIST && k < o->count; k++) {
            const struct cta_entry e = o->u.node.of.list[k];
            gather(&s->entries, e.cta, &(struct vclock_entry){e.part, e.epoch}, 1);
        }
        if (!o || o->kind != TREE) continue;
        struct node *joined = join_trees(t, s->trees, o, t->depth);
        unref(t, s->trees);
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
static struct node *tree_of_entries(struct vclock_store *t, const struct gathered *g)
{
    struct node *all = NULL;
    struct vclock_entry *list = malloc((g->count + PART_CTA) * sizeof *list);
    if (!list) abort();
    for (size_t i = 0, k; i < g->count; i = k) {
        for (k = i; k < g->count && g->list[k].cta == g->list[i].cta; k++) {
        }
        const uint32_t n = reduce(t, &g->list[i], k - i, list);
        struct node *leaf = new_leaf(t, n);
        memcpy(leaf->u.node.of.entry, list, n * sizeof *list);
        struct node *one = tree_of_leaf(t, g->list[i].cta, leaf),
                    *joined = join_trees(t, all, one, t->depth);
        unref(t, one);
        unref(t, all);
        all = joined;
    }
    free(list);
    return all; // NOLINT(clang-analyzer-unix.Malloc): join_trees() gave it a reference of its own
}

static void replace_operands(struct vclock_store *t, struct node *c, void *to)
{
    const struct summary *s = to;
    struct vclock *a = c->u.lazy.operand[0], *b = c->u.lazy.operand[1];
    c->u.lazy.operand[0] = clock_of(ref(s->all), 0);
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
    unref(t, s.trees);
    unref(t, s.all);
}
