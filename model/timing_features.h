/* model/timing_features.h: features of launches: numbers that do not depend on the size of a launch. */
#ifndef HEDDLE_MODEL_TIMING_FEATURES_H
#define HEDDLE_MODEL_TIMING_FEATURES_H

struct emu_events;

enum timing_feature {
#define FEATURE(id, text, value) TIMING_FEATURE_##id,
#include "model/timing_features.def"
    TIMING_FEATURES
};
double timing_feature_of(enum timing_feature f, const struct emu_events *e);

#endif
