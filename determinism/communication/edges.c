/* Edges of a launch, and sums over them (edges.h). */
#include "determinism/communication/edges.h"

#include <stdlib.h>
#include <string.h>

/* ---- pairs of kernels ------------------------------------------------------------------------- */

struct communication_pair *edges_pair(struct edges *e, uint32_t from, uint32_t to)
{
    for (size_t k = 0; k < e->pair_count; k++) {
        const size_t i = (e->last_pair + k) % e->pair_count;
        if (e->pairs[i].from != from || e->pairs[i].to != to) continue;
        e->last_pair = i;
        return &e->pairs[i];
    }
    if (e->pair_count == e->pair_cap) {
        e->pair_cap = e->pair_cap ? 2 * e->pair_cap : 8;
        e->pairs = realloc(e->pairs, e->pair_cap * sizeof *e->pairs);
        if (!e->pairs) abort();
    }
    e->last_pair = e->pair_count;
    e->pairs[e->pair_count] = (struct communication_pair){.from = from, .to = to};
    return &e->pairs[e->pair_count++];
}

/* ---- edges of the launch that runs ------------------------------------------------------------ */

static size_t place_of(const struct open_edges *o, uint64_t from, uint32_t to)
{
    const uint64_t h = (from ^ (uint64_t)to << 17 ^ to) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(h >> 24) & (o->cap - 1);
    while (o->list[i].from && (o->list[i].from != from || o->list[i].to != to))
        i = (i + 1) & (o->cap - 1);
    return i;
}

static void grow(struct open_edges *o)
{
    struct open_edge *const old = o->list;
    const size_t count = o->cap;
    o->cap = count ? 2 * count : 256;
    o->list = calloc(o->cap, sizeof *o->list);
    if (!o->list) abort();
    for (size_t i = 0; i < count; i++)
        if (old[i].from) o->list[place_of(o, old[i].from, old[i].to)] = old[i];
    free(old);
}

struct open_edge *edges_open(struct open_edges *o, uint64_t from, uint32_t to)
{
    if (2 * (o->count + 1) > o->cap) grow(o);
    struct open_edge *x = &o->list[place_of(o, from, to)];
    if (!x->from) {
        x->from = from;
        x->to = to;
        o->count++;
    }
    return x;
}

/* ---- the end of a launch ---------------------------------------------------------------------- */

static int by_reader(const void *x, const void *y)
{
    const struct open_edge *a = x, *b = y;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static int by_writer(const void *x, const void *y)
{
    const struct open_edge *a = x, *b = y;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* The free places go to the end. */
static size_t compact(struct open_edges *o)
{
    size_t n = 0;
    for (size_t i = 0; i < o->cap; i++)
        if (o->list[i].from) o->list[n++] = o->list[i];
    return n;
}

struct ending {
    struct edges *e;
    const struct open_edge *open;
    const struct communication_launch *launches, *now;
    size_t now_index, count; /* count: of edges */
    enum communication_unit unit;
};

static struct communication_pair *pair_of(const struct ending *w, const struct open_edge *x)
{
    return edges_pair(w->e, w->launches[slot_launch(x->from) - 1].kernel, w->now->kernel);
}

/* What stays. */
static bool is_own(const struct ending *w, const struct open_edge *x)
{
    return w->unit != COMMUNICATION_KERNEL && slot_node(x->from) == x->to &&
           x->to != COMMUNICATION_SEVERAL;
}

/* The edges x[0] to x[n - 1] to one node: in-degrees by kernel, and bytes to nodes with several sources. */
static void add_reader(const struct ending *w, const struct open_edge *x, size_t n)
{
    size_t sources = 0;
    for (size_t k = 0; k < n; k++) sources += !is_own(w, &x[k]);
    for (size_t k = 0, m; k < n; k += m) { /* launches of the writers ascend */
        const uint32_t from = pair_of(w, &x[k])->from;
        size_t others = 0;
        for (m = 0; k + m < n && pair_of(w, &x[k + m])->from == from; m++) {
            if (is_own(w, &x[k + m])) continue;
            others++;
            if (sources > 1) pair_of(w, &x[k + m])->gather += x[k + m].bytes;
        }
        if (others) pair_of(w, &x[k])->in_degree[size_class(others, COMMUNICATION_DEGREES)]++;
    }
}

/* Sorted by reader. */
static void add_readers(const struct ending *w)
{
    const struct open_edge *x = w->open;
    for (size_t i = 0, n; i < w->count; i += n) {
        for (n = 1; i + n < w->count && x[i + n].to == x[i].to;) n++;
        add_reader(w, &x[i], n);
    }
}

static void add_near(struct communication_pair *p, const struct open_edge *x,
                     const struct ending *w)
{
    const uint32_t a = slot_node(x->from), b = x->to, d = a < b ? b - a : a - b;
    if (a == COMMUNICATION_SEVERAL || b == COMMUNICATION_SEVERAL) {
        p->reductions += x->bytes;
        return;
    }
    if (d <= 1) p->near_1 += x->bytes;
    if (d <= 8) p->near_8 += x->bytes;
    if (d <= w->now->grid[0]) p->near_row += x->bytes;
}

static void list(const struct ending *w, const struct open_edge *x)
{
    struct edges *e = w->e;
    if (e->count == COMMUNICATION_MOST_EDGES) {
        e->dropped++;
        return;
    }
    if (e->count == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 1024;
        e->list = realloc(e->list, e->cap * sizeof *e->list);
        if (!e->list) abort();
    }
    e->list[e->count++] = (struct communication_edge){.from_launch = slot_launch(x->from) - 1,
                                                      .from = slot_node(x->from),
                                                      .to_launch = (uint32_t)w->now_index,
                                                      .to = x->to,
                                                      .bytes = x->bytes,
                                                      .transfers = x->transfers};
}

/* Edges from one node. */
static void add_writer(const struct ending *w, const struct open_edge *x, size_t n)
{
    struct communication_pair *p = pair_of(w, x);
    size_t readers = 0;
    for (size_t k = 0; k < n; k++) {
        list(w, &x[k]);
        if (is_own(w, &x[k])) continue;
        readers++;
        p->edges++;
        p->bytes += x[k].bytes;
        p->transfers += x[k].transfers;
        p->sizes[size_class(x[k].bytes, COMMUNICATION_SIZES)]++;
        add_near(p, &x[k], w);
    }
    if (readers) p->out_degree[size_class(readers, COMMUNICATION_DEGREES)]++;
}

/* A pair of launches with so many edges. */
static void add_superstep(const struct ending *w, const struct open_edge *x, size_t n)
{
    const uint64_t a = w->launches[slot_launch(x->from) - 1].nodes, b = w->now->nodes;
    struct communication_pair *p = pair_of(w, x);
    bool any = false;
    for (size_t k = 0; k < n; k++) any |= !is_own(w, &x[k]);
    p->supersteps += any;
    if (any) p->possible += w->unit == COMMUNICATION_KERNEL ? 1 : a * b - (a < b ? a : b);
    for (size_t i = 0, m; i < n; i += m) {
        for (m = 1; i + m < n && x[i + m].from == x[i].from;) m++;
        add_writer(w, &x[i], m);
    }
}

/* Sorted by writer: by launch, then by node. */
static void add_writers(const struct ending *w)
{
    const struct open_edge *x = w->open;
    for (size_t i = 0, n; i < w->count; i += n) {
        for (n = 1; i + n < w->count && slot_launch(x[i + n].from) == slot_launch(x[i].from);) n++;
        add_superstep(w, &x[i], n);
    }
}

void edges_end_launch(struct edges *e, struct open_edges *o,
                      const struct communication_launch *launches, size_t index,
                      enum communication_unit unit)
{
    struct ending w = {.e = e,
                       .open = o->list,
                       .launches = launches,
                       .now = &launches[index],
                       .now_index = index,
                       .count = compact(o),
                       .unit = unit};
    if (!w.count) return;
    qsort(o->list, w.count, sizeof *o->list, by_reader);
    add_readers(&w);
    qsort(o->list, w.count, sizeof *o->list, by_writer);
    add_writers(&w);
    memset(o->list, 0, o->cap * sizeof *o->list);
    o->count = 0;
}

static int by_launches(const void *x, const void *y)
{
    const struct communication_edge *a = x, *b = y;
    if (a->to_launch != b->to_launch) return a->to_launch < b->to_launch ? -1 : 1;
    if (a->from_launch != b->from_launch) return a->from_launch < b->from_launch ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

void edges_sort(struct edges *e)
{
    if (e->count) qsort(e->list, e->count, sizeof *e->list, by_launches);
}

void edges_free(struct edges *e)
{
    free(e->pairs);
    free(e->list);
    *e = (struct edges){0};
}

uint64_t edges_memory(const struct edges *e)
{
    return e->pair_cap * sizeof *e->pairs + e->cap * sizeof *e->list;
}
