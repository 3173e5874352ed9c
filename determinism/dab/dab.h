/* determinism/dab/dab.h: Deterministic Atomic Buffering (Chou, Ng, Cattell, Intan, Sinclair, Devietti, Rogers, Aamodt,
 * MICRO 2020).
 *
 *     struct orders *o = orders_new("dab:scheduler=gtar:fusion=off", 7, &why);     // determinism/orders.h
 *
 * Reductions (red, and atom whose result nobody reads) go into buffers on the SMs and reach memory when all buffers
 * are flushed. The adversary, by its seed, chooses when CTAs begin, which warp goes on and for how long, and when
 * messages of a flush arrive. Three things are kept from it: which CTAs are where, in which order the warps of a
 * scheduler fill their buffer, and in which order a memory partition carries out what is flushed. So a program
 * without data races that accesses each address either by atomics alone or by none in a kernel (strong atomicity) has
 * one result.
 *
 * Everything that must not depend on the adversary is decided where no warp can go on (dab.c, idle): which warps can
 * add nothing to a buffer any more, and that it is time to flush. What a warp does between two such moments does not
 * depend on when it does it, so neither does the moment.
 *
 *  - Atomics whose result is read, strong accesses (volatile, relaxed, acquire, release), and calls of the device
 *    runtime (printf, malloc) wait for such a moment and a flush; then they are done one after another, by SM and
 *    hardware warp. Fences, barriers of CTAs and clusters and operations on mbarriers wait for a flush if the warp
 *    has something in a buffer.
 *  - Atomics and strong accesses of shared memory, reductions by red.async and bulk copies too, take turns between the
 *    warps of the CTA or cluster and are done at once; where the program has none but reductions of one kind that
 *    commute, they need no turn.
 *  - Turns pass warps at barriers of the CTA where no warp can go on; those that wait for anything else (an mbarrier,
 *    the cluster, another turn) where flushing does not help, either. Warps that wait at mbarriers have looked at them
 *    before any of this.
 *  - CTAs come in batches, and what waits for such a moment waits for no batch. Where a reduction of a later batch waits
 *    for its batch, or for a CTA that has not begun, while at 128 flushes in turn others wait for a result and no warp
 *    ends, the launch has no batches any more: it may be the way in which a lock is given back. From then on warps fill
 *    buffers that wait to do so at such a moment.
 *  - A red with release or acquire is buffered like others: what is flushed is seen by all others as a whole.
 *
 * Launches in which warps have nothing in common but what they reduce it hears of when all have ended (emu/speculate/deferred.h), if no
 * events are counted, the promise is kept and which warp goes on makes no difference: under srr and gtrr instructions between
 * reductions count, too.
 *
 * Promised nothing: programs with data races or with plain accesses of addresses that have reductions in a buffer
 * (--check race,atomicity finds both). Not with --divergence=its. */
#ifndef HEDDLE_DETERMINISM_DAB_DAB_H
#define HEDDLE_DETERMINISM_DAB_DAB_H

extern const struct order_kind dab_kind;

#endif
