/* determinism/gpudet/gpudet.h: the memory order GPUDet: the same bits for every seed, races included (strong
 * determinism).
 *
 *     struct orders *o = orders_new("gpudet:quantum=1000:bta=off", 7, &why);     // determinism/orders.h
 *
 * Source: Hadi Jooybar, "GPUDet: a deterministic GPU architecture", thesis, UBC 2013 (ASPLOS 2013); sections below are
 * the thesis's. docs/gpudet.md describes the order for its users. A seeded adversary makes the choices that the
 * mechanism leaves free.
 *
 * A launch runs in quanta of three modes (chapter 4).
 *
 * Parallel mode (4.2). Warps run isolated: a store to global memory goes into a write log of its warp (4.3), which the
 * warp's loads search; memory does not change. So results do not depend on the interleaving of warps, which the
 * adversary chooses. Parallel mode ends for a warp: after `quantum` instructions (at the end of the basic block, unless
 * step=instruction); at an atomic; at a fence; at a volatile, relaxed, acquire or release access, which is executed in
 * the next quantum; when its log is full; at a CTA barrier; when it exits; where it waits for an mbarrier or its
 * cluster; at a call of the device runtime.
 *   bta (4.2.1): a CTA whose warps have all arrived at a barrier passes it in the same quantum, if none of them has
 *     stored to global memory in this quantum. (The thesis does not state this condition. But other warps may read
 *     after the barrier what a warp stored before it, and the stored value is in memory only after the commit.)
 *   dwp (4.2.2): CTAs that have not begun are assigned to slots when a quantum begins. A slot whose CTA exits starts
 *     its next assigned CTA, whose warps have the remaining instructions of the quantum. Without dwp, and with
 *     clusters, CTAs begin only when a quantum begins.
 * Commit mode (4.4). The logs are sent to the memory partitions. Each byte gets the store with the smallest depth,
 *   independent of the order in which requests arrive; depth = warp - quantum * 2^m, where warp is the hardware warp
 *   number: by SM, slot, number in the CTA.
 * Serial mode (4.5). The atomics that ended parallel modes are executed, warp after warp.
 *
 * Beyond the thesis:
 *   Shared memory (4.6 leaves it open). Warps that share it, or barriers (those of a CTA; with clusters, of a cluster),
 *     run one after another, by number, each until it stops. A warp that waits for a barrier or an mbarrier runs again
 *     when other warps have made progress. An mbarrier.try_wait times out after 64 quanta. Atomics on shared memory do
 *     not end parallel mode.
 *   Byte granularity (4.6): each entry has a mask of bytes, and depths are kept for bytes.
 *   Parallel mode ends before an access that makes earlier stores visible to others (mbarriers, arrival at a cluster's
 *     barrier, a release to shared memory), and before an asynchronous copy, if the warp has stored to global memory in
 *     this quantum.
 *   Stores by bulk copies and to surfaces go into the log. Reductions by bulk copies are executed in serial mode, after
 *     the warp's atomic; the warp's parallel mode ends before its next access of global memory. A reduction on a
 *     surface is one atomic for each lane. Loads from textures and constants return the contents of memory in parallel
 *     mode, without the write log.
 *   Calls of the device runtime (printf, malloc, launches) are executed when the next quantum begins, one warp after
 *     another, before warps run.
 *
 * Limitations: not with --divergence=its. Caches (emu/measure/cache.h) are not flushed after commits in counts. */
#ifndef HEDDLE_DETERMINISM_GPUDET_GPUDET_H
#define HEDDLE_DETERMINISM_GPUDET_GPUDET_H

extern const struct order_kind gpudet_kind; /* determinism/orders.h */

#endif
