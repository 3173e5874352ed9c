/* determinism/litmus/axioms.h: the outcomes of a litmus test that a memory model allows, by its axioms.
 *
 *     struct axioms_set allowed;
 *     axioms_allowed(&t, AXIOMS_PTX, &allowed);            // t: a struct litmus
 *     if (!axioms_has(&allowed, outcome)) ...
 *
 * PTX: ISA 9.0, "Memory Consistency Model". All candidate executions are enumerated: the write that each read reads
 * from, a total order of the writes to each location, a total order of the fence.sc. Of the total orders only pairs
 * that the ISA relates count: writes that are morally strong or ordered by causality; fences that are morally strong.
 * An execution is allowed if it contradicts none of the axioms Coherence, Fence-SC, Atomicity, No-Thin-Air,
 * SC-per-Location and Causality. All accesses have one size and the generic proxy.
 *
 * SC: program order, reads-from, coherence and from-read together have no cycle. TSO: the same without the order of a
 * store before a later load of another location, unless a fence.sc or an atomic is between them (Owens, Sarkar, Sewell,
 * "A better x86 memory model: x86-TSO", TPHOLs 2009); each location is sequentially consistent. */
#ifndef HEDDLE_DETERMINISM_LITMUS_AXIOMS_H
#define HEDDLE_DETERMINISM_LITMUS_AXIOMS_H

#include "determinism/litmus/litmus.h"

enum axioms_model { AXIOMS_PTX, AXIOMS_TSO, AXIOMS_SC };
enum { AXIOMS_OUTCOMES = 4096 };
struct axioms_set {
    uint64_t outcome[AXIOMS_OUTCOMES]; /* in the format of litmus_bench_run, ascending */
    size_t count;
};
/* false: the test has too many events or outcomes for the enumerator. */
bool axioms_allowed(const struct litmus *t, enum axioms_model model, struct axioms_set *out);
/* For PTX: the outcomes of executions without a data race, and those of executions with a data race. A data race:
 * accesses of one location by two threads, one of them a write, that are neither morally strong nor ordered by
 * causality. by_base: that are neither morally strong nor ordered by base causality order, in which a strong read is
 * not ordered after the write that it observes. */
bool axioms_races(const struct litmus *t, bool by_base, struct axioms_set *clean,
                  struct axioms_set *racy);
bool axioms_add(struct axioms_set *s, uint64_t outcome); /* false: the set is full */
bool axioms_has(const struct axioms_set *s, uint64_t outcome);

#endif
