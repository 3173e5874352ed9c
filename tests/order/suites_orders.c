/* The workloads in orders of chance (determinism/random.h), where stores are late and loads see what is old.
 * Every workload must pass whatever happens, and those that are there for their order must show it. */
#include "tests/support/support.h"
#include "tests/support/workload.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* weak: memory behaves as PTX allows; else every store is seen at once, by all. */
static struct suite_result run(const char *name, uint64_t seed, bool weak, uint64_t *digest)
{
    return workload_run(name,
                        weak ? "random:strategy=uniform"
                             : "random:strategy=uniform:late-stores=off:stale-loads=off",
                        seed, digest);
}

/* One result in every order, or several. */
static const struct {
    const char *name;
    bool several;
} rows[] = {
    {"append", true},       {"bfs_fixed", false},    {"bfs_parent", true},
    {"bfs_racy", true},     {"bfs_sparse", true},    {"cloth_opt", false},
    {"centrality", true},   {"conv_gradient", true}, {"index_add", true},
    {"litmus_block", true}, {"litmus_grid", true},   {"order_exchange", true},
    {"order_mixed", true},  {"pagerank", true},      {"racey_global", true},
    {"racey_shared", true}, {"racey_warps", true},   {"scatter_last", true},
    {"segment_sum", true},  {"sum_atomic", true},    {"sum_lock_backoff", false},
    {"sum_tree", false},    {"racey_lanes", false},
};

enum { SEEDS = 4 };

Test(suites_orders, workloads_pass_in_any_order, .timeout = 300)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += THINNED) {
        uint64_t digests[SEEDS];
        bool same = true;
        for (unsigned k = 0; k < SEEDS; k++) {
            struct suite_result r = run(rows[i].name, 1 + k, k > 0, &digests[k]);
            cr_expect(r.passed, "%s: %s", rows[i].name, r.message);
            same &= digests[k] == digests[0];
        }
        cr_expect(same != rows[i].several, "%s", rows[i].name);
    }
}

/* Stores that come late show what fences are for, and that no weak outcome is allowed with them. */
Test(suites_orders, litmus_shows_late_stores, .timeout = 60)
{
    uint64_t digest;
    unsigned mp = 0, sb = 0;
    struct suite_result r = run("litmus_grid", 5, true, &digest);
    cr_expect(r.passed &&
              sscanf(r.message, "weak outcomes without fences: mp %u, sb %u", &mp, &sb) == 2);
    cr_expect(mp > 0 && sb > 0, "%s", r.message);
    r = run("litmus_grid", 5, false, &digest);
    cr_expect(r.passed &&
              sscanf(r.message, "weak outcomes without fences: mp %u, sb %u", &mp, &sb) == 2);
    cr_expect(mp == 0 && sb == 0, "%s", r.message);
}
