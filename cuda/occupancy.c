/* Each block's shared memory is rounded up, with what the system takes of it. (CUDA Occupancy Calculator;
 * tests/programs/occupancy.cu asks cuda_occupancy.h.) */
#include "cuda/occupancy.h"

#include "cuda/driver.h"
#include "emu/gpu.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int by_registers(const struct device_limits *l, int warps, int registers)
{
    const struct emu_register_file f = {(uint32_t)(10 * l->major + l->minor),
                                        (uint32_t)l->registers, (uint32_t)l->partitions,
                                        (uint32_t)l->register_unit};
    return (int)emu_register_ctas(&f, (uint32_t)warps, (uint32_t)registers);
}

/* What there is of shared memory when so much of it is wanted: L1 has the rest. From 7.0 on there are these sizes (CUDA
 * programming guide, of each compute capability). */
static int capacity(const struct device_limits *l, size_t wanted)
{
    static const int sizes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    const int first = l->major == 7 && l->minor == 5 ? 3 : 0;
    for (int i = first; i < (int)(sizeof sizes / sizeof *sizes); i++)
        if (sizes[i] << 10 < l->shared && (size_t)sizes[i] << 10 >= wanted) return sizes[i] << 10;
    return l->shared;
}

static int shared_of(const struct device_limits *l, int carveout)
{
    return l->major < 7 || carveout < 0 ? l->shared
                                        : capacity(l, (size_t)carveout * (size_t)l->shared / 100);
}

static int by_shared(const struct device_limits *l, size_t bytes, int carveout)
{
    const size_t unit = (size_t)l->shared_unit,
                 each = (bytes + (size_t)l->shared_reserved + unit - 1) / unit * unit;
    if (!each) return l->blocks;
    size_t all = (size_t)shared_of(l, carveout);
    if (each > all) all = (size_t)capacity(l, each); /* one block has what it needs */
    return all / each > (size_t)l->blocks ? l->blocks : (int)(all / each);
}

int occupancy_blocks(const struct device_limits *l, const struct occupancy_use *u)
{
    const int warps = (u->threads + 31) / 32;
    int n = least(l->warps / warps, l->blocks);
    n = least(n, by_registers(l, warps, u->registers));
    return least(n, by_shared(l, u->shared, u->carveout));
}

long occupancy_shared(const struct device_limits *l, int blocks, int carveout)
{
    int all = blocks == 1 ? l->shared : shared_of(l, carveout);
    if (!all) all = capacity(l, 1);
    return (long)(all / blocks / l->shared_unit * l->shared_unit - l->shared_reserved);
}
