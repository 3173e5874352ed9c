#include "model/roofline.h"

#include "model/config.h"

struct roofline roofline_of(const struct emu_gpu *g, double warp_instructions, double dram_bytes,
                            double cycles)
{
    const double issue = (double)g->schedulers * g->issue * g->sms,
                 bandwidth = config_dram_rate(g) * 32, /* bytes a cycle: 32 of a sector */
        intensity = dram_bytes > 0 ? warp_instructions / dram_bytes : 0;
    const bool dram_bound = dram_bytes > 0 && bandwidth * intensity < issue;
    return (struct roofline){.intensity = intensity,
                             .performance = warp_instructions / cycles,
                             .roof = dram_bound ? bandwidth * intensity : issue,
                             .dram_bound = dram_bound};
}
