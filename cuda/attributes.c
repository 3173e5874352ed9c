/* Attributes of the device: those of the chosen GPU (emu/gpu.h), as far as Heddle implements them.
 *
 * Limits are those of the GPU's compute capability. The size of memory is a setting of Heddle
 * (emu_config.memory). Features that the GPU has and Heddle lacks are reported as not supported. */
#include "cuda/driver.h"
#include "emu/gpu.h"

static int khz(double mhz)
{
    return (int)(mhz * 1000 + 0.5);
}

/* Of the bus, two transfers of data in each of its cycles. */
static double memory_mhz(const struct emu_gpu *g)
{
    return g->dram_mhz * g->dram_data_rate / 2;
}

static int single_to_double(const struct emu_gpu *g)
{
    return g->fp64_lanes > 0 ? (int)(g->fp32_lanes / g->fp64_lanes + 0.5) : 0;
}

struct device_limits limits_of(const struct emu_gpu *g)
{
    const int block = 48 << 10, own = (int)emu_gpu_shared_limit(g);
    return (struct device_limits){.major = (int)g->capability / 10,
                                  .minor = (int)g->capability % 10,
                                  .sms = (int)g->sms,
                                  .partitions = (int)g->schedulers,
                                  .warps = (int)g->warps,
                                  .blocks = (int)g->ctas,
                                  .registers = (int)g->registers,
                                  .register_unit = (int)g->register_unit,
                                  .shared = (int)g->shared,
                                  .shared_block = own < block ? own : block,
                                  .shared_optin = own,
                                  .shared_unit = (int)g->shared_unit,
                                  .shared_reserved = (int)g->shared_system};
}

/* Those that are the same for all. Sizes of textures and surfaces are CUDA's for 6.0 and later, and not
 * beyond what Heddle has. */
static const struct {
    int attribute, value;
} fixed[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT32_MAX},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_NUMA_ID, -1},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1},
    {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER, 1},
    /* textures: of one, two and three dimensions, of layers, of mipmaps, and cubes */
    {21, 131072},
    {22, 131072},
    {23, 65536},
    {24, 16384},
    {25, 16384},
    {26, 16384},
    {27, 32768},
    {28, 32768},
    {29, 2048},
    {42, 32768},
    {43, 2048},
    {45, 32768},
    {46, 32768},
    {47, 8192},
    {48, 8192},
    {49, 32768},
    {52, 32768},
    {53, 32768},
    {54, 2046},
    {69, 1 << 27},
    {70, 131072},
    {71, 65000},
    {72, 2097120},
    {73, 32768},
    {74, 32768},
    {77, 32768},
    /* surfaces likewise */
    {55, 32768},
    {56, 131072},
    {57, 65536},
    {58, 16384},
    {59, 16384},
    {60, 16384},
    {61, 32768},
    {62, 2048},
    {63, 32768},
    {64, 32768},
    {65, 2048},
    {66, 32768},
    {67, 32768},
    {68, 2046},
};

/* Those of the GPU; 0 for what is not there. */
static int own_attribute(CUdevice_attribute a)
{
    const struct device_limits *l = &driver.limits;
    const struct emu_gpu *g = driver.config.gpu;
    switch (a) {
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return l->shared_block;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return l->shared_optin;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return l->shared;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return l->shared_reserved;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return l->registers;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return khz(g->boost_mhz);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return khz(memory_mhz(g));
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return (int)g->dram_bus;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: return single_to_double(g);
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return (int)g->l2;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return l->sms;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return l->warps * 32;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return l->blocks;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return l->major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return l->minor;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return l->major >= 6;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return l->major >= 9;
    default: return 0;
    }
}

int device_attribute(CUdevice_attribute a)
{
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].attribute == (int)a) return fixed[i].value;
    return own_attribute(a);
}
