// Interest rates by Monte Carlo (LIB of the GPUDet thesis): the LIBOR market model of Brace, Gatarek and Musiela, a thread
// a path. libor_value prices a portfolio of swaptions. libor_greeks also computes, backwards through the path, the
// derivative of the value by a shift of all initial rates (Giles and Glasserman, "Smoking adjoints", 2006), for which
// it keeps the rates of every step: 13 KB of local memory a thread.
enum { RATES = 80, STEPS = 40, SWAPTIONS = 15 };

__constant__ float volatility[RATES], first_rate[RATES], swap_rate[SWAPTIONS];
__constant__ int maturity[SWAPTIONS];

#define DELTA 0.25f // years between rates

// Operations that have one result on every machine: within 3 units in the last place of exp(x) for |x| < 80.
static __device__ float exponential(float x)
{
    const float k = rintf(x * 1.44269504f);
    float r = x - k * 0.693359375f;
    r += k * 2.12194440e-4f;
    float p = 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    return p * __int_as_float(((int)k + 127) << 23);
}

// The sum of four uniform bytes, with mean 0 and variance 1.
static __device__ float draw(unsigned seed, unsigned path, int step)
{
    unsigned h = seed + path * 0x9e3779b9u + (unsigned)step * 0x85ebca6bu;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    h ^= h >> 16;
    const int sum = (int)(h & 255) + (int)(h >> 8 & 255) + (int)(h >> 16 & 255) + (int)(h >> 24);
    return (float)(sum - 510) * (1.0f / 147.8f);
}

static __device__ void advance(float *rate, int n, float z)
{
    const float shock = 0.5f * z; // the square root of DELTA
    float drift = 0;
    for (int i = n + 1; i < RATES; i++) {
        const float sigma = volatility[i - n - 1], c = DELTA * sigma;
        drift += c * rate[i] / (1.0f + DELTA * rate[i]);
        rate[i] *= exponential(c * drift + sigma * (shock - 0.5f * c));
    }
}

// bond, annuity: RATES - STEPS values each
static __device__ float portfolio(const float *rate, float *bond, float *annuity)
{
    float b = 1, s = 0, v = 0;
    for (int n = STEPS; n < RATES; n++) {
        b = b / (1.0f + DELTA * rate[n]);
        s = s + DELTA * b;
        bond[n - STEPS] = b;
        annuity[n - STEPS] = s;
    }
    for (int i = 0; i < SWAPTIONS; i++) {
        const int m = maturity[i] - 1;
        const float swap = bond[m] + swap_rate[i] * annuity[m] - 1.0f;
        if (swap < 0) v += -100.0f * swap;
    }
    return v;
}

static __device__ float discount(const float *rate)
{
    float d = 1;
    for (int n = 0; n < STEPS; n++) d = d / (1.0f + DELTA * rate[n]);
    return d;
}

extern "C" __global__ void libor_value(unsigned seed, float *value)
{
    const unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
    float rate[RATES], bond[RATES - STEPS], annuity[RATES - STEPS];
    for (int i = 0; i < RATES; i++) rate[i] = first_rate[i];
    for (int n = 0; n < STEPS; n++) advance(rate, n, draw(seed, path, n));
    value[path] = portfolio(rate, bond, annuity) * discount(rate);
}

extern "C" __global__ void libor_greeks(unsigned seed, float *value, float *shift)
{
    const unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
    float rate[(STEPS + 1) * RATES], bond[RATES - STEPS], annuity[RATES - STEPS], slope[RATES];
    float of_bond[RATES - STEPS] = {}, of_annuity[RATES - STEPS] = {};
    for (int i = 0; i < RATES; i++) rate[i] = first_rate[i];
    for (int n = 0; n < STEPS; n++) {
        float *next = &rate[(n + 1) * RATES];
        for (int i = 0; i < RATES; i++) next[i] = rate[n * RATES + i];
        advance(next, n, draw(seed, path, n));
    }
    const float *last = &rate[STEPS * RATES];
    const float v = portfolio(last, bond, annuity), d = discount(last);
    value[path] = v * d;

    for (int i = 0; i < SWAPTIONS; i++) {
        const int m = maturity[i] - 1;
        if (bond[m] + swap_rate[i] * annuity[m] - 1.0f < 0) {
            of_bond[m] += -100.0f;
            of_annuity[m] += -100.0f * swap_rate[i];
        }
    }
    for (int n = 0; n < STEPS; n++) slope[n] = -DELTA / (1.0f + DELTA * last[n]) * (v * d);
    float by_bond = 0, by_annuity = 0; // derivatives by the bond and the annuity of n
    for (int n = RATES - 1; n >= STEPS; n--) {
        by_annuity += of_annuity[n - STEPS];
        by_bond += of_bond[n - STEPS] + DELTA * by_annuity;
        const float k = 1.0f / (1.0f + DELTA * last[n]);
        slope[n] = -DELTA * k * bond[n - STEPS] * by_bond * d;
        by_bond = by_bond * k;
    }
    for (int n = STEPS - 1; n >= 0; n--) {
        const float *before = &rate[n * RATES], *after = before + RATES;
        float sum = 0;
        for (int i = RATES - 1; i > n; i--) {
            const float sigma = volatility[i - n - 1], k = DELTA / (1.0f + DELTA * before[i]);
            sum += sigma * after[i] * slope[i];
            slope[i] = slope[i] * after[i] / before[i] + sum * sigma * k * k;
        }
    }
    float all = 0;
    for (int i = 0; i < RATES; i++) all += slope[i];
    shift[path] = all;
}
