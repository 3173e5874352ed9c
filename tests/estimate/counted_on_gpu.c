/* What Heddle counts of the workloads, against the hardware counters of an H200: requests of global memory, their sectors,
 * hits in L1, and passes of shared memory, launch by launch (calibrate/data/h200-counts.csv). */
#include "emu/counts.h"
#include "emu/gpu.h"
#include "tests/support/gpu_rows.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, FIRST_COLUMN = 3 };
static const char *const columns[COLUMNS] = {
    "load_requests",      "load_sectors",       "l1_hits",
    "store_requests",     "store_sectors",      "atomic_requests",
    "shared_load_passes", "shared_store_passes"};

/* Where they differ, and why. */
static const struct {
    const char *workload, *columns, *why;
} exceptions[] = {
    {"aes_columns", "shared_store_passes", "stores of other warps are in the way of some"},
    {"append", "store_sectors", "the order of the queue"},
    {"bank", "*", "waits for locks"},
    {"betweenness", "*",
     "lanes of a loop stay divergent: the assembler puts no reconvergence there"},
    {"bfs_parent", "l1_hits", "racy"},
    {"blur_texture", "l1_hits", "of textures: the counter is of loads"},
    {"cloth", "*", "waits for locks, and fences empty L1"},
    {"cloth_opt", "*", "likewise"},
    {"hash_chain", "*", "likewise"},
    {"hash_probe", "atomic_requests", "the order of insertions"},
    {"nbody", "shared_load_passes",
     "the counter has two for words of 16 bytes that all lanes share"},
    {"racey_global", "*", "racy"},
    {"racey_lanes", "*", "racy"},
    {"racey_shared", "*", "racy"},
    {"racey_warps", "l1_hits", "racy"},
    {"scan_blocks", "*", "the assembler joins words of shared memory"},
    {"scan_lookback", "*", "waits, and likewise"},
    {"sgemm_16", "shared_load_passes", "the assembler joins words of shared memory"},
    {"sgemm_32", "shared_load_passes", "likewise"},
    {"spmv_scalar", "*", "lanes of a loop stay divergent"},
    {"spmv_vector", "*", "likewise"},
    {"sum_lock", "*", "waits for locks, and fences empty L1"},
    {"sum_lock_backoff", "*", "likewise"},
    {"sum_lock_test", "*", "likewise"},
    {"ticket", "*", "waits for locks"},
};

static bool is_exception(const char *workload, int column)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].workload, workload) == 0 &&
            (*exceptions[i].columns == '*' || strcmp(exceptions[i].columns, columns[column]) == 0))
            return true;
    return false;
}

static void count(void *self, unsigned launch, const struct emu_report *r)
{
    const struct emu_events *e = &r->counts->phases[0].total;
    uint64_t *to = ((uint64_t(*)[COLUMNS])self)[launch];
    to[0] = e->access[EMU_GLOBAL][EMU_LOADS].warp;
    to[1] = e->access[EMU_GLOBAL][EMU_LOADS].sectors;
    to[2] = e->cache.l1_hits;
    to[3] = e->access[EMU_GLOBAL][EMU_STORES].warp;
    to[4] = e->access[EMU_GLOBAL][EMU_STORES].sectors;
    to[5] = e->access[EMU_GLOBAL][EMU_ATOMICS].warp;
    to[6] = e->access[EMU_SHARED][EMU_LOADS].passes;
    to[7] = e->access[EMU_SHARED][EMU_STORES].passes;
}

/* With sanitizers the workloads run, counted, in tests/cli/suites.c. */
Test(counted_on_gpu, requests_sectors_hits_and_passes_are_those_of_the_counters,
     .disabled = SANITIZED)
{
    static uint64_t counted[GPU_ROWS_LAUNCHES][COLUMNS];
    const struct emu_config config = {
        .count = true, .caches = true, .threads = 1, .gpu = emu_gpu_find("h200")};
    static struct gpu_rows rows = {.see = count, .self = counted};
    unsigned n = 0, same = 0;
    gpu_rows_open(&rows, "calibrate/data/h200-counts.csv", &config, GPU_ROWS_COUNTS);
    while (gpu_rows_next(&rows, NULL)) {
        const uint64_t *have = counted[rows.launch];
        for (int c = 0; c < COLUMNS; c++) {
            const char *const text = rows.column[FIRST_COLUMN + c];
            char *end;
            const uint64_t want = strtoull(text, &end, 10);
            cr_assert(*text && !*end, "%s, %s: '%s'", rows.workload, columns[c], text);
            if (is_exception(rows.workload, c)) continue;
            cr_expect_eq(have[c], want, "%s, launch %u, %s: %llu, on the GPU %s", rows.workload,
                         rows.launch, columns[c], (unsigned long long)have[c], text);
            same++;
        }
        n++;
    }
    gpu_rows_close(&rows);
    cr_expect(n >= 150 && same >= 810, "%u rows, %u numbers", n, same);
}
