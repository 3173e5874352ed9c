/* determinism/gpudet/gpudet.h: the memory order GPUDet: the same bits for every seed, races included (strong
 * determinism).
 *
 *     struct orders *o = orders_new("gpudet:quantum=1000:bta=off", 7, &why);     // determinism/orders.h
 *
 * Source: Hadi Jooybar, "GPUDet: a deterministic GPU architecture", thesis, UBC 2013 (ASPLOS 2013); sections below are
 * the thesis's. docs/gpudet.md describes the order for its users. An adversary chooses by the seed what the mechanism
 * leaves free.
 *
 * A launch runs in quanta of three modes (chapter 4).
 *
 * Parallel mode (4.2). Warps run isolated: a store to global memory goes into a write log of its warp (4.3), which the
 * warp's loads search; memory does not change. So the interleaving of warps makes no difference, and the adversary
 * chooses it. Parallel mode ends for a warp: after `quantum` instructions (at the end of the basic block, unless
 * step=instruction); at an atomic; at a fence; at a volatile, relaxed, acquire or release access, which goes on in the
 * next quantum; when its log is full; at a CTA barrier; when it exits; where it waits for an mbarrier or its cluster; at a
 * call of the device runtime.
 *   bta (4.2.1): a CTA whose warps have all come to a barrier passes it and goes on, if none of them has stored to
 *     global memory in this quantum. (The thesis does not name this condition. But what a warp stores before the barrier
 *     the others may read behind it, and that is only there when it is committed.)
 *   dwp (4.2.2): CTAs that have not begun are dealt to slots when a quantum begins. A slot whose CTA exits goes on with
 *     the next one that it was dealt, and with the instructions that are left of its warps' quantum. Without dwp, and
 *     with clusters, CTAs begin when quanta do.
 * Commit mode (4.4). The logs are sent to the partitions of memory. Of each byte the store of the smallest depth stays,
 *   in whatever order requests arrive; depth = warp - quantum * 2^m, where warp is the hardware's number: by SM, slot,
 *   number in the CTA.
 * Serial mode (4.5). The atomics that ended parallel modes are executed, warp after warp.
 *
 * Beyond the thesis:
 *   Shared memory (4.6 leaves it open). Warps that share it, or barriers (those of a CTA; with clusters, of a cluster),
 *     run one after another, by number, each to where it stops. A warp that waits for a barrier or an mbarrier has its
 *     turn again when others have got further. An mbarrier.try_wait times out after 64 quanta. Atomics on shared memory
 *     do not end parallel mode.
 *   Byte granularity (4.6): each entry has a mask of bytes, and depths are kept for bytes.
 *   An access that makes earlier stores visible to others (mbarriers, arrival at a cluster's barrier, a release to shared
 *     memory), and an asynchronous copy, ends parallel mode first if the warp has stored to global memory in it.
 *   Stores by bulk copies and to surfaces go into the log. Reductions by bulk copies wait for serial mode, behind the
 *     warp's atomic; before the warp's next access of global memory its parallel mode ends. A reduction on a surface is
 *     one atomic for each lane. Textures and constants show memory as it is in parallel mode.
 *   Calls of the device runtime (printf, malloc, launches) are made when the next quantum begins, one warp after another
 *     before all else.
 *
 * Limitations: not with --divergence=its. Caches (emu/measure/cache.h) are not flushed after commits in counts. */
#ifndef HEDDLE_DETERMINISM_GPUDET_GPUDET_H
#define HEDDLE_DETERMINISM_GPUDET_GPUDET_H

extern const struct order_kind gpudet_kind; /* determinism/orders.h */

#endif
