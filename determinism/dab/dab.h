/* determinism/dab/dab.h: the memory order DAB, Deterministic Atomic Buffering: the same bits for every seed for programs
 * without data races that access an address by atomics alone or not at all (weak determinism).
 *
 *     struct orders *o = orders_new("dab:scheduler=gtar:fusion=off", 7, &why);     // determinism/orders.h
 *
 * Source: Chou, Ng, Cattell, Intan, Sinclair, Devietti, Rogers, Aamodt, "Deterministic Atomic Buffering", MICRO 2020;
 * sections below are the paper's. docs/dab.md describes the order for its users.
 *
 * Reductions (red, and atom whose result is not read) go into atomic buffers on the SMs (IV-B, IV-C) and reach memory
 * when all buffers are flushed (IV-D). The seeded adversary chooses when CTAs begin, which warp runs next and for how
 * long, and when messages of a flush arrive. Three decisions do not depend on it: the slots of CTAs (IV-C5), the order
 * in which the warps of a scheduler fill their buffer (IV-C1 to C4), and the order in which a memory partition executes
 * a flush (IV-D). dab.c: buffer_reduction() handles a full buffer, flush.c: apply_ready_transactions() decides the
 * order of a flush.
 *
 * Decisions that must not depend on the adversary are made when no warp can run (dab_on_idle() in dab.c), at an *idle
 * point*: which warps can add no more entries to a buffer, and when to flush. The instructions of a warp between two
 * idle points do not depend on their timing, so neither does the state at the next idle point.
 *
 *  - Atomics with a live result, strong accesses (volatile, relaxed, acquire, release), and calls of the device runtime
 *    (printf, malloc) wait for an idle point and a flush; then they are executed one after another, by SM and hardware
 *    warp. Fences, barriers of CTAs and clusters and operations on mbarriers wait for a flush if the warp has an entry
 *    in a buffer (IV-A).
 *  - Atomics and strong accesses of shared memory, also reductions by red.async and bulk copies, are executed at once
 *    when the warp has its turn among the warps of the CTA or cluster. If all of these in the program are reductions of
 *    one commutative kind, they need no turn.
 *  - At an idle point, turns skip warps that wait at barriers of the CTA. If a flush wakes no warp either, turns also
 *    skip warps that wait for anything else (an mbarrier, the cluster, another turn). Before that, warps that wait at
 *    mbarriers test them again.
 *  - CTAs run in batches (IV-C5). Accesses that wait for an idle point do not wait for a batch. If batches prevent each
 *    other's progress, they are given up: schedulers.c says when.
 *  - A red with release or acquire is buffered like others: a flush becomes visible as a whole.
 *
 * Deferred reductions (emu/speculate/deferred.h): a launch whose warps share only words that they reduce is replayed
 * under the order after its warps have ended, if no events are counted, the guarantee holds and results do not depend
 * on the choice of warps. Under srr and gtrr they do, because instructions between reductions count.
 *
 * Limitations: nothing is guaranteed for programs with data races, or with plain accesses of addresses that have reductions
 * in a buffer (--check race,atomicity finds both). Not with --divergence=its. */
#ifndef HEDDLE_DETERMINISM_DAB_DAB_H
#define HEDDLE_DETERMINISM_DAB_DAB_H

extern const struct order_kind dab_kind; /* determinism/orders.h */

#endif
