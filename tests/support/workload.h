/* tests/support/workload.h: workloads (small) under orders.
 *
 *     cr_expect(workload_is_one("sum_atomic", "dab:level=warp", 20)); */
#ifndef HEDDLE_TESTS_SUPPORT_WORKLOAD_H
#define HEDDLE_TESTS_SUPPORT_WORKLOAD_H

#include "suites/suite.h"

#include "emu/emu.h"

/* Runs it on one host thread. The digest is of all memory of the device after each launch. */
struct suite_result workload_run(const char *name, const char *order, uint64_t seed,
                                 uint64_t *digest);
/* The same with or without speculation. executions: NULL, or to be added to: how many launches were carried out in each
 * way. */
struct suite_result workload_run_with(const char *name, const char *order, uint64_t seed,
                                      bool speculate, uint64_t *digest,
                                      uint64_t executions[EMU_EXECUTION_COUNT]);
/* The same with speculation on so many host threads. */
struct suite_result workload_run_on(unsigned threads, const char *name, const char *order,
                                    uint64_t seed, uint64_t *digest,
                                    uint64_t executions[EMU_EXECUTION_COUNT]);
/* The same under an order of the caller's. */
struct suite_result workload_run_order(const char *name, const struct emu_order *order,
                                       uint64_t *digest, uint64_t executions[EMU_EXECUTION_COUNT]);
/* Whether it has the same digest for seeds 1, 2, ...; fails the test where it does not pass. */
bool workload_is_one(const char *name, const char *order, uint64_t seeds);
/* What an order counts by that name ("gpudet.quanta") in all launches, with seed 1. */
uint64_t workload_count(const char *name, const char *order, const char *number);
/* Whether it has most of its time at locks, as hash_chain does in less time. */
bool workload_waits_long(const char *name);
/* HEDDLE_SEEDS of the environment, for tests that take long with many. */
uint64_t workload_seeds(uint64_t usual);

#endif
