/* Integer handlers, from uops_int.def and uops_move.def. */
#include "emu/ops/lane.h"

#include "emu/ops/bits.h"

#define LANE1 LANE_HANDLER1
#define LANE2 LANE_HANDLER2
#define LANE3 LANE_HANDLER3
#define FAST(name)
#define WARP(name)
#include "emu/ops/uops_int.def"
#include "emu/ops/uops_move.def"
