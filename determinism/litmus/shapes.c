/* The shapes of litmus tests. A weak outcome is an outcome of no interleaving of the threads. */
#include "determinism/litmus/litmus.h"

const struct litmus_shape litmus_shapes[] = {
    {"MP", "W x 1; W y 1 || R y; R x", "1 0, x=1 y=1"},
    {"SB", "W x 1; R y || W y 1; R x", "0 0, x=1 y=1"},
    {"LB", "R x; W y 1 || R y; W x 1", "1 1, x=1 y=1"},
    {"R", "W x 1; W y 1 || W y 2; R x", "0, x=1 y=2"},
    {"S", "W x 2; W y 1 || R y; W x 1", "1, x=2 y=1"},
    {"2+2W", "W x 1; W y 2 || W y 1; W x 2", ", x=1 y=1"},
    {"CoRR", "W x 1 || R x; R x", "1 0, x=1"},
    {"CoWW", "W x 1; W x 2", ", x=1"},
    {"CoWR", "W x 1; R x || W x 2", "0, x=2"},
    {"CoRW", "R x; W x 1 || W x 2", "1, x=1"},
    {"CoRR2", "W x 1 || W x 2 || R x; R x || R x; R x", "1 2 2 1, x=2"},
    {"WRC", "W x 1 || R x; W y 1 || R y; R x", "1 1 0, x=1 y=1"},
    {"RWC", "W x 1 || R x; R y || W y 1; R x", "1 0 0, x=1 y=1"},
    {"WWC", "W x 2 || R x; W y 1 || R y; W x 1", "2 1, x=2 y=1"},
    {"ISA2", "W x 1; W y 1 || R y; W z 1 || R z; R x", "1 1 0, x=1 y=1 z=1"},
    {"Z6.0", "W x 1; W y 1 || R y; W z 1 || W z 2; R x", "1 0, x=1 y=1 z=2"},
    {"Z6.3", "W x 1; W y 1 || W y 2; W z 1 || R z; R x", "1 0, x=1 y=2 z=1"},
    {"3.SB", "W x 1; R y || W y 1; R z || W z 1; R x", "0 0 0, x=1 y=1 z=1"},
    {"3.LB", "R x; W y 1 || R y; W z 1 || R z; W x 1", "1 1 1, x=1 y=1 z=1"},
    {"IRIW", "W x 1 || W y 1 || R x; R y || R y; R x", "1 0 1 0, x=1 y=1"},
    {"W+RWC", "W x 1; W z 1 || R z; R y || W y 1; R x", "1 0 0, x=1 y=1 z=1"},
    {"LB+data", "R x; W y r0 || R y; W x r0", "1 1, x=1 y=1"},
    {"MP+add", "W x 1; A y 1 || A y 0; R x", "0 1 0, x=1 y=1"},
    {"MP+chain", "W x 1; W y 1 || A y 1 || R y; R x", "1 2 0, x=1 y=2"},
    {"SB+exch", "X x 1; R.rlx y || X y 1; R.rlx x", "0 0 0 0, x=1 y=1"},
    {"INC", "A x 1 || A x 1", "0 0, x=1"},
};
const size_t litmus_shape_count = sizeof litmus_shapes / sizeof *litmus_shapes;
