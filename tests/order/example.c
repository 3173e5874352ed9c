/* The order that docs/orders.md builds (example_order.c): the page quotes the file, and the order runs workloads. */
#include "tests/support/support.h"
#include "tests/support/workload.h"

#include "base/buf.h"
#include "determinism/orders.h"
#include "emu/order.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

extern const struct order_kind round_robin_kind;

/* The lines of a file that are not empty; all: also those outside of blocks that begin with ```c. */
static struct buf lines_of(const char *path, bool all)
{
    struct buf out = {0};
    char line[512];
    bool inside = all;
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s: not there", path);
    while (fgets(line, sizeof line, f)) {
        const bool fence = !all && strncmp(line, "```", 3) == 0;
        if (fence) inside = !inside && strcmp(line, "```c\n") == 0;
        else if (inside && line[0] != '\n') buf_puts(&out, line);
    }
    fclose(f);
    return out;
}

Test(example_order, is_quoted_in_its_page)
{
    struct buf file = lines_of("tests/order/example_order.c", true),
               page = lines_of("docs/orders.md", false);
    cr_assert(file.size > 1000 && page.size);
    cr_expect_str_eq(file.data, page.data);
    buf_free(&file);
    buf_free(&page);
}

/* Workloads check their results. Where these depend on the order of the threads they are the same again. */
Test(example_order, runs_workloads, .timeout = 300)
{
    static const struct {
        const char *name;
        bool one_result; /* by any order */
    } workloads[] = {{"saxpy", true},           {"transpose_tiled", true},
                     {"sum_tree", true},        {"sum_atomic", false},
                     {"reduce_shuffle", false}, {"litmus_grid", false},
                     {"hash_probe", false},     {"sum_lock_backoff", false},
                     {"scan_blocks", true},     {"scan_lookback", true},
                     {"bfs_racy", false},       {"spmv_vector", true},
                     {"racey_warps", false},    {"ticket", false}};
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (SANITIZED && i != 2 && i != 5) continue; /* barriers, and fences */
        const char *name = workloads[i].name;
        struct emu_order *o = round_robin_kind.make(NULL, 0);
        uint64_t digest[2], executions[EMU_EXECUTION_COUNT] = {0};
        for (int k = 0; k < (workloads[i].one_result ? 1 : 2); k++) {
            const struct suite_result r = workload_run_order(name, o, &digest[k], executions);
            cr_expect(r.passed, "%s: %s", name, r.message);
        }
        cr_expect(workloads[i].one_result || digest[0] == digest[1], "%s", name);
        cr_expect(executions[EMU_ORDERED] && !executions[EMU_NATIVE], "%s", name);
        round_robin_kind.free(o);
    }
}
