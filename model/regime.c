#include "model/regime.h"

#include "model/launch_estimate.h"

enum launch_regime launch_regime_of(const struct launch_estimate *t)
{
    const double *part = t->part;
    if (part[TIMING_ATOMIC] >= 0.1 * t->cycles) return REGIME_contended;
    if (part[TIMING_IDLE] + part[TIMING_START] > 0.5 * t->cycles) return REGIME_imbalanced;
    enum timing_part most = TIMING_ISSUE;
    for (int p = 0; p < TIMING_IDLE; p++)
        if (part[p] > part[most]) most = (enum timing_part)p;
    return most == TIMING_L1 || most == TIMING_L2 || most == TIMING_DRAM ? REGIME_memory
                                                                         : REGIME_other;
}

const char *launch_regime_name(enum launch_regime r)
{
    static const char *const names[REGIMES] = {
#define REGIME(id, text) #id,
#include "model/regimes.def"
    };
    return names[r];
}

const char *launch_regime_text(enum launch_regime r)
{
    static const char *const texts[REGIMES] = {
#define REGIME(id, text) text,
#include "model/regimes.def"
    };
    return texts[r];
}
