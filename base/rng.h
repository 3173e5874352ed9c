/* base/rng.h: pseudorandom numbers, the same on every host: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014). The state is one 64-bit number, which starts as the seed. */
#ifndef HEDDLE_BASE_RNG_H
#define HEDDLE_BASE_RNG_H

#include <stdint.h>

/* Number i of seed s is rng_mix(s + (i + 1) * RNG_STEP). */
#define RNG_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t rng_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t rng_next(uint64_t *state)
{
    return rng_mix(*state += RNG_STEP);
}

/* A number in 0 .. n - 1; n > 0. */
static inline uint32_t rng_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((rng_next(state) >> 32) * n >> 32);
}

#endif
