/* The known GPUs, the limits of a CTA, and how many CTAs an SM holds. */
#include "emu/gpu.h"

#include "emu/memory.h"

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

uint32_t emu_register_ctas(const struct emu_register_file *f, uint32_t warps, uint32_t registers)
{
    const uint32_t of_warp = up(32 * (registers ? registers : 1), f->unit);
    if (f->capability < 20)
        return f->registers / up(up(warps, 2) * 32 * (registers ? registers : 1), f->unit);
    const uint32_t ctas = f->registers / f->parts / of_warp * f->parts / warps;
    /* What does not run on other GPUs of Pascal does not on 6.0 either, where a part has twice the registers. */
    return f->capability == 60 && f->registers / 4 / of_warp * 4 < warps ? 0 : ctas;
}

uint32_t emu_gpu_shared_limit(const struct emu_gpu *g)
{
    return g->shared_cta < MEM_MAX_SHARED ? g->shared_cta : MEM_MAX_SHARED;
}

struct emu_occupancy emu_occupancy(const struct emu_gpu *g, uint32_t threads, uint32_t registers,
                                   uint32_t shared)
{
    const uint32_t warps = (threads + 31) / 32;
    const struct emu_register_file file = {g->capability, g->registers, g->schedulers,
                                           g->register_unit};
    const uint32_t bytes = up(shared + g->shared_system, g->shared_unit);
    const uint32_t fit[] = {[EMU_LIMIT_CTAS] = g->ctas,
                            [EMU_LIMIT_WARPS] = g->warps / warps,
                            [EMU_LIMIT_REGISTERS] = emu_register_ctas(&file, warps, registers),
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
