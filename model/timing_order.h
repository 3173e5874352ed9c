/* model/timing_order.h: the cost of GPUDet and DAB in the timing model.
 *
 *     struct timing_order o;
 *     if (timing_order_of(report->counts, &o)) timing_run_launch(trace, &machine, &o, NULL, slots,
 *                                                      l1_bytes, &t);
 *
 * The trace is that of a launch under the order. The model executes the mechanism of the order on it: it finds where each
 * warp's quantum ends, or which warp may put a reduction into a buffer, and when. Sources: Jooybar's thesis,
 * University of British Columbia, 2013 ("Deterministic execution on GPU architectures"; its sections are cited with 4.2,
 * 5.2, ...), and Chou et al., "Deterministic Atomic Buffering", MICRO 2020 (its sections are cited with IV-C, V,
 * ...).
 *
 * GPUDet (timing_gpudet.c)
 *   Parallel mode (4.2). It ends for a warp after `quantum` instructions, at the end of a basic block; at an atomic,
 *     a fence or a strong access; when the write log is full; at a barrier that is not complete (option `bta`); at
 *     the end of the warp. The mode ends when no warp can issue. The time from a scheduler's last issue until then is
 *     TIMING_QUANTUM.
 *   Write log (4.3). A store uses the load/store unit for its data, and for the address and mask of its entry; both
 *     go to L1. A load whose line may be in the log, by the Bloom filter, searches the whole log, one entry per cycle:
 *     TIMING_LOG. If the log has all bytes of the load, the load accesses no cache. The thesis gives no latencies; the
 *     model takes those of L1.
 *   Commit mode (4.4). Each entry is read from L1 and sent: its sectors, and one sector for address, mask and depth.
 *     A Z unit accepts an entry in each of its cycles (650 MHz where L2 has 700 MHz: table 5.2). It looks up the
 *     depths of the chunk in its Z cache; a miss takes `fetch` of its cycles, and a DRAM access for a chunk's first
 *     time. It compares in one cycle, and writes the sectors to L2. At most `requests` are in flight. With `locks`
 *     (6.2.2) each entry acquires a lock, again if another entry has it, reads depths, writes data and depths, and
 *     releases the lock; each is a round trip through the network, and a warp commits its entries one after another.
 *     L1 is empty after commit mode.
 *   Serial mode (4.5). One SM after another executes the atomics of its warps, which overlap; with `serial=warp` one
 *     warp after another. The next SM begins when the last reply has arrived.
 *   Barriers between modes (3.1, 6.3.4) cost `barrier` cycles each, 0 by default as in the thesis (5.2): after
 *     parallel mode, after commit mode, and after serial mode if there were atomics (6.1). The cycles belong to the
 *     mode that ends; those of parallel mode are TIMING_QUANTUM.
 *
 * DAB (timing_dab.c)
 *   A reduction takes a cycle, as arithmetic does (VI-A1), if it is the warp's turn (`rule`, IV-C) and the buffer has
 *     space for its lanes. Waiting for the turn is TIMING_TURN.
 *   When no warp of any scheduler can add to a buffer, buffers are flushed (IV-D). The other schedulers wait until the
 *     last one has reached this point: TIMING_FULL. Warps without reductions may still compute.
 *   A flush is TIMING_FLUSH. Each cluster sends a message to each L2 slice; then the entries, those of one sector
 *     together with `coalescing`. After the messages have arrived, slices execute entries from one SM after another, in
 *     turn. The flush ends with the last reply. Entries that arrive before their turn wait in buffers without cost
 *     (V); with `queue=l2` they wait in L2, as a virtual write queue: the slice writes an entry, reads it
 *     again at its turn, and evicts a line for it, which goes to DRAM. With `reorder` off there are neither messages
 *     nor turns; with `overlap` no warp waits for the replies; with `independent` each cluster has flushes of its own
 *     (VI-B4).
 *   Atomics whose result is read, and strong accesses, wait for a flush and then execute one after another:
 *     TIMING_SERIAL.
 *
 * If the trace has only some of the SMs, the length of modes is that for these SMs; serial turns are counted for all SMs. */
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
    double z_interval; /* GPUDet: cycles of the SM's clock for one cycle of the Z unit */
    struct dab_options dab;
};

/* The order of a launch and its options. The order `random` has the hardware of a native GPU. false: the model does not
 * support the order. */
bool timing_order_of(const struct emu_counts *c, struct timing_order *out);

/* Like timing_run() (model/timing.h), for a trace of a launch under the order. `share`: for native runs, the part of L2
 * and DRAM that the trace's SMs get; NULL: in proportion to their number. */
void timing_run_launch(const struct emu_trace *t, const struct timing_machine *m,
                       const struct timing_order *o, const struct timing_share *share,
                       uint32_t slots, uint32_t l1_bytes, struct timing_result *out);

/* The same; `lapse` gets the time lapse of the run (model/time_lapse.h); NULL: none is recorded. */
void timing_run_lapse(const struct emu_trace *t, const struct timing_machine *m,
                      const struct timing_order *o, const struct timing_share *share,
                      uint32_t slots, uint32_t l1_bytes, struct time_lapse *lapse,
                      struct timing_result *out);

#endif
