/* model/regime.h: classifies launches by the expected error of their estimates.
 *
 *     const enum launch_regime r = launch_regime_of(&estimate);
 *     low = estimate.cycles * fit->low[r];
 *
 * Errors of the timing model differ between kinds of launches: queueing of atomics and imbalance are modelled less well
 * than chains of arithmetic. The interval of a launch is from the errors of its own regime (calibrate/conformal.h). */
#ifndef HEDDLE_MODEL_REGIME_H
#define HEDDLE_MODEL_REGIME_H

struct launch_estimate;

enum launch_regime {
#define REGIME(id, text) REGIME_##id,
#include "model/regimes.def"
    REGIMES
};

/* The regime of a launch, by the parts of its cycles. */
enum launch_regime launch_regime_of(const struct launch_estimate *t);

const char *launch_regime_name(enum launch_regime r); /* "memory" */
const char *launch_regime_text(enum launch_regime r);

#endif
