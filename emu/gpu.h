/* emu/gpu.h: the configuration of a GPU: limits of its SMs, caches, units, latencies, clocks and
 * bandwidths.
 *
 * The configuration does not change the results of a kernel. It determines the most shared memory of a CTA, how many
 * CTAs an SM holds (occupancy, waves), the geometry of the caches (emu/measure/cache.h), and the input of cycle
 * estimates. emu/gpu.def defines each number. The known GPUs are the files model/gpus/NAME.yaml, with a source for
 * every value; the build compiles them into a table. */
#ifndef HEDDLE_EMU_GPU_H
#define HEDDLE_EMU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Transfers of caches and DRAM are counted in sectors of lines, as NVIDIA's profilers count them (Nsight Compute,
 * Kernel Profiling Guide, "Memory Chart"). */
enum { EMU_SECTOR_BYTES = 32, EMU_LINE_BYTES = 128 };

struct emu_gpu {
    const char *name, *title; /* "v100", "Tesla V100 SXM2" */
#define COUNT(section, key, field, least, most, unit, text) uint32_t field;
#define RATE(section, key, field, least, most, unit, text) double field;
#define FLAG(section, key, field, text) uint32_t field;
#include "emu/gpu.def"
};

/* Whether a hash of the address chooses the DRAM channel. false: consecutive lines are in consecutive channels. A hash
 * is assumed from compute capability 3.0 on. */
static inline bool emu_gpu_hashes_channels(const struct emu_gpu *g)
{
    return g->capability >= 30;
}

/* The GPU of that name; NULL: none. NULL as name: the default, "v100". */
const struct emu_gpu *emu_gpu_find(const char *name);
size_t emu_gpu_count(void);
const struct emu_gpu *emu_gpu_at(size_t i);
const char *emu_gpu_text(size_t i); /* the text of its file: YAML with the source of each value */

/* Made by tools/compile_gpus.c from the files in model/. */
extern const struct emu_gpu emu_gpus[];
extern const size_t emu_gpu_total;
extern const char *const emu_gpu_texts[];

struct emu_register_file {
    uint32_t capability; /* as emu_gpu.capability */
    uint32_t registers, parts, unit;
};
/* How many CTAs of `warps` warps with `registers` registers for each thread fit into the register file. The file is
 * divided into parts, one for each scheduler; the registers of a warp are in one part, allocated in units. On compute
 * capability 1.x registers are allocated to CTAs, with an even number of warps. (CUDA Occupancy Calculator;
 * tests/programs/occupancy.cu compares with cuda_occupancy.h.) */
uint32_t emu_register_ctas(const struct emu_register_file *f, uint32_t warps, uint32_t registers);

enum emu_limit { EMU_LIMIT_CTAS, EMU_LIMIT_WARPS, EMU_LIMIT_REGISTERS, EMU_LIMIT_SHARED };
const char *emu_limit_name(enum emu_limit limit); /* "registers" */

struct emu_occupancy {
    uint32_t ctas, warps; /* resident on one SM; 0: not even one CTA fits */
    uint32_t registers;   /* registers of a thread */
    enum emu_limit limit; /* the resource that limits the number of CTAs */
};
/* The most shared memory of a CTA in bytes, static and dynamic together. Launches, the layout of
 * shared variables and the CUDA attributes take the limit from here. At most MEM_MAX_SHARED, which
 * no known GPU exceeds. */
uint32_t emu_gpu_shared_limit(const struct emu_gpu *g);

/* The occupancy for CTAs of `threads` threads with `registers` registers for each thread and `shared` bytes of shared
 * memory for each CTA. */
struct emu_occupancy emu_occupancy(const struct emu_gpu *g, uint32_t threads, uint32_t registers,
                                   uint32_t shared);

#endif
