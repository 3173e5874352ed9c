/* model/shared_stores.h: stores of several SMs to the same sectors of memory, without atomics.
 *
 * On an H200 they take much longer than stores to sectors of one SM's own, and the timing model does not know why: 128 warps
 * that load and store words of the same 8 KB (`racey_warps`) took 12 times their estimate (calibrate/data/h200.csv,
 * h200-counts.csv). */
#ifndef HEDDLE_MODEL_SHARED_STORES_H
#define HEDDLE_MODEL_SHARED_STORES_H

#include "emu/counts.h"

/* Cycles of the whole GPU for a sector, measured on that H200: 1.9 and 2.3 (`racey_warps`, small and medium), 4.2
 * (`racey_global`, medium). `racey_global` at its small size took none that could be seen, so these are no estimate. */
static const double shared_store_cycles = 1.9, shared_store_cycles_most = 4.2;

/* Sectors that the launch stores, of those that at least two SMs store to, 8 times or more: of the trace's lines those that fit into
 * a small table, in proportion to all that the launch stores. */
double shared_stores(const struct emu_counts *c);

#endif
