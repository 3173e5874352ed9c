/* determinism/gpudet/gpudet.h: GPUDet (Jooybar et al., ASPLOS 2013; Jooybar's thesis, UBC 2013): the same bits for every
 * seed, races included. An adversary chooses by the seed what the mechanism leaves free.
 *
 *     struct orders *o = orders_new("gpudet:quantum=1000:bta=off", 7, &why);     // determinism/orders.h
 *
 * Execution goes in quanta of three modes.
 *
 * Parallel mode. Warps run isolated: stores to global memory go into a log of their warp, which its loads look
 * through; nobody changes memory. So it makes no difference how warps are interleaved, but to what caches and Z units
 * count: the adversary chooses among those of a few CTAs, and the next CTAs begin when these have stopped; where
 * nothing is counted it mostly takes one after the other. (In one launch of eight, and with a mechanism off that the
 * promise needs, it chooses among all.) It ends for a warp after
 * so many instructions (at the end of the basic block, unless step=instruction), at an atomic, a fence, a
 * volatile, relaxed, acquire or release access (which then goes on in the next quantum), when its log is full, at a
 * CTA barrier, when it ends, where it waits (mbarrier, cluster), and at a call of the device runtime.
 *   bta: a CTA whose warps have all come to a barrier passes it and goes on, if none of them has stored to global
 *     memory in this quantum. (The thesis does not say so; but other warps may read behind the barrier what was
 *     stored before it, and that is only there when it is committed.)
 *   dwp: CTAs that have not begun are dealt to slots when a quantum begins; a slot whose CTA ends goes on with the
 *     next one that it was dealt, and with the instructions that are left of its warps' quantum. Without it, and
 *     with clusters, CTAs begin when quanta do.
 * Commit mode. The logs are sent to the partitions of memory, where of each byte the store of the smallest depth
 *   = warp - quantum * 2^m stays, whatever comes first; warp: the hardware's, by SM, slot, number in the CTA. Where
 *   nobody can tell (nothing is counted, nobody is told of stores, all mechanisms are on) the deepest come first in
 *   seven launches of eight: the host is done sooner. If besides the kernel has no copies, textures, surfaces and calls
 *   of the device runtime, a warp's stores are in memory while it runs, and taken out before another one does; its
 *   atomics are carried out in serial mode where it sleeps, and what it loads in the next quantum it loads unasked. And
 *   kernels of loads and stores alone are first run without the mechanism, and watched: where no warp stores to what
 *   another one loads or stores to, that is it (emu/speculate/conflict_free.h).
 * Serial mode. The atomic that ended a warp's parallel mode is carried out: warp after warp.
 *
 * Beyond the thesis:
 *   Shared memory. Warps that can meet in it, or at barriers (those of a CTA; with clusters, of a cluster), run one
 *     after another: in turn by number, each up to where it stops. One that waits for a barrier or an mbarrier has
 *     its turn again when others have moved; the time of an mbarrier.try_wait is up after 64 quanta. Atomics on
 *     shared memory do not end quanta.
 *   Whatever lets others know of stores before it (mbarriers, arrival at a cluster's barrier, a release to shared
 *     memory), and asynchronous copies, end the quantum first if the warp has stored to global memory in it.
 *   Stores by bulk copies and to surfaces go into the log; reductions by bulk copies wait for serial mode, behind the
 *     warp's atomic; before the warp's next access of global memory, its quantum ends. Reductions on surfaces are one
 *     atomic for each lane. Textures and constants show memory as it is in parallel mode.
 *   Calls of the device runtime (printf, malloc, launches) are made when the next quantum begins, one warp after the
 *     other before all else.
 * Not with --divergence=its. Caches (emu/measure/cache.h) are not modelled as flushed after commits. */
#ifndef HEDDLE_DETERMINISM_GPUDET_GPUDET_H
#define HEDDLE_DETERMINISM_GPUDET_GPUDET_H

extern const struct order_kind gpudet_kind; /* determinism/orders.h */

#endif
