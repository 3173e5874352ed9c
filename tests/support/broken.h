/* tests/support/broken.h: the programs of tests/broken/broken.def, launched under an order.
 *
 *     struct broken_bench *b = broken_bench_new();
 *     seed = broken_first_wrong(b, i, "random:strategy=pct", 1, 1000);      // of program i */
#ifndef HEDDLE_TESTS_SUPPORT_BROKEN_H
#define HEDDLE_TESTS_SUPPORT_BROKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broken {
    const char *kernel;
    uint32_t grid, block, right;
    const char *bug;
};
extern const struct broken broken_programs[];
extern const size_t broken_count;

/* How many of `launches` launches of each program were wrong on a GPU: alone, and beside a kernel that keeps the rest of the GPU
 * busy. A launch that does not end counts as wrong, as do those that it kept from running. */
enum { BROKEN_MOST = 64 };
struct broken_measured {
    uint64_t launches, alone[BROKEN_MOST], beside[BROKEN_MOST];
};
/* Reads what tests/bench/broken_gpu.c has written. false, with a message: it cannot be read, or has other programs. */
bool broken_read_measured(const char *path, struct broken_measured *out);

struct broken_bench;
/* Reads tests/broken/broken.ptx. Aborts with a message if that fails. */
struct broken_bench *broken_bench_new(void);
void broken_bench_free(struct broken_bench *b);
/* One launch. order: NULL is native. false: it failed, or did not end. */
bool broken_run(struct broken_bench *b, size_t i, const char *order, uint64_t seed,
                uint32_t *result);
/* The first of `seeds` seeds, from 1 on, whose result is wrong, or whose launch does not end; 0: none is. */
uint64_t broken_first_wrong(struct broken_bench *b, size_t i, const char *order, uint64_t seeds);

/* For how many of these seeds. */
uint64_t broken_count_wrong(struct broken_bench *b, size_t i, const char *order, uint64_t seeds);

#endif
