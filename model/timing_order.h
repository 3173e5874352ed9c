/* model/timing_order.h: what GPUDet and DAB cost, in the timing model.
 *
 *     struct timing_order o;
 *     if (timing_order_of(report->counts, &o)) timing_run_launch(trace, &machine, &o, NULL, slots,
 *                                                      l1_bytes, &t);
 *
 * The trace is that of a launch that ran under the order. The model executes the mechanism on it: it finds where each
 * warp's quantum ends, or which warp may put a reduction into a buffer, and when. Sources: Jooybar's thesis,
 * University of British Columbia, 2013 ("Deterministic execution on GPU architectures"; its sections are cited with 4.2,
 * 5.2, ...), and Chou et al., "Deterministic Atomic Buffering", MICRO 2020 (its sections are cited with IV-C, V,
 * ...).
 *
 * GPUDet (timing_gpudet.c)
 *   Parallel mode (4.2). It ends for a warp after `quantum` instructions, at the end of a basic block; at an atomic,
 *     a fence or a strong access; when the write log is full; at a barrier that is not complete (option `bta`); at
 *     the end of the warp. The mode is over when no warp can go on. From a scheduler's last issue until then is
 *     TIMING_QUANTUM.
 *   Write log (4.3). A store uses the load/store unit for its data, and for the address and mask of its entry; both
 *     go to L1. A load whose line may be in the log, by the Bloom filter, searches the whole log, one entry a cycle:
 *     TIMING_LOG. If the log has all that the load reads, no cache is asked. The thesis gives no times; those of L1
 *     are taken.
 *   Commit mode (4.4). Each entry is read from L1 and sent: its sectors, and one sector for address, mask and depth.
 *     A Z unit accepts an entry in each of its cycles (650 MHz where L2 has 700 MHz: table 5.2). It looks up the
 *     depths of the chunk in its Z cache; a miss takes `fetch` of its cycles, and a DRAM access for a chunk's first
 *     time. It compares in one cycle, and writes the sectors to L2. At most `requests` are in flight. With `locks`
 *     (6.2.2) each entry acquires a lock, again if another entry has it, reads depths, writes data and depths, and
 *     releases the lock; each is a round trip through the network, and a warp commits its entries one after another.
 *     L1 is empty after commit mode.
 *   Serial mode (4.5). One SM after another executes the atomics of its warps, which overlap; with `serial=warp` one
 *     warp after another. The next SM begins when the last answer is back.
 *   Barriers between modes (3.1, 6.3.4) cost `barrier` cycles each, 0 by default as in the thesis (5.2): after
 *     parallel mode, after commit mode, and after serial mode if there were atomics (6.1). The cycles belong to the
 *     mode that ends; those of parallel mode are TIMING_QUANTUM.
 *
 * DAB (timing_dab.c)
 *   A reduction takes a cycle, as arithmetic does (VI-A1), if it is the warp's turn (`rule`, IV-C) and the buffer has
 *     space for its lanes. Waiting for the turn is TIMING_TURN.
 *   When no warp of any scheduler can add to a buffer, buffers are flushed (IV-D). Until the last scheduler has
 *     reached this point the others wait: TIMING_FULL. Warps without reductions may still compute.
 *   A flush is TIMING_FLUSH. Each cluster sends a message to each L2 slice; then the entries, those of one sector
 *     together with `coalescing`. When the messages have come, slices execute entries from one SM after another, in
 *     turn. The flush ends with the last answer. Entries that come before their turn wait in buffers that cost
 *     nothing (V); with `queue=l2` they wait in L2, as a virtual write queue: the slice writes an entry, reads it
 *     again at its turn, and evicts a line for it, which goes to DRAM. With `reorder` off there are neither messages
 *     nor turns; with `overlap` no warp waits for the answers; with `independent` each cluster has flushes of its own
 *     (VI-B4).
 *   Atomics whose result is read, and strong accesses, wait for a flush and are then executed one after another:
 *     TIMING_SERIAL.
 *
 * If the trace has a part of the SMs, modes last as long as for these; serial turns are counted for all SMs. */
#ifndef HEDDLE_MODEL_TIMING_ORDER_H
#define HEDDLE_MODEL_TIMING_ORDER_H

#include "determinism/hardware/dab_options.h"
#include "determinism/hardware/gpudet_options.h"

#include <stdbool.h>
#include <stdint.h>

struct timing_machine;
struct timing_share;
struct timing_result;
struct emu_counts;
struct emu_trace;
struct time_lapse;

enum timing_order_kind { TIMING_NATIVE, TIMING_GPUDET, TIMING_DAB };
struct timing_order {
    enum timing_order_kind kind;
    struct gpudet_options gpudet;
    double z_interval; /* GPUDet: cycles of the SM for one of the Z unit */
    struct dab_options dab;
};

/* The order of a launch and its options. The order `random` has the hardware of a native GPU. false: the model knows
 * no times of this order. */
bool timing_order_of(const struct emu_counts *c, struct timing_order *out);

/* As timing_run (model/timing.h), for a trace that was made under the order. `share`: of a native run, what the
 * trace's SMs have of L2 and DRAM; NULL: the same part that they are of all SMs. */
void timing_run_launch(const struct emu_trace *t, const struct timing_machine *m,
                       const struct timing_order *o, const struct timing_share *share,
                       uint32_t slots, uint32_t l1_bytes, struct timing_result *out);

/* The same; `lapse` gets what happens over time (model/time_lapse.h). NULL: nothing does. */
void timing_run_lapse(const struct emu_trace *t, const struct timing_machine *m,
                      const struct timing_order *o, const struct timing_share *share,
                      uint32_t slots, uint32_t l1_bytes, struct time_lapse *lapse,
                      struct timing_result *out);

#endif
