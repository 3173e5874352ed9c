/* Chooses the machine of a GPU: its own fit, the fit of another board with the same chip, or the configuration. */
#include "model/machine.h"

#include <math.h>
#include <string.h>

static const struct timing_fit *in_use; /* machine_use */

void machine_use(const struct timing_fit *fit)
{
    in_use = fit;
}

static const struct timing_fit *fit_of(const char *gpu)
{
    if (in_use && strcmp(in_use->gpu, gpu) == 0) return in_use;
    for (size_t i = 0; i < timing_fit_count; i++)
        if (strcmp(timing_fits[i].gpu, gpu) == 0) return &timing_fits[i];
    return NULL;
}

/* The measured GPU with the same chip. V100 and Quadro GV100 are both GV100 (NVIDIA Tesla V100 white paper, 2017). */
static const char *twin_of(const char *gpu)
{
    return strcmp(gpu, "v100") == 0 ? "gv100" : gpu;
}

const struct timing_fit *machine_of(const struct emu_gpu *g, struct timing_machine *out)
{
    const struct timing_fit *own = fit_of(g->name), *fit = own ? own : fit_of(twin_of(g->name));
    struct timing_machine configured;
    machine_configured(g, &configured);
    if (!fit) {
        *out = configured;
        return NULL;
    }
    *out = fit->machine;
    out->sms = g->sms;
    out->schedulers = g->schedulers;
    out->issue = g->issue;
    memcpy(out->matrix, configured.matrix, sizeof out->matrix);
    (void)machine_follow(emu_gpu_find(fit->gpu), g, out);
    return fit;
}

void machine_alone(double *low, double *high)
{
    *low = 1, *high = 1;
    for (size_t i = 0; i < timing_fit_count; i++) {
        *low = fmin(*low, timing_fits[i].alone_low);
        *high = fmax(*high, timing_fits[i].alone_high);
    }
}
