/* Data distribution: the seed's SAXPY and patterns whose answer is arithmetic (determinism/placement/placement.h). */
#include "determinism/placement/placement.h"
#include "cuda/device.h"
#include "emu/order.h"
#include "suites/suite.h"
#include "tests/support/emu.h"

#include <criterion/criterion.h>
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

static struct placement_counts run(const char *workload, const char *map, uint32_t partitions,
                                   bool nearest)
{
    struct placement_options o = {.partitions = partitions, .nearest = nearest};
    const char *wrong = placement_read_map(map, &o);
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
