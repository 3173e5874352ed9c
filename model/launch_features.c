#include "model/launch_features.h"

#include "emu/counts.h"

const char *launch_feature_name(enum launch_feature f)
{
    static const char *const names[] = {
#define FEATURE(id, text, value) #id,
#include "model/launch_features.def"
    };
    return names[f];
}

const char *launch_feature_text(enum launch_feature f)
{
    static const char *const texts[] = {
#define FEATURE(id, text, value) text,
#include "model/launch_features.def"
    };
    return texts[f];
}

double launch_feature_of(enum launch_feature f, const struct emu_events *e)
{
    const double n = e->warp_instructions ? (double)e->warp_instructions : 1;
    const double values[] = {
#define FEATURE(id, text, value) value,
#include "model/launch_features.def"
    };
    return values[f];
}
