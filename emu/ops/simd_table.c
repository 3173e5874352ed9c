/* The table of handlers for one host instruction set. */
#include "emu/ops/lane.h"

#define LANE1(name, D, A, ...) emu_op OP_NAME(name);
#define LANE2(name, D, A, B, ...) emu_op OP_NAME(name);
#define LANE3(name, D, A, B, C, ...) emu_op OP_NAME(name);
#define FAST(name) emu_op OP_NAME(name);
#define WARP(name) emu_op emu_op_##name;
#include "emu/ops/uops.def"

#define TABLE_PASTE2(isa) emu_ops_##isa
#define TABLE_PASTE(isa) TABLE_PASTE2(isa)
emu_op *const TABLE_PASTE(ISA)[UOP_COUNT] = {
#define LANE1(name, D, A, ...) [UOP_##name] = OP_NAME(name),
#define LANE2(name, D, A, B, ...) [UOP_##name] = OP_NAME(name),
#define LANE3(name, D, A, B, C, ...) [UOP_##name] = OP_NAME(name),
#define FAST(name) [UOP_##name] = OP_NAME(name),
#define WARP(name) [UOP_##name] = emu_op_##name,
#include "emu/ops/uops.def"
};
