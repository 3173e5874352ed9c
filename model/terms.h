/* model/terms.h: what a launch asked of a GPU, phase by phase, as the model prices it.
 *
 *     struct launch_work w = {.gpu = g, .ctas = 320, ..., .phase_count = 1, .phases = &p};
 *     struct estimate e;
 *     model_estimate(&w, coefficients, &e);            // model/model.h
 *
 * Work comes from the emulator's counts (by SM, with warp clocks), or from a row of measured counters, which
 * knows only sums: then `sm_count` is 0 and the device's sums stand for SMs that share them evenly. */
#ifndef HEDDLE_MODEL_TERMS_H
#define HEDDLE_MODEL_TERMS_H

#include "emu/gpu.h"
#include "ptx/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Work of one SM, or of all together. Counts as in emu/counts.def; doubles, as sums of measured rows and
 * means are no whole numbers. Sectors have 32 bytes. */
struct work {
    double warp_instructions;    /* issued, all units */
    double unit[PTX_UNIT_COUNT]; /* of these, by unit; all 0: the mix is not known */
    double accesses;             /* global and local loads and stores, by warp */
    double l1_sectors, l1_hits;  /* loads */
    double l2_loads, l2_load_hits, l2_stores, l2_atomics; /* sectors that go on to L2 */
    double dram_reads, dram_writes; /* sectors; of an SM 0: only the device knows */
    double shared_passes;           /* over the banks, atomics included */
    double atomic_lanes;            /* lanes of atomics on global memory */
    double atomic_collisions; /* of these: to an address that an earlier lane of the warp had */
    double barriers;          /* arrivals by warp */
    double ctas, warps;       /* that ran */
    /* Of the warp clocks: cycles that a warp would need alone, with issue, units and latencies only. */
    double chain_sum;     /* of all warps together */
    double chain_max;     /* of the longest CTA, barriers joined */
    double chain_memory;  /* of chain_sum: waits for global and local memory */
    double chain_shared;  /*               for shared memory */
    double chain_atomic;  /*               for atomics */
    double chain_barrier; /*               at barriers */
};

enum phase_kind {                 /* what it is called in the breakdown */
                  PHASE_KERNEL,   /* native, random */
                  PHASE_PARALLEL, /* gpudet: a quantum's parallel mode; dab: between flushes */
                  PHASE_COMMIT,   /* gpudet: store buffers to memory */
                  PHASE_SERIAL,   /* gpudet: atomics, one warp after the other */
                  PHASE_FLUSH,    /* dab: buffers to memory */
                  PHASE_KINDS
};

/* What an order adds to a phase; sums over its `times`. */
struct order_work {
    double logged_stores;    /* lanes' stores put into a store buffer */
    double log_searches;     /* loads that had to look into one */
    double commit_entries;   /* entries (32-byte sectors) given to the Z-buffer or lock units */
    double commit_conflicts; /* of these: that had to wait for another entry of the same line */
    double zcache_misses;
    double serial_operations; /* atomics carried out one after the other */
    double synchronisations;  /* of all SMs */
    double buffer_stalls;     /* warps that waited for room in an atomic buffer */
    double flushed_entries, flush_packets, reorder_waits;
};

struct phase_work {
    enum phase_kind kind;
    uint64_t times; /* phases of that kind added up in this one */
    struct work total;
    size_t sm_count;       /* 0: only sums are known */
    const struct work *sm; /* by SM */
    double address_serial; /* most atomics on one address of global memory */
    struct order_work order;
};

struct launch_work {
    const struct emu_gpu *gpu;
    const char *name; /* the kernel's */
    uint64_t ctas;
    uint32_t threads; /* of a CTA */
    struct emu_occupancy occupancy;
    double active_warps; /* of an SM, mean while it is active; 0: from occupancy and grid */
    double active_share; /* of the time, that an SM is active, mean; 0: likewise */
    size_t phase_count;
    const struct phase_work *phases;
};

/* Parts of an estimate, additive: they sum to its cycles. */
enum part {
    PART_ISSUE,   /* scheduler slots */
    PART_UNITS,   /* a functional unit that is slower than issue */
    PART_LATENCY, /* dependent instructions of too few warps */
    PART_L1,
    PART_L2, /* with the network */
    PART_DRAM,
    PART_SHARED, /* passes over the banks */
    PART_ATOMIC, /* at the partitions, same addresses included */
    PART_BARRIER,
    PART_IMBALANCE, /* the slowest SM against the mean, the last wave */
    PART_LAUNCH,    /* start and drain */
    PART_COMMIT,    /* gpudet */
    PART_SERIAL,    /* gpudet */
    PART_LOG,       /* gpudet: the write log */
    PART_FLUSH,     /* dab */
    PART_STALL,     /* dab: full buffers */
    PART_SYNC,      /* of all SMs between phases */
    PARTS
};
const char *part_name(enum part p); /* "issue" */
const char *part_text(enum part p); /* what it is, for people */

#endif
