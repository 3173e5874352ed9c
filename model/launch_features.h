/* model/launch_features.h: what launches are like, in numbers that do not depend on how large they are. */
#ifndef HEDDLE_MODEL_LAUNCH_FEATURES_H
#define HEDDLE_MODEL_LAUNCH_FEATURES_H

struct emu_events;

enum launch_feature {
#define FEATURE(id, text, value) LAUNCH_FEATURE_##id,
#include "model/launch_features.def"
    LAUNCH_FEATURES
};
double launch_feature_of(enum launch_feature f, const struct emu_events *e);

#endif
