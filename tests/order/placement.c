/* Data distribution: the seed's SAXPY and patterns whose answer is arithmetic (determinism/placement/placement.h). */
#include "determinism/placement/placement.h"
#include "cuda/device.h"
#include "emu/order.h"
#include "suites/suite.h"
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct watched {
    struct placement *placement;
    const struct emu_observer *list[1];
};

static void before(void *self, const char *kernel, struct emu_launch *l)
{
    struct watched *w = self;
    (void)kernel;
    placement_device(w->placement, cuda_device_emu());
    w->list[0] = placement_observer(w->placement);
    l->observers = w->list;
    l->observer_count = 1;
}

static struct placement_counts run_in(const char *workload, const char *map, uint32_t partitions,
                                      bool nearest, const char *topology)
{
    struct placement_options o = {.partitions = partitions, .nearest = nearest};
    const char *wrong = placement_read_map(map, &o);
    if (!wrong) wrong = placement_read_topology(topology, &o);
    cr_assert(!wrong, "%s: %s", map, wrong);
    struct watched w = {.placement = placement_new(&o)};
    cuda_device_configure(&(struct emu_config){.threads = 1});
    cuda_device_watch(&(struct cuda_watch){.self = &w, .before = before, .quiet = true});
    const struct suite_result r = suite_run(
        suite_find(workload), &(struct suite_options){.size = SUITE_SMALL, .seed = 1});
    cr_assert(r.passed, "%s", r.message);
    const struct placement_counts c = *placement_counts(w.placement);
    cuda_device_watch(NULL);
    cuda_device_reset();
    placement_free(w.placement);
    return c;
}

static struct placement_counts run(const char *workload, const char *map, uint32_t partitions,
                                   bool nearest)
{
    return run_in(workload, map, partitions, nearest, "crossbar");
}

/* 2 launches over 2^18 floats of x (read) and y (read and written): 3 * 2^18 / 8 sectors each. */
enum { SAXPY = 2 * 3 * (1 << 18) / 8 };

Test(placement, saxpy_in_blocks_is_local_where_ctas_go_to_their_data)
{
    for (uint32_t p = 1; p <= 64; p *= 2) {
        const struct placement_counts c = run("saxpy", "block", p, true);
        cr_expect_eq(c.local, SAXPY, "%u partitions: %lu local", p, (unsigned long)c.local);
        cr_expect_eq(c.remote, 0, "%u partitions: %lu remote", p, (unsigned long)c.remote);
    }
}

/* A CTA of 256 threads covers 1024 bytes of each vector: as many grains of 1024 / P in each of P partitions. */
Test(placement, saxpy_interleaved_is_remote_but_for_one_part)
{
    const struct {
        const char *map;
        uint32_t partitions;
    } cases[] = {
        {"interleave:256", 4}, {"interleave:128", 8}, {"interleave:32", 32}, {"interleave:512", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int nearest = 0; nearest < 2; nearest++) {
            const uint32_t p = cases[i].partitions;
            const struct placement_counts c = run("saxpy", cases[i].map, p, nearest);
            cr_expect_eq(c.local + c.remote, SAXPY);
            cr_expect_eq(c.remote * p, (uint64_t)SAXPY * (p - 1), "%s, %u: %lu remote",
                         cases[i].map, p, (unsigned long)c.remote);
        }
}

/* CTAs in turn: CTA c has partition c mod P, its data are in part c / (1024 / P) of 1024. With 4 partitions one in 4 fits. */
Test(placement, saxpy_in_blocks_with_ctas_in_turn)
{
    const struct placement_counts c = run("saxpy", "block", 4, false);
    cr_expect_eq(c.remote, (uint64_t)SAXPY * 3 / 4);
    /* Dealt in the grains that a CTA covers, CTAs in turn are local again. */
    const struct placement_counts d = run("saxpy", "blockcyclic:1K", 4, false);
    cr_expect_eq(d.remote, 0);
}

/* By hand: partitions of 4 x 4 are x = p mod 4, y = p / 4; of 5 partitions the rows have 3. Leaves 0-3 have one node, 0-15 the next. */
Test(placement, hops_of_topologies)
{
    static const struct {
        enum placement_topology topology;
        uint32_t partitions, from, to, hops;
    } cases[] = {{PLACEMENT_CROSSBAR, 16, 3, 3, 0}, {PLACEMENT_CROSSBAR, 16, 3, 12, 1},
                 {PLACEMENT_MESH, 16, 3, 12, 6},    {PLACEMENT_MESH, 16, 5, 5, 0},
                 {PLACEMENT_MESH, 16, 5, 6, 1},     {PLACEMENT_MESH, 16, 5, 9, 1},
                 {PLACEMENT_MESH, 5, 2, 3, 3},      {PLACEMENT_MESH, 1024, 0, 1023, 62},
                 {PLACEMENT_HTREE, 16, 0, 3, 2},    {PLACEMENT_HTREE, 16, 3, 4, 4},
                 {PLACEMENT_HTREE, 64, 15, 16, 6},  {PLACEMENT_HTREE, 64, 20, 20, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct placement_options o = {.partitions = cases[i].partitions,
                                            .topology = cases[i].topology};
        cr_expect_eq(placement_hops(&o, cases[i].from, cases[i].to), cases[i].hops, "%zu", i);
        cr_expect_eq(placement_hops(&o, cases[i].to, cases[i].from), cases[i].hops, "%zu", i);
    }
}

/* Each CTA of SAXPY has as many sectors in each of 4 or 16 partitions, and is in the first. In a mesh of 4 x 4 there are 1, 2, 3,
 * 4, 3, 2, 1 partitions 0 to 6 steps from a corner. */
Test(placement, saxpy_by_hops)
{
    static const struct {
        const char *map, *topology;
        uint32_t partitions, share[7];
    } cases[] = {{"interleave:256", "crossbar", 4, {1, 3}},
                 {"interleave:256", "mesh", 4, {1, 2, 1}},
                 {"interleave:64", "mesh", 16, {1, 2, 3, 4, 3, 2, 1}},
                 {"interleave:64", "htree", 16, {1, 0, 3, 0, 12}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct placement_counts c = run_in("saxpy", cases[i].map, cases[i].partitions, true,
                                                 cases[i].topology);
        cr_expect_eq(c.hops[0], c.local);
        for (size_t h = 0; h < 7; h++)
            cr_expect_eq(c.hops[h] * cases[i].partitions, (uint64_t)SAXPY * cases[i].share[h],
                         "%zu: %zu hops: %lu", i, h, (unsigned long)c.hops[h]);
    }
}

Test(placement, maps_that_are_none)
{
    static const char *const wrong[] = {"",
                                        "blocks",
                                        "interleave",
                                        "interleave:",
                                        "interleave:0",
                                        "interleave:33",
                                        "blockcyclic:-64",
                                        "blockcyclic:64G",
                                        "interleave:99999999999999999999"};
    struct placement_options o;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect(placement_read_map(wrong[i], &o), "%s", wrong[i]);
    cr_expect(!placement_read_map("blockcyclic:64K", &o) && o.grain == 65536);
}

/* ---- links --------------------------------------------------------------------------------------- */

static const struct placement_link *link_of(const struct placement_link *l, size_t n,
                                            uint32_t level, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < n; i++)
        if (l[i].level == level && l[i].a == a && l[i].b == b) return &l[i];
    return NULL;
}

/* saxpy, interleaved so that each CTA has an equal share of its sectors in each of P partitions, CTAs dealt in turn: each pair of
 * partitions exchanges SAXPY / P^2 sectors in each direction. The numbers of pairs that cross a link are counted by hand. */
static void links_in(const char *topology, const char *map, uint32_t partitions,
                     void (*check)(const struct placement_link *l, size_t n, uint64_t pair))
{
    struct placement_options o = {.partitions = partitions};
    cr_assert(!placement_read_map(map, &o) && !placement_read_topology(topology, &o));
    struct watched w = {.placement = placement_new(&o)};
    cuda_device_configure(&(struct emu_config){.threads = 1});
    cuda_device_watch(&(struct cuda_watch){.self = &w, .before = before, .quiet = true});
    const struct suite_result r = suite_run(
        suite_find("saxpy"), &(struct suite_options){.size = SUITE_SMALL, .seed = 1});
    cr_assert(r.passed, "%s", r.message);
    size_t n;
    struct placement_link *l = placement_links(w.placement, &n);
    const struct placement_counts *c = placement_counts(w.placement);
    uint64_t bytes = 0, hops = 0;
    for (size_t i = 0; i < n; i++) bytes += l[i].bytes;
    for (uint64_t h = 0; h < PLACEMENT_HOPS; h++) hops += h * c->hops[h];
    const bool crossbar = strcmp(topology, "crossbar") == 0; /* one hop is two links */
    cr_expect_eq(bytes, 32 * hops * (crossbar ? 2 : 1), "%s: %lu bytes", topology,
                 (unsigned long)bytes);
    check(l, n, 2 * (uint64_t)SAXPY / partitions / partitions * 32);
    free(l);
    cuda_device_watch(NULL);
    cuda_device_reset();
    placement_free(w.placement);
}

static void expect_link(const struct placement_link *l, size_t n, uint32_t level, uint32_t a,
                        uint32_t b, uint64_t bytes)
{
    const struct placement_link *x = link_of(l, n, level, a, b);
    cr_expect(x && x->bytes == bytes, "level %u, %u-%u: %lu, not %lu", level, a, b,
              x ? (unsigned long)x->bytes : 0, (unsigned long)bytes);
}

/* 2 x 2, along rows first: 0-1 carries 0-1, one direction of 0-3 (from 0) and of 1-2 (from 1). */
static void check_mesh(const struct placement_link *l, size_t n, uint64_t pair)
{
    cr_expect_eq(n, 4);
    expect_link(l, n, 0, 0, 1, 2 * pair);
    expect_link(l, n, 0, 2, 3, 2 * pair);
    expect_link(l, n, 0, 0, 2, 2 * pair);
    expect_link(l, n, 0, 1, 3, 2 * pair);
}

static void check_crossbar(const struct placement_link *l, size_t n, uint64_t pair)
{
    cr_expect_eq(n, 4);
    for (uint32_t i = 0; i < 4; i++) expect_link(l, n, 0, i, i, 3 * pair);
}

/* 8 leaves of two nodes: a leaf exchanges with 7 others, a node's 4 leaves with 4 others. */
static void check_tree(const struct placement_link *l, size_t n, uint64_t pair)
{
    cr_expect_eq(n, 10);
    for (uint32_t i = 0; i < 8; i++) expect_link(l, n, 0, i, i, 7 * pair);
    for (uint32_t i = 0; i < 2; i++) expect_link(l, n, 1, i, i, 16 * pair);
}

Test(placement, links_carry_what_crosses_them)
{
    links_in("mesh", "interleave:256", 4, check_mesh);
    links_in("crossbar", "interleave:256", 4, check_crossbar);
    links_in("htree", "interleave:128", 8, check_tree);
}
