/* What Heddle counts of the workloads, against the hardware counters of an H200: requests of global memory, their sectors,
 * hits in L1, and passes of shared memory, launch by launch (calibrate/data/h200-counts.csv). */
#include "cuda/device.h"
#include "emu/counts.h"
#include "suites/suite.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 8, MOST_LAUNCHES = 64 };
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
    {"betweenness", "*", "lanes of a loop go on apart: the assembler puts no reconvergence there"},
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
    {"spmv_scalar", "*", "lanes of a loop go on apart"},
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

struct seen {
    unsigned launches;
    uint64_t of[MOST_LAUNCHES][COLUMNS];
};

static void add(void *self, const char *kernel, const struct emu_launch *l,
                const struct emu_report *r)
{
    struct seen *s = self;
    (void)kernel;
    (void)l;
    cr_assert(s->launches < MOST_LAUNCHES);
    const struct emu_events *e = &r->counts->phases[0].total;
    uint64_t *to = s->of[s->launches++];
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
    static struct seen seen;
    char text[256], workload[32] = "";
    unsigned rows = 0, same = 0;
    FILE *f = fopen("calibrate/data/h200-counts.csv", "r");
    cr_assert(f != NULL);
    cuda_device_configure(&(struct emu_config){
        .count = true, .caches = true, .threads = 1, .gpu = emu_gpu_find("h200")});
    cuda_device_watch(&(struct cuda_watch){.self = &seen, .after = add, .quiet = true});
    while (fgets(text, sizeof text, f)) {
        char name[32], kernel[64];
        unsigned launch;
        unsigned long long m[COLUMNS];
        if (sscanf(text, "%31[^,],%u,%63[^,],%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu", name,
                   &launch, kernel, &m[0], &m[1], &m[2], &m[3], &m[4], &m[5], &m[6],
                   &m[7]) != 3 + COLUMNS)
            continue;
        if (strcmp(name, workload) != 0) {
            const struct suite_options o = {.size = SUITE_SMALL, .seed = 1};
            seen.launches = 0;
            cr_assert(suite_run(suite_find(name), &o).passed, "%s", name);
            memcpy(workload, name, sizeof workload);
        }
        cr_assert(launch < seen.launches, "%s has %u launches", name, seen.launches);
        for (int c = 0; c < COLUMNS; c++) {
            if (is_exception(name, c)) continue;
            cr_expect_eq(seen.of[launch][c], m[c], "%s, launch %u, %s: %llu, on the GPU %llu", name,
                         launch, columns[c], (unsigned long long)seen.of[launch][c], m[c]);
            same++;
        }
        rows++;
    }
    (void)fclose(f);
    cr_expect(rows >= 150 && same >= 810, "%u rows, %u numbers", rows, same);
    cuda_device_watch(NULL);
    cuda_device_reset();
}
