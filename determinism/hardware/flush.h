/* determinism/hardware/flush.h: DAB's flush (MICRO 2020, section IV-D): the order in which a memory partition executes
 * the transactions of all SMs.
 *
 * Each cluster of SMs sends each partition a pre-flush message with the number of transactions to expect of each of its
 * SMs. When a partition has all messages, it executes one transaction of each SM in turn, and skips SMs without
 * remaining transactions. So transactions are ordered by number, which each SM counts from 0 for each partition, and
 * those with equal numbers by SM. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_FLUSH_H
#define HEDDLE_DETERMINISM_HARDWARE_FLUSH_H

#include <stdint.h>

struct flush_turn { /* position of a transaction at its partition */
    uint32_t number, sm;
};

/* Negative: a comes before b. Positive: b comes before a. */
static inline int flush_turn_compare(struct flush_turn a, struct flush_turn b)
{
    if (a.number != b.number) return a.number < b.number ? -1 : 1;
    return (a.sm > b.sm) - (a.sm < b.sm);
}

static inline uint64_t flush_messages(uint32_t clusters, uint32_t partitions)
{
    return (uint64_t)clusters * partitions;
}

#endif
