/* model/timing.h: the timing model: computes the cycles of a launch by executing its trace on a model of a GPU.
 *
 *     struct timing_result r;
 *     timing_run(report->counts->trace, &machine, slots, l1_bytes, &r);
 *     printf("%.0f cycles, %.0f of them waiting for DRAM\n", r.cycles, r.part[TIMING_DRAM]);
 *
 * The input is a trace (emu/trace.h): the basic blocks that each warp entered and the cache lines that it accessed.
 * The model computes the time of each instruction; it computes no values and reads no guest memory. (Timing from
 * functional traces: Khairy et al., "Accel-Sim", ISCA 2020.)
 *
 * Each warp has a scoreboard: the cycle from which each of its registers may be read. A warp's instruction can issue
 * when its registers are ready and its functional unit is free; the scheduler chooses one of these warps. The
 * results are ready after the latency of the instruction. The latency of a load depends on the level that has each of
 * its sectors (L1, L2, DRAM) and on queueing at each resource on the way: the SM's load/store unit, L1, the port of the
 * network, the L2 slice, the DRAM channel and its banks. (Intervals between stalls, and contention for shared
 * resources: Huang et al., "GPUMech", MICRO 2014; Lee et al., "GCoM", ISCA 2022.)
 *
 * CTAs are assigned to SMs round robin, as many to an SM as occupancy allows, the others when earlier ones end. If the
 * trace has only some of the SMs, these get their share of L2 and DRAM.
 *
 * Callers: model/launch_estimate.c for estimates, calibrate/fit_timing.c for fits. Memory orders add their mechanisms
 * through hooks (model/timing_order.h). No state is kept between runs.
 *
 * Invariant: times are doubles, and every step is an IEEE 754 addition, multiplication, division or comparison, so
 * that results are the same on every host.
 *
 * model/counter_model.h is the other model, which needs the counters of a launch and no trace. */
#ifndef HEDDLE_MODEL_TIMING_H
#define HEDDLE_MODEL_TIMING_H

#include "model/issue_bins.h"
#include "ptx/isa.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_trace;

enum timing_matrix {                    /* types of matrix instructions with rates of their own */
                     TIMING_MATRIX_F32, /* f16 and bf16, with results in f32 */
                     TIMING_MATRIX_F16, /* f16, with results in f16 */
                     TIMING_MATRIX_TF32,
                     TIMING_MATRIX_INT8,
                     TIMING_MATRIX_FP8,
                     TIMING_MATRIX_FP64,
                     TIMING_MATRICES
};

enum timing_unit { /* the functional units that instructions are issued to */
                   TIMING_UNIT_INT,
                   TIMING_UNIT_FP32,
                   TIMING_UNIT_FP64,
                   TIMING_UNIT_SFU,
                   TIMING_UNIT_TENSOR,
                   TIMING_UNIT_MEMORY,
                   TIMING_UNITS
};

/* What a scheduler spends a cycle on: TIMING_ISSUE, or the reason why the warp that issues next had to wait. */
enum timing_part {
    TIMING_ISSUE,
    TIMING_UNIT,    /* its functional unit was busy */
    TIMING_LATENCY, /* the warp waited for a result of arithmetic */
    TIMING_L1,
    TIMING_L2,
    TIMING_DRAM,
    TIMING_SHARED,
    TIMING_ATOMIC,
    TIMING_BARRIER,
    TIMING_FETCH, /* the warp waited for a miss of the instruction cache */
    TIMING_IDLE,  /* the scheduler has no warps, while other schedulers have */
    TIMING_START, /* from the launch, or the end of a CTA, to the next CTA's first instruction */
    /* only under orders (model/timing_order.h): */
    TIMING_LOG,     /* GPUDet: the warp waits for a search of its write log */
    TIMING_QUANTUM, /* GPUDet: the warp waits for the end of parallel mode */
    TIMING_COMMIT,  /* GPUDet: commit mode */
    TIMING_SERIAL,  /* GPUDet and DAB: atomics execute one after another */
    TIMING_TURN,    /* DAB: the warp waits for its turn to put a reduction into the buffer */
    TIMING_FULL,    /* DAB: the buffer is full; the warp waits until a flush begins */
    TIMING_FLUSH,   /* DAB: the flush */
    TIMING_PARTS
};

/* The L1 cache of an SM. It always caches .local memory, and global memory if `global` is set. */
struct timing_l1 {
    double latency;  /* latency of a load that hits, and of the lookup of any access, in cycles */
    double sectors;  /* bandwidth of hits, in sectors per cycle */
    double pending;  /* the most lines with outstanding misses of an SM's loads; 0: no limit */
    bool whole;      /* a miss fetches the whole line */
    bool banked;     /* a pass has a sector of each of four banks, by address; else any four */
    bool global;     /* global memory is cached */
    bool hashed;     /* a hash of the address chooses the set */
    bool random;     /* the replaced line of a set is any; else the least recently used one */
    bool fermi;      /* the hash is that of Fermi, if there are 32 or 64 sets */
    bool half;       /* sets have half of their ways, to model uneven use of the sets */
    bool local_back; /* write-back: stores to .local memory that hit do not go to L2 */
    uint32_t ways;
};

/* Atomics on global memory. L2 slices execute them in rounds; a round has one operation on each word of a sector. */
struct timing_atomics {
    double interval;    /* cycles that a slice needs for a round */
    double float_times; /* factor on that for a round on one word of a floating-point type */
    double lanes;       /* lanes of a sector that a slice executes per cycle; 0: all at once */
    double issue;       /* cycles that the SM's load unit needs for a round */
    double latency;     /* cycles beyond the latency of a load from L2 */
    double attempt;     /* cycles of a slice for a lane that fails to take a lock; 0: none */
    bool blocks;        /* a warp issues nothing until its atomic is complete */
};

struct timing_machine {              /* cycles are of the SM's clock */
    uint32_t sms, schedulers;        /* schedulers: of an SM */
    double latency[PTX_COST_COUNT];  /* cycles from issue until a dependent instruction can issue */
    double interval[PTX_COST_COUNT]; /* cycles until the unit accepts the next instruction */
    /* Factor on the interval of PTX_COST_TENSOR, for the same number of multiply-adds; 0: 1. */
    double matrix[TIMING_MATRICES];
    uint32_t units[TIMING_UNITS]; /* number of units of an SM */
    double int_fp32;     /* cycles that an INT or FP32 instruction keeps both units busy; 0: one */
    uint32_t issue;      /* instructions that a scheduler issues per cycle */
    bool scheduled;      /* instructions are in the order of an assembler (model/schedule.h) */
    bool sequences;      /* a warp waits for f32 divisions, roots, reciprocals with rounding */
    bool oldest;         /* schedulers choose the last warp, else the oldest; false: in turn */
    double branch;       /* cycles from a branch to the warp's next instruction */
    double next;         /* the fewest cycles between two instructions of a warp */
    double start;        /* cycles from the launch to the first instruction */
    double cta_interval; /* cycles between the first CTAs that an SM gets */
    double cta_start;    /* cycles from the end of a CTA to the first instruction of the next */
    double cta_launch;   /* cycles of the whole GPU for starting a CTA in place of another; 0: any
                          * number at once */
    double shared_latency, barrier_latency, constant_latency; /* cycles */
    /* For each address beyond the first that lanes access with one load of constants. No file has these. */
    struct timing_constants {
        double latency;  /* more cycles of the load; 0: none */
        double interval; /* cycles until the SM accepts the next such address */
    } constants;
    /* Cycles of fences of GPU scope (0: none), and of system scope (0: those of GPU scope). */
    double fence_latency, fence_system;
    struct timing_l1 l1;
    uint32_t fetch_lines; /* 128-byte lines of the instruction cache; 0: it never misses */
    double fetch_latency; /* cycles of a miss of the instruction cache */
    /* Network. */
    uint32_t port_sms;       /* number of SMs that share a port */
    double port_sectors;     /* sectors per cycle of a port, from L2 to the SMs */
    double port_requests;    /* per cycle, of a port to L2: loads, sectors of stores and atomics */
    double network_requests; /* requests per cycle of all ports together; 0: no limit */
    /* L2 and DRAM. */
    uint32_t slices, channels;
    uint32_t channel_lines; /* consecutive lines in one channel, a power of 2 */
    bool hashed;            /* a hash of the address chooses the channel; else round robin */
    double l2_latency;      /* cycles of a load that hits, without queueing */
    double l2_interval;     /* cycles that a slice needs for a sector */
    struct timing_atomics atomic;
    double dram_latency;            /* cycles beyond the latency of L2 */
    double dram_interval;           /* cycles that a channel needs for a sector */
    uint32_t dram_least;            /* the fewest sectors that a channel transfers */
    uint32_t banks;                 /* banks of a channel */
    double row_bytes, row_interval; /* size of a row; cycles of a bank to open another, 0: none */
    double hop;                     /* cycles of one hop of struct timing_hops, in each direction */
};

/* A distributed memory with SMs beside each partition (Archaeopteryx, NUMA): a request of a CTA to another partition makes
 * some hops more than a request to its own. Hops are added to the latency of L2, and requests do not queue at links between
 * partitions. The functions must return the same results while a launch is estimated. */
struct timing_hops {
    void *self;
    uint32_t (*partition)(void *self, uint64_t address); /* of global memory: below `partitions` */
    uint32_t (*between)(void *self, uint32_t from, uint32_t to); /* number of hops */
    uint32_t partitions;
    /* Placement of CTAs. true: beside the partition with most of the sectors in the CTA's trace, the lowest of several.
     * false: CTA c is beside partition c modulo `partitions`. */
    bool nearest;
    double
        cycles; /* cycles of a hop, of the network's clock; 0: hops are counted and take no time */
};
/* Sets the hops that runs of the timing model in this process count from now on. The caller keeps ownership. NULL: none, the
 * default. */
void timing_use_hops(const struct timing_hops *h);
const struct timing_hops *timing_hops_in_use(void);

/* Whether polling loads wait for the stores that end their loops: true if the trace has the whole launch. */
bool timing_follows_polls(const struct emu_trace *t);

struct timing_result {
    double cycles;                /* from the start of the first CTA to the end of the last one */
    double part[TIMING_PARTS];    /* cycles, mean over all schedulers; their sum is `cycles` */
    double by_unit[TIMING_UNITS]; /* TIMING_ISSUE and TIMING_UNIT of the unit's instructions */
    uint64_t instructions;        /* number of issued warp instructions */
    double chain; /* the longest time of a warp from its first to its last instruction, in cycles */
    bool locks;   /* warps took locks */
    bool polls;   /* there are polling loops, and each load waited for its store (timing_poll.c) */
    uint64_t quanta, flushes; /* numbers, under gpudet and dab */
    /* Hops of all sectors of global memory that warps accessed, and number of these sectors; 0: not counted. */
    double hops, hop_sectors;
    uint16_t issue_share[ISSUE_COLUMNS]; /* used issue slots over time (model/issue_bins.h) */
};

/* The part of the GPU's resources that the executed SMs get (model/sample.h). */
struct timing_share {
    /* The executed SMs stand for all SMs. false: they get resources in proportion to their number, and all other members
     * except `crowds` are unused. */
    bool stand_for_all;
    double l2;      /* their part of all requests to L2 and the network, 0 to 1 */
    uint32_t ports; /* number of whole ports */
    /* Numbers of slices and channels, if each had the load of the busiest one. */
    double slices, channels;
    /* SMs access the same lines: all slices are used for these, at a lower speed. */
    bool same_loads, same_writes;
    /* For each trace_atomic_bucket: number of atomics of the launch on its lines, divided by that of the executed SMs. All
     * of them queue in their slice. NULL: 1 for all. */
    const double *crowds;
};

/* Executes a trace. `slots`: CTAs that can be resident on an SM; `l1_bytes`: size of L1 without shared memory. */
void timing_run(const struct emu_trace *t, const struct timing_machine *m, uint32_t slots,
                uint32_t l1_bytes, struct timing_result *out);

#endif
