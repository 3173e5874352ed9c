/* A machine from a GPU's configuration alone.
 *
 * The configuration (emu/gpu.def) has lanes per cycle, latencies from issue to a dependent instruction, sizes and
 * bandwidths, each with a source in model/gpus/. Numbers that are derived here without a source are marked
 * "Assumed". */
#include "model/machine.h"

/* Cycles of a scheduler's part of a unit for one warp instruction of 32 lanes: 32 / (lanes of the SM / schedulers),
 * and not less than the issue rate. A unit that does not exist, 0 lanes, has one lane (assumed). */
static double interval(const struct emu_gpu *g, double lanes)
{
    const double least = 1.0 / g->issue;
    if (lanes <= 0) return 32;
    const double cycles = 32.0 * g->schedulers / lanes;
    return cycles > least ? cycles : least;
}

static void set(struct timing_machine *m, const struct emu_gpu *g, int from, int to, double latency,
                double lanes)
{
    for (int c = from; c <= to; c++) {
        m->latency[c] = latency > 0 ? latency : g->int_latency;
        m->interval[c] = interval(g, lanes);
    }
}

static double first(double a, double b, double c)
{
    return a > 0 ? a : b > 0 ? b : c;
}

/* A type that the tensor cores lack goes at the rate of the type that can replace it: the next wider one of the
 * tensor cores, or the f32 or f64 units. Rates are multiply-adds per cycle and SM; the tensor interval is for
 * m16n8k16, 2048 of them. */
static void set_matrices(struct timing_machine *m, const struct emu_gpu *g)
{
    const double f32 = first(g->tensor_lanes, g->fp32_lanes, 0),
                 f16 = first(g->tensor_f16_lanes, f32, 0),
                 rate[TIMING_MATRICES] = {
                     [TIMING_MATRIX_F32] = f32,
                     [TIMING_MATRIX_F16] = f16,
                     [TIMING_MATRIX_TF32] = first(g->tensor_tf32_lanes, g->tensor_lanes / 2, f32),
                     [TIMING_MATRIX_INT8] = first(g->tensor_int8_lanes, f16, 0),
                     [TIMING_MATRIX_FP8] = first(g->tensor_fp8_lanes, f32, 0),
                     [TIMING_MATRIX_FP64] = first(g->tensor_fp64_lanes, g->fp64_lanes, f32 / 32)};
    for (int k = 0; k < TIMING_MATRICES; k++) m->matrix[k] = f32 / rate[k];
    m->latency[PTX_COST_TENSOR] = first(g->tensor_latency, g->int_latency, 0);
    m->interval[PTX_COST_TENSOR] = 2048.0 * g->schedulers / f32;
}

static void set_classes(struct timing_machine *m, const struct emu_gpu *g)
{
    set(m, g, 0, PTX_COST_COUNT - 1, g->int_latency, g->int_lanes);
    _Static_assert(PTX_COST_IMAD == PTX_COST_IMUL + 1 && PTX_COST_FMAD == PTX_COST_FADD + 3 &&
                       PTX_COST_DMAD == PTX_COST_DADD + 3,
                   "ptx/costs.def: add, maximum, multiply, multiply-add follow each other");
    set(m, g, PTX_COST_IMUL, PTX_COST_IMAD, g->mul_latency, g->mul_lanes);
    set(m, g, PTX_COST_IDIV, PTX_COST_IDIV, g->divide_latency, g->divide_lanes);
    set(m, g, PTX_COST_SHUFFLE, PTX_COST_SHUFFLE, g->shuffle_latency, g->shuffle_lanes);
    set(m, g, PTX_COST_FADD, PTX_COST_FMAD, g->fp32_latency, g->fp32_lanes);
    /* A division is a reciprocal and a few steps of refinement: about 8 for f32 (assumed). On an H200 an f64 division takes
     * 15.1 times as long as an addition, a square root 11.3 times, and the rates are 13.0 and 13.7 times lower than that of
     * additions (calibrate/data/h200-cycles.csv); both are one class. Other GPUs have the same proportions (assumed). */
    set(m, g, PTX_COST_FDIV, PTX_COST_FDIV, g->sfu_latency + 8 * g->fp32_latency, g->sfu_lanes);
    set(m, g, PTX_COST_DADD, PTX_COST_DMAD, g->fp64_latency, g->fp64_lanes);
    set(m, g, PTX_COST_DDIV, PTX_COST_DDIV, 13.1 * g->fp64_latency, g->fp64_lanes / 13.3);
    const bool half = g->half_lanes > 0;
    set(m, g, PTX_COST_HALF, PTX_COST_HALF, half ? g->half_latency : g->fp32_latency,
        half ? g->half_lanes : g->fp32_lanes);
    set(m, g, PTX_COST_SFU, PTX_COST_SFU, g->sfu_latency, g->sfu_lanes);
    set(m, g, PTX_COST_FDIV_RN, PTX_COST_FDIV_RN,
        first(g->divide_f32_latency, m->latency[PTX_COST_FDIV], 0),
        first(g->divide_f32_lanes, g->sfu_lanes, 0));
    set(m, g, PTX_COST_FSQRT_RN, PTX_COST_FSQRT_RN, first(g->sqrt_f32_latency, g->sfu_latency, 0),
        first(g->sqrt_f32_lanes, g->sfu_lanes, 0));
    set(m, g, PTX_COST_FRCP_RN, PTX_COST_FRCP_RN, first(g->rcp_f32_latency, g->sfu_latency, 0),
        first(g->rcp_f32_lanes, g->sfu_lanes, 0));
    set(m, g, PTX_COST_CONVERT, PTX_COST_CONVERT, g->convert_latency, g->convert_lanes);
    set_matrices(m, g);
    set(m, g, PTX_COST_MEMORY, PTX_COST_MEMORY, g->int_latency, g->memory_lanes);
    for (int u = 0; u < TIMING_UNITS; u++) m->units[u] = g->schedulers;
    m->units[TIMING_UNIT_MEMORY] = 1;
    m->interval[PTX_COST_MEMORY] /= g->schedulers;
    if (m->interval[PTX_COST_MEMORY] < 1) m->interval[PTX_COST_MEMORY] = 1;
}

static double at_least(double x, double least)
{
    return x > least ? x : least;
}

/* Sectors that an L2 miss moves: a sector of L2, and not less than one access of DRAM (dram.access). */
static uint32_t dram_least(const struct emu_gpu *g)
{
    const uint32_t sector = g->l2 ? g->l2_sector : 0,
                   bytes = sector > g->dram_access ? sector : g->dram_access;
    return bytes < 64 ? 1 : bytes < 128 ? 2 : 4;
}
/* Microseconds of a launch in which no SM is active: on a Quadro GV100 at 1132 MHz, half of 197 launches had 1850 to
 * 2290 cycles more than their SMs were active, 2012 in the median (calibrate/data/gv100.csv: cycles, share). */
static const double launch_us = 2012 / 1132.0;

/* Cycles for which the GPU is busy with the start of a CTA: of one that is resident from the beginning, and of one
 * that takes the place of another. On an H200 launches of 1,000 to 4,000 CTAs, all of which fit, keep an SM active for 0.45
 * cycles more for each of them (`many_tiny_blocks`); 65,536 CTAs take 1.21 to 1.23 each, whether they are empty, of 32 or 256
 * threads, or do little (calibrate/data/h200.csv, `suite:sum_tree`, `suite:saxpy`; h200-cycles.csv, `launch`). The latter is
 * assumed of other GPUs, too. */
static const double fill_cycles = 0.45, refill_cycles = 1.21;
/* 540,672 atomics on one word: f32, f16x2 and f64 take 955 us, integers 400 (h200-cycles.csv, `same_grid`). */
static const double float_times = 2.4;
/* Times as long as a fence of the GPU's scope, a fence of the system's takes on an H200 (calibrate/data/h200-cycles.csv: 982
 * cycles, fence_sys, and 266, fence_gpu). Assumed of others whose fences take time. */
static const double system_fence_times = 3.7;

/* Of each address beyond the first that lanes of one load of constants name: a warp's load of one takes 34.5 cycles on an H200,
 * of 32 it takes 375.6 (`constant` of h200-cycles.csv). Four and eight warps of an SM that load 32 together take 290 and 568
 * cycles for each of their loads (`constant_memory` of h200.csv): 2.25 for each address. */
static const struct timing_constants constants = {(375.6 - 34.5) / 31, 2.25};

/* On an H200 1 KB of words is in two slices, 2 KB in four: random atomics on 256 words (`histogram_global`) take 1.45 cycles
 * for each sector of each warp's, halved, those on 512 words (`order_exchange`) a quarter (calibrate/data/h200.csv). Before:
 * assumed. */

void machine_configured(const struct emu_gpu *g, struct timing_machine *m)
{
    const double l2_cycle = g->core_mhz / g->l2_mhz,
                 network = g->sm_bandwidth / 32 * g->interconnect_mhz / g->core_mhz;
    const uint32_t channels = g->dram_channels < g->l2_slices ? g->dram_channels : g->l2_slices,
                   slices = g->l2_slices / channels * channels; /* as many for each channel */
    *m = (struct timing_machine){
        .sms = g->sms,
        .schedulers = g->schedulers,
        .oldest = g->capability >=
                  20, /* greedy then oldest: Rogers et al., "Cache-Conscious Wavefront
                                        * Scheduling", MICRO 2012; assumed: round robin before */
        /* Assumed: their slow paths are branches, over which an assembler moves nothing. */
        .sequences = g->divide_f32_latency > 0,
        .branch = g->int_latency,
        .next = 1.0 / g->issue,
        .issue = g->issue,
        .int_fp32 = interval(g, g->int_fp32_lanes),
        .start = launch_us * g->core_mhz,
        .cta_interval = g->capability >= 90 ? fill_cycles * g->sms : 1, /* before: assumed */
        .cta_launch = refill_cycles,
        .cta_start = 10, /* assumed; fits have 8 to 10 */
        .scheduled = true,
        .shared_latency = g->shared_latency,
        .barrier_latency = g->barrier_latency,
        .constant_latency = g->constant_latency,
        .constants = g->capability >= 90 ? constants
                                         : (struct timing_constants){0}, /* before: not known */
        .fence_latency = g->fence_latency,
        .fence_system = g->fence_latency * system_fence_times,
        .l1.latency = g->l1_latency,
        .l1.sectors = at_least(g->l1_bandwidth / 32, 0.25),
        .l1.whole = g->l1_sector == g->l1_line,
        .l1.banked = g->capability >= 70, /* `l1_32` of h200-cycles.csv; of others: assumed */
        .l1.global = g->l1_global,
        .l1.hashed = true,
        .l1.random = g->capability >= 70, /* not the least recently used one: Jia et al., 2018 */
        .l1.fermi = g->capability / 10 == 2,
        .l1.ways = g->l1_ways ? g->l1_ways : 16,
        .port_sms = 1,
        .port_sectors = at_least(network, 0.01),
        .port_requests = at_least(network, 0.01),
        .slices = slices,
        .channels = channels,
        .channel_lines = g->capability >= 90 ? 8 : 2,
        .hashed = emu_gpu_hashes_channels(g),
        .l2_latency = at_least(g->l2_latency - g->l1_latency, 1),
        .l2_interval = 32 / g->l2_bandwidth * l2_cycle * slices / g->l2_slices,
        .atomic.interval = at_least(g->l2_atomic_conflict, 1) * l2_cycle,
        .atomic.lanes = g->l2_atomics / l2_cycle,
        .atomic.float_times = g->capability >= 90 ? float_times : 1, /* before: assumed */
        .atomic.attempt = g->l2_attempt * l2_cycle,
        .atomic.issue = 1,
        .atomic.latency = at_least(g->atomic_latency - g->l2_latency, 0),
        .dram_latency = at_least(g->dram_latency - g->l2_latency, 1),
        .dram_interval = 32.0 * channels * g->core_mhz / (g->dram_bandwidth * 1e3),
        .dram_least = dram_least(g),
        .banks = g->dram_banks < 64 ? g->dram_banks : 64,
        .row_bytes = 2048, /* the page of GDDR5 and of an HBM2 legacy channel: JESD212, JESD235 */
        .row_interval = g->dram_row_cycle * g->core_mhz / g->dram_mhz};
    set_classes(m, g);
}

/* Volta and later give shared memory one of a few sizes (CUDA C++ Programming Guide, "Shared Memory" of compute
 * capabilities 7.x to 9.0). Before, 48 KB of shared memory are the default. */
uint32_t machine_l1_bytes(const struct emu_gpu *g, uint32_t ctas, uint32_t shared)
{
    static const uint32_t sizes[] = {0, 8, 16, 32, 64, 96, 100, 132, 164, 196, 228};
    if (!g->unified) return g->l1;
    if (g->capability < 70) return g->l1 - g->shared_cta;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (ctas * shared <= sizes[i] << 10)
            return g->l1 > sizes[i] << 10 ? g->l1 - (sizes[i] << 10) : 0;
    return 0;
}
