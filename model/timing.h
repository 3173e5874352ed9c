/* model/timing.h: the timing model: cycles of a launch, by executing its trace against the machine of a GPU.
 *
 *     struct timing_result r;
 *     timing_run(report->counts->trace, &machine, slots, l1_bytes, &r);
 *     printf("%.0f cycles, %.0f of them waiting for DRAM\n", r.cycles, r.part[TIMING_DRAM]);
 *
 * The input is a trace (emu/trace.h): the basic blocks that each warp entered and the lines that its accesses
 * touched. The model gives each instruction a time; it computes no values and reads no guest memory. (Timing from
 * functional traces: Khairy et al., "Accel-Sim", ISCA 2020.)
 *
 * Each warp has a scoreboard: the cycle from which each of its registers may be read. A warp's instruction can issue
 * when its registers are ready and its functional unit is free; of the warps that can, the scheduler chooses one. The
 * results are ready a latency later. The latency of a load depends on where each of its sectors was found (L1, L2,
 * DRAM) and on the load on the way there: the SM's load/store unit, L1, the port of the network, the L2 slice, the
 * DRAM channel and its banks. (Intervals between stalls, and contention for shared resources: Huang et al.,
 * "GPUMech", MICRO 2014; Lee et al., "GCoM", ISCA 2022.)
 *
 * CTAs are given to SMs round robin, as many to an SM as occupancy allows, the others as earlier ones end. If the
 * trace has some of the SMs, these get their share of L2 and DRAM.
 *
 * Callers: model/launch_estimate.c for estimates, calibrate/fit_timing.c for fits. Memory orders add their mechanisms
 * through hooks (model/timing_order.h). A run keeps no state behind it.
 *
 * Invariant: times are doubles, and every step is an IEEE 754 addition, multiplication, division or comparison, so
 * that results are the same on every host.
 *
 * The other model, which has counters of a launch and no trace, is model/counter_model.h. */
#ifndef HEDDLE_MODEL_TIMING_H
#define HEDDLE_MODEL_TIMING_H

#include "model/issue_bins.h"
#include "ptx/isa.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_trace;

enum timing_matrix { /* what matrix instructions multiply, where their rates differ */
                     TIMING_MATRIX_F32, /* f16, bf16; results in f32 */
                     TIMING_MATRIX_F16, /* f16; results in f16 */
                     TIMING_MATRIX_TF32,
                     TIMING_MATRIX_INT8,
                     TIMING_MATRIX_FP8,
                     TIMING_MATRIX_FP64,
                     TIMING_MATRICES
};

enum timing_unit { /* what instructions are issued to */
                   TIMING_UNIT_INT,
                   TIMING_UNIT_FP32,
                   TIMING_UNIT_FP64,
                   TIMING_UNIT_SFU,
                   TIMING_UNIT_TENSOR,
                   TIMING_UNIT_MEMORY,
                   TIMING_UNITS
};

/* What a scheduler does with a cycle: it issues, or else, the reason why the warp that issues next had to wait. */
enum timing_part {
    TIMING_ISSUE,
    TIMING_UNIT,    /* its functional unit was busy */
    TIMING_LATENCY, /* for a result of arithmetic */
    TIMING_L1,
    TIMING_L2,
    TIMING_DRAM,
    TIMING_SHARED,
    TIMING_ATOMIC,
    TIMING_BARRIER,
    TIMING_FETCH, /* for a miss of the instruction cache */
    TIMING_IDLE,  /* the scheduler has no warps, others still have */
    TIMING_START, /* from the end of a CTA, or the launch, to the first instruction */
    /* of orders (model/timing_order.h) */
    TIMING_LOG,     /* GPUDet: for a search of the warp's write log */
    TIMING_QUANTUM, /* GPUDet: for the end of parallel mode */
    TIMING_COMMIT,  /* GPUDet: commit mode */
    TIMING_SERIAL,  /* both: atomics that are executed one after another */
    TIMING_TURN,    /* DAB: for the warp's turn to put a reduction into the buffer */
    TIMING_FULL,    /* DAB: the buffer is full, until a flush begins */
    TIMING_FLUSH,   /* DAB: the flush */
    TIMING_PARTS
};

/* L1 of an SM. Global memory goes past it where `global` is not set; .local memory is always in it. */
struct timing_l1 {
    double latency;  /* of a load that hits, and of the way through it; cycles */
    double sectors;  /* a cycle, on hits */
    double pending;  /* lines that an SM's loads may wait for; 0: any number */
    bool whole;      /* lines are fetched whole */
    bool banked;     /* a pass has a sector of each of four banks, by address; else any four */
    bool global;     /* it holds global memory */
    bool hashed;     /* its sets are chosen by a hash */
    bool random;     /* any line of a set is replaced; else that which was used least recently */
    bool fermi;      /* by that of Fermi, if it has 32 or 64 sets */
    bool half;       /* sets have half of their ways: what an uneven use of the sets leaves */
    bool local_back; /* stores to .local memory that hit stay there */
    uint32_t ways;
};

/* Atomics on global memory, which slices of L2 carry out in rounds: of one operation on each of a sector's words. */
struct timing_atomics {
    double interval;    /* of a slice, by round; cycles */
    double float_times; /* times as long, a round on one word of a floating-point type */
    double lanes;       /* a cycle, of a sector, that a slice carries out; 0: all at once */
    double issue;       /* of the SM's load unit, by round; cycles */
    double latency;     /* beyond that of a load from L2; cycles */
    double attempt;     /* of a slice, for a lane that fails to take a lock; cycles; 0: none */
    bool blocks;        /* a warp issues nothing until its atomic is through */
};

struct timing_machine { /* cycles are of the SM's clock */
    uint32_t sms, schedulers;
    double latency[PTX_COST_COUNT];  /* from issue until a dependent instruction can issue */
    double interval[PTX_COST_COUNT]; /* until the unit takes the next */
    double matrix
        [TIMING_MATRICES]; /* times PTX_COST_TENSOR's interval, for as many multiply-adds; 0: 1 */
    uint32_t units[TIMING_UNITS]; /* of an SM */
    double int_fp32;     /* until an instruction of FP32 can follow one of INT, or the other way */
    uint32_t issue;      /* instructions that a scheduler issues in a cycle */
    bool scheduled;      /* instructions are as an assembler orders them (model/schedule.h) */
    bool sequences;      /* a warp waits for f32 divisions, roots, reciprocals that round */
    bool oldest;         /* the schedulers' choice: the last warp or the oldest; else in turn */
    double branch;       /* cycles after a branch until the warp's next instruction */
    double next;         /* at least, between two instructions of a warp */
    double start;        /* of a launch, until the first instruction */
    double cta_interval; /* between the CTAs that an SM is given at the beginning */
    double cta_start;    /* from the end of a CTA until the next one issues */
    double cta_launch;   /* of the whole GPU, for a CTA that is started in place of another; 0: any
                          * number at once */
    double shared_latency, barrier_latency, constant_latency;
    double fence_latency,
        fence_system; /* of the GPU's scope, of the system's; 0: none, as the GPU's */
    struct timing_l1 l1;
    uint32_t
        fetch_lines; /* of the instruction cache, of 128 bytes; 0: it has whatever is asked for */
    double fetch_latency; /* of an instruction that it lacks */
    /* network: of a port */
    uint32_t port_sms;       /* SMs that share one */
    double port_sectors;     /* a cycle, from L2 to SMs */
    double port_requests;    /* a cycle, the other way: loads, and sectors of stores and atomics */
    double network_requests; /* a cycle, of all ports together; 0: as many as they send */
    /* L2, DRAM */
    uint32_t slices, channels;
    uint32_t channel_lines; /* side by side, that are in one channel: a power of 2 */
    bool hashed;            /* channels are chosen by a hash of the address; else they take turns */
    double l2_latency;      /* of a load that hits, but for queues */
    double l2_interval;     /* of a slice, by sector */
    struct timing_atomics atomic;
    double dram_latency;            /* beyond that of L2 */
    double dram_interval;           /* of a channel, by sector */
    uint32_t dram_least;            /* sectors that a channel moves at least */
    uint32_t banks;                 /* of a channel */
    double row_bytes, row_interval; /* of a bank, when another row is opened; 0: free */
    double
        hop; /* cycles that a request takes for each of struct timing_hops, there and back each */
};

/* A memory that is distributed over partitions with SMs beside them (Archaeopteryx, NUMA): from a CTA to a line of another
 * partition it is some hops farther than to one of its own. The time of the way that each request takes anyway is that of
 * L2; hops are added to it, and requests do not queue at links between partitions. The functions' answers do not change while a
 * launch is estimated. */
struct timing_hops {
    void *self;
    uint32_t (*partition)(void *self, uint64_t address); /* of global memory: below `partitions` */
    uint32_t (*between)(void *self, uint32_t from, uint32_t to);
    uint32_t partitions;
    bool
        nearest; /* a CTA is beside the partition with most of the sectors that its trace has, the lowest
                   * of several; else CTA c beside partition c modulo their number */
    double
        cycles; /* of the network's clock, that a hop takes; 0: hops are counted, and take no time */
};
/* From now on runs of the timing model in this process count these hops. The caller keeps owning them. NULL: none, as at the
 * beginning. */
void timing_use_hops(const struct timing_hops *h);
const struct timing_hops *timing_hops_in_use(void);

/* Whether loads that poll wait for the stores that ended their loops: the trace has all of the launch. */
bool timing_follows_polls(const struct emu_trace *t);

struct timing_result {
    double cycles;                /* from the first CTA's start to the last one's end */
    double part[TIMING_PARTS];    /* mean of all schedulers; their sum is `cycles` */
    double by_unit[TIMING_UNITS]; /* TIMING_ISSUE and TIMING_UNIT, of those that go to it */
    uint64_t instructions;        /* warp instructions that were issued */
    double chain; /* the longest time of a warp from its first to its last instruction */
    bool locks;   /* warps took locks */
    bool
        polls; /* loops poll, and each load waited for the stores that ended its loop (model/timing_poll.c) */
    uint64_t quanta, flushes; /* of orders */
    double hops,
        hop_sectors; /* sectors of global memory that warps accessed, and their hops together; 0: none are counted */
    uint16_t issue_share[ISSUE_COLUMNS]; /* over time (model/issue_bins.h) */
};

/* What some SMs have of the GPU that stand for all of them (model/sample.h). */
struct timing_share {
    /* Else they have their part of everything, by their number, and all but `crowds` is unused. */
    bool stand_for_all;
    double l2;      /* the part that they ask of all that L2 and the network are asked */
    uint32_t ports; /* whole ones */
    /* So many, if each has as much to do as that one has that has most. */
    double slices, channels;
    /* SMs ask for the same lines: all slices are there for that, and slower. */
    bool same_loads, same_writes;
    /* By trace_atomic_bucket: how many times as many atomics are made on these lines as the SMs of the run make. All
     * of them wait for each other in their slice. NULL: as many. */
    const double *crowds;
};

/* `slots`: CTAs that can be resident on an SM; `l1_bytes`: what shared memory leaves of it. */
void timing_run(const struct emu_trace *t, const struct timing_machine *m, uint32_t slots,
                uint32_t l1_bytes, struct timing_result *out);

#endif
