#include "model/counter_fit.h"

#include "model/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *counter_feature_name(enum counter_feature f)
{
    static const char *const names[COUNTER_FEATURES] = {
#define FEATURE(id, text, value) #id,
#include "model/counter_features.def"
    };
    return names[f];
}

const char *counter_feature_text(enum counter_feature f)
{
    static const char *const texts[COUNTER_FEATURES] = {
#define FEATURE(id, text, value) text,
#include "model/counter_features.def"
    };
    return texts[f];
}

double counter_feature_of(enum counter_feature f, const struct emu_gpu *g, const struct counters *c)
{
    const double n = fmax(1, c->instructions);
    const double values[COUNTER_FEATURES] = {
#define FEATURE(id, text, value) value,
#include "model/counter_features.def"
    };
    return values[f];
}

static unsigned difference(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

const struct counter_fit *counter_fit_for(const struct emu_gpu *g, bool *borrowed)
{
    const struct counter_fit *best = NULL;
    unsigned least = 0;
    for (size_t i = 0; i < counter_fit_count; i++) {
        const struct counter_fit *k = &counter_fits[i];
        const struct emu_gpu *of = emu_gpu_find(k->gpu);
        if (!of) continue;
        unsigned distance = strcmp(k->gpu, g->name) == 0
                                ? 0
                                : 1 + 4096 * difference(of->capability, g->capability) +
                                      difference(of->sms, g->sms);
        if (!best || distance < least) best = k, least = distance;
    }
    *borrowed = least > 0;
    return best;
}

void counter_model_estimate(const struct emu_gpu *g, const struct counter_fit *k, bool borrowed,
                            const struct counters *c, struct counter_estimate *e)
{
    *e = (struct counter_estimate){0};
    e->cycles = counter_model_cycles(g, c, k->weight, &e->terms);
    for (int f = 0; f < COUNTER_FEATURES; f++) {
        const double value = counter_feature_of((enum counter_feature)f, g, c);
        if (value < 0.8 * k->least[f] || value > 1.25 * k->most[f]) e->outside |= 1u << f;
    }
    const double wider = borrowed || e->outside ? 2 : 1;
    e->seconds = config_seconds(g, e->cycles);
    e->low = e->cycles * pow(fmin(1, k->low), wider);
    e->high = e->cycles * pow(fmax(1, k->high), wider);
    e->roofline = roofline_of(g, c->instructions, 32 * c->dram_sectors, e->cycles);
}
