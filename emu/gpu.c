/* The known GPUs, and how many CTAs an SM of them holds. */
#include "emu/gpu.h"

#include <string.h>

size_t emu_gpu_count(void)
{
    return emu_gpu_total;
}

const struct emu_gpu *emu_gpu_at(size_t i)
{
    return &emu_gpus[i];
}

const char *emu_gpu_text(size_t i)
{
    return emu_gpu_texts[i];
}

const struct emu_gpu *emu_gpu_find(const char *name)
{
    if (!name) name = "v100";
    for (size_t i = 0; i < emu_gpu_count(); i++)
        if (strcmp(emu_gpus[i].name, name) == 0) return &emu_gpus[i];
    return NULL;
}

const char *emu_limit_name(enum emu_limit limit)
{
    static const char *const names[] = {"CTAs", "warps", "registers", "shared memory"};
    return names[limit];
}

static uint32_t up(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

struct emu_occupancy emu_occupancy(const struct emu_gpu *g, uint32_t threads, uint32_t registers,
                                   uint32_t shared)
{
    const uint32_t warps = (threads + 31) / 32;
    const uint32_t of_cta = warps * up((registers ? registers : 1) * 32, g->register_unit);
    const uint32_t bytes = up(shared + g->shared_system, g->shared_unit);
    const uint32_t fit[] = {[EMU_LIMIT_CTAS] = g->ctas,
                            [EMU_LIMIT_WARPS] = g->warps / warps,
                            [EMU_LIMIT_REGISTERS] = g->registers / of_cta,
                            [EMU_LIMIT_SHARED] = bytes ? g->shared / bytes : g->ctas};
    struct emu_occupancy o = {.ctas = fit[0], .registers = registers, .limit = EMU_LIMIT_CTAS};
    for (uint32_t i = 1; i < sizeof fit / sizeof *fit; i++)
        if (fit[i] < o.ctas) {
            o.ctas = fit[i];
            o.limit = (enum emu_limit)i;
        }
    o.warps = o.ctas * warps;
    return o;
}
