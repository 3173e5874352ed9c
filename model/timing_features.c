#include "model/timing_features.h"

#include "emu/counts.h"

double timing_feature_of(enum timing_feature f, const struct emu_events *e)
{
    const double n = e->warp_instructions ? (double)e->warp_instructions : 1;
    const double values[] = {
#define FEATURE(id, text, value) value,
#include "model/timing_features.def"
    };
    return values[f];
}
