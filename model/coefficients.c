#include "model/coefficients.h"

#include "model/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *feature_name(enum feature f)
{
    static const char *const names[FEATURES] = {
#define FEATURE(id, text, value) #id,
#include "model/counter_features.def"
    };
    return names[f];
}

const char *feature_text(enum feature f)
{
    static const char *const texts[FEATURES] = {
#define FEATURE(id, text, value) text,
#include "model/counter_features.def"
    };
    return texts[f];
}

double feature_of(enum feature f, const struct emu_gpu *g, const struct counters *c)
{
    const double n = fmax(1, c->instructions);
    const double values[FEATURES] = {
#define FEATURE(id, text, value) value,
#include "model/counter_features.def"
    };
    return values[f];
}

static unsigned difference(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

const struct coefficients *coefficients_for(const struct emu_gpu *g, bool *borrowed)
{
    const struct coefficients *best = NULL;
    unsigned least = 0;
    for (size_t i = 0; i < coefficients_total; i++) {
        const struct coefficients *k = &coefficients_built_in[i];
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

/* The roof: what the schedulers issue, or what DRAM's bandwidth lets them. */
static void roofline(const struct emu_gpu *g, const struct counters *c, struct estimate *e)
{
    const double issue = (double)g->sms * g->schedulers * g->issue;
    const double bytes = 32 * c->dram_sectors, bandwidth = 32 * config_dram_rate(g);
    e->intensity = bytes > 0 ? c->instructions / bytes : INFINITY;
    e->performance = c->instructions / e->cycles;
    e->memory_roof = bytes > 0 && e->intensity * bandwidth < issue;
    e->roof = e->memory_roof ? e->intensity * bandwidth : issue;
}

void model_estimate(const struct emu_gpu *g, const struct coefficients *k, bool borrowed,
                    const struct counters *c, struct estimate *e)
{
    *e = (struct estimate){0};
    e->cycles = counter_model_cycles(g, c, k->weight, &e->terms);
    for (int f = 0; f < FEATURES; f++) {
        const double value = feature_of((enum feature)f, g, c);
        if (value < 0.8 * k->least[f] || value > 1.25 * k->most[f]) e->outside |= 1u << f;
    }
    const double wider = borrowed || e->outside ? 2 : 1;
    e->seconds = config_seconds(g, e->cycles);
    e->low = e->cycles * pow(fmin(1, k->low), wider);
    e->high = e->cycles * pow(fmax(1, k->high), wider);
    roofline(g, c, e);
}
