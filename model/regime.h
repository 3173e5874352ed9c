/* model/regime.h: what kind of launch an estimate is of, as far as it says how good the estimate is.
 *
 *     const enum launch_regime r = launch_regime_of(&estimate);
 *     low = estimate.cycles * fit->low[r];
 *
 * Errors of the timing model differ between kinds of launches: queues of atomics and imbalance are modelled worse than
 * chains of arithmetic. Intervals are those of the errors of the launch's own kind (calibrate/conformal.h). */
#ifndef HEDDLE_MODEL_REGIME_H
#define HEDDLE_MODEL_REGIME_H

struct launch_estimate;

enum launch_regime {
#define REGIME(id, text) REGIME_##id,
#include "model/regimes.def"
    REGIMES
};

/* By the parts of its cycles. */
enum launch_regime launch_regime_of(const struct launch_estimate *t);

const char *launch_regime_name(enum launch_regime r); /* "memory" */
const char *launch_regime_text(enum launch_regime r);

#endif
