#include "tests/support/random_litmus.h"

#include "base/rng.h"

struct litmus random_litmus(uint64_t seed)
{
    struct litmus t = {.threads = 2 + rng_below(&seed, 3), .locations = 1 + rng_below(&seed, 3)};
    const uint32_t most = t.threads == 2 ? 4 : 3;
    const uint32_t strong = 1 + rng_below(&seed, 4); /* how many of 4 are */
    for (uint32_t i = 0; i < t.threads; i++) {
        const uint32_t n = 1 + rng_below(&seed, most);
        for (uint32_t k = 0; k < n; k++) {
            struct litmus_op op = {
                .kind = (uint8_t)rng_below(&seed, 12),
                .location = (uint8_t)rng_below(&seed, t.locations),
                .value = (uint8_t)(1 + rng_below(&seed, 3)),
                .scope = (uint8_t)(rng_below(&seed, 2) ? EMU_SCOPE_GPU : EMU_SCOPE_CTA),
                .from = -1,
                .result = -1};
            if (op.kind >= LITMUS_BARRIER)
                op.kind = rng_below(&seed, 2) ? LITMUS_LOAD : LITMUS_STORE;
            if (op.kind == LITMUS_FENCE)
                op.strength = rng_below(&seed, 2) ? LITMUS_SC : LITMUS_ACQ_REL;
            else if (op.kind >= LITMUS_EXCHANGE)
                op.strength = (uint8_t)(LITMUS_RELAXED + rng_below(&seed, 4));
            else if (rng_below(&seed, 4) < strong) {
                op.strength = rng_below(&seed, 2)      ? LITMUS_RELAXED
                              : op.kind == LITMUS_LOAD ? LITMUS_ACQUIRE
                                                       : LITMUS_RELEASE;
            }
            if (op.kind == LITMUS_REDUCE &&
                (op.strength == LITMUS_ACQUIRE || op.strength == LITMUS_ACQ_REL))
                op.strength = LITMUS_RELEASE;
            if (op.kind != LITMUS_STORE && op.kind != LITMUS_REDUCE && op.kind != LITMUS_FENCE)
                op.result = (int16_t)t.reads++;
            t.ops[i][t.count[i]++] = op;
        }
    }
    litmus_place(&t, (enum litmus_placement)rng_below(&seed, LITMUS_PLACEMENTS));
    return t;
}
