/* libor: swaptions by Monte Carlo, then the same with the derivative by the initial rates. */
#include "suites/suite.h"

#include <math.h>
#include <string.h>

enum { RATES = 80, STEPS = 40, SWAPTIONS = 15, BLOCK = 64, TAIL = RATES - STEPS };

static const float delta = 0.25F;
static const int maturity[SWAPTIONS] = {4, 4, 4, 8, 8, 8, 20, 20, 20, 28, 28, 28, 40, 40, 40};
static const float swap_rate[SWAPTIONS] = {0.045F, 0.05F,  0.055F, 0.045F, 0.05F,
                                           0.055F, 0.045F, 0.05F,  0.055F, 0.045F,
                                           0.05F,  0.055F, 0.045F, 0.05F,  0.055F};

struct market {
    float volatility[RATES], first_rate[RATES];
};

struct path {
    float rate[STEPS + 1][RATES], bond[TAIL], annuity[TAIL];
};

static float exponential(float x)
{
    const float k = rintf(x * 1.44269504F);
    float r = x - k * 0.693359375F;
    r += k * 2.12194440e-4F;
    float p = 1.0F / 720.0F;
    p = p * r + 1.0F / 120.0F;
    p = p * r + 1.0F / 24.0F;
    p = p * r + 1.0F / 6.0F;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    const uint32_t bits = (uint32_t)((int)k + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

static float draw(uint32_t seed, uint32_t path, int step)
{
    uint32_t h = seed + path * 0x9e3779b9U + (uint32_t)step * 0x85ebca6bU;
    h = (h ^ h >> 16) * 0x7feb352dU;
    h = (h ^ h >> 15) * 0x846ca68bU;
    h ^= h >> 16;
    const int sum = (int)(h & 255) + (int)(h >> 8 & 255) + (int)(h >> 16 & 255) + (int)(h >> 24);
    return (float)(sum - 510) * (1.0F / 147.8F);
}

static void host_path(const struct market *m, uint32_t seed, uint32_t number, struct path *p)
{
    memcpy(p->rate[0], m->first_rate, sizeof p->rate[0]);
    for (int n = 0; n < STEPS; n++) {
        float *rate = p->rate[n + 1], drift = 0;
        memcpy(rate, p->rate[n], sizeof p->rate[n]);
        const float shock = 0.5F * draw(seed, number, n);
        for (int i = n + 1; i < RATES; i++) {
            const float sigma = m->volatility[i - n - 1], c = delta * sigma;
            drift += c * rate[i] / (1.0F + delta * rate[i]);
            rate[i] *= exponential(c * drift + sigma * (shock - 0.5F * c));
        }
    }
}

static float host_portfolio(struct path *p)
{
    float b = 1, s = 0, v = 0;
    for (int n = 0; n < TAIL; n++) {
        b = b / (1.0F + delta * p->rate[STEPS][STEPS + n]);
        s = s + delta * b;
        p->bond[n] = b;
        p->annuity[n] = s;
    }
    for (int i = 0; i < SWAPTIONS; i++) {
        const int m = maturity[i] - 1;
        const float swap = p->bond[m] + swap_rate[i] * p->annuity[m] - 1.0F;
        if (swap < 0) v += -100.0F * swap;
    }
    return v;
}

/* The derivatives of the portfolio's discounted value v * d by the last rates. */
static void host_last_slopes(const struct path *p, float v, float d, float *slope)
{
    const float *last = p->rate[STEPS];
    float of_bond[TAIL] = {0}, of_annuity[TAIL] = {0}, by_bond = 0, by_annuity = 0;
    for (int i = 0; i < SWAPTIONS; i++) {
        const int m = maturity[i] - 1;
        if (p->bond[m] + swap_rate[i] * p->annuity[m] - 1.0F >= 0) continue;
        of_bond[m] += -100.0F;
        of_annuity[m] += -100.0F * swap_rate[i];
    }
    for (int n = 0; n < STEPS; n++) slope[n] = -delta / (1.0F + delta * last[n]) * (v * d);
    for (int n = RATES - 1; n >= STEPS; n--) {
        by_annuity += of_annuity[n - STEPS];
        by_bond += of_bond[n - STEPS] + delta * by_annuity;
        const float k = 1.0F / (1.0F + delta * last[n]);
        slope[n] = -delta * k * p->bond[n - STEPS] * by_bond * d;
        by_bond = by_bond * k;
    }
}

static float host_shift(const struct market *m, const struct path *p, float v, float d)
{
    float slope[RATES], all = 0;
    host_last_slopes(p, v, d, slope);
    for (int n = STEPS - 1; n >= 0; n--) {
        const float *before = p->rate[n], *after = p->rate[n + 1];
        float sum = 0;
        for (int i = RATES - 1; i > n; i--) {
            const float sigma = m->volatility[i - n - 1], k = delta / (1.0F + delta * before[i]);
            sum += sigma * after[i] * slope[i];
            slope[i] = slope[i] * after[i] / before[i] + sum * sigma * k * k;
        }
    }
    for (int i = 0; i < RATES; i++) all += slope[i];
    return all;
}

void suite_run_libor(struct suite_context *ctx)
{
    const size_t paths = suite_pick(ctx, 256, 4096, 32768), bytes = paths * sizeof(float);
    const uint32_t seed = (uint32_t)ctx->seed;
    struct market m;
    for (int i = 0; i < RATES; i++)
        m.volatility[i] = 0.2F + 0.001F * (float)(i % 7), m.first_rate[i] = 0.05F;
    struct path *p = suite_host(ctx, struct path, 1);
    float *want = suite_host(ctx, float, paths), *want_shift = suite_host(ctx, float, paths);
    float *got = suite_host(ctx, float, paths);
    for (size_t i = 0; i < paths; i++) {
        host_path(&m, seed, (uint32_t)i, p);
        const float v = host_portfolio(p);
        float d = 1;
        for (int n = 0; n < STEPS; n++) d = d / (1.0F + delta * p->rate[STEPS][n]);
        want[i] = v * d;
        want_shift[i] = host_shift(&m, p, v, d);
    }
    suite_constant(ctx, "volatility", m.volatility, sizeof m.volatility);
    suite_constant(ctx, "first_rate", m.first_rate, sizeof m.first_rate);
    suite_constant(ctx, "swap_rate", swap_rate, sizeof swap_rate);
    suite_constant(ctx, "maturity", maturity, sizeof maturity);
    CUdeviceptr value = suite_alloc(ctx, bytes), shift = suite_alloc(ctx, bytes);
    const struct suite_dim grid = suite_1d((unsigned)suite_blocks(paths, BLOCK));
    suite_launch(ctx, suite_kernel(ctx, "libor_value"), grid, suite_1d(BLOCK), 0, (void *)&seed,
                 &value);
    suite_read(ctx, got, value, bytes);
    suite_verify_f32(ctx, "values", got, want, paths);
    suite_zero(ctx, value, bytes);
    suite_launch(ctx, suite_kernel(ctx, "libor_greeks"), grid, suite_1d(BLOCK), 0, (void *)&seed,
                 &value, &shift);
    suite_read(ctx, got, value, bytes);
    suite_verify_f32(ctx, "values beside derivatives", got, want, paths);
    suite_read(ctx, got, shift, bytes);
    suite_verify_f32(ctx, "derivatives", got, want_shift, paths);
}
