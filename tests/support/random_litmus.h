/* tests/support/random_litmus.h: random litmus tests of two to four threads, with all strengths, both scopes and all placements.
 */
#ifndef HEDDLE_TESTS_SUPPORT_RANDOM_LITMUS_H
#define HEDDLE_TESTS_SUPPORT_RANDOM_LITMUS_H

#include "determinism/litmus/litmus.h"

struct litmus random_litmus(uint64_t seed);

#endif
