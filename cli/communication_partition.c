/* Partitions CTAs to several devices, and counts the bytes that cross between devices.
 *
 * A byte is on the device of the CTA that wrote it. It crosses when a CTA on another device reads it in a later launch:
 * once for each reading CTA, because devices are assumed to keep no copies. Bytes that atomics of several CTAs wrote or read
 * are on no device and are not counted. */
#define _GNU_SOURCE
#include "cli/communication.h"

#include "base/arena.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- METIS, if it is installed ---------------------------------------------------------------- */

/* Grids of one shape share their nodes. */
struct shape {
    uint32_t grid[3], nodes;
    uint32_t first; /* number of its first vertex */
};
struct shapes {
    struct shape *list;
    size_t count;
    uint32_t *of_launch; /* index of its shape */
    uint32_t vertices;
};

static void find_shapes(struct arena *a, const struct communication_result *r, struct shapes *out)
{
    *out = (struct shapes){.list = arena_array(a, struct shape, r->launch_count + 1),
                           .of_launch = arena_array(a, uint32_t, r->launch_count + 1)};
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct communication_launch *l = &r->launches[i];
        size_t k = 0;
        while (k < out->count && memcmp(out->list[k].grid, l->grid, sizeof l->grid) != 0) k++;
        out->of_launch[i] = (uint32_t)k;
        if (k < out->count) continue;
        struct shape *s = &out->list[out->count++];
        memcpy(s->grid, l->grid, sizeof s->grid);
        s->nodes = l->nodes;
        s->first = out->vertices;
        out->vertices += l->nodes;
    }
}

struct arc {
    uint32_t a, b;
    uint64_t bytes;
};

static int by_ends(const void *x, const void *y)
{
    const struct arc *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static uint32_t vertex(const struct shapes *s, uint32_t launch, uint32_t node)
{
    return s->list[s->of_launch[launch]].first + node;
}

/* Both directions of each edge, equal ones added up; the count. */
static size_t make_arcs(const struct communication_result *r, const struct shapes *s,
                        struct arc *arcs)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < r->edge_count; i++) {
        const struct communication_edge *e = &r->edges[i];
        if (e->from == COMMUNICATION_SEVERAL || e->to == COMMUNICATION_SEVERAL) continue;
        const uint32_t a = vertex(s, e->from_launch, e->from), b = vertex(s, e->to_launch, e->to);
        if (a == b) continue;
        arcs[n++] = (struct arc){a, b, e->bytes};
        arcs[n++] = (struct arc){b, a, e->bytes};
    }
    if (n) qsort(arcs, n, sizeof *arcs, by_ends);
    for (size_t i = 0; i < n; i++) {
        if (kept && arcs[kept - 1].a == arcs[i].a && arcs[kept - 1].b == arcs[i].b)
            arcs[kept - 1].bytes += arcs[i].bytes;
        else arcs[kept++] = arcs[i];
    }
    return kept;
}

/* Debian's METIS: 32-bit numbers. */
typedef int metis_kway(int32_t *vertices, int32_t *constraints, int32_t *first, int32_t *to,
                       int32_t *weights, int32_t *sizes, int32_t *arc_weights, int32_t *parts,
                       float *targets, float *imbalance, int32_t *options, int32_t *cut,
                       int32_t *part);
typedef int metis_defaults(int32_t *options);

/* The device of each vertex; NULL after a message. */
static int32_t *metis_parts(struct arena *arena, const struct communication_result *r,
                            const struct shapes *s, uint32_t devices)
{
    enum { OPTIONS = 40, SEED = 8, OK = 1 };
    void *library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
    metis_kway *kway = library ? (metis_kway *)dlsym(library, "METIS_PartGraphKway") : NULL;
    metis_defaults *defaults = library ? (metis_defaults *)dlsym(library, "METIS_SetDefaultOptions")
                                       : NULL;
    if (!kway || !defaults) {
        fprintf(stderr,
                "heddle communication: --by=metis needs libmetis.so.5 (package libmetis5)\n");
        return NULL;
    }
    struct arc *arcs = arena_array(arena, struct arc, 2 * r->edge_count + 1);
    const size_t count = make_arcs(r, s, arcs);
    int32_t options[OPTIONS], vertices = (int32_t)s->vertices, one = 1, parts = (int32_t)devices,
                              cut;
    int32_t *first = arena_array(arena, int32_t, (size_t)s->vertices + 1),
            *to = arena_array(arena, int32_t, count + 1),
            *weights = arena_array(arena, int32_t, count + 1),
            *part = arena_array(arena, int32_t, (size_t)s->vertices + 1);
    uint64_t most = 1;
    for (size_t i = 0; i < count; i++)
        if (arcs[i].bytes > most) most = arcs[i].bytes;
    const uint64_t unit = most / 1000000 + 1; /* weights of 32 bits */
    for (size_t i = 0; i < count; i++) {
        first[arcs[i].a + 1]++;
        to[i] = (int32_t)arcs[i].b;
        weights[i] = (int32_t)(arcs[i].bytes / unit) + 1;
    }
    for (uint32_t i = 0; i < s->vertices; i++) first[i + 1] += first[i];
    (void)defaults(options);
    options[SEED] = 1;
    if (devices < 2 || !count) return part;
    if (kway(&vertices, &one, first, to, NULL, NULL, weights, &parts, NULL, NULL, options, &cut,
             part) == OK)
        return part;
    fprintf(stderr, "heddle communication: METIS could not divide the graph\n");
    return NULL;
}

/* ---- devices ---------------------------------------------------------------------------------- */

struct placing {
    enum partition_by by;
    uint32_t devices;
    const struct communication_result *r;
    struct shapes shapes;
    const int32_t *parts; /* of METIS; NULL */
};

/* Part i of n has the positions from ceil(i * count / n) on. */
static uint32_t range_of(uint64_t position, uint64_t count, uint32_t devices)
{
    return (uint32_t)(position * devices / count);
}

static uint32_t device_of(const struct placing *p, uint32_t launch, uint32_t node)
{
    const struct communication_launch *l = &p->r->launches[launch];
    if (p->parts) return (uint32_t)p->parts[vertex(&p->shapes, launch, node)];
    const uint64_t x = l->grid[0], y = l->grid[1];
    switch (p->by) {
    case BY_X: return range_of(node % x, x, p->devices);
    case BY_Y: return range_of(node / x % y, y, p->devices);
    case BY_Z: return range_of(node / (x * y), l->grid[2], p->devices);
    default: return range_of(node, l->nodes, p->devices);
    }
}

/* ---- bytes ------------------------------------------------------------------------------------ */

struct adding {
    uint64_t *of_device, *in_step; /* sent and received: in all, in the superstep */
    uint32_t devices;
    double bandwidth;
};

static uint64_t most_of(const uint64_t *list, uint32_t count)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i] > most) most = list[i];
    return most;
}

static void end_step(const struct adding *a, struct partition *p, struct partition_superstep step)
{
    if (!step.crossing) return;
    step.most_device = most_of(a->in_step, a->devices);
    p->list[p->count++] = step;
    p->supersteps++;
    if (step.crossing > p->most) p->most = step.crossing;
    if (a->bandwidth > 0) p->seconds += (double)step.most_device / a->bandwidth;
    memset(a->in_step, 0, a->devices * sizeof *a->in_step);
}

bool communication_partition(const struct communication_call *c,
                             const struct communication_result *r, uint32_t devices,
                             struct partition *out)
{
    struct placing p = {.by = c->by, .devices = devices, .r = r};
    struct adding a = {.of_device = arena_array(c->arena, uint64_t, devices),
                       .in_step = arena_array(c->arena, uint64_t, devices),
                       .devices = devices,
                       .bandwidth = c->bandwidth};
    *out = (struct partition){
        .devices = devices,
        .list = arena_array(c->arena, struct partition_superstep, r->launch_count + 1)};
    if (c->by == BY_METIS) {
        find_shapes(c->arena, r, &p.shapes);
        p.parts = metis_parts(c->arena, r, &p.shapes, devices);
        if (!p.parts) return false;
    }
    struct partition_superstep step = {0};
    for (size_t i = 0; i < r->launch_count; i++) out->bytes += r->launches[i].stays;
    for (size_t i = 0; i < r->edge_count; i++) {
        const struct communication_edge *e = &r->edges[i];
        if (e->to_launch != step.launch) {
            end_step(&a, out, step);
            step = (struct partition_superstep){.launch = e->to_launch};
        }
        if (e->from == COMMUNICATION_SEVERAL || e->to == COMMUNICATION_SEVERAL) {
            out->several += e->bytes;
            continue;
        }
        if (e->from != e->to) out->bytes += e->bytes; /* what stays has been added */
        const uint32_t from = device_of(&p, e->from_launch, e->from),
                       to = device_of(&p, e->to_launch, e->to);
        if (from == to) continue;
        out->crossing += e->bytes;
        step.crossing += e->bytes;
        a.of_device[from] += e->bytes;
        a.of_device[to] += e->bytes;
        a.in_step[from] += e->bytes;
        a.in_step[to] += e->bytes;
    }
    end_step(&a, out, step);
    out->most_device = most_of(a.of_device, devices);
    return true;
}
