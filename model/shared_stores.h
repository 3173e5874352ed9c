/* model/shared_stores.h: stores of several SMs to the same sectors of memory, without atomics.
 *
 * On an H200 such stores take much longer than stores to sectors that only one SM accesses. The cause is unknown, and the
 * timing model does not have it: 128 warps that load and store words of the same 8 KB (`racey_warps`) took 12 times their
 * estimate (calibrate/data/h200.csv, h200-counts.csv). */
#ifndef HEDDLE_MODEL_SHARED_STORES_H
#define HEDDLE_MODEL_SHARED_STORES_H

#include "emu/counts.h"

/* Cycles of the whole GPU for a sector, measured on that H200: 1.9 and 2.3 (`racey_warps`, small and medium), 4.2
 * (`racey_global`, medium). At its small size `racey_global` had no measurable cost, so these numbers are no estimate. */
static const double shared_store_cycles = 1.9, shared_store_cycles_most = 4.2;

/* The number of stored sectors of the launch that at least two SMs store to, 8 times or more. The function examines those lines
 * of the trace that fit into a small table, and scales their number to all stores of the launch. */
double shared_stores(const struct emu_counts *c);

#endif
