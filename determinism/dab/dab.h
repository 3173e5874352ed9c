/* determinism/dab/dab.h: the memory order DAB, Deterministic Atomic Buffering: the same bits for every seed for programs
 * without data races that access an address by atomics alone or not at all (weak determinism).
 *
 *     struct orders *o = orders_new("dab:scheduler=gtar:fusion=off", 7, &why);     // determinism/orders.h
 *
 * Source: Chou, Ng, Cattell, Intan, Sinclair, Devietti, Rogers, Aamodt, "Deterministic Atomic Buffering", MICRO 2020;
 * sections below are the paper's. docs/dab.md describes the order for its users.
 *
 * Reductions (red, and atom whose result is not read) go into atomic buffers on the SMs (IV-B, IV-C) and reach memory when
 * all buffers are flushed (IV-D). The adversary chooses, by its seed, when CTAs begin, which warp goes on and for how long,
 * and when messages of a flush arrive. Three things are kept from it: which CTAs are where (IV-C5), in which order the warps
 * of a scheduler fill their buffer (IV-C1 to C4), and in which order a memory partition carries out a flush (IV-D).
 * dab.c: buffer_reduction() handles a full buffer, flush.c: apply_ready_transactions() decides the order of a flush.
 *
 * What must not depend on the adversary is decided where no warp can go on (dab_on_idle() in dab.c): which warps cannot add anything to
 * a buffer any more, and that it is time to flush. What a warp does between two such moments does not depend on when it does
 * it, so neither does the moment.
 *
 *  - Atomics whose result is read, strong accesses (volatile, relaxed, acquire, release), and calls of the device runtime
 *    (printf, malloc) wait for such a moment and a flush; then they are executed one after another, by SM and hardware warp.
 *    Fences, barriers of CTAs and clusters and operations on mbarriers wait for a flush if the warp has an entry in a buffer
 *    (IV-A).
 *  - Atomics and strong accesses of shared memory, also reductions by red.async and bulk copies, take turns between the warps
 *    of the CTA or cluster and are executed at once. Where the program has none but reductions of one kind that commute, they
 *    need no turn.
 *  - Turns skip warps at barriers of the CTA where no warp can go on, and warps that wait for anything else (an mbarrier, the
 *    cluster, another turn) where flushing does not help either. Warps that wait at mbarriers test them before that.
 *  - CTAs come in batches (IV-C5). What waits for such a moment waits for no batch. Where batches keep each other from
 *    progress they are given up: schedulers.c says when.
 *  - A red with release or acquire is buffered like others: all others see a flush as a whole.
 *
 * Launches in which warps share nothing but what they reduce are reported to the order when all their warps have ended
 * (emu/speculate/deferred.h), if no events are counted, the guarantee holds and the choice of warps makes no difference: under
 * srr and gtrr it does, because instructions between reductions count.
 *
 * Limitations: nothing is guaranteed for programs with data races, or with plain accesses of addresses that have reductions
 * in a buffer (--check race,atomicity finds both). Not with --divergence=its. */
#ifndef HEDDLE_DETERMINISM_DAB_DAB_H
#define HEDDLE_DETERMINISM_DAB_DAB_H

extern const struct order_kind dab_kind; /* determinism/orders.h */

#endif
