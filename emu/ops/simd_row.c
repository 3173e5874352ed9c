/* Handlers from uops_row.def. */
#include "emu/ops/lane.h"

#define LANE1 LANE_HANDLER1
#define LANE2 LANE_HANDLER2
#define LANE3 LANE_HANDLER3
#define FAST(name)
#define WARP(name)
#include "emu/ops/uops_row.def"
