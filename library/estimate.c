/* heddle.h: estimates of cycles of a device's last launch. The model is model/launch_estimate.h. */
#include "heddle.h"

#include "emu/counts.h"
#include "emu/emu.h"
#include "library/device.h"
#include "model/launch_estimate.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)TIMING_PARTS < (int)HEDDLE_ESTIMATE_PARTS, "an estimate has too many parts");

bool heddle_device_estimate(struct heddle_device *d, size_t i, struct heddle_estimate *out)
{
    const struct emu_counts *c = device_launched(d)->counts;
    while (c && i--) c = c->next;
    struct launch_estimate t;
    *out = (struct heddle_estimate){.bound = ""};
    if (!c || !launch_estimate_of(c, &t)) return false;
    snprintf(out->kernel, sizeof out->kernel, "%s", t.kernel);
    snprintf(out->gpu, sizeof out->gpu, "%s", t.gpu);
    memcpy(out->grid, t.grid, sizeof out->grid);
    memcpy(out->block, t.block, sizeof out->block);
    out->ctas_per_sm = t.ctas;
    out->warps_per_sm = t.warps;
    out->cycles = t.cycles;
    out->seconds = t.seconds;
    out->low = t.low;
    out->high = t.high;
    for (int p = 0; p < TIMING_PARTS; p++)
        out->parts[p] = (struct heddle_estimate_part){timing_part_name((enum timing_part)p),
                                                      t.part[p]};
    out->bound = timing_part_name(t.bound);
    out->ipc = t.ipc;
    out->intensity = t.roofline.intensity;
    out->performance = t.roofline.performance;
    out->roof = t.roofline.roof;
    out->warp_instructions = t.warp_instructions;
    out->thread_instructions = t.thread_instructions;
    out->warnings = t.warnings;
    return true;
}

const char *heddle_estimate_warning(unsigned bit)
{
    const char *text = launch_warning_text(bit);
    return *text ? text : NULL;
}
