/* model/timing_order.h: memory orders as the clock knows them: GPUDet and DAB, with what of their options takes time.
 *
 *     struct timing_order o;
 *     if (timing_order_of(report->counts, &o)) timing_run_ordered(trace, &machine, &o, NULL, slots,
 *                                                      l1_bytes, &t);
 *
 * The clock carries out the mechanism itself, on what the warps did under it (the trace of a launch with that order):
 * it says where each warp's quantum ends, or which warp may put a reduction into a buffer, and when. Sources: Jooybar's
 * thesis, University of British Columbia, 2013 (GPUDet), and Chou et al., MICRO 2020 (DAB).
 *
 * GPUDet
 *   Parallel mode (thesis 4.2) ends for a warp after `quantum` instructions, at the end of a block; at an atomic, a
 *     fence, a strong access, when its log is full, at a barrier that is not passed (`bta`), when it ends. When no
 *     warp can go on it is over: the time from a scheduler's last issue until then is TIMING_QUANTUM.
 *   Write log (4.3). A store takes the SM's load unit for its data and for the entry's address and mask, both of which
 *     go to L1. A load whose line the Bloom filter seems to have looks through the whole log, an entry a cycle:
 *     TIMING_LOG. If the log has all that it wants, it asks nobody else. The thesis gives no times; L1's are taken.
 *   Commit (4.4). Each entry is read from L1 and sent: the sectors that it has, and one for address, mask and depth. A Z
 *     unit takes one in each of its cycles (650 MHz where L2 has 700: table 5.2), looks up the chunk's depths
 *     in its cache, and when these have come (`fetch` of its cycles, more for the chunk's first time) compares in a
 *     cycle and writes the sectors to L2. `requests` are under way at most. With `locks` each entry takes a lock
 *     (again, if another has it), reads depths, writes data and depths, and gives the lock back, each a trip through the network
 *     (6.2.2); a warp commits its entries one after another. L1 is empty afterwards.
 *   Serial mode (4.5). One SM after another carries out its warps' atomics, which overlap; or (`serial_warps`) one warp
 *     after another. Each SM waits until the last one's have come back.
 *   Barriers between modes (3.1, 6.3.4) take `barrier` cycles each, none by default as in the thesis (5.2): behind parallel
 *     mode, behind commit mode, and behind serial mode if there are atomics (6.1). They count as part of the mode that they
 *     end; parallel mode's is TIMING_QUANTUM.
 *
 * DAB
 *   A reduction takes a cycle like arithmetic (VI-A1) if it is the warp's turn (`rule`, IV-C) and its lanes find room.
 *     Waiting for the turn is TIMING_TURN.
 *   When no warp of any scheduler could add anything, buffers are flushed (IV-D): TIMING_FULL until the last
 *     scheduler has come so far. It begins then, though other warps may still compute.
 *   A flush is TIMING_FLUSH: each cluster sends each L2 slice a message; then entries, those of one sector together with
 *     `coalescing`; slices carry them out one of each SM in turn, when the messages have come; it is over when the last
 *     answer is back. What comes before its turn, or before all messages, waits in buffers that cost nothing (V); with
 *     `l2_queue` in L2, as a virtual write queue: the slice writes it, reads it again when its turn has come, and gives up a
 *     line for it, which goes to DRAM. With `reorder` off neither messages nor turns; with `overlap` nobody waits for answers; with
 *     `independent` each cluster has flushes of its own (VI-B4).
 *   Atomics whose result is read, and strong accesses, wait for a flush and then come one after
 *   another: TIMING_SERIAL.
 *
 * Of a launch of which a part of the SMs was traced, modes last as long as for these; serial turns are
 * as many as all SMs have. */
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

enum timing_order_kind { TIMING_NATIVE, TIMING_GPUDET, TIMING_DAB };
struct timing_order {
    enum timing_order_kind kind;
    struct gpudet_options gpudet;
    double z_interval; /* GPUDet: cycles of the SM for one of the Z unit */
    struct dab_options dab;
};

/* Of a launch. Random is a native GPU, of which warps did what they do when they meet. false: no time is known of its
 * order. */
bool timing_order_of(const struct emu_counts *c, struct timing_order *out);

/* timing_run (model/timing.h), of a trace that was made under the order. `share`: what its SMs have of the GPU, if the order
 * is none; NULL: as much as they are of all, of everything. */
void timing_run_ordered(const struct emu_trace *t, const struct timing_machine *m,
                        const struct timing_order *o, const struct timing_share *share,
                        uint32_t slots, uint32_t l1_bytes, struct timing_result *out);

#endif
